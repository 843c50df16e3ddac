// SPDX-License-Identifier: BSL-1.0
// The form of an elementwise program of scores, read from the graph: a factor, additions,
// conditions that hide keys, and which of these are ranges of keys. The same ranges are found of
// weights that are zero outside of them. Not here: how the kernels get it (changed_scores.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/linear_form.hpp>
#include <umbel/formula/program.hpp>
#include <umbel/formula/schedule.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// The keys that a query sees.
struct range_of_keys {
  // Query i sees key j if i + low <= j <= i + high.
  double low = -1e9, high = 1e9;
  // Query i sees keys from first to last.
  key_bound first{0, -1e9, -1e9, false}, last{0, 1e9, 1e9, false};
  // Key j is seen if it is less than this operand's value, or not above it.
  place_of_operand length;
  bool length_is_last = false;

  constexpr bool has_length() const noexcept { return length.node >= 0; }

  constexpr bool is_window() const noexcept { return low > -1e9 || high < 1e9; }
  constexpr bool is_clamped() const noexcept { return first.known || last.known; }
  constexpr bool has_range() const noexcept { return is_window() || is_clamped() || has_length(); }

  // The range becomes one that also has the keys of `other`: its first ones, its last ones.
  constexpr void include(const range_of_keys& other) noexcept {
    include_first(other);
    include_last(other);
  }
  constexpr void include_first(const range_of_keys& other) noexcept {
    if ((other.low) < low) low = other.low;
    if (first != other.first) first = {0, -1e9, -1e9, false};
  }
  constexpr void include_last(const range_of_keys& other) noexcept {
    if (other.high > high) high = other.high;
    if (last != other.last) last = {0, 1e9, 1e9, false};
    if (length.node != other.length.node || length.j != other.length.j ||
        length_is_last != other.length_is_last)
      length = {};
  }
};

template <class T>
struct score_form : range_of_keys {
  static constexpr std::size_t most = 8;
  T factor{1};     // of scores
  int known = -1;  // general: the input node, the scores or their product with `factor`
  bool general = false, too_many = false;
  place_of_operand value;  // general: f(score) without hiding
  place_of_operand added[most];
  std::size_t additions = 0;
  place_of_operand hidden[most];
  std::size_t hides = 0;
};

template <class T, std::size_t Nodes>
struct score_reader {
  const schedule<T, Nodes>& p;
  const attention_parts& parts;
  score_form<T> form;
  // Does it read values outside of a range, rather than scores? Those of weights, in which a
  // product with 0 is 0, also that of infinity or NaN?
  bool outside = false, of_weights = false;

  constexpr bool is_number(int n) const { return p.at(n).what == word::number; }
  constexpr bool depends(int n) const {  // on the scores
    if (n == parts.scores) return true;
    if (!is_elementwise(p.at(n).what)) return false;
    for (std::size_t j = 0; j < p.at(n).operands; ++j)
      if (depends(p.at(n).from[j].node)) return true;
    return false;
  }

  constexpr linear_form linear(int n) const {
    return linear_form_of(p, n, [this](unsigned long long family) -> linear_form {
      if (family == parts.key) return {1, 0, 0, true};
      if (family == parts.query) return {0, 1, 0, true};
      return {};
    });
  }
  // The keys that a query sees, if that is a range.
  struct seen_keys {
    key_bound first, last;
    bool ok = false;
  };
  // Keys are hidden if left < right, or left <= right.
  static constexpr seen_keys seen_unless(const linear_form& left, const linear_form& right,
                                         bool or_equal) {
    const double of_key = left.key - right.key, of_query = left.query - right.query;
    const double constant = left.constant - right.constant;
    const linear_form &clamped = left.is_clamped() ? left : right,
                      &other = left.is_clamped() ? right : left;
    const bool is_first = of_key > 0, is_number = of_query == 0;
    if (!left.ok || !right.ok || !left.exact || !right.exact || of_key == 0 ||
        (!is_number && of_query != -of_key) || other.is_clamped())
      return {};
    // Only a clamped position of the query and that of the key.
    if (clamped.is_clamped() &&
        (clamped.key != 0 || clamped.query != 1 || other.key != 1 || other.query != 0))
      return {};
    // The nearest whole number that is seen; the next one if it is hidden itself.
    const auto nearest = [=](double number) {
      const auto whole = static_cast<double>(static_cast<long long>(number));
      const double down = whole > number ? whole - 1 : whole;
      const double up = whole < number ? whole + 1 : whole;
      return is_first ? (or_equal ? down + 1 : up) : (or_equal ? up - 1 : down);
    };
    key_bound bound;
    bound.known = true;
    bound.offset = nearest(-constant / of_key);
    if (is_number) bound.least = bound.most = bound.offset;
    if (clamped.least > -1e9) bound.least = nearest(clamped.least - other.constant);
    if (clamped.most < 1e9) bound.most = nearest(clamped.most - other.constant);
    return {is_first ? bound : key_bound{}, is_first ? key_bound{} : bound, true};
  }
  static constexpr seen_keys both(const seen_keys& a, const seen_keys& b) {
    const auto nearer = [](const key_bound& x, const key_bound& y, bool greater) {
      return !x.known ? y : !y.known ? x : one_of(x, y, greater);
    };
    const key_bound first = nearer(a.first, b.first, true), last = nearer(a.last, b.last, false);
    return {first, last,
            a.ok && b.ok && first.known == (a.first.known || b.first.known) &&
                last.known == (a.last.known || b.last.known)};
  }
  static constexpr seen_keys any(const seen_keys& a, const seen_keys& b) {
    if (!a.ok || !b.ok || a.first.known != b.first.known || a.last.known != b.last.known ||
        a.first.known == a.last.known)
      return {};
    const bool is_first = a.first.known;
    const key_bound bound =
        is_first ? one_of(a.first, b.first, false) : one_of(a.last, b.last, true);
    return {is_first ? bound : key_bound{}, is_first ? key_bound{} : bound, bound.known};
  }
  // Condition n hides keys, or its opposite does.
  constexpr seen_keys seen_unless(int n, bool opposite) const {
    const node_of_graph<T>& node = p.at(n);
    if (p.stored[n]) return {};
    const auto operand = [&](std::size_t j) { return node.from[j].node; };
    if (node.what == word::logical_not) return seen_unless(operand(0), !opposite);
    if (node.what == word::logical_and || node.what == word::logical_or) {
      const seen_keys a = seen_unless(operand(0), opposite), b = seen_unless(operand(1), opposite);
      return (node.what == word::logical_or) != opposite ? both(a, b) : any(a, b);
    }
    if (node.what == (opposite ? word::equal : word::not_equal)) {
      const linear_form a = linear(operand(0)), b = linear(operand(1));
      return both(seen_unless(a, b, false), seen_unless(b, a, false));
    }
    if (node.what != word::less && node.what != word::less_or_equal) return {};
    // !(a < b) is b <= a
    const int left = operand(opposite ? 1 : 0), right = operand(opposite ? 0 : 1);
    const bool or_equal = (node.what == word::less_or_equal) != opposite;
    const linear_form a = linear(left);
    if (p.at(right).what != word::absolute) return seen_unless(a, linear(right), or_equal);
    const linear_form b = linear(p.at(right).from[0].node);
    return both(seen_unless(a, b, or_equal), seen_unless(a, -b, or_equal));
  }
  constexpr bool add(const seen_keys& seen) {
    const auto add_bound = [](const key_bound& bound, key_bound& to, double& distance,
                              bool greater) {
      if (bound.known && !bound.is_clamped()) {
        if ((bound.offset > distance) == greater) distance = bound.offset;
      } else if (bound.known) {
        const key_bound nearer = to.known ? one_of(bound, to, greater) : bound;
        if (!nearer.known) return false;
        to = nearer;
      }
      return true;
    };
    return seen.ok && add_bound(seen.first, form.first, form.low, true) &&
           add_bound(seen.last, form.last, form.high, false);
  }
  // Is the condition on the key and a number that all keys and queries share? NaN hides no key by
  // its range.
  constexpr bool add_length(place_of_operand number, int of_key, bool or_equal) {
    const node_of_graph<T>& key = p.at(of_key);
    const operand& of = p.at(number.node).from[number.j];
    if (form.has_length() || key.what != word::position || key.family != parts.key ||
        p.at(of.node).what != word::argument || of.axes.size_of(parts.key) != 1 ||
        of.axes.size_of(parts.query) != 1)
      return false;
    form.length = number;
    form.length_is_last = !or_equal;
    return true;
  }
  // Adds condition n, or its opposite, and tells if it hides all keys outside of a range.
  constexpr bool add_range(int n, bool opposite) {
    const node_of_graph<T>& node = p.at(n);
    if (p.stored[n]) return false;
    if (node.what == word::logical_not) return add_range(node.from[0].node, !opposite);
    if (node.what == (opposite ? word::logical_and : word::logical_or)) {
      const bool both[] = {add_range(node.from[0].node, opposite),
                           add_range(node.from[1].node, opposite)};
      return both[0] && both[1];
    }
    if (add(seen_unless(n, opposite))) return true;
    if (node.what != word::less && node.what != word::less_or_equal) return false;
    const std::size_t left = opposite ? 1 : 0;
    return (outside || !opposite) && add_length({n, left}, node.from[1 - left].node,
                                                (node.what == word::less_or_equal) != opposite);
  }
  constexpr void hide(place_of_operand at) {
    const int n = p.at(at.node).from[at.j].node;
    if (p.at(n).what == word::logical_or) {
      hide({n, 0});
      hide({n, 1});
    } else if (!add_range(n, false)) {
      if (form.hides == form.most)
        form.too_many = true;
      else
        form.hidden[form.hides++] = at;
    }
  }

  constexpr bool is(int n, T value) const { return is_number(n) && p.at(n).number == value; }
  // Adds the ranges outside of which this operand is `value`: of selections by positions and of
  // programs of these. A zero may be -0, which changes no sum that begins with 0.
  constexpr void read_outside(const operand& from, T value) {
    const node_of_graph<T>& node = p.at(from.node);
    constexpr T infinity = simd::math_constants<T>::infinity;
    const bool zero = value == T{0}, hides = value == -infinity;
    const auto operand_of = [&](std::size_t j) { return node.from[j].node; };
    if (!p.reads_as_is(from)) return;
    if (node.condition && zero) {  // 1 or 0
      add_range(from.node, true);
    } else if (node.what == word::where) {
      if (is(operand_of(1), value)) add_range(operand_of(0), false);
      if (is(operand_of(2), value)) add_range(operand_of(0), true);
      read_outside_both(node.from[1], node.from[2], value);
    } else if (node.what == word::maximum || node.what == word::minimum ||
               (zero && (node.what == word::add || node.what == word::subtract))) {
      read_outside_both(node.from[0], node.from[1], value);
    } else if (node.what == word::hide && hides) {
      add_range(operand_of(1), false);
      read_outside(node.from[0], value);
    } else if (node.what == word::multiply) {
      read_outside_product(node, value);
    } else if (node.what == word::multiply_add && zero) {
      score_reader product = *this;
      product.read_outside_product(node, value);
      if (!is(operand_of(2), value)) {
        read_outside(node.from[2], value);
        product.form.include(form);
      }
      form = product.form;
    } else if (node.what == word::divide && (zero || hides)) {
      if ((zero && of_weights) || is_factor(operand_of(1), hides))
        read_outside(node.from[0], value);
    } else if (node.what == word::subtract && hides) {
      score_reader inside{p, parts, {}, true, of_weights};
      inside.read_outside(node.from[0], value);
      if (of_weights || is_number_or_largest(operand_of(1), node.from[0], inside.sees_itself()))
        read_outside(node.from[0], value);
    } else if (node.what == word::add && hides) {
      for (std::size_t j = 0; j < 2; ++j)
        if (of_weights || is_finite(operand_of(1 - j))) read_outside(node.from[j], value);
    } else if (node.what == word::softmax && node.family == parts.key && zero) {
      read_outside(node.from[0], -infinity);
    } else if (is_function(node.what) && node.operands == 1 && zero) {
      if (vanishes(node.what)) read_outside(node.from[0], -infinity);
      if (keeps_zero(node.what)) read_outside(node.from[0], value);
    }
  }
  // The range outside of which both are this value.
  constexpr void read_outside_both(const operand& a, const operand& b, T value) {
    if (is(a.node, value)) return read_outside(b, value);
    if (is(b.node, value)) return read_outside(a, value);
    score_reader of_b = *this;
    of_b.read_outside(b, value);
    read_outside(a, value);
    form.include(of_b.form);
  }
  // The same for the product of the first two operands.
  constexpr void read_outside_product(const node_of_graph<T>& node, T value) {
    const bool zero = value == T{0}, hides = value == -simd::math_constants<T>::infinity;
    for (std::size_t j = 0; j < 2 && (zero || hides); ++j)
      if ((zero && of_weights) || is_factor(node.from[1 - j].node, hides) ||
          (j == 0 && zero && is_square(node)))
        read_outside(node.from[j], value);
  }
  constexpr bool is_square(const node_of_graph<T>& node) const {
    return node.from[0].node == node.from[1].node && p.reads_as_is(node.from[1]);
  }
  // Does query i see key i, whatever the arguments are?
  constexpr bool sees_itself() const {
    const axis_list& axes = p.at(parts.weights).axes;
    return form.is_window() && !form.is_clamped() && !form.has_length() && form.low <= 0 &&
           form.high >= 0 && axes.size_of(parts.query) <= axes.size_of(parts.key);
  }
  // -infinity minus n is -infinity, or all differences of its row are NaN: is n a finite number, or
  // at least the largest of a row of x in which some key is seen?
  constexpr bool is_number_or_largest(int n, const operand& x, bool some_key_is_seen) const {
    const node_of_graph<T>& node = p.at(n);
    if (is_number(n)) return is_finite(n);
    if (node.what == word::maximum && some_key_is_seen)
      return is_number_or_largest(node.from[0].node, x, true) ||
             is_number_or_largest(node.from[1].node, x, true);
    return some_key_is_seen && node.what == word::reduce && node.reduces_by == reduction::max &&
           node.sums == 1 && node.summed[0] == parts.key && node.from[0] == x;
  }
  constexpr bool is_finite(int n) const { return is(n, T{0}) || is_factor(n, false); }
  // A number other than 0, infinity and NaN.
  constexpr bool is_factor(int n, bool positive) const {
    if (!is_number(n)) return false;
    const T number = p.at(n).number, most = simd::math_constants<T>::infinity;
    return (number > 0 && number < most) || (!positive && (number) < 0 && number > -most);
  }

  // at: the operand whose value is f(scores).
  constexpr void read(place_of_operand at) {
    const int n = p.at(at.node).from[at.j].node;
    const node_of_graph<T>& node = p.at(n);
    const auto from = [&](std::size_t j) { return node.from[j].node; };
    const auto scaled = [&](int scores, int by, bool inverse) {
      if (scores != parts.scores || !is_number(by)) return false;
      form.factor = inverse ? T{1} / p.at(by).number : p.at(by).number;
      return true;
    };
    if (n == parts.scores) return;
    if (node.what == word::hide) {
      const score_form<T> before = form;
      if (!depends(from(1))) hide({n, 1});
      if (!depends(from(1)) && !form.too_many) return read({n, 0});
      form = before;
      return all_of_it(at);
    }
    if (node.what == word::multiply &&
        (scaled(from(0), from(1), false) || scaled(from(1), from(0), false)))
      return;
    if (node.what == word::divide && scaled(from(0), from(1), true)) return;
    if (node.what == word::multiply_add && !depends(from(2)) &&
        (scaled(from(0), from(1), false) || scaled(from(1), from(0), false))) {
      if (form.additions == form.most) return all_of_it(at);
      form.added[form.additions++] = {n, 2};
      return;
    }
    if (node.what == word::add && depends(from(0)) != depends(from(1))) {
      const std::size_t b = depends(from(0)) ? 1 : 0;
      read({n, 1 - b});
      if (form.general || form.additions == form.most) return all_of_it(at);
      form.added[form.additions++] = {n, b};
      return;
    }
    all_of_it(at);
  }
  constexpr void all_of_it(place_of_operand at) {
    form.general = true;
    form.additions = 0;
    form.value = at;
    form.known = parts.scores;
    int reader = -1;
    std::size_t readers = 0;
    for (int n = 0; n < p.g.count; ++n)
      for (std::size_t j = 0; p.root[n] != nowhere && j < p.at(n).operands; ++j)
        if (p.at(n).from[j].node == parts.scores) ++readers, reader = n;
    T factor{1};
    if (readers == 1 && p.at(reader).what == word::multiply && is_elementwise(p.at(reader).what))
      for (std::size_t j = 0; j < 2; ++j)
        if (is_number(p.at(reader).from[j].node)) {
          factor = p.at(p.at(reader).from[j].node).number;
          form.known = reader;
        }
    // The kernels multiply it by log2(e).
    form.factor = factor * static_cast<T>(0.693147180559945309417);
  }
};

template <class T, std::size_t Nodes>
constexpr score_form<T> read_scores(const schedule<T, Nodes>& p, const attention_parts& parts) {
  score_reader<T, Nodes> reader{p, parts, {}};
  reader.read({parts.weights, 0});
  return reader.form;
}
// The keys for which this operand may have a different value, if that is a range.
template <class T, std::size_t Nodes>
constexpr score_form<T> read_range(const schedule<T, Nodes>& p, const operand& from, T value,
                                   const attention_parts& parts) {
  score_reader<T, Nodes> reader{p, parts, {}, true};
  reader.read_outside(from, value);
  return reader.form;
}
// The keys with weights other than zero, if that is a range. context: their product with values.
template <class T, std::size_t Nodes>
constexpr score_form<T> read_weights(const schedule<T, Nodes>& p, int context,
                                     const attention_parts& parts) {
  score_reader<T, Nodes> reader{p, parts, {}, true, true};
  const operand* const from = p.at(context).from;
  reader.read_outside(from[from[0].node != parts.weights], T{0});
  return reader.form;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
