// SPDX-License-Identifier: BSL-1.0
// Views over other memory: raw arrays, std::array, std::span, pointers (flash, DMA buffers, mapped
// files). Nothing is copied. If the type has the number of elements, a wrong one does not compile
// ("view_as: ... needs 800 elements but the memory holds 799"). For copies see tensor's
// constructors.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/tensor.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct but_the_pointer_is_to;
struct holds;
}  // namespace say

UMBEL_SAYS(but_the_array_is, ", but the array is");

namespace rules {
template <class Tensor, class T>
using memory_of_type =
    verdict<std::is_same_v<std::remove_const_t<T>, typename Tensor::value_type>, say::view_as,
            typename Tensor::layout::axes, say::holds, element<typename Tensor::value_type>,
            say::but_the_pointer_is_to, element<std::remove_const_t<T>>>;

template <class Layout, class Array, std::size_t... I>
constexpr bool has_sizes_of(std::index_sequence<I...>) {
  return ((Layout::extents[I] == std::extent_v<Array, I>) && ...);
}
// float[2][4][100]: the sizes of the axes.
template <class Layout, class Array>
using array_of_arrays =
    verdict<Layout::contiguous && std::rank_v<Array> == Layout::rank &&
                has_sizes_of<Layout, Array>(std::make_index_sequence<std::rank_v<Array>>{}),
            say::view_as, typename Layout::axes,
            struct needs_an_array_of_the_same_sizes_in_the_same_order, say::but_the_array_is,
            element<std::remove_const_t<Array>>>;
}  // namespace rules

// Axes in a list, or of a tensor type, view_as<queries>(memory).
template <class... Axes>
struct given_axes {
  using layout = detail::layout<axis_or_none<Axes>...>;
  template <class T>
  using rule = rules::well_formed<Axes...>;
};
template <tensor_like X>
struct given_axes<X> {
  using layout = layout_of<X>;
  template <class T>
  using rule = rules::memory_of_type<X, T>;
};

// Fits: the verdict on the memory. The callers assert all of it, which saves a frame of clang.
template <class Given, class Fits, class T>
using view_fits = first_error<typename Given::template rule<T>, Fits>;
template <class Verdict, class Given, class T>
constexpr auto view_where(T* memory) noexcept {
  if constexpr (Verdict::ok)
    return view_of<T, typename Given::layout>(memory);
  else
    return invalid{};
}

// A named array or std::array, or a std::span, read as Layout. M: of a forwarding reference.
template <class Layout, class M, class Operation = say::memory, class OfView = say::view>
using memory_fits =
    first_error<rules::memory<Layout, memory_size<std::remove_cvref_t<M>>(), Operation>,
                std::conditional_t<std::is_lvalue_reference_v<M> || borrowed_memory<M>, accepted,
                                   rules::view_of_temporary<Layout, OfView>>>;

template <class M, class T>
concept lends =
    (std::is_bounded_array_v<std::remove_reference_t<M>> &&
     std::is_same_v<std::remove_cv_t<std::remove_extent_t<std::remove_reference_t<M>>>, T>) ||
    (std::is_pointer_v<std::remove_cvref_t<M>> && std::is_convertible_v<M, const T*>) ||
    (memory<std::remove_cvref_t<M>> && requires(const std::remove_cvref_t<M>& m) {
      requires std::is_convertible_v<decltype(m.data()), const T*>;
    });

template <class Layout, class T, lends<T> M>
constexpr const T* borrow(M&& memory) noexcept {
  using plain = std::remove_cvref_t<M>;
  if constexpr (std::is_pointer_v<plain>) {
    return memory;
  } else {
    static_assert(report<memory_fits<Layout, M>>::ok, "umbel: shapes do not fit");
    if constexpr (std::is_array_v<plain>)
      return memory;
    else
      return memory.data();
  }
}

}  // namespace detail

// view_as<batch<2>, query<4>, hidden<100>>(array): a view of your memory, row-major or with
// strided<> axes. The axes may come from a type, view_as<queries>(array). A const array becomes a
// read-only view.
template <class... Axes, class T, std::size_t Count>
  requires(!std::is_array_v<T>)
[[nodiscard]] constexpr auto view_as(T (&memory UMBEL_LIFETIMEBOUND)[Count]) noexcept {
  using axes_of_view = detail::given_axes<Axes...>;
  using verdict = detail::view_fits<
      axes_of_view,
      detail::rules::memory<typename axes_of_view::layout, Count, detail::say::view_as>, T>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::view_where<verdict, axes_of_view>(memory);
}

// A nested array with the axes' sizes: view_as<queries>(memory) of float memory[2][4][100]. Not in
// constant expressions.
template <class... Axes, class T, std::size_t Count>
  requires(std::is_array_v<T>)
[[nodiscard]] constexpr auto view_as(T (&memory)[Count]) noexcept {
  using axes_of_view = detail::given_axes<Axes...>;
  using verdict =
      detail::view_fits<axes_of_view,
                        detail::rules::array_of_arrays<typename axes_of_view::layout, T[Count]>,
                        std::remove_all_extents_t<T>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::view_where<verdict, axes_of_view>(
      reinterpret_cast<std::remove_all_extents_t<T>*>(&memory));
}

// A named std::array (otherwise "view_as: ... is a temporary"), or a std::span of static size.
template <class... Axes, detail::memory Memory>
[[nodiscard]] constexpr auto view_as(Memory&& memory) noexcept {
  using axes_of_view = detail::given_axes<Axes...>;
  using verdict = detail::view_fits<axes_of_view,
                                    detail::memory_fits<typename axes_of_view::layout, Memory,
                                                        detail::say::view_as, detail::say::view_as>,
                                    std::remove_pointer_t<decltype(memory.data())>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::view_where<verdict, axes_of_view>(memory.data());
}

// A pointer: you vouch for layout<Axes...>::span elements.
template <class... Axes, class Pointer>
  requires(std::is_pointer_v<Pointer>)
[[nodiscard]] constexpr auto view_as(Pointer memory) noexcept {
  using axes_of_view = detail::given_axes<Axes...>;
  using verdict = detail::view_fits<axes_of_view, detail::accepted, std::remove_pointer_t<Pointer>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::view_where<verdict, axes_of_view>(memory);
}

// view_as<2, 4, 100>(memory): refused, axes have names.
template <std::size_t... Sizes, class Memory>
  requires(sizeof...(Sizes) > 0)
constexpr detail::invalid view_as(const Memory&) noexcept {
  static_assert(detail::report<detail::rules::view_as_sizes<(sizeof(Memory) == 0), Sizes...>>::ok,
                "umbel: axes have names: view_as<batch<2>, query<4>, hidden<100>>(memory)");
  return {};
}

// view_as<batch<2>, 400>(memory): refused.
#define UMBEL_INSTEAD \
  "expects axes with their sizes; write view_as<batch<2>, query<4>, hidden<100>>(memory)"
UMBEL_REFUSES_MIXED(view_as, (const Given&...), UMBEL_INSTEAD)
#undef UMBEL_INSTEAD
// view_as<token<8>, hidden<100>>(x): refused, a tensor has axes.
template <class... Axes, class Tensor>
  requires(detail::tensor_like<Tensor> || detail::one_is_invalid<Tensor>)
constexpr detail::invalid view_as(const Tensor&) noexcept {
  if constexpr (detail::tensor_like<Tensor>)
    static_assert(detail::report<detail::rules::view_as_of_a_tensor<Tensor>>::ok,
                  "umbel: shapes do not fit");
  return {};
}
// view_as<batch<2>, query<4>>(memory, sizes): refused, run-time sizes need one tensor type.
template <class First, class... Axes, class Memory, class Sizes>
  requires(!detail::tensor_like<First> || sizeof...(Axes) > 0 ||
           !std::is_convertible_v<const Memory&, const volatile void*>)
constexpr detail::invalid view_as(const Memory&, const Sizes&) noexcept {
  if constexpr (!detail::one_is_invalid<Memory, Sizes>)
    static_assert(detail::report<detail::rules::view_as_with_sizes<(sizeof(Memory) == 0)>>::ok,
                  "umbel: shapes do not fit");
  return {};
}

// as_view(x): a view of a tensor, with its layout.
template <class T, class... Axes>
[[nodiscard]] constexpr view<T, Axes...> as_view(
    tensor<T, Axes...>& x UMBEL_LIFETIMEBOUND) noexcept {
  return x;
}
template <class T, class... Axes>
[[nodiscard]] constexpr view<const T, Axes...> as_view(
    const tensor<T, Axes...>& x UMBEL_LIFETIMEBOUND) noexcept {
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
constexpr detail::invalid as_view(detail::invalid) noexcept { return {}; }
// Other memory, and other axes: refused.
namespace detail {
UMBEL_SAYS(as_view, "as_view");
UMBEL_SAYS(expects_one_tensor_or_view_so_write_view_as_of_memory_or_reshape,
           "expects one tensor or view; write view_as<axes>(memory) for an array or pointer, "
           "x | reshape<axes> for other axes");
template <class X>
using no_tensor_to_view =
    verdict<never<X>, say::as_view,
            say::expects_one_tensor_or_view_so_write_view_as_of_memory_or_reshape>;
}  // namespace detail
template <class X>
  requires(!detail::tensor_like<X> && !detail::one_is_invalid<X>)
constexpr detail::invalid as_view(const X&) noexcept {
  static_assert(detail::report<detail::no_tensor_to_view<X>>::ok, "umbel: shapes do not fit");
  return {};
}
template <axis_like... Axes, class X>
  requires(sizeof...(Axes) != 0)
constexpr detail::invalid as_view(const X&) noexcept {
  static_assert(detail::report<detail::no_tensor_to_view<X>>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
