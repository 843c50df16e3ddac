// SPDX-License-Identifier: BSL-1.0
// An encoder layer in integers on the rows of one sequence: residual sums of int16, all of one
// unit, through norms to int8 and back. And the layer of floats, observed.
//
//   norm_first<true>     x += attention(norm1(x));   x += feed_forward(norm2(x))
//   norm_first<false>    x = norm1(x + attention(x));   x = norm2(x + feed_forward(x))
//
// Not here: axes, batches, stacks (encoder.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/encoder.hpp>
#include <umbel/config.hpp>
#include <umbel/quantized/attention_numbers.hpp>
#include <umbel/quantized/feed_forward.hpp>
#include <umbel/quantized/norm.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {
// residual: x, all sums, and of norm_first<false> all norms. attention_input, feed_forward_input:
// what the parts are given, int8. A stack has one residual unit: the largest of its layers'.
template <class Range>
struct encoder_ranges {
  static constexpr const char* part_names[] = {"residual", "attention_input",    "q",  "k",
                                               "v",        "feed_forward_input", "up", "activated"};
  Range residual, attention_input, q, k, v, feed_forward_input, up, activated;
};
template <class Range>
struct gated_encoder_ranges {
  static constexpr const char* part_names[] = {
      "residual", "attention_input", "q",      "k", "v", "feed_forward_input", "gate",
      "up",       "activated",       "product"};
  Range residual, attention_input, q, k, v, feed_forward_input, gate, up, activated, product;
};

constexpr double int8_unit(const range& r) noexcept {
  return unit_of_int8(static_cast<double>(r()));
}

// The norm of one part of a block, and what that part is given of the residual sums.
template <class Norm, bool First>
struct norm_of_part {
  norm_numbers<Norm> norm;
  kernel::plain::integer_unit to_part;  // of norm_first<false>

  // Units: of the sums, of what the part is given.
  template <class View>
  constexpr void pack_part(const View& w, double epsilon, double residual, double input) noexcept {
    norm.pack_norm(w, epsilon, residual, First ? input : residual);
    if constexpr (!First) to_part = unit(residual, input);
  }
  // What the part is given of N rows, and its norm behind the sum.
  template <std::size_t N>
  constexpr void before(const std::int16_t* x, std::int8_t* to) const noexcept {
    if constexpr (First)
      norm.template rows<N>(x, to);
    else
      kernel::integer_rescale<N * Norm::axis::size>(x, to_part, to);
  }
  template <std::size_t N>
  constexpr void after(std::int16_t* x) const noexcept {
    if constexpr (!First) norm.template rows<N>(x, x);
  }
};

// Weight: the type of the weights of attention.
template <class Layer, class Weight = std::int8_t>
struct encoder_numbers {
  static constexpr bool norms_first = Layer::norms_first;
  static constexpr std::size_t hidden = Layer::hidden_axis::size;
  template <class Range>
  using ranges_of = std::conditional_t<Layer::feed_forward::is_gated, gated_encoder_ranges<Range>,
                                       encoder_ranges<Range>>;
  using ranges = ranges_of<range>;
  using histograms = ranges_of<magnitude_histogram>;
  using attention_type = attention_numbers<typename Layer::attention, Weight>;
  using feed_forward_type = feed_forward_numbers<typename Layer::feed_forward>;

  static constexpr kernel::finish::added added{};

  norm_of_part<typename Layer::norm, norms_first> norm1, norm2;
  attention_type attention;
  feed_forward_type feed_forward;

  // residual: the unit of the sums.
  template <class View>
  constexpr void pack_layer(const View& w, const ranges& seen, double residual) noexcept {
    const double input = int8_unit(seen.attention_input);
    const double input2 = int8_unit(seen.feed_forward_input);
    const double epsilon = static_cast<double>(Layer::epsilon);
    norm1.pack_part(w.norm1, epsilon, residual, input);
    norm2.pack_part(w.norm2, epsilon, residual, input2);
    attention.pack_attention(w.attention, {input, input, input, int8_unit(seen.q),
                                           int8_unit(seen.k), int8_unit(seen.v), residual});
    feed_forward.pack_network(
        w.feed_forward, units_of_feed_forward<feed_forward_type::is_gated>(seen, input2, residual));
  }

  // AttentionWork: what the attention needs, in a step of a cache another one, which has scratch of
  // a head itself.
  template <std::size_t Positions,
            class AttentionWork =
                typename attention_type::template projections<Positions, Positions>,
            class OfHead = typename attention_type::template head_scratch<Positions, Positions>>
  struct scratch_for : workspace_base {
    using positions = std::index_sequence<Positions>;
    union {  // one after the other, and here
      alignas(64) std::int8_t normed[Positions * hidden];
      OfHead of_head;
    };
    union {
      AttentionWork attention_work;
      typename feed_forward_type::template scratch_for<Positions> feed_forward_work;
    };
  };

  // N rows of x become the layer's result. attend(from, x): adds the attention, in
  // work.attention_work.
  template <std::size_t N, class Work, class Attend>
  constexpr void rows_of_sequence(std::int16_t* x, Work& work,
                                  const Attend& attend) const noexcept {
    if (__builtin_is_constant_evaluated()) {
      work.attention_work = {};
      work.normed[0] = 0;
    }
    norm1.template before<N>(x, work.normed);
    attend(work.normed, x);
    if (__builtin_is_constant_evaluated()) work.feed_forward_work = {};
    after_attention<N>(x, work.normed, work.feed_forward_work);
  }
  template <std::size_t N, class Work>
  constexpr void after_attention(std::int16_t* x, std::int8_t* normed, Work& work) const noexcept {
    norm1.template after<N>(x);
    norm2.template before<N>(x, normed);
    feed_forward.template feed<N>(normed, x, added, work);
    norm2.template after<N>(x);
  }

  template <std::size_t Positions, class Mask, class Work>
  constexpr void sequence(std::int16_t* x, const Mask& mask, Work& work) const noexcept {
    rows_of_sequence<Positions>(x, work, [&](const std::int8_t* from, std::int16_t* to) {
      attention.template attend<Positions, Positions>(from, from, from, mask, to, added,
                                                      work.attention_work, work.of_head);
    });
  }
  // By several workers, in blocks of rows before and after the attention, which has parts of its
  // own. Rows between these rounds are in the workspace of worker 0.
  template <std::size_t Positions, class Mask, class Given>
  void sequence_in_parts(std::int16_t* x, const Mask& mask, const Given& given) const noexcept {
    std::int8_t* const normed = given.work[0].normed;
    each_block_of_rows<Positions, hidden>(
        given, [&]<std::size_t N>(std::integral_constant<std::size_t, N>, std::size_t at, auto&) {
          norm1.template before<N>(x + at, normed + at);
        });
    attention.template attend_in_parts<Positions, Positions>(
        normed, normed, normed, mask, x, added,
        workers_with<&scratch_for<Positions>::attention_work, Given>{given},
        [&](std::size_t worker) -> auto& { return given.work[worker].of_head; });
    each_block_of_rows<Positions, hidden>(
        given,
        [&]<std::size_t N>(std::integral_constant<std::size_t, N>, std::size_t at, auto& own) {
          after_attention<N>(x + at, normed + at, own.feed_forward_work);
        });
  }
};

// Would the layer have a form in integers?
template <class Layer>
using encoder_has_integers =
    first_error<attention_has_integers<typename Layer::attention>,
                rules::norm_fits<typename Layer::hidden_axis>,
                rules::inputs_fit<typename Layer::feed_forward::wide_axis>>;

// The layer of floats on x, whose tensors widen the ranges.
template <class Layer, class Seen, class View, class X, class Mask>
constexpr auto observe_encoder(Seen& seen, const View& w, const X& x, const Mask& mask) noexcept {
  using attend = typename Layer::attention;
  using norm = typename Layer::norm;
  const auto see = [](auto& r, const auto& t) { widen(r, t.data(), t.size()); };
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

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
