// SPDX-License-Identifier: BSL-1.0
// rms_norm (Zhang and Sennrich 2019): along one axis, over the root of the mean of the squares, times
// gamma. Every other axis is rows. No mean is taken away and there is no beta: see layer_norm.hpp.
#pragma once

#include <umbel/block/layer_norm.hpp>

namespace umbel {

namespace say {
struct needs_the_epsilon_that_the_model_was_trained_with;
struct rms_norm;
}  // namespace say

namespace detail {
template <>
struct speak<say::rms_norm> : speak_as_written<say::rms_norm> {};

template <class X, class Layer>
concept other_than = !std::is_base_of_v<Layer, X>;
}  // namespace detail

namespace rules {
template <bool Ok = false>
using epsilon_is_given =
    verdict<Ok, say::rms_norm, say::needs_the_epsilon_that_the_model_was_trained_with>;
}  // namespace rules

// Parameters of an rms_norm along Axis, in one of the forms of projection.hpp.
template <class Form, class T, class Axis>
struct rms_norm_parameters {
  typename Form::template vector<T, Axis> gamma;
};

template <class T, class Axis>
class rms_norm
    : public detail::norm_calls<rms_norm<T, Axis>, say::rms_norm, T, detail::axis_or_none<Axis>> {
  static_assert(detail::reported<rules::well_formed<Axis>>, "umbel: shapes do not fit");

 public:
  using name = say::rms_norm;
  using value_type = T;
  using axis = detail::axis_or_none<Axis>;
  using weights = rms_norm_parameters<form::owned, T, axis>;
  struct weights_view : rms_norm_parameters<form::borrowed, T, axis> {
    // Of a tensor (Axis), a vector_view, or memory as a vector_view takes it.
    template <class Gamma>
    requires std::is_convertible_v<Gamma, vector_view<T, axis>>
    constexpr weights_view(Gamma&& of_gamma) noexcept
        : rms_norm_parameters<form::borrowed, T, axis>{static_cast<Gamma&&>(of_gamma)} {}
    constexpr weights_view(const weights& w) noexcept : weights_view(w.gamma) {}
    constexpr weights_view(const weights&& w) noexcept : weights_view(w) {
      static_assert(report<rules::weights_with_a_name<say::rms_norm, (sizeof(T) == 0)>>::ok,
                    "umbel: shapes do not fit");
    }
  };

  // In memory of its own: part of a packed layer.
  struct packed_weights : rms_norm_parameters<form::packed<T>, T, axis> {
    constexpr explicit packed_weights(const weights_view& w) noexcept
        : rms_norm_parameters<form::packed<T>, T, axis>{w.gamma} {}
  };

  // The weights are borrowed. epsilon is added to the mean of the squares, under the root. It has no
  // default because models differ: 1e-6 in T5 and LLaMA 1, 1e-5 in LLaMA 2 and 3, the smallest
  // step above 1 in torch.nn.RMSNorm when it is not told.
  constexpr explicit rms_norm(const weights_view& w, T epsilon) noexcept
      : parameters_(w), epsilon_(epsilon) {}
  template <detail::foreign_weights<weights_view, rms_norm> Other>
  constexpr explicit rms_norm(const Other&, T epsilon) noexcept
      : parameters_(detail::no_weights<weights_view>()), epsilon_(epsilon) {
    static_assert(report<rules::weights_of_this_layer<say::rms_norm, (sizeof(Other) != 0)>>::ok,
                  "umbel: shapes do not fit");
  }
  template <std::size_t Given = 0>
  constexpr rms_norm() noexcept : parameters_(detail::no_weights<weights_view>()), epsilon_() {
    static_assert(report<rules::weights_of_this_layer<say::rms_norm, Given>>::ok,
                  "umbel: shapes do not fit");
  }
  template <detail::other_than<rms_norm> Weights>
  constexpr explicit rms_norm(const Weights&) noexcept
      : parameters_(detail::no_weights<weights_view>()), epsilon_() {
    static_assert(report<rules::epsilon_is_given<(sizeof(Weights) == 0)>>::ok,
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
      kernel::plain::rms_norm<shape>(x, p.gamma.data(), epsilon, y);
    else
      kernel::rms_norm<shape>(x, p.gamma.data(), epsilon, y);
  }

 private:
  weights_view parameters_;
  T epsilon_;
};

}  // namespace umbel
