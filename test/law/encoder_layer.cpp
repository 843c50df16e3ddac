// SPDX-License-Identifier: BSL-1.0
// What holds for the encoder layer, in floats and in integers, to the bit unless a tolerance is
// written: it is its parts, and what block.hpp says of a batch, lengths and scratch.
#include <boost/test/unit_test.hpp>
#include <umbel/quantized.hpp>
#include <umbel/umbel.hpp>

#include "../support/blocks.hpp"
#include "block.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using tokens = tensor<float, batch<2>, token<5>, hidden<12>>;
using llama = llama_block<encoder_layer>;
using post_norm = vaswani_block<encoder_layer>;

// The encoder layer by hand: its own parts, one after the other.
template <class Encoder, class X, class Lens>
auto by_parts(const typename Encoder::weights& w, const X& x, const Lens& lens) {
  const typename Encoder::attention attend{w.attention};
  const typename Encoder::norm norm1{w.norm1, Encoder::epsilon}, norm2{w.norm2, Encoder::epsilon};
  const auto feed_forward = [&](const auto& from) {
    const typename Encoder::activate activate{};
    const auto& network = w.feed_forward;
    if constexpr (Encoder::feed_forward::is_gated)
      return activate(from * network.gate) * (from * network.up) * network.down;
    else
      return activate(from * network.up) * network.down;
  };
  if constexpr (Encoder::norms_first) {
    const auto y = x + attend(norm1(x), lens);
    return y + feed_forward(norm2(y));
  } else {
    const auto y = norm1(x + attend(x, lens));
    return norm2(y + feed_forward(y));
  }
}

template <class... Options>
using small_encoder = encoder_layer<float, hidden<12>, heads<3>, intermediate<21>, Options...>;

template <class... Options>
void check_encoder() {
  using encoder = block_with<small_encoder, Options...>;
  static const in_floats<encoder> f;
  law::check_block(f, all_keys);
  lcg next{43};
  const auto x = drawn<tokens>(next, 2);
  const tensor<int, batch<2>> lens{2, 4};
  f.each_form([&](const auto& encode) {
    BOOST_TEST(same_bits(by_parts<encoder>(f.w, x, all_keys), encode(x)));
    BOOST_TEST(same_bits(by_parts<encoder>(f.w, x, lens), encode(x, lens)));
    BOOST_TEST(same_bits(encode(x, tensor<long, batch<2>>{99, 5}), encode(x)));
    // Other masks are attention's too.
    BOOST_TEST(same_bits(by_parts<encoder>(f.w, x, lens & causal), encode(x, causal & lens)));
  });
}

template <class... Options>
using encoder_to_pack = encoder_layer<float, hidden<18>, heads<3>, intermediate<20>, Options...>;
template <class... Options>
using with = block_with<encoder_to_pack, Options...>;

template <class Layer>
using sequence = tensor<typename Layer::value_type, token<21>, typename Layer::hidden_axis>;

// The largest relative error of layers that were observed on sequences like these. Bounds:
// measured.
template <class Layer>
double error_of(std::uint32_t seed) {
  using T = typename Layer::value_type;
  using hidden_axis = typename Layer::hidden_axis;
  const quantized_fixture<Layer, sequence<Layer>> f;
  lcg next{seed};
  const auto x = drawn<sequence<Layer>>(next, 2);
  const double unit = static_cast<double>(f.seen.residual()) / 16384;
  tensor<std::int16_t, token<21>, hidden_axis> xs;
  for (std::size_t i = 0; i < x.size(); ++i)
    xs.data()[i] = static_cast<std::int16_t>(std::lrint(static_cast<double>(x.data()[i]) / unit));
  static_assert(std::is_floating_point_v<T>);
  return relative_error(f.layer(xs, causal), unit, Layer{f.w}(x, causal));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(encoder_layers)

BOOST_AUTO_TEST_CASE(it_is_its_parts) {
  check_encoder<>();
  check_encoder<bias<true>>();
  check_encoder<norm_first<false>, bias<true>, activation<gelu_tanh>>();
  check_encoder<activation<relu>, norm_first<false>>();
  check_encoder<activation<silu>>();
  check_encoder<gated<true>, activation<silu>, norm_by<rms_norm>, norm_epsilon<1, 1'000'000>>();
  check_encoder<gated<true>, activation<gelu_tanh>, norm_first<false>, bias<true>,
                norm_epsilon<1, 1'000'000'000'000>>();
  check_encoder<kv_heads<1>, head_dim<6>, softcap<30>>();
  // Biases of some projections, as Qwen2 and Whisper have them.
  check_encoder<bias_on<'q', 'k', 'v'>, feed_forward_bias<false>, gated<true>>();
  check_encoder<bias_on<'q', 'v', 'o'>, feed_forward_bias<true>, norm_first<false>>();
  check_encoder<norm_bias<false>>();
  check_encoder<norm_bias<false>, norm_first<false>, activation<relu>>();
}

// A projection without a bias is one whose biases are 0.
BOOST_AUTO_TEST_CASE(biases_of_some_projections) {
  using all = block_with<small_encoder, bias<true>>;
  using some = block_with<small_encoder, bias_on<'q', 'o'>, feed_forward_bias<false>>;
  lcg next{43};
  all::weights w{};
  draw_layer(next, w);
  some::weights v{};
  v.norm1 = w.norm1, v.norm2 = w.norm2;
  v.attention.q = w.attention.q, v.attention.o = w.attention.o;
  const auto without_bias = [](auto& from, auto& to) {
    for (float& e : from.bias) e = 0;
    std::memcpy(to.weight, from.weight, sizeof to.weight);
  };
  without_bias(w.attention.k, v.attention.k);
  without_bias(w.attention.v, v.attention.v);
  without_bias(w.feed_forward.up, v.feed_forward.up);
  without_bias(w.feed_forward.down, v.feed_forward.down);
  const auto x = drawn<tokens>(next, 2);
  BOOST_TEST(same_bits(some{v}(x), all{w}(x)));
  BOOST_TEST(same_bits(prepacked<some>{v}(x), all{w}(x)));
  static_assert(sizeof(some::weights) + (12 + 12 + 21 + 12) * sizeof(float) ==
                sizeof(all::weights));
}

// Attention and the feed-forward network never run at the same time, so they share their scratch.
BOOST_AUTO_TEST_CASE(scratch_of_the_parts_is_shared) {
  using encoder = encoder_layer<float, hidden<64>, heads<4>, intermediate<256>, norm_first<true>,
                                activation<gelu_exact>, bias<false>>;
  using work = encoder::workspace<token<64>>;
  constexpr std::size_t attention = sizeof(encoder::attention::workspace<token<64>>);
  constexpr std::size_t network = sizeof(encoder::feed_forward::workspace<token<64>>);
  constexpr std::size_t own = 2 * 64 * 64 * sizeof(float);
  static_assert(sizeof(work) == own + (attention > network ? attention : network));
  // Also in the compiler, where a union has one member at a time.
  constexpr bool same = [] {
    using small = encoder_layer<float, hidden<4>, heads<2>, intermediate<4>, norm_first<true>,
                                activation<gelu_exact>, bias<false>>;
    const small::weights w{};
    tensor<float, token<2>, hidden<4>> x{};
    x(1, 2) = 3;
    return small{w}(x)(1, 2) == 3;
  }();
  static_assert(same);
}

BOOST_AUTO_TEST_CASE(in_double) {
  using encoder = encoder_layer<double, hidden<12>, heads<4>, intermediate<7>, bias<true>,
                                norm_first<true>, activation<gelu_exact>>;
  using of_float = encoder_layer<float, hidden<12>, heads<4>, intermediate<7>, bias<true>,
                                 norm_first<true>, activation<gelu_exact>>;
  const in_floats<encoder> f;
  const in_floats<of_float> g;
  lcg a{11}, b{11};
  const auto x = f.sequences<batch<2>, token<5>>(a);
  const auto y = f.layer(x);
  BOOST_TEST(same_bits(by_parts<encoder>(f.w, x, all_keys), y));
  BOOST_TEST(same_bits(f.packed(x), y));
  const auto z = g.layer(g.sequences<batch<2>, token<5>>(b));
  check_near("float against double", z.data(), y.data(), 2 * 5 * 12);
}

BOOST_AUTO_TEST_CASE(hidden_positions_are_none_in_integers) {
  static const in_integers<llama> f;
  law::check_block(f, all_keys);
}

BOOST_AUTO_TEST_CASE(near_the_layers_of_floats_in_integers) {
  for (std::uint32_t seed = 20; seed < 25; ++seed) {
    BOOST_TEST(error_of<llama>(seed) < 0.0065);
    BOOST_TEST(error_of<post_norm>(seed) < 0.009);
  }
}

// Biases of some maps, norms without one, values of another width than keys: each alone changes
// what is packed.
BOOST_AUTO_TEST_CASE(options_of_maps_and_norms_in_integers) {
  for (std::uint32_t seed = 30; seed < 33; ++seed) {
    BOOST_TEST((error_of<with<bias_on<'q', 'o'>, feed_forward_bias<true>>>(seed) < 0.009));
    BOOST_TEST((error_of<with<norm_bias<false>, bias_on<'k', 'v'>, feed_forward_bias<false>>>(
                    seed) < 0.009));
    BOOST_TEST(
        (error_of<with<head_dim<6>, value_dim<3>, gated<true>, activation<silu>>>(seed) < 0.009));
    BOOST_TEST((error_of<with<query_key_norm<layer_norm>, head_dim<6>>>(seed) < 0.009));
    BOOST_TEST((error_of<with<query_key_norm<rms_norm>, norm_epsilon<1, 1000>, kv_heads<1>>>(seed) <
                0.009));
  }
}

BOOST_AUTO_TEST_CASE(the_compiler_computes_it_in_integers) {
  using layer = encoder_layer<float, hidden<4>, heads<2>, intermediate<4>, norm_first<true>,
                              activation<relu>, bias<true>>;
  static constexpr layer::weights w = [] {
    layer::weights made{};
    int i = 0;
    const auto draw = [&](auto& values) {
      for (float& v : values) v = static_cast<float>((i = (i * 37 + 11) % 64) - 32) / 64;
    };
    draw(made.attention.q.weight), draw(made.attention.k.weight), draw(made.attention.v.weight);
    draw(made.attention.o.weight), draw(made.feed_forward.up.weight);
    draw(made.feed_forward.down.weight), draw(made.feed_forward.up.bias);
    for (float& gamma : made.norm1.gamma) gamma = 1;
    for (float& gamma : made.norm2.gamma) gamma = 1;
    return made;
  }();
  static constexpr quantized<layer>::ranges seen = [] {
    quantized<layer>::ranges made{};
    made.residual() = made.attention.input() = made.feed_forward.input() = 4;
    made.attention.q() = made.attention.k() = made.attention.v() = 4;
    made.feed_forward.up() = made.feed_forward.activated() = 4;
    return made;
  }();
  static constexpr quantized<layer> packed{w, seen};
  static constexpr tensor<std::int16_t, token<3>, hidden<4>> x{
      12000, -4000, 300, -32767, 5, 8000, -9000, 32767, 0, 1, -1, 16384};
  static constexpr auto computed = packed(x, causal);
  const auto run = packed(x, causal);
  BOOST_TEST(same_bits(computed, run));
  BOOST_TEST(!same_bits(run, x));
}

BOOST_AUTO_TEST_SUITE_END()
