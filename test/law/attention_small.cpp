// SPDX-License-Identifier: BSL-1.0
// Multi-head attention against the formula: ones, primes, every number of queries up to a vector of
// eight and past it, heads of one feature.
#include <boost/test/unit_test.hpp>

#include "../support/attention_sweep.hpp"

using umbel_test::check_attention;

BOOST_AUTO_TEST_SUITE(attention_small)

BOOST_AUTO_TEST_CASE(ones) {
  check_attention<float, 1, 1, 1, 1, 1, false>();
  check_attention<float, 1, 1, 1, 1, 1, true>();
  check_attention<float, 2, 1, 1, 2, 2, true>();
  check_attention<float, 1, 1, 7, 5, 1, false>();
  check_attention<float, 3, 2, 3, 7, 7, true>();
}

BOOST_AUTO_TEST_CASE(up_to_a_vector) {
  check_attention<float, 2, 3, 5, 6, 3, true>();
  check_attention<float, 1, 4, 4, 4, 2, false>();
  check_attention<float, 1, 5, 17, 20, 4, true>();
  check_attention<float, 1, 7, 13, 11, 1, true>();
  check_attention<float, 2, 8, 8, 8, 2, false>();
  check_attention<float, 1, 9, 15, 18, 6, true>();
  check_attention<float, 4, 2, 2, 3, 3, false>();
  check_attention<float, 5, 3, 4, 10, 5, true>();
}

BOOST_AUTO_TEST_SUITE_END()
