// SPDX-License-Identifier: BSL-1.0
// The same layer by hand, one checked step per line, as a formula. It is traced at compile time;
// split, permute and merge move no element; no scores are stored; the result has the layer's bits.
// Called with tensors instead, the same operations run one after another: step_by_step.
#include <cstdio>
#include <cstring>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;
using namespace umbel::literals;  // 5_c, a Boost.Hana integral constant

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;
using attention = multi_head_attention<float, hidden<100>, heads<5>>;

static attention::weights w;

constexpr formula attend_by_hand = [](auto x, auto y, auto valid_lens, const auto& w) {
  auto q = x * w.q | split<hidden, heads<5_c>, head_dim> | permute<batch, heads, query, head_dim>;
  auto k = y * w.k | split<hidden, heads<5>, head_dim> | permute<batch, heads, key, head_dim>;
  auto v = y * w.v | split<hidden, heads<5>, head_dim> | permute<batch, heads, key, head_dim>;

  auto scores = contract<head_dim>(q, k) * rsqrt(20.0f);  // batch, heads, query, key
  auto weights = softmax<key>(hide(scores, position<key> >= valid_lens));  // 0 past valid_lens
  auto out = contract<key>(weights, v)                 // batch, heads, query, head_dim
             | permute<batch, query, heads, head_dim>  // a different order of the same elements
             | contiguous                              // in which they are written
             | merge<heads, head_dim, hidden>;
  return out * w.o;
};

// On named tensors split and permute return views, on temporaries tensors that own their elements;
// neither moves an element in memory.
static queries step_by_step(const queries& x, const context& y,
                            const tensor<int, batch<2>>& valid_lens) {
  auto q = x * w.q | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim>;
  auto k = y * w.k | split<hidden, heads<5>, head_dim> | permute<batch, heads, key, head_dim>;
  auto v = y * w.v | split<hidden, heads<5>, head_dim> | permute<batch, heads, key, head_dim>;
  auto weights = softmax<key>(mask_after<key>(contract<head_dim>(q, k) * rsqrt(20.0f), valid_lens));
  auto out = contract<key>(weights, v) | permute<batch, query, heads, head_dim> | contiguous;
  return (out | merge<heads, head_dim, hidden>)*w.o;
}

// Every step has a concept, to ask first.
static_assert(splittable<queries, hidden, heads<5>>);
static_assert(!splittable<queries, hidden, heads<7>>);
static_assert(attends<attention, queries, context, context>);
static_assert(!attends<attention, context, queries, queries>);

static float random_number() {
  static unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  return static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
}

int main() {
  static queries x;
  static context y;
  for (auto* map : {&w.q, &w.k, &w.v, &w.o})
    for (float& f : map->weight) f = random_number() / 8;
  for (float& f : x) f = random_number();
  for (float& f : y) f = random_number();
  constexpr tensor<int, batch<2>> valid_lens{3, 2};

  const queries one_call = attention{w}(x, y, y, valid_lens);
  const queries by_hand = attend_by_hand(x, y, valid_lens, w);
  const bool same_bits = std::memcmp(one_call.data(), by_hand.data(), sizeof one_call) == 0;
  float worst = 0;
  for_each(
      [&](float a, float b) {
        worst = detail::simd::larger(detail::simd::larger(a - b, b - a), worst);
      },
      one_call, step_by_step(x, y, valid_lens));
  std::printf("the formula has the bits of the layer: %s\n", same_bits ? "yes" : "no");
  std::printf("largest difference of the steps one after another: %g\n",
              static_cast<double>(worst));
  return same_bits && worst < 1e-6f ? 0 : 1;
}
