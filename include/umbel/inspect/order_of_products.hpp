// SPDX-License-Identifier: BSL-1.0
// Of two products, one of which reads the other: would they need fewer multiplications in the other
// order? A formula computes them as written, since a different order has other bits.
//
//   contract<head_dim>(q, contract<hidden>(x, w))   token * hidden * head_dim + token * head_dim
//   contract<hidden>(x, contract<head_dim>(q, w))   hidden * head_dim + token * hidden
//
// The inner product may be scaled by numbers before the outer one reads it.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/graph.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// Sizes by axis. An axis that the inner product sums has an id that no other axis has.
struct sizes_of_axes {
  std::size_t rank = 0;
  unsigned long long family[2 * most_axes]{};
  std::size_t size[2 * most_axes]{};

  constexpr bool has(unsigned long long of) const {
    for (std::size_t i = 0; i < rank; ++i)
      if (family[i] == of) return true;
    return false;
  }
  constexpr void add(unsigned long long of, std::size_t how_many) {
    if (has(of) || rank == 2 * most_axes) return;
    family[rank] = of;
    size[rank++] = how_many;
  }
  constexpr void add(const sizes_of_axes& other) {
    for (std::size_t i = 0; i < other.rank; ++i) add(other.family[i], other.size[i]);
  }
  // The multiplications of a product whose operands have these axes.
  constexpr double count() const {
    double made = 1;
    for (std::size_t i = 0; i < rank; ++i) made *= static_cast<double>(size[i]);
    return made;
  }
};
constexpr sizes_of_axes whole_of(const axis_list& axes) {
  sizes_of_axes made;
  for (std::size_t i = 0; i < axes.rank; ++i) made.add(axes.family[i], axes.size[i]);
  return made;
}
constexpr sizes_of_axes both(sizes_of_axes a, const sizes_of_axes& b) {
  a.add(b);
  return a;
}

// first, second: the nodes to multiply first.
struct cheaper_order {
  int first = -1, second = -1;
  double as_written = 0, reordered = 0;
};

template <class T>
constexpr bool sums(const node_of_graph<T>& product, unsigned long long family) {
  for (std::size_t i = 0; i < product.sums; ++i)
    if (product.summed[i] == family) return true;
  return false;
}

// The axes of the weights of a linear map. An output with the name of the input has a new id.
template <class T>
constexpr sizes_of_axes axes_of_weights(const node_of_graph<T>& product) {
  const axis_list &x = product.from[0].axes, &y = product.axes;
  sizes_of_axes made;
  made.add(product.summed[0], x.size_of(product.summed[0]));
  for (std::size_t i = 0; i < y.rank; ++i)
    if (!x.has(y.family[i]) || sums(product, y.family[i]))
      made.add(sums(product, y.family[i]) ? ~y.family[i] - 1 : y.family[i], y.size[i]);
  return made;
}

// The product that operand `from` reads, perhaps scaled by single numbers; -1: none, or it is read
// elsewhere too.
template <class Plan>
constexpr int scaled_product(const Plan& p, const operand& from) {
  const auto& node = p.at(from.node);
  if (p.uses(from.node) != 1) return -1;
  if (is_product(node.what)) return from.node;
  if (node.what != word::multiply && node.what != word::divide) return -1;
  for (std::size_t j = 0; j < (node.what == word::divide ? 1u : 2u); ++j)
    if (node.from[1 - j].axes.count() == 1 && !p.at(node.from[1 - j].node).open &&
        p.at(node.from[1 - j].node).what != word::position && p.reads_as_is(node.from[j]))
      return scaled_product(p, node.from[j]);
  return -1;
}

// The axes of operand j of an inner product, as its reader names them: read has the axes of the
// inner product's memory by other names.
template <class T>
constexpr bool name_operand(sizes_of_axes& made, const node_of_graph<T>& inner, std::size_t j,
                            const axis_list& read) {
  const auto add = [&](unsigned long long family, std::size_t size) {
    if (sums(inner, family)) {
      made.add(~family, size);
      return true;
    }
    const std::size_t at = inner.axes.position(family);
    const std::size_t as =
        at == npos ? npos : read.find(inner.axes.size[at], inner.axes.stride[at]);
    if (as != npos) made.add(read.family[as], size);
    return as != npos;
  };
  const axis_list& x = inner.from[0].axes;
  if (inner.what == word::contract || j == 0) {
    const axis_list& own = inner.from[j].axes;
    for (std::size_t i = 0; i < own.rank; ++i)
      if (!add(own.family[i], own.size[i])) return false;
    return true;
  }
  made.add(~inner.summed[0], x.size_of(inner.summed[0]));  // the weights of a linear map
  for (std::size_t i = 0; i < inner.axes.rank; ++i) {
    const unsigned long long out = inner.axes.family[i];
    if ((!x.has(out) || sums(inner, out)) &&
        read.find(inner.axes.size[i], inner.axes.stride[i]) != npos)
      made.add(read.family[read.find(inner.axes.size[i], inner.axes.stride[i])],
               inner.axes.size[i]);
  }
  return true;
}

// Of product n and a product that it reads: at most half of the multiplications in the other order,
// else nothing. Plan: of a formula (formula/schedule.hpp).
template <class Plan>
constexpr cheaper_order cheaper_order_of(const Plan& p, int n) {
  const auto& outer = p.at(n);
  cheaper_order best;
  const bool maps = outer.what == word::project;
  for (std::size_t j = 0; j < (maps ? 1 : outer.operands) && is_product(outer.what); ++j) {
    const int product = scaled_product(p, outer.from[j]);
    if (product < 0) continue;
    const auto& inner = p.at(product);
    if (inner.has_bias || inner.axes.rank != outer.from[j].axes.rank) continue;
    const sizes_of_axes other = maps ? axes_of_weights(outer) : whole_of(outer.from[1 - j].axes);
    sizes_of_axes parts[2];
    if (!name_operand(parts[0], inner, 0, outer.from[j].axes) ||
        !name_operand(parts[1], inner, 1, outer.from[j].axes))
      continue;
    const double as_written =
        both(parts[0], parts[1]).count() + both(whole_of(outer.from[j].axes), other).count();
    for (std::size_t k = 0; k < 2; ++k) {
      bool in_one = true;  // the sums of n go along axes of this operand alone
      for (std::size_t s = 0; s < outer.sums; ++s)
        in_one = in_one && parts[k].has(outer.summed[s]) && !parts[1 - k].has(outer.summed[s]);
      if (!in_one) continue;
      sizes_of_axes made;
      const sizes_of_axes first = both(parts[k], other);
      for (std::size_t i = 0; i < first.rank; ++i)
        if (!sums(outer, first.family[i])) made.add(first.family[i], first.size[i]);
      const double reordered = first.count() + both(made, parts[1 - k]).count();
      if (2 * reordered > as_written || (best.reordered != 0 && best.reordered <= reordered))
        continue;
      best = {k < inner.operands ? inner.from[k].node : -1, maps ? -1 : outer.from[1 - j].node,
              as_written, reordered};
    }
  }
  return best;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
