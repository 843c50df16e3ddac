// SPDX-License-Identifier: BSL-1.0
// The gradient of a batch, with the same bits for any number of workers: the samples are summed in
// chains, in an order set by the type.
//
//   static batch_gradient<model::weights, chains<4>> of_batch;
//   static learning_workspace work[2];
//   const float loss = of_batch.sum(128, pool, [&](std::size_t b, auto& g, std::size_t worker) {
//     return learn(x[b], label[b], with_gradient(w, g), work[worker])();
//   });
//   scale(of_batch.gradient(), 1.0 / 128);
//
// Sample b adds to chain b % 4, in the order of the batch. Then chains are folded in halves: chain
// c adds chain c + 2, then chain 0 adds chain 1. Each chain has its gradient, and one worker
// computes it. (Chains over the processes of a job: umbel/mpi.hpp.)
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/executor.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/training/arithmetic.hpp>
#include <umbel/training/axes.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct batch_gradient;
}  // namespace say
UMBEL_SAYS(must_be_a_power_of_two_since_chains_are_folded_in_halves,
           "must be a power of two, since chains are folded in halves");
UMBEL_SAYS(
    sum_expects_the_size_of_the_batch_an_executor_and_a_function_of_a_sample,
    "sum expects the size of the batch, a non-const executor, and a function (std::size_t b, "
    "weights& g, std::size_t worker) that adds to the gradient of a sample and returns its loss");

namespace rules {
template <class Weights, class Chains>
struct batch_gradient_rule {
  using type = changeable<say::batch_gradient, Weights>;
};
template <class Weights, axis_like Chains>
  requires((Chains::size & (Chains::size - 1)) != 0)
struct batch_gradient_rule<Weights, Chains> {
  using type = verdict<never<Chains>, say::batch_gradient, Chains,
                       say::must_be_a_power_of_two_since_chains_are_folded_in_halves>;
};
template <class Weights, class Chains>
using batch_gradient =
    first_error<in_place<say::batch_gradient, Chains, axes::chains>, well_formed<Chains>,
                typename batch_gradient_rule<Weights, Chains>::type>;
}  // namespace rules

// A function of a sample, which adds to a gradient and returns the loss. If it also accepts an
// rvalue gradient, it would add to a copy: `auto g`.
template <class Sample, class Weights>
concept takes_a_copy = requires(const Sample& sample, Weights&& gradient) {
  sample(std::size_t{0}, static_cast<Weights&&>(gradient), std::size_t{0});
};
template <class Sample, class Weights>
concept sample_of =
    !takes_a_copy<Sample, Weights> && requires(const Sample& sample, Weights& gradient) {
      static_cast<number_of<Weights>>(sample(std::size_t{0}, gradient, std::size_t{0}));
    };

// Some of the chains of a batch.
template <class Weights, std::size_t Count>
class chains_of_gradient {
 public:
  using value_type = number_of<Weights>;
  struct sum_of_samples {
    Weights gradient;
    value_type loss;
  };

  // Chain c has every (Count * distance)-th sample from first + c * distance; then all are folded.
  template <class Executor, class Sample>
  void sum(std::size_t batch, std::size_t first, std::size_t distance, Executor& executor,
           const Sample& sample) noexcept {
    using workers = parallel_workspaces<Executor, workspace_base, (UMBEL_CHECK != 0)>;
    workers(executor, nullptr).hand_out(Count, [&](std::size_t c, std::size_t worker) {
      sum_of_samples& to = chains_[c];
      umbel::set_to_zero(to.gradient);
      to.loss = 0;
      for (std::size_t b = first + c * distance; b < batch; b += Count * distance)
        to.loss += static_cast<value_type>(sample(b, to.gradient, worker));
    });
    for (std::size_t half = Count / 2; half > 0; half /= 2)
      for (std::size_t c = 0; c < half; ++c) {
        umbel::add(chains_[c].gradient, chains_[c + half].gradient);
        chains_[c].loss += chains_[c + half].loss;
      }
  }
  constexpr sum_of_samples& total() noexcept { return chains_[0]; }

 private:
  sum_of_samples chains_[Count];
};

namespace rules {
template <class Weights, class Executor, class Sample>
using sum_takes =
    verdict<executor_like<Executor> && sample_of<Sample, Weights>, say::batch_gradient,
            say::sum_expects_the_size_of_the_batch_an_executor_and_a_function_of_a_sample>;
}  // namespace rules
}  // namespace detail

// The sum of the gradients of a batch, and of its losses, by chains<1>, chains<2>, chains<4>, ...:
// this many gradients in memory, and at most this many workers at once. A number that is not a
// power of two does not compile, nor do weights that optimizers don't accept.
template <class Weights, class Chains>
UMBEL_EXPECTS(
    "batch_gradient: expects a type of weights, then chains<4>; write batch_gradient<model, "
    "chains<4>>")
class batch_gradient {
  static_assert(detail::reported<detail::rules::batch_gradient<Weights, Chains>>::ok,
                "umbel: shapes do not fit");

 public:
  using weights = Weights;
  using chains = Chains;
  using value_type = detail::number_of<Weights>;

  // Calls sample(b, gradient, worker) once for each b below `batch`, which adds to the gradient and
  // returns the loss: samples of one chain in order, chains in any order, by the executor's workers
  // (layer/executor.hpp; `serial` is one). Returns the sum of the losses; replaces the gradient.
  //   "umbel: batch_gradient: sum expects the size of the batch, a non-const executor, and ..."
  template <class Executor, class Sample>
  value_type sum(std::size_t batch, Executor&& executor, const Sample& sample) noexcept {
    using verdict = detail::rules::sum_takes<Weights, Executor, Sample>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) chains_.sum(batch, 0, 1, executor, sample);
    return chains_.total().loss;
  }
  // The sum, after sum(): the caller may change it.
  [[nodiscard]] constexpr Weights& gradient() noexcept { return chains_.total().gradient; }

 private:
  detail::chains_of_gradient<Weights, Chains::size> chains_;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
