// SPDX-License-Identifier: BSL-1.0
// A gesture classifier that learns on the board: the sensor is mounted differently than in
// training, so its answers are wrong; after some labeled gestures they are right again. All layers
// except the last are frozen: constants in flash, for inference only.
//
//   readings of the sensor                        (token=16, hidden=12)     64 times x y z
//     linear, two blocks of LLaMA, norm, mean     (hidden=24)               flash
//     linear                                      (classes=10)              RAM: it learns
//
// A step is one gesture: features, loss, the gradient of the last layer, SGD in place. The weights
// come from tools/train_gestures.py. test/embedded runs it on Cortex-M, linked with 20 kB of RAM.
#pragma once

#include <umbel/inspect/footprint.hpp>
#include <umbel/training.hpp>

#include "gestures.hpp"
#include "weights.hpp"

namespace learn_on_device {

using namespace umbel;
using namespace umbel::axes;

using window = tensor<float, token<16>, hidden<12>>;
static_assert(sizeof(window) == 3 * gestures::reading_count * sizeof(float),
              "a window has the three axes of all readings");
using states = tensor<float, token<16>, hidden<24>>;
using features = tensor<float, hidden<24>>;
using logits = tensor<float, classes<gestures::class_count>>;

using encoder = trained::layers_type;
using head_map = trained::head_type;

static_assert(
    logits::size() == trained::head_bias_shape[0],
    "other classes than the last layer was trained for: README.md says how it begins with zeros");

// The initial last layer.
inline constexpr head_map::weights as_trained = [] {
  head_map::weights w{};
  for (std::size_t i = 0; i < features::size(); ++i)
    for (std::size_t o = 0; o < logits::size(); ++o)
      w.weight[i * logits::size() + o] = trained::head_weight[o * features::size() + i];
  for (std::size_t o = 0; o < logits::size(); ++o) w.bias[o] = trained::head_bias[o];
  return w;
}();

// ---- the learning part: a formula over the last layer -------------------------------------------
inline constexpr formula loss_of = [](auto x, auto label, const auto& head) {
  return cross_entropy<classes>(x * head, label);
};
inline constexpr gradient learn{loss_of};

class classifier {
 public:
  void begin() noexcept { head_ = as_trained; }

  std::size_t answer(const window& x) noexcept {
    look_at(x);
    logits y;
    head_map{head_}.into(y, seen_);
    std::size_t best = 0;
    for (std::size_t i = 1; i < y.size(); ++i)
      if (y(i) > y(best)) best = i;
    return best;
  }

  // One step with a gesture of this class. False, without changes, if the gradient is not finite,
  // as for a reading that isn't.
  bool learn_that(const window& x, std::size_t label, float rate = 0.03F) noexcept {
    look_at(x);
    set_to_zero(gradient_);
    const tensor<int> is{static_cast<int>(label)};
    (void)learn(seen_, is, with_gradient(head_, gradient_), work_);
    return bool(update(head_, gradient_, sgd{.rate = rate}));
  }

  const head_map::weights& last_layer() const noexcept { return head_; }

 private:
  void look_at(const window& x) noexcept {
    trained::embed.into(x_, x);
    for (const auto& layer : trained::layers) layer.into(x_, x_, causal, encoder_work_);
    trained::norm_type{trained::norm, 1e-5F}.into(x_, x_);
    mean<token>.into(seen_, x_);
  }

  head_map::weights head_, gradient_;
  states x_;
  features seen_;
  encoder::workspace<token<16>> encoder_work_;
  workspace_for<decltype(learn), features, tensor<int>, differentiated<head_map::weights>> work_;
};

// The sum: constants, and in RAM a classifier and a window.
inline constexpr call_footprint needs = [] {
  auto all = footprint<prepacked<trained::embed_type>, token<16>> +
             footprint<prepacked<encoder>, token<16>> + footprint<prepacked<encoder>, token<16>> +
             footprint<trained::norm_type, token<16>>;
  all.tables /= 2;  // rotary positions, which both blocks read
  all.weights += sizeof(as_trained);
  all.ram = sizeof(classifier) + sizeof(window);
  return all;
}();
// Wider vectors need more scratch: without vectors it is 14.5 kB.
static_assert(needs.ram <= 20 * 1024);

// Per step: causal attention sees 136 pairs; the last layer runs once forward, once for its
// gradient.
inline constexpr std::size_t multiply_accumulates =
    16 * 12 * 24 + 2 * (16 * 24 * (2 * 24 + 2 * 12) + 2 * 136 * 24 + 3 * 16 * 24 * 48) +
    2 * 24 * 10;

// ---- the sensor ---------------------------------------------------------------------------------
// Mounted at an angle and with a different range.
struct mounting {
  float cosine = 1, sine = 0, scale = 1;
};
// By the angle whose tangent is 3 / 4, about z.
inline constexpr mounting shifted{0.8F, 0.6F, 1.25F};

// From here on, gestures for learning and for tests, unknown to the trained model.
inline constexpr std::uint32_t first_tested = 1'000'000, first_learned = 2'000'000;

inline void read_sensor(std::uint32_t number, const mounting& how, window& to) noexcept {
  gestures::draw<float>(number, to.data());
  for (float* at = to.data(); at != to.data() + to.size(); at += 3) {
    const float x = at[0], y = at[1];
    at[0] = (how.cosine * x - how.sine * y) * how.scale;
    at[1] = (how.sine * x + how.cosine * y) * how.scale;
    at[2] *= how.scale;
  }
}

}  // namespace learn_on_device
