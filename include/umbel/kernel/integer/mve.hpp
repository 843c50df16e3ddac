// SPDX-License-Identifier: BSL-1.0
// 8-bit integer linear maps, attention and norms in Helium, the vector extension of Cortex-M (MVE):
// a row by four columns, whose sums are the lanes of one vector. plain/integers.hpp defines the
// bits.
#pragma once

#include <umbel/config.hpp>

#if UMBEL_MVE_INTEGERS
#include <arm_mve.h>

#include <cstddef>
#include <cstdint>
#include <umbel/kernel/integer/finish.hpp>
#include <umbel/kernel/integer/panels.hpp>
#include <umbel/kernel/plain/integers.hpp>
#include <umbel/kernel/scores.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::mve {

UMBEL_INLINE int32x4_t four(std::int32_t a, std::int32_t b, std::int32_t c,
                            std::int32_t d) noexcept {
#if UMBEL_GCC  // which moves lane by lane
  int32x4_t v;
  __asm__("vmov %q0[2], %q0[0], %1, %2\n\tvmov %q0[3], %q0[1], %3, %4"
          : "=&w"(v)
          : "r"(a), "r"(c), "r"(b), "r"(d));
  return v;
#else
  return int32x4_t{a, b, c, d};
#endif
}

UMBEL_INLINE int32x4_t by_columns_of(const std::int8_t* row, const std::int8_t* column,
                                     const std::int8_t* second, const std::int8_t* third,
                                     const std::int8_t* fourth, std::size_t n) noexcept {
  std::int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const int8x16_t x = vldrbq_s8(row + i);
    s0 = vmladavaq_s8(s0, x, vldrbq_s8(column + i));
    s1 = vmladavaq_s8(s1, x, vldrbq_s8(second + i));
    s2 = vmladavaq_s8(s2, x, vldrbq_s8(third + i));
    s3 = vmladavaq_s8(s3, x, vldrbq_s8(fourth + i));
  }
  if (i < n) {
    const mve_pred16_t there = vctp8q(static_cast<std::uint32_t>(n - i));
    const int8x16_t x = vldrbq_z_s8(row + i, there);
    s0 = vmladavaq_s8(s0, x, vldrbq_z_s8(column + i, there));
    s1 = vmladavaq_s8(s1, x, vldrbq_z_s8(second + i, there));
    s2 = vmladavaq_s8(s2, x, vldrbq_z_s8(third + i, there));
    s3 = vmladavaq_s8(s3, x, vldrbq_z_s8(fourth + i, there));
  }
  return four(s0, s1, s2, s3);
}

// A row of N numbers; 0: a run-time number. Short rows are read once.
template <std::size_t N>
struct row_of {
  const std::int8_t* from;
  UMBEL_INLINE explicit row_of(const std::int8_t* row) noexcept : from(row) {}
};
template <>
struct row_of<8> {
  int16x8_t all;
  UMBEL_INLINE explicit row_of(const std::int8_t* row) noexcept : all(vldrbq_s16(row)) {}
};
template <>
struct row_of<16> {
  int8x16_t all;
  UMBEL_INLINE explicit row_of(const std::int8_t* row) noexcept : all(vldrbq_s8(row)) {}
};
template <>
struct row_of<32> {
  int8x16_t first, second;
  UMBEL_INLINE explicit row_of(const std::int8_t* row) noexcept
      : first(vldrbq_s8(row)), second(vldrbq_s8(row + 16)) {}
};

// The sums of a row's products with four columns, `step` apart. Columns from `count` on are not
// read: the first replaces them. n: numbers; nothing past them is read.
template <std::size_t N>
UMBEL_INLINE int32x4_t by_columns(const row_of<N>& row, const std::int8_t* column, std::size_t step,
                                  std::size_t count, std::size_t n = N) noexcept {
  const std::int8_t* const second = count > 1 ? column + step : column;
  const std::int8_t* const third = count > 2 ? column + 2 * step : column;
  const std::int8_t* const fourth = count > 3 ? column + 3 * step : column;
  if constexpr (N == 8) {
    const auto by = [&](const std::int8_t* of)
                        UMBEL_LAMBDA_INLINE { return vmladavq_s16(row.all, vldrbq_s16(of)); };
    return four(by(column), by(second), by(third), by(fourth));
  } else if constexpr (N == 16) {
    const auto by = [&](const std::int8_t* of)
                        UMBEL_LAMBDA_INLINE { return vmladavq_s8(row.all, vldrbq_s8(of)); };
    return four(by(column), by(second), by(third), by(fourth));
  } else if constexpr (N == 32) {
    const auto by = [&](const std::int8_t* of) UMBEL_LAMBDA_INLINE {
      return vmladavaq_s8(vmladavq_s8(row.first, vldrbq_s8(of)), row.second, vldrbq_s8(of + 16));
    };
    return four(by(column), by(second), by(third), by(fourth));
  } else {
    return by_columns_of(row.from, column, second, third, fourth, n);
  }
}

UMBEL_INLINE int32x4_t within(int32x4_t v, std::int32_t most) noexcept {
  return vmaxq_s32(vminq_s32(v, vdupq_n_s32(most)), vdupq_n_s32(-most));
}
// The first lanes of a vector, or all four, without a predicate.
struct all_lanes {
  UMBEL_INLINE int32x4_t load(const std::int32_t* from) const noexcept { return vldrwq_s32(from); }
  UMBEL_INLINE int32x4_t load(const std::int16_t* from) const noexcept { return vldrhq_s32(from); }
  UMBEL_INLINE int32x4_t gather(const std::int8_t* from, uint32x4_t at) const noexcept {
    return vldrbq_gather_offset_s32(from, at);
  }
  UMBEL_INLINE void store(std::int8_t* to, int32x4_t v) const noexcept { vstrbq_s32(to, v); }
  UMBEL_INLINE void store(std::int16_t* to, int32x4_t v) const noexcept { vstrhq_s32(to, v); }
  UMBEL_INLINE void scatter(std::int8_t* to, uint32x4_t at, int32x4_t v) const noexcept {
    vstrbq_scatter_offset_s32(to, at, v);
  }
};
struct first_lanes {
  mve_pred16_t there;

  UMBEL_INLINE explicit first_lanes(std::size_t count) noexcept
      : there(vctp32q(static_cast<std::uint32_t>(count))) {}
  UMBEL_INLINE int32x4_t load(const std::int32_t* from) const noexcept {
    return vldrwq_z_s32(from, there);
  }
  UMBEL_INLINE int32x4_t load(const std::int16_t* from) const noexcept {
    return vldrhq_z_s32(from, there);
  }
  UMBEL_INLINE int32x4_t gather(const std::int8_t* from, uint32x4_t at) const noexcept {
    return vldrbq_gather_offset_z_s32(from, at, there);
  }
  UMBEL_INLINE void store(std::int8_t* to, int32x4_t v) const noexcept {
    vstrbq_p_s32(to, v, there);
  }
  UMBEL_INLINE void store(std::int16_t* to, int32x4_t v) const noexcept {
    vstrhq_p_s32(to, v, there);
  }
  UMBEL_INLINE void scatter(std::int8_t* to, uint32x4_t at, int32x4_t v) const noexcept {
    vstrbq_scatter_offset_p_s32(to, at, v, there);
  }
};

// Stores the results of four outputs, which are Step apart.
template <std::size_t Step, class Lanes>
UMBEL_INLINE void store_bytes(std::int8_t* y, int32x4_t v, const Lanes& lanes) noexcept {
  if constexpr (Step == 1)
    lanes.store(y, v);
  else
    lanes.scatter(y, vmulq_n_u32(vidupq_n_u32(0, 1), Step), v);
}
template <std::size_t Step, class Lanes>
UMBEL_INLINE void finish_four(const finish::as_int8&, std::int8_t* y, int32x4_t v,
                              const Lanes& lanes) noexcept {
  store_bytes<Step>(y, within(v, 127), lanes);
}
template <std::size_t Step, class Lanes>
UMBEL_INLINE void finish_four(const finish::by_table& f, std::int8_t* y, int32x4_t v,
                              const Lanes& lanes) noexcept {
  const uint32x4_t at = vreinterpretq_u32_s32(vaddq_n_s32(within(v, 127), 128));
  store_bytes<Step>(y, lanes.gather(f.table, at), lanes);
}
template <std::size_t Step, class Lanes>
UMBEL_INLINE void finish_four(const finish::as_int16&, std::int16_t* y, int32x4_t v,
                              const Lanes& lanes) noexcept {
  static_assert(Step == 1);
  lanes.store(y, within(v, 32767));
}
template <std::size_t Step, class Lanes>
UMBEL_INLINE void finish_four(const finish::added&, std::int16_t* y, int32x4_t v,
                              const Lanes& lanes) noexcept {
  static_assert(Step == 1);
  lanes.store(y, within(vaddq_s32(lanes.load(y), v), 32767));
}

template <integer_linear_shape S, class T, class Finish>
void integer_linear(const integer_panels<S.in, S.out>& map, const std::int8_t* x, T* y,
                    const Finish& finish) noexcept {
  constexpr std::size_t width = integer_panels<S.in, S.out>::words * 4;
  const std::int32_t before = -map.before, after = -map.after;
  const Finish finished = finish;
  const auto outputs = [&](const row_of<S.in>& row, std::size_t o, std::size_t count,
                           const auto& lanes) UMBEL_LAMBDA_INLINE {
    int32x4_t v = by_columns(row, map.weights + o * width, width, count);
    v = vshlq_r_s32(vaddq_s32(v, lanes.load(map.starts + o)), before);
    v = vrshlq_n_s32(vmulq_s32(v, lanes.load(map.multiplier + o)), after);
    finish_four<S.y_step>(finished, y + o * S.y_step, v, lanes);
  };
  for (std::size_t r = 0; r < S.rows; ++r, x += S.x_row, y += S.y_row) {
    const row_of<S.in> row(x);
    for (std::size_t o = 0; o + 4 <= S.out; o += 4) outputs(row, o, 4, all_lanes{});
    if constexpr (S.out % 4 != 0) outputs(row, S.out / 4 * 4, S.out % 4, first_lanes(S.out % 4));
  }
}

// The score of a hidden pair.
inline constexpr std::int32_t unseen = INT32_MIN;

// Scratch of one head: a query's scores, then their weights.
template <integer_attend_shape S>
struct attend_scratch {
  std::int32_t scores[in_words(S.keys)];
  std::int8_t weights[in_words(S.keys)];
};

// Turns whole vectors of scores into weights; returns their sum.
template <bool Hidden>
UMBEL_NOINLINE std::int32_t weigh(const std::int32_t* scores, std::int8_t* weights,
                                  std::size_t count, std::int32_t largest,
                                  const integer_softmax& softmax) noexcept {
  const std::int32_t cut = softmax.cut, multiplier = softmax.multiplier, shift = -softmax.shift;
  std::int32_t sum = 0;
  for (std::size_t j = 0; j < count; j += 4, scores += 4, weights += 4) {
    const int32x4_t score = vldrwq_s32(scores);
    const int32x4_t distance = vminq_s32(vsubq_s32(vdupq_n_s32(largest), score), vdupq_n_s32(cut));
    const int32x4_t t = vrshlq_n_s32(vmulq_n_s32(distance, multiplier), shift);
    const int32x4_t fraction = vandq_s32(t, vdupq_n_s32(255));
    // As scalar::power_of_half.
    int32x4_t power = vsubq_s32(vdupq_n_s32(21835), vshrq_n_s32(vmulq_n_s32(fraction, 5579), 8));
    power = vsubq_s32(vdupq_n_s32(32512 * 256 + 255), vmulq_s32(fraction, power));
    power = vrshrq_n_s32(vshlq_s32(power, vnegq_s32(vshrq_n_s32(t, 8))), 16);
    if constexpr (Hidden) {
      // 0 for hidden pairs, 1 for others. (With a predicate g++ 12 fails with an internal error.)
      const int32x4_t seen = vreinterpretq_s32_u32(vminq_u32(
          veorq_u32(vreinterpretq_u32_s32(score), vdupq_n_u32(0x80000000u)), vdupq_n_u32(1)));
      power = vmulq_s32(power, seen);
    }
    sum = vaddvaq_s32(sum, power);
    vstrbq_s32(weights, power);
  }
  return sum;
}

template <integer_attend_shape S, class Policy>
void integer_attend(const std::int8_t* q, const std::int8_t* k, const std::int8_t* v,
                    const integer_softmax& softmax, const Policy& policy, std::int8_t* o,
                    attend_scratch<S>& work) noexcept {
  for (std::size_t i = 0; i < S.queries; ++i, q += S.q_row, o += S.o_row) {
    if constexpr (requires { policy.wanted; })  // as in attend_vectors.hpp
      if (!wants(policy, i)) return;
    const scores::key_range range = policy.range(i, 1, S.keys);
    const std::size_t keys = range.end > range.begin ? range.end - range.begin : 0;
    const std::int8_t* key = k + range.begin * S.k_row;
    std::int32_t largest = unseen;
    const row_of<S.head_dim> query(q);
    const auto put = [&](std::size_t j, std::size_t count, mve_pred16_t seen) UMBEL_LAMBDA_INLINE {
      int32x4_t score = by_columns(query, key, S.k_row, count);
      if (seen != 0xffff) score = vpselq_s32(score, vdupq_n_s32(unseen), seen);
      vstrwq_s32(work.scores + j, score);
      largest = vmaxvq_s32(largest, score);
    };
    for (std::size_t j = 0; j < keys; j += 4, key += 4 * S.k_row) {
      mve_pred16_t seen = 0xffff;
      if constexpr (Policy::selects) {
        const auto over = policy.template over<float>(i, 1);
        unsigned sees = 0;
        for (std::size_t l = 0; l < 4 && j + l < keys; ++l)
          if (over.sees(range.begin + j + l)) sees |= 15u << (4 * l);
        seen = static_cast<mve_pred16_t>(sees);
      }
      put(j, keys - j, seen);
    }
    std::int32_t sum = weigh<Policy::selects>(work.scores, work.weights, keys, largest, softmax);
    if constexpr (!Policy::selects)  // the last vector's first one is repeated after the last key
      for (std::size_t j = keys; j % 4 != 0; ++j) sum -= work.weights[j];
    const plain::average mean = plain::average_over(sum == 0 ? 127 : sum);
    for (std::size_t d = 0; d < S.value_dim; d += 4) {
      int32x4_t context = vdupq_n_s32(0);
      if constexpr (S.v_row == 1)
        context =
            by_columns(row_of<0>(work.weights), v + d * S.v_dim + range.begin, S.v_dim, 4, keys);
      else
        for (std::size_t j = 0; j < keys; ++j)
          context = vaddq_s32(context, vmulq_n_s32(vldrbq_s32(v + (range.begin + j) * S.v_row + d),
                                                   work.weights[j]));
      context = vmulq_n_s32(vshlq_r_s32(context, -mean.drop), mean.inverse);
      vstrbq_s32(o + d, vrshrq_n_s32(context, 24));
    }
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::mve
UMBEL_WARNINGS_POP
#endif
