// SPDX-License-Identifier: BSL-1.0
// key_value_cache of attention in integers: keys and values are int8. A sequence in steps of any
// sizes gives the bits of the whole causal pass:
//
//   static key_value_cache<quantized<attention>, key<256>> past;  // batch<2>, longest_sequence<>
//   past.step(out, attend, prompt);                               // (token<12>, hidden), int8
//   while (past.step(out, attend, next)) ...
//
// A step past the capacity returns false and changes nothing. Not here: blocks and stacks of them
// (cache_of_blocks.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/quantized/attention.hpp>
#include <umbel/quantized/past.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// The calls are those of a cache of floats (decode/cache.hpp), of int8.
template <class T, class Hidden, class Heads, class... OfLayer, class... OfCalls, class Keys,
          class... Options>
class key_value_cache<quantized<multi_head_attention<T, Hidden, Heads, OfLayer...>, OfCalls...>,
                      Keys, Options...> : public detail::other_cache_calls {
  using attention = multi_head_attention<T, Hidden, Heads, OfLayer...>;
  using weight = detail::integers::softmax_of<OfCalls...>;
  using verdict = detail::rules::integer_cache<attention, weight, Keys, Options...>;
  static_assert(detail::reported<verdict>::ok, "umbel: shapes do not fit");
  using sizes = std::conditional_t<
      verdict::ok, detail::integers::cache_sizes<detail::axis_or_none<Keys>::size, Options...>,
      detail::integers::cache_sizes<1>>;
  using past = detail::integers::past_of_attention<attention, sizes, weight>;

 public:
  using detail::other_cache_calls::append;
  using detail::other_cache_calls::recall;
  using detail::other_cache_calls::step;
  using layer = quantized<attention, OfCalls...>;
  using result_type = typename layer::result_type;
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

  // Scratch for calls of that many positions, workspace<token<1>>.
  template <class Positions>
  using workspace = typename past::template scratch_for<Positions::size>;
  // See workspace_for: of the positions of a step.
  template <detail::tensor_like X>
  static workspace<detail::axis_of<
      detail::layout_of<X>,
      detail::rules::sequence_family<detail::layout_of<X>, typename attention::hidden_axis>>>
  workspace_of(const X&);

  // Self-attention of the next positions, x (batch, token, hidden), row-major, to themselves and
  // all before. Returns false and changes nothing where there is no room for them.
  template <detail::tensor_like Out, class Attend, detail::tensor_like X,
            mask_like Mask = detail::every_key, workspace_like Workspace = detail::on_stack>
  [[nodiscard]] constexpr bool step(Out&& out, const Attend& attend, const X& x,
                                    const Mask& mask = {}, Workspace&& work = {}) noexcept {
    using namespace detail;
    using hidden = typename attention::hidden_axis;
    using fits =
        first_error<rules::layer_of_cache<layer, Attend>,
                    rules::self_attend<say::key_value_cache, X, std::int8_t, hidden>,
                    rules::one_width<say::key_value_cache, hidden, typename attention::keys_axis,
                                     typename attention::values_axis>,
                    rows_of<X, hidden>, result_fits<Out, X>>;
    static_assert(report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using next = axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, hidden>>;
      using call = call_of<next, true, Mask, Workspace>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) {
        if (!make_room(next::size)) return false;
        with_scratch<workspace<next>>(work, [&](auto& own) {
          for (std::size_t b = 0; b < sizes::batches; ++b)
            past_.template step<next::size>(
                attend.get_weights(), b, x.data() + b * next::size * hidden::size, so_far_,
                as_mask(mask), out.data() + b * next::size * attention::sizes.output,
                integers::finish_as<result_type>{}, own);
        });
        so_far_.add(next::size);
        return true;
      }
    }
    return false;
  }

  // Adds the keys and values of more positions, (batch, key, hidden) each, row-major, without
  // attending. Returns false and changes nothing where there is no room for them.
  template <class Attend, detail::tensor_like Y, detail::tensor_like Z,
            workspace_like Workspace = detail::on_stack>
  [[nodiscard]] constexpr bool append(const Attend& attend, const Y& y, const Z& z,
                                      Workspace&& work = {}) noexcept {
    using namespace detail;
    using key_axis = typename attention::keys_axis;
    using value_axis = typename attention::values_axis;
    using fits = first_error<rules::layer_of_cache<layer, Attend>,
                             rules::attention_argument<say::key_value_cache, say::the_keys, Y,
                                                       std::int8_t, rules::key_family, key_axis>,
                             rules::attention_argument<say::key_value_cache, say::the_values, Z,
                                                       std::int8_t, rules::key_family, value_axis>,
                             rules::same_size<say::key_value_cache, rules::key_family, layout_of<Y>,
                                              say::the_keys, layout_of<Z>, say::but_the_values>,
                             rows_of<Y, key_axis>, rows_of<Z, value_axis>>;
    static_assert(report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using next = axis_of<layout_of<Y>, rules::key_family>;
      using call = call_of<next, true, every_key, Workspace>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) {
        if (!make_room(next::size)) return false;
        with_scratch<workspace<next>>(work, [&](auto& own) {
          for (std::size_t b = 0; b < sizes::batches; ++b)
            past_.template append<next::size>(attend.get_weights(), b,
                                              y.data() + b * next::size * key_axis::size,
                                              z.data() + b * next::size * value_axis::size,
                                              so_far_.size(), so_far_.row(), own.to_rotate);
        });
        so_far_.add(next::size);
        return true;
      }
    }
    return false;
  }

  // Attention of queries, (batch, query, hidden), row-major, to all that is stored. Rotary
  // positions of the queries count from 0. A sliding cache has no recall.
  template <detail::tensor_like Out, class Attend, detail::tensor_like X,
            mask_like Mask = detail::every_key, workspace_like Workspace = detail::on_stack>
  constexpr void recall(Out&& out, const Attend& attend, const X& x, const Mask& mask = {},
                        Workspace&& work = {}) const noexcept {
    using namespace detail;
    using hidden = typename attention::hidden_axis;
    using fits = first_error<rules::layer_of_cache<layer, Attend>, rules::recall_of_cache<slides>,
                             rules::attention_argument<say::key_value_cache, say::the_queries, X,
                                                       std::int8_t, rules::query_family, hidden>,
                             rows_of<X, hidden>, result_fits<Out, X>>;
    static_assert(report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using queries = axis_of<layout_of<X>, rules::query_family>;
      using call = call_of<queries, false, Mask, Workspace>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) {
        constexpr std::size_t n = queries::size;
        // The last query of a mask that says so is at the last key.
        const auto last = static_cast<std::ptrdiff_t>(size()) - static_cast<std::ptrdiff_t>(n);
        with_scratch<workspace<queries>>(work, [&](auto& own) {
          for (std::size_t b = 0; b < sizes::batches; ++b)
            past_.template attend<n>(attend.get_weights(), b, x.data() + b * n * hidden::size, 0,
                                     kernel::scores::first_keys(size()), as_mask(mask), 0, last,
                                     out.data() + b * n * attention::sizes.output,
                                     integers::finish_as<result_type>{}, own);
        });
      }
    }
  }

 private:
  template <class X, class Axis>
  using rows_of = detail::first_error<
      detail::rules::rows_of<detail::say::key_value_cache, X, std::int8_t, Axis>,
      detail::rules::batch_first<detail::say::key_value_cache, X>,
      detail::rules::batch_of_cache<detail::layout_of<X>, typename sizes::batch_option>>;
  template <class Out, class X>
  using result_fits =
      detail::rules::row_major_out<detail::say::key_value_cache, Out, result_type,
                                   typename attention::template result_of<detail::layout_of<X>>>;
  template <class Positions, bool Appends, class Mask, class Workspace>
  struct call_of {
    using verdict = detail::first_error<
        detail::rules::fits_into_cache<Positions, Keys, Appends ? sizes::at_once : npos>,
        typename past::template mask_rule<Mask, Positions::size>,
        detail::rules::scratch_fits<detail::say::key_value_cache,
                                    std::remove_reference_t<Workspace>, workspace<Positions>,
                                    detail::shape<Positions>>>;
  };
  constexpr bool make_room(std::size_t count) noexcept {
    return so_far_.make_room(count,
                             [&](std::size_t gone, std::size_t left) { past_.drop(gone, left); });
  }

  detail::integers::positions_so_far<sizes> so_far_;
  past past_;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
