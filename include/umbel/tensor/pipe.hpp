// SPDX-License-Identifier: BSL-1.0
// x | operation, and what an operation that only re-reads memory gives back:
//
//   of a view, or a tensor with a name    a view of the same memory: no element moves
//   of a temporary tensor                 a tensor that owns the same bytes (a view would dangle)
#pragma once

#include <umbel/config.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/tensor/tensor.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::portable {

// Base of what has operators of its own with tensors: masks, which are not functions even where
// they can be called.
struct own_arithmetic {};

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

namespace rules {
template <class Right>
using pipe_into_a_tensor =
    verdict<Right::rank == npos, say::tensor, typename Right::axes,
            say::is_on_the_right_of_a_pipe_which_needs_an_operation_so_write_x_plus_y_or_contract>;

// On x | operation. X: of a forwarding reference.
template <class Operation, class X>
struct pipe_rule {
  using type = accepted;
};
template <class Operation, shaped X>
struct pipe_rule<Operation, X> {
  using type = typename Operation::template pipe_rule<std::remove_cvref_t<X>>;
};
template <class Operation, class X>
using pipe = typename pipe_rule<Operation, X>::type;
}  // namespace rules
}  // namespace detail

// x | f is f(x), whatever x is: f gives the sentence where it does not fit.
template <class X, class Operation>
  requires std::is_base_of_v<detail::operation, Operation>
[[nodiscard]] UMBEL_INLINE constexpr auto operator|(X&& x, const Operation& f) {
  using verdict = detail::rules::pipe<Operation, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return f(static_cast<X&&>(x));
  else
    return detail::invalid{};
}
// x | max<key>: of functions, that which takes nothing and gives the operation.
template <class X, class Operation>
  requires std::is_base_of_v<detail::operation, Operation>
[[nodiscard]] UMBEL_INLINE constexpr auto operator|(X&& x, Operation (*)() noexcept) {
  using verdict = detail::rules::pipe<Operation, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return Operation{}(static_cast<X&&>(x));
  else
    return detail::invalid{};
}
// Of a tensor with a name, an operation that only re-reads memory gives a view of it.
template <class X, class Operation>
  requires(detail::is_tensor<std::remove_const_t<X>> &&
           std::is_base_of_v<detail::rereads, Operation>)
[[nodiscard]] UMBEL_INLINE constexpr auto operator|(X& x UMBEL_LIFETIMEBOUND, const Operation& f) {
  using verdict = detail::rules::pipe<Operation, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return f(x);
  else
    return detail::invalid{};
}
// The same with a function of your own, of a tensor or view.
template <detail::tensor_like X, class Function>
  requires(!std::is_base_of_v<detail::operation, Function> && !detail::tensor_like<Function> &&
           !std::is_base_of_v<detail::own_arithmetic, Function> &&
           requires(X&& x, const Function& f) { f(static_cast<X&&>(x)); })
UMBEL_INLINE constexpr auto operator|(X&& x, const Function& f) {
  return f(static_cast<X&&>(x));
}
// softmax<key> | x: the wrong way round.
template <class Operation, detail::tensor_like X>
  requires std::is_base_of_v<detail::operation, Operation>
constexpr detail::invalid operator|(const Operation&, const X&) noexcept {
  static_assert(
      detail::report<
          detail::rules::pipe_from_the_left<typename Operation::called, (sizeof(X) == 0)>>::ok,
      "umbel: shapes do not fit");
  return {};
}
// x | y: of two tensors.
template <detail::tensor_like X, detail::tensor_like Y>
constexpr detail::invalid operator|(const X&, const Y&) noexcept {
  static_assert(detail::report<detail::rules::pipe_into_a_tensor<detail::layout_of<Y>>>::ok,
                "umbel: shapes do not fit");
  return {};
}
// An invalid operand is passed on. (x | permute<...>() is the overload above: invalid can be
// called.)
template <class Function>
  requires(!std::is_base_of_v<detail::operation, Function>)
constexpr detail::invalid operator|(detail::invalid, const Function&) noexcept {
  return {};
}

namespace detail {
// The first element in memory. (Of a tensor without a call of a member, which clang wants to be of
// an object that was made: while a formula is traced, parts of its arguments are not.)
template <class X>
UMBEL_INLINE constexpr auto first_of(X& x) noexcept {
  if constexpr (is_tensor<std::remove_const_t<X>>)
    return portable::tensor_memory::of(x);
  else
    return x.data();
}

// The memory of x from `offset` on, read by another layout.
template <class Layout, class X>
UMBEL_INLINE constexpr auto reread(X&& x, std::size_t offset = 0) {
  if constexpr (traced<X>) {
    return x.template reread<Layout>(offset);
  } else if constexpr (temporary_tensor<X>) {
    using T = typename std::remove_cvref_t<X>::value_type;
    tensor_of<T, Layout> out{};
    for (std::size_t i = 0; i < Layout::span; ++i) out.data()[i] = x.data()[offset + i];
    return out;
  } else {
    using T = std::remove_pointer_t<decltype(x.data())>;
    return view_of<T, Layout>(detail::first_of(x) + offset);
  }
}

// The derived Operation says, for a layout, which rule holds, what layout results, and at which
// element it starts. Name: the word for it.
template <class Operation, class Name>
struct rereading : detail::other_calls<Name>, rereads {
  using detail::other_calls<Name>::operator();

  template <class X, class Self = Operation>  // which is incomplete here
  using pipe_rule = typename Self::template rule<layout_of<X>>;

  template <shaped X>
  [[nodiscard]] UMBEL_SHARED constexpr auto operator()(X&& x) const {
    using from = layout_of<X>;
    using verdict = typename Operation::template rule<from>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return detail::reread<typename Operation::template result<from>>(
          static_cast<X&&>(x), static_cast<const Operation&>(*this).template offset<from>());
    else
      return invalid{};
  }

  template <class Layout>
  static constexpr std::size_t offset() {
    return 0;
  }
};
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
