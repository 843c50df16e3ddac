// SPDX-License-Identifier: BSL-1.0
// Instructions of Arm's SVE that clang does not find by itself: the first lanes of a pack, and
// shuffles, which it would do lane by lane. Uses builtins, as <arm_sve.h> is long.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/utility.hpp>

#if UMBEL_SVE
UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::simd::sve {

// Does V fill a register, with float or double?
template <class V>
inline constexpr bool of_floats =
    sizeof(V) == UMBEL_VECTOR_BYTES &&
    (std::is_same_v<element_of<V>, float> || std::is_same_v<element_of<V>, double>);

template <class V>
UMBEL_INLINE V load_first(const element_of<V>* from, std::size_t count) noexcept {
  if constexpr (sizeof(element_of<V>) == 4)
    return __builtin_sve_svld1_f32(__builtin_sve_svwhilelt_b32_u64(0, count), from);
  else
    return __builtin_sve_svld1_f64(__builtin_sve_svwhilelt_b64_u64(0, count), from);
}
template <class V>
UMBEL_INLINE void store_first(element_of<V>* to, V value, std::size_t count) noexcept {
  if constexpr (sizeof(element_of<V>) == 4)
    __builtin_sve_svst1_f32(__builtin_sve_svwhilelt_b32_u64(0, count), to, value);
  else
    __builtin_sve_svst1_f64(__builtin_sve_svwhilelt_b64_u64(0, count), to, value);
}
template <class V>
UMBEL_INLINE V select_first(std::size_t count, V value, V other) noexcept {
  if constexpr (sizeof(element_of<V>) == 4)
    return __builtin_sve_svsel_f32(__builtin_sve_svwhilelt_b32_u64(0, count), value, other);
  else
    return __builtin_sve_svsel_f64(__builtin_sve_svwhilelt_b64_u64(0, count), value, other);
}

// The bytes of pack Of that are bytes Byte of lanes I of a and b; 255: none.
template <std::size_t Size, std::size_t Of, std::size_t... I, std::size_t... Byte>
constexpr auto places(std::index_sequence<I...>, std::index_sequence<Byte...>) noexcept {
  constexpr std::size_t from[] = {I...}, lanes = sizeof...(I);
  return pack<unsigned char, lanes * Size>{
      (from[Byte / Size] / lanes == Of
           ? static_cast<unsigned char>(from[Byte / Size] % lanes * Size + Byte % Size)
           : static_cast<unsigned char>(255))...};
}

// Are these the even or the odd lanes of a, each followed by that of b? clang knows the
// instruction.
template <std::size_t... I>
inline constexpr bool of_pairs = [] {
  constexpr std::size_t from[] = {I...}, lanes = sizeof...(I);
  for (std::size_t i = 0; i < lanes; ++i)
    if (from[i] != i / 2 * 2 + from[0] + i % 2 * lanes) return false;
  return true;
}();

// __builtin_shufflevector(a, b, I...): at most three instructions, and two constants.
template <std::size_t... I, class V>
UMBEL_INLINE V shuffled(V a, V b) noexcept {
  if constexpr (sizeof(V) == UMBEL_VECTOR_BYTES && !of_pairs<I...>) {
    constexpr std::size_t size = sizeof(element_of<V>);
    constexpr std::index_sequence<I...> lanes;
    constexpr std::make_index_sequence<sizeof(V)> all;
    using bytes = pack<signed char, sizeof(V)>;
    const bytes of_a =
        __builtin_sve_svtbl_s8(reinterpret_cast<bytes>(a), places<size, 0>(lanes, all));
    if constexpr (((I < sizeof...(I)) && ...)) {
      return reinterpret_cast<V>(of_a);
    } else {
      const bytes of_b =
          __builtin_sve_svtbl_s8(reinterpret_cast<bytes>(b), places<size, 1>(lanes, all));
      return reinterpret_cast<V>(of_a | of_b);
    }
  } else {
    return __builtin_shufflevector(a, b, I...);
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::simd::sve
UMBEL_WARNINGS_POP
#define UMBEL_SHUFFLED(a, b, ...) sve::shuffled<__VA_ARGS__>(a, b)
#else
#define UMBEL_SHUFFLED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#endif
