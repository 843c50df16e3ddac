// SPDX-License-Identifier: BSL-1.0
// Attention with additive scores: against plain::attend_additive bit for bit, on every number of
// lanes, with policies and taps; and the plain one against float64.
#include <boost/test/unit_test.hpp>

#include "kernel_problem.hpp"

#include <umbel/kernel/float/additive.hpp>
#include <vector>

namespace {

using namespace umbel_test::attending;

template <attend_shape S, class T = float>
struct additive_problem : problem<S, T> {
  buffer<T> w{S.head_dim};

  explicit additive_problem(double size = 1.5) : problem<S, T>(size) {
    seeded next{17};
    w.fill(next, 2.0);
  }
  template <class Policy, class Tap = no_tap>
  buffer<T> plain(const Policy& policy, Tap tap = {}) {
    buffer<T> o{S.queries * S.value_dim, 16};
    plain::attend_additive<S>(this->q.get(), this->k.get(), w.get(), this->v.get(), policy, o.get(),
                              tap);
    return o;
  }
  template <target Target, class Policy, class Tap = no_tap>
  buffer<T> fast(const Policy& policy, Tap tap = {}) {
    buffer<T> o{S.queries * S.value_dim, 16}, scratch{attend_scratch<S, T, Target>};
    attend_additive<S, T, Target>(this->q.get(), this->k.get(), w.get(), this->v.get(), policy,
                                  o.get(), scratch.get(), tap);
    return o;
  }
  template <class Policy>
  void check_one(const Policy& policy, const char* what) {
    buffer<T> right = plain(policy);
    BOOST_TEST(fast<widest>(policy).same_numbers(right), what);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_additive)

BOOST_AUTO_TEST_CASE(every_number_of_lanes) {
  additive_problem<columns_out<35, 263, 5>> p;
  const scores::all_of policy(scores::softcap{2.5f}, scores::causal{231},
                              scores::dropout(1, 2, 0.2f));
  buffer<float> right = p.plain(policy);
  BOOST_TEST(p.fast<scalar_target>(policy).same_bits(right));
  BOOST_TEST(p.fast<vector_16>(policy).same_bits(right));
  BOOST_TEST(p.fast<vector_32>(policy).same_bits(right));
  BOOST_TEST(p.fast<widest>(policy).same_bits(right));
}

BOOST_AUTO_TEST_CASE(sizes_and_counts) {
  additive_problem<rows_out<1, 1, 1, 1>> one;
  one.check_one(scores::every_key{}, "one");
  additive_problem<rows_out<19, 300, 8, 3>> p{4.0};
  for (std::size_t count : {0u, 1u, 7u, 255u, 257u, 300u}) {
    p.check_one(scores::first_keys(count), "count");
  }
  additive_problem<columns_out<70, 9, 17, 5>> wide;
  wide.check_one(scores::first_keys(8), "many queries");
  additive_problem<rows_out<9, 21, 5, 4>, double> doubles;
  doubles.check_one(scores::causal{3}, "double");
}

BOOST_AUTO_TEST_CASE(any_stride) {
  constexpr attend_shape shape = {9, 7, 4, 3, 1, 9, 1, 7, 1, 7, 1, 9, 9};
  additive_problem<shape> p;
  p.check_one(scores::every_key{}, "transposed");
}

BOOST_AUTO_TEST_CASE(taps_are_the_plain_ones) {
  constexpr attend_shape shape = columns_out<21, 280, 5>;
  additive_problem<shape> p;
  const scores::all_of policy(scores::softcap{2.5f}, scores::window{250, 3, 250},
                              scores::dropout(1, 2, 0.2f));
  const buffer<float> context = p.plain(policy);
  const auto check = [&]<class Tap>(Tap) {
    buffer<float> right{21 * 280}, to{21 * 280}, alone{21 * 280};
    p.plain(policy, Tap{right.get()});
    BOOST_TEST(p.template fast<widest>(policy, Tap{to.get()}).same_bits(context));
    BOOST_TEST(to.same_bits(right));
    if constexpr (score_tap<Tap>) {
      buffer<float> scratch{attend_scratch<shape, float, widest>};
      tap_additive_scores<shape, float, widest>(p.q.get(), p.k.get(), p.w.get(), policy,
                                                scratch.get(), Tap{alone.get()});
      BOOST_TEST(alone.same_bits(right));
      plain::tap_additive_scores<shape>(p.q.get(), p.k.get(), p.w.get(), policy, Tap{alone.get()});
      BOOST_TEST(alone.same_bits(right));
    }
  };
  check(tap<tap_stage::raw, float, 280>{});
  check(tap<tap_stage::changed, float, 280>{});
  check(tap<tap_stage::probabilities, float, 280>{});
  check(tap<tap_stage::weights, float, 280>{});
}

BOOST_AUTO_TEST_CASE(agrees_with_float64) {
  constexpr std::size_t queries = 6, keys = 270, hidden = 7;
  additive_problem<rows_out<queries, keys, hidden>> p;
  buffer<float> raw{queries * keys};
  buffer<float> o = p.plain(scores::first_keys(266), tap<tap_stage::raw, float, keys>{raw.get()});
  for (std::size_t i = 0; i < queries; ++i) {
    double sum = 0, context[2] = {};
    for (std::size_t j = 0; j < keys; ++j) {
      double score = 0;
      for (std::size_t h = 0; h < hidden; ++h) {
        score += p.w[h] * std::tanh(static_cast<double>(p.q[i * hidden + h]) + p.k[j * hidden + h]);
      }
      BOOST_TEST(std::fabs(raw[i * keys + j] - score) < 3e-6);
      if (j >= 266) continue;
      sum += std::exp(score);
      for (std::size_t d = 0; d < 2; ++d) context[d] += std::exp(score) * p.v[j * 2 + d];
    }
    for (std::size_t d = 0; d < 2; ++d) {
      BOOST_TEST(std::fabs(o[i * 2 + d] - context[d] / sum) < 3e-6);
    }
  }
}

// NaN and infinity in keys and values that are hidden, and in one query.
BOOST_AUTO_TEST_CASE(what_is_hidden_does_not_leak) {
  additive_problem<columns_out<21, 270, 4>> p;
  const auto mask = flags(21, 270, [](std::size_t, std::size_t j) { return j % 3 != 0; });
  const scores::kept kept(bytes(mask), 270, 1);
  const buffer<float> clean = p.fast<widest>(kept);
  for (std::size_t j = 0; j < 270; j += 3) {
    p.v[j * 2] = j % 2 != 0 ? not_a_number : infinity;
    p.k[j * 4 + 1] = j % 2 != 0 ? not_a_number : -infinity;
  }
  BOOST_TEST(clean.same_bits(p.fast<widest>(kept)));
  BOOST_TEST(clean.same_bits(p.plain(kept)));
  p.q[5 * 4] = not_a_number;
  p.check_one(kept, "NaN query");
  buffer<float> o = p.plain(kept);
  for (std::size_t i = 0; i < 21; ++i) BOOST_TEST(std::isnan(p.at(o, i, 1)) == (i == 5));
}

BOOST_AUTO_TEST_CASE(equal_keys_give_the_mean_of_those_that_count) {
  constexpr float out = [] {
    const float q[1] = {0.5f}, k[4] = {1, 1, 1, 1}, w[1] = {2}, v[4] = {1, 2, 6, 100};
    float o[1] = {};
    plain::attend_additive<attend_shape{1, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}>(
        q, k, w, v, scores::first_keys(3), o);
    return o[0];
  }();
  static_assert(out > 2.999999f && out < 3.000001f);
  BOOST_TEST(std::fabs(out - 3.0f) < 1e-6f);
}

BOOST_AUTO_TEST_SUITE_END()
