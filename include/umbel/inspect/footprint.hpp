// SPDX-License-Identifier: BSL-1.0
// footprint: the needs of a call of a layer, a formula or a cache's step, as constants: bytes of
// weights, cache, scratch, arguments and results, operations, bytes moved. Nothing runs and no
// kernel is compiled:
//
//   static_assert(footprint<encoder, token<64>>.ram <= 64 * 1024);
//   static_assert(footprint<attention, batch<2>, query<4>, key<300>>.workspace <= 32 * 1024);
//   static_assert(footprint<decltype(attend), Q, K, V>.flops == 2'097'152);   a formula
//
//   using past = key_value_cache<model, key<256>>;                   a step of one position,
//   static_assert(footprint<past, token<1>>.ram <= 256 * 1024);      as the last of the 256;
//   footprint<prepacked<model>, past, token<1>, key<100>>.flops      as the 100th, packed weights
//
//   footprint<embed, patch<49>> + footprint<encoder, patch<49>>      one after the other
//
// It doesn't include code size and stack outside the workspace, which the compiler decides
// (docs/how-to/memory.md). See describe.hpp for cycles. Not included by umbel.hpp.
#pragma once

// clang-format off: all that this needs, in order; bare.hpp explains (test/layering.py --lists).
#include <umbel/config.hpp>
#include <umbel/shape/axis.hpp>
#include <umbel/shape/invalid.hpp>
#include <umbel/shape/verdict.hpp>
#include <umbel/shape/layout.hpp>
#include <umbel/shape/algebra.hpp>
#include <umbel/shape/words.hpp>
#include <umbel/shape/rules.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/tensor/check.hpp>
#include <umbel/attention/rope.hpp>
#include <umbel/attention/score.hpp>
#include <umbel/layer/norm_options.hpp>
#include <umbel/layer/parts.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/layer/workspace.hpp>
#include <umbel/shape/axes.hpp>
#include <umbel/shape/computing_rules.hpp>
#include <umbel/shape/concepts.hpp>
#include <umbel/shape/memory_rules.hpp>
#include <umbel/tensor/calls_of_other_libraries.hpp>
#include <umbel/tensor/iterator.hpp>
#include <umbel/tensor/view.hpp>
#include <umbel/tensor/loop.hpp>
#include <umbel/tensor/elements.hpp>
#include <umbel/tensor/tensor.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/layer/workspace_rules.hpp>
#include <umbel/tensor/refusal.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/mask/rules.hpp>
#include <umbel/tensor/pipe.hpp>
#include <umbel/tensor/copy.hpp>
#include <umbel/tensor/arithmetic_rules.hpp>
#include <umbel/tensor/arithmetic.hpp>
#include <umbel/mask/base.hpp>
#include <umbel/attention/rules.hpp>
#include <umbel/attention/additive_rules.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/mask/memory.hpp>
#include <umbel/mask/position.hpp>
#include <umbel/mask/alibi.hpp>
#include <umbel/mask/combine.hpp>
#include <umbel/mask/in_formula.hpp>
#include <umbel/attention/calls.hpp>
#include <umbel/attention/attend_heads.hpp>
#include <umbel/attention/prepared_heads.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/layer/named_memory.hpp>
#include <umbel/layer/struct_members.hpp>
#include <umbel/layer/weights_rules.hpp>
#include <umbel/layer/weights.hpp>
#include <umbel/attention/forward.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/attention/additive.hpp>
#include <umbel/attention/scaled_dot_product.hpp>
#include <umbel/layer/executor.hpp>
#include <umbel/attention/forward_in_parts.hpp>
#include <umbel/attention/multi_head_call.hpp>
#include <umbel/attention/multi_head.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/block/layer_norm.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/operation/activation.hpp>
#include <umbel/block/feed_forward.hpp>
#include <umbel/block/rms_norm.hpp>
#include <umbel/block/transformer.hpp>
#include <umbel/block/decoder_rules.hpp>
#include <umbel/layer/project.hpp>
#include <umbel/block/linear.hpp>
#include <umbel/block/part_names.hpp>
#include <umbel/block/parts.hpp>
#include <umbel/layer/stored_as.hpp>
#include <umbel/layer/prepacked.hpp>
#include <umbel/block/description.hpp>
#include <umbel/block/encoder_rules.hpp>
#include <umbel/block/block_rules.hpp>
#include <umbel/block/block_calls.hpp>
#include <umbel/block/scratch.hpp>
#include <umbel/block/rows.hpp>
#include <umbel/layer/stacked.hpp>
#include <umbel/block/block_pass.hpp>
#include <umbel/block/residual_block.hpp>
#include <umbel/block/ready_made.hpp>
#include <umbel/block/decoder.hpp>
#include <umbel/layer/table.hpp>
#include <umbel/operation/lookup.hpp>
#include <umbel/tensor/contract.hpp>
#include <umbel/block/embedding.hpp>
#include <umbel/block/encoder.hpp>
#include <umbel/block/stack.hpp>
#include <umbel/decode/rules.hpp>
#include <umbel/decode/cached_layers.hpp>
#include <umbel/decode/forward.hpp>
#include <umbel/decode/positions_so_far.hpp>
#include <umbel/decode/past.hpp>
#include <umbel/decode/cache.hpp>
#include <umbel/decode/memory.hpp>
#include <umbel/decode/block_storage.hpp>
#include <umbel/decode/cache_of_blocks.hpp>
#include <umbel/formula/graph.hpp>
#include <umbel/formula/parts.hpp>
#include <umbel/inspect/call_footprint.hpp>
#include <umbel/inspect/footprint_of_layer.hpp>
#include <umbel/inspect/footprint_of_step.hpp>
#include <umbel/formula/schedule.hpp>
#include <umbel/formula/place_nodes.hpp>
#include <umbel/formula/linear_form.hpp>
#include <umbel/tensor/compare.hpp>
#include <umbel/operation/maximum.hpp>
#include <umbel/formula/functions.hpp>
#include <umbel/formula/program.hpp>
#include <umbel/formula/elementwise.hpp>
#include <umbel/formula/gathered_positions.hpp>
#include <umbel/formula/score_form.hpp>
#include <umbel/formula/changed_scores.hpp>
#include <umbel/formula/key_ranges.hpp>
#include <umbel/formula/attend.hpp>
#include <umbel/formula/stored_positions.hpp>
#include <umbel/formula/distance_tables.hpp>
#include <umbel/formula/product.hpp>
#include <umbel/formula/reduce.hpp>
#include <umbel/operation/reduce.hpp>
#include <umbel/operation/argmax.hpp>
#include <umbel/operation/softmax.hpp>
#include <umbel/operation/cumulative_sum.hpp>
#include <umbel/operation/kth_largest.hpp>
#include <umbel/operation/mean.hpp>
#include <umbel/formula/known_operations.hpp>
#include <umbel/formula/rows_of_call.hpp>
#include <umbel/formula/rules.hpp>
#include <umbel/formula/tracer.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/formula/results.hpp>
#include <umbel/formula/row_blocks.hpp>
#include <umbel/formula/score_rows.hpp>
#include <umbel/formula/row_step.hpp>
#include <umbel/formula/sequences.hpp>
#include <umbel/attention/rotate.hpp>
#include <umbel/operation/where.hpp>
#include <umbel/formula/operands.hpp>
#include <umbel/operation/number_function.hpp>
#include <umbel/formula/arithmetic.hpp>
#include <umbel/operation/gather.hpp>
#include <umbel/formula/gather.hpp>
#include <umbel/tensor/reshape.hpp>
#include <umbel/operation/concat.hpp>
#include <umbel/formula/along_axes.hpp>
#include <umbel/formula/refused_operators.hpp>
#include <umbel/formula/trace.hpp>
#include <umbel/formula/run.hpp>
#include <umbel/formula/in_parts.hpp>
#include <umbel/formula/call_rules.hpp>
#include <umbel/tensor/print.hpp>
#include <umbel/formula/formula.hpp>
#include <umbel/inspect/formula_steps.hpp>
// clang-format on

#include <umbel/config.hpp>
#include <umbel/inspect/footprint_of_layer.hpp>
#include <umbel/inspect/footprint_of_step.hpp>
#include <umbel/inspect/formula_steps.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::footprints {

template <class Model, class... X>
struct request : of_arguments<Model, X...> {};
template <class Layer, axis_like... Axis>
  requires(sizeof...(Axis) != 0 &&
           requires {
             typename features_of<typename unpacked<Layer>::type>::type;
             typename unpacked<Layer>::type::value_type;
           })
struct request<Layer, Axis...> {
  using tensors = sequences_along<typename unpacked<Layer>::type, Axis...>;
  using made = of_tensors<typename tensors::verdict, Layer, typename tensors::type>;
  using verdict = typename made::verdict;
  static constexpr call_footprint value() { return made::value(); }
};
template <in_integers Layer, axis_like... Axis>
  requires(sizeof...(Axis) != 0 && requires { typename features_of<typename Layer::layer>::type; })
struct request<Layer, Axis...> {
  using tensors = sequences_along<typename Layer::layer, Axis...>;
  using made = of_tensors<typename tensors::verdict, Layer,
                          typename as_integers<Layer, typename tensors::type>::type>;
  using verdict = typename made::verdict;
  static constexpr call_footprint value() { return made::value(); }
};
template <class Model>
  requires std::is_same_v<std::remove_cvref_t<decltype(Model::footprint)>, call_footprint>
struct request<Model> {
  using verdict = accepted;
  static constexpr call_footprint value() { return Model::footprint; }
};
template <class Cache, class... Axis>
  requires is_cache<Cache>
struct request<Cache, Axis...> : of_step<typename Cache::layer, Cache, Axis...> {};
template <class Encode, class Cache, class... Axis>
  requires(is_cache<Cache> && !is_cache<Encode>)
struct request<Encode, Cache, Axis...> : of_step<Encode, Cache, Axis...> {};
// For the result of a call; the workspace isn't checked.
template <class Fits>
struct formula_verdict {
  using type = typename Fits::verdict;
};
template <class Fits>
  requires Fits::has_result
struct formula_verdict<Fits> {
  using type = accepted;
};
template <class F, class... X>
struct request<formula<F>, X...> {
  using verdict = formulas::takes_these<formulas::accepts<F, X...>, F, X...>;
  static constexpr call_footprint value() { return {}; }  // the body of F has an error
};
template <class F, class... X>
  requires(formulas::accepts<F, X...> && formulas::takes<F, X...>)
struct request<formula<F>, X...> {
  // See workspace_for.
  using fits =
      formulas::call_fits_rule<F, formulas::traced_result<F, X...>, by_value, workspace_base, X...>;
  using verdict = typename formula_verdict<fits>::type;

  template <class T, class... Layout>
  static constexpr std::size_t bytes_of(formulas::list<Layout...>) {
    return (Layout::count + ...) * sizeof(T);
  }
  static constexpr call_footprint value() {
    if constexpr (fits::has_result) {
      constexpr std::size_t weights = (std::size_t{0} + ... + weights_of<X>());
      constexpr std::size_t arguments = (std::size_t{0} + ... + elements_of<X>());
      constexpr std::size_t results = bytes_of<typename fits::T>(typename fits::layouts{});
      return {.weights = weights,
              .tables = formulas::steps_of_formula<F, X...>::tables(),
              .workspace = sizeof(typename fits::scratch),
              .arguments = arguments,
              .results = results,
              .flops = formulas::steps_of_formula<F, X...>::flops(),
              .bytes_moved = weights + arguments + results};
    } else {
      return {};
    }
  }
};

// Of a refused request, so that footprint<wrong>(x) is one error.
struct refused_footprint : call_footprint {
  template <class... X>
  constexpr call_footprint operator()(const X&...) const noexcept {
    return *this;
  }
};
// Verdict: the request's. (If the caller names it, compilers print two lines less.)
template <class Request, class Verdict>
constexpr auto answer() {
  static_assert(report<Verdict>::ok, "umbel: shapes do not fit");
  if constexpr (Verdict::ok)
    return call_footprint(Request::value());
  else
    return refused_footprint{};
}

}  // namespace detail::footprints

// The needs of a call, see call_footprint. Model, X: one of
//   a layer, prepacked<layer>,
//   quantized<layer>                 the axes of its sequences, after a batch<2> if any: token<64>;
//                                    query<4>, key<300> for attention; for decoder layers their
//                                    positions, then the memory's; for linear, feed_forward and
//                                    norms all axes but the features; for embedding those of its
//                                    integers (int). Or the types of its arguments, as for
//                                    workspace_for
//   a key_value_cache                a step: the new positions, token<1>; then key<100>, all
//                                    positions (default: the capacity); for decoder layers then
//                                    key<48>, the memory's (default: the longest). Before the
//                                    cache, the step's layer may be given: prepacked<layer>. (Not
//                                    here: append, attend and attend_to)
//   your model                       a type with `static constexpr call_footprint footprint`, the
//                                    sum of its calls
//   a formula, decltype(f)           the types of its arguments; layers and weights among them
//                                    count as weights
// Errors of a call are errors here, with the same message.
template <class Model = detail::nothing, class... X>
UMBEL_EXPECTS(
    "footprint: expects types, of a layer or formula and of its arguments; write "
    "footprint<attention, queries>")
inline constexpr auto footprint = detail::footprints::answer<
    detail::footprints::request<std::remove_cvref_t<Model>, std::remove_cvref_t<X>...>,
    typename detail::footprints::request<std::remove_cvref_t<Model>,
                                         std::remove_cvref_t<X>...>::verdict>();

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
