// SPDX-License-Identifier: BSL-1.0
// Five blocks of published models, each a list of parts in a header of this folder (reference.py
// has them in PyTorch), and what every such list can do: a whole pass, the same step by step with a
// cache, several layers as one.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "conformer.hpp"
#include "parallel.hpp"
#include "sandwich.hpp"
#include "scaled.hpp"
#include "star_relu.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

using tokens = tensor<float, token<16>, hidden<32>>;
using one = tensor<float, token<1>, hidden<32>>;

// Two such layers on 16 positions: at once, and one position after the other.
template <class Block>
bool show(const char* name) {
  using model = layer_stack<Block, 2>;
  static typename model::weights w;
  float* const numbers = reinterpret_cast<float*>(&w);
  for (std::size_t i = 0; i < sizeof w / sizeof(float); ++i)
    numbers[i] = 0.25f * std::sin(static_cast<float>(i * i % 1009));
  static tokens x;
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = std::cos(static_cast<float>(i * i % 997));
  const model layers{w};
  const tokens y = layers(x, causal);

  static key_value_cache<model, key<16>> past;
  bool same = true;
  for (std::size_t i = 0; i < 16; ++i) {
    one next{};
    std::memcpy(next.data(), x.data() + 32 * i, sizeof next);
    same = past.step(next, layers, next) && same;
    same = same && std::memcmp(next.data(), y.data() + 32 * i, sizeof next) == 0;
  }
  std::printf("%-10s %6zu numbers a layer, %5zu bytes of scratch, steps are the pass: %s\n", name,
              sizeof w / sizeof(float) / 2, sizeof(typename model::template workspace<token<16>>),
              same ? "yes" : "no");
  return same;
}

}  // namespace

int main() {
  const bool all[] = {
      show<example::parallel_block<float>>("parallel"),
      show<example::sandwich_block<float>>("sandwich"),
      show<example::scaled_block<float>>("scaled"),
      show<example::conformer_block<float>>("Conformer"),
      show<example::star_relu_block<float>>("StarReLU"),
  };
  for (const bool same : all)
    if (!same) return 1;
}
