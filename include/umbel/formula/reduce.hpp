// SPDX-License-Identifier: BSL-1.0
// The step of a reduction of rows from an elementwise program: mean<hidden>(d * d). The program
// runs as the reduction reads, and only the results are stored. And the step of a softmax or a
// reduction whose axes are not those of its function: in a cache, or of one sequence of a batch.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/elementwise.hpp>
#include <umbel/kernel/float/reduce.hpp>
#include <umbel/kernel/float/softmax.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

template <reduction>
struct operation_of : kernel::plain::sum_of {};
template <>
struct operation_of<reduction::mean> : kernel::plain::mean_of {};
template <>
struct operation_of<reduction::max> : kernel::plain::max_of {};
template <>
struct operation_of<reduction::min> : kernel::plain::min_of {};
template <>
struct operation_of<reduction::product> : kernel::plain::product_of {};

template <class Run, int Root>
struct reduce_step {
  using T = typename Run::value_type;
  using elementwise = elementwise_step<Run, Root, Root>;
  using operation = operation_of<Run::value.at(Root).reduces_by>;
  static constexpr std::size_t last = elementwise::axes.rank - 1;
  static constexpr std::size_t width = elementwise::axes.size[last];
  static constexpr std::size_t count = elementwise::axes.count() / width;
  // In a block of rows (row_step.hpp) rows may be adjacent, rather than their elements.
  static constexpr std::size_t stride = elementwise::axes.stride[last];

  struct computed {
    const Run run;
    template <class V>
    UMBEL_INLINE constexpr V load(std::size_t at, std::size_t elements) const noexcept {
      return elementwise::template values<V>(run, at, elements);
    }
    template <class V>
    UMBEL_INLINE constexpr V load(std::size_t r, std::size_t e,
                                  std::size_t elements) const noexcept {
      return load<V>(r * width + e, elements);
    }
  };

  static constexpr void plainly(const Run& run, T* to) noexcept {
    using walk = kernel::axes_walk<1>;
    constexpr std::size_t apart = stride == 1 ? width : 1;
    kernel::plain::reduce_read<operation, walk{1, {count}, {apart}}, walk{1, {width}, {stride}}>(
        [&](std::size_t at) { return elementwise::template values<T>(run, at, 1); }, to);
  }
  template <class Range>
  UMBEL_NOINLINE static void fast(const Run& run, T* to, Range range) noexcept {
    constexpr plan::target target = plan::native_target;
    if constexpr (stride != 1)
      kernel::reduce_columns<operation, count, width, stride, target>(computed{run}, to, range);
    else if constexpr (kernel::reduces_rows<operation, count, T, target>)
      kernel::reduce_rows<operation, count, width, target>(computed{run}, to);
    else
      plainly(run, to);
  }
  // Some elements only if rows are adjacent, and not plainly.
  template <bool Plain, class Range = kernel::every_position<width>>
  static constexpr void write(const Run& run, T* to, Range range = {}) noexcept {
    if (Plain || __builtin_is_constant_evaluated())
      plainly(run, to);
    else
      fast(run, to, range);
  }
};

// Copies the elements of From with the strides of To, axis by axis. Back, if not 0: adds each to
// the element so many before it.
template <const axis_list& From, const axis_list& To, std::size_t Back = 0, std::size_t Axis = 0,
          class T>
constexpr void copy_axes(const T* x, T* y) noexcept {
  if constexpr (Axis != From.rank) {
    for (std::size_t i = 0; i < From.size[Axis]; ++i)
      copy_axes<From, To, Back, Axis + 1>(x + i * From.stride[Axis], y + i * To.stride[Axis]);
  } else if constexpr (Back != 0) {
    *y = *(y - Back) + *x;
  } else {
    *y = *x;
  }
}

// A softmax or a reduction, whose loops follow from its axes.
template <class Run, int Root>
struct step_by_axes {
  using T = typename Run::value_type;
  static constexpr const node_of_graph<T>& node = Run::value.at(Root);
  static constexpr axis_list from = node.from[0].axes, to_axes = node.axes;
  static constexpr kernel::softmax_shape of_softmax = [] {
    kernel::softmax_shape shape{1, 1, 1};
    bool inner = false;
    for (std::size_t i = 0; i < node.axes.rank; ++i) {
      if (node.axes.family[i] == node.family)
        shape.width = node.axes.size[i], inner = true;
      else
        (inner ? shape.inner : shape.outer) *= node.axes.size[i];
    }
    return shape;
  }();
  static constexpr auto walk(bool reduced) {
    kernel::axes_walk<most_axes + 1> found{};
    for (std::size_t i = 0; i < from.rank; ++i) {
      bool is_reduced = false;
      for (std::size_t s = 0; s < node.sums; ++s)
        is_reduced = is_reduced || node.summed[s] == from.family[i];
      if (is_reduced != reduced) continue;
      found.extents[found.rank] = from.size[i];
      found.strides[found.rank++] = from.stride[i];
    }
    return kernel::fewest_axes(found);
  }

  template <bool Plain>
  static constexpr void write(const Run& run, T* to) noexcept {
    const T* x = run.template begin<Root, 0>();
    if constexpr (node.what == word::softmax && !(from == to_axes)) {
      copy_axes<from, to_axes>(x, to);  // a softmax keeps its input's axes
      x = to;
    }
    if constexpr (node.what == word::softmax) {
      if (Plain || __builtin_is_constant_evaluated())
        kernel::plain::softmax<of_softmax>(x, to);
      else
        kernel::softmax<of_softmax>(x, to);
    } else {
      using operation = operation_of<node.reduces_by>;
      constexpr auto kept = walk(false), reduced = walk(true);
      if (Plain || __builtin_is_constant_evaluated())
        kernel::plain::reduce<operation, kept, reduced>(x, to);
      else
        kernel::reduce<operation, kept, reduced>(x, to);
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
