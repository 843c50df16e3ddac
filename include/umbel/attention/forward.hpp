// SPDX-License-Identifier: BSL-1.0
// The forward pass of multi-head attention over one sequence: everything but names. Sizes in, kernels
// called, scratch in a workspace whose layout is fixed by the sizes.
//
// Not here: axes, verdicts, batches (multi_head.hpp).
#pragma once

#include <umbel/attention/projection.hpp>
#include <umbel/attention/rope.hpp>
#include <umbel/attention/score.hpp>

namespace umbel::detail {

// The sizes of a layer. Heads of queries share kv_heads heads of keys and values, heads / kv_heads
// each; head_dim is the width of a query and a key, value_dim of a value.
struct head_sizes {
  std::size_t hidden, key_hidden, value_hidden, output;
  std::size_t heads, kv_heads, head_dim, value_dim;
  bool q_bias, k_bias, v_bias, o_bias;

  constexpr std::size_t query_width() const { return heads * head_dim; }
  constexpr std::size_t key_width() const { return kv_heads * head_dim; }
  constexpr std::size_t value_width() const { return kv_heads * value_dim; }
  constexpr std::size_t context_width() const { return heads * value_dim; }
  friend constexpr bool operator==(const head_sizes&, const head_sizes&) = default;
};

// Where a batch of sequences lies: elements from one sequence, position or feature to the next.
struct sequence_strides {
  std::size_t batch, position, feature;
};

constexpr std::size_t round_up(std::size_t value, std::size_t step) noexcept {
  return (value + step - 1) / step * step;
}

// Rotary: what turns queries and keys by their positions, or no_rope. Scoring: scale, softcap, rows
// without keys.
template <class T, head_sizes S, class Rotary, class Scoring, std::size_t Queries, std::size_t Keys>
struct multi_head_forward {
  static constexpr std::size_t lanes = plan::lanes<T>(plan::native_target);
  static constexpr std::size_t query_row = round_up(S.query_width(), lanes);
  static constexpr std::size_t key_row = round_up(S.key_width(), lanes);
  static constexpr std::size_t value_row = round_up(S.value_width(), lanes);
  // The context is written transposed, (feature, query): that is how it leaves the registers.
  static constexpr std::size_t room = round_up(Queries, lanes);
  static constexpr kernel::attend_shape head = {.queries = Queries,
                                                .keys = Keys,
                                                .head_dim = S.head_dim,
                                                .value_dim = S.value_dim,
                                                .q_row = query_row,
                                                .q_dim = 1,
                                                .k_row = key_row,
                                                .k_dim = 1,
                                                .v_row = value_row,
                                                .v_dim = 1,
                                                .o_row = 1,
                                                .o_dim = room,
                                                .o_room = room};

  struct workspace : workspace_base {
    alignas(64) T q[Queries * query_row];
    alignas(64) T k[Keys * key_row];
    alignas(64) T v[Keys * value_row];
    alignas(64) T context[S.context_width() * room];
    alignas(64) T scratch[kernel::attend_scratch<head, T>];
  };

  template <std::size_t Rows, std::size_t In, std::size_t Out, std::size_t Row, bool Bias,
            sequence_strides From>
  static constexpr kernel::linear_shape project_in = {Rows,         In,  Out, From.position,
                                                      From.feature, Row, 1,   Bias};
  template <sequence_strides To>
  static constexpr kernel::linear_shape project_out = {
      Queries, S.context_width(), S.output, 1, room, To.position, To.feature, S.o_bias};

  // mask(h): a head_mask (mask_base.hpp).
  template <sequence_strides X, sequence_strides Y, sequence_strides Z, sequence_strides Out,
            class Parameters, class Mask>
  static constexpr void run(const Parameters& p, const T* x, const T* y, const T* z,
                            const Mask& mask, T* out, workspace& work) noexcept {
    p.q.template run<project_in<Queries, S.hidden, S.query_width(), query_row, S.q_bias, X>>(
        x, work.q);
    p.k.template run<project_in<Keys, S.key_hidden, S.key_width(), key_row, S.k_bias, Y>>(y,
                                                                                          work.k);
    p.v.template run<project_in<Keys, S.value_hidden, S.value_width(), value_row, S.v_bias, Z>>(
        z, work.v);
    Rotary::template turn<Queries, S.heads, S.head_dim, query_row>(work.q);
    Rotary::template turn<Keys, S.kv_heads, S.head_dim, key_row>(work.k);
    for (std::size_t h = 0; h < S.heads; ++h) {
      const std::size_t kv = h / (S.heads / S.kv_heads);
      const T* const q = work.q + h * S.head_dim;
      const T* const k = work.k + kv * S.head_dim;
      const T* const v = work.v + kv * S.value_dim;
      T* const o = work.context + h * S.value_dim * room;
      Scoring::attend(dot_product_head<head, T, Scoring>{q, k, v, o, work.scratch}, mask(h));
    }
    p.o.template run<project_out<Out>>(work.context, out);
  }
};

}  // namespace umbel::detail
