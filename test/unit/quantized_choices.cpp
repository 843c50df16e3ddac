// SPDX-License-Identifier: BSL-1.0
// Formulas in integers: conditions on positions, numbers, lengths and flags, in hide and where; the
// larger of two values; values one after another.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <umbel/quantized.hpp>

#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using umbel_test::drawn;
using umbel_test::lcg;

double farthest(const auto& a, const auto& b) {
  double most = 0;
  for (std::size_t i = 0; i < b.size(); ++i)
    most = std::fmax(
        most, std::fabs(static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i])));
  return most;
}

BOOST_AUTO_TEST_CASE(keys_are_hidden_by_conditions_and_by_arguments) {
  constexpr formula hiding = [](auto s, auto v, auto kept, auto length) {
    auto is_out = floor(position<key> / 2) < clamp(position<query> - 1, 0, 5);  // 0, 1 of query 2
    auto seen = hide(s, !kept || position<key> >= length || is_out);
    return contract<key>(softmax<key>(seen), v);
  };
  using s_type = tensor<float, query<3>, key<4>>;
  using v_type = tensor<float, key<4>, value_dim<2>>;
  using kept_type = tensor<bool, query<3>, key<4>>;
  using layer = quantized<decltype(hiding), s_type, v_type, kept_type, tensor<int>>;
  layer::ranges seen{};
  const s_type s{1, 2, 3, 4, 4, 3, 2, 1, 0, 0, 0, 0};
  const v_type v{1, -1, 0.5F, 1, -0.5F, 0.25F, 1, 1};
  const kept_type kept{true, true, true, true, false, false, true, true, true, false, false, true};
  tensor<int> length;
  length() = 3;
  std::ignore = layer::calibrate(seen, s, v, kept, length);
  BOOST_TEST(seen.get<"argument_1">()() == 4);  // not infinity
  const layer packed{seen};
  const auto y = packed(quantize<std::int16_t>(s, layer::input_range<0>(seen)),
                        quantize<std::int8_t>(v, layer::input_range<1>(seen)), kept, length);
  const auto z = hiding(s, v, kept, length);
  BOOST_TEST(farthest(dequantize(y, layer::output_range(seen)), z) < 0.02);
  BOOST_TEST(y(2, 0) == 0);  // sees no key
  BOOST_TEST(y(2, 1) == 0);
  BOOST_TEST(y(1, 0) == quantize<std::int8_t>(v, layer::input_range<1>(seen))(2, 0));
}

using rows = tensor<float, token<5>, hidden<6>>;
using flags = tensor<bool, token<5>>;
constexpr flags kept{true, false, true, true, false};

// Calibrated with four inputs, then computed with the last.
template <class F>
struct computed {
  using layer = quantized<F, rows, rows, flags>;
  rows x, y;
  typename layer::ranges seen{};
  layer packed;
  computed() {
    lcg next{9};
    for (int i = 0; i < 4; ++i) {
      x = drawn<rows>(next, 2);
      y = drawn<rows>(next, 0.5);
      std::ignore = layer::calibrate(seen, x, y, kept);
    }
    BOOST_REQUIRE(static_cast<bool>(packed.pack(seen)));
  }
  auto integers() const {
    return packed(
        quantize<typename layer::template input_type<0>>(x, layer::template input_range<0>(seen)),
        quantize<typename layer::template input_type<1>>(y, layer::template input_range<1>(seen)),
        kept);
  }
  auto floats() const { return dequantize(integers(), layer::output_range(seen)); }
};

BOOST_AUTO_TEST_CASE(a_condition_chooses_one_of_two_values_or_a_number) {
  constexpr formula of_values = [](auto x, auto y, auto is_kept) {
    return where(is_kept && position<hidden> != 2, x, y * -0.5F);
  };
  const computed<decltype(of_values)> values;
  using layer = decltype(values)::layer;
  static_assert(std::is_same_v<layer::input_type<0>, std::int16_t>);  // only the choice reads it
  static_assert(std::is_same_v<layer::result_type, std::int8_t>);
  BOOST_TEST(farthest(values.floats(), of_values(values.x, values.y, kept)) < 0.01);

  constexpr formula of_number = [](auto x, auto, auto is_kept) {
    return where(is_kept, tanh(x), -0.75F) + where(!is_kept, 0, x);
  };
  const computed<decltype(of_number)> number;
  static_assert(std::is_same_v<decltype(number)::layer::result_type, std::int16_t>);
  BOOST_TEST(farthest(number.floats(), of_number(number.x, number.y, kept)) < 0.03);
  for (std::size_t h = 0; h < 6; ++h)
    BOOST_TEST(std::fabs(number.floats()(1, h) + 0.75F) < 0.001);  // of token 1, not kept
}

BOOST_AUTO_TEST_CASE(the_larger_and_the_smaller_of_two_values) {
  constexpr formula f = [](auto x, auto y, auto) { return maximum(x, y * 3) - minimum(sin(x), y); };
  const computed<decltype(f)> made;
  static_assert(std::is_same_v<decltype(made)::layer::result_type, std::int16_t>);
  BOOST_TEST(farthest(made.floats(), f(made.x, made.y, kept)) < 0.03);
}

// Each has its unit: values, moved values, numbers.
BOOST_AUTO_TEST_CASE(values_and_numbers_are_joined) {
  constexpr formula f = [](auto x, auto y, auto) {
    auto both = concat<hidden>(x, y * 0.125F | roll<token, 2>, exp(x));
    return padded<hidden, before<1>, after<2>>(both, 0.5F);
  };
  const computed<decltype(f)> made;
  const auto z = made.floats();
  BOOST_TEST(farthest(z, f(made.x, made.y, kept)) < 0.04);
  BOOST_TEST(z(3, 0) == z(2, 20));
  BOOST_TEST(std::fabs(z(3, 0) - 0.5F) < 0.04);
}

BOOST_AUTO_TEST_CASE(a_number_beyond_the_range_is_the_largest_integer) {
  constexpr formula f = [](auto x, auto y, auto is_kept) { return where(is_kept, x * y, 9); };
  using layer = quantized<decltype(f), rows, rows, flags>;
  constexpr layer::ranges seen = [] {
    layer::ranges all{};
    for (auto& one : all.values) one() = 2;
    return all;
  }();
  static constexpr layer packed{seen};
  static constexpr auto x = [] {
    lcg next{4};
    return quantize<std::int8_t>(drawn<rows>(next, 2), 2.0F);
  }();
  constexpr auto wanted = packed(x, x, kept);
  BOOST_TEST((packed(x, x, kept) == wanted));
  BOOST_TEST(wanted(1, 0) == 127);
  BOOST_TEST(wanted(0, 0) != 127);
}

}  // namespace
