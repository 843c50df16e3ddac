// SPDX-License-Identifier: BSL-1.0
// The output of a tap (tap.hpp) for a block of queries, with the bits of plain/attend.hpp, after
// the block is done. If all keys are one block of the softmax, the exponentials are still in
// scratch; else scores are recomputed with the known maximum and sum. They go from (key, query) to
// the caller's layout through registers.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/float/attend_scores.hpp>
#include <umbel/kernel/float/transpose.hpp>
#include <umbel/kernel/plain/attend.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/kernel/tap.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::detail {

template <attend_shape S, class T, plan::target Target, std::size_t Vectors, class Policy,
          class Tap>
struct tap_block {
  using block = scores_block<S, T, Target, Vectors, Policy>;
  using V = typename block::V;
  using room = typename block::room;
  using softmax_state = typename block::softmax_state;
  static constexpr std::size_t lanes = block::lanes, width = block::width;
  static constexpr tap_stage stage = Tap::stage;
  static constexpr bool of_scores = score_tap<Tap>;
  static constexpr bool drops = scores::drops<Policy> && stage == tap_stage::weights;
  // Are the tap's exponentials in scratch?
  static constexpr bool are_there =
      block::one_block && !of_scores && scores::drops<Policy> == drops;
  // The output for a hidden pair.
  static constexpr T hidden = of_scores ? -simd::math_constants<T>::infinity : T{};

  UMBEL_INLINE static auto policy_over(const Policy& policy, std::size_t first_query, room here,
                                       std::size_t i) noexcept {
    const std::size_t first = i * lanes;
    const std::size_t rest = here.queries > first ? here.queries - first : 0;
    return policy.template over<V>(first_query + (rest != 0 ? first : 0),
                                   rest < lanes ? rest : lanes);
  }

  // value, or 0 if the key's weight is dropped. One draw serves four keys, and stays in `kept`.
  template <class Over>
  UMBEL_INLINE static V keep(const Over& over, std::size_t key, bool is_first,
                             scores::mask_of<V> (&kept)[4], V value) noexcept {
    if (is_first || key % 4 == 0) over.keeps(key - key % 4, kept);
    return simd::select(kept[key % 4], value, V{});
  }

  // Turns the scores of vector i of the queries, with the keys from first_key on, into the output.
  UMBEL_INLINE static void finish(const Policy& policy, std::size_t first_query, room here,
                                  std::size_t i, std::size_t first_key, std::size_t keys, T* column,
                                  const softmax_state& state) noexcept {
    const auto over = policy_over(policy, first_query, here, i);
    const V factor = drops ? state.inverse[i] : inverse_sum(state.sum[i]);
    scores::mask_of<V> kept[4]{};
    for (std::size_t j = 0; j < keys; ++j) {
      const std::size_t key = first_key + j;
      const V score = over.change(simd::load<V>(column + j * width), key);
      const auto seen = over.sees(key);
      V value;
      if constexpr (of_scores) {
        value = natural_score(score);
      } else {
        // A hidden score may be far above the maximum.
        const V y = simd::select(seen, score - state.maximum[i], V{});
        value = simd::exp2_not_positive(y) * factor;
        if constexpr (drops) value = keep(over, key, j == 0, kept, value);
      }
      simd::store(column + j * width, simd::select(seen, value, simd::broadcast<V>(hidden)));
    }
  }

  // The same from the exponentials. Visibility and dropout are tested again: in a row with a score
  // of +infinity or NaN, factor and exponentials don't show them (take_weights).
  UMBEL_INLINE static void finish_exponentials(const Policy& policy, std::size_t first_query,
                                               room here, std::size_t i, std::size_t first_key,
                                               std::size_t keys, T* column,
                                               const softmax_state& state) noexcept {
    const auto over = policy_over(policy, first_query, here, i);
    scores::mask_of<V> kept[4]{};
    for (std::size_t j = 0; j < keys; ++j) {
      const std::size_t key = first_key + j;
      V value = simd::load<V>(column + j * width) * state.inverse[i];
      if constexpr (drops) value = keep(over, key, j == 0, kept, value);
      if constexpr (Policy::selects) value = simd::select(over.sees(key), value, V{});
      simd::store(column + j * width, value);
    }
  }

  // Pairs with keys begin..end, which no query of the block sees.
  UMBEL_INLINE static void fill(T* to, std::size_t queries, std::size_t begin,
                                std::size_t end) noexcept {
    for (std::size_t i = 0; i < queries; ++i) {
      for (std::size_t j = begin; j < end; ++j) {
        to[i * Tap::query_stride + j * Tap::key_stride] = hidden;
      }
    }
  }

  // keys x rows of scratch to rows x keys.
  UMBEL_INLINE static void scatter(const T* column, std::size_t keys, std::size_t rows,
                                   T* to) noexcept {
    std::size_t j = 0;
    for (; j + lanes <= keys; j += lanes) {
      scatter_columns<lanes, lanes, Tap::query_stride, Tap::key_stride>(
          column + j * width, width, rows, to + j * Tap::key_stride);
    }
    // Written so that the compiler sees that they are few.
    for (std::size_t left = keys % lanes; left > 0; --left, ++j) {
      for (std::size_t r = 0; r < rows; ++r) {
        to[r * Tap::query_stride + j * Tap::key_stride] = column[j * width + r];
      }
    }
  }

  // The queries are in scratch, transposed and scaled, as left by attend. state: the finished
  // softmax's; unused for scores.
  template <class K>
  UMBEL_NOINLINE static void write(K k, const Policy& policy, std::size_t first_query, T* scratch,
                                   room here, const softmax_state& state, Tap tap) noexcept {
    T* const scores = scratch + block::scores_at;
    T* const to = tap.to + first_query * Tap::query_stride;
    const kernel::scores::key_range all{0, S.keys, 0, S.keys};
    const kernel::scores::key_range range =
        stage == tap_stage::raw ? all : policy.range(first_query, here.queries, S.keys);
    fill(to, here.queries, 0, range.begin);
    fill(to, here.queries, range.end, S.keys);
    std::size_t end = 0;
    for (std::size_t first = range.begin; first < range.end; first = end) {
      end = kernel::scores::block_end(first, range.end);
      const std::size_t keys = end - first;
      if constexpr (!are_there) {
        bordered_keys full{keys, 0, 0};
        V unused[Vectors]{};
        block::score(from_row(k, first, S.k_row), scratch, keys, scores, full, unused);
      }
      for (std::size_t i = 0; i < Vectors && i * lanes < here.queries; ++i) {
        T* const column = scores + i * lanes;
        if constexpr (are_there) {
          finish_exponentials(policy, first_query, here, i, first, keys, column, state);
        } else if constexpr (stage == tap_stage::raw) {
          for (std::size_t j = 0; j < keys; ++j) {
            const V score = simd::load<V>(column + j * width);
            simd::store(column + j * width, natural_score(score));
          }
        } else {
          finish(policy, first_query, here, i, first, keys, column, state);
        }
        const std::size_t rows = here.queries - i * lanes;
        scatter(column, keys, rows < lanes ? rows : lanes,
                to + i * lanes * Tap::query_stride + first * Tap::key_stride);
      }
    }
  }

  // A tap of scores only, for the queries from first_query on, at q.
  template <class K>
  UMBEL_NOINLINE static void tap_queries(const T* q, K k, T factor, const Policy& policy,
                                         std::size_t first_query, T* scratch, room here,
                                         Tap tap) noexcept {
    softmax_state state;
    block::start(q, factor, scratch, here, state);
    write(k, policy, first_query, scratch, here, state, tap);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::detail
UMBEL_WARNINGS_POP
