// SPDX-License-Identifier: BSL-1.0
// Mistakes in training: one case each, with the words that the compiler must print (check.py).
#include <umbel/umbel.hpp>

#include <umbel/training.hpp>

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<8>, heads<2>>;
using other = multi_head_attention<float, hidden<16>, heads<2>>;
struct mixed {
  static constexpr const char* part_names[] = {"one", "two"};
  tensor<float, token<3>> one;
  tensor<double, token<3>> two;
};
struct counted {
  static constexpr const char* part_names[] = {"one", "two"};
  tensor<float, token<3>> one;
  tensor<int, token<3>> two;
};

using logits = tensor<float, batch<2>, classes<3>>;

[[maybe_unused]] static void cases(const logits& x, const tensor<int, batch<2>>& label,
                                   attention::weights& w, const attention::weights& g,
                                   other::weights& of_other,
                                   adamw::state<attention::weights>& state,
                                   const attention::weights_view& borrowed, mixed& both,
                                   counted& integers) {
  (void)x, (void)label, (void)w, (void)g, (void)of_other, (void)state, (void)borrowed, (void)both,
      (void)integers;
#if defined CASE_gradients_of_another_layer
  // expect-gcc: "umbel: update: argument 2 is of another type than argument 1; declare both with one"
  // expect-clang: update.*argument_2_is_of_another_type_than_argument_1_so_declare_both_with_one
  // cause: A gradient has the type of the weights that it is the gradient of.
  // cure: `static attention::weights w, g;`
  auto r = update(w, of_other, state, adamw{});
#elif defined CASE_state_of_another_optimiser
  // expect-gcc: "umbel: update: the state is not that of the optimiser for the weights; declare adamw::state<weights> state, of the optimiser and the type of w"
  // expect-clang: update.*the_state_is_not_that_of_the_optimiser_for_the_weights
  // cause: The state belongs to another optimiser, or to other weights.
  // cure: `static sgd_with_momentum::state<attention::weights> state;`
  auto r = update(w, g, state, sgd_with_momentum{});
#elif defined CASE_optimiser_without_its_state
  // expect-gcc: "umbel: update: takes the weights, their gradient, the state and the optimiser: update\(w, g, sgd\{\}\) or update\(w, g, state, adamw\{\}\)"
  // expect-clang: update.*takes_the_weights_their_gradient_the_state_and_the_optimiser
  // cause: Only `sgd` keeps nothing.
  // cure: `update(w, g, state, adamw{})`
  auto r = update(w, g, adamw{});
#elif defined CASE_weights_that_are_const
  // expect-gcc: "umbel: set_to_zero: the weights are const"
  // expect-clang: set_to_zero.*the_weights_are_const
  // cause: What should be written is const.
  // cure: Declare it without `const`.
  set_to_zero(g);
  int r = 0;
#elif defined CASE_weights_that_are_borrowed
  // expect-gcc: "umbel: update: takes weights that are owned, not a view of them; pass those that it views"
  // expect-clang: update.*takes_owned_weights_not_a_view_so_pass_those_that_it_views
  // cause: A view of weights has pointers to memory that may be const.
  // cure: Pass the weights themselves, of `attention::weights`.
  auto view = borrowed;
  auto r = update(view, borrowed, sgd{});
#elif defined CASE_weights_of_two_types
  // expect-gcc: "umbel: scale: the weights are of float and of double; choose one"
  // expect-clang: scale.*the_weights_are_of_float.*and_of_double_so_choose_one
  // cause: A norm, and a step, are computed in one type of numbers.
  // cure: Declare all parameters with `float`, or all with `double`; or update the parts by themselves.
  scale(both, 0.5);
  int r = 0;
#elif defined CASE_weights_that_are_integers
  // expect-gcc: "umbel: clip_by_norm: takes parameters of float or double, not int"
  // expect-clang: clip_by_norm.*takes_parameters_of_float_or_double_not.*element<int>
  // cause: Integers have no gradient.
  // cure: Leave them out of the struct of weights.
  auto r = clip_by_norm(integers, 1);
#elif defined CASE_clipped_to_no_norm
  // expect-gcc: "umbel: clip_by_norm: takes a gradient, which it changes, and the largest norm: clip_by_norm\(g, 1\)"
  // expect-clang: clip_by_norm, .*takes_a_gradient_that_it_changes_and_the_largest_norm
  // cause: There is no norm that suits all models; and what is scaled must be a variable.
  // cure: `clip_by_norm(g, 1)`, with a larger number for no change; a norm alone is in what `update` gives.
  auto r = clip_by_norm(w);
#elif defined CASE_clipped_temporary
  // expect-gcc: "umbel: clip_by_norm: takes a gradient, which it changes, and the largest norm: clip_by_norm\(g, 1\)"
  // expect-clang: clip_by_norm, .*takes_a_gradient_that_it_changes_and_the_largest_norm
  // cause: There is no norm that suits all models; and what is scaled must be a variable.
  // cure: `clip_by_norm(g, 1)`, with a larger number for no change; a norm alone is in what `update` gives.
  auto r = clip_by_norm(attention::weights{}, 1);
#elif defined CASE_temporary_set_to_zero
  // expect-gcc: "umbel: set_to_zero: takes one variable, which it changes: set_to_zero\(g\)"
  // expect-clang: set_to_zero, .*takes_a_variable_that_it_changes_so_write_set_to_zero_of_g
  // cause: A temporary ends with the line; or several are given at once.
  // cure: `set_to_zero(g);`, one call for each gradient.
  set_to_zero(attention::weights{});
  int r = 0;
#elif defined CASE_average_without_decay
  // expect-gcc: "umbel: moving_average: takes an average, which it changes, the weights and the decay: moving_average\(average, w, 0\.998\)"
  // expect-clang: moving_average, .*takes_an_average_that_it_changes_the_weights_and_the_decay
  // cause: How slowly the average follows the weights must be said.
  // cure: `moving_average(average, w, 0.998)`.
  moving_average(w, g);
  int r = 0;
#elif defined CASE_labels_of_other_axes
  // expect-gcc: "umbel: cross_entropy: \[batch=4\] and \[batch=2\] have different axes"
  // expect-clang: cross_entropy.*batch<4>.*batch<2>
  // cause: There is one label for each row of logits.
  // cure: Labels of the axes of the logits without that of the classes.
  auto r = cross_entropy<classes>(x, tensor<int, batch<4>>{});
#elif defined CASE_labels_that_are_no_integers
  // expect-gcc: "umbel: cross_entropy: takes integers, not float"
  // expect-clang: cross_entropy.*takes_integers_not.*element<float>
  // cause: A label is the position of a class.
  // cure: `tensor<int, batch<2>>`; for probabilities write the sum, of `log_softmax<classes>(x)`.
  auto r = cross_entropy<classes>(x, tensor<float, batch<2>>{});
#elif defined CASE_smoothing_by_more_than_all
  // expect-gcc: "umbel: cross_entropy: label smoothing must be a part, from 0 to 1: label_smoothing<1, 10>"
  // expect-clang: cross_entropy.*label_smoothing.*must_be_a_part_from_0_to_1
  // cause: It is the part of the probability that all classes share.
  // cure: `label_smoothing<1, 10>` for a tenth.
  auto r = cross_entropy<classes, label_smoothing<3, 2>>(x, label);
#elif defined CASE_option_of_another_layer
  // expect-gcc: "umbel: cross_entropy: takes the options label_smoothing<1, 10> and ignored_label<0>, not bias"
  // expect-clang: cross_entropy.*takes_label_smoothing_and_ignored_label_not
  // cause: The option is none of a loss.
  // cure: `label_smoothing<>` or `ignored_label<>`, or none.
  auto r = cross_entropy<classes, bias<true>>(x, label);
#elif defined CASE_squares_of_other_axes
  // expect-gcc: "umbel: mean_squared_error: \[batch=2, classes=3\] and \[batch=3, classes=3\] have different axes"
  // expect-clang: mean_squared_error.*batch<2>.*batch<3>
  // cause: Each element is compared with the one at its place.
  // cure: Two tensors of the same axes.
  auto r = mean_squared_error(x, tensor<float, batch<3>, classes<3>>{});
#elif defined CASE_label_that_is_a_number
  // expect-gcc: "umbel: cross_entropy: takes logits and labels, both tensors or both of one formula"
  // expect-clang: cross_entropy.*takes_logits_and_labels_both_tensors_or_both_of_one_formula
  // cause: The label is a number.
  // cure: `tensor<int>{3}` for logits of one row.
  auto r = cross_entropy<classes>(x | select_at<batch, 0>, 2);
#elif defined CASE_squares_from_a_number
  // expect-gcc: "umbel: mean_squared_error: takes two tensors, or two of one formula"
  // expect-clang: mean_squared_error.*takes_two_tensors_or_two_of_one_formula
  // cause: One of the two is a number.
  // cure: A tensor of it.
  auto r = mean_squared_error(x, 1.0f);
#elif defined CASE_initialized_by_a_number
  // expect-gcc: "umbel: initialize: takes an initializer, initializer::normal\(0\.02\), or a function of a path and a view that gives one"
  // expect-clang: initialize.*takes_an_initializer_or_a_function_of_a_path_and_a_view_that_gives_one
  // cause: A number does not say how the weights are drawn.
  // cure: `initializer::normal(0.02)`; all of one value: `initializer::constant(0.02)`.
  initialize(w, 1, 0.02);
  int r = 0;
#elif defined CASE_chains_that_cannot_be_halved
  // expect-gcc: "umbel: batch_gradient: chains=6 is no power of two, and chains are folded in halves"
  // expect-clang: batch_gradient.*chains<6>.*is_no_power_of_two_and_chains_are_folded_in_halves
  // cause: The sums of a batch meet two by two.
  // cure: `chains<4>` or `chains<8>`.
  const auto r = sizeof(batch_gradient<attention::weights, chains<6>>);
#elif defined CASE_chains_of_another_axis
  // expect-gcc: "umbel: batch_gradient: expected the axis chains but got batch=4"
  // expect-clang: batch_gradient.*expected_the_axis.*chains.*but_got.*batch<4>
  // cause: The second argument says how many sums the samples of a batch are divided among, not how many samples there are.
  // cure: `batch_gradient<weights, chains<4>>`.
  const auto r = sizeof(batch_gradient<attention::weights, batch<4>>);
#elif defined CASE_chains_of_integers
  // expect-gcc: "umbel: batch_gradient: takes parameters of float or double, not int"
  // expect-clang: batch_gradient.*takes_parameters_of_float_or_double_not.*int
  // cause: Integers have no gradient.
  // cure: Leave them out of the struct of weights.
  const auto r = sizeof(batch_gradient<counted, chains<4>>);
#elif defined CASE_a_batch_without_losses
  // expect-gcc: "umbel: batch_gradient: sum takes the size of the batch, an executor, not const, and a function that adds to the gradient of a sample and gives its loss, \(std::size_t b, weights& g, std::size_t worker\)"
  // expect-clang: batch_gradient.*sum_takes_the_size_of_the_batch_an_executor_and_a_function_of_a_sample
  // cause: Losses are summed in the order of the gradients, so the function of a sample gives its loss; and it is told which worker calls it. It adds to the gradient itself: taken by value, `auto g`, a copy would learn.
  // cure: `of_batch.sum(8, serial, [&](std::size_t b, weights& g, std::size_t worker) { return learn(...)(); })`
  batch_gradient<attention::weights, chains<4>> of_batch;
  auto r = of_batch.sum(8, serial, [](std::size_t, attention::weights&) { return 0.0f; });
#elif defined CASE_a_batch_whose_gradients_are_copies
  // expect-gcc: "umbel: batch_gradient: sum takes the size of the batch, an executor, not const, and a function that adds to the gradient of a sample and gives its loss, \(std::size_t b, weights& g, std::size_t worker\)"
  // expect-clang: batch_gradient.*sum_takes_the_size_of_the_batch_an_executor_and_a_function_of_a_sample
  // cause: Losses are summed in the order of the gradients, so the function of a sample gives its loss; and it is told which worker calls it. It adds to the gradient itself: taken by value, `auto g`, a copy would learn.
  // cure: `of_batch.sum(8, serial, [&](std::size_t b, weights& g, std::size_t worker) { return learn(...)(); })`
  batch_gradient<attention::weights, chains<4>> of_batch;
  auto r = of_batch.sum(8, serial, [](std::size_t, auto, std::size_t) { return 0.0f; });
#else
  static batch_gradient<attention::weights, chains<4>> of_batch;
  of_batch.sum(8, serial, [](std::size_t, auto&, std::size_t) { return 0.0f; });
  of_batch.sum(8, serial, [](std::size_t, attention::weights&, std::size_t) { return 0.0f; });
  initialize(w, 1, initializer::normal(0.02));
  auto r = update(w, g, state, adamw{});
  clip_by_norm(w, 1);
  scale(both.one, 0.5);
#endif
  (void)r;
}
