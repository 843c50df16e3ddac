// SPDX-License-Identifier: BSL-1.0
// Functions along the keys of weights in a range: a block of queries needs these keys only. The
// bits are those of plain, which computes all pairs; keys outside are not read.
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <umbel/umbel.hpp>

#include "../../examples/variants/15_stick_breaking.hpp"
#include "../realtime/pages.hpp"
#include "formula_support.hpp"

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// Fast and plain, also for scores that are large, and of a hidden key that spoils them.
template <std::size_t Queries, std::size_t Keys, class F, class... More>
void check(const F& f, const More&... more) {
  static inputs<Queries, Keys> in;
  static workspace_for<F, decltype(in.q), decltype(in.k), decltype(in.v), More...> work;
  const auto same = [&] {
    const auto fast = f(in.q, in.k, in.v, more..., work);
    const auto slow = plain(f)(in.q, in.k, in.v, more..., work);
    bool equal = true;
    for (std::size_t i = 0; i < fast.size(); ++i) {
      const float a = fast.data()[i], b = slow.data()[i];
      equal = equal && (std::bit_cast<unsigned>(a) == std::bit_cast<unsigned>(b) ||
                        (std::isnan(a) && std::isnan(b)));
    }
    return equal;
  };
  fill(in.q, 1);
  fill(in.k, 2);
  BOOST_TEST(same());
  for (auto& x : in.q) x *= 300;
  BOOST_TEST(same());
  for (std::size_t i = 0; i < 8; ++i) {
    in.k(0, 1, Keys / 2, i) = not_a_number;
    in.k(1, 2, Keys - 1, i) = infinity;
  }
  BOOST_TEST(same());
}

constexpr auto scores_of = [](auto q, auto k) { return contract<head_dim>(q, k) * 0.25f; };

constexpr formula softpick = [](auto q, auto k, auto v) {
  auto hidden = position<key> > position<query>;
  auto s = hide(scores_of(q, k), hidden);
  auto most = max<key>(s);
  auto above = where(hidden, 0, exp(s - most) - exp(-most));
  return contract<key>(relu(above) / (sum<key>(abs(above)) + 1e-6f), v);
};
// Queries that are the last of all positions, and a window.
constexpr formula sigmoids_of_last = [](auto q, auto k, auto v) {
  constexpr float before =
      static_cast<float>(k.template extent<key>) - static_cast<float>(q.template extent<query>);
  auto distance = position<query> + before - position<key>;
  auto r = where(distance < 0 || distance > 40, 0, sigmoid(scores_of(q, k)));
  return contract<key>(r / sum<key>(r), v);
};
constexpr formula by_length_of_clamped = [](auto q, auto k, auto v) {
  auto start = clamp(position<query> - 9, 0, 30);
  auto r = where(position<key> < start || position<key> >= start + 19, 0, relu(scores_of(q, k)));
  return contract<key>(r * rsqrt(mean<key>(r * r) + 1e-6f), v);
};
constexpr formula largest = [](auto q, auto k, auto v) {
  auto s = hide(scores_of(q, k), position<key> > position<query>);
  return contract<key>(softmax<key>(hide(s, s < kth_largest<5, key>(s))), v);
};
constexpr formula contextual = [](auto q, auto k, auto v) {
  auto hidden = position<key> > position<query> || position<key> + 50 < position<query>;
  auto s = scores_of(q, k);
  auto sums = cumulative_sum<key, from_last>(where(hidden, 0, sigmoid(s)));
  return contract<key>(softmax<key>(hide(s - minimum(sums, 4), hidden)) * sums, v);
};
// Later elements do not change these sums.
constexpr formula sums_up_to = [](auto q, auto k, auto v) {
  auto sums = cumulative_sum<key>(cumulative_sum<key, exclusive>(scores_of(q, k)));
  return contract<key>(where(position<key> > position<query>, 0, sums * 0.125f), v);
};
// A softmax by hand: -infinity minus the largest score of a row in which a key is seen, or a
// number.
constexpr formula of_exponentials = [](auto q, auto k, auto v) {
  auto distance = position<query> - position<key>;
  auto s = hide(scores_of(q, k), distance < 0 || distance > 40);
  auto most = maximum(max<key>(s), 0);
  auto e = exp(s - most);
  return contract<key>(e, v) / (sum<key>(e) + exp(-most) + sum<key>(exp(s - 1)));
};
// Minus a number that may be -infinity: NaN, also of hidden keys.
constexpr formula of_other_exponentials = [](auto q, auto k, auto v) {
  auto later = position<key> > position<query>;
  auto s = scores_of(q, k);
  auto number = log(0 * sum<key>(where(later, 0, sigmoid(s))));
  return contract<key>(where(later, 0, s), v) / sum<key>(exp(hide(s, later) - number));
};
// Ranges of different sizes, one of which no query has; a minimum and a product.
constexpr formula of_several = [](auto q, auto k, auto v) {
  auto s = scores_of(q, k);
  auto apart = position<key> - position<query>;
  auto least = min<key>(where(apart > 3, std::numeric_limits<float>::infinity(), s));
  auto all = product<key>(where(apart > 5 || apart < -3, 1, 1 + s * 0.0625f));
  auto none = sum<key>(where(apart > -500, 0, s)) + max<key>(softmax<key>(hide(s, apart > 1)));
  auto scale = all + none + minimum(least, 1);
  return contract<key>(where(apart > 0 || apart < -60, 0, s) * scale, v);
};
constexpr formula of_lengths = [](auto q, auto k, auto v, auto lengths) {
  auto r = where(position<key> < lengths, exp(scores_of(q, k)), 0);
  return contract<key>(r / (sum<key>(r) + 1), v);
};
// Weights with the sign of their score: both are 0 of later keys.
constexpr formula of_signs = [](auto q, auto k, auto v) {
  auto s = scores_of(q, k);
  auto weights = softmax<key>(hide(abs(s), position<key> > position<query>));
  return contract<key>(where(s < 0, -weights, weights), v);
};
// Sums, differences and the larger of weights: their ranges together are 0 to 40 keys before.
constexpr formula of_two_weights = [](auto q, auto k, auto v) {
  auto apart = position<query> - position<key>;
  auto s = scores_of(q, k);
  auto a = softmax<key>(1 + hide(s, apart < 0 || apart > 40));
  auto b = where(apart < 0 || apart > 20, 0, s);
  return contract<key>(maximum(a - 0.25f * b, b * relu(s)) + a, v) / (sum<key>(abs(a - b)) + 1);
};
// One of the two is not 0 there.
constexpr formula of_other_weights = [](auto q, auto k, auto v) {
  auto s = scores_of(q, k);
  auto later = position<key> > position<query>;
  auto a = where(later, 0, s);
  return contract<key>(a + 0.125f * sigmoid(s), v) / (sum<key>(where(s > 0, a, 1)) + 1000);
};
// Not neutral: a product with infinity or NaN.
constexpr formula of_products = [](auto q, auto k, auto v) {
  auto s = scores_of(q, k);
  auto seen = position<key> <= position<query>;
  auto sums = sum<key>(s * seen) + 2;
  return contract<key>(s * seen / sums, v);
};

}  // namespace

BOOST_AUTO_TEST_SUITE(formula_row_ranges)

BOOST_AUTO_TEST_CASE(sums_of_rows) {
  check<1, 1>(softpick);
  check<97, 97>(softpick);
  check<33, 100>(sigmoids_of_last);
  check<70, 67>(by_length_of_clamped);
}
BOOST_AUTO_TEST_CASE(functions_along_keys) {
  check<130, 67>(variants::stick_breaking);
  check<97, 97>(largest);
  check<100, 72>(contextual);
  check<40, 64>(sums_up_to);
}
BOOST_AUTO_TEST_CASE(exponentials) {
  check<97, 97>(of_exponentials);
  check<70, 50>(of_exponentials);
  check<97, 97>(of_other_exponentials);
}
BOOST_AUTO_TEST_CASE(several_ranges) { check<150, 144>(of_several); }
BOOST_AUTO_TEST_CASE(programs_of_several_weights) {
  check<97, 97>(of_signs);
  check<100, 72>(of_two_weights);
  check<70, 50>(of_other_weights);
}
BOOST_AUTO_TEST_CASE(lengths_of_sequences) {
  check<20, 90>(of_lengths, tensor<float, batch<2>, heads<3>>{0, 1, 64.5f, 1e9f, -3, not_a_number});
}
BOOST_AUTO_TEST_CASE(what_is_not_neutral_is_computed) { check<70, 50>(of_products); }

// Of 4,096 keys the pages of the first 1,024 may be read.
BOOST_AUTO_TEST_CASE(keys_outside_are_not_read) {
  static tensor<float, query<64>, head_dim<8>> q;
  static tensor<float, key<4096>, value_dim<5>> v;
  fill(q, 1);
  object<tensor<float, key<4096>, head_dim<8>>> pages;
  auto& k = *new (pages.data) tensor<float, key<4096>, head_dim<8>>{};
  constexpr std::size_t seen = 4096 * 8 * sizeof(float) / 4;
  BOOST_REQUIRE(mprotect(reinterpret_cast<char*>(&k) + seen, 3 * seen, PROT_NONE) == 0);
  const auto has_numbers = [&](const auto& f) {
    static workspace_for<std::remove_cvref_t<decltype(f)>, decltype(q), decltype(k), decltype(v)>
        work;
    return std::isfinite(f(q, k, v, work)(63, 0));
  };
  BOOST_TEST(has_numbers(softpick));
  BOOST_TEST(has_numbers(largest));
  BOOST_TEST(has_numbers(of_exponentials));
  BOOST_TEST(has_numbers(of_signs));
  BOOST_TEST(has_numbers(of_two_weights));
  BOOST_TEST(has_numbers(variants::stick_breaking));
}

constexpr float of_constants() {
  tensor<float, query<3>, head_dim<1>> q{1, 2, 3};
  tensor<float, key<3>, head_dim<1>> k{1, 1, 1};
  tensor<float, key<3>, value_dim<1>> v{2, 4, 9};
  constexpr formula mean_of = [](auto a, auto b, auto c) {
    auto s = where(position<key> > position<query>, 0, contract<head_dim>(a, b));
    return contract<key>(s / sum<key>(s), c);
  };
  return mean_of(q, k, v)(1, 0) + mean_of(q, k, v)(2, 0);
}
static_assert(of_constants() == 8);

BOOST_AUTO_TEST_SUITE_END()
