// SPDX-License-Identifier: BSL-1.0
// Pictures of clothes on a micro:bit, 16 kB of RAM and no FPU: the classifier of examples/fashion
// in integers only. Prints the answers for 20 pictures, how many are right, and the cost.
#include "../fashion/integers.hpp"
#include "../fashion/trained/samples.hpp"
#include "board.hpp"

using fashion::integer_model;
namespace trained = fashion::trained;

static constinit integer_model::workspace work{};

static std::size_t largest(const std::int16_t (&of)[10]) {
  std::size_t at = 0;
  for (std::size_t i = 1; i < 10; ++i)
    if (of[i] > of[at]) at = i;
  return at;
}

int main() {
  mark_stack();
  int right = 0;
  unsigned took = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    std::int16_t logits[10];
    const unsigned start = ticks();
    integer_model::logits(trained::pixels[i], work, logits);
    took = ticks() - start;
    const std::size_t answer = largest(logits), label = trained::labels[i];
    right += answer == label;
    print(trained::class_names[answer]);
    if (answer != label) {
      print(", but it is: ");
      print(trained::class_names[label]);
    }
    print("\n");
  }
  print(right);
  print(" of 20 are right\nweights and tables: ");
  print(static_cast<int>(integer_model::weights_bytes));
  print(" bytes\nRAM: ");
  print(static_cast<int>(variables()));
  print(" bytes, and of stack ");
  print(static_cast<int>(stack_used()));
  print("\nticks: ");
  print(static_cast<int>(took));
  print("\n");
  return 0;
}
