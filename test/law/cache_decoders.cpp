// SPDX-License-Identifier: BSL-1.0
// What holds for a cache of decoder layers and of stacks of them, to the bit: a sequence in steps
// of any sizes is the whole causal pass beside its memory; a step without a memory, or that does
// not fit, changes nothing in any layer. Not here: encoder layers (cache_blocks.cpp).
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

using pre_norm = llama_block<decoder_layer>;
using post_norm = vaswani_block<decoder_layer>;

// A sequence x, its memory m and the weights of Count layers.
template <class Decoder, std::size_t Count, std::size_t Tokens, std::size_t Memory>
struct fixture {
  using model = layer_stack<Decoder, Count>;
  using T = typename Decoder::value_type;
  using sequence = tensor<T, token<Tokens>, typename Decoder::hidden_axis>;
  lcg next{Tokens + Count};
  typename model::weights w{};
  model layers{w};
  sequence x = drawn<sequence>(next);
  tensor<T, key<Memory>, typename Decoder::hidden_axis> m = drawn<decltype(m)>(next);
  fixture() {
    for (auto& layer : w.layers) draw_decoder(next, layer, 0.3, 0.3, 0.3, 0.1, 1, 0.2);
  }

  template <class Mask, class Own>
  sequence whole(const Mask& mask, const Own& own) const {
    static typename model::template workspace<token<Tokens>, key<Memory>> work;
    return layers(x, m, mask, self_mask(own), work);
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
template <std::size_t Size, class Cache, class Layers, class X, class Mask, class Own>
bool step(Cache& past, const Layers& layers, const X& x, X& out, const Mask& mask, const Own& own) {
  static typename Cache::template workspace<token<Size>> work;
  std::memset(static_cast<void*>(&work), 0xff, sizeof work);  // NaN
  const std::size_t at = past.size();
  const auto from = part<Size>(x, at);
  const auto to = part<Size>(out, at);
  if (at % 2 == 0) return past.step(to, layers, from, mask, self_mask(own), work);
  std::memcpy(to.data(), from.data(), from.size() * sizeof(from.data()[0]));
  return past.step(to, layers, to, mask, self_mask(own), work);
}

// The sequence in steps of 1, 3 and 8 positions as they are drawn, those of 8 where Long is true.
template <bool Long = true, class Cache, class Layers, class X, class Mask = detail::every_key,
          class Own = detail::every_key>
X in_steps(Cache& past, const Layers& layers, const X& x, lcg next, const Mask& mask = {},
           const Own& own = {}) {
  constexpr std::size_t tokens = X::layout::extents[0];
  X out{};
  while (past.size() < tokens) {
    const float kind = next();
    const std::size_t left = tokens - past.size();
    const bool fits = Long && kind > 0.5f && left >= 8
                          ? step<Long ? 8 : 1>(past, layers, x, out, mask, own)
                      : kind > -0.2f && left >= 3 ? step<3>(past, layers, x, out, mask, own)
                                                  : step<1>(past, layers, x, out, mask, own);
    BOOST_TEST_REQUIRE(fits);
  }
  return out;
}

BOOST_AUTO_TEST_SUITE(caches_of_decoders)

// The memory shorter than the longest, projected four rows at once, in rows of a workspace, and
// packed.
BOOST_AUTO_TEST_CASE(steps_of_a_layer_are_the_whole_pass) {
  static const fixture<pre_norm, 1, 29, 11> f;
  const pre_norm layer{f.w[0]};
  const prepacked<pre_norm> packed{f.w[0]};
  using cache = key_value_cache<pre_norm, key<29>, longest_memory<13>>;
  static_assert(cache::capacity == 29 && cache::memory_capacity == 13);
  static cache past;
  const auto whole = layer(f.x, f.m, self_mask(causal));
  past.attend_to(layer, f.m);
  BOOST_TEST(past.memory_size() == 11u);
  BOOST_TEST(same_bits(whole, in_steps(past, layer, f.x, lcg{3})));
  static cache::workspace<token<3>> three;
  std::memset(static_cast<void*>(&three), 0xff, sizeof three);
  past.attend_to(packed, f.m, three);
  BOOST_TEST(past.size() == 0u);
  BOOST_TEST(same_bits(whole, in_steps<false>(past, packed, f.x, lcg{4})));
  static cache::workspace<token<29>> many;
  past.attend_to(packed, f.m, many);
  auto out = f.x;
  BOOST_TEST(past.step(out, packed, out, all_keys, many));
  BOOST_TEST(same_bits(whole, out));
}

BOOST_AUTO_TEST_CASE(steps_of_a_stack_are_the_whole_pass) {
  static const fixture<post_norm, 3, 29, 7> f;
  using model = layer_stack<post_norm, 3>;
  const prepacked<model> packed{f.w};
  const auto whole = f.whole(all_keys, causal);
  static key_value_cache<model, key<29>, longest_memory<7>> past;
  past.attend_to(f.layers, f.m);
  BOOST_TEST(same_bits(whole, in_steps(past, f.layers, f.x, lcg{5})));
  past.attend_to(packed, f.m);
  BOOST_TEST(same_bits(whole, in_steps<false>(past, packed, f.x, lcg{6})));
}

// Queries keep their positions in the sequence for masks of the memory.
BOOST_AUTO_TEST_CASE(masks_are_those_of_all_layers) {
  static const fixture<post_norm, 2, 20, 12> f;
  tensor<bool, key<20>> kept{};
  for (std::size_t j = 0; j < 20; ++j) kept(j) = j % 5 != 2;
  tensor<bool, key<12>> kept_of_memory{};
  for (std::size_t j = 0; j < 12; ++j) kept_of_memory(j) = j % 4 != 1;
  const auto own = keep_mask(kept) & alibi;
  static key_value_cache<layer_stack<post_norm, 2>, key<20>, longest_memory<12>> past;
  const auto check = [&](const auto& mask) {
    past.attend_to(f.layers, f.m);
    BOOST_TEST(same_bits(f.whole(mask, causal & own),
                         in_steps<false>(past, f.layers, f.x, lcg{7}, mask, own)));
  };
  check(keep_mask(kept_of_memory));
  check(sliding_window_at<3>(2) & alibi_top_left);
}

// What is looked at in a step is the row of the whole pass.
BOOST_AUTO_TEST_CASE(weights_of_the_memory_are_observed) {
  static const fixture<post_norm, 1, 5, 4> f;
  const post_norm layer{f.w[0]};
  static key_value_cache<post_norm, key<5>, longest_memory<4>> past;
  tensor<double, heads<3>, query<5>, key<4>> whole{};
  (void)layer(f.x, f.m, observe(whole), self_mask(causal));
  past.attend_to(layer, f.m);
  for (std::size_t t = 0; t < 5; ++t) {
    tensor<double, heads<3>, query<1>, key<4>> seen{};
    tensor<double, token<1>, hidden<12>> out{};
    BOOST_TEST(past.step(out, layer, part<1>(f.x, t), observe(seen)));
    for (std::size_t h = 0; h < 3; ++h)
      for (std::size_t j = 0; j < 4; ++j) BOOST_TEST(seen(h, 0, j) == whole(h, t, j));
  }
}

// The sequence slides, the memory does not.
BOOST_AUTO_TEST_CASE(a_sliding_cache_is_the_whole_pass_with_its_window) {
  static const fixture<pre_norm, 2, 600, 9> f;
  const auto whole = f.whole(all_keys, sliding_window<19>);
  static key_value_cache<layer_stack<pre_norm, 2>, key<20>, longest_sequence<600, 3>,
                         longest_memory<9>>
      past;
  static_assert(past.slides && past.capacity == 20 && past.positions == 600);
  past.attend_to(f.layers, f.m);
  BOOST_TEST(same_bits(whole, in_steps<false>(past, f.layers, f.x, lcg{8})));
  BOOST_TEST(!past.rewind(100));
  BOOST_TEST(past.rewind(590));
  const auto again = in_steps<false>(past, f.layers, f.x, lcg{9});
  BOOST_TEST(same_bits(part<10>(whole, 590), part<10>(again, 590)));
}

// Each sequence with a memory of its own length; NaN behind it is not read.
BOOST_AUTO_TEST_CASE(batches_are_sequences) {
  using model = layer_stack<pre_norm, 2>;
  static const fixture<pre_norm, 2, 9, 1> f;
  lcg next{11};
  const auto x = drawn<tensor<float, batch<3>, token<9>, hidden<16>>>(next);
  auto m = drawn<tensor<float, batch<3>, token<5>, hidden<16>>>(next);
  m(1, 4, 3) = std::nanf("");
  const tensor<int, batch<3>> lens{5, 3, 0}, own{9, 4, 6};
  const auto whole = f.layers(x, m, lens, self_mask(own & causal));
  static key_value_cache<model, key<9>, longest_memory<6>, batch<3>> past;
  past.attend_to(f.layers, m);
  for (std::size_t t = 0; t < 9; t += 3) {
    tensor<float, batch<3>, token<3>, hidden<16>> now{};
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t d = 0; d < 16; ++d) now(b, i, d) = x(b, t + i, d);
    BOOST_TEST(past.step(now, f.layers, now, lens, self_mask(own)));
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t d = 0; d < 16; ++d) BOOST_TEST(now(b, i, d) == whole(b, t + i, d));
  }
}

// No whole pass rounds keys and values; any cut gives the same, and it is near.
template <class W>
void check_any_cut() {
  using model = layer_stack<pre_norm, 2>;
  static const fixture<pre_norm, 2, 29, 10> f;
  const prepacked<model, stored_as<W>> packed{f.w};
  const auto whole_of_packed = packed(f.x, f.m, self_mask(causal));
  static key_value_cache<model, key<29>, longest_memory<10>> of_float;
  of_float.attend_to(packed, f.m);
  BOOST_TEST(same_bits(whole_of_packed, in_steps<false>(of_float, packed, f.x, lcg{11})));

  using cache = key_value_cache<model, key<29>, longest_memory<10>, stored_as<W>>;
  static cache past;
  static typename cache::template workspace<token<29>> work;
  past.attend_to(packed, f.m, work);
  auto once = f.x;
  BOOST_TEST(past.step(once, packed, once, all_keys, work));
  past.attend_to(packed, f.m);
  BOOST_TEST(same_bits(once, in_steps<false>(past, packed, f.x, lcg{12})));
  BOOST_TEST(!same_bits(once, whole_of_packed));
  for (std::size_t i = 0; i < once.size(); ++i)
    BOOST_TEST(std::fabs(once.data()[i] - whole_of_packed.data()[i]) < 0.1f);
}
BOOST_AUTO_TEST_CASE(any_cut_gives_the_same_in_16_and_8_bits) {
  check_any_cut<bfloat16>();
  check_any_cut<std::int8_t>();
}

BOOST_AUTO_TEST_CASE(without_room_or_memory_nothing_changes) {
  using model = layer_stack<post_norm, 3>;
  static const fixture<post_norm, 3, 8, 5> f;
  using cache = key_value_cache<model, key<8>, longest_memory<6>>;
  static cache past, before;
  tensor<double, token<2>, hidden<12>> out{};
  for (double& e : out) e = 7;
  const auto untouched = out;
  const auto refuses = [&] {
    std::memcpy(static_cast<void*>(&before), &past, sizeof(past));
    BOOST_TEST(!past.step(out, f.layers, part<2>(f.x, 0)));
    BOOST_TEST(std::memcmp(&before, &past, sizeof(past)) == 0);
    BOOST_TEST(same_bits(out, untouched));
  };
  BOOST_TEST(past.memory_size() == 0u);
  refuses();
  past.attend_to(f.layers, f.m);
  (void)in_steps<false>(past, f.layers, f.x, lcg{14});
  BOOST_TEST(past.rewind(7));
  refuses();
  BOOST_TEST(!past.rewind(8));
  BOOST_TEST(past.size() == 7u);
  past.reset();
  BOOST_TEST(past.size() == 0u);
  BOOST_TEST(past.memory_size() == 0u);
  refuses();
}

// Nothing of a memory or sequence before is left.
BOOST_AUTO_TEST_CASE(what_was_forgotten_has_never_been) {
  using model = layer_stack<pre_norm, 2>;
  static const fixture<pre_norm, 2, 21, 6> f;
  static const fixture<pre_norm, 2, 21, 9> longer;
  static key_value_cache<model, key<21>, longest_memory<9>> past;
  past.attend_to(longer.layers, longer.m);
  (void)in_steps<false>(past, longer.layers, longer.x, lcg{15});
  past.attend_to(f.layers, f.m);
  const auto whole = in_steps<false>(past, f.layers, f.x, lcg{16});
  BOOST_TEST(same_bits(whole, f.whole(all_keys, causal)));
  BOOST_TEST(past.rewind(11));
  const auto again = in_steps<false>(past, f.layers, f.x, lcg{17});
  BOOST_TEST(same_bits(part<10>(whole, 11), part<10>(again, 11)));
  BOOST_TEST(past.rewind(0));
  BOOST_TEST(past.memory_size() == 6u);
  BOOST_TEST(same_bits(whole, in_steps<false>(past, f.layers, f.x, lcg{18})));
}

// In constant expressions.
using small = decoder_layer<float, hidden<4>, heads<2>, intermediate<6>, norm_first<true>,
                            activation<relu>, bias<true>>;
using two = layer_stack<small, 2>;
constexpr auto last_row = [] {
  two::weights w{};
  lcg next{18};
  for (auto& layer : w.layers) draw_decoder(next, layer, 0.3, 0.3, 0.3, 0.1, 1, 0.2);
  const auto x = drawn<tensor<float, token<3>, hidden<4>>>(next);
  const auto m = drawn<tensor<float, key<2>, hidden<4>>>(next);
  struct rows {
    tensor<float, token<1>, hidden<4>> stepped{};
    tensor<float, token<3>, hidden<4>> whole{};
  } r;
  using cache = key_value_cache<two, key<3>, longest_memory<3>>;
  static_assert(std::is_trivially_copyable_v<cache>);
  cache past;
  cache::workspace<token<1>> work;
  past.attend_to(two{w}, m);
  past.attend_to(two{w}, m, work);
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t d = 0; d < 4; ++d) r.stepped(0, d) = x(t, d);
    (void)past.step(r.stepped, two{w}, r.stepped, all_keys, work);
  }
  r.whole = two{w}(x, m, self_mask(causal));
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
