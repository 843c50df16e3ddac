// SPDX-License-Identifier: BSL-1.0
// A tensor in a file: its name, element type, shape and order, and the place of its bytes. Nothing
// is copied until you read it, as any type and in any order of axes.
//
//   const auto w = file->find("encoder.0.linear1.weight");        // (out, in), as in torch
//   if (const auto done = w->read(weight | permute<out_features, in_features>); !done)
//     return report(done.error());                                // weight: (in, out)
//
// See npy.hpp, npz.hpp and safetensors.hpp for the file formats.
#pragma once

#include <umbel/config.hpp>
#include <umbel/tensor/print.hpp>

#include <cstddef>
#include <cstdint>
#include <umbel/file/numbers.hpp>
#include <umbel/file/result.hpp>
#include <umbel/tensor/tensor.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
namespace say {
struct read;
}  // namespace say
UMBEL_SAYS(expects_a_tensor_a_view_or_an_array_or_a_pointer_and_a_number_of_elements_not,
           "expects a tensor, a view or an array, or a pointer and a number of elements, not");
UMBEL_SAYS(reads_into_a_tensor_or_view_so_write_read_of_x,
           "reads into a tensor or view; write read(x) with an x of");
UMBEL_SAYS(needs_elements_of_float_double_bfloat16_float16_int8_or_int32_not,
           "needs elements of float, double, bfloat16, float16, int8 or int32, not");

namespace rules {
template <class T>
using read_as =
    verdict<readable_as<T>, say::read,
            say::needs_elements_of_float_double_bfloat16_float16_int8_or_int32_not, element<T>>;
// For the output of read, without the reference. X: deduced from a forwarding reference.
template <class Out, class X>
struct read_into_rule {
  using type =
      verdict<one_is_invalid<Out>, say::read,
              say::expects_a_tensor_a_view_or_an_array_or_a_pointer_and_a_number_of_elements_not,
              type_of_given<Out>>;
};
template <class T, std::size_t Count, class X>
struct read_into_rule<T[Count], X> {
  using type = read_as<T>;
};
template <tensor_like Out, class X>
struct read_into_rule<Out, X> {
  using type =
      first_error<read_as<typename Out::value_type>, writable<say::read, say::the_target, X>>;
};
template <class X>
using read_into = typename read_into_rule<std::remove_reference_t<X>, X>::type;
}  // namespace rules

// One axis of a tensor to read: its steps in the file and in the caller's memory.
struct read_axis {
  std::size_t extent;
  std::size_t from;  // bytes
  std::size_t to;    // elements
};

// Every element once: f(from in bytes, to in elements, axis) for each run along the last axis. In
// square blocks of the last two axes, so that a transposed file's cache lines are used fully.
template <class F>
constexpr void for_each_run(const read_axis* axes, std::size_t rank, const F& f) {
  constexpr std::size_t block = 16;
  constexpr read_axis one{1, 0, 0};
  const read_axis inner = rank > 0 ? axes[rank - 1] : one, rows = rank > 1 ? axes[rank - 2] : one;
  const bool in_blocks = rank > 1 && rows.from < inner.from;
  const std::size_t length = in_blocks ? block : inner.extent;
  const std::size_t height = in_blocks ? block : rows.extent;
  std::size_t outer = 1;  // no overflow: the tensor is in memory
  for (std::size_t i = 0; i + 2 < rank; ++i) outer *= axes[i].extent;
  for (std::size_t n = 0; n < outer; ++n) {
    std::size_t from = 0, to = 0, rest = n;
    for (std::size_t i = rank - 2; rank > 2 && i-- > 0; rest /= axes[i].extent) {
      from += rest % axes[i].extent * axes[i].from;
      to += rest % axes[i].extent * axes[i].to;
    }
    for (std::size_t row = 0; row < rows.extent; row += height)
      for (std::size_t column = 0; column < inner.extent; column += length)
        for (std::size_t r = row; r < rows.extent && r - row < height; ++r) {
          const std::size_t left = inner.extent - column;
          const read_axis run{left < length ? left : length, inner.from, inner.to};
          f(from + r * rows.from + column * inner.from, to + r * rows.to + column * inner.to, run);
        }
  }
}

// One run, with elements loaded by Load.
template <class T, class Load>
void copy_run(const unsigned char* from, T* to, const read_axis& run, bool swap) {
  using stored = decltype(Load{}(from, swap));
  constexpr bool same = std::is_same_v<T, stored> && !std::is_same_v<Load, load_boolean>;
  if (same && !swap && run.from == sizeof(T) && run.to == 1)
    __builtin_memcpy(to, from, run.extent * sizeof(T));
  else
    for (std::size_t i = 0; i < run.extent; ++i)
      to[i * run.to] = converted<T>(Load{}(from + i * run.from, swap));
}

// Drops axes of extent 1, sorts the others so that the last has the smallest step in the caller's
// memory, and joins those without gaps in both memories. Returns the rank.
constexpr std::size_t simplify(read_axis* axes, std::size_t rank) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const read_axis axis = axes[i];
    if (axis.extent == 1) continue;
    std::size_t at = count++;
    for (; at > 0 && axes[at - 1].to < axis.to; --at) axes[at] = axes[at - 1];
    axes[at] = axis;
  }
  if (count == 0) return 0;
  std::size_t last = 0;  // of the joined axes
  for (std::size_t i = 1; i < count; ++i) {
    const read_axis outer = axes[last], inner = axes[i];
    if (outer.from == inner.extent * inner.from && outer.to == inner.extent * inner.to)
      axes[last] = {outer.extent * inner.extent, inner.from, inner.to};
    else
      axes[++last] = inner;
  }
  return last + 1;
}

}  // namespace detail

// One tensor of a file. It refers to the file's memory, which must outlive it.
struct stored_tensor {
  // Files with more axes are refused.
  static constexpr std::size_t max_rank = 8;

  // The name; empty for a single .npy.
  tensor_name name;
  // The element type, and the file's spelling of it: "F32", "<f4".
  stored_type type = stored_type::other;
  tensor_name type_name;
  std::size_t rank = 0;
  std::size_t extents[max_rank]{};
  // The bytes, unaligned, and their number.
  const unsigned char* data = nullptr;
  std::size_t bytes = 0;
  // Is the highest byte of an element first? Are elements adjacent along the first axis, not the
  // last?
  bool big_endian = false;
  bool fortran_order = false;
  // If the file has a checksum (npz): its bytes, its function and its value, compared when the
  // tensor is read.
  const unsigned char* checked = nullptr;
  std::size_t checked_bytes = 0;
  std::uint32_t (*checksum_of)(const unsigned char*, std::size_t) = nullptr;
  std::uint32_t checksum = 0;
  // For a slice: the bytes of one position along each axis; else 0, computed from the extents.
  std::size_t steps[max_rank]{};

  // The number of elements; 1 without axes.
  [[nodiscard]] constexpr std::size_t size() const noexcept {
    std::size_t product = 1;
    for (std::size_t i = 0; i < rank; ++i) product *= extents[i];
    return product;
  }

  // `count` positions from `first` on along an axis, which must have them. For example,
  // in_proj_weight holds the projections of queries, keys and values in turn.
  [[nodiscard]] constexpr stored_tensor slice(std::size_t axis, std::size_t first,
                                              std::size_t count) const noexcept {
    detail::read_axis axes[max_rank]{};
    file_strides(axes);
    stored_tensor part = *this;
    for (std::size_t i = 0; i < rank; ++i) part.steps[i] = axes[i].from;
    part.extents[axis] = count;
    part.data = data + first * axes[axis].from;
    part.bytes = count == 0 ? 0 : bytes / extents[axis] * count;
    return part;
  }

  // Reads all elements, row-major whatever the file's order, into `count` elements at `out`; count
  // must be size(). T: float, double, bfloat16, float16, std::int8_t or std::int32_t. Numbers are
  // exact if T holds them, else rounded once to nearest, ties to even; NaN stays NaN. Integer types
  // accept only integers that fit. A checksum is compared first. After an error, nothing at `out`
  // has changed.
  template <detail::readable_as T>
  file_result<> read(T* out, std::size_t count) const noexcept {
    if (data != nullptr && count != size())
      return detail::failure(file_error::wrong_shape, "read: ", name, " has ", size(),
                             " elements but the memory has ", count);
    std::size_t strides[max_rank]{};
    detail::fill_row_major(extents, rank, strides);
    return read(out, count, strides);
  }

  // The same with one position along the file's axis i being strides[i] elements in memory:
  // transposed, padded, part of a larger tensor. `count`: the elements of the memory.
  template <detail::readable_as T>
  file_result<> read(T* out, std::size_t count, const std::size_t* strides) const noexcept {
    if (const auto wrong = check<T>(); !wrong) return wrong;
    if (!fits_memory(count, strides))
      return detail::failure(file_error::wrong_shape, "read: ", name, " needs more than the ",
                             count, " elements of the memory");
    detail::read_axis axes[max_rank]{};
    file_strides(axes);
    for (std::size_t i = 0; i < rank; ++i) axes[i].to = strides[i];
    return read_along<T>(out, axes, detail::simplify(axes, rank));
  }

  // Into a tensor, or a view with any strides, whose axes have the file's extents in the file's
  // order: x | permute<out_features, in_features> reads transposed. A tensor with at most one axis
  // longer than 1 can also be read into an array; a matrix can't (file_error::wrong_shape), since
  // an array has no order.
  template <class Out>
  file_result<> read(Out&& out) const noexcept {
    using verdict = detail::rules::read_into<Out>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    using plain = std::remove_reference_t<Out>;
    if constexpr (!verdict::ok || detail::one_is_invalid<Out>)
      return {};
    else if constexpr (detail::tensor_like<Out>)
      return read_into<detail::layout_of<Out>>(out.data());
    else if (data == nullptr || is_row() || size() != std::extent_v<plain>)
      return read(out, std::extent_v<plain>);
    else
      return of_shape(
          " but an array has no named axes; read it into a tensor or view, or in the order of the "
          "file into a pointer and ",
          size(), " elements");
  }

  // Other element types: refused.
  template <class T>
    requires(!detail::readable_as<T>)
  file_result<> read(T*, std::size_t, const std::size_t* = nullptr) const noexcept {
    static_assert(detail::report<detail::rules::read_as<T>>::ok, "umbel: shapes do not fit");
    return {};
  }

  // read<float>(): refused, it reads into the caller's memory.
  template <class T>
  file_result<> read() const noexcept {
    using namespace detail;
    static_assert(report<verdict<never<T>, say::read,
                                 say::reads_into_a_tensor_or_view_so_write_read_of_x, T>>::ok,
                  "umbel: shapes do not fit");
    return {};
  }

  // Can it be read as elements of type T? It needs data, a readable type, a correct checksum and,
  // for an integer type, only integers that fit.
  template <detail::readable_as T>
  file_result<> check() const noexcept {
    if (data == nullptr)
      return detail::failure(file_error::not_found, "read: there is no tensor to read");
    if (type == stored_type::other)
      return detail::failure(file_error::unsupported, "read: ", name, " has the element type ",
                             type_name, ", which is not supported");
    if (std::is_integral_v<T> && detail::is_floating(type))
      return detail::failure(file_error::wrong_type, "read: ", name, " has the element type ",
                             type_name, ", which cannot be read as integers");
    if (checksum_of != nullptr && checksum_of(checked, checked_bytes) != checksum)
      return detail::failure(file_error::checksum, "read: the checksum of ", name,
                             " does not match its bytes; the file is damaged");
    if constexpr (std::is_integral_v<T>)
      if (!all_fit<T>())
        return detail::failure(file_error::wrong_value, "read: ", name,
                               " holds an integer that does not fit the requested type");
    return {};
  }

 private:
  // "[2, 3]"
  constexpr void put_shape(detail::sentence_buffer& out) const noexcept {
    out.put('[');
    for (std::size_t i = 0; i < rank; ++i) {
      if (i != 0) out.put(", ");
      out.put(extents[i]);
    }
    out.put(']');
  }

  template <class Layout, class T>
  file_result<> read_into(T* out) const noexcept {
    if (data == nullptr || has_extents(Layout::extents, Layout::rank))
      return read(out, Layout::span, Layout::strides.value);
    auto failure = of_shape(" but the memory has ");
    detail::speak<typename Layout::axes>::to(failure.sentence);
    return failure;
  }
  // "read: the.name has the shape [2, 3]" and the reason.
  template <class... Parts>
  detail::file_failure of_shape(const Parts&... parts) const noexcept {
    auto failure = detail::failure(file_error::wrong_shape, "read: ", name, " has the shape ");
    put_shape(failure.sentence);
    (detail::put_part(failure.sentence, parts), ...);
    return failure;
  }
  // Has at most one axis an extent other than 1?
  constexpr bool is_row() const noexcept {
    std::size_t longer = 0;
    for (std::size_t i = 0; i < rank; ++i) longer += extents[i] != 1;
    return longer < 2;
  }
  constexpr bool has_extents(const std::size_t* wanted, std::size_t count) const noexcept {
    bool same = rank == count;
    for (std::size_t i = 0; i < rank && same; ++i) same = extents[i] == wanted[i];
    return same;
  }

  constexpr bool fits_memory(std::size_t count, const std::size_t* strides) const noexcept {
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      if (extents[i] == 0) return true;
      std::uint64_t distance = extents[i] - 1;
      if (!detail::multiply(distance, strides[i]) || !detail::add(last, distance)) return false;
    }
    return last < count;
  }

  constexpr void file_strides(detail::read_axis* axes) const noexcept {
    std::size_t step = detail::bytes_of(type);
    for (std::size_t n = 0; n < rank; ++n) {
      const std::size_t i = fortran_order ? n : rank - 1 - n;
      axes[i] = {extents[i], steps[i] != 0 ? steps[i] : step, 0};
      step *= extents[i];
    }
  }

  template <class T>
  file_result<> read_along(T* out, const detail::read_axis* axes,
                           std::size_t count) const noexcept {
    const bool swap = big_endian == (UMBEL_LITTLE_ENDIAN != 0);
    if (bytes == 0) return {};
    // Compiled once per T, not for every type in files.
    const auto copy =
        detail::with_load(type, [](auto load) { return &detail::copy_run<T, decltype(load)>; });
    detail::for_each_run(axes, count, [&](std::size_t from, std::size_t to, detail::read_axis run) {
      copy(data + from, out + to, run, swap);
    });
    return {};
  }
  template <class T>
  bool all_fit() const noexcept {
    if (bytes == 0) return true;
    const bool swap = big_endian == (UMBEL_LITTLE_ENDIAN != 0);
    detail::read_axis axes[max_rank]{};
    file_strides(axes);
    for (std::size_t i = 0; i < rank; ++i) axes[i].to = axes[i].from;  // in file order
    const std::size_t count = detail::simplify(axes, rank);
    return detail::with_load(type, [&](auto load) {
      bool fits = true;
      if constexpr (std::is_integral_v<decltype(load(data, swap))>)  // others are already refused
        detail::for_each_run(
            axes, count, [&](std::size_t from, std::size_t, detail::read_axis run) {
              for (std::size_t i = 0; i < run.extent; ++i)
                fits = fits && detail::fits_in<T>(load(data + from + i * run.from, swap));
            });
      return fits;
    });
  }
};

namespace detail {
template <>
struct print_of<tensor_name> {
  using instead = say::has_no_text_so_copy_it;
};
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
