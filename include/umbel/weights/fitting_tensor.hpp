// SPDX-License-Identifier: BSL-1.0
// Does a tensor in a file fit its parameter? If not, a line with the reason for load (load.hpp);
// otherwise it is read into the parameter.
#pragma once

#include <umbel/config.hpp>

#include <umbel/parameters/parameters.hpp>
#include <umbel/weights/asked_names.hpp>
#include <umbel/weights/load_result.hpp>
#include <umbel/weights/scales.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

constexpr void put_extents(load_result& out, const std::size_t* extents, std::size_t rank) {
  out.put('[');
  for (std::size_t i = 0; i < rank; ++i) {
    if (i != 0) out.put(", ");
    out.put(extents[i]);
  }
  out.put(']');
}
template <class X>
constexpr void put_axes(load_result& out) {
  sentence_buffer axes;
  speak<typename layout_of<X>::axes>::to(axes);
  axes.chars[axes.size] = '\0';
  out.put(' ');
  out.put(axes.chars);
}

// The beginning of a line about the parameter.
template <class X>
constexpr void put_about(load_result& out, const char* path, const char* text) {
  out.begin();
  out.put(path);
  put_axes<X>(out);
  out.put(text);
}

template <class X>
inline constexpr bool is_matrix =
    layout_of<X>::rank == 2 && layout_of<X>::template has<axis_family<axes::in_features>>;

// Does the tensor fit the parameter? If not, adds a line with the reason.
template <class X>
bool fits_parameter(load_result& out, const char* path, const found_row& found) noexcept {
  const auto about = [&](const char* text) { put_about<X>(out, path, text); };
  if (found.row == nullptr) {
    about(": none of the names gives its name in the file");
    if (found.without_star != nullptr) {
      out.put("; write at(\"");
      out.put(found.without_star);
      out.put(".*\", ...), where * is the number of a layer");
    }
    out.put('\n');
    return false;
  }
  if (found.tensor.data == nullptr) {
    about(": the file has no ");
    out.put(found.name.chars);
    out.put('\n');
    return false;
  }
  const stored_axes& axes = found.row->axes;
  if (is_matrix<X> && axes.order == stored_axes::same) {
    about(": its row of the names must specify the order in the file, in_out or out_in\n");
    return false;
  }
  const wanted_axes wanted = axes_in_file<X>(axes);
  if (wanted.count() != axes.parts * layout_of<X>::count) {
    about(": its row of the names splits an axis into parts that don't divide it\n");
    return false;
  }
  const bool has_scales = is_matrix<X> && found.tensor.type == stored_type::int8;
  const bool is_read = std::is_integral_v<typename X::value_type> || has_scales;
  if (!is_floating(found.tensor.type) && !is_read) {
    about(": ");
    out.put(found.name.chars);
    out.put(" has the element type ");
    sentence_buffer type;
    put_part(type, found.tensor.type_name);
    out.put(type.chars);
    out.put(found.tensor.type == stored_type::other
                ? ", which is not supported; convert it to float32 or float16\n"
                : ", not floating-point numbers\n");
    return false;
  }
  // A square kernel of a depthwise convolution also fits as one of a sequence, transposed.
  const bool is_depthwise = !is_matrix<X> && axes.order == stored_axes::out_then_in &&
                            wanted.rank > 2 && found.tensor.rank > wanted.rank &&
                            found.tensor.extents[1] == 1;
  if (!is_depthwise && has_axes(found.tensor, wanted)) {
    if constexpr (is_matrix<X>)
      if (has_scales)
        return scales_fit<X>(found, [&](const auto&... texts) {
          about(": ");
          (out.put(texts), ...);
          out.put('\n');
        });
    return true;
  }
  about(": ");
  out.put(found.name.chars);
  out.put(" has ");
  put_extents(out, found.tensor.extents, found.tensor.rank);
  out.put(" in the file but must have ");
  put_extents(out, wanted.extent, wanted.rank);
  if constexpr (is_matrix<X>) {
    stored_axes other = axes;
    other.order = axes.order == stored_axes::in_then_out ? stored_axes::out_then_in
                                                         : stored_axes::in_then_out;
    if (has_axes(found.tensor, axes_in_file<X>(other)))
      out.put(axes.order == stored_axes::in_then_out
                  ? "; it is transposed, write out_in in the names, not in_out"
                  : "; it is transposed, write in_out in the names, not out_in");
  }
  if (is_depthwise) out.put("; for a depthwise convolution use names::torch_depthwise_convolution");
  out.put('\n');
  return false;
}

// The fitting tensor of a parameter, or its part of it, and its strides in the parameter.
struct placed_tensor {
  stored_tensor tensor;
  std::size_t strides[stored_tensor::max_rank]{};
};
template <class X>
placed_tensor placed(const found_row& found) noexcept {
  const wanted_axes wanted = axes_in_file<X>(found.row->axes);
  placed_tensor made{found.tensor};
  stored_tensor& tensor = made.tensor;
  std::size_t i = 0;
  for (std::size_t j = 0; j < tensor.rank; ++j) {
    if (tensor.extents[j] == 1 && (i == wanted.rank || wanted.extent[i] != 1)) continue;
    while (i < wanted.rank && wanted.extent[i] == 1 && tensor.extents[j] != 1) ++i;
    made.strides[j] = wanted.stride[i];
    if (i == wanted.part_of) tensor = tensor.slice(j, wanted.first, wanted.part);
    ++i;
  }
  return made;
}

// Can all elements be read? If not, adds a line with the reason.
template <class X>
void fits_elements(load_result& out, const char* path, const found_row& found) noexcept {
  const auto readable = placed<X>(found).tensor.template check<typename X::value_type>();
  if (readable) return;
  put_about<X>(out, path, ": ");
  out.put(readable.error());
  out.put('\n');
}

template <class X>
void read_parameter(load_result& out, const X& x, const parameter_path& path,
                    const found_row& found) noexcept {
  const placed_tensor from = placed<X>(found);
  if (const auto done = from.tensor.read(x.data(), layout_of<X>::span, from.strides); !done) {
    put_about<X>(out, path.c_str(), ": ");
    out.put(done.error());
    out.put('\n');
  } else if constexpr (is_matrix<X>) {
    if (from.tensor.type == stored_type::int8) multiply_by_scales(x, found);
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
