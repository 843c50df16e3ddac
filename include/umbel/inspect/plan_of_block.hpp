// SPDX-License-Identifier: BSL-1.0
// The page of a block (describe.hpp): its parts and norms in order, by name.
#pragma once

#include <umbel/block/residual_block.hpp>
#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/row_formula.hpp>
#include <umbel/inspect/formula_cycles.hpp>
#include <umbel/inspect/plan_of.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// A part's page: put_what<N, M>(out) after its name, then its steps, put<N, M>(out, margin), which
// returns a page_sum. N: positions; M: positions it attends to.
template <class Layer>
struct plan_of_part;
template <is_multi_head Layer>
struct plan_of_part<Layer> {
  template <std::size_t N, std::size_t M>
  using plan = plan_of<Layer, axes::query<N>, axes::key<M>>;
  template <std::size_t N, std::size_t M, class Writer>
  static constexpr void put_what(Writer& out) {
    put_sizes<plan<N, M>>(out);
  }
  template <std::size_t N, std::size_t M, class Writer>
  static constexpr page_sum put(Writer& out, std::size_t margin) {
    return put_attention<plan<N, M>>(out, margin);
  }
};
template <class T, class Hidden, class Wide, class... Options>
struct plan_of_part<feed_forward<T, Hidden, Wide, Options...>> {
  using layer = feed_forward<T, Hidden, Wide, Options...>;
  static constexpr std::size_t wide = layer::wide_axis::size, narrow = layer::narrow_axis::size;
  static constexpr bool has_bias = layer::has_bias;
  template <std::size_t N, std::size_t, class Writer>
  static constexpr void put_what(Writer& out) {
    out.put(N, N == 1 ? " position of " : " positions of ", narrow);
    out.put(", by ", wide,
            layer::is_gated ? " intermediate features, gated" : " intermediate features");
  }
  template <std::size_t N, std::size_t, class Writer>
  static constexpr page_sum put(Writer& out, std::size_t margin) {
    return put_network<T, kernel::linear_shape{N, narrow, wide, narrow, 1, wide, 1, has_bias},
                       kernel::linear_shape{N, wide, narrow, wide, 1, narrow, 1, has_bias},
                       layer::is_gated>(out, margin);
  }
};
template <class T, class Hidden, class... Options>
struct plan_of_part<linear<T, Hidden, Hidden, Options...>> {
  template <std::size_t N, std::size_t, class Writer>
  static constexpr void put_what(Writer& out) {
    out.put(N, N == 1 ? " position of " : " positions of ", Hidden::size);
  }
  template <std::size_t N, std::size_t, class Writer>
  static constexpr page_sum put(Writer& out, std::size_t margin) {
    return put_map<T, residual::rows_of_part<linear<T, Hidden, Hidden, Options...>>::of_rows(N)>(
        out, margin);
  }
};
// A formula: a line for each product, the others together.
template <class T, class Hidden, class F, class... Weight>
struct plan_of_part<residual::formula_of_rows<T, Hidden, F, Weight...>> {
  using layer = residual::formula_of_rows<T, Hidden, F, Weight...>;
  template <std::size_t N>
  using steps = formulas::cycles_of_formula<F, typename layer::template rows<N>,
                                            typename layer::weights_view>;
  template <std::size_t N, std::size_t, class Writer>
  static constexpr void put_what(Writer& out) {
    out.put(N, N == 1 ? " position of " : " positions of ", Hidden::size);
    out.put(", a formula of ", steps<N>::p.count, steps<N>::p.count == 1 ? " step" : " steps");
  }
  template <std::size_t N, std::size_t, class Writer>
  static constexpr page_sum put(Writer& out, std::size_t margin) {
    page_sum all{0, static_cast<double>(steps<N>::flops())};
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      (put_step<N, S>(out, margin, all), ...);
    }(std::make_index_sequence<steps<N>::p.count>{});
    return all;
  }

 private:
  template <std::size_t N, std::size_t S, class Writer>
  static constexpr void put_step(Writer& out, std::size_t margin, page_sum& all) {
    constexpr formulas::step one = steps<N>::p.steps[S];
    if constexpr (one.kind == formulas::step_kind::product) {
      using product = formulas::product_step<typename steps<N>::run, one.root, one.to, one.product>;
      if constexpr (product::projects)
        put_linear(out, margin, "map", linear_step_of<product::linear(), T>());
    }
    all.cycles += steps<N>::template cycles_of<S>();
  }
};

// N: positions of the sequence; M: of its memory. Block: a description (block/description.hpp) of
// layers, or of a rank's share of them.
template <class Block, std::size_t N, std::size_t M>
struct plan_of_block {
  using T = typename Block::value_type;

  template <std::size_t I, class Writer>
  static constexpr void put_event(Writer& out, page_sum& all) {
    using residual::act;
    constexpr residual::event e = Block::template event_at<I>;
    using step = typename Block::template step_at<e.step>;
    constexpr bool norms = (e.what == act::before && step::norms_before) || e.what == act::after ||
                           (e.what == act::joined && step::norms_behind);
    if constexpr (norms || e.what == act::part)
      out.put(Block::template slot_name<e.slot>::text, ": ");
    if constexpr (norms) {
      put_word<typename Block::norm::word>(out);
      out.put('\n');
    }
    if constexpr (e.what == act::part) {
      using part = plan_of_part<typename Block::template layer_at<e.slot>>;
      constexpr std::size_t keys = e.sees == residual::reads::memory ? M : N;
      part::template put_what<N, keys>(out);
      out.put('\n');
      const page_sum one = part::template put<N, keys>(out, 1);
      all = {all.cycles + one.cycles, all.flops + one.flops};
    } else if constexpr (e.what == act::joined) {
      if constexpr (step::adds || e.part > 0) {
        out.put("sum: ");
        if constexpr (step::has_layer_scale) out.put(step::scale_name::text, " times ");
        if constexpr (step::is_scaled) out.put(step::numerator, "/", step::denominator, " of ");
        out.put(Block::template part_name<e.number>::text, " is added\n");
      }
    }
  }
  template <std::size_t... I, class Writer>
  static constexpr page_sum put_events(std::index_sequence<I...>, Writer& out) {
    page_sum all;
    (put_event<I>(out, all), ...);
    return all;
  }
  // Word: the layer's. Count: the layers of a stack; 0 for a single layer.
  template <class Word, std::size_t Count, class Scratch, class Writer>
  static constexpr void put(Writer& out) {
    if constexpr (Count != 0)
      out.put("layer_stack, ", Count, Count == 1 ? " layer: " : " layers, each: ");
    put_title<Word>(out);
    put_table_head<T>(out);
    put_sum<T>(out, put_events(std::make_index_sequence<Block::event_count>{}, out));
    put_scratch<Scratch>(out);
  }
  template <class Word, class Writer>
  static constexpr void put_title(Writer& out) {
    put_word<Word>(out);
    out.put(", ", N, N == 1 ? " position of " : " positions of ", Block::width);
    if constexpr (Block::has_memory) out.put(" and a memory of ", M);
  }
  // Scratch: type, a residual::scratch_for, and of_part<Number>; parts reuse the same memory.
  template <class Scratch, class Writer>
  static constexpr void put_scratch(Writer& out) {
    put_workspace_head(out);
    if constexpr (Block::reads_normed) put_bytes(out, "normed", sizeof(Scratch::type::normed));
    if constexpr (Block::has_branch) put_bytes(out, "branch", sizeof(Scratch::type::branch));
    put_parts<Scratch>(out, std::make_index_sequence<Block::part_count>{});
    put_bytes(out, "all", sizeof(typename Scratch::type));
    if constexpr (Block::part_count > 1) {
      out.put_aligned("", 10);
      out.put("the parts use the same bytes, one after another\n");
    }
  }
  template <class Scratch, class Writer, std::size_t... Number>
  static constexpr void put_parts(Writer& out, std::index_sequence<Number...>) {
    (put_part<typename Scratch::template of_part<Number>>(out,
                                                          Block::template part_name<Number>::text),
     ...);
  }
  template <class Scratch, class Writer>
  static constexpr void put_part(Writer& out, const char* name) {
    put_bytes(out, name, std::is_empty_v<Scratch> ? 0 : sizeof(Scratch));
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
