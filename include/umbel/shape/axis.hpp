// SPDX-License-Identifier: BSL-1.0
// An axis: a class template over its size. Its name is the template's name, read from the compiler
// (verdict.hpp), so your axis needs one line:
//
//   template <std::size_t N> struct frames : umbel::axis<frames, N> {};
//
// See layout.hpp for the order of axes and their strides.
#pragma once

#include <cstddef>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/utility.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel {

// All sizes of one axis: query<4> and query<6> belong to axis_family<query>. Axes are looked up,
// matched and contracted by family.
template <template <std::size_t> class Axis>
struct axis_family {
  template <std::size_t Size>
  using sized = Axis<Size>;
};

// Base of every axis, including yours: `template <std::size_t N> struct frames :
// umbel::axis<frames, N> {};`. Size is the number of positions, a std::size_t: clang refuses
// template <int N>.
template <template <std::size_t> class Axis, std::size_t Size>  // write template <std::size_t N>
struct axis {
  using family = axis_family<Axis>;
  using plain = Axis<Size>;
  static constexpr std::size_t size = Size;
};

// An axis whose neighbors are Stride elements apart. Only layouts that are not row-major spell
// their axes this way: view<float, strided<heads<5>, 20>, strided<query<4>, 100>>.
template <class Axis, std::size_t Stride>
struct strided {
  using family = typename Axis::family;
  using plain = typename Axis::plain;
  static constexpr std::size_t size = Axis::size;
  static constexpr std::size_t stride = Stride;
};

// Is A an axis, plain or strided?
template <class A>
concept axis_like = requires {
  typename A::family;
  typename A::plain;
  requires std::is_convertible_v<decltype(A::size), std::size_t>;
};

// No position: of an absent axis, a window without an end, a size known only at run time.
inline constexpr std::size_t npos = ~std::size_t{0};

}  // namespace umbel

namespace umbel::portable {
// Stands for the axes of memory whose axes are unknown.
struct unknown_axes;
}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET {

namespace detail {
// Stands for a template argument that should have been an axis, after the error about it. Messages
// that would name it are not printed (verdict.hpp): the mistake is the same.
template <std::size_t N>
struct no_axis : axis<no_axis, N> {};

// Given, or no_axis<1> if it is not an axis.
template <class Given>
struct axis_or_none_rule {
  using type = no_axis<1>;
};
template <axis_like Given>
struct axis_or_none_rule<Given> {
  using type = Given;
};
template <class Given>
using axis_or_none = typename axis_or_none_rule<Given>::type;

// The family of an axis given to an operation. For clang an alias template of an axis is not that
// axis (CWG 1286); its family is that of the aliased one.
#if UMBEL_CLANG
template <template <std::size_t> class Axis>
struct family_of_axis {
  using type = axis_family<Axis>;
};
template <template <std::size_t> class Axis>
  requires std::is_same_v<Axis<1>, typename Axis<1>::family::template sized<1>>
struct family_of_axis<Axis> {
  using type = typename Axis<1>::family;
};
template <template <std::size_t> class Axis>
using family_of = typename detail::family_of_axis<Axis>::type;
#else
template <template <std::size_t> class Axis>
using family_of = axis_family<Axis>;
#endif

// A family as a number, so that a lookup is a loop compiled once instead of a template: the 64-bit
// FNV-1a hash of its qualified name. (Not a variable's address: g++ doesn't compare addresses in
// constant expressions under -fsanitize=undefined.)
template <class Family>
constexpr unsigned long long hash_of_name() {
  unsigned long long hash = 14695981039346656037u;
  for (const char* c = __PRETTY_FUNCTION__; *c; ++c)
    hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211u;
  return hash;
}
template <class Family>
inline constexpr unsigned long long family_id = hash_of_name<Family>();

// The type at a position of a pack, by overload resolution over indexed bases: one instantiation
// per pack instead of one per position.
template <std::size_t Position, class T>
struct indexed {
  using type = T;
};
template <class Sequence, class... T>
struct indexed_pack;
template <std::size_t... Position, class... T>
struct indexed_pack<std::index_sequence<Position...>, T...> : indexed<Position, T>... {};
template <std::size_t Position, class T>
indexed<Position, T> at_position(indexed<Position, T>*);

template <std::size_t Position, class... T>
using nth = typename decltype(at_position<Position>(
    static_cast<indexed_pack<std::index_sequence_for<T...>, T...>*>(nullptr)))::type;

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
