// SPDX-License-Identifier: BSL-1.0
// Template arguments of a wrong kind: a number in place of an axis, key<6> in place of key. They
// fit no template, so that no code of Umbel is compiled; these macros add the sentence.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/verdict.hpp>

UMBEL_WARNINGS_PUSH
// After the parameters of a class or variable template: g++ prints its declaration, and so this. A
// partial specialization for the same arguments, class layer_stack<Layer, Count>, requires
// portable::anything<void> too: then it is more constrained.
namespace umbel::portable {
template <class>
concept anything = true;
}
#if UMBEL_CLANG
#define UMBEL_EXPECTS(sentence)
#else
#define UMBEL_EXPECTS(sentence) requires(umbel::portable::anything<void> || *"umbel: " sentence)
#endif

// Overloads of a function template, refused: sum<2>(x), sum<key<6>>(x). parameters: those of a
// call, const Given&... for any. The rest: the first template parameters.
// clang-format off
#define UMBEL_NAME template <std::size_t> class
// clang-format on
#if UMBEL_CLANG
// (clang prints each macro around diagnose_if: with at most one it prints below 12 lines.)
#define UMBEL_SAID(name, sentence) \
  !detail::one_is_invalid<Given...>, "umbel: " #name ": " sentence, "error"
#define UMBEL_REFUSED_CALL(name, parameters) \
  constexpr detail::invalid(name) parameters noexcept { return {}; }
#define UMBEL_REFUSES_CALL(name, parameters, sentence, ...) \
  template <__VA_ARGS__, class... Given>                    \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, parameters)
// clang-format off
#define UMBEL_REFUSES_MIXED(name, parameters, sentence) \
  template <auto First, class Second, class... Rest, class... Given> \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, parameters) \
  template <auto First, UMBEL_NAME Second, UMBEL_NAME... Rest, class... Given> \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, parameters) \
  template <class First, auto Second, auto... Rest, class... Given> \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, parameters) \
  template <class First, UMBEL_NAME Second, UMBEL_NAME... Rest, class... Given> \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, parameters) \
  template <UMBEL_NAME First, auto Second, auto... Rest, class... Given> \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, parameters) \
  template <UMBEL_NAME First, class Second, class... Rest, class... Given> \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, parameters)
// clang-format on
// Of a value in a formula and with a pipe, x | sum<2>: the error is in the user's line, as that of
// refused_operation (refusal.hpp). First UMBEL_REFUSED_RESULT, then the overloads.
#define UMBEL_REFUSED_RESULT(name, sentence)                                         \
  namespace detail {                                                                 \
  template <bool Ok>                                                                 \
  struct refused_##name : said_when_destroyed, note_refusal<std::enable_if_t<!Ok>> { \
    using is_refused_operation = refused_##name;                                     \
    ~refused_##name() { static_assert(Ok, "umbel: " #name ": " sentence); }          \
  };                                                                                 \
  }
#define UMBEL_REFUSES_OF_VALUE(name, ...)                                      \
  template <__VA_ARGS__, class Node, class... Given>                           \
  detail::refused_##name<false>(name)(const portable::value_of_formula<Node>&, \
                                      const Given&...) noexcept;
#define UMBEL_REFUSES_PIPED(name, sentence, ...) \
  template <__VA_ARGS__>                         \
  detail::refused_operator<detail::refused_##name<false>>(name)() noexcept;
#define UMBEL_REFUSES_NUMBERS_PIPED(name, sentence)                                       \
  UMBEL_REFUSES_PIPED(name, sentence, auto First, class Second, class... Rest)            \
  UMBEL_REFUSES_PIPED(name, sentence, auto First, UMBEL_NAME Second, UMBEL_NAME... Rest)  \
  UMBEL_REFUSES_PIPED(name, sentence, class First, auto Second, auto... Rest)             \
  UMBEL_REFUSES_PIPED(name, sentence, class First, UMBEL_NAME Second, UMBEL_NAME... Rest) \
  UMBEL_REFUSES_PIPED(name, sentence, UMBEL_NAME First, auto Second, auto... Rest)        \
  UMBEL_REFUSES_PIPED(name, sentence, UMBEL_NAME First, class Second, class... Rest)      \
  UMBEL_REFUSES_PIPED(name, sentence, UMBEL_NUMBERS)
#define UMBEL_REFUSES_OF_TENSOR(name, sentence, ...)                                \
  UMBEL_REFUSES_OF_VALUE(name, __VA_ARGS__)                                         \
  template <__VA_ARGS__, class... Given>                                            \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, \
                                                                              UMBEL_TENSOR_FIRST)
// clang-format off
#define UMBEL_REFUSES_NUMBERS_OF_TENSOR(name, sentence) \
  UMBEL_REFUSES_OF_VALUE(name, auto First, class Second, class... Rest) \
  template <auto First, class Second, class... Rest, class... Given> \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, UMBEL_TENSOR_FIRST) \
  UMBEL_REFUSES_OF_VALUE(name, auto First, UMBEL_NAME Second, UMBEL_NAME... Rest) \
  template <auto First, UMBEL_NAME Second, UMBEL_NAME... Rest, class... Given> \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, UMBEL_TENSOR_FIRST) \
  UMBEL_REFUSES_OF_VALUE(name, class First, auto Second, auto... Rest) \
  template <class First, auto Second, auto... Rest, class... Given> \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, UMBEL_TENSOR_FIRST) \
  UMBEL_REFUSES_OF_VALUE(name, class First, UMBEL_NAME Second, UMBEL_NAME... Rest) \
  template <class First, UMBEL_NAME Second, UMBEL_NAME... Rest, class... Given> \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, UMBEL_TENSOR_FIRST) \
  UMBEL_REFUSES_OF_VALUE(name, UMBEL_NAME First, auto Second, auto... Rest) \
  template <UMBEL_NAME First, auto Second, auto... Rest, class... Given> \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, UMBEL_TENSOR_FIRST) \
  UMBEL_REFUSES_OF_VALUE(name, UMBEL_NAME First, class Second, class... Rest) \
  template <UMBEL_NAME First, class Second, class... Rest, class... Given> \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, UMBEL_TENSOR_FIRST) \
  UMBEL_REFUSES_OF_VALUE(name, UMBEL_NUMBERS) \
  template <UMBEL_NUMBERS, class... Given> \
  __attribute__((diagnose_if(UMBEL_SAID(name, sentence)))) UMBEL_REFUSED_CALL(name, UMBEL_TENSOR_FIRST)
// clang-format on
#else
#define UMBEL_REFUSES_CALL(name, parameters, sentence, ...)                                   \
  template <__VA_ARGS__, class... Given>                                                      \
  constexpr detail::invalid(name) parameters noexcept {                                       \
    return detail::refuse<detail::text<sizeof("umbel: " #name ": " sentence)>{"umbel: " #name \
                                                                              ": " sentence}, \
                          Given...>();                                                        \
  }
#define UMBEL_REFUSES_MIXED(name, parameters, sentence)                                       \
  UMBEL_REFUSES_CALL(name, parameters, sentence, auto First, class Second, class... Rest)     \
  UMBEL_REFUSES_CALL(name, parameters, sentence, auto First, UMBEL_NAME Second,               \
                     UMBEL_NAME... Rest)                                                      \
  UMBEL_REFUSES_CALL(name, parameters, sentence, class First, auto Second, auto... Rest)      \
  UMBEL_REFUSES_CALL(name, parameters, sentence, class First, UMBEL_NAME Second,              \
                     UMBEL_NAME... Rest)                                                      \
  UMBEL_REFUSES_CALL(name, parameters, sentence, UMBEL_NAME First, auto Second, auto... Rest) \
  UMBEL_REFUSES_CALL(name, parameters, sentence, UMBEL_NAME First, class Second, class... Rest)
#define UMBEL_REFUSED_RESULT(name, sentence)
#define UMBEL_REFUSES_PIPED(name, sentence, ...) UMBEL_REFUSES_CALL(name, (), sentence, __VA_ARGS__)
#define UMBEL_REFUSES_NUMBERS_PIPED(name, sentence) \
  UMBEL_REFUSES_MIXED(name, (), sentence)           \
  UMBEL_REFUSES_CALL(name, (), sentence, UMBEL_NUMBERS)
#define UMBEL_REFUSES_OF_TENSOR(name, sentence, ...) \
  UMBEL_REFUSES_CALL(name, UMBEL_TENSOR_FIRST, sentence, __VA_ARGS__)
#define UMBEL_REFUSES_NUMBERS_OF_TENSOR(name, sentence)   \
  UMBEL_REFUSES_MIXED(name, UMBEL_TENSOR_FIRST, sentence) \
  UMBEL_REFUSES_CALL(name, UMBEL_TENSOR_FIRST, sentence, UMBEL_NUMBERS)

namespace umbel::inline UMBEL_TARGET::detail {
template <text Sentence, class... Given>
constexpr invalid refuse() noexcept {
  static_assert(
      report<std::conditional_t<one_is_invalid<Given...>, accepted, shape_error<Sentence>>>::ok,
      "umbel: shapes do not fit");
  return {};
}
}  // namespace umbel::inline UMBEL_TARGET::detail
#endif
// Only numbers, types or names of axes. (MIXED: two of these, as the first and the second; NUMBERS:
// these mixtures, and only numbers.)
#define UMBEL_NUMBERS auto First, auto... Rest
#define UMBEL_TYPES class First, class... Rest
#define UMBEL_NAMES UMBEL_NAME First, UMBEL_NAME... Rest
#define UMBEL_TWO_NAMES UMBEL_NAME First, UMBEL_NAME Second, UMBEL_NAME... Rest
// The parameters of a call with a tensor, a view or a value in a formula first.
#define UMBEL_TENSOR_FIRST (const portable::calls_of_other_libraries&, const Given&...)
UMBEL_WARNINGS_POP
