// SPDX-License-Identifier: BSL-1.0
// What the planner made of a layer of attention: as constants (plan_of) and as a page to read
// (describe):
//
//   std::puts(umbel::describe<attention, token<64>>());           of 64 positions to themselves
//   std::puts(umbel::describe<attention, query<4>, key<300>>());
//
// (of a formula: describe(f, x...), describe_formula.hpp), for arguments and results that are
// row-major, without a mask, with prepacked weights, on this build's target. The page is made by
// the compiler; nothing but its characters is in the program. Not included by umbel.hpp.
//
// Cycles are an estimate (plan/cost.hpp): of a core with two multiply-add units.
#pragma once

#include <cstdint>
#include <umbel/attention/multi_head.hpp>
#include <umbel/config.hpp>
#include <umbel/inspect/describe_formula.hpp>
#include <umbel/inspect/plan_text.hpp>
#include <umbel/inspect/text_writer.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct describe;
}  // namespace say

}  // namespace detail

// plan_of<attention, query<4>, key<300>>: what the planner made of a layer, as constants. Layer: a
// multi_head_attention. One axis, token<64>: of a sequence to itself.
template <class Layer, class Queries, class Keys = Queries>
struct plan_of {
  using T = typename Layer::value_type;
  using forward = typename Layer::template forward_of<Queries::size, Keys::size>;
  using workspace = typename Layer::template workspace<Queries, Keys>;
  static constexpr detail::head_sizes sizes = Layer::sizes;
  static constexpr detail::plan::target target = detail::plan::native_target;
  static constexpr std::size_t lanes = detail::plan::lanes<T>(target);

  template <detail::kernel::linear_shape S>
  static constexpr detail::linear_step step_of() {
    return detail::linear_step_of<S, T>();
  }
  // From and to rows that are `in` and `out` long.
  static constexpr detail::linear_step query =
      step_of<forward::template project_in<Queries::size, sizes.hidden, sizes.query_width(),
                                           forward::query_row, sizes.q_bias,
                                           detail::sequence_strides{0, sizes.hidden, 1}>>();
  static constexpr detail::linear_step key =
      step_of<forward::template project_in<Keys::size, sizes.key_hidden, sizes.key_width(),
                                           forward::key_row, sizes.k_bias,
                                           detail::sequence_strides{0, sizes.key_hidden, 1}>>();
  static constexpr detail::linear_step value =
      step_of<forward::template project_in<Keys::size, sizes.value_hidden, sizes.value_width(),
                                           forward::value_row, sizes.v_bias,
                                           detail::sequence_strides{0, sizes.value_hidden, 1}>>();
  static constexpr detail::linear_step output =
      step_of<forward::template project_out<detail::sequence_strides{0, sizes.output, 1}>>();

  static constexpr detail::attend_step attention =
      detail::attend_step_of<forward::head, forward::all_heads, T,
                             detail::kernel::attend_form_of<forward::head, forward::all_heads, T,
                                                            detail::plan::seen_keys::all>>();

  static constexpr double cycles =
      query.cycles + key.cycles + value.cycles + attention.cycles + output.cycles;
  // Two for a multiplication and an addition; the softmax is not counted.
  static constexpr auto flops = static_cast<double>(
      sizes.flops(Queries::size, Keys::size, std::uint64_t{Queries::size} * Keys::size));
};

namespace detail {
template <class Writer>
constexpr void put_linear(Writer& out, const char* name, const linear_step& s) {
  out.put_aligned(name, 10);
  out.put_aligned(s.shape.rows, 6);
  out.put(" x");
  out.put_aligned(s.shape.in, 6);
  out.put(" to");
  out.put_aligned(s.shape.out, 6);
  out.put_aligned(static_cast<std::size_t>(s.cycles), 14);
  out.put("   ");
  put_tiles(out, s);
  out.put('\n');
}

template <class Writer>
constexpr void put_attend(Writer& out, const attend_step& s) {
  out.put_aligned("attention", 10);
  out.put_aligned(s.shape.queries, 6);
  out.put(" x");
  out.put_aligned(s.shape.keys, 6);
  out.put(" by");
  out.put_aligned(s.shape.head_dim, 6);
  out.put_aligned(static_cast<std::size_t>(s.cycles), 14);
  out.put("   ");
  put_tiles(out, s);
  out.put('\n');
}

template <class Writer>
constexpr void put_bytes(Writer& out, const char* name, std::size_t bytes) {
  out.put_aligned(name, 10);
  out.put_aligned(bytes, 39);
  out.put('\n');
}

template <class Plan, class Writer>
constexpr void put_plan(Writer& out) {
  using T = typename Plan::T;
  using workspace = typename Plan::workspace;
  constexpr head_sizes s = Plan::sizes;
  constexpr std::size_t queries = Plan::query.shape.rows, keys = Plan::key.shape.rows;
  out.put("attention, ", queries, queries == 1 ? " query to " : " queries to ");
  out.put(keys, keys == 1 ? " key, " : " keys, ");
  out.put(s.heads, s.heads == 1 ? " head of " : " heads of ", s.head_dim);
  if (s.kv_heads != s.heads) out.put(", keys and values of ", s.kv_heads);
  out.put(sizeof(T) == 4 ? ", float" : ", double", ", ", plan::native_target.registers,
          " registers of ");
  out.put(Plan::lanes, "\n\n");
  out.put_aligned("step", 10);
  out.put("                           ");
  out.put("       cycles   plan\n");
  put_linear(out, "queries", Plan::query);
  put_linear(out, "keys", Plan::key);
  put_linear(out, "values", Plan::value);
  put_attend(out, Plan::attention);
  put_linear(out, "output", Plan::output);
  put_bytes(out, "all", static_cast<std::size_t>(Plan::cycles));
  const double best = Plan::flops / (4.0 * static_cast<double>(Plan::lanes));
  out.put_aligned("", 10);
  out.put("multiply-adds alone would take ");
  out.put_aligned(static_cast<std::size_t>(best), 0);
  out.put(", ", static_cast<std::size_t>(100 * best / Plan::cycles + 0.5), " % of that\n\n");

  out.put_aligned("workspace", 10);
  out.put("                                  bytes\n");
  put_bytes(out, "queries", sizeof(workspace::q));
  put_bytes(out, "keys", sizeof(workspace::k));
  put_bytes(out, "values", sizeof(workspace::v));
  put_bytes(out, "context", sizeof(workspace::context));
  put_bytes(out, "scratch", sizeof(workspace::scratch));
  put_bytes(out, "all", sizeof(workspace));
}

template <class Layer, class Queries, class Keys>
struct described {
  template <class Writer>
  static constexpr void put(Writer& out) {
    put_plan<plan_of<Layer, Queries, Keys>>(out);
  }
};

// Does another header describe it (mpi/describe.hpp)?
template <class Layer>
inline constexpr bool describes_itself = false;

namespace rules {
template <class Layer, class Queries, class Keys>
using described = first_error<
    a_multi_head_attention<say::describe, Layer>, in_place<say::describe, Queries, axes::token>,
    in_place<say::describe, Keys, axes::token>, well_formed<Queries>, well_formed<Keys>>;
}  // namespace rules
}  // namespace detail

// describe<attention, token<64>>(): the plan of a layer as a page to read, lines of ASCII, ended by
// a zero.
template <class Layer, class Queries, class Keys = Queries>
  requires(!detail::describes_itself<Layer>)
constexpr const char* describe() noexcept {
  using verdict = detail::rules::described<Layer, Queries, Keys>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return detail::page_of<detail::described<Layer, Queries, Keys>>.text;
  else
    return "";
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
