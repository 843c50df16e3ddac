// SPDX-License-Identifier: BSL-1.0
// One step of an optimizer. Weights, gradient and the optimizer's state have the same type:
//
//   static model::weights w, g;
//   static adamw::state<model::weights> state;       // zeros at first
//   ...                                              // adds to g
//   scale(g, 1.0 / batch);
//   clip_by_norm(g, 1);
//   if (!update(w, g, state, adamw{.rate = rate(step), .decay = 0.02})) ...
//   set_to_zero(g);
//
// w: weights of a layer, or a struct of them with part_names, all of float or all of double. To
// update only a part, pass it: update(w.head, g.head, state, options). The numbers of an optimizer
// are double; results are rounded once to the type of the weights. Nothing is allocated. The same
// bits on every target with fused multiply-add.
#pragma once

#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/backward/optimiser.hpp>
#include <umbel/tensor/print.hpp>
#include <umbel/tensor/tensor.hpp>
#include <umbel/training/arithmetic.hpp>
#include <umbel/training/arrays.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace say {
struct sgd;
struct update;
}  // namespace say
UMBEL_SAYS(so_write_if_or_read_its_status_or_norm,
           "; write if (result), or read its status or norm");
UMBEL_SAYS(expects_the_weights_their_gradient_the_state_and_the_optimizer,
           "expects the weights, their gradient, the state and the optimizer; write update(w, g, "
           "sgd{}) or update(w, g, state, adamw{})");
UMBEL_SAYS(is_the_last_argument_of_update_so_write_update_of_w_g_and_it,
           "is the last argument of update; write update(w, g, sgd{}) or update(w, g, state, "
           "adamw{})");
UMBEL_SAYS(the_state_needs_the_type_of_the_weights_not_of_the_layer,
           "the state needs the type of the weights, not of the layer; write "
           "adamw::state<layer::weights>");
UMBEL_SAYS(has_no_state_so_write_update_of_w_g_and_it, "has no state; write update(w, g, sgd{})");

// A state whose declaration was refused.
struct refused_state {};
// adamw::state<layer>: of the layer, not of its weights.
template <class Layer>
using state_of_a_layer = verdict<never<Layer>, say::update,
                                 say::the_state_needs_the_type_of_the_weights_not_of_the_layer>;

// optimizer(w, g) or optimizer.step(), as in frameworks: refused.
template <class Optimizer, class... Given>
constexpr void optimizer_called() noexcept {
  using verdict = verdict<never<Given...>, Optimizer,
                          say::is_the_last_argument_of_update_so_write_update_of_w_g_and_it>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
}
}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel {

// Stochastic gradient descent: w - rate (g + decay w). It has no state: update(w, g, sgd{}). A
// number out of its range returns update_status::optimiser_out_of_range.
struct sgd {
  double rate = 0.01;  // learning rate, >= 0, finite
  double decay = 0;    // weight decay, added to the gradient; >= 0, finite

  // Its state: refused.
  template <class Weights>
  struct state : detail::refused_state {
    static_assert(detail::reported<
                      detail::verdict<detail::never<Weights>, detail::say::sgd,
                                      detail::say::has_no_state_so_write_update_of_w_g_and_it>>::ok,
                  "umbel: shapes do not fit");
  };
  // optimizer(w, g) and optimizer.step(): refused.
  template <class... Given>
  constexpr void operator()(const Given&...) const noexcept {
    detail::optimizer_called<sgd, Given...>();
  }
  template <class... Given>
  constexpr void step(const Given&...) const noexcept {
    detail::optimizer_called<sgd, Given...>();
  }
};

// With momentum, like torch.optim.SGD: m = momentum m + g + decay w, then w - rate m; see sgd.
struct sgd_with_momentum {
  double rate = 0.01;
  double momentum = 0.9;  // the part of m kept at each step, 0 <= momentum < 1
  double decay = 0;
  bool nesterov = false;  // w - rate (g + decay w + momentum m)

  template <class Weights>
  struct state {
    static constexpr const char* part_names[] = {"momentum", "steps"};
    Weights momentum{};
    tensor<std::int32_t> steps{};  // steps made so far
  };
  template <detail::layer_of_weights Layer>
  struct state<Layer> : detail::refused_state {
    static_assert(detail::reported<detail::state_of_a_layer<Layer>>::ok,
                  "umbel: shapes do not fit");
  };

  // optimizer(w, g) and optimizer.step(): refused.
  template <class... Given>
  constexpr void operator()(const Given&...) const noexcept {
    detail::optimizer_called<sgd_with_momentum, Given...>();
  }
  template <class... Given>
  constexpr void step(const Given&...) const noexcept {
    detail::optimizer_called<sgd_with_momentum, Given...>();
  }
};

// Adam (Kingma and Ba 2015), like torch.optim.Adam: w - rate m' / (sqrt(v') + epsilon), where m'
// and v' are running means of the gradient and of its square, corrected for their start; see sgd.
struct adam {
  double rate = 1e-3;
  double beta1 = 0.9;     // the part of the gradient's mean kept, 0 <= beta1 < 1
  double beta2 = 0.999;   // the same for its square, 0 <= beta2 < 1
  double epsilon = 1e-8;  // above 0 in the type of the weights, finite
  double decay = 0;       // weight decay, added to the gradient

  template <class Weights>
  struct state {
    static constexpr const char* part_names[] = {"first", "second", "steps"};
    Weights first{};
    Weights second{};
    tensor<std::int32_t> steps{};  // steps made so far
  };
  template <detail::layer_of_weights Layer>
  struct state<Layer> : detail::refused_state {
    static_assert(detail::reported<detail::state_of_a_layer<Layer>>::ok,
                  "umbel: shapes do not fit");
  };

  // optimizer(w, g) and optimizer.step(): refused.
  template <class... Given>
  constexpr void operator()(const Given&...) const noexcept {
    detail::optimizer_called<adam, Given...>();
  }
  template <class... Given>
  constexpr void step(const Given&...) const noexcept {
    detail::optimizer_called<adam, Given...>();
  }
};

// AdamW (Loshchilov and Hutter 2019), like torch.optim.AdamW: Adam on weights multiplied first by 1
// - rate decay, which should be above 0. Ranges and state as adam: one can continue the other.
struct adamw {
  double rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double decay = 0.01;  // weight decay, times the rate; of all weights, also gammas and biases

  template <class Weights>
  using state = adam::state<Weights>;

  // optimizer(w, g) and optimizer.step(): refused.
  template <class... Given>
  constexpr void operator()(const Given&...) const noexcept {
    detail::optimizer_called<adamw, Given...>();
  }
  template <class... Given>
  constexpr void step(const Given&...) const noexcept {
    detail::optimizer_called<adamw, Given...>();
  }
};

// Was a step made? If not, nothing changed, including the state.
enum class update_status : unsigned char {
  updated,
  gradient_is_not_finite,  // its norm is NaN or infinite
  optimiser_out_of_range,  // negative or not finite in the type of the weights, a beta >= 1, an
                           // epsilon of 0
};
// The result of update: true if a step was made.
struct update_result {
  update_status status = update_status::updated;
  double norm = 0;  // of the gradient; 0 if the optimizer is out of range
  [[nodiscard]] UMBEL_SHARED constexpr explicit operator bool() const noexcept {
    return status == update_status::updated;
  }
  // As a number or a status: refused.
  template <class X>
    requires(std::is_arithmetic_v<X> || std::is_same_v<X, update_status>)
  constexpr operator X() const noexcept {
    return detail::no_conversion<update_result, detail::say::so_write_if_or_read_its_status_or_norm,
                                 X>();
  }
};

}  // namespace umbel

namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(returns_a_result_so_compare_its_status,
           "returns a result; write if (result) or compare result.status");
UMBEL_SAYS(the_state_does_not_match_this_optimizer_and_its_weights,
           "the state does not match this optimizer and these weights; declare "
           "adamw::state<weights> state, of the optimizer and the type of w");

constexpr bool is_part(double x) noexcept { return x >= 0 && x < 1; }

// beta^n by squaring: relative error within n 2^-53.
constexpr double power_of(double beta, std::int32_t n) noexcept {
  double power = 1;
  for (auto left = static_cast<std::uint32_t>(n); left != 0; left >>= 1) {
    if (left & 1) power = simd::fma(power, beta, 0.0);
    beta = simd::fma(beta, beta, 0.0);
  }
  return power;
}

// For an optimizer with numbers T: is it in range, step n from 1, and the state's arrays.
template <class T>
struct optimiser_step {
  static constexpr bool is_in_range(const sgd& options) noexcept {
    return is_size(static_cast<T>(options.rate)) && is_size(static_cast<T>(options.decay));
  }
  static constexpr auto make(const sgd& options, std::int32_t) noexcept {
    return kernel::sgd_step<T>{static_cast<T>(options.rate), static_cast<T>(options.decay)};
  }

  static constexpr bool is_in_range(const sgd_with_momentum& options) noexcept {
    return is_size(static_cast<T>(options.rate)) && is_size(static_cast<T>(options.decay)) &&
           is_part(options.momentum);
  }
  static constexpr auto make(const sgd_with_momentum& options, std::int32_t) noexcept {
    return kernel::momentum_step<T>{static_cast<T>(options.rate), static_cast<T>(options.momentum),
                                    static_cast<T>(options.decay), options.nesterov};
  }

  template <class Adam>
  static constexpr bool is_in_range(const Adam& options) noexcept {
    return is_size(static_cast<T>(options.rate)) && is_size(static_cast<T>(options.decay)) &&
           is_part(options.beta1) && is_part(options.beta2) && is_size(options.epsilon) &&
           static_cast<T>(options.epsilon) > 0;
  }
  template <class Adam>
  static constexpr auto make(const Adam& options, std::int32_t n) noexcept {
    constexpr bool decoupled = std::is_same_v<Adam, adamw>;
    const double unbiased1 = 1 - power_of(options.beta1, n),
                 unbiased2 = 1 - power_of(options.beta2, n);
    return kernel::adam_step<T>{
        decoupled ? T{} : static_cast<T>(options.decay),
        static_cast<T>(options.beta1),
        static_cast<T>(1 - options.beta1),
        static_cast<T>(options.beta2),
        static_cast<T>(1 - options.beta2),
        static_cast<T>(1 / simd::sqrt(unbiased2)),
        static_cast<T>(options.epsilon),
        static_cast<T>(options.rate / unbiased1),
        decoupled ? static_cast<T>(-simd::fma(options.rate, options.decay, -1.0)) : T{1}};
  }
};

template <class T, class Step, class W>
void step_of_arrays(const Step& step, W& w, const W& g) noexcept {
  for_each_array([&](std::size_t n, T* x, const T* dx) { kernel::each_number<T>(step, n, x, dx); },
                 w, g);
}
template <class T, class Step, class W>
void step_of_arrays(const Step& step, W& w, const W& g,
                    sgd_with_momentum::state<W>& state) noexcept {
  for_each_array(
      [&](std::size_t n, T* x, const T* dx, T* m) { kernel::each_number<T>(step, n, x, dx, m); }, w,
      g, state.momentum);
}
template <class T, class Step, class W>
void step_of_arrays(const Step& step, W& w, const W& g, adam::state<W>& state) noexcept {
  for_each_array([&](std::size_t n, T* x, const T* dx, T* m,
                     T* v) { kernel::each_number<T>(step, n, x, dx, m, v); },
                 w, g, state.first, state.second);
}

// Inlined, like all functions with a double as argument or result: then, with float weights,
// constant or float rates and unused norms need no arithmetic in double.
template <class Options, class W, class G, class... State>
UMBEL_INLINE update_result updated(W& w, const G& g, const Options& options,
                                   State&... state) noexcept {
  using T = number_of<W>;
  using step = optimiser_step<T>;
  if (!step::is_in_range(options)) return {update_status::optimiser_out_of_range, 0};
  const T norm = norm_of(g);
  if (!is_size(norm)) return {update_status::gradient_is_not_finite, static_cast<double>(norm)};
  std::int32_t made = 0;
  ((made = state.steps()), ...);
  constexpr std::int32_t most = 0x7fffffff;
  made = made < 0 ? 1 : made < most ? made + 1 : most;
  ((state.steps() = made), ...);
  step_of_arrays<T>(step::make(options, made), w, g, state...);
  return {update_status::updated, static_cast<double>(norm)};
}

namespace rules {
template <class H>
inline constexpr bool is_optimiser =
    std::is_same_v<H, sgd> || std::is_same_v<H, sgd_with_momentum> || std::is_same_v<H, adam> ||
    std::is_same_v<H, adamw>;

template <class State, class Options, class W>
inline constexpr bool is_state_of = false;
template <class State, class Options, class W>
  requires requires { typename Options::template state<W>; }
inline constexpr bool is_state_of<State, Options, W> =
    std::is_same_v<State, typename Options::template state<W>>;

template <class... X>
struct update_rule {
  using type = verdict<never<X...>, say::update,
                       say::expects_the_weights_their_gradient_the_state_and_the_optimizer>;
};
template <class W, class G, class Options>
  requires std::is_same_v<Options, sgd>
struct update_rule<W, G, Options> {
  using type = changeable_by<say::update, W, G>;
};
template <class W, class G, class State, class Options>
  requires(is_optimiser<Options> && !std::is_same_v<Options, sgd>)
struct update_rule<W, G, State, Options> {
  using type = first_error<typename update_rule<W, G, sgd>::type,
                           verdict<is_state_of<State, Options, W>, say::update,
                                   say::the_state_does_not_match_this_optimizer_and_its_weights>>;
};
}  // namespace rules
}  // namespace detail

// One step: updates w by its gradient g, of the same type. If the norm of g is NaN or infinite (in
// float above 1.8e19), or a number of the optimizer out of range, nothing changes; see
// update_status.
//   "umbel: update: argument 2 has a different type from argument 1; ..."
//   "umbel: update: the state does not match this optimizer and these weights; ..."
// and those of for_each_parameter.
template <class W, class G, class Options>
  requires detail::rules::update_rule<W, G, Options>::type::ok
[[nodiscard]] UMBEL_INLINE update_result update(W& w, const G& g, const Options& options) noexcept {
  return detail::updated(w, g, options);
}
// The same with a state, How::state of the type of w, which starts as zeros and counts steps.
template <class W, class G, class State, class Options>
  requires detail::rules::update_rule<W, G, State, Options>::type::ok
[[nodiscard]] UMBEL_INLINE update_result update(W& w, const G& g, State& state,
                                                const Options& options) noexcept {
  return detail::updated(w, g, options, state);
}

// Arguments that do not fit: refused. (Not nodiscard: a warning would come before the error.)
template <class W, class G, class Options>
  requires(!detail::rules::update_rule<W, G, Options>::type::ok)
constexpr update_result update(W&, const G&, const Options&) noexcept {
  static_assert(detail::report<typename detail::rules::update_rule<W, G, Options>::type>::ok,
                "umbel: shapes do not fit");
  return {};
}
template <class W, class G, class State, class Options>
  requires(!detail::rules::update_rule<W, G, State, Options>::type::ok)
constexpr update_result update(W&, const G&, State&, const Options&) noexcept {
  using verdict = typename detail::rules::update_rule<W, G, State, Options>::type;
  using to_say = std::conditional_t<std::is_base_of_v<detail::refused_state, State>,
                                    detail::accepted, verdict>;
  static_assert(detail::report<to_say>::ok, "umbel: shapes do not fit");
  return {};
}
// A different number of arguments: refused.
template <class... Given>
  requires(detail::given_weights<Given...> && sizeof...(Given) != 3 && sizeof...(Given) != 4)
constexpr update_result update(Given&&...) noexcept {
  using verdict = typename detail::rules::update_rule<std::remove_cvref_t<Given>...>::type;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}
// update<sgd>(w, g): refused.
template <class Optimizer, class... Given>
  requires(detail::rules::is_optimiser<Optimizer> && detail::given_weights<Given...>)
constexpr update_result update(const Given&...) noexcept {
  detail::optimizer_called<Optimizer, Given...>();
  return {};
}
// A temporary state: refused.
template <class W, class G, class State, class Options>
  requires(detail::given_weights<W> && !std::is_lvalue_reference_v<State>)
constexpr update_result update(W&&, const G&, State&&, const Options&) noexcept {
  static_assert(detail::report<typename detail::rules::update_rule<W, State>::type>::ok,
                "umbel: shapes do not fit");
  return {};
}
// The result compared with a status: refused.
template <class Status>
  requires std::is_same_v<Status, update_status>
constexpr bool operator==(const update_result&, Status) noexcept {
  using verdict = detail::verdict<detail::never<Status>, detail::say::update,
                                  detail::say::returns_a_result_so_compare_its_status>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return false;
}
// !status: refused.
template <class Status>
  requires std::is_same_v<Status, update_status>
constexpr bool operator!(Status) noexcept {
  using verdict = detail::verdict<detail::never<Status>, detail::say::update,
                                  detail::say::returns_a_result_so_compare_its_status>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return false;
}

namespace detail {
template <>
struct print_of<update_result> {
  using instead = say::has_no_text_so_print_its_norm;
};
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
