// SPDX-License-Identifier: BSL-1.0
// What boost_test.hpp is precompiled for.
