// SPDX-License-Identifier: BSL-1.0
// Ten steps of training of a whole model, small: words, positions, an encoder layer, a classifier,
// cross-entropy, AdamW with a warm-up, the norm of the gradient clipped, a moving average. All of
// it is drawn from seeds; the weights after it have the same bits everywhere.
#pragma once

#include <cstddef>
#include <umbel/bare.hpp>
#include <umbel/training.hpp>

namespace small_training {

using namespace umbel;
using namespace umbel::axes;

using words = embedding<float, vocabulary<11>, hidden<12>>;
using places = learned_positions<float, token<7>, hidden<12>>;
using encoder = encoder_layer<float, hidden<12>, heads<3>, intermediate<20>, norm_first<true>,
                              activation<gelu_exact>, bias<true>>;
using classifier = linear<float, hidden<12>, classes<5>, bias<true>>;
struct weights {
  static constexpr const char* part_names[] = {"words", "places", "encode", "classify"};
  words::weights table;
  places::weights positions;
  encoder::weights encode;
  classifier::weights classify;
};
using sentence = tensor<int, token<7>>;

inline constexpr formula loss = [](auto ids, auto length, auto label, const auto& w) {
  const auto x = places{w.positions}(words{w.table}(ids));
  const auto y = encoder{w.encode}(x, length);
  return cross_entropy<classes, label_smoothing<1, 20>>(mean<token>(y) * w.classify, label);
};

struct training {
  weights w, average, gradient;
  adamw::state<weights> state;
  workspace_for<decltype(umbel::gradient{loss}), sentence, tensor<int>, tensor<int>,
                differentiated<weights>>
      work;
};

// Gives the sum of the losses of the last step.
inline float ten_steps(training& t) noexcept {
  constexpr umbel::gradient learn{loss};
  constexpr warm_up_then_cosine rate{.rate = 2e-2, .warm_up = 3, .steps = 12};
  initialize(t.w, 2026);
  t.average = t.w;
  float sum = 0;
  std::size_t number = 0;
  for (std::size_t step = 0; step < 10; ++step) {
    sum = 0;
    set_to_zero(t.gradient);
    for (std::size_t b = 0; b < 4; ++b) {
      sentence ids{};
      for (int& id : ids) id = static_cast<int>(number++ * 7 % 11);
      const tensor<int> length{static_cast<int>(b + 4)}, label{ids(0) % 5};
      sum += learn(ids, length, label, with_gradient(t.w, t.gradient), t.work)();
    }
    scale(t.gradient, 0.25);
    clip_by_norm(t.gradient, 1);
    (void)update(t.w, t.gradient, t.state, adamw{.rate = rate(step), .decay = 0.02});
    moving_average(t.average, t.w, 0.9);
  }
  return sum;
}

}  // namespace small_training
