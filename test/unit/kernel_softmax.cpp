// SPDX-License-Identifier: BSL-1.0
// Softmax along rows and across them, on every number of lanes, against plain::softmax bit for bit
// and against long double; -infinity, NaN, in place. And its exponential, which is exp's.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <umbel/kernel/float/log_softmax.hpp>
#include <umbel/kernel/float/softmax.hpp>
#include <umbel/kernel/plain/floats.hpp>

namespace {

using namespace umbel::detail::kernel;
using namespace umbel_test;
using umbel::detail::plan::target;

constexpr std::size_t size_of(softmax_shape s) { return s.outer * s.width * s.inner; }

// Once, not for every kernel: the macro's code takes the compiler as long as a small one.
void expect(bool right, softmax_shape s, target on, const char* where) {
  BOOST_TEST(right, s.outer << ' ' << s.width << ' ' << s.inner << ", " << on.vector_bytes
                            << " bytes" << where);
}

template <softmax_shape S, target... Targets, class T>
buffer<T> check_on(buffer<T>& x) {
  buffer<T> right{size_of(S), 16};
  plain::softmax<S>(x.get(), right.get());
  const auto one = [&]<target Target>(std::integral_constant<target, Target>) {
    buffer<T> y{size_of(S), 16};
    softmax<S, T, Target>(x.get(), y.get());
    expect(y.same_numbers(right), S, Target, "");
    for (std::size_t e = 0; e < size_of(S); ++e) y[e] = x[e];
    softmax<S, T, Target>(y.get(), y.get());
    expect(y.same_numbers(right), S, Target, ", in place");
  };
  (one(std::integral_constant<target, Targets>{}), ...);
  return right;
}
template <softmax_shape S, class T>
buffer<T> check_on_all(buffer<T>& x) {
  return check_on<S, scalar_target, vector_16, vector_32, vector_64>(x);
}

// On these targets, or on all.
template <softmax_shape S, class T, target... Targets>
void check(double scale = 5) {
  seeded next{static_cast<std::uint32_t>(S.width * 7 + S.inner)};
  buffer<T> x{size_of(S)};
  x.fill(next, scale);
  buffer<T> y = [&] {
    if constexpr (sizeof...(Targets) == 0)
      return check_on_all<S>(x);
    else
      return check_on<S, Targets...>(x);
  }();
  for (std::size_t o = 0; o < S.outer; ++o) {
    for (std::size_t j = 0; j < S.inner; ++j) {
      const std::size_t first = o * S.width * S.inner + j;
      long double maximum = x[first], sum = 0;
      for (std::size_t i = 1; i < S.width; ++i)
        maximum = std::max<long double>(maximum, x[first + i * S.inner]);
      for (std::size_t i = 0; i < S.width; ++i) sum += std::exp(x[first + i * S.inner] - maximum);
      for (std::size_t i = 0; i < S.width; ++i) {
        const long double below = x[first + i * S.inner] - maximum;
        const long double exact = std::exp(below) / sum;
        const long double error = std::fabs(exact - y[first + i * S.inner]);
        // x - maximum is rounded once, its product with log2 e once more (log2 e itself is within a
        // ninth of epsilon), and the exponential of that is off by as much.
        const long double bound =
            (4 - below * (1 + 1.0L / 9)) * std::numeric_limits<T>::epsilon() * exact;
        BOOST_TEST(error <= bound + std::numeric_limits<T>::min());
      }
    }
  }
}

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_softmax)

// A shape and a target are a kernel for the compiler: each kind of block is on every target, each
// size on some.
BOOST_AUTO_TEST_CASE(rows) {
  check<softmax_shape{1, 1, 1}, float, scalar_target, vector_64>();
  check<softmax_shape{5, 3, 1}, float, vector_16, vector_64>();
  check<softmax_shape{4, 16, 1}, float, vector_32, vector_64>();
  check<softmax_shape{7, 17, 1}, float>();
  check<softmax_shape{9, 37, 1}, float, vector_16, vector_64>(60);
  check<softmax_shape{3, 130, 1}, float, vector_32>();
  check<softmax_shape{3, 21, 1}, double, vector_16, vector_64>();
}

// A block of rows, two, a rest after them; of wide rows a block is four or two.
BOOST_AUTO_TEST_CASE(blocks_of_rows) {
  check<softmax_shape{8, 17, 1}, float, vector_64>();
  check<softmax_shape{16, 16, 1}, float, vector_16>();
  check<softmax_shape{21, 20, 1}, float>();
  check<softmax_shape{32, 33, 1}, float, vector_32, vector_64>(60);
  check<softmax_shape{13, 600, 1}, float, vector_64>();
  check<softmax_shape{5, 1100, 1}, float, vector_16>();
}

BOOST_AUTO_TEST_CASE(across_rows) {
  check<softmax_shape{1, 5, 2}, float, scalar_target, vector_64>();
  check<softmax_shape{3, 18, 19}, float>();
  check<softmax_shape{2, 40, 16}, float, vector_16, vector_64>(60);
  check<softmax_shape{2, 9, 5}, double, vector_16, vector_64>();
}

template <softmax_shape S>
void check_hidden() {
  seeded next{5};
  buffer<float> x{size_of(S)};
  x.fill(next, 3);
  const auto at = [&x](std::size_t row, std::size_t i) -> float& {
    return x[row / S.inner * S.width * S.inner + row % S.inner + i * S.inner];
  };
  for (std::size_t i = 0; i < S.width; ++i) at(1, i) = -infinity;
  at(2, 3) = -infinity;
  at(0, S.width - 1) = std::numeric_limits<float>::quiet_NaN();
  buffer<float> y = check_on_all<S>(x);
  const auto result = [&y](std::size_t row, std::size_t i) {
    return y[row / S.inner * S.width * S.inner + row % S.inner + i * S.inner];
  };
  for (std::size_t i = 0; i < S.width; ++i) {
    BOOST_TEST(result(1, i) == 0.0f);
    BOOST_TEST(std::isnan(result(0, i)));
    BOOST_TEST(std::isfinite(result(2, i)));
  }
  BOOST_TEST(result(2, 3) == 0.0f);
}

BOOST_AUTO_TEST_CASE(hidden_scores_and_nan) {
  check_hidden<softmax_shape{7, 17, 1}>();
  check_hidden<softmax_shape{3, 18, 19}>();
}

namespace {

template <softmax_shape S, class T>
void check_log() {
  seeded next{static_cast<std::uint32_t>(S.width * 5 + S.inner)};
  buffer<T> x{size_of(S)}, right{size_of(S), 16};
  for (const bool special : {false, true}) {
    x.fill(next, 30);
    if (special) {
      x[0] = std::numeric_limits<T>::quiet_NaN();
      for (std::size_t i = 0; i < S.width; ++i)  // the last row
        x[size_of(S) - 1 - i * S.inner] = -std::numeric_limits<T>::infinity();
    }
    plain::log_softmax<S>(x.get(), right.get());
    const auto on = [&]<target Target>() {
      buffer<T> y{size_of(S), 16};
      log_softmax<S, T, Target>(x.get(), y.get());
      expect(y.same_numbers(right), S, Target, "");
      for (std::size_t e = 0; e < size_of(S); ++e) y[e] = x[e];
      log_softmax<S, T, Target>(y.get(), y.get());
      expect(y.same_numbers(right), S, Target, ", in place");
    };
    on.template operator()<scalar_target>();
    on.template operator()<vector_16>();
    on.template operator()<vector_64>();
    if (special) BOOST_TEST(right[size_of(S) - 1] == -std::numeric_limits<T>::infinity());
  }
  x.fill(next, 30);
  plain::log_softmax<S>(x.get(), right.get());
  long double maximum = x[0], sum = 0;
  for (std::size_t i = 1; i < S.width; ++i)
    maximum = std::max<long double>(maximum, x[i * S.inner]);
  for (std::size_t i = 0; i < S.width; ++i) sum += std::exp(x[i * S.inner] - maximum);
  for (std::size_t i = 0; i < S.width; ++i) {
    const long double exact = x[i * S.inner] - maximum - std::log(sum);
    BOOST_TEST(std::fabs(static_cast<double>(right[i * S.inner] - exact)) <=
               100 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(logarithms) {
  check_log<softmax_shape{19, 37, 1}, float>();
  check_log<softmax_shape{3, 64, 1}, float>();
  check_log<softmax_shape{2, 9, 21}, float>();
  check_log<softmax_shape{2, 5, 1}, double>();
}

BOOST_AUTO_TEST_SUITE_END()
