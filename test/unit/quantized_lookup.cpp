// SPDX-License-Identifier: BSL-1.0
// Formulas in integers: elements at computed positions, of tables, arguments and products. Steps of
// a cache: law/quantized_formula_cache.cpp.
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

template <std::size_t N>
struct bucket : axis<bucket, N> {};
using rows = tensor<float, token<7>, hidden<6>>;

double farthest(const auto& a, const auto& b) {
  double most = 0;
  for (std::size_t i = 0; i < b.size(); ++i)
    most = std::fmax(
        most, std::fabs(static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i])));
  return most;
}

// Packed with the ranges of x, and what it computes of x.
template <class F, class X, class... W>
struct computed {
  using layer = quantized<F, X, W...>;
  typename layer::ranges seen{};
  layer packed;
  decltype(layer::calibrate(seen, std::declval<X>(), std::declval<W>()...)) floats;
  computed(const F&, const X& x, const W&... w)
      : floats(layer::calibrate(seen, x, w...)), x_(quantized_input(x)) {
    BOOST_REQUIRE(static_cast<bool>(packed.pack(w..., seen)));
  }
  auto quantized_input(const X& x) const {
    return quantize<typename layer::template input_type<0>>(x,
                                                            layer::template input_range<0>(seen));
  }
  auto integers() const { return packed(x_); }
  auto back() const { return dequantize(integers(), layer::output_range(seen)); }
  decltype(quantize<typename layer::template input_type<0>>(std::declval<X>(), 1.0F)) x_;
};

struct tables {
  static constexpr const char* part_names[] = {"cos", "sin"};
  tensor<float, token<5>, hidden<6>> cos, sin;
};

BOOST_AUTO_TEST_CASE(rows_of_tables_at_positions) {
  lcg next{5};
  const auto x = drawn<rows>(next, 2);
  const tables w{drawn<tensor<float, token<5>, hidden<6>>>(next),
                 drawn<tensor<float, token<5>, hidden<6>>>(next)};
  constexpr formula f = [](auto x, const auto& w) {
    auto of_row = lookup(w.cos, position<token> - 1);  // the first and the last row have none
    return x * of_row + (1 - 2 * lookup(w.sin, position<token>)) * x;
  };
  const computed made{f, x, w};
  BOOST_TEST(farthest(made.floats, f(x, w)) < 1e-5);
  BOOST_TEST(farthest(made.back(), f(x, w)) < 0.06);
}

// Those of the argument itself, or 0.
BOOST_AUTO_TEST_CASE(elements_of_an_argument_are_its_integers) {
  lcg next{6};
  const auto x = drawn<rows>(next, 3);
  constexpr formula f = [](auto x) {
    return gather<hidden>(x, positions_along<bucket<9>> * 0.5F - 1);
  };
  const computed made{f, x};
  const auto y = made.integers();
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(y)>, tensor<std::int8_t, token<7>, bucket<9>>>);
  for (std::size_t t = 0; t < 7; ++t)
    for (std::size_t b = 0; b < 9; ++b)  // from -1 to 3, rounded toward zero
      BOOST_TEST(y(t, b) == (b < 2 ? 0 : made.x_(t, (b - 2) / 2)));
  BOOST_TEST(farthest(made.back(), f(x)) < 0.02);
}

struct maps_of_distances {
  static constexpr const char* part_names[] = {"keys"};
  tensor<float, bucket<9>, hidden<6>> keys;
};
// DeBERTa's: of a product, at the distance of two positions, along an axis that both have.
BOOST_AUTO_TEST_CASE(elements_of_a_product_at_distances) {
  lcg next{7};
  const auto x = drawn<rows>(next, 2);
  const maps_of_distances w{drawn<tensor<float, bucket<9>, hidden<6>>>(next)};
  constexpr formula f = [](auto x, const auto& w) {
    auto q = x | rename_axis<token, query>;
    auto k = x | rename_axis<token, key>;
    auto delta = clamp(position<query> - position<key>, -4, 4) + 4;
    auto scores = contract<hidden>(q, k) + gather<bucket>(contract<hidden>(q, w.keys), delta);
    return contract<key>(softmax<key>(scores * 0.25F), k);
  };
  const computed made{f, x, w};
  BOOST_TEST(farthest(made.back(), f(x, w)) < 0.15);
}

// Integers among the arguments are positions, and what conditions compare.
BOOST_AUTO_TEST_CASE(integers_of_arguments_are_looked_up) {
  constexpr formula f = [](auto s, auto v, auto documents, auto numbers) {
    auto is_other = lookup(documents, position<query>) != lookup(documents, position<key>);
    return gather<query>(contract<key>(softmax<key>(hide(s, is_other)), v), numbers);
  };
  using s_type = tensor<float, query<5>, key<5>>;
  using v_type = tensor<float, key<5>, hidden<3>>;
  using layer =
      quantized<decltype(f), s_type, v_type, tensor<int, token<5>>, tensor<int, bucket<2>>>;
  lcg next{8};
  const auto s = drawn<s_type>(next, 4);
  const auto v = drawn<v_type>(next);
  const tensor<int, token<5>> documents{0, 0, 1, 1, 1};
  const tensor<int, bucket<2>> numbers{4, -1};
  layer::ranges seen{};
  const auto z = layer::calibrate(seen, s, v, documents, numbers);
  const layer packed{seen};
  const auto y =
      packed(quantize<layer::input_type<0>>(s, layer::input_range<0>(seen)),
             quantize<layer::input_type<1>>(v, layer::input_range<1>(seen)), documents, numbers);
  BOOST_TEST(farthest(dequantize(y, layer::output_range(seen)), z) < 0.03);
  BOOST_TEST(farthest(z, f(s, v, documents, numbers)) < 1e-6);
  for (std::size_t h = 0; h < 3; ++h) BOOST_TEST(y.data()[3 + h] == 0);
}

}  // namespace
