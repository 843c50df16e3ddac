// SPDX-License-Identifier: BSL-1.0
// Views over memory that is not Umbel's: raw arrays, std::array, std::span, pointers (flash, DMA
// buffers, mapped files). Nothing is copied. Where the number of elements is in the type, another
// number than the shape's does not compile ("memory: ... wants 800 elements but the memory holds
// 799"). Copies into a tensor: its constructors (tensor.hpp).
#pragma once

#include <umbel/tensor/tensor.hpp>

namespace umbel {

namespace detail {

template <class Verdict, class... Axes, class T>
constexpr auto view_where(T* memory) noexcept {
  using verdict = first_error<rules::well_formed<Axes...>, Verdict>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return view<T, Axes...>(memory);
  else
    return invalid{};
}

}  // namespace detail

// view_as<batch<2>, query<4>, hidden<100>>(array): row-major, or by strided<> axes. A const array
// gives a view that only reads.
template <class... Axes, class T, std::size_t Count>
[[nodiscard]] constexpr auto view_as(T (&memory)[Count]) noexcept {
  using layout = umbel::layout<detail::axis_or_none<Axes>...>;
  return detail::view_where<rules::memory<layout, Count>, Axes...>(memory);
}

// std::array (with a name: "view: ... is a temporary") and std::span of static size.
template <class... Axes, detail::memory Memory>
[[nodiscard]] constexpr auto view_as(Memory&& memory) noexcept {
  using layout = umbel::layout<detail::axis_or_none<Axes>...>;
  using size_fits = rules::memory<layout, detail::memory_size<std::remove_cvref_t<Memory>>()>;
  if constexpr (std::is_lvalue_reference_v<Memory> || detail::borrowed_memory<Memory>)
    return detail::view_where<size_fits, Axes...>(memory.data());
  else
    return detail::view_where<first_error<size_fits, rules::view_of_temporary<layout>>, Axes...>(
        memory.data());
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
[[nodiscard]] constexpr view<const T, Axes...> as_view(const tensor<T, Axes...>&& x) noexcept {
  return static_cast<const tensor<T, Axes...>&&>(x);  // refused: "view: ... is a temporary"
}
template <class T, class... Axes>
[[nodiscard]] constexpr view<T, Axes...> as_view(view<T, Axes...> x) noexcept {
  return x;
}
constexpr invalid as_view(invalid) noexcept { return {}; }

}  // namespace umbel
