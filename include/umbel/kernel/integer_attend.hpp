// SPDX-License-Identifier: BSL-1.0
// Attention of 8-bit integers, as plain_integers.hpp defines it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/integer_attend_scalar.hpp>
#include <umbel/kernel/plain_integers.hpp>
#include <umbel/kernel/scores.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Scratch of one head. (g++ 12 stops with an internal error at an alias of such a parameter.)
template <integer_attend_shape S>
struct integer_attend_scratch : scalar::attend_scratch<S> {};

template <integer_attend_shape S, class Policy>
constexpr void integer_attend(const std::int8_t* q, const std::int8_t* k, const std::int8_t* v,
                              const integer_softmax& softmax, const Policy& policy, std::int8_t* o,
                              integer_attend_scratch<S>& work) noexcept {
  if (std::is_constant_evaluated())
    plain::integer_attend<S>(q, k, v, softmax, policy, o);
  else
    scalar::integer_attend<S>(q, k, v, softmax, policy, o, work);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
