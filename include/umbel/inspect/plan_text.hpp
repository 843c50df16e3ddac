// SPDX-License-Identifier: BSL-1.0
// The planner's choices for a product or for attention, as text for pages of layers (describe.hpp)
// and formulas (describe_formula.hpp).
#pragma once

#include <umbel/attention/attend_heads.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/float/contract_loops.hpp>
#include <umbel/plan/cost.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// A projection: its shape, its plan with features in the lanes, its cost.
struct linear_step {
  kernel::linear_shape shape;
  bool rows_in_lanes;
  plan::linear_plan plan;
  double cycles;
};
template <kernel::linear_shape S, class T>
constexpr linear_step linear_step_of() {
  constexpr plan::target target = plan::native_target;
  const plan::linear_plan p = plan::plan_linear<T>(S.rows, S.in, S.out, target);
  return {S, kernel::detail::rows_in_lanes<S, T, target>, p, plan::cycles<T>(p, S.in)};
}

struct attend_step {
  kernel::attend_shape shape;  // of one head
  plan::attend_form form;
  std::size_t heads_together;
  plan::attend_plan plan;  // with queries in lanes
  double cycles;           // of all heads
};
// Form: the kernel for these heads.
template <kernel::attend_shape S, kernel::heads_shape H, class T, plan::attend_form Form>
constexpr attend_step attend_step_of() {
  using plan::attend_form;
  constexpr plan::target target = plan::native_target;
  constexpr auto heads = static_cast<double>(H.heads);
  constexpr std::size_t alone = kernel::detail::queries_alone<S, T, target>;
  const plan::attend_plan p = plan::plan_attend<T>(S.queries, S.keys, target, alone);
  const double one_head = plan::cycles<T>(p, target, S.keys, S.head_dim, S.value_dim);
  const double few = plan::cycles_of_few<T>(1, plan::lanes<T>(target), S.keys, S.head_dim,
                                            S.value_dim, H.heads / H.share);
  if constexpr (Form == attend_form::heads_in_lanes) {
    constexpr std::size_t together = kernel::detail::attend_heads<S, H, T, target>::together;
    return {S, Form, together, p,
            one_head * static_cast<double>(plan::divide_up(H.heads, together))};
  } else if constexpr (Form == attend_form::keys_in_lanes) {
    constexpr std::size_t together = kernel::detail::attend_each<S, H, T, target>::together;
    return {S, Form, together, p, heads * few};
  } else if constexpr (Form == attend_form::last_query_by_keys) {
    constexpr kernel::attend_shape but_last = kernel::first_of(S, S.queries - 1);
    const plan::attend_plan q = plan::plan_attend<T>(but_last.queries, S.keys, target);
    const double of_blocks = plan::cycles<T>(q, target, S.keys, S.head_dim, S.value_dim);
    return {S, Form, 1, q, heads * (of_blocks + few)};
  } else {
    return {S, Form, Form == attend_form::heads_in_pairs ? 2u : 1u, p, heads * one_head};
  }
}

// "16 tiles of 4 rows", "3 tiles of 5 and 1 of 6 rows".
template <class Writer>
constexpr void put_split(Writer& out, plan::split s, const char* block, const char* of) {
  const bool both = s.small_count != 0 && s.large_count != 0;
  const std::size_t first_count = s.small_count != 0 ? s.small_count : s.large_count;
  const std::size_t first_size = s.small_count != 0 ? s.smaller() : s.large;
  out.put(first_count, " ", block, first_count == 1 ? " of " : "s of ", first_size);
  if (both) out.put(" and ", s.large_count, " of ", s.large);
  out.put(" ", of);
  if ((both ? s.large : first_size) != 1) out.put('s');
}

template <class Writer>
constexpr void put_tiles(Writer& out, const linear_step& s) {
  if (s.rows_in_lanes) return out.put("rows in the lanes");
  put_split(out, s.plan.panels, "panel", "vector");
  out.put(" of features, ");
  put_split(out, s.plan.rows, "tile", "row");
  if (s.plan.tile != s.plan.panels.large) out.put(" by ", s.plan.tile, " vectors");
  if (s.plan.group != 1) out.put(", ", s.plan.group, " panels together");
}

template <class Writer>
constexpr void put_tiles(Writer& out, const attend_step& s) {
  using plan::attend_form;
  if (s.form == attend_form::heads_in_lanes)
    return out.put(s.heads_together, " heads share a vector, queries in its lanes");
  if (s.form == attend_form::keys_in_lanes) {
    out.put("keys in the lanes for scores, features for the context");
    if (s.heads_together != 1) out.put(", ", s.heads_together, " heads side by side");
    return;
  }
  put_split(out, s.plan.queries, "block", "vector");
  out.put(" of queries, ");
  if (s.form == attend_form::last_query_by_keys) out.put("the last query with keys in the lanes, ");
  if (s.plan.alone != 0) out.put("and ", s.plan.alone, " alone, ");
  put_split(out, s.plan.keys, "tile", "key");
  if (s.shape.keys > plan::key_block) out.put(", a block of ", plan::key_block, " keys at a time");
  if (s.form == attend_form::heads_in_pairs) out.put(", two heads at a time");
}

// For a contraction, with its matrix products.
template <auto Loops, class T, class Writer>
constexpr void put_tiles_of_contraction(Writer& out) {
  constexpr kernel::contract_shape s = Loops.shape;
  constexpr plan::target machine = plan::native_target;
  std::size_t products = 1;
  for (std::size_t i = 0; i < Loops.count(); ++i) products *= Loops.loop(i).extent;
  if constexpr (Loops.paired != 1) {
    out.put(products, " times ", Loops.paired, " sums of ");
    out.put(s.depth, " products, in the lanes");
  } else if constexpr (s.rows == 1 && s.columns == 1) {
    out.put(products, products == 1 ? " sum of " : " sums of ", s.depth);
    out.put(" products, one by one");
  } else {
    constexpr bool turned = kernel::contract_transposes<T>(s, machine);
    using walk = kernel::detail::contract_walk_of<s, T, machine, (Loops.sums.count > 0)>;
    out.put(products, products == 1 ? " product of " : " products of ", s.rows);
    out.put(" x ", s.depth, " by ", s.depth);
    out.put(" x ", s.columns, turned ? ", rows" : ", columns");
    out.put(" in the lanes: ");
    put_split(out, walk::panels, "panel", "vector");
    out.put(", ");
    put_split(out, walk::plan.rows, "tile", turned ? "column" : "row");
    if constexpr (walk::packs) out.put(", packed ", walk::block, " deep");
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
