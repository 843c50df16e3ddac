// SPDX-License-Identifier: BSL-1.0
// Gradients of attention and its masks against torch: self, cross, grouped heads, norms of
// queries and keys, rotary positions of both pairings, softcap, widths, queries that see no key.
// Of functions of elements, also at the points that two branches share.
#include "gradients.hpp"

#include "data/torch_operations.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <class T>
void self_attention() {
  namespace g = golden::gradient_of_self_attention;
  using x = tensor<T, batch<2>, token<3>, hidden<4>>;
  using layer = multi_head_attention<T, hidden<4>, heads<2>, bias<true>>;
  constexpr formula f = [](auto dy, auto a, const auto& w) {
    return sum<batch, token, hidden>(dy * layer{w}(a));
  };
  check_gradients<x, x, typename layer::weights>("self attention", g::seed, g::answer, f);
}
BOOST_AUTO_TEST_CASE(of_self_attention) { self_attention<float>(), self_attention<double>(); }

// One sequence has no memory at all.
template <class T>
void cross_attention() {
  namespace g = golden::gradient_of_cross_attention;
  using x = tensor<T, batch<2>, query<2>, hidden<4>>;
  using memory = tensor<T, batch<2>, key<3>, hidden<4>>;
  using layer = multi_head_attention<T, hidden<4>, heads<2>, bias<true>>;
  constexpr formula f = [](auto dy, auto a, auto m, const auto& w, auto lengths) {
    return sum<batch, query, hidden>(dy * layer{w}(a, m, m, lengths));
  };
  check_gradients<x, x, memory, typename layer::weights>("cross attention", g::seed, g::answer, f,
                                                         tensor<int, batch<2>>{2, 0});
}
BOOST_AUTO_TEST_CASE(of_cross_attention) { cross_attention<float>(), cross_attention<double>(); }

template <class T>
void grouped_attention() {
  namespace g = golden::gradient_of_grouped_attention;
  using x = tensor<T, token<3>, hidden<8>>;
  using layer =
      multi_head_attention<T, hidden<8>, heads<4>, kv_heads<2>, bias<false>, rope<split_halves>>;
  constexpr formula f = [](auto dy, auto a, const auto& w) {
    return sum<token, hidden>(dy * layer{w}(a, causal));
  };
  check_gradients<x, x, typename layer::weights>("grouped heads", g::seed, g::answer, f);
}
BOOST_AUTO_TEST_CASE(of_grouped_attention) {
  grouped_attention<float>(), grouped_attention<double>();
}

template <class T>
void normed_attention() {
  namespace g = golden::gradient_of_normed_attention;
  using x = tensor<T, batch<2>, token<3>, hidden<8>>;
  using layer = multi_head_attention<T, hidden<8>, heads<4>, kv_heads<2>, head_dim<6>, bias<true>,
                                     query_key_norm<layer_norm>, rope<split_halves>>;
  constexpr formula f = [](auto dy, auto a, const auto& w) {
    return sum<batch, token, hidden>(dy * layer{w}(a, causal));
  };
  check_gradients<x, x, typename layer::weights>("normed heads", g::seed, g::answer, f);
}
BOOST_AUTO_TEST_CASE(of_normed_attention) { normed_attention<float>(), normed_attention<double>(); }

template <class T>
void windowed_attention() {
  namespace g = golden::gradient_of_windowed_attention;
  using x = tensor<T, token<5>, hidden<4>>;
  using layer =
      multi_head_attention<T, hidden<4>, heads<1>, value_dim<3>, bias<true>, rope<adjacent_pairs>>;
  constexpr formula f = [](auto dy, auto a, const auto& w) {
    return sum<token, hidden>(dy * layer{w}(a, sliding_window<1>));
  };
  check_gradients<x, x, typename layer::weights>("window", g::seed, g::answer, f);
}
BOOST_AUTO_TEST_CASE(of_windowed_attention) {
  windowed_attention<float>(), windowed_attention<double>();
}

// The second query sees no key. (A rate of 0 drops nothing.)
template <class T>
void softcapped_attention() {
  namespace g = golden::gradient_of_softcapped_attention;
  using x = tensor<T, query<3>, hidden<4>>;
  using memory = tensor<T, key<4>, hidden<4>>;
  using layer = multi_head_attention<T, hidden<4>, heads<2>, head_dim<3>, bias<false>, softcap<1>>;
  constexpr formula f = [](auto dy, auto a, auto m, const auto& w, auto keep) {
    return sum<query, hidden>(dy * layer{w}(a, m, m, keep_mask(keep) & dropout(0, 7)));
  };
  check_gradients<x, x, memory, typename layer::weights>(
      "softcap", g::seed, g::answer, f,
      tensor<bool, query<3>, key<4>>{true, false, true, true, false, false, false, false, false,
                                     true, false, false});
}
BOOST_AUTO_TEST_CASE(of_softcapped_attention) {
  softcapped_attention<float>(), softcapped_attention<double>();
}

// A bias for each head and pair, after the softcap, of one sequence and the other.
template <class T>
void biased_attention() {
  namespace g = golden::gradient_of_biased_attention;
  using x = tensor<T, batch<2>, query<3>, hidden<4>>;
  using memory = tensor<T, batch<2>, key<4>, hidden<4>>;
  using layer = multi_head_attention<T, hidden<4>, heads<2>, bias<true>, softcap<1>>;
  constexpr formula f = [](auto dy, auto a, auto m, auto b, const auto& w, auto lengths) {
    return sum<batch, query, hidden>(dy * layer{w}(a, m, m, lengths & score_bias(b)));
  };
  check_gradients<x, x, memory, tensor<T, heads<2>, query<3>, key<4>>, typename layer::weights>(
      "bias", g::seed, g::answer, f, tensor<int, batch<2>>{4, 3});
}
BOOST_AUTO_TEST_CASE(of_biased_attention) { biased_attention<float>(), biased_attention<double>(); }

// By distance and head, rows of a table.
template <class T>
void relative_attention() {
  namespace g = golden::gradient_of_relative_attention;
  using x = tensor<T, token<3>, hidden<8>>;
  using layer = multi_head_attention<T, hidden<8>, heads<4>, kv_heads<2>, bias<false>>;
  constexpr formula f = [](auto dy, auto a, auto table, const auto& w, auto apart) {
    return sum<token, hidden>(dy * layer{w}(a, causal & score_bias(lookup(table, apart))));
  };
  check_gradients<x, x, tensor<T, vocabulary<5>, heads<4>>, typename layer::weights>(
      "relative positions", g::seed, g::answer, f,
      tensor<int, query<3>, key<3>>{2, 3, 4, 1, 2, 3, 0, 1, 2});
}
BOOST_AUTO_TEST_CASE(of_relative_attention) {
  relative_attention<float>(), relative_attention<double>();
}

template <class T>
void additive() {
  namespace g = golden::gradient_of_additive_attention;
  using x = tensor<T, batch<2>, query<3>, hidden<4>>;
  using memory = tensor<T, batch<2>, key<4>, hidden<5>>;
  using values = tensor<T, batch<2>, key<4>, value_dim<6>>;
  using layer =
      additive_attention<T, hidden<4>, score_hidden<3>, keys_from<hidden<5>>, heads<2>, bias<true>>;
  constexpr formula f = [](auto dy, auto a, auto m, auto v, const auto& w, auto lengths) {
    return sum<batch, query, value_dim>(dy * layer{w}(a, m, v, lengths));
  };
  check_gradients<tensor<T, batch<2>, query<3>, value_dim<6>>, x, memory, values,
                  typename layer::weights>("additive attention", g::seed, g::answer, f,
                                           tensor<int, batch<2>>{4, 2});
}
BOOST_AUTO_TEST_CASE(of_additive_attention) { additive<float>(), additive<double>(); }

// The gradient of the sum of four functions of four arguments, each with the same values.
namespace functions = golden::torch_elementwise;
using points = tensor<float, key<functions::points>>;
template <class F>
void check_slopes(const char* names, F f, const points& x, const float* a, const float* b,
                  const float* c, const float* d) {
  points slopes[4]{};
  const auto of_sum = gradient(f);
  static_cast<void>(of_sum(with_gradient(x, slopes[0]), with_gradient(x, slopes[1]),
                           with_gradient(x, slopes[2]), with_gradient(x, slopes[3])));
  const float* expected[] = {a, b, c, d};
  for (std::size_t i = 0; i < 4; ++i)
    check_near(names, slopes[i].data(), expected[i], functions::points);
}
BOOST_AUTO_TEST_CASE(of_functions_of_elements) {
  namespace g = functions;
  points x, positive;
  for (std::size_t i = 0; i < g::points; ++i) {
    x(i) = static_cast<float>(i) / 8 - 8;
    positive(i) = static_cast<float>(i + 1) / 8;
  }
  constexpr formula activations = [](auto a, auto b, auto c, auto d) {
    return sum<key>(softplus(a) + log_sigmoid(b) + elu(c) + erf(d));
  };
  check_slopes("softplus, log_sigmoid, elu, erf", activations, x, g::d_softplus, g::d_log_sigmoid,
               g::d_elu, g::d_erf);
  constexpr formula waves_and_powers = [](auto a, auto b, auto c, auto d) {
    return sum<key>(sin(a) + cos(b) + pow(c, 3) + pow(2, d));
  };
  check_slopes("sin, cos, cube, power of 2", waves_and_powers, x, g::d_sin, g::d_cos, g::d_cube,
               g::d_power_of_two);
  constexpr formula with_edges = [](auto a, auto b, auto c, auto d) {
    return sum<key>(a % 3 + b % -2.5f + clamp(c, -1, 2) + clamp(d, d * 0.5f, 2 - d));
  };
  check_slopes("remainders, clamps", with_edges, x, g::d_remainder, g::d_negative_remainder,
               g::d_clamp, g::d_clamp_by);
  constexpr formula of_positive = [](auto a, auto b, auto c, auto d) {
    return sum<key>(pow(a, 0.5f) + pow(b, b * 0.25f) + 3.25f % c + floor(d));
  };
  const points none{};
  check_slopes("root, power, remainder by, floor", of_positive, positive, g::d_root,
               g::d_self_power, g::d_remainder_by, none.data());
}

}  // namespace
