// SPDX-License-Identifier: BSL-1.0
// check(name, bytes, f): f() under every trap of traps.hpp, as one line of the Test Anything
// Protocol. Not here: what is checked.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>

#include "traps.hpp"

namespace realtime {

// Return addresses, saved registers and spilled vectors of the functions on the way down.
inline constexpr std::size_t frames = 2048;
// More of them where masks are at work, whatever the sizes: clang spills some thirty vectors of a
// block of scores; each part of a mask holds a few of its own.
inline constexpr std::size_t vectors_of_a_mask = 1024, vectors_of_six_masks = 4096;
// Unoptimised, every intermediate vector has a place of its own in a frame: as many as this; and as
// many again, twice, where a formula computes with the scores.
inline constexpr std::size_t vector_bytes = UMBEL_VECTOR_BYTES != 0 ? UMBEL_VECTOR_BYTES : 4;
inline constexpr std::size_t unoptimized_frames = 8192 + 1024 * vector_bytes;
inline constexpr std::size_t vectors_of_scores = optimized ? 4096 : 2048 * vector_bytes;
// Optimised, vectors of a few queries, each against all keys; and of any number of masks, of which
// tensors of biases hold three squares.
inline constexpr std::size_t vectors_of_few_queries = optimized ? 40 * vector_bytes : 0;
inline constexpr std::size_t vectors_of_many_masks = optimized ? 1024 + 192 * vector_bytes : 0;
// What clang spills of a row whose logarithms or hyperbolic tangents are in registers.
inline constexpr std::size_t vectors_of_clang = UMBEL_CLANG ? 1024 : 0;
// A norm of integers computes as many rows at a time as a vector has elements, a vector of each,
// and folds them.
inline constexpr std::size_t vectors_of_a_norm = 2 * (vector_bytes / 4) * vector_bytes;
// Of an operand that a product packs as it goes.
inline constexpr std::size_t packed_operand = 256 * vector_bytes;

// What was seen of a pass.
struct findings {
  counts seen;
  system_calls calls;
  std::size_t stack;
};
enum class threads { one, several };  // a child, in which system calls are trapped, has but one
findings look_at(const pass& run, threads used = threads::one);

// Is everything as it must be, in `bytes` of the stack and what functions themselves need?
bool is_real_time(const findings& found, std::size_t bytes);

// What stands before the names of the lines that follow.
void group(const char* name);
// One line: ok, or not, and to standard error why.
void report(const char* name, bool right, const char* why = "");
void report_skipped(const char* name, const char* why);
int finish();  // the exit code

void check(const char* name, std::size_t bytes, const pass& run, threads used);

// f: one forward pass. bytes: of workspace and results on the stack.
template <threads Used = threads::one, class F>
void check(const char* name, std::size_t bytes, F f) {
  check(name, bytes, pass{f}, Used);
}

// What the program `realtime` runs.
void check_the_traps();   // main.cpp
void check_layers();      // layers.cpp
void check_operations();  // operations.cpp
void check_decoding();    // decoding.cpp
void check_formulas();    // formulas.cpp
void check_integers();    // integers.cpp
void check_learning();    // learning.cpp

}  // namespace realtime
