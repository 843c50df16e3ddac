// SPDX-License-Identifier: BSL-1.0
// named<"scores">(x): x with a name. In a formula the value is called that in the ranges of its
// integers (quantized/formula.hpp) and in its description; bits and steps stay the same. Outside a
// formula it is x, so that one function serves tensors and formulas.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(named, "named");
UMBEL_SAYS(needs_a_name_of_letters_digits_and_underscores,
           "needs a name of letters, digits and underscores");
UMBEL_SAYS(expects_a_tensor_a_view_or_a_value_of_a_formula_not,
           "expects a tensor, a view or a value of a formula, not");

namespace formulas {
// A name of at most 63 characters as a template argument. (Not a template, whose arguments would be
// deduced: clang 14 crashes with -Wc++98-compat.)
struct value_name {
  char chars[64]{};
  bool fits = true;
  template <std::size_t Size>
  consteval value_name(const char (&name)[Size]) noexcept : fits(Size <= sizeof(chars)) {
    for (std::size_t i = 0; i < Size && i + 1 < sizeof(chars); ++i) chars[i] = name[i];
  }
  constexpr bool is_valid() const noexcept {
    for (const char c : chars)
      if (c != '\0' &&
          !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
        return false;
    return fits && chars[0] != '\0';
  }
};
template <value_name Name>
struct text_of_name {
  static constexpr auto value = Name;
};
}  // namespace formulas
}  // namespace detail

// A view shares the name of the value that it shows part of. Of two names of a value, the first is
// kept.
template <detail::formulas::value_name Name, class X>
  requires detail::formulas::a_node<X> || detail::tensor_like<std::remove_cvref_t<X>>
constexpr X named(X&& x) noexcept {
  using namespace detail;
  static_assert(report<verdict<Name.is_valid(), say::named,
                               say::needs_a_name_of_letters_digits_and_underscores>>::ok,
                "umbel: shapes do not fit");
  if constexpr (formulas::a_node<X>) {
    if constexpr (std::remove_cvref_t<X>::recorder_type::makes_graph)
      if (auto* nodes = x.recorder->nodes; nodes != nullptr && !nodes[x.number].has_label) {
        nodes[x.number].label = formulas::text_of_name<Name>::value.chars;
        nodes[x.number].has_label = true;
      }
  }
  return static_cast<X&&>(x);
}
// Anything else is refused.
template <detail::formulas::value_name Name, class X>
  requires(!detail::formulas::a_node<X> && !detail::tensor_like<std::remove_cvref_t<X>>)
constexpr detail::invalid named(const X&) noexcept {
  using namespace detail;
  using verdict =
      verdict<one_is_invalid<X>, say::named,
              say::expects_a_tensor_a_view_or_a_value_of_a_formula_not, type_of_given<X>>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}
// With no text: refused.
#define UMBEL_INSTEAD "expects a name as text; write named<\"scores\">(x)"
UMBEL_REFUSED_RESULT(named, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(named, UMBEL_INSTEAD, UMBEL_NUMBERS)
UMBEL_REFUSES_OF_TENSOR(named, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_OF_TENSOR(named, UMBEL_INSTEAD, UMBEL_NAMES)
#undef UMBEL_INSTEAD

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
