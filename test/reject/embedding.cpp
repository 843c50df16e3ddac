// SPDX-License-Identifier: BSL-1.0
// Mistakes with embedding: one case each, with the message that the compiler must print (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using embed = embedding<float, vocabulary<11>, hidden<6>>;
struct weights_of_two_types {
  static constexpr const char* part_names[] = {"rows", "map"};
  tensor<double, vocabulary<11>, hidden<6>> rows;
  linear<float, hidden<6>, classes<3>, bias<true>>::weights map;
};

[[maybe_unused]] static void cases(const embed& words, const prepacked<embed>& packed,
                                   const tensor<int, batch<2>, token<3>>& ids) {
  (void)words, (void)packed, (void)ids;
#if defined CASE_embedding_of_float
  // expect-gcc: "umbel: embedding: needs integers, not float"
  // expect-clang: embedding.*needs_integers_not.*element<float>
  // cause: An embedding is called with integers, the numbers of vocabulary entries, but these have a different type.
  // cure: Declare them as integers: `tensor<int, token<12>> ids`.
  auto r = words(tensor<float, token<3>>{});
#elif defined CASE_embedding_of_float_in_a_formula
  // expect-gcc: "umbel: embedding: needs integers, not float"
  // expect-clang: embedding.*needs_integers_not.*element<float>
  // cause: An embedding is called with integers, the numbers of vocabulary entries, but these have a different type.
  // cure: Declare them as integers: `tensor<int, token<12>> ids`.
  constexpr formula rows = [](auto at, const auto& e) { return e(at); };
  auto r = rows(tensor<float, token<3>>{}, words);
#elif defined CASE_embedding_in_a_formula_of_another_type
  // expect-gcc: "umbel: embedding: the table has type float but the formula computes in double"
  // expect-clang: embedding.*the_table_has_type.*element<float>.*but_the_formula_computes_in.*element<double>
  // cause: A formula computes in the type of its first float or double argument, and the table has a different one.
  // cure: Declare all with one element type.
  constexpr formula rows = [](auto x, auto at, const auto& e) { return x + sum<token>(e(at)); };
  auto r = rows(tensor<double, hidden<6>>{}, tensor<int, token<3>>{}, words);
#elif defined CASE_embedding_in_a_formula_of_weights_of_two_types
  // expect-gcc: "umbel: embedding: the table has type double but the formula computes in float"
  // expect-clang: embedding.*the_table_has_type.*element<double>.*but_the_formula_computes_in.*element<float>
  // cause: Without a float or double tensor argument, a formula computes in the type of its weights, or in float if they are mixed.
  // cure: Declare all weights with one type.
  constexpr formula rows = [](auto at, const auto& w) {
    return embedding<double, vocabulary<11>, hidden<6>>{w.rows}(at);
  };
  auto r = rows(tensor<int, token<3>>{}, weights_of_two_types{});
#elif defined CASE_embedding_of_many_words_in_a_formula
  // expect-gcc: "umbel: embedding: vocabulary=20000000 has more positions than float can count; look up outside the formula"
  // expect-clang: embedding, .*vocabulary<20000000>, .*has_more_positions_than, .*element<float>, .*can_count_so_look_up_outside_the_formula>
  // cause: A formula converts integers to its element type, and float cannot hold all integers up to the size of the table.
  // cure: Call the embedding outside, and pass its result.
  constexpr formula rows = [](auto at, const auto& e) { return e(at); };
  auto r = rows(ids, prepacked<embedding<float, vocabulary<20000000>, hidden<6>>>{});
#elif defined CASE_logits_of_another_width_in_a_formula
  // expect-gcc: "umbel: logits: the input has hidden=7 but the weights expect hidden=6"
  // expect-clang: logits.*the_input_has.*hidden<7>.*but_the_weights_expect.*hidden<6>
  // cause: The input has a different number of features than the rows of the table.
  // cure: Pass the right tensor, or declare the embedding with its width.
  constexpr formula tied = [](auto x, const auto& e) { return e.logits(x); };
  auto r = tied(tensor<float, token<3>, hidden<7>>{}, words);
#elif defined CASE_embedding_of_hidden
  // expect-gcc: "umbel: embedding: the axis hidden is named twice in \[token=3, hidden=2, hidden=6\]"
  // expect-clang: embedding.*hidden>.*is_named_twice_in.*token<3>.*hidden<2>.*hidden<6>
  // cause: The integers have an axis with the same name as an axis of the table.
  // cure: Rename it: `ids | rename_axis<hidden, query>`, or to a custom axis.
  auto r = words(tensor<int, token<3>, hidden<2>>{});
#elif defined CASE_embedding_swapped
  // expect-gcc: "umbel: embedding: expected the axis vocabulary but got hidden=6"
  // expect-clang: embedding.*expected_the_axis.*vocabulary>.*but_got.*hidden<6>
  // cause: The layer needs the axis of the vocabulary first, then that of the features, as in torch.
  // cure: Write `embedding<float, vocabulary<5000>, hidden<64>>`.
  embedding<float, hidden<6>, vocabulary<11>>::weights none{};
  (void)none;
#elif defined CASE_embedding_swapped_in_a_chain
  // expect-gcc: "umbel: embedding: expected the axis vocabulary but got hidden=6"
  // expect-clang: embedding.*expected_the_axis.*vocabulary>.*but_got.*hidden<6>
  // cause: The layer needs the axis of the vocabulary first, then that of the features, as in torch.
  // cure: Write `embedding<float, vocabulary<5000>, hidden<64>>`.
  using swapped = embedding<float, hidden<6>, vocabulary<11>>;
  static swapped::weights table;
  static layer_norm<float, hidden<6>>::weights of_norm;
  auto r = swapped{table}(ids) | layer_norm<float, hidden<6>>{of_norm};
#elif defined CASE_embedding_swapped_and_tied
  // expect-gcc: "umbel: embedding: expected the axis vocabulary but got hidden=6"
  // expect-clang: embedding.*expected_the_axis.*vocabulary>.*but_got.*hidden<6>
  // cause: The layer needs the axis of the vocabulary first, then that of the features, as in torch.
  // cure: Write `embedding<float, vocabulary<5000>, hidden<64>>`.
  using swapped = embedding<float, hidden<6>, vocabulary<11>>;
  static swapped::weights table;
  auto r = swapped{table}.logits(tensor<float, token<3>, hidden<6>>{}) | softmax<vocabulary>;
#elif defined CASE_embedding_without_hidden
  // expect-gcc: "umbel: embedding: the axis hidden is missing"
  // expect-clang: embedding.*the_axis.*hidden>.*is_missing
  // cause: The layer needs two axes: one for the vocabulary, one for the features.
  // cure: Write `embedding<float, vocabulary<5000>, hidden<64>>`.
  embedding<float, vocabulary<11>>::weights none{};
  (void)none;
#elif defined CASE_embedding_called_with_sizes
  // expect-gcc: "umbel: embedding: sizes are template arguments, not numbers in a call; write embedding<float, vocabulary<5000>, hidden<64>>\{weights\}"
  // expect-clang: embedding.*sizes_are_template_arguments_not_numbers_in_a_call_so_write_embedding_of_float_and_two_axes
  // cause: The sizes are passed as arguments, as in `torch.nn.Embedding`, but belong into the type.
  // cure: Write `embedding<float, vocabulary<5000>, hidden<64>>{w}`, and call it with integers; for a table alone write `lookup(table, ids)`.
  auto r = embedding(5000, 64);
#elif defined CASE_embedding_called_with_a_table
  // expect-gcc: "umbel: embedding: sizes are template arguments, not numbers in a call; write embedding<float, vocabulary<5000>, hidden<64>>\{weights\}"
  // expect-clang: embedding.*sizes_are_template_arguments_not_numbers_in_a_call_so_write_embedding_of_float_and_two_axes
  // cause: The sizes are passed as arguments, as in `torch.nn.Embedding`, but belong into the type.
  // cure: Write `embedding<float, vocabulary<5000>, hidden<64>>{w}`, and call it with integers; for a table alone write `lookup(table, ids)`.
  auto r = embedding(ids, ids);
#elif defined CASE_embedding_table_without_names
  // expect-gcc: "umbel: embedding: the order of the axes is unknown; write view_as<\.\.\.>\(memory\) with vocabulary and hidden"
  // expect-clang: embedding.*the_order_of_the_axes_is_unknown_so_write_view_as_with.*vocabulary>.*hidden>
  // cause: A table in plain memory may have its axes in either order.
  // cure: Name the axes in the order of the memory: `view_as<vocabulary, hidden>(memory)`.
  static const float memory[66] = {};
  const embed r{memory};
#elif defined CASE_logits_of_another_width
  // expect-gcc: "umbel: logits: the input has hidden=7 but the weights expect hidden=6"
  // expect-clang: logits.*the_input_has.*hidden<7>.*but_the_weights_expect.*hidden<6>
  // cause: The input has a different number of features than the rows of the table.
  // cure: Pass the right tensor, or declare the embedding with its width.
  auto r = packed.logits(tensor<float, token<3>, hidden<7>>{});
#elif defined CASE_logits_of_double
  // expect-gcc: "umbel: logits: the input has type double but the weights have type float"
  // expect-clang: logits.*the_input_has_type.*element<double>.*but_the_weights_have_type.*element<float>
  // cause: The input and the table have different element types, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  auto r = words.logits(tensor<double, hidden<6>>{});
#elif defined CASE_logits_into_another
  // expect-gcc: "umbel: logits: the result has \[token=3, vocabulary=11\] but out has \[token=3, vocabulary=12\]"
  // expect-clang: logits.*the_result_has.*token<3>.*vocabulary<11>.*but_out_has.*token<3>.*vocabulary<12>
  // cause: The output has other axes or sizes than the result, which has one number for each entry of the vocabulary.
  // cure: Declare `out` with the axes of the result.
  tensor<float, token<3>, vocabulary<12>> out{};
  words.logits_into(out, tensor<float, token<3>, hidden<6>>{});
#else
  auto r = words.logits(words(ids));
  constexpr formula tied = [](auto at, const auto& e) { return e.logits(e(at)); };
  auto s = tied(ids, packed);
#endif
}
