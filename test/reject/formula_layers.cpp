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
  // lines-clang: 15
  // cause: The layer's own rule, as outside of formulas: the input has another width than its weights.
  // cure: Call the layer that was made for this width.
  auto r = normed(wide, norm{w.first});
#elif defined CASE_formula_attention_of_other_width
  // expect-gcc: "umbel: multi_head_attention: the sequence has hidden=20 but the layer has hidden=16"
  // expect-clang: multi_head_attention, .*the_sequence, .*has, .*hidden<20>, .*but_the_layer_has, .*hidden<16>
  // lines-clang: 15
  // cause: The layer's own rule, as outside of formulas: the sequence has another width than the layer.
  // cure: Call the layer that was made for this width.
  auto r = normed(wide, attention{w.attend});
#elif defined CASE_formula_mask_with_a_number
  // expect-gcc: "umbel: multi_head_attention: takes masks in a formula that are constants, such as causal, or lengths that are an argument"
  // expect-clang: multi_head_attention, .*takes_masks_in_a_formula_that_are_constants_such_as_causal_or_lengths_that_are_an_argument>
  // lines-clang: 15
  // cause: A mask with a number or memory of its own would end with the formula's function; of lengths one tensor is enough, their minimum.
  // cure: Pass lengths as an argument of the formula, `f(x, lens & causal)`; call a layer with other masks outside.
  constexpr formula behind = [](auto a, const auto& of) {
    return attention{of.attend}(a, causal_at(3));
  };
  auto r = behind(x, w);
#elif defined CASE_formula_two_lengths
  // expect-gcc: "umbel: multi_head_attention: takes masks in a formula that are constants, such as causal, or lengths that are an argument"
  // expect-clang: multi_head_attention, .*takes_masks_in_a_formula_that_are_constants_such_as_causal_or_lengths_that_are_an_argument>
  // lines-clang: 15
  // cause: A mask with a number or memory of its own would end with the formula's function; of lengths one tensor is enough, their minimum.
  // cure: Pass lengths as an argument of the formula, `f(x, lens & causal)`; call a layer with other masks outside.
  constexpr formula twice = [](auto a, const auto& of, auto l) {
    return attention{of.attend}(a, l & causal & l);
  };
  auto r = twice(x, w, lengths);
#elif defined CASE_formula_keep_mask
  // expect-gcc: "umbel: formula: keep_mask is no word of formulas; write its operations, or call it outside"
  // expect-clang: formula, .*keep_mask, .*is_no_word_of_formulas_so_write_its_operations>
  // lines-clang: 18
  // cause: In a formula, layers take lengths and masks that are constants.
  // cure: Pass lengths, or write the attention out: `hide(scores, !kept)` takes any condition.
  constexpr formula masked = [](auto a, const auto& of, auto kept) {
    return attention{of.attend}(a, keep_mask(kept));
  };
  auto r = masked(x, w, tensor<bool, key<7>>{});
#elif defined CASE_formula_workspace_of_a_layer
  // expect-gcc: "umbel: formula: has one workspace for all; pass none to a layer"
  // expect-clang: formula, .*has_one_workspace_for_all_so_pass_none_to_a_layer>
  // lines-clang: 15
  // cause: The scratch of layers is part of the formula's workspace.
  // cure: Pass the formula's workspace, `workspace_for<decltype(f), X, W>`, to its call.
  static attention::workspace<token<7>> work;
  constexpr formula attended = [](auto a, const auto& of) {
    return attention{of.attend}(a, causal, work);
  };
  auto r = attended(x, w);
#elif defined CASE_formula_into
  // expect-gcc: "umbel: formula: into writes memory, and formulas have none; take the value of a call, layer\(x\)"
  // expect-clang: formula, .*into_writes_memory_and_formulas_have_none_so_take_the_value_of_a_call>
  // lines-clang: 15
  // cause: While a formula is traced there is no memory; what is stored is decided later.
  // cure: Write `auto y = layer(x)`.
  constexpr formula written = [](auto a, const auto& of) {
    norm{of.first}.into(a, a);
    return a;
  };
  auto r = written(x, w);
#elif defined CASE_formula_temporary_weights
  // expect-gcc: "umbel: layer_norm: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: layer_norm, .*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable>
  // cause: A layer borrows its weights, and these end with the statement.
  // cure: Give them a name that lives as long as the layer, best `static const`.
  constexpr formula of_new = [](auto a) { return norm{norm::weights{}}(a); };
  auto r = of_new(x);
#elif defined CASE_formula_packs_weights
  // expect-gcc: "umbel: formula: reads or copies a part of an argument, which has no value yet; write const auto& w, and pass that part as an argument of its own"
  // expect-clang: formula, .*reads_or_copies_a_part_of_an_argument_which_has_no_value_yet_so_write_const_auto_and_pass_it_as_an_argument>
  // cause: A formula is traced when the program is compiled: weights and numbers in an argument have no values then, nor has what is computed of nothing but them, `exp(w.gain)`.
  // cure: Take weights as `const auto& w`, and pack them outside; pass numbers, and tensors that are needed by themselves, as arguments of their own; or combine a part with a tensor first: `x + w.gain`, `contract<head_dim>(x, w.table)`.
  constexpr formula packing = [](auto a, const auto& of) {
    return prepacked<attention>{of.attend}(a);
  };
  auto r = packing(x, w);
#elif defined CASE_formula_reads_a_number
  // expect-gcc: "umbel: formula: reads or copies a part of an argument, which has no value yet; write const auto& w, and pass that part as an argument of its own"
  // expect-clang: formula, .*reads_or_copies_a_part_of_an_argument_which_has_no_value_yet_so_write_const_auto_and_pass_it_as_an_argument>
  // cause: A formula is traced when the program is compiled: weights and numbers in an argument have no values then, nor has what is computed of nothing but them, `exp(w.gain)`.
  // cure: Take weights as `const auto& w`, and pack them outside; pass numbers, and tensors that are needed by themselves, as arguments of their own; or combine a part with a tensor first: `x + w.gain`, `contract<head_dim>(x, w.table)`.
  constexpr formula scaled = [](auto a, const auto& of) { return a * of.scale; };
  auto r = scaled(x, w);
#elif defined CASE_formula_layer_by_value
  // expect-gcc: "umbel: formula: reads or copies a part of an argument, which has no value yet; write const auto& w, and pass that part as an argument of its own"
  // expect-clang: formula, .*reads_or_copies_a_part_of_an_argument_which_has_no_value_yet_so_write_const_auto_and_pass_it_as_an_argument>
  // cause: A formula is traced when the program is compiled: weights and numbers in an argument have no values then, nor has what is computed of nothing but them, `exp(w.gain)`.
  // cure: Take weights as `const auto& w`, and pack them outside; pass numbers, and tensors that are needed by themselves, as arguments of their own; or combine a part with a tensor first: `x + w.gain`, `contract<head_dim>(x, w.table)`.
  constexpr formula by_value = [](auto a, auto f) { return f(a); };
  auto r = by_value(x, norm{w.first});
#elif defined CASE_formula_layer_of_other_weights
  // expect-gcc: "umbel: multi_head_attention: the weights belong to another layer or other options; they are model"
  // expect-clang: multi_head_attention, .*the_weights_belong_to_another_layer_or_other_options, .*they_are_of_type, .*given<model>
  // lines-clang: 15
  // cause: The layer was given something else than its weights, such as those of all layers.
  // cure: Name the part: `attention{w.attention}`.
  constexpr formula of_all = [](auto a, const auto& of) { return attention{of}(a); };
  auto r = of_all(x, w);
#elif defined CASE_formula_decoder_without_self_mask
  // expect-gcc: "umbel: decoder_layer: say self_mask\(causal\) or self_mask\(all_keys\): torch hides nothing without a tgt_mask, its tgt_is_causal and generate_square_subsequent_mask are self_mask\(causal\)"
  // expect-clang: decoder_layer, .*say_self_mask_causal_or_self_mask_all_keys_as_torch_has_without_tgt_mask>
  // lines-clang: 18
  // cause: The call does not say what the sequence sees of itself, and frameworks differ.
  // cure: Pass `self_mask(causal)` after the memory and its mask if no position may see a later one, `self_mask(all_keys)` if all may.
  using decoder = decoder_layer<float, hidden<16>, heads<4>, intermediate<24>, norm_first<true>,
                                activation<relu>, bias<true>>;
  static decoder::weights of_decoder;
  constexpr formula decoded = [](auto a, auto memory, const auto& of) {
    return decoder{of}(a, memory);
  };
  auto r = decoded(x, x, of_decoder);
#endif
}
