// SPDX-License-Identifier: BSL-1.0
// Prints the bits of a layer, a step of its cache and a formula, to compare with another system's.
#include <cstdint>
#include <cstdio>
#include <umbel/bare.hpp>

using namespace umbel;
using namespace umbel::axes;

namespace {
using block = encoder_layer<float, hidden<64>, heads<4>, intermediate<128>, norm_first<true>,
                            activation<gelu_tanh>, bias<true>>;
using tokens = tensor<float, token<24>, hidden<64>>;
using next_token = tensor<float, token<1>, hidden<64>>;

std::uint32_t state = 1;
template <class X>
void draw(X& all) {
  auto* const x = reinterpret_cast<float*>(&all);
  for (std::size_t i = 0; i < sizeof all / sizeof *x; ++i) {
    state = state * 1664525U + 1013904223U;
    x[i] = static_cast<float>(state >> 8) * 0x1p-24F - 0.5F;
  }
}
void print(const char* name, const float* x, std::size_t count) {
  std::uint32_t hash = 2166136261U;
  for (std::size_t i = 0; i < count; ++i)
    hash = (hash ^ __builtin_bit_cast(std::uint32_t, x[i])) * 16777619U;
  std::printf("%s %08x\n", name, static_cast<unsigned>(hash));
}

block::weights w;
tokens x;
key_value_cache<block, key<32>> past;
constexpr formula nearby = [](auto q) {
  const auto scores = contract<hidden>(q | rename_axis<token, query>, q | rename_axis<token, key>);
  return contract<key>(softmax<key>(hide(scores, position<key> > position<query>)),
                       q | rename_axis<token, key>);
};
}  // namespace

int main() {
  draw(w);
  draw(x);
  const tokens y = block{w}(x, causal);
  print("block", y.data(), tokens::size());
  next_token out, in;
  for (std::size_t i = 0; i < 64; ++i) in(0, i) = x(0, i);
  if (!past.step(out, block{w}, in)) return 1;
  print("step", out.data(), 64);
  const auto z = nearby(x);
  print("formula", z.data(), tokens::size());
}
