// SPDX-License-Identifier: BSL-1.0
// gather<axis>(x, ids): elements of x at integer positions along a named axis, as torch.gather.
// Axes are matched by name. For computed positions in formulas see formula/gather.hpp.
#pragma once

#include <umbel/config.hpp>
#include <umbel/operation/lookup.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct gather;
}

UMBEL_SAYS(expects_a_tensor_and_positions_so_write_gather_of_both,
           "expects a tensor and positions; write gather<bucket>(x, ids)");
UMBEL_SAYS(is_an_axis_of_the_second_argument, "is an axis of the second argument");
UMBEL_SAYS(so_pass_the_tensor_then_its_positions, "; write gather<bucket>(x, ids)");
UMBEL_SAYS(expects_one_axis_by_its_name_so_write_gather_of_both,
           "expects one axis, by its name; write gather<bucket>(x, ids)");

// The layouts of gather<axis>(x, ids): the rest of x without the axis, and the result, in which
// the axes of ids that x lacks replace it.
template <class Layout, class Family, class Ids>
struct gathered_layouts {
  using features = algebra::select<Layout, Family>;
  static constexpr std::size_t at = Layout::template position<Family>;
  template <class Done, class... Axes>
  struct without_those_of_x {
    using type = Done;
  };
  template <class... Done, class First, class... Rest>
  struct without_those_of_x<shape<Done...>, First, Rest...>
      : without_those_of_x<std::conditional_t<features::template has<typename First::family>,
                                              shape<Done...>, shape<Done..., First>>,
                           Rest...> {};
  template <class Axes>
  struct added_of;
  template <class... Axes>
  struct added_of<shape<Axes...>> : without_those_of_x<shape<>, Axes...> {};
  using result = layout_with_axes<typename algebra::detail::replace_axes<
      Layout, at, 1, typename added_of<typename Ids::axes>::type>::type>;
};

namespace rules {
template <class Family, class Layout, class Ids, bool HasIt = Layout::template has<Family>>
struct gather_axes_rule {
  using type = first_error<verdict<!Ids::template has<Family>, say::gather, Family,
                                   say::is_an_axis_of_the_second_argument, typename Ids::axes,
                                   say::so_pass_the_tensor_then_its_positions>,
                           has_axis<say::gather, Layout, Family>>;
};
template <class Family, class Layout, class Ids>
struct gather_axes_rule<Family, Layout, Ids, true> {
  using type =
      typename shared_axes_agree_rule<say::gather, algebra::select<Layout, Family>, Ids>::type;
};
template <class Family, class X, class Ids>
struct gather_rule {
  using type = verdict<one_is_invalid<X, Ids>, say::gather,
                       say::expects_a_tensor_and_positions_so_write_gather_of_both>;
};
template <class Family, shaped X, shaped Ids>
struct gather_rule<Family, X, Ids> {
  using type = first_error<typename gather_axes_rule<Family, layout_of<X>, layout_of<Ids>>::type,
                           integers<say::gather, typename Ids::value_type>>;
};
template <class Family, class X, class Ids>
using gather = typename gather_rule<Family, X, Ids>::type;
template <class... X>
using tensor_and_positions =
    in_its_line<verdict<one_is_invalid<X...>, say::gather,
                        say::expects_a_tensor_and_positions_so_write_gather_of_both>,
                X...>;
template <class... X>
using axis_to_gather =
    in_its_line<verdict<one_is_invalid<X...>, say::gather,
                        say::expects_one_axis_by_its_name_so_write_gather_of_both>,
                X...>;
}  // namespace rules

// Checked: does the file check positions? (Functions that depend on it need it in their name.)
template <bool Checked, class Family, class X, class Ids>
constexpr auto gathered_elements(const X& x, const Ids& ids) noexcept {
  using T = std::remove_const_t<typename X::value_type>;
  using from = layout_of<X>;
  using layouts = gathered_layouts<from, Family, layout_of<Ids>>;
  using result = typename layouts::result;
  using axes = typename result::axes;
  using firsts = algebra::broadcast_to<typename layouts::features, axes>;
  using repeated = algebra::broadcast_to<layout_of<Ids>, axes>;
  using Id = std::remove_const_t<typename Ids::value_type>;
  return filled<tensor_of<T, result>>([&](auto& out) {
    for_each(
        [](const T& first, const Id& id, T& found) {
          const std::size_t at = row_number(id);
          const std::size_t offset =
              offset_along<axis_of<from, Family>, from::template stride_of<Family>>("gather", at);
          found = at < from::template size_of<Family> ? (&first)[offset] : T{};
        },
        view_of<const T, firsts>(x.data()), view_of<const Id, repeated>(ids.data()), out);
  });
}
}  // namespace detail

// Would gather<Axis>(x, ids) compile? gatherable<X, Ids, bucket>.
template <class X, class Ids, template <std::size_t> class Axis>
concept gatherable =
    detail::fits<detail::rules::gather<detail::family_of<Axis>, std::remove_cvref_t<X>,
                                       std::remove_cvref_t<Ids>>>;

// gather<bucket>(x, ids): elements of x at positions along a named axis. x (heads, query, bucket)
// and ids (query, key) become (heads, query, key): the axes of ids that x lacks replace the axis,
// and those that both have are paired up. A position outside the axis reads nothing and returns 0;
// with UMBEL_CHECK=1 it stops the program, except in formulas. In a formula, ids may be any
// numbers, positions among them: gather<bucket>(x, position<key> - position<query> + 63).
template <template <std::size_t> class Axis, class X, class Ids>
  requires((detail::elements<X> || detail::elements<Ids>) &&
           !(detail::of_a_formula<X> || detail::of_a_formula<Ids>))
UMBEL_SHARED constexpr auto gather(const X& x, const Ids& ids) noexcept {
  using verdict = detail::rules::gather<detail::family_of<Axis>, X, Ids>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !detail::one_is_invalid<X, Ids>) {
    return detail::gathered_elements<(UMBEL_CHECK != 0), detail::family_of<Axis>>(x, ids);
  } else {
    return detail::invalid{};
  }
}

// Without positions, with a number or a mask for them, or without an axis: refused.
template <template <std::size_t> class Axis, class... X>
  requires(detail::are_other_than<2, X...> || detail::are_with_another<X...> ||
           detail::are_swapped<X...>)
constexpr auto gather(const X&...) noexcept {
  using verdict = detail::rules::tensor_and_positions<X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}
template <class... X>
  requires detail::are_other_than<npos, X...>
constexpr auto gather(const X&...) noexcept {
  using verdict = detail::rules::axis_to_gather<X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}
#define UMBEL_INSTEAD "expects one axis, by its name; write gather<bucket>(x, ids)"
UMBEL_REFUSED_RESULT(gather, UMBEL_INSTEAD)
UMBEL_REFUSES_NUMBERS_OF_TENSOR(gather, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(gather, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_OF_TENSOR(gather, UMBEL_INSTEAD, UMBEL_TWO_NAMES)
#undef UMBEL_INSTEAD

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
