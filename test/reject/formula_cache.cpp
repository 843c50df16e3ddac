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
  // expect-gcc: "umbel: key_value_cache: say what the formula is called with: called_with<tensor<float, token<1>, hidden<64>>, weights>"
  // expect-clang: key_value_cache.*say_what_the_formula_is_called_with
  // cause: What a formula keeps follows from the types of its arguments.
  // cure: Give the cache their types: `called_with<tensor<float, token<1>, hidden<64>>, weights>`.
  key_value_cache<decltype(causal_attention), key<16>> other;
#elif defined CASE_no_sequence
  // expect-gcc: "umbel: key_value_cache: the first tensor that the formula is called with has no axis token"
  // expect-clang: key_value_cache.*the_first_tensor_that_the_formula_is_called_with_has_no_axis_token
  // cause: The new positions of a step lie along the axis token of the first tensor.
  // cure: Name that axis token, and rename it to query or key within the formula.
  key_value_cache<decltype(causal_attention), key<16>,
                  called_with<tensor<float, query<1>, hidden<8>>, weights>>
      other;
#elif defined CASE_option_of_a_layer
  // expect-gcc: "umbel: key_value_cache: longest_sequence is not an option of this layer"
  // expect-clang: key_value_cache.*longest_sequence<64.*1>.*is_not_an_option_of_this_layer
  // cause: A cache of a formula neither slides nor stores in fewer bits.
  // cure: Leave the option out; hide what is too far back in the formula.
  key_value_cache<decltype(causal_attention), key<16>, called_with<row, weights>,
                  longest_sequence<64>>
      other;
#elif defined CASE_nothing_to_keep
  // expect-gcc: "umbel: key_value_cache: the formula renames its sequence to no key, so there is nothing to keep"
  // expect-clang: key_value_cache.*the_formula_renames_its_sequence_to_no_key_so_there_is_nothing_to_keep
  // cause: No scores or sums read keys that are made of the sequence.
  // cure: Rename the sequence of keys and values: `x * w.k | rename_axis<token, key>`; a formula of rows needs no cache.
  constexpr formula f = [](auto y, const auto& v) { return y * v.q; };
  cache_of<decltype(f), weights> other;
#elif defined CASE_later_keys_are_seen
  // expect-gcc: "umbel: key_value_cache: softmax sees later keys; write hide\(scores, position<key> > position<query>\), or 0 for their weights"
  // expect-clang: key_value_cache.*softmax.*is_not_causal_so_hide_later_keys
  // cause: A row would change when later positions come.
  // cure: Hide them: `softmax<key>(hide(scores, position<key> > position<query>))`.
  constexpr formula f = attend([](auto scores) { return softmax<key>(scores); });
  cache_of<decltype(f), weights> other;
#elif defined CASE_some_later_keys_are_seen
  // expect-gcc: "umbel: key_value_cache: softmax sees later keys; write hide\(scores, position<key> > position<query>\), or 0 for their weights"
  // expect-clang: key_value_cache.*softmax.*is_not_causal_so_hide_later_keys
  // cause: A row would change when later positions come.
  // cure: Hide them: `softmax<key>(hide(scores, position<key> > position<query>))`.
  constexpr formula f = attend(
      [](auto scores) { return softmax<key>(hide(scores, position<key> > position<token> + 1)); });
  cache_of<decltype(f), weights> other;
#elif defined CASE_weights_of_later_keys
  // expect-gcc: "umbel: key_value_cache: contract sees later keys; write hide\(scores, position<key> > position<query>\), or 0 for their weights"
  // expect-clang: key_value_cache.*contract.*is_not_causal_so_hide_later_keys
  // cause: A row would change when later positions come.
  // cure: Give them no weight: `where(position<key> > position<query>, 0, weights)`.
  constexpr formula f = attend([](auto scores) { return sigmoid(hide(scores, later) + 1) + 1; });
  cache_of<decltype(f), weights> other;
#elif defined CASE_along_the_sequence
  // expect-gcc: "umbel: key_value_cache: mean goes along the sequence, of which a step has the new positions only"
  // expect-clang: key_value_cache.*mean.*goes_along_the_sequence_so_a_step_cannot_compute_it
  // cause: The result depends on all positions, and each step has its own only.
  // cure: Leave it out of the formula; what goes along keys must hide later ones.
  constexpr formula f = [](auto y, const auto& v) {
    return causal_attention(y, v) - mean<token>(y);
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_along_keys_without_queries
  // expect-gcc: "umbel: key_value_cache: contract goes along the sequence, of which a step has the new positions only"
  // expect-clang: key_value_cache.*contract.*goes_along_the_sequence_so_a_step_cannot_compute_it
  // cause: A sum over all keys is no row of the sequence: later keys are in it.
  // cure: Make scores of queries and keys, and hide later keys.
  constexpr formula f = [](auto y, const auto& v) {
    auto keys = y * v.k | rename_axis<token, key> | rename_axis<hidden, head_dim>;
    auto sums = contract<key>(keys, y * v.v | rename_axis<token, key>);
    return contract<head_dim>(y * v.q | rename_axis<hidden, head_dim>, sums);
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_part_of_the_sequence
  // expect-gcc: "umbel: key_value_cache: elementwise reads a part of the sequence, or it and another axis as one"
  // expect-clang: key_value_cache.*elementwise.*reads_a_part_of_the_sequence_or_several_axes_as_one
  // cause: A slice, a shift or a merge of the sequence: other positions than the new ones, or some of them.
  // cure: Take it out of the formula, or pass its result as an argument.
  constexpr formula f = [](auto y, const auto& v) {
    return causal_attention(y, v) + (y | select_at<token, 0>);
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_mean_along_keys
  // expect-gcc: "umbel: key_value_cache: mean counts keys, which are more from step to step"
  // expect-clang: key_value_cache.*mean.*counts_keys_which_are_more_from_step_to_step
  // cause: A mean divides by the number of keys; a sum over keys and another axis numbers them with that.
  // cure: Write `sum<key>` of what is 0 at later keys, and divide by what you mean.
  constexpr formula f = [](auto y, const auto& v) {
    auto scores = contract<hidden>(y * v.q, y * v.k | rename_axis<token, key>);
    return causal_attention(y, v) * mean<key>(where(later, 0, scores));
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_a_layer_that_attends
  // expect-gcc: "umbel: key_value_cache: a layer may see other positions of the sequence; write its operations, or give it a cache of its own"
  // expect-clang: key_value_cache.*a_layer.*may_see_other_positions_so_write_its_operations
  // cause: The formula calls a layer that attends, or of which it is not known that each row is computed by itself.
  // cure: Write its attention in the words of formulas, or decode the layer by its own cache; norms, linear maps, networks and embeddings are taken.
  constexpr formula f = [](auto y, const auto& v) {
    return causal_attention(y, v) + multi_head_attention<float, hidden<8>, heads<2>>{v}(y, causal);
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_function_of_scores
  // expect-gcc: "umbel: key_value_cache: log_softmax has a function of its own, which takes no keys that a cache keeps"
  // expect-clang: key_value_cache.*log_softmax.*has_a_function_of_its_own_which_takes_no_kept_keys
  // cause: Of scores and kept keys there are arithmetic, conditions, `contract`, `softmax`, `sum`, `max` and `min`.
  // cure: Write it in these: `log(softmax<key>(x))`.
  constexpr formula f =
      attend([](auto scores) { return exp(log_softmax<key>(hide(scores, later))); });
  cache_of<decltype(f), weights> other;
#elif defined CASE_two_axes_of_rows
  // expect-gcc: "umbel: key_value_cache: contract has the sequence as two axes and none of them is key"
  // expect-clang: key_value_cache.*contract.*has_the_sequence_as_two_axes_and_none_of_them_is_key
  // cause: Of pairs of positions a step computes those of a new one with all keys; here neither axis is key.
  // cure: Rename one of them to key.
  constexpr formula f = [](auto y, const auto& v) {
    auto pairs = contract<hidden>(y * v.q, y | rename_axis<token, query>);
    return causal_attention(y, v) + contract<query>(pairs, y | rename_axis<token, query>);
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_gives_keys
  // expect-gcc: "umbel: key_value_cache: the formula gives an axis key, which grows from step to step"
  // expect-clang: key_value_cache.*the_formula_gives_an_axis_key_which_grows_from_step_to_step
  // cause: A result with keys has another size in each step.
  // cure: Give rows only.
  constexpr formula f = [](auto y, const auto& v) {
    return softmax<key>(hide(contract<hidden>(y * v.q, y * v.k | rename_axis<token, key>), later));
  };
  cache_of<decltype(f), weights> other;
#elif defined CASE_counts_the_sequence
  // expect-gcc: "umbel: key_value_cache: the formula computes with the size of token"
  // expect-clang: key_value_cache.*the_formula_computes_with_the_size_of_token
  // cause: `x.template extent<token>` is another number in a step than in the whole pass.
  // cure: Pass what you mean as an argument.
  constexpr formula f = [](auto y, const auto& v) {
    return causal_attention(y, v) * float(y.template extent<token>);
  };
  cache_of<decltype(f), weights> other;
  (void)other.step(out, f, x, w);
#elif defined CASE_other_arguments
  // expect-gcc: "umbel: key_value_cache: the arguments are not those that the cache was declared for"
  // expect-clang: key_value_cache.*the_arguments_are_not_those_that_the_cache_was_declared_for
  // cause: Other types than `called_with` says, or another number of them; only the number of positions may differ.
  // cure: Call it with what the cache was declared for.
  (void)cache.step(out, causal_attention, x, w, x);
#elif defined CASE_another_formula
  // expect-gcc: "umbel: key_value_cache: the layer is not the one that the cache was declared for"
  // expect-clang: key_value_cache.*the_layer_is_not_the_one_that_the_cache_was_declared_for
  // cause: Keys and values of one layer mean nothing to another, nor to a stack that it is part of.
  // cure: Declare one cache for each layer, or one for the stack, with its type.
  constexpr formula f = attend([](auto scores) { return where(later, 0, scores); });
  (void)cache.step(out, f, x, w);
#elif defined CASE_too_many_positions
  // expect-gcc: "umbel: key_value_cache: a step may append at most 16, got token=17"
  // expect-clang: key_value_cache.*a_step_may_append_at_most.*number<16>.*got.*token<17>
  // cause: The step brings more positions than the cache has room for.
  // cure: Declare a larger cache, `key_value_cache<attention, key<300>>`, or step over parts of the sequence.
  tensor<float, token<17>, hidden<8>> many{}, result{};
  (void)cache.step(result, causal_attention, many, w);
#elif defined CASE_out_of_another_size
  // expect-gcc: "umbel: key_value_cache: the result has \[token=1, hidden=8\] but out has \[token=2, hidden=8\]"
  // expect-clang: key_value_cache.*the_result_has.*token<1>.*hidden<8>.*but_out_has.*token<2>.*hidden<8>
  // cause: The output does not have the shape of the result.
  // cure: Pass a tensor or view of the shape in the sentence.
  tensor<float, token<2>, hidden<8>> result{};
  (void)cache.step(result, causal_attention, x, w);
#elif defined CASE_append_without_attending
  // expect-gcc: "umbel: key_value_cache: a cache of a formula has step, but not append or attend"
  // expect-clang: key_value_cache.*a_cache_of_a_formula_has_step_but_not_append_or_attend
  // cause: What a formula keeps is made by its own words.
  // cure: Write `cache.step(out, f, x)`; of a memory pass keys and values as arguments.
  (void)cache.append(causal_attention, x, w);
#elif defined CASE_footprint_of_a_cache_of_a_formula
  // expect-gcc: "umbel: footprint: of a cache of a formula is not known, so take sizeof of it and of its workspace"
  // expect-clang: footprint.*of_a_cache_of_a_formula_is_not_known_so_take_sizeof_of_it_and_of_its_workspace
  // cause: What a step of a formula moves is not counted.
  // cure: `sizeof(past)`, `sizeof(past::workspace<token<1>>)`.
  (void)footprint<past, token<1>>;
#elif defined CASE_step_of_nothing
  // expect-gcc: "umbel: key_value_cache: step takes out, the formula and what it is called with; then a workspace"
  // expect-clang: key_value_cache.*step_takes_out_and_the_formula_and_what_it_is_called_with_then_a_workspace
  // cause: The call has too few arguments.
  // cure: Write `cache.step(out, f, x, w)`.
  (void)cache.step(out);
#else
  (void)cache.step(out, causal_attention, x, w);
#endif
}
