// SPDX-License-Identifier: BSL-1.0
// layer_norm (Ba, Kiros, Hinton 2016): along one axis, (x - mean) / sqrt(variance + epsilon) *
// gamma + beta, the variance biased as in PyTorch. Other axes are rows.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/float/norm.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {

UMBEL_SAYS(
    sizes_are_template_arguments_not_numbers_in_a_call_so_write_layer_norm_of_float_and_an_axis,
    "sizes are template arguments, not numbers in a call; write layer_norm<float, "
    "hidden<100>>{weights}");
UMBEL_SAYS(layer_norm, "layer_norm");

namespace rules {
// Name: the norm in sentences, with type T along Axis.
template <class Name, class T, class Axis, class X>
using normalise = rows_of<Name, X, T, Axis>;

template <class Name, class T, class Axis>
using norm = first_error<floating<Name, T>,
                         verdict<!std::is_same_v<Axis, nothing>, Name, say::the_axis,
                                 axis_family<axes::hidden>, say::is_missing>,
                         well_formed<Axis>>;
template <class T, class Axis, class... Options>
using layer_norm = first_error<norm<say::layer_norm, T, Axis>,
                               options<say::layer_norm, option_kinds<option::bias>, Options...>,
                               one_bias<say::layer_norm, Options...>>;
}  // namespace rules

// Replaces a refused type, so that calls, which would name no_axis, add no second sentence.
template <class T>
using norm_element = std::conditional_t<rules::floating<say::layer_norm, T>::ok, T, float>;
template <class T, class Axis>
using norm_axis =
    std::conditional_t<rules::floating<say::layer_norm, T>::ok, axis_or_none<Axis>, no_axis<1>>;
}  // namespace detail

// Would norm(x) of a layer_norm or rms_norm compile?
template <class Norm, class X>
concept normalises = detail::one_is_invalid<X> ||
                     detail::rules::normalise<typename Norm::word, typename Norm::value_type,
                                              typename Norm::axis, std::remove_cvref_t<X>>::ok;

namespace detail {
// Calls of a norm along Axis and of prepacked<norm>. Name: its name in sentences. x: row-major,
// Axis last. Returns a tensor with the same axes; into(out, x): out may be x.
template <class Derived, class Norm, class Name, class T, class Axis>
class norm_calls : public computing<Derived, Name> {
 public:
  constexpr explicit norm_calls(T epsilon = T(1e-5)) noexcept : epsilon_(epsilon) {}
  [[nodiscard]] constexpr T get_epsilon() const noexcept { return epsilon_; }

  template <class X>
  using rule = rules::normalise<Name, T, Axis, X>;

  template <class X, class Y>
  constexpr void write(const X& x, Y& y) const noexcept {
    Norm::template normalise_rows<layout_of<X>::count / Axis::size>(
        static_cast<const Derived*>(this)->get_weights(), epsilon_, x.data(), y.data());
  }

 private:
  T epsilon_;
};

}  // namespace detail

// layer_norm<float, hidden<64>>: along one axis, (x - mean) / sqrt(variance + epsilon) * gamma +
// beta (Ba, Kiros and Hinton 2016). T: float or double. Option:
//   bias<true|false>    is there a beta? default true. bias<false> is PyTorch's bias=False: its
//                       weights are gamma alone, the bits those of beta 0.
template <class T, class Axis = detail::nothing, class... Options>
UMBEL_EXPECTS(
    "layer_norm: expects an element type, then an axis with its size; write layer_norm<float, "
    "hidden<64>>")
class layer_norm
    : public detail::norm_calls<layer_norm<T, Axis, Options...>, layer_norm<T, Axis, Options...>,
                                detail::say::layer_norm, detail::norm_element<T>,
                                detail::norm_axis<T, Axis>> {
  static_assert(detail::reported<detail::rules::layer_norm<T, Axis, Options...>>::ok,
                "umbel: shapes do not fit");

 public:
  using word = detail::say::layer_norm;
  using value_type = detail::norm_element<T>;
  using axis = detail::norm_axis<T, Axis>;
  static constexpr bool has_bias =
      detail::option_or<detail::option::bias, bias<true>, Options...>::q;
  template <class Vector>
  using parts_in = std::conditional_t<has_bias, portable::layer_norm_parts<Vector, Vector>,
                                      portable::layer_norm_parts_without_beta<Vector>>;
  using weights = parts_in<tensor<value_type, axis>>;
  using weights_view = detail::view_of_weights<parts_in<portable::vector_view<value_type, axis>>>;
  template <class Derived>
  using calls = detail::norm_calls<Derived, layer_norm, word, value_type, axis>;
  static constexpr bool has_default_epsilon = true;
  // Norms are not stored in 16 bits.
  template <class Stored = value_type>
  using packed_weights =
      detail::packed_weights_of<weights_view, parts_in<detail::packed_vector<value_type, axis>>>;

  // The weights are borrowed. epsilon is added to the variance; 1e-5 is PyTorch's.
  constexpr explicit layer_norm(const weights_view& w,
                                value_type epsilon = value_type(1e-5)) noexcept
      : calls<layer_norm>(epsilon), weights_(w) {}
  template <detail::foreign_weights<weights_view, layer_norm> Other>
  constexpr explicit layer_norm(const Other&, value_type = value_type(1e-5)) noexcept
      : weights_(detail::no_weights<weights_view>()) {
    // A refused norm reports no second error.
    using verdict = std::conditional_t<
        std::is_same_v<T, value_type>,
        detail::rules::weights_of_this_layer<detail::say::layer_norm, weights_view, Other>,
        detail::accepted>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  }
  template <class Gamma, class Beta>
    requires(!std::is_convertible_v<Beta, value_type>)
  constexpr layer_norm(const Gamma&, const Beta&) noexcept
      : weights_(detail::no_weights<weights_view>()) {
    using verdict =
        detail::rules::weights_of_this_layer<detail::say::layer_norm, weights_view, Gamma, Beta>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  }
  template <class... Given>
    requires(sizeof...(Given) == 0)
  constexpr layer_norm() noexcept : weights_(detail::no_weights<weights_view>()) {
    static_assert(detail::report<detail::rules::weights_of_this_layer<detail::say::layer_norm,
                                                                      weights_view, Given...>>::ok,
                  "umbel: shapes do not fit");
  }

  // The weights of the norm.
  [[nodiscard]] constexpr const weights_view& get_weights() const noexcept { return weights_; }

  // Rows of axis::size elements each, adjacent.
  template <std::size_t Rows, class Weights>
  static constexpr void normalise_rows(const Weights& w, value_type epsilon, const value_type* x,
                                       value_type* y) noexcept {
    constexpr detail::kernel::norm_shape shape = {Rows, axis::size, axis::size, axis::size,
                                                  has_bias};
    const value_type* beta = nullptr;
    if constexpr (has_bias) beta = w.beta.data();
    if (__builtin_is_constant_evaluated())
      detail::kernel::plain::layer_norm<shape>(x, w.gamma.data(), beta, epsilon, y);
    else
      detail::kernel::layer_norm<shape>(x, w.gamma.data(), beta, epsilon, y);
  }

 private:
  weights_view weights_;
};

// layer_norm(100): refused, since the axis is a template argument.
template <class Given>
class layer_norm<portable::arguments_of_a_call, Given> : public detail::invalid {
  static_assert(
      detail::reported<detail::rules::made_of_a_call<
          detail::say::layer_norm,
          detail::say::
              sizes_are_template_arguments_not_numbers_in_a_call_so_write_layer_norm_of_float_and_an_axis,
          Given>>::ok,
      "umbel: shapes do not fit");

 public:
  template <class... Arguments>
  constexpr explicit layer_norm(const Arguments&...) noexcept {}
};
template <class... Given>
layer_norm(const Given&...) -> layer_norm<portable::arguments_of_a_call, char>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
