// SPDX-License-Identifier: BSL-1.0
// Weights that already exist (in flash, in a mapped file) are borrowed, not copied; or the compiler
// packs them for the kernels, into read-only memory. Scratch is a workspace whose size and place
// you know.
#include <array>
#include <cstdio>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct frames : umbel::axis<frames, N> {};  // your own axis: one line, no macro

using attention = multi_head_attention<float, hidden<32>, heads<4>, bias<true>>;
using signal = tensor<float, frames<24>, hidden<32>>;

// As an exporter writes them: arrays in (in, out) order.
template <std::size_t Count>
constexpr std::array<float, Count> table(unsigned state) {
  std::array<float, Count> out{};
  for (float& f : out) {
    state = state * 1664525u + 1013904223u;
    f = (static_cast<float>(state >> 8) * 0x1p-23f - 1.0f) / 4;
  }
  return out;
}
struct flash {
  float q[1024], k[1024], v[1024], o[1024], bias[32];
};
constexpr flash stored = [] {
  flash f{};
  const auto numbers = table<4096 + 32>(7);
  for (std::size_t i = 0; i < 1024; ++i) {
    f.q[i] = numbers[i];
    f.k[i] = numbers[1024 + i];
    f.v[i] = numbers[2048 + i];
    f.o[i] = numbers[3072 + i];
  }
  for (std::size_t i = 0; i < 32; ++i) f.bias[i] = numbers[4096 + i];
  return f;
}();

// An array of a different length does not compile: "memory: [hidden=32, hidden=32] wants 1024
// elements but the memory holds 1000".
constexpr attention::weights_view borrowed{
    {view_as<in_features, out_features>(stored.q), stored.bias},
    {view_as<in_features, out_features>(stored.k), stored.bias},
    {view_as<in_features, out_features>(stored.v), stored.bias},
    {view_as<in_features, out_features>(stored.o), stored.bias}};
constexpr prepacked<attention> packed{borrowed};  // in .rodata

static attention::workspace<frames<24>> work;
static_assert(sizeof(work) < 32 * 1024);  // a constant: budget it

int main() {
  static signal x;
  for (std::size_t i = 0; i < signal::layout::count; ++i)
    x.data()[i] = static_cast<float>(i % 13) / 13;

  const signal natural = attention{borrowed}(x, all_keys, work);
  static signal fast;
  packed.into(fast, x, all_keys, work);  // straight into your memory
  std::printf("workspace %zu bytes, packed weights %zu bytes, same bits: %s\n", sizeof(work),
              sizeof(packed), natural == fast ? "yes" : "no");
  return natural == fast ? 0 : 1;
}
