// SPDX-License-Identifier: BSL-1.0
// What the kernel tests share: seeded inputs, exact-size heap buffers (so that a sanitizer sees a
// read past the end), guarded outputs, comparison of bits, targets. Not here: any test.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ostream>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/plan/target.hpp>

namespace umbel_test {

struct seeded {
  std::uint32_t state = 1;
  // In [-1, 1): 24 bits, exact in float.
  double operator()() {
    state = state * 1664525u + 1013904223u;
    return static_cast<double>(state >> 8) / 8388608.0 - 1.0;
  }
};

// Exactly `size` elements on the heap, between guards when asked for.
template <class T>
class buffer {
 public:
  explicit buffer(std::size_t size, std::size_t guard = 0)
      : size_(size), guard_(guard), data_(new T[size + guard > 0 ? size + 2 * guard : 1]) {
    for (std::size_t i = 0; i < size_ + 2 * guard_; ++i) data_[i] = guard_value();
  }
  static T guard_value() {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(-12345.5);
    return static_cast<T>(0xa5);
  }
  buffer& fill(seeded& next, double size = 1.0) {
    for (std::size_t i = 0; i < size_; ++i) (*this)[i] = static_cast<T>(size * next());
    return *this;
  }
  T* get() { return data_.get() + guard_; }
  operator T*() { return get(); }
  operator const T*() const { return data_.get() + guard_; }
  // Any integer: beside the conversion to T*, one type is ambiguous where std::size_t is unsigned.
  template <class Index>
  T& operator[](Index i) {
    return data_[guard_ + static_cast<std::size_t>(i)];
  }
  std::size_t size() const { return size_; }
  // Every byte, guards included.
  bool same_bits(const buffer& other) const {
    return size_ == other.size_ && guard_ == other.guard_ &&
           std::memcmp(data_.get(), other.data_.get(), (size_ + 2 * guard_) * sizeof(T)) == 0;
  }
  // Nobody wrote before the first element or past the last.
  bool guards_are_whole() const {
    for (std::size_t i = 0; i < guard_; ++i) {
      if (data_[i] != guard_value() || data_[guard_ + size_ + i] != guard_value()) return false;
    }
    return true;
  }
  // NaN where the other is, else the same bits (the payload of a NaN is nobody's business); the
  // guards whole.
  bool same_numbers(buffer& other) {
    if (!guards_are_whole()) return false;
    for (std::size_t i = 0; i < size_; ++i) {
      if (std::isnan((*this)[i]) != std::isnan(other[i])) return false;
      if (!std::isnan((*this)[i]) && std::memcmp(&(*this)[i], &other[i], sizeof(T)) != 0) {
        return false;
      }
    }
    return true;
  }

 private:
  std::size_t size_, guard_;
  std::unique_ptr<T[]> data_;
};

// In an emulator (test/embedded) a test shows that this target has the bits of the definition: all
// vectors are its own, and sweeps are sparse. That any number of lanes has them, in every plan, is
// shown on a large machine.
#ifndef EMULATED
#define EMULATED 0
#endif

// 1, 4, 8 and 16 lanes of float; 1, 2, 4 and 8 of double. Small tiles under a sanitizer.
using umbel::detail::plan::native_target, umbel::detail::plan::target;
inline constexpr std::size_t few = UMBEL_SANITIZED || EMULATED ? 6 : 16,
                             many = UMBEL_SANITIZED ? 6 : 32;
inline constexpr target scalar_target{0, few},
    vector_16 = EMULATED ? native_target : target{16, few},
    vector_32 = EMULATED ? native_target : target{32, few},
    vector_64 = EMULATED ? native_target : target{64, many};

// FNV-1a over the bytes of each value, the lowest first on every target.
template <class T>
std::uint64_t hash_bits(const T* values, std::size_t count) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    __builtin_memcpy(reinterpret_cast<char*>(&bits) + (UMBEL_LITTLE_ENDIAN ? 0 : 8 - sizeof(T)),
                     values + i, sizeof(T));
    for (std::size_t byte = 0; byte < sizeof(T); ++byte, bits >>= 8)
      hash = (hash ^ (bits & 0xff)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace umbel_test

// The tests build vectors that are wider than some machines: that no ABI is agreed for them does
// not matter, they never leave a function.
#pragma GCC diagnostic ignored "-Wpsabi"
