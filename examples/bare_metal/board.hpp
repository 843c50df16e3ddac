// SPDX-License-Identifier: BSL-1.0
// What main asks of the board: to print, by semihosting, so the debugger or QEMU prints; a UART
// would do. The time, and the memory.
#pragma once

void print(const char* text);
void print(int number);

// How often the timer of the core has ticked, up to 2^24: on most boards once a cycle.
unsigned ticks();

// Bytes of variables. And of the stack, at most, since mark_stack, which main calls first.
unsigned variables();
void mark_stack();
unsigned stack_used();
