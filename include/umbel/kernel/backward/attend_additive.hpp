// SPDX-License-Identifier: BSL-1.0
// The gradients of one head of attention with additive scores in SIMD, and the forward pass that
// keeps what they need: the walk over pairs of plain::attend_additive_backward, with features in
// the lanes. The caller projects to the width of the scores.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/backward/attend.hpp>
#include <umbel/kernel/float/attend.hpp>
#include <umbel/kernel/plain/attend_backward.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace detail {

// See plain::detail::additive_gradients. tangents, factors: scratch, head_dim each, rounded up to
// whole vectors; a pair's tangents live from its score to its gradient.
template <attend_backward_shape S, class T, plan::target Target>
struct additive_gradients {
  static constexpr std::size_t lanes = plan::lanes<T>(Target);
  using V = simd::pack<T, lanes>;
  static constexpr std::size_t width = plan::divide_up(S.head_dim, lanes) * lanes;
  const T* q;
  const T* k;
  const T* w;
  T* dw;
  T* tangents;
  T* factors;

  // f(first, count) over count features, a vector at a time.
  template <class F>
  UMBEL_INLINE static void each_vector(std::size_t count, F f) noexcept {
    std::size_t d = 0;
    for (; d + lanes <= count; d += lanes) f(d, lanes);
    if (d < count) f(d, count - d);
  }

  void start() const noexcept {
    const T factor = exp2_factor(T{1});
    for (std::size_t d = 0; d < S.head_dim; ++d) factors[d] = w[d] * factor;
  }
  T operator()(std::size_t i, std::size_t j) const noexcept {
    each_vector(S.head_dim, [&](std::size_t d, std::size_t count) UMBEL_LAMBDA_INLINE {
      simd::store(tangents + d, simd::tanh(simd::load_up_to<V>(q + i * S.q_row + d, count) +
                                           simd::load_up_to<V>(k + j * S.k_row + d, count)));
    });
    T score{};
    for (std::size_t d = 0; d < S.head_dim; ++d) score = simd::fma(tangents[d], factors[d], score);
    return score;
  }
  void add(std::size_t, std::size_t, T d_score, T* to_query, T* to_key) const noexcept {
    const V gradient = simd::broadcast<V>(d_score), one = simd::broadcast<V>(T{1});
    each_vector(S.head_dim, [&](std::size_t d, std::size_t count) UMBEL_LAMBDA_INLINE {
      const V t = simd::load<V>(tangents + d);
      const V slope = simd::fma(-t, t, one) * simd::load_up_to<V>(w + d, count);
      simd::store_up_to(to_query + d,
                        simd::fma(gradient, slope, simd::load_up_to<V>(to_query + d, count)),
                        count);
      simd::store_up_to(to_key + d,
                        simd::fma(gradient, slope, simd::load_up_to<V>(to_key + d, count)), count);
      simd::store_up_to(dw + d, simd::fma(gradient, t, simd::load_up_to<V>(dw + d, count)), count);
    });
  }
  static void multiply_add(std::size_t features, T factor, const T* from, T* to) noexcept {
    const V by = simd::broadcast<V>(factor);
    each_vector(features, [&](std::size_t d, std::size_t count) UMBEL_LAMBDA_INLINE {
      simd::store_up_to(
          to + d,
          simd::fma(by, simd::load_up_to<V>(from + d, count), simd::load_up_to<V>(to + d, count)),
          count);
    });
  }
};

}  // namespace detail

// See plain::attend_additive_kept. scratch: scratch_size elements without overlaps.
template <attend_shape S, class T, plan::target Target = plan::native_target>
struct attend_additive_kept {
  static constexpr std::size_t scratch_size = attend_scratch<S, T, Target>;

  template <scores::policy Policy>
  UMBEL_INLINE static void run(const T* q, const T* k, const T* w, const T* v, const Policy& policy,
                               T* o, T* maximum, T* inverse, T* scratch) noexcept {
    const detail::keeping<Policy, T> how{policy, {maximum, inverse}};
    const detail::additive_keys<T> keys{k, w, exp2_factor(T{1})};
    detail::attend_blocks<S, T, Target>(q, keys, v, T{1}, how, o, scratch);
  }
};

// See plain::attend_additive_backward. scratch: scratch_size separate elements, in any state.
template <attend_backward_shape S, class T, plan::target Target = plan::native_target>
struct attend_additive_backward {
  using gradients = detail::additive_gradients<S, T, Target>;
  static constexpr std::size_t scratch_size = 2 * gradients::width;

  template <scores::policy Policy>
  static void run(const T* q, const T* k, const T* w, const T* v, const T* o, const T* d_o,
                  const Policy& policy, const T* maximum, const T* inverse, T* dq, T* dk, T* dw,
                  T* dv, T* dbias, T* scratch) noexcept {
    const gradients of{q, k, w, dw, scratch, scratch + gradients::width};
    of.start();
    plain::detail::attend_backward_by(S, of, v, o, d_o, policy, maximum, inverse, dq, dk, dv,
                                      dbias);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
