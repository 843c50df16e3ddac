// SPDX-License-Identifier: BSL-1.0
// Mistakes with gradients of formulas (check.py).
#include <umbel/umbel.hpp>

#include <umbel/training.hpp>

using namespace umbel;
using namespace umbel::axes;

using tokens = tensor<float, token<7>, hidden<16>>;
using wide_tokens = tensor<float, token<7>, hidden<20>>;
using attention = multi_head_attention<float, hidden<16>, heads<2>, bias<true>>;
using map = linear<float, hidden<16>, classes<3>, bias<true>>;

// Weights that are elsewhere.
struct borrowing_weights {
  static constexpr const char* part_names[] = {"map"};
  map::weights_view map_of;
};

struct weights_of_two_types {
  static constexpr const char* part_names[] = {"map", "exact"};
  map::weights map_of;
  linear<double, hidden<16>, classes<3>, bias<true>>::weights exact;
};

[[maybe_unused]] static void cases(const tokens& x, const map::weights& w) {
  constexpr formula loss = [](auto a, const auto& m) {
    const auto y = a * m;
    return sum<token, classes>(y * y);
  };
  constexpr gradient learn{loss};
  map::weights g{};
  tokens dx{};
  wide_tokens wide{};
  const tokens fixed{};
  (void)g, (void)dx, (void)wide, (void)fixed;
#if defined CASE_gradient_of_nothing
  // expect-gcc: "umbel: gradient: no argument requests a gradient; write with_gradient\(w, g\) for an argument w"
  // expect-clang: gradient, .*no_argument_requests_a_gradient_so_write_with_gradient_of_w_and_g
  // cause: The call of a gradient marks with with_gradient which arguments to differentiate, but no argument is marked.
  // cure: Write `learn(x, with_gradient(w, g))`. To compute only the value, call the formula itself.
  const auto value = learn(x, w);
#elif defined CASE_gradient_of_several_numbers
  // expect-gcc: "umbel: gradient: the first result has \[token=7, classes=3\] but only a scalar has gradients; return its sum or mean"
  // expect-clang: gradient, .*the_first_result_has, .*token<7>.*classes<3>.*but_only_a_scalar_has_gradients_so_sum_it
  // cause: The formula returns several numbers, and each of them has its own gradient.
  // cure: Sum them in the formula, `sum<token, classes>(y)`. For the product with a given gradient dy, write `sum<token, classes>(y * dy)`.
  constexpr formula product = [](auto a, const auto& m) { return a * m; };
  const auto value = gradient{product}(x, with_gradient(w, g));
#elif defined CASE_gradient_of_another_type
  // expect-gcc: "umbel: with_gradient: the gradient must have the same type as w; declare decltype\(w\) g\{\}"
  // expect-clang: with_gradient, .*the_gradient_must_have_the_same_type_as_w
  // cause: A gradient has the type of its argument: the same axes, sizes and parts.
  // cure: Declare it with that type: `tokens dx{};`.
  const auto value = learn(with_gradient(x, wide), w);
#elif defined CASE_gradient_that_is_const
  // expect-gcc: "umbel: with_gradient: the gradient is const"
  // expect-clang: with_gradient, .*the_gradient_is_const
  // cause: The gradient is added to that object, but it is const.
  // cure: Leave out `const`.
  const auto value = learn(with_gradient(x, fixed), w);
#elif defined CASE_gradient_of_integers
  // expect-gcc: "umbel: with_gradient: needs parameters of float or double, not int"
  // expect-clang: with_gradient, .*needs_parameters_of_float_or_double_not, .*int
  // cause: Integers and conditions have no gradient.
  // cure: Pass them without `with_gradient`: `learn(x, label, with_gradient(w, g))`.
  tensor<int, token<7>> label{}, of_label{};
  const auto value = with_gradient(label, of_label);
#elif defined CASE_gradient_of_a_result_of_integers
  // expect-gcc: "umbel: gradient: the first result has type int, which has no gradient"
  // expect-clang: gradient, .*the_first_result_has_type, .*element<int>, .*which_has_no_gradient
  // cause: The first result is the number to differentiate, and integers have no gradient.
  // cure: Return the loss first: `std::pair{loss, ids}`.
  constexpr formula first = [](auto, auto ids) { return ids | select_at<token, 0>; };
  const auto value = gradient{first}(with_gradient(x, dx), tensor<int, token<7>>{});
#elif defined CASE_gradient_of_a_sum_of_integers
  // expect-gcc: "umbel: gradient: the first result depends on no requested argument, or only through integers or conditions"
  // expect-clang: gradient, .*the_first_result_depends_on_no_requested_argument
  // cause: The first result does not depend on an argument marked by `with_gradient` through functions that have a gradient, so all gradients would be 0.
  // cure: Return the loss first, computed from the learned arguments; `where(x > 0, x, 0)` has a gradient through its values, not through its condition.
  constexpr formula counted = [](auto, auto ids) { return sum<token>(ids * 2); };
  const auto value = gradient{counted}(with_gradient(x, dx), tensor<int, token<7>>{});
#elif defined CASE_gradient_of_a_condition
  // expect-gcc: "umbel: gradient: the first result depends on no requested argument, or only through integers or conditions"
  // expect-clang: gradient, .*the_first_result_depends_on_no_requested_argument
  // cause: The first result does not depend on an argument marked by `with_gradient` through functions that have a gradient, so all gradients would be 0.
  // cure: Return the loss first, computed from the learned arguments; `where(x > 0, x, 0)` has a gradient through its values, not through its condition.
  constexpr formula positive = [](auto a) { return sum<token, hidden>(where(a > 0, 1, 0)); };
  const auto value = gradient{positive}(with_gradient(x, dx));
#elif defined CASE_gradient_into_a_temporary
  // expect-gcc: "umbel: with_gradient: expects an argument and a variable that its gradient is added to; write with_gradient\(w, g\)"
  // expect-clang: with_gradient, .*expects_an_argument_and_a_variable_that_its_gradient_is_added_to
  // cause: The gradient is added to your variable; a temporary would lose it at the end of the statement.
  // cure: Declare it, `map::weights g{};`, and write `with_gradient(w, g)`.
  const auto value = learn(x, with_gradient(w, map::weights{}));
#elif defined CASE_gradient_into_nothing
  // expect-gcc: "umbel: with_gradient: expects an argument and a variable that its gradient is added to; write with_gradient\(w, g\)"
  // expect-clang: with_gradient, .*expects_an_argument_and_a_variable_that_its_gradient_is_added_to
  // cause: The gradient is added to your variable; a temporary would lose it at the end of the statement.
  // cure: Declare it, `map::weights g{};`, and write `with_gradient(w, g)`.
  const auto value = learn(x, with_gradient(w));
#elif defined CASE_gradient_of_borrowed_weights
  // expect-gcc: "umbel: with_gradient: needs weights that are owned, not a view; pass the weights that it views"
  // expect-clang: with_gradient, .*needs_weights_that_are_owned_not_a_view_so_pass_those_that_it_views
  // cause: Gradients are added to the parameters of an object of the same type, but an object that borrows its parameters does not hold them.
  // cure: Pass the weights themselves: `with_gradient(w, g)` with `map::weights`.
  const borrowing_weights borrowed{w};
  borrowing_weights of_borrowed{g};
  const auto value = with_gradient(borrowed, of_borrowed);
#elif defined CASE_gradient_of_packed_weights
  // expect-gcc: "umbel: gradient: packed weights have no gradient; pass the unpacked weights"
  // expect-clang: gradient, .*packed_weights_have_no_gradient_so_pass_the_unpacked_weights
  // lines-gcc: 14
  // lines-clang: 21
  // cause: Packed weights are laid out for the kernels of one target; training needs the unpacked weights.
  // cure: Pass `with_gradient(w, g)` with the unpacked weights, or with a struct of them, and pack the trained weights.
  const prepacked<map> packed{w};
  constexpr formula of_layer = [](auto a, const auto& m) { return sum<token, classes>(m(a)); };
  const auto value = gradient{of_layer}(with_gradient(x, dx), packed);
#elif defined CASE_gradient_of_packed_attention
  // expect-gcc: "umbel: gradient: packed weights have no gradient; pass the unpacked weights"
  // expect-clang: gradient, .*packed_weights_have_no_gradient_so_pass_the_unpacked_weights
  // lines-gcc: 17
  // lines-clang: 21
  // cause: Packed weights are laid out for the kernels of one target; training needs the unpacked weights.
  // cure: Pass `with_gradient(w, g)` with the unpacked weights, or with a struct of them, and pack the trained weights.
  const attention::weights of_attention{};
  const prepacked<attention> packed{of_attention};
  constexpr formula of_layer = [](auto a, const auto& m) { return sum<token, hidden>(m(a)); };
  const auto value = gradient{of_layer}(with_gradient(x, dx), packed);
#elif defined CASE_gradient_of_packed_norm
  // expect-gcc: "umbel: gradient: packed weights have no gradient; pass the unpacked weights"
  // expect-clang: gradient, .*packed_weights_have_no_gradient_so_pass_the_unpacked_weights
  // lines-gcc: 17
  // lines-clang: 21
  // cause: Packed weights are laid out for the kernels of one target; training needs the unpacked weights.
  // cure: Pass `with_gradient(w, g)` with the unpacked weights, or with a struct of them, and pack the trained weights.
  const layer_norm<float, hidden<16>>::weights of_norm{};
  const prepacked<layer_norm<float, hidden<16>>> packed{of_norm};
  constexpr formula of_layer = [](auto a, const auto& m) { return sum<token, hidden>(m(a)); };
  const auto value = gradient{of_layer}(with_gradient(x, dx), packed);
#elif defined CASE_gradient_of_two_biases
  // expect-gcc: "umbel: gradient: only one score_bias of a call can have a gradient; add them first, score_bias\(a \+ b\)"
  // expect-clang: gradient, .*only_one_score_bias_of_a_call_can_have_a_gradient_so_add_them_first
  // cause: If several tensors are added to the scores of one call of attention, only one of them can have a gradient.
  // cure: Add them in the formula, `score_bias(a + b)`, or pass one of them without `with_gradient`.
  const attention::weights of_attention{};
  const tensor<float, query<7>, key<7>> one{}, two{};
  tensor<float, query<7>, key<7>> of_one{}, of_two{};
  constexpr formula biased = [](auto a, const auto& m, auto first, auto second) {
    return sum<token, hidden>(attention{m}(a, score_bias(first) & score_bias(second)));
  };
  const auto value =
      gradient{biased}(x, of_attention, with_gradient(one, of_one), with_gradient(two, of_two));
#elif defined CASE_gradient_of_packed_weights_by_times
  // expect-gcc: "umbel: elementwise: a layer is not a tensor; call it, layer\(x\)"
  // expect-clang: elementwise, .*a_layer_is_not_a_tensor_so_write_layer_of_x
  // lines-clang: 18
  // cause: A tensor is multiplied by weights, not by the layer that has them.
  // cure: Write `x * w`, or call the layer: `linear<...>{w}(x)`, `x | layer`.
  const prepacked<map> packed{w};
  const auto value = learn(with_gradient(x, dx), packed);
#elif defined CASE_gradient_of_a_table_by_itself
  // expect-gcc: "umbel: learned_positions: the weights are a tensor argument of the formula, which a layer cannot borrow; pass a struct that has them and write layer\{w\.table\}"
  // expect-clang: learned_positions, .*the_weights_are_a_single_tensor_argument_of_the_formula_so_pass_a_struct_that_has_them
  // lines-clang: 15
  // lines-gcc-14: 17
  // cause: The weights of learned_positions and embedding are one tensor, and a tensor argument of a formula is a value, which a layer cannot borrow.
  // cure: Put it into the struct of weights, `learned_positions<float, token<7>, hidden<16>>{w.positions}(a)`; or write the operation, `a + table`, `lookup(table, ids)`.
  constexpr formula placed = [](auto a, const auto& m) {
    return sum<token, hidden>(learned_positions<float, token<7>, hidden<16>>{m}(a));
  };
  const auto value = gradient{placed}(x, with_gradient(fixed, dx));
#elif defined CASE_gradient_of_a_mistake_with_a_workspace
  // expect-gcc: "umbel: sum: there is no axis hidden in \[token=7, classes=3\]"
  // expect-clang: sum, .*there_is_no_axis.*hidden.*in.*token<7>.*classes<3>
  // cause: The formula has an error, so its gradient has it too, and neither has a workspace.
  // cure: Correct the formula at the operation that is named.
  constexpr gradient of_hidden{
      formula{[](auto a, const auto& m) { return sum<token, hidden>(a * m); }}};
  static workspace_for<decltype(of_hidden), tokens, differentiated<map::weights>> work;
  const auto value = of_hidden(x, with_gradient(w, g), work);
#elif defined CASE_gradient_of_weights_by_value
  // expect-gcc: "umbel: formula: copies a part of an argument or uses it alone, before it has a value; pass that part as a separate argument, the object as const auto& w; a function that it calls must be constexpr"
  // expect-clang: formula, .*copies_a_part_of_an_argument_or_uses_it_alone
  // cause: A formula is traced at compile time. Then weights and numbers in an argument have no values, nor have the results computed only from them: `exp(w.gain)`, `one_hot<classes<9>>(w.ids)`.
  // cure: Declare weights as `const auto& w`, and pack them outside. Pass numbers, and tensors that are used alone, as separate arguments, or combine a part with a tensor first: `x + w.gain`, `contract<head_dim>(x, w.table)`.
  constexpr gradient copied{formula{[](auto a, auto m) { return sum<token, classes>(a * m); }}};
  const auto value = copied(x, with_gradient(w, g));
#elif defined CASE_gradient_of_an_unknown_operation
  // expect: lambda|frobnicate
  // lines-gcc: 14
  // lines-clang: 18
  // cause: The formula uses a name that nothing declares. Umbel adds no second message.
  // cure: Correct the name, or include the header that declares it.
  constexpr gradient unknown{
      formula{[](auto a, const auto& m) { return sum<token, classes>(frobnicate(a * m)); }}};
  static workspace_for<decltype(unknown), tokens, differentiated<map::weights>> work;
  const auto value = unknown(x, with_gradient(w, g), work);
#elif defined CASE_gradient_without_an_argument
  // expect-gcc: "umbel: formula: the function has other parameters, or copies weights; write const auto& w"
  // expect-clang: formula, .*the_function_has_other_parameters_or_copies_weights_so_write_const_auto
  // cause: The function has a different number of parameters, or has weights as values, which each call would copy.
  // cure: Pass as many arguments as it has parameters, and optionally a workspace last; write `const auto& w` for weights.
  static workspace_for<decltype(learn), tokens, differentiated<map::weights>> work;
  const auto value = learn(with_gradient(w, g), work);
#elif defined CASE_gradient_workspace_without_an_argument
  // expect-gcc: "umbel: formula: the function has other parameters, or copies weights; write const auto& w"
  // expect-clang: formula, .*the_function_has_other_parameters_or_copies_weights_so_write_const_auto
  // cause: The function has a different number of parameters, or has weights as values, which each call would copy.
  // cure: Pass as many arguments as it has parameters, and optionally a workspace last; write `const auto& w` for weights.
  static workspace_for<decltype(learn), differentiated<map::weights>> work;
  const auto value = learn(with_gradient(w, g), work);
#elif defined CASE_gradient_after_its_workspace
  // expect-gcc: "umbel: formula: the function has other parameters, or copies weights; write const auto& w"
  // expect-clang: formula, .*the_function_has_other_parameters_or_copies_weights_so_write_const_auto
  // cause: The function has a different number of parameters, or has weights as values, which each call would copy.
  // cure: Pass as many arguments as it has parameters, and optionally a workspace last; write `const auto& w` for weights.
  static workspace_for<decltype(learn), tokens, differentiated<map::weights>> work;
  const auto value = learn(work, x, with_gradient(w, g));
#elif defined CASE_gradient_beyond_the_stack
  // expect-gcc: "umbel: gradient: needs a workspace of [0-9]+ bytes but the stack budget is 65536 bytes; pass one for these arguments, declared with workspace_for"
  // expect-clang: gradient, .*needs_a_workspace_of, .*but_the_stack_budget_is, .*bytes_so_pass_one_for, .*these_arguments_by_workspace_for
  // cause: The intermediate results between the forward and the backward pass do not fit the stack budget.
  // cure: Declare one, `static workspace_for<decltype(learn), tensor<...>, differentiated<weights>> work;`, and pass it last.
  const tensor<float, token<3000>, hidden<16>> many{};
  const auto value = learn(many, with_gradient(w, g));
#elif defined CASE_gradient_with_the_workspace_of_others
  // expect-gcc: "umbel: gradient: the workspace is for a different layer or other sizes; pass one for these arguments, declared with workspace_for"
  // expect-clang: gradient, .*the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for, .*these_arguments_by_workspace_for
  // cause: The workspace was declared for other arguments, or for the call without gradients.
  // cure: Declare it for the arguments of the call: `static workspace_for<decltype(learn), tokens, differentiated<weights>> work;`.
  static workspace_for<decltype(loss), tokens, map::weights> work;
  const auto value = learn(x, with_gradient(w, g), work);
#elif defined CASE_gradient_of_another_type_in_a_call_with_weights
  // expect-gcc: "umbel: with_gradient: the gradient must have the same type as w; declare decltype\(w\) g\{\}"
  // expect-clang: with_gradient, .*the_gradient_must_have_the_same_type_as_w
  // cause: A gradient has the type of its argument: the same axes, sizes and parts.
  // cure: Declare it with that type: `tokens dx{};`.
  const auto value = learn(x, with_gradient(w, dx));
#elif defined CASE_gradient_of_parts_of_two_types
  // expect-gcc: "umbel: with_gradient: the weights are of float and of double; choose one"
  // expect-clang: with_gradient, .*the_weights_are_of_float, .*and_of_double_so_choose_one
  // cause: An optimizer computes in one type, that of the weights.
  // cure: Declare all layers with one type, float or double.
  weights_of_two_types two{}, of_two{};
  const auto value = gradient{[](auto a, const auto& m) {
    return sum<token, classes>(a * m.map_of + a * m.exact);
  }}(x, with_gradient(two, of_two));
#else
  const auto value = gradient{[](auto a, const auto& m) { return sum<token, classes>(a * m); }}(
      with_gradient(x, dx), with_gradient(w, g));
  (void)learn(with_gradient(x, dx), with_gradient(w, g));
#endif
  (void)value;
}
