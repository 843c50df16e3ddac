// SPDX-License-Identifier: BSL-1.0
// The multi-head attention of "Dive into Deep Learning" (d2l.ai), its masked softmax, and its
// functions that fold heads into the batch and back (in its PyTorch and Java editions), which here
// are views. The book's code gives the same numbers (tools/golden_examples.py).
#include <cstdio>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;
// A query without keys to attend to: the book returns the mean of all values (Umbel's default:
// zeros).
using attention = multi_head_attention<float, hidden<100>, heads<5>, empty_rows<uniform_weights>>;

// transpose_qkv and transpose_output. The book moves every number twice; views move none.
constexpr auto split_heads = [](const auto& x) {
  return x | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim>;
};
constexpr auto merge_heads = [](const auto& x) {
  return x | permute<batch, query, heads, head_dim> | merge<heads, head_dim, hidden>;
};

static float random_number() {
  static unsigned state = 1;
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
  static queries x;
  static context y;
  tensor<float, batch<2>, query<2>, key<4>> scores{};
  for (auto* map : {&w.q, &w.k, &w.v, &w.o})
    for (float& f : map->weight) f = random_number() / 8;
  for (float& f : x) f = random_number();
  for (float& f : y) f = random_number();
  for (float& f : scores) f = random_number();

  // One length per sequence, or one per query.
  const tensor<int, batch<2>> lens{2, 3};
  const tensor<int, batch<2>, query<2>> lens_by_query{1, 3, 2, 4};
  print("masked_softmax", softmax<key>(mask_after<key>(scores, lens)));
  print("masked_softmax by query", softmax<key>(mask_after<key>(scores, lens_by_query)));

  const attention attend{w};
  const tensor<int, batch<2>> valid_lens{3, 2};
  print("attention", attend(x, y, y, valid_lens));
  print("attention by query",
        attend(x, y, y, tensor<int, batch<2>, query<4>>{1, 2, 3, 4, 6, 5, 0, 3}));
  print("attention without keys", attend(x, y, y, tensor<int, batch<2>>{0, 2}));

  // The book's dropout of 0.5, as in training. The seed alone determines which weights are dropped.
  print("attention in training", attend(x, y, y, valid_lens & dropout(0.5, 1)));

  const auto by_head = split_heads(x);  // (batch, heads, query, head_dim)
  const auto back = merge_heads(by_head);
  const bool same_memory = back.data() == x.data() && back == x;
  std::printf("heads split and merged in place: %s\n", same_memory ? "yes" : "no");
  return same_memory && by_head(1, 4, 3, 19) == x(1, 3, 99) ? 0 : 1;
}
