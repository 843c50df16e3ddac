// SPDX-License-Identifier: BSL-1.0
// One-place mistakes in the project's other examples.
#include <misuse/preamble.hpp>

#if defined CASE_flash_array_of_1000
// fact: 1024
// fact: 1000
using small = multi_head_attention<float, hidden<32>, heads<4>, bias<true>>;
struct flash {
  float q[1024], k[1000], bias[32];
};
constexpr flash stored{};
constexpr small::weights_view borrowed{{view_as<in_features, out_features>(stored.q), stored.bias},
                                       {view_as<in_features, out_features>(stored.k), stored.bias},
                                       {view_as<in_features, out_features>(stored.q), stored.bias},
                                       {view_as<in_features, out_features>(stored.q), stored.bias}};
#elif defined CASE_flash_short_bias
// fact: 32
// fact: 16
using small = multi_head_attention<float, hidden<32>, heads<4>, bias<true>>;
struct flash {
  float q[1024], bias[16];
};
constexpr flash stored{};
constexpr small::weights_view borrowed{{view_as<in_features, out_features>(stored.q), stored.bias},
                                       {view_as<in_features, out_features>(stored.q), stored.bias},
                                       {view_as<in_features, out_features>(stored.q), stored.bias},
                                       {view_as<in_features, out_features>(stored.q), stored.bias}};
#elif defined CASE_flash_bias_forgotten
// fact: bias
// fact: weights|32
using small = multi_head_attention<float, hidden<32>, heads<4>, bias<true>>;
struct flash {
  float q[1024], bias[32];
};
constexpr flash stored{};
constexpr small::weights_view borrowed{{view_as<in_features, out_features>(stored.q)},
                                       {view_as<in_features, out_features>(stored.q)},
                                       {view_as<in_features, out_features>(stored.q)},
                                       {view_as<in_features, out_features>(stored.q)}};
#elif defined CASE_flash_workspace_of_other_frames
// fact: frames=24
// fact: frames=16
using small = multi_head_attention<float, hidden<32>, heads<4>, bias<true>>;
static small::workspace<frames<16>> work;
auto f(const small::weights& v) { return small{v}(sound, all_keys, work); }
#elif defined CASE_flash_workspace_before_mask
// fact: workspace
// fact: mask|all_keys
using small = multi_head_attention<float, hidden<32>, heads<4>, bias<true>>;
static small::workspace<frames<24>> work;
auto f(const small::weights& v) { return small{v}(sound, work, all_keys); }
#elif defined CASE_flash_packed_from_another_layer
// fact: prepacked
// fact: heads|bias|weights
using small = multi_head_attention<float, hidden<32>, heads<4>, bias<true>>;
using plain = multi_head_attention<float, hidden<64>, heads<4>, bias<true>>;
constexpr float q[1024]{}, b[32]{};
constexpr small::weights_view borrowed{{q, b}, {q, b}, {q, b}, {q, b}};
constexpr prepacked<plain> packed{borrowed};
#elif defined CASE_d2l_split_lambda_of_other_features
// fact: hidden=64
// fact: heads=5
constexpr auto split_heads = [](const auto& v) {
  return v | split<hidden, heads<5>, head_dim> | permute<batch, heads, token, head_dim>;
};
auto r = split_heads(t);
#elif defined CASE_d2l_split_lambda_of_keys
// fact: query
// fact: key=6
constexpr auto split_heads = [](const auto& v) {
  return v | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim>;
};
auto r = split_heads(y);
#elif defined CASE_d2l_lens_by_query_of_other_batch
// fact: query=2
// fact: query=4
auto f() { return attention{w}(x, y, y, tensor<int, batch<2>, query<2>>{1, 2, 3, 4}); }
#elif defined CASE_d2l_dropout_times_lengths
// fact: mask
// fact: by & or|by and or
auto f() { return attention{w}(x, y, y, lens * dropout(0.5, 1)); }
#elif defined CASE_haiku_mask_by_itself
// fact: true
// fact: keep_mask.*drop_mask
auto f(const tensor<bool, batch<2>, query<1>, key<12>>& mask) {
  return self_attention{sw}(t, mask);
}
#elif defined CASE_haiku_mask_of_tokens
// fact: token=12
// fact: query=12|key=12|scores
auto f(const tensor<bool, batch<2>, token<12>>& mask) {
  return self_attention{sw}(t, keep_mask(mask));
}
#elif defined CASE_haiku_weights_of_four_heads
// fact: heads=4
// fact: heads=8
struct output_and_weights {
  tokens output;
  tensor<float, batch<2>, heads<4>, query<12>, key<12>> weights;
};
output_and_weights f() {
  output_and_weights both;
  both.output = self_attention{sw}(t, observe(both.weights));
  return both;
}
#elif defined CASE_haiku_rename_forgotten
// fact: query
// fact: token=12
auto f() {
  auto q = t * sw.q | split<hidden, heads<8>, head_dim> | permute<batch, heads, query, head_dim>;
  return q;
}
#elif defined CASE_haiku_result_not_renamed_back
// fact: query=12
// fact: token=12
tokens f() {
  const auto asking = t | rename_axis<token, query>;
  return asking * sw.o;
}
#elif defined CASE_heads_view_of_wrong_width
// fact: 14|252
// fact: 9|heads=3|378
using layer = multi_head_attention<float, hidden<14>, heads<2>, head_dim<9>>;
void f(layer::weights& v) {
  const auto q = view_as<hidden<14>, heads<3>, head_dim<9>>(v.q.weight);
  q(0, 0, 0) = 1;
}
#elif defined CASE_heads_weights_without_batch
// fact: batch=2|batch
// fact: observe
auto f(tensor<float, heads<8>, query<12>, key<12>>& a) {
  return self_attention{sw}(t, causal & observe(a));
}
#elif defined CASE_decode_kv_heads_three
// fact: heads=8
// fact: kv_heads=3
using layer = multi_head_attention<float, hidden<64>, heads<8>, kv_heads<3>, rope<split_halves>>;
static layer::weights v;
static key_value_cache<layer, key<40>> past;
void f(row& o, const row& in) {
  const prepacked<layer> attend{v};
  (void)past.step(o, attend, in);
}
#elif defined CASE_decode_prompt_longer_than_cache
// fact: token=12|12
// fact: key=8|8
static key_value_cache<self_attention, key<8>> past;
void f(tensor<float, token<12>, hidden<64>>& o, const tensor<float, token<12>, hidden<64>>& in) {
  (void)past.step(o, self_attention{sw}, in);
}
#elif defined CASE_decode_out_of_another_length
// fact: token=1
// fact: token=12
static key_value_cache<self_attention, key<40>> past;
void f(row& o, const tensor<float, token<12>, hidden<64>>& in) {
  (void)past.step(o, self_attention{sw}, in);
}
#elif defined CASE_decode_old_order_of_arguments
// fact: out|result
// fact: layer|step
static key_value_cache<self_attention, key<40>> past;
void f(row& o, const row& in) {
  const prepacked<self_attention> attend{sw};
  (void)past.step(attend, o, in);
}
#elif defined CASE_decode_window_option_misplaced
// fact: longest_sequence
// fact: multi_head_attention
using layer = multi_head_attention<float, hidden<64>, heads<8>, longest_sequence<1000>>;
static layer::weights v;
#elif defined CASE_decode_all_by_step_of_the_layer
// fact: key_value_cache|cache|step
// fact: layer|multi_head|step
void f(row& o, const row& in, key_value_cache<self_attention, key<40>>& past) {
  (void)self_attention{sw}.step(o, past, in);
}
#elif defined CASE_cores_workspaces_first
// fact: executor
// fact: workspace
static self_attention::workspace<token<12>> work[2];
void f(tokens& o, two_workers& pool) {
  self_attention{sw}.into(o, t, causal, parallel(work, pool));
}
#elif defined CASE_cores_workspaces_of_other_length
// fact: token=12
// fact: token=8
static self_attention::workspace<token<8>> work[2];
void f(tokens& o, two_workers& pool) {
  self_attention{sw}.into(o, t, causal, parallel(pool, work));
}
#elif defined CASE_cores_no_parallel
// fact: workspace
// fact: executor|parallel
void f(tokens& o, two_workers& pool) { self_attention{sw}.into(o, t, causal, pool); }
#elif defined CASE_fashion_merge_of_wrong_pair
// fact: patch_row=7
// fact: row=4
auto f(const tensor<float, patch_row<7>, patch_column<7>, pixel_row<4>, pixel_column<4>>& p) {
  return p | merge<patch_row, pixel_row, patch>;
}
#elif defined CASE_fashion_embed_unmerged
// fact: pixel
// fact: patch_row|patch
auto f(const tensor<float, patch_row<7>, patch_column<7>, pixel_row<4>, pixel_column<4>>& p,
       const linear<float, pixel<16>, hidden<32>, bias<true>>& l) {
  return p | merge<patch_row, patch_column, patch> | l;
}
#elif defined CASE_fashion_eight_pixels
// fact: pixel=16
// fact: pixel=8
auto f(const tensor<float, patch<49>, pixel<16>>& p,
       const linear<float, pixel<8>, hidden<32>, bias<true>>& l) {
  return p | l;
}
#elif defined CASE_fashion_mean_of_tokens
// fact: token
// fact: patch=49
auto f(const tensor<float, patch<49>, hidden<32>>& p) { return p | mean<token>; }
#elif defined CASE_fashion_classes_of_the_pointer
// fact: classes=10
// fact: classes=9
void f(const tensor<float, classes<10>>& scores_of_classes, float* out) {
  copy(scores_of_classes, view_as<classes<9>>(out));
}
#elif defined CASE_fashion_cut_into_five
// fact: pixel_row=28|row=28
// fact: patch_row=5
auto f(const std::uint8_t* pixels) {
  return view_as<pixel_row<28>, pixel_column<28>>(pixels) |
         split<pixel_row, patch_row<5>, pixel_row>;
}
#elif defined CASE_fashion_maps_of_a_third_layer
// fact: 2
// fact: \b2\b
auto f(float* weights) {
  return view_as<layer_number<2>, heads<4>, query<49>, key<49>>(weights) |
         select_at<layer_number, 2>;
}
#endif
