// SPDX-License-Identifier: BSL-1.0
// Mistakes with sinusoidal_positions: one case each, with the words that the compiler must print
// (check.py). Those with learned_positions are in blocks.cpp.
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
  // cause: The sequence has more positions than the table, or is of another width.
  // cure: Declare the table for the longest sequence: it is computed, not trained.
  auto r = place(tensor<float, batch<2>, token<10>, hidden<32>>{});
#elif defined CASE_sinusoids_of_another_width
  // expect-gcc: "umbel: sinusoidal_positions: the input has hidden=16 but the table has hidden=32"
  // expect-clang: sinusoidal_positions.*the_input_has.*hidden<16>.*but_the_table_has.*hidden<32>
  // cause: The sequence has more positions than the table, or is of another width.
  // cure: Declare the table for the longest sequence: it is computed, not trained.
  auto r = place(tensor<float, batch<2>, token<9>, hidden<16>>{}, 2);
#elif defined CASE_sinusoids_absent_axis
  // expect-gcc: "umbel: sinusoidal_positions: there is no axis token in \[batch=2, query=9, hidden=32\]"
  // expect-clang: sinusoidal_positions.*there_is_no_axis.*token>.*in.*batch<2>.*query<9>.*hidden<32>
  // cause: The input has no axis along which the table has its positions.
  // cure: Rename the axis: `x | rename_axis<query, token>`.
  auto r = place(tensor<float, batch<2>, query<9>, hidden<32>>{});
#elif defined CASE_sinusoids_type
  // expect-gcc: "umbel: sinusoidal_positions: the input is of type double but the table is of type float"
  // expect-clang: sinusoidal_positions.*the_input_is_of_type.*element<double>.*but_the_table_is_of_type.*element<float>
  // cause: Input or layer and the table have different element types, and nothing is converted in silence.
  // cure: Declare all with one type.
  auto r = place(tensor<double, batch<2>, token<9>, hidden<32>>{});
#elif defined CASE_sinusoids_of_another_layout
  // expect-gcc: "umbel: sinusoidal_positions: the layout must be adjacent_pairs, split_halves or split_halves_to_base, not hidden=32"
  // expect-clang: sinusoidal_positions.*the_layout_must_be_adjacent_pairs_split_halves_or_split_halves_to_base_not.*hidden<32>
  // cause: The layout of the table, which differs between models, is not one of the three that there are.
  // cure: Say it after the axes: `adjacent_pairs` is the paper's.
  sinusoidal_positions<float, batch<2>, token<9>, hidden<32>> r;
#elif defined CASE_sinusoids_of_an_unsaid_layout
  // expect-gcc: "umbel: sinusoidal_positions: needs a layout: adjacent_pairs, split_halves or split_halves_to_base"
  // expect-clang: sinusoidal_positions.*needs_a_layout_adjacent_pairs_split_halves_or_split_halves_to_base
  // cause: The layout of the table, which differs between models, is not said.
  // cure: Say it after the axes: `adjacent_pairs` is the paper's.
  sinusoidal_positions<float, token<9>, hidden<32>> r;
#elif defined CASE_sinusoids_of_base_0
  // expect-gcc: "umbel: sinusoidal_positions: needs a base above 0"
  // expect-clang: sinusoidal_positions.*needs_a_base_above_0
  // cause: The angles are powers of the base, the last argument; a power of 0 is none.
  // cure: Leave it out for 10000, the paper's.
  sinusoidal_positions<float, token<49>, hidden<32>, split_halves, 0> none;
#elif defined CASE_sinusoids_of_integers
  // expect-gcc: "umbel: sinusoidal_positions: takes float or double, not int"
  // expect-clang: sinusoidal_positions.*takes_float_or_double_not.*element<int>
  // cause: A layer is declared with an element type that it cannot compute in.
  // cure: Declare it with float or double.
  sinusoidal_positions<int, token<9>, hidden<32>, adjacent_pairs> r;
#elif defined CASE_sinusoids_of_one_axis
  // expect-gcc: "umbel: shape: the axis hidden is named twice in \[hidden=9, hidden=32\]"
  // expect-clang: shape.*the_axis.*hidden>.*is_named_twice_in.*hidden<9>.*hidden<32>
  // cause: Two axes of one shape have one name.
  // cure: Give each axis a name of its own.
  sinusoidal_positions<float, hidden<9>, hidden<32>, adjacent_pairs> r;
#elif defined CASE_one_error_behind_a_mistake
  // expect-gcc: "umbel: sinusoidal_positions: there is no axis token in \[batch=2, hidden=32\]"
  // expect-clang: sinusoidal_positions.*there_is_no_axis.*token>.*in.*batch<2>.*hidden<32>
  // cause: The input has no axis along which the table has its positions.
  // cure: Rename the axis: `x | rename_axis<query, token>`.
  auto r = place(place(x | mean<token>), 3) | place;
#elif defined CASE_table_of_learned_positions_swapped
  // expect-gcc: "umbel: learned_positions: expected the axis token but got hidden=32"
  // expect-clang: learned_positions.*expected_the_axis.*token>.*but_got.*hidden<32>
  // cause: The table takes its positions first, then its features.
  // cure: Change them about: `<float, token<9>, hidden<32>>`.
  learned_positions<float, hidden<32>, token<9>>::weights none{};
  (void)none;
#elif defined CASE_table_of_sinusoids_swapped
  // expect-gcc: "umbel: sinusoidal_positions: expected the axis token but got hidden=32"
  // expect-clang: sinusoidal_positions.*expected_the_axis.*token>.*but_got.*hidden<32>
  // cause: The table takes its positions first, then its features.
  // cure: Change them about: `<float, token<9>, hidden<32>, ...>`.
  sinusoidal_positions<float, hidden<32>, token<9>, adjacent_pairs> r;
  (void)r;
#elif defined CASE_sinusoids_of_two
  // expect-gcc: "umbel: sinusoidal_positions: takes one tensor or view; then an integer"
  // expect-clang: sinusoidal_positions.*takes_one_tensor_or_view_then_an_integer
  // cause: What is placed is no tensor or view, or what follows it is no integer.
  // cure: Pass the tensor, then the position of its first row if that is not 0.
  auto r = sinusoidal_positions<float, token<9>, hidden<32>, adjacent_pairs>{}(x, x);
#else
  auto r = place(place(x), 3) | place;
  (void)r;
#endif
}
