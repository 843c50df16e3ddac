// SPDX-License-Identifier: BSL-1.0
// A classifier that learns on the board (examples/learn_on_device), linked with 20 kB of RAM: its
// sensor is mounted another way than when it was trained; after 200 gestures with their labels it
// is nearly as good as before. A step is measured: the features of a gesture, the gradient of the
// last layer, SGD.
#include "../../examples/learn_on_device/model.hpp"

#include "check.hpp"

namespace learning = learn_on_device;

static constinit learning::classifier learner{};
static constinit learning::window x{};
static bool failed = false;

// Without one, 200 steps take minutes in an emulator.
#if !defined(EMBEDDED_BARE_METAL) || defined(__ARM_FP) || defined(__riscv_flen)
static constexpr bool has_fpu = true;
#else
static constexpr bool has_fpu = false;
#endif

// A rate of run time: that it is float must be enough (bounds.py finds arithmetic in double).
MEASURED void forward(std::size_t label, float rate) noexcept {
  failed |= !learner.learn_that(x, label, rate);
}

static void learn(std::uint32_t first, std::uint32_t last) noexcept {
  for (std::uint32_t i = first; i < last; ++i) {
    learning::read_sensor(learning::first_learned + i, learning::shifted, x);
    forward(i % gestures::class_count, 0.03F);
  }
}
static std::uint32_t last_layer() noexcept {
  embedded::hash bits;
  bits.add_all(learner.last_layer().weight);
  bits.add_all(learner.last_layer().bias);
  return bits.value();
}

// How many of 100 gestures it answers right.
static std::uint32_t right(const char* when, const learning::mounting& how) noexcept {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < 100; ++i) {
    learning::read_sensor(learning::first_tested + i, how, x);
    count += learner.answer(x) == i % gestures::class_count;
  }
  embedded::print("# ");
  embedded::print(when);
  embedded::print(": ");
  embedded::print(count);
  embedded::print(" of 100 are right\n");
  return count;
}

int main() {
  learner.begin();
  learn(0, 2);
  embedded::check_bits("learn on device: the last layer after 2 steps", last_layer());
  if (has_fpu) {
    learner.begin();
    const std::uint32_t trained = right("as it was trained", {});
    const std::uint32_t before = right("mounted another way", learning::shifted);
    learn(0, 200);
    const std::uint32_t after = right("after 200 steps", learning::shifted);
    embedded::check_bits("learn on device: the last layer after 200 steps", last_layer());
    embedded::check("learn on device: it was wrong, and learned",
                    trained >= 95 && before <= 65 && after >= 90);
  }
  const std::uint32_t kept = last_layer();
  x.data()[0] = __builtin_nanf("");
  embedded::check("learn on device: all steps but that of a NaN",
                  !failed && !learner.learn_that(x, 0) && last_layer() == kept);
  embedded::multiply_accumulates(learning::multiply_accumulates);
  embedded::print_footprint(learning::needs,
                            "learn_on_device::trained::embed learn_on_device::trained::layers "
                            "learn_on_device::trained::norm_weight learn_on_device::as_trained "
                            "umbel::detail::constant_rope_turns learner x");
  return embedded::finish();
}
