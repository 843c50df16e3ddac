// SPDX-License-Identifier: BSL-1.0
// Executors (layer/executor.hpp) to test with, besides the pool of the examples. Not here: any
// test.
#pragma once

#include <cstddef>
#include <cstdint>

namespace umbel_test {

// One thread that runs the pieces in an order of its own and claims to be another worker each time.
// Most: pieces.
template <std::size_t Workers, std::size_t Most = 256>
struct shuffled {
  static constexpr std::size_t workers = Workers;
  static constexpr std::size_t most = Most;
  std::uint32_t state = 1;
  std::size_t pieces = 0;  // so far
  std::size_t order[most] = {};

  template <class Piece>
  void operator()(std::size_t count, const Piece& piece) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = below(i + 1);
      order[i] = order[at];
      order[at] = i;
    }
    for (std::size_t i = 0; i < count; ++i) piece(order[i], below(Workers));
    pieces += count;
  }

 private:
  std::size_t below(std::size_t limit) noexcept {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
  }
};

}  // namespace umbel_test
