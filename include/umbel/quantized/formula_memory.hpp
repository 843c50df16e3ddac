// SPDX-License-Identifier: BSL-1.0
// The memory of a call of a formula in integers, and how a contraction is a product of matrices,
// which sets most of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/quantized/formula_numbers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// A contraction as products of matrices (rows, depth) by (depth, columns), one for each batch.
template <class Model, int N>
struct contraction_of {
  static constexpr const auto& plan = Model::plan;
  static constexpr const auto& summed = Model::template summed<N, 0>;
  // 0: the first operand is a softmax along the summed axis; 1: the second; 2: none.
  static constexpr std::size_t weights =
      plan.step[N] == integer_step::context ? plan.weights_of(N) : 2;
  // The axes of the result that both operands have, or only one.
  static constexpr axis_list axes_of(bool first, bool second) noexcept {
    axis_list list;
    const auto& node = plan.at(N);
    for (std::size_t a = 0; a < node.axes.rank; ++a)
      if (node.from[0].axes.has(node.axes.family[a]) == first &&
          node.from[1].axes.has(node.axes.family[a]) == second)
        list.set(list.rank++, node.axes, a);
    return list;
  }
  static constexpr axis_list batch = axes_of(true, true), of_rows = axes_of(true, false),
                             of_columns = axes_of(false, true);
  static constexpr std::size_t rows = of_rows.count(), columns = of_columns.count(),
                               depth = summed.count();
  static constexpr std::size_t row_step =
      of_rows.rank == 0 ? columns : of_rows.stride[of_rows.rank - 1];
  static constexpr bool has_rows = plan.has_rows(N);
  static constexpr std::size_t x_row =
      has_rows && of_rows.rank != 0 ? plan.at(N).from[0].axes.stride_of(of_rows.family[0]) : depth;
  static constexpr bool are_even(const axis_list& axes, std::size_t step) noexcept {
    for (std::size_t a = axes.rank; a-- > 0; step *= axes.size[a])
      if (axes.stride[a] != step) return false;
    return true;
  }
  // Few queries read the kept values of a cache in place.
  static constexpr bool reads_past = Model::template reads_past<N>;
  // Can the kernel of linear maps write it? Not if the softmax is the second operand.
  static constexpr bool is_product = weights != 1 && columns > 1 && are_even(of_columns, 1) &&
                                     are_even(of_rows, row_step) && !reads_past;
  static constexpr bool adds_rows = [] {
    const axis_list& other = plan.at(N).from[1].axes;
    return reads_past && weights != 1 && of_columns.rank == 1 && summed.rank == 1 &&
           other.stride_of(of_columns.family[0]) == 1;
  }();
  struct scratch_of_panel {
    kernel::integer_panels<depth, columns> panel;
    kernel::plain::average averages[weights < 2 ? rows : 1];
  };
  struct scratch_of_rows {
    std::int32_t sums[columns];
  };
  using scratch = std::conditional_t<adds_rows, scratch_of_rows, scratch_of_panel>;
};

// The memory of a call: values, rows of a product in the kernel's order if theirs is different, and
// a contraction's second operand as a panel, with the averages of its rows.
template <class Model>
struct integer_workspace : workspace_base {
  template <int N>
  static constexpr std::size_t panel() noexcept {
    constexpr bool contracts = Model::plan.step[N] == integer_step::contraction ||
                               Model::plan.step[N] == integer_step::context;
    if constexpr (contracts && Model::plan.needed[N]) {
      using of = contraction_of<Model, N>;
      if constexpr (of::is_product || of::adds_rows)
        return sizeof(typename of::scratch);
      else
        return 1;
    } else {
      return 1;
    }
  }
  template <int... N>
  static constexpr std::size_t largest_panel(std::integer_sequence<int, N...>) noexcept {
    std::size_t most = 1;
    ((most = panel<N>() > most ? panel<N>() : most), ...);
    return most;
  }
  alignas(64) std::int8_t narrow[Model::plan.narrow_elements + 64];
  alignas(64) std::int16_t wide[Model::plan.wide_elements + 64];
  alignas(64) std::int8_t rows_in[Model::plan.rows_in + 1];
  alignas(64) std::int16_t rows_out[Model::plan.rows_out + 1];
  alignas(64) unsigned char memory_of_panel[largest_panel(typename Model::sequence{})];
};

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
