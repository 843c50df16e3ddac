// SPDX-License-Identifier: BSL-1.0
// Operations along named axes in formulas that are functions: sum, max, min, concat. (softmax, mean
// and contract are objects, which ask for nodes themselves.)
#pragma once

#include <umbel/block/concat.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/node.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// Result: the layout of all parts, one after another along the axis of Family.
template <class T, class Result, class Family, class... Layout>
constexpr void write_parts(const T* const* from, T* to) noexcept {
  const auto put = [&]<class Part>(const T* part, Part*) {
    constexpr std::size_t positions = Part::template size_of<Family>;
    copy(view_of<const T, Part>(part), view_of<T, algebra::slice<Result, Family, positions>>(to));
    to += positions * Result::template stride_of<Family>;
  };
  std::size_t next = 0;
  (put(from[next++], static_cast<Layout*>(nullptr)), ...);
}
template <template <std::size_t> class Axis, a_node First, a_node... X>
  requires(sizeof...(X) < most_operands)
constexpr auto concat(const First& first, const X&... x) noexcept {
  using family = family_of<Axis>;
  using verdict = rules::concat<family, First, X...>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    constexpr std::size_t size =
        (layout_of<First>::template size_of<family> + ... + layout_of<X>::template size_of<family>);
    using T = typename First::value_type;
    using result = resized<layout_of<First>, family, size>;
    return first.template recorded<result>(
        [&] {
          node_of_graph<T> one;
          one.what = word::call;
          one.name = "concat";
          one.run = [](const captured<T>&, const T* const* from, T* to) {
            write_parts<T, result, family, layout_of<First>, layout_of<X>...>(from, to);
          };
          one.from[one.operands++] = first.as_operand();
          ((one.from[one.operands++] = x.as_operand()), ...);
          return one;
        },
        first.number, x.number...);
  } else {
    return invalid{};
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
