// SPDX-License-Identifier: BSL-1.0
// The contents of the cache of a float block: keys and values of its attention to the sequence and
// to a memory; its options, workspace and steps. See quantized/cache_of_blocks.hpp for int8.
#pragma once

#include <umbel/block/residual_block.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/memory.hpp>
#include <umbel/decode/past.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
template <class Weights>
constexpr const auto& weights_of_block(const Weights& w, std::size_t i) noexcept {
  if constexpr (of_several_layers<Weights>)
    return w.layers[i];
  else
    return w;
}

// How a cache stores blocks and steps through them; specialized for int8 blocks.
template <class Layer>
struct cached_blocks {
  using blocks = blocks_in<Layer>;
  using block = typename blocks::block;
  using number = typename block::value_type;  // of x, of a memory, of scores
  using of_memory = number;
  using of_scores = number;
  // The attention that cached_attention stores.
  template <class Part>
  using attention = Part;
  template <class... More>
  using options =
      option_kinds<rules::batch_family, option::longest_sequence, option::stored_as, More...>;

  template <class Part, std::size_t N>
  using scratch_of_rows = typename residual::rows_of_part<Part>::template scratch<N, N>;
  template <std::size_t N, class... Scratch>
  using scratch = residual::scratch_for<number, block::reads_normed ? N * block::width : 0,
                                        block::has_branch ? N * block::width : 0,
                                        std::index_sequence<N>, Scratch...>;
  // How many of the Count rows of a memory are projected at once if the scratch has Rows. Without a
  // workspace: enough to read the weights once for several rows.
  template <std::size_t Rows, std::size_t Count>
  static constexpr std::size_t rows_at_once = Rows < Count ? Rows : Count;
  static constexpr std::size_t rows_on_stack = 4;

  template <std::size_t Number, class Weights>
  static constexpr const auto& weights_of_part(const Weights& w) noexcept {
    return block::template weights_at<block::slot_of_part(Number)>(w);
  }
  template <class Attentions>
  struct parts_of_step {
    const Attentions& attentions;
    template <std::size_t I, std::size_t Rows, class Weights, class Work>
    constexpr void run(const Weights& w, const number* from, number* to,
                       Work& work) const noexcept {
      constexpr residual::event e = block::template event_at<I>;
      if constexpr (e.sees == residual::reads::row)
        residual::rows_of_part<typename block::template layer_at<e.slot>>::template run<Rows>(
            w, from, to, work);
      else
        attentions.template attend<e.number>(w, from, to, work);
    }
  };
  // N rows of x through a block; y may be x.
  template <std::size_t N, class Weights, class Work, class Attentions>
  static constexpr void rows(const Weights& w, const number* x, number* y, Work& work,
                             const Attentions& attentions) noexcept {
    const residual::places<number> place{x, y, work.normed.rows, work.branch.rows};
    const parts_of_step<Attentions> parts{attentions};
    residual::rows<typename block::described>::template each<0, N>(
        std::make_index_sequence<block::event_count>{}, w, place, work, parts);
  }
};

// For a part that is not an attention. Of: cached_blocks.
template <class Of, class Part>
struct nothing_stored {
  using verdict = accepted;
  struct type {};
  template <std::size_t N>
  using scratch = typename Of::template scratch_of_rows<Part, N>;
};

// For a block without such an attention.
struct no_attention_stored {
  using sizes = cache_sizes<drops_blocks, 1>;
  using stored = float;
};
template <std::size_t First, std::size_t... Rest>
constexpr std::size_t first_of_sequence(std::index_sequence<First, Rest...>) noexcept {
  return First;
}

template <class Layer, class Keys, class... Options>
struct block_storage {
  using of = cached_blocks<Layer>;
  using block = typename of::block;
  using reads = residual::reads;
  using all_parts = std::make_index_sequence<block::part_count>;
  using memory_option = option_or<option::longest_memory, longest_memory<1>, Options...>;

  static constexpr std::size_t first_of(reads sees) noexcept {
    for (std::size_t i = 0; i < block::part_count; ++i)
      if (block::part_sees(i) == sees) return i;
    return 0;
  }
  template <class... Kinds>
  using options_of =
      typename pick_options<option_list<rules::batch_family, option::stored_as, Kinds...>,
                            option_list<>, Options...>::type;
  template <reads Sees, class Part, std::size_t Positions>
  using stored_of = std::conditional_t<
      Sees == reads::row, nothing_stored<of, Part>,
      stored_of_attention<
          typename of::template attention<Part>,
          std::conditional_t<Sees == reads::memory, axes::key<memory_option::positions>, Keys>,
          std::conditional_t<Sees == reads::memory, options_of<>,
                             options_of<option::longest_sequence>>,
          Positions>>;
  template <std::size_t Number, std::size_t Positions = 0>
  using stored_in_part =
      stored_of<block::part_sees(Number), typename block::template part_layer<Number>, Positions>;
  static constexpr bool has_own_attention =
      block::part_sees(first_of(reads::sequence)) == reads::sequence;
  // The attention to the sequence. A block without one is refused.
  using self_attention =
      std::conditional_t<has_own_attention, stored_in_part<first_of(reads::sequence)>,
                         no_attention_stored>;
  using sizes = typename self_attention::sizes;
  // Rotary positions of the queries to a memory are also those of the sequence.
  template <std::size_t Number>
  using of_part = stored_in_part<Number, sizes::positions>;

  template <std::size_t... Number>
  static residual::all_stored<std::index_sequence<Number...>, typename of_part<Number>::type...>
      stored(std::index_sequence<Number...>);
  using type = decltype(stored(all_parts{}));
  // Calls f(stored part, its number) for each part that reads Sees.
  template <reads Sees, class F>
  static constexpr void each_that(type& of_block, const F& f) noexcept {
    const auto visit = [&]<std::size_t I>(std::integral_constant<std::size_t, I> number) {
      if constexpr (block::part_sees(I) == Sees) f(residual::stored_at<I>(of_block), number);
    };
    [&]<std::size_t... Number>(std::index_sequence<Number...>) {
      (visit(std::integral_constant<std::size_t, Number>{}), ...);
    }(all_parts{});
  }

  // ---- rules
  template <class... Kinds>
  using options_are =
      rules::options<say::key_value_cache, typename of::template options<Kinds...>, Options...>;
  template <std::size_t... Number>
  static first_error<
      rules::in_place<say::key_value_cache, Keys, axes::key>,
      std::conditional_t<block::has_memory, options_are<option::longest_memory>, options_are<>>,
      detail::verdict<has_own_attention, say::key_value_cache,
                      struct the_block_has_no_self_attention>,
      detail::verdict<!block::has_memory || rules::is_said<option::longest_memory, Options...>,
                      say::key_value_cache,
                      say::needs_the_longest_length_of_the_memory_so_add_longest_memory>,
      typename of_part<Number>::verdict...>
      rule(std::index_sequence<Number...>);
  using verdict = decltype(rule(all_parts{}));
  template <class Next, class Mask, class ToSelf>
  struct masks_rule {
    template <class Part>
    using of_sequence =
        typename stored_of<reads::sequence, Part,
                           sizes::positions>::type::template mask_rule<ToSelf, Next::size>;
    template <class Part, class Stored = stored_of<reads::memory, Part, sizes::positions>>
    using of_memory = first_error<
        rules::mask_of_memory<typename of::of_memory, Mask>,
        // The whole pass requires masks to state the positions of the queries, and so does a step.
        rules::mask_fits<
            say::key_value_cache, mask_of<Mask>,
            scores_of<typename of::of_scores, rules::size_or_0<typename sizes::batch_option>,
                      Part::sizes.heads, Next::size, Stored::sizes::capacity>>,
        typename Stored::type::template mask_rule<Mask, Next::size>>;
  };
  template <class Next, class Mask, class ToSelf>
  using step_fits =
      first_error<rules::fits_into_cache<Next, axes::key<sizes::capacity>, sizes::at_once>,
                  typename attentions_fit<block, masks_rule<Next, Mask, ToSelf>>::type>;

  // ---- a step
  template <std::size_t N, std::size_t... Number>
  static typename of::template scratch<N, typename of_part<Number>::template scratch<N>...>
      made_scratch(std::index_sequence<Number...>);
  template <std::size_t N>
  using scratch = decltype(made_scratch<N>(all_parts{}));

  // On the stack, attend_to needs the scratch of parts that read the memory only.
  struct nothing {};
  template <class... Scratch>
  struct parts_of_memory : workspace_base {
    residual::one_of<Scratch...> parts;
  };
  template <std::size_t N, std::size_t... Number>
  static parts_of_memory<
      std::conditional_t<block::part_sees(Number) == reads::memory,
                         typename of_part<Number>::template scratch<N>, nothing>...>
      made_memory_scratch(std::index_sequence<Number...>);
  template <std::size_t N>
  using memory_scratch = decltype(made_memory_scratch<N>(all_parts{}));

  // For attend_to: the rows of a memory that fit into Given, a workspace of steps or on_stack.
  template <class Given>
  static constexpr std::size_t rows_in = [] {
    if constexpr (requires { typename Given::positions; })
      return first_of_sequence(typename Given::positions{});
    else
      return of::rows_on_stack;
  }();

  // N positions of a sequence attend to all stored ones. Masks: as_mask of the arguments.
  template <std::size_t N, class Mask, class ToSelf>
  struct attentions_of_step {
    type& past;
    const positions_so_far<sizes>& so_far;
    std::size_t memory_size;
    const Mask& mask;
    const ToSelf& to_self;
    std::size_t sequence;

    template <std::size_t Number, class Weights, class T, class To, class Work, class... How>
    constexpr void attend(const Weights& w, const T* from, To* to, Work& work,
                          const How&... how) const noexcept {
      constexpr sequence_strides rows_of = {0, block::width, 1};
      auto& stored = residual::stored_at<Number>(past);
      if constexpr (block::part_sees(Number) == reads::sequence)
        step_of_sequence<N, rows_of, rows_of>(stored, w, sequence, from, so_far, to_self, to, work,
                                              how...);
      else
        attend_to_sequence<N, rows_of, rows_of>(stored, w, sequence, from, so_far.size(),
                                                memory_size, mask, to, work, how...);
    }
  };
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
