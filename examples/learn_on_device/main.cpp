// SPDX-License-Identifier: BSL-1.0
// The board's program, run here: a gesture classifier whose sensor is mounted differently than in
// training relearns its last layer, one labeled gesture after another.
#include <cstdio>

#include "model.hpp"

namespace {

using namespace learn_on_device;

constinit classifier learner{};
constinit window x{};

// In percent of 1,000 gestures.
double right(const mounting& how) {
  constexpr std::uint32_t tested = 1000;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < tested; ++i) {
    read_sensor(first_tested + i, how, x);
    count += learner.answer(x) == i % gestures::class_count;
  }
  return 100.0 * count / tested;
}

}  // namespace

int main() {
  learner.begin();
  const double trained = right({}), before = right(shifted);
  std::printf("right, as it was trained  %.1f %%\n", trained);
  std::printf("mounted another way       %.1f %%\n", before);
  double after = before;
  for (std::uint32_t i = 0; i < 300; ++i) {
    read_sensor(first_learned + i, shifted, x);
    if (!learner.learn_that(x, i % gestures::class_count)) return 1;
    if (i % 100 == 99) {
      after = right(shifted);
      std::printf("%3u steps                 %.1f %%\n", i + 1, after);
    }
  }
  std::printf(
      "RAM %zu bytes, of it the last layer %zu, its gradient as many; constants %zu bytes\n",
      needs.ram, sizeof(learner.last_layer()), needs.weights + needs.tables);
  return before < 65 && after > 90 ? 0 : 1;
}
