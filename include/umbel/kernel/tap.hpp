// SPDX-License-Identifier: BSL-1.0
// Taps: intermediates between queries and context, for each pair of a query and a key, written to
// the caller's memory while attend computes. Without a tap, nothing of this is compiled. Method:
// float/attend_tap.hpp.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Scores are in natural units (internally, units of log2).
enum class tap_stage {
  none,
  raw,            // scale q k^T of every pair, seen or hidden
  changed,        // after the policy's changes; -infinity if hidden
  probabilities,  // after the softmax; 0 if hidden
  weights,        // the probabilities as factors of the values: after dropout
  softmax,        // a softmax's row statistics: softmax_tap
};

// to[i * QueryStride + j * KeyStride] receives the number of query i and key j. The memory must not
// overlap anything else in the call.
template <tap_stage Stage, class T, std::size_t QueryStride, std::size_t KeyStride = 1>
struct tap {
  static constexpr tap_stage stage = Stage;
  static constexpr std::size_t query_stride = QueryStride, key_stride = KeyStride;
  T* to;
};

// maximum[i]: of query i's scores, in units of log2; inverse[i]: 1 / the sum of 2^(score -
// maximum). For a query that sees no key: the lowest finite number, and 0. A backward pass
// recomputes the probabilities from these (backward/attend.hpp).
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
template <class X>
concept score_tap = X::stage == tap_stage::raw || X::stage == tap_stage::changed;

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
