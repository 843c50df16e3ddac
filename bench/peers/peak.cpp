// SPDX-License-Identifier: BSL-1.0
// The FMA peak as a shared library, for peers that are not C++.
#include "../core.hpp"

extern "C" __attribute__((visibility("default"))) double fma_peak() { return bench::fma_peak(); }
