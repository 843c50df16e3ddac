// SPDX-License-Identifier: BSL-1.0
// Functions and notations of other libraries.
#include <misuse/preamble.hpp>

#if defined CASE_reshape_function_numbers
// fact: reshape
// fact: axes|reshape
auto r = reshape(t, 24, 64);
#elif defined CASE_two_subscripts
// fact: x\(|\(\)
// fact: \[
float r = m[0][1];
#elif defined CASE_three_subscripts
// fact: x\(|\(\)
// fact: \[
float r = x[0][1][2];
#elif defined CASE_subscript_then_assigned
// fact: x\(|\(\)
// fact: \[
void f(queries& q) { q[0][1][2] = 3; }
#elif defined CASE_transpose_function
// fact: transposed|permute
// fact: transpose
auto r = transpose(m, 0, 1);
#elif defined CASE_permute_function_numbers
// fact: permute
// fact: permute
auto r = permute(t, 0, 2, 1);
#elif defined CASE_swapaxes
// fact: permute
// fact: swap
auto r = swapaxes(t, 1, 2);
#elif defined CASE_softmax_by_number
// fact: softmax
// fact: softmax
auto r = softmax(scores, -1);
#elif defined CASE_softmax_no_axis
// fact: softmax
// fact: softmax
auto r = softmax(scores);
#elif defined CASE_matmul_function
// fact: contract
// fact: matmul
auto r = matmul(m, tensor<float, hidden<100>, key<6>>{});
#elif defined CASE_dot_function
// fact: contract
// fact: dot
auto r = dot(m, m);
#elif defined CASE_einsum
// fact: contract
// fact: einsum
auto r = einsum("qh,kh->qk", m, m);
#elif defined CASE_at_operator_product
// fact: contract
// fact: weights|\*
auto r = m * tensor<float, hidden<100>, key<6>>{};
#elif defined CASE_bmm_function
// fact: contract
// fact: bmm
auto r = bmm(x, y);
#elif defined CASE_mean_function_number
// fact: mean
// fact: mean
auto r = mean(t, 1);
#elif defined CASE_mean_function_no_axis
// fact: mean
// fact: mean
auto r = mean(t);
#elif defined CASE_zeros_function
// fact: \{\}|tensor
// fact: zeros
auto r = zeros(2, 4, 100);
#elif defined CASE_zeros_static
// fact: \{\}|tensor
// fact: zero
auto r = queries::zeros();
#elif defined CASE_constant_static
// fact: fill|for
// fact: [Cc]onstant
auto r = queries::Constant(1.0f);
#elif defined CASE_randn
// fact: fill|for
// fact: [Rr]and
auto r = queries::Random();
#elif defined CASE_tensor_of_numbers
// fact: batch|axis|axes
// fact: 2
tensor<float, 2, 4, 100> r;
#elif defined CASE_tensor_with_sizes_in_the_constructor
// fact: batch|axis|axes
// fact: tensor
tensor<float> r(2, 4, 100);
#elif defined CASE_tensor_of_a_rank
// fact: batch|axis|axes
// fact: 3
tensor<float, 3> r;
#elif defined CASE_tensor_with_one_value
// fact: \{|fill|for
// fact: float|1
queries r(1.0f);
#elif defined CASE_attention_of_numbers
// fact: heads|hidden
// fact: multi_head_attention
multi_head_attention r(64, 8);
#elif defined CASE_attention_layer_from_numbers
// fact: weights
// fact: one object
attention r{64, 8};
#elif defined CASE_attention_called_statically
// fact: weights
// fact: one object
auto r = attention(w, x, y, y);
#elif defined CASE_attention_of_tensors
// fact: weights
// fact: attention
auto r = attention(x, y, y);
#elif defined CASE_attention_template_numbers
// fact: hidden|axis|axes
// fact: heads|64
multi_head_attention<float, 64, 8>::weights r;
#elif defined CASE_linear_of_numbers
// fact: linear|hidden
// fact: 64|numbers
linear r(64, 10);
#elif defined CASE_linear_template_numbers
// fact: hidden|axis|axes
// fact: 64|10
linear<float, 64, 10> r;
#elif defined CASE_layer_norm_of_a_number
// fact: layer_norm|hidden
// fact: 64|numbers
layer_norm r(64);
#elif defined CASE_forward_member
// fact: \(x|call
// fact: forward
auto r = attention{w}.forward(x, y, y);
#elif defined CASE_is_causal_flag
// fact: causal
// fact: true|bool
auto r = self_attention{sw}(t, true);
#elif defined CASE_dropout_rate_only
// fact: seed
// fact: dropout
auto r = attention{w}(x, y, y, dropout(0.1));
#elif defined CASE_tril_mask
// fact: causal
// fact: tril
auto r = tril(scores);
#elif defined CASE_argmax
// fact: argmax<
// fact: argmax
auto r = argmax(t, -1);
#elif defined CASE_concat
// fact: concat<
// fact: cat
auto r = cat({x, x}, 0);
#elif defined CASE_stack
// fact: stack<
// fact: stack
auto r = stack(x, x);
#elif defined CASE_slice_function_numbers
// fact: slice
// fact: slice
auto r = slice(m, 0, 2);
#elif defined CASE_chunk_function
// fact: slice|split
// fact: chunk
auto r = chunk(x, 5, -1);
#elif defined CASE_split_function_numbers
// fact: split
// fact: split
auto r = split(x, 5);
#elif defined CASE_rearrange
// fact: split|permute
// fact: rearrange
auto r = rearrange(x, "b q (h d) -> b h q d");
#elif defined CASE_multi_head_named_q_k_v
// fact: query|argument
// fact: attention
auto r = attention{w}({.query = x, .key = y, .value = y});
#elif defined CASE_layer_norm_function
// fact: layer_norm
// fact: layer_norm
auto r = layer_norm(x, 100);
#elif defined CASE_gelu_by_its_short_name
// fact: gelu_exact
// fact: gelu_tanh
auto r = x | gelu;
#elif defined CASE_index_with_a_tuple
// fact: \(
// fact: index|position|tuple|brace
float r = x[{0, 1, 2}];
#elif defined CASE_add_a_bias_without_broadcast
// fact: hidden=100
// fact: broadcast
queries r = x + tensor<float, hidden<100>>{};
#elif defined CASE_add_a_row_without_broadcast
// fact: query=4
// fact: broadcast
queries r = x + m;
#elif defined CASE_self_attention_three_times_the_same
// fact: token=12
// fact: one sequence|once
tokens f() { return self_attention{sw}(t, t, t); }
#endif
