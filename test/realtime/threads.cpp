// SPDX-License-Identifier: BSL-1.0
// Executors with real threads, and threads that share layers, weights, tables and masks but not
// workspaces, caches and samplers: the bits of one thread, round after round. checked.py runs it
// with the thread sanitizer. With an argument, two threads write one number.
#include <umbel/bare.hpp>
#include <umbel/decode/sample.hpp>
#include <umbel/quantized.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "../../examples/thread_pool.hpp"
#include "../support/quantized.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using umbel_test::draw;
using umbel_test::draw_decoder;
using umbel_test::draw_encoder;
using umbel_test::drawn;
using umbel_test::drawn_weights;
using umbel_test::lcg;

using layer = multi_head_attention<float, hidden<24>, heads<3>, rope<split_halves>, bias<true>>;
using tokens = tensor<float, batch<3>, token<17>, hidden<24>>;

template <class X>
void expect_same(const X& out, const X& wanted, const char* what) {
  if (std::memcmp(out.data(), wanted.data(), sizeof(X)) == 0) return;
  std::printf("%s: other bits\n", what);
  std::exit(1);
}

template <class F>
void in_three_threads(F f) {
  std::thread one(f), two(f), three(f);
  one.join(), two.join(), three.join();
}

// A language model whose weights all threads read, each with a cache and a sampler of its own.
namespace language_model {
using words = embedding<float, vocabulary<20>, hidden<24>>;
using block = encoder_layer<float, hidden<24>, heads<3>, intermediate<40>, norm_first<true>,
                            norm_by<rms_norm>, norm_epsilon<1, 100'000>, activation<silu>,
                            gated<true>, bias<false>, rope<adjacent_pairs>>;
using blocks = layer_stack<block, 2>;
using past = key_value_cache<blocks, key<32>, stored_as<bfloat16>>;
using text = tensor<int, token<32>>;

struct weights {
  words::weights table{};
  blocks::weights layers{};
  tensor<float, hidden<24>> gamma{};
};
struct state {
  past memory;
  past::workspace<token<1>> work;
  tensor<float, token<1>, hidden<24>> x;
  tensor<float, token<1>, vocabulary<20>> logits;
  text said;
};

void write(const weights& w, const prepacked<words>& read, const prepacked<blocks>& layers,
           state& own) {
  sampler<float, vocabulary<20>> draw_token{7};
  own.memory.reset();
  int last = 1;
  for (std::size_t i = 0; i < 32; ++i) {
    read.into(own.x, view_as<token<1>>(&last));
    if (!own.memory.step(own.x, layers, own.x, all_keys, own.work)) std::exit(3);
    read.logits_into(own.logits, own.x | rms_norm<float, hidden<24>>{w.gamma, 1e-5f});
    own.said(i) = last = static_cast<int>(draw_token(own.logits, {.top_k = 5}));
  }
}
}  // namespace language_model

void share_a_language_model() {
  using namespace language_model;
  static lcg next{2};
  static weights w;
  draw(next, w.table), draw(next, w.gamma);
  for (auto& layer : w.layers.layers) draw_encoder(next, layer, 0.25, 0.25, 0.125, 0, 1, 0);
  static const prepacked<words> read{w.table};
  static const prepacked<blocks> layers{w.layers};
  static state first;
  write(w, read, layers, first);
  in_three_threads([] {
    static thread_local state own;
    for (int round = 0; round < 10; ++round) {
      write(w, read, layers, own);
      expect_same(own.said, first.said, "threads that share a language model");
    }
  });
}

// Layers of all kinds that borrow or own what the threads share.
void share_weights(const prepacked<layer>& packed, const tokens& x,
                   const tensor<int, batch<3>>& lens, const tokens& wanted) {
  using decoder = decoder_layer<float, hidden<24>, heads<3>, intermediate<40>, norm_first<false>,
                                activation<gelu_exact>, bias<true>>;
  using additive = additive_attention<float, hidden<24>, score_hidden<9>>;
  using memory_type = tensor<float, batch<3>, key<11>, hidden<24>>;
  static lcg next{3};
  static decoder::weights w{};
  draw_decoder(next, w, 0.25, 0.25, 0.125, 0.125, 1, 0.125);
  static const prepacked<decoder, stored_as<bfloat16>> decode{w};
  static additive::weights a{};
  draw(next, a.q.weight), draw(next, a.k.weight);
  draw(next, a.score);
  static const auto memory = drawn<memory_type>(next);
  static const auto biases = drawn<tensor<float, query<17>, key<11>>>(next);
  static const auto table = drawn<tensor<float, token<17>, hidden<24>>>(next);
  static const learned_positions<float, token<17>, hidden<24>> positions{table};
  static const tokens decoded = decode(x | positions, memory, self_mask(causal & lens));
  static const tensor<float, batch<3>, query<17>, hidden<24>> added =
      additive{a}(x | rename_axis<token, query>, memory, memory, score_bias(biases));
  in_three_threads([&] {
    static thread_local layer::workspace<token<17>> own;
    static thread_local decoder::workspace<token<17>, key<11>> own_of_decoder;
    static thread_local tokens y;
    for (int round = 0; round < 20; ++round) {
      packed.into(y, x, lens, own);
      expect_same(y, wanted, "threads that share attention");
      decode.into(y, x | positions, memory, self_mask(causal & lens), own_of_decoder);
      expect_same(y, decoded, "threads that share a decoder layer");
      const tensor<float, batch<3>, query<17>, hidden<24>> sum =
          additive{a}(x | rename_axis<token, query>, memory, memory, score_bias(biases));
      expect_same(sum, added, "threads that share additive attention");
    }
  });
}

// Blocks in integers: by an executor, and by threads that each have a cache.
void share_integers(thread_pool<3>& pool) {
  using block = encoder_layer<float, hidden<24>, heads<3>, intermediate<24>, norm_first<true>,
                              gated<true>, activation<silu>, bias<true>, rope<split_halves>>;
  using blocks = quantized<layer_stack<block, 2>>;
  using sums = tensor<std::int16_t, token<17>, hidden<24>>;
  using past = key_value_cache<blocks, key<17>>;
  static lcg next{4};
  static const auto layers = umbel_test::drawn_quantized<blocks>(next);
  static const auto x = umbel_test::drawn_integers<sums>(next, 20000);
  static const sums wanted = layers(x, causal);
  static blocks::workspace<token<17>> work[3];
  static sums out;
  for (int round = 0; round < 100; ++round) {
    layers.into(out, x, causal, parallel(pool, work));
    expect_same(out, wanted, "integers and an executor");
  }
  in_three_threads([] {
    static thread_local past own;
    static thread_local sums y;
    for (int round = 0; round < 10; ++round) {
      own.reset();
      for (std::size_t t = 0; t < 17; ++t)
        if (!own.step(y | select_at<token>(t) | split<hidden, token<1>, hidden>, layers,
                      x | select_at<token>(t) | split<hidden, token<1>, hidden>))
          std::exit(3);
      expect_same(y, wanted, "threads that share layers in integers");
    }
  });
}

}  // namespace

int main(int count, char**) {
  static lcg next{1};
  static const auto w = drawn_weights<layer>(next);
  static const prepacked<layer> packed{w};
  static const auto x = drawn<tokens>(next, 2);
  static const tensor<int, batch<3>> lens{17, 5, 11};
  static tokens wanted = layer{w}(x, lens);

  if (count > 1) {
    const auto write = [] { wanted(0, 0, 0) += 1; };
    std::thread one(write), other(write);
    one.join(), other.join();
    return 0;
  }

  static layer::workspace<token<17>> work[3];
  static thread_pool<3> pool;
  static tokens out;
  for (int round = 0; round < 200; ++round) {
    layer{w}.into(out, x, lens, parallel(pool, work));
    expect_same(out, wanted, "an executor");
    packed.into(out, x, lens, parallel(pool, work));
    expect_same(out, wanted, "an executor, packed");
  }

  // A formula, of a step that needs what the pieces of another wrote, with a program in its place.
  static constexpr formula block = [](auto x, const auto& w, auto lengths) {
    constexpr auto heads_of = [](auto y) {
      return y | split<hidden, heads<3>, head_dim> | permute<batch, heads, token, head_dim>;
    };
    auto q = heads_of(x * w.q) | rename_axis<token, query>;
    auto k = heads_of(x * w.k) | rename_axis<token, key>;
    auto v = heads_of(x * w.v) | rename_axis<token, key>;
    auto scores = hide(contract<head_dim>(q, k) * 0.25f, position<key> >= lengths);
    auto context = contract<key>(softmax<key>(scores), v) | rename_axis<query, token>;
    return x + silu((context | permute<batch, token, heads, head_dim> | contiguous |
                     merge<heads, head_dim, hidden>)*w.o);
  };
  static const layer::weights_view parts = w;
  static workspace_for<decltype(block), tokens, layer::weights_view, tensor<int, batch<3>>> room[3];
  static const tokens formed = block(x, parts, lens, room[0]);
  for (int round = 0; round < 200; ++round) {
    block.into(out, x, parts, lens, parallel(pool, room));
    expect_same(out, formed, "a formula and an executor");
  }

  share_weights(packed, x, lens, wanted);
  share_a_language_model();
  share_integers(pool);
  return 0;
}
