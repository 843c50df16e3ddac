// SPDX-License-Identifier: BSL-1.0
// Rows of adjacent elements in SIMD: a row's sum is plain::sum_chains sums on every target, so the
// bits match the plain kernels for any lanes. Several rows take each step together, so that none
// waits for its last step's fold.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/fold.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::detail {

template <std::size_t Width, class T, plan::target Target>
struct row_walk {
  static constexpr std::size_t chains = plain::sum_chains;
  static constexpr std::size_t lanes =
      plan::lanes<T>(Target) < chains ? plan::lanes<T>(Target) : chains;
  static constexpr std::size_t packs = chains / lanes;  // of a row's chains
  static constexpr std::size_t whole = Width / chains * chains;
  using V = simd::pack<T, lanes>;

  // Rows that take each step together: their data stays in the first cache. Without vectors, folds
  // don't shuffle, so rows together gain nothing.
  static constexpr std::size_t together = UMBEL_SMALL_CODE || lanes == 1 ? 1
                                          : Width > 1024                 ? 2
                                          : Width > 512                  ? 4
                                          : Width > 64                   ? 8
                                                                         : 16;

  // The rows folded side by side, and the distance of their folds.
  static constexpr std::size_t group = UMBEL_SMALL_CODE ? 1 : lanes < 4 ? lanes : 4;
  static constexpr std::size_t apart = lanes / group;

  static constexpr auto add = [](V a, V b) { return a + b; };

  // A value of each of Rows rows.
  template <std::size_t Rows>
  struct of_rows {
    // Row r's at r * apart; the last ones are stored with a whole pack.
    T values[Rows * apart + lanes]{};

    UMBEL_INLINE V operator[](std::size_t r) const noexcept {
      return simd::broadcast<V>(values[r * apart]);
    }
  };

  // f(e, count, c): `count` elements of a row from e on, a pack with separate chains c.
  template <class F>
  UMBEL_INLINE static void each(F f) noexcept {
    const auto packs_from = [&](std::size_t e) UMBEL_LAMBDA_INLINE {
      UMBEL_UNROLL(simd::unrolled_packs)
      for (std::size_t c = 0; c < packs; ++c) f(e + c * lanes, lanes, c);
    };
    if constexpr (whole != 0 && packs == 1) {
      UMBEL_UNROLL(4)
      for (std::size_t e = 0; e < whole; e += chains) packs_from(e);
    } else if constexpr (whole != 0) {
      for (std::size_t e = 0; e < whole; e += chains) packs_from(e);
    }
    UMBEL_UNROLL(simd::unrolled_packs)
    for (std::size_t c = 0; c < packs; ++c) {
      const std::size_t first = whole + c * lanes;
      if (first >= Width) break;
      const std::size_t rest = Width - first;
      f(first, rest < lanes ? rest : lanes, c);
    }
  }

  // Lanes past the row are 0.
  UMBEL_INLINE static V load(const T* from, std::size_t count) noexcept {
    return count == lanes ? simd::load<V>(from) : simd::load_first<V>(from, count);
  }
  UMBEL_INLINE static void store(T* to, V value, std::size_t count) noexcept {
    if (count == lanes)
      simd::store(to, value);
    else
      simd::store_first(to, value, count);
  }

  // Kinds of chains over each of Rows rows. row(r) returns the row's step(e, count, chain), which
  // continues chain[kind]; done(first, chain) gets chain[kind][row][pack] of a group of rows from
  // `first` on.
  template <std::size_t Rows, std::size_t Kinds, class Row, class Done>
  UMBEL_INLINE static void chain(const V (&start)[Kinds], Row row, Done done) noexcept {
    const auto by = [&]<std::size_t Count>(std::size_t first) UMBEL_LAMBDA_INLINE {
      V all[Kinds][Count][packs];
      UMBEL_UNROLL(4)
      for (std::size_t r = 0; r < Count; ++r) {
        UMBEL_UNROLL(2)
        for (std::size_t k = 0; k < Kinds; ++k) {
          UMBEL_UNROLL(simd::unrolled_packs)
          for (std::size_t c = 0; c < packs; ++c) all[k][r][c] = start[k];
        }
        const auto step = row(first + r);
        each([&](std::size_t e, std::size_t count, std::size_t c) UMBEL_LAMBDA_INLINE {
          V now[Kinds];
          UMBEL_UNROLL(2)
          for (std::size_t k = 0; k < Kinds; ++k) now[k] = all[k][r][c];
          step(e, count, now);
          UMBEL_UNROLL(2)
          for (std::size_t k = 0; k < Kinds; ++k) all[k][r][c] = now[k];
        });
      }
      done(first, all);
    };
    constexpr std::size_t grouped = Rows / group * group;
    for (std::size_t r = 0; r < grouped; r += group) by.template operator()<group>(r);
    for (std::size_t r = grouped; r < Rows; ++r) by.template operator()<1>(r);
  }

  // Folds each row's chains with `combine`, through finish(V). row(r) returns the row's step(e,
  // count, chain), which returns the chain after those elements; it starts at `start`.
  template <std::size_t Rows, std::size_t Room, class Row, class Combine, class Finish>
  UMBEL_INLINE static void fold(of_rows<Room>& folds, V start, Row row, Combine combine,
                                Finish finish) noexcept {
    chain<Rows>(
        {start},
        [&](std::size_t r) UMBEL_LAMBDA_INLINE {
          return [step = row(r)](std::size_t e, std::size_t count, V(&now)[1])
                     UMBEL_LAMBDA_INLINE { now[0] = step(e, count, now[0]); };
        },
        [&](std::size_t first, auto& all) UMBEL_LAMBDA_INLINE {
          simd::store(folds.values + first * apart, finish(simd::fold_rows(all[0], combine)));
        });
  }

  // f with constant numbers of rows and their first row, over Rows rows.
  template <std::size_t Rows, class F>
  UMBEL_INLINE static void in_blocks(F f) noexcept {
    constexpr std::size_t rest = Rows % together;
    for (std::size_t r = 0; r < Rows - rest; r += together) f.template operator()<together>(r);
    if constexpr (rest != 0) f.template operator()<rest>(Rows - rest);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::detail
UMBEL_WARNINGS_POP
