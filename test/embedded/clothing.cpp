// SPDX-License-Identifier: BSL-1.0
// The demo's model, 20 pictures of clothes: what PyTorch says, and the bits. The cost of one
// picture is measured.
#include "../../examples/fashion/model.hpp"
#include "../../examples/fashion/trained/samples.hpp"
#include "check.hpp"

using fashion::model;
namespace trained = fashion::trained;

static constinit model::workspace work{};
static float logits[20][10];
static constexpr struct not_clothes {
  std::uint8_t black[28 * 28]{}, white[28 * 28]{}, stripes[28 * 28]{};
  constexpr not_clothes() noexcept {
    for (std::uint8_t& pixel : white) pixel = 255;
    for (int i = 0; i < 28 * 28; i += 2) stripes[i] = 255;
  }
} others;

MEASURED void forward(const std::uint8_t* pixels, float* out) noexcept {
  model::logits(pixels, work, out);
}

static std::size_t largest(const float (&of)[10]) noexcept {
  std::size_t at = 0;
  for (std::size_t i = 1; i < 10; ++i)
    if (of[i] > of[at]) at = i;
  return at;
}

int main() {
  std::uint32_t same = 0, right = 0;
  embedded::hash bits;
  float furthest = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    forward(trained::pixels[i], logits[i]);
    bits.add_all(logits[i]);
    same += largest(logits[i]) == largest(trained::logits[i]);
    right += largest(logits[i]) == trained::labels[i];
    for (std::size_t c = 0; c < 10; ++c) {
      const float error = logits[i][c] - trained::logits[i][c];
      furthest = error > furthest ? error : -error > furthest ? -error : furthest;
    }
  }
  embedded::check("clothing: PyTorch's answer to all 20 pictures", same == 20 && right == 19);
  embedded::check("clothing: logits at most 1e-4 from PyTorch's", furthest <= 1e-4F);
  embedded::check_bits("clothing: logits", bits.value());
  embedded::multiply_accumulates(49 * 16 * 32 +
                                 2 * (49 * 32 * (4 * 32 + 2 * 64) + 2 * 49 * 49 * 32) + 32 * 10);
  embedded::print_footprint(model::footprint,
                            "fashion::trained::embed fashion::trained::layers "
                            "fashion::trained::head fashion::trained::positions "
                            "fashion::trained::norm_weight fashion::trained::norm_bias work");
  // Their cost is that of any other picture.
  forward(others.black, logits[0]);
  forward(others.white, logits[0]);
  forward(others.stripes, logits[0]);
  return embedded::finish();
}
