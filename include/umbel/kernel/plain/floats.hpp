// SPDX-License-Identifier: BSL-1.0
// The definition of correct: every kernel as the shortest loops that fix the order of operations,
// usable in constant expressions. The SIMD kernels produce the same bits for any lanes and tiles;
// the tests compare with memcmp. It isn't made for speed. Every multiplication that feeds an
// addition is an explicit fma (simd/fma.hpp).
#pragma once

#include <cstddef>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/rounding.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// 1 / sum for the softmax. A sum of 0 (nothing to attend to) returns 0 without dividing by 0; NaN
// stays NaN.
template <class V>
UMBEL_INLINE constexpr V inverse_sum(V sum) noexcept {
  using T = simd::element_of<V>;
  // A sum is 0 or at least this. Not a selection by `sum == 0`, which clang would merge with the
  // outer one and then divide by 0.
  const V divisor = simd::larger(simd::broadcast<V>(simd::math_constants<T>::lowest_normal), sum);
  const V inverse = simd::broadcast<V>(T{1}) / divisor;
  if constexpr (simd::lanes_of<V> == 1) UMBEL_COMPUTED(inverse);
  return simd::select(simd::equal(sum, V{}), V{}, inverse);
}

namespace plain {

namespace detail {
template <class T>
constexpr void linear(const linear_shape& s, const T* x, const T* w, const T* bias, T* y) noexcept {
  const std::size_t in = s.in, out = s.out, x_in = s.x_in;
  for (std::size_t m = 0; m < s.rows; ++m) {
    for (std::size_t n = 0; n < out; ++n) {
      T sum = s.bias ? bias[n] : T{};
      std::size_t from = m * s.x_row, weight = n;  // few steps for constant expressions
      for (std::size_t k = in; k != 0; --k, from += x_in, weight += out) {
        sum = simd::fma(x[from], w[weight], sum);
      }
      y[m * s.y_row + n * s.y_out] = sum;
    }
  }
}
}  // namespace detail

// y = x w + bias: each element is one chain that starts at its bias (or 0), k increasing. bias is
// not read if the shape has none.
template <linear_shape S, class T>
constexpr void linear(const T* x, const T* w, const T* bias, T* y) noexcept {
  detail::linear(S, x, w, bias, y);
}

namespace detail {
template <class T>
constexpr void contract(const contract_shape& s, const T* x, const T* y, T* out,
                        bool go_on) noexcept {
  for (std::size_t m = 0; m < s.rows; ++m) {
    for (std::size_t n = 0; n < s.columns; ++n) {
      T& to = out[m * s.out_row + n * s.out_column];
      T sum = go_on ? to : T{};
      std::size_t from = m * s.x_row, other = n * s.y_column;
      for (std::size_t k = s.depth; k != 0; --k, from += s.x_depth, other += s.y_depth) {
        if constexpr (std::is_integral_v<T>)
          sum = static_cast<T>(sum + x[from] * y[other]);
        else
          sum = simd::fma(x[from], y[other], sum);
      }
      to = sum;
    }
  }
}
}  // namespace detail

// out = x y: each element is one chain over the depth from 0 or from out's old value.
template <contract_shape S, class T>
constexpr void contract(const T* x, const T* y, T* out, bool go_on = false) noexcept {
  detail::contract(S, x, y, out, go_on);
}
// Only the first `depth` of each sum.
template <contract_shape S, class T>
constexpr void contract_some(const T* x, const T* y, T* out, std::size_t depth,
                             bool go_on) noexcept {
  contract_shape some = S;
  some.depth = depth;
  detail::contract(some, x, y, out, go_on);
}

// The chains of a row's sum: element e belongs to chain e % 16, on every target.
inline constexpr std::size_t sum_chains = 16;

// Folds the chains by halves: 8, 4, 2, 1.
template <class T>
constexpr T fold_chains(T (&chain)[sum_chains]) noexcept {
  for (std::size_t half = sum_chains / 2; half > 0; half /= 2) {
    for (std::size_t c = 0; c < half; ++c) chain[c] = chain[c] + chain[c + half];
  }
  return chain[0];
}

// y = (x - mean) / sqrt(variance + epsilon) gamma + beta along each row, with the biased variance,
// from differences to the mean (Ba, Kiros, Hinton 2016, as in PyTorch). Without beta: the bits of
// beta 0.
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
      y[m * S.y_row + e] = simd::fma((row[e] - mean) * inverse, gamma[e], S.beta ? beta[e] : T{});
    }
  }
}

// y = x / sqrt(mean of the squares + epsilon) gamma along each row (Zhang and Sennrich 2019, with
// epsilon under the root as in LLaMA and torch.nn.RMSNorm). The product with 1 / sqrt is rounded
// before the one with gamma. Squares that overflow (|x| above 1e19 in float) result in 0.
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

// y = e^(x - maximum) divided by its sum along each row, in the chains above. A row of only
// -infinity becomes zeros; NaN spoils only its row.
template <softmax_shape S, class T>
constexpr void softmax(const T* x, T* y) noexcept {
  for (std::size_t r = 0; r < S.outer * S.inner; ++r) {
    const std::size_t first = r / S.inner * S.width * S.inner + r % S.inner;
    T maximum = simd::math_constants<T>::lowest, chain[sum_chains]{};
    for (std::size_t i = 0; i < S.width; ++i)
      maximum = simd::larger(x[first + i * S.inner], maximum);
    for (std::size_t i = 0; i < S.width; ++i) {
      T& to = y[first + i * S.inner];
      to = simd::exp_not_positive(x[first + i * S.inner] - maximum);
      chain[i % sum_chains] = chain[i % sum_chains] + to;
    }
    const T inverse = inverse_sum(fold_chains(chain));
    for (std::size_t i = 0; i < S.width; ++i) {
      T& to = y[first + i * S.inner];
      to = to * inverse;
    }
  }
}

// The term that log_softmax subtracts. A sum of 0, from a row of -infinity, returns 0, so that the
// row stays.
template <class V>
UMBEL_INLINE constexpr V log_of_sum(V sum) noexcept {
  return simd::select(simd::equal(sum, V{}), V{}, simd::log(sum));
}

// y = x - maximum - log of the sum of e^(x - maximum) along each row, in the chains above. A row of
// only -infinity stays; NaN spoils only its row.
template <softmax_shape S, class T>
constexpr void log_softmax(const T* x, T* y) noexcept {
  for (std::size_t r = 0; r < S.outer * S.inner; ++r) {
    const std::size_t first = r / S.inner * S.width * S.inner + r % S.inner;
    T maximum = simd::math_constants<T>::lowest, chain[sum_chains]{};
    for (std::size_t i = 0; i < S.width; ++i)
      maximum = simd::larger(x[first + i * S.inner], maximum);
    for (std::size_t i = 0; i < S.width; ++i) {
      T& sum = chain[i % sum_chains];
      sum = sum + simd::exp_not_positive(x[first + i * S.inner] - maximum);
    }
    const T log_sum = log_of_sum(fold_chains(chain));
    for (std::size_t i = 0; i < S.width; ++i) {
      const std::size_t at = first + i * S.inner;
      y[at] = x[at] - maximum - log_sum;
    }
  }
}

// x sigmoid(x) = x / (1 + e^-x) (Hendrycks and Gimpel 2016; Elfwing et al. 2018). If e^-x overflows
// (x below -88.7 in float), the result is -0, also for -infinity, which the quotient alone would
// turn into NaN.
template <class V>
UMBEL_INLINE constexpr V silu_of(V x) noexcept {
  using T = simd::element_of<V>;
  const V finite = simd::larger(simd::broadcast<V>(simd::math_constants<T>::lowest), x);
  return finite / (simd::broadcast<V>(T{1}) + simd::exp(-x));
}

// max(x, 0); NaN stays NaN, as in PyTorch; 0 for -0.
template <class V>
UMBEL_INLINE constexpr V relu_of(V x) noexcept {
  return simd::select(simd::less_equal(x, V{}), V{}, x);
}

// The remainder with the sign of y; of integers 0 for y = 0, as in numpy.
template <class V>
UMBEL_INLINE constexpr V remainder_of(V x, V y) noexcept {
  using T = simd::element_of<V>;
  if constexpr (!std::is_integral_v<T>) {
    return simd::remainder(x, y);
  } else {
    // x % -1 overflows for the lowest integer.
    const bool is_zero = y == 0 || y == static_cast<T>(-1);
    const T rest = static_cast<T>(x % (is_zero ? T{1} : y));
    return rest != 0 && (rest < 0) != (y < 0) ? static_cast<T>(rest + y) : rest;
  }
}
// |x|: drops the sign bit, also of NaN and -0. The lowest integer, which has no opposite, stays.
template <class V>
UMBEL_INLINE constexpr V abs_of(V x) noexcept {
  using T = simd::element_of<V>;
  if constexpr (!std::is_integral_v<T>)
    return simd::detail::magnitude(x);
  else if constexpr (std::is_unsigned_v<T>)
    return x;
  else
    return x < 0 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x)) : x;
}

// y = function(x), element by element. Function::of: one of the functions above.
template <class Function, std::size_t N, class T>
constexpr void each(const T* x, T* y) noexcept {
  for (std::size_t e = 0; e < N; ++e) y[e] = Function::of(x[e]);
}

// y = function(gate) up, element by element (Shazeer 2020).
template <class Function, std::size_t N, class T>
constexpr void gated(const T* gate, const T* up, T* y) noexcept {
  for (std::size_t e = 0; e < N; ++e) y[e] = Function::of(gate[e]) * up[e];
}

template <std::size_t N, class T>
constexpr void add(const T* a, const T* b, T* y) noexcept {
  for (std::size_t e = 0; e < N; ++e) y[e] = a[e] + b[e];
}

// f(offset) for each position of a walk, starting at `at`.
template <auto Walk, std::size_t Axis = 0, class F>
constexpr void each_offset(std::size_t at, F f) {
  if constexpr (Axis == Walk.rank) {
    f(at);
  } else {
    for (std::size_t i = 0; i < Walk.extents[Axis]; ++i, at += Walk.strides[Axis])
      plain::each_offset<Walk, Axis + 1, F&>(at, f);
  }
}

// The chains of a reduction: element e of the reduced ones belongs to chain e % chains; they are
// folded by halves, the lower one on the left. `with` combines a chain and the next element.
struct sum_of {
  static constexpr std::size_t chains = sum_chains;
  template <class T>
  static constexpr T start = T{};
  template <class V>
  UMBEL_INLINE static constexpr V with(V chain, V next) noexcept {
    if constexpr (std::is_integral_v<V>)
      return static_cast<V>(chain + next);
    else
      return chain + next;
  }
  template <std::size_t Count, class V>
  UMBEL_INLINE static constexpr V finish(V sum) noexcept {
    return sum;
  }
};
struct product_of : sum_of {
  template <class T>
  static constexpr T start = T{1};
  template <class V>
  UMBEL_INLINE static constexpr V with(V chain, V next) noexcept {
    if constexpr (std::is_integral_v<V>) {
      V result{};
      __builtin_mul_overflow(chain, next, &result);
      return result;
    } else {
      return chain * next;
    }
  }
};
// One chain, divided by the number of elements.
struct mean_of : sum_of {
  static constexpr std::size_t chains = 1;
  template <std::size_t Count, class V>
  UMBEL_INLINE static constexpr V finish(V sum) noexcept {
    using T = simd::element_of<V>;
    return sum / simd::broadcast<V>(static_cast<T>(Count));
  }
};
// NaN if an element is NaN, as torch's amax; of zeros of both signs, the first in a chain.
struct max_of : sum_of {
  template <class T>
  static constexpr T start = simd::lowest_of<T>;
  template <class V>
  UMBEL_INLINE static constexpr V with(V chain, V next) noexcept {
    return simd::select(simd::either(simd::less(chain, next), simd::not_equal(next, next)), next,
                        chain);
  }
};
struct min_of : sum_of {
  template <class T>
  static constexpr T start = simd::highest_of<T>;
  template <class V>
  UMBEL_INLINE static constexpr V with(V chain, V next) noexcept {
    return simd::select(simd::either(simd::less(next, chain), simd::not_equal(next, next)), next,
                        chain);
  }
};

// x between two bounds, the upper one if they cross; NaN if one of the three is, as in torch.
template <class V>
UMBEL_INLINE constexpr V clamp_of(V x, V low, V high) noexcept {
  return min_of::with(max_of::with(x, low), high);
}

// y = positions of Reduced, read by read(at) and combined by Operation, for each of Kept.
template <class Operation, auto Kept, auto Reduced, class T, class Read>
constexpr void reduce_read(const Read& read, T* y) noexcept {
  constexpr std::size_t chains = Operation::chains;
  plain::each_offset<Kept>(0, [&](std::size_t from) {
    T chain[chains];
    for (T& c : chain) c = Operation::template start<T>;
    std::size_t e = 0;
    plain::each_offset<Reduced>(from, [&](std::size_t at) {
      chain[e] = Operation::with(chain[e], read(at));
      e = e + 1 == chains ? 0 : e + 1;
    });
    for (std::size_t half = chains / 2; half > 0; half /= 2) {
      for (std::size_t c = 0; c < half; ++c) chain[c] = Operation::with(chain[c], chain[c + half]);
    }
    *y++ = Operation::template finish<Reduced.count()>(chain[0]);
  });
}
// The gradient of products: y = d times the product of the other elements, so that zeros need no
// division. d: one for each of Kept.
template <auto Kept, auto Reduced, class T>
constexpr void products_of_others(const T* x, const T* d, T* y) noexcept {
  constexpr std::size_t count = Reduced.count();
  plain::each_offset<Kept>(0, [&](std::size_t from) {
    std::size_t at[count], e = 0;
    T before = 1, after = *d++;
    plain::each_offset<Reduced>(from, [&](std::size_t element) {
      at[e++] = element;
      y[element] = before;
      before *= x[element];
    });
    while (e-- > 0) {
      y[at[e]] *= after;
      after *= x[at[e]];
    }
  });
}
// y = the means of `count` elements each, Step apart, that begin side by side at x: sum_of,
// divided; 0 if count is 0.
template <std::size_t Means, std::size_t Step, class T>
constexpr void means_of_first(const T* x, std::size_t count, T* y) noexcept {
  for (std::size_t i = 0; i < Means; ++i) {
    T chain[sum_chains]{};
    for (std::size_t e = 0; e < count; ++e) chain[e % sum_chains] += x[e * Step + i];
    for (std::size_t half = sum_chains / 2; half > 0; half /= 2)
      for (std::size_t c = 0; c < half; ++c) chain[c] += chain[c + half];
    y[i] = count == 0 ? T{} : chain[0] / static_cast<T>(count);
  }
}
template <class Operation, auto Kept, auto Reduced, class T>
constexpr void reduce(const T* x, T* y) noexcept {
  plain::reduce_read<Operation, Kept, Reduced>([x](std::size_t at) { return x[at]; }, y);
}

}  // namespace plain
}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
