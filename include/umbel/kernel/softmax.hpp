// SPDX-License-Identifier: BSL-1.0
// Softmax along one axis of a matrix in memory, in SIMD: the bits of plain::softmax whatever the lanes.
// Rows whose elements are adjacent lie in the lanes; others have their neighbours in the lanes. y may be
// x. Not here: the softmax of attention (attend_block.hpp), which never sees a whole row.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/plain.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/fold.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>

namespace umbel::kernel {

namespace detail {

template <softmax_shape S, class T, plan::target Target>
struct softmax_walk {
  static constexpr std::size_t chains = plain::sum_chains;
  static constexpr std::size_t lanes =
      plan::lanes<T>(Target) < chains ? plan::lanes<T>(Target) : chains;
  using V = simd::pack<T, lanes>;

  static constexpr std::size_t packs = chains / lanes;  // of the chains of a row
  static constexpr std::size_t whole = S.width / chains * chains;

  // f(count, e, c): of each row `count` elements from e on, which are a pack of the chains c.
  template <class F>
  UMBEL_INLINE static void each(F f) noexcept {
    if constexpr (whole != 0) {
      UMBEL_UNROLL(2)
      for (std::size_t e = 0; e < whole; e += chains) {
        UMBEL_UNROLL(16)
        for (std::size_t c = 0; c < packs; ++c) f(lanes, e + c * lanes, c);
      }
    }
    UMBEL_UNROLL(16)
    for (std::size_t c = 0; c < packs; ++c) {
      const std::size_t first = whole + c * lanes;
      if (first >= S.width) break;
      const std::size_t rest = S.width - first;
      f(rest < lanes ? rest : lanes, first, c);
    }
  }
  UMBEL_INLINE static V load(const T* from, std::size_t count) noexcept {
    return count == lanes ? simd::load<V>(from) : simd::load_first<V>(from, count);
  }
  UMBEL_INLINE static void store(T* to, V value, std::size_t count) noexcept {
    if (count == lanes)
      simd::store(to, value);
    else
      simd::store_first(to, value, count);
  }

  // Rows of adjacent elements, so many at a time that their folds do not wait for each other.
  static constexpr std::size_t together = packs < 4 ? 4 / packs : 1;
  template <std::size_t Rows>
  UMBEL_INLINE static void rows(const T* x, T* y) noexcept {
    const V lowest = simd::broadcast<V>(simd::math_constants<T>::lowest);
    V maxima[Rows][packs], sums[Rows][packs], factor[Rows];
    UMBEL_UNROLL(4)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(16)
      for (std::size_t c = 0; c < packs; ++c) maxima[r][c] = lowest, sums[r][c] = V{};
    }
    each([&](std::size_t count, std::size_t e, std::size_t c) UMBEL_LAMBDA_INLINE {
      UMBEL_UNROLL(4)
      for (std::size_t r = 0; r < Rows; ++r) {
        V value = load(x + r * S.width + e, count);
        if (count != lanes) value = simd::keep_first(value, count, lowest);
        maxima[r][c] = simd::max(value, maxima[r][c]);
      }
    });
    UMBEL_UNROLL(4)
    for (std::size_t r = 0; r < Rows; ++r) {
      factor[r] =
          simd::broadcast<V>(simd::fold(maxima[r], [](auto a, auto b) { return simd::max(a, b); }));
    }
    each([&](std::size_t count, std::size_t e, std::size_t c) UMBEL_LAMBDA_INLINE {
      UMBEL_UNROLL(4)
      for (std::size_t r = 0; r < Rows; ++r) {
        V value = simd::exp_not_positive(load(x + r * S.width + e, count) - factor[r]);
        if (count != lanes) value = simd::keep_first(value, count);
        store(y + r * S.width + e, value, count);
        sums[r][c] = sums[r][c] + value;
      }
    });
    UMBEL_UNROLL(4)
    for (std::size_t r = 0; r < Rows; ++r) {
      const T sum = simd::fold(sums[r], [](auto a, auto b) { return a + b; });
      factor[r] = simd::broadcast<V>(inverse_sum(sum));
    }
    each([&](std::size_t count, std::size_t e, std::size_t) UMBEL_LAMBDA_INLINE {
      UMBEL_UNROLL(4)
      for (std::size_t r = 0; r < Rows; ++r) {
        T* const to = y + r * S.width + e;
        store(to, load(to, count) * factor[r], count);
      }
    });
  }

  // `count` rows side by side, their elements `inner` apart.
  UMBEL_INLINE static void rows_across(const T* x, T* y, std::size_t count) noexcept {
    V maximum = simd::broadcast<V>(simd::math_constants<T>::lowest), sums[chains]{};
    for (std::size_t i = 0; i < S.width; ++i)
      maximum = simd::max(simd::load_first<V>(x + i * S.inner, count), maximum);
    for (std::size_t i = 0; i < S.width; ++i) {
      const V value = simd::exp_not_positive(simd::load_first<V>(x + i * S.inner, count) - maximum);
      simd::store_first(y + i * S.inner, value, count);
      sums[i % chains] = sums[i % chains] + value;
    }
    UMBEL_UNROLL(4)
    for (std::size_t half = chains / 2; half > 0; half /= 2) {
      UMBEL_UNROLL(8)
      for (std::size_t c = 0; c < half; ++c) sums[c] = sums[c] + sums[c + half];
    }
    const V inverse = inverse_sum(sums[0]);
    for (std::size_t i = 0; i < S.width; ++i) {
      T* const to = y + i * S.inner;
      simd::store_first(to, simd::load_first<V>(to, count) * inverse, count);
    }
  }
};

}  // namespace detail

// See plain::softmax. Never inlined: a product that the caller had just stored in x could be fused into
// the subtraction.
template <softmax_shape S, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void softmax(const T* x, T* y) noexcept {
  using walk = detail::softmax_walk<S, T, Target>;
  if constexpr (S.inner == 1) {
    std::size_t r = 0;
    for (; r + walk::together <= S.outer; r += walk::together)
      walk::template rows<walk::together>(x + r * S.width, y + r * S.width);
    if constexpr (S.outer % walk::together != 0) {
      for (; r < S.outer; ++r) walk::template rows<1>(x + r * S.width, y + r * S.width);
    }
  } else {
    for (std::size_t o = 0; o < S.outer; ++o) {
      const std::size_t at = o * S.width * S.inner;
      for (std::size_t i = 0; i < S.inner; i += walk::lanes) {
        const std::size_t rest = S.inner - i;
        walk::rows_across(x + at + i, y + at + i, rest < walk::lanes ? rest : walk::lanes);
      }
    }
  }
}

}  // namespace umbel::kernel
