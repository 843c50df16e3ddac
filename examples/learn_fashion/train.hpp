// SPDX-License-Identifier: BSL-1.0
// The steps of a training, with a line per epoch and checkpoints.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "../learning/checkpoint.hpp"
#include "training.hpp"

namespace learn_fashion {

struct until {
  std::uint64_t step;
  std::uint64_t checkpoint_every;  // steps; 0: an epoch
  const learning::destination*
      checkpoint;  // null: a different process writes it and reports progress
};

// False if a step failed. where: for a process among several, across(...).
template <class Gradients, class Pool, class... Where>
bool train(training_by<Gradients>& all, epoch_order& order, const data_set& data, const until& last,
           Pool&& pool, Where&&... where) {
  using clock = std::chrono::steady_clock;
  state& now = all.now;
  const std::uint64_t each = now.plan.steps_of_epoch(), begun_at = now.made();
  const auto begun = clock::now();
  for (std::uint64_t step = begun_at; step < last.step;) {
    if (step % each == 0 || step == begun_at)
      order.shuffle(now.plan.chance(), step / each, data.train.size());
    const float loss = learn_batch(all, data.train, order, pool, where...);
    const auto made = make_step(now, all.of_batch.gradient(), loss);
    if (!made) {
      if (last.checkpoint != nullptr)
        std::fprintf(stderr, "learn_fashion: step %llu: the norm of the gradient is %g\n",
                     static_cast<unsigned long long>(step + 1), made.norm);
      return false;
    }
    ++step;
    const bool is_epoch = step % each == 0;
    if (is_epoch) {
      const double right = accuracy(all, data.test, pool);
      const double spent = std::chrono::duration<double>(clock::now() - begun).count();
      const double left = spent / static_cast<double>(step - begun_at) *
                          static_cast<double>(now.plan.steps() - step);
      if (last.checkpoint != nullptr) {
        std::printf("epoch %llu/%llu  loss %.4f  test %.2f %%  %.0f s left\n",
                    static_cast<unsigned long long>(step / each),
                    static_cast<unsigned long long>(now.plan.steps() / each),
                    now.loss_sum() / static_cast<double>(each), right, left);
        std::fflush(stdout);
      }
      const std::size_t over = static_cast<std::size_t>(step / each) - 1;
      now.losses(over) = static_cast<float>(now.loss_sum() / static_cast<double>(each));
      now.right(over) = static_cast<float>(right);
      now.loss_sum() = 0;
    }
    const bool is_due = last.checkpoint_every == 0 ? is_epoch : step % last.checkpoint_every == 0;
    if (last.checkpoint != nullptr && (is_due || step == last.step))
      write_whole(*last.checkpoint, now);
  }
  return true;
}

}  // namespace learn_fashion
