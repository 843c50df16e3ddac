// SPDX-License-Identifier: BSL-1.0
// What a Cortex-M or a RISC-V core asks of the debugger or emulator that it runs under (Arm,
// "Semihosting for AArch32 and AArch64"; RISC-V has the same operations): to print a text, to end
// with an exit code. No C library.
#pragma once

#include <cstdint>

namespace semihosting {

#if defined(__riscv)
// What asks is the three instructions, none of them compressed, on one page.
[[gnu::noinline, gnu::aligned(16)]] inline void ask(std::uintptr_t operation,
                                                    const void* argument) noexcept {
  register std::uintptr_t a0 __asm__("a0") = operation;
  register const void* a1 __asm__("a1") = argument;
  __asm__ volatile(
      ".option push\n\t.option norvc\n\t.balign 16\n\t"
      "slli x0, x0, 0x1f\n\tebreak\n\tsrai x0, x0, 7\n\t.option pop"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
}
#else
inline void ask(std::uintptr_t operation, const void* argument) noexcept {
  register std::uintptr_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}
#endif

inline void print(const char* text) noexcept {
  constexpr std::uintptr_t write0 = 0x04;
  ask(write0, text);
}

[[noreturn]] inline void exit(int code) noexcept {
  constexpr std::uintptr_t exit_extended = 0x20, application_exit = 0x20026;
  const std::uintptr_t block[2] = {application_exit, static_cast<std::uintptr_t>(code)};
  ask(exit_extended, block);
  for (;;) {
  }
}

}  // namespace semihosting
