// SPDX-License-Identifier: BSL-1.0
// Mistakes with layers in formulas (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using tokens = tensor<float, token<7>, hidden<16>>;
using wide_tokens = tensor<float, token<7>, hidden<20>>;
using norm = layer_norm<float, hidden<16>>;
using attention = multi_head_attention<float, hidden<16>, heads<4>>;
struct model {
  norm::weights first;
  attention::weights attend;
  float scale;
  tensor<bool, key<7>> flags;
};

[[maybe_unused]] static void cases(const tokens& x, const model& w) {
  wide_tokens wide{};
  tensor<int> lengths{7};
  constexpr formula normed = [](auto a, const auto& f) { return f(a); };
  (void)wide, (void)lengths;
  const auto ok = normed(x, norm{w.first});
#if defined CASE_formula_norm_of_other_width
  // expect-gcc: "umbel: layer_norm: the input has hidden=20 but the weights expect hidden=16"
  // expect-clang: layer_norm, .*the_input_has, .*hidden<20>, .*but_the_weights_expect, .*hidden<16>
  // cause: The rule of the layer also holds in formulas: the input has a different width than the weights.
  // cure: Call a layer of this width.
  auto r = normed(wide, norm{w.first});
#elif defined CASE_formula_attention_of_other_width
  // expect-gcc: "umbel: multi_head_attention: the sequence has hidden=20 but the layer has hidden=16"
  // expect-clang: multi_head_attention, .*the_sequence, .*has, .*hidden<20>, .*but_the_layer_has, .*hidden<16>
  // cause: The rule of the layer also holds in formulas: the sequence has a different width than the layer.
  // cure: Call a layer of this width.
  auto r = normed(wide, attention{w.attend});
#elif defined CASE_formula_mask_of_a_part
  // expect-gcc: "umbel: multi_head_attention: needs masks made from arguments of the formula; pass this one as an argument, f\(x, mask\)"
  // expect-clang: multi_head_attention, .*needs_masks_made_from_arguments_of_the_formula_so_pass_this_one_as_an_argument>
  // cause: The mask is made from a tensor of bool or integers that is a part of an argument, or from a function with captures; neither is known when the formula runs.
  // cure: Pass that tensor, or the mask, as an argument of the formula: `f(x, w, keep_mask(w.flags))`.
  constexpr formula masked = [](auto a, const auto& of) {
    return attention{of.attend}(a, causal & keep_mask(of.flags));
  };
  auto r = masked(x, w);
#elif defined CASE_formula_mask_of_four_tensors
  // expect-gcc: "umbel: multi_head_attention: needs masks made from at most 3 tensors in a formula; pass this one as an argument, f\(x, mask\)"
  // expect-clang: multi_head_attention, .*needs_masks_made_from_at_most_3_tensors_in_a_formula_so_pass_this_one_as_an_argument>
  // cause: A mask that a formula makes passes its tensors to the layer's call, which has room for three.
  // cure: Make the mask outside and pass it: `f(x, w, lens & keep_mask(m) & score_bias(b) & drop_mask(p))`.
  constexpr formula masked = [](auto a, const auto& of, auto l) {
    return attention{of.attend}(a, l & causal_at(l) & alibi_at(l) & sliding_window_at<2>(l));
  };
  auto r = masked(x, w, lengths);
#elif defined CASE_formula_mask_or_mask
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // lines-clang: 15
  // lines-gcc-14: 17
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  constexpr formula masked = [](auto a, const auto& of, auto flags) {
    return attention{of.attend}(a, flags | causal);
  };
  auto r = masked(x, w, causal);
#elif defined CASE_formula_lengths_or_mask
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // lines-clang: 15
  // lines-gcc-14: 17
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  constexpr formula masked = [](auto a, const auto& of, auto lens) {
    return attention{of.attend}(a, lens | causal);
  };
  auto r = masked(x, w, lengths);
#elif defined CASE_formula_kept_plus_a_number
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // lines-clang: 15
  // lines-gcc-14: 17
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  constexpr formula masked = [](auto a, const auto& of, auto kept) {
    return attention{of.attend}(a, keep_mask(kept) + 1.0f);
  };
  auto r = masked(x, w, tensor<bool, key<7>>{});
#elif defined CASE_formula_kept_not
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // lines-clang: 15
  // lines-gcc-14: 17
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  constexpr formula masked = [](auto a, const auto& of, auto kept) {
    return attention{of.attend}(a, !keep_mask(kept));
  };
  auto r = masked(x, w, tensor<bool, key<7>>{});
#elif defined CASE_formula_kept_and_position
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask.*masks_combine_only_with_masks_by_and_or_plus
  // lines-clang: 15
  // lines-gcc-14: 17
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  constexpr formula masked = [](auto a, const auto& of, auto kept) {
    return attention{of.attend}(a, keep_mask(kept) & position<key>);
  };
  auto r = masked(x, w, tensor<bool, key<7>>{});
#elif defined CASE_formula_keep_mask_of_two
  // expect-gcc: "umbel: keep_mask: expects one tensor or view"
  // expect-clang: keep_mask, .*expects_one_tensor_or_view
  // lines-clang: 15
  // cause: A mask is made from one tensor or view.
  // cure: Combine two masks with `&`: `keep_mask(a) & keep_mask(b)`.
  constexpr formula masked = [](auto a, const auto& of, auto kept) {
    return attention{of.attend}(a, keep_mask(kept, kept));
  };
  auto r = masked(x, w, tensor<bool, key<7>>{});
#elif defined CASE_formula_causal_called
  // expect-gcc: "umbel: mask: causal, sliding_window<4> and alibi are values; do not call them, but write lens & causal, causal_at\(p\) or causal_bottom_right\(lens\)"
  // expect-clang: mask, .*masks_by_position_are_values_so_do_not_call_them_but_write_lens_and_causal>
  // lines-clang: 15
  // cause: A mask by position is an object, which is passed as it is.
  // cure: Write it without parentheses; combine it with others by `&`; to set the position of the queries, write `causal_at(p)` or `causal_bottom_right(lens)`, and likewise for `sliding_window` and `alibi`.
  constexpr formula masked = [](auto a, const auto& of, auto lens) {
    return attention{of.attend}(a, causal(lens));
  };
  auto r = masked(x, w, lengths);
#elif defined CASE_formula_mask_and_assigned
  // expect-gcc: "umbel: mask: masks are immutable; write auto both = a & b"
  // expect-clang: mask, .*masks_are_immutable_so_write_auto_both>
  // lines-clang: 15
  // lines-gcc-14: 17
  // cause: A combined mask has its own type, so that the kernel knows all its parts.
  // cure: Declare a new variable, `auto both = lens & causal;`.
  constexpr formula masked = [](auto a, const auto& of, auto kept) {
    auto mask = keep_mask(kept);
    mask &= causal;
    return attention{of.attend}(a, mask);
  };
  auto r = masked(x, w, tensor<bool, key<7>>{});
#elif defined CASE_formula_branches_before_a_projection
  // expect-gcc: "umbel: formula: cannot branch on a condition, which has no value yet; write where\(condition, a, b\), or maximum\(a, b\) for std::max"
  // expect-clang: formula, .*cannot_branch_on_a_condition_so_write_where>
  // lines-gcc-14: 17
  // cause: if, ?: and && of C++ need a value while the formula is traced, but the values exist only later, one for each element.
  // cure: Write `where(condition, a, b)`.
  constexpr formula chosen = [](auto a, const auto& of) {
    if (a > 0) return a * of.attend.q;
    return a * of.attend.k;
  };
  auto r = chosen(x, w);
#elif defined CASE_formula_weights_left_of_the_tensor
  // expect-gcc: "umbel: x \* weights: the tensor goes on the left of \*, its weights on the right"
  // expect-clang: x_times_weights, .*the_tensor_goes_on_the_left_of_its_weights
  // cause: Features are rows here, so the product is x W, not W x.
  // cure: Write `x * w.q`.
  constexpr formula projected = [](auto a, const auto& of) { return of.attend.q * a; };
  auto r = projected(x, w);
#elif defined CASE_formula_times_all_weights
  // expect-gcc: "umbel: elementwise: the weights of multi_head_attention have several parts; name one, x \* w\.q"
  // expect-clang: elementwise, .*the_weights_of, .*multi_head_attention.*have_several_parts_so_name_one
  // lines-clang: 18
  // cause: A layer has several maps, and a tensor is projected by one of them.
  // cure: Write `x * w.q`.
  constexpr formula projected = [](auto a, const auto& of) { return a * of.attend; };
  auto r = projected(x, w);
#elif defined CASE_formula_pipe_into_weights
  // expect-gcc: "umbel: x \* weights: needs \*, not \|"
  // expect-clang: x_times_weights, .*needs_times_not_a_pipe
  // cause: Weights are not a function; a tensor is multiplied by them.
  // cure: Write `x * w.q`, or pipe the tensor into the layer that has the weights.
  constexpr formula projected = [](auto a, const auto& of) { return a | of.attend.q; };
  auto r = projected(x, w);
#elif defined CASE_formula_adds_an_array
  // expect-gcc: "umbel: elementwise: expects two tensors or views, or one and a number, but argument 2 is float \[16\]"
  // expect-clang: elementwise, .*expects_two_tensors_or_views_or_one_and_a_number
  // lines-clang: 18
  // cause: One side is not a tensor, view or number, but an array, a vector or all weights of a layer.
  // cure: View the memory, `view_as<queries>(array)`; to project a tensor, write `x * w.q` with one part of the weights.
  constexpr formula sum = [](auto a, const auto& b) { return a + b; };
  const float array[16] = {};
  auto r = sum(x, array);
#elif defined CASE_formula_mask_of_other_axes
  // expect-gcc: "umbel: multi_head_attention: keep_mask has token=7 but the scores have \[heads=4, query=7, key=7\]"
  // expect-clang: multi_head_attention, .*keep_mask, .*has, .*token<7>, .*but_the_scores_have, .*heads<4>, .*query<7>, .*key<7>
  // cause: The mask has an axis that scores do not have, which could be the queries or the keys.
  // cure: Rename it to query or key, `m | rename_axis<token, key>` for a padding mask.
  constexpr formula masked = [](auto a, const auto& of, auto kept) {
    return attention{of.attend}(a, keep_mask(kept));
  };
  auto r = masked(x, w, tensor<bool, token<7>>{});
#elif defined CASE_formula_given_mask_of_other_sizes
  // expect-gcc: "umbel: multi_head_attention: keep_mask has key=8 but the scores have \[heads=4, query=7, key=7\]"
  // expect-clang: multi_head_attention, .*keep_mask, .*has, .*key<8>, .*but_the_scores_have, .*heads<4>, .*query<7>, .*key<7>
  // cause: The mask has a different number of positions along this axis; query and key may be swapped.
  // cure: Use the size of the scores, or 1.
  constexpr formula masked = [](auto a, const auto& of, auto mask) {
    return attention{of.attend}(a, mask & causal);
  };
  auto r = masked(x, w, keep_mask(tensor<bool, key<8>>{}));
#elif defined CASE_formula_mask_of_a_condition
  // expect-gcc: "umbel: formula: keep_mask and drop_mask need a tensor of bool that is an argument; for other conditions write out the attention with hide\(scores, condition\)"
  // expect-clang: formula, .*keep_mask_needs_an_argument_of_bool_so_write_hide_of_scores_for_conditions>
  // cause: Layers read the bytes of a mask, but a condition computed in a formula has none.
  // cure: Pass a tensor of bool, or write out the attention: `softmax<key>(hide(scores, condition))` accepts any condition.
  constexpr formula masked = [](auto a, const auto& of, auto numbers) {
    return attention{of.attend}(a, keep_mask(numbers > 0));
  };
  auto r = masked(x, w, tensor<float, key<7>>{});
#elif defined CASE_formula_mask_of_positions
  // expect-gcc: "umbel: formula: keep_mask and drop_mask need a tensor of bool that is an argument; for other conditions write out the attention with hide\(scores, condition\)"
  // expect-clang: formula, .*keep_mask_needs_an_argument_of_bool_so_write_hide_of_scores_for_conditions>
  // cause: Layers read the bytes of a mask, but a condition computed in a formula has none.
  // cure: Pass a tensor of bool, or write out the attention: `softmax<key>(hide(scores, condition))` accepts any condition.
  constexpr formula masked = [](auto a, const auto& of) {
    return attention{of.attend}(a, drop_mask(position<key> > position<query>));
  };
  auto r = masked(x, w);
#elif defined CASE_formula_bias_by_a_position
  // expect-gcc: "umbel: formula: uses positions along query, but no operand has that axis"
  // expect-clang: formula, .*uses_positions_along, .*query>, .*but_no_operand_has_that_axis>
  // cause: position<key> is the number of each position on an axis, but no operand here has that axis.
  // cure: Combine it with a tensor that has the axis, or name a different axis; `positions_along<key<6>>` brings its own.
  constexpr formula biased = [](auto a, const auto& of, auto b) {
    return attention{of.attend}(a, score_bias(b - position<query>));
  };
  auto r = biased(x, w, tensor<float, key<7>>{});
#elif defined CASE_formula_dropout_by_a_seed
  // expect-gcc: "umbel: formula: dropout cannot be made from the arguments; pass the mask as an argument, f\(x, mask\)"
  // expect-clang: formula, .*dropout, .*cannot_be_made_from_arguments_so_pass_the_mask_as_an_argument>
  // lines-clang: 15
  // cause: Number arguments of a formula have its element type, and a seed has more bits than a float; `observe` writes its memory, but arguments are only read.
  // cure: Make the mask outside: `f(x, w, dropout(0.1, seed))`, and in the formula write `layer(x, mask & causal)`.
  constexpr formula dropping = [](auto a, const auto& of, auto number) {
    return attention{of.attend}(a, dropout(0.1, number));
  };
  auto r = dropping(x, w, 42);
#elif defined CASE_formula_dropout_without_a_seed
  // expect-gcc: "umbel: dropout: expects the rate, a fraction, then the seed, an integer, as in dropout\(0\.1, 42\)"
  // expect-clang: dropout, .*expects_the_rate_then_the_seed_as_in_dropout_of_one_tenth_and_42
  // lines-gcc: 20
  // cause: Rate and seed are swapped, or one is missing.
  // cure: Write `dropout(0.1, 42)`, with the rate first.
  constexpr formula dropping = [](auto a, const auto& of) {
    return attention{of.attend}(a, dropout(1.5));
  };
  auto r = dropping(x, w);
#elif defined CASE_formula_observes
  // expect-gcc: "umbel: formula: observe cannot be made from the arguments; pass the mask as an argument, f\(x, mask\)"
  // expect-clang: formula, .*observe, .*cannot_be_made_from_arguments_so_pass_the_mask_as_an_argument>
  // lines-clang: 18
  // cause: Number arguments of a formula have its element type, and a seed has more bits than a float; `observe` writes its memory, but arguments are only read.
  // cure: Make the mask outside: `f(x, w, dropout(0.1, seed))`, and in the formula write `layer(x, mask & causal)`.
  constexpr formula observing = [](auto a, const auto& of, auto seen) {
    return attention{of.attend}(a, observe(seen));
  };
  auto r = observing(x, w, tensor<float, heads<4>, query<7>, key<7>>{});
#elif defined CASE_formula_hides_by_a_mask
  // expect-gcc: "umbel: formula: masks are arguments of layers; for scores write hide\(scores, position<key> > position<query>\), hide\(scores, !kept\) or scores \+ bias"
  // expect-clang: formula, .*masks_are_arguments_of_layers_so_hide_scores_or_add_a_bias>
  // lines-clang: 15
  // cause: A mask such as `causal` or `keep_mask(m)` is an argument of a layer; attention that is written out uses conditions and numbers.
  // cure: Hide scores by a condition, `hide(scores, position<key> > position<query>)`, or by a tensor of bool, `hide(scores, !kept)`; add a bias, `scores + bias`.
  constexpr formula hidden_by = [](auto a, auto mask) {
    return softmax<key>(
        hide(contract<hidden>(a | rename_axis<token, query>, a | rename_axis<token, key>), mask));
  };
  auto r = hidden_by(x, causal);
#elif defined CASE_formula_adds_a_mask
  // expect-gcc: "umbel: formula: masks are arguments of layers; for scores write hide\(scores, position<key> > position<query>\), hide\(scores, !kept\) or scores \+ bias"
  // expect-clang: formula, .*masks_are_arguments_of_layers_so_hide_scores_or_add_a_bias>
  // cause: A mask such as `causal` or `keep_mask(m)` is an argument of a layer; attention that is written out uses conditions and numbers.
  // cure: Hide scores by a condition, `hide(scores, position<key> > position<query>)`, or by a tensor of bool, `hide(scores, !kept)`; add a bias, `scores + bias`.
  constexpr formula biased = [](auto a, auto b) { return a + score_bias(b); };
  auto r = biased(x, tensor<float, token<7>>{});
#elif defined CASE_formula_makes_weights
  // expect-gcc: "umbel: formula: uses a tensor that is not part of any argument; pass it as an argument"
  // expect-clang: formula, .*uses_a_tensor_that_is_not_part_of_any_argument_so_pass_it_as_an_argument>
  // cause: A tensor that the function creates is destroyed before the formula runs.
  // cure: Pass it as an argument of the formula; a single number may be a literal.
  constexpr formula of_new = [](auto a) {
    const norm::weights own{};
    return norm{own}(a);
  };
  auto r = of_new(x);
#elif defined CASE_formula_workspace_of_a_layer
  // expect-gcc: "umbel: formula: has one workspace for all layers; pass none to a layer"
  // expect-clang: formula, .*has_one_workspace_for_all_layers_so_pass_none_to_a_layer>
  // cause: The workspace of the formula contains the scratch memory of its layers.
  // cure: Pass the workspace of the formula, `workspace_for<decltype(f), X, W>`, to the call of the formula.
  static attention::workspace<token<7>> work;
  constexpr formula attended = [](auto a, const auto& of) {
    return attention{of.attend}(a, causal, work);
  };
  auto r = attended(x, w);
#elif defined CASE_formula_into
  // expect-gcc: "umbel: formula: into writes memory, which formulas do not have; write auto y = layer\(x\)"
  // expect-clang: formula, .*into_writes_memory_which_formulas_do_not_have_so_write_layer_of_x>
  // lines-gcc-14: 17
  // cause: While a formula is traced there is no memory; the stored values are chosen later.
  // cure: Write `auto y = layer(x)`.
  constexpr formula written = [](auto a, const auto& of) {
    norm{of.first}.into(a, a);
    return a;
  };
  auto r = written(x, w);
#elif defined CASE_formula_temporary_weights
  // expect-gcc: "umbel: layer_norm: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: layer_norm, .*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable>
  // lines-gcc-14: 17
  // cause: A layer borrows its weights, but these are destroyed at the end of the statement.
  // cure: Store them in a variable that lives as long as the layer, preferably `static const`.
  constexpr formula of_new = [](auto a) { return norm{norm::weights{}}(a); };
  auto r = of_new(x);
#elif defined CASE_formula_packs_weights
  // expect-gcc: "umbel: formula: copies a part of an argument or uses it alone, before it has a value; pass that part as a separate argument, the object as const auto& w; a function that it calls must be constexpr"
  // expect-clang: formula, .*copies_a_part_of_an_argument_or_uses_it_alone_so_pass_it_separately_and_the_object_as_const_auto>
  // cause: A formula is traced at compile time. Then weights and numbers in an argument have no values, nor have the results computed only from them: `exp(w.gain)`, `one_hot<classes<9>>(w.ids)`.
  // cure: Declare weights as `const auto& w`, and pack them outside. Pass numbers, and tensors that are used alone, as separate arguments, or combine a part with a tensor first: `x + w.gain`, `contract<head_dim>(x, w.table)`.
  constexpr formula packing = [](auto a, const auto& of) {
    return prepacked<attention>{of.attend}(a);
  };
  auto r = packing(x, w);
#elif defined CASE_formula_reads_a_number
  // expect-gcc: "umbel: formula: copies a part of an argument or uses it alone, before it has a value; pass that part as a separate argument, the object as const auto& w; a function that it calls must be constexpr"
  // expect-clang: formula, .*copies_a_part_of_an_argument_or_uses_it_alone_so_pass_it_separately_and_the_object_as_const_auto>
  // cause: A formula is traced at compile time. Then weights and numbers in an argument have no values, nor have the results computed only from them: `exp(w.gain)`, `one_hot<classes<9>>(w.ids)`.
  // cure: Declare weights as `const auto& w`, and pack them outside. Pass numbers, and tensors that are used alone, as separate arguments, or combine a part with a tensor first: `x + w.gain`, `contract<head_dim>(x, w.table)`.
  constexpr formula scaled = [](auto a, const auto& of) { return a * of.scale; };
  auto r = scaled(x, w);
#elif defined CASE_formula_layer_by_value
  // expect-gcc: "umbel: formula: copies a part of an argument or uses it alone, before it has a value; pass that part as a separate argument, the object as const auto& w; a function that it calls must be constexpr"
  // expect-clang: formula, .*copies_a_part_of_an_argument_or_uses_it_alone_so_pass_it_separately_and_the_object_as_const_auto>
  // cause: A formula is traced at compile time. Then weights and numbers in an argument have no values, nor have the results computed only from them: `exp(w.gain)`, `one_hot<classes<9>>(w.ids)`.
  // cure: Declare weights as `const auto& w`, and pack them outside. Pass numbers, and tensors that are used alone, as separate arguments, or combine a part with a tensor first: `x + w.gain`, `contract<head_dim>(x, w.table)`.
  constexpr formula by_value = [](auto a, auto f) { return f(a); };
  auto r = by_value(x, norm{w.first});
#elif defined CASE_formula_layer_of_other_weights
  // expect-gcc: "umbel: multi_head_attention: the weights do not match this layer and its options; they are model"
  // expect-clang: multi_head_attention, .*the_weights_do_not_match_this_layer_and_its_options, .*they_have_type, .*given<model>
  // lines-clang: 15
  // lines-gcc-14: 18
  // cause: The layer got a different object than its weights, such as the weights of all layers.
  // cure: Name the part: `attention{w.attention}`.
  constexpr formula of_all = [](auto a, const auto& of) { return attention{of}(a); };
  auto r = of_all(x, w);
#elif defined CASE_formula_decoder_without_self_mask
  // expect-gcc: "umbel: decoder_layer: needs a self_mask; add self_mask\(causal\), as torch has with tgt_is_causal or generate_square_subsequent_mask, or self_mask\(all_keys\), as torch has without tgt_mask"
  // expect-clang: decoder_layer, .*needs_a_self_mask_so_add_self_mask_causal_or_self_mask_all_keys_as_torch_has_without_tgt_mask>
  // cause: The call does not specify which positions of itself the sequence sees, and frameworks differ.
  // cure: After the memory and its mask, pass `self_mask(causal)` if no position may see a later one, `self_mask(all_keys)` if all may.
  using decoder = decoder_layer<float, hidden<16>, heads<4>, intermediate<24>, norm_first<true>,
                                activation<relu>, bias<true>>;
  static decoder::weights of_decoder;
  constexpr formula decoded = [](auto a, auto memory, const auto& of) {
    return decoder{of}(a, memory);
  };
  auto r = decoded(x, x, of_decoder);
#endif
}
