// SPDX-License-Identifier: BSL-1.0
// Attention whose weights are no softmax of a program of scores alone: a block of queries at a time
// has the bits of scores, weights and context one after another. Random ones: test/formulas.
#include <boost/test/unit_test.hpp>
#include <string_view>
#include <umbel/inspect/describe.hpp>
#include <umbel/umbel.hpp>
#include <utility>

#include "formula_support.hpp"

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

namespace {

constexpr auto sigmoids = [](auto q, auto k) {
  return sigmoid(contract<head_dim>(q, k) * 0.25f - 3);
};
constexpr formula stored_sigmoids = sigmoids;
constexpr formula sigmoid_attention = [](auto q, auto k, auto v) {
  return contract<key>(sigmoids(q, k), v);
};

template <std::size_t Queries, std::size_t Keys>
void sigmoids_of() {
  static const inputs<Queries, Keys> in;
  BOOST_TEST(is_context(sigmoid_attention, stored_sigmoids, in.v, in.q, in.k));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(formula_rows)

BOOST_AUTO_TEST_CASE(without_a_softmax_for_every_number_of_queries) {
  sigmoids_of<2, 1>();
  sigmoids_of<16, 7>();
  sigmoids_of<70, 16>();
  sigmoids_of<129, 33>();
}

BOOST_AUTO_TEST_CASE(a_program_after_the_softmax) {
  static const inputs<41, 37> in;
  static tensor<float, heads<3>, query<41>, key<37>> gates;
  fill(gates, 5);
  static constexpr auto weights = [](auto q, auto k, auto g) {
    auto scores = contract<head_dim>(q, k) * 0.25f;
    return softmax<key>(hide(scores, position<key> > position<query>)) * g;
  };
  constexpr formula stored = weights;
  constexpr formula f = [](auto q, auto k, auto g, auto v) {
    return contract<key>(weights(q, k, g), v);
  };
  BOOST_TEST(is_context(f, stored, in.v, in.q, in.k, gates));
  // Gates whose queries are adjacent: the other order in scratch.
  const auto turned = gates | permute<key, heads, query> | contiguous;
  BOOST_TEST(is_context(f, stored, in.v, in.q, in.k, turned | permute<heads, query, key>));
}

BOOST_AUTO_TEST_CASE(what_is_left_out_by_a_given_tensor) {
  static const inputs<17, 21> in;
  static tensor<bool, batch<2>, key<21>> kept;
  for (std::size_t i = 0; i < kept.size(); ++i) kept.data()[i] = i % 3 != 0;
  static constexpr auto weights = [](auto q, auto k, auto keep) {
    return where(keep, softmax<key>(contract<head_dim>(q, k)) * 1.25f, 0);
  };
  constexpr formula stored = weights;
  constexpr formula f = [](auto q, auto k, auto keep, auto v) {
    return contract<key>(v, weights(q, k, keep)) | permute<batch, heads, query, value_dim> |
           contiguous;
  };
  BOOST_TEST(is_context(f, stored, in.v, in.q, in.k, kept));
}

// Weights that are normalized by sums and maxima of their rows.
BOOST_AUTO_TEST_CASE(sums_and_maxima_of_rows) {
  constexpr auto softpick = [](auto q, auto k) {
    auto scores = contract<head_dim>(q, k);
    auto most = max<key>(scores);
    auto above = exp(scores - most) - exp(-most);
    return relu(above) / (sum<key>(abs(above)) + 1e-6f);
  };
  constexpr auto by_length = [](auto q, auto k) {
    auto r = sigmoid(contract<head_dim>(q, k)) * (position<query> + 1);
    return where(position<key> > position<query>, 0, r * rsqrt(mean<key>(r * r)));
  };
  constexpr auto of_two = [](auto q, auto k, auto bias) {
    auto t = relu(contract<head_dim>(q, k) + bias);
    auto u = contract<head_dim>(q * 0.5f, k) * t;
    for (int i = 0; i < 2; ++i) u = u / (max<key>(u) + 1);
    return u * softmax<key>(u);
  };
  check_weights<129, 33>(softpick);
  check_weights<90, 70>(by_length);
  tensor<float, query<61>, key<64>> bias;
  fill(bias, 9);
  check_weights<61, 64>(of_two, bias);
}
// A division of the context instead of the weights.
BOOST_AUTO_TEST_CASE(a_sum_that_divides_the_context) {
  static const inputs<75, 40> in;
  constexpr formula f = [](auto q, auto k, auto v) {
    auto r = relu(contract<head_dim>(q, k));
    return contract<key>(where(position<key> > position<query>, 0, r), v) / (sum<key>(r) + 1);
  };
  constexpr formula weights = [](auto q, auto k) {
    return where(position<key> > position<query>, 0, relu(contract<head_dim>(q, k)));
  };
  constexpr formula sums = [](auto q, auto k) {
    return sum<key>(relu(contract<head_dim>(q, k))) + 1;
  };
  constexpr formula divided = [](auto x, auto by) { return x / by; };
  static workspace_for<decltype(sums), decltype(in.q), decltype(in.k)> work;
  const auto expected = divided(of_context(weights(in.q, in.k), in.v), sums(in.q, in.k, work));
  BOOST_TEST(same_bits(f(in.q, in.k, in.v), expected));
  BOOST_TEST(same_bits(plain(f)(in.q, in.k, in.v), expected));
}

BOOST_AUTO_TEST_CASE(two_softmaxes) {
  static const inputs<35, 19> in, other;
  static constexpr auto weights = [](auto q, auto k, auto q2, auto lambda) {
    auto noise = softmax<key>(contract<head_dim>(k, q2) * 0.5f);
    return softmax<key>(contract<head_dim>(q, k)) - lambda * noise;
  };
  constexpr formula stored = weights;
  constexpr formula f = [](auto q, auto k, auto q2, auto lambda, auto v) {
    return contract<key>(weights(q, k, q2, lambda), v);
  };
  auto q2 = in.q;
  fill(q2, 7);
  BOOST_TEST(is_context(f, stored, in.v, in.q, in.k, q2, 0.3f));
}

BOOST_AUTO_TEST_CASE(keys_that_groups_of_heads_share) {
  static const inputs<33, 20> in;
  const auto k = in.k | select_at<heads, 1>;
  const auto v = in.v | select_at<heads, 2>;
  BOOST_TEST(is_context(sigmoid_attention, stored_sigmoids, v, in.q, k));
}

BOOST_AUTO_TEST_CASE(a_condition_of_the_weights_themselves) {
  static const inputs<20, 18> in;
  static constexpr auto weights = [](auto q, auto k) {
    auto w = softmax<key>(contract<head_dim>(q, k) * 2);
    return where(w > 0.0625f, w, 0) + position<query> * 0.5f - position<heads>;
  };
  constexpr formula stored = weights;
  constexpr formula f = [](auto q, auto k, auto v) { return contract<key>(weights(q, k), v); };
  BOOST_TEST(is_context(f, stored, in.v, in.q, in.k));
}

// The logit of no key, as gpt-oss has it, in front or behind; with what is added to all logits.
BOOST_AUTO_TEST_CASE(sinks) {
  static const inputs<37, 20> in;
  static tensor<float, heads<3>> sinks;
  static tensor<float, heads<3>, query<37>, key<21>> biases;
  fill(sinks, 4), fill(biases, 5);
  static constexpr auto weights = [](auto q, auto k, auto s) {
    auto sink = s | broadcast<batch<2>, heads<3>, query<37>, key<1>>;
    return softmax<key>(concat<key>(contract<head_dim>(q, k) * 0.25f, sink)) |
           slice<key, from<0>, extent<20>>;
  };
  constexpr formula stored = weights;
  constexpr formula f = [](auto q, auto k, auto s, auto v) {
    return contract<key>(weights(q, k, s), v);
  };
  BOOST_TEST(is_context(f, stored, in.v, in.q, in.k, sinks));
  BOOST_TEST((sizeof(workspace_for<decltype(f), decltype(in.q), decltype(in.k), decltype(sinks),
                                   decltype(in.v)>) <= 21 * 37 * sizeof(float) + 64));
  static constexpr auto behind = [](auto q, auto k, auto s, auto b) {
    auto sink = s | broadcast<batch<2>, heads<3>, query<37>, key<1>>;
    auto logits = concat<key>(sink, contract<head_dim>(q, k)) + b;
    return (softmax<key>(logits) | slice<key, from<1>, extent<20>>)*0.5f;
  };
  constexpr formula stored_behind = behind;
  constexpr formula g = [](auto q, auto k, auto s, auto b, auto v) {
    return contract<key>(behind(q, k, s, b), v);
  };
  BOOST_TEST(is_context(g, stored_behind, in.v, in.q, in.k, sinks, biases));
}

// What of it is read elsewhere is stored, and the bits stay.
BOOST_AUTO_TEST_CASE(weights_that_are_a_result) {
  static const inputs<41, 37> in;
  constexpr formula both = [](auto q, auto k, auto v) {
    auto w = sigmoids(q, k);
    return std::pair{contract<key>(w, v), w};
  };
  static workspace_for<decltype(both), decltype(in.q), decltype(in.k), decltype(in.v)> work;
  const auto [context, weights] = both(in.q, in.k, in.v, work);
  BOOST_TEST(same_bits(context, sigmoid_attention(in.q, in.k, in.v)));
}

BOOST_AUTO_TEST_CASE(memory_of_a_block) {
  using in = inputs<512, 128>;
  using work =
      workspace_for<decltype(sigmoid_attention), decltype(in::q), decltype(in::k), decltype(in::v)>;
  static_assert(sizeof(work) <= 32768);
  static const in x;
  const std::string_view page = describe(sigmoid_attention, x.q, x.k, x.v);
  BOOST_TEST(page.find("queries at a time") != page.npos);
  BOOST_TEST(page.find("keys    all keys are read") != page.npos);
  BOOST_TEST(page.find("step 2") == page.npos);
}

// Each with parts of its own.
BOOST_AUTO_TEST_CASE(three_in_one_formula) {
  static const inputs<41, 37> in;
  static constexpr auto next = [](const auto& x) { return x | rename_axis<value_dim, head_dim>; };
  constexpr formula thrice = [](auto q, auto k, auto v) {
    auto one = sigmoid_attention(q, k, v);
    auto keys = k | slice<head_dim, from<1>, extent<5>>;
    auto two = contract<key>(softmax<key>(contract<head_dim>(next(one), keys)) * 0.5f, v);
    auto three = sigmoid_attention(next(one + two), keys, v);
    return std::pair{three, two};
  };
  constexpr formula second = [](auto q, auto k, auto v) {
    return contract<key>(softmax<key>(contract<head_dim>(q, k)) * 0.5f, v);
  };
  static workspace_for<decltype(thrice), decltype(in.q), decltype(in.k), decltype(in.v)> work;
  const auto [three, two] = thrice(in.q, in.k, in.v, work);
  const auto keys = in.k | slice<head_dim, from<1>, extent<5>>;
  const auto one = sigmoid_attention(in.q, in.k, in.v);
  BOOST_TEST(same_bits(two, second(one | rename_axis<value_dim, head_dim>, keys, in.v)));
  auto sum = one;
  for (std::size_t i = 0; i < sum.size(); ++i) sum.data()[i] += two.data()[i];
  BOOST_TEST(
      same_bits(three, sigmoid_attention(sum | rename_axis<value_dim, head_dim>, keys, in.v)));
}

// Two attentions read the same scores, which then are stored: no block of the one has all of them.
BOOST_AUTO_TEST_CASE(scores_of_two_attentions) {
  static const inputs<41, 37> in;
  static constexpr auto later = position<key> > position<query>;
  static constexpr auto old = position<key> < position<query> - 5;
  const auto is_plain = [&]<class F>(const F& f) {
    static workspace_for<F, decltype(in.q), decltype(in.k), decltype(in.v)> work;
    const auto of_plain = plain(f);
    static workspace_for<decltype(of_plain), decltype(in.q), decltype(in.k), decltype(in.v)> all;
    return same_bits(f(in.q, in.k, in.v, work), of_plain(in.q, in.k, in.v, all));
  };
  constexpr formula negated = [](auto q, auto k, auto v) {
    auto s = contract<head_dim>(q, k);
    auto other = contract<key>(softmax<key>(hide(-s, later)), v);
    return contract<key>(softmax<key>(hide(s, later)), v) + other;
  };
  BOOST_TEST(is_plain(negated));
  constexpr formula of_fewer_keys = [](auto q, auto k, auto v) {
    auto s = contract<head_dim>(q, k);
    auto other = contract<key>(softmax<key>(hide(-s, later || old)), v);
    return contract<key>(softmax<key>(hide(s * 2, later || old)), v) + other;
  };
  BOOST_TEST(is_plain(of_fewer_keys));
  constexpr formula chosen = [](auto q, auto k, auto v) {
    auto s = contract<head_dim>(q, k);
    auto other = contract<key>(softmax<key>(where(s > 0, 1.5f, tanh(q | sum<head_dim>))), v);
    return contract<key>(softmax<key>(hide(s * 2, later)) * 0.5f, v) + other;
  };
  BOOST_TEST(is_plain(chosen));
  constexpr formula thrice = [](auto q, auto k, auto v) {
    auto s = contract<head_dim>(q, k);
    auto other = contract<key>(sigmoid(s) * 0.25f, v);
    auto third = contract<key>(softmax<key>(hide(-s, old)), v) * other;
    return contract<key>(softmax<key>(hide(s, later)), v) - third;
  };
  BOOST_TEST(is_plain(thrice));
}

// Stored steps whose readers sum along an axis that the stored one doesn't have by this name.
template <class F, class... X>
bool is_plain(const F& f, const X&... x) {
  static workspace_for<F, X...> work;
  return same_bits(f(x..., work), plain(f)(x..., work));
}
BOOST_AUTO_TEST_CASE(sums_along_an_axis_that_is_renamed_split_or_merged) {
  static tensor<float, query<9>, hidden<24>> x;
  static tensor<float, token<12>, hidden<24>> y;
  static tensor<float, key<12>, value_dim<5>> v;
  fill(x, 1), fill(y, 2), fill(v, 3);
  constexpr formula renamed = [](auto a, auto b, auto c) {
    auto scores = silu(contract<hidden>(a, b)) | rename_axis<token, key>;
    return contract<key>(scores, c);
  };
  BOOST_TEST(is_plain(renamed, x, y, v));
  constexpr formula twice = [](auto a, auto b) { return silu(contract<hidden>(a, b)); };
  constexpr formula sum = [](auto s, auto c) { return contract<key>(s, c); };
  BOOST_TEST(same_bits(renamed(x, y, v), sum(twice(x, y) | rename_axis<token, key>, v)));
  constexpr formula split_up = [](auto a, auto b) {
    const auto in_heads = [](auto of) { return of | split<hidden, heads<4>, head_dim>; };
    return contract<head_dim>(in_heads(silu(a)), in_heads(b));
  };
  BOOST_TEST(is_plain(split_up, x, y));
  constexpr formula scores_split_up = [](auto a, auto b) {
    auto scores = sigmoid(contract<hidden>(a, b)) | split<token, heads<3>, key>;
    return contract<key>(scores, scores | rename_axis<query, batch>);
  };
  BOOST_TEST(is_plain(scores_split_up, x, y));
  constexpr formula merged = [](auto a, auto b, auto w) {
    auto scores = sigmoid(contract<head_dim>(a | split<hidden, heads<4>, head_dim>,
                                             b | split<hidden, heads<4>, head_dim>));
    auto rows = scores | permute<query, heads, token> | contiguous | merge<heads, token, key>;
    return contract<key>(rows, w);
  };
  static tensor<float, key<48>, value_dim<5>> w;
  fill(w, 4);
  BOOST_TEST(is_plain(merged, x, y, w));
}
BOOST_AUTO_TEST_CASE(scores_of_attention_that_are_a_result) {
  static const inputs<41, 37> in;
  constexpr formula both = [](auto q, auto k, auto v) {
    auto scores = contract<head_dim>(q, k) * 0.5f;
    return std::pair{contract<key>(softmax<key>(scores), v), scores};
  };
  static workspace_for<decltype(both), decltype(in.q), decltype(in.k), decltype(in.v)> work;
  const auto [context, scores] = both(in.q, in.k, in.v, work);
  const auto [slowly, all] = plain(both)(in.q, in.k, in.v, work);
  BOOST_TEST(same_bits(context, slowly));
  BOOST_TEST(same_bits(scores, all));
}

// Two products of a network are the same formula: many features, so many rows of a block.
BOOST_AUTO_TEST_CASE(two_products_of_a_network) {
  static tensor<float, query<150>, head_dim<200>> x;
  static tensor<float, head_dim<200>, key<40>> up;
  static tensor<float, key<40>, value_dim<248>> down;
  fill(x, 1), fill(up, 2), fill(down, 3);
  static constexpr auto weights = [](auto a, auto b) {
    return contract<head_dim>(a, b) | gelu_tanh;
  };
  constexpr formula stored = weights;
  constexpr formula f = [](auto a, auto b, auto c) { return contract<key>(weights(a, b), c); };
  BOOST_TEST(is_context(f, stored, down, x, up));
  using work = workspace_for<decltype(f), decltype(x), decltype(up), decltype(down)>;
  static_assert(sizeof(work) == 112 * 40 * sizeof(float));
}

constexpr float of_constants() {
  tensor<float, query<3>, head_dim<1>> q{1, 2, 3};
  tensor<float, key<2>, head_dim<1>> k{0, 0};
  tensor<float, key<2>, value_dim<1>> v{2, 4};
  constexpr formula halves = [](auto a, auto b, auto c) {
    return contract<key>(softmax<key>(contract<head_dim>(a, b)) * position<query>, c);
  };
  return halves(q, k, v)(2, 0);
}
static_assert(of_constants() == 6);

BOOST_AUTO_TEST_SUITE_END()
