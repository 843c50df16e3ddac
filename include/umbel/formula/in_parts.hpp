// SPDX-License-Identifier: BSL-1.0
// The steps of a formula by several workers (layer/executor.hpp). Independent steps are handed out
// together. A step is cut along its loops: attention by heads or blocks of queries, a product by
// blocks of rows, an elementwise program by blocks of elements; others are one piece. Every element
// is computed as by one worker, so results don't depend on their number.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/place_nodes.hpp>
#include <umbel/formula/run.hpp>
#include <umbel/layer/executor.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// `total` positions in at most Most blocks of `size`; the last may be smaller.
struct even_blocks {
  std::size_t total, size, count;
  constexpr even_blocks(std::size_t of, std::size_t most, std::size_t multiple) noexcept
      : total(of), size(plan::divide_up(plan::divide_up(of, most), multiple) * multiple), count(0) {
    if (size > total) size = total;
    count = plan::divide_up(total, size);
  }
  constexpr std::size_t last() const noexcept { return total - (count - 1) * size; }
};

// Run: a run_of. S: the number of a step. Workers: their number.
template <class Run, std::size_t S, std::size_t Workers>
struct step_in_parts {
  using T = typename Run::value_type;
  static constexpr step this_step = Run::value.steps[S];
  // More than workers, to wait less for a late one.
  static constexpr std::size_t most = 4 * Workers;

  // An elementwise step: positions of its outermost loop, or vectors.
  template <class Each>
  struct elements {
    static constexpr axis_list loops = Each::loops;
    static constexpr std::size_t lanes = plan::lanes<T>(plan::native_target);
    static constexpr bool outer = loops.rank > 1;
    static constexpr std::size_t wanted = loops.count() / 4096;
    static constexpr even_blocks blocks{loops.size[0],
                                        wanted == 0     ? 1
                                        : wanted < most ? wanted
                                                        : most,
                                        outer ? 1 : lanes};
    static constexpr std::size_t count = blocks.count;

    static void take(const Run& run, T* to, std::size_t piece) noexcept {
      const Run local_run = run;  // so that stores can't alias it
      std::size_t index[most_axes]{};
      const std::size_t begin = piece * blocks.size;
      const std::size_t end = piece + 1 == count ? blocks.total : begin + blocks.size;
      if constexpr (outer) {
        for (std::size_t i = begin; i < end; ++i) {
          index[0] = i;
          Each::template over<1, lanes>(local_run, index, to + i * loops.stride[0]);
        }
      } else {
        using V = simd::pack<T, lanes>;
        for (std::size_t first = begin; first < end; first += lanes) {
          const std::size_t here = end - first < lanes ? end - first : lanes;
          Each::template write<V>(local_run, index, to, first, here);
        }
      }
    }
  };

  // Attention: heads, or the loops around those computed together.
  template <class Attend>
  struct heads {
    using of = typename Attend::of;
    static constexpr const attention_parts& parts = Attend::parts;
    using mask = formula_mask<Run, this_step.root>;
    using scoring = formula_scoring<Run, this_step.root>;
    using all = heads_of_sequence<Attend::shape, Attend::heads, T, scoring>;
    static constexpr bool together = all::template together<mask>;
    static constexpr std::size_t loops = together ? Attend::outer : of::loops.rank;
    static constexpr std::size_t count = [] {
      std::size_t product = 1;
      for (std::size_t i = 0; i < loops; ++i) product *= of::loops.size[i];
      return product;
    }();

    static void take(const Run& run, T* to, T* scratch, std::size_t piece) noexcept {
      std::size_t index[most_axes]{};
      for (std::size_t i = loops; i-- > 0; piece /= of::loops.size[i])
        index[i] = piece % of::loops.size[i];
      const auto at = [&](const axis_list& axes) {
        std::size_t sum = 0;
        for (std::size_t i = 0; i < Attend::outer; ++i)
          sum += index[i] * axes.stride_of(of::loops.family[i]);
        return sum;
      };
      const T* const q = run.template memory<parts.q.node>() + parts.q.offset + at(parts.q.axes);
      const T* const k = run.template memory<parts.k.node>() + parts.k.offset + at(parts.k.axes);
      const T* const v = run.template memory<parts.v.node>() + parts.v.offset + at(parts.v.axes);
      T* const o = to + at(Attend::out);
      if constexpr (together || of::loops.rank == 0) {
        all::attend(q, k, v, o, scratch, mask{run, index});
      } else {
        const std::size_t head = index[Attend::last];
        attend_head<scoring>(all::head(head, q, k, v, o, scratch), mask{run, index}(head));
      }
    }
  };

  // A product: positions of its outermost loop, or blocks of its rows.
  template <class Product>
  struct product_rows {
    static constexpr bool projects = Product::projects;
    struct outermost {
      std::size_t extent, rows, work;
    };
    static constexpr outermost sizes = [] {
      if constexpr (projects) {
        constexpr auto all = Product::rows();
        constexpr kernel::linear_shape s = Product::linear();
        return outermost{all.count > 1 ? all.list[1].extent : 1, s.rows,
                         Product::product.axes.count() * s.in};
      } else {
        constexpr auto loops = Product::contraction();
        return outermost{loops.each.count != 0 ? loops.each.list[0].extent : 1,
                         loops.paired == 1 ? loops.shape.rows : 1,
                         Product::product.axes.count() * loops.shape.depth};
      }
    }();
    static constexpr bool outer = sizes.extent >= Workers;
    static constexpr bool whole = 1 << 15 > sizes.work;
    static constexpr even_blocks blocks{outer ? sizes.extent : sizes.rows, whole ? 1 : most,
                                        outer ? 1u : 4u};
    static constexpr std::size_t count = blocks.count;

    static void take(const Run& run, T* to, std::size_t piece) noexcept {
      if constexpr (count == 1) {
        Product::template multiply<false>(run, to);
      } else {
        if constexpr (blocks.last() != blocks.size) {
          if (piece + 1 == count) return multiply<blocks.last()>(run, to, piece * blocks.size);
        }
        multiply<blocks.size>(run, to, piece * blocks.size);
      }
    }

   private:
    template <std::size_t Size>
    UMBEL_NOINLINE static void multiply(const Run& run, T* to, std::size_t first) noexcept {
      constexpr const node_of_graph<T>& product = Product::product;
      const T* const x = run.template memory<product.from[0].node>() + product.from[0].offset;
      if constexpr (projects) {
        constexpr auto all = Product::rows();
        constexpr kernel::contract_axis axis = outer ? all.list[1] : all.list[0];
        const captured<T>& w = run.captures[product.slot - Run::value.g.arguments];
        if constexpr (outer) {
          for (std::size_t i = first; i < first + Size; ++i)
            Product::template project<false, 2>(w, x + i * axis.x, to + i * axis.out);
        } else {
          Product::template project<false, 1, Size>(w, x + first * axis.x, to + first * axis.out);
        }
      } else {
        constexpr auto whole_loops = Product::contraction();
        constexpr auto loops = [] {
          auto part = Product::contraction();
          (outer ? part.each.list[0].extent : part.shape.rows) = Size;
          return part;
        }();
        constexpr kernel::contract_axis axis =
            outer ? whole_loops.each.list[0]
                  : kernel::contract_axis{0, loops.shape.x_row, 0, loops.shape.out_row};
        const T* const y = run.template memory<product.from[1].node>() + product.from[1].offset;
        Product::template contract_by<loops>(x + first * axis.x, y + first * axis.y,
                                             to + first * axis.out);
      }
    }
  };

  struct one_piece {
    static constexpr std::size_t count = 1;
  };
  static constexpr auto way() {
    if constexpr (this_step.kind == step_kind::elementwise)
      return elements<elementwise_step<Run, this_step.root, this_step.to>>{};
    else if constexpr (this_step.kind == step_kind::attend)
      return heads<attend_step<Run, this_step.root, this_step.to>>{};
    else if constexpr (this_step.kind == step_kind::product)
      return product_rows<product_step<Run, this_step.root, this_step.to, this_step.product>>{};
    else if constexpr (this_step.kind == step_kind::rows)
      return row_step<Run, S>{};
    else
      return one_piece{};
  }
  using pieces = decltype(way());
  static constexpr std::size_t count = pieces::count;

  static void take(const Run& run, T* scratch, std::size_t piece) noexcept {
    UMBEL_HAS_EFFECTS();
    if constexpr (this_step.kind == step_kind::attend)
      pieces::take(run, run.template written<this_step.to>(), scratch, piece);
    else if constexpr (this_step.kind == step_kind::rows)
      pieces::template take<false>(run, scratch, piece);
    else if constexpr (this_step.kind == step_kind::elementwise ||
                       this_step.kind == step_kind::product)
      pieces::take(run, run.template written<this_step.to>(), piece);
    else
      run.template take<false, S>(scratch);
  }
};

// The program that runs over a whole product once it is complete.
template <class Run, std::size_t S, std::size_t Workers>
struct program_in_parts {
  using T = typename Run::value_type;
  static constexpr step this_step = Run::value.steps[S];
  static constexpr auto way() {
    if constexpr (this_step.kind == step_kind::product)
      return product_step<Run, this_step.root, this_step.to, this_step.product>{};
    else
      return 0;
  }
  static constexpr bool is_there = [] {
    if constexpr (this_step.kind == step_kind::product)
      return decltype(way())::has_program;
    else
      return false;
  }();
  template <bool There>
  struct pieces {
    static constexpr std::size_t count = 0;
  };
  template <bool There>
    requires There
  struct pieces<There> {
    using elements =
        typename step_in_parts<Run, S,
                               Workers>::template elements<typename decltype(way())::elementwise>;
    static constexpr std::size_t count = elements::count;
  };
  static constexpr std::size_t count = pieces<is_there>::count;

  static void take(const Run& run, T*, std::size_t piece) noexcept {
    UMBEL_HAS_EFFECTS();
    if constexpr (is_there)
      pieces<true>::elements::take(run, run.template written<this_step.to>(), piece);
  }
};

// Does one step need the other, or do they share memory that one writes?
template <class T, std::size_t Nodes>
constexpr bool depend(const schedule<T, Nodes>& p, const step& a, const step& b) {
  const auto in_workspace = [&](int n) { return p.stored[n] && p.result[n] < 0; };
  const auto overlap = [&](int n, int m) {
    return in_workspace(n) && in_workspace(m) && p.place[n] < p.place[m] + p.at(m).axes.count() &&
           p.place[m] < p.place[n] + p.at(n).axes.count();
  };
  for (int n = 0; n < p.g.count; ++n) {
    const bool of_a = step_writes(p, a, n), of_b = step_writes(p, b, n);
    if ((of_a && step_reads(p, b, n)) || (of_b && step_reads(p, a, n))) return true;
    for (int m = 0; (of_a || of_b) && m < p.g.count; ++m) {
      const step& other = of_a ? b : a;
      if (overlap(n, m) && (step_writes(p, other, m) || step_reads(p, other, m))) return true;
    }
  }
  return false;
}

template <class Run, class Given>
struct run_in_parts {
  using T = typename Run::value_type;
  static constexpr const auto& p = Run::value;
  template <std::size_t S>
  using part = step_in_parts<Run, S, Given::workers>;
  template <std::size_t S>
  using program = program_in_parts<Run, S, Given::workers>;

  // Whole sequences are handed out, unless more than a quarter of the workers would wait for the
  // last of them. Those are computed in turn, with all workers.
  static void all(const Run& run, const Given& workers) noexcept {
    constexpr std::size_t count = Run::sequences.count, rest = count % Given::workers;
    constexpr std::size_t whole = count == 1                      ? 0
                                  : 4 * rest < 3 * Given::workers ? count - rest
                                                                  : count;
    if constexpr (whole != 0)
      workers.hand_out(whole, [&](std::size_t piece, std::size_t worker) noexcept {
        Run of_one = run;
        of_one.sequence = piece;
        of_one.work = workers.work[worker].memory;
        of_one.template all_steps<false>(typename Run::steps{});
      });
    if constexpr (whole != count) {
      Run of_one = run;
      for (of_one.sequence = whole; count > of_one.sequence; ++of_one.sequence)
        from<0>(of_one, workers);
    }
  }

 private:
  // The first step after those handed out together with step S.
  template <std::size_t S>
  static constexpr std::size_t end_of_round = [] {
    std::size_t end = S + 1;
    for (; end < p.count; ++end)
      for (std::size_t i = S; i < end; ++i)
        if (depend(p, p.steps[i], p.steps[end])) return end;
    return end;
  }();

  template <std::size_t S>
  static void from(const Run& run, const Given& workers) noexcept {
    if constexpr (S < p.count) {
      constexpr std::size_t end = end_of_round<S>;
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        hand_out<part<S + I>...>(run, workers);
        if constexpr ((program<S + I>::count + ...) != 0) hand_out<program<S + I>...>(run, workers);
      }(std::make_index_sequence<end - S>{});
      from<end>(run, workers);
    }
  }

  static T* scratch_of(const Given& workers, std::size_t worker) noexcept {
    return workers.work[worker].memory + p.workspace;
  }
  template <class... Parts>
  static void hand_out(const Run& run, const Given& workers) noexcept {
    constexpr std::size_t count = (Parts::count + ...);
    if constexpr (count == 1) {
      take_one<Parts...>(run, scratch_of(workers, 0), 0);
    } else {
      workers.hand_out(count, [&](std::size_t piece, std::size_t worker) noexcept {
        take_one<Parts...>(run, scratch_of(workers, worker), piece);
      });
    }
  }
  // The piece, counted from the first piece of the first step.
  template <class First, class... Rest>
  static void take_one(const Run& run, T* scratch, std::size_t piece) noexcept {
    if constexpr (sizeof...(Rest) != 0) {
      if (piece >= First::count) return take_one<Rest...>(run, scratch, piece - First::count);
    }
    First::take(run, scratch, piece);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
