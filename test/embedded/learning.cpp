// SPDX-License-Identifier: BSL-1.0
// Ten steps of training of a small model: the loss of the last step, the weights and their moving
// average have the bits that they have on every target (test/bits compares both compilers).
#include "../support/small_training.hpp"

#include "check.hpp"

static constinit small_training::training t{};

static std::uint32_t bits_of(const small_training::weights& w) noexcept {
  embedded::hash bits;
  umbel::for_each_parameter(w,
                            [&](const umbel::parameter_path&, const auto& x) { bits.add_all(x); });
  return bits.value();
}

int main() {
  const float loss = small_training::ten_steps(t);
  embedded::check("learning: the loss is less than that of a guess", loss < 4 * 1.6F);
  embedded::check_bits("learning: weights after 10 steps", bits_of(t.w));
  embedded::check_bits("learning: their average", bits_of(t.average));
  return embedded::finish();
}
