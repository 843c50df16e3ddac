// SPDX-License-Identifier: BSL-1.0
// Functions of the distance of two positions are tables, and functions of both that a sum repeats
// are computed once for each pair. The bits are those of a tensor of distances, or of pairs.
#include <boost/test/unit_test.hpp>
#include <string_view>
#include <umbel/umbel.hpp>

#include <umbel/inspect/describe.hpp>

#include "formula_support.hpp"

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

namespace {

// With the bits of plain.
template <class F, class... X>
auto value(const F& f, const X&... x) {
  static workspace_for<F, X...> work;
  const auto fast = f(x..., work);
  BOOST_TEST(same_bits(fast, plain(f)(x..., work)));
  return fast;
}

// Weights(s, apart, r): s: scores, apart: the distance, r: a number for each head.
template <std::size_t Queries, std::size_t Keys, class Weights>
void check(Weights, std::string_view says) {
  static const inputs<Queries, Keys> in;
  static constexpr Weights weights{};
  constexpr formula of_positions = [](auto q, auto k, auto v, auto r, auto) {
    return contract<key>(weights(contract<head_dim>(q, k), position<query> - position<key>, r), v);
  };
  constexpr formula of_tensor = [](auto q, auto k, auto v, auto r, auto apart) {
    return contract<key>(weights(contract<head_dim>(q, k), apart, r), v);
  };
  static tensor<float, heads<3>, query<Queries>, key<Keys>> apart;
  for (std::size_t i = 0; i < Queries; ++i)
    for (std::size_t j = 0; j < Keys; ++j)
      for (std::size_t h = 0; h < 3; ++h)
        apart(h, i, j) = static_cast<float>(i) - static_cast<float>(j);
  const tensor<float, heads<3>> r{0.25f, 0.5f, 1.5f};
  BOOST_TEST(same_bits(value(of_positions, in.q, in.k, in.v, r, apart),
                       value(of_tensor, in.q, in.k, in.v, r, apart)));
  const std::string_view page = describe(of_positions, in.q, in.k, in.v, r, apart);
  BOOST_TEST((page.find(says) != page.npos), says << " not in " << page);
  BOOST_TEST((std::string_view(describe(of_tensor, in.q, in.k, in.v, r, apart)).find("distances") ==
              page.npos));
}

template <std::size_t N>
struct feature : umbel::axis<feature, N> {};

// Slow, not of the distance alone, and with a number that is an argument.
constexpr auto of_both = [](auto scale) {
  return log(1 + scale * abs(position<query> - position<key>)) /
         log(2 + scale * maximum(position<query>, 9));
};
// Sums(features, x): over the features, of which each repeats x. in_rows: is the program a part of
// a step by blocks?
template <class Sums>
void check_sums(Sums, bool in_rows) {
  static inputs<70, 67> in;
  static tensor<float, feature<20>, heads<3>> w;
  fill(w, 5);
  static constexpr Sums sums{};
  static constexpr auto attend = [](auto q, auto k, auto v, auto weights, auto x) {
    auto features = weights | broadcast<feature<20>, heads<3>, query<70>, key<67>>;
    return contract<key>(softmax<key>(contract<head_dim>(q, k) + sums(features, x, weights)), v);
  };
  constexpr formula of_positions = [](auto q, auto k, auto v, auto weights, auto scale, auto) {
    return attend(q, k, v, weights, of_both(scale));
  };
  constexpr formula of_tensor = [](auto q, auto k, auto v, auto weights, auto, auto x) {
    return attend(q, k, v, weights, x);
  };
  constexpr formula pairs = [](auto one, auto scale) { return one * of_both(scale); };
  static tensor<float, query<70>, key<67>> one, x;
  for (float& element : one) element = 1;
  static workspace_for<decltype(pairs), decltype(one), float> work_of_pairs;
  pairs.into(x, one, 0.5f, work_of_pairs);
  BOOST_TEST(same_bits(value(of_positions, in.q, in.k, in.v, w, 0.5f, x),
                       value(of_tensor, in.q, in.k, in.v, w, 0.5f, x)));
  const std::string_view page = describe(of_positions, in.q, in.k, in.v, w, 0.5f, x);
  BOOST_TEST(((page.find("[query=70, key=67]  stored") != page.npos) == !in_rows), page);
}

constexpr auto logarithm = [](auto s, auto apart, auto r) {
  return softmax<key>(s - r * log(1 + r * abs(apart)));
};

}  // namespace

BOOST_AUTO_TEST_SUITE(formula_distances)

BOOST_AUTO_TEST_CASE(in_scores) {
  check<70, 67>(logarithm, "136 distances for each of [heads=3]");
  check<33, 100>(logarithm, "132 distances for each of [heads=3]");
  check<2, 9>(logarithm, "log");  // A table of 10 would be half of the pairs.
}
BOOST_AUTO_TEST_CASE(after_scores) {
  check<70, 67>([](auto s, auto apart, auto) { return softmax<key>(s) * cos(apart / 7); },
                "136 distances ");
  check<97, 40>(
      [](auto s, auto apart, auto r) {
        return where(position<key> > position<query>, 0, sigmoid(s) * exp(log(r) * apart));
      },
      "136 distances for each of [heads=3]");
}
// A product that is joined with a sum, a condition of distances, and two tables, one of which is a
// part of the other.
BOOST_AUTO_TEST_CASE(several_programs) {
  check<65, 64>(
      [](auto s, auto apart, auto r) {
        auto far = exp(abs(apart) * -0.125f);
        auto near = where(apart < 3, r * far, sqrt(far));
        return softmax<key>(hide(s * near + far * r, apart > 40));
      },
      "128 distances");
}

BOOST_AUTO_TEST_CASE(numbers_of_pairs_in_sums) {
  check_sums([](auto w, auto x, auto) { return sum<feature>(tanh(w * x)); }, false);
  check_sums(
      [](auto w, auto x, auto of) {
        auto inner = relu((w | select_at<heads, 1>)*x);
        return contract<feature>(inner, of);
      },
      true);
}

BOOST_AUTO_TEST_SUITE_END()
