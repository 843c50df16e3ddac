// SPDX-License-Identifier: BSL-1.0
// rotate: rotary positions (attention/rope.hpp) for any tensor or view, with the layers' bits.
//
//   rotate<split_halves, query, head_dim>(x)           positions 0, 1, 2 ... along query
//   rotate<rope<split_halves, 500000, 32>, query, head_dim>(x)   a different base, fewer features
//   rotate<split_halves, token<4096>, head_dim>(x, positions)   integers below 4096
//   rotate<split_halves, head_dim>(x, cosines, sines)  by custom angles, one per pair
//
// A pair (a, b) becomes (a cos - b sin, b cos + a sin), each a fused multiply-add and a product.
#pragma once

#include <umbel/attention/rope.hpp>
#include <umbel/config.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/operation/lookup.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct rope_cosines;
struct rope_sines;
struct rotate;
}  // namespace say

UMBEL_SAYS(expects_a_tensor_then_cosines_and_sines,
           "expects a tensor or view, then cosines and sines");
UMBEL_SAYS(expects_a_tensor_then_positions,
           "expects a tensor or view, then a tensor or view of positions");

template <class Pairing>
struct rope_or_pairing {
  using type = rope<Pairing>;
};
template <class Pairing, std::size_t Base, std::size_t Width>
struct rope_or_pairing<rope<Pairing, Base, Width>> {
  using type = rope<Pairing, Base, Width>;
};
template <class Rope>
using rope_of = typename rope_or_pairing<Rope>::type;
template <class Rope, class Features>
inline constexpr std::size_t pairs_of =
    (rope_of<Rope>::width != 0 ? rope_of<Rope>::width : Features::size) / 2;

// The first features of all pairs of a layout, and the distance from each to its second.
template <class Pairing, class Layout, class Family, std::size_t Pairs>
struct first_of_pairs {
  using type = algebra::slice<Layout, Family, Pairs>;
  static constexpr std::size_t apart = Pairs * Layout::template stride_of<Family>;
};
template <std::size_t N>
struct within_a_pair : axis<within_a_pair, N> {};
template <class Layout, class Family, std::size_t Pairs>
struct first_of_pairs<adjacent_pairs, Layout, Family, Pairs> {
  using type =
      algebra::select<algebra::split<algebra::slice<Layout, Family, 2 * Pairs>, Family,
                                     typename Family::template sized<Pairs>, within_a_pair<2>>,
                      axis_family<within_a_pair>>;
  static constexpr std::size_t apart = Layout::template stride_of<Family>;
};

// Rotates x in place. Cosines, Sines: layouts with some axes of x, by name. Back: by minus the
// angle.
template <class Pairing, class Family, class Layout, class Cosines, class Sines, bool Back = false,
          class T>
constexpr void rotate_pairs(T* x, const T* cosines, const T* sines) noexcept {
  using first = first_of_pairs<Pairing, Layout, Family, Cosines::template size_of<Family>>;
  using half = typename first::type;
  using cosines_of = algebra::broadcast_to<Cosines, typename half::axes>;
  using sines_of = algebra::broadcast_to<Sines, typename half::axes>;
  for_each([](T& a, T& b, const T& cosine,
              const T& sine) { rotate_pair(a, b, cosine, Back ? -sine : sine); },
           view_of<T, half>(x), view_of<T, half>(x + first::apart),
           view_of<const T, cosines_of>(cosines), view_of<const T, sines_of>(sines));
}

namespace rules {
template <class Rope, class X, class Position, class Family>
struct rotate_rule {
  using type = first_error<has_axis<say::rotate, layout_of<X>, Position>,
                           has_axis<say::rotate, layout_of<X>, Family>>;
};
template <class Rope, class X, class Position, class Family>
  requires(layout_of<X>::template has<Position> && layout_of<X>::template has<Family>)
struct rotate_rule<Rope, X, Position, Family> {
  using type =
      first_error<names_each_once<say::rotate, typename layout_of<X>::axes, Position, Family>,
                  floating<say::rotate, typename X::value_type>,
                  rope_fits<say::rotate, rope_of<Rope>, axis_of<layout_of<X>, Family>>>;
};

// With given cosines and sines, whose features are the pairs.
template <class Pairing, class Family, class X, class Cosines, class Sines>
struct rotate_by_rule {
  using type = verdict<one_is_invalid<X, Cosines, Sines>, say::rotate,
                       say::expects_a_tensor_then_cosines_and_sines>;
};
template <class Pairing, class Family, shaped X, shaped Cosines, shaped Sines>
struct rotate_by_rule<Pairing, Family, X, Cosines, Sines> {
  using type = first_error<has_axis<say::rotate, layout_of<X>, Family>,
                           has_axis<say::rotate, layout_of<Cosines>, Family>>;
};
template <class Pairing, class Family, shaped X, shaped Cosines, shaped Sines>
  requires(layout_of<X>::template has<Family> && layout_of<Cosines>::template has<Family>)
struct rotate_by_rule<Pairing, Family, X, Cosines, Sines> {
  using T = typename X::value_type;
  static constexpr std::size_t pairs = layout_of<Cosines>::template size_of<Family>;
  using turned = rope<Pairing, 10000, 2 * pairs>;
  // x with pairs instead of features; rope_fits refuses too many.
  using rows = algebra::slice<row_major<layout_of<X>>, Family, pairs>;
  using type =
      first_error<floating<say::rotate, T>,
                  rope_fits<say::rotate, turned, axis_of<layout_of<X>, Family>>,
                  same_shape<say::rotate, layout_of<Cosines>, layout_of<Sines>>,
                  same_element<say::rotate, T, typename Cosines::value_type>,
                  same_element<say::rotate, T, typename Sines::value_type>,
                  typename shared_axes_agree_rule<say::rotate, rows, layout_of<Cosines>>::type,
                  verdict<is_part_of<typename layout_of<Cosines>::axes, rows>, say::rotate,
                          typename layout_of<X>::axes, say::and_, typename layout_of<Cosines>::axes,
                          say::have_different_axes>>;
};
template <class Pairing, class Family, class X, class Cosines, class Sines>
using rotate_by = typename rotate_by_rule<Pairing, Family, X, Cosines, Sines>::type;

template <class Operation, class Rope, class Positions, class Features, class T>
struct rope_table_rule {
  using type = well_formed<Positions, Features>;
};
template <class Operation, class Rope, class Positions, class Features, class T>
  requires(well_formed<Positions, Features>::ok)
struct rope_table_rule<Operation, Rope, Positions, Features, T> {
  using type = first_error<floating<Operation, T>, rope_fits<Operation, rope_of<Rope>, Features>>;
};
template <class Operation, class Rope, class Positions, class Features, class T>
using rope_table_fits = typename rope_table_rule<Operation, Rope, Positions, Features, T>::type;

// With integers that have axes of x other than its features.
template <class Rope, class Positions, class Family, class X, class Ids>
struct rotate_at_rule {
  using type = verdict<one_is_invalid<X, Ids>, say::rotate, say::expects_a_tensor_then_positions>;
};
template <class Rope, class Positions, class Family, shaped X, shaped Ids>
struct rotate_at_rule<Rope, Positions, Family, X, Ids> {
  using type = has_axis<say::rotate, layout_of<X>, Family>;
};
template <class Rope, class Positions, class Family, shaped X, shaped Ids>
  requires(layout_of<X>::template has<Family>)
struct rotate_at_rule<Rope, Positions, Family, X, Ids> {
  using rows = algebra::select<row_major<layout_of<X>>, Family>;
  using type = first_error<rope_table_fits<say::rotate, Rope, Positions,
                                           axis_of<layout_of<X>, Family>, typename X::value_type>,
                           integers<say::rotate, typename Ids::value_type>,
                           typename shared_axes_agree_rule<say::rotate, rows, layout_of<Ids>>::type,
                           verdict<is_part_of<typename layout_of<Ids>::axes, rows>, say::rotate,
                                   typename layout_of<X>::axes, say::and_,
                                   typename layout_of<Ids>::axes, say::have_different_axes>>;
};
template <class Rope, class Positions, class Family, class X, class Ids>
using rotate_at = typename rotate_at_rule<Rope, Positions, Family, X, Ids>::type;
}  // namespace rules

// x: any axes; returns a row-major tensor with them. into(out, x): out may be a row-major x.
template <class Rope, template <std::size_t> class Position, template <std::size_t> class Features>
struct rotate_operation : computing<rotate_operation<Rope, Position, Features>, say::rotate> {
  using family = family_of<Features>;
  template <class X>
  using rule = typename rules::rotate_rule<Rope, X, family_of<Position>, family>::type;
  template <class X>
  static constexpr std::size_t bytes_of_table() noexcept {
    using layout = layout_of<X>;
    return sizeof(rope_table<typename X::value_type, layout::template size_of<family_of<Position>>,
                             pairs_of<Rope, axis_of<layout, family>>, rope_of<Rope>::base>);
  }

  // Back: the gradient of x from that of y.
  static constexpr bool is_linear = true;
  template <bool Back = false, class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    using layout_of_y = layout_of<Y>;
    using T = typename Y::value_type;
    constexpr std::size_t positions = layout_of_y::template size_of<family_of<Position>>;
    constexpr std::size_t pairs = pairs_of<Rope, axis_of<layout_of_y, family>>;
    const auto& table = rope_turns<T, positions, pairs, rope_of<Rope>::base>();
    copy(x, y);
    using turns = layout<Position<positions>, Features<pairs>>;
    rotate_pairs<typename rope_of<Rope>::pairs, family, layout_of_y, turns, turns, Back>(
        y.data(), table.cosine, table.sine);
  }
};

// The result of rope_cosines and rope_sines: a view of a static table.
template <class Name, class Rope, class Positions, class Features, class T>
constexpr auto rope_view(bool sines) noexcept {
  using verdict = rules::rope_table_fits<Name, Rope, Positions, Features, T>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    constexpr std::size_t pairs = pairs_of<Rope, Features>;
    const auto& table = rope_turns<T, Positions::size, pairs, rope_of<Rope>::base>();
    return view<const T, typename Positions::plain,
                typename Features::family::template sized<pairs>>(sines ? table.sine
                                                                        : table.cosine);
  } else {
    return invalid{};
  }
}
template <class Pairing, class Family, class X, class Cosines, class Sines>
constexpr auto rotated_by(const X& x, const Cosines& cosines, const Sines& sines) noexcept {
  using result = row_major<layout_of<X>>;
  return filled<tensor_of<typename X::value_type, result>>([&](auto& y) {
    copy(x, y);
    rotate_pairs<Pairing, Family, result, layout_of<Cosines>, layout_of<Sines>>(
        y.data(), cosines.data(), sines.data());
  });
}
// By the rows of that table. (Checked is a parameter because the function depends on UMBEL_CHECK.)
template <bool Checked, class Rope, class Positions, template <std::size_t> class Features, class X,
          class Ids>
constexpr auto rotated_at(const X& x, const Ids& positions) noexcept {
  using T = typename X::value_type;
  using features = axis_of<layout_of<X>, family_of<Features>>;
  const auto rows = [&](bool sines) {
    return rows_of_table<Checked>(rope_view<say::rope_cosines, Rope, Positions, features, T>(sines),
                                  positions, "rotate");
  };
  return rotated_by<typename rope_of<Rope>::pairs, family_of<Features>>(x, rows(false), rows(true));
}

}  // namespace detail

// Would rotate<Rope, Position, Features>(x) compile? rotatable<X, split_halves, query, head_dim>.
template <class X, class Rope, template <std::size_t> class Position,
          template <std::size_t> class Features>
concept rotatable =
    detail::one_is_invalid<X> ||
    (detail::tensor_like<X> &&
     detail::fits<typename detail::rules::rotate_rule<Rope, std::remove_cvref_t<X>,
                                                      detail::family_of<Position>,
                                                      detail::family_of<Features>>::type>);
// Would rotate<Rope, Positions, Features>(x, positions) compile? rotatable_at<X, Ids, split_halves,
// token<4096>, head_dim>.
template <class X, class Ids, class Rope, class Positions, template <std::size_t> class Features>
concept rotatable_at =
    detail::fits<detail::rules::rotate_at<Rope, Positions, detail::family_of<Features>,
                                          std::remove_cvref_t<X>, std::remove_cvref_t<Ids>>>;
// Would rotate<Pairing, Features>(x, cosines, sines) compile? rotatable_by<X, Cosines, Sines,
// split_halves, head_dim>.
template <class X, class Cosines, class Sines, class Pairing, template <std::size_t> class Features>
concept rotatable_by = detail::fits<
    detail::rules::rotate_by<Pairing, detail::family_of<Features>, std::remove_cvref_t<X>,
                             std::remove_cvref_t<Cosines>, std::remove_cvref_t<Sines>>>;

// (Functions, not objects, because std::rotate is one.)

// rotate<split_halves, query, head_dim>(x), or x | rotate<split_halves, query, head_dim>: rotary
// positions, 0, 1, 2 ... along query, for pairs of features along head_dim; with another base or
// fewer features rotate<rope<split_halves, 500000, 32>, query, head_dim>(x). Bits as in layers.
template <class Rope, template <std::size_t> class Position, template <std::size_t> class Features,
          class X>
  requires(detail::elements<X> || detail::traced<X>)
constexpr auto rotate(const X& x) noexcept {
  using operation = detail::rotate_operation<Rope, Position, Features>;
  using verdict = detail::in_its_line<typename operation::template rule<X>, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::computed_where<verdict, operation>(x);
}
template <class Rope, template <std::size_t> class Position, template <std::size_t> class Features>
constexpr detail::rotate_operation<Rope, Position, Features> rotate() noexcept {
  return {};
}
// rotate<split_halves, token<4096>, head_dim>(x, positions): rotary positions that are integers, a
// tensor or view with some axes of x, matched by name: rows of a static table of 4096 positions
// (rope_cosines). A position outside of it returns zeros; UMBEL_CHECK=1 stops there. (Formulas do
// not check.) For a different base or fewer features see above.
template <class Rope, class Positions, template <std::size_t> class Features, class X, class Ids>
  requires((detail::elements<X> || detail::elements<Ids>) &&
           !(detail::traced<X> || detail::traced<Ids>))
UMBEL_SHARED constexpr auto rotate(const X& x, const Ids& positions) noexcept {
  using verdict = detail::rules::rotate_at<Rope, Positions, detail::family_of<Features>, X, Ids>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !detail::one_is_invalid<X, Ids>)
    return detail::rotated_at<(UMBEL_CHECK != 0), Rope, Positions, Features>(x, positions);
  else
    return detail::invalid{};
}
// rotate<split_halves, head_dim>(x, cosines, sines): by custom angles. Cosines and sines have some
// of the axes of x, matched by name, and half as many features, or fewer: one per pair.
template <class Pairing, template <std::size_t> class Features, class X, class Cosines, class Sines>
  requires((detail::elements<X> || detail::elements<Cosines> || detail::elements<Sines>) &&
           !(detail::traced<X> || detail::traced<Cosines> || detail::traced<Sines>))
constexpr auto rotate(const X& x, const Cosines& cosines, const Sines& sines) noexcept {
  using family = detail::family_of<Features>;
  using verdict = detail::rules::rotate_by<Pairing, family, X, Cosines, Sines>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !detail::one_is_invalid<X, Cosines, Sines>)
    return detail::rotated_by<Pairing, family>(x, cosines, sines);
  else
    return detail::invalid{};
}
// With other template arguments: refused.
#define UMBEL_INSTEAD \
  "expects a pairing, then names of axes; write rotate<split_halves, query, head_dim>(x)"
UMBEL_REFUSED_RESULT(rotate, UMBEL_INSTEAD)
UMBEL_REFUSES_CALL(rotate, (const Given&...), UMBEL_INSTEAD,
                   template <class, std::size_t, std::size_t> class Rope, UMBEL_NAMES)
UMBEL_REFUSES_NUMBERS_OF_TENSOR(rotate, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(rotate, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_OF_TENSOR(rotate, UMBEL_INSTEAD, UMBEL_NAMES)
UMBEL_REFUSES_PIPED(rotate, UMBEL_INSTEAD, UMBEL_NUMBERS)
UMBEL_REFUSES_PIPED(rotate, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_PIPED(rotate, UMBEL_INSTEAD, UMBEL_NAMES)
#undef UMBEL_INSTEAD

// rope_cosines<split_halves, token<4096>, head_dim<64>>(): the cosines of rotary positions, in
// float or T: a view (token=4096, head_dim=32) of a static table.
template <class Rope, class Positions, class Features, class T = float>
constexpr auto rope_cosines() noexcept {
  return detail::rope_view<detail::say::rope_cosines, Rope, Positions, Features, T>(false);
}
// rope_sines<split_halves, token<4096>, head_dim<64>>(): the sines.
template <class Rope, class Positions, class Features, class T = float>
constexpr auto rope_sines() noexcept {
  return detail::rope_view<detail::say::rope_sines, Rope, Positions, Features, T>(true);
}
// Of a tensor, of axes without sizes and the like: refused.
#define UMBEL_INSTEAD                                                                         \
  "expects a pairing, two axes with sizes and no argument; write rope_cosines<split_halves, " \
  "token<4096>, head_dim<64>>()"
UMBEL_REFUSES_MIXED(rope_cosines, (const Given&...), UMBEL_INSTEAD)
UMBEL_REFUSES_CALL(rope_cosines, (const Given&...), UMBEL_INSTEAD, UMBEL_NUMBERS)
UMBEL_REFUSES_CALL(rope_cosines, (const Given&...), UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_CALL(rope_cosines, (const Given&...), UMBEL_INSTEAD, UMBEL_NAMES)
UMBEL_REFUSES_MIXED(rope_sines, (const Given&...), UMBEL_INSTEAD)
UMBEL_REFUSES_CALL(rope_sines, (const Given&...), UMBEL_INSTEAD, UMBEL_NUMBERS)
UMBEL_REFUSES_CALL(rope_sines, (const Given&...), UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_CALL(rope_sines, (const Given&...), UMBEL_INSTEAD, UMBEL_NAMES)
#undef UMBEL_INSTEAD

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
