// SPDX-License-Identifier: BSL-1.0
// integer_norm_rows, integer_rescale, integer_product and integer_sum against their plain forms,
// bit for bit.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/kernel/integer/linear.hpp>
#include <umbel/kernel/integer/norm.hpp>

namespace {

using namespace umbel::detail::kernel;
using namespace umbel_test;

template <bool Centred, class T, std::size_t Rows, std::size_t H>
void check_norm(double most) {
  seeded next{static_cast<std::uint32_t>(Rows * 31 + H)};
  integer_norm_numbers<H> n;
  n.epsilon = static_cast<std::int32_t>((next() + 1) * 300);
  n.shift = 16;
  for (std::size_t i = 0; i < H; ++i) {
    n.gamma[i] = static_cast<std::int16_t>(next() * 30000);
    n.beta[i] = static_cast<std::int32_t>(next() * 4000000);
  }
  buffer<std::int16_t> x{Rows * H};
  x.fill(next, most);
  // Rows that are all one number, all zeros, and of the largest numbers there are; -32768, which
  // nothing here gives, is taken.
  for (std::size_t i = 0; i < H; ++i) {
    x[i] = 5;
    if constexpr (Rows > 2) {
      x[H + i] = 0;
      x[2 * H + i] = i % 2 == 0 ? 32767 : -32767;
    }
    if constexpr (Rows > 4) {
      x[3 * H + i] = -32768;
      x[4 * H + i] = i % 2 == 0 ? 32767 : -32768;
    }
  }
  buffer<T> y{Rows * H, 80}, right{Rows * H, 80};
  integer_norm_rows<Centred, Rows>(n, x.get(), y.get());
  for (std::size_t r = 0; r < Rows; ++r)
    plain::integer_norm<Centred>(n, x.get() + r * H, right.get() + r * H);
  BOOST_TEST(y.same_bits(right), Rows << " rows of " << H << ", at most " << most);
  if constexpr (sizeof(T) == 2) {
    integer_norm_rows<Centred, Rows>(n, x.get(), x.get());
    BOOST_TEST((std::memcmp(x.get(), right.get(), Rows * H * sizeof(T)) == 0), "in place");
  }
}
template <std::size_t Rows, std::size_t H>
void check_norms() {
  for (const double most : {2.0, 300.0, 32768.0}) {
    check_norm<true, std::int8_t, Rows, H>(most);
    check_norm<false, std::int16_t, Rows, H>(most);
  }
}

BOOST_AUTO_TEST_CASE(norms) {
  check_norms<1, 1>();
  check_norms<5, 3>();
  check_norms<35, 30>();
  check_norms<19, 64>();
  check_norms<3, 4100>();
}

// Squares and what lies beside them.
template <class Check>
void check_roots(const Check& check) {
  int wrong = 0;
  for (std::uint32_t r = 0; r < 65536; ++r)
    wrong += !check(r * r) + !check(r * r - 1) + !check(r * r + r) + !check(r * r + 2 * r);
  BOOST_TEST(wrong == 0);
  BOOST_TEST(check(0xffffffff));
}
BOOST_AUTO_TEST_CASE(roots) {
  check_roots([](std::uint32_t v) { return square_root(v) == plain::square_root(v); });
#if UMBEL_DOT_VECTORS
  using words = umbel::detail::simd::dot_words;
  using unsigned_words = umbel::detail::simd::unsigned_of<words>;
  check_roots([](std::uint32_t v) {
    return square_roots(unsigned_words{} + v)[1] == plain::square_root(v);
  });
#endif
}

template <std::size_t Count>
void check_units() {
  seeded next{static_cast<std::uint32_t>(Count)};
  buffer<std::int16_t> x{Count};
  buffer<std::int8_t> a{Count}, b{Count}, y{Count, 80}, right{Count, 80};
  x.fill(next, 32768);
  a.fill(next, 128);
  b.fill(next, 128);
  x[0] = -32768, a[0] = b[0] = -128;
  buffer<std::int16_t> sum{Count, 80}, right_sum{Count, 80};
  for (std::size_t i = 0; i < Count; ++i) {
    sum[i] = static_cast<std::int16_t>(i % 3 == 0 ? x[Count - 1 - i] : x[i] / 2);
    right_sum[i] = plain::to_int16(std::int32_t{sum[i]} + x[i]);
  }
  integer_sum<Count>(x.get(), sum.get());
  BOOST_TEST(sum.same_bits(right_sum), "sum " << Count);
  for (const plain::integer_unit unit : {plain::integer_unit{32767, 22}, {5000, 9}, {1, 0}}) {
    integer_rescale<Count>(x.get(), unit, y.get());
    for (std::size_t i = 0; i < Count; ++i) right[i] = plain::to_int8(plain::in_unit(x[i], unit));
    BOOST_TEST(y.same_bits(right), "rescale " << Count);
    for (std::size_t i = 0; i < Count; ++i) {
      right[i] = plain::to_int8(plain::in_unit(std::int32_t{a[i]} * b[i], unit));
      y[i] = b[i];
    }
    integer_product<Count>(a.get(), y.get(), unit, y.get());
    BOOST_TEST(y.same_bits(right), "product " << Count);
  }
}
BOOST_AUTO_TEST_CASE(units) {
  check_units<1>();
  check_units<150>();
}

}  // namespace
