// SPDX-License-Identifier: BSL-1.0
// Files that are there whole or not at all, however the program ends: written beside, brought to
// the disk, then renamed. A checkpoint is one, a safetensors file of the whole state with a
// checksum; nothing is allocated to write it.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <umbel/file/mapped_file.hpp>
#include <umbel/files.hpp>
#include <umbel/weights.hpp>

#include "../fashion/files.hpp"
#include "training.hpp"

namespace learn_fashion {

// Where a file is written, and where it goes; made once, before anything is counted.
struct destination {
  std::string file, beside, folder;

  destination(const std::string& in, const std::string& name)
      : file(in + "/" + name), beside(file + ".part"), folder(in) {}
  bool is_there() const { return ::access(file.c_str(), F_OK) == 0; }
};

namespace detail {

class descriptor {
 public:
  descriptor(const char* path, int flags) noexcept : number_(::open(path, flags, 0644)) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  bool is_open() const noexcept { return number_ >= 0; }
  bool write(const char* bytes, std::size_t count) noexcept {
    while (count != 0) {
      const ssize_t done = ::write(number_, bytes, count);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      bytes += done;
      count -= static_cast<std::size_t>(done);
    }
    return true;
  }
  bool reach_disk() noexcept { return ::fsync(number_) == 0; }

 private:
  int number_;
};

template <class Write>
bool write_beside(const destination& to, const Write& write) noexcept {
  descriptor out{to.beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC};
  bool good = out.is_open();
  write([&](const char* bytes, std::size_t count) { good = good && out.write(bytes, count); });
  return good && out.reach_disk();
}
// write(sink) gives the bytes to sink(bytes, count). Throws fashion::input_error, and what was
// there stays.
template <class Write>
void write_whole_by(const destination& to, const Write& write) {
  if (!write_beside(to, write) || std::rename(to.beside.c_str(), to.file.c_str()) != 0) {
    const int why = errno;
    ::unlink(to.beside.c_str());
    throw fashion::file_error(to.file,
                              std::string{"cannot be written ("} + std::strerror(why) + ")");
  }
  // The name, too; where a folder cannot be synchronised, the system does it in its time.
  descriptor folder{to.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC};
  if (folder.is_open()) (void)folder.reach_disk();
}

}  // namespace detail

// Weights, or a struct of them, or a text, as a file; throws fashion::input_error, and what was
// there stays.
template <class W>
void write_whole(const destination& to, const W& w) {
  detail::write_whole_by(to, [&](const auto& sink) { save(sink, w); });
}
inline void write_whole(const destination& to, const std::string& text) {
  detail::write_whole_by(to, [&](const auto& sink) { sink(text.data(), text.size()); });
}

// Of all parameters but the checksum itself.
struct state_checksum {
  std::int32_t half[2];
};
inline state_checksum checksum_of_state(const state& now) noexcept {
  weights_checksum sum;
  for_each_parameter(now, [&](const parameter_path& path, const auto& x) {
    if (path == "checksum.0" || path == "checksum.1") return;
    sum.add(reinterpret_cast<const unsigned char*>(x.data()), x.size() * sizeof *x.data());
  });
  return {static_cast<std::int32_t>(sum.value()), static_cast<std::int32_t>(sum.value() >> 32)};
}

inline void write_checkpoint(const destination& to, state& now) {
  const auto sum = checksum_of_state(now);
  for (std::size_t i = 0; i < 2; ++i) now.checksum[i]() = sum.half[i];
  write_whole(to, now);
}

// Throws fashion::input_error, one sentence, where the file is not as it was written, or is of
// another training than `wanted`. (`now` may then be changed.)
inline void read_checkpoint(const destination& from, const plan& wanted, state& now) {
  // Of what is wrong, the first.
  const auto refused = [&](const char* why) {
    std::string line{why};
    line.resize(std::min(line.find('\n'), line.size()));
    if (line.starts_with("umbel: ")) line.erase(0, 7);
    return fashion::file_error(from.file, "is no whole checkpoint (" + line + ")");
  };
  const auto memory = mapped_file::open(from.file.c_str());
  if (!memory) throw refused(memory.error());
  const auto file = tensor_file::in_memory(*memory);
  if (!file) throw refused(file.error());
  file_result<> all_read;
  for_each_parameter(now, [&](const parameter_path& path, const auto& x) {
    if (all_read) all_read = file->read(path.c_str(), x);
  });
  if (!all_read) throw refused(all_read.error());
  const auto sum = checksum_of_state(now);
  if (now.checksum[0]() != sum.half[0] || now.checksum[1]() != sum.half[1])
    throw refused("its numbers are not those that were written");
  const auto& its = now.plan;
  if (its.seed() != wanted.seed() || its.epochs() != wanted.epochs() ||
      its.pictures() != wanted.pictures())
    throw fashion::file_error(from.file, "is of another training: --seed " +
                                             std::to_string(its.seed()) + " --epochs " +
                                             std::to_string(its.epochs()) + ", " +
                                             std::to_string(its.pictures()) + " pictures");
}

}  // namespace learn_fashion
