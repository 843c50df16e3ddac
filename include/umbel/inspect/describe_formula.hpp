// SPDX-License-Identifier: BSL-1.0
// The plan of a formula for given arguments, as a readable page:
//
//   std::puts(umbel::describe(attend, q, k, v, slopes));
//
// It lists the steps in order, what each one fuses, where its result goes, who reads it and why it
// is stored, the tiles of its products, bytes, and estimated cycles, for row-major results and this
// build's target. The compiler makes the page from the types alone, so the program holds only its
// characters. Not included by umbel.hpp. (g++ with -fsanitize=undefined refuses it: names can't be
// compared in constant expressions.)
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/formula.hpp>
#include <umbel/formula/word_names.hpp>
#include <umbel/inspect/formula_cycles.hpp>
#include <umbel/inspect/order_of_products.hpp>
#include <umbel/inspect/plan_text.hpp>
#include <umbel/text/writer.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::formulas {

template <class F, class... X>
struct description : cycles_of_formula<F, X...> {
  using base = cycles_of_formula<F, X...>;
  using base::p, base::named, base::machine, base::lanes;
  using typename base::T, typename base::run;

  // The step that writes node n, counted from 1.
  static constexpr std::size_t step_of(int n) {
    for (std::size_t s = 0; s < p.count; ++s)
      if (step_writes(p, p.steps[s], n)) return s + 1;
    return 0;
  }
  template <class Writer>
  static constexpr void put_operand(Writer& out, int n) {
    if (p.at(n).what == word::argument && p.g.arguments > p.at(n).slot)
      out.put("argument ", p.at(n).slot + 1);
    else if (p.at(n).what == word::argument)
      out.put("part ", p.at(n).slot - p.g.arguments + 1, " of an argument");
    else
      out.put("step ", step_of(n));
  }
  // The nodes that a step and its parts compute, and those that they read. Found once, since clang
  // allows a million steps per constant expression.
  struct nodes_of_step {
    bool computes[run::nodes]{}, reads[run::nodes]{};

    constexpr void collect(const step& s, const readings<run::nodes>& readers) {
      for (std::size_t i = 0; i < s.parts; ++i) collect(p.steps[s.first_part + i], readers);
      bool here[run::nodes]{};
      for (int n = p.g.count; n-- > 0;) {
        here[n] = p.root[n] == s.root;
        for (std::size_t r = readers.first[n]; p.root[n] == everywhere && r < readers.first[n + 1];
             ++r)
          here[n] = here[n] || here[readers.all[r].by];
        for (std::size_t j = 0; here[n] && j < p.at(n).operands; ++j)
          reads[p.at(n).from[j].node] = true;
        computes[n] = computes[n] || here[n];
      }
      computes[s.to] = true;
    }
  };
  struct nodes_of_steps {
    nodes_of_step of[p.count + 1];
  };
  static constexpr nodes_of_steps nodes = [] {
    nodes_of_steps found;
    const readings<run::nodes> readers{p.g};
    for (std::size_t s = 0; s < p.count; ++s) found.of[s].collect(p.steps[s], readers);
    return found;
  }();
  static constexpr bool computes(std::size_t s, int n) { return nodes.of[s].computes[n]; }
  static constexpr bool reads(std::size_t s, int n) {
    return nodes.of[s].reads[n] && !step_writes(p, p.steps[s], n);
  }
  // The shape of node n. A stored number of positions has their axes or distances.
  template <class Writer>
  static constexpr void put_shape(Writer& out, int n) {
    if (p.at(n).axes.has(distance_family)) {
      out.put(p.at(n).axes.size_of(distance_family), " distances");
      if (p.at(n).axes.rank > 1) out.put(" for each of ", named.nodes[n].shape);
      return;
    }
    if (!named.nodes[n].open) return out.put(named.nodes[n].shape);
    const axis_list& axes = p.at(n).axes;
    for (std::size_t i = 0; i < axes.rank; ++i) {
      int m = 0;
      while (p.at(m).what != word::position || p.at(m).family != axes.family[i]) ++m;
      out.put(i == 0 ? "[" : ", ", named.nodes[m].name, '=', axes.size[i]);
    }
    out.put(']');
  }
  // Prints the inputs of step s, each once; nothing for a program of positions.
  template <class Writer>
  static constexpr void put_reads(Writer& out, std::size_t s) {
    const step& of = p.steps[s];
    bool said[run::nodes]{}, first = true;
    for (int n = 0; n < p.g.count; ++n) {
      if (!computes(s, n)) continue;
      for (std::size_t j = 0; j < p.at(n).operands; ++j) {
        const int from = p.at(n).from[j].node;
        if (said[from] || step_writes(p, of, from) ||
            !(p.stored[from] || p.at(from).what == word::argument))
          continue;
        if (n == of.to && n != of.root) continue;  // its own result, on its way
        said[from] = true;
        out.put(first ? "\n  reads   " : ", ");
        put_operand(out, from);
        first = false;
      }
    }
  }
  static constexpr bool is_together(int n, std::size_t s) {
    return p.at(n).what != word::number && p.at(n).what != word::position && computes(s, n);
  }
  // Is n a product with the values of this step?
  static constexpr bool is_context(const step& s, int n) {
    bool found = n == s.product;
    for (std::size_t i = s.before(); i < s.parts; ++i)
      found = found || n == p.steps[s.first_part + i].product;
    return found;
  }
  template <class Writer>
  static constexpr void put_together(Writer& out, std::size_t number) {
    const step& s = p.steps[number];
    bool first = true;
    for (int n = 0; n < p.g.count; ++n) {
      if (!is_together(n, number)) continue;
      out.put(first ? "" : ", ");
      first = false;
      const bool attends = s.kind == step_kind::attend || s.kind == step_kind::rows;
      if (attends && (s.kind == step_kind::rows ? is_context(s, n) : n == s.root))
        out.put("context");
      else if (attends && p.at(n).what == word::contract)
        out.put("scores");
      else if (s.kind == step_kind::attend && n == s.to)
        out.put("its order in memory");
      else if (named.nodes[n].name != nullptr && !is_elementwise(p.at(n).what))
        out.put(named.nodes[n].name);
      else
        out.put(name_of(p.at(n).what));
      if (p.at(n).has_label) out.put(" '", p.at(n).label, "'");
    }
  }
  static constexpr const char* kind_of(const step& s) {
    if (s.kind == step_kind::attend || s.kind == step_kind::rows) return "attention";
    if (s.kind == step_kind::elementwise) return "elementwise";
    const int n = s.kind == step_kind::product ? s.product : s.root;
    return named.nodes[n].name != nullptr ? named.nodes[n].name : "call";
  }
  // Why the step with all or one of node n's readers can't compute it.
  static constexpr const char* why_stored(int n) {
    const step& own = p.steps[step_of(n) - 1];
    if (own.kind != step_kind::elementwise && own.kind != step_kind::product)
      return "a step of its own";
    std::size_t steps = 0;
    for (std::size_t s = 0; s < p.count; ++s) steps += reads(s, n);
    if (steps > 1) return "read by several steps";
    for (int m = n + 1; m < p.g.count; ++m)
      for (std::size_t j = 0; j < p.at(m).operands; ++j) {
        if (p.at(m).from[j].node != n || p.root[m] == nowhere) continue;
        if (is_product(p.at(m).what)) return "an operand of a product";
        if (!is_elementwise(p.at(m).what) && !p.reduces_rows(m)) return "an operand of a call";
        if (!p.reads_as_is(p.at(m).from[j]) || !p.same_axes(p.at(m).axes, p.at(n).axes))
          return "read by other axes";
      }
    return own.product >= 0 ? "a second product" : "read by other axes";
  }
  // The readers of node n from memory; none if only the step that computes it reads it.
  template <class Writer>
  static constexpr void put_readers(Writer& out, int n) {
    if (p.result[n] >= 0) {
      out.put("result");
      if (p.g.results > 1) out.put(' ', static_cast<std::size_t>(p.result[n]) + 1);
    } else {
      out.put("stored, ");
      out.put_aligned(p.at(n).axes.count() * sizeof(T), 0);
      out.put(" bytes");
    }
    const char* between = ", read by step ";
    for (std::size_t s = 0; s < p.count; ++s) {
      if (!reads(s, n)) continue;
      out.put(between, s + 1, " (", kind_of(p.steps[s]));
      out.put(')');
      between = " and ";
    }
    if (p.result[n] < 0) out.put(": ", why_stored(n));
  }

  // Lines for the products of step s that would be cheaper in a different order.
  template <class Writer>
  static constexpr void put_cheaper_orders(Writer& out, std::size_t s) {
    const auto put_factor = [&](int n) {
      if (n < 0)
        out.put("the weights");
      else if (p.at(n).what == word::argument || step_of(n) != 0)
        put_operand(out, n);
      else
        out.put(name_of(p.at(n).what));
    };
    for (int n = 0; n < p.g.count; ++n) {
      const cheaper_order order = computes(s, n) ? cheaper_order_of(p, n) : cheaper_order{};
      if (order.reordered == 0) continue;
      out.put("\n  order   ");
      put_factor(order.first);
      out.put(" times ");
      put_factor(order.second);
      out.put(" first would take ");
      out.put_aligned(static_cast<std::size_t>(order.reordered), 0);
      out.put(" multiplications instead of ");
      out.put_aligned(static_cast<std::size_t>(order.as_written), 0);
      out.put(", with other bits");
    }
  }

  template <class Of, class Writer>
  static constexpr void put_product_tiles(Writer& out) {
    out.put("\n  tiles   ");
    if constexpr (Of::projects) {
      constexpr auto rows = Of::rows();
      std::size_t times = 1;
      for (std::size_t i = 1; i < rows.count; ++i) times *= rows.list[i].extent;
      if (times != 1) out.put(times, " times ");
      put_tiles(out, linear_step_of<Of::linear(), T>());
    } else {
      put_tiles_of_contraction<Of::contraction(), T>(out);
    }
  }
  // For a block of queries, of a chunk of keys.
  template <std::size_t S, class Writer>
  static constexpr void put_tiles_of_rows(Writer& out) {
    using rows = row_step<run, S>;
    constexpr auto& blocks = rows::blocks;
    using all = block_run<run, S, blocks, blocks.rows>;
    using block = block_run<run, S, blocks, blocks.rows, blocks.chunk != 0 ? blocks.chunk : npos>;
    constexpr step s = p.steps[S];
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto put_part = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
        constexpr step part = p.steps[s.first_part + J];
        if constexpr (part.kind == step_kind::product)
          put_product_tiles<product_step<
              std::conditional_t<(blocks.chunk != 0 && !blocks.chunked[J]), all, block>, part.root,
              part.root, part.product>>(out);
      };
      (put_part(std::integral_constant<std::size_t, I>{}), ...);
    }(std::make_index_sequence<s.parts>{});
    put_product_tiles<product_step<block, s.root, s.to, s.product>>(out);
  }

  template <class Writer>
  static constexpr void put_distance(Writer& out, double distance) {
    out.put('i');
    if (distance != 0) out.put(distance < 0 ? " - " : " + ", distance < 0 ? -distance : distance);
  }
  template <class Writer, class Bound>
  static constexpr void put_bound(Writer& out, const char* from, const Bound& bound) {
    out.put(from);
    if (bound.is_number()) {
      out.put(bound.least);
      return;
    }
    put_distance(out, bound.offset);
    if (bound.least > -1e9) out.put(", at least ", bound.least);
    if ((bound.most) < 1e9) out.put(", at most ", bound.most);
  }
  // The keys that each query reads.
  template <class Writer>
  static constexpr void put_range(Writer& out, const score_form<T>& form) {
    if (form.has_length()) {
      out.put("as many keys are read as ");
      put_operand(out, p.at(form.length.node).from[form.length.j].node);
      out.put(form.is_window() ? " says; " : " says");
    }
    if (form.is_window())
      out.put("query i reads keys ");
    else if (!form.has_range())
      out.put("all keys are read");
    if (form.low > -1e9) put_distance(out, form.low);
    if (form.is_window()) out.put(form.low > -1e9 ? " to " : "up to ");
    if ((form.high) < 1e9)
      put_distance(out, form.high);
    else if (form.is_window())
      out.put("the last");
    if (form.is_clamped()) {
      if (form.is_window() || form.has_length()) out.put("; ");
      out.put("query i reads keys");
      if (form.first.known) put_bound(out, " from ", form.first);
      if (form.last.known) put_bound(out, " up to ", form.last);
    }
  }
  template <std::size_t S, class Writer>
  static constexpr double put_step(Writer& out) {
    constexpr step s = p.steps[S];
    out.put("step ", S + 1, "  ");
    put_shape(out, s.to);
    out.put("  ");
    put_readers(out, s.to);
    put_reads(out, S);
    out.put("\n  does    ");
    put_together(out, S);
    constexpr double cycles = base::template cycles_of<S>();
    if constexpr (s.kind == step_kind::attend) {
      using of = attention_of<run, s.root>;
      out.put("\n  scores  ");
      if (of::form.general)
        out.put("changed one by one; ");
      else if (of::form.factor != T{1})
        out.put("times ", static_cast<double>(of::form.factor), ", which the queries take; ");
      if (of::form.additions != 0)
        out.put(of::form.additions, of::form.additions == 1 ? " addition; " : " additions; ");
      if (of::form.hides != 0)
        out.put(of::form.hides, of::form.hides == 1 ? " selection; " : " selections; ");
      put_range(out, of::form);
      out.put("\n  tiles   ");
      put_tiles(out, base::template attention_of_heads<S>());
    } else {
      if constexpr (s.kind == step_kind::rows) {
        using step_run = row_step<run, S>;
        out.put("\n  blocks  ", step_run::blocks.rows, " queries at a time, ");
        out.put_aligned(step_run::scratch * sizeof(T), 0);
        out.put(" bytes of scratch");
        out.put("\n  keys    ");
        if (step_run::blocks.chunk != 0) {
          out.put(step_run::blocks.chunk, " at a time; ");
          put_range(out, step_run::of::form);
        } else {
          out.put("all keys are read");
        }
        put_tiles_of_rows<S>(out);
      } else if constexpr (s.kind == step_kind::product) {
        put_product_tiles<product_step<run, s.root, s.to, s.product>>(out);
      }
    }
    put_cheaper_orders(out, S);
    if (cycles != 0) {
      out.put("\n  cycles  ");
      out.put_aligned(static_cast<std::size_t>(cycles), 0);
    }
    out.put('\n');
    return cycles;
  }
  template <class Writer>
  static constexpr void put(Writer& out) {
    out.put("formula of ", sizeof...(X), sizeof...(X) == 1 ? " argument, " : " arguments, ");
    out.put(sizeof(T) == 4 ? "float" : "double", ", ", machine.registers, " registers of ");
    out.put(lanes, "\n\n");
    double cycles = 0;
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      for (const double of_step : {0.0, put_step<S>(out)...}) cycles += of_step;
    }(std::make_index_sequence<p.count>{});
    using needed = formula_workspace<F, row_major_layouts<traced_result<F, X...>>,
                                     typename argument_of<X>::type...>;
    using called = typename needed::run;
    constexpr std::size_t stored = called::value.workspace;
    constexpr std::size_t scratch = called::most_scratch(typename called::steps{});
    if constexpr (called::sequences.count != 1)
      out.put("\nall steps for one of ", called::sequences.count,
              " sequences, then for the next\n");
    out.put("\ncycles     ");
    out.put_aligned(static_cast<std::size_t>(cycles), 0);
    out.put("\nworkspace  ");
    out.put_aligned(sizeof(typename needed::type), 0);
    out.put(" bytes: ");
    out.put_aligned(stored * sizeof(T), 0);
    out.put(" of what is stored, ");
    if constexpr (needed::stored != stored) {
      out.put_aligned((needed::stored - stored) * sizeof(T), 0);
      out.put(" more for results that are not row-major, ");
    }
    out.put_aligned(scratch * sizeof(T), 0);
    out.put(" of scratch\n");
  }
};

}  // namespace detail::formulas

// describe(f, x...): the plan of formula f for arguments of these types, as zero-terminated lines
// of ASCII. Bad arguments get the same messages as in a call.
template <class F, class... X>
  requires detail::formulas::takes<F, X...>
constexpr const char* describe(const formula<F>&, const X&...) noexcept {
  using result = detail::formulas::traced_result<F, X...>;
  using verdict = detail::first_error<detail::formulas::arguments_of_one_type<X...>,
                                      detail::rules::gives<result>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && !std::is_same_v<typename detail::formulas::given_rule<result>::type,
                                               detail::invalid>)
    return detail::page_of<detail::formulas::description<F, X...>>.text;
  else
    return "";
}

template <class F, class... X>
constexpr const char* describe(const formula<F>&, const X&...) noexcept {
  static_assert(detail::report<detail::rules::takes<detail::never<F>>>::ok,
                "umbel: shapes do not fit");
  return "";
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
