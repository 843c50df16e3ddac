// SPDX-License-Identifier: BSL-1.0
// Masks over random numbers, small shapes and each option (mask_sweep.hpp): bits of the plain
// kernel, near the formula, nothing hidden read.
#include <boost/test/unit_test.hpp>

#include "../support/mask_sweep.hpp"

namespace {

using namespace umbel_test;

BOOST_AUTO_TEST_SUITE(masks_small)

BOOST_AUTO_TEST_CASE(size_one) {
  sweep_masks<float, mask_sweep_sizes{1, 1, 1, 1, 1, 1, 1}, sweep_of::all>(40);
}
BOOST_AUTO_TEST_CASE(of_the_book) {
  sweep_masks<float, mask_sweep_sizes{2, 5, 5, 4, 6, 20, 20}, sweep_of::all>(40);
}
BOOST_AUTO_TEST_CASE(grouped) {
  sweep_masks<float, mask_sweep_sizes{2, 6, 2, 5, 7, 3, 4}, sweep_of::first_half,
              umbel::score_scale<1, 3>>(40);
}
BOOST_AUTO_TEST_CASE(uniform_rows) {
  sweep_masks<float, mask_sweep_sizes{3, 3, 1, 9, 5, 4, 6}, sweep_of::second_half,
              umbel::empty_rows<umbel::uniform_weights>>(40);
}
BOOST_AUTO_TEST_CASE(in_double) {
  sweep_masks<double, mask_sweep_sizes{1, 3, 3, 10, 13, 6, 5}, sweep_of::first_half,
              umbel::softcap<5>>(40);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
