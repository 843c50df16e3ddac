// SPDX-License-Identifier: BSL-1.0
// key_value_cache: the keys and values of the positions so far, projected once, in memory of
// constant size. Decoding a sequence step by step gives the bits of the whole causal pass:
//
//   static key_value_cache<attention, key<256>> past;   // of one sequence; batch<2>: of two
//   past.step(out, attend, prompt);                     // (token<12>, hidden): twelve positions
//   while (past.step(out, attend, next)) ...            // (token<1>, hidden): one more
//
//   // Sees the last 64 positions of a sequence of up to 4096.
//   key_value_cache<attention, key<64>, longest_sequence<4096>>
//   // Half the bytes: keys and values are rounded to 16 bits. stored_as<std::int8_t>: a quarter.
//   key_value_cache<attention, key<256>, stored_as<bfloat16>>
//
// For attention to another sequence, append its keys and values once and recall as often as wanted.
// A step past the capacity returns false and changes nothing. Keys are stored (head_dim, key),
// values (key, value_dim), so that one query reads either in adjacent memory. A sliding cache drops
// the oldest positions in blocks, so that a step adds in the order of the whole pass with its
// window; it has no recall.
//
// Not here: encoder layers, decoder layers, other blocks and stacks of them (cache_of_blocks.hpp);
// formulas (cache_of_formula.hpp);
// masks (mask/combine.hpp), whose axis key counts positions of the cache; the step itself
// (decode/forward.hpp).
#pragma once

#include <umbel/attention/multi_head.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/cached_layers.hpp>
#include <umbel/decode/forward.hpp>
#include <umbel/decode/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
// Where a step projects what it stores. Scratch: its workspace.
template <class Scratch>
UMBEL_INLINE constexpr auto* projected_in(Scratch& scratch) noexcept {
  return scratch.projected;
}
// The scales of what a cache stores in 8 bits; Count is 0 where there are none.
template <class T, std::size_t Count>
struct scales_of_cache {
  alignas(64) T numbers[Count]{};
  constexpr T* data() noexcept { return numbers; }
  constexpr const T* data() const noexcept { return numbers; }
};
template <class T>
struct scales_of_cache<T, 0> {
  constexpr T* data() const noexcept { return nullptr; }
};

}  // namespace detail

// Keys and values of the positions so far, for decoding step by step. Layer: a
// multi_head_attention, or an encoder_layer, a decoder_layer, a residual_block or a layer_stack of
// one, which have steps only (cache_of_blocks.hpp); calls take it or its prepacked form. Keys:
// key<256>, how many positions there is memory for. Options: batch<2>, longest_sequence<4096>,
// stored_as<bfloat16> (or float16): keys and values are rounded to 16 bits when they are stored,
// for layers of float; results are those of attention to the rounded ones. stored_as<std::int8_t>:
// to 8 bits, steps of a scale that a head has for each position, one of its key and one of its
// value (docs/numerics.md).
template <class Layer, class Keys = detail::nothing, class... Options>
class key_value_cache : public detail::other_cache_calls {
  using batch_option = detail::option_or<detail::rules::batch_family, void, Options...>;
  using sliding_option =
      detail::option_or<detail::option::longest_sequence, detail::not_sliding, Options...>;
  using stored_option = detail::option_or<detail::option::stored_as,
                                          stored_as<typename Layer::value_type>, Options...>;
  using verdict = detail::rules::cache_of_attention<Layer, Keys, Options...>;
  static_assert(detail::reported<verdict>::ok, "umbel: shapes do not fit");

 public:
  using detail::other_cache_calls::append;
  using detail::other_cache_calls::recall;
  using detail::other_cache_calls::step;
  using layer = Layer;
  using value_type = typename Layer::value_type;
  // What keys and values are stored as.
  using stored_type =
      std::conditional_t<verdict::ok, typename stored_option::type, typename Layer::value_type>;
  static constexpr bool slides = sliding_option::positions != 0;
  // The most positions that a query sees, and that a sequence may have.
  static constexpr std::size_t capacity = verdict::ok ? detail::axis_or_none<Keys>::size : 1;
  static constexpr std::size_t positions = slides ? sliding_option::positions : capacity;
  // Positions that there is memory for. A sliding cache drops whole blocks of the softmax, so it
  // may hold nearly a block more than its queries see.
  static constexpr std::size_t rows =
      slides ? capacity + detail::plan::key_block + sliding_option::chunk - 2 : capacity;

  // The number of positions so far.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  // Forgets everything.
  constexpr void reset() noexcept { size_ = dropped_ = 0; }
  // Forgets the positions from `count` on. Returns false and changes nothing where there are fewer,
  // or where a sliding cache has dropped positions that the rest would see.
  [[nodiscard]] constexpr bool rewind(std::size_t count) noexcept {
    if (count > size_ || (dropped_ != 0 && count + 1 < dropped_ + capacity)) return false;
    size_ = count;
    return true;
  }

  // Scratch for calls of that many positions, workspace<token<1>>. Its contents between calls do
  // not matter.
  template <class... Positions>
  using workspace = typename detail::cached_forward<
      Layer, stored_type, detail::rules::first_positions<typename Layer::widths, 1, Positions...>,
      rows, positions>::workspace;

  // See workspace_for: of the positions of a step.
  template <detail::tensor_like X>
  static workspace<detail::axis_of<
      detail::layout_of<X>,
      detail::rules::sequence_family<detail::layout_of<X>, typename Layer::hidden_axis>>>
  workspace_of(const X&);

  // Self-attention of the next positions, x (batch, token, hidden) with the batch of the cache, to
  // themselves and all before: the rows of the whole causal pass. out: a tensor or view of the axes
  // of x, in any order. mask: more masks (mask/combine.hpp), whose axis key counts positions of the
  // cache. Returns false and changes nothing where there is no room for them.
  template <detail::tensor_like Out, class Attend, detail::tensor_like X,
            mask_like Mask = detail::every_key, workspace_like Workspace = detail::on_stack>
  [[nodiscard]] constexpr bool step(Out&& out, const Attend& attend, const X& x,
                                    const Mask& mask = {}, Workspace&& work = {}) noexcept {
    using fits = detail::first_error<
        detail::rules::layer_of_cache<Layer, Attend>,
        detail::rules::self_attend<detail::say::key_value_cache, X, value_type,
                                   typename Layer::hidden_axis>,
        detail::rules::one_width<detail::say::key_value_cache, typename Layer::hidden_axis,
                                 typename Layer::keys_axis, typename Layer::values_axis>,
        detail::rules::batch_of_cache<detail::layout_of<X>, batch_option>,
        detail::rules::out_fits<detail::say::key_value_cache, Out, value_type,
                                typename Layer::template result_of<detail::layout_of<X>>>>;
    static_assert(detail::report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using family =
          detail::rules::sequence_family<detail::layout_of<X>, typename Layer::hidden_axis>;
      using call = call_of<detail::axis_of<detail::layout_of<X>, family>, true, Mask, Workspace>;
      static_assert(detail::report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) {
        if (!make_room(call::count)) return false;
        detail::with_scratch<typename call::place>(work, [&](auto& scratch) {
          store<call, family, family>(attend, x, x, projected_in(scratch));
          look<call, family>(attend, out, x, size_, mask, scratch);
        });
        size_ += call::count;
        return true;
      }
    }
    return false;
  }

  // Adds the keys and values of more positions, (batch, key, hidden) each, without attending: like
  // steps whose results are discarded. work: a workspace<key<..>>. Returns false and changes
  // nothing where there is no room for them.
  template <class Attend, detail::tensor_like Y, detail::tensor_like Z,
            workspace_like Workspace = detail::on_stack>
  [[nodiscard]] constexpr bool append(const Attend& attend, const Y& y, const Z& z,
                                      Workspace&& work = {}) noexcept {
    using fits = detail::first_error<
        detail::rules::layer_of_cache<Layer, Attend>,
        detail::rules::attention_argument<detail::say::key_value_cache, detail::say::the_keys, Y,
                                          value_type, detail::rules::key_family,
                                          typename Layer::keys_axis>,
        detail::rules::attention_argument<detail::say::key_value_cache, detail::say::the_values, Z,
                                          value_type, detail::rules::key_family,
                                          typename Layer::values_axis>,
        detail::rules::same_size<detail::say::key_value_cache, detail::rules::key_family,
                                 detail::layout_of<Y>, detail::say::the_keys, detail::layout_of<Z>,
                                 detail::say::but_the_values>,
        detail::rules::batch_of_cache<detail::layout_of<Y>, batch_option>,
        detail::rules::batch_of_cache<detail::layout_of<Z>, batch_option>>;
    static_assert(detail::report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using call = call_of<detail::axis_of<detail::layout_of<Y>, detail::rules::key_family>, true,
                           detail::every_key, Workspace>;
      static_assert(detail::report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) {
        if (!make_room(call::count)) return false;
        detail::with_scratch<typename call::place>(work, [&](auto& scratch) {
          store<call, detail::rules::key_family, detail::rules::key_family>(attend, y, z,
                                                                            projected_in(scratch));
        });
        size_ += call::count;
        return true;
      }
    }
    return false;
  }

  // Attention of queries, (batch, query, hidden), to all that is stored, whatever its position.
  // Rotary positions of the queries count from 0. A sliding cache has no recall: what it still
  // stores depends on how its sequence was cut into steps.
  template <detail::tensor_like Out, class Attend, detail::tensor_like X,
            mask_like Mask = detail::every_key, workspace_like Workspace = detail::on_stack>
  constexpr void recall(Out&& out, const Attend& attend, const X& x, const Mask& mask = {},
                        Workspace&& work = {}) const noexcept {
    using fits = detail::first_error<
        detail::rules::layer_of_cache<Layer, Attend>, detail::rules::recall_of_cache<slides>,
        detail::rules::attention_argument<detail::say::key_value_cache, detail::say::the_queries, X,
                                          value_type, detail::rules::query_family,
                                          typename Layer::hidden_axis>,
        detail::rules::batch_of_cache<detail::layout_of<X>, batch_option>,
        detail::rules::out_fits<detail::say::key_value_cache, Out, value_type,
                                typename Layer::template result_of<detail::layout_of<X>>>>;
    static_assert(detail::report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using call = call_of<detail::axis_of<detail::layout_of<X>, detail::rules::query_family>,
                           false, Mask, Workspace>;
      static_assert(detail::report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok)
        detail::with_scratch<typename call::place>(work, [&](auto& scratch) {
          look<call, detail::rules::query_family>(attend, out, x, 0, mask, scratch);
        });
    }
  }

 private:
  template <class, class, class...>
  friend class key_value_cache;  // of blocks, which has one for each (cache_of_blocks.hpp)

  static constexpr std::size_t batches = detail::rules::size_or_1<batch_option>;
  template <std::size_t Queries>
  using forward = detail::cached_forward<Layer, stored_type, Queries, rows, positions>;
  using storage = forward<1>;

  // What is the same for all calls of one number of positions. Appends: do these positions become
  // part of what is stored, or do they only attend to it?
  template <class Positions, bool Appends, class Mask, class Workspace>
  struct call_of {
    static constexpr std::size_t count = Positions::size;
    static constexpr bool appends = Appends;
    using forward = key_value_cache::forward<count>;
    using scratch = typename forward::workspace;
    using place =
        typename detail::given_workspaces<std::remove_reference_t<Workspace>, scratch>::all;
    using scores = detail::scores_of<value_type, detail::rules::size_or_0<batch_option>,
                                     Layer::sizes.heads, count, rows, true>;
    using verdict = detail::first_error<
        detail::rules::fits_into_cache<
            Positions, Keys, !Appends ? npos : (slides ? sliding_option::chunk : capacity)>,
        detail::rules::mask_of_cache<detail::mask_of<Mask>, slides>,
        detail::rules::mask_fits<detail::say::key_value_cache, detail::mask_of<Mask>, scores>,
        detail::rules::scratch_fits<detail::say::key_value_cache,
                                    std::remove_reference_t<Workspace>, scratch,
                                    detail::shape<Positions>>>;
  };

  // Makes room for that many more positions, dropping the oldest if need be. false: there is none.
  constexpr bool make_room(std::size_t count) noexcept {
    if (count > positions - size_) return false;
    if constexpr (slides) {
      // The first new position sees this one; the block that it is in must stay.
      const std::size_t oldest = size_ + 1 > capacity ? size_ + 1 - capacity : 0;
      if (size_ - dropped_ + count > rows)
        drop(oldest / detail::plan::key_block * detail::plan::key_block);
    }
    return true;
  }
  constexpr void drop(std::size_t until) noexcept {
    const std::size_t gone = until - dropped_, left = size_ - until;
    for (std::size_t d = 0; d < batches * storage::S.key_width(); ++d) {
      stored_type* const row = keys_ + d * storage::key_step;
      for (std::size_t i = 0; i < left; ++i) row[i] = row[gone + i];
    }
    for (std::size_t b = 0; b < batches; ++b) {
      stored_type* const to = values_of(b);
      for (std::size_t i = 0; i < left * storage::value_row; ++i)
        to[i] = to[gone * storage::value_row + i];
    }
    for (std::size_t h = 0; h < batches * storage::scales / storage::key_step; ++h) {
      value_type* const row = scales_.data() + h * storage::key_step;
      for (std::size_t i = 0; i < left; ++i) row[i] = row[gone + i];
    }
    dropped_ = until;
  }

  template <class Self>
  static constexpr auto* keys_in(Self& self, std::size_t b) noexcept {
    return self.keys_ + b * storage::S.key_width() * storage::key_step;
  }
  constexpr stored_type* values_of(std::size_t b) noexcept {
    return values_ + b * rows * storage::value_row;
  }
  constexpr const stored_type* values_of(std::size_t b) const noexcept {
    return values_ + b * rows * storage::value_row;
  }

  template <class Call, class KeyFamily, class ValueFamily, class Attend, class Y, class Z>
  constexpr void store(const Attend& attend, const Y& y, const Z& z,
                       value_type* projected) noexcept {
    constexpr auto ys =
        detail::strides_along<detail::layout_of<Y>, KeyFamily, typename Layer::keys_axis::family>;
    constexpr auto zs = detail::strides_along<detail::layout_of<Z>, ValueFamily,
                                              typename Layer::values_axis::family>;
    for (std::size_t b = 0; b < batches; ++b)
      store_sequence<Call, ys, zs>(attend.get_weights(), b, y.data() + b * ys.batch,
                                   z.data() + b * zs.batch, projected);
  }
  // Of sequence b.
  template <class Call, detail::sequence_strides Y, detail::sequence_strides Z, class Weights>
  constexpr void store_sequence(const Weights& w, std::size_t b, const value_type* y,
                                const value_type* z, value_type* projected) noexcept {
    Call::forward::template store<Y, Z>(w, y, z, size_, size_ - dropped_, keys_in(*this, b),
                                        values_of(b), scales_.data() + b * storage::scales,
                                        projected);
  }

  // Attention to what is stored. position: that of the first query; in a step, later positions are
  // not seen.
  template <class Call, class QueryFamily, class Attend, class Out, class X, class Mask,
            class Scratch>
  constexpr void look(const Attend& attend, Out& out, const X& x, std::size_t position,
                      const Mask& mask, Scratch& work) const noexcept {
    constexpr auto xs = detail::strides_along<detail::layout_of<X>, QueryFamily,
                                              typename Layer::hidden_axis::family>;
    constexpr auto outs = detail::strides_along<detail::layout_of<Out>, QueryFamily,
                                                typename Layer::output_axis::family>;
    const auto& masks = detail::as_mask(mask);
    for (std::size_t b = 0; b < batches; ++b)
      look_of_sequence<Call, xs, outs>(attend.get_weights(), b, x.data() + b * xs.batch, position,
                                       masks, out.data() + b * outs.batch, work);
  }
  // Of sequence b. masks: as_mask of the argument.
  template <class Call, detail::sequence_strides X, detail::sequence_strides Out, class Weights,
            class Masks, class Scratch>
  constexpr void look_of_sequence(const Weights& w, std::size_t b, const value_type* x,
                                  std::size_t position, const Masks& masks, value_type* out,
                                  Scratch& work) const noexcept {
    using scores = typename Call::scores;
    const auto first = static_cast<std::ptrdiff_t>(position - dropped_);
    // The queries of a step are the last positions.
    const auto bottom_right = Call::appends ? first
                                            : static_cast<std::ptrdiff_t>(size_) -
                                                  static_cast<std::ptrdiff_t>(Call::count);
    const value_type* const scales = scales_.data() + b * storage::scales;
    Call::forward::template attend<X, Out>(
        w, x, position, storage::keys_in(keys_in(*this, b), scales),
        storage::values_in(values_of(b), scales),
        [&](std::size_t h) {
          const auto given = detail::at_head<scores>(masks, {b, h, first, bottom_right});
          return detail::among(seen<Call::appends, Call::count>(first), given);
        },
        out, work);
  }

  // What a query sees whatever the mask says.
  template <bool Appends, std::size_t Count>
  constexpr auto seen(std::ptrdiff_t first) const noexcept {
    namespace scores = detail::kernel::scores;
    if constexpr (!Appends)
      return scores::first_keys(size_ - dropped_);
    else if constexpr (slides)
      return scores::window{capacity - 1, 0, first};
    else if constexpr (Count == 1)
      return scores::first_keys(static_cast<std::size_t>(first) + 1);
    else
      return scores::causal{first};
  }

  std::size_t size_ = 0, dropped_ = 0;  // positions so far; of these no longer in memory
  alignas(64) stored_type keys_[batches * storage::S.key_width() * storage::key_step]{};
  alignas(64) stored_type values_[batches * rows * storage::value_row]{};
  [[no_unique_address]] detail::scales_of_cache<value_type, batches * storage::scales> scales_;
};

// Of another layer: refused. (Of blocks and stacks of them: cache_of_blocks.hpp; of formulas:
// cache_of_formula.hpp.)
template <class Layer, class Keys, class... Options>
  requires(!detail::is_multi_head<Layer> && !detail::stores_heads<Layer> &&
           !detail::decodes_in_blocks<Layer> && !detail::decodes_as_formula<Layer>)
class key_value_cache<Layer, Keys, Options...> {
  static_assert(detail::reported<detail::rules::a_layer_to_decode<Layer>>::ok,
                "umbel: shapes do not fit");

 public:
  using layer = Layer;
  template <class... Positions>
  struct workspace : detail::workspace_base {};
  constexpr std::size_t size() const noexcept { return 0; }
  constexpr void reset() const noexcept {}
  [[nodiscard]] constexpr bool rewind(std::size_t) const noexcept { return false; }
  constexpr bool step(const auto&...) const noexcept { return false; }
  constexpr bool append(const auto&...) const noexcept { return false; }
  constexpr void recall(const auto&...) const noexcept {}
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
