// SPDX-License-Identifier: BSL-1.0
// x | operation, and the results of operations that only re-read memory:
//
//   of a view or a named tensor    a view of the same memory: no element moves
//   of a temporary tensor          a tensor that owns the same bytes (a view would dangle)
#pragma once

#include <umbel/config.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/tensor/refusal.hpp>
#include <umbel/tensor/tensor.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::portable {

// Base of types with operators for tensors: masks, not functions even if they can be called.
struct own_arithmetic {};
// Base of a value in a formula. It depends on it as members_of_other_libraries does.
template <class Node>
struct value_of_formula : own_arithmetic, templates_of_other_libraries {};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET {

namespace detail {
using portable::own_arithmetic;
// Base of the operations that only re-read memory.
struct rereads {};
// A layer, prepacked or not.
template <class Layer>
concept has_its_weights =
    requires { sizeof(Layer); } && requires(const Layer& layer) { layer.get_weights(); };

UMBEL_SAYS(
    is_on_the_right_of_a_pipe_which_needs_an_operation_so_write_x_plus_y_or_contract,
    "is on the right of |, which needs an operation; write x + y, x * y or contract<hidden>(x, y)");

UMBEL_SAYS(is_not_one_number_as_the_function_on_the_right_of_a_pipe_needs_so_write_for_each,
           "is not one number, as the function on the right of | needs; for each element write "
           "for_each([](float& y) { y = f(y); }, x)");

namespace rules {
template <class Axes>
using pipe_into_a_function_of_a_number =
    verdict<Axes::rank == npos, say::tensor, Axes,
            say::is_not_one_number_as_the_function_on_the_right_of_a_pipe_needs_so_write_for_each>;
template <class Right>
using pipe_into_a_tensor =
    verdict<Right::rank == npos, say::tensor, typename Right::axes,
            say::is_on_the_right_of_a_pipe_which_needs_an_operation_so_write_x_plus_y_or_contract>;

// For x | operation. X is deduced from a forwarding reference.
template <class Operation, class X>
struct pipe_rule {
  using type = accepted;
};
template <class Operation, shaped X>
struct pipe_rule<Operation, X> {
  using type = typename Operation::template pipe_rule<std::remove_cvref_t<X>>;
};
template <class Operation, class X>
using pipe = in_its_line<typename pipe_rule<Operation, X>::type, X>;
}  // namespace rules
}  // namespace detail

// x | f is f(x) for any x; f reports bad arguments.
template <class X, class Operation>
  requires std::is_base_of_v<detail::operation, Operation>
[[nodiscard]] UMBEL_SHARED constexpr auto operator|(X&& x, const Operation& f) {
  using verdict = detail::rules::pipe<Operation, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (!verdict::ok) return detail::refusal<verdict>();
#if UMBEL_CLANG
  else if constexpr (detail::traced<X>)
    return detail::passed_on<decltype(f(static_cast<X&&>(x)))>(
        [&] { return f(static_cast<X&&>(x)); });
#endif
  else
    return f(static_cast<X&&>(x));
}
// x | max<key>: of the overloaded functions, the one without arguments, which returns the
// operation.
template <class X, class Operation>
  requires std::is_base_of_v<detail::operation, Operation>
[[nodiscard]] UMBEL_SHARED constexpr auto operator|(X&& x, Operation (*)() noexcept) {
  using verdict = detail::rules::pipe<Operation, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (!verdict::ok) return detail::refusal<verdict>();
#if UMBEL_CLANG
  else if constexpr (detail::traced<X>)
    return detail::passed_on<decltype(Operation{}(static_cast<X&&>(x)))>(
        [&] { return Operation{}(static_cast<X&&>(x)); });
#endif
  else
    return Operation{}(static_cast<X&&>(x));
}
// x | max<key<6>>: refused.
#if UMBEL_CLANG
template <class X, class Refused>
  requires std::is_base_of_v<portable::calls_of_other_libraries, X>
Refused operator|(const X&, detail::refused_operator<Refused> (*)() noexcept) noexcept;
#else
template <class X>
  requires std::is_base_of_v<portable::calls_of_other_libraries, X>
constexpr detail::invalid operator|(const X&, detail::invalid (*)() noexcept) noexcept {
  return {};
}
#endif
// On a named tensor, an operation that only re-reads memory returns a view.
template <class X, class Operation>
  requires(detail::is_tensor<std::remove_const_t<X>> &&
           std::is_base_of_v<detail::rereads, Operation>)
[[nodiscard]] UMBEL_SHARED constexpr auto operator|(X& x UMBEL_LIFETIMEBOUND, const Operation& f) {
  using verdict = detail::rules::pipe<Operation, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return f(x);
  else
    return detail::invalid{};
}
// x | function, for your function of a tensor or view.
template <detail::tensor_like X, class Function>
  requires(!std::is_base_of_v<detail::operation, Function> && !detail::tensor_like<Function> &&
           !std::is_base_of_v<detail::own_arithmetic, Function> &&
           requires(X&& x, const Function& f) { f(static_cast<X&&>(x)); })
UMBEL_SHARED constexpr auto operator|(X&& x, const Function& f) {
  return f(static_cast<X&&>(x));
}
// x | function, for a function of a number to a number: refused.
template <detail::tensor_like X, class Function>
  requires(
      !std::is_base_of_v<detail::operation, Function> &&
      !requires(X&& x, const Function& f) { f(static_cast<X&&>(x)); } &&
      requires(const Function& f, typename std::remove_cvref_t<X>::value_type number) {
        requires std::is_arithmetic_v<decltype(f(number))>;
      })
constexpr detail::invalid operator|(X&&, const Function&) noexcept {
  static_assert(detail::report<detail::rules::pipe_into_a_function_of_a_number<
                    typename detail::layout_of<std::remove_cvref_t<X>>::axes>>::ok,
                "umbel: shapes do not fit");
  return {};
}
// softmax<key> | x: wrong way round.
template <class Operation, detail::tensor_like X>
  requires std::is_base_of_v<detail::operation, Operation>
constexpr detail::invalid operator|(const Operation&, const X&) noexcept {
  using verdict = detail::rules::pipe_from_the_left<typename Operation::called, (sizeof(X) == 0)>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}
template <detail::tensor_like X, detail::tensor_like Y>
constexpr detail::invalid operator|(const X&, const Y&) noexcept {
  static_assert(detail::report<detail::rules::pipe_into_a_tensor<detail::layout_of<Y>>>::ok,
                "umbel: x | y needs an operation on the right");
  return {};
}
// An invalid operand is passed on. (x | permute<...>() uses the overload above: invalid can be
// called.)
template <class Function>
  requires(!std::is_base_of_v<detail::operation, Function>)
constexpr detail::invalid operator|(detail::invalid, const Function&) noexcept {
  return {};
}

namespace detail {
// The first element in memory. (For a tensor without a member call, which clang allows only on a
// constructed object: while a formula is traced, parts of its arguments are not.)
template <class X>
UMBEL_SHARED constexpr auto first_of(X& x) noexcept {
  if constexpr (is_tensor<std::remove_const_t<X>>)
    return portable::tensor_memory::of(x);
  else
    return x.data();
}

// The memory of x from `offset` on, read with Layout; only read if elements share memory.
template <class Layout, class X>
UMBEL_SHARED constexpr auto reread(X&& x, std::size_t offset = 0) {
  if constexpr (traced<X>) {
    return x.template reread<Layout>(offset);
  } else if constexpr (temporary_tensor<X>) {
    using T = typename std::remove_cvref_t<X>::value_type;
    tensor_of<T, Layout> out{};
    for (std::size_t i = 0; i < Layout::span; ++i) out.data()[i] = x.data()[offset + i];
    return out;
  } else {
    using T = std::remove_pointer_t<decltype(x.data())>;
    using read = std::conditional_t<rules::lies_apart<Layout>(), T, const T>;
    return view_of<read, Layout>(detail::first_of(x) + offset);
  }
}

// The derived Operation defines, for a layout, its rule, the resulting layout and the first
// element. Name: its word.
template <class Operation, class Name>
struct rereading : detail::other_calls<Name>, rereads {
  using detail::other_calls<Name>::operator();

  template <class X, class Self = Operation>  // which is incomplete here
  using pipe_rule = typename Self::template rule<layout_of<X>>;

  template <shaped X>
  [[nodiscard]] UMBEL_SHARED constexpr auto operator()(X&& x) const {
    using from = layout_of<X>;
    using verdict = in_its_line<typename Operation::template rule<from>, X>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return detail::reread<typename Operation::template result<from>>(
          static_cast<X&&>(x), static_cast<const Operation&>(*this).template offset<from>());
    else
      return refusal<verdict>();
  }

  template <class Layout>
  static constexpr std::size_t offset() {
    return 0;
  }
};
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
