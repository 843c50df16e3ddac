// SPDX-License-Identifier: BSL-1.0
// Masks of layers in formulas, made in the formula and given to it: the bits of the layer's call.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string_view>
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

unsigned seed = 1;
float next_number() {
  seed = seed * 1664525u + 1013904223u;
  return static_cast<float>(seed >> 8) * 0x1p-24f - 0.5f;
}
template <class X>
void fill(X& x) {
  for (auto& f : x) f = next_number();
}
template <class... Map>
void fill_maps(Map&... map) {
  (fill(map.weight), ...);
  (fill(map.bias), ...);
}

using tokens = tensor<float, batch<2>, token<7>, hidden<20>>;
using encoder = encoder_layer<float, hidden<20>, heads<4>, intermediate<24>, norm_first<true>,
                              activation<relu>, bias<true>>;
using decoder = decoder_layer<float, hidden<20>, heads<4>, intermediate<24>, norm_first<true>,
                              activation<gelu_tanh>, bias<true>>;
using attention = encoder::attention;

// (batch, query, key), every third pair and the keys of a whole query hidden.
using flags_of_pairs = tensor<bool, batch<2>, query<7>, key<7>>;
using flags_of_keys = tensor<bool, batch<2>, key<7>>;
using biases = tensor<float, heads<4>, query<7>, key<7>>;

constexpr formula masked = [](auto x, const auto& f, auto mask) { return f(x, mask); };
constexpr formula by_reference = [](auto x, const auto& f, const auto& mask) { return f(x, mask); };

// Tensors that a formula takes by position: x, a layer, and what the mask is made of.
template <class F, class... Y>
bool gives(const tokens& wanted, const F& f, const tokens& x, const Y&... y) {
  static workspace_for<F, tokens, Y...> work;
  tokens out;
  f.into(out, x, y..., work);
  return same_bits(out, wanted) && same_bits(f(x, y...), wanted) &&
         same_bits(plain(f)(x, y...), wanted);
}

struct fixture {
  encoder::weights w;
  tokens x;
  flags_of_pairs pairs;
  flags_of_keys keys;
  biases bias;
  tensor<int, batch<2>> lens{3, 9};
  tensor<long long, batch<2>> positions{2, -3};
  const attention layer{w.attention};
  fixture() {
    fill(w.norm1.gamma), fill(w.norm1.beta), fill(w.norm2.gamma), fill(w.norm2.beta);
    fill_maps(w.attention.q, w.attention.k, w.attention.v, w.attention.o, w.feed_forward.up,
              w.feed_forward.down);
    fill(x), fill(bias);
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs.data()[i] = i % 3 != 0 && i / 7 != 4;
    for (bool& flag : keys) flag = next_number() > -0.2f;
    keys(0, 0) = true;
  }
};

struct in_turn {
  static constexpr std::size_t workers = 3;
  template <class Piece>
  void operator()(std::size_t count, Piece&& piece) const noexcept {
    for (std::size_t i = count; i-- > 0;) piece(i, i % workers);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(masks_in_formulas, fixture)

BOOST_AUTO_TEST_CASE(made_of_arguments) {
  constexpr formula kept = [](auto a, const auto& f, auto m) { return f(a, keep_mask(m)); };
  constexpr formula dropped = [](auto a, const auto& f, auto m) {
    return f(a, causal & drop_mask(m));
  };
  constexpr formula biased = [](auto a, const auto& f, auto b) { return f(a, score_bias(b)); };
  constexpr formula all = [](auto a, const auto& f, auto l, auto m, auto b) {
    return f(a, l & keep_mask(m) & score_bias(b) & causal & alibi);
  };
  BOOST_TEST(gives(layer(x, keep_mask(pairs)), kept, x, layer, pairs));
  BOOST_TEST(gives(layer(x, keep_mask(keys)), kept, x, layer, keys));
  BOOST_TEST(gives(layer(x, causal & drop_mask(pairs)), dropped, x, layer, pairs));
  BOOST_TEST(gives(layer(x, score_bias(bias)), biased, x, layer, bias));
  const tokens wanted = layer(x, lens & keep_mask(pairs) & score_bias(bias) & causal & alibi);
  BOOST_TEST(gives(wanted, all, x, layer, lens, pairs, bias));
  static const prepacked<attention> packed(w.attention);
  BOOST_TEST(gives(wanted, all, x, packed, lens, pairs, bias));
}

BOOST_AUTO_TEST_CASE(of_any_strides_and_axes_of_size_1) {
  constexpr formula kept = [](auto a, const auto& f, auto m) { return f(a, keep_mask(m)); };
  constexpr formula turned = [](auto a, const auto& f, auto m) {
    return f(a, keep_mask(m | permute<key, batch, query>));
  };
  constexpr formula of_one_head = [](auto a, const auto& f, auto b) {
    return f(a, score_bias(b | slice<heads, from<2>, extent<1>>));
  };
  const tensor<bool, key<7>, query<7>, batch<2>> other(pairs | permute<key, query, batch>);
  const tensor<bool, heads<1>, batch<1>, key<7>> ones{true, false, true, true, false, true, true};
  BOOST_TEST(gives(layer(x, keep_mask(pairs)), kept, x, layer, other));
  BOOST_TEST(gives(layer(x, keep_mask(pairs)), kept, x, layer, pairs | permute<query, batch, key>));
  BOOST_TEST(gives(layer(x, keep_mask(pairs)), turned, x, layer, pairs));
  BOOST_TEST(gives(layer(x, keep_mask(ones)), kept, x, layer, ones));
  BOOST_TEST(gives(layer(x, score_bias(bias | slice<heads, from<2>, extent<1>>)), of_one_head, x,
                   layer, bias));
}

BOOST_AUTO_TEST_CASE(a_bias_that_is_computed_or_a_part) {
  constexpr formula computed = [](auto a, const auto& f, auto b) {
    return f(a, score_bias(tanh(b * 3) + position<key> * 0.25f));
  };
  constexpr formula of_values = [](auto b) { return tanh(b * 3) + position<key> * 0.25f; };
  BOOST_TEST(gives(layer(x, score_bias(of_values(bias))), computed, x, layer, bias));
  struct with_bias {
    attention::weights attend;
    biases bias;
  };
  static const with_bias of{w.attention, bias};
  constexpr formula of_a_part = [](auto a, const auto& p) {
    return attention{p.attend}(a, causal & score_bias(p.bias));
  };
  BOOST_TEST(gives(layer(x, causal & score_bias(bias)), of_a_part, x, of));
}

BOOST_AUTO_TEST_CASE(positions_of_queries) {
  const tensor<int, batch<2>, query<7>> by_query{1, 2, 3, 4, 5, 6, 7, -3, 0, 1, 2, 1000000, 5, 4};
  const tensor<long long, batch<2>> wild{9223372036854775807, -9223372036854775807 - 1};
  const tensor<unsigned long long> most{18446744073709551615u};
  constexpr formula at = [](auto a, const auto& f, auto p) { return f(a, causal_at(p)); };
  constexpr formula window = [](auto a, const auto& f, auto p) {
    return f(a, sliding_window_at<2, 1>(p) & alibi_at(p));
  };
  constexpr formula last = [](auto a, const auto& f, auto l) {
    return f(a, causal_bottom_right(l) & sliding_window_bottom_right<3>(l));
  };
  constexpr formula constant = [](auto a, const auto& f) {
    return f(a, causal_at(3) & sliding_window_at<4>(-1) & alibi_at(7));
  };
  constexpr formula lengths = [](auto a, const auto& f, auto l) { return f(a, l & causal_at(2)); };
  BOOST_TEST(gives(layer(x, causal_at(positions)), at, x, layer, positions));
  BOOST_TEST(gives(layer(x, causal_at(by_query)), at, x, layer, by_query));
  BOOST_TEST(gives(layer(x, causal_at(wild)), at, x, layer, wild));
  BOOST_TEST(gives(layer(x, causal_at(3)), at, x, layer, 3));
  BOOST_TEST(gives(layer(x, causal_at(-2)), at, x, layer, -2));
  BOOST_TEST(gives(layer(x, sliding_window_at<2, 1>(positions) & alibi_at(positions)), window, x,
                   layer, positions));
  BOOST_TEST(gives(layer(x, causal_bottom_right(lens) & sliding_window_bottom_right<3>(lens)), last,
                   x, layer, lens));
  BOOST_TEST(
      gives(layer(x, causal_at(3) & sliding_window_at<4>(-1) & alibi_at(7)), constant, x, layer));
  BOOST_TEST(gives(layer(x, lens & causal_at(2)), lengths, x, layer, lens));
  BOOST_TEST(gives(layer(x, tensor<int>{5} & causal_at(2)), lengths, x, layer, 5));
  BOOST_TEST(gives(layer(x, most & causal_at(2)), lengths, x, layer, most));
}

BOOST_AUTO_TEST_CASE(functions_and_dropout) {
  constexpr formula by_function = [](auto a, const auto& f) {
    return f(a, score_bias([](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
               return static_cast<float>(b + h) * 0.5f - static_cast<float>(i * j) * 0.125f;
             }));
  };
  const auto function = [](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
    return static_cast<float>(b + h) * 0.5f - static_cast<float>(i * j) * 0.125f;
  };
  constexpr formula dropping = [](auto a, const auto& f) {
    return f(a, causal & dropout(0.3, 1234567890123456789u));
  };
  BOOST_TEST(gives(layer(x, score_bias(function)), by_function, x, layer));
  BOOST_TEST(gives(layer(x, causal & dropout(0.3, 1234567890123456789u)), dropping, x, layer));
}

BOOST_AUTO_TEST_CASE(an_argument_is_a_mask) {
  const auto has_its_bits = [&](const auto& mask) {
    return gives(layer(x, mask), masked, x, layer, mask);
  };
  BOOST_TEST(has_its_bits(all_keys));
  BOOST_TEST(has_its_bits(causal));
  BOOST_TEST(has_its_bits(keep_mask(pairs)));
  BOOST_TEST(
      has_its_bits(keep_mask(tensor<bool, key<7>>{true, true, false, true, false, false, true})));
  BOOST_TEST(has_its_bits(lens & causal & drop_mask(keys) & score_bias(bias)));
  BOOST_TEST(has_its_bits(tensor<int, batch<2>>{1, 6} & causal));
  BOOST_TEST(has_its_bits(causal_at(positions)));
  BOOST_TEST(has_its_bits(sliding_window_at<2>(1) & alibi_at(positions)));
  BOOST_TEST(has_its_bits(dropout(0.25, 18446744073709551615u)));
  const float slope = 0.25f;
  BOOST_TEST(
      has_its_bits(score_bias([slope](std::size_t, std::size_t, std::size_t i, std::size_t j) {
        return slope * (static_cast<float>(j) - static_cast<float>(i));
      })));
}

BOOST_AUTO_TEST_CASE(a_mask_beside_others) {
  constexpr formula causal_too = [](auto a, const auto& f, auto mask, auto l) {
    return f(a, l & mask & causal) + f(a, mask + alibi);
  };
  constexpr formula of_values = [](auto a, auto b) { return a + b; };
  const auto mask = keep_mask(pairs) & dropout(0.25, 5);
  BOOST_TEST(gives(layer(x, mask), by_reference, x, layer, mask));
  BOOST_TEST(gives(of_values(layer(x, lens & mask & causal), layer(x, mask + alibi)), causal_too, x,
                   layer, mask, lens));
  // Another formula is a part of it.
  constexpr formula outer = [](auto a, const auto& f, auto given, auto m) {
    return by_reference(masked(a, f, given), f, given & keep_mask(m));
  };
  BOOST_TEST(gives(layer(layer(x, mask), mask & keep_mask(keys)), outer, x, layer, mask, keys));
  // What the weights were, the scores that are observed are: those of the layer's call.
  tensor<float, batch<2>, heads<4>, query<7>, key<7>> seen, wanted;
  const tokens by_layer = layer(x, causal & observe(wanted));
  BOOST_TEST(same_bits(masked(x, layer, causal & observe(seen)), by_layer));
  BOOST_TEST(same_bits(seen, wanted));
}

BOOST_AUTO_TEST_CASE(of_other_layers) {
  const encoder layers{w};
  constexpr formula kept = [](auto a, const auto& f, auto m, auto b) {
    return f(a, keep_mask(m) & causal_at(1) & score_bias(b));
  };
  BOOST_TEST(gives(layers(x, keep_mask(pairs) & causal_at(1) & score_bias(bias)), kept, x, layers,
                   pairs, bias));
  BOOST_TEST(gives(layers(x, keep_mask(pairs)), masked, x, layers, keep_mask(pairs)));

  static decoder::weights of{w.norm1, w.attention, w.norm2, w.attention, w.norm1, w.feed_forward};
  tensor<float, batch<2>, key<9>, hidden<20>> memory;
  fill(memory);
  tensor<bool, batch<2>, key<9>> padding;
  for (bool& flag : padding) flag = next_number() > -0.25f;
  const decoder decode{of};
  constexpr formula both = [](auto a, auto m, const auto& f, auto p, auto l, auto own) {
    return f(a, m, keep_mask(p) & l, self_mask(keep_mask(own) & causal_at(1)));
  };
  constexpr formula given = [](auto a, auto m, const auto& f, auto of_memory, auto own) {
    return f(a, m, of_memory, own);
  };
  BOOST_TEST(gives(
      decode(x, memory, keep_mask(padding) & lens, self_mask(keep_mask(pairs) & causal_at(1))),
      both, x, memory, decode, padding, lens, pairs));
  BOOST_TEST(gives(decode(x, memory, keep_mask(padding), self_mask(keep_mask(pairs) & causal)),
                   given, x, memory, decode, keep_mask(padding),
                   self_mask(keep_mask(pairs) & causal)));
}

BOOST_AUTO_TEST_CASE(of_queries_to_keys_and_values) {
  tensor<float, batch<2>, query<5>, hidden<20>> q;
  tensor<float, batch<2>, key<9>, hidden<20>> k;
  tensor<bool, batch<2>, key<9>> padding;
  tensor<float, query<5>, key<9>> added;
  fill(q), fill(k), fill(added);
  for (bool& flag : padding) flag = next_number() > -0.25f;
  constexpr formula given = [](auto a, auto b, const auto& f, auto m) { return f(a, b, b, m); };
  const auto mask = keep_mask(padding) & score_bias(added) & causal_at(4);
  BOOST_TEST(same_bits(given(q, k, layer, mask), layer(q, k, k, mask)));
  constexpr formula attend = [](auto a, auto b, const auto& f, auto m, auto l, auto s) {
    return f(a, b, b, keep_mask(m) & l & score_bias(s) & causal_at(4));
  };
  BOOST_TEST(
      same_bits(attend(q, k, layer, padding, lens, added),
                layer(q, k, k, keep_mask(padding) & lens & score_bias(added) & causal_at(4))));
  using additive = additive_attention<float, hidden<20>, score_hidden<6>>;
  static additive::weights of;
  fill(of.q.weight), fill(of.k.weight), fill(of.score);
  const tensor<bool, batch<2>, key<9>> of_keys = padding;
  constexpr formula kept = [](auto a, auto b, const auto& f, auto m) {
    return f(a, b, b, keep_mask(m));
  };
  BOOST_TEST(
      same_bits(kept(q, k, additive{of}, of_keys), additive{of}(q, k, k, keep_mask(of_keys))));
  BOOST_TEST(same_bits(given(q, k, additive{of}, keep_mask(of_keys)),
                       additive{of}(q, k, k, keep_mask(of_keys))));
}

BOOST_AUTO_TEST_CASE(by_several_workers_and_described) {
  constexpr formula residual = [](auto a, const auto& f, auto m, auto given) {
    return a * 2 + f(a, keep_mask(m) & given);
  };
  using argument = decltype(score_bias(bias));
  static workspace_for<decltype(residual), tokens, attention, flags_of_pairs, argument> works[3];
  const in_turn executor;
  const tokens wanted = residual(x, layer, pairs, score_bias(bias));
  BOOST_TEST(
      same_bits(residual(x, layer, pairs, score_bias(bias), parallel(executor, works)), wanted));
  const std::string_view page = describe(residual, x, layer, pairs, score_bias(bias));
  BOOST_TEST(page.find("formula of 4 arguments") == 0);
  BOOST_TEST(page.find("reads   argument 1, argument 3") != page.npos);
}

BOOST_AUTO_TEST_CASE(constants_and_double) {
  using small = multi_head_attention<double, hidden<4>, heads<2>>;
  constexpr auto value = [] {
    small::weights of{};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        of.q(i, j) = of.k(j, i) = of.v(i, j) = of.o(i, j) = (i - 2 * j) * 0.25;
    const tensor<double, token<3>, hidden<4>> a{1, 2, 3, 4, -1, 0, 2, 1, 0.5, 0, 0, 7};
    const tensor<bool, query<3>, key<3>> m{true, false, true,  false, true,
                                           true, false, false, true};
    constexpr formula kept = [](auto b, const auto& weights, auto flags, auto given) {
      return small{weights}(b, keep_mask(flags) & given & causal_at(1));
    };
    return kept(a, of, m, drop_mask(m)) - small{of}(a, keep_mask(m) & drop_mask(m) & causal_at(1));
  }();
  BOOST_TEST(same_bits(value, tensor<double, token<3>, hidden<4>>{}));
}

BOOST_AUTO_TEST_SUITE_END()
