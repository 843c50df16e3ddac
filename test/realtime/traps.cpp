// SPDX-License-Identifier: BSL-1.0
// The malloc family and the locks of glibc, replaced by ones that count (operator new and delete
// end up in malloc and free); the traps of system calls; a stack that is painted.
#include "traps.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace realtime {
namespace {
// Constant initialized: the first malloc of a process runs before any constructor.
constinit std::atomic<bool> armed{false};
constinit std::atomic<std::size_t> allocations{0}, releases{0}, locks{0};

[[maybe_unused]] void count(std::atomic<std::size_t>& what) noexcept {
  if (armed.load(std::memory_order_relaxed)) what.fetch_add(1, std::memory_order_relaxed);
}

constexpr unsigned char paint = 0xa5;
alignas(65536) unsigned char stack[std::size_t{1} << 20];

struct job {
  const pass* run;
  std::size_t used;
};

[[gnu::noinline]] void* measure(void* given) {
  auto* const todo = static_cast<job*>(given);
  const auto* const here = static_cast<const unsigned char*>(__builtin_frame_address(0));
  (*todo->run)();
  const unsigned char* deepest = stack;
  while (deepest < here && *deepest == paint) ++deepest;
  todo->used = static_cast<std::size_t>(here - deepest);
  return nullptr;
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

std::size_t stack_of(const pass& run) {
  run();
  std::memset(stack, paint, sizeof stack);
  job todo{&run, 0};
  pthread_attr_t attributes;
  pthread_t thread{};
  const bool ran = pthread_attr_init(&attributes) == 0 &&
                   pthread_attr_setstack(&attributes, stack, sizeof stack) == 0 &&
                   pthread_create(&thread, &attributes, measure, &todo) == 0 &&
                   pthread_join(thread, nullptr) == 0;
  pthread_attr_destroy(&attributes);
  return ran ? todo.used : ~std::size_t{0};
}

#if defined(__linux__) && !defined(REALTIME_SANITIZED)
namespace {

constexpr int refused = 77;

// Of all system calls only the one that ends a thread. (The strict mode of seccomp would let read
// and write pass, and with them a printf.)
bool forbid_system_calls() {
  sock_filter filter[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_exit},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
  };
  const sock_fprog program{sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

system_calls ending_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return system_calls::unknown;
  if (WIFEXITED(status))
    return WEXITSTATUS(status) == 0 ? system_calls::none : system_calls::unknown;
  return system_calls::some;
}

// A traced child stops itself before what is looked at, then at each of its system calls.
system_calls calls_of_traced(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return system_calls::unknown;
  if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP) return system_calls::unknown;
  constexpr int call_stop = SIGTRAP | 0x80;
  __ptrace_syscall_info call{};
  bool known =
      ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0;
  do {
    known = known && ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0 &&
            waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
            WSTOPSIG(status) == call_stop &&
            ptrace(PTRACE_GET_SYSCALL_INFO, child, reinterpret_cast<void*>(sizeof call), &call) > 0;
  } while (known && call.op == PTRACE_SYSCALL_INFO_EXIT);  // the end of the call that stopped it
  if (WIFSTOPPED(status)) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  if (!known) return system_calls::unknown;
  return call.entry.nr == SYS_exit ? system_calls::none : system_calls::some;
}

}  // namespace

system_calls system_calls_of(const pass& run, trap_of_calls trap) {
  const bool by_seccomp = trap == trap_of_calls::seccomp;
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    if (by_seccomp ? !forbid_system_calls()
                   : ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0 || getppid() != parent)
      _exit(refused);
    if (!by_seccomp) syscall(SYS_kill, getpid(), SIGSTOP);
    run();
    syscall(SYS_exit, 0);  // _exit would end all threads, which is another call
  }
  if (child < 0) return system_calls::unknown;
  return by_seccomp ? ending_of(child) : calls_of_traced(child);
}
#else
system_calls system_calls_of(const pass&, trap_of_calls) { return system_calls::unknown; }
#endif

system_calls system_calls_of(const pass& run) {
  const system_calls seen = system_calls_of(run, trap_of_calls::seccomp);
  return seen != system_calls::unknown ? seen : system_calls_of(run, trap_of_calls::ptrace);
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

#define REALTIME_LOCK(name, type)                                                       \
  int name(type* lock) {                                                                \
    static const auto real = reinterpret_cast<int (*)(type*)>(dlsym(RTLD_NEXT, #name)); \
    count(locks);                                                                       \
    return real(lock);                                                                  \
  }
REALTIME_LOCK(pthread_mutex_lock, pthread_mutex_t)
REALTIME_LOCK(pthread_mutex_trylock, pthread_mutex_t)
REALTIME_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
REALTIME_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
REALTIME_LOCK(pthread_spin_lock, pthread_spinlock_t)
REALTIME_LOCK(sem_wait, sem_t)
}
#endif
