// SPDX-License-Identifier: BSL-1.0
// Mistakes in shapes, and in the operations that only re-read memory: one case each, with the
// message that the compiler must print (check.py). Computing and memory: computing.cpp, memory.cpp.
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct channel : axis<channel, N> {};
template <std::size_t N>
struct frames : axis<token, N> {};
struct speaker : axis<token, 4> {};
namespace pictures {
template <std::size_t N>
struct channel_of_a_picture : axis<channel_of_a_picture, N> {};
}  // namespace pictures

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using by_head = tensor<float, batch<2>, heads<5>, query<4>, head_dim<20>>;

[[maybe_unused]] static void cases(queries& x, by_head& h) {
  (void)x, (void)h;
#if defined CASE_split_uneven
  // expect-gcc: "umbel: split: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: split, .*hidden<100>, .*into, .*heads<7>, .*leaves_a_remainder_of, .*number<2>
  // cause: The axis cannot be cut into that many equal parts.
  // cure: Choose a number of parts that divides the size, or change the size.
  auto r = split<hidden, heads<7>, head_dim>(x);
#elif defined CASE_split_absent_axis
  // expect-gcc: "umbel: split: there is no axis channel in \[batch=2, query=4, hidden=100\]"
  // expect-clang: split, .*there_is_no_axis, .*channel>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The axis to split is not an axis of the tensor.
  // cure: Split an axis in the brackets; a custom axis differs from it, however similar its name.
  auto r = split<channel, heads<5>, head_dim>(x);
#elif defined CASE_split_outer_name_taken
  // expect-gcc: "umbel: split: query is already an axis of \[batch=2, query=4, hidden=100\]"
  // expect-clang: split, .*query>, .*is_already_an_axis_of, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: A part has the name of an existing axis.
  // cure: Rename the part, or rename the existing axis with `rename_axis`.
  auto r = split<hidden, query<5>, head_dim>(x);
#elif defined CASE_split_inner_name_taken
  // expect-gcc: "umbel: split: batch is already an axis of \[batch=2, query=4, hidden=100\]"
  // expect-clang: split, .*batch>, .*is_already_an_axis_of, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: A part has the name of an existing axis.
  // cure: Rename the part, or rename the existing axis with `rename_axis`.
  auto r = split<hidden, heads<5>, batch>(x);
#elif defined CASE_split_parts_of_one_name
  // expect-gcc: "umbel: split: the axis heads is named twice in \[heads=5\]"
  // expect-clang: split.*the_axis.*heads>.*is_named_twice_in.*heads<5>
  // cause: Both parts have the same name.
  // cure: Choose two names for the parts: `split<hidden, heads<5>, head_dim>`.
  auto r = split<hidden, heads<5>, heads>(x);
#elif defined CASE_split_into_nothing
  // expect-gcc: "umbel: shape: heads=0 has size 0 in \[heads=0\]"
  // expect-clang: shape, .*heads<0>, .*has_size_0_in
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  auto r = split<hidden, heads<0>, head_dim>(x);
#elif defined CASE_split_into_not_multiplying_up
  // expect-gcc: "umbel: split: the parts \[heads=5, head_dim=10\] multiply to 50 but the whole is hidden=100"
  // expect-clang: split.*the_parts.*heads<5>.*head_dim<10>.*multiply_to.*number<50>.*but_the_whole_is.*hidden<100>
  // cause: The sizes given to `split_into` do not multiply to the size of the axis.
  // cure: Correct a size, or use `split`, which computes the inner size.
  auto r = split_into<hidden, heads<5>, head_dim<10>>(x);
#elif defined CASE_split_into_absent_axis
  // expect-gcc: "umbel: split: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: split, .*there_is_no_axis, .*key>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The axis to split is not an axis of the tensor.
  // cure: Split an axis in the brackets; a custom axis differs from it, however similar its name.
  auto r = split_into<key, heads<5>, head_dim<20>>(x);
#elif defined CASE_merge_not_neighbours
  // expect-gcc: "umbel: merge: \[heads=5, head_dim=20\] are not adjacent in this order in \[batch=2, heads=5, query=4, head_dim=20\]; bring them together, x \| permute<\.\.\.> \| contiguous"
  // expect-clang: merge.*heads<5>.*head_dim<20>.*are_not_adjacent_in_this_order_in.*batch<2>.*heads<5>.*query<4>.*head_dim<20>
  // cause: The axes to merge have others between them, or are in a different order.
  // cure: Move them next to each other with `permute`, pass `contiguous`, then merge.
  auto r = merge<heads, head_dim, hidden>(h);
#elif defined CASE_merge_wrong_way_round
  // expect-gcc: "umbel: merge: \[query=4, heads=5\] are not adjacent in this order in \[batch=2, heads=5, query=4, head_dim=20\]; bring them together, x \| permute<\.\.\.> \| contiguous"
  // expect-clang: merge.*query<4>.*heads<5>.*are_not_adjacent_in_this_order_in.*batch<2>.*heads<5>.*query<4>.*head_dim<20>
  // cause: The axes to merge have others between them, or are in a different order.
  // cure: Move them next to each other with `permute`, pass `contiguous`, then merge.
  auto r = merge<query, heads, token>(h);
#elif defined CASE_merge_strides
  // expect-gcc: "umbel: merge: the elements of \[heads=5, head_dim=20\] are not contiguous in memory; pass contiguous\(x\)"
  // expect-clang: merge.*the_elements_of.*heads<5>.*head_dim<20>.*are_not_contiguous_in_memory_so_pass_contiguous_of_x
  // cause: The axes are adjacent by name, but a permuted view has gaps between them in memory.
  // cure: Copy first: `x | contiguous | merge<heads, head_dim, hidden>`.
  auto r = h | permute<batch, query, heads, head_dim> | merge<heads, head_dim, hidden>;
#elif defined CASE_merge_name_taken
  // expect-gcc: "umbel: merge: batch is already an axis of \[batch=2, heads=5, query=4, head_dim=20\]"
  // expect-clang: merge, .*batch>, .*is_already_an_axis_of, .*batch<2>, .*heads<5>, .*query<4>
  // cause: The merged axis would have the name of a remaining axis.
  // cure: Choose a different name for it.
  auto r = merge<heads, query, batch>(h);
#elif defined CASE_merge_absent_axis
  // expect-gcc: "umbel: merge: there is no axis channel in \[batch=2, heads=5, query=4, head_dim=20\]"
  // expect-clang: merge, .*there_is_no_axis, .*channel>, .*in, .*batch<2>, .*heads<5>
  // cause: An axis to merge is not an axis of the tensor.
  // cure: Merge axes in the brackets.
  auto r = merge<query, channel, hidden>(h);
#elif defined CASE_permute_absent_axis
  // expect-gcc: "umbel: permute: there is no axis channel in \[batch=2, heads=5, query=4, head_dim=20\]"
  // expect-clang: permute, .*there_is_no_axis, .*channel>, .*in, .*batch<2>, .*heads<5>, .*query<4>, .*head_dim<20>
  // cause: The new order lists an axis that the tensor does not have.
  // cure: List the axes in the brackets, each once.
  auto r = permute<batch, channel, heads, head_dim>(h);
#elif defined CASE_permute_twice
  // expect-gcc: "umbel: permute: the axis heads is named twice in \[batch=2, heads=5, heads=5, head_dim=20\]"
  // expect-clang: permute.*the_axis.*heads>.*is_named_twice_in.*batch<2>.*heads<5>.*heads<5>.*head_dim<20>
  // cause: The new order lists an axis twice.
  // cure: List each axis once; one was probably meant to be different.
  auto r = permute<batch, heads, heads, head_dim>(h);
#elif defined CASE_permute_missing
  // expect-gcc: "umbel: permute: lists 3 of the 4 axes of \[batch=2, heads=5, query=4, head_dim=20\]"
  // expect-clang: permute, .*lists, .*<3>, .*of_the, .*<4>, .*axes_of, .*batch<2>, .*heads<5>, .*query<4>, .*head_dim<20>
  // cause: The new order leaves an axis out.
  // cure: List all axes; to remove one, use `select_at` or `mean`.
  auto r = permute<batch, heads, head_dim>(h);
#elif defined CASE_rename_onto_existing
  // expect-gcc: "umbel: rename_axis: hidden is already an axis of \[batch=2, query=4, hidden=100\]"
  // expect-clang: rename_axis.*hidden>.*is_already_an_axis_of.*batch<2>.*query<4>.*hidden<100>
  // cause: A different axis of the tensor has the new name.
  // cure: Choose a different name, or rename the other axis first.
  auto r = rename_axis<query, hidden>(x);
#elif defined CASE_rename_absent
  // expect-gcc: "umbel: rename_axis: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: rename_axis.*there_is_no_axis.*key>.*in.*batch<2>.*query<4>.*hidden<100>
  // cause: The axis to rename is not an axis of the tensor.
  // cure: Rename an axis in the brackets: `rename_axis<from, to>`, with the old name first.
  auto r = rename_axis<key, token>(x);
#elif defined CASE_reshape_count
  // expect-gcc: "umbel: reshape: \[batch=2, query=4, hidden=100\] has 800 elements but \[token=8, hidden=99\] has 792 elements"
  // expect-clang: reshape, .*batch<2>, .*query<4>, .*hidden<100>>, .*has, .*<800>, .*elements_but, .*token<8>, .*hidden<99>>, .*has, .*<792>
  // cause: The new shape has a different number of elements.
  // cure: Correct a size; the products must be equal.
  auto r = reshape<token<8>, hidden<99>>(x);
#elif defined CASE_reshape_not_contiguous
  // expect-gcc: "umbel: reshape: \[query=4, batch=2, hidden=100\] is not row-major in memory; pass contiguous\(x\)"
  // expect-clang: reshape, .*query<4>, .*batch<2>, .*hidden<100>>, .*is_not_row_major_in_memory_so_pass_contiguous
  // cause: A permuted, sliced or broadcast view is not contiguous, so it cannot be read with a different shape.
  // cure: Copy first: `x | contiguous | reshape<...>`.
  auto r = x | permute<query, batch, hidden> | reshape<token<8>, hidden<100>>;
#elif defined CASE_reshape_duplicate_axis
  // expect-gcc: "umbel: shape: the axis token is named twice in \[token=8, token=100\]"
  // expect-clang: shape.*the_axis.*token>.*is_named_twice_in.*token<8>.*token<100>
  // cause: Two axes of one shape have the same name, which would be ambiguous.
  // cure: Rename one of them, if necessary to a custom axis: `template <std::size_t N> struct channel : axis<channel, N> {};`
  auto r = reshape<token<8>, token<100>>(x);
#elif defined CASE_select_past_the_end
  // expect-gcc: "umbel: select_at: position 5 is past the end of heads=5"
  // expect-clang: select_at.*position.*number<5>.*is_past_the_end_of.*heads<5>
  // cause: The position is not below the size of the axis.
  // cure: Count from 0: the last position is the size minus 1.
  auto r = select_at<heads, 5>(h);
#elif defined CASE_select_absent
  // expect-gcc: "umbel: select_at: there is no axis channel in \[batch=2, heads=5, query=4, head_dim=20\]"
  // expect-clang: select_at.*there_is_no_axis.*channel>.*in.*batch<2>.*heads<5>.*query<4>.*head_dim<20>
  // cause: The axis to select from is not an axis of the tensor.
  // cure: Select along an axis in the brackets.
  auto r = select_at<channel, 0>(h);
#elif defined CASE_select_at_run_time_absent
  // expect-gcc: "umbel: select_at: there is no axis channel in \[batch=2, heads=5, query=4, head_dim=20\]"
  // expect-clang: select_at.*there_is_no_axis.*channel>.*in.*batch<2>.*heads<5>.*query<4>.*head_dim<20>
  // cause: The axis to select from is not an axis of the tensor.
  // cure: Select along an axis in the brackets.
  auto r = h | select_at<channel>(0);
#elif defined CASE_slice_past_the_end
  // expect-gcc: "umbel: slice: 3 positions from 2 reach past the end of query=4"
  // expect-clang: slice, .*<3>, .*positions_from, .*<2>, .*reach_past_the_end_of, .*query<4>
  // cause: The first position plus the number of positions exceeds the size of the axis.
  // cure: The arguments are first and count, not first and last: `slice<query, from<1>, extent<3>>` is 1, 2, 3.
  auto r = slice<query, from<2>, extent<3>>(x);
#elif defined CASE_slice_wraps_around
  // expect-gcc: "umbel: slice: 2 positions from 18446744073709551615 reach past the end of query=4"
  // expect-clang: slice, .*<2>, .*positions_from, .*<18446744073709551615>, .*reach_past_the_end_of, .*query<4>
  // cause: The first position is negative, and was converted to a huge unsigned number.
  // cure: Count from the front; positions start at 0.
  auto r = slice<query, from<std::size_t(-1)>, extent<2>>(x);
#elif defined CASE_slice_of_nothing
  // expect-gcc: "umbel: slice: none of query=4 would be left"
  // expect-clang: slice.*none_of.*query<4>.*would_be_left
  // cause: The slice has 0 positions.
  // cure: Keep at least 1; the arguments are first and count.
  auto r = slice<query, from<2>, extent<0>>(x);
#elif defined CASE_slice_absent
  // expect-gcc: "umbel: slice: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: slice, .*there_is_no_axis, .*key>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: The axis to slice is not an axis of the tensor.
  // cure: Slice an axis in the brackets.
  auto r = slice<key, from<0>, extent<1>>(x);
#elif defined CASE_broadcast_foreign_axis
  // expect-gcc: "umbel: broadcast: query=4 is not an axis of \[batch=2, key=6, hidden=100\]"
  // expect-clang: broadcast, .*query<4>, .*is_not_an_axis_of, .*batch<2>, .*key<6>, .*hidden<100>
  // cause: The tensor has an axis that the target does not have: broadcasting adds axes, but never removes any.
  // cure: Add that axis to the target, or remove it with `select_at` or `mean`.
  auto r = broadcast<batch<2>, key<6>, hidden<100>>(x);
#elif defined CASE_broadcast_different_size
  // expect-gcc: "umbel: broadcast: query=4 does not fit query=6"
  // expect-clang: broadcast, .*query<4>, .*does_not_fit, .*query<6>
  // cause: An axis has a different size in the target.
  // cure: Use the same size for both; only an axis of size 1 is repeated.
  auto r = broadcast<batch<2>, query<6>, hidden<100>>(x);
#elif defined CASE_transposed_absent
  // expect-gcc: "umbel: transposed: there is no axis key in \[batch=2, query=4, hidden=100\]"
  // expect-clang: transposed, .*there_is_no_axis, .*key>, .*in, .*batch<2>, .*query<4>, .*hidden<100>
  // cause: An axis to exchange is not an axis of the tensor.
  // cure: Name two axes in the brackets.
  auto r = transposed<key, hidden>(x);
#elif defined CASE_transposed_with_itself
  // expect-gcc: "umbel: transposed: the axis hidden is named twice in \[hidden=100\]"
  // expect-clang: transposed.*the_axis.*hidden>.*is_named_twice_in.*hidden<100>
  // cause: An axis is exchanged with itself.
  // cure: Name two different axes.
  auto r = transposed<hidden, hidden>(x);
#elif defined CASE_first_bad_step_of_five
  // expect-gcc: "umbel: split: hidden=100 into heads=3 leaves a remainder of 1"
  // expect-clang: split, .*hidden<100>, .*into, .*heads<3>, .*leaves_a_remainder_of, .*number<1>
  // cause: The axis cannot be cut into that many equal parts.
  // cure: Choose a number of parts that divides the size, or change the size.
  auto r = x | rename_axis<query, key> | split<hidden, heads<3>, head_dim> |
           permute<batch, heads, key, head_dim> | slice<key, from<9>, extent<9>> | contiguous;
#elif defined CASE_pipe_goes_on_to_use_the_result
  // expect-gcc: "umbel: split: hidden=100 into heads=3 leaves a remainder of 1"
  // expect-clang: split, .*hidden<100>, .*into, .*heads<3>, .*leaves_a_remainder_of, .*number<1>
  // cause: The axis cannot be cut into that many equal parts.
  // cure: Choose a number of parts that divides the size, or change the size.
  auto r = x | split<hidden, heads<3>, head_dim>;
  auto s = contract<head_dim>(r, r) * 0.5f + -r;
  for_each([](float& to) { to = 0; }, r);
  copy(r, x);
  r(0, 0, 0, 0) = 1;
  r(at<batch>(0)) = as_view(r)(1);
  float first = s(0, 0) + 1.0f;
  queries y = s | transposed<query, heads> | select_at<heads>(0);
  y = select_at<heads>(r, 2);
#elif defined CASE_axis_of_ones_own
  // expect-gcc: "umbel: split: there is no axis channel in \[channel_of_a_picture=3\]"
  // expect-clang: split, .*there_is_no_axis, .*channel>, .*in, .*pictures::channel_of_a_picture<3>
  // cause: The axis to split is not an axis of the tensor.
  // cure: Split an axis in the brackets; a custom axis differs from it, however similar its name.
  tensor<float, pictures::channel_of_a_picture<3>> picture{};
  auto r = split<channel, heads<3>, head_dim>(picture);
#elif defined CASE_merge_without_a_result
  // expect-gcc: "umbel: merge: hidden is already an axis of \[batch=2, query=4, hidden=100\]"
  // expect-clang: merge, .*hidden>, .*is_already_an_axis_of
  // cause: The last name is that of the result, but is one of the axes.
  // cure: List the axes in order, then the name of the result: `merge<batch, query, hidden, token>`.
  auto r = x | merge<batch, query, hidden>;
#elif defined CASE_reshape_to_a_tensor_type
  // expect-gcc: "umbel: shape: item 1 in the list of axes is not an axis"
  // expect-clang: shape.*item.*number<1>.*in_the_list_of_axes_is_not_an_axis
  // cause: The list of axes contains a type that is not an axis, often a tensor type or an element type.
  // cure: List only axes with their sizes: `tensor<float, batch<2>, hidden<100>>`.
  auto r = x | reshape<queries>;
#elif defined CASE_merge_of_one
  // expect-gcc: "umbel: merge: expects two or more axes, then the name of the result"
  // expect-clang: merge.*expects_two_or_more_axes_then_the_name_of_the_result
  // cause: The merge has only one axis, or none, and a result.
  // cure: List the axes in order, then the name of the result: `merge<batch, query, token>`; to rename a single axis, use `rename_axis`.
  auto r = x | merge<query, key>;
#elif defined CASE_select_by_a_fraction
  // expect-gcc: "umbel: select_at: expects one tensor or view, then an integer, but argument 2 is double"
  // expect-clang: select.*expects_one_tensor_or_view_then_an_integer
  // cause: The first argument is not a tensor or view, or the position is not an integer.
  // cure: Pass an integer: `select_at<query>(x, 1)`.
  auto r = select_at<query>(x, 1.5);
#elif defined CASE_axis_of_another_name
  // expect-gcc: "umbel: axis: frames has the base of the axis token; derive it from axis<itself, N>"
  // expect-clang: say::axis, .*axis_family<frames>, .*has_the_base_axis_of, .*token>
  // cause: The struct of an axis was copied with its base, so both would be the same axis.
  // cure: Write `template <std::size_t N> struct frames : umbel::axis<frames, N> {};`
  tensor<float, frames<4>> r{};
#elif defined CASE_axis_without_a_template
  // expect-gcc: "umbel: axis: speaker has the base of the axis token; derive it from axis<itself, N>"
  // expect-clang: say::axis, .*element<speaker>, .*has_the_base_axis_of, .*token>
  // cause: An axis is a template over its size, and must name itself in its base.
  // cure: Write `template <std::size_t N> struct speaker : umbel::axis<speaker, N> {};`
  tensor<float, speaker> r{};
#else
  auto r = x | rename_axis<query, key> | split<hidden, heads<5>, head_dim> |
           permute<batch, heads, key, head_dim> | slice<key, from<1>, extent<3>> | contiguous;
  (void)r;
#endif
}
