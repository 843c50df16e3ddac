// SPDX-License-Identifier: BSL-1.0
// A learning step on one to four threads, and the accuracy. Memory has constant size, and the bits
// don't depend on the threads: the pictures of a batch add to four chains
// (umbel/training/batch_gradient.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../learning/workers.hpp"
#include "model.hpp"
#include "pictures.hpp"

namespace learn_fashion {

using learning::chain_count, learning::most_threads;
inline constexpr std::size_t batch_size = 128;
using gradients = batch_gradient<weights, chains<chain_count>>;

// Must be the same to resume a training.
struct plan {
  static constexpr const char* part_names[] = {"seed", "epochs", "pictures"};
  tensor<std::int32_t> seed, epochs, pictures;

  std::uint64_t chance() const { return static_cast<std::uint64_t>(seed()); }
  // A partial last batch is left out; the next epoch has a different order.
  std::uint64_t steps_of_epoch() const {
    return static_cast<std::uint64_t>(pictures()) / batch_size;
  }
  std::uint64_t steps() const { return static_cast<std::uint64_t>(epochs()) * steps_of_epoch(); }
  std::string options() const {
    return "--seed " + std::to_string(seed()) + " --epochs " + std::to_string(epochs()) + ", " +
           std::to_string(pictures()) + " pictures";
  }
};

inline constexpr std::size_t most_epochs = 1000;
template <std::size_t N>
struct epoch : axis<epoch, N> {};

// Everything that the next step depends on besides the pictures, and the results so far: saved in a
// checkpoint.
struct state {
  static constexpr const char* part_names[] = {"plan", "weights",  "average", "optimiser",
                                               "step", "loss_sum", "losses",  "right"};
  learn_fashion::plan plan;
  learn_fashion::weights weights, average;
  adamw::state<learn_fashion::weights> optimiser;
  tensor<std::int32_t> step;  // steps made; random numbers depend on it
  tensor<double> loss_sum;    // over the steps of this epoch, each the mean of its batch
  tensor<float, epoch<most_epochs>> losses, right;  // of finished epochs; right: percent

  std::uint64_t made() const { return static_cast<std::uint64_t>(step()); }
  std::uint64_t steps() const { return plan.steps(); }
};

// A thread's workspace. Learning and answering share the same memory in turn.
struct worker : learning::one_of<learning_workspace, answering_workspace> {
  patches x;
};

// Gradients: those of all chains, or of one process among several.
template <class Gradients>
struct training_by {
  state now;
  Gradients of_batch;
  worker workers[most_threads];
};
using training = training_by<gradients>;
static_assert(sizeof(state) < 315 * 1024);  // weights, their average, two of the optimizer, curves
static_assert(sizeof(gradients) < chain_count * 77 * 1024 && sizeof(worker) < 217 * 1024);
// With one thread and one chain, like the gradients of a training without threads.
static_assert(sizeof(state) + sizeof(batch_gradient<weights, chains<1>>) + sizeof(worker) <
              768 * 1024);
static_assert(sizeof(training) < 1488 * 1024);

inline void begin(state& now, std::uint64_t seed, std::size_t epochs, std::size_t pictures) {
  set_to_zero(now.optimiser.first), set_to_zero(now.optimiser.second);
  now.optimiser.steps() = now.step() = 0;
  now.loss_sum() = 0;
  now.plan.seed() = static_cast<std::int32_t>(seed);
  now.plan.epochs() = static_cast<std::int32_t>(epochs);
  now.plan.pictures() = static_cast<std::int32_t>(pictures);
  first_weights(now.weights, seed);
  now.average = now.weights;
}

// Writes the gradient of a step's pictures to all.of_batch; returns the sum of their losses. order:
// the current epoch's. where: an executor; for a process among several, then across(...).
template <class Gradients, class... Where>
float learn_batch(training_by<Gradients>& all, const picture_set& set, const epoch_order& order,
                  Where&&... where) noexcept {
  const state& now = all.now;
  const std::uint64_t step = now.made(), seed = now.plan.chance();
  const std::size_t first = step % now.plan.steps_of_epoch() * batch_size;
  return all.of_batch.sum(batch_size, where...,
                          [&](std::size_t b, weights& gradient, std::size_t who) {
                            worker& by = all.workers[who];
                            const std::size_t i = order.of[first + b];
                            cut(set.picture(i), drawn_place(seed, step * batch_size + b), by.x);
                            const tensor<int> label{int{set.labels[i]}};
                            return learn(by.x, label, with_gradient(now.weights, gradient),
                                         by.template use<learning_workspace>())();
                          });
}

// One step from the gradient and loss of a batch, both sums. If the gradient's norm is not finite,
// nothing changes, and the result reports it.
[[nodiscard]] inline update_result make_step(state& now, weights& gradient, float loss,
                                             double highest_rate = 6e-3) noexcept {
  scale(gradient, 1.0 / batch_size);
  clip_by_norm(gradient, 1);

  const std::uint64_t step = now.made(), steps = now.plan.steps();
  const warm_up_then_cosine rate{
      .rate = highest_rate, .warm_up = std::max<std::uint64_t>(steps / 20, 1), .steps = steps};
  const adamw how{.rate = rate(step), .beta2 = 0.99, .decay = 0.02};
  const auto made = update(now.weights, gradient, now.optimiser, how);
  if (!made) return made;
  // Over few steps at first: the initial weights are soon forgotten.
  const double of_steps = static_cast<double>(step + 1);
  moving_average(now.average, now.weights, std::min(0.998, of_steps / (of_steps + 10)));
  now.loss_sum() += static_cast<double>(loss) / batch_size;
  ++now.step();
  return made;
}

// With the averaged weights, in percent.
template <class Gradients, class Pool>
double accuracy(training_by<Gradients>& all, const picture_set& set, Pool&& pool) noexcept {
  std::size_t right_of[chain_count]{};
  pool(chain_count, [&](std::size_t c, std::size_t who) {
    worker& by = all.workers[who];
    for (std::size_t i = c; i < set.size(); i += chain_count) {
      cut(set.picture(i), {}, by.x);
      const auto logits = logits_of(by.x, all.now.average, by.template use<answering_workspace>());
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      right_of[c] += best == std::ptrdiff_t{set.labels[i]} ? 1U : 0U;
    }
  });
  std::size_t right = 0;
  for (const std::size_t one : right_of) right += one;
  return 100.0 * static_cast<double>(right) / static_cast<double>(set.size());
}

}  // namespace learn_fashion
