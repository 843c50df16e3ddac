// SPDX-License-Identifier: BSL-1.0
// What holds for a cache of encoder and of decoder layers and of stacks of them, in floats and in
// integers, to the bit: a sequence in steps of any sizes is the whole causal pass, beside its
// memory if there is one; what was rewound has never been; a step without a memory, or that does
// not fit, changes nothing in any layer. Not here: a cache of attention by itself (cache.cpp), of
// other blocks (uses/caches.cpp, uses/integers.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/quantized.hpp>
#include <umbel/umbel.hpp>

#include <cmath>
#include <cstring>

#include "../support/blocks.hpp"
#include "../support/compare.hpp"
#include "../support/floats_and_integers.hpp"

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
using llama_decoder = llama_block<decoder_layer>;
using post_norm_decoder = vaswani_block<decoder_layer>;
// Of a layer in integers that was not named before.
static_assert(
    key_value_cache<quantized<llama_decoder>, key<3>, longest_memory<2>>::memory_capacity == 2);

// A sequence x and its memory m, shorter than the longest.
template <class F, std::size_t Tokens>
struct fixture : F {
  using sequence = typename F::template sequences_of<token<Tokens>>;
  lcg draws{Tokens};
  sequence x = F::template sequences<token<Tokens>>(draws);
  decltype(F::template memories<key<11>>(draws)) m = F::template memories<key<11>>(draws);

  template <class Called, class Mask, class Own>
  sequence whole(const Called& layers, const Mask& mask, const Own& own) const {
    static typename F::template workspace<typename F::called, token<Tokens>, key<11>> work;
    return F::pass(layers, x, m, mask, own, work);
  }
};
template <class F, std::size_t Keys, class... Options>
constexpr auto cache_with() {
  if constexpr (F::has_memory)
    return std::type_identity<
        key_value_cache<typename F::called, key<Keys>, longest_memory<13>, Options...>>{};
  else
    return std::type_identity<key_value_cache<typename F::called, key<Keys>, Options...>>{};
}
template <class F, std::size_t Keys, class... Options>
using cache_of = typename decltype(cache_with<F, Keys, Options...>())::type;

// The positions from `first` on, Count of them.
template <std::size_t Count, class X>
auto part(X& x, std::size_t first) {
  using T = std::remove_pointer_t<decltype(x.data())>;
  constexpr std::size_t width = X::layout::extents[1];
  return view<T, token<Count>, hidden<width>>(x.data() + first * width);
}

// A step of Size positions, in place if they begin at an odd one.
template <class F, std::size_t Size, class Cache, class Layers, class X, class Mask, class Own>
bool step(Cache& past, const Layers& layers, const X& x, X& out, const Mask& mask, const Own& own) {
  static typename Cache::template workspace<token<Size>> work;
  std::memset(static_cast<void*>(&work), 0xff, sizeof work);  // NaN
  const std::size_t at = past.size();
  const auto to = part<Size>(out, at);
  if (at % 2) std::memcpy(to.data(), part<Size>(x, at).data(), to.size() * sizeof(to.data()[0]));
  return F::step(past, to, layers, part<Size>(at % 2 ? out : x, at), mask, own, work);
}

// The sequence in steps of 1, 3 and 8 positions as they are drawn, of 8 if Long is true.
template <class F, bool Long, class Cache, class Layers, class X, class Mask = detail::every_key,
          class Own = detail::every_key>
X in_steps(Cache& past, const Layers& layers, const X& x, lcg next, const Mask& mask = {},
           const Own& own = {}) {
  constexpr std::size_t tokens = X::layout::extents[0];
  X out{};
  while (past.size() < tokens) {
    const float kind = next();
    const std::size_t left = tokens - past.size();
    const bool fits = Long && kind > 0.5f && left >= 8
                          ? step<F, Long ? 8 : 1>(past, layers, x, out, mask, own)
                      : kind > -0.2f && left >= 3 ? step<F, 3>(past, layers, x, out, mask, own)
                                                  : step<F, 1>(past, layers, x, out, mask, own);
    BOOST_TEST_REQUIRE(fits);
  }
  return out;
}
// Steps of 8 with weights as they are and, of blocks without a memory, with packed ones.
template <class F, class Layers>
inline constexpr bool in_long_steps = !F::has_memory || std::is_same_v<Layers, typename F::called>;

template <class F, std::size_t Tokens = 41>
void check_steps() {
  static const fixture<F, Tokens> f;
  using cache = cache_of<F, Tokens>;
  static_assert(cache::capacity == Tokens && cache::memory_capacity == (F::has_memory ? 13 : 0));
  static cache past, before;
  typename F::template sequences_of<token<2>> out{};
  for (auto& e : out) e = 7;
  const auto untouched = out;
  const auto refuses = [&] {
    std::memcpy(static_cast<void*>(&before), &past, sizeof past);
    BOOST_TEST(!F::step(past, out, f.layer, part<2>(f.x, 0), all_keys, all_keys));
    BOOST_TEST(std::memcmp(&before, &past, sizeof past) == 0);
    BOOST_TEST(same_bits(out, untouched));
  };
  const auto memory_is = [&](std::size_t size) {
    if constexpr (F::has_memory) {
      BOOST_TEST(past.memory_size() == size);
      if (size == 0) refuses();
    }
  };
  memory_is(0);

  // Of a sequence and a memory before, which is longer, nothing is left.
  lcg next{15};
  F::begin(past, f.layer, F::template memories<key<13>>(next));
  (void)in_steps<F, true>(past, f.layer, F::template sequences<token<Tokens>>(next), lcg{2});
  const auto whole = f.whole(f.layer, all_keys, causal);
  f.each_form([&]<class Layers>(const Layers& layers) {
    F::begin(past, layers, f.m);
    BOOST_TEST(past.size() == 0u);
    memory_is(11);
    BOOST_TEST(same_bits(whole, in_steps<F, in_long_steps<F, Layers>>(past, layers, f.x, lcg{3})));
  });
  refuses();

  // What was rewound has never been.
  BOOST_TEST(!past.rewind(Tokens + 1));
  BOOST_TEST(past.rewind(Tokens - 1));
  refuses();
  BOOST_TEST(!past.rewind(Tokens));
  BOOST_TEST(past.size() == Tokens - 1);
  BOOST_TEST(past.rewind(11));
  BOOST_TEST(past.size() == 11u);
  const auto again = in_steps<F, true>(past, f.layer, f.x, lcg{4});
  BOOST_TEST(same_bits(part<Tokens - 11>(whole, 11), part<Tokens - 11>(again, 11)));
  BOOST_TEST(past.rewind(0));
  memory_is(11);
  BOOST_TEST(same_bits(whole, in_steps<F, true>(past, f.layer, f.x, lcg{5})));

  // All positions at once; the memory in rows of a workspace.
  f.each_form([&]<class Layers>(const Layers& layers) {
    if constexpr (!F::is_of_floats || !std::is_same_v<Layers, typename F::called>) {
      static typename cache::template workspace<token<3>> three;
      std::memset(static_cast<void*>(&three), 0xff, sizeof three);
      F::begin(past, layers, f.m, three);
      BOOST_TEST(
          same_bits(whole, in_steps<F, in_long_steps<F, Layers>>(past, layers, f.x, lcg{6})));
      static typename cache::template workspace<token<Tokens>> many;
      F::begin(past, layers, f.m, many);
      auto once = f.x;
      BOOST_TEST((step<F, Tokens>(past, layers, f.x, once, all_keys, all_keys)));
      BOOST_TEST(same_bits(whole, once));
    }
  });
  past.reset();
  BOOST_TEST(past.size() == 0u);
  memory_is(0);
}

// Queries keep their positions in the sequence for masks of the memory. `longest` is the mask over
// the longest memory, as steps take it.
template <class F, class Longest, class Mask, class Own>
void check_masks(const Longest& longest, const Mask& mask, const Own& own) {
  static const fixture<F, 20> f;
  static cache_of<F, 20> past;
  F::begin(past, f.layer, f.m);
  BOOST_TEST(same_bits(f.whole(f.layer, mask, causal & own),
                       in_steps<F, !F::has_memory>(past, f.layer, f.x, lcg{7}, longest, own)));
}
template <std::size_t Keys, std::size_t Left>
tensor<bool, key<Keys>> all_but() {
  tensor<bool, key<Keys>> kept{};
  for (std::size_t j = 0; j < Keys; ++j) kept(j) = j % 5 != Left;
  return kept;
}

// The sequence slides, the memory does not. Back: so many positions can be taken back.
template <class F, std::size_t Tokens, std::size_t Keys, std::size_t Back, class Longest,
          class Mask>
void check_sliding(const Longest& longest, const Mask& mask) {
  static const fixture<F, Tokens> f;
  static cache_of<F, Keys, longest_sequence<Tokens, 3>> past;
  static_assert(past.slides && past.capacity == Keys && past.positions == Tokens);
  const auto whole = f.whole(f.layer, mask, sliding_window<Keys - 1>);
  F::begin(past, f.layer, f.m);
  BOOST_TEST(same_bits(whole, in_steps<F, false>(past, f.layer, f.x, lcg{8}, longest)));
  typename F::template sequences_of<token<1>> more{};
  BOOST_TEST(!F::step(past, more, f.layer, more, longest, all_keys));
  BOOST_TEST(!past.rewind(Tokens / 6));
  BOOST_TEST(past.size() == Tokens);
  BOOST_TEST(past.rewind(Tokens - Back));
  const auto again = in_steps<F, false>(past, f.layer, f.x, lcg{9}, longest);
  BOOST_TEST(same_bits(part<Back>(whole, Tokens - Back), part<Back>(again, Tokens - Back)));
}

// Each sequence with a memory of its own length; NaN behind it is not read.
template <class F>
void check_batches() {
  static const F f;
  lcg next{11};
  const auto x = F::template sequences<batch<3>, token<9>>(next);
  auto m = F::template memories<batch<3>, token<5>>(next);
  if constexpr (F::is_of_floats) m(1, 4, 3) = std::nanf("");
  const tensor<int, batch<3>> lens{5, 3, 0}, own{9, 0, 6};
  const auto whole = F::pass(f.layer, x, m, lens, own & causal);
  static cache_of<F, 9, batch<3>> past;
  F::begin(past, f.layer, m);
  for (std::size_t t = 0; t < 9; t += 3) {
    typename F::template sequences_of<batch<3>, token<3>> now{};
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t d = 0; d < F::hidden_axis::size; ++d) now(b, i, d) = x(b, t + i, d);
    BOOST_TEST(F::step(past, now, f.layer, now, lens, own));
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t d = 0; d < F::hidden_axis::size; ++d)
          BOOST_TEST(now(b, i, d) == whole(b, t + i, d));
  }
}

// Weights stored in W are the weights of the whole pass, too. Keys and values in W are not, since
// no whole pass rounds them: any cut gives the same, and it is near.
template <class F, class W>
void check_any_cut() {
  constexpr bool in_eights = !F::has_memory;
  static const fixture<F, 41> f;
  static const prepacked<typename F::block, stored_as<W>> packed{f.w};
  const auto whole = f.whole(packed, all_keys, causal);
  static cache_of<F, 41> of_float;
  F::begin(of_float, packed, f.m);
  BOOST_TEST(same_bits(whole, in_steps<F, in_eights>(of_float, packed, f.x, lcg{11})));

  using cache = cache_of<F, 41, stored_as<W>>;
  static cache past;
  static typename cache::template workspace<token<41>> work;
  F::begin(past, packed, f.m, work);
  auto once = f.x;
  BOOST_TEST(F::step(past, once, packed, once, all_keys, all_keys, work));
  F::begin(past, packed, f.m);
  BOOST_TEST(same_bits(once, in_steps<F, in_eights>(past, packed, f.x, lcg{12})));
  BOOST_TEST(!same_bits(once, whole));
  for (std::size_t i = 0; i < once.size(); ++i)
    BOOST_TEST(std::fabs(once.data()[i] - whole.data()[i]) < 0.1f);
}

// In constant expressions.
template <template <class...> class Layer>
constexpr auto last_row = [] {
  using two = layer_stack<Layer<float, hidden<4>, heads<2>, intermediate<6>, norm_first<true>,
                                activation<relu>, bias<true>>,
                          2>;
  using calls = in_floats<two>;
  typename two::weights w{};
  lcg next{18};
  for (auto& layer : w.layers)
    if constexpr (calls::has_memory)
      draw_decoder(next, layer, 0.3, 0.3, 0.3, 0.1, 1, 0.2);
    else
      draw_encoder(next, layer, 0.3, 0.3, 0.3, 0.1, 1, 0.2);
  const auto x = drawn<tensor<float, token<3>, hidden<4>>>(next);
  const auto m = drawn<tensor<float, key<2>, hidden<4>>>(next);
  struct rows {
    tensor<float, token<1>, hidden<4>> stepped{};
    tensor<float, token<3>, hidden<4>> whole{};
  } r;
  using cache = cache_of<calls, 3>;
  static_assert(std::is_trivially_copyable_v<cache>);
  cache past;
  typename cache::template workspace<token<1>> work;
  calls::begin(past, two{w}, m);
  calls::begin(past, two{w}, m, work);
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t d = 0; d < 4; ++d) r.stepped(0, d) = x(t, d);
    if (t % 2)
      (void)past.step(r.stepped, two{w}, r.stepped);
    else
      (void)calls::step(past, r.stepped, two{w}, r.stepped, all_keys, all_keys, work);
  }
  r.whole = calls::pass(two{w}, x, m, all_keys, causal);
  return r;
};
template <template <class...> class Layer>
void check_constant() {
  constexpr auto computed = last_row<Layer>();
  const auto now = last_row<Layer>();
  BOOST_TEST(same_bits(computed.stepped, now.stepped));
  BOOST_TEST(same_bits(computed.whole, now.whole));
  for (std::size_t d = 0; d < 4; ++d) BOOST_TEST(now.stepped(0, d) == now.whole(2, d));
}

using llamas = layer_stack<llama, 2>;
using llama_decoders = layer_stack<llama_decoder, 2>;
using post_norms = layer_stack<post_norm, 3>;
using post_norm_decoders = layer_stack<post_norm_decoder, 3>;

BOOST_AUTO_TEST_SUITE(caches_of_blocks)

BOOST_AUTO_TEST_CASE(steps_of_a_layer_are_the_whole_pass) {
  check_steps<in_floats<pre_norm>>();
  check_steps<in_floats<qwen2>>();
  check_steps<in_floats<without_beta>>();
  check_steps<in_floats<llama_decoder>>();
}

BOOST_AUTO_TEST_CASE(steps_of_a_stack_are_the_whole_pass) {
  check_steps<in_floats<llamas>>();
  check_steps<in_floats<post_norms>>();
  check_steps<in_floats<post_norm_decoders>>();
}

BOOST_AUTO_TEST_CASE(steps_in_integers_are_the_whole_pass) {
  check_steps<in_integers<llamas>, 23>();
  check_steps<in_integers<llama_decoders>, 23>();
}

BOOST_AUTO_TEST_CASE(masks_are_those_of_all_layers) {
  const auto kept = all_but<20, 2>();
  const auto of_memory = all_but<11, 1>();
  const auto of_longest = all_but<13, 1>();
  check_masks<in_floats<post_norms>>(all_keys, all_keys, keep_mask(kept) & alibi);
  check_masks<in_floats<post_norm_decoders>>(keep_mask(of_longest), keep_mask(of_memory),
                                             keep_mask(kept) & alibi);
  const auto window = sliding_window_at<3>(2) & alibi_top_left;
  check_masks<in_floats<post_norm_decoders>>(window, window, keep_mask(kept) & alibi);
  check_masks<in_integers<llamas>>(all_keys, all_keys, sliding_window<10>);
  check_masks<in_integers<llama_decoders>>(keep_mask(of_longest), keep_mask(of_memory),
                                           sliding_window<5>);
}

// Across blocks of keys, where the oldest are dropped in all layers.
BOOST_AUTO_TEST_CASE(a_sliding_cache_is_the_whole_pass_with_its_window) {
  const auto of_memory = all_but<11, 1>();
  const auto of_longest = all_but<13, 1>();
  check_sliding<in_floats<llamas>, 600, 20, 10>(all_keys, all_keys);
  check_sliding<in_floats<llama_decoders>, 600, 20, 10>(all_keys, all_keys);
  check_sliding<in_integers<llamas>, 23, 11, 2>(all_keys, all_keys);
  check_sliding<in_integers<llama_decoders>, 23, 6, 2>(keep_mask(of_longest), keep_mask(of_memory));
}

BOOST_AUTO_TEST_CASE(batches_are_sequences) {
  check_batches<in_floats<llamas>>();
  check_batches<in_floats<llama_decoders>>();
  check_batches<in_integers<llamas>>();
}

BOOST_AUTO_TEST_CASE(any_cut_gives_the_same_in_16_and_8_bits) {
  check_any_cut<in_floats<llamas>, bfloat16>();
  check_any_cut<in_floats<llamas>, std::int8_t>();
  check_any_cut<in_floats<llama_decoders>, bfloat16>();
  check_any_cut<in_floats<llama_decoders>, std::int8_t>();
}

// What is looked at in a step is the row of the whole pass.
BOOST_AUTO_TEST_CASE(weights_of_the_memory_are_observed) {
  static const fixture<in_floats<post_norm_decoder>, 5> f;
  static cache_of<in_floats<post_norm_decoder>, 5> past;
  tensor<double, heads<3>, query<5>, key<11>> whole{};
  (void)f.layer(f.x, f.m, observe(whole), self_mask(causal));
  past.attend_to(f.layer, f.m);
  for (std::size_t t = 0; t < 5; ++t) {
    tensor<double, heads<3>, query<1>, key<13>> seen{};
    tensor<double, token<1>, hidden<12>> out{};
    BOOST_TEST(past.step(out, f.layer, part<1>(f.x, t), observe(seen)));
    for (std::size_t h = 0; h < 3; ++h)
      for (std::size_t j = 0; j < 13; ++j)
        BOOST_TEST(seen(h, 0, j) == (j < 11 ? whole(h, t, j) : 0));
  }
}

BOOST_AUTO_TEST_CASE(computed_by_the_compiler) {
  check_constant<encoder_layer>();
  check_constant<decoder_layer>();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
