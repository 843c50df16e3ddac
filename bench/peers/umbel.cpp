// SPDX-License-Identifier: BSL-1.0
// Umbel itself, as its users call it: packed weights, a workspace, one way each.
#include <umbel/umbel.hpp>

#include "race.hpp"
#include "umbel_layer.hpp"

namespace {

using namespace umbel::axes;
using race::count, race::turn;
namespace kernel = umbel::detail::kernel;

struct itself {
  template <race::linear_shape S>
  static race::ways<race::linear_call> linears(const float* w, const float* b) {
    static constexpr kernel::linear_shape shape = {
        count(S.rows), count(S.in), count(S.out), count(S.in), 1, count(S.out), 1, true};
    const race::memory natural = race::allocate(S.in * S.out);
    const race::memory packed = race::allocate(kernel::packed_size<shape, float>);
    const race::memory biases = race::allocate(kernel::padded_features<shape.out, float>);
    turn(w, S.out, S.in, natural.get());
    kernel::pack_linear<shape.in, shape.out, true>(natural.get(), b, packed.get(), biases.get());
    return {{"packed", race::repeated([=](const float* x, float* y) {
               kernel::linear_packed<shape>(x, packed.get(), biases.get(), y);
             })}};
  }

  template <race::softmax_shape S>
  static race::ways<race::softmax_call> softmaxes() {
    static constexpr kernel::softmax_shape shape = {count(S.rows), count(S.columns), 1};
    return {{"softmax",
             race::repeated([](const float* x, float* y) { kernel::softmax<shape>(x, y); })}};
  }

  template <race::contract_shape S>
  static race::ways<race::contract_call> contracts() {
    return {{"contract", race::repeated([](const float* x, const float* y, float* out) {
               using kernel::contract_axis;
               constexpr std::size_t queries = count(S.queries), columns = count(S.columns());
               constexpr std::size_t hidden = count(S.hidden());
               constexpr contract_axis kept[] = {
                   {count(S.heads), count(S.x_head()), count(S.head_dim), count(S.out_head())},
                   {queries, count(S.x_row()), 0, count(S.out_row())},
                   {columns, 0, S.values ? 1 : hidden, 1}};
               constexpr contract_axis summed = {count(S.depth()), 1, S.values ? hidden : 1, 0};
               constexpr auto loops = kernel::lower_contraction<float, 3>(kept, 3, &summed, 1);
               alignas(64) static float scratch[kernel::contract_all_scratch<loops, float> + 1];
               kernel::contract_all<loops>(x, y, out, scratch);
             })}};
  }

  template <race::attention_shape S>
  static race::ways<race::attention_call> attentions() {
    static constexpr std::size_t width = count(S.head_dim);
    static constexpr kernel::attend_shape shape = {
        count(S.queries), count(S.keys), width, width, width, 1, width, 1, width, 1, width, 1,
        count(S.queries)};
    // Few queries: several heads at a time, as the layers do.
    static constexpr kernel::heads_shape heads = {count(S.batch * S.heads), 1,
                                                  count(S.q.head),          count(S.k.head),
                                                  count(S.v.head),          count(S.o.head)};
    return {{"fused", race::repeated([](const float* q, const float* k, const float* v, float* o) {
               alignas(64) static float scratch[kernel::attend_scratch<shape, float>];
               const float scale = umbel::detail::simd::rsqrt(static_cast<float>(S.head_dim));
               using umbel::detail::plan::attend_form;
               constexpr attend_form form =
                   kernel::attend_form_of<shape, heads, float, umbel::detail::plan::seen_keys::all>;
               if constexpr (form == attend_form::heads_in_lanes) {
                 kernel::attend_heads<shape, heads>(q, k, v, scale, shape.keys, o, scratch);
                 return;
               } else if constexpr (form == attend_form::keys_in_lanes) {
                 kernel::attend_each<shape, heads>(q, k, v, scale, 0, shape.keys, o, scratch);
                 return;
               } else if constexpr (form == attend_form::heads_in_pairs) {
                 kernel::attend_pairs<shape, heads>(q, k, v, scale, o, scratch);
                 return;
               }
               for (int h = 0; h < S.batch * S.heads; ++h) {
                 kernel::attend<shape>(q + h * S.q.head, k + h * S.k.head, v + h * S.v.head, scale,
                                       kernel::scores::every_key{}, o + h * S.o.head, scratch);
               }
             })}};
  }

  template <race::layer_shape S>
  static race::ways<race::layer_call> layers(const race::layer_data& d) {
    using attention = race::attention<S>;
    static const umbel::prepacked<attention> attend{race::weights_of<S>(d)};
    using queries = umbel::tensor<float, batch<count(S.batch)>, query<count(S.queries)>,
                                  hidden<count(S.hidden)>>;
    using keys =
        umbel::tensor<float, batch<count(S.batch)>, key<count(S.keys)>, hidden<count(S.hidden)>>;
    if constexpr (S.decodes) {
      using token_type = umbel::tensor<float, token<1>, hidden<count(S.hidden)>>;
      static umbel::key_value_cache<attention, key<count(S.keys)>> past;
      static token_type out;
      for (int t = 0; t + 1 < S.keys; ++t) {
        (void)past.step(out, attend,
                        *reinterpret_cast<const token_type*>(d.z.get() + t * S.hidden));
      }
      return {{"cache", race::repeated([](const float* x, const float*, float* y) {
                 (void)past.rewind(count(S.keys - 1));
                 (void)past.step(*reinterpret_cast<token_type*>(y), attend,
                                 *reinterpret_cast<const token_type*>(x));
               })}};
    } else if constexpr (S.self()) {
      static typename attention::template workspace<query<count(S.queries)>> work;
      return {{"packed", race::repeated([](const float* x, const float*, float* y) {
                 attend.into(*reinterpret_cast<queries*>(y), *reinterpret_cast<const queries*>(x),
                             umbel::all_keys, work);
               })}};
    } else {
      static typename attention::template workspace<query<count(S.queries)>, key<count(S.keys)>>
          work;
      return {{"packed", race::repeated([](const float* x, const float* z, float* y) {
                 const auto& context = *reinterpret_cast<const keys*>(z);
                 attend.into(*reinterpret_cast<queries*>(y), *reinterpret_cast<const queries*>(x),
                             context, context, umbel::all_keys, work);
               })}};
    }
  }
};

}  // namespace

int main(int argc, char** argv) { return race::main<itself>(argc, argv); }
