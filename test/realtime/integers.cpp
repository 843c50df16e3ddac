// SPDX-License-Identifier: BSL-1.0
// Layers in integers in a real-time thread (layers.cpp says what that asks for), their caches and
// their packing, too.
#include <umbel/quantized.hpp>

#include "../../examples/thread_pool.hpp"
#include "../support/executors.hpp"
#include "../support/quantized.hpp"
#include "pass.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;
using namespace realtime;

template <class T, std::size_t Tokens, std::size_t Batch = 2>
using integers = tensor<T, batch<Batch>, token<Tokens>, hidden<32>>;
// A quarter of what int16 holds: below it a residual sum is not cut.
constexpr double moderate = 8000;

void check_attention() {
  using layer = multi_head_attention<float, hidden<32>, heads<4>, kv_heads<2>, head_dim<7>,
                                     rope<split_halves, 10000, 4>, bias<true>>;
  using queries = tensor<std::int8_t, batch<2>, query<5>, hidden<32>>;
  using keys = tensor<std::int8_t, batch<2>, key<9>, hidden<32>>;
  static lcg next{1};
  static const auto attend = drawn_quantized<quantized<layer>>(next);
  static const auto wide =
      drawn_quantized<quantized<layer, output_as<std::int16_t>, softmax_as<std::int16_t>>>(next);
  static const auto x = drawn_integers<integers<std::int8_t, 9>>(next, 127);
  static const auto q = drawn_integers<queries>(next, 127);
  static const auto k = drawn_integers<keys>(next, 127);
  static const tensor<int, batch<2>> lens{9, 3};
  static const tensor<bool, query<5>, key<9>> kept{};
  static workspace_for<decltype(attend), decltype(x)> work[2];
  static decltype(wide)::workspace<query<5>, key<9>> work_of_two;
  static integers<std::int8_t, 9> out;
  static tensor<std::int16_t, batch<2>, query<5>, hidden<32>> sums;
  static shuffled<2> one_thread;
  static thread_pool<2> pool;
  group("attention in integers");
  check("layer", sizeof work[0] + sizeof out, [] { out = attend(x, lens); });
  check("layer, into", vectors_of_a_mask, [] { attend.into(out, x, causal, work[0]); });
  check("of keys and values, weights of 16 bits", vectors_of_six_masks, [] {
    wide.into(sums, q, k, k, lens & keep_mask(kept) & sliding_window_at<5>(4), work_of_two);
  });
  check("by an executor", vectors_of_a_mask,
        [] { attend.into(out, x, lens, parallel(one_thread, work)); });
  check("by an executor, rows left out", 0,
        [] { attend.into(out, x, valid_rows(lens), parallel(one_thread, work)); });
  check<threads::several>("by threads", vectors_of_a_mask,
                          [] { attend.into(out, x, lens, parallel(pool, work)); });
}

template <class Block>
struct model {
  using layers = quantized<layer_stack<Block, 2>>;
  lcg next{2};
  layers both = drawn_quantized<layers>(next);
  integers<std::int16_t, 9> x = drawn_integers<integers<std::int16_t, 9>>(next, moderate), out{};
  tensor<std::int16_t, token<1>, hidden<32>> step{};
};
using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<32>, norm_first<true>,
                              norm_by<rms_norm>, norm_epsilon<1, 100'000>, activation<silu>,
                              gated<true>, bias<false>, rope<adjacent_pairs>>;
using decoder = decoder_layer<float, hidden<32>, heads<4>, intermediate<32>, norm_first<false>,
                              activation<gelu_exact>, bias<true>>;

void check_encoders() {
  static model<encoder> m;
  using layers = decltype(m.both);
  static layers::workspace<token<9>> work[2];
  static shuffled<2> executor;
  static key_value_cache<layers, key<64>, longest_sequence<2000>> past;
  static decltype(past)::workspace<token<1>> work_of_step;
  group("two encoder layers in integers");
  constexpr std::size_t vectors = vectors_of_a_mask + vectors_of_a_norm;
  check("by value", sizeof work[0] + sizeof m.out + vectors, [] { m.out = m.both(m.x); });
  check("into", vectors, [] { m.both.into(m.out, m.x, causal, work[0]); });
  check("by an executor", vectors,
        [] { m.both.into(m.out, m.x, all_keys, parallel(executor, work)); });
  check("500 steps of a sliding cache", vectors, [] {
    past.reset();
    for (int i = 0; i < 500; ++i) (void)past.step(m.step, m.both, m.step, all_keys, work_of_step);
  });
  check("a step, workspace on the stack", sizeof work_of_step + vectors, [] {
    past.reset();
    (void)past.step(m.step, m.both, m.step);
  });
}

void check_decoders() {
  static model<decoder> m;
  using layers = decltype(m.both);
  static const auto memory = drawn_integers<integers<std::int8_t, 9>>(m.next, 127);
  static const auto one = drawn_integers<tensor<std::int8_t, key<9>, hidden<32>>>(m.next, 127);
  static const tensor<int, batch<2>> lens{9, 4};
  static layers::workspace<token<9>, token<9>> work;
  static key_value_cache<layers, key<16>, longest_memory<9>> past;
  static decltype(past)::workspace<token<1>> work_of_step;
  group("two decoder layers in integers");
  constexpr std::size_t vectors = vectors_of_six_masks + vectors_of_a_norm;
  check("by value", sizeof work + sizeof m.out + vectors,
        [] { m.out = m.both(m.x, memory, self_mask(causal)); });
  check("into", vectors,
        [] { m.both.into(m.out, m.x, memory, lens, self_mask(causal & lens), work); });
  check("16 steps of a cache", vectors, [] {
    past.attend_to(m.both, one);
    for (int i = 0; i < 16; ++i) (void)past.step(m.step, m.both, m.step, all_keys, work_of_step);
  });
}

// What stands before, between and behind the blocks.
using network =
    feed_forward<float, hidden<32>, intermediate<32>, gated<true>, activation<silu>, bias<true>>;
using last = linear<float, hidden<32>, classes<10>, bias<true>>;
struct named_weights {
  static constexpr const char* part_names[] = {"feed", "head"};
  network::weights feed;
  last::weights head;
};
struct named_ranges {
  static constexpr const char* part_names[] = {"feed", "pool", "head"};
  quantized<network>::ranges feed;
  quantized_mean<token<9>>::ranges pool;
  quantized<last>::ranges head;
};
void check_words() {
  using words = embedding<float, vocabulary<20>, hidden<32>>;
  using learned = learned_positions<float, token<9>, hidden<32>>;
  using sinusoids = sinusoidal_positions<float, token<20>, hidden<32>, split_halves>;
  using residual = integers<std::int16_t, 9>;
  static lcg next{3};
  static quantized<words> read;
  static quantized<learned> place;
  static quantized<sinusoids> wave;
  static quantized<layer_norm<float, hidden<32>>> norm;
  static quantized<rms_norm<float, hidden<32>>> rms;
  static quantized<network> feed;
  static quantized<last> classify;
  static quantized_mean<token<9>> pooling;
  static const auto table = drawn<words::weights>(next);
  static const auto positions = drawn<learned::weights>(next);
  static layer_norm<float, hidden<32>>::weights norm_weights{};
  static network::weights network_weights{};
  static last::weights head_weights{};
  draw(next, norm_weights.gamma), draw(next, head_weights.weight);
  draw_feed_forward(next, network_weights, 0.25, 0.25, 0.1);
  static const tensor<int, batch<2>, token<9>> ids{3, 1, 4, 1, 5,  9, 2, 6,  -5,
                                                   3, 5, 8, 9, 19, 0, 7, 20, 99};
  static const auto sample = drawn<tensor<float, batch<2>, token<9>, hidden<32>>>(next);

  static struct {
    quantized<words>::ranges read;
    quantized<learned>::ranges place;
    quantized<sinusoids>::ranges wave;
    quantized<layer_norm<float, hidden<32>>>::ranges norm;
    quantized<rms_norm<float, hidden<32>>>::ranges rms;
    quantized<network>::ranges feed;
    decltype(pooling)::ranges pool;
    quantized<last>::ranges head;
  } seen;
  static quantized<network>::histograms counted;
  group("packing of words in integers");
  // Results and copies of arguments, and what is in a network.
  constexpr std::size_t inside = 2 * sizeof(tensor<float, batch<2>, token<9>, intermediate<32>>);
  check("calibrate", 8 * sizeof sample + inside, [] {
    const auto x = quantized<words>::calibrate(seen.read, table, ids);
    const auto y = quantized<learned>::calibrate(seen.place, positions, x);
    const auto z = quantized<sinusoids>::calibrate(seen.wave, y, 2);
    const auto normed =
        quantized<layer_norm<float, hidden<32>>>::calibrate(seen.norm, norm_weights, z, 1e-5F);
    (void)quantized<rms_norm<float, hidden<32>>>::calibrate(seen.rms, norm_weights.gamma, z, 1e-5F);
    const auto fed = quantized<network>::calibrate(counted, network_weights, normed);
    take_percentile(seen.feed, counted, 99.9);
    const magnitude_histogram& gates = counted.gate;
    seen.feed.gate() = gates.percentile(100);
    (void)quantized<last>::calibrate(seen.head, head_weights,
                                     decltype(pooling)::calibrate(seen.pool, fed));
  });
  static bool chained = false;
  check("ranges", 0, [] {
    same_range(seen.norm.output, seen.rms.output);
    chain_ranges(seen.read, seen.place, seen.wave, seen.norm, seen.feed, seen.pool, seen.head);
    same_range(seen.rms.input, seen.norm.input);
    chained =
        are_chained(seen.read, seen.place, seen.wave, seen.norm, seen.feed, seen.pool, seen.head);
  });
  static bool packed = false;
  const auto pack = [] {
    const pack_result all[] = {read.pack(table, seen.read),
                               place.pack(positions, seen.place),
                               wave.pack(seen.wave),
                               norm.pack(norm_weights, seen.norm, 1e-5F),
                               rms.pack(norm_weights.gamma, seen.rms, 1e-5F),
                               feed.pack(network_weights, seen.feed),
                               pooling.pack(seen.pool),
                               classify.pack(head_weights, seen.head)};
    packed = true;
    for (const pack_result& one : all) packed = packed && one;
  };
  check("pack", 2 * 8 * sizeof(pack_result), pack);
  static struct {
    quantized<network> feed;
    decltype(pooling) pool;
    quantized<last> head;
  } model;
  static const named_weights weights{network_weights, head_weights};
  static const named_ranges ranges{seen.feed, seen.pool, seen.head};
  static bool all_packed = false;
  check("pack_model", 6 * sizeof(pack_result),
        [] { all_packed = static_cast<bool>(pack_model(model, weights, ranges)); });
  report("the model", all_packed, "a range is missing, or differs from the one before");
  report("all of them", chained && packed, "a range is missing, or not that of its neighbour");

  static residual x, sum;
  static integers<std::int8_t, 9> y;
  static tensor<std::int8_t, batch<2>, hidden<32>> pooled;
  static tensor<std::int8_t, batch<2>, classes<10>> logits;
  static tensor<float, batch<2>, classes<10>> answer;
  static quantized<network>::workspace<token<9>> work;
  group("words in integers");
  check("into", vectors_of_a_norm, [] {
    read.into(x, ids), place.into(x, x), wave.into(sum, x, 3);
    rms.into(y, sum), norm.into(y, sum), feed.into(y, y, work);
    pooling.into(pooled, y), classify.into(logits, pooled);
  });
  // The results of the steps may all be alive at once.
  check("by value", 6 * sizeof(residual) + sizeof work + vectors_of_a_norm,
        [] { logits = wave(read(ids) | place) | norm | feed | pooling | classify; });
  check("quantize, dequantize", sizeof x + sizeof answer, [] {
    x = quantize<std::int16_t>(sample, seen.read.residual);
    answer = dequantize(logits, seen.head.output);
  });
}

}  // namespace

void realtime::check_integers() {
  check_attention();
  check_encoders();
  check_decoders();
  check_words();
}
