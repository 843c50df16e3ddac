// SPDX-License-Identifier: BSL-1.0
// Trains the demo's clothing classifier from scratch: a line an epoch, a checkpoint that goes on to
// the same bits, the average of the weights at the end.
#include <algorithm>
#include <cstdio>
#include <exception>

#include "../fashion/allocations.hpp"
#include "../learning/chart.hpp"
#include "../learning/checkpoint.hpp"
#include "options.hpp"
#include "prune.hpp"
#include "train.hpp"

namespace learn_fashion {
namespace {

using learning::destination, learning::with_pool;

training all;  // all that learning works in
epoch_order order;

enum exit_code { trained = 0, failed = 1, unusable = 2 };

// Of the epochs that are over.
std::string curves(const state& now) {
  const auto over = static_cast<std::ptrdiff_t>(now.made() / now.plan.steps_of_epoch());
  const auto points = [&](const auto& of) {
    return std::vector<double>(of.data(), of.data() + over);
  };
  return learning::chart(
      {{"loss of the training pictures", "epoch", 1, {{"loss", points(now.losses)}}},
       {"test pictures that are right, %", "epoch", 1, {{"right", points(now.right)}}}});
}

exit_code prune_heads(const options& wanted, const data_set& data) {
  static weights demo;
  load_demo(wanted.prune, demo);
  fashion::make_writable_folder(wanted.out);
  const destination picture{wanted.out, "pruned-heads.svg"};
  const auto right = with_pool(wanted.threads, [&](auto&& pool) {
    return prune(all, order, demo, data, wanted.seed, wanted.epochs, pool);
  });
  write_whole(picture, drawn(right));
  if (std::fflush(stdout) != 0) throw fashion::input_error{"standard output cannot be written"};
  return trained;
}

exit_code run(const options& wanted) {
  if (wanted.help) return std::fputs(usage, stdout), trained;
  const data_set data = wanted.synthetic ? make_pictures() : read_pictures(wanted.data);
  if (!wanted.prune.empty()) return prune_heads(wanted, data);
  fashion::make_writable_folder(wanted.out);
  const destination checkpoint{wanted.out, "checkpoint.safetensors"};
  const destination result{wanted.out, "weights.safetensors"};
  const destination picture{wanted.out, "curves.svg"};

  state& now = all.now;
  begin(now, wanted.seed, wanted.epochs, data.train.size());
  take_up(checkpoint, wanted.resume, now);
  const std::uint64_t steps = now.steps();
  const std::uint64_t asked = wanted.stop_after == 0 ? steps : wanted.stop_after;
  const std::uint64_t last = std::min(asked, steps);

  std::printf("%zu parameters, %zu pictures, batches of %zu, %zu thread%s\n",
              count_parameters(now.weights), data.train.size(), batch_size, wanted.threads,
              wanted.threads == 1 ? "" : "s");
  std::printf("bytes: state %zu, gradients %zu, workspace %zu a thread\n", sizeof(state),
              sizeof all.of_batch, sizeof(worker));
  if (wanted.resume) learning::say_where("goes on", now);
  std::fflush(stdout);

  const bool counted = fashion::heap::counter_works();
  double right = 0;
  const bool good = with_pool(wanted.threads, [&](auto&& pool) {
    const fashion::heap::watch watching;
    if (!train(all, order, data, {last, wanted.checkpoint_every, &checkpoint}, pool)) return false;
    right = accuracy(all, data.test, pool);
    return true;
  });
  if (!good) return failed;
  const auto allocations = fashion::heap::so_far().allocations;
  std::printf("%zu allocations while learning (%s counted)\n", allocations,
              counted ? fashion::heap::counted() : "not");
  if (now.made() < steps) {
    learning::say_where("stopped", now, "; --resume goes on");
  } else {
    write_whole(result, now.average);
    write_whole(picture, curves(now));
    std::printf("%.2f %% of the test pictures: %s\n", right, result.file.c_str());
  }
  if (std::fflush(stdout) != 0) throw fashion::input_error{"standard output cannot be written"};
  return allocations == 0 ? trained : failed;
}

}  // namespace
}  // namespace learn_fashion

int main(int count, char** words) {
  try {
    return learn_fashion::run(learn_fashion::parse(count, words));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "learn_fashion: %s\n", problem.what());
    return learn_fashion::unusable;
  }
}
