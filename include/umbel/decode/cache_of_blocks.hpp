// SPDX-License-Identifier: BSL-1.0
// key_value_cache of an encoder_layer, a decoder_layer, a residual_block or a layer_stack of one:
// whole models step by step. The steps are bit for bit the rows of the whole causal pass,
// encoder{w}(x, causal):
//
//   using model = layer_stack<encoder_layer<float, hidden<64>, ...>, 5>;
//   static key_value_cache<model, key<256>> past;   // with the options of one of attention
//   past.step(out, layers, prompt);                 // (token<12>, hidden): twelve positions
//   while (past.step(x, layers, x)) ...             // (token<1>, hidden): one more, in place
//
// If the layer attends to a memory, decoder{w}(x, memory, self_mask(causal)), the keys and values
// of the memory are projected once:
//
//   using model = layer_stack<decoder_layer<float, hidden<64>, ...>, 6>;
//   static key_value_cache<model, key<128>, longest_memory<48>> past;
//   past.attend_to(decoders, memory);          // (key<40>, hidden): once for each sequence
//   past.step(out, decoders, prompt);
//
// Its steps take masks as the layer does: past.step(x, decoders, x, lens, self_mask(alibi)); they
// are causal with any and without. A step past the capacity, or before a memory was given
// (memory_size() is 0), returns false and changes nothing. A new memory is a new sequence:
// attend_to forgets all positions. With stored_as<> the keys and values of the memory are rounded,
// too.
//
// Not here: what is stored of an attention (cache.hpp) and of a block (block_storage.hpp).
#pragma once

#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/block_cache_calls.hpp>
#include <umbel/decode/block_storage.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
template <class Layer, class Keys, class... Options>
  requires detail::decodes_in_blocks<Layer>
class key_value_cache<Layer, Keys, Options...>
    : public detail::block_cache_calls<key_value_cache<Layer, Keys, Options...>,
                                       typename detail::blocks_in<Layer>::block::value_type,
                                       detail::blocks_in<Layer>::block::has_memory> {
  using calls = detail::block_cache_calls<key_value_cache,
                                          typename detail::blocks_in<Layer>::block::value_type,
                                          detail::blocks_in<Layer>::block::has_memory>;
  friend calls;
  using blocks = detail::blocks_in<Layer>;
  using block = typename blocks::block;
  using T = typename block::value_type;
  using hidden_axis = typename block::hidden_axis;
  using reads = detail::residual::reads;
  using sequence_of_parts = std::make_index_sequence<block::part_count>;
  static constexpr detail::sequence_strides rows_of = {0, block::width, 1};

  using storage = detail::residual::block_storage<Layer, Keys, Options...>;
  template <std::size_t Number>
  using stored = typename storage::template stored<Number>;
  static constexpr std::size_t first_of(reads sees) noexcept { return storage::first_of(sees); }
  using all = typename storage::all;
  static_assert(detail::reported<typename all::verdict>::ok, "umbel: shapes do not fit");
  // (Refused if there is none.)
  using first_cache = std::conditional_t<storage::has_own_attention,
                                         typename stored<first_of(reads::sequence)>::type,
                                         detail::residual::nothing_stored>;

 public:
  using calls::attend_to;
  using layer = Layer;
  using value_type = T;
  using stored_type = typename first_cache::stored_type;
  static constexpr bool slides = first_cache::slides;
  static constexpr std::size_t capacity = first_cache::capacity, positions = first_cache::positions,
                               rows = first_cache::rows;
  static constexpr std::size_t memory_capacity = [] {
    if constexpr (block::has_memory)
      return stored<first_of(reads::memory)>::type::capacity;
    else
      return std::size_t{0};
  }();
  template <class... Positions>
  using workspace = typename all::template scratch<
      detail::rules::first_positions<typename block::widths, 1, Positions...>>;
  template <detail::tensor_like X>
  static workspace<typename block::template positions_in<X>> workspace_of(const X&);

  [[nodiscard]] constexpr std::size_t size() const noexcept {
    return at<first_of(reads::sequence)>(stored_[0]).size();
  }
  [[nodiscard]] constexpr std::size_t memory_size() const noexcept
    requires block::has_memory
  {
    return at<first_of(reads::memory)>(stored_[0]).size();
  }
  constexpr void reset() noexcept {
    each_that<reads::sequence>([](auto& cache) { cache.reset(); });
    each_that<reads::memory>([](auto& cache) { cache.reset(); });
  }
  [[nodiscard]] constexpr bool rewind(std::size_t count) noexcept {
    bool rewound = true;  // all caches hold the same positions: all of them do, or none
    each_that<reads::sequence>([&](auto& cache) { rewound = cache.rewind(count); });
    return rewound;
  }

  // Keys and values of the memory, in all attentions to it, a few rows at once.
  template <class Given, detail::tensor_like Memory, workspace_like Workspace = detail::on_stack>
    requires block::has_memory
  constexpr void attend_to(const Given& layer_of, const Memory& memory,
                           Workspace&& work = {}) noexcept {
    using first = typename stored<first_of(reads::memory)>::type;
    using fits = typename unless_refused<detail::rules::memory_of_cache<
        Layer, Given, Memory, typename first::batch_option,
        detail::option_or<detail::option::longest_memory, longest_memory<1>, Options...>>>::type;
    static_assert(refused || detail::report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using positions = typename block::template positions_in<Memory>;
      using rows = rows_at_once<std::remove_cvref_t<Workspace>>;
      using rule = detail::first_error<detail::rules::scratch_fits<
          detail::say::key_value_cache, std::remove_reference_t<Workspace>, typename rows::scratch,
          detail::shape<typename positions::family::template sized<rows::count>>>>;
      static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
      if constexpr (rule::ok) {
        reset();
        detail::with_scratch<typename rows::scratch>(work, [&](typename rows::scratch& own) {
          for (std::size_t i = 0; i < blocks::count; ++i)
            with_numbers([&]<std::size_t... Number>(std::index_sequence<Number...>) {
              (store_memory<Number, positions::size, rows::count>(
                   detail::weights_of_block(layer_of.get_weights(), i), stored_[i], memory.data(),
                   own),
               ...);
            });
        });
      }
    }
  }

 private:
  template <std::size_t Number, class Stored>
  static constexpr auto& at(Stored& of_block) noexcept {
    return detail::residual::stored_at<Number>(of_block);
  }
  template <class F>
  static constexpr void with_numbers(const F& f) noexcept {
    f(sequence_of_parts{});
  }
  template <reads Sees, class F>
  constexpr void each_that(const F& f) noexcept {
    with_numbers([&]<std::size_t... Number>(std::index_sequence<Number...>) {
      const auto one = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
        if constexpr (block::part_sees(I) == Sees)
          for (auto& of_block : stored_) f(at<I>(of_block));
      };
      (one(std::integral_constant<std::size_t, Number>{}), ...);
    });
  }

  // The rows of a memory that fit into Given, a workspace of steps or on_stack, and where in it.
  template <class Given>
  struct rows_at_once {
    static constexpr std::size_t count = detail::memory_rows_on_stack;
    using scratch = workspace<axes::query<count>>;
  };
  template <class Given>
    requires requires { Given::row_count; }
  struct rows_at_once<Given> {
    static constexpr std::size_t count = Given::row_count;
    using scratch = workspace<axes::query<count>>;
  };
  template <std::size_t Number, std::size_t Count, std::size_t AtOnce, class Weights, class Stored,
            class Scratch>
  static constexpr void store_memory(const Weights& w, Stored& of_block, const T* memory,
                                     Scratch& own) noexcept {
    if constexpr (block::part_sees(Number) == reads::memory) {
      using cache_type = typename stored<Number>::type;
      auto& cache = at<Number>(of_block);
      auto& scratch = detail::residual::start<Number>(own.parts);
      const auto store = [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
        using call = typename cache_type::template call_of<axes::key<N>, true, detail::every_key,
                                                           detail::in_formula>;
        const T* const from = memory + cache.size_ * block::width;
        for (std::size_t b = 0; b < cache_type::batches; ++b)
          cache.template store_sequence<call, rows_of, rows_of>(
              block::template weights_at<block::slot_of_part(Number)>(w), b,
              from + b * Count * block::width, from + b * Count * block::width, scratch.projected);
        cache.size_ += N;
      };
      while (cache.size_ + AtOnce <= Count) store(std::integral_constant<std::size_t, AtOnce>{});
      if constexpr (Count % AtOnce != 0)
        store(std::integral_constant<std::size_t, Count % AtOnce>{});
    }
  }

  // Parts of a step: as of a whole pass, with what is stored in the place of the sequence and of
  // the memory.
  template <class Positions, class Mask, class Own>
  struct parts_of_step {
    typename all::all& caches;
    std::size_t position;
    const Mask& mask;
    const Own& own;
    std::size_t sequence;

    template <std::size_t I, std::size_t Rows, class Weights, class Work>
    constexpr void run(const Weights& w, const T* from, T* to, Work& work) const noexcept {
      constexpr detail::residual::event e = block::template event_at<I>;
      if constexpr (e.sees == reads::row) {
        detail::residual::rows_of_part<typename block::template layer_at<e.slot>>::template run<
            Rows>(w, from, to, work);
      } else {
        using cache_type = typename stored<e.number>::type;
        auto& cache = at<e.number>(caches);
        constexpr bool is_own = e.sees == reads::sequence;
        using call = typename cache_type::template call_of<
            Positions, is_own, std::conditional_t<is_own, Own, Mask>, detail::in_formula>;
        if constexpr (is_own) {
          cache.template store_sequence<call, rows_of, rows_of>(w, sequence, from, from,
                                                                work.projected);
          cache.template look_of_sequence<call, rows_of, rows_of>(w, sequence, from, cache.size_,
                                                                  own, to, work);
        } else {
          cache.template look_of_sequence<call, rows_of, rows_of>(w, sequence, from, position, mask,
                                                                  to, work);
        }
      }
    }
  };

  // Of a cache that was refused there is nothing more to say.
  static constexpr bool refused = !all::verdict::ok;
  template <class Rule>
  struct unless_refused : std::conditional<refused, typename all::verdict, Rule> {};
  template <class Next, class Mask, bool HasMemory = block::has_memory>
  struct memory_mask_fits {
    using type = detail::accepted;
  };
  template <class Next, class Mask>
  struct memory_mask_fits<Next, Mask, true> {
    using type = detail::first_error<
        detail::rules::mask_of_memory<T, Mask>,
        detail::rules::mask_fits<
            detail::say::key_value_cache, detail::mask_of<Mask>,
            detail::scores_of<T, detail::rules::size_or_0<typename first_cache::batch_option>,
                              block::template part_layer<first_of(reads::memory)>::sizes.heads,
                              Next::size, memory_capacity>>>;
  };
  // The masks of a step fit every attention.
  template <class Positions, class Mask, class Own>
  struct call_fits {
    template <std::size_t Number>
    static constexpr auto of_part() {
      using cache_type = typename stored<Number>::type;
      if constexpr (block::part_sees(Number) == reads::row)
        return detail::accepted{};
      else if constexpr (block::part_sees(Number) == reads::sequence)
        return typename cache_type::template call_of<Positions, true, Own,
                                                     detail::in_formula>::verdict{};
      else
        return typename cache_type::template call_of<Positions, false, Mask,
                                                     detail::in_formula>::verdict{};
    }
    template <std::size_t... Number>
    static detail::first_error<decltype(of_part<Number>())...> every(
        std::index_sequence<Number...>);
    using type = decltype(every(sequence_of_parts{}));
  };

  template <class Out, class Given, class X, class Mask, class Own, class Workspace>
  constexpr bool step_with(std::remove_reference_t<Out>& out, const Given& layer_of, const X& x,
                           const Mask& mask, const Own& own, Workspace& work) noexcept {
    using fits = typename unless_refused<detail::first_error<
        detail::rules::layer_of_cache<Layer, Given>,
        detail::rules::self_attend<detail::say::key_value_cache, X, T, hidden_axis>,
        detail::rules::rows_of<detail::say::key_value_cache, X, T, hidden_axis>,
        detail::rules::batch_first<detail::say::key_value_cache, X>,
        detail::rules::batch_of_cache<detail::layout_of<X>, typename first_cache::batch_option>,
        detail::rules::row_major_out<detail::say::key_value_cache, Out, T, detail::layout_of<X>>>>::
        type;
    static_assert(refused || detail::report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using next = typename block::template positions_in<X>;
      using scratch = workspace<next>;
      using rule =
          detail::first_error<typename memory_mask_fits<next, Mask>::type,
                              typename call_fits<next, Mask, Own>::type,
                              detail::rules::scratch_fits<detail::say::key_value_cache, Workspace,
                                                          scratch, detail::shape<next>>>;
      static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
      if constexpr (rule::ok) {
        if (next::size > positions - size()) return false;
        if constexpr (block::has_memory)
          if (memory_size() == 0) return false;
        each_that<reads::sequence>([](auto& cache) { (void)cache.make_room(next::size); });
        const auto& mask_given = detail::as_mask(mask);
        const auto& own_given = detail::as_mask(own);
        using parts = parts_of_step<next, std::remove_cvref_t<decltype(mask_given)>,
                                    std::remove_cvref_t<decltype(own_given)>>;
        constexpr std::size_t one = next::size * block::width;
        detail::with_scratch<scratch>(work, [&](scratch& s) {
          for (std::size_t i = 0; i < blocks::count; ++i)
            for (std::size_t b = 0; b < first_cache::batches; ++b) {
              const detail::residual::places<T> place{(i == 0 ? x.data() : out.data()) + b * one,
                                                      out.data() + b * one, s.normed.rows,
                                                      s.branch.rows};
              const parts given{stored_[i], size(), mask_given, own_given, b};
              detail::residual::rows<typename block::described>::template each<0, next::size>(
                  std::make_index_sequence<block::event_count>{},
                  detail::weights_of_block(layer_of.get_weights(), i), place, s, given);
            }
        });
        each_that<reads::sequence>([](auto& cache) { cache.size_ += next::size; });
        return true;
      }
    }
    return false;
  }

  typename all::all stored_[blocks::count];
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
