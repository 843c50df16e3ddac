// SPDX-License-Identifier: BSL-1.0
// The version of Umbel. meson.build reads it from here.
#pragma once

#define UMBEL_VERSION_MAJOR 0
#define UMBEL_VERSION_MINOR 1
#define UMBEL_VERSION_PATCH 0
