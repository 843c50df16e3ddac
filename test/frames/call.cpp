// SPDX-License-Identifier: BSL-1.0
// One call of a layer, whose way to the first multiply-add of a score check.py follows.
#include <umbel/bare.hpp>

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<100>, heads<5>>;
static attention::weights w;
static tensor<float, batch<2>, query<20>, hidden<100>> x;
static tensor<float, batch<2>, key<24>, hidden<100>> y;

int main() {
  const tensor<int, batch<2>> lens{3, 2};
  const auto result = attention{w}(x, y, y, lens);
  return result(0, 0, 0) == 0 ? 0 : 1;
}
