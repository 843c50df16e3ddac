// SPDX-License-Identifier: BSL-1.0
// The example that writes text, in integers: the same logits on every target and for every
// compiler, steps that are the whole pass, near the model of floats.
//
// data/tiny_language_model.txt: the first 4,097 of the 200,000 characters that the model was not
// trained on (examples/tiny_language_model/trained/README.md says of which text).
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "../../examples/tiny_language_model/integers.hpp"
#include "../../examples/tiny_language_model/load.hpp"
#include "../../examples/tiny_language_model/perplexity.hpp"
#include "../../examples/tiny_language_model/writer.hpp"

namespace {

using namespace umbel;
using namespace tiny;

std::string data_folder() {
  const char* const data = std::getenv("UMBEL_GOLDEN_DATA");  // as golden/weights.hpp
  return data ? data : "test/golden/data";
}
std::string weights_file() {
  return data_folder() + "/../../../examples/tiny_language_model/trained/weights.safetensors";
}
const weights& trained() {
  static weights w;
  static const std::string wrong = load_weights(w, weights_file().c_str());
  BOOST_REQUIRE_MESSAGE(wrong.empty(), wrong);
  return w;
}
const tokens<context>& greedy_text() {
  static tokens<context> text;
  const auto memory = mapped_file::open(weights_file().c_str());
  BOOST_REQUIRE(memory);
  const auto file = tensor_file::in_memory(*memory);
  BOOST_REQUIRE(file && file->read("probe.greedy", text));
  return text;
}
const integer::model& packed() {
  static const integer::model all{trained()};
  return all;
}
const logits<context>& in_integers() {
  static const logits<context> scores = packed().whole_pass(greedy_text());
  return scores;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tiny_language_model_integers)

BOOST_AUTO_TEST_CASE(the_logits_have_the_same_bits_everywhere) {
  std::uint32_t hash = 2166136261U;  // FNV-1a, of the numbers
  for (const float score : in_integers())
    hash = (hash ^ __builtin_bit_cast(std::uint32_t, score)) * 16777619U;
  BOOST_TEST(hash == 0x9d46a77fU);
}

BOOST_AUTO_TEST_CASE(steps_have_the_bits_of_the_whole_pass) {
  static integer::reader model{trained()};
  const auto& text = greedy_text();
  const auto same = [&](std::size_t at) {
    const auto next = model.next();
    return __builtin_memcmp(next.data(), &in_integers()(at, 0), sizeof next) == 0;
  };
  for (std::size_t i = 0; i < context; ++i) {
    BOOST_REQUIRE(model.read(text.data() + i, 1));
    BOOST_TEST(same(i), i);
  }
  BOOST_TEST(!model.read(text.data(), 1));  // the context is full
  for (const std::size_t count : {15u, 16u, 17u, 255u, 256u}) {
    model.forget();
    BOOST_REQUIRE(model.read(text.data(), count));
    BOOST_TEST(same(count - 1), count);
  }
}

// Measured on this text: the root of the mean square, over that of the logits.
BOOST_AUTO_TEST_CASE(the_logits_are_near_those_of_floats) {
  const auto floats = tiny::whole_pass(trained(), greedy_text());
  double error = 0, size = 0;
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const auto f = static_cast<double>(floats.data()[i]);
    const double d = static_cast<double>(in_integers().data()[i]) - f;
    error += d * d;
    size += f * f;
  }
  BOOST_TEST(std::sqrt(error / size) < 0.07);
}

// Of all 200,000 characters calibrate.cpp measures 3.427 and 3.459.
BOOST_AUTO_TEST_CASE(the_perplexity_is_within_2_percent_of_that_of_floats) {
  const auto text = read_text(data_folder() + "/tiny_language_model.txt");
  const double floats = perplexity(
      text, [](const tokens<context>& piece) { return tiny::whole_pass(trained(), piece); });
  const double integers =
      perplexity(text, [](const tokens<context>& piece) { return packed().whole_pass(piece); });
  BOOST_TEST_MESSAGE("perplexity: " << floats << " in floats, " << integers << " in integers");
  BOOST_TEST(floats < 4);
  BOOST_TEST(integers < 1.02 * floats);
}

BOOST_AUTO_TEST_CASE(writes_the_same_text_for_a_seed) {
  static writer<float, integer::reader> out{trained(), 1};
  BOOST_REQUIRE(out.begin(greedy_text().data(), 17));
  std::string letters;
  for (int i = 0; i < 103; ++i) letters += letter_of(out.write({.temperature = 0.7F}));
  BOOST_TEST(
      letters ==
      "of the disciples, and gather thee therein the people that knoweth the house of the king of "
      "Israel ready");
}

BOOST_AUTO_TEST_SUITE_END()
