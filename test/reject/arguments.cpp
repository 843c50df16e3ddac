// SPDX-License-Identifier: BSL-1.0
// Arguments of the wrong kind, and operators with swapped sides (check.py).
#include <umbel/umbel.hpp>

#include <iostream>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;
using attention = multi_head_attention<float, hidden<100>, heads<5>>;
using classifier = linear<float, hidden<100>, classes<10>>;

[[maybe_unused]] static void cases(queries& x, context& y, attention::weights& w, classifier& l) {
  (void)x, (void)y, (void)w, (void)l;
  const tensor<int, batch<2>> lens{3, 2};
#if defined CASE_operation_left_of_a_pipe
  // expect-gcc: "umbel: softmax: goes on the right of \|, the tensor on the left"
  // expect-clang: softmax, .*goes_on_the_right_of_a_pipe_and_the_tensor_on_the_left
  // cause: A pipe goes from left to right.
  // cure: Write `x | softmax<hidden>`, or `softmax<hidden>(x)`.
  auto r = softmax<hidden> | x;
#elif defined CASE_layer_left_of_a_pipe
  // expect-gcc: "umbel: linear: goes on the right of \|, the tensor on the left"
  // expect-clang: linear, .*goes_on_the_right_of_a_pipe_and_the_tensor_on_the_left
  // cause: A pipe goes from left to right.
  // cure: Write `x | layer`, or `layer(x)`.
  auto r = l | x;
#elif defined CASE_weights_left_of_the_tensor
  // expect-gcc: "umbel: x \* weights: the tensor goes on the left of \*, its weights on the right"
  // expect-clang: x_times_weights, .*the_tensor_goes_on_the_left_of_its_weights
  // cause: Features are rows here, so the product is x W, not W x.
  // cure: Write `x * w.q`.
  auto r = w.q * x;
#elif defined CASE_times_a_layer
  // expect-gcc: "umbel: elementwise: a layer is not a tensor; call it, layer\(x\)"
  // expect-clang: elementwise, .*a_layer_is_not_a_tensor_so_write_layer_of_x
  // cause: A tensor is multiplied by weights, not by the layer that has them.
  // cure: Write `x * w`, or call the layer: `linear<...>{w}(x)`, `x | layer`.
  auto r = x * l;
#elif defined CASE_pipe_into_a_tensor
  // expect-gcc: "umbel: tensor: \[batch=2, key=6, hidden=100\] is on the right of \|, which needs an operation; write x \+ y, x \* y or contract<hidden>\(x, y\)"
  // expect-clang: tensor, .*key<6>.*is_on_the_right_of_a_pipe_which_needs_an_operation_so_write_x_plus_y_or_contract
  // cause: The right side of `|` is a tensor, but must be an operation.
  // cure: Combine two tensors with `+`, `*`, `contract<hidden>(x, y)` or a different operation on two tensors.
  auto r = x | y;
#elif defined CASE_weights_by_a_fraction
  // expect-gcc: "umbel: access: positions must all be integers or all be named in \[hidden=100, hidden=100\]"
  // expect-clang: access.*positions_must_all_be_integers_or_all_be_named_in.*hidden<100>.*hidden<100>
  // cause: Some positions are integers and some are named, or one is not an integer.
  // cure: Write `w.q(in, out)`, with two integers.
  w.q(1.0, 2) = 1;
#elif defined CASE_pipe_into_a_function_of_a_number
  // expect-gcc: "umbel: tensor: \[batch=2, query=4, hidden=100\] is not one number, as the function on the right of \| needs; for each element write for_each\(\[\]\(float& y\) \{ y = f\(y\); \}, x\)"
  // expect-clang: tensor, .*hidden<100>.*is_not_one_number_as_the_function_on_the_right_of_a_pipe_needs_so_write_for_each
  // cause: `x | f` is `f(x)`, and this function accepts a number only.
  // cure: Call `for_each`, or write a function of a tensor.
  auto r = x | [](float number) { return number * 2; };
#elif defined CASE_list_after_a_stream_operator
  // expect-gcc: "umbel: tensor: \[batch=2, query=4, hidden=100\] is on the left of <<; write a list, \{1, 2, 3\}, or std::cout << x"
  // expect-clang: tensor, .*hidden<100>.*is_on_the_left_of_a_stream_operator
  // cause: Elements are written by `<<` and commas, as in Eigen.
  // cure: Write a list of the elements: `tensor<float, hidden<3>> x{1, 2, 3};`
  auto r = (x << 1, 2, 3);
#elif defined CASE_pipe_into_weights
  // expect-gcc: "umbel: x \* weights: needs \*, not \|"
  // expect-clang: x_times_weights, .*needs_times_not_a_pipe
  // cause: Weights are not a function; a tensor is multiplied by them.
  // cure: Write `x * w.q`, or pipe the tensor into the layer that has the weights.
  auto r = x | w.q;
#elif defined CASE_masks_multiplied
  // expect-gcc: "umbel: mask: masks combine only with masks, by & or \+; write lens & causal or keep_mask\(m\) & score_bias\(b\)"
  // expect-clang: mask, .*masks_combine_only_with_masks_by_and_or_plus
  // cause: The operator has no meaning for masks, or one side is a number. A key is visible only if all combined masks keep it.
  // cure: Combine masks with `&` or `+`; the opposite of `keep_mask(m)` is `drop_mask(m)`; a length is an integer, `3 & causal`; to add numbers to the scores, pass `score_bias(b)`.
  auto r = attention{w}(x, y, y, lens * causal_top_left);
#elif defined CASE_layer_of_arguments_of_a_call
  // expect-gcc: "umbel: multi_head_attention: construct it from one object, its weights"
  // expect-clang: multi_head_attention, .*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all in one struct, when it is constructed.
  // cure: Fill `attention::weights w` and write `attention{w}`.
  auto r = attention(w, x, y, y);
#elif defined CASE_layer_of_sizes
  // expect-gcc: "umbel: multi_head_attention: construct it from one object, its weights"
  // expect-clang: multi_head_attention, .*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all in one struct, when it is constructed.
  // cure: Fill `attention::weights w` and write `attention{w}`.
  attention r{64, 8};
#elif defined CASE_print_map
  // expect-gcc: "umbel: print: the weights of \[hidden=100, hidden=100\] cannot be printed; print view_as<\.\.\.>\(w\.q\.weight\), a view of their memory"
  // expect-clang: print, .*the_weights_of, .*hidden<100>, .*cannot_be_printed_so_print_a_view_of_their_memory_view_as
  // cause: Only tensors and views can be printed; the weights of a map are arrays.
  // cure: Write `std::cout << view_as<hidden<100>, heads<100>>(w.q.weight)`.
  std::cout << w.q;
#elif defined CASE_print_weights
  // expect-gcc: "umbel: print: the weights of multi_head_attention cannot be printed; print view_as<\.\.\.>\(w\.q\.weight\), a view of their memory"
  // expect-clang: print, .*the_weights_of, .*multi_head_attention, .*cannot_be_printed_so_print
  // cause: Only tensors and views can be printed; the weights of a layer are several arrays.
  // cure: Print a view of one array, `view_as<hidden<100>, heads<100>>(w.q.weight)`.
  std::cout << w;
#elif defined CASE_tensor_of_a_pointer
  // expect-gcc: "umbel: tensor: a pointer has no size; write view_as<axes>\(pointer\)"
  // expect-clang: tensor, .*a_pointer_has_no_size_so_view_it_by_view_as
  // cause: A pointer does not know the number of its elements.
  // cure: Vouch for the size: `queries q = view_as<queries>(pointer);`.
  queries r(w.q.weight + 1);
#elif defined CASE_linear_of_sizes
  // expect-gcc: "umbel: linear: sizes are template arguments, not numbers in a call; write linear<float, hidden<64>, classes<10>>\{weights\}"
  // expect-clang: linear, .*sizes_are_template_arguments_not_numbers_in_a_call_so_write_linear_of_float_and_two_axes
  // cause: The sizes of a layer are its template arguments, and its weights are its only argument.
  // cure: Write `using classifier = linear<float, hidden<64>, classes<10>>;`, then `classifier{weights}`.
  linear map(64, 10);
  auto r = map(x);
#elif defined CASE_layer_norm_of_a_size
  // expect-gcc: "umbel: layer_norm: sizes are template arguments, not numbers in a call; write layer_norm<float, hidden<100>>\{weights\}"
  // expect-clang: layer_norm, .*sizes_are_template_arguments_not_numbers_in_a_call_so_write_layer_norm_of_float_and_an_axis
  // cause: The axis of a norm is a template argument; the only arguments are its weights and the epsilon.
  // cure: Write `using norm = layer_norm<float, hidden<100>>;`, then `norm{weights}`.
  auto r = layer_norm(x, 100);
#elif defined CASE_rms_norm_of_a_size
  // expect-gcc: "umbel: rms_norm: sizes are template arguments, not numbers in a call; write rms_norm<float, hidden<100>>\{weights, epsilon\}"
  // expect-clang: rms_norm, .*sizes_are_template_arguments_not_numbers_in_a_call_so_write_rms_norm_of_float_and_an_axis
  // cause: The axis of a norm is a template argument; the only arguments are its weights and the epsilon.
  // cure: Write `using norm = rms_norm<float, hidden<100>>;`, then `norm{weights}`.
  rms_norm norm(100);
  auto r = x | norm;
#else
  auto r = x | softmax<hidden> | l;
  r = x * w.q | l;
  std::cout << view_as<hidden<100>, heads<100>>(w.q.weight);
  const queries constant{};
  r = constant | l;
  const attention again({w.q, w.k, w.v, w.o});
  x = again(x, y, y, lens & causal_top_left);
#endif
}
