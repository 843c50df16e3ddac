// SPDX-License-Identifier: BSL-1.0
// Options of the scores, and of a query that sees no key:
//
//   score_scale<1, 8>            scores are q k^T / 8; default q k^T / sqrt(head_dim)
//   softcap<50>                  50 tanh(score / 50) (Gemma 2, 2024; ONNX Attention), before any
//                                mask and bias
//   empty_rows<uniform_weights>  a query that sees no key returns the mean of all values, like a
//                                large negative fill ("Dive into Deep Learning", Haiku); default
//                                zeros
//
// Masks add to scores and hide keys (mask/combine.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/simd/math.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// Option: scores are q k^T times Numerator / Denominator, instead of 1 / sqrt(head_dim). Both
// have 64 bits on every target: 1 / sqrt(96) is score_scale<102'062'073, 1'000'000'000>.
template <std::uint64_t Numerator, std::uint64_t Denominator = 1>
struct score_scale {
  using kind = detail::option::score_scale;
  static constexpr std::uint64_t numerator = Numerator, denominator = Denominator;
};
// Option: scores become cap tanh(score / cap), cap = Numerator / Denominator, before any mask.
template <std::uint64_t Numerator, std::uint64_t Denominator = 1>
struct softcap {
  using kind = detail::option::softcap;
  static constexpr std::uint64_t numerator = Numerator, denominator = Denominator;
};

// empty_rows<zero_weights>, the default: a query that sees no key returns zeros.
struct zero_weights {};
// empty_rows<uniform_weights>: a query that sees no key returns the mean of all values.
struct uniform_weights {};
// Option: the result of a query that sees no key.
template <class What>
struct empty_rows {
  using kind = detail::option::empty_rows;
  using what = What;
};
namespace detail {
struct default_scale {
  using kind = option::score_scale;
  static constexpr std::uint64_t numerator = 0, denominator = 0;
};
struct no_softcap {
  using kind = option::softcap;
  static constexpr std::uint64_t numerator = 0, denominator = 0;
};

namespace say {
struct softcap;
}  // namespace say

UMBEL_SAYS(score_scale, "score_scale");
UMBEL_SAYS(empty_rows_must_be_zero_weights_or_uniform_weights_not,
           "empty_rows must be zero_weights or uniform_weights, not");

namespace rules {
template <class Layer, class Option>
struct given_number {
  using type = accepted;
};
template <class Layer, std::uint64_t N, std::uint64_t D>
struct given_number<Layer, umbel::score_scale<N, D>> {
  using type = positive<Layer, say::score_scale, umbel::score_scale<N, D>>;
};
template <class Layer, std::uint64_t N, std::uint64_t D>
struct given_number<Layer, umbel::softcap<N, D>> {
  using type = positive<Layer, say::softcap, umbel::softcap<N, D>>;
};
template <class What>
inline constexpr bool fills_rows =
    std::is_same_v<What, zero_weights> || std::is_same_v<What, uniform_weights>;
template <class Layer, class Scoring>
using scoring = first_error<typename given_number<Layer, typename Scoring::scale_option>::type,
                            typename given_number<Layer, typename Scoring::softcap_option>::type,
                            verdict<fills_rows<typename Scoring::empty>, Layer,
                                    say::empty_rows_must_be_zero_weights_or_uniform_weights_not,
                                    element<typename Scoring::empty>>>;
}  // namespace rules

template <class... Options>
struct scoring {
  using scale_option = option_or<option::score_scale, default_scale, Options...>;
  using softcap_option = option_or<option::softcap, no_softcap, Options...>;
  using empty = typename option_or<option::empty_rows, empty_rows<zero_weights>, Options...>::what;

  template <class Option>
  static constexpr double value_of =
      static_cast<double>(Option::numerator) /
      static_cast<double>(Option::denominator ? Option::denominator : 1);

  template <class T>
  static constexpr T scale(std::size_t head_dim) noexcept {
    if constexpr (std::is_same_v<scale_option, default_scale>)
      return static_cast<T>(1 / simd::sqrt(static_cast<double>(head_dim)));
    else
      return static_cast<T>(value_of<scale_option>);
  }

  static constexpr bool only_scales =
      std::is_same_v<softcap_option, no_softcap> && std::is_same_v<empty, zero_weights>;

  // The policy of a mask with the options applied before it.
  template <class T, class Policy>
  static constexpr auto with(const Policy& mask) noexcept {
    if constexpr (std::is_same_v<softcap_option, no_softcap>) {
      return mask;
    } else {
      constexpr kernel::scores::softcap<T> cap{static_cast<T>(value_of<softcap_option>)};
      if constexpr (std::is_same_v<Policy, kernel::scores::every_key>)
        return cap;
      else
        return kernel::scores::all_of(cap, mask);
    }
  }
};

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
