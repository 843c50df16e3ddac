// SPDX-License-Identifier: BSL-1.0
// Formulas by several workers: the same bits for any number of them and any order of the pieces,
// and each step in pieces where there is enough to do.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <tuple>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

namespace {

template <class X>
void fill(X& x, unsigned seed) {
  for (auto& f : x) {
    seed = seed * 1664525u + 1013904223u;
    f = static_cast<float>(seed >> 8) * 0x1p-24f - 0.5f;
  }
}
template <class X>
bool same_bits(const X& x, const X& y) {
  return std::memcmp(x.data(), y.data(), sizeof x) == 0;
}

// The last piece first, by workers in turn.
template <std::size_t Workers>
struct backwards {
  static constexpr std::size_t workers = Workers;
  std::size_t most_pieces = 0, rounds = 0;
  template <class Piece>
  void operator()(std::size_t count, const Piece& piece) {
    most_pieces = count > most_pieces ? count : most_pieces;
    ++rounds;
    for (std::size_t i = count; i-- > 0;) piece(i, (i * 7 + 1) % Workers);
  }
};

// f(x...) by 2 and by 3 workers, in memory of another order, too; pieces: of the largest round.
template <class F, class... X>
std::size_t check(const F& f, const X&... x) {
  static workspace_for<F, X...> one, two[2], three[3];
  std::memset(static_cast<void*>(two), 0x7f, sizeof two);
  std::memset(static_cast<void*>(three), 0x7f, sizeof three);
  backwards<2> by_two;
  backwards<3> by_three;
  static auto expected = f(x..., one), given = expected;
  expected = f(x..., one);
  f.into(given, x..., parallel(by_two, two));
  BOOST_TEST(same_bits(given, expected));
  given = {};
  f.into(given, x..., parallel(by_three, three));
  BOOST_TEST(same_bits(given, expected));
  BOOST_TEST(same_bits(plain(f)(x..., parallel(serial, two)), expected));
  return by_three.most_pieces;
}

using attention = multi_head_attention<float, hidden<96>, heads<6>, bias<true>>;
using feed = feed_forward<float, hidden<96>, intermediate<160>, activation<relu>, bias<true>>;

}  // namespace

BOOST_AUTO_TEST_SUITE(formulas_by_workers)

BOOST_AUTO_TEST_CASE(projections_heads_and_their_programs) {
  static attention::weights w;
  unsigned seed = 1;
  for (auto* map : {&w.q, &w.k, &w.v, &w.o}) fill(map->weight, ++seed), fill(map->bias, ++seed);
  static tensor<float, token<53>, hidden<96>> x;
  fill(x, 9);
  constexpr formula block = [](auto x, const auto& w) {
    constexpr auto heads_of = [](auto y) {
      return y | split<hidden, heads<6>, head_dim> | permute<heads, token, head_dim>;
    };
    auto q = heads_of(x * w.q) | rename_axis<token, query>;
    auto k = heads_of(x * w.k) | rename_axis<token, key>;
    auto v = heads_of(x * w.v) | rename_axis<token, key>;
    auto scores = hide(contract<head_dim>(q, k) * 0.25f, position<key> > position<query>);
    auto context = contract<key>(softmax<key>(scores), v) | rename_axis<query, token>;
    return x + silu((context | permute<token, heads, head_dim> | contiguous |
                     merge<heads, head_dim, hidden>)*w.o);
  };
  BOOST_TEST(check(block, x, w) > 18u);  // three projections are handed out together
  static const prepacked<attention> packed(w);
  BOOST_TEST(check(block, x, packed.get_weights()) > 18u);
  // Rows of a batch that is not adjacent.
  static tensor<float, token<20>, batch<5>, hidden<96>> turned;
  fill(turned, 11);
  constexpr formula mapped = [](auto x, const auto& w) { return tanh(x * w.q) * 0.5f; };
  BOOST_TEST(check(mapped, turned | permute<batch, token, hidden>, w) >= 5u);
}

BOOST_AUTO_TEST_CASE(attention_of_few_queries) {
  static tensor<float, batch<4>, heads<6>, query<1>, head_dim<16>> q;
  static tensor<float, batch<4>, heads<6>, key<40>, head_dim<16>> k, v;
  static tensor<float, heads<6>, query<1>, key<40>> bias;
  fill(q, 1), fill(k, 2), fill(v, 3), fill(bias, 4);
  constexpr formula together = [](auto q, auto k, auto v) {
    return contract<key>(softmax<key>(contract<head_dim>(q, k)), v);
  };
  constexpr formula apart = [](auto q, auto k, auto v, auto bias) {
    return contract<key>(softmax<key>(contract<head_dim>(q, k) + bias), v);
  };
  BOOST_TEST(check(together, q, k, v) >= 4u);
  BOOST_TEST(check(apart, q, k, v, bias) == 24u);
}

BOOST_AUTO_TEST_CASE(products_and_elements) {
  static tensor<float, heads<7>, query<45>, head_dim<33>> a;
  static tensor<float, heads<7>, head_dim<33>, key<37>> b;
  static tensor<float, query<211>, head_dim<33>> c;
  static tensor<float, head_dim<33>, key<37>> d;
  fill(a, 1), fill(b, 2), fill(c, 3), fill(d, 4);
  constexpr formula product = [](auto x, auto y) { return contract<head_dim>(x, y); };
  constexpr formula changed = [](auto x, auto y) { return tanh(contract<head_dim>(x, y)) * 2 - 1; };
  BOOST_TEST(check(product, a, b) == 7u);
  BOOST_TEST(check(changed, a, b) == 7u);
  BOOST_TEST(check(product, c, d) > 3u);
  BOOST_TEST(check(changed, c, d) > 3u);
  BOOST_TEST(check(changed, c | permute<head_dim, query>, d | permute<key, head_dim>) > 1u);

  static tensor<float, token<29>, hidden<501>> e;
  static tensor<float, hidden<501>> scale;
  fill(e, 5), fill(scale, 6);
  constexpr formula chain = [](auto x) { return x * sigmoid(x * 2); };
  constexpr formula scaled = [](auto x, auto s) { return x * s + position<token> * 0.5f; };
  BOOST_TEST(check(chain, e) >= 3u);
  BOOST_TEST(check(scaled, e, scale) >= 3u);
  BOOST_TEST(check(chain, scale) == 0u);  // too little to hand out
}

BOOST_AUTO_TEST_CASE(layers_reductions_and_several_results) {
  static feed::weights w;
  fill(w.up.weight, 1), fill(w.up.bias, 2);
  fill(w.down.weight, 3), fill(w.down.bias, 4);
  static tensor<float, token<53>, hidden<96>> x;
  fill(x, 5);
  constexpr formula rows = [](auto x, const auto& w) {
    auto y = feed{w}(x);
    auto z = softmax<hidden>(x * 3);  // needs nothing of y
    return y * (sum<hidden>(z * y) + 1) + z;
  };
  check(rows, x, w);
  static constexpr formula two = [](auto x) {
    return std::tuple{sum<token>(x), tanh(x) * 2, x * 3};
  };
  static workspace_for<decltype(two), decltype(x)> work[2];
  backwards<2> by_two;
  static auto [sums, changed, times] = two(x, parallel(by_two, work));
  const auto [a, b, c] = two(x, work[0]);
  BOOST_TEST(same_bits(sums, a));
  BOOST_TEST(same_bits(changed, b));
  BOOST_TEST(same_bits(times, c));
  BOOST_TEST(by_two.rounds == 1u);  // none needs another
}

// g++ 12 dropped a step of this one with -O1 and -O2 where it is handed out twice:
// UMBEL_HAS_EFFECTS.
BOOST_AUTO_TEST_CASE(no_step_is_dropped) {
  static constexpr formula several = [](auto x) {
    auto p = x | permute<key, hidden>;
    auto twice = concat<hidden>(x | permute<hidden, key>, x | permute<hidden, key>);
    auto six = stack<kv_heads>(p, p, p, p, p, p);
    auto y = x * 3 | permute<key, hidden>;
    auto part = stack<value_dim>(y, y, y) | slice<hidden, from<3>, umbel::extent<2>>;
    auto renamed = part | rename_axis<hidden, heads>;
    return std::tuple{softmax<key>(renamed * renamed), twice, renamed, six};
  };
  static tensor<double, hidden<6>, key<8>> x;
  int next = 0;
  for (double& v : x) v = ++next * 0.01;
  static workspace_for<decltype(several), decltype(x)> work, three[3];
  static auto expected = several(x, work), given = expected;
  static tensor<double, value_dim<6>, heads<2>, key<8>> wide;
  auto out = wide | slice<value_dim, from<2>, umbel::extent<3>> | permute<value_dim, key, heads>;
  backwards<3> pool;
  auto& [softmaxed, twice, renamed, six] = given;
  // clang 14 captures no structured bindings by [&].
  const auto check_call = [&, &softmaxed = softmaxed, &twice = twice, &renamed = renamed,
                           &six = six] {
    softmaxed = {}, twice = {}, six = {}, wide = {}, three[0] = {};
    several.into(std::tie(softmaxed, twice, out, six), x, parallel(pool, three));
    renamed = out;
    BOOST_TEST((given == expected));
  };
  check_call();
  several.into(std::tie(softmaxed, twice, out, six), x, parallel(pool, three));  // a second place
  check_call();
}

BOOST_AUTO_TEST_SUITE_END()
