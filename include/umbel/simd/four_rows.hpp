// SPDX-License-Identifier: BSL-1.0
// Four rows of 8-bit numbers by a column, for cores without vectors: the column is read once for
// four products, and the rows' numbers are adjacent. For Cortex-M the loop is in assembly: on
// ARMv6-M the sums are in the high registers, which compilers don't use for that, and everywhere
// one instruction (ldm) loads a number of each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

// Four rows interleaved: 32-bit integers per four numbers (a "word") of a row. With smlad: numbers
// 0 and 2 of each row as a pair of 16 bits, then 1 and 3; else one number of each row after
// another.
inline constexpr std::size_t four_rows_word = UMBEL_SMLAD ? 8 : 16;

#if UMBEL_SMLAD
// Sign-extended bytes 0 and 2 of a word, and bytes 1 and 3.
UMBEL_INLINE std::int32_t even_bytes(std::uint32_t word) noexcept {
  std::int32_t pair;
  __asm__("sxtb16 %0, %1" : "=r"(pair) : "r"(word));
  return pair;
}
UMBEL_INLINE std::int32_t odd_bytes(std::uint32_t word) noexcept {
  std::int32_t pair;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
  return pair;
}
#endif

// Puts `count` of the numbers first to first + 3 of a row in that row's place.
UMBEL_INLINE void put_word(std::int32_t* to, const std::int8_t* from, std::size_t count) noexcept {
#if UMBEL_SMLAD
  std::uint32_t word = 0;
  if (count == 4)
    __builtin_memcpy(&word, from, 4);  // any address
  else
    for (std::size_t i = 0; i < count; ++i)
      word |= std::uint32_t{static_cast<std::uint8_t>(from[i])} << (8 * i);
  to[0] = even_bytes(word);
  to[4] = odd_bytes(word);
#else
  if (count == 4) {
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < 4; ++i) to[4 * i] = from[i];
  } else {
    for (std::size_t i = 0; i < 4; ++i) to[4 * i] = i < count ? from[i] : 0;
  }
#endif
}

// Converts 4 * words numbers of each of four rows, as 32-bit integers row by row in each group of
// four, in place to the input of `by_column`.
UMBEL_INLINE void pair_words(std::int32_t* numbers, std::size_t words) noexcept {
#if UMBEL_SMLAD
  std::int32_t* to = numbers;
  for (std::size_t w = 0; w < words; ++w, numbers += 16)
    for (std::size_t odd = 0; odd < 8; odd += 4)
      for (std::size_t r = 0; r < 4; ++r)
        *to++ = static_cast<std::int32_t>((static_cast<std::uint32_t>(numbers[odd + r]) & 0xffff) |
                                          static_cast<std::uint32_t>(numbers[odd + 8 + r]) << 16);
#else
  static_cast<void>(numbers), static_cast<void>(words);
#endif
}

// One per row: members, since g++ would keep an array in memory.
struct of_four_rows {
  std::int32_t first, second, third, fourth;
};

// A single copy for small code, and with clang for ARMv6-M, which reserves one of the registers
// below for frames of run-time size.
#if UMBEL_FEW_REGISTERS || (UMBEL_CLANG && UMBEL_FOUR_ROWS_ASSEMBLY && !UMBEL_THUMB_2)
#define UMBEL_ONE_COPY UMBEL_NOINLINE inline
#else
#define UMBEL_ONE_COPY UMBEL_INLINE
#endif

#if UMBEL_FOUR_ROWS_ASSEMBLY

#if UMBEL_SMLAD
#define UMBEL_PRODUCTS            \
  "ldmia r0!, {r3, r4, r5, r6}\n" \
  "smlad r8, r2, r3, r8\n"        \
  "smlad r10, r2, r4, r10\n"      \
  "smlad r11, r2, r5, r11\n"      \
  "smlad r12, r2, r6, r12\n"
#define UMBEL_WORD_IN "lr",
#define UMBEL_WORD     \
  "ldr lr, [r1], #4\n" \
  "sxtb16 r2, lr\n" UMBEL_PRODUCTS "sxtb16 r2, lr, ror #8\n" UMBEL_PRODUCTS
#elif UMBEL_THUMB_2
#define UMBEL_PRODUCTS            \
  "ldmia r0!, {r3, r4, r5, r6}\n" \
  "mla r8, r2, r3, r8\n"          \
  "mla r10, r2, r4, r10\n"        \
  "mla r11, r2, r5, r11\n"        \
  "mla r12, r2, r6, r12\n"
#define UMBEL_WORD_IN
#define UMBEL_NUMBER "ldrsb r2, [r1], #1\n" UMBEL_PRODUCTS
#define UMBEL_WORD UMBEL_NUMBER UMBEL_NUMBER UMBEL_NUMBER UMBEL_NUMBER
#else
// All eight low registers, even r7, a possible frame pointer. The sums are in the high ones.
#define UMBEL_PRODUCTS            \
  "ldmia r0!, {r4, r5, r6, r7}\n" \
  "muls r4, r3, r4\n"             \
  "muls r5, r3, r5\n"             \
  "muls r6, r3, r6\n"             \
  "muls r7, r3, r7\n"             \
  "add r8, r8, r4\n"              \
  "add r9, r9, r5\n"              \
  "add r10, r10, r6\n"            \
  "add r11, r11, r7\n"
#define UMBEL_LOOP                                                  \
  "1:\n"                                                            \
  "ldmia r1!, {r2}\n"                                               \
  "sxtb r3, r2\n" UMBEL_PRODUCTS                                    \
  "asrs r2, r2, #8\n"                                               \
  "sxtb r3, r2\n" UMBEL_PRODUCTS                                    \
  "asrs r2, r2, #8\n"                                               \
  "sxtb r3, r2\n" UMBEL_PRODUCTS "asrs r3, r2, #8\n" UMBEL_PRODUCTS \
  "cmp r1, r12\n"                                                   \
  "bne 1b\n"
#endif

#if UMBEL_THUMB_2 || !UMBEL_FEW_REGISTERS
// The sums in registers.
UMBEL_INLINE of_four_rows add_column(const std::int32_t* rows, const std::int8_t* column,
                                     std::size_t words, of_four_rows sums) noexcept {
  const std::int8_t* const end = column + 4 * words;
  std::int32_t s0 = sums.first, s1 = sums.second, s2 = sums.third, s3 = sums.fourth;
#if UMBEL_THUMB_2
  // Two words at a time; an odd first one by itself. Registers are fixed: g++ loads an operand that
  // waits in memory only through the low registers and then runs out of them ("impossible
  // constraints"). Not r7, a possible frame pointer; r9, a possible static base, only if allowed.
  // The sums come first: computing one may be a call, which clobbers the others' registers.
#define UMBEL_WORDS(enter)                                                                      \
  __asm__ volatile(enter "1:\n" UMBEL_WORD "2:\n" UMBEL_WORD "cmp r1, %[end]\nbne 1b\n"         \
                   : "+&r"(from), "+&r"(of_column), "+&r"(t0), "+&r"(t1), "+&r"(t2), "+&r"(t3), \
                     "+&r"(number)                                                              \
                   : [end] "h"(end)                                                             \
                   : UMBEL_WORD_IN "r3", "r4", "r5", "r6", "cc", "memory")
  register std::int32_t t0 __asm__("r8") = s0;
  register std::int32_t t1 __asm__("r10") = s1;
  register std::int32_t t2 __asm__("r11") = s2;
  register std::int32_t t3 __asm__("r12") = s3;
  register const std::int32_t* from __asm__("r0") = rows;
  register const std::int8_t* of_column __asm__("r1") = column;
  register std::size_t number __asm__("r2") = words;
  if (__builtin_constant_p(words % 2) && words % 2 == 0)
    UMBEL_WORDS("");
  else
    UMBEL_WORDS("lsls r2, r2, #31\nbne 2f\n");
  s0 = t0, s1 = t1, s2 = t2, s3 = t3;
#undef UMBEL_WORDS
#else
  register std::int32_t t0 __asm__("r8") = s0;
  register std::int32_t t1 __asm__("r9") = s1;
  register std::int32_t t2 __asm__("r10") = s2;
  register std::int32_t t3 __asm__("r11") = s3;
  register const std::int32_t* from __asm__("r0") = rows;
  register const std::int8_t* of_column __asm__("r1") = column;
  register const std::int8_t* last __asm__("r12") = end;
  __asm__ volatile(
      ".syntax unified\n"
      "mov lr, r7\n" UMBEL_LOOP "mov r7, lr\n"
      : "+l"(from), "+l"(of_column), "+h"(t0), "+h"(t1), "+h"(t2), "+h"(t3)
      : "h"(last)
      : "r2", "r3", "r4", "r5", "r6", "lr", "cc", "memory");
  s0 = t0, s1 = t1, s2 = t2, s3 = t3;
#endif
  return {s0, s1, s2, s3};
}
#endif

#if UMBEL_FEW_REGISTERS
// The sums in memory: callers need not copy them as an argument and a result.
struct sums_in_memory {
  of_four_rows sums;
#if !UMBEL_THUMB_2
  std::int32_t saved;
#endif
};
UMBEL_NOINLINE inline void add_column(const std::int32_t* rows, const std::int8_t* column,
                                      std::size_t words, sums_in_memory& memory) noexcept {
#if UMBEL_THUMB_2
  memory.sums = add_column(rows, column, words, memory.sums);
#else
  // g++ -Os doesn't allocate the high registers, so the sums are moved there here; r7 is saved
  // here.
  register const std::int32_t* from __asm__("r0") = rows;
  register const std::int8_t* of_column __asm__("r1") = column;
  register const std::int8_t* end __asm__("r2") = column + 4 * words;
  register sums_in_memory* at __asm__("r3") = &memory;
  __asm__ volatile(
      ".syntax unified\n"
      "mov r12, r2\n"
      "mov lr, r3\n"
      "str r7, [r3, #16]\n"
      "ldmia r3!, {r4, r5, r6, r7}\n"
      "mov r8, r4\n"
      "mov r9, r5\n"
      "mov r10, r6\n"
      "mov r11, r7\n" UMBEL_LOOP
      "mov r3, lr\n"
      "mov r4, r8\n"
      "mov r5, r9\n"
      "mov r6, r10\n"
      "mov r7, r11\n"
      "stmia r3!, {r4, r5, r6, r7}\n"
      "ldr r7, [r3]\n"
      : "+l"(from), "+l"(of_column), "+l"(end), "+l"(at)
      :
      : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
#endif
}
#endif

// Adds to each sum its row's products by the column. words: 1 or more; column: 4-byte aligned.
#if UMBEL_FEW_REGISTERS
UMBEL_INLINE of_four_rows by_column(const std::int32_t* rows, const std::int8_t* column,
                                    std::size_t words, of_four_rows sums) noexcept {
  sums_in_memory memory;
  memory.sums = sums;
  add_column(rows, column, words, memory);
  return memory.sums;
}
#else
UMBEL_ONE_COPY of_four_rows by_column(const std::int32_t* rows, const std::int8_t* column,
                                      std::size_t words, of_four_rows sums) noexcept {
  return add_column(rows, column, words, sums);
}
#endif

#if UMBEL_THUMB_2
#undef UMBEL_WORD
#undef UMBEL_WORD_IN
#else
#undef UMBEL_LOOP
#endif
#undef UMBEL_PRODUCTS

#else

// As above.
UMBEL_ONE_COPY of_four_rows by_column(const std::int32_t* rows, const std::int8_t* column,
                                      std::size_t words, of_four_rows sums) noexcept {
  for (std::size_t w = 0; w < words; ++w, rows += four_rows_word, column += 4) {
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < 4; ++i) {
      const std::int32_t number = column[i];
      sums.first += number * rows[4 * i];
      sums.second += number * rows[4 * i + 1];
      sums.third += number * rows[4 * i + 2];
      sums.fourth += number * rows[4 * i + 3];
    }
  }
  return sums;
}

#endif

// From one number on.
UMBEL_INLINE of_four_rows by_column(const std::int32_t* rows, const std::int8_t* column,
                                    std::size_t words, std::int32_t start) noexcept {
#if UMBEL_FOUR_ROWS_ASSEMBLY && UMBEL_FEW_REGISTERS
  // Hidden from g++, which would call memset for four zeros.
  __asm__("" : "+r"(start));
#endif
  return by_column(rows, column, words, of_four_rows{start, start, start, start});
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
