// SPDX-License-Identifier: BSL-1.0
// key_value_cache of an encoder_layer, a decoder_layer, a residual_block, a layer_stack of one, or
// quantized<...> of one: whole models step by step. The steps are bit for bit the rows of the whole
// causal pass, encoder{w}(x, causal):
//
//   using model = layer_stack<encoder_layer<float, hidden<64>, ...>, 5>;
//   static key_value_cache<model, key<256>> past;   // with the same options as for attention
//   past.step(out, layers, prompt);                 // (token<12>, hidden): twelve positions
//   while (past.step(x, layers, x)) ...             // (token<1>, hidden): one more, in place
//
// If the layer attends to a memory, the keys and values of the memory are projected once:
//
//   using model = layer_stack<decoder_layer<float, hidden<64>, ...>, 6>;
//   static key_value_cache<model, key<128>, longest_memory<48>> past;
//   past.attend_to(decoders, memory);          // (key<40>, hidden): once for each sequence
//   past.step(out, decoders, prompt);
//
// Steps accept masks as the layer does: past.step(x, decoders, x, lens, self_mask(alibi)); they are
// always causal. A step past the capacity, or before attend_to (memory_size() is 0), returns false
// and changes nothing. A new memory starts a new sequence: attend_to forgets all positions.
// stored_as<> also rounds the keys and values of the memory.
//
// See past.hpp and quantized/past.hpp for the storage of an attention, and block_storage.hpp and
// quantized/cache_of_blocks.hpp for that of a block.
#pragma once

#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/block_storage.hpp>
#include <umbel/decode/cache.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
template <class Mask>
inline constexpr bool is_mask_of_step<self_attention_mask<Mask>> = true;
}  // namespace detail

template <class Layer, class Keys, class... Options>
  requires(portable::anything<void> && detail::stores_blocks<Layer>)
class key_value_cache<Layer, Keys, Options...>
    : public detail::other_cache_calls<
          detail::rules::calls_of_blocks<typename detail::cached_blocks<Layer>::of_memory,
                                         detail::cached_blocks<Layer>::block::has_memory>> {
  using storage = detail::block_storage<Layer, Keys, Options...>;
  using of = typename storage::of;
  using block = typename of::block;
  using calls = detail::other_cache_calls<
      detail::rules::calls_of_blocks<typename of::of_memory, block::has_memory>>;
  using hidden = typename block::hidden_axis;
  using reads = typename storage::reads;
  using sizes = typename storage::sizes;
  static_assert(detail::reported<typename storage::verdict>::ok, "umbel: shapes do not fit");
  // A refused cache reports no second error.
  static constexpr bool refused = !storage::verdict::ok;
  template <class Rule>
  struct unless_refused : std::conditional<refused, typename storage::verdict, Rule> {};
  template <class X>
  using positions_in = typename block::template positions_in<X>;

 public:
  using calls::step;
  using calls::workspace_of;
  using layer = Layer;
  using value_type = typename of::number;
  using result_type = value_type;
  using stored_type = typename storage::self_attention::stored;
  static constexpr bool slides = sizes::slides;
  static constexpr std::size_t capacity = sizes::capacity, positions = sizes::positions,
                               rows = sizes::rows;
  // The most positions that the memory may have.
  static constexpr std::size_t memory_capacity =
      block::has_memory ? storage::memory_option::positions : 0;

  // Scratch for steps of this many positions, workspace<token<1>>: enough for one layer.
  template <class... Positions>
  using workspace = typename storage::template scratch<
      detail::rules::first_positions<typename block::widths, 1, Positions...>()>;
  // See workspace_for, for the positions of a step.
  template <detail::tensor_like X, class... Mask>
    requires(detail::is_mask_of_step<Mask> && ...)
  static auto workspace_of(const X&, const Mask&...) {
    using namespace detail;
    using fits = typename unless_refused<
        first_error<rules::block_argument<say::key_value_cache, X, value_type, hidden>,
                    rules::batch_of_cache<layout_of<X>, typename sizes::batch_option>>>::type;
    static_assert(refused || report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok)
      return of_type<workspace<positions_in<X>>>();
    else
      return invalid{};
  }

  // The number of positions so far.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return so_far_.size(); }
  // The number of positions of the memory; 0 before attend_to.
  [[nodiscard]] constexpr std::size_t memory_size() const noexcept
    requires block::has_memory
  {
    return memory_.size;
  }
  // Forgets everything, including the memory. rewind(0) keeps the memory.
  constexpr void reset() noexcept {
    so_far_.reset();
    if constexpr (block::has_memory) memory_.size = 0;
  }
  // Forgets the positions from `count` on. Returns false and changes nothing if there are fewer, or
  // if a sliding cache has dropped positions that the rest would see.
  [[nodiscard]] constexpr bool rewind(std::size_t count) noexcept { return so_far_.rewind(count); }

  // Projects the keys and values of the memory, (batch, key, hidden), row-major, whose axis of
  // positions may have any name, in all layers. The memory isn't needed afterwards. Forgets all
  // positions, which attended to the previous memory.
  template <class Given, detail::tensor_like Memory, workspace_like Workspace = detail::on_stack>
    requires block::has_memory
  constexpr void attend_to(const Given& given, const Memory& memory,
                           Workspace&& work = {}) noexcept {
    using namespace detail;
    using fits = typename unless_refused<rules::memory_of_cache<
        Layer, Given, Memory, typename sizes::batch_option, typename storage::memory_option,
        typename of::of_memory, hidden>>::type;
    static_assert(refused || report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using next = positions_in<Memory>;
      constexpr std::size_t in_scratch = storage::template rows_in<std::remove_cvref_t<Workspace>>;
      using scratch = std::conditional_t<std::is_same_v<std::remove_cvref_t<Workspace>, on_stack>,
                                         typename storage::template memory_scratch<in_scratch>,
                                         typename storage::template scratch<in_scratch>>;
      using rule =
          rules::scratch_fits<say::key_value_cache, std::remove_reference_t<Workspace>, scratch,
                              shape<typename next::family::template sized<in_scratch>>>;
      static_assert(report<rule>::ok, "umbel: shapes do not fit");
      if constexpr (rule::ok) {
        so_far_.reset();
        with_scratch<scratch>(work, [&](scratch& s) UMBEL_LAMBDA_INLINE {
          store_memory<next::size, of::template rows_at_once<in_scratch, next::size>>(
              given.get_weights(), memory.data(), s);
        });
        memory_.size = next::size;
      }
    }
  }
  // Arguments that fit no call: refused.
  template <class... Arguments>
    requires block::has_memory
  constexpr void attend_to(const Arguments&...) noexcept {
    using takes = detail::say::attend_to_expects_the_layer_and_the_memory_then_a_workspace;
    (void)calls::template refuse<
        detail::rules::arguments<detail::say::key_value_cache, takes, Arguments...>>();
  }

  // The layers' results for the next positions, x (batch, token, hidden), row-major: the rows of
  // the whole causal pass. out may be x. mask: more masks, the same for all layers, whose axis key
  // counts positions of the cache; with a memory, mask is for the memory, and to_self,
  // self_mask(m), for the sequence. Returns false and changes nothing if they don't fit or there is
  // no memory.
  template <detail::tensor_like Out, class Given, detail::tensor_like X,
            mask_like Mask = detail::every_key, workspace_like Workspace = detail::on_stack>
  [[nodiscard]] constexpr auto step(Out&& out, const Given& given, const X& x,
                                    const Mask& mask = {}, Workspace&& work = {}) noexcept {
    if constexpr (block::has_memory)
      return step_with<Out>(out, given, x, mask, all_keys, work);
    else
      return step_with<Out>(out, given, x, all_keys, mask, work);
  }
  template <detail::tensor_like Out, class Given, detail::tensor_like X, class ToSelf,
            workspace_like Workspace = detail::on_stack>
    requires block::has_memory
  [[nodiscard]] constexpr auto step(Out&& out, const Given& given, const X& x,
                                    const detail::self_attention_mask<ToSelf>& to_self,
                                    Workspace&& work = {}) noexcept {
    return step_with<Out>(out, given, x, all_keys, to_self.mask, work);
  }
  template <detail::tensor_like Out, class Given, detail::tensor_like X, mask_like Mask,
            class ToSelf, workspace_like Workspace = detail::on_stack>
    requires block::has_memory
  [[nodiscard]] constexpr auto step(Out&& out, const Given& given, const X& x, const Mask& mask,
                                    const detail::self_attention_mask<ToSelf>& to_self,
                                    Workspace&& work = {}) noexcept {
    return step_with<Out>(out, given, x, mask, to_self.mask, work);
  }

 private:
  struct size_of_memory {
    std::size_t size = 0;
  };
  struct no_memory {
    static constexpr std::size_t size = 0;
  };

  // Stores Count rows of a memory of each sequence, AtOnce at a time.
  template <std::size_t Count, std::size_t AtOnce, class Weights, class T, class Scratch>
  constexpr void store_memory(const Weights& w, const T* memory, Scratch& work) noexcept {
    constexpr detail::sequence_strides rows_of = {0, block::width, 1};
    constexpr std::size_t left = Count % AtOnce;
    for (std::size_t i = 0; i < of::blocks::count; ++i)
      storage::template each_that<reads::memory>(past_[i], [&](auto& past, auto number) {
        const auto& weights = of::template weights_of_part<number>(detail::weights_of_block(w, i));
        auto& scratch = detail::residual::start<number>(work.parts);
        const auto store = [&]<std::size_t N>(std::integral_constant<std::size_t, N>,
                                              std::size_t first) {
          for (std::size_t b = 0; b < sizes::batches; ++b) {
            const T* const from = memory + (b * Count + first) * block::width;
            past.template append<N, rows_of, rows_of>(weights, b, from, from, first, first,
                                                      scratch);
          }
        };
        for (std::size_t first = 0; first + AtOnce <= Count; first += AtOnce)
          store(std::integral_constant<std::size_t, AtOnce>{}, first);
        if constexpr (left != 0) store(std::integral_constant<std::size_t, left>{}, Count - left);
      });
  }

  template <class Out, class Given, class X, class Mask, class ToSelf, class Workspace>
  constexpr auto step_with(std::remove_reference_t<Out>& out, const Given& given, const X& x,
                           const Mask& mask, const ToSelf& to_self, Workspace& work) noexcept {
    using namespace detail;
    using fits = typename unless_refused<first_error<
        rules::layer_of_cache<Layer, Given>,
        rules::block_argument<say::key_value_cache, X, value_type, hidden>,
        rules::batch_of_cache<layout_of<X>, typename sizes::batch_option>,
        rules::row_major_out<say::key_value_cache, Out, value_type, layout_of<X>>>>::type;
    static_assert(refused || report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using next = positions_in<X>;
      using scratch = workspace<next>;
      using rule =
          first_error<typename storage::template step_fits<next, Mask, ToSelf>,
                      rules::scratch_fits<say::key_value_cache, Workspace, scratch, shape<next>>>;
      static_assert(report<rule>::ok, "umbel: shapes do not fit");
      if constexpr (rule::ok) {
        if ((block::has_memory && memory_.size == 0) || !make_room(next::size)) return false;
        const auto& masks = as_mask(mask);
        const auto& owns = as_mask(to_self);
        using attentions = typename storage::template attentions_of_step<
            next::size, std::remove_cvref_t<decltype(masks)>, std::remove_cvref_t<decltype(owns)>>;
        constexpr std::size_t elements_of_batch = next::size * block::width;
        with_scratch<scratch>(work, [&](scratch& s) UMBEL_LAMBDA_INLINE {
          for (std::size_t i = 0; i < of::blocks::count; ++i)
            for (std::size_t b = 0; b < sizes::batches; ++b)
              of::template rows<next::size>(
                  weights_of_block(given.get_weights(), i),
                  (i == 0 ? x.data() : out.data()) + b * elements_of_batch,
                  out.data() + b * elements_of_batch, s,
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
        storage::template each_that<reads::sequence>(
            of_block, [&](auto& past, auto) { past.drop(gone, left); });
    });
  }

  detail::positions_so_far<sizes> so_far_;
  UMBEL_NO_UNIQUE_ADDRESS std::conditional_t<block::has_memory, size_of_memory, no_memory> memory_;
  typename storage::type past_[of::blocks::count];
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
