// SPDX-License-Identifier: BSL-1.0
// The functions of simd/ against long double over its range; packs and constant expressions against
// the scalar functions, bit for bit.
#include <bit>
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <cfenv>
#include <initializer_list>
#include <limits>
#include <umbel/config.hpp>
#include <umbel/simd/activations.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/power.hpp>
#include <umbel/simd/rounding.hpp>
#include <umbel/simd/sine.hpp>

namespace {

using namespace umbel_test;
namespace simd = umbel::detail::simd;

// |value - exact| in units of the last place of the exact result, in T.
template <class T>
double ulps(T value, long double exact) {
  if (static_cast<long double>(value) == exact) return 0;
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int digits = std::numeric_limits<T>::digits;
  const int lowest = std::numeric_limits<T>::min_exponent - digits;
  const int last = exponent - digits;
  const long double error = static_cast<long double>(value) - exact;
  return static_cast<double>(std::fabs(std::ldexp(error, -(last < lowest ? lowest : last))));
}

template <class T>
struct range {
  T first, last;
};

// Worst error over `count` evenly spread arguments and as many random ones.
template <class T, class Function, class Reference>
double worst_ulps(range<T> over, Function function, Reference reference,
                  int count = EMULATED ? 400 : 40000) {
  seeded next;
  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const double even = static_cast<double>(i) / (count - 1), at_random = (next() + 1) / 2;
    for (double part : {even, at_random}) {
      const T x = static_cast<T>(over.first + part * (over.last - over.first));
      const double error = ulps(function(x), reference(static_cast<long double>(x)));
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

// Worst relative error of evenly spread arguments from 0 to `end`.
template <class T, class Function, class Reference>
double worst_relative(T end, Function function, Reference reference) {
  constexpr int count = EMULATED ? 200 : 20000;
  double worst = 0;
  for (int i = 1; i <= count; ++i) {
    const T x = end * static_cast<T>(i) / count;
    const long double exact = reference(static_cast<long double>(x));
    const auto error = static_cast<double>(std::fabs((function(x) - exact) / exact));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

constexpr double fused(double yes, double no) { return UMBEL_FMA ? yes : no; }

const auto exp2_of = [](auto x) { return simd::exp2_not_positive(x); };
const auto exp2_of_minus = [](auto x) {
  return simd::exp2_not_positive(simd::select(x > decltype(x){}, -x, x));
};
const auto exp_not_positive_of = [](auto x) { return simd::exp_not_positive(x); };
const auto exp_of_minus = [](auto x) {
  return simd::exp_not_positive(simd::select(x > decltype(x){}, -x, x));
};
const auto exp_of = [](auto x) { return simd::exp(x); };
const auto log_of = [](auto x) { return simd::log(x); };
const auto sigmoid_of = [](auto x) { return simd::sigmoid(x); };
const auto tanh_of = [](auto x) { return simd::tanh(x); };
const auto gelu_of = [](auto x) { return simd::gelu(x); };
const auto gelu_tanh_of = [](auto x) { return simd::gelu_tanh(x); };
const auto sqrt_of = [](auto x) { return simd::sqrt(x); };
const auto rsqrt_of = [](auto x) { return simd::rsqrt(x); };
const auto softplus_of = [](auto x) { return simd::softplus(x); };
const auto log_sigmoid_of = [](auto x) { return simd::log_sigmoid(x); };
const auto elu_of = [](auto x) { return simd::elu(x); };
const auto erf_of = [](auto x) { return simd::erf(x); };
const auto sin_of = [](auto x) { return simd::sin(x); };
const auto cos_of = [](auto x) { return simd::cos(x); };
const auto floor_of = [](auto x) { return simd::floor(x); };

// Finite numbers of any exponent.
template <class T>
T of_any_size(std::uint64_t& state) {
  for (;;) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t bits = state ^ state >> 31;
    T x{};
    if constexpr (sizeof(T) == 4)
      x = std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 7));
    else
      x = std::bit_cast<double>(bits);
    if (std::isfinite(x)) return x;
  }
}
template <class T, class Function, class Reference>
double worst_of_any_size(Function function, Reference reference) {
  std::uint64_t state = 1;
  double worst = 0;
  for (int i = 0; i < (EMULATED ? 400 : 40000); ++i) {
    const T x = of_any_size<T>(state);
    const double error = ulps(function(x), reference(static_cast<long double>(x)));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}
template <class T>
bool same_number(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}
template <class T>
constexpr T special_numbers[] = {0,
                                 T{-0.0},
                                 1,
                                 -1,
                                 2,
                                 -2,
                                 T{0.5},
                                 T{-0.5},
                                 3,
                                 -3,
                                 std::numeric_limits<T>::infinity(),
                                 -std::numeric_limits<T>::infinity(),
                                 std::numeric_limits<T>::quiet_NaN(),
                                 std::numeric_limits<T>::denorm_min(),
                                 std::numeric_limits<T>::max(),
                                 std::numeric_limits<T>::lowest()};

// Every lane of a pack has the bits of the scalar function.
template <std::size_t Lanes, class T, class Function>
void check_pack(range<T> over, Function function) {
  using V = simd::pack<T, Lanes>;
  seeded next{Lanes};
  const T special[] = {T{0},
                       T{-0.0},
                       T{1},
                       T{-1},
                       over.first,
                       over.last,
                       INFINITY,
                       -INFINITY,
                       std::numeric_limits<T>::denorm_min(),
                       T{-125.5},
                       T{-126},
                       std::nextafter(T{-126}, T{-200}),
                       T{-1022},
                       T{-1022.5},
                       std::numeric_limits<T>::lowest(),
                       T{0.5},
                       T{-0.5},
                       std::numeric_limits<T>::quiet_NaN(),
                       static_cast<T>(-87.3365),
                       static_cast<T>(88.7228317),
                       static_cast<T>(88.7228394)};
  constexpr std::size_t specials = sizeof special / sizeof special[0];
  for (std::size_t round = 0; round < (EMULATED ? 40 : 400); ++round) {
    T x[Lanes], y[Lanes];
    for (std::size_t i = 0; i < Lanes; ++i) {
      const std::size_t index = round * Lanes + i;
      x[i] = index < specials
                 ? special[index]
                 : static_cast<T>(over.first + (next() + 1) / 2 * (over.last - over.first));
    }
    simd::store<V>(y, function(simd::load<V>(x)));
    for (std::size_t i = 0; i < Lanes; ++i) {
      const T alone = function(x[i]);
      BOOST_TEST_REQUIRE(std::isnan(alone) == std::isnan(y[i]), "at " << x[i]);
      BOOST_TEST_REQUIRE((std::isnan(alone) || std::memcmp(&alone, &y[i], sizeof(T)) == 0),
                         "at " << x[i] << ": " << alone << ", " << y[i]);
    }
  }
}

template <class T, class Function>
void check_packs(range<T> over, Function function) {
  check_pack<16 / sizeof(T), T>(over, function);
#if !EMULATED
  check_pack<32 / sizeof(T), T>(over, function);
  check_pack<64 / sizeof(T), T>(over, function);
#endif
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class T>
void check_pow() {
  seeded next;
  std::uint64_t state = 1;
  const auto between = [&](double low, double high) {
    return static_cast<T>(low + (next() + 1) / 2 * (high - low));
  };
  double worst = 0;
  const auto check = [&](T x, T y) {
    const T value = simd::pow(x, y);
    const long double exact = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    const double error = same_number(value, static_cast<T>(exact)) ? 0 : ulps(value, exact);
    if (!(error <= worst)) worst = error;
  };
  constexpr T last = std::numeric_limits<T>::epsilon();
  for (int i = 0; i < (EMULATED ? 200 : 20000); ++i) {
    check(between(0, 10), between(-10, 10));
    check(between(0.9, 1.1), between(-1000, 1000));
    check(std::fabs(of_any_size<T>(state)), between(-3, 3));
    check(of_any_size<T>(state), std::round(between(-9, 9)));
    check(between(0, 2), of_any_size<T>(state));
    check(1 + between(-1, 1) * last * 4, of_any_size<T>(state));
    check(std::exp2(between(-140, 127)), between(-2, 2));
    check(between(0, 1000), std::round(between(-5, 5)));
  }
  BOOST_TEST(worst <= 1);
  for (T x : special_numbers<T>)
    for (T y : special_numbers<T>) {
      const T value = simd::pow(x, y), exact = std::pow(x, y);
      BOOST_TEST((same_number(value, exact) || (std::fabs(value) < INFINITY &&
                                                ulps(value, static_cast<long double>(exact)) <= 1)),
                 x << " to the " << y << ": " << value << ", " << exact);
    }
  for (int n = -126; n < 128; ++n)
    BOOST_TEST(simd::pow(T{2}, static_cast<T>(n)) == std::ldexp(T{1}, n));
  for (T x : {T{3}, T{10}, T{1.5}, T{-7}}) {
    BOOST_TEST(simd::pow(x, T{2}) == x * x);
    BOOST_TEST(simd::pow(x, T{3}) == x * x * x);
    BOOST_TEST(simd::pow(x, T{1}) == x);
  }
}

template <class T>
void check_floor_and_remainder() {
  const auto reference = [](T x, T y) {
    const T rest = std::fmod(x, y);
    const T value = rest != 0 && (y < 0) != (rest < 0) ? rest + y : rest;
    return std::isnan(value) ? value : std::copysign(value, y);
  };
  seeded next;
  std::uint64_t state = 1;
  constexpr int digits = std::numeric_limits<T>::digits;
  for (int i = 0; i < (EMULATED ? 400 : 100000); ++i) {
    const T any = of_any_size<T>(state), some = static_cast<T>(next() * 1000);
    for (T x : {any, some, std::round(some), std::nextafter(std::round(some), T{0})})
      BOOST_TEST_REQUIRE(same_number(simd::floor(x), std::floor(x)));
    const T y = of_any_size<T>(state);
    const T near = y * static_cast<T>(std::exp2((next() + 1) / 2 * (digits - 0.01)));
    const T whole = std::round(some * 1000), by = std::round(some) + T{0.5};
    for (const auto& [a, b] : {std::pair{near, y}, {-near, y}, {whole, by}, {any, y}}) {
      const bool is_far = std::fabs(a / b) >= std::ldexp(T{1}, digits);
      if (b == 0 || std::fabs(b) > std::numeric_limits<T>::max() / 2 || std::isinf(a)) continue;
      const T exact = is_far ? std::copysign(T{0}, b) : reference(a, b);
      BOOST_TEST_REQUIRE(same_number(simd::remainder(a, b), exact),
                         a << " % " << b << ": " << simd::remainder(a, b) << ", " << exact);
    }
  }
  for (T x : special_numbers<T>) {
    BOOST_TEST(same_number(simd::floor(x), std::floor(x)));
    for (T y : special_numbers<T>)
      if (!(std::fabs(x / y) >= std::ldexp(T{1}, digits)) || std::isinf(x) || y == 0)
        BOOST_TEST(same_number(simd::remainder(x, y), reference(x, y)),
                   x << " % " << y << ": " << simd::remainder(x, y));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(simd_math)

BOOST_AUTO_TEST_CASE(exp2_is_within_2_ulp) {
  const auto reference = [](long double x) { return std::exp2(x); };
  BOOST_TEST(worst_ulps<float>({-126, 0}, exp2_of, reference) <= fused(2.0, 3.0));
  BOOST_TEST(worst_ulps<float>({-1, 0}, exp2_of, reference) <= fused(2.0, 3.0));
  BOOST_TEST(worst_ulps<double>({-1022, 0}, exp2_of, reference) <= fused(2.0, 3.0));
  BOOST_TEST(worst_ulps<double>({-1, 0}, exp2_of, reference) <= fused(2.0, 3.0));
}

BOOST_AUTO_TEST_CASE(exp2_at_its_edges) {
  BOOST_TEST(simd::exp2_not_positive(0.0f) == 1.0f);
  BOOST_TEST(simd::exp2_not_positive(-0.0) == 1.0);
  BOOST_TEST(simd::exp2_not_positive(-126.0f) == std::numeric_limits<float>::min());
  BOOST_TEST(simd::exp2_not_positive(std::nextafter(-126.0f, -200.0f)) == 0.0f);
  BOOST_TEST(simd::exp2_not_positive(-1022.0) == std::numeric_limits<double>::min());
  BOOST_TEST(simd::exp2_not_positive(-1022.0001) == 0.0);
  BOOST_TEST(simd::exp2_not_positive(-infinity) == 0.0f);
  BOOST_TEST(simd::exp2_not_positive(std::numeric_limits<float>::lowest()) == 0.0f);
  BOOST_TEST(std::isnan(simd::exp2_not_positive(not_a_number)));
  for (int n = -126; n <= 0; ++n) {
    BOOST_TEST(simd::exp2_not_positive(static_cast<float>(n)) == std::ldexp(1.0f, n));
  }
}

BOOST_AUTO_TEST_CASE(exp_not_positive_is_within_2_ulp_near_0) {
  const auto reference = [](long double x) { return std::exp(x); };
  const auto& f = exp_not_positive_of;
  for (float lowest : {-0.5f, -1.0f, -16.0f, -87.3365f})
    BOOST_TEST(worst_ulps<float>({lowest, 0}, f, reference) <= fused(2.0, 3.0) - lowest);
  for (double lowest : {-0.5, -16.0, -708.3964})
    BOOST_TEST(worst_ulps<double>({lowest, 0}, f, reference) <= fused(2.0, 3.0) - lowest);
}

BOOST_AUTO_TEST_CASE(exp_not_positive_at_its_edges) {
  BOOST_TEST(simd::exp_not_positive(0.0f) == 1.0f);
  BOOST_TEST(simd::exp_not_positive(-0.0) == 1.0);
  BOOST_TEST(simd::exp_not_positive(-87.4f) == 0.0f);
  BOOST_TEST(simd::exp_not_positive(-87.3f) > std::numeric_limits<float>::min());
  BOOST_TEST(simd::exp_not_positive(-708.5) == 0.0);
  BOOST_TEST(simd::exp_not_positive(-708.3) > std::numeric_limits<double>::min());
  BOOST_TEST(simd::exp_not_positive(-infinity) == 0.0f);
  BOOST_TEST(simd::exp_not_positive(std::numeric_limits<float>::lowest()) == 0.0f);
  BOOST_TEST(simd::exp_not_positive(std::numeric_limits<double>::lowest()) == 0.0);
  BOOST_TEST(std::isnan(simd::exp_not_positive(not_a_number)));
}

BOOST_AUTO_TEST_CASE(exp_is_within_2_ulp) {
  const auto reference = [](long double x) { return std::exp(x); };
  BOOST_TEST(worst_ulps<float>({-87.3365f, 88.7228f}, exp_of, reference) <= fused(2.0, 3.0));
  BOOST_TEST(worst_ulps<float>({-1, 1}, exp_of, reference) <= fused(2.0, 3.0));
  BOOST_TEST(worst_ulps<double>({-708.39, 709.78}, exp_of, reference) <= fused(2.0, 3.0));
  BOOST_TEST(worst_ulps<double>({-1, 1}, exp_of, reference) <= fused(2.0, 3.0));
}

BOOST_AUTO_TEST_CASE(exp_at_its_edges) {
  BOOST_TEST(simd::exp(0.0f) == 1.0f);
  BOOST_TEST(std::isfinite(simd::exp(88.7228317f)));
  BOOST_TEST(simd::exp(88.7228394f) == infinity);
  BOOST_TEST(simd::exp(1e30f) == infinity);
  BOOST_TEST(simd::exp(infinity) == infinity);
  BOOST_TEST(simd::exp(-87.3365402f) >= std::numeric_limits<float>::min());
  BOOST_TEST(simd::exp(-87.3365479f) == 0.0f);
  BOOST_TEST(simd::exp(-infinity) == 0.0f);
  BOOST_TEST(std::isnan(simd::exp(not_a_number)));
  BOOST_TEST(simd::exp(709.79) == std::numeric_limits<double>::infinity());
  BOOST_TEST(simd::exp(-708.4) == 0.0);
}

BOOST_AUTO_TEST_CASE(log_is_within_1_ulp) {
  const auto reference = [](long double x) { return std::log(x); };
  for (double end : {1e-310, 1e-40, 1e-5, 0.75, 1.0, 1.001, 1.5, 4.0, 1e30, 1e300}) {
    if (end < 3e38 && end > 1e-300) {
      const float f = static_cast<float>(end), low = std::max(f / 3, 1e-45f);
      BOOST_TEST(worst_ulps<float>({low, f}, log_of, reference) <= 1.0);
    }
    BOOST_TEST(worst_ulps<double>({end / 3, end}, log_of, reference) <= 1.0);
  }
  BOOST_TEST(simd::log(1.0f) == 0.0f);
  BOOST_TEST(!std::signbit(simd::log(1.0)));
  BOOST_TEST(simd::log(0.0f) == -infinity);
  BOOST_TEST(simd::log(-0.0) == -infinity);
  BOOST_TEST(simd::log(infinity) == infinity);
  BOOST_TEST(std::isnan(simd::log(-1.0f)));
  BOOST_TEST(std::isnan(simd::log(-1e-45f)));
  BOOST_TEST(std::isnan(simd::log(-infinity)));
  BOOST_TEST(std::isnan(simd::log(not_a_number)));
}

BOOST_AUTO_TEST_CASE(sigmoid_is_within_its_bound) {
  const auto reference = [](long double x) { return 1 / (1 + std::exp(-x)); };
  for (double end : {0.01, 1.0, 16.0, 80.0}) {
    const float f = static_cast<float>(end);
    BOOST_TEST(worst_ulps<float>({-f, f}, sigmoid_of, reference) <= fused(3.0, 4.0));
    BOOST_TEST(worst_ulps<double>({-end, end}, sigmoid_of, reference) <= fused(3.0, 4.0));
  }
  BOOST_TEST(simd::sigmoid(0.0f) == 0.5f);
  BOOST_TEST(simd::sigmoid(infinity) == 1.0f);
  BOOST_TEST(simd::sigmoid(-infinity) == 0.0f);
  BOOST_TEST(simd::sigmoid(-89.0f) == 0.0f);
  BOOST_TEST(std::isnan(simd::sigmoid(not_a_number)));
  std::feclearexcept(FE_ALL_EXCEPT);
  volatile float far = -200.0f;
  BOOST_TEST((simd::sigmoid(far + 0) == 0 && simd::sigmoid(400 + far) == 1));
  BOOST_TEST(std::fetestexcept(FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO) == 0);
}

BOOST_AUTO_TEST_CASE(tanh_is_within_its_bound) {
  const auto reference = [](long double x) { return std::tanh(x); };
  for (double end : {0.01, 0.7, 10.0, 100.0}) {
    const float f = static_cast<float>(end);
    BOOST_TEST(worst_ulps<float>({-f, f}, tanh_of, reference) <= fused(2.0, 3.0));
    BOOST_TEST(worst_ulps<double>({-end, end}, tanh_of, reference) <= fused(2.0, 3.0));
  }
  BOOST_TEST(simd::tanh(infinity) == 1.0f);
  BOOST_TEST(simd::tanh(-infinity) == -1.0f);
  BOOST_TEST(std::signbit(simd::tanh(-0.0f)));
  BOOST_TEST(std::isnan(simd::tanh(not_a_number)));
}

BOOST_AUTO_TEST_CASE(gelu_is_within_its_bounds) {
  const auto reference = [](long double x) { return x * std::erfc(-x / std::sqrt(2.0L)) / 2; };
  for (double end : {0.01, 0.5, 1.1, 4.5, 30.0}) {
    const float f = static_cast<float>(end);
    BOOST_TEST(worst_ulps<float>({0, f}, gelu_of, reference) <= fused(3.0, 4.0));
    BOOST_TEST(worst_ulps<double>({0, end}, gelu_of, reference) <= fused(3.0, 4.0));
  }
  // What is left of x below 0, where 1 + erf would lose its digits.
  BOOST_TEST(worst_relative<float>(-6.0f, gelu_of, reference) <= fused(6e-6, 1e-5));
  BOOST_TEST(worst_relative<double>(-5.9, gelu_of, reference) <= fused(1e-12, 2e-12));
  BOOST_TEST(worst_relative<double>(-8.3, gelu_of, reference) <= fused(1e-9, 2e-9));
  // Further down what is left falls to 0, and what is missing on the other side is less than half
  // an ulp.
  float above = gelu_of(-6.0f);
  double above_too = gelu_of(-8.3);
  BOOST_TEST((above < 0 && above > -6.1e-9f && above_too < 0 && above_too > -5e-16));
  for (int i = 1; i < 3000; ++i) {
    const float x = 6.0f + 0.01f * static_cast<float>(i);
    const double y = 8.3 + 0.01 * static_cast<double>(i);
    BOOST_TEST_REQUIRE((gelu_of(-x) <= 0 && gelu_of(-x) >= above && gelu_of(x) == x));
    BOOST_TEST_REQUIRE((gelu_of(-y) <= 0 && gelu_of(-y) >= above_too && gelu_of(y) == y));
    above = gelu_of(-x);
    above_too = gelu_of(-y);
  }
  BOOST_TEST((above == 0 && above_too == 0));
  BOOST_TEST(gelu_of(infinity) == infinity);
  BOOST_TEST(gelu_of(-infinity) == 0);
  BOOST_TEST(gelu_of(0.0f) == 0);
  BOOST_TEST(gelu_of(1e-30f) == 0.5e-30f);
  BOOST_TEST(std::isnan(gelu_of(not_a_number)));
}

BOOST_AUTO_TEST_CASE(gelu_tanh_is_within_its_bounds) {
  const auto reference = [](long double x) {
    const long double u = std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x);
    return x / (1 + std::exp(-2 * u));
  };
  for (double end : {0.01, 0.5, 1.1, 4.5, 30.0}) {
    const float f = static_cast<float>(end);
    BOOST_TEST(worst_ulps<float>({0, f}, gelu_tanh_of, reference) <= fused(3.0, 4.0));
    BOOST_TEST(worst_ulps<double>({0, end}, gelu_tanh_of, reference) <= fused(3.0, 4.0));
  }
  BOOST_TEST(worst_relative<float>(-10.0f, gelu_tanh_of, reference) <= 1e-5);
  BOOST_TEST(worst_relative<double>(-21.0, gelu_tanh_of, reference) <= fused(2e-13, 3e-13));
  for (float huge : {30.0f, 126.5f, 1e10f, 3e38f, infinity}) {
    BOOST_TEST(gelu_tanh_of(huge) == huge);
    BOOST_TEST(gelu_tanh_of(-huge) == 0);
  }
  BOOST_TEST(gelu_tanh_of(0.0f) == 0);
  BOOST_TEST(gelu_tanh_of(1e-30f) == 0.5e-30f);
  BOOST_TEST(std::isnan(gelu_tanh_of(not_a_number)));
}

BOOST_AUTO_TEST_CASE(roots_are_within_their_bounds) {
  const auto inverse = [](long double x) { return 1 / std::sqrt(x); };
  for (double end : {1e-310, 1e-40, 1e-5, 1.0, 4.0, 1e30, 1e300}) {
    if (end < 3e38 && end > 1e-300) {
      const float f = static_cast<float>(end), low = std::max(f / 1000, 1e-45f);
      BOOST_TEST(worst_ulps<float>({low, f}, rsqrt_of, inverse) <= fused(2.0, 3.0));
    }
    BOOST_TEST(worst_ulps<double>({end / 1000, end}, rsqrt_of, inverse) <= fused(2.0, 3.0));
  }
  BOOST_TEST(simd::rsqrt(0.0f) == infinity);
  BOOST_TEST(simd::rsqrt(infinity) == 0.0f);
  BOOST_TEST(std::isnan(simd::rsqrt(-1.0f)));
  BOOST_TEST(std::isnan(simd::rsqrt(not_a_number)));
}

BOOST_AUTO_TEST_CASE(sqrt_is_rounded_correctly) {
  // std::sqrt is, by IEEE 754. One fraction in 64 of two powers of two; all powers; random bits.
  using V = simd::pack<float, 4>;
  const auto check = [](std::uint32_t bits) {
    const auto x = std::bit_cast<float>(bits);
    BOOST_TEST_REQUIRE(simd::sqrt(x) == std::sqrt(x));
  };
  for (std::uint32_t bits = 0x3f800000; bits < 0x40800000; bits += EMULATED ? 0x8000 : 256) {
    V x{}, y{};
    for (int i = 0; i < 4; ++i) x[i] = std::bit_cast<float>(bits + static_cast<std::uint32_t>(i));
    y = simd::sqrt(x);
    for (int i = 0; i < 4; ++i) {
      const float root = y[i], of = x[i];
      BOOST_TEST_REQUIRE(root == std::sqrt(of));
    }
  }
  for (std::uint32_t bits = 1; bits < 0x7f800000; bits += EMULATED ? 0x7fffff : 0x1fffd)
    check(bits), check(bits & ~15u);
  std::uint64_t state = 1;
  for (int i = 0; i < (EMULATED ? 4000 : 400000); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // The upper bits are the better ones; half of the numbers lie near 1.
    const std::uint64_t bits =
        i % 2 ? state >> 12 | std::uint64_t{1022} << 52 : (state ^ state >> 31) >> 1;
    const auto x = std::bit_cast<double>(bits);
    if (x < INFINITY) BOOST_TEST_REQUIRE(simd::sqrt(x) == std::sqrt(x));
  }
  BOOST_TEST(simd::sqrt(std::nextafter(4.0f, 0.0f)) < 2.0f);
  BOOST_TEST(simd::sqrt(std::nextafter(4.0, 0.0)) < 2.0);
  BOOST_TEST(simd::sqrt(std::numeric_limits<double>::denorm_min()) == std::ldexp(1.0, -537));
  BOOST_TEST(simd::sqrt(0.0f) == 0.0f);
  BOOST_TEST(std::signbit(simd::sqrt(-0.0f)));
  BOOST_TEST(simd::sqrt(infinity) == infinity);
  BOOST_TEST(simd::sqrt(144.0f) == 12.0f);
  BOOST_TEST(std::isnan(simd::sqrt(-2.0)));
  BOOST_TEST(std::isnan(simd::sqrt(not_a_number)));
}

BOOST_AUTO_TEST_CASE(sin_and_cos_are_within_3_ulp_of_any_number) {
  const auto sine = [](long double x) { return std::sin(x); };
  const auto cosine = [](long double x) { return std::cos(x); };
  for (double end : {1e-310, 0.01, 0.7854, 4.0, 100.0, 1e6}) {
    const float f = static_cast<float>(end);
    BOOST_TEST(worst_ulps<float>({-f, f}, sin_of, sine) <= 3);
    BOOST_TEST(worst_ulps<float>({-f, f}, cos_of, cosine) <= 3);
    BOOST_TEST(worst_ulps<double>({-end, end}, sin_of, sine) <= 3);
    BOOST_TEST(worst_ulps<double>({-end, end}, cos_of, cosine) <= 3);
  }
  BOOST_TEST(worst_of_any_size<float>(sin_of, sine) <= 3);
  BOOST_TEST(worst_of_any_size<float>(cos_of, cosine) <= 3);
  BOOST_TEST(worst_of_any_size<double>(sin_of, sine) <= 3);
  BOOST_TEST(worst_of_any_size<double>(cos_of, cosine) <= 3);
  // Those closest to a multiple of pi / 2 (Kahan).
  BOOST_TEST(ulps(simd::cos(6381956970095103.0 * std::ldexp(1.0, 797)),
                  -4.68716592425462761112e-19L) <= 3);
  BOOST_TEST(ulps(simd::sin(std::ldexp(16367173.0f, 72)), std::sin(std::ldexp(16367173.0L, 72))) <=
             3);
  BOOST_TEST(simd::sin(0.0f) == 0);
  BOOST_TEST(std::signbit(simd::sin(-0.0f)));
  BOOST_TEST(simd::cos(-0.0f) == 1);
  for (float x : {infinity, -infinity, not_a_number})
    BOOST_TEST((std::isnan(simd::sin(x)) && std::isnan(simd::cos(x))));
}

BOOST_AUTO_TEST_CASE(softplus_log_sigmoid_and_elu_are_within_their_bounds) {
  const auto plus = [](long double x) {
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  };
  const auto log_sigmoid = [&](long double x) { return -plus(-x); };
  const auto elu = [](long double x) { return x > 0 ? x : std::expm1(x); };
  for (double end : {1e-310, 0.01, 1.0, 16.0, 87.0, 700.0}) {
    const float f = static_cast<float>(end);
    if (end < 100) {
      BOOST_TEST(worst_ulps<float>({-f, f}, softplus_of, plus) <= fused(3, 4));
      BOOST_TEST(worst_ulps<float>({-f, f}, log_sigmoid_of, log_sigmoid) <= fused(3, 4));
    }
    BOOST_TEST(worst_ulps<double>({-end, end}, softplus_of, plus) <= fused(3, 4));
    BOOST_TEST(worst_ulps<double>({-end, end}, log_sigmoid_of, log_sigmoid) <= fused(3, 4));
    BOOST_TEST(worst_ulps<float>({-f, f}, elu_of, elu) <= fused(2, 3));
    BOOST_TEST(worst_ulps<double>({-end, end}, elu_of, elu) <= fused(2, 3));
  }
  BOOST_TEST(worst_of_any_size<float>(elu_of, elu) <= fused(2, 3));
  BOOST_TEST(worst_of_any_size<double>(elu_of, elu) <= fused(2, 3));
  const float lowest = std::numeric_limits<float>::lowest();
  for (float x : {-88.0f, lowest, -infinity}) {
    BOOST_TEST((simd::softplus(x) == 0 && simd::softplus(-x) == -x));
    BOOST_TEST((simd::log_sigmoid(-x) == 0 && simd::log_sigmoid(x) == x));
    BOOST_TEST((simd::elu(x) == -1 && simd::elu(-x) == -x));
  }
  BOOST_TEST(std::signbit(simd::elu(-0.0f)));
  BOOST_TEST(simd::elu(-1e-45f) == -1e-45f);
  for (const auto f : {simd::softplus<float>, simd::log_sigmoid<float>, simd::elu<float>})
    BOOST_TEST(std::isnan(f(not_a_number)));
}

BOOST_AUTO_TEST_CASE(erf_is_within_3_ulp) {
  const auto reference = [](long double x) { return std::erf(x); };
  for (double end : {1e-310, 0.01, 0.82, 1.0, 4.0, 8.0, 100.0}) {
    const float f = static_cast<float>(end);
    BOOST_TEST(worst_ulps<float>({-f, f}, erf_of, reference) <= 3);
    BOOST_TEST(worst_ulps<double>({-end, end}, erf_of, reference) <= 3);
  }
  BOOST_TEST(worst_of_any_size<float>(erf_of, reference) <= 3);
  BOOST_TEST(worst_of_any_size<double>(erf_of, reference) <= 3);
  BOOST_TEST((simd::erf(infinity) == 1 && simd::erf(-infinity) == -1));
  BOOST_TEST(std::signbit(simd::erf(-0.0f)));
  BOOST_TEST(std::isnan(simd::erf(not_a_number)));
}

BOOST_AUTO_TEST_CASE(pow_is_within_1_ulp) { check_pow<float>(), check_pow<double>(); }

BOOST_AUTO_TEST_CASE(floor_and_remainder_are_exact) {
  check_floor_and_remainder<float>(), check_floor_and_remainder<double>();
}

BOOST_AUTO_TEST_CASE(packs_have_the_bits_of_scalars) {
  check_packs<float>({-1000, 1000}, sin_of);
  check_packs<double>({-1e20, 1e20}, sin_of);
  check_packs<float>({-1e20f, 1e20f}, cos_of);
  check_packs<double>({-1000, 1000}, cos_of);
  check_packs<float>({-90, 90}, softplus_of);
  check_packs<double>({-3, 3}, softplus_of);
  check_packs<float>({-3, 3}, log_sigmoid_of);
  check_packs<double>({-720, 720}, log_sigmoid_of);
  check_packs<float>({-3, 3}, elu_of);
  check_packs<double>({-3, 3}, elu_of);
  check_packs<float>({-3, 3}, erf_of);
  check_packs<double>({-3, 3}, erf_of);
  check_packs<float>({-3, 3}, floor_of);
  check_packs<double>({-3, 3}, floor_of);
  const auto power = [](auto x) { return simd::pow(x, x); };
  const auto power_of_two = [](auto x) { return simd::pow(decltype(x){} + 2, x); };
  const auto rest = [](auto x) { return simd::remainder(x, decltype(x){} + 7); };
  check_packs<float>({-3, 30}, power);
  check_packs<double>({-3, 30}, power);
  check_packs<float>({-160, 130}, power_of_two);
  check_packs<double>({-1080, 1030}, power_of_two);
  check_packs<float>({-100, 1000}, rest);
  check_packs<double>({-100, 1000}, rest);
  check_packs<float>({-90, 0}, exp_of_minus);
  check_packs<double>({-715, 0}, exp_of_minus);
  check_packs<float>({-130, 0}, exp2_of_minus);
  check_packs<double>({-1030, 0}, exp2_of_minus);
  check_packs<float>({-90, 90}, exp_of);
  check_packs<double>({-720, 720}, exp_of);
  check_packs<float>({-3, 3}, tanh_of);
  check_packs<double>({-3, 3}, tanh_of);
  check_packs<float>({-5, 5}, gelu_of);
  check_packs<double>({-7, 7}, gelu_of);
  check_packs<float>({-7, 7}, gelu_tanh_of);
  check_packs<double>({-7, 7}, gelu_tanh_of);
  check_packs<float>({0, 10}, log_of);
  check_packs<double>({0, 10}, log_of);
  check_packs<float>({-90, 90}, sigmoid_of);
  check_packs<double>({-720, 720}, sigmoid_of);
  check_packs<float>({0, 10}, sqrt_of);
  check_packs<double>({0, 10}, sqrt_of);
  check_packs<float>({0, 10}, rsqrt_of);
  check_packs<double>({0, 10}, rsqrt_of);
}

BOOST_AUTO_TEST_CASE(constant_expressions_have_the_bits_of_run_time) {
  constexpr std::size_t count = 24;
  struct results {
    float single[18][count];
    double twice[18][count];
  };
  // No product in it: what feeds a sum in the functions must not be contracted with one here.
  constexpr auto argument = [](std::size_t i) { return static_cast<double>(i + 1) / 3.41; };
  constexpr auto compute = [argument] {
    results r{};
    for (std::size_t i = 0; i < count; ++i) {
      const double x = argument(i);
      const float f = static_cast<float>(x);
      r.single[0][i] = simd::exp2_not_positive(-f - 19);
      r.single[1][i] = simd::exp(f - 3);
      r.single[2][i] = simd::tanh(f);
      r.single[3][i] = simd::gelu(f - 3);
      r.single[4][i] = simd::sqrt(f);
      r.single[5][i] = simd::rsqrt(f);
      r.single[6][i] = simd::gelu_tanh(f - 3);
      r.single[7][i] = simd::log(f);
      r.single[8][i] = simd::sigmoid(f - 3);
      r.single[9][i] = simd::softplus(f - 3);
      r.single[10][i] = simd::log_sigmoid(f - 3);
      r.single[11][i] = simd::elu(f - 3);
      r.single[12][i] = simd::erf(f - 3);
      r.single[13][i] = simd::sin(f);
      r.single[14][i] = simd::cos(f);
      r.single[15][i] = simd::floor(f - 3);
      r.single[16][i] = simd::pow(f, f - 3);
      r.single[17][i] = simd::remainder(f - 3, f);
      r.twice[0][i] = simd::exp2_not_positive(-x - 100);
      r.twice[1][i] = simd::exp(x - 3);
      r.twice[2][i] = simd::tanh(x);
      r.twice[3][i] = simd::gelu(x - 3);
      r.twice[4][i] = simd::sqrt(x);
      r.twice[5][i] = simd::rsqrt(x);
      r.twice[6][i] = simd::gelu_tanh(x - 3);
      r.twice[7][i] = simd::log(x);
      r.twice[8][i] = simd::sigmoid(x - 3);
      r.twice[9][i] = simd::softplus(x - 3);
      r.twice[10][i] = simd::log_sigmoid(x - 3);
      r.twice[11][i] = simd::elu(x - 3);
      r.twice[12][i] = simd::erf(x - 3);
      r.twice[13][i] = simd::sin(x);
      r.twice[14][i] = simd::cos(x);
      r.twice[15][i] = simd::floor(x - 3);
      r.twice[16][i] = simd::pow(x, x - 3);
      r.twice[17][i] = simd::remainder(x - 3, x);
    }
    return r;
  };
  constexpr results constant = compute();
  volatile bool hidden = true;  // so that the second time is run time
  const results run_time = hidden ? compute() : results{};
  BOOST_TEST(std::memcmp(&constant, &run_time, sizeof constant) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
