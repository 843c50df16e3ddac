// SPDX-License-Identifier: BSL-1.0
// Helium, the vector extension of Cortex-M (MVE), for g++: packs of four 4-byte elements. g++ 12
// compiles their comparisons, selections, multiply-adds and shuffles to scalars, and keeps only one
// lane of four in a selection whose mask is used twice (test/embedded/mve_select.cpp). So each
// operation is an explicit instruction here; the plain forms are in the files that include this one
// (pack.hpp, fma.hpp, transpose.hpp). clang doesn't need this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/utility.hpp>

#if UMBEL_MVE_ASSEMBLY
UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd::mve {

// Is V a pack of the machine's?
template <class V>
inline constexpr bool is_pack = false;
template <class V>
  requires(!std::is_arithmetic_v<V> && sizeof(V) == 16)
inline constexpr bool is_pack<V> = sizeof(V{}[0]) == 4;

template <class V>
using element = std::remove_cvref_t<decltype(V{}[0])>;

// A mask: four equal bits per lane, in a general register.
struct predicate {
  std::uint16_t bits;
};

// The result of a comparison, in the register that a selection reads. g++ moves it to a general
// register and back if necessary, but not 16 bits that it has computed or loaded: those are a
// predicate.
struct compared {
  std::uint16_t bits;

  UMBEL_INLINE operator predicate() const noexcept {
    predicate mask;
    __asm__("" : "=r"(mask.bits) : "0"(bits));
    return mask;
  }
};

UMBEL_INLINE predicate operator&(predicate a, predicate b) noexcept {
  return {static_cast<std::uint16_t>(a.bits & b.bits)};
}
UMBEL_INLINE predicate operator|(predicate a, predicate b) noexcept {
  return {static_cast<std::uint16_t>(a.bits | b.bits)};
}
UMBEL_INLINE predicate operator!(predicate a) noexcept {
  return {static_cast<std::uint16_t>(~a.bits)};
}
UMBEL_INLINE bool all_lanes(predicate mask) noexcept { return mask.bits == 0xffff; }

// a > b. "Less" doesn't exist for floats here: "not greater or equal" also holds if either is NaN.
template <class V>
UMBEL_INLINE compared greater(V a, V b) noexcept {
  compared p;
  if constexpr (std::is_floating_point_v<element<V>>)
    __asm__("vcmp.f32 gt, %q1, %q2" : "=Up"(p.bits) : "w"(a), "w"(b));
  else if constexpr (std::is_signed_v<element<V>>)
    __asm__("vcmp.s32 gt, %q1, %q2" : "=Up"(p.bits) : "w"(a), "w"(b));
  else
    __asm__("vcmp.u32 hi, %q1, %q2" : "=Up"(p.bits) : "w"(a), "w"(b));
  return p;
}

template <class V>
UMBEL_INLINE compared greater_equal(V a, V b) noexcept {
  compared p;
  if constexpr (std::is_floating_point_v<element<V>>)
    __asm__("vcmp.f32 ge, %q1, %q2" : "=Up"(p.bits) : "w"(a), "w"(b));
  else if constexpr (std::is_signed_v<element<V>>)
    __asm__("vcmp.s32 ge, %q1, %q2" : "=Up"(p.bits) : "w"(a), "w"(b));
  else
    __asm__("vcmp.u32 cs, %q1, %q2" : "=Up"(p.bits) : "w"(a), "w"(b));
  return p;
}

template <class V>
UMBEL_INLINE compared equal(V a, V b) noexcept {
  compared p;
  if constexpr (std::is_floating_point_v<element<V>>)
    __asm__("vcmp.f32 eq, %q1, %q2" : "=Up"(p.bits) : "w"(a), "w"(b));
  else
    __asm__("vcmp.i32 eq, %q1, %q2" : "=Up"(p.bits) : "w"(a), "w"(b));
  return p;
}

template <class V>
UMBEL_INLINE compared not_equal(V a, V b) noexcept {
  compared p;
  if constexpr (std::is_floating_point_v<element<V>>)
    __asm__("vcmp.f32 ne, %q1, %q2" : "=Up"(p.bits) : "w"(a), "w"(b));
  else
    __asm__("vcmp.i32 ne, %q1, %q2" : "=Up"(p.bits) : "w"(a), "w"(b));
  return p;
}

template <class V>
UMBEL_INLINE V select(predicate mask, V a, V b) noexcept {
  V result;
  __asm__("vmsr p0, %3\n\tvpsel %q0, %q1, %q2"
          : "=w"(result)
          : "w"(a), "w"(b), "r"(mask.bits)
          : "p0");
  return result;
}
template <class V>
UMBEL_INLINE V select(compared mask, V a, V b) noexcept {
#if UMBEL_OPTIMIZED
  V result;
  __asm__("vpsel %q0, %q1, %q2" : "=w"(result) : "w"(a), "w"(b), "Up"(mask.bits));
  return result;
#else  // it would be in memory, which g++ can't move it from
  return select(predicate(mask), a, b);
#endif
}

// The first `count` lanes of a (all from 4 on), the others of b.
template <class V>
UMBEL_INLINE V select_first(std::size_t count, V a, V b) noexcept {
  V result;
  __asm__("vctp.32 %3\n\tvpsel %q0, %q1, %q2" : "=w"(result) : "w"(a), "w"(b), "r"(count) : "p0");
  return result;
}

// Memory past the first `count` elements is neither read nor written.
template <class V>
UMBEL_INLINE V load_first(const element<V>* from, std::size_t count) noexcept {
  V result;
  __asm__("vctp.32 %2\n\tvpst\n\tvldrwt.u32 %q0, [%1]"
          : "=w"(result)
          : "r"(from), "r"(count), "m"(*reinterpret_cast<const element<V>(*)[]>(from))
          : "p0");
  return result;
}
template <class V>
UMBEL_INLINE void store_first(element<V>* to, V value, std::size_t count) noexcept {
  __asm__("vctp.32 %3\n\tvpst\n\tvstrwt.32 %q1, [%2]"
          : "+m"(*reinterpret_cast<element<V>(*)[4]>(to))
          : "w"(value), "r"(to), "r"(count)
          : "p0");
}

// Signed bytes as floats. The load needs an address in the first eight registers.
template <class V>
UMBEL_INLINE V load_int8(const std::int8_t* from) noexcept {
  V result;
  __asm__("vldrb.s32 %q0, [%1]\n\tvcvt.f32.s32 %q0, %q0"
          : "=w"(result)
          : "l"(from), "m"(*reinterpret_cast<const std::int8_t(*)[4]>(from)));
  return result;
}
template <class V>
UMBEL_INLINE V load_first_int8(const std::int8_t* from, std::size_t count) noexcept {
  V result;
  __asm__("vctp.32 %2\n\tvpst\n\tvldrbt.s32 %q0, [%1]\n\tvcvt.f32.s32 %q0, %q0"
          : "=w"(result)
          : "l"(from), "r"(count), "m"(*reinterpret_cast<const std::int8_t(*)[]>(from))
          : "p0");
  return result;
}

// A number for every lane, as an operand in a general register.
template <class V>
struct spread {
  element<V> value;

  UMBEL_INLINE friend V operator+(V a, spread b) noexcept {
    V result;
    __asm__("vadd.f32 %q0, %q1, %2" : "=w"(result) : "w"(a), "r"(b.value));
    return result;
  }
  UMBEL_INLINE friend V operator-(V a, spread b) noexcept {
    V result;
    __asm__("vsub.f32 %q0, %q1, %2" : "=w"(result) : "w"(a), "r"(b.value));
    return result;
  }
  UMBEL_INLINE friend V operator*(V a, spread b) noexcept {
    V result;
    __asm__("vmul.f32 %q0, %q1, %2" : "=w"(result) : "w"(a), "r"(b.value));
    return result;
  }
};

template <class V>
UMBEL_INLINE V fma_of_packs(V a, V b, V c) noexcept {
  __asm__("vfma.f32 %q0, %q1, %q2" : "+w"(c) : "w"(a), "w"(b));
  return c;
}
template <class V>
UMBEL_INLINE V fma(spread<V> a, V b, V c) noexcept {
  __asm__("vfma.f32 %q0, %q1, %2" : "+w"(c) : "w"(b), "r"(a.value));
  return c;
}
template <class V>
UMBEL_INLINE V fma(V a, V b, spread<V> c) noexcept {
  __asm__("vfmas.f32 %q0, %q1, %2" : "+w"(a) : "w"(b), "r"(c.value));
  return a;
}

// See simd::fma_not_negative. "Less or equal" is "not greater", true if a is NaN.
template <class V>
UMBEL_INLINE V fma_not_negative(V a, V b, V c) noexcept {
  __asm__("vcmp.f32 le, %q3, %q1\n\tvpst\n\tvfmat.f32 %q0, %q1, %q2"
          : "+w"(c)
          : "w"(a), "w"(b), "w"(V{})
          : "p0");
  return c;
}
template <class V>
UMBEL_INLINE V fma_not_negative(V a, spread<V> b, V c) noexcept {
  __asm__("vcmp.f32 le, %q3, %q1\n\tvpst\n\tvfmat.f32 %q0, %q1, %2"
          : "+w"(c)
          : "w"(a), "r"(b.value), "w"(V{})
          : "p0");
  return c;
}

// ---- sums of products ---------------------------------------------------------------------------

// The loop of simd::add_products; S: its strides. Its loads are explicit: g++ would load each
// number separately, with an address for each operand, for which there are no registers.
template <auto S, std::size_t Rows, std::size_t Vectors, class V>
struct products {
  using T = element<V>;

  // Two adjacent numbers are one load: from two steps, or from two rows.
  static constexpr std::size_t together = S.a_step == 1 ? 2 : 1;
  static constexpr bool rows_in_pairs = S.a_row == 1 && together == 1;
  // Elements that an instruction's offset reaches, which is also its largest pointer step. Rows, or
  // steps in a group, have separate pointers if one doesn't reach them.
  static constexpr std::size_t reach_of_ldrd = 255, reach_of_ldr = 63, reach_of_vldrw = 127;
  static constexpr bool one_a = (Rows - 1) * S.a_row + together <= reach_of_ldrd;
  static constexpr bool one_b = (together - 1) * S.b_step + (Vectors - 1) * 4 <= reach_of_vldrw;
  static constexpr std::size_t a_move = together * S.a_step, b_move = together * S.b_step;

  // They point one move before the next step.
  const T* a[one_a ? 1 : Rows];
  const T* b[one_b ? 1 : together];

  UMBEL_INLINE static const T* back(const T* from, std::size_t elements) noexcept {
    return reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(from) -
                                      elements * sizeof(T));
  }
  UMBEL_INLINE products(const T* of_a, const T* of_b) noexcept {
    UMBEL_UNROLL(8)
    for (std::size_t r = 0; r < (one_a ? 1 : Rows); ++r) a[r] = back(of_a + r * S.a_row, a_move);
    UMBEL_UNROLL(2)
    for (std::size_t d = 0; d < (one_b ? 1 : together); ++d)
      b[d] = back(of_b + d * S.b_step, b_move);
  }

  // Loads from[At], and with `other` from[At + 1]; `from` advances first.
  template <std::size_t Move, std::size_t At>
  UMBEL_INLINE static void load(const T*& from, T& one) noexcept {
    if constexpr (Move > reach_of_ldr) {
      from += Move;
      load<0, At>(from, one);
    } else if constexpr (Move != 0) {
      static_assert(At == 0);
      __asm__("ldr %0, [%1, %2]!"
              : "=r"(one), "+r"(from)
              : "i"(Move * 4), "m"(*reinterpret_cast<const T(*)[]>(from)));
    } else {
      __asm__("ldr %0, [%1, %2]"
              : "=r"(one)
              : "r"(from), "i"(At * 4), "m"(*reinterpret_cast<const T(*)[]>(from)));
    }
  }
  template <std::size_t Move, std::size_t At>
  UMBEL_INLINE static void load(const T*& from, T& one, T& other) noexcept {
    if constexpr (Move > reach_of_ldrd) {
      from += Move;
      load<0, At>(from, one, other);
    } else if constexpr (Move != 0) {
      static_assert(At == 0);
      __asm__("ldrd %0, %1, [%2, %3]!"
              : "=r"(one), "=r"(other), "+r"(from)
              : "i"(Move * 4), "m"(*reinterpret_cast<const T(*)[]>(from)));
    } else {
      __asm__("ldrd %0, %1, [%2, %3]"
              : "=r"(one), "=r"(other)
              : "r"(from), "i"(At * 4), "m"(*reinterpret_cast<const T(*)[]>(from)));
    }
  }
  template <std::size_t Move, std::size_t At>
  UMBEL_INLINE static V load_pack(const T*& from) noexcept {
    V pack;
    if constexpr (Move > reach_of_vldrw) {
      from += Move;
      return load_pack<0, At>(from);
    } else if constexpr (Move != 0) {
      static_assert(At == 0);
      __asm__("vldrw.u32 %q0, [%1, %2]!"
              : "=w"(pack), "+r"(from)
              : "i"(Move * 4), "m"(*reinterpret_cast<const T(*)[]>(from)));
    } else {
      __asm__("vldrw.u32 %q0, [%1, %2]"
              : "=w"(pack)
              : "r"(from), "i"(At * 4), "m"(*reinterpret_cast<const T(*)[]>(from)));
    }
    return pack;
  }

  template <std::size_t Depth, std::size_t R>
  UMBEL_INLINE void load_row(T (&numbers)[Rows][2]) noexcept {
    constexpr std::size_t at = one_a ? R * S.a_row : 0, move = one_a && R != 0 ? 0 : a_move;
    const T*& from = a[one_a ? 0 : R];
    if constexpr (Depth == 2) {
      load<move, at>(from, numbers[R][0], numbers[R][1]);
    } else if constexpr (!rows_in_pairs) {
      load<move, at>(from, numbers[R][0]);
    } else if constexpr (R % 2 == 0) {
      if constexpr (R + 1 < Rows)
        load<move, at>(from, numbers[R][0], numbers[R + 1][0]);
      else
        load<move, at>(from, numbers[R][0]);
    }
  }
  template <std::size_t D, std::size_t I>
  UMBEL_INLINE void add_pack(const T (&numbers)[Rows][2], V (&sum)[Rows][Vectors]) noexcept {
    constexpr std::size_t at = (one_b ? D * S.b_step : 0) + I * 4;
    constexpr std::size_t move = I == 0 && (D == 0 || !one_b) ? b_move : 0;
    const V pack = load_pack<move, at>(b[one_b ? 0 : D]);
    UMBEL_UNROLL(8)
    for (std::size_t r = 0; r < Rows; ++r)
      sum[r][I] = fma(spread<V>{numbers[r][D]}, pack, sum[r][I]);
  }
  template <std::size_t Depth, std::size_t... R, std::size_t... I>
  UMBEL_INLINE void step(V (&sum)[Rows][Vectors], std::index_sequence<R...>,
                         std::index_sequence<I...>) noexcept {
    T numbers[Rows][2];
    (load_row<Depth, R>(numbers), ...);
    (add_pack<0, I>(numbers, sum), ...);
    if constexpr (Depth == 2) (add_pack<1, I>(numbers, sum), ...);
  }

  UMBEL_INLINE void run(std::size_t depth, V (&sum)[Rows][Vectors]) noexcept {
    constexpr auto rows = std::make_index_sequence<Rows>{};
    constexpr auto vectors = std::make_index_sequence<Vectors>{};
    for (std::size_t left = depth / together; left != 0; --left) step<together>(sum, rows, vectors);
    if (depth % together != 0) step<1>(sum, rows, vectors);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::simd::mve
UMBEL_WARNINGS_POP
#endif
