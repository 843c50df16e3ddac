// SPDX-License-Identifier: BSL-1.0
// Chooses the kernels' form of attention for the heads of one sequence, in one place. The kernels
// know which forms can compute a shape (kernel/float/attend_form.hpp), the layer which keys its
// queries see; layers, the cache and `describe` use the choice. Forms affect speed, never bits.
#pragma once

#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::plan {

enum class attend_form {
  head_by_head,        // heads in sequence: queries in the lanes (kernel/float/attend.hpp)
  heads_in_lanes,      // several heads share a vector, queries in its lanes
                       // (kernel/float/attend_heads.hpp)
  heads_in_pairs,      // two heads at a time, queries in the lanes (kernel/float/attend_pairs.hpp)
  keys_in_lanes,       // the one query of each head, several heads at a time
                       // (kernel/float/attend_each.hpp)
  last_query_by_keys,  // head_by_head, except a last query that would occupy a vector alone
};

// The keys that queries see, if scores are only scaled and all heads see the same ones.
enum class seen_keys {
  all,
  first,  // up to a run-time length
  run,    // from one key to another
  any,    // depends on a mask or the head, or scores change
};

// Can the kernel of a form compute these heads?
struct attend_forms {
  bool heads_in_lanes, heads_in_pairs, keys_in_lanes, last_query_by_keys;
};

constexpr attend_form choose_attend(attend_forms can, seen_keys seen) noexcept {
  if (seen == seen_keys::any) return attend_form::head_by_head;
  if (seen == seen_keys::run)
    return can.keys_in_lanes ? attend_form::keys_in_lanes : attend_form::head_by_head;
  if (can.heads_in_lanes) return attend_form::heads_in_lanes;
  if (can.keys_in_lanes) return attend_form::keys_in_lanes;
  if (can.heads_in_pairs && seen == seen_keys::all) return attend_form::heads_in_pairs;
  if (can.last_query_by_keys) return attend_form::last_query_by_keys;
  return attend_form::head_by_head;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::plan
UMBEL_WARNINGS_POP
