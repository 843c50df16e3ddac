// SPDX-License-Identifier: BSL-1.0
// The work of 12_dispatch.cpp, for the instruction set that this file is compiled for:
//
//   g++ -O3 -march=x86-64    -DINSTRUCTIONS=sse2   -c 12_dispatch_attend.cpp -o sse2.o
//   g++ -O3 -march=x86-64-v3 -DINSTRUCTIONS=avx2   -c 12_dispatch_attend.cpp -o avx2.o
//   g++ -O3 -march=x86-64-v4 -DINSTRUCTIONS=avx512 -c 12_dispatch_attend.cpp -o avx512.o
//
// Umbel's code is safe in such files. Yours is if only the entry is visible outside: an inline
// function that two of these files define is one function to the linker.
#include "12_dispatch.hpp"

void encoder::INSTRUCTIONS::attend(const attention::weights& w, const tokens& x, const mask& seen,
                                   tokens& out) {
  static attention::workspace<token<32>> work;  // for this instruction set, like the layer
  attention{w}.into(out, x, seen, work);
}
