// SPDX-License-Identifier: BSL-1.0
// Mistakes with caches of formulas (check.py).
#include <umbel/umbel.hpp>

#include <umbel/decode/cache_of_formula.hpp>
#include <umbel/inspect/footprint.hpp>

using namespace umbel;
using namespace umbel::axes;

using weights = multi_head_attention<float, hidden<8>, heads<2>>::weights;
using row = tensor<float, token<1>, hidden<8>>;

// Attention of one head by F(scores).
template <class F>
constexpr auto attend(F) {
  return [](auto x, const auto& w) {
    auto k = x * w.k | rename_axis<token, key>;
    return contract<key>(F{}(contract<hidden>(x * w.q, k)), x * w.v | rename_axis<token, key>);
  };
}
constexpr auto later = position<key> > position<token>;
constexpr formula causal_attention =
    attend([](auto scores) { return softmax<key>(hide(scores, later)); });
using past = key_value_cache<decltype(causal_attention), key<16>, called_with<row, weights>>;

template <class F, class... X>
using cache_of = key_value_cache<F, key<16>, called_with<row, X...>>;

[[maybe_unused]] static void cases(past& cache, const row& x, const weights& w, row& out) {
  (void)cache, (void)x, (void)w, (void)out;
#if defined CASE_arguments_not_said
  // expect-gcc: "umbel: key_value_cache: needs the types of the arguments; add called_with<tensor<float, token<1>, hidden<64>>, weights>"
  // expect-clang: key_value_cache.*needs_the_types_of_the_arguments_so_add_called_with
  // cause: The contents of a formula's cache depend on the types of its arguments.
  // cure: Add the types: `called_with<tensor<float, token<1>, hidden<64>>, weights>`.
  key_value_cache<decltype(causal_attention), key<16>> other;
#elif defined CASE_no_sequence
  // expect-gcc: "umbel: key_value_cache: the first tensor argument of the formula has no axis token"
  // expect-clang: key_value_cache.*the_first_tensor_argument_of_the_formula_has_no_axis_token
  // cause: The new positions of a step are on the axis token of the first tensor.
  // cure: Name that axis token, and rename it to query or key in the formula.
  key_value_cache<decltype(causal_attention), key<16>,
                  called_with<tensor<float, query<1>, hidden<8>>, weights>>
      other;
#elif defined CASE_option_of_a_layer
  // expect-gcc: "umbel: key_value_cache: longest_sequence is not one of its options"
  // expect-clang: key_value_cache.*longest_sequence<64.*1>.*is_not_one_of_its_options
  // cause: A cache of a formula does not slide, and does not store in fewer bits.
  // cure: Leave the option out; in the formula, hide keys that are too far back.
  key_value_cache<decltype(causal_attention), key<16>, called_with<row, weights>,
                  longest_sequence<64>>
      other;
#elif defined CASE_nothing_to_keep
  // expect-gcc: "umbel: key_value_cache: the formula has no keys to store; rename its sequence to key"
  // expect-clang: key_value_cache.*the_formula_has_no_keys_to_store_so_rename_its_sequence_to_key
  // cause: No operation of the formula reads keys made from the sequence.
  // cure: Rename the sequence of keys and values: `x * w.k | rename_axis<token, key>`; a formula that works row by row needs no cache.
  constexpr formula f = [](auto y, const auto& v) { return y * v.q; };
  cache_of<decltype(f), weights> other;
#elif defined CASE_later_keys_are_seen
  // expect-gcc: "umbel: key_value_cache: softmax may see later keys; write hide\(scores, position<key> > position<query>\), or set their weights to 0"
  // expect-clang: key_value_cache.*softmax.*may_see_later_keys_so_hide_them
  // cause: A row would change when later positions arrive, or no comparison of positions shows that it would not.
  // cure: Hide them: `softmax<key>(hide(scores, position<key> > position<query>))`.
  constexpr formula f = attend([](auto scores) { return softmax<key>(scores); });
  cache_of<decltype(f), weights> other;
#elif defined CASE_some_later_keys_are_seen
  // expect-gcc: "umbel: key_value_cache: softmax may see later keys; write hide\(scores, position<key> > position<query>\), or set their weights to 0"
  // expect-clang: key_value_cache.*softmax.*may_see_later_keys_so_hide_them
  // cause: A row would change when later positions arrive, or no comparison of positions shows that it would not.
  // cure: Hide them: `softmax<key>(hide(scores, position<key> > position<query>))`.
  constexpr formula f = attend(
      [](auto scores) { return softmax<key>(hide(scores, position<key> > position<token> + 1)); });
  cache_of<decltype(f), weights> other;
#elif defined CASE_weights_of_later_keys
  // expect-gcc: "umbel: key_value_cache: contract may see later keys; write hide\(scores, position<key> > position<query>\), or set their weights to 0"
  // expect-clang: key_value_cache.*contract.*may_see_later_keys_so_hide_them
  // cause: A row would change when later positions arrive, or no comparison of positions shows that it would not.
  // cure: Set their weights to 0: `where(position<key> > position<query>, 0, weights)`.
  constexpr formula f = attend([](auto scores) { return sigmoid(hide(scores, later) + 1) + 1; });
  cache_of<decltype(f), weights> other;
#elif defined CASE_sums_from_the_last_position
  // expect-gcc: "umbel: key_value_cache: a function runs along the sequence, but a step has only the new positions"
  // expect-clang: key_value_cache.*a_function.*runs_along_the_sequence_but_a_step_has_only_the_new_positions
  // cause: The sum from the last position to the first changes with each new position.
  // cure: Add up from the first position, `cumulative_sum<token>(x)`.
  constexpr formula f = [](auto y) { return cumulative_sum<token, from_last>(y); };
  cache_of<decltype(f)> other;
#elif defined CASE_along_the_sequence
  // expect-gcc: "umbel: key_value_cache: mean runs along the sequence, but a step has only the new positions"
  // expect-clang: key_value_cache.*mean.*runs_along_the_sequence_but_a_step_has_only_the_new_positions
  // cause: The result depends on all positions, but a step has only the new ones.
  // cure: Leave it out of the formula; operations along keys must hide later keys.
  constexpr formula f = [](auto y, const auto& v) {
    return causal_attention(y, v) - mean<token>(y);
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_along_keys_without_queries
  // expect-gcc: "umbel: key_value_cache: contract runs along the sequence, but a step has only the new positions"
  // expect-clang: key_value_cache.*contract.*runs_along_the_sequence_but_a_step_has_only_the_new_positions
  // cause: A sum over all keys includes later keys, so it is not a row of the sequence.
  // cure: Compute scores of queries and keys, and hide later keys.
  constexpr formula f = [](auto y, const auto& v) {
    auto keys = y * v.k | rename_axis<token, key> | rename_axis<hidden, head_dim>;
    auto sums = contract<key>(keys, y * v.v | rename_axis<token, key>);
    return contract<head_dim>(y * v.q | rename_axis<hidden, head_dim>, sums);
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_part_of_the_sequence
  // expect-gcc: "umbel: key_value_cache: elementwise reads a part of the sequence, or merges it with another axis"
  // expect-clang: key_value_cache.*elementwise.*reads_a_part_of_the_sequence_or_several_axes_as_one
  // cause: A slice, a shift or a merge of the sequence needs other positions than the new ones, or only some of them.
  // cure: Move it out of the formula, and pass its result as an argument.
  constexpr formula f = [](auto y, const auto& v) {
    return causal_attention(y, v) + (y | select_at<token, 0>);
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_padded_by_other_numbers
  // expect-gcc: "umbel: key_value_cache: pads the sequence other than by zeros before it, or reads it in steps; write x \| padded<token, before<2>> \| windows<token, kernel_size<3>>"
  // expect-clang: key_value_cache.*pads_other_than_by_zeros_before_or_reads_in_steps
  // cause: In a cache `padded` adds zeros before the first position, and windows read it directly: with stride 1, and each ends at its position.
  // cure: Pad by (kernel_size - 1) x dilation zeros at the start; move operations between `padded` and `windows` before or after both.
  constexpr formula f = [](auto y, const auto& v) {
    return max<kernel_size>(padded<token, before<2>>(causal_attention(y, v), -0.0f) |
                            windows<token, kernel_size<3>>);
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_windows_that_see_later_positions
  // expect-gcc: "umbel: key_value_cache: pads the sequence other than by zeros before it, or reads it in steps; write x \| padded<token, before<2>> \| windows<token, kernel_size<3>>"
  // expect-clang: key_value_cache.*pads_other_than_by_zeros_before_or_reads_in_steps
  // cause: In a cache `padded` adds zeros before the first position, and windows read it directly: with stride 1, and each ends at its position.
  // cure: Pad by (kernel_size - 1) x dilation zeros at the start; move operations between `padded` and `windows` before or after both.
  constexpr formula f = [](auto y, const auto& v) {
    auto of_later = y | padded<token, before<1>, after<1>> | windows<token, kernel_size<3>>;
    return causal_attention(y, v) + max<kernel_size>(of_later);
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_windows_of_what_is_padded_too_much
  // expect-gcc: "umbel: key_value_cache: pads the sequence other than by zeros before it, or reads it in steps; write x \| padded<token, before<2>> \| windows<token, kernel_size<3>>"
  // expect-clang: key_value_cache.*pads_other_than_by_zeros_before_or_reads_in_steps
  // cause: In a cache `padded` adds zeros before the first position, and windows read it directly: with stride 1, and each ends at its position.
  // cure: Pad by (kernel_size - 1) x dilation zeros at the start; move operations between `padded` and `windows` before or after both.
  constexpr formula f = [](auto y, const auto& v) {
    return max<kernel_size>((y | padded<token, before<2>>)*2 | windows<token, kernel_size<3>>) +
           causal_attention(y, v);
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_mean_along_keys
  // expect-gcc: "umbel: key_value_cache: mean counts keys, whose number grows with each step"
  // expect-clang: key_value_cache.*mean.*counts_keys_whose_number_grows_with_each_step
  // cause: A mean divides by the number of keys, and a sum over keys and a second axis depends on it.
  // cure: Write `sum<key>` of weights that are 0 for later keys, and divide by the number that you need.
  constexpr formula f = [](auto y, const auto& v) {
    auto scores = contract<hidden>(y * v.q, y * v.k | rename_axis<token, key>);
    return causal_attention(y, v) * mean<key>(where(later, 0, scores));
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_a_layer_that_attends
  // expect-gcc: "umbel: key_value_cache: a layer may see other positions of the sequence; write out its operations, or declare a cache for it"
  // expect-clang: key_value_cache.*a_layer.*may_see_other_positions_so_write_out_its_operations
  // cause: The formula calls a layer that attends, or a layer that may not compute each row separately.
  // cure: Write its attention with operations, or decode the layer with its own cache; norms, linear maps, networks and embeddings are accepted.
  constexpr formula f = [](auto y, const auto& v) {
    return causal_attention(y, v) + multi_head_attention<float, hidden<8>, heads<2>>{v}(y, causal);
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_function_of_scores
  // expect-gcc: "umbel: key_value_cache: log_softmax cannot read the keys of a cache; use arithmetic, contract, softmax, sum, max or min"
  // expect-clang: key_value_cache.*log_softmax.*cannot_read_the_keys_of_a_cache_so_use_arithmetic_contract_softmax_sum_max_or_min
  // cause: Only arithmetic, conditions, `contract`, `softmax`, `sum`, `max` and `min` can read scores and cached keys.
  // cure: Write it with these: `log(softmax<key>(x))`.
  constexpr formula f =
      attend([](auto scores) { return exp(log_softmax<key>(hide(scores, later))); });
  cache_of<decltype(f), weights> other;
#elif defined CASE_two_axes_of_rows
  // expect-gcc: "umbel: key_value_cache: contract has the sequence on two axes and neither is key"
  // expect-clang: key_value_cache.*contract.*has_the_sequence_on_two_axes_and_neither_is_key
  // cause: For pairs of positions, a step computes those of a new position with all keys, but here neither axis is key.
  // cure: Rename one of them to key.
  constexpr formula f = [](auto y, const auto& v) {
    auto pairs = contract<hidden>(y * v.q, y | rename_axis<token, query>);
    return causal_attention(y, v) + contract<query>(pairs, y | rename_axis<token, query>);
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_gives_keys
  // expect-gcc: "umbel: key_value_cache: the formula returns an axis key, which grows with each step"
  // expect-clang: key_value_cache.*the_formula_returns_an_axis_key_which_grows_with_each_step
  // cause: A result with the axis key has a different size in each step.
  // cure: Return rows only.
  constexpr formula f = [](auto y, const auto& v) {
    return softmax<key>(hide(contract<hidden>(y * v.q, y * v.k | rename_axis<token, key>), later));
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_counts_the_sequence
  // expect-gcc: "umbel: key_value_cache: the formula uses the size of token which differs in a step"
  // expect-clang: key_value_cache.*the_formula_uses_the_size_of_token_which_differs_in_a_step
  // cause: `x.template extent<token>` differs between a step and the whole pass.
  // cure: Pass the number as an argument.
  constexpr formula f = [](auto y, const auto& v) {
    return causal_attention(y, v) * float(y.template extent<token>);
  };
  cache_of<decltype(f), weights> other;
  (void)other.step(out, f, x, w);
#elif defined CASE_other_arguments
  // expect-gcc: "umbel: key_value_cache: the arguments do not match called with in the type of the cache"
  // expect-clang: key_value_cache.*the_arguments_do_not_match_called_with_in_the_type_of_the_cache
  // cause: The types or the number of arguments differ from `called_with`; only the number of positions may differ.
  // cure: Pass arguments of the types in `called_with`.
  (void)cache.step(out, causal_attention, x, w, x);
#elif defined CASE_another_formula
  // expect-gcc: "umbel: key_value_cache: the layer is not the one that the cache was declared for"
  // expect-clang: key_value_cache.*the_layer_is_not_the_one_that_the_cache_was_declared_for
  // cause: The keys and values of one layer have no meaning for a different layer, nor for a stack that contains it.
  // cure: Declare one cache for each layer, or one for the stack, with its type.
  constexpr formula f = attend([](auto scores) { return where(later, 0, scores); });
  (void)cache.step(out, f, x, w);
#elif defined CASE_too_many_positions
  // expect-gcc: "umbel: key_value_cache: a step may append at most 16, got token=17"
  // expect-clang: key_value_cache.*a_step_may_append_at_most.*number<16>.*got.*token<17>
  // cause: The step has more positions than the cache has room for.
  // cure: Declare a larger cache, `key_value_cache<attention, key<300>>`, or make several smaller steps.
  tensor<float, token<17>, hidden<8>> many{}, result{};
  // The result is ignored: the compiler's warning comes after the message.
  // lines-gcc: 18
  // lines-clang: 14
  cache.step(result, causal_attention, many, w);
#elif defined CASE_out_of_another_size
  // expect-gcc: "umbel: key_value_cache: the result has \[token=1, hidden=8\] but out has \[token=2, hidden=8\]"
  // expect-clang: key_value_cache.*the_result_has.*token<1>.*hidden<8>.*but_out_has.*token<2>.*hidden<8>
  // cause: The output does not have the shape of the result.
  // cure: Pass a tensor or view with the axes of the result.
  tensor<float, token<2>, hidden<8>> result{};
  (void)cache.step(result, causal_attention, x, w);
#elif defined CASE_append_without_attending
  // expect-gcc: "umbel: key_value_cache: a cache of a formula has no append or attend; use step"
  // expect-clang: key_value_cache.*a_cache_of_a_formula_has_no_append_or_attend_so_use_step
  // cause: The operations of a formula determine the contents of its cache.
  // cure: Write `cache.step(out, f, x)`; for a memory, pass its keys and values as arguments.
  (void)cache.append(causal_attention, x, w);
#elif defined CASE_footprint_of_a_cache_of_a_formula
  // expect-gcc: "umbel: footprint: of a cache of a formula is unknown; use sizeof of it and of its workspace"
  // expect-clang: footprint.*of_a_cache_of_a_formula_is_unknown_so_use_sizeof_of_it_and_of_its_workspace
  // lines-gcc: 16
  // cause: The footprint of a step of a formula is not counted.
  // cure: Use `sizeof(past)` and `sizeof(past::workspace<token<1>>)`.
  (void)footprint<past, token<1>>;
#elif defined CASE_step_of_nothing
  // expect-gcc: "umbel: key_value_cache: step expects out, the formula and its arguments; then a workspace"
  // expect-clang: key_value_cache.*step_expects_out_and_the_formula_and_its_arguments_then_a_workspace
  // cause: The call has too few arguments.
  // cure: Write `cache.step(out, f, x, w)`.
  (void)cache.step(out);
#elif defined CASE_positions_along_the_keys_of_a_step
  // expect-gcc: "umbel: elementwise: the left side has key=1 but the right side has key=16"
  // expect-clang: elementwise.*the_left_side_has.*key<1>.*but_the_right_side_has.*key<16>
  // lines-gcc: 16
  // cause: A step has as many keys as new positions, not as many as the cache holds.
  // cure: Write `position<key>`, which needs no size.
  constexpr formula f = [](auto a) {
    const auto q = a | rename_axis<token, query>;
    const auto k = a | rename_axis<token, key>;
    const auto scores = contract<hidden>(q, k) * positions_along<key<16>>;
    return contract<key>(softmax<key>(hide(scores, position<key> > position<query>)), k) |
           rename_axis<query, token>;
  };
  static cache_of<decltype(f)> other;
  (void)other.step(out, f, x);
#elif defined CASE_refused_formula_used_further
  // expect-gcc: "umbel: softmax: there is no axis query in \[token=16, hidden=8\]"
  // expect-clang: softmax.*there_is_no_axis.*query.*token<16>.*hidden<8>
  // lines-gcc: 16
  // lines-clang: 16
  // cause: The axis to normalize is not an axis of the tensor.
  // cure: Use an axis in the brackets, for scores usually key.
  constexpr formula f = [](auto a) { return softmax<query>(a); };
  static cache_of<decltype(f)> other;
  (void)other.step(out, f, x);
  other.reset();
#else
  (void)cache.step(out, causal_attention, x, w);
#endif
}
