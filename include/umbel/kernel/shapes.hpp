// SPDX-License-Identifier: BSL-1.0
// Compile-time parameters of kernels: extents, and strides in elements. Plain structural values, so
// that equal problems share code whatever their axes' names. There are no functions here.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Operations of a matrix product, two per multiply-add: how flops are counted everywhere. Biases,
// norms, softmaxes and activations aren't counted.
constexpr std::uint64_t product_flops(std::uint64_t rows, std::uint64_t depth,
                                      std::uint64_t columns) noexcept {
  return 2 * rows * depth * columns;
}

// y(rows, out) = x(rows, in) w(in, out) + bias(out).
// x(m, k) = x[m * x_row + k * x_in], y(m, n) = y[m * y_row + n * y_out], w(k, n) = w[k * out + n].
struct linear_shape {
  std::size_t rows, in, out;
  std::size_t x_row, x_in;
  std::size_t y_row, y_out;
  bool bias;

  friend constexpr bool operator==(const linear_shape&, const linear_shape&) = default;
};

// One head of one sequence: q(queries, head_dim), k(keys, head_dim), v(keys, value_dim) to
// o(queries, value_dim). If o_row == 1, a row of o has room for o_room >= queries elements, and
// those past queries may be overwritten with anything.
struct attend_shape {
  std::size_t queries, keys, head_dim, value_dim;
  std::size_t q_row, q_dim;
  std::size_t k_row, k_dim;
  std::size_t v_row, v_dim;
  std::size_t o_row, o_dim;
  std::size_t o_room;

  friend constexpr bool operator==(const attend_shape&, const attend_shape&) = default;
};

constexpr attend_shape few_of(attend_shape shape, std::size_t queries) noexcept {
  shape.queries = shape.o_room = queries;
  return shape;
}

// Its first queries, with room for the others.
constexpr attend_shape first_of(attend_shape shape, std::size_t queries) noexcept {
  shape.queries = queries;
  return shape;
}

// The gradients of that: dq, dk, dv of q, k, v, from the context's gradient do. Features are
// adjacent everywhere; *_row: elements between rows.
struct attend_backward_shape {
  std::size_t queries, keys, head_dim, value_dim;
  std::size_t q_row, k_row, v_row, o_row;
  std::size_t dq_row, dk_row, dv_row, do_row;
  // Do sums of dk and dv continue (query heads that share keys, in turn)? Else they are
  // overwritten.
  bool go_on = false;
  // Is the gradient of a bias wanted? It is added to element i * bias_query + j * bias_key for
  // query i and key j. One stride may be 0.
  bool bias = false;
  std::size_t bias_query = 0, bias_key = 0;

  friend constexpr bool operator==(const attend_backward_shape&,
                                   const attend_backward_shape&) = default;
};

// out(rows, columns) = sum over depth of x(rows, depth) y(depth, columns).
// x(m, k) = x[m * x_row + k * x_depth], y(k, n) = y[k * y_depth + n * y_column],
// out(m, n) = out[m * out_row + n * out_column]; strides of x and y may be 0.
struct contract_shape {
  std::size_t rows, columns, depth;
  std::size_t x_row, x_depth;
  std::size_t y_depth, y_column;
  std::size_t out_row, out_column;

  friend constexpr bool operator==(const contract_shape&, const contract_shape&) = default;
};

// The transposed product: x and y exchanged.
constexpr contract_shape transposed(const contract_shape& s) noexcept {
  return {s.columns, s.rows,  s.depth,      s.y_column, s.y_depth,
          s.x_depth, s.x_row, s.out_column, s.out_row};
}

// Rows of `width` contiguous elements, x_row and y_row apart.
struct norm_shape {
  std::size_t rows, width;
  std::size_t x_row, y_row;
  bool beta = true;  // does layer_norm add one?

  friend constexpr bool operator==(const norm_shape&, const norm_shape&) = default;
};

// x[(o * width + i) * inner + j], rows along i.
struct softmax_shape {
  std::size_t outer, width, inner;

  friend constexpr bool operator==(const softmax_shape&, const softmax_shape&) = default;
};

// Loops over axes in order, the last innermost: their extents, and strides in one memory.
template <std::size_t Room>
struct axes_walk {
  std::size_t rank;
  std::size_t extents[Room], strides[Room];

  constexpr std::size_t count() const noexcept {
    std::size_t all = 1;
    for (std::size_t i = 0; i < rank; ++i) all *= extents[i];
    return all;
  }
  // Its outer axes.
  constexpr axes_walk without_last() const noexcept {
    axes_walk out = *this;
    if (rank != 0) --out.rank;
    return out;
  }
  // The innermost axis; one position if there is none.
  constexpr std::size_t last_extent() const noexcept { return rank ? extents[rank - 1] : 1; }
  constexpr std::size_t last_stride() const noexcept { return rank ? strides[rank - 1] : 0; }

  friend constexpr bool operator==(const axes_walk&, const axes_walk&) = default;
};

// The positions of an axis that a function reads and writes: all, or those from `begin` to `end`,
// if the others would not change the results.
template <std::size_t Extent>
struct every_position {
  static constexpr std::size_t begin = 0, end = Extent;
};
struct some_positions {
  std::size_t begin, end;
};

// The same positions in the same order, with as few axes as possible.
template <std::size_t Room>
constexpr axes_walk<Room> fewest_axes(const axes_walk<Room>& walk) noexcept {
  axes_walk<Room> out{};
  for (std::size_t i = 0; i < walk.rank; ++i) {
    const std::size_t extent = walk.extents[i], stride = walk.strides[i];
    if (extent == 1) continue;
    if (out.rank != 0 && out.strides[out.rank - 1] == extent * stride) {
      out.extents[out.rank - 1] *= extent;
      out.strides[out.rank - 1] = stride;
    } else {
      out.extents[out.rank] = extent;
      out.strides[out.rank++] = stride;
    }
  }
  return out;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
