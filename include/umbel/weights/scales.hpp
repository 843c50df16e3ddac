// SPDX-License-Identifier: BSL-1.0
// Matrices of 8-bit integers in a file: I8, and a tensor with a scale per output. A weight is the
// integer times the scale of its output. Packing them with stored_as<std::int8_t> restores the
// integers if the largest of each output is 127.
#pragma once

#include <umbel/config.hpp>

#include <umbel/weights/found_row.hpp>
#include <umbel/weights/load_result.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// A vector with the outputs of the matrix X.
template <class X>
using scales_of = tensor<float, axis_of<layout_of<X>, axis_family<axes::out_features>>>;

// The scale of an output. scales has one axis longer than 1; `part` of the row selects its part.
template <class X>
file_result<> read_scale(const found_row& found, std::size_t output, float& scale) noexcept {
  const stored_axes& axes = found.row->axes;
  constexpr std::size_t outputs = scales_of<X>::layout::count;
  std::size_t at = axes.part * outputs + output;
  stored_tensor one = found.scales;
  for (std::size_t j = one.rank; j-- > 0;) {
    const std::size_t extent = found.scales.extents[j];
    one = one.slice(j, at % extent, 1);
    at /= extent;
  }
  one.checksum_of = nullptr;  // compared before
  return one.read(&scale, 1);
}

// Can 8-bit weights be scaled? If not, about(texts...) begins a line with the reason.
template <class X, class About>
bool scales_fit(const found_row& found, const About& about) noexcept {
  const stored_tensor& scales = found.scales;
  const auto name = found.name.with(scale_suffix);
  if (scales.data == nullptr) {
    about(found.name.chars, " holds integers of 8 bits, and the file has no ", name.chars);
    return false;
  }
  if (!is_floating(scales.type) || !has_axes(scales, axes_in_file<scales_of<X>>(found.row->axes))) {
    about(name.chars, " must hold a floating-point number for each output");
    return false;
  }
  if (const auto readable = scales.template check<float>(); !readable) {
    about(readable.error());
    return false;
  }
  for (std::size_t o = 0; o < scales_of<X>::layout::count; ++o) {
    float scale = -1;
    if (!read_scale<X>(found, o, scale) || !(scale >= 0 && scale <= 3.4028234e38F)) {
      about(name.chars, " has a scale that is negative or not finite");
      return false;
    }
  }
  return true;
}

// Turns the integers in x into the weights that they stand for.
template <class X>
void multiply_by_scales(const X& x, const found_row& found) noexcept {
  using layout = layout_of<X>;
  using in = axis_family<axes::in_features>;
  using out = axis_family<axes::out_features>;
  for (std::size_t o = 0; o < layout::template size_of<out>; ++o) {
    float scale = 0;
    static_cast<void>(read_scale<X>(found, o, scale));
    for (std::size_t i = 0; i < layout::template size_of<in>; ++i) {
      auto& weight =
          x.data()[i * layout::template stride_of<in> + o * layout::template stride_of<out>];
      weight = static_cast<std::remove_reference_t<decltype(weight)>>(static_cast<float>(weight) *
                                                                      scale);
    }
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
