// SPDX-License-Identifier: BSL-1.0
// What main asks of the board: to print, by semihosting, so the debugger or QEMU prints; a UART
// would do. And the time.
#pragma once

void print(const char* text);
void print(int number);

// How often the timer of the core has ticked, up to 2^24: on most boards once a cycle.
unsigned ticks();
