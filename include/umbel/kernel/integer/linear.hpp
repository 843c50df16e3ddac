// SPDX-License-Identifier: BSL-1.0
// 8-bit integer linear maps, defined by plain/integers.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/finish.hpp>
#include <umbel/kernel/integer/linear_scalar.hpp>
#include <umbel/kernel/integer/linear_vectors.hpp>
#include <umbel/kernel/integer/mve.hpp>
#include <umbel/kernel/integer/panels.hpp>
#include <umbel/kernel/plain/integers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// y = x, or y = a b, in a different unit. y may be an argument.
template <std::size_t Count>
constexpr void integer_rescale(const std::int16_t* x, const plain::integer_unit& unit,
                               std::int8_t* y) noexcept {
  std::size_t i = 0;
#if UMBEL_DOT_VECTORS
  if (!__builtin_is_constant_evaluated())
    i = each_in_unit<Count>(
        [=](std::size_t at) UMBEL_LAMBDA_INLINE { return simd::widened(x + at); }, unit, y);
#endif
  for (; i < Count; ++i) y[i] = plain::to_int8(plain::in_unit(x[i], unit));
}
template <std::size_t Count>
constexpr void integer_product(const std::int8_t* a, const std::int8_t* b,
                               const plain::integer_unit& unit, std::int8_t* y) noexcept {
  std::size_t i = 0;
#if UMBEL_DOT_VECTORS
  if (!__builtin_is_constant_evaluated())
    i = each_in_unit<Count>(
        [=](std::size_t at)
            UMBEL_LAMBDA_INLINE { return simd::widened(a + at) * simd::widened(b + at); },
        unit, y);
#endif
  for (; i < Count; ++i) y[i] = plain::to_int8(plain::in_unit(std::int32_t{a[i]} * b[i], unit));
}
// y = y + x, saturated to 16 bits.
template <std::size_t Count>
constexpr void integer_sum(const std::int16_t* x, std::int16_t* y) noexcept {
  std::size_t i = 0;
#if UMBEL_DOT_VECTORS
  constexpr std::size_t lanes = simd::dot_lanes;
  if (!__builtin_is_constant_evaluated()) {
    for (; i + 2 * lanes <= Count; i += 2 * lanes)
      finish_words<2>(finish::added{}, y + i, {simd::widened(x + i), simd::widened(x + i + lanes)});
    for (; i + lanes <= Count; i += lanes)
      finish_words<1>(finish::added{}, y + i, {simd::widened(x + i)});
  }
#endif
  for (; i < Count; ++i) finish::added{}(y[i], x[i]);
}

template <integer_linear_shape S, class T, class Finish>
constexpr void integer_linear(const integer_panels<S.in, S.out>& map, const std::int8_t* x, T* y,
                              const Finish& finish) noexcept {
  if (__builtin_is_constant_evaluated()) return plain::integer_linear<S>(map, x, y, finish);
#if UMBEL_DOT_VECTORS
  if constexpr (std::is_same_v<Finish, finish::by_table> && S.y_row == S.out) {
    // Looks up as many at a time as the target can.
    integer_linear_vectors<S>(map, x, y, finish::as_int8{});
    simd::look_up<S.rows * S.out>(finish.table, y, y);
  } else {
    integer_linear_vectors<S>(map, x, y, finish);
  }
#else
  UMBEL_INTEGER_KERNELS::integer_linear<S>(map, x, y, finish);
#endif
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
