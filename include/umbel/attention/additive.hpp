// SPDX-License-Identifier: BSL-1.0
// additive_attention: the layer of Bahdanau, Cho and Bengio 2014, "Neural Machine Translation by
// Jointly Learning to Align and Translate", as in "Dive into Deep Learning". Queries and keys,
// which may differ in width, are projected to one hidden size; the score of a pair is w . tanh(q +
// k); the values are weighted without a projection:
//
//   using attention = additive_attention<float, hidden<20>, score_hidden<8>, keys_from<hidden<2>>>;
//   static attention::weights w;
//   attention{w}(x, y, z, valid_lens)   queries (batch, query, hidden), keys (batch, key, hidden),
//                                       values (batch, key, any axis): (batch, query, that axis)
//
// With heads<n> there are n scores of score_hidden each, and head h weights the h-th of n equal
// parts of the values. For one head see kernel/float/additive.hpp.
#pragma once

#include <umbel/attention/additive_rules.hpp>
#include <umbel/attention/calls.hpp>
#include <umbel/attention/forward.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/float/additive.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
template <class Hidden, class... Options>
struct additive_options {
  using heads = option_or<axis_family<axes::heads>, axes::heads<1>, Options...>;
  using keys =
      typename option_or<option::keys_from, keys_from<axis_or_none<Hidden>>, Options...>::axis;
  using bias = option_or<option::bias, umbel::bias<false>, Options...>;
  using scoring = detail::scoring<Options...>;
};

struct additive_sizes {
  std::size_t hidden, key_hidden, heads, score_hidden;
  bool q_bias, k_bias;

  constexpr std::size_t score_width() const { return heads * score_hidden; }
  // For the projections and all pairs; values: their width.
  constexpr std::uint64_t flops(std::uint64_t queries, std::uint64_t keys,
                                std::uint64_t values) const {
    using kernel::product_flops;
    return product_flops(queries, hidden, score_width()) +
           product_flops(keys, key_hidden, score_width()) +
           product_flops(queries, score_width() + values, keys);
  }
  friend constexpr bool operator==(const additive_sizes&, const additive_sizes&) = default;
};

// Attention of one head by additive scores, like dot_product_head for the dot product.
template <kernel::attend_shape S, class T>
struct additive_head {
  using value_type = T;
  static constexpr kernel::attend_shape shape = S;
  const T* q;
  const T* k;
  const T* w;
  const T* v;
  T* o;
  T* scratch;

  template <class Policy, class Tap>
  constexpr void attend(const Policy& policy, Tap tap) const noexcept {
    if (__builtin_is_constant_evaluated())
      kernel::plain::attend_additive<S>(q, k, w, v, policy, o, tap);
    else
      kernel::attend_additive<S>(q, k, w, v, policy, o, scratch, tap);
  }
  template <class Policy, class Tap>
  constexpr void tap_scores(const Policy& policy, Tap tap) const noexcept {
    if (__builtin_is_constant_evaluated())
      kernel::plain::tap_additive_scores<S>(q, k, w, policy, tap);
    else
      kernel::tap_additive_scores<S>(q, k, w, policy, scratch, tap);
  }
};

// The forward pass over one sequence, on plain numbers. Values: their width.
template <class T, additive_sizes S, class Scoring, std::size_t Queries, std::size_t Keys,
          std::size_t Values>
struct additive_forward {
  static constexpr std::size_t row = round_up(S.score_width(), plan::lanes<T>(plan::native_target));
  static constexpr std::size_t value_dim = Values / S.heads, tables = 0;
  template <sequence_strides From, sequence_strides To>
  static constexpr kernel::attend_shape head = {.queries = Queries,
                                                .keys = Keys,
                                                .head_dim = S.score_hidden,
                                                .value_dim = value_dim,
                                                .q_row = row,
                                                .q_dim = 1,
                                                .k_row = row,
                                                .k_dim = 1,
                                                .v_row = From.position,
                                                .v_dim = From.feature,
                                                .o_row = To.position,
                                                .o_dim = To.feature,
                                                .o_room = Queries};

  // Scratch for a result with any strides; results whose queries are not adjacent need the most.
  struct workspace : workspace_base {
    alignas(64) T q[Queries * row];
    alignas(64) T k[Keys * row];
    alignas(64) T scratch
        [kernel::attend_scratch<head<sequence_strides{0, 1, 1}, sequence_strides{0, 2, 1}>, T>];
  };

  template <std::size_t Rows, std::size_t In, bool Bias, sequence_strides From>
  static constexpr kernel::linear_shape to_scores = {
      Rows, In, S.score_width(), From.position, From.feature, row, 1, Bias};

  // mask(h): a head_mask (mask/base.hpp).
  template <sequence_strides X, sequence_strides Y, sequence_strides Z, sequence_strides Out,
            class Weights, class Mask>
  static constexpr void forward(const Weights& w, const T* x, const T* y, const T* z,
                                const Mask& mask, T* out, workspace& work) noexcept {
    constexpr kernel::attend_shape one = head<Z, Out>;
    static_assert(kernel::attend_scratch<one, T> <= sizeof(work.scratch) / sizeof(T));
    project<to_scores<Queries, S.hidden, S.q_bias, X>>(w.q, x, work.q);
    project<to_scores<Keys, S.key_hidden, S.k_bias, Y>>(w.k, y, work.k);
    for (std::size_t h = 0; h < S.heads; ++h) {
      using of_head = additive_head<one, T>;
      attend_head<Scoring>(
          of_head{work.q + h * S.score_hidden, work.k + h * S.score_hidden,
                  w.score.data() + h * S.score_hidden, z + h * value_dim * Z.feature,
                  out + h * value_dim * Out.feature, work.scratch},
          mask(h));
    }
  }
};

// Types: additive_types. Axis: the axes of queries and keys, and of the values' features.
template <class Types, class... Axis>
struct additive_workspace {
  static constexpr std::size_t none =
      rules::positions_of<axes::query<1>, shape<>, rules::axes_of_workspace<3, 3, Axis...>>();
  using type = typename Types::template forward_of<none, none, none>::workspace;
};
template <class Types, class Queries, class Keys, class Values>
struct additive_workspace<Types, Queries, Keys, Values> {
  using widths = shape<typename Types::scores_axis>;
  using type = typename Types::template forward_of<
      rules::positions_of<Queries, widths, rules::axes_of_workspace<3, 3, Queries, Keys, Values>>(),
      rules::positions_of<Keys, widths>(), rules::positions_of<Values, shape<>>()>::workspace;
};

// The members of additive_attention except its calls: sizes, axes, the types of its weights.
template <class T, class Hidden, class ScoreHidden, class... Options>
struct additive_types {
  using chosen = additive_options<Hidden, Options...>;
  using scoring = typename chosen::scoring;
  using value_type = T;
  using hidden_axis = typename axis_or_none<Hidden>::plain;
  using keys_axis = typename chosen::keys;
  using heads_axis = typename chosen::heads;
  using score_axis = typename axis_or_none<ScoreHidden>::plain;
  static constexpr additive_sizes sizes = {hidden_axis::size, keys_axis::size, heads_axis::size,
                                           score_axis::size,  chosen::bias::q, chosen::bias::k};
  // The features of all scores of a position, head after head.
  using scores_axis = typename score_axis::family::template sized<sizes.score_width()>;

  template <template <class, class, class, bool> class Linear, class Score>
  using parts_in = portable::additive_parts<Linear<T, hidden_axis, scores_axis, sizes.q_bias>,
                                            Linear<T, keys_axis, scores_axis, sizes.k_bias>, Score>;
  using weights = parts_in<portable::linear_weights, tensor<T, scores_axis>>;
  using weights_view =
      view_of_weights<parts_in<portable::linear_view, portable::vector_view<T, scores_axis>>>;
  template <class Stored>
  using packed_weights = packed_weights_of<
      weights_view, parts_in<packed_as<Stored>::template linear, packed_vector<T, scores_axis>>>;

  template <std::size_t Queries, std::size_t Keys, std::size_t Values>
  using forward_of = additive_forward<T, sizes, scoring, Queries, Keys, Values>;
  // Scratch for one call at a time; its contents don't matter between calls. sizeof is its bytes.
  // Arguments: the axes of queries and keys, and of the values' features.
  template <class... Axis>
  using workspace = typename additive_workspace<additive_types, Axis...>::type;

  template <class X, class Y, class Z>
  using call_rule = rules::additive_call<X, Y, Z, T, hidden_axis, keys_axis, heads_axis>;
};

template <class T, class Hidden, class ScoreHidden, class... Options>
using additive_types_of =
    rules::types_or_none<rules::floating<say::additive_attention, T>,
                         rules::in_place<say::additive_attention, Hidden, axes::hidden>,
                         rules::in_place<say::additive_attention, ScoreHidden, axes::score_hidden>,
                         additive_types<T, Hidden, ScoreHidden, Options...>,
                         additive_types<float, no_axis<1>, axes::score_hidden<1>>>;

template <class Layer, class X, class Y, class Z, class Mask, class Workspace, class Out>
struct additive_call {
  using call = additive_call;
  using T = typename Layer::value_type;
  using family = typename Layer::hidden_axis::family;
  using from = typename X::layout;
  using keys = typename Y::layout;
  using values = typename Z::layout;
  using features = rules::feature_axis<Z>;
  using query_axis = axis_of<from, rules::query_family>;
  using key_axis = axis_of<keys, rules::key_family>;
  using layout = layout_with_axes<typename detail::algebra::detail::replace_axes<
      from, from::template position<family>, 1, shape<typename features::plain>>::type>;
  using result = tensor_of<T, layout>;
  static constexpr std::size_t sequences =
      from::template has<rules::batch_family> ? from::template size_of<rules::batch_family> : 1;
  static constexpr std::uint64_t flops =
      sequences * Layer::sizes.flops(query_axis::size, key_axis::size, features::size);
  using scores = scores_of<T, from::template size_of<rules::batch_family>, Layer::sizes.heads,
                           query_axis::size, key_axis::size>;
  using steps =
      typename Layer::template forward_of<query_axis::size, key_axis::size, features::size>;
  using scratch = typename steps::workspace;
  using place = scratch;
  using verdict =
      first_error<rules::out_fits<say::additive_attention, Out, T, layout>,
                  rules::mask_fits<say::additive_attention, mask_of<Mask>, scores>,
                  rules::scratch_fits<say::additive_attention, Workspace, scratch,
                                      shape<query_axis, key_axis, typename features::plain>>>;

  template <class Weights, class To>
  static constexpr void each_sequence(const Weights& w, const X& x, const Y& y, const Z& z,
                                      const Mask& mask, To& out, scratch& work) noexcept {
    using into = typename To::layout;
    using feature_family = typename features::family;
    constexpr auto xs = strides_along<from, rules::query_family, family>;
    constexpr auto ys = strides_along<keys, rules::key_family, typename Layer::keys_axis::family>;
    constexpr auto zs = strides_along<values, rules::key_family, feature_family>;
    constexpr auto outs = strides_along<into, rules::query_family, feature_family>;
    const auto& masks = as_mask(mask);
    for (std::size_t b = 0; b < sequences; ++b)
      steps::template forward<xs, ys, zs, outs>(
          w, x.data() + b * xs.batch, y.data() + b * ys.batch, z.data() + b * zs.batch,
          [&](std::size_t h) { return at_head<scores>(masks, {b, h}); },
          out.data() + b * outs.batch, work);
  }
};

// For the graph of a gradient: training/additive.hpp.
template <class Layer>
struct additive_block;

// The forms of a call (calls.hpp). Axes in any order, batch optional. Returns a row-major tensor
// with the axes of the queries and the values' features instead of the hidden axis. work: a
// Layer::workspace<query<..>, key<..>, the values' axis>.
template <class Layer>
struct additive_forms {
  static constexpr bool in_formulas = true;
  template <class X, class Y, class Z, class Mask, class Workspace, class Out>
  using cross = call_rule<typename Layer::template call_rule<X, Y, Z>,
                          additive_call<Layer, X, Y, Z, Mask, Workspace, Out>>;
  template <class X, class Y, class Z>
  struct cross_call {
    template <class Mask>
    using on = additive_call<Layer, X, Y, Z, Mask, in_formula, by_value>;
  };
  template <class X, class Y, class Z>
  struct cross_steps : attention_steps<cross_call<X, Y, Z>::template on> {
    using block = additive_block<Layer>;
  };
  template <class X, class Y, class Z>
  using cross_workspace =
      typename Layer::template workspace<axis_of<layout_of<X>, rules::query_family>,
                                         axis_of<layout_of<Y>, rules::key_family>,
                                         typename rules::feature_axis<Z>::plain>;
};

// operator() of the layer and of prepacked<layer>, which differ in Derived::get_weights().
template <class Derived, class Layer>
struct additive_calls
    : attention_calls<
          Derived, additive_forms<Layer>, say::additive_attention,
          say::
              expects_queries_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace> {
};

}  // namespace detail

// Additive attention (Bahdanau et al. 2014): the score of a pair is w . tanh(q + k). T: float or
// double. Hidden: width of queries. ScoreHidden: features of a score. Options:
//   heads<4>                                  scores per position; default 1
//   keys_from<hidden<2>>                      width of the keys; default: that of the queries
//   bias<true|false>, bias_on<'q'>            of the two projections; default: none
//   softcap<50>, empty_rows<uniform_weights>  of the scores (score.hpp)
template <class T, class Hidden, class ScoreHidden = detail::nothing, class... Options>
UMBEL_EXPECTS(
    "additive_attention: expects an element type, axes, then options; write "
    "additive_attention<float, hidden<64>, score_hidden<32>>")
class additive_attention
    : public detail::additive_types_of<T, Hidden, ScoreHidden, Options...>,
      public detail::additive_calls<additive_attention<T, Hidden, ScoreHidden, Options...>,
                                    additive_attention<T, Hidden, ScoreHidden, Options...>>,
      public detail::borrowing<
          detail::say::additive_attention, additive_attention<T, Hidden, ScoreHidden, Options...>,
          typename detail::additive_types_of<T, Hidden, ScoreHidden, Options...>::weights_view> {
  using types = detail::additive_types_of<T, Hidden, ScoreHidden, Options...>;
  static_assert(detail::reported<detail::rules::additive_layer<
                    T, Hidden, ScoreHidden, typename types::chosen, Options...>>::ok,
                "umbel: shapes do not fit");

 public:
  template <class Derived>
  using calls = detail::additive_calls<Derived, additive_attention>;
  using detail::borrowing<detail::say::additive_attention, additive_attention,
                          typename types::weights_view>::borrowing;
};

// Would layer(x, y, z) of an additive_attention compile? attends_additively<attention, queries,
// keys, values>.
template <class Layer, class X, class Y, class Z>
concept attends_additively =
    detail::one_is_invalid<X, Y, Z> ||
    Layer::template call_rule<std::remove_cvref_t<X>, std::remove_cvref_t<Y>,
                              std::remove_cvref_t<Z>>::ok;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
