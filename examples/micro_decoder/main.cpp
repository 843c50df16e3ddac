// SPDX-License-Identifier: BSL-1.0
// Lets the 16 kB decoder continue a text character by character, and compares every step with the
// whole pass over the text so far, which needs three times the RAM: the bits are the same.
#include <cstdio>
#include <umbel/decode/sample.hpp>

#include "decoder.hpp"

static constinit micro::decoder decode{};
static constinit micro::block_stack::workspace<micro::token<micro::context>> work{};

int main() {
  constexpr char alphabet[] = " abcdefghijklmnopqrstuvwxyz.,;!?";
  umbel::tensor<int, micro::token<micro::context>> text{};
  micro::logits<micro::context> steps;
  for (std::size_t at = 0, character = 1; at != micro::context; ++at) {
    text(at) = static_cast<int>(character);
    if (!decode.read(text(at))) return 1;
    umbel::copy(decode.next() | umbel::select_at<micro::token, 0>,
                steps | umbel::select_at<micro::token>(at));
    character = umbel::argmax(decode.next());
    std::putchar(alphabet[character]);
  }
  std::putchar('\n');

  micro::states<micro::context> x = micro::embed(text);
  micro::blocks.into(x, x, umbel::causal, work);
  const bool same = micro::logits_of(x) == steps;
  std::printf("%zu steps, the bits of the whole pass: %s\n", micro::context, same ? "yes" : "no");
  std::printf("RAM %zu bytes (of the whole pass %zu), weights %zu bytes\n", sizeof(decode),
              sizeof(work) + sizeof(x) + sizeof(steps),
              sizeof(micro::embed) + sizeof(micro::blocks) + sizeof(micro::norm));
  return same && !decode.read(0) ? 0 : 1;
}
