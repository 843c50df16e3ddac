// SPDX-License-Identifier: BSL-1.0
// Weights, their gradients and the state of an optimizer have one type, so their parameters are the
// same arrays at the same places. These functions walk those arrays together, in the order of
// for_each_parameter (parameters/parameters.hpp). Also their common rules.
#pragma once

#include <umbel/config.hpp>
#include <umbel/parameters/parameters.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
UMBEL_SAYS(and_of_double_so_choose_one, "and of double; choose one");
UMBEL_SAYS(argument_2_has_a_different_type_from_argument_1_so_declare_both_with_one,
           "argument 2 has a different type from argument 1; declare both with one type");
UMBEL_SAYS(needs_parameters_of_float_or_double_not, "needs parameters of float or double, not");
UMBEL_SAYS(needs_weights_that_are_owned_not_a_view_so_pass_those_that_it_views,
           "needs weights that are owned, not a view; pass the weights that it views");

// Does W borrow an array? For weights that can be listed.
template <class W>
constexpr bool borrows();
struct borrows_in_members {
  template <class... Part>
  constexpr auto operator()(Part&...) const {
    return std::bool_constant<(borrows<std::remove_const_t<Part>>() || ...)>{};
  }
};
template <class W>
constexpr bool borrows() {
  if constexpr (tensor_like<W>)
    return !is_tensor<W>;
  else if constexpr (vector_of_weights<W>)
    return true;
  else if constexpr (map_of_weights<W>)
    return std::is_pointer_v<decltype(W::weight)>;
  else if constexpr (several_weights<W>)
    return borrows<std::remove_cvref_t<decltype(std::declval<W&>()[0])>>();
  else
    return decltype(with_members<parts_named<W>>(std::declval<W&>(), borrows_in_members{}))::value;
}

namespace rules {

// The requirements of training on a parameter, by the type of its view.
template <class Operation>
struct trained_parameter {
  using operation = Operation;
  template <class X>
  using of = verdict<std::is_same_v<typename X::value_type, float> ||
                         std::is_same_v<typename X::value_type, double>,
                     operation, say::needs_parameters_of_float_or_double_not,
                     element<typename X::value_type>>;
};
template <class Operation, class T>
struct parameter_of {
  using operation = Operation;
  template <class X>
  using of = verdict<std::is_same_v<typename X::value_type, T>, operation,
                     struct the_weights_are_of_float, say::and_of_double_so_choose_one>;
};

template <class Operation, class W>
constexpr auto trained_weights() {
  using all = parameters<trained_parameter<Operation>, W>;
  if constexpr (!all::ok)
    return all{};
  else if constexpr (borrows<std::remove_const_t<W>>())
    return verdict<false, Operation,
                   say::needs_weights_that_are_owned_not_a_view_so_pass_those_that_it_views>{};
  else if constexpr (parameters<parameter_of<Operation, double>, W>::ok)
    return accepted{};
  else
    return parameters<parameter_of<Operation, float>, W>{};
}
// Weights whose parameters are all of float, or all of double.
template <class Operation, class W>
using trained = decltype(trained_weights<Operation, W>());

template <class Operation, class W>
using changeable = first_error<verdict<!std::is_const_v<W>, Operation, say::the_weights_are_const>,
                               trained<Operation, W>>;
template <class Operation, class W, class Same>
using changeable_by = first_error<
    verdict<std::is_same_v<std::remove_const_t<W>, Same>, Operation,
            say::argument_2_has_a_different_type_from_argument_1_so_declare_both_with_one>,
    changeable<Operation, W>>;

}  // namespace rules

// Is a call with other arguments meant for Umbel's function, not a user's with this name?
template <class... Given>
concept given_weights =
    ((listed_by_name<std::remove_cvref_t<Given>> || layer_of_weights<std::remove_cvref_t<Given>>) ||
     ...);
template <class Operation, class Takes, class... Given>
using other_arguments = first_error<
    verdict<one_is_invalid<Given...> || !(layer_of_weights<std::remove_cvref_t<Given>> || ...),
            Operation, say::a_layer_borrows_its_weights_so_pass_the_weights_themselves>,
    verdict<one_is_invalid<Given...>, Operation, Takes>>;

// For weights that rules::trained accepts.
template <class W>
using number_of = std::conditional_t<
    rules::parameters<rules::parameter_of<say::for_each_parameter, float>, W>::ok, float, double>;

// The number of numbers in all parameters of W, weights that rules::trained accepts.
template <class W>
constexpr std::size_t numbers_in();
struct numbers_in_members {
  template <class... Part>
  constexpr auto operator()(Part&...) const {
    return std::integral_constant<std::size_t, (numbers_in<Part>() + ... + 0)>{};
  }
};
template <class W>
constexpr std::size_t numbers_in() {
  if constexpr (tensor_like<W>)
    return layout_of<W>::count;
  else if constexpr (map_of_weights<W>)
    return W::map::in::size * W::map::out::size + (W::map::has_bias ? W::map::out::size : 0);
  else if constexpr (several_weights<W>)
    return count_of<W>() * numbers_in<std::remove_cvref_t<decltype(std::declval<W&>()[0])>>();
  else
    return decltype(with_members<parts_named<W>>(std::declval<W&>(), numbers_in_members{}))::value;
}

// The array of other that is where x is in w.
template <class T, class W, class Same>
UMBEL_INLINE as_const_as<Same, T>* array_like(const T* x, const W& w, Same& other) noexcept {
  const auto* const begin = reinterpret_cast<const unsigned char*>(__builtin_addressof(w));
  const auto offset = reinterpret_cast<const unsigned char*>(x) - begin;
  using byte = as_const_as<Same, unsigned char>;
  return reinterpret_cast<as_const_as<Same, T>*>(
      reinterpret_cast<byte*>(__builtin_addressof(other)) + offset);
}

// Calls f(count, x, y...) for each parameter: how many numbers; its arrays in w and in others.
template <class W, class F, class... Same>
UMBEL_INLINE void for_each_array(F f, W& w, Same&... other) noexcept {
  const auto visit = [&](no_path, const auto& x) {
    f(x.size(), x.data(), array_like<number_of<W>>(x.data(), w, other)...);
  };
  visit_parameters(no_path{}, w, visit);
}

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

// Weights that can be trained: owned, all of float or all of double, with part_names if a struct.
template <class Weights>
concept trainable_weights =
    detail::fits<detail::rules::trained<detail::say::for_each_parameter, Weights>>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
