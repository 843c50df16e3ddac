// SPDX-License-Identifier: BSL-1.0
// A rank's weights of a layer whose heads lie over ranks, cut from those of the whole layer.
#pragma once

#include <umbel/attention/pruned.hpp>
#include <umbel/config.hpp>
#include <umbel/mpi/heads.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
// Of a map, the columns that a rank has: Each of them from the rank's place on.
template <std::size_t Each, std::size_t Count, class Map, class Own>
constexpr void cut_columns(const Map& from, std::size_t rank, Own& own) noexcept {
  const auto place = [first = rank * Count](std::size_t n) { return first + n; };
  take_columns<Each, Count>(from, place, own.weight);
  if constexpr (Own::map::has_bias) take_biases<Each, Count>(from.bias, place, own.bias);
}
template <class Share, class W>
constexpr void cut_attention(const W& w, std::size_t rank, typename Share::weights& own) noexcept {
  constexpr head_sizes to = Share::own;
  cut_columns<to.head_dim, to.heads>(w.q, rank, own.q);
  cut_columns<to.head_dim, to.kv_heads>(w.k, rank, own.k);
  cut_columns<to.value_dim, to.kv_heads>(w.v, rank, own.v);
  cut_columns<Share::features::size, 1>(w.o, rank, own.o);
}
template <class From, class Norm>
constexpr void copy_norm(const From& from, Norm& to) noexcept {
  const auto copied = [](const auto& x, auto& y) {
    for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = x.data()[i];
  };
  copied(from.gamma, to.gamma);
  if constexpr (requires { to.beta; }) copied(from.beta, to.beta);
}
}  // namespace detail

// cut_weights<share>(w, world.rank(), own): a copy of what a rank has of the weights w of the whole
// layer, which are owned, or borrowed with matrices in any order, {view_as<out_features,
// in_features>(memory)}, from a mapped file for one. share: sharded<attention, over<heads, ...>>,
// or of an encoder_layer. own: its weights, (in, out). rank: below the layer's ranks, with
// UMBEL_CHECK=1 checked.
template <class Share>
constexpr void cut_weights(const typename prepacked<typename Share::whole>::weights_to_pack& w,
                           std::size_t rank, typename Share::weights& own) noexcept {
  rank = detail::offset_along<typename Share::ranks, 1>("cut_weights", rank);
  if constexpr (requires { own.feed_forward; }) {
    constexpr std::size_t wide = Share::feed_forward::wide_axis::size;
    detail::copy_norm(w.norm1, own.norm1);
    detail::cut_attention<typename Share::attention>(w.attention, rank, own.attention);
    detail::copy_norm(w.norm2, own.norm2);
    if constexpr (Share::feed_forward::is_gated)
      detail::cut_columns<wide, 1>(w.feed_forward.gate, rank, own.feed_forward.gate);
    detail::cut_columns<wide, 1>(w.feed_forward.up, rank, own.feed_forward.up);
    detail::cut_columns<Share::features::size, 1>(w.feed_forward.down, rank, own.feed_forward.down);
  } else {
    detail::cut_attention<Share>(w, rank, own);
  }
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
