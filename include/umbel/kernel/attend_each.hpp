// SPDX-License-Identifier: BSL-1.0
// One query of each of many heads (a step of decoding) in SIMD. As attend_few.hpp, but the contexts
// of several heads are summed side by side: one head's few chains would wait for themselves, and
// values that lie key by key, all heads of one together, are read in one run. Heads whose values
// are a part of a vector share vectors. The bits of plain::attend. Not here: masks but a run of
// keys, taps.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/attend_few.hpp>
#include <umbel/kernel/attend_heads.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace detail {

template <attend_shape S, heads_shape H, class T, plan::target Target>
struct attend_each {
  using one = attend_few<S, T, Target, H.heads / H.share>;
  static constexpr std::size_t lanes = one::lanes;
  static constexpr std::size_t vectors = plan::divide_up(S.value_dim, lanes);
  // Heads of adjacent values that fill a vector together.
  static constexpr std::size_t in_vector = [] {
    constexpr std::size_t fit = lanes / S.value_dim;
    constexpr bool whole = fit > 1 && lanes % S.value_dim == 0 && H.heads / H.share % fit == 0;
    return whole && H.v_head == S.value_dim && fit * H.share <= Target.registers / 2 ? fit : 1;
  }();
  // Heads at a time, in steps of those whose vectors read the same values: their contexts take half
  // of the registers.
  static constexpr std::size_t step = in_vector > 1 ? in_vector* H.share : 1;
  static constexpr std::size_t room = Target.registers / 2 / vectors;
  static constexpr std::size_t together = (room < H.heads ? room : H.heads) / step * step;

  // In scratch: scores and context of each of these heads, the scaled query of one.
  static constexpr std::size_t score_room = one::score_room;
  static constexpr std::size_t context_room = vectors * lanes;
  static constexpr std::size_t context_at = together * score_room;
  static constexpr std::size_t query_at = context_at + together * context_room;
  static constexpr std::size_t scratch_size = query_at + S.head_dim;
  // Long runs of values a head apart are read at a better pace one after the other.
  static constexpr bool side_by_side = H.v_head < S.v_row || S.keys <= plan::key_block;
  static constexpr bool fits = S.queries == 1 && one::fits && together > 1 &&
                               side_by_side&& scratch_size <= attend_scratch<S, T, Target>;

  using V = typename one::V;

  // Head i of vector r: those that share keys and values are neighbours.
  static constexpr std::size_t head_of(std::size_t r, std::size_t i) noexcept {
    return in_vector == 1 ? r : (r / H.share * in_vector + i) * H.share + r % H.share;
  }
  // of(head) in the lanes of the heads of vector r.
  template <class Of>
  UMBEL_INLINE static V by_head(std::size_t r, const Of& of) noexcept {
    V value = simd::broadcast<V>(of(head_of(r, 0)));
    UMBEL_UNROLL(16)
    for (std::size_t i = 1; i < in_vector; ++i) {
      const auto lanes_of_head =
          scores::detail::lanes_from<V>(static_cast<std::ptrdiff_t>(i * S.value_dim));
      value = simd::select(lanes_of_head, simd::broadcast<V>(of(head_of(r, i))), value);
    }
    return value;
  }

  // v: of the heads of each vector. context = correction context + p v, and the sums of p.
  template <std::size_t Heads, class W>
  UMBEL_INLINE static void add_contexts(const W* const (&v)[Heads / in_vector], const T* p,
                                        std::size_t keys, bool is_first,
                                        const T (&correction)[Heads], T* context,
                                        T (&block_sum)[Heads]) noexcept {
    constexpr std::size_t rows = Heads / in_vector;
    constexpr std::size_t last = in_vector > 1 ? lanes : S.value_dim - (vectors - 1) * lanes;
    // The sums of weights, in every lane of a head the same: a load less than by themselves.
    V sum[rows][vectors], sum_of_weights[rows]{};
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < rows; ++r) {
      const V corrections = by_head(r, [&](std::size_t h) { return correction[h]; });
      UMBEL_UNROLL(32)
      for (std::size_t i = 0; i < vectors; ++i) {
        const T* const from = context + r * context_room + i * lanes;
        sum[r][i] = is_first ? V{} : simd::load<V>(from) * corrections;
      }
    }
    for (std::size_t j = 0; j < keys; ++j) {
      if constexpr (one::template fetches_values<W>) {
        UMBEL_UNROLL(32)
        for (std::size_t r = 0; r < rows; ++r) {
          if (r == 0 || v[r] != v[r - 1]) simd::fetch<S.value_dim>(v[r], (j + 4) * S.v_row);
        }
      }
      UMBEL_UNROLL(32)
      for (std::size_t r = 0; r < rows; ++r) {
        const V weight = by_head(r, [&](std::size_t h) { return p[h * score_room + j]; });
        sum_of_weights[r] = sum_of_weights[r] + weight;
        UMBEL_UNROLL(32)
        for (std::size_t i = 0; i < vectors; ++i) {
          const W* const from = v[r] + j * S.v_row + i * lanes;
          const V value = i + 1 == vectors && last != lanes ? simd::load_first<V>(from, last)
                                                            : simd::load<V>(from);
          sum[r][i] = simd::fma(weight, value, sum[r][i]);
        }
      }
    }
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < rows; ++r) {
      UMBEL_UNROLL(16)
      for (std::size_t i = 0; i < in_vector; ++i)
        block_sum[head_of(r, i)] = sum_of_weights[r][i * S.value_dim];
      UMBEL_UNROLL(32)
      for (std::size_t i = 0; i < vectors; ++i)
        simd::store(context + r * context_room + i * lanes, sum[r][i]);
    }
  }

  // Heads from `head` on.
  template <std::size_t Heads, class W>
  UMBEL_NOINLINE static void some(const T* q, const W* k, const W* v, T factor, std::size_t begin,
                                  std::size_t key_end, std::size_t head, T* o,
                                  T* scratch) noexcept {
    constexpr std::size_t rows = Heads / in_vector;
    T* const context = scratch + context_at;
    T* const query = scratch + query_at;
    T maximum[Heads], sum[Heads]{}, correction[Heads], block_sum[Heads];
    const W* values[rows];
    for (std::size_t h = 0; h < Heads; ++h) maximum[h] = simd::math_constants<T>::lowest;
    for (std::size_t r = 0; r < rows; ++r)
      values[r] = v + (head + head_of(r, 0)) / H.share * H.v_head + begin * S.v_row;
    if (begin >= key_end) {
      for (std::size_t d = 0; d < rows * context_room; ++d) context[d] = T{};
    }
    std::size_t end = 0;
    for (std::size_t first = begin; first < key_end; first = end) {
      end = scores::block_end(first, key_end);
      const std::size_t keys = end - first;
      for (std::size_t h = 0; h < Heads; ++h) {
        const T* const from = q + (head + h) * H.q_head;
        T* const to = scratch + h * score_room;
        for (std::size_t d = 0; d < S.head_dim; ++d) query[d] = from[d * S.q_dim] * factor;
        one::score_all(k + (head + h) / H.share * H.k_head + first * S.k_row, keys, query, to);
      }
      // Head after head, none waits for the maximum of its own scores.
      T old_maximum[Heads];
      for (std::size_t h = 0; h < Heads; ++h) {
        old_maximum[h] = maximum[h];
        maximum[h] = one::largest(scratch + h * score_room, keys, maximum[h]);
      }
      for (std::size_t h = 0; h < Heads; ++h)
        correction[h] =
            one::template weigh<false>(scratch + h * score_room, keys, maximum[h], old_maximum[h]);
      add_contexts<Heads>(values, scratch, keys, first == begin, correction, context, block_sum);
      for (std::size_t h = 0; h < Heads; ++h)
        sum[h] = first == begin ? block_sum[h] : simd::fma(sum[h], correction[h], block_sum[h]);
      for (std::size_t r = 0; r < rows; ++r) values[r] += keys * S.v_row;
    }
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t i = 0; i < in_vector; ++i) {
        const std::size_t h = head_of(r, i);
        one::write(context + r * context_room + i * S.value_dim, sum[h], o + (head + h) * H.o_head);
      }
    }
  }

  template <class W>
  UMBEL_INLINE static void attend_all_heads(const T* q, const W* k, const W* v, T factor,
                                            std::size_t begin, std::size_t end, T* o,
                                            T* scratch) noexcept {
    constexpr plan::split tiles = plan::split_evenly(H.heads / step, together / step);
    constexpr std::size_t large = tiles.large * step;
    std::size_t head = 0;
    if constexpr (tiles.small_count > 0) {
      constexpr std::size_t smaller = tiles.smaller() * step;
      for (std::size_t t = 0; t < tiles.small_count; ++t, head += smaller)
        some<smaller>(q, k, v, factor, begin, end, head, o, scratch);
    }
    for (std::size_t t = 0; t < tiles.large_count; ++t, head += large)
      some<large>(q, k, v, factor, begin, end, head, o, scratch);
  }
};

}  // namespace detail

// Can attend_each compute these? One query, several heads.
template <attend_shape S, heads_shape H, class T, plan::target Target = plan::native_target>
inline constexpr bool each_fits_lanes = false;
template <attend_shape S, heads_shape H, class T, plan::target Target>
  requires(S.queries == 1)
inline constexpr bool each_fits_lanes<S, H, T, Target> = detail::attend_each<S, H, T, Target>::fits;

// softmax(scale q k^T) v for every head over the keys from begin to end: the bits of plain::attend
// for each. q, k, v, o are those of head 0; scratch: attend_scratch elements.
template <attend_shape S, heads_shape H, class T, plan::target Target = plan::native_target,
          class W>
UMBEL_INLINE void attend_each(const T* q, const W* k, const W* v, T scale, std::size_t begin,
                              std::size_t end, T* o, T* scratch) noexcept {
  detail::attend_each<S, H, T, Target>::attend_all_heads(q, k, v, exp2_factor(scale), begin,
                                                         end < S.keys ? end : S.keys, o, scratch);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
