// SPDX-License-Identifier: BSL-1.0
// row_formula: a formula as a part of a residual_block, with weights that have names. It is given
// the rows of x, (token, hidden), and gives as many:
//
//   #include <umbel/formula/row_formula.hpp>  // umbel.hpp does not include it
//
//   constexpr formula star_relu = [](auto x, const auto& w) {
//     const auto up = relu(x * w.up);
//     return (w.scale * (up * up)) * w.down;
//   };
//   using network = row_formula<name::feed_forward, decltype(star_relu),
//                               linear_map<name::up, hidden<64>, intermediate<256>, bias<false>>,
//                               weight<name::scale, intermediate<256>>,
//                               linear_map<name::down, intermediate<256>, hidden<64>,
//                               bias<false>>>;
//
// Each row of the result must come from its row of x alone, which the graph of the formula shows.
#pragma once

// clang-format off: all that this needs, in order; bare.hpp explains (test/layering.py --lists).
#include <umbel/config.hpp>
#include <umbel/shape/axis.hpp>
#include <umbel/shape/invalid.hpp>
#include <umbel/shape/verdict.hpp>
#include <umbel/shape/layout.hpp>
#include <umbel/shape/algebra.hpp>
#include <umbel/shape/words.hpp>
#include <umbel/shape/rules.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/attention/score.hpp>
#include <umbel/layer/parts.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/layer/workspace.hpp>
#include <umbel/shape/axes.hpp>
#include <umbel/shape/computing_rules.hpp>
#include <umbel/shape/concepts.hpp>
#include <umbel/shape/memory_rules.hpp>
#include <umbel/tensor/calls_of_other_libraries.hpp>
#include <umbel/tensor/check.hpp>
#include <umbel/tensor/iterator.hpp>
#include <umbel/tensor/view.hpp>
#include <umbel/tensor/loop.hpp>
#include <umbel/tensor/elements.hpp>
#include <umbel/tensor/tensor.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/tensor/refusal.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/mask/rules.hpp>
#include <umbel/tensor/pipe.hpp>
#include <umbel/tensor/copy.hpp>
#include <umbel/tensor/arithmetic_rules.hpp>
#include <umbel/tensor/arithmetic.hpp>
#include <umbel/mask/base.hpp>
#include <umbel/attention/attend_heads.hpp>
#include <umbel/attention/rope.hpp>
#include <umbel/layer/norm_options.hpp>
#include <umbel/attention/prepared_heads.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/layer/named_memory.hpp>
#include <umbel/layer/struct_members.hpp>
#include <umbel/layer/weights_rules.hpp>
#include <umbel/layer/weights.hpp>
#include <umbel/attention/forward.hpp>
#include <umbel/layer/workspace_rules.hpp>
#include <umbel/attention/rules.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/mask/memory.hpp>
#include <umbel/mask/position.hpp>
#include <umbel/mask/alibi.hpp>
#include <umbel/mask/combine.hpp>
#include <umbel/mask/in_formula.hpp>
#include <umbel/attention/calls.hpp>
#include <umbel/layer/executor.hpp>
#include <umbel/attention/forward_in_parts.hpp>
#include <umbel/attention/multi_head_call.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/attention/multi_head.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/block/layer_norm.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/operation/activation.hpp>
#include <umbel/block/feed_forward.hpp>
#include <umbel/block/rms_norm.hpp>
#include <umbel/block/transformer.hpp>
#include <umbel/block/decoder_rules.hpp>
#include <umbel/layer/project.hpp>
#include <umbel/block/linear.hpp>
#include <umbel/block/part_names.hpp>
#include <umbel/block/parts.hpp>
#include <umbel/layer/stored_as.hpp>
#include <umbel/layer/prepacked.hpp>
#include <umbel/block/description.hpp>
#include <umbel/block/encoder_rules.hpp>
#include <umbel/block/block_rules.hpp>
#include <umbel/block/scratch.hpp>
#include <umbel/block/rows.hpp>
#include <umbel/formula/graph.hpp>
#include <umbel/formula/schedule.hpp>
#include <umbel/formula/place_nodes.hpp>
#include <umbel/formula/linear_form.hpp>
#include <umbel/tensor/compare.hpp>
#include <umbel/operation/maximum.hpp>
#include <umbel/formula/functions.hpp>
#include <umbel/formula/program.hpp>
#include <umbel/formula/elementwise.hpp>
#include <umbel/formula/gathered_positions.hpp>
#include <umbel/formula/score_form.hpp>
#include <umbel/formula/changed_scores.hpp>
#include <umbel/formula/key_ranges.hpp>
#include <umbel/formula/attend.hpp>
#include <umbel/formula/stored_positions.hpp>
#include <umbel/formula/distance_tables.hpp>
#include <umbel/formula/product.hpp>
#include <umbel/formula/reduce.hpp>
#include <umbel/operation/reduce.hpp>
#include <umbel/operation/argmax.hpp>
#include <umbel/operation/softmax.hpp>
#include <umbel/operation/cumulative_sum.hpp>
#include <umbel/operation/kth_largest.hpp>
#include <umbel/operation/mean.hpp>
#include <umbel/formula/known_operations.hpp>
#include <umbel/layer/stacked.hpp>
#include <umbel/layer/table.hpp>
#include <umbel/formula/parts.hpp>
#include <umbel/formula/rows_of_call.hpp>
#include <umbel/formula/rules.hpp>
#include <umbel/formula/tracer.hpp>
#include <umbel/tensor/contract.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/formula/results.hpp>
#include <umbel/formula/row_blocks.hpp>
#include <umbel/formula/score_rows.hpp>
#include <umbel/formula/row_step.hpp>
#include <umbel/formula/sequences.hpp>
#include <umbel/operation/lookup.hpp>
#include <umbel/attention/rotate.hpp>
#include <umbel/operation/where.hpp>
#include <umbel/formula/operands.hpp>
#include <umbel/operation/number_function.hpp>
#include <umbel/formula/arithmetic.hpp>
#include <umbel/operation/gather.hpp>
#include <umbel/formula/gather.hpp>
#include <umbel/tensor/reshape.hpp>
#include <umbel/operation/concat.hpp>
#include <umbel/formula/along_axes.hpp>
#include <umbel/formula/refused_operators.hpp>
#include <umbel/formula/trace.hpp>
#include <umbel/formula/run.hpp>
#include <umbel/formula/in_parts.hpp>
#include <umbel/formula/call_rules.hpp>
#include <umbel/tensor/print.hpp>
#include <umbel/formula/formula.hpp>
// clang-format on

#include <umbel/shape/verdict.hpp>  // first: g++ shows from where it is included

#include <umbel/block/block_rules.hpp>
#include <umbel/block/rows.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/formula.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace block_parts {
// A weight of a row_formula: a tensor of these axes, w.name in the formula. Of none: a number.
template <class Name, class... Axis>
struct weight {
  using name = Name;
};
}  // namespace block_parts

namespace detail {
UMBEL_SAYS(
    needs_a_formula_so_write_decltype_of_one,
    "needs a formula; write row_formula<name, decltype(f), weights...>, f a constexpr formula");
UMBEL_SAYS(needs_a_weight_of_its_formula_so_add_one,
           "needs a weight of its formula; add weight<name, axes...> or linear_map<name, in, out, "
           "bias<...>>");
UMBEL_SAYS(but_must_return, "but must return");
UMBEL_SAYS(a_formula_depends_on_the_number_of_rows_so_write_the_same_operations_for_any,
           "a formula depends on the number of rows; write the same operations for any");
UMBEL_SAYS(is_not_a_weight_of_a_formula_write_weight_or_linear_map,
           "is not a weight of a formula; write weight<name, axes...> or linear_map<name, in, out, "
           "bias<...>>");
UMBEL_SAYS(the_formula_of, "the formula of");
UMBEL_SAYS(may_read_other_rows_so_compute_each_row_from_its_row_of_x,
           "may read other rows, along token or in a function it calls; compute each row of the "
           "result from its row of x");

namespace residual {
// The types of a tensor of weights: see branch_scale.
template <class T, class... Axis>
struct weight_tensor {
  using weights = tensor<T, Axis...>;
  using weights_view = portable::borrowed_tensor<T, Axis...>;
  template <class>
  using packed_weights = packed_tensor<T, Axis...>;
};

// The layer of a weight of a formula.
template <class Weight>
struct layer_of_weight {};
template <class Name, class... Axis>
struct layer_of_weight<block_parts::weight<Name, Axis...>> {
  using name = Name;
  template <class T, class Hidden>
  using layer = weight_tensor<T, typename axis_or_none<Axis>::plain...>;
  template <class T, class Hidden>
  using verdict =
      first_error<verdict<axis_like<Axis>, say::residual_block, option_word<Axis>,
                          say::is_not_a_weight_of_a_formula_write_weight_or_linear_map>...,
                  rules::well_formed<axis_or_none<Axis>...>>;
};
template <class Name, class... Options>
struct layer_of_weight<block_parts::linear_map<Name, Options...>>
    : block_parts::linear_map<Name, Options...> {};
template <class Name, axis_like In, axis_like Out, class... Options>
struct layer_of_weight<block_parts::linear_map<Name, In, Out, Options...>> {
  using name = Name;
  template <class T, class>
  using layer = linear<T, In, Out, Options...>;
  template <class T, class>
  using verdict = rules::linear<T, In, Out, Options...>;
};

// The layer of a row_formula. F: its function.
template <class T, class Hidden, class F, class... Weight>
struct formula_of_rows {
  using value_type = T;
  using hidden_axis = Hidden;
  using all_weights =
      weights_of_slots<block_style,
                       list<slot<typename Weight::name,
                                 typename layer_of_weight<Weight>::template layer<T, Hidden>>...>>;
  using weights = typename all_weights::owned;
  using weights_view = typename all_weights::view;
  template <class Stored>
  using packed_weights = typename all_weights::template packed<Stored>;

  template <std::size_t N>
  using rows = view<const T, axes::token<N>, Hidden>;
};

// Is each row of the results, along an axis of this family, computed from the same row alone? A
// function that is called must declare that (by_rows), as norms do.
template <class T, std::size_t Nodes>
constexpr bool rows_are_apart(const formulas::graph<T, Nodes>& g, unsigned long long rows) {
  using formulas::word;
  for (int n = 0; n < g.count; ++n) {
    const formulas::node_of_graph<T>& node = g.nodes[n];
    bool reads_rows = false;
    for (std::size_t j = 0; j < node.operands; ++j) {
      const formulas::operand& from = node.from[j];
      const formulas::axis_list& node_axes = g.nodes[from.node].axes;
      const std::size_t at = node_axes.position(rows), along = from.axes.position(rows);
      if (at == npos) continue;
      reads_rows = true;
      // All rows in their order, and each read stays within its row.
      const std::size_t count = node_axes.size[at], step = node_axes.stride[at];
      if (along == npos || from.axes.size[along] != count || from.axes.stride[along] != step ||
          from.offset / step % count != 0)
        return false;
      std::size_t within = from.offset % step;
      for (std::size_t i = 0; i < from.axes.rank; ++i)
        if (i != along && from.axes.stride[i] % (step * count) != 0)
          within += (from.axes.size[i] - 1) * from.axes.stride[i];
      if (within >= step) return false;
    }
    const bool is_function =
        node.what == word::call || (node.what >= word::rotate && node.what <= word::layer);
    if (reads_rows &&
        ((is_function && !node.by_rows) || (node.what >= word::contract && node.family == rows)))
      return false;
    for (std::size_t i = 0; i < node.sums; ++i)
      if (node.summed[i] == rows) return false;
    const bool is_part = node.what == word::argument && node.slot >= g.arguments;
    if ((is_part && node.axes.has(rows)) || (node.what == word::position && node.family == rows))
      return false;
  }
  return true;
}
}  // namespace residual

namespace formulas {
template <class F, class... X>
struct steps_of_formula;  // inspect/formula_steps.hpp
}  // namespace formulas

namespace rules {
// The formula is the same for any number of rows, and computes each by itself.
template <class F, class Two, class Three, class W>
constexpr bool computes_rows_by_themselves() {
  using formulas::graph_of, formulas::tracer;
  using T = typename Two::value_type;
  constexpr auto g = graph_of<F, tracer<T>, true, typename formulas::argument_of<Two>::type,
                              typename formulas::argument_of<W>::type>();
  constexpr auto h = graph_of<F, tracer<T>, true, typename formulas::argument_of<Three>::type,
                              typename formulas::argument_of<W>::type>();
  return residual::rows_are_apart(g, family_id<family_of<axes::token>>) &&
         formulas::same_words(g, h);
}
}  // namespace rules

namespace residual {
// A row_formula on the rows of one sequence.
template <class T, class Hidden, class F, class... Weight>
struct rows_of_part<formula_of_rows<T, Hidden, F, Weight...>> {
  using layer = formula_of_rows<T, Hidden, F, Weight...>;
  using width = Hidden;
  static constexpr bool in_place = false;
  template <std::size_t N>
  using rows = typename layer::template rows<N>;
  template <std::size_t N, class W>
  using results = formulas::row_major_layouts<formulas::traced_result<F, rows<N>, W>>;
  template <std::size_t N>
  using result = view<T, axes::token<N>, Hidden>;
  template <std::size_t N, class W>
  using scratch_of = typename formulas::needed_workspace<F, results<N, W>, on_stack, true,
                                                         result<N>, rows<N>, W>::type;
  template <std::size_t N, std::size_t>
  using scratch = scratch_of<N, typename layer::weights_view>;
  template <std::size_t N, std::size_t>
  static constexpr std::uint64_t flops =
      formulas::steps_of_formula<F, rows<N>, typename layer::weights_view>::flops();
  template <std::size_t N, std::size_t>
  static constexpr std::size_t tables =
      formulas::steps_of_formula<F, rows<N>, typename layer::weights_view>::tables();

  // Work: the scratch of N rows or more. Steps for fewer rows take no more of it.
  template <std::size_t N, class W, class Work>
  static constexpr void run(const W& w, const T* from, T* to, Work& work) noexcept {
    static_assert(scratch_of<N, W>::elements <= Work::elements);
    // The rule of the part has seen 2 and 3 rows.
    if constexpr (N != 2 && N != 3) {
      using rule = verdict<
          rules::computes_rows_by_themselves<F, rows<N>, rows<2>, typename layer::weights_view>(),
          say::residual_block,
          say::a_formula_depends_on_the_number_of_rows_so_write_the_same_operations_for_any>;
      static_assert(report<rule>::ok, "umbel: shapes do not fit");
    }
    result<N> out(to);
    formulas::formula_call<false, F, rows<N>, W>::template into<results<N, W>>(out, work,
                                                                               rows<N>(from), w);
  }
};
}  // namespace residual

namespace rules {
template <class Weight>
using is_weight = verdict<requires { typename residual::layer_of_weight<Weight>::name; },
                          say::residual_block, typename word_for_given<Weight>::type,
                          say::is_not_a_weight_of_a_formula_write_weight_or_linear_map>;
template <class Formula>
struct function_of {
  using type = void;
};
template <class F>
struct function_of<formula<F>> {
  using type = F;
};

// On the formula itself, whose weights are accepted.
template <class T, class Hidden, class Name, class F, class... Weight>
constexpr auto formula_of_a_part() {
  using layer = residual::formula_of_rows<T, Hidden, F, Weight...>;
  using w = typename layer::template packed_weights<T>;  // which cannot be copied
  using two = typename layer::template rows<2>;
  if constexpr (!formulas::takes<F, two, w>) {
    return takes<false>{};
  } else {
    using result = std::remove_cvref_t<formulas::traced_result<F, two, w>>;
    if constexpr (one_is_invalid<result>) {
      return verdict<false, say::residual_block, no_axis<1>>{};  // already reported
    } else if constexpr (!gives<result>::ok) {
      return gives<result>{};
    } else if constexpr (!formulas::a_node<result>) {
      return gives<T>{};
    } else {
      using result_axes = typename layout_of<result>::axes;
      using wanted = shape<axes::token<2>, Hidden>;
      constexpr bool fits = std::is_same_v<result_axes, wanted> ||
                            std::is_same_v<result_axes, shape<Hidden, axes::token<2>>>;
      using graph = formulas::graph_of_call<F, two, w>;
      if constexpr (!fits || !graph::ok)
        return first_error<
            verdict<fits, say::residual_block, say::the_formula_of, say::part_name<Name>,
                    say::returns, result_axes, say::but_must_return, wanted>,
            graph>{};
      else
        return verdict<computes_rows_by_themselves<F, two, typename layer::template rows<3>, w>(),
                       say::residual_block, say::the_formula_of, say::part_name<Name>,
                       say::may_read_other_rows_so_compute_each_row_from_its_row_of_x>{};
    }
  }
}

// Each of these reads its arguments only if the one before has accepted them.
template <class Before, class T, class Hidden, class Name, class... Weight>
struct weights_of_formula {
  using type = Before;
};
template <class T, class Hidden, class Name, class... Weight>
struct weights_of_formula<accepted, T, Hidden, Name, Weight...> {
  using names = of_names<residual::list<typename Weight::name...>>;
  using type =
      first_error<typename names::are_names,
                  verdict<names::template is_alone<typename Weight::name>, say::residual_block,
                          say::part_name<Name>, struct has_two_weights_called,
                          say::part_name<typename Weight::name>>...,
                  typename residual::layer_of_weight<Weight>::template verdict<T, Hidden>...>;
};
template <class Before, class T, class Hidden, class Name, class F, class... Weight>
struct formula_rule {
  using type = Before;
};
template <class T, class Hidden, class Name, class F, class... Weight>
struct formula_rule<accepted, T, Hidden, Name, F, Weight...> {
  using type = decltype(formula_of_a_part<T, Hidden, Name, F, Weight...>());
};
template <class T, class Hidden, class Name, class Formula, class... Weight>
struct row_formula_rule {
  using function = typename function_of<std::remove_cv_t<Formula>>::type;
  using are_weights =
      first_error<verdict<!std::is_void_v<function>, say::residual_block, say::part_name<Name>,
                          say::needs_a_formula_so_write_decltype_of_one>,
                  verdict<sizeof...(Weight) != 0, say::residual_block, say::part_name<Name>,
                          say::needs_a_weight_of_its_formula_so_add_one>,
                  is_weight<Weight>...>;
  using type = typename formula_rule<
      typename weights_of_formula<are_weights, T, Hidden, Name, Weight...>::type, T,
      typename axis_or_none<Hidden>::plain, Name, function, Weight...>::type;
};
}  // namespace rules
}  // namespace detail

namespace block_parts {
// A formula of rows. Formula: decltype(f) of a constexpr formula f, called as f(x, w), x (token,
// hidden). Weights: weight<name, axes...>, and linear_map<name, in, out, bias<...>>, of which x *
// w.name is the product; in their order the members of w.
template <class Name, class Formula, class... Weights>
struct row_formula {
  using name = Name;
  static constexpr auto sees = detail::residual::reads::row;
  template <class T, class Hidden>
  using layer = detail::residual::formula_of_rows<
      T, Hidden, typename detail::rules::function_of<std::remove_cv_t<Formula>>::type, Weights...>;
  template <class T, class Hidden>
  using verdict =
      typename detail::rules::row_formula_rule<T, Hidden, Name, Formula, Weights...>::type;
};
}  // namespace block_parts
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
