// SPDX-License-Identifier: BSL-1.0
// The result of load (load.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/tensor/print.hpp>

#include <cstddef>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(has_no_value_so_use_the_weights_given_to_load,
           "has no value; use the weights that load has filled");
UMBEL_SAYS(so_return_a_load_result_or_print_its_error,
           "; return a load_result, or print its error()");
}  // namespace detail

// Was everything loaded? If not, one line per missing or unused tensor; weights are unchanged.
class [[nodiscard]] load_result {
 public:
  constexpr explicit operator bool() const noexcept { return problems_ == 0; }
  [[nodiscard]] constexpr std::size_t problems() const noexcept { return problems_; }
  // Lines ended by line feeds, valid as long as this object; empty without problems. After 4,000
  // characters: how many more there are.
  [[nodiscard]] constexpr const char* error() const noexcept { return chars_; }

  // *result: refused, its weights are the argument of load.
  template <class X = load_result>
  constexpr detail::invalid operator*() const noexcept {
    using verdict = detail::verdict<detail::never<X>, load_result,
                                    detail::say::has_no_value_so_use_the_weights_given_to_load>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return {};
  }
  // As a number or the result of a file: refused.
  template <class X>
    requires(std::is_arithmetic_v<X> || requires(const X& x) { x.failure(); })
  constexpr operator X() const noexcept {
    return detail::no_conversion<load_result,
                                 detail::say::so_return_a_load_result_or_print_its_error, X>();
  }

  // For load: begins a line.
  constexpr void begin() noexcept {
    ++problems_;
    if (size_ > full) {
      ++hidden_;
      return;
    }
    put("umbel: load: ");
  }
  constexpr void put(char c) noexcept {
    if (hidden_ == 0 && size_ + 1 < sizeof(chars_)) chars_[size_++] = c;
  }
  constexpr void put(const char* text) noexcept {
    while (*text != '\0') put(*text++);
  }
  constexpr void put(std::size_t value) noexcept {
    char digits[20]{};
    std::size_t count = 0;
    do digits[count++] = static_cast<char>('0' + value % 10);
    while (value /= 10);
    while (count != 0) put(digits[--count]);
  }
  constexpr void finish() noexcept {
    if (hidden_ == 0) return;
    const std::size_t more = hidden_;
    hidden_ = 0;
    put("umbel: load: and ");
    put(more);
    put(" more\n");
  }

 private:
  static constexpr std::size_t full = 4000;
  char chars_[full + 600]{};
  std::size_t size_ = 0, problems_ = 0, hidden_ = 0;
};

namespace detail {
template <>
struct print_of<load_result> {
  using instead = say::has_no_text_so_print_its_error;
};
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
