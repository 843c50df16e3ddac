// SPDX-License-Identifier: BSL-1.0
// A key_value_cache of a layer whose heads are divided among ranks: each rank stores the keys and
// values of its heads, and a step gathers as a call does (heads.hpp).
//
//   static key_value_cache<share, key<256>> past;
//   while (past.step(out, attend, next, all_keys, across(world, work))) ...
#pragma once

#include <umbel/config.hpp>
#include <umbel/decode/cache.hpp>
#include <umbel/mpi/heads.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

template <class Layer, class Over>
inline constexpr bool stores_heads<sharded<Layer, Over>> = divides_heads<Layer, Over>;

// A rank's heads, in the form of a layer for cached_forward.
template <class Share>
struct heads_of_rank {
  using value_type = typename Share::value_type;
  using prepare = typename Share::prepare;
  using scoring = typename Share::scoring;
  static constexpr head_sizes sizes = Share::own;
};

template <class Layer, class Over, class Stored, std::size_t Queries, std::size_t Rows,
          std::size_t Positions>
struct cached_forward<sharded<Layer, Over>, Stored, Queries, Rows, Positions>
    : cached_forward<heads_of_rank<sharded<Layer, Over>>, Stored, Queries, Rows, Positions> {
  using share = sharded<Layer, Over>;
  using of_rank = cached_forward<heads_of_rank<share>, Stored, Queries, Rows, Positions>;
  using T = typename of_rank::T;
  using ranks = typename share::ranks;
  using own_workspace = typename of_rank::workspace;
  using positions = std::index_sequence<>;  // unspecified, as in workspaces of caches
  static constexpr head_sizes own_sizes = share::own;
  static constexpr std::size_t queries = Queries;
  using workspace = workspace_over_ranks<cached_forward>;

  template <sequence_strides X, sequence_strides Out, class Weights, class Mask, class Given>
  static void attend(const Weights& w, const T* x, std::size_t position,
                     typename of_rank::rows_of keys, typename of_rank::rows_of values,
                     const Mask& mask, T* out, Given& given) noexcept {
    of_rank::template attend<X, Out>(
        with_projection_over_ranks(w, given.among, given.work), x, position, keys, values,
        mask_of_rank<Mask>(mask, given.among.rank() * own_sizes.heads), out, given.work.own);
  }
};

// The place to which a step projects keys and values.
template <class Given>
  requires is_across<std::remove_const_t<Given>>
UMBEL_INLINE constexpr auto* projected_in(Given& given) noexcept {
  return given.work.own.projected;
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
