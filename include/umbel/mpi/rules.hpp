// SPDX-License-Identifier: BSL-1.0
// Verdicts on dividing a layer among processes and on its calls. MPI: communicator.hpp.
#pragma once

#include <umbel/attention/multi_head.hpp>
#include <umbel/block/residual_block.hpp>
#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/mpi/axes.hpp>
#include <umbel/training/batch_gradient.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// The divided axis and the number of processes: over<heads, ranks<4>>, over<batch, ranks<2>>; for a
// batch_gradient over<chains, ranks<2>>.
template <template <std::size_t> class Axis, class Ranks>
struct over {
  using family = detail::family_of<Axis>;
  using ranks = Ranks;
};

namespace detail {
namespace say {
struct across;
struct communicator;
struct of;
struct over;
struct sharded;
struct expects_a_communicator_and_a_workspace_of_a_sharded_layer;
}  // namespace say

UMBEL_SAYS(is_divided_so_pass_across_of_a_communicator_and_a_workspace,
           "is divided among processes; pass across(communicator, workspace)");
UMBEL_SAYS(expects_a_layer_and_over_of_heads_or_batch_and_ranks,
           "expects a layer and over<heads, ranks<4>> or over<batch, ranks<4>>, or a "
           "batch_gradient and over<chains, ranks<4>>");
UMBEL_SAYS(can_divide_chains_only_of_a_batch_gradient,
           "can divide chains only of a batch_gradient");
UMBEL_SAYS(
    expects_into_of_the_arguments_of_its_layer_then_across_of_a_communicator_and_a_workspace,
    "expects into(out, ...) with the arguments of its layer, then across(communicator, workspace)");
UMBEL_SAYS(can_divide_heads_only_of_attention_a_block_or_a_layer_stack,
           "can divide heads only of a multi_head_attention, an encoder_layer, a decoder_layer, a "
           "residual_block or a layer_stack");
UMBEL_SAYS(but_the_communicator_has, ", but the communicator has");

UMBEL_SAYS(can_divide_sequences_only_of_a_layer_that_accepts_parallel,
           "can divide sequences only of a layer that accepts parallel(...): attention, an "
           "encoder_layer, a decoder_layer, a residual_block or a layer_stack");

template <class Layer>
concept takes_parallel = is_multi_head<Layer> || is_of_parts<Layer> || is_stack<Layer>;

template <class G>
inline constexpr bool is_batch_gradient = false;
template <class Weights, class Chains>
inline constexpr bool is_batch_gradient<batch_gradient<Weights, Chains>> = true;

// MPI counts in int.
inline constexpr std::size_t most_in_a_message = 2'147'483'647;

namespace rules {
template <class Operation, class Ranks>
using ranks_fit = first_error<in_place<Operation, Ranks, axes::ranks>, well_formed<Ranks>>;

// Of: words after Whole.
template <class Whole, class Ranks, class... Of>
using divides = verdict<remainder<Whole, Ranks> == 0, say::sharded, Whole, Of..., say::over, Ranks,
                        say::leaves_a_remainder_of, number<remainder<Whole, Ranks>>>;

// The divided sizes of a part must be multiples of Ranks: heads, those of keys and values,
// intermediate features, and the features of the result.
// Other parts are not divided.
template <class Layer, class Ranks, class... Of>
struct part_over_rule {
  using type = accepted;
};
template <is_multi_head Layer, class Ranks, class... Of>
struct part_over_rule<Layer, Ranks, Of...> {
  using type = first_error<divides<axes::heads<Layer::sizes.heads>, Ranks, Of...>,
                           divides<axes::kv_heads<Layer::sizes.kv_heads>, Ranks, Of...>,
                           divides<typename Layer::output_axis, Ranks>>;
};
template <class T, class Hidden, class Wide, class... Options, class Ranks, class... Of>
struct part_over_rule<umbel::feed_forward<T, Hidden, Wide, Options...>, Ranks, Of...> {
  using layer = umbel::feed_forward<T, Hidden, Wide, Options...>;
  using type = first_error<divides<typename layer::wide_axis, Ranks, Of...>,
                           divides<typename layer::narrow_axis, Ranks>>;
};
template <class T, class Hidden, class... Options, class Ranks, class... Of>
struct part_over_rule<umbel::linear<T, Hidden, Hidden, Options...>, Ranks, Of...> {
  using type = divides<Hidden, Ranks>;
};

template <class Layer, class Ranks>
struct heads_over_rule {
  using type = verdict<false, say::sharded,
                       say::can_divide_heads_only_of_attention_a_block_or_a_layer_stack>;
};
template <is_multi_head Layer, class Ranks>
struct heads_over_rule<Layer, Ranks> : part_over_rule<Layer, Ranks> {};
// A part is named if its axis is ambiguous: if the block has several attentions, or several others.
template <is_of_parts Layer, class Ranks>
struct heads_over_rule<Layer, Ranks> {
  using block = typename Layer::described;
  template <std::size_t Number>
  static constexpr bool attends = is_multi_head<typename block::template part_layer<Number>>;
  template <std::size_t Number, std::size_t... Other>
  static constexpr auto of_part(std::index_sequence<Other...>) noexcept {
    using part = typename block::template part_layer<Number>;
    if constexpr ((std::size_t{attends<Number> == attends<Other>} + ...) > 1)
      return typename part_over_rule<
          part, Ranks, say::of, say::part_name<typename block::template part_name<Number>>>::type{};
    else
      return typename part_over_rule<part, Ranks>::type{};
  }
  template <std::size_t... Number>
  static first_error<decltype(of_part<Number>(std::index_sequence<Number...>{}))...> all(
      std::index_sequence<Number...>);
  using type = decltype(all(std::make_index_sequence<block::part_count>{}));
};
template <is_stack Layer, class Ranks>
struct heads_over_rule<Layer, Ranks> : heads_over_rule<typename Layer::layer, Ranks> {};
template <class Layer, class Ranks>
using heads_over = first_error<ranks_fit<say::sharded, Ranks>,
                               typename heads_over_rule<Layer, axis_or_none<Ranks>>::type>;

// The divided axis: heads; or sequences, for layers that can hand them out.
template <class Layer, class Over>
struct sharded_rule {
  using type =
      verdict<false, say::sharded, say::expects_a_layer_and_over_of_heads_or_batch_and_ranks>;
};
template <class Layer, class Ranks>
struct sharded_rule<Layer, over<axes::heads, Ranks>> {
  using type = heads_over<Layer, Ranks>;
};
template <class Layer, class Ranks>
struct sharded_rule<Layer, over<axes::batch, Ranks>> {
  using type =
      first_error<ranks_fit<say::sharded, Ranks>,
                  verdict<takes_parallel<Layer>, say::sharded,
                          say::can_divide_sequences_only_of_a_layer_that_accepts_parallel>>;
};
template <class Gradient, class Ranks>
struct chains_over_rule {
  using type = verdict<false, say::sharded, say::can_divide_chains_only_of_a_batch_gradient>;
};
template <class Gradient, class Ranks>
  requires is_batch_gradient<Gradient>
struct chains_over_rule<Gradient, Ranks> {
  using type = divides<typename Gradient::chains, Ranks>;
};
template <class Gradient, class Ranks>
struct sharded_rule<Gradient, over<axes::chains, Ranks>> {
  using type = first_error<ranks_fit<say::sharded, Ranks>,
                           typename chains_over_rule<Gradient, axis_or_none<Ranks>>::type>;
};
template <class Layer, class Over>
using sharded_layer = typename sharded_rule<Layer, Over>::type;
// The ranks of Over, or 1 if the layer can't be divided among them.
template <class Layer, class Over>
using ranks_of = std::conditional_t<sharded_layer<Layer, Over>::ok,
                                    axis_or_none<typename Over::ranks>, axes::ranks<1>>;

}  // namespace rules

template <class Layer, class Over>
concept divides_heads =
    is_multi_head<Layer> && std::is_same_v<typename Over::family, rules::heads_family>;
template <class Layer, class Over>
concept divides_block =
    is_of_parts<Layer> && std::is_same_v<typename Over::family, rules::heads_family>;
template <class Layer, class Over>
concept divides_stack =
    is_stack<Layer> && std::is_same_v<typename Over::family, rules::heads_family>;
template <class Layer, class Over>
concept divides_batch =
    takes_parallel<Layer> && std::is_same_v<typename Over::family, rules::batch_family>;
template <class Gradient, class Over>
concept divides_chains =
    is_batch_gradient<Gradient> && std::is_same_v<typename Over::family, axis_family<axes::chains>>;

namespace rules {
// Each: numbers that a rank contributes to one gather.
template <std::size_t Each>
using message_fits = verdict<(Each <= most_in_a_message), say::sharded, number<Each>,
                             struct numbers_of_a_rank_are_more_than_MPI_can_count_in_one_message>;

template <class Given, class Ranks>
using same_ranks =
    verdict<std::is_same_v<Given, Ranks>, say::sharded, struct the_layer_is_divided_among, Ranks,
            say::but_the_communicator_has, Given>;
template <class Layer, bool Ok = false>
using call_across =
    verdict<Ok, Layer, say::is_divided_so_pass_across_of_a_communicator_and_a_workspace>;
}  // namespace rules
}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
