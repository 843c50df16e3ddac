// SPDX-License-Identifier: BSL-1.0
// torch.nn.functional.scaled_dot_product_attention, whose masks are true where a query attends.
#include <boost/test/unit_test.hpp>

#include "calls.hpp"
#include "data/torch_dot_product.hpp"

using namespace umbel;
using namespace umbel::axes;
using umbel_test::golden_heads;

BOOST_AUTO_TEST_SUITE(torch_dot_product)

BOOST_AUTO_TEST_CASE(no_mask) { golden_heads<golden::dot>().check(); }

BOOST_AUTO_TEST_CASE(keep_mask_of_all_axes) {
  golden_heads<golden::dot_keep_mask> call;
  call.check(keep_mask(call.keep<batch, heads, query>()));
}

BOOST_AUTO_TEST_CASE(keep_mask_by_key) {
  golden_heads<golden::dot_keep_by_key> call;
  call.check(keep_mask(call.keep<batch>()));
}

BOOST_AUTO_TEST_CASE(is_causal) { golden_heads<golden::dot_causal>().check(causal_top_left); }

BOOST_AUTO_TEST_CASE(is_causal_more_queries) {
  golden_heads<golden::dot_causal_more_queries>().check(causal_top_left);
}

BOOST_AUTO_TEST_CASE(value_width) {
  golden_heads<golden::dot_value_width> call;
  call.check(keep_mask(call.keep<query>()));
}

BOOST_AUTO_TEST_CASE(shared_heads) {
  golden_heads<golden::dot_shared_heads> call;
  call.check(keep_mask(call.keep<batch>()));
}

BOOST_AUTO_TEST_CASE(float64) {
  golden_heads<golden::dot_float64> call;
  call.check(keep_mask(call.keep<heads, query>()));
}

BOOST_AUTO_TEST_CASE(one_of_everything) { golden_heads<golden::dot_one>().check(); }

BOOST_AUTO_TEST_CASE(head_dim_128) { golden_heads<golden::dot_wide>().check(); }

BOOST_AUTO_TEST_SUITE_END()
