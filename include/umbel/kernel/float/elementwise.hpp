// SPDX-License-Identifier: BSL-1.0
// Element by element in SIMD: functions of one and of two elements, gated, add. The same bits as
// the plain ones on every target. y may be an input. Not here: operations along a row (norm.hpp).
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace detail {

// y[e] = operation(read(e)): whole packs, then a partial one. `read` gets the place and count.
template <std::size_t N, class T, plan::target Target, class Operation>
UMBEL_INLINE void for_packs(T* y, Operation operation) noexcept {
  constexpr std::size_t lanes = plan::lanes<T>(Target);
  using V = simd::pack<T, lanes>;
  constexpr std::size_t whole = N / lanes * lanes;
  for (std::size_t e = 0; e < whole; e += lanes) {
    simd::store<V>(y + e, operation([e](const T* from) { return simd::load<V>(from + e); }));
  }
  if constexpr (whole != N) {
    simd::store_first<V>(y + whole, operation([](const T* from) {
                           return simd::load_first<V>(from + whole, N - whole);
                         }),
                         N - whole);
  }
}

}  // namespace detail

// y = function(x). Function::of: for a number or a pack. Not inlined: its thirty vectors of
// constants would fill the caller's stack, and the caller's products could be fused into its sums.
template <class Function, std::size_t N, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void each(const T* x, T* y) noexcept {
  detail::for_packs<N, T, Target>(
      y, [x](auto read) UMBEL_LAMBDA_INLINE { return Function::of(read(x)); });
}

// y = function(a, b), element by element. OneA, OneB: that operand is one number for all elements.
template <class Function, bool OneA, bool OneB, std::size_t N, class T,
          plan::target Target = plan::native_target>
UMBEL_NOINLINE void each_of_two(const T* a, const T* b, T* y) noexcept {
  detail::for_packs<N, T, Target>(y, [a, b](auto read) UMBEL_LAMBDA_INLINE {
    using V = decltype(read(a));
    const V from_a = OneA ? simd::broadcast<V>(*a) : read(a);
    const V from_b = OneB ? simd::broadcast<V>(*b) : read(b);
    return Function::of(from_a, from_b);
  });
}

// y = function(gate) up in one pass. Never inlined: the caller could fuse the product into a sum.
template <class Function, std::size_t N, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void gated(const T* gate, const T* up, T* y) noexcept {
  detail::for_packs<N, T, Target>(
      y, [gate, up](auto read) { return Function::of(read(gate)) * read(up); });
}

// Never inlined: a product that the caller just stored could be fused into the sum.
template <std::size_t N, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void add(const T* a, const T* b, T* y) noexcept {
  detail::for_packs<N, T, Target>(y, [a, b](auto read) { return read(a) + read(b); });
}

// y = x + factor branch, rounded once per element.
template <std::size_t N, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void add_scaled(const T* x, T factor, const T* branch, T* y) noexcept {
  detail::for_packs<N, T, Target>(y, [=](auto read) {
    const auto b = read(branch);
    return simd::fma(b, simd::broadcast<std::remove_const_t<decltype(b)>>(factor), read(x));
  });
}

// y = x + factors branch per row, a factor for each of Width elements; one rounding per element.
template <std::size_t Rows, std::size_t Width, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void add_scaled_features(const T* x, const T* factors, const T* branch,
                                        T* y) noexcept {
  for (std::size_t row = 0; row < Rows * Width; row += Width)
    detail::for_packs<Width, T, Target>(y + row, [=](auto read) {
      return simd::fma(read(branch + row), read(factors), read(x + row));
    });
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
