// SPDX-License-Identifier: BSL-1.0
// Mistakes in asking for the plan of a layer (check.py).
#include <umbel/umbel.hpp>

#include <umbel/inspect/describe.hpp>

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<64>, heads<4>>;

[[maybe_unused]] static void cases() {
#if defined CASE_describe_no_layer
  // expect-gcc: "umbel: describe: the first argument is not a multi_head_attention"
  // expect-clang: describe.*the_first_argument_is_not_a_multi_head_attention
  // cause: What is made for `multi_head_attention` is given another layer or type first.
  // cure: Name the layer of attention first; of an encoder layer that is `encoder::attention`.
  const char* page = describe<linear<float, hidden<8>, hidden<8>>, token<4>>();
#elif defined CASE_describe_features
  // expect-gcc: "umbel: describe: expected the axis token but got hidden=64"
  // expect-clang: describe.*expected_the_axis.*token>.*but_got.*hidden<64>
  // cause: A plan is for a number of positions, not of features.
  // cure: Say how many positions there are: `describe<attention, token<64>>()`.
  const char* page = describe<attention, hidden<64>>();
#elif defined CASE_describe_formula_of_other_shapes
  // expect-gcc: "umbel: contract: the left side has key=6 but the right side has key=5"
  // expect-clang: contract, .*the_left_side_has, .*key<6>, .*but_the_right_side_has, .*key<5>
  // lines-clang: 18
  // cause: What a formula says of its arguments when it is called, it says when it is described.
  // cure: Give it arguments that fit each other.
  const tensor<float, query<4>, key<6>> scores{};
  const tensor<float, key<5>, head_dim<8>> values{};
  constexpr formula context = [](auto a, auto b) { return contract<key>(softmax<key>(a), b); };
  const char* page = describe(context, scores, values);
#else
  const char* page = describe<attention, token<4>>();
  (void)page;
#endif
}
