// SPDX-License-Identifier: BSL-1.0
// Mistakes in elementwise arithmetic, loops and contractions (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;

[[maybe_unused]] static void cases(queries& x, context& y) {
  tensor<float, batch<2>, key<6>, hidden<80>> narrow{};
  tensor<float, batch<3>, key<6>, hidden<100>> third{};
  tensor<double, batch<2>, query<4>, hidden<100>> doubles{};
  (void)x, (void)y, (void)narrow, (void)third, (void)doubles;
#if defined CASE_contract_absent_left
  // expect-gcc: "umbel: contract: the left side \[batch=2, query=4, hidden=100\] has no axis key"
  // expect-clang: contract, .*the_left_side, .*batch<2>, .*query<4>, .*hidden<100>>, .*has_no_axis, .*key>
  // cause: Only the right side has the axis to sum over.
  // cure: Contract over an axis of both, or rename the left side's: `x | rename_axis<query, key>`.
  auto r = contract<key>(x, y);
#elif defined CASE_contract_absent_right
  // expect-gcc: "umbel: contract: the right side \[batch=2, key=6, hidden=100\] has no axis query"
  // expect-clang: contract, .*the_right_side, .*batch<2>, .*key<6>, .*hidden<100>>, .*has_no_axis, .*query>
  // cause: Only the left side has the axis to sum over.
  // cure: Contract over an axis of both, or rename the right side's: `y | rename_axis<key, query>`.
  auto r = contract<query>(x, y);
#elif defined CASE_contract_absent_both
  // expect-gcc: "umbel: contract: neither \[batch=2, query=4, hidden=100\] nor \[batch=2, key=6, hidden=100\] has an axis head_dim"
  // expect-clang: contract, .*neither, .*query<4>, .*hidden<100>>, .*nor, .*key<6>, .*hidden<100>>, .*has_an_axis, .*head_dim>
  // cause: No side has the axis to sum over; often a split was forgotten.
  // cure: Contract over an axis of both, or split it off first.
  auto r = contract<head_dim>(x, y);
#elif defined CASE_contract_sizes
  // expect-gcc: "umbel: contract: over hidden left has hidden=100 but right has hidden=80"
  // expect-clang: contract, .*over, .*hidden>, .*left_has, .*hidden<100>, .*but_right_has, .*hidden<80>
  // cause: The axis to sum over has two sizes.
  // cure: Give both sides the same size; after a split, the same number of heads.
  auto r = contract<hidden>(x, narrow);
#elif defined CASE_contract_another_batch
  // expect-gcc: "umbel: contract: left has batch=2 but right has batch=3"
  // expect-clang: contract, .*left_has, .*batch<2>, .*but_right_has, .*batch<3>
  // cause: Both sides have another axis of the same name, which pairs up, with two sizes.
  // cure: Give it the same size; if the two are not to pair up, rename one.
  auto r = contract<hidden>(x, third);
#elif defined CASE_contract_element_types
  // expect-gcc: "umbel: contract: the left side holds float but the right side holds double"
  // expect-clang: contract, .*the_left_side_holds, .*element<float>, .*but_the_right_side_holds, .*element<double>
  // cause: The sides have different element types, and nothing is converted in silence.
  // cure: Declare both with one type.
  auto r = contract<hidden>(y, doubles);
#elif defined CASE_contract_permuted_views
  // expect-gcc: "umbel: contract: over head_dim left has head_dim=20 but right has head_dim=25"
  // expect-clang: contract, .*over, .*head_dim>, .*left_has, .*head_dim<20>, .*but_right_has, .*head_dim<25>
  // cause: The axis to sum over has two sizes.
  // cure: Give both sides the same size; after a split, the same number of heads.
  auto r = contract<head_dim>(x | split<hidden, heads<5>, head_dim>,
                              y | split<hidden, heads<4>, head_dim>);
#elif defined CASE_add_other_axes
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes"
  // expect-clang: elementwise, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*batch<2>, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: Two tensors of different axes or sizes are added, multiplied or looped over together.
  // cure: `broadcast` the smaller one to the larger one's axes, or rename the axis that differs.
  auto r = x + y;
#elif defined CASE_multiply_other_size
  // expect-gcc: "umbel: elementwise: \[batch=2, key=6, hidden=100\] and \[batch=3, key=6, hidden=100\] have different axes"
  // expect-clang: elementwise, .*batch<2>, .*key<6>, .*hidden<100>>, .*and_, .*batch<3>, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: Two tensors of different axes or sizes are added, multiplied or looped over together.
  // cure: `broadcast` the smaller one to the larger one's axes, or rename the axis that differs.
  auto r = y * third;
#elif defined CASE_add_fewer_axes
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, hidden=100\] and \[batch=2, hidden=100\] have different axes"
  // expect-clang: elementwise, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*batch<2>, .*hidden<100>>, .*have_different_axes
  // cause: Two tensors of different axes or sizes are added, multiplied or looped over together.
  // cure: `broadcast` the smaller one to the larger one's axes, or rename the axis that differs.
  auto r = x - (x | select_at<query, 0>);
#elif defined CASE_add_another_order
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, hidden=100\] and \[query=4, batch=2, hidden=100\] have the same axes in another order so permute one"
  // expect-clang: elementwise, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*query<4>, .*batch<2>, .*hidden<100>>, .*have_the_same_axes_in_another_order_so_permute_one
  // cause: The same axes come in two orders; elements pair up by position.
  // cure: `permute` one side into the order of the other.
  auto r = x + (x | permute<query, batch, hidden>);
#elif defined CASE_add_element_types
  // expect-gcc: "umbel: elementwise: the left side holds float but the right side holds double"
  // expect-clang: elementwise, .*the_left_side_holds, .*element<float>, .*but_the_right_side_holds, .*element<double>
  // cause: The sides have different element types, and nothing is converted in silence.
  // cure: Declare both with one type.
  auto r = x + doubles;
#elif defined CASE_for_each_other_axes
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes"
  // expect-clang: elementwise, .*batch<2>, .*query<4>, .*hidden<100>>, .*and_, .*batch<2>, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: Two tensors of different axes or sizes are added, multiplied or looped over together.
  // cure: `broadcast` the smaller one to the larger one's axes, or rename the axis that differs.
  for_each([](float&, float, float) {}, x, x, y);
#elif defined CASE_scores_from_swapped_arguments
  // expect-gcc: "umbel: copy: \[batch=2, query=4, key=6\] and \[batch=2, key=6, query=4\] have the same axes in another order so permute one"
  // expect-clang: copy, .*batch<2>, .*query<4>, .*key<6>>, .*and_, .*batch<2>, .*key<6>, .*query<4>>, .*have_the_same_axes_in_another_order_so_permute_one
  // cause: The arguments of `contract` are swapped: its result has the left side's axes first.
  // cure: Swap them back, `contract<hidden>(queries, keys)`, or permute the result.
  tensor<float, batch<2>, query<4>, key<6>> scores = contract<hidden>(y, x);
#else
  tensor<float, batch<2>, query<4>, key<6>> scores = contract<hidden>(x, y) * 0.1f;
  x = x + x;
  (void)scores;
#endif
}
