// SPDX-License-Identifier: BSL-1.0
// The operations of formulas in pages and messages.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/graph.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

constexpr const char* name_of(word w) noexcept {
  constexpr const char* names[] = {"",
                                   "argument",
                                   "number",
                                   "position",
                                   "copy",
                                   "add",
                                   "subtract",
                                   "multiply",
                                   "multiply and add",
                                   "divide",
                                   "negate",
                                   "exp",
                                   "log",
                                   "sqrt",
                                   "rsqrt",
                                   "tanh",
                                   "sigmoid",
                                   "abs",
                                   "gelu_exact",
                                   "gelu_tanh",
                                   "silu",
                                   "relu",
                                   "slope of gelu_exact",
                                   "slope of gelu_tanh",
                                   "maximum",
                                   "minimum",
                                   "compare",
                                   "compare",
                                   "compare",
                                   "compare",
                                   "not",
                                   "and",
                                   "or",
                                   "where",
                                   "hide",
                                   "add to",
                                   "contraction",
                                   "projection",
                                   "softmax",
                                   "reduce",
                                   "concat",
                                   "call",
                                   "log_softmax",
                                   "lookup",
                                   "rotate",
                                   "layer",
                                   "append",
                                   "place",
                                   "add rows",
                                   "gradient of a layer"};
  static_assert(sizeof(names) / sizeof(names[0]) ==
                static_cast<std::size_t>(word::layer_gradient) + 1);
  return names[static_cast<std::size_t>(w)];
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
