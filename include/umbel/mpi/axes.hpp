// SPDX-License-Identifier: BSL-1.0
// The axis of processes, in umbel/mpi.hpp.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/axis.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::axes {
template <std::size_t N>
struct ranks : axis<ranks, N> {};  // processes of a communicator
}  // namespace umbel::axes
UMBEL_WARNINGS_POP
