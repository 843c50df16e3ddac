// SPDX-License-Identifier: BSL-1.0
// One call of a multi_head_attention: its verdict and, where that is accepted, the loop over the
// batch. Layer has what multi_head_types gives it (multi_head.hpp).
#pragma once

#include <umbel/attention/forward_in_parts.hpp>
#include <umbel/attention/rules.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/mask/combine.hpp>
#include <umbel/mask/in_formula.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// A call whose shapes fit: the axes along which queries and keys lie, and where scratch is. Sizes
// is for the sentence.
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
  using given = given_workspaces<Workspace, scratch>;
  using place = typename given::all;
  using result = tensor_of<T, typename Layer::template result_of<From>>;
  using verdict = first_error<
      rules::mask_fits<say::multi_head_attention, mask_of<Mask>, scores>,
      rules::scratch_fits<say::multi_head_attention, typename given::each, scratch, Sizes>>;

  // All sequences of the batch, one after another or handed out to workers.
  template <class Weights, class X, class Y, class Z, class Out>
  static constexpr void each_sequence(const Weights& w, const X& x, const Y& y, const Z& z,
                                      const Mask& mask, Out& out, place& work) noexcept {
    constexpr auto xs = strides_along<From, QueryAxis, family>;
    constexpr auto ys = strides_along<KeyLayout, KeyAxis, family>;
    constexpr auto zs = strides_along<typename Z::layout, KeyAxis, family>;
    constexpr auto outs = strides_along<typename Out::layout, QueryAxis, family>;
    const auto& masks = as_mask(mask);
    if constexpr (!given::several) {
      for (std::size_t b = 0; b < sequences; ++b)
        steps::template forward<xs, ys, zs, outs>(
            w, x.data() + b * xs.batch, y.data() + b * ys.batch, z.data() + b * zs.batch,
            at_sequence<scores>(masks, b), out.data() + b * outs.batch, work);
    } else {
      // A sequence for each worker as long as there are enough of them, the others in parts.
      constexpr std::size_t whole = sequences / place::workers * place::workers;
      if constexpr (whole > 0)
        work.hand_out(whole, [&](std::size_t b, std::size_t worker) noexcept {
          steps::template forward<xs, ys, zs, outs>(
              w, x.data() + b * xs.batch, y.data() + b * ys.batch, z.data() + b * zs.batch,
              at_sequence<scores>(masks, b), out.data() + b * outs.batch, work.work[worker]);
        });
      if constexpr (whole < sequences)
        for (std::size_t b = whole; b < sequences; ++b)
          forward_in_parts<steps, place::workers>::template forward<xs, ys, zs, outs>(
              w, x.data() + b * xs.batch, y.data() + b * ys.batch, z.data() + b * zs.batch,
              at_sequence<scores>(masks, b), out.data() + b * outs.batch, work);
    }
  }
};

// A call of one sequence, or of queries to keys, and its verdict: on the shapes, then on mask and
// workspace. Out: of a forwarding reference.
template <class Shapes, class Call>
struct call_rule {
  using type = Shapes;
};
template <class Call>
struct call_rule<accepted, Call> {
  using type = typename Call::call::verdict;
};

template <class Layer, class X, class Mask, class Workspace>
struct multi_head_self {
  using layout = typename X::layout;
  using sequence = rules::sequence_family<layout, typename Layer::hidden_axis>;
  using call = multi_head_call<Layer, layout, sequence, layout, sequence, Mask, Workspace,
                               shape<axis_of<layout, sequence>>>;
};
template <class Layer, class X, class Mask, class Workspace, class Out>
struct multi_head_self_rule {
  using T = typename Layer::value_type;
  using hidden = typename Layer::hidden_axis;
  using type = typename call_rule<
      first_error<rules::no_second_sequence<say::multi_head_attention, Mask>,
                  rules::self_attend<say::multi_head_attention, X, T, hidden>,
                  rules::one_width<say::multi_head_attention, hidden, typename Layer::keys_axis,
                                   typename Layer::values_axis>,
                  rules::out_fits<say::multi_head_attention, Out, T,
                                  typename Layer::template result_of<typename X::layout>>>,
      multi_head_self<Layer, X, Mask, Workspace>>::type;
};

template <class Layer, class X, class Y, class Mask, class Workspace>
struct multi_head_cross {
  using from = typename X::layout;
  using keys = typename Y::layout;
  using call =
      multi_head_call<Layer, from, rules::query_family, keys, rules::key_family, Mask, Workspace,
                      shape<axis_of<from, rules::query_family>, axis_of<keys, rules::key_family>>>;
};
template <class Layer, class X, class Y, class Z, class Mask, class Workspace, class Out>
struct multi_head_cross_rule {
  using T = typename Layer::value_type;
  using type = typename call_rule<
      first_error<
          rules::attend_to<say::multi_head_attention, X, Y, Z, T, typename Layer::hidden_axis,
                           typename Layer::keys_axis, typename Layer::values_axis>,
          rules::out_fits<say::multi_head_attention, Out, T,
                          typename Layer::template result_of<typename X::layout>>>,
      multi_head_cross<Layer, X, Y, Mask, Workspace>>::type;
};

// Calls in a formula. Mask: what is given.
template <class Shapes, class Mask>
using multi_head_rule_in_formula =
    first_error<Shapes, rules::mask_in_a_formula<say::multi_head_attention, Mask>>;

// In the graph of a gradient: training/blocks.hpp.
template <class Layer>
struct multi_head_block;

// What they do, of views. given: weights and mask (formula/parts.hpp); of_mask: its tensors.
template <class Layer, class X>
struct multi_head_self_steps {
  using block = multi_head_block<Layer>;
  template <class Mask>
  using call = typename multi_head_self<Layer, X, Mask, in_formula>::call;
  using scratch = typename call<every_key>::scratch;
  using result = row_major<typename Layer::template result_of<layout_of<X>>>;
  static constexpr std::uint64_t flops = call<every_key>::flops;
  static constexpr std::size_t tables = call<every_key>::steps::tables;

  template <class Given, class Y, class... OfMask>
  static constexpr void run(const Given& given, Y& y, scratch& work, const X& x,
                            const OfMask&... of_mask) noexcept {
    const auto mask = given.mask(of_mask...);
    call<std::remove_const_t<decltype(mask)>>::each_sequence(given.weights(), x, x, x, mask, y,
                                                             work);
  }
};
template <class Layer, class X, class Y>
struct multi_head_cross_steps {
  using block = multi_head_block<Layer>;
  template <class Mask>
  using call = typename multi_head_cross<Layer, X, Y, Mask, in_formula>::call;
  using scratch = typename call<every_key>::scratch;
  using result = row_major<typename Layer::template result_of<layout_of<X>>>;
  static constexpr std::uint64_t flops = call<every_key>::flops;
  static constexpr std::size_t tables = call<every_key>::steps::tables;

  template <class Given, class To, class Z, class... OfMask>
  static constexpr void run(const Given& given, To& to, scratch& work, const X& x, const Y& y,
                            const Z& z, const OfMask&... of_mask) noexcept {
    const auto mask = given.mask(of_mask...);
    call<std::remove_const_t<decltype(mask)>>::each_sequence(given.weights(), x, y, z, mask, to,
                                                             work);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
