// SPDX-License-Identifier: BSL-1.0
// Turns of rotary positions that a constructor computes: after it they are right; before it a call
// stops the program (check.py) and reads no zeros. With CASE_before, what the dynamic linker calls
// before every constructor.
#include <umbel/bare.hpp>

#include <cstdio>

using namespace umbel;
using namespace umbel::axes;

static float cosine(std::size_t position) {
  return rope_cosines<split_halves, token<4096>, hidden<128>>()(position, 63u);
}

#if defined CASE_before
static void early(int, char**, char**) { std::printf("%d\n", cosine(0) == 1.0f); }
[[gnu::section(".preinit_array"), gnu::used]] static void (*const first)(int, char**,
                                                                         char**) = early;
#endif

int main() { std::printf("%d\n", cosine(0) == 1.0f && cosine(4095) < 1.0f); }
