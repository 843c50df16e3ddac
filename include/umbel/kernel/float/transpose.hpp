// SPDX-License-Identifier: BSL-1.0
// Moves a matrix between a layout with adjacent columns and one with adjacent rows, through
// registers: attend does it to a block of queries and to its final context, contract to what it
// packs. Accesses only what exists. Values may be multiplied on the way (one rounded product each).
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>
#include <umbel/simd/transpose.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// A factor that changes no bits.
struct no_factor {
  template <class V>
  UMBEL_INLINE friend V operator*(V value, no_factor) noexcept {
    return value;
  }
};

// y(c, r) = x(r, c) * factor(r), for c < Columns and r < rows <= Lanes; for rows <= r < Lanes
// y(c, r) is 0 * factor. x[r * XRow + c * XColumn], y[c * y_row + r], whole vectors of y stored.
template <std::size_t Columns, std::size_t Lanes, std::size_t XRow, std::size_t XColumn, class T,
          class Factor>
UMBEL_INLINE void gather_columns(const T* x, std::size_t rows, Factor factor, T* y,
                                 std::size_t y_row) noexcept {
  using V = simd::pack<T, Lanes>;
  if constexpr (XRow == 1 || Lanes == 1) {
    for (std::size_t c = 0; c < Columns; ++c) {
      const T* from = x + c * XColumn;
      const V value = rows == Lanes ? simd::load<V>(from) : simd::load_first<V>(from, rows);
      simd::store(y + c * y_row, value * factor);
    }
  } else if constexpr (XColumn == 1) {
    constexpr std::size_t whole = Columns / Lanes * Lanes;
    V square[Lanes];
    for (std::size_t c = 0; c < whole; c += Lanes) {
      UMBEL_UNROLL(16)
      for (std::size_t r = 0; r < Lanes; ++r) {
        square[r] = r < rows ? simd::load<V>(x + r * XRow + c) : V{};
      }
      simd::transpose(square);
      UMBEL_UNROLL(16)
      for (std::size_t i = 0; i < Lanes; ++i) {
        simd::store(y + (c + i) * y_row, square[i] * factor);
      }
    }
    if constexpr (Columns - whole == Lanes / 2) {
      V columns[Lanes / 2];
      simd::load_columns(x + whole, XRow, rows, columns);
      UMBEL_UNROLL(8)
      for (std::size_t i = 0; i < Lanes / 2; ++i) {
        simd::store(y + (whole + i) * y_row, columns[i] * factor);
      }
    } else if constexpr (whole != Columns) {
      UMBEL_UNROLL(16)
      for (std::size_t r = 0; r < Lanes; ++r) {
        square[r] = r < rows ? simd::load_first<V>(x + r * XRow + whole, Columns - whole) : V{};
      }
      simd::transpose(square);
      UMBEL_UNROLL(16)
      for (std::size_t i = 0; i < Columns - whole; ++i) {
        simd::store(y + (whole + i) * y_row, square[i] * factor);
      }
    }
  } else {
    for (std::size_t c = 0; c < Columns; ++c) {
      V value{};
      for (std::size_t r = 0; r < Lanes; ++r) {
        if (r < rows) value[r] = x[r * XRow + c * XColumn];
      }
      simd::store(y + c * y_row, value * factor);
    }
  }
}

// y(r, c) = x(c, r) for c < Columns and r < rows <= Lanes: x[c * x_row + r] (whole vectors read),
// y[r * YRow + c * YColumn].
template <std::size_t Columns, std::size_t Lanes, std::size_t YRow, std::size_t YColumn, class T>
UMBEL_INLINE void scatter_columns(const T* x, std::size_t x_row, std::size_t rows, T* y) noexcept {
  using V = simd::pack<T, Lanes>;
  if constexpr (YColumn == 1 && Lanes > 1) {
    constexpr std::size_t whole = Columns / Lanes * Lanes;
    V square[Lanes];
    for (std::size_t c = 0; c < whole; c += Lanes) {
      UMBEL_UNROLL(16)
      for (std::size_t i = 0; i < Lanes; ++i) square[i] = simd::load<V>(x + (c + i) * x_row);
      simd::transpose(square);
      UMBEL_UNROLL(16)
      for (std::size_t r = 0; r < Lanes; ++r) {
        if (r < rows) simd::store(y + r * YRow + c, square[r]);
      }
    }
    if constexpr (whole != Columns) {
      UMBEL_UNROLL(16)
      for (std::size_t i = 0; i < Lanes; ++i) {
        square[i] = i < Columns - whole ? simd::load<V>(x + (whole + i) * x_row) : V{};
      }
      simd::transpose(square);
      UMBEL_UNROLL(16)
      for (std::size_t r = 0; r < Lanes; ++r) {
        if (r < rows) simd::store_first(y + r * YRow + whole, square[r], Columns - whole);
      }
    }
  } else {
    for (std::size_t c = 0; c < Columns; ++c) {
      for (std::size_t r = 0; r < rows; ++r) y[r * YRow + c * YColumn] = x[c * x_row + r];
    }
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
