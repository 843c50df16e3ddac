// SPDX-License-Identifier: BSL-1.0
// What holds for a cache of a formula, to the bit: a sequence in steps of any sizes is the whole
// pass, with rewinds and resets in between, whatever the formula makes of its scores; what does not
// fit changes nothing. The cache has room for more positions than the whole pass has. Not here:
// what is refused (reject/formula_cache.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/decode/cache_of_formula.hpp>
#include <umbel/umbel.hpp>

#include <limits>
#include <tuple>
#include <type_traits>

#include "../support/compare.hpp"
#include "../support/random.hpp"
#include "../support/steps_of_cache.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

constexpr std::size_t room = 37, length = 29, width = 24;

template <class F, class X, class... W>
void steps_are_the_whole_pass(const F& f, const X& x, const W&... w) {
  using cache = key_value_cache<F, key<room>, called_with<positions<X, 1>, W...>>;
  static cache past;
  walk<3, cache, F, X, W...>{past, f, x, {w...}, f(x, w...)}.run(60);
}

using tokens = tensor<float, token<length>, hidden<width>>;
using attention = multi_head_attention<float, hidden<width>, heads<3>>;

// Attention by what `f` makes of the scores.
template <class F>
constexpr auto attend(F) {
  return [](auto x, const auto& w, auto... more) {
    auto q = in_heads<query>(x * w.q);
    auto k = in_heads<key>(x * w.k);
    auto v = in_heads<key>(x * w.v);
    return merged(contract<key>(F{}(contract<head_dim>(q, k), more...), v)) * w.o;
  };
}
constexpr auto later = position<key> > position<query>;

struct fixture {
  lcg next{3};
  tokens x = drawn<tokens>(next, 2);
  attention::weights w = drawn_weights<attention>(next);
  tensor<float, heads<3>> slopes = drawn<tensor<float, heads<3>>>(next);
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(formula_cache, fixture)

BOOST_AUTO_TEST_CASE(attention_and_another_one_to_a_memory) {
  const auto memory = drawn<tensor<float, key<11>, hidden<width>>>(next, 2);
  constexpr formula f = [](auto x, const auto& w, auto memory) {
    auto q = in_heads<query>(x * w.q);
    auto k = in_heads<key>(x * w.k);
    auto v = in_heads<key>(x * w.v);
    auto scores = hide(contract<head_dim>(q, k) * 0.35f, later);
    auto y = x + merged(contract<key>(softmax<key>(scores), v)) * w.o;
    auto of_y = in_heads<query>(y * w.q);
    auto keys = memory * w.k | split<hidden, heads<3>, head_dim>;
    auto values = memory * w.v | split<hidden, heads<3>, head_dim>;
    auto weights = softmax<key>(contract<head_dim>(of_y, keys));
    return y + merged(contract<key>(weights, values)) * w.o;
  };
  steps_are_the_whole_pass(f, x, w, memory);
}

BOOST_AUTO_TEST_CASE(keys_from_a_clamped_position_on) {
  constexpr formula f = attend([](auto scores) {
    auto seen = hide(scores * 0.35f, later || position<key> < maximum(position<query> - 9, 2));
    return softmax<key>(seen);
  });
  steps_are_the_whole_pass(f, x, w);
}

BOOST_AUTO_TEST_CASE(changed_scores_in_a_window) {
  constexpr formula f = attend([](auto scores, auto by) {
    auto changed = tanh(scores * 0.1f) * 5 + by * (position<key> - position<query>);
    return softmax<key>(hide(changed, later || position<query> - position<key> > 6));
  });
  steps_are_the_whole_pass(f, x, w, slopes);
}

// Of keys that are not there yet the scores are 0 / 0.
BOOST_AUTO_TEST_CASE(retention_of_cosines) {
  constexpr formula f = [](auto x, const auto& w, auto by) {
    auto q = in_heads<query>(x * w.q);
    auto k = in_heads<key>(x * w.k);
    auto v = in_heads<key>(x * w.v);
    auto decay = exp((position<key> - position<query>)*(by * by));
    auto cosines = contract<head_dim>(q, k) / sqrt(sum<head_dim>(k * k));
    return merged(contract<key>(cosines * where(position<query> >= position<key>, decay, 0), v)) *
           w.o;
  };
  steps_are_the_whole_pass(f, x, w, slopes);
}

BOOST_AUTO_TEST_CASE(weights_that_are_no_softmax) {
  constexpr formula in_words = attend([](auto scores) {
    auto hidden = hide(scores, later);
    auto all = exp(hidden - max<key>(hidden));
    return all / sum<key>(all);
  });
  steps_are_the_whole_pass(in_words, x, w);
  constexpr formula difference = attend([](auto scores) {
    return softmax<key>(hide(scores, later)) - softmax<key>(hide(scores * 0.5f, later)) * 0.25f;
  });
  steps_are_the_whole_pass(difference, x, w);
  constexpr formula normalized = attend([](auto scores) {
    auto all = where(later || position<key> + 6 < position<query>, 0, sigmoid(scores));
    return all / sum<key>(all);
  });
  steps_are_the_whole_pass(normalized, x, w);
}

BOOST_AUTO_TEST_CASE(mixed_heads) {
  using mixture = tensor<float, kv_heads<3>, heads<3>>;
  const mixture mix = drawn<mixture>(next);
  constexpr formula f = [](auto x, const auto& w, auto mix) {
    auto q = in_heads<query>(x * w.q);
    auto k = in_heads<key>(x * w.k);
    auto v = in_heads<key>(x * w.v);
    auto scores = contract<heads>(mix, contract<head_dim>(q, k));
    auto weights = softmax<key>(hide(scores, later));
    return merged(contract<key>(contract<kv_heads>(mix, weights), v)) * w.o;
  };
  steps_are_the_whole_pass(f, x, w, mix);
}

BOOST_AUTO_TEST_CASE(shared_keys_that_are_values_too) {
  constexpr formula f = [](auto x, const auto& w) {
    auto q = in_heads<query>(x * w.q);
    auto both = x * w.k | slice<hidden, from<3>, extent<8>> | rename_axis<hidden, head_dim>;
    auto k = both | rename_axis<token, key>;
    auto weights = softmax<key>(hide(contract<head_dim>(q, k), later));
    return merged(contract<key>(weights, k) | permute<heads, query, head_dim>) * w.o;
  };
  steps_are_the_whole_pass(f, x, w);
}

BOOST_AUTO_TEST_CASE(grouped_heads) {
  constexpr formula f = [](auto x, const auto& w) {
    auto q = x * w.q | split<hidden, kv_heads<2>, value_dim> |
             split<value_dim, heads<3>, head_dim> | permute<kv_heads, heads, token, head_dim> |
             rename_axis<token, query>;
    auto k = x * w.k | slice<hidden, from<0>, extent<8>> | split<hidden, kv_heads<2>, head_dim> |
             rename_axis<token, key>;
    auto v = x * w.v | slice<hidden, from<0>, extent<8>> | split<hidden, kv_heads<2>, head_dim> |
             rename_axis<token, key>;
    auto weights = softmax<key>(hide(contract<head_dim>(q, k), later));
    return (contract<key>(weights, v) | permute<query, kv_heads, heads, head_dim> | contiguous |
            merge<kv_heads, heads, head_dim, hidden> | rename_axis<query, token>)*w.o;
  };
  steps_are_the_whole_pass(f, x, w);
}

BOOST_AUTO_TEST_CASE(rotary_positions_and_norms_of_queries_and_keys) {
  constexpr formula f = [](auto x, const auto& w) {
    constexpr auto unit = [](auto y) { return y * rsqrt(sum<head_dim>(y * y) + 1e-6f); };
    auto q = unit(in_heads<query>(x * w.q)) | rotate<split_halves, query, head_dim>();
    auto k = unit(in_heads<key>(x * w.k)) | rotate<split_halves, key, head_dim>();
    auto v = in_heads<key>(x * w.v);
    return merged(contract<key>(softmax<key>(hide(contract<head_dim>(q, k), later)), v)) * w.o;
  };
  steps_are_the_whole_pass(f, x, w);
}

BOOST_AUTO_TEST_CASE(arguments_with_keys) {
  const auto bias = drawn<tensor<float, heads<3>, key<length>>>(next);
  tensor<float, heads<3>, key<room>> in_cache{};
  for (std::size_t h = 0; h < 3; ++h)
    for (std::size_t j = 0; j < length; ++j) in_cache(h, j) = bias(h, j);
  constexpr formula f =
      attend([](auto scores, auto by) { return softmax<key>(hide(scores, later) + by); });
  const auto whole = f(x, w, bias);
  static key_value_cache<
      decltype(f), key<room>,
      called_with<positions<tokens, 1>, attention::weights, tensor<float, heads<3>, key<room>>>>
      past;
  for (std::size_t at = 0; at < length; ++at) {
    positions<tokens, 1> given{}, out{};
    each_of_step(x, given, at, [](auto from, auto& to) { to = from; });
    BOOST_TEST_REQUIRE(past.step(out, f, given, w, in_cache));
    const view<const float, token<1>, hidden<width>> row(whole.data() + at * width);
    BOOST_TEST(same_bits(out, row), at);
  }
}

// Causal convolutions: windows of a sequence that is padded at its start.
BOOST_AUTO_TEST_CASE(convolutions_before_attention) {
  using kernels = tensor<float, kernel_size<3>, hidden<width>, out_features<width>>;
  using depthwise = tensor<float, kernel_size<4>, hidden<width>>;
  const auto kernel = drawn<kernels>(next);
  const auto by_channel = drawn<depthwise>(next);
  constexpr formula f = [](auto x, const auto& w, auto kernel, auto by_channel) {
    auto seen = x | padded<token, before<4>> | windows<token, kernel_size<3>, dilation<2>>;
    auto y = contract<kernel_size, hidden>(seen, kernel) | rename_axis<out_features, hidden>;
    auto v = contract<kernel_size>(
        y * w.v | padded<token, before<3>> | windows<token, kernel_size<4>>, by_channel);
    auto weights = softmax<key>(
        hide(contract<head_dim>(in_heads<query>(y * w.q), in_heads<key>(y * w.k)), later));
    return x + merged(contract<key>(weights, in_heads<key>(v))) * w.o;
  };
  steps_are_the_whole_pass(f, x, w, kernel, by_channel);
}

BOOST_AUTO_TEST_CASE(positions_before_of_a_batch) {
  using sequences = tensor<float, batch<2>, token<length>, hidden<width>>;
  const auto many = drawn<sequences>(next, 2);
  const auto map = drawn<tensor<float, in_features<3 * width>, hidden<5>>>(next);
  constexpr formula f = [](auto x, auto map) {
    auto pairs = x | padded<token, before<1>> | windows<token, kernel_size<2>>;
    auto last = x * 2 | padded<token, before<5>> | windows<token, kernel_size<6>> |
                slice<kernel_size, from<1>, extent<4>>;
    auto rows = tanh(x) | padded<token, before<2>> | windows<token, kernel_size<3>> |
                merge<kernel_size, hidden, in_features>;
    auto shifted = (pairs | select_at<kernel_size, 0>)-max<kernel_size>(last);
    return std::pair{contract<in_features>(rows, map), shifted * position<token>};
  };
  static key_value_cache<decltype(f), key<room>,
                         called_with<positions<sequences, 1>, decltype(map)>>
      past;
  const auto [products, differences] = f(many, map);
  for (std::size_t at = 0; at + 2 <= length; at += 2) {
    positions<sequences, 2> given{}, second{};
    tensor<float, batch<2>, token<2>, hidden<5>> first{};
    each_of_step(many, given, at, [](auto from, auto& to) { to = from; });
    BOOST_TEST_REQUIRE(past.step(std::tie(first, second), f, given, map));
    std::size_t bad = 0;
    const auto differs = [&](auto a, auto b) { bad += std::memcmp(&a, &b, sizeof(a)) != 0; };
    each_of_step(products, first, at, differs);
    each_of_step(differences, second, at, differs);
    BOOST_TEST_REQUIRE(bad == 0u, at);
  }
}

// A block, twice, with norms and a network in words and as layers; of a batch.
using encoder = encoder_layer<float, hidden<width>, heads<3>, intermediate<40>, norm_first<true>,
                              activation<gelu_tanh>, bias<true>>;
constexpr auto block = [](auto x, const auto& w) {
  using norm = layer_norm<float, hidden<width>>;
  constexpr auto heads_of = []<template <std::size_t> class To>(auto y, axis_family<To>*) {
    return y | split<hidden, heads<3>, head_dim> | rename_axis<token, To>;
  };
  auto normed = norm{w.norm1}(x);
  auto q = heads_of(normed * w.attention.q, static_cast<axis_family<query>*>(nullptr));
  auto k = heads_of(normed * w.attention.k, static_cast<axis_family<key>*>(nullptr));
  auto v = heads_of(normed * w.attention.v, static_cast<axis_family<key>*>(nullptr));
  auto weights = softmax<key>(hide(contract<head_dim>(q, k) * 0.35f, later));
  auto context = contract<key>(weights, v) | permute<batch, query, heads, head_dim> | contiguous |
                 merge<heads, head_dim, hidden> | rename_axis<query, token>;
  auto y = x + context * w.attention.o;
  return y + encoder::feed_forward{w.feed_forward}(norm{w.norm2}(y));
};

BOOST_AUTO_TEST_CASE(two_blocks_of_a_batch) {
  using sequences = tensor<float, batch<2>, token<length>, hidden<width>>;
  const auto many = drawn<sequences>(next, 2);
  encoder::weights first{}, second{};
  draw_encoder(next, first, 0.25, 0.25, 0.25, 0.1, 1, 0.1);
  draw_encoder(next, second, 0.25, 0.25, 0.25, 0.1, 1, 0.1);
  constexpr formula f = [](auto x, const auto& first, const auto& second) {
    return block(block(x, first), second);
  };
  steps_are_the_whole_pass(f, many, first, second);
}

BOOST_AUTO_TEST_CASE(integers_at_the_front) {
  tensor<int, batch<2>, token<length>> ids{};
  for (int& id : ids) id = static_cast<int>((next() + 1) * 25);
  const auto table = drawn<tensor<float, vocabulary<50>, hidden<width>>>(next);
  encoder::weights one{};
  draw_encoder(next, one, 0.25, 0.25, 0.25, 0.1, 1, 0.1);
  constexpr formula f = [](auto ids, auto table, const auto& w) {
    auto y = block(lookup(table, ids), w);
    return contract<hidden>(y, table);  // logits
  };
  steps_are_the_whole_pass(f, ids, table, one);
}

BOOST_AUTO_TEST_CASE(a_full_cache_of_double) {
  using layer = multi_head_attention<double, hidden<width>, heads<3>>;
  using rows = tensor<double, token<length>, hidden<width>>;
  const auto of_double = drawn_weights<layer>(next);
  constexpr formula f = attend([](auto scores) { return where(later, 0, scores); });
  const rows y = drawn<rows>(next, 2);
  const auto whole = f(y, of_double);
  static key_value_cache<decltype(f), key<4>, called_with<positions<rows, 1>, layer::weights>> past;
  positions<rows, 3> three{}, out{};
  positions<rows, 1> one{}, last{};
  each_of_step(y, three, 0, [](auto from, auto& to) { to = from; });
  each_of_step(y, one, 3, [](auto from, auto& to) { to = from; });
  const auto is_the_whole = [&](const auto& step, std::size_t first) {
    each_of_step(whole, step, first, [](auto a, auto b) { BOOST_TEST(a == b); });
  };
  BOOST_TEST(past.step(out, f, three, of_double));
  is_the_whole(out, 0);
  const auto before = out;
  BOOST_TEST(!past.step(out, f, three, of_double));
  BOOST_TEST(same_bits(before, out));
  BOOST_TEST(past.size() == 3u);
  BOOST_TEST(past.step(last, f, one, of_double));
  is_the_whole(last, 3);
  BOOST_TEST(!past.step(last, f, one, of_double));
  BOOST_TEST(!past.rewind(5));
  // What a sequence has left behind is not read by the next one.
  for (double& element : three) element = std::numeric_limits<double>::quiet_NaN();
  past.reset();
  BOOST_TEST(past.step(out, f, three, of_double));
  BOOST_TEST(past.rewind(0));
  BOOST_TEST(past.step(last, f, positions<rows, 1>{}, of_double));
  BOOST_TEST(last(0, 0) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
