// SPDX-License-Identifier: BSL-1.0
// key_value_cache of a decoder layer, or of a stack of them: a sequence step by step, beside a
// memory whose keys and values are projected once. The steps are bit for bit the rows of the whole
// causal pass, decoder{w}(x, memory, self_mask(causal)):
//
//   using model = layer_stack<decoder_layer<float, hidden<64>, ...>, 6>;
//   static key_value_cache<model, key<128>, longest_memory<48>> past;
//   past.attend_to(decoders, memory);          // (key<40>, hidden): once for each sequence
//   past.step(out, decoders, prompt);          // (token<12>, hidden): twelve positions
//   while (past.step(x, decoders, x)) ...      // (token<1>, hidden): one more, in place
//
// A step takes masks as the layer does: past.step(x, decoders, x, lens, self_mask(alibi)); it is
// causal with any and without. One past the capacity, or before a memory was given (memory_size()
// is 0), returns false and changes nothing. A new memory is a new sequence: attend_to forgets all
// positions. With stored_as<> the keys and values of the memory are rounded, too.
//
// Not here: what it shares with a cache of encoder layers (cache_of_blocks.hpp).
#pragma once

#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/cache_of_blocks.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::option {
struct longest_memory;
}  // namespace detail::option

// Option of a cache of decoder layers, which must be stated: the memory may be Positions long.
template <std::size_t Positions>
struct longest_memory {
  using kind = detail::option::longest_memory;
  static constexpr std::size_t positions = Positions;
};

namespace detail {
namespace say {
struct attend_to_takes_the_layer_and_the_memory_then_a_workspace;
template <std::size_t Positions>
struct longest_memory;
struct say_longest_memory_how_many_positions_the_memory_may_have;
struct
    causal_stands_in_the_place_of_a_mask_of_the_memory_and_a_step_is_causal_without_it_so_leave_it_out;
struct the_memory_is_given_once_to_attend_to_and_not_to_each_step;
struct
    step_takes_out_and_the_layer_and_the_next_positions_then_a_mask_of_the_memory_then_self_mask_then_a_workspace;
}  // namespace say
template <std::size_t Positions>
struct speak<say::longest_memory<Positions>> {
  static constexpr void to(sentence_buffer& out) {
    out.put("longest_memory=");
    out.put(Positions);
  }
};
template <>
inline constexpr const char*
    spoken<say::attend_to_takes_the_layer_and_the_memory_then_a_workspace> =
        "attend_to takes the layer and the memory; then a workspace";
template <>
inline constexpr const char*
    spoken<say::say_longest_memory_how_many_positions_the_memory_may_have> =
        "say how many positions the memory may have: longest_memory<48>";
template <>
inline constexpr const char* spoken<
    say::
        causal_stands_in_the_place_of_a_mask_of_the_memory_and_a_step_is_causal_without_it_so_leave_it_out> =
    "causal stands in the place of a mask of the memory; a step is causal without it, so leave it "
    "out";
template <>
inline constexpr const char*
    spoken<say::the_memory_is_given_once_to_attend_to_and_not_to_each_step> =
        "the memory is given once, to attend_to(layer, memory), and not to each step";
template <>
inline constexpr const char* spoken<
    say::
        step_takes_out_and_the_layer_and_the_next_positions_then_a_mask_of_the_memory_then_self_mask_then_a_workspace> =
    "step takes out, the layer and the next positions; then a mask of the memory; then a "
    "self_mask; then a workspace";

// A decoder layer, or a stack of them.
template <class Layer>
concept decodes_with_memory =
    decodes_in_blocks<Layer> && is_decoder<typename blocks_in<Layer>::block>;

// Rows of a memory that are projected at once without a workspace: enough to share what is read of
// the weights.
inline constexpr std::size_t memory_rows_on_stack = 4;

// The two caches of a decoder layer's attentions, and what may be wrong with their options.
template <class Layer, class Keys, class... Options>
struct caches_of_decoder {
  using block = typename blocks_in<Layer>::block;
  template <class Attention, class AttentionKeys, class... Kinds>
  using cache_with = attention_cache_with<
      Attention, AttentionKeys,
      typename pick_options<option_list<Kinds...>, option_list<>, Options...>::type>;
  using memory_option = option_or<option::longest_memory, umbel::longest_memory<1>, Options...>;
  using own = cache_with<typename block::self_attention, Keys, rules::batch_family,
                         option::longest_sequence, option::stored_as>;
  using memory = cache_with<typename block::cross_attention, axes::key<memory_option::positions>,
                            rules::batch_family, option::stored_as>;
  using verdict = first_error<
      rules::in_place<say::key_value_cache, Keys, axes::key>,
      rules::options<say::key_value_cache,
                     option_kinds<rules::batch_family, option::longest_sequence, option::stored_as,
                                  option::longest_memory>,
                     Options...>,
      detail::verdict<rules::is_said<option::longest_memory, Options...>, say::key_value_cache,
                      say::say_longest_memory_how_many_positions_the_memory_may_have>,
      typename own::verdict, typename memory::verdict>;
};

namespace rules {
// The memory itself, in the place of its mask.
template <class T, class Given>
inline constexpr bool is_the_memory = false;
template <class T, tensor_like Given>
inline constexpr bool is_the_memory<T, Given> = std::is_same_v<typename Given::value_type, T>;
// The mask of the memory in a step, not what belongs to attend_to or to the sequence.
template <class T, class Mask>
using mask_of_memory = first_error<
    verdict<!is_the_memory<T, Mask>, say::key_value_cache,
            say::the_memory_is_given_once_to_attend_to_and_not_to_each_step>,
    verdict<
        !std::is_same_v<Mask, std::remove_const_t<decltype(causal)>>, say::key_value_cache,
        say::
            causal_stands_in_the_place_of_a_mask_of_the_memory_and_a_step_is_causal_without_it_so_leave_it_out>>;
// Arguments of a step that fit no form of it.
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

// The same of a decoder_layer or of a layer_stack of them. Keys and Options: those of a cache of
// attention, and longest_memory<48>. A sliding cache drops positions of the sequence, none of the
// memory.
template <class Layer, class Keys, class... Options>
  requires detail::decodes_with_memory<Layer>
class key_value_cache<Layer, Keys, Options...>
    : public detail::cache_of_blocks<
          Layer, typename detail::caches_of_decoder<Layer, Keys, Options...>::own::type> {
  using caches = detail::caches_of_decoder<Layer, Keys, Options...>;
  using base = detail::cache_of_blocks<Layer, typename caches::own::type>;
  static_assert(detail::reported<typename caches::verdict>::ok, "umbel: shapes do not fit");
  using memory_cache = typename caches::memory::type;
  using typename base::attention_cache;
  using typename base::block;
  using typename base::hidden_axis;
  // Of a cache that was refused there is nothing more to say.
  static constexpr bool refused = !caches::verdict::ok;
  template <class Rule>
  struct unless_refused : std::conditional<refused, typename caches::verdict, Rule> {};

 public:
  using typename base::value_type;
  // The most positions that the memory may have.
  static constexpr std::size_t memory_capacity = memory_cache::capacity;

  // The number of positions of the memory; 0 before one was given.
  [[nodiscard]] constexpr std::size_t memory_size() const noexcept { return memories_[0].size(); }
  // Forgets everything, also the memory. (rewind(0) keeps it.)
  constexpr void reset() noexcept {
    base::reset();
    for (memory_cache& memory : memories_) memory.reset();
  }

  // Scratch for steps of that many positions, workspace<token<1>>: of one layer. Its contents
  // between calls do not matter.
  template <class... Positions>
  using workspace = typename block::template scratch_for<
      detail::rules::first_positions<typename block::widths, 1, Positions...>, memory_capacity,
      typename attention_cache::template workspace<
          axes::query<detail::rules::first_positions<typename block::widths, 1, Positions...>>>,
      typename memory_cache::template workspace<
          axes::query<detail::rules::first_positions<typename block::widths, 1, Positions...>>>>;

  // See workspace_for: of the positions of a step.
  template <detail::tensor_like X>
  static workspace<typename base::template positions_along<X>> workspace_of(const X&);

  // Projects the keys and values of the memory, (batch, key, hidden) with positions along an axis
  // of any name, row-major, in all layers; it is not needed any more. Forgets all positions, which
  // attended to another one. work: a workspace of steps, workspace<token<1>>; the memory is
  // projected so many rows at once, with the same bits.
  template <class Decode, detail::tensor_like Memory, workspace_like Workspace = detail::on_stack>
  constexpr void attend_to(const Decode& decode, const Memory& memory,
                           Workspace&& work = {}) noexcept {
    using fits = typename unless_refused<detail::rules::memory_of_cache<
        Layer, Decode, Memory, typename attention_cache::batch_option,
        typename caches::memory_option>>::type;
    static_assert(refused || detail::report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using positions = positions_of_memory<Memory>;
      using rows = rows_at_once<std::remove_cvref_t<Workspace>>;
      using rule = detail::rules::scratch_fits<
          detail::say::key_value_cache, std::remove_reference_t<Workspace>, typename rows::scratch,
          detail::shape<typename positions::family::template sized<rows::count>>>;
      static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
      if constexpr (rule::ok) {
        reset();
        detail::with_scratch<typename rows::scratch>(work, [&](typename rows::scratch& own) {
          auto& scratch = rows::of_memory(own);
          for (std::size_t i = 0; i < base::blocks::count; ++i)
            store_memory<positions::size, rows::count>(
                detail::weights_of_block(decode.get_weights(), i).cross_attention, memories_[i],
                memory.data(), scratch.projected);
        });
      }
    }
  }

  // The layers' results for the next positions, x (batch, token, hidden), row-major, with the batch
  // of the cache: the rows of the whole causal pass. out: a row-major tensor or view of the axes of
  // x; it may be x. Returns false and changes nothing, in no layer, where there is no room for
  // them, or no memory was given.
  //   mask  of the memory, the same for all layers; its axis key counts the longest memory's
  //         positions, its axis query those of the step. Without one all of the memory is seen.
  //         causal, which is meant for the sequence, and the memory itself are refused here
  //   own   self_mask(m), more masks of the sequence, whose axis key counts positions of the cache;
  //         steps are causal with any and without
  template <detail::tensor_like Out, class Decode, detail::tensor_like X,
            mask_like Mask = detail::every_key, workspace_like Workspace = detail::on_stack>
  [[nodiscard]] constexpr bool step(Out&& out, const Decode& decode, const X& x,
                                    const Mask& mask = {}, Workspace&& work = {}) noexcept {
    return step_with<Out>(out, decode, x, mask, detail::own_mask<detail::every_key>{}, work);
  }
  template <detail::tensor_like Out, class Decode, detail::tensor_like X, class Own,
            workspace_like Workspace = detail::on_stack>
  [[nodiscard]] constexpr bool step(Out&& out, const Decode& decode, const X& x,
                                    const detail::own_mask<Own>& own,
                                    Workspace&& work = {}) noexcept {
    return step_with<Out>(out, decode, x, all_keys, own, work);
  }
  template <detail::tensor_like Out, class Decode, detail::tensor_like X, mask_like Mask, class Own,
            workspace_like Workspace = detail::on_stack>
  [[nodiscard]] constexpr bool step(Out&& out, const Decode& decode, const X& x, const Mask& mask,
                                    const detail::own_mask<Own>& own,
                                    Workspace&& work = {}) noexcept {
    return step_with<Out>(out, decode, x, mask, own, work);
  }

  // Arguments that fit no form of the calls: refused.
  template <class... Arguments>
  constexpr bool step(const Arguments&...) noexcept {
    using rule = typename detail::rules::arguments_of_step<value_type, Arguments...>::type;
    static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
    return false;
  }
  template <class... Arguments>
  constexpr void attend_to(const Arguments&...) noexcept {
    using takes = detail::say::attend_to_takes_the_layer_and_the_memory_then_a_workspace;
    (void)base::template refuse<takes, Arguments...>();
  }

 private:
  template <class Memory>
  using positions_of_memory = typename base::template positions_along<Memory>;
  // The rows of a memory that fit into Given, a workspace of steps or on_stack, and where in it.
  template <class Given>
  struct rows_at_once {
    static constexpr std::size_t count = detail::memory_rows_on_stack;
    using scratch = typename memory_cache::template workspace<axes::key<count>>;
    static constexpr scratch& of_memory(scratch& own) noexcept { return own; }
  };
  template <class Given>
    requires requires { Given::rows; }
  struct rows_at_once<Given> {
    static constexpr std::size_t count = Given::rows;
    using scratch = workspace<axes::query<count>>;
    static constexpr auto& of_memory(scratch& own) noexcept {
      if (__builtin_is_constant_evaluated()) own.cross_work = {};  // the one that lives
      return own.cross_work;
    }
  };

  template <class Positions>
  using append_call = typename memory_cache::template call_of<Positions, true, detail::every_key,
                                                              detail::in_formula>;
  // Keys and values of Count rows of the memory of each sequence, Rows at once, in one layer.
  template <std::size_t Count, std::size_t Rows, class Weights>
  static constexpr void store_memory(const Weights& w, memory_cache& cache,
                                     const value_type* memory, value_type* projected) noexcept {
    constexpr std::size_t left = Count % Rows, one = Count * hidden_axis::size;
    const auto store = [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
      const value_type* const from = memory + cache.size_ * hidden_axis::size;
      for (std::size_t b = 0; b < memory_cache::batches; ++b)
        cache.template store_sequence<append_call<axes::key<N>>, base::row_strides,
                                      base::row_strides>(w, b, from + b * one, from + b * one,
                                                         projected);
      cache.size_ += N;
    };
    while (cache.size_ + Rows <= Count) store(std::integral_constant<std::size_t, Rows>{});
    if constexpr (left != 0) store(std::integral_constant<std::size_t, left>{});
  }

  template <class Out, class Decode, class X, class Mask, class Own, class Workspace>
  constexpr bool step_with(std::remove_reference_t<Out>& out, const Decode& decode, const X& x,
                           const Mask& mask, const detail::own_mask<Own>& own,
                           Workspace& work) noexcept {
    using fits = typename unless_refused<typename base::template step_fits<Decode, X, Out>>::type;
    static_assert(refused || detail::report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using next = typename base::template positions_along<X>;
      using own_call = typename base::template call_of<next, Own>;
      // Its queries are no positions of the memory, to which nothing is added.
      using memory_call =
          typename memory_cache::template call_of<next, false, Mask, detail::in_formula>;
      // As in the whole pass a mask says where queries are.
      using memory_scores =
          detail::scores_of<value_type,
                            detail::rules::size_or_0<typename attention_cache::batch_option>,
                            block::cross_attention::sizes.heads, own_call::count, memory_capacity>;
      using scratch = workspace<next>;
      using rule =
          detail::first_error<typename own_call::verdict,
                              detail::rules::mask_of_memory<value_type, Mask>,
                              detail::rules::mask_fits<detail::say::key_value_cache,
                                                       detail::mask_of<Mask>, memory_scores>,
                              typename memory_call::verdict,
                              detail::rules::scratch_fits<detail::say::key_value_cache, Workspace,
                                                          scratch, detail::shape<next>>>;
      static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
      if constexpr (rule::ok) {
        if (memory_size() == 0 || !this->make_room(own_call::count)) return false;
        detail::with_scratch<scratch>(work, [&](scratch& s) {
          for (std::size_t i = 0; i < base::blocks::count; ++i)
            decode_next<own_call, memory_call>(
                detail::weights_of_block(decode.get_weights(), i), this->caches_[i], memories_[i],
                i == 0 ? x.data() : out.data(), detail::as_mask(mask), own.mask, out.data(), s);
        });
        return true;
      }
    }
    return false;
  }

  // All sequences through one layer. y may be x.
  template <class OwnCall, class MemoryCall, class Weights, class Masks, class OwnMasks,
            class Scratch>
  static constexpr void decode_next(const Weights& w, attention_cache& cache,
                                    const memory_cache& memory, const value_type* x,
                                    const Masks& masks, const OwnMasks& own, value_type* y,
                                    Scratch& work) noexcept {
    constexpr std::size_t one = OwnCall::count * hidden_axis::size;
    for (std::size_t b = 0; b < attention_cache::batches; ++b)
      block::forward::template rows_of_sequence<OwnCall::count>(
          w, x + b * one, y + b * one, work,
          [&](const value_type* from, value_type* to) {
            base::template attend_self<OwnCall>(w.self_attention, cache, b, from, own, to,
                                                work.self_work);
          },
          [&](const value_type* from, value_type* to) {
            memory.template look_of_sequence<MemoryCall, base::row_strides, base::row_strides>(
                w.cross_attention, b, from, cache.size_, masks, to, work.cross_work);
          });
    cache.size_ += OwnCall::count;
  }

  memory_cache memories_[base::blocks::count];
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
