// SPDX-License-Identifier: BSL-1.0
// One picture through the demo's network (examples/fashion): latency beside its floor, which is its
// multiply-adds at the peak and its exponentials at 3.2 cycles for 16 (bench::goals has 1.25 of
// it). Norms, activations but for their exponentials, residual sums and the conversion of pixels
// are not in the floor. And the same picture through the network in integers.
#include "../../examples/fashion/integers.hpp"
#include "../../examples/fashion/model.hpp"

#include "../measure.hpp"

namespace {

constexpr double products = [] {
  constexpr double tokens = 49, hidden = 32, up = 64, head_dim = 8, heads = 4;
  constexpr double attention =
      4 * tokens * hidden * hidden + 2 * heads * tokens * tokens * head_dim;
  return tokens * 16 * hidden + 2 * (attention + 2 * tokens * hidden * up) + hidden * 10;
}();

const bool added = [] {
  static fashion::model::workspace work;
  static std::uint8_t picture[28 * 28];
  for (std::size_t i = 0; i < sizeof picture; ++i) picture[i] = static_cast<std::uint8_t>(i * 37);
  bench::add_row("fashion/one picture", 2 * products, [] {
    float logits[fashion::model::classes];
    fashion::model::logits(picture, work, logits);
    benchmark::DoNotOptimize(logits);
  });
  static fashion::integer_model::workspace integer_work;
  bench::add_row("int8/fashion/one picture", 2 * products, [] {
    std::int16_t logits[fashion::model::classes];
    fashion::integer_model::logits(picture, integer_work, logits);
    benchmark::DoNotOptimize(logits);
  });
  return true;
}();

}  // namespace
