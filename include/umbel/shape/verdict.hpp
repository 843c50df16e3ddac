// SPDX-License-Identifier: BSL-1.0
// How a check reports. A check is a type: `accepted`, or `shape_error<...>`, which carries one
// English message. An operation asserts its verdict through `report` and on failure returns
// `invalid`, so that one bug is one error. The public concepts ask the same verdict (rules.hpp).
//
// A message is a list of words: names from `say` (split -> "split", leaves_a_remainder_of ->
// "leaves a remainder of"), axes (hidden<100> -> "hidden=100"), shapes and numbers. A word of one
// message only is declared in place, `struct is_named_twice`. g++ prints strings inside types, so
// there the words are composed into one; clang prints types, so there the list itself is the
// message.
#pragma once

#include <umbel/config.hpp>  // first: reports targets without <type_traits> and the like

#include <cstdint>
#include <type_traits>
#include <umbel/shape/axis.hpp>
#include <umbel/shape/invalid.hpp>

UMBEL_WARNINGS_PUSH
// g++ prints this name before the message: outside the target's namespace, whose name would appear
// three times.
namespace umbel::portable {
// A message as a value usable as a template argument.
template <std::size_t N>
struct text {
  char chars[N]{};
  // For C++26's static_assert.
  static constexpr std::size_t size() noexcept { return N - 1; }
  constexpr const char* data() const noexcept { return chars; }
};

// Does a message name no_axis? Then an earlier message named its cause.
template <std::size_t N>
constexpr bool names_no_axis(const text<N>& sentence) {
  constexpr char name[] = "no_axis";
  for (std::size_t i = 0; i + sizeof(name) - 1 < N; ++i) {
    std::size_t same = 0;
    while (name[same] != '\0' && sentence.chars[i + same] == name[same]) ++same;
    if (name[same] == '\0') return true;
  }
  return false;
}

struct accepted {
  static constexpr bool ok = true;
  static constexpr text<1> message{};
};

#if !UMBEL_CLANG
template <text Sentence>
struct shape_error {
  static constexpr bool ok = false;
  static constexpr auto message = Sentence;
};
// The assertion is in a class whose name holds the message: g++ then prints it in its first lines.
// `ok` is true so that the operation's assertion adds no second error.
// The line of the error has the message too: as the assertion's text or, before g++ 14, as the
// name of a class that is not defined.
template <class Verdict>
struct report : Verdict {};
template <text Sentence>
struct report<shape_error<Sentence>> {
  static constexpr bool ok = true;
};
template <text Sentence>
struct shapes_do_not_fit;
template <text Sentence>
  requires(!names_no_axis(Sentence))
struct report<shape_error<Sentence>> {
#if __GNUC__ < 14
  static_assert(sizeof(shapes_do_not_fit<Sentence>) != 0);
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wc++26-extensions"
  static_assert(false, Sentence);
#pragma GCC diagnostic pop
#endif
  static constexpr bool ok = true;
};
#endif
}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET {
namespace detail {
using portable::accepted;
using portable::text;
#if !UMBEL_CLANG
using portable::report;
using portable::shape_error;
#endif

template <class... Axes>
struct shape {
  static constexpr std::size_t rank = sizeof...(Axes);
  static constexpr std::size_t count = (std::size_t{1} * ... * Axes::size);
};

template <std::size_t N>
struct number {};
template <std::uint64_t Numerator, std::uint64_t Denominator>
struct ratio {};  // "3/2"
template <class T>
struct element {};  // an element type: "float"

struct sentence_buffer {
  char chars[600]{};
  std::size_t size = 0;
  constexpr void put(char c) {
    if (size + 1 < sizeof(chars)) chars[size++] = c;
  }
  constexpr void put(const char* s) {
    while (*s) put(*s++);
  }
  // (Not a template, which each size would instantiate.)
  constexpr void put(unsigned value) { put(static_cast<unsigned long long>(value)); }
  constexpr void put(unsigned long value) { put(static_cast<unsigned long long>(value)); }
  constexpr void put(unsigned long long value) {
    char digits[20]{};
    int count = 0;
    do digits[count++] = static_cast<char>('0' + value % 10);
    while (value /= 10);
    while (count) put(digits[--count]);
  }
};

// The unqualified name of a type or of a family's template, as the compiler writes it. A trailing
// underscore (and_) is dropped, underscores inside become `space`, and "; " replaces _so_: what is
// wrong; the remedy, as an imperative.
template <class T>
constexpr void put_name(sentence_buffer& out, char space) {
  constexpr const char* function = __PRETTY_FUNCTION__;
  const char* end = function;
  while (*end) ++end;
  while (*end != ']') --end;
  const char* begin = end;
  while (*begin != '=') --begin;
  begin += 2;
  for (const char* c = begin; c < end; ++c)  // axis_family<umbel::axes::key> -> key
    if (*c == '<' || (*c == ':' && c[1] != ':')) begin = c + 1;
  const auto is_so = [&](const char* c) {
    return space == ' ' && end - c > 4 && c[1] == 's' && c[2] == 'o' && c[3] == '_';
  };
  for (const char* c = begin; c < end && *c != '>' && *c != ';'; ++c) {
    if (*c != '_') {
      out.put(*c);
    } else if (is_so(c)) {
      out.put("; ");
      c += 3;
    } else if (c + 1 < end && c[1] != '>') {
      out.put(space);
    }
  }
}

// A word's text if it differs from its name. Leading punctuation follows the word before.
template <class Word>
inline constexpr const char* spoken = nullptr;
// Declares a word whose text differs from its name; in namespace detail. The name has the words of
// the text, for clang. No quotes or apostrophes: g++ would escape them.
#define UMBEL_SAYS(word, sentence) \
  namespace say {                  \
  struct word;                     \
  }                                \
  template <>                      \
  inline constexpr const char* spoken<say::word> = sentence

// The conversion of a tensor with axes to T, as in if (x > 0): refused at that line, so that
// nothing converts. g++ prints its condition, and T and Axes. (Explicit, so that f(double) and
// f(view<...>) can be overloads. A template would be instantiated for each conversion that is
// considered.)
#define UMBEL_NO_NUMBER "umbel: tensor: is not one number; write x(i, j), or reduce all of its axes"
#if UMBEL_CLANG
#define UMBEL_REFUSED_CONVERSION(T)                                      \
  constexpr explicit operator T() const                                  \
    requires(layout::rank != 0)                                          \
  {                                                                      \
    static_assert(detail::report<detail::rules::one_number<layout>>::ok, \
                  "umbel: x is not one number");                         \
    return {};                                                           \
  }                                                                      \
  static_assert(true)
#else
#define UMBEL_REFUSED_CONVERSION(T)                           \
  constexpr explicit operator T() const                       \
    requires(layout::rank != 0 && (true || *UMBEL_NO_NUMBER)) \
  = delete
#endif

template <class Word>
struct speak {
  static constexpr void to(sentence_buffer& out) {
    if constexpr (spoken<Word> != nullptr)
      out.put(spoken<Word>);
    else
      put_name<Word>(out, ' ');
  }
};
template <std::size_t N>
struct speak<number<N>> {
  static constexpr void to(sentence_buffer& out) { out.put(N); }
};
template <std::uint64_t Numerator, std::uint64_t Denominator>
struct speak<ratio<Numerator, Denominator>> {
  static constexpr void to(sentence_buffer& out) {
    out.put(Numerator);
    out.put('/');
    out.put(Denominator);
  }
};
template <class T>
struct speak<element<T>> {
  static constexpr void to(sentence_buffer& out) {
    if constexpr (std::is_same_v<T, signed char>)
      out.put("std::int8_t");
    else if constexpr (std::is_same_v<T, unsigned char>)
      out.put("std::uint8_t");
    else if constexpr (std::is_same_v<T, short>)
      out.put("std::int16_t");
    else if constexpr (std::is_same_v<T, unsigned short>)
      out.put("std::uint16_t");
    else
      put_name<T>(out, '_');
  }
};
template <template <std::size_t> class Axis>
struct speak<axis_family<Axis>> {
  static constexpr void to(sentence_buffer& out) { put_name<axis_family<Axis>>(out, '_'); }
};
template <class Axis>
  requires requires { typename Axis::family; }
struct speak<Axis> {
  static constexpr void to(sentence_buffer& out) {
    speak<typename Axis::family>::to(out);
    out.put('=');
    out.put(Axis::size);
  }
};
template <class... Families>
struct listed {};  // "batch, key and hidden"
template <class... Families>
struct speak<listed<Families...>> {
  static constexpr void to(sentence_buffer& out) {
    std::size_t position = 0;
    ((out.put(position == 0                         ? ""
              : position + 1 == sizeof...(Families) ? " and "
                                                    : ", "),
      ++position, speak<Families>::to(out)),
     ...);
  }
};
template <class... Axes>
struct speak<shape<Axes...>> {
  static constexpr void to(sentence_buffer& out) {
    std::size_t position = 0;
    out.put('[');
    ((out.put(position++ ? ", " : ""), speak<Axes>::to(out)), ...);
    out.put(']');
  }
};

template <class Word>
constexpr bool starts_with_punctuation() {
  return spoken<Word> != nullptr && (*spoken<Word> == ',' || *spoken<Word> == ';');
}

// "umbel: first: second third": the first word is the user's identifier, with its underscores.
template <class First, class... Rest>
constexpr sentence_buffer compose() {
  sentence_buffer out;
  out.put("umbel: ");
  if constexpr (spoken<First> != nullptr)
    out.put(spoken<First>);
  else
    put_name<First>(out, '_');
  out.put(':');
  ((out.put(starts_with_punctuation<Rest>() ? "" : " "), speak<Rest>::to(out)), ...);
  return out;
}

template <class... Words>
constexpr auto sentence() {
  constexpr sentence_buffer buffer = compose<Words...>();
  text<buffer.size + 1> out;
  for (std::size_t i = 0; i < buffer.size; ++i) out.chars[i] = buffer.chars[i];
  return out;
}

#if UMBEL_CLANG

// The verdict of a failed check; its arguments are the message.
template <class... Words>
struct shape_error {
  static constexpr bool ok = false;
  static constexpr auto message = sentence<Words...>();
};
template <bool Ok, class... Words>
using verdict = std::conditional_t<Ok, accepted, shape_error<Words...>>;
template <class Verdict>
struct verdict_to_report {
  using type = std::conditional_t<portable::names_no_axis(Verdict::message), accepted, Verdict>;
};
template <>
struct verdict_to_report<accepted> {
  using type = accepted;
};
template <class Verdict>
using report = typename detail::verdict_to_report<Verdict>::type;
// Asserted by a class: reported<Verdict>::ok, which is true. The failing assertion is in a separate
// class, so it is one error however many classes ask. clang 14 rejects every use of a class with a
// failed assertion; newer ones don't, and print three lines for a lambda.
template <class Verdict>
struct reported {
#if UMBEL_CLANG_14
  static constexpr bool ok = [] {
    static_assert(report<Verdict>::ok, "umbel: shapes do not fit");
    return true;
  }();
#else
#if __cpp_static_assert >= 202306L
  static_assert(report<Verdict>::ok, Verdict::message);
#else
  static_assert(report<Verdict>::ok, "umbel: shapes do not fit");
#endif
  static constexpr bool ok = true;
#endif
};

#else

template <bool Ok, class... Words>
struct choose_verdict {
  using type = accepted;
};
template <class... Words>
struct choose_verdict<false, Words...> {
  using type = shape_error<sentence<Words...>()>;
};
template <bool Ok, class... Words>
using verdict = typename detail::choose_verdict<Ok, Words...>::type;

template <class Verdict>
using reported = report<Verdict>;

#endif

// Called if a value is refused, which only a constant expression detects at compile time: the call
// is then the error. g++ prints its whole type and so the message.
template <class Verdict>
inline void is_not_a_constant() noexcept {}

// The value of a constant that doesn't exist, with the message.
template <class Verdict>
inline constexpr invalid refused = [] {
  static_assert(report<Verdict>::ok, "umbel: shapes do not fit");
  return invalid{};
}();

// For public concepts: if one doesn't hold, g++ and clang show the verdict's message. For
// `invalid`, whose axis is no_axis, each holds.
template <class Verdict>
inline constexpr bool fits_or_invalid = Verdict::ok || portable::names_no_axis(Verdict::message);
template <class Verdict>
concept fits = fits_or_invalid<Verdict>;

// False, but only known in use: otherwise g++ composes a message of mere words while it parses, 1 %
// of the time to include the library.
template <class...>
inline constexpr bool never = false;

// In place of a number, or of a different result: refused. So: "; read its largest".
UMBEL_SAYS(does_not_convert_to, "does not convert to");
template <class Word, class So, class X>
constexpr X no_conversion() noexcept {
  static_assert(report<verdict<never<X>, Word, say::does_not_convert_to, element<X>, So>>::ok,
                "umbel: shapes do not fit");
  return X{};
}

template <class First, class... Rest>
struct choose_error {
  using type = First;
};
template <class... Rest>
struct choose_error<accepted, Rest...> : choose_error<Rest...> {};
template <>
struct choose_error<accepted> {
  using type = accepted;
};

template <class... Verdicts>
using first_error = typename detail::choose_error<Verdicts...>::type;
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
