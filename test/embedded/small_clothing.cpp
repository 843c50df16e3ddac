// SPDX-License-Identifier: BSL-1.0
// The smaller sibling of the demo's model, 20 pictures of clothes, in the 16 kB of RAM of a
// micro:bit: linked with no more (meson.build).
#include <umbel/inspect/fits.hpp>

#include "../../examples/fashion/small/model.hpp"
#include "../../examples/fashion/small/samples.hpp"
#include "../../examples/fashion/trained/samples.hpp"
#include "check.hpp"

using fashion::small::model;

#if defined(EMBEDDED_BARE_METAL)  // tiles of wider vectors take more
static_assert(umbel::fits<umbel::board::microbit, model>);
#endif

static constinit model::workspace work{};
static float logits[10];

static std::size_t largest(const float (&of)[10]) noexcept {
  std::size_t at = 0;
  for (std::size_t i = 1; i < 10; ++i)
    if (of[i] > of[at]) at = i;
  return at;
}

int main() {
  std::uint32_t same = 0;
  embedded::hash bits;
  float furthest = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    const auto& torch = fashion::small::logits[i];
    model::logits(fashion::trained::pixels[i], work, logits);
    bits.add_all(logits);
    same += largest(logits) == largest(torch);
    for (std::size_t c = 0; c < 10; ++c) {
      const float error = logits[c] - torch[c];
      furthest = error > furthest ? error : -error > furthest ? -error : furthest;
    }
  }
  embedded::check("small clothing: PyTorch's answer to all 20 pictures", same == 20);
  embedded::check("small clothing: logits at most 1e-4 from PyTorch's", furthest <= 1e-4F);
  embedded::check_bits("small clothing: logits", bits.value());
  embedded::print_footprint(model::footprint,
                            "fashion::small::embed fashion::small::layers fashion::small::head "
                            "fashion::small::positions fashion::small::norm_weight "
                            "fashion::small::norm_bias work");
  return embedded::finish();
}
