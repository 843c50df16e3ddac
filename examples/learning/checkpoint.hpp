// SPDX-License-Identifier: BSL-1.0
// A checkpoint: everything that the next step of a training depends on, as a safetensors file with
// a checksum. Resuming gives the bits of an uninterrupted training.
//
// The state is a struct of weights with this among its parts:
//   plan      must be the same to resume; plan.options() returns it as text
// and two functions, made() and steps(): the number of steps made, and of all.
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

// Throws fashion::input_error, one message, if the file has changed or belongs to a training with a
// different plan than `now`. (`now` may then have changed.)
template <class State>
void read_checkpoint(const destination& from, State& now) {
  // Reports the first error.
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

// `now` at the start of a training, or from its checkpoint. Throws fashion::input_error, also if
// there is an unexpected checkpoint.
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
