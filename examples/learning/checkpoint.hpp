// SPDX-License-Identifier: BSL-1.0
// A checkpoint: all that the next step of a training depends on, as a safetensors file with a
// checksum, from which it goes on to the bits of one that was never interrupted.
//
// The state is a struct of weights with this among its parts:
//   plan      what must be the same for a training to go on; plan.options() says it as text
// and two functions, made() and steps(): how many steps were made, and how many there are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include <umbel/file/mapped_file.hpp>
#include <umbel/files.hpp>
#include <umbel/weights.hpp>

#include "whole_file.hpp"

namespace learning {

// Throws fashion::input_error, one sentence, where the file is not as it was written, or is of
// another training than the plan in `now` says. (`now` may then be changed.)
template <class State>
void read_checkpoint(const destination& from, State& now) {
  // Of what is wrong, the first.
  const auto refused = [&](const char* why) {
    std::string line{why};
    line.resize(std::min(line.find('\n'), line.size()));
    if (line.starts_with("umbel: ")) line.erase(0, 7);
    return fashion::file_error(from.file, "is no whole checkpoint (" + line + ")");
  };
  const std::string wanted = now.plan.options();
  const auto memory = umbel::mapped_file::open(from.file.c_str());
  if (!memory) throw refused(memory.error());
  const auto file = umbel::tensor_file::in_memory(*memory);
  if (!file) throw refused(file.error());
  if (const auto same = umbel::verify_checksum(*file); !same) throw refused(same.error());
  umbel::file_result<> all_read;
  umbel::for_each_parameter(now, [&](const umbel::parameter_path& path, const auto& x) {
    if (all_read) all_read = file->read(path.c_str(), x);
  });
  if (!all_read) throw refused(all_read.error());
  if (const std::string its = now.plan.options(); its != wanted)
    throw fashion::file_error(from.file, "is of another training, which was begun with " + its +
                                             "; remove it, or begin elsewhere: --out DIR");
}

// `now`, where a training begins, or what its checkpoint says. Throws fashion::input_error, also
// where there is a checkpoint that was not asked for.
template <class State>
void take_up(const destination& checkpoint, bool resume, State& now) {
  if (resume)
    read_checkpoint(checkpoint, now);
  else if (checkpoint.is_there())
    throw fashion::file_error(checkpoint.file,
                              "is there: --resume goes on from it, --out DIR begins elsewhere");
}

// "goes on after step 3 of 8"
template <class State>
void say_where(const char* begin, const State& now, const char* end = "") {
  std::printf("%s after step %llu of %llu%s\n", begin, static_cast<unsigned long long>(now.made()),
              static_cast<unsigned long long>(now.steps()), end);
}

}  // namespace learning
