// SPDX-License-Identifier: BSL-1.0
// Dropout on the weights: attend against plain::attend, bit for bit, on every number of lanes, and
// what dropout is: which weights go, what is left of the others, that the mean stays.
#include <boost/test/unit_test.hpp>

#include "kernel_problem.hpp"

#include <vector>

namespace {

using namespace umbel_test::attending;
using scores::dropout;

constexpr std::uint64_t seed = 0xfeedface12345678u, stream = 0x100000003u;

// Is the weight of (i, j) kept? From the words themselves.
bool is_kept(std::size_t i, std::size_t j, std::uint32_t threshold, std::uint64_t of = stream) {
  std::uint32_t counter[4] = {static_cast<std::uint32_t>(j / 4), static_cast<std::uint32_t>(i),
                              static_cast<std::uint32_t>(of), static_cast<std::uint32_t>(of >> 32)};
  umbel::detail::simd::philox(counter, seed);
  return counter[j % 4] >= threshold;
}

template <attend_shape S, class T, class Policy>
buffer<T> weights_of(problem<S, T>& p, const Policy& policy) {
  buffer<T> o{S.queries * S.value_dim}, weights{S.queries * S.keys};
  plain::attend<S>(p.q.get(), p.k.get(), p.v.get(), p.scale, policy, o.get(), weights.get());
  return weights;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_dropout)

BOOST_AUTO_TEST_CASE(every_number_of_lanes) {
  problem<columns_out<35, 263>> p;  // blocks of one vector of queries and of two
  p.check(dropout(seed, stream, 0.3f), "alone");
  problem<columns_out<15, 261>, double> wide;
  wide.check_two(dropout(seed, stream, 0.4), "double");
}

BOOST_AUTO_TEST_CASE(with_masks_and_changes) {
  problem<usual> p;
  const auto mask = flags(usual.queries, usual.keys, speckled);
  const scores::kept kept(bytes(mask), usual.keys, 1);
  const dropout drop(seed, 7, 0.25f);
  p.check_two(scores::all_of(drop, scores::causal{460}), "causal");
  // Ranges that begin and end anywhere among the words of a counter.
  for (std::ptrdiff_t offset : {0, 101, 250, 255, 258}) {
    for (std::size_t count : {0u, 1u, 2u, 255u, 257u, 521u}) {
      p.check_two(scores::all_of(scores::window{5, 2, offset}, scores::first_keys(count), drop),
                  "window");
    }
  }
  p.check_two(scores::all_of(scores::softcap{2.5f}, drop, scores::alibi{-0.25f, 228}, kept,
                             dropout(seed, 8, 0.1f)),
              "everything");
}

BOOST_AUTO_TEST_CASE(small_shapes) {
  problem<columns_out<1, 1>> one;
  problem<rows_out<19, 70, 5, 7>> some;
  for (std::uint64_t s = 0; s < 8; ++s) {
    one.check_two(dropout(seed, s, 0.5f), "one");
    some.check_two(dropout(seed, s, 0.5f), "some");
  }
}

// Kept weights are those without dropout times 1 / (1 - rate), dropped ones 0.
BOOST_AUTO_TEST_CASE(weights_are_dropped_by_their_place) {
  constexpr std::size_t queries = 13, keys = 270;
  problem<rows_out<queries, keys>> p;
  const dropout drop(seed, stream, 0.375f);
  BOOST_TEST(drop.threshold == 0x60000000u);
  BOOST_TEST(drop.scale == 1.6f);
  buffer<float> all = weights_of(p, scores::causal{258});
  buffer<float> some = weights_of(p, scores::all_of(drop, scores::causal{258}));
  std::size_t dropped = 0, seen = 0;
  for (std::size_t i = 0; i < queries; ++i) {
    for (std::size_t j = 0; j < keys; ++j) {
      const float left = some[i * keys + j];
      if (is_kept(i, j, drop.threshold)) {
        BOOST_TEST(std::fabs(left - 1.6f * all[i * keys + j]) <= 1e-6f * left);
      } else {
        BOOST_TEST(left == 0.0f);
      }
      if (j <= i + 258) ++seen, dropped += left == 0.0f;
    }
  }
  const double part = static_cast<double>(dropped) / static_cast<double>(seen);
  BOOST_TEST(std::fabs(part - 0.375) < 0.03);  // 3.6 sigma
  // The context is theirs.
  buffer<float> o = p.plain(scores::all_of(drop, scores::causal{258}));
  for (std::size_t i = 0; i < queries; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      sum += static_cast<double>(some[i * keys + j]) * p.v[j * 2 + 1];
    }
    BOOST_TEST(std::fabs(sum - p.at(o, i, 1)) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(float_and_double_drop_the_same) {
  problem<rows_out<9, 41>> narrow;
  problem<rows_out<9, 41>, double> wide;
  buffer<float> a = weights_of(narrow, dropout(seed, 5, 0.5f));
  buffer<double> b = weights_of(wide, dropout(seed, 5, 0.5));
  for (std::size_t e = 0; e < a.size(); ++e) BOOST_TEST((a[e] == 0) == (b[e] == 0));
}

BOOST_AUTO_TEST_CASE(the_mean_over_streams_is_the_context_without) {
  constexpr attend_shape shape = rows_out<6, 40>;
  problem<shape> p;
  buffer<float> right = p.plain(scores::every_key{});
  std::vector<double> mean(right.size());
  constexpr std::size_t times = 4000;
  for (std::size_t s = 0; s < times; ++s) {
    buffer<float> o = p.fast<widest>(dropout(seed, s, 0.2f));
    for (std::size_t e = 0; e < mean.size(); ++e) {
      mean[e] += static_cast<double>(o[e]) / static_cast<double>(times);
    }
  }
  for (std::size_t e = 0; e < mean.size(); ++e) {
    BOOST_TEST(std::fabs(mean[e] - right[e]) < 0.015, mean[e] << " for " << right[e]);
  }
}

BOOST_AUTO_TEST_CASE(other_seeds_and_streams_drop_others) {
  problem<columns_out<17, 30>> p;
  const buffer<float> o = p.fast<widest>(dropout(seed, stream, 0.5f));
  BOOST_TEST(o.same_bits(p.fast<widest>(dropout(seed, stream, 0.5f))));
  for (int bit = 0; bit < 64; bit += 9) {
    const std::uint64_t one = std::uint64_t{1} << bit;
    BOOST_TEST(!o.same_bits(p.fast<widest>(dropout(seed ^ one, stream, 0.5f))));
    BOOST_TEST(!o.same_bits(p.fast<widest>(dropout(seed, stream ^ one, 0.5f))));
  }
}

BOOST_AUTO_TEST_CASE(no_rate_and_every_rate) {
  problem<columns_out<17, 30>> p;
  const buffer<float> whole = p.fast<widest>(scores::every_key{});
  for (float rate : {0.0f, -1.0f, -infinity, not_a_number, 1e-12f}) {
    BOOST_TEST(whole.same_bits(p.fast<widest>(dropout(seed, 0, rate))));
  }
  for (float rate : {1.0f, 2.0f, infinity}) {
    buffer<float> o = p.fast<widest>(dropout(seed, 0, rate));
    p.check_two(dropout(seed, 0, rate), "all dropped");
    for (std::size_t e = 0; e < o.size(); ++e) BOOST_TEST(o[e] == 0.0f);
  }
}

// What a query does not see does not reach it by being dropped or kept.
BOOST_AUTO_TEST_CASE(what_is_hidden_stays_hidden) {
  problem<columns_out<21, 270>> p;
  const auto mask = flags(21, 270, [](std::size_t, std::size_t j) { return j % 3 != 0; });
  const scores::all_of policy(dropout(seed, 1, 0.5f), scores::kept(bytes(mask), 270, 1));
  const buffer<float> clean = p.fast<widest>(policy);
  for (std::size_t j = 0; j < 270; j += 3) {
    p.v[j * 2] = j % 2 != 0 ? not_a_number : infinity;
    p.k[j * 3] = not_a_number;
  }
  BOOST_TEST(clean.same_bits(p.fast<widest>(policy)));
  BOOST_TEST(clean.same_bits(p.plain(policy)));
}

BOOST_AUTO_TEST_CASE(a_nan_query_stays_in_its_row) {
  problem<columns_out<21, 270>> p;
  p.q[4 * 3] = not_a_number;
  const scores::all_of policy(dropout(seed, 1, 0.5f), scores::causal{249});
  buffer<float> o = p.fast<widest>(policy), right = p.plain(policy);
  BOOST_TEST(o.same_numbers(right));
  for (std::size_t i = 0; i < 21; ++i) BOOST_TEST(std::isnan(p.at(o, i, 0)) == (i == 4));
}

BOOST_AUTO_TEST_CASE(dropout_in_constant_expressions) {
  constexpr float out = [] {
    const float q[1] = {0}, k[4] = {0, 0, 0, 0}, v[4] = {1, 1, 1, 1};
    float o[1] = {};
    plain::attend<attend_shape{1, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}>(q, k, v, 1.0f,
                                                                       dropout(0, 0, 0.5f), o);
    return o[0];
  }();
  // The known answer of zeros is 6627e8d5 e169c58d bc57ac4c 9b00dbd8: three of four are kept.
  static_assert(out == 1.5f);
  BOOST_TEST(out == 1.5f);
}

BOOST_AUTO_TEST_SUITE_END()
