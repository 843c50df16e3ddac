// SPDX-License-Identifier: BSL-1.0
// The axis of the sums of a batch, in umbel/training.hpp.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/axis.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::axes {
template <std::size_t N>
struct chains : axis<chains, N> {};  // sums over the samples of a batch
}  // namespace umbel::axes
UMBEL_WARNINGS_POP
