// SPDX-License-Identifier: BSL-1.0
// A tensor: owned memory with a shape, and nothing else. sizeof is count * sizeof(T) and alignof is
// alignof(T) on every target, so tensors, and arrays and structs of them, can be read from a file.
// Static size, no heap, trivially copyable, usable in constant expressions and in static storage.
// (Kernels accept any alignment; cache lines are fastest: alignas(64) static weights w;)
//
//   using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
//
// Plain axes are row-major. (Axes may be strided<>: a permuted temporary keeps its memory and
// changes its strides; see pipe.hpp.)
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/elements.hpp>

UMBEL_WARNINGS_PUSH
#if UMBEL_CLANG
#pragma clang diagnostic ignored "-Wgcc-compat"  // diagnose_if is clang's
#endif
namespace umbel {

namespace portable {
// The first element in memory, even of a tensor under construction (pipe.hpp).
struct tensor_memory {
  template <class X>
  UMBEL_SHARED static constexpr auto of(X& x) noexcept {
    return &x.elements_[0];
  }
};
}  // namespace portable

// Owned memory with a shape: tensor<float, batch<2>, query<4>, hidden<100>>. T: the element type.
// Axes: distinct names, no size zero.
template <class T, class... Axes>
UMBEL_EXPECTS(
    "tensor: expects an element type, then axes with sizes; write tensor<float, query<4>, "
    "hidden<100>>")
class [[nodiscard]] tensor : public portable::members_of_other_libraries<tensor<T, Axes...>> {
  static_assert(detail::reported<detail::rules::elements_along<T, Axes...>>::ok,
                "umbel: shapes do not fit");

 public:
  using layout = detail::layout<detail::axis_or_none<Axes>...>;
  using element_type = T;
  using value_type = T;

  // As with an array, `tensor x;` leaves elements unset and `tensor x{};` zeroes them.
  tensor() = default;

  // All elements in row-major order: tensor<int, batch<2>>{3, 2}. A wrong count, or fractions for
  // integers, does not compile.
  template <class... U>
    requires(sizeof...(U) > 1 && sizeof...(U) == layout::count && layout::contiguous &&
             (std::is_convertible_v<U, T> && ...) && detail::rules::list<layout, T, U...>::ok)
  UMBEL_SHARED UMBEL_REFUSED_IF(
      !(detail::is_held<T>(element) && ...),
      "umbel: tensor: the list would be narrowed: an integer is negative or too large for the "
      "element type, such as unsigned, size_t or a byte") constexpr tensor(U... element) noexcept
      : elements_{detail::list_element<T>(element)...} {}
  template <class... U>
    requires(sizeof...(U) > 1 && (std::is_convertible_v<U, T> && ...) &&
             !detail::rules::list<layout, T, U...>::ok)
  UMBEL_SHARED constexpr tensor(U...) noexcept : elements_{} {
    static_assert(detail::report<detail::rules::list<layout, T, U...>>::ok,
                  "umbel: shapes do not fit");
  }
  UMBEL_SHARED constexpr tensor(detail::only_element<T, layout> element) noexcept
    requires(layout::contiguous)
      : elements_{element.value} {}
  // With two axes, one list per position of the first: tensor<float, query<2>, key<3>>{{1, 2, 3},
  // {4, 5, 6}}.
  template <std::size_t... Columns>
    requires(sizeof...(Columns) > 1 && layout::contiguous)
  UMBEL_SHARED constexpr tensor(const T (&... row)[Columns]) noexcept : elements_{} {
    using verdict = detail::rules::lists<layout, Columns...>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      T* to = elements_;
      ((to = detail::copy_row(row, Columns, to)), ...);
    }
  }

  // With three axes, lists of such lists.
  template <std::size_t... Rows, std::size_t... Columns>
    requires(sizeof...(Rows) > 0 && layout::contiguous)
  UMBEL_SHARED constexpr tensor(const T (&... block)[Rows][Columns]) noexcept : elements_{} {
    using verdict = detail::rules::lists_of_lists<layout, std::index_sequence<Rows...>,
                                                  std::index_sequence<Columns...>>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      T* to = elements_;
      ((to = detail::copy_rows(block, to)), ...);
    }
  }

  // A copy of a tensor or view with the same axes in the same order; other axes do not compile
  // ("copy: ... have different axes"). g++ prints the arguments of a deleted constructor in its
  // error, and nothing converts by one; clang prints them in a note on line 4.
  template <detail::tensor_like X, class Verdict = detail::copied<tensor, X>>
    requires(Verdict::ok || UMBEL_CLANG != 0)
  UMBEL_SHARED constexpr tensor(const X& x) noexcept : elements_{} {
    static_assert(detail::report<Verdict>::ok, "umbel: shapes do not fit");
    if constexpr (Verdict::ok && !detail::one_is_invalid<Verdict>) detail::copy_elements(x, *this);
  }
#if UMBEL_GCC
  template <detail::tensor_like X, class Refused = detail::copied<tensor, X>>
    requires(!Refused::ok)
  constexpr tensor(const X&) = delete;
#endif

  // A copy of an array, std::array or std::span, read in row-major order. The wrong number of
  // elements does not compile.
  template <std::size_t Count>
  UMBEL_SHARED constexpr explicit tensor(const T (&memory)[Count]) noexcept : elements_{} {
    using verdict = detail::rules::memory<detail::row_major<layout>, Count, detail::say::tensor>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) take(memory);
  }
  template <detail::memory Memory>
  UMBEL_SHARED constexpr explicit tensor(const Memory& memory) noexcept : elements_{} {
    using verdict = detail::rules::memory<detail::row_major<layout>, detail::memory_size<Memory>(),
                                          detail::say::tensor>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) take(memory.data());
  }

  // Assigning a number or other memory is refused.
  template <class Other>
    requires(!detail::tensor_like<Other> && !detail::one_is_invalid<Other> &&
             !std::is_convertible_v<const Other&, tensor>)
  UMBEL_SHARED constexpr tensor& operator=(const Other&) noexcept {
    static_assert(detail::report<detail::rules::assigned_to_a_tensor<layout, Other>>::ok,
                  "umbel: shapes do not fit");
    return *this;
  }

  // A pointer is refused: its number of elements is unknown.
  template <class Pointer>
    requires(std::is_pointer_v<Pointer> || std::is_null_pointer_v<Pointer>)
  UMBEL_SHARED constexpr explicit tensor(Pointer) noexcept : elements_{} {
    using verdict = detail::verdict<sizeof(Pointer) == 0, detail::say::tensor,
                                    detail::say::a_pointer_has_no_size_so_view_it_by_view_as>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  }

  // The first element in memory.
  [[nodiscard]] UMBEL_SHARED constexpr T* data() noexcept UMBEL_LIFETIMEBOUND { return elements_; }
  [[nodiscard]] UMBEL_SHARED constexpr const T* data() const noexcept UMBEL_LIFETIMEBOUND {
    return elements_;
  }

  // The element at a position: in the order of the axes, x(1, 3, 20), or by name in any order,
  // x(at<query>(3), at<batch>(1), at<hidden>(20)).
  template <detail::integer_index... I>
    requires(sizeof...(I) == layout::rank)
  [[nodiscard]] UMBEL_SHARED constexpr T& operator()(I... index) noexcept {
    return elements_[detail::offset_by_position<layout>("x(...)", index...)];
  }
  template <detail::integer_index... I>
    requires(sizeof...(I) == layout::rank)
  [[nodiscard]] UMBEL_SHARED constexpr const T& operator()(I... index) const noexcept {
    return elements_[detail::offset_by_position<layout>("x(...)", index...)];
  }
  // For one axis only; otherwise use x(i, j).
  template <detail::integer_index I>
    requires(layout::rank == 1)
  [[nodiscard]] UMBEL_SHARED constexpr T& operator[](I index) noexcept {
    return elements_[detail::offset_by_position<layout>("x[...]", index)];
  }
  template <detail::integer_index I>
    requires(layout::rank == 1)
  [[nodiscard]] UMBEL_SHARED constexpr const T& operator[](I index) const noexcept {
    return elements_[detail::offset_by_position<layout>("x[...]", index)];
  }
  template <class I = portable::any_argument>
    requires(layout::rank != 1 || !detail::integer_index<I>)
  UMBEL_SHARED constexpr detail::invalid operator[](const I&) const noexcept {
    static_assert(detail::report<detail::rules::access_by_brackets<layout, I>>::ok,
                  "umbel: x[i][j] is written x(i, j)");
    return {};
  }
  template <class... Families>
    requires(sizeof...(Families) > 0)
  [[nodiscard]] UMBEL_SHARED constexpr T& operator()(
      detail::position_along<Families>... index) noexcept {
    static_assert(detail::report<detail::rules::access<layout, Families...>>::ok,
                  "umbel: shapes do not fit");
    return elements_[detail::offset_by_name<layout>(index...)];
  }
  template <class... Families>
    requires(sizeof...(Families) > 0)
  [[nodiscard]] UMBEL_SHARED constexpr const T& operator()(
      detail::position_along<Families>... index) const noexcept {
    static_assert(detail::report<detail::rules::access<layout, Families...>>::ok,
                  "umbel: shapes do not fit");
    return elements_[detail::offset_by_name<layout>(index...)];
  }
  template <class... I>
  UMBEL_SHARED constexpr detail::invalid operator()(I...) const noexcept {
    static_assert(detail::report<detail::rules::other_positions<layout, I...>>::ok,
                  "umbel: shapes do not fit");
    return {};
  }

  using portable::calls_of_other_libraries::size;

  // The number of elements, of axes, and of positions along one axis (0 if absent): x.size(),
  // x.rank, x.extent<hidden>.
  [[nodiscard]] UMBEL_SHARED static constexpr std::size_t size() noexcept { return layout::count; }
  static constexpr std::size_t rank = layout::rank;
  template <template <std::size_t> class Axis>
  static constexpr std::size_t extent = layout::template size_of<detail::family_of<Axis>>;

  // Elements in row-major order: pointers if they are row-major in memory, otherwise iterators
  // (iterator.hpp).
  [[nodiscard]] UMBEL_SHARED constexpr auto begin() noexcept {
    return view<T, Axes...>(elements_).begin();
  }
  [[nodiscard]] UMBEL_SHARED constexpr auto end() noexcept {
    return view<T, Axes...>(elements_).end();
  }
  [[nodiscard]] UMBEL_SHARED constexpr auto begin() const noexcept {
    return view<const T, Axes...>(elements_).begin();
  }
  [[nodiscard]] UMBEL_SHARED constexpr auto end() const noexcept {
    return view<const T, Axes...>(elements_).end();
  }

  // Converts to a view of its layout; a temporary does not ("view: ... is a temporary").
  UMBEL_SHARED constexpr operator view<T, Axes...>() & noexcept UMBEL_LIFETIMEBOUND {
    return view<T, Axes...>(elements_);
  }
  UMBEL_SHARED constexpr operator view<const T, Axes...>() const& noexcept UMBEL_LIFETIMEBOUND {
    return view<const T, Axes...>(elements_);
  }
  UMBEL_SHARED constexpr operator view<const T, Axes...>() const&& noexcept {
    static_assert(detail::report<detail::rules::view_of_temporary<layout>>::ok,
                  "umbel: shapes do not fit");
    return view<const T, Axes...>(elements_);
  }

  // Without axes it has one element, and converts to it: float y = sum<query, key>(x).
  UMBEL_SHARED constexpr operator T() const noexcept
    requires(layout::rank == 0)
  {
    return elements_[0];
  }
  UMBEL_REFUSED_CONVERSION(T);

  // Also of what converts to a tensor. For views see below.
  UMBEL_SHARED friend constexpr bool operator==(const tensor& a, const tensor& b) noexcept {
    return detail::all_equal(a, b);
  }

 private:
  friend portable::tensor_memory;
  UMBEL_SHARED constexpr void take(const T* from) noexcept { detail::copy_row_major(from, *this); }

  // (Sizes beyond all memory are refused only above.)
  T elements_[detail::rules::countable<detail::axis_or_none<Axes>...>() ? layout::span : 1];
};

template <class T, class... Axes>
view(tensor<T, Axes...>&) -> view<T, Axes...>;
template <class T, class... Axes>
view(const tensor<T, Axes...>&) -> view<const T, Axes...>;

}  // namespace umbel

namespace umbel {

// tensor s = x | split<...>; is a row-major copy of the view's elements.
template <class T, class... Axes>
tensor(view<T, Axes...>) -> tensor<std::remove_cv_t<T>, typename Axes::plain...>;

// The type of `tensor s = r;` if r is the result of a refused operation.
template <>
class tensor<detail::invalid> : public detail::invalid {
 public:
  constexpr tensor(detail::invalid) noexcept {}
};
tensor(detail::invalid) -> tensor<detail::invalid>;

// Elements are mutable objects: references and constants are refused.
template <class T, class... Axes>
class tensor<T&, Axes...> : public detail::invalid {
  static_assert(detail::reported<detail::rules::element_is_a_reference<T&>>::ok,
                "umbel: shapes do not fit");

 public:
  template <class... Given>
  constexpr tensor(const Given&...) noexcept {}
};
template <class T, class... Axes>
class tensor<const T, Axes...> : public detail::invalid {
  static_assert(detail::reported<detail::rules::element_is_const<const T>>::ok,
                "umbel: shapes do not fit");

 public:
  template <class... Given>
  constexpr tensor(const Given&...) noexcept {}
};

}  // namespace umbel

namespace umbel::inline UMBEL_TARGET {

namespace detail {
template <class T, class Layout>
struct tensor_with_layout;
template <class T, class... Axes>
struct tensor_with_layout<T, layout<Axes...>> {
  using type = tensor<T, Axes...>;
};
template <class T, class... Axes>
void takes_a_tensor(const tensor<T, Axes...>&);
// A tensor, or an object of a class derived from one.
template <class X>
inline constexpr bool is_tensor = requires(const X& x) { detail::takes_a_tensor(x); };
template <class T, class... Axes>
inline constexpr bool is_tensor<tensor<T, Axes...>> = true;
template <class T, class... Axes>
inline constexpr bool is_tensor<view<T, Axes...>> = false;
template <class T, class Layout>
using tensor_of = typename detail::tensor_with_layout<T, Layout>::type;
}  // namespace detail

// x == y: do all elements of two tensors or views of the same type and axes compare equal (0 = -0,
// NaN equals nothing)?
template <detail::tensor_like X, detail::tensor_like Y>
constexpr bool operator==(const X& x, const Y& y) noexcept {
  using verdict = detail::first_error<
      detail::rules::same_shape<detail::say::compare, detail::layout_of<X>, detail::layout_of<Y>>,
      detail::rules::same_element<detail::say::compare, typename X::value_type,
                                  typename Y::value_type>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return detail::all_equal(x, y);
  else
    return true;
}
template <class X, class Y>
  requires(detail::one_is_invalid<X, Y> && !detail::of_a_formula<X> && !detail::of_a_formula<Y>)
constexpr bool operator==(const X&, const Y&) noexcept {
  return true;
}
namespace detail {
// A temporary tensor's memory can be moved on but not viewed.
template <class X>
concept temporary_tensor =
    detail::is_tensor<std::remove_cvref_t<X>> && !std::is_lvalue_reference_v<X>;

namespace rules {
// An operation's output: not const, not a temporary, one memory location per element. Name: its
// word in the message. X is deduced from a forwarding reference.
template <class Operation, class Name, class X>
using writable = first_error<
    verdict<lies_apart<layout_of<X>>(), Operation, say::several_elements_of, Name,
            say::share_one_memory_location>,
    verdict<!std::is_const_v<std::remove_pointer_t<decltype(std::declval<X&>().data())>>, Operation,
            Name, say::is_const>,
    verdict<!temporary_tensor<X>, Operation, Name, say::is_a_temporary_so_store_it_in_a_variable>>;
}  // namespace rules
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
