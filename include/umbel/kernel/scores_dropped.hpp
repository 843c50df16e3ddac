// SPDX-License-Identifier: BSL-1.0
// The scores policy that drops weights: dropout, as in training (Srivastava et al. 2014; on
// attention weights: Vaswani et al. 2017). The choice depends only on the place, so it is the same
// on every machine. See scores.hpp for the concept of a policy, and simd/philox.hpp for the random
// words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/scores_common.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/philox.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::scores {

// The weight of (query i, key j) is dropped if its Philox word is below `threshold`, the rate in
// units of 2^-32; the others are multiplied by 1 / (1 - rate). The softmax's sum includes dropped
// weights. The word: number j % 4 of counter (j / 4, i, stream), key seed; 64 bits each of stream
// and seed, low half first. Every head of every sequence has a separate stream. Fewer than 2^32
// queries.
template <class T>
struct dropout {
  static constexpr bool changes = false, selects = false, drops = true;
  std::uint64_t seed, stream;
  std::uint32_t threshold;
  T scale;

  // rate: at most 0 (or NaN) drops nothing, 1 or more drops everything.
  constexpr dropout(std::uint64_t the_seed, std::uint64_t of_head, T rate) noexcept
      : seed(the_seed), stream(of_head), threshold(0), scale(1) {
    constexpr double steps = 4294967296.0;
    const double dropped = static_cast<double>(rate) * steps + 0.5;
    if (dropped >= steps) {
      threshold = UINT32_MAX;
      scale = 0;
    } else if (dropped >= 1) {
      threshold = static_cast<std::uint32_t>(dropped);
      scale = static_cast<T>(steps / (steps - static_cast<double>(threshold)));
    }
  }
  constexpr T kept_scale() const noexcept { return scale; }
  constexpr key_range range(std::size_t, std::size_t, std::size_t keys) const noexcept {
    return {0, keys, 0, keys};
  }
  template <class V>
  struct lanes : detail::keeps_scores<V>, detail::sees_all<V> {
    using words = simd::pack<std::uint32_t, simd::lanes_of<V>>;
    words query;
    std::uint64_t seed, stream;
    std::uint32_t threshold;

    UMBEL_INLINE constexpr void keeps(std::size_t key, mask_of<V> (&kept)[4]) const noexcept {
      words counter[4] = {simd::broadcast<words>(static_cast<std::uint32_t>(key / 4)), query,
                          simd::broadcast<words>(static_cast<std::uint32_t>(stream)),
                          simd::broadcast<words>(static_cast<std::uint32_t>(stream >> 32))};
      simd::philox(counter, seed);
      UMBEL_UNROLL(4)
      for (std::size_t r = 0; r < 4; ++r) {
        kept[r] = simd::mask_as<V>(simd::less_equal(simd::broadcast<words>(threshold), counter[r]));
      }
    }
  };
  template <class V>
  UMBEL_INLINE constexpr lanes<V> over(std::size_t first_query, std::size_t) const noexcept {
    using words = typename lanes<V>::words;
    const auto first = static_cast<std::uint32_t>(first_query);
    words query{};
    if constexpr (simd::lanes_of<V> == 1) {
      query = first;
    } else {
      UMBEL_UNROLL(16)
      for (std::size_t i = 0; i < simd::lanes_of<V>; ++i) {
        query[i] = first + static_cast<std::uint32_t>(i);
      }
    }
    return {{}, {}, query, seed, stream, threshold};
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::scores
UMBEL_WARNINGS_POP
