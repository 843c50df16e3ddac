// SPDX-License-Identifier: BSL-1.0
// Mistakes with sinusoidal_positions and rotate: one case each, with the message that the compiler
// must print (check.py). Those with learned_positions are in blocks.cpp.
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using tokens = tensor<float, batch<2>, token<9>, hidden<32>>;
using sinusoids = sinusoidal_positions<float, token<9>, hidden<32>, adjacent_pairs>;

[[maybe_unused]] static void cases(const sinusoids& place, tokens& x) {
  (void)place, (void)x;
#if defined CASE_sequence_longer_than_the_table
  // expect-gcc: "umbel: sinusoidal_positions: the input has token=10 but the table has token=9"
  // expect-clang: sinusoidal_positions.*the_input_has.*token<10>.*but_the_table_has.*token<9>
  // cause: The sequence has more positions than the table, or a different width.
  // cure: Declare the table for the longest sequence; it is computed, not trained.
  auto r = place(tensor<float, batch<2>, token<10>, hidden<32>>{});
#elif defined CASE_sinusoids_of_another_width
  // expect-gcc: "umbel: sinusoidal_positions: the input has hidden=16 but the table has hidden=32"
  // expect-clang: sinusoidal_positions.*the_input_has.*hidden<16>.*but_the_table_has.*hidden<32>
  // cause: The sequence has more positions than the table, or a different width.
  // cure: Declare the table for the longest sequence; it is computed, not trained.
  auto r = place(tensor<float, batch<2>, token<9>, hidden<16>>{}, 2);
#elif defined CASE_sinusoids_absent_axis
  // expect-gcc: "umbel: sinusoidal_positions: there is no axis token in \[batch=2, query=9, hidden=32\]"
  // expect-clang: sinusoidal_positions.*there_is_no_axis.*token>.*in.*batch<2>.*query<9>.*hidden<32>
  // cause: The input lacks the position axis of the table.
  // cure: Rename the axis: `x | rename_axis<query, token>`.
  auto r = place(tensor<float, batch<2>, query<9>, hidden<32>>{});
#elif defined CASE_sinusoids_type
  // expect-gcc: "umbel: sinusoidal_positions: the input has type double but the table has type float"
  // expect-clang: sinusoidal_positions.*the_input_has_type.*element<double>.*but_the_table_has_type.*element<float>
  // cause: The input or the layer has a different element type than the table, and Umbel converts nothing implicitly.
  // cure: Declare all with one element type.
  auto r = place(tensor<double, batch<2>, token<9>, hidden<32>>{});
#elif defined CASE_sinusoids_of_another_layout
  // expect-gcc: "umbel: sinusoidal_positions: the layout must be adjacent_pairs, split_halves or split_halves_to_base, not hidden=32"
  // expect-clang: sinusoidal_positions.*the_layout_must_be_adjacent_pairs_split_halves_or_split_halves_to_base_not.*hidden<32>
  // cause: The layout of the table, which differs between models, must be one of these three.
  // cure: Add it after the axes: `adjacent_pairs` is the layout of the paper.
  sinusoidal_positions<float, batch<2>, token<9>, hidden<32>> r;
#elif defined CASE_sinusoids_of_an_unsaid_layout
  // expect-gcc: "umbel: sinusoidal_positions: needs a layout; add adjacent_pairs, split_halves or split_halves_to_base"
  // expect-clang: sinusoidal_positions.*needs_a_layout_so_add_adjacent_pairs_split_halves_or_split_halves_to_base
  // cause: The layout of the table, which differs between models, is missing.
  // cure: Add it after the axes: `adjacent_pairs` is the layout of the paper.
  sinusoidal_positions<float, token<9>, hidden<32>> r;
#elif defined CASE_sinusoids_of_base_0
  // expect-gcc: "umbel: sinusoidal_positions: needs a base above 0"
  // expect-clang: sinusoidal_positions.*needs_a_base_above_0
  // cause: The angles are powers of the base, the last argument, which must not be 0.
  // cure: Leave it out for 10000, the base of the paper.
  sinusoidal_positions<float, token<49>, hidden<32>, split_halves, 0> none;
#elif defined CASE_sinusoids_of_integers
  // expect-gcc: "umbel: sinusoidal_positions: needs float or double, not int"
  // expect-clang: sinusoidal_positions.*needs_float_or_double_not.*element<int>
  // cause: The layer is declared with an element type that it cannot compute with.
  // cure: Declare it with float or double.
  sinusoidal_positions<int, token<9>, hidden<32>, adjacent_pairs> r;
#elif defined CASE_sinusoids_of_one_axis
  // expect-gcc: "umbel: shape: the axis hidden is named twice in \[hidden=9, hidden=32\]"
  // expect-clang: shape.*the_axis.*hidden>.*is_named_twice_in.*hidden<9>.*hidden<32>
  // cause: Two axes of one shape have the same name.
  // cure: Use a different name for each axis.
  sinusoidal_positions<float, hidden<9>, hidden<32>, adjacent_pairs> r;
#elif defined CASE_one_error_behind_a_mistake
  // expect-gcc: "umbel: sinusoidal_positions: there is no axis token in \[batch=2, hidden=32\]"
  // expect-clang: sinusoidal_positions.*there_is_no_axis.*token>.*in.*batch<2>.*hidden<32>
  // cause: The input lacks the position axis of the table.
  // cure: Rename the axis: `x | rename_axis<query, token>`.
  auto r = place(place(x | mean<token>), 3) | place;
#elif defined CASE_table_of_learned_positions_swapped
  // expect-gcc: "umbel: learned_positions: expected the axis token but got hidden=32"
  // expect-clang: learned_positions.*expected_the_axis.*token>.*but_got.*hidden<32>
  // cause: The table needs its positions first, then its features.
  // cure: Swap them: `<float, token<9>, hidden<32>>`.
  learned_positions<float, hidden<32>, token<9>>::weights none{};
  (void)none;
#elif defined CASE_table_of_sinusoids_swapped
  // expect-gcc: "umbel: sinusoidal_positions: expected the axis token but got hidden=32"
  // expect-clang: sinusoidal_positions.*expected_the_axis.*token>.*but_got.*hidden<32>
  // cause: The table needs its positions first, then its features.
  // cure: Swap them: `<float, token<9>, hidden<32>, ...>`.
  sinusoidal_positions<float, hidden<32>, token<9>, adjacent_pairs> r;
  (void)r;
#elif defined CASE_sinusoids_of_two
  // expect-gcc: "umbel: sinusoidal_positions: expects one tensor or view, then an integer"
  // expect-clang: sinusoidal_positions.*expects_one_tensor_or_view_then_an_integer
  // cause: The first argument is not a tensor or view, or the second is not an integer.
  // cure: Pass the tensor, then the position of its first row, if that is not 0.
  auto r = sinusoidal_positions<float, token<9>, hidden<32>, adjacent_pairs>{}(x, x);
#elif defined CASE_rotate_along_an_absent_axis
  // expect-gcc: "umbel: rotate: there is no axis query in \[batch=2, token=9, hidden=32\]"
  // expect-clang: rotate, .*there_is_no_axis, .*query>, .*in, .*batch<2>, .*token<9>, .*hidden<32>
  // cause: The axis of positions or that of features is not an axis of the tensor.
  // cure: Use axes in the brackets, positions first: `rotate<split_halves, token, hidden>(x)`.
  auto r = x | rotate<split_halves, query, hidden>;
#elif defined CASE_rotate_by_an_unknown_pairing
  // expect-gcc: "umbel: rotate: rope of int must be split_halves for GPT-NeoX and files of Hugging Face, adjacent_pairs for GPT-J and files of Meta and llama2\.c"
  // expect-clang: rotate, .*rope_of, .*element<int>, .*must_be
  // cause: The first argument of `rope` must specify how features pair up.
  // cure: Choose by the file of weights: `rope<split_halves>` for GPT-NeoX and for any LLaMA from Hugging Face, `rope<adjacent_pairs>` for RoFormer, GPT-J, the LLaMA files of Meta and those of llama2.c.
  auto r = rotate<int, token, hidden>(x);
#elif defined CASE_rotate_an_odd_axis
  // expect-gcc: "umbel: rotate: rope rotates pairs but batch=9 is odd"
  // expect-clang: rotate, .*rope_rotates_pairs_but, .*batch<9>, .*is_odd
  // cause: Pairs of features are rotated, but there is an odd number of them.
  // cure: Name the feature axis last, or rotate fewer features: `rotate<rope<split_halves, 10000, 4>, token, hidden>(x)`.
  auto r = rotate<split_halves, token, batch>(tensor<float, token<4>, batch<9>>{});
#elif defined CASE_rotate_more_than_there_are
  // expect-gcc: "umbel: rotate: rope rotates 40 features but a head has only hidden=32"
  // expect-clang: rotate, .*rope_rotates, .*number<40.*features_but_a_head_has_only, .*hidden<32>
  // cause: The width of `rope`, or the number of cosines, needs more features than there are.
  // cure: Two features make a pair: use `hidden<16>` of cosines for `hidden<32>` of x.
  auto r =
      rotate<split_halves, hidden>(x, tensor<float, hidden<20>>{}, tensor<float, hidden<20>>{});
#elif defined CASE_rotate_by_cosines_of_other_positions
  // expect-gcc: "umbel: rotate: the left side has token=9 but the right side has token=10"
  // expect-clang: rotate, .*the_left_side_has, .*token<9>, .*but_the_right_side_has, .*token<10>
  // cause: The cosines or the positions have an axis of x with a different size.
  // cure: Use as many as x has: `cosines | slice<token, from<0>, extent<9>>`, or `positions | slice<token, from<0>, extent<9>>`.
  const auto cosines = rope_cosines<split_halves, token<10>, hidden<32>>();
  auto r = rotate<split_halves, hidden>(x, cosines, cosines);
#elif defined CASE_rotate_by_cosines_of_an_axis_that_is_not_there
  // expect-gcc: "umbel: rotate: \[batch=2, token=9, hidden=32\] and \[query=9, hidden=16\] have different axes"
  // expect-clang: rotate, .*batch<2>, .*token<9>, .*hidden<32>>, .*and_, .*query<9>, .*hidden<16>>, .*have_different_axes
  // cause: The cosines have an axis that x does not have.
  // cure: Rename it: `cosines | rename_axis<query, token>`.
  const auto cosines = rope_cosines<split_halves, query<9>, hidden<32>>();
  auto r = rotate<split_halves, hidden>(x, cosines, cosines);
#elif defined CASE_rotate_by_cosines_and_no_sines
  // expect-gcc: "umbel: rotate: \[hidden=16\] and \[token=9, hidden=16\] have different axes"
  // expect-clang: rotate, .*hidden<16>>, .*and_, .*token<9>, .*hidden<16>>, .*have_different_axes
  // cause: Cosines and sines have different positions.
  // cure: Look up both by the same positions.
  const auto sines = rope_sines<split_halves, token<9>, hidden<32>>();
  auto r = rotate<split_halves, hidden>(x, tensor<float, hidden<16>>{}, sines);
#elif defined CASE_rotate_by_numbers
  // expect-gcc: "umbel: rotate: expects a tensor or view, then cosines and sines"
  // expect-clang: rotate, .*expects_a_tensor_then_cosines_and_sines
  // cause: Cosines and sines must be tensors or views.
  // cure: Pass a table, `rope_cosines<split_halves, token<9>, hidden<32>>()`, or one angle for all positions: `tensor<float, hidden<16>>`.
  auto r = rotate<split_halves, hidden>(x, 1.0f, 0.0f);
#elif defined CASE_rotate_by_positions_of_another_size
  // expect-gcc: "umbel: rotate: the left side has token=9 but the right side has token=10"
  // expect-clang: rotate, .*the_left_side_has, .*token<9>, .*but_the_right_side_has, .*token<10>
  // cause: The cosines or the positions have an axis of x with a different size.
  // cure: Use as many as x has: `cosines | slice<token, from<0>, extent<9>>`, or `positions | slice<token, from<0>, extent<9>>`.
  auto r = rotate<split_halves, token<99>, hidden>(x, tensor<int, token<10>>{});
#elif defined CASE_rotate_by_positions_of_another_axis
  // expect-gcc: "umbel: rotate: \[batch=2, token=9, hidden=32\] and \[query=9\] have different axes"
  // expect-clang: rotate, .*batch<2>, .*token<9>, .*hidden<32>>, .*and_, .*query<9>>, .*have_different_axes
  // cause: The positions have an axis that x does not have, or its feature axis.
  // cure: Rename it: `positions | rename_axis<query, token>`.
  auto r = rotate<split_halves, token<99>, hidden>(x, tensor<int, query<9>>{});
#elif defined CASE_rotate_by_positions_that_are_fractions
  // expect-gcc: "umbel: rotate: needs integers, not float"
  // expect-clang: rotate, .*needs_integers_not, .*element<float>
  // cause: Positions are rows of a table, so they must be integers.
  // cure: Use a tensor of `int`, or compute the angles: `rotate<split_halves, hidden>(x, cosines, sines)`.
  auto r = rotate<split_halves, token<99>, hidden>(x, tensor<float, token<9>>{});
#elif defined CASE_rotate_by_a_number
  // expect-gcc: "umbel: rotate: expects a tensor or view, then a tensor or view of positions"
  // expect-clang: rotate, .*expects_a_tensor_then_positions
  // cause: Positions must be a tensor or view.
  // cure: For one position for all, pass a tensor without axes: `tensor<int>{5}`.
  auto r = rotate<split_halves, token<99>, hidden>(x, 5);
#elif defined CASE_rope_table_of_an_odd_width
  // expect-gcc: "umbel: rope_sines: rope rotates pairs but hidden=5 is odd"
  // expect-clang: rope_sines, .*rope_rotates_pairs_but, .*hidden<5>, .*is_odd
  // cause: Pairs of features are rotated, but there is an odd number of them.
  // cure: Name the feature axis last, or rotate fewer features: `rotate<rope<split_halves, 10000, 4>, token, hidden>(x)`.
  auto r = rope_sines<split_halves, token<9>, hidden<5>>();
#else
  auto r = place(place(x), 3) | place;
  const auto cosines = rope_cosines<split_halves, token<9>, hidden<32>>();
  tokens turned =
      rotate<split_halves, hidden>(x | rotate<split_halves, token, hidden>, cosines, cosines);
  turned = rotate<split_halves, token<99>, hidden>(turned, tensor<int, token<9>>{});
  (void)r, (void)turned;
#endif
}
