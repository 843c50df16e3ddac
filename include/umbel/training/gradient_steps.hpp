// SPDX-License-Identifier: BSL-1.0
// Steps of gradients only: a part among zeros, elements added to a table's, gradients of layer
// calls.
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
    } else if constexpr (node.what == word::scatter) {
      for (std::size_t i = 0; i < node.axes.count(); ++i) to[i] = T{};
      scatter<0>(run.template begin<Root, 0>(), run.template begin<Root, 1>(), to);
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
      // Each copy of a repeated element has the whole gradient; parts of windows have one each.
      constexpr std::size_t size = stride == 0 ? 1 : there.size[Axis];
      for (std::size_t i = 0; i < size; ++i) put<Axis + 1>(from + i * step, to + i * stride);
    } else {
      *to = *to + *from;
    }
  }
  // Skips positions outside of the table, which returned zeros.
  template <std::size_t Axis>
  static constexpr void scatter(const T* from, const T* at, T* to) noexcept {
    if constexpr (Axis < node.from[0].axes.rank) {
      constexpr unsigned long long family = node.from[0].axes.family[Axis];
      constexpr std::size_t step = node.from[0].axes.stride[Axis];
      constexpr std::size_t at_step = node.from[1].axes.stride_of(family);
      constexpr std::size_t to_step = family == node.family ? 0 : node.axes.stride_of(family);
      for (std::size_t i = 0; i < node.from[0].axes.size[Axis]; ++i)
        scatter<Axis + 1>(from + i * step, at + i * at_step, to + i * to_step);
    } else if (*at >= 0 && *at < static_cast<T>(node.axes.size_of(node.family))) {
      T& sum = to[static_cast<std::size_t>(*at) * node.axes.stride_of(node.family)];
      sum = sum + *from;
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
