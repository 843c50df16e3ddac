// SPDX-License-Identifier: BSL-1.0
// A step of learning: forward, loss and all gradients of a multi-head attention, batch, tokens,
// hidden, heads, and of the demo's classifier for one picture. Operations: those of the forward
// pass and, backward, twice those of its linear maps and 5 / 2 of its attention, whose scores are
// computed again. Beside them the forward pass of inference.
#include <umbel/training.hpp>

#include "../measure.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct patch : axis<patch, N> {};
template <std::size_t N>
struct pixel : axis<pixel, N> {};

template <class W>
void fill_weights(W& w, float scale) {
  for_each_parameter(w, [&](const parameter_path&, auto x) { bench::fill(x, scale); });
}

template <std::size_t Batch, std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
void add_attention() {
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>, bias<true>>;
  using sequences = tensor<float, batch<Batch>, token<Tokens>, hidden<Hidden>>;
  static constexpr formula loss = [](auto x, auto dy, const auto& w) {
    return sum<batch, token, hidden>(attention{w}(x)*dy);
  };
  static constexpr gradient learn{loss};
  static typename attention::weights w, g;
  static sequences x, dx, dy, y;
  static workspace_for<decltype(learn), differentiated<sequences>, sequences,
                       differentiated<typename attention::weights>>
      work;
  static typename attention::template workspace<token<Tokens>> forward_work;
  fill_weights(w, 1 / static_cast<float>(Hidden));
  bench::fill(x, 1);
  bench::fill(dy, 1);
  constexpr double maps = 8.0 * Batch * Tokens * Hidden * Hidden;
  constexpr double attend = 4.0 * Batch * Tokens * Tokens * Hidden;
  const auto name = [&](const char* what) {
    return bench::row_name(what, {Batch, Tokens, Hidden, Heads}, ',');
  };
  bench::add_row(name("learn/forward"), maps + attend,
                 [] { attention{w}.into(y, x, all_keys, forward_work); });
  bench::add_row(name("learn/attention"), 3 * maps + 3.5 * attend, [] {
    benchmark::DoNotOptimize(learn(with_gradient(x, dx), dy, with_gradient(w, g), work));
  });
}

using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                              activation<gelu_exact>, bias<true>>;
using stack = layer_stack<encoder, 2>;
using embed = linear<float, pixel<16>, hidden<32>, bias<true>>;
using positions = learned_positions<float, patch<49>, hidden<32>>;
using last_norm = layer_norm<float, hidden<32>>;
using classifier = linear<float, hidden<32>, classes<10>, bias<true>>;
struct clothing {
  static constexpr const char* part_names[] = {"embed", "positions", "layers", "norm", "classify"};
  embed::weights patches;
  positions::weights table;
  stack::weights layers;
  last_norm::weights norm;
  classifier::weights classify;
};
constexpr formula logits_of = [](auto x, const auto& w) {
  const auto y = stack{w.layers}(positions{w.table}(x * w.patches));
  return (last_norm{w.norm}(y) | mean<patch>)*w.classify;
};
constexpr formula clothing_loss = [](auto x, auto label, const auto& w) {
  return cross_entropy<classes, label_smoothing<1, 20>>(logits_of(x, w), label);
};

void add_clothing() {
  using picture = tensor<float, patch<49>, pixel<16>>;
  static constexpr gradient learn{clothing_loss};
  static clothing w, g;
  static picture x;
  static tensor<int> label{3};
  static workspace_for<decltype(learn), picture, tensor<int>, differentiated<clothing>> work;
  static workspace_for<decltype(logits_of), picture, clothing> forward_work;
  fill_weights(w, 0.2f);
  bench::fill(x, 1);
  constexpr double maps = 2.0 * 49 * (16 * 32 + 2 * (4 * 32 * 32 + 2 * 32 * 64)) + 2.0 * 32 * 10;
  constexpr double attend = 2 * 4.0 * 49 * 49 * 32;
  bench::add_row("learn/clothing forward", maps + attend,
                 [] { benchmark::DoNotOptimize(logits_of(x, w, forward_work)); });
  bench::add_row("learn/clothing", 3 * maps + 3.5 * attend,
                 [] { benchmark::DoNotOptimize(learn(x, label, with_gradient(w, g), work)); });
}

const bool added = [] {
  add_attention<1, 16, 32, 2>();
  add_attention<1, 49, 32, 4>();
  add_attention<1, 64, 64, 4>();
  add_attention<1, 128, 256, 8>();
  add_attention<8, 128, 256, 8>();
  add_clothing();
  return true;
}();

}  // namespace
