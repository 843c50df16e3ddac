// SPDX-License-Identifier: BSL-1.0
// What a Cortex-M asks of the debugger or emulator that it runs under (Arm, "Semihosting for
// AArch32 and AArch64"): to print a text, to end with an exit code. No C library.
#pragma once

#include <cstdint>

namespace semihosting {

inline void ask(std::uintptr_t operation, const void* argument) noexcept {
  register std::uintptr_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

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
