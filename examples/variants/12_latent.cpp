// SPDX-License-Identifier: BSL-1.0
// Multi-head latent attention (the formula is in 12_latent.hpp), compared with PyTorch.
#include "12_latent.hpp"

#include "reference.hpp"

using namespace umbel;
using namespace umbel::axes;

int main() {
  variants::drawing from(golden::latent_attention::seed);
  const auto q = from.q();
  const auto q_rope =
      from.draw<tensor<float, batch<1>, heads<2>, query<12>, variants::rope_dim<4>>>(2);
  const auto c = from.draw<tensor<float, batch<1>, key<10>, variants::latent<16>>>();
  const auto k_rope = from.draw<tensor<float, batch<1>, key<10>, variants::rope_dim<4>>>();
  const auto w_k = from.draw<tensor<float, variants::latent<16>, heads<2>, head_dim<8>>>(0.5);
  const auto w_v = from.draw<tensor<float, variants::latent<16>, heads<2>, value_dim<8>>>(0.5);
  const auto out = variants::latent_attention(q, q_rope, c, k_rope, w_k, w_v);
  return variants::compare(out, golden::latent_attention::output);
}
