// SPDX-License-Identifier: BSL-1.0
// Mistakes in training: one case each, with the message that the compiler must print (check.py).
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
  // expect-gcc: "umbel: update: argument 2 has a different type from argument 1; declare both with one type"
  // expect-clang: update.*argument_2_has_a_different_type_from_argument_1_so_declare_both_with_one
  // cause: A gradient has the type of its weights.
  // cure: Declare `static attention::weights w, g;`
  auto r = update(w, of_other, state, adamw{});
#elif defined CASE_state_of_another_optimiser
  // expect-gcc: "umbel: update: the state does not match this optimizer and these weights; declare adamw::state<weights> state, of the optimizer and the type of w"
  // expect-clang: update.*the_state_does_not_match_this_optimizer_and_its_weights
  // cause: The state belongs to a different optimizer, or to different weights.
  // cure: Declare `static sgd_with_momentum::state<attention::weights> state;`
  auto r = update(w, g, state, sgd_with_momentum{});
#elif defined CASE_optimiser_without_its_state
  // expect-gcc: "umbel: update: expects the weights, their gradient, the state and the optimizer; write update\(w, g, sgd\{\}\) or update\(w, g, state, adamw\{\}\)"
  // expect-clang: update.*expects_the_weights_their_gradient_the_state_and_the_optimizer
  // cause: Only `sgd` has no state.
  // cure: Write `update(w, g, state, adamw{})`.
  auto r = update(w, g, adamw{});
#elif defined CASE_weights_that_are_const
  // expect-gcc: "umbel: set_to_zero: the weights are const"
  // expect-clang: set_to_zero.*the_weights_are_const
  // cause: The target is const.
  // cure: Declare it without `const`.
  set_to_zero(g);
  int r = 0;
#elif defined CASE_weights_that_are_borrowed
  // expect-gcc: "umbel: update: needs weights that are owned, not a view; pass the weights that it views"
  // expect-clang: update.*needs_weights_that_are_owned_not_a_view_so_pass_those_that_it_views
  // cause: A view of weights points to memory that may be const.
  // cure: Pass the weights themselves, `attention::weights`.
  auto view = borrowed;
  auto r = update(view, borrowed, sgd{});
#elif defined CASE_weights_of_two_types
  // expect-gcc: "umbel: scale: the weights are of float and of double; choose one"
  // expect-clang: scale.*the_weights_are_of_float.*and_of_double_so_choose_one
  // cause: A norm or a step is computed in one type.
  // cure: Declare all parameters with `float`, or all with `double`; or update the parts separately.
  scale(both, 0.5);
  int r = 0;
#elif defined CASE_weights_that_are_integers
  // expect-gcc: "umbel: clip_by_norm: needs parameters of float or double, not int"
  // expect-clang: clip_by_norm.*needs_parameters_of_float_or_double_not.*element<int>
  // cause: Integers have no gradient.
  // cure: Leave them out of the struct of weights.
  auto r = clip_by_norm(integers, 1);
#elif defined CASE_clipped_to_no_norm
  // expect-gcc: "umbel: clip_by_norm: expects a gradient, which it changes, and the largest norm; write clip_by_norm\(g, 1\)"
  // expect-clang: clip_by_norm, .*expects_a_gradient_that_it_changes_and_the_largest_norm
  // cause: The largest norm differs between models, and the gradient must be a variable.
  // cure: Write `clip_by_norm(g, 1)`; a larger number changes nothing. To get only the norm, use the result of `update`.
  auto r = clip_by_norm(w);
#elif defined CASE_clipped_temporary
  // expect-gcc: "umbel: clip_by_norm: expects a gradient, which it changes, and the largest norm; write clip_by_norm\(g, 1\)"
  // expect-clang: clip_by_norm, .*expects_a_gradient_that_it_changes_and_the_largest_norm
  // cause: The largest norm differs between models, and the gradient must be a variable.
  // cure: Write `clip_by_norm(g, 1)`; a larger number changes nothing. To get only the norm, use the result of `update`.
  auto r = clip_by_norm(attention::weights{}, 1);
#elif defined CASE_temporary_set_to_zero
  // expect-gcc: "umbel: set_to_zero: expects one variable, which it changes; write set_to_zero\(g\)"
  // expect-clang: set_to_zero, .*expects_one_variable_that_it_changes_so_write_set_to_zero_of_g
  // cause: The argument is a temporary, or there are several arguments.
  // cure: Write `set_to_zero(g);`, one call for each gradient.
  set_to_zero(attention::weights{});
  int r = 0;
#elif defined CASE_average_without_decay
  // expect-gcc: "umbel: moving_average: expects an average, which it changes, the weights and the decay; write moving_average\(average, w, 0\.998\)"
  // expect-clang: moving_average, .*expects_an_average_that_it_changes_the_weights_and_the_decay
  // cause: The decay, which sets how slowly the average follows the weights, is missing.
  // cure: Write `moving_average(average, w, 0.998)`.
  moving_average(w, g);
  int r = 0;
#elif defined CASE_labels_of_other_axes
  // expect-gcc: "umbel: cross_entropy: \[batch=4\] and \[batch=2\] have the same axes with different sizes"
  // expect-clang: cross_entropy.*batch<4>.*batch<2>
  // cause: There must be one label for each row of logits.
  // cure: The labels need the axes of the logits without the axis of the classes.
  auto r = cross_entropy<classes>(x, tensor<int, batch<4>>{});
#elif defined CASE_labels_that_are_no_integers
  // expect-gcc: "umbel: cross_entropy: needs integers, not float"
  // expect-clang: cross_entropy.*needs_integers_not.*element<float>
  // cause: A label is the position of a class.
  // cure: Declare `tensor<int, batch<2>>`; for probabilities, write the sum with `log_softmax<classes>(x)`.
  auto r = cross_entropy<classes>(x, tensor<float, batch<2>>{});
#elif defined CASE_smoothing_by_more_than_all
  // expect-gcc: "umbel: cross_entropy: label smoothing must be a fraction from 0 to 1; write label_smoothing<1, 10>"
  // expect-clang: cross_entropy.*label_smoothing.*must_be_a_fraction_from_0_to_1
  // cause: The fraction is the part of the probability that all classes share.
  // cure: Write `label_smoothing<1, 10>` for a tenth.
  auto r = cross_entropy<classes, label_smoothing<3, 2>>(x, label);
#elif defined CASE_option_of_another_layer
  // expect-gcc: "umbel: cross_entropy: accepts the options label_smoothing<1, 10> and ignored_label<0>, not bias"
  // expect-clang: cross_entropy.*accepts_label_smoothing_and_ignored_label_not
  // cause: A loss does not have this option.
  // cure: Use `label_smoothing<>`, `ignored_label<>` or no option.
  auto r = cross_entropy<classes, bias<true>>(x, label);
#elif defined CASE_squares_of_other_axes
  // expect-gcc: "umbel: mean_squared_error: \[batch=2, classes=3\] and \[batch=3, classes=3\] have the same axes with different sizes"
  // expect-clang: mean_squared_error.*batch<2>.*batch<3>
  // cause: Each element is compared with the element at the same position.
  // cure: Pass two tensors with the same axes.
  auto r = mean_squared_error(x, tensor<float, batch<3>, classes<3>>{});
#elif defined CASE_label_that_is_a_number
  // expect-gcc: "umbel: cross_entropy: expects logits and labels, both tensors or both of one formula"
  // expect-clang: cross_entropy.*expects_logits_and_labels_both_tensors_or_both_of_one_formula
  // cause: The label is a number, or missing.
  // cure: Pass the logits, then the labels: `tensor<int>{3}` for logits of one row.
  auto r = cross_entropy<classes>(x | select_at<batch, 0>, 2);
#elif defined CASE_cross_entropy_without_labels
  // expect-gcc: "umbel: cross_entropy: expects logits and labels, both tensors or both of one formula"
  // expect-clang: cross_entropy.*expects_logits_and_labels_both_tensors_or_both_of_one_formula
  // cause: The label is a number, or missing.
  // cure: Pass the logits, then the labels: `tensor<int>{3}` for logits of one row.
  auto r = cross_entropy<classes>(x);
#elif defined CASE_squares_from_a_number
  // expect-gcc: "umbel: mean_squared_error: expects two tensors, or two values of one formula"
  // expect-clang: mean_squared_error.*expects_two_tensors_or_two_values_of_one_formula
  // cause: One of the two is a number.
  // cure: Pass a tensor.
  auto r = mean_squared_error(x, 1.0f);
#elif defined CASE_initialized_by_a_number
  // expect-gcc: "umbel: initialize: expects an initializer, initializer::normal\(0\.02\), or a function of a path and a view that returns one"
  // expect-clang: initialize.*expects_an_initializer_or_a_function_of_a_path_and_a_view_that_returns_one
  // cause: A number does not specify how to draw the weights.
  // cure: Write `initializer::normal(0.02)`; for one value, write `initializer::constant(0.02)`.
  initialize(w, 1, 0.02);
  int r = 0;
#elif defined CASE_chains_that_cannot_be_halved
  // expect-gcc: "umbel: batch_gradient: chains=6 must be a power of two, since chains are folded in halves"
  // expect-clang: batch_gradient.*chains<6>.*must_be_a_power_of_two_since_chains_are_folded_in_halves
  // cause: The partial sums of a batch are added in pairs.
  // cure: Use `chains<4>` or `chains<8>`.
  const auto r = sizeof(batch_gradient<attention::weights, chains<6>>);
#elif defined CASE_chains_of_another_axis
  // expect-gcc: "umbel: batch_gradient: expected the axis chains but got batch=4"
  // expect-clang: batch_gradient.*expected_the_axis.*chains.*but_got.*batch<4>
  // cause: The second argument is the number of partial sums for a batch, not the number of samples.
  // cure: Write `batch_gradient<weights, chains<4>>`.
  const auto r = sizeof(batch_gradient<attention::weights, batch<4>>);
#elif defined CASE_chains_of_integers
  // expect-gcc: "umbel: batch_gradient: needs parameters of float or double, not int"
  // expect-clang: batch_gradient.*needs_parameters_of_float_or_double_not.*int
  // cause: Integers have no gradient.
  // cure: Leave them out of the struct of weights.
  const auto r = sizeof(batch_gradient<counted, chains<4>>);
#elif defined CASE_a_batch_without_losses
  // expect-gcc: "umbel: batch_gradient: sum expects the size of the batch, a non-const executor, and a function \(std::size_t b, weights& g, std::size_t worker\) that adds to the gradient of a sample and returns its loss"
  // expect-clang: batch_gradient.*sum_expects_the_size_of_the_batch_an_executor_and_a_function_of_a_sample
  // cause: The function must return the loss of its sample, and needs three parameters, the last one the worker that calls it. It must add to the gradient by reference: with `auto g` it would change a copy.
  // cure: Write `of_batch.sum(8, serial, [&](std::size_t b, weights& g, std::size_t worker) { return learn(...)(); })`.
  batch_gradient<attention::weights, chains<4>> of_batch;
  auto r = of_batch.sum(8, serial, [](std::size_t, attention::weights&) { return 0.0f; });
#elif defined CASE_a_batch_whose_gradients_are_copies
  // expect-gcc: "umbel: batch_gradient: sum expects the size of the batch, a non-const executor, and a function \(std::size_t b, weights& g, std::size_t worker\) that adds to the gradient of a sample and returns its loss"
  // expect-clang: batch_gradient.*sum_expects_the_size_of_the_batch_an_executor_and_a_function_of_a_sample
  // cause: The function must return the loss of its sample, and needs three parameters, the last one the worker that calls it. It must add to the gradient by reference: with `auto g` it would change a copy.
  // cure: Write `of_batch.sum(8, serial, [&](std::size_t b, weights& g, std::size_t worker) { return learn(...)(); })`.
  batch_gradient<attention::weights, chains<4>> of_batch;
  auto r = of_batch.sum(8, serial, [](std::size_t, auto, std::size_t) { return 0.0f; });
#elif defined CASE_update_without_an_optimizer
  // expect-gcc: "umbel: update: expects the weights, their gradient, the state and the optimizer; write update\(w, g, sgd\{\}\) or update\(w, g, state, adamw\{\}\)"
  // expect-clang: update.*expects_the_weights_their_gradient_the_state_and_the_optimizer
  // cause: Only `sgd` has no state.
  // cure: Write `update(w, g, state, adamw{})`.
  update(w, g);
  const int r = 0;
#elif defined CASE_scale_without_a_factor
  // expect-gcc: "umbel: scale: expects a gradient, which it changes, and a factor; write scale\(g, 0\.5\)"
  // expect-clang: scale.*expects_a_gradient_that_it_changes_and_a_factor_so_write_scale_of_g_and_half
  // cause: The gradient comes first, then the number by which it is multiplied.
  // cure: Write `scale(g, 1.0 / batch)`.
  scale(w);
  const int r = 0;
#elif defined CASE_scale_by_a_gradient
  // expect-gcc: "umbel: scale: expects a gradient, which it changes, and a factor; write scale\(g, 0\.5\)"
  // expect-clang: scale.*expects_a_gradient_that_it_changes_and_a_factor_so_write_scale_of_g_and_half
  // cause: The gradient comes first, then the number by which it is multiplied.
  // cure: Write `scale(g, 1.0 / batch)`.
  scale(0.5, w);
  const int r = 0;
#elif defined CASE_initialize_without_a_seed
  // expect-gcc: "umbel: initialize: expects the weights and a seed; write initialize\(w, 2026\)"
  // expect-clang: initialize.*expects_the_weights_and_a_seed_so_write_initialize_of_w_and_2026
  // cause: Nothing is random by itself: weights of equal seeds are equal.
  // cure: Write `initialize(w, 2026)`, with any integer.
  initialize(w);
  const int r = 0;
#elif defined CASE_optimizer_called
  // expect-gcc: "umbel: adam: is the last argument of update; write update\(w, g, sgd\{\}\) or update\(w, g, state, adamw\{\}\)"
  // expect-clang: adam, .*is_the_last_argument_of_update_so_write_update_of_w_g_and_it
  // cause: An optimizer holds numbers only; `update` makes the step.
  // cure: Write `update(w, g, state, adam{})`.
  adam optimizer;
  optimizer(w, g);
  const int r = 0;
#elif defined CASE_optimizer_as_a_template_argument
  // expect-gcc: "umbel: sgd: is the last argument of update; write update\(w, g, sgd\{\}\) or update\(w, g, state, adamw\{\}\)"
  // expect-clang: sgd, .*is_the_last_argument_of_update_so_write_update_of_w_g_and_it
  // cause: The numbers of an optimizer are known only at run time.
  // cure: Write `update(w, g, sgd{.rate = 0.1})`.
  auto r = update<sgd>(w, g);
#elif defined CASE_state_of_an_optimizer_without_one
  // expect-gcc: "umbel: sgd: has no state; write update\(w, g, sgd\{\}\)"
  // expect-clang: sgd, .*has_no_state_so_write_update_of_w_g_and_it
  // cause: Plain gradient descent remembers nothing between steps.
  // cure: Leave the state out: `update(w, g, sgd{})`.
  sgd::state<attention::weights> r;
#elif defined CASE_state_of_a_layer
  // expect-gcc: "umbel: update: the state needs the type of the weights, not of the layer; write adamw::state<layer::weights>"
  // expect-clang: update, .*the_state_needs_the_type_of_the_weights_not_of_the_layer
  // cause: A layer borrows its weights; optimizers work on the weights.
  // cure: Write `adamw::state<attention::weights>`.
  static adamw::state<attention> of_layer;
  auto r = update(w, g, of_layer, adamw{});
#elif defined CASE_result_of_update_as_a_number
  // expect-gcc: "umbel: update_result: does not convert to float; write if \(result\), or read its status or norm"
  // expect-clang: update_result, .*does_not_convert_to, .*element<float>, .*so_write_if_or_read_its_status_or_norm
  // cause: `update` returns whether it made a step, and the norm of the gradient; the loss is not known to it.
  // cure: Write `update(w, g, state, adamw{}).norm`.
  float r = update(w, g, state, adamw{});
#elif defined CASE_step_of_a_schedule
  // expect-gcc: "umbel: warm_up_then_cosine: is a function of the step, counted from 0; write rate\(step\)"
  // expect-clang: warm_up_then_cosine, .*is_a_function_of_the_step_so_write_rate_of_step
  // cause: A schedule does not count the steps.
  // cure: Count them, and write `rate(step)`.
  auto r = warm_up_then_cosine{}.step();
#elif defined CASE_cross_entropy_without_its_axis
  // expect-gcc: "umbel: cross_entropy: needs the axis of the classes; write cross_entropy<classes>\(logits, labels\)"
  // expect-clang: cross_entropy.*needs_the_axis_of_the_classes_so_write_cross_entropy_of_that_axis
  // cause: Axes have names, so there is no last one that the softmax could go along.
  // cure: Name the axis of the classes: `cross_entropy<classes>(logits, labels)`.
  auto r = cross_entropy(x, label);
#elif defined CASE_cross_entropy_without_its_axis_in_a_formula
  // expect-gcc: "umbel: cross_entropy: needs the axis of the classes; write cross_entropy<classes>\(logits, labels\)"
  // expect-clang: cross_entropy.*needs_the_axis_of_the_classes_so_write_cross_entropy_of_that_axis
  // lines-gcc: 16
  // cause: Axes have names, so there is no last one that the softmax could go along.
  // cure: Name the axis of the classes: `cross_entropy<classes>(logits, labels)`.
  constexpr formula loss = [](auto a, auto b) { return cross_entropy(a, b); };
  auto r = loss(x, label);
#elif defined CASE_cross_entropy_that_ignores_a_negative_label
  // expect-gcc: "umbel: cross_entropy: ignored_label -100 is not a class and is ignored without the option; leave it out"
  // expect-clang: cross_entropy, .*ignored_label, .*below_zero<-100>, .*is_not_a_class_and_is_ignored_without_the_option_so_leave_it_out
  // cause: A label that is not a class, below 0 or too large, never adds a loss.
  // cure: Leave the option out.
  auto r = cross_entropy<classes, ignored_label<-100>>(logits{}, tensor<int, batch<2>>{});
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
