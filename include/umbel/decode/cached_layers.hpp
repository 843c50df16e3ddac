// SPDX-License-Identifier: BSL-1.0
// The layers that a cache accepts, and how long a sequence may be.
#pragma once

#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// Option of a cache: a sequence may have Positions positions; a query sees the last key::size of
// them, and older ones are dropped. Chunk: the most positions that one step adds.
template <std::size_t Positions, std::size_t Chunk = 1>
struct longest_sequence {
  using kind = detail::option::longest_sequence;
  static constexpr std::size_t positions = Positions, chunk = Chunk;
};

namespace detail {
struct not_sliding {
  static constexpr std::size_t positions = 0, chunk = 0;
};

template <class Layer>
concept decodes_in_blocks = is_of_parts<typename blocks_in<Layer>::block>;
// Does a cache accept the layer as attention? As blocks? Other headers specialize both.
template <class Layer>
inline constexpr bool stores_heads = false;
template <class Layer>
inline constexpr bool stores_blocks = decodes_in_blocks<Layer>;
// Is it a formula? Can it be decoded (cache_of_formula.hpp is included)?
template <class Layer>
inline constexpr bool is_formula = requires { std::remove_cv_t<Layer>::traceable; };
template <class Layer>
inline constexpr bool is_formula_in_integers =
    requires { std::remove_cv_t<Layer>::layer::traceable; };
template <class Layer>
inline constexpr bool decodes_as_formula = false;

namespace rules {
template <class Layer, class Keys, class... Options>
using cache_of_attention =
    cache<Layer, Keys, option_or<option::longest_sequence, not_sliding, Options...>,
          option_or<option::stored_as, umbel::stored_as<typename Layer::value_type>, Options...>,
          Options...>;
template <class Layer>
using a_layer_to_decode = first_error<
    verdict<!is_formula<Layer>, say::key_value_cache,
            say::of_a_formula_needs_its_header_so_include_decode_cache_of_formula>,
    verdict<!is_formula_in_integers<Layer>, say::key_value_cache,
            say::of_a_formula_in_integers_needs_its_header_so_include_quantized_cache_of_formula>,
    verdict<
        detail::is_multi_head<Layer> || stores_blocks<Layer> || one_is_invalid<Layer>,
        say::key_value_cache,
        say::
            the_first_argument_is_not_a_multi_head_attention_an_encoder_or_decoder_layer_or_a_layer_stack>>;
}  // namespace rules
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
