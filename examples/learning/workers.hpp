// SPDX-License-Identifier: BSL-1.0
// One to four threads, and a worker's memory. The samples of a batch add to the gradients of four
// chains (umbel/training/batch_gradient.hpp), so the bits don't depend on the threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <latch>
#include <new>
#include <type_traits>

#include <umbel/layer/executor.hpp>

#include "../thread_pool.hpp"

namespace learning {

inline constexpr std::size_t chain_count = 4, most_threads = chain_count;

// f(executor), with 1, 2 or 4 threads.
template <class F>
auto with_pool(std::size_t threads, const F& f) {
  if (threads == 1) return f(umbel::serial);
  // Starting a thread allocates, so it happens first.
  const auto with_threads = [&]<std::size_t Count>(thread_pool<Count>&& pool) {
    std::latch all_started{Count};
    pool(Count, [&](std::size_t, std::size_t) { all_started.arrive_and_wait(); });
    return f(pool);
  };
  return threads == 2 ? with_threads(thread_pool<2>{}) : with_threads(thread_pool<most_threads>{});
}

// Workspaces that use the same memory in turn.
template <class... Workspace>
class one_of {
 public:
  template <class W>
  W& use() noexcept {
    static_assert((std::is_same_v<W, Workspace> || ...));
    return *new (memory_) W;
  }

 private:
  alignas(64) std::byte memory_[std::max({sizeof(Workspace)...})];
};

}  // namespace learning
