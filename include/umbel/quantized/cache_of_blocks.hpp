// SPDX-License-Identifier: BSL-1.0
// key_value_cache of encoder layers in integers and of stacks of them: whole models step by step,
// the bits of the whole causal pass:
//
//   static key_value_cache<quantized<model>, key<256>> past;
//   past.step(out, layers, prompt);                       // (token<12>, hidden), int16
//   while (past.step(x, layers, x)) ...                   // one more, in place
//
// Not here: what is stored of one layer (past.hpp); decoder layers (cache_of_decoders.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/decode/cache_of_blocks.hpp>
#include <umbel/decode/cache_of_decoders.hpp>
#include <umbel/quantized/encoder.hpp>
#include <umbel/quantized/past.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

// What caches of encoder layers and of decoder layers share. Layer: of floats; Attention: to its
// own sequence; Sizes: cache_sizes; OfLayer: the options of the quantized layer.
template <class Layer, class Attention, class Sizes, class... OfLayer>
class cache_of_blocks : public other_cache_calls {
 protected:
  using sizes = Sizes;
  using hidden_axis = typename blocks_in<Layer>::block::hidden_axis;
  using past = past_of_attention<Attention, Sizes, softmax_of<OfLayer...>>;

 public:
  using layer = quantized<Layer, OfLayer...>;
  static constexpr bool slides = sizes::slides;
  static constexpr std::size_t capacity = sizes::capacity, positions = sizes::positions,
                               rows = sizes::rows;

  // The number of positions so far.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return so_far_.size(); }
  // Forgets everything.
  constexpr void reset() noexcept { so_far_.reset(); }
  // Forgets the positions from `count` on. Returns false and changes nothing where there are fewer,
  // or where a sliding cache has dropped positions that the rest would see.
  [[nodiscard]] constexpr bool rewind(std::size_t count) noexcept { return so_far_.rewind(count); }

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
  template <class X>
  using positions_along = axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, hidden_axis>>;
  // The shapes of a step, with Given for the layer.
  template <class Given, class X, class Out>
  using step_fits =
      first_error<rules::layer_of_cache<layer, Given>,
                  rules::self_attend<say::key_value_cache, X, std::int16_t, hidden_axis>,
                  rules::rows_of<say::key_value_cache, X, std::int16_t, hidden_axis>,
                  rules::batch_first<say::key_value_cache, X>,
                  rules::batch_of_cache<layout_of<X>, typename sizes::batch_option>,
                  rules::row_major_out<say::key_value_cache, Out, std::int16_t, layout_of<X>>>;
  // Next: the positions of a step. Own: the mask of the sequence.
  template <class Next, class Own>
  using own_fits = first_error<rules::fits_into_cache<Next, axes::key<capacity>, sizes::at_once>,
                               typename past::template mask_rule<Own, Next::size>>;

  constexpr bool make_room(std::size_t count) noexcept {
    return so_far_.make_room(count, [&](std::size_t gone, std::size_t left) {
      for (past& one : past_) one.drop(gone, left);
    });
  }
  // f(numbers of layer i, i, rows of sequence b of y, b), which begin as x, for all layers and
  // sequences; then the positions are there.
  template <std::size_t Count, class X, class Y, class F>
  constexpr void each_sequence_of_layers(const layer& layers, const X& x, Y& y,
                                         const F& f) noexcept {
    constexpr std::size_t one = Count * hidden_axis::size;
    if (static_cast<const void*>(y.data()) != static_cast<const void*>(x.data()))
      for (std::size_t i = 0; i < sizes::batches * one; ++i) y.data()[i] = x.data()[i];
    for (std::size_t i = 0; i < layer::depth; ++i)
      for (std::size_t b = 0; b < sizes::batches; ++b)
        f(layers.numbers_at(i), i, y.data() + b * one, b);
    so_far_.add(Count);
  }

  positions_so_far<sizes> so_far_;
  past past_[layer::depth];

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
struct cache_of_encoders;
template <class Layer, class... OfLayer, class Keys, class... Options>
struct cache_of_encoders<quantized<Layer, OfLayer...>, Keys, Options...> {
  using attention = typename blocks_in<Layer>::block::attention;
  using verdict = rules::integer_cache<attention, softmax_of<OfLayer...>, Keys, Options...>;
  using sizes = std::conditional_t<verdict::ok, cache_sizes<axis_or_none<Keys>::size, Options...>,
                                   cache_sizes<1>>;
  using type = cache_of_blocks<Layer, attention, sizes, OfLayer...>;
};

}  // namespace detail::integers

// The same of a quantized encoder_layer or layer_stack of them.
template <class Layer, class... OfLayer, class Keys, class... Options>
  requires(detail::decodes_in_blocks<Layer> && !detail::decodes_with_memory<Layer>)
class key_value_cache<quantized<Layer, OfLayer...>, Keys, Options...>
    : public detail::integers::cache_of_encoders<quantized<Layer, OfLayer...>, Keys,
                                                 Options...>::type {
  using caches =
      detail::integers::cache_of_encoders<quantized<Layer, OfLayer...>, Keys, Options...>;
  using base = typename caches::type;
  static_assert(detail::reported<typename caches::verdict>::ok, "umbel: shapes do not fit");
  using numbers = typename base::layer::numbers;

 public:
  using base::step;

  // Scratch for steps of that many positions, workspace<token<1>>: of one layer.
  template <class Positions>
  using workspace = typename numbers::template scratch_for<
      Positions::size, typename base::past::template scratch_for<Positions::size>,
      typename numbers::attention_type::no_head_scratch>;
  // See workspace_for: of the positions of a step.
  template <detail::tensor_like X>
  static workspace<typename base::template positions_along<X>> workspace_of(const X&);

  // The layers' results for the next positions, x (batch, token, hidden), row-major, int16: the
  // rows of the whole causal pass. out may be x. mask: more masks, the same for all layers, whose
  // axis key counts positions of the cache. Returns false and changes nothing where there is no
  // room for them.
  template <detail::tensor_like Out, class Encode, detail::tensor_like X,
            mask_like Mask = detail::every_key, workspace_like Workspace = detail::on_stack>
  [[nodiscard]] constexpr bool step(Out&& out, const Encode& encode, const X& x,
                                    const Mask& mask = {}, Workspace&& work = {}) noexcept {
    using namespace detail;
    using fits = typename base::template step_fits<Encode, X, Out>;
    static_assert(report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using next = typename base::template positions_along<X>;
      using scratch = workspace<next>;
      using rule =
          first_error<typename base::template own_fits<next, Mask>,
                      rules::scratch_fits<say::key_value_cache, std::remove_reference_t<Workspace>,
                                          scratch, shape<next>>>;
      static_assert(report<rule>::ok, "umbel: shapes do not fit");
      if constexpr (rule::ok) {
        if (!this->make_room(next::size)) return false;
        const auto& masks = as_mask(mask);
        with_scratch<scratch>(work, [&](scratch& own) {
          this->template each_sequence_of_layers<next::size>(
              encode, x, out,
              [&](const numbers& n, std::size_t i, std::int16_t* rows, std::size_t b) {
                n.template rows_of_sequence<next::size>(
                    rows, own, [&](const std::int8_t* from, std::int16_t* to) {
                      this->past_[i].template step<next::size>(n.attention, b, from, this->so_far_,
                                                               masks, to, n.added,
                                                               own.attention_work);
                    });
              });
        });
        return true;
      }
    }
    return false;
  }
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
