// SPDX-License-Identifier: BSL-1.0
// Softmax along rows, rows x columns; also as one writes it by hand for rows of whole vectors: a
// row at a time, four vectors in flight, the library's exponential. An operation is an element
// here.
#include <umbel/kernel/float/softmax.hpp>

#include "../measure.hpp"

namespace {

namespace simd = umbel::detail::simd;
constexpr std::size_t lanes = umbel::detail::plan::lanes<float>(umbel::detail::plan::native_target);
using V = simd::pack<float, lanes>;

// f(offset, number of the vector in its step) over a row.
template <std::size_t Columns, class F>
UMBEL_INLINE void each_vector(F f) {
  for (std::size_t i = 0; i < Columns; i += 4 * lanes) {
    UMBEL_UNROLL(4)
    for (std::size_t v = 0; v < 4; ++v) f(i + v * lanes, v);
  }
}

template <std::size_t Rows, std::size_t Columns>
UMBEL_NOINLINE void by_hand(const float* x, float* y) {
  static_assert(Columns % (4 * lanes) == 0);
  constexpr auto larger = [](auto a, auto b) { return simd::larger(a, b); };
  constexpr auto add = [](auto a, auto b) { return a + b; };
  for (std::size_t r = 0; r < Rows; ++r, x += Columns, y += Columns) {
    V highest[4], sum[4]{};
    for (V& value : highest) value = simd::load<V>(x);
    each_vector<Columns>([&](std::size_t at, std::size_t v) UMBEL_LAMBDA_INLINE {
      highest[v] = larger(highest[v], simd::load<V>(x + at));
    });
    const V maximum = simd::broadcast<V>(
        simd::fold(larger(larger(highest[0], highest[1]), larger(highest[2], highest[3])), larger));
    each_vector<Columns>([&](std::size_t at, std::size_t v) UMBEL_LAMBDA_INLINE {
      const V power = simd::exp_not_positive(simd::load<V>(x + at) - maximum);
      simd::store(y + at, power);
      sum[v] = sum[v] + power;
    });
    const V inverse =
        simd::broadcast<V>(1 / simd::fold((sum[0] + sum[1]) + (sum[2] + sum[3]), add));
    each_vector<Columns>([&](std::size_t at, std::size_t) UMBEL_LAMBDA_INLINE {
      simd::store(y + at, simd::load<V>(y + at) * inverse);
    });
  }
}

template <std::size_t Rows, std::size_t Columns>
void add() {
  alignas(64) static float x[Rows * Columns], y[Rows * Columns];
  bench::fill(x, 4);
  const std::string name = bench::row_name("softmax/", {Rows, Columns}, 'x');
  bench::add_row(name, 1.0 * Rows * Columns, [] {
    umbel::detail::kernel::softmax<umbel::detail::kernel::softmax_shape{Rows, Columns, 1}>(x, y);
  });
  bench::add_row(name + " by hand", 1.0 * Rows * Columns, [] { by_hand<Rows, Columns>(x, y); });
}

const bool added = [] {
  add<64, 64>();
  add<128, 128>();
  add<512, 512>();
  return true;
}();

}  // namespace
