// SPDX-License-Identifier: BSL-1.0
// What holds for weights stored in 16 bits, to the bit: a layer with them is the layer of float
// with each weight rounded first. In 8 bits so it is where scales are powers of two.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <umbel/umbel.hpp>

#include "../support/blocks.hpp"
#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <std::size_t N>
struct rows : axis<rows, N> {};
template <std::size_t N>
struct width : axis<width, N> {};

using tokens = tensor<float, batch<2>, token<5>, hidden<12>>;
using memories = tensor<float, batch<2>, key<7>, hidden<12>>;

// f(map), of each matrix of weights.
template <class Weights, class F>
  requires requires { typename Weights::map; }
constexpr void each_map(Weights& w, F f) {
  f(w);
}
template <class Weights, class F>
  requires requires(Weights& w) { w.o; }
constexpr void each_map(Weights& w, F f) {
  f(w.q), f(w.k), f(w.v), f(w.o);
}
template <class Weights, class F>
  requires requires(Weights& w) { w.down; }
constexpr void each_map(Weights& w, F f) {
  f(w.up), f(w.down);
  if constexpr (requires { w.gate; }) f(w.gate);
}
template <class Weights, class F>
  requires requires(Weights& w) { w.norm1; }
constexpr void each_map(Weights& w, F f) {
  if constexpr (requires { w.attention; }) each_map(w.attention, f);
  if constexpr (requires { w.self_attention; }) each_map(w.self_attention, f);
  if constexpr (requires { w.cross_attention; }) each_map(w.cross_attention, f);
  each_map(w.feed_forward, f);
}

// The weights of the maps, not their biases.
template <class W, class Weights>
constexpr void round(Weights& weights) {
  each_map(weights, [](auto& w) {
    for (float& e : w.weight) e = static_cast<float>(static_cast<W>(e));
  });
}

// Weights whose scales in 8 bits are 1/64: each output has one of 127/64, more than the others.
template <class Weights>
constexpr void give_scales(Weights& weights) {
  each_map(weights, [](auto& w) {
    for (std::size_t n = 0; n < std::remove_cvref_t<decltype(w)>::map::out::size; ++n)
      w.weight[n] = n % 2 == 0 ? 127.0f / 64 : -127.0f / 64;
    if constexpr (requires { w.bias; })
      for (float& e : w.bias) e = 0;
  });
}
template <class Weights>
void round_to_64ths(Weights& weights) {
  each_map(weights, [](auto& w) {
    for (float& e : w.weight) e = std::nearbyint(e * 64) / 64;
  });
}

// A scale of a power of two may as well be in the weights: the bits are those of the layer with
// each weight rounded. (Biases are 0, since sums in 8 bits do not start there.)
template <class Layer, class Call>
void check_8_bits(typename Layer::weights w, Call call) {
  give_scales(w);
  const prepacked<Layer, stored_as<std::int8_t>> stored{w};
  const auto in_float = call(Layer{w});
  round_to_64ths(w);
  BOOST_TEST(same_bits(call(stored), call(Layer{w})));
  BOOST_TEST(!same_bits(call(stored), in_float));
}

// The same call of the layer with rounded weights, of the one that stores them so and of the one in
// float.
template <class Layer, class W, class Call>
void check(const typename Layer::weights& w, Call call) {
  typename Layer::weights rounded = w;
  round<W>(rounded);
  const prepacked<Layer, stored_as<W>> stored{w};
  BOOST_TEST(same_bits(call(stored), call(Layer{rounded})));
  BOOST_TEST(!same_bits(call(stored), call(Layer{w})));
  BOOST_TEST(same_bits(call(prepacked<Layer, stored_as<float>>{w}), call(Layer{w})));
}
template <class Layer, class Call>
void check_both(const typename Layer::weights& w, Call call) {
  check<Layer, bfloat16>(w, call);
  check<Layer, float16>(w, call);
  check_8_bits<Layer>(w, call);
}

template <std::size_t In, std::size_t Out, std::size_t Rows, bool Bias = true>
void check_linear() {
  using map = linear<float, width<In>, classes<Out>, bias<Bias>>;
  lcg next{In * 10 + Out};
  typename map::weights w{};
  draw(next, w.weight);
  draw_bias(next, w);
  const auto x = drawn<tensor<float, rows<Rows>, width<In>>>(next);
  check_both<map>(w, [&](const auto& layer) { return layer(x); });
  const auto turned = x | permute<width, rows> | contiguous;
  check_both<map>(w, [&](const auto& layer) { return layer(turned); });
}

template <class... Options>
void check_attention() {
  using layer = multi_head_attention<float, hidden<12>, heads<4>, Options...>;
  lcg next{51};
  typename layer::weights w{};
  draw(next, w.q.weight), draw(next, w.k.weight), draw(next, w.v.weight), draw(next, w.o.weight);
  draw_bias(next, w.q), draw_bias(next, w.k), draw_bias(next, w.v), draw_bias(next, w.o);
  const auto x = drawn<tokens>(next);
  const auto y = drawn<memories>(next);
  check_both<layer>(w, [&](const auto& attend) { return attend(x, causal); });
  const auto queries = x | rename_axis<token, query>;
  check_both<layer>(w, [&](const auto& attend) { return attend(queries, y, y); });
}

template <class... Options>
using small_encoder = encoder_layer<float, hidden<12>, heads<3>, intermediate<21>, Options...>;
template <class... Options>
using small_decoder = decoder_layer<float, hidden<12>, heads<3>, intermediate<21>, Options...>;
template <class... Options>
using small_network = feed_forward<float, hidden<12>, intermediate<37>, Options...>;

template <class... Options>
void check_blocks() {
  using encoder = block_with<small_encoder, Options...>;
  using decoder = block_with<small_decoder, Options...>;
  lcg next{52};
  typename encoder::weights e{};
  draw_encoder(next, e, 0.5, 0.5, 0.25, 0.125, 1, 0.125);
  typename decoder::weights d{};
  draw_decoder(next, d, 0.5, 0.5, 0.25, 0.125, 1, 0.125);
  const auto x = drawn<tokens>(next, 2);
  const auto y = drawn<memories>(next, 2);
  check_both<encoder>(e, [&](const auto& layer) { return layer(x); });
  check_both<decoder>(d, [&](const auto& layer) { return layer(x, y, self_mask(causal)); });
}

template <class... Options>
void check_feed_forward() {
  using layer = network_with<small_network, Options...>;
  lcg next{53};
  typename layer::weights w{};
  draw_feed_forward(next, w, 0.5, 0.25, 0.125);
  const auto x = drawn<tokens>(next, 2);
  check_both<layer>(w, [&](const auto& feed) { return feed(x); });
}

// Packed in constant expressions.
using network =
    feed_forward<float, hidden<12>, intermediate<7>, bias<true>, activation<gelu_exact>>;
constexpr network::weights constant_weights = [] {
  network::weights w{};
  lcg next{54};
  draw_feed_forward(next, w, 0.5, 0.25, 0.125);
  return w;
}();
constexpr network::weights constant_rounded = [] {
  network::weights w = constant_weights;
  round<bfloat16>(w);
  return w;
}();
constexpr tokens constant_tokens = [] {
  tokens x{};
  lcg next{55};
  draw(next, x);
  return x;
}();
constexpr prepacked<network, stored_as<bfloat16>> packed{constant_weights};
constexpr prepacked<network, stored_as<std::int8_t>> packed_in_8_bits{constant_weights};
constexpr tokens computed = network{constant_rounded}(constant_tokens);

static_assert(sizeof(prepacked<linear<float, hidden<64>, classes<64>>, stored_as<float16>>) ==
              64 * 64 * 2 + 64);  // and which layout they have
static_assert(sizeof(prepacked<linear<float, hidden<64>, classes<64>>, stored_as<std::int8_t>>) ==
              64 * 64 + 64 * sizeof(float) + 64);  // and scales

}  // namespace

BOOST_AUTO_TEST_SUITE(stored_laws)

BOOST_AUTO_TEST_CASE(a_linear_map_has_the_bits_of_the_rounded_weights) {
  check_linear<7, 1, 3>();
  check_linear<13, 17, 1>();
  check_linear<9, 100, 4>();
  check_linear<5, 67, 6, false>();
  check_linear<11, 300, 1>();
  check_linear<64, 20, 64>();  // transposed: rows in the lanes
}

BOOST_AUTO_TEST_CASE(attention_has_the_bits_of_the_rounded_weights) {
  check_attention<>();
  check_attention<bias<true>, kv_heads<2>, head_dim<6>, rope<split_halves>>();
}

BOOST_AUTO_TEST_CASE(additive_attention_has_the_bits_of_the_rounded_weights) {
  using layer = additive_attention<float, hidden<12>, score_hidden<9>, bias<true>>;
  lcg next{56};
  layer::weights w{};
  draw(next, w.q.weight), draw(next, w.k.weight), draw(next, w.score);
  draw_bias(next, w.q), draw_bias(next, w.k);
  const auto x = drawn<tokens>(next) | rename_axis<token, query>;
  const auto y = drawn<memories>(next);
  layer::weights rounded = w;
  round<bfloat16>(rounded.q), round<bfloat16>(rounded.k);
  const prepacked<layer, stored_as<bfloat16>> stored{w};
  BOOST_TEST(same_bits(stored(x, y, y), layer{rounded}(x, y, y)));
}

BOOST_AUTO_TEST_CASE(blocks_have_the_bits_of_the_rounded_weights) {
  check_feed_forward<>();
  check_feed_forward<bias<true>, gated<true>, activation<silu>>();
  check_blocks<>();
  check_blocks<bias<true>, norm_first<false>>();
}

BOOST_AUTO_TEST_CASE(packed_by_the_compiler) {
  BOOST_TEST(same_bits(packed(constant_tokens), computed));
  const prepacked<network, stored_as<bfloat16>> now{constant_weights};
  BOOST_TEST(same_bits(now(constant_tokens), computed));
  const prepacked<network, stored_as<std::int8_t>> in_8_bits{constant_weights};
  BOOST_TEST(same_bits(packed_in_8_bits(constant_tokens), in_8_bits(constant_tokens)));
}

// In 8 bits a linear map is off by half a step of its output at most, for each input.
BOOST_AUTO_TEST_CASE(how_far_a_linear_map_in_8_bits_is) {
  using map = linear<float, hidden<96>, classes<40>, bias<true>>;
  lcg next{58};
  for (int drawing = 0; drawing < 50; ++drawing) {
    map::weights w{};
    draw(next, w.weight, drawing % 7 + 1);
    draw_bias(next, w);
    for (std::size_t k = 0; k < 96; ++k) w.weight[k * 40 + 3] = 0;
    const auto x = drawn<tensor<float, token<3>, hidden<96>>>(next, 2);
    const auto y = prepacked<map, stored_as<std::int8_t>>{w}(x);
    for (std::size_t m = 0; m < 3; ++m)
      for (std::size_t n = 0; n < 40; ++n) {
        double exact = static_cast<double>(w.bias[n]), sizes = 0, largest = 0;
        for (std::size_t k = 0; k < 96; ++k) {
          const double weight = static_cast<double>(w.weight[k * 40 + n]);
          exact += weight * static_cast<double>(x(m, k));
          sizes += std::fabs(static_cast<double>(x(m, k)));
          largest = std::fmax(largest, std::fabs(weight));
        }
        const double half_steps = largest / 254 * sizes;
        BOOST_TEST(std::fabs(static_cast<double>(y(m, n)) - exact) <=
                   half_steps * 1.001 + 1e-5 * (std::fabs(exact) + 1));
        if (n == 3) BOOST_TEST(y(m, n) == w.bias[n]);
      }
  }
}

// What rounding the weights does to a layer's result. docs/numerics.md quotes these percents of the
// largest element (tools/figures.py): of 5 % more, or less, they would be others.
BOOST_AUTO_TEST_CASE(how_far_from_weights_of_float) {
  using layer = multi_head_attention<float, hidden<256>, heads<8>, bias<true>>;
  using sequence = tensor<float, token<8>, hidden<256>>;
  lcg next{57};
  static const auto w = drawn_weights<layer>(next);
  static const auto x = drawn<sequence>(next);
  static const sequence y = layer{w}(x);
  const auto error = [&]<class W>(W) {
    static const prepacked<layer, stored_as<W>> stored{w};
    static const sequence out = stored(x);
    const distance d = distance_of(out.data(), y.data(), sequence::layout::count);
    BOOST_TEST_MESSAGE("hidden 256, 8 heads, 8 tokens, "
                       << (sizeof(W) == 1                ? "int8"
                           : std::is_same_v<W, bfloat16> ? "bfloat16"
                                                         : "float16")
                       << ": error " << d.error << " of " << d.reference);
    return d.error / d.reference;
  };
  const auto is_percent = [](double part, double percent) {
    return std::fabs(100 * part - percent) <= 0.05 * percent;
  };
  BOOST_TEST(is_percent(error(bfloat16{}), 0.14));
  BOOST_TEST(is_percent(error(float16{}), 0.017));
  BOOST_TEST(is_percent(error(std::int8_t{}), 0.43));
}

// Packed weights in memory of somebody's: taken where they were packed for this target, and where
// they lie as they must.
BOOST_AUTO_TEST_CASE(packed_weights_in_memory) {
  using map = linear<float, hidden<12>, classes<67>, bias<true>>;
  lcg next{91};
  map::weights w{};
  draw(next, w.weight);
  draw_bias(next, w);
  const auto x = drawn<tensor<float, token<3>, hidden<12>>>(next);
  using packed = prepacked<map>;
  static_assert(std::is_trivially_copyable_v<packed>);
  alignas(alignof(packed)) static unsigned char file[sizeof(packed) + alignof(packed)];
  const packed made{w};
  std::memcpy(file, &made, sizeof made);
  const packed* const read = packed::in_memory(file, sizeof made);
  BOOST_TEST_REQUIRE(read != nullptr);
  BOOST_TEST(same_bits((*read)(x), map{w}(x)));
  BOOST_TEST(packed::in_memory(file, sizeof made - 1) == nullptr);
  BOOST_TEST(packed::in_memory(nullptr, sizeof made) == nullptr);
  std::memmove(file + 4, file, sizeof made);
  BOOST_TEST(packed::in_memory(file + 4, sizeof made) == nullptr);
  std::memcpy(file, &made, sizeof made);
  BOOST_TEST((prepacked<map, stored_as<bfloat16>>::in_memory(file, sizeof made) == nullptr));
  for (std::size_t bit = 0; bit < 64; ++bit) {
    file[bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
    BOOST_TEST(packed::in_memory(file, sizeof made) == nullptr);
    file[bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
  }
  using detail::packed_layout, detail::plan::target;
  using packed_map = map::packed_weights<float>;
  constexpr target wide{64, 32}, medium{32, 16}, narrow{16, 16}, few{64, 6};
  static_assert(packed_layout<packed_map>(wide) != packed_layout<packed_map>(medium));
  static_assert(packed_layout<packed_map>(medium) != packed_layout<packed_map>(narrow));
  static_assert(packed_layout<packed_map>(wide) != packed_layout<packed_map>(few));
}

// Of as many bytes, yet other weights.
template <class Written, class Read>
void check_is_told_apart() {
  static_assert(sizeof(Written) == sizeof(Read));
  const typename Written::layer::weights w{};
  static const Written packed{w};
  BOOST_TEST(Written::in_memory(&packed, sizeof packed) == &packed);
  BOOST_TEST(Read::in_memory(&packed, sizeof packed) == nullptr);
}
BOOST_AUTO_TEST_CASE(packed_weights_of_as_many_bytes) {
  using wide = linear<float, hidden<32>, classes<64>>;
  using tall = linear<float, hidden<64>, classes<32>>;
  check_is_told_apart<prepacked<wide>, prepacked<tall>>();
  check_is_told_apart<prepacked<wide, stored_as<bfloat16>>, prepacked<wide, stored_as<float16>>>();
  using q_biased = multi_head_attention<float, hidden<64>, heads<4>, bias_on<'q'>>;
  using o_biased = multi_head_attention<float, hidden<64>, heads<4>, bias_on<'o'>>;
  check_is_told_apart<prepacked<q_biased>, prepacked<o_biased>>();
}

BOOST_AUTO_TEST_SUITE_END()
