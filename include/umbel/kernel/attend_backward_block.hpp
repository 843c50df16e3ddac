// SPDX-License-Identifier: BSL-1.0
// The gradients that a block of queries gives and gets, queries in the lanes as in the forward
// pass, whose scores these are: with its maximum and 1 / sum known, a probability is one more
// exponential. Of the five products scores, slopes (do v^T) and dq have queries in the lanes. dv
// and dk, which are sums over queries, share their loads: lanes are features of both in turn, and
// factors are pairs (weight, gradient of the score), so that few features fill a vector, too. Their
// sums go on from block to block in scratch. Keys that no query of the block sees are not touched.
// Not here: the walk over blocks (attend_backward.hpp), the definition (plain_attend_backward.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/attend_scores.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/kernel/transpose.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/groups.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/transpose.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::detail {

// a[0], b[0], a[1], b[1] ... of `lanes` elements each, to two packs at `to`.
template <class V>
UMBEL_INLINE void store_pairs(simd::element_of<V>* to, V a, V b) noexcept {
  if constexpr (simd::lanes_of<V> == 1) {
    to[0] = a;
    to[1] = b;
  } else {
    V low, high;
    simd::zip(a, b, low, high);
    simd::store(to, low);
    simd::store(to + simd::lanes_of<V>, high);
  }
}

template <class V>
UMBEL_INLINE void load_pairs(const simd::element_of<V>* from, V& a, V& b) noexcept {
  if constexpr (simd::lanes_of<V> == 1) {
    a = from[0];
    b = from[1];
  } else {
    simd::unzip(simd::load<V>(from), simd::load<V>(from + simd::lanes_of<V>), a, b);
  }
}

// A pair in all pairs of lanes; of one lane, its element v % 2.
template <class V>
UMBEL_INLINE V broadcast_pair(const simd::element_of<V>* from, [[maybe_unused]] std::size_t v) {
  if constexpr (simd::lanes_of<V> == 1) {
    return from[v % 2];
  } else if constexpr (sizeof(simd::element_of<V>) == 4) {
    std::uint64_t pair;
    __builtin_memcpy(&pair, from, 8);
    return __builtin_bit_cast(
        V, simd::broadcast<simd::pack<std::uint64_t, simd::lanes_of<V> / 2>>(pair));
  } else {
    return simd::repeat_group<V>(simd::load<simd::pack<simd::element_of<V>, 2>>(from));
  }
}

// Where things lie in scratch, for blocks of at most Width queries; in all of them sums of dv and
// dk come first, of each key a row of pairs (dv, dk).
template <attend_backward_shape S, class T, plan::target Target, std::size_t Width>
struct attend_backward_room {
  static constexpr std::size_t lanes = plan::lanes<T>(Target);
  using V = simd::pack<T, lanes>;
  static constexpr std::size_t widest = S.head_dim < S.value_dim ? S.value_dim : S.head_dim;
  static constexpr std::size_t features = plan::divide_up(widest, lanes) * lanes;
  // A row of pairs: without the last vector, where it has nothing.
  static constexpr std::size_t pair_row = plan::divide_up(2 * widest, lanes) * lanes;

  // Keys whose weights are in scratch together: with the gradients of their scores and the pairs
  // they take half of a first-level cache.
  static constexpr std::size_t fit = 16 * 1024 / (Width * sizeof(T));
  static constexpr std::size_t chunk =
      fit < 8 ? 8 : (fit < plan::key_block ? fit : plan::key_block);
  static constexpr std::size_t keys = S.keys < chunk ? S.keys : chunk;

  static constexpr std::size_t sums_at = 0;
  // q^T, and behind that scores, then weights (attend_block::score_block).
  static constexpr std::size_t query_at = sums_at + S.keys * pair_row;
  static constexpr std::size_t slope_at = query_at + (S.head_dim + keys) * Width;  // do^T
  static constexpr std::size_t right_at = slope_at + S.value_dim * Width;  // rows of pairs (do, q)
  static constexpr std::size_t dq_at = right_at + Width * pair_row;        // dq^T
  static constexpr std::size_t scores_at = dq_at + S.head_dim * Width;     // gradients of scores
  static constexpr std::size_t pairs_at = scores_at + keys * Width;
  static constexpr std::size_t bias_at = pairs_at + 2 * keys * Width;
  static constexpr std::size_t size = bias_at + (S.bias ? 2 * keys * Width : 0);

  UMBEL_INLINE static V load(const T* row, std::size_t at, std::size_t end) noexcept {
    return at + lanes <= end ? simd::load<V>(row + at)
           : at < end        ? simd::load_first<V>(row + at, end - at)
                             : V{};
  }
  UMBEL_INLINE static void store(T* row, std::size_t at, std::size_t end, V value) noexcept {
    if (at + lanes <= end)
      simd::store(row + at, value);
    else if (at < end)
      simd::store_first(row + at, value, end - at);
  }
  // A row of pairs of a and b; 0 past their ends.
  UMBEL_INLINE static void zip_row(const T* a, const T* b, T* to) noexcept {
    UMBEL_UNROLL(4)
    for (std::size_t at = 0; at < features; at += lanes) {
      const V first = load(a, at, S.value_dim), second = load(b, at, S.head_dim);
      if (lanes == 1 || 2 * at + 2 * lanes <= pair_row) {
        store_pairs(to + 2 * at, first, second);
      } else if constexpr (lanes > 1) {
        V low, none;
        simd::zip(first, second, low, none);
        simd::store(to + 2 * at, low);
      }
    }
  }
  UMBEL_NOINLINE static void start_sums(const T* dk, const T* dv, T* scratch) noexcept {
    for (std::size_t j = 0; j < S.keys; ++j) {
      T* const to = scratch + sums_at + j * pair_row;
      if constexpr (S.go_on) {
        zip_row(dv + j * S.dv_row, dk + j * S.dk_row, to);
      } else {
        for (std::size_t at = 0; at < pair_row; at += lanes) simd::store(to + at, V{});
      }
    }
  }
  UMBEL_NOINLINE static void write_sums(const T* scratch, T* dk, T* dv) noexcept {
    for (std::size_t j = 0; j < S.keys; ++j) {
      const T* const from = scratch + sums_at + j * pair_row;
      UMBEL_UNROLL(4)
      for (std::size_t at = 0; at < features; at += lanes) {
        V value, key;
        if (lanes == 1 || 2 * at + 2 * lanes <= pair_row) {
          load_pairs(from + 2 * at, value, key);
        } else if constexpr (lanes > 1) {
          simd::unzip(simd::load<V>(from + 2 * at), V{}, value, key);
        }
        store(dv + j * S.dv_row, at, S.value_dim, value);
        store(dk + j * S.dk_row, at, S.head_dim, key);
      }
    }
  }
};

// The forward pass as far as its scores.
template <attend_backward_shape S>
inline constexpr attend_shape forward_scores = {
    S.queries, S.keys,  S.head_dim, S.value_dim, S.q_row, 1,        S.k_row,
    1,         S.v_row, 1,          S.o_row,     1,       S.queries};

// Which queries, and by what policy.
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
  const T* k;
  const T* v;
  T scale;
  T* dbias;
  T* scratch;

  // Of the block's queries.
  struct statistics {
    V maximum[Vectors], inverse[Vectors], minus_delta[Vectors];
  };

  UMBEL_INLINE static V load_queries(const T* from, std::size_t i, std::size_t count) noexcept {
    return Room::load(from, i * lanes, count);
  }
  UMBEL_INLINE typename scoring::block scores_there() const noexcept {
    return {of.policy, of.first_query, of.here, scratch + weights_at};
  }

  // f<Rows>(row) for the rows begin..end: of a known number in tiles as equal as can be.
  template <std::size_t Rows, std::size_t Known, class F>
  UMBEL_INLINE static void in_tiles(std::size_t begin, std::size_t end, F f) noexcept {
    std::size_t row = begin;
    if constexpr (Known != 0) {
      constexpr plan::split tiles =
          plan::split_evenly(Known, plan::block_limit(Known, Rows, Target));
      for (std::size_t t = 0; t < tiles.large_count; ++t, row += tiles.large)
        f.template operator()<tiles.large>(row);
      if constexpr (tiles.small_count > 0) {
        for (std::size_t t = 0; t < tiles.small_count; ++t, row += tiles.smaller())
          f.template operator()<tiles.smaller()>(row);
      }
    } else {
      for (; row + Rows <= end; row += Rows) f.template operator()<Rows>(row);
      if constexpr (Rows > 4) {
        for (; row + 4 <= end; row += 4) f.template operator()<4>(row);
      }
      for (; row < end; ++row) f.template operator()<1>(row);
    }
  }

  // From a vector of scores as the softmax sees them, at `weights`, to probabilities, in place; of
  // dropping policies not yet times 1 / sum. Bordered: a score of +infinity marks a hidden pair,
  // which gets -1.
  template <bool Bordered>
  UMBEL_INLINE static void take_weights(T* weights, V maximum, V inverse) noexcept {
    const V score = simd::load<V>(weights);
    V below = score - maximum;
    [[maybe_unused]] const auto hidden =
        simd::equal(score, simd::broadcast<V>(simd::math_constants<T>::infinity));
    if constexpr (Bordered) below = simd::select(hidden, V{}, below);
    V weight = simd::exp2_not_positive(below);
    if constexpr (!drops) weight = weight * inverse;
    if constexpr (Bordered) weight = simd::select(hidden, simd::broadcast<V>(T{-1}), weight);
    simd::store(weights, weight);
  }

  // From the scores of Rows keys to weights and gradients. key: the number of the first, `row` its
  // place in scratch. While the slopes are summed, which leaves a part of the core idle, the
  // exponentials are taken.
  template <bool Bordered, std::size_t Rows>
  UMBEL_INLINE void gradient_tile(const statistics& row_of, std::size_t key,
                                  std::size_t row) const noexcept {
    V slope[Rows][Vectors];
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) slope[r][i] = drops ? V{} : row_of.minus_delta[i];
    }
    const T* const values = v + key * S.v_row;
    const T* of_context = scratch + Room::slope_at;
    T* const weights = scratch + weights_at + row * width;
    constexpr std::size_t each = plan::divide_up(Rows, S.value_dim);
    std::size_t taken = 0;
    UMBEL_UNROLL(2)
    for (std::size_t d = 0; d < S.value_dim; ++d, of_context += width) {
      V context[Vectors];
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) context[i] = simd::load<V>(of_context + i * lanes);
      UMBEL_UNROLL(32)
      for (std::size_t r = 0; r < Rows; ++r) {
        const auto value = simd::spread<V>(values[r * S.v_row + d]);
        UMBEL_UNROLL(4)
        for (std::size_t i = 0; i < Vectors; ++i)
          slope[r][i] = simd::fma(value, context[i], slope[r][i]);
      }
      UMBEL_UNROLL(4)
      for (std::size_t n = 0; n < each; ++n, ++taken) {
        if (taken >= Rows) break;
        UMBEL_UNROLL(4)
        for (std::size_t i = 0; i < Vectors; ++i)
          take_weights<Bordered>(weights + taken * width + i * lanes, row_of.maximum[i],
                                 row_of.inverse[i]);
      }
    }
    const V factor = simd::broadcast<V>(scale);
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i)
        finish_pair<Bordered>(row_of, i, key + r, (row + r) * width + i * lanes, slope[r][i],
                              factor, scratch);
    }
  }

  // Of vector i of the queries and one key.
  template <bool Bordered>
  UMBEL_INLINE void finish_pair(const statistics& row_of, std::size_t i, std::size_t key,
                                std::size_t at, V slope, V factor, T* to) const noexcept {
    T* const pairs = to + Room::pairs_at + 2 * at;
    const V zero{};
    V weight = simd::load<V>(to + weights_at + at), probability = weight;
    [[maybe_unused]] const auto hidden = simd::less(weight, zero);
    if constexpr (drops) {
      const V kept_scale = simd::broadcast<V>(of.policy.kept_scale());
      const auto kept = simd::not_equal(simd::load<V>(pairs), zero);
      probability = weight * row_of.inverse[i];
      weight = simd::select(kept, weight * (row_of.inverse[i] * kept_scale), zero);
      if constexpr (Bordered) weight = simd::select(hidden, simd::broadcast<V>(T{-1}), weight);
      slope = simd::select(kept, simd::fma(slope, kept_scale, row_of.minus_delta[i]),
                           row_of.minus_delta[i]);
      if constexpr (Bordered) simd::store(to + weights_at + at, weight);
    }
    // An fma with 0: a bare product could be contracted into a sum.
    const V gradient = simd::fma(probability, slope, zero);
    V of_product = gradient;
    if constexpr (bends) {
      const over_type over = scores_there().over_vector(i);
      const V raw = simd::load<V>(to + Room::scores_at + at);
      of_product = of_product * over.derivative(raw, key);
      if constexpr (bends_bias)
        simd::store(to + Room::bias_at + Room::keys * width + at, over.bias_derivative(raw, key));
    }
    of_product = of_product * factor;
    if constexpr (S.bias) simd::store(to + Room::bias_at + at, gradient);
    if constexpr (Bordered) of_product = simd::select(hidden, zero, of_product);
    simd::store(to + Room::scores_at + at, of_product);
    store_pairs(pairs, weight, of_product);
  }

  // dq^T(d) += ds(j) k(j, d) for Rows features from d on and the keys of the rows begin..end.
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

  // dv, dk of Rows keys += pairs of the block's queries times (do, q): Packs of vectors of pairs
  // from the element `at` on.
  template <bool Bordered, std::size_t Rows, std::size_t Packs>
  UMBEL_INLINE void key_tile(std::size_t key, std::size_t row, std::size_t at) const noexcept {
    V sum[Rows][Packs];
    T* const to = scratch + Room::sums_at + key * Room::pair_row + at;
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(8)
      for (std::size_t p = 0; p < Packs; ++p)
        sum[r][p] = simd::load<V>(to + r * Room::pair_row + p * lanes);
    }
    const T* const right = scratch + Room::right_at + at;
    const T* const left = scratch + Room::pairs_at + row * 2 * width;
    UMBEL_UNROLL(2)
    for (std::size_t i = 0; i < of.here.queries; ++i) {
      V features[Packs];
      UMBEL_UNROLL(8)
      for (std::size_t p = 0; p < Packs; ++p)
        features[p] = simd::load<V>(right + i * Room::pair_row + p * lanes);
      UMBEL_UNROLL(32)
      for (std::size_t r = 0; r < Rows; ++r) {
        const T* const pair = left + r * 2 * width + 2 * i;
        UMBEL_UNROLL(8)
        for (std::size_t p = 0; p < Packs; ++p) {
          const V next = simd::fma(broadcast_pair<V>(pair, p), features[p], sum[r][p]);
          if constexpr (Bordered)
            sum[r][p] = simd::select(simd::less(simd::broadcast<V>(*pair), V{}), sum[r][p], next);
          else
            sum[r][p] = next;
        }
      }
    }
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(8)
      for (std::size_t p = 0; p < Packs; ++p)
        simd::store(to + r * Room::pair_row + p * lanes, sum[r][p]);
    }
  }

  // One after the other: each element of dbias has one sum.
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

  // The keys in the rows begin..end of scratch, of which there are Known, if not 0.
  template <bool Bordered, std::size_t Known>
  UMBEL_NOINLINE void part(const statistics& row_of, std::size_t first_key, std::size_t begin,
                           std::size_t end) const noexcept {
    in_tiles<tile_rows, Known>(begin, end,
                               [&]<std::size_t Rows>(std::size_t row) UMBEL_LAMBDA_INLINE {
                                 gradient_tile<Bordered, Rows>(row_of, first_key + row, row);
                               });
    in_tiles<tile_rows, S.head_dim>(0, S.head_dim,
                                    [&]<std::size_t Rows>(std::size_t d) UMBEL_LAMBDA_INLINE {
                                      query_tile<Bordered, Rows>(d, first_key, begin, end);
                                    });
    constexpr std::size_t packs = Room::pair_row / lanes;
    constexpr std::size_t most = Target.registers >= 32 ? 4 : 2;
    constexpr plan::split columns =
        lanes == 1 ? plan::split{2, packs / 2, 0} : plan::split_evenly(packs, most);
    std::size_t at = 0;
    const auto column = [&]<std::size_t Packs>() UMBEL_LAMBDA_INLINE {
      in_tiles<plan::tile_rows(Target, Packs), Known>(
          begin, end, [&]<std::size_t Rows>(std::size_t row) UMBEL_LAMBDA_INLINE {
            key_tile<Bordered, Rows, Packs>(first_key + row, row, at);
          });
      at += Packs * lanes;
    };
    for (std::size_t c = 0; c < columns.large_count; ++c)
      column.template operator()<columns.large>();
    if constexpr (columns.small_count > 0) {
      for (std::size_t c = 0; c < columns.small_count; ++c)
        column.template operator()<columns.smaller()>();
    }
    if constexpr (S.bias) add_bias<Bordered>(first_key, begin, end);
  }

  // Which weights are kept, as 1 and 0 where the pairs will be.
  UMBEL_INLINE void draw(std::size_t first_key, std::size_t keys) const noexcept {
    const typename scoring::block there = scores_there();
    for (std::size_t i = 0; i < Vectors; ++i) {
      const over_type over = there.over_vector(i);
      T* const to = scratch + Room::pairs_at + i * 2 * lanes;
      for (std::size_t four = first_key - first_key % 4; four < first_key + keys; four += 4) {
        scores::mask_of<V> kept[4];
        over.keeps(four, kept);
        UMBEL_UNROLL(4)
        for (std::size_t r = 0; r < 4; ++r) {
          if (four + r < first_key || four + r >= first_key + keys) continue;
          simd::store(to + (four + r - first_key) * 2 * width,
                      simd::select(kept[r], simd::broadcast<V>(T{1}), V{}));
        }
      }
    }
  }

  // Count keys from first_key on, all of which all queries see as they are.
  template <std::size_t Count>
  UMBEL_INLINE void known_keys(const statistics& row_of, std::size_t first_key) const noexcept {
    V unused[Vectors]{};
    scoring::template score_block<true, Count>(k + first_key * S.k_row, Count,
                                               scratch + Room::query_at, unused);
    part<false, Count>(row_of, first_key, 0, Count);
  }

  // Those from first_key to end, of `range`.
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
      // Tested, and nothing was hidden: it was not a border.
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

  // q, d_o, dq: of the block's queries, as are the statistics.
  UMBEL_NOINLINE void run(const T* q, const T* d_o, const T* maximum, const T* inverse,
                          const T* minus_deltas, T* dq) const noexcept {
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
    for (std::size_t i = 0; i < count; ++i)
      Room::zip_row(d_o + i * S.do_row, q + i * S.q_row,
                    scratch + Room::right_at + i * Room::pair_row);
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
