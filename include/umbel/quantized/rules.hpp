// SPDX-License-Identifier: BSL-1.0
// Rules of layers in integers: their layer types, weights, ranges and arguments.
//
// See ranges.hpp, convert.hpp, mean.hpp and past.hpp for the rules of one operation.
#pragma once

#include <umbel/block/part_names.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/integer_shapes.hpp>
#include <umbel/layer/prepacked.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/mask/base.hpp>
#include <umbel/quantized/histogram.hpp>
#include <umbel/quantized/ranges.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace say {
struct quantized;
}  // namespace say

UMBEL_SAYS(but_8_bit_integers_are_needed_so_convert_floats_with_quantize_int8_of_x_and_a_range,
           "but 8-bit integers are needed; convert floats with quantize<std::int8_t>(x, range)");
UMBEL_SAYS(but_16_bit_integers_are_needed_so_convert_floats_with_quantize_int16_of_x_and_a_range,
           "but 16-bit integers are needed; convert floats with quantize<std::int16_t>(x, range)");
UMBEL_SAYS(is_too_long_for_a_norm_in_integers, "is too long for a norm in integers;");
UMBEL_SAYS(is_the_maximum, "is the maximum");
UMBEL_SAYS(lets_a_sum_of_8_bit_products_exceed_2_to_the_31,
           "lets a sum of 8-bit products exceed 2^31;");
UMBEL_SAYS(calibrate_expects_the_ranges_of_this_layer_its_weights_and_then_its_arguments,
           "calibrate expects the ranges of this layer, its weights, and then its arguments");
UMBEL_SAYS(calibrate_expects_the_ranges_of_this_norm_its_weights_x_and_the_epsilon,
           "calibrate expects the ranges of this norm, its weights, x, and the epsilon");
UMBEL_SAYS(calibrate_expects_its_ranges_then_its_arguments,
           "calibrate expects its ranges, then its arguments");
UMBEL_SAYS(expects_only_its_ranges_which_calibrate_makes,
           "expects only its ranges, which calibrate makes");
UMBEL_SAYS(expects_the_ranges_of_this_layer_quantized_layer_ranges_not,
           "expects the ranges of this layer, quantized<layer>::ranges, not");
UMBEL_SAYS(expects_weights_then_their_ranges_which_calibrate_makes,
           "expects weights, then their ranges, quantized<layer>::ranges, which calibrate makes");
UMBEL_SAYS(expects_weights_then_their_ranges_then_an_epsilon,
           "expects weights, then their ranges, then an epsilon");

namespace integers {

// A call for footprint, with arguments X...: Shapes, the verdict on them, then that of Steps<X...>,
// which also has the call's scratch, result, value, flops and tables.
template <class Shapes, template <class...> class Steps, class... X>
struct call_if {
  using verdict = Shapes;
};
template <template <class...> class Steps, class... X>
struct call_if<accepted, Steps, X...> {
  using steps = Steps<X...>;
  using verdict = typename steps::verdict;
};

template <class Layer, class Ranges, class... Given>
inline constexpr bool can_be_packed_from = false;
template <class Layer, class Ranges, class Weights>
inline constexpr bool can_be_packed_from<Layer, Ranges, Weights, Ranges> =
    std::is_convertible_v<const Weights&, in_any_order<typename Layer::weights_view>> &&
    !needs_epsilon<Layer>;
template <takes_epsilon Layer, class Ranges, class Weights, class Epsilon>
inline constexpr bool can_be_packed_from<Layer, Ranges, Weights, Ranges, Epsilon> =
    std::is_convertible_v<const Weights&, typename Layer::weights_view> &&
    std::is_arithmetic_v<Epsilon>;

}  // namespace integers

namespace rules {

// The sum over an axis of this many products stays within 32 bits.
template <class Axis, std::size_t Most>
using sums_fit = verdict<Axis::size <= Most, say::quantized, typename Axis::plain,
                         say::lets_a_sum_of_8_bit_products_exceed_2_to_the_31, number<Most>,
                         say::is_the_maximum>;
template <class Axis>
using inputs_fit = sums_fit<Axis, kernel::most_input_products>;
// The context of all heads, the input of the last map of attention.
template <std::size_t Heads, std::size_t Width>
using heads_fit = verdict<Heads <= kernel::most_input_products / kernel::in_words(Width),
                          say::quantized, shape<axes::heads<Heads>, axes::value_dim<Width>>,
                          say::lets_a_sum_of_8_bit_products_exceed_2_to_the_31,
                          number<kernel::most_input_products>, say::is_the_maximum>;
template <class Axis>
using norm_fits = verdict<Axis::size <= kernel::longest_integer_norm, say::quantized,
                          typename Axis::plain, say::is_too_long_for_a_norm_in_integers,
                          number<kernel::longest_integer_norm>, say::is_the_maximum>;
// X holds T: std::int8_t or std::int16_t.
template <class X, class T>
using holds_these_integers = first_error<
    verdict<!traced<X>, say::formula, say::quantized,
            say::cannot_be_used_in_formulas_so_write_out_its_operations>,
    verdict<
        std::is_same_v<typename X::value_type, T>, say::quantized, say::the_input_has_type,
        element<typename X::value_type>,
        std::conditional_t<
            sizeof(T) == 1,
            say::
                but_8_bit_integers_are_needed_so_convert_floats_with_quantize_int8_of_x_and_a_range,
            say::
                but_16_bit_integers_are_needed_so_convert_floats_with_quantize_int16_of_x_and_a_range>>>;
template <class X, class T, class Axis>
using rows_of_integers =
    first_error<holds_these_integers<X, T>, rows_of<say::quantized, X, T, Axis>>;

// Ranges of blocks are named like their parts and have no separate names.
template <class Given>
struct word_of_ranges {
  using type = type_of_given<Given>;
};
template <portable::has_members_by_name Given>
  requires std::is_same_v<std::tuple_element_t<0, Given>, detail::integers::range>
struct word_of_ranges<Given> {
  using type = struct those_of_another_layer;
};
template <class Layer, class Ranges, class... Given>
struct packed_from_rule {
  using type =
      verdict<never<Layer>, say::quantized,
              std::conditional_t<takes_epsilon<Layer>,
                                 say::expects_weights_then_their_ranges_then_an_epsilon,
                                 say::expects_weights_then_their_ranges_which_calibrate_makes>>;
};
template <class Layer, class Ranges, class Weights, class... Others>
  requires(sizeof...(Others) < 2 && !std::is_same_v<Weights, Ranges> &&
           !std::is_convertible_v<const Weights&, in_any_order<typename Layer::weights_view>>)
struct packed_from_rule<Layer, Ranges, Weights, Others...>
    : weights_rule<typename Layer::word, typename Layer::weights_view, Weights> {};
template <class Layer, class Ranges, class Weights, class Other>
  requires(std::is_convertible_v<const Weights&, in_any_order<typename Layer::weights_view>> &&
           !std::is_same_v<Other, Ranges>)
struct packed_from_rule<Layer, Ranges, Weights, Other> {
  using type = verdict<never<Layer>, say::quantized,
                       say::expects_the_ranges_of_this_layer_quantized_layer_ranges_not,
                       typename word_of_ranges<Other>::type>;
};

template <class Layer, class Ranges, class... Given>
struct observed_with_rule {
  using type = verdict<
      never<Layer>, say::quantized,
      std::conditional_t<
          takes_epsilon<Layer>,
          say::calibrate_expects_the_ranges_of_this_norm_its_weights_x_and_the_epsilon,
          say::calibrate_expects_the_ranges_of_this_layer_its_weights_and_then_its_arguments>>;
};
template <class Layer, class Ranges, class Weights, class... Others>
  requires(!std::is_convertible_v<const Weights&, typename Layer::weights_view>)
struct observed_with_rule<Layer, Ranges, Ranges, Weights, Others...>
    : weights_rule<typename Layer::word, typename Layer::weights_view, Weights> {};

}  // namespace rules

namespace integers {

template <class Own>
inline constexpr bool masks_the_sequence = requires(const Own& own) { own.mask; };
// Arguments of calibrate after the input: a norm's epsilon, keys and values, masks, an offset.
template <class Layer, class... Others>
constexpr bool follow_the_input() noexcept {
  if constexpr (takes_epsilon<Layer>)
    return sizeof...(Others) == 1 && (std::is_arithmetic_v<Others> && ...);
  else
    return ((mask_like<Others> || masks_the_sequence<Others> || std::is_integral_v<Others>) && ...);
}

// Can Layer be observed with these arguments? Given: forwarding references' types.
template <class Layer, class Numbers, class... Given>
inline constexpr bool can_be_observed = false;
template <class Layer, class Numbers, class Seen, class Weights, class X, class... Others>
inline constexpr bool can_be_observed<Layer, Numbers, Seen&, Weights, X, Others...> =
    seen_by<Seen, Numbers> && std::is_convertible_v<Weights, typename Layer::weights_view> &&
    tensor_like<std::remove_cvref_t<X>> &&
    follow_the_input<Layer, std::remove_cvref_t<Others>...>();

// Base of layers in integers that have weights: packing, observation and their refusals. Numbers:
// the packed numbers, with ranges, histograms and pack_seen(w, seen, more...) for ranges that were
// all observed. More: an epsilon. Layers inherit its constructors and calibrate.
template <class Layer, class Numbers, class... More>
class made_of_weights;
template <class Base, class Layer, class... Given>
inline constexpr bool is_refused =
    sizeof...(Given) != 0 && !can_be_packed_from<Layer, typename Base::ranges, Given...>;
template <class Base, class Layer, class Given>
inline constexpr bool is_refused<Base, Layer, Given> = !std::is_base_of_v<Base, Given>;
template <class Layer, class Numbers, class... More>
class made_of_weights {
 public:
  using layer = Layer;
  using numbers = Numbers;
  using ranges = typename Numbers::ranges;
  using histograms = typename Numbers::histograms;
  using weights_to_pack = in_any_order<typename Layer::weights_view>;

  constexpr made_of_weights() noexcept = default;
  constexpr made_of_weights(const weights_to_pack& w, const ranges& seen, More... more) noexcept {
    static_cast<void>(pack(w, seen, more...));
  }
  // Weights that may end with the statement: they are copied.
  template <class Weights>
    requires(std::is_same_v<Weights, typename Layer::weights> && sizeof...(More) == 0)
  constexpr made_of_weights(const Weights& w, const ranges& seen) noexcept {
    static_cast<void>(pack(w, seen));
  }
  template <class... Given>
    requires is_refused<made_of_weights, Layer, Given...>
  constexpr explicit(sizeof...(Given) == 1) made_of_weights(const Given&...) noexcept {
    static_assert(report<typename rules::packed_from_rule<Layer, ranges, Given...>::type>::ok,
                  "umbel: shapes do not fit");
  }
  // Changes nothing if a range is missing; the result names it.
  constexpr pack_result pack(const weights_to_pack& w, const ranges& seen, More... more) noexcept {
    if (const auto found = all_seen(seen, static_cast<float>(more)...); !found) return found;
    numbers_.pack_seen(w, seen, more...);
    return {};
  }
  template <class... Given>
    requires(!can_be_packed_from<Layer, ranges, Given...>)
  constexpr pack_result pack(const Given&...) noexcept {
    static_assert(report<typename rules::packed_from_rule<Layer, ranges, Given...>::type>::ok,
                  "umbel: shapes do not fit");
    return {};
  }
  template <class... Given>
    requires(!can_be_observed<Layer, Numbers, Given...>)
  static constexpr invalid calibrate(Given&&...) noexcept {
    using verdict =
        typename rules::observed_with_rule<Layer, ranges, std::remove_cvref_t<Given>...>::type;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    return {};
  }
  // The packed numbers, in the kernels' layout.
  [[nodiscard]] constexpr const Numbers& get_weights() const noexcept { return numbers_; }

 private:
  Numbers numbers_;
};

// The same for layers without weights. Word: its name in sentences.
template <class Word, class Numbers>
class made_of_ranges;
template <class Base, class... Given>
inline constexpr bool are_no_ranges = sizeof...(Given) != 0;
template <class Base, class Given>
inline constexpr bool are_no_ranges<Base, Given> =
    !std::is_same_v<Given, typename Base::ranges> && !std::is_base_of_v<Base, Given>;
template <class Numbers, class... Given>
inline constexpr bool can_be_observed_alone = false;
// More: an offset, or lengths, which only a mean has.
template <class Numbers, class Seen, class X, class... More>
inline constexpr bool can_be_observed_alone<Numbers, Seen&, X, More...> =
    seen_by<Seen, Numbers> && tensor_like<std::remove_cvref_t<X>> &&
    ((std::is_convertible_v<More, std::size_t> || (requires {
        Numbers::has_lengths;
      } && tensor_like<std::remove_cvref_t<More>>)) && ...);
template <class Word, class Numbers>
class made_of_ranges {
 public:
  using ranges = typename Numbers::ranges;
  using histograms = typename Numbers::histograms;

  constexpr made_of_ranges() noexcept = default;
  constexpr explicit made_of_ranges(const ranges& seen) noexcept { static_cast<void>(pack(seen)); }
  template <class... Given>
    requires are_no_ranges<made_of_ranges, Given...>
  constexpr explicit(sizeof...(Given) == 1) made_of_ranges(const Given&...) noexcept {
    static_assert(report<verdict<(one_is_invalid<Given> || ...), Word,
                                 say::expects_only_its_ranges_which_calibrate_makes>>::ok,
                  "umbel: shapes do not fit");
  }
  // Changes nothing if a range is missing; the result names it.
  constexpr pack_result pack(const ranges& seen) noexcept {
    if (const auto found = all_seen(seen); !found) return found;
    numbers_.pack_seen(seen);
    return {};
  }
  template <class... Given>
    requires(sizeof...(Given) != 1 || are_no_ranges<made_of_ranges, Given...>)
  constexpr pack_result pack(const Given&...) noexcept {
    static_assert(report<verdict<(one_is_invalid<Given> || ...), Word,
                                 say::expects_only_its_ranges_which_calibrate_makes>>::ok,
                  "umbel: shapes do not fit");
    return {};
  }
  template <class... Given>
    requires(!can_be_observed_alone<Numbers, Given...>)
  static constexpr invalid calibrate(Given&&...) noexcept {
    static_assert(report<verdict<(one_is_invalid<Given> || ...), Word,
                                 say::calibrate_expects_its_ranges_then_its_arguments>>::ok,
                  "umbel: shapes do not fit");
    return {};
  }

 protected:
  Numbers numbers_;
};

}  // namespace integers
}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
