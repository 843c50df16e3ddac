// SPDX-License-Identifier: BSL-1.0
// Forward passes with nothing else in the object: symbols.py asks what it would have to be linked
// with.
#include <umbel/bare.hpp>
#include <umbel/quantized.hpp>

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<24>, heads<3>, bias<true>>;
using queries = tensor<float, batch<2>, query<5>, hidden<24>>;
using context = tensor<float, batch<2>, key<7>, hidden<24>>;
using lengths_of = tensor<int, batch<2>>;
using encoder = encoder_layer<float, hidden<24>, heads<4>, intermediate<40>, bias<true>,
                              norm_first<true>, activation<gelu_exact>>;
using last_norm = encoder_layer<float, hidden<24>, heads<4>, intermediate<40>, norm_first<false>,
                                activation<gelu_tanh>, bias<false>>;
using additive = additive_attention<float, hidden<24>, score_hidden<10>, heads<2>, bias<true>>;
using decoder = decoder_layer<float, hidden<24>, heads<4>, intermediate<40>, norm_by<rms_norm>,
                              norm_epsilon<1, 1'000'000>, gated<true>, activation<silu>,
                              rope<split_halves>, norm_first<true>, bias<false>>;
using map = linear<float, hidden<24>, classes<10>, bias<true>>;
using integers = quantized<encoder>;

#if !defined SELF_TEST
namespace forward_pass {

queries layer(const attention::weights& w, const queries& x, const context& y) {
  return attention{w}(x, y, y);
}
queries with_lengths(const attention::weights& w, const queries& x, const lengths_of& lens) {
  return attention{w}(x, lens);
}
void packed(const prepacked<attention>& attend, const queries& x, const context& y, queries& out,
            attention::workspace<query<5>, key<7>>& work) {
  attend.into(out, x, y, y, all_keys, work);
}
queries encode(const encoder::weights& w, const queries& x) { return encoder{w}(x); }
queries encode_packed(const prepacked<last_norm>& layer, const queries& x, const lengths_of& lens) {
  return layer(x, lens);
}
queries decode(const decoder::weights& w, const queries& x, const context& memory,
               const lengths_of& lens) {
  return decoder{w}(x | sinusoidal_positions<float, query<5>, hidden<24>, adjacent_pairs>{}, memory,
                    lens, self_mask(causal & lens));
}
void decode_packed(const prepacked<decoder>& layer, const queries& x, const context& memory,
                   queries& out, decoder::workspace<query<5>, key<7>>& work) {
  layer.into(out, x, memory, self_mask(causal), work);
}
queries feed(const decoder::feed_forward::weights& w, const queries& x) {
  return decoder::feed_forward{w}(x);
}
tensor<float, batch<2>, classes<10>> classify(const map::weights& w, const queries& x,
                                              const tensor<float, query<5>, hidden<24>>& table,
                                              const layer_norm<float, hidden<24>>::weights& norm) {
  return x | learned_positions<float, query<5>, hidden<24>>{table} |
         layer_norm<float, hidden<24>>{norm} | rms_norm<float, hidden<24>>{norm.gamma, 1e-6f} |
         gelu_exact | silu | relu | mean<query> | map{w};
}
queries by_sums(const additive::weights& w, const queries& x, const context& y,
                const lengths_of& lens) {
  return additive{w}(x, y, y, lens);
}
tensor<float, batch<2>, query<5>, key<7>> spelled_out(const queries& x, const context& y,
                                                      const lengths_of& lens) {
  return softmax<key>(mask_after<key>(contract<hidden>(x, y) * 0.2f, lens));
}
prepacked<attention> pack(const attention::weights& w) { return prepacked<attention>{w}; }
tensor<double, token<5>, hidden<6>> in_double(
    const multi_head_attention<double, hidden<6>, heads<2>>::weights& w,
    const tensor<double, token<5>, hidden<6>>& x) {
  return multi_head_attention<double, hidden<6>, heads<2>>{w}(x);
}
pack_result pack_integers(integers& to, const encoder::weights& w, const integers::ranges& seen) {
  return to.pack(w, seen);
}
bool step_in_integers(key_value_cache<integers, key<8>>& past, const integers& layer,
                      tensor<std::int16_t, token<1>, hidden<24>>& x) {
  return past.step(x, layer, x);
}
tensor<std::int8_t, classes<10>> classify_in_integers(
    const integers& layer, const quantized<layer_norm<float, hidden<24>>>& norm,
    const quantized_mean<query<5>>& mean, const quantized<map>& to,
    const tensor<std::int16_t, query<5>, hidden<24>>& x) {
  return layer(x, causal) | norm | mean | to;
}

}  // namespace forward_pass

#else
// What must be noticed: the heap, libm, a static with a lock, exceptions.
#include <cmath>
namespace forward_pass {
float* heap() { return new float[5]; }
float libm(float x) { return std::erf(x); }
int guarded() {
  static const int once = static_cast<int>(libm(1));
  return once;
}
void throws(int x) {
  if (x > 1) throw x;
}
}  // namespace forward_pass
#endif
