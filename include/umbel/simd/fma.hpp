// SPDX-License-Identifier: BSL-1.0
// fma(a, b, c) = a * b + c for scalars, packs and constant expressions, with the same bits in all
// three: rounded once if the target fuses (has_fma), else twice. Never calls libm. Every
// multiplication of the library that feeds an addition goes through here, so that -ffp-contract
// can't change a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/utility.hpp>
#if UMBEL_SOFT_FLOAT
#include <umbel/simd/soft_float.hpp>
#endif

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

namespace detail {

// a + b and its rounding error (Knuth's TwoSum).
struct sum_and_error {
  double sum, error;
};

constexpr sum_and_error two_sum(double a, double b) noexcept {
  const double sum = a + b;
  const double b_part = sum - a;
  const double a_part = sum - b_part;
  return {sum, (a - a_part) + (b - b_part)};
}

constexpr double next_to_odd(sum_and_error exact) noexcept {
  const std::uint64_t bits = __builtin_bit_cast(std::uint64_t, exact.sum);
  const bool finite = (bits >> 52 & 0x7ff) != 0x7ff;
  if (!finite || exact.error == 0 || (bits & 1) != 0) return exact.sum;
  // Even and inexact: of the two neighbors around the exact value, take the odd one.
  const bool outwards = (exact.error > 0) == (exact.sum > 0);
  return __builtin_bit_cast(double, outwards ? bits + 1 : bits - 1);
}

// fma in constant expressions of compilers that can't evaluate the builtin there (clang). float:
// the product is exact in double; the sum is rounded to odd, so that rounding it to float is the
// only rounding (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
constexpr float emulated_fma(float a, float b, float c) noexcept {
  return static_cast<float>(
      next_to_odd(two_sum(static_cast<double>(a) * static_cast<double>(b), c)));
}

// double: the product as two doubles (Dekker), then their algorithm Fma. Exact while nothing
// overflows or is subnormal: |a|, |b| < 2^995, and a * b either 0 or within 2^-960 .. 2^1020.
constexpr double emulated_fma(double a, double b, double c) noexcept {
  const double splitter = 134217729.0;  // 2^27 + 1
  const double a_scaled = a * splitter, b_scaled = b * splitter;
  const double a_high = a_scaled - (a_scaled - a), a_low = a - a_high;
  const double b_high = b_scaled - (b_scaled - b), b_low = b - b_high;
  const double product = a * b;
  const double product_error =
      ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  const sum_and_error low = two_sum(c, product_error);
  const sum_and_error high = two_sum(product, low.sum);
  return high.sum + next_to_odd(two_sum(low.error, high.error));
}

// For targets without fusing. clang turns a * b + c into an operation that is two instructions
// there but, on known numbers, one rounding, so contraction is off. g++ can't be told, so the
// product is hidden from it, and c, which may be a product.
template <class V>
UMBEL_INLINE constexpr V rounded_twice(V a, V b, V c) noexcept {
#if UMBEL_CLANG
#pragma clang fp contract(off) reassociate(off)
#endif
#if UMBEL_FUSES_UNASKED
  if (!__builtin_is_constant_evaluated()) {
    V product = a * b;
    __asm__("" : "+v"(product), "+v"(c));
    return product + c;
  }
#endif
  return a * b + c;
}

// In a constant expression. g++ refuses its builtin if an operand is not finite or a result is
// subnormal; clang has none. If doubles are subnormal, the product is rounded by itself.
template <class T>
constexpr T constant_fma(T a, T b, T c) noexcept {
  const double result = static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c);
  const bool finite = result <= 1.7976931348623157e308 && result >= -1.7976931348623157e308;
  // A product alone is rounded only once; the emulation is inexact for the smallest.
  if (!finite || c == 0) return a * b + c;
#if UMBEL_CLANG
  return emulated_fma(a, b, c);
#else
  constexpr double least = sizeof(T) == 4 ? 1.17549435082228750797e-38 : 2.2250738585072014e-308;
  const bool subnormal = result != 0 && result < least && result > -least;
  if constexpr (sizeof(T) == 4)
    return subnormal ? emulated_fma(a, b, c) : __builtin_fmaf(a, b, c);
  else
    return subnormal ? a * b + c : __builtin_fma(a, b, c);
#endif
}

template <class V, std::size_t... I>
UMBEL_INLINE auto half_of(V value, std::index_sequence<I...>) noexcept {
  return __builtin_shufflevector(value, value, I...);
}

template <class V, std::size_t... I>
UMBEL_INLINE auto join(V low, V high, std::index_sequence<I...>) noexcept {
  return __builtin_shufflevector(low, high, I...);
}

template <std::size_t Offset, std::size_t... I>
constexpr std::index_sequence<(Offset + I)...> shifted(std::index_sequence<I...>) noexcept {
  return {};
}

}  // namespace detail

// Does the target fuse a multiply-add of T?
template <class T>
inline constexpr bool has_fma = sizeof(T) == 4 ? UMBEL_FMA == 1 : UMBEL_FMA_DOUBLE == 1;

template <class V>
UMBEL_INLINE constexpr V fma(V a, V b, V c) noexcept {
#if UMBEL_SOFT_FLOAT
  if constexpr (std::is_same_v<V, float>) return soft_multiply_add(a, b, c);
#endif
  if constexpr (!has_fma<element_of<V>>) {
    return detail::rounded_twice(a, b, c);
  } else if constexpr (lanes_of<V> == 1) {
    if (__builtin_is_constant_evaluated()) return detail::constant_fma(a, b, c);
#if UMBEL_ELEMENTWISE_FMA
    return __builtin_elementwise_fma(a, b, c);
#else
    if constexpr (sizeof(V) == 4) {
      return __builtin_fmaf(a, b, c);
    } else {
      return __builtin_fma(a, b, c);
    }
#endif
  } else {
#if UMBEL_ELEMENTWISE_FMA
    return __builtin_elementwise_fma(a, b, c);
#elif UMBEL_CLANG && !UMBEL_X86
    V result;
    for (std::size_t i = 0; i < lanes_of<V>; ++i) result[i] = fma(a[i], b[i], c[i]);
    return result;
#else
    [[maybe_unused]] constexpr bool single = sizeof(element_of<V>) == 4;
#if UMBEL_MVE_ASSEMBLY
    if constexpr (detail::by_mve<V>) {
      return mve::fma_of_packs(a, b, c);
    } else
#endif
#if UMBEL_AVX512
        if constexpr (sizeof(V) == 64) {
      constexpr int current_rounding = 4;
      if constexpr (single) {
        constexpr auto all = static_cast<detail::mask_16>(0xffff);
        return __builtin_ia32_vfmaddps512_mask(a, b, c, all, current_rounding);
      } else {
        constexpr std::uint8_t all = 0xff;
        return __builtin_ia32_vfmaddpd512_mask(a, b, c, all, current_rounding);
      }
    } else
#endif
#if UMBEL_X86
        if constexpr (sizeof(V) == 32) {
      if constexpr (single) {
        return __builtin_ia32_vfmaddps256(a, b, c);
      } else {
        return __builtin_ia32_vfmaddpd256(a, b, c);
      }
    } else if constexpr (sizeof(V) == 16) {
      if constexpr (single) {
        return __builtin_ia32_vfmaddps(a, b, c);
      } else {
        return __builtin_ia32_vfmaddpd(a, b, c);
      }
    } else
#elif UMBEL_AARCH64
    if constexpr (sizeof(V) == 16) {
      if constexpr (single) {
        return __builtin_aarch64_fmav4sf(a, b, c);
      } else {
        return __builtin_aarch64_fmav2df(a, b, c);
      }
    } else
#endif
        if constexpr (sizeof(V) > 16) {
      // Wider than the machine (tests only): two halves.
      constexpr auto low = std::make_index_sequence<lanes_of<V> / 2>{};
      constexpr auto high = detail::shifted<lanes_of<V> / 2>(low);
      return detail::join(
          fma(detail::half_of(a, low), detail::half_of(b, low), detail::half_of(c, low)),
          fma(detail::half_of(a, high), detail::half_of(b, high), detail::half_of(c, high)),
          std::make_index_sequence<lanes_of<V>>{});
    } else {
      V result;
      for (std::size_t i = 0; i < lanes_of<V>; ++i) result[i] = fma(a[i], b[i], c[i]);
      return result;
    }
#endif
  }
}

#if UMBEL_MVE_ASSEMBLY
using mve::fma;  // for spread() operands
#endif

// Strides, in elements, of the factors of add_products.
struct strides {
  std::size_t a_row, a_step, b_step;

  friend constexpr bool operator==(const strides&, const strides&) = default;
};

// Has the machine a special loop for such sums (A, B: the factors' elements)? Else plain ones.
template <class V, class A, class B>
inline constexpr bool has_products = detail::by_mve<V> && std::is_same_v<A, element_of<V>> &&
                                     std::is_same_v<B, element_of<V>> && std::is_same_v<A, float>;

// sum[r][v] += a(r, k) b(k, v) for k < depth, one fma each: a(r, k) = a[r * a_row + k * a_step],
// b(k, v) the pack at b + k * b_step + v * lanes.
#if UMBEL_MVE_ASSEMBLY
template <strides S, std::size_t Rows, std::size_t Vectors, class V>
UMBEL_INLINE void add_products(const element_of<V>* a, const element_of<V>* b, std::size_t depth,
                               V (&sum)[Rows][Vectors]) noexcept {
  mve::products<S, Rows, Vectors, V>(a, b).run(depth, sum);
}
#else
template <strides S, class V, class... Other>
void add_products(const Other&...) noexcept;
#endif

// fma(a, b, c) if a is not below 0 (or is NaN), else c: b may then be anything. B: V, or spread().
template <class V, class B>
UMBEL_INLINE constexpr V fma_not_negative(V a, B b, V c) noexcept {
#if UMBEL_MVE_ASSEMBLY
  if constexpr (detail::by_mve<V>) {
    return mve::fma_not_negative(a, b, c);
  } else
#endif
#if UMBEL_AVX512
      if constexpr (sizeof(V) == 64) {
    constexpr int current_rounding = 4, not_less_than = 0x15;
    if constexpr (sizeof(element_of<V>) == 4) {
      const auto keep =
          __builtin_ia32_cmpps512_mask(a, V{}, not_less_than, 0xffff, current_rounding);
      return __builtin_ia32_vfmaddps512_mask3(a, b, c, static_cast<detail::mask_16>(keep),
                                              current_rounding);
    } else {
      const auto keep = __builtin_ia32_cmppd512_mask(a, V{}, not_less_than, 0xff, current_rounding);
      return __builtin_ia32_vfmaddpd512_mask3(a, b, c, keep, current_rounding);
    }
  } else
#endif
  {
    return select(less(a, V{}), c, fma(a, b, c));
  }
}

// c[0] + r (c[1] + r (c[2] + ...)) by Horner, each step one fma.
template <class V, std::size_t N>
UMBEL_INLINE constexpr V polynomial(V r, const element_of<V> (&c)[N]) noexcept {
  V result = broadcast<V>(c[N - 1]);
  UMBEL_UNROLL(32)
  for (std::size_t i = N - 1; i > 0; --i) result = fma(result, r, spread<V>(c[i - 1]));
  return result;
}

namespace detail {
// Rounds of halving until one of `count` things is left.
constexpr std::size_t rounds_of_halving(std::size_t count) noexcept {
  std::size_t rounds = 0;
  for (; count > 1; count = (count + 1) / 2) ++rounds;
  return rounds;
}

// c[First] + c[First + 1] r + ..., Count terms; powers: r, r^2, r^4 ...
template <class V, std::size_t First, std::size_t Count, std::size_t Powers, std::size_t N>
UMBEL_INLINE constexpr V polynomial_part(const V (&powers)[Powers],
                                         const element_of<V> (&c)[N]) noexcept {
  if constexpr (Count == 1) {
    return broadcast<V>(c[First]);
  } else {
    constexpr std::size_t round = rounds_of_halving(Count) - 1, half = std::size_t{1} << round;
    return fma(polynomial_part<V, First + half, Count - half>(powers, c), powers[round],
               polynomial_part<V, First, half>(powers, c));
  }
}
}  // namespace detail

// The same by Estrin's scheme: (c[0] + c[1] r) + (c[2] + c[3] r) r^2 and so on, with half as many
// sums in each round. Its dependent steps are a logarithm of Horner's, for a few more products.
template <class V, std::size_t N>
UMBEL_INLINE constexpr V polynomial_in_halves(V r, const element_of<V> (&c)[N]) noexcept {
  static_assert(N > 1);
  constexpr std::size_t count = detail::rounds_of_halving(N);
  V powers[count]{r};
  UMBEL_UNROLL(8)
  for (std::size_t i = 1; i < count; ++i) powers[i] = powers[i - 1] * powers[i - 1];
  return detail::polynomial_part<V, 0, N>(powers, c);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
