// SPDX-License-Identifier: BSL-1.0
// attention_heat_map draws the weights of attention (mask/observe.hpp): one map per head, queries
// down and keys across; brighter is more. It passes text to your sink and opens no file.
//
//   #include <umbel/inspect/heat_map.hpp>    // umbel.hpp does not include it
//   const auto to_file = [&](const char* text, std::size_t size) {
//     std::fwrite(text, 1, size, file);
//   };
//   attention_heat_map(weights, to_file);                                        // an SVG
//   attention_heat_map(weights, to_file, {.form = heat_map_form::terminal}, tokens);
#pragma once

// clang-format off: all that this needs, in order; bare.hpp explains (test/layering.py --lists).
#include <umbel/config.hpp>
#include <umbel/shape/axis.hpp>
#include <umbel/shape/invalid.hpp>
#include <umbel/shape/verdict.hpp>
#include <umbel/inspect/heat_map_scale.hpp>
#include <umbel/inspect/heat_map_options.hpp>
#include <umbel/inspect/heat_map_svg.hpp>
#include <umbel/inspect/heat_map_terminal.hpp>
#include <umbel/shape/layout.hpp>
#include <umbel/shape/algebra.hpp>
#include <umbel/shape/words.hpp>
#include <umbel/shape/rules.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/layer/parts.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/layer/workspace.hpp>
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
#include <umbel/mask/rules.hpp>
// clang-format on

#include <umbel/config.hpp>
#include <umbel/inspect/heat_map_svg.hpp>
#include <umbel/inspect/heat_map_terminal.hpp>
#include <umbel/mask/rules.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/tensor/view.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct attention_heat_map;

struct expects_weights_then_a_sink_of_const_char_pointer_and_size_then_options_then_labels;
}  // namespace say

UMBEL_SAYS(heat_map_legend, "heat_map_legend");
UMBEL_SAYS(expects_a_sink_of_const_char_pointer_and_size_then_options,
           "expects a sink, called with (const char*, std::size_t), then options");
UMBEL_SAYS(needs_weights_of_float_or_double_not, "needs weights of float or double, not");
UMBEL_SAYS(which_is_not_one_of, ", which is not one of");
template <>
struct speak<
    say::expects_weights_then_a_sink_of_const_char_pointer_and_size_then_options_then_labels> {
  static constexpr void to(sentence_buffer& out) {
    out.put(
        "expects weights; then a sink, called with (const char*, std::size_t); then options; then "
        "labels, arrays of const char*");
  }
};

template <class Sink>
inline constexpr bool is_text_sink =
    requires(Sink& sink, const char* text, std::size_t size) { sink(text, size); };

namespace rules {

template <class Axis>
inline constexpr bool is_map_axis = std::is_same_v<typename Axis::family, batch_family> ||
                                    std::is_same_v<typename Axis::family, heads_family> ||
                                    std::is_same_v<typename Axis::family, query_family> ||
                                    std::is_same_v<typename Axis::family, key_family>;

template <class Layout, class Family>
using map_needs = verdict<Layout::template has<Family>, say::attention_heat_map,
                          say::needs_the_axis, Family, say::but_has, typename Layout::axes>;
template <class Axes>
struct map_axes_rule;
template <class... Axes>
struct map_axes_rule<shape<Axes...>> {
  using type =
      first_error<verdict<is_map_axis<Axes>, say::attention_heat_map, struct has_the_axis, Axes,
                          say::which_is_not_one_of,
                          listed<batch_family, heads_family, query_family, key_family>>...>;
};

template <class X>
using heat_map =
    first_error<map_needs<layout_of<X>, query_family>, map_needs<layout_of<X>, key_family>,
                typename map_axes_rule<typename layout_of<X>::axes>::type,
                verdict<std::is_same_v<typename X::value_type, float> ||
                            std::is_same_v<typename X::value_type, double>,
                        say::attention_heat_map, say::needs_weights_of_float_or_double_not,
                        element<typename X::value_type>>>;

// One label per position. Count 0: none.
template <class X, class Family, std::size_t Count>
using labels = verdict<Count == 0 || Count == layout_of<X>::template size_of<Family>,
                       say::attention_heat_map, struct needs_a_label_for_each_of,
                       axis_of<layout_of<X>, Family>, say::but_got, number<Count>>;

}  // namespace rules

// x has axes query and key, and optionally batch and heads, in any order.
template <class X, std::size_t QueryLabels, std::size_t KeyLabels, class Sink>
constexpr void draw_heat_maps(const X& x, Sink& sink, const heat_map_options& options,
                              const char* const* query_labels, const char* const* key_labels) {
  using layout = typename X::layout;
  if constexpr (rules::heat_map<X>::ok) {  // which the callers assert
    using fit = first_error<rules::labels<X, rules::query_family, QueryLabels>,
                            rules::labels<X, rules::key_family, KeyLabels>>;
    static_assert(report<fit>::ok, "umbel: shapes do not fit");
    if constexpr (fit::ok) {
      const auto axis = []<class Family>(std::type_identity<Family>) {
        return map_axis{layout::template size_of<Family>, layout::template stride_of<Family>};
      };
      const heat_maps<typename X::value_type> maps{x.data(),
                                                   axis(std::type_identity<rules::batch_family>{}),
                                                   axis(std::type_identity<rules::heads_family>{}),
                                                   axis(std::type_identity<rules::query_family>{}),
                                                   axis(std::type_identity<rules::key_family>{}),
                                                   query_labels,
                                                   key_labels,
                                                   options,
                                                   heat_scale::of_root(options.root)};
      text_writer<Sink> out(sink);
      if (options.form == heat_map_form::svg)
        svg_heat_maps(maps, out);
      else if (options.form == heat_map_form::html)
        html_heat_maps(maps, out);
      else
        terminal_heat_maps(maps, out);
      out.flush();
    }
  }
}

}  // namespace detail

// attention_heat_map(weights, sink, options, labels): draws weights. weights: a tensor or view of
// float or double with axes query and key, and optionally batch and heads, in any order and with
// any strides. sink: called with the text, piece by piece, in order. Labels: one UTF-8 string per
// position; a null pointer means the position's number. Markup and control characters in them are
// escaped or replaced. One list of labels is for both queries and keys.
template <detail::tensor_like X, class Sink>
  requires detail::is_text_sink<Sink>
constexpr void attention_heat_map(const X& weights, Sink&& sink,
                                  const heat_map_options& options = {}) {
  static_assert(detail::report<detail::rules::heat_map<X>>::ok, "umbel: shapes do not fit");
  detail::draw_heat_maps<X, 0, 0>(weights, sink, options, nullptr, nullptr);
}
template <detail::tensor_like X, class Sink, std::size_t Tokens>
  requires detail::is_text_sink<Sink>
constexpr void attention_heat_map(const X& weights, Sink&& sink, const heat_map_options& options,
                                  const char* const (&tokens)[Tokens]) {
  static_assert(detail::report<detail::rules::heat_map<X>>::ok, "umbel: shapes do not fit");
  detail::draw_heat_maps<X, Tokens, Tokens>(weights, sink, options, tokens, tokens);
}
template <detail::tensor_like X, class Sink, std::size_t Queries, std::size_t Keys>
  requires detail::is_text_sink<Sink>
constexpr void attention_heat_map(const X& weights, Sink&& sink, const heat_map_options& options,
                                  const char* const (&queries)[Queries],
                                  const char* const (&keys)[Keys]) {
  static_assert(detail::report<detail::rules::heat_map<X>>::ok, "umbel: shapes do not fit");
  detail::draw_heat_maps<X, Queries, Keys>(weights, sink, options, queries, keys);
}
// Any other arguments: the message lists the accepted ones.
template <class... Arguments>
constexpr void attention_heat_map(const Arguments&...) {
  using verdict = detail::rules::arguments<
      detail::say::attention_heat_map,
      detail::say::
          expects_weights_then_a_sink_of_const_char_pointer_and_size_then_options_then_labels,
      Arguments...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
}

// The color scale alone, as SVG, for a page of many maps without legends (legend = false).
template <class Sink>
  requires(detail::is_text_sink<Sink> && !detail::tensor_like<std::remove_cvref_t<Sink>>)
constexpr void heat_map_legend(Sink&& sink, const heat_map_options& options = {}) {
  detail::text_writer<std::remove_reference_t<Sink>> out(sink);
  detail::svg_legend_alone(options, out);
  out.flush();
}
// Any other arguments: refused.
template <class... Arguments>
constexpr void heat_map_legend(const Arguments&...) {
  using verdict =
      detail::verdict<detail::never<Arguments...>, detail::say::heat_map_legend,
                      detail::say::expects_a_sink_of_const_char_pointer_and_size_then_options>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
}
namespace detail {
// Would these weights be drawn?
template <class X>
inline constexpr bool heat_mappable = rules::heat_map<X>::ok;
}  // namespace detail

// Can attention_heat_map draw X? It needs axes query and key, and allows only batch and heads
// besides.
template <class X>
concept heat_mappable = detail::one_is_invalid<X> ||
                        (detail::tensor_like<X> && detail::heat_mappable<std::remove_cvref_t<X>>);

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
