// SPDX-License-Identifier: BSL-1.0
// The last step of an 8-bit integer linear map. Each is called for one element at its place `y`;
// finish_words() handles vectors of results, faster if possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/plain/integers.hpp>
#include <umbel/simd/dot.hpp>
#include <umbel/simd/narrow.hpp>
#include <umbel/simd/saturate.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace finish {

struct as_int8 {
  UMBEL_INLINE constexpr void operator()(std::int8_t& y, std::int32_t v) const noexcept {
    y = static_cast<std::int8_t>(simd::saturated<8>(v));
  }
};
struct as_int16 {
  UMBEL_INLINE constexpr void operator()(std::int16_t& y, std::int32_t v) const noexcept {
    y = static_cast<std::int16_t>(simd::saturated<16>(v));
  }
};
// An activation: table[v + 128] for the 8-bit result v.
struct by_table {
  const std::int8_t* table;
  UMBEL_INLINE constexpr void operator()(std::int8_t& y, std::int32_t v) const noexcept {
    y = table[simd::saturated<8>(v) + 128];
  }
};
// A residual sum: adds to the old value.
struct added {
  UMBEL_INLINE constexpr void operator()(std::int16_t& y, std::int32_t v) const noexcept {
    y = static_cast<std::int16_t>(simd::saturated<16>(y + v));
  }
};

}  // namespace finish

#if UMBEL_DOT_VECTORS

// The first `count` results of Vectors packs in a row.
template <std::size_t Vectors, class Finish, class T>
UMBEL_INLINE void finish_first(const Finish& finish, T* y, const simd::dot_words (&v)[Vectors],
                               std::size_t count) noexcept {
  UMBEL_ONE_BY_ONE
  for (std::size_t i = 0; i < count; ++i) finish(y[i], v[i / simd::dot_lanes][i % simd::dot_lanes]);
}
template <std::size_t Vectors, class Finish, class T>
UMBEL_INLINE void finish_words(const Finish& finish, T* y,
                               const simd::dot_words (&v)[Vectors]) noexcept {
  constexpr std::size_t lanes = simd::dot_lanes;
  if constexpr (std::is_same_v<Finish, finish::as_int8>) {
    simd::store_int8(y, v);
  } else if constexpr (std::is_same_v<Finish, finish::as_int16>) {
    simd::store_int16(y, v);
  } else if constexpr (std::is_same_v<Finish, finish::added>) {
    simd::dot_words sums[Vectors];
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < Vectors; ++i) sums[i] = v[i] + simd::widened(y + i * lanes);
    simd::store_int16(y, sums);
  } else {
    finish_first<Vectors>(finish, y, v, Vectors * lanes);
  }
}

// y[i] = of(i) in a different unit, for as many whole packs as Count contains; returns their number
// of elements. The output may overwrite the input pack.
template <std::size_t Count, class Of>
UMBEL_INLINE std::size_t each_in_unit(const Of& of, const plain::integer_unit& unit,
                                      std::int8_t* y) noexcept {
  constexpr std::size_t lanes = simd::dot_lanes;
  const std::int32_t half = unit.shift == 0 ? 0 : std::int32_t{1} << (unit.shift - 1);
  const int shift = unit.shift;
  const auto in_unit = [&](std::size_t at) UMBEL_LAMBDA_INLINE {
    return (of(at) * std::int32_t{unit.multiplier} + half) >> shift;
  };
  std::size_t i = 0;
  for (; i + 4 * lanes <= Count; i += 4 * lanes)
    simd::store_int8<4>(
        y + i, {in_unit(i), in_unit(i + lanes), in_unit(i + 2 * lanes), in_unit(i + 3 * lanes)});
  for (; i + lanes <= Count; i += lanes) simd::store_int8<1>(y + i, {in_unit(i)});
  return Count / lanes * lanes;  // a constant: compilers see if no element is left
}

#endif

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
