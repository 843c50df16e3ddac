// SPDX-License-Identifier: BSL-1.0
// The norms and the elementwise kernels against their plain forms, bit for bit, on every number of
// lanes, and against long double; then the hashes that pin the bits of every kernel.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/config.hpp>
#include <umbel/kernel/float/elementwise.hpp>
#include <umbel/kernel/float/norm.hpp>
#include <umbel/kernel/plain/floats.hpp>

namespace {

using namespace umbel::detail::kernel;
using namespace umbel_test;
using umbel::detail::plan::target;

// On these targets, or on all.
template <target... Targets, class Check>
void on_targets(Check check) {
  if constexpr (sizeof...(Targets) == 0)
    on_targets<scalar_target, vector_16, vector_32, vector_64>(check);
  else
    (check.template operator()<Targets>(), ...);
}

template <norm_shape S, class T, target... Targets>
void check_norm() {
  seeded next{static_cast<std::uint32_t>(S.width)};
  buffer<T> x{(S.rows - 1) * S.x_row + S.width}, gamma{S.width}, beta{S.width};
  x.fill(next, 3);
  gamma.fill(next);
  beta.fill(next);
  const std::size_t y_size = (S.rows - 1) * S.y_row + S.width;
  buffer<T> expected{y_size, 40};
  const T* const added = S.beta ? beta.get() : nullptr;
  plain::layer_norm<S>(x.get(), gamma.get(), added, static_cast<T>(1e-5), expected.get());
  on_targets<Targets...>([&]<target Target>() {
    buffer<T> y{y_size, 40};
    layer_norm<S, T, Target>(x, gamma, added, static_cast<T>(1e-5), y);
    BOOST_TEST(y.same_bits(expected), S.rows << 'x' << S.width << ", " << Target.vector_bytes);
  });
  for (std::size_t m = 0; m < S.rows; ++m) {
    long double mean = 0, variance = 0;
    for (std::size_t e = 0; e < S.width; ++e) mean += x[m * S.x_row + e];
    mean /= static_cast<long double>(S.width);
    for (std::size_t e = 0; e < S.width; ++e) {
      variance += (x[m * S.x_row + e] - mean) * (x[m * S.x_row + e] - mean);
    }
    variance /= static_cast<long double>(S.width);
    for (std::size_t e = 0; e < S.width; ++e) {
      const long double shift = S.beta ? beta[e] : T{};
      const long double exact =
          (x[m * S.x_row + e] - mean) / std::sqrt(variance + 1e-5L) * gamma[e] + shift;
      BOOST_TEST(std::fabs(static_cast<double>(exact - expected[m * S.y_row + e])) < 4e-6);
    }
  }
}

template <norm_shape S, class T, target... Targets>
void check_rms() {
  seeded next{static_cast<std::uint32_t>(S.width + 100)};
  buffer<T> x{(S.rows - 1) * S.x_row + S.width}, gamma{S.width};
  x.fill(next, 3);
  gamma.fill(next);
  const std::size_t y_size = (S.rows - 1) * S.y_row + S.width;
  buffer<T> expected{y_size, 40};
  plain::rms_norm<S>(x.get(), gamma.get(), static_cast<T>(1e-5), expected.get());
  on_targets<Targets...>([&]<target Target>() {
    buffer<T> y{y_size, 40};
    rms_norm<S, T, Target>(x, gamma, static_cast<T>(1e-5), y);
    BOOST_TEST(y.same_bits(expected), S.rows << 'x' << S.width << ", " << Target.vector_bytes);
  });
  for (std::size_t m = 0; m < S.rows; ++m) {
    long double square = 0;
    for (std::size_t e = 0; e < S.width; ++e) {
      square += static_cast<long double>(x[m * S.x_row + e]) * x[m * S.x_row + e];
    }
    square /= static_cast<long double>(S.width);
    for (std::size_t e = 0; e < S.width; ++e) {
      const long double exact = x[m * S.x_row + e] / std::sqrt(square + 1e-5L) * gamma[e];
      const long double error = exact - expected[m * S.y_row + e];
      BOOST_TEST(std::fabs(static_cast<double>(error)) < (sizeof(T) == 4 ? 1e-6 : 2e-15));
    }
  }
}

// Functions for each and gated, which take them from block/ elsewhere.
#define FUNCTION(name, function)          \
  struct name##_function {                \
    template <class V>                    \
    static constexpr V of(V x) noexcept { \
      return function(x);                 \
    }                                     \
  }
FUNCTION(gelu_exact, umbel::detail::simd::gelu);
FUNCTION(gelu_tanh, umbel::detail::simd::gelu_tanh);
FUNCTION(silu, plain::silu_of);
FUNCTION(relu, plain::relu_of);
struct square {
  template <class V>
  static constexpr V of(V x) noexcept {
    return x * x;
  }
};

template <std::size_t N, class T, target... Targets>
void check_elementwise() {
  seeded next{static_cast<std::uint32_t>(N)};
  buffer<T> a{N}, b{N}, expected{N, 40};
  a.fill(next, 6);
  b.fill(next);
  const auto check = [&](auto plain_one, auto simd_one) {
    plain_one(expected.get());
    on_targets<Targets...>([&]<target Target>() {
      buffer<T> y{N, 40};
      simd_one.template operator()<Target>(y.get());
      BOOST_TEST(y.same_bits(expected), N << " elements, " << Target.vector_bytes << " bytes");
    });
  };
  const auto check_each = [&]<class Function>(Function) {
    check([&](T* y) { plain::each<Function, N>(a.get(), y); },
          [&]<target Target>(T* y) { each<Function, N, T, Target>(a.get(), y); });
  };
  check_each(gelu_exact_function{});
  check_each(gelu_tanh_function{});
  check_each(silu_function{});
  check_each(relu_function{});
  check([&](T* y) { plain::gated<silu_function, N>(a.get(), b.get(), y); },
        [&]<target Target>(T* y) { gated<silu_function, N, T, Target>(a.get(), b.get(), y); });
  check([&](T* y) { plain::gated<square, N>(a.get(), b.get(), y); },
        [&]<target Target>(T* y) { gated<square, N, T, Target>(a.get(), b.get(), y); });
  check([&](T* y) { plain::add<N>(a.get(), b.get(), y); },
        [&]<target Target>(T* y) { add<N, T, Target>(a.get(), b.get(), y); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_rows)

// A shape and a target are a kernel for the compiler: each kind of end of a row is on every target,
// each size on some.
BOOST_AUTO_TEST_CASE(layer_norm_has_the_plain_bits) {
  check_norm<norm_shape{1, 1, 1, 1}, float, scalar_target, vector_64>();
  check_norm<norm_shape{3, 7, 7, 7}, float, vector_16, vector_64>();
  check_norm<norm_shape{2, 16, 20, 17}, float, vector_32, vector_64>();
  check_norm<norm_shape{3, 37, 37, 41}, float>();
  check_norm<norm_shape{19, 7, 7, 8}, float, vector_32>();  // rows in two blocks
  check_norm<norm_shape{2, 37, 38, 39}, double, vector_16, vector_64>();
  check_norm<norm_shape{1, 1, 1, 1, false}, float, scalar_target>();
  check_norm<norm_shape{3, 37, 37, 41, false}, float, vector_16, vector_64>();
  check_norm<norm_shape{2, 17, 17, 17, false}, double, vector_32>();
}

BOOST_AUTO_TEST_CASE(layer_norm_may_work_in_place_and_keeps_nan_in_its_row) {
  constexpr norm_shape shape{3, 21, 21, 21};
  seeded next;
  buffer<float> x{63}, y{63}, gamma{21}, beta{21};
  x.fill(next);
  gamma.fill(next);
  beta.fill(next);
  x[21 + 20] = std::nanf("");
  layer_norm<shape>(x.get(), gamma.get(), beta.get(), 1e-5f, y.get());
  layer_norm<shape>(x.get(), gamma.get(), beta.get(), 1e-5f, x.get());
  BOOST_TEST(x.same_numbers(y));
  for (std::size_t i = 0; i < 63; ++i) BOOST_TEST(std::isnan(x[i]) == (i / 21 == 1));
}

BOOST_AUTO_TEST_CASE(rms_norm_has_the_plain_bits) {
  check_rms<norm_shape{1, 1, 1, 1}, float, scalar_target, vector_64>();
  check_rms<norm_shape{3, 7, 7, 7}, float, vector_16, vector_64>();
  check_rms<norm_shape{2, 16, 20, 17}, float, vector_32, vector_64>();
  check_rms<norm_shape{3, 37, 37, 41}, float>();
  check_rms<norm_shape{19, 7, 7, 8}, float, vector_32>();  // rows in two blocks
  check_rms<norm_shape{2, 37, 38, 39}, double, vector_16, vector_64>();
}

// In place; NaN and infinity stay in their row; zeros stay zeros, numbers without a square vanish.
BOOST_AUTO_TEST_CASE(rms_norm_of_extremes) {
  constexpr norm_shape shape{5, 21, 21, 21};
  seeded next;
  buffer<float> x{105}, y{105}, gamma{21};
  x.fill(next);
  gamma.fill(next);
  x[21 + 20] = std::nanf("");
  x[42 + 3] = umbel::detail::simd::math_constants<float>::infinity;
  for (std::size_t i = 63; i < 84; ++i) x[i] = 0;
  x[84 + 7] = 1e30f;
  rms_norm<shape>(x.get(), gamma.get(), 1e-5f, y.get());
  rms_norm<shape>(x.get(), gamma.get(), 1e-5f, x.get());
  BOOST_TEST(x.same_numbers(y));
  for (std::size_t i = 0; i < 105; ++i) {
    const bool is_nan = std::isnan(y[i]);
    BOOST_TEST(is_nan == (i / 21 == 1 || i == 42 + 3));
    if (i / 21 > 1 && !is_nan) BOOST_TEST(y[i] == 0);
  }
}

BOOST_AUTO_TEST_CASE(elementwise_has_the_plain_bits) {
  check_elementwise<1, float, vector_64>();
  check_elementwise<32, float, vector_32>();
  check_elementwise<101, float>();
  check_elementwise<13, double, vector_16, vector_64>();
}

BOOST_AUTO_TEST_CASE(gelu_agrees_with_its_formula) {
  for (int i = -600; i <= 600; ++i) {
    const float x = static_cast<float>(i) / 100;
    float exact = 0, approximate = 0;
    each<gelu_exact_function, 1>(&x, &exact);
    each<gelu_tanh_function, 1>(&x, &approximate);
    const long double v = x;
    const long double right = v / 2 * (1 + std::erf(v / std::sqrt(2.0L)));
    const long double near =
        v / 2 *
        (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846L) * (v + 0.044715L * v * v * v)));
    BOOST_TEST(std::fabs(static_cast<double>(right - exact)) < 4e-7);
    BOOST_TEST(std::fabs(static_cast<double>(near - approximate)) < 4e-7);
  }
}

template <class T>
void check_silu(double bound) {
  constexpr std::size_t count = 4001;
  buffer<T> x{count}, y{count};
  for (std::size_t i = 0; i < count; ++i) x[i] = (static_cast<T>(i) - T{2000}) / T{23};
  each<silu_function, count>(x.get(), y.get());
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const long double v = x[i], exact = v / (1 + std::exp(-v));
    if (exact == 0) {
      BOOST_TEST(y[i] == 0);
      continue;
    }
    worst = std::max(worst, std::fabs(static_cast<double>((y[i] - exact) / exact)));
  }
  BOOST_TEST_MESSAGE("silu: worst relative error " << worst);
  BOOST_TEST(worst < bound);
}

BOOST_AUTO_TEST_CASE(silu_agrees_with_its_formula) {
  check_silu<float>(3e-7);
  check_silu<double>(6e-16);
}

// In place, and a gate that is shut lets nothing through, however large.
BOOST_AUTO_TEST_CASE(gates) {
  constexpr std::size_t count = 21;
  seeded next;
  buffer<float> gate{count}, up{count}, y{count};
  gate.fill(next, 5);
  up.fill(next);
  gate[0] = -1e30f, up[0] = 3e38f;
  gate[1] = 0, up[1] = -3e38f;
  gate[2] = 2, up[2] = std::nanf("");
  gated<silu_function, count>(gate.get(), up.get(), y.get());
  for (std::size_t i = 0; i < count; ++i) {
    const float right = plain::silu_of(gate[i]) * up[i];
    BOOST_TEST((std::memcmp(&right, &y[i], 4) == 0 || std::isnan(right)));
  }
  BOOST_TEST(y[0] == 0);
  BOOST_TEST(y[1] == 0);
  BOOST_TEST(std::isnan(y[2]));
  gated<silu_function, count>(gate.get(), up.get(), up.get());
  BOOST_TEST(up.same_numbers(y));
}

// At the ends, on every number of lanes: large numbers are themselves or 0, infinities the limits.
BOOST_AUTO_TEST_CASE(silu_of_extremes) {
  constexpr float infinity = umbel::detail::simd::math_constants<float>::infinity;
  constexpr std::size_t count = 19;
  on_targets([&]<target Target>() {
    const auto of = [](float value) {
      buffer<float> x{count}, y{count};
      for (std::size_t i = 0; i < count; ++i) x[i] = value;
      each<silu_function, count, float, Target>(x.get(), y.get());
      for (std::size_t i = 1; i < count; ++i) BOOST_TEST(std::memcmp(&y[i], &y[0], 4) == 0);
      return y[0];
    };
    BOOST_TEST(std::isnan(of(std::nanf(""))));
    BOOST_TEST(of(infinity) == infinity);
    BOOST_TEST(of(3e38f) == 3e38f);
    BOOST_TEST(of(90.0f) == 90.0f);
    BOOST_TEST(of(-87.0f) < 0);  // still a normal number
    for (const float gone : {-89.0f, -1e4f, -3e38f, -infinity}) {
      BOOST_TEST(of(gone) == 0);
      BOOST_TEST(std::signbit(of(gone)));
    }
    BOOST_TEST(of(0.0f) == 0);
    BOOST_TEST(of(1e-30f) == 5e-31f);
  });
}

BOOST_AUTO_TEST_CASE(in_constant_expressions) {
  constexpr std::size_t width = 5;
  struct row {
    float values[width];
  };
  constexpr auto compute = [] {
    row x{{1, 2, 4, 8, 16}}, gamma{{1, 1, 1, 1, 1}}, beta{{0, 1, 0, 1, 0}}, y{}, z{};
    plain::layer_norm<norm_shape{1, width, width, width}>(x.values, gamma.values, beta.values,
                                                          1e-5f, y.values);
    plain::rms_norm<norm_shape{1, width, width, width}>(y.values, gamma.values, 1e-5f, y.values);
    plain::each<gelu_exact_function, width>(y.values, z.values);
    plain::each<silu_function, width>(z.values, z.values);
    return z;
  };
  constexpr row constant = compute();
  volatile bool hidden = true;
  const row run_time = hidden ? compute() : row{};
  BOOST_TEST(std::memcmp(&constant, &run_time, sizeof constant) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
