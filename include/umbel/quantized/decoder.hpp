// SPDX-License-Identifier: BSL-1.0
// Decoder layers in integers, and stacks of them: int16 beside an int8 memory, to int16 of the same
// unit. Not here: one sequence (decoder_numbers.hpp), steps (cache_of_decoders.hpp).
//
//   decoder(x, memory, self_mask(causal))
//   decoder(x, memory, lens, self_mask(causal & own))     lens: of the memory; own: of x
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/quantized/decoder_numbers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

// Calls of a layer and of a stack. Derived: numbers_at(i), the decoder_numbers of layer i of
// Derived::depth.
template <class Derived, class Layer>
class quantized_decoder
    : public other_calls_and_into<
          say::quantized,
          say::
              takes_a_sequence_and_a_memory_then_a_mask_of_the_memory_then_self_mask_then_a_workspace> {
  using refused = other_calls_and_into<
      say::quantized,
      say::takes_a_sequence_and_a_memory_then_a_mask_of_the_memory_then_self_mask_then_a_workspace>;

 public:
  using refused::operator();
  using refused::into;
  using numbers = decoder_numbers<Layer>;
  using input_type = std::int16_t;
  // Scratch for one call at a time.
  template <class Positions, class MemoryPositions = Positions>
  using workspace = typename numbers::template scratch_for<Positions::size, MemoryPositions::size>;

  // x: (batch,) positions, hidden, int16; memory: the same of other positions, int8; row-major.
  // Gives a tensor of the axes of x. Masks: as of the layer of floats.
  template <tensor_like X, tensor_like Memory, class Own, workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Memory& memory, const own_mask<Own>& own,
                            Workspace&& work = {}) const noexcept {
    return run(x, memory, all_keys, own, work, by_value{});
  }
  template <tensor_like X, tensor_like Memory, mask_like Mask, class Own,
            workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Memory& memory, const Mask& mask,
                            const own_mask<Own>& own, Workspace&& work = {}) const noexcept {
    return run(x, memory, mask, own, work, by_value{});
  }
  // Without a self_mask: refused.
  template <tensor_like X, tensor_like Memory, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Memory& memory, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    return run(x, memory, mask, own_mask<unsaid_mask>{}, work, by_value{});
  }
  // out may be x.
  template <tensor_like Out, tensor_like X, tensor_like Memory, class Own,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Memory& memory, const own_mask<Own>& own,
                      Workspace&& work = {}) const noexcept {
    run(x, memory, all_keys, own, work, static_cast<Out&&>(out));
  }
  template <tensor_like Out, tensor_like X, tensor_like Memory, mask_like Mask, class Own,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Memory& memory, const Mask& mask,
                      const own_mask<Own>& own, Workspace&& work = {}) const noexcept {
    run(x, memory, mask, own, work, static_cast<Out&&>(out));
  }

  // See workspace_for.
  template <tensor_like X, tensor_like Memory>
  static workspace<
      axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, typename Layer::hidden_axis>>,
      axis_of<layout_of<Memory>,
              rules::sequence_family<layout_of<Memory>, typename Layer::hidden_axis>>>
  workspace_of(const X&, const Memory&);

 private:
  // The shapes of a call.
  template <class X, class Memory, class Hidden = typename Layer::hidden_axis>
  using inputs_fit =
      first_error<rules::self_attend<say::quantized, X, std::int16_t, Hidden, say::the_sequence>,
                  rules::rows_of<say::quantized, X, std::int16_t, Hidden>,
                  rules::batch_first<say::quantized, X>,
                  rules::self_attend<say::quantized, Memory, std::int8_t, Hidden, say::the_memory>,
                  rules::rows_of<say::quantized, Memory, std::int8_t, Hidden>,
                  rules::batch_first<say::quantized, Memory>,
                  rules::same_size<say::quantized, rules::batch_family, layout_of<X>,
                                   say::the_sequences, layout_of<Memory>, say::but_the_memories>>;
  template <class X, class Memory>
  struct steps {
    using layout = layout_of<X>;
    using hidden = typename Layer::hidden_axis;
    using positions = axis_of<layout, rules::sequence_family<layout, hidden>>;
    using memory_positions =
        axis_of<layout_of<Memory>, rules::sequence_family<layout_of<Memory>, hidden>>;
    static constexpr std::size_t n = positions::size, m = memory_positions::size;
    using verdict = first_error<rules::sums_fit<positions, kernel::most_value_products>,
                                rules::sums_fit<memory_positions, kernel::most_value_products>>;
    using scratch = workspace<positions, memory_positions>;
    using result = row_major<layout>;
    using value = std::int16_t;
    static constexpr std::uint64_t flops = Derived::depth * (layout::count / (n * hidden::size)) *
                                           Layer::flops_of(n, std::uint64_t{n} * n, m, m);
    static constexpr std::size_t tables = numbers::self_type::template table_bytes<n>;
  };

 public:
  // See footprint.
  template <class X, class Memory>
  static call_if<inputs_fit<X, Memory>, steps, X, Memory> call_on(const X&, const Memory&);

 private:
  template <class X, class Memory, class Mask, class Own, class Workspace, class Out>
  constexpr auto run(const X& x, const Memory& memory, const Mask& mask, const own_mask<Own>& own,
                     Workspace& work, Out&& out) const noexcept {
    using layout = layout_of<X>;
    using of_memory = layout_of<Memory>;
    using hidden = typename Layer::hidden_axis;
    using verdict = first_error<inputs_fit<X, Memory>,
                                rules::row_major_out<say::quantized, Out, std::int16_t, layout>,
                                rules::self_mask_said<Own>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using positions = axis_of<layout, rules::sequence_family<layout, hidden>>;
      using memory_positions = axis_of<of_memory, rules::sequence_family<of_memory, hidden>>;
      constexpr std::size_t n = positions::size, m = memory_positions::size;
      constexpr std::size_t batch = layout::template size_of<rules::batch_family>;
      constexpr std::size_t heads = Layer::self_attention::sizes.heads;
      using own_scores = scores_of<float, batch, heads, n, n>;
      using memory_scores = scores_of<float, batch, heads, n, m>;
      using scratch = workspace<positions, memory_positions>;
      using given = given_workspaces<Workspace, scratch>;
      using fits =
          first_error<rules::sums_fit<positions, kernel::most_value_products>,
                      rules::sums_fit<memory_positions, kernel::most_value_products>,
                      typename rules::integer_mask<
                          mask_of<Mask>, memory_scores,
                          rules::mask_fits<say::quantized, mask_of<Mask>, memory_scores>>::type,
                      typename rules::integer_mask<
                          Own, own_scores, rules::mask_fits<say::quantized, Own, own_scores>>::type,
                      rules::scratch_fits<say::quantized, typename given::each, scratch,
                                          shape<positions, memory_positions>>>;
      static_assert(report<fits>::ok, "umbel: shapes do not fit");
      if constexpr (fits::ok) {
        constexpr std::size_t one = n * hidden::size, memory_one = m * hidden::size;
        const auto& masks = as_mask(mask);
        return computed<tensor_of<std::int16_t, row_major<layout>>, typename given::all>(
            out, work, [&](auto& y, auto& all) {
              if (static_cast<const void*>(y.data()) != static_cast<const void*>(x.data()))
                for (std::size_t i = 0; i < layout::count; ++i) y.data()[i] = x.data()[i];
              // f(layer, its arguments) for all layers, on sequence b.
              const auto layers = [&](std::size_t b, const auto& f) {
                for (std::size_t i = 0; i < Derived::depth; ++i)
                  f(static_cast<const Derived*>(this)->numbers_at(i), y.data() + b * one,
                    memory.data() + b * memory_one, at_sequence<memory_scores>(masks, b),
                    at_sequence<own_scores>(own.mask, b));
              };
              each_sequence<layout::count / one>(
                  all,
                  [&](std::size_t b, auto& s) {
                    layers(b, [&](const numbers& layer, const auto&... with) {
                      layer.template sequence<n, m>(with..., s);
                    });
                  },
                  [&](std::size_t b, const auto& workers) {
                    layers(b, [&](const numbers& layer, const auto&... with) {
                      layer.template sequence_in_parts<n, m>(with..., workers);
                    });
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

// Would the layer have a form in integers?
template <class Layer>
using decoder_has_integers =
    first_error<attention_has_integers<typename Layer::self_attention>,
                attention_has_integers<typename Layer::cross_attention>,
                rules::norm_fits<typename Layer::hidden_axis>,
                rules::inputs_fit<typename Layer::feed_forward::wide_axis>>;

// The largest of a member of the ranges of layers.
template <class Ranges, std::size_t Count>
constexpr double largest_of(const Ranges (&layers)[Count], range Ranges::* member) noexcept {
  float largest = 0;
  for (const Ranges& one : layers)
    if ((one.*member)() > largest) largest = (one.*member)();
  return static_cast<double>(largest);
}

}  // namespace detail::integers

// x: int16, one sequence or a batch of them, and an int8 memory give int16 of the axes of x.
template <class T, class Hidden, class Heads, class FeedForward, class... OfLayer>
class quantized<decoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>>
    : public detail::integers::quantized_decoder<
          quantized<decoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>>,
          decoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>>,
      public detail::integers::refused_numbers<
          decoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>,
          typename detail::integers::decoder_numbers<
              decoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>>::ranges> {
 public:
  using layer = decoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>;
  using numbers = detail::integers::decoder_numbers<layer>;
  using ranges = typename numbers::ranges;
  using histograms = typename numbers::histograms;
  using weights_to_pack = detail::in_any_order<typename layer::weights_view>;
  template <class Derived>
  using calls = quantized;  // what a cache takes for the layer

 private:
  static_assert(detail::reported<detail::integers::decoder_has_integers<layer>>::ok,
                "umbel: shapes do not fit");

 public:
  using refused_numbers = detail::integers::refused_numbers<layer, ranges>;
  using refused_numbers::observe;
  using refused_numbers::pack;
  using refused_numbers::refused_numbers;
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
    using namespace detail::integers;
    if (const auto found = all_seen(seen); !found) return found;
    numbers_.pack_layer(w, seen, unit_of_residual(static_cast<double>(seen.residual())),
                        int8_unit(seen.memory));
    return {};
  }
  // layer{w}(x, memory, mask, own), whose tensors widen the ranges.
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            detail::tensor_like Memory, class Own>
  static constexpr auto observe(Seen& seen, const typename layer::weights_view& w, const X& x,
                                const Memory& memory, const detail::own_mask<Own>& own) noexcept {
    return observe(seen, w, x, memory, all_keys, own);
  }
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            detail::tensor_like Memory, mask_like Mask, class Own>
  static constexpr auto observe(Seen& seen, const typename layer::weights_view& w, const X& x,
                                const Memory& memory, const Mask& mask,
                                const detail::own_mask<Own>& own) noexcept {
    return detail::integers::observe_decoder<layer>(seen, w, contiguous(x), contiguous(memory),
                                                    mask, own.mask);
  }
  static constexpr std::size_t depth = 1;
  [[nodiscard]] constexpr const numbers& numbers_at(std::size_t) const noexcept { return numbers_; }

 private:
  numbers numbers_;
};

namespace detail::integers {
template <class Layer, std::size_t Count, class Range = range>
struct ranges_of_decoders {
  static constexpr const char* part_names[] = {"layers"};
  typename decoder_numbers<Layer>::template ranges_of<Range> layers[Count];
};
}  // namespace detail::integers

// Count of them, one after another, beside the same memory; ranges: an array, one for each.
template <class Layer, std::size_t Count>
  requires detail::is_decoder<Layer>
class quantized<layer_stack<Layer, Count>>
    : public detail::integers::quantized_decoder<quantized<layer_stack<Layer, Count>>, Layer>,
      public detail::integers::refused_numbers<layer_stack<Layer, Count>,
                                               detail::integers::ranges_of_decoders<Layer, Count>> {
 public:
  using layer = layer_stack<Layer, Count>;
  using numbers = detail::integers::decoder_numbers<Layer>;
  using ranges = detail::integers::ranges_of_decoders<Layer, Count>;
  using histograms = detail::integers::ranges_of_decoders<Layer, Count, magnitude_histogram>;
  using weights_to_pack = detail::in_any_order<typename layer::weights_view>;
  template <class Derived>
  using calls = quantized;  // what a cache takes for the layer

 private:
  static_assert(detail::reported<detail::integers::decoder_has_integers<Layer>>::ok,
                "umbel: shapes do not fit");

 public:
  using refused_numbers = detail::integers::refused_numbers<layer, ranges>;
  using refused_numbers::observe;
  using refused_numbers::pack;
  using refused_numbers::refused_numbers;
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
    using namespace detail::integers;
    using of_layer = typename numbers::ranges;
    if (const auto found = all_seen(seen); !found) return found;
    const double residual = unit_of_residual(largest_of(seen.layers, &of_layer::residual));
    const double memory = unit_of_int8(largest_of(seen.layers, &of_layer::memory));
    for (std::size_t i = 0; i < Count; ++i)
      numbers_[i].pack_layer(w[i], seen.layers[i], residual, memory);
    return {};
  }
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            detail::tensor_like Memory, class Own>
  static constexpr auto observe(Seen& seen, const typename layer::weights_view& w, const X& x,
                                const Memory& memory, const detail::own_mask<Own>& own) noexcept {
    return observe(seen, w, x, memory, all_keys, own);
  }
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            detail::tensor_like Memory, mask_like Mask, class Own>
  static constexpr auto observe(Seen& seen, const typename layer::weights_view& w, const X& x,
                                const Memory& memory, const Mask& mask,
                                const detail::own_mask<Own>& own) noexcept {
    auto y = contiguous(x);
    for (std::size_t i = 0; i < Count; ++i)
      y = detail::integers::observe_decoder<Layer>(seen.layers[i], w[i], y, contiguous(memory),
                                                   mask, own.mask);
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
