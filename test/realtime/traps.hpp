// SPDX-License-Identifier: BSL-1.0
// What a real-time thread must not do, counted: calls of the malloc family and of operator new and
// delete, locks taken, system calls; and how deep the stack goes. Not here: what is checked with it
// (forward.cpp).
#pragma once

#include <pthread.h>
#if defined(__linux__)
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif
#include <cstddef>
#include <cstdint>
#include <cstring>

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

struct counts {
  std::size_t allocations, releases, locks;
};

void arm() noexcept;
counts disarm() noexcept;  // since arm()

namespace detail {

inline constexpr unsigned char paint = 0xa5;
inline constexpr std::size_t stack_room = std::size_t{1} << 20;
alignas(65536) inline unsigned char stack[stack_room];

template <class F>
struct job {
  F* call;
  std::size_t used;
};

template <class F>
[[gnu::noinline]] void* run(void* given) {
  auto* const todo = static_cast<job<F>*>(given);
  const auto* const here = static_cast<const unsigned char*>(__builtin_frame_address(0));
  (*todo->call)();
  const unsigned char* deepest = stack;
  while (deepest < here && *deepest == paint) ++deepest;
  todo->used = static_cast<std::size_t>(here - deepest);
  return nullptr;
}

}  // namespace detail

// Bytes of stack that f() uses, in a thread whose stack is painted beforehand. f has run once
// before: the first call of memcpy goes through the dynamic linker.
template <class F>
std::size_t stack_of(F f) {
  f();
  std::memset(detail::stack, detail::paint, sizeof detail::stack);
  detail::job<F> todo{&f, 0};
  pthread_attr_t attributes;
  pthread_t thread{};
  const bool ran = pthread_attr_init(&attributes) == 0 &&
                   pthread_attr_setstack(&attributes, detail::stack, sizeof detail::stack) == 0 &&
                   pthread_create(&thread, &attributes, detail::run<F>, &todo) == 0 &&
                   pthread_join(thread, nullptr) == 0;
  pthread_attr_destroy(&attributes);
  return ran ? todo.used : ~std::size_t{0};
}

enum class system_calls { none, some, unknown };

// Does f() make a system call? It runs in a child whose kernel kills it for one (seccomp, strict).
// Unknown: not Linux, a sanitizer, or a kernel without that.
template <class F>
system_calls system_calls_of([[maybe_unused]] F f) {
#if defined(__linux__) && !defined(REALTIME_SANITIZED)
  constexpr int not_here = 77;
  const pid_t child = fork();
  if (child == 0) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) _exit(not_here);
    f();
    syscall(SYS_exit, 0);  // _exit would end all threads, which is another call, and forbidden
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return system_calls::unknown;
  if (WIFEXITED(status) && WEXITSTATUS(status) == not_here) return system_calls::unknown;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? system_calls::none : system_calls::some;
#else
  return system_calls::unknown;
#endif
}

}  // namespace realtime
