// SPDX-License-Identifier: BSL-1.0
// Mistakes with attention without projections: scaled_dot_product_attention, attention_by_score
// (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, heads<4>, query<5>, head_dim<8>>;
using keys = tensor<float, batch<2>, heads<4>, key<7>, head_dim<8>>;

[[maybe_unused]] static void cases(queries& q, keys& k) {
  (void)q, (void)k;
#if defined CASE_dot_product_of_unsplit
  // expect-gcc: "umbel: scaled_dot_product_attention: the queries in argument 1 need the axis head_dim but have \[batch=2, query=5, hidden=32\]"
  // expect-clang: scaled_dot_product_attention.*the_queries_in_argument_1.*need_the_axis.*head_dim>.*but_have.*batch<2>.*query<5>.*hidden<32>
  // cause: The features are not split into heads yet.
  // cure: Split first, `x | split<hidden, heads<4>, head_dim>`, or use `multi_head_attention`.
  auto r = scaled_dot_product_attention(tensor<float, batch<2>, query<5>, hidden<32>>{}, k, k);
#elif defined CASE_dot_product_of_queries_as_keys
  // expect-gcc: "umbel: scaled_dot_product_attention: the keys in argument 2 need the axis key but have \[batch=2, heads=4, query=5, head_dim=8\]"
  // expect-clang: scaled_dot_product_attention.*the_keys_in_argument_2.*need_the_axis.*key>.*but_have.*batch<2>.*heads<4>.*query<5>.*head_dim<8>
  // cause: The positions of keys and values must be on the axis key, but are on a different one.
  // cure: Rename the axis: `x | rename_axis<query, key>` for self-attention.
  auto r = scaled_dot_product_attention(q, q, q);
#elif defined CASE_dot_product_of_a_fifth_axis
  // expect-gcc: "umbel: scaled_dot_product_attention: the queries in argument 1 may have only the axes batch, heads, query and head_dim but have \[batch=2, token=3, query=5, head_dim=8\]"
  // expect-clang: scaled_dot_product_attention.*the_queries_in_argument_1.*may_have_only_the_axes.*listed<.*batch>.*heads>.*query>.*head_dim>.*but_have.*batch<2>.*token<3>.*query<5>.*head_dim<8>
  // cause: The tensor has an axis that has no meaning for attention.
  // cure: Merge it into batch, or select one of its positions.
  auto r = scaled_dot_product_attention(tensor<float, batch<2>, token<3>, query<5>, head_dim<8>>{},
                                        k, k);
#elif defined CASE_dot_product_of_other_widths
  // expect-gcc: "umbel: scaled_dot_product_attention: the queries have head_dim=6 but the keys have head_dim=8"
  // expect-clang: scaled_dot_product_attention.*the_queries.*have.*head_dim<6>.*but_the_keys.*have.*head_dim<8>
  // cause: Queries and keys have different widths, so they have no product.
  // cure: Project both to one width; values may have their own width, `value_dim`.
  auto r = scaled_dot_product_attention(tensor<float, batch<2>, heads<4>, query<5>, head_dim<6>>{},
                                        k, k);
#elif defined CASE_dot_product_of_other_batches
  // expect-gcc: "umbel: scaled_dot_product_attention: the queries have batch=2 but the keys have no batch"
  // expect-clang: scaled_dot_product_attention.*the_queries.*have.*batch<2>.*but_the_keys.*have_no.*batch>
  // cause: Queries and keys do not belong to the same sequences.
  // cure: Add the batch to both; if the keys are the same for all sequences, use `broadcast`.
  auto r = scaled_dot_product_attention(q, tensor<float, heads<4>, key<7>, head_dim<8>>{}, k);
#elif defined CASE_dot_product_of_other_heads
  // expect-gcc: "umbel: scaled_dot_product_attention: the keys have heads=2 but the queries have heads=4; rename those of the keys to kv_heads=2"
  // expect-clang: scaled_dot_product_attention.*the_keys_have.*heads<2>.*but_the_queries_have.*heads<4>
  // cause: Keys with fewer heads are shared only if their axis is named `kv_heads`.
  // cure: Rename the axis: `k | rename_axis<heads, kv_heads>`.
  tensor<float, batch<2>, heads<2>, key<7>, head_dim<8>> fewer{};
  auto r = scaled_dot_product_attention(q, fewer, fewer);
#elif defined CASE_dot_product_of_uneven_groups
  // expect-gcc: "umbel: scaled_dot_product_attention: the keys have kv_heads=3 but the queries have heads=4"
  // expect-clang: scaled_dot_product_attention.*the_keys_have.*kv_heads<3>.*but_the_queries_have.*heads<4>
  // cause: The heads cannot be divided evenly among the heads of keys and values.
  // cure: Choose a `kv_heads<>` that divides `heads<>`.
  tensor<float, batch<2>, kv_heads<3>, key<7>, head_dim<8>> uneven{};
  auto r = scaled_dot_product_attention(q, uneven, uneven);
#elif defined CASE_dot_product_of_fewer_values
  // expect-gcc: "umbel: scaled_dot_product_attention: the keys have key=7 but the values have key=6"
  // expect-clang: scaled_dot_product_attention.*the_keys.*have.*key<7>.*but_the_values.*have.*key<6>
  // cause: The numbers of keys and values differ.
  // cure: Pass as many values as keys.
  auto r =
      scaled_dot_product_attention(q, k, tensor<float, batch<2>, heads<4>, key<6>, head_dim<8>>{});
#elif defined CASE_dot_product_of_two_types
  // expect-gcc: "umbel: scaled_dot_product_attention: the keys in argument 2 have type double but the queries have type float"
  // expect-clang: scaled_dot_product_attention.*the_keys_in_argument_2.*have_type.*element<double>.*but_the_queries_have_type.*element<float>
  // cause: The arguments have different element types.
  // cure: Declare all with one element type.
  auto r =
      scaled_dot_product_attention(q, tensor<double, batch<2>, heads<4>, key<7>, head_dim<8>>{}, k);
#elif defined CASE_dot_product_with_an_option_of_layers
  // expect-gcc: "umbel: scaled_dot_product_attention: bias is not one of its options"
  // expect-clang: scaled_dot_product_attention.*bias<true>.*is_not_one_of_its_options
  // cause: Without projections, this option has no meaning.
  // cure: The options are `score_scale<>`, `softcap<>` and `empty_rows<>`.
  auto r = scaled_dot_product_attention_with<bias<true>>(q, k, k);
#elif defined CASE_dot_product_into_another_shape
  // expect-gcc: "umbel: scaled_dot_product_attention: the result has \[batch=2, heads=4, query=5, head_dim=8\] but out has \[batch=2, query=5, hidden=32\]"
  // expect-clang: scaled_dot_product_attention.*the_result_has.*heads<4>.*query<5>.*head_dim<8>.*but_out_has.*query<5>.*hidden<32>
  // cause: The output has other axes or sizes than the result, which has those of the queries and the width of the values.
  // cure: Declare `out` with the axes of the result, in any order, or pass a view made by `split`.
  tensor<float, batch<2>, query<5>, hidden<32>> out{};
  scaled_dot_product_attention.into(out, q, k, k);
#elif defined CASE_dot_product_of_two
  // expect-gcc: "umbel: scaled_dot_product_attention: expects queries, keys and values; then a mask such as lengths, causal or all_keys; then a workspace"
  // expect-clang: scaled_dot_product_attention.*expects_queries_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace
  // cause: The arguments match no overload.
  // cure: Pass the values, often the keys again; to pass a workspace without a mask, put `all_keys` before it.
  auto r = scaled_dot_product_attention(q, k);
#elif defined CASE_score_of_one_row
  // expect-gcc: "umbel: attention_by_score: needs a function of two views along head_dim=8 that returns float"
  // expect-clang: attention_by_score.*needs_a_function_of_two_views_along.*head_dim<8>.*that_returns.*element<float>
  // cause: The function has other parameters, or returns a different type.
  // cure: Write `[](const auto& q, const auto& k) { return q(0) * k(0); }`.
  auto r = attention_by_score([](const auto& a) { return a(0); })(q, k, k);
#elif defined CASE_scale_of_a_score_of_ones_own
  // expect-gcc: "umbel: attention_by_score: score_scale is not one of its options"
  // expect-clang: attention_by_score.*score_scale<1.*8>.*is_not_one_of_its_options
  // cause: The function returns the final score.
  // cure: Scale in the function; the options are `softcap<>` and `empty_rows<>`.
  const auto score = [](const auto& a, const auto& b) { return a(0) * b(0); };
  auto r = attention_by_score<score_scale<1, 8>>(score)(q, k, k);
#elif defined CASE_workspace_for_a_wrong_width
  // expect-gcc: "umbel: scaled_dot_product_attention: the queries have head_dim=8 but the keys have head_dim=9"
  // expect-clang: scaled_dot_product_attention.*head_dim<9>
  // cause: `workspace_for` checks the tensors of the call, and these do not fit the layer.
  // cure: Write the types of the tensors that you pass in the call.
  static workspace_for<decltype(scaled_dot_product_attention), queries,
                       tensor<float, batch<2>, heads<4>, key<7>, head_dim<9>>, keys>
      work;
#else
  auto one = scaled_dot_product_attention(q, k, k, causal_top_left);
  tensor<float, batch<2>, query<5>, hidden<32>> out{};
  scaled_dot_product_attention.into(out | split<hidden, heads<4>, head_dim>, q, k, k);
  auto two = scaled_dot_product_attention_with<softcap<2>>(q, k | rename_axis<heads, kv_heads>,
                                                           k | rename_axis<heads, kv_heads>);
  auto three =
      attention_by_score([](const auto& a, const auto& b) { return a(0) - b(0); })(q, k, k);
#endif
}
