// SPDX-License-Identifier: BSL-1.0
// The forward iterator of tensors and views that are not row-major in memory: it visits elements in
// row-major order. (If they are row-major, begin() is a pointer.) Each step divides by constants;
// for_each (loop.hpp) is faster.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/layout.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::portable {

template <class T, class... Axes>
class row_major_iterator {
 public:
  using value_type = std::remove_cv_t<T>;
  using difference_type = std::ptrdiff_t;

  row_major_iterator() = default;
  UMBEL_SHARED constexpr row_major_iterator(T* first, std::size_t position) noexcept
      : first_(first), position_(position) {}

  [[nodiscard]] UMBEL_SHARED constexpr T& operator*() const noexcept {
    using layout = detail::layout<Axes...>;
    std::size_t offset = 0, rest = position_;
    for (std::size_t i = layout::rank; i-- > 0; rest /= layout::extents[i])
      offset += rest % layout::extents[i] * layout::strides[i];
    return first_[offset];
  }
  [[nodiscard]] UMBEL_SHARED constexpr T* operator->() const noexcept { return &**this; }
  UMBEL_SHARED constexpr row_major_iterator& operator++() noexcept {
    ++position_;
    return *this;
  }
  UMBEL_SHARED constexpr row_major_iterator operator++(int) noexcept {
    const row_major_iterator before = *this;
    ++position_;
    return before;
  }
  [[nodiscard]] UMBEL_SHARED friend constexpr bool operator==(
      const row_major_iterator& a, const row_major_iterator& b) noexcept {
    return a.position_ == b.position_;
  }

 private:
  T* first_ = nullptr;
  std::size_t position_ = 0;
};

}  // namespace umbel::portable
UMBEL_WARNINGS_POP
