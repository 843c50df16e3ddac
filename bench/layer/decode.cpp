// SPDX-License-Identifier: BSL-1.0
// One token against a cache of keys and values: four projections of one row, attention of one
// query. Bandwidth, not operations: 8 hidden^2 + 4 keys hidden of them. And a prompt at once.
#include <umbel/decode/cache_of_formula.hpp>
#include <umbel/quantized.hpp>
#include <umbel/quantized/cache_of_formula.hpp>
#include <umbel/umbel.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <tuple>

#include "../measure.hpp"
#include "llama_by_rows.hpp"
#include "plain_llama.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

// Weights, Cache: what weights, keys and values are stored as.
template <std::size_t Hidden, std::size_t Heads, std::size_t KvHeads, std::size_t Capacity,
          std::size_t Tokens, class Weights = float, class Cache = float>
void add(const char* name) {
  using attention =
      multi_head_attention<float, hidden<Hidden>, heads<Heads>, kv_heads<KvHeads>, bias<true>>;
  using memory = key_value_cache<attention, key<Capacity>, stored_as<Cache>>;
  static const typename attention::weights weights = [] {
    static typename attention::weights w;
    const float scale = 1.7f * umbel::detail::simd::rsqrt(static_cast<float>(Hidden));
    bench::fill(w.q.weight, scale), bench::fill(w.k.weight, scale);
    bench::fill(w.v.weight, scale), bench::fill(w.o.weight, scale);
    return w;
  }();
  static const prepacked<attention, stored_as<Weights>> attend{weights};
  static memory past;
  static typename memory::template workspace<token<Tokens>> work;
  static tensor<float, token<Tokens>, hidden<Hidden>> x, y;
  bench::fill(x, 1);
  constexpr std::size_t before = Capacity - Tokens;
  static tensor<float, token<1>, hidden<Hidden>> one, out;
  bench::fill(one, 1);
  past.reset();
  while (past.size() < before) (void)past.step(out, attend, one);
  constexpr double kv = 1.0 * KvHeads / Heads, hidden_size = Hidden;
  constexpr double pairs = Tokens * (before + (Tokens + 1) / 2.0);
  bench::add_row(name, 4 * Tokens * hidden_size * hidden_size * (1 + kv) + 4 * pairs * hidden_size,
                 [] {
                   (void)past.rewind(before);
                   (void)past.step(y, attend, x, all_keys, work);
                 });
}

using llama_block = encoder_layer<float, hidden<64>, heads<8>, intermediate<172>, kv_heads<4>,
                                  norm_first<true>, norm_by<rms_norm>, norm_epsilon<1, 100'000>,
                                  activation<silu>, gated<true>, bias<false>, rope<split_halves>>;
using llama_token = tensor<float, token<1>, hidden<64>>;
// Of a step at 256 positions.
constexpr double llama_flops = 2.0 * 64 * (64 + 32 + 32 + 64 + 3 * 172) + 4.0 * 64 * 256;

template <class Model>
typename Model::weights llama_weights() {
  static typename Model::weights w;
  for (auto& layer : w.layers) {
    for (auto* norm : {&layer.norm1, &layer.norm2})
      for (float& gamma : norm->gamma) gamma = 1;
    auto& [q, k, v, o] = layer.attention;
    auto& [gate, up, down] = layer.feed_forward;
    bench::fill(q.weight, 0.2f), bench::fill(k.weight, 0.2f), bench::fill(v.weight, 0.2f);
    bench::fill(o.weight, 0.2f), bench::fill(gate.weight, 0.2f), bench::fill(up.weight, 0.2f);
    bench::fill(down.weight, 0.2f);
  }
  return w;
}

// A token through layers of LLaMA, of 8 heads of 8, 4 of keys and values, with a feed-forward
// network of 172, after 255 others.
template <std::size_t Layers, class Stored = float>
void add_llama(const char* name) {
  using model = layer_stack<llama_block, Layers>;
  using memory = key_value_cache<model, key<256>, stored_as<Stored>>;
  static const typename model::weights weights = llama_weights<model>();
  static const prepacked<model, stored_as<Stored>> layers{weights};
  static memory past;
  static typename memory::template workspace<token<1>> work;
  static llama_token x, y;
  bench::fill(x, 1);
  while (past.step(y, layers, x, all_keys, work)) {
  }
  bench::add_row(name, Layers * llama_flops, [] {
    (void)past.rewind(255);
    (void)past.step(y, layers, x, all_keys, work);
  });
}

// One block, whose weights others take, too.
const layer_stack<llama_block, 1>::weights& one_llama() {
  static const auto weights = llama_weights<layer_stack<llama_block, 1>>();
  return weights;
}

// The same block by others, each position's result compared with the layer's.
template <class Other>
void add_other_llama(const char* name, Other& other) {
  using model = layer_stack<llama_block, 1>;
  static key_value_cache<model, key<256>> past;
  static llama_token x, y, wanted;
  past.reset();
  for (int at = 0; at < 256; ++at) {
    bench::fill(x, 1);
    (void)past.step(wanted, model{one_llama()}, x);
    other.step(x.data(), at, y.data());
  }
  for (std::size_t d = 0; d < 64; ++d)
    if (!(std::fabs(y(0, d) - wanted(0, d)) < 1e-3f))
      std::printf("%s: feature %zu is %g, not %g\n", name, d, static_cast<double>(y(0, d)),
                  static_cast<double>(wanted(0, d)));
  bench::add_row(name, llama_flops, [&other] { other.step(x.data(), 255, y.data()); });
}

template <class To, class From>
void copy_to(To& to, const From& from) {
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
}

// Of (in, out).
void transpose_to(float* to, const float* from, std::size_t in, std::size_t out) {
  for (std::size_t i = 0; i < in; ++i)
    for (std::size_t o = 0; o < out; ++o) to[o * in + i] = from[i * out + o];
}

void add_plain_llama(const char* name) {
  static bench::plain_llama plain;
  const auto& [norm1, attention, norm2, network] = one_llama()[0];
  copy_to(plain.norm1, norm1.gamma), copy_to(plain.norm2, norm2.gamma);
  copy_to(plain.wq, attention.q.weight), copy_to(plain.wk, attention.k.weight);
  copy_to(plain.wv, attention.v.weight), copy_to(plain.wo, attention.o.weight);
  copy_to(plain.wgate, network.gate.weight), copy_to(plain.wup, network.up.weight);
  copy_to(plain.wdown, network.down.weight);
  for (int at = 0; at < 256; ++at)
    for (int d = 0; d < 4; ++d) {
      const float angle = static_cast<float>(at) * std::pow(10000.0f, static_cast<float>(-d) / 4);
      plain.cosines[at][d] = std::cos(angle), plain.sines[at][d] = std::sin(angle);
    }
  add_other_llama(name, plain);
}

void add_llama_by_rows(const char* name) {
  static bench::llama_by_rows rows;
  const auto& [norm1, attention, norm2, network] = one_llama()[0];
  copy_to(rows.norm1, norm1.gamma), copy_to(rows.norm2, norm2.gamma);
  transpose_to(rows.wq, attention.q.weight, 64, 64);
  transpose_to(rows.wk, attention.k.weight, 64, 32);
  transpose_to(rows.wv, attention.v.weight, 64, 32);
  transpose_to(rows.wo, attention.o.weight, 64, 64);
  transpose_to(rows.wgate, network.gate.weight, 64, 172);
  transpose_to(rows.wup, network.up.weight, 64, 172);
  transpose_to(rows.wdown, network.down.weight, 172, 64);
  add_other_llama(name, rows);
}

// The attention of row I as a formula, in floats and in integers: the next Tokens positions after
// `before` others. Rotary: queries and keys are rotated by tables.
struct weights_of_formula {
  static constexpr const char* part_names[] = {"maps", "cosines", "sines"};
  multi_head_attention<float, hidden<256>, heads<8>>::weights maps;
  tensor<float, token<512>, head_dim<32>> cosines, sines;
};
template <bool Rotary, class X>
constexpr auto rotated(const X& x, const auto& w) {
  if constexpr (!Rotary) {
    return x;
  } else {
    auto left = x | slice<head_dim, from<0>, extent<16>>;
    auto right = x | slice<head_dim, from<16>, extent<16>>;
    return x * lookup(w.cosines, position<token>) +
           concat<head_dim>(-right, left) * lookup(w.sines, position<token>);
  }
}
template <bool Rotary>
constexpr formula by_formula = [](auto x, const auto& w) {
  auto q = rotated<Rotary>(x * w.maps.q | split<hidden, heads<8>, head_dim>, w);
  auto k = rotated<Rotary>(x * w.maps.k | split<hidden, heads<8>, head_dim>, w);
  auto v = x * w.maps.v | split<hidden, heads<8>, head_dim> | rename_axis<token, key>;
  auto scores =
      contract<head_dim>(q | rename_axis<token, query>, k | rename_axis<token, key>) * 0.17677669f;
  auto context = contract<key>(softmax<key>(hide(scores, position<key> > position<query>)), v);
  return (context | rename_axis<query, token> | merge<heads, head_dim, hidden>)*w.maps.o;
};
const weights_of_formula& drawn_weights() {
  static const weights_of_formula& all = [&]() -> const weights_of_formula& {
    static weights_of_formula w;
    for (auto* map : {&w.maps.q, &w.maps.k, &w.maps.v, &w.maps.o}) bench::fill(map->weight, 0.1f);
    bench::fill(w.cosines, 1), bench::fill(w.sines, 1);
    return w;
  }();
  return all;
}
// step_of(past, y, x, work): a step. X, Y: the elements of its input and result.
template <class Past, class X, class Y, std::size_t Tokens, class Step>
void add_steps(const std::string& name, std::size_t before, const Step& step_of) {
  static Past past;
  static typename Past::template workspace<token<Tokens>> work;
  static typename Past::template workspace<token<1>> work_of_one;
  static tensor<X, token<Tokens>, hidden<256>> x;
  static tensor<Y, token<Tokens>, hidden<256>> y;
  static tensor<X, token<1>, hidden<256>> one;
  static tensor<Y, token<1>, hidden<256>> out;
  for (X& v : x) v = 1;
  for (X& v : one) v = 1;
  const double flops = 8.0 * 256 * 256 + 4.0 * static_cast<double>(before) * 256;
  bench::add_row(name + std::to_string(before), Tokens * flops, [=] {
    if (!past.rewind(before))
      while (past.size() < before) step_of(past, out, one, work_of_one);
    step_of(past, y, x, work);
  });
}
template <bool Rotary>
using formula_in_integers = quantized<std::remove_const_t<decltype(by_formula<Rotary>)>,
                                      tensor<float, token<64>, hidden<256>>, weights_of_formula>;
template <bool Rotary>
const formula_in_integers<Rotary>& packed_formula() {
  using layer = formula_in_integers<Rotary>;
  static const layer packed = [] {
    static typename layer::ranges seen;
    static typename layer::calibration_workspace work;
    static tensor<float, token<64>, hidden<256>> x;
    bench::fill(x, 1);
    std::ignore = layer::calibrate(seen, x, drawn_weights(), work);
    return layer(drawn_weights(), seen);
  }();
  return packed;
}
template <std::size_t Tokens, bool Rotary = false>
void add_formula(const std::string& name) {
  using row = tensor<float, token<1>, hidden<256>>;
  using layer = formula_in_integers<Rotary>;
  using in_floats = key_value_cache<std::remove_const_t<decltype(by_formula<Rotary>)>, key<512>,
                                    called_with<row, weights_of_formula>>;
  using in_integers = key_value_cache<layer, key<512>>;
  for (const std::size_t before : {std::size_t{16}, std::size_t{128}, std::size_t{496}}) {
    add_steps<in_floats, float, float, Tokens>(
        "decode/formula, " + name, before, [](auto& past, auto& y, const auto& x, auto& work) {
          (void)past.step(y, by_formula<Rotary>, x, drawn_weights(), work);
        });
    add_steps<in_integers, typename layer::template input_type<0>,
              typename layer::template output_type<0>, Tokens>(
        "decode/formula in integers, " + name, before,
        [](auto& past, auto& y, const auto& x, auto& work) {
          (void)past.step(y, packed_formula<Rotary>(), x, work);
        });
  }
}

// hidden, heads, heads of keys and values, positions
const bool added = [] {
  add<256, 8, 8, 512, 1>("decode/I 256,8,8,512");
  add<256, 8, 8, 512, 1, bfloat16>("decode/I bfloat16 weights");
  add<256, 8, 8, 512, 1, float, bfloat16>("decode/I bfloat16 cache");
  add<256, 8, 8, 512, 1, bfloat16, bfloat16>("decode/I bfloat16");
  add<256, 8, 8, 512, 1, float16, float16>("decode/I float16");
  add<256, 8, 8, 512, 1, std::int8_t>("decode/I int8 weights");
  add<256, 8, 8, 512, 1, float, std::int8_t>("decode/I int8 cache");
  add<256, 8, 8, 512, 1, std::int8_t, std::int8_t>("decode/I int8");
  add<256, 8, 2, 512, 1>("decode/ 256,8,2,512");
  add<64, 4, 4, 128, 1>("decode/ 64,4,4,128");
  add<64, 8, 4, 256, 1>("decode/ 64,8,4,256");
  add<256, 8, 8, 512, 64>("decode/ 256,8,8,512, the last 64 at once");
  add<256, 8, 8, 512, 64, bfloat16, bfloat16>("decode/ bfloat16, the last 64 at once");
  add<256, 8, 8, 512, 64, float16, float16>("decode/ float16, the last 64 at once");
  add<256, 8, 8, 512, 64, std::int8_t, std::int8_t>("decode/ int8, the last 64 at once");
  add_formula<1>("1 position after ");
  add_formula<16>("16 positions after ");
  add_formula<1, true>("with rotary positions, 1 position after ");
  add_llama<1>("decode/ LLaMA block 64,8,4,172,256");
  add_llama<1, bfloat16>("decode/ LLaMA block, bfloat16 weights and cache");
  add_plain_llama("decode/ LLaMA block, plain loops with -ffast-math");
  add_llama_by_rows("decode/ LLaMA block, as llama2.c does it, with -ffast-math");
  add_llama<5>("decode/ 5 LLaMA blocks");
  add_llama<5, bfloat16>("decode/ 5 LLaMA blocks, bfloat16 weights and cache");
  return true;
}();

}  // namespace
