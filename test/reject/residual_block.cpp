// SPDX-License-Identifier: BSL-1.0
// Mistakes with residual_block: one case each, with the message that the compiler must print
// (check.py).
#include <umbel/umbel.hpp>

#include <umbel/formula/row_formula.hpp>

using namespace umbel;
using namespace umbel::axes;
using namespace umbel::block_parts;

UMBEL_PART_NAME(residual);
using attention = self_attention<name::attention, heads<4>, bias<true>>;
using network =
    feed_forward_network<name::feed_forward, intermediate<32>, activation<relu>, bias<true>>;
using gpt_j = residual_block<float, hidden<16>, pre_norm<name::norm, attention, network>>;
using crossing = residual_block<
    float, hidden<16>,
    pre_norm<name::norm1, cross_attention<name::cross_attention, heads<4>, bias<true>>>>;

UMBEL_PART_NAME(mixer);
constexpr formula gate = [](auto x, const auto& w) { return x * sigmoid(x * w.scale); };
constexpr formula mix = [](auto x, const auto& w) { return softmax<token>(x * w.scale); };
constexpr formula branch = [](auto x, const auto& w) {
  if constexpr (decltype(x)::template extent<token> > 4)
    return softmax<token>(x * w.scale);
  else
    return x * w.scale;
};
constexpr formula widen = [](auto x, const auto& w) { return silu(x * w.up); };
using widened = linear_map<name::up, hidden<16>, intermediate<24>, bias<false>>;
using scales = weight<name::scale, hidden<16>>;
template <class... Formula>
using formula_block =
    residual_block<float, hidden<16>, without_norm<row_formula<mixer, Formula...>>>;
using gated_rows = formula_block<decltype(gate), scales>;

static const gpt_j::weights w{};
static const crossing::weights cw{};
using tokens = tensor<float, token<3>, hidden<16>>;

[[maybe_unused]] static void cases(const tokens& x, const tokens& memory,
                                   const tensor<float, token<3>, hidden<15>>& narrow) {
  (void)x, (void)memory, (void)narrow;
#if defined CASE_block_of_another_width
  // expect-gcc: "umbel: residual_block: the sequence has hidden=15 but the layer has hidden=16"
  // expect-clang: residual_block.*the_sequence.*has.*hidden<15>.*but_the_layer_has.*hidden<16>
  // cause: The input and the block have different widths.
  // cure: Set the block to the hidden size of x, or map x to it with `linear`.
  auto r = gpt_j{w}(narrow);
#elif defined CASE_block_without_memory
  // expect-gcc: "umbel: residual_block: expects a sequence and a memory; then a mask of the memory; then a self_mask; then a workspace"
  // expect-clang: residual_block.*expects_a_sequence_and_a_memory_then_a_mask_of_the_memory_then_self_mask_then_a_workspace
  // cause: A part attends to a memory, but the call has none.
  // cure: Call `block{w}(x, memory, self_mask(...))`.
  auto r = crossing{cw}(x, causal);
#elif defined CASE_block_with_memory_it_does_not_read
  // expect-gcc: "umbel: residual_block: has no attention to a memory"
  // expect-clang: residual_block.*has_no_attention_to_a_memory
  // cause: No part of the block attends to a memory.
  // cure: Leave it out, or add `block_parts::cross_attention` to the block.
  auto r = gpt_j{w}(x, memory, self_mask(causal));
#elif defined CASE_block_with_an_option_of_encoders
  // expect-gcc: "umbel: residual_block: norm_first is not one of its options"
  // expect-clang: residual_block.*norm_first.*true.*is_not_one_of_its_options
  // cause: A block does not have this option; its joins determine the places of the norms.
  // cure: Leave it out; use `pre_norm` and `post_norm`.
  residual_block<float, hidden<16>, norm_first<true>, pre_norm<name::norm, network>>::weights r;
#elif defined CASE_block_with_a_name_twice
  // expect-gcc: "umbel: residual_block: two parts or norms have the name norm"
  // expect-clang: residual_block.*two_parts_or_norms_have_the_name.*part_name.*norm
  // cause: Two parts or norms would be the same member of the weights.
  // cure: Use a different name for each: `name::norm1`, `name::norm2`.
  residual_block<float, hidden<16>, pre_norm<name::norm, network>,
                 pre_norm<name::norm, attention>>::weights r;
#elif defined CASE_block_of_heads_that_leave_a_remainder
  // expect-gcc: "umbel: multi_head_attention: hidden=18 into heads=4 leaves a remainder of 2"
  // expect-clang: multi_head_attention.*hidden<18>.*into.*heads<4>.*leaves_a_remainder_of.*number<2>
  // cause: The hidden size is not a multiple of the heads.
  // cure: Choose a number of heads that divides it, or add `head_dim<>`.
  residual_block<float, hidden<18>, pre_norm<name::norm, attention>>::weights r;
#elif defined CASE_cache_of_a_block_that_is_refused
  // expect-gcc: "umbel: multi_head_attention: hidden=16 into heads=5 leaves a remainder of 1"
  // expect-clang: multi_head_attention.*hidden<16>.*into.*heads<5>.*leaves_a_remainder_of
  // cause: The hidden size is not a multiple of the number of heads.
  // cure: Choose heads that divide it, or set `head_dim<>`.
  using uneven =
      residual_block<float, hidden<16>,
                     pre_norm<name::norm, self_attention<name::attention, heads<5>, bias<true>>>>;
  uneven::weights uneven_weights;
  key_value_cache<uneven, key<8>> past;
#elif defined CASE_block_with_weights_of_another
  // expect-gcc: "umbel: residual_block: the weights do not match this layer and its options"
  // expect-clang: residual_block.*the_weights_do_not_match_this_layer_and_its_options
  // cause: The weights belong to a different block.
  // cure: Pass the `weights` of this block.
  auto r = gpt_j{cw}(x);
#elif defined CASE_block_without_parts
  // expect-gcc: "umbel: residual_block: needs a part; add block_parts::pre_norm<\.\.\.> or another join of namespace block_parts"
  // expect-clang: residual_block.*needs_a_part_so_add_pre_norm_or_another_join
  // cause: The block has no join.
  // cure: Add `block_parts::pre_norm<...>` or a different join.
  residual_block<float, hidden<16>>::weights r;
#elif defined CASE_block_with_workspace_of_other_sizes
  // expect-gcc: "umbel: residual_block: the workspace is for \[token=4\]; pass one for \[token=3\]"
  // expect-clang: residual_block.*the_workspace_is_for.*shape.*token<4>.*so_pass_one_for.*shape.*token<3>
  // cause: The workspace is for a different number of positions.
  // cure: Declare it with `workspace_for<block, tokens>`.
  gpt_j::workspace<token<4>> work;
  auto r = gpt_j{w}(x, causal, work);
#elif defined CASE_block_without_activation
  // expect-gcc: "umbel: feed_forward: specify activation<relu> or another; the transformer layers of torch have activation<relu>"
  // expect-clang: feed_forward.*specify.*activation_relu_or_another.*torch_transformer_layers_have.*options_are.*activation_relu
  // cause: A network has no default activation.
  // cure: Add `activation<...>` to the part.
  residual_block<float, hidden<16>,
                 pre_norm<name::norm, feed_forward_network<name::feed_forward, intermediate<32>,
                                                           bias<true>>>>::weights r;
#elif defined CASE_block_cached_without_self_attention
  // expect-gcc: "umbel: key_value_cache: the block has no self attention"
  // expect-clang: key_value_cache.*the_block_has_no_self_attention
  // cause: A cache stores the keys and values of the positions so far, but no part of the block reads them.
  // cure: Call the block itself on each position.
  key_value_cache<crossing, key<9>, longest_memory<4>> r;
#elif defined CASE_block_with_a_part_that_is_none
  // expect-gcc: "umbel: residual_block: int is not a part; use block_parts::self_attention or another part of namespace block_parts"
  // expect-clang: residual_block.*element.*int.*is_not_a_part_so_use_self_attention_or_another_of_block_parts
  // cause: The type is not a part of a block.
  // cure: Use one of namespace `umbel::block_parts`.
  residual_block<float, hidden<16>, pre_norm<name::norm, int>>::weights r;
#elif defined CASE_block_with_a_layer_for_a_part
  // expect-gcc: "umbel: residual_block: feed_forward is not a part; use block_parts::self_attention or another part of namespace block_parts"
  // expect-clang: residual_block.*feed_forward.*is_not_a_part_so_use_self_attention_or_another_of_block_parts
  // cause: A layer is not a part: a part has a name, and gets the hidden axis from its block.
  // cure: Write `feed_forward_network<name::feed_forward, intermediate<32>, ...>`.
  residual_block<float, hidden<16>,
                 pre_norm<name::norm, feed_forward<float, hidden<16>, intermediate<32>,
                                                   activation<relu>, bias<true>>>>::weights r;
#elif defined CASE_block_whose_norm_has_no_name
  // expect-gcc: "umbel: residual_block: attention is not the name of a norm; write pre_norm<name::norm, \.\.\.>"
  // expect-clang: residual_block.*part_name.*attention.*is_not_the_name_of_a_norm_so_write_pre_norm_of_name_norm
  // cause: The first argument of `pre_norm` must be the name of the norm.
  // cure: Write `pre_norm<name::norm, ...>`.
  residual_block<float, hidden<16>, pre_norm<attention, network>>::weights r;
#elif defined CASE_block_of_an_attention_of_other_widths
  // expect-gcc: "umbel: residual_block: attention has other widths than its block; leave out keys_from, values_from and output_to"
  // expect-clang: residual_block.*part_name.*attention.*has_other_widths_than_its_block_so_leave_out_keys_from_values_from_and_output_to
  // cause: The part would return rows of a different width than the sum.
  // cure: Leave out the option.
  residual_block<float, hidden<16>,
                 pre_norm<name::norm, self_attention<name::attention, heads<4>, bias<true>,
                                                     output_to<hidden<8>>>>>::weights r;
#elif defined CASE_block_whose_first_axis_is_no_hidden
  // expect-gcc: "umbel: residual_block: expected the axis hidden but got heads=4"
  // expect-clang: residual_block.*expected_the_axis.*axis_family.*hidden.*but_got.*heads<4>
  // cause: The second argument must be the hidden axis.
  // cure: Write `hidden<16>`.
  residual_block<float, heads<4>, pre_norm<name::norm, network>>::weights r;
#elif defined CASE_block_without_the_epsilon_of_its_norms
  // expect-gcc: "umbel: residual_block: rms_norm needs the epsilon of the trained model; add norm_epsilon<1, 1000000> for 1e-6"
  // expect-clang: residual_block.*rms_norm_needs_the_epsilon_of_the_model_so_add_norm_epsilon
  // cause: Models with rms_norm differ in its epsilon.
  // cure: Add `norm_epsilon<1, 1'000'000>`, the epsilon of the model.
  residual_block<float, hidden<16>, norm_by<rms_norm>, pre_norm<name::norm, network>>::weights r;
#elif defined CASE_block_scaled_by_nothing
  // expect-gcc: "umbel: residual_block: scaled needs a factor above 0"
  // expect-clang: residual_block.*scaled_needs_a_factor_above_0
  // cause: The numerator or the denominator of `scaled` is 0.
  // cure: Write both above 0: `scaled<1, 2, ...>`; to not add a part, leave it out.
  residual_block<float, hidden<16>, scaled<1, 0, pre_norm<name::norm, network>>>::weights r;
#elif defined CASE_block_scaled_without_a_sum
  // expect-gcc: "umbel: residual_block: scaled<> and layer_scale<> need a branch that is added; leave them out of no_residual and norm_only"
  // expect-clang: residual_block.*scaled_and_layer_scale_need_a_branch_that_is_added
  // cause: `no_residual` adds nothing to x, and `norm_only` has no branch.
  // cure: Leave out the factor; the following linear map or norm can contain it in its weights.
  residual_block<float, hidden<16>,
                 scaled<1, 2, no_residual<pre_norm<name::norm, network>>>>::weights r;
#elif defined CASE_block_scaled_twice
  // expect-gcc: "umbel: residual_block: a join has two factors; keep one layer_scale<>, with the product as its weights"
  // expect-clang: residual_block.*a_join_has_two_factors_so_keep_one
  // cause: Both multiply the same branch.
  // cure: Keep one `layer_scale`, with the product of both as its weights.
  residual_block<
      float, hidden<16>,
      scaled<1, 2, layer_scale<name::layer_scale, pre_norm<name::norm, network>>>>::weights r;
#elif defined CASE_block_with_two_layer_scales
  // expect-gcc: "umbel: residual_block: a join has two factors; keep one layer_scale<>, with the product as its weights"
  // expect-clang: residual_block.*a_join_has_two_factors_so_keep_one
  // cause: Both multiply the same branch.
  // cure: Keep one `layer_scale`, with the product of both as its weights.
  residual_block<
      float, hidden<16>,
      layer_scale<name::layer_scale1,
                  layer_scale<name::layer_scale2, pre_norm<name::norm, network>>>>::weights r;
#elif defined CASE_block_of_norms_only
  // expect-gcc: "umbel: residual_block: needs a part; add block_parts::pre_norm<\.\.\.> or another join of namespace block_parts"
  // expect-clang: residual_block.*needs_a_part_so_add_pre_norm_or_another_join
  // cause: The block has no join.
  // cure: Add `block_parts::pre_norm<...>` or a different join.
  residual_block<float, hidden<16>, norm_only<name::norm>>::weights r;
#elif defined CASE_block_with_a_part_among_its_joins
  // expect-gcc: "umbel: residual_block: feed_forward is not a join; write pre_norm<norm, part> or another join"
  // expect-clang: residual_block.*feed_forward.*is_not_a_join_such_as_pre_norm
  // cause: A part defines the computation of the block; a join around it defines how the result is added. `scaled` and `no_residual` modify a join.
  // cure: Write `pre_norm<name::norm, part>`, or `without_norm<part>` for a part without a norm.
  residual_block<float, hidden<16>, network>::weights r;
#elif defined CASE_block_with_a_join_for_a_part
  // expect-gcc: "umbel: residual_block: a join is not a part; write joins side by side, not nested"
  // expect-clang: residual_block.*a_join_is_not_a_part_so_write_joins_side_by_side
  // cause: Joins follow one another; only `scaled`, `layer_scale` and `no_residual` contain a join.
  // cure: Write both as arguments of `residual_block`.
  residual_block<float, hidden<16>, pre_norm<name::norm1, pre_norm<name::norm2, network>>>::weights
      r;
#elif defined CASE_block_with_the_name_of_a_range
  // expect-gcc: "umbel: residual_block: residual is a name that integer ranges use; choose another for the part"
  // expect-clang: residual_block.*part_name.*residual.*is_a_name_of_integer_ranges_so_choose_another
  // cause: The ranges of a block in integers are named after its parts, and also include `residual` and `memory`.
  // cure: Choose a different name.
  residual_block<float, hidden<16>, pre_norm<name::norm, linear_map<residual, bias<true>>>>::weights
      r;
#elif defined CASE_block_with_a_part_for_a_join
  // expect-gcc: "umbel: residual_block: feed_forward is not a join; write pre_norm<norm, part> or another join"
  // expect-clang: residual_block.*feed_forward.*is_not_a_join_such_as_pre_norm
  // cause: A part defines the computation of the block; a join around it defines how the result is added. `scaled` and `no_residual` modify a join.
  // cure: Write `pre_norm<name::norm, part>`, or `without_norm<part>` for a part without a norm.
  residual_block<float, hidden<16>, scaled<1, 2, network>>::weights r;
#elif defined CASE_block_with_a_join_of_nothing
  // expect-gcc: "umbel: residual_block: a join has no part; add one, or write norm_only<norm>"
  // expect-clang: residual_block.*a_join_has_no_part_so_add_one_or_write_norm_only_of_the_norm
  // cause: The norm is not followed by a part.
  // cure: Add the part: `pre_norm<name::norm, part>`.
  residual_block<float, hidden<16>, pre_norm<name::norm>>::weights r;
#elif defined CASE_block_with_a_layer_for_a_join
  // expect-gcc: "umbel: residual_block: feed_forward is not one of its options"
  // expect-clang: residual_block.*feed_forward.*is_not_one_of_its_options
  // cause: A block does not have this option; its joins determine the places of the norms.
  // cure: Leave it out; use `pre_norm` and `post_norm`.
  using layer = feed_forward<float, hidden<16>, intermediate<32>, activation<relu>, bias<true>>;
  residual_block<float, hidden<16>, layer>::weights r;
#elif defined CASE_block_of_integers
  // expect-gcc: "umbel: residual_block: needs float or double, not int"
  // expect-clang: residual_block.*needs_float_or_double_not.*element.*int
  // cause: Blocks compute with float or double.
  // cure: For integers, use `quantized<block>`.
  residual_block<int, hidden<16>, pre_norm<name::norm, network>>::weights r;
#elif defined CASE_block_whose_layer_is_not_there
  // expect-gcc: "umbel: residual_block: has no part called cross_attention"
  // expect-clang: residual_block.*has_no_part_called.*part_name.*cross_attention
  // cause: The block has no part with that name.
  // cure: Use a name from the list of the block.
  using r = gpt_j::layer_of<name::cross_attention>;
#elif defined CASE_pruned_block_without_that_attention
  // expect-gcc: "umbel: residual_block: has no part called cross_attention"
  // expect-clang: residual_block.*has_no_part_called.*part_name.*cross_attention
  // cause: The block has no part with that name.
  // cure: Use a name from the list of the block.
  using r = pruned<gpt_j, name::cross_attention, prune_heads<1>>;
#elif defined CASE_block_masked_for_other_sizes
  // expect-gcc: "umbel: residual_block: keep_mask has key=4 but the scores have \[heads=4, query=3, key=3\]"
  // expect-clang: residual_block.*keep_mask.*has.*key<4>.*but_the_scores_have.*shape.*heads<4>.*query<3>.*key<3>
  // cause: The mask has a different number of keys than the sequence has positions.
  // cure: The mask needs as many keys as x has positions.
  static const tensor<bool, query<3>, key<4>> keep{};
  auto r = gpt_j{w}(x, keep_mask(keep));
#elif defined CASE_formula_of_rows_that_goes_along_them
  // expect-gcc: "umbel: residual_block: the formula of mixer may read other rows, along token or in a function it calls; compute each row of the result from its row of x"
  // expect-clang: residual_block.*the_formula_of.*part_name.*mixer.*may_read_other_rows_so_compute_each_row_from_its_row_of_x
  // cause: The formula sums, compares or numbers positions, or calls a layer or function that may. A cache, or several workers, compute some of them at a time.
  // cure: Work along `hidden` or an axis of the weights; to mix positions, write an attention, or the block as a separate formula.
  formula_block<decltype(mix), scales>::weights r;
#elif defined CASE_formula_of_rows_that_depends_on_their_number
  // expect-gcc: "umbel: residual_block: a formula depends on the number of rows; write the same operations for any"
  // expect-clang: residual_block.*a_formula_depends_on_the_number_of_rows_so_write_the_same_operations_for_any
  // lines-clang: 30
  // lines-gcc: 16
  // cause: The function has other operations for so many rows. A cache and several workers compute few rows at a time, and would get other results.
  // cure: Leave out the branch on the size of `token`; to mix positions, write an attention.
  formula_block<decltype(branch), scales>::weights some{};
  const tensor<float, token<6>, hidden<16>> six{};
  auto r = formula_block<decltype(branch), scales>{some}(six);
#elif defined CASE_formula_of_rows_of_another_width
  // expect-gcc: "umbel: residual_block: the formula of mixer returns \[token=2, intermediate=24\] but must return \[token=2, hidden=16\]"
  // expect-clang: residual_block.*the_formula_of.*part_name.*mixer.*returns.*token<2>.*intermediate<24>.*but_must_return.*token<2>.*hidden<16>
  // cause: The result of a part is added to x, so it must have the axes of x. (`token`: the rows, here two of them.)
  // cure: Map it back to the hidden axis, `... * w.down`.
  formula_block<decltype(widen), widened>::weights r;
#elif defined CASE_formula_of_rows_without_a_formula
  // expect-gcc: "umbel: residual_block: mixer needs a formula; write row_formula<name, decltype\(f\), weights\.\.\.>, f a constexpr formula"
  // expect-clang: residual_block.*part_name.*mixer.*needs_a_formula_so_write_decltype_of_one
  // cause: The second argument is not the type of a formula.
  // cure: Declare `constexpr formula f = [](auto x, const auto& w) {...};` and write `decltype(f)`.
  formula_block<scales>::weights r;
#elif defined CASE_formula_of_rows_without_weights
  // expect-gcc: "umbel: residual_block: mixer needs a weight of its formula; add weight<name, axes\.\.\.> or linear_map<name, in, out, bias<\.\.\.>>"
  // expect-clang: residual_block.*part_name.*mixer.*needs_a_weight_of_its_formula_so_add_one
  // cause: A part has weights, which are the second argument of its formula.
  // cure: Name them after the formula.
  formula_block<decltype(gate)>::weights r;
#elif defined CASE_formula_of_rows_with_what_is_no_weight
  // expect-gcc: "umbel: residual_block: feed_forward is not a weight of a formula; write weight<name, axes\.\.\.> or linear_map<name, in, out, bias<\.\.\.>>"
  // expect-clang: residual_block.*part_name.*feed_forward.*is_not_a_weight_of_a_formula_write_weight_or_linear_map
  // cause: The weights of a formula are tensors and linear maps.
  // cure: Write `weight<name, axes...>` or `linear_map<name, in, out, bias<...>>`.
  formula_block<decltype(gate), network>::weights r;
#elif defined CASE_formula_of_rows_with_a_weight_twice
  // expect-gcc: "umbel: residual_block: mixer has two weights called scale"
  // expect-clang: residual_block.*part_name.*mixer.*has_two_weights_called.*part_name.*scale
  // cause: Two weights would be the same member of `w`.
  // cure: Use a different name for each; `UMBEL_PART_NAME` declares more.
  formula_block<decltype(gate), scales, scales>::weights r;
#elif defined CASE_formula_of_rows_with_weights_of_other_sizes
  // expect-gcc: "umbel: residual_block: part 1 of the weights has \[hidden=15\] but the layer needs \[hidden=16\]"
  // expect-clang: residual_block.*part.*number<1>.*of_the_weights_has.*hidden<15>.*but_the_layer_needs.*hidden<16>
  // cause: The weights of the formula have different axes than its block declares.
  // cure: Pass weights with the axes of `weight<>` and `linear_map<>`, in their order.
  using narrow_gate = row_formula<mixer, decltype(gate), weight<name::scale, hidden<15>>>;
  static const residual_block<float, hidden<15>, without_norm<narrow_gate>>::weights other{};
  auto r = gated_rows{other}(x);
#else
  auto r = gpt_j{w}(x, causal);
  auto s = crossing{cw}(x, memory, self_mask(causal));
  key_value_cache<gpt_j, key<9>> past;
  static const gated_rows::weights gw{};
  auto t = gated_rows{gw}(x);
  (void)r, (void)s, (void)past, (void)t;
#endif
}
