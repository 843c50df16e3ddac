// SPDX-License-Identifier: BSL-1.0
// A view: borrowed memory with a shape. It is one pointer; names, sizes and strides are in the
// type, so an access compiles to handwritten index arithmetic. It must not outlive the memory.
//
// See reshape.hpp, arithmetic.hpp and contract.hpp for operations, and interop.hpp for views over
// existing memory.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/concepts.hpp>
#include <umbel/shape/memory_rules.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/calls_of_other_libraries.hpp>
#include <umbel/tensor/check.hpp>
#include <umbel/tensor/iterator.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(repoints_it_and_copies_nothing_so_write_copy,
           "re-points it and copies nothing; write copy(from, to)");

namespace rules {
// An assignment probably meant for the elements.
template <class Layout, bool Ok>
using assignment = verdict<Ok, say::view, struct assigning_the_view, typename Layout::axes,
                           say::repoints_it_and_copies_nothing_so_write_copy>;
}  // namespace rules

template <class Family>
struct position_along {
  std::size_t value;
};

template <class I>
concept integer_index = std::is_convertible_v<I, std::size_t> && !std::is_floating_point_v<I> &&
                        !requires { I::rank; } &&        // nor a tensor without axes
                        sizeof(I) <= sizeof(long long);  // not __int128, which would lose bits

namespace rules {
// For positions that are neither one integer per axis nor all by name.
template <class Layout, class... I>
struct other_positions_rule {
  using type = access_in_one_way<Layout, one_is_invalid<I...>>;
};
template <class Layout, integer_index... I>
struct other_positions_rule<Layout, I...> {
  using type = access_by_position<Layout, sizeof...(I)>;
};
template <class Layout, class... I>
using other_positions = typename other_positions_rule<Layout, I...>::type;
}  // namespace rules

template <class Layout, std::size_t... Axis, class... I>
UMBEL_SHARED constexpr std::size_t offset_by_position(std::index_sequence<Axis...>,
                                                      [[maybe_unused]] const char* call,
                                                      I... index) {
  return (std::size_t{0} + ... +
          detail::offset_along<typename Layout::template axis_at<Axis>, Layout::strides[Axis]>(
              call, static_cast<std::size_t>(index)));
}
// call: the user's call, for the message of a failed check.
template <class Layout, class... I>
UMBEL_SHARED constexpr std::size_t offset_by_position(const char* call, I... index) {
  return detail::offset_by_position<Layout>(std::index_sequence_for<I...>{}, call, index...);
}

template <class Layout, class... Families>
UMBEL_SHARED constexpr std::size_t offset_by_name(position_along<Families>... index) {
  if constexpr (rules::access<Layout, Families...>::ok)
    return (std::size_t{0} + ... +
            detail::offset_along<axis_of<Layout, Families>, Layout::template stride_of<Families>>(
                "x(...)", index.value));
  else
    return 0;
}

template <class Layout, class... I>
inline constexpr bool accesses = false;
template <class Layout, integer_index... I>
inline constexpr bool accesses<Layout, I...> = rules::access_by_position<Layout, sizeof...(I)>::ok;
template <class Layout, class First, class... Families>
inline constexpr bool accesses<Layout, position_along<First>, position_along<Families>...> =
    rules::access<Layout, First, Families...>::ok;

}  // namespace detail

// A position along one axis, by name: x(at<query>(3), at<batch>(0)), in any order.
template <template <std::size_t> class Axis, detail::integer_index I>
constexpr detail::position_along<detail::family_of<Axis>> at(I position) {
  return {static_cast<std::size_t>(position)};
}
#define UMBEL_INSTEAD \
  "expects the name of one axis, then a position; write x(at<query>(3), at<batch>(0))"
UMBEL_REFUSES_MIXED(at, (std::size_t), UMBEL_INSTEAD)
UMBEL_REFUSES_CALL(at, (std::size_t), UMBEL_INSTEAD, UMBEL_TWO_NAMES)
#if UMBEL_CLANG  // three positions would be three errors of diagnose_if
template <auto First, auto... Rest>
constexpr detail::invalid at(std::size_t) noexcept {
  static_assert(detail::reported<detail::rules::position_along_a_name<sizeof...(Rest) == npos>>::ok,
                "umbel: shapes do not fit");
  return {};
}
template <class First, class... Rest>
constexpr detail::invalid at(std::size_t) noexcept {
  static_assert(detail::reported<detail::rules::position_along_a_name<sizeof...(Rest) == npos>>::ok,
                "umbel: shapes do not fit");
  return {};
}
#else
UMBEL_REFUSES_CALL(at, (std::size_t), UMBEL_INSTEAD, UMBEL_NUMBERS)
UMBEL_REFUSES_CALL(at, (std::size_t), UMBEL_INSTEAD, UMBEL_TYPES)
#endif
#undef UMBEL_INSTEAD

// Would x(index...) compile? (Any call of a tensor is well-formed, so that a wrong one gets a
// message.)
template <class X, class... I>
concept accessible =
    detail::one_is_invalid<X> || detail::accesses<detail::layout_of<X>, std::remove_cvref_t<I>...>;

namespace detail {
template <class X>
concept tensor_like = !one_is_invalid<X> && requires(X& x) {
  typename std::remove_cvref_t<X>::layout::axes;
  typename std::remove_cvref_t<X>::value_type;
  x.data();
};
}  // namespace detail

// Is X a tensor or a view? (Also true of an operation's result after an error, so that a function
// that asks adds no second one.)
template <class X>
concept tensor_like = detail::tensor_like<X> || detail::one_is_invalid<X>;

namespace detail {
// A node: a tensor's stand-in while a formula is traced (formula/node.hpp).
template <class X>
concept traced = requires { typename std::remove_cvref_t<X>::is_node; };
// In the second run of a formula's function (formula/tracer.hpp), after the one that reports.
template <class X>
inline constexpr bool traced_before = false;
template <traced X>
inline constexpr bool traced_before<X> = std::remove_cvref_t<X>::traced_before;
template <class X>
concept shaped = tensor_like<X> || traced<X>;
// A node, or a position along an axis (formula/arithmetic.hpp): arguments of functions in formulas.
template <class X>
concept of_a_formula = traced<X> || requires { typename std::remove_cvref_t<X>::is_positional; };
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET

namespace umbel {

// Borrowed memory with a shape: view<const float, query<4>, hidden<100>>. T: the element type,
// const for a read-only view. Axes: plain for row-major memory, otherwise all strided<Axis,
// Stride>. Positions are checked only with UMBEL_CHECK=1 (check.hpp).
template <class T, class... Axes>
UMBEL_EXPECTS(
    "view: expects an element type, then axes with sizes; write view<const float, query<4>, "
    "hidden<100>>")
class view : public portable::members_of_other_libraries<view<T, Axes...>> {
  static_assert(detail::reported<detail::rules::elements_along<T, Axes...>>::ok,
                "umbel: shapes do not fit");

 public:
  using layout = detail::layout<detail::axis_or_none<Axes>...>;
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  UMBEL_SHARED constexpr explicit view(T* data) noexcept : data_(data) {}
  // view<queries>: refused above.
  constexpr view(const T&) noexcept
    requires(!detail::rules::element_rule<T>::type::ok)
  {}
  UMBEL_SHARED constexpr operator view<const T, Axes...>() const noexcept
    requires(!std::is_const_v<T>)
  {
    return view<const T, Axes...>(data_);
  }
  // Without axes it has one element, and converts to it: float y = x | select_at<token, 1>.
  UMBEL_SHARED constexpr operator value_type() const noexcept
    requires(layout::rank == 0)
  {
    return *data_;
  }
  UMBEL_REFUSED_CONVERSION(value_type);

  // Assignment rebinds, as with pointers: after u = v, u refers to v's memory. An assignment
  // probably meant to move elements is refused: a tensor to a writable view, and anything to an
  // unnamed view, (x | select_at<batch, 0>) = y.
  constexpr view(const view&) = default;
  constexpr view& operator=(const view&) & = default;
  template <class X>
  UMBEL_SHARED constexpr void operator=(const X&) const&& noexcept {
    static_assert(detail::report<detail::rules::assignment<layout, detail::one_is_invalid<X>>>::ok,
                  "umbel: shapes do not fit");
  }
  template <detail::tensor_like X>
    requires(!std::is_const_v<T> && !std::is_same_v<X, view>)
  UMBEL_SHARED constexpr void operator=(const X&) & noexcept {
    static_assert(detail::report<detail::rules::assignment<layout, (sizeof(X) == 0)>>::ok,
                  "umbel: shapes do not fit");
  }

  // The first element in memory.
  [[nodiscard]] UMBEL_SHARED constexpr T* data() const noexcept { return data_; }

  // The element at a position: in the order of the axes, x(1, 3, 20), or by name in any order,
  // x(at<query>(3), at<batch>(1), at<hidden>(20)).
  template <detail::integer_index... I>
    requires(sizeof...(I) == layout::rank)
  [[nodiscard]] UMBEL_SHARED constexpr T& operator()(I... index) const noexcept {
    return data_[detail::offset_by_position<layout>("x(...)", index...)];
  }
  // For one axis only; otherwise use x(i, j).
  template <detail::integer_index I>
    requires(layout::rank == 1)
  [[nodiscard]] UMBEL_SHARED constexpr T& operator[](I index) const noexcept {
    return data_[detail::offset_by_position<layout>("x[...]", index)];
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
      detail::position_along<Families>... index) const noexcept {
    static_assert(detail::report<detail::rules::access<layout, Families...>>::ok,
                  "umbel: shapes do not fit");
    return data_[detail::offset_by_name<layout>(index...)];
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
  [[nodiscard]] UMBEL_SHARED constexpr auto begin() const noexcept {
    if constexpr (layout::contiguous)
      return data_;
    else
      return portable::row_major_iterator<T, Axes...>(data_, 0);
  }
  [[nodiscard]] UMBEL_SHARED constexpr auto end() const noexcept {
    if constexpr (layout::contiguous)
      return data_ + layout::count;
    else
      return portable::row_major_iterator<T, Axes...>(data_, layout::count);
  }

 private:
  T* data_;
};

// view v(array): refused, since its axes are unknown.
template <class T>
view(T*) -> view<T, portable::unknown_axes>;

}  // namespace umbel

namespace umbel {

// The type of `view v = r;` if r is the result of a refused operation.
template <>
class view<detail::invalid> : public detail::invalid {
 public:
  constexpr view(detail::invalid) noexcept {}
};
view(detail::invalid) -> view<detail::invalid>;

}  // namespace umbel

namespace umbel::inline UMBEL_TARGET {

namespace detail {
template <class T, class Layout>
struct view_with_layout;
template <class T, class... Axes>
struct view_with_layout<T, layout<Axes...>> {
  using type = view<T, Axes...>;
};
template <class T, class Layout>
using view_of = typename detail::view_with_layout<T, Layout>::type;
// A node as an argument of a call when the formula runs.
template <traced X>
using view_of_node = view_of<const typename X::value_type, layout_of<X>>;
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
