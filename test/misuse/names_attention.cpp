// SPDX-License-Identifier: BSL-1.0
// Masks, options and parts of attention: what few programs of the other files have.
#include <misuse/all_headers.hpp>

#if defined CASE_alibi_bottom_right_of_lengths
// fact: masks?|alibi
// fact: values?
auto f() { return attention{w}(x, y, y, alibi_bottom_right(lens)); }
#elif defined CASE_alibi_in_place_of_the_keys
// fact: argument\W+1
// fact: queries
auto f() { return attention{w}(alibi_bottom_right, y, y); }
#elif defined CASE_alibi_as_scores
// fact: softmax
// fact: tensor|mask
auto r = softmax<key>(alibi_bottom_right);
#elif defined CASE_alibi_at_a_fraction
// fact: alibi_at|integer
// fact: double|2.5
auto f() { return attention{w}(x, y, y, alibi_at(2.5)); }
#elif defined CASE_alibi_at_lengths_of_another_batch
// fact: batch=3
// fact: batch=2
auto f() { return attention{w}(x, y, y, alibi_at(tensor<int, batch<3>>{})); }
#elif defined CASE_window_top_left_of_lengths
// fact: masks?|sliding_window
// fact: values?
auto f() { return attention{w}(x, y, y, sliding_window_top_left<4>(lens)); }
#elif defined CASE_window_top_left_without_a_width
// fact: sliding_window_top_left
// fact: <4>|positions|width
auto f() { return attention{w}(x, y, y, sliding_window_top_left); }
#elif defined CASE_window_top_left_to_hide
// fact: hide
// fact: condition|bool|mask
auto r = hide(scores, sliding_window_top_left<4>);
#elif defined CASE_window_top_left_plus_scores
// fact: softmax
// fact: one tensor
auto r = softmax<key>(scores + sliding_window_top_left<4>);
#elif defined CASE_window_bottom_right_of_float_lengths
// fact: float
// fact: integers?|int
auto f(const tensor<float, batch<2>>& l) {
  return attention{w}(x, y, y, sliding_window_bottom_right<4>(l));
}
#elif defined CASE_observe_says_not_which_memory
// fact: observe
// fact: memory|tensor|weights
auto f() { return self_attention{sw}(t, observe<observed::scores>()); }
#elif defined CASE_observe_what_as_an_argument
// fact: observe
// fact: observe<|one|memory
auto f(tensor<float, batch<2>, heads<8>, query<12>, key<12>>& seen) {
  return self_attention{sw}(t, observe(seen, observed::weights));
}
#elif defined CASE_observed_without_observe
// fact: mask
// fact: observed|argument 2
auto f() { return self_attention{sw}(t, observed::weights); }
#elif defined CASE_keys_from_a_number
// fact: keys_from
// fact: hidden|axis
multi_head_attention<float, hidden<64>, heads<8>, keys_from<32>>::weights r;
#elif defined CASE_keys_from_heads
// fact: heads=4
// fact: hidden
multi_head_attention<float, hidden<64>, heads<8>, keys_from<heads<4>>>::weights r;
#elif defined CASE_values_from_a_bare_axis
// fact: values_from
// fact: hidden
multi_head_attention<float, hidden<64>, heads<8>, values_from<hidden>>::weights r;
#elif defined CASE_values_of_another_width
// fact: hidden=32
// fact: hidden=100
auto f(const multi_head_attention<float, hidden<100>, heads<5>, values_from<hidden<32>>>& l) {
  return l(x, y, y);
}
#elif defined CASE_output_to_a_number
// fact: output_to
// fact: hidden|axis
multi_head_attention<float, hidden<64>, heads<8>, output_to<80>>::weights r;
#elif defined CASE_output_to_of_a_block
// fact: encoder_layer
// fact: output_to
encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, bias<true>, norm_first<true>,
              activation<relu>, output_to<hidden<16>>>::weights r;
#elif defined CASE_keep_a_head_that_is_not_there
// fact: head\W+8
// fact: heads=8
pruned<self_attention, keep_heads<8>>::weights r;
#elif defined CASE_keep_heads_of_a_number_list
// fact: pruned
// fact: heads
pruned<self_attention, 0, 2>::weights r;
#elif defined CASE_keep_heads_before_the_layer
// fact: pruned
// fact: multi_head_attention
pruned<keep_heads<0>, self_attention>::weights r;
#elif defined CASE_pruned_weights_of_another_layer
// fact: pruned_weights
// fact: weights of (the|that) layer
auto f() { return pruned_weights<self_attention, prune_heads<1>>(w); }
#elif defined CASE_pruned_weights_without_a_layer
// fact: pruned_weights
// fact: layer|<
auto f() { return pruned_weights(sw, keep_heads<0>{}); }
#elif defined CASE_pruned_weights_of_which_heads
// fact: pruned_weights
// fact: heads
auto f() { return pruned_weights<self_attention>(sw); }
#elif defined CASE_pruned_weights_for_the_whole_layer
// fact: multi_head_attention
// fact: weights
const auto kept = pruned_weights<self_attention, keep_heads<0, 1>>(sw);
auto r = self_attention{kept}(t);
#elif defined CASE_rope_sines_of_an_odd_width
// fact: head_dim=7
// fact: pairs?|odd|even
auto r = rope_sines<split_halves, token<8>, head_dim<7>>();
#elif defined CASE_rope_sines_of_names
// fact: rope_sines|rope
// fact: token
auto r = rope_sines<split_halves, token, head_dim>();
#elif defined CASE_rope_sines_of_another_width
// fact: head_dim
// fact: 20|10
auto f(const tensor<float, query<4>, head_dim<20>>& q) {
  return rotate<split_halves, head_dim>(q, rope_cosines<split_halves, query<4>, head_dim<20>>(),
                                        rope_sines<split_halves, query<4>, head_dim<10>>());
}
#elif defined CASE_dot_product_with_a_mask_as_an_option
// fact: scaled_dot_product_attention
// fact: mask|options?
auto f(const tensor<float, query<4>, head_dim<20>>& q) {
  return scaled_dot_product_attention_with<causal>(q, q | rename_axis<query, key>,
                                                   q | rename_axis<query, key>);
}
#elif defined CASE_dot_product_with_an_option_of_projections
// fact: scaled_dot_product_attention
// fact: bias
auto f(const tensor<float, query<4>, head_dim<20>>& q) {
  return scaled_dot_product_attention_with<bias<true>>(q, q | rename_axis<query, key>,
                                                       q | rename_axis<query, key>);
}
#elif defined CASE_dot_product_with_a_bare_rule_of_empty_rows
// fact: scaled_dot_product_attention
// fact: uniform_weights
auto f(const tensor<float, query<4>, head_dim<20>>& q) {
  return scaled_dot_product_attention_with<uniform_weights>(q, q | rename_axis<query, key>,
                                                            q | rename_axis<query, key>);
}
#elif defined CASE_bare_zero_weights
// fact: zero_weights
// fact: empty_rows|options
multi_head_attention<float, hidden<64>, heads<8>, zero_weights>::weights r;
#elif defined CASE_empty_rows_two_rules
// fact: empty_rows
// fact: twice
multi_head_attention<float, hidden<64>, heads<8>, empty_rows<zero_weights>,
                     empty_rows<uniform_weights>>::weights r;
#elif defined CASE_empty_rows_of_a_network
// fact: feed_forward
// fact: empty_rows
feed_forward<float, hidden<64>, intermediate<256>, activation<relu>, bias<true>,
             empty_rows<zero_weights>>::weights r;
#elif defined CASE_empty_rows_of_a_bool
// fact: empty_rows
// fact: zero_weights|uniform_weights
multi_head_attention<float, hidden<64>, heads<8>, empty_rows<true>>::weights r;
#elif defined CASE_by_score_of_a_number
// fact: attention_by_score
// fact: function
auto r = attention_by_score(0.5f)(tensor<float, query<4>, head_dim<20>>{},
                                  tensor<float, key<6>, head_dim<20>>{},
                                  tensor<float, key<6>, head_dim<20>>{});
#elif defined CASE_by_score_of_one_view
// fact: attention_by_score
// fact: head_dim=20
auto r = attention_by_score([](const auto& q) { return q(0); })(
    tensor<float, query<4>, head_dim<20>>{}, tensor<float, key<6>, head_dim<20>>{},
    tensor<float, key<6>, head_dim<20>>{});
#elif defined CASE_rope_of_a_layout_of_sinusoids
// fact: rope
// fact: split_halves_to_base|adjacent_pairs
multi_head_attention<float, hidden<64>, heads<8>, rope<split_halves_to_base>>::weights r;
#elif defined CASE_rotate_by_a_layout_of_sinusoids
// fact: rotate
// fact: split_halves_to_base|adjacent_pairs
auto r = tensor<float, query<4>, head_dim<20>>{} | rotate<split_halves_to_base, query, head_dim>;
#elif defined CASE_sinusoids_layout_first
// fact: sinusoidal_positions
// fact: split_halves_to_base|axis
sinusoidal_positions<float, split_halves_to_base, token<16>, hidden<8>> r;
#elif defined CASE_layer_of_half_numbers
// fact: float16
// fact: multi_head_attention
multi_head_attention<float16, hidden<64>, heads<8>>::weights r;
#elif defined CASE_packed_as_a_bare_type
// fact: prepacked
// fact: float16
prepacked<self_attention, float16> f() { return prepacked<self_attention, float16>{sw}; }
#elif defined CASE_sum_of_half_numbers
// fact: float16
// fact: float
auto r = x + tensor<float16, batch<2>, query<4>, hidden<100>>{};
#elif defined CASE_executor_as_a_workspace
// fact: serial_executor|executor
// fact: workspace
auto f() { return self_attention{sw}(t, causal, serial_executor{}); }
#elif defined CASE_executor_after_the_workspaces
// fact: parallel
// fact: executor
auto f(self_attention::workspace<token<12>> (&work)[1]) {
  return self_attention{sw}(t, causal, parallel(work, serial_executor{}));
}
#elif defined CASE_executor_as_a_type
// fact: parallel
// fact: executor
auto f(self_attention::workspace<token<12>> (&work)[1]) {
  return self_attention{sw}(t, causal, parallel<serial_executor>(work));
}
#elif defined CASE_valid_rows_of_a_fraction
// fact: valid_rows
// fact: integer
auto f() { return self_attention{sw}(t, valid_rows(0.5)); }
#elif defined CASE_valid_rows_by_key
// fact: valid_rows
// fact: key=6
auto f() { return attention{w}(x, y, y, valid_rows(tensor<int, key<6>>{})); }
#elif defined CASE_valid_rows_in_a_formula
// fact: valid_rows
// fact: length|lens
constexpr formula short_call = [](auto a, const auto& layer) { return layer(a, valid_rows(7)); };
auto f(const self_attention& layer) { return short_call(t, layer); }
#elif defined CASE_valid_rows_with_observe
// fact: valid_rows
// fact: observe
auto f(tensor<float, batch<2>, heads<8>, query<12>, key<12>>& seen) {
  return self_attention{sw}(t, valid_rows(7) & observe(seen));
}
#endif
