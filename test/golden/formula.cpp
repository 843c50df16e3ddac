// SPDX-License-Identifier: BSL-1.0
// What torch's layer does not have, composed of its operations: shared heads, rotary positions,
// ALiBi, windows, softcap, scale, lengths by query, free widths, queries without keys.
#include <boost/test/unit_test.hpp>

#include "calls.hpp"
#include "data/formula.hpp"

using namespace umbel;
using namespace umbel::axes;
using umbel_test::golden_layer;

BOOST_AUTO_TEST_SUITE(torch_formula)

BOOST_AUTO_TEST_CASE(grouped_heads) {
  golden_layer<golden::grouped_heads> call;
  call.check(drop_mask(call.drop<query>()));
}

BOOST_AUTO_TEST_CASE(one_kv_head) { golden_layer<golden::one_kv_head>().check(causal); }

BOOST_AUTO_TEST_CASE(rope_halves) {
  golden_layer<golden::rope_halves, rope<split_halves>>().check(causal);
}

BOOST_AUTO_TEST_CASE(rope_adjacent) {
  golden_layer<golden::rope_adjacent, rope<adjacent_pairs>> call;
  call.check(drop_mask(call.drop<batch>()));
}

BOOST_AUTO_TEST_CASE(rope_of_four_features) {
  golden_layer<golden::rope_of_four_features, rope<split_halves, 500, 4>>().check();
}

BOOST_AUTO_TEST_CASE(alibi_causal) { golden_layer<golden::alibi_causal>().check(alibi & causal); }

BOOST_AUTO_TEST_CASE(alibi_six_heads) {
  golden_layer<golden::alibi_six_heads>().check(alibi_bottom_right & causal_bottom_right);
}

BOOST_AUTO_TEST_CASE(window) { golden_layer<golden::window>().check(sliding_window<2, 1>); }

BOOST_AUTO_TEST_CASE(window_causal_padding) {
  golden_layer<golden::window_causal_padding> call;
  call.check(sliding_window<3> & drop_mask(call.drop<batch>()));
}

BOOST_AUTO_TEST_CASE(window_of_the_last) {
  golden_layer<golden::window_of_the_last> call;
  call.check(sliding_window_bottom_right<2>);
}

BOOST_AUTO_TEST_CASE(softcap_bias) {
  golden_layer<golden::softcap_bias, softcap<3, 2>> call;
  const auto bias = call.bias<batch, heads, query>();
  call.check(score_bias(bias) & drop_mask(call.drop<batch>()));
}

BOOST_AUTO_TEST_CASE(scaled) {
  golden_layer<golden::scaled, score_scale<1, 8>>().check(causal_bottom_right);
}

BOOST_AUTO_TEST_CASE(lengths_by_query) {
  golden_layer<golden::lengths_by_query> call;
  call.check(call.lengths<batch, query>());
}

BOOST_AUTO_TEST_CASE(free_widths) {
  golden_layer<golden::free_widths> call;
  call.check(score_bias(call.bias<heads, query>()));
}

BOOST_AUTO_TEST_CASE(everything) {
  golden_layer<golden::everything, rope<adjacent_pairs>, softcap<5>, score_scale<1, 4>> call;
  call.check(call.lengths<batch>() & sliding_window_at<7, 2>(3) &
             score_bias(call.bias<heads, query>()) & alibi_at(3));
}

// Zeros from the heads, as in ONNX: the output map's bias remains.
BOOST_AUTO_TEST_CASE(no_key) {
  golden_layer<golden::no_key> call;
  call.check(call.lengths<batch>());
}

BOOST_AUTO_TEST_CASE(some_queries_without_keys) {
  golden_layer<golden::some_queries_without_keys> call;
  call.check(causal_at(-2) & drop_mask(call.drop<batch>()));
}

BOOST_AUTO_TEST_CASE(dropout_and_masks) {
  golden_layer<golden::dropout_and_masks> call;
  call.check(causal & drop_mask(call.drop<batch>()) & dropout(0.1, 3));
}

BOOST_AUTO_TEST_SUITE_END()
