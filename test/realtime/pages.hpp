// SPDX-License-Identifier: BSL-1.0
// Memory between two pages that may not be touched, for tests that ask what is read and written.
// Not here: any test.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace umbel_test {

// Do arrays end where the page behind them begins, or begin where the one before them ends?
inline bool at_end = true;

// An X, which is a tensor, weights or a workspace, in pages of its own between two that may not be
// touched. Filled with NaN, so that what was not written shows.
class pages {
  std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), inside;
  char* from;

 public:
  std::size_t bytes;
  void* data;

  pages(std::size_t size, std::size_t alignment)
      : inside((size + page - 1) / page * page),
        from(static_cast<char*>(
            mmap(nullptr, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        bytes(size) {
    char* const first = from + page;
    if (from == MAP_FAILED || mprotect(first, inside, PROT_READ | PROT_WRITE) != 0) std::abort();
    std::memset(first, 0xff, inside);
    data = at_end ? first + (inside - bytes) / alignment * alignment : first;
  }
  ~pages() { munmap(from, inside + 2 * page); }
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;
  void forbid_writing() {
    if (mprotect(from + page, inside, PROT_READ) != 0) std::abort();
  }
  // Is what is left of the pages before and behind the data as it was?
  [[nodiscard]] bool intact() const {
    for (const char* at = from + page; at != from + page + inside; ++at) {
      if (at == data) at += bytes;
      if (at == from + page + inside) break;
      if (static_cast<unsigned char>(*at) != 0xff) return false;
    }
    return true;
  }
};

// An object as it is, aligned.
template <class X>
struct object : pages {
  object() : pages(sizeof(X), alignof(X)) {}
  X& value() { return *static_cast<X*>(data); }
};

// For tests of the tests: f runs in a child, which has to die.
template <class F>
void expect_stop(const char* what, F f) {
  const pid_t child = fork();
  if (child == 0) {
    close(1);
    f();
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status == 0) {
    std::printf("nothing stopped %s\n", what);
    std::exit(1);
  }
}

}  // namespace umbel_test
