// SPDX-License-Identifier: BSL-1.0
// Estimated costs of a formula's steps (plan/cost.hpp): projections, contractions, attention,
// softmaxes, cumulative sums, kth_largest and elementwise steps.
#pragma once

#include <bit>
#include <umbel/config.hpp>
#include <umbel/inspect/formula_steps.hpp>
#include <umbel/inspect/plan_text.hpp>
#include <umbel/kernel/float/contract.hpp>
#include <umbel/plan/cost.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// In cycles of this build's target.
template <class F, class... X>
struct cycles_of_formula : steps_of_formula<F, X...> {
  using base = steps_of_formula<F, X...>;
  using base::p;
  using typename base::T, typename base::run;
  static constexpr plan::target machine = plan::native_target;
  static constexpr std::size_t lanes = plan::lanes<T>(machine);

  static constexpr double contraction_cycles(const node_of_graph<T>& one) {
    const auto [shape, products] = products_of(one);
    return static_cast<double>(products) *
           static_cast<double>(kernel::contract_cost<T>(shape, machine)) / 2;
  }
  static constexpr double projection_cycles(const node_of_graph<T>& one) {
    const std::size_t at = one.from[0].axes.position(one.summed[0]);
    const std::size_t in = one.from[0].axes.size[at], out = one.axes.size[at];
    return plan::cycles<T>(plan::plan_linear<T>(one.axes.count() / out, in, out, machine), in);
  }
  static constexpr double word_cycles(word w) {  // per vector
    if (is_function(w)) return entry_of(w).cycles;
    switch (w) {
      case word::number:
      case word::position:
        return 0;
      case word::softmax:
        return 5;
      case word::divide:
        return 3;
      default:
        return 0.5;
    }
  }
  static constexpr double elementwise_cycles(const step& s) {
    double each = 1;  // load and store
    for (int n = 0; n < p.g.count; ++n)
      if (p.computes(n, s.root) && n != s.product) each += word_cycles(p.at(n).what);
    return each * static_cast<double>(plan::divide_up(p.at(s.root).axes.count(), lanes));
  }
  // A cumulative sum, or the layers of kth_largest's network.
  static constexpr double known_call_cycles(const node_of_graph<T>& node) {
    const axis_list& read = p.at(node.from[0].node).axes;
    double each = 1.5;
    if (node.kth != 0) {
      const std::size_t others = read.size_of(node.summed[0]) - node.kth + 1;
      const auto layers = std::bit_width((others > node.kth ? node.kth : others) - 1);
      each = 1 + 0.375 * static_cast<double>(layers * (layers + 3));
    }
    return each * static_cast<double>(plan::divide_up(read.count(), lanes));
  }
  // An elementwise step, product, softmax or known call, without parts.
  static constexpr double step_cycles(const step& s) {
    double cycles = 0;
    if (s.product >= 0) {
      const node_of_graph<T>& product = p.at(s.product);
      cycles =
          product.what == word::project ? projection_cycles(product) : contraction_cycles(product);
    }
    const word last = p.at(s.root).what;
    if (s.root != s.product && (is_elementwise(last) || last == word::softmax))
      cycles += elementwise_cycles(s);
    if (is_known_call(p.at(s.root))) cycles += known_call_cycles(p.at(s.root));
    return cycles;
  }
  // The heads of one of the outer loops, as computed.
  template <std::size_t S>
  static constexpr detail::attend_step attention_of_heads() {
    constexpr int root = p.steps[S].root;
    using step_run = formulas::attend_step<run, root, p.steps[S].to>;
    using heads =
        heads_of_sequence<step_run::shape, step_run::heads, T, formula_scoring<run, root>>;
    return attend_step_of<step_run::shape, step_run::heads, T,
                          heads::template form<formula_mask<run, root>>>();
  }
  template <std::size_t S>
  static constexpr double attention_cycles() {
    using step_run = formulas::attend_step<run, p.steps[S].root, p.steps[S].to>;
    using of = typename step_run::of;
    const double seen =
        static_cast<double>(seen_pairs<of>()) / static_cast<double>(of::queries * of::keys);
    return static_cast<double>(of::loops.count() / step_run::heads.heads) * seen *
           attention_of_heads<S>().cycles;
  }
  // Of step S and its parts.
  template <std::size_t S>
  static constexpr double cycles_of() {
    constexpr step s = p.steps[S];
    if constexpr (s.kind == step_kind::attend) return attention_cycles<S>();
    const auto share = base::template keys_of<S>();
    double cycles = share.of(step_cycles(s));
    for (std::size_t i = 0; i < s.parts; ++i)
      cycles += share.of(step_cycles(p.steps[s.first_part + i]), i);
    return cycles;
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
