// SPDX-License-Identifier: BSL-1.0
// The plan of a formula for given arguments, in numbers: its steps, and its products' operations.
// See describe_formula.hpp for pages, and footprint.hpp for bytes.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/formula.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// A contraction as matrix products of one shape.
struct contraction_products {
  kernel::contract_shape shape;
  std::uint64_t count;

  constexpr std::uint64_t flops() const {
    return count * kernel::product_flops(shape.rows, shape.depth, shape.columns);
  }
};
template <class T>
constexpr contraction_products products_of(const node_of_graph<T>& one) {
  const axis_list &x = one.from[0].axes, &y = one.from[1].axes;
  kernel::contract_shape shape{};
  shape.rows = shape.columns = shape.depth = 1;
  std::uint64_t products = 1;
  for (std::size_t i = 0; i < x.rank; ++i) {
    const bool in_y = y.has(x.family[i]), in_out = one.axes.has(x.family[i]);
    if (in_y && in_out)
      products *= x.size[i];
    else
      (in_y ? shape.depth : shape.rows) *= x.size[i];
  }
  for (std::size_t i = 0; i < y.rank; ++i)
    if (!x.has(y.family[i])) shape.columns *= y.size[i];
  shape.x_row = shape.y_column = shape.out_column = 1;
  shape.out_row = shape.columns;
  return {shape, products};
}

// The pairs of a query i and a key j with j <= i + high: the sum of the first `queries` of the
// numbers high + 1, high + 2 ..., each between 0 and `keys`.
constexpr std::int64_t pairs_up_to(std::int64_t high, std::int64_t queries, std::int64_t keys) {
  const auto sum_to = [keys](std::int64_t last) {  // of 1, 2 ... last
    const std::int64_t rising = last < 0 ? 0 : last < keys ? last : keys;
    return rising * (rising + 1) / 2 + (last > keys ? (last - keys) * keys : 0);
  };
  return sum_to(high + queries) - sum_to(high);
}
// Pairs of a query and a key inside a window. Of: an attention_of or weights_of_rows.
template <class Of>
constexpr std::uint64_t seen_pairs() {
  constexpr auto queries = static_cast<std::int64_t>(Of::queries),
                 keys = static_cast<std::int64_t>(Of::keys);
  constexpr auto low = static_cast<std::int64_t>(Of::form.low),
                 high = static_cast<std::int64_t>(Of::form.high);
  if (Of::form.is_clamped()) {
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < Of::queries; ++i) {
      const auto at = static_cast<double>(i);
      const double first = Of::form.first.at(at), last = Of::form.last.at(at);
      const double from_window = first > at + Of::form.low ? first : at + Of::form.low,
                   to_window = last < at + Of::form.high ? last : at + Of::form.high;
      const double begin = from_window > 0 ? from_window : 0,
                   end = to_window + 1 < static_cast<double>(keys) ? to_window + 1
                                                                   : static_cast<double>(keys);
      if (begin < end) seen += static_cast<std::uint64_t>(end - begin);
    }
    return seen;
  }
  if (high < low) return 0;
  return static_cast<std::uint64_t>(pairs_up_to(high, queries, keys) -
                                    pairs_up_to(low - 1, queries, keys));
}

template <class F, class... X>
struct steps_of_formula {
  using T = computed_from<X...>;
  // For all sequences; a call may run for one at a time.
  using run =
      run_by<scheduled<F, true, typename argument_of<X>::type...>,
             row_major_layouts<traced_result<F, X...>>, true, typename argument_of<X>::type...>;
  static constexpr const auto& p = run::value;
  // The same nodes, with their names.
  static constexpr auto traced_with_names =
      graph_of<F, tracer<T, true>, true, typename argument_of<X>::type...>();
  static constexpr const auto& named = tabulated<traced_with_names>::value;

  // Of the pairs of a step: those in its range of keys, and those for parts before `whole`.
  struct share_of_keys {
    std::uint64_t seen = 1, all = 1;
    std::size_t whole = 0;
    std::uint64_t before = 1;

    // Of part i, or of the product after them.
    template <class Cost>  // operations or cycles
    constexpr Cost of(Cost cost, std::size_t i = npos) const {
      const std::uint64_t pairs = i < whole ? before : seen;
      if constexpr (std::is_floating_point_v<Cost>)
        return cost * static_cast<Cost>(pairs) / static_cast<Cost>(all);
      else
        return cost / all * pairs;
    }
  };
  template <std::size_t S>
  static constexpr share_of_keys keys_of() {
    if constexpr (p.steps[S].kind == step_kind::rows) {
      using rows = row_step<run, S>;
      constexpr std::uint64_t all = rows::of::queries * rows::of::keys;
      if constexpr (rows::blocks.chunk != 0)
        return {seen_pairs<typename rows::of>(), all, rows::blocks.whole,
                rows::blocks.ranged ? seen_pairs<typename rows::of_block>() : all};
    }
    return {};
  }

  // For a step without parts: its product or layer.
  static constexpr std::uint64_t product_flops(const step& s) {
    if (s.product < 0) return named.nodes[s.root].flops;
    const node_of_graph<T>& product = p.at(s.product);
    if (product.what != word::project) return products_of(product).flops();
    const axis_list& from = product.from[0].axes;
    const std::size_t in = from.size[from.position(product.summed[0])];
    return kernel::product_flops(product.axes.count(), in, 1);
  }
  template <std::size_t S>
  static constexpr std::uint64_t step_flops() {
    constexpr step s = p.steps[S];
    if constexpr (s.kind == step_kind::attend) {
      using step_run = attend_step<run, s.root, s.to>;
      return kernel::product_flops(
          step_run::of::loops.count() * seen_pairs<typename step_run::of>(),
          step_run::shape.head_dim + step_run::shape.value_dim, 1);
    } else {
      const share_of_keys share = keys_of<S>();
      std::uint64_t flops = share.of(product_flops(s));
      for (std::size_t i = 0; i < s.parts; ++i)
        flops += share.of(product_flops(p.steps[s.first_part + i]), i);
      return flops;
    }
  }
  // The sum of its calls.
  static constexpr std::size_t tables() {
    std::size_t bytes = 0;
    for (int n = 0; n < named.count; ++n) bytes += named.nodes[n].tables;
    return bytes;
  }
  // The sum of all steps, without the keys that a window hides.
  static constexpr std::uint64_t flops() {
    return []<std::size_t... S>(std::index_sequence<S...>) {
      std::uint64_t sum = 0;
      for (const std::uint64_t of_step : {std::uint64_t{0}, step_flops<S>()...}) sum += of_step;
      return sum;
    }(std::make_index_sequence<p.count>{});
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
