// SPDX-License-Identifier: BSL-1.0
// The demo's model in integers, 20 pictures of clothes, on Cortex-M in the 16 kB of RAM of a
// micro:bit: one set of bits for all targets. The cost of one picture is measured.
#include <umbel/inspect/fits.hpp>

#include "../../examples/fashion/integers.hpp"
#include "../../examples/fashion/trained/samples.hpp"
#include "check.hpp"

using fashion::integer_model;
#if defined(EMBEDDED_BARE_METAL)  // tiles of wider vectors take more
static_assert(umbel::fits<umbel::board::microbit, integer_model>);
#endif
namespace trained = fashion::trained;

static constinit integer_model::workspace work{};
static std::int16_t logits[10];
static constexpr struct not_clothes {
  std::uint8_t black[28 * 28]{}, white[28 * 28]{}, stripes[28 * 28]{};
  constexpr not_clothes() noexcept {
    for (std::uint8_t& pixel : white) pixel = 255;
    for (int i = 0; i < 28 * 28; i += 2) stripes[i] = 255;
  }
} others;

MEASURED void forward(const std::uint8_t* pixels, std::int16_t* out) noexcept {
  integer_model::logits(pixels, work, out);
}

int main() {
  std::uint32_t right = 0;
  embedded::hash bits;
  for (std::size_t i = 0; i < 20; ++i) {
    forward(trained::pixels[i], logits);
    std::size_t largest = 0;
    for (std::size_t c = 0; c < 10; ++c) {
      bits.add(static_cast<float>(logits[c]));
      if (logits[c] > logits[largest]) largest = c;
    }
    right += largest == trained::labels[i];
  }
  embedded::check("clothing in integers: 19 of 20 pictures", right == 19);
  constexpr std::uint32_t golden = 0x7d3c354e;
  embedded::check("clothing in integers: the bits of all targets", bits.value() == golden);
  if (bits.value() != golden) {
    embedded::print("# clothing in integers: 0x");
    embedded::print(bits.value(), 16);
    embedded::print("\n");
  }
  embedded::multiply_accumulates(49 * 16 * 32 +
                                 2 * (49 * 32 * (4 * 32 + 2 * 64) + 2 * 49 * 49 * 32) + 32 * 10);
#if !UMBEL_CLANG  // it takes some constants apart, so that there is no object to compare with
  embedded::print_footprint(integer_model::footprint,
                            "fashion::integer::embed fashion::integer::positions "
                            "fashion::integer::layer fashion::integer::norm "
                            "fashion::integer::head work");
#endif
  // Their cost is that of any other picture.
  forward(others.black, logits);
  forward(others.white, logits);
  forward(others.stripes, logits);
  return embedded::finish();
}
