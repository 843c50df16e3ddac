// SPDX-License-Identifier: BSL-1.0
// From the scores of a block of queries to their context: weights, the online softmax over blocks
// of keys, sums. The context O^T stays in registers over all keys of a block; while its first
// columns are summed, the exponentials of later keys are computed (the sums leave half of the core
// idle). Also the scratch layout. See attend_block.hpp for scores.
#pragma once

#include <cstddef>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/kernel/scaled_rows.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/kernel/tap.hpp>
#include <umbel/plan/plan.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/half.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::detail {

// Keys of one block of the softmax; every query sees those from full_begin to full_end.
struct bordered_keys {
  std::size_t count, full_begin, full_end;
};

// No dropout: see scores_block::drop.
struct no_drop {};

template <attend_shape S, class T, plan::target Target, std::size_t Vectors>
struct attend_context {
  static constexpr std::size_t lanes = plan::lanes<T>(Target);
  static constexpr std::size_t width = Vectors * lanes;  // queries in the block
  static constexpr std::size_t tile_rows = plan::attend_rows(Target, Vectors);
  static constexpr std::size_t keys_ahead = plan::keys_ahead(Target, Vectors);
  static constexpr bool one_block = S.keys <= plan::key_block;
  // The context is stored in whole vectors if queries are adjacent in o, else through scratch.
  static constexpr bool direct = S.o_row == 1;

  static constexpr std::size_t key_room = one_block ? S.keys : plan::key_block;
  static constexpr std::size_t scores_at = S.head_dim * width;
  static constexpr std::size_t context_at = scores_at + key_room * width;
  static constexpr std::size_t scratch_size =
      context_at + (direct && one_block ? 0 : S.value_dim * width);

  using V = simd::pack<T, lanes>;

  // The parameters of a block's weights, and their sum.
  struct exponentials {
    V maximum[Vectors];
    V sum[Vectors];
  };
  // The weights already exist.
  struct no_exponentials {};

  // A key's weights from its scores, in place: p(j) = 2^(score - maximum). Bordered: a score of
  // +infinity marks a hidden pair, whose weight becomes -1. No other score exceeds the maximum (a
  // true score of +infinity makes the difference, and so its row, NaN).
  template <bool Bordered>
  UMBEL_INLINE static void take_weights(T* p, exponentials& take) noexcept {
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < Vectors; ++i) {
      const V y = simd::load<V>(p + i * lanes) - take.maximum[i];
      if constexpr (Bordered) {
        simd::store(p + i * lanes, simd::exp2_or_hidden(y, take.sum[i]));
      } else {
        const V weight = simd::exp2_not_positive(y);
        simd::store(p + i * lanes, weight);
        take.sum[i] = take.sum[i] + weight;
      }
    }
  }

  // sum(d) += p(j) v(j, d). Bordered: a weight below 0 marks a hidden pair, whose sum doesn't
  // change (v may be NaN there: select, never multiply by 0). Y, here and below: a pointer to
  // values, or scaled_rows.
  template <bool Bordered, std::size_t Rows, class Y>
  UMBEL_INLINE static void add_key(Y values, const T* p, V (&sum)[Rows][Vectors]) noexcept {
    V weight[Vectors];
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < Vectors; ++i) {
      weight[i] = simd::load<V>(p + i * lanes);
      if constexpr (has_scales<Y>) {
        const V scaled = with_scale_of_value(weight[i], values, 0);
        weight[i] = Bordered ? simd::select(simd::less(weight[i], V{}), weight[i], scaled) : scaled;
      }
    }
    const auto* const v = elements(values);
    UMBEL_UNROLL(32)
    for (std::size_t d = 0; d < Rows; ++d) {
      const auto value = simd::spread<V>(v[d * S.v_dim]);
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) {
        if constexpr (Bordered) {
          sum[d][i] = simd::fma_not_negative(weight[i], value, sum[d][i]);
        } else {
          sum[d][i] = simd::fma(value, weight[i], sum[d][i]);
        }
      }
    }
  }

  // The keys begin <= j < end. Take: exponentials if p holds scores, or no_exponentials.
  template <bool Bordered, std::size_t Rows, class Y, class Take>
  UMBEL_INLINE static void add_keys(Y v, T* p, std::size_t begin, std::size_t end, Take& take,
                                    V (&sum)[Rows][Vectors]) noexcept {
    std::size_t j = begin;
    if constexpr (std::is_same_v<Take, exponentials>) {
      std::size_t taken = begin;
      for (std::size_t most = keys_ahead; most > 0 && taken < end; --most, ++taken) {
        take_weights<Bordered>(p + taken * width, take);
      }
      UMBEL_UNROLL(2)
      for (; taken < end; ++taken, ++j) {
        take_weights<Bordered>(p + taken * width, take);
        add_key<Bordered>(from_row(v, j, S.v_row), p + j * width, sum);
      }
    }
    if constexpr (!Bordered && simd::has_products<V, T, stored_in<Y>>) {
      simd::add_products<simd::strides{S.v_dim, S.v_row, width}>(from_row(v, j, S.v_row),
                                                                 p + j * width, end - j, sum);
      return;
    }
    UMBEL_UNROLL(2)
    for (; j < end; ++j) add_key<Bordered>(from_row(v, j, S.v_row), p + j * width, sum);
  }

  // part(bordered?, begin, end) for the parts of a block. Keys: their number, or bordered_keys.
  template <class Keys, class Part>
  UMBEL_INLINE static void for_parts(Keys keys, const Part& part) noexcept {
    if constexpr (std::is_same_v<Keys, bordered_keys>) {
      // Both borders share code: no measurable cost, and it compiles faster.
      const std::size_t at[4] = {0, keys.full_begin, keys.full_end, keys.count};
      for (std::size_t i = 0; i < 3; ++i) {
        if (i == 1) {
          part(std::false_type{}, at[1], at[2]);
        } else {
          part(std::true_type{}, at[i], at[i + 1]);
        }
      }
    } else {
      part(std::false_type{}, std::size_t{0}, keys);
    }
  }

  struct softmax_state {
    V maximum[Vectors];
    V sum[Vectors];
    V inverse[Vectors];
  };

  // The effect of a block of keys on it, and on the context so far.
  struct softmax_step {
    bool is_first, is_last;
    V correction[Vectors];
    softmax_state& state;

    UMBEL_INLINE void begin(const V (&maximum)[Vectors]) noexcept {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) {
        correction[i] =
            one_block || is_first ? V{} : simd::exp2_not_positive(state.maximum[i] - maximum[i]);
        state.maximum[i] = maximum[i];
      }
    }
    // scale: for the weights kept after dropout.
    template <class Scale>
    UMBEL_INLINE void end(const V (&block_sum)[Vectors], Scale scale) noexcept {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) {
        state.sum[i] = one_block || is_first ? block_sum[i]
                                             : simd::fma(state.sum[i], correction[i], block_sum[i]);
        state.inverse[i] = inverse_sum(state.sum[i]);
        if constexpr (std::is_same_v<Scale, T>) {
          state.inverse[i] = state.inverse[i] * simd::broadcast<V>(scale);
        }
      }
    }
  };

  // The block's queries, and those that may be written if o_row == 1.
  struct room {
    std::size_t queries, writable;
  };

  // Stores the softmax's statistics of the block's queries.
  UMBEL_INLINE static void leave(const softmax_state& state, room here,
                                 softmax_tap<T> tap) noexcept {
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < Vectors; ++i) {
      if (i * lanes >= here.queries) break;
      const std::size_t rest = here.queries - i * lanes, count = rest < lanes ? rest : lanes;
      simd::store_first(tap.maximum + i * lanes, state.maximum[i], count);
      simd::store_first(tap.inverse + i * lanes, inverse_sum(state.sum[i]), count);
    }
  }

  // Rows value columns of the context from d on: o(d) chains over the block's keys.
  template <std::size_t Rows, class Take, class Keys, class Y>
  UMBEL_INLINE static void context_tile(Y v, T* scratch, std::size_t d, Keys keys, Take& take,
                                        softmax_step& step, T* o, room here) noexcept {
    V sum[Rows][Vectors];
    T* const context = scratch + context_at + d * width;
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) {
        sum[r][i] = V{};
        if constexpr (!one_block) {
          if (!step.is_first) {
            sum[r][i] = simd::load<V>(context + r * width + i * lanes) * step.correction[i];
          }
        }
      }
    }
    for_parts(keys, [&](auto bordered, std::size_t begin, std::size_t end) UMBEL_LAMBDA_INLINE {
      add_keys<decltype(bordered)::value>(v + d * S.v_dim, scratch + scores_at, begin, end, take,
                                          sum);
    });
    if constexpr (std::is_same_v<Take, exponentials>) step.end(take.sum, no_drop{});
    UMBEL_UNROLL(32)
    for (std::size_t r = 0; r < Rows; ++r) {
      UMBEL_UNROLL(4)
      for (std::size_t i = 0; i < Vectors; ++i) {
        const V value = step.is_last ? sum[r][i] * step.state.inverse[i] : sum[r][i];
        if (direct && step.is_last) {
          T* const to = o + (d + r) * S.o_dim + i * lanes;
          if ((i + 1) * lanes <= here.writable) {
            simd::store(to, value);
          } else if (i * lanes < here.queries) {
            simd::store_first(to, value, here.queries - i * lanes);
          }
        } else if constexpr (!(direct && one_block)) {
          simd::store(context + r * width + i * lanes, value);
        }
      }
    }
  }

  // From a block's scores and their maximum, including the one before: weights, the softmax's
  // state, the context. Drop: no_drop, or drop(), called when the weights exist and are summed, and
  // drop.kept_scale.
  template <class Keys, class Y, class Drop = no_drop>
  UMBEL_INLINE static void finish_block(Y v, Keys keys, const V (&maximum)[Vectors], bool is_first,
                                        bool is_last, softmax_state& state, T* o, T* scratch,
                                        room here, const Drop& drop = {}) noexcept {
    softmax_step step{is_first, is_last, {}, state};
    step.begin(maximum);
    exponentials take;
    UMBEL_UNROLL(4)
    for (std::size_t i = 0; i < Vectors; ++i) {
      take.maximum[i] = maximum[i];
      take.sum[i] = V{};
    }
    constexpr bool at_once = keys_ahead == 0 || !std::is_same_v<Drop, no_drop>;
    if constexpr (at_once) {
      for_parts(keys, [&](auto bordered, std::size_t begin, std::size_t end) UMBEL_LAMBDA_INLINE {
        UMBEL_UNROLL(4)
        for (std::size_t j = begin; j < end; ++j) {
          take_weights<decltype(bordered)::value>(scratch + scores_at + j * width, take);
        }
      });
      if constexpr (std::is_same_v<Drop, no_drop>) {
        step.end(take.sum, drop);
      } else {
        drop();
        step.end(take.sum, drop.kept_scale);
      }
    }

    no_exponentials taken;
    constexpr plan::split columns =
        plan::split_evenly(S.value_dim, plan::block_limit(S.value_dim, tile_rows, Target));
    if constexpr (!at_once) {
      context_tile<columns.large>(v, scratch, 0, keys, take, step, o, here);
    }
    for (std::size_t t = at_once ? 0 : 1; t < columns.large_count; ++t) {
      context_tile<columns.large>(v, scratch, t * columns.large, keys, taken, step, o, here);
    }
    if constexpr (columns.small_count > 0) {
      for (std::size_t t = 0; t < columns.small_count; ++t) {
        context_tile<columns.smaller()>(v, scratch,
                                        columns.large_count * columns.large + t * columns.smaller(),
                                        keys, taken, step, o, here);
      }
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::detail
UMBEL_WARNINGS_POP
