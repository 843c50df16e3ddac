// SPDX-License-Identifier: BSL-1.0
// softmax<key>(x): exp(x) over its sum along a named axis, row by row. The readable form, for one's
// own attention and for drawings; the layers use the fused kernel (kernel/attend.hpp).
//
// Scores of -infinity weigh 0; a row of nothing else gives zeros. NaN spoils its own row only. The
// sum is one chain in increasing position.
#pragma once

#include <umbel/attention/filled.hpp>
#include <umbel/attention/rules.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/tensor/copy.hpp>

namespace umbel {

namespace say {
struct softmax;
}

template <template <std::size_t> class Axis>
struct softmax_operation : operation {
  // x: any axes; a row-major tensor of the same.
  template <tensor_like X>
  constexpr auto operator()(const X& x) const noexcept {
    using verdict =
        first_error<rules::has_axis<say::softmax, typename X::layout, axis_family<Axis>>,
                    rules::floating<say::softmax, typename X::value_type>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using T = typename X::value_type;
      using result = row_major<typename X::layout>;
      constexpr std::size_t step = result::template stride_of<axis_family<Axis>>;
      constexpr std::size_t size = result::template size_of<axis_family<Axis>>;
      return detail::filled<tensor_of<T, result>>([&](auto& out) {
        copy(x, out);
        for (std::size_t first = 0; first < result::count; ++first)
          if (first / step % size == 0) row<T, size, step>(out.data() + first);
      });
    } else {
      return invalid{};
    }
  }
  constexpr invalid operator()(invalid) const { return {}; }

 private:
  // Never inlined: a product that the caller had just stored could be fused into the subtraction.
  template <class T, std::size_t Size, std::size_t Step>
  UMBEL_NOINLINE static constexpr void row(T* x) noexcept {
    T maximum = simd::math_constants<T>::lowest;
    for (std::size_t i = 0; i < Size; ++i) maximum = simd::max(x[i * Step], maximum);
    T sum = 0;
    for (std::size_t i = 0; i < Size; ++i) {
      x[i * Step] = simd::exp(x[i * Step] - maximum);
      sum = sum + x[i * Step];
    }
    const T inverse = sum == T(0) ? T(0) : T(1) / sum;
    for (std::size_t i = 0; i < Size; ++i) x[i * Step] = x[i * Step] * inverse;
  }
};
template <template <std::size_t> class Axis>
inline constexpr softmax_operation<Axis> softmax{};

}  // namespace umbel
