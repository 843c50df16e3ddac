// SPDX-License-Identifier: BSL-1.0
// Attention layers: their options, arguments and masks.
#include <misuse/preamble.hpp>

#if defined CASE_heads_six_of_64
// fact: hidden=64
// fact: heads=6
multi_head_attention<float, hidden<64>, heads<6>>::weights r;
#elif defined CASE_no_heads
// fact: heads
// fact: hidden=64|multi_head_attention
multi_head_attention<float, hidden<64>>::weights r;
#elif defined CASE_no_width
// fact: hidden|width|axis
// fact: heads=4|multi_head_attention
multi_head_attention<float, heads<4>>::weights r;
#elif defined CASE_bias_said_twice
// fact: bias
// fact: twice|once|both|true
multi_head_attention<float, hidden<64>, heads<4>, bias<true>, bias<false>>::weights r;
#elif defined CASE_kv_heads_do_not_divide
// fact: heads=8
// fact: kv_heads=3
multi_head_attention<float, hidden<64>, heads<8>, kv_heads<3>>::weights r;
#elif defined CASE_more_kv_heads_than_heads
// fact: heads=4
// fact: kv_heads=8
multi_head_attention<float, hidden<64>, heads<4>, kv_heads<8>>::weights r;
#elif defined CASE_rope_on_an_odd_width
// fact: head_dim=5|\b5\b
// fact: rope|even
multi_head_attention<float, hidden<10>, heads<2>, rope<split_halves>>::weights r;
#elif defined CASE_an_option_of_another_layer
// fact: intermediate
// fact: multi_head_attention
multi_head_attention<float, hidden<64>, heads<4>, intermediate<64>>::weights r;
#elif defined CASE_a_sequence_axis_as_an_option
// fact: query=4|query
// fact: multi_head_attention
multi_head_attention<float, hidden<64>, heads<4>, query<4>>::weights r;
#elif defined CASE_layer_of_integers
// fact: int
// fact: float
multi_head_attention<int, hidden<64>, heads<4>>::weights r;
#elif defined CASE_layer_of_bfloat16
// fact: bfloat16
// fact: float
multi_head_attention<bfloat16, hidden<64>, heads<4>>::weights r;
#elif defined CASE_layer_without_element_type
// fact: hidden=64
// fact: float|element
multi_head_attention<hidden<64>, heads<4>>::weights r;
#elif defined CASE_layer_of_no_heads
// fact: heads=0|heads
// fact: hidden=64|0
multi_head_attention<float, hidden<64>, heads<0>>::weights r;
#elif defined CASE_softcap_of_zero
// fact: softcap
// fact: 0
multi_head_attention<float, hidden<64>, heads<4>, softcap<0>>::weights r;
#elif defined CASE_score_scale_by_zero
// fact: score_scale
// fact: 0
multi_head_attention<float, hidden<64>, heads<4>, score_scale<1, 0>>::weights r;
#elif defined CASE_mask_in_place_of_values
// fact: values?|argument 3|lens|int
// fact: 3|values
auto f() { return attention{w}(x, y, lens); }
#elif defined CASE_context_as_a_mask
// fact: valid_lens
// fact: score_bias
auto f() { return attention{w}(x, y, y, y); }
#elif defined CASE_keys_ask
// fact: query
// fact: key=6
auto f() { return attention{w}(y, y, y); }
#elif defined CASE_values_of_another_length
// fact: key=6
// fact: key=7
auto f(const tensor<float, batch<2>, key<7>, hidden<100>>& z) { return attention{w}(x, y, z); }
#elif defined CASE_keys_of_another_batch
// fact: batch=2
// fact: batch=3
auto f(const tensor<float, batch<3>, key<6>, hidden<100>>& z) { return attention{w}(x, z, z); }
#elif defined CASE_queries_without_a_batch
// fact: quer
// fact: batch=2
auto f() { return attention{w}(m, y, y); }
#elif defined CASE_context_of_another_width
// fact: hidden=100
// fact: hidden=80
auto f(const tensor<float, batch<2>, key<6>, hidden<80>>& z) { return attention{w}(x, z, z); }
#elif defined CASE_queries_of_double
// fact: double
// fact: float
auto f(const tensor<double, batch<2>, query<4>, hidden<100>>& z) { return attention{w}(z, y, y); }
#elif defined CASE_weights_of_another_layer
// fact: hidden=100|hidden=64
// fact: weights
auto f(const multi_head_attention<float, hidden<64>, heads<4>>::weights& other) {
  return attention{other}(x, y, y);
}
#elif defined CASE_result_into_the_shape_of_the_keys
// fact: query=4
// fact: key=6
context f() { return attention{w}(x, y, y); }
#elif defined CASE_into_the_shape_of_the_keys
// fact: query=4
// fact: key=6
void f(context& out) { attention{w}.into(out, x, y, y); }
#elif defined CASE_into_a_constant
// fact: const
// fact: out|into|write
void f(const queries& out) { attention{w}.into(out, x, y, y); }
#elif defined CASE_into_double
// fact: double
// fact: float
void f(tensor<double, batch<2>, query<4>, hidden<100>>& out) { attention{w}.into(out, x, y, y); }
#elif defined CASE_workspace_of_another_length
// fact: token=12
// fact: token=8
void f(self_attention::workspace<token<8>>& work) {
  auto r = self_attention{sw}(t, all_keys, work);
}
#elif defined CASE_workspace_of_another_layer
// fact: workspace
// fact: hidden|layer|multi_head
void f(attention::workspace<token<12>>& work) { auto r = self_attention{sw}(t, all_keys, work); }
#elif defined CASE_workspace_in_the_place_of_the_mask
// fact: workspace
// fact: mask|all_keys
void f(self_attention::workspace<token<12>>& work) { auto r = self_attention{sw}(t, work); }
#elif defined CASE_keep_mask_of_another_length
// fact: key=7
// fact: key=6
auto f(const tensor<bool, batch<2>, key<7>>& mask) {
  return attention{w}(x, y, y, keep_mask(mask));
}
#elif defined CASE_lengths_of_another_batch
// fact: batch=3
// fact: batch=2
auto f() { return attention{w}(x, y, y, tensor<int, batch<3>>{3, 2, 1}); }
#elif defined CASE_lengths_by_key
// fact: key
// fact: lens|length
auto f(const tensor<int, batch<2>, key<6>>& l) { return attention{w}(x, y, y, l); }
#elif defined CASE_bool_by_itself_in_self_attention
// fact: true
// fact: keep_mask.*drop_mask
auto f(const tensor<bool, key<12>>& mask) { return self_attention{sw}(t, mask); }
#elif defined CASE_bias_of_double
// fact: double
// fact: float
auto f(const tensor<double, query<4>, key<6>>& bias) {
  return attention{w}(x, y, y, score_bias(bias));
}
#elif defined CASE_float_mask_by_itself
// fact: score_bias
// fact: float
auto f(const tensor<float, query<4>, key<6>>& bias) { return attention{w}(x, y, y, bias); }
#elif defined CASE_keep_mask_of_float
// fact: float
// fact: bool
auto f(const tensor<float, key<6>>& mask) { return attention{w}(x, y, y, keep_mask(mask)); }
#elif defined CASE_drop_mask_of_integers
// fact: int
// fact: bool
auto f(const tensor<int, batch<2>, key<6>>& mask) { return attention{w}(x, y, y, drop_mask(mask)); }
#elif defined CASE_score_bias_of_bool
// fact: bool
// fact: keep_mask|float
auto f(const tensor<bool, key<6>>& mask) { return attention{w}(x, y, y, score_bias(mask)); }
#elif defined CASE_window_in_cross_attention
// fact: query=4
// fact: key=6
auto f() { return attention{w}(x, y, y, sliding_window<3>); }
#elif defined CASE_alibi_in_cross_attention
// fact: query=4
// fact: key=6
auto f() { return attention{w}(x, y, y, lens & alibi); }
#elif defined CASE_two_dropouts
// fact: dropout
// fact: one|two|twice|once
auto f() { return attention{w}(x, y, y, dropout(0.1, 1) & causal_top_left & dropout(0.2, 2)); }
#elif defined CASE_two_observes
// fact: observe
// fact: one|two|twice|once
auto f(tensor<float, batch<2>, heads<5>, query<4>, key<6>>& a) {
  return attention{w}(x, y, y, observe(a) & observe(a));
}
#elif defined CASE_observe_without_heads
// fact: heads=5|heads
// fact: observe
auto f(tensor<float, batch<2>, query<4>, key<6>>& a) { return attention{w}(x, y, y, observe(a)); }
#elif defined CASE_observe_of_other_heads
// fact: heads=5
// fact: heads=8
auto f(tensor<float, batch<2>, heads<8>, query<4>, key<6>>& a) {
  return attention{w}(x, y, y, observe(a));
}
#elif defined CASE_observe_into_a_constant
// fact: const|write
// fact: observe
auto f(const tensor<float, batch<2>, heads<5>, query<4>, key<6>>& a) {
  return attention{w}(x, y, y, observe(a));
}
#elif defined CASE_observe_into_double
// fact: double
// fact: float
auto f(tensor<double, batch<2>, heads<5>, query<4>, key<6>>& a) {
  return attention{w}(x, y, y, observe(a));
}
#elif defined CASE_observe_a_temporary
// fact: observe
// fact: temporary|memory|outlive|named
auto f() {
  return attention{w}(x, y, y, observe(tensor<float, batch<2>, heads<5>, query<4>, key<6>>{}));
}
#elif defined CASE_two_flags_and_no_word
// fact: true|bool
// fact: keep_mask.*drop_mask
auto f(const tensor<bool, key<6>>& a, const tensor<bool, batch<2>, key<6>>& b) {
  return attention{w}(x, y, y, a & b);
}
#elif defined CASE_window_at_the_end_with_lengths
// fact: sliding_window_bottom_right
// fact: valid_lens|lens
auto f() { return attention{w}(x, y, y, lens & sliding_window_bottom_right<3>); }
#endif
