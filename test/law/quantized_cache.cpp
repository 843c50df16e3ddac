// SPDX-License-Identifier: BSL-1.0
// What holds for a cache of attention and of encoder layers in integers, to the bit: a sequence in
// steps of any sizes is the whole causal pass; what was rewound has never been; a step that does
// not fit changes nothing. Not here: decoder layers (quantized_decoder.cpp), steps of every block
// (uses/integers.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/quantized.hpp>

#include <algorithm>

#include "../support/blocks.hpp"
#include "../support/compare.hpp"
#include "../support/quantized.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

// Heads of whole words and of others, of one width with keys and of several, with positions.
using grouped =
    multi_head_attention<float, hidden<20>, heads<6>, kv_heads<2>, head_dim<5>, bias<true>>;
using rotated = multi_head_attention<float, hidden<16>, heads<4>, kv_heads<1>, rope<adjacent_pairs>,
                                     bias<false>>;
using llama = llama_block<encoder_layer>;

template <std::size_t Count, class X>
auto part(X& x, std::size_t first) {
  using T = std::remove_pointer_t<decltype(x.data())>;
  constexpr std::size_t width = X::layout::extents[1];
  return view<T, token<Count>, hidden<width>>(x.data() + first * width);
}
template <std::size_t Size, class Cache, class Layer, class X, class Mask>
bool step(Cache& past, const Layer& layer, const X& x, X& out, std::size_t at, const Mask& mask) {
  static typename Cache::template workspace<token<Size>> work;
  return past.step(part<Size>(out, at), layer, part<Size>(x, at), mask, work);
}
// In steps of 1, 3 and 8 positions as they are drawn, those of 8 where Long is true.
template <bool Long = true, class Cache, class Layer, class X, class Mask = detail::every_key>
X in_steps(Cache& past, const Layer& layer, const X& x, lcg next, const Mask& mask = {}) {
  constexpr std::size_t tokens = X::layout::extents[0];
  X out{};
  for (std::size_t at = past.size(); at < tokens; at = past.size()) {
    const float kind = next();
    bool fits = true;
    if (Long && kind > 0.5f && at + 8 <= tokens)
      fits = step<Long ? 8 : 1>(past, layer, x, out, at, mask);
    else if (kind > -0.2f && at + 3 <= tokens)
      fits = step<3>(past, layer, x, out, at, mask);
    else
      fits = step<1>(past, layer, x, out, at, mask);
    BOOST_TEST_REQUIRE(fits);
  }
  return out;
}

template <class Layer, std::size_t Tokens>
using floats = tensor<typename Layer::value_type, token<Tokens>, typename Layer::hidden_axis>;
template <class T, class Layer, std::size_t Tokens>
using integers = tensor<T, token<Tokens>, typename Layer::hidden_axis>;
constexpr double most(std::int8_t) { return 127; }
constexpr double most(std::int16_t) { return 16000; }

// T: of activations.
template <class T, class Layer, std::size_t Tokens = 41>
void check_steps() {
  static const quantized_fixture<Layer, floats<Layer, Tokens>> f;
  lcg next{2};
  const auto x = drawn_integers<integers<T, Layer, Tokens>>(next, most(T{}));
  const auto whole = f.layer(x, causal);
  static key_value_cache<quantized<Layer>, key<Tokens>> past;
  BOOST_TEST(same_bits(whole, in_steps(past, f.layer, x, lcg{3})));
  auto none = x;
  BOOST_TEST(!step<1>(past, f.layer, x, none, 0, all_keys));  // it is full
  BOOST_TEST(same_bits(none, x));
  BOOST_TEST(!past.rewind(Tokens + 1));
  BOOST_TEST(past.rewind(7));
  auto again = in_steps(past, f.layer, x, lcg{4});
  std::copy_n(whole.data(), 7 * Layer::hidden_axis::size, again.data());
  BOOST_TEST(same_bits(whole, again));
  past.reset();
  BOOST_TEST(past.size() == 0u);
  BOOST_TEST(step<Tokens>(past, f.layer, x, again, 0, all_keys));
  BOOST_TEST(same_bits(whole, again));

  // A window, in the whole cache and in one that slides.
  const auto narrow = f.layer(x, sliding_window<10>);
  past.reset();
  BOOST_TEST(same_bits(narrow, in_steps(past, f.layer, x, lcg{5}, sliding_window<10>)));
  static key_value_cache<quantized<Layer>, key<11>, longest_sequence<Tokens, 3>> slides;
  BOOST_TEST(same_bits(narrow, in_steps<false>(slides, f.layer, x, lcg{6})));
  BOOST_TEST(!slides.rewind(20));
  BOOST_TEST(slides.size() == Tokens);
  slides.reset();
  const auto singly = [&](std::size_t until) {
    for (std::size_t at = slides.size(); at < until; ++at)
      BOOST_TEST(step<1>(slides, f.layer, x, again, at, all_keys));
  };
  singly(Tokens - 2);
  BOOST_TEST(slides.rewind(Tokens - 4));
  singly(Tokens);
  BOOST_TEST(same_bits(narrow, again));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantized_caches)

BOOST_AUTO_TEST_CASE(steps_of_attention_are_the_whole_pass) {
  check_steps<std::int8_t, grouped>();
  check_steps<std::int8_t, rotated>();
}
BOOST_AUTO_TEST_CASE(steps_of_stacks_are_the_whole_pass) {
  check_steps<std::int16_t, layer_stack<llama, 3>, 23>();
}

// A cache that was filled from the keys and values of another sequence.
BOOST_AUTO_TEST_CASE(recall_is_attention_to_all_that_is_stored) {
  static const quantized_fixture<grouped, floats<grouped, 13>> f;
  lcg next{4};
  const auto y = drawn_integers<tensor<std::int8_t, key<13>, hidden<20>>>(next, 127);
  const auto x = drawn_integers<tensor<std::int8_t, query<17>, hidden<20>>>(next, 127);
  key_value_cache<quantized<grouped>, key<30>> past;
  const auto rows = [&](std::size_t at, auto count) {
    return view<const std::int8_t, key<decltype(count)::value>, hidden<20>>(y.data() + at * 20);
  };
  const auto first = rows(0, std::integral_constant<std::size_t, 9>{});
  const auto rest = rows(9, std::integral_constant<std::size_t, 4>{});
  BOOST_TEST(past.append(f.layer, first, first));
  BOOST_TEST(past.append(f.layer, rest, rest));
  tensor<std::int8_t, query<17>, hidden<20>> out;
  past.recall(out, f.layer, x);
  BOOST_TEST(same_bits(out, f.layer(x, y, y)));
}

BOOST_AUTO_TEST_CASE(batches_are_sequences) {
  using model = layer_stack<llama, 2>;
  static const quantized_fixture<model, floats<llama, 9>> f;
  lcg next{11};
  using whole_batch = tensor<std::int16_t, batch<3>, token<9>, hidden<16>>;
  const auto x = drawn_integers<whole_batch>(next, 16000);
  const tensor<int, batch<3>> lens{9, 0, 6};
  const auto whole = f.layer(x, lens & causal);
  static key_value_cache<quantized<model>, key<9>, batch<3>> past;
  for (std::size_t t = 0; t < 9; t += 3) {
    tensor<std::int16_t, batch<3>, token<3>, hidden<16>> now{};
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t d = 0; d < 16; ++d) now(b, i, d) = x(b, t + i, d);
    BOOST_TEST(past.step(now, f.layer, now, lens));
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t d = 0; d < 16; ++d) BOOST_TEST(now(b, i, d) == whole(b, t + i, d));
  }
}

BOOST_AUTO_TEST_SUITE_END()
