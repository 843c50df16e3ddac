// SPDX-License-Identifier: BSL-1.0
// Attention in 8-bit integers: the shapes with those masks that integers.cpp leaves out.
#include "integer_attention.hpp"

int main() {
  embedded::hash all;
  bits = &all;
  check("integers: attention with every other mask is its definition",
        masked_attends_are_plain<all_masks>());
  return finish("integers: attention, the bits of all targets", 0xac59e138);
}
