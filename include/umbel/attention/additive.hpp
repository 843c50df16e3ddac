// SPDX-License-Identifier: BSL-1.0
// additive_attention: the layer of Bahdanau, Cho and Bengio 2014 ("Neural Machine Translation by Jointly
// Learning to Align and Translate"), as in "Dive into Deep Learning". Queries and keys, each of its own
// width, are projected to one hidden size; the score of a pair is w . tanh(q + k); the values are weighed
// as they are:
//
//   using attention = additive_attention<float, hidden<20>, score_hidden<8>, keys_from<hidden<2>>>;
//   static attention::weights w;
//   attention{w}(x, y, z, valid_lens)   queries (batch, query, hidden), keys (batch, key, hidden),
//                                       values (batch, key, any axis): (batch, query, that axis)
//
// With heads<n> there are n scores of score_hidden each, and head h weighs the h-th of n equal parts of
// the values. It allocates nothing and throws nothing. One head is kernel/additive.hpp.
#pragma once

#include <umbel/attention/additive_rules.hpp>
#include <umbel/mask/combine.hpp>
#include <umbel/attention/multi_head.hpp>
#include <umbel/kernel/additive.hpp>
#include <umbel/tensor/other_calls.hpp>

namespace umbel {

namespace detail {

// What the options of a layer come to.
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
  friend constexpr bool operator==(const additive_sizes&, const additive_sizes&) = default;
};

// Attention of one head by additive scores: what dot_product_head is to the dot product.
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
    if (std::is_constant_evaluated())
      kernel::plain::attend_additive<S>(q, k, w, v, policy, o, tap);
    else
      kernel::attend_additive<S>(q, k, w, v, policy, o, scratch, tap);
  }
  template <class Policy, class Tap>
  constexpr void tap_scores(const Policy& policy, Tap tap) const noexcept {
    if (std::is_constant_evaluated())
      kernel::plain::tap_additive_scores<S>(q, k, w, policy, tap);
    else
      kernel::tap_additive_scores<S>(q, k, w, policy, scratch, tap);
  }
};

// The forward pass over one sequence, without names. Values: their width.
template <class T, additive_sizes S, class Scoring, std::size_t Queries, std::size_t Keys,
          std::size_t Values>
struct additive_forward {
  static constexpr std::size_t row = round_up(S.score_width(), plan::lanes<T>(plan::native_target));
  static constexpr std::size_t value_dim = Values / S.heads;
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

  // Scratch for results that lie in any way: most where queries are not adjacent.
  struct workspace : workspace_base {
    alignas(64) T q[Queries * row];
    alignas(64) T k[Keys * row];
    alignas(64) T scratch
        [kernel::attend_scratch<head<sequence_strides{0, 1, 1}, sequence_strides{0, 2, 1}>, T>];
  };

  template <std::size_t Rows, std::size_t In, bool Bias, sequence_strides From>
  static constexpr kernel::linear_shape project = {
      Rows, In, S.score_width(), From.position, From.feature, row, 1, Bias};

  // mask(h): a head_mask (mask/base.hpp).
  template <sequence_strides X, sequence_strides Y, sequence_strides Z, sequence_strides Out,
            class Parameters, class Mask>
  static constexpr void run(const Parameters& p, const T* x, const T* y, const T* z,
                            const Mask& mask, T* out, workspace& work) noexcept {
    constexpr kernel::attend_shape one = head<Z, Out>;
    static_assert(kernel::attend_scratch<one, T> <= sizeof(work.scratch) / sizeof(T));
    p.q.template run<project<Queries, S.hidden, S.q_bias, X>>(x, work.q);
    p.k.template run<project<Keys, S.key_hidden, S.k_bias, Y>>(y, work.k);
    for (std::size_t h = 0; h < S.heads; ++h) {
      using of_head = additive_head<one, T>;
      Scoring::attend(of_head{work.q + h * S.score_hidden, work.k + h * S.score_hidden,
                              p.score.data() + h * S.score_hidden, z + h * value_dim * Z.feature,
                              out + h * value_dim * Out.feature, work.scratch},
                      mask(h));
    }
  }
};

// operator() of the layer and of prepacked<layer>; Derived::parameters() is what differs.
template <class Derived, class Layer>
struct additive_calls
    : other_calls_and_into<say::additive_attention,
                           say::takes_queries_keys_and_values_then_a_mask_then_a_workspace> {
  using refused =
      other_calls_and_into<say::additive_attention,
                           say::takes_queries_keys_and_values_then_a_mask_then_a_workspace>;
  using refused::operator();
  using refused::into;

  // In any order of axes, batch optional. Gives a row-major tensor of the axes of the queries with the
  // values' features in place of the hidden axis.
  //   mask  lengths, causal ... (mask/combine.hpp)
  //   work  a Layer::workspace<query<..>, key<..>, the values' axis>; without one, scratch is on the
  //         stack, up to UMBEL_STACK_BUDGET bytes
  template <tensor_like X, tensor_like Y, tensor_like Z, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Y& y, const Z& z, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    return Layer::attend_to(self(), x, y, z, mask, work, by_value{});
  }

  // The same, written into a tensor or view of those axes, in any order and with any strides. out must
  // not overlap the arguments.
  template <tensor_like Out, tensor_like X, tensor_like Y, tensor_like Z,
            mask_like Mask = every_key, workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Y& y, const Z& z, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    Layer::attend_to(self(), x, y, z, mask, work, static_cast<Out&&>(out));
  }

 private:
  constexpr const auto& self() const noexcept {
    return static_cast<const Derived*>(this)->parameters();
  }
};

}  // namespace detail

// T: float or double. Hidden: the width of the queries. ScoreHidden: the features of a score. Options,
// in any order:
//   heads<4>                               scores of a position; 1 when not given
//   keys_from<hidden<2>>                   the width of the keys when it is not the queries'
//   bias<true|false>, biases<q, k, ..>     of the two projections; without either there are none
//   softcap<50>, empty_rows<uniform>       how scores come about (score.hpp)
template <class T, class Hidden, class ScoreHidden = detail::nothing, class... Options>
class additive_attention
    : public detail::additive_calls<additive_attention<T, Hidden, ScoreHidden, Options...>,
                                    additive_attention<T, Hidden, ScoreHidden, Options...>> {
  using options = detail::additive_options<Hidden, Options...>;
  static_assert(
      detail::reported<rules::additive_layer<T, Hidden, ScoreHidden, options, Options...>>,
      "umbel: shapes do not fit");
  using query_axis = typename detail::axis_or_none<Hidden>::plain;
  using family = typename query_axis::family;
  using score_axis = typename detail::axis_or_none<ScoreHidden>::plain;
  using heads_axis = typename options::heads;

 public:
  using scoring = typename options::scoring;
  using value_type = T;
  using hidden_axis = query_axis;
  using keys_axis = typename options::keys;
  static constexpr detail::additive_sizes sizes = {hidden_axis::size, keys_axis::size,
                                                   heads_axis::size,  score_axis::size,
                                                   options::bias::q,  options::bias::k};
  // The features of all the scores of a position, head after head.
  using scores_axis = typename score_axis::family::template sized<sizes.score_width()>;
  template <class Derived>
  using calls = detail::additive_calls<Derived, additive_attention>;
  template <std::size_t Queries, std::size_t Keys, std::size_t Values>
  using forward = detail::additive_forward<T, sizes, scoring, Queries, Keys, Values>;

  // In one of the forms of projection.hpp: the projections of queries and keys, and what weighs the
  // hyperbolic tangents.
  template <class Form>
  struct parameters_in {
    typename Form::template linear<T, hidden_axis, scores_axis, sizes.q_bias> q;
    typename Form::template linear<T, keys_axis, scores_axis, sizes.k_bias> k;
    typename Form::template vector<T, scores_axis> score;
  };
  using weights = parameters_in<form::owned>;
  struct weights_view : parameters_in<form::borrowed> {
    using borrowed = parameters_in<form::borrowed>;
    constexpr weights_view(const decltype(borrowed::q)& of_q, const decltype(borrowed::k)& of_k,
                           const decltype(borrowed::score)& of_score) noexcept
        : borrowed{of_q, of_k, of_score} {}
    using wanted =
        detail::parts_list<decltype(borrowed::q), decltype(borrowed::k), decltype(borrowed::score)>;
    template <class... Other>
    requires detail::foreign_parts<wanted, Other...>
    constexpr weights_view(const Other&...) noexcept : borrowed(detail::no_weights<borrowed>()) {
      static_assert(report<rules::parts_of_weights<say::additive_attention, wanted, Other...>>::ok,
                    "umbel: shapes do not fit");
    }
    constexpr weights_view(const weights& w) noexcept : weights_view(w.q, w.k, w.score) {}
    constexpr weights_view(const weights&& w) noexcept : weights_view(w) {
      static_assert(report<rules::weights_with_a_name<say::additive_attention,  //
                                                      (sizeof(T) == 0)>>::ok,
                    "umbel: shapes do not fit");
    }
  };
  template <class Stored>
  struct packed_weights : parameters_in<form::packed<Stored>> {
    using panels = parameters_in<form::packed<Stored>>;
    constexpr explicit packed_weights(const weights_view& w) noexcept
        : panels{decltype(panels::q)(w.q), decltype(panels::k)(w.k), w.score} {}
  };

  // Scratch for one call at a time; its contents between calls do not matter. sizeof is its cost.
  template <class Queries, class Keys, class Values>
  using workspace = typename forward<Queries::size, Keys::size, Values::size>::workspace;

  // The weights are borrowed: they must outlive the layer.
  constexpr explicit additive_attention(const weights_view& w) noexcept : parameters_(w) {}
  template <class... Given>
  requires detail::not_its_weights<weights_view, additive_attention, Given...>
  constexpr explicit(sizeof...(Given) == 1) additive_attention(const Given&...) noexcept
      : parameters_(detail::no_weights<weights_view>()) {
    static_assert(
        report<rules::weights_of_this_layer<say::additive_attention, sizeof...(Given)>>::ok,
        "umbel: shapes do not fit");
  }
  [[nodiscard]] constexpr const weights_view& parameters() const noexcept { return parameters_; }

  template <class X, class Y, class Z>
  using call_rule = rules::additive_call<X, Y, Z, T, hidden_axis, keys_axis, heads_axis>;

  // How a call comes in, from the layer and from prepacked<layer> alike.
  template <class Parameters, class X, class Y, class Z, class Mask, class Workspace, class Out>
  static constexpr auto attend_to(const Parameters& p, const X& x, const Y& y, const Z& z,
                                  const Mask& mask, Workspace& work, Out&& out) noexcept {
    using verdict = call_rule<X, Y, Z>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using call = call_of<X, Y, Z, Mask, Workspace, Out>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) return call::run(p, x, y, z, mask, work, out);
      if constexpr (!call::verdict::ok) return invalid{};
    } else {
      return invalid{};
    }
  }

 private:
  // A call whose sequences fit.
  template <class X, class Y, class Z, class Mask, class Workspace, class Out>
  struct call_of {
    using from = typename X::layout;
    using keys = typename Y::layout;
    using values = typename Z::layout;
    using features = rules::feature_axis<Z>;
    using query_axis = axis_of<from, rules::query_family>;
    using key_axis = axis_of<keys, rules::key_family>;
    using result = layout_with_axes<typename algebra::detail::replace_axes<
        from, from::template position<family>, 1, shape<typename features::plain>>::type>;
    using scores = detail::scores_of<T, from::template size_of<rules::batch_family>, sizes.heads,
                                     query_axis::size, key_axis::size>;
    using steps = forward<query_axis::size, key_axis::size, features::size>;
    using scratch = typename steps::workspace;
    using verdict =
        first_error<rules::out_fits<say::additive_attention, Out, T, result>,
                    rules::mask_fits<say::additive_attention, detail::mask_of<Mask>, scores>,
                    rules::scratch_fits<say::additive_attention, Workspace, scratch,
                                        shape<query_axis, key_axis, typename features::plain>>>;

    template <class Parameters, class To>
    static constexpr auto run(const Parameters& p, const X& x, const Y& y, const Z& z,
                              const Mask& mask, Workspace& work, To& out) noexcept {
      return detail::computed<tensor_of<T, result>, scratch>(
          out, work, [&](auto& to, scratch& own) { sequences(p, x, y, z, mask, to, own); });
    }

    template <class Parameters, class To>
    static constexpr void sequences(const Parameters& p, const X& x, const Y& y, const Z& z,
                                    const Mask& mask, To& out, scratch& work) noexcept {
      using into = typename To::layout;
      using feature_family = typename features::family;
      constexpr auto xs = detail::strides_along<from, rules::query_family, family>;
      constexpr auto ys =
          detail::strides_along<keys, rules::key_family, typename keys_axis::family>;
      constexpr auto zs = detail::strides_along<values, rules::key_family, feature_family>;
      constexpr auto outs = detail::strides_along<into, rules::query_family, feature_family>;
      constexpr bool batched = from::template has<rules::batch_family>;
      constexpr std::size_t count = batched ? from::template size_of<rules::batch_family> : 1;
      const auto& masks = detail::as_mask(mask);
      for (std::size_t b = 0; b < count; ++b)
        steps::template run<xs, ys, zs, outs>(
            p, x.data() + b * xs.batch, y.data() + b * ys.batch, z.data() + b * zs.batch,
            [&](std::size_t h) {
              return detail::at_head<scores>(masks, {b, h});
            },
            out.data() + b * outs.batch, work);
    }
  };

  weights_view parameters_;
};

// Would a call compile? Generic code asks first: attends_additively<attention, queries, keys, values>.
template <class Layer, class X, class Y, class Z>
concept attends_additively =
    Layer::template call_rule<std::remove_cvref_t<X>, std::remove_cvref_t<Y>,
                              std::remove_cvref_t<Z>>::ok;

}  // namespace umbel
