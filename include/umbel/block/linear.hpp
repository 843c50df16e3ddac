// SPDX-License-Identifier: BSL-1.0
// linear: y = x W + b as a layer. x * w (layer/project.hpp) is the same as an operation.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/layer/project.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct linear;
}  // namespace say
UMBEL_SAYS(sizes_are_template_arguments_not_numbers_in_a_call_so_write_linear_of_float_and_two_axes,
           "sizes are template arguments, not numbers in a call; write linear<float, hidden<64>, "
           "classes<10>>{weights}");

namespace rules {
template <class T, class In, class Out, class... Options>
using linear =
    first_error<floating<say::linear, T>, well_formed<In>,
                verdict<!std::is_same_v<Out, detail::nothing>, say::linear,
                        struct the_axis_of_the_result_is_missing>,
                verdict<axis_like<Out>, say::linear, struct expected_the_axis_of_the_result_but_got,
                        detail::option_word<Out>>,
                well_formed<detail::axis_or_none<Out>>,
                holds<detail::axis_or_none<In>, detail::axis_or_none<Out>>,
                options<say::linear, option_kinds<option::bias>, Options...>,
                one_bias<say::linear, Options...>>;
}  // namespace rules

template <class T, class In, class Out, class... Options>
using map_of_linear = linear_map<T, In, Out, option_or<option::bias, bias<false>, Options...>::q>;

// Calls of the layer and of prepacked<layer>. x: any axes with In, which Out replaces. Returns a
// row-major tensor; into(out, x): out must not overlap x.
template <class Derived, class Map>
struct linear_calls : computing<linear_calls<Derived, Map>, say::linear> {
  template <class X>
  using rule = rules::project<say::linear, layout_of<X>, typename X::value_type, Map>;
  template <class X>
  using result = projected<layout_of<X>, Map>;

  template <class X, class Y>
  constexpr void write(const X& x, Y& y) const noexcept {
    project_tensor(x, projection(), y);
  }
  // In a formula it is x * weights.
  constexpr const auto& projection() const noexcept {
    return static_cast<const Derived*>(this)->get_weights();
  }
};

// The members of linear except its calls: the types of its weights.
template <class T, class In, class Out, class... Options>
struct linear_types {
  using value_type = T;
  using map = map_of_linear<T, In, Out, Options...>;
  static constexpr bool has_bias = map::has_bias;
  // .weight (In, Out) row-major and, if there is one, .bias (Out).
  using weights = portable::linear_weights<T, typename map::in, typename map::out, has_bias>;
  using weights_view = portable::linear_view<T, typename map::in, typename map::out, has_bias>;
  template <class Stored>
  using packed_weights = packed_linear<T, typename map::in, typename map::out, has_bias, Stored>;
};

template <class T, class In, class Out, class... Options>
using linear_types_of =
    std::conditional_t<rules::floating<say::linear, T>::ok && axis_like<In> && axis_like<Out>,
                       linear_types<T, In, Out, Options...>,
                       linear_types<float, no_axis<1>, no_axis<1>>>;

}  // namespace detail

// y = x W + b along one axis: Out replaces In in x, which has any axes. T: float or double. In,
// Out: patch<16>, hidden<32>. Option: bias<true|false>; default: no bias.
template <class T, class In, class Out = detail::nothing, class... Options>
UMBEL_EXPECTS(
    "linear: expects an element type, two axes, then options; write linear<float, hidden<64>, "
    "classes<10>, bias<true>>")
class linear
    : public detail::linear_types_of<T, In, Out, Options...>,
      public detail::linear_calls<linear<T, In, Out, Options...>,
                                  typename detail::linear_types_of<T, In, Out, Options...>::map>,
      public detail::borrowing<
          detail::say::linear, linear<T, In, Out, Options...>,
          typename detail::linear_types_of<T, In, Out, Options...>::weights_view> {
  using types = detail::linear_types_of<T, In, Out, Options...>;
  using borrowing = detail::borrowing<detail::say::linear, linear, typename types::weights_view>;
  static_assert(detail::reported<detail::rules::linear<T, In, Out, Options...>>::ok,
                "umbel: shapes do not fit");

 public:
  template <class Derived>
  using calls = detail::linear_calls<Derived, typename types::map>;
  using borrowing::borrowing;
  constexpr explicit linear(const typename types::weights&&) noexcept
      : borrowing(detail::no_weights<typename types::weights_view>()) {
    using verdict = detail::rules::weights_with_a_name<detail::say::linear, (sizeof(T) == 0)>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  }
};

// linear(64, 10): refused, since sizes are template arguments.
template <class Given>
class linear<portable::arguments_of_a_call, Given, detail::nothing> : public detail::invalid {
  static_assert(
      detail::reported<detail::rules::made_of_a_call<
          detail::say::linear,
          detail::say::
              sizes_are_template_arguments_not_numbers_in_a_call_so_write_linear_of_float_and_two_axes,
          Given>>::ok,
      "umbel: shapes do not fit");

 public:
  template <class... Arguments>
  constexpr explicit linear(const Arguments&...) noexcept {}
};
template <class... Given>
linear(const Given&...) -> linear<portable::arguments_of_a_call, char>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
