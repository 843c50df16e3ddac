// SPDX-License-Identifier: BSL-1.0
// An encoder layer over processes, sharded<encoder, over<heads, ranks<4>>>: its attention as in
// heads.hpp, and its network in the same way. Each rank has its columns of `up` (and of `gate`),
// and of `down` the columns of its features of the result. It computes its part of the intermediate
// features, all parts are gathered, it computes its features of the result, these are gathered. So
// no sum is cut. Norms and residual sums are computed by all.
#pragma once

#include <umbel/block/encoder.hpp>
#include <umbel/config.hpp>
#include <umbel/mpi/heads.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {

// ---- the network
// A feed_forward with an Ranks-th of the intermediate features.
template <class Network, std::size_t Ranks>
struct network_of_rank;
template <class T, class Hidden, class FeedForward, class... Options, std::size_t Ranks>
struct network_of_rank<feed_forward<T, Hidden, FeedForward, Options...>, Ranks> {
  using type =
      feed_forward_types<T, Hidden,
                         typename FeedForward::family::template sized<FeedForward::size / Ranks>,
                         Options...>;
};
struct network_sizes {
  std::size_t intermediate, output;
  constexpr std::size_t context_width() const noexcept { return intermediate; }
};
// As workspace_over_ranks is told of heads.
template <class Network, class Ranks, std::size_t Positions>
struct network_over_ranks {
  using T = typename Network::value_type;
  using ranks = Ranks;
  using own_workspace = typename Network::template scratch_for<Positions>;
  static constexpr network_sizes own_sizes{Network::wide_axis::size, Network::narrow_axis::size};
  static constexpr std::size_t queries = Positions;
};
// The weights of a call.
template <class Weights, class Ranks, class Work>
auto network_with_projection(const Weights& w, const communicator<Ranks>& among,
                             Work& work) noexcept {
  using map = std::remove_cvref_t<decltype(w.down)>;
  using down = projection_over_ranks<map, Ranks, Work>;
  using up = decltype((w.up));
  if constexpr (requires { w.gate; })
    return portable::gated_feed_forward_parts<up, up, down>{w.gate, w.up, {w.down, among, work}};
  else
    return portable::feed_forward_parts<up, down>{w.up, {w.down, among, work}};
}

// ---- the layer
// Scratch of a call: as encoder_layer's.
template <class Layer, class Ranks, std::size_t Positions>
struct encoder_over_ranks_of {
  using T = typename Layer::value_type;
  using ranks = Ranks;
  using positions = std::index_sequence<Positions>;
};
template <class Layer, class Ranks, std::size_t Positions>
struct memory_over_ranks<encoder_over_ranks_of<Layer, Ranks, Positions>> {
  using T = typename Layer::value_type;
  using attention = sharded<typename Layer::attention, over<axes::heads, Ranks>>;
  using attention_work = typename attention::template workspace<axes::query<Positions>>;
  using network_work = memory_over_ranks<network_over_ranks<
      typename network_of_rank<typename Layer::feed_forward, Ranks::size>::type, Ranks, Positions>>;
  // Of the messages the larger ones.
  static constexpr std::size_t contexts_of_rank =
      attention_work::contexts_of_rank > network_work::contexts_of_rank
          ? attention_work::contexts_of_rank
          : network_work::contexts_of_rank;
  static constexpr std::size_t results_of_rank = network_work::results_of_rank;
  static constexpr std::size_t exchanged = attention_work::exchanged > network_work::exchanged
                                               ? attention_work::exchanged
                                               : network_work::exchanged;
  // What a rank gives to all four gathers of a call.
  static constexpr std::size_t given_by_rank =
      attention_work::contexts_of_rank + attention_work::results_of_rank +
      network_work::contexts_of_rank + network_work::results_of_rank;

  static constexpr std::size_t count = Positions * Layer::hidden_axis::size;
  alignas(64) T normed[count];
  alignas(64) T branch[count];
  union {  // one after the other
    attention_work of_attention;
    network_work of_network;
  };
};

// What sharded<Layer, over<heads, Ranks>> of an encoder_layer has besides its calls.
template <class Layer, class Ranks>
struct encoder_over_ranks_types {
  using whole = Layer;
  using ranks = Ranks;
  using value_type = typename Layer::value_type;
  using hidden_axis = typename Layer::hidden_axis;
  using attention = sharded<typename Layer::attention, over<axes::heads, Ranks>>;
  using feed_forward = typename network_of_rank<typename Layer::feed_forward, Ranks::size>::type;
  using norm = typename Layer::norm;
  static constexpr bool norms_first = Layer::norms_first;
  static constexpr value_type epsilon = Layer::epsilon;
  using T = value_type;

  // Features of the result.
  using features = typename hidden_axis::family::template sized<hidden_axis::size / Ranks::size>;
  template <template <class, class, class, bool> class Linear>
  using network_in = typename feed_forward::template parts_of<
      Linear<T, hidden_axis, typename feed_forward::wide_axis, feed_forward::has_bias>,
      Linear<T, typename Layer::feed_forward::wide_axis, features, feed_forward::has_bias>>::type;
  using weights =
      portable::encoder_parts<typename norm::weights, typename attention::weights,
                              typename norm::weights, network_in<portable::linear_weights>>;
  using weights_view = view_of_weights<portable::encoder_parts<
      typename norm::weights_view, typename attention::weights_view, typename norm::weights_view,
      view_of_weights<network_in<portable::linear_view>>>>;
  template <class Stored>
  using packed_weights = packed_weights_of<
      weights_view,
      portable::encoder_parts<typename norm::template packed_weights<>,
                              typename attention::template packed_weights<Stored>,
                              typename norm::template packed_weights<>,
                              packed_weights_of<view_of_weights<network_in<portable::linear_view>>,
                                                network_in<packed_as<Stored>::template linear>>>>;

  using widths = typename Layer::widths;
  template <class... Positions>
  using workspace = workspace_over_ranks<
      encoder_over_ranks_of<Layer, Ranks, rules::first_positions<widths, 1, Positions...>>>;

  template <class Weights, class X, class Mask, class Workspace, class Out>
  static auto encode(const Weights& w, const X& x, const Mask& mask, Workspace& work,
                     Out&& out) noexcept {
    return Layer::template encode<encoder_over_ranks_types>(w, x, mask, work,
                                                            static_cast<Out&&>(out));
  }

  // As those of the layer.
  template <class Positions, class Weights, class X, class Mask, class Y, class Given>
  static void sequences(const Weights& w, const X& x, const Mask& mask, Y& y,
                        Given& given) noexcept {
    constexpr std::size_t n = Positions::size, one = n * hidden_axis::size;
    constexpr sequence_strides rows = {0, hidden_axis::size, 1};
    using scores = typename Layer::template scores_for<typename X::layout, Positions>;
    using attend = typename attention::template forward_of<n, n>;
    auto& work = given.work;
    for (std::size_t b = 0; b < X::layout::count / one; ++b) {
      const T* const from = x.data() + b * one;
      if constexpr (norms_first)
        norm::template normalise_rows<n>(w.norm1, epsilon, from, work.normed);
      const T* const attended = norms_first ? work.normed : from;
      across_ranks within{given.among, work.of_attention};
      attend::template forward<rows, rows, rows, rows>(w.attention, attended, attended, attended,
                                                       at_sequence<scores>(mask, b), work.branch,
                                                       within);
      after_attention<encoder_over_ranks_types, n>(
          w.norm1, w.norm2, network_with_projection(w.feed_forward, given.among, work.of_network),
          from, work.branch, work.normed, y.data() + b * one, work.of_network.own);
    }
  }
};

// The types of a layer that may be divided so, else those of one rank.
template <class Layer, class Over>
using encoder_over_types = encoder_over_ranks_types<
    Layer, std::conditional_t<rules::heads_over<Layer, typename Over::ranks>::ok,
                              axis_or_none<typename Over::ranks>, axes::ranks<1>>>;
}  // namespace detail

template <class Layer, class Over>
  requires detail::divides_encoder<Layer, Over>
class sharded<Layer, Over>
    : public detail::encoder_over_types<Layer, Over>,
      public detail::encoder_calls<sharded<Layer, Over>, sharded<Layer, Over>>,
      public detail::borrowing<detail::say::encoder_layer, sharded<Layer, Over>,
                               typename detail::encoder_over_types<Layer, Over>::weights_view> {
  static_assert(detail::reported<detail::rules::heads_over<Layer, typename Over::ranks>>::ok,
                "umbel: shapes do not fit");

 public:
  template <class Derived>
  using calls = detail::encoder_calls<Derived, sharded>;
  using detail::borrowing<
      detail::say::encoder_layer, sharded,
      typename detail::encoder_over_types<Layer, Over>::weights_view>::borrowing;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
