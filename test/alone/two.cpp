// SPDX-License-Identifier: BSL-1.0
// The other of two units that include the whole library.
#include <umbel/umbel.hpp>

int other_unit();

int other_unit() { return 0; }
