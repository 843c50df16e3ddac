// SPDX-License-Identifier: BSL-1.0
// Measures stack depth: the call runs in a thread whose stack is our memory, painted beforehand;
// the deepest byte that lost its paint is the high-water mark. Linux and other POSIX systems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <pthread.h>

namespace fashion::stack {

// Sanitizers and unoptimized builds use far more stack than a release: their figures prove nothing
// about the bound.
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool representative = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
constexpr bool representative = false;
#else
constexpr bool representative = true;
#endif
#else
constexpr bool representative = true;
#endif

namespace detail {

constexpr std::uint8_t paint = 0xa5;

struct job {
  void (*call)(void*);
  void* argument;
  const std::uint8_t* bottom;  // the lowest byte of the thread's stack
  std::size_t used;
};

[[gnu::noinline]] inline void* run(void* given) {
  job& todo = *static_cast<job*>(given);
  const auto* const caller = static_cast<const std::uint8_t*>(__builtin_frame_address(0));
  todo.call(todo.argument);
  // Searched here, not after the thread ends, which uses the stack as well.
  const std::uint8_t* deepest = todo.bottom;
  while (deepest != caller && *deepest == paint) ++deepest;
  todo.used = static_cast<std::size_t>(caller - deepest);
  return nullptr;
}

}  // namespace detail

// Bytes of stack below the caller's frame while `call(argument)` runs, or nothing without a thread.
// Run `call` once before: the first call of a shared library's function goes through the dynamic
// linker, whose stack is not the model's. `room` is far above the expected use.
inline std::optional<std::size_t> measure(void (*call)(void*), void* argument, std::size_t room) {
  constexpr std::size_t page = 65536;  // as large as any system's
  const std::size_t size = room / page * page + 2 * page;
  std::vector<std::uint8_t> memory(size + page, detail::paint);
  std::uint8_t* const bottom =
      memory.data() + (page - reinterpret_cast<std::uintptr_t>(memory.data()) % page);

  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return {};
  detail::job todo{call, argument, bottom, 0};
  pthread_t thread{};
  const bool ran = pthread_attr_setstack(&attributes, bottom, size) == 0 &&
                   pthread_create(&thread, &attributes, detail::run, &todo) == 0 &&
                   pthread_join(thread, nullptr) == 0;
  pthread_attr_destroy(&attributes);
  if (!ran) return {};
  return todo.used;
}

}  // namespace fashion::stack
