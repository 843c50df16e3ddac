// SPDX-License-Identifier: BSL-1.0
// The functions of elements that a formula knows, one entry each: their computation for numbers and
// packs, their name and their cycles in a plan. Users write them with operation/ and
// arithmetic.hpp; training/reverse.hpp has their derivatives.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/graph.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/operation/activation.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/operation/maximum.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

struct negate_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V a) noexcept {
    return -a;
  }
};
template <word W>
struct slope_function {
  template <class V>
  static constexpr V of(V a) noexcept;  // training/slopes.hpp
};
struct maximum_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V a, V b) noexcept {
    return kernel::plain::max_of::with(a, b);
  }
};
struct minimum_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V a, V b) noexcept {
    return kernel::plain::min_of::with(a, b);
  }
};
struct clamp_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x, V low, V high) noexcept {
    return kernel::plain::clamp_of(x, low, high);
  }
};

// function: a class with a static of(...) for numbers and packs. cycles: estimated, of a vector.
struct function_entry {
  const char* name;
  double cycles;
};
template <word W>
struct function_of;
template <class Function>
inline constexpr word word_of = word::none;
#define UMBEL_FUNCTION(what, function, ...)                \
  template <>                                              \
  struct function_of<word::what> {                         \
    using type = function;                                 \
    static constexpr function_entry entry = {__VA_ARGS__}; \
  };                                                       \
  template <>                                              \
  inline constexpr word word_of<function> = word::what;

UMBEL_FUNCTION(negate, negate_function, "negate", 0.5)
UMBEL_FUNCTION(exp, exp_function, "exp", 5)
UMBEL_FUNCTION(log, log_function, "log", 5)
UMBEL_FUNCTION(sqrt, sqrt_function, "sqrt", 3)
UMBEL_FUNCTION(rsqrt, rsqrt_function, "rsqrt", 3)
UMBEL_FUNCTION(tanh, tanh_function, "tanh", 5)
UMBEL_FUNCTION(sigmoid, sigmoid_function, "sigmoid", 5)
UMBEL_FUNCTION(absolute, abs_function, "abs", 0.5)
UMBEL_FUNCTION(gelu_exact, gelu_exact_operation, "gelu_exact", 5)
UMBEL_FUNCTION(gelu_tanh, gelu_tanh_operation, "gelu_tanh", 5)
UMBEL_FUNCTION(silu, silu_operation, "silu", 5)
UMBEL_FUNCTION(relu, relu_operation, "relu", 0.5)
UMBEL_FUNCTION(elu, elu_operation, "elu", 5)
UMBEL_FUNCTION(softplus, softplus_operation, "softplus", 13)
UMBEL_FUNCTION(log_sigmoid, log_sigmoid_operation, "log_sigmoid", 13)
UMBEL_FUNCTION(sin, sin_function, "sin", 35)
UMBEL_FUNCTION(cos, cos_function, "cos", 35)
UMBEL_FUNCTION(erf, erf_function, "erf", 9)
UMBEL_FUNCTION(floor, floor_function, "floor", 2)
UMBEL_FUNCTION(gelu_exact_slope, slope_function<word::gelu_exact_slope>, "slope of gelu_exact", 0.5)
UMBEL_FUNCTION(gelu_tanh_slope, slope_function<word::gelu_tanh_slope>, "slope of gelu_tanh", 0.5)
UMBEL_FUNCTION(maximum, maximum_function, "maximum", 0.5)
UMBEL_FUNCTION(minimum, minimum_function, "minimum", 0.5)
UMBEL_FUNCTION(pow, pow_function, "pow", 40)
UMBEL_FUNCTION(remainder, remainder_function, "remainder", 7)
UMBEL_FUNCTION(clamp, clamp_function, "clamp", 1)
#undef UMBEL_FUNCTION

template <std::size_t... I>
constexpr auto entries_of(std::index_sequence<I...>) noexcept {
  struct {
    function_entry entry[sizeof...(I)];
  } all{{function_of<static_cast<word>(static_cast<std::size_t>(first_function) + I)>::entry...}};
  return all;
}
inline constexpr auto all_functions = entries_of(std::make_index_sequence<function_count>{});

constexpr const function_entry& entry_of(word w) noexcept {
  return all_functions
      .entry[static_cast<std::size_t>(w) - static_cast<std::size_t>(first_function)];
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
