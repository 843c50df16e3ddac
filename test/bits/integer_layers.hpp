// SPDX-License-Identifier: BSL-1.0
// 300 layers in integers, of sizes, weights, ranges and inputs drawn from seeds, in four parts:
// each result is that of the definition (integer_definition.hpp), also by several workers, and
// those of a part together are one constant, of every compiler, flag and target, with and without
// fused multiply-add. So are tables of activations; a linear map at its bound stays within 32 bits
// (the fifth part, for memories of megabytes).
//
// Ranges are drawn, not observed: floats have two sets of bits. Sizes are template arguments, of
// one layer for several weights and inputs, since each is a kernel for the compiler. On bare metal
// no variable has a value to begin with. Not here: main (integers.cpp,
// ../embedded/drawn_layers.cpp).
#pragma once

#include <umbel/quantized.hpp>

#include <cstdint>
#include <new>

#include "../support/executors.hpp"
#include "drawing.hpp"
#include "integer_definition.hpp"

namespace integers_test {

using namespace umbel::axes;

// Of each result: which layer it is, its hash, and whether it is the definition's.
void report(const char* what, int layer, std::uint64_t hash, bool is_plain) noexcept;

inline drawing draw;
inline std::uint64_t all;  // of a part
inline int layers;         // so far
template <std::size_t Bytes>
alignas(64) inline unsigned char shared[Bytes];

// As its constructor leaves it, in memory that the layers share, one after the other: of weights,
// of what is packed, of executors.
template <std::size_t Bytes, class T>
T& fresh() noexcept {
  static_assert(sizeof(T) <= Bytes && alignof(T) <= 64);
  return *new (shared<Bytes>) T{};
}
template <class T>
T& fresh_weights() noexcept {
  return fresh<27 << 10, T>();
}
template <class T>  // wider where there are vectors
T& fresh_packed() noexcept {
  return fresh<(detail::simd::dot_lanes == 1 ? 14 : 32) << 10, T>();
}

inline void add(std::uint64_t& hash, std::int64_t value) noexcept {
  for (int shift = 0; shift < 32; shift += 8)
    hash = (hash ^ (static_cast<std::uint64_t>(value) >> shift & 255)) * 0x100000001b3u;
}
inline constexpr std::uint64_t hash_of_nothing = 0xcbf29ce484222325u;
template <class X>
void found(const char* what, const X& x, bool is_plain = true) noexcept {
  std::uint64_t hash = hash_of_nothing;
  for (const auto value : x) add(hash, value);
  for (const auto value : x) add(all, value);
  report(what, layers++, hash, is_plain);
}
template <class X>
bool same(const X& a, const X& b) noexcept {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a.data()[i] != b.data()[i]) return false;
  return true;
}
// The result of a layer, beside the definition's.
template <class X>
void compare(const char* what, const X& fast, const X& defined) noexcept {
  found(what, fast, same(fast, defined));
}
// And what `call(work)` gives with the workspaces of several workers. Layer: of whose calls.
template <bool ByWorkers, class Workspace, class X, class F>
void compare_calls(const char* what, const X& defined, const F& call) noexcept {
  const auto& fast = call();
  if constexpr (ByWorkers) {
    static Workspace work[3];
    auto& workers = fresh<2 << 10, umbel_test::shuffled<3, 64>>();
    found(what, fast, same(fast, defined) && same(call(parallel(workers, work)), defined));
  } else {
    found(what, fast, same(fast, defined));
  }
}

template <class Weights>
void draw_weights(Weights& w) noexcept {
  if constexpr (requires { w.norm3; }) {
    draw_weights(w.self_attention), draw_weights(w.cross_attention), draw_weights(w.feed_forward);
    draw_weights(w.norm1), draw_weights(w.norm2), draw_weights(w.norm3);
  } else if constexpr (requires { w.norm1; }) {
    draw_weights(w.attention), draw_weights(w.feed_forward);
    draw_weights(w.norm1), draw_weights(w.norm2);
  } else if constexpr (requires { w.q; }) {
    draw_weights(w.q), draw_weights(w.k), draw_weights(w.v), draw_weights(w.o);
  } else if constexpr (requires { w.up; }) {
    draw_weights(w.up), draw_weights(w.down);
    if constexpr (requires { w.gate; }) draw_weights(w.gate);
  } else if constexpr (requires { w.gamma; }) {
    for (float& gamma : w.gamma) gamma = 1 + draw.weight();
    if constexpr (requires { w.beta; })
      for (float& beta : w.beta) beta = draw.weight();
  } else {
    for (float& one : w.weight) one = draw.weight();
    if constexpr (std::remove_cvref_t<Weights>::map::has_bias)
      for (float& one : w.bias) one = draw.weight();
  }
}
// Every range of a struct of them.
template <class Ranges>
void draw_ranges(Ranges& ranges) noexcept {
  if constexpr (std::is_same_v<Ranges, detail::integers::range>)
    ranges() = draw.range();
  else if constexpr (requires { ranges.epsilon; })  // a norm's: any that pack has
    draw_ranges(ranges.input), draw_ranges(ranges.output);
  else
    detail::with_members<detail::parts_named<Ranges>>(
        ranges, [](auto&... part) { (draw_ranges(part), ...); });
}
template <class Ranges>
const Ranges& drawn_ranges() noexcept {
  static Ranges ranges;
  draw_ranges(ranges);
  return ranges;
}
template <class X>
const X& drawn() noexcept {
  static X x;
  using T = std::remove_cvref_t<decltype(*x.data())>;
  const std::int32_t largest = sizeof(T) == 1 ? 128 : draw() % 2 == 0 ? 32767 : 9000;
  for (T& v : x) v = static_cast<T>(draw.between(-largest, sizeof(T) == 1 ? 127 : largest));
  return x;
}
// The weights of a layer, packed with drawn ranges.
template <class Quantized>
const Quantized& packed() noexcept {
  using layer = typename Quantized::layer;
  auto& w = fresh_weights<typename layer::weights>();
  auto& q = fresh_packed<Quantized>();
  draw_weights(w);
  const auto& ranges = drawn_ranges<typename Quantized::ranges>();
  // Zeros, which the hash tells, if it failed.
  if constexpr (detail::takes_epsilon<layer>)
    static_cast<void>(q.pack(w, ranges, draw() % 2 == 0 ? 0x1p-16F : 0x1p-30F));
  else
    static_cast<void>(q.pack(w, ranges));
  return q;
}

// ---- layers
// --------------------------------------------------------------------------------------

// Count layers of one type, that of Seed.
template <std::uint32_t Seed, class T>
void linear_maps(int count) noexcept {
  constexpr std::size_t rows = drawn_size<Seed>(0, 1, 11), in = drawn_size<Seed>(1, 1, 140),
                        out = drawn_size<Seed>(2, 1, 70);
  using layer =
      quantized<linear<float, hidden<in>, out_features<out>, bias<Seed % 2 == 0>>, output_as<T>>;
  static tensor<T, token<rows>, out_features<out>> defined;
  for (; count != 0; --count) {
    const layer& map = packed<layer>();
    const auto& x = drawn<tensor<std::int8_t, token<rows>, hidden<in>>>();
    defined_map<rows>(map.get_weights(), x.data(), defined.data(),
                      detail::integers::finish_as<T>{});
    compare("linear", map(x), defined);
  }
}
template <std::uint32_t Seed, class T, class... Options>
void networks(int count) noexcept {
  constexpr std::size_t rows = drawn_size<Seed>(0, 1, 9), narrow = drawn_size<Seed>(1, 1, 40),
                        wide = drawn_size<Seed>(2, 1, 90);
  using layer =
      quantized<feed_forward<float, hidden<narrow>, intermediate<wide>, Options...>, output_as<T>>;
  static tensor<T, token<rows>, hidden<narrow>> defined;
  for (; count != 0; --count) {
    const layer& feed = packed<layer>();
    const auto& x = drawn<tensor<std::int8_t, token<rows>, hidden<narrow>>>();
    defined_network<rows>(feed.get_weights(), x.data(), defined.data(),
                          detail::integers::finish_as<T>{});
    compare("feed_forward", feed(x), defined);
  }
}
template <std::uint32_t Seed, template <class, class...> class Norm>
void norms(int count) noexcept {
  constexpr std::size_t rows = drawn_size<Seed>(0, 1, 5), width = drawn_size<Seed>(1, 1, 200);
  using layer = quantized<Norm<float, hidden<width>>>;
  for (; count != 0; --count) {
    const layer& norm = packed<layer>();
    const auto& x = drawn<tensor<std::int16_t, token<rows>, hidden<width>>>();
    tensor<std::int8_t, token<rows>, hidden<width>> defined;
    for (std::size_t r = 0; r < rows; ++r)
      plain::integer_norm<
          std::is_same_v<Norm<float, hidden<width>>, layer_norm<float, hidden<width>>>>(
          norm.get_weights(), x.data() + r * width, defined.data() + r * width);
    compare("norm", norm(x), defined);
  }
}

// Masks of each call: lengths beyond both ends, positions before the first key.
template <std::size_t Queries, std::size_t Keys, class F>
void with_mask(std::uint32_t kind, const F& call) noexcept {
  static tensor<int, query<Queries>> lengths;
  static tensor<bool, query<Queries>, key<Keys>> kept;
  for (int& length : lengths) length = draw.between(-1, static_cast<int>(Keys) + 1);
  for (bool& keep : kept) keep = draw() % 3 != 0;
  for (std::size_t j = 0; j < Keys; ++j) kept(Queries / 2, j) = false;
  if (kind == 0) call(all_keys);
  if (kind == 1) call(lengths);
  if (kind == 2) call(keep_mask(kept) & causal_at(draw.between(-2, 3)));
  if (kind == 3) call(sliding_window_at<3, 1>(draw.between(-2, 3)));
}
template <std::uint32_t Seed, class T, std::size_t Heads, std::size_t KvHeads, class Weight,
          class... Options>
void attention(int count) noexcept {
  constexpr std::size_t queries = drawn_size<Seed>(0, 1, 9), keys = drawn_size<Seed>(1, 1, 23),
                        width = drawn_size<Seed>(2, 1, 11), in = drawn_size<Seed>(3, 5, 40);
  using attention = multi_head_attention<float, hidden<in>, heads<Heads>, kv_heads<KvHeads>,
                                         head_dim<width>, bias<Seed % 2 == 1>, Options...>;
  using layer = quantized<attention, output_as<T>, softmax_as<Weight>>;
  using x_type = tensor<std::int8_t, batch<2>, query<queries>, hidden<in>>;
  using y_type = tensor<std::int8_t, batch<2>, key<keys>, hidden<in>>;
  using scores = detail::scores_of<float, 2, Heads, queries, keys>;
  static tensor<T, batch<2>, query<queries>, hidden<in>> defined;
  for (; count != 0; --count) {
    const layer& attend = packed<layer>();
    const auto& x = drawn<x_type>();
    static y_type y, z;
    y = drawn<y_type>(), z = drawn<y_type>();
    with_mask<queries, keys>(static_cast<std::uint32_t>(count) % 4, [&](const auto& mask) {
      const auto& masks = detail::as_mask(mask);
      for (std::size_t b = 0; b < 2; ++b)
        defined_attention<queries, keys>(
            attend.get_weights(), x.data() + b * queries * in, y.data() + b * keys * in,
            z.data() + b * keys * in, detail::at_sequence<scores>(masks, b),
            defined.data() + b * queries * in, detail::integers::finish_as<T>{});
      compare_calls<Seed % 2 == 0, typename layer::template workspace<query<queries>, key<keys>>>(
          "attention", defined, [&](auto&&... with) {
            return attend(x, y, z, mask, static_cast<decltype(with)>(with)...);
          });
    });
  }
}
// A layer, or a stack of Depth of them.
template <class Quantized, std::size_t Depth>
const Quantized& packed_stack() noexcept {
  auto& stack = fresh_packed<Quantized>();
  auto& w = fresh_weights<typename Quantized::layer::weights>();
  if constexpr (Depth == 1) {
    draw_weights(w);
    static_cast<void>(stack.pack(w, drawn_ranges<typename Quantized::ranges>()));
  } else {
    static typename Quantized::ranges ranges;
    for (std::size_t i = 0; i < Depth; ++i) {
      draw_weights(w[i]);
      ranges.layers[i] = drawn_ranges<std::remove_cvref_t<decltype(ranges.layers[i])>>();
    }
    static_cast<void>(stack.pack(w, ranges));
  }
  return stack;
}
template <std::uint32_t Seed, std::size_t Heads, bool First, std::size_t Depth, class... Options>
void encoders(int count) noexcept {
  constexpr std::size_t rows = drawn_size<Seed>(0, 1, 17), width = drawn_size<Seed>(1, 1, 9),
                        wide = drawn_size<Seed>(2, 1, 50), in = drawn_size<Seed>(3, 1, 40);
  using block = encoder_layer<float, hidden<in>, heads<Heads>, intermediate<wide>, head_dim<width>,
                              norm_first<First>, Options...>;
  using layer =
      std::conditional_t<Depth == 1, quantized<block>, quantized<layer_stack<block, Depth>>>;
  using residual = tensor<std::int16_t, token<rows>, hidden<in>>;
  using scores = detail::scores_of<float, 0, Heads, rows, rows>;
  for (; count != 0; --count) {
    const layer& stack = packed_stack<layer, Depth>();
    const residual& x = drawn<residual>();
    const auto call = [&](const auto& mask) {
      residual defined = x;
      for (std::size_t i = 0; i < Depth; ++i)
        defined_encoder<rows, First>(detail::weights_of_block(stack.get_weights(), i),
                                     defined.data(),
                                     detail::at_sequence<scores>(detail::as_mask(mask), 0));
      compare_calls<Seed % 2 == 0, typename layer::template workspace<token<rows>>>(
          "encoder", defined,
          [&](auto&&... with) { return stack(x, mask, static_cast<decltype(with)>(with)...); });
    };
    if (count % 2 == 0)
      call(all_keys);
    else
      call(causal);
  }
}
template <std::uint32_t Seed, std::size_t Heads, bool First, std::size_t Depth, class... Options>
void decoders(int count) noexcept {
  constexpr std::size_t rows = drawn_size<Seed>(0, 1, 13), keys = drawn_size<Seed>(1, 1, 19),
                        width = drawn_size<Seed>(2, 1, 9), wide = drawn_size<Seed>(3, 1, 40),
                        in = drawn_size<Seed>(4, 1, 30);
  using block = decoder_layer<float, hidden<in>, heads<Heads>, intermediate<wide>, head_dim<width>,
                              norm_first<First>, Options...>;
  using layer =
      std::conditional_t<Depth == 1, quantized<block>, quantized<layer_stack<block, Depth>>>;
  using residual = tensor<std::int16_t, token<rows>, hidden<in>>;
  using own_scores = detail::scores_of<float, 0, Heads, rows, rows>;
  using scores = detail::scores_of<float, 0, Heads, rows, keys>;
  for (; count != 0; --count) {
    const layer& stack = packed_stack<layer, Depth>();
    const residual& x = drawn<residual>();
    const auto& memory = drawn<tensor<std::int8_t, key<keys>, hidden<in>>>();
    tensor<bool, key<keys>> kept;
    for (bool& keep : kept) keep = draw() % 3 != 0;
    const auto call = [&](const auto& mask, const auto& own) {
      residual defined = x;
      for (std::size_t i = 0; i < Depth; ++i)
        defined_decoder<rows, keys, First>(
            detail::weights_of_block(stack.get_weights(), i), defined.data(), memory.data(),
            detail::at_sequence<scores>(detail::as_mask(mask), 0),
            detail::at_sequence<own_scores>(detail::as_mask(own), 0));
      compare_calls<Seed % 2 == 0, typename layer::template workspace<token<rows>, key<keys>>>(
          "decoder", defined, [&](auto&&... with) {
            return stack(x, memory, mask, self_mask(own), static_cast<decltype(with)>(with)...);
          });
    };
    if (count % 2 == 0)
      call(keep_mask(kept), causal);
    else
      call(all_keys, sliding_window_at<3, 1>(draw.between(-2, 3)));
  }
}

// Sums as large as the bound lets them be: weights and inputs at an end, beside a bias of 24 bits.
inline void largest_sums() noexcept {
  constexpr std::size_t in = kernel::most_input_products;
  using layer = quantized<linear<float, hidden<in>, out_features<3>, bias<true>>>;
  static layer map;
  static layer::layer::weights w;
  static tensor<std::int8_t, token<2>, hidden<in>> x;
  layer::ranges ranges;
  for (const float sign : {1.0F, -1.0F}) {
    for (float& one : w.weight) one = -sign;
    for (float& one : w.bias) one = sign * 1000;
    w.bias[1] = 0;
    for (std::int8_t& one : x) one = -128;
    for (std::size_t i = 0; i < in; i += 2) x(1, i) = 127;
    ranges.input() = 1, ranges.output() = 131072;
    static_cast<void>(map.pack(w, ranges));
    tensor<std::int8_t, token<2>, out_features<3>> defined;
    defined_map<2>(map.get_weights(), x.data(), defined.data(), kernel::finish::as_int8{});
    compare("largest sums", map(x), defined);
  }
}

// Tables of activations that were packed for drawn ranges.
template <class Activation>
void tables(const char* what, const Activation&) noexcept {
  for (int i = 0; i < 12; ++i) {
    std::int8_t table[256];
    const double in = static_cast<double>(draw.range()) / 127,
                 out = static_cast<double>(draw.range()) / 127;
    detail::integers::pack_table<Activation>(table, in, out);
    found(what, table);
  }
}

// ---- parts
// ---------------------------------------------------------------------------------------

inline constexpr int parts_of_layers = 4, parts = 5;

// The hash of a part's results, or another where they are not those of all targets.
template <int Part>
std::uint64_t hash_of_part() noexcept {
  draw = {Part + 1};
  all = hash_of_nothing;
  if constexpr (Part == 0) {
    linear_maps<1, std::int8_t>(13), linear_maps<2, std::int16_t>(13);
    networks<6, std::int8_t, gated<false>, activation<gelu_exact>, bias<true>>(15);
    norms<9, layer_norm>(10);
    attention<13, std::int8_t, 3, 3, std::int8_t>(20);
    encoders<16, 2, true, 1, activation<gelu_tanh>, bias<true>>(15);
  } else if constexpr (Part == 1) {
    linear_maps<3, std::int8_t>(13), linear_maps<4, std::int16_t>(13);
    networks<7, std::int16_t, gated<true>, activation<silu>, bias<false>>(15);
    norms<11, rms_norm>(10);
    attention<14, std::int16_t, 4, 2, std::int8_t>(20);
    encoders<17, 3, false, 1, activation<relu>, bias<true>>(15);
  } else if constexpr (Part == 2) {
    linear_maps<5, std::int8_t>(13);
    networks<8, std::int16_t, gated<false>, activation<relu>, bias<false>>(15);
    norms<10, layer_norm>(10);
    encoders<18, 2, true, 1, gated<true>, activation<silu>, bias<false>, norm_by<rms_norm>,
             norm_epsilon<1, 1'000'000>>(15);
    decoders<20, 2, true, 1, activation<gelu_exact>, bias<true>>(15);
  } else if constexpr (Part == 3) {
    norms<12, rms_norm>(10);
    attention<15, std::int8_t, 2, 1, std::int16_t>(20);
    encoders<19, 1, true, 2, activation<gelu_exact>, bias<true>>(15);
    decoders<21, 3, false, 2, gated<true>, activation<silu>, bias<false>, norm_by<rms_norm>,
             norm_epsilon<1, 1'000>>(15);
  } else {
    largest_sums();
    tables("gelu_exact", gelu_exact), tables("gelu_tanh", gelu_tanh), tables("silu", silu);
  }
  return all;
}
inline constexpr std::uint64_t golden[parts] = {0x42a6e6a3fa70429c, 0xe0492d70cba05f2a,
                                                0xb13f6e49e847f2e0, 0x55a9aa06d7a67d54,
                                                0x7e372d0020f9abad};

}  // namespace integers_test
