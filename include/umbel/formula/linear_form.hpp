// SPDX-License-Identifier: BSL-1.0
// Numbers of a formula as sums of positions: a key + b query + c, perhaps between two numbers.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/graph.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

struct linear_form {
  double key = 0, query = 0, constant = 0;
  bool ok = false;
  bool exact = true;  // Is it computed without rounding?
  double least = -1e9, most = 1e9;

  // Positions times and plus eighths are exact.
  static constexpr bool is_exact(double number) noexcept {
    return number <= 1e8 && number >= -1e8 &&
           static_cast<double>(static_cast<long long>(number * 8)) == number * 8;
  }
  static constexpr linear_form of_number(double number) noexcept {
    // Not of infinity: times 0 it is NaN, which clang refuses in a constant expression.
    const bool ok = number <= 1e9 && number >= -1e9;
    return {0, 0, ok ? number : 0, ok, is_exact(number)};
  }

  constexpr bool is_clamped() const noexcept { return least > -1e9 || most < 1e9; }
  constexpr bool is_number() const noexcept { return ok && key == 0 && query == 0; }
  constexpr linear_form operator-() const noexcept {
    if (is_clamped()) return {};
    return {-key, -query, -constant, ok, exact};
  }
  constexpr linear_form operator+(const linear_form& b) const noexcept {
    if (!is_clamped() && b.is_clamped()) return b + *this;
    if (is_clamped() && !b.is_number()) return {};
    return {key + b.key,
            query + b.query,
            constant + b.constant,
            ok && b.ok,
            exact && b.exact && is_exact(constant + b.constant),
            least > -1e9 ? least + b.constant : least,
            most < 1e9 ? most + b.constant : most};
  }
  constexpr linear_form operator*(const linear_form& b) const noexcept {
    if (is_number() && !b.is_number()) return b * *this;
    if (!b.is_number() || is_clamped()) return {};
    const double by = b.constant;
    return {
        key * by, query * by, constant * by, ok,
        exact && b.exact && is_exact(key * by) && is_exact(query * by) && is_exact(constant * by)};
  }
  constexpr linear_form at_least(const linear_form& number) const noexcept {
    return bounded(number, true);
  }
  constexpr linear_form at_most(const linear_form& number) const noexcept {
    return bounded(number, false);
  }

 private:
  constexpr linear_form bounded(const linear_form& number, bool from_below) const noexcept {
    if (is_number() && !number.is_number()) return number.bounded(*this, from_below);
    if (!number.is_number() || is_number()) return {};
    const auto bound = [&](double x) {
      return (number.constant > x) == from_below ? number.constant : x;
    };
    return {key, query, constant, ok, exact && number.exact, bound(least), bound(most)};
  }
};

// Of node n of a graph or a schedule. form_of_position(family): the form of an axis' position.
template <class Nodes, class Positions>
constexpr linear_form linear_form_of(const Nodes& nodes, int n, const Positions& form_of_position) {
  const auto& node = nodes.at(n);
  const auto operand = [&](std::size_t j) {
    return linear_form_of(nodes, node.from[j].node, form_of_position);
  };
  switch (node.what) {
    case word::number:
      return linear_form::of_number(static_cast<double>(node.number));
    case word::position:
      return form_of_position(node.family);
    case word::negate:
      return -operand(0);
    case word::add:
      return operand(0) + operand(1);
    case word::subtract:
      return operand(0) + -operand(1);
    case word::multiply:
      return operand(0) * operand(1);
    case word::multiply_add:
      return operand(0) * operand(1) + operand(2);
    case word::maximum:
      return operand(0).at_least(operand(1));
    case word::minimum:
      return operand(0).at_most(operand(1));
    case word::clamp:
      return operand(0).at_least(operand(1)).at_most(operand(2));
    default:
      return {};
  }
}

// Position i + offset between two numbers, or the number if they are equal.
struct key_bound {
  double offset = 0, least = -1e9, most = 1e9;
  bool known = false;

  constexpr bool is_number() const noexcept { return least == most; }
  constexpr bool is_clamped() const noexcept { return least > -1e9 || most < 1e9; }
  constexpr double at(double query) const noexcept {
    const double free = query + offset;
    return free < least ? least : free > most ? most : free;
  }
  friend constexpr bool operator==(const key_bound&, const key_bound&) = default;
};
// The greater or the lesser of two bounds, if that is a bound again.
constexpr key_bound one_of(const key_bound& a, const key_bound& b, bool greater) noexcept {
  const bool has_numbers = a.is_number() || b.is_number();
  if (!has_numbers && a.offset != b.offset && (a.is_clamped() || b.is_clamped())) return {};
  const auto choose = [greater](double x, double y) { return (x > y) == greater ? x : y; };
  const double offset = !has_numbers    ? choose(a.offset, b.offset)
                        : a.is_number() ? b.offset
                                        : a.offset;
  return {offset, choose(a.least, b.least), choose(a.most, b.most), true};
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
