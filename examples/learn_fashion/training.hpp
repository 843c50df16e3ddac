// SPDX-License-Identifier: BSL-1.0
// A step of learning on one to four threads, and the share of pictures that is answered right. All
// memory is a constant, and the bits are the same whoever computes:
//
//   picture b of a batch adds to chain b % 4, in the order of the batch; chains are folded 2, 1:
//   (0 + 2) + (1 + 3)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

#include "model.hpp"
#include "pictures.hpp"

namespace learn_fashion {

inline constexpr std::size_t batch_size = 128, chain_count = 4, most_threads = chain_count;
static_assert(batch_size % chain_count == 0);

// What must be the same for a training to go on.
struct plan {
  static constexpr const char* part_names[] = {"seed", "epochs", "pictures"};
  tensor<std::int32_t> seed, epochs, pictures;

  std::uint64_t chance() const { return static_cast<std::uint64_t>(seed()); }
  // A last part of a batch is left out; the next epoch has another order.
  std::uint64_t steps_of_epoch() const {
    return static_cast<std::uint64_t>(pictures()) / batch_size;
  }
  std::uint64_t steps() const { return static_cast<std::uint64_t>(epochs()) * steps_of_epoch(); }
};

inline constexpr std::size_t most_epochs = 1000;
template <std::size_t N>
struct epoch : axis<epoch, N> {};

// All that the next step depends on, beside the pictures, and what was said: it is in a checkpoint.
struct state {
  static constexpr const char* part_names[] = {
      "plan", "weights", "average", "optimiser", "step", "loss_sum", "losses", "right", "checksum"};
  learn_fashion::plan plan;
  learn_fashion::weights weights, average;
  adamw::state<learn_fashion::weights> optimiser;
  tensor<std::int32_t> step;  // how many were made; chance is counted by them
  tensor<double> loss_sum;    // of the steps of this epoch, each the mean of its batch
  tensor<float, epoch<most_epochs>> losses, right;  // of the epochs that are over; right: percent
  tensor<std::int32_t> checksum[2];  // of all others (checkpoint.hpp), its low half first

  std::uint64_t made() const { return static_cast<std::uint64_t>(step()); }
};

struct chain {
  weights gradient;
  float loss;
  std::size_t right;
};

// What a thread works in. Learning and answering take turns in the same memory.
class worker {
 public:
  patches x;

  template <class Workspace>
  Workspace& use() noexcept {
    static_assert(sizeof(Workspace) <= sizeof memory_ && alignof(Workspace) <= 64);
    return *new (memory_) Workspace;
  }

 private:
  alignas(64) std::byte memory_[std::max(sizeof(learning_workspace), sizeof(answering_workspace))];
};

struct training {
  state now;
  chain chains[chain_count];
  worker workers[most_threads];
};
static_assert(sizeof(state) < 315 * 1024);  // weights, their average, two of the optimiser, curves
static_assert(sizeof(chain) < 77 * 1024 && sizeof(worker) < 217 * 1024);
// With one thread and one chain, as the gradients of a training that knows no threads.
static_assert(sizeof(state) + sizeof(chain) + sizeof(worker) < 768 * 1024);
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

struct all_of_it {
  void operator()(weights&) const noexcept {}
};

// Where the norm of the gradient is not finite nothing changes, and the result says so. pool: an
// executor. order: that of the epoch that the step is in. change(gradient): of the mean of a batch,
// what is to be learned from.
template <class Pool, class Change = all_of_it>
[[nodiscard]] update_result make_step(training& all, const picture_set& set,
                                      const epoch_order& order, Pool&& pool,
                                      double highest_rate = 6e-3, Change change = {}) noexcept {
  state& now = all.now;
  const std::uint64_t step = now.made(), seed = now.plan.chance();
  const std::size_t first = step % now.plan.steps_of_epoch() * batch_size;
  pool(chain_count, [&](std::size_t c, std::size_t who) {
    chain& to = all.chains[c];
    worker& by = all.workers[who];
    set_to_zero(to.gradient);
    to.loss = 0;
    for (std::size_t b = c; b < batch_size; b += chain_count) {
      const std::size_t i = order.of[first + b];
      cut(set.picture(i), drawn_place(seed, step * batch_size + b), by.x);
      const tensor<int> label{int{set.labels[i]}};
      to.loss += learn(by.x, label, with_gradient(now.weights, to.gradient),
                       by.template use<learning_workspace>())();
    }
  });
  for (std::size_t half = chain_count / 2; half > 0; half /= 2)
    for (std::size_t c = 0; c < half; ++c) {
      add(all.chains[c].gradient, all.chains[c + half].gradient);
      all.chains[c].loss += all.chains[c + half].loss;
    }
  weights& gradient = all.chains[0].gradient;
  scale(gradient, 1.0 / batch_size);
  change(gradient);
  clip_by_norm(gradient, 1);

  const std::uint64_t steps = now.plan.steps();
  const warm_up_then_cosine rate{
      .rate = highest_rate, .warm_up = std::max<std::uint64_t>(steps / 20, 1), .steps = steps};
  const adamw how{.rate = rate(step), .beta2 = 0.99, .decay = 0.02};
  const auto made = update(now.weights, gradient, now.optimiser, how);
  if (!made) return made;
  // Of few steps at first: the weights that it began with are soon forgotten.
  const double of_steps = static_cast<double>(step + 1);
  moving_average(now.average, now.weights, std::min(0.998, of_steps / (of_steps + 10)));
  now.loss_sum() += static_cast<double>(all.chains[0].loss) / batch_size;
  ++now.step();
  return made;
}

// Of the average of the weights, in percent.
template <class Pool>
double accuracy(training& all, const picture_set& set, Pool&& pool) noexcept {
  pool(chain_count, [&](std::size_t c, std::size_t who) {
    worker& by = all.workers[who];
    all.chains[c].right = 0;
    for (std::size_t i = c; i < set.size(); i += chain_count) {
      cut(set.picture(i), {}, by.x);
      const auto logits = logits_of(by.x, all.now.average, by.template use<answering_workspace>());
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      all.chains[c].right += best == std::ptrdiff_t{set.labels[i]} ? 1U : 0U;
    }
  });
  std::size_t right = 0;
  for (const chain& one : all.chains) right += one.right;
  return 100.0 * static_cast<double>(right) / static_cast<double>(set.size());
}

}  // namespace learn_fashion
