// SPDX-License-Identifier: BSL-1.0
// Encoders, caches, pruning, linear maps, norms, positions, executors.
#include <misuse/preamble.hpp>

#if defined CASE_encoder_says_no_norm_order
// fact: norm_first
// fact: encoder_layer
encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, bias<true>,
              activation<gelu_exact>>::weights r;
#elif defined CASE_encoder_says_no_activation
// fact: activation
// fact: encoder_layer
encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, bias<true>, norm_first<true>>::weights
    r;
#elif defined CASE_encoder_says_no_intermediate
// fact: intermediate
// fact: encoder_layer
encoder_layer<float, hidden<32>, heads<4>, bias<true>, norm_first<true>,
              activation<gelu_exact>>::weights r;
#elif defined CASE_encoder_input_of_another_width
// fact: hidden=64
// fact: hidden=32
auto f(const encoder& e) { return e(t); }
#elif defined CASE_encoder_asked_for_two
// fact: encoder
// fact: sequence|token
auto f(const encoder& e, const tensor<float, query<4>, hidden<32>>& a,
       const tensor<float, key<6>, hidden<32>>& b) {
  return e(a, b, b);
}
#elif defined CASE_encoder_heads_into_its_width
// fact: hidden=32
// fact: heads=5
encoder_layer<float, hidden<32>, heads<5>, intermediate<64>, bias<true>, norm_first<true>,
              activation<relu>>::weights r;
#elif defined CASE_cache_without_a_size
// fact: key
// fact: key_value_cache
key_value_cache<self_attention> r;
#elif defined CASE_cache_by_tokens
// fact: token
// fact: key
key_value_cache<self_attention, token<40>> r;
#elif defined CASE_cache_prefill_too_long
// fact: token=50|50
// fact: key=40|40
void f(key_value_cache<self_attention, key<40>>& past, tensor<float, token<50>, hidden<64>>& o,
       const tensor<float, token<50>, hidden<64>>& in) {
  (void)past.step(o, self_attention{sw}, in);
}
#elif defined CASE_cache_step_of_another_layer
// fact: hidden=100|hidden=64|layer
// fact: key_value_cache|cache
void f(key_value_cache<self_attention, key<40>>& past, queries& o) {
  (void)past.step(o, attention{w}, x);
}
#elif defined CASE_cache_step_layer_first
// fact: out|result|layer
// fact: step
void f(key_value_cache<self_attention, key<40>>& past, row& o, const row& in) {
  (void)past.step(self_attention{sw}, o, in);
}
#elif defined CASE_cache_step_of_another_batch
// fact: batch=2
// fact: key_value_cache|cache|batch=1
void f(key_value_cache<self_attention, key<40>>& past, tokens& o) {
  (void)past.step(o, self_attention{sw}, t);
}
#elif defined CASE_prune_a_head_that_is_not_there
// fact: 8
// fact: heads=8|heads
pruned<self_attention, prune_heads<1, 8>>::weights r;
#elif defined CASE_prune_every_head
// fact: prune|keep
// fact: heads
pruned<multi_head_attention<float, hidden<64>, heads<2>>, prune_heads<0, 1>>::weights r;
#elif defined CASE_prune_a_head_twice
// fact: 1
// fact: twice|once
pruned<self_attention, prune_heads<1, 1>>::weights r;
#elif defined CASE_prepack_a_number
// fact: prepacked
// fact: float|layer
prepacked<float> r;
#elif defined CASE_prepack_as_integers
// fact: stored.as
// fact: int
prepacked<self_attention, stored_as<int>>* r;
auto f(const self_attention::weights& v) { return prepacked<self_attention, stored_as<int>>{v}; }
#elif defined CASE_scaled_heads_of_two_widths
// fact: head_dim=20
// fact: head_dim=16
auto f(const tensor<float, query<4>, head_dim<20>>& q,
       const tensor<float, key<6>, head_dim<16>>& k) {
  return scaled_dot_product_attention(q, k, k);
}
#elif defined CASE_scaled_without_keys_axis
// fact: key
// fact: query=4|query
auto f(const tensor<float, query<4>, head_dim<20>>& q) {
  return scaled_dot_product_attention(q, q, q);
}
#elif defined CASE_linear_of_another_width
// fact: hidden=64
// fact: hidden=100
auto f(const linear<float, hidden<64>, classes<10>>& l) { return x | l; }
#elif defined CASE_linear_over_what_is_not_there
// fact: pixel|hidden
// fact: query|hidden=100
auto f(const linear<float, head_dim<16>, classes<10>>& l) { return l(x); }
#elif defined CASE_norm_of_another_width
// fact: hidden=64
// fact: hidden=100
auto f(const layer_norm<float, hidden<64>>& n) { return n(x); }
#elif defined CASE_norm_over_two_axes
// fact: layer_norm
// fact: batch|axis|one
layer_norm<float, batch<2>, hidden<64>>::weights r;
#elif defined CASE_positions_of_another_length
// fact: token=12
// fact: token=49
auto f(const learned_positions<float, token<49>, hidden<64>>& p) { return t | p; }
#elif defined CASE_positions_of_another_width
// fact: hidden=64
// fact: hidden=32
auto f(const learned_positions<float, token<12>, hidden<32>>& p) { return p(t); }
#elif defined CASE_fewer_workspaces_than_workers
// fact: 2
// fact: 1
void f(tokens& out, two_workers& pool, self_attention::workspace<token<12>> (&work)[1]) {
  self_attention{sw}.into(out, t, causal, parallel(pool, work));
}
#elif defined CASE_one_workspace_for_the_workers
// fact: workspace
// fact: 2|array|workers
void f(tokens& out, two_workers& pool, self_attention::workspace<token<12>>& work) {
  self_attention{sw}.into(out, t, causal, parallel(pool, work));
}
#elif defined CASE_a_lambda_as_an_executor
// fact: executor
// fact: workers
void f(tokens& out, self_attention::workspace<token<12>> (&work)[2]) {
  self_attention{sw}.into(out, t, causal, parallel([](std::size_t, auto&&) {}, work));
}
#endif
