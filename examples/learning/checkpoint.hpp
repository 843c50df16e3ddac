// SPDX-License-Identifier: BSL-1.0
// A checkpoint: all that the next step of a training depends on, as a safetensors file with a
// checksum, from which it goes on to the bits of one that was never interrupted.
//
// The state is a struct of weights with these among its parts:
//   plan      what must be the same for a training to go on; plan.options() says it as text
//   checksum  tensor<std::int32_t>[2], of all others, its low half first
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

struct state_checksum {
  std::int32_t half[2];
};
// Of all parameters but the checksum itself.
template <class State>
state_checksum checksum_of_state(const State& now) noexcept {
  umbel::weights_checksum sum;
  umbel::for_each_parameter(now, [&](const umbel::parameter_path& path, const auto& x) {
    if (path == "checksum.0" || path == "checksum.1") return;
    sum.add(reinterpret_cast<const unsigned char*>(x.data()), x.size() * sizeof *x.data());
  });
  return {static_cast<std::int32_t>(sum.value()), static_cast<std::int32_t>(sum.value() >> 32)};
}

template <class State>
void write_checkpoint(const destination& to, State& now) {
  const auto sum = checksum_of_state(now);
  for (std::size_t i = 0; i < 2; ++i) now.checksum[i]() = sum.half[i];
  write_whole(to, now);
}

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
  umbel::file_result<> all_read;
  umbel::for_each_parameter(now, [&](const umbel::parameter_path& path, const auto& x) {
    if (all_read) all_read = file->read(path.c_str(), x);
  });
  if (!all_read) throw refused(all_read.error());
  const auto sum = checksum_of_state(now);
  if (now.checksum[0]() != sum.half[0] || now.checksum[1]() != sum.half[1])
    throw refused("its numbers are not those that were written");
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
