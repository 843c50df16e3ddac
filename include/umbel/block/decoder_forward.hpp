// SPDX-License-Identifier: BSL-1.0
// The forward pass of a decoder layer over one sequence, on plain numbers, by one worker or by
// several.
//
// Not here: axes, verdicts, batches (decoder.hpp); steps (decode/cache_of_decoders.hpp), which are
// the same rows with other attentions.
#pragma once

#include <umbel/block/transformer.hpp>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// Layer: what a decoder_layer has besides its calls.
template <class Layer>
struct decoder_forward {
  using T = typename Layer::value_type;
  using norm = typename Layer::norm;
  static constexpr std::size_t width = Layer::hidden_axis::size;
  static constexpr sequence_strides row_strides = {0, width, 1};
  template <std::size_t N>
  using self_attention = typename Layer::self_attention::template forward_of<N, N>;
  template <std::size_t N, std::size_t M>
  using cross_attention = typename Layer::cross_attention::template forward_of<N, M>;

  // y = the layer's result for N rows. attend_self(from, to) and attend_to_memory(from, to) compute
  // its attentions, in work.self_work and work.cross_work. Work: a scratch_for. y may be x.
  template <std::size_t N, class Weights, class Work, class AttendSelf, class AttendToMemory>
  static constexpr void rows_of_sequence(const Weights& w, const T* x, T* y, Work& work,
                                         const AttendSelf& attend_self,
                                         const AttendToMemory& attend_to_memory) noexcept {
    // In constant expressions: the one of the union that lives.
    if constexpr (Layer::norms_first)
      norm::template normalise_rows<N>(w.norm1, Layer::epsilon, x, work.normed);
    if (__builtin_is_constant_evaluated()) work.self_work = {};
    attend_self(Layer::norms_first ? work.normed : x, work.branch);
    between_attentions<N>(w, x, work.branch, work.normed, y);
    if (__builtin_is_constant_evaluated()) work.cross_work = {};
    attend_to_memory(work.normed, work.branch);
    if (__builtin_is_constant_evaluated()) work.feed_forward_work = {};
    after_attentions<N>(w, work.branch, work.normed, y, work.feed_forward_work);
  }

  // One sequence of N rows and its memory of M. mask, of the memory, and own: a sequence_mask
  // (mask/base.hpp).
  template <std::size_t N, std::size_t M, class Weights, class Mask, class Own, class Work>
  static constexpr void sequence(const Weights& w, const T* x, const T* memory, const Mask& mask,
                                 const Own& own, T* y, Work& work) noexcept {
    rows_of_sequence<N>(
        w, x, y, work,
        [&](const T* from, T* to) {
          self_attention<N>::template forward<row_strides, row_strides, row_strides, row_strides>(
              w.self_attention, from, from, from, own, to, work.self_work);
        },
        [&](const T* from, T* to) {
          cross_attention<N, M>::template forward<row_strides, row_strides, row_strides,
                                                  row_strides>(w.cross_attention, from, memory,
                                                               memory, mask, to, work.cross_work);
        });
  }

  // The same by several workers, in blocks of rows before, between and after the attentions, which
  // have parts of their own. Rows between these rounds are in the workspace of worker 0.
  template <std::size_t N, std::size_t M, class Weights, class Mask, class Own, class Given>
  static void sequence_in_parts(const Weights& w, const T* x, const T* memory, const Mask& mask,
                                const Own& own, T* y, const Given& given) noexcept {
    using work = typename Given::each;
    auto& shared = given.work[0];
    const T* from = x;
    if constexpr (Layer::norms_first) {
      from = shared.normed;
      each_block_of_rows<N, width>(
          given, [&]<std::size_t R>(std::integral_constant<std::size_t, R>, std::size_t at, auto&) {
            norm::template normalise_rows<R>(w.norm1, Layer::epsilon, x + at, shared.normed + at);
          });
    }
    forward_in_parts<self_attention<N>, Given::workers>::template forward<row_strides, row_strides,
                                                                          row_strides, row_strides>(
        w.self_attention, from, from, from, own, shared.branch,
        workers_with<&work::self_work, Given>{given});
    each_block_of_rows<N, width>(
        given, [&]<std::size_t R>(std::integral_constant<std::size_t, R>, std::size_t at, auto&) {
          between_attentions<R>(w, x + at, shared.branch + at, shared.normed + at, y + at);
        });
    forward_in_parts<cross_attention<N, M>, Given::workers>::template forward<
        row_strides, row_strides, row_strides, row_strides>(
        w.cross_attention, shared.normed, memory, memory, mask, shared.branch,
        workers_with<&work::cross_work, Given>{given});
    each_block_of_rows<N, width>(given, [&]<std::size_t R>(std::integral_constant<std::size_t, R>,
                                                           std::size_t at, auto& own_work) {
      after_attentions<R>(w, shared.branch + at, shared.normed + at, y + at,
                          own_work.feed_forward_work);
    });
  }

 private:
  // The residual sum of the self-attention, branch, and normed, what attends to the memory. With
  // norms first the sum is y.
  template <std::size_t N, class Weights>
  static constexpr void between_attentions(const Weights& w, const T* x, T* branch, T* normed,
                                           T* y) noexcept {
    if constexpr (Layer::norms_first) {
      add_residual<N * width>(x, branch, y);
      norm::template normalise_rows<N>(w.norm2, Layer::epsilon, y, normed);
    } else {
      add_residual<N * width>(x, branch, branch);
      norm::template normalise_rows<N>(w.norm1, Layer::epsilon, branch, normed);
    }
  }
  template <std::size_t N, class Weights, class Work>
  static constexpr void after_attentions(const Weights& w, T* branch, T* normed, T* y,
                                         Work& feed_forward_work) noexcept {
    after_attention<Layer, N>(w.norm2, w.norm3, w.feed_forward, Layer::norms_first ? y : normed,
                              branch, normed, y, feed_forward_work);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
