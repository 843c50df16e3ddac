// SPDX-License-Identifier: BSL-1.0
// The definition of correct: every kernel as the shortest loops that say which operation comes
// after which. Usable in constant expressions. The SIMD kernels give these bits, whatever their
// lanes and tiles, and the tests compare them with memcmp. Not here: speed.
// Every multiplication that feeds an addition is an explicit fma (simd/fma.hpp).
#pragma once

#include <cstddef>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>

namespace umbel::kernel {

// exp2 takes the scores: q is multiplied by scale * log2(e), rounded once, in T.
template <class T>
constexpr T exp2_factor(T scale) noexcept {
  return scale * simd::math_constants<T>::log2_e;
}

// 1 / sum for the softmax. A sum of 0 (nothing to attend to) gives 0; NaN stays NaN.
template <class V>
UMBEL_INLINE constexpr V inverse_sum(V sum) noexcept {
  return simd::select(sum == V{}, V{}, simd::broadcast<V>(simd::element_of<V>{1}) / sum);
}

}  // namespace umbel::kernel

namespace umbel::kernel::plain {

// y = x w + bias: each element one chain that starts at its bias (or 0), k increasing.
// bias is not read when the shape has none.
template <linear_shape S, class T>
constexpr void linear(const T* x, const T* w, const T* bias, T* y) noexcept {
  for (std::size_t m = 0; m < S.rows; ++m) {
    for (std::size_t n = 0; n < S.out; ++n) {
      T sum = S.bias ? bias[n] : T{};
      for (std::size_t k = 0; k < S.in; ++k) {
        sum = simd::fma(x[m * S.x_row + k * S.x_in], w[k * S.out + n], sum);
      }
      y[m * S.y_row + n * S.y_out] = sum;
    }
  }
}

namespace detail {

// Does the query of `over`, a policy's for one lane, keep its weight of the key?
template <class T, class Over>
constexpr bool keeps(const Over& over, std::size_t key) noexcept {
  bool kept[4]{};
  over.keeps(key - key % 4, kept);
  return kept[key % 4];
}

}  // namespace detail

// softmax(scores(scale q k^T)) v for one head. Keys that a query does not see are not read for it and
// add nothing; no key at all: zeros. The softmax is the online one (Milakov and Gimelshein 2018), in
// blocks of plan::key_block keys, which stand at multiples of that whatever is seen of them. A NaN
// or infinite query spoils its own row only; scores of -inf weigh 0. A dropped weight (scores::dropout)
// is one of 0: in the sum with what it was, in the context fma'd as 0. weights, if given, receives
// the probabilities (queries, keys), row-major, as they multiply the values.
template <attend_shape S, class T, scores::policy Policy>
constexpr void attend(const T* q, const T* k, const T* v, T scale, const Policy& policy, T* o,
                      T* weights = nullptr) noexcept {
  const T factor = exp2_factor(scale);
  for (std::size_t i = 0; i < S.queries; ++i) {
    const auto over = policy.template over<T>(i, 1);
    const scores::key_range range = policy.range(i, 1, S.keys);
    T maximum = simd::math_constants<T>::lowest;
    T sum{};
    for (std::size_t d = 0; d < S.value_dim; ++d) o[i * S.o_row + d * S.o_dim] = T{};
    std::size_t end = 0;
    for (std::size_t first = range.begin; first < range.end; first = end) {
      end = scores::block_end(first, range.end);
      T p[plan::key_block]{};  // scores, then exponentials
      bool sees[plan::key_block]{};
      const T old_maximum = maximum;
      for (std::size_t j = first; j < end; ++j) {
        sees[j - first] = over.sees(j);
        if (!sees[j - first]) continue;
        T score{};
        for (std::size_t d = 0; d < S.head_dim; ++d) {
          const T scaled = q[i * S.q_row + d * S.q_dim] * factor;
          score = simd::fma(scaled, k[j * S.k_row + d * S.k_dim], score);
        }
        score = over.change(score, j);
        p[j - first] = score;
        if (weights != nullptr) weights[i * S.keys + j] = score;
        maximum = simd::max(score, maximum);
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
      for (std::size_t d = 0; d < S.value_dim; ++d) {
        T& out = o[i * S.o_row + d * S.o_dim];
        if (!is_first) out = out * correction;
        for (std::size_t j = first; j < end; ++j) {
          if (sees[j - first]) out = simd::fma(p[j - first], v[j * S.v_row + d * S.v_dim], out);
        }
      }
    }
    T inverse = inverse_sum(sum);
    if constexpr (scores::drops<Policy>) inverse = inverse * policy.kept_scale();
    for (std::size_t d = 0; d < S.value_dim; ++d) {
      T& out = o[i * S.o_row + d * S.o_dim];
      out = out * inverse;
    }
    if (weights == nullptr) continue;
    for (std::size_t j = 0; j < S.keys; ++j) {
      T& weight = weights[i * S.keys + j];
      const bool seen = j >= range.begin && j < range.end && over.sees(j);
      weight = seen ? simd::exp2_not_positive(weight - maximum) * inverse : T{};
      if constexpr (scores::drops<Policy>) {
        if (!detail::keeps<T>(over, j)) weight = T{};
      }
    }
  }
}

// Over the first key_count keys (clamped to keys; the others are not read).
template <attend_shape S, class T>
constexpr void attend(const T* q, const T* k, const T* v, T scale, std::size_t key_count, T* o,
                      T* weights = nullptr) noexcept {
  attend<S>(q, k, v, scale, scores::first_keys(key_count), o, weights);
}

// The rows of o whose query sees no key become the mean of all values: keys increasing, then times
// 1 / keys, rounded once.
template <attend_shape S, class T, scores::policy Policy>
constexpr void mean_where_empty(const T* v, const Policy& policy, T* o) noexcept {
  for (std::size_t i = 0; i < S.queries; ++i) {
    const scores::key_range range = policy.range(i, 1, S.keys);
    const auto over = policy.template over<T>(i, 1);
    bool sees_one = false;
    for (std::size_t j = range.begin; j < range.end && !sees_one; ++j) sees_one = over.sees(j);
    if (sees_one) continue;
    for (std::size_t d = 0; d < S.value_dim; ++d) {
      T sum{};
      for (std::size_t j = 0; j < S.keys; ++j) sum = sum + v[j * S.v_row + d * S.v_dim];
      o[i * S.o_row + d * S.o_dim] = sum * (T{1} / static_cast<T>(S.keys));
    }
  }
}

// The chains of a sum along a row: element e belongs to chain e % 16, on every target.
inline constexpr std::size_t sum_chains = 16;

// Folds the chains in halves: 8, 4, 2, 1.
template <class T>
constexpr T fold_chains(T (&chain)[sum_chains]) noexcept {
  for (std::size_t half = sum_chains / 2; half > 0; half /= 2) {
    for (std::size_t c = 0; c < half; ++c) chain[c] = chain[c] + chain[c + half];
  }
  return chain[0];
}

// y = (x - mean) / sqrt(variance + epsilon) gamma + beta along each row; the variance is the biased
// one, of the differences from the mean (Ba, Kiros, Hinton 2016, as in PyTorch).
template <norm_shape S, class T>
constexpr void layer_norm(const T* x, const T* gamma, const T* beta, T epsilon, T* y) noexcept {
  for (std::size_t m = 0; m < S.rows; ++m) {
    const T* row = x + m * S.x_row;
    T chain[sum_chains]{};
    for (std::size_t e = 0; e < S.width; ++e) {
      chain[e % sum_chains] = chain[e % sum_chains] + row[e];
    }
    const T mean = fold_chains(chain) / static_cast<T>(S.width);
    for (T& c : chain) c = T{};
    for (std::size_t e = 0; e < S.width; ++e) {
      const T difference = row[e] - mean;
      chain[e % sum_chains] = simd::fma(difference, difference, chain[e % sum_chains]);
    }
    const T variance = fold_chains(chain) / static_cast<T>(S.width);
    const T inverse = simd::rsqrt(variance + epsilon);
    for (std::size_t e = 0; e < S.width; ++e) {
      y[m * S.y_row + e] = simd::fma((row[e] - mean) * inverse, gamma[e], beta[e]);
    }
  }
}

// y = x / sqrt(mean of the squares + epsilon) gamma along each row (Zhang and Sennrich 2019, with
// epsilon under the root as in LLaMA and torch.nn.RMSNorm). The product with 1 / sqrt is rounded
// before the one with gamma. Squares that overflow (|x| above 1e19 in float) give 0.
template <norm_shape S, class T>
constexpr void rms_norm(const T* x, const T* gamma, T epsilon, T* y) noexcept {
  for (std::size_t m = 0; m < S.rows; ++m) {
    const T* row = x + m * S.x_row;
    T chain[sum_chains]{};
    for (std::size_t e = 0; e < S.width; ++e) {
      chain[e % sum_chains] = simd::fma(row[e], row[e], chain[e % sum_chains]);
    }
    const T mean_square = fold_chains(chain) / static_cast<T>(S.width);
    const T inverse = simd::rsqrt(mean_square + epsilon);
    for (std::size_t e = 0; e < S.width; ++e) y[m * S.y_row + e] = row[e] * inverse * gamma[e];
  }
}

// 0.5 x (1 + erf(x / sqrt 2)) (Hendrycks and Gimpel 2016).
template <class V>
UMBEL_INLINE constexpr V gelu_exact_of(V x) noexcept {
  using T = simd::element_of<V>;
  const V half = x * simd::broadcast<V>(T{0.5});
  const V inside = x * simd::broadcast<V>(static_cast<T>(0.70710678118654752));
  return simd::fma(half, simd::erf(inside), half);
}

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), the same paper's approximation.
template <class V>
UMBEL_INLINE constexpr V gelu_tanh_of(V x) noexcept {
  using T = simd::element_of<V>;
  const V half = x * simd::broadcast<V>(T{0.5});
  const V linear = simd::broadcast<V>(static_cast<T>(0.79788456080286536));
  const V cubic = simd::broadcast<V>(static_cast<T>(0.035677408136300125));
  const V inside = x * simd::fma(x * x, cubic, linear);
  return simd::fma(half, simd::tanh(inside), half);
}

// x sigmoid(x) = x / (1 + e^-x) (Hendrycks and Gimpel 2016; Elfwing et al. 2018). Where e^-x
// overflows, x below -88.7 in float, it is -0, also for -infinity, which the quotient alone would
// turn into NaN.
template <class V>
UMBEL_INLINE constexpr V silu_of(V x) noexcept {
  using T = simd::element_of<V>;
  const V finite = simd::max(simd::broadcast<V>(simd::math_constants<T>::lowest), x);
  return finite / (simd::broadcast<V>(T{1}) + simd::exp(-x));
}

template <std::size_t N, class T>
constexpr void gelu_exact(const T* x, T* y) noexcept {
  for (std::size_t e = 0; e < N; ++e) y[e] = gelu_exact_of(x[e]);
}

template <std::size_t N, class T>
constexpr void gelu_tanh(const T* x, T* y) noexcept {
  for (std::size_t e = 0; e < N; ++e) y[e] = gelu_tanh_of(x[e]);
}

template <std::size_t N, class T>
constexpr void silu(const T* x, T* y) noexcept {
  for (std::size_t e = 0; e < N; ++e) y[e] = silu_of(x[e]);
}

// max(x, 0); NaN gives 0, as `x > 0 ? x : 0` does.
template <std::size_t N, class T>
constexpr void relu(const T* x, T* y) noexcept {
  for (std::size_t e = 0; e < N; ++e) y[e] = simd::max(x[e], T{});
}

template <std::size_t N, class T>
constexpr void add(const T* a, const T* b, T* y) noexcept {
  for (std::size_t e = 0; e < N; ++e) y[e] = a[e] + b[e];
}

// y(width) = mean over the rows of x, rows increasing, then divided by their number.
template <std::size_t Rows, std::size_t Width, std::size_t XRow, class T>
constexpr void mean_rows(const T* x, T* y) noexcept {
  for (std::size_t e = 0; e < Width; ++e) {
    T sum{};
    for (std::size_t m = 0; m < Rows; ++m) sum = sum + x[m * XRow + e];
    y[e] = sum / static_cast<T>(Rows);
  }
}

}  // namespace umbel::kernel::plain
