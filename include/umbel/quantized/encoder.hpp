// SPDX-License-Identifier: BSL-1.0
// Encoder layers in integers, and stacks of them: int16 to int16 of the same unit. Not here: one
// sequence (encoder_numbers.hpp), steps (cache_of_blocks.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/quantized/encoder_numbers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

template <class Layer, class... Options>
using quantized_encoder_rule =
    first_error<encoder_has_integers<Layer>,
                rules::options<say::quantized, option_kinds<option::softmax_as>, Options...>,
                rules::integer_softmax<softmax_of<Options...>>>;

// Calls of a layer and of a stack. Derived: numbers_at(i), the encoder_numbers of layer i of
// Derived::depth. Weight: the type of the weights of attention.
template <class Derived, class Layer, class Weight>
class quantized_encoder
    : public other_calls_with_mask<
          say::quantized,
          say::takes_a_sequence_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace> {
 public:
  using calls_refused = other_calls_with_mask<
      say::quantized,
      say::takes_a_sequence_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace>;
  using calls_refused::operator();
  using calls_refused::into;
  using numbers = encoder_numbers<Layer, Weight>;
  using input_type = std::int16_t;
  // Scratch for one call at a time.
  template <class... Positions>
  using workspace = typename numbers::template scratch_for<
      rules::first_positions<typename Layer::widths, 1, Positions...>>;

  // x: (batch,) positions, hidden; row-major, int16. Gives a tensor of the same axes.
  template <tensor_like X, mask_like Mask = every_key, workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    return run(x, mask, work, by_value{});
  }
  // out may be x.
  template <tensor_like Out, tensor_like X, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    run(x, mask, work, static_cast<Out&&>(out));
  }

  // See workspace_for.
  template <tensor_like X>
  static workspace<
      axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, typename Layer::hidden_axis>>>
  workspace_of(const X&);

 private:
  // The shapes of a call.
  template <class X>
  using input_fits =
      first_error<rules::holds_these_integers<X, std::int16_t>,
                  rules::self_attend<say::quantized, X, std::int16_t, typename Layer::hidden_axis>,
                  rules::rows_of<say::quantized, X, std::int16_t, typename Layer::hidden_axis>,
                  rules::batch_first<say::quantized, X>>;
  template <class X>
  struct steps {
    using layout = layout_of<X>;
    using positions = axis_of<layout, rules::sequence_family<layout, typename Layer::hidden_axis>>;
    using verdict = rules::sums_fit<positions, most_keys<Weight>>;
    using scratch = workspace<positions>;
    using result = row_major<layout>;
    using value = std::int16_t;
    static constexpr std::uint64_t flops =
        Derived::depth * (layout::count / (positions::size * Layer::hidden_axis::size)) *
        Layer::flops_of(positions::size, std::uint64_t{positions::size} * positions::size);
    static constexpr std::size_t tables =
        numbers::attention_type::template table_bytes<positions::size>;
  };

 public:
  // See footprint.
  template <class X>
  static call_if<input_fits<X>, steps, X> call_on(const X&);

 private:
  template <class X, class Mask, class Workspace, class Out>
  constexpr auto run(const X& x, const Mask& mask, Workspace& work, Out&& out) const noexcept {
    using layout = layout_of<X>;
    using hidden = typename Layer::hidden_axis;
    using verdict =
        first_error<input_fits<X>, rules::row_major_out<say::quantized, Out, std::int16_t, layout>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using positions = axis_of<layout, rules::sequence_family<layout, hidden>>;
      using scratch = workspace<positions>;
      using given = given_workspaces<Workspace, scratch>;
      using scores = scores_of<float, layout::template size_of<rules::batch_family>,
                               Layer::attention::sizes.heads, positions::size, positions::size>;
      using fits = first_error<
          rules::sums_fit<positions, most_keys<Weight>>,
          typename rules::integer_mask<
              mask_of<Mask>, scores, rules::mask_fits<say::quantized, mask_of<Mask>, scores>>::type,
          rules::scratch_fits<say::quantized, typename given::each, scratch, shape<positions>>>;
      static_assert(report<fits>::ok, "umbel: shapes do not fit");
      if constexpr (fits::ok) {
        constexpr std::size_t one = positions::size * hidden::size;
        const auto& masks = as_mask(mask);
        return computed<tensor_of<std::int16_t, row_major<layout>>, typename given::all>(
            out, work, [&](auto& y, auto& all) {
              if (static_cast<const void*>(y.data()) != static_cast<const void*>(x.data()))
                for (std::size_t i = 0; i < layout::count; ++i) y.data()[i] = x.data()[i];
              const auto& self = *static_cast<const Derived*>(this);
              each_sequence<layout::count / one>(
                  all,
                  [&](std::size_t b, auto& own) {
                    for (std::size_t i = 0; i < Derived::depth; ++i)
                      self.numbers_at(i).template sequence<positions::size>(
                          y.data() + b * one, at_sequence<scores>(masks, b), own);
                  },
                  [&](std::size_t b, const auto& workers) {
                    for (std::size_t i = 0; i < Derived::depth; ++i)
                      self.numbers_at(i).template sequence_in_parts<positions::size>(
                          y.data() + b * one, at_sequence<scores>(masks, b), workers);
                  });
            });
      } else {
        return invalid{};
      }
    } else {
      return invalid{};
    }
  }
};

}  // namespace detail::integers

// x: int16, one sequence or a batch of them, gives int16 of the same axes and unit.
template <class T, class Hidden, class Heads, class FeedForward, class... OfLayer, class... Options>
class quantized<encoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>, Options...>
    : public detail::integers::quantized_encoder<
          quantized<encoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>, Options...>,
          encoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>,
          detail::integers::softmax_of<Options...>>,
      public detail::integers::refused_numbers<
          encoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>,
          typename detail::integers::encoder_numbers<
              encoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>>::ranges> {
 public:
  using layer = encoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>;
  using softmax_type = detail::integers::softmax_of<Options...>;
  using numbers = detail::integers::encoder_numbers<layer, softmax_type>;
  using ranges = typename numbers::ranges;
  using histograms = typename numbers::histograms;
  using weights_to_pack = detail::in_any_order<typename layer::weights_view>;
  template <class Derived>
  using calls = quantized;  // what a cache takes for the layer

 private:
  static_assert(detail::reported<detail::integers::quantized_encoder_rule<layer, Options...>>::ok,
                "umbel: shapes do not fit");

 public:
  using refused = detail::integers::refused_numbers<layer, ranges>;
  using refused::observe;
  using refused::pack;
  using refused::refused;
  constexpr quantized() noexcept = default;
  constexpr quantized(const weights_to_pack& w, const ranges& seen) noexcept {
    static_cast<void>(pack(w, seen));
  }
  // Of weights that may end with the statement: they are copied.
  template <class Weights>
    requires std::is_same_v<Weights, typename layer::weights>
  constexpr quantized(const Weights& w, const ranges& seen) noexcept {
    static_cast<void>(pack(w, seen));
  }
  // Zeros where a range is missing; the result names it.
  constexpr pack_result pack(const weights_to_pack& w, const ranges& seen) noexcept {
    if (const auto found = detail::integers::all_seen(seen); !found) return found;
    numbers_.pack_layer(w, seen,
                        detail::integers::unit_of_residual(static_cast<double>(seen.residual())));
    return {};
  }
  // layer{w}(x, mask), whose tensors widen the ranges.
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            mask_like Mask = detail::every_key>
  static constexpr auto observe(Seen& seen, const typename layer::weights_view& w, const X& x,
                                const Mask& mask = {}) noexcept {
    return detail::integers::observe_encoder<layer>(seen, w, x, mask);
  }
  static constexpr std::size_t depth = 1;
  [[nodiscard]] constexpr const numbers& numbers_at(std::size_t) const noexcept { return numbers_; }

 private:
  numbers numbers_;
};

namespace detail::integers {
template <class Layer, std::size_t Count, class Range = range>
struct ranges_of_stack {
  static constexpr const char* part_names[] = {"layers"};
  typename encoder_numbers<Layer>::template ranges_of<Range> layers[Count];
};
}  // namespace detail::integers

// Count of them, one after another; ranges: an array, one for each.
template <class Layer, std::size_t Count, class... Options>
  requires detail::is_encoder<Layer>
class quantized<layer_stack<Layer, Count>, Options...>
    : public detail::integers::quantized_encoder<quantized<layer_stack<Layer, Count>, Options...>,
                                                 Layer, detail::integers::softmax_of<Options...>>,
      public detail::integers::refused_numbers<layer_stack<Layer, Count>,
                                               detail::integers::ranges_of_stack<Layer, Count>> {
 public:
  using layer = layer_stack<Layer, Count>;
  using softmax_type = detail::integers::softmax_of<Options...>;
  using numbers = detail::integers::encoder_numbers<Layer, softmax_type>;
  using ranges = detail::integers::ranges_of_stack<Layer, Count>;
  using histograms = detail::integers::ranges_of_stack<Layer, Count, magnitude_histogram>;
  using weights_to_pack = detail::in_any_order<typename layer::weights_view>;
  template <class Derived>
  using calls = quantized;  // what a cache takes for the layer

 private:
  static_assert(detail::reported<detail::integers::quantized_encoder_rule<Layer, Options...>>::ok,
                "umbel: shapes do not fit");

 public:
  using refused = detail::integers::refused_numbers<layer, ranges>;
  using refused::observe;
  using refused::pack;
  using refused::refused;
  constexpr quantized() noexcept = default;
  constexpr quantized(const weights_to_pack& w, const ranges& seen) noexcept {
    static_cast<void>(pack(w, seen));
  }
  // Of weights that may end with the statement: they are copied.
  template <class Weights>
    requires std::is_same_v<Weights, typename layer::weights>
  constexpr quantized(const Weights& w, const ranges& seen) noexcept {
    static_cast<void>(pack(w, seen));
  }
  // Zeros where a range is missing; the result names it.
  constexpr pack_result pack(const weights_to_pack& w, const ranges& seen) noexcept {
    if (const auto found = detail::integers::all_seen(seen); !found) return found;
    float residual = 0;
    for (const auto& one : seen.layers)
      if (one.residual() > residual) residual = one.residual();
    for (std::size_t i = 0; i < Count; ++i)
      numbers_[i].pack_layer(w[i], seen.layers[i],
                             detail::integers::unit_of_residual(static_cast<double>(residual)));
    return {};
  }
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            mask_like Mask = detail::every_key>
  static constexpr auto observe(Seen& seen, const typename layer::weights_view& w, const X& x,
                                const Mask& mask = {}) noexcept {
    auto y = contiguous(x);
    for (std::size_t i = 0; i < Count; ++i)
      y = detail::integers::observe_encoder<Layer>(seen.layers[i], w[i], y, mask);
    return y;
  }
  static constexpr std::size_t depth = Count;
  [[nodiscard]] constexpr const numbers& numbers_at(std::size_t i) const noexcept {
    return numbers_[i];
  }

 private:
  numbers numbers_[Count];
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
