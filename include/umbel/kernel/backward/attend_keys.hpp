// SPDX-License-Identifier: BSL-1.0
// Sums over a block's queries for the keys of attention's gradients: dv and dk, features in the
// lanes, continuing earlier sums. See attend_block.hpp for the factors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/groups.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::detail {

// f<Rows>(row) for rows begin..end; a known number in tiles as equal as possible.
template <plan::target Target, std::size_t Rows, std::size_t Known, class F>
UMBEL_INLINE void in_tiles(std::size_t begin, std::size_t end, F f) noexcept {
  std::size_t row = begin;
  if constexpr (Known != 0) {
    constexpr plan::split tiles = plan::split_evenly(Known, plan::block_limit(Known, Rows, Target));
    for (std::size_t t = 0; t < tiles.large_count; ++t, row += tiles.large)
      f.template operator()<tiles.large>(row);
    if constexpr (tiles.small_count > 0) {
      for (std::size_t t = 0; t < tiles.small_count; ++t, row += tiles.smaller())
        f.template operator()<tiles.smaller()>(row);
    }
  } else {
    for (; row + Rows <= end; row += Rows) f.template operator()<Rows>(row);
    if constexpr (Rows > 4) {
      for (; row + 4 <= end; row += 4) f.template operator()<4>(row);
    }
    for (; row < end; ++row) f.template operator()<1>(row);
  }
}

// A pair of elements, repeated in all pairs of lanes.
template <class V>
UMBEL_INLINE V broadcast_pair(const simd::element_of<V>* from) noexcept {
  if constexpr (sizeof(simd::element_of<V>) == 4) {
    std::uint64_t pair;
    __builtin_memcpy(&pair, from, 8);
    return __builtin_bit_cast(
        V, simd::broadcast<simd::pack<std::uint64_t, simd::lanes_of<V> / 2>>(pair));
  } else {
    return simd::repeat_group<V>(simd::load<simd::pack<simd::element_of<V>, 2>>(from));
  }
}

// A product whose rows are keys: to(j, n) += factors(j, i) right(i, n) over the queries i of a
// block. A key's factors are `factor_row` apart, or pairs if paired. In scratch, a key's weights
// are `width` elements apart.
struct key_product {
  bool paired;
  std::size_t columns, to_row, right_row, width;

  constexpr std::size_t factor_row() const { return paired ? 2 * width : width; }
  friend constexpr bool operator==(const key_product&, const key_product&) = default;
};

// Queries: their number. first: start the sums at 0. Bordered: weights below 0 mark hidden pairs.
template <key_product P, class T, plan::target Target, bool Bordered>
struct key_sums {
  static constexpr std::size_t lanes = plan::lanes<T>(Target);
  static constexpr std::size_t packs = plan::divide_up(P.columns, lanes);
  static constexpr std::size_t tail = P.columns - (packs - 1) * lanes;
  using V = simd::pack<T, lanes>;

  std::size_t queries;
  bool first;

  // Rows keys by Packs vectors. weights: the first key's, which mark hidden pairs.
  template <std::size_t Rows, std::size_t Packs, std::size_t Last>
  UMBEL_INLINE void key_tile(const T* factors, const T* weights, const T* right,
                             T* to) const noexcept {
    constexpr auto count = [](std::size_t p) { return p + 1 == Packs ? Last : lanes; };
    V sum[Rows][Packs];
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(8)
      for (std::size_t p = 0; p < Packs; ++p)
        sum[r][p] = first ? V{} : simd::load_up_to<V>(to + r * P.to_row + p * lanes, count(p));
    }
    UMBEL_UNROLL(2)
    for (std::size_t i = 0; i < queries; ++i) {
      V features[Packs];
      UMBEL_UNROLL(8)
      for (std::size_t p = 0; p < Packs; ++p)
        features[p] = simd::load_up_to<V>(right + i * P.right_row + p * lanes, count(p));
      UMBEL_UNROLL(32)
      for (std::size_t r = 0; r < Rows; ++r) {
        const T* const from = factors + r * P.factor_row();
        V factor;
        if constexpr (P.paired)
          factor = broadcast_pair<V>(from + 2 * i);
        else
          factor = simd::broadcast<V>(from[i]);
        UMBEL_UNROLL(8)
        for (std::size_t p = 0; p < Packs; ++p) {
          const V next = simd::fma(factor, features[p], sum[r][p]);
          if constexpr (Bordered)
            sum[r][p] = simd::select(simd::less(simd::broadcast<V>(weights[r * P.width + i]), V{}),
                                     sum[r][p], next);
          else
            sum[r][p] = next;
        }
      }
    }
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(8)
      for (std::size_t p = 0; p < Packs; ++p)
        if (count(p) == lanes)
          simd::store(to + r * P.to_row + p * lanes, sum[r][p]);
        else
          simd::store_first(to + r * P.to_row + p * lanes, sum[r][p], count(p));
    }
  }

  // The keys of rows begin..end of scratch; Known of them, if not 0. factors, weights, to: row 0's.
  template <std::size_t Known>
  UMBEL_INLINE void add(const T* factors, const T* weights, const T* right, T* to,
                        std::size_t begin, std::size_t end) const noexcept {
    constexpr std::size_t most = packs % 3 == 0 || Target.registers < 32 ? 3 : 2;
    constexpr plan::split columns = plan::split_evenly(packs, Target.registers < 16 ? 1 : most);
    std::size_t at = 0;
    const auto column = [&]<std::size_t Packs, std::size_t Last>() UMBEL_LAMBDA_INLINE {
      in_tiles<Target, plan::tile_rows(Target, Packs), Known>(
          begin, end, [&]<std::size_t Rows>(std::size_t row) UMBEL_LAMBDA_INLINE {
            key_tile<Rows, Packs, Last>(factors + row * P.factor_row(), weights + row * P.width,
                                        right + at, to + row * P.to_row + at);
          });
      at += Packs * lanes;
    };
    if constexpr (columns.small_count > 0) {
      for (std::size_t c = 0; c < columns.small_count; ++c)
        column.template operator()<columns.smaller(), lanes>();
    }
    constexpr std::size_t whole = columns.large_count - (tail != lanes ? 1 : 0);
    if constexpr (whole > 0) {
      for (std::size_t c = 0; c < whole; ++c) column.template operator()<columns.large, lanes>();
    }
    if constexpr (tail != lanes) column.template operator()<columns.large, tail>();
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::detail
UMBEL_WARNINGS_POP
