// SPDX-License-Identifier: BSL-1.0
// y = x w + bias in SIMD: features in the lanes (or rows, linear_rows.hpp), a register tile
// (linear_tile.hpp) that stays in registers for all of k, accumulators that start at the bias. The
// same bits as plain::linear for every target and stride. Weights are used in place (linear) or
// packed once into panels (pack_linear, linear_packed), also as 16 (simd/half.hpp) or 8 bits
// (plain/scaled.hpp). Writes only y, reads only x, w and bias.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/float/linear_rows.hpp>
#include <umbel/kernel/float/linear_tile.hpp>
#include <umbel/kernel/plain/scaled.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/plan.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace detail {

// All the rows against one group of panels.
template <linear_shape S, class T, linear_tile Tile, plan::split Rows, class W,
          class Sums = whole_sums<S.in>>
UMBEL_NOINLINE void run_linear_rows(const T* x, const W* w, const T* bias, T* y,
                                    Sums sums = {}) noexcept {
  constexpr auto with_rows = [](std::size_t rows) {
    linear_tile tile = Tile;
    tile.rows = rows;
    return tile;
  };
  if constexpr (Rows.large_count > 0) {
    constexpr std::size_t again = Rows.offset(Rows.count()) - S.rows;  // rows of the last tile
    for (std::size_t i = 0; i < Rows.large_count; ++i) {
      if (again != 0 && i + 1 == Rows.large_count) {
        x -= again * S.x_row;
        y -= again * S.y_row;
      }
      run_linear_tile<S, T, with_rows(Rows.large)>(x, w, bias, y, sums);
      x += Rows.large * S.x_row;
      y += Rows.large * S.y_row;
    }
  }
  if constexpr (Rows.small_count > 0) {
    for (std::size_t i = 0; i < Rows.small_count; ++i) {
      run_linear_tile<S, T, with_rows(Rows.smaller())>(x, w, bias, y, sums);
      x += Rows.smaller() * S.x_row;
      y += Rows.smaller() * S.y_row;
    }
  }
}

// Where panels are: in the natural matrix, or one after the other.
template <linear_shape S, class T, plan::target Target, bool Packed, class W = T>
struct linear_walk {
  static constexpr plan::linear_plan plan = plan::plan_linear<T>(S.rows, S.in, S.out, Target);
  static constexpr std::size_t tail = S.out - (plan.vectors - 1) * plan.lanes;
  static constexpr bool has_tail = tail != plan.lanes;
  // Prefetches one row's weights beyond the second-level cache, if a panel has enough chains.
  static constexpr bool fetches_ahead = Target.fetch_ahead && Packed && S.rows == 1 &&
                                        S.in * S.out * sizeof(W) > 192 * 1024 &&
                                        plan.panels.large >= 4 && plan.group == 1;
  static constexpr std::size_t tail_group =
      shared_tail_group<T>(S, plan.rows.large, plan.tile, plan.lanes, tail, Packed, Target);

  const T* x;
  const W* w;
  const T* bias;
  T* y;

  // `Group` panels of Vectors vectors that share a tile, or one in tiles of plan.tile vectors; from
  // vector `first` of the features on.
  template <std::size_t Vectors, std::size_t Group, bool Tail>
  UMBEL_INLINE void together(std::size_t first) const noexcept {
    constexpr std::size_t in_tile = plan.tile < Vectors ? plan.tile : Vectors;
    constexpr std::size_t width = Vectors * plan.lanes, step = in_tile * plan.lanes;
    constexpr auto tile_with = [](std::size_t of_last) {
      return linear_tile{.rows = 0,
                         .panels = Group,
                         .vectors = in_tile,
                         .lanes = plan.lanes,
                         .tail = of_last,
                         .w_in = Packed ? width : S.out,
                         .w_panel = Group == 1 ? 0
                                    : Packed   ? width * S.in
                                               : width,
                         .padded = Packed,
                         .tail_group = of_last != plan.lanes ? tail_group : 0,
                         .prefetched = fetches_ahead,
                         .scales = S.bias ? plan.vectors * plan.lanes : 0};
    };
    const std::size_t feature = first * plan.lanes;
    const W* const panel = w + feature * (Packed ? S.in : 1);
    constexpr bool has_numbers = S.bias || is_scaled<W>;
    const T* const biases = has_numbers ? bias + feature : bias;
    T* const to = y + feature * S.y_out;
    constexpr std::size_t tiles = Vectors / in_tile, whole = Tail ? tiles - 1 : tiles;
    if constexpr (whole > 0) {
      for (std::size_t t = 0; t < whole; ++t) {
        run_linear_rows<S, T, tile_with(plan.lanes), plan.rows>(
            x, panel + t * step, has_numbers ? biases + t * step : biases, to + t * step * S.y_out);
      }
    }
    if constexpr (Tail) {
      constexpr std::size_t at = whole * step;
      run_linear_rows<S, T, tile_with(tail), plan.rows>(
          x, panel + at, has_numbers ? biases + at : biases, to + at * S.y_out);
    }
  }

  // Count panels of Vectors vectors, from vector `First` of the features on.
  template <std::size_t Vectors, std::size_t First, std::size_t Count, std::size_t Group, bool Tail>
  UMBEL_INLINE void panels() const noexcept {
    if constexpr (Count > 0) {
      constexpr std::size_t group = Group < Count ? Group : Count;
      for (std::size_t i = 0; i < Count / group; ++i)
        together<Vectors, group, Tail>(First + i * group * Vectors);
      panels<Vectors, First + Count / group * group * Vectors, Count % group, Group, Tail>();
    }
  }

  UMBEL_INLINE void all_panels() const noexcept {
    if constexpr (S.rows > 0 && S.out > 0) {
      constexpr plan::split split = plan.panels;
      panels<split.smaller(), 0, split.small_count, plan.group, false>();
      constexpr std::size_t large = plan.group < split.large_count ? plan.group : split.large_count;
      constexpr std::size_t last = has_tail ? large : 0;  // panels in the tile with the tail
      panels<split.large, split.small_count * split.smaller(), split.large_count - last, large,
             false>();
      if constexpr (has_tail)
        panels<split.large, plan.vectors - last * split.large, last, last, true>();
    }
  }
};

}  // namespace detail

// Natural weights: w(in, out) row-major and bias(out), in place. bias is unread if S has none.
template <linear_shape S, class T, plan::target Target = plan::native_target>
UMBEL_INLINE void linear(const T* x, const T* w, const T* bias, T* y) noexcept {
  if constexpr (detail::rows_in_lanes<S, T, Target>)
    detail::linear_by_rows<S, T, Target, S.out>::all_rows(x, w, bias, y);
  else
    detail::linear_walk<S, T, Target, false>{x, w, bias, y}.all_panels();
}

// Features rounded up to whole vectors of this target: the biases that pack_linear writes, and the
// weights per input. Independent of rows and strides: one packed set serves any number of rows.
template <std::size_t Out, class T, plan::target Target = plan::native_target>
inline constexpr std::size_t padded_features =
    plan::divide_up(Out, plan::lanes<T>(Target)) * plan::lanes<T>(Target);

template <linear_shape S, class T, plan::target Target = plan::native_target>
inline constexpr std::size_t packed_size = padded_features<S.out, T, Target> * S.in;

// The numbers per output in packed weights: a bias, and a scale if scaled.
template <class W, bool Bias>
inline constexpr std::size_t numbers_of_output = (Bias ? 1 : 0) + (detail::is_scaled<W> ? 1 : 0);

// Packs w(In, Out) for linear_packed, panel by panel of the plan, each with In rows of its
// features, and bias(Out), if any, both zero-padded. W: the stored type, T, bfloat16, float16 or
// std::int8_t, rounded here; for the last, the outputs' scales follow the biases
// (plain/scaled.hpp). in, out: the strides of w, which may be (Out, In) in memory. Also in constant
// expressions.
template <std::size_t In, std::size_t Out, bool Bias, class T,
          plan::target Target = plan::native_target, class W>
constexpr void pack_linear(const T* w, const T* bias, W* panels, T* biases, std::size_t in = Out,
                           std::size_t out = 1) noexcept {
  constexpr std::size_t lanes = plan::lanes<T>(Target);
  constexpr plan::split split = plan::plan_panels<T>(In, Out, Target);
  for (std::size_t p = 0; p < split.count(); ++p) {
    const std::size_t first = split.offset(p) * lanes, width = split.size(p) * lanes;
    if constexpr (detail::is_scaled<W>) {
      T* const scales = biases + (Bias ? padded_features<Out, T, Target> : 0) + first;
      for (std::size_t n = 0; n < width; ++n) {
        scale_of_numbers<T> scale;
        const auto weight = [&](std::size_t k) {
          return first + n < Out ? w[k * in + (first + n) * out] : T{};
        };
        for (std::size_t k = 0; k < In; ++k) scale.add(weight(k));
        const typename scale_of_numbers<T>::in_steps in_steps{scale};
        for (std::size_t k = 0; k < In; ++k) panels[k * width + n] = in_steps(weight(k));
        scales[n] = scale.value();
      }
      panels += In * width;
      continue;
    }
    for (std::size_t k = 0; k < In; ++k) {
      UMBEL_ONE_BY_ONE
      for (std::size_t n = 0; n < width; ++n) {
        panels[detail::place_in_panel<W, lanes>(n, split.size(p))] =
            static_cast<W>(first + n < Out ? w[k * in + (first + n) * out] : T{});
      }
      panels += width;
    }
  }
  if constexpr (Bias) {
    for (std::size_t n = 0; n < padded_features<Out, T, Target>; ++n)
      biases[n] = n < Out ? bias[n] : T{};
  }
}

// Unpacks output n of pack_linear's w: to(In). biases: for scaled weights.
template <std::size_t In, std::size_t Out, class T, plan::target Target = plan::native_target,
          class W>
constexpr void unpack_output(const W* panels, const T* biases, std::size_t n, T* to) noexcept {
  constexpr std::size_t lanes = plan::lanes<T>(Target);
  constexpr plan::split split = plan::plan_panels<T>(In, Out, Target);
  const std::size_t p = split.block_of(n / lanes);
  const std::size_t first = split.offset(p) * lanes, width = split.size(p) * lanes;
  const W* from = panels + first * In + detail::place_in_panel<W, lanes>(n - first, split.size(p));
  for (std::size_t k = 0; k < In; ++k) {
    to[k] = static_cast<T>(from[k * width]);
    if constexpr (detail::is_scaled<W>) to[k] = simd::fma(to[k], biases[n], T{});
  }
}

// As linear, with the output of pack_linear<S.in, S.out, S.bias, T, Target>, rounded there.
template <linear_shape S, class T, plan::target Target = plan::native_target, class W>
UMBEL_INLINE void linear_packed(const T* x, const W* panels, const T* biases, T* y) noexcept {
  if constexpr (detail::rows_in_lanes<S, T, Target>)  // there is one panel
    detail::linear_by_rows<S, T, Target, padded_features<S.out, T, Target>, W>::all_rows(x, panels,
                                                                                         biases, y);
  else
    detail::linear_walk<S, T, Target, true, W>{x, panels, biases, y}.all_panels();
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
