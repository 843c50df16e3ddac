// SPDX-License-Identifier: BSL-1.0
// Multi-head attention against the formula: around and past one block of keys (plan::key_block,
// 256), and in double, to 1e-12.
#include <boost/test/unit_test.hpp>

#include "../support/attention_sweep.hpp"

using umbel_test::check_attention;

BOOST_AUTO_TEST_SUITE(attention_long)

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
