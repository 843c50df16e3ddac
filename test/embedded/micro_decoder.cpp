// SPDX-License-Identifier: BSL-1.0
// A language model's cached steps in 16 kB of RAM (examples/micro_decoder). The whole pass, which
// needs more, is compared where there is no such limit: both have the bits of bits.hpp. The cost of
// the last step is measured.
#include "../../examples/micro_decoder/decoder.hpp"

#include "check.hpp"

static constinit micro::decoder decode{};

MEASURED void forward(int character) noexcept { (void)decode.read(character); }

int main() {
  embedded::hash bits;
  micro::tensor<int, micro::token<micro::context>> text{};
  for (std::size_t at = 0; at != micro::context; ++at) {
    text(at) = static_cast<int>(at * at % 32);
    forward(text(at));
    bits.add_all(decode.next());
  }
  embedded::check_bits("decoder: logits of 40 steps", bits.value());
  embedded::check("decoder: no step beyond the context", !decode.read(0));
#if !defined(EMBEDDED_BARE_METAL)
  static micro::block_stack::workspace<micro::token<micro::context>> work;
  micro::states<micro::context> x = micro::embed(text);
  micro::blocks.into(x, x, umbel::causal, work);
  embedded::check_bits("decoder: logits of 40 steps", micro::logits_of(x));
#endif
  return embedded::finish();
}
