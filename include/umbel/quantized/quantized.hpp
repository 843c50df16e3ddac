// SPDX-License-Identifier: BSL-1.0
// quantized<layer>: a float layer computed only in integers, 8 bits by 8 bits into 32, with the
// same bits on every target. See docs/integers.md.
//
//   using block = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, ...>;
//   quantized<block>::ranges seen{};
//   for (auto& x : samples)  // the float layer, whose result is the next one's input
//     std::ignore = quantized<block>::calibrate(seen, weights, x);
//   constexpr quantized<block> layer{weights, seen};    // packed by the compiler, or at run time
//   const auto y = layer(x);                            // tensor<std::int16_t, ...> to the same
//
// See linear.hpp, attention.hpp and others for the layers, and pack.hpp and
// kernel/plain/integers.hpp (which defines every bit) for numbers and bounds.
#pragma once

#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/quantized/histogram.hpp>
#include <umbel/quantized/ranges.hpp>
#include <umbel/tensor/other_calls.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace option {
struct output_as;
struct softmax_as;
}  // namespace option
namespace say {
struct output_as;
struct quantized;
}  // namespace say
UMBEL_SAYS(the_result_must_be_int8_t_or_int16_t_not,
           "the result must be std::int8_t or std::int16_t, not");
UMBEL_SAYS(attention_weights_must_be_int8_t_or_int16_t_not,
           "attention weights must be std::int8_t or std::int16_t, not");
}  // namespace detail

// Option of quantized<linear<...>> and quantized<multi_head_attention<...>>: the type of the
// result, output_as<std::int16_t> for a residual sum. Default: std::int8_t.
template <class T>
struct output_as {
  using kind = detail::option::output_as;
  using type = T;
};

// Option of quantized<...> of attention, blocks and stacks of them: the number of bits of the
// weights of attention. softmax_as<std::int16_t> keeps weights down to 2^-15 of the largest of a
// row, the default down to 2^-8: use it for rows of hundreds of keys that a few don't dominate. Its
// products of weights and values aren't 8-bit products: see docs/integers.md for the cost.
template <class T>
struct softmax_as {
  using kind = detail::option::softmax_as;
  using type = T;
};

namespace detail::integers {
template <class... Options>
using softmax_of =
    typename option_or<option::softmax_as, softmax_as<std::int8_t>, Options...>::type;
}  // namespace detail::integers

namespace detail::rules {
template <>
inline constexpr bool never_in_formulas<say::quantized> = true;

template <class T>
inline constexpr bool is_integer_result =
    std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::int16_t>;
// Operation: its name in sentences.
template <class T, class Operation = say::quantized>
using integer_result = verdict<is_integer_result<T>, Operation,
                               say::the_result_must_be_int8_t_or_int16_t_not, element<T>>;
template <class T>
using integer_softmax = verdict<is_integer_result<T>, say::quantized,
                                say::attention_weights_must_be_int8_t_or_int16_t_not, element<T>>;
template <class Layer>
struct word_of_layer {
  using type = type_of_given<Layer>;
};
template <class Layer>
  requires requires { typename Layer::word; }
struct word_of_layer<Layer> {
  using type = typename Layer::word;
};
// Layers with an integer form have no options here.
template <class Layer, class... Options>
struct has_integers_rule {
  using type = verdict<never<Layer>, say::quantized, typename word_of_layer<Layer>::type,
                       struct cannot_be_quantized>;
};
}  // namespace detail::rules

// A layer in integers, which owns its weights, packed for the kernels of this target. Layer: a
// linear, multi_head_attention, feed_forward, layer_norm, rms_norm, encoder_layer, decoder_layer,
// residual_block, layer_stack of them, embedding, learned_positions, sinusoidal_positions.
//   ranges                     the ranges of its tensors, by name
//   histograms                 the same for percentiles (histogram.hpp)
//   calibrate(seen, w, x, ...)   the result of the float layer, which widens `seen`
//   quantized(w, ranges)       packs; a missing range is a compile error, or leaves all numbers 0
//   pack(w, ranges)            the same, and names the missing range
//   (x, ...), into(out, x, ...)
// A key_value_cache accepts those with attention like float layers.
template <class Layer, class... Options>
class quantized;

namespace detail::rules {
template <class Layer, class First, class... Options>
struct has_integers_rule<Layer, First, Options...> {
  // Without an integer form, quantized<Layer> reports the error.
  using type =
      std::conditional_t<std::is_base_of_v<invalid, quantized<Layer>>, accepted,
                         rules::options<say::quantized, option_kinds<>, First, Options...>>;
};
}  // namespace detail::rules
template <class Layer, class... Options>
class quantized : public detail::invalid {
  static_assert(
      detail::reported<typename detail::rules::has_integers_rule<Layer, Options...>::type>::ok,
      "umbel: shapes do not fit");

 public:
  // For uses of the refused type: no second error.
  using ranges = detail::invalid;
  using histograms = detail::invalid;
  constexpr quantized() noexcept = default;
  template <class... Given>
    requires(sizeof...(Given) > 1)
  constexpr quantized(const Given&...) noexcept {}
  template <std::size_t>
  using input_type = std::int8_t;
  template <std::size_t>
  using output_type = std::int8_t;
  template <std::size_t>
  static constexpr float input_range(const auto&...) noexcept {
    return 1;
  }
  template <std::size_t = 0>
  static constexpr float output_range(const auto&...) noexcept {
    return 1;
  }
  static constexpr detail::invalid calibrate(const auto&...) noexcept { return {}; }
  static constexpr detail::invalid pack(const auto&...) noexcept { return {}; }
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
