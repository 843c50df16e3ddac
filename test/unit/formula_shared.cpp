// SPDX-License-Identifier: BSL-1.0
// Products that read the same weights are one step, which computes these once for a block of
// queries. The bits are those of a product for each of them, of stored weights.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <umbel/inspect/describe.hpp>
#include <umbel/umbel.hpp>

#include "formula_support.hpp"

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

namespace {

constexpr formula ratio = [](auto a, auto b) { return sigmoid(a) / (b + 2); };

constexpr formula halved = [](auto a) { return a * 0.5f; };
constexpr formula without_second = [](auto a) { return a - (a | select_at<value_dim, 1>); };

// The result of f(x...): fast, plain and by two workers, without memory for Pairs.
template <class Pairs, class F, class... X>
auto without_pairs(const F& f, const X&... x) {
  static workspace_for<F, X...> work;
  static decltype(work) works[2];
  by_turns pool;
  const auto fast = f(x..., work);
  auto in_parts = fast;
  for (auto& e : in_parts) e = 0;
  f.into(in_parts, x..., parallel(pool, works));
  BOOST_TEST(same_bits(fast, plain(f)(x..., work)));
  BOOST_TEST(same_bits(fast, in_parts));
  BOOST_TEST((sizeof(Pairs) / 2 > sizeof(work)));
  return fast;
}
template <std::size_t Queries, std::size_t Keys, class Weights>
void check(Weights) {
  static const inputs<Queries, Keys> in;
  static tensor<float, batch<2>, heads<3>, query<Queries>, key<Keys>> bias;
  static tensor<float, batch<2>, heads<3>, key<Keys>, value_dim<5>> u;
  fill(bias, 4), fill(u, 5);
  static constexpr Weights weights{};
  constexpr formula stored = weights;
  static workspace_for<decltype(stored), decltype(in.q), decltype(in.k), decltype(bias)> larger;
  const auto all = stored(in.q, in.k, bias, larger);
  const auto one = of_context(all, in.v), other = of_context(all, u);

  // The second one's program reads the first; the first has one that nothing else needs.
  constexpr formula divided = [](auto q, auto k, auto b, auto v, auto w) {
    auto of_pairs = weights(q, k, b);
    return sigmoid(contract<key>(of_pairs, v)) / (contract<key>(w, of_pairs) + 2);
  };
  constexpr formula turned = [](auto q, auto k, auto b, auto v, auto w) {
    auto of_pairs = weights(q, k, b);
    auto below = contract<key>(w, of_pairs) + 2;
    return sigmoid(contract<key>(of_pairs, v)) / below;
  };
  const auto expected = ratio(one, other);
  BOOST_TEST(
      same_bits(without_pairs<decltype(bias)>(divided, in.q, in.k, bias, in.v, u), expected));
  BOOST_TEST(same_bits(without_pairs<decltype(bias)>(turned, in.q, in.k, bias, in.v, u), expected));
  const std::string_view page = describe(divided, in.q, in.k, bias, in.v, u);
  BOOST_TEST((page.find("context") != page.rfind("context")), page);
  BOOST_TEST((page.find("step 2") == page.npos), page);
  BOOST_TEST((page.find("step 0") == page.npos), page);
  // Results; three products, one of which is a number for each query.
  constexpr formula three = [](auto q, auto k, auto b, auto v, auto w) {
    auto of_pairs = weights(q, k, b);
    auto of_query = contract<key>(of_pairs, w | select_at<value_dim, 1>);
    auto first = contract<key>(of_pairs, v);
    auto half = first * 0.5f;  // before the last product
    auto others = contract<key>(of_pairs, w) - of_query;
    return std::tuple{half, others, first};
  };
  static workspace_for<decltype(three), decltype(in.q), decltype(in.k), decltype(bias),
                       decltype(in.v), decltype(u)>
      work;
  const auto [half, rest, first] = three(in.q, in.k, bias, in.v, u, work);
  const auto [plain_half, plain_rest, plain_first] = plain(three)(in.q, in.k, bias, in.v, u, work);
  BOOST_TEST(same_bits(first, one));
  BOOST_TEST(same_bits(first, plain_first));
  BOOST_TEST(same_bits(half, plain_half));
  BOOST_TEST(same_bits(half, halved(one)));
  BOOST_TEST(same_bits(rest, plain_rest));
  BOOST_TEST(same_bits(rest, without_second(other)));
  BOOST_TEST((sizeof(bias) / 2 > sizeof(work)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(formula_shared)

BOOST_AUTO_TEST_CASE(a_program_of_stored_pairs) {
  check<130, 67>([](auto, auto, auto bias) {
    return exp(where(abs(position<query> - position<key>) < 20, bias, 0));
  });
}
BOOST_AUTO_TEST_CASE(in_a_range) {
  check<97, 80>(
      [](auto, auto, auto bias) { return where(position<key> > position<query>, 0, exp(bias)); });
}
BOOST_AUTO_TEST_CASE(a_softmax) {
  check<70, 75>([](auto q, auto k, auto bias) {
    return softmax<key>(hide(contract<head_dim>(q, k) + bias, position<key> > position<query>));
  });
}
BOOST_AUTO_TEST_CASE(weights_over_their_sum) {
  check<61, 64>([](auto q, auto k, auto bias) {
    auto w = sigmoid(contract<head_dim>(q, k) + bias);
    return w / sum<key>(w);
  });
}

// A program between the products needs the first one's result; by the sums of float64.
BOOST_AUTO_TEST_CASE(a_product_times_the_largest_of_another) {
  static tensor<float, query<70>, key<67>> bias;
  static tensor<float, key<67>, value_dim<5>> v;
  fill(bias, 4), fill(v, 5);
  constexpr formula f = [](auto b, auto x) {
    auto w = exp(where(position<key> > position<query>, 0, b));
    auto first = contract<key>(w, x);
    return contract<key>(w, x * 2) * max<value_dim>(first) + first;
  };
  const auto y = f(bias, v);
  for (std::size_t q = 0; q < 70; ++q) {
    double sums[5]{}, most = -1e30;
    for (std::size_t d = 0; d < 5; ++d) {
      for (std::size_t k = 0; k < 67; ++k)
        sums[d] +=
            std::exp(k > q ? 0.0 : static_cast<double>(bias(q, k))) * static_cast<double>(v(k, d));
      most = std::fmax(most, sums[d]);
    }
    for (std::size_t d = 0; d < 5; ++d) {
      const double wanted = 2 * sums[d] * most + sums[d];
      const double far = std::fabs(static_cast<double>(y(q, d)) - wanted);
      BOOST_TEST(far <= 1e-5 * (1 + std::fabs(most) * 40));
    }
  }
}

// A product that is needed before the others stays a step.
BOOST_AUTO_TEST_CASE(what_is_left_apart) {
  static const inputs<40, 40> in;
  constexpr formula twice = [](auto q, auto k, auto v) {
    auto w = sigmoid(contract<head_dim>(q, k));
    return contract<key>(w, contract<key>(w, v) | rename_axis<query, key>);
  };
  static workspace_for<decltype(twice), decltype(in.q), decltype(in.k), decltype(in.v)> work;
  BOOST_TEST(same_bits(twice(in.q, in.k, in.v, work), plain(twice)(in.q, in.k, in.v, work)));
}

BOOST_AUTO_TEST_SUITE_END()
