// SPDX-License-Identifier: BSL-1.0
// Runs the model over a set of pictures and measures it: correctness, agreement with PyTorch,
// speed, memory. All buffers are made before the model starts; while it runs, the heap is watched.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "allocations.hpp"
#include "integers.hpp"
#include "latency.hpp"
#include "model.hpp"
#include "pictures.hpp"
#include "stack.hpp"
#include "system.hpp"

namespace fashion {

struct evaluation {
  std::size_t images = 0;
  std::size_t correct = 0;
  std::size_t agreeing = 0;            // predictions equal to PyTorch's
  std::vector<std::size_t> predicted;  // (picture)
  double max_logit_diff = 0;           // not finite if one of the model's logits isn't
  double images_per_second = 0;
  latency_summary latency{};
  long preempted = 0;                // how often a different program ran in between
  int core = -1;                     // the one that the thread stayed on, or -1
  std::optional<std::size_t> stack;  // measured bytes; none if the build makes it meaningless
  heap::calls heap;
  bool heap_counter_works = false;

  std::size_t integer_correct = 0;   // of the integer model
  std::size_t integer_agreeing = 0;  // its predictions that equal the model's
  latency_summary integer_latency{};

  double accuracy() const { return share(correct); }
  double integer_accuracy() const { return share(integer_correct); }
  double torch_agreement() const { return share(agreeing); }
  double share(std::size_t part) const {
    return static_cast<double>(part) / static_cast<double>(images);
  }
};

template <class T>
std::size_t arg_max(const T* logits) {
  return static_cast<std::size_t>(std::max_element(logits, logits + class_count) - logits);
}

namespace detail {

struct one_forward {
  const std::uint8_t* pixels;
  model::workspace* workspace;
  float* logits;
};

inline void forward(void* given) {
  const auto& todo = *static_cast<one_forward*>(given);
  model::logits(todo.pixels, *todo.workspace, todo.logits);
}

// A NaN stays: it is the worst difference.
inline double worst_difference(const std::vector<float>& ours, const std::vector<float>& theirs) {
  double worst = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double difference = std::abs(double{ours[i]} - double{theirs[i]});
    if (!(difference <= worst)) worst = difference;
    if (std::isnan(worst)) break;
  }
  return worst;
}

}  // namespace detail

inline evaluation evaluate(const picture_set& set, model::workspace& workspace) {
  constexpr std::size_t least_forwards = 10000;
  const std::size_t rounds = (least_forwards + set.size() - 1) / set.size();
  std::vector<float> logits(set.size() * class_count);
  std::vector<std::int16_t> integer_logits(set.size() * class_count);
  static integer_model::workspace integer_workspace;
  std::vector<double> times(rounds * set.size()), integer_times(times.size());
  const auto forward = [&](std::size_t i) {
    model::logits(set.picture(i), workspace, logits.data() + i * class_count);
  };

  evaluation result;
  result.images = set.size();
  result.heap_counter_works = heap::counter_works();
  result.core = pin_to_current_core();
  clock::duration batch_time{};
  {
    const heap::watch watching;
    constexpr std::size_t warm_up = 500;  // caches, branch predictors, the core's clock
    for (std::size_t i = 0; i < warm_up; ++i) forward(i % set.size());

    const auto begin = clock::now();
    for (std::size_t round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < set.size(); ++i) forward(i);
    }
    batch_time = clock::now() - begin;

    const long before = system::preemptions();
    time_each(times, [&](std::size_t i) { forward(i % set.size()); });
    result.preempted = system::preemptions() - before;

    time_each(integer_times, [&](std::size_t i) {
      const std::size_t picture = i % set.size();
      integer_model::logits(set.picture(picture), integer_workspace,
                            integer_logits.data() + picture * class_count);
    });
  }
  result.heap = heap::so_far();
  result.images_per_second = static_cast<double>(times.size()) * 1e6 / microseconds(batch_time);
  result.latency = summarise(std::move(times));
  result.integer_latency = summarise(std::move(integer_times));

  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::size_t predicted = arg_max(logits.data() + i * class_count);
    result.predicted.push_back(predicted);
    result.correct += predicted == set.labels[i] ? 1 : 0;
    result.agreeing += predicted == arg_max(set.torch_logits(i)) ? 1 : 0;
    const std::size_t in_integers = arg_max(integer_logits.data() + i * class_count);
    result.integer_correct += in_integers == set.labels[i] ? 1 : 0;
    result.integer_agreeing += in_integers == predicted ? 1 : 0;
  }
  result.max_logit_diff = detail::worst_difference(logits, set.torch);

  if constexpr (stack::representative) {
    detail::one_forward todo{set.picture(0), &workspace, logits.data()};
    result.stack = stack::measure(detail::forward, &todo, 8 * model::stack_bytes);
  }
  return result;
}

}  // namespace fashion
