// SPDX-License-Identifier: BSL-1.0
// additive_attention against the d2l book's layer, with natural and with packed weights.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include "../support/compare.hpp"
#include "../support/random.hpp"
#include "data/d2l_additive.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

namespace sizes = golden::d2l_additive;  // of both cases
using attention = additive_attention<float, hidden<sizes::query_size>, score_hidden<sizes::hidden>,
                                     keys_from<hidden<sizes::key_size>>>;

void check(std::uint32_t seed, const int (&lengths)[sizes::batch], const float* output) {
  umbel_test::lcg next{seed};
  tensor<float, batch<sizes::batch>, query<sizes::queries>, hidden<sizes::query_size>> x{};
  tensor<float, batch<sizes::batch>, key<sizes::keys>, hidden<sizes::key_size>> y{};
  tensor<float, batch<sizes::batch>, key<sizes::keys>, value_dim<sizes::values>> z{};
  attention::weights w{};
  umbel_test::draw(next, x);
  umbel_test::draw(next, y);
  umbel_test::draw(next, z);
  umbel_test::draw(next, w.q.weight, sizes::query_scale);
  umbel_test::draw(next, w.k.weight, sizes::key_scale);
  umbel_test::draw(next, w.score, 2);
  const tensor<int, batch<sizes::batch>> lens(lengths);
  const auto out = attention{w}(x, y, z, lens);
  umbel_test::check_near("additive", out.data(), output, sizeof(sizes::output) / sizeof(float));
  BOOST_TEST(umbel_test::same_bits(prepacked<attention>{w}(x, y, z, lens), out));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(d2l_additive)

BOOST_AUTO_TEST_CASE(every_key) {
  namespace g = golden::d2l_additive;
  check(g::seed, g::lengths, g::output);
}

BOOST_AUTO_TEST_CASE(lengths) {
  namespace g = golden::d2l_additive_lengths;
  check(g::seed, g::lengths, g::output);
}

BOOST_AUTO_TEST_SUITE_END()
