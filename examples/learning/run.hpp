// SPDX-License-Identifier: BSL-1.0
// A training from its beginning, or its checkpoint, to its end: common to every training program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include <umbel/weights.hpp>

#include "../fashion/allocations.hpp"
#include "checkpoint.hpp"
#include "folder.hpp"
#include "options.hpp"
#include "workers.hpp"

namespace learning {

enum exit_code { trained = 0, failed = 1, unusable = 2 };

inline void check_output() {
  if (std::fflush(stdout) != 0) throw fashion::input_error{"standard output cannot be written"};
}

// all: now, of_batch and workers. from: the training data's description. train(last, pool) makes
// the steps up to `last` and returns whether it succeeded; write() is called after the very last
// one.
template <class Training, class Train, class Write>
exit_code run(const options& wanted, const training_folder& folder, Training& all,
              const std::string& from, const Train& train, const Write& write) {
  auto& now = all.now;
  take_up(folder.checkpoint, wanted.resume, now);
  const std::uint64_t steps = now.steps();
  const std::uint64_t last =
      wanted.stop_after == 0 ? steps : std::min<std::uint64_t>(wanted.stop_after, steps);

  std::printf("%zu parameters, %s, %zu thread%s\n", umbel::count_parameters(now.weights),
              from.c_str(), wanted.threads, wanted.threads == 1 ? "" : "s");
  std::printf("bytes: state %zu, gradients %zu, workspace %zu a thread\n", sizeof now,
              sizeof all.of_batch, sizeof all.workers[0]);
  if (wanted.resume) say_where("goes on", now);
  check_output();  // before hours of learning, not after

  const bool counted = fashion::heap::counter_works();
  const bool good = with_pool(wanted.threads, [&](auto&& pool) {
    const fashion::heap::watch watching;
    return train(last, pool);
  });
  if (!good) return failed;
  const auto allocations = fashion::heap::so_far().allocations;
  std::printf("%zu allocations while learning (%s counted)\n", allocations,
              counted ? fashion::heap::counted() : "not");
  if (now.made() < steps)
    say_where("stopped", now, "; --resume goes on");
  else
    write();
  check_output();
  return allocations == 0 ? trained : failed;
}

// run() for the program of this name; bad input is reported in a line.
template <class Run>
int main_of(const char* program, const Run& run) {
  fashion::system::be_ready_to_write();
  try {
    return run();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s: %s\n", program, problem.what());
    return unusable;
  }
}

}  // namespace learning
