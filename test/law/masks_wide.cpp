// SPDX-License-Identifier: BSL-1.0
// Masks over random numbers, shapes of a vector and more, of several blocks of keys
// (mask_sweep.hpp).
#include <boost/test/unit_test.hpp>

#include "../support/mask_sweep.hpp"

namespace {

using namespace umbel_test;

BOOST_AUTO_TEST_SUITE(masks_wide)

BOOST_AUTO_TEST_CASE(whole_vectors) {
  sweep_masks<float, mask_sweep_sizes{1, 2, 2, 16, 16, 8, 8}, sweep_of::second_half,
              umbel::softcap<7, 2>>(40);
}
BOOST_AUTO_TEST_CASE(tails) {
  sweep_masks<float, mask_sweep_sizes{1, 4, 2, 17, 33, 5, 20}, sweep_of::all>(40);
}
BOOST_AUTO_TEST_CASE(one_query) {
  sweep_masks<float, mask_sweep_sizes{1, 2, 1, 1, 300, 16, 16}, sweep_of::all>(40);
}
BOOST_AUTO_TEST_CASE(many_queries) {
  sweep_masks<float, mask_sweep_sizes{1, 1, 1, 70, 9, 7, 1}, sweep_of::first_half>(40);
}
BOOST_AUTO_TEST_CASE(blocks_of_keys) {
  sweep_masks<float, mask_sweep_sizes{1, 1, 1, 19, 270, 4, 9}, sweep_of::second_half,
              umbel::score_scale<1>, umbel::softcap<30>>(40);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
