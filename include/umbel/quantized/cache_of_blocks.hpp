// SPDX-License-Identifier: BSL-1.0
// The contents of a key_value_cache of int8 blocks and stacks, and how it steps through them: whole
// models, int16 to int16, with the bits of the whole causal pass:
//
//   static key_value_cache<quantized<model>, key<256>> past;
//   past.step(out, layers, prompt);                       // (token<12>, hidden), int16
//   while (past.step(x, layers, x)) ...                   // one more, in place
//
// If the blocks attend to a memory:
//
//   static key_value_cache<quantized<model>, key<128>, longest_memory<48>> past;
//   past.attend_to(decoders, memory);          // (key<40>, hidden), int8: once for each sequence
//   while (past.step(x, decoders, x)) ...
//
// See decode/cache_of_blocks.hpp for the calls, and past.hpp for the storage of an attention.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/decode/cache_of_blocks.hpp>
#include <umbel/quantized/block.hpp>
#include <umbel/quantized/past.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

template <class Layer, class... OfLayer>
  requires integers::is_of_blocks<Layer>
inline constexpr bool stores_blocks<quantized<Layer, OfLayer...>> = true;

template <class Layer, class... OfLayer>
struct cached_blocks<quantized<Layer, OfLayer...>> {
  using blocks = blocks_in<Layer>;
  using block = typename blocks::block;
  using weight = integers::softmax_of<OfLayer...>;
  using numbers = integers::block_numbers<typename block::described, weight>;
  using number = std::int16_t;  // of x
  using of_memory = std::int8_t;
  using of_scores = float;
  template <class Part>
  using attention = quantized<Part, softmax_as<weight>>;
  template <class... More>
  using options = option_kinds<rules::batch_family, option::longest_sequence, More...>;

  template <class Part, std::size_t N>
  using scratch_of_rows = typename integers::part_in_integers<Part, weight>::template scratch<N, N>;
  template <std::size_t N, class... Scratch>
  using scratch = integers::block_scratch<
      std::index_sequence<N>,
      integers::normed_and_heads<false, residual::rows_memory<std::int8_t, N * block::width>,
                                 integers::no_scratch>,
      numbers::norms_branches ? N * block::width : 0, Scratch...>;
  // A memory needs scratch only if its keys are normalized or rotated, for any number of rows.
  template <std::size_t Rows, std::size_t Count>
  static constexpr std::size_t rows_at_once = Count;
  static constexpr std::size_t rows_on_stack = 1;

  template <std::size_t Number>
  static constexpr const auto& weights_of_part(const numbers& n) noexcept {
    return n.template at<block::slot_of_part(Number)>();
  }
  template <class Attentions>
  struct parts_of_step {
    const Attentions& attentions;
    template <std::size_t I, class Numbers, class Y, class Finish, class Work>
    constexpr void run(const Numbers& n, const std::int8_t* from, Y* to, const Finish& finish,
                       Work& work) const noexcept {
      constexpr std::size_t number = block::template event_at<I>.number;
      attentions.template attend<number>(n, from, to, residual::start<number>(work.parts), finish);
    }
  };
  // N rows of x through a block; y may be x.
  template <std::size_t N, class Work, class Attentions>
  static constexpr void rows(const numbers& n, const number* x, number* y, Work& work,
                             const Attentions& attentions) noexcept {
    if (x != y)
      for (std::size_t i = 0; i < N * block::width; ++i) y[i] = x[i];
    n.template rows<N>(y, work, parts_of_step<Attentions>{attentions});
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
