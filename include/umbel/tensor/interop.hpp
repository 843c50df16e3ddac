// SPDX-License-Identifier: BSL-1.0
// Views over memory that is not Umbel's: raw arrays, std::array, std::span, pointers (flash, DMA
// buffers, mapped files). Nothing is copied. Where the number of elements is in the type, another
// number than the shape's does not compile ("memory: ... wants 800 elements but the memory holds
// 799"). Copies into a tensor: its constructors (tensor.hpp).
#pragma once

#include <umbel/tensor/tensor.hpp>

namespace umbel {

namespace detail {

template <class Layout, std::size_t Count, class T>
constexpr auto view_memory(T* memory) noexcept {
  using verdict = rules::memory<Layout, Count>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return view_of<T, Layout>(memory);
  else
    return invalid{};
}

}  // namespace detail

// view_as<batch<2>, query<4>, hidden<100>>(array): row-major, or by strided<> axes. A const array
// gives a view that only reads.
template <class... Axes, class T, std::size_t Count>
[[nodiscard]] constexpr auto view_as(T (&memory)[Count]) noexcept {
  return detail::view_memory<layout<Axes...>, Count>(memory);
}

// std::array (with a name: a temporary would be gone) and std::span of static size.
template <class... Axes, detail::sized_memory Memory>
  requires(std::is_lvalue_reference_v<Memory> || requires { std::remove_cvref_t<Memory>::extent; })
[[nodiscard]] constexpr auto view_as(Memory&& memory) noexcept {
  return detail::view_memory<layout<Axes...>,
                             detail::memory_size<std::remove_cvref_t<Memory>>()>(memory.data());
}

// A pointer: the caller vouches for the size, layout<Axes...>::span elements.
template <class... Axes, class Pointer>
  requires(std::is_pointer_v<Pointer>)
[[nodiscard]] constexpr auto view_as(Pointer memory) noexcept {
  return view<std::remove_pointer_t<Pointer>, Axes...>(memory);
}

// A view of a tensor's own layout.
template <class T, class... Axes>
[[nodiscard]] constexpr view<T, Axes...> as_view(tensor<T, Axes...>& x) noexcept {
  return x;
}
template <class T, class... Axes>
[[nodiscard]] constexpr view<const T, Axes...> as_view(const tensor<T, Axes...>& x) noexcept {
  return x;
}
template <class T, class... Axes>
view<const T, Axes...> as_view(const tensor<T, Axes...>&& x) = delete;  // it would dangle
template <class T, class... Axes>
[[nodiscard]] constexpr view<T, Axes...> as_view(view<T, Axes...> x) noexcept {
  return x;
}

}  // namespace umbel
