// SPDX-License-Identifier: BSL-1.0
// key_value_cache of an encoder layer, or of a stack of them: whole models step by step, bit for
// bit the rows of the whole causal pass, encoder{w}(x, causal):
//
//   using model = layer_stack<encoder_layer<float, hidden<64>, ...>, 5>;
//   static key_value_cache<model, key<256>> past;   // with the options of one of attention
//   past.step(out, layers, prompt);                 // (token<12>, hidden): twelve positions
//   while (past.step(x, layers, x)) ...             // (token<1>, hidden): one more, in place
//
// And what it shares with that of decoder layers. Not here: what is stored of one layer
// (cache.hpp); decoder layers, which also have a memory (cache_of_decoders.hpp).
#pragma once

#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/cache.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct a_cache_of_encoder_or_decoder_layers_has_steps_but_no_append_and_no_recall;
}  // namespace say
template <>
inline constexpr const char*
    spoken<say::a_cache_of_encoder_or_decoder_layers_has_steps_but_no_append_and_no_recall> =
        "a cache of encoder or decoder layers has steps, but no append and no recall";

// The blocks that a layer is made of: one, or those of a stack.
template <class Layer>
struct blocks_in {
  using block = Layer;
  static constexpr std::size_t count = 1;
};
template <is_stack Layer>
struct blocks_in<Layer> {
  using block = typename Layer::layer;
  static constexpr std::size_t count = Layer::count;
};
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

// What caches of encoder layers and of decoder layers share: each block has a cache of its
// attention to its own sequence.
template <class Layer, class AttentionCache>
class cache_of_blocks : public other_cache_calls {
 protected:
  using attention_cache = AttentionCache;
  using blocks = blocks_in<Layer>;
  using block = typename blocks::block;
  using hidden_axis = typename block::hidden_axis;

 public:
  using layer = Layer;
  using value_type = typename block::value_type;
  // What keys and values are stored as.
  using stored_type = typename attention_cache::stored_type;
  static constexpr bool slides = attention_cache::slides;
  // The most positions that a query sees, and that a sequence may have.
  static constexpr std::size_t capacity = attention_cache::capacity;
  static constexpr std::size_t positions = attention_cache::positions;
  // Positions that there is memory for, in each layer.
  static constexpr std::size_t rows = attention_cache::rows;

  // The number of positions so far.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return caches_[0].size(); }
  // Forgets everything.
  constexpr void reset() noexcept {
    for (attention_cache& cache : caches_) cache.reset();
  }
  // Forgets the positions from `count` on, in all layers. Returns false and changes nothing where
  // there are fewer, or where a sliding cache has dropped positions that the rest would see.
  [[nodiscard]] constexpr bool rewind(std::size_t count) noexcept {
    bool rewound = true;  // all caches hold the same positions: all of them do, or none
    for (attention_cache& cache : caches_) rewound = cache.rewind(count);
    return rewound;
  }

  // Keys and values of a block are made of what the block before it gives: refused.
  template <class... Arguments>
  constexpr bool append(const Arguments&...) noexcept {
    return refuse_all_but_steps<Arguments...>();
  }
  template <class... Arguments>
  constexpr void recall(const Arguments&...) const noexcept {
    (void)refuse_all_but_steps<Arguments...>();
  }

 protected:
  static constexpr sequence_strides row_strides = {0, hidden_axis::size, 1};
  template <class X>
  using positions_along = axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, hidden_axis>>;
  // The shapes of a step, with Given for the layer.
  template <class Given, class X, class Out>
  using step_fits =
      first_error<rules::layer_of_cache<Layer, Given>,
                  rules::self_attend<say::key_value_cache, X, value_type, hidden_axis>,
                  rules::rows_of<say::key_value_cache, X, value_type, hidden_axis>,
                  rules::batch_first<say::key_value_cache, X>,
                  rules::batch_of_cache<layout_of<X>, typename attention_cache::batch_option>,
                  rules::row_major_out<say::key_value_cache, Out, value_type, layout_of<X>>>;
  // A step of Positions through the attention of a block, whose scratch is part of the block's.
  template <class Positions, class Mask>
  using call_of = typename attention_cache::template call_of<Positions, true, Mask, in_formula>;

  // false: there is none, and nothing has changed.
  constexpr bool make_room(std::size_t count) noexcept {
    if (count > positions - size()) return false;
    for (attention_cache& cache : caches_) (void)cache.make_room(count);
    return true;
  }

  // Attention of new positions of sequence b to themselves and all before, in one block.
  template <class Call, class Weights, class Masks, class Scratch>
  static constexpr void attend_self(const Weights& w, attention_cache& cache, std::size_t b,
                                    const value_type* from, const Masks& masks, value_type* to,
                                    Scratch& scratch) noexcept {
    cache.template store_sequence<Call, row_strides, row_strides>(w, b, from, from,
                                                                  scratch.projected);
    cache.template look_of_sequence<Call, row_strides, row_strides>(w, b, from, cache.size_, masks,
                                                                    to, scratch);
  }

  attention_cache caches_[blocks::count];

 private:
  template <class... Arguments>
  static constexpr bool refuse_all_but_steps() noexcept {
    static_assert(
        report<verdict<
            (sizeof...(Arguments) > 99), say::key_value_cache,
            say::a_cache_of_encoder_or_decoder_layers_has_steps_but_no_append_and_no_recall>>::ok,
        "umbel: shapes do not fit");
    return false;
  }
};

template <class Layer, class Keys, class... Options>
using cache_of_encoders = attention_cache_with<typename blocks_in<Layer>::block::attention, Keys,
                                               option_list<Options...>>;
}  // namespace detail

// The same of an encoder_layer or of a layer_stack of them. Keys and Options: those of a cache of
// attention.
template <class Layer, class Keys, class... Options>
  requires detail::decodes_in_blocks<Layer>
class key_value_cache<Layer, Keys, Options...>
    : public detail::cache_of_blocks<
          Layer, typename detail::cache_of_encoders<Layer, Keys, Options...>::type> {
  using base =
      detail::cache_of_blocks<Layer,
                              typename detail::cache_of_encoders<Layer, Keys, Options...>::type>;
  static_assert(
      detail::reported<typename detail::cache_of_encoders<Layer, Keys, Options...>::verdict>::ok,
      "umbel: shapes do not fit");
  using typename base::attention_cache;
  using typename base::block;
  using typename base::hidden_axis;

 public:
  using base::step;
  using typename base::value_type;

  // Scratch for steps of that many positions, workspace<token<1>>: of one layer. Its contents
  // between calls do not matter.
  template <class... Positions>
  using workspace = typename block::template scratch_for<
      detail::rules::first_positions<typename block::widths, 1, Positions...>,
      typename attention_cache::template workspace<
          axes::query<detail::rules::first_positions<typename block::widths, 1, Positions...>>>>;

  // See workspace_for: of the positions of a step.
  template <detail::tensor_like X>
  static workspace<typename base::template positions_along<X>> workspace_of(const X&);

  // The layers' results for the next positions, x (batch, token, hidden), row-major, with the batch
  // of the cache: the rows of the whole causal pass. out: a row-major tensor or view of the axes of
  // x; it may be x. mask: more masks (mask/combine.hpp), the same for all layers, whose axis key
  // counts positions of the cache. Returns false and changes nothing, in no layer, where there is
  // no room for them.
  template <detail::tensor_like Out, class Encode, detail::tensor_like X,
            mask_like Mask = detail::every_key, workspace_like Workspace = detail::on_stack>
  [[nodiscard]] constexpr bool step(Out&& out, const Encode& encode, const X& x,
                                    const Mask& mask = {}, Workspace&& work = {}) noexcept {
    using fits = typename base::template step_fits<Encode, X, Out>;
    static_assert(detail::report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using next = typename base::template positions_along<X>;
      using call = typename base::template call_of<next, Mask>;
      using scratch = workspace<next>;
      using rule =
          detail::first_error<typename call::verdict,
                              detail::rules::scratch_fits<detail::say::key_value_cache,
                                                          std::remove_reference_t<Workspace>,
                                                          scratch, detail::shape<next>>>;
      static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
      if constexpr (rule::ok) {
        if (!this->make_room(call::count)) return false;
        detail::with_scratch<scratch>(work, [&](scratch& own) {
          for (std::size_t i = 0; i < base::blocks::count; ++i)
            encode_next<call>(detail::weights_of_block(encode.get_weights(), i), this->caches_[i],
                              i == 0 ? x.data() : out.data(), detail::as_mask(mask), out.data(),
                              own);
        });
        return true;
      }
    }
    return false;
  }

 private:
  // All sequences through one layer. y may be x.
  template <class Call, class Weights, class Masks, class Scratch>
  static constexpr void encode_next(const Weights& w, attention_cache& cache, const value_type* x,
                                    const Masks& masks, value_type* y, Scratch& work) noexcept {
    constexpr std::size_t one = Call::count * hidden_axis::size;
    for (std::size_t b = 0; b < attention_cache::batches; ++b)
      block::template rows_of_sequence<Call::count>(
          w, x + b * one, y + b * one, work, [&](const value_type* from, value_type* to) {
            base::template attend_self<Call>(w.attention, cache, b, from, masks, to,
                                             work.attention_work);
          });
    cache.size_ += Call::count;
  }
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
