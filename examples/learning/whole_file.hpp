// SPDX-License-Identifier: BSL-1.0
// Files that exist completely or not at all, however the program ends: written to a temporary file,
// synced to disk, then renamed. Writing allocates nothing.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <type_traits>

#include <umbel/weights.hpp>

#include "../fashion/files.hpp"
#include "../fashion/system.hpp"

namespace learning {

// Where a file is written, and its final place; made once, before anything is counted.
struct destination {
  std::string file, beside, folder;

  destination(const std::string& in, const std::string& name)
      : file(in + "/" + name), beside(file + ".part"), folder(in) {}
  bool is_there() const {
    std::error_code failed;
    return std::filesystem::exists(file, failed);
  }
};

namespace detail {

// 0, or the number of the error. write: returns a file_result, stored in `result`, or nothing.
// Afterwards the temporary file is gone or as it was.
template <class Write>
int write_beside(const destination& to, const Write& write, umbel::file_result<>& result) {
  using fashion::system::descriptor;
  // Left by a killed program.
  if (!fashion::system::remove_file(to.beside.c_str()) && errno != ENOENT) return errno;
  int wrong = 0;
  {
    descriptor out{to.beside, descriptor::use::create};
    if (!out.is_open()) return errno;
    const auto sink = [&](const char* bytes, std::size_t count) {
      if (wrong == 0 && !out.write(bytes, count)) wrong = errno;
    };
    if constexpr (std::is_void_v<decltype(write(sink))>)
      write(sink);
    else
      result = write(sink);
    if (wrong == 0 && result && !out.flush_to_disk()) wrong = errno;
  }
  if (wrong == 0 && result) wrong = fashion::system::replace(to.beside.c_str(), to.file.c_str());
  if (wrong != 0 || !result) fashion::system::remove_file(to.beside.c_str());
  return wrong;
}

}  // namespace detail

// write(sink) passes the bytes to sink(bytes, count) and returns nothing or a file_result. Throws
// fashion::input_error with one message, and the old file stays.
template <class Write>
void write_whole_by(const destination& to, const Write& write) {
  for (const std::string* path : {&to.file, &to.beside})
    if (fashion::system::is_other_than_file(path->c_str()))
      throw fashion::file_error(*path, "is no regular file, so it is not replaced: remove it");
  umbel::file_result<> result;
  if (const int why = detail::write_beside(to, write, result); why != 0)
    throw fashion::file_error(to.file,
                              std::string{"cannot be written ("} + std::strerror(why) + ")");
  if (!result) throw fashion::file_error(to.file, result.error());
  // The name as well; if a folder can't be synced, the system does it in time.
  using fashion::system::descriptor;
  descriptor folder{to.folder, descriptor::use::folder};
  if (folder.is_open()) (void)folder.flush_to_disk();
}

// Weights, or a struct of them, or a text.
template <class W>
void write_whole(const destination& to, const W& w) {
  write_whole_by(to, [&](const auto& sink) { umbel::save(sink, w); });
}
inline void write_whole(const destination& to, const std::string& text) {
  write_whole_by(to, [&](const auto& sink) { sink(text.data(), text.size()); });
}

}  // namespace learning
