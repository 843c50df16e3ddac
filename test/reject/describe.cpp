// SPDX-License-Identifier: BSL-1.0
// Mistakes in calls of describe (check.py).
#include <umbel/umbel.hpp>

#include <umbel/inspect/describe.hpp>

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<64>, heads<4>>;
using encoder = encoder_layer<float, hidden<64>, heads<4>, intermediate<128>, norm_first<true>,
                              activation<relu>, bias<true>>;
using decoder = decoder_layer<float, hidden<64>, heads<4>, intermediate<128>, norm_first<true>,
                              activation<relu>, bias<true>>;

[[maybe_unused]] static void cases() {
#if defined CASE_describe_no_layer
  // expect-gcc: "umbel: describe: expects a multi_head_attention, a feed_forward, an encoder_layer, a decoder_layer, a residual_block or a layer_stack; then the axis of its positions, such as token<64>; then, for a memory, the axis of its positions"
  // expect-clang: describe.*expects_a_layer_that_has_a_plan_then_the_axes_of_its_positions
  // cause: This layer has no plan, or needs other axes.
  // cure: Name one of these layers and the axes of a call: `describe<encoder, token<64>>()`.
  const char* page = describe<linear<float, hidden<8>, hidden<8>>, token<4>>();
#elif defined CASE_describe_features
  // expect-gcc: "umbel: describe: expected the axis token but got hidden=64"
  // expect-clang: describe.*expected_the_axis.*token>.*but_got.*hidden<64>
  // cause: A plan needs a number of positions, not of features.
  // cure: Add the number of positions: `describe<attention, token<64>>()`.
  const char* page = describe<attention, hidden<64>>();
#elif defined CASE_describe_more_axes
  // expect-gcc: "umbel: describe: expects a multi_head_attention, a feed_forward, an encoder_layer, a decoder_layer, a residual_block or a layer_stack; then the axis of its positions, such as token<64>; then, for a memory, the axis of its positions"
  // expect-clang: describe.*expects_a_layer_that_has_a_plan_then_the_axes_of_its_positions
  // cause: This layer has no plan, or needs other axes.
  // cure: Name one of these layers and the axes of a call: `describe<encoder, token<64>>()`.
  const char* page = describe<encoder, token<64>, key<48>>();
#elif defined CASE_describe_no_axes
  // expect-gcc: "umbel: describe: the axis token is missing"
  // expect-clang: describe.*the_axis.*token>.*is_missing
  // cause: A plan needs the number of positions.
  // cure: Add the number of positions: `describe<encoder, token<64>>()`.
  const char* page = describe<encoder>();
#elif defined CASE_describe_without_the_memory
  // expect-gcc: "umbel: describe: the axis of the memory is missing after token=9"
  // expect-clang: describe.*the_axis_of_the_memory_is_missing_after.*token<9>
  // cause: A decoder layer also attends to a memory, and the plan depends on its length.
  // cure: Add its positions last: `describe<decoder, token<9>, key<48>>()`.
  const char* page = describe<layer_stack<decoder, 2>, token<9>>();
#elif defined CASE_describe_formula_of_other_shapes
  // expect-gcc: "umbel: contract: the left side has key=6 but the right side has key=5"
  // expect-clang: contract, .*the_left_side_has, .*key<6>, .*but_the_right_side_has, .*key<5>
  // lines-clang: 18
  // cause: A formula has the same errors when it is described as when it is called.
  // cure: Pass arguments whose shapes match.
  const tensor<float, query<4>, key<6>> scores{};
  const tensor<float, key<5>, head_dim<8>> values{};
  constexpr formula context = [](auto a, auto b) { return contract<key>(softmax<key>(a), b); };
  const char* page = describe(context, scores, values);
#elif defined CASE_describe_of_fewer_arguments
  // expect-gcc: "umbel: formula: the function has other parameters, or copies weights; write const auto& w"
  // expect-clang: formula.*the_function_has_other_parameters_or_copies_weights_so_write_const_auto
  // cause: The function has a different number of parameters, or has weights as values, which each call would copy.
  // cure: Pass as many arguments as it has parameters, and optionally a workspace last; write `const auto& w` for weights.
  constexpr formula sum_of = [](auto a, auto b) { return a + b; };
  const char* r = describe(sum_of, tensor<float, token<9>>{});
#elif defined CASE_describe_of_an_object
  // expect-gcc: "umbel: describe: expects types, not objects; write describe<attention, token<64>>\(\)"
  // expect-clang: describe.*expects_types_not_objects_so_write_describe_of_layer_and_axes
  // cause: A plan depends on the types and sizes of a call, not on weights or elements.
  // cure: Write `describe<attention, token<64>>()`.
  static attention::weights w;
  const char* r = describe(attention{w}, tensor<float, token<9>, hidden<64>>{});
#elif defined CASE_describe_of_a_tensor
  // expect-gcc: "umbel: describe: expects types, not objects; write describe<attention, token<64>>\(\)"
  // expect-clang: describe.*expects_types_not_objects_so_write_describe_of_layer_and_axes
  // cause: A plan depends on the types and sizes of a call, not on weights or elements.
  // cure: Write `describe<attention, token<64>>()`.
  const char* r = describe(tensor<float, token<9>, hidden<64>>{});
#elif defined CASE_plan_of_no_positions
  // expect-gcc: "umbel: plan_of: expects the types of a layer and of its axes; write plan_of<attention, token<64>>"
  // expect-clang: plan_of, .*expects_the_types_of_a_layer_and_of_its_axes_so_write_plan_of_layer_and_token
  // cause: The plan depends on the number of positions, and on types alone.
  // cure: Name their axes: `plan_of<attention, token<64>>`, `plan_of<attention, query<4>, key<300>>`.
  const double r = plan_of<attention>::flops;
  (void)r;
#elif defined CASE_plan_of_a_call
  // expect-gcc: "umbel: plan_of: expects the types of a layer and of its axes; write plan_of<attention, token<64>>"
  // expect-clang: plan_of, .*expects_the_types_of_a_layer_and_of_its_axes_so_write_plan_of_layer_and_token
  // cause: The plan depends on the number of positions, and on types alone.
  // cure: Name their axes: `plan_of<attention, token<64>>`, `plan_of<attention, query<4>, key<300>>`.
  static attention::weights w;
  auto r = plan_of(attention{w}, tensor<float, token<9>, hidden<64>>{});
#else
  const char* page = describe<attention, token<4>>();
  (void)page;
#endif
}
