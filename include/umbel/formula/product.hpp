// SPDX-License-Identifier: BSL-1.0
// The step of a product, contract<axes...>(x, y) or x * w, and of the elementwise program that
// begins with it: silu(x * w.gate) * up, x + y * w.o. The product is written to the result's memory
// with its strides; then the program runs over it in place.
//
// Not tile by tile while writing: the program would read and write its other operands in blocks
// that no cache predicts. A residual after a product took 1.05 of the product's time that way and
// 1.02 this way (128x256x1024; at 256x64x4096 1.68 and 1.10); an activation the same.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/elementwise.hpp>
#include <umbel/kernel/float/contract_loops.hpp>
#include <umbel/kernel/float/linear.hpp>
#include <umbel/simd/half.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// The loops of contraction n, written with these axes; for `count` positions of axis `cut`.
template <std::size_t Room, class T, std::size_t Nodes>
constexpr kernel::contract_loops<Room> loops_of_contraction(const schedule<T, Nodes>& p, int n,
                                                            const axis_list& out,
                                                            unsigned long long cut = 0,
                                                            std::size_t count = 1) {
  const node_of_graph<T>& node = p.at(n);
  const axis_list &x = node.from[0].axes, &y = node.from[1].axes;
  kernel::contract_axes<Room> kept, summed;
  for (std::size_t i = 0; i < node.axes.rank; ++i) {
    const unsigned long long family = node.axes.family[i];
    kept.push({family == cut ? count : node.axes.size[i], x.stride_of(family), y.stride_of(family),
               out.stride_of(family)});
  }
  for (std::size_t i = 0; i < node.sums; ++i) {
    const unsigned long long family = node.summed[i];
    summed.push({x.size_of(family), x.stride_of(family), y.stride_of(family), 0});
  }
  return kernel::lower_contraction<T, Room>(kept.list, kept.count, summed.list, summed.count);
}

// The rows of projection n in as few axes as possible: the longest first, the others as loops.
template <std::size_t Room, class T, std::size_t Nodes>
constexpr kernel::contract_axes<Room> rows_of_projection(const schedule<T, Nodes>& p, int n,
                                                         const axis_list& out) {
  const axis_list& x = p.at(n).from[0].axes;
  kernel::contract_axes<Room> all;
  for (std::size_t i = 0; i < x.rank; ++i)
    if (x.family[i] != p.at(n).summed[0])
      all.push({x.size[i], x.stride[i], 0, out.stride_of(x.family[i])});
  kernel::contract_axes<Room> rows = kernel::detail::merged<Room>(all.list, all.count, false);
  for (std::size_t i = 1; i < rows.count; ++i) {
    if (rows.list[i].extent <= rows.list[0].extent) continue;
    const kernel::contract_axis longer = rows.list[i];
    rows.list[i] = rows.list[0];
    rows.list[0] = longer;
  }
  return rows;
}

template <class T, weights_form Form>
struct stored_in {
  using type = T;
};
template <class T>
struct stored_in<T, weights_form::packed_bfloat16> {
  using type = bfloat16;
};
template <class T>
struct stored_in<T, weights_form::packed_float16> {
  using type = float16;
};
template <class T>
struct stored_in<T, weights_form::packed_int8> {
  using type = std::int8_t;
};

// Known: the product. Root: its program, or the product itself. To: the node to write.
template <class Run, int Root, int To, int Known>
struct product_step {
  using T = typename Run::value_type;
  using elementwise = elementwise_step<Run, Root, To, Known>;
  static constexpr const node_of_graph<T>& product = Run::value.at(Known);
  static constexpr const node_of_graph<T>& last = Run::value.at(Root);
  static constexpr axis_list out = Run::template axes_of<To>();
  static constexpr bool projects = product.what == word::project;
  // A copy needs no program: the product is written in its order.
  static constexpr bool has_program =
      Root != Known && !(last.what == word::copy && last.from[0].node == Known);

  static constexpr auto contraction(unsigned long long cut = 0, std::size_t count = 1) {
    constexpr std::size_t kept = product.axes.rank, summed = product.sums;
    return loops_of_contraction<(kept > summed ? kept : summed)>(Run::value, Known, out, cut,
                                                                 count);
  }
  template <bool Plain>
  static constexpr void contract(const T* x, const T* y, T* to) noexcept {
    constexpr auto loops = contraction();
    if constexpr (Plain)
      kernel::plain::contract_all<loops>(x, y, to);
    else
      contract_by<loops>(x, y, to);
  }
  template <auto Loops, bool Continued = false>
  UMBEL_INLINE static void contract_by(const T* x, const T* y, T* to,
                                       bool further = false) noexcept {
    constexpr std::size_t scratch_size = kernel::contract_all_scratch<Loops, T>;
    alignas(64) T scratch[scratch_size != 0 ? scratch_size : 1];
    kernel::contract_all<Loops, T, plan::native_target, Continued>(x, y, to, scratch, further);
  }

  static constexpr auto rows() {
    return rows_of_projection<product.from[0].axes.rank>(Run::value, Known, out);
  }
  // With this many rows of the longest axis.
  static constexpr kernel::linear_shape linear(std::size_t of_rows = npos) {
    const axis_list &x = product.from[0].axes, &y = product.axes;
    const unsigned long long in = product.summed[0];
    const std::size_t at = x.position(in);
    const std::size_t features = y.size[at];
    const auto all = rows();
    const bool is_single = all.count == 0;
    return {of_rows != npos ? of_rows
            : is_single     ? 1
                            : all.list[0].extent,
            x.size[at],
            features,
            is_single ? x.size[at] : all.list[0].x,
            x.stride[at],
            is_single ? features : all.list[0].out,
            out.stride_of(y.family[at]),
            product.has_bias};
  }
  template <bool Plain, std::size_t Axis, std::size_t Rows = npos>
  UMBEL_INLINE static constexpr void project(const captured<T>& w, const T* x, T* to) noexcept {
    constexpr auto all = rows();
    if constexpr (Axis < all.count) {
      for (std::size_t i = 0; i < all.list[Axis].extent; ++i)
        project<Plain, Axis + 1, Rows>(w, x + i * all.list[Axis].x, to + i * all.list[Axis].out);
    } else if constexpr (product.weights != weights_form::natural) {
      using stored = typename stored_in<T, product.weights>::type;
      kernel::linear_packed<linear(Rows)>(x, static_cast<const stored*>(w.object), w.bias, to);
    } else if constexpr (Plain) {
      kernel::plain::linear<linear(Rows)>(x, w.values, w.bias, to);
    } else {
      kernel::linear<linear(Rows)>(x, w.values, w.bias, to);
    }
  }

  template <bool Plain>
  UMBEL_INLINE static constexpr void multiply(const Run& run, T* to) noexcept {
    const T* const x = run.template begin<Known, 0>();
    if constexpr (projects) {
      project<Plain, 1>(run.captures[product.slot - Run::value.g.arguments], x, to);
    } else {
      contract<Plain>(x, run.template begin<Known, 1>(), to);
    }
  }

  static constexpr void plainly(const Run& run, T* to) noexcept {
    multiply<true>(run, to);
    if constexpr (has_program) elementwise::plainly(run, to);
  }
  UMBEL_NOINLINE static void fast(const Run& run, T* to) noexcept {
    multiply<false>(run, to);
    if constexpr (has_program) elementwise::fast(run, to);
  }
  template <bool Plain>
  static constexpr void write(const Run& run, T* to) noexcept {
    if (Plain || __builtin_is_constant_evaluated())
      plainly(run, to);
    else
      fast(run, to);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
