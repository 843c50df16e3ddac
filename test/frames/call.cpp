// SPDX-License-Identifier: BSL-1.0
// One call, whose way to the first multiply-add of a score check.py follows: of a layer of
// attention, of a block, of a formula.
#include <umbel/bare.hpp>

using namespace umbel;
using namespace umbel::axes;

#if CALL == 1
using attention = multi_head_attention<float, hidden<100>, heads<5>>;
static attention::weights w;
static tensor<float, batch<2>, query<20>, hidden<100>> x;
static tensor<float, batch<2>, key<24>, hidden<100>> y;

int main() {
  const tensor<int, batch<2>> lens{3, 2};
  const auto result = attention{w}(x, y, y, lens);
  return result(0, 0, 0) == 0 ? 0 : 1;
}
#elif CALL == 2
using encoder = encoder_layer<float, hidden<80>, heads<5>, intermediate<64>, norm_first<true>,
                              activation<relu>, bias<true>>;
static encoder::weights w;
static tensor<float, batch<2>, token<24>, hidden<80>> x;

int main() {
  const tensor<int, batch<2>> lens{3, 2};
  const auto result = encoder{w}(x, lens);
  return result(0, 0, 0) == 0 ? 0 : 1;
}
#else
static tensor<float, batch<2>, heads<5>, query<20>, head_dim<16>> x;
static tensor<float, batch<2>, heads<5>, key<24>, head_dim<16>> y;
constexpr formula attend = [](auto query, auto key, auto value) {
  return contract<axes::key>(softmax<axes::key>(contract<head_dim>(query, key)), value);
};

int main() {
  const auto result = attend(x, y, y);
  return result(0, 0, 0, 0) == 0 ? 0 : 1;
}
#endif
