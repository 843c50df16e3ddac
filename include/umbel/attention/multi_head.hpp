// SPDX-License-Identifier: BSL-1.0
// multi_head_attention: the layer of Vaswani et al. 2017, "Attention Is All You Need". Projects
// queries, keys and values, attends in each head, merges the heads and projects again:
//
//   using attention = multi_head_attention<float, hidden<100>, heads<5>, bias<true>>;
//   static attention::weights w;
//   attention{w}(x)                      self-attention
//   attention{w}(x, y, y, valid_lens)    of queries x to keys and values y
//   attention{w}(x, causal)              with any mask (mask/combine.hpp)
//
// It never allocates or throws. docs/architecture.md follows a call to the innermost loop;
// examples/02_spelled_out.cpp does the same in readable steps.
#pragma once

#include <umbel/attention/forward.hpp>
#include <umbel/attention/multi_head_call.hpp>
#include <umbel/attention/rules.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/mask/combine.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/other_calls.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
template <class Hidden, class Heads, class... Options>
struct multi_head_options {
  using hidden = axis_or_none<Hidden>;
  using heads = axis_or_none<Heads>;
  using kv_heads = option_or<axis_family<axes::kv_heads>, axes::kv_heads<heads::size>, Options...>;
  using head_dim =
      option_or<axis_family<axes::head_dim>,
                axes::head_dim<hidden::size / (heads::size ? heads::size : 1)>, Options...>;
  using value_dim =
      option_or<axis_family<axes::value_dim>, axes::value_dim<head_dim::size>, Options...>;
  using keys = typename option_or<option::keys_from, keys_from<hidden>, Options...>::axis;
  using values = typename option_or<option::values_from, values_from<hidden>, Options...>::axis;
  using output = typename option_or<option::output_to, output_to<hidden>, Options...>::axis;
  using bias = option_or<option::bias, umbel::bias<false>, Options...>;
  using rope = option_or<option::rope, no_rope, Options...>;
  using scoring = detail::scoring<Options...>;
  // For the heads of queries and keys. (A head without features is refused elsewhere.)
  using norm_option = option_or<option::query_key_norm, no_query_key_norm, Options...>;
  template <class T>
  using norm =
      norm_with<T, axes::head_dim<head_dim::size ? head_dim::size : 1>, norm_option, Options...>;
  using norm_options =
      typename pick_options<decltype(and_kinds(option_list<option::query_key_norm>{},
                                               typename norm_option::kinds{})),
                            option_list<>, Options...>::type;

  static constexpr bool gives_head_dim =
      (is_option_of<Options, axis_family<axes::head_dim>> || ...);
  static constexpr bool leaves_a_remainder =
      !gives_head_dim && heads::size > 0 && hidden::size % heads::size != 0;
  static constexpr head_sizes sizes = {
      hidden::size,   keys::size,      values::size, output::size, heads::size, kv_heads::size,
      head_dim::size, value_dim::size, bias::q,      bias::k,      bias::v,     bias::o};
};

// The members of multi_head_attention except its calls: sizes, axes, the types of its weights.
template <class T, class Hidden, class Heads, class... Options>
struct multi_head_types {
  using chosen = multi_head_options<Hidden, Heads, Options...>;
  static constexpr head_sizes sizes = chosen::sizes;
  using rope_option = typename chosen::rope;
  using scoring = typename chosen::scoring;
  using norm_options = typename chosen::norm_options;
  using norm_of_heads = typename chosen::template norm<T>::of_rows;
  using prepare = prepared_heads<norm_of_heads, rope_option>;
  using value_type = T;
  // The hidden axes of queries, keys, values and result.
  using hidden_axis = typename chosen::hidden::plain;
  using keys_axis = typename chosen::keys;
  using values_axis = typename chosen::values;
  using output_axis = typename chosen::output;

  template <std::size_t Width>
  using width = typename hidden_axis::family::template sized<Width>;
  // If heads are refused, using the weights must not be a second error: {&w.q, &w.o}.
  template <std::size_t Width>
  using heads_width = width<chosen::leaves_a_remainder ? sizes.hidden : Width>;
  template <template <class, class, class, bool> class Linear, class Norm>
  using parts_in = typename attention_parts<
      Norm, Linear<T, hidden_axis, heads_width<sizes.query_width()>, sizes.q_bias>,
      Linear<T, keys_axis, heads_width<sizes.key_width()>, sizes.k_bias>,
      Linear<T, values_axis, heads_width<sizes.value_width()>, sizes.v_bias>,
      Linear<T, heads_width<sizes.context_width()>, output_axis, sizes.o_bias>>::type;
  using weights = parts_in<portable::linear_weights, typename norm_of_heads::weights>;
  using weights_view =
      view_of_weights<parts_in<portable::linear_view, typename norm_of_heads::weights_view>>;
  template <class Stored>
  using packed_weights =
      packed_weights_of<weights_view,
                        parts_in<packed_as<Stored>::template linear,
                                 typename norm_of_heads::template packed_weights<Stored>>>;

  template <std::size_t Queries, std::size_t Keys>
  using forward_of = multi_head_forward<T, sizes, prepare, scoring, Queries, Keys>;
  using widths = shape<hidden_axis, keys_axis, values_axis, width<sizes.query_width()>,
                       width<sizes.context_width()>>;
  // Scratch for one call at a time; its contents don't matter between calls. sizeof is its bytes.
  // Arguments: the axis of the positions, or those of queries and keys.
  template <class... Positions>
  using workspace = typename forward_of<rules::first_positions<widths, 2, Positions...>(),
                                        rules::second_positions<widths, Positions...>()>::workspace;

  // The axes of the queries, row-major, with the width of the result.
  template <class Layout>
  using result_of = layout_with_axes<typename algebra::detail::replace_axes<
      Layout, Layout::template position<typename hidden_axis::family>, 1,
      shape<output_axis>>::type>;
};

template <class T, class Hidden, class Heads, class... Options>
using multi_head_types_of =
    rules::types_or_none<rules::floating<say::multi_head_attention, T>,
                         rules::in_place<say::multi_head_attention, Hidden, axes::hidden>,
                         rules::in_place<say::multi_head_attention, Heads, axes::heads>,
                         multi_head_types<T, Hidden, Heads, Options...>,
                         multi_head_types<float, no_axis<1>, axes::heads<1>>>;

// operator() of the layer and of prepacked<layer>, which differ in Derived::get_weights().
template <class Derived, class Layer>
struct multi_head_calls
    : self_attention_calls<
          Derived, multi_head_forms<Layer>, say::multi_head_attention,
          say::
              expects_a_sequence_or_queries_and_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace_or_parallel> {
  template <class X, class Of = Layer>  // which is incomplete here
  using pipe_rule =
      typename multi_head_forms<Of>::template self<X, every_key, on_stack, by_value>::type;
};

}  // namespace detail

// Multi-head attention, self or cross: attention{w}(x), attention{w}(x, y, y, mask). T: float or
// double. Hidden, Heads: hidden<100>, heads<5>. Options, in any order:
//   bias<true|false>, bias_on<'q', 'k'>     biases of projections; default: none
//   head_dim<64>, value_dim<32>             width of a head and of its values; defaults
//                                           hidden / heads, head_dim
//   kv_heads<2>                             heads of keys and values, shared by the queries' heads
//   keys_from<hidden<64>>, values_from<..>  widths of keys and values, if not the queries'
//   output_to<hidden<80>>                   width of the result, if not the queries'
//   query_key_norm<rms_norm|layer_norm>     of each head's queries and keys, before rope, with
//                                           norm_epsilon<>, norm_bias<> (layer/norm_options.hpp)
//   rope<split_halves|adjacent_pairs>       rotary positions (rope.hpp)
//   score_scale<1, 8>, softcap<50>, empty_rows<uniform_weights>    of the scores (score.hpp)
template <class T, class Hidden, class Heads = detail::nothing, class... Options>
UMBEL_EXPECTS(
    "multi_head_attention: expects an element type, an axis, the heads, then options; write "
    "multi_head_attention<float, hidden<64>, heads<8>, bias<true>>")
class multi_head_attention
    : public detail::multi_head_types_of<T, Hidden, Heads, Options...>,
      public detail::multi_head_calls<multi_head_attention<T, Hidden, Heads, Options...>,
                                      multi_head_attention<T, Hidden, Heads, Options...>>,
      public detail::borrowing<
          detail::say::multi_head_attention, multi_head_attention<T, Hidden, Heads, Options...>,
          typename detail::multi_head_types_of<T, Hidden, Heads, Options...>::weights_view> {
  using types = detail::multi_head_types_of<T, Hidden, Heads, Options...>;
  static_assert(detail::reported<detail::rules::multi_head<T, Hidden, Heads, typename types::chosen,
                                                           Options...>>::ok,
                "umbel: shapes do not fit");

 public:
  template <class Derived>
  using calls = detail::multi_head_calls<Derived, multi_head_attention>;
  using detail::borrowing<detail::say::multi_head_attention, multi_head_attention,
                          typename types::weights_view>::borrowing;
};

// multi_head_attention(64, 8): refused, since sizes are template arguments.
template <class Given>
class multi_head_attention<portable::arguments_of_a_call, Given, detail::nothing>
    : public detail::invalid {
  static_assert(
      detail::reported<detail::rules::made_of_a_call<
          detail::say::multi_head_attention,
          detail::say::
              sizes_are_template_arguments_not_numbers_in_a_call_so_write_multi_head_attention_of_float_hidden_and_heads,
          Given>>::ok,
      "umbel: shapes do not fit");

 public:
  template <class... Arguments>
  constexpr explicit multi_head_attention(const Arguments&...) noexcept {}
};
template <class... Given>
multi_head_attention(const Given&...) -> multi_head_attention<portable::arguments_of_a_call, char>;

namespace detail {
template <class T, class Hidden, class Heads, class... Options>
void take_multi_head(const multi_head_attention<T, Hidden, Heads, Options...>*);
// Also const layers and classes derived from one.
template <class Layer>
concept is_multi_head = requires(const Layer* layer) { take_multi_head(layer); };
namespace rules {
// Operation: its name in sentences.
template <class Operation, class Layer>
using a_multi_head_attention = verdict<detail::is_multi_head<Layer>, Operation,
                                       say::the_first_argument_is_not_a_multi_head_attention>;
}  // namespace rules

// Would a call compile? Generic code asks first: attends<attention, queries, context, context>.
template <class Layer, class X, class Y, class Z>
inline constexpr bool attends =
    rules::attend_to<say::multi_head_attention, X, Y, Z, typename Layer::value_type,
                     typename Layer::hidden_axis, typename Layer::keys_axis,
                     typename Layer::values_axis>::ok;
template <class Layer, class X>
inline constexpr bool attends_to_itself =
    first_error<rules::self_attend<say::multi_head_attention, X, typename Layer::value_type,
                                   typename Layer::hidden_axis>,
                rules::one_width<say::multi_head_attention, typename Layer::hidden_axis,
                                 typename Layer::keys_axis, typename Layer::values_axis>>::ok;
}  // namespace detail

// Would layer(x, y, z) compile? attends<attention, queries, context, context>.
template <class Layer, class X, class Y, class Z>
concept attends =
    detail::one_is_invalid<X, Y, Z> ||
    detail::attends<Layer, std::remove_cvref_t<X>, std::remove_cvref_t<Y>, std::remove_cvref_t<Z>>;
// Would layer(x) compile? attends_to_itself<attention, tokens>.
template <class Layer, class X>
concept attends_to_itself =
    detail::one_is_invalid<X> || detail::attends_to_itself<Layer, std::remove_cvref_t<X>>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
