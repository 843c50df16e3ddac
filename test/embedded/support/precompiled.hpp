// SPDX-License-Identifier: BSL-1.0
// What the programs begin with: precompiled once for all of a target (meson.build).
#include <umbel/bare.hpp>
#include <umbel/inspect/call_footprint.hpp>
