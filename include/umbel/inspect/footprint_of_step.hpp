// SPDX-License-Identifier: BSL-1.0
// What a step of a key_value_cache needs (footprint.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/decode/cache_of_decoders.hpp>
#include <umbel/inspect/call_footprint.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace say {
struct footprint;
struct
    takes_a_cache_then_the_axis_of_the_new_positions_then_key_the_positions_in_all_then_of_decoder_layers_key_those_of_the_memory;
struct positions_in_all_cannot_be_fewer_than_the_new_ones;
struct positions_in_all_but_the_cache_has_only;
}  // namespace say
template <>
inline constexpr const char* spoken<
    say::
        takes_a_cache_then_the_axis_of_the_new_positions_then_key_the_positions_in_all_then_of_decoder_layers_key_those_of_the_memory> =
    "takes a cache; then the axis of the new positions, such as token<1>; then key<100>, the "
    "positions in all; then, of decoder layers, key<48>, those of the memory";
template <>
inline constexpr const char* spoken<say::positions_in_all_cannot_be_fewer_than_the_new_ones> =
    "positions in all cannot be fewer than the new ones,";
template <>
inline constexpr const char* spoken<say::positions_in_all_but_the_cache_has_only> =
    "positions in all, but the cache has only";

namespace footprints {

// Of floats, or of those that a layer in integers is made of.
template <class Cache>
using layer_of = typename floats_of<typename Cache::layer>::type;

template <class Cache>
inline constexpr bool is_cache = false;
template <class Layer, class Keys, class... Options>
inline constexpr bool is_cache<key_value_cache<Layer, Keys, Options...>> = true;

// A step is self-attention: of one width.
template <class Layer>
struct step_of_layer {
  using verdict = accepted;
};
template <is_multi_head Layer>
struct step_of_layer<Layer> {
  using verdict = rules::one_width<say::key_value_cache, typename Layer::hidden_axis,
                                   typename Layer::keys_axis, typename Layer::values_axis>;
};

// The attention of a block to its own sequence.
template <class Layer>
struct attention_in {
  using type = typename blocks_in<Layer>::block::attention;
};
template <is_multi_head Layer>
struct attention_in<Layer> {
  using type = Layer;
};
template <decodes_with_memory Layer>
struct attention_in<Layer> {
  using type = typename blocks_in<Layer>::block::self_attention;
};

// The memory of a step. numbers: its keys and values, stored by attend_to, of one layer and
// sequence; scales: theirs, where they are in 8 bits; unread: bytes of the weights that made them,
// of one layer, which no step reads.
struct no_memory {
  using verdict = accepted;
  static constexpr std::uint64_t numbers = 0, scales = 0;
  template <class Encode>
  static constexpr std::uint64_t unread = 0;
};
template <class Cache, class Positions>
struct stored_memory {
  using verdict = rules::memory_fits_into_cache<Positions, Cache::memory_capacity>;
  static constexpr std::size_t size = Positions::size;
  static constexpr head_sizes sizes = blocks_in<layer_of<Cache>>::block::cross_attention::sizes;
  static constexpr std::uint64_t numbers = size * (sizes.key_width() + sizes.value_width());
  static constexpr std::uint64_t scales = size * 2 * sizes.kv_heads;

  template <class Encode>
  static const auto& block_of(const Encode& encode) {
    if constexpr (in_integers<Encode>)
      return encode.numbers_at(0);
    else
      return weights_of_block(encode.get_weights(), 0);
  }
  template <class Encode>
  using cross_weights = decltype(std::remove_cvref_t<decltype(block_of(
                                     std::declval<const Encode&>()))>::cross_attention);
  template <class Encode>
  static constexpr std::uint64_t unread = weights_of<decltype(cross_weights<Encode>::k)>() +
                                          weights_of<decltype(cross_weights<Encode>::v)>();
};
template <class Cache>
struct longest_memory_of {
  using type = no_memory;
};
template <class Cache>
  requires decodes_with_memory<layer_of<Cache>>
struct longest_memory_of<Cache> {
  using type = stored_memory<Cache, axes::key<Cache::memory_capacity>>;
};

// Of what a step's numbers are, and those that are stored.
template <class Cache, class Layer, std::size_t New>
struct numbers_of_step {
  using argument = typename Layer::value_type;
  using result = argument;
  using stored = typename Cache::stored_type;
  using forward = cached_forward<typename attention_in<Layer>::type, stored, New, Cache::rows,
                                 Cache::positions>;
  static constexpr std::size_t scale = forward::scaled ? sizeof(argument) : 0;
  static constexpr std::size_t tables = forward::tables;
};
template <class Layer>
struct result_of_step {
  using type = typename Layer::input_type;
};
template <class Layer>
  requires requires { typename Layer::result_type; }
struct result_of_step<Layer> {
  using type = typename Layer::result_type;
};
template <class Cache, in_integers Layer, std::size_t New>
struct numbers_of_step<Cache, Layer, New> {
  using argument = typename Layer::input_type;
  using result = typename result_of_step<Layer>::type;
  using stored = std::int8_t;
  using attention = typename attention_in<layer_of<Cache>>::type;
  static constexpr std::size_t scale = 0;
  static constexpr std::size_t tables =
      attention::rotary::template table_bytes<std::int16_t, Cache::positions,
                                              attention::sizes.head_dim>;
};

// A step beside Memory, no_memory or stored_memory.
template <class Memory, class Encode, class Cache, class New, class All>
struct step_beside;
template <class Memory, class Encode, class Layer, class Keys, class... Options, class New,
          class All>
struct step_beside<Memory, Encode, key_value_cache<Layer, Keys, Options...>, New, All> {
  using cache = key_value_cache<Layer, Keys, Options...>;
  using floats = typename floats_of<Layer>::type;
  using batch = option_or<rules::batch_family, axes::batch<1>, Options...>;
  using sliding = option_or<option::longest_sequence, not_sliding, Options...>;
  static constexpr std::size_t at_once = cache::slides ? sliding::chunk : cache::capacity;
  using verdict = first_error<
      rules::layer_of_cache<Layer, Encode>, typename step_of_layer<floats>::verdict,
      rules::in_place<say::footprint, New, axes::token>, rules::well_formed<New>,
      rules::fits_into_cache<New, Keys, at_once>,
      detail::verdict<(All::size >= New::size), say::footprint, All,
                      say::positions_in_all_cannot_be_fewer_than_the_new_ones, New>,
      detail::verdict<(All::size <= cache::positions), say::footprint, All,
                      say::positions_in_all_but_the_cache_has_only, axes::key<cache::positions>>,
      typename Memory::verdict>;

  static constexpr std::uint64_t layers = blocks_in<floats>::count;
  // Pairs of a new position and one that it sees; keys that one of them sees.
  static constexpr std::uint64_t pairs = [] {
    std::uint64_t sum = 0;
    for (std::size_t i = All::size - New::size; i < All::size; ++i)
      sum += i + 1 < cache::capacity ? i + 1 : cache::capacity;
    return sum;
  }();
  static constexpr std::uint64_t keys =
      All::size < cache::capacity + New::size - 1 ? All::size : cache::capacity + New::size - 1;

  using attention = typename attention_in<floats>::type;
  static constexpr head_sizes sizes = attention::sizes;
  // Of one layer on one sequence.
  static constexpr std::uint64_t flops = [] {
    if constexpr (is_multi_head<floats>)
      return sizes.flops(New::size, New::size, pairs);
    else if constexpr (decodes_with_memory<floats>)
      return blocks_in<floats>::block::flops_of(New::size, pairs, 0, Memory::size);
    else
      return blocks_in<floats>::block::flops_of(New::size, pairs);
  }();
  static constexpr call_footprint value() {
    using numbers = numbers_of_step<cache, Layer, New::size>;
    constexpr std::size_t weights = weights_of<Encode>(), rows = batch::size * New::size;
    constexpr std::size_t arguments =
        rows * floats::hidden_axis::size * sizeof(typename numbers::argument);
    constexpr std::size_t results = rows * sizes.output * sizeof(typename numbers::result);
    // Of one layer: keys and values that are read, and those that are added.
    constexpr std::uint64_t stored =
        batch::size *
        (sizeof(typename numbers::stored) *
             ((keys + New::size) * (sizes.key_width() + sizes.value_width()) + Memory::numbers) +
         numbers::scale * ((keys + New::size) * 2 * sizes.kv_heads + Memory::scales));
    constexpr std::uint64_t unread = Memory::template unread<Encode>;
    return {.weights = weights,
            .tables = numbers::tables,
            .cache = sizeof(cache),
            .workspace = sizeof(typename cache::template workspace<New>),
            .arguments = arguments,
            .results = results,
            .flops = layers * batch::size * flops,
            .bytes_moved = weights + layers * (stored - unread) + arguments + results};
  }
};

// Encode: the layer that the step calls, or its prepacked form. New: the axis of the new
// positions; All: key<..>, positions with them; Memory: key<..>, those of the memory.
template <class Encode, class Cache, class... Axis>
struct of_step {
  using verdict = detail::verdict<
      (sizeof...(Axis) > 99), say::footprint,
      say::
          takes_a_cache_then_the_axis_of_the_new_positions_then_key_the_positions_in_all_then_of_decoder_layers_key_those_of_the_memory>;
};
template <class Encode, class Cache, axis_like New>
struct of_step<Encode, Cache, New> : of_step<Encode, Cache, New, axes::key<Cache::positions>> {};
template <class Encode, class Cache, axis_like New, axis_like All>
  requires std::is_same_v<typename All::family, rules::key_family>
struct of_step<Encode, Cache, New, All>
    : step_beside<typename longest_memory_of<Cache>::type, Encode, Cache, New, All> {};
template <class Encode, class Cache, axis_like New, axis_like All, axis_like Memory>
  requires(std::is_same_v<typename All::family, rules::key_family> &&
           std::is_same_v<typename Memory::family, rules::key_family> &&
           decodes_with_memory<layer_of<Cache>>)
struct of_step<Encode, Cache, New, All, Memory>
    : step_beside<stored_memory<Cache, Memory>, Encode, Cache, New, All> {};

}  // namespace footprints

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
