// SPDX-License-Identifier: BSL-1.0
// What main needs from the board: printing, here by semihosting through the debugger or QEMU (a
// UART would do); the time; and memory statistics.
#pragma once

void print(const char* text);
void print(int number);

// Ticks of the core's timer, modulo 2^24: on most boards one per cycle.
unsigned ticks();

// Bytes of variables, and of stack at most since mark_stack, which main calls first.
unsigned variables();
void mark_stack();
unsigned stack_used();
