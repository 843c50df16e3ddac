// SPDX-License-Identifier: BSL-1.0
// An executor (umbel/layer/executor.hpp) with std::thread: Workers - 1 threads that live as long as
// the pool, plus the calling one. A call allocates nothing. Between calls, threads poll for some
// tens of microseconds, then sleep. One call at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>

template <std::size_t Workers>
class thread_pool {
 public:
  static constexpr std::size_t workers = Workers;

  thread_pool() {
    for (std::size_t i = 0; i + 1 < Workers; ++i)
      threads_[i] = std::thread([=, this] { serve(i + 1); });
  }
  ~thread_pool() {
    stop_.store(true, std::memory_order_relaxed);
    begin_round();
    for (std::thread& thread : threads_) thread.join();
  }
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  // piece(index, worker) for each index below count; any free worker takes the next one.
  template <class Piece>
  void operator()(std::size_t count, const Piece& piece) noexcept {
    call_ = [](const void* what, std::size_t index, std::size_t worker) {
      (*static_cast<const Piece*>(what))(index, worker);
    };
    piece_ = &piece;
    count_ = count;
    next_.store(0, std::memory_order_relaxed);
    open_.store(true);
    begin_round();
    take_pieces(0);
    // A thread that hasn't arrived by now, because its core is busy, isn't waited for.
    open_.store(false);
    until([](std::size_t inside) { return inside == 0; }, inside_);
  }

 private:
  void begin_round() noexcept {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
  void serve(std::size_t worker) noexcept {
    for (std::size_t seen = 0;;) {
      until([&](std::size_t round) { return round != seen; }, round_);
      seen = round_.load(std::memory_order_acquire);
      if (stop_.load(std::memory_order_relaxed)) return;
      // Sequentially consistent, like the two above: either the caller sees this thread inside, or
      // this thread sees that the call is over.
      inside_.fetch_add(1);
      if (open_.load()) take_pieces(worker);
      inside_.fetch_sub(1);
      inside_.notify_one();
    }
  }
  void take_pieces(std::size_t worker) noexcept {
    for (std::size_t index; (index = next_.fetch_add(1, std::memory_order_relaxed)) < count_;)
      call_(piece_, index, worker);
  }
  template <class Done>
  static void until(Done done, const std::atomic<std::size_t>& value) noexcept {
    for (int spin = 0; spin < 20000; ++spin)
      if (done(value.load(std::memory_order_acquire))) return;
    for (std::size_t now; !done(now = value.load(std::memory_order_acquire));)
      value.wait(now, std::memory_order_acquire);
  }

  void (*call_)(const void*, std::size_t, std::size_t) = nullptr;
  const void* piece_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<bool> stop_{false};
  // Each is written by one thread while others wait for a different one: a separate cache line.
  alignas(64) std::atomic<std::size_t> round_{0};
  alignas(64) std::atomic<std::size_t> next_{0};
  alignas(64) std::atomic<std::size_t> inside_{0};  // threads that may be working on pieces
  std::atomic<bool> open_{false};
  std::array<std::thread, Workers - 1> threads_;
};
