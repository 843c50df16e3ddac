// SPDX-License-Identifier: BSL-1.0
// key_value_cache of a formula: computes a causal attention written as a formula for the new
// positions only, with the bits of the whole pass:
//
//   #include <umbel/decode/cache_of_formula.hpp>  // umbel.hpp does not include it
//   using past = key_value_cache<decltype(layer), key<256>, called_with<tokens, weights>>;
//   static past cache;                            // tokens: tensor<float, token<1>, hidden<64>>
//   while (cache.step(out, layer, x, w)) ...      // x: the next positions, one or more
//
// The sequence is the axis token of the first tensor. The cache keeps what the formula renames to
// key, or computes from it row by row, if scores or sums read it. `position` counts from the start
// of the sequence. Operations that mix positions in other ways are refused.
//
// See also formula/positions.hpp (kept values), formula/next_positions.hpp (the graph of a step).
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
#include <umbel/attention/rope.hpp>
#include <umbel/layer/norm_options.hpp>
#include <umbel/attention/prepared_heads.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/layer/named_memory.hpp>
#include <umbel/layer/struct_members.hpp>
#include <umbel/layer/weights_rules.hpp>
#include <umbel/layer/weights.hpp>
#include <umbel/attention/forward.hpp>
#include <umbel/layer/workspace_rules.hpp>
#include <umbel/attention/rules.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/mask/memory.hpp>
#include <umbel/mask/position.hpp>
#include <umbel/mask/alibi.hpp>
#include <umbel/mask/combine.hpp>
#include <umbel/mask/in_formula.hpp>
#include <umbel/attention/calls.hpp>
#include <umbel/layer/executor.hpp>
#include <umbel/attention/forward_in_parts.hpp>
#include <umbel/attention/multi_head_call.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/layer/packed_weights.hpp>
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
#include <umbel/block/encoder.hpp>
#include <umbel/block/stack.hpp>
#include <umbel/decode/rules.hpp>
#include <umbel/decode/cached_layers.hpp>
#include <umbel/decode/forward.hpp>
#include <umbel/decode/positions_so_far.hpp>
#include <umbel/decode/past.hpp>
#include <umbel/decode/cache.hpp>
#include <umbel/formula/graph.hpp>
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
#include <umbel/layer/table.hpp>
#include <umbel/formula/parts.hpp>
#include <umbel/formula/rows_of_call.hpp>
#include <umbel/formula/rules.hpp>
#include <umbel/formula/tracer.hpp>
#include <umbel/tensor/contract.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/formula/results.hpp>
#include <umbel/formula/row_blocks.hpp>
#include <umbel/formula/score_rows.hpp>
#include <umbel/formula/row_step.hpp>
#include <umbel/formula/sequences.hpp>
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
#include <umbel/formula/in_parts.hpp>
#include <umbel/formula/call_rules.hpp>
#include <umbel/tensor/print.hpp>
#include <umbel/formula/formula.hpp>
#include <umbel/formula/later_values.hpp>
#include <umbel/formula/positions.hpp>
#include <umbel/formula/next_positions.hpp>
#include <umbel/decode/step_of_formula.hpp>
#include <umbel/decode/call_of_formula.hpp>
// clang-format on

#include <umbel/config.hpp>
#include <umbel/decode/cache.hpp>
#include <umbel/decode/call_of_formula.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
// The key_value_cache of a formula, in floats or in integers. Keys: the number of positions that
// fit in memory. Options: in floats called_with<...>, which is required.
template <class Formula, class Keys, class... Options>
  requires(portable::anything<void> && detail::decodes_as_formula<Formula>)
class key_value_cache<Formula, Keys, Options...>
    : public detail::other_cache_calls<
          typename detail::formulas::cache_of<std::remove_cv_t<Formula>>::calls> {
  using base = detail::other_cache_calls<
      typename detail::formulas::cache_of<std::remove_cv_t<Formula>>::calls>;
  using types =
      typename detail::formulas::cache_of<std::remove_cv_t<Formula>>::template types<Keys,
                                                                                     Options...>;
  static constexpr bool fits = types::verdict::ok;
  static_assert(detail::reported<typename types::verdict>::ok, "umbel: shapes do not fit");

 public:
  using base::step;
  using layer = typename types::layer;
  using value_type = typename types::sizes::T;
  static constexpr std::size_t capacity = types::capacity;
  static constexpr std::size_t positions = capacity;

  // The number of positions so far.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  // Forgets everything.
  constexpr void reset() noexcept { forget(0); }
  // Forgets the positions from `count` on. Returns false and changes nothing if there are fewer.
  [[nodiscard]] constexpr bool rewind(std::size_t count) noexcept {
    if (count > size_) return false;
    forget(count);
    return true;
  }

  // Scratch for steps of this many positions, workspace<token<1>>.
  template <class Positions = axes::token<1>>
  using workspace = typename types::sizes::template workspace<Positions::size>;
  // See workspace_for, for the arguments of a step.
  template <class... X>
  static typename types::sizes::template workspace<detail::formulas::new_positions<X...>>
  workspace_of(const X&...);

  // The formula's result for the next positions: the rows of the whole pass. out: row-major; for
  // several results std::tie(a, b). x: the arguments of the formula (in integers, its tensors),
  // optionally followed by a workspace. An argument with an axis key has as many keys as the cache
  // has room for. Returns false and changes nothing if the positions don't fit.
  template <detail::formulas::memory_of_results Out, class Given, class... X>
    requires(!detail::formulas::last_is_workspace<X...>)
  [[nodiscard]] constexpr auto step(Out&& out, const Given& layer_of, const X&... x) noexcept {
    detail::on_stack on_stack;
    return step_with<Out>(out, layer_of, on_stack, x...);
  }
  template <detail::formulas::memory_of_results Out, class Given, class... X>
    requires detail::formulas::last_is_workspace<X...>
  [[nodiscard]] constexpr auto step(Out&& out, const Given& layer_of, X&&... x) noexcept {
    return workspace_first<Out>(std::make_index_sequence<sizeof...(X) - 1>{}, out, layer_of, x...);
  }

 private:
  template <class Out, std::size_t... I, class Given, class... X>
  constexpr auto workspace_first(std::index_sequence<I...>, std::remove_reference_t<Out>& out,
                                 const Given& layer_of, X&... x) noexcept {
    const detail::formulas::references<std::index_sequence_for<X...>, X...> all{{x}...};
    return step_with<Out>(out, layer_of, detail::formulas::reference_at<sizeof...(I)>(all),
                          detail::formulas::reference_at<I>(all)...);
  }
  template <class Out, class Given, class Work, class... X>
  constexpr auto step_with(std::remove_reference_t<Out>& out, const Given& layer_of, Work& work,
                           const X&... x) noexcept {
    if constexpr (fits) {
      using called = detail::formulas::call_of_cache<types, Out, Given, Work, X...>;
      static_assert(detail::report<typename called::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (called::verdict::ok && called::last::is_traced) {
        if (called::count > capacity - size_) return false;
        using needed = typename types::sizes::template workspace<called::count>;
        detail::with_scratch<needed>(work, [&](auto& scratch) UMBEL_LAMBDA_INLINE {
          types::template run<typename called::decoding, called::count>(kept_, size_, layer_of, out,
                                                                        scratch, x...);
        });
        size_ += called::count;
        return true;
      }
    }
    return false;
  }
  constexpr void forget(std::size_t from) noexcept {
    if constexpr (fits) kept_.forget(from, size_);
    size_ = from;
  }

  std::size_t size_ = 0;
  typename types::sizes::kept_values kept_;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
