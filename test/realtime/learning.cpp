// SPDX-License-Identifier: BSL-1.0
// A step of learning in a real-time thread (layers.cpp says what that asks for): gradients, losses,
// optimisers, first weights.
#include <umbel/training.hpp>

#include "pass.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace realtime;

using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<24>, norm_first<true>,
                              activation<gelu_tanh>, bias<true>, rope<split_halves>>;
using classifier = linear<float, hidden<32>, classes<5>, bias<true>>;
struct model {
  static constexpr const char* part_names[] = {"encode", "classify"};
  encoder::weights encode;
  classifier::weights classify;
};
using tokens = tensor<float, batch<2>, token<9>, hidden<32>>;
using labels = tensor<int, batch<2>>;
constexpr formula logits_of = [](auto x, const auto& w) {
  return (recompute<encoder>{w.encode}(x, causal) | mean<token>)*w.classify;
};
constexpr formula loss = [](auto x, auto label, const auto& w) {
  return cross_entropy<classes, label_smoothing<1, 10>, ignored_label<4>>(logits_of(x, w), label);
};
constexpr formula distance = [](auto x, auto y) { return mean_squared_error(x, y); };

void check_gradients(model& w, model& g, tokens& x) {
  static tokens dx, y;
  static const labels label{3, 1};
  static constexpr gradient learn{loss};
  static constexpr gradient pull{distance};
  static workspace_for<decltype(learn), differentiated<tokens>, labels, differentiated<model>> work;
  static tensor<float, heads<4>> gates;
  [[maybe_unused]] static float value;
  group("gradients");
  // Where the parts of the weights are, and their gradients, is found in each call.
  constexpr std::size_t places = 8192;
  check("of an encoder and a loss", vectors_of_a_mask + vectors_of_scores + places,
        [&] { value = learn(with_gradient(x, dx), label, with_gradient(w, g), work)(); });
  check("of a distance", 2 * sizeof(tokens), [&] { value = pull(with_gradient(x, dx), y)(); });
  static batch_gradient<model, chains<2>> of_batch;
  check("of a batch in chains", vectors_of_a_mask + vectors_of_scores + places, [&] {
    value = of_batch.sum(3, serial, [&](std::size_t, model& gradient, std::size_t) {
      return learn(with_gradient(x, dx), label, with_gradient(w, gradient), work)();
    });
  });
  check("of gates on heads", 0,
        [&] { gates = head_gates<encoder::attention>(w.encode.attention, g.encode.attention); });
}

void check_optimisers(model& w, model& g) {
  static model average;
  static sgd_with_momentum::state<model> momentum;
  static adam::state<model> of_adam;
  static adamw::state<model> of_adamw;
  static bool made;
  [[maybe_unused]] static double rate;
  group("optimisers");
  check("first weights", 4 * sizeof(parameter_path), [&] {
    initialize(w, 1);
    initialize(w.classify, 2, initializer::normal(0.1));
  });
  check("norm, average, sums", vectors_of_scores, [&] {
    scale(g, 0.5);
    rate = clip_by_norm(g, 1);
    add(average, g);
    moving_average(average, w, 0.99);
  });
  check("steps", vectors_of_scores, [&] {
    made = bool(update(w, g, sgd{.rate = 1e-3}));
    made = bool(update(w, g, momentum, sgd_with_momentum{.rate = 1e-3}));
    made = made && bool(update(w, g, of_adam, adam{.rate = 1e-3}));
    const update_result last = update(w, g, of_adamw, adamw{.rate = 1e-3});
    made = made && last.status == update_status::updated;
    set_to_zero(g);
  });
  check("rates", 0, [&] {
    constexpr warm_up_then_cosine cosine{.rate = 1e-3, .warm_up = 10, .steps = 100};
    constexpr warm_up_then_linear linear{.rate = 1e-3, .warm_up = 10, .steps = 100};
    rate = cosine(50) + linear(50) + constant_rate{.rate = 1e-3}(50);
  });
}

}  // namespace

void realtime::check_learning() {
  static model w, g;
  static tokens x;
  for (float& f : x) f = 0.25f;
  initialize(w, 1);
  check_gradients(w, g, x);
  check_optimisers(w, g);
}
