// SPDX-License-Identifier: BSL-1.0
// The gradients of a block of queries, with queries in the lanes as in the forward pass, whose
// scores are reused: with its maximum and 1 / sum known, a probability is one more exponential. Of
// the five products, scores, slopes (do v^T) and dq have queries in the lanes. dv and dk, sums over
// queries, have features in the lanes and continue from block to block in memory. If features fill
// at most half a vector, both share it: lanes alternate features of dv and dk, factors are pairs
// (weight, gradient of the score). Keys that no query of the block sees are not touched. See
// attend.hpp for the walk over blocks, and plain/attend_backward.hpp for the definition.
#pragma once

#include <cstddef>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/backward/attend_keys.hpp>
#include <umbel/kernel/backward/attend_room.hpp>
#include <umbel/kernel/float/attend_scores.hpp>
#include <umbel/kernel/float/transpose.hpp>
#include <umbel/kernel/plain/attend.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>
#include <umbel/simd/transpose.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::detail {

// The forward pass as far as its scores.
template <attend_backward_shape S>
inline constexpr attend_shape forward_scores = {
    S.queries, S.keys,  S.head_dim, S.value_dim, S.q_row, 1,        S.k_row,
    1,         S.v_row, 1,          S.o_row,     1,       S.queries};

template <class Policy, class Room>
struct queries_of_block {
  const Policy& policy;
  std::size_t first_query;
  Room here;
};

template <attend_backward_shape S, class T, plan::target Target, std::size_t Vectors, class Room,
          class Policy>
struct attend_backward_block {
  using scoring = scores_block<forward_scores<S>, T, Target, Vectors, Policy>;
  using V = typename scoring::V;
  static constexpr std::size_t lanes = scoring::lanes, width = scoring::width;
  static constexpr std::size_t tile_rows = scoring::tile_rows;
  static constexpr std::size_t weights_at = Room::query_at + S.head_dim * width;
  static constexpr bool knows_keys = std::is_same_v<Policy, scores::every_key>;
  static constexpr bool drops = scores::drops<Policy>;
  using over_type = decltype(std::declval<const Policy&>().template over<V>(0, 0));
  static constexpr bool bends = scores::detail::bends<over_type>;
  static constexpr bool bends_bias = S.bias && bends && scores::detail::adds_bias<over_type>;

  queries_of_block<Policy, typename scoring::room> of;
  const T* q;    // of the block's queries
  const T* d_o;  // also
  const T* k;
  const T* v;
  T scale;
  T* dk;
  T* dv;
  T* dbias;
  T* scratch;

  // For the block's queries.
  struct statistics {
    V maximum[Vectors], inverse[Vectors], minus_delta[Vectors];
  };

  UMBEL_INLINE static V load_queries(const T* from, std::size_t i, std::size_t count) noexcept {
    const std::size_t at = i * lanes, rest = count > at ? count - at : 0;
    return rest != 0 ? simd::load_up_to<V>(from + at, rest < lanes ? rest : lanes) : V{};
  }
  UMBEL_INLINE typename scoring::block scores_there() const noexcept {
    return {of.policy, of.first_query, of.here, scratch + weights_at};
  }

  // sum(r, i) += x(r, d) columns(d, i), d increasing, for Rows rows of x and vectors of queries.
  template <std::size_t Rows, std::size_t Row, std::size_t Depth>
  UMBEL_INLINE static void multiply(const T* x, const T* columns,
                                    V (&sum)[Rows][Vectors]) noexcept {
    UMBEL_UNROLL(2)
    for (std::size_t d = 0; d < Depth; ++d) {
      V column[Vectors];
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i)
        column[i] = simd::load<V>(columns + d * width + i * lanes);
      UMBEL_UNROLL(32)
      for (std::size_t r = 0; r < Rows; ++r) {
        const auto value = simd::spread<V>(x[r * Row + d]);
        UMBEL_UNROLL(4)
        for (std::size_t i = 0; i < Vectors; ++i)
          sum[r][i] = simd::fma(value, column[i], sum[r][i]);
      }
    }
  }

  // Turns changed scores into probabilities; with a dropping policy not yet times 1 / sum.
  // Bordered: a score of +infinity marks a hidden pair, which gets -1.
  template <bool Bordered>
  UMBEL_INLINE static V weigh(V score, V maximum, V inverse) noexcept {
    V below = score - maximum;
    [[maybe_unused]] const auto hidden =
        simd::equal(score, simd::broadcast<V>(simd::math_constants<T>::infinity));
    if constexpr (Bordered) below = simd::select(hidden, V{}, below);
    V weight = simd::exp2_not_positive(below);
    if constexpr (!drops) weight = weight * inverse;
    if constexpr (Bordered) weight = simd::select(hidden, simd::broadcast<V>(T{-1}), weight);
    return weight;
  }

  // Weights and gradients of Rows keys. key: the number of the first; `row`: its place in scratch,
  // with its scores, except known keys', which are computed here. The slopes don't wait for the
  // exponentials.
  template <bool Bordered, std::size_t Rows>
  UMBEL_INLINE void gradient_tile(const statistics& row_of, std::size_t key,
                                  std::size_t row) const noexcept {
    T* const there = scratch;
    T* const weights = there + weights_at + row * width;
    V sum[Rows][Vectors];
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i)
        sum[r][i] = knows_keys ? V{} : simd::load<V>(weights + r * width + i * lanes);
    }
    if constexpr (knows_keys)
      multiply<Rows, S.k_row, S.head_dim>(k + key * S.k_row, there + Room::query_at, sum);
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i)
        simd::store(weights + r * width + i * lanes,
                    weigh<Bordered>(sum[r][i], row_of.maximum[i], row_of.inverse[i]));
    }
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) sum[r][i] = drops ? V{} : row_of.minus_delta[i];
    }
    multiply<Rows, S.v_row, S.value_dim>(v + key * S.v_row, there + Room::slope_at, sum);
    const V factor = simd::broadcast<V>(scale);
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i)
        finish_pair<Bordered>(row_of, i, key + r, (row + r) * width + i * lanes, sum[r][i], factor,
                              there);
    }
  }

  // For vector i of the queries and one key.
  template <bool Bordered>
  UMBEL_INLINE void finish_pair(const statistics& row_of, std::size_t i, std::size_t key,
                                std::size_t at, V slope, V factor, T* there) const noexcept {
    const V zero{};
    V weight = simd::load<V>(there + weights_at + at), probability = weight;
    [[maybe_unused]] const auto hidden = simd::less(weight, zero);
    if constexpr (drops) {
      const V kept_scale = simd::broadcast<V>(of.policy.kept_scale());
      const auto kept = simd::not_equal(simd::load<V>(there + Room::kept_at + at), zero);
      probability = weight * row_of.inverse[i];
      weight = simd::select(kept, weight * (row_of.inverse[i] * kept_scale), zero);
      if constexpr (Bordered) weight = simd::select(hidden, simd::broadcast<V>(T{-1}), weight);
      slope = simd::select(kept, simd::fma(slope, kept_scale, row_of.minus_delta[i]),
                           row_of.minus_delta[i]);
      simd::store(there + weights_at + at, weight);
    }
    // An fma with 0: a bare product could be contracted into a sum.
    const V gradient = simd::fma(probability, slope, zero);
    V of_product = gradient;
    if constexpr (bends) {
      const over_type over = scores_there().over_vector(i);
      const V raw = simd::load<V>(there + Room::scores_at + at);
      of_product = of_product * over.derivative(raw, key);
      if constexpr (bends_bias)
        simd::store(there + Room::bias_at + Room::keys * width + at,
                    over.bias_derivative(raw, key));
    }
    of_product = of_product * factor;
    if constexpr (S.bias) simd::store(there + Room::bias_at + at, gradient);
    if constexpr (Bordered) of_product = simd::select(hidden, zero, of_product);
    simd::store(there + Room::scores_at + at, of_product);
    if constexpr (Room::paired) {
      V low, high;
      simd::zip(weight, of_product, low, high);
      simd::store(there + Room::pairs_at + 2 * at, low);
      simd::store(there + Room::pairs_at + 2 * at + lanes, high);
    }
  }

  // dq^T(d) += ds(j) k(j, d) for Rows features from d on and the keys of rows begin..end.
  template <bool Bordered, std::size_t Rows>
  UMBEL_INLINE void query_tile(std::size_t d, std::size_t first_key, std::size_t begin,
                               std::size_t end) const noexcept {
    V sum[Rows][Vectors];
    T* const to = scratch + Room::dq_at + d * width;
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i)
        sum[r][i] = simd::load<V>(to + r * width + i * lanes);
    }
    UMBEL_UNROLL(2)
    for (std::size_t row = begin; row < end; ++row) {
      V gradient[Vectors], weight[Vectors];
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) {
        gradient[i] = simd::load<V>(scratch + Room::scores_at + row * width + i * lanes);
        if constexpr (Bordered)
          weight[i] = simd::load<V>(scratch + weights_at + row * width + i * lanes);
      }
      const T* const key = k + (first_key + row) * S.k_row + d;
      UMBEL_UNROLL(32)
      for (std::size_t r = 0; r < Rows; ++r) {
        const auto feature = simd::spread<V>(key[r]);
        UMBEL_UNROLL(4)
        for (std::size_t i = 0; i < Vectors; ++i) {
          const V next = simd::fma(feature, gradient[i], sum[r][i]);
          if constexpr (Bordered)
            sum[r][i] = simd::select(simd::less(weight[i], V{}), sum[r][i], next);
          else
            sum[r][i] = next;
        }
      }
    }
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) simd::store(to + r * width + i * lanes, sum[r][i]);
    }
  }

  // In turn: each element of dbias has one sum.
  template <bool Bordered>
  UMBEL_NOINLINE void add_bias(std::size_t first_key, std::size_t begin,
                               std::size_t end) const noexcept {
    const T* const gradients = scratch + Room::bias_at;
    for (std::size_t row = begin; row < end; ++row) {
      for (std::size_t i = 0; i < of.here.queries; ++i) {
        const std::size_t at = row * width + i;
        if (Bordered && scratch[weights_at + at] < T{}) continue;
        T& to = dbias[(of.first_query + i) * S.bias_query + (first_key + row) * S.bias_key];
        if constexpr (bends_bias)
          to = simd::fma(gradients[at], gradients[Room::keys * width + at], to);
        else
          to = to + gradients[at];
      }
    }
  }

  // The keys in rows begin..end of scratch; Known of them, if not 0.
  template <bool Bordered, std::size_t Known>
  UMBEL_NOINLINE void part(const statistics& row_of, std::size_t first_key, std::size_t begin,
                           std::size_t end) const noexcept {
    in_tiles<Target, tile_rows, Known>(
        begin, end, [&]<std::size_t Rows>(std::size_t row) UMBEL_LAMBDA_INLINE {
          gradient_tile<Bordered, Rows>(row_of, first_key + row, row);
        });
    in_tiles<Target, tile_rows, S.head_dim>(
        0, S.head_dim, [&]<std::size_t Rows>(std::size_t d) UMBEL_LAMBDA_INLINE {
          query_tile<Bordered, Rows>(d, first_key, begin, end);
        });
    const bool first = Room::template writes<Policy> && of.first_query == 0;
    const auto add = [&]<key_product P>(const T* factors, const T* right,
                                        T* to) UMBEL_LAMBDA_INLINE {
      const key_sums<P, T, Target, Bordered> sums{of.here.queries, first};
      sums.template add<Known>(factors, scratch + weights_at, right, to, begin, end);
    };
    if constexpr (Room::paired) {
      add.template operator()<key_product{true, lanes, lanes, lanes, width}>(
          scratch + Room::pairs_at, scratch + Room::right_at,
          scratch + Room::sums_at + first_key * lanes);
    } else {
      add.template operator()<key_product{false, S.value_dim, S.dv_row, S.do_row, width}>(
          scratch + weights_at, d_o, dv + first_key * S.dv_row);
      add.template operator()<key_product{false, S.head_dim, S.dk_row, S.q_row, width}>(
          scratch + Room::scores_at, q, dk + first_key * S.dk_row);
    }
    if constexpr (S.bias) add_bias<Bordered>(first_key, begin, end);
  }

  // Draws which weights are kept, as 1 and 0.
  UMBEL_INLINE void draw(std::size_t first_key, std::size_t keys) const noexcept {
    const typename scoring::block there = scores_there();
    for (std::size_t i = 0; i < Vectors; ++i) {
      const over_type over = there.over_vector(i);
      T* const to = scratch + Room::kept_at + i * lanes;
      for (std::size_t four = first_key - first_key % 4; four < first_key + keys; four += 4) {
        scores::mask_of<V> kept[4];
        over.keeps(four, kept);
        UMBEL_UNROLL(4)
        for (std::size_t r = 0; r < 4; ++r) {
          if (four + r < first_key || four + r >= first_key + keys) continue;
          simd::store(to + (four + r - first_key) * width,
                      simd::select(kept[r], simd::broadcast<V>(T{1}), V{}));
        }
      }
    }
  }

  // Count keys from first_key on that all queries see unchanged.
  template <std::size_t Count>
  UMBEL_INLINE void known_keys(const statistics& row_of, std::size_t first_key) const noexcept {
    part<false, Count>(row_of, first_key, 0, Count);
  }

  // The keys of `range` from first_key to end.
  UMBEL_INLINE void some_keys(const statistics& row_of, scores::key_range range,
                              std::size_t first_key, std::size_t end) const noexcept {
    const std::size_t keys = end - first_key;
    const auto inside = [=](std::size_t j) {
      return j < first_key ? 0 : (j < end ? j - first_key : keys);
    };
    bordered_keys full{keys, inside(range.full_begin), inside(range.full_end)};
    V unused[Vectors]{};
    T* const scores = scratch + weights_at;
    scoring::score(k + first_key * S.k_row, scratch + Room::query_at, keys, scores, full, unused);
    if constexpr (bends) {
      T* const raw = scratch + Room::scores_at;
      for (std::size_t e = 0; e < keys * width; e += lanes)
        simd::store(raw + e, simd::load<V>(scores + e));
    }
    if constexpr (drops) draw(first_key, keys);
    const typename scoring::block there = scores_there();
    if constexpr (Policy::selects) {
      const bool before = there.template adjust<true>(first_key, 0, full.full_begin, unused);
      const bool after = there.template adjust<true>(first_key, full.full_end, keys, unused);
      if constexpr (Policy::changes)
        there.template adjust<false>(first_key, full.full_begin, full.full_end, unused);
      // Tested, and nothing was hidden: not a border.
      if (!before) full.full_begin = 0;
      if (!after) full.full_end = keys;
      if (full.full_begin > 0) part<true, 0>(row_of, first_key, 0, full.full_begin);
      if (full.full_begin < full.full_end)
        part<false, 0>(row_of, first_key, full.full_begin, full.full_end);
      if (full.full_end < keys) part<true, 0>(row_of, first_key, full.full_end, keys);
    } else {
      if constexpr (Policy::changes) there.template adjust<false>(first_key, 0, keys, unused);
      part<false, 0>(row_of, first_key, 0, keys);
    }
  }

  UMBEL_NOINLINE void run(const T* maximum, const T* inverse, const T* minus_deltas,
                          T* dq) const noexcept {
    const std::size_t count = of.here.queries;
    statistics row_of;
    const V factor = simd::broadcast<V>(exp2_factor(scale));
    for (std::size_t i = 0; i < Vectors; ++i) {
      const std::size_t first = i * lanes, rest = count > first ? count - first : 0;
      const std::size_t rows = rest < lanes ? rest : lanes;
      row_of.maximum[i] = load_queries(maximum, i, count);
      row_of.inverse[i] = load_queries(inverse, i, count);
      row_of.minus_delta[i] = load_queries(minus_deltas, i, count);
      const std::size_t at = rest != 0 ? first : 0;
      gather_columns<S.head_dim, lanes, S.q_row, 1>(q + at * S.q_row, rows, factor,
                                                    scratch + Room::query_at + first, width);
      gather_columns<S.value_dim, lanes, S.do_row, 1>(d_o + at * S.do_row, rows, no_factor{},
                                                      scratch + Room::slope_at + first, width);
    }
    if constexpr (Room::paired) {
      for (std::size_t i = 0; i < count; ++i)
        Room::zip_row(d_o + i * S.do_row, q + i * S.q_row, scratch + Room::right_at + i * lanes);
    }
    for (std::size_t e = 0; e < S.head_dim * width; e += lanes)
      simd::store(scratch + Room::dq_at + e, V{});

    if constexpr (knows_keys) {
      constexpr plan::split chunks = plan::split_evenly(S.keys, Room::keys);
      std::size_t first_key = 0;
      for (std::size_t c = 0; c < chunks.large_count; ++c, first_key += chunks.large)
        known_keys<chunks.large>(row_of, first_key);
      if constexpr (chunks.small_count > 0) {
        for (std::size_t c = 0; c < chunks.small_count; ++c, first_key += chunks.smaller())
          known_keys<chunks.smaller()>(row_of, first_key);
      }
    } else {
      const scores::key_range range = of.policy.range(of.first_query, count, S.keys);
      for (std::size_t first = range.begin; first < range.end; first += Room::keys)
        some_keys(row_of, range, first,
                  range.end - first < Room::keys ? range.end : first + Room::keys);
    }
    for (std::size_t i = 0; i < Vectors && i * lanes < count; ++i) {
      const std::size_t rest = count - i * lanes;
      scatter_columns<S.head_dim, lanes, S.dq_row, 1>(scratch + Room::dq_at + i * lanes, width,
                                                      rest < lanes ? rest : lanes,
                                                      dq + i * lanes * S.dq_row);
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::detail
UMBEL_WARNINGS_POP
