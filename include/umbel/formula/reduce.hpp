// SPDX-License-Identifier: BSL-1.0
// The step of a reduction of rows from an elementwise program: mean<hidden>(d * d). The program
// runs as the reduction reads, and only the results are stored.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/elementwise.hpp>
#include <umbel/kernel/float/reduce.hpp>

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

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
