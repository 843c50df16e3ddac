// SPDX-License-Identifier: BSL-1.0
// The library without Boost, for targets that lack it. umbel.hpp is the same list plus Hana
// support. Both include every header directly, verdict.hpp first, because each level of inclusion
// adds a line before the message of a compile error.
#pragma once

// clang-format off: the order counts.
#include <umbel/version.hpp>

#include <umbel/shape/verdict.hpp>

#include <umbel/shape/axis.hpp>
#include <umbel/shape/invalid.hpp>
#include <umbel/shape/axes.hpp>
#include <umbel/shape/layout.hpp>
#include <umbel/shape/algebra.hpp>
#include <umbel/shape/words.hpp>
#include <umbel/shape/rules.hpp>
#include <umbel/shape/memory_rules.hpp>
#include <umbel/shape/concepts.hpp>

#include <umbel/tensor/calls_of_other_libraries.hpp>
#include <umbel/tensor/check.hpp>
#include <umbel/tensor/iterator.hpp>
#include <umbel/tensor/view.hpp>
#include <umbel/tensor/refusal.hpp>
#include <umbel/tensor/loop.hpp>
#include <umbel/tensor/elements.hpp>
#include <umbel/tensor/tensor.hpp>
#include <umbel/tensor/print.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/tensor/pipe.hpp>
#include <umbel/tensor/reshape.hpp>
#include <umbel/tensor/copy.hpp>
#include <umbel/tensor/arithmetic.hpp>
#include <umbel/tensor/compare.hpp>
#include <umbel/tensor/contract.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/tensor/expected_view.hpp>

#include <umbel/layer/workspace.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/layer/norm_options.hpp>
#include <umbel/layer/stored_as.hpp>
#include <umbel/layer/parts.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/layer/workspace_rules.hpp>
#include <umbel/layer/executor.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/layer/named_memory.hpp>
#include <umbel/layer/weights_rules.hpp>
#include <umbel/layer/weights.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/layer/project.hpp>
#include <umbel/layer/prepacked.hpp>
#include <umbel/layer/stacked.hpp>
#include <umbel/layer/table.hpp>
#include <umbel/layer/borrowing.hpp>

#include <umbel/mask/rules.hpp>
#include <umbel/mask/base.hpp>
#include <umbel/mask/memory.hpp>
#include <umbel/mask/position.hpp>
#include <umbel/mask/alibi.hpp>
#include <umbel/mask/combine.hpp>
#include <umbel/mask/observe.hpp>
#include <umbel/mask/after.hpp>
#include <umbel/mask/in_formula.hpp>

#include <umbel/operation/softmax.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/operation/activation.hpp>
#include <umbel/operation/reduce.hpp>
#include <umbel/operation/mean.hpp>
#include <umbel/operation/where.hpp>
#include <umbel/operation/maximum.hpp>
#include <umbel/operation/lookup.hpp>
#include <umbel/operation/gather.hpp>
#include <umbel/operation/concat.hpp>
#include <umbel/operation/windows.hpp>
#include <umbel/operation/cumulative_sum.hpp>
#include <umbel/operation/kth_largest.hpp>
#include <umbel/operation/argmax.hpp>

#include <umbel/attention/rope.hpp>
#include <umbel/attention/prepared_heads.hpp>
#include <umbel/attention/score.hpp>
#include <umbel/attention/rules.hpp>
#include <umbel/attention/calls.hpp>
#include <umbel/attention/attend_heads.hpp>
#include <umbel/attention/scaled_dot_product.hpp>
#include <umbel/attention/by_score.hpp>
#include <umbel/attention/forward.hpp>
#include <umbel/attention/forward_in_parts.hpp>
#include <umbel/attention/multi_head_call.hpp>
#include <umbel/attention/multi_head.hpp>
#include <umbel/attention/pruned.hpp>
#include <umbel/attention/additive_rules.hpp>
#include <umbel/attention/additive.hpp>
#include <umbel/attention/rotate.hpp>

#include <umbel/block/linear.hpp>
#include <umbel/block/layer_norm.hpp>
#include <umbel/block/rms_norm.hpp>
#include <umbel/block/embedding.hpp>
#include <umbel/block/positions.hpp>
#include <umbel/block/sinusoidal_positions.hpp>
#include <umbel/block/feed_forward.hpp>
#include <umbel/block/transformer.hpp>
#include <umbel/block/part_names.hpp>
#include <umbel/block/parts.hpp>
#include <umbel/block/description.hpp>
#include <umbel/block/scratch.hpp>
#include <umbel/block/rows.hpp>
#include <umbel/block/encoder_rules.hpp>
#include <umbel/block/decoder_rules.hpp>
#include <umbel/block/block_rules.hpp>
#include <umbel/block/block_calls.hpp>
#include <umbel/block/block_pass.hpp>
#include <umbel/block/residual_block.hpp>
#include <umbel/block/ready_made.hpp>
#include <umbel/block/encoder.hpp>
#include <umbel/block/decoder.hpp>
#include <umbel/block/stack.hpp>
#include <umbel/block/pruned_block.hpp>

#include <umbel/decode/rules.hpp>
#include <umbel/decode/cached_layers.hpp>
#include <umbel/decode/forward.hpp>
#include <umbel/decode/positions_so_far.hpp>
#include <umbel/decode/past.hpp>
#include <umbel/decode/cache.hpp>
#include <umbel/decode/memory.hpp>
#include <umbel/decode/block_storage.hpp>
#include <umbel/decode/cache_of_blocks.hpp>
#include <umbel/decode/sample.hpp>

#include <umbel/formula/graph.hpp>
#include <umbel/formula/rules.hpp>
#include <umbel/formula/parts.hpp>
#include <umbel/formula/tracer.hpp>
#include <umbel/formula/functions.hpp>
#include <umbel/formula/known_operations.hpp>
#include <umbel/formula/rows_of_call.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/formula/named.hpp>
#include <umbel/formula/operands.hpp>
#include <umbel/formula/arithmetic.hpp>
#include <umbel/formula/refused_operators.hpp>
#include <umbel/formula/gather.hpp>
#include <umbel/formula/along_axes.hpp>
#include <umbel/formula/schedule.hpp>
#include <umbel/formula/stored_positions.hpp>
#include <umbel/formula/place_nodes.hpp>
#include <umbel/formula/program.hpp>
#include <umbel/formula/score_form.hpp>
#include <umbel/formula/changed_scores.hpp>
#include <umbel/formula/attend.hpp>
#include <umbel/formula/product.hpp>
#include <umbel/formula/reduce.hpp>
#include <umbel/formula/results.hpp>
#include <umbel/formula/sequences.hpp>
#include <umbel/formula/trace.hpp>
#include <umbel/formula/run.hpp>
#include <umbel/formula/in_parts.hpp>
#include <umbel/formula/call_rules.hpp>
#include <umbel/formula/formula.hpp>
