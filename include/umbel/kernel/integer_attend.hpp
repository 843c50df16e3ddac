// SPDX-License-Identifier: BSL-1.0
// Attention of 8-bit integers, as plain_integers.hpp defines it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/plain_integers.hpp>
#include <umbel/kernel/scores.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Scratch of one head: the scores of a query, which become its weights.
template <integer_attend_shape S>
struct integer_attend_scratch {
  std::int32_t scores[S.keys];
};

template <integer_attend_shape S, class Policy>
constexpr void integer_attend(const std::int8_t* q, const std::int8_t* k, const std::int8_t* v,
                              const integer_softmax& softmax, const Policy& policy,
                              std::int8_t* o, integer_attend_scratch<S>& work) noexcept {
  if (std::is_constant_evaluated()) {
    plain::integer_attend<S>(q, k, v, softmax, policy, o);
    return;
  }
  for (std::size_t i = 0; i < S.queries; ++i) {
    const auto over = policy.template over<float>(i, 1);
    const scores::key_range range = policy.range(i, 1, S.keys);
    std::int32_t largest = INT32_MIN;
    for (std::size_t j = range.begin; j < range.end; ++j) {
      std::int32_t sum = 0;
      for (std::size_t d = 0; d < S.head_dim; ++d)
        sum += std::int32_t{q[i * S.q_row + d]} * k[j * S.k_row + d];
      work.scores[j] = over.sees(j) ? sum : INT32_MIN;
      if (work.scores[j] > largest) largest = work.scores[j];
    }
    std::int32_t sum = 0;
    for (std::size_t j = range.begin; j < range.end; ++j) {
      std::int32_t& s = work.scores[j];
      s = s == INT32_MIN ? 0 : plain::weight_at(largest - s, softmax);
      sum += s;
    }
    const plain::average mean = plain::average_over(sum == 0 ? 127 : sum);
    for (std::size_t d = 0; d < S.value_dim; ++d) {
      std::int32_t context = 0;
      for (std::size_t j = range.begin; j < range.end; ++j)
        context += work.scores[j] * v[j * S.v_row + d];
      o[i * S.o_row + d] = plain::averaged(context, mean);
    }
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
