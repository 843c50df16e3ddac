// SPDX-License-Identifier: BSL-1.0
// Self-attention as in Haiku's tutorials: 2 sequences of 12 tokens, a mask (batch, 1, token) that
// is true for valid tokens, and two results, the output and the attention weights. Once with the
// layer, once by hand. Haiku's arithmetic in PyTorch gives the same numbers
// (tools/golden_examples.py).
#include <cstdio>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using tokens = tensor<float, batch<2>, token<12>, hidden<64>>;
using token_mask = tensor<bool, batch<2>, query<1>, key<12>>;  // one row for all queries
// Haiku's projections have a bias, and store (in, out) like Umbel: parameters are copied unchanged.
using attention =
    multi_head_attention<float, hidden<64>, heads<8>, bias<true>, empty_rows<uniform_weights>>;

struct output_and_weights {
  tokens output;
  tensor<float, batch<2>, heads<8>, query<12>, key<12>> weights;
};

static output_and_weights attend(const attention::weights& w, const tokens& x,
                                 const token_mask& mask) {
  output_and_weights both;
  both.output = attention{w}(x, keep_mask(mask) & observe(both.weights));
  return both;
}

static output_and_weights attend_by_hand(const attention::weights& w, const tokens& x,
                                         const token_mask& mask) {
  const auto asking = x | rename_axis<token, query>;
  const auto looked_at = x | rename_axis<token, key>;
  auto q =
      asking * w.q | split<hidden, heads<8>, head_dim> | permute<batch, heads, query, head_dim>;
  auto k = looked_at * w.k | split<hidden, heads<8>, head_dim>;
  auto v = looked_at * w.v | split<hidden, heads<8>, head_dim>;
  auto logits = contract<head_dim>(q, k) * detail::simd::rsqrt(8.0f);  // batch, heads, query, key
  for_each([](float& logit, bool keep) { logit = keep ? logit : -1e30f; }, logits,
           mask | select_at<query, 0> | broadcast<batch<2>, heads<8>, query<12>, key<12>>);
  auto weights = softmax<key>(logits);
  auto out = contract<key>(weights, v) | permute<batch, query, heads, head_dim> | contiguous |
             merge<heads, head_dim, hidden>;
  return {out * w.o | rename_axis<query, token>, weights};
}

static float random_number() {
  static unsigned state = 2;
  state = state * 1664525u + 1013904223u;
  return static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
}

// 8 elements, evenly chosen from first to last.
static void print(const char* what, const auto& x) {
  std::printf("%s:", what);
  constexpr std::size_t count = std::remove_cvref_t<decltype(x)>::layout::count;
  for (std::size_t i = 0; i < 8; ++i)
    std::printf(" %.6f", static_cast<double>(x.data()[i * (count - 1) / 7]));
  std::printf("\n");
}

int main() {
  static attention::weights w;
  static tokens x;
  for (auto* map : {&w.q, &w.k, &w.v, &w.o}) {
    for (float& f : map->weight) f = random_number() / 4;
    for (float& f : map->bias) f = random_number() / 8;
  }
  for (float& f : x) f = random_number();
  token_mask mask{};
  for (std::size_t j = 0; j < 12; ++j) {
    mask(0, 0, j) = j < 9;       // 9 tokens and padding
    mask(1, 0, j) = j % 4 != 3;  // any pattern
  }

  static output_and_weights result, by_hand;
  result = attend(w, x, mask);
  by_hand = attend_by_hand(w, x, mask);
  print("output", result.output);
  print("weights", result.weights);

  float worst = 0;
  const auto compare = [&](float a, float b) {
    worst = detail::simd::larger(detail::simd::larger(a - b, b - a), worst);
  };
  for_each(compare, result.output, by_hand.output);
  for_each(compare, result.weights, by_hand.weights);
  return worst < 1e-6f ? 0 : 1;
}
