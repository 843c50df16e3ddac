// SPDX-License-Identifier: BSL-1.0
// What a step of a key_value_cache needs (footprint.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/decode/cache_of_blocks.hpp>
#include <umbel/inspect/call_footprint.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace say {
struct footprint;
struct takes_a_cache_then_the_axis_of_the_new_positions_then_key_the_positions_in_all;
struct positions_in_all_cannot_be_fewer_than_the_new_ones;
struct positions_in_all_but_the_cache_has_only;
}  // namespace say
template <>
inline constexpr const char*
    spoken<say::takes_a_cache_then_the_axis_of_the_new_positions_then_key_the_positions_in_all> =
        "takes a cache; then the axis of the new positions, such as token<1>; then key<100>, the "
        "positions in all";
template <>
inline constexpr const char* spoken<say::positions_in_all_cannot_be_fewer_than_the_new_ones> =
    "positions in all cannot be fewer than the new ones,";
template <>
inline constexpr const char* spoken<say::positions_in_all_but_the_cache_has_only> =
    "positions in all, but the cache has only";

namespace footprints {

template <class Cache>
inline constexpr bool is_cache = false;
template <class Layer, class Keys, class... Options>
inline constexpr bool is_cache<key_value_cache<Layer, Keys, Options...>> = true;

// A step is self-attention: of one width.
template <class Layer>
struct step_of_layer {
  using verdict = accepted;
};
template <is_multi_head Layer>
struct step_of_layer<Layer> {
  using verdict = rules::one_width<say::key_value_cache, typename Layer::hidden_axis,
                                   typename Layer::keys_axis, typename Layer::values_axis>;
};

template <class Layer>
struct attention_in {
  using type = typename blocks_in<Layer>::block::attention;
};
template <is_multi_head Layer>
struct attention_in<Layer> {
  using type = Layer;
};

// Encode: the layer that the step calls, or its prepacked form. New: the axis of the new
// positions; All: key<..>, positions with them.
template <class Encode, class Cache, class... Axis>
struct of_step {
  using verdict = detail::verdict<
      (sizeof...(Axis) > 99), say::footprint,
      say::takes_a_cache_then_the_axis_of_the_new_positions_then_key_the_positions_in_all>;
};
template <class Encode, class Cache, axis_like New>
struct of_step<Encode, Cache, New> : of_step<Encode, Cache, New, axes::key<Cache::positions>> {};
template <class Encode, class Layer, class Keys, class... Options, axis_like New, axis_like All>
  requires std::is_same_v<typename All::family, rules::key_family>
struct of_step<Encode, key_value_cache<Layer, Keys, Options...>, New, All> {
  using cache = key_value_cache<Layer, Keys, Options...>;
  using T = typename Layer::value_type;
  using batch = option_or<rules::batch_family, axes::batch<1>, Options...>;
  using sliding = option_or<option::longest_sequence, not_sliding, Options...>;
  static constexpr std::size_t at_once = cache::slides ? sliding::chunk : cache::capacity;
  using verdict = first_error<
      rules::layer_of_cache<Layer, Encode>, typename step_of_layer<Layer>::verdict,
      rules::in_place<say::footprint, New, axes::token>, rules::well_formed<New>,
      rules::fits_into_cache<New, Keys, at_once>,
      detail::verdict<(All::size >= New::size), say::footprint, All,
                      say::positions_in_all_cannot_be_fewer_than_the_new_ones, New>,
      detail::verdict<(All::size <= cache::positions), say::footprint, All,
                      say::positions_in_all_but_the_cache_has_only, axes::key<cache::positions>>>;

  static constexpr std::uint64_t layers = blocks_in<Layer>::count;
  // Pairs of a new position and one that it sees; keys that one of them sees.
  static constexpr std::uint64_t pairs = [] {
    std::uint64_t sum = 0;
    for (std::size_t i = All::size - New::size; i < All::size; ++i)
      sum += i + 1 < cache::capacity ? i + 1 : cache::capacity;
    return sum;
  }();
  static constexpr std::uint64_t keys =
      All::size < cache::capacity + New::size - 1 ? All::size : cache::capacity + New::size - 1;

  using attention = typename attention_in<Layer>::type;
  static constexpr head_sizes sizes = attention::sizes;
  // Of one layer on one sequence.
  static constexpr std::uint64_t flops = [] {
    if constexpr (is_multi_head<Layer>)
      return sizes.flops(New::size, New::size, pairs);
    else
      return blocks_in<Layer>::block::flops_of(New::size, pairs);
  }();
  static constexpr call_footprint value() {
    using forward = cached_forward<attention, typename cache::stored_type, New::size, cache::rows,
                                   cache::positions>;
    constexpr std::size_t weights = weights_of<Encode>(), rows = batch::size * New::size;
    constexpr std::size_t arguments = rows * Layer::hidden_axis::size * sizeof(T);
    constexpr std::size_t results = rows * sizes.output * sizeof(T);
    // Keys and values that are read, and those that are added.
    constexpr std::uint64_t stored = layers * batch::size * (keys + New::size) *
                                     (sizes.key_width() + sizes.value_width()) *
                                     sizeof(typename cache::stored_type);
    return {.weights = weights,
            .tables = forward::tables,
            .cache = sizeof(cache),
            .workspace = sizeof(typename cache::template workspace<New>),
            .arguments = arguments,
            .results = results,
            .flops = layers * batch::size * flops,
            .bytes_moved = weights + stored + arguments + results};
  }
};

}  // namespace footprints

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
