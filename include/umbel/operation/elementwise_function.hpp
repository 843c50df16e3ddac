// SPDX-License-Identifier: BSL-1.0
// Functions of each element: the base of the activations (activation.hpp), and exp, log, sqrt,
// rsqrt, tanh, sigmoid, abs, sin, cos, erf and floor of tensors and views.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/float/elementwise.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/simd/activations.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/rounding.hpp>
#include <umbel/simd/sine.hpp>
#include <umbel/tensor/copy.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {

// y[i] = Function::of(x[i]) for a number or a pack; y may be x.
template <class Function, std::size_t Count, class T>
constexpr void apply_to_each(const T* x, T* y) noexcept {
  if (__builtin_is_constant_evaluated() || std::is_integral_v<T>)
    kernel::plain::each<Function, Count>(x, y);
  else if constexpr (!std::is_integral_v<T>)
    kernel::each<Function, Count>(x, y);
}
// y: row-major, with the axes of x; may be x.
template <class Function, class X, class Y>
constexpr void write_each(const X& x, Y& y) noexcept {
  constexpr std::size_t count = layout_of<Y>::count;
  if constexpr (layout_of<X>::contiguous) {
    detail::apply_to_each<Function, count>(x.data(), y.data());
  } else {
    copy(x, y);
    detail::apply_to_each<Function, count>(y.data(), y.data());
  }
}

// Function of positions in a formula (formula/arithmetic.hpp).
template <class Function, class X>
struct function_of_positions;
// Base of the activations. Name: its word. Function: the derived class, which has a static of(v).
template <class Function, class Name>
struct elementwise_function : computing<Function, Name> {
  using computing<Function, Name>::operator();
  // By value: for clang 14, const X& would hide the function of tensors.
  template <class X>
    requires requires { typename X::is_positional; }
  constexpr auto operator()(X x) const noexcept {
    return function_of_positions<Function, X>::of(x);
  }
  template <class X>
  using rule = rules::floating<Name, typename X::value_type>;
  template <std::size_t Count, class T>
  static constexpr void apply(const T* x, T* y) noexcept {
    detail::apply_to_each<Function, Count>(x, y);
  }
  template <class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    detail::write_each<Function>(x, y);
  }
};

namespace say {
struct abs;
struct clamp;
struct cos;
struct erf;
struct exp;
struct floor;
struct log;
struct pipe;
struct pow;
struct rsqrt;
struct sigmoid;
struct sin;
struct sqrt;
struct tanh;
}  // namespace say

struct exp_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::exp(x);
  }
};
struct log_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::log(x);
  }
};
struct sqrt_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::sqrt(x);
  }
};
struct rsqrt_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::rsqrt(x);
  }
};
struct tanh_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::tanh(x);
  }
};
struct sigmoid_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::sigmoid(x);
  }
};
struct cos_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::cos(x);
  }
};
struct erf_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::erf(x);
  }
};
struct floor_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::floor(x);
  }
};
struct sin_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return simd::sin(x);
  }
};
struct abs_function {
  template <class V>
  UMBEL_INLINE static constexpr V of(V x) noexcept {
    return kernel::plain::abs_of(x);
  }
};

UMBEL_SAYS(needs_numbers_not, "needs numbers, not");
UMBEL_SAYS(applies_to_each_element_and_has_no_axis,
           "applies to each element and has no axis; write exp(x)");
UMBEL_SAYS(does_not_work_with_functions_of_each_element_such_as_exp_so_write_exp_of_x,
           "x | f does not work with functions of each element, such as exp; write exp(x)");

UMBEL_SAYS(expects_a_tensor_or_view_and_not, "expects a tensor or view, not");
UMBEL_SAYS(so_pass_one_of_its_members_such_as_weight,
           "; pass one of its members, such as w.weight");

namespace rules {
// Numbers with arithmetic.
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

template <class Name, class X>
using function_of_each = floating<Name, typename X::value_type>;
template <class X>
using absolute = verdict<is_number<typename X::value_type>, say::abs,
                         element<typename X::value_type>, struct has_no_sign>;
template <class Name, class... X>
using number_or_tensor =
    verdict<never<X...>, Name, say::expects_a_tensor_or_view_and_not, type_of_given<X>...,
            say::so_pass_one_of_its_members_such_as_weight>;
template <class Name, class... X>
using number_of_operands =
    verdict<one_is_invalid<X...>, Name, struct has_one_argument_but_got, number<sizeof...(X)>>;
template <class X>
using pipe_into_a_function =
    verdict<never<X>, say::pipe,
            say::does_not_work_with_functions_of_each_element_such_as_exp_so_write_exp_of_x>;
template <class Name, class X>
using no_axis_of = verdict<one_is_invalid<X>, Name, say::applies_to_each_element_and_has_no_axis>;
}  // namespace rules

// Arguments of the functions below: tensors, views, results of refused operations.
template <class X>
concept elements = tensor_like<X> || one_is_invalid<X>;
// A wrong number of operands, in a formula or outside.
template <std::size_t Count, class... X>
inline constexpr bool are_other_than =
    sizeof...(X) != Count && ((elements<X> || of_a_formula<X>) || ...);
// One is a value in a formula; the other is neither that nor a tensor.
template <class... X>
inline constexpr bool are_with_another = false;
template <class X, class Y>
inline constexpr bool are_with_another<X, Y> =
    (of_a_formula<X> && !(tensor_like<Y> || of_a_formula<Y>)) ||
    (of_a_formula<Y> && !(tensor_like<X> || of_a_formula<X>));
// position<key> is first, in place of a table.
template <class... X>
inline constexpr bool are_swapped = false;
template <class X, class Y>
inline constexpr bool are_swapped<X, Y> = rules::of_positions<X> && !one_is_invalid<Y>;

// Weights, layers and your structs of them. (Types of numbers have constructors.)
template <class X>
concept holds_tensors =
    std::is_class_v<X> && !elements<X> && !of_a_formula<X> &&
    (std::is_aggregate_v<X> || requires(const X& layer) { layer.get_weights(); });

// log<hidden>
template <class Name, class Family>
struct function_along_an_axis : other_calls<Name, say::applies_to_each_element_and_has_no_axis> {};
// x | log finds it among the functions named log.
struct function_of_each_element {};

template <class Function, class Verdict, class X>
constexpr auto each_element_through(const X& x) noexcept {
  if constexpr (Verdict::ok && !one_is_invalid<X>)
    return filled<tensor_of<typename X::value_type, row_major<layout_of<X>>>>(
        [&](auto& y) { detail::write_each<Function>(x, y); });
  else
    return invalid{};
}

}  // namespace detail

// These are functions, not objects with a pipe: next to <cmath>, whose functions are also global,
// an object's name would be ambiguous.

// exp(x): e^x of each element of a tensor or view of float or double, as a row-major tensor with
// its axes. Overflows to infinity; 0 below ln(2^-126) (double: ln(2^-1022)).
template <detail::elements X>
constexpr auto exp(const X& x) noexcept {
  using verdict = detail::rules::function_of_each<detail::say::exp, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_element_through<detail::exp_function, verdict>(x);
}
// log(x): the natural logarithm of each element; -infinity for 0, NaN for negative numbers.
template <detail::elements X>
constexpr auto log(const X& x) noexcept {
  using verdict = detail::rules::function_of_each<detail::say::log, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_element_through<detail::log_function, verdict>(x);
}
// sqrt(x): the correctly rounded square root of each element; NaN for negative numbers.
template <detail::elements X>
constexpr auto sqrt(const X& x) noexcept {
  using verdict = detail::rules::function_of_each<detail::say::sqrt, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_element_through<detail::sqrt_function, verdict>(x);
}
// rsqrt(x): 1 / sqrt(x) of each element, within 2 ulp; infinity for zeros, NaN for negative
// numbers.
template <detail::elements X>
constexpr auto rsqrt(const X& x) noexcept {
  using verdict = detail::rules::function_of_each<detail::say::rsqrt, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_element_through<detail::rsqrt_function, verdict>(x);
}
// tanh(x): the hyperbolic tangent of each element.
template <detail::elements X>
constexpr auto tanh(const X& x) noexcept {
  using verdict = detail::rules::function_of_each<detail::say::tanh, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_element_through<detail::tanh_function, verdict>(x);
}
// sigmoid(x): 1 / (1 + e^-x) of each element; 0 below -88.7 (double: -709.8).
template <detail::elements X>
constexpr auto sigmoid(const X& x) noexcept {
  using verdict = detail::rules::function_of_each<detail::say::sigmoid, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_element_through<detail::sigmoid_function, verdict>(x);
}
// cos(x): the cosine of each element in radians, within 3 ulp for every number; NaN for
// infinities.
template <detail::elements X>
constexpr auto cos(const X& x) noexcept {
  using verdict = detail::rules::function_of_each<detail::say::cos, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_element_through<detail::cos_function, verdict>(x);
}
// erf(x): the error function 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x, of each
// element.
template <detail::elements X>
constexpr auto erf(const X& x) noexcept {
  using verdict = detail::rules::function_of_each<detail::say::erf, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_element_through<detail::erf_function, verdict>(x);
}
// floor(x): the largest integer that is not above each element.
template <detail::elements X>
constexpr auto floor(const X& x) noexcept {
  using verdict = detail::rules::function_of_each<detail::say::floor, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_element_through<detail::floor_function, verdict>(x);
}
// sin(x): the sine of each element in radians, within 3 ulp for every number; NaN for
// infinities.
template <detail::elements X>
constexpr auto sin(const X& x) noexcept {
  using verdict = detail::rules::function_of_each<detail::say::sin, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_element_through<detail::sin_function, verdict>(x);
}
// abs(x): |x| of each element, also of integers. The lowest integer, which has no opposite, stays.
template <detail::elements X>
constexpr auto(abs)(const X& x) noexcept {
  using verdict = detail::rules::absolute<X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::each_element_through<detail::abs_function, verdict>(x);
}

// x | log: refused.
template <detail::tensor_like X>
constexpr detail::invalid operator|(const X&,
                                    detail::function_of_each_element (*)() noexcept) noexcept {
  static_assert(detail::report<detail::rules::pipe_into_a_function<X>>::ok,
                "umbel: shapes do not fit");
  return {};
}

// More arguments and an axis are refused: rsqrt(x, 1e-5f), log(x, 2), log<hidden>(x).
#define UMBEL_OF_ONE(name)                                                                     \
  template <class... X>                                                                        \
    requires detail::are_other_than<1, X...>                                                   \
  constexpr auto(name)(const X&...) noexcept {                                                 \
    using verdict =                                                                            \
        detail::in_its_line<detail::rules::number_of_operands<detail::say::name, X...>, X...>; \
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");                    \
    return detail::refusal<verdict>();                                                         \
  }                                                                                            \
  template <detail::holds_tensors X>                                                           \
  constexpr auto(name)(const X&) noexcept {                                                    \
    using verdict =                                                                            \
        detail::anywhere_in_its_line<detail::rules::number_or_tensor<detail::say::name, X>>;   \
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");                    \
    return detail::refusal<verdict>();                                                         \
  }                                                                                            \
  template <template <std::size_t> class Axis, class X, class... More>                         \
    requires(detail::elements<X> || detail::of_a_formula<X>)                                   \
  constexpr auto(name)(const X&, const More&...) noexcept {                                    \
    using verdict = detail::in_its_line<detail::rules::no_axis_of<detail::say::name, X>, X>;   \
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");                    \
    return detail::refusal<verdict>();                                                         \
  }                                                                                            \
  template <template <std::size_t> class Axis>                                                 \
  constexpr detail::function_along_an_axis<detail::say::name, detail::family_of<Axis>>(        \
      name)() noexcept {                                                                       \
    return {};                                                                                 \
  }                                                                                            \
  template <class = void>                                                                      \
  constexpr detail::function_of_each_element(name)() noexcept {                                \
    return {};                                                                                 \
  }
UMBEL_OF_ONE(exp)
UMBEL_OF_ONE(log)
UMBEL_OF_ONE(sqrt)
UMBEL_OF_ONE(rsqrt)
UMBEL_OF_ONE(tanh)
UMBEL_OF_ONE(sigmoid)
UMBEL_OF_ONE(cos)
UMBEL_OF_ONE(erf)
UMBEL_OF_ONE(floor)
UMBEL_OF_ONE(sin)
UMBEL_OF_ONE(abs)
#undef UMBEL_OF_ONE

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
