// SPDX-License-Identifier: BSL-1.0
// Few queries of many heads in SIMD: the lanes form groups, one per head, and a group's lanes are
// its queries. With 4 queries, 16 lanes compute four heads at a time; attend_block would leave 12
// empty. Keys and values are loaded by group and spread within it. The same bits as plain::attend.
// It supports only lengths as masks, one block of keys, and no taps.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/float/attend.hpp>
#include <umbel/kernel/plain/attend.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/groups.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/utility.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

// Heads of one shape: number and strides; `share` query heads share a head of keys and values.
struct heads_shape {
  std::size_t heads, share;
  std::size_t q_head, k_head, v_head, o_head;

  friend constexpr bool operator==(const heads_shape&, const heads_shape&) = default;
};

namespace detail {

template <attend_shape S, heads_shape H, class T, plan::target Target>
struct attend_heads {
  static constexpr std::size_t lanes = plan::lanes<T>(Target);
  // Lanes of a head: 16 bytes, the smallest pack, or two or four times that.
  static constexpr std::size_t smallest = 16 / sizeof(T);
  static constexpr std::size_t group = S.queries <= smallest       ? smallest
                                       : S.queries <= 2 * smallest ? 2 * smallest
                                                                   : 4 * smallest;
  static constexpr std::size_t together = lanes / group;  // heads in a pack

  // Features come in whole groups, and the keys of a pack's heads are at constant distances.
  static constexpr bool fits = S.queries > 1 && S.queries <= group&& together > 1 && H.heads > 1 &&
                               S.keys <= plan::key_block&& S.head_dim % group == 0 &&
                               S.value_dim % group == 0 && S.q_dim == 1 && S.k_dim == 1 &&
                               S.v_dim == 1 && S.o_dim == 1 && (H.share & (H.share - 1)) == 0 &&
                               plan::heads_share_lanes<T>(S.queries, S.keys, S.head_dim,
                                                          S.value_dim, Target);

  // Scratch: scaled queries feature by feature, and scores key by key.
  static constexpr std::size_t scores_at = S.head_dim * lanes;
  static constexpr std::size_t scratch_size = scores_at + S.keys * lanes;

  static constexpr std::size_t offset_q(std::size_t h) noexcept { return h * H.q_head; }
  static constexpr std::size_t offset_k(std::size_t h) noexcept { return h / H.share * H.k_head; }
  static constexpr std::size_t offset_v(std::size_t h) noexcept { return h / H.share * H.v_head; }
  static constexpr std::size_t offset_o(std::size_t h) noexcept { return h * H.o_head; }

  // With this many heads.
  template <std::size_t Heads>
  struct pack_of {
    static constexpr std::size_t width = Heads * group;
    using V = simd::pack<T, width>;
    using lanes_of_group = std::make_index_sequence<group>;

    // A chunk: one feature per lane of a group.
    UMBEL_INLINE static V load(const T* from, std::size_t (*offset)(std::size_t)) noexcept {
      return simd::load_groups<V, Heads>(from, offset);
    }

    UMBEL_INLINE static void gather_queries(const T* q, T factor, T* queries) noexcept {
      const V scale = simd::broadcast<V>(factor);
      for (std::size_t d = 0; d < S.head_dim; d += group) {
        V rows[group];
        UMBEL_UNROLL(8)
        for (std::size_t i = 0; i < group; ++i) {
          rows[i] = i < S.queries ? load(q + i * S.q_row + d, offset_q) : V{};
        }
        simd::transpose_groups(rows);
        UMBEL_UNROLL(8)
        for (std::size_t i = 0; i < group; ++i) {
          simd::store(queries + (d + i) * width, rows[i] * scale);
        }
      }
    }

    template <std::size_t... I>
    UMBEL_INLINE static V add_products(V sum, V key, const T* queries,
                                       std::index_sequence<I...>) noexcept {
      ((sum = simd::fma(simd::load<V>(queries + I * width),
                        simd::broadcast_in_groups<group, I>(key), sum)),
       ...);
      return sum;
    }

    template <std::size_t Rows>
    UMBEL_INLINE static void score_tile(const T* k, const T* queries, T* scores,
                                        V& maximum) noexcept {
      V sum[Rows]{};
      for (std::size_t d = 0; d < S.head_dim; d += group) {
        UMBEL_UNROLL(8)
        for (std::size_t j = 0; j < Rows; ++j) {
          const V key = load(k + j * S.k_row + d, offset_k);
          sum[j] = add_products(sum[j], key, queries + d * width, lanes_of_group{});
        }
      }
      UMBEL_UNROLL(8)
      for (std::size_t j = 0; j < Rows; ++j) {
        simd::store(scores + j * width, sum[j]);
        maximum = simd::raised(maximum, sum[j]);
      }
    }

    template <std::size_t Rows>
    UMBEL_INLINE static void score_tiles(const T* k, std::size_t keys, const T* queries, T* scores,
                                         std::size_t& j, V& maximum) noexcept {
      for (; j + Rows <= keys; j += Rows) {
        score_tile<Rows>(k + j * S.k_row, queries, scores + j * width, maximum);
      }
    }

    template <std::size_t... I>
    UMBEL_INLINE static void add_values(V (&sum)[group], V weight, V value,
                                        std::index_sequence<I...>) noexcept {
      ((sum[I] = simd::fma(simd::broadcast_in_groups<group, I>(weight), value, sum[I])), ...);
    }
    template <std::size_t... I>
    UMBEL_INLINE static void write(V (&sum)[group], V inverse, T* o,
                                   std::index_sequence<I...>) noexcept {
      ((I < S.queries
            ? simd::store_groups<Heads>(
                  o + I * S.o_row, sum[I] * simd::broadcast_in_groups<group, I>(inverse), offset_o)
            : void()),
       ...);
    }

    // Chunks of value columns from d on: sum[c][i] is query i's, with columns in its lanes.
    template <std::size_t Chunks>
    UMBEL_INLINE static void context_tile(const T* v, const T* p, std::size_t keys, V inverse,
                                          T* o) noexcept {
      V sum[Chunks][group]{};
      for (std::size_t j = 0; j < keys; ++j) {
        const V weight = simd::load<V>(p + j * width);
        UMBEL_UNROLL(8)
        for (std::size_t c = 0; c < Chunks; ++c) {
          add_values(sum[c], weight, load(v + j * S.v_row + c * group, offset_v), lanes_of_group{});
        }
      }
      UMBEL_UNROLL(8)
      for (std::size_t c = 0; c < Chunks; ++c)
        write(sum[c], inverse, o + c * group, lanes_of_group{});
    }

    UMBEL_NOINLINE static void attend_pack(const T* q, const T* k, const T* v, T factor,
                                           std::size_t keys, T* o, T* scratch) noexcept {
      gather_queries(q, factor, scratch);
      T* const scores = scratch + scores_at;
      V maximum = simd::broadcast<V>(simd::math_constants<T>::lowest);
      std::size_t done = 0;
      score_tiles<6>(k, keys, scratch, scores, done, maximum);
      score_tiles<2>(k, keys, scratch, scores, done, maximum);
      score_tiles<1>(k, keys, scratch, scores, done, maximum);
      V sum{};
      for (std::size_t j = 0; j < keys; ++j) {
        const V p = simd::exp2_not_positive(simd::load<V>(scores + j * width) - maximum);
        simd::store(scores + j * width, p);
        sum = sum + p;
      }
      const V inverse = inverse_sum(sum);
      // Accumulators, and a key's weights spread over their groups.
      constexpr std::size_t room = (Target.registers - 2) / group - 1;
      constexpr plan::split tiles = plan::split_evenly(S.value_dim / group, room > 6   ? 6
                                                                            : room < 1 ? 1
                                                                                       : room);
      std::size_t d = 0;
      for (std::size_t t = 0; t < tiles.large_count; ++t, d += tiles.large * group) {
        context_tile<tiles.large>(v + d, scores, keys, inverse, o + d);
      }
      if constexpr (tiles.small_count > 0) {
        for (std::size_t t = 0; t < tiles.small_count; ++t, d += tiles.smaller() * group) {
          context_tile<tiles.smaller()>(v + d, scores, keys, inverse, o + d);
        }
      }
    }
  };

  // All heads in a pack at a time, then half as many ...
  template <std::size_t Heads = together>
  UMBEL_INLINE static void attend_all_heads(const T* q, const T* k, const T* v, T factor,
                                            std::size_t keys, T* o, T* scratch,
                                            std::size_t first = 0) noexcept {
    for (; first + Heads <= H.heads; first += Heads) {
      pack_of<Heads>::attend_pack(q + offset_q(first), k + offset_k(first), v + offset_v(first),
                                  factor, keys, o + offset_o(first), scratch);
    }
    if constexpr (Heads > 1 && H.heads % Heads != 0) {
      attend_all_heads<Heads / 2>(q, k, v, factor, keys, o, scratch, first);
    }
  }
};

}  // namespace detail

// Can attend_heads compute these? It needs few queries, whole groups of features, rows out.
template <attend_shape S, heads_shape H, class T, plan::target Target = plan::native_target>
inline constexpr bool heads_fit_lanes = detail::attend_heads<S, H, T, Target>::fits;

// softmax(scale q k^T) v for every head over the first key_count keys, each with the bits of
// plain::attend. q, k, v, o: head 0's; scratch: attend_scratch elements.
template <attend_shape S, heads_shape H, class T, plan::target Target = plan::native_target>
UMBEL_INLINE void attend_heads(const T* q, const T* k, const T* v, T scale, std::size_t key_count,
                               T* o, T* scratch) noexcept {
  using heads = detail::attend_heads<S, H, T, Target>;
  static_assert(heads::fits && heads::scratch_size <= attend_scratch<S, T, Target>);
  const std::size_t keys = key_count < S.keys ? key_count : S.keys;
  heads::attend_all_heads(q, k, v, exp2_factor(scale), keys, o, scratch);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
