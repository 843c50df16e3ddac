// SPDX-License-Identifier: BSL-1.0
// Optimizer steps over arrays, element by element, and the sum of squares of several arrays. A step
// is written once for numbers and packs; the plain loops apply it to numbers, the fast ones to
// packs: the same bits on every target. The number of elements is a run-time value, so all
// parameters of a model share one copy of the code.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/fold.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// ---- steps: outputs are references, inputs values
struct clearing {
  template <class V>
  UMBEL_INLINE constexpr void operator()(V& x) const noexcept {
    x = V{};
  }
};
template <class T>
struct scaling {
  T factor;
  template <class V>
  UMBEL_INLINE constexpr void operator()(V& x) const noexcept {
    x = x * simd::broadcast<V>(factor);
  }
};
struct adding {
  template <class V>
  UMBEL_INLINE constexpr void operator()(V& x, V y) const noexcept {
    x = x + y;
  }
};
template <class T>
struct averaging {
  T towards;
  template <class V>
  UMBEL_INLINE constexpr void operator()(V& average, V x) const noexcept {
    average = simd::fma(x - average, simd::broadcast<V>(towards), average);
  }
};

template <class T>
struct sgd_step {
  T rate, decay;
  template <class V>
  UMBEL_INLINE constexpr void operator()(V& w, V g) const noexcept {
    g = simd::fma(w, simd::broadcast<V>(decay), g);
    w = simd::fma(g, simd::broadcast<V>(-rate), w);
  }
};
// m = momentum m + (g + decay w); w - rate m, or with nesterov w - rate (g + decay w + momentum m).
template <class T>
struct momentum_step {
  T rate, momentum, decay;
  bool nesterov;
  template <class V>
  UMBEL_INLINE constexpr void operator()(V& w, V g, V& m) const noexcept {
    const V part = simd::broadcast<V>(momentum);
    g = simd::fma(w, simd::broadcast<V>(decay), g);
    m = simd::fma(m, part, g);
    w = simd::fma(nesterov ? simd::fma(m, part, g) : m, simd::broadcast<V>(-rate), w);
  }
};
// Adam and AdamW: with g + decay w as the gradient, m = beta1 m + rest1 g, v = beta2 v + rest2 g^2,
// keep w - rate m / (correction sqrt(v) + epsilon). (fma(x, y, 0): separately rounded products.)
template <class T>
struct adam_step {
  T decay, beta1, rest1, beta2, rest2, correction, epsilon, rate, keep;
  template <class V>
  UMBEL_INLINE constexpr void operator()(V& w, V g, V& m, V& v) const noexcept {
    const auto all = [](T value) UMBEL_LAMBDA_INLINE { return simd::broadcast<V>(value); };
    g = simd::fma(w, all(decay), g);
    m = simd::fma(m, all(beta1), simd::fma(g, all(rest1), V{}));
    v = simd::fma(v, all(beta2), simd::fma(g * g, all(rest2), V{}));
    const V size = simd::fma(simd::sqrt(v), all(correction), all(epsilon));
    w = simd::fma(m / size, all(-rate), simd::fma(w, all(keep), V{}));
  }
};

// ---- the arrays
namespace plain {

template <class Step, class... Array>
constexpr void each_number(const Step& step, std::size_t count, Array*... x) noexcept {
  for (std::size_t i = 0; i < count; ++i) step(x[i]...);
}

// Element e continues chain e % 16 with its square.
template <class T>
constexpr void add_squares(const T* x, std::size_t count, T (&chain)[sum_chains]) noexcept {
  for (std::size_t e = 0; e < count; ++e)
    chain[e % sum_chains] = simd::fma(x[e], x[e], chain[e % sum_chains]);
}

}  // namespace plain

namespace detail {
template <class V, class T>
UMBEL_INLINE void store_written(T* to, V value, std::size_t count) noexcept {
  if (count == simd::lanes_of<V>)
    simd::store<V>(to, value);
  else
    simd::store_first<V>(to, value, count);
}
template <class V, class T>
UMBEL_INLINE void store_written(const T*, V, std::size_t) noexcept {}

// count: all lanes, except in the last pack.
template <class V, class Step, class... Array>
UMBEL_INLINE void step_of_pack(const Step& step, std::size_t count, Array*... x) noexcept {
  [&](auto... value) UMBEL_LAMBDA_INLINE {
    step(value...);
    (store_written<V>(x, value, count), ...);
  }(count == simd::lanes_of<V> ? simd::load<V>(x) : simd::load_first<V>(x, count)...);
}
}  // namespace detail

// Never inlined: the caller's products could be fused into the sums, and all parameters share it.
template <class T, plan::target Target = plan::native_target, class Step, class... Array>
UMBEL_NOINLINE void each_number(const Step& step, std::size_t count, Array*... x) noexcept {
  using V = simd::pack<T, plan::lanes<T>(Target)>;
  constexpr std::size_t lanes = simd::lanes_of<V>;
  const std::size_t whole = count / lanes * lanes;
  for (std::size_t e = 0; e < whole; e += lanes) detail::step_of_pack<V>(step, lanes, x + e...);
  if (whole != count) detail::step_of_pack<V>(step, count - whole, x + whole...);
}

template <class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void add_squares(const T* x, std::size_t count,
                                T (&chain)[plain::sum_chains]) noexcept {
  constexpr std::size_t chains = plain::sum_chains, most = plan::lanes<T>(Target);
  constexpr std::size_t lanes = most < chains ? most : chains, packs = chains / lanes;
  using V = simd::pack<T, lanes>;
  V sum[packs];
  UMBEL_UNROLL(simd::unrolled_packs)
  for (std::size_t c = 0; c < packs; ++c) sum[c] = simd::load<V>(chain + c * lanes);
  const std::size_t whole = count / chains * chains;
  for (std::size_t e = 0; e < whole; e += chains) {
    UMBEL_UNROLL(simd::unrolled_packs)
    for (std::size_t c = 0; c < packs; ++c) {
      const V value = simd::load<V>(x + e + c * lanes);
      sum[c] = simd::fma(value, value, sum[c]);
    }
  }
  for (std::size_t c = 0; c < packs; ++c) simd::store<V>(chain + c * lanes, sum[c]);
  plain::add_squares(x + whole, count - whole, chain);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
