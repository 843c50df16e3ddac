// SPDX-License-Identifier: BSL-1.0
// One use of each kind, compiled for systems that are not here (check.py): masked attention, a
// block, a cache, a formula, integers.
#include <umbel/bare.hpp>
#include <umbel/quantized.hpp>

using namespace umbel;
using namespace umbel::axes;

using attention =
    multi_head_attention<float, hidden<32>, heads<4>, rope<split_halves>, bias<false>>;
using block = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                            activation<gelu_tanh>, bias<true>>;
using tokens = tensor<float, token<16>, hidden<32>>;
using next_token = tensor<float, token<1>, hidden<32>>;
using past = key_value_cache<attention, key<64>>;

tokens attend(const attention::weights& w, const tokens& x) { return attention{w}(x, causal); }
tokens pass(const block::weights& w, const tokens& x) { return block{w}(x); }
bool step(next_token& out, past& cache, const attention::weights& w, const next_token& x) {
  return cache.step(out, attention{w}, x);
}

constexpr formula softcapped = [](auto q, auto k, auto v) {
  return contract<key>(softmax<key>(20 * tanh(contract<head_dim>(q, k) / 20)), v);
};
using queries = tensor<float, heads<4>, query<9>, head_dim<8>>;
using keys = tensor<float, heads<4>, key<16>, head_dim<8>>;
auto attend_by_formula(const queries& q, const keys& k,
                       const tensor<float, heads<4>, key<16>, value_dim<8>>& v) {
  return softcapped(q, k, v);
}

using map = linear<float, hidden<32>, out_features<10>>;
auto in_integers(const quantized<map>& layer, const tensor<std::int8_t, hidden<32>>& x) {
  return layer(x);
}

// What no member needs has no size, in every ABI.
static_assert(sizeof(linear<float, hidden<32>, out_features<10>, bias<false>>::weights) ==
              32 * 10 * sizeof(float));
