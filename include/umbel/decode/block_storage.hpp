// SPDX-License-Identifier: BSL-1.0
// What the cache of a block stores: for each attention to its own sequence or to a memory the cache
// of that attention, for other parts nothing; which options it takes; the workspace of a step.
#pragma once

#include <umbel/block/residual_block.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/cache.hpp>
#include <umbel/decode/memory.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace say {
struct the_block_has_no_attention_to_its_own_sequence;
}  // namespace say

// The weights of block `i` of them.
template <class Weights>
constexpr const auto& weights_of_block(const Weights& w, std::size_t i) noexcept {
  if constexpr (of_several_layers<Weights>)
    return w.layers[i];
  else
    return w;
}

// The cache of a block's attention, with an option_list of those that are for it.
template <class Attention, class Keys, class List>
struct attention_cache_with;
template <class Attention, class Keys, class... Options>
struct attention_cache_with<Attention, Keys, option_list<Options...>> {
  using verdict = rules::cache_of_attention<Attention, Keys, Options...>;
  // One that is refused is not made, so that the cache of the block refuses it by itself.
  using type = typename std::conditional_t<
      verdict::ok, std::type_identity<key_value_cache<Attention, Keys, Options...>>,
      std::type_identity<key_value_cache<Attention, axes::key<1>>>>::type;
};

namespace residual {
// In the place of the cache of an attention that a block does not have.
struct nothing_stored {
  using stored_type = float;
  static constexpr bool slides = false;
  static constexpr std::size_t capacity = 1, positions = 1, rows = 1;
};
// ---- what is stored of a part
template <class Layer, reads Sees, class Keys, class... Options>
struct stored_of_part {  // nothing
  using verdict = accepted;
  struct type {};
};
template <class Layer, class Keys, class... Options>
struct stored_of_part<Layer, reads::sequence, Keys, Options...>
    : attention_cache_with<
          Layer, Keys,
          typename pick_options<
              option_list<rules::batch_family, option::longest_sequence, option::stored_as>,
              option_list<>, Options...>::type> {};
template <class Layer, class Keys, class... Options>
struct stored_of_part<Layer, reads::memory, Keys, Options...>
    : attention_cache_with<
          Layer,
          axes::key<option_or<option::longest_memory, longest_memory<1>, Options...>::positions>,
          typename pick_options<option_list<rules::batch_family, option::stored_as>, option_list<>,
                                Options...>::type> {};

template <class Layer, class Keys, class... Options>
struct block_storage {
  using blocks = blocks_in<Layer>;
  using block = typename blocks::block;
  using T = typename block::value_type;
  using sequence_of_parts = std::make_index_sequence<block::part_count>;

  // The first part that reads so; 0 where there is none.
  static constexpr std::size_t first_of(reads sees) noexcept {
    for (std::size_t i = 0; i < block::part_count; ++i)
      if (block::part_sees(i) == sees) return i;
    return 0;
  }
  static constexpr bool has_own_attention = [] {
    for (std::size_t i = 0; i < block::part_count; ++i)
      if (block::part_sees(i) == reads::sequence) return true;
    return false;
  }();
  template <std::size_t Number>
  using stored = stored_of_part<typename block::template part_layer<Number>,
                                block::part_sees(Number), Keys, Options...>;
  template <std::size_t Number, std::size_t N>
  struct scratch_of {
    template <class Part = typename block::template part_layer<Number>>
    static auto of() {
      if constexpr (block::part_sees(Number) == reads::row)
        return std::type_identity<typename rows_of_part<Part>::template scratch<N, N>>{};
      else
        return std::type_identity<
            typename stored<Number>::type::template workspace<axes::query<N>>>{};
    }
    using type = typename decltype(of())::type;
  };
  template <class Sequence>
  struct made;
  template <std::size_t... Number>
  struct made<std::index_sequence<Number...>> {
    using all = all_stored<std::index_sequence<Number...>, typename stored<Number>::type...>;
    using verdict = first_error<
        rules::in_place<say::key_value_cache, Keys, axes::key>,
        rules::options<
            say::key_value_cache,
            std::conditional_t<
                block::has_memory,
                option_kinds<rules::batch_family, option::longest_sequence, option::stored_as,
                             option::longest_memory>,
                option_kinds<rules::batch_family, option::longest_sequence, option::stored_as>>,
            Options...>,
        detail::verdict<has_own_attention, say::key_value_cache,
                        say::the_block_has_no_attention_to_its_own_sequence>,
        detail::verdict<!block::has_memory || rules::is_said<option::longest_memory, Options...>,
                        say::key_value_cache,
                        say::say_longest_memory_how_many_positions_the_memory_may_have>,
        typename stored<Number>::verdict...>;
    template <std::size_t N>
    using scratch = scratch_for<T, block::reads_normed ? N * block::width : 0,
                                block::has_branch ? N * block::width : 0, std::index_sequence<N>,
                                typename scratch_of<Number, N>::type...>;
  };
  using all = made<sequence_of_parts>;
};
}  // namespace residual

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
