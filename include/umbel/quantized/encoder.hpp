// SPDX-License-Identifier: BSL-1.0
// Encoder layers in integers, and stacks of them: residual sums of int16, all of one unit, through
// norms to int8 and back.
//
//   norm_first<true>     x += attention(norm1(x));   x += feed_forward(norm2(x))
//   norm_first<false>    x = norm1(x + attention(x));   x = norm2(x + feed_forward(x))
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/quantized/attention.hpp>
#include <umbel/quantized/feed_forward.hpp>
#include <umbel/quantized/norm.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

// residual: x, all sums, and of norm_first<false> all norms. attention_input, feed_forward_input:
// what the parts are given, int8. A stack has one residual unit: the largest of its layers'.
struct encoder_ranges {
  static constexpr const char* part_names[] = {"residual", "attention_input",    "q",  "k",
                                               "v",        "feed_forward_input", "up", "activated"};
  range residual, attention_input, q, k, v, feed_forward_input, up, activated;
};
struct gated_encoder_ranges {
  static constexpr const char* part_names[] = {
      "residual", "attention_input", "q",      "k", "v", "feed_forward_input", "gate",
      "up",       "activated",       "product"};
  range residual, attention_input, q, k, v, feed_forward_input, gate, up, activated, product;
};

constexpr double int8_unit(const range& r) noexcept {
  return unit_of_int8(static_cast<double>(r()));
}

template <class Layer>
struct encoder_numbers {
  static constexpr bool norms_first = Layer::norms_first;
  static constexpr std::size_t hidden = Layer::hidden_axis::size;
  using ranges =
      std::conditional_t<Layer::feed_forward::is_gated, gated_encoder_ranges, encoder_ranges>;
  using attention_type = attention_numbers<typename Layer::attention>;
  using feed_forward_type = feed_forward_numbers<typename Layer::feed_forward>;

  norm_numbers<typename Layer::norm> norm1, norm2;
  attention_type attention;
  feed_forward_type feed_forward;
  // norm_first<false>: from residual sums to what the parts are given.
  kernel::plain::integer_unit to_attention, to_feed_forward;

  // residual: the unit of the sums.
  template <class View>
  constexpr void pack_layer(const View& w, const ranges& seen, double residual) noexcept {
    const double input = int8_unit(seen.attention_input);
    const double input2 = int8_unit(seen.feed_forward_input);
    const double epsilon = static_cast<double>(Layer::epsilon);
    norm1.pack_norm(w.norm1, epsilon, residual, norms_first ? input : residual);
    norm2.pack_norm(w.norm2, epsilon, residual, norms_first ? input2 : residual);
    if constexpr (!norms_first) {
      to_attention = unit(residual, input);
      to_feed_forward = unit(residual, input2);
    }
    attention.pack_attention(w.attention, {input, input, input, int8_unit(seen.q),
                                           int8_unit(seen.k), int8_unit(seen.v), residual});
    feed_forward_units u{input2, 0, int8_unit(seen.up), int8_unit(seen.activated), 0, residual};
    if constexpr (Layer::feed_forward::is_gated) {
      u.gate = int8_unit(seen.gate);
      u.product = int8_unit(seen.product);
    }
    feed_forward.pack_network(w.feed_forward, u);
  }

  template <std::size_t Positions>
  struct scratch_for : workspace_base {
    using positions = std::index_sequence<Positions>;
    alignas(64) std::int8_t normed[Positions * hidden];
    union {  // one after the other
      typename attention_type::template scratch_for<Positions, Positions> attention_work;
      typename feed_forward_type::template scratch_for<Positions> feed_forward_work;
    };
  };

  // x becomes the layer's result.
  template <std::size_t Positions, class Mask, class Work>
  constexpr void sequence(std::int16_t* x, const Mask& mask, Work& work) const noexcept {
    constexpr kernel::finish::added added{};
    if (std::is_constant_evaluated()) work.attention_work = {};
    if constexpr (norms_first)
      norm1.template rows<Positions>(x, work.normed);
    else
      kernel::integer_rescale<Positions * hidden>(x, to_attention, work.normed);
    attention.template attend<Positions, Positions>(work.normed, work.normed, work.normed, mask, x,
                                                    added, work.attention_work);
    if (std::is_constant_evaluated()) work.feed_forward_work = {};
    if constexpr (norms_first) {
      norm2.template rows<Positions>(x, work.normed);
      feed_forward.template feed<Positions>(work.normed, x, added, work.feed_forward_work);
    } else {
      norm1.template rows<Positions>(x, x);
      kernel::integer_rescale<Positions * hidden>(x, to_feed_forward, work.normed);
      feed_forward.template feed<Positions>(work.normed, x, added, work.feed_forward_work);
      norm2.template rows<Positions>(x, x);
    }
  }
};

// The layer of floats on x, whose tensors widen the ranges.
template <class Layer, class Seen, class View, class X, class Mask>
constexpr auto observe_encoder(Seen& seen, const View& w, const X& x, const Mask& mask) noexcept {
  using attend = typename Layer::attention;
  using norm = typename Layer::norm;
  const auto see = [](range& r, const auto& t) { widen(r, t.data(), t.size()); };
  const auto attended = [&](const auto& from) {
    see(seen.attention_input, from);
    observe_projections<attend>(seen, w.attention, from, from, from);
    return attend{w.attention}(from, mask);
  };
  const auto fed = [&](const auto& from) {
    see(seen.feed_forward_input, from);
    return observe_network<typename Layer::feed_forward>(seen, w.feed_forward, from);
  };
  const norm norm1{w.norm1, Layer::epsilon}, norm2{w.norm2, Layer::epsilon};
  see(seen.residual, x);
  if constexpr (Layer::norms_first) {
    auto y = x + attended(norm1(x));
    see(seen.residual, y);
    auto z = y + fed(norm2(y));
    see(seen.residual, z);
    return z;
  } else {
    auto sum = x + attended(x);
    see(seen.residual, sum);
    auto y = norm1(sum);
    see(seen.residual, y);
    auto second = y + fed(y);
    see(seen.residual, second);
    auto z = norm2(second);
    see(seen.residual, z);
    return z;
  }
}

// Calls of a layer and of a stack. Derived: each_layer(f), f of its encoder_numbers in their order.
template <class Derived, class Layer>
class quantized_encoder {
 public:
  using numbers = encoder_numbers<Layer>;
  // Scratch for one call at a time.
  template <class Positions>
  using workspace = typename numbers::template scratch_for<Positions::size>;

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

 private:
  template <class X, class Mask, class Workspace, class Out>
  constexpr auto run(const X& x, const Mask& mask, Workspace& work, Out&& out) const noexcept {
    using layout = layout_of<X>;
    using hidden = typename Layer::hidden_axis;
    using verdict = first_error<rules::self_attend<say::quantized, X, std::int16_t, hidden>,
                                rules::rows_of<say::quantized, X, std::int16_t, hidden>,
                                rules::batch_first<say::quantized, X>,
                                rules::row_major_out<say::quantized, Out, std::int16_t, layout>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using positions = axis_of<layout, rules::sequence_family<layout, hidden>>;
      using scratch = workspace<positions>;
      using scores = scores_of<float, layout::template size_of<rules::batch_family>,
                               Layer::attention::sizes.heads, positions::size, positions::size>;
      using fits = first_error<
          rules::sums_fit<positions, kernel::most_value_products>,
          typename rules::integer_mask<
              mask_of<Mask>, scores, rules::mask_fits<say::quantized, mask_of<Mask>, scores>>::type,
          rules::scratch_fits<say::quantized, Workspace, scratch, shape<positions>>>;
      static_assert(report<fits>::ok, "umbel: shapes do not fit");
      if constexpr (fits::ok) {
        constexpr std::size_t one = positions::size * hidden::size;
        const auto& masks = as_mask(mask);
        return computed<tensor_of<std::int16_t, row_major<layout>>, scratch>(
            out, work, [&](auto& y, scratch& own) {
              if (static_cast<const void*>(y.data()) != static_cast<const void*>(x.data()))
                for (std::size_t i = 0; i < layout::count; ++i) y.data()[i] = x.data()[i];
              for (std::size_t b = 0; b < layout::count / one; ++b)
                static_cast<const Derived*>(this)->each_layer([&](const numbers& layer) {
                  layer.template sequence<positions::size>(y.data() + b * one,
                                                           at_sequence<scores>(masks, b), own);
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
template <class T, class Hidden, class Heads, class FeedForward, class... OfLayer>
class quantized<encoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>>
    : public detail::integers::quantized_encoder<
          quantized<encoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>>,
          encoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>> {
 public:
  using layer = encoder_layer<T, Hidden, Heads, FeedForward, OfLayer...>;
  using numbers = detail::integers::encoder_numbers<layer>;
  using ranges = typename numbers::ranges;
  using weights_to_pack = detail::in_any_order<typename layer::weights_view>;

 private:
  static_assert(
      detail::reported<detail::integers::attention_has_integers<typename layer::attention>>::ok,
      "umbel: shapes do not fit");

 public:
  constexpr quantized() noexcept = default;
  constexpr quantized(const weights_to_pack& w, const ranges& seen) noexcept {
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
  template <detail::tensor_like X, mask_like Mask = detail::every_key>
  static constexpr auto observe(ranges& seen, const typename layer::weights_view& w, const X& x,
                                const Mask& mask = {}) noexcept {
    return detail::integers::observe_encoder<layer>(seen, w, x, mask);
  }
  template <class F>
  constexpr void each_layer(const F& f) const noexcept {
    f(numbers_);
  }

 private:
  numbers numbers_;
};

// Count of them, one after another; ranges: an array, one for each.
template <class Layer, std::size_t Count>
  requires detail::is_encoder<Layer>
class quantized<layer_stack<Layer, Count>>
    : public detail::integers::quantized_encoder<quantized<layer_stack<Layer, Count>>, Layer> {
 public:
  using layer = layer_stack<Layer, Count>;
  using numbers = detail::integers::encoder_numbers<Layer>;
  struct ranges {
    static constexpr const char* part_names[] = {"layers"};
    typename numbers::ranges layers[Count];
  };
  using weights_to_pack = detail::in_any_order<typename layer::weights_view>;

 private:
  static_assert(
      detail::reported<detail::integers::attention_has_integers<typename Layer::attention>>::ok,
      "umbel: shapes do not fit");

 public:
  constexpr quantized() noexcept = default;
  constexpr quantized(const weights_to_pack& w, const ranges& seen) noexcept {
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
  template <detail::tensor_like X, mask_like Mask = detail::every_key>
  static constexpr auto observe(ranges& seen, const typename layer::weights_view& w, const X& x,
                                const Mask& mask = {}) noexcept {
    auto y = contiguous(x);
    for (std::size_t i = 0; i < Count; ++i)
      y = detail::integers::observe_encoder<Layer>(seen.layers[i], w[i], y, mask);
    return y;
  }
  template <class F>
  constexpr void each_layer(const F& f) const noexcept {
    for (const numbers& one : numbers_) f(one);
  }

 private:
  numbers numbers_[Count];
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
