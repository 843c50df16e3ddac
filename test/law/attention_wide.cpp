// SPDX-License-Identifier: BSL-1.0
// Multi-head attention against the formula: more queries than a vector of any machine, wide rows.
#include <boost/test/unit_test.hpp>

#include "../support/attention_sweep.hpp"

using umbel_test::check_attention;

BOOST_AUTO_TEST_SUITE(attention_wide)

BOOST_AUTO_TEST_CASE(around_sixteen) {
  check_attention<float, 1, 15, 16, 16, 1, false>();
  check_attention<float, 1, 16, 15, 32, 2, true>();
  check_attention<float, 2, 17, 9, 34, 2, true>();
  check_attention<float, 1, 13, 29, 40, 5, true>();
}

BOOST_AUTO_TEST_CASE(around_thirty_two_and_more) {
  check_attention<float, 1, 31, 33, 31, 1, true>();
  check_attention<float, 1, 33, 32, 33, 3, false>();
  check_attention<float, 1, 47, 3, 48, 3, true>();
  check_attention<float, 1, 65, 7, 13, 13, true>();
}

BOOST_AUTO_TEST_CASE(wide) {
  check_attention<float, 1, 2, 3, 128, 1, true>();
  check_attention<float, 2, 6, 11, 96, 12, false>();
  check_attention<float, 1, 49, 49, 32, 4, true>();
}

BOOST_AUTO_TEST_SUITE_END()
