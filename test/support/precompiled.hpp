// SPDX-License-Identifier: BSL-1.0
// What tests begin with: precompiled once for all of them (test/meson.build), since parsing it
// takes longer than most tests. That a header needs nothing before it is what the suite alone
// shows.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>
