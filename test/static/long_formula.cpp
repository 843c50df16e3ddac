// SPDX-License-Identifier: BSL-1.0
// A formula of some 400 operations is planned within the compilers' limits on constant evaluation.
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

constexpr auto block = [](auto x, auto w) {
  auto q = contract<hidden>(x, w) | rename_axis<in_features, hidden>;
  auto k = tanh(q) / sqrt(sum<hidden>(q * q) + 1.0F);
  auto scores = tanh(contract<hidden>(k, k | rename_axis<token, key>) * 0.125F) * 8.0F;
  auto mixed =
      contract<key>(softmax<key>(concat<key>(scores, scores)) | slice<key, from<0>, extent<6>>,
                    q | rename_axis<token, key>);
  auto y = x + mixed;
  return (y - mean<hidden>(y)) / sqrt(mean<hidden>(y * y) + 1e-5F);
};
constexpr formula deep = [](auto x, auto w) {
  auto a = block(block(block(block(x, w), w), w), w);
  auto b = block(block(block(block(a, w), w), w), w);
  auto c = block(block(block(block(b, w), w), w), w);
  return block(block(block(block(c, w), w), w), w);
};
using work = workspace_for<decltype(deep), tensor<float, token<6>, hidden<16>>,
                           tensor<float, hidden<16>, in_features<16>>>;
static_assert(sizeof(work) != 0);
