// SPDX-License-Identifier: BSL-1.0
// The bits of the library in one program: a hash of every result, one line a case. check.py builds
// it in many ways and compares. Every attention runs twice: over ordinary numbers, and over "wild"
// ones, where finite inputs overflow to scores of both infinities and infinity and NaN stand in
// queries and keys. Sign and payload of a NaN are nobody's business: every NaN is hashed as one.
//
//   cases             the hashes
//   cases flushing    the same with subnormal numbers flushed to zero by the processor
//   cases exceptions  a line for each case over ordinary numbers that raises a floating-point
//                     exception that a program may trap: invalid, division by zero, overflow
#include <umbel/bare.hpp>

#include <cfenv>
#include <cstdio>
#include <limits>

#include "../support/random.hpp"
#include "hashes.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace hashes;
using umbel_test::draw;
using umbel_test::drawn;
using umbel_test::drawn_weights;
using umbel_test::lcg;

constexpr std::size_t B = 2, H = 3, Q = 19, K = 37, D = 5;
using q_type = tensor<float, batch<B>, heads<H>, query<Q>, head_dim<D>>;
using k_type = tensor<float, batch<B>, heads<H>, key<K>, head_dim<D>>;
using pairs = tensor<float, batch<B>, heads<H>, query<Q>, key<K>>;

struct inputs {
  const char* name;
  q_type q;
  k_type k, v;
};

inputs ordinary() {
  lcg next{7};
  inputs in{"", drawn<q_type>(next, 2), drawn<k_type>(next, 2), drawn<k_type>(next)};
  return in;
}

inputs wild() {
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  inputs in = ordinary();
  in.name = ", wild";
  for (std::size_t d = 0; d < D; ++d) {
    in.q(0, 0, 3, d) = in.q(1, 2, 17, d) = in.k(0, 0, 1, d) = in.k(1, 2, 9, d) = 1e19f;
    in.k(0, 0, 20, d) = in.k(1, 2, 2, d) = -1e19f;
  }
  in.q(0, 1, 8, 2) = infinity;
  in.k(0, 1, 16, 0) = -infinity;
  in.q(1, 0, 0, 4) = nan;
  in.k(1, 0, 30, 1) = nan;
  in.k(1, 1, 36, 3) = infinity;
  in.v(1, 1, 5, 0) = nan;
  in.v(0, 2, 4, 1) = infinity;
  return in;
}

// Masks in the order of their kinds, each with the context and what is observed.
void attention(const inputs& in) {
  lcg next{11};
  const tensor<int, batch<B>> lens{31, 12};
  tensor<int, query<Q>> query_lens{};
  tensor<bool, batch<B>, query<Q>, key<K>> flags{};
  tensor<float, heads<H>, query<Q>, key<K>> biases{};
  for (int& length : query_lens) length = static_cast<int>((next() + 1) * 19);
  for (bool& flag : flags) flag = next() > -0.5f;
  draw(next, biases, 3);
  query_lens(4) = 0;
  for (std::size_t j = 0; j < K; ++j) flags(1, 6, j) = false;
  for (std::size_t i = 0; i < Q; ++i) biases(1, i, i) = -std::numeric_limits<float>::infinity();
  for (std::size_t j = 0; j < K; ++j) biases(2, 7, j) = std::numeric_limits<float>::lowest();
  for (std::size_t j = 0; j < K; j += 3) biases(2, 8, j) = std::numeric_limits<float>::lowest();

  const auto run = [&](const char* what, const auto& attend, const auto& mask) {
    print(what, in.name, attend(in.q, in.k, in.v, mask));
  };
  const auto plain = scaled_dot_product_attention;
  run("attention, every key", plain, all_keys);
  run("attention, lengths", plain, lens);
  run("attention, lengths by query", plain, query_lens);
  run("attention, causal", plain, causal_bottom_right);
  run("attention, window", plain, sliding_window_at<3, 1>(9));
  run("attention, flags", plain, keep_mask(flags));
  run("attention, bias", plain, score_bias(biases));
  run("attention, alibi, causal", plain, alibi_top_left & causal_top_left);
  run("attention, soft cap, dropout, mean of empty rows",
      scaled_dot_product_attention_with<softcap<2>, empty_rows<uniform_weights>>,
      query_lens & keep_mask(flags) & dropout(0.2, 5));

  const auto look = [&]<observed What>(const char* what, const auto& mask) {
    pairs seen{};
    const auto context =
        scaled_dot_product_attention_with<softcap<9>>(in.q, in.k, in.v, mask & observe<What>(seen));
    print(what, in.name, seen);
    return context;
  };
  const auto mask = keep_mask(flags) & causal_bottom_right & dropout(0.2, 5);
  (void)look.template operator()<observed::scores>("observed scores", mask);
  (void)look.template operator()<observed::capped_scores>("observed capped scores", mask);
  (void)look.template operator()<observed::masked_scores>("observed masked scores", mask);
  (void)look.template operator()<observed::weights>("observed weights", mask);
  print("context of the observed", in.name,
        look.template operator()<observed::kept_weights>("observed kept weights", mask));
  pairs seen{};
  print("attention, flags, observed", in.name,
        plain(in.q, in.k, in.v, keep_mask(flags) & observe(seen)));
  print("observed weights, flags", in.name, seen);
}

// More keys than one block of the softmax; one query; doubles.
void other_shapes() {
  lcg next{13};
  const auto q = drawn<tensor<float, heads<2>, query<5>, head_dim<8>>>(next, 2);
  const auto k = drawn<tensor<float, heads<2>, key<300>, head_dim<8>>>(next, 2), v = k * 0.5f;
  static tensor<float, heads<2>, query<5>, key<300>> seen;
  print("300 keys", "", scaled_dot_product_attention(q, k, v, causal_bottom_right & observe(seen)));
  print("300 keys, observed", "", seen);
  const auto one = q | slice<query, from<0>, extent<1>> | contiguous;
  print("one query", "", scaled_dot_product_attention(one, k, v));
  tensor<bool, key<300>> flags{};
  for (std::size_t j = 40; j < 300; j += 3) flags(j) = true;
  print("one query, flags", "", scaled_dot_product_attention(one, k, v, keep_mask(flags)));
  const auto x = drawn<tensor<double, token<7>, hidden<12>>>(next, 2);
  using layer = multi_head_attention<double, hidden<12>, heads<3>, bias<true>>;
  const auto w = drawn_weights<layer>(next);
  print("layer of doubles", "", layer{w}(x, causal));
}

// The layer of the README, natural and packed; heads in groups, turned, step by step.
template <class Stored>
void decode(const char* what) {
  using layer = multi_head_attention<float, hidden<24>, heads<6>, head_dim<8>, kv_heads<2>,
                                     rope<split_halves>, bias<true>>;
  lcg next{17};
  const auto w = drawn_weights<layer>(next);
  const auto x = drawn<tensor<float, token<40>, hidden<24>>>(next, 2);
  const layer attend{w};
  static key_value_cache<layer, key<40>, stored_as<Stored>> past;
  tensor<float, token<40>, hidden<24>> out{};
  for (std::size_t t = 0; t < 40; ++t) {
    const view<const float, token<1>, hidden<24>> from(x.data() + t * 24);
    const view<float, token<1>, hidden<24>> to(out.data() + t * 24);
    if (!past.step(to, attend, from)) std::printf("%s: the cache is full\n", what);
  }
  print(what, "", out);
}

// Decoder layers step by step beside a memory.
void decode_with_memory() {
  using layer = decoder_layer<float, hidden<24>, heads<6>, intermediate<40>, head_dim<8>,
                              kv_heads<2>, norm_first<false>, activation<silu>, bias<true>>;
  using model = layer_stack<layer, 2>;
  lcg next{29};
  model::weights w{};
  for (auto& part : w.layers) draw_decoder(next, part, 0.5, 0.5, 0.25, 0.125, 1, 0.125);
  const auto memory = drawn<tensor<float, key<19>, hidden<24>>>(next, 2);
  auto x = drawn<tensor<float, token<9>, hidden<24>>>(next, 2);
  static key_value_cache<model, key<9>, longest_memory<20>> past;
  past.attend_to(model{w}, memory);
  for (std::size_t t = 0; t < 9; ++t) {
    const view<float, token<1>, hidden<24>> row(x.data() + t * 24);
    if (!past.step(row, model{w}, row)) std::printf("decoders: the cache is full\n");
  }
  print("decoding with a memory", "", x);
}

void layers() {
  using layer = multi_head_attention<float, hidden<100>, heads<5>, bias<false>>;
  lcg next{19};
  static const auto w = drawn_weights<layer>(next);
  const auto x = drawn<tensor<float, batch<2>, query<4>, hidden<100>>>(next, 2);
  const auto y = drawn<tensor<float, batch<2>, key<6>, hidden<100>>>(next, 2);
  const tensor<int, batch<2>> lens{3, 2};
  print("layer", "", layer{w}(x, y, y, lens));
  static const prepacked<layer> packed{w};
  print("layer, packed", "", packed(x, y, y, lens));
  static const prepacked<layer, stored_as<bfloat16>> rounded{w};
  print("layer, packed in bfloat16", "", rounded(x, y, y, lens));
  static const prepacked<layer, stored_as<std::int8_t>> in_8_bits{w};
  print("layer, packed in 8 bits", "", in_8_bits(x, y, y, lens));
  decode<float>("decoding");
  decode<bfloat16>("decoding, cache in bfloat16");
  decode<float16>("decoding, cache in float16");
  decode<std::int8_t>("decoding, cache in 8 bits");
  decode_with_memory();

  using additive = additive_attention<float, hidden<12>, score_hidden<9>>;
  additive::weights a{};
  draw(next, a.q.weight), draw(next, a.k.weight), draw(next, a.score, 2);
  const auto asking = drawn<tensor<float, batch<2>, query<4>, hidden<12>>>(next);
  const auto asked = drawn<tensor<float, batch<2>, key<6>, hidden<12>>>(next);
  const auto values = drawn<tensor<float, batch<2>, key<6>, value_dim<7>>>(next);
  print("additive", "", additive{a}(asking, asked, values, lens));
}

void blocks() {
  lcg next{23};
  using row = tensor<float, token<9>, hidden<33>>;
  const auto x = drawn<row>(next, 6);
  using map = linear<float, hidden<33>, classes<20>, bias<true>>;
  map::weights w{};
  draw(next, w.weight), draw(next, w.bias);
  print("linear", "", map{w}(x));
  print("linear, packed", "", prepacked<map>{w}(x));
  print("softmax", "", softmax<hidden>(x));
  print("softmax of large numbers", "", softmax<hidden>(x * 10.0f - 500.0f));
  print("cumulative sums", "", cumulative_sum<hidden>(x) + cumulative_sum<token, from_last>(x));
  print("products", "", product<token>(x) + 1.0f);
  print("windows", "",
        sum<kernel_size>(x | padded<token, before<2>> | windows<token, kernel_size<3>, stride<2>>));
  print("elements by number", "", gather<hidden>(x, tensor<int, heads<2>>{1, 30}));
  layer_norm<float, hidden<33>>::weights n{};
  draw(next, n.gamma), draw(next, n.beta);
  print("layer_norm", "", layer_norm<float, hidden<33>>{n}(x));
  print("layer_norm without beta", "", layer_norm<float, hidden<33>, bias<false>>{n.gamma}(x));
  rms_norm<float, hidden<33>>::weights r{};
  draw(next, r.gamma);
  print("rms_norm", "", rms_norm<float, hidden<33>>(r, 1e-6f)(x));
  print("gelu_exact", "", gelu_exact(x));
  print("gelu_tanh", "", gelu_tanh(x));
  print("silu", "", silu(x));
  print("relu", "", relu(x));
  print("exp", "", exp(x * 40.0f));
  print("log", "", log(abs(x)));
  print("sqrt", "", sqrt(abs(x)));
  print("rsqrt", "", rsqrt(abs(x)));
  print("tanh", "", tanh(x));
  print("sigmoid", "", sigmoid(x * 100.0f));
  print("elu", "", elu(x * 3.0f));
  print("softplus", "", softplus(x * 30.0f));
  print("log_sigmoid", "", log_sigmoid(x * 30.0f));
  print("erf", "", erf(x * 3.0f));
  print("sin", "", sin(x * 1000.0f));
  print("cos", "", cos(x * 1e30f));
  print("pow", "", pow(abs(x) + 0.5f, tanh(x) * 3.0f));
  print("floor", "", floor(x * 9.0f));
  print("remainder", "", x * 1000.0f % 0.7f);
  print("clamp", "", clamp(x, -0.5f, 0.25f));
  print("mean", "", mean<token>(x));
}

// Products and sums of neighbouring calls must not become multiply-adds.
void arithmetic() {
  lcg next{29};
  const auto x = drawn<tensor<float, token<9>, hidden<33>>>(next);
  const auto y = drawn<tensor<float, token<9>, hidden<33>>>(next), z = x * 0.3f - y;
  print("arithmetic", "", x * y + z);
  print("arithmetic with numbers", "", 1.7f * x - 0.1f);
  auto sum = x;
  sum *= y;
  sum += z;
  sum *= 1.1f;
  sum -= 0.7f;
  print("arithmetic in place", "", sum);
  const auto few = drawn<tensor<float, token<4>>>(next),
             others = drawn<tensor<float, token<4>>>(next);
  print("arithmetic of a vector", "", few * others + few);
}

// Operands that are packed, operands that are not, and sums that go on.
void contractions() {
  lcg next{31};
  const auto x = drawn<tensor<float, token<9>, heads<3>, head_dim<11>>>(next);
  const auto y = drawn<tensor<float, heads<3>, key<37>, head_dim<11>>>(next);
  const auto weights = contract<head_dim>(x, y);
  print("contract", "", weights);
  print("contract, values", "", contract<key>(weights, y));
  print("contract over two axes", "", contract<heads, head_dim>(x, y));
  print("contract over two axes, the other order", "", contract<head_dim, heads>(x, y));
  print("contract and a number", "", contract<token>(x, x | rename_axis<heads, key>) * 0.3f - 0.1f);
}

// What formulas compute together: scores with a program, rows of weights that are no softmax,
// norms, products with what follows them. (Each is compiled in every build: few, of many steps.)
void formulas(const inputs& in) {
  lcg next{37};
  const auto slopes = drawn<tensor<float, heads<H>>>(next);
  const auto gates = drawn<tensor<float, heads<H>, query<Q>, key<K>>>(next) * 0.25f + 1.25f;
  const tensor<int, batch<B>> lens{31, 12};
  constexpr formula attend = [](auto q, auto k, auto v, auto slope, auto lengths) {
    auto scores = tanh(contract<head_dim>(q, k) * 0.3f) * 4;
    auto distant = scores + slope * (position<key> - position<query>);
    auto hidden = position<key> > position<query> || position<key> >= lengths;
    return contract<key>(softmax<key>(hide(distant, hidden)), v);
  };
  print("formula, attention", in.name, attend(in.q, in.k, in.v, slopes, lens));
  constexpr formula gated = [](auto q, auto k, auto v, auto gate) {
    return contract<key>(sigmoid(contract<head_dim>(q, k) * 0.3f) / gate, v);
  };
  print("formula, sigmoid attention", in.name, gated(in.q, in.k, in.v, gates));
}
void formula_of_a_network() {
  lcg next{41};
  using network =
      feed_forward<float, hidden<12>, intermediate<20>, activation<silu>, gated<true>, bias<true>>;
  network::weights w{};
  for (auto* map : {&w.gate, &w.up}) draw(next, map->weight, 0.5f), draw(next, map->bias);
  draw(next, w.down.weight, 0.5f), draw(next, w.down.bias);
  const auto x = drawn<tensor<float, token<9>, hidden<12>>>(next, 2);
  const tensor<int, token<9>> places{0, 5, 63, 2, 1, 8, 7, 40, 3};
  constexpr formula spelled_out = [](auto input, const auto& maps, auto positions) {
    auto difference = input - mean<hidden>(input);
    auto normed = difference * rsqrt(variance<hidden>(input) + 1e-5f);
    auto placed = rotate<split_halves, token<64>, hidden>(normed, positions);
    auto wide = (placed * maps.gate | silu) * (placed * maps.up);
    auto scores = contract<hidden>(placed, input | rename_axis<token, key>) * 0.3f - 0.1f;
    return std::pair{input * 1.7f + wide * maps.down, softmax<key>(scores)};
  };
  const auto [y, weights] = spelled_out(x, w, places);
  print("formula, network", "", y);
  print("formula, weights", "", weights);
}

}  // namespace

int main(int count, char** arguments) {
  begin(count > 1 ? arguments[1] : "");
  static const inputs usual = ordinary(), strange = wild();
  std::feclearexcept(FE_ALL_EXCEPT);
  attention(usual);
  formulas(usual);
  if (!wants_exceptions) attention(strange), formulas(strange);
  other_shapes();
  layers();
  blocks();
  arithmetic();
  contractions();
  formula_of_a_network();
  return 0;
}
