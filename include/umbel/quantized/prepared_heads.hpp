// SPDX-License-Identifier: BSL-1.0
// Integer queries and keys between their projection and their scores (see
// attention/prepared_heads.hpp): if they are normalized or rotated, they are projected to 16 bits.
// The norm is that of a block (norm.hpp), for each head's row; the table of cosines and sines has
// 16 bits, made from the doubles of the float layer. Scores use 8 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/attention/rope.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/linear.hpp>
#include <umbel/kernel/plain/integers.hpp>
#include <umbel/quantized/norm.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// Rows projected to 16 bits at a time, to keep the scratch small.
inline constexpr std::size_t rows_in_16_bits = 16;

template <class Norm>
struct numbers_of_norm {
  using type = norm_numbers<Norm>;
};
template <>
struct numbers_of_norm<void> {
  struct type {};
};

// Norm: the type of the norm, or void. Rope: the option.
template <class Norm, class Rope>
struct prepared_heads {
  static constexpr bool normed = !std::is_void_v<Norm>;
  static constexpr bool turned = !std::is_same_v<Rope, no_rope>;
  using norm = typename numbers_of_norm<Norm>::type;
  struct no_rows {};
  template <std::size_t Rows, std::size_t Width>
  struct rows_of {
    static constexpr std::size_t together = Rows < rows_in_16_bits ? Rows : rows_in_16_bits;
    alignas(64) std::int16_t rows[together * Width];
  };
  template <std::size_t Rows, std::size_t Width>
  using scratch = std::conditional_t<normed || turned, rows_of<Rows, Width>, no_rows>;

  // Units: of the map's input, of its result before a norm, of the final result.
  struct units {
    double in, projected, out;
  };
  // Before rotation a feature may be 1.4 times the largest after; 16 bits hold 1.4 times that.
  static constexpr double before_turn(double out) noexcept {
    return turned ? out / (1 << kernel::unturned_digits) : out;
  }
  template <class Features, class Map, class W>
  static constexpr void pack_map(Map& map, const W& w, const units& u) noexcept {
    integers::pack_map<whole_features, Features>(map, w, u.in,
                                                 normed ? u.projected : before_turn(u.out));
  }
  template <class W>
  static constexpr void pack_norm(norm& of_rows, const W& w, double epsilon,
                                  const units& u) noexcept {
    of_rows.pack_norm(w, epsilon, u.projected, before_turn(u.out));
  }

  // Rows rows of Heads heads, the first at `position`. Width: of a head; Padded: in scratch.
  template <std::size_t Rows, std::size_t Positions, std::size_t Heads, std::size_t Width,
            std::size_t Padded, class Map, class Work>
  static constexpr void project(const Map& map, [[maybe_unused]] const norm& of_rows,
                                const std::int8_t* x, std::int8_t* y,
                                [[maybe_unused]] std::size_t position,
                                [[maybe_unused]] Work& work) noexcept {
    if constexpr (!normed && !turned) {
      kernel::integer_linear<kernel::integer_linear_shape{
          Rows, Map::in, Map::out, Map::in, Map::out}>(map, x, y, kernel::finish::as_int8{});
    } else {
      const auto prepare = [&]<std::size_t N>(std::integral_constant<std::size_t, N>,
                                              std::size_t first) {
        std::int8_t* const to = y + first * Map::out;
        kernel::integer_linear<kernel::integer_linear_shape{
            N, Map::in, Map::out, Map::in, Map::out}>(map, x + first * Map::in, work.rows,
                                                      kernel::finish::as_int16{});
        if constexpr (normed && turned)
          norm_heads<N * Heads, Width, Padded>(of_rows, work.rows, work.rows);
        else if constexpr (normed)
          norm_heads<N * Heads, Width, Padded>(of_rows, work.rows, to);
        if constexpr (turned)
          turn<N, Positions, Heads, Width, Padded>(work.rows, position + first, to);
      };
      constexpr std::size_t together = Rows < Work::together ? Rows : Work::together;
      constexpr std::size_t left = Rows % together;
      for (std::size_t first = 0; first + together <= Rows; first += together)
        prepare(std::integral_constant<std::size_t, together>{}, first);
      if constexpr (left != 0) prepare(std::integral_constant<std::size_t, left>{}, Rows - left);
    }
  }

 private:
  // Zeros that pad a word stay zeros.
  template <std::size_t Rows, std::size_t Width, std::size_t Padded, class Y>
  static constexpr void norm_heads(const norm& of_rows, const std::int16_t* x, Y* y) noexcept {
    if constexpr (Width == Padded) {
      of_rows.template rows<Rows>(x, y);
    } else {
      for (std::size_t r = 0; r < Rows; ++r) {
        of_rows.template rows<1>(x + r * Padded, y + r * Padded);
        for (std::size_t i = Width; i < Padded; ++i) y[r * Padded + i] = 0;
      }
    }
  }
  template <std::size_t Rows, std::size_t Positions, std::size_t Heads, std::size_t Width,
            std::size_t Padded>
  static constexpr void turn(const std::int16_t* x, std::size_t position, std::int8_t* y) noexcept {
    constexpr std::size_t pairs = (Rope::width ? Rope::width : Width) / 2;
    constexpr bool adjacent = std::is_same_v<typename Rope::pairs, adjacent_pairs>;
    const auto& table = rope_turns<std::int16_t, Positions, pairs, Rope::base>();
    const std::size_t at = position * pairs;
    kernel::plain::integer_rotate<kernel::integer_rotate_shape{
        Rows, Heads, Padded, pairs, adjacent ? 2 : 1, adjacent ? 1 : pairs}>(x, table.cosine + at,
                                                                             table.sine + at, y);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
