// SPDX-License-Identifier: BSL-1.0
// The demo's classifier in integers: the same logits on every target, for every compiler and
// optimisation, and answers as the model of floats gives them.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "../../examples/fashion/integers.hpp"
#include "../../examples/fashion/trained/samples.hpp"

namespace {

using fashion::integer_model;
namespace trained = fashion::trained;

template <class T>
std::ptrdiff_t place_of_largest(const T (&x)[10]) {
  return std::max_element(std::begin(x), std::end(x)) - std::begin(x);
}

BOOST_AUTO_TEST_CASE(the_logits_have_the_same_bits_everywhere) {
  static integer_model::workspace work;
  std::uint32_t hash = 2166136261U;  // FNV-1a, of the numbers
  for (const auto& pixels : trained::pixels) {
    std::int16_t logits[10];
    integer_model::logits(pixels, work, logits);
    for (const std::int16_t l : logits) hash = (hash ^ static_cast<std::uint16_t>(l)) * 16777619U;
  }
  BOOST_TEST(hash == 0x940e5da0U);
}

BOOST_AUTO_TEST_CASE(the_answers_are_those_of_floats) {
  static integer_model::workspace work;
  for (std::size_t i = 0; i < std::size(trained::labels); ++i) {
    std::int16_t logits[10];
    integer_model::logits(trained::pixels[i], work, logits);
    BOOST_TEST(place_of_largest(logits) == place_of_largest(trained::logits[i]));
    const auto values = umbel::dequantize(umbel::view_as<umbel::axes::classes<10>>(logits),
                                          fashion::integer::seen.head.output);
    for (std::size_t c = 0; c < 10; ++c)
      BOOST_TEST(std::abs(values(c) - trained::logits[i][c]) < 0.4F);
  }
}

}  // namespace
