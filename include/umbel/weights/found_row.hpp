// SPDX-License-Identifier: BSL-1.0
// The tensor of a file for a parameter: the matching row of the names, and its axes.
#pragma once

#include <umbel/config.hpp>

#include <umbel/file/stored_tensor.hpp>
#include <umbel/parameters/parameters.hpp>
#include <umbel/weights/names.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// The axes that a parameter's tensor must have in the file: sizes, strides in the parameter, part.
struct wanted_axes {
  std::size_t rank = 0;
  std::size_t extent[stored_tensor::max_rank]{}, stride[stored_tensor::max_rank]{};
  std::size_t part_of = npos;  // the axis of which the parameter is a part
  std::size_t first = 0, part = 0;

  constexpr void add(std::size_t size, std::size_t distance, std::size_t heads) noexcept {
    if (heads != 0) {
      push(heads, distance * (size / heads));
      push(size / heads, distance);
    } else {
      push(size, distance);
    }
  }
  // Of the whole tensor.
  [[nodiscard]] constexpr std::size_t count() const noexcept {
    std::size_t made = 1;
    for (std::size_t i = 0; i < rank; ++i) made *= extent[i];
    return made;
  }
  constexpr void push(std::size_t size, std::size_t distance) noexcept {
    extent[rank] = size;
    stride[rank++] = distance;
  }
};

// x: a parameter's type. If it has two axes, in and out, they are in the order of `axes`.
template <class X>
constexpr wanted_axes axes_in_file(const stored_axes& axes) noexcept {
  using layout = layout_of<X>;
  using in = axis_family<axes::in_features>;
  using out = axis_family<axes::out_features>;
  wanted_axes wanted;
  const auto add_out = [&](std::size_t stride) {
    if (axes.parts > 1) {
      wanted.part_of = wanted.rank;
      wanted.part = layout::template size_of<out>;
      wanted.first = axes.part * wanted.part;
    }
    wanted.add(axes.parts * layout::template size_of<out>, stride, axes.out_heads);
  };
  if constexpr (layout::rank == 2 && layout::template has<in> && layout::template has<out>) {
    const auto add_in = [&] {
      constexpr std::size_t size = layout::template size_of<in>,
                            stride = layout::template stride_of<in>;
      if (axes.kernel_rows == 0) return wanted.add(size, stride, axes.in_heads);
      const std::size_t columns = axes.kernel_columns == 0 ? 1 : axes.kernel_columns;
      const std::size_t channels = size / axes.kernel_rows / columns;
      const bool channels_first = axes.order == stored_axes::out_then_in;
      if (channels_first) wanted.push(channels, stride);
      wanted.push(axes.kernel_rows, stride * channels * columns);
      if (axes.kernel_columns != 0) wanted.push(columns, stride * channels);
      if (!channels_first) wanted.push(channels, stride);
    };
    if (axes.order == stored_axes::out_then_in) add_out(layout::template stride_of<out>);
    add_in();
    if (axes.order != stored_axes::out_then_in) add_out(layout::template stride_of<out>);
  } else if constexpr (layout::rank == 1 && layout::template has<out>) {
    add_out(layout::template stride_of<out>);
  } else {
    const bool out_then_in = axes.order == stored_axes::out_then_in && layout::rank > 1;
    const std::size_t turned = out_then_in ? 2 : axes.order == stored_axes::last_first;
    for (std::size_t i = 0; i < layout::rank; ++i) {
      const std::size_t from = i < turned ? layout::rank - 1 - i : i - turned;
      wanted.push(layout::extents[from], layout::strides[from]);
    }
  }
  return wanted;
}

// Are the axes of x the wanted ones, ignoring those of size 1?
constexpr bool has_axes(const stored_tensor& x, const wanted_axes& wanted) noexcept {
  std::size_t i = 0;
  for (std::size_t j = 0; j < x.rank; ++j) {
    if (x.extents[j] == 1) continue;
    while (i < wanted.rank && wanted.extent[i] == 1) ++i;
    if (i == wanted.rank || wanted.extent[i++] != x.extents[j]) return false;
  }
  while (i < wanted.rank && wanted.extent[i] == 1) ++i;
  return i == wanted.rank;
}

// The suffix of scales of 8-bit weights: layers.0.q.weight_scale for layers.0.q.weight.
inline constexpr const char* scale_suffix = "_scale";

// The row of one parameter: the first whose tensor is in the file, otherwise the first.
struct found_row {
  const parameter_name* row = nullptr;
  name_text name;
  stored_tensor tensor;                // without data if it is missing
  stored_tensor scales;                // of 8-bit integers, by output (scales.hpp)
  const char* without_star = nullptr;  // from at("layers", ...), if "layers.*" would have a row
};
template <class Tensors>
void find_row(found_row& found, const Tensors& tensors, const char* path,
              const parameter_names& names) noexcept {
  for (std::size_t i = 0; i < names.count; ++i) {
    const parameter_name& row = names.rows[i];
    if (row.parameter == nullptr) continue;
    if (found.tensor.data != nullptr) return;
    pattern_match match(path);
    if (!match.matches(names.parameter_prefix, row.parameter)) {
      if (pattern_match(path).matches_numbered(names.parameter_prefix, row.parameter))
        found.without_star = names.parameter_prefix;
      continue;
    }
    const name_text name(names.tensor_prefix, row.tensor, match.values);
    const bool is_there = tensors.find(name.chars, found.tensor);
    if (found.row != nullptr && !is_there) continue;
    found.row = &row;
    found.name = name;
    if (found.tensor.type == stored_type::int8)
      static_cast<void>(tensors.find(name.with(scale_suffix).chars, found.scales));
  }
}
// Calls f(name) with each name that find_row may look for.
template <class F>
void for_each_name(const char* path, bool is_matrix, const parameter_names& names,
                   const F& f) noexcept {
  for (std::size_t i = 0; i < names.count; ++i) {
    const parameter_name& row = names.rows[i];
    pattern_match match(path);
    if (row.parameter == nullptr || !match.matches(names.parameter_prefix, row.parameter)) continue;
    const name_text name(names.tensor_prefix, row.tensor, match.values);
    f(name);
    if (is_matrix) f(name.with(scale_suffix));
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
