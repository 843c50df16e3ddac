// SPDX-License-Identifier: BSL-1.0
// Layers in 8-bit integers (quantized<layer>), the shapes of multi_head.cpp and of the demo's
// encoder. Percent of the most products of bytes that simd::dot can add, measured in the same run:
// additions and products count as one operation each, as for floats.
#include <umbel/quantized.hpp>

#include "../dot_peak.hpp"
#include "../measure.hpp"

#if UMBEL_DOT_VECTORS
namespace {

using namespace umbel;
using namespace umbel::axes;

template <class Map>
void fill_map(Map& map, float scale) {
  bench::fill(map.weight, scale);
  bench::fill(map.bias, 0.1f);
}
template <class X>
void fill_bytes(X& x) {
  static std::uint32_t state = 1;
  for (auto& e : x) {
    state = state * 1664525u + 1013904223u;
    e = static_cast<std::int8_t>(static_cast<int>((state >> 8) % 255) - 127);
  }
}
// As if every tensor had been seen within -1 to 1.
template <class... Range>
void set(Range&... ranges) {
  const float one = 1;
  (umbel::detail::integers::widen(ranges, &one, 1), ...);
}

template <std::size_t Rows, std::size_t In, std::size_t Out>
void add_linear(const char* name) {
  using map = linear<float, hidden<In>, classes<Out>, bias<true>>;
  static tensor<std::int8_t, query<Rows>, hidden<In>> x;
  static tensor<std::int8_t, query<Rows>, classes<Out>> y;
  static const auto layer = [] {
    static typename map::weights w;
    fill_map(w, 0.1f);
    typename quantized<map>::ranges seen{};
    set(seen.input, seen.output);
    return quantized<map>{w, seen};
  }();
  fill_bytes(x);
  bench::add_row(
      name, 2.0 * Rows * In * Out,
      [] {
        layer.into(y, x);
        benchmark::DoNotOptimize(y.data());  // whose values nobody else reads
      },
      bench::dot_peak);
}

template <class Attention, std::size_t Hidden>
quantized<Attention> make_attention() {
  static typename Attention::weights w;
  for (auto* map : {&w.q, &w.k, &w.v, &w.o})
    fill_map(*map, 1.7f * umbel::detail::simd::rsqrt(static_cast<float>(Hidden)));
  typename quantized<Attention>::ranges seen{};
  set(seen.queries, seen.keys, seen.values, seen.q, seen.k, seen.v, seen.output);
  return quantized<Attention>{w, seen};
}

template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
void add_self(const char* name) {
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>, bias<true>>;
  static tensor<std::int8_t, query<Tokens>, hidden<Hidden>> x, y;
  static typename quantized<attention>::template workspace<query<Tokens>> work;
  static const auto layer = make_attention<attention, Hidden>();
  fill_bytes(x);
  bench::add_row(
      name, 8.0 * Tokens * Hidden * Hidden + 4.0 * Tokens * Tokens * Hidden,
      [] { layer.into(y, x, all_keys, work); }, bench::dot_peak);
}

// One token against a cache that it fills (decode.cpp has the same in floats). Its goal is a time,
// so the FMA peak is beside it (goals.hpp).
template <std::size_t Hidden, std::size_t Heads, std::size_t Capacity>
void add_step(const char* name) {
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>, bias<true>>;
  using memory = key_value_cache<quantized<attention>, key<Capacity>>;
  static const auto layer = make_attention<attention, Hidden>();
  static memory past;
  static typename memory::template workspace<token<1>> work;
  static tensor<std::int8_t, token<1>, hidden<Hidden>> x, y;
  fill_bytes(x);
  while (past.step(y, layer, x, all_keys, work)) {
  }
  bench::add_row(name, 8.0 * Hidden * Hidden + 4.0 * Capacity * Hidden, [] {
    (void)past.rewind(Capacity - 1);
    (void)past.step(y, layer, x, all_keys, work);
  });
}

// The encoder of the demo, whose two layers are nearly all of a picture; the same in floats.
void add_encoder() {
  using block = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                              activation<gelu_exact>, bias<true>>;
  using both = layer_stack<block, 2>;
  static typename both::weights w = [] {
    typename both::weights all;
    for (std::size_t i = 0; i < 2; ++i) {
      auto& one = all[i];
      for (auto* map : {&one.attention.q, &one.attention.k, &one.attention.v, &one.attention.o})
        fill_map(*map, 0.3f);
      fill_map(one.feed_forward.up, 0.3f);
      fill_map(one.feed_forward.down, 0.3f);
      for (auto* norm : {&one.norm1, &one.norm2}) {
        bench::fill(norm->gamma, 1);
        bench::fill(norm->beta, 0.1f);
      }
    }
    return all;
  }();
  constexpr double operations =
      2 * 2 * (4.0 * 49 * 32 * 32 + 2.0 * 49 * 49 * 32 + 2.0 * 49 * 32 * 64);
  static tensor<float, token<49>, hidden<32>> x, y;
  static tensor<std::int16_t, token<49>, hidden<32>> a, b;
  bench::fill(x, 1);
  static const both floats{w};
  bench::add_row("encoder/49,32,4 twice", operations, [] { floats.into(y, x); });
  static const auto layer = [] {
    typename quantized<both>::ranges seen{};
    static_cast<void>(quantized<both>::calibrate(seen, w, x));
    return quantized<both>{w, seen};
  }();
  for (std::size_t i = 0; i < a.size(); ++i)
    a.data()[i] = static_cast<std::int16_t>(x.data()[i] * 8000);
  static typename quantized<both>::template workspace<token<49>> work;
  bench::add_row(
      "int8/encoder/49,32,4 twice", operations, [] { layer.into(b, a, all_keys, work); },
      bench::dot_peak);
}

const bool added = [] {
  add_linear<128, 384, 384>("int8/linear/128x384x384");
  add_linear<1, 1024, 1024>("int8/linear/1x1024x1024");
  add_self<64, 64, 4>("int8/mha/D 64,64,4");
  add_self<128, 256, 8>("int8/mha/E 128,256,8");
  add_self<128, 384, 12>("int8/mha/F 128,384,12");
  add_step<256, 8, 512>("int8/decode/I 256,8,512");
  add_encoder();
  return true;
}();

}  // namespace
#endif
