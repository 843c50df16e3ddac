// SPDX-License-Identifier: BSL-1.0
// multi_head_attention: the layer (Vaswani et al. 2017, "Attention Is All You Need"). Queries, keys
// and values are projected, split into heads, attended head by head, put together again and
// projected once more:
//
//   using attention = multi_head_attention<float, hidden<100>, heads<5>, bias<true>>;
//   static attention::weights w;
//   attention{w}(x)                      self-attention
//   attention{w}(x, y, y, valid_lens)    of queries x to keys and values y
//   attention{w}(x, causal)              with any mask (mask/combine.hpp)
//
// It allocates nothing and throws nothing. One head is kernel/attend.hpp; the readable form of the
// same is spelled out in examples/02_spelled_out.cpp.
#pragma once

#include <umbel/layer/filled.hpp>
#include <umbel/attention/forward.hpp>
#include <umbel/attention/forward_in_parts.hpp>
#include <umbel/mask/combine.hpp>
#include <umbel/attention/rules.hpp>
#include <umbel/tensor/other_calls.hpp>

namespace umbel {

namespace detail {

template <class Layout, class Position, class Hidden>
inline constexpr sequence_strides strides_along = {Layout::template stride_of<rules::batch_family>,
                                                   Layout::template stride_of<Position>,
                                                   Layout::template stride_of<Hidden>};

// What the options of a layer come to.
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

  static constexpr bool gives_head_dim =
      (is_option_of<Options, axis_family<axes::head_dim>> || ...);
  static constexpr head_sizes sizes = {
      hidden::size,   keys::size,      values::size, output::size, heads::size, kv_heads::size,
      head_dim::size, value_dim::size, bias::q,      bias::k,      bias::v,     bias::o};
};

// operator() of the layer and of prepacked<layer>; Derived::parameters() is what differs.
template <class Derived, class Layer>
struct multi_head_calls
    : other_calls_and_into<
          say::attention,
          say::takes_a_sequence_or_queries_and_keys_and_values_then_a_mask_then_a_workspace> {
  using refused = other_calls_and_into<
      say::attention,
      say::takes_a_sequence_or_queries_and_keys_and_values_then_a_mask_then_a_workspace>;
  using refused::operator();
  using refused::into;

  // Self-attention of x: an optional batch axis, hidden, and one axis of any name along which the
  // positions lie. Gives a row-major tensor of the same axes.
  //   mask  lengths, causal ... (mask/combine.hpp); the axes of its memory are batch, heads, query, key, of
  //         which query and key have the size of the sequence
  //   work  a Layer::workspace<sequence axis>, or several with an executor: parallel(executor, work)
  //         (executor.hpp); without one, scratch is on the stack, up to UMBEL_STACK_BUDGET bytes
  template <tensor_like X, mask_like Mask = every_key, workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    return Layer::attend_self(self(), x, mask, work, by_value{});
  }

  // Queries (batch, query, hidden) to keys and values (batch, key, hidden), in any order of axes,
  // batch optional. Gives a row-major tensor of the axes of the queries. work: a
  // Layer::workspace<query<..>, key<..>>, or several.
  template <tensor_like X, tensor_like Y, tensor_like Z, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Y& y, const Z& z, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    return Layer::attend_to(self(), x, y, z, mask, work, by_value{});
  }

  // The same, written into a tensor or view of the axes of x (of the queries), in any order and with
  // any strides. out must not overlap the arguments.
  template <tensor_like Out, tensor_like X, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    Layer::attend_self(self(), x, mask, work, static_cast<Out&&>(out));
  }
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

// T: float or double. Hidden, Heads: hidden<100>, heads<5>. Options, in any order:
//   bias<true|false>, biases<q, k, v, o>   without either there are none
//   head_dim<64>, value_dim<32>            width of a head; hidden / heads, head_dim when not given
//   kv_heads<2>                            heads of keys and values, shared by those of the queries
//   keys_from<hidden<64>>, values_from<..> widths of keys and values when they are not the queries'
//   output_to<hidden<80>>                  width of the result when it is not the queries'
//   rope<split_halves|adjacent_pairs>      rotary positions (rope.hpp)
//   score_scale<1, 8>, softcap<50>, empty_rows<uniform>    how scores come about (score.hpp)
template <class T, class Hidden, class Heads = detail::nothing, class... Options>
class multi_head_attention
    : public detail::multi_head_calls<multi_head_attention<T, Hidden, Heads, Options...>,
                                      multi_head_attention<T, Hidden, Heads, Options...>> {
  using options = detail::multi_head_options<Hidden, Heads, Options...>;
  static_assert(detail::reported<rules::multi_head<T, Hidden, Heads, options, Options...>>,
                "umbel: shapes do not fit");
  using family = typename options::hidden::family;
  template <std::size_t Width>
  using width = typename family::template sized<Width>;

 public:
  static constexpr detail::head_sizes sizes = options::sizes;
  using rope_option = typename options::rope;
  using scoring = typename options::scoring;
  using rotary = detail::rotary<rope_option>;
  using value_type = T;
  // What the queries, keys, values and the result have of the hidden axis.
  using hidden_axis = typename options::hidden::plain;
  using keys_axis = typename options::keys;
  using values_axis = typename options::values;
  using output_axis = typename options::output;
  template <class Derived>
  using calls = detail::multi_head_calls<Derived, multi_head_attention>;
  template <std::size_t Queries, std::size_t Keys>
  using forward = detail::multi_head_forward<T, sizes, rotary, scoring, Queries, Keys>;

  // The four projections in one of the forms of projection.hpp: of the queries to all heads, of keys
  // and values to theirs, of all heads to the result.
  template <class Form>
  struct parameters_in {
    typename Form::template linear<T, hidden_axis, width<sizes.query_width()>, sizes.q_bias> q;
    typename Form::template linear<T, keys_axis, width<sizes.key_width()>, sizes.k_bias> k;
    typename Form::template linear<T, values_axis, width<sizes.value_width()>, sizes.v_bias> v;
    typename Form::template linear<T, width<sizes.context_width()>, output_axis, sizes.o_bias> o;
  };
  using weights = parameters_in<form::owned>;
  struct weights_view : parameters_in<form::borrowed> {
    using borrowed = parameters_in<form::borrowed>;
    constexpr weights_view(const decltype(borrowed::q)& of_q, const decltype(borrowed::k)& of_k,
                           const decltype(borrowed::v)& of_v,
                           const decltype(borrowed::o)& of_o) noexcept
        : borrowed{of_q, of_k, of_v, of_o} {}
    using wanted = detail::parts_list<decltype(borrowed::q), decltype(borrowed::k),
                                     decltype(borrowed::v), decltype(borrowed::o)>;
    template <class... Other>
    requires detail::foreign_parts<wanted, Other...>
    constexpr weights_view(const Other&...) noexcept : borrowed(detail::no_weights<borrowed>()) {
      static_assert(report<rules::parts_of_weights<say::attention, wanted, Other...>>::ok,
                    "umbel: shapes do not fit");
    }
    constexpr weights_view(const weights& w) noexcept : weights_view(w.q, w.k, w.v, w.o) {}
    constexpr weights_view(const weights&& w) noexcept : weights_view(w) {
      static_assert(report<rules::weights_with_a_name<say::attention, (sizeof(T) == 0)>>::ok,
                    "umbel: shapes do not fit");
    }
  };
  template <class Stored>
  struct packed_weights : parameters_in<form::packed<Stored>> {
    using panels = parameters_in<form::packed<Stored>>;
    constexpr explicit packed_weights(const weights_view& w) noexcept
        : panels{decltype(panels::q)(w.q), decltype(panels::k)(w.k), decltype(panels::v)(w.v),
                 decltype(panels::o)(w.o)} {}
  };

  // Scratch for one call at a time; its contents between calls do not matter. sizeof is its cost.
  template <class Queries, class Keys = Queries>
  using workspace = typename forward<Queries::size, Keys::size>::workspace;

  // The weights are borrowed: they must outlive the layer.
  constexpr explicit multi_head_attention(const weights_view& w) noexcept : parameters_(w) {}
  template <class... Given>
  requires detail::not_its_weights<weights_view, multi_head_attention, Given...>
  constexpr explicit(sizeof...(Given) == 1) multi_head_attention(const Given&...) noexcept
      : parameters_(detail::no_weights<weights_view>()) {
    static_assert(report<rules::weights_of_this_layer<say::attention, sizeof...(Given)>>::ok,
                  "umbel: shapes do not fit");
  }
  [[nodiscard]] constexpr const weights_view& parameters() const noexcept { return parameters_; }

  // The axes of the queries, row-major, with the width of the result.
  template <class Layout>
  using result_of = layout_with_axes<typename algebra::detail::replace_axes<
      Layout, Layout::template position<family>, 1, shape<output_axis>>::type>;

  // How a call comes in, from the layer and from prepacked<layer> alike.
  template <class Parameters, class X, class Mask, class Workspace, class Out>
  static constexpr auto attend_self(const Parameters& p, const X& x, const Mask& mask,
                                    Workspace& work, Out&& out) noexcept {
    using layout = typename X::layout;
    using verdict =
        first_error<rules::no_second_sequence<say::attention, Mask>,
                    rules::self_attend<say::attention, X, T, hidden_axis>,
                    rules::one_width<say::attention, hidden_axis, keys_axis, values_axis>,
                    rules::out_fits<say::attention, Out, T, result_of<layout>>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using sequence = rules::sequence_family<layout, hidden_axis>;
      using call = call_of<layout, sequence, layout, sequence, Mask, Workspace,
                           shape<axis_of<layout, sequence>>>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) return call::run(p, x, x, x, mask, work, out);
      if constexpr (!call::verdict::ok) return invalid{};
    } else {
      return invalid{};
    }
  }
  template <class Parameters, class X, class Y, class Z, class Mask, class Workspace, class Out>
  static constexpr auto attend_to(const Parameters& p, const X& x, const Y& y, const Z& z,
                                  const Mask& mask, Workspace& work, Out&& out) noexcept {
    using verdict = first_error<
        rules::attend_to<say::attention, X, Y, Z, T, hidden_axis, keys_axis, values_axis>,
        rules::out_fits<say::attention, Out, T, result_of<typename X::layout>>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using from = typename X::layout;
      using keys = typename Y::layout;
      using call =
          call_of<from, rules::query_family, keys, rules::key_family, Mask, Workspace,
                  shape<axis_of<from, rules::query_family>, axis_of<keys, rules::key_family>>>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) return call::run(p, x, y, z, mask, work, out);
      if constexpr (!call::verdict::ok) return invalid{};
    } else {
      return invalid{};
    }
  }

 private:
  // A call whose shapes fit: the axes along which queries and keys lie, and where scratch is. Sizes
  // is for the sentence.
  template <class From, class QueryAxis, class KeyLayout, class KeyAxis, class Mask,
            class Workspace, class Sizes>
  struct call_of {
    static constexpr std::size_t queries = From::template size_of<QueryAxis>;
    static constexpr std::size_t keys = KeyLayout::template size_of<KeyAxis>;
    using scores = detail::scores_of<T, From::template size_of<rules::batch_family>, sizes.heads,
                                     queries, keys>;
    using steps = forward<queries, keys>;
    using scratch = typename steps::workspace;
    using given = detail::given_workspaces<Workspace, scratch>;
    using verdict = first_error<rules::mask_fits<say::attention, detail::mask_of<Mask>, scores>,
                                rules::scratch_fits<say::attention, typename given::each, scratch,
                                                    Sizes>>;

    template <class Parameters, class X, class Y, class Z, class Out>
    static constexpr auto run(const Parameters& p, const X& x, const Y& y, const Z& z,
                              const Mask& mask, Workspace& work, Out& out) noexcept {
      using place = typename given::all;
      return detail::computed<tensor_of<T, result_of<From>>, place>(
          out, work, [&](auto& to, place& own) { sequences(p, x, y, z, mask, to, own); });
    }

    template <class Parameters, class X, class Y, class Z, class Out, class Place>
    static constexpr void sequences(const Parameters& p, const X& x, const Y& y, const Z& z,
                                    const Mask& mask, Out& out, Place& work) noexcept {
      constexpr bool batched = From::template has<rules::batch_family>;
      constexpr std::size_t count = batched ? From::template size_of<rules::batch_family> : 1;
      const auto& masks = detail::as_mask(mask);
      if constexpr (!given::several) {
        for (std::size_t b = 0; b < count; ++b) one<steps>(p, x, y, z, masks, out, b, work);
      } else {
        // A sequence for each worker as long as there are so many, the others in parts.
        constexpr std::size_t whole = count / Place::workers * Place::workers;
        if constexpr (whole > 0)
          work.executor(whole, [&](std::size_t b, std::size_t worker) noexcept {
            one<steps>(p, x, y, z, masks, out, b, work.work[worker]);
          });
        if constexpr (whole < count)
          for (std::size_t b = whole; b < count; ++b)
            one<detail::forward_in_parts<steps, Place::workers>>(p, x, y, z, masks, out, b, work);
      }
    }

    // Sequence b of the batch, as By does it.
    template <class By, class Parameters, class X, class Y, class Z, class Masks, class Out,
              class Place>
    UMBEL_INLINE static constexpr void one(const Parameters& p, const X& x, const Y& y, const Z& z,
                                           const Masks& masks, Out& out, std::size_t b,
                                           Place& work) noexcept {
      constexpr auto xs = detail::strides_along<From, QueryAxis, family>;
      constexpr auto ys = detail::strides_along<KeyLayout, KeyAxis, family>;
      constexpr auto zs = detail::strides_along<typename Z::layout, KeyAxis, family>;
      constexpr auto outs = detail::strides_along<typename Out::layout, QueryAxis, family>;
      By::template run<xs, ys, zs, outs>(p, x.data() + b * xs.batch, y.data() + b * ys.batch,
                                         z.data() + b * zs.batch,
                                         detail::at_sequence<scores>(masks, b),
                                         out.data() + b * outs.batch, work);
    }
  };

  weights_view parameters_;
};

namespace detail {
template <class T, class Hidden, class Heads, class... Options>
void take_multi_head(const multi_head_attention<T, Hidden, Heads, Options...>*);
// Also of const layers, and of classes derived from one.
template <class Layer>
concept is_multi_head = requires(const Layer* layer) { take_multi_head(layer); };
}  // namespace detail
namespace rules {
// Operation: the word that names it.
template <class Operation, class Layer>
using a_multi_head_attention = verdict<detail::is_multi_head<Layer>, Operation,
                                       say::the_first_argument_is_not_a_multi_head_attention>;
}  // namespace rules

// Would a call compile? Generic code asks first: attends<attention, queries, context, context>.
namespace detail {
template <class Layer, class X, class Y, class Z>
inline constexpr bool attends =
    rules::attend_to<say::attention, X, Y, Z, typename Layer::value_type,
                     typename Layer::hidden_axis, typename Layer::keys_axis,
                     typename Layer::values_axis>::ok;
template <class Layer, class X>
inline constexpr bool attends_to_itself = first_error<
    rules::self_attend<say::attention, X, typename Layer::value_type, typename Layer::hidden_axis>,
    rules::one_width<say::attention, typename Layer::hidden_axis, typename Layer::keys_axis,
                     typename Layer::values_axis>>::ok;
}  // namespace detail
template <class Layer, class X, class Y, class Z>
concept attends =
    detail::attends<Layer, std::remove_cvref_t<X>, std::remove_cvref_t<Y>, std::remove_cvref_t<Z>>;
template <class Layer, class X>
concept attends_to_itself = detail::attends_to_itself<Layer, std::remove_cvref_t<X>>;

}  // namespace umbel
