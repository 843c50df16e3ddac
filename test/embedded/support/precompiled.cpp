// SPDX-License-Identifier: BSL-1.0
// What precompiled.hpp is precompiled for.
