// SPDX-License-Identifier: BSL-1.0
// Mistakes with additive attention: one case each, with the message that the compiler must print
// (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<3>, hidden<20>>;
using keys = tensor<float, batch<2>, key<10>, hidden<2>>;
using values = tensor<float, batch<2>, key<10>, value_dim<4>>;
using attention = additive_attention<float, hidden<20>, score_hidden<8>, keys_from<hidden<2>>>;
using of_two_heads =
    additive_attention<float, hidden<20>, score_hidden<8>, keys_from<hidden<2>>, heads<2>>;

[[maybe_unused]] static void cases(const attention& attend, const prepacked<attention>& packed,
                                   queries& x, keys& y, values& z, attention::weights& w) {
  (void)attend, (void)packed, (void)x, (void)y, (void)z, (void)w;
#if defined CASE_queries_and_keys_swapped
  // expect-gcc: "umbel: additive_attention: the queries in argument 1 need the axis query but have \[batch=2, key=10, hidden=2\]"
  // expect-clang: additive_attention.*the_queries_in_argument_1.*need_the_axis.*query>.*but_have.*batch<2>.*key<10>.*hidden<2>
  // cause: The first argument has no axis query. Queries and keys are probably swapped.
  // cure: Pass queries, keys and values in this order, or rename the axis: `x | rename_axis<token, query>`.
  auto out = attend(y, x, z);
#elif defined CASE_width_of_keys
  // expect-gcc: "umbel: additive_attention: the keys in argument 2 have hidden=3 but the layer has hidden=2"
  // expect-clang: additive_attention.*the_keys_in_argument_2.*have.*hidden<3>.*but_the_layer_has.*hidden<2>
  // cause: The keys have a different number of features than the layer's projection of keys.
  // cure: Pass the right tensor, or declare the layer with `keys_from<hidden<3>>`.
  auto out = attend(x, tensor<float, batch<2>, key<10>, hidden<3>>{}, z);
#elif defined CASE_values_without_features
  // expect-gcc: "umbel: additive_attention: the values in argument 3 need exactly one feature axis besides batch and key, not \[batch=2, key=10\]"
  // expect-clang: additive_attention.*the_values_in_argument_3.*need_exactly_one_feature_axis_besides_batch_and.*key>.*not_.*batch<2>.*key<10>
  // cause: The values have no feature axis, or two.
  // cure: Pass (batch, key, features), whatever the name of the last axis; join two axes with `merge`.
  auto out = attend(x, y, tensor<float, batch<2>, key<10>>{});
#elif defined CASE_values_of_queries
  // expect-gcc: "umbel: additive_attention: the values in argument 3 need exactly one feature axis besides batch and key, not \[batch=2, query=3, hidden=20\]"
  // expect-clang: additive_attention.*the_values_in_argument_3.*need_exactly_one_feature_axis_besides_batch_and.*key>.*not_.*batch<2>.*query<3>.*hidden<20>
  // cause: The values have no axis key, or not exactly one feature axis.
  // cure: Pass (batch, key, features), whatever the name of the last axis; join two axes with `merge`.
  auto out = attend(x, y, x);
#elif defined CASE_values_named_as_queries
  // expect-gcc: "umbel: additive_attention: query is already an axis of \[batch=2, query=3, hidden=20\]"
  // expect-clang: additive_attention.*query>.*is_already_an_axis_of.*batch<2>.*query<3>.*hidden<20>
  // cause: In the result, the features of the values replace the hidden axis of the queries, so two axes would have one name.
  // cure: Rename the feature axis of the values: `z | rename_axis<query, value_dim>`.
  auto out = attend(x, y, tensor<float, batch<2>, key<10>, query<4>>{});
#elif defined CASE_heads_do_not_divide_values
  // expect-gcc: "umbel: additive_attention: value_dim=5 into heads=2 leaves a remainder of 1"
  // expect-clang: additive_attention.*value_dim<5>.*into.*heads<2>.*leaves_a_remainder_of.*number<1>
  // cause: Each head weighs an equal part of the values' features, but the heads do not divide them.
  // cure: Choose a number of heads that divides the width of the values.
  static of_two_heads::weights two;
  auto out = of_two_heads{two}(x, y, tensor<float, batch<2>, key<10>, value_dim<5>>{});
#elif defined CASE_values_of_another_length
  // expect-gcc: "umbel: additive_attention: the keys have key=10 but the values have key=9"
  // expect-clang: additive_attention.*the_keys.*have.*key<10>.*but_the_values.*have.*key<9>
  // cause: Keys and values differ in batch or in length.
  // cure: Pass both from one sequence, or shorten the longer one with `slice`.
  auto out = packed(x, y, tensor<float, batch<2>, key<9>, value_dim<4>>{});
#elif defined CASE_values_of_double
  // expect-gcc: "umbel: additive_attention: the values in argument 3 have type double but the layer has type float"
  // expect-clang: additive_attention.*the_values_in_argument_3.*have_type.*element<double>.*but_the_layer_has_type.*element<float>
  // cause: An argument and the layer have different element types, and Umbel converts nothing implicitly.
  // cure: Declare the layer and its arguments with one element type.
  auto out = attend(x, y, tensor<double, batch<2>, key<10>, value_dim<4>>{});
#elif defined CASE_values_forgotten
  // expect-gcc: "umbel: additive_attention: expects queries, keys and values; then a mask such as lengths, causal or all_keys; then a workspace"
  // expect-clang: additive_attention.*expects_queries_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace
  // cause: The arguments match no overload: the values are missing, or an argument is out of order.
  // cure: Pass the values, often the keys again: `attend(x, y, y)`; to pass a workspace without a mask, put `all_keys` before it.
  auto out = attend(x, y);
#elif defined CASE_mask_of_another_size
  // expect-gcc: "umbel: additive_attention: keep_mask has key=9 but the scores have \[batch=2, heads=1, query=3, key=10\]"
  // expect-clang: additive_attention.*keep_mask.*has.*key<9>.*but_the_scores_have.*batch<2>.*heads<1>.*query<3>.*key<10>
  // cause: The mask has a different number of positions along this axis.
  // cure: Declare it with the sizes of the scores; a mask is repeated along the axes that it lacks.
  auto out = attend(x, y, z, keep_mask(tensor<bool, key<9>>{}));
#elif defined CASE_workspace_of_other_sizes
  // expect-gcc: "umbel: additive_attention: the workspace is for a different layer or other sizes; pass one for \[query=3, key=10, value_dim=4\]"
  // expect-clang: additive_attention.*the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for.*query<3>.*key<10>.*value_dim<4>
  // cause: The workspace was declared for a different type of layer or for different sizes.
  // cure: Declare it with the sizes in the brackets: `attention::workspace<query<3>, key<10>, value_dim<4>>`.
  static of_two_heads::workspace<query<3>, key<10>, value_dim<4>> other;
  auto out = attend(x, y, z, all_keys, other);
#elif defined CASE_result_of_other_axes
  // expect-gcc: "umbel: additive_attention: the result has \[batch=2, query=3, value_dim=4\] but out has \[batch=2, query=3, hidden=20\]"
  // expect-clang: additive_attention.*the_result_has.*batch<2>.*query<3>.*value_dim<4>.*but_out_has.*batch<2>.*query<3>.*hidden<20>
  // cause: The output has other axes than the result.
  // cure: Pass a tensor or view with the axes in the first brackets, in any order.
  queries out;
  attend.into(out, x, y, z);
#elif defined CASE_weights_of_another_layer
  // expect-gcc: "umbel: additive_attention: part 1 of the weights maps \[hidden=20, score_hidden=16\] but the layer needs \[hidden=20, score_hidden=8\]"
  // expect-clang: additive_attention.*part.*of_the_weights_maps.*score_hidden<16>.*but_the_layer_needs.*score_hidden<8>
  // cause: The weights belong to a different type of layer.
  // cure: Declare them as `attention::weights` of this layer.
  static of_two_heads::weights two;
  attention odd{two};
#elif defined CASE_temporary_weights
  // expect-gcc: "umbel: additive_attention: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: additive_attention.*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable
  // cause: A layer borrows its weights, but these are destroyed at the end of the statement.
  // cure: Store them in a variable that lives as long as the layer.
  attention odd{attention::weights{}};
#elif defined CASE_option_of_another_layer
  // expect-gcc: "umbel: additive_attention: score_scale is not one of its options"
  // expect-clang: additive_attention.*score_scale<1, 8>.*is_not_one_of_its_options
  // cause: The option belongs to a different layer; additive scores have no scale.
  // cure: Leave it out; see `attention/additive.hpp` for the options.
  additive_attention<float, hidden<20>, score_hidden<8>, score_scale<1, 8>>::weights odd;
#elif defined CASE_queries_without_features
  // expect-gcc: "umbel: additive_attention: the queries in argument 1 need the axis hidden but have \[batch=2, query=3, classes=20\]"
  // expect-clang: additive_attention.*the_queries_in_argument_1.*need_the_axis.*hidden>.*but_have.*batch<2>.*query<3>.*classes<20>
  // cause: The feature axis of the queries is not named as in the layer.
  // cure: Rename the axis as in the layer: `x | rename_axis<classes, hidden>`.
  auto out = attend(tensor<float, batch<2>, query<3>, classes<20>>{}, y, z);
#elif defined CASE_score_features_forgotten
  // expect-gcc: "umbel: additive_attention: expected the axis score_hidden but got heads=2"
  // expect-clang: additive_attention.*expected_the_axis.*score_hidden>.*but_got.*heads<2>
  // cause: The layer needs the features of its queries, then those of a score, then options.
  // cure: Add the number of score features: `score_hidden<8>`.
  additive_attention<float, hidden<20>, heads<2>>::weights none;
#elif defined CASE_no_score_features
  // expect-gcc: "umbel: shape: score_hidden=0 has size 0 in \[score_hidden=0\]"
  // expect-clang: shape.*score_hidden<0>.*has_size_0_in.*score_hidden<0>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  additive_attention<float, hidden<20>, score_hidden<0>>::weights none;
#elif defined CASE_score_hidden_forgotten
  // expect-gcc: "umbel: additive_attention: the axis score_hidden is missing"
  // expect-clang: additive_attention.*the_axis.*score_hidden>.*is_missing
  // cause: The layer needs the features of the queries, then those of a score, then options.
  // cure: Write both: `additive_attention<float, hidden<20>, score_hidden<8>>`.
  additive_attention<float, hidden<20>>::weights none{};
  (void)none;
#elif defined CASE_score_hidden_first
  // expect-gcc: "umbel: additive_attention: expected the axis hidden but got score_hidden=8"
  // expect-clang: additive_attention.*expected_the_axis.*hidden>.*but_got.*score_hidden<8>
  // cause: The layer needs the features of the queries, then those of a score, then options.
  // cure: Write both: `additive_attention<float, hidden<20>, score_hidden<8>>`.
  additive_attention<float, score_hidden<8>, hidden<20>>::weights none{};
  (void)none;
#elif defined CASE_no_weights
  // expect-gcc: "umbel: additive_attention: construct it from one object, its weights"
  // expect-clang: additive_attention.*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all in one struct, when it is constructed.
  // cure: Fill `attention::weights w` and write `attention{w}`.
  const of_two_heads wrong;
#else
  auto out = attend(x, y, z, keep_mask(tensor<bool, key<10>>{}));
  static of_two_heads::weights two;
  static of_two_heads::workspace<query<3>, key<10>, value_dim<4>> work;
  of_two_heads{two}.into(out, x, y, z, all_keys, work);
#endif
}
