// SPDX-License-Identifier: BSL-1.0
// Heads over processes, sharded<attention, over<heads, ranks<4>>>: each rank has the projections of
// its heads, and the columns of the last projection for its features of the result. In a call it
// computes the contexts of its heads; all contexts are gathered; it computes its features of the
// result; these are gathered. No sum is split, so every element is the same sequence of
// multiply-adds as in the layer, with the same bits.
//
// See cache.hpp for the cache of such a layer, cut_weights.hpp for how weights are cut, and
// docs/decisions/019-ranks.md for why contexts are exchanged and not sums.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/mpi/communicator.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {

// Sizes of one rank: those of a layer with fewer heads.
constexpr head_sizes sizes_of_rank(head_sizes whole, std::size_t ranks) noexcept {
  whole.heads /= ranks;
  whole.kv_heads /= ranks;
  return whole;
}

// The gathers of a call: all contexts, (rank, feature, query); all of the result, (rank,
// query, feature). Independent of the target. Contexts, Results: numbers of a rank.
template <class T, class Ranks, std::size_t Contexts, std::size_t Results>
struct messages_of_ranks {
  static constexpr std::size_t contexts_of_rank = Contexts, results_of_rank = Results;
  // The bytes that all ranks contribute.
  static constexpr std::size_t exchanged = Ranks::size * (Contexts + Results) * sizeof(T);
  alignas(64) T contexts[Ranks::size * Contexts];
  alignas(64) T results[Ranks::size * Results];
};
template <class T, class Ranks, std::size_t Results>
struct messages_of_ranks<T, Ranks, 0, Results> {
  static constexpr std::size_t contexts_of_rank = 0, results_of_rank = Results;
  static constexpr std::size_t exchanged = Ranks::size * Results * sizeof(T);
  alignas(64) T results[Ranks::size * Results];
};
// Scratch of a call across ranks: that of the rank's heads, and gathered data. Of: computes the
// call: T, ranks, own_sizes, own_workspace, queries, and positions, for which the workspace is.
template <class Of>
struct memory_over_ranks : messages_of_ranks<typename Of::T, typename Of::ranks,
                                             Of::own_sizes.context_width() * Of::queries,
                                             Of::own_sizes.output / Of::ranks::size * Of::queries> {
  typename Of::own_workspace own;
};
template <class Of>
struct workspace_over_ranks : workspace_base, memory_over_ranks<Of> {
  using ranks = typename Of::ranks;
  using positions = typename Of::positions;
};

// Gathers all ranks' features, (rank, row, feature), as rows with strides `row` and `feature`.
template <std::size_t Rows, std::size_t Features, class Ranks, class T>
void gather_features(const communicator<Ranks>& among, T* all, T* out, std::size_t row,
                     std::size_t feature) noexcept {
  gather<Rows * Features>(among, all);
  for (std::size_t r = 0; r < Ranks::size; ++r)
    for (std::size_t i = 0; i < Rows; ++i)
      for (std::size_t n = 0; n < Features; ++n)
        out[i * row + (r * Features + n) * feature] = *all++;
}

// The last projection, which replaces the rank's map w.o in a call. Work: a memory_over_ranks.
template <class Map, class Ranks, class Work>
struct projection_over_ranks {
  const Map& map;
  const communicator<Ranks>& among;
  Work& work;
};
// S: from the rank's own context to the whole result.
template <kernel::linear_shape S, class Map, class Ranks, class Work, class T>
void project(const projection_over_ranks<Map, Ranks, Work>& w, const T* context, T* out) noexcept {
  constexpr std::size_t queries = S.rows, width = S.in, features = S.out / Ranks::size;
  static_assert(Work::contexts_of_rank == width * queries &&
                Work::results_of_rank == features * queries);
  const std::size_t rank = w.among.rank();
  T* const own_context = w.work.contexts + rank * Work::contexts_of_rank;
  for (std::size_t d = 0; d < width; ++d)
    for (std::size_t i = 0; i < queries; ++i)
      own_context[d * queries + i] = context[i * S.x_row + d * S.x_in];
  gather<Work::contexts_of_rank>(w.among, w.work.contexts);
  project<kernel::linear_shape{queries, width * Ranks::size, features, 1, queries, features, 1,
                               S.bias}>(w.map, w.work.contexts,
                                        w.work.results + rank * Work::results_of_rank);
  gather_features<queries, features>(w.among, w.work.results, out, S.y_row, S.y_out);
}

template <class Weights, class Ranks, class Work>
constexpr auto with_projection_over_ranks(const Weights& w, const communicator<Ranks>& among,
                                          Work& work) noexcept {
  using map = std::remove_cvref_t<decltype(w.o)>;
  using q = decltype((w.q));
  using k = decltype((w.k));
  using v = decltype((w.v));
  using o = projection_over_ranks<map, Ranks, Work>;
  if constexpr (requires { w.q_norm; }) {
    using norm = decltype((w.q_norm));
    return portable::normed_multi_head_parts<q, k, v, o, norm, norm>{
        w.q, w.k, w.v, {w.o, among, work}, w.q_norm, w.k_norm};
  } else {
    return portable::multi_head_parts<q, k, v, o>{w.q, w.k, w.v, {w.o, among, work}};
  }
}

// The masks of the heads of a rank, from those of all heads: masks know the heads of the layer.
template <class All>
struct all_heads_have_one_length {};
template <class All>
  requires requires { All::same_length_for_heads; }
struct all_heads_have_one_length<All> {
  static constexpr bool same_length_for_heads = All::same_length_for_heads;
};
template <class All>
struct mask_of_rank : all_heads_have_one_length<All> {
  const All& all;
  std::size_t first;
  constexpr mask_of_rank(const All& mask, std::size_t first_head) noexcept
      : all(mask), first(first_head) {}
  constexpr auto operator()(std::size_t head) const noexcept { return all(first + head); }
};

// The forward pass over one sequence; see multi_head_forward.
template <class Scalar, class Ranks, head_sizes Own, class Prepare, class Scoring,
          std::size_t Queries, std::size_t Keys>
struct forward_over_ranks {
  using T = Scalar;
  using ranks = Ranks;
  using steps = multi_head_forward<T, Own, Prepare, Scoring, Queries, Keys>;
  using own_workspace = typename steps::workspace;
  using positions = std::index_sequence<Queries, Keys>;
  static constexpr head_sizes own_sizes = Own;
  static constexpr std::size_t queries = Queries, tables = steps::tables;
  using workspace = workspace_over_ranks<forward_over_ranks>;

  template <sequence_strides X, sequence_strides Y, sequence_strides Z, sequence_strides Out,
            class Weights, class Mask, class Given>
  static void forward(const Weights& w, const T* x, const T* y, const T* z, const Mask& mask,
                      T* out, Given& given) noexcept {
    steps::template forward<X, Y, Z, Out>(
        with_projection_over_ranks(w, given.among, given.work), x, y, z,
        mask_of_rank<Mask>(mask, given.among.rank() * Own.heads), out, given.work.own);
  }
};

// The members of sharded<Layer, over<heads, Ranks>> except its calls. `sizes` are those of Layer.
template <class Layer, class Ranks>
struct heads_over_ranks_types {
  static constexpr head_sizes sizes = Layer::sizes;
  static constexpr head_sizes own = sizes_of_rank(sizes, Ranks::size);
  using ranks = Ranks;
  using whole = Layer;
  using norm_of_heads = typename Layer::norm_of_heads;
  using prepare = typename Layer::prepare;
  using scoring = typename Layer::scoring;
  using value_type = typename Layer::value_type;
  using hidden_axis = typename Layer::hidden_axis;
  using keys_axis = typename Layer::keys_axis;
  using values_axis = typename Layer::values_axis;
  using output_axis = typename Layer::output_axis;
  template <std::size_t Width>
  using width = typename Layer::template width<Width>;

  // The rank's parts, smaller than the layer's.
  using features = typename output_axis::family::template sized<sizes.output / Ranks::size>;
  template <template <class, class, class, bool> class Linear, class Norm>
  using parts_in = typename attention_parts<
      Norm, Linear<value_type, hidden_axis, width<own.query_width()>, sizes.q_bias>,
      Linear<value_type, keys_axis, width<own.key_width()>, sizes.k_bias>,
      Linear<value_type, values_axis, width<own.value_width()>, sizes.v_bias>,
      Linear<value_type, width<sizes.context_width()>, features, sizes.o_bias>>::type;
  using weights = parts_in<portable::linear_weights, typename norm_of_heads::weights>;
  using weights_view =
      view_of_weights<parts_in<portable::linear_view, typename norm_of_heads::weights_view>>;
  template <class Stored>
  using packed_weights =
      packed_weights_of<weights_view,
                        parts_in<packed_as<Stored>::template linear,
                                 typename norm_of_heads::template packed_weights<Stored>>>;

  template <std::size_t Queries, std::size_t Keys>
  using forward_of = forward_over_ranks<value_type, Ranks, own, prepare, scoring, Queries, Keys>;
  using widths = typename Layer::widths;
  template <class... Positions>
  using workspace = typename forward_of<rules::first_positions<widths, 2, Positions...>(),
                                        rules::second_positions<widths, Positions...>()>::workspace;
  template <class Layout>
  using result_of = typename Layer::template result_of<Layout>;
};

namespace rules {
// A call has across(...), with the ranks of the layer and the workspace of the call.
template <class Layer, class Given, class Of, class Sizes>
struct workspace_rule<Layer, Given, workspace_over_ranks<Of>, Sizes> {
  using type = call_across<Layer>;
};
template <class Layer, class Of, class Sizes>
struct workspace_rule<Layer, workspace_over_ranks<Of>, workspace_over_ranks<Of>, Sizes> {
  using type = call_across<Layer>;
};
template <class Layer, class Of, class Sizes>
struct workspace_rule<Layer, on_stack, workspace_over_ranks<Of>, Sizes> {
  using type = call_across<Layer>;
};
template <class Layer, class Of, class Sizes>
struct workspace_rule<Layer, in_formula, workspace_over_ranks<Of>, Sizes> {
  using type = call_across<Layer>;
};
template <class Layer, class Ranks, class Work, class Of, class Sizes>
struct workspace_rule<Layer, across_ranks<Ranks, Work>, workspace_over_ranks<Of>, Sizes> {
  using work_type = std::remove_const_t<Work>;
  // The right workspace has no error; other ones get theirs elsewhere.
  struct another;
  using type = first_error<
      same_ranks<Ranks, typename Of::ranks>,
      message_fits<workspace_over_ranks<Of>::contexts_of_rank>,
      message_fits<workspace_over_ranks<Of>::results_of_rank>,
      typename std::conditional_t<std::is_same_v<work_type, workspace_over_ranks<Of>>,
                                  std::type_identity<accepted>,
                                  workspace_rule<Layer, work_type, another, Sizes>>::type,
      verdict<!std::is_const_v<Work>, Layer, say::the_workspace_is_const>>;
};
}  // namespace rules

template <class Layer, class Over>
using heads_over_types = heads_over_ranks_types<Layer, rules::ranks_of<Layer, Over>>;

}  // namespace detail

// A layer divided among the processes of a communicator.
//
//   sharded<attention, over<heads, ranks<4>>>     a multi_head_attention: each rank has weights
//                                                 and scratch of its heads; "heads=6 over ranks=4
//                                                 leaves a remainder of 2"
//   sharded<encoder, over<heads, ranks<4>>>       an encoder_layer, a decoder_layer, any other
//                                                 residual_block, or a layer_stack of one; also
//                                                 networks and linear maps (residual_block.hpp)
//   sharded<encoder, over<batch, ranks<2>>>       any layer that accepts parallel(...): each rank
//                                                 has all weights, and computes its sequences
//   sharded<batch_gradient<weights, chains<4>>, over<chains, ranks<2>>>   see gradients.hpp
//
// Calls are those of the layer, with across(world, work) as the workspace; all ranks make them with
// the same arguments and get the whole result, with the bits of the layer. Weights are borrowed,
// share{own}, or packed, prepacked<share>{own}. observe() writes only the heads of the rank.
template <class Layer, class Over>
class sharded;
template <class Layer, class Over>
  requires(!detail::divides_heads<Layer, Over> && !detail::divides_batch<Layer, Over> &&
           !detail::divides_chains<Layer, Over> && !detail::divides_block<Layer, Over> &&
           !detail::divides_stack<Layer, Over>)
class sharded<Layer, Over> : public detail::invalid {
  static_assert(detail::reported<detail::rules::sharded_layer<Layer, Over>>::ok,
                "umbel: shapes do not fit");
};

template <class Layer, class Over>
  requires detail::divides_heads<Layer, Over>
class sharded<Layer, Over>
    : public detail::heads_over_types<Layer, Over>,
      public detail::multi_head_calls<sharded<Layer, Over>, sharded<Layer, Over>>,
      public detail::borrowing<detail::say::multi_head_attention, sharded<Layer, Over>,
                               typename detail::heads_over_types<Layer, Over>::weights_view> {
  static_assert(detail::reported<detail::rules::heads_over<Layer, typename Over::ranks>>::ok,
                "umbel: shapes do not fit");

 public:
  template <class Derived>
  using calls = detail::multi_head_calls<Derived, sharded>;
  using detail::borrowing<detail::say::multi_head_attention, sharded,
                          typename detail::heads_over_types<Layer, Over>::weights_view>::borrowing;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
