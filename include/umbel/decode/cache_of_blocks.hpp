// SPDX-License-Identifier: BSL-1.0
// key_value_cache of an encoder layer, or of a stack of them: whole models step by step, bit for
// bit the rows of the whole causal pass, encoder{w}(x, causal):
//
//   using model = layer_stack<encoder_layer<float, hidden<64>, ...>, 5>;
//   static key_value_cache<model, key<256>> past;   // with the options of one of attention
//   past.step(out, layers, prompt);                 // (token<12>, hidden): twelve positions
//   while (past.step(x, layers, x)) ...             // (token<1>, hidden): one more, in place
//
// Not here: what is stored of one layer (cache.hpp).
#pragma once

#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/cache.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct a_cache_of_encoder_layers_has_steps_but_no_append_and_no_recall;
}  // namespace say
template <>
inline constexpr const char*
    spoken<say::a_cache_of_encoder_layers_has_steps_but_no_append_and_no_recall> =
        "a cache of encoder layers has steps, but no append and no recall";

// The encoder layers that a layer is made of: one, or those of a stack.
template <class Layer>
struct encoders_in {
  using encoder = Layer;
  static constexpr std::size_t count = 1;
};
template <is_stack Layer>
struct encoders_in<Layer> {
  using encoder = typename Layer::layer;
  static constexpr std::size_t count = Layer::count;
};
// The weights of encoder `i` of them.
template <class Weights>
constexpr const auto& weights_of_encoder(const Weights& w, std::size_t i) noexcept {
  if constexpr (of_several_layers<Weights>)
    return w.layers[i];
  else
    return w;
}
}  // namespace detail

// The same of an encoder_layer or of a layer_stack: each of its layers has a cache of attention.
// Keys and Options: those of a cache of attention.
template <class Layer, class Keys, class... Options>
  requires detail::decodes_in_blocks<Layer>
class key_value_cache<Layer, Keys, Options...> : public detail::other_cache_calls {
  using encoders = detail::encoders_in<Layer>;
  using encoder = typename encoders::encoder;
  using hidden_axis = typename encoder::hidden_axis;
  using verdict = detail::rules::cache_of_attention<typename encoder::attention, Keys, Options...>;
  static_assert(detail::reported<verdict>::ok, "umbel: shapes do not fit");
  // One that is refused is not made, so that this one refuses it by itself.
  using attention_cache = typename std::conditional_t<
      verdict::ok,
      std::type_identity<key_value_cache<typename encoder::attention, Keys, Options...>>,
      std::type_identity<key_value_cache<typename encoder::attention, axes::key<1>>>>::type;

 public:
  using detail::other_cache_calls::step;
  using layer = Layer;
  using value_type = typename Layer::value_type;
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
  constexpr bool rewind(std::size_t count) noexcept {
    bool rewound = true;  // all caches hold the same positions: all of them do, or none
    for (attention_cache& cache : caches_) rewound = cache.rewind(count);
    return rewound;
  }

  // Scratch for steps of that many positions, workspace<token<1>>: of one layer. Its contents
  // between calls do not matter.
  template <class Positions>
  using workspace = typename encoder::template scratch_for<
      detail::rules::positions_of<Positions::size, Positions, typename encoder::widths>,
      typename attention_cache::template workspace<axes::query<Positions::size>>>;

  // See workspace_for: of the positions of a step.
  template <detail::tensor_like X>
  static workspace<detail::axis_of<
      detail::layout_of<X>, detail::rules::sequence_family<detail::layout_of<X>, hidden_axis>>>
  workspace_of(const X&);

  // The layers' results for the next positions, x (batch, token, hidden), row-major, with the batch
  // of the cache: the rows of the whole causal pass. out: a row-major tensor or view of the axes of
  // x; it may be x. mask: more masks (mask/combine.hpp), the same for all layers, whose axis key
  // counts positions of the cache. Returns false and changes nothing, in no layer, where there is
  // no room for them.
  template <detail::tensor_like Out, class Encode, detail::tensor_like X,
            mask_like Mask = detail::every_key, workspace_like Workspace = detail::on_stack>
  [[nodiscard]] constexpr bool step(Out&& out, const Encode& encode, const X& x,
                                    const Mask& mask = {}, Workspace&& work = {}) noexcept {
    using layout = detail::layout_of<X>;
    using name = detail::say::key_value_cache;
    using fits = detail::first_error<
        detail::rules::layer_of_cache<Layer, Encode>,
        detail::rules::self_attend<name, X, value_type, hidden_axis>,
        detail::rules::rows_of<name, X, value_type, hidden_axis>,
        detail::rules::batch_first<name, X>,
        detail::rules::batch_of_cache<layout, typename attention_cache::batch_option>,
        detail::rules::row_major_out<name, Out, value_type, layout>>;
    static_assert(detail::report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using next = detail::axis_of<layout, detail::rules::sequence_family<layout, hidden_axis>>;
      // in_formula: scratch is part of the encoder's.
      using call = typename attention_cache::template call_of<next, true, Mask, detail::in_formula>;
      using scratch = workspace<next>;
      using rule =
          detail::first_error<typename call::verdict,
                              detail::rules::scratch_fits<name, std::remove_reference_t<Workspace>,
                                                          scratch, detail::shape<next>>>;
      static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
      if constexpr (rule::ok) {
        if (!make_room(call::count)) return false;
        detail::with_scratch<scratch>(work, [&](scratch& own) {
          for (std::size_t i = 0; i < encoders::count; ++i)
            encode_next<call>(detail::weights_of_encoder(encode.get_weights(), i), caches_[i],
                              i == 0 ? x.data() : out.data(), detail::as_mask(mask), out.data(),
                              own);
        });
        return true;
      }
    }
    return false;
  }

  // Another sequence's keys and values are nothing to an encoder layer: refused.
  template <class... Arguments>
  constexpr bool append(const Arguments&...) noexcept {
    return refuse<Arguments...>();
  }
  template <class... Arguments>
  constexpr void recall(const Arguments&...) const noexcept {
    (void)refuse<Arguments...>();
  }

 private:
  // false: there is none, and nothing has changed.
  constexpr bool make_room(std::size_t count) noexcept {
    if (count > positions - size()) return false;
    for (attention_cache& cache : caches_) (void)cache.make_room(count);
    return true;
  }

  // All sequences through one layer. y may be x.
  template <class Call, class Weights, class Masks, class Scratch>
  static constexpr void encode_next(const Weights& w, attention_cache& cache, const value_type* x,
                                    const Masks& masks, value_type* y, Scratch& work) noexcept {
    constexpr detail::sequence_strides rows_of_x = {0, hidden_axis::size, 1};
    constexpr std::size_t one = Call::count * hidden_axis::size;
    auto& scratch = work.attention_work;
    for (std::size_t b = 0; b < attention_cache::batches; ++b)
      encoder::template rows_of_sequence<Call::count>(
          w, x + b * one, y + b * one, work, [&](const value_type* from, value_type* to) {
            cache.template store_sequence<Call, rows_of_x, rows_of_x>(w.attention, b, from, from,
                                                                      scratch.projected);
            cache.template look_of_sequence<Call, rows_of_x, rows_of_x>(
                w.attention, b, from, cache.size_, masks, to, scratch);
          });
    cache.size_ += Call::count;
  }

  template <class... Arguments>
  static constexpr bool refuse() noexcept {
    static_assert(
        detail::report<detail::verdict<
            (sizeof...(Arguments) > 99), detail::say::key_value_cache,
            detail::say::a_cache_of_encoder_layers_has_steps_but_no_append_and_no_recall>>::ok,
        "umbel: shapes do not fit");
    return false;
  }

  attention_cache caches_[encoders::count];
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
