// SPDX-License-Identifier: BSL-1.0
// A second trained model in integers (tools/train_gestures.py): rotary positions, grouped heads of
// six features, RMS norms, gated networks. As often right as in floats, but for one in a hundred.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <umbel/file/mapped_file.hpp>
#include <umbel/files.hpp>
#include <umbel/weights.hpp>

#include "../support/gestures.hpp"

namespace {

using namespace umbel;

constexpr int tested = 1000;
constexpr std::uint64_t first_tested = 1'000'000;

const gestures::weights& trained() {
  static gestures::weights w;
  const char* const data = std::getenv("UMBEL_GOLDEN_DATA");  // as golden/weights.hpp
  const std::string path = std::string{data ? data : "test/golden/data"} + "/gestures.safetensors";
  const auto memory = mapped_file::open(path.c_str());
  BOOST_REQUIRE_MESSAGE(memory, memory.error());
  const auto file = tensor_file::in_memory(*memory);
  BOOST_REQUIRE_MESSAGE(file, file.error());
  const auto loaded =
      load(w, *file, at("embed", "embed", names::torch_linear),
           at("layers.*", "layers.*", names::llama_layer),
           at("norm", "norm", names::torch_layer_norm), at("head", "head", names::torch_linear));
  BOOST_REQUIRE_MESSAGE(loaded, loaded.error());
  return w;
}

template <class Logits>
std::size_t answer(const Logits& y) {
  return static_cast<std::size_t>(std::max_element(y.begin(), y.end()) - y.begin());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gestures_in_integers)

BOOST_AUTO_TEST_CASE(as_often_right_as_in_floats) {
  const auto& w = trained();
  static gestures::ranges seen{};
  for (std::uint64_t i = 0; i < 200; ++i) gestures::calibrate(seen, w, gestures::drawn(i));
  static const gestures::in_integers model{w, seen};
  int floats = 0, integers = 0, same = 0;
  for (int i = 0; i < tested; ++i) {
    const auto number = first_tested + static_cast<std::uint64_t>(i);
    const auto x = gestures::drawn(number);
    const auto logits = model(x);
    const std::size_t by_floats = answer(gestures::in_floats(w, x)), by_integers = answer(logits);
    floats += by_floats == number % 10;
    integers += by_integers == number % 10;
    same += by_floats == by_integers;
  }
  BOOST_TEST_MESSAGE(floats << " in floats, " << integers << " in integers, " << same
                            << " the same");
  BOOST_TEST(floats >= 960);  // the generator and the weights belong together
  BOOST_TEST(integers >= floats - tested / 100);
}

BOOST_AUTO_TEST_SUITE_END()
