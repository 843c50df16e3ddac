// SPDX-License-Identifier: BSL-1.0
// Rotary positions in integers: queries and keys are projected to 16 bits, rotated by a table of
// 16-bit cosines and sines, made of the doubles of the layer of floats, and rounded to 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/attention/rope.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/linear.hpp>
#include <umbel/kernel/plain/integers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// Rows that are projected to 16 bits before they are rotated, so that the scratch is small.
inline constexpr std::size_t rows_to_rotate = 16;

// project(map, x, y, position, work): Rows rows of Heads heads of a layer's queries or keys, the
// first row at this position of Positions. Width: of a head; Padded: in scratch. unit: of what the
// map gives, where the result has the unit `out`.
template <class Option>
struct rotary {
  template <std::size_t Rows, std::size_t Width>
  struct scratch {};
  static constexpr double unit(double out) noexcept { return out; }

  template <std::size_t Rows, std::size_t Positions, std::size_t Heads, std::size_t Width,
            std::size_t Padded, class Map, class Work>
  static constexpr void project(const Map& map, const std::int8_t* x, std::int8_t* y, std::size_t,
                                Work&) noexcept {
    kernel::integer_linear<kernel::integer_linear_shape{
        Rows, Map::in, Map::out, Map::in, Map::out}>(map, x, y, kernel::finish::as_int8{});
  }
};
template <class Pairing, std::size_t Base, std::size_t Turned>
struct rotary<rope<Pairing, Base, Turned>> {
  template <std::size_t Rows, std::size_t Width>
  struct scratch {
    alignas(64) std::int16_t rows[(Rows < rows_to_rotate ? Rows : rows_to_rotate) * Width];
  };
  // Of 1.4 times the largest rotated feature 16 bits hold 1.4 times as much again.
  static constexpr double unit(double out) noexcept { return out / (1 << kernel::unturned_digits); }

  template <std::size_t Rows, std::size_t Positions, std::size_t Heads, std::size_t Width,
            std::size_t Padded, class Map, class Work>
  static constexpr void project(const Map& map, const std::int8_t* x, std::int8_t* y,
                                std::size_t position, Work& work) noexcept {
    constexpr std::size_t pairs = (Turned ? Turned : Width) / 2;
    constexpr bool adjacent = std::is_same_v<Pairing, adjacent_pairs>;
    constexpr std::size_t together = Rows < rows_to_rotate ? Rows : rows_to_rotate;
    const auto& table = rope_turns<std::int16_t, Positions, pairs, Base>();
    const auto turn = [&]<std::size_t N>(std::integral_constant<std::size_t, N>,
                                         std::size_t first) {
      kernel::integer_linear<kernel::integer_linear_shape{N, Map::in, Map::out, Map::in, Map::out}>(
          map, x + first * Map::in, work.rows, kernel::finish::as_int16{});
      const std::size_t at = (position + first) * pairs;
      kernel::plain::integer_rotate<kernel::integer_rotate_shape{
          N, Heads, Padded, pairs, adjacent ? 2 : 1, adjacent ? 1 : pairs}>(
          work.rows, table.cosine + at, table.sine + at, y + first * Map::out);
    };
    constexpr std::size_t left = Rows % together;
    for (std::size_t first = 0; first + together <= Rows; first += together)
      turn(std::integral_constant<std::size_t, together>{}, first);
    if constexpr (left != 0) turn(std::integral_constant<std::size_t, left>{}, Rows - left);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
