// SPDX-License-Identifier: BSL-1.0
// A formula's graph by positions: how each node reads positions of the sequence, and the scores of
// keys later than the query, as far as the formula determines them.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/linear_form.hpp>
#include <umbel/formula/program.hpp>
#include <umbel/formula/schedule.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

enum class role : unsigned char { other, row, fresh, kept };

enum class not_by_position : unsigned char {
  nothing,
  keeps_nothing,       // no keys
  mixes,               // goes along rows, or along keys without scores
  part_of_rows,        // reads some of the rows, or under different axes
  padding,             // pads the sequence with other numbers or at its end, or reads more of it
  sees_later,          // scores of later keys are not hidden
  counts,              // divides by the number of keys, or numbers them with a different axis
  several_rows,        // has two axes of rows
  layer,               // a layer or function that may see other positions
  function_of_scores,  // a separate function of kept keys
  gives_keys,          // a result with keys
  of_its_size          // is a different formula for a different number of positions
};

// The value of an element of scores if the key is later than the query.
template <class T>
struct later_value {
  bool known = false;  // the same whatever is stored there
  T value{};
};

// Can a function be computed in constant expressions for any finite numbers?
constexpr bool is_constant_everywhere(word w) noexcept {
  return is_function(w) && w != word::log && w != word::sqrt && w != word::rsqrt &&
         w != word::gelu_exact_slope && w != word::gelu_tanh_slope && w != word::pow &&
         w != word::remainder;
}

template <class T, std::size_t Nodes>
struct later_values {
  graph<T, Nodes> g;  // its products and sums are joined
  std::size_t capacity = 0;
  bool in_integers = false;
  unsigned long long rows = 0, queries = 0, keys = 0;  // families; queries: of arguments
  role of[Nodes][most_axes]{};
  bool keeps[Nodes]{};
  bool as_values[Nodes]{};                  // is it summed along its keys?
  bool reads_kept[Nodes][most_operands]{};  // is this operand's fresh axis the kept one?
  std::size_t delay[Nodes]{};  // of a sequence padded at its start, kept as it is: those positions
  bool scans[Nodes]{};         // does it add up positions of the sequence?
  later_value<T> later[Nodes]{};
  int guarded[Nodes]{};  // operand that becomes `guard` at later keys, or -1
  T guard[Nodes]{};
  not_by_position why = not_by_position::nothing;
  int where = 0;  // that node

  constexpr const node_of_graph<T>& at(int n) const { return g.nodes[n]; }
  constexpr void refuse(not_by_position reason, int n) {
    if (why == not_by_position::nothing) why = reason, where = n;
  }
  constexpr bool is_part(const node_of_graph<T>& node) const {
    return node.what == word::argument && node.slot >= g.arguments;
  }
  constexpr bool has(int n, role r) const {
    for (std::size_t i = 0; i < at(n).axes.rank; ++i)
      if (of[n][i] == r) return true;
    return false;
  }
  constexpr std::size_t count_of(int n, role r) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < at(n).axes.rank; ++i) count += of[n][i] == r;
    return count;
  }
  constexpr role role_of(int n, unsigned long long family) const {
    const std::size_t i = at(n).axes.position(family);
    return i == npos ? role::other : of[n][i];
  }

  // The axis of from's node that contains its axis i, or npos.
  constexpr std::size_t axis_of_node(const operand& from, std::size_t i) const {
    const axis_list& node_axes = at(from.node).axes;
    const std::size_t size = from.axes.size[i], stride = from.axes.stride[i];
    const std::size_t same = node_axes.position(from.axes.family[i]);
    if (same != npos && node_axes.size[same] == size && node_axes.stride[same] == stride)
      return same;
    std::size_t found = node_axes.find(size, stride);
    if (found != npos || size == 1 || stride == 0) return found;
    for (std::size_t a = 0; a < node_axes.rank; ++a)
      if (node_axes.size[a] != 1 && node_axes.stride[a] <= stride &&
          (found == npos || node_axes.stride[a] > node_axes.stride[found]))
        found = a;
    return found;
  }
  // Is it the axis of positions that an operand reads a padded sequence by?
  constexpr bool is_row_of_padded(const operand& from, std::size_t i) const {
    const node_of_graph<T>& padded = at(from.node);
    return from.axes.family[i] != keys && from.axes.size[i] == capacity &&
           from.axes.stride[i] == padded.axes.stride_of(padded.family);
  }
  // Does it read each position with earlier ones only? Elements of a position and all before it are
  // at offsets from 0 to that position's last.
  constexpr bool reads_earlier_positions(const operand& from) const {
    const axis_list& axes = at(from.node).axes;
    const std::size_t along = axes.position(at(from.node).family), step = axes.stride[along];
    const std::size_t whole = axes.size[along] * step;
    std::size_t last = from.offset, rows_read = 0;
    for (std::size_t i = 0; i < from.axes.rank; ++i) {
      const std::size_t size = from.axes.size[i], stride = from.axes.stride[i];
      if (is_row_of_padded(from, i))
        ++rows_read;
      else if (stride < whole)
        last += (size - 1) * stride;
      else if (axes.find(size, stride) >= along)
        return false;
    }
    return rows_read == 1 && last < (delay[from.node] + 1) * step;
  }
  constexpr role read_as(int n, std::size_t j, std::size_t i) const {
    const operand& from = at(n).from[j];
    if (delay[from.node] != 0) return is_row_of_padded(from, i) ? role::row : role::other;
    const std::size_t a = axis_of_node(from, i);
    if (a == npos) return role::other;
    const role node_role = of[from.node][a];
    if (node_role == role::other || node_role == role::kept) return node_role;
    if (from.axes.family[i] != keys) return role::row;
    return reads_kept[n][j] ? role::kept : role::fresh;
  }
  constexpr role read_as(int n, std::size_t j, unsigned long long family) const {
    const std::size_t i = at(n).from[j].axes.position(family);
    return i == npos ? role::other : read_as(n, j, i);
  }
  constexpr bool reads(int n, std::size_t j, role r) const {
    for (std::size_t i = 0; i < at(n).from[j].axes.rank; ++i)
      if (read_as(n, j, i) == r) return true;
    return false;
  }
  constexpr bool reads(int n, role r) const {
    for (std::size_t j = 0; j < at(n).operands; ++j)
      if (reads(n, j, r)) return true;
    return false;
  }

  // Are axes of positions read completely, from the start?
  constexpr bool reads_all_positions(const operand& from) const {
    if (delay[from.node] != 0) return reads_earlier_positions(from);
    const axis_list& node_axes = at(from.node).axes;
    bool is_read[most_axes]{};
    for (std::size_t i = 0; i < from.axes.rank; ++i) {
      const std::size_t a = axis_of_node(from, i);
      if (a == npos || of[from.node][a] == role::other) continue;
      if (from.axes.size[i] != node_axes.size[a] || from.axes.stride[i] != node_axes.stride[a])
        return false;
      is_read[a] = true;
    }
    for (std::size_t a = 0; a < node_axes.rank; ++a)
      if (of[from.node][a] != role::other && !is_read[a]) return false;
    return first_position_is_read(from);
  }
  constexpr bool first_position_is_read(const operand& from) const {
    const axis_list& node_axes = at(from.node).axes;
    for (std::size_t a = 0; a < node_axes.rank; ++a)
      if (of[from.node][a] != role::other &&
          from.offset / node_axes.stride[a] % node_axes.size[a] != 0)
        return false;
    return true;
  }

  constexpr bool goes_along(const node_of_graph<T>& node, unsigned long long family) const {
    for (std::size_t i = 0; i < node.sums; ++i)
      if (node.summed[i] == family) return true;
    return node.what >= word::contract && node.family == family;
  }
  static constexpr bool has_function(word w) {
    return w == word::concat || w == word::call || w == word::log_softmax || w == word::rotate ||
           w == word::layer;
  }

  constexpr bool is_row(unsigned long long family) const {
    if (family == rows || family == queries) return true;
    for (int n = 0; n < g.count; ++n)
      for (std::size_t j = 0; j < at(n).operands; ++j)
        for (std::size_t i = 0; i < at(n).from[j].axes.rank; ++i)
          if (at(n).from[j].axes.family[i] == family && read_as(n, j, i) == role::row) return true;
    return false;
  }

  constexpr linear_form form_of(int n) const {
    return linear_form_of(*this, n, [this](unsigned long long family) -> linear_form {
      if (family == keys) return {1, 0, 0, true};
      return {0, 1, 0, is_row(family)};
    });
  }
  // The value of a comparison of positions for every key after the query, at distances 1, 2, ...
  constexpr later_value<T> compared_later(const node_of_graph<T>& node) const {
    const linear_form a = form_of(node.from[0].node), b = form_of(node.from[1].node);
    const double slope = a.key - b.key, constant = a.constant - b.constant;
    if (!a.ok || !b.ok || a.is_clamped() || b.is_clamped() || slope + (a.query - b.query) != 0)
      return {};
    const double nearest = slope + constant;  // a - b at a distance of 1
    if (node.what == word::less) {
      if (slope <= 0 && nearest < 0) return {true, T{1}};
      if (slope >= 0 && nearest >= 0) return {true, T{0}};
    } else if (node.what == word::less_or_equal) {
      if (slope <= 0 && nearest <= 0) return {true, T{1}};
      if (slope >= 0 && nearest > 0) return {true, T{0}};
    } else if ((slope >= 0 && nearest > 0) || (slope <= 0 && nearest < 0)) {
      return {true, node.what == word::not_equal ? T{1} : T{0}};
    }
    return {};
  }

  static constexpr bool is_infinite(const later_value<T>& x) {
    return x.known && (x.value == simd::math_constants<T>::infinity ||
                       x.value == -simd::math_constants<T>::infinity);
  }
  static constexpr bool is(const later_value<T>& x, T value) { return x.known && x.value == value; }
  template <word W>
  static constexpr void compute_function(word w, const T (&from)[3], later_value<T>& found) {
    if constexpr (is_constant_everywhere(W)) {
      using function = typename function_of<W>::type;
      if (w != W) return;
      if constexpr (requires { function::of(T{}, T{}, T{}); })
        found = {true, function::of(from[0], from[1], from[2])};
      else if constexpr (requires { function::of(T{}, T{}); })
        found = {true, function::of(from[0], from[1])};
      else
        found = {true, function::of(from[0])};
    }
  }
  template <std::size_t... I>
  static constexpr later_value<T> computed(word w, const T (&from)[3], std::index_sequence<I...>) {
    later_value<T> found;
    (compute_function<static_cast<word>(static_cast<std::size_t>(first_function) + I)>(w, from,
                                                                                       found),
     ...);
    return found;
  }
  // The value of an elementwise node at a later key. Unknown values are assumed finite: infinity or
  // NaN there would spoil earlier rows of the whole pass as well. In integers only 0 is exact.
  constexpr later_value<T> elementwise_later(int n) const {
    const node_of_graph<T>& node = at(n);
    const auto from = [&](std::size_t j) { return later[node.from[j].node]; };
    const later_value<T> a = from(0), b = node.operands > 1 ? from(1) : later_value<T>{};
    switch (node.what) {
      case word::less:
      case word::less_or_equal:
      case word::equal:
      case word::not_equal:
        return compared_later(node);
      case word::logical_not:
        return {a.known, a.value != 0 ? T{0} : T{1}};
      case word::logical_or:
        if ((a.known && a.value != 0) || (b.known && b.value != 0)) return {true, T{1}};
        return {a.known && b.known, T{0}};
      case word::logical_and:
        if (is(a, 0) || is(b, 0)) return {true, T{0}};
        return {a.known && b.known, T{1}};
      case word::hide:
        if (b.known && b.value != 0) return {true, -simd::math_constants<T>::infinity};
        if (b.known || is(a, -simd::math_constants<T>::infinity)) return a;
        return {};
      case word::gather:
        return {};
      case word::where:
        if (a.known) return from(a.value != 0 ? 1 : 2);
        if (b.known && is(from(2), b.value)) return b;
        return {};
      case word::multiply_add:
        if (is(a, 0) || is(b, 0)) return from(2);
        return is_infinite(from(2)) ? from(2) : later_value<T>{};
      case word::multiply:
        if (is(a, 0) || is(b, 0)) return {true, T{0}};
        break;
      case word::divide:
        if (is(a, 0)) return {true, T{0}};
        break;
      case word::add:
        if (is_infinite(a) && !is_infinite(b)) return a;
        if (is_infinite(b) && !is_infinite(a)) return b;
        break;
      case word::subtract:
        if (is_infinite(a) && !is_infinite(b)) return a;
        break;
      default:
        break;
    }
    const later_value<T> c = node.operands > 2 ? from(2) : later_value<T>{};
    if (!a.known || (node.operands > 1 && !b.known) || (node.operands > 2 && !c.known)) return {};
    if (is_infinite(a) || is_infinite(b) || is_infinite(c)) {
      if (node.what == word::copy) return a;
      return {vanishes(node.what) && T{0} > a.value, T{0}};
    }
    if (node.what == word::copy) return a;
    if (node.what == word::add) return {true, number_of<word::add>(a.value, b.value)};
    if (node.what == word::subtract) return {true, number_of<word::subtract>(a.value, b.value)};
    if (node.what == word::multiply) return {true, number_of<word::multiply>(a.value, b.value)};
    return computed(node.what, {a.value, b.value, c.value},
                    std::make_index_sequence<function_count>{});
  }

  // Is its value at later keys independent of what is stored? Not for a product with 0.
  constexpr bool is_selected(int n) const {
    const node_of_graph<T>& node = at(n);
    const auto from = [&](std::size_t j) { return node.from[j].node; };
    if (node.what == word::softmax) return node.family == keys;
    if (node.what == word::hide) return later[from(1)].known && later[from(1)].value != 0;
    if (node.what != word::where || !later[from(0)].known) return false;
    return at(from(later[from(0)].value != 0 ? 1 : 2)).what == word::number;
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
