// SPDX-License-Identifier: BSL-1.0
// Steps of gradients only: a part among zeros, rows added to a table's, gradients of layer calls.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/run.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

template <class Run, int Root>
struct gradient_step {
  using T = typename Run::value_type;
  static constexpr const node_of_graph<T>& node = Run::value.at(Root);

  UMBEL_NOINLINE static constexpr void write(const Run& run, T* to, T* scratch) noexcept {
    if constexpr (node.what == word::place) {
      for (std::size_t i = 0; i < node.axes.count(); ++i) to[i] = T{};
      put<0>(run.template begin<Root, 0>(), to + node.from[1].offset);
    } else if constexpr (node.what == word::add_rows) {
      add_rows(run.template begin<Root, 0>(), run.template begin<Root, 1>(), to);
    } else {
      of_layer(run, to, scratch, std::make_index_sequence<node.operands - 2>{});
    }
  }

 private:
  template <std::size_t Axis>
  static constexpr void put(const T* from, T* to) noexcept {
    constexpr const axis_list& there = node.from[1].axes;
    if constexpr (Axis < there.rank) {
      constexpr std::size_t step = node.from[0].axes.stride_of(there.family[Axis]);
      constexpr std::size_t stride = there.stride[Axis];
      // (Each copy of a repeated element has the whole gradient.)
      constexpr std::size_t size = stride == 0 ? 1 : there.size[Axis];
      for (std::size_t i = 0; i < size; ++i) put<Axis + 1>(from + i * step, to + i * stride);
    } else {
      *to = *from;
    }
  }
  // Skips integers outside of the table, which returned zeros.
  static constexpr void add_rows(const T* from, const T* ids, T* to) noexcept {
    constexpr std::size_t rows = node.axes.size[0], width = node.axes.count() / rows;
    for (std::size_t i = 0; i < rows * width; ++i) to[i] = T{};
    for (std::size_t n = 0; n < node.from[1].axes.count(); ++n, from += width) {
      if (!(ids[n] >= 0 && ids[n] < static_cast<T>(rows))) continue;
      T* const row = to + static_cast<std::size_t>(ids[n]) * width;
      for (std::size_t i = 0; i < width; ++i) row[i] = row[i] + from[i];
    }
  }
  template <std::size_t... J>
  static constexpr void of_layer(const Run& run, T* to, T* scratch,
                                 std::index_sequence<J...>) noexcept {
    constexpr std::size_t part = node.slot - Run::value.g.arguments;
    const operand_memory<T> from[] = {operand_memory<T>(run.template begin<Root, J>())...};
    node.run_gradient(run.captures + part, run.captures + Run::parts + part, from,
                      run.template begin<Root, sizeof...(J)>(),
                      run.template begin<Root, sizeof...(J) + 1>(), to, scratch);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
