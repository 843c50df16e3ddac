// SPDX-License-Identifier: BSL-1.0
// The definition of attention's gradients, for one head of one sequence: the shortest loops that
// fix the order of operations, usable in constant expressions. backward/attend.hpp produces the
// same bits. It isn't made for speed.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/plain/attend.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/kernel/tap.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::plain {

// The forward pass, plain::attend, which also stores each query's softmax statistics:
// maximum(queries) and inverse(queries), see softmax_tap.
template <attend_shape S>
struct attend_kept {
  template <class T, scores::policy Policy>
  static constexpr void run(const T* q, const T* k, const T* v, T scale, const Policy& policy, T* o,
                            T* maximum, T* inverse) noexcept {
    attend<S>(q, k, v, scale, policy, o, softmax_tap<T>{maximum, inverse});
  }
};
// The same for plain::attend_additive.
template <attend_shape S>
struct attend_additive_kept {
  template <class T, scores::policy Policy>
  static constexpr void run(const T* q, const T* k, const T* w, const T* v, const Policy& policy,
                            T* o, T* maximum, T* inverse) noexcept {
    attend_additive<S>(q, k, w, v, policy, o, softmax_tap<T>{maximum, inverse});
  }
};

namespace detail {

// A softmax gradient's row term: the sum over features of do(i, d) o(i, d), in 16 chains as all row
// sums. It equals the sum over keys of a weight times its gradient.
template <class T>
constexpr T delta(const attend_backward_shape& s, const T* o, const T* d_o,
                  std::size_t i) noexcept {
  T chain[sum_chains]{};
  for (std::size_t d = 0; d < s.value_dim; ++d) {
    T& sum = chain[d % sum_chains];
    sum = simd::fma(d_o[i * s.do_row + d], o[i * s.o_row + d], sum);
  }
  return fold_chains(chain);
}

constexpr attend_shape forward_of(const attend_backward_shape& s) noexcept {
  return {s.queries, s.keys,  s.head_dim, s.value_dim, s.q_row, 1,        s.k_row,
          1,         s.v_row, 1,          s.o_row,     1,       s.queries};
}

// to(d) += factor from(d), one chain per feature.
template <class T>
constexpr void multiply_add(std::size_t count, T factor, const T* from, T* to) noexcept {
  for (std::size_t d = 0; d < count; ++d) to[d] = simd::fma(factor, from[d], to[d]);
}

// A score, and what its gradient, in natural units, adds to its query's and key's.
template <class T>
struct dot_product_gradients {
  attend_shape shape;
  const T* q;
  const T* k;
  T scale;

  constexpr T operator()(std::size_t i, std::size_t j) const noexcept {
    return dot_product_score<T, const T*>{shape, q, k, exp2_factor(scale)}(i, j);
  }
  constexpr void add(std::size_t i, std::size_t j, T d_score, T* to_query,
                     T* to_key) const noexcept {
    const T of_product = d_score * scale;
    plain::detail::multiply_add(shape.head_dim, of_product, k + j * shape.k_row, to_query);
    plain::detail::multiply_add(shape.head_dim, of_product, q + i * shape.q_row, to_key);
  }
  static constexpr void multiply_add(std::size_t count, T factor, const T* from, T* to) noexcept {
    plain::detail::multiply_add(count, factor, from, to);
  }
};
// And to the gradient of the weights, dw.
template <class T>
struct additive_gradients {
  attend_shape shape;
  const T* q;
  const T* k;
  const T* w;
  T* dw;

  constexpr T operator()(std::size_t i, std::size_t j) const noexcept {
    return additive_score<T>{shape, q, k, w, exp2_factor(T{1})}(i, j);
  }
  constexpr void add(std::size_t i, std::size_t j, T d_score, T* to_query,
                     T* to_key) const noexcept {
    for (std::size_t d = 0; d < shape.head_dim; ++d) {
      const T t = simd::tanh(q[i * shape.q_row + d] + k[j * shape.k_row + d]);
      const T slope = simd::fma(-t, t, T{1}) * w[d];
      to_query[d] = simd::fma(d_score, slope, to_query[d]);
      to_key[d] = simd::fma(d_score, slope, to_key[d]);
      dw[d] = simd::fma(d_score, t, dw[d]);
    }
  }
  static constexpr void multiply_add(std::size_t count, T factor, const T* from, T* to) noexcept {
    plain::detail::multiply_add(count, factor, from, to);
  }
};

template <class T, class Score, class Policy>
constexpr void attend_backward_by(const attend_backward_shape& s, const Score& score, const T* v,
                                  const T* o, const T* d_o, const Policy& policy, const T* maximum,
                                  const T* inverse, T* dq, T* dk, T* dv,
                                  [[maybe_unused]] T* dbias) noexcept {
  for (std::size_t j = 0; j < s.keys && !s.go_on; ++j) {
    for (std::size_t d = 0; d < s.head_dim; ++d) dk[j * s.dk_row + d] = T{};
    for (std::size_t d = 0; d < s.value_dim; ++d) dv[j * s.dv_row + d] = T{};
  }
  for (std::size_t i = 0; i < s.queries; ++i) {
    const auto over = policy.template over<T>(i, 1);
    using over_type = decltype(over);
    const scores::key_range range = policy.range(i, 1, s.keys);
    const T minus_delta = -delta(s, o, d_o, i);
    for (std::size_t d = 0; d < s.head_dim; ++d) dq[i * s.dq_row + d] = T{};
    for (std::size_t j = range.begin; j < range.end; ++j) {
      if (!over.sees(j)) continue;
      // The probability, with the bits of the forward pass, and the weight after dropout.
      const T raw = score(i, j);
      const T power = simd::exp2_not_positive(over.change(raw, j) - maximum[i]);
      const T probability = power * inverse[i];
      T weight = probability, slope = minus_delta;
      if constexpr (scores::drops<Policy>) {
        T dot{};
        for (std::size_t d = 0; d < s.value_dim; ++d)
          dot = simd::fma(d_o[i * s.do_row + d], v[j * s.v_row + d], dot);
        if (keeps<T>(over, j)) {
          weight = power * (inverse[i] * policy.kept_scale());
          slope = simd::fma(dot, policy.kept_scale(), minus_delta);
        } else {
          weight = T{};
        }
      } else {
        for (std::size_t d = 0; d < s.value_dim; ++d)
          slope = simd::fma(d_o[i * s.do_row + d], v[j * s.v_row + d], slope);
      }
      // The gradient of the changed score, in natural units. An fma with 0: a bare product could be
      // contracted into a sum.
      const T gradient = simd::fma(probability, slope, T{});
      T of_score = gradient;
      if constexpr (scores::detail::bends<over_type>) of_score = of_score * over.derivative(raw, j);
      if (s.bias) {
        T& to = dbias[i * s.bias_query + j * s.bias_key];
        to = simd::fma(gradient, scores::detail::bias_derivative(over, raw, j), to);
      }
      score.add(i, j, of_score, dq + i * s.dq_row, dk + j * s.dk_row);
      score.multiply_add(s.value_dim, weight, d_o + i * s.do_row, dv + j * s.dv_row);
    }
  }
}

}  // namespace detail

// Gradients of softmax(scale q k^T) v with respect to q, k and v, and to a bias of the scores, from
// the context's gradient d_o. q, k, v, policy: as in the forward pass, which produced the context o
// and each query's maximum and inverse (attend_kept). Each element is one chain in increasing
// order, from 0, or with S.go_on from the old value: dq over the keys that its query sees, dk and
// dv over the queries that see the key. A hidden pair is skipped, whatever is stored there; a query
// that sees no key adds nothing, and its dq is 0. dbias, used only if S.bias: the gradient of each
// visible pair is added; if the policy adds several biases, for the first.
template <attend_backward_shape S>
struct attend_backward {
  template <class T, scores::policy Policy>
  static constexpr void run(const T* q, const T* k, const T* v, const T* o, const T* d_o, T scale,
                            const Policy& policy, const T* maximum, const T* inverse, T* dq, T* dk,
                            T* dv, T* dbias = nullptr) noexcept {
    detail::attend_backward_by(S,
                               detail::dot_product_gradients<T>{detail::forward_of(S), q, k, scale},
                               v, o, d_o, policy, maximum, inverse, dq, dk, dv, dbias);
  }

  // The gradient of a gate, a factor of the head's context, at 1 (Michel, Levy, Neubig 2019): the
  // sum of the rows' sums of do o, queries in increasing order.
  template <class T>
  static constexpr T gate(const T* o, const T* d_o) noexcept {
    T sum{};
    for (std::size_t i = 0; i < S.queries; ++i) sum = sum + detail::delta(S, o, d_o, i);
    return sum;
  }
};

// The same for additive scores, w tanh(q + k). dw: each visible pair's gradient is added, by
// increasing query, then key.
template <attend_backward_shape S>
struct attend_additive_backward {
  template <class T, scores::policy Policy>
  static constexpr void run(const T* q, const T* k, const T* w, const T* v, const T* o,
                            const T* d_o, const Policy& policy, const T* maximum, const T* inverse,
                            T* dq, T* dk, T* dw, T* dv, T* dbias = nullptr) noexcept {
    detail::attend_backward_by(S, detail::additive_gradients<T>{detail::forward_of(S), q, k, w, dw},
                               v, o, d_o, policy, maximum, inverse, dq, dk, dv, dbias);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::plain
UMBEL_WARNINGS_POP
