// SPDX-License-Identifier: BSL-1.0
// One decoding step over one sequence, on plain numbers: projects and stores the keys and values of
// the new positions, whose queries attend to all stored ones. The sizes fix the scratch's layout.
//
// See cache.hpp for axes, verdicts, batches, storing and dropping.
#pragma once

#include <umbel/attention/forward.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/plain/scaled.hpp>
#include <umbel/kernel/scaled_rows.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// Queries new positions against Rows stored ones with keys and values of type Stored. Positions:
// the longest sequence. `attend` may have more queries than that; they count from 0.
template <class Layer, class Stored, std::size_t Queries, std::size_t Rows, std::size_t Positions>
struct cached_forward {
  using T = typename Layer::value_type;
  using prepare = typename Layer::prepare;
  using scoring = typename Layer::scoring;
  static constexpr head_sizes S = Layer::sizes;
  static constexpr std::size_t lanes = plan::lanes<T>(plan::native_target);
  static constexpr std::size_t query_row = round_up(S.query_width(), lanes);
  static constexpr std::size_t key_row = round_up(S.key_width(), lanes);
  static constexpr std::size_t value_row = round_up(S.value_width(), lanes);
  static constexpr std::size_t key_step = round_up(Rows, lanes);  // from one feature to the next
  static constexpr std::size_t turns = Queries > Positions ? Queries : Positions;
  static constexpr bool stores_t = std::is_same_v<Stored, T>;
  // In 8 bits: one scale per head and position for the key, after all of these one for the value.
  static constexpr bool scaled = std::is_same_v<Stored, std::int8_t>;
  static constexpr std::size_t scales = scaled ? 2 * S.kv_heads * key_step : 0;
  using rows_of = std::conditional_t<scaled, kernel::scaled_rows<T, key_step>, const Stored*>;
  static constexpr context_strides of_context = place_context(Queries, S.context_width(), lanes);
  static constexpr kernel::attend_shape head = {.queries = Queries,
                                                .keys = Rows,
                                                .head_dim = S.head_dim,
                                                .value_dim = S.value_dim,
                                                .q_row = query_row,
                                                .q_dim = 1,
                                                .k_row = 1,
                                                .k_dim = key_step,
                                                .v_row = value_row,
                                                .v_dim = 1,
                                                .o_row = of_context.query,
                                                .o_dim = of_context.feature,
                                                .o_room = of_context.room};
  static constexpr kernel::heads_shape all_heads = {S.heads,     S.heads / S.kv_heads,
                                                    S.head_dim,  S.head_dim* key_step,
                                                    S.value_dim, S.value_dim* of_context.feature};

  static constexpr std::size_t tables = prepare::template table_bytes<T, turns, S.head_dim>;

  struct workspace : workspace_base {
    alignas(64) T q[Queries * query_row];
    // Keys, then values, that are converted before they are stored.
    alignas(64) T projected[Queries * (key_row < value_row && !stores_t ? value_row : key_row)];
    alignas(64) T context[of_context.size];
    alignas(64) T scratch[kernel::attend_scratch<head, T>];
  };

  static constexpr rows_of keys_in(const Stored* keys, [[maybe_unused]] const T* scales) noexcept {
    if constexpr (scaled)
      return {keys, scales};
    else
      return keys;
  }
  static constexpr rows_of values_in(const Stored* values,
                                     [[maybe_unused]] const T* scales) noexcept {
    if constexpr (scaled)
      return {values, scales + S.kv_heads * key_step};
    else
      return values;
  }

  // Quantizes the Dim numbers of each head: put(feature, steps), and their scales.
  template <std::size_t Dim, class Put>
  static constexpr void store_scaled(const T* from, T* scales, Put put) noexcept {
    for (std::size_t h = 0; h < S.kv_heads; ++h, from += Dim) {
      kernel::scale_of_numbers<T> scale;
      for (std::size_t d = 0; d < Dim; ++d) scale.add(from[d]);
      const typename kernel::scale_of_numbers<T>::in_steps in_steps{scale};
      for (std::size_t d = 0; d < Dim; ++d) put(h * Dim + d, in_steps(from[d]));
      scales[h * key_step] = scale.value();
    }
  }

  // Stores keys and values of the positions from `position` on, in the rows from `row` on. scales:
  // as many as the constant `scales`; not read if that is 0.
  template <sequence_strides Y, sequence_strides Z, class Weights>
  static constexpr void store(const Weights& w, const T* y, const T* z, std::size_t position,
                              std::size_t row, Stored* keys, Stored* values,
                              [[maybe_unused]] T* scales_there, T* projected) noexcept {
    project<kernel::linear_shape{Queries, S.key_hidden, S.key_width(), Y.position, Y.feature,
                                 key_row, 1, S.k_bias}>(w.k, y, projected);
    // Not keys(), which would add three lines to clang's output if the rotation is refused.
    prepare::template norm_keys<Queries, S.kv_heads, S.head_dim, key_row>(w, projected);
    prepare::rotary::template turn<Queries, S.kv_heads, S.head_dim, key_row, turns>(projected,
                                                                                    position);
    if constexpr (scaled) {
      for (std::size_t i = 0; i < Queries; ++i)
        store_scaled<S.head_dim>(
            projected + i * key_row, scales_there + row + i,
            [&](std::size_t d, Stored x) { keys[d * key_step + row + i] = x; });
    } else {
      for (std::size_t d = 0; d < S.key_width(); ++d)
        for (std::size_t i = 0; i < Queries; ++i)
          keys[d * key_step + row + i] = static_cast<Stored>(projected[i * key_row + d]);
    }
    constexpr kernel::linear_shape to_values = {
        Queries, S.value_hidden, S.value_width(), Z.position, Z.feature, value_row, 1, S.v_bias};
    if constexpr (stores_t) {
      project<to_values>(w.v, z, values + row * value_row);
    } else {
      project<to_values>(w.v, z, projected);
      for (std::size_t i = 0; i < Queries; ++i) {
        const T* const from = projected + i * value_row;
        Stored* const to = values + (row + i) * value_row;
        if constexpr (scaled)
          store_scaled<S.value_dim>(from, scales_there + S.kv_heads * key_step + row + i,
                                    [&](std::size_t d, Stored x) { to[d] = x; });
        else
          for (std::size_t d = 0; d < S.value_width(); ++d) to[d] = static_cast<Stored>(from[d]);
      }
    }
  }

  // Queries, the first at `position`, to all stored keys. mask(h): a head_mask.
  template <sequence_strides X, sequence_strides Out, class Weights, class Mask>
  static constexpr void attend(const Weights& w, const T* x, std::size_t position, rows_of keys,
                               rows_of values, const Mask& mask, T* out, workspace& work) noexcept {
    project<kernel::linear_shape{Queries, S.hidden, S.query_width(), X.position, X.feature,
                                 query_row, 1, S.q_bias}>(w.q, x, work.q);
    prepare::template queries<Queries, S.heads, S.head_dim, query_row, turns>(w, work.q, position);
    heads_of_sequence<head, all_heads, T, scoring, rows_of>::attend(
        work.q, keys, values, work.context, work.scratch, mask);
    project<kernel::linear_shape{Queries, S.context_width(), S.output, of_context.query,
                                 of_context.feature, Out.position, Out.feature, S.o_bias}>(
        w.o, work.context, out);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
