// SPDX-License-Identifier: BSL-1.0
// Sources of a tensor's elements: a list, other memory, a tensor or view with the same axes.
#pragma once

#include <umbel/config.hpp>
#include <umbel/tensor/loop.hpp>
#include <umbel/utility.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
// Contiguous elements: std::array, std::span, std::vector.
template <class M>
concept memory = !tensor_like<M> && !one_is_invalid<M> && requires(M& m) {
  m.data();
  m.size();
};
// std::span borrows, so even a temporary one may be viewed.
template <class M>
concept borrowed_memory = memory<M> && requires { std::remove_cvref_t<M>::extent; };
// The number of elements; npos if known only at run time.
template <class M>
constexpr std::size_t memory_size() {
  if constexpr (std::is_array_v<M>)
    return std::extent_v<M>;
  else if constexpr (requires { M::extent; })
    return M::extent;
  else if constexpr (requires { std::tuple_size<M>::value; })
    return std::tuple_size<M>::value;
  else
    return npos;
}

// The only element of a list, as in tensor<int, batch<1>> x = {3}. From `= 3` a tensor would be two
// conversions away, which C++ doesn't do.
template <class T, class Layout>
struct only_element {
  T value;
  template <class U>
    requires(std::is_convertible_v<U, T> && !std::is_same_v<U, invalid> &&
             (Layout::count == 1 || std::is_arithmetic_v<U>))
  UMBEL_SHARED constexpr only_element(U element) noexcept : value(static_cast<T>(element)) {
    static_assert(report<rules::list<Layout, T, U>>::ok,
                  "umbel: the same value for all: for (float& element : x) element = value");
  }
};

// An element of a list. In constant expressions, an integer that T can't hold is refused; clang
// also checks literals elsewhere.
template <class T, class U>
UMBEL_INLINE constexpr T list_element(U element) noexcept {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<U> && !std::is_same_v<T, bool>) {
    const T converted = static_cast<T>(element);
    if (__builtin_is_constant_evaluated() &&
        (static_cast<U>(converted) != element || (converted < T{0}) != (element < U{0})))
      is_not_a_constant<rules::held_in_the_list<T>>();
    return converted;
  } else {
    return static_cast<T>(element);
  }
}
#if UMBEL_CLANG
template <class T, class U>
constexpr bool is_held(const U& element) noexcept {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<U> && !std::is_same_v<T, bool>)
    return static_cast<U>(static_cast<T>(element)) == element &&
           (static_cast<T>(element) < T{0}) == (element < U{0});
  else
    return true;
}
#endif

// For a tensor copied from X, a tensor or view of a different type.
template <class Tensor, class X>
struct copied_rule {};
template <class Tensor, tensor_like X>
  requires(!std::is_same_v<Tensor, X>)
struct copied_rule<Tensor, X> {
  using rule =
      first_error<rules::same_shape<say::copy, typename Tensor::layout, layout_of<X>>,
                  rules::keeps_elements<typename X::value_type, typename Tensor::value_type>>;
  // An earlier error has its own message: one_is_invalid.
  struct said_before : invalid {
    static constexpr bool ok = true;
  };
  using type =
      std::conditional_t<!rule::ok && portable::names_no_axis(rule::message), said_before, rule>;
};
template <class Tensor, class X>
using copied = typename copied_rule<Tensor, X>::type;

template <class T>
constexpr T* copy_row(const T* from, std::size_t count, T* to) noexcept {
  for (std::size_t i = 0; i < count; ++i) *to++ = from[i];
  return to;
}
template <class T, std::size_t Rows, std::size_t Columns>
constexpr T* copy_rows(const T (&block)[Rows][Columns], T* to) noexcept {
  for (const auto& row : block) to = detail::copy_row(row, Columns, to);
  return to;
}
template <class X, class Y>
constexpr void copy_elements(const X& from, Y& to) noexcept {
  using T = typename Y::value_type;
  for_each([](T& y, const auto& x) { y = static_cast<T>(x); }, to, from);
}
template <class T, class Y>
constexpr void copy_row_major(const T* from, Y& to) noexcept {
  for_each([&](T& y) { y = *from++; }, to);
}
template <class X, class Y>
constexpr bool all_equal(const X& x, const Y& y) noexcept {
  bool equal = true;
  for_each([&](const auto& a, const auto& b) { equal = equal && a == b; }, x, y);
  return equal;
}

}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
