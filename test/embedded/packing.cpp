// SPDX-License-Identifier: BSL-1.0
// Weights that are packed at run time, in every stored form, for products of as many outputs as
// vectors have lanes, more and fewer: against sums in order. (clang 19 stored some in another
// order, for vectors of RISC-V.)
#include "check.hpp"
#include "draw.hpp"

using namespace umbel;
using namespace umbel::axes;

template <class W, std::size_t Inputs, std::size_t Outputs>
[[gnu::noinline]] bool is_right() noexcept {
  using map = linear<float, hidden<Inputs>, classes<Outputs>>;
  static typename map::weights w;
  static tensor<float, token<1>, hidden<Inputs>> x;
  static prepacked<map, stored_as<W>> packed;
  embedded::lcg next;
  embedded::draw(next, w.weight, 1.0F);
  embedded::draw(next, x);
  __asm__ volatile("" : : : "memory");  // not known to the compiler
  packed.pack(w);
  const auto y = packed(x);
  for (std::size_t c = 0; c < Outputs; ++c) {
    float sum = 0;
    for (std::size_t h = 0; h < Inputs; ++h)
      sum = __builtin_fmaf(x(0, h), static_cast<float>(W(w.weight[h * Outputs + c])), sum);
    if (sum != y(0, c)) return false;
  }
  return true;
}

template <class W, std::size_t... Outputs>
void check_outputs(const char* form) noexcept {
  embedded::check(form, (is_right<W, 1, Outputs>() && ...) && (is_right<W, 3, Outputs>() && ...));
}

int main() {
  check_outputs<float, 4, 8, 16, 32, 64, 20>("packed in float");
  check_outputs<bfloat16, 4, 8, 16, 32, 64, 20>("packed in bfloat16");
  check_outputs<float16, 4, 8, 16, 32, 64, 20>("packed in float16");
  return embedded::finish();
}
