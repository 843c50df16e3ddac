// SPDX-License-Identifier: BSL-1.0
// Boost.Test as the tests include it: precompiled once for all of them (test/meson.build), since
// parsing it takes longer than most of them.
#include <boost/test/unit_test.hpp>
