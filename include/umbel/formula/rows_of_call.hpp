// SPDX-License-Identifier: BSL-1.0
// A layer's call in a formula: an operation with weights as one, and whether its rows are computed
// independently.
#pragma once

#include <umbel/block/layer_norm.hpp>
#include <umbel/block/rms_norm.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/graph.hpp>
#include <umbel/formula/parts.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// An operation with weights on one tensor (layer/computing.hpp), as a layer's call.
template <class Operation, class X>
struct operation_steps {
  using result = typename Operation::template result<X>;
  using scratch = on_stack;
  static constexpr std::uint64_t flops = 0;
  static constexpr bool by_rows = requires { requires Operation::by_rows; };
  template <class Y>
  static constexpr void run(const Operation& operation, Y& y, const X& x) noexcept {
    operation.write(x, y);
  }
};

// Is each row of a layer's call, by Steps, computed by itself (apart)? Rows run along the axis
// `along`; 0: an axis that positions can't have.
template <class Steps>
struct rows_of_call {
  static constexpr bool apart = requires { requires Steps::by_rows; };
  static constexpr unsigned long long along = 0;
};
template <class Operation>
struct axis_of_operation {
  using type = void;
};
template <class Operation>
  requires requires {
    typename Operation::word;
    typename Operation::axis;
  }
struct axis_of_operation<Operation> {
  using type = typename Operation::axis::family;
};
template <class Operation>
  requires requires { typename Operation::layer; }
struct axis_of_operation<Operation> : axis_of_operation<typename Operation::layer> {};
// A norm.
template <class Operation, class X>
  requires(!std::is_void_v<typename axis_of_operation<Operation>::type>)
struct rows_of_call<operation_steps<Operation, X>> {
  static constexpr bool apart = true;
  static constexpr unsigned long long along =
      family_id<typename axis_of_operation<Operation>::type>;
};

template <class Steps>
inline constexpr norm_form norm_of_call = norm_form::none;
template <class Operation, class X>
  requires borrows_weights<Operation> && requires { typename Operation::word; }
inline constexpr norm_form norm_of_call<operation_steps<Operation, X>> =
    std::is_same_v<typename Operation::word, say::rms_norm>      ? norm_form::rms_norm
    : !std::is_same_v<typename Operation::word, say::layer_norm> ? norm_form::none
    : requires(const Operation& o) { o.get_weights().beta; }     ? norm_form::layer_norm
                                                             : norm_form::layer_norm_without_beta;

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
