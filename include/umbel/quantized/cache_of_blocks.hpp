// SPDX-License-Identifier: BSL-1.0
// key_value_cache of blocks in integers and of stacks of them: whole models step by step, the bits
// of the whole causal pass:
//
//   static key_value_cache<quantized<model>, key<256>> past;
//   past.step(out, layers, prompt);                       // (token<12>, hidden), int16
//   while (past.step(x, layers, x)) ...                   // one more, in place
//
// And, if the blocks attend to a memory, beside it:
//
//   static key_value_cache<quantized<model>, key<128>, longest_memory<48>> past;
//   past.attend_to(decoders, memory);          // (key<40>, hidden), int8: once for each sequence
//   while (past.step(x, decoders, x)) ...
//
// Calls, masks and what is refused are those of a cache of floats (decode/cache_of_blocks.hpp). Not
// here: what is stored of an attention (past.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/decode/block_cache_calls.hpp>
#include <umbel/quantized/block.hpp>
#include <umbel/quantized/past.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

// The keys and values of an attention, with an option_list of those that are for it.
template <class Attention, class Weight, class Keys, class List>
struct past_with;
template <class Attention, class Weight, class Keys, class... Options>
struct past_with<Attention, Weight, Keys, option_list<Options...>> {
  using verdict = rules::integer_cache<Attention, Weight, Keys, Options...>;
  using sizes = std::conditional_t<verdict::ok, cache_sizes<axis_or_none<Keys>::size, Options...>,
                                   cache_sizes<1>>;
  using type = past_of_attention<Attention, sizes, Weight>;
  template <std::size_t N>
  using scratch = typename type::template scratch_for<N>;
};

// What is stored of a part.
template <class Part, reads Sees, class Weight, class Keys, class... Options>
struct past_of_part {  // nothing
  using verdict = accepted;
  using sizes = cache_sizes<1>;
  struct type {};
  template <std::size_t N>
  using scratch = typename part_in_integers<Part, Weight>::template scratch<N, N>;
};
template <class Part, class Weight, class Keys, class... Options>
struct past_of_part<Part, reads::sequence, Weight, Keys, Options...>
    : past_with<Part, Weight, Keys,
                typename pick_options<option_list<rules::batch_family, option::longest_sequence>,
                                      option_list<>, Options...>::type> {};
template <class Part, class Weight, class Keys, class... Options>
struct past_of_part<Part, reads::memory, Weight, Keys, Options...>
    : past_with<
          Part, Weight,
          axes::key<option_or<option::longest_memory, longest_memory<1>, Options...>::positions>,
          typename pick_options<option_list<rules::batch_family>, option_list<>,
                                Options...>::type> {};

template <class Block, class Weight, class Keys, class... Options>
struct past_of_block {
  using numbers = block_numbers<Block, Weight>;
  // The first part that reads so; 0 where there is none.
  static constexpr std::size_t first_of(reads sees) noexcept {
    std::size_t i = 0;
    while (i < Block::part_count && Block::part_sees(i) != sees) ++i;
    return i % Block::part_count;
  }
  template <std::size_t Number>
  using of_part = past_of_part<typename Block::template part_layer<Number>,
                               Block::part_sees(Number), Weight, Keys, Options...>;
  using own_sizes = typename of_part<first_of(reads::sequence)>::sizes;
  using memory_sizes = typename of_part<first_of(reads::memory)>::sizes;
  using memory_option = option_or<option::longest_memory, longest_memory<1>, Options...>;

  template <std::size_t... Number>
  static residual::all_stored<std::index_sequence<Number...>, typename of_part<Number>::type...>
      stored(std::index_sequence<Number...>);
  using type = decltype(stored(typename numbers::all_parts{}));
  template <std::size_t... Number>
  static first_error<
      rules::in_place<say::key_value_cache, Keys, axes::key>,
      rules::options<
          say::key_value_cache,
          std::conditional_t<
              Block::has_memory,
              option_kinds<rules::batch_family, option::longest_sequence, option::longest_memory>,
              option_kinds<rules::batch_family, option::longest_sequence>>,
          Options...>,
      detail::verdict<Block::part_sees(first_of(reads::sequence)) == reads::sequence,
                      say::key_value_cache, say::the_block_has_no_attention_to_its_own_sequence>,
      detail::verdict<!Block::has_memory || rules::is_said<option::longest_memory, Options...>,
                      say::key_value_cache,
                      say::say_longest_memory_how_many_positions_the_memory_may_have>,
      typename of_part<Number>::verdict...>
      rule(std::index_sequence<Number...>);
  using verdict = decltype(rule(typename numbers::all_parts{}));

  // Of a step of N positions.
  template <std::size_t N, std::size_t... Number>
  static block_scratch<
      std::index_sequence<N>,
      normed_and_heads<false, residual::rows_memory<std::int8_t, N * Block::width>, no_scratch>,
      numbers::norms_branches ? N * Block::width : 0,
      typename of_part<Number>::template scratch<N>...>
      scratch(std::index_sequence<Number...>);
  template <std::size_t N>
  using scratch_for = decltype(scratch<N>(typename numbers::all_parts{}));

  // The masks of a step fit every attention.
  template <class Next, class Mask, class Own>
  struct call_fits {
    template <std::size_t Number, class Part = of_part<Number>>
    static constexpr auto in_part() {
      if constexpr (Block::part_sees(Number) == reads::row)
        return accepted{};
      else if constexpr (Block::part_sees(Number) == reads::sequence)
        return typename Part::type::template mask_rule<Own, Next::size>{};
      else
        return first_error<
            rules::mask_of_memory<std::int8_t, Mask>,
            // As in the whole pass a mask says where queries are.
            rules::mask_fits<say::key_value_cache, mask_of<Mask>,
                             scores_of<float, rules::size_or_0<typename Part::sizes::batch_option>,
                                       Block::template part_layer<Number>::sizes.heads, Next::size,
                                       Part::sizes::capacity>>,
            typename Part::type::template mask_rule<Mask, Next::size>>{};
    }
    template <std::size_t... Number>
    static first_error<decltype(in_part<Number>())...> all(std::index_sequence<Number...>);
    using type = first_error<
        rules::fits_into_cache<Next, axes::key<own_sizes::capacity>, own_sizes::at_once>,
        decltype(all(typename numbers::all_parts{}))>;
  };
  // f(what is stored of a part, its number) of the parts that see so.
  template <reads Sees, class F>
  static constexpr void each_that(type& stored, const F& f) noexcept {
    const auto one = [&]<std::size_t I>(std::integral_constant<std::size_t, I> number) {
      if constexpr (Block::part_sees(I) == Sees) f(residual::stored_at<I>(stored), number);
    };
    [&]<std::size_t... Number>(std::index_sequence<Number...>) {
      (one(std::integral_constant<std::size_t, Number>{}), ...);
    }(typename numbers::all_parts{});
  }

  // The attentions of a step of N positions of a sequence: to what is stored.
  template <std::size_t N, class Mask, class Own>
  struct attentions_of_step {
    type& past;
    const positions_so_far<own_sizes>& so_far;
    std::size_t memory_size;
    const Mask& mask;
    const Own& own;
    std::size_t sequence;

    template <std::size_t I, class Numbers, class Y, class Finish, class Work>
    constexpr void run(const Numbers& n, const std::int8_t* from, Y* to, const Finish& finish,
                       Work& work) const noexcept {
      constexpr event e = Block::template event_at<I>;
      auto& stored = residual::stored_at<e.number>(past);
      auto& scratch = residual::start<e.number>(work.parts);
      if constexpr (e.sees == reads::sequence)
        stored.template step<N>(n, sequence, from, so_far, own, to, finish, scratch);
      else
        stored.template attend<N>(
            n, sequence, from, 0, kernel::scores::first_keys(memory_size), mask,
            static_cast<std::ptrdiff_t>(so_far.size()),
            static_cast<std::ptrdiff_t>(memory_size) - static_cast<std::ptrdiff_t>(N), to, finish,
            scratch);
    }
  };
};

}  // namespace detail::integers

// Of a quantized encoder_layer, decoder_layer, residual_block or layer_stack of one. Options:
// batch<2>, longest_sequence<4096> and, if there is a memory, longest_memory<48>.
template <class Layer, class... OfLayer, class Keys, class... Options>
  requires detail::decodes_in_blocks<Layer>
class key_value_cache<quantized<Layer, OfLayer...>, Keys, Options...>
    : public detail::block_cache_calls<
          key_value_cache<quantized<Layer, OfLayer...>, Keys, Options...>, std::int8_t,
          detail::blocks_in<Layer>::block::has_memory> {
  using calls = detail::block_cache_calls<key_value_cache, std::int8_t,
                                          detail::blocks_in<Layer>::block::has_memory>;
  friend calls;
  using blocks = detail::blocks_in<Layer>;
  using block = typename blocks::block;
  using hidden_axis = typename block::hidden_axis;
  using past =
      detail::integers::past_of_block<typename block::described,
                                      detail::integers::softmax_of<OfLayer...>, Keys, Options...>;
  using reads = detail::residual::reads;
  using sizes = typename past::own_sizes;
  using memory_sizes = typename past::memory_sizes;
  // Of a cache that was refused there is nothing more to say.
  static constexpr bool refused = !past::verdict::ok;
  static_assert(detail::reported<typename past::verdict>::ok, "umbel: shapes do not fit");
  template <class X>
  using positions_in = typename block::template positions_in<X>;

 public:
  using calls::attend_to;
  using layer = quantized<Layer, OfLayer...>;
  static constexpr bool slides = sizes::slides;
  static constexpr std::size_t capacity = sizes::capacity, positions = sizes::positions,
                               rows = sizes::rows;
  // The most positions that the memory may have.
  static constexpr std::size_t memory_capacity = block::has_memory ? memory_sizes::capacity : 0;

  // The number of positions so far.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return so_far_.size(); }
  // The number of positions of the memory; 0 before one was given.
  [[nodiscard]] constexpr std::size_t memory_size() const noexcept
    requires block::has_memory
  {
    return memory_.size;
  }
  // Forgets everything, also the memory. (rewind(0) keeps it.)
  constexpr void reset() noexcept {
    so_far_.reset();
    if constexpr (block::has_memory) memory_.size = 0;
  }
  // Forgets the positions from `count` on. Returns false and changes nothing where there are fewer,
  // or where a sliding cache has dropped positions that the rest would see.
  [[nodiscard]] constexpr bool rewind(std::size_t count) noexcept { return so_far_.rewind(count); }

  // Scratch for steps of that many positions, workspace<token<1>>: of one layer.
  template <class Positions>
  using workspace = typename past::template scratch_for<Positions::size>;
  // See workspace_for: of the positions of a step.
  template <detail::tensor_like X>
  static workspace<positions_in<X>> workspace_of(const X&);

  // Projects the keys and values of the memory, (batch, key, hidden) with positions along an axis
  // of any name, row-major, int8, in all layers; it is not needed any more. Forgets all positions,
  // which attended to another one. It needs no scratch; a workspace is taken as by a cache of
  // floats.
  template <class Given, detail::tensor_like Memory, workspace_like Workspace = detail::on_stack>
    requires block::has_memory
  constexpr void attend_to(const Given& given, const Memory& memory, Workspace&& = {}) noexcept {
    using namespace detail;
    using fits = std::conditional_t<
        refused, typename past::verdict,
        rules::memory_of_cache<layer, Given, Memory, typename memory_sizes::batch_option,
                               typename past::memory_option, std::int8_t, hidden_axis>>;
    static_assert(refused || report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      constexpr std::size_t count = positions_in<Memory>::size, one = count * block::width;
      reset();
      for (std::size_t i = 0; i < blocks::count; ++i)
        past::template each_that<reads::memory>(past_[i], [&](auto& of_part, auto number) {
          const auto& n =
              weights_of_block(given.get_weights(), i).template at<block::slot_of_part(number)>();
          typename std::remove_cvref_t<decltype(n)>::template rotary_scratch<(
              count < memory_rows_on_stack ? count : memory_rows_on_stack)>
              to_rotate;
          for (std::size_t b = 0; b < memory_sizes::batches; ++b)
            of_part.template append<count>(n, b, memory.data() + b * one, memory.data() + b * one,
                                           0, 0, to_rotate);
        });
      memory_.size = count;
    }
  }

 private:
  struct size_of_memory {
    std::size_t size = 0;
  };
  struct no_memory {
    static constexpr std::size_t size = 0;
  };

  template <class Out, class Given, class X, class Mask, class Own, class Workspace>
  constexpr bool step_with(std::remove_reference_t<Out>& out, const Given& given, const X& x,
                           const Mask& mask, const Own& own, Workspace& work) noexcept {
    using namespace detail;
    using fits = std::conditional_t<
        refused, typename past::verdict,
        first_error<rules::layer_of_cache<layer, Given>,
                    rules::block_argument<say::key_value_cache, X, std::int16_t, hidden_axis>,
                    rules::batch_of_cache<layout_of<X>, typename sizes::batch_option>,
                    rules::row_major_out<say::key_value_cache, Out, std::int16_t, layout_of<X>>>>;
    static_assert(refused || report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using next = positions_in<X>;
      using scratch = workspace<next>;
      using rule =
          first_error<typename past::template call_fits<next, Mask, Own>::type,
                      rules::scratch_fits<say::key_value_cache, Workspace, scratch, shape<next>>>;
      static_assert(report<rule>::ok, "umbel: shapes do not fit");
      if constexpr (rule::ok) {
        if ((block::has_memory && memory_.size == 0) || !make_room(next::size)) return false;
        const auto& masks = as_mask(mask);
        const auto& owns = as_mask(own);
        using attentions = typename past::template attentions_of_step<
            next::size, std::remove_cvref_t<decltype(masks)>, std::remove_cvref_t<decltype(owns)>>;
        constexpr std::size_t one = next::size * block::width;
        if (static_cast<const void*>(out.data()) != static_cast<const void*>(x.data()))
          for (std::size_t i = 0; i < sizes::batches * one; ++i) out.data()[i] = x.data()[i];
        with_scratch<scratch>(work, [&](scratch& s) {
          for (std::size_t i = 0; i < blocks::count; ++i)
            for (std::size_t b = 0; b < sizes::batches; ++b)
              weights_of_block(given.get_weights(), i)
                  .template rows<next::size>(
                      out.data() + b * one, s,
                      attentions{past_[i], so_far_, memory_.size, masks, owns, b});
        });
        so_far_.add(next::size);
        return true;
      }
    }
    return false;
  }
  constexpr bool make_room(std::size_t count) noexcept {
    return so_far_.make_room(count, [&](std::size_t gone, std::size_t left) {
      for (auto& of_block : past_)
        past::template each_that<reads::sequence>(
            of_block, [&](auto& of_part, auto) { of_part.drop(gone, left); });
    });
  }

  detail::integers::positions_so_far<sizes> so_far_;
  [[no_unique_address]] std::conditional_t<block::has_memory, size_of_memory, no_memory> memory_;
  typename past::type past_[blocks::count];
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
