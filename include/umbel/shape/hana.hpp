// SPDX-License-Identifier: BSL-1.0
// The door to Boost.Hana: `_c` literals wherever a size goes (heads<5_c>), the axes of a tensor as a
// hana::tuple, its sizes as a hana::map. For programs that iterate over shapes; the library itself
// does not use it, and umbel/bare.hpp is the same library without it.
#pragma once

#include <boost/hana/integral_constant.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <umbel/shape/rules.hpp>

namespace umbel {

namespace literals {
using namespace boost::hana::literals;  // 5_c
}

namespace detail {
template <class... Axes>
constexpr auto axes_tuple(shape<Axes...>) {
  return boost::hana::make_tuple(Axes{}...);
}
template <class... Axes>
constexpr auto extents_map(shape<Axes...>) {
  return boost::hana::make_map(boost::hana::make_pair(boost::hana::type_c<typename Axes::family>,
                                                      boost::hana::size_c<Axes::size>)...);
}
}  // namespace detail

// The axes of a tensor or view, in order: (batch<2>, query<4>, hidden<100>).
template <class X>
constexpr auto dims(const X&) {
  return detail::axes_tuple(typename X::layout::axes{});
}

// From axis to size: extents(x)[family_c<hidden>] is hana::size_c<100>.
template <template <std::size_t> class Axis>
inline constexpr auto family_c = boost::hana::type_c<axis_family<Axis>>;
template <class X>
constexpr auto extents(const X&) {
  return detail::extents_map(typename X::layout::axes{});
}

}  // namespace umbel
