// SPDX-License-Identifier: BSL-1.0
// A view costs nothing: each pair of functions here does the same work, once by index arithmetic
// written by hand, once through split and permute. check.py compiles this at -O2 and compares the
// instructions of hand_x and view_x. This file is for reading machine code, not for running.
#include <umbel/shape/axes.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/tensor/reshape.hpp>

using namespace umbel;
using namespace umbel::axes;

// (batch, query, hidden) in memory, read as (batch, heads, query, head_dim).
static constexpr std::size_t batches = 2, queries = 4, all_heads = 5, width = 20;
static constexpr std::size_t row = all_heads * width;

template <class T>
static auto by_head(T* memory) {
  return view_as<batch<batches>, query<queries>, hidden<row>>(memory) |
         split<hidden, heads<all_heads>, head_dim> | permute<batch, heads, query, head_dim>;
}

extern "C" {

// An element of a tensor.
float hand_element(const float* x, std::size_t i, std::size_t d) { return x[i * row + d]; }
float view_element(const tensor<float, query<queries>, hidden<row>>& x, std::size_t i,
                   std::size_t d) {
  return x(i, d);
}

// A dot product of one row of one head with another.
float hand_dot(const float* x, const float* y, std::size_t b, std::size_t h, std::size_t i,
               std::size_t j) {
  float sum = 0;
  for (std::size_t d = 0; d < width; ++d)
    sum += x[b * queries * row + h * width + i * row + d] *
           y[b * queries * row + h * width + j * row + d];
  return sum;
}
float view_dot(const float* x, const float* y, std::size_t b, std::size_t h, std::size_t i,
               std::size_t j) {
  const auto q = by_head(x), k = by_head(y);
  float sum = 0;
  for (std::size_t d = 0; d < width; ++d) sum += q(b, h, i, d) * k(b, h, j, d);
  return sum;
}
// By name, in another order: so is the sum by hand.
float hand_dot_by_name(const float* x, const float* y, std::size_t b, std::size_t h, std::size_t i,
                       std::size_t j) {
  float sum = 0;
  for (std::size_t d = 0; d < width; ++d)
    sum += x[d + i * row + b * queries * row + h * width] *
           y[d + j * row + b * queries * row + h * width];
  return sum;
}
float view_dot_by_name(const float* x, const float* y, std::size_t b, std::size_t h, std::size_t i,
                       std::size_t j) {
  const auto q = by_head(x), k = by_head(y);
  float sum = 0;
  for (std::size_t d = 0; d < width; ++d)
    sum += q(at<head_dim>(d), at<query>(i), at<batch>(b), at<heads>(h)) *
           k(at<head_dim>(d), at<query>(j), at<batch>(b), at<heads>(h));
  return sum;
}

// A sum of all elements in the permuted order.
float hand_sum(const float* x) {
  float sum = 0;
  for (std::size_t b = 0; b < batches; ++b)
    for (std::size_t h = 0; h < all_heads; ++h)
      for (std::size_t i = 0; i < queries; ++i)
        for (std::size_t d = 0; d < width; ++d)
          sum += x[b * queries * row + h * width + i * row + d];
  return sum;
}
float view_sum(const float* x) {
  const auto v = by_head(x);
  float sum = 0;
  for (std::size_t b = 0; b < batches; ++b)
    for (std::size_t h = 0; h < all_heads; ++h)
      for (std::size_t i = 0; i < queries; ++i)
        for (std::size_t d = 0; d < width; ++d) sum += v(b, h, i, d);
  return sum;
}
// for_each walks pointers.
float hand_sum_by_for_each(const float* x) {
  float sum = 0;
  for (std::size_t b = 0; b < batches; ++b) {
    const float* const batch = x + b * queries * row;
    for (std::size_t h = 0; h < all_heads; ++h) {
      const float* const head = batch + h * width;
      for (std::size_t i = 0; i < queries; ++i) {
        const float* const run = head + i * row;
        for (std::size_t d = 0; d < width; ++d) sum += run[d];
      }
    }
  }
  return sum;
}
float view_sum_by_for_each(const float* x) {
  float sum = 0;
  for_each([&](float element) { sum += element; }, by_head(x));
  return sum;
}

// A scaled copy from one order into the other.
void hand_scale(const float* __restrict x, float* __restrict y, float factor) {
  for (std::size_t b = 0; b < batches; ++b)
    for (std::size_t h = 0; h < all_heads; ++h)
      for (std::size_t i = 0; i < queries; ++i)
        for (std::size_t d = 0; d < width; ++d)
          y[b * queries * row + h * queries * width + i * width + d] =
              x[b * queries * row + h * width + i * row + d] * factor;
}
void view_scale(const float* __restrict x, float* __restrict y, float factor) {
  const auto from = by_head(x);
  const auto to = view_as<batch<batches>, heads<all_heads>, query<queries>, head_dim<width>>(y);
  for (std::size_t b = 0; b < batches; ++b)
    for (std::size_t h = 0; h < all_heads; ++h)
      for (std::size_t i = 0; i < queries; ++i)
        for (std::size_t d = 0; d < width; ++d) to(b, h, i, d) = from(b, h, i, d) * factor;
}
void hand_scale_by_for_each(const float* __restrict x, float* __restrict y, float factor) {
  for (std::size_t b = 0; b < batches; ++b) {
    const float* const from_batch = x + b * queries * row;
    float* const to_batch = y + b * queries * row;
    for (std::size_t h = 0; h < all_heads; ++h) {
      const float* const from_head = from_batch + h * width;
      float* const to_head = to_batch + h * queries * width;
      for (std::size_t i = 0; i < queries; ++i) {
        const float* const from = from_head + i * row;
        float* const to = to_head + i * width;
        for (std::size_t d = 0; d < width; ++d) to[d] = from[d] * factor;
      }
    }
  }
}
void view_scale_by_for_each(const float* __restrict x, float* __restrict y, float factor) {
  for_each([&](float& to, float from) { to = from * factor; },
           view_as<batch<batches>, heads<all_heads>, query<queries>, head_dim<width>>(y),
           by_head(x));
}

// One row out of a slice of a selection.
float hand_row(const float* x, std::size_t i) {
  float sum = 0;
  for (std::size_t d = 0; d < 10; ++d) sum += x[1 * queries * row + (i + 1) * row + 40 + d];
  return sum;
}
float view_row(const float* x, std::size_t i) {
  const auto v = view_as<batch<batches>, query<queries>, hidden<row>>(x) | select_at<batch, 1> |
                 slice<query, from<1>, extent<3>> | slice<hidden, from<40>, extent<10>> |
                 select_at<query>(i);
  float sum = 0;
  for (std::size_t d = 0; d < 10; ++d) sum += v(d);
  return sum;
}

// Not alike, to show that a difference is seen: a gather instead of a run.
float hand_self_test(const float* x) {
  float sum = 0;
  for (std::size_t d = 0; d < width; ++d) sum += x[d];
  return sum;
}
float view_self_test(const float* x) {
  float sum = 0;
  for (std::size_t d = 0; d < width; ++d) sum += x[d] * x[d * row];
  return sum;
}

}  // extern "C"
