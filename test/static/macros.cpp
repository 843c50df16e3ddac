// SPDX-License-Identifier: BSL-1.0
// Macros that headers of platforms define, before those of Umbel: windows.h (also without
// NOMINMAX), complex.h, Arduino.
#define near
#define far
#define small char
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define abs(x) ((x) > 0 ? (x) : -(x))
#define round(x) ((x) >= 0 ? (long)((x) + 0.5) : (long)((x) - 0.5))
#define interface struct
#define I _Complex_I
#define IN
#define OUT
#define ERROR 0
#define B1 1
#define F(text) text
#define bit(n) (1ul << (n))

#include <umbel/inspect/describe.hpp>
#include <umbel/inspect/heat_map.hpp>
#include <umbel/quantized.hpp>
#include <umbel/training.hpp>
#include <umbel/umbel.hpp>

static_assert(umbel::tensor<float, umbel::axes::token<4>>::size() == 4);
