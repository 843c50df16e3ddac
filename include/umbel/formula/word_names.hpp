// SPDX-License-Identifier: BSL-1.0
// The operations of formulas in pages and messages.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/functions.hpp>
#include <umbel/formula/graph.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

constexpr const char* name_of(word w) noexcept {
  if (is_function(w)) return entry_of(w).name;
  switch (w) {
    case word::argument:
      return "argument";
    case word::number:
      return "number";
    case word::position:
      return "position";
    case word::copy:
      return "copy";
    case word::add:
      return "add";
    case word::subtract:
      return "subtract";
    case word::multiply:
      return "multiply";
    case word::multiply_add:
      return "multiply and add";
    case word::divide:
      return "divide";
    case word::less:
    case word::less_or_equal:
    case word::equal:
    case word::not_equal:
      return "compare";
    case word::logical_not:
      return "not";
    case word::logical_and:
      return "and";
    case word::logical_or:
      return "or";
    case word::where:
      return "where";
    case word::hide:
      return "hide";
    case word::gather:
      return "gather";
    case word::add_to:
      return "add to";
    case word::contract:
      return "contraction";
    case word::project:
      return "projection";
    case word::softmax:
      return "softmax";
    case word::reduce:
      return "reduce";
    case word::concat:
      return "concat";
    case word::call:
      return "call";
    case word::log_softmax:
      return "log_softmax";
    case word::rotate:
      return "rotate";
    case word::layer:
      return "layer";
    case word::append:
      return "append";
    case word::place:
      return "place";
    case word::scatter:
      return "scatter";
    case word::layer_gradient:
      return "gradient of a layer";
    default:
      return "";
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
