// SPDX-License-Identifier: BSL-1.0
// Losses, gradients, optimizers: what few programs of the other files have.
#include <misuse/all_headers.hpp>

#if defined CASE_zero_by_assignment
// fact: set_to_zero
// fact: weights
void f() { sg = 0; }
#elif defined CASE_set_to_zero_two
// fact: set_to_zero
// fact: one
void f() { set_to_zero(sw, sg); }
#elif defined CASE_average_without_a_decay
// fact: moving_average
// fact: decay
void f(self_attention::weights& average) { moving_average(average, sw); }
#elif defined CASE_average_of_another_layer
// fact: moving_average
// fact: type
void f(attention::weights& average) { moving_average(average, sw, 0.999); }
#elif defined CASE_sgd_with_a_state
// fact: update
// fact: state
void f(adam::state<self_attention::weights>& state) { std::ignore = update(sw, sg, state, sgd{}); }
#elif defined CASE_sgd_as_a_type
// fact: update
// fact: sgd
void f() { std::ignore = update<sgd>(sw, sg); }
#elif defined CASE_state_of_sgd
// fact: sgd
// fact: state
sgd::state<self_attention::weights> r;
#elif defined CASE_momentum_without_a_state
// fact: update
// fact: state
void f() { std::ignore = update(sw, sg, sgd_with_momentum{.momentum = 0.9}); }
#elif defined CASE_momentum_before_its_state
// fact: update
// fact: state
void f(sgd_with_momentum::state<self_attention::weights>& state) {
  std::ignore = update(sw, sg, sgd_with_momentum{}, state);
}
#elif defined CASE_adam_with_the_state_of_momentum
// fact: state
// fact: optimizer|adam
void f(sgd_with_momentum::state<self_attention::weights>& state) {
  std::ignore = update(sw, sg, state, adam{});
}
#elif defined CASE_adam_with_the_state_of_another_layer
// fact: state
// fact: weights
void f(adam::state<attention::weights>& state) { std::ignore = update(sw, sg, state, adam{}); }
#elif defined CASE_adam_called
// fact: update
// fact: adam
void f(adam& optimizer) { optimizer(sw, sg); }
#elif defined CASE_adamw_without_a_state
// fact: update
// fact: state
void f() { std::ignore = update(sw, sg, adamw{.decay = 0.01}); }
#elif defined CASE_adamw_steps
// fact: update
// fact: adamw|step
void f(adamw& optimizer) { optimizer.step(); }
#elif defined CASE_status_compared_with_the_result
// fact: update
// fact: status
bool f() { return update(sw, sg, sgd{}) == update_status::updated; }
#elif defined CASE_status_from_the_result
// fact: update
// fact: status
void f() { const update_status r = update(sw, sg, sgd{}); }
#elif defined CASE_status_as_a_condition
// fact: update
// fact: status
bool f(update_status made) { return !made; }
#elif defined CASE_result_as_a_loss
// fact: update
// fact: float
float f() { return update(sw, sg, sgd{}); }
#elif defined CASE_result_printed
// fact: update
// fact: print|status
void f(const update_result& made) { std::cout << made; }
#elif defined CASE_result_of_an_update_returned_by_a_bool
// fact: update
// fact: status|bool
bool f(const update_result& made) { return made; }
#elif defined CASE_schedule_as_a_rate
// fact: rate
// fact: step
adam f(const constant_rate& rate) { return adam{.rate = rate}; }
#elif defined CASE_cosine_as_a_rate
// fact: rate
// fact: step
adamw f(const warm_up_then_cosine& rate) { return adamw{.rate = rate}; }
#elif defined CASE_line_as_a_rate
// fact: rate
// fact: step
sgd f(const warm_up_then_linear& rate) { return sgd{.rate = rate}; }
#elif defined CASE_schedule_of_no_step
// fact: rate
// fact: step
double f(const constant_rate& rate) { return rate(); }
#elif defined CASE_cosine_of_no_step
// fact: rate
// fact: step
double f(warm_up_then_cosine& rate) { return rate.step(); }
#elif defined CASE_line_of_an_optimizer
// fact: rate
// fact: step
double f(const warm_up_then_linear& rate, sgd& optimizer) { return rate(optimizer); }
#elif defined CASE_schedule_as_an_optimizer
// fact: update
// fact: optimizer|sgd
void f() { std::ignore = update(sw, sg, constant_rate{.rate = 1e-3}); }
#elif defined CASE_cosine_in_place_of_the_state
// fact: update
// fact: state
void f() { std::ignore = update(sw, sg, warm_up_then_cosine{.rate = 1e-3}, adam{}); }
#elif defined CASE_line_as_an_optimizer
// fact: update
// fact: optimizer|sgd
void f() { std::ignore = update(sw, sg, warm_up_then_linear{.rate = 1e-3}); }
#elif defined CASE_recompute_of_the_wrong_width
// fact: hidden=64
// fact: hidden=32
auto f(const recompute<encoder>& again) { return again(t); }
#elif defined CASE_recompute_without_weights
// fact: recompute|encoder_layer
// fact: weights
auto f() { return recompute<encoder>{}(sound); }
#elif defined CASE_recompute_of_a_tensor
// fact: frames=24
// fact: weights
auto f() { return recompute<encoder>(sound); }
#elif defined CASE_recompute_of_weights
// fact: recompute
// fact: layer
recompute<encoder::weights> f(const encoder::weights& we) {
  return recompute<encoder::weights>{we};
}
#elif defined CASE_gates_of_which_layer
// fact: head_gates
// fact: layer|<
auto r = head_gates(sw, sg);
#elif defined CASE_gates_of_a_linear_map
// fact: head_gates
// fact: multi_head_attention|that attention
auto r = head_gates<head>(hw, hw);
#elif defined CASE_gates_without_a_gradient
// fact: head_gates
// fact: gradient
auto r = head_gates<self_attention>(sw);
#elif defined CASE_gates_of_another_layer
// fact: head_gates
// fact: weights|gradient
auto r = head_gates<self_attention>(sw, w);
#elif defined CASE_initialize_by_a_number
// fact: initialize
// fact: initializer
void f() { initialize(sw, 42, 0.02); }
#elif defined CASE_initialize_without_a_seed
// fact: initialize
// fact: seed
void f() { initialize(sw, initializer::normal(0.02)); }
#elif defined CASE_initializer_not_called
// fact: initialize
// fact: initializer
void f() { initialize(sw, 42, initializer::xavier_uniform); }
#elif defined CASE_initializer_before_the_seed
// fact: initialize
// fact: seed|initializer
void f() { initialize(sw, initializer::normal(0.02), 42); }
#elif defined CASE_initialize_a_layer
// fact: initialize|for_each_parameter
// fact: weights
void f(self_attention& layer) { initialize(layer, 42); }
#elif defined CASE_loss_ignores_a_negative_label
// fact: ignored_label
// fact: -100
auto r = cross_entropy<classes, ignored_label<-100>>(logits, lens);
#elif defined CASE_loss_option_without_its_number
// fact: ignored_label
// fact: ignored_label<
auto r = cross_entropy<classes, ignored_label>(logits, lens);
#elif defined CASE_loss_option_before_the_axis
// fact: cross_entropy
// fact: axis|classes
auto r = cross_entropy<ignored_label<0>, classes>(logits, lens);
#elif defined CASE_loss_option_as_an_argument
// fact: cross_entropy
// fact: ignored_label|<
auto r = cross_entropy<classes>(logits, lens, ignored_label<0>{});
#elif defined CASE_loss_along_another_axis
// fact: vocabulary
// fact: classes=10
auto r = cross_entropy<vocabulary, label_smoothing<1, 10>>(logits, lens);
#elif defined CASE_loss_smoothed_by_a_fraction
// fact: label_smoothing
// fact: label_smoothing<1|fraction
auto r = cross_entropy<classes, label_smoothing<0.1>>(logits, lens);
#elif defined CASE_squares_along_an_axis
// fact: mean_squared_error
// fact: axes
auto r = mean_squared_error<classes>(logits, logits);
#elif defined CASE_squares_of_labels
// fact: float
// fact: int
auto r = mean_squared_error(logits, tensor<int, batch<2>, classes<10>>{});
#elif defined CASE_result_without_an_optimizer
// fact: update
// fact: optimizer
const update_result r = update(sw, sg);
#endif
