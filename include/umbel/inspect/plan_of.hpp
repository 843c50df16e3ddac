// SPDX-License-Identifier: BSL-1.0
// plan_of: the planner's choices for an attention layer, as constants; and the lines of a page
// (describe.hpp) for attention, a network or a linear map. Cycles are an estimate for a core with
// two multiply-add units (plan/cost.hpp).
#pragma once

#include <cstdint>
#include <umbel/attention/multi_head.hpp>
#include <umbel/block/feed_forward.hpp>
#include <umbel/block/linear.hpp>
#include <umbel/config.hpp>
#include <umbel/inspect/plan_text.hpp>
#include <umbel/text/writer.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(plan_of, "plan_of");
UMBEL_SAYS(expects_the_types_of_a_layer_and_of_its_axes_so_write_plan_of_layer_and_token,
           "expects the types of a layer and of its axes; write plan_of<attention, token<64>>");
}  // namespace detail

// plan_of<attention, query<4>, key<300>>: the planner's choices for a multi_head_attention, as
// constants. One axis, token<64>, means self-attention.
template <class Layer, class Queries = detail::nothing, class Keys = Queries>
struct plan_of {
  using T = typename Layer::value_type;
  using forward = typename Layer::template forward_of<Queries::size, Keys::size>;
  using workspace = typename Layer::template workspace<Queries, Keys>;
  using norm_of_heads = typename Layer::norm_of_heads;
  static constexpr detail::head_sizes sizes = Layer::sizes;
  static constexpr detail::plan::target target = detail::plan::native_target;
  static constexpr std::size_t lanes = detail::plan::lanes<T>(target);

  template <detail::kernel::linear_shape S>
  static constexpr detail::linear_step step_of() {
    return detail::linear_step_of<S, T>();
  }
  // Between rows of lengths `in` and `out`.
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
  // A multiply-add counts as two; the softmax isn't counted.
  static constexpr auto flops = static_cast<double>(
      sizes.flops(Queries::size, Keys::size, std::uint64_t{Queries::size} * Keys::size));
};
// Of something else: refused. (A share of heads has the same members.)
template <class Layer, class Queries, class Keys>
  requires(!detail::is_multi_head<Layer> && !requires { typename Layer::norm_of_heads; })
struct plan_of<Layer, Queries, Keys> {
  static_assert(
      detail::report<detail::rules::a_multi_head_attention<detail::say::plan_of, Layer>>::ok,
      "umbel: shapes do not fit");
  static constexpr double cycles = 0, flops = 0;
};

namespace detail {

// A line of a page. Margin: spaces before the name, for a step of a part.
template <class Writer, class Step>
constexpr void put_step(Writer& out, std::size_t margin, const char* name, const char* between,
                        const Step& s, std::size_t rows, std::size_t in, std::size_t to) {
  out.repeat(margin, " ");
  out.put_aligned(name, 10 - margin);
  out.put_aligned(rows, 6);
  out.put(" x");
  out.put_aligned(in, 6);
  out.put(between);
  out.put_aligned(to, 6);
  out.put_aligned(static_cast<std::size_t>(s.cycles), 14);
  out.put("   ");
  put_tiles(out, s);
  out.put('\n');
}
template <class Writer>
constexpr void put_linear(Writer& out, std::size_t margin, const char* name, const linear_step& s) {
  put_step(out, margin, name, " to", s, s.shape.rows, s.shape.in, s.shape.out);
}
template <class Writer>
constexpr void put_bytes(Writer& out, const char* name, std::size_t bytes) {
  out.put_aligned(name, 16);
  out.put_aligned(bytes, 33);
  out.put('\n');
}

// The sums of a page. flops: of products; a multiply-add counts as two.
struct page_sum {
  double cycles = 0, flops = 0;
};
template <kernel::linear_shape S>
inline constexpr double flops_of_shape =
    static_cast<double>(kernel::product_flops(S.rows, S.in, S.out));

template <class Plan, class Writer>
constexpr page_sum put_attention(Writer& out, std::size_t margin) {
  put_linear(out, margin, "queries", Plan::query);
  put_linear(out, margin, "keys", Plan::key);
  put_linear(out, margin, "values", Plan::value);
  const attend_step& s = Plan::attention;
  put_step(out, margin, "attention", " by", s, s.shape.queries, s.shape.keys, s.shape.head_dim);
  put_linear(out, margin, "output", Plan::output);
  return {Plan::cycles, Plan::flops};
}
template <class T, kernel::linear_shape Map, class Writer>
constexpr page_sum put_map(Writer& out, std::size_t margin) {
  constexpr linear_step map = linear_step_of<Map, T>();
  put_linear(out, margin, "map", map);
  return {map.cycles, flops_of_shape<Map>};
}
// Up, Down: the shapes of a network's products. Gates: 1 if gated.
template <class T, kernel::linear_shape Up, kernel::linear_shape Down, std::size_t Gates,
          class Writer>
constexpr page_sum put_network(Writer& out, std::size_t margin) {
  constexpr linear_step up = linear_step_of<Up, T>(), down = linear_step_of<Down, T>();
  if constexpr (Gates != 0) put_linear(out, margin, "gate", up);
  put_linear(out, margin, "up", up);
  put_linear(out, margin, "down", down);
  return {(1 + Gates) * up.cycles + down.cycles,
          (1 + Gates) * flops_of_shape<Up> + flops_of_shape<Down>};
}

template <class Word, class Writer>
constexpr void put_word(Writer& out) {
  sentence_buffer word;
  speak<Word>::to(word);
  word.put('\0');
  out.put(static_cast<const char*>(word.chars));
}
// "4 heads of 16, keys and values of 2"
template <class Writer>
constexpr void put_heads(Writer& out, const head_sizes& s) {
  out.put(s.heads, s.heads == 1 ? " head of " : " heads of ", s.head_dim);
  if (s.kv_heads != s.heads) out.put(", keys and values of ", s.kv_heads);
}
// ", float, 32 registers of 16", and the column headings.
template <class T, class Writer>
constexpr void put_table_head(Writer& out) {
  out.put(sizeof(T) == 4 ? ", float" : ", double", ", ", plan::native_target.registers,
          " registers of ");
  out.put(plan::lanes<T>(plan::native_target), "\n\n");
  out.put_aligned("step", 10);
  out.put("                                  cycles   plan\n");
}
template <class T, class Writer>
constexpr void put_sum(Writer& out, const page_sum& all) {
  put_bytes(out, "all", static_cast<std::size_t>(all.cycles));
  const double best = all.flops / (4.0 * static_cast<double>(plan::lanes<T>(plan::native_target)));
  out.put_aligned("", 10);
  out.put("multiply-adds alone would take ");
  out.put_aligned(static_cast<std::size_t>(best), 0);
  out.put(", ", static_cast<std::size_t>(100 * best / all.cycles + 0.5), " % of that\n\n");
}
template <class Writer>
constexpr void put_workspace_head(Writer& out) {
  out.put_aligned("workspace", 10);
  out.put("                                  bytes\n");
}

// "64 queries to 64 keys, 4 heads of 16, rms_norm of queries and keys"
template <class Plan, class Writer>
constexpr void put_sizes(Writer& out) {
  constexpr std::size_t queries = Plan::query.shape.rows, keys = Plan::key.shape.rows;
  out.put(queries, queries == 1 ? " query to " : " queries to ");
  out.put(keys, keys == 1 ? " key, " : " keys, ");
  put_heads(out, Plan::sizes);
  using norm = typename Plan::norm_of_heads::layer;
  if constexpr (!std::is_void_v<norm>) {
    out.put(", ");
    put_word<typename norm::word>(out);
    out.put(" of queries and keys");
  }
}
template <class Plan, class Writer>
constexpr void put_plan(Writer& out) {
  using workspace = typename Plan::workspace;
  out.put("attention, ");
  put_sizes<Plan>(out);
  put_table_head<typename Plan::T>(out);
  put_sum<typename Plan::T>(out, put_attention<Plan>(out, 0));
  put_workspace_head(out);
  put_bytes(out, "queries", sizeof(workspace::q));
  put_bytes(out, "keys", sizeof(workspace::k));
  put_bytes(out, "values", sizeof(workspace::v));
  put_bytes(out, "context", sizeof(workspace::context));
  put_bytes(out, "scratch", sizeof(workspace::scratch));
  put_bytes(out, "all", sizeof(workspace));
}

}  // namespace detail
// Without positions, and of objects: refused.
template <class Layer, class Keys>
struct plan_of<Layer, detail::nothing, Keys> : detail::invalid {
  using verdict = detail::verdict<
      detail::never<Layer>, detail::say::plan_of,
      detail::say::expects_the_types_of_a_layer_and_of_its_axes_so_write_plan_of_layer_and_token>;
  static_assert(detail::reported<verdict>::ok, "umbel: shapes do not fit");
  template <class... Given>
  constexpr explicit plan_of(const Given&...) noexcept {}
  static constexpr double cycles = 0, flops = 0;
};
template <class... Given>
plan_of(const Given&...) -> plan_of<portable::arguments_of_a_call>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
