// SPDX-License-Identifier: BSL-1.0
// A rank's weights of a layer whose heads are divided, cut from those of the whole layer.
#pragma once

#include <umbel/attention/pruned.hpp>
#include <umbel/config.hpp>
#include <umbel/mpi/heads.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
// The rank's own of the `each` places per rank.
constexpr auto places_of(std::size_t rank, std::size_t each) noexcept {
  return [first = rank * each](std::size_t n) { return first + n; };
}
template <std::size_t Each, class Map, class Own>
constexpr void cut_columns(const Map& from, std::size_t rank, Own& own) noexcept {
  take_outputs<Each, 1>(from, places_of(rank, 1), own);
}
template <class Share, class W>
constexpr void cut_attention(const W& w, std::size_t rank, typename Share::weights& own) noexcept {
  constexpr head_sizes to = Share::own;
  take_heads<to>(w, places_of(rank, to.heads), places_of(rank, to.kv_heads), own);
  cut_columns<Share::features::size>(w.o, rank, own.o);
}
}  // namespace detail

// cut_weights<share>(w, world.rank(), own): copies the rank's part of the weights w of the whole
// layer, which are owned, or borrowed with matrices in any order, {view_as<out_features,
// in_features>(memory)}. share: sharded<attention, over<heads, ...>>, or of a block or a stack.
// own: its weights, (in, out). rank: below the layer's ranks, which UMBEL_CHECK=1 checks.
template <class Share>
constexpr void cut_weights(const typename prepacked<typename Share::whole>::weights_to_pack& w,
                           std::size_t rank, typename Share::weights& own) noexcept {
  rank = detail::offset_along<typename Share::ranks, 1>("cut_weights", rank);
  if constexpr (requires { Share::cut(w, rank, own); })  // a block
    Share::cut(w, rank, own);
  else
    detail::cut_attention<Share>(w, rank, own);
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
