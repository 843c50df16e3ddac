// SPDX-License-Identifier: BSL-1.0
// Real-time threads: passes that each trap must stop, then everything that the library computes.
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <shared_mutex>

#include "pass.hpp"

namespace realtime {
namespace {

// A pass that does one thing that is forbidden.
template <class F>
void must_stop(const char* name, bool trap_is_there, F wrong) {
  if (!trap_is_there) return report_skipped(name, "no such trap in this build");
  report(name, !is_real_time(look_at(pass{wrong}), 0), "was not noticed");
}

template <class F>
void must_trap(const char* name, trap_of_calls trap, F call) {
  auto nothing = [] {};
  const auto without = system_calls_of(pass{nothing}, trap),
             with = system_calls_of(pass{call}, trap);
  if (without == system_calls::unknown)
    return report_skipped(name, "system calls are not trapped here");
  report(name, without == system_calls::none && with == system_calls::some, "was not noticed");
}

void* volatile kept;  // so that no compiler leaves an allocation out

}  // namespace

void check_the_traps() {
  group("trap");
  must_stop("operator new", trapped, [] {
    kept = ::operator new(8);
    ::operator delete(kept);
  });
  must_stop("aligned new", trapped, [] {
    constexpr std::align_val_t alignment{64};
    kept = ::operator new(8, alignment);
    ::operator delete(kept, alignment);
  });
  must_stop("malloc", trapped, [] { kept = std::malloc(8), std::free(kept); });
  must_stop("calloc", trapped, [] { kept = std::calloc(1, 8), std::free(kept); });
  must_stop("realloc", trapped, [] { kept = std::realloc(nullptr, 8), std::free(kept); });
  must_stop("aligned_alloc", trapped, [] { kept = std::aligned_alloc(64, 64), std::free(kept); });
  must_stop("posix_memalign", trapped, [] {
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, 64) == 0) kept = memory, std::free(kept);
  });
  static void* given[8];  // released, and not allocated, in the pass
  for (void*& memory : given) memory = std::malloc(8);
  must_stop("free", trapped, [at = 0]() mutable {
    if (at < 8) std::free(given[at++]);
  });
  static std::mutex mutex;
  static std::shared_mutex shared;
  static pthread_spinlock_t spin;
  static sem_t semaphore;
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  sem_init(&semaphore, 0, 1);
  must_stop("mutex", trapped, [] { mutex.lock(), mutex.unlock(); });
  must_stop("mutex, tried", trapped, [] {
    if (mutex.try_lock()) mutex.unlock();
  });
  must_stop("shared mutex", trapped, [] { shared.lock(), shared.unlock(); });
  must_stop("shared mutex, read", trapped, [] { shared.lock_shared(), shared.unlock_shared(); });
  must_stop("spin lock", trapped, [] { pthread_spin_lock(&spin), pthread_spin_unlock(&spin); });
  must_stop("semaphore", trapped, [] { sem_wait(&semaphore), sem_post(&semaphore); });
  must_stop("stack", stack_is_meant, [] {
    volatile char room[optimized ? 10'000 : 200'000];
    for (std::size_t i = 0; i < sizeof room; ++i) room[i] = 1;
  });
  for (const auto trap : {trap_of_calls::seccomp, trap_of_calls::ptrace}) {
    const bool by_seccomp = trap == trap_of_calls::seccomp;
    must_trap(by_seccomp ? "seccomp: yield" : "ptrace: yield", trap, [] { ::sched_yield(); });
    must_trap(by_seccomp ? "seccomp: write" : "ptrace: write", trap, [] {
      if (::write(1, "", 0) != 0) std::abort();
    });
  }
}

}  // namespace realtime

int main() {
  realtime::check_the_traps();
  realtime::check_layers();
  realtime::check_operations();
  realtime::check_decoding();
  realtime::check_formulas();
  realtime::check_integers();
  realtime::check_learning();
  return realtime::finish();
}
