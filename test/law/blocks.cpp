// SPDX-License-Identifier: BSL-1.0
// What holds for the blocks whatever the numbers are, to the bit unless a tolerance is written:
// linear along any axis, means in order, positions in any order, and the encoder layer is its
// parts.
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

template <std::size_t N>
struct rows : axis<rows, N> {};
template <std::size_t N>
struct width : axis<width, N> {};

using tokens = tensor<float, batch<2>, token<5>, hidden<12>>;

// x w + b, one chain for each element.
template <class Weights, class X>
float chain(const Weights& w, const X& row, std::size_t out) {
  float sum = 0;
  if constexpr (Weights::map::has_bias) sum = w.bias[out];
  for (std::size_t k = 0; k < Weights::map::in::size; ++k)
    sum = detail::simd::fma(row(k), w(k, out), sum);
  return sum;
}

template <std::size_t In, std::size_t Out, std::size_t Rows, bool Bias>
void check_linear() {
  using map = linear<float, width<In>, classes<Out>, bias<Bias>>;
  lcg next{In * 10 + Out};
  typename map::weights w{};
  draw(next, w.weight);
  draw_bias(next, w);
  const auto x = drawn<tensor<float, rows<Rows>, width<In>>>(next);
  const auto y = map{w}(x);
  static_assert(std::is_same_v<decltype(y), const tensor<float, rows<Rows>, classes<Out>>>);
  bool same = true;
  for (std::size_t m = 0; m < Rows; ++m)
    for (std::size_t n = 0; n < Out; ++n)
      same = same && y(m, n) == chain(w, x | select_at<rows>(m), n);
  BOOST_TEST(same, In << " to " << Out << ", " << Rows << " rows");
  BOOST_TEST(same_bits(prepacked<map>{w}(x), y));
  // Along the first axis, and from a permuted view.
  const auto turned = x | permute<width, rows> | contiguous;
  BOOST_TEST(same_bits(map{w}(turned) | permute<rows, classes>, y));
  BOOST_TEST(same_bits(prepacked<map>{w}(turned) | permute<rows, classes>, y));
  BOOST_TEST(same_bits(map{w}(turned | permute<rows, width>), y));
}

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

template <class Encoder>
typename Encoder::weights encoder_weights(lcg& next) {
  typename Encoder::weights w{};
  draw_encoder(next, w, 0.5, 0.5, 0.25, 0.125, 1, 0.125);
  return w;
}

template <class... Options>
using small_encoder = encoder_layer<float, hidden<12>, heads<3>, intermediate<21>, Options...>;

template <class... Options>
void check_encoder() {
  using encoder = block_with<small_encoder, Options...>;
  lcg next{42};
  const auto w = encoder_weights<encoder>(next);
  const prepacked<encoder> packed{w};
  const auto x = drawn<tokens>(next, 2);
  const auto y = encoder{w}(x);
  BOOST_TEST(same_bits(by_parts<encoder>(w, x, all_keys), y));
  BOOST_TEST(same_bits(packed(x), y));

  const tensor<int, batch<2>> lens{2, 4};
  const auto some = encoder{w}(x, lens);
  BOOST_TEST(same_bits(by_parts<encoder>(w, x, lens), some));
  BOOST_TEST(same_bits(packed(x, lens), some));
  BOOST_TEST(!same_bits(some, y));
  BOOST_TEST(same_bits(encoder{w}(x, tensor<long, batch<2>>{99, 5}), y));
  // Other masks are attention's too.
  const auto masked = encoder{w}(x, lens & causal);
  BOOST_TEST(same_bits(by_parts<encoder>(w, x, lens & causal), masked));
  BOOST_TEST(same_bits(packed(x, causal & lens), masked));
  BOOST_TEST(same_bits(encoder{w}(x | slice<token, from<0>, extent<3>> | contiguous, causal),
                       encoder{w}(x, causal) | slice<token, from<0>, extent<3>>));
  // A length is truncation for the positions within it.
  BOOST_TEST(
      same_bits(encoder{w}(x | slice<token, from<0>, extent<2>> | contiguous) | select_at<batch, 0>,
                some | select_at<batch, 0> | slice<token, from<0>, extent<2>>));

  // Sequence by sequence, with and without batch.
  BOOST_TEST(same_bits(encoder{w}(x | select_at<batch, 1>), y | select_at<batch, 1>));
  BOOST_TEST(same_bits(encoder{w}(x | slice<batch, from<0>, extent<1>>),
                       y | slice<batch, from<0>, extent<1>>));
  BOOST_TEST(same_bits(encoder{w}(x | rename_axis<token, query>) | rename_axis<query, token>, y));

  // Scratch, dirty or as it was left; the caller's memory for the result.
  static typename encoder::template workspace<token<5>> work;
  std::memset(static_cast<void*>(&work), 0xff, sizeof work);
  BOOST_TEST(same_bits(encoder{w}(x, lens, work), some));
  BOOST_TEST(same_bits(packed(x, all_keys, work), y));
  tokens out{};
  encoder{w}.into(out, x, lens, work);
  BOOST_TEST(same_bits(out, some));
  packed.into(as_view(out), x);
  BOOST_TEST(same_bits(out, y));

  // NaN past a length stays in its own row.
  auto spoilt = x;
  spoilt(0, 3, 4) = std::nanf("");
  const auto z = encoder{w}(spoilt, lens);
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t h = 0; h < 12; ++h) {
        if (b == 0 && i == 3)
          BOOST_TEST(std::isnan(z(b, i, h)) == true);
        else
          BOOST_TEST(std::memcmp(&z(b, i, h), &some(b, i, h), sizeof(float)) == 0);
      }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(block_laws)

BOOST_AUTO_TEST_CASE(linear_is_one_chain_an_element) {
  check_linear<1, 1, 1, false>();
  check_linear<1, 5, 3, true>();
  check_linear<13, 1, 7, true>();
  check_linear<7, 16, 17, false>();
  check_linear<20, 33, 2, true>();
  check_linear<3, 70, 5, false>();
}

BOOST_AUTO_TEST_CASE(linear_along_any_axis) {
  using map = linear<float, hidden<6>, classes<5>, bias<true>>;
  lcg next{3};
  map::weights w{};
  draw(next, w.weight);
  draw_bias(next, w);
  const auto x = drawn<tensor<float, batch<2>, rows<3>, token<4>, hidden<6>>>(next);
  const auto y = map{w}(x);
  const auto back = [](const auto& out) { return out | permute<batch, rows, token, classes>; };
  const auto check = [&](const auto& moved) {
    BOOST_TEST(same_bits(back(map{w}(moved)), y));
    BOOST_TEST(same_bits(back(moved * w), y));
    BOOST_TEST(same_bits(back(prepacked<map>{w}(moved)), y));
    BOOST_TEST(same_bits(back(map{w}(moved | contiguous)), y));
  };
  check(x | permute<hidden, batch, rows, token>);
  check(x | permute<batch, hidden, rows, token>);
  check(x | permute<token, rows, hidden, batch>);
  check(x | permute<rows, batch, token, hidden>);
  BOOST_TEST(same_bits(map{w}(x | select_at<batch, 1> | select_at<rows, 2> | select_at<token, 0>),
                       y | select_at<batch, 1> | select_at<rows, 2> | select_at<token, 0>));
  BOOST_TEST(
      same_bits(map{w}(x | slice<token, from<1>, extent<2>> | slice<rows, from<0>, extent<2>>),
                y | slice<token, from<1>, extent<2>> | slice<rows, from<0>, extent<2>>));
  tensor<float, batch<2>, rows<3>, token<4>, hidden<11>> wider{};
  const auto part = wider | slice<hidden, from<4>, extent<6>>;
  copy(x, part);
  BOOST_TEST(same_bits(map{w}(part), y));
  const auto one = x | select_at<batch, 0> | select_at<rows, 0>;
  BOOST_TEST(same_bits(map{w}(one | broadcast<rows<3>, token<4>, hidden<6>>) | select_at<rows, 2>,
                       map{w}(one)));
}

BOOST_AUTO_TEST_CASE(means_are_chains) {
  lcg next{5};
  const auto x = drawn<tokens>(next);
  const auto over_token = x | mean<token>;
  const auto over_batch = x | mean<batch>;
  const auto over_hidden = x | mean<hidden>;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t h = 0; h < 12; ++h) {
      float sum = 0;
      for (std::size_t i = 0; i < 5; ++i) sum += x(b, i, h);
      BOOST_TEST(over_token(b, h) == sum / 5);
    }
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t h = 0; h < 12; ++h)
      BOOST_TEST(over_batch(i, h) == (x(0, i, h) + x(1, i, h)) / 2);
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < 5; ++i) {
      float sum = 0;
      for (std::size_t h = 0; h < 12; ++h) sum += x(b, i, h);
      BOOST_TEST(over_hidden(b, i) == sum / 12);
    }
  // Down to a single number, and in memory whose axes of size 1 have strides of their own.
  const auto number = x | mean<token> | mean<batch> | mean<hidden>;
  static_assert(std::is_same_v<decltype(number), const tensor<float>>);
  BOOST_TEST(std::isfinite(number()));
  float memory[24];
  for (float& e : memory) e = next();
  const view<float, strided<token<1>, 77>, strided<hidden<24>, 1>> odd(memory);
  BOOST_TEST(same_bits(mean<token>(odd), tensor<float, hidden<24>>(memory)));
  BOOST_TEST(mean<hidden>(odd)(0) == mean<hidden>(tensor<float, hidden<24>>(memory))());
}

BOOST_AUTO_TEST_CASE(positions_follow_their_axes) {
  lcg next{6};
  const auto table = drawn<tensor<float, token<5>, hidden<12>>>(next);
  const learned_positions<float, token<5>, hidden<12>> place{table};
  const auto x = drawn<tokens>(next);
  const auto y = place(x);
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t h = 0; h < 12; ++h) BOOST_TEST(y(b, i, h) == x(b, i, h) + table(i, h));
  BOOST_TEST(
      same_bits(place(x | permute<hidden, token, batch>) | permute<batch, token, hidden>, y));
  BOOST_TEST(same_bits(place(x | select_at<batch, 1>), y | select_at<batch, 1>));
}

BOOST_AUTO_TEST_CASE(activations_go_by_element) {
  lcg next{7};
  const auto x = drawn<tensor<float, token<9>, hidden<13>>>(next, 4);
  const auto part = x | slice<hidden, from<2>, extent<7>> | permute<hidden, token>;
  const auto check = [&](const auto& f) {
    const auto y = f(x);
    BOOST_TEST(same_bits(f(part), y | slice<hidden, from<2>, extent<7>> | permute<hidden, token>));
    bool same = true;
    for (std::size_t i = 0; i < 9; ++i)
      for (std::size_t h = 0; h < 13; ++h)
        same = same && f(tensor<float, hidden<1>>{x(i, h)})(0) == y(i, h);
    BOOST_TEST(same);
  };
  check(gelu_exact);
  check(gelu_tanh);
  check(silu);
  check(relu);
  const auto y = relu(x);
  for (std::size_t i = 0; i < 9; ++i) BOOST_TEST(y(i, 4) == (x(i, 4) > 0 ? x(i, 4) : 0));
  const tensor<float, hidden<4>> special{0.0f, 1e30f, -1e30f, std::nanf("")};
  BOOST_TEST(gelu_exact(special)(0) == 0);
  BOOST_TEST(gelu_exact(special)(1) == 1e30f);
  BOOST_TEST(gelu_exact(special)(2) == 0);
  BOOST_TEST(std::isnan(gelu_exact(special)(3)));
  BOOST_TEST(gelu_tanh(special)(1) == 1e30f);
  BOOST_TEST(gelu_tanh(special)(2) == 0);
  BOOST_TEST(silu(special)(0) == 0);
  BOOST_TEST(silu(special)(1) == 1e30f);
  BOOST_TEST(silu(special)(2) == 0);
  BOOST_TEST(std::isnan(silu(special)(3)));
  BOOST_TEST(std::isnan(relu(special)(3)));
  BOOST_TEST(same_bits(relu(tensor<float, hidden<1>>{-0.0f}), tensor<float, hidden<1>>{0.0f}));
}

BOOST_AUTO_TEST_CASE(softmax_rows) {
  lcg next{8};
  const auto x = drawn<tensor<float, batch<2>, query<3>, key<5>>>(next, 10);
  const auto y = softmax<key>(x);
  BOOST_TEST(
      same_bits(softmax<key>(x | permute<key, query, batch>) | permute<batch, query, key>, y));
  BOOST_TEST(same_bits(softmax<key>(x | select_at<batch, 1>), y | select_at<batch, 1>));
  // Weights past a length are exactly 0 and the others those of the shorter row.
  const auto masked = softmax<key>(mask_after<key>(x, tensor<int, batch<2>>{3, 0}));
  BOOST_TEST(same_bits(masked | select_at<batch, 0> | slice<key, from<0>, extent<3>>,
                       softmax<key>(x | select_at<batch, 0> | slice<key, from<0>, extent<3>>)));
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 5; ++j) {
      if (j >= 3) BOOST_TEST(masked(0, i, j) == 0);
      BOOST_TEST(masked(1, i, j) == 0);
    }
  auto spoilt = x;
  spoilt(1, 2, 0) = std::nanf("");
  const auto z = softmax<key>(spoilt);
  for (std::size_t j = 0; j < 5; ++j) BOOST_TEST(std::isnan(z(1, 2, j)));
  BOOST_TEST(same_bits(z | select_at<batch, 0>, y | select_at<batch, 0>));
  BOOST_TEST(same_bits(z | slice<query, from<0>, extent<2>>, y | slice<query, from<0>, extent<2>>));
  BOOST_TEST(softmax<key>(tensor<float, key<1>>{-1e30f})(0) == 1);
}

// The scores are a product: if the compiler fused it into softmax's subtraction, the bits would be
// another compiler's.
BOOST_AUTO_TEST_CASE(softmax_of_a_product_is_not_contracted) {
  lcg next{10};
  const auto x = drawn<tensor<float, query<40>, key<9>>>(next, 50);
  const float scale = next() + 1.5f;
  const auto scaled = x * scale;
  tensor<float, query<40>, key<9>> stored{};
  for (std::size_t i = 0; i < 40 * 9; ++i) {
    volatile float product = x.data()[i] * scale;
    stored.data()[i] = product;
  }
  BOOST_TEST(same_bits(softmax<key>(x * scale), softmax<key>(stored)));
  BOOST_TEST(same_bits(softmax<key>(scaled), softmax<key>(stored)));
}

BOOST_AUTO_TEST_CASE(an_encoder_layer_is_its_parts) {
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
  auto w = encoder_weights<all>(next);
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

BOOST_AUTO_TEST_CASE(encoder_in_double) {
  using encoder = encoder_layer<double, hidden<12>, heads<4>, intermediate<7>, bias<true>,
                                norm_first<true>, activation<gelu_exact>>;
  using in_float = encoder_layer<float, hidden<12>, heads<4>, intermediate<7>, bias<true>,
                                 norm_first<true>, activation<gelu_exact>>;
  lcg a{11}, b{11};
  const auto w = encoder_weights<encoder>(a);
  const auto v = encoder_weights<in_float>(b);
  const auto x = drawn<tensor<double, batch<2>, token<5>, hidden<12>>>(a);
  const auto z = drawn<tokens>(b);
  const auto y = encoder{w}(x);
  BOOST_TEST(same_bits(by_parts<encoder>(w, x, all_keys), y));
  BOOST_TEST(same_bits(prepacked<encoder>{w}(x), y));
  check_near("float against double", in_float{v}(z).data(), y.data(), 2 * 5 * 12);
}

template <class... Options>
using wide_encoder = encoder_layer<float, hidden<20>, heads<5>, intermediate<33>, Options...>;
template <class... Options>
using wide_decoder = decoder_layer<float, hidden<20>, heads<5>, intermediate<33>, Options...>;

// A packed layer needs the weights that it was made of no more: these are spoilt.
template <class Layer, class... X>
void check_packed_stands_alone(lcg& next, const X&... x) {
  typename Layer::weights w{};
  const auto numbers = drawn<tensor<float, token<sizeof w / sizeof(float)>>>(next, 0.1);
  std::memcpy(static_cast<void*>(&w), numbers.data(), sizeof w);
  const prepacked<Layer> packed{w};
  const auto y = Layer{w}(x...);
  std::memset(static_cast<void*>(&w), 0xff, sizeof w);
  BOOST_TEST(same_bits(packed(x...), y));
}

BOOST_AUTO_TEST_CASE(packed_stands_alone) {
  lcg next{9};
  const auto x = drawn<tensor<float, token<7>, hidden<20>>>(next);
  const auto q = drawn<tensor<float, query<3>, hidden<20>>>(next);
  const auto k = drawn<tensor<float, key<5>, hidden<20>>>(next);
  check_packed_stands_alone<linear<float, hidden<20>, classes<3>>>(next, x);
  check_packed_stands_alone<multi_head_attention<float, hidden<20>, heads<5>, bias<true>>>(next, x);
  check_packed_stands_alone<
      feed_forward<float, hidden<20>, intermediate<33>, activation<gelu_exact>, bias<true>>>(next,
                                                                                             x);
  check_packed_stands_alone<block_with<wide_encoder>>(next, x);
  check_packed_stands_alone<
      block_with<wide_encoder, norm_by<rms_norm>, norm_epsilon<1, 1'000'000>>>(next, x);
  check_packed_stands_alone<
      block_with<wide_encoder, norm_bias<false>, bias_on<'k', 'o'>, feed_forward_bias<true>>>(next,
                                                                                              x);
  check_packed_stands_alone<block_with<wide_decoder>>(next, x, k, self_mask(causal));
  check_packed_stands_alone<additive_attention<float, hidden<20>, score_hidden<9>>>(next, q, k, k);
}

// f.into(out, x) writes what f(x) is; where it may, over x.
template <class F, class X>
void check_into(const F& f, const X& x, bool over_x) {
  const auto y = f(x);
  auto out = y * 0 + 7;
  f.into(out, x);
  BOOST_TEST(same_bits(out, y));
  out += 1;
  f.into(as_view(out), as_view(x));
  BOOST_TEST(same_bits(out, y));
  if (!over_x) return;
  X same = x;
  f.into(same, same);
  BOOST_TEST(same_bits(same, y));
}

BOOST_AUTO_TEST_CASE(into_memory_of_the_callers) {
  lcg next{11};
  using tokens = tensor<float, batch<2>, token<7>, hidden<19>>;
  const auto x = drawn<tokens>(next, 3);
  check_into(softmax<hidden>, x, true);
  check_into(softmax<token>, x, true);
  check_into(gelu_exact, x, true);
  check_into(gelu_tanh, x, true);
  check_into(silu, x, true);
  check_into(relu, x, true);
  layer_norm<float, hidden<19>>::weights norm{drawn<tensor<float, hidden<19>>>(next),
                                              drawn<tensor<float, hidden<19>>>(next)};
  check_into(layer_norm<float, hidden<19>>{norm}, x, true);
  rms_norm<float, hidden<19>>::weights rms{drawn<tensor<float, hidden<19>>>(next)};
  check_into(rms_norm<float, hidden<19>>{rms, 1e-6f}, x, true);
  using map = linear<float, hidden<19>, hidden<19>, bias<true>>;
  map::weights w{};
  draw(next, w.weight);
  draw_bias(next, w);
  check_into(map{w}, x, false);
  check_into(prepacked<map>{w}, x, false);
  learned_positions<float, token<7>, hidden<19>>::weights table =
      drawn<tensor<float, token<7>, hidden<19>>>(next);
  check_into(learned_positions<float, token<7>, hidden<19>>{table}, x, true);
  using sinusoids = sinusoidal_positions<float, token<9>, hidden<19>, split_halves>;
  check_into(sinusoids{}, x, true);
  auto moved = x;
  sinusoids{}.into(moved, x, 2);
  BOOST_TEST(same_bits(moved, sinusoids{}(x, 2)));
  // A result of other axes than x.
  tensor<float, batch<2>, hidden<19>> pooled{};
  mean<token>.into(pooled, x);
  BOOST_TEST(same_bits(pooled, mean<token>(x)));
  // Of a view that lies in another way.
  const auto turned = x | permute<hidden, batch, token>;
  tensor<float, hidden<19>, batch<2>, token<7>> out{};
  softmax<hidden>.into(out, turned);
  BOOST_TEST(same_bits(out, softmax<hidden>(turned)));
  gelu_exact.into(out, turned);
  BOOST_TEST(same_bits(out, gelu_exact(turned)));
}

// Packed weights are copies: those that they are made of may be a temporary.
BOOST_AUTO_TEST_CASE(packed_of_a_temporary) {
  lcg next{12};
  using attention = multi_head_attention<float, hidden<20>, heads<5>, bias<true>>;
  const auto x = drawn<tensor<float, token<7>, hidden<20>>>(next);
  const auto w = drawn_weights<attention>(next);
  const prepacked<attention> packed{attention::weights{w}}, of_parts({w.q, w.k, w.v, w.o});
  BOOST_TEST(same_bits(packed(x), attention{w}(x)));
  BOOST_TEST(same_bits(of_parts(x), attention{w}(x)));
}

BOOST_AUTO_TEST_SUITE_END()
