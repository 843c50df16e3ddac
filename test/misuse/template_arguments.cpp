// SPDX-License-Identifier: BSL-1.0
// Template arguments of another kind than wanted, and what compiles though it should not.
#include <misuse/preamble.hpp>

#if defined CASE_permute_numbers
// fact: axes|axis|names?|permute<
// fact: 0|numbers?
auto r = x | permute<0, 2, 1>;
#elif defined CASE_split_with_sizes_on_the_axis
// fact: hidden=100|hidden
// fact: split<
auto r = x | split<hidden<100>, heads<5>, head_dim<20>>;
#elif defined CASE_split_with_numbers
// fact: axes|heads<
// fact: split
auto r = x | split<hidden, 5, 20>;
#elif defined CASE_view_of_numbers
// fact: axes|batch<|axis
// fact: view_as<
float memory[800];
auto r = view_as<2, 4, 100>(memory);
#elif defined CASE_reference_element
// fact: float
// fact: &|reference|element
tensor<float&, hidden<8>> r;
#elif defined CASE_constant_element
// fact: const
// fact: element|view|float
tensor<const float, hidden<8>> r{};
#elif defined CASE_bare_rope
// fact: rope<
// fact: split_halves|pairs|interleaved
multi_head_attention<float, hidden<64>, heads<8>, rope>::weights r;
#elif defined CASE_bare_relu_as_activation
// fact: activation<relu>
// fact: relu
encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, bias<true>, norm_first<true>,
              relu>::weights r;
#elif defined CASE_softcap_of_a_fraction
// fact: softcap<
// fact: whole|integer|fraction|0.5|two
multi_head_attention<float, hidden<64>, heads<8>, softcap<0.5>>::weights r;
#elif defined CASE_bias_as_a_number
// fact: bias<
// fact: true|false
multi_head_attention<float, hidden<64>, heads<8>, bias<32>>::weights r;
#elif defined CASE_bare_bias
// fact: bias<true>|bias<
// fact: bias
multi_head_attention<float, hidden<64>, heads<8>, bias>::weights r;
#elif defined CASE_softmax_with_a_size
// fact: key
// fact: softmax<
auto r = softmax<key<6>>(scores);
#elif defined CASE_mean_with_a_size
// fact: query
// fact: mean<
auto r = x | mean<query<4>>;
#elif defined CASE_select_with_a_size
// fact: query
// fact: select_at<
auto r = x | select_at<query<4>, 0>;
#elif defined CASE_permute_with_sizes
// fact: batch
// fact: permute<
auto r = x | permute<query<4>, batch<2>, hidden<100>>;
#elif defined CASE_merge_with_a_size
// fact: hidden
// fact: merge<
auto r = x | split<hidden, heads<5>, head_dim> | merge<heads, head_dim, hidden<100>>;
#elif defined CASE_slice_with_numbers
// fact: from<
// fact: slice<
auto r = y | slice<key, 2, 3>;
#elif defined CASE_axis_from_another_axis
// fact: frames|phase
// fact: axis|token
template <std::size_t N>
struct phase : token<N> {};
tensor<float, phase<3>, hidden<8>> r;
#elif defined CASE_axis_copied_and_not_renamed
// fact: phase
// fact: token
template <std::size_t N>
struct phase : axis<token, N> {};
tensor<float, phase<3>, hidden<8>> r;
#elif defined CASE_view_without_axes_of_an_array
// fact: view_as
// fact: axes|axis
float memory[800];
void f() {
  view v(memory);
  v();
}
#elif defined CASE_dropout_swapped
// fact: rate|dropout
// fact: 42|0.*1|seed
auto f() { return attention{w}(x, y, y, dropout(42, 0.1)); }
#elif defined CASE_dropout_of_more_than_all
// fact: dropout|rate
// fact: 1\.5|below 1|0.*1
auto f() {
  constexpr auto mask = dropout(1.5, 1);
  return attention{w}(x, y, y, mask);
}
#elif defined CASE_length_below_zero_of_size_t
// fact: -1|negative|narrow
// fact: size_t|unsigned
tensor<std::size_t, batch<2>> r{3, -1};
#elif defined CASE_length_too_large_for_a_byte
// fact: 300|narrow
// fact: unsigned char|uint8|byte
tensor<unsigned char, batch<2>> r{3, 300};
#elif defined CASE_double_into_float
// fact: double
// fact: float
tensor<float, hidden<2>> f(const tensor<double, hidden<2>>& d) { return d; }
#elif defined CASE_absurd_size
// fact: size|large|memory|elements
// fact: token
tensor<float, token<10000000000>, hidden<10000000000>> r;
#elif defined CASE_feed_forward_of_one_axis_twice
// fact: hidden
// fact: intermediate|twice
feed_forward<float, hidden<64>, hidden<256>, activation<relu>, bias<true>>::weights r;
#elif defined CASE_workspace_of_no_tokens
// fact: token|token=0
// fact: 0
self_attention::workspace<token<0>> r;
#elif defined CASE_workspace_without_axes
// fact: token|workspace
// fact: axis|axes|length
self_attention::workspace<> r;
#elif defined CASE_workspace_of_hidden
// fact: hidden=64|hidden
// fact: workspace|token
self_attention::workspace<hidden<64>> r;
#endif
