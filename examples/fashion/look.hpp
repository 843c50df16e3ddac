// SPDX-License-Identifier: BSL-1.0
// A close look at one picture: how sure the model is, and what its heads attend to. And the choice
// of pictures worth it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "evaluate.hpp"
#include "model.hpp"
#include "pictures.hpp"

namespace fashion {

constexpr std::size_t patches_side = 7;  // 7 x 7 patches of 4 x 4 pixels
static_assert(patches_side * patches_side == model::tokens);

using patch_map = std::array<float, model::tokens>;

struct look {
  const std::uint8_t* pixels;
  std::size_t number;  // its place in the test set
  std::size_t label;
  std::size_t predicted;
  std::array<double, class_count> probability;
  std::vector<float> attention;  // (layer, head, query patch, key patch)

  bool right() const { return label == predicted; }
  const float* matrix(std::size_t layer, std::size_t head) const {
    return attention.data() + (layer * model::heads + head) * model::tokens * model::tokens;
  }
  // The attention that each patch gets: the mean over the queries. Sums to 1, like each row.
  patch_map received(std::size_t layer, std::size_t head) const {
    patch_map map{};
    const float* weights = matrix(layer, head);
    for (std::size_t query = 0; query < model::tokens; ++query) {
      for (std::size_t key = 0; key < model::tokens; ++key) {
        map[key] += *weights++ / static_cast<float>(model::tokens);
      }
    }
    return map;
  }
};

inline std::array<double, class_count> softmax(const std::array<float, class_count>& logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::array<double, class_count> result{};
  double sum = 0;
  for (std::size_t i = 0; i < class_count; ++i) sum += result[i] = std::exp(logits[i] - largest);
  for (double& value : result) value /= sum;
  return result;
}

// The heap is watched here as well: observing the weights allocates nothing either.
inline look look_at(const picture_set& set, std::size_t place, model::workspace& workspace,
                    evaluation& run) {
  look result{set.picture(place), set.number(place), set.labels[place], 0, {}, {}};
  result.attention.resize(model::layers * model::heads * model::tokens * model::tokens);
  std::array<float, class_count> logits{};
  {
    const heap::watch watching;
    model::logits(result.pixels, workspace, logits.data());
    model::attention(result.pixels, workspace, result.attention.data());
  }
  run.heap = heap::so_far();
  result.predicted = arg_max(logits.data());
  result.probability = softmax(logits);
  return result;
}

// The first pictures of as many different classes as possible, then, in the last place, the first
// one that the model gets wrong, if any: a demo of successes only proves little.
inline std::vector<std::size_t> choose(const picture_set& set, const evaluation& run,
                                       std::size_t count) {
  std::vector<std::size_t> chosen;
  std::array<bool, class_count> have{};
  for (std::size_t i = 0; i < set.size() && chosen.size() < count; ++i) {
    if (have[set.labels[i]] || run.predicted[i] != set.labels[i]) continue;
    have[set.labels[i]] = true;
    chosen.push_back(i);
  }
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (run.predicted[i] == set.labels[i]) continue;
    if (chosen.size() == count) chosen.pop_back();
    chosen.push_back(i);
    break;
  }
  return chosen;
}

}  // namespace fashion
