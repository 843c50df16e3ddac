// SPDX-License-Identifier: BSL-1.0
// The products of a formula in integers: contractions and maps, by the kernel of linear maps if it
// can write the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/linear.hpp>
#include <umbel/quantized/formula_memory.hpp>
#include <umbel/quantized/formula_numbers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// Ends a sum of weights and values. Row r of the result begins at y + r * Step.
template <std::size_t Step>
struct finish_by_rows {
  const std::int8_t* first;
  const kernel::plain::average* of_row;
  UMBEL_INLINE constexpr void operator()(std::int8_t& y, std::int32_t v) const noexcept {
    y = kernel::plain::averaged(v, of_row[static_cast<std::size_t>(&y - first) / Step]);
  }
};

template <class I>
constexpr I saturated(std::int32_t v) noexcept {
  if constexpr (sizeof(I) == 1)
    return kernel::plain::to_int8(v);
  else
    return kernel::plain::to_int16(v);
}

// Product N of a call, an integer_run.
template <class Run, int N>
struct product_of {
  using Model = typename Run::model;
  using Y = typename Model::template integer<N>;
  using of = contraction_of<Model, N>;
  static constexpr const auto& plan = Model::plan;

  // The average that divides the weights of a softmax.
  static constexpr kernel::plain::average average_over(std::int32_t sum) noexcept {
    return kernel::plain::average_over(sum == 0 ? 127 : sum);
  }
  static constexpr void contract(const Run& run, Y* y) noexcept {
    if constexpr (of::is_product)
      if (!__builtin_is_constant_evaluated()) return multiply(run, y);
    if constexpr (of::adds_rows)
      if (!__builtin_is_constant_evaluated()) return add_rows(run, y);
    walk<Model::template axes<N>, Model::template axes_of_operand<N, 0>,
         Model::template axes_of_operand<N, 1>>::
        each(
            [&](std::size_t i, std::size_t first, std::size_t second) {
              const std::int8_t *const a = run.template begin<N, 0>() + first,
                                       *const b = run.template begin<N, 1>() + second;
              std::int32_t sum = 0, weights = 0;
              walk<Model::template summed<N, 0>, Model::template summed<N, 0>,
                   Model::template summed<N, 1>>::
                  each(
                      [&](std::size_t, std::size_t at, std::size_t other) {
                        sum += std::int32_t{a[at]} * b[other];
                        if constexpr (of::weights < 2)
                          weights += of::weights == 0 ? a[at] : b[other];
                      },
                      run.template counts<N>());
              y[i] = finished(run, sum, weights);
            },
            run.template counts<N>());
  }
  static constexpr Y finished(const Run& run, std::int32_t sum, std::int32_t weights) noexcept {
    if constexpr (of::weights < 2) {
      return kernel::plain::averaged(sum, average_over(weights));
    } else {
      const auto& node_numbers = run.template of_node<N>();
      return saturated<Y>(kernel::plain::rescaled(sum, node_numbers.multiplier, node_numbers.before,
                                                  node_numbers.after));
    }
  }
  // Few queries and the values of a cache: adds the row of each key.
  static constexpr void add_rows(const Run& run, Y* y) noexcept {
    auto& scratch =
        *static_cast<typename of::scratch*>(static_cast<void*>(run.work.memory_of_panel));
    walk<of::batch, Model::template axes_of_operand<N, 0>, Model::template axes_of_operand<N, 1>,
         Model::template axes<N>>::each([&](std::size_t, std::size_t first, std::size_t second,
                                            std::size_t to_first) {
      walk<of::of_rows, Model::template axes_of_operand<N, 0>, Model::template axes<N>>::each(
          [&](std::size_t, std::size_t from, std::size_t to) {
            const std::int8_t* const a = run.template begin<N, 0>() + first + from;
            std::int32_t weights = 0;
            for (std::int32_t& sum : scratch.sums) sum = 0;
            walk<Model::template summed<N, 0>, Model::template summed<N, 0>,
                 Model::template summed<N, 1>>::
                each(
                    [&](std::size_t, std::size_t at, std::size_t other) {
                      const std::int8_t* const b = run.template begin<N, 1>() + second + other;
                      const std::int32_t weight = a[at];
                      weights += weight;
                      for (std::size_t c = 0; c < of::columns; ++c)
                        scratch.sums[c] += weight * b[c];
                    },
                    run.template counts<N>());
            for (std::size_t c = 0; c < of::columns; ++c)
              y[to_first + to + c * of::of_columns.stride[0]] =
                  finished(run, scratch.sums[c], weights);
          });
    });
  }
  // The same as linear maps: for each batch, the second operand is packed into a panel.
  static constexpr void multiply(const Run& run, Y* y) noexcept {
    auto& scratch =
        *static_cast<typename of::scratch*>(static_cast<void*>(run.work.memory_of_panel));
    auto& panel = scratch.panel;
    for (std::int8_t& w : panel.weights) w = 0;
    [[maybe_unused]] const auto& node_numbers = run.template of_node<N>();
    if constexpr (of::weights < 2) {
      for (std::int16_t& m : panel.multiplier) m = 1;
      panel.before = panel.after = 0;
    } else {
      for (std::int16_t& m : panel.multiplier) m = node_numbers.multiplier;
      panel.before = node_numbers.before;
      panel.after = node_numbers.after;
    }
    const std::int32_t half = (std::int32_t{1} << panel.before) >> 1;
    constexpr kernel::integer_linear_shape shape{of::rows, of::depth, of::columns, of::x_row,
                                                 of::row_step};
    using rows = walk<of::of_rows, Model::template axes_of_operand<N, 0>>;
    using columns = walk<of::of_columns, Model::template axes_of_operand<N, 1>>;
    using in_row = walk<Model::template summed<N, 0>, Model::template summed<N, 0>>;
    using in_column = walk<Model::template summed<N, 0>, Model::template summed<N, 1>>;
    walk<of::batch, Model::template axes_of_operand<N, 0>, Model::template axes_of_operand<N, 1>,
         Model::template axes<N>>::each([&](std::size_t, std::size_t first, std::size_t second,
                                            std::size_t to) {
      const std::int8_t* const b = run.template begin<N, 1>() + second;
      // Later keys are hidden, or weigh 0.
      const auto keys = run.template counts<N, Model::template has_past<N>>();
      if constexpr (Model::template has_past<N>)
        for (std::int32_t& start : panel.starts) start = half;
      columns::each(
          [&](std::size_t o, std::size_t column) {
            std::int32_t sum = 0;
            in_column::each(
                [&](std::size_t i, std::size_t from) {
                  const std::int8_t v = b[column + from];
                  panel.weights[panel.place(o, i)] = v;
                  sum += v;
                },
                keys);
            panel.starts[o] = half - panel.moved * sum;
          },
          keys);
      const std::int8_t* row = run.template begin<N, 0>() + first;
      if constexpr (!of::has_rows) {
        rows::each([&](std::size_t r, std::size_t from_row) {
          in_row::each([&](std::size_t i, std::size_t from) {
            run.work.rows_in[r * of::depth + i] = row[from_row + from];
          });
        });
        row = run.work.rows_in;
      }
      if constexpr (of::weights < 2) {
        for (std::size_t r = 0; r < of::rows; ++r) {
          std::int32_t sum = 0;
          for (std::size_t i = 0; i < of::depth; ++i) sum += row[r * of::x_row + i];
          scratch.averages[r] = average_over(sum);
        }
        kernel::integer_linear<shape>(panel, row, y + to,
                                      finish_by_rows<of::row_step>{y + to, scratch.averages});
      } else {
        kernel::integer_linear<shape>(panel, row, y + to, finish_as<Y>{});
      }
    });
  }
  static constexpr axis_list inputs_last = plan.inputs_last(N);
  static constexpr axis_list outputs_last = plan.outputs_last(N);
  static constexpr void project(const Run& run, Y* y) noexcept {
    [[maybe_unused]] const auto& node_numbers = run.template of_node<N>();
    constexpr std::size_t in = Model::template inputs<N>, outs = Model::template outputs<N>;
    constexpr kernel::integer_linear_shape shape{Model::template axes<N>.count() / outs, in, outs,
                                                 in, outs};
    using finish = finish_as<Y>;
    const std::int8_t* x = run.template begin<N, 0>();
    if constexpr (!is_dense(inputs_last)) {
      walk<inputs_last, inputs_last>::each(
          [&](std::size_t i, std::size_t at) { run.work.rows_in[i] = x[at]; });
      x = run.work.rows_in;
    }
    if constexpr (is_dense(outputs_last)) {
      kernel::integer_linear<shape>(node_numbers, x, y, finish{});
    } else {
      kernel::integer_linear<shape>(node_numbers, x, run.work.rows_out, kernel::finish::as_int16{});
      walk<outputs_last, outputs_last>::each(
          [&](std::size_t i, std::size_t at) { y[at] = saturated<Y>(run.work.rows_out[i]); });
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
