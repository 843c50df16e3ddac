// SPDX-License-Identifier: BSL-1.0
// The bits of gradients and of learning, as cases.cpp has those of layers: a hash for the gradient
// by each argument and by each parameter. check.py builds it in many ways and compares.
#include <umbel/bare.hpp>

#include <umbel/training.hpp>

#include "../support/random.hpp"
#include "../support/small_training.hpp"
#include "hashes.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace hashes;
using umbel_test::draw;
using umbel_test::drawn;
using umbel_test::lcg;

template <class W>
void draw_weights(lcg& next, W& w) {
  for_each_parameter(w, [&](const parameter_path&, auto x) { draw(next, x, 0.5); });
}
template <class W>
void print_gradients(const char* what, const W& g) {
  for_each_parameter(g, [&](const parameter_path& path, const auto& x) {
    char name[parameter_path::most + 4] = ", ";
    std::memcpy(name + 2, path.c_str(), path.size());
    print(what, name, x);
  });
}

// Grouped heads, rotated, capped; some keys hidden, some weights dropped; a bias.
void attention() {
  using layer = multi_head_attention<float, hidden<24>, heads<4>, kv_heads<2>, bias<true>,
                                     rope<split_halves>, softcap<3>>;
  lcg next{3};
  const auto x = drawn<tensor<float, batch<2>, token<19>, hidden<24>>>(next, 2);
  const auto added = drawn<tensor<float, heads<4>, query<19>, key<19>>>(next, 2);
  tensor<float, batch<2>, token<19>, hidden<24>> dx{};
  tensor<float, heads<4>, query<19>, key<19>> of_added{};
  layer::weights w{}, g{};
  draw_weights(next, w);
  constexpr formula f = [](auto a, auto b, const auto& all, auto lengths) {
    const auto y = layer{all}(a, lengths & causal & score_bias(b) & dropout(0.2, 5));
    return sum<batch, token, hidden>(y * y);
  };
  const tensor<int, batch<2>> lens{17, 0};
  static workspace_for<decltype(gradient{f}), differentiated<decltype(dx)>,
                       differentiated<decltype(of_added)>, differentiated<layer::weights>,
                       tensor<int, batch<2>>>
      work;
  print("attention, loss", "",
        gradient{f}(with_gradient(x, dx), with_gradient(added, of_added), with_gradient(w, g), lens,
                    work));
  print("attention, x", "", dx);
  print("attention, bias", "", of_added);
  print_gradients("attention", g);
}

void additive() {
  using layer = additive_attention<float, hidden<9>, score_hidden<21>, heads<2>, bias<true>>;
  lcg next{5};
  const auto x = drawn<tensor<float, query<7>, hidden<9>>>(next, 2);
  const auto y = drawn<tensor<float, key<19>, hidden<9>>>(next, 2);
  const auto z = drawn<tensor<float, key<19>, value_dim<6>>>(next, 2);
  tensor<float, key<19>, value_dim<6>> dz{};
  layer::weights w{}, g{};
  draw_weights(next, w);
  constexpr formula f = [](auto a, auto b, auto c, const auto& all) {
    const auto o = layer{all}(a, b, c, causal_bottom_right);
    return sum<query, value_dim>(o * o);
  };
  print("additive, loss", "", gradient{f}(x, y, with_gradient(z, dz), with_gradient(w, g)));
  print("additive, values", "", dz);
  print_gradients("additive", g);
}

// Attention in words, functions, reductions.
void words() {
  lcg next{7};
  const auto q = drawn<tensor<float, query<19>, head_dim<5>>>(next, 2);
  const auto k = drawn<tensor<float, key<37>, head_dim<5>>>(next, 2);
  tensor<float, query<19>, head_dim<5>> dq{};
  tensor<float, key<37>, head_dim<5>> dk{};
  constexpr formula f = [](auto a, auto b) {
    const auto scores = tanh(contract<head_dim>(a, b) * 0.3f) * 4;
    const auto o = contract<key>(softmax<key>(scores), b) | gelu_tanh;
    const auto d = o - mean<head_dim>(o);
    const auto y = d * rsqrt(variance<head_dim>(o) + 1e-5f) + (a | silu);
    return sum<query, head_dim>(y * y) + mean<key, head_dim>(exp(b) / (abs(b) + 1));
  };
  print("words, loss", "", gradient{f}(with_gradient(q, dq), with_gradient(k, dk)));
  print("words, queries", "", dq);
  print("words, keys", "", dk);
}

void ten_steps() {
  static small_training::training t;
  const tensor<float> last{small_training::ten_steps(t)};
  print("ten steps, loss", "", last);
  print_gradients("ten steps", t.w);
  print_gradients("ten steps, average", t.average);
}

}  // namespace

int main(int count, char** arguments) {
  begin(count > 1 ? arguments[1] : "");
  attention();
  additive();
  words();
  ten_steps();
  return 0;
}
