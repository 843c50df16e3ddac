// SPDX-License-Identifier: BSL-1.0
// The contents of written files (write.hpp): element types and their spelling in each format, and
// the verdicts on the sink, the tensors and the function that puts them.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/simd/half.hpp>
#include <umbel/tensor/tensor.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

struct type_names {
  const char* npy;
  const char* safetensors;
};
template <class T>
constexpr type_names type_names_of() {
  if constexpr (std::is_same_v<T, float>) return {"<f4", "F32"};
  if constexpr (std::is_same_v<T, double>) return {"<f8", "F64"};
  if constexpr (std::is_same_v<T, float16>) return {"<f2", "F16"};
  if constexpr (std::is_same_v<T, bfloat16>) return {"<V2", "BF16"};
  if constexpr (std::is_same_v<T, bool>) return {"|b1", "BOOL"};
  if constexpr (std::is_same_v<T, std::uint8_t>) return {"|u1", "U8"};
  if constexpr (std::is_same_v<T, std::int8_t>) return {"|i1", "I8"};
  if constexpr (std::is_same_v<T, std::int16_t>) return {"<i2", "I16"};
  if constexpr (std::is_same_v<T, std::int32_t>) return {"<i4", "I32"};
  if constexpr (std::is_same_v<T, std::int64_t>) return {"<i8", "I64"};
  return {};
}

namespace say {
struct put;
struct write_npy;
struct write_npz;
struct write_safetensors;
}  // namespace say
UMBEL_SAYS(takes_a_function_that_puts_each_tensor_not,
           "takes a function that puts each tensor, [&](auto put) { put(name, x); }, not");
UMBEL_SAYS(takes_a_name_and_a_tensor_or_view, "takes a name and a tensor or view, put(name, x)");
UMBEL_SAYS(takes_a_sink_first_which_is_called_with_const_char_and_size_t_not,
           "takes a sink first, which is called with (const char*, std::size_t), not");
UMBEL_SAYS(takes_a_tensor_or_view_not, "takes a tensor or view, not");
UMBEL_SAYS(
    takes_elements_of_float_double_bfloat16_float16_bool_uint8_or_a_signed_integer_not,
    "takes elements of float, double, bfloat16, float16, bool, uint8 or a signed integer, not");

namespace rules {
template <class Operation, class X>
struct written_rule {
  using type =
      verdict<one_is_invalid<X>, Operation, say::takes_a_tensor_or_view_not, type_of_given<X>>;
};
template <class Operation, tensor_like X>
struct written_rule<Operation, X> {
  using T = typename X::value_type;
  using type = verdict<
      type_names_of<T>().npy != nullptr, Operation,
      say::takes_elements_of_float_double_bfloat16_float16_bool_uint8_or_a_signed_integer_not,
      element<T>>;
};
template <class Operation, class X>
using written = typename written_rule<Operation, X>::type;

// (A tensor can be called with anything, and reports that itself.)
template <class Operation, class Sink>
using sink_of_bytes =
    verdict<!tensor_like<Sink> && std::is_invocable_v<Sink&, const char*, std::size_t>, Operation,
            say::takes_a_sink_first_which_is_called_with_const_char_and_size_t_not,
            type_of_given<std::decay_t<Sink>>>;

// put("name", x).
template <class... Given>
struct put_rule {
  using type = verdict<one_is_invalid<Given...>, say::put, say::takes_a_name_and_a_tensor_or_view>;
};
template <class Name, class X>
struct put_rule<Name, X> {
  using type = first_error<verdict<std::is_convertible_v<const Name&, const char*>, say::put,
                                   say::takes_a_name_and_a_tensor_or_view, say::but_argument,
                                   number<1>, say::is, type_of_given<Name>>,
                           written<say::put, X>>;
};
}  // namespace rules

// The argument of the function that puts each tensor.
template <class Write>
struct put_each {
  const Write& write;

  template <class... Given>
  constexpr void operator()(const Given&... given) const {
    if constexpr (rules::put_rule<Given...>::type::ok && !one_is_invalid<Given...>) write(given...);
  }
};
template <class Each, class Write>
constexpr void for_each_put(const Each& each, const Write& write) {
  each(put_each<Write>{write});
}
struct put_nowhere {
  template <class X>
  constexpr void operator()(const char*, const X&) const {}
};
template <class Each>
concept puts_tensors =
    !tensor_like<Each> && requires(const Each& each, put_each<put_nowhere> put) { each(put); };

namespace rules {
template <class Operation, class Each>
using each_that_puts =
    verdict<puts_tensors<Each>, Operation, say::takes_a_function_that_puts_each_tensor_not,
            type_of_given<Each>>;
template <class Operation, class Sink, class Each>
using written_by = first_error<sink_of_bytes<Operation, Sink>, each_that_puts<Operation, Each>>;
}  // namespace rules

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
