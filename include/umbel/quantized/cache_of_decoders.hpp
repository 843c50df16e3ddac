// SPDX-License-Identifier: BSL-1.0
// key_value_cache of decoder layers in integers and of stacks of them: a sequence step by step,
// beside a memory whose keys and values are projected once.
//
//   static key_value_cache<quantized<model>, key<128>, longest_memory<48>> past;
//   past.attend_to(decoders, memory);          // (key<40>, hidden), int8: once for each sequence
//   while (past.step(x, decoders, x)) ...      // (token<1>, hidden), int16, in place
//
// Calls, masks and what is refused are those of a cache of floats (decode/cache_of_decoders.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/decode/cache_of_decoders.hpp>
#include <umbel/quantized/cache_of_blocks.hpp>
#include <umbel/quantized/decoder.hpp>
#include <utility>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

template <class Layer, class Keys, class... Options>
struct cache_of_decoders {
  using block = typename blocks_in<Layer>::block;
  using memory_option = option_or<option::longest_memory, longest_memory<1>, Options...>;
  using batch_option = option_or<rules::batch_family, void, Options...>;
  using memory_keys = axes::key<memory_option::positions>;
  template <class... Own>
  static auto own_of(option_list<Own...>)
      -> std::pair<rules::integer_cache<typename block::self_attention, std::int8_t, Keys, Own...>,
                   cache_sizes<axis_or_none<Keys>::size, Own...>>;
  template <class... Memory>
  static auto memory_of(option_list<Memory...>) -> std::pair<
      rules::integer_cache<typename block::cross_attention, std::int8_t, memory_keys, Memory...>,
      cache_sizes<memory_keys::size, Memory...>>;
  template <class... Kinds>
  using picked = typename pick_options<option_list<Kinds...>, option_list<>, Options...>::type;
  using own = decltype(own_of(picked<rules::batch_family, option::longest_sequence>{}));
  using memory = decltype(memory_of(picked<rules::batch_family>{}));
  using verdict = first_error<
      rules::in_place<say::key_value_cache, Keys, axes::key>,
      rules::options<
          say::key_value_cache,
          option_kinds<rules::batch_family, option::longest_sequence, option::longest_memory>,
          Options...>,
      detail::verdict<rules::is_said<option::longest_memory, Options...>, say::key_value_cache,
                      say::say_longest_memory_how_many_positions_the_memory_may_have>,
      typename own::first_type, typename memory::first_type>;
  using own_sizes = std::conditional_t<verdict::ok, typename own::second_type, cache_sizes<1>>;
  using memory_sizes =
      std::conditional_t<verdict::ok, typename memory::second_type, cache_sizes<1>>;
  using type = cache_of_blocks<Layer, typename block::self_attention, own_sizes>;
};

}  // namespace detail::integers

// Of a quantized decoder_layer or layer_stack of them. Options: batch<2>, longest_sequence<4096>
// and longest_memory<48>.
template <class Layer, class Keys, class... Options>
  requires detail::decodes_with_memory<Layer>
class key_value_cache<quantized<Layer>, Keys, Options...>
    : public detail::integers::cache_of_decoders<Layer, Keys, Options...>::type {
  using caches = detail::integers::cache_of_decoders<Layer, Keys, Options...>;
  using base = typename caches::type;
  static_assert(detail::reported<typename caches::verdict>::ok, "umbel: shapes do not fit");
  using typename base::hidden_axis;
  using numbers = typename base::layer::numbers;
  using memory_sizes = typename caches::memory_sizes;
  using memory_past =
      detail::integers::past_of_attention<typename caches::block::cross_attention, memory_sizes>;
  static constexpr bool refused = !caches::verdict::ok;

 public:
  // The most positions that the memory may have.
  static constexpr std::size_t memory_capacity = memory_sizes::capacity;

  // The number of positions of the memory; 0 before one was given.
  [[nodiscard]] constexpr std::size_t memory_size() const noexcept { return memory_size_; }
  // Forgets everything, also the memory. (rewind(0) keeps it.)
  constexpr void reset() noexcept {
    base::reset();
    memory_size_ = 0;
  }

  // Scratch for steps of that many positions, workspace<token<1>>: of one layer.
  template <class Positions>
  using workspace = typename numbers::template scratch_for<
      Positions::size, memory_capacity, typename base::past::template scratch_for<Positions::size>,
      typename memory_past::template scratch_for<Positions::size>,
      typename numbers::self_type::no_head_scratch, typename numbers::cross_type::no_head_scratch>;
  // See workspace_for: of the positions of a step.
  template <detail::tensor_like X>
  static workspace<typename base::template positions_along<X>> workspace_of(const X&);

  // Projects the keys and values of the memory, (batch, key, hidden) with positions along an axis
  // of any name, row-major, int8, in all layers; it is not needed any more. Forgets all positions,
  // which attended to another one. It needs no scratch; a workspace is taken as by a cache of
  // floats.
  template <class Decode, detail::tensor_like Memory, workspace_like Workspace = detail::on_stack>
  constexpr void attend_to(const Decode& decode, const Memory& memory, Workspace&& = {}) noexcept {
    using namespace detail;
    using fits = std::conditional_t<
        refused, typename caches::verdict,
        rules::memory_of_cache<typename base::layer, Decode, Memory,
                               typename memory_sizes::batch_option, typename caches::memory_option,
                               std::int8_t, hidden_axis>>;
    static_assert(refused || report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      constexpr std::size_t count = base::template positions_along<Memory>::size;
      constexpr std::size_t one = count * hidden_axis::size;
      reset();
      typename memory_past::numbers::template rotary_scratch<count> to_rotate;  // it has none
      for (std::size_t i = 0; i < base::layer::depth; ++i)
        for (std::size_t b = 0; b < memory_sizes::batches; ++b)
          memories_[i].template append<count>(decode.numbers_at(i).cross_attention, b,
                                              memory.data() + b * one, memory.data() + b * one, 0,
                                              0, to_rotate);
      memory_size_ = count;
    }
  }

  // The layers' results for the next positions, x (batch, token, hidden), row-major, int16: the
  // rows of the whole causal pass. out may be x. mask: of the memory; own: self_mask(m), more masks
  // of the sequence. Returns false and changes nothing where there is no room for them, or no
  // memory was given.
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
    using rule = typename detail::rules::arguments_of_step<std::int16_t, Arguments...>::type;
    static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
    return false;
  }
  template <class... Arguments>
  constexpr void attend_to(const Arguments&...) noexcept {
    using takes = detail::say::attend_to_takes_the_layer_and_the_memory_then_a_workspace;
    (void)base::template refuse<takes, Arguments...>();
  }

 private:
  template <class Out, class Decode, class X, class Mask, class Own, class Workspace>
  constexpr bool step_with(std::remove_reference_t<Out>& out, const Decode& decode, const X& x,
                           const Mask& mask, const detail::own_mask<Own>& own,
                           Workspace& work) noexcept {
    using namespace detail;
    using fits = std::conditional_t<refused, typename caches::verdict,
                                    typename base::template step_fits<Decode, X, Out>>;
    static_assert(refused || report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using next = typename base::template positions_along<X>;
      constexpr std::size_t n = next::size;
      using scratch = workspace<next>;
      // As in the whole pass a mask says where queries are.
      using memory_scores =
          scores_of<float, rules::size_or_0<typename memory_sizes::batch_option>,
                    caches::block::cross_attention::sizes.heads, n, memory_capacity>;
      using rule =
          first_error<typename base::template own_fits<next, Own>,
                      rules::mask_of_memory<std::int8_t, Mask>,
                      rules::mask_fits<say::key_value_cache, mask_of<Mask>, memory_scores>,
                      typename memory_past::template mask_rule<Mask, n>,
                      rules::scratch_fits<say::key_value_cache, Workspace, scratch, shape<next>>>;
      static_assert(report<rule>::ok, "umbel: shapes do not fit");
      if constexpr (rule::ok) {
        if (memory_size_ == 0 || !this->make_room(n)) return false;
        const auto& masks = as_mask(mask);
        const auto first = static_cast<std::ptrdiff_t>(this->size());
        const auto last =
            static_cast<std::ptrdiff_t>(memory_size_) - static_cast<std::ptrdiff_t>(n);
        with_scratch<scratch>(work, [&](scratch& s) {
          this->template each_sequence_of_layers<n>(
              decode, x, out,
              [&](const numbers& layer, std::size_t i, std::int16_t* rows, std::size_t b) {
                layer.template rows_of_sequence<n>(
                    rows, s,
                    [&](const std::int8_t* from, std::int16_t* to) {
                      this->past_[i].template step<n>(layer.self_attention, b, from, this->so_far_,
                                                      own.mask, to, layer.added, s.self_work);
                    },
                    [&](const std::int8_t* from, std::int16_t* to) {
                      memories_[i].template attend<n>(layer.cross_attention, b, from, 0,
                                                      kernel::scores::first_keys(memory_size_),
                                                      masks, first, last, to, layer.added,
                                                      s.cross_work);
                    });
              });
        });
        return true;
      }
    }
    return false;
  }

  std::size_t memory_size_ = 0;
  memory_past memories_[base::layer::depth];
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
