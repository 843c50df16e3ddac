// SPDX-License-Identifier: BSL-1.0
// stored_as<bfloat16>, stored_as<float16>, stored_as<std::int8_t>: the option of prepacked
// (prepacked.hpp) and key_value_cache (cache.hpp) to store a float layer's numbers in 16 or 8 bits.
#pragma once

#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/simd/half.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace option {
struct stored_as;
}  // namespace option
}  // namespace detail

// Option of prepacked and key_value_cache: the type that numbers are stored as. Stored: bfloat16,
// float16, std::int8_t (with one scale for the weights of an output, or for one head of a
// position), or the element type of the layer, which changes nothing.
template <class Stored>
struct stored_as {
  using kind = detail::option::stored_as;
  using type = Stored;
};
namespace detail {
namespace say {
struct prepacked;
}  // namespace say

namespace rules {
// Operation: its name in sentences. T: the element type of the layer.
template <class Operation, class T, class Stored>
using stored =
    verdict<std::is_same_v<Stored, T> ||
                (std::is_same_v<T, float> && (half<Stored> || std::is_same_v<Stored, std::int8_t>)),
            Operation, struct a_layer_of, element<T>, struct cannot_be_stored_as, element<Stored>>;
}  // namespace rules
}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
