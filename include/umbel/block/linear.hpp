// SPDX-License-Identifier: BSL-1.0
// linear: y = x W + b as a layer. x * w (projection.hpp) is the same as an operation.
#pragma once

#include <umbel/attention/options.hpp>
#include <umbel/attention/projection.hpp>

namespace umbel {

namespace say {
struct linear;
}

namespace rules {
template <class T, class In, class Out, class... Options>
using linear = first_error<floating<say::linear, T>, well_formed<In>, well_formed<Out>,
                           options<say::linear, option_kinds<option::bias>, Options...>,
                           one_bias<say::linear, Options...>>;
}  // namespace rules

namespace detail {

// operator() of the layer and of prepacked<layer>.
template <class Derived>
struct linear_calls : operation {
  // x: any axes with In, which becomes Out in its place. Gives a row-major tensor.
  template <tensor_like X>
  constexpr auto operator()(const X& x) const noexcept {
    using parameters =
        std::remove_cvref_t<decltype(static_cast<const Derived*>(this)->parameters())>;
    using verdict = rules::project<say::linear, typename X::layout, typename X::value_type,
                                   typename parameters::map>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return x * static_cast<const Derived*>(this)->parameters();
    else
      return invalid{};
  }
  constexpr invalid operator()(invalid) const { return {}; }
};

}  // namespace detail

// In, Out: patch<16>, hidden<32>. Options: bias<true|false>; without it there is none.
template <class T, class In, class Out, class... Options>
class linear : public detail::linear_calls<linear<T, In, Out, Options...>> {
  static_assert(report<rules::linear<T, In, Out, Options...>>::ok, "umbel: shapes do not fit");

 public:
  using value_type = T;
  static constexpr bool has_bias = option_or<option::bias, bias<false>, Options...>::q;
  template <class Derived>
  using calls = detail::linear_calls<Derived>;

  // Parameters: .weight (In, Out) row-major and .bias (Out).
  using weights = form::owned::linear<T, In, Out, has_bias>;
  using weights_view = form::borrowed::linear<T, In, Out, has_bias>;
  template <class Stored>
  using packed_weights = typename form::packed<Stored>::template linear<T, In, Out, has_bias>;

  // The weights are borrowed: they must outlive the layer.
  constexpr explicit linear(const weights_view& w) noexcept : parameters_(w) {}
  template <detail::foreign_weights<weights_view, linear> Other>
  constexpr explicit linear(const Other&) noexcept
      : parameters_(detail::no_weights<weights_view>()) {
    static_assert(report<rules::weights_of_this_layer<say::linear, (sizeof(Other) == 0)>>::ok,
                  "umbel: shapes do not fit");
  }
  [[nodiscard]] constexpr const weights_view& parameters() const noexcept { return parameters_; }

 private:
  weights_view parameters_;
};

}  // namespace umbel
