// SPDX-License-Identifier: BSL-1.0
// One head of attention with additive scores (Bahdanau, Cho, Bengio 2014) in SIMD: policies, taps
// and softmax as in attend.hpp; only the score tile differs (attend_block.hpp). The caller projects
// to the width of the scores.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/float/attend.hpp>
#include <umbel/kernel/plain/attend.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/kernel/tap.hpp>
#include <umbel/plan/plan.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// softmax(scores(w tanh(q + k))) v: see plain::attend_additive. scratch, tap: as for attend.
template <attend_shape S, class T, plan::target Target = plan::native_target, scores::policy Policy,
          tap_like Tap = no_tap>
UMBEL_INLINE void attend_additive(const T* q, const T* k, const T* w, const T* v,
                                  const Policy& policy, T* o, T* scratch, Tap tap = {}) noexcept {
  const detail::by_policy<Policy, Tap> how{policy, tap};
  const detail::additive_keys<T> keys{k, w, exp2_factor(T{1})};
  detail::attend_blocks<S, T, Target>(q, keys, v, T{1}, how, o, scratch);
}

// A tap of scores only: see plain::tap_additive_scores.
template <attend_shape S, class T, plan::target Target = plan::native_target, scores::policy Policy,
          score_tap Tap>
UMBEL_INLINE void tap_additive_scores(const T* q, const T* k, const T* w, const Policy& policy,
                                      T* scratch, Tap tap) noexcept {
  const detail::by_policy<Policy, Tap, true> how{policy, tap};
  const detail::additive_keys<T> keys{k, w, exp2_factor(T{1})};
  detail::attend_blocks<S, T, Target>(q, keys, q, T{1}, how, scratch, scratch);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
