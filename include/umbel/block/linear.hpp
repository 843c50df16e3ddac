// SPDX-License-Identifier: BSL-1.0
// linear: y = x W + b as a layer. x * w (projection.hpp) is the same as an operation.
#pragma once

#include <umbel/layer/computing.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/layer/projection.hpp>

namespace umbel {

namespace say {
struct linear;
struct stands_where_the_axis_of_the_result_belongs;
}

namespace rules {
template <class T, class In, class Out, class... Options>
using linear = first_error<floating<say::linear, T>, well_formed<In>,
                           verdict<axis_like<Out>, say::linear, detail::option_word<Out>,
                                   say::stands_where_the_axis_of_the_result_belongs>,
                           well_formed<detail::axis_or_none<Out>>,
                           options<say::linear, option_kinds<option::bias>, Options...>,
                           one_bias<say::linear, Options...>>;
}  // namespace rules

namespace detail {

template <class T, class In, class Out, class... Options>
using map_of_linear = linear_map<T, axis_or_none<In>, axis_or_none<Out>,
                                 option_or<option::bias, bias<false>, Options...>::q>;

// Calls of the layer and of prepacked<layer>. x: any axes with In, which becomes Out in its place. Gives a
// row-major tensor; into(out, x): out must not overlap x.
template <class Derived, class Map>
struct linear_calls : computing<linear_calls<Derived, Map>, say::linear> {
  template <class X>
  using rule = rules::project<say::linear, layout_of<X>, typename X::value_type, Map>;
  template <class X>
  using result = projected<layout_of<X>, Map>;

  template <class X, class Y>
  constexpr void write(const X& x, Y& y) const noexcept {
    project(x, static_cast<const Derived*>(this)->parameters(), y);
  }
};

}  // namespace detail

// In, Out: patch<16>, hidden<32>. Options: bias<true|false>; without it there is none.
template <class T, class In, class Out = detail::nothing, class... Options>
class linear : public detail::linear_calls<linear<T, In, Out, Options...>,
                                           detail::map_of_linear<T, In, Out, Options...>> {
  static_assert(detail::reported<rules::linear<T, In, Out, Options...>>,
                "umbel: shapes do not fit");

 public:
  using value_type = T;
  using map = detail::map_of_linear<T, In, Out, Options...>;
  static constexpr bool has_bias = map::has_bias;
  // Parameters: .weight (In, Out) row-major and .bias (Out).
  using weights = form::owned::linear<T, typename map::in, typename map::out, has_bias>;
  using weights_view = form::borrowed::linear<T, typename map::in, typename map::out, has_bias>;
  template <class Derived>
  using calls = detail::linear_calls<Derived, map>;
  template <class Stored>
  using packed_weights =
      typename form::packed<Stored>::template linear<T, typename map::in, typename map::out,
                                                     has_bias>;

  // The weights are borrowed: they must outlive the layer.
  constexpr explicit linear(const weights_view& w) noexcept : parameters_(w) {}
  constexpr explicit linear(const weights&& w) noexcept : parameters_(w) {
    static_assert(report<rules::weights_with_a_name<say::linear, (sizeof(T) == 0)>>::ok,
                  "umbel: shapes do not fit");
  }
  template <class... Given>
  requires detail::not_its_weights<weights_view, linear, Given...>
  constexpr explicit(sizeof...(Given) == 1) linear(const Given&...) noexcept
      : parameters_(detail::no_weights<weights_view>()) {
    static_assert(report<rules::weights_of_this_layer<say::linear, sizeof...(Given)>>::ok,
                  "umbel: shapes do not fit");
  }
  [[nodiscard]] constexpr const weights_view& parameters() const noexcept { return parameters_; }

 private:
  weights_view parameters_;
};

}  // namespace umbel
