// SPDX-License-Identifier: BSL-1.0
// Trains the demo's clothing classifier from scratch: prints a line per epoch, writes checkpoints
// that resume with the same bits, and averages the weights at the end.
#include <cstdio>
#include <string>
#include <vector>

#include "../learning/chart.hpp"
#include "../learning/run.hpp"
#include "options.hpp"
#include "prune.hpp"
#include "train.hpp"

namespace learn_fashion {
namespace {

using learning::destination, learning::with_pool;

training all;  // all the memory of learning
epoch_order order;

// For the finished epochs.
std::string curves(const state& now) {
  const auto over = static_cast<std::ptrdiff_t>(now.made() / now.plan.steps_of_epoch());
  const auto points = [&](const auto& of) {
    return std::vector<double>(of.data(), of.data() + over);
  };
  return learning::chart(
      {{"loss of the training pictures", "epoch", 1, {{"loss", points(now.losses)}}},
       {"test pictures that are right, %", "epoch", 1, {{"right", points(now.right)}}}});
}

int prune_heads(const options& wanted, const data_set& data) {
  static weights demo;
  load_demo(wanted.prune, demo);
  const learning::training_folder folder{wanted.out};
  const auto right = with_pool(wanted.threads, [&](auto&& pool) {
    return prune(all, order, demo, data, wanted.seed, wanted.epochs, pool);
  });
  write_whole(folder.other("pruned-heads.svg"), drawn(right));
  learning::check_output();
  return learning::trained;
}

int run(const options& wanted) {
  if (wanted.help) return std::fputs(usage, stdout), learning::trained;
  const data_set data = wanted.synthetic ? make_pictures() : read_pictures(wanted.data);
  if (!wanted.prune.empty()) return prune_heads(wanted, data);
  const learning::training_folder folder{wanted.out};
  const destination picture = folder.other("curves.svg");

  begin(all.now, wanted.seed, wanted.epochs, data.train.size());
  const std::string from =
      std::to_string(data.train.size()) + " pictures, batches of " + std::to_string(batch_size);
  double right = 0;
  const auto learn_all = [&](std::uint64_t last, auto&& pool) {
    const until end{last, wanted.checkpoint_every, &folder.checkpoint};
    if (!train(all, order, data, end, pool)) return false;
    right = accuracy(all, data.test, pool);
    return true;
  };
  return learning::run(wanted, folder, all, from, learn_all, [&] {
    write_whole(folder.result, all.now.average);
    write_whole(picture, curves(all.now));
    std::printf("%.2f %% of the test pictures: %s\n", right, folder.result.file.c_str());
  });
}

}  // namespace
}  // namespace learn_fashion

int main(int count, char** words) {
  return learning::main_of("learn_fashion",
                           [&] { return learn_fashion::run(learn_fashion::parse(count, words)); });
}
