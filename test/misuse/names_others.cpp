// SPDX-License-Identifier: BSL-1.0
// Functions of several rooms, called otherwise.
#include <misuse/all_headers.hpp>

using q_rows = tensor<float, batch<2>, heads<2>, query<4>, head_dim<4>>;
using k_rows = tensor<float, batch<2>, heads<2>, key<6>, head_dim<4>>;
inline const q_rows q{};
inline const k_rows k{};
inline const k_rows v{};
inline constexpr auto sink = [](const char*, std::size_t) { return true; };
inline attention::weights g;
inline quantized_mean<token<12>>::ranges of_mean{};
inline const quantized<head>::ranges fixed_ranges{};

#if defined CASE_own_score_called_at_once
// fact: attention_by_score
// fact: function
auto r = attention_by_score(q, k, v);
#elif defined CASE_rope_sines_of_an_odd_width
// fact: rope_sines
// fact: 5
constexpr auto r = rope_sines<split_halves, token<16>, head_dim<5>>();
#elif defined CASE_rope_sines_of_axes_without_sizes
// fact: rope_sines
// fact: size|axis|axes
constexpr auto r = rope_sines<split_halves, token, head_dim>();
#elif defined CASE_rope_sines_of_a_tensor
// fact: rope_sines
// fact: rotate|axes|no arguments
auto r = rope_sines<split_halves, query<4>, head_dim<4>>(q);
#elif defined CASE_npz_of_one_tensor
// fact: write_npz
// fact: put|name
void f() {
  const file_result<> made = write_npz(sink, "x", x);
  if (!made) std::puts(made.error());
}
#elif defined CASE_parameter_table_without_a_sink
// fact: write_parameter_table
// fact: sink
void f() { write_parameter_table(w); }
#elif defined CASE_histogram_of_a_tensor
// fact: magnitude_histogram|histogram
// fact: tensor|number
void f() {
  magnitude_histogram counted;
  counted.add(t);
}
#elif defined CASE_chain_of_const_ranges
// fact: chain_ranges
// fact: const
void f() { chain_ranges(of_mean, fixed_ranges); }
#elif defined CASE_colour_of_a_tensor
// fact: heat_colour
// fact: number|share
auto r = heat_colour(scores);
#elif defined CASE_colour_of_a_range
// fact: heat_colour
// fact: one|share
auto r = heat_colour(0.5, 0.0, 1.0);
#elif defined CASE_zeros_of_a_layer
// fact: set_to_zero
// fact: weights|layer
void f() { set_to_zero(attention{w}); }
#endif
