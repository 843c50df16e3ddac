// SPDX-License-Identifier: BSL-1.0
// Activations, element by element: gelu_exact, gelu_tanh, silu, relu, elu, softplus, log_sigmoid. x
// | gelu_exact returns a row-major tensor with the axes of x. The two forms of GELU differ by up to
// 5e-4.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/simd/activations.hpp>
#include <umbel/simd/math.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct elu;
struct gelu_exact;
struct gelu_tanh;
struct log_sigmoid;
struct relu;
struct silu;
struct softplus;
}  // namespace say

struct gelu_exact_operation : elementwise_function<gelu_exact_operation, say::gelu_exact> {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::gelu(x);
  }
};
}  // namespace detail

// x | gelu_exact: 0.5 x (1 + erf(x / sqrt 2)) (Hendrycks and Gimpel 2016; torch's
// approximate='none').
inline constexpr detail::gelu_exact_operation gelu_exact{};
namespace detail {
struct gelu_tanh_operation : elementwise_function<gelu_tanh_operation, say::gelu_tanh> {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::gelu_tanh(x);
  }
};
}  // namespace detail

// x | gelu_tanh: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel 2016;
// torch's approximate='tanh').
inline constexpr detail::gelu_tanh_operation gelu_tanh{};
namespace detail {
// x sigmoid(x) (Hendrycks and Gimpel 2016; swish in Ramachandran et al. 2017). As torch's silu,
// except that silu(-infinity) is -0 here and NaN there.
struct silu_operation : elementwise_function<silu_operation, say::silu> {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return kernel::plain::silu_of(x);
  }
};
}  // namespace detail

// x | silu: x sigmoid(x), also called swish.
inline constexpr detail::silu_operation silu{};
namespace detail {
struct relu_operation : elementwise_function<relu_operation, say::relu> {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return kernel::plain::relu_of(x);
  }
};
}  // namespace detail

// x | relu: max(x, 0); NaN stays NaN, as in PyTorch.
inline constexpr detail::relu_operation relu{};
namespace detail {
struct elu_operation : elementwise_function<elu_operation, say::elu> {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::elu(x);
  }
};
}  // namespace detail

// x | elu: x if x > 0, else e^x - 1 (Clevert et al. 2016, with alpha 1); elu(x) + 1 is the feature
// map of linear attention (Katharopoulos et al. 2020).
inline constexpr detail::elu_operation elu{};
namespace detail {
struct softplus_operation : elementwise_function<softplus_operation, say::softplus> {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::softplus(x);
  }
};
}  // namespace detail

// x | softplus: log(1 + e^x), without overflow; 0 below -87.3 (double: -708.3).
inline constexpr detail::softplus_operation softplus{};
namespace detail {
struct log_sigmoid_operation : elementwise_function<log_sigmoid_operation, say::log_sigmoid> {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::log_sigmoid(x);
  }
};
}  // namespace detail

// x | log_sigmoid: the logarithm of 1 / (1 + e^-x), without overflow; 0 above 87.3 (double: 708.3).
inline constexpr detail::log_sigmoid_operation log_sigmoid{};

// Option of a layer: activation<gelu_tanh>. A custom one is an object whose type has a static
// apply<Count>(x, y), which writes f(x[i]) to y[i] for Count elements; y may be x. For gated<true>
// it also needs a static of(v) for a number or a pack (docs/how-to/your-own.md).
template <auto Function>
struct activation {
  using kind = detail::option::activation;
  using function = std::remove_const_t<decltype(Function)>;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
