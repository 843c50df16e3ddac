// SPDX-License-Identifier: BSL-1.0
// What main asks of the board: to print. By semihosting, so the debugger or QEMU prints; a UART
// would do.
#pragma once

void print(const char* text);
void print(int number);
