// SPDX-License-Identifier: BSL-1.0
// A decoder layer in integers on the rows of one sequence and an int8 memory. And the layer of
// floats, observed. Not here: axes, batches, stacks (decoder.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/decoder.hpp>
#include <umbel/config.hpp>
#include <umbel/quantized/encoder_numbers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// residual: x, all sums, and of norm_first<false> all norms; memory: as it is given. A stack has
// one unit for each of them: the largest of its layers'.
template <class Range>
struct decoder_ranges {
  static constexpr const char* part_names[] = {"residual",
                                               "self_input",
                                               "q",
                                               "k",
                                               "v",
                                               "memory",
                                               "cross_input",
                                               "cross_q",
                                               "cross_k",
                                               "cross_v",
                                               "feed_forward_input",
                                               "up",
                                               "activated"};
  Range residual, self_input, q, k, v;
  Range memory, cross_input, cross_q, cross_k, cross_v;
  Range feed_forward_input, up, activated;
};
template <class Range>
struct gated_decoder_ranges {
  static constexpr const char* part_names[] = {"residual",
                                               "self_input",
                                               "q",
                                               "k",
                                               "v",
                                               "memory",
                                               "cross_input",
                                               "cross_q",
                                               "cross_k",
                                               "cross_v",
                                               "feed_forward_input",
                                               "gate",
                                               "up",
                                               "activated",
                                               "product"};
  Range residual, self_input, q, k, v;
  Range memory, cross_input, cross_q, cross_k, cross_v;
  Range feed_forward_input, gate, up, activated, product;
};

template <class Layer>
struct decoder_numbers {
  static constexpr bool norms_first = Layer::norms_first;
  static constexpr std::size_t hidden = Layer::hidden_axis::size;
  template <class Range>
  using ranges_of = std::conditional_t<Layer::feed_forward::is_gated, gated_decoder_ranges<Range>,
                                       decoder_ranges<Range>>;
  using ranges = ranges_of<range>;
  using histograms = ranges_of<magnitude_histogram>;
  using self_type = attention_numbers<typename Layer::self_attention>;
  using cross_type = attention_numbers<typename Layer::cross_attention>;
  using feed_forward_type = feed_forward_numbers<typename Layer::feed_forward>;
  static constexpr kernel::finish::added added{};

  norm_of_part<typename Layer::norm, norms_first> norm1, norm2, norm3;
  self_type self_attention;
  cross_type cross_attention;
  feed_forward_type feed_forward;

  // Units: of the sums, of the memory.
  template <class View>
  constexpr void pack_layer(const View& w, const ranges& seen, double residual,
                            double memory) noexcept {
    const double input = int8_unit(seen.self_input), input2 = int8_unit(seen.cross_input);
    const double input3 = int8_unit(seen.feed_forward_input);
    const double epsilon = static_cast<double>(Layer::epsilon);
    norm1.pack_part(w.norm1, epsilon, residual, input);
    norm2.pack_part(w.norm2, epsilon, residual, input2);
    norm3.pack_part(w.norm3, epsilon, residual, input3);
    self_attention.pack_attention(
        w.self_attention,
        {input, input, input, int8_unit(seen.q), int8_unit(seen.k), int8_unit(seen.v), residual});
    cross_attention.pack_attention(w.cross_attention,
                                   {input2, memory, memory, int8_unit(seen.cross_q),
                                    int8_unit(seen.cross_k), int8_unit(seen.cross_v), residual});
    feed_forward.pack_network(
        w.feed_forward, units_of_feed_forward<feed_forward_type::is_gated>(seen, input3, residual));
  }

  // SelfWork, CrossWork: what the attentions need, in a step of a cache others, which have scratch
  // of a head themselves.
  template <std::size_t Positions, std::size_t MemoryPositions,
            class SelfWork = typename self_type::template projections<Positions, Positions>,
            class CrossWork = typename cross_type::template projections<Positions, MemoryPositions>,
            class SelfHead = typename self_type::template head_scratch<Positions, Positions>,
            class CrossHead =
                typename cross_type::template head_scratch<Positions, MemoryPositions>>
  struct scratch_for : workspace_base {
    using positions = std::index_sequence<Positions, MemoryPositions>;
    static constexpr std::size_t rows = Positions;
    union {  // one after the other, and here
      alignas(64) std::int8_t normed[Positions * hidden];
      SelfHead self_head;
      CrossHead cross_head;
    };
    union {
      SelfWork self_work;
      CrossWork cross_work;
      typename feed_forward_type::template scratch_for<Positions> feed_forward_work;
    };
  };

  // N rows of x become the layer's result. attend_self(from, x), attend_memory(from, x): add an
  // attention, in work.self_work and work.cross_work.
  template <std::size_t N, class Work, class AttendSelf, class AttendMemory>
  constexpr void rows_of_sequence(std::int16_t* x, Work& work, const AttendSelf& attend_self,
                                  const AttendMemory& attend_memory) const noexcept {
    if (__builtin_is_constant_evaluated()) {
      work.self_work = {};
      work.normed[0] = 0;
    }
    norm1.template before<N>(x, work.normed);
    attend_self(work.normed, x);
    if (__builtin_is_constant_evaluated()) work.cross_work = {};
    after_self<N>(x, work.normed);
    attend_memory(work.normed, x);
    if (__builtin_is_constant_evaluated()) work.feed_forward_work = {};
    after_cross<N>(x, work.normed, work.feed_forward_work);
  }
  template <std::size_t N>
  constexpr void after_self(std::int16_t* x, std::int8_t* normed) const noexcept {
    norm1.template after<N>(x);
    norm2.template before<N>(x, normed);
  }
  template <std::size_t N, class Work>
  constexpr void after_cross(std::int16_t* x, std::int8_t* normed, Work& work) const noexcept {
    norm2.template after<N>(x);
    norm3.template before<N>(x, normed);
    feed_forward.template feed<N>(normed, x, added, work);
    norm3.template after<N>(x);
  }

  // mask: of the memory; own: of the sequence.
  template <std::size_t N, std::size_t M, class Mask, class Own, class Work>
  constexpr void sequence(std::int16_t* x, const std::int8_t* memory, const Mask& mask,
                          const Own& own, Work& work) const noexcept {
    rows_of_sequence<N>(
        x, work,
        [&](const std::int8_t* from, std::int16_t* to) {
          self_attention.template attend<N, N>(from, from, from, own, to, added, work.self_work,
                                               work.self_head);
        },
        [&](const std::int8_t* from, std::int16_t* to) {
          cross_attention.template attend<N, M>(from, memory, memory, mask, to, added,
                                                work.cross_work, work.cross_head);
        });
  }
  // By several workers. Rows between the rounds are in the workspace of worker 0.
  template <std::size_t N, std::size_t M, class Mask, class Own, class Given>
  void sequence_in_parts(std::int16_t* x, const std::int8_t* memory, const Mask& mask,
                         const Own& own, const Given& given) const noexcept {
    std::int8_t* const normed = given.work[0].normed;
    const auto rows = [&](const auto& f) { each_block_of_rows<N, hidden>(given, f); };
    rows([&]<std::size_t R>(std::integral_constant<std::size_t, R>, std::size_t at, auto&) {
      norm1.template before<R>(x + at, normed + at);
    });
    self_attention.template attend_in_parts<N, N>(
        normed, normed, normed, own, x, added,
        workers_with<&scratch_for<N, M>::self_work, Given>{given},
        [&](std::size_t worker) -> auto& { return given.work[worker].self_head; });
    rows([&]<std::size_t R>(std::integral_constant<std::size_t, R>, std::size_t at, auto&) {
      after_self<R>(x + at, normed + at);
    });
    cross_attention.template attend_in_parts<N, M>(
        normed, memory, memory, mask, x, added,
        workers_with<&scratch_for<N, M>::cross_work, Given>{given},
        [&](std::size_t worker) -> auto& { return given.work[worker].cross_head; });
    rows([&]<std::size_t R>(std::integral_constant<std::size_t, R>, std::size_t at, auto& work) {
      after_cross<R>(x + at, normed + at, work.feed_forward_work);
    });
  }
};

// x, rows of (batch,) positions, hidden, with its positions along another axis.
template <template <std::size_t> class Position, class Hidden, class X>
constexpr auto along(const X& x) noexcept {
  using T = typename X::value_type;
  constexpr std::size_t batch = layout_of<X>::template size_of<rules::batch_family>;
  constexpr std::size_t rows = layout_of<X>::count / Hidden::size;
  if constexpr (batch == 0)
    return view<const T, Position<rows>, Hidden>(x.data());
  else
    return view<const T, axes::batch<batch>, Position<rows / batch>, Hidden>(x.data());
}

// The layer of floats on x and a memory, row-major, whose tensors widen the ranges.
template <class Layer, class Seen, class View, class X, class Memory, class Mask, class Own>
constexpr auto observe_decoder(Seen& seen, const View& w, const X& x, const Memory& memory,
                               const Mask& mask, const Own& own) noexcept {
  using self_layer = typename Layer::self_attention;
  using cross_layer = typename Layer::cross_attention;
  using hidden = typename Layer::hidden_axis;
  const auto see = [](auto& r, const auto& t) { widen(r, t.data(), t.size()); };
  const auto attended = [&](const auto& from) {
    see(seen.self_input, from);
    observe_projections<self_layer>(seen, w.self_attention, from, from, from);
    return self_layer{w.self_attention}(from, own);
  };
  const auto crossed = [&](const auto& from) {
    see(seen.cross_input, from);
    widen_projected(seen.cross_q, w.cross_attention.q, from);
    const auto keys = along<axes::key, hidden>(memory);
    const auto y =
        cross_layer{w.cross_attention}(along<axes::query, hidden>(from), keys, keys, mask);
    auto result = from;  // of the axes of x
    for (std::size_t i = 0; i < result.size(); ++i) result.data()[i] = y.data()[i];
    return result;
  };
  const auto fed = [&](const auto& from) {
    see(seen.feed_forward_input, from);
    return observe_network<typename Layer::feed_forward>(seen, w.feed_forward, from);
  };
  // One part: its norm before or after it.
  const auto part = [&](const auto& of_norm, const auto& from, const auto& f) {
    const typename Layer::norm norm{of_norm, Layer::epsilon};
    if constexpr (Layer::norms_first) {
      auto sum = from + f(norm(from));
      see(seen.residual, sum);
      return sum;
    } else {
      auto sum = from + f(from);
      see(seen.residual, sum);
      auto y = norm(sum);
      see(seen.residual, y);
      return y;
    }
  };
  see(seen.residual, x);
  see(seen.memory, memory);
  const auto given = contiguous(memory);
  widen_projected(seen.cross_k, w.cross_attention.k, given);
  widen_projected(seen.cross_v, w.cross_attention.v, given);
  return part(w.norm3, part(w.norm2, part(w.norm1, x, attended), crossed), fed);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
