// SPDX-License-Identifier: BSL-1.0
// Sequences over processes, sharded<encoder, over<batch, ranks<2>>>: each rank has all weights,
// gets the whole batch and computes its sequences; the results are gathered.
#pragma once

#include <umbel/config.hpp>
#include <umbel/mpi/heads.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {

// An executor that runs only this rank's pieces: with one worker, layers hand out sequences.
struct pieces_of_rank {
  static constexpr std::size_t workers = 1;
  std::size_t rank, ranks;
  template <class Piece>
  void operator()(std::size_t count, const Piece& piece) const noexcept {
    const std::size_t each = count / ranks;
    for (std::size_t i = rank * each; i < (rank + 1) * each; ++i) piece(i, std::size_t{0});
  }
};

namespace rules {
// X: the first argument of a call; Out: the memory of its result.
template <class X, class Ranks, class Given>
using batch_over = first_error<
    same_ranks<Given, Ranks>,
    verdict<layout_of<X>::template has<batch_family>, say::sharded, say::the_sequence,
            say::needs_the_axis, batch_family, say::but_has, typename layout_of<X>::axes>,
    divides<axes::batch<layout_of<X>::template size_of<batch_family>>, Ranks>>;
template <class Out>
using gathered_out =
    first_error<batch_first<say::sharded, Out>, verdict<layout_of<Out>::contiguous, say::sharded,
                                                        say::out_must_be_row_major_in_memory>>;
}  // namespace rules

// The layer with weights from a different object.
template <class Layer, class Weights>
struct with_weights : Layer::template calls<with_weights<Layer, Weights>> {
  const Weights& weights;
  constexpr explicit with_weights(const Weights& w) noexcept : weights(w) {}
  constexpr const Weights& get_weights() const noexcept { return weights; }
};

// Calls of the layer, each with across(...) as its last argument.
template <class Derived, class Layer, class Ranks>
struct batch_over_ranks_calls
    : other_calls_and_into<
          say::sharded,
          say::
              expects_into_of_the_arguments_of_its_layer_then_across_of_a_communicator_and_a_workspace> {
  using refused = other_calls_and_into<
      say::sharded,
      say::
          expects_into_of_the_arguments_of_its_layer_then_across_of_a_communicator_and_a_workspace>;
  using refused::operator();
  using refused::into;

  template <tensor_like Out, tensor_like X, class Given, class Work>
  void into(Out&& out, const X& x, const across_ranks<Given, Work>& where) const noexcept {
    write<Out>(out, where, x);
  }
  template <tensor_like Out, tensor_like X, class A, class Given, class Work>
  void into(Out&& out, const X& x, const A& a,
            const across_ranks<Given, Work>& where) const noexcept {
    write<Out>(out, where, x, a);
  }
  template <tensor_like Out, tensor_like X, class A, class B, class Given, class Work>
  void into(Out&& out, const X& x, const A& a, const B& b,
            const across_ranks<Given, Work>& where) const noexcept {
    write<Out>(out, where, x, a, b);
  }
  template <tensor_like Out, tensor_like X, class A, class B, class C, class Given, class Work>
  void into(Out&& out, const X& x, const A& a, const B& b, const C& c,
            const across_ranks<Given, Work>& where) const noexcept {
    write<Out>(out, where, x, a, b, c);
  }

 private:
  template <class Out, class Given, class Work, class X, class... Rest>
  void write(Out& out, const across_ranks<Given, Work>& where, const X& x,
             const Rest&... rest) const noexcept {
    using to = layout_of<std::remove_cvref_t<Out>>;
    using rule = first_error<rules::batch_over<X, Ranks, Given>,
                             rules::gathered_out<std::remove_cvref_t<Out>>,
                             rules::message_fits<to::count / Ranks::size>>;
    static_assert(report<rule>::ok, "umbel: shapes do not fit");
    if constexpr (rule::ok) {
      const auto& weights = static_cast<const Derived*>(this)->get_weights();
      const with_weights<Layer, std::remove_cvref_t<decltype(weights)>> layer{weights};
      const pieces_of_rank own{where.among.rank(), Ranks::size};
      layer.into(
          out, x, rest...,
          parallel_workspaces<const pieces_of_rank, Work, (UMBEL_CHECK != 0)>(own, &where.work));
      gather<layout_of<Out>::count / Ranks::size>(where.among, out.data());
    }
  }
};

// The members of sharded<Layer, over<batch, Ranks>> except its calls.
template <class Layer, class Ranks>
struct batch_over_ranks_types {
  using ranks = Ranks;
  using whole = Layer;
  using value_type = typename Layer::value_type;
  using weights = typename Layer::weights;
  using weights_view = typename Layer::weights_view;
  template <class Stored>
  using packed_weights = typename Layer::template packed_weights<Stored>;
  // For one sequence, as the layer's.
  template <class... Positions>
  using workspace = typename Layer::template workspace<Positions...>;
};

}  // namespace detail

template <class Layer, class Over>
  requires detail::divides_batch<Layer, Over>
class sharded<Layer, Over>
    : public detail::batch_over_ranks_types<Layer, detail::rules::ranks_of<Layer, Over>>,
      public detail::batch_over_ranks_calls<sharded<Layer, Over>, Layer,
                                            detail::rules::ranks_of<Layer, Over>>,
      public detail::borrowing<typename Layer::word, sharded<Layer, Over>,
                               typename Layer::weights_view> {
  static_assert(detail::reported<detail::rules::sharded_layer<Layer, Over>>::ok,
                "umbel: shapes do not fit");

 public:
  template <class Derived>
  using calls =
      detail::batch_over_ranks_calls<Derived, Layer, detail::rules::ranks_of<Layer, Over>>;
  using detail::borrowing<typename Layer::word, sharded, typename Layer::weights_view>::borrowing;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
