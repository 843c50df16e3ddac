// SPDX-License-Identifier: BSL-1.0
// One query of each of many heads (a decoding step) in SIMD. As attend_few.hpp, but the contexts of
// several heads are summed side by side: one head's few chains would stall, and values stored key
// by key for all heads are read in one run. Heads that share keys and values read them together.
// The same bits as plain::attend. It supports only masks that are a run of keys, and no taps.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/float/attend_few.hpp>
#include <umbel/kernel/float/attend_heads.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace detail {

template <attend_shape S, heads_shape H, class T, plan::target Target>
struct attend_each {
  using single = attend_few<S, T, Target, H.heads / H.share>;
  // Values of part of a vector use smaller vectors: broadcasting a weight to fewer lanes costs less
  // than merging several heads.
  static constexpr std::size_t lanes =
      S.value_dim < single::lanes && S.value_dim >= 4 && (S.value_dim & (S.value_dim - 1)) == 0
          ? S.value_dim
          : single::lanes;
  static constexpr std::size_t vectors = plan::divide_up(S.value_dim, lanes);
  // Heads at a time, with contexts in half of the registers: all that share some keys and values,
  // or part of those, so that the layout is known at compile time.
  static constexpr std::size_t room = Target.registers / 2 / vectors;
  static constexpr std::size_t most = room == 0 ? 1 : room < H.heads ? room : H.heads;
  static constexpr std::size_t step = H.share <= most ? H.share : 1;
  static constexpr std::size_t tiled = H.share <= most ? H.heads : H.share;
  static constexpr plan::split tiles = plan::split_evenly(tiled / step, most / step);
  static constexpr std::size_t together = tiles.large * step;
  // Of these heads, those that share keys and values, and of these, those scored together.
  static constexpr std::size_t sharing(std::size_t heads) noexcept {
    return heads < H.share ? heads : H.share;
  }
  static constexpr std::size_t scored(std::size_t heads) noexcept {
    std::size_t count = plan::few_queries(Target);
    while (sharing(heads) % count != 0) --count;
    return count;
  }
  static constexpr std::size_t scored_at_most = [] {
    const std::size_t large = scored(together), smaller = scored(together - step);
    return tiles.small_count > 0 && smaller > large ? smaller : large;
  }();
  template <std::size_t Queries>
  static constexpr attend_shape of_queries = [] {
    attend_shape shape = S;
    shape.queries = Queries;
    return shape;
  }();

  // Scratch: scores and context of these heads, and the scaled queries of those scored together.
  static constexpr std::size_t score_room = single::score_room;
  static constexpr std::size_t context_room = vectors * lanes;
  static constexpr std::size_t context_at = together * score_room;
  static constexpr std::size_t query_at = context_at + together * context_room;
  static constexpr std::size_t scratch_size = query_at + scored_at_most * S.head_dim;
  // Long runs of values a head apart are faster in turn.
  static constexpr bool side_by_side = H.v_head < S.v_row || S.keys <= plan::key_block;
  static constexpr bool fits = S.queries == 1 && single::fits && together > 1 &&
                               side_by_side&& scratch_size <= attend_scratch<S, T, Target>;

  using V = simd::pack<T, lanes>;

  // v: a pointer or scaled_rows of the first head, which the others share. context = correction
  // context + p v, and the sums of p.
  template <std::size_t Heads, class Y>
  UMBEL_INLINE static void add_contexts(Y v, const T* p, std::size_t keys, bool is_first,
                                        const T (&correction)[Heads], T* context,
                                        T (&block_sum)[Heads]) noexcept {
    using W = stored_in<Y>;
    constexpr std::size_t last = S.value_dim - (vectors - 1) * lanes, of_values = sharing(Heads);
    // The sums of weights, equal in every lane, which saves a load.
    V sum[Heads][vectors], sum_of_weights[Heads]{};
    UMBEL_UNROLL(32)
    for (std::size_t h = 0; h < Heads; ++h) {
      const V corrections = simd::broadcast<V>(correction[h]);
      UMBEL_UNROLL(32)
      for (std::size_t i = 0; i < vectors; ++i) {
        const T* const from = context + h * context_room + i * lanes;
        sum[h][i] = is_first ? V{} : simd::load<V>(from) * corrections;
      }
    }
    for (std::size_t j = 0; j < keys; ++j) {
      if constexpr (single::template fetches_values<W>) {
        UMBEL_UNROLL(32)
        for (std::size_t h = 0; h < Heads; h += of_values)
          simd::fetch<S.value_dim>(elements(v) + h / H.share * H.v_head, (j + 4) * S.v_row);
      }
      UMBEL_UNROLL(32)
      for (std::size_t first = 0; first < Heads; first += of_values) {
        const Y values = of_head(v, first / H.share, H.v_head);
        V weight[of_values];
        UMBEL_UNROLL(32)
        for (std::size_t n = 0; n < of_values; ++n) {
          weight[n] = simd::broadcast<V>(p[(first + n) * score_room + j]);
          sum_of_weights[first + n] = sum_of_weights[first + n] + weight[n];
          weight[n] = with_scale_of_value(weight[n], values, j);
        }
        UMBEL_UNROLL(32)
        for (std::size_t i = 0; i < vectors; ++i) {
          const W* const from = elements(values) + j * S.v_row + i * lanes;
          const V value = i + 1 == vectors && last != lanes ? simd::load_first<V>(from, last)
                                                            : simd::load<V>(from);
          UMBEL_UNROLL(32)
          for (std::size_t n = 0; n < of_values; ++n)
            sum[first + n][i] = simd::fma(weight[n], value, sum[first + n][i]);
        }
      }
    }
    UMBEL_UNROLL(32)
    for (std::size_t h = 0; h < Heads; ++h) {
      block_sum[h] = sum_of_weights[h][0];
      UMBEL_UNROLL(32)
      for (std::size_t i = 0; i < vectors; ++i)
        simd::store(context + h * context_room + i * lanes, sum[h][i]);
    }
  }

  // Starts at `head`.
  template <std::size_t Heads, class K, class Y>
  UMBEL_NOINLINE static void some(const T* q, K k, Y v, T factor, std::size_t begin,
                                  std::size_t key_end, std::size_t head, T* o,
                                  T* scratch) noexcept {
    constexpr std::size_t at_once = scored(Heads);
    using scorer = few_scores<of_queries<at_once>, T, Target, H.heads / H.share>;
    T* const context = scratch + context_at;
    T* const query = scratch + query_at;
    T maximum[Heads], sum[Heads]{}, correction[Heads], block_sum[Heads];
    for (std::size_t h = 0; h < Heads; ++h) maximum[h] = simd::math_constants<T>::lowest;
    k = of_head(k, head / H.share, H.k_head);
    v = of_head(v, head / H.share, H.v_head);
    if (begin >= key_end) {
      for (std::size_t d = 0; d < Heads * context_room; ++d) context[d] = T{};
    }
    std::size_t end = 0;
    for (std::size_t first = begin; first < key_end; first = end) {
      end = scores::block_end(first, key_end);
      const std::size_t keys = end - first;
      for (std::size_t h = 0; h < Heads; h += at_once) {
        for (std::size_t n = 0; n < at_once; ++n) {
          const T* const from = q + (head + h + n) * H.q_head;
          for (std::size_t d = 0; d < S.head_dim; ++d)
            query[n * S.head_dim + d] = from[d * S.q_dim] * factor;
        }
        scorer::score_all(from_row(of_head(k, h / H.share, H.k_head), first, S.k_row), keys, query,
                          scratch + h * score_room);
      }
      // Head by head, so that none waits for its maximum.
      T old_maximum[Heads];
      for (std::size_t h = 0; h < Heads; ++h) {
        old_maximum[h] = maximum[h];
        maximum[h] = single::largest(scratch + h * score_room, keys, maximum[h]);
      }
      for (std::size_t h = 0; h < Heads; ++h)
        correction[h] = single::template weigh<false>(scratch + h * score_room, keys, maximum[h],
                                                      old_maximum[h]);
      add_contexts<Heads>(from_row(v, first, S.v_row), scratch, keys, first == begin, correction,
                          context, block_sum);
      for (std::size_t h = 0; h < Heads; ++h)
        sum[h] = first == begin ? block_sum[h] : simd::fma(sum[h], correction[h], block_sum[h]);
    }
    for (std::size_t h = 0; h < Heads; ++h)
      single::write(context + h * context_room, sum[h], o + (head + h) * H.o_head);
  }

  template <class K, class Y>
  UMBEL_INLINE static void attend_all_heads(const T* q, K k, Y v, T factor, std::size_t begin,
                                            std::size_t end, T* o, T* scratch) noexcept {
    for (std::size_t head = 0; head < H.heads;) {
      if constexpr (tiles.small_count > 0) {
        constexpr std::size_t smaller = tiles.smaller() * step;
        for (std::size_t t = 0; t < tiles.small_count; ++t, head += smaller)
          some<smaller>(q, k, v, factor, begin, end, head, o, scratch);
      }
      for (std::size_t t = 0; t < tiles.large_count; ++t, head += together)
        some<together>(q, k, v, factor, begin, end, head, o, scratch);
    }
  }
};

}  // namespace detail

// Can attend_each compute these? It needs one query and several heads.
template <attend_shape S, heads_shape H, class T, plan::target Target = plan::native_target>
inline constexpr bool each_fits_lanes = false;
template <attend_shape S, heads_shape H, class T, plan::target Target>
  requires(S.queries == 1)
inline constexpr bool each_fits_lanes<S, H, T, Target> = detail::attend_each<S, H, T, Target>::fits;

// softmax(scale q k^T) v for every head over keys begin to end, each with the bits of
// plain::attend. q, k, v, o: head 0's; scratch: attend_scratch elements. K, Y: pointers or
// scaled_rows.
template <attend_shape S, heads_shape H, class T, plan::target Target = plan::native_target,
          class K, class Y>
UMBEL_INLINE void attend_each(const T* q, K k, Y v, T scale, std::size_t begin, std::size_t end,
                              T* o, T* scratch) noexcept {
  detail::attend_each<S, H, T, Target>::attend_all_heads(q, k, v, exp2_factor(scale), begin,
                                                         end < S.keys ? end : S.keys, o, scratch);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
