// SPDX-License-Identifier: BSL-1.0
// What a cache of keys and values may be, and be given, as verdicts. Not here: the cache
// (cache.hpp).
#pragma once

#include <umbel/attention/rules.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/stored_as.hpp>
#include <umbel/tensor/other_calls.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace option {
struct longest_sequence;
}  // namespace option

namespace say {
struct a_cache_that_slides_forgets_positions_so_it_has_steps_but_no_recall;
struct a_cache_that_slides_takes_masks_by_position_only;
struct append_takes_the_layer_and_keys_and_values_then_a_workspace;
struct but_the_cache_has;
struct cache;
struct cannot_be_appended_at_once_to_a_cache_of;
struct has_no;
struct in_steps_of_at_most;
struct no_batch;
struct positions_are_fewer_than;
struct recall_takes_out_and_the_layer_and_queries_then_a_mask_then_a_workspace;
struct longest_sequence;
struct step_takes_out_and_the_layer_and_the_next_positions_then_a_mask_then_a_workspace;
struct steps_of_no_position;
struct the_layer_is_another_than_the_cache_was_declared_for;
}  // namespace say

template <>
inline constexpr const char*
    spoken<say::step_takes_out_and_the_layer_and_the_next_positions_then_a_mask_then_a_workspace> =
        "step takes out, the layer and the next positions; then a mask such as lengths, causal or "
        "all_keys; then a workspace";
template <>
inline constexpr const char*
    spoken<say::append_takes_the_layer_and_keys_and_values_then_a_workspace> =
        "append takes the layer, keys and values; then a workspace";
template <>
inline constexpr const char*
    spoken<say::recall_takes_out_and_the_layer_and_queries_then_a_mask_then_a_workspace> =
        "recall takes out, the layer and queries; then a mask such as lengths, causal or all_keys; "
        "then a workspace";

namespace rules {

template <class Axis>
inline constexpr std::size_t size_or_0 = Axis::size;
template <>
inline constexpr std::size_t size_or_0<void> = 0;
template <class Axis>
inline constexpr std::size_t size_or_1 = size_or_0<Axis> ? size_or_0<Axis> : 1;

template <class Layer, class Keys, class Sliding, class StoredAs, class... Options>
using cache = first_error<
    in_place<say::cache, Keys, axes::key>, well_formed<Keys>,
    options<say::cache, option_kinds<batch_family, option::longest_sequence, option::stored_as>,
            Options...>,
    well_formed<option_or<batch_family, axes::batch<1>, Options...>>,
    stored<say::cache, typename Layer::value_type, typename StoredAs::type>,
    verdict<!(detail::is_option_of<Options, option::longest_sequence> || ...) ||
                Sliding::positions >= detail::axis_or_none<Keys>::size,
            say::cache, say::longest_sequence, number<Sliding::positions>,
            say::positions_are_fewer_than, detail::axis_or_none<Keys>>,
    verdict<Sliding::positions == 0 || Sliding::chunk != 0, say::cache, say::longest_sequence,
            say::steps_of_no_position>>;

template <class Layer, class Attend>
using layer_of_cache =
    verdict<std::is_base_of_v<typename Layer::template calls<Attend>, Attend>, say::cache,
            say::the_layer_is_another_than_the_cache_was_declared_for>;

template <class Axis>
struct batch_word {
  using type = Axis;
};
template <>
struct batch_word<void> {
  using type = say::no_batch;
};
template <class Layout>
using has_word = std::conditional_t<Layout::template has<batch_family>, say::has, say::has_no>;
template <class Layout, class Batch>
using batch_of_cache =
    verdict<Layout::template size_of<batch_family> == size_or_0<Batch>, say::cache,
            say::the_sequence, has_word<Layout>, axis_of<Layout, batch_family>,
            say::but_the_cache_has, typename batch_word<Batch>::type>;

// New: the axis of new positions. AtOnce: how many one call may bring.
template <class New, class Keys, std::size_t AtOnce>
using fits_into_cache =
    verdict<(New::size <= AtOnce), say::cache, New, say::cannot_be_appended_at_once_to_a_cache_of,
            Keys, say::in_steps_of_at_most, number<AtOnce>>;

template <bool Slides>
using recall_of_cache =
    verdict<!Slides, say::cache,
            say::a_cache_that_slides_forgets_positions_so_it_has_steps_but_no_recall>;

template <class Mask, bool Slides>
using mask_of_cache = verdict<!Slides || Mask::by_position, say::cache,
                              say::a_cache_that_slides_takes_masks_by_position_only>;

}  // namespace rules

// Base of a cache: arguments that fit no form of its calls.
struct other_cache_calls {
  template <class... Arguments>
  constexpr bool step(const Arguments&...) noexcept {
    using takes =
        say::step_takes_out_and_the_layer_and_the_next_positions_then_a_mask_then_a_workspace;
    return refuse<takes, Arguments...>();
  }
  template <class... Arguments>
  constexpr bool append(const Arguments&...) noexcept {
    using takes = say::append_takes_the_layer_and_keys_and_values_then_a_workspace;
    return refuse<takes, Arguments...>();
  }
  template <class... Arguments>
  constexpr bool recall(const Arguments&...) const noexcept {
    using takes = say::recall_takes_out_and_the_layer_and_queries_then_a_mask_then_a_workspace;
    return refuse<takes, Arguments...>();
  }

 private:
  template <class Takes, class... Arguments>
  static constexpr bool refuse() noexcept {
    static_assert(report<rules::arguments<say::cache, Takes, Arguments...>>::ok,
                  "umbel: shapes do not fit");
    return false;
  }
};

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
