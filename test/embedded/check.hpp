// SPDX-License-Identifier: BSL-1.0
// What the programs of this folder say, on every target: a line a check (Test Anything Protocol),
// at the end their number. A result is checked by a hash of its bits, bits.hpp.
#pragma once

#include <umbel/bare.hpp>

#include <cstdint>
#include <umbel/inspect/call_footprint.hpp>

#include "bits.hpp"

#if defined(EMBEDDED_BARE_METAL)
#include "../bare/semihosting.hpp"
#else
#include <cstdio>
#endif

// Before the function `forward`: its instructions are counted, and the bytes of what it calls and
// refers to (costs.py), so it stays a function.
#define MEASURED extern "C" [[gnu::noinline, gnu::used]]

namespace embedded {

inline void print(const char* text) noexcept {
#if defined(EMBEDDED_BARE_METAL)
  semihosting::print(text);
#else
  std::fputs(text, stdout);
#endif
}
inline void print(std::uint32_t number, std::uint32_t base = 10) noexcept {
  char text[11];
  char* first = text + 10;
  *first = 0;
  do {
    *--first = "0123456789abcdef"[number % base];
  } while ((number /= base) != 0);
  print(first);
}

inline std::uint32_t checks = 0, failures = 0;

inline void check(const char* what, bool passed) noexcept {
  if (++checks == 1) print("TAP version 13\n");
  if (!passed) ++failures;
  print(passed ? "ok " : "not ok ");
  print(checks);
  print(" - ");
  print(what);
  print("\n");
}

// FNV-1a of 32 bits over the bits of floats, low byte first whatever the byte order. Every NaN
// counts as one: its sign and its payload are nobody's business (docs/numerics.md).
class hash {
 public:
  void add(float number) noexcept {
    std::uint32_t bits = number != number ? 0x7fc00000u : __builtin_bit_cast(std::uint32_t, number);
    for (int byte = 0; byte < 4; ++byte, bits >>= 8) {
      value_ = (value_ ^ (bits & 0xff)) * 0x01000193u;
    }
  }
  template <class Numbers>
  void add_all(const Numbers& numbers) noexcept {
    for (const float number : numbers) add(number);
  }
  std::uint32_t value() const noexcept { return value_; }

 private:
  std::uint32_t value_ = 0x811c9dc5u;
};

inline bool same_text(const char* a, const char* b) noexcept {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

// Are these the bits of the target's set in bits.hpp?
inline void check_bits(const char* what, std::uint32_t found) noexcept {
  bool same = false;
  for (const auto& golden : golden_bits)
    if (same_text(golden.what, what)) same = found == (UMBEL_FMA ? golden.fused : golden.not_fused);
  check(what, same);
  if (same) return;
  print("# ");
  print(what);
  print(UMBEL_FMA ? ", fused: 0x" : ", not fused: 0x");
  print(found, 16);
  print("\n");
}
template <class Numbers>
  requires requires(const Numbers& numbers) { numbers.begin(); }
void check_bits(const char* what, const Numbers& numbers) noexcept {
  hash bits;
  bits.add_all(numbers);
  check_bits(what, bits.value());
}

// What a model's footprint says, which bounds.py compares with what the linker gave these objects,
// named as nm -C does, but for the target's namespace and template arguments.
inline void print_footprint(const umbel::call_footprint& needs, const char* objects) noexcept {
  print("# footprint ");
  print(static_cast<std::uint32_t>(needs.weights + needs.tables));
  print(" of flash, ");
  print(static_cast<std::uint32_t>(needs.ram));
  print(" of RAM: ");
  print(objects);
  print("\n");
}

// How many of them one call of `forward` needs, for costs.py.
inline void multiply_accumulates(std::uint32_t count) noexcept {
  print("# multiply-accumulates ");
  print(count);
  print("\n");
}

// Forward with inputs that are zero, subnormal, so far apart that all but one weight of a softmax
// vanish, so large that sums overflow, infinite of both signs, and NaN: its cost is the same.
template <void Forward(), class... Inputs>
void forward_of_other_data(Inputs&... inputs) noexcept {
  const auto call = [&](float first, float factor, float step = 0) {
    const auto fill = [&](auto& input) {
      float number = first;
      for (float& element : input) element = number = number * factor + step;
    };
    (fill(inputs), ...);
    Forward();
    __asm__ volatile("");  // so that it is a call and no jump: count.c
  };
  call(0, 1);
  call(1e-40F, 1);
  call(-1e4F, 1, 100);
  call(1e30F, -1);
  call(__builtin_inff(), -1);
  call(__builtin_nanf(""), 1);
}

// The end of main.
inline int finish() noexcept {
  print("1..");
  print(checks);
  print("\n");
  return failures == 0 && checks != 0 ? 0 : 1;
}

}  // namespace embedded
