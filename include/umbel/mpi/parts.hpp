// SPDX-License-Identifier: BSL-1.0
// A rank's share of a part of a block, and a call of it: the heads of an attention (heads.hpp), the
// columns of `up` (and of `gate`) of a network, and for the last map of each part the columns of
// its features of the result. A rank computes its intermediate features, all ranks' are gathered,
// it computes its features of the result, these are gathered. So no sum is split.
#pragma once

#include <umbel/block/residual_block.hpp>
#include <umbel/config.hpp>
#include <umbel/mpi/cut_weights.hpp>
#include <umbel/mpi/heads.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

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

// Layer: of a part. gathers: calls of MPI_Allgather. The scratch sets how much a rank contributes.
// All ranks compute a part that is not divided.
template <class Layer, class Ranks>
struct part_of_rank {
  using whole = Layer;
  using weights = typename whole::weights;
  using weights_view = typename whole::weights_view;
  template <class Stored>
  using packed_weights = typename whole::template packed_weights<Stored>;
  static constexpr std::size_t gathers = 0;
  template <std::size_t N, std::size_t M>
  struct scratch {
    static constexpr std::size_t contexts_of_rank = 0, results_of_rank = 0, exchanged = 0;
    typename residual::rows_of_part<Layer>::template scratch<N, M> own;
  };

  template <std::size_t N, class Weights, class T, class Work>
  static void run(const Weights& w, const T* from, T* to, const communicator<Ranks>&,
                  Work& work) noexcept {
    residual::rows_of_part<Layer>::template run<N>(w, from, to, work.own);
  }
  template <class W>
  static constexpr void cut(const W& w, std::size_t, weights& own) noexcept {
    constexpr std::size_t count = portable::parts_in<weights>;
    with_members<count>(w, [&](const auto&... from) {
      with_members<count>(own, [&](auto&... to) { (cut_part(from, to), ...); });
    });
  }

 private:
  template <class From, class To>
  static constexpr void cut_part(const From& from, To& to) noexcept {
    if constexpr (requires { typename To::map; })
      cut_columns<To::map::out::size>(from, 0, to);
    else
      for (std::size_t i = 0; i < to.size(); ++i) to.data()[i] = from.data()[i];
  }
};

template <is_multi_head Layer, class Ranks>
struct part_of_rank<Layer, Ranks> {
  using whole = Layer;
  using share = sharded<Layer, over<axes::heads, Ranks>>;
  using weights = typename share::weights;
  using weights_view = typename share::weights_view;
  template <class Stored>
  using packed_weights = typename share::template packed_weights<Stored>;
  static constexpr sequence_strides rows = {0, Layer::hidden_axis::size, 1};
  static constexpr std::size_t gathers = 2;
  template <std::size_t N, std::size_t M>
  using scratch = typename share::template workspace<axes::query<N>, axes::key<M>>;

  template <std::size_t N, std::size_t M, class Weights, class T, class Mask, class Work>
  static void run(const Weights& w, const T* from, const T* keys, const Mask& mask, T* to,
                  const communicator<Ranks>& among, Work& work) noexcept {
    across_ranks within{among, work};
    share::template forward_of<N, M>::template forward<rows, rows, rows, rows>(w, from, keys, keys,
                                                                               mask, to, within);
  }
  template <class W>
  static constexpr void cut(const W& w, std::size_t rank, weights& own) noexcept {
    cut_attention<share>(w, rank, own);
  }
};

template <class T, class Hidden, class Wide, class... Options, class Ranks>
struct part_of_rank<feed_forward<T, Hidden, Wide, Options...>, Ranks> {
  using whole = feed_forward<T, Hidden, Wide, Options...>;
  using narrow = typename whole::narrow_axis;
  // A network with an R-th of the intermediate features.
  using share = feed_forward_types<
      T, Hidden,
      typename whole::wide_axis::family::template sized<whole::wide_axis::size / Ranks::size>,
      Options...>;
  using features = typename narrow::family::template sized<narrow::size / Ranks::size>;
  template <template <class, class, class, bool> class Linear>
  using parts_in = typename whole::template parts_of<
      Linear<T, narrow, typename share::wide_axis, whole::has_bias>,
      Linear<T, typename whole::wide_axis, features, whole::has_bias>>::type;
  using weights = parts_in<portable::linear_weights>;
  using weights_view = view_of_weights<parts_in<portable::linear_view>>;
  template <class Stored>
  using packed_weights =
      packed_weights_of<weights_view, parts_in<packed_as<Stored>::template linear>>;
  static constexpr std::size_t gathers = 2;
  template <std::size_t N, std::size_t>
  struct scratch : messages_of_ranks<T, Ranks, share::wide_axis::size * N, features::size * N> {
    typename share::template scratch_for<N> own;
  };

  template <std::size_t N, class Weights, class Work>
  static void run(const Weights& w, const T* from, T* to, const communicator<Ranks>& among,
                  Work& work) noexcept {
    share::template feed_rows<N>(network_with_projection(w, among, work), from, work.own, to);
  }
  template <class W>
  static constexpr void cut(const W& w, std::size_t rank, weights& own) noexcept {
    constexpr std::size_t wide = share::wide_axis::size;
    if constexpr (whole::is_gated) cut_columns<wide>(w.gate, rank, own.gate);
    cut_columns<wide>(w.up, rank, own.up);
    cut_columns<features::size>(w.down, rank, own.down);
  }
};

template <class T, class Hidden, class... Options, class Ranks>
struct part_of_rank<linear<T, Hidden, Hidden, Options...>, Ranks> {
  using whole = linear<T, Hidden, Hidden, Options...>;
  using features = typename Hidden::family::template sized<Hidden::size / Ranks::size>;
  using weights = portable::linear_weights<T, Hidden, features, whole::has_bias>;
  using weights_view = portable::linear_view<T, Hidden, features, whole::has_bias>;
  template <class Stored>
  using packed_weights =
      typename packed_as<Stored>::template linear<T, Hidden, features, whole::has_bias>;
  static constexpr std::size_t gathers = 1;
  static constexpr kernel::linear_shape of_rows(std::size_t n) noexcept {
    return {n, Hidden::size, features::size, Hidden::size, 1, features::size, 1, whole::has_bias};
  }
  template <std::size_t N, std::size_t>
  struct scratch : messages_of_ranks<T, Ranks, 0, features::size * N> {};

  template <std::size_t N, class Weights, class Work>
  static void run(const Weights& w, const T* from, T* to, const communicator<Ranks>& among,
                  Work& work) noexcept {
    project<of_rows(N)>(w, from, work.results + among.rank() * Work::results_of_rank);
    gather_features<N, features::size>(among, work.results, to, Hidden::size, 1);
  }
  template <class W>
  static constexpr void cut(const W& w, std::size_t rank, weights& own) noexcept {
    cut_columns<features::size>(w, rank, own);
  }
};

// The gathered result is written last.
template <class Layer, class Ranks>
inline constexpr bool residual::part_writes_in_place<part_of_rank<Layer, Ranks>> =
    part_of_rank<Layer, Ranks>::gathers != 0 || residual::part_writes_in_place<Layer>;

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
