// SPDX-License-Identifier: BSL-1.0
// The time of a picture through the demo's model, for run.py: the least of 50 rounds of 20
// pictures, after which V8 has compiled the whole module by its second compiler. Prints it in ms,
// and how many answers are PyTorch's.
#include "../../examples/fashion/model.hpp"
#include "../../examples/fashion/trained/samples.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

using fashion::model;
namespace trained = fashion::trained;

namespace {

model::workspace work{};
float logits[20][10];

void classify() noexcept {
  for (int i = 0; i < 20; ++i) model::logits(trained::pixels[i], work, logits[i]);
}
std::ptrdiff_t answer(const float (&of)[10]) { return std::max_element(of, of + 10) - of; }

}  // namespace

int main() {
  using clock = std::chrono::steady_clock;
  double least = 1e9;
  for (int round = 0; round < 50; ++round) {
    const auto start = clock::now();
    classify();
    least =
        std::min(least, std::chrono::duration<double, std::milli>(clock::now() - start).count());
  }
  int same = 0;
  for (int i = 0; i < 20; ++i) same += answer(logits[i]) == answer(trained::logits[i]);
  std::printf("ms %.4f answers %d\n", least / 20, same);
}
