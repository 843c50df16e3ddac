// SPDX-License-Identifier: BSL-1.0
// Options of a layer: types after its axes, in any order, each kind at most once.
//
//   multi_head_attention<float, hidden<100>, heads<5>, bias<true>>
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
// The kinds of options: the member `kind` of an option type, the family of an axis (head_dim<64>).
namespace option {
struct bias;
struct keys_from;
struct values_from;
struct output_to;
struct query_key_norm;
struct rope;
struct score_scale;
struct softcap;
struct empty_rows;
struct norm_first;
struct norm_by;
struct norm_epsilon;
struct activation;
struct gated;
struct feed_forward_bias;
struct norm_bias;
struct nothing;
}  // namespace option
}  // namespace detail

// Option of attention, linear, feed_forward and blocks: bias<true>: all projections add a bias;
// bias<false>: none does. Attention and linear have none by default, as in "Dive into Deep
// Learning" (not in PyTorch and Haiku); the others have no default.
//
// Option of layer_norm: bias<true>: it has a beta, the default; bias<false>: only a gamma.
template <bool All>
struct bias {
  using kind = detail::option::bias;
  static constexpr bool value = All;
  static constexpr bool q = All, k = All, v = All, o = All;
};
// Option: bias_on<'q', 'k', 'v'>: only these projections, named like their weights, add a bias.
template <char... Projection>
struct bias_on {
  using kind = detail::option::bias;
  static constexpr bool q = ((Projection == 'q') || ...), k = ((Projection == 'k') || ...),
                        v = ((Projection == 'v') || ...), o = ((Projection == 'o') || ...);
  static constexpr bool known =
      ((Projection == 'q' || Projection == 'k' || Projection == 'v' || Projection == 'o') && ...);
};

// Option: keys_from<hidden<64>>, the width of the keys if it differs from the queries'.
template <class Hidden>
struct keys_from {
  using kind = detail::option::keys_from;
  using axis = typename Hidden::plain;
};
// Option: values_from<hidden<64>>, the width of the values if it differs from the queries'.
template <class Hidden>
struct values_from {
  using kind = detail::option::values_from;
  using axis = typename Hidden::plain;
};
// Option: output_to<hidden<80>>, the width of the result if it differs from the queries'.
template <class Hidden>
struct output_to {
  using kind = detail::option::output_to;
  using axis = typename Hidden::plain;
};

namespace detail {
template <class Option>
struct kind_of {
  using type = void;
};
template <class Option>
  requires requires { typename Option::kind; }
struct kind_of<Option> {
  using type = typename Option::kind;
};
template <class Option>
  requires axis_like<Option>
struct kind_of<Option> {
  using type = typename Option::family;
};
template <class Option, class Kind>
inline constexpr bool is_option_of = std::is_same_v<typename kind_of<Option>::type, Kind>;

template <class Kind, class Default, class... Options>
struct choose_option {
  using type = Default;
};
template <class Kind, class Default, class First, class... Rest>
struct choose_option<Kind, Default, First, Rest...> {
  using type = typename std::conditional_t<is_option_of<First, Kind>, std::type_identity<First>,
                                           choose_option<Kind, Default, Rest...>>::type;
};

// Stands for an axis that was forgotten.
struct nothing {
  using kind = option::nothing;
};

// The options of some kinds, the first of each: those that a layer passes to its parts.
template <class... Options>
struct option_list {};
template <class Kinds, class Kept, class... Options>
struct pick_options {
  using type = Kept;
};
template <class... Kinds, class... Kept, class First, class... Rest>
struct pick_options<option_list<Kinds...>, option_list<Kept...>, First, Rest...> {
  using kind = typename kind_of<First>::type;
  static constexpr bool keeps =
      (is_option_of<First, Kinds> || ...) && !(is_option_of<Kept, kind> || ...);
  using type = typename pick_options<
      option_list<Kinds...>,
      std::conditional_t<keeps, option_list<Kept..., First>, option_list<Kept...>>, Rest...>::type;
};

// Adds kinds to a list, an option_list or similar.
template <template <class...> class List, class... Kinds, class... More>
List<Kinds..., More...> and_kinds(List<Kinds...>, option_list<More...>);

template <class Kind, class Default, class... Options>
using option_or = typename detail::choose_option<Kind, Default, Options...>::type;

template <class... Kinds>
struct option_kinds {};

namespace say {
struct is_given_twice;
// Lists of words: the options that are required; those of another library's layer.
template <class... Choices>
struct specify;
template <class... Options>
struct options_are;
}  // namespace say

// A sentence shows an option as the name of its kind, norm_first, and anything else as it is.
template <class Option>
  requires requires { typename Option::kind; }
struct speak<Option> {
  static constexpr void to(sentence_buffer& out) { put_name<typename Option::kind>(out, '_'); }
};
template <class Option>
struct word_for_option {
  using type = element<Option>;
};
template <class Option>
  requires requires { typename Option::kind; }
struct word_for_option<Option> {
  using type = Option;
};
// A layer instead of an option.
template <class Option>
  requires(
      !requires { typename Option::kind; } && requires { typename Option::word; })
struct word_for_option<Option> {
  using type = typename Option::word;
};
template <axis_like Option>
struct word_for_option<Option> {
  using type = Option;
};
template <class Option>
using option_word = typename word_for_option<Option>::type;

UMBEL_SAYS(bias_on_accepts_only_the_letters_q_k_v_and_o,
           "bias_on accepts only the letters q, k, v and o");
UMBEL_SAYS(accepts_bias_true_or_false_not_bias_on,
           "accepts bias<true> or bias<false>, not bias_on");
UMBEL_SAYS(activation_relu, "activation<relu>");
UMBEL_SAYS(activation_relu_or_another, "activation<relu> or another");
UMBEL_SAYS(activation_silu, "activation<silu>");
UMBEL_SAYS(bias_false, "bias<false>");
UMBEL_SAYS(bias_true, "bias<true>");
UMBEL_SAYS(bias_true_or_false, "bias<true> or bias<false>");
UMBEL_SAYS(norm_first_false, "norm_first<false>");
UMBEL_SAYS(norm_first_true, "norm_first<true>");
UMBEL_SAYS(norm_first_true_or_false, "norm_first<true> or norm_first<false>");
template <class... Words>
constexpr void put_list(sentence_buffer& out) {
  std::size_t position = 0;
  ((out.put(position++ ? ", " : ""), speak<Words>::to(out)), ...);
}
template <class... Choices>
struct speak<say::specify<Choices...>> {
  static constexpr void to(sentence_buffer& out) {
    out.put("specify ");
    put_list<Choices...>(out);
    out.put(';');
  }
};
template <class... Options>
struct speak<say::options_are<Options...>> {
  static constexpr void to(sentence_buffer& out) { put_list<Options...>(out); }
};

namespace rules {

template <class Layer, class Kinds, class... Options>
struct options_rule;
template <class Layer, class... Kinds, class... Options>
struct options_rule<Layer, option_kinds<Kinds...>, Options...> {
  template <class Option>
  static constexpr bool known = (detail::is_option_of<Option, Kinds> || ...);
  template <class Option>
  static constexpr std::size_t of_its_kind =
      (std::size_t{0} + ... +
       detail::is_option_of<Options, typename detail::kind_of<Option>::type>);
  using type = first_error<verdict<known<Options>, Layer, detail::option_word<Options>,
                                   struct is_not_one_of_its_options>...,
                           verdict<of_its_kind<Options> == 1, Layer, detail::option_word<Options>,
                                   say::is_given_twice>...,
                           accepted>;
};

// Layer: its name in sentences.
template <class Layer, class Kinds, class... Options>
using options = typename options_rule<Layer, Kinds, Options...>::type;

// bias_on<> names existing projections.
template <class Bias>
inline constexpr bool names_projections = true;
template <class Bias>
  requires requires { Bias::known; }
inline constexpr bool names_projections<Bias> = Bias::known;
template <class Layer, class Bias>
using projections_with_bias =
    verdict<names_projections<Bias>, Layer, say::bias_on_accepts_only_the_letters_q_k_v_and_o>;

// bias<>, not bias_on<>, which is only for the projections of attention.
template <class Bias>
inline constexpr bool is_one_bias = requires { Bias::value; };
template <class Layer, class... Options>
using one_bias = verdict<is_one_bias<option_or<option::bias, bias<false>, Options...>>, Layer,
                         say::accepts_bias_true_or_false_not_bias_on>;

// An option without a default. Choice: the words for the choices; Usual: for what others have.
template <bool IsSaid, class Choice, class Usual>
struct option_to_say {};
template <class Layer, class Others, class Choices, class Usuals, class... ToSay>
struct options_said_rule;
template <class Layer, class Others, class Usuals>
struct options_said_rule<Layer, Others, say::specify<>, Usuals> {
  using type = accepted;
};
template <class Layer, class Others, class... Choices, class Usuals>
struct options_said_rule<Layer, Others, say::specify<Choices...>, Usuals> {
  using type = verdict<false, Layer, say::specify<Choices...>, Others, Usuals>;
};
template <class Layer, class Others, class Choices, class Usuals, class Choice, class Usual,
          class... Rest>
struct options_said_rule<Layer, Others, Choices, Usuals, option_to_say<true, Choice, Usual>,
                         Rest...> : options_said_rule<Layer, Others, Choices, Usuals, Rest...> {};
template <class Layer, class Others, class... Choices, class... Usuals, class Choice, class Usual,
          class... Rest>
struct options_said_rule<Layer, Others, say::specify<Choices...>, say::options_are<Usuals...>,
                         option_to_say<false, Choice, Usual>, Rest...>
    : options_said_rule<Layer, Others, say::specify<Choices..., Choice>,
                        say::options_are<Usuals..., Usual>, Rest...> {};
// Others: the words for who has Usual. One sentence lists all missing options.
template <class Layer, class Others, class... ToSay>
using options_said =
    typename options_said_rule<Layer, Others, say::specify<>, say::options_are<>, ToSay...>::type;

// Name: an option whose Numerator / Denominator must be above 0.
template <class Layer, class Name, class Option>
using positive =
    verdict<Option::numerator != 0 && Option::denominator != 0, Layer, Name,
            ratio<Option::numerator, Option::denominator>, struct is_not_a_positive_number>;

template <class Kind, class... Options>
inline constexpr bool is_said = (detail::is_option_of<Options, Kind> || ...);

}  // namespace rules
}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
