// SPDX-License-Identifier: BSL-1.0
// Words of formulas and operations: what few programs of the other files have.
#include <misuse/all_headers.hpp>

#if defined CASE_cosines_and_sines_of_two_shapes
// fact: query=4
// fact: key=6
auto r = cos(x) + sin(y);
#elif defined CASE_cosine_of_lengths
// fact: int
// fact: cos|float
auto r = cos(lens);
#elif defined CASE_sine_of_degrees
// fact: sin
// fact: one|argument|two
auto r = sin(x, 180.0f);
#elif defined CASE_rsqrt_of_lengths
// fact: int
// fact: rsqrt|float
auto r = rsqrt(lens);
#elif defined CASE_rsqrt_of_a_variance_not_repeated
// fact: hidden=100
// fact: broadcast
auto r = x * rsqrt(variance<hidden>(x));
#elif defined CASE_rsqrt_with_an_epsilon
// fact: rsqrt
// fact: one|argument|two
auto r = rsqrt(x, 1e-5f);
#elif defined CASE_log_with_a_base
// fact: log
// fact: one|argument|two
auto r = log(x, 2);
#elif defined CASE_log_of_lengths
// fact: int
// fact: log|float
auto r = log(lens);
#elif defined CASE_log_of_a_layer
// fact: log
// fact: multi_head_attention|layer|tensor
auto r = log(self_attention{sw});
#elif defined CASE_erf_of_two
// fact: erf
// fact: one|argument|two
auto r = erf(x, y);
#elif defined CASE_erf_in_a_formula_of_two_shapes
// fact: query=4
// fact: key=6
constexpr formula product_of_erf = [](auto a, auto b) { return erf(a) * b; };
auto r = product_of_erf(x, y);
#elif defined CASE_floor_into_integers
// fact: int
// fact: float
tensor<int, batch<2>, query<4>, hidden<100>> r = floor(x);
#elif defined CASE_floor_as_an_index
// fact: integers?|int
// fact: float
auto r = gather<hidden>(x, floor(x));
#elif defined CASE_floor_piped_the_wrong_way
// fact: floor
// fact: left|right
auto r = floor | x;
#elif defined CASE_log_sigmoid_of_lengths
// fact: int
// fact: log_sigmoid|float
auto r = log_sigmoid(lens);
#elif defined CASE_log_sigmoid_called_in_a_pipe
// fact: log_sigmoid
// fact: argument|tensor|one
auto r = x | log_sigmoid();
#elif defined CASE_log_sigmoid_and_sigmoid_of_two_shapes
// fact: hidden=100
// fact: hidden=80
auto r = log_sigmoid(x) + sigmoid(narrow);
#elif defined CASE_elu_with_an_alpha
// fact: elu
// fact: one|argument|two
auto r = elu(x, 0.5f);
#elif defined CASE_elu_of_lengths
// fact: int
// fact: elu|float
auto r = lens | elu;
#elif defined CASE_softplus_with_a_beta
// fact: softplus
// fact: one|argument|two
auto r = softplus(x, 2.0f);
#elif defined CASE_softplus_of_a_number
// fact: softplus
// fact: tensor|float|double
auto r = softplus(2.0f);
#elif defined CASE_gelu_tanh_of_weights
// fact: gelu_tanh
// fact: weights|tensor
auto r = gelu_tanh(sw);
#elif defined CASE_minimum_over_an_axis
// fact: minimum
// fact: min<|two
auto r = minimum<hidden>(x);
#elif defined CASE_minimum_of_three
// fact: elementwise|minimum
// fact: two
auto r = minimum(x, x, x);
#elif defined CASE_roll_by_nothing
// fact: roll
// fact: number|positions|3
auto r = t | roll<token>;
#elif defined CASE_roll_number_first
// fact: roll
// fact: axis|token
auto r = t | roll<3, token>;
#elif defined CASE_roll_along_what_is_not_there
// fact: key
// fact: token=12
auto r = t | roll<key, 1>;
#elif defined CASE_sum_from_the_last_of_another_axis
// fact: token
// fact: query=4
auto r = cumulative_sum<token, from_last>(x);
#elif defined CASE_sum_option_before_the_axis
// fact: exclusive
// fact: axis|cumulative_sum
auto r = cumulative_sum<exclusive, token>(t);
#elif defined CASE_sum_without_an_axis
// fact: from_last
// fact: axis|cumulative_sum
auto r = cumulative_sum<from_last>(t);
#elif defined CASE_flip_with_an_option_of_sums
// fact: flip
// fact: from_last
auto r = flip<token, from_last>(t);
#elif defined CASE_sum_option_as_a_value
// fact: one tensor
// fact: cumulative_sum
auto r = cumulative_sum<token>(t, from_last{});
#elif defined CASE_kth_largest_axis_first
// fact: kth_largest
// fact: number|8|axis
auto r = kth_largest<key, 3>(scores);
#elif defined CASE_kth_largest_number_zero
// fact: 0
// fact: key=6
auto r = kth_largest<0, key>(scores);
#elif defined CASE_windows_with_a_dilation_alone
// fact: windows
// fact: kernel_size|size of a window
auto r = windows<token, dilation<2>>(t);
#elif defined CASE_windows_wider_than_the_axis
// fact: token=12
// fact: 13|kernel_size=4
auto r = windows<token, kernel_size<4>, dilation<4>>(t);
#elif defined CASE_patches_as_windows
// fact: patches
// fact: kernel_column|two axes|template argument|axis
auto r = patches<token, kernel_size<4>>(t);
#elif defined CASE_patches_of_five
// fact: token=12
// fact: 5
auto r = patches<token, hidden, kernel_size<5>, heads<2>>(t);
#elif defined CASE_patches_of_lengths
// fact: patches
// fact: tensor|batch
auto r = patches<token, hidden, kernel_size<2>, heads<2>>(lens);
#elif defined CASE_padded_option_first
// fact: after
// fact: axis|padded
auto r = padded<after<1>, token>(t);
#elif defined CASE_windows_with_an_option_of_padded
// fact: windows
// fact: after
auto r = windows<token, kernel_size<3>, after<1>>(t);
#elif defined CASE_softmax_of_an_axis_family
// fact: softmax
// fact: key|axis
auto r = softmax<axis_family<key>>(scores);
#elif defined CASE_sampling_before_the_logits
// fact: sampler
// fact: logits|sampling
auto f(sampler<float, vocabulary<50>>& draw) { return draw(sampling{.top_k = 4}, words); }
#elif defined CASE_sampler_of_sampling
// fact: sampler
// fact: seed
sampler<float, vocabulary<50>> draw{sampling{.temperature = 0.8f}};
#elif defined CASE_sampling_for_argmax
// fact: argmax
// fact: sampling|argument
auto r = argmax<vocabulary>(words, sampling{.top_k = 4});
#elif defined CASE_sampling_of_several_positions
// fact: batch=2
// fact: vocabulary=50
auto f(sampler<float, vocabulary<50>>& draw) { return draw(words, sampling{.top_p = 0.9f}); }
#elif defined CASE_positions_without_a_size
// fact: positions_along
// fact: key<64>|size|axis
constexpr formula grow = [](auto a) { return a * positions_along<key>; };
auto r = grow(x);
#elif defined CASE_positions_of_a_number
// fact: axis|axes
// fact: item 1|positions_along
constexpr formula grow = [](auto a) { return a * positions_along<int>; };
auto r = grow(x);
#elif defined CASE_positions_of_another_size
// fact: query=4
// fact: query=6
constexpr formula grow = [](auto a) { return a * positions_along<query<6>>; };
auto r = grow(x);
#elif defined CASE_positions_without_an_argument
// fact: formula
// fact: argument
constexpr formula count = [](auto) { return 2 * positions_along<query<6>>; };
auto r = count(x);
#elif defined CASE_positions_outside_of_a_formula
// fact: positions|tensor|value|formula
// fact: number|float|formula
tensor<float, key<6>> r = positions_along<key<6>>;
#elif defined CASE_positions_along_two_axes
// fact: positions_along
// fact: an axis|key<64>|argument
constexpr formula grow = [](auto a) { return a * positions_along<query<4>, key<6>>; };
auto r = grow(x);
#elif defined CASE_formula_without_arguments
// fact: 1 parameter|number<1>
// fact: has 0|number<0>
constexpr formula twice = [](auto a) { return a * 2; };
auto r = twice();
#elif defined CASE_formula_of_two_without_arguments
// fact: 2 parameters|number<2>
// fact: has 0|number<0>
constexpr formula add = [](auto a, auto b) { return a + b; };
auto r = plain(add)();
#elif defined CASE_formula_into_nothing
// fact: 1 parameter|number<1>
// fact: has 0|number<0>
constexpr formula twice = [](auto a) { return a * 2; };
void f() { twice.into(); }
#elif defined CASE_workspace_for_a_formula_alone
// fact: 2 parameters|number<2>
// fact: has 0|number<0>
constexpr formula add = [](auto a, auto b) { return a + b; };
workspace_for<decltype(add)> r;
#elif defined CASE_formula_returns_std_exp
// fact: std::exp|exp_without_std
// fact: number
constexpr formula e = [](auto a) { return std::exp(a); };
auto r = e(x);
#elif defined CASE_formula_multiplies_by_std_pow
// fact: std::exp|exp_without_std
// fact: number
constexpr formula square = [](auto a) { return a * std::pow(a, 2); };
auto r = square(x);
#elif defined CASE_formula_chooses_by_a_condition
// fact: condition
// fact: where
constexpr formula positive = [](auto a) { return a > 0.0f ? a : 0.0f; };
auto r = positive(x);
#elif defined CASE_formula_std_max
// fact: condition
// fact: maximum|where
constexpr formula larger = [](auto a) { return std::max(a, a * 2); };
auto r = larger(x);
#endif
