// SPDX-License-Identifier: BSL-1.0
// A learning step of the language model on one to four threads, as in tools/train_text.py, and the
// loss on held-out text. The model is the formula used for answers (tiny_language_model/model.hpp).
// Memory has constant size, and the bits don't depend on the threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <umbel/training.hpp>

#include "../learning/workers.hpp"
#include "../tiny_language_model/model.hpp"
#include "text.hpp"

namespace learn_text {

using learning::chain_count, learning::most_threads;
using tiny::tokens, tiny::weights;

inline constexpr formula loss_of = [](auto text, auto next, const auto& w) {
  return cross_entropy<vocabulary>(tiny::causal_logits(text, w), next);
};
inline constexpr gradient learn{loss_of};

// Most is learned from pieces of half the context, which cost less per character.
inline constexpr std::size_t half = context / 2;
template <std::size_t Length>
using learning_workspace =
    workspace_for<decltype(learn), tokens<Length>, tokens<Length>, differentiated<weights>>;
using answering_workspace =
    workspace_for<decltype(loss_of), tokens<context>, tokens<context>, weights>;
using worker =
    learning::one_of<learning_workspace<half>, learning_workspace<context>, answering_workspace>;

using gradients = batch_gradient<weights, chains<chain_count>>;

// Must be the same to resume a training.
struct plan {
  static constexpr const char* part_names[] = {"seed", "steps", "characters", "held_out", "text"};
  tensor<std::int32_t> seed, steps, characters, held_out, text;  // text: its characters

  std::string options() const {
    return "--seed " + std::to_string(seed()) + " --steps " + std::to_string(steps()) +
           " --characters " + std::to_string(characters()) + " --held-out " +
           std::to_string(held_out()) + ", a text of " + std::to_string(text());
  }
};

// The number of progress lines and checkpoints, evenly spread, and not after each step.
inline constexpr std::size_t most_lines = 30;
template <std::size_t N>
struct line : axis<line, N> {};

// Everything that the next step depends on besides the text, and the results so far: saved in a
// checkpoint.
struct state {
  static constexpr const char* part_names[] = {"plan",     "weights", "optimiser", "step",
                                               "loss_sum", "losses",  "held_out"};
  learn_text::plan plan;
  tiny::weights weights;
  adamw::state<tiny::weights> optimiser;
  tensor<std::int32_t> step;                         // steps made
  tensor<double> loss_sum;                           // over the steps since the last line
  tensor<float, line<most_lines>> losses, held_out;  // of the printed lines, in nats

  std::uint64_t made() const { return static_cast<std::uint64_t>(step()); }
  std::uint64_t steps() const { return static_cast<std::uint64_t>(plan.steps()); }
  std::uint64_t chance() const { return static_cast<std::uint64_t>(plan.seed()); }
  std::uint64_t lines() const { return std::min<std::uint64_t>(most_lines, (steps() + 1) / 2); }
  std::uint64_t lines_after(std::uint64_t made) const { return made * lines() / steps(); }
  std::uint64_t end_of_line(std::uint64_t i) const { return (i * steps() + lines() - 1) / lines(); }
  // The length of the next step's pieces.
  std::size_t length() const { return 5 * made() < 4 * steps() ? half : context; }
  std::size_t pieces() const { return static_cast<std::size_t>(plan.characters()) / length(); }
};

struct training {
  state now;
  gradients of_batch;
  worker workers[most_threads];
};

// Matrices are normal with deviation 1 / sqrt(in), divided by sqrt(10) if their result is added to
// the residual, since five blocks have two each; gammas 1.
inline void first_weights(weights& w, std::uint64_t seed) {
  initialize(w, seed, [](const parameter_path& path, const auto& x) {
    if (path == "embedding") return initializer::normal(0.125);
    for (const char* block = "01234"; *block != '\0'; ++block)
      for (const char* map : {".attention.o.weight", ".feed_forward.down.weight"})
        if (path.c_str() == "blocks." + std::string{*block} + map)
          return initializer::kaiming_normal(0.31622776601683794);
    if constexpr (std::remove_cvref_t<decltype(x)>::layout::rank == 2)
      return initializer::kaiming_normal(1);
    return initializer::by_role(path, x);
  });
}

inline void begin(state& now, const plan& wanted) {
  now.plan = wanted;
  set_to_zero(now.optimiser.first), set_to_zero(now.optimiser.second);
  now.optimiser.steps() = now.step() = 0;
  now.loss_sum() = 0;
  first_weights(now.weights, now.chance());
}

// Writes the gradient of a step's pieces to all.of_batch; returns the sum of their losses.
template <std::size_t Length, class Pool>
float learn_pieces(training& all, const text& from, Pool&& pool) noexcept {
  const state& now = all.now;
  return all.of_batch.sum(
      now.pieces(), pool, [&](std::size_t b, weights& gradient, std::size_t who) {
        const int* const piece = from.drawn_piece(now.chance(), Length, now.made() << 16 | b);
        return learn(view_as<token<Length>>(piece), view_as<token<Length>>(piece + 1),
                     with_gradient(now.weights, gradient),
                     all.workers[who].template use<learning_workspace<Length>>())();
      });
}

// One step. If the gradient's norm is not finite, nothing changes, and the result reports it.
template <class Pool>
[[nodiscard]] update_result make_step(training& all, const text& from, Pool&& pool) noexcept {
  state& now = all.now;
  const double count = static_cast<double>(now.pieces());
  const float loss = now.length() == half ? learn_pieces<half>(all, from, pool)
                                          : learn_pieces<context>(all, from, pool);
  weights& gradient = all.of_batch.gradient();
  scale(gradient, 1 / count);
  clip_by_norm(gradient, 1);

  constexpr double highest = 6e-3;
  const warm_up_then_cosine rate{.rate = highest,
                                 .warm_up = std::min<std::uint64_t>(100, now.steps() / 10),
                                 .steps = now.steps(),
                                 .last = highest / 20};
  const adamw how{.rate = rate(now.made()), .beta2 = 0.99, .decay = 0.02};
  const auto made = update(now.weights, gradient, now.optimiser, how);
  if (!made) return made;
  now.loss_sum() += static_cast<double>(loss) / count;
  ++now.step();
  return made;
}

// The mean loss per character in the first `pieces` held-out ones, in nats.
template <class Pool>
double held_out_loss(training& all, const text& from, std::size_t pieces, Pool&& pool) noexcept {
  double sum_of[chain_count]{};
  pool(chain_count, [&](std::size_t c, std::size_t who) {
    auto& work = all.workers[who].template use<answering_workspace>();
    for (std::size_t i = c; i < pieces; i += chain_count) {
      const int* const piece = from.held_out_piece(i);
      sum_of[c] +=
          static_cast<double>(loss_of(view_as<token<context>>(piece),
                                      view_as<token<context>>(piece + 1), all.now.weights, work)());
    }
  });
  double sum = 0;
  for (const double one : sum_of) sum += one;
  return sum / static_cast<double>(pieces);
}

}  // namespace learn_text
