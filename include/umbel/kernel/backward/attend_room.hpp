// SPDX-License-Identifier: BSL-1.0
// The scratch layout of attention's gradients. See attend_block.hpp for its use.
#pragma once

#include <cstddef>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>
#include <umbel/simd/transpose.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::detail {

// Offsets in scratch for blocks of at most Width queries.
template <attend_backward_shape S, class T, plan::target Target, std::size_t Width>
struct attend_backward_room {
  static constexpr std::size_t lanes = plan::lanes<T>(Target);
  using V = simd::pack<T, lanes>;
  static constexpr std::size_t widest = S.head_dim < S.value_dim ? S.value_dim : S.head_dim;
  // Do dv and dk share vectors? Then each key has one in scratch until all blocks are done.
  static constexpr bool paired = 2 * widest <= lanes;

  // Does the first block write every key's sums? Otherwise they continue from the start.
  template <class Policy>
  static constexpr bool writes = !S.go_on && std::is_same_v<Policy, scores::every_key>;

  // Keys with weights in scratch at a time: with their gradients, half of a first-level cache.
  static constexpr std::size_t fit = (paired ? 4 : 8) * 1024 / (Width * sizeof(T));
  static constexpr std::size_t chunk = fit < 8 ? 8 : fit < plan::key_block ? fit : plan::key_block;
  static constexpr std::size_t keys = S.keys < chunk ? S.keys : chunk;

  // q^T, then scores, then weights (attend_block::score_block).
  static constexpr std::size_t query_at = 0;
  static constexpr std::size_t slope_at = query_at + (S.head_dim + keys) * Width;  // do^T
  static constexpr std::size_t dq_at = slope_at + S.value_dim * Width;             // dq^T
  static constexpr std::size_t scores_at = dq_at + S.head_dim * Width;  // gradients of scores
  static constexpr std::size_t kept_at = scores_at + keys * Width;      // flags of kept weights
  // Pairs, and the sums of dv and dk, a vector per key; right: (do, q) of the queries.
  static constexpr std::size_t pairs_at = kept_at + keys * Width;
  static constexpr std::size_t right_at = pairs_at + (paired ? 2 * keys * Width : 0);
  static constexpr std::size_t sums_at = right_at + (paired ? Width * lanes : 0);
  static constexpr std::size_t bias_at = sums_at + (paired ? S.keys * lanes : 0);
  static constexpr std::size_t size = bias_at + (S.bias ? 2 * keys * Width : 0);

  // If paired: value_dim elements of a and head_dim of b, alternating.
  UMBEL_INLINE static void zip_row(const T* a, const T* b, T* to) noexcept {
    V low, high;
    simd::zip(simd::load_up_to<V>(a, S.value_dim), simd::load_up_to<V>(b, S.head_dim), low, high);
    simd::store(to, low);
  }
  UMBEL_NOINLINE static void start_sums(T* dk, T* dv, T* scratch) noexcept {
    for (std::size_t j = 0; j < S.keys; ++j) {
      T* const key = dk + j * S.dk_row;
      T* const value = dv + j * S.dv_row;
      if constexpr (paired && S.go_on) {
        zip_row(value, key, scratch + sums_at + j * lanes);
      } else if constexpr (paired) {
        simd::store(scratch + sums_at + j * lanes, V{});
      } else if constexpr (!S.go_on) {
        for (std::size_t d = 0; d < S.head_dim; ++d) key[d] = T{};
        for (std::size_t d = 0; d < S.value_dim; ++d) value[d] = T{};
      }
    }
  }
  UMBEL_NOINLINE static void write_sums(const T* scratch, T* dk, T* dv) noexcept {
    if constexpr (paired) {
      for (std::size_t j = 0; j < S.keys; ++j) {
        V value, key;
        simd::unzip(simd::load<V>(scratch + sums_at + j * lanes), V{}, value, key);
        simd::store_up_to(dv + j * S.dv_row, value, S.value_dim);
        simd::store_up_to(dk + j * S.dk_row, key, S.head_dim);
      }
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::detail
UMBEL_WARNINGS_POP
