// SPDX-License-Identifier: BSL-1.0
// Losses: of tensors the values of torch's formulas in double, in a formula the same bits; labels
// that are no class, and rows that are not counted, NaN in them too.
#include <boost/test/unit_test.hpp>

#include <umbel/training/gradient.hpp>
#include <umbel/training/loss.hpp>
#include <umbel/umbel.hpp>

#include <cmath>
#include <limits>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

using logits_type = tensor<double, batch<2>, token<3>, classes<5>>;
using labels_type = tensor<int, batch<2>, token<3>>;

struct problem {
  logits_type x;
  labels_type label{4, -100, 0, 2, 5, 1};  // -100 and 5 are no classes
  problem() {
    umbel_test::lcg next{3};
    umbel_test::draw(next, x, 4);
  }
  // torch.nn.functional.cross_entropy (torch 2.1, its documentation).
  double wanted(double smoothing, int ignored) const {
    double sum = 0;
    int counted = 0;
    for (std::size_t row = 0; row < 6; ++row) {
      const int at = label.data()[row];
      if (at < 0 || at > 4 || at == ignored) continue;
      const double* const of = x.data() + 5 * row;
      double all = 0;
      for (int c = 0; c < 5; ++c) all += std::exp(of[c]);
      for (int c = 0; c < 5; ++c)
        sum -= (smoothing / 5 + (c == at) * (1 - smoothing)) * (of[c] - std::log(all));
      ++counted;
    }
    return sum / counted;
  }
};

BOOST_AUTO_TEST_CASE(cross_entropy_is_torchs, *boost::unit_test::tolerance(4e-15)) {
  const problem p;
  BOOST_TEST(cross_entropy<classes>(p.x, p.label)() == p.wanted(0, -1));
  BOOST_TEST((cross_entropy<classes, label_smoothing<1, 10>>(p.x, p.label)()) == p.wanted(0.1, -1));
  BOOST_TEST((cross_entropy<classes, ignored_label<2>>(p.x, p.label)()) == p.wanted(0, 2));
  BOOST_TEST((cross_entropy<classes, ignored_label<0>, label_smoothing<1, 4>>(p.x, p.label)()) ==
             p.wanted(0.25, 0));
}

BOOST_AUTO_TEST_CASE(in_a_formula_it_has_the_bits_of_tensors) {
  const problem p;
  constexpr formula loss = [](auto x, auto label) {
    return cross_entropy<classes, label_smoothing<1, 10>>(x, label);
  };
  BOOST_TEST(umbel_test::same_bits(loss(p.x, p.label),
                                   cross_entropy<classes, label_smoothing<1, 10>>(p.x, p.label)));
  BOOST_TEST(umbel_test::same_bits(loss(p.x, p.label), plain(loss)(p.x, p.label)));
  logits_type y = p.x;
  for (double& element : y) element *= 0.5;
  constexpr formula squares = [](auto a, auto b) { return mean_squared_error(a, b); };
  BOOST_TEST(umbel_test::same_bits(squares(p.x, y), mean_squared_error(p.x, y)));
  double sum = 0;
  for (const double element : y) sum += element * element;
  BOOST_TEST(mean_squared_error(p.x, y)() == sum / 30, boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(rows_that_are_not_counted_do_not_matter) {
  problem p;
  const double before = cross_entropy<classes>(p.x, p.label)();
  const double smoothed = cross_entropy<classes, label_smoothing<1, 10>>(p.x, p.label)();
  p.x(0, 1, 3) = std::numeric_limits<double>::quiet_NaN();  // its label is -100
  p.x(1, 1, 0) = std::numeric_limits<double>::infinity();   // its label is 5
  BOOST_TEST(cross_entropy<classes>(p.x, p.label)() == before);
  BOOST_TEST((cross_entropy<classes, label_smoothing<1, 10>>(p.x, p.label)()) == smoothed);
  p.x(0, 0, 0) = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST(std::isnan(cross_entropy<classes>(p.x, p.label)()));
  for (int& label : p.label) label = -1;
  BOOST_TEST(cross_entropy<classes>(p.x, p.label)() == 0);
  // A class that cannot be: minus infinity.
  tensor<float, classes<3>> x{1, 2, -std::numeric_limits<float>::infinity()};
  BOOST_TEST(std::isfinite(cross_entropy<classes>(x, tensor<int>{1})()));
  BOOST_TEST(cross_entropy<classes>(x, tensor<int>{2})() == std::numeric_limits<float>::infinity());
}

// No loss is +0, not -0: of no counted row, of a prediction that is certain, of two that are equal.
template <class T, class... Options>
void check_no_loss() {
  const auto is_plus_zero = [](const auto& loss) { return loss() == 0 && !std::signbit(loss()); };
  constexpr formula loss = [](auto x, auto label) {
    return cross_entropy<classes, Options...>(x, label);
  };
  constexpr gradient learn{loss};
  const tensor<T, token<2>, classes<3>> x{-1, -2, -3, 4, 5, 6};
  tensor<T, token<2>, classes<3>> g{};
  const tensor<int, token<2>> none{-100, 3};
  BOOST_TEST(is_plus_zero(cross_entropy<classes, Options...>(x, none)));
  BOOST_TEST(is_plus_zero(plain(loss)(x, none)));
  BOOST_TEST(is_plus_zero(learn(with_gradient(x, g), none)));
  for (const T one : g) BOOST_TEST((one == 0 && !std::signbit(one)));
  const tensor<T, classes<1>> one_class{-5};
  BOOST_TEST(is_plus_zero(cross_entropy<classes, Options...>(one_class, tensor<int>{0})));
  BOOST_TEST(is_plus_zero(mean_squared_error(x, x)));
}
BOOST_AUTO_TEST_CASE(no_loss_is_plus_zero) {
  check_no_loss<float>();
  check_no_loss<double>();
  check_no_loss<float, label_smoothing<1, 10>>();
  check_no_loss<double, ignored_label<2>>();
  const tensor<float, classes<2>> certain{1000, -1000};
  BOOST_TEST(!std::signbit(cross_entropy<classes>(certain, tensor<int>{0})()));
}

// Their gradient is 0, whatever their logits are: not 0 times NaN.
template <class... Options>
void check_gradient() {
  constexpr gradient learn{
      formula{[](auto x, auto label) { return cross_entropy<classes, Options...>(x, label); }}};
  problem p;
  logits_type right{}, found{}, plainly{};
  const double loss = learn(with_gradient(p.x, right), p.label)();
  p.x(0, 1, 3) = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t c = 0; c < 5; ++c) p.x(1, 1, c) = std::numeric_limits<double>::infinity();
  BOOST_TEST(learn(with_gradient(p.x, found), p.label)() == loss);
  BOOST_TEST(umbel_test::same_bits(found, right));
  BOOST_TEST(plain(learn)(with_gradient(p.x, plainly), p.label)() == loss);
  BOOST_TEST(umbel_test::same_bits(plainly, right));
  for (std::size_t c = 0; c < 5; ++c) BOOST_TEST((found(0, 1, c) == 0 && found(1, 1, c) == 0));
  for (int& label : p.label) label = 17;
  found = {};
  BOOST_TEST(learn(with_gradient(p.x, found), p.label)() == 0);
  for (const double g : found) BOOST_TEST(g == 0);
}
BOOST_AUTO_TEST_CASE(rows_that_are_not_counted_have_no_gradient) {
  check_gradient<>();
  check_gradient<label_smoothing<1, 10>>();
  check_gradient<ignored_label<4>, label_smoothing<1, 10>>();
}

static_assert(cross_entropy_fits<logits_type, labels_type, classes>);
static_assert(!cross_entropy_fits<logits_type, tensor<int, batch<2>>, classes>);
static_assert(!cross_entropy_fits<logits_type, tensor<float, batch<2>, token<3>>, classes>);

}  // namespace
