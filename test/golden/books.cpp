// SPDX-License-Identifier: BSL-1.0
// "Dive into Deep Learning" and Haiku with their masks, also where a query has no key: they fill
// scores with a large negative number, which makes such a row the mean of all values.
#include <boost/test/unit_test.hpp>

#include "calls.hpp"
#include "data/books.hpp"

using namespace umbel;
using namespace umbel::axes;
using umbel_test::golden_layer;

BOOST_AUTO_TEST_SUITE(books)

BOOST_AUTO_TEST_CASE(d2l_lengths_by_query) {
  golden_layer<golden::d2l_lengths_by_query> call;
  call.check(call.lengths<batch, query>());
}

BOOST_AUTO_TEST_CASE(d2l_length_0) {
  golden_layer<golden::d2l_length_0, empty_rows<uniform_weights>> call;
  call.check(call.lengths<batch>());
}

BOOST_AUTO_TEST_CASE(d2l_length_0_by_query) {
  golden_layer<golden::d2l_length_0_by_query, empty_rows<uniform_weights>> call;
  call.check(call.lengths<batch, query>());
}

// The book's decoder masks the future by lengths 1, 2, 3 ...
BOOST_AUTO_TEST_CASE(d2l_decoder) {
  golden_layer<golden::d2l_decoder> call;
  call.check(call.lengths<batch, query>());
  call.check(causal);
}

// The book's layer in training: nn.Dropout(0.5) on the weights, but for who draws.
BOOST_AUTO_TEST_CASE(d2l_dropout) {
  golden_layer<golden::d2l_dropout> call;
  call.check(call.lengths<batch>() & dropout(0.5, 2021));
}

BOOST_AUTO_TEST_CASE(d2l_dropout_without_keys) {
  golden_layer<golden::d2l_dropout_without_keys, empty_rows<uniform_weights>> call;
  call.check(call.lengths<batch, query>() & dropout(0.5, 7));
}

BOOST_AUTO_TEST_CASE(haiku_tutorial) {
  golden_layer<golden::haiku_tutorial> call;
  call.check(keep_mask(call.keep_for_all_queries()));
}

BOOST_AUTO_TEST_CASE(haiku_causal) {
  golden_layer<golden::haiku_causal> call;
  call.check(keep_mask(call.keep_for_all_queries()) & causal);
}

BOOST_AUTO_TEST_CASE(haiku_widths) {
  golden_layer<golden::haiku_widths> call;
  call.check(keep_mask(call.keep<batch>()));
}

BOOST_AUTO_TEST_CASE(haiku_no_key) {
  golden_layer<golden::haiku_no_key, empty_rows<uniform_weights>> call;
  call.check(call.lengths<batch>());
}

BOOST_AUTO_TEST_SUITE_END()
