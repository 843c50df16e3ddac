// SPDX-License-Identifier: BSL-1.0
// A forward pass in a real-time thread: nothing is allocated or released, no lock is taken, no
// system call is made, and the stack stays within what the types say: the workspace, where it is
// not passed, the result where it is returned, and `frames` bytes for the functions themselves.
#include <sched.h>
#include <umbel/umbel.hpp>

#include <cstdio>
#include <memory>
#include <mutex>

#include "../../examples/thread_pool.hpp"
#include "../support/executors.hpp"
#include "../support/random.hpp"
#include "traps.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

// Return addresses, saved registers and spilled vectors of the functions on the way down.
constexpr std::size_t frames = 2048;
// Unoptimised, every intermediate vector has a place of its own in a frame: as many as this.
constexpr std::size_t unoptimized_frames = 8192 + 1024 * UMBEL_VECTOR_BYTES;
// More of them where masks are at work, whatever the sizes: clang spills some thirty vectors of a
// block of scores; each part of a mask holds a few of its own.
constexpr std::size_t vectors_of_a_mask = 1024, vectors_of_six_masks = 4096;

int failures = 0;

void expect(bool right, const char* what, std::size_t got, std::size_t wanted) {
  if (right) return;
  ++failures;
  std::printf("%s: %zu, wanted at most %zu\n", what, got, wanted);
}

// f: one forward pass. expected: bytes of workspace and result that are on the stack. Alone: by no
// other threads, which a child does not have.
template <bool Alone = true, class F>
void check(const char* name, std::size_t expected, F f) {
  f();  // the first call of memcpy goes through the dynamic linker
  realtime::arm();
  for (int i = 0; i < 3; ++i) f();
  const realtime::counts seen = realtime::disarm();
  if (realtime::trapped) {
    expect(seen.allocations == 0, name, seen.allocations, 0);
    expect(seen.releases == 0, name, seen.releases, 0);
    expect(seen.locks == 0, name, seen.locks, 0);
  }
  if constexpr (Alone) {
    const bool calls = realtime::system_calls_of(f) == realtime::system_calls::some;
    expect(!calls, name, calls, 0);
  }
  const std::size_t used = realtime::stack_of(f);
  std::printf("%-44s stack %6zu, of which workspace and result %6zu\n", name, used, expected);
  if (!realtime::stack_is_meant) return;
  const std::size_t allowed = expected + (realtime::optimized ? frames : unoptimized_frames);
  expect(used <= allowed, name, used, allowed);
}

// Do the traps see what they should see?
void self_test() {
  static void* volatile kept;
  static std::mutex mutex;
  realtime::arm();
  kept = ::operator new(8);
  ::operator delete(kept);
  kept = std::malloc(8);
  std::free(kept);
  kept = std::calloc(1, 8);
  kept = std::realloc(kept, 99);
  std::free(kept);
  kept = std::aligned_alloc(64, 64);
  std::free(kept);
  mutex.lock();
  mutex.unlock();
  const realtime::counts seen = realtime::disarm();
  if (realtime::trapped && (seen.allocations != 5 || seen.releases != 4 || seen.locks != 1)) {
    ++failures;
    std::printf("the traps saw %zu allocations, %zu releases, %zu locks\n", seen.allocations,
                seen.releases, seen.locks);
  }
  using realtime::system_calls;
  const system_calls of_nothing = realtime::system_calls_of([] {});
  const system_calls of_a_call = realtime::system_calls_of([] { ::sched_yield(); });
  if (of_nothing == system_calls::unknown) {
    std::printf("system calls are not trapped here\n");
  } else if (of_nothing != system_calls::none || of_a_call != system_calls::some) {
    ++failures;
    std::printf("the trap of system calls saw nothing\n");
  }
  const std::size_t used = realtime::stack_of([] {
    volatile char room[10000];
    for (std::size_t i = 0; i < sizeof room; ++i) room[i] = 1;
  });
  if (realtime::stack_is_meant && (used < 10000 || used > 10000 + frames)) {
    ++failures;
    std::printf("10000 bytes of stack were seen as %zu\n", used);
  }
}

template <std::size_t Queries, std::size_t Keys, std::size_t Hidden, std::size_t Heads>
void check_attention(const char* name) {
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>, bias<true>>;
  using queries = tensor<float, batch<2>, query<Queries>, hidden<Hidden>>;
  using context = tensor<float, batch<2>, key<Keys>, hidden<Hidden>>;
  using workspace = typename attention::template workspace<query<Queries>, key<Keys>>;
  static_assert(sizeof(workspace) <= UMBEL_STACK_BUDGET);
  static lcg next{1};
  static const auto w = drawn_weights<attention>(next);
  static const prepacked<attention> packed{w};
  static const auto x = drawn<queries>(next);
  static const auto y = drawn<context>(next);
  static const tensor<int, batch<2>> lens{3, 2};
  static workspace work;
  static queries out;
  constexpr std::size_t both = sizeof(workspace) + sizeof(queries);

  std::printf("%s\n", name);
  check("  layer", both, [] { out = attention{w}(x, y, y); });
  check("  layer, lengths", both, [] { out = attention{w}(x, y, y, lens); });
  check("  layer, workspace passed", sizeof(queries),
        [] { out = attention{w}(x, y, y, lens, work); });
  check("  layer, into", 0, [] { attention{w}.into(out, x, y, y, all_keys, work); });
  check("  packed", both, [] { out = packed(x, y, y); });
  check("  packed, into", 0, [] { packed.into(out, x, y, y, lens, work); });
  static tensor<float, batch<2>, heads<Heads>, query<Queries>, key<Keys>> weights;
  static const tensor<bool, query<Queries>, key<Keys>> kept{};
  check("  packed, every kind of mask", vectors_of_six_masks, [] {
    packed.into(out, x, y, y,
                causal_bottom_right(lens) & keep_mask(kept) & lens & alibi_bottom_right &
                    dropout(0.1, 7) & observe(weights),
                work);
  });
}

// Of what is packed 256 vectors are on the stack, at most: a depth of 300 is packed in several
// blocks.
void check_contractions() {
  static lcg next{1};
  static const auto q = drawn<tensor<float, query<17>, heads<2>, head_dim<300>>>(next);
  static const auto k = drawn<tensor<float, key<33>, heads<2>, head_dim<300>>>(next);
  static tensor<float, query<17>, heads<2>, key<33>> scores;
  static tensor<float, query<17>, key<33>> sums;
  constexpr std::size_t packed = 256 * (UMBEL_VECTOR_BYTES != 0 ? UMBEL_VECTOR_BYTES : 4);
  std::printf("contractions\n");
  check("  one axis", packed + sizeof scores, [] { scores = contract<head_dim>(q, k); });
  check("  two axes", packed + sizeof sums, [] { sums = contract<heads, head_dim>(q, k); });
}

// Two sequences for two workers and a third in parts; then parts of it by threads that sleep
// between calls.
void check_executors() {
  using attention = multi_head_attention<float, hidden<24>, heads<3>, rope<split_halves>>;
  using tokens = tensor<float, batch<3>, token<37>, hidden<24>>;
  static lcg next{1};
  static const auto w = drawn_weights<attention>(next);
  static const prepacked<attention> packed{w};
  static const auto x = drawn<tokens>(next);
  static attention::workspace<token<37>> work[2];
  static tokens out;
  static shuffled<2> one_thread;
  static thread_pool<2> pool;
  std::printf("attention by an executor\n");
  check("  layer", 0, [] { attention{w}.into(out, x, all_keys, parallel(one_thread, work)); });
  check("  packed", 0, [] { packed.into(out, x, all_keys, parallel(one_thread, work)); });
  check<false>("  packed, threads", 0, [] { packed.into(out, x, all_keys, parallel(pool, work)); });
}

// 500 steps of layers that work on themselves, in a cache that drops the oldest positions.
template <class Layers>
void check_steps(const char* name, const Layers& layers, lcg& next) {
  using past = key_value_cache<typename Layers::layer, key<64>, longest_sequence<2000>>;
  using token = tensor<float, axes::token<1>, hidden<32>>;
  static past memory;
  static typename past::template workspace<axes::token<1>> work;
  static token out;
  const auto x = drawn<token>(next);
  std::printf("key_value_cache of %s, sliding\n", name);
  check("  500 steps", 0, [&] {
    memory.reset();
    for (int i = 0; i < 500; ++i) (void)memory.step(out, layers, x, alibi, work);
  });
  check("  500 steps, workspace on the stack", sizeof(work), [&] {
    memory.reset();
    for (int i = 0; i < 500; ++i) (void)memory.step(out, layers, x);
  });
}

void check_cache() {
  using attention =
      multi_head_attention<float, hidden<32>, heads<4>, kv_heads<2>, rope<split_halves>>;
  static lcg next{1};
  static const auto w = drawn_weights<attention>(next);
  static const prepacked<attention> packed{w};
  check_steps("attention", packed, next);
}

void check_cache_of_blocks() {
  using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, kv_heads<2>,
                                bias<true>, norm_first<true>, activation<silu>, rope<split_halves>>;
  using model = layer_stack<encoder, 2>;
  static lcg next{1};
  static model::weights w{};
  for (auto& layer : w.layers) draw_encoder(next, layer, 0.25, 0.25, 0.125, 0.125, 1, 0.125);
  static const prepacked<model> packed{w};
  check_steps("two encoder layers", packed, next);
}

// Also the projection of the memory.
void check_cache_of_decoders() {
  using decoder = decoder_layer<float, hidden<32>, heads<4>, intermediate<64>, kv_heads<2>,
                                bias<true>, norm_first<true>, activation<silu>, rope<split_halves>>;
  using model = layer_stack<decoder, 2>;
  static lcg next{1};
  static model::weights w{};
  for (auto& layer : w.layers) draw_decoder(next, layer, 0.25, 0.25, 0.125, 0.125, 1, 0.125);
  static const prepacked<model> packed{w};
  using past = key_value_cache<model, key<64>, longest_sequence<2000>, longest_memory<50>>;
  using token = tensor<float, axes::token<1>, hidden<32>>;
  using source = tensor<float, key<50>, hidden<32>>;
  static past memory;
  static past::workspace<axes::token<1>> work;
  static const token x = drawn<token>(next);
  static const source from = drawn<source>(next);
  static token out;
  // One after the other: rows of the memory, steps.
  using rows = key_value_cache<decoder::cross_attention, key<50>>::workspace<key<4>>;
  constexpr std::size_t on_stack = sizeof(work) < sizeof(rows) ? sizeof(rows) : sizeof(work);
  std::printf("key_value_cache of two decoder layers, sliding\n");
  check("  200 steps", 0, [] {
    memory.attend_to(packed, from, work);
    for (int i = 0; i < 200; ++i) (void)memory.step(out, packed, x, self_mask(alibi), work);
  });
  check("  200 steps, workspace on the stack", on_stack, [] {
    memory.attend_to(packed, from);
    for (int i = 0; i < 200; ++i) (void)memory.step(out, packed, x);
  });
}

template <bool NormFirst>
void check_encoder(const char* name) {
  using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, bias<true>,
                                norm_first<NormFirst>, activation<gelu_exact>>;
  using tokens = tensor<float, batch<2>, token<40>, hidden<32>>;
  using workspace = typename encoder::template workspace<token<40>>;
  static_assert(sizeof(workspace) <= UMBEL_STACK_BUDGET);
  static lcg next{1};
  static typename encoder::weights w{};
  draw_encoder(next, w, 0.25, 0.25, 0.125, 0.125, 1, 0.125);
  static const prepacked<encoder> packed{w};
  static const auto x = drawn<tokens>(next);
  static const tensor<int, batch<2>> lens{40, 20};
  static workspace work;
  static tokens out;
  constexpr std::size_t both = sizeof(workspace) + sizeof(tokens);

  std::printf("%s\n", name);
  check("  layer", both, [] { out = encoder{w}(x); });
  check("  layer, lengths, workspace passed", sizeof(tokens),
        [] { out = encoder{w}(x, lens, work); });
  check("  layer, into", 0, [] { encoder{w}.into(out, x, all_keys, work); });
  check("  packed", both, [] { out = packed(x); });
  check("  packed, into", 0, [] { packed.into(out, x, lens, work); });
}

template <bool NormFirst>
void check_decoder(const char* name) {
  using decoder = decoder_layer<float, hidden<32>, heads<4>, intermediate<64>, bias<true>,
                                norm_first<NormFirst>, activation<gelu_exact>>;
  using tokens = tensor<float, batch<2>, token<20>, hidden<32>>;
  using encoded = tensor<float, batch<2>, key<30>, hidden<32>>;
  using workspace = typename decoder::template workspace<token<20>, key<30>>;
  static_assert(sizeof(workspace) <= UMBEL_STACK_BUDGET);
  static lcg next{1};
  static typename decoder::weights w{};
  draw_decoder(next, w, 0.25, 0.25, 0.125, 0.125, 1, 0.125);
  static const prepacked<decoder> packed{w};
  static const auto x = drawn<tokens>(next);
  static const auto memory = drawn<encoded>(next);
  static const tensor<int, batch<2>> lens{30, 20};
  static workspace work;
  static tokens out;
  constexpr std::size_t mask = vectors_of_a_mask;  // the sequence is causal
  constexpr std::size_t both = sizeof(workspace) + sizeof(tokens) + mask;

  std::printf("%s\n", name);
  check("  layer", both, [] { out = decoder{w}(x, memory, self_mask(causal)); });
  check("  layer, masks, workspace passed", sizeof(tokens) + mask,
        [] { out = decoder{w}(x, memory, lens, self_mask(causal & lens), work); });
  check("  layer, into", mask, [] { decoder{w}.into(out, x, memory, self_mask(causal), work); });
  check("  packed", both, [] { out = packed(x, memory, self_mask(causal)); });
  check("  packed, into", mask, [] { packed.into(out, x, memory, lens, self_mask(causal), work); });
}

void check_blocks() {
  using tokens = tensor<float, batch<2>, token<9>, hidden<32>>;
  using map = linear<float, hidden<32>, classes<10>, bias<true>>;
  static lcg next{1};
  static map::weights w{};
  draw(next, w.weight);
  static const prepacked<map> packed{w};
  static const auto x = drawn<tokens>(next);
  static const layer_norm<float, hidden<32>>::weights norm_weights{};
  static const auto table = drawn<tensor<float, token<9>, hidden<32>>>(next);
  static tensor<float, batch<2>, classes<10>> out;
  std::printf("blocks\n");
  // The results of the steps may all be alive at once.
  check("  x | positions | norm | gelu | mean | linear", 4 * sizeof(tokens), [] {
    out = x | learned_positions<float, token<9>, hidden<32>>{table} |
          layer_norm<float, hidden<32>>{norm_weights} | gelu_exact | mean<token> | packed;
  });
  static const sinusoidal_positions<float, token<20>, hidden<32>, adjacent_pairs> sinusoids;
  static const rms_norm<float, hidden<32>> rms{norm_weights.gamma, 1e-6f};
  using network =
      feed_forward<float, hidden<32>, intermediate<64>, gated<true>, activation<silu>, bias<false>>;
  static network::weights network_weights{};
  draw_feed_forward(next, network_weights, 0.25, 0.125, 0);
  check("  x | sinusoids | rms | gated network",
        4 * sizeof(tokens) + sizeof(network::workspace<token<9>>),
        [] { out = sinusoids(x, 3) | rms | network{network_weights} | mean<token> | packed; });
  check("  x | gelu_tanh | relu | silu", 4 * sizeof(tokens),
        [] { out = x | gelu_tanh | relu | silu | mean<token> | packed; });
  using additive = additive_attention<float, hidden<32>, score_hidden<9>>;
  static additive::weights scores{};
  draw(next, scores.q.weight), draw(next, scores.k.weight), draw(next, scores.score);
  static const auto keys = drawn<tensor<float, batch<2>, key<11>, hidden<32>>>(next);
  static const auto values = drawn<tensor<float, batch<2>, key<11>, value_dim<7>>>(next);
  static const auto asking = drawn<tensor<float, batch<2>, query<9>, hidden<32>>>(next);
  static tensor<float, batch<2>, query<9>, value_dim<7>> attended;
  static workspace_for<additive, decltype(asking), decltype(keys), decltype(values)> additive_work;
  check("  additive attention, into", 0,
        [] { additive{scores}.into(attended, asking, keys, values, all_keys, additive_work); });
  static const auto q = drawn<tensor<float, query<9>, head_dim<16>>>(next);
  static const auto k = drawn<tensor<float, key<21>, head_dim<16>>>(next);
  static tensor<float, query<9>, head_dim<16>> context;
  static workspace_for<decltype(scaled_dot_product_attention), decltype(q), decltype(k),
                       decltype(k)>
      dot_work;
  check("  scaled dot product, into", vectors_of_a_mask,
        [] { scaled_dot_product_attention.into(context, q, k, k, causal_bottom_right, dot_work); });
  static const auto wide = drawn<tensor<float, query<37>, key<131>>>(next);
  static tensor<float, query<37>, key<131>> normalized;
  check("  softmax, into", 0, [] { softmax<key>.into(normalized, wide); });
  check("  softmax of a product", 4 * sizeof(out),
        [] { out = softmax<classes>((x | mean<token> | map{w}) * 0.5f); });
}

}  // namespace

int main() {
  self_test();
  check_attention<4, 6, 100, 5>("attention, the d2l book's toy case");
  check_attention<17, 33, 24, 3>("attention, odd sizes");
  check_attention<1, 300, 8, 2>("attention, one query, 300 keys");
  check_encoder<true>("encoder layer, norm first");
  check_encoder<false>("encoder layer, norm last");
  check_decoder<true>("decoder layer, norm first");
  check_decoder<false>("decoder layer, norm last");
  check_contractions();
  check_executors();
  check_cache();
  check_cache_of_blocks();
  check_cache_of_decoders();
  check_blocks();
  return failures == 0 ? 0 : 1;
}
