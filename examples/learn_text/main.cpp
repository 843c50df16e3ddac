// SPDX-License-Identifier: BSL-1.0
// Trains the language model from scratch: prints thirty lines of progress, each with a checkpoint
// that resumes with the same bits, and writes weights for examples/tiny_language_model.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "../learning/chart.hpp"
#include "../learning/run.hpp"
#include "options.hpp"
#include "training.hpp"

namespace learn_text {
namespace {

using learning::destination;

training all;  // all the memory of learning

struct until {
  std::uint64_t step;
  std::uint64_t checkpoint_every;  // steps; 0: with every line
  std::size_t pieces;              // of the held-out text, for a line
  const destination& checkpoint;
};

// False if a step failed.
template <class Pool>
bool train(const text& from, const until& last, Pool&& pool) {
  using clock = std::chrono::steady_clock;
  state& now = all.now;
  const std::uint64_t begun_at = now.made();
  const auto begun = clock::now();
  while (now.made() < last.step) {
    const auto made = make_step(all, from, pool);
    if (!made) {
      std::fprintf(stderr, "learn_text: step %llu: the norm of the gradient is %g\n",
                   static_cast<unsigned long long>(now.made() + 1), made.norm);
      return false;
    }
    const std::uint64_t step = now.made(), line = now.lines_after(step);
    const bool is_line = step == now.end_of_line(line);
    if (is_line) {
      const double loss = now.loss_sum() / static_cast<double>(step - now.end_of_line(line - 1));
      const double held_out = held_out_loss(all, from, last.pieces, pool);
      const double spent = std::chrono::duration<double>(clock::now() - begun).count();
      const double left =
          spent / static_cast<double>(step - begun_at) * static_cast<double>(now.steps() - step);
      std::printf("step %llu/%llu  loss %.4f  perplexity %.3f  %.0f s left\n",
                  static_cast<unsigned long long>(step),
                  static_cast<unsigned long long>(now.steps()), loss, std::exp(held_out), left);
      std::fflush(stdout);
      now.losses(line - 1) = static_cast<float>(loss);
      now.held_out(line - 1) = static_cast<float>(held_out);
      now.loss_sum() = 0;
    }
    const bool is_due = last.checkpoint_every == 0 ? is_line : step % last.checkpoint_every == 0;
    if (is_due || step == last.step) write_whole(last.checkpoint, now);
  }
  return true;
}

std::string curves(const state& now) {
  std::vector<double> loss, perplexity;
  for (std::size_t i = 0; i < now.lines(); ++i) {
    loss.push_back(static_cast<double>(now.losses(i)));
    perplexity.push_back(std::exp(static_cast<double>(now.held_out(i))));
  }
  const std::string steps = "times " + std::to_string(now.end_of_line(1)) + " steps";
  return learning::chart({{"loss of a character", steps, 1, {{"loss", loss}}},
                          {"perplexity of the text held out", steps, 1, {{"", perplexity}}}});
}

// In tiny::load_weights's format: with the first characters of the text and their logits.
void write_weights(const destination& to, const weights& w, const text& from) {
  const auto probe = view_as<axes::token<24>>(from.tokens.data());
  const tiny::logits<24> logits = tiny::causal_logits(probe, w);
  write_whole_by(to, [&](const auto& sink) {
    return write_safetensors(sink, [&](auto put) {
      for_each_parameter(w,
                         [&](const parameter_path& path, const auto& x) { put(path.c_str(), x); });
      put("probe.input", probe);
      put("probe.output", logits);
    });
  });
}

int run(const options& wanted) {
  if (wanted.help) return std::fputs(usage, stdout), learning::trained;
  const text from = read_text(wanted.text, wanted.held_out);
  const learning::training_folder folder{wanted.out};
  const destination picture = folder.other("curves.svg");

  const auto number = [](std::uint64_t x) {
    return tensor<std::int32_t>{static_cast<std::int32_t>(x)};
  };
  begin(all.now, {number(wanted.seed), number(wanted.steps), number(wanted.characters),
                  number(wanted.held_out), number(from.size())});
  const std::size_t pieces = from.held_out_pieces();
  const std::string learned_from = std::to_string(from.learned_from()) + " characters, " +
                                   std::to_string(wanted.characters) + " a step";
  const auto learn_all = [&](std::uint64_t last, auto&& pool) {
    const until end{last, wanted.checkpoint_every, std::min<std::size_t>(pieces, 32),
                    folder.checkpoint};
    if (!train(from, end, pool)) return false;
    const double loss = held_out_loss(all, from, pieces, pool);
    std::printf("held out, %zu characters: loss %.4f, perplexity %.4f\n", pieces * context, loss,
                std::exp(loss));
    return true;
  };
  return learning::run(wanted, folder, all, learned_from, learn_all, [&] {
    write_weights(folder.result, all.now.weights, from);
    write_whole(picture, curves(all.now));
    std::printf("%s\n", folder.result.file.c_str());
  });
}

}  // namespace
}  // namespace learn_text

int main(int count, char** words) {
  return learning::main_of("learn_text",
                           [&] { return learn_text::run(learn_text::parse(count, words)); });
}
