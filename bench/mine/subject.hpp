// SPDX-License-Identifier: BSL-1.0
// What tools/bench mine measures: filled in by the program that program.py writes, read by
// measure.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <umbel/attention/rope.hpp>
#include <vector>

namespace mine {

struct range {
  const void* first;
  std::size_t bytes;
};

struct subject {
  void (*call)();
  double flops = 0;                // of a call; 0: not counted
  std::size_t workspace = 0;       // bytes
  std::vector<range> inputs = {};  // weights and arguments; none: nobody knows
  std::vector<range> others = {};  // what else a call touches
  std::string plan = {};           // a page to read
  std::string layer = {};  // of a layer that the race has, too: BATCH,QUERIES,KEYS,HIDDEN,HEADS
};
subject get();

// Is it a layer as the others in the race have it?
template <class Layer>
constexpr bool is_in_the_race() {
  constexpr auto& s = Layer::sizes;
  return std::is_same_v<typename Layer::value_type, float> &&
         std::is_same_v<typename Layer::rope_option, umbel::detail::no_rope> &&
         s.heads == s.kv_heads && s.heads * s.head_dim == s.hidden && s.value_dim == s.head_dim &&
         s.key_hidden == s.hidden && s.value_hidden == s.hidden && s.output == s.hidden;
}

template <class X>
range range_of(const X& x) {
  return {&x, sizeof x};
}

// Numbers of T in [-0.5, 0.5) over all of x, always the same.
template <class T, class X>
void fill(X& x) {
  auto* const numbers = reinterpret_cast<T*>(&x);
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < sizeof(X) / sizeof(T); ++i) {
    state = state * 1664525u + 1013904223u;
    numbers[i] = static_cast<T>(static_cast<double>(state >> 8) * 0x1p-24 - 0.5);
  }
}

}  // namespace mine
