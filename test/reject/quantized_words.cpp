// SPDX-License-Identifier: BSL-1.0
// Integers: tensors of the wrong type or size.
#include <umbel/quantized.hpp>

using namespace umbel;
using namespace umbel::axes;

using table = learned_positions<float, token<5>, hidden<4>>;
using words = embedding<float, vocabulary<9>, hidden<4>>;

constexpr tensor<float, token<5>, hidden<4>> rows{};

#if defined CASE_positions_of_8_bits
// expect-gcc: "umbel: quantized: the input has type std::int8_t but the table has type std::int16_t"
// expect-clang: quantized, .*the_input_has_type, .*but_the_table_has_type
// cause: Positions are added to a residual sum, which has 16 bits.
// cure: Let the previous layer return std::int16_t, with output_as<std::int16_t>.
auto x = quantized<table>{}(tensor<std::int8_t, token<5>, hidden<4>>{});
#elif defined CASE_positions_of_another_length
// expect-gcc: "umbel: quantized: the input has token=6 but the table has token=5"
// expect-clang: quantized, .*the_input_has, .*token<6>, .*but_the_table_has, .*token<5>
// cause: The sequence has a different length than the table.
// cure: Use one length for both; for a shorter sequence, pass its first position: `positions(x, cache.size())`.
auto x = quantized<table>{}(tensor<std::int16_t, token<6>, hidden<4>>{});
#elif defined CASE_words_that_are_no_integers
// expect-gcc: "umbel: quantized: needs integers, not float"
// expect-clang: quantized, .*needs_integers_not, .*float
// cause: Vocabulary entries are passed as integers, their numbers in the vocabulary.
// cure: Pass a tensor of integers.
auto x = quantized<words>{}(tensor<float, token<2>>{});
#elif defined CASE_mean_of_16_bits
// expect-gcc: "umbel: quantized_mean: needs 8-bit integers, not std::int16_t"
// expect-clang: quantized_mean, .*needs_8_bit_integers_not, .*short
// cause: The mean needs activations, which have 8 bits.
// cure: Put a norm before it.
auto x = quantized_mean<token<5>>{}(tensor<std::int16_t, token<5>, hidden<4>>{});
#elif defined CASE_mean_over_another_size
// expect-gcc: "umbel: quantized_mean: the input has token=6 but the mean is over token=5"
// expect-clang: quantized_mean, .*the_input_has, .*token<6>, .*but_the_mean_is_over, .*token<5>
// cause: The mean divides by the size of its axis, but the input has a different size.
// cure: Write the size of the input, `quantized_mean<token<6>>`.
auto x = quantized_mean<token<5>>{}(tensor<std::int8_t, token<6>, hidden<4>>{});
#elif defined CASE_mean_over_an_axis_that_is_not_there
// expect-gcc: "umbel: quantized_mean: there is no axis query in \[token=5, hidden=4\]"
// expect-clang: quantized_mean, .*query
// cause: The input has no such axis.
// cure: Name one of its axes.
auto x = quantized_mean<query<5>>{}(tensor<std::int8_t, token<5>, hidden<4>>{});
#elif defined CASE_mean_of_lengths_along_tokens
// expect-gcc: "umbel: quantized_mean: lengths have \[token=5\] but the means have \[hidden=4\]"
// expect-clang: quantized_mean, .*lengths_have, .*token<5>.*but_the_means_have, .*hidden<4>
// cause: There is a length for each sequence of a batch with a different size, or for an axis that the means do not have.
// cure: Pass one length for each sequence, `tensor<int, batch<2>>`, or an integer for all.
auto x =
    quantized_mean<token<5>>{}(tensor<std::int8_t, token<5>, hidden<4>>{}, tensor<int, token<5>>{});
#elif defined CASE_cache_of_a_formula_without_its_header
// expect-gcc: "umbel: key_value_cache: of a formula in integers needs its header; add #include <umbel/quantized/cache_of_formula\.hpp>"
// expect-clang: key_value_cache.*of_a_formula_in_integers_needs_its_header_so_include_quantized_cache_of_formula
// cause: Caches of formulas in integers are not part of umbel/quantized.hpp.
// cure: Write `#include <umbel/quantized/cache_of_formula.hpp>`.
constexpr formula f = [](auto a) { return a + a; };
static key_value_cache<quantized<decltype(f), tensor<float, token<4>, hidden<8>>>, key<4>> past;
#elif defined CASE_mean_as_float
// expect-gcc: "umbel: quantized_mean: the result must be std::int8_t or std::int16_t, not float"
// expect-clang: quantized_mean, .*the_result_must_be_int8_t_or_int16_t_not, .*float
// cause: An integer layer returns 8 bits, or 16 bits for a residual sum.
// cure: Leave output_as<> out, or write output_as<std::int16_t>.
auto x = quantized_mean<token<5>, output_as<float>>{}(tensor<std::int8_t, token<5>, hidden<4>>{});
#else
auto a = quantize<std::int8_t>(rows, tensor<float>{1.0F});
auto b = dequantize(a | quantized_mean<token<5>>{}, tensor<float>{1.0F});
auto d = quantized_mean<token<5>>{}(a, 3);
auto c = quantized<words>{}(tensor<int, token<5>>{}) | quantized<table>{};
#endif
