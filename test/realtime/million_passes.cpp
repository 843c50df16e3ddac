// SPDX-License-Identifier: BSL-1.0
// A million forward passes of an encoder layer, and a million steps of a cache, of floats and of
// integers: the bits of the first of them every time, whatever the workspace held before. Weights
// and inputs lie in pages that may not be written, the workspace and the result between pages that
// may not be touched, and what is left of their pages is filled with bytes that must stay. Exit
// code 0 is passing.
#include <umbel/bare.hpp>
#include <umbel/quantized.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "../support/quantized.hpp"
#include "../support/random.hpp"
#include "pages.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

constexpr int passes = 1'000'000;
// Of passes before the workspace is filled anew, and before the bytes around are looked at.
constexpr int filled_every = 100, looked_at_every = 10'000;

[[noreturn]] void fail(const char* what, int pass) {
  std::printf("pass %d: %s\n", pass, what);
  std::exit(1);
}

// What the contents of the workspace may be: any bytes.
void fill(pages& work, lcg& next) {
  std::memset(work.data, static_cast<int>((next() + 1) * 127), work.bytes);
}

// What is wrong, for the tests of this test: after so many passes a bit of the result, or a byte
// behind the workspace, changes.
struct damage {
  int at = passes;
  bool of_the_result = false;
};

// run(pass, out): the pass of that number, whose result is `wanted`; work: a pages.
template <class Tokens, class Run>
void repeat(int count, const damage& wrong, const Tokens& wanted, pages& work, const Run& run) {
  lcg next{3};
  object<Tokens> out;
  for (int pass = 0; pass < count; ++pass) {
    if (pass % filled_every == 0) fill(work, next);
    run(pass, out.value());
    if (pass == wrong.at) {
      if (wrong.of_the_result)
        static_cast<unsigned char*>(out.data)[17] ^= 1;
      else
        static_cast<unsigned char*>(work.data)[-1] ^= 1;
    }
    if (std::memcmp(&out.value(), &wanted, sizeof wanted) != 0) fail("other bits", pass);
    if (pass % looked_at_every == 0 && !(work.intact() && out.intact()))
      fail("a byte beside the workspace or the result has changed", pass);
  }
  if (!(work.intact() && out.intact())) fail("a byte beside the workspace has changed", count);
}

using encoder = encoder_layer<float, hidden<8>, heads<2>, intermediate<12>, norm_first<true>,
                              activation<gelu_exact>, bias<true>, rope<split_halves>>;
using tokens = tensor<float, token<5>, hidden<8>>;

void encode(int count, const damage& wrong) {
  lcg next{1};
  object<encoder::weights> w;
  new (w.data) encoder::weights{};
  draw_encoder(next, w.value(), 0.5, 0.5, 0.5, 0.125, 1, 0.125);
  w.forbid_writing();
  object<prepacked<encoder>> packed;
  new (packed.data) prepacked<encoder>{w.value()};
  packed.forbid_writing();
  object<tokens> x;
  draw(next, x.value());
  x.forbid_writing();
  object<encoder::workspace<token<5>>> work;
  repeat(count, wrong, encoder{w.value()}(x.value(), causal), work, [&](int pass, tokens& out) {
    if (pass % 2 == 0)
      packed.value().into(out, x.value(), causal, work.value());
    else
      encoder{w.value()}.into(out, x.value(), causal, work.value());
  });
}

// Layers in integers, packed.
template <class Layer>
struct packed_integers : object<quantized<Layer>> {
  explicit packed_integers(lcg& next) {
    new (this->data) quantized<Layer>(drawn_quantized<quantized<Layer>>(next));
    this->forbid_writing();
  }
};
void encode_integers(int count) {
  using sums = tensor<std::int16_t, token<5>, hidden<8>>;
  lcg next{4};
  packed_integers<encoder> layer(next);
  object<sums> x;
  x.value() = drawn_integers<sums>(next, 20000);
  x.forbid_writing();
  object<quantized<encoder>::workspace<token<5>>> work;
  repeat(count, {}, layer.value()(x.value(), causal), work,
         [&](int, sums& out) { layer.value().into(out, x.value(), causal, work.value()); });
}

// A cache of 16 positions, over and over again. Layer: what the steps call; draw_row: a row of x.
template <class Past, class Row, class Layer, class Draw>
void decode(int count, const Layer& layer, const Draw& draw_row) {
  constexpr int positions = 16;
  lcg next{2};
  object<Past> cache;
  new (cache.data) Past;
  object<typename Past::template workspace<token<1>>> work;
  static Row x[positions], wanted[positions], out;
  for (Row& each : x) each = draw_row();
  for (int step = 0; step < count; ++step) {
    const int at = step % positions;
    if (at == 0) {
      cache.value().reset();
      fill(work, next);
    }
    Row& to = step < positions ? wanted[at] : out;
    if (!cache.value().step(to, layer, x[at], all_keys, work.value()))
      fail("the cache is full", step);
    if (step >= positions && std::memcmp(&out, &wanted[at], sizeof out) != 0)
      fail("other bits of a step", step);
    if (step % looked_at_every == 0 && !(work.intact() && cache.intact()))
      fail("a byte beside the workspace or the cache has changed", step);
  }
}
using attention =
    multi_head_attention<float, hidden<8>, heads<2>, kv_heads<1>, rope<adjacent_pairs>>;
void decode_floats(int count) {
  using row = tensor<float, token<1>, hidden<8>>;
  lcg next{2};
  object<attention::weights> w;
  new (w.data) attention::weights(drawn_weights<attention>(next));
  w.forbid_writing();
  decode<key_value_cache<attention, key<16>>, row>(count, attention{w.value()},
                                                   [&] { return drawn<row>(next); });
}
void decode_integers(int count) {
  using row = tensor<std::int8_t, token<1>, hidden<8>>;
  lcg next{5};
  packed_integers<attention> layer(next);
  decode<key_value_cache<quantized<attention>, key<16>>, row>(
      count, layer.value(), [&] { return drawn_integers<row>(next, 127); });
}

void self_test() {
  expect_stop("another bit in a result", [] { encode(3000, {1234, true}); });
  expect_stop("another byte before the workspace", [] { encode(3000, {1234, false}); });
  expect_stop("a write to the weights", [] {
    object<encoder::weights> w;
    w.forbid_writing();
    draw(*new lcg, w.value().norm1.gamma);
  });
}

}  // namespace

int main() {
  self_test();
  encode(passes, {});
  encode_integers(passes);
  decode_floats(passes);
  decode_integers(passes);
  std::printf("%d passes and %d steps, twice: the same bits\n", passes, passes);
  return 0;
}
