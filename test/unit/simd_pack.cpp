// SPDX-License-Identifier: BSL-1.0
// pack.hpp, fma.hpp and transpose.hpp: what a lane holds, what memory is touched, how fma rounds.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>
#include <umbel/simd/transpose.hpp>

namespace {

using namespace umbel_test;
namespace simd = umbel::detail::simd;

static_assert(std::is_same_v<simd::pack<float, 1>, float>);
static_assert(simd::lanes_of<simd::pack<float, 16>> == 16);
static_assert(simd::lanes_of<double> == 1);
static_assert(std::is_same_v<simd::element_of<simd::pack<double, 4>>, double>);

template <class T, std::size_t Lanes>
void check_partial() {
  using V = simd::pack<T, Lanes>;
  seeded next;
  for (std::size_t count = 0; count <= Lanes; ++count) {
    buffer<T> from{count}, to{count, Lanes};
    from.fill(next);
    const V value = simd::load_first<V>(from.get(), count);
    T lanes[Lanes];
    simd::store<V>(lanes, value);
    for (std::size_t i = 0; i < Lanes; ++i) BOOST_TEST(lanes[i] == (i < count ? from[i] : T{}));
    buffer<T> expected{count, Lanes};
    std::memcpy(expected.get(), from.get(), count * sizeof(T));
    simd::store_first<V>(to.get(), value, count);
    BOOST_TEST(to.same_bits(expected));
    simd::store<V>(lanes, simd::keep_first(simd::broadcast<V>(T{3}), count));
    for (std::size_t i = 0; i < Lanes; ++i) BOOST_TEST(lanes[i] == (i < count ? T{3} : T{}));
  }
}

template <class T, std::size_t Lanes>
void check_transpose() {
  using V = simd::pack<T, Lanes>;
  V square[Lanes];
  for (std::size_t r = 0; r < Lanes; ++r) {
    T row[Lanes];
    for (std::size_t c = 0; c < Lanes; ++c) row[c] = static_cast<T>(r * 100 + c);
    square[r] = simd::load<V>(row);
  }
  simd::transpose(square);
  for (std::size_t r = 0; r < Lanes; ++r) {
    T row[Lanes];
    simd::store<V>(row, square[r]);
    for (std::size_t c = 0; c < Lanes; ++c) BOOST_TEST(row[c] == static_cast<T>(c * 100 + r));
  }
}

template <class T, std::size_t Lanes>
void check_broadcast() {
  using V = simd::pack<T, Lanes>;
  for (T value : {T{0}, T{-0.0}, T{1.5}, T{-INFINITY}}) {
    T lanes[Lanes];
    simd::store<V>(lanes, simd::broadcast<V>(value));
    for (T lane : lanes) BOOST_TEST(std::memcmp(&lane, &value, sizeof(T)) == 0);
  }
}

// Of every comparison, each lane by itself; put together, and as the mask of other packs.
template <class T, std::size_t Lanes>
void check_masks() {
  using V = simd::pack<T, Lanes>;
  using integers = simd::signed_of<V>;
  const T of[] = {T{0}, T{-0.0}, T{1}, T{-1}, T{NAN}, T{INFINITY}, T{-INFINITY}};
  constexpr std::size_t count = std::size(of);
  for (std::size_t first = 0; first < count; ++first) {
    T a[Lanes], b[Lanes];
    for (std::size_t i = 0; i < Lanes; ++i) {
      a[i] = of[(first + i) % count];
      b[i] = of[(first + 3 * i) % count];
    }
    const V x = simd::load<V>(a), y = simd::load<V>(b);
    const auto check = [&](auto mask, auto right) {
      T chosen[Lanes];
      simd::store<V>(chosen,
                     simd::select(mask, simd::broadcast<V>(T{1}), simd::broadcast<V>(T{2})));
      const integers other = simd::select(simd::mask_as<integers>(simd::mask_of<V>(mask)),
                                          simd::broadcast<integers>(1), integers{});
      for (std::size_t i = 0; i < Lanes; ++i) {
        BOOST_TEST_REQUIRE(chosen[i] == (right(a[i], b[i]) ? T{1} : T{2}));
        if constexpr (Lanes == 1)
          BOOST_TEST_REQUIRE(other == (right(a[i], b[i]) ? 1 : 0));
        else
          BOOST_TEST_REQUIRE(other[i] == (right(a[i], b[i]) ? 1 : 0));
      }
    };
    check(simd::less(x, y), [](T p, T q) { return p < q; });
    check(simd::less_equal(x, y), [](T p, T q) { return p <= q; });
    check(simd::equal(x, y), [](T p, T q) { return p == q; });
    check(simd::not_equal(x, y), [](T p, T q) { return p != q; });
    check(simd::either(simd::less(x, y), simd::equal(y, x)), [](T p, T q) { return p <= q; });
    check(simd::every_lane<V>(), [](T, T) { return true; });
  }
}

// Numbers whose sums and products need every bit: small and large, close and cancelling.
template <class T>
T hard(seeded& next) {
  const int exponent = static_cast<int>(next() * 20);
  T value = static_cast<T>(std::ldexp(next() + next() * 0x1p-24, exponent));
  return value;
}

template <class T>
T reference_fma(T a, T b, T c) {
  if (simd::has_fma<T>) return std::fma(a, b, c);
  const volatile T product = a * b;
  return product + c;
}

template <class T, std::size_t Lanes>
void check_fma() {
  using V = simd::pack<T, Lanes>;
  seeded next{Lanes};
  for (int round = 0; round < 500; ++round) {
    T a[Lanes], b[Lanes], c[Lanes], y[Lanes];
    for (std::size_t i = 0; i < Lanes; ++i) {
      a[i] = hard<T>(next);
      b[i] = hard<T>(next);
      const volatile T product = a[i] * b[i];
      c[i] = round % 2 == 0 ? hard<T>(next) : -product;
    }
    simd::store<V>(y, simd::fma(simd::load<V>(a), simd::load<V>(b), simd::load<V>(c)));
    for (std::size_t i = 0; i < Lanes; ++i) {
      BOOST_TEST_REQUIRE(y[i] == reference_fma(a[i], b[i], c[i]));
      BOOST_TEST_REQUIRE(simd::fma(a[i], b[i], c[i]) == reference_fma(a[i], b[i], c[i]));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(simd_pack)

BOOST_AUTO_TEST_CASE(partial_loads_and_stores_touch_only_their_elements) {
  check_partial<float, 1>();
  check_partial<float, 4>();
  check_partial<float, 8>();
  check_partial<float, 16>();
  check_partial<double, 2>();
  check_partial<double, 8>();
}

BOOST_AUTO_TEST_CASE(broadcast_keeps_every_bit) {
  check_broadcast<float, 1>();
  check_broadcast<float, 4>();
  check_broadcast<float, 16>();
  check_broadcast<double, 4>();
}

BOOST_AUTO_TEST_CASE(transposes) {
  check_transpose<float, 4>();
  check_transpose<float, 8>();
  check_transpose<float, 16>();
  check_transpose<double, 2>();
  check_transpose<double, 8>();
}

BOOST_AUTO_TEST_CASE(max_prefers_its_second_argument_to_nan) {
  const float nan = std::nanf("");
  BOOST_TEST(simd::larger(nan, 1.0f) == 1.0f);
  BOOST_TEST(std::isnan(simd::larger(1.0f, nan)));
  using V = simd::pack<float, 16>;
  float lanes[16];
  simd::store<V>(lanes, simd::larger(simd::broadcast<V>(nan), simd::broadcast<V>(1.0f)));
  BOOST_TEST(lanes[15] == 1.0f);
  simd::store<V>(lanes, simd::larger(simd::broadcast<V>(1.0f), simd::broadcast<V>(nan)));
  BOOST_TEST(std::isnan(lanes[7]));
}

BOOST_AUTO_TEST_CASE(masks_are_those_of_scalars) {
  check_masks<float, 1>();
  check_masks<float, 4>();
  check_masks<float, 16>();
  check_masks<double, 1>();
  check_masks<double, 2>();
  check_masks<double, 8>();
}

BOOST_AUTO_TEST_CASE(fma_rounds_as_the_target_does) {
  check_fma<float, 1>();
  check_fma<float, 4>();
  check_fma<float, 8>();
  check_fma<float, 16>();
  check_fma<double, 1>();
  check_fma<double, 2>();
  check_fma<double, 4>();
  check_fma<double, 8>();
}

BOOST_AUTO_TEST_CASE(fma_in_constant_expressions) {
  constexpr float one_ulp = simd::fma(1.0f + 0x1p-23f, 1.0f - 0x1p-23f, -1.0f);
  static_assert(one_ulp == (simd::has_fma<float> ? -0x1p-46f : 0.0f));
  constexpr double small = simd::fma(1.0 + 0x1p-52, 1.0 - 0x1p-52, -1.0);
  static_assert(small == (simd::has_fma<double> ? -0x1p-104 : 0.0));
  BOOST_TEST(one_ulp == simd::fma(1.0f + 0x1p-23f, 1.0f - 0x1p-23f, -1.0f));
}

BOOST_AUTO_TEST_SUITE_END()
