// SPDX-License-Identifier: BSL-1.0
// What a real-time thread must not do, seen: calls of the malloc family and of operator new and
// delete, locks, system calls; and how deep the stack goes. Not here: what is checked with it
// (pass.hpp).
#pragma once

#include <cstddef>

namespace realtime {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REALTIME_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REALTIME_SANITIZED 1
#endif
#endif
#if defined(__GLIBC__) && !defined(REALTIME_SANITIZED)
inline constexpr bool trapped = true;  // a sanitizer has the malloc family for itself
#else
inline constexpr bool trapped = false;
#endif
#if defined(REALTIME_SANITIZED)
inline constexpr bool stack_is_meant = false;  // a sanitizer puts space between variables
#else
inline constexpr bool stack_is_meant = true;
#endif
#if defined(__OPTIMIZE__)
inline constexpr bool optimized = true;
#else
inline constexpr bool optimized = false;
#endif

// What is run under the traps: a function object of the caller's, which outlives this.
class pass {
 public:
  template <class F>
  explicit pass(F& f) noexcept : run_([](void* of) { (*static_cast<F*>(of))(); }), of_(&f) {}
  void operator()() const { run_(of_); }

 private:
  void (*run_)(void*);
  void* of_;
};

struct counts {
  std::size_t allocations, releases, locks;
};

void arm() noexcept;
counts disarm() noexcept;  // since arm()

// Bytes of stack that the pass uses, in a thread whose stack is painted beforehand. It has run once
// before: the first call of memcpy goes through the dynamic linker.
std::size_t stack_of(const pass& run);

enum class system_calls { none, some, unknown };
enum class trap_of_calls { seccomp, ptrace };

// Does the pass make a system call? It runs in a child, which the kernel kills for one (seccomp),
// or whose parent is told of it (ptrace). Unknown: not Linux, a sanitizer, or a kernel or container
// that refuses the trap.
system_calls system_calls_of(const pass& run, trap_of_calls trap);
// By the first trap that is to be had.
system_calls system_calls_of(const pass& run);

}  // namespace realtime
