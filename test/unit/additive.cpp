// SPDX-License-Identifier: BSL-1.0
// additive_attention against its formula in double: heads, widths, masks, any layout; that packed
// weights, workspaces, views and constant expressions give the same bits. The book's example:
// static/additive.cpp.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cmath>
#include <vector>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <class Weights>
constexpr void draw_additive(lcg& next, Weights& w) {
  draw(next, w.q.weight, 0.5);
  draw(next, w.k.weight, 0.5);
  draw_bias(next, w.q), draw_bias(next, w.k);
  draw(next, w.score, 2);
}

template <class Map, class X>
std::vector<double> projected(const Map& p, const X& x, std::size_t rows) {
  using map = typename Map::map;
  std::vector<double> y(rows * map::out::size);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t n = 0; n < map::out::size; ++n) {
      double sum = 0;
      if constexpr (map::has_bias) sum = static_cast<double>(p.bias[n]);
      for (std::size_t k = 0; k < map::in::size; ++k) {
        sum += static_cast<double>(x[i * map::in::size + k]) * static_cast<double>(p(k, n));
      }
      y[i * map::out::size + n] = sum;
    }
  }
  return y;
}

// Row-major tensors of any T: sees(b, h, i, j), change(score, b, h, i, j). No key seen: zeros.
template <class Layer, class Weights, class X, class Y, class Z, class Sees, class Change>
std::vector<double> reference(const Weights& w, const X& x, const Y& y, const Z& z, Sees sees,
                              Change change) {
  constexpr auto s = Layer::sizes;
  constexpr std::size_t batches = X::layout::template size_of<detail::rules::batch_family>;
  constexpr std::size_t queries = X::layout::template size_of<detail::rules::query_family>;
  constexpr std::size_t keys = Y::layout::template size_of<detail::rules::key_family>;
  constexpr std::size_t width = Z::layout::count / batches / keys, part = width / s.heads;
  std::vector<double> out(batches * queries * width);
  const auto q = projected(w.q, x.data(), batches * queries);
  const auto k = projected(w.k, y.data(), batches * keys);
  for (std::size_t b = 0; b < batches; ++b) {
    for (std::size_t h = 0; h < s.heads; ++h) {
      for (std::size_t i = 0; i < queries; ++i) {
        double sum = 0;
        double* const to = &out[(b * queries + i) * width + h * part];
        for (std::size_t j = 0; j < keys; ++j) {
          if (!sees(b, h, i, j)) continue;
          double score = 0;
          for (std::size_t e = 0; e < s.score_hidden; ++e) {
            const std::size_t at = h * s.score_hidden + e;
            score += static_cast<double>(w.score(at)) *
                     std::tanh(q[(b * queries + i) * s.score_width() + at] +
                               k[(b * keys + j) * s.score_width() + at]);
          }
          const double weight = std::exp(change(score, b, h, i, j));
          sum += weight;
          for (std::size_t d = 0; d < part; ++d) {
            to[d] += weight * static_cast<double>(z.data()[(b * keys + j) * width + h * part + d]);
          }
        }
        for (std::size_t d = 0; d < part; ++d) to[d] = sum > 0 ? to[d] / sum : 0;
      }
    }
  }
  return out;
}

const auto all_seen = [](auto...) { return true; };
const auto unchanged = [](double score, auto...) { return score; };

template <class Layer, std::size_t Queries, std::size_t Keys, std::size_t Values>
struct problem {
  using T = typename Layer::value_type;
  tensor<T, batch<2>, query<Queries>, typename Layer::hidden_axis> x;
  tensor<T, batch<2>, key<Keys>, typename Layer::keys_axis> y;
  tensor<T, batch<2>, key<Keys>, value_dim<Values>> z;
  typename Layer::weights w;

  constexpr explicit problem(std::uint32_t seed) : x{}, y{}, z{}, w{} {
    lcg next{seed};
    draw(next, x, 2);
    draw(next, y, 2);
    draw(next, z);
    draw_additive(next, w);
  }
  template <class Mask, class Sees, class Change>
  void check(const char* what, const Mask& mask, Sees sees, Change change) const {
    const auto right = reference<Layer>(w, x, y, z, sees, change);
    const auto out = Layer{w}(x, y, z, mask);
    check_near(what, out.data(), right.data(), right.size());
    const prepacked<Layer> packed{w};
    BOOST_TEST(same_bits(packed(x, y, z, mask), out), what << ", packed");
    static typename Layer::template workspace<query<Queries>, key<Keys>, value_dim<Values>> work;
    BOOST_TEST(same_bits(Layer{w}(x, y, z, mask, work), out), what << ", workspace");
  }
};

using one_head = additive_attention<float, hidden<20>, score_hidden<8>, keys_from<hidden<2>>>;
using heads_and_biases =
    additive_attention<float, hidden<6>, score_hidden<5>, heads<3>, bias<true>>;

}  // namespace

BOOST_AUTO_TEST_SUITE(additive)

BOOST_AUTO_TEST_CASE(is_its_formula) {
  problem<one_head, 1, 10, 4>(1).check("one head", all_keys, all_seen, unchanged);
  problem<heads_and_biases, 19, 17, 12>(2).check("three heads", all_keys, all_seen, unchanged);
  problem<additive_attention<double, hidden<3>, score_hidden<1>, bias_on<'q'>>, 5, 3, 1>(3).check(
      "double", all_keys, all_seen, unchanged);
  problem<heads_and_biases, 3, 300, 3>(4).check("many keys", all_keys, all_seen, unchanged);
}

BOOST_AUTO_TEST_CASE(takes_every_mask) {
  const problem<heads_and_biases, 9, 11, 6> p(5);
  const tensor<int, batch<2>> lens{7, 0};
  const auto within = [](std::size_t b, std::size_t, std::size_t, std::size_t j) {
    return b == 0 && j < 7;
  };
  p.check("lengths", lens, within, unchanged);
  p.check(
      "lengths and causal", lens & causal_top_left,
      [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
        return within(b, h, i, j) && j <= i;
      },
      unchanged);
  tensor<bool, heads<3>, key<11>> keep{};
  tensor<float, heads<3>, query<9>, key<11>> bias{};
  lcg next{9};
  draw(next, bias);
  for (std::size_t e = 0; e < 33; ++e) keep.data()[e] = e % 4 != 1;
  p.check(
      "a mask and a bias", keep_mask(keep) & score_bias(bias),
      [](std::size_t, std::size_t h, std::size_t, std::size_t j) { return (h * 11 + j) % 4 != 1; },
      [&](double score, std::size_t, std::size_t h, std::size_t i, std::size_t j) {
        return score + static_cast<double>(bias(h, i, j));
      });
}

BOOST_AUTO_TEST_CASE(options_of_scores) {
  using capped = additive_attention<float, hidden<6>, score_hidden<5>, heads<3>, softcap<3, 2>>;
  problem<capped, 4, 7, 6>(6).check("softcap", all_keys, all_seen, [](double score, auto...) {
    return 1.5 * std::tanh(score / 1.5);
  });
  using filled = additive_attention<float, hidden<6>, score_hidden<5>, empty_rows<uniform_weights>>;
  const problem<filled, 4, 7, 6> p(7);
  const tensor<int, batch<2>> lens{7, 0};
  const auto out = filled{p.w}(p.x, p.y, p.z, lens);
  for (std::size_t d = 0; d < 6; ++d) {
    double mean = 0;
    for (std::size_t j = 0; j < 7; ++j) mean += static_cast<double>(p.z(1, j, d)) / 7;
    BOOST_TEST(std::fabs(static_cast<double>(out(1, 3, d)) - mean) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(any_layout) {
  const problem<heads_and_biases, 9, 11, 6> p(8);
  const heads_and_biases attend{p.w};
  const tensor<int, batch<2>> lens{11, 5};
  const auto right = attend(p.x, p.y, p.z, lens);
  const tensor<float, hidden<6>, query<9>, batch<2>> x = p.x | permute<hidden, query, batch>;
  const tensor<float, key<11>, batch<2>, hidden<6>> y = p.y | permute<key, batch, hidden>;
  const tensor<float, value_dim<6>, batch<2>, key<11>> z = p.z | permute<value_dim, batch, key>;
  const auto out = attend(x, y, z, lens);
  BOOST_TEST((std::is_same_v<typename decltype(out)::layout::axes,
                             detail::shape<value_dim<6>, query<9>, batch<2>>>));
  BOOST_TEST(same_bits(out | permute<batch, query, value_dim>, right));
  // Queries adjacent or not in the result, with scratch of the same workspace.
  heads_and_biases::workspace<query<9>, key<11>, value_dim<6>> work;
  tensor<float, batch<2>, query<9>, value_dim<6>> by_query;
  tensor<float, value_dim<6>, batch<2>, query<9>> by_feature;
  attend.into(by_query, x, p.y, z, lens, work);
  attend.into(by_feature, p.x, y, p.z, lens, work);
  BOOST_TEST(same_bits(by_query, right));
  BOOST_TEST(same_bits(by_feature | permute<batch, query, value_dim>, right));
}

BOOST_AUTO_TEST_CASE(one_sequence_without_a_batch) {
  const problem<heads_and_biases, 9, 11, 6> p(9);
  const heads_and_biases attend{p.w};
  const auto both = attend(p.x, p.y, p.z);
  const auto out =
      attend(p.x | select_at<batch>(1), p.y | select_at<batch>(1), p.z | select_at<batch>(1));
  BOOST_TEST(same_bits(out, both | select_at<batch>(1)));
}

BOOST_AUTO_TEST_CASE(constant_expressions_give_the_same_bits) {
  static constexpr problem<heads_and_biases, 3, 5, 6> p(10);
  static constexpr auto in_the_compiler = heads_and_biases{p.w}(p.x, p.y, p.z, causal_top_left);
  static constexpr prepacked<heads_and_biases> packed{p.w};
  BOOST_TEST(same_bits(heads_and_biases{p.w}(p.x, p.y, p.z, causal_top_left), in_the_compiler));
  BOOST_TEST(same_bits(packed(p.x, p.y, p.z, causal_top_left), in_the_compiler));
}

// Weights anywhere: arrays of the right sizes.
BOOST_AUTO_TEST_CASE(weights_are_borrowed) {
  const problem<one_head, 3, 5, 4> p(11);
  float wq[160], wk[16], score[8];
  for (std::size_t i = 0; i < 160; ++i) wq[i] = p.w.q.weight[i];
  for (std::size_t i = 0; i < 16; ++i) wk[i] = p.w.k.weight[i];
  for (std::size_t i = 0; i < 8; ++i) score[i] = p.w.score(i);
  using view = one_head::weights_view;
  const view borrowed{view_as<in_features, out_features>(wq),
                      view_as<in_features, out_features>(wk), score};
  BOOST_TEST(same_bits(one_head{borrowed}(p.x, p.y, p.z), one_head{p.w}(p.x, p.y, p.z)));
}

BOOST_AUTO_TEST_SUITE_END()
