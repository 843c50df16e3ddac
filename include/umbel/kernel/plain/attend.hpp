// SPDX-License-Identifier: BSL-1.0
// The definition of attention, as floats.hpp defines the other kernels: the shortest loops that fix
// the order of operations, usable in constant expressions. float/attend.hpp produces the same bits.
// It isn't made for speed. Every multiplication that feeds an addition is an explicit fma
// (simd/fma.hpp).
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/kernel/scaled_rows.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/kernel/tap.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// exp2 is applied to scores: q is multiplied by scale * log2(e), rounded once, in T.
template <class T>
constexpr T exp2_factor(T scale) noexcept {
  return scale * simd::math_constants<T>::log2_e;
}

// A score in units of log2 to natural units, for taps.
template <class V>
UMBEL_INLINE constexpr V natural_score(V score) noexcept {
  return score * simd::broadcast<V>(static_cast<simd::element_of<V>>(0.693147180559945309417));
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel

namespace umbel::inline UMBEL_TARGET::detail::kernel::plain {

namespace detail {

// Does the query of `over`, a one-lane policy, keep its weight of the key?
template <class T, class Over>
constexpr bool keeps(const Over& over, std::size_t key) noexcept {
  bool kept[4]{};
  over.keeps(key - key % 4, kept);
  return kept[key % 4];
}

// Passes scores of query i to a tap.
template <class T, class Score, class Policy, class Tap>
constexpr void tap_scores(const attend_shape& shape, const Score& score, const Policy& policy,
                          std::size_t i, const Tap& tap) noexcept {
  const auto over = policy.template over<T>(i, 1);
  const scores::key_range range = policy.range(i, 1, shape.keys);
  for (std::size_t j = 0; j < shape.keys; ++j) {
    T& to = tap.to[i * Tap::query_stride + j * Tap::key_stride];
    if constexpr (Tap::stage == tap_stage::raw) {
      to = natural_score(score(i, j));
    } else {
      const bool seen = j >= range.begin && j < range.end && over.sees(j);
      to = seen ? natural_score(over.change(score(i, j), j)) : -simd::math_constants<T>::infinity;
    }
  }
}

// Attention with score(i, j) in units of log2. The shape is a value: constant expressions don't
// need it in the type, and one function for all shapes compiles faster. K, Y, here and below:
// pointers to stored keys and values, or scaled_rows.
template <class T, class Score, class Policy, class Tap, class Y>
constexpr void attend_by(const attend_shape& shape, const Score& score, Y v, const Policy& policy,
                         T* o, const Tap& tap) noexcept {
  for (std::size_t i = 0; i < shape.queries; ++i) {
    const auto over = policy.template over<T>(i, 1);
    const scores::key_range range = policy.range(i, 1, shape.keys);
    T maximum = simd::math_constants<T>::lowest;
    T sum{};
    for (std::size_t d = 0; d < shape.value_dim; ++d) o[i * shape.o_row + d * shape.o_dim] = T{};
    std::size_t end = 0;
    for (std::size_t first = range.begin; first < range.end; first = end) {
      end = scores::block_end(first, range.end);
      T p[plan::key_block]{};  // scores, then exponentials
      bool sees[plan::key_block]{};
      const T old_maximum = maximum;
      for (std::size_t j = first; j < end; ++j) {
        sees[j - first] = over.sees(j);
        if (!sees[j - first]) continue;
        p[j - first] = over.change(score(i, j), j);
        maximum = simd::larger(p[j - first], maximum);
      }
      T block_sum{};
      for (std::size_t j = 0; j < end - first; ++j) {
        if (!sees[j]) continue;
        p[j] = simd::exp2_not_positive(p[j] - maximum);
        block_sum = block_sum + p[j];
        if constexpr (scores::drops<Policy>) {
          if (!detail::keeps<T>(over, first + j)) p[j] = T{};
        }
      }
      const T correction = simd::exp2_not_positive(old_maximum - maximum);
      const bool is_first = first == range.begin;
      sum = is_first ? block_sum : simd::fma(sum, correction, block_sum);
      for (std::size_t d = 0; d < shape.value_dim; ++d) {
        T& out = o[i * shape.o_row + d * shape.o_dim];
        if (!is_first) out = out * correction;
        for (std::size_t j = first; j < end; ++j) {
          if (sees[j - first])
            out = simd::fma(with_scale_of_value(p[j - first], v, j),
                            static_cast<T>(elements(v)[j * shape.v_row + d * shape.v_dim]), out);
        }
      }
    }
    const T probability_factor = inverse_sum(sum);
    T inverse = probability_factor;
    if constexpr (scores::drops<Policy>) inverse = inverse * policy.kept_scale();
    for (std::size_t d = 0; d < shape.value_dim; ++d) {
      T& out = o[i * shape.o_row + d * shape.o_dim];
      out = out * inverse;
    }
    if constexpr (Tap::stage == tap_stage::softmax) {
      tap.maximum[i] = maximum;
      tap.inverse[i] = probability_factor;
    } else if constexpr (score_tap<Tap>) {
      tap_scores<T>(shape, score, policy, i, tap);
    } else if constexpr (Tap::stage != tap_stage::none) {
      constexpr bool drops = scores::drops<Policy> && Tap::stage == tap_stage::weights;
      for (std::size_t j = 0; j < shape.keys; ++j) {
        T& to = tap.to[i * Tap::query_stride + j * Tap::key_stride];
        to = T{};
        if (j < range.begin || j >= range.end || !over.sees(j)) continue;
        const T p = simd::exp2_not_positive(over.change(score(i, j), j) - maximum);
        to = p * (drops ? inverse : probability_factor);
        if constexpr (drops) {
          if (!detail::keeps<T>(over, j)) to = T{};
        }
      }
    }
  }
}

// scale q k^T in units of log2: q is multiplied first, with one rounding.
template <class T, class K>
struct dot_product_score {
  const attend_shape& shape;
  const T* q;
  K k;
  T factor;
  constexpr T operator()(std::size_t i, std::size_t j) const noexcept {
    T score{};
    for (std::size_t d = 0; d < shape.head_dim; ++d) {
      const T scaled = q[i * shape.q_row + d * shape.q_dim] * factor;
      score =
          simd::fma(scaled, static_cast<T>(elements(k)[j * shape.k_row + d * shape.k_dim]), score);
    }
    return with_scale(score, k, j);
  }
};

// The weights are multiplied first, with one rounding.
template <class T>
struct additive_score {
  const attend_shape& shape;
  const T* q;
  const T* k;
  const T* w;
  T factor;
  constexpr T operator()(std::size_t i, std::size_t j) const noexcept {
    T score{};
    for (std::size_t d = 0; d < shape.head_dim; ++d) {
      const T sum = q[i * shape.q_row + d * shape.q_dim] + k[j * shape.k_row + d * shape.k_dim];
      score = simd::fma(simd::tanh(sum), w[d] * factor, score);
    }
    return score;
  }
};

}  // namespace detail

// Attention with any score: score(i, j) for query i and key j, in units of log2; and its tap of
// scores only.
template <attend_shape S, class T, class Score, class Policy, class Tap>
constexpr void attend_by(const Score& score, const T* v, const Policy& policy, T* o,
                         const Tap& tap) noexcept {
  detail::attend_by(S, score, v, policy, o, tap);
}
template <attend_shape S, class T, class Score, scores::policy Policy, score_tap Tap>
constexpr void tap_scores_by(const Score& score, const Policy& policy, const Tap& tap) noexcept {
  for (std::size_t i = 0; i < S.queries; ++i) detail::tap_scores<T>(S, score, policy, i, tap);
}

// softmax(scores(scale q k^T)) v for one head. Keys that a query doesn't see are not read for it
// and add nothing; without any key, the result is zeros. The softmax is the online one (Milakov and
// Gimelshein 2018), in blocks of plan::key_block keys that start at multiples of it, whichever keys
// are seen. A NaN or infinite query spoils only its row; scores of -inf weigh 0. A dropped weight
// (scores::dropout) keeps its value in the sum and is 0 in the context's fma. tap: see tap.hpp.
template <attend_shape S, class T, scores::policy Policy, tap_like Tap, stored_rows K,
          stored_rows Y>
constexpr void attend(const T* q, K k, Y v, T scale, const Policy& policy, T* o, const Tap& tap,
                      std::size_t present = S.queries) noexcept {
  attend_shape shape = S;
  shape.queries = present;  // the first ones
  detail::attend_by(shape, detail::dot_product_score<T, K>{S, q, k, exp2_factor(scale)}, v, policy,
                    o, tap);
}

// weights, if given, receives the weights (queries, keys), row-major, as multiplied with the
// values.
template <attend_shape S, class T, scores::policy Policy>
constexpr void attend(const T* q, const T* k, const T* v, T scale, const Policy& policy, T* o,
                      T* weights = nullptr) noexcept {
  if (weights == nullptr) return attend<S>(q, k, v, scale, policy, o, no_tap{});
  attend<S>(q, k, v, scale, policy, o, tap<tap_stage::weights, T, S.keys>{weights});
}

// Over the first key_count keys (clamped to keys; others are not read).
template <attend_shape S, class T>
constexpr void attend(const T* q, const T* k, const T* v, T scale, std::size_t key_count, T* o,
                      T* weights = nullptr) noexcept {
  attend<S>(q, k, v, scale, scores::first_keys(key_count), o, weights);
}

// A tap of scores only, with any policy. For those after a soft cap and before a bias, pass the
// soft cap's policy.
template <attend_shape S, class T, scores::policy Policy, score_tap Tap, stored_rows K>
constexpr void tap_scores(const T* q, K k, T scale, const Policy& policy, const Tap& tap) noexcept {
  const detail::dot_product_score<T, K> score{S, q, k, exp2_factor(scale)};
  for (std::size_t i = 0; i < S.queries; ++i) detail::tap_scores<T>(S, score, policy, i, tap);
}

// The additive score instead of the dot product: the sum over d < head_dim of w[d] tanh(q(i, d) +
// k(j, d)), d increasing (Bahdanau, Cho, Bengio 2014). q and k are already projected to their
// common width S.head_dim; there is no scale.
template <attend_shape S, class T, scores::policy Policy, tap_like Tap = no_tap>
constexpr void attend_additive(const T* q, const T* k, const T* w, const T* v, const Policy& policy,
                               T* o, const Tap& tap = {}) noexcept {
  detail::attend_by(S, detail::additive_score<T>{S, q, k, w, exp2_factor(T{1})}, v, policy, o, tap);
}
template <attend_shape S, class T, scores::policy Policy, score_tap Tap>
constexpr void tap_additive_scores(const T* q, const T* k, const T* w, const Policy& policy,
                                   const Tap& tap) noexcept {
  tap_scores_by<S, T>(detail::additive_score<T>{S, q, k, w, exp2_factor(T{1})}, policy, tap);
}

// Does query i see any key?
template <attend_shape S, class T, scores::policy Policy>
constexpr bool sees_any(const Policy& policy, std::size_t i) noexcept {
  const scores::key_range range = policy.range(i, 1, S.keys);
  const auto over = policy.template over<T>(i, 1);
  bool sees_one = false;
  for (std::size_t j = range.begin; j < range.end && !sees_one; ++j) sees_one = over.sees(j);
  return sees_one;
}

// The rows of o whose query sees no key become the mean of all values stored for it: keys
// increasing, then times 1 / keys, rounded once. Dropout applies: a dropped value is multiplied by
// 0. Stored: a policy that sees one run of keys.
template <attend_shape S, class T, scores::policy Policy, scores::policy Stored, class Y>
constexpr void mean_where_empty(Y v, const Policy& policy, const Stored& stored, T* o) noexcept {
  for (std::size_t i = 0; i < S.queries; ++i) {
    if (sees_any<S, T>(policy, i)) continue;
    const scores::key_range keys = stored.range(i, 1, S.keys);
    if (keys.begin >= keys.end) continue;
    const auto over = policy.template over<T>(i, 1);
    T each = T{1} / static_cast<T>(keys.end - keys.begin);
    if constexpr (scores::drops<Policy>) each = each * policy.kept_scale();
    for (std::size_t d = 0; d < S.value_dim; ++d) {
      T sum{};
      for (std::size_t j = keys.begin; j < keys.end; ++j) {
        T value = static_cast<T>(elements(v)[j * S.v_row + d * S.v_dim]);
        value = with_scale(value, v, j);
        if constexpr (scores::drops<Policy>) {
          if (!detail::keeps<T>(over, j)) value = value * T{};
        }
        sum = sum + value;
      }
      o[i * S.o_row + d * S.o_dim] = sum * each;
    }
  }
}

// A tap of weights gets 1 / keys in those rows, or the result of its dropout.
template <attend_shape S, scores::policy Policy, scores::policy Stored, tap_stage Stage, class T,
          std::size_t QueryStride, std::size_t KeyStride>
constexpr void uniform_where_empty(const Policy& policy, const Stored& stored,
                                   tap<Stage, T, QueryStride, KeyStride> to) noexcept {
  if constexpr (Stage == tap_stage::probabilities || Stage == tap_stage::weights) {
    constexpr bool drops = scores::drops<Policy> && Stage == tap_stage::weights;
    for (std::size_t i = 0; i < S.queries; ++i) {
      if (sees_any<S, T>(policy, i)) continue;
      const scores::key_range keys = stored.range(i, 1, S.keys);
      const auto over = policy.template over<T>(i, 1);
      for (std::size_t j = keys.begin; j < keys.end; ++j) {
        T& weight = to.to[i * QueryStride + j * KeyStride];
        weight = T{1} / static_cast<T>(keys.end - keys.begin);
        if constexpr (drops)
          weight = detail::keeps<T>(over, j) ? weight * policy.kept_scale() : T{};
      }
    }
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::plain
UMBEL_WARNINGS_POP
