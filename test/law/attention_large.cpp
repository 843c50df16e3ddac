// SPDX-License-Identifier: BSL-1.0
// Multi-head attention against the formula: more queries than a vector of any machine, wide rows,
// keys around and past one block of them (plan::key_block, 256), and in double, to 1e-12.
#include <boost/test/unit_test.hpp>

#include "../support/attention_sweep.hpp"

using umbel_test::check_attention;

BOOST_AUTO_TEST_SUITE(attention_large)

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

BOOST_AUTO_TEST_CASE(around_a_block_of_keys) {
  check_attention<float, 1, 3, 255, 8, 2, true>();
  check_attention<float, 1, 3, 256, 8, 2, false>();
  check_attention<float, 2, 3, 257, 8, 2, true>();
}

BOOST_AUTO_TEST_CASE(more_blocks) {
  check_attention<float, 1, 18, 513, 4, 1, true>();
  check_attention<float, 2, 1, 1000, 2, 1, false>();
}

BOOST_AUTO_TEST_CASE(doubles) {
  check_attention<double, 1, 1, 1, 1, 1, true>();
  check_attention<double, 2, 4, 6, 100, 5, false>();
  check_attention<double, 1, 5, 7, 6, 3, true>();
  check_attention<double, 2, 9, 17, 10, 1, true>();
  check_attention<double, 1, 17, 5, 12, 4, false>();
  check_attention<double, 1, 2, 259, 4, 2, true>();
}

BOOST_AUTO_TEST_SUITE_END()
