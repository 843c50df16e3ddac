// SPDX-License-Identifier: BSL-1.0
// Verdicts on a cache of keys and values and its arguments. See cache.hpp for the cache.
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
struct key_value_cache;

struct of_a_formula_needs_its_header_so_include_decode_cache_of_formula;

template <std::size_t Positions>
struct longest_sequence;
struct must_be_at_least;

struct the_layer_is_not_the_one_that_the_cache_was_declared_for;
}  // namespace say

template <std::size_t Positions>
struct speak<say::longest_sequence<Positions>> {
  static constexpr void to(sentence_buffer& out) {
    out.put("longest_sequence=");
    out.put(Positions);
  }
};
UMBEL_SAYS(longest_sequence_must_allow_steps_of_at_least_1,
           "the second number of longest_sequence, how many positions a step may append, must be "
           "at least 1");
UMBEL_SAYS(
    the_first_argument_is_not_a_multi_head_attention_an_encoder_or_decoder_layer_or_a_layer_stack,
    "the first argument is not a multi_head_attention, an encoder_layer, a decoder_layer or a "
    "layer_stack");
UMBEL_SAYS(of_a_formula_needs_its_header_so_include_decode_cache_of_formula,
           "of a formula needs its header; add #include <umbel/decode/cache_of_formula.hpp>");
UMBEL_SAYS(is_const_but_a_step_changes_its_state_so_declare_it_without_const,
           "is const, but a step changes its state; declare it without const");
UMBEL_SAYS(of_a_formula_in_integers_needs_its_header_so_include_quantized_cache_of_formula,
           "of a formula in integers needs its header; add "
           "#include <umbel/quantized/cache_of_formula.hpp>");
UMBEL_SAYS(a_cache_with_longest_sequence_overwrites_positions_so_use_step_not_attend,
           "a cache with longest_sequence overwrites positions; use step, not attend");
UMBEL_SAYS(a_cache_with_longest_sequence_accepts_only_masks_by_position,
           "a cache with longest_sequence accepts only masks by position");
UMBEL_SAYS(
    step_expects_out_and_the_layer_and_the_next_positions_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace,
    "step expects out, the layer and the next positions; then a mask such as lengths, causal or "
    "all_keys; then a workspace");
UMBEL_SAYS(append_expects_the_layer_and_keys_and_values_then_a_workspace,
           "append expects the layer, keys and values; then a workspace");
UMBEL_SAYS(
    attend_expects_out_and_the_layer_and_queries_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace,
    "attend expects out, the layer and queries; then a mask such as lengths, causal or all_keys; "
    "then a workspace");

namespace rules {

template <class Axis>
inline constexpr std::size_t size_or_0 = Axis::size;
template <>
inline constexpr std::size_t size_or_0<void> = 0;
template <class Axis>
inline constexpr std::size_t size_or_1 = size_or_0<Axis> ? size_or_0<Axis> : 1;

template <class Layer, class Keys, class Batch>
using what_is_stored_fits =
    first_error<holds<Batch, detail::axis_or_none<Keys>,
                      typename Layer::template width<Layer::sizes.key_width()>>,
                holds<Batch, detail::axis_or_none<Keys>,
                      typename Layer::template width<Layer::sizes.value_width()>>>;

template <class Keys, class Sliding, class... Options>
using longest_sequence_fits =
    first_error<verdict<!(detail::is_option_of<Options, option::longest_sequence> || ...) ||
                            Sliding::positions >= detail::axis_or_none<Keys>::size,
                        say::key_value_cache, say::longest_sequence<Sliding::positions>,
                        say::must_be_at_least, detail::axis_or_none<Keys>>,
                verdict<Sliding::positions == 0 || Sliding::chunk != 0, say::key_value_cache,
                        say::longest_sequence_must_allow_steps_of_at_least_1>>;
template <class Layer, class Keys, class Sliding, class StoredAs, class... Options>
using cache = first_error<
    in_place<say::key_value_cache, Keys, axes::key>, well_formed<Keys>,
    options<say::key_value_cache,
            option_kinds<batch_family, option::longest_sequence, option::stored_as>, Options...>,
    well_formed<option_or<batch_family, axes::batch<1>, Options...>>,
    what_is_stored_fits<Layer, Keys, option_or<batch_family, axes::batch<1>, Options...>>,
    stored<say::key_value_cache, typename Layer::value_type, typename StoredAs::type>,
    longest_sequence_fits<Keys, Sliding, Options...>>;

template <class Layer, class Attend>
using layer_of_cache =
    verdict<std::is_base_of_v<typename Layer::template calls<Attend>, Attend>, say::key_value_cache,
            say::the_layer_is_not_the_one_that_the_cache_was_declared_for>;

template <class Axis>
struct batch_word {
  using type = Axis;
};
template <>
struct batch_word<void> {
  using type = struct no_batch;
};
template <class Layout>
using has_word = std::conditional_t<Layout::template has<batch_family>, say::has, struct has_no>;
template <class Layout, class Batch, class Name = say::the_sequence>
using batch_of_cache =
    verdict<Layout::template size_of<batch_family> == size_or_0<Batch>, say::key_value_cache, Name,
            has_word<Layout>, axis_of<Layout, batch_family>, struct but_the_cache_has,
            typename batch_word<Batch>::type>;

// New: the axis of new positions. AtOnce: the most that one call adds.
template <class New, class Keys, std::size_t AtOnce>
using fits_into_cache = verdict<(New::size <= AtOnce), say::key_value_cache,
                                struct a_step_may_append_at_most, number<AtOnce>, say::got, New>;

template <bool Slides>
using attend_of_cache =
    verdict<!Slides, say::key_value_cache,
            say::a_cache_with_longest_sequence_overwrites_positions_so_use_step_not_attend>;

template <class Mask, bool Slides>
using mask_of_cache = verdict<!Slides || Mask::by_position, say::key_value_cache,
                              say::a_cache_with_longest_sequence_accepts_only_masks_by_position>;

// Calls that fit no form. Takes: describes a step's arguments. Says: append and attend are absent.
template <class Takes, class Says>
struct calls_of_steps {
  template <class... Arguments>
  using step = arguments<say::key_value_cache, Takes, Arguments...>;
  template <class... Arguments>
  using append = verdict<(sizeof...(Arguments) > 99), say::key_value_cache, Says>;
  template <class... Arguments>
  using attend = append<Arguments...>;
};
using takes_of_step = say::
    step_expects_out_and_the_layer_and_the_next_positions_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace;
struct calls_of_attention : calls_of_steps<takes_of_step, void> {
  template <class... Arguments>
  using append =
      arguments<say::key_value_cache,
                say::append_expects_the_layer_and_keys_and_values_then_a_workspace, Arguments...>;
  template <class... Arguments>
  using attend = arguments<
      say::key_value_cache,
      say::
          attend_expects_out_and_the_layer_and_queries_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace,
      Arguments...>;
};
}  // namespace rules

// May M follow the positions of a step in workspace_for? Not a tensor that isn't a mask.
template <class M>
inline constexpr bool is_mask_of_step = derived_from_mask<M> || rules::is_length<M>;
template <tensor_like M>
inline constexpr bool is_mask_of_step<M> = rules::is_length<typename M::value_type>;

// Base of a cache: refuses arguments that fit no call. Rules: the refusals, by call.
template <class Rules>
struct other_cache_calls {
  template <class... Arguments>
  constexpr bool step(const Arguments&...) noexcept {
    return refuse<typename Rules::template step<Arguments...>>();
  }
  template <class... Arguments>
  constexpr bool step(const Arguments&...) const noexcept {
    return refuse<
        verdict<(sizeof...(Arguments) > 99), say::key_value_cache,
                say::is_const_but_a_step_changes_its_state_so_declare_it_without_const>>();
  }
  template <class... Arguments>
  constexpr bool append(const Arguments&...) noexcept {
    return refuse<typename Rules::template append<Arguments...>>();
  }
  template <class... Arguments>
  constexpr bool attend(const Arguments&...) const noexcept {
    return refuse<typename Rules::template attend<Arguments...>>();
  }
  template <class Name = Rules>
  static auto workspace_of(...) {
    static_assert(report<rules::tensors_for_a_workspace<never<Name>>>::ok,
                  "umbel: shapes do not fit");
    return invalid{};
  }

 protected:
  template <class Rule>
  static constexpr bool refuse() noexcept {
    static_assert(report<Rule>::ok, "umbel: shapes do not fit");
    return false;
  }
};

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
