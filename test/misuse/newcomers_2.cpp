// SPDX-License-Identifier: BSL-1.0
// As users of numpy and PyTorch (np_...) and of Eigen (eg_...) wrote them after they had read the
// pages of docs.
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
constexpr formula masked = [](auto s) {
  return softmax<key>(hide(position<key> > position<query>, s));
};
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
using layer =
    encoder_layer<float, hidden<64>, heads<8>, intermediate<128>, bias<true>, norm_first<true>>;
layer::weights lw;
#elif defined CASE_np_encoder_stack_number_first
// fact: layer_stack
// fact: 6|layer
using stack6 = layer_stack<6, encoder>;
stack6::weights lw;
#elif defined CASE_np_decoder_without_memory
// fact: decoder_layer
// fact: memory|argument
using decoder = decoder_layer<float, hidden<64>, heads<8>, intermediate<128>, bias<true>,
                              norm_first<true>, activation<relu>>;
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
bool f(const tensor<float, batch<2>, token<1>, hidden<64>>& r) {
  return past.step(o, self_attention{sw}, r);
}
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
constexpr formula model = [](auto a, const auto& wh) { return (a | mean<token>)*wh; };
constexpr gradient learn{model};
static head::weights wg, gg;
void f() { learn(t, with_gradient(wg, gg)); }
#elif defined CASE_np_gradient_of_input_double
// fact: gradient|with_gradient
// fact: same type
constexpr gradient learn{
    [](auto a, const auto& wh) { return sum<batch, classes>((a | mean<token>)*wh); }};
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
#elif defined CASE_eg_tensor_of_dynamic_size
// fact: elements
// fact: hidden
tensor<float, hidden<npos>> v{};
#elif defined CASE_eg_tensor_numbers
// fact: tensor
// fact: axis|axes|number|3
tensor<float, 3, 4> a{};
#elif defined CASE_eg_tensor_without_element
// fact: shape|tensor
// fact: token=3
tensor<token<3>, hidden<4>> a{};
#elif defined CASE_eg_tensor_same_axis_twice
// fact: shape|tensor
// fact: hidden
tensor<float, hidden<4>, hidden<4>> square{};
#elif defined CASE_eg_tensor_of_size_from_constructor
// fact: tensor
// fact: token=12|elements|numbers
tokens a(12, 64);
#elif defined CASE_eg_tensor_too_many_values
// fact: 4
// fact: 3
tensor<float, hidden<3>> a{1, 2, 3, 4};
#elif defined CASE_eg_comma_initializer
// fact: elementwise|tensor
// fact: hidden=3|int|<<
auto f() {
  tensor<float, hidden<3>> a{};
  a << 1, 2, 3;
  return a;
}
#elif defined CASE_eg_call_with_too_few_indices
// fact: 2
// fact: batch=2, token=12, hidden=64
auto e = t(0, 1);
#elif defined CASE_eg_brackets
// fact: batch=2, token=12, hidden=64
// fact: int|position|index|\[
auto e = t[0];
#elif defined CASE_eg_transpose_member
// fact: transpos
// fact: hidden=100|token|m
auto e = transposed(m) * m;
#elif defined CASE_eg_product_star
// fact: hidden=100
// fact: hidden=64
tensor<float, query<4>, hidden<64>> other{};
auto e = m * other;
#elif defined CASE_eg_contract_without_common_axis
// fact: contract
// fact: token|hidden
tensor<float, query<4>, token<64>> other{};
auto e = contract<token>(m, other);
#elif defined CASE_eg_contract_with_size
// fact: contract
// fact: hidden
auto e = contract<hidden<100>>(m, narrow);
#elif defined CASE_eg_contract_of_one
// fact: contract
// fact: two tensors
auto e = contract<hidden>(m);
#elif defined CASE_eg_split_with_sizes_of_both
// fact: split
// fact: head_dim|hidden
auto e = t | split<hidden, heads<8>, head_dim<9>>;
#elif defined CASE_eg_split_with_number
// fact: split
// fact: heads|hidden
auto e = t | split<hidden, 8>;
#elif defined CASE_eg_merge_into_sized
// fact: merge
// fact: token|hidden
auto e = t | merge<token, hidden, pixel<700>>;
#elif defined CASE_eg_permute_sizes
// fact: permute
// fact: names of axes
auto e = t | permute<hidden<64>, token<12>, batch<2>>;
#elif defined CASE_eg_permute_too_few
// fact: permute
// fact: batch=2, token=12, hidden=64
auto e = t | permute<hidden, token>;
#elif defined CASE_eg_map_of_pointer_with_sizes
// fact: view_as
// fact: 700|768
std::array<float, 700> memory{};
auto e = view_as<token<12>, hidden<64>>(memory);
#elif defined CASE_eg_view_of_element_type
// fact: element type
// fact: batch=2, token=12, hidden=64
view<tokens> v{t};
#elif defined CASE_eg_view_assign_of_const
// fact: const
// fact: batch=2, token=12, hidden=64|float
view<float, batch<2>, token<12>, hidden<64>> v = t;
#elif defined CASE_eg_block_at_run_time
// fact: slice
// fact: from|int
auto f(int i) { return t | slice<token, from<i>, extent<2>>; }
#elif defined CASE_eg_select_at_run_time_size
// fact: select_at
// fact: token=12
auto e = t | select_at<token, 12>;
#elif defined CASE_eg_rowwise_sum
// fact: sum
// fact: query=4, hidden=100
auto e = sum(m);
#elif defined CASE_eg_colwise_norm
// fact: layer_norm
// fact: hidden
auto e = layer_norm<hidden>(m);
#elif defined CASE_eg_reduce_two_same
// fact: max
// fact: hidden
auto e = max<hidden, hidden>(m);
#elif defined CASE_eg_softmax_type
// fact: softmax
// fact: key
auto e = softmax<float>(scores);
#elif defined CASE_eg_unary_expr
// fact: formula|lambda|function
// fact: query=4, hidden=100|tensor
auto e = m | [](float v) { return v * 2; };
#elif defined CASE_eg_function_of_double
// fact: query=4, hidden=100|double
// fact: elementwise|tensor|function
double f(double v) { return v * v; }
auto e = m | f;
#elif defined CASE_eg_scalar_tensor_to_float
// fact: hidden=100
// fact: float
float e = sum<query>(m);
#elif defined CASE_eg_assign_other_shape
// fact: query=4, hidden=100|hidden=100
// fact: hidden=80|batch=2
tensor<float, query<4>, hidden<100>> e = narrow;
#elif defined CASE_eg_int_tensor_times_half
// fact: int
// fact: double|float
tensor<int, hidden<3>> a{1, 2, 3};
auto e = a * 0.5;
#elif defined CASE_eg_float_plus_double_tensor
// fact: float
// fact: double
tensor<double, query<4>, hidden<100>> d{};
auto e = m + d;
#elif defined CASE_eg_pow_two_axes
// fact: pow
// fact: as arguments
auto e = pow<2>(m);
#elif defined CASE_eg_formula_capture_by_reference
// fact: formula
// fact: captures
auto f(float alpha) {
  const formula g = [&](auto a) { return a * alpha; };
  return g(m);
}
#elif defined CASE_eg_formula_with_types
// fact: formula
// fact: auto|argument|tensor
constexpr formula g = [](const tensor<float, query<4>, hidden<100>>& a) { return a * 2; };
auto e = g(m);
#elif defined CASE_eg_formula_index
// fact: formula|value
// fact: \(|element|position|index|query=4
constexpr formula g = [](auto a) { return a(0, 0) * 2; };
auto e = g(m);
#elif defined CASE_eg_formula_into_wrong_result
// fact: hidden=100
// fact: hidden=80|batch=2
constexpr formula g = [](auto a) { return a * 2; };
tensor<float, query<4>, hidden<80>> o;
void f() { g.into(o, m); }
#elif defined CASE_eg_formula_one_argument_too_few
// fact: formula
// fact: 2|arguments
constexpr formula g = [](auto a, auto b) { return a + b; };
auto e = g(m);
#elif defined CASE_eg_formula_returns_nothing
// fact: formula
// fact: return|void
constexpr formula g = [](auto a) { auto b = a * 2; };
auto e = g(m);
#elif defined CASE_eg_formula_plus_equal
// fact: formula
// fact: immutable
constexpr formula g = [](auto a) {
  a += 1;
  return a;
};
auto e = g(m);
#elif defined CASE_eg_formula_std_exp
// fact: formula|exp
// fact: std::exp|exp
constexpr formula g = [](auto a) { return std::exp(a); };
auto e = g(m);
#elif defined CASE_eg_formula_add_other_axes
// fact: hidden=100
// fact: hidden=64
constexpr formula g = [](auto a, auto b) { return a + b; };
auto e = g(m, t);
#elif defined CASE_eg_linear_call_without_weights
// fact: linear
// fact: weights
using map = linear<float, hidden<100>, classes<10>, bias<false>>;
auto e = map{}(m);
#elif defined CASE_eg_linear_weights_of_other
// fact: linear
// fact: hidden=64|weights
using map = linear<float, hidden<100>, classes<10>, bias<true>>;
auto e = map{hw}(m);
#elif defined CASE_eg_linear_output_twice
// fact: linear
// fact: bias|option
using map = linear<float, hidden<100>, classes<10>, true>;
map::weights mw;
#elif defined CASE_eg_mha_bias_bool
// fact: multi_head_attention
// fact: bias|true|option
using mha = multi_head_attention<float, hidden<64>, heads<8>, true>;
mha::weights mw;
#elif defined CASE_eg_layer_temporary_weights
// fact: weights
// fact: temporary|borrow
auto f() { return attention{attention::weights{}}(x, y, y); }
#elif defined CASE_eg_stack_of_two_kinds
// fact: layer_stack
// fact: linear|number|self_attention|layers
using both = layer_stack<self_attention, head>;
both::weights bw;
#elif defined CASE_eg_stack_of_negative
// fact: layer_stack
// fact: at least one
using none = layer_stack<encoder, 0>;
none::weights bw;
#elif defined CASE_eg_mask_lambda
// fact: multi_head_attention
// fact: mask|lambda
auto e = self_attention{sw}(t, [](int q, int k) { return q >= k; });
#elif defined CASE_eg_mask_causal_type
// fact: mask|causal
// fact: multi_head_attention|bool
auto e = self_attention{sw}(t, true);
#elif defined CASE_eg_mask_and_and
// fact: mask
// fact: combine
auto e = self_attention{sw}(t, causal&& lens);
#elif defined CASE_eg_mask_ternary
// fact: causal
// fact: all_keys
auto f(bool c) { return self_attention{sw}(t, c ? causal : all_keys); }
#elif defined CASE_eg_window_of_run_time
// fact: sliding_window
// fact: number|int|<
auto e = self_attention{sw}(t, sliding_window(4));
#elif defined CASE_eg_valid_rows_twice
// fact: linear
// fact: one tensor
auto e = head{hw}(t, valid_rows(7));
#elif defined CASE_eg_cache_of_number
// fact: key_value_cache
// fact: key
static key_value_cache<self_attention, 128> past;
#elif defined CASE_eg_cache_of_token_axis
// fact: key_value_cache
// fact: key
static key_value_cache<self_attention, token<128>> past;
#elif defined CASE_eg_cache_of_head
// fact: key_value_cache
// fact: the first argument
static key_value_cache<head, key<128>> past;
#elif defined CASE_eg_cache_step_returns
// fact: key_value_cache
// fact: out|argument|tensor
static key_value_cache<self_attention, key<128>> past;
auto f(const row& r) { return past.step(self_attention{sw}, r); }
#elif defined CASE_eg_cache_step_of_wrong_width
// fact: hidden=64
// fact: hidden=32
static key_value_cache<self_attention, key<128>> past;
row o;
auto f(const tensor<float, token<1>, hidden<32>>& r) { return past.step(o, self_attention{sw}, r); }
#elif defined CASE_eg_cache_of_formula_without_arguments
// fact: key_value_cache
// fact: called_with
constexpr formula g = [](auto a) { return a | cumulative_sum<token>; };
static key_value_cache<decltype(g), key<128>> past;
#elif defined CASE_eg_quantized_weights
// fact: quantized
// fact: ranges
static quantized<head> q8{hw};
#elif defined CASE_eg_quantized_of_formula
// fact: quantized|formula
// fact: cannot|ranges|captures
constexpr formula g = [](auto a) { return a * 2; };
static quantized<decltype(g)> q8;
#elif defined CASE_eg_prepacked_weights_type
// fact: prepacked
// fact: weights|layer
static prepacked<head::weights> fast{hw};
#elif defined CASE_eg_prepacked_of_tensor
// fact: prepacked
// fact: tensor|layer
static prepacked<tokens> fast;
#elif defined CASE_eg_gradient_of_lambda_tensor
// fact: gradient|formula
// fact: captures|float
float scale0 = 2;
auto f() {
  float s = scale0;
  const gradient learn{[s](auto a) { return sum<query, hidden>(a * s); }};
  return learn(m);
}
#elif defined CASE_eg_with_gradient_of_const
// fact: with_gradient
// fact: const
constexpr gradient learn{
    [](auto a, const auto& wh) { return sum<batch, classes>((a | mean<token>)*wh); }};
static const head::weights gg{};
static head::weights wg;
void f() { learn(t, with_gradient(wg, gg)); }
#elif defined CASE_eg_update_order
// fact: update
// fact: state|weights|type
static adam::state<head::weights> state;
static head::weights wg, gg;
void f() { update(state, wg, gg, adam{}); }
#elif defined CASE_eg_sgd_number
// fact: update
// fact: optimizer
static head::weights wg, gg;
void f() { update(wg, gg, 0.1); }
#elif defined CASE_eg_initialize_without_seed
// fact: initialize
// fact: seed
static head::weights wg;
void f() { initialize(wg); }
#elif defined CASE_eg_batch_gradient_chains
// fact: batch_gradient
// fact: chains|3
static batch_gradient<head::weights, chains<3>> sum_of;
#elif defined CASE_eg_for_each_parameter_order
// fact: for_each_parameter
// fact: weights|function
void f() {
  for_each_parameter([](auto& path, auto& p) {}, hw);
}
#elif defined CASE_eg_file_read_into_wrong
// fact: read
// fact: std::vector|tensor|vector
std::vector<float> into;
auto f() { return opened.read("weight", into); }
#elif defined CASE_eg_write_npy_path
// fact: write_npy
// fact: sink|char|path
auto f() { return write_npy("x.npy", m); }
#elif defined CASE_eg_describe_without_arguments
// fact: describe
// fact: token|axes
auto text = describe<self_attention>();
#elif defined CASE_eg_describe_stream
// fact: describe
// fact: axes
auto text = describe<self_attention, 12>();
#elif defined CASE_eg_footprint_of_formula_axes
// fact: footprint
// fact: token=12
constexpr formula g = [](auto a) { return a * 2; };
constexpr auto bytes = footprint<decltype(g), token<12>>;
#elif defined CASE_eg_footprint_of_other_width
// fact: footprint|multi_head_attention
// fact: hidden=100
constexpr auto bytes = footprint<self_attention, queries>;
#elif defined CASE_eg_workspace_of_wrong_length
// fact: token=6|workspace
// fact: token=12|bytes
static self_attention::workspace<token<6>> work;
auto f() { return self_attention{sw}(t, causal, work); }
#elif defined CASE_eg_executor_function
// fact: executor|workers
// fact: parallel
static self_attention::workspace<token<12>> works[2];
tokens o;
void f() {
  self_attention{sw}.into(o, t, causal,
                          parallel(
                              [](std::size_t n, auto piece) {
                                for (std::size_t i = 0; i < n; ++i) piece(i, 0);
                              },
                              works));
}
#elif defined CASE_eg_workspace_for_a_mask_of_other_keys
// fact: key=7
// fact: key=6
static workspace_for<attention, queries, context, context,
                     decltype(keep_mask(tensor<bool, key<7>>{}))>
    work;
#elif defined CASE_eg_workspace_without_a_mask
// fact: multi_head_attention
// fact: mask
static self_attention::workspace<token<12>> works[2];
tokens o;
void f() {
  two_workers pool;
  self_attention{sw}.into(o, t, parallel(pool, works));
}
#elif defined CASE_eg_clamp_of_numbers
// fact: clamp
// fact: as arguments
auto e = clamp<0, 6>(m);
#elif defined CASE_eg_pipe_into_std_sqrt
// fact: query=4, hidden=100
// fact: number
auto e = m | static_cast<float (*)(float)>(std::sqrt);
#elif defined CASE_eg_executor_workspaces_missing
// fact: parallel
// fact: workspace
tokens o;
void f() { self_attention{sw}.into(o, t, causal, parallel(serial)); }
#elif defined CASE_eg_workspace_for_axes
// fact: workspace_for
// fact: axes
static workspace_for<self_attention, token<12>> work;
auto f(const tensor<float, token<12>, hidden<64>>& a) {
  return self_attention{sw}(a, causal, work);
}
#elif defined CASE_eg_formula_helper_not_constexpr
// fact: formula
// fact: constexpr
template <class X>
auto centered(X a) {
  return a - mean<hidden>(a);
}
constexpr formula g = [](auto a) { return centered(a); };
auto r = g(m);
#elif defined CASE_eg_condition_and_true
// fact: bool
// fact: leave out true|tensor of bool
const tensor<bool, query<4>> on{};
constexpr formula g = [](auto a, auto chosen) { return where(chosen && true, a, 0); };
auto r = g(m, on);
#elif defined CASE_eg_condition_or_flag
// fact: elementwise
// fact: bool
const tensor<bool, query<4>> on{};
constexpr formula g = [](auto a, auto chosen) { return where(false || chosen, a, a * 2); };
auto r = g(m, on);
#elif defined CASE_eg_footprint_of_a_call_in_a_sum
// fact: footprint
// fact: a call
auto bytes = footprint<self_attention>(t) + footprint<self_attention, tokens>;
#elif defined CASE_eg_ternary_on_a_value
// fact: formula
// fact: where
constexpr formula g = [](auto a) { return a > 0 ? a : a * 2; };
auto r = g(m);
#elif defined CASE_eg_workspace_for_a_cache_and_a_layer
// fact: workspace_for
// fact: tensors of its call
using past = key_value_cache<self_attention, key<16>>;
static workspace_for<past, self_attention, row> work;
#endif
