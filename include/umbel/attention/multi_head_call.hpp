// SPDX-License-Identifier: BSL-1.0
// One call of a multi_head_attention: its verdict and, if accepted, the loop over the batch. Layer:
// has the members of multi_head_types (multi_head.hpp).
#pragma once

#include <umbel/attention/calls.hpp>
#include <umbel/attention/forward_in_parts.hpp>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// A call whose shapes fit: axes of queries and keys, scratch. Sizes is for the sentence.
template <class Layer, class From, class QueryAxis, class KeyLayout, class KeyAxis, class Mask,
          class Workspace, class Sizes>
struct multi_head_call {
  using T = typename Layer::value_type;
  using family = typename Layer::hidden_axis::family;
  static constexpr std::size_t queries = From::template size_of<QueryAxis>;
  static constexpr std::size_t keys = KeyLayout::template size_of<KeyAxis>;
  static constexpr std::size_t sequences =
      From::template has<rules::batch_family> ? From::template size_of<rules::batch_family> : 1;
  static constexpr std::uint64_t flops =
      sequences * Layer::sizes.flops(queries, keys, std::uint64_t{queries} * keys);
  using scores =
      scores_of<T, From::template size_of<rules::batch_family>, Layer::sizes.heads, queries, keys>;
  using steps = typename Layer::template forward_of<queries, keys>;
  using scratch = typename steps::workspace;
  using workspaces = given_workspaces<Workspace, scratch>;
  using place = typename workspaces::all;
  using result = tensor_of<T, typename Layer::template result_of<From>>;
  static constexpr bool by_rows = [] {
    if constexpr (std::is_same_v<Workspace, in_formula>)
      return false;
    else
      return requires { requires steps::by_rows; };
  }();
  using verdict = first_error<
      rules::mask_fits<say::multi_head_attention, mask_of<Mask>, scores_by_rows<scores, by_rows>>,
      rules::scratch_fits<say::multi_head_attention, typename workspaces::each, scratch, Sizes>>;

  // All sequences of the batch, in sequence or handed out to workers.
  template <class Weights, class X, class Y, class Z, class Out>
  static constexpr void each_sequence(const Weights& w, const X& x, const Y& y, const Z& z,
                                      const Mask& mask, Out& out, place& work) noexcept {
    constexpr auto xs = strides_along<From, QueryAxis, family>;
    constexpr auto ys = strides_along<KeyLayout, KeyAxis, family>;
    constexpr auto zs = strides_along<typename Z::layout, KeyAxis, family>;
    constexpr auto outs = strides_along<typename Out::layout, QueryAxis, family>;
    const auto& masks = as_mask(mask);
    using of_mask = mask_of<Mask>;
    if constexpr (!workspaces::several && !of_mask::counts_rows) {
      for (std::size_t b = 0; b < sequences; ++b)
        steps::template forward<xs, ys, zs, outs>(
            w, x.data() + b * xs.batch, y.data() + b * ys.batch, z.data() + b * zs.batch,
            at_sequence<scores>(masks, b), out.data() + b * outs.batch, work);
    } else {
      const auto rows = [&](std::size_t b) {
        return rows_of_attention<QueryAxis, KeyAxis, queries, keys>(masks, b);
      };
      detail::each_sequence<sequences>(
          work, rows,
          [&](std::size_t b, auto& buffers) {
            const auto forward = [&](const auto&... present) {
              steps::template forward<xs, ys, zs, outs>(
                  w, x.data() + b * xs.batch, y.data() + b * ys.batch, z.data() + b * zs.batch,
                  at_sequence<scores>(masks, b), out.data() + b * outs.batch, buffers, present...);
            };
            if constexpr (of_mask::counts_rows)
              forward(rows(b));
            else
              forward();
          },
          [&](std::size_t b, const auto& workers) {
            using of = std::remove_cvref_t<decltype(workers)>;
            forward_in_parts<steps, of::workers>::template forward<xs, ys, zs, outs>(
                w, x.data() + b * xs.batch, y.data() + b * ys.batch, z.data() + b * zs.batch,
                at_sequence<scores>(masks, b), out.data() + b * outs.batch, workers, rows(b));
          });
      if constexpr (of_mask::counts_rows)
        clear_rest<sequences, queries, Layer::sizes.output, outs>(
            out.data(), [&](std::size_t b) { return rows(b).queries; });
    }
  }
};

template <class Layer, class X, class Mask, class Workspace>
struct multi_head_self {
  using layout = typename X::layout;
  using sequence = rules::sequence_family<layout, typename Layer::hidden_axis>;
  using call = multi_head_call<Layer, layout, sequence, layout, sequence, Mask, Workspace,
                               shape<axis_of<layout, sequence>>>;
};
template <class Layer, class X, class Y, class Mask, class Workspace>
struct multi_head_cross {
  using from = typename X::layout;
  using keys = typename Y::layout;
  using call =
      multi_head_call<Layer, from, rules::query_family, keys, rules::key_family, Mask, Workspace,
                      shape<axis_of<from, rules::query_family>, axis_of<keys, rules::key_family>>>;
};

// For the graph of a gradient: training/blocks.hpp.
template <class Layer>
struct multi_head_block;

// The forms of a call (calls.hpp). Out: a forwarding reference's type.
template <class Layer>
struct multi_head_forms {
  static constexpr bool in_formulas = true;
  // (Structs: declaring an alias template with many verdicts costs g++ 100 specializations.)
  template <class X, class Mask, class Workspace, class Out>
  struct self {
    using T = typename Layer::value_type;
    using hidden = typename Layer::hidden_axis;
    using made = multi_head_self<Layer, X, Mask, Workspace>;
    using type = typename call_rule<
        first_error<rules::no_second_sequence<say::multi_head_attention, Mask>,
                    rules::self_attend<say::multi_head_attention, X, T, hidden>,
                    rules::one_width<say::multi_head_attention, hidden, typename Layer::keys_axis,
                                     typename Layer::values_axis>,
                    rules::out_fits<say::multi_head_attention, Out, T,
                                    typename Layer::template result_of<typename X::layout>>>,
        made>::type;
  };
  template <class X, class Y, class Z, class Mask, class Workspace, class Out>
  struct cross {
    using T = typename Layer::value_type;
    using made = multi_head_cross<Layer, X, Y, Mask, Workspace>;
    using type = typename call_rule<
        first_error<
            rules::attend_to<say::multi_head_attention, X, Y, Z, T, typename Layer::hidden_axis,
                             typename Layer::keys_axis, typename Layer::values_axis>,
            rules::out_fits<say::multi_head_attention, Out, T,
                            typename Layer::template result_of<typename X::layout>>>,
        made>::type;
  };
  template <class X>
  using self_workspace = typename Layer::template workspace<
      axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, typename Layer::hidden_axis>>>;
  template <class X, class Y, class Z>
  using cross_workspace =
      typename Layer::template workspace<axis_of<layout_of<X>, rules::query_family>,
                                         axis_of<layout_of<Y>, rules::key_family>>;

  template <class X>
  struct self_call {
    template <class Mask>
    using on = typename multi_head_self<Layer, X, Mask, in_formula>::call;
  };
  template <class X>
  struct self_steps : attention_steps<self_call<X>::template on> {
    using block = multi_head_block<Layer>;
    using to_keys = attention_steps<self_call<X>::template on>;
    template <class Parts, class To, class Scratch, class... OfMask>
    static constexpr void run(const Parts& parts, To& to, Scratch& work, const X& x,
                              const OfMask&... of_mask) noexcept {
      to_keys::run(parts, to, work, x, x, x, of_mask...);
    }
  };
  template <class X, class Y>
  struct cross_call {
    template <class Mask>
    using on = typename multi_head_cross<Layer, X, Y, Mask, in_formula>::call;
  };
  template <class X, class Y, class Z>
  struct cross_steps : attention_steps<cross_call<X, Y>::template on> {
    using block = multi_head_block<Layer>;
  };
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
