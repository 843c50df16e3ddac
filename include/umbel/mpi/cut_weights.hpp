// SPDX-License-Identifier: BSL-1.0
// A rank's weights of a layer whose heads lie over ranks, cut from those of the whole layer.
#pragma once

#include <umbel/attention/pruned.hpp>
#include <umbel/config.hpp>
#include <umbel/mpi/heads.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// cut_weights<share>(w, world.rank(), own): a copy of what a rank has of the weights w of the whole
// layer, which are owned, or borrowed with matrices in any order, {view_as<out_features,
// in_features>(memory)}, from a mapped file for one. share: sharded<attention, over<heads, ...>>.
// own: its weights, (in, out). rank: below the layer's ranks, with UMBEL_CHECK=1 checked.
template <class Share>
constexpr void cut_weights(const typename prepacked<typename Share::whole>::weights_to_pack& w,
                           std::size_t rank, typename Share::weights& own) noexcept {
  constexpr detail::head_sizes from = Share::sizes, to = Share::own;
  rank = detail::offset_along<typename Share::ranks, 1>("cut_weights", rank);
  const auto of = [&](std::size_t share) {
    return [first = rank * share](std::size_t n) { return first + n; };
  };
  const auto head = of(to.heads), kv_head = of(to.kv_heads);
  detail::take_columns<from.head_dim, to.heads>(w.q, head, own.q.weight);
  detail::take_columns<from.head_dim, to.kv_heads>(w.k, kv_head, own.k.weight);
  detail::take_columns<from.value_dim, to.kv_heads>(w.v, kv_head, own.v.weight);
  detail::take_columns<Share::features::size, 1>(w.o, of(1), own.o.weight);
  if constexpr (from.q_bias)
    detail::take_biases<from.head_dim, to.heads>(w.q.bias, head, own.q.bias);
  if constexpr (from.k_bias)
    detail::take_biases<from.head_dim, to.kv_heads>(w.k.bias, kv_head, own.k.bias);
  if constexpr (from.v_bias)
    detail::take_biases<from.value_dim, to.kv_heads>(w.v.bias, kv_head, own.v.bias);
  if constexpr (from.o_bias)
    detail::take_biases<Share::features::size, 1>(w.o.bias, of(1), own.o.bias);
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
