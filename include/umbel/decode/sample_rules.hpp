// SPDX-License-Identifier: BSL-1.0
// Verdicts and messages of the sampler and the functions of logits (sample.hpp).
#pragma once

#include <umbel/config.hpp>

#include <cstdint>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/tensor/tensor.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

struct sampling;

namespace detail {
namespace say {
struct sampler;
struct argmax;
struct penalize_repetition;
}  // namespace say
UMBEL_SAYS(
    is_made_of_a_seed,
    "is made of a seed; write sampler<float, vocabulary<50>> draw{42}, and options in the call");
UMBEL_SAYS(is_not_an_operation_of_formulas_so_compute_it_outside,
           "is not an operation of formulas; compute it outside");
UMBEL_SAYS(is_const_but_drawing_changes_its_state_so_declare_it_without_const,
           "is const, but drawing changes its state; declare it without const");
UMBEL_SAYS(expects_a_tensor_or_view_of_logits_not, "expects a tensor or view of logits, not");
UMBEL_SAYS(expects_a_tensor_or_view_of_tokens_not, "expects a tensor or view of tokens, not");
UMBEL_SAYS(needs_the_axis_of_the_logits_not, "needs the axis of the logits, not");
UMBEL_SAYS(needs_logits_of_float_or_double_not, "needs logits of float or double, not");
UMBEL_SAYS(expects_the_logits_then_options_in_braces,
           "expects the logits, then options in braces, sample(logits, {.temperature = 0.8f})");
UMBEL_SAYS(needs_logits_along_one_axis_so_select_one_position_of,
           "needs logits along one axis; select one position of");
UMBEL_SAYS(has_several_axes_so_name_one_argmax_of_key,
           "has several axes; name one, argmax<key>(x)");
UMBEL_SAYS(expects_one_axis_by_name_argmax_of_key, "expects one axis, by its name: argmax<key>(x)");
UMBEL_SAYS(needs_tokens_as_integers_along_one_axis_not,
           "needs tokens as integers along one axis, not");

namespace rules {
template <class Operation, class X>
using outside_formulas =
    verdict<!traced<X>, Operation, say::is_not_an_operation_of_formulas_so_compute_it_outside>;
// One axis whose size is not 1.
template <class Layout>
constexpr bool is_a_row() {
  std::size_t longer = 0;
  for (std::size_t i = 0; i < Layout::rank; ++i) longer += Layout::extents[i] != 1;
  return longer < 2;
}

// argmax also accepts integers, such as the results of layers in integers.
template <class Operation, class T>
struct element_of_logits_rule {
  using type = verdict<std::is_floating_point_v<T>, Operation,
                       say::needs_logits_of_float_or_double_not, element<T>>;
};
template <class T>
struct element_of_logits_rule<say::argmax, T> {
  using type = verdict<is_number<T>, say::argmax, say::needs_numbers_not, element<T>>;
};

template <class Operation, class Layout>
struct one_row_rule {
  using type =
      verdict<is_a_row<Layout>(), Operation,
              say::needs_logits_along_one_axis_so_select_one_position_of, typename Layout::axes>;
};
template <class Layout>
struct one_row_rule<say::argmax, Layout> {
  using type = verdict<is_a_row<Layout>(), say::argmax, typename Layout::axes,
                       say::has_several_axes_so_name_one_argmax_of_key>;
};
template <class X>
using axis_of_argmax =
    verdict<one_is_invalid<X>, say::argmax, say::expects_one_axis_by_name_argmax_of_key>;

template <class Operation, class X>
struct row_of_logits_rule {
  using type = verdict<one_is_invalid<X>, Operation, say::expects_a_tensor_or_view_of_logits_not,
                       type_of_given<X>>;
};
template <class Operation, tensor_like X>
struct row_of_logits_rule<Operation, X> {
  using type = first_error<typename element_of_logits_rule<Operation, typename X::value_type>::type,
                           typename one_row_rule<Operation, layout_of<X>>::type>;
};
template <class Operation, class X>
using row_of_logits = typename row_of_logits_rule<Operation, X>::type;

// Logits that may be changed. X: a forwarding reference's type.
template <class Operation, class X>
struct logits_to_change_rule : row_of_logits_rule<Operation, std::remove_cvref_t<X>> {};
template <class Operation, tensor_like X>
struct logits_to_change_rule<Operation, X> {
  using type = first_error<row_of_logits<Operation, std::remove_cvref_t<X>>,
                           writable<Operation, struct the_tensor_of_logits, X>>;
};

template <class Operation, class X>
struct row_of_tokens_rule {
  using type = verdict<one_is_invalid<X>, Operation, say::expects_a_tensor_or_view_of_tokens_not,
                       type_of_given<X>>;
};
template <class Operation, tensor_like X>
struct row_of_tokens_rule<Operation, X> {
  using type = verdict<is_a_row<layout_of<X>>() && std::is_integral_v<typename X::value_type> &&
                           !std::is_same_v<typename X::value_type, bool>,
                       Operation, say::needs_tokens_as_integers_along_one_axis_not,
                       element<typename X::value_type>, typename layout_of<X>::axes>;
};

template <class T, class Axis>
struct sampler_rule {
  using type = first_error<verdict<std::is_floating_point_v<T>, say::sampler,
                                   say::needs_logits_of_float_or_double_not, type_of_given<T>>,
                           verdict<axis_like<Axis>, say::sampler,
                                   say::needs_the_axis_of_the_logits_not, type_of_given<Axis>>,
                           well_formed<Axis>>;
};
template <axis_like T, class Axis>
struct sampler_rule<T, Axis> {
  using type = verdict<false, say::sampler, struct expected_an_element_type_but_got_the_axis, T>;
};
template <class T, class Axis>
using sampler_of = typename sampler_rule<T, Axis>::type;

// IsSampler: false if the sampler itself was refused.
template <bool IsSampler, class X, class T, class Axis>
struct logits_of_sampler_rule {
  using type = accepted;
};
template <class X, class T, class Axis>
struct logits_of_sampler_rule<true, X, T, Axis> : row_of_logits_rule<say::sampler, X> {};
template <tensor_like X, class T, class Axis>
struct logits_of_sampler_rule<true, X, T, Axis> {
  using type = first_error<
      row_of_logits<say::sampler, X>,
      verdict<std::is_same_v<typename X::value_type, T>, say::sampler, struct needs_logits_of,
              element<T>, say::but_got, element<typename X::value_type>>,
      verdict<layout_of<X>::template has<typename Axis::family> &&
                  layout_of<X>::count == Axis::size,
              say::sampler, struct needs_the_logits_of_one_position_along, Axis, say::but_got,
              typename layout_of<X>::axes>>;
};
template <class X, class T, class Axis>
using logits_of_sampler =
    typename logits_of_sampler_rule<sampler_of<T, Axis>::ok, X, T, Axis>::type;

// A call that only a const sampler has, or that none has.
template <class... Given>
struct other_calls_of_sampler_rule {
  using type = arguments<say::sampler, say::expects_the_logits_then_options_in_braces, Given...>;
};
template <shaped X, class... How>
  requires(sizeof...(How) == 0 || (std::is_same_v<How, sampling> && ...))
struct other_calls_of_sampler_rule<X, How...> {
  using type = verdict<never<X>, say::sampler,
                       say::is_const_but_drawing_changes_its_state_so_declare_it_without_const>;
};
}  // namespace rules
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
