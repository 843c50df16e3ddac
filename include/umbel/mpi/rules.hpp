// SPDX-License-Identifier: BSL-1.0
// How a layer may be divided among processes, and what a call across them is given, as verdicts.
// Not here: MPI (communicator.hpp).
#pragma once

#include <umbel/attention/multi_head.hpp>
#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/mpi/axes.hpp>
#include <umbel/training/batch_gradient.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// What is divided among how many processes: over<heads, ranks<4>>, over<batch, ranks<2>>; of a
// batch_gradient over<chains, ranks<2>>.
template <template <std::size_t> class Axis, class Ranks>
struct over {
  using family = detail::family_of<Axis>;
  using ranks = Ranks;
};

namespace detail {
namespace say {
struct across;
struct but_the_communicator_has;
struct communicator;
struct numbers_of_a_rank_are_more_than_MPI_counts_in_one_message;
struct is_divided_so_pass_across_of_a_communicator_and_a_workspace;
struct over;
struct sharded;
struct takes_a_communicator_and_a_workspace_of_a_sharded_layer;
struct takes_a_layer_and_over_of_heads_or_batch_and_ranks;
struct takes_chains_of_a_batch_gradient_only;
struct takes_what_its_layer_takes_and_then_across_of_a_communicator_and_a_workspace;
struct takes_sequences_of_a_layer_that_takes_parallel_only;
struct takes_heads_of_a_multi_head_attention_or_an_encoder_layer_only;
struct the_layer_is_divided_among;
}  // namespace say

template <>
inline constexpr const char*
    spoken<say::is_divided_so_pass_across_of_a_communicator_and_a_workspace> =
        "is divided among processes; pass across(communicator, workspace)";
template <>
inline constexpr const char* spoken<say::takes_a_layer_and_over_of_heads_or_batch_and_ranks> =
    "takes a layer and over<heads, ranks<4>> or over<batch, ranks<4>>, or a batch_gradient and "
    "over<chains, ranks<4>>";
template <>
inline constexpr const char* spoken<say::takes_chains_of_a_batch_gradient_only> =
    "takes chains of a batch_gradient only";
template <>
inline constexpr const char*
    spoken<say::takes_what_its_layer_takes_and_then_across_of_a_communicator_and_a_workspace> =
        "takes into(out, ...) with what its layer takes, and then across(communicator, workspace)";
template <>
inline constexpr const char*
    spoken<say::takes_heads_of_a_multi_head_attention_or_an_encoder_layer_only> =
        "takes heads of a multi_head_attention or an encoder_layer only";
template <>
inline constexpr const char* spoken<say::but_the_communicator_has> = ", but the communicator has";

template <>
inline constexpr const char* spoken<say::takes_sequences_of_a_layer_that_takes_parallel_only> =
    "takes sequences of a layer that takes parallel(...) only: attention, an encoder_layer, a "
    "decoder_layer or a layer_stack";

// A layer whose calls take parallel(...).
template <class Layer>
concept takes_parallel = is_multi_head<Layer> || is_block<Layer> || is_stack<Layer>;

template <class G>
inline constexpr bool is_batch_gradient = false;
template <class Weights, class Chains>
inline constexpr bool is_batch_gradient<batch_gradient<Weights, Chains>> = true;

// MPI counts in int.
inline constexpr std::size_t most_in_a_message = 2'147'483'647;

namespace rules {
template <class Operation, class Ranks>
using ranks_fit = first_error<in_place<Operation, Ranks, axes::ranks>, well_formed<Ranks>>;

template <class Whole, class Ranks>
using divides = verdict<remainder<Whole, Ranks> == 0, say::sharded, Whole, say::over, Ranks,
                        say::leaves_a_remainder_of, number<remainder<Whole, Ranks>>>;

// What of Layer is divided must be a multiple of Ranks: heads, those of keys and values, and the
// features of the result.
template <class Layer, class Ranks>
struct heads_over_rule {
  using type = verdict<is_multi_head<Layer>, say::sharded,
                       say::takes_heads_of_a_multi_head_attention_or_an_encoder_layer_only>;
};
template <is_multi_head Layer, class Ranks>
struct heads_over_rule<Layer, Ranks> {
  using type = first_error<divides<axes::heads<Layer::sizes.heads>, Ranks>,
                           divides<axes::kv_heads<Layer::sizes.kv_heads>, Ranks>,
                           divides<typename Layer::output_axis, Ranks>>;
};
template <is_encoder Layer, class Ranks>
struct heads_over_rule<Layer, Ranks> {
  using type = first_error<typename heads_over_rule<typename Layer::attention, Ranks>::type,
                           divides<typename Layer::feed_forward::wide_axis, Ranks>>;
};
template <class Layer, class Ranks>
using heads_over = first_error<ranks_fit<say::sharded, Ranks>,
                               typename heads_over_rule<Layer, axis_or_none<Ranks>>::type>;

// What is divided: heads; or sequences, by what can hand them out.
template <class Layer, class Over>
struct sharded_rule {
  using type =
      verdict<false, say::sharded, say::takes_a_layer_and_over_of_heads_or_batch_and_ranks>;
};
template <class Layer, class Ranks>
struct sharded_rule<Layer, over<axes::heads, Ranks>> {
  using type = heads_over<Layer, Ranks>;
};
template <class Layer, class Ranks>
struct sharded_rule<Layer, over<axes::batch, Ranks>> {
  using type = first_error<ranks_fit<say::sharded, Ranks>,
                           verdict<takes_parallel<Layer>, say::sharded,
                                   say::takes_sequences_of_a_layer_that_takes_parallel_only>>;
};
template <class Gradient, class Ranks>
struct chains_over_rule {
  using type = verdict<false, say::sharded, say::takes_chains_of_a_batch_gradient_only>;
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

}  // namespace rules

template <class Layer, class Over>
concept divides_heads =
    is_multi_head<Layer> && std::is_same_v<typename Over::family, rules::heads_family>;
template <class Layer, class Over>
concept divides_encoder =
    is_encoder<Layer> && std::is_same_v<typename Over::family, rules::heads_family>;
template <class Layer, class Over>
concept divides_batch =
    takes_parallel<Layer> && std::is_same_v<typename Over::family, rules::batch_family>;
template <class Gradient, class Over>
concept divides_chains =
    is_batch_gradient<Gradient> && std::is_same_v<typename Over::family, axis_family<axes::chains>>;

namespace rules {
// Each: numbers that a rank gives to one gather.
template <std::size_t Each>
using message_fits = verdict<(Each <= most_in_a_message), say::sharded, number<Each>,
                             say::numbers_of_a_rank_are_more_than_MPI_counts_in_one_message>;

// A call's communicator and the ranks of the layer.
template <class Given, class Ranks>
using same_ranks =
    verdict<std::is_same_v<Given, Ranks>, say::sharded, say::the_layer_is_divided_among, Ranks,
            say::but_the_communicator_has, Given>;
template <class Layer, bool Ok = false>
using call_across =
    verdict<Ok, Layer, say::is_divided_so_pass_across_of_a_communicator_and_a_workspace>;
}  // namespace rules
}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
