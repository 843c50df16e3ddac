// SPDX-License-Identifier: BSL-1.0
// Weights computed from less than pairs, without a product of queries and keys, and flags and
// integers of pairs, which vectors convert.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <umbel/umbel.hpp>

#include "formula_support.hpp"

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

namespace {

using of_queries = tensor<float, batch<2>, heads<3>, query<83>>;
using of_keys = tensor<float, batch<2>, heads<3>, key<67>>;
using values = tensor<float, batch<2>, heads<3>, key<67>, value_dim<5>>;
template <class E>
using of_pairs = tensor<E, query<83>, key<67>>;
using pairs = tensor<float, batch<2>, heads<3>, query<83>, key<67>>;

constexpr auto sums = [](auto a, auto b) {
  return (a | broadcast<batch<2>, heads<3>, query<83>, key<67>>)+b;
};
// Without memory for pairs, with the bits of stored weights.
template <class Weights, class... X>
void check(Weights, const X&... x) {
  static const values v = [] {
    values made;
    fill(made, 3);
    return made;
  }();
  static constexpr Weights weights{};
  constexpr formula stored = weights;
  constexpr formula f = [](auto a, auto b, auto... more_and_values) {
    return [&]<std::size_t... I>(std::index_sequence<I...>, auto of) {
      return contract<key>(weights(a, b, std::get<I>(of)...), std::get<sizeof...(I)>(of));
    }(std::make_index_sequence<sizeof...(more_and_values) - 1>{}, std::tuple{more_and_values...});
  };
  BOOST_TEST(is_context(f, stored, v, x...));
  BOOST_TEST((sizeof(pairs) / 4 > sizeof(workspace_for<decltype(f), X..., values>)));
}
template <class X>
X filled(unsigned seed) {
  X x;
  fill(x, seed);
  return x;
}
template <class E>
of_pairs<E> numbers() {
  of_pairs<E> x;
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<E>(i * 7 % 11 < 5);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(formula_pairs)

BOOST_AUTO_TEST_CASE(sums_of_a_query_and_a_key) {
  const auto a = filled<of_queries>(1);
  const auto b = filled<of_keys>(2);
  // The attention of graphs, whose condition reads its own program.
  const auto of_graphs = [](auto to, auto from, auto adjacent) {
    auto s = sums(to, from);
    return softmax<key>(hide(where(s > 0, s, 0.2f * s), !adjacent));
  };
  check(of_graphs, a, b, numbers<bool>());
  check([](auto to, auto from) { return exp(-abs(sums(to, from))); }, a, b);
  check(
      [](auto to, auto from) {
        auto s = hide(sums(to, from), position<key> > position<query>);
        return softmax<key>(s) * sigmoid(from);
      },
      a, b);
}

BOOST_AUTO_TEST_CASE(flags_and_integers_of_pairs) {
  using queries = tensor<float, batch<2>, heads<3>, query<83>, head_dim<8>>;
  using keys = tensor<float, batch<2>, heads<3>, key<67>, head_dim<8>>;
  static const auto q = filled<queries>(1);
  static const auto k = filled<keys>(2);
  static const auto v = filled<values>(3);
  const auto same = [](const auto& x) {
    constexpr formula hidden = [](auto a, auto b, auto c, auto of) {
      return contract<key>(softmax<key>(hide(contract<head_dim>(a, b), of != 0)), c);
    };
    constexpr formula added = [](auto a, auto b, auto c, auto of) {
      return contract<key>(sigmoid(contract<head_dim>(a, b) - of), c) +
             contract<key>(softmax<key>(contract<head_dim>(a, b) - of), c);
    };
    const auto is_plain = [&](const auto& f) {
      static workspace_for<std::remove_cvref_t<decltype(f)>, queries, keys, values,
                           std::remove_cvref_t<decltype(x)>>
          work;
      return same_bits(f(q, k, v, x, work), plain(f)(q, k, v, x, work));
    };
    return is_plain(hidden) && is_plain(added);
  };
  BOOST_TEST(same(numbers<bool>()));
  BOOST_TEST(same(tensor<bool, key<67>, query<83>>(numbers<bool>() | permute<key, query>)));
  BOOST_TEST(same(numbers<std::int8_t>()));
  BOOST_TEST(same(numbers<std::uint16_t>()));
  BOOST_TEST(same(numbers<int>()));
  const auto flags = numbers<bool>();
  static constexpr formula hides = [](auto a, auto b, auto c, auto of) {
    return contract<key>(softmax<key>(hide(contract<head_dim>(a, b), of)), c);
  };
  static workspace_for<decltype(hides), queries, keys, values, of_pairs<bool>> work;
  BOOST_TEST(same_bits(hides(q, k, v, flags, work), plain(hides)(q, k, v, flags, work)));
}

// A program of pairs that only lacks a batch of 1 is computed in the attention.
template <std::size_t N>
struct bucket : umbel::axis<bucket, N> {};
BOOST_AUTO_TEST_CASE(pairs_of_one_sequence) {
  using queries = tensor<float, batch<1>, heads<3>, query<83>, head_dim<8>>;
  using keys = tensor<float, batch<1>, heads<3>, key<67>, head_dim<8>>;
  static const auto q = filled<queries>(1);
  static const auto k = filled<keys>(2), v = filled<keys>(3);
  static const auto table = filled<tensor<float, bucket<11>, heads<3>>>(4);
  static const auto r = filled<tensor<float, heads<3>>>(5);
  static of_pairs<int> ids;
  for (std::size_t i = 0; i < ids.size(); ++i) ids.data()[i] = static_cast<int>(i * 7 % 13) - 1;
  static const auto biases = filled<tensor<float, heads<3>, query<83>, key<67>>>(6);
  const auto check_of = [](const auto& f, const auto& of_pair, const auto& of_head) {
    static workspace_for<std::remove_cvref_t<decltype(f)>, queries, keys, keys,
                         std::remove_cvref_t<decltype(of_pair)>,
                         std::remove_cvref_t<decltype(of_head)>>
        work;
    BOOST_TEST(
        same_bits(f(q, k, v, of_pair, of_head, work), plain(f)(q, k, v, of_pair, of_head, work)));
    return sizeof(work) < sizeof(biases) / 2;
  };
  constexpr formula looked_up = [](auto a, auto b, auto c, auto at, auto of) {
    return contract<key>(softmax<key>(contract<head_dim>(a, b) + lookup(of, at)), c);
  };
  constexpr formula changed = [](auto a, auto b, auto c, auto bias, auto of) {
    auto s = contract<head_dim>(a, b) - of * abs(bias);
    return contract<key>(softmax<key>(s) * sigmoid(of * bias), c);
  };
  // The product has other axes than the result of its program.
  constexpr formula of_product = [](auto a, auto b, auto c, auto bias, auto of) {
    auto one = contract<head_dim>(a | select_at<batch, 0>, b | select_at<batch, 0>);
    return contract<key>((one * of + bias) * contract<head_dim>(a, b), c);
  };
  BOOST_TEST(check_of(looked_up, ids, table));
  BOOST_TEST(check_of(changed, biases, r));
  BOOST_TEST(!check_of(of_product, biases, r));
}

// A condition of one number for each row is no step of rows, although it comes before the scores,
// which are also a result.
BOOST_AUTO_TEST_CASE(flags_of_rows_before_stored_scores) {
  using tokens = tensor<float, token<5>, hidden<8>>;
  static const auto x = filled<tokens>(1);
  static const tensor<bool, token<5>> keep{true, true, false, true, false};
  constexpr formula f = [](auto tokens_, auto kept) {
    auto hidden_keys = !kept;
    auto y = tanh(tokens_);
    auto s = contract<hidden>(y, y | permute<hidden, token> | rename_axis<token, key>);
    auto weights = softmax<key>(where(hidden_keys | rename_axis<token, key>, -1e9f, s));
    return std::tuple{contract<key>(weights, tokens_ | rename_axis<token, key>), s};
  };
  static workspace_for<decltype(f), tokens, tensor<bool, token<5>>> work;
  const auto [y, s] = f(x, keep, work);
  const auto [plain_y, plain_s] = plain(f)(x, keep, work);
  BOOST_TEST(same_bits(y, plain_y));
  BOOST_TEST(same_bits(s, plain_s));
}

BOOST_AUTO_TEST_SUITE_END()
