// SPDX-License-Identifier: BSL-1.0
// pack<T, Lanes>: a vector of T in the compilers' vector extension, and the few operations without
// operators: load, store, broadcast, larger, smaller, select, all_lanes. pack<T, 1> is T itself, so
// algorithms on packs are also scalar (and constexpr). See row_ends.hpp for the ends of rows,
// fma.hpp for fma, math.hpp for functions, and transpose.hpp for shuffles. No shapes, no owned
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/simd/mve.hpp>
#include <umbel/simd/vector_length.hpp>
#include <umbel/utility.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd {

template <class T, std::size_t Lanes>
struct pack_traits {
  static_assert(Lanes >= 2 && (Lanes & (Lanes - 1)) == 0, "umbel: lanes are a power of two");
  typedef T type __attribute__((vector_size(Lanes * sizeof(T))));
  // The same bytes at any address, for loads and stores.
  typedef T unaligned
      __attribute__((vector_size(Lanes * sizeof(T)), aligned(sizeof(T)), may_alias));
};

template <class T>
struct pack_traits<T, 1> {
  typedef T type;
  typedef T unaligned;
};

template <class T, std::size_t Lanes>
using pack = typename pack_traits<T, Lanes>::type;

namespace detail {

template <class V>
struct element {
  typedef V type;
};

template <class V>
  requires(!std::is_arithmetic_v<V>)
struct element<V> {
  typedef std::remove_cvref_t<decltype((*static_cast<V*>(nullptr))[0])> type;
};

template <std::size_t Bytes>
struct integer;
template <>
struct integer<4> {
  typedef std::int32_t type;
  typedef std::uint32_t unsigned_type;
};
template <>
struct integer<8> {
  typedef std::int64_t type;
  typedef std::uint64_t unsigned_type;
};

}  // namespace detail

// The scalar in a pack (or of a scalar), and the number of lanes.
template <class V>
using element_of = typename detail::element<V>::type;
template <class V>
inline constexpr std::size_t lanes_of = sizeof(V) / sizeof(element_of<V>);

// Integers of the same size, lane for lane, for work on bits.
template <class V>
using signed_of = pack<typename detail::integer<sizeof(element_of<V>)>::type, lanes_of<V>>;
template <class V>
using unsigned_of =
    pack<typename detail::integer<sizeof(element_of<V>)>::unsigned_type, lanes_of<V>>;

template <class V>
UMBEL_INLINE constexpr V broadcast(element_of<V> value) noexcept {
  if constexpr (lanes_of<V> == 1) {
    return value;
  } else {
    return value - V{};  // every lane: value - (+0) is value, even for zeros and NaN
  }
}

// value in every lane, as an operand of +, -, * and fma (fma.hpp): a pack, or the number itself if
// the machine's vectors read it from a general register.
template <class V>
UMBEL_INLINE constexpr auto spread(element_of<V> value) noexcept {
#if UMBEL_MVE_ASSEMBLY
  if constexpr (mve::is_pack<V>)
    return mve::spread<V>{value};
  else
#endif
    return broadcast<V>(value);
}

namespace detail {
// Does simd/mve.hpp implement V's operations?
template <class V>
inline constexpr bool by_mve =
#if UMBEL_MVE_ASSEMBLY
    mve::is_pack<V>;
#else
    false;
#endif

template <class V>
struct mask {
  typedef decltype(V{} < V{}) type;
};
#if UMBEL_MVE_ASSEMBLY
template <class V>
  requires(mve::is_pack<V>)
struct mask<V> {
  typedef mve::predicate type;
};
#endif
}  // namespace detail

// The result of a comparison, or its stored form: bool for scalars, lanes for packs. Masks support
// &, | and !. Packs are compared by these functions, not by operators, which g++ gets wrong for
// MVE.
template <class V>
using mask_of = typename detail::mask<V>::type;

// The last lane first.
template <class V, std::size_t... I>
UMBEL_INLINE V reversed(V value, std::index_sequence<I...>) noexcept {
  return __builtin_shufflevector(value, value, (sizeof...(I) - 1 - I)...);
}
template <class V>
UMBEL_INLINE V reversed(V value) noexcept {
  return simd::reversed(value, std::make_index_sequence<lanes_of<V>>{});
}

template <class V>
UMBEL_INLINE constexpr auto less(V a, V b) noexcept {
#if UMBEL_MVE_ASSEMBLY
  if constexpr (detail::by_mve<V>)
    return mve::greater(b, a);
  else
#endif
    return a < b;
}

template <class V>
UMBEL_INLINE constexpr auto less_equal(V a, V b) noexcept {
#if UMBEL_MVE_ASSEMBLY
  if constexpr (detail::by_mve<V>)
    return mve::greater_equal(b, a);
  else
#endif
    return a <= b;
}

template <class V>
UMBEL_INLINE constexpr auto equal(V a, V b) noexcept {
#if UMBEL_MVE_ASSEMBLY
  if constexpr (detail::by_mve<V>)
    return mve::equal(a, b);
  else
#endif
    return a == b;
}

template <class V>
UMBEL_INLINE constexpr auto not_equal(V a, V b) noexcept {
#if UMBEL_MVE_ASSEMBLY
  if constexpr (detail::by_mve<V>)
    return mve::not_equal(a, b);
  else
#endif
    return a != b;
}

template <class V>
UMBEL_INLINE constexpr mask_of<V> every_lane() noexcept {
#if UMBEL_MVE_ASSEMBLY
  if constexpr (detail::by_mve<V>)
    return mve::predicate{0xffff};
  else
#endif
    return V{} == V{};
}

// The same mask for packs of V with the same number of lanes.
template <class V, class M>
UMBEL_INLINE constexpr mask_of<V> mask_as(M mask) noexcept {
  if constexpr (lanes_of<V> == 1 || detail::by_mve<V>)
    return mask;
  else
    return __builtin_convertvector(mask, mask_of<V>);
}

// Set if either mask is. For scalars without a branch.
template <class M, class N>
UMBEL_INLINE constexpr auto either(M a, N b) noexcept {
  if constexpr (std::is_same_v<M, bool>)
    return static_cast<bool>(a | b);
  else
    return a | b;
}

namespace detail {
// Is V a scalar that compilers would select with a branch?
template <class V>
inline constexpr bool by_bits = false;
template <class V>
  requires(std::is_arithmetic_v<V> && sizeof(V) >= 4)
inline constexpr bool by_bits<V> = sizeof(V) <= UMBEL_CHOSEN_BY_BITS;
template <class V>
UMBEL_INLINE V chosen_by_bits(bool from_a, V a, V b) noexcept {
  using naturals = unsigned_of<V>;
  const naturals bits = __builtin_bit_cast(naturals, b);
  const naturals other = __builtin_bit_cast(naturals, a) ^ bits;
  naturals of_a = -static_cast<naturals>(from_a);
#if UMBEL_CLANG && (defined(__riscv_flen) || defined(__OPTIMIZE_SIZE__))
  UMBEL_AS_MASK(of_a);
#endif
  V value = __builtin_bit_cast(V, bits ^ (other & of_a));
  if constexpr (std::is_floating_point_v<V>) UMBEL_IN_FPU(value);
  return value;
}
}  // namespace detail

// Lanes of a if the mask is set, of b otherwise. Both are computed, without a branch.
template <class M, class V>
UMBEL_INLINE constexpr V select(M mask, V a, V b) noexcept {
#if UMBEL_MVE_ASSEMBLY
  if constexpr (detail::by_mve<V>)
    return mve::select(mask, a, b);
  else
#endif
      if constexpr (detail::by_bits<V>)
    return __builtin_is_constant_evaluated() ? (mask ? a : b) : detail::chosen_by_bits(mask, a, b);
  else
    return mask ? a : b;
}

// a > b ? a : b in every lane; b if either is NaN. The order of the arguments matters
// (kernel/plain/floats.hpp): a NaN score never becomes the running maximum.
template <class V>
UMBEL_INLINE constexpr V larger(V a, V b) noexcept {
  if constexpr (UMBEL_SSE2 && lanes_of<V> == 1)  // an instruction
    return b < a ? a : b;
  else
    return select(less(b, a), a, b);
}

// larger(value, maximum) for a maximum that isn't NaN. RISC-V has an instruction for it, which
// returns the positive one of two zeros.
template <class V>
UMBEL_INLINE constexpr V raised(V maximum, V value) noexcept {
#if defined(__riscv_flen)
  if constexpr (detail::by_bits<V> && std::is_floating_point_v<V>) {
    if (!__builtin_is_constant_evaluated()) {
      if constexpr (sizeof(V) == 4)
        __asm__("fmax.s %0, %1, %2" : "=f"(value) : "f"(value), "f"(maximum));
      else
        __asm__("fmax.d %0, %1, %2" : "=f"(value) : "f"(value), "f"(maximum));
      return value;
    }
  }
#endif
  return larger(value, maximum);
}

// a < b ? a : b in every lane; b if either is NaN.
template <class V>
UMBEL_INLINE constexpr V smaller(V a, V b) noexcept {
  if constexpr (UMBEL_SSE2 && lanes_of<V> == 1)
    return a < b ? a : b;
  else
    return select(less(a, b), a, b);
}

// Any address aligned for T.
template <class V>
UMBEL_INLINE constexpr V load(const element_of<V>* from) noexcept {
  if constexpr (lanes_of<V> == 1) {
    return *from;
  } else {
    typedef typename pack_traits<element_of<V>, lanes_of<V>>::unaligned unaligned;
    return *reinterpret_cast<const unaligned*>(from);
  }
}

template <class V>
UMBEL_INLINE constexpr void store(element_of<V>* to, V value) noexcept {
  if constexpr (lanes_of<V> == 1) {
    *to = value;
  } else {
    typedef typename pack_traits<element_of<V>, lanes_of<V>>::unaligned unaligned;
    *reinterpret_cast<unaligned*>(to) = value;
  }
}

// Prefetches `Elements` elements that are `ahead` elements after `from` into the first-level cache.
// They need not exist: the address is computed as a number.
template <std::size_t Elements, class T>
UMBEL_INLINE void fetch(const T* from, std::size_t ahead) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(from) + ahead * sizeof(T);
  UMBEL_UNROLL(16)
  for (std::size_t byte = 0; byte < Elements * sizeof(T); byte += 64)
    __builtin_prefetch(reinterpret_cast<const char*>(address + byte));
}

namespace detail {
#if UMBEL_AVX512
// A mask of 16 lanes for the builtins of arithmetic: signed in g++.
using mask_16 = std::conditional_t<UMBEL_GCC == 1, std::int16_t, std::uint16_t>;
#endif

template <class M, std::size_t... I>
UMBEL_INLINE auto both_halves(M mask, std::index_sequence<I...>) noexcept {
  return __builtin_shufflevector(mask, mask, I...) &
         __builtin_shufflevector(mask, mask, (I + sizeof...(I))...);
}
}  // namespace detail

// Is a mask of packs set in every lane? By halves: g++ would test lane after lane.
template <class M>
UMBEL_INLINE bool all_lanes(M mask) noexcept {
#if UMBEL_MVE_ASSEMBLY
  if constexpr (std::is_convertible_v<M, mve::predicate>) {
    return mve::all_lanes(mask);
  } else
#endif
      if constexpr (lanes_of<M> <= 2) {
    return (mask[0] & mask[lanes_of<M> - 1]) != 0;
  } else {
    return all_lanes(detail::both_halves(mask, std::make_index_sequence<lanes_of<M> / 2>{}));
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd
UMBEL_WARNINGS_POP
