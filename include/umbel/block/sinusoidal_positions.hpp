// SPDX-License-Identifier: BSL-1.0
// sinusoidal_positions: the table of sines and cosines of Vaswani et al. 2017, added to every
// sequence of the batch. The compiler computes it in double. Models use three layouts; specify one:
//
//   adjacent_pairs         sin, cos, sin, cos, ...: the paper's formula, and "Dive into Deep
//                          Learning"
//   split_halves           all sines, then all cosines, of the same angles (Marian)
//   split_halves_to_base   the same, but the last angle is exactly position / base (tensor2tensor,
//                          fairseq, Whisper)
//
// Pair i of position p has the angle p base^(-2 i / hidden), in the last form p base^(-i / (pairs -
// 1)). If hidden is odd, the first two have one more sine than cosines (from their formulas), and
// the last one ends in a column of zeros (as in its frameworks).
//
// Above about 200,000 elements (positions times hidden) the compiler needs a higher limit:
// -fconstexpr-ops-limit=N (g++), -fconstexpr-steps=N (clang).
#pragma once

#include <umbel/attention/rope.hpp>
#include <umbel/block/positions.hpp>
#include <umbel/config.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// A layout of sinusoidal_positions: split_halves whose last angle is exactly position / base.
struct split_halves_to_base {};
namespace detail {
UMBEL_SAYS(sinusoidal_positions, "sinusoidal_positions");
UMBEL_SAYS(the_layout_must_be_adjacent_pairs_split_halves_or_split_halves_to_base_not,
           "the layout must be adjacent_pairs, split_halves or split_halves_to_base, not");
UMBEL_SAYS(needs_a_layout_so_add_adjacent_pairs_split_halves_or_split_halves_to_base,
           "needs a layout; add adjacent_pairs, split_halves or split_halves_to_base");

template <class T, class Position, class Hidden, class Pairs, std::size_t Base>
constexpr tensor<T, Position, Hidden> sinusoids() noexcept {
  constexpr bool adjacent = std::is_same_v<Pairs, adjacent_pairs>;
  constexpr bool to_base = std::is_same_v<Pairs, split_halves_to_base>;
  constexpr std::size_t width = Hidden::size;
  constexpr std::size_t pairs = to_base ? width / 2 : (width + 1) / 2;
  constexpr std::size_t span = to_base ? (pairs > 1 ? 2 * (pairs - 1) : 2) : width;
  tensor<T, Position, Hidden> table{};
  rotations<(pairs > 0 ? pairs : 1), Base> turned(span);
  T* to = table.data();
  for (std::size_t p = 0; p < Position::size; ++p, turned.advance()) {
    if constexpr (adjacent) {
      for (std::size_t i = 0; i < width; ++i)
        *to++ = static_cast<T>(i % 2 == 0 ? turned.now[i / 2].sine : turned.now[i / 2].cosine);
    } else {
      for (std::size_t i = 0; i < pairs; ++i) *to++ = static_cast<T>(turned.now[i].sine);
      for (std::size_t i = 0; i < width / 2; ++i) *to++ = static_cast<T>(turned.now[i].cosine);
      if (to_base && width % 2 != 0) *to++ = T{};
    }
  }
  return table;
}
template <class T, class Position, class Hidden, class Pairs, std::size_t Base>
inline constexpr tensor<T, Position, Hidden> sinusoid_table =
    sinusoids<T, Position, Hidden, Pairs, Base>();

namespace rules {
template <class Pairs>
inline constexpr bool is_layout_of_sinusoids =
    std::is_same_v<Pairs, adjacent_pairs> || std::is_same_v<Pairs, split_halves> ||
    std::is_same_v<Pairs, split_halves_to_base>;
template <class T, class Position, class Hidden, class Pairs, std::size_t Base>
using sinusoids = first_error<
    floating<say::sinusoidal_positions, T>,
    verdict<!std::is_void_v<Pairs>, say::sinusoidal_positions,
            say::needs_a_layout_so_add_adjacent_pairs_split_halves_or_split_halves_to_base>,
    verdict<is_layout_of_sinusoids<Pairs>, say::sinusoidal_positions,
            say::the_layout_must_be_adjacent_pairs_split_halves_or_split_halves_to_base_not,
            detail::option_word<Pairs>>,
    axes_of_the_table<say::sinusoidal_positions, Position, Hidden>,
    verdict<Base != 0, say::sinusoidal_positions, struct needs_a_base_above_0>>;
}  // namespace rules
}  // namespace detail

// x + the sines and cosines of the positions (Vaswani et al. 2017). T: float or double. Position,
// Hidden: token<49>, hidden<32>, the largest sequence. Pairs: adjacent_pairs, split_halves or
// split_halves_to_base.
template <class T, class Position, class Hidden, class Pairs = void, std::size_t Base = 10000>
UMBEL_EXPECTS(
    "sinusoidal_positions: expects an element type, then two axes; write "
    "sinusoidal_positions<float, token<128>, hidden<64>>")
class sinusoidal_positions
    : public detail::placing<sinusoidal_positions<T, Position, Hidden, Pairs, Base>,
                             detail::say::sinusoidal_positions,
                             typename detail::axis_or_none<Position>::plain> {
  static_assert(detail::reported<detail::rules::sinusoids<T, Position, Hidden, Pairs, Base>>::ok,
                "umbel: shapes do not fit");

 public:
  using value_type = T;
  using position_axis = typename detail::axis_or_none<Position>::plain;
  using hidden_axis = typename detail::axis_or_none<Hidden>::plain;

  // (Position, Hidden), within 1e-15 times the position, rounded to T.
  static constexpr const tensor<T, position_axis, hidden_axis>& table =
      detail::sinusoid_table<T, position_axis, hidden_axis, Pairs, Base>;

  // x: any axes with Hidden and Position, of the table's size or less ("the input has token=50 but
  // the table has token=49"). Returns a row-major tensor with the axes of x. positions(x, offset):
  // the position of the first row (such as the size of a cache); past the last one that fits it is
  // reduced to that one, a negative one becomes 0. into(out, x), into(out, x, offset): out may be
  // x.
  template <class X>
  using rule = detail::rules::positions_of_the_table<detail::say::sinusoidal_positions, X, T,
                                                     position_axis, hidden_axis, true>;
  template <class X>
  using part_rule = rule<X>;
  template <class X, class Part, class Y>
  static constexpr void add_rows(const X& x, const Part& part, Y& y) noexcept {
    detail::add_table(x, part.template rows_of<hidden_axis>(table.data()), y,
                      typename detail::layout_of<X>::axes{});
  }
  // Without an object, as formulas call it.
  template <class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    using part =
        detail::part_of_a_table<position_axis, detail::rules::size_along<X, position_axis>>;
    add_rows(x, part{}, y);
  }
};

// Would positions(x) of a sinusoidal_positions or learned_positions compile?
template <class Positions, class X>
concept has_positions_for =
    detail::one_is_invalid<X> || (detail::shaped<std::remove_cvref_t<X>> &&
                                  Positions::template rule<std::remove_cvref_t<X>>::ok);

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
