// SPDX-License-Identifier: BSL-1.0
// The form of an elementwise program of scores, read from the graph: a factor, additions,
// conditions that hide keys, and which of these are ranges of keys. The same ranges are found of
// weights that are zero outside of them. Not here: how the kernels get it (changed_scores.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/program.hpp>
#include <umbel/formula/schedule.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

template <class T>
struct score_form {
  static constexpr std::size_t most = 8;
  T factor{1};     // of scores
  int known = -1;  // general: the input node, the scores or their product with `factor`
  bool general = false, too_many = false;
  place_of_operand value;  // general: f(score) without hiding
  place_of_operand added[most];
  std::size_t additions = 0;
  place_of_operand hidden[most];
  std::size_t hides = 0;
  // Query i sees key j if i + low <= j <= i + high.
  double low = -1e9, high = 1e9;
  // Query i sees keys from first to last: i + offset between two numbers.
  struct bound {
    double offset = 0, least = -1e9, most = 1e9;
    bool known = false;

    constexpr double at(double query) const noexcept {
      const double free = query + offset;
      return free < least ? least : free > most ? most : free;
    }
  };
  bound first{0, -1e9, -1e9, false}, last{0, 1e9, 1e9, false};
  // Key j is seen if it is less than this operand's value, or not above it.
  place_of_operand length;
  bool length_is_last = false;

  constexpr bool has_length() const noexcept { return length.node >= 0; }

  constexpr bool is_window() const noexcept { return low > -1e9 || high < 1e9; }
  constexpr bool is_clamped() const noexcept { return first.known || last.known; }
  constexpr bool has_range() const noexcept { return is_window() || is_clamped() || has_length(); }
};

// a key + b query + c between two numbers, if a node has that form.
struct linear_form {
  double key = 0, query = 0, constant = 0;
  bool ok = false;
  double least = -1e9, most = 1e9;

  constexpr bool is_clamped() const noexcept { return least > -1e9 || most < 1e9; }
  constexpr bool is_number() const noexcept { return ok && key == 0 && query == 0; }
  constexpr linear_form plus(double number) const noexcept {
    return {key,
            query,
            constant + number,
            ok,
            least > -1e9 ? least + number : least,
            most < 1e9 ? most + number : most};
  }
  constexpr linear_form at_least(double number) const noexcept {
    return {
        key, query, constant, ok, number > least ? number : least, number > most ? number : most};
  }
  constexpr linear_form at_most(double number) const noexcept {
    return {
        key, query, constant, ok, number < least ? number : least, number < most ? number : most};
  }
};

template <class T, std::size_t Nodes>
struct score_reader {
  const schedule<T, Nodes>& p;
  const attention_parts& parts;
  score_form<T> form;
  bool zeros = false;  // does it read weights that are zero, rather than scores?

  constexpr bool is_number(int n) const { return p.at(n).what == word::number; }
  constexpr bool depends(int n) const {  // on the scores
    if (n == parts.scores) return true;
    if (!is_elementwise(p.at(n).what)) return false;
    for (std::size_t j = 0; j < p.at(n).operands; ++j)
      if (depends(p.at(n).from[j].node)) return true;
    return false;
  }

  constexpr linear_form linear(int n) const {
    const node_of_graph<T>& node = p.at(n);
    const auto operand = [&](std::size_t j) { return linear(node.from[j].node); };
    if (node.what == word::number) return {0, 0, static_cast<double>(node.number), true};
    if (node.what == word::position) {
      if (node.family == parts.key) return {1, 0, 0, true};
      if (node.family == parts.query) return {0, 1, 0, true};
      return {};
    }
    if (node.what == word::add || node.what == word::subtract) {
      const linear_form a = operand(0), b = operand(1);
      if (a.is_clamped() && b.is_number())
        return a.plus(node.what == word::add ? b.constant : -b.constant);
      if (b.is_clamped() && a.is_number() && node.what == word::add) return b.plus(a.constant);
      if (a.is_clamped() || b.is_clamped()) return {};
      const double sign = node.what == word::add ? 1 : -1;
      return {a.key + sign * b.key, a.query + sign * b.query, a.constant + sign * b.constant,
              a.ok && b.ok};
    }
    if (node.what == word::multiply || node.what == word::multiply_add) {
      const linear_form a = operand(0), b = operand(1);
      const linear_form& of = a.is_number() ? b : a;
      const double by = a.is_number() ? a.constant : b.constant;
      const linear_form plus =
          node.what == word::multiply ? linear_form{0, 0, 0, true} : operand(2);
      if ((!a.is_number() && !b.is_number()) || of.is_clamped() || plus.is_clamped()) return {};
      return {of.key * by + plus.key, of.query * by + plus.query, of.constant * by + plus.constant,
              of.ok && plus.ok};
    }
    if (node.what == word::maximum || node.what == word::minimum) {
      const linear_form a = operand(0), b = operand(1);
      const linear_form& of = a.is_number() ? b : a;
      const linear_form& number = a.is_number() ? a : b;
      if (!number.is_number() || of.key != 0 || of.query != 1) return {};
      return node.what == word::maximum ? of.at_least(number.constant)
                                        : of.at_most(number.constant);
    }
    if (node.what == word::clamp) {
      const linear_form of = operand(0), low = operand(1), high = operand(2);
      if (!low.is_number() || !high.is_number() || of.key != 0 || of.query != 1) return {};
      return of.at_least(low.constant).at_most(high.constant);
    }
    return {};
  }
  static constexpr bool is_whole(double number) {
    return number <= 1e9 && number >= -1e9 &&
           static_cast<double>(static_cast<long long>(number)) == number;
  }
  // Hides keys before a clamped position of the query, or after it.
  constexpr bool add_clamped(const linear_form& a, const linear_form& b, bool or_equal) {
    const linear_form &of = a.is_clamped() ? a : b, &key = a.is_clamped() ? b : a;
    auto& bound = a.is_clamped() ? form.last : form.first;
    if (!of.ok || of.key != 0 || of.query != 1 || !key.ok || key.is_clamped() || key.key != 1 ||
        key.query != 0 || bound.known)
      return false;
    const double nearer = or_equal ? 1 : 0;
    const linear_form to = of.plus(-key.constant + (a.is_clamped() ? -nearer : nearer));
    if (!is_whole(to.constant) || !is_whole(to.least) || !is_whole(to.most)) return false;
    bound = {to.constant, to.least, to.most, true};
    return true;
  }
  // Hides keys with key - query + c < 0, or <= 0, times sign. Whole numbers only.
  constexpr bool add_bound(const linear_form& f, bool or_equal) {
    if (!f.ok || !is_whole(f.constant)) return false;
    if (f.key == 1 && f.query == -1) {  // j - i + c < 0: seen from i - c on
      const double least = -f.constant + (or_equal ? 1 : 0);
      form.low = least > form.low ? least : form.low;
      return true;
    }
    if (f.key == -1 && f.query == 1) {  // i - j + c < 0: seen up to i + c
      const double most = f.constant - (or_equal ? 1 : 0);
      form.high = most < form.high ? most : form.high;
      return true;
    }
    return false;
  }
  // Hides keys with left < right, or <=, if that is on the distance of key and query.
  constexpr bool add_window(int left, int right, bool or_equal) {
    const linear_form a = linear(left), b = linear(right);
    if (a.is_clamped() || b.is_clamped()) return add_clamped(a, b, or_equal);
    return add_bound({a.key - b.key, a.query - b.query, a.constant - b.constant, a.ok && b.ok},
                     or_equal);
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
  // Adds condition n, or its opposite, if it hides all keys outside of a range.
  constexpr bool add_range(int n, bool opposite) {
    const node_of_graph<T>& node = p.at(n);
    if (p.stored[n]) return false;
    if (node.what == word::logical_not) return add_range(node.from[0].node, !opposite);
    if (node.what == (opposite ? word::logical_and : word::logical_or)) {
      const bool both[] = {add_range(node.from[0].node, opposite),
                           add_range(node.from[1].node, opposite)};
      return both[0] && both[1];
    }
    if (node.what != word::less && node.what != word::less_or_equal) return false;
    // !(a < b) is b <= a
    const std::size_t left = opposite ? 1 : 0;
    const bool or_equal = (node.what == word::less_or_equal) != opposite;
    return add_window(node.from[left].node, node.from[1 - left].node, or_equal) ||
           ((zeros || !opposite) && add_length({n, left}, node.from[1 - left].node, or_equal));
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

  constexpr bool is_zero(int n) const { return is_number(n) && p.at(n).number == T{0}; }
  // Adds the ranges outside of which this operand is zero: of selections by positions, multiplied
  // by anything, and of a softmax of hidden scores.
  constexpr void read_zeros(const operand& from) {
    const node_of_graph<T>& node = p.at(from.node);
    if (!p.reads_as_is(from)) return;
    if (node.condition) {  // 1 or 0
      add_range(from.node, true);
      return;
    }
    if (node.what == word::where && is_zero(node.from[1].node)) {
      add_range(node.from[0].node, false);
      read_zeros(node.from[2]);
    } else if (node.what == word::where && is_zero(node.from[2].node)) {
      add_range(node.from[0].node, true);
      read_zeros(node.from[1]);
    } else if (node.what == word::multiply) {
      read_zeros(node.from[0]);
      read_zeros(node.from[1]);
    } else if (node.what == word::divide && is_number(node.from[1].node)) {
      read_zeros(node.from[0]);
    } else if (node.what == word::softmax && node.family == parts.key) {
      const node_of_graph<T>* scores = &p.at(node.from[0].node);
      for (; scores->what == word::hide; scores = &p.at(scores->from[0].node))
        add_range(scores->from[1].node, false);
    }
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
// The keys with weights other than zero, if that is a range. context: their product with values.
template <class T, std::size_t Nodes>
constexpr score_form<T> read_weights(const schedule<T, Nodes>& p, int context,
                                     const attention_parts& parts) {
  score_reader<T, Nodes> reader{p, parts, {}, true};
  const operand* const from = p.at(context).from;
  reader.read_zeros(from[from[0].node != parts.weights]);
  return reader.form;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
