// SPDX-License-Identifier: BSL-1.0
// A block on the rows of one sequence, in floats, by one worker or several: the fold over its
// events, and each kind of part. See block_pass.hpp for axes and batches.
#pragma once

#include <umbel/attention/forward_in_parts.hpp>
#include <umbel/block/description.hpp>
#include <umbel/block/scratch.hpp>
#include <umbel/config.hpp>
#include <umbel/mask/base.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::residual {

// ---- kinds of parts
template <class Layer>
struct rows_of_part;
template <class T, class Hidden, class Heads, class... Options>
struct rows_of_part<multi_head_attention<T, Hidden, Heads, Options...>> {
  using layer = multi_head_attention<T, Hidden, Heads, Options...>;
  static constexpr sequence_strides rows = {0, layer::hidden_axis::size, 1};
  using width = typename layer::template width<layer::sizes.query_width()>;  // other than hidden
  static constexpr bool in_place = true;  // may it write what it reads?
  template <std::size_t N, std::size_t M>
  static constexpr std::uint64_t flops = layer::sizes.flops(N, M, std::uint64_t{N} * M);
  template <std::size_t N, std::size_t M>
  static constexpr std::size_t tables = layer::template forward_of<N, M>::tables;
  template <std::size_t N, std::size_t M>
  using scratch = typename layer::template workspace<axes::query<N>, axes::key<M>>;
  template <std::size_t N, std::size_t M>
  using forward_of = typename layer::template forward_of<N, M>;
  template <std::size_t N, std::size_t M, class Weights, class Mask, class Workers, class Present>
  static void run_in_parts(const Weights& w, const T* from, const T* keys, const Mask& mask, T* to,
                           const Workers& workers, const Present& present) noexcept {
    forward_in_parts<forward_of<N, M>, Workers::workers>::template forward<rows, rows, rows, rows>(
        w, from, keys, keys, mask, to, workers, present);
  }
};
template <class T, class Hidden, class Wide, class... Options>
struct rows_of_part<feed_forward<T, Hidden, Wide, Options...>> {
  using layer = feed_forward<T, Hidden, Wide, Options...>;
  using width = typename layer::wide_axis;
  static constexpr bool in_place = true;
  template <std::size_t N, std::size_t M>
  static constexpr std::uint64_t flops = layer::flops_of(N);
  template <std::size_t N, std::size_t M>
  static constexpr std::size_t tables = 0;
  template <std::size_t N, std::size_t M>
  using scratch = typename layer::template scratch_for<N>;
  template <std::size_t N, class Weights, class Work>
  static constexpr void run(const Weights& w, const T* from, T* to, Work& work) noexcept {
    layer::template feed_rows<N>(w, from, work, to);
  }
};

template <class T, class Hidden, class... Options>
struct rows_of_part<linear<T, Hidden, Hidden, Options...>> {
  using layer = linear<T, Hidden, Hidden, Options...>;
  using width = typename layer::map::out;
  static constexpr kernel::linear_shape of_rows(std::size_t n) noexcept {
    return {n, Hidden::size, Hidden::size, Hidden::size, 1, Hidden::size, 1, layer::has_bias};
  }
  template <std::size_t N, std::size_t M>
  static constexpr std::uint64_t flops = kernel::product_flops(N, Hidden::size, Hidden::size);
  template <std::size_t N, std::size_t M>
  static constexpr std::size_t tables = 0;
  struct nothing {};
  template <std::size_t N, std::size_t M>
  using scratch = nothing;
  static constexpr bool in_place = false;
  template <std::size_t N, class Weights, class Work>
  static constexpr void run(const Weights& w, const T* from, T* to, Work&) noexcept {
    project<of_rows(N)>(w, from, to);
  }
};

// ---- the fold

// y = x + factor branch, each element rounded once, as in formulas.
template <std::size_t Count, class T>
constexpr void add_scaled(const T* x, T factor, const T* branch, T* y) noexcept {
  if (__builtin_is_constant_evaluated())
    for (std::size_t e = 0; e < Count; ++e) y[e] = simd::fma(branch[e], factor, x[e]);
  else
    kernel::add_scaled<Count>(x, factor, branch, y);
}

// y = x + factors branch, row by row: one factor for each of Width features.
template <std::size_t Rows, std::size_t Width, class T>
constexpr void add_scaled_features(const T* x, const T* factors, const T* branch, T* y) noexcept {
  if (__builtin_is_constant_evaluated())
    for (std::size_t e = 0; e < Rows * Width; ++e)
      y[e] = simd::fma(branch[e], factors[e % Width], x[e]);
  else
    kernel::add_scaled_features<Rows, Width>(x, factors, branch, y);
}

// The places of the rows of a pass: argument, result, and intermediate ones.
template <class T>
struct places {
  const T* x;
  T *y, *normed, *branch;
  constexpr places at(std::size_t i) const noexcept {
    return {x + i, y + i, from_element(normed, i), from_element(branch, i)};
  }
};

// The first `count` of N rows through the events from First on: blocks of rows from one part that
// needs all of them to the next. On: runs Count events from I on for R rows from `at` on.
//   on.operator()<I, Count, R>(at)
template <class Block, std::size_t N, std::size_t First = 0, class On>
constexpr void events_on_first_rows(std::size_t count, const On& on) noexcept {
  constexpr std::size_t end = Block::next_whole(First);
  if constexpr (First < end)
    each_first_rows<N>(count,
                       [&]<std::size_t R>(std::integral_constant<std::size_t, R>, std::size_t at) {
                         on.template operator()<First, end - First, R>(at);
                       });
  if constexpr (end < Block::event_count) {
    on.template operator()<end, 1, N>(std::size_t{0});
    events_on_first_rows<Block, N, end + 1>(count, on);
  }
}

template <class Block>
struct rows {
  using T = typename Block::value_type;
  static constexpr std::size_t width = Block::width;

  // Event I on N rows. Parts: runs one, parts.run<I, N>(weights, from, to, work).
  template <std::size_t I, std::size_t N, class Weights, class Work, class Parts>
  static constexpr void on(const Weights& w, const places<T>& p, Work& work,
                           const Parts& parts) noexcept {
    constexpr event e = Block::template event_at<I>;
    using step = typename Block::template step_at<e.step>;
    constexpr std::size_t count = N * width;
    const T* const sum = e.step == 0 && e.part == 0 ? p.x : p.y;
    T* const branch = branch_of<I>(p);
    if constexpr (e.what == act::before) {
      if constexpr (step::norms_before)
        normalise<e.slot, N>(w, sum, p.normed);
      else if constexpr (Block::template makes_input<I>)
        for (std::size_t i = 0; i < count; ++i) p.normed[i] = sum[i];
    } else if constexpr (e.what == act::part) {
      parts.template run<I, N>(Block::template weights_at<e.slot>(w), input_of<I>(p), branch,
                               start<e.number>(work.parts));
    } else if constexpr (e.what == act::joined) {
      constexpr bool adds = step::adds || e.part > 0;
      if constexpr (step::norms_behind) normalise<e.slot, N>(w, branch, branch);
      if constexpr (step::has_layer_scale)
        add_scaled_features<N, width>(
            sum, Block::template weights_at<Block::template scale_slot<I>>(w).gamma.data(), branch,
            p.y);
      else if constexpr (adds && step::is_scaled)
        add_scaled<count>(sum, step::template scale<T>, branch, p.y);
      else if constexpr (adds)
        add_residual<count>(sum, branch, p.y);
      else if constexpr (!writes_sum<I>)
        for (std::size_t i = 0; i < count; ++i) p.y[i] = branch[i];
    } else {
      normalise<e.slot, N>(w, e.step == 0 && step::parts::size == 0 ? p.x : p.y, p.y);
    }
  }
  // Events First to First + sizeof...(I) - 1.
  template <std::size_t First, std::size_t N, std::size_t... I, class... Arguments>
  static constexpr void each(std::index_sequence<I...>, Arguments&... arguments) noexcept {
    (on<First + I, N>(arguments...), ...);
  }

  // The first `count` rows only.
  template <std::size_t N, class Weights, class Work, class Parts>
  static constexpr void first_rows(const Weights& w, const places<T>& p, std::size_t count,
                                   Work& work, const Parts& parts) noexcept {
    events_on_first_rows<Block, N>(
        count, [&]<std::size_t First, std::size_t Count, std::size_t R>(std::size_t at) {
          const places<T> here = p.at(at * width);
          each<First, R>(std::make_index_sequence<Count>{}, w, here, work, parts);
        });
  }

  // By several workers: blocks of rows from one part that needs all of them to the next. Rows
  // between these rounds are in the workspace of worker 0.
  template <std::size_t N, std::size_t First = 0, class Weights, class Given, class Parts>
  static void in_parts(const Weights& w, const places<T>& p, const Given& given,
                       const Parts& parts) noexcept {
    constexpr std::size_t end = Block::next_whole(First);
    constexpr bool only_begins = end == First + 1 &&
                                 Block::template event_at<First>.what == act::before &&
                                 !Block::template makes_input<First>;
    if constexpr (First < end && !only_begins)
      each_block_of_rows<N, width>(given, parts.rows().queries,
                                   [&]<std::size_t R>(std::integral_constant<std::size_t, R>,
                                                      std::size_t at, auto& buffers) {
                                     const places<T> here = p.at(at);
                                     each<First, R>(std::make_index_sequence<end - First>{}, w,
                                                    here, buffers, parts);
                                   });
    if constexpr (end < Block::event_count) {
      constexpr event e = Block::template event_at<end>;
      parts.template run_in_parts<end>(Block::template weights_at<e.slot>(w), input_of<end>(p),
                                       branch_of<end>(p), workers_at<e.number, Given>{given});
      in_parts<N, end + 1>(w, p, given, parts);
    }
  }

 private:
  template <std::size_t Slot, std::size_t N, class Weights>
  static constexpr void normalise(const Weights& w, const T* x, T* y) noexcept {
    Block::norm::template normalise_rows<N>(Block::template weights_at<Slot>(w), Block::epsilon, x,
                                            y);
  }
  template <std::size_t I>
  static constexpr const T* input_of(const places<T>& p) noexcept {
    if constexpr (Block::template makes_input<I>)
      return p.normed;
    else
      return Block::template event_at<I>.step == 0 ? p.x : p.y;
  }
  // Without a residual, a part writes the sum directly if it may write to its input.
  template <std::size_t I>
  static constexpr bool writes_sum = [] {
    constexpr event e = Block::template event_at<I>;
    if constexpr (e.what != act::part && e.what != act::joined)
      return false;
    else
      return !Block::template step_at<e.step>::adds && e.part == 0 &&
             (Block::template makes_input<I> || Block::template writes_in_place<e.number>);
  }();
  template <std::size_t I>
  static constexpr T* branch_of(const places<T>& p) noexcept {
    return writes_sum<I> ? p.y : p.branch;
  }
};

// The masks of a whole pass: as_mask of the sequence itself and of its memory.
template <std::size_t N, std::size_t M, class ToSelf, class Mask>
struct masks_of_pass {
  const ToSelf& to_self;
  const Mask& mask;
  std::size_t sequence;

  static constexpr bool by_rows = ToSelf::counts_rows || Mask::counts_rows;
  constexpr auto rows() const noexcept {
    if constexpr (Mask::counts_rows)
      return rows_present<N, M>(to_self, mask, sequence);
    else
      return rows_present<N, N>(to_self, to_self, sequence);
  }
  // The mask of the keys in the sequence itself, or in the memory.
  template <bool OfItself>
  constexpr const auto& of_keys() const noexcept {
    if constexpr (OfItself)
      return to_self;
    else
      return mask;
  }
  // The rows of attention to these keys.
  template <bool OfItself>
  constexpr auto rows_of_keys() const noexcept {
    return rows_present<N, OfItself ? N : M>(to_self, of_keys<OfItself>(), sequence);
  }
  // Does it leave out rows?
  template <bool OfItself>
  static constexpr bool leaves_out = OfItself ? ToSelf::counts_rows : by_rows;
};

// Parts of a whole pass.
template <class Block, std::size_t Batch, std::size_t N, std::size_t M, class ToSelf, class Mask>
struct whole_pass : masks_of_pass<N, M, ToSelf, Mask> {
  using T = typename Block::value_type;
  using masks = masks_of_pass<N, M, ToSelf, Mask>;
  using masks::sequence;
  template <class Layer, std::size_t Keys>
  using scores = scores_of<T, Batch, Layer::sizes.heads, N, Keys>;
  const T* memory;

  template <std::size_t I, std::size_t Rows, class Weights, class Work>
  constexpr void run(const Weights& w, const T* from, T* to, Work& work) const noexcept {
    constexpr event e = Block::template event_at<I>;
    using layer = typename Block::template layer_at<e.slot>;
    using part = rows_of_part<layer>;
    if constexpr (e.sees == reads::row) {
      part::template run<Rows>(w, from, to, work);
    } else {
      constexpr bool of_itself = e.sees == reads::sequence;
      constexpr std::size_t keys = of_itself ? N : M;
      using forward_of = typename part::template forward_of<N, keys>;
      const auto& seen = this->template of_keys<of_itself>();
      const T* const x = of_itself ? from : memory;
      if constexpr (masks::template leaves_out<of_itself>)
        forward_of::template forward<part::rows, part::rows, part::rows, part::rows>(
            w, from, x, x, at_sequence<scores<layer, keys>>(seen, sequence), to, work,
            this->template rows_of_keys<of_itself>());
      else
        forward_of::template forward<part::rows, part::rows, part::rows, part::rows>(
            w, from, x, x, at_sequence<scores<layer, keys>>(seen, sequence), to, work);
    }
  }
  template <std::size_t I, class Weights, class Workers>
  void run_in_parts(const Weights& w, const T* from, T* to, const Workers& workers) const noexcept {
    constexpr event e = Block::template event_at<I>;
    using layer = typename Block::template layer_at<e.slot>;
    constexpr bool of_itself = e.sees == reads::sequence;
    constexpr std::size_t keys = of_itself ? N : M;
    rows_of_part<layer>::template run_in_parts<N, keys>(
        w, from, of_itself ? from : memory,
        at_sequence<scores<layer, keys>>(this->template of_keys<of_itself>(), sequence), to,
        workers, this->template rows_of_keys<of_itself>());
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::residual
UMBEL_WARNINGS_POP
