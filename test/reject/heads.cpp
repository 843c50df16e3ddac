// SPDX-License-Identifier: BSL-1.0
// Mistakes with heads: grouped heads, separate widths, rotary positions, pruned heads (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<5>, hidden<48>>;
using wide_keys = tensor<float, batch<2>, key<9>, hidden<32>>;
using wide_values = tensor<float, batch<2>, key<9>, hidden<20>>;
using grouped = multi_head_attention<float, hidden<48>, heads<6>, kv_heads<3>>;
using attention = multi_head_attention<float, hidden<48>, heads<6>, value_dim<7>>;
using of_three_widths = multi_head_attention<float, hidden<48>, heads<6>, keys_from<hidden<32>>,
                                             values_from<hidden<20>>>;
using rotary = multi_head_attention<float, hidden<48>, heads<6>, rope<split_halves>>;

[[maybe_unused]] static void cases(const of_three_widths& attend, queries& x, wide_keys& y,
                                   wide_values& z) {
  (void)attend, (void)x, (void)y, (void)z;
#if defined CASE_kv_heads_do_not_divide_heads
  // expect-gcc: "umbel: multi_head_attention: heads=6 into kv_heads=4 leaves a remainder of 2; use kv_heads=3"
  // expect-clang: attention.*heads<6>.*into.*kv_heads<4>.*leaves_a_remainder_of.*number<2>.*so_use.*kv_heads<3>
  // cause: The heads cannot be divided evenly among the heads of keys and values.
  // cure: Choose a `kv_heads<>` that divides `heads<>`.
  multi_head_attention<float, hidden<48>, heads<6>, kv_heads<4>>::weights uneven;
#elif defined CASE_more_kv_heads_than_heads
  // expect-gcc: "umbel: multi_head_attention: heads=6 into kv_heads=12 leaves a remainder of 6; use kv_heads=6"
  // expect-clang: attention.*heads<6>.*into.*kv_heads<12>.*leaves_a_remainder_of.*number<6>
  // cause: There are more heads of keys and values than heads; the two numbers are probably swapped.
  // cure: Choose a `kv_heads<>` that divides `heads<>`.
  multi_head_attention<float, hidden<48>, heads<6>, kv_heads<12>>::weights uneven;
#elif defined CASE_no_kv_heads
  // expect-gcc: "umbel: shape: kv_heads=0 has size 0 in \[kv_heads=0\]"
  // expect-clang: shape.*kv_heads<0>.*has_size_0_in.*kv_heads<0>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  multi_head_attention<float, hidden<48>, heads<6>, kv_heads<0>>::weights none;
#elif defined CASE_rope_of_an_odd_head_dim
  // expect-gcc: "umbel: multi_head_attention: rope rotates pairs but head_dim=5 is odd"
  // expect-clang: multi_head_attention.*rope_rotates_pairs_but.*head_dim<5>.*is_odd
  // cause: Rotary positions rotate pairs of features, but a head has an odd number of them.
  // cure: Use an even `head_dim<>`, or rotate fewer features: `rope<split_halves, 10000, 4>`.
  multi_head_attention<float, hidden<45>, heads<9>, rope<split_halves>>::weights odd;
#elif defined CASE_rope_of_an_odd_width
  // expect-gcc: "umbel: multi_head_attention: rope rotates pairs but its width 5 is odd"
  // expect-clang: multi_head_attention.*rope_rotates_pairs_but_its_width.*number<5>.*is_odd
  // cause: Rotary positions rotate pairs of features, but the width, the third argument of `rope`, is odd.
  // cure: Use an even width; 0 rotates all features of a head.
  multi_head_attention<float, hidden<48>, heads<6>, rope<adjacent_pairs, 10000, 5>>::weights odd;
#elif defined CASE_rope_of_base_0
  // expect-gcc: "umbel: multi_head_attention: rope needs a base above 0"
  // expect-clang: attention.*rope_needs_a_base_above_0
  // cause: The angles are powers of the base, the second argument of `rope`, which must not be 0.
  // cure: Leave it out for 10000, or look it up in the configuration of the model: `rope<split_halves, 500000>`.
  multi_head_attention<float, hidden<48>, heads<6>, rope<split_halves, 0>>::weights none;
#elif defined CASE_rope_of_an_unknown_pairing
  // expect-gcc: "umbel: multi_head_attention: rope of int must be split_halves for GPT-NeoX and files of Hugging Face, adjacent_pairs for GPT-J and files of Meta and llama2\.c"
  // expect-clang: attention.*rope_of.*element<int>.*must_be.*split_halves_for_GPT_NeoX_and_files_of_Hugging_Face_adjacent_pairs_for_GPT_J_and_files_of_Meta_and_llama2_c
  // cause: The first argument of `rope` must specify how features pair up.
  // cure: Choose by the file of weights: `rope<split_halves>` for GPT-NeoX and for any LLaMA from Hugging Face, `rope<adjacent_pairs>` for RoFormer, GPT-J, the LLaMA files of Meta and those of llama2.c.
  multi_head_attention<float, hidden<48>, heads<6>, rope<int>>::weights unknown;
#elif defined CASE_rope_without_its_pairing
  // expect-gcc: "umbel: multi_head_attention: rope needs a pairing: split_halves for GPT-NeoX and files of Hugging Face, adjacent_pairs for GPT-J and files of Meta and llama2\.c"
  // expect-clang: attention.*rope_needs_a_pairing.*split_halves_for_GPT_NeoX_and_files_of_Hugging_Face_adjacent_pairs_for_GPT_J_and_files_of_Meta_and_llama2_c
  // cause: Models, and even files of one model, differ in how features pair up, so there is no default.
  // cure: Choose by the file of weights: `rope<split_halves>` for GPT-NeoX and for any LLaMA from Hugging Face, `rope<adjacent_pairs>` for RoFormer, GPT-J, the LLaMA files of Meta and those of llama2.c.
  multi_head_attention<float, hidden<48>, heads<6>, rope<>>::weights none;
#elif defined CASE_rope_wider_than_head_dim
  // expect-gcc: "umbel: multi_head_attention: rope rotates 10 features but a head has only head_dim=8"
  // expect-clang: multi_head_attention.*rope_rotates.*number<10>.*features_but_a_head_has_only.*head_dim<8>
  // cause: The width, the third argument of `rope`, is larger than a head.
  // cure: Use a width of at most `head_dim`; 0 rotates all features.
  multi_head_attention<float, hidden<48>, heads<6>, rope<split_halves, 10000, 10>>::weights wide;
#elif defined CASE_norm_of_queries_and_keys_without_its_epsilon
  // expect-gcc: "umbel: multi_head_attention: rms_norm needs the epsilon of the trained model; add norm_epsilon<1, 1000000> for 1e-6"
  // expect-clang: multi_head_attention.*rms_norm_needs_the_epsilon_of_the_model_so_add_norm_epsilon
  // cause: The epsilon of `rms_norm`, here for queries and keys, differs between models and has no default.
  // cure: Look it up in the configuration of the model and add it, for example `norm_epsilon<1, 1'000'000>`. In a `residual_block` it is an option of the attention.
  multi_head_attention<float, hidden<48>, heads<6>, query_key_norm<rms_norm>>::weights unknown;
#elif defined CASE_norm_of_queries_and_keys_of_a_block_without_its_epsilon
  // expect-gcc: "umbel: multi_head_attention: rms_norm needs the epsilon of the trained model; add norm_epsilon<1, 1000000> for 1e-6"
  // expect-clang: multi_head_attention.*rms_norm_needs_the_epsilon_of_the_model_so_add_norm_epsilon
  // cause: The epsilon of `rms_norm`, here for queries and keys, differs between models and has no default.
  // cure: Look it up in the configuration of the model and add it, for example `norm_epsilon<1, 1'000'000>`. In a `residual_block` it is an option of the attention.
  encoder_layer<float, hidden<48>, heads<6>, intermediate<64>, norm_first<true>, bias<true>,
                activation<relu>, query_key_norm<rms_norm>>::weights unknown;
#elif defined CASE_norm_of_queries_and_keys_with_an_epsilon_of_0
  // expect-gcc: "umbel: multi_head_attention: norm_epsilon 1/0 is not a positive number"
  // expect-clang: multi_head_attention.*norm_epsilon.*ratio<1, 0>.*is_not_a_positive_number
  // cause: The option is a fraction, and its numerator or denominator is 0.
  // cure: Write `norm_epsilon<1, 1'000'000>` for 1e-6.
  multi_head_attention<float, hidden<48>, heads<6>, query_key_norm<layer_norm>,
                       norm_epsilon<1, 0>>::weights none;
#elif defined CASE_norm_of_queries_and_keys_has_no_beta
  // expect-gcc: "umbel: multi_head_attention: rms_norm has no beta; leave out norm_bias"
  // expect-clang: multi_head_attention.*rms_norm_has_no_beta_so_leave_out_norm_bias
  // cause: Only a `layer_norm` has a beta.
  // cure: Leave out `norm_bias<>`, or use `query_key_norm<layer_norm>`.
  multi_head_attention<float, hidden<48>, heads<6>, query_key_norm<rms_norm>, norm_epsilon<1, 1000>,
                       norm_bias<false>>::weights none;
#elif defined CASE_epsilon_of_an_attention_without_norms
  // expect-gcc: "umbel: multi_head_attention: norm_epsilon is not one of its options"
  // expect-clang: multi_head_attention.*norm_epsilon<.*is_not_one_of_its_options
  // cause: Attention has an epsilon only if its queries and keys are normed, but no option norms them.
  // cure: Add `query_key_norm<rms_norm>`, or leave `norm_epsilon<>` out.
  multi_head_attention<float, hidden<48>, heads<6>, norm_epsilon<1, 1000>>::weights none;
#elif defined CASE_weights_without_norms_of_queries_and_keys
  // expect-gcc: "umbel: multi_head_attention: the weights have 4 parts but the layer needs 6"
  // expect-clang: multi_head_attention.*the_weights_have.*number<4>.*parts_but_the_layer_needs.*number<6>
  // cause: With `query_key_norm<>` the weights have two more parts: `q_norm` and `k_norm` after the four projections.
  // cure: Pass all parts: `{q, k, v, o, q_norm, k_norm}`.
  rotary::weights w;
  multi_head_attention<float, hidden<48>, heads<6>, query_key_norm<layer_norm>>::weights_view all(
      w.q, w.k, w.v, w.o);
#elif defined CASE_weights_of_an_attention_without_norms
  // expect-gcc: "umbel: multi_head_attention: the weights do not match this layer and its options"
  // expect-clang: multi_head_attention.*the_weights_do_not_match_this_layer_and_its_options
  // cause: The weights belong to a layer with other options, here without norms of queries and keys.
  // cure: Use the `weights` of this layer: `static layer::weights w;`.
  static rotary::weights w;
  const multi_head_attention<float, hidden<48>, heads<6>, query_key_norm<layer_norm>> layer{w};
#elif defined CASE_value_dim_twice
  // expect-gcc: "umbel: multi_head_attention: value_dim=4 is given twice"
  // expect-clang: attention.*value_dim<4>.*is_given_twice
  // cause: `value_dim<>` is given twice; one was probably meant to be `head_dim<>`.
  // cure: Leave one out, or correct its name.
  multi_head_attention<float, hidden<48>, heads<6>, value_dim<4>, value_dim<5>>::weights twice;
#elif defined CASE_prune_past_the_end
  // expect-gcc: "umbel: pruned: head 6 is past the end of heads=6"
  // expect-clang: prune.*head.*number<6>.*is_past_the_end_of.*heads<6>
  // cause: The layer has no head with this number.
  // cure: Count from 0: the last head is the number of heads minus 1.
  pruned<attention, prune_heads<1, 6>>::weights w;
#elif defined CASE_prune_twice
  // expect-gcc: "umbel: pruned: head 1 is named twice"
  // expect-clang: prune.*head.*number<1>.*is_named_twice
  // cause: One head is listed twice.
  // cure: Name it once; the second was probably meant to be different.
  pruned<attention, prune_heads<1, 1>>::weights w;
#elif defined CASE_keep_twice
  // expect-gcc: "umbel: pruned: head 2 is named twice"
  // expect-clang: prune.*head.*number<2>.*is_named_twice
  // cause: One head is listed twice.
  // cure: Name it once; the second was probably meant to be different.
  pruned<attention, keep_heads<0, 2, 2>>::weights w;
#elif defined CASE_prune_all
  // expect-gcc: "umbel: pruned: none of heads=6 would be left"
  // expect-clang: pruned.*none_of.*heads<6>.*would_be_left
  // cause: All heads are pruned.
  // cure: Keep at least one, or leave the layer out.
  pruned<attention, prune_heads<0, 1, 2, 3, 4, 5>>::weights w;
#elif defined CASE_prune_half_a_group
  // expect-gcc: "umbel: pruned: head 3 shares its keys and values with heads that are treated differently; name whole groups of 2"
  // expect-clang: prune.*head.*number<3>.*shares_its_keys_and_values_with_heads_that_are_treated_differently_so_name_whole_groups_of.*number<2>
  // cause: With `kv_heads<>`, heads share keys and values, but only some heads of a group are pruned.
  // cure: List whole groups: with groups of 2, heads 2 and 3 go together.
  pruned<grouped, prune_heads<2>>::weights w;
#elif defined CASE_self_of_a_layer_with_keys_from_another_width
  // expect-gcc: "umbel: multi_head_attention: the layer reads keys from hidden=32 and queries from hidden=48; pass queries, keys and values"
  // expect-clang: multi_head_attention.*the_layer_reads_keys_from.*hidden<32>.*and_.*queries_from.*hidden<48>.*so_pass_queries_keys_and_values
  // cause: The layer reads keys of a different width (`keys_from<>`), but the call is self-attention with one sequence.
  // cure: Pass three arguments: queries, keys and values.
  auto out = attend(tensor<float, batch<2>, token<5>, hidden<48>>{});
#elif defined CASE_self_of_a_layer_with_values_from_another_width
  // expect-gcc: "umbel: multi_head_attention: the layer reads values from hidden=20 and queries from hidden=48; pass queries, keys and values"
  // expect-clang: multi_head_attention.*the_layer_reads_values_from.*hidden<20>.*and_.*queries_from.*hidden<48>.*so_pass_queries_keys_and_values
  // cause: The layer reads values of a different width (`values_from<>`), but the call is self-attention with one sequence.
  // cure: Pass three arguments: queries, keys and values.
  static multi_head_attention<float, hidden<48>, heads<6>, values_from<hidden<20>>>::weights w;
  auto out = multi_head_attention<float, hidden<48>, heads<6>, values_from<hidden<20>>>{w}(
      tensor<float, batch<2>, token<5>, hidden<48>>{});
#elif defined CASE_keys_of_another_width_than_keys_from
  // expect-gcc: "umbel: multi_head_attention: the keys in argument 2 have hidden=48 but the layer has hidden=32"
  // expect-clang: attention.*the_keys_in_argument_2.*have.*hidden<48>.*but_the_layer_has.*hidden<32>
  // cause: The layer was declared with `keys_from<>` of a different width than these keys.
  // cure: Pass keys of that width; keys and queries may be swapped.
  auto out = attend(x, tensor<float, batch<2>, key<9>, hidden<48>>{}, z);
#elif defined CASE_values_of_another_width_than_values_from
  // expect-gcc: "umbel: multi_head_attention: the values in argument 3 have hidden=32 but the layer has hidden=20"
  // expect-clang: attention.*the_values_in_argument_3.*have.*hidden<32>.*but_the_layer_has.*hidden<20>
  // cause: The values have a different width than `values_from<>`; the keys may be passed twice.
  // cure: Pass values of that width, or correct `values_from<>`.
  auto out = attend(x, y, y);
#elif defined CASE_output_array_without_value_dim
  // expect-gcc: "umbel: weights: \[in_features=42, out_features=48\] needs 2016 elements but the memory holds 2304"
  // expect-clang: weights.*in_features<42>.*out_features<48>.*needs.*number<2016>.*elements_but_the_memory_holds.*number<2304>
  // cause: The output map reads heads times `value_dim` features, not hidden: the array belongs to a different layer.
  // cure: Export the matrix of this layer, (heads times value_dim, hidden), or correct `value_dim<>`.
  static const float array[48 * 48] = {};
  const decltype(attention::weights_view::o) o(view_as<in_features, out_features>(array));
#elif defined CASE_prune_what_has_no_heads
  // expect-gcc: "umbel: pruned: the first argument is not a multi_head_attention"
  // expect-clang: prune.*the_first_argument_is_not_a_multi_head_attention
  // cause: The first argument must be a `multi_head_attention`, but is a different layer or type.
  // cure: Pass the attention layer first; for an encoder layer that is `encoder::attention`.
  pruned<linear<float, hidden<8>, hidden<8>>, keep_heads<0>>::weights w;
#elif defined CASE_prune_by_a_number_of_heads
  // expect-gcc: "umbel: pruned: the second argument must be keep_heads or prune_heads"
  // expect-clang: prune.*the_second_argument_must_be_keep_heads_or_prune_heads
  // cause: The call does not specify which heads to keep.
  // cure: List them: `keep_heads<0, 2>`, or list those to prune: `prune_heads<1>`.
  pruned<attention, heads<2>>::weights w;
#elif defined CASE_pruned_past_the_end_and_used
  // expect-gcc: "umbel: pruned: head 6 is past the end of heads=6"
  // expect-clang: prune.*head.*number<6>.*is_past_the_end_of.*heads<6>
  // cause: The layer has no head with this number.
  // cure: Count from 0: the last head is the number of heads minus 1.
  static grouped::weights whole;
  auto r = pruned<grouped, prune_heads<6, 7>>{whole}(x | rename_axis<query, token>);
#elif defined CASE_pruned_weights_of_a_number
  // expect-gcc: "umbel: pruned_weights: expects a layer and its heads; write pruned_weights<attention, prune_heads<1>>\(w\)"
  // expect-clang: umbel: pruned_weights: expects a layer and its heads; write pruned_weights<attention, prune_heads<1>>\(w\)
  // cause: The heads to leave out, or to keep, are named by `prune_heads<>` or `keep_heads<>`.
  // cure: Write `pruned_weights<attention, prune_heads<3>>(w)`.
  static grouped::weights whole;
  auto r = pruned_weights<grouped, 3>(whole);
#elif defined CASE_rotate_by_a_bare_rope
  // expect-gcc: "umbel: rotate: expects a pairing, then names of axes; write rotate<split_halves, query, head_dim>\(x\)"
  // expect-clang: umbel: rotate:
  // cause: The first argument is the pairing of features or `rope<>` with its parameters.
  // cure: Write `rotate<split_halves, query, head_dim>(x)` or `rotate<rope<split_halves, 500000>, query, head_dim>(x)`.
  auto r = rotate<rope, query, hidden>(x);
#else
  static grouped::weights w;
  static rotary::weights r;
  static const auto fewer = pruned_weights<grouped, prune_heads<2, 3>>(w);
  static const float array[6 * 7 * 48] = {};
  const decltype(attention::weights_view::o) o(view_as<in_features, out_features>(array));
  auto out = attend(x, y, z);
  auto less = pruned<grouped, prune_heads<2, 3>>{fewer}(x | rename_axis<query, token>);
  auto turned = rotary{r}(x | rename_axis<query, token>);
  (void)o, (void)out, (void)less, (void)turned;
#endif
}
