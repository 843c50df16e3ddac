// SPDX-License-Identifier: BSL-1.0
// Options of the norms of a block, and of queries and keys.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/options.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
// Option: which norm, norm_by<layer_norm> or norm_by<rms_norm>.
template <template <class, class, class...> class Norm>
struct norm_by {
  using kind = detail::option::norm_by;
  template <class T, class Axis, bool Bias>
  using norm = std::conditional_t<Bias, Norm<T, Axis>, Norm<T, Axis, bias<false>>>;
  static constexpr bool has_bias = true, needs_epsilon = false;
};

// Option: do the norms of a block have a beta? By default layer_norm has one, independently of
// bias<>, which is for the projections. PyTorch's bias=False is bias<false>, norm_bias<false>.
template <bool Value>
struct norm_bias {
  using kind = detail::option::norm_bias;
  static constexpr bool value = Value;
};

// Option: the epsilon of the norms, norm_epsilon<1, 1'000'000> for 1e-6. Both numbers have 64 bits
// on every target, so BERT's 1e-12 is norm_epsilon<1, 1'000'000'000'000>.
template <std::uint64_t Numerator, std::uint64_t Denominator>
struct norm_epsilon {
  using kind = detail::option::norm_epsilon;
  static constexpr std::uint64_t numerator = Numerator, denominator = Denominator;
  static constexpr double value =
      static_cast<double>(Numerator) / static_cast<double>(Denominator ? Denominator : 1);
};

// Option of attention: normalizes each head's row of queries and keys before rotary positions,
// query_key_norm<rms_norm> (Qwen3, Gemma 3) or query_key_norm<layer_norm> (ViT-22B). All query
// heads share one gamma with head_dim features, q_norm; all key heads share a second one, k_norm.
// norm_epsilon<> is its epsilon, in a block that of all norms; norm_bias<false>: no beta.
template <template <class, class, class...> class Norm>
struct query_key_norm : norm_by<Norm> {
  using kind = detail::option::query_key_norm;
  // Its options, and those of them that a block passes on.
  using kinds = detail::option_list<detail::option::norm_epsilon, detail::option::norm_bias>;
  using kinds_of_block = std::conditional_t<norm_by<Norm>::has_bias, kinds,
                                            detail::option_list<detail::option::norm_epsilon>>;
};

namespace detail {
struct no_query_key_norm {
  using kind = option::query_key_norm;
  using kinds = option_list<>;
  using kinds_of_block = option_list<>;
};

// Norm: the type of a norm. T: the type of its numbers.
template <class T, class Norm, class Epsilon>
struct norm_of_rows {
  using layer = Norm;
  using weights = typename Norm::weights;
  using weights_view = typename Norm::weights_view;
  template <class Stored>
  using packed_weights = typename Norm::template packed_weights<Stored>;
  static constexpr T epsilon = static_cast<T>(Epsilon::value);
};
template <class T>
struct norm_of_rows<T, void, void> {
  using layer = void;
  using weights = void;
  using weights_view = void;
  template <class Stored>
  using packed_weights = void;
};

// A norm along an axis with its options. Norm: norm_by<...> or similar.
template <class T, class Axis, class Norm, class... Options>
struct norm_with {
  using epsilon_option = option_or<option::norm_epsilon, norm_epsilon<1, 100'000>, Options...>;
  using type = typename Norm::template norm<
      T, Axis, option_or<option::norm_bias, norm_bias<true>, Options...>::value>;
  using of_rows = norm_of_rows<T, type, epsilon_option>;
  static constexpr T epsilon = static_cast<T>(epsilon_option::value);
  static constexpr bool bias_fits =
      Norm::has_bias || !(is_option_of<Options, option::norm_bias> || ...);
  static constexpr bool epsilon_is_said =
      !Norm::needs_epsilon || (is_option_of<Options, option::norm_epsilon> || ...);
};
template <class T, class Axis, class... Options>
struct norm_with<T, Axis, no_query_key_norm, Options...> {
  using of_rows = norm_of_rows<T, void, void>;
};

UMBEL_SAYS(norm_epsilon, "norm_epsilon");
UMBEL_SAYS(rms_norm_has_no_beta_so_leave_out_norm_bias,
           "rms_norm has no beta; leave out norm_bias");
UMBEL_SAYS(
    rms_norm_needs_the_epsilon_of_the_model_so_add_norm_epsilon,
    "rms_norm needs the epsilon of the trained model; add norm_epsilon<1, 1000000> for 1e-6");

namespace rules {
template <class Layer, class Norm>
struct norm_options_rule {
  using type =
      first_error<positive<Layer, say::norm_epsilon, typename Norm::epsilon_option>,
                  verdict<Norm::bias_fits, Layer, say::rms_norm_has_no_beta_so_leave_out_norm_bias>,
                  verdict<Norm::epsilon_is_said, Layer,
                          say::rms_norm_needs_the_epsilon_of_the_model_so_add_norm_epsilon>>;
};
template <class Layer, class T, class Axis, class... Options>
struct norm_options_rule<Layer, norm_with<T, Axis, no_query_key_norm, Options...>> {
  using type = accepted;
};
template <class Layer, class Norm>
using norm_options = typename norm_options_rule<Layer, Norm>::type;
}  // namespace rules
}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
