// SPDX-License-Identifier: BSL-1.0
// Rotary positions (Su et al. 2021, "RoFormer"): pairs of features of each query and key are
// rotated by an angle proportional to the position, so that scores depend on distances. The pairs
// differ between models, even between files of one model, so there is no default:
//
//   rope<split_halves>     feature i with feature i + width / 2: GPT-NeoX; LLaMA in the files of
//                          Hugging Face
//   rope<adjacent_pairs>   feature 2 i with feature 2 i + 1: RoFormer, GPT-J; LLaMA in the files of
//                          Meta and llama2.c
//
// The file decides: Hugging Face reorders the rows of LLaMA's query and key weights when it
// converts them, so each pairing is right with its own weights and wrong with the others.
//
// Position p rotates pair i by p base^(-2 i / width). The table of cosines and sines is computed in
// double. Up to 131,072 pairs (2048 positions of 128 features) it is a constant. Larger tables,
// such as LLaMA's 4096 positions, exceed what compilers evaluate: they are computed before main,
// with the same bits, into 8 bytes per pair. So the constructor of a global object must not call a
// layer with such a table: if the table isn't ready, the call stops the program. On targets that
// run no constructors (UMBEL_CONSTRUCTORS_RUN) it does not compile.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/integer_shapes.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/tensor/check.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// Which features make a pair: feature i with feature i + width / 2.
struct split_halves {};
// Which features make a pair: feature 2 i with feature 2 i + 1.
struct adjacent_pairs {};

// Option: rotary positions, rope<split_halves>. Pairs: split_halves or adjacent_pairs. Width: how
// many features of each head are rotated, from the first on; 0 means all. Positions count from 0.
template <class Pairs = detail::nothing, std::size_t Base = 10000, std::size_t Width = 0>
struct rope {
  using kind = detail::option::rope;
  using pairs = Pairs;
  static constexpr std::size_t base = Base, width = Width;
};
namespace detail {
struct no_rope {
  using kind = option::rope;
  static constexpr std::size_t width = 0;
};

namespace say {
struct rope;
struct rope_of;
}  // namespace say

UMBEL_SAYS(is_neither_split_halves_nor_adjacent_pairs,
           "is neither split_halves nor adjacent_pairs:");
UMBEL_SAYS(rope_needs_its_pairing, "rope needs its pairing, split_halves or adjacent_pairs:");
UMBEL_SAYS(files_of_Hugging_Face_have_split_halves_those_of_Meta_and_llama2_c_adjacent_pairs,
           "GPT-NeoX and files of Hugging Face have split_halves; GPT-J, files of Meta and of "
           "llama2.c have adjacent_pairs");

UMBEL_SAYS(pairs_are_computed_by_a_constructor_but_none_runs_here_and_constants_have_at_most,
           "pairs are computed by a constructor, but none runs here, and constants have at most");

namespace rules {
template <class Layer, class Rope, class HeadDim>
struct rope_rule {
  using type = accepted;
};
template <class Layer, class Pairs, std::size_t Base, std::size_t Width, class HeadDim>
struct rope_rule<Layer, rope<Pairs, Base, Width>, HeadDim> {
  static constexpr std::size_t width = Width ? Width : HeadDim::size;
  using whose_is_which =
      say::files_of_Hugging_Face_have_split_halves_those_of_Meta_and_llama2_c_adjacent_pairs;
  using type = first_error<
      verdict<!std::is_same_v<Pairs, detail::nothing>, Layer, say::rope_needs_its_pairing,
              whose_is_which>,
      verdict<std::is_same_v<Pairs, split_halves> || std::is_same_v<Pairs, adjacent_pairs>, Layer,
              say::rope_of, element<Pairs>, say::is_neither_split_halves_nor_adjacent_pairs,
              whose_is_which>,
      verdict<width % 2 == 0, Layer,
              std::conditional_t<Width == 0, struct rope_rotates_pairs_but,
                                 struct rope_rotates_pairs_but_its_width>,
              std::conditional_t<Width == 0, HeadDim, number<width>>, struct is_odd>,
      verdict<width <= HeadDim::size, Layer, struct rope_rotates, number<width>,
              struct features_but_a_head_has_only, HeadDim>,
      verdict<Base != 0, Layer, struct rope_needs_a_base_above_0>>;
};
template <class Layer, class Rope, class HeadDim>
using rope_fits = typename rope_rule<Layer, Rope, HeadDim>::type;
}  // namespace rules

// The natural logarithm of an integer: halvings of ln 2, then the atanh series, with |t| <= 0.2.
constexpr double log_of(std::size_t x) noexcept {
  constexpr double ln_2 = 0.69314718055994530942;
  double mantissa = static_cast<double>(x), halvings = 0;
  for (; mantissa > 1.5; mantissa /= 2) ++halvings;
  const double t = (mantissa - 1) / (mantissa + 1);
  double power = t, sum = 0;
  for (int k = 1; k < 60; k += 2, power *= t * t) sum += power / k;
  return halvings * ln_2 + 2 * sum;
}

struct rotation {
  double cosine, sine;
};

// Angles of at most about 1, by the power series.
constexpr rotation rotation_by(double angle) noexcept {
  rotation out{1, angle};
  double cosine = 1, sine = angle;
  for (int k = 1; k < 12; ++k) {
    cosine *= -angle * angle / ((2 * k - 1) * (2 * k));
    sine *= -angle * angle / ((2 * k) * (2 * k + 1));
    out.cosine += cosine;
    out.sine += sine;
  }
  return out;
}

// The angles of every pair, position after position from 0 on: pair i at position p has p Base^(-2
// i / span). By the addition theorem, in double: within 1e-15 times the position. (Tables are
// written in memory order: otherwise g++ needs quadratic time.)
template <std::size_t Pairs, std::size_t Base>
struct rotations {
  rotation step[Pairs], now[Pairs];

  constexpr explicit rotations(std::size_t span) noexcept : step{}, now{} {
    for (std::size_t i = 0; i < Pairs; ++i) {
      const double exponent = -static_cast<double>(2 * i) / static_cast<double>(span);
      step[i] = rotation_by(simd::exp(exponent * log_of(Base)));
      now[i] = {1, 0};
    }
  }
  constexpr void advance() noexcept {
    if (!__builtin_is_constant_evaluated()) return advance_at_run_time();
    for (std::size_t i = 0; i < Pairs; ++i) {
      const double c = now[i].cosine, s = now[i].sine;
      now[i].cosine = c * step[i].cosine - s * step[i].sine;
      now[i].sine = s * step[i].cosine + c * step[i].sine;
    }
  }

 private:
  // The same bits as in the compiler: each product is rounded, which -ffp-contract could prevent.
  void advance_at_run_time() noexcept {
    for (std::size_t i = 0; i < Pairs; ++i) {
      const auto product = [](double a, double b) { return simd::fma(a, b, double{0}); };
      const double c = now[i].cosine, s = now[i].sine;
      now[i].cosine = product(c, step[i].cosine) - product(s, step[i].sine);
      now[i].sine = product(s, step[i].cosine) + product(c, step[i].sine);
    }
  }
};

// The most pairs of constant tables. g++ can evaluate 200,000, clang 160,000; half for integers.
template <class T>
inline constexpr std::size_t most_constant_turns =
    std::size_t{1} << (std::is_integral_v<T> ? 16 : 17);
// Selects a table that is computed at run time, before main.
struct at_start {};

namespace rules {
template <std::size_t Turns, std::size_t Most>
using turns_are_there =
    verdict<UMBEL_CONSTRUCTORS_RUN || Turns <= Most, say::rope, number<Turns>,
            say::pairs_are_computed_by_a_constructor_but_none_runs_here_and_constants_have_at_most,
            number<Most>>;
}  // namespace rules

// An entry of a table; for integers, with kernel::turn_digits. (Clang counts its steps.)
template <class T>
constexpr T turn_of(double v) noexcept {
  return static_cast<T>(v);
}
template <class T>
  requires std::is_integral_v<T>
constexpr T turn_of(double v) noexcept {
  return static_cast<T>(v * (1 << kernel::turn_digits) + (v < 0 ? -0.5 : 0.5));
}

// Cosine and sine of every position and pair, (position, pair).
template <class T, std::size_t Positions, std::size_t Pairs, std::size_t Base>
struct rope_table {
  T cosine[Positions * Pairs]{};
  T sine[Positions * Pairs]{};

  constexpr rope_table() noexcept { fill(rotations<Pairs, Base>(2 * Pairs)); }
  explicit rope_table(at_start) noexcept {
    static constexpr rotations<Pairs, Base> first(2 * Pairs);
    fill(first);
  }

 private:
  constexpr void fill(rotations<Pairs, Base> turned) noexcept {
    for (std::size_t p = 0; p < Positions; ++p, turned.advance()) {
      for (std::size_t i = 0; i < Pairs; ++i) {
        cosine[p * Pairs + i] = turn_of<T>(turned.now[i].cosine);
        sine[p * Pairs + i] = turn_of<T>(turned.now[i].sine);
      }
    }
  }
};
template <class T, std::size_t Positions, std::size_t Pairs, std::size_t Base>
inline constexpr rope_table<T, Positions, Pairs, Base> constant_rope_turns{};
template <class T, std::size_t Positions, std::size_t Pairs, std::size_t Base>
inline const rope_table<T, Positions, Pairs, Base> rope_turns_at_start{at_start{}};

template <class T, std::size_t Positions, std::size_t Pairs, std::size_t Base>
UMBEL_INLINE constexpr const rope_table<T, Positions, Pairs, Base>& rope_turns() noexcept {
  if constexpr (Positions * Pairs <= most_constant_turns<T>) {
    return constant_rope_turns<T, Positions, Pairs, Base>;
  } else {
    static_assert(report<rules::turns_are_there<Positions * Pairs, most_constant_turns<T>>>::ok,
                  "umbel: shapes do not fit");
    const auto& table = rope_turns_at_start<T, Positions, Pairs, Base>;
    if (table.cosine[0] == 0)  // it is 1 once the constructor has run
      stop<(UMBEL_CHECK != 0)>("umbel: rope: a call before its turns are computed");
    return table;
  }
}

template <class T>
UMBEL_INLINE constexpr void rotate_pair(T& first, T& second, T cosine, T sine) noexcept {
  const T a = first, b = second;
  first = simd::fma(a, cosine, -(b * sine));
  second = simd::fma(b, cosine, a * sine);
}

// turn(x, position): rotates rows of Heads heads of Width features in place, one row per position
// from `position` on. Positions: in total. Back: by the opposite angle, for gradients.
template <class Option>
struct rotary {
  template <class T, std::size_t Positions, std::size_t Width>
  static constexpr std::size_t table_bytes = 0;
  template <std::size_t Rows, std::size_t Heads, std::size_t Width, std::size_t Row,
            std::size_t Positions = Rows, bool Back = false, class T>
  static constexpr void turn(T*, std::size_t = 0) noexcept {}
};
template <class Pairing, std::size_t Base, std::size_t Turned>
struct rotary<rope<Pairing, Base, Turned>> {
  template <std::size_t Width>
  static constexpr std::size_t pairs_of = (Turned ? Turned : Width) / 2;
  template <class T, std::size_t Positions, std::size_t Width>
  static constexpr std::size_t table_bytes =
      sizeof(rope_table<T, Positions, pairs_of<Width>, Base>);
  template <std::size_t Rows, std::size_t Heads, std::size_t Width, std::size_t Row,
            std::size_t Positions = Rows, bool Back = false, class T>
  static constexpr void turn(T* x, std::size_t position = 0) noexcept {
    constexpr std::size_t pairs = pairs_of<Width>;
    constexpr bool adjacent = std::is_same_v<Pairing, adjacent_pairs>;
    constexpr std::size_t step = adjacent ? 2 : 1, apart = adjacent ? 1 : pairs;
    const auto& table = rope_turns<T, Positions, pairs, Base>();
    for (std::size_t p = 0; p < Rows; ++p)
      for (std::size_t h = 0; h < Heads; ++h)
        for (std::size_t i = 0; i < pairs; ++i) {
          T* const pair = x + p * Row + h * Width + i * step;
          const std::size_t at = (position + p) * pairs + i;
          const T sine = table.sine[at];
          rotate_pair(pair[0], pair[apart], table.cosine[at], Back ? -sine : sine);
        }
  }
};

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
