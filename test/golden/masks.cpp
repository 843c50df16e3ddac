// SPDX-License-Identifier: BSL-1.0
// Masks of torch.nn.MultiheadAttention: what it calls attn_mask and key_padding_mask, true where a
// query must not attend, and its float masks.
#include <boost/test/unit_test.hpp>

#include "calls.hpp"
#include "data/torch_masks.hpp"

using namespace umbel;
using namespace umbel::axes;
using umbel_test::golden_layer;

BOOST_AUTO_TEST_SUITE(torch_masks)

BOOST_AUTO_TEST_CASE(bool_mask) {
  golden_layer<golden::bool_mask> call;
  call.check(drop_mask(call.drop<query>()));
}

BOOST_AUTO_TEST_CASE(bool_mask_cross) {
  golden_layer<golden::bool_mask_cross> call;
  call.check(drop_mask(call.drop<query>()));
}

BOOST_AUTO_TEST_CASE(float_mask) {
  golden_layer<golden::float_mask> call;
  call.check(score_bias(call.bias<query>()));
}

BOOST_AUTO_TEST_CASE(float_mask_cross) {
  golden_layer<golden::float_mask_cross> call;
  call.check(score_bias(call.bias<query>()));
}

BOOST_AUTO_TEST_CASE(float_mask_minus_infinity) {
  golden_layer<golden::float_mask_minus_infinity> call;
  call.check(score_bias(call.hide<query>()));
}

BOOST_AUTO_TEST_CASE(bool_mask_by_head) {
  golden_layer<golden::bool_mask_by_head> call;
  call.check(drop_mask(call.drop<batch, heads, query>()));
}

BOOST_AUTO_TEST_CASE(float_mask_by_head) {
  golden_layer<golden::float_mask_by_head> call;
  call.check(score_bias(call.bias<batch, heads, query>()));
}

BOOST_AUTO_TEST_CASE(key_padding) {
  golden_layer<golden::key_padding> call;
  call.check(drop_mask(call.drop<batch>()));
}

BOOST_AUTO_TEST_CASE(key_padding_cross) {
  golden_layer<golden::key_padding_cross> call;
  call.check(drop_mask(call.drop<batch>()));
}

BOOST_AUTO_TEST_CASE(key_padding_and_bool_mask) {
  golden_layer<golden::key_padding_and_bool_mask> call;
  const auto padding = call.drop<batch>();
  call.check(drop_mask(padding) & drop_mask(call.drop<query>()));
}

BOOST_AUTO_TEST_CASE(key_padding_and_float_mask) {
  golden_layer<golden::key_padding_and_float_mask> call;
  const auto padding = call.drop<batch>();
  call.check(drop_mask(padding) & score_bias(call.bias<query>()));
}

BOOST_AUTO_TEST_CASE(causal_self) { golden_layer<golden::causal_self>().check(causal); }

BOOST_AUTO_TEST_CASE(causal_more_keys) {
  golden_layer<golden::causal_more_keys>().check(causal_top_left);
}

BOOST_AUTO_TEST_CASE(causal_more_queries) {
  golden_layer<golden::causal_more_queries>().check(causal_top_left);
}

BOOST_AUTO_TEST_CASE(causal_and_key_padding) {
  golden_layer<golden::causal_and_key_padding> call;
  call.check(causal & drop_mask(call.drop<batch>()));
}

BOOST_AUTO_TEST_CASE(causal_and_float_mask_by_head) {
  golden_layer<golden::causal_and_float_mask_by_head> call;
  call.check(causal & score_bias(call.bias<batch, heads, query>()));
}

BOOST_AUTO_TEST_CASE(lengths_and_bool_mask) {
  golden_layer<golden::lengths_and_bool_mask> call;
  call.check(call.lengths<batch>() & drop_mask(call.drop<query>()));
}

BOOST_AUTO_TEST_CASE(every_kind) {
  golden_layer<golden::every_kind> call;
  const auto drop = call.drop<query>();
  const auto bias = call.bias<batch, heads, query>();
  using sizes = golden::every_kind;
  call.check(call.lengths<batch>() & causal_at(sizes::keys - sizes::queries) & drop_mask(drop) &
             score_bias(bias));
}

BOOST_AUTO_TEST_SUITE_END()
