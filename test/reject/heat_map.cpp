// SPDX-License-Identifier: BSL-1.0
// Mistakes with heat maps of attention (check.py).
#include <umbel/umbel.hpp>

#include <umbel/inspect/heat_map.hpp>

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<100>, heads<5>>;
using seen = tensor<float, heads<5>, query<4>, key<6>>;

[[maybe_unused]] static void cases(const attention& attend, const seen& weights,
                                   const tensor<float, query<4>, hidden<100>>& x) {
  (void)attend;
  (void)x;
  const auto sink = [](const char*, std::size_t) {};
  const char* const four[4] = {"a", "b", "c", "d"};
  const char* const six[6] = {"a", "b", "c", "d", "e", "f"};
#if defined CASE_map_without_keys
  // expect-gcc: "umbel: attention_heat_map: needs the axis key but has \[query=4, hidden=100\]"
  // expect-clang: attention_heat_map.*needs_the_axis.*key.*but_has.*query<4>.*hidden<100>
  // cause: A heat map shows how much each query attends to each key, but this tensor lacks one of these axes.
  // cure: Pass the weights from `observe`, with heads, query and key, not the sequence or the result; if the axes have other names, use `rename_axis`.
  attention_heat_map(x, sink);
#elif defined CASE_map_without_queries
  // expect-gcc: "umbel: attention_heat_map: needs the axis query but has \[heads=5, key=6\]"
  // expect-clang: attention_heat_map.*needs_the_axis.*query.*but_has.*heads<5>.*key<6>
  // cause: A heat map shows how much each query attends to each key, but this tensor lacks one of these axes.
  // cure: Pass the weights from `observe`, with heads, query and key, not the sequence or the result; if the axes have other names, use `rename_axis`.
  attention_heat_map(weights | select_at<query, 0>, sink);
#elif defined CASE_map_of_another_axis
  // expect-gcc: "umbel: attention_heat_map: has the axis token=3, which is not one of batch, heads, query and key"
  // expect-clang: attention_heat_map.*has_the_axis.*token<3>.*which_is_not_one_of.*batch.*heads.*query.*key
  // cause: There is one map for each sequence and each head; other axes have no place on the page.
  // cure: Select one position of it, `weights | select_at<layer, 0>`, or rename it to one of these.
  attention_heat_map(tensor<float, token<3>, query<4>, key<6>>{}, sink);
#elif defined CASE_map_of_integers
  // expect-gcc: "umbel: attention_heat_map: needs weights of float or double, not int"
  // expect-clang: attention_heat_map.*needs_weights_of_float_or_double_not.*element<int>
  // cause: Weights are numbers from 0 to 1, but these are integers.
  // cure: Pass the tensor that `observe` wrote.
  attention_heat_map(tensor<int, query<4>, key<6>>{}, sink);
#elif defined CASE_too_few_labels
  // expect-gcc: "umbel: attention_heat_map: needs a label for each of key=6 but got 4"
  // expect-clang: attention_heat_map.*needs_a_label_for_each_of.*key<6>.*but_got.*number<4>
  // cause: The number of labels must be the size of the axis; one list for both axes needs axes of one size.
  // cure: Pass one list for the queries and one for the keys, each with the size of its axis; a null pointer leaves a position without a label.
  attention_heat_map(weights, sink, {}, four);
#elif defined CASE_labels_swapped
  // expect-gcc: "umbel: attention_heat_map: needs a label for each of query=4 but got 6"
  // expect-clang: attention_heat_map.*needs_a_label_for_each_of.*query<4>.*but_got.*number<6>
  // cause: The number of labels must be the size of the axis; one list for both axes needs axes of one size.
  // cure: Pass one list for the queries and one for the keys, each with the size of its axis; a null pointer leaves a position without a label.
  attention_heat_map(weights, sink, {}, six, four);
#elif defined CASE_map_to_no_sink
  // expect-gcc: "umbel: attention_heat_map: expects weights; then a sink, called with \(const char\*, std::size_t\); then options; then labels, arrays of const char\*, but argument 2 is char \[10\]"
  // expect-clang: attention_heat_map.*expects_weights_then_a_sink_of_const_char_pointer_and_size_then_options_then_labels
  // cause: The second argument cannot be called with text, or arguments are missing or out of order.
  // cure: Pass a callable second: `[&](const char* text, std::size_t size) { std::fwrite(text, 1, size, file); }`.
  attention_heat_map(weights, "heads.svg");
#else
  attention_heat_map(weights, sink, {}, four, six);
  attention_heat_map(weights | select_at<heads, 0>, sink, {.form = heat_map_form::ascii});
#endif
  (void)four, (void)six, (void)sink, (void)weights;
}
