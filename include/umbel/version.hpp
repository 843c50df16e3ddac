// SPDX-License-Identifier: BSL-1.0
// Umbel's version as numbers, defined only here; meson.build reads it.
#pragma once

#define UMBEL_VERSION_MAJOR 0
#define UMBEL_VERSION_MINOR 1
#define UMBEL_VERSION_PATCH 0
