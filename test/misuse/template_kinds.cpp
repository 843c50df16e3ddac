// SPDX-License-Identifier: BSL-1.0
// Template arguments of another kind: a size for a name, a name for a size, too few, too many.
#include <misuse/all_headers.hpp>

#if defined CASE_sum_size_and_number
// fact: sum
// fact: axis|axes|name|size|type|number|text|write
auto r = sum<hidden<100>, 2>(x);
#elif defined CASE_sum_name_and_number
// fact: sum
// fact: axis|axes|name|size|type|number|text|write
auto r = sum<hidden, 2>(x);
#elif defined CASE_sum_number_and_name
// fact: sum
// fact: axis|axes|name|size|type|number|text|write
auto r = sum<2, hidden>(x);
#elif defined CASE_sum_name_and_size
// fact: sum
// fact: axis|axes|name|size|type|number|text|write
auto r = sum<hidden, query<4>>(x);
#elif defined CASE_sum_two_numbers
// fact: sum
// fact: axis|axes|name|size|type|number|text|write
auto r = sum<1, 2>(x);
#elif defined CASE_sum_a_type
// fact: sum
// fact: axis|axes|name|size|type|number|text|write
auto r = sum<float>(x);
#elif defined CASE_max_size_and_number
// fact: max
// fact: axis|axes|name|size|type|number|text|write
auto r = max<hidden<100>, 2>(x);
#elif defined CASE_max_piped_mixed
// fact: max
// fact: axis|axes|name|size|type|number|text|write
auto r = x | max<hidden, 2>;
#elif defined CASE_max_piped_number
// fact: max
// fact: axis|axes|name|size|type|number|text|write
auto r = x | max<2>;
#elif defined CASE_argmax_number
// fact: argmax
// fact: axis|axes|name|size|type|number|text|write
auto r = argmax<2>(x);
#elif defined CASE_argmax_size
// fact: argmax
// fact: axis|axes|name|size|type|number|text|write
auto r = argmax<hidden<100>>(x);
#elif defined CASE_argmax_two_names
// fact: argmax
// fact: axis|axes|name|size|type|number|text|write
auto r = argmax<hidden, query>(x);
#elif defined CASE_argmax_name_and_number
// fact: argmax
// fact: axis|axes|name|size|type|number|text|write
auto r = argmax<hidden, 2>(x);
#elif defined CASE_concat_number
// fact: concat
// fact: axis|axes|name|size|type|number|text|write
auto r = concat<0>(x, x);
#elif defined CASE_concat_size
// fact: concat
// fact: axis|axes|name|size|type|number|text|write
auto r = concat<query<8>>(x, x);
#elif defined CASE_concat_two_names
// fact: concat
// fact: axis|axes|name|size|type|number|text|write
auto r = concat<query, hidden>(x, x);
#elif defined CASE_concat_name_and_number
// fact: concat
// fact: axis|axes|name|size|type|number|text|write
auto r = concat<query, 2>(x, x);
#elif defined CASE_stack_number
// fact: stack
// fact: axis|axes|name|size|type|number|text|write
auto r = stack<0>(m, m);
#elif defined CASE_stack_size
// fact: stack
// fact: axis|axes|name|size|type|number|text|write
auto r = stack<batch<2>>(m, m);
#elif defined CASE_gather_number
// fact: gather
// fact: axis|axes|name|size|type|number|text|write
auto r = gather<1>(x, lens);
#elif defined CASE_gather_size
// fact: gather
// fact: axis|axes|name|size|type|number|text|write
auto r = gather<hidden<100>>(x, lens);
#elif defined CASE_gather_two_names
// fact: gather
// fact: axis|axes|name|size|type|number|text|write
auto r = gather<hidden, query>(x, lens);
#elif defined CASE_one_hot_number
// fact: one_hot
// fact: axis|axes|name|size|type|number|text|write
auto r = one_hot<10>(lens);
#elif defined CASE_one_hot_name
// fact: one_hot
// fact: axis|axes|name|size|type|number|text|write
auto r = one_hot<classes>(lens);
#elif defined CASE_one_hot_size_and_number
// fact: one_hot
// fact: axis|axes|name|size|type|number|text|write
auto r = one_hot<classes<10>, 2>(lens);
#elif defined CASE_rotate_number
// fact: rotate
// fact: axis|axes|name|size|type|number|text|write
auto r = rotate<rope<split_halves>, 1, 2>(x);
#elif defined CASE_rotate_names_only
// fact: rotate
// fact: axis|axes|name|size|type|number|text|write
auto r = rotate<query, hidden>(x);
#elif defined CASE_rotate_bare_rope
// fact: rotate
// fact: axis|axes|name|size|type|number|text|write
auto r = rotate<rope, query, hidden>(x);
#elif defined CASE_rotate_sizes
// fact: rotate
// fact: axis|axes|name|size|type|number|text|write
auto r = rotate<rope<split_halves>, query<4>, hidden<100>>(x);
#elif defined CASE_rotate_no_rope
// fact: rotate
// fact: axis|axes|name|size|type|number|text|write
auto r = rotate<rope<split_halves>>(x);
#elif defined CASE_rope_cosines_names
// fact: rope_cosines
// fact: axis|axes|name|size|type|number|text|write
auto r = rope_cosines<rope<split_halves>, token, head_dim>();
#elif defined CASE_rope_cosines_numbers
// fact: rope_cosines
// fact: axis|axes|name|size|type|number|text|write
auto r = rope_cosines<rope<split_halves>, 8, 16>();
#elif defined CASE_rope_sines_numbers
// fact: rope_sines
// fact: axis|axes|name|size|type|number|text|write
auto r = rope_sines<8, 16>();
#elif defined CASE_view_as_size_and_number
// fact: view_as
// fact: axis|axes|name|size|type|number|text|write
auto r = view_as<batch<2>, 400>(x.data());
#elif defined CASE_view_as_name_and_size
// fact: view_as
// fact: axis|axes|name|size|type|number|text|write
auto r = view_as<batch, hidden<100>>(x.data());
#elif defined CASE_at_number
// fact: at
// fact: axis|axes|name|size|type|number|text|write
auto r = x(at<0>(1), at<1>(2), at<2>(3));
#elif defined CASE_at_size
// fact: at
// fact: axis|axes|name|size|type|number|text|write
auto r = x(at<batch<2>>(1), at<query<4>>(2), at<hidden<100>>(3));
#elif defined CASE_at_two_names
// fact: at
// fact: axis|axes|name|size|type|number|text|write
auto r = x(at<batch, query>(1), at<hidden>(2));
#elif defined CASE_describe_layer_names
// fact: describe
// fact: axis|axes|name|size|type|number|text|write
auto r = describe<attention, query, key>();
#elif defined CASE_describe_layer_numbers
// fact: describe
// fact: axis|axes|name|size|type|number|text|write
auto r = describe<attention, 4, 6>();
#elif defined CASE_describe_bare_layer
// fact: describe
// fact: axis|axes|name|size|type|number|text|write
auto r = describe<multi_head_attention, query<4>>();
#elif defined CASE_describe_object
// fact: describe
// fact: axis|axes|name|size|type|number|text|write
auto r = describe<3>();
#elif defined CASE_cross_entropy_number
// fact: cross_entropy
// fact: axis|axes|name|size|type|number|text|write
auto r = cross_entropy<1>(logits, lens);
#elif defined CASE_cross_entropy_size
// fact: cross_entropy
// fact: axis|axes|name|size|type|number|text|write
auto r = cross_entropy<classes<10>>(logits, lens);
#elif defined CASE_cross_entropy_option_number
// fact: cross_entropy
// fact: axis|axes|name|size|type|number|text|write
auto r = cross_entropy<classes, 3>(logits, lens);
#elif defined CASE_cross_entropy_option_bare
// fact: cross_entropy
// fact: axis|axes|name|size|type|number|text|write
auto r = cross_entropy<classes, ignored_label>(logits, lens);
#elif defined CASE_quantize_bits
// fact: quantize
// fact: axis|axes|name|size|type|number|text|write
auto r = quantize<8>(x, 1.0f);
#elif defined CASE_quantize_name
// fact: quantize
// fact: axis|axes|name|size|type|number|text|write
auto r = quantize<hidden>(x, 1.0f);
#elif defined CASE_dequantize_bits
// fact: dequantize
// fact: axis|axes|name|size|type|number|text|write
auto r = dequantize<32>(x, 1.0f);
#elif defined CASE_sliding_window_at_axis
// fact: sliding_window
// fact: axis|axes|name|size|type|number|text|write
auto r = sliding_window_at<key<4>>(3);
#elif defined CASE_sliding_window_at_name
// fact: sliding_window
// fact: axis|axes|name|size|type|number|text|write
auto r = sliding_window_at<key>(3);
#elif defined CASE_observe_name
// fact: observe
// fact: axis|axes|name|size|type|number|text|write
tensor<float, batch<2>, heads<5>, query<4>, key<6>> memory;
auto r = observe<key>(memory);
#elif defined CASE_observe_number
// fact: observe
// fact: axis|axes|name|size|type|number|text|write
tensor<float, batch<2>, heads<5>, query<4>, key<6>> memory;
auto r = observe<1>(memory);
#elif defined CASE_attention_by_score_axis
// fact: attention_by_score
// fact: axis|axes|name|size|type|number|text|write
auto r = attention_by_score<key>([](auto q, auto k) { return contract<head_dim>(q, k); });
#elif defined CASE_attention_by_score_number
// fact: attention_by_score
// fact: axis|axes|name|size|type|number|text|write
auto r = attention_by_score<8>([](auto q, auto k) { return contract<head_dim>(q, k); });
#elif defined CASE_workspace_for_object
// fact: workspace_for
// fact: axis|axes|name|size|type|number|text|write
inline constexpr formula f = [](auto a) { return softmax<query>(a); };
workspace_for<f, queries> r;
#elif defined CASE_workspace_for_value
// fact: workspace_for
// fact: axis|axes|name|size|type|number|text|write
workspace_for<attention, x> r;
#elif defined CASE_workspace_for_name
// fact: workspace_for
// fact: axis|axes|name|size|type|number|text|write
workspace_for<attention, query> r;
#elif defined CASE_workspace_for_number
// fact: workspace_for
// fact: axis|axes|name|size|type|number|text|write
workspace_for<attention, 4> r;
#elif defined CASE_workspace_for_decltype_axes
// fact: workspace_for
// fact: axis|axes|name|size|type|number|text|write
inline constexpr formula f = [](auto a) { return softmax<query>(a); };
workspace_for<decltype(f), query<4>> r;
#elif defined CASE_footprint_number
// fact: footprint
// fact: axis|axes|name|size|type|number|text|write
auto r = footprint<attention, 4>;
#elif defined CASE_footprint_name
// fact: footprint
// fact: axis|axes|name|size|type|number|text|write
auto r = footprint<attention, query>;
#elif defined CASE_fits_number
// fact: fits
// fact: axis|axes|name|size|type|number|text|write
auto r = fits<64000, attention, queries>;
#elif defined CASE_extent_number
// fact: extent
// fact: axis|axes|name|size|type|number|text|write
auto r = x.extent<2>;
#elif defined CASE_extent_size
// fact: extent
// fact: axis|axes|name|size|type|number|text|write
auto r = x.extent<hidden<100>>;
#elif defined CASE_named_number
// fact: named
// fact: axis|axes|name|size|type|number|text|write
inline constexpr formula f = [](auto a) { return named<3>(softmax<query>(a)); };
auto r = f(x);
#elif defined CASE_named_axis
// fact: named
// fact: axis|axes|name|size|type|number|text|write
inline constexpr formula f = [](auto a) { return named<query>(softmax<query>(a)); };
auto r = f(x);
#elif defined CASE_pruned_weights_number
// fact: prune
// fact: axis|axes|name|size|type|number|text|write
auto r = pruned_weights<attention, 3>(w);
#elif defined CASE_tensor_from_numbers
// fact: tensor_from
// fact: axis|axes|name|size|type|number|text|write
auto r = tensor_from<float, 2, 3>(dims(x));
#elif defined CASE_exchange_of_numbers
// fact: exchange_of
// fact: axis|axes|name|size|type|number|text|write
auto r = exchange_of<share, 12>;
#elif defined CASE_probe_input_value
// fact: probe_input
// fact: axis|axes|name|size|type|number|text|write
auto r = probe_input<3>{};
#elif defined CASE_sum_number_in_a_formula
// fact: sum
// fact: names of axes
inline constexpr formula f = [](auto a) { return sum<2>(softmax<query>(a)); };
auto r = f(x);
#elif defined CASE_max_piped_size_in_a_formula
// fact: max
// fact: names of axes
inline constexpr formula f = [](auto a) { return a * 2.0f | max<hidden<100>>; };
auto r = f(x);
#elif defined CASE_concat_number_in_a_formula
// fact: concat
// fact: name of one axis
inline constexpr formula f = [](auto a) { return concat<0>(a, a) * 2.0f; };
auto r = f(x);
#elif defined CASE_argmax_piped_number
// fact: argmax
// fact: one axis
auto r = x | argmax<2>;
#elif defined CASE_function_of_double_in_a_formula
// fact: number
// fact: formula
double half(double d) { return d / 2; }
inline constexpr formula f = [](auto a) { return half(a); };
auto r = f(x);
#elif defined CASE_function_of_int_in_a_formula
// fact: number
// fact: formula
int next(int i) { return i + 1; }
inline constexpr formula f = [](auto a) { return a * static_cast<float>(next(a)); };
auto r = f(x);
#elif defined CASE_double_of_a_value_in_a_formula
// fact: number
// fact: formula
inline constexpr formula f = [](auto a) {
  const double d = a;
  return a * static_cast<float>(d);
};
auto r = f(x);
#endif
