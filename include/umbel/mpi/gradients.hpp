// SPDX-License-Identifier: BSL-1.0
// The gradient of a batch over processes, with the bits of one:
//
//   using share = sharded<batch_gradient<weights, chains<4>>, over<chains, ranks<2>>>;
//   static share of_batch;               // the gradients of two chains
//   static share::workspace exchanged;
//   const float loss = of_batch.sum(128, serial, across(world, exchanged), sample);
//
// Chain c belongs to rank c % 2. Each rank computes only its samples and folds its chains, which
// leaves one gradient per rank. Each rank then receives its part of all of them, folds it, and the
// parts are gathered. So every rank has the sum and makes the same optimizer step. Each step sends
// two messages to each other rank, with constant size and the same memory.
#pragma once

#include <umbel/config.hpp>
#include <umbel/mpi/heads.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {}
UMBEL_SAYS(takes_a_workspace_of_the_sharded_batch_gradient_itself,
           "takes a workspace of the sharded batch_gradient itself, its type workspace");

// Sends and receives: a gradient and a loss in one equal part per rank, the last padded by zeros.
template <class Weights, class Ranks>
struct gradient_over_ranks : workspace_base {
  using T = number_of<Weights>;
  static constexpr std::size_t each = (numbers_in<Weights>() + 1 + Ranks::size - 1) / Ranks::size;
  alignas(64) T sent[Ranks::size * each];
  alignas(64) T received[Ranks::size * each];
};

// Folds the gradients of all ranks, in halves.
template <class Sum, class Ranks, class Weights>
void fold_over_ranks(Sum& sum, const communicator<Ranks>& among,
                     gradient_over_ranks<Weights, Ranks>& work) noexcept {
  using T = number_of<Weights>;
  constexpr std::size_t each = gradient_over_ranks<Weights, Ranks>::each;
  T* next = work.sent;
  for_each_array(
      [&](std::size_t n, const T* x) {
        for (std::size_t i = 0; i < n; ++i) *next++ = x[i];
      },
      sum.gradient);
  *next++ = sum.loss;
  while (next != work.sent + Ranks::size * each) *next++ = T{};

  send_parts<each>(among, work.sent, work.received);
  for (std::size_t half = Ranks::size / 2; half > 0; half /= 2)
    for (std::size_t r = 0; r < half; ++r)
      kernel::each_number<T>(kernel::adding{}, each, work.received + r * each,
                             static_cast<const T*>(work.received) + (r + half) * each);
  T* const own = work.sent + among.rank() * each;
  for (std::size_t i = 0; i < each; ++i) own[i] = work.received[i];
  gather<each>(among, work.sent);

  const T* from = work.sent;
  for_each_array(
      [&](std::size_t n, T* x) {
        for (std::size_t i = 0; i < n; ++i) x[i] = *from++;
      },
      sum.gradient);
  sum.loss = *from;
}

namespace rules {
template <class Share, class Executor, class Given, class Work, class Sample>
using sum_over_ranks =
    first_error<sum_takes<typename Share::weights, Executor, Sample>,
                same_ranks<Given, typename Share::ranks>,
                verdict<std::is_same_v<Work, typename Share::workspace>, say::sharded,
                        say::takes_a_workspace_of_the_sharded_batch_gradient_itself>,
                message_fits<Share::workspace::each>>;
}  // namespace rules
}  // namespace detail

template <class Gradient, class Over>
  requires detail::divides_chains<Gradient, Over>
class sharded<Gradient, Over> {
  static_assert(detail::reported<detail::rules::sharded_layer<Gradient, Over>>::ok,
                "umbel: shapes do not fit");

 public:
  using whole = Gradient;
  using weights = typename Gradient::weights;
  using value_type = typename Gradient::value_type;
  using ranks = detail::rules::ranks_of<Gradient, Over>;
  using workspace = detail::gradient_over_ranks<weights, ranks>;

  // As batch_gradient::sum, for this rank's samples; all ranks pass one batch and get one sum.
  template <class Executor, class Given, class Work, class Sample>
  value_type sum(std::size_t batch, Executor&& executor,
                 const detail::across_ranks<Given, Work>& where, const Sample& sample) noexcept {
    using verdict = detail::rules::sum_over_ranks<sharded, Executor, Given, Work, Sample>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      chains_.sum(batch, where.among.rank(), ranks::size, executor, sample);
      if constexpr (ranks::size > 1)
        detail::fold_over_ranks(chains_.total(), where.among, where.work);
    }
    return chains_.total().loss;
  }
  template <class Executor, class Sample>
  value_type sum(std::size_t, const Executor&, const Sample&) noexcept {
    using verdict =
        detail::rules::call_across<detail::say::batch_gradient, detail::never<Executor>>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return {};
  }
  // The sum over all ranks, after sum(): the caller may change it.
  [[nodiscard]] constexpr weights& gradient() noexcept { return chains_.total().gradient; }

 private:
  detail::chains_of_gradient<weights, Gradient::chains::size / ranks::size> chains_;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
