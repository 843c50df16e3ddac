// SPDX-License-Identifier: BSL-1.0
// What holds for a cache of encoder layers and of stacks of them, to the bit: a sequence in steps
// of any sizes is the whole causal pass; what was rewound has never been; a step that does not fit
// changes nothing in any layer. Not here: a cache of attention by itself (cache.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cmath>
#include <cstring>

#include "../support/blocks.hpp"
#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

// LLaMA's layer; the layer of Vaswani et al.; one with a norm first and biases.
using llama = llama_block<encoder_layer>;
using post_norm = vaswani_block<encoder_layer>;
using pre_norm = encoder_layer<float, hidden<20>, heads<6>, intermediate<12>, norm_first<true>,
                               head_dim<8>, kv_heads<3>, activation<gelu_tanh>, bias<true>>;
// Biases as Qwen2 has them; as Whisper has them, and norms without beta.
using qwen2 = encoder_layer<float, hidden<16>, heads<4>, intermediate<24>, norm_first<true>,
                            norm_by<rms_norm>, norm_epsilon<1, 1'000'000>, activation<silu>,
                            gated<true>, bias_on<'q', 'k', 'v'>, feed_forward_bias<false>,
                            kv_heads<2>, rope<split_halves>>;
using without_beta = encoder_layer<float, hidden<12>, heads<3>, intermediate<20>, norm_first<false>,
                                   activation<gelu_exact>, bias_on<'q', 'v', 'o'>,
                                   feed_forward_bias<true>, norm_bias<false>>;

template <class Encoder, std::size_t Count>
void draw_weights(lcg& next, typename layer_stack<Encoder, Count>::weights& w) {
  for (auto& layer : w.layers) draw_encoder(next, layer, 0.3, 0.3, 0.3, 0.1, 1, 0.2);
}
template <class Encoder>
void draw_weights(lcg& next, typename Encoder::weights& w) {
  draw_encoder(next, w, 0.3, 0.3, 0.3, 0.1, 1, 0.2);
}

// A sequence x and the weights of Count layers.
template <class Encoder, std::size_t Count, std::size_t Tokens>
struct fixture {
  using model = layer_stack<Encoder, Count>;
  using sequence =
      tensor<typename Encoder::value_type, token<Tokens>, typename Encoder::hidden_axis>;
  lcg next{Tokens + Count};
  typename model::weights w{};
  model layers{w};
  sequence x = drawn<sequence>(next);
  fixture() { draw_weights<Encoder, Count>(next, w); }

  template <class Mask>
  sequence whole(const Mask& mask) const {
    static typename model::template workspace<token<Tokens>> work;
    return layers(x, mask, work);
  }
};

// The positions from `first` on, Count of them.
template <std::size_t Count, class X>
auto part(X& x, std::size_t first) {
  using T = std::remove_pointer_t<decltype(x.data())>;
  constexpr std::size_t width = X::layout::extents[1];
  return view<T, token<Count>, hidden<width>>(x.data() + first * width);
}

// A step of Size positions, in place where they are odd.
template <std::size_t Size, class Cache, class Layers, class X, class Mask>
bool step(Cache& past, const Layers& layers, const X& x, X& out, std::size_t at, const Mask& mask) {
  static typename Cache::template workspace<token<Size>> work;
  const auto from = part<Size>(x, at);
  const auto to = part<Size>(out, at);
  if (at % 2 == 0) return past.step(to, layers, from, mask, work);
  std::memcpy(to.data(), from.data(), from.size() * sizeof(from.data()[0]));
  return past.step(to, layers, to, mask, work);
}

// The sequence in steps of 1, 3 and 8 positions as they are drawn, those of 8 where Long is true.
template <bool Long = true, class Cache, class Layers, class X, class Mask = detail::every_key>
X in_steps(Cache& past, const Layers& layers, const X& x, lcg next, const Mask& mask = {}) {
  constexpr std::size_t tokens = X::layout::extents[0];
  X out{};
  for (std::size_t at = past.size(); at < tokens; at = past.size()) {
    const float kind = next();
    bool fits = true;
    if (Long && kind > 0.5f && at + 8 <= tokens)
      fits = step<Long ? 8 : 1>(past, layers, x, out, at, mask);
    else if (kind > -0.2f && at + 3 <= tokens)
      fits = step<3>(past, layers, x, out, at, mask);
    else
      fits = step<1>(past, layers, x, out, at, mask);
    BOOST_TEST_REQUIRE(fits);
  }
  return out;
}

template <class Encoder>
void check_one_layer() {
  static const fixture<Encoder, 1, 41> f;
  const Encoder layer{f.w[0]};
  const prepacked<Encoder> packed{f.w[0]};
  static key_value_cache<Encoder, key<41>> past;
  const auto whole = layer(f.x, causal);
  BOOST_TEST(same_bits(whole, in_steps(past, layer, f.x, lcg{3})));
  past.reset();
  BOOST_TEST(same_bits(whole, in_steps(past, packed, f.x, lcg{4})));
  past.reset();
  auto out = f.x;
  BOOST_TEST(step<41>(past, packed, f.x, out, 0, all_keys));
  BOOST_TEST(same_bits(whole, out));
}

template <class Encoder>
void check_stack() {
  static const fixture<Encoder, 3, 41> f;
  using model = layer_stack<Encoder, 3>;
  const prepacked<model> packed{f.w};
  const auto whole = f.whole(causal);
  static key_value_cache<model, key<41>> past;
  BOOST_TEST(same_bits(whole, in_steps(past, f.layers, f.x, lcg{5})));
  past.reset();
  BOOST_TEST(same_bits(whole, in_steps(past, packed, f.x, lcg{6})));
}

BOOST_AUTO_TEST_SUITE(caches_of_blocks)

BOOST_AUTO_TEST_CASE(steps_of_a_layer_are_the_whole_pass) {
  check_one_layer<llama>();
  check_one_layer<post_norm>();
  check_one_layer<pre_norm>();
  check_one_layer<qwen2>();
  check_one_layer<without_beta>();
}

BOOST_AUTO_TEST_CASE(steps_of_a_stack_are_the_whole_pass) {
  check_stack<llama>();
  check_stack<post_norm>();
}

BOOST_AUTO_TEST_CASE(masks_are_those_of_all_layers) {
  static const fixture<post_norm, 2, 20> f;
  tensor<bool, key<20>> kept{};
  for (std::size_t j = 0; j < 20; ++j) kept(j) = j % 5 != 2;
  const auto mask = keep_mask(kept) & alibi;
  static key_value_cache<layer_stack<post_norm, 2>, key<20>> past;
  BOOST_TEST(same_bits(f.whole(causal & mask), in_steps(past, f.layers, f.x, lcg{7}, mask)));
}

// Across blocks of keys, where the oldest are dropped in all layers.
BOOST_AUTO_TEST_CASE(a_sliding_cache_is_the_whole_pass_with_its_window) {
  static const fixture<llama, 2, 600> f;
  using model = layer_stack<llama, 2>;
  const auto whole = f.whole(sliding_window<19>);
  static key_value_cache<model, key<20>, longest_sequence<600, 3>> past;
  static_assert(past.slides && past.capacity == 20 && past.positions == 600);
  BOOST_TEST(same_bits(whole, in_steps<false>(past, f.layers, f.x, lcg{8})));
  BOOST_TEST(!past.rewind(100));
  BOOST_TEST(past.size() == 600u);
  BOOST_TEST(past.rewind(590));
  const auto again = in_steps<false>(past, f.layers, f.x, lcg{9});
  BOOST_TEST(same_bits(part<10>(whole, 590), part<10>(again, 590)));
}

BOOST_AUTO_TEST_CASE(batches_are_sequences) {
  using model = layer_stack<llama, 2>;
  static const fixture<llama, 2, 9> f;
  lcg next{11};
  const auto x = drawn<tensor<float, batch<3>, token<9>, hidden<16>>>(next);
  const tensor<int, batch<3>> lens{9, 4, 6};
  const auto whole = f.layers(x, lens & causal);
  static key_value_cache<model, key<9>, batch<3>> past;
  for (std::size_t t = 0; t < 9; t += 3) {
    tensor<float, batch<3>, token<3>, hidden<16>> now{};
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t d = 0; d < 16; ++d) now(b, i, d) = x(b, t + i, d);
    BOOST_TEST(past.step(now, f.layers, now, lens));
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t d = 0; d < 16; ++d) BOOST_TEST(now(b, i, d) == whole(b, t + i, d));
  }
}

// No whole pass rounds keys and values; any cut gives the same, and it is near.
template <class W>
void check_any_cut() {
  using model = layer_stack<llama, 2>;
  static const fixture<llama, 2, 41> f;
  const prepacked<model, stored_as<W>> packed{f.w};
  static key_value_cache<model, key<41>, stored_as<W>> past;
  auto once = f.x;
  BOOST_TEST(step<41>(past, packed, f.x, once, 0, all_keys));
  past.reset();
  BOOST_TEST(same_bits(once, in_steps(past, packed, f.x, lcg{12})));
  past.reset();
  const auto of_float = in_steps(past, f.layers, f.x, lcg{13});
  const auto whole = f.whole(causal);
  BOOST_TEST(!same_bits(of_float, whole));
  for (std::size_t i = 0; i < whole.size(); ++i)
    BOOST_TEST(std::fabs(of_float.data()[i] - whole.data()[i]) < 0.1f);
}
BOOST_AUTO_TEST_CASE(any_cut_gives_the_same_in_16_and_8_bits) {
  check_any_cut<bfloat16>();
  check_any_cut<std::int8_t>();
}

BOOST_AUTO_TEST_CASE(past_the_capacity_nothing_changes) {
  using model = layer_stack<post_norm, 3>;
  static const fixture<post_norm, 3, 8> f;
  using memory = key_value_cache<model, key<8>>;
  static memory past, before;
  (void)in_steps(past, f.layers, f.x, lcg{14});
  BOOST_TEST(past.rewind(7));
  std::memcpy(static_cast<void*>(&before), &past, sizeof(past));
  tensor<double, token<2>, hidden<12>> out{};
  for (double& e : out) e = 7;
  const auto untouched = out;
  BOOST_TEST(!past.step(out, f.layers, part<2>(f.x, 0)));
  BOOST_TEST(!past.rewind(8));
  BOOST_TEST(past.size() == 7u);
  BOOST_TEST(std::memcmp(&before, &past, sizeof(past)) == 0);
  BOOST_TEST(same_bits(out, untouched));
}

BOOST_AUTO_TEST_CASE(rewound_is_never_been) {
  using model = layer_stack<llama, 3>;
  static const fixture<llama, 3, 30> f;
  static key_value_cache<model, key<30>> past;
  const auto whole = in_steps(past, f.layers, f.x, lcg{15});
  BOOST_TEST(past.rewind(11));
  BOOST_TEST(past.size() == 11u);
  const auto again = in_steps(past, f.layers, f.x, lcg{16});
  BOOST_TEST(same_bits(part<19>(whole, 11), part<19>(again, 11)));
  past.reset();
  BOOST_TEST(past.size() == 0u);
  BOOST_TEST(same_bits(whole, in_steps(past, f.layers, f.x, lcg{17})));
}

// In constant expressions.
using small = encoder_layer<float, hidden<4>, heads<2>, intermediate<6>, norm_first<true>,
                            activation<relu>, bias<true>>;
using two = layer_stack<small, 2>;
constexpr auto last_row = [] {
  two::weights w{};
  lcg next{18};
  for (auto& layer : w.layers) draw_encoder(next, layer, 0.3, 0.3, 0.3, 0.1, 1, 0.2);
  const auto x = drawn<tensor<float, token<3>, hidden<4>>>(next);
  struct rows {
    tensor<float, token<1>, hidden<4>> stepped{};
    tensor<float, token<3>, hidden<4>> whole{};
  } r;
  key_value_cache<two, key<3>> past;
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t d = 0; d < 4; ++d) r.stepped(0, d) = x(t, d);
    (void)past.step(r.stepped, two{w}, r.stepped);
  }
  r.whole = two{w}(x, causal);
  return r;
};

BOOST_AUTO_TEST_CASE(computed_by_the_compiler) {
  constexpr auto computed = last_row();
  const auto now = last_row();
  BOOST_TEST(same_bits(computed.stepped, now.stepped));
  BOOST_TEST(same_bits(computed.whole, now.whole));
  for (std::size_t d = 0; d < 4; ++d) BOOST_TEST(now.stepped(0, d) == now.whole(2, d));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
