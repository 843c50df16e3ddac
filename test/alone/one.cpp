// SPDX-License-Identifier: BSL-1.0
// One of two units that include the whole library: check.py links and runs them.
#include <umbel/umbel.hpp>

int other_unit();

int main() { return other_unit(); }
