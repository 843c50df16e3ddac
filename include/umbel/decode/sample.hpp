// SPDX-License-Identifier: BSL-1.0
// The next token from the logits of a language model: the most likely one, or one drawn at random
// with a temperature, among the k most likely (Fan, Lewis and Dauphin 2018) or the fewest whose
// probabilities reach p (Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration").
//
//   static sampler<float, classes<256>> next{2026};        // the seed
//   penalize_repetition(logits, said, 1.1f);               // said: tensor<int, token<32>>
//   const std::size_t token = next(logits, {.temperature = 0.8f, .top_k = 40, .top_p = 0.95f});
//
// Random numbers come from a counter (simd/philox.hpp) and sums run in token order: logits and seed
// determine the tokens, with any compiler and vector width. Tokenizers are outside this library.
#pragma once

// clang-format off: all that this needs, in order; bare.hpp explains (test/layering.py --lists).
#include <umbel/config.hpp>
#include <umbel/shape/axis.hpp>
#include <umbel/shape/invalid.hpp>
#include <umbel/shape/verdict.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/layer/workspace.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/shape/layout.hpp>
#include <umbel/shape/algebra.hpp>
#include <umbel/shape/words.hpp>
#include <umbel/shape/rules.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/layer/parts.hpp>
#include <umbel/shape/axes.hpp>
#include <umbel/shape/computing_rules.hpp>
#include <umbel/shape/concepts.hpp>
#include <umbel/shape/memory_rules.hpp>
#include <umbel/tensor/calls_of_other_libraries.hpp>
#include <umbel/tensor/check.hpp>
#include <umbel/tensor/iterator.hpp>
#include <umbel/tensor/view.hpp>
#include <umbel/tensor/loop.hpp>
#include <umbel/tensor/elements.hpp>
#include <umbel/tensor/tensor.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/tensor/refusal.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/tensor/pipe.hpp>
#include <umbel/tensor/copy.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/decode/sample_rules.hpp>
#include <umbel/operation/reduce.hpp>
#include <umbel/operation/argmax.hpp>
// clang-format on

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <umbel/decode/sample_rules.hpp>
#include <umbel/operation/argmax.hpp>
#include <umbel/operation/reduce.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/philox.hpp>
#include <umbel/tensor/view.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// How a token is drawn. A value out of range counts as the nearest valid one.
struct sampling {
  // softmax temperature; <= 0 or NaN: the most likely token; infinity: the largest finite number
  float temperature = 1;
  std::size_t top_k = 0;  // draws among the k most likely; 0: among all
  float top_p = 1;        // among the fewest whose probabilities sum to p; 1 or NaN: among all
};

namespace detail {

template <class Layout>
constexpr std::size_t stride_of_row() {
  std::size_t stride = 1;
  for (std::size_t i = 0; i < Layout::rank; ++i)
    if (Layout::extents[i] != 1) stride = Layout::strides[i];
  return stride;
}

// An integer with the same order as the numbers, to find a threshold bit by bit. Not for NaN.
template <class T>
constexpr auto ordered_bits(T value) noexcept {
  using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr bits_of sign = bits_of{1} << (8 * sizeof(T) - 1);
  const auto bits = __builtin_bit_cast(bits_of, value + T{0});  // -0 is 0
  return static_cast<bits_of>(bits & sign ? ~bits : bits | sign);
}

// The largest threshold for which enough(threshold) holds. It must hold for 0 and be monotonic.
template <class Bits, class Enough>
constexpr Bits largest_threshold(const Enough& enough) noexcept {
  Bits found = 0;
  for (Bits bit = Bits{1} << (8 * sizeof(Bits) - 1); bit != 0; bit >>= 1)
    if (enough(static_cast<Bits>(found | bit))) found |= bit;
  return found;
}

}  // namespace detail

// The index of the largest logit, the first of equal ones; NaN is never the largest. npos if all
// are NaN. x: a tensor or view of numbers with one axis whose size is not 1.
template <class X>
[[nodiscard]] constexpr std::size_t argmax(const X& x) noexcept {
  using rule = detail::rules::row_of_logits<detail::say::argmax, X>;
  static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
  if constexpr (rule::ok && detail::tensor_like<X>)
    return detail::argmax_of_row(x.data(), detail::layout_of<X>::count,
                                 detail::stride_of_row<detail::layout_of<X>>());
  else
    return npos;
}
template <detail::traced X>
constexpr auto argmax(const X&) noexcept {
  using verdict = detail::in_its_line<detail::rules::axis_of_argmax<X>, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}
// Axes by number, with sizes, or several, are refused.
#define UMBEL_INSTEAD "expects one axis, by its name: argmax<key>(x)"
UMBEL_REFUSED_RESULT(argmax, UMBEL_INSTEAD)
UMBEL_REFUSES_NUMBERS_OF_TENSOR(argmax, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(argmax, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_OF_TENSOR(argmax, UMBEL_INSTEAD, UMBEL_TWO_NAMES)
UMBEL_REFUSES_NUMBERS_PIPED(argmax, UMBEL_INSTEAD)
UMBEL_REFUSES_PIPED(argmax, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_PIPED(argmax, UMBEL_INSTEAD, UMBEL_TWO_NAMES)
#undef UMBEL_INSTEAD

// Makes earlier tokens less likely: divides their logits by the penalty if positive and multiplies
// them otherwise, once per token (Keskar et al. 2019, "CTRL"). said: integers; those that aren't an
// index of the logits are skipped. penalty: 1 changes nothing.
template <class X, class Said>
constexpr void penalize_repetition(X&& logits, const Said& said, float penalty) noexcept {
  using word = detail::say::penalize_repetition;
  using rule = detail::first_error<typename detail::rules::logits_to_change_rule<word, X>::type,
                                   typename detail::rules::row_of_tokens_rule<word, Said>::type>;
  static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
  if constexpr (rule::ok && detail::tensor_like<X> && detail::tensor_like<Said>) {
    constexpr std::size_t stride = detail::stride_of_row<detail::layout_of<X>>(),
                          step = detail::stride_of_row<detail::layout_of<Said>>();
    const auto said_before = [&](std::size_t count, auto token) {
      for (std::size_t i = 0; i < count; ++i)
        if (said.data()[i * step] == token) return true;
      return false;
    };
    for (std::size_t i = 0; i < detail::layout_of<Said>::count; ++i) {
      const auto token = said.data()[i * step];
      if (token < 0 || static_cast<std::size_t>(token) >= detail::layout_of<X>::count ||
          said_before(i, token))
        continue;
      auto& logit = logits.data()[static_cast<std::size_t>(token) * stride];
      using T = std::remove_cvref_t<decltype(logit)>;
      logit = logit > T{0} ? logit / static_cast<T>(penalty) : logit * static_cast<T>(penalty);
    }
  }
}

// Draws tokens. T: float or double. Axis: the axis of the logits, classes<256>. It stores one
// number per token. A copy continues like the original.
template <class T, class Axis>
class sampler {
  static_assert(detail::reported<detail::rules::sampler_of<T, Axis>>::ok,
                "umbel: shapes do not fit");

 public:
  constexpr explicit sampler(std::uint64_t seed) noexcept : seed_(seed) {}
  // Of something else: refused.
  template <class... Given>
    requires(sizeof...(Given) != 0 &&
             !(sizeof...(Given) == 1 && (std::is_convertible_v<Given, std::uint64_t> && ...)))
  constexpr explicit sampler(const Given&...) noexcept : seed_(0) {
    static_assert(detail::report<detail::verdict<detail::never<Given...>, detail::say::sampler,
                                                 detail::say::is_made_of_a_seed>>::ok,
                  "umbel: shapes do not fit");
  }

  // The next token, an index of Axis. logits: a tensor or view along Axis, other axes of size 1. A
  // logit of NaN or -infinity is never drawn; if some are +infinity, one is. npos if none can be.
  template <class X>
  [[nodiscard]] constexpr std::size_t operator()(const X& logits,
                                                 const sampling& how = {}) noexcept {
    using rule = detail::rules::logits_of_sampler<X, T, Axis>;
    static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
    if constexpr (rule::ok && detail::tensor_like<X> && detail::rules::sampler_of<T, Axis>::ok) {
      constexpr std::size_t stride = detail::stride_of_row<detail::layout_of<X>>();
      const std::size_t best = argmax(logits);
      if (best == npos || logits.data()[best * stride] == -__builtin_huge_val()) return npos;
      if (!(how.temperature > 0)) return best;
      keep_most_likely<stride>(logits.data(), how.top_k);
      constexpr float largest = __FLT_MAX__;  // -infinity / infinity would be NaN
      const float temperature = how.temperature < largest ? how.temperature : largest;
      weigh<stride>(logits.data(), best, static_cast<T>(temperature));
      if (how.top_p < 1) keep_probable<stride>(logits.data(), static_cast<double>(how.top_p));
      return draw();
    } else {
      return npos;
    }
  }
  // Other arguments, or a const sampler: refused.
  template <class... Given>
  constexpr std::size_t operator()(const Given&...) const noexcept {
    using rule = typename detail::rules::other_calls_of_sampler_rule<Given...>::type;
    static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
    return npos;
  }

 private:
  static constexpr std::size_t tokens = detail::axis_or_none<Axis>::size;

  // Weights are 0 for dropped tokens and 1 for kept ones, then the numerators of the softmax.
  template <std::size_t Stride>
  constexpr void keep_most_likely(const T* logits, std::size_t count) noexcept {
    const auto bits = [&](std::size_t i) { return detail::ordered_bits(logits[i * Stride]); };
    const auto is_there = [&](std::size_t i) { return logits[i * Stride] == logits[i * Stride]; };
    using bits_of = decltype(bits(0));
    if (count == 0 || count > tokens) count = tokens;
    const auto at_least = [&](bits_of threshold) {
      std::size_t found = 0;
      for (std::size_t i = 0; i < tokens; ++i) found += is_there(i) && bits(i) >= threshold;
      return found;
    };
    const bits_of threshold =
        detail::largest_threshold<bits_of>([&](bits_of t) { return at_least(t) >= count; });
    // Of those equal to the last one, the first are kept.
    std::size_t equal = count;
    for (std::size_t i = 0; i < tokens; ++i) equal -= is_there(i) && bits(i) > threshold && equal;
    for (std::size_t i = 0; i < tokens; ++i) {
      const bool kept =
          is_there(i) && (bits(i) > threshold || (bits(i) == threshold && equal != 0));
      if (kept && bits(i) == threshold) --equal;
      weights_[i] = kept ? T{1} : T{0};
    }
  }
  template <std::size_t Stride>
  constexpr void weigh(const T* logits, std::size_t best, T temperature) noexcept {
    const T most = logits[best * Stride];
    for (std::size_t i = 0; i < tokens; ++i) {
      if (weights_[i] == 0) continue;
      const T below = logits[i * Stride] - most;  // NaN: both are infinite
      weights_[i] = below == below ? detail::simd::exp(below / temperature) : T{1};
    }
  }
  template <std::size_t Stride>
  constexpr void keep_probable(const T* logits, double probability) noexcept {
    const double wanted = probability * sum();
    const auto bits = [&](std::size_t i) { return detail::ordered_bits(logits[i * Stride]); };
    using bits_of = decltype(bits(0));
    const auto of_at_least = [&](bits_of threshold) {
      double together = 0;
      for (std::size_t i = 0; i < tokens; ++i)
        if (weights_[i] != 0 && bits(i) >= threshold) together += static_cast<double>(weights_[i]);
      return together;
    };
    const bits_of threshold = detail::largest_threshold<bits_of>([&](bits_of t) {
      const double together = of_at_least(t);
      return together > 0 && together >= wanted;
    });
    // Of those equal to the last one, the first ones needed are kept.
    double together = 0;
    for (std::size_t i = 0; i < tokens; ++i)
      if (weights_[i] != 0 && bits(i) > threshold) together += static_cast<double>(weights_[i]);
    for (std::size_t i = 0; i < tokens; ++i) {
      if (weights_[i] == 0 || bits(i) > threshold) continue;
      const bool needed = bits(i) == threshold && !(together > 0 && together >= wanted);
      if (needed)
        together += static_cast<double>(weights_[i]);
      else
        weights_[i] = 0;
    }
  }
  constexpr double sum() const noexcept {
    double together = 0;
    for (const T weight : weights_) together += static_cast<double>(weight);
    return together;
  }
  constexpr std::size_t draw() noexcept {
    std::uint32_t words[4] = {static_cast<std::uint32_t>(drawn_),
                              static_cast<std::uint32_t>(drawn_ >> 32), 0, 0};
    detail::simd::philox(words, seed_);
    ++drawn_;
    const std::uint64_t bits = std::uint64_t{words[0]} << 21 | words[1] >> 11;
    const double wanted = static_cast<double>(bits) * 0x1p-53 * sum();
    double together = 0;
    std::size_t last = npos;
    for (std::size_t i = 0; i < tokens; ++i) {
      if (weights_[i] == 0) continue;
      together += static_cast<double>(weights_[i]);
      last = i;
      if (together > wanted) break;
    }
    return last;
  }

  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
  T weights_[tokens]{};
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
