// SPDX-License-Identifier: BSL-1.0
// Taps: what is computed between queries and context, for each pair of a query and a key, written
// into the caller's memory while attend computes. Without one, nothing of this is compiled. How it
// is done: float/attend_tap.hpp.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Scores are in natural units, the library's own being units of log2.
enum class tap_stage {
  none,
  raw,            // scale q k^T, of every pair, whether it is seen or not
  changed,        // after the policy's changes; -infinity where a pair is hidden
  probabilities,  // after the softmax; 0 where hidden
  weights,        // the probabilities as they multiply the values: after dropout
  softmax,        // what a softmax knows of its row: softmax_tap
};

// to[i * QueryStride + j * KeyStride] receives what belongs to query i and key j. The memory must
// not overlap anything else of the call.
template <tap_stage Stage, class T, std::size_t QueryStride, std::size_t KeyStride = 1>
struct tap {
  static constexpr tap_stage stage = Stage;
  static constexpr std::size_t query_stride = QueryStride, key_stride = KeyStride;
  T* to;
};

// maximum[i]: of the scores of query i, in units of log2; inverse[i]: 1 / the sum of 2^(score -
// maximum). A query that sees no key: the lowest finite number, 0. From these a backward pass takes
// the probabilities anew (backward/attend.hpp).
template <class T>
struct softmax_tap {
  static constexpr tap_stage stage = tap_stage::softmax;
  T* maximum;
  T* inverse;
};

struct no_tap {
  static constexpr tap_stage stage = tap_stage::none;
};

template <class X>
concept tap_like = requires { X::stage; };
// A tap of scores needs no values.
template <class X>
concept score_tap = X::stage == tap_stage::raw || X::stage == tap_stage::changed;

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
