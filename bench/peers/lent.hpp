// SPDX-License-Identifier: BSL-1.0
// Lent to peers that have products of matrices only: softmax along rows and down columns, and
// transposing, written by hand in vectors. Softmax here is not divided by its sum: 1 / sum goes to
// what is made of it.
#pragma once

#include <algorithm>
#include <cstring>
#include <umbel/plan/target.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/transpose.hpp>
#include <utility>

namespace race {

namespace simd = umbel::detail::simd;

inline constexpr int lanes =
    static_cast<int>(umbel::detail::plan::lanes<float>(umbel::detail::plan::native_target));
static_assert(lanes > 1, "the race wants a machine with vectors");
using vector = simd::pack<float, lanes>;
inline constexpr int round_up(int n) { return (n + lanes - 1) / lanes * lanes; }

namespace detail {

template <std::size_t First, class Half, class V, std::size_t... I>
Half half_of(V v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, (First + I)...);
}

// All lanes by a function of two.
template <class V, class F>
UMBEL_INLINE float across(V v, F f) {
  constexpr std::size_t count = simd::lanes_of<V>;
  if constexpr (count == 2) {
    return f(v[0], v[1]);
  } else {
    using half = simd::pack<float, count / 2>;
    constexpr auto all = std::make_index_sequence<count / 2>{};
    return across(f(half_of<0, half>(v, all), half_of<count / 2, half>(v, all)), f);
  }
}

inline constexpr auto maximum = [](auto a, auto b) { return simd::larger(a, b); };
inline constexpr auto sum = [](auto a, auto b) { return a + b; };
inline constexpr float log2_e = 1.4426950408889634f;
inline constexpr float lowest = -3e38f;

}  // namespace detail

// s[r * row + j] = exp(scale * (s - maximum of the row)), inverse[r] = 1 / their sum, for j <
// Columns; up to the next multiple of lanes there is memory, which becomes zeros.
template <int Columns>
UMBEL_NOINLINE void softmax_rows(float* s, int row, int rows, float scale, float* inverse) {
  constexpr int vectors = round_up(Columns) / lanes, rest = Columns % lanes;
  const vector factor = simd::broadcast<vector>(scale * detail::log2_e);
  const auto load = [&](const float* at, int i) {
    const vector v = simd::load<vector>(at + i * lanes);
    if (rest == 0 || i != vectors - 1) return v;
    vector lane{};
    for (int j = 0; j < lanes; ++j) lane[j] = static_cast<float>(j);
    return simd::select(lane < simd::broadcast<vector>(rest), v,
                        simd::broadcast<vector>(detail::lowest));
  };
  for (int r = 0; r < rows; ++r, s += row) {
    vector most[4], total[4] = {};
    for (vector& v : most) v = simd::broadcast<vector>(detail::lowest);
    UMBEL_UNROLL(8)
    for (int i = 0; i < vectors; ++i) most[i % 4] = simd::larger(load(s, i), most[i % 4]);
    const float maximum =
        detail::across(simd::larger(simd::larger(most[0], most[1]), simd::larger(most[2], most[3])),
                       detail::maximum);
    const vector shift = simd::broadcast<vector>(-maximum * scale * detail::log2_e);
    UMBEL_UNROLL(8)
    for (int i = 0; i < vectors; ++i) {
      const vector e = simd::exp2_not_positive(simd::fma(load(s, i), factor, shift));
      simd::store(s + i * lanes, e);
      total[i % 4] = total[i % 4] + e;
    }
    inverse[r] = 1 / detail::across((total[0] + total[1]) + (total[2] + total[3]), detail::sum);
  }
}

// The same down the columns of s(rows, columns), columns a multiple of lanes: nothing goes across
// lanes.
UMBEL_NOINLINE inline void softmax_columns(float* s, std::ptrdiff_t rows, std::ptrdiff_t columns,
                                           float scale, float* inverse) {
  const vector factor = simd::broadcast<vector>(scale * detail::log2_e);
  for (std::ptrdiff_t j = 0; j < columns; j += lanes) {
    float* const column = s + j;
    vector most[2] = {simd::load<vector>(column), simd::load<vector>(column)};
    std::ptrdiff_t i = 1;
    for (; i + 1 < rows; i += 2) {
      most[0] = simd::larger(simd::load<vector>(column + i * columns), most[0]);
      most[1] = simd::larger(simd::load<vector>(column + (i + 1) * columns), most[1]);
    }
    for (; i < rows; ++i) most[0] = simd::larger(simd::load<vector>(column + i * columns), most[0]);
    const vector shift = -simd::larger(most[0], most[1]) * factor;
    vector total[2] = {};
    const auto one = [&](std::ptrdiff_t at) {
      const vector e = simd::exp2_not_positive(
          simd::fma(simd::load<vector>(column + at * columns), factor, shift));
      simd::store(column + at * columns, e);
      return e;
    };
    for (i = 0; i + 3 < rows; i += 4) {
      const vector e[4] = {one(i), one(i + 1), one(i + 2), one(i + 3)};
      total[0] = total[0] + (e[0] + e[1]);
      total[1] = total[1] + (e[2] + e[3]);
    }
    for (; i < rows; ++i) total[0] = total[0] + one(i);
    simd::store(inverse + j, simd::broadcast<vector>(1) / (total[0] + total[1]));
  }
}

// x(r, c) *= factor[r].
UMBEL_NOINLINE inline void scale_rows(float* x, int row, int rows, int columns,
                                      const float* factor) {
  for (int r = 0; r < rows; ++r, x += row) {
    const vector by = simd::broadcast<vector>(factor[r]);
    int c = 0;
    for (; c + lanes <= columns; c += lanes) simd::store(x + c, simd::load<vector>(x + c) * by);
    if (c < columns) {
      const auto rest = static_cast<std::size_t>(columns - c);
      simd::store_first(x + c, simd::load_first<vector>(x + c, rest) * by, rest);
    }
  }
}

namespace detail {

// A square of lanes x lanes, of which `tall` rows and `wide` columns are there.
template <bool Padded>
UMBEL_INLINE void transpose_square(const float* x, int x_row, std::size_t tall, std::size_t wide,
                                   float* y, int y_row, vector factor) {
  vector square[lanes];
  UMBEL_UNROLL(16)
  for (std::size_t i = 0; i < lanes; ++i) {
    const float* const from = x + static_cast<std::ptrdiff_t>(i) * x_row;
    square[i] = i >= tall       ? vector{}
                : wide == lanes ? simd::load<vector>(from) * factor
                                : simd::load_first<vector>(from, wide) * factor;
  }
  simd::transpose(square);
  UMBEL_UNROLL(16)
  for (std::size_t i = 0; i < lanes; ++i) {
    if (i < wide) {
      if (Padded || tall == lanes) {
        simd::store(y, square[i]);
      } else {
        simd::store_first(y, square[i], tall);
      }
    }
    y += y_row;
  }
}
UMBEL_INLINE void transpose_square(const float* x, int x_row, float* y, int y_row, vector factor) {
  vector square[lanes];
  UMBEL_UNROLL(16)
  for (int i = 0; i < lanes; ++i) square[i] = simd::load<vector>(x + i * x_row) * factor;
  simd::transpose(square);
  UMBEL_UNROLL(16)
  for (int i = 0; i < lanes; ++i) simd::store(y + i * y_row, square[i]);
}

}  // namespace detail

// y(c, r) = x(r, c), times factor[c] where there is one (room for whole vectors). Padded: rows of y
// have room for whole vectors, which is faster, for what was stored in part cannot be loaded again
// at once.
template <bool Padded>
UMBEL_NOINLINE void transpose(const float* x, int x_row, int rows, int columns, float* y, int y_row,
                              const float* factor = nullptr) {
  for (int c = 0; c < columns; c += lanes) {
    const vector by =
        factor != nullptr ? simd::load<vector>(factor + c) : simd::broadcast<vector>(1);
    for (int r = 0; r < rows; r += lanes) {
      const int there = std::min(lanes, rows - r), wide = std::min(lanes, columns - c);
      const float* const from = x + r * x_row + c;
      float* const to = y + c * y_row + r;
      if (there == lanes && wide == lanes) {
        detail::transpose_square(from, x_row, to, y_row, by);
      } else {
        detail::transpose_square<Padded>(from, x_row, static_cast<std::size_t>(there),
                                         static_cast<std::size_t>(wide), to, y_row, by);
      }
    }
  }
}

// y[r] = the sum of x(c) m(r, c), for one query to many keys where they are; room in y for whole
// vectors.
UMBEL_NOINLINE inline void dot_rows(const float* x, const float* m, int m_row, int rows,
                                    int columns, float* y) {
  for (int r = 0; r < rows; r += lanes) {
    const int there = std::min(lanes, rows - r);
    vector sum[lanes] = {};
    for (int c = 0; c < columns; c += lanes) {
      const auto wide = static_cast<std::size_t>(std::min(lanes, columns - c));
      const vector by = simd::load_first<vector>(x + c, wide);
      UMBEL_UNROLL(16)
      for (int i = 0; i < lanes; ++i) {
        if (i < there) {
          const float* const from = m + (r + i) * m_row + c;
          const vector v =
              wide == lanes ? simd::load<vector>(from) : simd::load_first<vector>(from, wide);
          sum[i] = simd::fma(v, by, sum[i]);
        }
      }
    }
    simd::transpose(sum);
    UMBEL_UNROLL(4)
    for (int half = lanes / 2; half > 0; half /= 2) {
      UMBEL_UNROLL(8)
      for (int i = 0; i < half; ++i) sum[i] = sum[i] + sum[i + half];
    }
    simd::store(y + r, sum[0]);
  }
}

// y(r, c) = b[c], and += b[c].
UMBEL_NOINLINE inline void set_rows(float* y, int row, int rows, int columns, const float* b) {
  for (int r = 0; r < rows; ++r)
    std::memcpy(y + r * row, b, sizeof(float) * static_cast<std::size_t>(columns));
}
UMBEL_NOINLINE inline void add_to_rows(float* y, int row, int rows, int columns, const float* b) {
  for (int r = 0; r < rows; ++r, y += row) {
    for (int c = 0; c < columns; ++c) y[c] += b[c];
  }
}

}  // namespace race
