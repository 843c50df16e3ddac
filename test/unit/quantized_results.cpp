// SPDX-License-Identifier: BSL-1.0
// Formulas in integers with several results: each has the integers that it has as the only result.
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

using rows = tensor<float, token<7>, hidden<6>>;
using keys = tensor<float, key<5>, hidden<6>>;

// A context, its largest features and a sum that the context reads.
template <class Context, class Largest, class Sum>
struct several {
  Context context;
  Largest largest;
  Sum sum;
};
template <class Context, class Largest, class Sum>
several(Context, Largest, Sum) -> several<Context, Largest, Sum>;
constexpr auto sum_of = [](auto x) { return named<"sum">(x * 0.5F - sigmoid(x)); };
constexpr auto context_of = [](auto x, auto k) {
  auto weights = softmax<key>(named<"scores">(contract<hidden>(tanh(sum_of(x)), k)));
  return contract<key>(weights, k);
};
constexpr auto largest_of = [](auto context) { return max<hidden>(context) * 3; };
constexpr formula all = [](auto x, auto k) {
  auto context = context_of(x, k);
  return several{context, largest_of(context), sum_of(x) | permute<hidden, token>};
};
constexpr formula only_context = [](auto x, auto k) { return context_of(x, k); };
constexpr formula only_largest = [](auto x, auto k) { return largest_of(context_of(x, k)); };
constexpr formula sum_and_scores = [](auto x, auto k) {
  auto sum = sum_of(x);
  return std::tuple{sum | permute<hidden, token>, contract<hidden>(tanh(sum), k)};
};

template <class F>
using layer_of = quantized<F, rows, keys>;
template <class F>
const auto& of_floats(const F&) {
  static const auto made = [] {
    lcg next{3};
    static struct {
      typename layer_of<F>::ranges seen{};
      typename layer_of<F>::calibration_workspace work;
      layer_of<F> packed;
    } all_parts;
    for (int i = 0; i < 5; ++i) {
      const auto x = drawn<rows>(next, 2);
      std::ignore = layer_of<F>::calibrate(all_parts.seen, x, drawn<keys>(next, 2), all_parts.work);
    }
    BOOST_REQUIRE(static_cast<bool>(all_parts.packed.pack(all_parts.seen)));
    return &all_parts;
  }();
  return *made;
}
template <class F>
auto computed_by(const F& f) {
  using layer = layer_of<F>;
  const auto& of = of_floats(f);
  lcg next{17};
  const auto x = drawn<rows>(next, 2);
  const auto k = drawn<keys>(next, 2);
  return of.packed(
      quantize<typename layer::template input_type<0>>(x, layer::template input_range<0>(of.seen)),
      quantize<typename layer::template input_type<1>>(k, layer::template input_range<1>(of.seen)));
}

float max_of(const auto& x) {
  float most = 0;
  for (const float v : x) most = std::fmax(most, std::fabs(v));
  return most;
}

BOOST_AUTO_TEST_CASE(each_result_has_the_bits_of_a_single_one) {
  const auto [context, largest, sum] = computed_by(all);
  BOOST_TEST((context == computed_by(only_context)));
  BOOST_TEST((largest == computed_by(only_largest)));
  BOOST_TEST((sum == std::get<0>(computed_by(sum_and_scores))));
}

BOOST_AUTO_TEST_CASE(each_result_has_its_type_range_and_float) {
  using layer = layer_of<std::remove_const_t<decltype(all)>>;
  static_assert(std::is_same_v<layer::output_type<0>, std::int8_t>);
  static_assert(std::is_same_v<layer::output_type<1>, std::int8_t>);
  static_assert(std::is_same_v<layer::result_type, layer::output_type<0>>);
  const auto& of = of_floats(all);
  const auto y = computed_by(all);
  static_assert(
      std::is_same_v<decltype(y.sum), tensor<layer::output_type<2>, hidden<6>, token<7>>>);
  lcg next{17};
  const auto x = drawn<rows>(next, 2);
  const auto floats = all(x, drawn<keys>(next, 2));
  const auto far = [](const auto& a, const auto& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      most = std::fmax(most, std::fabs(static_cast<double>(a.data()[i] - b.data()[i])));
    return most;
  };
  BOOST_TEST(far(dequantize(y.context, layer::output_range(of.seen)), floats.context) < 0.06);
  BOOST_TEST(far(dequantize(y.largest, layer::output_range<1>(of.seen)), floats.largest) < 0.18);
  BOOST_TEST(far(dequantize(y.sum, layer::output_range<2>(of.seen)), floats.sum) < 0.02);
}

BOOST_AUTO_TEST_CASE(results_are_written_into_the_callers_memory) {
  using layer = layer_of<std::remove_const_t<decltype(all)>>;
  const auto& of = of_floats(all);
  const auto y = computed_by(all);
  lcg next{17};
  const auto x =
      quantize<layer::input_type<0>>(drawn<rows>(next, 2), layer::input_range<0>(of.seen));
  const auto k =
      quantize<layer::input_type<1>>(drawn<keys>(next, 2), layer::input_range<1>(of.seen));
  static layer::workspace work;
  auto into = y;
  for (auto& v : into.context) v = 1;
  of.packed.into(into, x, k, work);
  BOOST_TEST((into.context == y.context));
  for (auto& v : into.largest) v = 1;
  for (auto& v : into.sum) v = 1;
  of.packed.into(std::tie(into.context, into.largest, into.sum), x, k);
  BOOST_TEST((into.largest == y.largest));
  BOOST_TEST((into.sum == y.sum));
}

// Results that are the same value, twice it, and an argument.
BOOST_AUTO_TEST_CASE(results_may_share_a_value_and_constants_have_the_bits_of_kernels) {
  constexpr formula shared = [](auto x, auto k) {
    auto y = contract<hidden>(x, k) * 0.25F;
    return std::tuple{y, y, y * 2, x, x | permute<hidden, token>, contract<key>(y, k)};
  };
  using layer = layer_of<std::remove_const_t<decltype(shared)>>;
  constexpr layer::ranges seen = [] {
    layer::ranges of_all{};
    for (auto& one : of_all.values) one() = 2;
    return of_all;
  }();
  static constexpr layer packed{seen};
  static constexpr auto input = [] {
    lcg next{5};
    return std::pair{quantize<layer::input_type<0>>(drawn<rows>(next, 2), 2.0F),
                     quantize<layer::input_type<1>>(drawn<keys>(next, 2), 2.0F)};
  }();
  constexpr auto wanted = packed(input.first, input.second);
  const auto y = packed(input.first, input.second);
  BOOST_TEST((y == wanted));
  BOOST_TEST((std::get<0>(y) == std::get<1>(y)));
  BOOST_TEST((std::get<0>(y) == std::get<2>(y)));
  BOOST_TEST((layer::output_range<2>(seen) == 2 * layer::output_range<0>(seen)));
  BOOST_TEST((std::get<3>(y) == input.first));
  BOOST_TEST((std::get<4>(y) == tensor(input.first | permute<hidden, token>)));
}

// A mean of constants, weighed by a softmax, has their unit, which has a range then.
struct stored_values {
  static constexpr const char* part_names[] = {"values"};
  tensor<float, key<5>, classes<3>> values;
};
BOOST_AUTO_TEST_CASE(a_result_in_the_unit_of_constants) {
  constexpr formula recall = [](auto x, auto k, const auto& w) {
    return contract<key>(softmax<key>(contract<hidden>(x, k)), w.values);
  };
  using layer = quantized<decltype(recall), rows, keys, stored_values>;
  static layer::ranges seen{};
  lcg next{8};
  const auto x = drawn<rows>(next, 2);
  const auto k = drawn<keys>(next, 2);
  const stored_values w{drawn<tensor<float, key<5>, classes<3>>>(next, 3)};
  const auto wanted = layer::calibrate(seen, x, k, w);
  const layer packed(w, seen);
  const auto y = packed(quantize<layer::input_type<0>>(x, layer::input_range<0>(seen)),
                        quantize<layer::input_type<1>>(k, layer::input_range<1>(seen)));
  BOOST_TEST(layer::output_range(seen) == max_of(w.values));
  const auto floats = dequantize(y, layer::output_range(seen));
  for (std::size_t i = 0; i < y.size(); ++i)
    BOOST_TEST(std::fabs(floats.data()[i] - wanted.data()[i]) < 0.1);
}

}  // namespace
