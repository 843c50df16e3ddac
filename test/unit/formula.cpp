// SPDX-License-Identifier: BSL-1.0
// Formulas: the layers' bits where they are the layers' sentences, the words of the language, whose
// memory is written. Random ones: test/formulas.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <tuple>
#include <umbel/inspect/describe.hpp>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

namespace {

template <class X, class Y>
bool same_bits(const X& x, const Y& y) {
  static_assert(std::is_same_v<X, Y>);
  return std::memcmp(x.data(), y.data(), sizeof x) == 0;
}

template <class X>
void fill(X& x, unsigned seed = 1) {
  for (auto& f : x) {
    seed = seed * 1664525u + 1013904223u;
    f = static_cast<std::remove_cvref_t<decltype(f)>>(static_cast<float>(seed >> 8) * 0x1p-23f -
                                                      1.0f);
  }
}

template <class Context, class Weights>
struct attended {
  Context context;
  Weights weights;
};

using queries = tensor<float, batch<2>, heads<3>, query<17>, head_dim<16>>;
using keys = tensor<float, batch<2>, heads<3>, key<21>, head_dim<16>>;
using biases = tensor<float, heads<3>, query<17>, key<21>>;

constexpr formula attention = [](auto q, auto k, auto v) {
  return contract<key>(softmax<key>(contract<head_dim>(q, k) * rsqrt(16.0f)), v);
};

struct fixture {
  queries q;
  keys k, v;
  biases added;
  fixture() { fill(q, 1), fill(k, 2), fill(v, 3), fill(added, 4); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(formulas, fixture)

BOOST_AUTO_TEST_CASE(attention_has_the_bits_of_the_function) {
  BOOST_TEST(same_bits(attention(q, k, v), scaled_dot_product_attention(q, k, v)));
  BOOST_TEST(same_bits(plain(attention)(q, k, v), scaled_dot_product_attention(q, k, v)));
}

BOOST_AUTO_TEST_CASE(a_bias_and_hidden_keys_are_those_of_the_masks) {
  constexpr formula biased = [](auto q, auto k, auto v, auto bias) {
    auto scores = contract<head_dim>(q, k) * 0.25f + bias;
    return contract<key>(softmax<key>(hide(scores, position<key> > position<query>)), v);
  };
  BOOST_TEST(same_bits(biased(q, k, v, added),
                       scaled_dot_product_attention(q, k, v, score_bias(added) & causal_top_left)));
}

BOOST_AUTO_TEST_CASE(hidden_keys_are_never_read) {
  constexpr formula windowed = [](auto q, auto k, auto v) {
    auto scores = contract<head_dim>(q, k) * 0.25f;
    auto far = position<query> - position<key> >= 4 || position<key> > position<query>;
    return contract<key>(softmax<key>(hide(scores, far)), v);
  };
  const auto before = windowed(q, k, v);
  // No query sees the keys from 17 on.
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 3; ++h)
      for (int j = 17; j < 21; ++j)
        for (int d = 0; d < 16; ++d) k(b, h, j, d) = v(b, h, j, d) = NAN;
  BOOST_TEST(same_bits(windowed(q, k, v), before));
}

// A neighborhood of 5 keys, moved inside at both ends, as NATTEN has it.
BOOST_AUTO_TEST_CASE(keys_between_clamped_positions_are_read) {
  static constexpr auto neighborhood = [](auto scores) {
    const auto start = minimum(maximum(position<query> - 2, 0), 21 - 5);
    return hide(scores, position<key> < start || position<key> >= start + 5);
  };
  constexpr formula near = [](auto q, auto k, auto v) {
    auto scores = contract<head_dim>(q, k) * 0.25f;
    return contract<key>(softmax<key>(neighborhood(scores)), v);
  };
  constexpr formula weights = [](auto q, auto k) {
    return softmax<key>(neighborhood(contract<head_dim>(q, k) * 0.25f));
  };
  constexpr formula context = [](auto w, auto v) { return contract<key>(w, v); };
  static tensor<float, batch<2>, heads<3>, key<21>, head_dim<16>> keys, values;
  fill(keys, 11), fill(values, 12);
  auto out = near(q, keys, values);
  BOOST_TEST(same_bits(out, plain(near)(q, keys, values)));
  const auto slowly = context(weights(q, keys), values);
  for (std::size_t i = 0; i < out.size(); ++i)
    BOOST_TEST(std::abs(out.data()[i] - slowly.data()[i]) < 1e-5f);
  // The first queries see keys 0 to 4, all 17 see none from 19 on.
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 3; ++h)
      for (int d = 0; d < 16; ++d) keys(b, h, 19, d) = values(b, h, 20, d) = NAN;
  BOOST_TEST(same_bits(near(q, keys, values), out));
  constexpr formula with_clamp = [](auto a, auto b, auto c) {
    const auto start = clamp(position<query> - 2, 0, 21 - 5);
    auto scores = contract<head_dim>(a, b) * 0.25f;
    auto outside = position<key> < start || position<key> >= start + 5;
    return contract<key>(softmax<key>(hide(scores, outside)), c);
  };
  BOOST_TEST(same_bits(with_clamp(q, keys, values), out));
  const std::string_view page = describe(near, q, keys, values);
  BOOST_TEST(
      page.find("query i reads keys from i - 2, at least 0, at most 16 up to i + 2, at least "
                "4, at most 20\n") != page.npos);
}

BOOST_AUTO_TEST_CASE(lengths_are_how_many_keys_are_read) {
  constexpr formula first = [](auto q, auto k, auto v, auto lengths) {
    auto scores = contract<head_dim>(q, k) * 0.25f;
    return contract<key>(softmax<key>(hide(scores, position<key> >= lengths)), v);
  };
  const tensor<int, batch<2>> lengths{5, 0};
  const auto masked = scaled_dot_product_attention(q, k, v, lengths);
  BOOST_TEST(same_bits(first(q, k, v, lengths), masked));
  BOOST_TEST(same_bits(plain(first)(q, k, v, lengths), masked));
  const tensor<int, batch<2>> seven{7, 7};
  BOOST_TEST(same_bits(first(q, k, v, 7), scaled_dot_product_attention(q, k, v, seven)));
  BOOST_TEST(same_bits(first(q, k, v, 1000), attention(q, k, v)));
  constexpr formula both = [](auto q, auto k, auto v, auto lengths) {
    auto scores = contract<head_dim>(q, k) * 0.25f;
    auto hidden = position<key> >= lengths || position<key> > position<query>;
    return contract<key>(softmax<key>(hide(scores, hidden)), v);
  };
  BOOST_TEST(same_bits(both(q, k, v, lengths),
                       scaled_dot_product_attention(q, k, v, lengths & causal_top_left)));
  // Of heads, fractions, numbers out of range; with what is added to scores.
  const tensor<float, heads<3>> last{2.5f, -1, NAN};
  constexpr formula until = [](auto q, auto k, auto v, auto last, auto bias) {
    auto scores = contract<head_dim>(q, k) * 0.25f + bias;
    return contract<key>(softmax<key>(hide(scores, position<key> > last)), v);
  };
  constexpr formula selected = [](auto q, auto k, auto v, auto last, auto bias) {
    auto scores = contract<head_dim>(q, k) * 0.25f + bias;
    return contract<key>(softmax<key>(hide(scores, position<key> + 0 > last)), v);
  };
  const auto y = until(q, k, v, last, added);
  BOOST_TEST(same_bits(plain(until)(q, k, v, last, added), y));
  BOOST_TEST(same_bits(selected(q, k, v, last, added), y));
  // What is hidden is never read.
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 3; ++h)
      for (int j = 5; j < 21; ++j)
        for (int d = 0; d < 16; ++d) k(b, h, j, d) = v(b, h, j, d) = NAN;
  BOOST_TEST(same_bits(first(q, k, v, lengths), masked));
}

BOOST_AUTO_TEST_CASE(a_layer_as_a_formula_has_its_bits) {
  using layer = multi_head_attention<float, hidden<36>, heads<3>, bias<true>>;
  static layer::weights w;
  unsigned seed = 5;
  for (auto* map : {&w.q, &w.k, &w.v, &w.o}) {
    for (float& f : map->weight)
      f = static_cast<float>((seed = seed * 1664525u + 1) >> 8) * 0x1p-26f;
    for (float& f : map->bias) f = static_cast<float>((seed = seed * 1664525u + 1) >> 8) * 0x1p-26f;
  }
  tensor<float, batch<2>, token<7>, hidden<36>> x;
  fill(x);
  constexpr formula self_attention = [](auto x, const auto& w) {
    constexpr auto heads_of = [](auto projected) {
      return projected | split<hidden, heads<3>, head_dim>;
    };
    auto q = heads_of(x * w.q) | permute<batch, heads, token, head_dim> | rename_axis<token, query>;
    auto k = heads_of(x * w.k) | permute<batch, heads, token, head_dim> | rename_axis<token, key>;
    auto v = heads_of(x * w.v) | permute<batch, heads, token, head_dim> | rename_axis<token, key>;
    auto context = contract<key>(softmax<key>(contract<head_dim>(q, k) * rsqrt(12.0f)), v);
    return (context | rename_axis<query, token> | permute<batch, token, heads, head_dim> |
            contiguous | merge<heads, head_dim, hidden>)*w.o;
  };
  const auto wanted = layer{w}(x);
  BOOST_TEST(same_bits(self_attention(x, w), wanted));
  BOOST_TEST(same_bits(plain(self_attention)(x, w), wanted));
  // Borrowed weights, by value, and packed ones.
  constexpr formula one_map = [](auto x, auto w) { return x * w; };
  BOOST_TEST(same_bits(one_map(x, layer::weights_view(w).q), x * w.q));
  static const prepacked<layer> packed(w);
  BOOST_TEST(same_bits(self_attention(x, packed.get_weights()), wanted));
}

BOOST_AUTO_TEST_CASE(values_of_constant_expressions) {
  constexpr tensor<float, query<2>, head_dim<2>> a{1, 2, 3, 4};
  constexpr tensor<float, key<3>, head_dim<2>> b{1, 2, 3, 4, 5, 6};
  constexpr formula chain = [](auto q, auto k, auto v) {
    return contract<key>(softmax<key>(contract<head_dim>(q, k) * 0.5f), v) * 2 - 1;
  };
  constexpr auto value = chain(a, b, b);
  BOOST_TEST(same_bits(chain(a, b, b), value));
}

BOOST_AUTO_TEST_CASE(results_go_into_memory_of_any_order) {
  static tensor<float, query<17>, batch<2>, head_dim<16>, heads<3>> out;
  auto view = out | permute<batch, heads, query, head_dim>;
  attention.into(view, q, k, v);
  const queries expected = attention(q, k, v);
  BOOST_TEST(same_bits(queries(view), expected));
}

BOOST_AUTO_TEST_CASE(the_workspace_is_the_callers_where_it_is_given) {
  static workspace_for<decltype(attention), queries, keys, keys> work;
  static queries out;
  attention.into(out, q, k, v, work);
  BOOST_TEST(same_bits(out, attention(q, k, v)));
  BOOST_TEST(same_bits(attention(q, k, v, work), out));
  // What is stored at different times shares memory: of this chain nothing but one softmax.
  constexpr formula rows = [](auto x) { return tanh(softmax<query>(tanh(softmax<head_dim>(x)))); };
  static_assert(sizeof(workspace_for<decltype(rows), queries>) <= 3 * sizeof(queries));
  constexpr formula nothing_stored = [](auto x) { return tanh(x * 2 + 1) / (x * x + 1); };
  static_assert(sizeof(workspace_for<decltype(nothing_stored), queries>) == 64);
}

BOOST_AUTO_TEST_CASE(a_workspace_has_room_for_a_result_that_is_stored_before_it_is_copied) {
  using scores = tensor<float, query<17>, key<33>>;
  static scores x;
  fill(x);
  constexpr formula weights = [](auto scores) { return softmax<key>(scores); };
  static struct {
    workspace_for<decltype(weights), scores> work;
    unsigned char behind[128];
  } room;
  std::memset(room.behind, 0x5a, sizeof room.behind);
  static tensor<float, key<33>, query<17>> other_order;
  auto out = other_order | permute<query, key>;
  weights.into(out, x, room.work);
  BOOST_TEST(same_bits(scores(out), weights(x)));
  for (const unsigned char c : room.behind) BOOST_TEST(c == 0x5a);
  // Of attention whose row-major result has adjacent queries.
  constexpr formula of_one = [](auto q, auto k, auto v) {
    return contract<key>(softmax<key>(contract<head_dim>(q, k)), v);
  };
  static const tensor<float, key<21>> one_value =
      k | select_at<batch, 0> | select_at<heads, 0> | select_at<head_dim, 3> | contiguous;
  const auto q1 = q | select_at<batch, 1> | select_at<heads, 1>;
  const auto k1 = k | select_at<batch, 1> | select_at<heads, 1>;
  static struct {
    workspace_for<decltype(of_one), decltype(q1), decltype(k1), tensor<float, key<21>>> work;
    unsigned char behind[128];
  } more;
  std::memset(more.behind, 0x5a, sizeof more.behind);
  static tensor<float, query<17>, token<3>> spread;
  auto column = spread | select_at<token, 1>;
  of_one.into(column, q1, k1, one_value, more.work);
  BOOST_TEST(same_bits(tensor<float, query<17>>(column), of_one(q1, k1, one_value)));
  for (const unsigned char c : more.behind) BOOST_TEST(c == 0x5a);
}

BOOST_AUTO_TEST_CASE(several_results) {
  constexpr formula both = [](auto q, auto k, auto v) {
    auto weights = softmax<key>(contract<head_dim>(q, k) * 0.25f);
    return std::tuple{contract<key>(weights, v), weights};
  };
  constexpr formula named = [](auto q, auto k, auto v) {
    auto weights = softmax<key>(contract<head_dim>(q, k) * 0.25f);
    auto context = contract<key>(weights, v);
    return attended<decltype(context), decltype(weights)>{context, weights};
  };
  constexpr formula first = [](auto q, auto k, auto v) {
    return contract<key>(softmax<key>(contract<head_dim>(q, k) * 0.25f), v);
  };
  constexpr formula second = [](auto q, auto k) {
    return softmax<key>(contract<head_dim>(q, k) * 0.25f);
  };
  using weights = tensor<float, batch<2>, heads<3>, query<17>, key<21>>;
  const auto [context, seen] = both(q, k, v);
  BOOST_TEST(same_bits(seen, second(q, k)));
  for (std::size_t i = 0; i < context.size(); ++i)
    BOOST_TEST(std::abs(context.data()[i] - first(q, k, v).data()[i]) < 1e-5f);
  const std::tuple<queries, weights> by_loops = plain(both)(q, k, v);
  BOOST_TEST(same_bits(std::get<0>(by_loops), context));
  BOOST_TEST(same_bits(std::get<1>(by_loops), seen));
  const attended<queries, weights> with_names = named(q, k, v);
  BOOST_TEST(same_bits(with_names.context, context));
  BOOST_TEST(same_bits(with_names.weights, seen));

  static workspace_for<decltype(both), queries, keys, keys> work;
  static queries written;
  static tensor<float, query<17>, key<21>, batch<2>, heads<3>> other_order;
  auto view = other_order | permute<batch, heads, query, key>;
  both.into(std::tie(written, view), q, k, v, work);
  BOOST_TEST(same_bits(written, context));
  BOOST_TEST(same_bits(weights(view), seen));
  static attended<queries, weights> given;
  named.into(given, q, k, v);
  BOOST_TEST(same_bits(given.weights, seen));

  // One tensor twice, an argument, a reread one; in a constant expression, in another formula.
  static constexpr formula many = [](auto x) {
    auto twice = x * 2;
    return std::tuple{twice, twice, x, twice | permute<head_dim, query>};
  };
  constexpr tensor<float, query<2>, head_dim<2>> a{1, 2, 3, 4};
  constexpr auto made = many(a);
  static_assert(std::get<1>(made)(1, 0) == 6 && std::get<2>(made)(1, 0) == 3);
  static_assert(std::get<3>(made)(0, 1) == 6);
  constexpr formula outer = [](auto x) {
    auto [doubled, again, same, turned] = many(x);
    return std::pair{again - same, turned};
  };
  BOOST_TEST(same_bits(outer(a).first, a));
}

BOOST_AUTO_TEST_CASE(parts_of_several_results_are_bound_in_their_order) {
  struct weights {
    tensor<float, hidden<3>> a{1, 2, 3}, b{10, 20, 30};
  };
  const weights w;
  const tensor<float, hidden<3>> x{1, 1, 1};
  constexpr formula two = [](auto x, const auto& w) {
    auto second = x + w.b;
    return std::pair{x * w.a - w.b, second * w.a};
  };
  const auto [difference, product] = two(x, w);
  BOOST_TEST(difference(1) == -18);
  BOOST_TEST(product(2) == 93);
}

BOOST_AUTO_TEST_CASE(numbers_of_a_call_are_arguments) {
  constexpr formula scaled = [](auto x, auto by, auto plus) { return x * by + plus; };
  const auto y = scaled(q, 0.5f, 3);
  BOOST_TEST(y(1, 2, 3, 4) == std::fma(q(1, 2, 3, 4), 0.5f, 3.0f));
}

BOOST_AUTO_TEST_CASE(the_words) {
  tensor<float, query<5>> x{-2, -0.5f, 0, 0.5f, 2};
  constexpr formula words = [](auto x) {
    auto inside = x > -1 && x < 1;
    return where(inside, abs(x) + sqrt(x * x), where(!(x <= 1), exp(x), -tanh(x)));
  };
  const auto y = words(x);
  BOOST_TEST(y(1) == 1.0f);
  BOOST_TEST(y(2) == 0.0f);
  BOOST_TEST(std::abs(y(4) - std::exp(2.0f)) < 1e-6f);
  BOOST_TEST(std::abs(y(0) - std::tanh(2.0f)) < 1e-6f);
  constexpr formula places = [](auto x) { return x * 0 + position<query> * 2 - 1; };
  BOOST_TEST(places(x)(3) == 5.0f);
}

BOOST_AUTO_TEST_CASE(equal_or_not) {
  const tensor<float, query<3>> x{1, 2, NAN};
  const tensor<int, query<3>> ids{7, 0, 7};
  constexpr formula equals = [](auto a, auto id) {
    return where(a == 1, 10, 0) + where(a != 1, 1, 0) + where(id == 7, 100, 0) +
           where(position<query> == 1, 1000, 0);
  };
  BOOST_TEST(same_bits(equals(x, ids), tensor<float, query<3>>{110, 1001, 101}));
  BOOST_TEST(same_bits(plain(equals)(x, ids), equals(x, ids)));
  constexpr formula diagonal = [](auto a, auto b, auto c) {
    auto scores = hide(contract<head_dim>(a, b), position<key> != position<query>);
    return contract<key>(softmax<key>(scores), c);
  };
  const auto y = diagonal(q, k, v);
  BOOST_TEST(same_bits(plain(diagonal)(q, k, v), y));
  BOOST_TEST(y(1, 2, 3, 4) == v(1, 2, 3, 4));
}

// Whichever of the three operands has all axes.
BOOST_AUTO_TEST_CASE(axes_of_where) {
  struct parts {
    tensor<float, batch<3>> by_batch;
  };
  tensor<float, query<4>> chosen{1, 0, 0.75f, 0.25f};
  parts part{{10, 20, 30}};
  tensor<float, batch<3>, query<4>> all, wanted, of_positions;
  fill(all);
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t i = 0; i < 4; ++i) {
      wanted(b, i) = chosen(i) > 0.5f ? part.by_batch(b) : all(b, i);
      of_positions(b, i) = i > 1 ? static_cast<float>(b) : all(b, i);
    }
  constexpr formula last = [](auto c, auto x, auto p) { return where(c > 0.5f, p, x); };
  constexpr formula middle = [](auto c, auto x, auto p) { return where(c <= 0.5f, x, p); };
  constexpr formula of_a_part = [](auto c, auto x, const auto& w) {
    return where(c > 0.5f, w.by_batch, x);
  };
  constexpr formula positions = [](auto x) {
    return where(position<query> > 1, position<batch>, x);
  };
  BOOST_TEST(same_bits(last(chosen, all, part.by_batch), wanted));
  BOOST_TEST(same_bits(plain(last)(chosen, all, part.by_batch), wanted));
  BOOST_TEST(same_bits(middle(chosen, all, part.by_batch), wanted));
  BOOST_TEST(same_bits(of_a_part(chosen, all, part), wanted));
  BOOST_TEST(same_bits(positions(all), of_positions));
}

BOOST_AUTO_TEST_CASE(functions_of_elements) {
  constexpr formula functions = [](auto x) {
    return softplus(x) + log_sigmoid(x) - elu(x) + erf(x) - sin(x) - cos(x) + floor(x) +
           pow(abs(x), 1.5f) - pow(2, x) / pow(abs(x) + 1, x) + clamp(x, -0.25f, abs(x)) +
           x % 0.75f - 2 % (abs(x) + 1);
  };
  BOOST_TEST(same_bits(plain(functions)(q), functions(q)));
  BOOST_TEST(same_bits(functions(q), softplus(q) + log_sigmoid(q) - elu(q) + erf(q) - sin(q) -
                                         cos(q) + floor(q) + pow(abs(q), 1.5f) -
                                         pow(2, q) / pow(abs(q) + 1, q) + clamp(q, -0.25f, abs(q)) +
                                         q % 0.75f - 2 % (abs(q) + 1)));
  constexpr formula by_position = [](auto x) {
    return x * (position<query> % 7) + floor(position<query> / 7) - pow(0.5f, position<heads>) -
           cos(position<query> * 0.25f) + clamp(position<query> - position<head_dim>, -2, 2);
  };
  const auto placed = by_position(q);
  BOOST_TEST(same_bits(plain(by_position)(q), placed));
  for (std::size_t i = 0; i < 17; ++i) {
    const float number = static_cast<float>(i), part = static_cast<float>(i % 7);
    const float bound = std::min(2.0f, std::max(-2.0f, number - 3));
    const float whole = static_cast<float>(i / 7);
    BOOST_TEST(std::fabs(placed(1, 2, i, 3) - (q(1, 2, i, 3) * part + whole - 0.25f -
                                               std::cos(number * 0.25f) + bound)) < 1e-5f);
  }
}

BOOST_AUTO_TEST_CASE(the_larger_and_the_smaller) {
  tensor<float, heads<3>> low;
  fill(low, 31);
  constexpr formula clamped = [](auto x, auto least) { return minimum(maximum(x, least), 0.5f); };
  const auto y = clamped(q, low);
  BOOST_TEST(same_bits(plain(clamped)(q, low), y));
  const auto repeated = low | broadcast<batch<2>, heads<3>, query<17>, head_dim<16>>;
  BOOST_TEST(same_bits(minimum(maximum(q, repeated), 0.5f), y));
  constexpr formula distance = [](auto x) {
    return x + maximum(position<query> - position<batch>, 0) * -2;
  };
  BOOST_TEST(distance(q)(1, 2, 4, 0) == q(1, 2, 4, 0) - 6);
  BOOST_TEST(distance(q)(1, 2, 0, 0) == q(1, 2, 0, 0));
}

BOOST_AUTO_TEST_CASE(a_product_and_a_sum_are_rounded_once) {
  tensor<float, query<1>> a{1 + 0x1p-12f}, b{1 + 0x1p-12f}, c{-1 - 0x1p-11f};
  constexpr formula joined = [](auto a, auto b, auto c) { return a * b + c; };
  constexpr formula apart = [](auto a, auto b, auto c) {
    auto product = a * b;
    return product + c + product * 0;
  };
  BOOST_TEST(joined(a, b, c)(0) == (UMBEL_FMA ? 0x1p-24f : 0.0f));
  BOOST_TEST(apart(a, b, c)(0) == 0.0f);
}

// What a struct keeps: a formula and what it is called with.
template <class Score>
struct head {
  Score attend;
  float scale;
  tensor<float> cap;
  queries operator()(const queries& q, const keys& k, const keys& v) const {
    return attend(q, k, v, scale, cap);
  }
};

BOOST_AUTO_TEST_CASE(a_formula_is_a_member_beside_a_scale_and_a_softcap_of_run_time) {
  constexpr formula capped = [](auto q, auto k, auto v, auto scale, auto cap) {
    auto scores = contract<head_dim>(q, k) * scale;
    return contract<key>(softmax<key>(tanh(scores / cap) * cap), v);
  };
  using of = head<std::remove_const_t<decltype(capped)>>;
  const of two{capped, 0.25f, {2}}, nine{capped, 0.5f, {9}};
  BOOST_TEST(same_bits(two(q, k, v), capped(q, k, v, 0.25f, tensor<float>{2})));
  BOOST_TEST(same_bits(two(q, k, v), plain(two.attend)(q, k, v, two.scale, two.cap)));
  const auto near = [](const queries& x, const queries& y) {
    return max<batch, heads, query, head_dim>(abs(x - y))() < 1e-5f;
  };
  BOOST_TEST(near(two(q, k, v), scaled_dot_product_attention_with<softcap<2>>(q, k, v)));
  BOOST_TEST(
      near(nine(q, k, v), scaled_dot_product_attention_with<softcap<9>>(queries(q * 2), k, v)));
  BOOST_TEST(!near(nine(q, k, v), two(q, k, v)));
}

// An attention formula takes no more memory than the function, at the shapes that are raced
// (bench/peers/workloads.hpp).
template <std::size_t Batch, std::size_t Heads, std::size_t Queries, std::size_t Keys,
          std::size_t Features>
constexpr bool takes_no_more_memory() {
  using q = tensor<float, batch<Batch>, heads<Heads>, query<Queries>, head_dim<Features>>;
  using k = tensor<float, batch<Batch>, heads<Heads>, key<Keys>, head_dim<Features>>;
  using function = workspace_for<decltype(scaled_dot_product_attention), q, k, k>;
  return sizeof(workspace_for<decltype(attention), q, k, k>) <= sizeof(function);
}
static_assert(takes_no_more_memory<1, 4, 16, 16, 8>());
static_assert(takes_no_more_memory<2, 5, 4, 6, 20>());
static_assert(takes_no_more_memory<1, 8, 32, 32, 8>());
static_assert(takes_no_more_memory<1, 4, 64, 64, 16>());
static_assert(takes_no_more_memory<1, 8, 128, 128, 32>());
static_assert(takes_no_more_memory<1, 12, 128, 128, 32>());
static_assert(takes_no_more_memory<1, 3, 197, 197, 64>());
static_assert(takes_no_more_memory<1, 8, 512, 512, 64>());
static_assert(takes_no_more_memory<1, 8, 1, 512, 64>());
static_assert(takes_no_more_memory<1, 12, 1, 128, 32>());

BOOST_AUTO_TEST_CASE(a_formula_is_a_part_of_another) {
  static constexpr formula norm = [](auto x) { return x * 2 + 1; };
  constexpr formula whole = [](auto q, auto k, auto v) { return attention(norm(q), k, v) * 3; };
  BOOST_TEST(same_bits(whole(q, k, v), decltype(attention(q, k, v))(attention(norm(q), k, v) * 3)));
}

BOOST_AUTO_TEST_CASE(parts_one_after_another) {
  constexpr formula both = [](auto a, auto b) {
    return concat<query>(a * 2, b | permute<batch, heads, query, head_dim>);
  };
  tensor<float, heads<3>, batch<2>, query<2>, head_dim<16>> more;
  fill(more, 9);
  const auto y = both(q, more);
  static_assert(decltype(y)::extent<query> == 19);
  BOOST_TEST(y(1, 2, 16, 3) == 2 * q(1, 2, 16, 3));
  BOOST_TEST(y(1, 2, 18, 3) == more(2, 1, 1, 3));
}

BOOST_AUTO_TEST_CASE(more_parts_and_parts_along_a_new_axis) {
  struct weights {
    tensor<float, query<2>, head_dim<5>> first;
  };
  static weights w;
  tensor<float, query<2>, head_dim<5>> x;
  tensor<float, head_dim<5>, query<2>> y;
  fill(w.first, 41), fill(x, 42), fill(y, 43);
  const auto turned = y | permute<query, head_dim>;
  constexpr formula joined = [](auto a, auto b, const auto& of) {
    return concat<head_dim>(of.first, a, b, a * 2, of.first);
  };
  const auto long_rows = concat<head_dim>(w.first, x, turned, x * 2, w.first);
  BOOST_TEST(same_bits(joined(x, turned, w), long_rows));
  BOOST_TEST(same_bits(plain(joined)(x, turned, w), long_rows));
  constexpr formula stacked = [](auto a, auto b, const auto& of) {
    return stack<batch>(b, of.first, a, a + b) * 3;
  };
  const auto all = stack<batch>(turned, w.first, x, x + turned) * 3;
  static_assert(decltype(all)::extent<batch> == 4);
  BOOST_TEST(same_bits(stacked(x, turned, w), decltype(stacked(x, turned, w))(all)));
  BOOST_TEST(same_bits(plain(stacked)(x, turned, w), stacked(x, turned, w)));
  constexpr formula one = [](auto a) { return stack<batch>(a) + concat<query>(a); };
  BOOST_TEST(same_bits(one(x), stack<batch>(x + x)));
}

BOOST_AUTO_TEST_CASE(rows_of_a_table) {
  struct weights {
    tensor<float, classes<7>, hidden<3>> words;
  };
  static weights w;
  fill(w.words, 51);
  const tensor<int, batch<2>, token<3>> ids{3, 0, 6, 7, -1, 2};  // some outside of the table
  const auto rows = lookup(w.words, ids);
  constexpr formula embedded = [](const auto& of, auto at) { return lookup(of.words, at); };
  BOOST_TEST(same_bits(embedded(w, ids), rows));
  BOOST_TEST(same_bits(plain(embedded)(w, ids), rows));
  // The table an argument, computed, permuted; the integers in any order, of any type.
  constexpr formula computed = [](auto table, auto at) {
    return lookup(exp(table), at | permute<token, batch>);
  };
  const tensor<unsigned char, batch<2>, token<3>> bytes{3, 0, 6, 7, 255, 2};
  const auto turned = lookup(exp(w.words), bytes | permute<token, batch>);
  BOOST_TEST(same_bits(computed(w.words, bytes), turned));
  const tensor<float, hidden<3>, classes<7>> columns(w.words | permute<hidden, classes> |
                                                     contiguous);
  BOOST_TEST(same_bits(computed(columns | permute<classes, hidden>, bytes), turned));
  BOOST_TEST(same_bits(plain(computed)(w.words, bytes), turned));

  constexpr formula chosen = [](auto at) { return one_hot<classes<7>>(at); };
  BOOST_TEST(same_bits(chosen(ids), one_hot<classes<7>>(ids)));
  BOOST_TEST(same_bits(plain(chosen)(ids), one_hot<classes<7>>(ids)));
  constexpr formula product = [](auto table, auto at) {
    return contract<classes>(one_hot<classes<7>>(at), table);
  };
  BOOST_TEST((product(w.words, ids) == rows));
  constexpr formula of_double = [](auto x, auto at) { return x + one_hot<token<2>, double>(at); };
  const tensor<double, token<2>> ones{1, 1};
  BOOST_TEST(same_bits(of_double(ones, tensor<int>{1}), tensor<double, token<2>>{1, 2}));
}

BOOST_AUTO_TEST_CASE(integers_are_the_numbers_that_the_formula_computes_in) {
  const tensor<int, token<3>, batch<2>> ids{3, 7, 0, -1, 6, 2};
  constexpr formula reduced = [](auto at) {
    const auto turned = at | permute<batch, token>;
    return std::tuple{sum<token>(at), max<token>(turned) * 0.5f, contract<token>(at, turned)};
  };
  const auto expected = std::tuple{tensor<float, batch<2>>{9, 8}, tensor<float, batch<2>>{3, 3.5f},
                                   tensor<float, batch<2>>{45, 54}};
  for (const auto& given : {reduced(ids), plain(reduced)(ids)}) {
    BOOST_TEST(same_bits(std::get<0>(given), std::get<0>(expected)));
    BOOST_TEST(same_bits(std::get<1>(given), std::get<1>(expected)));
    BOOST_TEST(same_bits(std::get<2>(given), std::get<2>(expected)));
  }
}

BOOST_AUTO_TEST_CASE(rotated_by_given_angles) {
  struct tables {
    tensor<float, query<17>, head_dim<8>> cosines, sines;
  };
  static tables of;
  fill(of.cosines, 71), fill(of.sines, 72);
  constexpr formula turned = [](auto x, const auto& by) {
    return rotate<split_halves, head_dim>(x * 2, by.cosines, by.sines);
  };
  const auto wanted = rotate<split_halves, head_dim>(q * 2, of.cosines, of.sines);
  BOOST_TEST(same_bits(turned(q, of), wanted));
  BOOST_TEST(same_bits(plain(turned)(q, of), wanted));
  constexpr formula looked_up = [](auto x, auto cosines, auto sines, auto positions) {
    return rotate<adjacent_pairs, head_dim>(x, lookup(cosines, positions),
                                            lookup(sines, positions));
  };
  const auto cosines = rope_cosines<adjacent_pairs, token<40>, head_dim<16>>();
  const auto sines = rope_sines<adjacent_pairs, token<40>, head_dim<16>>();
  tensor<int, query<17>> counted;
  for (int i = 0; i < 17; ++i) counted(i) = i;
  const auto by_axis = rotate<adjacent_pairs, query, head_dim>(q);
  BOOST_TEST(same_bits(looked_up(q, cosines, sines, counted), by_axis));
  constexpr formula placed = [](auto x, auto positions) {
    return rotate<adjacent_pairs, token<40>, head_dim>(x, positions);
  };
  BOOST_TEST(same_bits(placed(q, counted), by_axis));
  BOOST_TEST(same_bits(plain(placed)(q, counted), by_axis));
  // Another for each head, of a program, in a product; some outside of the table.
  tensor<int, query<17>, heads<3>> some{};
  int number = -2;
  for (int& i : some) i = (number += 7) % 43;
  constexpr formula in_a_product = [](auto x, auto y, auto positions) {
    auto turned = rotate<rope<split_halves, 500, 6>, token<40>, head_dim>(x * 2, positions);
    return contract<head_dim>(turned, y);
  };
  const auto by_hand = rotate<rope<split_halves, 500, 6>, token<40>, head_dim>(q * 2, some);
  BOOST_TEST(same_bits(in_a_product(q, k, some), contract<head_dim>(by_hand, k)));
  BOOST_TEST(same_bits(plain(in_a_product)(q, k, some), in_a_product(q, k, some)));
}

BOOST_AUTO_TEST_CASE(a_norm_over_several_axes) {
  constexpr formula norm = [](auto x) {
    return (x - mean<heads, head_dim>(x)) * rsqrt((x | variance<heads, head_dim>)+1e-5f);
  };
  const auto y = norm(q);
  BOOST_TEST(same_bits(plain(norm)(q), y));
  BOOST_TEST((max<batch, query>(abs(mean<heads, head_dim>(y)))() < 1e-6f));
  BOOST_TEST((max<batch, query>(abs(variance<heads, head_dim>(y) - 1))() < 1e-3f));
  constexpr formula of_rows = [](auto x) { return variance<heads, head_dim>(x); };
  BOOST_TEST(same_bits(of_rows(q), variance<heads, head_dim>(q)));
}

BOOST_AUTO_TEST_CASE(one_position_is_repeated) {
  tensor<float, query<17>, head_dim<1>> column;
  fill(column, 61);
  constexpr formula repeated = [](auto x, auto c) {
    return x + (c | broadcast<query<17>, head_dim<16>>);
  };
  const auto y = repeated(q, column);
  BOOST_TEST(same_bits(plain(repeated)(q, column), y));
  BOOST_TEST(y(1, 2, 3, 4) == q(1, 2, 3, 4) + column(3, 0));
  constexpr formula norm = [](auto x) {
    auto length = sum<head_dim>(x * x) | broadcast<batch<2>, heads<3>, query<17>, head_dim<1>>;
    return x * rsqrt(length | broadcast<batch<2>, heads<3>, query<17>, head_dim<16>>);
  };
  BOOST_TEST(same_bits(plain(norm)(q), norm(q)));
}

BOOST_AUTO_TEST_CASE(weights_of_a_linear_are_an_argument) {
  using layer = linear<float, head_dim<16>, head_dim<4>>;
  static layer::weights w;
  fill(w.weight);
  constexpr formula map = [](auto x, const auto& w) { return x * w; };
  BOOST_TEST(same_bits(map(q, w), layer{w}(q)));
  static const prepacked<layer> packed(w);
  BOOST_TEST(same_bits(map(q, packed.get_weights()), layer{w}(q)));
}

BOOST_AUTO_TEST_CASE(sizes_are_asked_for_as_of_tensors) {
  constexpr formula scaled = [](auto x) { return x * float(x.template extent<head_dim>); };
  BOOST_TEST(scaled(q)(1, 2, 3, 4) == q(1, 2, 3, 4) * 16);
  constexpr formula counted = [](auto x) { return x * float(x.size()); };
  BOOST_TEST(counted(q)(1, 2, 3, 4) == q(1, 2, 3, 4) * float(q.size()));
}

// Of scores that are a sum of two contractions, one is stored and read as a bias is.
BOOST_AUTO_TEST_CASE(scores_in_two_parts) {
  constexpr formula sum_of_two = [](auto q, auto k, auto v, auto q2, auto k2) {
    auto scores = contract<head_dim>(q, k) + contract<value_dim>(q2, k2);
    return contract<key>(softmax<key>(scores), v);
  };
  constexpr formula biased = [](auto q, auto k, auto v, auto bias) {
    return contract<key>(softmax<key>(contract<head_dim>(q, k) + bias), v);
  };
  tensor<float, batch<2>, heads<3>, query<17>, value_dim<4>> q2;
  tensor<float, batch<2>, key<21>, value_dim<4>> k2;
  fill(q2, 10), fill(k2, 11);
  const auto result = sum_of_two(q, k, v, q2, k2);
  BOOST_TEST(same_bits(plain(sum_of_two)(q, k, v, q2, k2), result));
  BOOST_TEST(same_bits(biased(q, k, v, contract<value_dim>(q2, k2)), result));
}

BOOST_AUTO_TEST_CASE(parts_are_known_by_their_place) {
  // In whichever order the compiler evaluates the operands.
  using map = linear<float, hidden<2>, intermediate<2>, bias<false>>;
  struct weights {
    map::weights gate, up;
  };
  static weights w;
  w.gate(0, 0) = 5, w.gate(0, 1) = 6, w.up(0, 0) = 1, w.up(0, 1) = 2;
  const tensor<float, hidden<2>> x{1, 1};
  constexpr formula difference = [](auto a, const auto& of) { return a * of.gate - a * of.up; };
  BOOST_TEST(difference(x, w)(0) == 4);
  BOOST_TEST(difference(x, w)(1) == 4);
  constexpr formula gated_by = [](auto a, const auto& of) {
    auto gate = a * of.gate;
    return (gate / (a * of.up)) * gate - (a * of.up) * 0.5f;
  };
  BOOST_TEST(gated_by(x, w)(0) == 24.5f);
  BOOST_TEST(gated_by(x, w)(1) == 17);
}

BOOST_AUTO_TEST_CASE(parts_of_arguments_are_operands) {
  struct weights {
    tensor<float, heads<3>, head_dim<16>> gain, other;
    tensor<float, head_dim<16>, value_dim<5>> table;
    view<const float, head_dim<16>> borrowed;
  };
  static weights w{
      .gain = {}, .other = {}, .table = {}, .borrowed = view(w.gain | select_at<heads, 1>)};
  fill(w.gain, 21), fill(w.other, 22), fill(w.table, 23);
  const auto check = [&](auto parts, auto arguments) {
    const auto y = parts(q, w);
    BOOST_TEST(same_bits(y, plain(parts)(q, w)));
    BOOST_TEST(same_bits(y, arguments(q, w.gain, w.other, w.table)));
  };
  check(formula{[](auto x, const auto& w) { return contract<head_dim>(x, w.table); }},
        formula{[](auto x, auto, auto, auto table) { return contract<head_dim>(x, table); }});
  check(formula{[](auto x, const auto& w) { return contract<head_dim>(w.table, x); }},
        formula{[](auto x, auto, auto, auto table) { return contract<head_dim>(table, x); }});
  check(formula{[](auto x, const auto& w) { return where(x > 0, w.gain, w.other); }},
        formula{[](auto x, auto g, auto o, auto) { return where(x > 0, g, o); }});
  check(formula{[](auto x, const auto& w) {
          return x * (w.table | permute<value_dim, head_dim> | select_at<value_dim, 3>);
        }},
        formula{
            [](auto x, auto, auto, auto table) { return x * (table | select_at<value_dim, 3>); }});
  check(formula{[](auto x, const auto& w) { return x * w.borrowed; }},
        formula{[](auto x, auto g, auto, auto) { return x * (g | select_at<heads, 1>); }});
}

BOOST_AUTO_TEST_CASE(parts_of_arguments_beside_positions) {
  struct weights {
    tensor<float, heads<3>> slopes, other;
    tensor<float, heads<3>, head_dim<4>> table;
  };
  static weights w;
  fill(w.slopes, 81), fill(w.other, 82), fill(w.table, 83);
  constexpr formula of_parts = [](auto q, auto k, auto v, const auto& w) {
    auto scores = contract<head_dim>(q, k) + w.slopes * (position<key> - position<query>);
    return contract<key>(softmax<key>(scores), v);
  };
  constexpr formula of_arguments = [](auto q, auto k, auto v, auto slopes) {
    auto scores = contract<head_dim>(q, k) + slopes * (position<key> - position<query>);
    return contract<key>(softmax<key>(scores), v);
  };
  BOOST_TEST(same_bits(of_parts(q, k, v, w), of_arguments(q, k, v, w.slopes)));
  BOOST_TEST(same_bits(plain(of_parts)(q, k, v, w), of_arguments(q, k, v, w.slopes)));
  constexpr formula chosen = [](auto x, const auto& w) {
    auto far = where(position<key> > position<query>, w.slopes, w.other);
    auto nearest = maximum((w.table | select_at<head_dim, 2>)*position<key>, far);
    return x - nearest * 2;
  };
  constexpr formula chosen_of = [](auto x, auto slopes, auto other, auto table) {
    auto far = where(position<key> > position<query>, slopes, other);
    auto nearest = maximum((table | select_at<head_dim, 2>)*position<key>, far);
    return x - nearest * 2;
  };
  const auto y = chosen(added, w);
  BOOST_TEST(same_bits(plain(chosen)(added, w), y));
  BOOST_TEST(same_bits(chosen_of(added, w.slopes, w.other, w.table), y));
}

BOOST_AUTO_TEST_CASE(out_in_another_order_or_with_gaps) {
  const tensor<float, query<2>, key<3>> x{1, 2, 3, 4, 5, 6};
  constexpr formula twice = [](auto a) { return a * 2; };
  tensor<float, key<3>, query<2>> out;
  twice.into(out, x);
  BOOST_TEST(out(at<query>(1), at<key>(0)) == 8);
  BOOST_TEST(out(at<query>(0), at<key>(2)) == 6);
  constexpr formula rows = [](auto a) { return softmax<key>(a); };
  rows.into(out, x);
  const auto wanted = softmax<key>(x);
  static tensor<float, query<4>, key<5>> large;
  auto part = large | slice<query, from<1>, extent<2>> | slice<key, from<1>, extent<3>>;
  rows.into(part, x);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) {
      BOOST_TEST(out(at<query>(i), at<key>(j)) == wanted(i, j));
      BOOST_TEST(part(i, j) == wanted(i, j));
    }
  BOOST_TEST(large(0, 0) + large(1, 0) + large(1, 4) + large(3, 1) == 0);
}

BOOST_AUTO_TEST_CASE(conditions_are_one_and_zero) {
  const tensor<float, query<2>, key<3>> x{1, 2, 3, 4, 5, 6};
  constexpr formula count = [](auto a) { return (a > 2) + (a > 4) * 10; };
  BOOST_TEST(count(x)(0, 1) == 0);
  BOOST_TEST(count(x)(0, 2) == 1);
  BOOST_TEST(count(x)(1, 2) == 11);
  BOOST_TEST(same_bits(plain(count)(x), count(x)));
  // Read by other axes they are stored.
  const tensor<float, token<3>> pad{1, 0, 1};
  constexpr formula hidden_keys = [](auto a, auto p) {
    auto dead = p < 0.5f;
    return where(dead | rename_axis<token, key>, 0, a);
  };
  BOOST_TEST(hidden_keys(x, pad)(1, 1) == 0);
  BOOST_TEST(hidden_keys(x, pad)(1, 2) == 6);
  constexpr formula penalty = [](auto a, auto b, auto c) {
    auto scores = contract<head_dim>(a, b) + (position<key> > position<query>)*-1e9f;
    return contract<key>(softmax<key>(scores), c);
  };
  constexpr formula hiding = [](auto a, auto b, auto c) {
    return contract<key>(
        softmax<key>(hide(contract<head_dim>(a, b), position<key> > position<query>)), c);
  };
  BOOST_TEST(same_bits(penalty(q, k, v), hiding(q, k, v)));
}

BOOST_AUTO_TEST_CASE(positions_stay_open) {
  tensor<float, query<2>, key<2>> s{};
  const tensor<float, heads<1>> slope{1};
  constexpr formula far = [](auto a, auto by) {
    return a - relu(mean<heads>(by) * (position<query> - position<key>));
  };
  BOOST_TEST(far(s, slope)(1, 0) == -1);
  BOOST_TEST(far(s, slope)(0, 1) == 0);
}

template <class Function>
bool equals_its_numbers(Function function) {
  const tensor<float, query<5>> number{-2, -1, 0, 1, 2};
  const tensor<float, query<5>, key<3>> s{};
  constexpr formula of_positions = [](auto a) { return a + Function{}(position<query> - 2); };
  const auto y = of_positions(s);
  const auto expected = function(number);
  bool same = true;
  for (std::size_t i = 0; i < 5; ++i) same = same && y(i, 2) == expected(i);
  return same;
}
BOOST_AUTO_TEST_CASE(activations_of_positions) {
  BOOST_TEST(equals_its_numbers(relu));
  BOOST_TEST(equals_its_numbers(silu));
  BOOST_TEST(equals_its_numbers(elu));
  BOOST_TEST(equals_its_numbers(softplus));
  BOOST_TEST(equals_its_numbers(log_sigmoid));
  BOOST_TEST(equals_its_numbers(gelu_exact));
  BOOST_TEST(equals_its_numbers(gelu_tanh));
}

BOOST_AUTO_TEST_CASE(softmax_along_several_axes) {
  tensor<float, batch<2>, query<3>, key<4>, heads<2>> x;
  unsigned state = 1;
  for (float& e : x)
    e = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-18f - 32;
  for (std::size_t q_of_row = 0; q_of_row < 3; ++q_of_row)
    for (std::size_t k_of_row = 0; k_of_row < 4; ++k_of_row)
      x(1, q_of_row, k_of_row, 1) = -std::numeric_limits<float>::infinity();
  const auto one_axis = x | merge<query, key, key>;
  const auto back = split_into<key, query<3>, key<4>>;
  const auto y = softmax<query, key>(x);
  BOOST_TEST(same_bits(y, contiguous(softmax<key>(one_axis) | back)));
  BOOST_TEST(same_bits(log_softmax<query, key>(x), contiguous(log_softmax<key>(one_axis) | back)));
  BOOST_TEST(y(1, 2, 3, 1) == 0);
  BOOST_TEST(same_bits(softmax<query, key, heads>(x),
                       contiguous(softmax<heads>(x | merge<query, key, heads, heads>) |
                                  split_into<heads, query<3>, key<4>, heads<2>>)));
  auto permuted = contiguous(x | permute<key, query, batch, heads>);
  BOOST_TEST(
      same_bits(contiguous(softmax<query, key>(permuted | permute<batch, query, key, heads>)), y));
  constexpr formula f = [](auto a) { return softmax<query, key>(a) * 2.0f; };
  auto twice = y;
  for (float& e : twice) e *= 2;
  BOOST_TEST(same_bits(f(x), twice));
  BOOST_TEST(same_bits(plain(f)(x), f(x)));
}

BOOST_AUTO_TEST_CASE(rows_of_the_lowest_number_and_scores_that_hide_themselves) {
  const tensor<float, query<1>, head_dim<1>> one{0};
  const tensor<float, key<2>, head_dim<1>> keys_of{0, 0};
  const tensor<float, key<2>, head_dim<1>> values_of{1, 3};
  const tensor<float, query<1>, key<2>> lowest{std::numeric_limits<float>::lowest(),
                                               std::numeric_limits<float>::lowest()};
  constexpr formula biased = [](auto a, auto b, auto c, auto d) {
    return contract<key>(softmax<key>(contract<head_dim>(a, b) + d), c);
  };
  BOOST_TEST(biased(one, keys_of, values_of, lowest)(0, 0) == 2);
  constexpr formula of_scores = [](auto a, auto b, auto c) {
    auto scores = contract<head_dim>(a, b);
    return contract<key>(softmax<key>(hide(scores, scores < 0)), c);
  };
  BOOST_TEST(of_scores(one, keys_of, values_of)(0, 0) == 2);
  const auto y = of_scores(q, k, v);
  BOOST_TEST(same_bits(plain(of_scores)(q, k, v), y));
}

BOOST_AUTO_TEST_CASE(special_values) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  tensor<float, query<4>> x{-0.0f, infinity, -infinity, NAN};
  constexpr formula product = [](auto x) { return x * 1; };
  BOOST_TEST(std::signbit(product(x)(0)));
  BOOST_TEST(product(x)(1) == infinity);
  constexpr formula hidden_row = [](auto x) { return softmax<query>(hide(x, x < 1)); };
  const tensor<float, query<3>> y{-5, 1, 3};
  BOOST_TEST(hidden_row(y)(0) == 0.0f);
  BOOST_TEST(hidden_row(y)(1) > 0.1f);
}

// A program of one product is done in its place; its bits are those of a pass.
template <class T, std::size_t Rows, std::size_t In, std::size_t Out>
void check_tails() {
  using map = linear<T, hidden<In>, intermediate<Out>, bias<true>>;
  static typename map::weights weights;
  fill(weights.weight, 7);
  fill(weights.bias, 8);
  static const prepacked<map> packed{weights};
  tensor<T, token<Rows>, hidden<In>> x;
  tensor<T, token<Rows>, intermediate<Out>> up;
  tensor<T, token<Rows>> scales;
  fill(x, 9), fill(up, 10), fill(scales, 11);
  constexpr formula gated_by = [](auto a, const auto& w, auto by) { return (a * w | silu) * by; };
  const tensor<T, token<Rows>, intermediate<Out>> expected = (x * weights | silu) * up;
  BOOST_TEST(same_bits(gated_by(x, weights, up), expected));
  BOOST_TEST(same_bits(gated_by(x, packed.get_weights(), up), expected));
  BOOST_TEST(same_bits(plain(gated_by)(x, weights, up), expected));
  // The number of a row, a scale for each; in another order.
  constexpr formula placed = [](auto a, const auto& w, auto b, auto scale) {
    return ((a * w - b) * scale + position<token>) / (position<intermediate> + 1) |
           permute<intermediate, token> | contiguous;
  };
  const auto by_loops = plain(placed)(x, weights, up, scales);
  BOOST_TEST(same_bits(placed(x, weights, up, scales), by_loops));
  BOOST_TEST(same_bits(placed(x, packed.get_weights(), up, scales), by_loops));
  // Rows that lie one beside the other.
  const tensor<T, hidden<In>, token<Rows>> columns = x | permute<hidden, token> | contiguous;
  BOOST_TEST(same_bits(gated_by(columns | permute<token, hidden>, weights, up), expected));
  BOOST_TEST(same_bits(
      gated_by(columns, packed.get_weights(), up | permute<intermediate, token> | contiguous),
      tensor<T, intermediate<Out>, token<Rows>>(expected | permute<intermediate, token> |
                                                contiguous)));
}

BOOST_AUTO_TEST_CASE(tails_of_projections) {
  check_tails<float, 1, 5, 100>();
  check_tails<float, 17, 32, 65>();
  check_tails<float, 40, 3, 4>();
  check_tails<float, 33, 16, 1>();
  check_tails<double, 9, 7, 50>();
}

BOOST_AUTO_TEST_CASE(tails_of_weights_in_16_bits) {
  using map = linear<float, hidden<16>, intermediate<50>, bias<false>>;
  map::weights weights;
  fill(weights.weight, 7);
  tensor<float, token<20>, hidden<16>> x;
  fill(x, 9);
  constexpr formula activated = [](auto a, const auto& w) { return a * w | gelu_tanh; };
  const prepacked<map, stored_as<bfloat16>> brains{weights};
  BOOST_TEST(
      same_bits(activated(x, brains.get_weights()), tensor(x * brains.get_weights() | gelu_tanh)));
  const prepacked<map, stored_as<float16>> halves{weights};
  BOOST_TEST(
      same_bits(activated(x, halves.get_weights()), tensor(x * halves.get_weights() | gelu_tanh)));
}

BOOST_AUTO_TEST_CASE(tails_of_contractions) {
  // Columns of two axes, of which the program has one; rows of two as well.
  tensor<float, batch<3>, query<17>, head_dim<20>> x;
  tensor<float, key<7>, heads<5>, head_dim<20>> y;
  tensor<float, key<7>> of_keys;
  tensor<float, batch<3>, heads<5>> both;
  fill(x, 1), fill(y, 2), fill(of_keys, 3), fill(both, 4);
  constexpr formula f = [](auto a, auto b, auto c, auto d) {
    return tanh(contract<head_dim>(a, b) * c + d) - position<heads>;
  };
  BOOST_TEST(same_bits(f(x, y, of_keys, both), plain(f)(x, y, of_keys, both)));
  constexpr formula other_order = [](auto a, auto b, auto c, auto d) {
    return tanh(contract<head_dim>(a, b) * c + d) | permute<heads, batch, key, query> | contiguous;
  };
  BOOST_TEST(same_bits(other_order(x, y, of_keys, both), plain(other_order)(x, y, of_keys, both)));
  // Several summed axes, a depth in parts, no columns.
  tensor<float, query<17>, heads<5>, head_dim<20>> z;
  tensor<float, query<17>> biases_of_queries;
  fill(z, 5), fill(biases_of_queries, 6);
  constexpr formula sums = [](auto a, auto b, auto c) {
    return relu(contract<heads, head_dim>(a, b) + c);
  };
  BOOST_TEST(same_bits(sums(z, y, biases_of_queries), plain(sums)(z, y, biases_of_queries)));
  tensor<float, query<17>, hidden<700>> wide;
  tensor<float, key<40>, hidden<700>> others;
  fill(wide, 7), fill(others, 8);
  constexpr formula deep = [](auto a, auto b, auto c) { return relu(contract<hidden>(a, b) * c); };
  BOOST_TEST(same_bits(deep(wide, others, biases_of_queries),
                       plain(deep)(wide, others, biases_of_queries)));
}

BOOST_AUTO_TEST_CASE(a_product_and_its_tail_are_stored_once) {
  using network =
      feed_forward<float, hidden<16>, intermediate<64>, bias<false>, activation<silu>, gated<true>>;
  using tokens = tensor<float, token<12>, hidden<16>>;
  constexpr formula forward = [](auto x, const auto& w) {
    return (x * w.gate | silu) * (x * w.up) * w.down + x;
  };
  network::weights weights;
  fill(weights.gate.weight, 1), fill(weights.up.weight, 2), fill(weights.down.weight, 3);
  tokens x;
  fill(x, 4);
  BOOST_TEST(same_bits(forward(x, weights), tokens(network{weights}(x) + x)));
  // The gate and the gated; the result is the caller's.
  static_assert(workspace_for<decltype(forward), tokens, network::weights>::elements ==
                2 * 12 * 64);
  // The same product before and after the activation; a condition of it.
  constexpr formula twice = [](auto a, const auto& w) {
    auto h = a * w;
    return where(h > 0, h, tanh(h) * h);
  };
  using map = linear<float, hidden<16>, intermediate<20>>;
  map::weights other;
  fill(other.weight, 5);
  BOOST_TEST(same_bits(twice(x, other), plain(twice)(x, other)));
  constexpr auto in_the_compiler = [] {
    const tensor<float, token<2>, hidden<2>> one{1.5f, 1.5f, 1.5f, 1.5f};
    portable::linear_weights<float, hidden<2>, intermediate<3>, true> w{};
    w.weight[0] = w.bias[1] = 2;
    constexpr formula activated = [](auto a, const auto& b) { return relu(a * b - 1); };
    return activated(one, w);
  }();
  static_assert(in_the_compiler(1, 0) == 2 && in_the_compiler(1, 1) == 1 &&
                in_the_compiler(1, 2) == 0);
}

// Rows that are reduced are computed where they are read.
template <class T, std::size_t Rows, std::size_t Width>
void check_reduced_rows() {
  tensor<T, batch<2>, token<Rows>, hidden<Width>> x;
  tensor<T, hidden<Width>, batch<2>, token<Rows>> y;
  tensor<T, hidden<Width>> scale;
  fill(x, 1), fill(y, 2), fill(scale, 3);
  constexpr formula norm = [](auto a, auto b, auto c) {
    auto sum = a + b;
    auto difference = sum - mean<hidden>(sum);
    return difference * rsqrt(mean<hidden>(difference * difference) + 1e-5f) * c;
  };
  BOOST_TEST(same_bits(norm(x, y, scale), plain(norm)(x, y, scale)));
  // Only the sum and the difference are stored, and two numbers a row.
  constexpr std::size_t line = 16, of_rows = (2 * Rows + line - 1) / line * line;
  static_assert(
      workspace_for<decltype(norm), decltype(x), decltype(y), decltype(scale)>::elements <=
      2 * (2 * Rows * Width + line) + 2 * of_rows);
  constexpr formula largest = [](auto a, auto c) {
    return max<hidden>(abs(a) * c) - min<hidden>(a * position<hidden> - position<token>);
  };
  BOOST_TEST(same_bits(largest(x, scale), plain(largest)(x, scale)));
  // As sums of what is stored.
  constexpr formula squares = [](auto a) { return sum<hidden>(a * a); };
  BOOST_TEST(same_bits(squares(x), sum<hidden>(x * x)));
  BOOST_TEST(same_bits(squares(x | slice<hidden, from<0>, extent<1>>),
                       sum<hidden>(x * x | slice<hidden, from<0>, extent<1>>)));
  constexpr formula over_rows = [](auto a) { return mean<token>(a * a); };
  BOOST_TEST(same_bits(over_rows(x), mean<token>(x * x)));
}

BOOST_AUTO_TEST_CASE(reduced_rows_of_a_program) {
  check_reduced_rows<float, 17, 33>();
  check_reduced_rows<float, 1, 100>();
  check_reduced_rows<float, 3, 2>();
  check_reduced_rows<double, 20, 19>();
  constexpr tensor<float, token<2>, hidden<3>> x{1, 2, 3, -1, 0, 4};
  constexpr formula squares = [](auto a) { return mean<hidden>(a * a * 3); };
  constexpr auto means = squares(x);
  static_assert(means(0) == 14 && means(1) == 17);
}

// Where nothing says `using namespace umbel`.
BOOST_AUTO_TEST_CASE(functions_by_their_full_names) {
  constexpr formula full = [](auto a, auto ids) {
    auto b =
        umbel::where(a > 0, umbel::exp(a), umbel::maximum(umbel::tanh(a), umbel::minimum(a, 0)));
    auto c = umbel::hide(umbel::sqrt(umbel::abs(a)) + umbel::rsqrt(a * a), a < 0);
    auto d = umbel::concat<hidden>(b, umbel::sigmoid(c)) | umbel::sum<hidden>;
    auto e = umbel::stack<batch>(d, umbel::log(umbel::exp(d)));
    return umbel::lookup(e, ids) + umbel::sum<batch>(umbel::one_hot<batch<2>>(ids));
  };
  constexpr formula brief = [](auto a, auto ids) {
    auto b = where(a > 0, exp(a), maximum(tanh(a), minimum(a, 0)));
    auto c = hide(sqrt(abs(a)) + rsqrt(a * a), a < 0);
    auto d = concat<hidden>(b, sigmoid(c)) | sum<hidden>;
    auto e = stack<batch>(d, log(exp(d)));
    return lookup(e, ids) + sum<batch>(one_hot<batch<2>>(ids));
  };
  tensor<float, token<3>, hidden<4>> x;
  fill(x);
  const tensor<int, query<2>> ids{1, 0};
  BOOST_TEST(same_bits(full(x, ids), brief(x, ids)));
}

BOOST_AUTO_TEST_SUITE_END()
