// SPDX-License-Identifier: BSL-1.0
// The counter behind allocations.hpp. Three ways to observe the heap, depending on the build:
//   a sanitizer owns malloc:  its hooks
//   glibc:                    the malloc family is replaced here, on top of glibc's; new uses it
//   elsewhere:                operator new and delete are replaced
#include "allocations.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define FASHION_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FASHION_SANITIZED 1
#endif

namespace fashion::heap {
namespace {

// Constant initialized: the first malloc of a process runs before any constructor.
constinit std::atomic<bool> counting{false};
constinit std::atomic<std::size_t> allocations{0};
constinit std::atomic<std::size_t> releases{0};

void saw_allocation() noexcept {
  if (counting.load(std::memory_order_relaxed)) {
    allocations.fetch_add(1, std::memory_order_relaxed);
  }
}

void saw_release(const volatile void* memory) noexcept {
  if (memory != nullptr && counting.load(std::memory_order_relaxed)) {
    releases.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

void begin() noexcept { counting = true; }
void end() noexcept { counting = false; }
calls so_far() noexcept { return {allocations, releases}; }

bool counter_works() noexcept {
  static void* volatile keep;  // volatile: the compiler may not drop the pair
  {
    const watch watching;
    keep = ::operator new(1);
    ::operator delete(keep);
  }
  const bool seen = allocations == 1 && releases == 1;
  allocations = 0;
  releases = 0;
  return seen;
}

}  // namespace fashion::heap

using fashion::heap::saw_allocation;
using fashion::heap::saw_release;

#if defined(FASHION_SANITIZED)

extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*,
                                                                           std::size_t),
                                                         void (*on_free)(const volatile void*));

namespace {
[[maybe_unused]] const int hooked = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { saw_allocation(); },
    [](const volatile void* memory) { saw_release(memory); });
}  // namespace
const char* fashion::heap::counted() noexcept { return "malloc and new"; }

#elif defined(__GLIBC__)

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

void* malloc(std::size_t size) noexcept {
  saw_allocation();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  saw_allocation();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  saw_allocation();
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  saw_allocation();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  saw_allocation();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  saw_allocation();
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  void* const found = __libc_memalign(alignment, size);
  if (found == nullptr) return ENOMEM;
  *memory = found;
  return 0;
}
void free(void* memory) noexcept {
  saw_release(memory);
  __libc_free(memory);
}
}  // extern "C"

const char* fashion::heap::counted() noexcept { return "malloc and new"; }

#else

// The standard defines the other forms of new and delete (array, nothrow, sized) through these; the
// aligned ones are a separate pair.
void* operator new(std::size_t size) {
  saw_allocation();
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc{};
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  saw_allocation();
  const auto step = static_cast<std::size_t>(alignment);
  if (void* const memory = std::aligned_alloc(step, (size + step - 1) / step * step)) return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept {
  saw_release(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { ::operator delete(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { ::operator delete(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  ::operator delete(memory);
}

const char* fashion::heap::counted() noexcept { return "new"; }

#endif
