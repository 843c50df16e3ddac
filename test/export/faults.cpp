// SPDX-License-Identifier: BSL-1.0
// Preloaded into Python (hostile.py): the n-th open, write, fsync, chmod or rename below a folder
// fails, or a signal comes there. A write that fails has written its first half, as a disk does
// that is full.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace {

char folder[4096], operations[4096];
long seen = 0, at = 0;
int error = 0;  // SIGTERM comes if it is 0

bool is_below(const char* path) {
  return folder[0] != 0 && std::strncmp(path, folder, std::strlen(folder)) == 0;
}
bool is_below(int file) {
  char link[64], path[4096];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const ssize_t size = readlink(link, path, sizeof(path) - 1);
  path[size < 0 ? 0 : size] = 0;
  return is_below(path);
}
// Does this one fail? Then errno says why.
template <class Where>
bool fails(const char* operation, Where where) {
  if (!is_below(where)) return false;
  const std::size_t size = std::strlen(operations);
  std::snprintf(operations + size, sizeof(operations) - size, "%s ", operation);
  if (++seen != at) return false;
  if (error == 0) {
    std::raise(SIGTERM);
    return false;
  }
  errno = error;
  return true;
}
template <class F>
F real(const char* name, F) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}
int opened(const char* name, const char* path, int flags, unsigned mode) {
  if (fails("open", path)) return -1;
  return real(name, static_cast<int (*)(const char*, int, ...)>(nullptr))(path, flags, mode);
}

}  // namespace

extern "C" {

void faults_arm(const char* below, long n, int why) {
  std::snprintf(folder, sizeof(folder), "%s", below);
  operations[0] = 0, seen = 0, at = n, error = why;
}
long faults_seen() { return seen; }
// Those since faults_arm, each followed by a space.
const char* faults_operations() { return operations; }

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const unsigned mode = va_arg(list, unsigned);
  va_end(list);
  return opened("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const unsigned mode = va_arg(list, unsigned);
  va_end(list);
  return opened("open64", path, flags, mode);
}
ssize_t write(int file, const void* data, size_t size) {
  const auto next = real("write", &write);
  if (!fails("write", file)) return next(file, data, size);
  if (size < 2) return -1;
  ++at;  // the rest of it
  return next(file, data, size / 2);
}
int fsync(int file) { return fails("fsync", file) ? -1 : real("fsync", &fsync)(file); }
int fchmod(int file, mode_t mode) {
  return fails("fchmod", file) ? -1 : real("fchmod", &fchmod)(file, mode);
}
int rename(const char* from, const char* to) {
  return fails("rename", to) ? -1 : real("rename", &rename)(from, to);
}
}
