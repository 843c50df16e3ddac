// SPDX-License-Identifier: BSL-1.0
// Ranges: the largest magnitude that each tensor of a layer had when the layer of floats was
// watched. From them come the scales of the integers. They are parameters like any other: named,
// listed, saved and loaded beside the weights (weights/parameters.hpp).
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/quantized/pack.hpp>
#include <umbel/tensor/tensor.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// 0: nothing was seen. A number and no axis, so that it has a path and lies in files.
using range = tensor<float>;

// The range with `count` more numbers in it. A NaN is passed over; infinity stays.
template <class T>
constexpr void widen(range& seen, const T* x, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const float size = static_cast<float>(x[i] < 0 ? -x[i] : x[i]);
    if (size > seen()) seen() = size;
  }
}
constexpr void widen(range& seen, float other) noexcept { widen(seen, &other, 1); }

// Was a range seen, and a finite one?
constexpr bool is_seen(const range& r) noexcept { return r() > 0 && r() <= 3.4028234e38F; }

}  // namespace umbel::inline UMBEL_TARGET::detail::integers

namespace umbel {

// Not constexpr, so that packing without a range does not compile where the compiler packs: the
// error names the range. At run time nothing happens here, and the layer is not packed.
inline void range_is_missing(const char*) noexcept {}

}  // namespace umbel

namespace umbel::inline UMBEL_TARGET::detail::integers {

// Are all ranges of a struct there?
template <class Ranges>
constexpr bool all_seen(const Ranges& ranges) noexcept {
  bool all = true;
  with_members<sizeof(Ranges::part_names) / sizeof(Ranges::part_names[0])>(
      ranges, [&](const auto&... r) {
        std::size_t i = 0;
        const auto look = [&](const range& one) {
          const char* const name = Ranges::part_names[i++];
          if (is_seen(one)) return;
          all = false;
          range_is_missing(name);
        };
        (look(r), ...);
      });
  return all;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
