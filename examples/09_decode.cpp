// SPDX-License-Identifier: BSL-1.0
// Decoding step by step: a prompt at once, then token by token, with the keys and values so far in
// a cache of constant size. Every step gives the bits of the whole causal pass, whose cost grows
// with every token.
#include <umbel/umbel.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace umbel;
using namespace umbel::axes;

// Grouped heads, rotary positions: what a small language model has.
using attention =
    multi_head_attention<float, hidden<64>, heads<8>, kv_heads<2>, rope<split_halves>>;
using prompt = tensor<float, token<12>, hidden<64>>;
using one = tensor<float, token<1>, hidden<64>>;
using all = tensor<float, token<40>, hidden<64>>;

static attention::weights w;
static all sequence;
static key_value_cache<attention, key<40>> past;
static key_value_cache<attention, key<16>, longest_sequence<1000>> window;  // sees the last 16

template <class X>
static void fill(X& x, std::size_t count, float scale) {
  for (std::size_t i = 0; i < count; ++i) x[i] = scale * std::sin(static_cast<float>(i * i % 1009));
}

int main() {
  fill(w.q.weight, 64 * 64, 0.3f), fill(w.k.weight, 64 * 16, 0.2f);
  fill(w.v.weight, 64 * 16, 0.2f), fill(w.o.weight, 64 * 64, 0.1f);
  const prepacked<attention> attend{w};

  prompt first;
  float* const rows = first.data();
  fill(rows, 12 * 64, 1);
  prompt answers;
  if (!past.step(answers, attend, first)) return 1;
  std::memcpy(sequence.data(), first.data(), sizeof(first));

  // The next token is what attention gave for the last one, squashed.
  one now, out;
  for (std::size_t d = 0; d < 64; ++d) out(0, d) = answers(11, d);
  while (past.size() < 40) {
    for (std::size_t d = 0; d < 64; ++d)
      sequence(past.size(), d) = now(0, d) = std::tanh(3 * out(0, d));
    if (!past.step(out, attend, now)) return 1;
  }

  const all whole = attend(sequence, causal);
  std::size_t equal = 0;
  for (std::size_t d = 0; d < 64; ++d) equal += whole(39, d) == out(0, d);
  std::printf("token 40, step by step and in the whole pass: %zu of 64 features the same bits\n",
              equal);

  // Full is full: nothing changes, and going back is free.
  const bool fits = past.step(out, attend, now);
  std::printf("a step past the capacity: %s; the cache has %zu positions\n", fits ? "yes" : "no",
              past.size());
  past.rewind(12);
  std::printf("back to the prompt: %zu positions\n", past.size());

  // A window goes on for as long as rotary positions were promised.
  std::size_t steps = 0;
  while (window.step(out, attend, now)) ++steps;
  std::printf("a window of 16 in %zu bytes: %zu steps\n", sizeof(window), steps);
  return equal == 64 && !fits && steps == 1000 ? 0 : 1;
}
