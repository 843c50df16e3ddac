// SPDX-License-Identifier: BSL-1.0
// The malloc family and the locks of glibc, replaced by ones that count. operator new and delete
// end up in malloc and free.
#include "traps.hpp"

#include <dlfcn.h>
#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace realtime {
namespace {
// Constant initialised: the first malloc of a process runs before any constructor.
constinit std::atomic<bool> armed{false};
constinit std::atomic<std::size_t> allocations{0}, releases{0}, locks{0};

[[maybe_unused]] void count(std::atomic<std::size_t>& what) noexcept {
  if (armed.load(std::memory_order_relaxed)) what.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

void arm() noexcept {
  allocations = releases = locks = 0;
  armed = true;
}
counts disarm() noexcept {
  armed = false;
  return {allocations, releases, locks};
}
}  // namespace realtime

#if defined(__GLIBC__) && !defined(REALTIME_SANITIZED)
using namespace realtime;

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

void* malloc(std::size_t size) noexcept {
  count(allocations);
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) noexcept {
  count(allocations);
  return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  count(allocations);
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  count(allocations);
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  count(allocations);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  count(allocations);
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
void free(void* memory) noexcept {
  if (memory != nullptr) count(releases);
  __libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto real =
      reinterpret_cast<decltype(&pthread_mutex_lock)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  count(locks);
  return real(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  static const auto real =
      reinterpret_cast<decltype(&pthread_rwlock_rdlock)>(dlsym(RTLD_NEXT, "pthread_rwlock_rdlock"));
  count(locks);
  return real(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  static const auto real =
      reinterpret_cast<decltype(&pthread_rwlock_wrlock)>(dlsym(RTLD_NEXT, "pthread_rwlock_wrlock"));
  count(locks);
  return real(lock);
}
}
#endif
