// SPDX-License-Identifier: BSL-1.0
// Activations, element by element: gelu_exact, gelu_tanh, relu. x | gelu_exact gives a row-major
// tensor of the axes of x. GELU has two forms that differ by up to 5e-4; neither is "the" gelu here.
#pragma once

#include <umbel/attention/options.hpp>
#include <umbel/kernel/elementwise.hpp>
#include <umbel/kernel/plain.hpp>
#include <umbel/tensor/pipe.hpp>

namespace umbel {

namespace detail {

template <class Function>
struct activation_operation : operation {
  template <tensor_like X>
  constexpr auto operator()(const X& x) const noexcept {
    using result = row_major<typename X::layout>;
    tensor_of<typename X::value_type, result> y(x);
    Function::template run<result::count>(y.data(), y.data());
    return y;
  }
  constexpr invalid operator()(invalid) const { return {}; }
};

}  // namespace detail

// 0.5 x (1 + erf(x / sqrt 2)), Hendrycks and Gimpel 2016; torch's approximate='none'.
struct gelu_exact_operation : detail::activation_operation<gelu_exact_operation> {
  template <std::size_t Count, class T>
  static constexpr void run(const T* x, T* y) noexcept {
    if (std::is_constant_evaluated())
      kernel::plain::gelu_exact<Count>(x, y);
    else
      kernel::gelu_exact<Count>(x, y);
  }
};
inline constexpr gelu_exact_operation gelu_exact{};

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), the same paper; torch's approximate='tanh'.
struct gelu_tanh_operation : detail::activation_operation<gelu_tanh_operation> {
  template <std::size_t Count, class T>
  static constexpr void run(const T* x, T* y) noexcept {
    if (std::is_constant_evaluated())
      kernel::plain::gelu_tanh<Count>(x, y);
    else
      kernel::gelu_tanh<Count>(x, y);
  }
};
inline constexpr gelu_tanh_operation gelu_tanh{};

// max(x, 0); NaN gives 0.
struct relu_operation : detail::activation_operation<relu_operation> {
  template <std::size_t Count, class T>
  static constexpr void run(const T* x, T* y) noexcept {
    if (std::is_constant_evaluated())
      kernel::plain::relu<Count>(x, y);
    else
      kernel::relu<Count>(x, y);
  }
};
inline constexpr relu_operation relu{};

// Option of a layer: activation<gelu_tanh>.
template <auto Function>
struct activation {
  using kind = option::activation;
  using function = std::remove_const_t<decltype(Function)>;
};

}  // namespace umbel
