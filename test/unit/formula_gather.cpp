// SPDX-License-Identifier: BSL-1.0
// gather and lookup at computed positions in formulas: the values of loops, the bits of plain, for
// tables by distance, clamped or in buckets, of two axes, of conditions; with gradients, in caches
// and by several workers.
#include "gradient_support.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <support/executors.hpp>
#include <umbel/decode/cache_of_formula.hpp>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;
using umbel_test::draw;
using umbel_test::lcg;
using umbel_test::same_bits;

namespace {

template <std::size_t N>
struct offset : umbel::axis<offset, N> {};
template <std::size_t N>
struct bucket : umbel::axis<bucket, N> {};

template <class T, std::size_t Queries, std::size_t Keys>
struct inputs {
  static constexpr int queries = Queries, keys = Keys;
  tensor<T, batch<2>, heads<3>, query<Queries>, head_dim<4>> q;
  tensor<T, batch<2>, heads<3>, key<Keys>, head_dim<4>> k;
  tensor<T, batch<2>, heads<3>, key<Keys>, value_dim<3>> v;
  explicit inputs(unsigned seed) {
    lcg next{seed};
    draw(next, q), draw(next, k), draw(next, v);
  }
};

// softmax(q k / 4 + bias(b, h, i, j)) v by loops, in double: how far is it from what was found?
template <class In, class Found, class Bias>
double furthest_from(const In& in, const Found& found, Bias bias) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  double furthest = 0;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t h = 0; h < 3; ++h)
      for (int i = 0; i < In::queries; ++i) {
        double sum = 0, context[3]{};
        for (int j = 0; j < In::keys; ++j) {
          double score = 0;
          for (std::size_t d = 0; d < 4; ++d)
            score += static_cast<double>(in.q(b, h, at(i), d)) *
                     static_cast<double>(in.k(b, h, at(j), d));
          const double e = std::exp(score * 0.25 + static_cast<double>(bias(b, h, i, j)));
          sum += e;
          for (std::size_t d = 0; d < 3; ++d)
            context[d] += e * static_cast<double>(in.v(b, h, at(j), d));
        }
        for (std::size_t d = 0; d < 3; ++d)
          furthest = std::fmax(
              furthest, std::fabs(context[d] / sum - static_cast<double>(found(b, h, at(i), d))));
      }
  return furthest;
}

// f(q, k, v, more...) has that bias, and the bits of plain; Workers: also of two.
template <bool Workers = false, class In, class F, class Bias, class... More>
void check_bias(const In& in, const F& f, Bias bias, const More&... more) {
  using T = typename decltype(in.q)::value_type;
  static workspace_for<F, decltype(in.q), decltype(in.k), decltype(in.v), More...> work, works[2];
  const auto found = f(in.q, in.k, in.v, more..., work);
  BOOST_TEST(furthest_from(in, found, bias) < (sizeof(T) == 4 ? 1e-6 : 1e-14));
  BOOST_TEST(same_bits(plain(f)(in.q, in.k, in.v, more..., work), found));
  if constexpr (Workers) {
    auto in_parts = found;
    in_parts *= 0;
    umbel_test::shuffled<2> pool;
    f.into(in_parts, in.q, in.k, in.v, more..., parallel(pool, works));
    BOOST_TEST(same_bits(in_parts, found));
  }
}

constexpr formula by_distance = [](auto q, auto k, auto v, auto table) {
  auto scores = contract<head_dim>(q, k) * 0.25f;
  auto from = q.template extent<query> - 1;
  auto found = lookup(table, position<key> - position<query> + from);
  return contract<key>(softmax<key>(scores + found), v);
};
constexpr formula by_clamped_distance = [](auto q, auto k, auto v, auto table) {
  auto scores = contract<head_dim>(q, k) * 0.25f;
  auto found = lookup(table, clamp(position<query> - position<key>, -2, 3) + 2);
  return contract<key>(softmax<key>(scores + found), v);
};

// Products of queries, and of keys, with rows by distance (DeBERTa).
template <class At>
constexpr formula by_rows = [](auto q, auto k, auto v, auto rows) {
  auto at = At{}(position<query>, position<key>);
  auto of_query = gather<bucket>(contract<head_dim>(q, rows), at);
  auto of_key = gather<bucket>(contract<head_dim>(k, rows), at);
  return contract<key>(softmax<key>(contract<head_dim>(q, k) * 0.25f + of_query + of_key), v);
};
// A row's number, of 64 rows.
struct distance_back {
  static int of(int i, int j) { return std::clamp(i - j + 30, 0, 63); }
  constexpr auto operator()(auto i, auto j) const { return clamp(i - j + 30, 0, 63); }
};
struct distance_ahead {
  static int of(int i, int j) { return std::max(j - i + 10, 0); }
  constexpr auto operator()(auto i, auto j) const { return maximum(j - i + 10, 0); }
};
struct absolute_distance {
  static int of(int i, int j) { return std::clamp(std::abs(i - j), 2, 40); }
  constexpr auto operator()(auto i, auto j) const { return clamp(abs(i - j), 2, 40); }
};
struct distance_outside {
  static int of(int i, int j) { return j - i + 13; }
  constexpr auto operator()(auto i, auto j) const { return j - i + 13; }
};
struct double_distance {
  static int of(int i, int j) { return std::clamp(j - 2 * i + 70, 1, 62); }
  constexpr auto operator()(auto i, auto j) const { return clamp(j - 2 * i + 70, 1, 62); }
};

template <class T, std::size_t Queries, std::size_t Keys, class... At>
void check_rows(unsigned seed) {
  const inputs<T, Queries, Keys> in{seed};
  lcg next{seed + 1};
  static tensor<T, heads<3>, bucket<64>, head_dim<4>> rows;
  draw(next, rows);
  const auto check = [&]<class Row>(Row row) {
    check_bias(
        in, by_rows<Row>,
        [&](std::size_t b, std::size_t h, int i, int j) {
          const int at = row.of(i, j);
          double sum = 0;
          for (std::size_t d = 0; at >= 0 && at < 64 && d < 4; ++d)
            sum += (double{in.q(b, h, static_cast<std::size_t>(i), d)} +
                    double{in.k(b, h, static_cast<std::size_t>(j), d)}) *
                   double{rows(h, static_cast<std::size_t>(at), d)};
          return sum;
        },
        rows);
  };
  (check(At{}), ...);
}

// All: also by name, and of a table that is too short.
template <class T, std::size_t Queries, std::size_t Keys, bool All = false>
void check_distances(unsigned seed) {
  const inputs<T, Queries, Keys> in{seed};
  lcg next{seed + 1};
  static tensor<T, offset<Queries + Keys - 1>, heads<3>> table;
  static tensor<T, offset<6>, heads<3>> few;
  draw(next, table), draw(next, few);
  const int from = static_cast<int>(Queries) - 1;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const auto of_table = [&](std::size_t, std::size_t h, int i, int j) {
    return table(at(j - i + from), h);
  };
  check_bias<All>(in, by_distance, of_table, table);
  check_bias(
      in, by_clamped_distance,
      [&](std::size_t, std::size_t h, int i, int j) {
        const int d = i - j < -2 ? -2 : i - j > 3 ? 3 : i - j;
        return few(at(d + 2), h);
      },
      few);
  if constexpr (!All) return;
  const tensor<T, heads<3>, offset<Queries + Keys - 1>> by_heads =
      table | permute<heads, offset> | contiguous;
  constexpr formula by_name = [](auto q, auto k, auto v, auto t) {
    auto found =
        gather<offset>(t, position<key> - position<query> + (q.template extent<query> - 1));
    return contract<key>(softmax<key>(contract<head_dim>(q, k) * 0.25f + found), v);
  };
  check_bias(in, by_name, of_table, by_heads);
  constexpr formula too_few = [](auto q, auto k, auto v, auto t) {
    auto found = lookup(t, 2 * position<key> - position<query> + 1);
    return contract<key>(softmax<key>(contract<head_dim>(q, k) * 0.25f + found), v);
  };
  check_bias(
      in, too_few,
      [&](std::size_t, std::size_t h, int i, int j) {
        const int d = 2 * j - i + 1;
        return d < 0 || d > 5 ? T{} : few(at(d), h);
      },
      few);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(formula_gather)

BOOST_AUTO_TEST_CASE(tables_by_distance) {
  check_distances<float, 35, 19, true>(1);
  check_distances<float, 1, 20>(3);
  check_distances<double, 9, 17>(4);
}

BOOST_AUTO_TEST_CASE(products_by_distance) {
  check_rows<float, 67, 53, distance_back, double_distance, absolute_distance>(20);
  check_rows<double, 20, 33, distance_ahead, distance_outside>(22);
}

// T5's buckets as integers by distance, then a bias of each bucket; the grid of a Swin block, whose
// positions are rows of 4 columns; blocks of keys that blocks of queries see.
BOOST_AUTO_TEST_CASE(buckets_grids_and_blocks) {
  const inputs<float, 12, 12> in{10};
  lcg next{11};
  static tensor<int, offset<23>> buckets;
  static tensor<float, bucket<4>, heads<3>> biases;
  static tensor<float, offset<35>, heads<3>> of_grid;
  static tensor<bool, query<3>, key<3>> seen{true, true, false, false, true,
                                             true, true, false, true};
  draw(next, biases), draw(next, of_grid);
  for (std::size_t i = 0; i < 23; ++i) buckets(i) = static_cast<int>(i * 7 % 5);
  constexpr formula in_buckets = [](auto q, auto k, auto v, auto of, auto t) {
    auto found = lookup(t, lookup(of, position<key> - position<query> + 11));
    return contract<key>(softmax<key>(contract<head_dim>(q, k) * 0.25f + found), v);
  };
  check_bias(
      in, in_buckets,
      [&](std::size_t, std::size_t h, int i, int j) {
        const int b = (j - i + 11) * 7 % 5;
        return b == 4 ? 0.0f : biases(static_cast<std::size_t>(b), h);
      },
      buckets, biases);
  constexpr formula in_a_grid = [](auto q, auto k, auto v, auto t) {
    auto rows = floor(position<key> / 4) - floor(position<query> / 4) + 2;
    auto columns = position<key> % 4 - position<query> % 4 + 3;
    auto found = lookup(t, rows * 7 + columns);
    return contract<key>(softmax<key>(contract<head_dim>(q, k) * 0.25f + found), v);
  };
  check_bias(
      in, in_a_grid,
      [&](std::size_t, std::size_t h, int i, int j) {
        return of_grid(static_cast<std::size_t>((j / 4 - i / 4 + 2) * 7 + j % 4 - i % 4 + 3), h);
      },
      of_grid);
  constexpr formula in_blocks = [](auto q, auto k, auto v, auto kept) {
    auto block = floor(position<query> / 4) * 3 + floor(position<key> / 4);
    auto sees = gather<bucket>(kept | merge<query, key, bucket>, block);
    return contract<key>(softmax<key>(hide(contract<head_dim>(q, k) * 0.25f, !sees)), v);
  };
  check_bias(
      in, in_blocks,
      [&](std::size_t, std::size_t, int i, int j) {
        const bool sees = seen(static_cast<std::size_t>(i / 4), static_cast<std::size_t>(j / 4));
        return sees ? 0.0f : -std::numeric_limits<float>::infinity();
      },
      seen);
}

// Rows by integers are elementwise, too; computed positions need gather.
BOOST_AUTO_TEST_CASE(rows_of_tables) {
  lcg next{30};
  tensor<float, vocabulary<7>, hidden<19>> table;
  tensor<float, batch<2>, token<5>, hidden<19>> x;
  tensor<int, batch<2>, token<5>> ids;
  tensor<int, vocabulary<9>> renumbered;
  draw(next, table), draw(next, x);
  for (std::size_t i = 0; i < 10; ++i) ids.data()[i] = static_cast<int>(i) - 1;
  for (std::size_t i = 0; i < 9; ++i) renumbered(i) = static_cast<int>(8 - i);
  constexpr formula f = [](auto i, auto t, auto a) { return lookup(t, i) * 2.0f + a; };
  BOOST_TEST(same_bits(f(ids, table, x), lookup(table, ids) * 2.0f + x));
  BOOST_TEST(same_bits(plain(f)(ids, table, x), f(ids, table, x)));
  constexpr formula twice = [](auto i, auto map, auto t) {
    return gather<vocabulary>(t, lookup(map, i) * 0.5f);
  };
  const auto found = twice(ids, renumbered, table);
  BOOST_TEST(same_bits(plain(twice)(ids, renumbered, table), found));
  BOOST_TEST((found(0, 1, 3) == table(4, 3) && found(0, 2, 3) == table(3, 3)));  // 3.5 is 3
  BOOST_TEST((found(0, 0, 3) == table(0, 3)));  // outside of the map: 0
}

// The value of the key with the largest score; its position has no gradient.
BOOST_AUTO_TEST_CASE(hard_attention) {
  const inputs<double, 6, 9> in{35};
  constexpr formula hard = [](auto v, auto q, auto k) {
    return gather<key>(v, argmax<key>(contract<head_dim>(q, k)));
  };
  const auto found = hard(in.v, in.q, in.k);
  BOOST_TEST(same_bits(plain(hard)(in.v, in.q, in.k), found));
  const auto at = argmax<key>(contract<head_dim>(in.q, in.k));
  static_assert(std::is_same_v<decltype(at), const tensor<int, batch<2>, heads<3>, query<6>>>);
  BOOST_TEST(same_bits(gather<key>(in.v, at), found));
  BOOST_TEST(found(1, 2, 5, 1) == in.v(1, 2, static_cast<std::size_t>(at(1, 2, 5)), 1));
  constexpr formula loss = [](auto v, auto a, auto q, auto k) {
    auto one = gather<key>(v, argmax<key>(contract<head_dim>(q, k)));
    return sum<batch, heads, query, value_dim>(one * one * one * sum<head_dim>(a));
  };
  auto v = in.v;
  auto a = in.q * 0.5;
  umbel_test::check(loss, v, a, in.q, in.k);
}

BOOST_AUTO_TEST_CASE(gradients) {
  lcg next{40};
  tensor<double, batch<2>, heads<2>, query<5>, head_dim<3>> q;
  tensor<double, batch<2>, heads<2>, key<6>, head_dim<3>> k;
  tensor<double, offset<7>, heads<2>> table;
  tensor<double, heads<2>, offset<10>, head_dim<3>> of_distance;
  draw(next, q), draw(next, k), draw(next, table), draw(next, of_distance);
  constexpr formula f = [](auto t, auto r, auto a, auto b) {
    auto scores = contract<head_dim>(a, b) + lookup(t, position<key> - position<query> + 2);
    auto more = gather<offset>(contract<head_dim>(a, r), position<key> - position<query> + 4);
    auto context = contract<key>(softmax<key>(scores + more), b);
    return sum<batch, heads, query, head_dim>(context * context);
  };
  umbel_test::check<true>(f, table, of_distance, q, k);
  tensor<int, token<4>> ids{3, 6, 3, 0};
  tensor<double, token<4>, heads<2>> x;
  draw(next, x);
  constexpr formula g = [](auto t, auto a, auto i) {
    auto found = gather<heads>(lookup(t, i), 1 - i % 2);
    return sum<token>(found * found * sum<heads>(a * lookup(t, i)));
  };
  umbel_test::check(g, table, x, ids);
}

struct weights {
  linear<float, hidden<12>, hidden<12>>::weights q, k, v;
  tensor<float, offset<16>, heads<3>> biases;
  static constexpr const char* part_names[] = {"q", "k", "v", "biases"};
};
constexpr formula causal_by_distance = [](auto x, const auto& w) {
  auto q = x * w.q | split<hidden, heads<3>, head_dim> | rename_axis<token, query>;
  auto k = x * w.k | split<hidden, heads<3>, head_dim> | rename_axis<token, key>;
  auto v = x * w.v | split<hidden, heads<3>, head_dim> | rename_axis<token, key>;
  auto scores = contract<head_dim>(q, k) + lookup(w.biases, position<query> - position<key>);
  auto context = contract<key>(softmax<key>(hide(scores, position<key> > position<query>)), v);
  return (context | rename_axis<query, token> | permute<token, heads, head_dim> | contiguous |
          merge<heads, head_dim, hidden>);
};

BOOST_AUTO_TEST_CASE(in_caches) {
  lcg next{50};
  static weights w;
  for (auto* map : {&w.q, &w.k, &w.v}) draw(next, map->weight, 0.3);
  draw(next, w.biases);
  tensor<float, token<16>, hidden<12>> x;
  draw(next, x);
  static workspace_for<decltype(causal_by_distance), decltype(x), weights> work;
  const auto whole = causal_by_distance(x, w, work);
  BOOST_TEST(same_bits(plain(causal_by_distance)(x, w, work), whole));
  using row = tensor<float, token<1>, hidden<12>>;
  static key_value_cache<decltype(causal_by_distance), key<16>, called_with<row, weights>> past;
  for (std::size_t t = 0; t < 16; ++t) {
    row y{}, one{};
    copy(x | select_at<token>(t), one | select_at<token, 0>);
    BOOST_TEST(past.step(y, causal_by_distance, one, w));
    BOOST_TEST(
        bool((y | select_at<token, 0> | contiguous) == (whole | select_at<token>(t) | contiguous)));
  }
}

// No pairs are stored: room for a copy of the table, whose distances become neighbors.
BOOST_AUTO_TEST_CASE(memory) {
  using queries = tensor<float, heads<2>, query<256>, head_dim<16>>;
  using keys = tensor<float, heads<2>, key<256>, head_dim<16>>;
  using table = tensor<float, offset<511>, heads<2>>;
  constexpr formula without = [](auto q, auto k, auto v) {
    return contract<key>(softmax<key>(contract<head_dim>(q, k) * 0.25f), v);
  };
  BOOST_TEST(sizeof(workspace_for<decltype(by_distance), queries, keys, keys, table>) -
                 sizeof(workspace_for<decltype(without), queries, keys, keys>) <
             1.1 * sizeof(table));
}

BOOST_AUTO_TEST_SUITE_END()
