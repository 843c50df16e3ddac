// SPDX-License-Identifier: BSL-1.0
// fits: does a model fit a board's memory? The answer depends only on types, so a model that is too
// big is a clear compile error instead of a linker error:
//
//   static_assert(fits<board::microbit, prepacked<encoder>, token<16>>);
//
//   struct part_of_it {  a board minus 40 kB of code, and 4 kB of stack and other variables
//     static constexpr std::size_t flash = board::microbit::flash - 40 * 1024;
//     static constexpr std::size_t ram = board::microbit::ram - 4 * 1024;
//   };
//   static_assert(fits<part_of_it, prepacked<encoder>, token<16>>);
//
// It counts the same as footprint: weights and tables as flash; caches, workspace, arguments and
// results as RAM. Code and stack are known only after compiling: the linker checks them
// (docs/how-to/memory.md). Not included by umbel.hpp.
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
#include <umbel/inspect/footprint.hpp>
// clang-format on

#include <umbel/config.hpp>
#include <umbel/inspect/footprint.hpp>

UMBEL_WARNINGS_PUSH
// Boards by name, with the bytes of flash and RAM from their data sheets. Your board is a struct
// with the same two constants.
namespace umbel::board {

// BBC micro:bit: nRF51822, Cortex-M0.
struct microbit {
  static constexpr std::size_t flash = 256 * 1024, ram = 16 * 1024;
};
// BBC micro:bit, second version: nRF52833, Cortex-M4F.
struct microbit_v2 {
  static constexpr std::size_t flash = 512 * 1024, ram = 128 * 1024;
};
// "Blue pill": STM32F103C8, Cortex-M3.
struct blue_pill {
  static constexpr std::size_t flash = 64 * 1024, ram = 20 * 1024;
};
// Arduino Zero: SAMD21G18, Cortex-M0+.
struct arduino_zero {
  static constexpr std::size_t flash = 256 * 1024, ram = 32 * 1024;
};
// Arduino Nano 33 BLE: nRF52840, Cortex-M4F.
struct arduino_nano_33_ble {
  static constexpr std::size_t flash = 1024 * 1024, ram = 256 * 1024;
};
// Raspberry Pi Pico: RP2040, two Cortex-M0+; flash is a separate chip.
struct raspberry_pi_pico {
  static constexpr std::size_t flash = 2048 * 1024, ram = 264 * 1024;
};
// NUCLEO-F446RE: STM32F446RE, Cortex-M4F.
struct nucleo_f446re {
  static constexpr std::size_t flash = 512 * 1024, ram = 128 * 1024;
};

}  // namespace umbel::board

namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct fits;
struct the_model_needs;
struct has;
}  // namespace say
UMBEL_SAYS(bytes_of_ram_but_the_board, "bytes of RAM but the board");
UMBEL_SAYS(expects_a_board_with_flash_and_ram_then_the_arguments_of_footprint,
           "expects a board, with the constants flash and ram; then the arguments of footprint");

namespace footprints {

// (g++ reports the name of a non-static member as an error if its value is asked for.)
template <class Board>
concept has_members_of_objects = requires {
  requires std::is_member_pointer_v<decltype(&Board::flash)>;
} || requires { requires std::is_member_pointer_v<decltype(&Board::ram)>; };
template <class Board>
concept has_flash_and_ram = !has_members_of_objects<Board> && requires {
  std::integral_constant<std::size_t, Board::flash>{};
  std::integral_constant<std::size_t, Board::ram>{};
};

// Whatever footprint refuses, with its message.
template <class Board, class Request, class Verdict = typename Request::verdict>
struct board_rule {
  using type = Verdict;
};
template <class Board, class Request>
struct board_rule<Board, Request, accepted> {
  static constexpr call_footprint needs = Request::value();
  static constexpr std::size_t in_flash = needs.weights + needs.tables;
  using type = first_error<
      verdict<needs.ram <= Board::ram, say::fits, say::the_model_needs, number<needs.ram>,
              say::bytes_of_ram_but_the_board, element<Board>, say::has, number<Board::ram>>,
      verdict<in_flash <= Board::flash, say::fits, say::the_model_needs, number<in_flash>,
              struct bytes_of_flash_but_the_board, element<Board>, say::has, number<Board::flash>>>;
};

template <class Board, class... X>
struct fits_rule {
  using type = verdict<never<Board>, say::fits,
                       say::expects_a_board_with_flash_and_ram_then_the_arguments_of_footprint>;
};
template <has_flash_and_ram Board, class... X>
struct fits_rule<Board, X...> : board_rule<Board, request<std::remove_cvref_t<X>...>> {};

template <class Verdict>
constexpr bool fits_board() {
  static_assert(report<Verdict>::ok, "umbel: shapes do not fit");
  return true;
}

}  // namespace footprints
}  // namespace detail

// True if the memory of a call, as counted by footprint<Model, X...>, fits the board; does not
// compile otherwise. To test instead, compare footprint's numbers.
//   Board      one of umbel::board, or a struct with the constants flash and ram, in bytes
//   Model, X   as for footprint
template <class Board = detail::nothing, class Model = detail::nothing, class... X>
UMBEL_EXPECTS(
    "fits: expects types, of a board, of a layer or formula and of its arguments; write "
    "fits<board, attention, queries>")
inline constexpr bool fits = detail::footprints::fits_board<
    typename detail::footprints::fits_rule<Board, Model, X...>::type>();

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
