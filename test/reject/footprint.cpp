// SPDX-License-Identifier: BSL-1.0
// Mistakes in calls of footprint (check.py).
#include <umbel/umbel.hpp>

#include <umbel/inspect/footprint.hpp>
#include <umbel/quantized.hpp>

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<64>, heads<4>>;
using past = key_value_cache<attention, key<256>>;
using decoder = decoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<false>,
                              activation<relu>, bias<true>>;

#if defined CASE_footprint_no_layer
// expect-gcc: "umbel: footprint: expects a layer, a cache or a formula; then the axes of a call, such as token<64>, or the types of its arguments"
// expect-clang: footprint.*expects_a_layer_a_cache_or_a_formula_then_the_axes_of_a_call_or_the_types_of_its_arguments
// cause: A footprint is that of a call: of a layer, of a formula, or of a step of a cache.
// cure: Name the layer, then the axes or the tensors of its call: `footprint<encoder, token<64>>`.
constexpr auto needs = footprint<int, token<64>>;
#elif defined CASE_footprint_no_axes
// expect-gcc: "umbel: footprint: expects a layer, a cache or a formula; then the axes of a call, such as token<64>, or the types of its arguments"
// expect-clang: footprint.*expects_a_layer_a_cache_or_a_formula_then_the_axes_of_a_call_or_the_types_of_its_arguments
// cause: A footprint is that of a call: of a layer, of a formula, or of a step of a cache.
// cure: Name the layer, then the axes or the tensors of its call: `footprint<encoder, token<64>>`.
constexpr auto needs = footprint<attention>;
#elif defined CASE_footprint_of_nothing
// expect-gcc: "umbel: footprint: expects a layer, a cache or a formula; then the axes of a call, such as token<64>, or the types of its arguments"
// expect-clang: footprint.*expects_a_layer_a_cache_or_a_formula_then_the_axes_of_a_call_or_the_types_of_its_arguments
// cause: A footprint is that of a call: of a layer, of a formula, or of a step of a cache.
// cure: Name the layer, then the axes or the tensors of its call: `footprint<encoder, token<64>>`.
constexpr auto needs = footprint<>;
#elif defined CASE_footprint_of_weights
// expect-gcc: "umbel: footprint: expects a layer, a cache or a formula; then the axes of a call, such as token<64>, or the types of its arguments"
// expect-clang: footprint.*expects_a_layer_a_cache_or_a_formula_then_the_axes_of_a_call_or_the_types_of_its_arguments
// cause: A footprint is that of a call: of a layer, of a formula, or of a step of a cache.
// cure: Name the layer, then the axes or the tensors of its call: `footprint<encoder, token<64>>`.
constexpr auto needs = footprint<attention::weights, token<4>>;
#elif defined CASE_footprint_of_a_type_in_place_of_an_axis
// expect-gcc: "umbel: footprint: expects a layer, a cache or a formula; then the axes of a call, such as token<64>, or the types of its arguments"
// expect-clang: footprint.*expects_a_layer_a_cache_or_a_formula_then_the_axes_of_a_call_or_the_types_of_its_arguments
// cause: A footprint is that of a call: of a layer, of a formula, or of a step of a cache.
// cure: Name the layer, then the axes or the tensors of its call: `footprint<encoder, token<64>>`.
constexpr auto needs = footprint<attention, float>;
#elif defined CASE_footprint_features
// expect-gcc: "umbel: shape: the axis hidden is named twice in \[hidden=64, hidden=64\]"
// expect-clang: shape, .*the_axis, .*hidden>, .*is_named_twice_in
// cause: An axis of the call is the feature axis of the layer, which the layer already knows.
// cure: Write the number of positions: `footprint<attention, token<64>>`.
constexpr auto needs = footprint<attention, hidden<64>>;
#elif defined CASE_footprint_other_width
// expect-gcc: "umbel: multi_head_attention: the sequence has hidden=32 but the layer has hidden=64"
// expect-clang: multi_head_attention, .*the_sequence, .*has, .*hidden<32>, .*but_the_layer_has, .*hidden<64>
// cause: The sequence and the layer have different widths.
// cure: Pass a sequence with the width of the layer, or declare the layer for this width.
constexpr auto needs = footprint<attention, tensor<float, token<4>, hidden<32>>>;
#elif defined CASE_footprint_of_integers_with_floats
// expect-gcc: "umbel: quantized: the input has type float but 8-bit integers are needed; convert floats with quantize<std::int8_t>\(x, range\)"
// expect-clang: quantized, .*the_input_has_type, .*float.*but_8_bit_integers_are_needed
// cause: The input is floats, and Umbel converts nothing implicitly.
// cure: Write `quantize<std::int8_t>(x, seen.queries)` at the input of the model.
constexpr auto needs = footprint<quantized<attention>, tensor<float, token<4>, hidden<64>>>;
#elif defined CASE_footprint_without_the_memory
// expect-gcc: "umbel: footprint: the axis of the memory is missing after token=9"
// expect-clang: footprint, .*the_axis_of_the_memory_is_missing_after, .*token<9>
// cause: A decoder layer also attends to a memory, and its footprint depends on the length of that.
// cure: Add its positions last: `footprint<decoder, token<9>, key<48>>`.
constexpr auto needs = footprint<decoder, token<9>>;
#elif defined CASE_footprint_of_decoders_without_the_memory
// expect-gcc: "umbel: footprint: the axis of the memory is missing after token=9"
// expect-clang: footprint, .*the_axis_of_the_memory_is_missing_after, .*token<9>
// cause: A decoder layer also attends to a memory, and its footprint depends on the length of that.
// cure: Add its positions last: `footprint<decoder, token<9>, key<48>>`.
constexpr auto needs = footprint<layer_stack<decoder, 2>, batch<2>, token<9>>;
#elif defined CASE_footprint_step_without_positions
// expect-gcc: "umbel: footprint: expects a cache; then the axis of the new positions, such as token<1>; then key<100>, all positions; then, for decoder layers, key<48>, those of the memory"
// expect-clang: footprint.*expects_a_cache_then_the_axis_of_the_new_positions_then_key_for_all_positions_then_for_decoder_layers_key_for_the_memory
// cause: The footprint of a step depends on the number of new positions and of all positions; only decoder layers also have a memory.
// cure: Write `footprint<past, token<1>>`; add `key<100>` if the cache is not full then.
constexpr auto needs = footprint<past>;
#elif defined CASE_footprint_step_of_features
// expect-gcc: "umbel: footprint: expected the axis token but got hidden=64"
// expect-clang: footprint.*expected_the_axis.*token>.*but_got.*hidden<64>
// cause: A step adds positions, not features.
// cure: Write the number of new positions: `footprint<past, token<1>>`.
constexpr auto needs = footprint<past, hidden<64>>;
#elif defined CASE_footprint_step_too_long
// expect-gcc: "umbel: key_value_cache: a step may append at most 256, got token=300"
// expect-clang: key_value_cache, .*a_step_may_append_at_most, .*256>, .*got, .*token<300>
// cause: The step has more positions than the cache has room for.
// cure: Declare a larger cache, `key_value_cache<attention, key<300>>`, or make several smaller steps.
constexpr auto needs = footprint<past, token<300>>;
#elif defined CASE_footprint_fewer_than_new
// expect-gcc: "umbel: footprint: key=2 positions in total cannot be fewer than the new ones, token=3"
// expect-clang: footprint, .*key<2>, .*positions_in_total_cannot_be_fewer_than_the_new_ones, .*token<3>
// cause: The total includes the positions that the step adds.
// cure: Write the length of the sequence after the step.
constexpr auto needs = footprint<past, token<3>, key<2>>;
#elif defined CASE_footprint_more_than_room
// expect-gcc: "umbel: footprint: key=300 positions in total, but the cache has only key=256"
// expect-clang: footprint, .*key<300>, .*positions_in_total_but_the_cache_has_only, .*key<256>
// cause: The sequence is longer than the cache has memory for, or than `longest_sequence`.
// cure: Write at most that number, or declare a larger cache.
constexpr auto needs = footprint<past, token<1>, key<300>>;
#elif defined CASE_footprint_longer_memory
// expect-gcc: "umbel: key_value_cache: longest_memory=9 must be at least key=12"
// expect-clang: key_value_cache, .*longest_memory<9>, .*must_be_at_least, .*key<12>
// cause: The memory is longer than the cache has room for.
// cure: Use at most that length, or declare the cache for longer ones, `longest_memory<12>`.
using beside_memory = key_value_cache<layer_stack<decoder, 2>, key<32>, longest_memory<9>>;
constexpr auto needs = footprint<beside_memory, token<1>, key<5>, key<12>>;
#elif defined CASE_footprint_memory_of_attention
// expect-gcc: "umbel: footprint: expects a cache; then the axis of the new positions, such as token<1>; then key<100>, all positions; then, for decoder layers, key<48>, those of the memory"
// expect-clang: footprint.*expects_a_cache_then_the_axis_of_the_new_positions_then_key_for_all_positions_then_for_decoder_layers_key_for_the_memory
// cause: The footprint of a step depends on the number of new positions and of all positions; only decoder layers also have a memory.
// cure: Write `footprint<past, token<1>>`; add `key<100>` if the cache is not full then.
constexpr auto needs = footprint<past, token<1>, key<5>, key<12>>;
#elif defined CASE_footprint_cache_of_another_layer
// expect-gcc: "umbel: key_value_cache: the layer is not the one that the cache was declared for"
// expect-clang: key_value_cache, .*the_layer_is_not_the_one_that_the_cache_was_declared_for
// cause: The keys and values of one layer have no meaning for a different layer, nor for a stack that contains it.
// cure: Declare one cache for each layer, or one for the stack, with its type.
using other = multi_head_attention<float, hidden<64>, heads<2>>;
constexpr auto needs = footprint<prepacked<other>, past, token<1>>;
#elif defined CASE_footprint_formula_of_other_shapes
// expect-gcc: "umbel: contract: the left side has key=6 but the right side has key=5"
// expect-clang: contract, .*the_left_side_has, .*key<6>, .*but_the_right_side_has, .*key<5>
// lines-clang: 32
// cause: A formula has the same errors when it is described as when it is called.
// cure: Pass arguments whose shapes match.
constexpr formula context = [](auto a, auto b) { return contract<key>(a, b); };
constexpr auto needs = footprint<decltype(context), tensor<float, query<4>, key<6>>,
                                 tensor<float, key<5>, head_dim<8>>>;
#elif defined CASE_footprint_formula_of_other_arguments
// expect-gcc: "umbel: formula: the function has 2 parameters but the call has 1"
// expect-clang: formula, .*the_function_has, .*number<2>, .*parameters_but_the_call_has, .*number<1>
// cause: A formula has the same errors when it is described as when it is called.
// cure: Write the types of all arguments.
constexpr formula context = [](auto a, auto b) { return contract<key>(a, b); };
constexpr auto needs = footprint<decltype(context), tensor<float, query<4>, key<6>>>;
#elif defined CASE_footprint_formula_of_axes
// expect-gcc: "umbel: formula: its footprint and workspace_for need the types of its arguments, not the axis token=12"
// expect-clang: formula, .*its_footprint_and_workspace_for_need_the_types_of_its_arguments_not_the_axis, .*token<12>
// cause: A layer has known tensors, so that axes are enough; the arguments of a formula can be anything.
// cure: Write the types of the arguments: `footprint<decltype(f), tensor<float, token<12>, hidden<64>>>`.
constexpr formula twice = [](auto a) { return a * 2; };
constexpr auto needs = footprint<decltype(twice), token<12>>;
#else
constexpr auto needs = footprint<prepacked<attention>, past, token<1>, key<100>>;
#endif
static_assert(needs.ram <= 256 * 1024);
