// SPDX-License-Identifier: BSL-1.0
// What tools/bench mine measures: filled in by the program that program.py writes, read by
// measure.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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
