// SPDX-License-Identifier: BSL-1.0
// layer_norm (Ba, Kiros, Hinton 2016): along one axis, minus the mean, over the standard deviation
// (biased, as in PyTorch), times gamma, plus beta. Every other axis is rows.
#pragma once

#include <umbel/layer/computing.hpp>
#include <umbel/layer/projection.hpp>
#include <umbel/kernel/norm.hpp>

namespace umbel {

namespace say {
struct layer_norm;
}  // namespace say

namespace detail {
template <>
struct speak<say::layer_norm> : speak_as_written<say::layer_norm> {};
}  // namespace detail

namespace rules {
// Name: the word that names the norm, of type T along Axis.
template <class Name, class T, class Axis, class X>
using normalise = first_error<floating<Name, T>, rows_of<Name, X, T, Axis>>;
}  // namespace rules

// Would norm(x) compile?
template <class Norm, class X>
concept normalises = rules::normalise<typename Norm::name, typename Norm::value_type,
                                      typename Norm::axis, std::remove_cvref_t<X>>::ok;

namespace detail {

// Calls of a norm along Axis. Derived::rows<number>(x, y) is what differs. Name: the word for it. x:
// row-major, Axis last. Gives a tensor of the same axes; into(out, x): out may be x.
template <class Derived, class Name, class T, class Axis>
struct norm_calls : computing<Derived, Name> {
  template <class X>
  using rule = rules::normalise<Name, T, Axis, X>;

  template <class X, class Y>
  constexpr void write(const X& x, Y& y) const noexcept {
    static_cast<const Derived*>(this)->template rows<layout_of<X>::count / Axis::size>(x.data(),
                                                                                       y.data());
  }
};

}  // namespace detail

// Parameters of a layer_norm along Axis, in one of the forms of projection.hpp.
template <class Form, class T, class Axis>
struct norm_parameters {
  typename Form::template vector<T, Axis> gamma, beta;
};

template <class T, class Axis>
class layer_norm : public detail::norm_calls<layer_norm<T, Axis>, say::layer_norm, T,
                                             detail::axis_or_none<Axis>> {
  static_assert(detail::reported<rules::well_formed<Axis>>, "umbel: shapes do not fit");

 public:
  using name = say::layer_norm;
  using value_type = T;
  using axis = detail::axis_or_none<Axis>;
  using weights = norm_parameters<form::owned, T, axis>;
  struct weights_view : norm_parameters<form::borrowed, T, axis> {
    constexpr weights_view(const vector_view<T, axis>& of_gamma,
                           const vector_view<T, axis>& of_beta) noexcept
        : norm_parameters<form::borrowed, T, axis>{of_gamma, of_beta} {}
    constexpr weights_view(const weights& w) noexcept : weights_view(w.gamma, w.beta) {}
    constexpr weights_view(const weights&& w) noexcept : weights_view(w) {
      static_assert(report<rules::weights_with_a_name<say::layer_norm, (sizeof(T) == 0)>>::ok,
                    "umbel: shapes do not fit");
    }
  };

  // In memory of its own: part of a packed layer.
  struct packed_weights : norm_parameters<form::packed<T>, T, axis> {
    constexpr explicit packed_weights(const weights_view& w) noexcept
        : norm_parameters<form::packed<T>, T, axis>{w.gamma, w.beta} {}
  };

  // The weights are borrowed. epsilon is added to the variance; 1e-5 is PyTorch's.
  constexpr explicit layer_norm(const weights_view& w, T epsilon = T(1e-5)) noexcept
      : parameters_(w), epsilon_(epsilon) {}
  template <detail::foreign_weights<weights_view, layer_norm> Other>
  constexpr explicit layer_norm(const Other&, T epsilon = T(1e-5)) noexcept
      : parameters_(detail::no_weights<weights_view>()), epsilon_(epsilon) {
    static_assert(report<rules::weights_of_this_layer<say::layer_norm, (sizeof(Other) != 0)>>::ok,
                  "umbel: shapes do not fit");
  }
  template <std::size_t Given = 0>
  constexpr layer_norm() noexcept : parameters_(detail::no_weights<weights_view>()), epsilon_() {
    static_assert(report<rules::weights_of_this_layer<say::layer_norm, Given>>::ok,
                  "umbel: shapes do not fit");
  }

  template <std::size_t Rows>
  constexpr void rows(const T* x, T* y) const noexcept {
    run<Rows>(parameters_, epsilon_, x, y);
  }

  // Rows of axis::size elements, one after another.
  template <std::size_t Rows, class Parameters>
  static constexpr void run(const Parameters& p, T epsilon, const T* x, T* y) noexcept {
    constexpr kernel::norm_shape shape = {Rows, axis::size, axis::size, axis::size};
    if (std::is_constant_evaluated())
      kernel::plain::layer_norm<shape>(x, p.gamma.data(), p.beta.data(), epsilon, y);
    else
      kernel::layer_norm<shape>(x, p.gamma.data(), p.beta.data(), epsilon, y);
  }

 private:
  weights_view parameters_;
  T epsilon_;
};

}  // namespace umbel
