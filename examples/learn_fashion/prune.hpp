// SPDX-License-Identifier: BSL-1.0
// Which heads of the demo's model matter, by two measures (Michel, Levy and Neubig 2019): the rise
// of the loss without a head, which takes a pass per head, and the mean magnitude of its gate's
// gradient, which takes one pass for all. Then the least important ones are pruned, one more each
// time, with and without fine-tuning.
//
// A head is pruned by zeroing its rows of the output projection, and their gradient. All subsets
// are then one type, and the numbers are those of the smaller layer, pruned<attention,
// keep_heads<...>> (umbel/attention/pruned.hpp); examples/08_prune_heads.cpp shows the time and
// memory it saves.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>

#include <umbel/file/mapped_file.hpp>
#include <umbel/files.hpp>
#include <umbel/weights.hpp>

#include "../fashion/files.hpp"
#include "../learning/chart.hpp"
#include "training.hpp"

namespace learn_fashion {

// Heads are numbered through the layers.
inline constexpr std::size_t layer_count = 2;
inline constexpr std::size_t heads_each = encoder::attention::sizes.heads;
inline constexpr std::size_t head_count = layer_count * heads_each;
using by_head = std::array<double, head_count>;
using head_order = std::array<std::size_t, head_count>;  // the most important first

// Loads tools/train_fashion.py's weights.npz, whose first layer normalizes the pixels; here the
// formula does. Throws fashion::input_error.
inline void load_demo(const std::string& path, weights& w) {
  const auto refused = [&](const std::string& why) {
    return fashion::file_error(path,
                               "is not the demo's model (" + why.substr(0, why.find('\n')) + ")");
  };
  const auto memory = mapped_file::open(path.c_str());
  if (!memory) throw refused(memory.error());
  const auto file = tensor_file::in_memory(*memory);
  if (!file) throw refused(file.error());
  constexpr parameter_name places[] = {{"positions", "positions", as_they_are}};
  const auto loaded = load(w, *file, at("embed", "embed", names::torch_linear),
                           at("layers.*", "encoder.layers.*", names::torch_encoder_layer),
                           at("norm", "norm", names::torch_layer_norm),
                           at("head", "head", names::torch_linear), places);
  if (!loaded) throw refused(loaded.error());
  for (std::size_t i = 0; i < std::size(w.embed.weight); ++i) {
    float& one = w.embed.weight[i];  // (in, out)
    w.embed.bias[i % std::size(w.embed.bias)] += pixel_mean * one;
    one *= pixel_deviation;
  }
}

// Zeros the heads after the first `kept` of an order, in the weights or their gradient. Returns how
// many numbers were not 0.
inline std::size_t without_heads(weights& w, const head_order& order, std::size_t kept) noexcept {
  constexpr auto sizes = encoder::attention::sizes;
  constexpr std::size_t each = sizes.value_dim * sizes.output;
  std::size_t changed = 0;
  for (std::size_t i = kept; i < head_count; ++i) {
    float* const rows =
        w.layers[order[i] / heads_each].attention.o.weight + order[i] % heads_each * each;
    changed += each - static_cast<std::size_t>(std::count(rows, rows + each, 0.0F));
    std::fill_n(rows, each, 0.0F);
  }
  return changed;
}

struct importance {
  double loss;    // mean
  by_head gates;  // mean magnitude of d loss / d gate
};

// On the first `count` pictures.
template <class Pool>
importance importance_of(training& all, const weights& w, const picture_set& set, std::size_t count,
                         Pool&& pool) {
  static weights of_one[most_threads];
  importance sums[chain_count]{};
  pool(chain_count, [&](std::size_t c, std::size_t who) {
    worker& by = all.workers[who];
    weights& g = of_one[who];
    for (std::size_t i = c; i < count; i += chain_count) {
      cut(set.picture(i), {}, by.x);
      set_to_zero(g);
      const tensor<int> label{int{set.labels[i]}};
      sums[c].loss += static_cast<double>(
          learn(by.x, label, with_gradient(w, g), by.template use<learning_workspace>())());
      for (std::size_t l = 0; l < layer_count; ++l) {
        const auto gates =
            head_gates<encoder::attention>(w.layers[l].attention, g.layers[l].attention);
        for (std::size_t h = 0; h < heads_each; ++h)
          sums[c].gates[l * heads_each + h] += std::abs(static_cast<double>(gates(h)));
      }
    }
  });
  importance mean{};
  for (const importance& sum : sums) {
    mean.loss += sum.loss / static_cast<double>(count);
    for (std::size_t h = 0; h < head_count; ++h)
      mean.gates[h] += sum.gates[h] / static_cast<double>(count);
  }
  return mean;
}

inline head_order order_by(const by_head& important) {
  head_order order;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return important[a] > important[b]; });
  return order;
}

// Accuracy on test pictures, in percent, by the number of heads left, from 1.
struct pruned_three_ways {
  by_head by_ablation, by_gradient, fine_tuned;
};

// Fine-tunes now.weights with those heads pruned; the average is in now.average.
template <class Pool>
void fine_tune(training& all, const picture_set& set, epoch_order& order, const head_order& heads,
               std::size_t kept, Pool&& pool) {
  constexpr double rate = 2e-3;
  state& now = all.now;
  for (std::uint64_t step = 0; step < now.plan.steps(); ++step) {
    if (step % now.plan.steps_of_epoch() == 0)
      order.shuffle(now.plan.chance(), step / now.plan.steps_of_epoch(), set.size());
    const float loss = learn_batch(all, set, order, pool);
    without_heads(all.of_batch.gradient(), heads, kept);
    const auto made = make_step(now, all.of_batch.gradient(), loss, rate);
    if (!made) throw fashion::input_error{"the norm of a gradient is not finite"};
  }
  if (without_heads(now.weights, heads, kept) + without_heads(now.average, heads, kept) != 0)
    throw std::logic_error{"a head that was pruned has learned"};
}

// Prints both measures, then the accuracy by the number of heads left.
template <class Pool>
pruned_three_ways prune(training& all, epoch_order& order, const weights& demo,
                        const data_set& data, std::uint64_t seed, std::size_t epochs, Pool&& pool) {
  const std::size_t measured = std::min<std::size_t>(data.train.size(), 2000);
  state& now = all.now;
  const importance whole = importance_of(all, demo, data.train, measured, pool);
  by_head ablation{};
  for (std::size_t h = 0; h < head_count; ++h) {
    head_order last{};
    last[head_count - 1] = h;
    now.weights = demo;
    without_heads(now.weights, last, head_count - 1);
    ablation[h] = importance_of(all, now.weights, data.train, measured, pool).loss - whole.loss;
  }
  std::printf("%zu pictures that it was trained with:\n\n", measured);
  std::printf("| layer | head | loss without it | gradient of its gate |\n|--:|--:|--:|--:|\n");
  for (std::size_t h = 0; h < head_count; ++h)
    std::printf("| %zu | %zu | %+.4f | %.4f |\n", h / heads_each, h % heads_each, ablation[h],
                whole.gates[h]);
  std::printf(
      "\nTest pictures that are right, %%, by ablation, by gradient, and by gradient with %zu "
      "epoch%s of fine-tuning:\n\n",
      epochs, epochs == 1 ? "" : "s");
  std::printf("| heads | ablation | gradient | fine-tuned |\n|--:|--:|--:|--:|\n");

  const head_order by_ablation = order_by(ablation), by_gradient = order_by(whole.gates);
  pruned_three_ways right{};
  const auto right_with = [&](const head_order& heads, std::size_t kept) {
    now.average = demo;
    without_heads(now.average, heads, kept);
    return accuracy(all, data.test, pool);
  };
  for (std::size_t kept = head_count; kept > 0; --kept) {
    right.by_ablation[kept - 1] = right_with(by_ablation, kept);
    right.by_gradient[kept - 1] = right_with(by_gradient, kept);
    begin(now, seed, epochs, data.train.size());
    now.weights = now.average = demo;
    without_heads(now.weights, by_gradient, kept);
    without_heads(now.average, by_gradient, kept);
    fine_tune(all, data.train, order, by_gradient, kept, pool);
    right.fine_tuned[kept - 1] = accuracy(all, data.test, pool);
    std::printf("| %zu | %.2f | %.2f | %.2f |\n", kept, right.by_ablation[kept - 1],
                right.by_gradient[kept - 1], right.fine_tuned[kept - 1]);
    std::fflush(stdout);
  }
  return right;
}

inline std::string drawn(const pruned_three_ways& right) {
  const auto line_of = [](const char* name, const by_head& of) {
    return learning::line{name, {of.begin(), of.end()}};
  };
  return learning::chart({{"test pictures that are right, %",
                           "heads left",
                           1,
                           {line_of("pruned by ablation", right.by_ablation),
                            line_of("pruned by gradient", right.by_gradient),
                            line_of("by gradient, fine-tuned", right.fine_tuned)}}});
}

}  // namespace learn_fashion
