// SPDX-License-Identifier: BSL-1.0
// A million forward passes of an encoder layer, and a million steps of a cache: the bits of the
// first of them every time, whatever the workspace held before. Weights and inputs lie in pages
// that may not be written, the workspace and the result between pages that may not be touched, and
// what is left of their pages is filled with bytes that must stay. Exit code 0 is passing.
#include <umbel/bare.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

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
  object<tokens> x, out;
  draw(next, x.value());
  x.forbid_writing();
  object<encoder::workspace<token<5>>> work;
  const tokens wanted = encoder{w.value()}(x.value(), causal);
  for (int pass = 0; pass < count; ++pass) {
    if (pass % filled_every == 0) fill(work, next);
    if (pass % 2 == 0)
      packed.value().into(out.value(), x.value(), causal, work.value());
    else
      encoder{w.value()}.into(out.value(), x.value(), causal, work.value());
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

// A cache of 16 positions, over and over again.
void decode(int count) {
  using layer = multi_head_attention<float, hidden<8>, heads<2>, kv_heads<1>, rope<adjacent_pairs>>;
  using past = key_value_cache<layer, key<16>>;
  using row = tensor<float, token<1>, hidden<8>>;
  constexpr int positions = 16;
  lcg next{2};
  object<layer::weights> w;
  new (w.data) layer::weights(drawn_weights<layer>(next));
  w.forbid_writing();
  object<past> cache;
  new (cache.data) past;
  object<past::workspace<token<1>>> work;
  static row x[positions], wanted[positions], out;
  for (row& each : x) draw(next, each);
  for (int step = 0; step < count; ++step) {
    const int at = step % positions;
    if (at == 0) {
      cache.value().reset();
      fill(work, next);
    }
    row& to = step < positions ? wanted[at] : out;
    if (!cache.value().step(to, layer{w.value()}, x[at], all_keys, work.value()))
      fail("the cache is full", step);
    if (step >= positions && std::memcmp(&out, &wanted[at], sizeof out) != 0)
      fail("other bits of a step", step);
    if (step % looked_at_every == 0 && !(work.intact() && cache.intact()))
      fail("a byte beside the workspace or the cache has changed", step);
  }
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
  decode(passes);
  std::printf("%d passes and %d steps: the same bits\n", passes, passes);
  return 0;
}
