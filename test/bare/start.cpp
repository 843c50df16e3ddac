// SPDX-License-Identifier: BSL-1.0
// From reset to main and back, for every Cortex-M (board.ld): FPU on, .bss zero, the stack painted;
// afterwards how deep it was, and main's exit code. A fault ends with exit code 70.
#include <cstddef>
#include <cstdint>

#include "semihosting.hpp"

int main();

namespace {
constexpr std::uint32_t paint = 0xc5c5c5c5u;

void print_number(std::uint32_t number) noexcept {
  char text[11];
  char* first = text + 10;
  *first = 0;
  do {
    *--first = static_cast<char>('0' + number % 10);
  } while ((number /= 10) != 0);
  semihosting::print(first);
}
}  // namespace

extern "C" {
extern std::uint32_t stack_bottom[], stack_top[], bss_begin[], bss_end[];

// The compiler may call these even where there is no library (-ffreestanding). g++ would make a
// call of a loop, in the function that is called, too.
#if defined(__clang__)
#define EMBEDDED_AS_LOOP [[gnu::used]]
#else
#define EMBEDDED_AS_LOOP [[gnu::used, gnu::optimize("no-tree-loop-distribute-patterns")]]
#endif
EMBEDDED_AS_LOOP void* memcpy(void* to, const void* from, std::size_t bytes) {
  auto* t = static_cast<unsigned char*>(to);
  const auto* f = static_cast<const unsigned char*>(from);
  for (; bytes != 0; --bytes) *t++ = *f++;
  return to;
}
EMBEDDED_AS_LOOP void* memset(void* to, int value, std::size_t bytes) {
  auto* t = static_cast<unsigned char*>(to);
  for (; bytes != 0; --bytes) *t++ = static_cast<unsigned char>(value);
  return to;
}
// clang's names for them (Arm's run-time ABI), with what it knows of the addresses.
#if defined(__clang__)
[[gnu::used]] void __aeabi_memcpy(void* to, const void* from, std::size_t bytes) {
  memcpy(to, from, bytes);
}
[[gnu::used]] void __aeabi_memclr(void* to, std::size_t bytes) { memset(to, 0, bytes); }
[[gnu::alias("__aeabi_memcpy")]] void __aeabi_memcpy4(void*, const void*, std::size_t);
[[gnu::alias("__aeabi_memcpy")]] void __aeabi_memcpy8(void*, const void*, std::size_t);
[[gnu::alias("__aeabi_memclr")]] void __aeabi_memclr4(void*, std::size_t);
[[gnu::alias("__aeabi_memclr")]] void __aeabi_memclr8(void*, std::size_t);
#endif

[[noreturn, gnu::used]] void report_fault() {
  semihosting::print("Bail out! a fault: an access outside memory, or a stack that is too deep\n");
  semihosting::exit(70);
}

// The stack may be what is wrong: it begins anew.
[[gnu::naked]] void fault() {
  __asm__ volatile(
#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
      "movs r0, #0\n\tmsr msplim, r0\n\t"
#endif
      "ldr r0, =stack_top\n\tmov sp, r0\n\tldr r0, =report_fault\n\tbx r0\n\t.ltorg");
}

[[noreturn]] void start() {
#if defined(__ARM_FP)  // coprocessors 10 and 11, the FPU and the vector unit
  *reinterpret_cast<volatile std::uint32_t*>(0xe000ed88u) |= 0xfu << 20;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
  __asm__ volatile("msr msplim, %0" ::"r"(stack_bottom));
#endif
  for (std::uint32_t* word = bss_begin; word != bss_end; ++word) *word = 0;
  std::uint32_t* here;
  __asm__ volatile("mov %0, sp" : "=r"(here));
  for (std::uint32_t* word = stack_bottom; word < here; ++word) *word = paint;
  const int code = main();
  const std::uint32_t* deepest = stack_bottom;
  while (deepest != here && *deepest == paint) ++deepest;
  if (deepest == stack_bottom) report_fault();  // where what lies below RAM can be written, too
  semihosting::print("# stack ");
  print_number(static_cast<std::uint32_t>((here - deepest) * 4));
  semihosting::print("\n");
  semihosting::exit(code);
}
}

// The addresses that the processor begins with: the stack's, then start, then the faults'.
using handler = void (*)();
struct vectors {
  std::uint32_t* stack;
  handler handlers[15];
};
extern "C" [[gnu::section(".vectors"), gnu::used]] constexpr vectors vector_table{
    stack_top,
    {start, fault, fault, fault, fault, fault, fault, nullptr, nullptr, nullptr, fault, fault,
     nullptr, fault, fault}};
