// SPDX-License-Identifier: BSL-1.0
// What holds for a cache of a formula in integers, to the bit: a sequence in steps of any sizes is
// the whole pass, with rewinds and resets in between. The whole pass computes all pairs; it reads
// no kept values. Not here: what is refused (reject/formula_cache.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/decode/cache_of_formula.hpp>
#include <umbel/quantized.hpp>
#include <umbel/quantized/cache_of_formula.hpp>
#include <umbel/umbel.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "../support/random.hpp"
#include "../support/steps_of_cache.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

constexpr std::size_t length = 29, width = 24;
using tokens = tensor<float, token<length>, hidden<width>>;
using attention = multi_head_attention<float, hidden<width>, heads<3>>;
constexpr auto later = position<key> > position<query>;

// Attention by what `f` makes of the scores.
template <class F>
constexpr auto attend(F) {
  return [](auto x, const auto& w, auto... more) {
    auto q = in_heads<query>(x * w.q);
    auto k = in_heads<key>(x * w.k);
    auto v = in_heads<key>(x * w.v);
    auto scores = contract<head_dim>(q, k) * 0.35F;
    return merged(contract<key>(F{}(scores, more...), v)) * w.o + x;
  };
}

template <class X, class T>
struct with_elements;
template <class E, class... Axes, class T>
struct with_elements<tensor<E, Axes...>, T> {
  using type = tensor<T, Axes...>;
};
template <class Packed, std::size_t I, class X>
auto drawn_integers(lcg& next) {
  typename with_elements<X, typename Packed::template input_type<I>>::type x{};
  for (auto& v : x) v = static_cast<typename decltype(x)::value_type>(next() * 120);
  return x;
}

// A cache with room for Room positions; w: what is packed; tensors: what a call has after x.
template <std::size_t Room, class F, class X, class W, class... Tensor>
struct cached {
  using layer = quantized<F, X, W, Tensor...>;
  layer packed;

  cached(lcg& next, const W& w, const Tensor&... more) {
    static typename layer::ranges seen;
    static typename layer::calibration_workspace work;
    seen = {};
    for (int i = 0; i < 3; ++i) {
      static X x;
      draw(next, x, 2);
      std::ignore = layer::calibrate(seen, x, w, more..., work);
    }
    BOOST_TEST_REQUIRE(static_cast<bool>(packed.pack(w, seen)));
  }
  template <class... Given>
  void run(lcg& next, const Given&... given) {
    static key_value_cache<layer, key<Room>> past;
    past.reset();
    const auto x = drawn_integers<layer, 0, X>(next);
    walk<19, key_value_cache<layer, key<Room>>, layer, decltype(x), Given...>{
        past, packed, x, {given...}, packed(x, given...)}
        .run(60);
  }
};
template <std::size_t Room = 37, class F, class W>
void steps_are_the_whole_pass(const F&, const W& w) {
  lcg next{11};
  cached<Room, F, tokens, W>(next, w).run(next);
}

struct fixture {
  lcg next{3};
  attention::weights w = drawn_weights<attention>(next);
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(quantized_formula_cache, fixture)

BOOST_AUTO_TEST_CASE(softmax_of_causal_scores) {
  constexpr formula f = attend([](auto s) { return softmax<key>(hide(s, later)); });
  steps_are_the_whole_pass(f, w);
  steps_are_the_whole_pass<29>(f, w);
}

BOOST_AUTO_TEST_CASE(windows_of_keys_and_functions_of_scores) {
  constexpr formula f = attend([](auto s) {
    auto chosen = where(position<query> == 20, s * 0.5F, tanh(s) + s);
    return softmax<key>(hide(chosen, later || position<key> + 9 < position<query>));
  });
  steps_are_the_whole_pass(f, w);
}

// The sums of its weights have no softmax, so the room is that of the whole pass.
BOOST_AUTO_TEST_CASE(sigmoids_of_causal_scores) {
  constexpr formula f =
      attend([](auto s) { return where(later, 0, sigmoid(s) * (1.0F / length)); });
  steps_are_the_whole_pass<length>(f, w);
}
BOOST_AUTO_TEST_CASE(sums_of_causal_scores) {
  constexpr formula f = [](auto x, const auto& w) {
    auto q = in_heads<query>(x * w.q);
    auto k = in_heads<key>(x * w.k);
    auto weights = where(later, 0, exp(contract<head_dim>(q, k) * 0.1F));
    auto sums = named<"sums">(sum<key>(weights));
    auto context = contract<key>(weights, in_heads<key>(x * w.v));
    return merged(context * named<"inverse">(1 / sums)) * w.o;
  };
  steps_are_the_whole_pass<length>(f, w);
}

// The biases of keys are kept with 16 bits: only a sum reads them.
BOOST_AUTO_TEST_CASE(biases_computed_for_keys) {
  constexpr formula f = [](auto x, const auto& w) {
    auto q = in_heads<query>(x * w.q);
    auto k = in_heads<key>(x * w.k);
    auto of_keys = named<"bias">(max<head_dim>(k) + min<head_dim>(k));
    auto scores = contract<head_dim>(q, k) * 0.35F + of_keys;
    auto weights = softmax<key>(hide(scores, later));
    return merged(contract<key>(weights, in_heads<key>(x * w.v))) * w.o;
  };
  steps_are_the_whole_pass(f, w);
}

using rms = rms_norm<float, hidden<width>>;
struct block_weights {
  static constexpr const char* part_names[] = {"maps", "gamma", "up", "down"};
  attention::weights maps;
  rms::weights gamma;
  linear<float, hidden<width>, intermediate<40>, bias<true>>::weights up;
  linear<float, intermediate<40>, hidden<width>, bias<true>>::weights down;
};
BOOST_AUTO_TEST_CASE(a_block_of_a_decoder) {
  constexpr formula f = [](auto x, const auto& w) {
    constexpr auto heads_of = attend([](auto s) { return softmax<key>(hide(s, later)); });
    auto y = x + heads_of(rms(w.gamma, 1e-6F)(x), w.maps);
    return y + gelu_tanh(rms(w.gamma, 1e-6F)(y) * w.up) * w.down;
  };
  static block_weights all;
  all.maps = w;
  for (float& v : all.gamma.gamma) v = 1 + next() / 4;
  draw(next, all.up.weight, 0.3), draw(next, all.down.weight, 0.3);
  draw(next, all.up.bias, 0.3), draw(next, all.down.bias, 0.3);
  steps_are_the_whole_pass(f, all);
}

struct convolution_weights {
  static constexpr const char* part_names[] = {"convolution", "maps"};
  linear<float, in_features<3 * width>, hidden<width>, bias<true>>::weights convolution;
  attention::weights maps;
};
BOOST_AUTO_TEST_CASE(a_causal_convolution_before_attention) {
  constexpr formula f = [](auto x, const auto& w) {
    constexpr auto heads_of = attend([](auto s) { return softmax<key>(hide(s, later)); });
    auto seen = x | padded<token, before<2>> | windows<token, kernel_size<3>> |
                merge<kernel_size, hidden, in_features>;
    return heads_of(x + relu(seen * w.convolution), w.maps);
  };
  static convolution_weights all;
  all.maps = w;
  draw(next, all.convolution.weight, 0.2), draw(next, all.convolution.bias, 0.2);
  steps_are_the_whole_pass(f, all);
}

// A row of a table for each position, with keys rotated before and after they are renamed, and
// numbers of heads at distances. The tables are for as many positions as the cache has room for.
template <std::size_t N>
struct distance : axis<distance, N> {};
struct position_weights {
  static constexpr const char* part_names[] = {"maps", "first", "cosines", "sines", "biases"};
  attention::weights maps;
  tensor<float, token<37>, hidden<width>> first;
  tensor<float, token<37>, head_dim<8>> cosines, sines;
  tensor<float, heads<3>, distance<37>> biases;
};
template <template <std::size_t> class Positions>
constexpr auto rotated(const auto& x, const auto& w) {
  auto turned = concat<head_dim>(-(x | slice<head_dim, from<4>, extent<4>>),
                                 x | slice<head_dim, from<0>, extent<4>>);
  return x * lookup(w.cosines, position<Positions>) + turned * lookup(w.sines, position<Positions>);
}
BOOST_AUTO_TEST_CASE(tables_of_positions_and_distances) {
  constexpr formula f = [](auto x, const auto& w) {
    auto y = x + lookup(w.first, position<token>);
    auto q = rotated<query>(in_heads<query>(y * w.maps.q), w);
    auto k = rotated<key>(in_heads<key>(y * w.maps.k), w);
    auto scores = contract<head_dim>(q, k) * 0.35F +
                  gather<distance>(w.biases, position<query> - position<key>);
    auto weights = softmax<key>(hide(scores, later));
    return merged(contract<key>(weights, in_heads<key>(y * w.maps.v))) * w.maps.o + x;
  };
  static position_weights all;
  all.maps = w;
  draw(next, all.first, 1), draw(next, all.biases, 2);
  draw(next, all.cosines, 1), draw(next, all.sines, 1);
  steps_are_the_whole_pass(f, all);
}

// Keys of the call, as many as the cache has room for: a bias and a mask of bool.
BOOST_AUTO_TEST_CASE(arguments_with_keys) {
  constexpr formula f = attend([](auto s, auto bias, auto padding) {
    return softmax<key>(hide(s + bias, later || padding));
  });
  using biases = tensor<float, heads<3>, key<length>>;
  using paddings = tensor<bool, key<length>>;
  const auto bias = drawn<biases>(next);
  paddings padding{};
  for (std::size_t k = 0; k < length; ++k) padding.data()[k] = k % 5 == 3;
  cached<length, decltype(f), tokens, attention::weights, biases, paddings> of(next, w, bias,
                                                                               padding);
  const auto given = drawn_integers<decltype(of)::layer, 1, biases>(next);
  of.run(next, given, padding);
}

BOOST_AUTO_TEST_CASE(sequences_of_a_batch) {
  constexpr formula f = [](auto x, const auto& w) {
    auto q = x * w.q | split<hidden, heads<3>, head_dim> | rename_axis<token, query>;
    auto k = x * w.k | split<hidden, heads<3>, head_dim> | rename_axis<token, key>;
    auto v = x * w.v | split<hidden, heads<3>, head_dim> | rename_axis<token, key>;
    auto context = contract<key>(softmax<key>(hide(contract<head_dim>(q, k), later)), v);
    return (context | rename_axis<query, token> | permute<batch, token, heads, head_dim> |
            contiguous | merge<heads, head_dim, hidden>)*w.o;
  };
  using batches = tensor<float, batch<2>, token<length>, hidden<width>>;
  cached<37, decltype(f), batches, attention::weights>(next, w).run(next);
}

BOOST_AUTO_TEST_CASE(several_results_and_a_full_cache) {
  constexpr formula f = [](auto x, const auto& w) {
    auto k = in_heads<key>(x * w.k);
    auto weights = softmax<key>(hide(contract<head_dim>(in_heads<query>(x * w.q), k), later));
    auto context = merged(contract<key>(weights, in_heads<key>(x * w.v)));
    return std::tuple(context, context * w.o + x);
  };
  using rows = tensor<float, token<4>, hidden<width>>;
  cached<4, decltype(f), rows, attention::weights> of(next, w);
  using layer = decltype(of)::layer;
  const auto x = drawn_integers<layer, 0, rows>(next);
  const auto [first, second] = of.packed(x);
  key_value_cache<layer, key<4>> past;
  tensor<layer::output_type<0>, token<2>, hidden<width>> y{};
  tensor<layer::output_type<1>, token<2>, hidden<width>> z{};
  tensor<layer::input_type<0>, token<2>, hidden<width>> two{};
  for (std::size_t at = 0; at < 4; at += 2) {
    for (std::size_t i = 0; i < 2 * width; ++i) two.data()[i] = x.data()[at * width + i];
    BOOST_TEST_REQUIRE(past.step(std::tie(y, z), of.packed, two));
    for (std::size_t i = 0; i < 2 * width; ++i) {
      BOOST_TEST(y.data()[i] == first.data()[at * width + i]);
      BOOST_TEST(z.data()[i] == second.data()[at * width + i]);
    }
  }
  y.data()[0] = 77;
  BOOST_TEST(!past.step(std::tie(y, z), of.packed, two));
  BOOST_TEST(y.data()[0] == 77);
  BOOST_TEST(past.size() == 4);
  BOOST_TEST(!past.rewind(5));
}

BOOST_AUTO_TEST_SUITE_END()
