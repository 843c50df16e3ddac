// SPDX-License-Identifier: BSL-1.0
// Attention in one call: queries x attend to keys and values y.
#include <cstdio>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;  // batch<N> query<N> key<N> hidden<N> heads<N> ...

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;
using attention = multi_head_attention<float, hidden<100>, heads<5>, bias<false>>;

static attention::weights w;  // static storage: no heap anywhere
static queries x;
static context y;

int main() {
  for (auto* map : {&w.q, &w.k, &w.v, &w.o})
    for (std::size_t i = 0; i < 100; ++i) (*map)(i, i) = 1;  // the identity, for now
  for (std::size_t i = 0; i < 6; ++i) y(1, i, 0) = static_cast<float>(i);

  constexpr tensor<int, batch<2>> valid_lens{3, 2};  // of 6 keys, the first 3 and 2
  const queries out = attention{w}(x, y, y, valid_lens);
  std::printf("%g\n", static_cast<double>(out(1, 0, 0)));  // the mean of 0 and 1: 0.5
  return out(at<hidden>(0), at<batch>(1), at<query>(3)) == 0.5f ? 0 : 1;
}
