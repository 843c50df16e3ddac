// SPDX-License-Identifier: BSL-1.0
// Arguments of another kind than wanted.
#include <misuse/preamble.hpp>

#if defined CASE_weights_times_input
// fact: \*|times
// fact: weights
auto r = w.q * x;
#elif defined CASE_weights_printed
// fact: weights
// fact: multi_head_attention|attention
void f() { std::cout << w; }
#elif defined CASE_one_map_printed
// fact: weights
// fact: hidden
void f() { std::cout << w.q; }
#elif defined CASE_layer_printed
// fact: multi_head_attention
// fact: print|weights|layer
void f() { std::cout << attention{w}; }
#elif defined CASE_softmax_piped_the_wrong_way
// fact: x \||\| softmax|right|left
// fact: softmax
auto r = softmax<key> | scores;
#elif defined CASE_split_piped_the_wrong_way
// fact: left|right
// fact: split
auto r = split<hidden, heads<5>, head_dim> | x;
#elif defined CASE_layer_on_the_left_of_a_pipe
// fact: left|right
// fact: linear
auto f(const linear<float, hidden<64>, classes<10>>& l) { return l | t; }
#elif defined CASE_tensor_on_the_right_of_a_pipe
// fact: \|
// fact: pipe|tensor|step|right
auto r = x | y;
#elif defined CASE_tensor_piped_into_weights
// fact: \*|times
// fact: weights
auto r = x | w.q;
#elif defined CASE_lengths_times_causal
// fact: mask
// fact: by & or|by and or
auto f() { return attention{w}(x, y, y, lens * causal_top_left); }
#elif defined CASE_lengths_or_causal
// fact: mask
// fact: by & or|by and or
auto f() { return attention{w}(x, y, y, lens | causal_top_left); }
#elif defined CASE_lengths_and_and_causal
// fact: mask
// fact: by & or|by and or
auto f() { return attention{w}(x, y, y, lens && causal_top_left); }
#elif defined CASE_lengths_in_braces
// fact: tensor<int|lengths?|tensor
// fact: batch=2|batch
auto f() { return attention{w}(x, y, y, {3, 2}); }
#elif defined CASE_lengths_as_a_vector
// fact: vector
// fact: tensor|lengths?
auto f(const std::vector<int>& l) { return attention{w}(x, y, y, l); }
#elif defined CASE_lengths_as_an_array
// fact: array|view_as
// fact: tensor|lengths?
auto f(const std::array<int, 2>& l) { return attention{w}(x, y, y, l); }
#elif defined CASE_one_length_as_a_fraction
// fact: float|number
// fact: tensor|lengths?
auto f() { return attention{w}(x, y, y, 3.0F); }
#elif defined CASE_null_mask
// fact: nullptr|all_keys
// fact: mask
auto f() { return attention{w}(x, y, y, nullptr); }
#elif defined CASE_mask_as_a_string
// fact: causal
// fact: mask|char
auto f() { return self_attention{sw}(t, "causal"); }
#elif defined CASE_mask_function_called
// fact: causal
// fact: \(\)|call
auto f() { return self_attention{sw}(t, causal()); }
#elif defined CASE_mask_before_the_input
// fact: causal|mask
// fact: argument 1|queries|input
auto f() { return self_attention{sw}(causal, t); }
#elif defined CASE_no_input_at_all
// fact: argument|queries
// fact: multi_head_attention
auto f() { return self_attention{sw}(); }
#elif defined CASE_input_of_a_vector
// fact: vector|tensor
// fact: queries|argument 1
auto f(const std::vector<float>& v) { return self_attention{sw}(v); }
#elif defined CASE_input_of_a_pointer
// fact: pointer|view_as|\*
// fact: queries|argument 1
auto f(const float* p) { return self_attention{sw}(p); }
#elif defined CASE_input_of_a_pointer_to_a_tensor
// fact: pointer|\*
// fact: queries|argument 1
auto f(const tokens* p) { return self_attention{sw}(p); }
#elif defined CASE_too_many_arguments
// fact: argument|5|6
// fact: multi_head_attention
auto f() { return attention{w}(x, y, y, lens, causal, all_keys); }
#elif defined CASE_weights_of_a_pointer
// fact: pointer|\*|view_as
// fact: weights
auto f(const float* p) { return attention{p}(x, y, y); }
#elif defined CASE_weights_of_an_address
// fact: weights|\*
// fact: pointer|&
auto f() { return attention{&w}(x, y, y); }
#elif defined CASE_weights_of_a_vector
// fact: weights
// fact: vector|array|multi_head
auto f(const std::vector<float>& p) { return attention{p}(x, y, y); }
#elif defined CASE_layer_without_weights
// fact: weights
// fact: multi_head_attention
attention r;
#elif defined CASE_weights_view_of_pointers
// fact: weights|view_as
// fact: order|memory
attention::weights_view f(const float* p) { return {{p, p}, {p, p}, {p, p}, {p, p}}; }
#elif defined CASE_weights_view_with_biases_of_a_layer_without
// fact: bias
// fact: weights|false
using plain = multi_head_attention<float, hidden<32>, heads<4>, bias<false>>;
float memory[1024], b[32];
const auto q = view_as<in_features, out_features>(memory);
plain::weights_view r{{q, b}, {q, b}, {q, b}, {q, b}};
#elif defined CASE_weights_view_three_maps
// fact: 4|o\b|output
// fact: 3|weights
using plain = multi_head_attention<float, hidden<32>, heads<4>, bias<false>>;
float memory[1024];
const auto q = view_as<in_features, out_features>(memory);
auto f() { return plain{plain::weights_view{{q}, {q}, {q}}}; }
#elif defined CASE_map_assigned_from_a_transposed_tensor
// fact: hidden
// fact: weights|out
void f(const tensor<float, query<100>, hidden<100>>& table) {
  w.q = table | transposed<query, hidden>;
}
#elif defined CASE_map_copied_into
// fact: weights|weight
// fact: copy
void f(const tensor<float, hidden<100>, query<100>>& table) { copy(table, w.q); }
#elif defined CASE_tensor_of_a_pointer
// fact: view_as
// fact: pointer
queries r(static_cast<float*>(nullptr));
#elif defined CASE_tensor_of_a_vector
// fact: view_as|std::copy|copy
// fact: vector
queries f(const std::vector<float>& v) { return queries(v); }
#elif defined CASE_tensor_assigned_a_vector
// fact: view_as|std::copy|copy
// fact: vector
void f(queries& q, const std::vector<float>& v) { q = v; }
#elif defined CASE_tensor_assigned_a_number
// fact: fill|for
// fact: number|float|int
void f(queries& q) { q = 0.0f; }
#elif defined CASE_norm_of_two_tensors
// fact: weights
// fact: layer_norm
layer_norm<float, hidden<64>> f(const tensor<float, hidden<64>>& g,
                                const tensor<float, hidden<64>>& b) {
  layer_norm<float, hidden<64>> n(g, b);
  return n;
}
#elif defined CASE_linear_of_a_transposed_tensor
// fact: classes=10, hidden=64
// fact: order
linear<float, hidden<64>, classes<10>> f(const tensor<float, classes<10>, hidden<64>>& g) {
  return linear<float, hidden<64>, classes<10>>(g);
}
#elif defined CASE_layer_called_before_its_weights
// fact: weights
// fact: query=4
auto r = attention(x);
#elif defined CASE_into_without_out
// fact: out
// fact: batch=2
void f() { attention{w}.into(x); }
#elif defined CASE_times_all_the_weights
// fact: one
// fact: multi_head_attention
auto r = x * w;
#elif defined CASE_view_as_of_a_tensor
// fact: reshape
// fact: query=4
auto r = view_as<batch<8>, hidden<100>>(x);
#elif defined CASE_view_as_of_axes_with_sizes
// fact: one tensor type
// fact: pointer
float memory[800];
std::size_t sizes[3]{2, 4, 100};
auto r = view_as<batch<2>, query<4>, hidden<100>>(memory, sizes);
#endif
