// SPDX-License-Identifier: BSL-1.0
// cumulative_sum along the sequence in the cache of a formula: steps of any number of positions
// have the bits of the whole pass, and the cache can forget its last positions.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <support/random.hpp>
#include <umbel/decode/cache_of_formula.hpp>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;
using umbel_test::draw;
using umbel_test::lcg;

namespace {

struct weights {
  linear<float, hidden<12>, hidden<12>>::weights q, k, v, decay;
  explicit weights(lcg& next) {
    for (auto* map : {&q, &k, &v, &decay}) draw(next, map->weight, 0.3);
  }
};
using sequence = tensor<float, token<16>, hidden<12>>;

template <std::size_t Count, class Cache, class Formula, class... More>
bool next_rows(Cache& past, const Formula& f, const sequence& x, const sequence& whole,
               std::size_t first, const More&... more) {
  tensor<float, token<Count>, hidden<12>> rows{}, y{};
  const auto elements = Count * 12;
  std::memcpy(rows.data(), x.data() + first * 12, elements * sizeof(float));
  return past.step(y, f, rows, more...) &&
         std::memcmp(y.data(), whole.data() + first * 12, elements * sizeof(float)) == 0;
}
// Steps of 1, 4 and 3 positions, then all again from the second and the first one on.
template <class Formula, class... More>
void check(const Formula& f, const sequence& x, const More&... more) {
  const sequence whole = f(x, more...);
  BOOST_TEST(
      std::memcmp(&whole, &static_cast<const sequence&>(plain(f)(x, more...)), sizeof whole) == 0);
  using row = tensor<float, token<1>, hidden<12>>;
  static key_value_cache<Formula, key<16>, called_with<row, More...>> past;
  BOOST_TEST((next_rows<1>(past, f, x, whole, 0, more...)));
  BOOST_TEST((next_rows<4>(past, f, x, whole, 1, more...)));
  BOOST_TEST((next_rows<3>(past, f, x, whole, 5, more...)));
  for (const std::size_t kept : {std::size_t{8}, std::size_t{2}, std::size_t{0}}) {
    BOOST_TEST(past.rewind(kept));
    for (std::size_t i = kept; i < 16; ++i)
      BOOST_TEST((next_rows<1>(past, f, x, whole, i, more...)));
  }
}

sequence drawn(unsigned seed) {
  lcg next{seed};
  sequence x;
  draw(next, x);
  x(0, 3) = -0.0f;
  return x;
}

BOOST_AUTO_TEST_CASE(sums_alone) {
  constexpr formula sums = [](auto x) { return cumulative_sum<token>(x) * 0.5f; };
  constexpr formula before = [](auto x) { return cumulative_sum<token, exclusive>(x) + x; };
  constexpr formula of_products = [](auto x) {
    auto sums = cumulative_sum<token>(x * x);
    return x - sums / (1 + cumulative_sum<token, exclusive>(sums));
  };
  const auto x = drawn(1);
  check(sums, x);
  check(before, x);
  check(of_products, x);
}

// The axis of positions is not the first.
BOOST_AUTO_TEST_CASE(of_heads) {
  constexpr formula f = [](auto x) {
    auto by_heads = x | split<hidden, heads<3>, head_dim> | permute<heads, head_dim, token>;
    auto sums = cumulative_sum<token>(by_heads) | permute<token, heads, head_dim>;
    return sums | contiguous | merge<heads, head_dim, hidden>;
  };
  check(f, drawn(2));
}

// Attention whose scores decay by the sum between query and key.
BOOST_AUTO_TEST_CASE(of_queries_and_keys) {
  constexpr formula f = [](auto x, const auto& w) {
    auto q = x * w.q | split<hidden, heads<3>, head_dim> | rename_axis<token, query>;
    auto k = x * w.k | split<hidden, heads<3>, head_dim> | rename_axis<token, key>;
    auto v = x * w.v | split<hidden, heads<3>, head_dim> | rename_axis<token, key>;
    auto decay = cumulative_sum<token>(log_sigmoid(x * w.decay)) |
                 split<hidden, heads<3>, head_dim> | select_at<head_dim, 0>;
    auto scores = contract<head_dim>(q, k) * 0.5f +
                  (decay | rename_axis<token, query>)-(decay | rename_axis<token, key>);
    auto context = contract<key>(softmax<key>(hide(scores, position<key> > position<query>)), v);
    return (context | rename_axis<query, token> | permute<token, heads, head_dim> | contiguous |
            merge<heads, head_dim, hidden>);
  };
  lcg next{4};
  const weights w{next};
  check(f, drawn(3), w);
}

// Sums along renamed axes: of keys, and of what attention returns.
BOOST_AUTO_TEST_CASE(of_keys) {
  constexpr formula f = [](auto x, const auto& w) {
    auto q = x * w.q | split<hidden, heads<3>, head_dim> | rename_axis<token, query>;
    auto k = x * w.k | split<hidden, heads<3>, head_dim> | rename_axis<token, key>;
    auto v = x * w.v | split<hidden, heads<3>, head_dim> | rename_axis<token, key>;
    auto scores = contract<head_dim>(q, cumulative_sum<key>(k)) * 0.5f;
    auto context = contract<key>(softmax<key>(hide(scores, position<key> > position<query>)), v);
    auto sums = cumulative_sum<query>(context);
    return (sums | rename_axis<query, token> | permute<token, heads, head_dim> | contiguous |
            merge<heads, head_dim, hidden>);
  };
  lcg next{6};
  const weights w{next};
  check(f, drawn(5), w);
}

constexpr formula doubled_sums = [](auto x) { return cumulative_sum<token>(x) * 2.0f; };
constexpr float sum_of_three_steps() {
  using row = tensor<float, token<1>, hidden<2>>;
  key_value_cache<decltype(doubled_sums), key<4>, called_with<row>> past;
  row x{}, y{};
  for (int i = 1; i < 4; ++i) {
    x(0, 0) = static_cast<float>(i);
    if (!past.step(y, doubled_sums, x)) return 0;
  }
  return y(0, 0);
}
BOOST_AUTO_TEST_CASE(in_constant_expressions) { static_assert(sum_of_three_steps() == 12); }

}  // namespace
