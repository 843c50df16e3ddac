// SPDX-License-Identifier: BSL-1.0
// The needs of a key_value_cache's step (footprint.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/decode/cache_of_blocks.hpp>
#include <umbel/inspect/call_footprint.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace say {
struct footprint;
}  // namespace say
UMBEL_SAYS(
    takes_a_cache_then_the_axis_of_the_new_positions_then_key_the_positions_in_all_then_of_decoder_layers_key_those_of_the_memory,
    "takes a cache; then the axis of the new positions, such as token<1>; then key<100>, the "
    "positions in all; then, of decoder layers, key<48>, those of the memory");
UMBEL_SAYS(positions_in_all_cannot_be_fewer_than_the_new_ones,
           "positions in all cannot be fewer than the new ones,");
UMBEL_SAYS(positions_in_all_but_the_cache_has_only, "positions in all, but the cache has only");

namespace footprints {

// The float layer, or the one that a quantized layer is made from.
template <class Cache>
using layer_of = typename floats_of<typename Cache::layer>::type;

template <class Cache>
inline constexpr bool is_cache = false;
template <class Layer, class Keys, class... Options>
inline constexpr bool is_cache<key_value_cache<Layer, Keys, Options...>> = true;

// A step is self-attention: one width.
template <class Layer>
struct step_of_layer {
  using verdict = accepted;
};
template <is_multi_head Layer>
struct step_of_layer<Layer> {
  using verdict = rules::one_width<say::key_value_cache, typename Layer::hidden_axis,
                                   typename Layer::keys_axis, typename Layer::values_axis>;
};

// The sum of of_part(layer, its reads) over all parts of a layer; attention is one part.
template <class Layer, class F>
constexpr std::uint64_t sum_of_parts(const F& of_part) {
  using residual::reads;
  if constexpr (decodes_in_blocks<Layer>) {
    using block = typename blocks_in<Layer>::block;
    return [&]<std::size_t... Number>(std::index_sequence<Number...>) {
      return (std::uint64_t{0} + ... +
              of_part(std::type_identity<typename block::template part_layer<Number>>{},
                      std::integral_constant<reads, block::part_sees(Number)>{}));
    }(std::make_index_sequence<block::part_count>{});
  } else {
    return of_part(std::type_identity<Layer>{}, std::integral_constant<reads, reads::sequence>{});
  }
}

// The memory of a step. unread: bytes of one layer's weights for its keys and values.
struct no_memory {
  using verdict = accepted;
  static constexpr std::uint64_t size = 0;
  template <class Encode>
  static constexpr std::uint64_t unread = 0;
};
template <class Cache, class Positions>
struct stored_memory {
  using verdict = rules::memory_fits_into_cache<Positions, Cache::memory_capacity>;
  static constexpr std::uint64_t size = Positions::size;

  // For the weights of a part.
  template <class Weights>
  static constexpr std::uint64_t keys_and_values(const Weights*) {
    std::uint64_t bytes = weights_of<decltype(Weights::k)>() + weights_of<decltype(Weights::v)>();
    if constexpr (requires { &Weights::k_norm; }) bytes += weights_of<decltype(Weights::k_norm)>();
    return bytes;
  }
  template <class Encode, std::size_t Number>
  static constexpr std::uint64_t unread_of_part() {
    using block = typename blocks_in<layer_of<Cache>>::block;
    if constexpr (block::part_sees(Number) != residual::reads::memory) {
      return 0;
    } else {
      const auto of_part = [](const auto& of_block) -> const auto& {
        if constexpr (in_integers<Encode>)
          return of_block.template at<block::slot_of_part(Number)>();
        else
          return block::template weights_at<block::slot_of_part(Number)>(of_block);
      };
      using weights = std::remove_cvref_t<decltype(of_part(
          weights_of_block(std::declval<const Encode&>().get_weights(), 0)))>;
      return keys_and_values(static_cast<weights*>(nullptr));
    }
  }
  template <class Encode>
  static constexpr std::uint64_t unread =
      []<std::size_t... Number>(std::index_sequence<Number...>) {
        return (std::uint64_t{0} + ... + unread_of_part<Encode, Number>());
      }(std::make_index_sequence<blocks_in<layer_of<Cache>>::block::part_count>{});
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

// A step with Memory, no_memory or stored_memory.
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

  using reads = residual::reads;
  template <class Part>
  using of_type = std::type_identity<Part>;
  template <reads Sees>
  using of_reads = std::integral_constant<reads, Sees>;
  static constexpr std::uint64_t layers = blocks_in<floats>::count;
  // Pairs of a new position and a key that it sees; keys that any of them sees.
  static constexpr std::uint64_t pairs = [] {
    std::uint64_t sum = 0;
    for (std::size_t i = All::size - New::size; i < All::size; ++i)
      sum += i + 1 < cache::capacity ? i + 1 : cache::capacity;
    return sum;
  }();
  static constexpr std::uint64_t keys =
      All::size < cache::capacity + New::size - 1 ? All::size : cache::capacity + New::size - 1;

  // Bytes of a scale of keys and values, if any, and of an attention's rotary table.
  using number = typename cache::value_type;
  static constexpr bool is_integer = in_integers<Layer>;
  static constexpr std::size_t scale =
      !is_integer && sizeof(typename cache::stored_type) == 1 ? sizeof(number) : 0;
  template <class Part>
  static constexpr std::size_t table =
      Part::prepare::template table_bytes<std::conditional_t<is_integer, std::int16_t, number>,
                                          cache::positions, Part::sizes.head_dim>;
  // For one layer and one sequence.
  static constexpr std::uint64_t flops =
      sum_of_parts<floats>([]<class Part, reads Sees>(of_type<Part>, of_reads<Sees>) {
        if constexpr (Sees == reads::row)
          return residual::rows_of_part<Part>::template flops<New::size, New::size>;
        else if constexpr (Sees == reads::sequence)
          return Part::sizes.flops(New::size, New::size, pairs);
        else
          return Part::sizes.flops(New::size, 0, New::size * Memory::size);
      });
  // For one layer and sequence, bytes of keys and values that are read, and that are added.
  static constexpr std::uint64_t stored =
      sum_of_parts<floats>([]<class Part, reads Sees>(of_type<Part>, of_reads<Sees>) {
        if constexpr (Sees == reads::row) {
          return std::uint64_t{0};
        } else {
          constexpr std::uint64_t each = sizeof(typename cache::stored_type) *
                                             (Part::sizes.key_width() + Part::sizes.value_width()) +
                                         scale * 2 * Part::sizes.kv_heads;
          return each * (Sees == reads::sequence ? keys + New::size : Memory::size);
        }
      });
  static constexpr std::uint64_t tables =
      sum_of_parts<floats>([]<class Part, reads Sees>(of_type<Part>, of_reads<Sees>) {
        if constexpr (Sees != reads::row)
          return std::uint64_t{table<Part>};
        else
          return std::uint64_t{0};
      });
  static constexpr std::size_t features_of_result = [] {
    if constexpr (is_multi_head<floats>)
      return floats::sizes.output;
    else
      return floats::hidden_axis::size;
  }();
  static constexpr call_footprint value() {
    constexpr std::size_t weights = weights_of<Encode>(), rows = batch::size * New::size;
    constexpr std::size_t arguments = rows * floats::hidden_axis::size * sizeof(number);
    constexpr std::size_t results = rows * features_of_result * sizeof(typename cache::result_type);
    constexpr std::uint64_t unread = Memory::template unread<Encode>;
    return {
        .weights = weights,
        .tables = tables,
        .cache = sizeof(cache),
        .workspace = sizeof(typename cache::template workspace<New>),
        .arguments = arguments,
        .results = results,
        .flops = layers * batch::size * flops,
        .bytes_moved = weights + layers * (batch::size * stored - unread) + arguments + results};
  }
};

// Encode: the layer that the step calls, or its prepacked form. New: the axis of the new positions.
// All: key<..>, all positions. Memory: key<..>, the memory's positions.
template <class Encode, class Cache, class... Axis>
struct of_step {
  using verdict = detail::verdict<
      (sizeof...(Axis) > 99), say::footprint,
      say::
          takes_a_cache_then_the_axis_of_the_new_positions_then_key_the_positions_in_all_then_of_decoder_layers_key_those_of_the_memory>;
};
template <class Encode, class Cache, class... Axis>
  requires is_formula<Encode>
struct of_step<Encode, Cache, Axis...> {
  using verdict = detail::verdict<
      (sizeof...(Axis) > 99), say::footprint,
      struct of_a_cache_of_a_formula_is_not_known_so_take_sizeof_of_it_and_of_its_workspace>;
};
template <class Encode, class Cache, axis_like New>
struct of_step<Encode, Cache, New> : of_step<Encode, Cache, New, axes::key<Cache::positions>> {};
template <class Encode, class Cache, axis_like New, axis_like All>
  requires(std::is_same_v<typename All::family, rules::key_family> && !is_formula<Encode>)
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
