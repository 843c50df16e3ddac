// SPDX-License-Identifier: BSL-1.0
#include <misuse/all_headers.hpp>

#include <umbel/decode/cache_of_formula.hpp>
#include <umbel/inspect/fits.hpp>

#if defined CASE_np_transpose_of_three
// fact: transpos
// fact: batch=2, token=12, hidden=64
auto turned = transposed(t);
auto use = turned + 1;
#elif defined CASE_np_reshape_minus_one
// fact: reshape
// fact: token=12
auto flat = t | reshape<batch<2>, hidden<-1>>;
#elif defined CASE_np_reshape_as_arguments
// fact: reshape
// fact: batch=2, token=12, hidden=64
auto flat = reshape(t, 24, 64);
#elif defined CASE_np_sum_axis_number
// fact: sum
// fact: names of axes|numbers
auto s = sum(t, 1);
#elif defined CASE_np_mean_by_keepdims
// fact: mean
// fact: keep|true|axis|axes
auto centered = t - mean<hidden, true>(t);
#elif defined CASE_np_broadcast_bias
// fact: batch=2, token=12, hidden=64
// fact: hidden=64.*axes|hidden=64
tensor<float, hidden<64>> b{};
auto y1 = t + b;
#elif defined CASE_np_matmul_at
// fact: contract|hidden=64
// fact: weights|write
tensor<float, hidden<64>, classes<10>> weight{};
auto y2 = matmul(t, weight);
#elif defined CASE_np_star_of_matrices
// fact: hidden=64
// fact: classes=10
tensor<float, hidden<64>, classes<10>> weight{};
auto y3 = t * weight;
#elif defined CASE_np_softmax_dim
// fact: softmax
// fact: batch=2, heads=5, query=4, key=6
auto p = softmax(scores, -1);
#elif defined CASE_np_softmax_of_missing_axis
// fact: token
// fact: batch=2, heads=5, query=4, key=6
auto p = softmax<token>(scores);
auto q0 = p(0, 0);
#elif defined CASE_np_argmax_then_index
// fact: argmax
// fact: batch=2, classes=10
int best = argmax(logits);
#elif defined CASE_np_concat_of_list
// fact: concat
// fact: list|tensor|std::vector|vector
std::vector<tokens> all{t, t};
auto joined = concat<token>(all);
#elif defined CASE_np_stack_different_lengths
// fact: batch=2
// fact: batch=3
auto both = stack<layer_number>(x, three);
#elif defined CASE_np_where_with_values_of_other_axes
// fact: where
// fact: frames=24, hidden=32
auto kept = where(t > 0, t, sound);
#elif defined CASE_np_boolean_index
// fact: bool|int|position|index
// fact: batch=2, token=12, hidden=64
auto positive = t[t > 0];
#elif defined CASE_np_slice_bounds
// fact: slice
// fact: from<2>
auto part = t | slice<token, 2, 5>;
#elif defined CASE_np_slice_too_far
// fact: 13|10
// fact: token=12
auto part = t | slice<token, from<10>, extent<3>>;
#elif defined CASE_np_roll_two_axes
// fact: roll
// fact: token
auto moved = t | roll<token, hidden>;
#elif defined CASE_np_pad_pair
// fact: padded
// fact: before
auto wide = t | padded<token, 1, 1>;
#elif defined CASE_np_unfold_too_wide
// fact: kernel_size=13
// fact: token=12
auto w13 = t | windows<token, kernel_size<13>>;
#elif defined CASE_np_patches_that_leave_a_remainder
// fact: pixel_row=9
// fact: patch_row=4
tensor<float, pixel_row<9>, pixel_column<8>> image{};
auto parts = image | patches<pixel_row, pixel_column, patch_row<4>, patch_column<4>>;
auto tokens_of = parts | merge<pixel_row, pixel_column, token>;
#elif defined CASE_np_cumsum_axis
// fact: cumulative_sum
// fact: batch=2, token=12, hidden=64
auto s = cumulative_sum(t, 1);
#elif defined CASE_np_topk
// fact: kth_largest
// fact: batch=2, heads=5, query=4, key=6
auto best = kth_largest(scores, 3);
#elif defined CASE_np_kth_of_too_many
// fact: key=6
// fact: 8
constexpr formula sparse = [](auto s) { return hide(s, s < kth_largest<8, key>(s)); };
auto kept = sparse(scores);
#elif defined CASE_np_take_rows
// fact: lookup
// fact: float
tensor<float, vocabulary<50>, hidden<32>> table{};
tensor<float, token<3>> ids{1, 2, 3};
auto rows = lookup(table, ids);
#elif defined CASE_np_gather_dim_first
// fact: gather
// fact: token|axis
tensor<int, batch<2>> at0{};
auto rows = gather(t, 1, at0);
#elif defined CASE_np_formula_by_lambda_default_capture
// fact: formula
// fact: captures
float temperature = 2;
auto f() {
  float scale0 = temperature;
  const formula scaled = [=](auto s) { return softmax<key>(s * scale0); };
  return scaled(scores);
}
#elif defined CASE_np_formula_if_on_value
// fact: formula|where
// fact: bool|if|condition|value
constexpr formula relu_by_hand = [](auto a) {
  if (a > 0) return a;
  return a * 0;
};
auto r = relu_by_hand(t);
#elif defined CASE_np_formula_hide_with_number_first
// fact: hide
// fact: condition|bool
constexpr formula masked = [](auto s) { return softmax<key>(hide(position<key> > position<query>, s)); };
auto p = masked(scores);
#elif defined CASE_np_formula_masked_fill
// fact: where
// fact: condition|bool|number|argument
constexpr formula masked = [](auto s, auto m0) { return softmax<key>(where(s, m0, -1e9)); };
tensor<bool, query<4>, key<6>> keep{};
auto p = masked(scores, keep);
#elif defined CASE_np_formula_position_of_missing_axis
// fact: token
// fact: position
constexpr formula decayed = [](auto s) { return s - 0.1f * position<token>; };
auto p = decayed(scores);
#elif defined CASE_np_formula_max_of_std
// fact: formula|maximum
// fact: std::max|maximum|max
constexpr formula floor0 = [](auto s) { return std::max(s, 0.0f); };
auto p = floor0(scores);
#elif defined CASE_np_linear_numbers
// fact: linear
// fact: in_features|axis|axes|bias
using dense = linear<float, 64, 10>;
dense::weights wd;
#elif defined CASE_np_linear_of_wrong_width
// fact: hidden=64
// fact: hidden=100
auto out = head{hw}(x);
#elif defined CASE_np_linear_three
// fact: linear
// fact: bias|option|3
using dense = linear<float, 3>;
dense::weights wd;
#elif defined CASE_np_mha_embed_dim_first
// fact: multi_head_attention
// fact: float|heads|axis
using mha = multi_head_attention<hidden<64>, heads<8>>;
mha::weights mw;
#elif defined CASE_np_mha_numbers
// fact: multi_head_attention
// fact: hidden
using mha = multi_head_attention<float, 64, 8>;
mha::weights mw;
#elif defined CASE_np_mha_need_weights
// fact: multi_head_attention
// fact: argument
auto r = attention{w}(x, y, y, lens, true);
#elif defined CASE_np_mha_query_key_only
// fact: multi_head_attention
// fact: batch=2, key=6, hidden=100|2 arguments|two|values
auto r = attention{w}(x, y);
#elif defined CASE_np_mask_float_added
// fact: float|score_bias
// fact: score_bias|valid_lens
tensor<float, query<4>, key<6>> additive{};
auto r = attention{w}(x, y, y, additive);
#elif defined CASE_np_mask_of_wrong_keys
// fact: key=7
// fact: key=6
tensor<bool, batch<2>, key<7>> padding{};
auto r = attention{w}(x, y, y, drop_mask(padding));
#elif defined CASE_np_causal_as_call
// fact: causal
// fact: token=12|12|size|mask
auto r = self_attention{sw}(t, causal(12));
#elif defined CASE_np_lengths_of_batch_three
// fact: batch=3
// fact: batch=2
tensor<int, batch<3>> lens3{1, 2, 3};
auto r = self_attention{sw}(t, lens3);
#elif defined CASE_np_lengths_float
// fact: float|integers
// fact: valid_lens
tensor<float, batch<2>> lensf{3, 2};
auto r = attention{w}(x, y, y, lensf);
#elif defined CASE_np_encoder_without_activation
// fact: encoder_layer
// fact: activation
using layer = encoder_layer<float, hidden<64>, heads<8>, intermediate<128>, bias<true>, norm_first<true>>;
layer::weights lw;
#elif defined CASE_np_encoder_stack_number_first
// fact: layer_stack
// fact: 6|layer
using stack6 = layer_stack<6, encoder>;
stack6::weights lw;
#elif defined CASE_np_decoder_without_memory
// fact: decoder_layer
// fact: memory|argument
using decoder = decoder_layer<float, hidden<64>, heads<8>, intermediate<128>, bias<true>, norm_first<true>, activation<relu>>;
static decoder::weights dw;
auto r = decoder{dw}(t, self_mask(causal));
#elif defined CASE_np_cache_append
// fact: key_value_cache
// fact: step|append
static key_value_cache<self_attention, key<128>> past;
void f() { past.append(t, t); }
#elif defined CASE_np_cache_step_without_layer
// fact: key_value_cache
// fact: layer|self_attention|argument
static key_value_cache<self_attention, key<128>> past;
row o;
bool f(const row& r) { return past.step(o, r); }
#elif defined CASE_np_cache_of_batch
// fact: batch=2
// fact: key_value_cache|batch
static key_value_cache<self_attention, key<128>> past;
tensor<float, batch<2>, token<1>, hidden<64>> o;
bool f(const tensor<float, batch<2>, token<1>, hidden<64>>& r) { return past.step(o, self_attention{sw}, r); }
#elif defined CASE_np_quantized_float_input
// fact: quantized
// fact: float
auto f(const quantized<head>& q8) { return q8(t); }
#elif defined CASE_np_quantize_per_channel
// fact: quantize
// fact: range
tensor<float, hidden<64>> ranges{};
auto q8 = quantize<std::int8_t>(t, ranges);
#elif defined CASE_np_backward
// fact: gradient
// fact: batch=2, classes=10
constexpr formula model = [](auto a, const auto& wh) { return (a | mean<token>) * wh; };
constexpr gradient learn{model};
static head::weights wg, gg;
void f() { learn(t, with_gradient(wg, gg)); }
#elif defined CASE_np_gradient_of_input_double
// fact: gradient|with_gradient
// fact: same type
constexpr gradient learn{[](auto a, const auto& wh) { return sum<batch, classes>((a | mean<token>) * wh); }};
static linear<double, hidden<64>, classes<10>, bias<true>>::weights gg;
static head::weights wg;
void f() { learn(t, with_gradient(wg, gg)); }
#elif defined CASE_np_adam_lr
// fact: update
// fact: state|weights
static head::weights wg, gg;
void f() { update(wg, gg, adam{.rate = 1e-3}); }
#elif defined CASE_np_optimizer_state_of_layer
// fact: state
// fact: linear|weights
static adamw::state<head> state;
static head::weights wg, gg;
void f() { update(wg, gg, state, adamw{}); }
#elif defined CASE_np_cross_entropy_one_hot
// fact: cross_entropy
// fact: float|integers
tensor<float, batch<2>, classes<10>> target{};
auto l = cross_entropy<classes>(logits, target);
#elif defined CASE_np_load_state_dict
// fact: load
// fact: path|file|char|tensor_file
static head::weights wg;
auto ok = load(wg, "model.npz");
#elif defined CASE_np_load_without_names
// fact: load
// fact: names
static head::weights wg;
auto ok = load(wg, opened);
#elif defined CASE_np_save_to_path
// fact: save
// fact: sink|char|path
auto f() { return save("model.safetensors", hw); }
#elif defined CASE_np_describe_value
// fact: describe
// fact: layer|linear|type
auto text = describe(head{hw});
#elif defined CASE_np_footprint_call
// fact: footprint
// fact: token=12|axes|template
auto bytes = footprint<self_attention>(t);
#elif defined CASE_np_fits_bytes
// fact: fits
// fact: 16384|board
static_assert(fits<16384, head, token<12>>);
#elif defined CASE_np_workspace_of_value
// fact: workspace_for
// fact: token|axes|float|tensor
static workspace_for<self_attention, float> work;
auto f() { return self_attention{sw}(t, causal, work); }
#elif defined CASE_np_parallel_number
// fact: parallel
// fact: executor|int
static self_attention::workspace<token<12>> works[2];
tokens o;
void f() { self_attention{sw}.into(o, t, causal, parallel(2, works)); }
#endif
