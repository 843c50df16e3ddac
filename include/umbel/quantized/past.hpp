// SPDX-License-Identifier: BSL-1.0
// Keys and values of past positions, int8, for int8 attention. key_value_cache accepts it like
// float attention, with int8 tensors, row-major:
//
//   static key_value_cache<quantized<attention>, key<256>> past;  // batch<2>, longest_sequence<>
//   past.step(out, attend, prompt);                               // (token<12>, hidden), int8
//
// See cache_of_blocks.hpp for blocks, and decode/cache.hpp for the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/decode/cache.hpp>
#include <umbel/quantized/attention.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace rules {
// Layer: the float multi_head_attention; Weight: the type of the weights of attention.
template <class Layer, class Weight, class Keys, class... Options>
using integer_cache = first_error<
    in_place<say::key_value_cache, Keys, axes::key>, well_formed<Keys>,
    options<say::key_value_cache, option_kinds<batch_family, option::longest_sequence>, Options...>,
    well_formed<option_or<batch_family, axes::batch<1>, Options...>>,
    what_is_stored_fits<Layer, Keys, option_or<batch_family, axes::batch<1>, Options...>>,
    longest_sequence_fits<Keys, option_or<option::longest_sequence, not_sliding, Options...>,
                          Options...>,
    sums_fit<detail::axis_or_none<Keys>, detail::integers::most_keys<Weight>>>;
}  // namespace rules

namespace integers {

// The keys and values of one attention. Attention: the float layer; Weight: the type of the weights
// of attention; Turns: the number of rotary positions.
template <class Attention, class Weight, class Sizes, std::size_t Turns>
class past_of_attention {
  using numbers = attention_numbers<Attention, Weight>;
  static constexpr std::size_t rows = Sizes::rows;

 public:
  template <std::size_t N>
  struct scratch_for : workspace_base {
    alignas(64) std::int8_t q[N * numbers::query_width];
    alignas(64) std::int8_t context[N * numbers::context_width];
    kernel::integer_attend_scratch<numbers::template head<N, rows>> of_head;
    UMBEL_NO_UNIQUE_ADDRESS typename numbers::template rotary_scratch<N> to_rotate;
  };
  template <std::size_t N>
  using scores = typename Sizes::template scores<float, Attention::sizes.heads, N>;
  template <class Mask, std::size_t N>
  using mask_rule = typename rules::integer_mask<
      mask_of<Mask>, scores<N>,
      first_error<rules::mask_of_cache<mask_of<Mask>, Sizes::slides>,
                  rules::mask_fits<say::key_value_cache, mask_of<Mask>, scores<N>>>>::type;

  // N positions of sequence b from `position` on, into the rows from `row` on.
  template <std::size_t N, sequence_strides, sequence_strides, class Work>
  constexpr void append(const numbers& n, std::size_t b, const std::int8_t* y, const std::int8_t* z,
                        std::size_t position, std::size_t row, Work& work) noexcept {
    n.template project_keys<N, turns<N>>(y, keys_ + (b * rows + row) * numbers::key_width, position,
                                         work.to_rotate);
    n.template project_values<N>(z, values_ + (b * rows + row) * numbers::value_width);
  }
  // N queries, the first at `position`, to all stored keys. mask(h): a head_mask.
  template <std::size_t N, sequence_strides, sequence_strides, class Mask, class T,
            class Finish = finish_as<T>>
  constexpr void attend(const numbers& n, std::size_t b, const std::int8_t* x, std::size_t position,
                        const Mask& mask, T* out, scratch_for<N>& work,
                        const Finish& finish = {}) const noexcept {
    n.template project_queries<N, turns<N>>(x, work.q, position, work.to_rotate);
    n.template attend_heads<N, rows>(work.q, keys_ + b * rows * numbers::key_width,
                                     values_ + b * rows * numbers::value_width, mask, work.context,
                                     work.of_head);
    n.template project_context<N>(work.context, out, finish);
  }
  constexpr void drop(std::size_t gone, std::size_t left) noexcept {
    for (std::size_t b = 0; b < Sizes::batches; ++b) {
      move_rows(keys_ + b * rows * numbers::key_width, gone, left, numbers::key_width);
      move_rows(values_ + b * rows * numbers::value_width, gone, left, numbers::value_width);
    }
  }

 private:
  // Positions in the table for rotary positions. `attend` may have more queries than keys.
  template <std::size_t N>
  static constexpr std::size_t turns = N > Turns ? N : Turns;

  alignas(64) std::int8_t keys_[Sizes::batches * rows * numbers::key_width]{};
  alignas(64) std::int8_t values_[Sizes::batches * rows * numbers::value_width]{};
};

}  // namespace integers

template <class T, class Hidden, class Heads, class... OfLayer, class... OfCalls>
inline constexpr bool
    stores_heads<quantized<multi_head_attention<T, Hidden, Heads, OfLayer...>, OfCalls...>> = true;

template <class Layer, class... OfCalls>
struct cached_attention<quantized<Layer, OfCalls...>> {
  using attention = Layer;
  using weight = integers::softmax_of<OfCalls...>;
  using number = std::int8_t;
  using result = integers::result_of<OfCalls...>;
  template <class... Options>
  using stored = std::int8_t;
  template <class Keys, class... Options>
  using verdict = rules::integer_cache<Layer, weight, Keys, Options...>;
  template <std::size_t Capacity, class... Options>
  using sizes = cache_sizes<drops_positions, Capacity, Options...>;
  template <class Sizes, std::size_t Turns, class... Options>
  using past = integers::past_of_attention<Layer, weight, Sizes, Turns>;
  template <class X, class Axis>
  using argument_fits = first_error<rules::rows_of<say::key_value_cache, X, number, Axis>,
                                    rules::batch_first<say::key_value_cache, X>>;
  template <class Out, class Result>
  using out_fits = rules::row_major_out<say::key_value_cache, Out, result, Result>;
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
