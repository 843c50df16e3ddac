// SPDX-License-Identifier: BSL-1.0
// A whole firmware: self-attention over the last 8 readings of a 16-channel sensor, weights in
// flash, every byte of RAM known to the compiler. Prints the last row of the result and the time.
#include <umbel/bare.hpp>
#include <umbel/inspect/footprint.hpp>

#include "board.hpp"

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<16>, heads<2>>;
using readings = tensor<float, token<8>, hidden<16>>;

// Numbers in [-1, 1), the same everywhere. Yours come from a trained model: tools/export.
template <class Numbers>
constexpr void draw(Numbers& to, std::uint32_t state) {
  for (float& number : to) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<float>(state >> 8) * 0x1p-23f - 1;
  }
}
constexpr attention::weights trained = [] {
  attention::weights w{};
  draw(w.q.weight, 1), draw(w.k.weight, 2), draw(w.v.weight, 3), draw(w.o.weight, 4);
  return w;
}();
constexpr prepacked<attention> attend{trained};  // packed by the compiler, so in flash

static constinit readings x{};
static constinit attention::workspace<token<8>> work{};
static_assert(footprint<prepacked<attention>, token<8>>.ram <= 4 * 1024);

int main() {
  draw(x, 5);
  const unsigned start = ticks();
  attend.into(x, x, causal, work);
  const unsigned took = ticks() - start;
  print("attention of reading 8, in thousandths:");
  for (std::size_t channel = 0; channel != 16; ++channel) {
    print(" ");
    print(static_cast<int>(x(7, channel) * 1000));
  }
  print("\nticks: ");
  print(static_cast<int>(took));
  print("\n");
  return 0;
}
