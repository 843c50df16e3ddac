// SPDX-License-Identifier: BSL-1.0
// simd::add_products, the innermost loop where the machine has one of its own (MVE), against the
// sums written out: all tiles, near and far rows, steps beyond what offsets of instructions reach.
#include "check.hpp"
#include "draw.hpp"

namespace simd = umbel::detail::simd;
using V = simd::pack<float, 4>;

constexpr std::size_t room = 6000;
static constinit umbel::tensor<float, umbel::axes::token<room>> a{}, b{};

template <simd::strides S, std::size_t Rows, std::size_t Vectors>
[[gnu::noinline]] bool is_right(std::size_t depth) {
  V sum[Rows][Vectors];
  float wanted[Rows][Vectors * 4];
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t v = 0; v < Vectors; ++v) sum[r][v] = simd::load<V>(a.data() + r + v);
    for (std::size_t e = 0; e < Vectors * 4; ++e) {
      float& to = wanted[r][e] = a.data()[r + e / 4 + e % 4];
      for (std::size_t k = 0; k < depth; ++k)
        to = simd::fma(a.data()[r * S.a_row + k * S.a_step], b.data()[k * S.b_step + e], to);
    }
  }
  simd::add_products<S>(a.data(), b.data(), depth, sum);
  bool right = true;
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t e = 0; e < Vectors * 4; ++e)
      right = right && sum[r][e / 4][e % 4] == wanted[r][e];
  }
  return right;
}

template <simd::strides S, std::size_t Vectors, std::size_t... R>
bool all_rows(std::index_sequence<R...>) {
  bool right = true;
  for (std::size_t depth : {0, 1, 2, 7, 8})
    right = (is_right<S, R + 1, Vectors>(depth) && ... && right);
  return right;
}
template <simd::strides S>
void check(const char* what) {
  embedded::check(what, all_rows<S, 1>(std::make_index_sequence<7>{}) &&
                            all_rows<S, 2>(std::make_index_sequence<3>{}) &&
                            all_rows<S, 3>(std::make_index_sequence<2>{}) &&
                            all_rows<S, 6>(std::make_index_sequence<1>{}));
}

int main() {
  embedded::lcg next{7};
  embedded::draw(next, a);
  embedded::draw(next, b);
  static_assert(simd::has_products<V, float, float>);
  check<simd::strides{32, 1, 8}>("steps in twos, near");
  check<simd::strides{41, 1, 100}>("the last row just in reach");
  check<simd::strides{43, 1, 128}>("the last row just beyond, steps far");
  check<simd::strides{700, 1, 600}>("all far");
  check<simd::strides{1, 32, 8}>("rows in twos, near");
  check<simd::strides{1, 300, 512}>("rows in twos, far");
  check<simd::strides{9, 7, 24}>("one by one");
  check<simd::strides{300, 64, 63}>("one by one, far");
  return embedded::finish();
}
