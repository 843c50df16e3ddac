// SPDX-License-Identifier: BSL-1.0
// What integers.cpp and integer_masks.cpp share: numbers that are drawn, the hash of all results,
// and attention in integers beside its definition.
#pragma once

#include <umbel/quantized.hpp>

#include "../bits/drawing.hpp"
#include "check.hpp"
#include "draw.hpp"

using namespace umbel;
using namespace umbel::axes;
namespace kernel = umbel::detail::kernel;
namespace plain = umbel::detail::kernel::plain;
using embedded::check;

namespace {

struct drawing : integers_test::drawing {
  template <class T>
  void fill(T* to, std::size_t count, std::int32_t low, std::int32_t high) noexcept {
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(between(low, high));
  }
  // Floats that every target has exactly.
  template <class Tensor>
  constexpr void weights(Tensor& to, float middle = 0) noexcept {
    for (float& w : to) w = middle + static_cast<float>(between(-127, 127)) * 0x1p-9F;
  }
};

drawing draw;
embedded::hash* bits;  // of main's

template <class Numbers>
void add(const Numbers& numbers) noexcept {
  for (const auto number : numbers) bits->add(static_cast<float>(number));
}
template <class T, std::size_t N>
bool same(const T (&a)[N], const T (&b)[N]) noexcept {
  for (std::size_t i = 0; i < N; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

template <std::size_t Queries, std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim,
          int WeightBits = 8, class Policy>
bool attend_is_plain(const Policy& policy) noexcept {
  constexpr bool transposed = umbel::detail::simd::dot_lanes == 1 && Queries >= 3;
  constexpr std::size_t padded = kernel::in_words(Keys);
  constexpr kernel::integer_attend_shape shape = {Queries,
                                                  Keys,
                                                  HeadDim,
                                                  ValueDim,
                                                  HeadDim + 4,
                                                  HeadDim,
                                                  transposed ? 1 : ValueDim,
                                                  ValueDim + 1,
                                                  transposed ? padded : 1,
                                                  WeightBits};
  alignas(64) static std::int8_t q[Queries * (HeadDim + 4)], k[Keys * HeadDim],
      v[padded * ValueDim];
  static std::int8_t fast[Queries * (ValueDim + 1)], defined[Queries * (ValueDim + 1)];
  static kernel::integer_attend_scratch<shape> work;
  draw.fill(q, sizeof q, -127, 127), draw.fill(k, sizeof k, -127, 127);
  for (std::int8_t& one : v) one = 77;  // also where there is no key
  for (std::size_t j = 0; j < Keys; ++j)
    for (std::size_t d = 0; d < ValueDim; ++d)
      v[j * shape.v_row + d * shape.v_dim] = static_cast<std::int8_t>(draw.between(-127, 127));
  // Steep and flat.
  for (const kernel::integer_softmax softmax :
       {kernel::integer_softmax{700, 40000, 12}, kernel::integer_softmax{60000, 30000, 18}}) {
    kernel::integer_attend<shape>(q, k, v, softmax, policy, fast, work);
    plain::integer_attend<shape>(q, k, v, softmax, policy, defined);
    if (!same(fast, defined)) return false;
    add(defined);
  }
  return true;
}
// Masks, a bit each.
enum : unsigned {
  every_key = 1,
  lengths = 2,
  causal_mask = 4,
  window = 8,
  both = 16,
  all_masks = 31
};

template <std::size_t Queries, std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim,
          unsigned Masks>
bool attends_are_plain() noexcept {
  namespace scores = kernel::scores;
  static constexpr int counts[] = {0, 3, Keys, 1, Keys - 1, 0, 2, Keys, 5, 1, 7, 0, 4};
  static_assert(Queries <= sizeof counts / sizeof counts[0]);
  const scores::lengths<int> of_queries(counts, 1);
  const auto is_plain = [](const auto& policy) {
    return attend_is_plain<Queries, Keys, HeadDim, ValueDim>(policy);
  };
  if constexpr ((Masks & every_key) != 0)
    if (!is_plain(scores::every_key{})) return false;
  if constexpr ((Masks & lengths) != 0)
    if (!is_plain(of_queries)) return false;
  if constexpr ((Masks & causal_mask) != 0)
    if (!is_plain(scores::causal{-2})) return false;
  if constexpr ((Masks & window) != 0)
    if (!is_plain(scores::window{2, 1, 3})) return false;
  if constexpr ((Masks & both) != 0)
    if (!is_plain(scores::all_of(scores::window{4, 0, 0}, of_queries))) return false;
  return true;
}

// Every mask and every shape is in integers.cpp; where they did not meet there, they do in
// integer_masks.cpp, which asks for the Others.
template <unsigned Others = 0>
bool masked_attends_are_plain() noexcept {
  return attends_are_plain<1, 9, 4, 8, Others ^ (lengths | window)>() &&
         attends_are_plain<2, 6, 8, 4, Others ^ (every_key | both)>() &&
         attends_are_plain<3, 7, 4, 4, Others ^ (lengths | causal_mask)>() &&
         attends_are_plain<9, 13, 8, 4, Others ^ (window | both)>() &&
         attends_are_plain<13, 18, 12, 20, Others ^ (every_key | causal_mask)>();
}

// The end of main: one hash for all targets.
int finish(const char* what, std::uint32_t golden) noexcept {
  const std::uint32_t found = bits->value();
  check(what, found == golden);
  if (found != golden) {
    embedded::print("# ");
    embedded::print(what);
    embedded::print(": 0x");
    embedded::print(found, 16);
    embedded::print("\n");
  }
  return embedded::finish();
}

}  // namespace
