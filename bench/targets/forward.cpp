// SPDX-License-Identifier: BSL-1.0
// One layer called once, for run.py to count its instructions. Prints a hash of the result, which
// is the same on every target with fma.
//
//   -DUMBEL_LAYER=batch,queries,keys,hidden,heads
#include <umbel/umbel.hpp>

#include <array>
#include <cstdint>
#include <cstdio>

namespace {

using namespace umbel;
using namespace umbel::axes;

constexpr std::array<std::size_t, 5> sizes{UMBEL_LAYER};
using attention = multi_head_attention<float, hidden<sizes[3]>, heads<sizes[4]>, umbel::bias<true>>;

tensor<float, batch<sizes[0]>, query<sizes[1]>, hidden<sizes[3]>> x, y;
tensor<float, batch<sizes[0]>, key<sizes[2]>, hidden<sizes[3]>> z;
attention::weights w;
attention::workspace<query<sizes[1]>, key<sizes[2]>> work;

template <class Array>
void fill(Array& array, float scale) {
  static std::uint32_t state = 1;
  for (float& value : array) {
    state = state * 1664525u + 1013904223u;
    value = (static_cast<float>(state >> 8) * 0x1p-23f - 1.0f) * scale;
  }
}

prepacked<attention> attend;

}  // namespace

extern "C" [[gnu::noinline]] void forward() { attend.into(y, x, z, z, all_keys, work); }

int main() {
  fill(x, 1);
  fill(z, 1);
  for (auto* map : {&w.q, &w.k, &w.v, &w.o}) {
    fill(map->weight, 0.1f);
    fill(map->bias, 0.1f);
  }
  attend = prepacked<attention>{w};
  forward();
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const float value : y) {
    std::uint32_t bits;
    static_assert(sizeof bits == sizeof value);
    __builtin_memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3u;
  }
  std::printf("hash %016llx\n", static_cast<unsigned long long>(hash));
  return 0;
}
