// SPDX-License-Identifier: BSL-1.0
// Layer and RMS normalisation in SIMD. Sums along a row run in plain::sum_chains chains on every
// target, so the bits are those of the plain ones whatever the lanes. y may be x.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/plain.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/fold.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>

namespace umbel::kernel {

namespace detail {

// The fixed chains over one row of Width elements, then folded. step(element pack, chain pack).
// Lanes past the row hold `step`'s neutral input: nothing is added for them.
template <std::size_t Width, std::size_t Lanes, class T, class Step>
UMBEL_INLINE T sum_row(const T* row, Step step) noexcept {
  using V = simd::pack<T, Lanes>;
  constexpr std::size_t packs = plain::sum_chains / Lanes;
  constexpr std::size_t whole = Width / plain::sum_chains * plain::sum_chains;
  V chain[packs];
  UMBEL_UNROLL(16)
  for (std::size_t c = 0; c < packs; ++c) chain[c] = V{};
  for (std::size_t e = 0; e < whole; e += plain::sum_chains) {
    UMBEL_UNROLL(16)
    for (std::size_t c = 0; c < packs; ++c) {
      chain[c] = step(simd::load<V>(row + e + c * Lanes), chain[c], Lanes);
    }
  }
  UMBEL_UNROLL(16)
  for (std::size_t c = 0; c < packs; ++c) {
    const std::size_t first = whole + c * Lanes;
    if (first >= Width) break;
    const std::size_t rest = Width - first;
    const std::size_t count = rest < Lanes ? rest : Lanes;
    chain[c] = step(simd::load_first<V>(row + first, count), chain[c], count);
  }
  return simd::fold(chain, [](auto a, auto b) { return a + b; });
}

// Lanes of a norm on a target: no more than there are chains.
template <class T, plan::target Target>
inline constexpr std::size_t norm_lanes = plan::lanes<T>(Target) < plain::sum_chains
                                              ? plan::lanes<T>(Target)
                                              : plain::sum_chains;

}  // namespace detail

// See plain::layer_norm. gamma and beta have S.width elements. Never inlined: a product that
// the caller had just stored in x could be fused into the sums.
template <norm_shape S, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void layer_norm(const T* x, const T* gamma, const T* beta, T epsilon, T* y) noexcept {
  constexpr std::size_t lanes = detail::norm_lanes<T, Target>;
  constexpr std::size_t whole = S.width / lanes * lanes, rest = S.width - whole;
  using V = simd::pack<T, lanes>;
  for (std::size_t m = 0; m < S.rows; ++m) {
    const T* const row = x + m * S.x_row;
    T* const to = y + m * S.y_row;
    // A chain never is -0 (it starts at +0), so the +0 of lanes past the row changes nothing.
    const T mean = detail::sum_row<S.width, lanes>(
                       row, [](V value, V chain, std::size_t) { return chain + value; }) /
                   static_cast<T>(S.width);
    const V center = simd::broadcast<V>(mean);
    const T variance = detail::sum_row<S.width, lanes>(
                           row,
                           [center](V value, V chain, std::size_t count) {
                             V difference = value - center;
                             if (count != lanes) difference = simd::keep_first(difference, count);
                             return simd::fma(difference, difference, chain);
                           }) /
                       static_cast<T>(S.width);
    const V inverse = simd::broadcast<V>(simd::rsqrt(variance + epsilon));
    for (std::size_t e = 0; e < whole; e += lanes) {
      const V value = (simd::load<V>(row + e) - center) * inverse;
      simd::store(to + e,
                  simd::fma(value, simd::load<V>(gamma + e), simd::load<V>(beta + e)));
    }
    if constexpr (rest != 0) {
      const V value = (simd::load_first<V>(row + whole, rest) - center) * inverse;
      simd::store_first(to + whole,
                        simd::fma(value, simd::load_first<V>(gamma + whole, rest),
                                  simd::load_first<V>(beta + whole, rest)),
                        rest);
    }
  }
}

// See plain::rms_norm. gamma has S.width elements. Never inlined: as layer_norm, and its own
// products could be fused into a sum of the caller's.
template <norm_shape S, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void rms_norm(const T* x, const T* gamma, T epsilon, T* y) noexcept {
  constexpr std::size_t lanes = detail::norm_lanes<T, Target>;
  constexpr std::size_t whole = S.width / lanes * lanes, rest = S.width - whole;
  using V = simd::pack<T, lanes>;
  for (std::size_t m = 0; m < S.rows; ++m) {
    const T* const row = x + m * S.x_row;
    T* const to = y + m * S.y_row;
    // Lanes past the row are 0 and add 0.
    const T mean_square = detail::sum_row<S.width, lanes>(
                              row, [](V value, V chain, std::size_t) {
                                return simd::fma(value, value, chain);
                              }) /
                          static_cast<T>(S.width);
    const V inverse = simd::broadcast<V>(simd::rsqrt(mean_square + epsilon));
    for (std::size_t e = 0; e < whole; e += lanes) {
      simd::store(to + e, simd::load<V>(row + e) * inverse * simd::load<V>(gamma + e));
    }
    if constexpr (rest != 0) {
      const V value = simd::load_first<V>(row + whole, rest) * inverse;
      simd::store_first(to + whole, value * simd::load_first<V>(gamma + whole, rest), rest);
    }
  }
}

}  // namespace umbel::kernel
