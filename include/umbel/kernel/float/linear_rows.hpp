// SPDX-License-Identifier: BSL-1.0
// y = x w + bias with rows in the lanes, for an x that is already transposed (x_row == 1): features
// are broadcast, so few features waste no lanes. The same bits as plain::linear. linear.hpp chooses
// between this and features in the lanes as planned.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/float/panel.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::detail {

// WeightRow: elements between rows; weights and biases of one panel. W: T, or the stored type.
template <linear_shape S, class T, plan::target Target, std::size_t WeightRow, class W = T>
struct linear_by_rows {
  static constexpr std::size_t lanes = plan::lanes<T>(Target);
  static constexpr std::size_t widest = plan::tile_vectors(Target);
  static constexpr plan::split rows =
      plan::split_evenly(plan::divide_up(S.rows, lanes), widest < 4 ? widest : 4);
  using V = simd::pack<T, lanes>;

  // Features first .. first + Features of the rows at x and y; `count` of them exist.
  template <std::size_t Vectors, std::size_t Features>
  UMBEL_INLINE static void tile(const T* x, const W* w, const T* bias, std::size_t first,
                                std::size_t count, T* y) noexcept {
    V sum[Features][Vectors];
    UMBEL_UNROLL(32)
    for (std::size_t n = 0; n < Features; ++n) {
      UMBEL_UNROLL(4)
      for (std::size_t v = 0; v < Vectors; ++v)
        sum[n][v] = simd::broadcast<V>(S.bias && !is_scaled<W> ? bias[first + n] : T{});
    }
    for (std::size_t k = 0; k < S.in; ++k) {
      V value[Vectors];
      UMBEL_UNROLL(4)
      for (std::size_t v = 0; v < Vectors; ++v) {
        const T* const from = x + v * lanes + k * S.x_in;
        value[v] = (v + 1) * lanes <= count ? simd::load<V>(from)
                                            : simd::load_first<V>(from, count - v * lanes);
      }
      UMBEL_UNROLL(32)
      for (std::size_t n = 0; n < Features; ++n) {
        const std::size_t at = place_in_panel<W, lanes>(first + n, WeightRow / lanes);
        const auto weight = simd::spread<V>(w[k * WeightRow + at]);
        UMBEL_UNROLL(4)
        for (std::size_t v = 0; v < Vectors; ++v)
          sum[n][v] = simd::fma(weight, value[v], sum[n][v]);
      }
    }
    UMBEL_UNROLL(32)
    for (std::size_t n = 0; n < Features; ++n) {
      UMBEL_UNROLL(4)
      for (std::size_t v = 0; v < Vectors; ++v) {
        const std::size_t rest = count - v * lanes;
        T column[lanes];
        simd::store(column, end_of_sum<W, S.bias ? WeightRow : 0>(
                                sum[n][v], [&](std::size_t at) UMBEL_LAMBDA_INLINE {
                                  return simd::broadcast<V>(bias[first + n + at]);
                                }));
        for (std::size_t i = 0; i < (rest < lanes ? rest : lanes); ++i)
          y[(v * lanes + i) * S.y_row + n * S.y_out] = column[i];
      }
    }
  }

  // All features of one block of rows.
  template <std::size_t Vectors>
  UMBEL_NOINLINE static void block(const T* x, const W* w, const T* bias, std::size_t count,
                                   T* y) noexcept {
    constexpr plan::split features = plan::split_evenly(S.out, plan::tile_rows(Target, Vectors));
    std::size_t n = 0;
    for (std::size_t i = 0; i < features.large_count; ++i, n += features.large)
      tile<Vectors, features.large>(x, w, bias, n, count, y + n * S.y_out);
    if constexpr (features.small_count > 0) {
      for (std::size_t i = 0; i < features.small_count; ++i, n += features.smaller())
        tile<Vectors, features.smaller()>(x, w, bias, n, count, y + n * S.y_out);
    }
  }

  UMBEL_INLINE static void all_rows(const T* x, const W* w, const T* bias, T* y) noexcept {
    std::size_t m = 0;
    const auto blocks = [&]<std::size_t Vectors>(std::size_t count) {
      for (std::size_t i = 0; i < count; ++i, m += Vectors * lanes) {
        const std::size_t rest = S.rows - m;
        block<Vectors>(x + m, w, bias, rest < Vectors * lanes ? rest : Vectors * lanes,
                       y + m * S.y_row);
      }
    };
    blocks.template operator()<rows.large>(rows.large_count);
    if constexpr (rows.small_count > 0)
      blocks.template operator()<rows.smaller()>(rows.small_count);
  }
};

template <linear_shape S, class T, plan::target Target>
inline constexpr bool rows_in_lanes =
    plan::choose_orientation<T>(S.rows, S.in, S.out, S.x_row == 1, S.y_row == 1, Target) ==
    plan::orientation::rows_in_lanes;

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::detail
UMBEL_WARNINGS_POP
