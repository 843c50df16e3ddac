// SPDX-License-Identifier: BSL-1.0
// From reset to main and back, for every Cortex-M and for RISC-V (board.ld): FPU on, .bss zero, the
// stack painted; afterwards how deep it was, and main's exit code. A fault ends with exit code 70.
#include <cstddef>
#include <cstdint>

#include "semihosting.hpp"

int main();

// The loop of a memcpy stays one.
#if defined(__clang__)
#define LOOP_IS_NO_CALL __attribute__((no_builtin))
#else
#define LOOP_IS_NO_CALL __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

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

// The compiler may call these even where there is no library (-ffreestanding).
[[gnu::used]] LOOP_IS_NO_CALL void* memcpy(void* to, const void* from, std::size_t bytes) {
  auto* t = static_cast<unsigned char*>(to);
  const auto* f = static_cast<const unsigned char*>(from);
  for (; bytes != 0; --bytes) *t++ = *f++;
  return to;
}
[[gnu::used]] LOOP_IS_NO_CALL void* memset(void* to, int value, std::size_t bytes) {
  auto* t = static_cast<unsigned char*>(to);
  for (; bytes != 0; --bytes) *t++ = static_cast<unsigned char>(value);
  return to;
}

#if defined(__arm__) && defined(__clang__)  // the names that clang calls them by
[[gnu::used, gnu::alias("memcpy")]] void* __aeabi_memcpy(void*, const void*, std::size_t);
[[gnu::used, gnu::alias("memcpy")]] void* __aeabi_memcpy4(void*, const void*, std::size_t);
[[gnu::used, gnu::alias("memcpy")]] void* __aeabi_memcpy8(void*, const void*, std::size_t);
[[gnu::used]] void __aeabi_memclr(void* to, std::size_t bytes) { memset(to, 0, bytes); }
[[gnu::used, gnu::alias("__aeabi_memclr")]] void __aeabi_memclr4(void*, std::size_t);
[[gnu::used, gnu::alias("__aeabi_memclr")]] void __aeabi_memclr8(void*, std::size_t);
#endif

[[noreturn, gnu::used]] void report_fault() {
  semihosting::print("Bail out! a fault: an access outside memory, or a stack that is too deep\n");
  semihosting::exit(70);
}

// In a fault the stack may be what is wrong: it begins anew.
#if defined(__riscv)
[[gnu::naked, gnu::aligned(4)]] void fault() {  // mtvec has no room for its last two bits
  __asm__ volatile("la sp, stack_top\n\tj report_fault");
}
// The processor begins here, without a stack.
[[gnu::naked, gnu::used, gnu::section(".vectors")]] void reset() {
  __asm__ volatile("la sp, stack_top\n\tj start");
}
[[gnu::always_inline]] static inline std::uint32_t* stack_pointer() {
  std::uint32_t* here;
  __asm__ volatile("mv %0, sp" : "=r"(here));
  return here;
}
static inline void prepare() {
  // Below the stack is what is only read and run: nothing faults there by itself (PMP, entry 0).
  __asm__ volatile(
      ".option push\n\t.option arch, +zicsr\n\t"
      "csrw mtvec, %0\n\tcsrw pmpaddr0, %1\n\tcsrw pmpcfg0, %2\n\tcsrs mstatus, %3\n\t"
      ".option pop"
      :
      : "r"(fault), "r"(reinterpret_cast<std::uintptr_t>(stack_bottom) >> 2), "r"(0x8du),
        "r"(0x2000u)  // FPU
      : "memory");
}
#else
[[gnu::naked]] void fault() {
  __asm__ volatile(
#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
      "movs r0, #0\n\tmsr msplim, r0\n\t"
#endif
      "ldr r0, =stack_top\n\tmov sp, r0\n\tldr r0, =report_fault\n\tbx r0\n\t.ltorg");
}
[[gnu::always_inline]] static inline std::uint32_t* stack_pointer() {
  std::uint32_t* here;
  __asm__ volatile("mov %0, sp" : "=r"(here));
  return here;
}
static inline void prepare() {
#if defined(__ARM_FP)  // coprocessors 10 and 11, the FPU and the vector unit
  *reinterpret_cast<volatile std::uint32_t*>(0xe000ed88u) |= 0xfu << 20;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
  __asm__ volatile("msr msplim, %0" ::"r"(stack_bottom));
#endif
}
#endif

[[noreturn, gnu::used]] void start() {
  prepare();
  for (std::uint32_t* word = bss_begin; word != bss_end; ++word) *word = 0;
  std::uint32_t* const here = stack_pointer();
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

#if !defined(__riscv)
// The addresses that a Cortex-M begins with: the stack's, then start, then the faults'.
using handler = void (*)();
struct vectors {
  std::uint32_t* stack;
  handler handlers[15];
};
extern "C" [[gnu::section(".vectors"), gnu::used]] constexpr vectors vector_table{
    stack_top,
    {start, fault, fault, fault, fault, fault, fault, nullptr, nullptr, nullptr, fault, fault,
     nullptr, fault, fault}};
#endif
