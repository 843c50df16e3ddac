// SPDX-License-Identifier: BSL-1.0
// The planner's choices for a layer, as a readable page:
//
//   std::puts(umbel::describe<attention, token<64>>());           self-attention, 64 positions
//   std::puts(umbel::describe<attention, query<4>, key<300>>());
//   std::puts(umbel::describe<encoder, token<64>>());             a block, part by part
//   std::puts(umbel::describe<decoder, token<64>, key<48>>());    with the memory's positions
//
// (For a formula: describe(f, x...), describe_formula.hpp.) It assumes row-major arguments and
// results, no mask, prepacked weights and this build's target. The compiler makes the page, so the
// program holds only its characters. Not included by umbel.hpp.
//
// Cycles are an estimate for a core with two multiply-add units (plan/cost.hpp), of products and
// attention only: norms, activations and sums aren't counted.
#pragma once

// clang-format off: all that this needs, in order; bare.hpp explains (test/layering.py --lists).
#include <umbel/config.hpp>
#include <umbel/shape/axis.hpp>
#include <umbel/shape/invalid.hpp>
#include <umbel/shape/verdict.hpp>
#include <umbel/shape/layout.hpp>
#include <umbel/formula/graph.hpp>
#include <umbel/formula/schedule.hpp>
#include <umbel/formula/place_nodes.hpp>
#include <umbel/shape/algebra.hpp>
#include <umbel/shape/words.hpp>
#include <umbel/shape/rules.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/attention/score.hpp>
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
#include <umbel/tensor/pipe.hpp>
#include <umbel/tensor/copy.hpp>
#include <umbel/tensor/arithmetic_rules.hpp>
#include <umbel/tensor/arithmetic.hpp>
#include <umbel/mask/base.hpp>
#include <umbel/attention/attend_heads.hpp>
#include <umbel/formula/linear_form.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/operation/activation.hpp>
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
#include <umbel/tensor/interop.hpp>
#include <umbel/layer/named_memory.hpp>
#include <umbel/layer/struct_members.hpp>
#include <umbel/layer/weights_rules.hpp>
#include <umbel/layer/weights.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/layer/stored_as.hpp>
#include <umbel/layer/prepacked.hpp>
#include <umbel/layer/stacked.hpp>
#include <umbel/layer/table.hpp>
#include <umbel/mask/memory.hpp>
#include <umbel/mask/position.hpp>
#include <umbel/mask/alibi.hpp>
#include <umbel/mask/combine.hpp>
#include <umbel/mask/in_formula.hpp>
#include <umbel/formula/parts.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/block/layer_norm.hpp>
#include <umbel/layer/norm_options.hpp>
#include <umbel/block/rms_norm.hpp>
#include <umbel/formula/rows_of_call.hpp>
#include <umbel/formula/rules.hpp>
#include <umbel/formula/tracer.hpp>
#include <umbel/layer/project.hpp>
#include <umbel/tensor/contract.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/formula/results.hpp>
#include <umbel/formula/row_blocks.hpp>
#include <umbel/formula/score_rows.hpp>
#include <umbel/formula/row_step.hpp>
#include <umbel/formula/sequences.hpp>
#include <umbel/attention/rope.hpp>
#include <umbel/operation/lookup.hpp>
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
#include <umbel/layer/executor.hpp>
#include <umbel/formula/in_parts.hpp>
#include <umbel/layer/workspace_rules.hpp>
#include <umbel/formula/call_rules.hpp>
#include <umbel/tensor/print.hpp>
#include <umbel/formula/formula.hpp>
#include <umbel/formula/word_names.hpp>
#include <umbel/inspect/formula_steps.hpp>
#include <umbel/inspect/plan_text.hpp>
#include <umbel/inspect/formula_cycles.hpp>
#include <umbel/inspect/order_of_products.hpp>
#include <umbel/inspect/describe_formula.hpp>
#include <umbel/attention/prepared_heads.hpp>
#include <umbel/attention/forward.hpp>
#include <umbel/attention/rules.hpp>
#include <umbel/attention/calls.hpp>
#include <umbel/attention/forward_in_parts.hpp>
#include <umbel/attention/multi_head_call.hpp>
#include <umbel/attention/multi_head.hpp>
#include <umbel/block/feed_forward.hpp>
#include <umbel/block/linear.hpp>
#include <umbel/inspect/plan_of.hpp>
#include <umbel/block/transformer.hpp>
#include <umbel/block/decoder_rules.hpp>
#include <umbel/block/part_names.hpp>
#include <umbel/block/parts.hpp>
#include <umbel/block/description.hpp>
#include <umbel/block/encoder_rules.hpp>
#include <umbel/block/block_rules.hpp>
#include <umbel/block/block_calls.hpp>
#include <umbel/block/scratch.hpp>
#include <umbel/block/rows.hpp>
#include <umbel/block/block_pass.hpp>
#include <umbel/block/residual_block.hpp>
#include <umbel/block/ready_made.hpp>
#include <umbel/block/decoder.hpp>
#include <umbel/block/encoder.hpp>
#include <umbel/block/stack.hpp>
#include <umbel/formula/row_formula.hpp>
#include <umbel/inspect/plan_of_block.hpp>
// clang-format on

#include <umbel/config.hpp>
#include <umbel/inspect/describe_formula.hpp>
#include <umbel/inspect/plan_of.hpp>
#include <umbel/inspect/plan_of_block.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct describe;
struct the_axis_of_the_memory_is_missing_after;
}  // namespace say
UMBEL_SAYS(expects_types_not_objects_so_write_describe_of_layer_and_axes,
           "expects types, not objects; write describe<attention, token<64>>()");
UMBEL_SAYS(expects_a_layer_that_has_a_plan_then_the_axes_of_its_positions,
           "expects a multi_head_attention, a feed_forward, an encoder_layer, a decoder_layer, a "
           "residual_block or a layer_stack; then the axis of its positions, such as token<64>; "
           "then, for a memory, the axis of its positions");

// The page of a layer, and its number of axes; 0 if it has no page.
template <class Layer>
struct page_of_layer {
  static constexpr std::size_t axes = 0;
};
template <is_multi_head Layer>
struct page_of_layer<Layer> {
  static constexpr std::size_t axes = 2;
  static constexpr bool needs_memory = false;
  template <class Writer, class... Axes>
  static constexpr void put(Writer& out) {
    put_plan<plan_of<Layer, Axes...>>(out);
  }
};
template <class T, class Hidden, class Wide, class... Options>
struct page_of_layer<feed_forward<T, Hidden, Wide, Options...>> {
  using layer = feed_forward<T, Hidden, Wide, Options...>;
  using part = plan_of_part<layer>;
  static constexpr std::size_t axes = 1;
  static constexpr bool needs_memory = false;
  template <class Writer, class Positions>
  static constexpr void put(Writer& out) {
    constexpr std::size_t n = Positions::size;
    out.put("feed_forward, ");
    part::template put_what<n, n>(out);
    put_table_head<T>(out);
    put_sum<T>(out, part::template put<n, n>(out, 0));
    put_workspace_head(out);
    put_bytes(out, "all", sizeof(typename layer::template workspace<Positions>));
  }
};
template <class Layer>
  requires(is_of_parts<Layer> || is_stack<Layer>)
struct page_of_layer<Layer> {
  using block = typename blocks_in<Layer>::block;
  static constexpr std::size_t layers = is_stack<Layer> ? blocks_in<Layer>::count : 0;
  static constexpr bool needs_memory = block::has_memory;
  static constexpr std::size_t axes = block::most_axes;
  template <class Writer, class Positions, class Memory = Positions>
  static constexpr void put(Writer& out) {
    constexpr std::size_t n = Positions::size, m = Memory::size;
    using plan = plan_of_block<typename block::described, n, m>;
    using scratch = typename block::template scratch_of<n, m>;
    plan::template put<typename block::described::word, layers, scratch>(out);
  }
};

template <class Layer, class... Axes>
struct described {
  template <class Writer>
  static constexpr void put(Writer& out) {
    page_of_layer<Layer>::template put<Writer, Axes...>(out);
  }
};

// Does a different header describe it (mpi/describe.hpp)?
template <class Layer>
inline constexpr bool describes_itself = false;

namespace rules {
template <class Layer, class... Axes>
struct described_rule {
  using type = verdict<false, say::describe,
                       say::expects_a_layer_that_has_a_plan_then_the_axes_of_its_positions>;
};
template <class Layer, class Axis>
using described_axis = first_error<in_place<say::describe, Axis, axes::token>, well_formed<Axis>>;
template <class Layer>
  requires(page_of_layer<Layer>::axes != 0)
struct described_rule<Layer> {
  using type = in_place<say::describe, nothing, axes::token>;
};
template <class Layer, class Positions>
  requires(page_of_layer<Layer>::axes != 0)
struct described_rule<Layer, Positions> {
  using type = first_error<described_axis<Layer, Positions>,
                           verdict<!page_of_layer<Layer>::needs_memory, say::describe,
                                   say::the_axis_of_the_memory_is_missing_after, Positions>>;
};
template <class Layer, class Positions, class Others>
  requires(page_of_layer<Layer>::axes == 2)
struct described_rule<Layer, Positions, Others> {
  using type = first_error<described_axis<Layer, Positions>, described_axis<Layer, Others>>;
};
}  // namespace rules
}  // namespace detail

// describe<attention, token<64>>(): a layer's plan as zero-terminated lines of ASCII. Layer: a
// multi_head_attention, feed_forward, encoder_layer, decoder_layer or other residual_block, or a
// layer_stack (the page shows one layer). Axes: its positions, then those of the keys or the
// memory.
template <class Layer, class... Axes>
  requires(!detail::describes_itself<Layer>)
constexpr const char* describe() noexcept {
  using verdict = typename detail::rules::described_rule<Layer, Axes...>::type;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return detail::page_of<detail::described<Layer, Axes...>>.text;
  else
    return "";
}

// describe<attention, 4>(), describe<attention, query>() and the like: refused.
#define UMBEL_INSTEAD                                                                         \
  "expects a type of layer, then axes with their sizes; write describe<attention, query<4>, " \
  "key<6>>()"
UMBEL_REFUSES_MIXED(describe, (const Given&...), UMBEL_INSTEAD)
UMBEL_REFUSES_CALL(describe, (const Given&...), UMBEL_INSTEAD, UMBEL_NUMBERS)
UMBEL_REFUSES_CALL(describe, (const Given&...), UMBEL_INSTEAD, UMBEL_NAMES)
UMBEL_REFUSES_CALL(describe, (const Given&...), UMBEL_INSTEAD, template <class...> class Layer,
                   class... Axes)
#undef UMBEL_INSTEAD
// describe(layer, x): refused, as the plan depends on types alone.
template <class Layer, class... X>
  requires(detail::has_its_weights<Layer> || detail::one_is_invalid<Layer> ||
           detail::tensor_like<Layer>)
constexpr const char* describe(const Layer&, const X&...) noexcept {
  using verdict =
      detail::verdict<detail::one_is_invalid<Layer, X...>, detail::say::describe,
                      detail::say::expects_types_not_objects_so_write_describe_of_layer_and_axes>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return "";
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
