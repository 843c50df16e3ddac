// SPDX-License-Identifier: BSL-1.0
// Masks over random numbers (mask_sweep.hpp): shapes of a vector and more, of several blocks of
// keys; and each pair of options, of shapes that nobody chose: they are drawn while compiling, from
// a seed a case. Each pair of options has two shapes, and a half of the masks in each.
#include <boost/test/unit_test.hpp>

#include "../support/mask_sweep.hpp"

namespace {

using namespace umbel;
using namespace umbel_test;

// Most sizes are small, some are 1, some a vector of 16 and what is left over. Group: heads of
// queries that share one of keys and values.
constexpr mask_sweep_sizes drawn_sizes(std::uint32_t seed, std::size_t group) {
  lcg next{seed};
  const auto up_to = [&](std::size_t most) {
    next();
    return 1 + (next.state >> 8) % most;
  };
  const auto size = [&] {
    constexpr std::size_t most[] = {1, 8, 8, 40};
    return up_to(most[up_to(4) - 1]);
  };
  const std::size_t batch = up_to(3), kv_heads = up_to(3);
  return {batch, kv_heads * group, kv_heads, size(), size(), size(), size()};
}

constexpr mask_sweep_sizes shapes[] = {drawn_sizes(33, 1), drawn_sizes(34, 3), drawn_sizes(35, 1),
                                       drawn_sizes(36, 2), drawn_sizes(37, 1), drawn_sizes(38, 4),
                                       drawn_sizes(39, 1), drawn_sizes(40, 2)};

// Do they have among them what kernels treat by itself: one position, a part of a vector, more than
// one?
constexpr bool is_varied(std::size_t mask_sweep_sizes::* size) {
  bool one = false, part = false, more = false;
  for (const mask_sweep_sizes& s : shapes) {
    one = one || s.*size == 1;
    part = part || (s.*size > 1 && s.*size < 16);
    more = more || (s.*size > 16 && s.*size % 16 != 0);
  }
  return one && part && more;
}
static_assert(is_varied(&mask_sweep_sizes::queries) && is_varied(&mask_sweep_sizes::keys));
static_assert(is_varied(&mask_sweep_sizes::head_dim) && is_varied(&mask_sweep_sizes::value_dim));

BOOST_AUTO_TEST_SUITE(masks_large)

BOOST_AUTO_TEST_CASE(whole_vectors) {
  sweep_masks<float, mask_sweep_sizes{1, 2, 2, 16, 16, 8, 8}, sweep_of::second_half, softcap<7, 2>>(
      40);
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
              score_scale<1>, softcap<30>>(40);
}

BOOST_AUTO_TEST_CASE(softcap_and_scale) {
  sweep_masks<float, shapes[0], sweep_of::first_half, softcap<6>, score_scale<1, 3>>(40);
}
BOOST_AUTO_TEST_CASE(softcap_and_scale_of_groups) {
  sweep_masks<float, shapes[1], sweep_of::second_half, score_scale<2>, softcap<15, 2>>(40);
}
BOOST_AUTO_TEST_CASE(softcap_and_uniform_rows) {
  sweep_masks<float, shapes[2], sweep_of::first_half, softcap<9>, empty_rows<uniform_weights>>(40);
}
BOOST_AUTO_TEST_CASE(softcap_and_uniform_rows_of_groups) {
  sweep_masks<double, shapes[3], sweep_of::second_half, empty_rows<uniform_weights>, softcap<3>>(
      40);
}
BOOST_AUTO_TEST_CASE(scale_and_uniform_rows) {
  sweep_masks<float, shapes[4], sweep_of::first_half, score_scale<1>, empty_rows<uniform_weights>>(
      40);
}
BOOST_AUTO_TEST_CASE(scale_and_uniform_rows_of_groups) {
  sweep_masks<float, shapes[5], sweep_of::second_half, empty_rows<uniform_weights>,
              score_scale<3, 7>>(40);
}
BOOST_AUTO_TEST_CASE(all_three) {
  sweep_masks<double, shapes[6], sweep_of::first_half, softcap<20>, score_scale<1, 2>,
              empty_rows<uniform_weights>>(40);
}
BOOST_AUTO_TEST_CASE(all_three_of_groups) {
  sweep_masks<float, shapes[7], sweep_of::second_half, empty_rows<uniform_weights>,
              score_scale<1, 5>, softcap<4>>(40);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
