// SPDX-License-Identifier: BSL-1.0
// The memory of a cache of blocks: its longest size, and which memories and masks fit.
#pragma once

#include <umbel/config.hpp>
#include <umbel/decode/cache.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::option {
struct longest_memory;
}  // namespace detail::option

// Option of a cache, required for layers with a memory: the memory may be Positions long.
template <std::size_t Positions>
struct longest_memory {
  using kind = detail::option::longest_memory;
  static constexpr std::size_t positions = Positions;
};

namespace detail {
namespace say {
template <std::size_t Positions>
struct longest_memory;
}  // namespace say
template <std::size_t Positions>
struct speak<say::longest_memory<Positions>> {
  static constexpr void to(sentence_buffer& out) {
    out.put("longest_memory=");
    out.put(Positions);
  }
};
UMBEL_SAYS(attend_to_takes_the_layer_and_the_memory_then_a_workspace,
           "attend_to takes the layer and the memory; then a workspace");
UMBEL_SAYS(say_longest_memory_how_many_positions_the_memory_may_have,
           "say how many positions the memory may have: longest_memory<48>");
UMBEL_SAYS(
    causal_stands_in_the_place_of_a_mask_of_the_memory_and_a_step_is_causal_without_it_so_leave_it_out,
    "causal stands in the place of a mask of the memory; a step is causal without it, so leave it "
    "out");
UMBEL_SAYS(the_memory_is_given_once_to_attend_to_and_not_to_each_step,
           "the memory is given once, to attend_to(layer, memory), and not to each step");
UMBEL_SAYS(a_cache_of_encoder_or_decoder_layers_has_step_but_not_append_or_attend,
           "a cache of encoder or decoder layers has step, but not append or attend");
UMBEL_SAYS(
    step_takes_out_and_the_layer_and_the_next_positions_then_a_mask_of_the_memory_then_self_mask_then_a_workspace,
    "step takes out, the layer and the next positions; then a mask of the memory; then a "
    "self_mask; then a workspace");

template <class Layer>
concept decodes_with_memory = decodes_in_blocks<Layer> && blocks_in<Layer>::block::has_memory;

namespace rules {
// The memory itself, passed instead of its mask.
template <class T, class Given>
inline constexpr bool is_the_memory = false;
template <class T, tensor_like Given>
inline constexpr bool is_the_memory<T, Given> = std::is_same_v<typename Given::value_type, T>;
// The mask of the memory in a step, not one for attend_to or for the sequence.
template <class T, class Mask>
using mask_of_memory = first_error<
    verdict<!is_the_memory<T, Mask>, say::key_value_cache,
            say::the_memory_is_given_once_to_attend_to_and_not_to_each_step>,
    verdict<
        !std::is_same_v<Mask, std::remove_const_t<decltype(causal)>>, say::key_value_cache,
        say::
            causal_stands_in_the_place_of_a_mask_of_the_memory_and_a_step_is_causal_without_it_so_leave_it_out>>;
template <class T, class... Given>
struct arguments_of_step {
  using type = arguments<
      say::key_value_cache,
      say::
          step_takes_out_and_the_layer_and_the_next_positions_then_a_mask_of_the_memory_then_self_mask_then_a_workspace,
      Given...>;
};
template <class T, class Out, class Decode, class X, class Memory, class... Given>
  requires is_the_memory<T, Memory>
struct arguments_of_step<T, Out, Decode, X, Memory, Given...> {
  using type = mask_of_memory<T, Memory>;
};
// Blocks have no append: their keys and values come from the block before. T: a memory.
template <class T, bool HasMemory>
struct calls_of_blocks
    : calls_of_steps<takes_of_step,
                     say::a_cache_of_encoder_or_decoder_layers_has_step_but_not_append_or_attend> {
};
template <class T>
struct calls_of_blocks<T, true> : calls_of_blocks<T, false> {
  template <class... Arguments>
  using step = typename arguments_of_step<T, Arguments...>::type;
};
template <class Positions, std::size_t Most>
using memory_fits_into_cache = verdict<(Positions::size <= Most), say::key_value_cache,
                                       say::longest_memory<Most>, say::must_be_at_least, Positions>;
// The memory of a cache of Layer, with Given for the layer. Batch, Longest: options of the cache.
template <class Layer, class Given, class Memory, class Batch, class Longest,
          class T = typename Layer::value_type, class Hidden = typename Layer::hidden_axis>
using memory_of_cache = first_error<
    layer_of_cache<Layer, Given>,
    self_attend<say::key_value_cache, Memory, T, Hidden, say::the_memory>,
    rows_of<say::key_value_cache, Memory, T, Hidden>, batch_first<say::key_value_cache, Memory>,
    batch_of_cache<layout_of<Memory>, Batch, say::the_memory>,
    memory_fits_into_cache<axis_of<layout_of<Memory>, sequence_family<layout_of<Memory>, Hidden>>,
                           Longest::positions>>;
}  // namespace rules
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
