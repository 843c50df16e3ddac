// SPDX-License-Identifier: BSL-1.0
// A rank's weights of a layer whose heads are divided, cut from those of the whole layer.
#pragma once

#include <umbel/attention/pruned.hpp>
#include <umbel/config.hpp>
#include <umbel/mpi/heads.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
namespace say {
struct cut_weights;
}
UMBEL_SAYS(expects_a_sharded_layer_the_weights_of_the_whole_the_rank_and_its_weights,
           "expects a sharded layer, the weights of the whole layer, the number of the rank and "
           "its weights; write cut_weights<share>(w, world.rank(), own)");
namespace rules {
template <class... Given>
using weights_to_cut =
    verdict<one_is_invalid<Given...>, say::cut_weights,
            say::expects_a_sharded_layer_the_weights_of_the_whole_the_rank_and_its_weights>;
}  // namespace rules
template <class Share, class... Given>
inline constexpr bool are_weights_to_cut = false;
template <class Share, class W, class Rank, class Own>
  requires requires { typename Share::whole; }
inline constexpr bool are_weights_to_cut<Share, W, Rank, Own> =
    std::is_convertible_v<const W&, typename prepacked<typename Share::whole>::weights_to_pack> &&
    std::is_convertible_v<Rank, std::size_t> && std::is_same_v<Own, typename Share::weights>;

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
// Other arguments: refused.
template <class Share, class... Given>
  requires(!detail::are_weights_to_cut<Share, Given...>)
constexpr void cut_weights(const Given&...) noexcept {
  static_assert(detail::report<detail::rules::weights_to_cut<Given...>>::ok,
                "umbel: shapes do not fit");
}
// Without the layer: refused.
template <class... Given>
constexpr void cut_weights(const Given&...) noexcept {
  static_assert(detail::report<detail::rules::weights_to_cut<Given...>>::ok,
                "umbel: shapes do not fit");
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
