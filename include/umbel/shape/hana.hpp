// SPDX-License-Identifier: BSL-1.0
// Boost.Hana support: `_c` literals for sizes (heads<5_c>), a tensor's axes as a hana::tuple, its
// sizes as a hana::map, and tensor types made from either. For programs that iterate over shapes
// (docs/hana.md); the library itself doesn't use it, and umbel/bare.hpp is the library without it.
// Algorithms (for_each, transform) come from Boost's headers.
#pragma once

#include <boost/hana/integral_constant.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <umbel/config.hpp>
#include <umbel/shape/rules.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace literals {
using namespace boost::hana::literals;  // 5_c
}  // namespace literals
namespace detail {
// Hana's tag of an axis: axes of one name and size are equal, and may be elements of a hana::set or
// keys of a hana::map.
struct hana_axis;

UMBEL_SAYS(dims, "dims");
UMBEL_SAYS(extents, "extents");
UMBEL_SAYS(tensor_from, "tensor_from");
UMBEL_SAYS(expects_a_tensor_a_view_or_the_type_of_one_not,
           "expects a tensor, a view or the hana::type of one, not");

// The axes of a tensor or view, or of a hana::type of one.
template <class X>
struct axes_in {
  using type = typename X::layout::axes;
};
template <class X>
  requires requires { typename X::type::layout; }
struct axes_in<X> {
  using type = typename X::type::layout::axes;
};

template <class X>
inline constexpr bool has_axes_in = requires { typename axes_in<X>::type; };
template <class X>
  requires(
      !requires { typename X::layout::axes; } && !requires { typename X::type::layout::axes; })
struct axes_in<X> {};
template <class Operation, class X>
using without_axes =
    verdict<never<X>, Operation, say::expects_a_tensor_a_view_or_the_type_of_one_not, element<X>>;

template <class... Axes>
constexpr auto axes_tuple(shape<Axes...>) {
  return boost::hana::make_tuple(Axes{}...);
}
template <class... Axes>
constexpr auto extents_map(shape<Axes...>) {
  return boost::hana::make_map(boost::hana::make_pair(boost::hana::type_c<typename Axes::family>,
                                                      boost::hana::size_c<Axes::size>)...);
}

// An axis from an element of a tuple (an axis, or the hana::type of one) or of a map (a pair of
// family and size). Anything else is not an axis.
template <class Element>
struct axis_from {
  static constexpr bool ok = false;
};
template <class Axis>
struct axis_found {
  static constexpr bool ok = true;
  using type = Axis;
};
template <axis_like Axis>
struct axis_from<Axis> : axis_found<typename Axis::plain> {};
template <class Type>
  requires axis_like<typename Type::type>
struct axis_from<Type> : axis_found<typename Type::type::plain> {};
template <class Family, class Size>
  requires requires { typename Family::type::template sized<Size::value>; }
struct axis_from<boost::hana::pair<Family, Size>>
    : axis_found<typename Family::type::template sized<Size::value>> {};

struct list_elements {
  template <class... Element>
  constexpr shape<Element...> operator()(const Element&...) const {
    return {};
  }
};

template <bool Ordered, class Elements>
struct stand_for_axes;
template <bool Ordered, class... Element>
struct stand_for_axes<Ordered, shape<Element...>> {
  using verdict = first_error<
      detail::verdict<Ordered, say::tensor_from, struct a_map_has_no_order_so_name_the_axes>,
      detail::verdict<axis_from<Element>::ok, say::tensor_from, element<Element>,
                      struct is_not_an_axis>...>;
};

template <class T, class Layout>
struct tensor_with_layout;  // tensor/tensor.hpp
template <class Elements, class... Families>
struct tensor_axes;
template <class... Element>
struct tensor_axes<shape<Element...>> {
  using verdict = rules::well_formed<typename axis_from<Element>::type...>;
  template <class T>
  using type = typename tensor_with_layout<T, layout<typename axis_from<Element>::type...>>::type;
};
template <class... Element, class First, class... Rest>
struct tensor_axes<shape<Element...>, First, Rest...> {
  using all = layout<typename axis_from<Element>::type...>;
  using verdict =
      first_error<rules::well_formed<typename axis_from<Element>::type...>,
                  rules::has_axis<say::tensor_from, all, First>,
                  rules::has_axis<say::tensor_from, all, Rest>...,
                  rules::names_each_once<say::tensor_from, typename all::axes, First, Rest...>,
                  detail::verdict<1 + sizeof...(Rest) == all::rank, say::tensor_from, say::lists,
                                  number<1 + sizeof...(Rest)>, say::of_the, number<all::rank>,
                                  say::axes_of, typename all::axes>>;
  template <class T>
  using type =
      typename tensor_with_layout<T, layout<axis_of<all, First>, axis_of<all, Rest>...>>::type;
};

template <class T, class... Families>
struct tensor_from_operation {
  template <class Axes>
  constexpr auto operator()(const Axes& axes) const {
    namespace hana = boost::hana;
    constexpr bool ordered =
        sizeof...(Families) != 0 || !std::is_same_v<hana::tag_of_t<Axes>, hana::map_tag>;
    using elements = decltype(hana::unpack(axes, list_elements{}));
    using are_axes = typename stand_for_axes<ordered, elements>::verdict;
    static_assert(report<are_axes>::ok, "umbel: shapes do not fit");
    if constexpr (are_axes::ok) {
      using result = tensor_axes<elements, Families...>;
      static_assert(report<typename result::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (result::verdict::ok)
        return hana::type_c<typename result::template type<T>>;
      else
        return hana::type_c<invalid>;
    } else {
      return hana::type_c<invalid>;
    }
  }
};

}  // namespace detail

// dims(x): the axes of a tensor or view, in order, as a hana::tuple: (batch<2>, query<4>,
// hidden<100>). Here and below, x may also be a hana::type of one.
template <class X>
constexpr auto dims(const X&) {
  return detail::axes_tuple(typename detail::axes_in<X>::type{});
}
// Of something else: refused.
template <class X>
  requires(!detail::has_axes_in<X>)
constexpr auto dims(const X&) {
  static_assert(detail::report<detail::without_axes<detail::say::dims, X>>::ok,
                "umbel: shapes do not fit");
  return boost::hana::make_tuple();
}

UMBEL_REFUSES_CALL(dims, (), "expects a tensor or view as an argument; write dims(x)", UMBEL_TYPES)

// The key of an axis in a map of sizes: extents(x)[family_c<hidden>] is hana::size_c<100>.
template <template <std::size_t> class Axis>
UMBEL_EXPECTS("family_c: expects the name of an axis; write family_c<hidden>")
inline constexpr auto family_c = boost::hana::type_c<detail::family_of<Axis>>;
// extents(x): a hana::map from axis to size.
template <class X>
constexpr auto extents(const X&) {
  return detail::extents_map(typename detail::axes_in<X>::type{});
}
// Of something else: refused.
template <class X>
  requires(!detail::has_axes_in<X>)
constexpr auto extents(const X&) {
  static_assert(detail::report<detail::without_axes<detail::say::extents, X>>::ok,
                "umbel: shapes do not fit");
  return boost::hana::make_map();
}

// tensor_from: the inverse, from axes to the hana::type of a row-major tensor of T:
//
//   tensor_from<float>(axes)                  the axes of a hana::tuple (axes or their hana::types)
//   tensor_from<float, batch, hidden>(sizes)  the sizes of a hana::map, in the order named here
template <class T, template <std::size_t> class... Axes>
UMBEL_EXPECTS(
    "tensor_from: expects an element type, then names of axes; write tensor_from<float, batch, "
    "hidden>(sizes)")
inline constexpr detail::tensor_from_operation<T, detail::family_of<Axes>...> tensor_from{};

}  // namespace umbel::inline UMBEL_TARGET

namespace boost::hana {

template <class Axis>
struct tag_of<Axis, when<umbel::axis_like<Axis>>> {
  using type = umbel::detail::hana_axis;
};
template <>
struct equal_impl<umbel::detail::hana_axis, umbel::detail::hana_axis> {
  template <class A, class B>
  static constexpr auto apply(const A&, const B&) {
    return bool_c<std::is_same_v<typename A::plain, typename B::plain>>;
  }
};
template <>
struct hash_impl<umbel::detail::hana_axis> {
  template <class A>
  static constexpr auto apply(const A&) {
    return type_c<typename A::plain>;
  }
};

}  // namespace boost::hana
UMBEL_WARNINGS_POP
