// SPDX-License-Identifier: BSL-1.0
// From reset to main, and printing, for any Cortex-M: needs only memcpy and memset from a library.
#include "board.hpp"

#include <cstdint>

int main();

// ---- printing: Arm's semihosting ----------------------------------------------------------------
static void ask(int operation, const void* argument) {
  register int r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void print(const char* text) { ask(0x04, text); }

void print(int number) {
  char text[12];
  char* first = text + 11;
  unsigned digits = number < 0 ? 0u - static_cast<unsigned>(number) : static_cast<unsigned>(number);
  *first = 0;
  do {
    *--first = static_cast<char>('0' + digits % 10);
  } while ((digits /= 10) != 0);
  if (number < 0) *--first = '-';
  print(first);
}

[[noreturn]] static void end(int code) {
  const std::uint32_t block[2] = {0x20026, static_cast<std::uint32_t>(code)};
  ask(0x20, block);  // QEMU ends with this exit code
  for (;;) {
  }
}

// ---- time: the SysTick timer, which counts down from 2^24 - 1 -----------------------------------
static volatile std::uint32_t* const systick = reinterpret_cast<std::uint32_t*>(0xe000e010u);

unsigned ticks() { return 0xffffffu - systick[2]; }

// ---- memory: board.ld has the symbols
// ------------------------------------------------------------
extern "C" std::uint32_t stack_bottom[], stack_top[], bss_begin[], bss_end[];
static constexpr std::uint32_t mark = 0xc5c5c5c5u;

static unsigned bytes(const std::uint32_t* begin, const std::uint32_t* end) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(end) -
                               reinterpret_cast<std::uintptr_t>(begin));
}
unsigned variables() { return bytes(bss_begin, bss_end); }
void mark_stack() {
  volatile std::uint32_t* word = stack_bottom;
  std::uint32_t* here;
  __asm__ volatile("mov %0, sp" : "=r"(here));
  while (word != here) *word++ = mark;
}
unsigned stack_used() {
  const volatile std::uint32_t* word = stack_bottom;
  while (*word == mark) ++word;
  return bytes(const_cast<const std::uint32_t*>(word), stack_top);
}

// ---- reset --------------------------------------------------------------------------------------
extern "C" {
[[noreturn, gnu::used]] void after_fault() {
  print("a fault: an access outside memory, or a stack that is too deep\n");
  end(70);
}
// The stack may be the fault, so it starts again.
[[gnu::naked]] static void fault() {
  __asm__ volatile("ldr r0, =stack_top\n\tmov sp, r0\n\tldr r0, =after_fault\n\tbx r0\n\t.ltorg");
}

[[noreturn]] void start() {
#if defined(__ARM_FP)  // the FPU and a Cortex-M55's vector unit are off after reset
  *reinterpret_cast<volatile std::uint32_t*>(0xe000ed88u) |= 0xfu << 20;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
  systick[1] = 0xffffffu;
  systick[0] = 5;  // on, with the core's clock
  for (std::uint32_t* word = bss_begin; word != bss_end; ++word) *word = 0;
  end(main());
}
}

// The processor reads these at reset: the stack, start, then fault handlers.
struct vectors {
  std::uint32_t* stack;
  void (*handlers[15])();
};
extern "C" [[gnu::section(".vectors"), gnu::used]] constexpr vectors vector_table{
    stack_top, {start, fault, fault, fault, fault, fault, fault}};
