// SPDX-License-Identifier: BSL-1.0
// Checked access where there is no operating system: check.py looks at what this has to be linked
// with. With CASE_constant: a position that a constant expression has wrong.
#include <umbel/shape/axes.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/tensor/reshape.hpp>

using namespace umbel;
using namespace umbel::axes;

float read(const tensor<float, batch<2>, hidden<3>>& x, int b, int h) {
  return x(b, h) + x(at<hidden>(h), at<batch>(b)) + (x | select_at<batch>(b))[h];
}

#if defined CASE_constant
constexpr tensor<int, batch<2>, query<3>> x{1, 2, 3, 4, 5, 6};
constexpr int last = x(0, 3);
#endif
