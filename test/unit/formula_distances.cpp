// SPDX-License-Identifier: BSL-1.0
// Functions of the distance of two positions are tables. The bits are those of a tensor of
// distances, which has no table.
#include <boost/test/unit_test.hpp>
#include <string_view>
#include <umbel/umbel.hpp>

#include <umbel/inspect/describe.hpp>

#include "formula_support.hpp"

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

namespace {

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
  const auto of = [&](const auto& f) {
    static workspace_for<std::remove_cvref_t<decltype(f)>, decltype(in.q), decltype(in.k),
                         decltype(in.v), decltype(r), decltype(apart)>
        work;
    const auto fast = f(in.q, in.k, in.v, r, apart, work);
    BOOST_TEST(same_bits(fast, plain(f)(in.q, in.k, in.v, r, apart, work)));
    return fast;
  };
  BOOST_TEST(same_bits(of(of_positions), of(of_tensor)));
  const std::string_view page = describe(of_positions, in.q, in.k, in.v, r, apart);
  BOOST_TEST((page.find(says) != page.npos), says << " not in " << page);
  BOOST_TEST((std::string_view(describe(of_tensor, in.q, in.k, in.v, r, apart)).find("distances") ==
              page.npos));
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

BOOST_AUTO_TEST_SUITE_END()
