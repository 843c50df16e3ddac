// SPDX-License-Identifier: BSL-1.0
// The checksum of weight arrays, which the compiler compares in a header written by tools/export
// (docs/export.md): 64-bit FNV-1a (Fowler, Noll, Vo) of the bytes of their elements, little-endian,
// array after array. It detects damage but is not a signature.
#pragma once

// clang-format off: all that this needs, in order; bare.hpp explains (test/layering.py --lists).
#include <umbel/config.hpp>
#include <umbel/file/fnv1a.hpp>
#include <umbel/shape/axis.hpp>
#include <umbel/shape/invalid.hpp>
#include <umbel/shape/verdict.hpp>
#include <umbel/shape/words.hpp>
// clang-format on

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/file/fnv1a.hpp>
#include <umbel/shape/words.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(weights_checksum, "weights_checksum");
UMBEL_SAYS(adds_an_array_of_float_or_int32_or_bytes_and_their_number_not,
           "adds a float or std::int32_t array, or bytes and their number, not");
UMBEL_SAYS(is_not_the_sum_so_compare_its_value, "is not the sum; compare its value()");
template <class T>
inline constexpr bool is_summed = std::is_same_v<T, float> || std::is_same_v<T, std::int32_t>;
template <class X, class... Given>
inline constexpr bool is_added =
    std::is_convertible_v<const X&, const unsigned char*> && sizeof...(Given) == 1;
template <class T, std::size_t Count, class... Given>
inline constexpr bool is_added<T[Count], Given...> =
    (is_summed<T> && sizeof...(Given) <= 2) ||
    (std::is_same_v<T, unsigned char> && sizeof...(Given) == 1);
}  // namespace detail

// Adds bytes, and arrays of float or std::int32_t, in sequence.
class weights_checksum {
 public:
  constexpr weights_checksum() noexcept = default;
  // Continues from this sum.
  constexpr explicit weights_checksum(std::uint64_t before) noexcept : sum_(before) {}

  constexpr void add(const unsigned char* bytes, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) sum_.add(bytes[i]);
  }
  // The elements [from, to).
  template <class T, std::size_t Count>
    requires(std::is_same_v<T, float> || std::is_same_v<T, std::int32_t>)
  constexpr void add(const T (&array)[Count], std::size_t from = 0,
                     std::size_t to = Count) noexcept {
    for (std::size_t i = from; i < to; ++i)
      sum_.add_word(__builtin_bit_cast(std::uint32_t, array[i]));
  }
  // Anything else: refused.
  template <class X, class... Given>
    requires(!detail::is_added<X, Given...>)
  constexpr void add(const X&, const Given&...) noexcept {
    using namespace detail;
    using verdict = verdict<one_is_invalid<X>, say::weights_checksum,
                            say::adds_an_array_of_float_or_int32_or_bytes_and_their_number_not,
                            type_of_given<X>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  }
  // sum == 42: refused.
  template <class X>
    requires std::is_arithmetic_v<X>
  friend constexpr bool operator==(const weights_checksum&, X) noexcept {
    using namespace detail;
    using verdict =
        verdict<never<X>, say::weights_checksum, say::is_not_the_sum_so_compare_its_value>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    return false;
  }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return sum_.value(); }

 private:
  detail::fnv1a sum_;
};

namespace detail {
struct any_array {
  template <class Array>
  constexpr void operator()(const Array&) const noexcept {}
};
template <class Each>
concept gives_arrays = requires(const Each& each) { each(any_array{}); };
}  // namespace detail

// For the arrays of an exported header, to compare with its `checksum`:
//   checksum_of(model::for_each_array) == model::checksum
template <detail::gives_arrays Each>
[[nodiscard]] constexpr std::uint64_t checksum_of(const Each& each) noexcept {
  weights_checksum sum;
  each([&](const auto& array) { sum.add(array); });
  return sum.value();
}
// For the elements [from, to) of one array, continuing from the sum `before`. In parts, since
// compilers evaluate at most some hundred thousand steps at once.
template <class T, std::size_t Count>
  requires requires(weights_checksum& sum, const T (&array)[Count]) { sum.add(array); }
[[nodiscard]] constexpr std::uint64_t checksum_of(const T (&array)[Count],
                                                  std::uint64_t before = weights_checksum{}.value(),
                                                  std::size_t from = 0,
                                                  std::size_t to = Count) noexcept {
  weights_checksum sum(before);
  sum.add(array, from, to);
  return sum.value();
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
