// SPDX-License-Identifier: BSL-1.0
// torch.nn.MultiheadAttention over widths (its kdim, vdim), float64 and sizes from 1 to 513.
#include <boost/test/unit_test.hpp>

#include "calls.hpp"
#include "data/torch_sizes.hpp"

using namespace umbel;
using namespace umbel::axes;
using umbel_test::golden_layer;

BOOST_AUTO_TEST_SUITE(torch_sizes)

BOOST_AUTO_TEST_CASE(key_and_value_widths) { golden_layer<golden::key_and_value_widths>().check(); }

BOOST_AUTO_TEST_CASE(key_and_value_widths_bool_mask) {
  golden_layer<golden::key_and_value_widths_bool_mask> call;
  const auto mask = call.drop<query>();
  call.check(drop_mask(mask) & drop_mask(call.drop<batch>()));
}

BOOST_AUTO_TEST_CASE(key_width_one) {
  golden_layer<golden::key_width_one> call;
  call.check(score_bias(call.bias<heads, query>()));
}

BOOST_AUTO_TEST_CASE(three_inputs) {
  golden_layer<golden::three_inputs> call;
  call.check(drop_mask(call.drop<batch>()));
}

BOOST_AUTO_TEST_CASE(float64) { golden_layer<golden::float64>().check(); }

BOOST_AUTO_TEST_CASE(float64_key_padding_float_mask) {
  golden_layer<golden::float64_key_padding_float_mask> call;
  const auto padding = call.drop<batch>();
  call.check(drop_mask(padding) & score_bias(call.bias<batch, heads, query>()));
}

BOOST_AUTO_TEST_CASE(float64_causal) { golden_layer<golden::float64_causal>().check(causal); }

BOOST_AUTO_TEST_CASE(length_257) { golden_layer<golden::length_257>().check(); }

BOOST_AUTO_TEST_CASE(length_257_causal) { golden_layer<golden::length_257_causal>().check(causal); }

BOOST_AUTO_TEST_CASE(keys_257_padding) {
  golden_layer<golden::keys_257_padding> call;
  call.check(drop_mask(call.drop<batch>()));
}

BOOST_AUTO_TEST_CASE(keys_513_bool_mask_float64) {
  golden_layer<golden::keys_513_bool_mask_float64> call;
  call.check(drop_mask(call.drop<query>()));
}

BOOST_AUTO_TEST_CASE(head_dim_128) { golden_layer<golden::head_dim_128>().check(); }

BOOST_AUTO_TEST_CASE(head_dim_128_padding) {
  golden_layer<golden::head_dim_128_padding> call;
  const auto padding = call.drop<batch>();
  call.check(drop_mask(padding) & score_bias(call.bias<heads, query>()));
}

BOOST_AUTO_TEST_CASE(one_of_everything) { golden_layer<golden::one_of_everything>().check(); }

BOOST_AUTO_TEST_CASE(one_query) {
  golden_layer<golden::one_query> call;
  call.check(call.lengths<batch>());
}

BOOST_AUTO_TEST_CASE(odd_sizes) {
  golden_layer<golden::odd_sizes> call;
  const auto mask = call.drop<query>();
  call.check(drop_mask(mask) & score_bias(call.bias<batch, heads, query>()));
}

BOOST_AUTO_TEST_CASE(head_dim_1) {
  golden_layer<golden::head_dim_1> call;
  call.check(drop_mask(call.drop<batch>()));
}

BOOST_AUTO_TEST_CASE(sixteen_heads) { golden_layer<golden::sixteen_heads>().check(causal); }

BOOST_AUTO_TEST_CASE(large_scores) {
  golden_layer<golden::large_scores> call;
  call.check(drop_mask(call.drop<query>()));
}

BOOST_AUTO_TEST_SUITE_END()
