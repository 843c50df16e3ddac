// SPDX-License-Identifier: BSL-1.0
// The demo's classifier in integers: the same logits on every target, for every compiler and
// optimisation, and answers as the model of floats gives them.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "../../examples/fashion/integers.hpp"
#include "../../examples/fashion/page.hpp"
#include "../../examples/fashion/trained/samples.hpp"

// The lines name the functions that are counted; this program counts none.
const char* fashion::heap::counted() noexcept { return "none"; }

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

// What the demo prints of a run, and what is on its page.
std::string shown(const fashion::evaluation& run) {
  return fashion::to_lines(run) + fashion::figures(run);
}

BOOST_AUTO_TEST_CASE(the_slowest_calls_are_shown_if_no_other_program_ran) {
  fashion::evaluation run;
  run.images = 20;
  run.latency = {12.5, 13.5, 77.5, 88.5, 10000};
  const std::string undisturbed = shown(run);
  BOOST_TEST(undisturbed.find("p99.9 77.5 us   max 88.5 us") != std::string::npos);
  BOOST_TEST(undisturbed.find("p99.9 77.5</small>") != std::string::npos);
  run.preempted = 3;
  const std::string disturbed = shown(run);
  BOOST_TEST(disturbed.find("interrupted 3 times") != std::string::npos);
  for (const char* noise : {"p99.9", "max", "77.5", "88.5"})
    BOOST_TEST(disturbed.find(noise) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(every_line_of_the_figures_has_a_name) {
  fashion::evaluation run;
  run.images = 20;
  const std::string lines = fashion::to_lines(run);
  for (std::size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1) {
    BOOST_TEST(lines.substr(at, 14).find_first_not_of(' ') != std::string::npos);
    BOOST_TEST(lines[at + 14] == ' ');
    BOOST_TEST(lines[at + 15] != ' ');
  }
  const std::string page = fashion::figures(run);
  std::size_t tiles = 0;
  for (std::size_t at = 0; (at = page.find("<dt>", at)) != std::string::npos; ++at) ++tiles;
  BOOST_TEST(tiles == 6U);
}

}  // namespace
