// SPDX-License-Identifier: BSL-1.0
// 8-bit integer attention, defined by plain/integers.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/attend_few.hpp>
#include <umbel/kernel/integer/attend_scalar.hpp>
#include <umbel/kernel/integer/attend_vectors.hpp>
#include <umbel/kernel/integer/mve.hpp>
#include <umbel/kernel/plain/integers.hpp>
#include <umbel/kernel/scores.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Computes a head: queries in the lanes, or keys if there are too few queries.
#if UMBEL_DOT_VECTORS
template <integer_attend_shape S>
inline constexpr bool integer_attend_has_vectors =
    S.head_dim <= integer_attention::longest_query && S.weight_bits == 8;
template <integer_attend_shape S>
inline constexpr bool integer_attend_is_few = S.queries <= simd::dot_lanes / 4;
template <integer_attend_shape S>
struct integer_attend_scratch_of
    : std::conditional<!integer_attend_has_vectors<S>, scalar::attend_scratch<S>,
                       std::conditional_t<integer_attend_is_few<S>, integer_attend_few_scratch<S>,
                                          integer_attend_block_scratch<S>>> {};
#else
template <integer_attend_shape S>
struct integer_attend_scratch_of
    : std::conditional<S.weight_bits == 8, UMBEL_INTEGER_KERNELS::attend_scratch<S>,
                       scalar::attend_scratch<S>> {};
#endif

// Scratch of one head. (g++ 12 fails with an internal error on an alias with such a parameter.)
template <integer_attend_shape S>
struct integer_attend_scratch : integer_attend_scratch_of<S>::type {};

template <integer_attend_shape S, class Policy>
constexpr void integer_attend(const std::int8_t* q, const std::int8_t* k, const std::int8_t* v,
                              const integer_softmax& softmax, const Policy& policy, std::int8_t* o,
                              integer_attend_scratch<S>& work) noexcept {
  if (__builtin_is_constant_evaluated())
    return plain::integer_attend<S>(q, k, v, softmax, policy, o);
#if UMBEL_DOT_VECTORS
  if constexpr (!integer_attend_has_vectors<S>)
    scalar::integer_attend<S>(q, k, v, softmax, policy, o, work);
  else if constexpr (integer_attend_is_few<S>)
    integer_attend_one_by_one<S>(q, k, v, softmax, policy, o, work);
  else
    integer_attend_by_blocks<S>(q, k, v, softmax, policy, o, work);
#else
  if constexpr (S.weight_bits == 8)
    UMBEL_INTEGER_KERNELS::integer_attend<S>(q, k, v, softmax, policy, o, work);
  else
    scalar::integer_attend<S>(q, k, v, softmax, policy, o, work);
#endif
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
