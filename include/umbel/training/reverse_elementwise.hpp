// SPDX-License-Identifier: BSL-1.0
// The gradients of a formula's elementwise operations, as nodes of the graph of the gradient. See
// reverse.hpp for all others.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/graph.hpp>
#include <umbel/training/reversed_graph.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

template <class T, std::size_t Nodes>
struct elementwise_reversal : reversed_graph<T, Nodes> {
  using base = reversed_graph<T, Nodes>;
  using base::add, base::g, base::varies, base::complete, base::give, base::number, base::times,
      base::whole;

  // Elements of `from`, at positions `at` along an axis: each is added to the one that it came
  // from.
  constexpr void scatter(const operand& from, unsigned long long family, const operand& d,
                         const operand& at) {
    node_of_graph<T> node;
    node.what = word::scatter;
    node.family = family;
    node.axes = without_strides(from.axes);
    node.from[0] = d;
    node.from[1] = at;
    node.operands = 2;
    give(from, whole(add(node)));
  }
  constexpr void reverse_gather(const node_of_graph<T>& node, const axis_list& over,
                                const operand& d) {
    operand table = node.from[0];
    table.axes.push(node.family, node.gathered, node.gathered_stride);
    axis_list of_positions;
    for (std::size_t i = 0; i < over.rank; ++i)
      if (g.differs_along(node.from[1], over.family[i]))
        of_positions.push(over.family[i], over.size[i], 0);
    scatter(table, node.family, d, this->elementwise(word::copy, of_positions, node.from[1]));
  }

  constexpr void reverse_elementwise(int n, const operand& d) {
    const node_of_graph<T> node = g.nodes[n];
    const axis_list over = node.open ? d.axes : node.axes;
    const operand a = node.from[0], b = node.from[1], c = node.from[2], y = whole(n);
    const auto make = [&, this](word what, const auto&... x) {
      return this->elementwise(what, over, x...);
    };
    const auto product = [&](const operand& x, const operand& z) { return times(over, x, z); };
    switch (node.what) {
      case word::copy:
        give(a, d);
        break;
      case word::add:
        give(a, d);
        give(b, d);
        break;
      case word::subtract:
        give(a, d);
        if (varies[b.node]) give(b, make(word::negate, d));
        break;
      case word::multiply:
        if (varies[a.node]) give(a, product(d, b));
        if (varies[b.node]) give(b, product(d, a));
        break;
      case word::divide:
        if (varies[a.node]) give(a, make(word::divide, d, b));
        if (varies[b.node]) give(b, make(word::negate, make(word::divide, product(d, y), b)));
        break;
      case word::negate:
        give(a, make(word::negate, d));
        break;
      case word::exp:
        give(a, product(d, y));
        break;
      case word::log:
        give(a, make(word::divide, d, a));
        break;
      case word::sqrt:
        give(a, make(word::divide, product(d, number(T(0.5))), y));
        break;
      case word::rsqrt:
        give(a, product(product(d, number(T(-0.5))), product(y, product(y, y))));
        break;
      case word::tanh:
        give(a, product(d, make(word::subtract, number(1), product(y, y))));
        break;
      case word::sigmoid:
        give(a, product(d, product(y, make(word::subtract, number(1), y))));
        break;
      case word::absolute:
        give(a, make(word::where, make(word::less, number(0), a), d,
                     make(word::where, make(word::less, a, number(0)), make(word::negate, d),
                          number(0))));
        break;
      case word::gelu_exact:
        give(a, product(d, make(word::gelu_exact_slope, a)));
        break;
      case word::gelu_tanh:
        give(a, product(d, make(word::gelu_tanh_slope, a)));
        break;
      case word::silu: {
        const operand s = make(word::sigmoid, a);
        give(a, product(d, make(word::add, s, product(y, make(word::subtract, number(1), s)))));
        break;
      }
      case word::relu:
        give(a, make(word::where, make(word::less, number(0), a), d, number(0)));
        break;
      case word::elu:
        give(a,
             make(word::where, make(word::less, number(0), a), d, product(d, make(word::exp, a))));
        break;
      case word::softplus:
        give(a, product(d, make(word::sigmoid, a)));
        break;
      case word::log_sigmoid:
        give(a, product(d, make(word::sigmoid, make(word::negate, a))));
        break;
      case word::sin:
        give(a, product(d, make(word::cos, a)));
        break;
      case word::cos:
        give(a, make(word::negate, product(d, make(word::sin, a))));
        break;
      case word::erf: {  // 2 / sqrt(pi) e^(-a^2)
        const operand power = make(word::exp, make(word::negate, product(a, a)));
        give(a, product(d, product(power, number(static_cast<T>(1.1283791670955126)))));
        break;
      }
      case word::floor:
        give(a, number(0));
        break;
      case word::remainder:
        give(a, d);
        if (varies[b.node])
          give(b, make(word::negate, product(d, make(word::floor, make(word::divide, a, b)))));
        break;
      case word::pow:  // 0 if the power is constant, as in torch
        if (varies[a.node])
          give(a, make(word::where, make(word::equal, b, number(0)), number(0),
                       product(
                           d, product(b, make(word::pow, a, make(word::subtract, b, number(1)))))));
        if (varies[b.node])
          give(b, make(word::where,
                       make(word::logical_and, make(word::equal, a, number(0)),
                            make(word::less_or_equal, number(0), b)),
                       number(0), product(d, product(y, make(word::log, a)))));
        break;
      case word::clamp: {  // to the operand that is the result; to x if it is a bound
        const operand is_low = make(word::less, a, b), is_high = make(word::less, c, a);
        const operand crossed = make(word::less, c, b);
        if (varies[a.node])
          give(a, make(word::where, make(word::logical_or, is_low, is_high), number(0), d));
        if (varies[b.node])
          give(b, make(word::where, make(word::logical_and, is_low, make(word::less, b, c)), d,
                       number(0)));
        if (varies[c.node])
          give(c, make(word::where, make(word::logical_or, is_high, crossed), d, number(0)));
        break;
      }
      case word::maximum:
      case word::minimum: {
        // Half for each of two equal ones.
        const operand is_a =
            node.what == word::maximum ? make(word::less, b, a) : make(word::less, a, b);
        const operand is_b =
            node.what == word::maximum ? make(word::less, a, b) : make(word::less, b, a);
        const operand half = product(d, number(T(0.5)));
        if (varies[a.node])
          give(a, make(word::where, is_a, d, make(word::where, is_b, number(0), half)));
        if (varies[b.node])
          give(b, make(word::where, is_b, d, make(word::where, is_a, number(0), half)));
        break;
      }
      case word::where:
        if (varies[b.node]) give(b, make(word::where, a, d, number(0)));
        if (varies[c.node]) give(c, make(word::where, a, number(0), d));
        break;
      case word::hide:
        give(a, make(word::where, b, number(0), d));
        break;
      case word::gather:
        reverse_gather(node, over, d);
        break;
      default:
        complete = false;
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
