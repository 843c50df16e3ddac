// SPDX-License-Identifier: BSL-1.0
// Multi-head attention of one sequence in integers, on plain numbers: projections, norms of queries
// and keys, rotary positions, softmax and values in 8 bits, sums in 32. Also layers without such a
// form.
//
// See attention.hpp for axes and batches, and past.hpp for steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/attention/forward_in_parts.hpp>
#include <umbel/attention/multi_head.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/attend.hpp>
#include <umbel/quantized/linear.hpp>
#include <umbel/quantized/prepared_heads.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(masks_that_change_scores_or_drop_weights_are_not_supported_in_integers,
           "masks that change scores, drop weights or observe them are not supported in integers; "
           "use lengths, causal, a window or keep_mask");
UMBEL_SAYS(softcap_and_empty_rows_are_not_supported_in_integers,
           "softcap and empty_rows<uniform_weights> are not supported in integers");

namespace rules {
template <class Mask, class Scores, class Fits>
struct integer_mask {
  using type = Fits;
};
template <class Mask, class Scores>
struct integer_mask<Mask, Scores, accepted> {
  using policy = decltype(std::declval<const Mask&>().template policy<Scores>(mask_place{}));
  using type =
      verdict<!policy::changes && !kernel::scores::drops<policy> && !Mask::observes, say::quantized,
              say::masks_that_change_scores_or_drop_weights_are_not_supported_in_integers>;
};
}  // namespace rules

namespace integers {

template <class Range>
struct attention_ranges {
  static constexpr const char* part_names[] = {"queries", "keys", "values", "q",
                                               "k",       "v",    "output"};
  Range queries, keys, values;  // the layer's arguments
  Range q, k, v;                // the results of its projections
  Range output;
};
// With norms of queries and keys, q and k are the results of the norms.
template <class Range>
struct normed_attention_ranges {
  static constexpr const char* part_names[] = {
      "queries", "keys", "values", "projected_q", "projected_k", "q", "k", "v", "output"};
  Range queries, keys, values;
  Range projected_q, projected_k;  // the inputs of the norms
  Range q, k, v;
  Range output;
};

// The most keys that a query sees, by the type of the weights of attention.
template <class Weight>
inline constexpr std::size_t most_keys =
    sizeof(Weight) == 1 ? kernel::most_value_products : kernel::most_16_bit_weights;

// Projections and softmax. Heads are padded to whole words. Weight: the type of attention weights.
template <class Layer, class Weight = std::int8_t>
struct attention_numbers {
  static constexpr int weight_bits = 8 * sizeof(Weight);
  static constexpr head_sizes sizes = Layer::sizes;
  static constexpr std::size_t head_dim = kernel::in_words(sizes.head_dim);
  static constexpr std::size_t value_dim = kernel::in_words(sizes.value_dim);
  static constexpr std::size_t query_width = sizes.heads * head_dim;
  static constexpr std::size_t key_width = sizes.kv_heads * head_dim;
  static constexpr std::size_t value_width = sizes.kv_heads * value_dim;
  static constexpr std::size_t context_width = sizes.heads * value_dim;
  using of_keys = features_of_heads<sizes.head_dim>;
  using of_values = features_of_heads<sizes.value_dim>;

  kernel::integer_panels<sizes.hidden, query_width> q;
  kernel::integer_panels<sizes.key_hidden, key_width> k;
  kernel::integer_panels<sizes.value_hidden, value_width> v;
  kernel::integer_panels<context_width, sizes.output> o;
  kernel::integer_softmax softmax;
  using prepare = prepared_heads<typename Layer::norm_of_heads::layer, typename Layer::rope_option>;
  UMBEL_NO_UNIQUE_ADDRESS typename prepare::norm q_norm;
  UMBEL_NO_UNIQUE_ADDRESS typename prepare::norm k_norm;

  static constexpr std::size_t widest = query_width < key_width ? key_width : query_width;
  // Projections of Rows rows at a time, to be normalized and rotated.
  template <std::size_t Rows>
  using rotary_scratch = typename prepare::template scratch<Rows, widest>;

  // Units: of the arguments, of the result; of the projections, and of those before a norm.
  struct units {
    double queries, keys, values, output, q, k, v, projected_q = 0, projected_k = 0;
  };
  template <class Seen>
  static constexpr units units_of(const Seen& seen, double queries, double keys, double values,
                                  double output) noexcept {
    units u{queries, keys, values, output, int8_unit(seen.q), int8_unit(seen.k), int8_unit(seen.v)};
    if constexpr (prepare::normed) {
      u.projected_q = unit_of_residual(static_cast<double>(seen.projected_q()));
      u.projected_k = unit_of_residual(static_cast<double>(seen.projected_k()));
    }
    return u;
  }
  template <class View>
  constexpr void pack_attention(
      const View& w, const units& u,
      factors_of_features<typename Layer::value_type> factors = {}) noexcept {
    const typename prepare::units of_q{u.queries, u.projected_q, u.q};
    const typename prepare::units of_k{u.keys, u.projected_k, u.k};
    prepare::template pack_map<of_keys>(q, w.q, of_q);
    prepare::template pack_map<of_keys>(k, w.k, of_k);
    if constexpr (prepare::normed) {
      constexpr auto epsilon = static_cast<double>(Layer::norm_of_heads::epsilon);
      prepare::pack_norm(q_norm, w.q_norm, epsilon, of_q);
      prepare::pack_norm(k_norm, w.k_norm, epsilon, of_k);
    }
    pack_map<whole_features, of_values>(v, w.v, u.values, u.v);
    pack_map<of_values, whole_features>(o, w.o, u.v, u.output, factors);
    softmax = integers::softmax<weight_bits>(
        u.q, u.k, Layer::scoring::template scale<double>(sizes.head_dim));
  }

  template <std::size_t Positions>
  static constexpr std::size_t table_bytes =
      Layer::prepare::template table_bytes<std::int16_t, Positions, sizes.head_dim>;

  // Rows of int8, adjacent. position: that of the first row, of Positions.
  template <std::size_t Rows, std::size_t Positions, class Work>
  constexpr void project_queries(const std::int8_t* x, std::int8_t* y, std::size_t position,
                                 Work& work) const noexcept {
    prepare::template project<Rows, Positions, sizes.heads, sizes.head_dim, head_dim>(
        q, q_norm, x, y, position, work);
  }
  template <std::size_t Rows, std::size_t Positions, class Work>
  constexpr void project_keys(const std::int8_t* y, std::int8_t* to, std::size_t position,
                              Work& work) const noexcept {
    prepare::template project<Rows, Positions, sizes.kv_heads, sizes.head_dim, head_dim>(
        k, k_norm, y, to, position, work);
  }
  // row: from one of to's rows to the next; step: from one feature to the next.
  template <std::size_t Rows, std::size_t Row = value_width, std::size_t Step = 1>
  constexpr void project_values(const std::int8_t* z, std::int8_t* to) const noexcept {
    kernel::integer_linear<kernel::integer_linear_shape{Rows, sizes.value_hidden, value_width,
                                                        sizes.value_hidden, Row, Step}>(
        v, z, to, kernel::finish::as_int8{});
  }
  template <std::size_t Rows, class T, class Finish>
  constexpr void project_context(const std::int8_t* context, T* out,
                                 const Finish& finish) const noexcept {
    kernel::integer_linear<kernel::integer_linear_shape{
        Rows, context_width, sizes.output, context_width, sizes.output}>(o, context, out, finish);
  }

  // Transposed: the values of a feature are adjacent, by keys. The strides from one value to the
  // next, and from one feature of a value to the next:
  template <bool Transposed>
  static constexpr std::size_t value_step = Transposed ? 1 : value_width;
  template <std::size_t Keys, bool Transposed>
  static constexpr std::size_t feature_step = Transposed ? kernel::in_words(Keys) : 1;
  template <std::size_t Queries, std::size_t Keys, bool Transposed = false>
  static constexpr kernel::integer_attend_shape head = {.queries = Queries,
                                                        .keys = Keys,
                                                        .head_dim = head_dim,
                                                        .value_dim = value_dim,
                                                        .q_row = query_width,
                                                        .k_row = key_width,
                                                        .v_row = value_step<Transposed>,
                                                        .o_row = context_width,
                                                        .v_dim = feature_step<Keys, Transposed>,
                                                        .weight_bits = weight_bits};
  // With all keys present at once, kernels without vectors need transposed values.
  template <std::size_t Queries>
  static constexpr bool transposed = simd::dot_lanes == 1 && Queries >= 3;

  // Head h. mask: a sequence_mask, or a function from each head to a head_mask.
  template <std::size_t Queries, std::size_t Keys, bool Transposed = false, class Mask>
  constexpr void attend_head(
      std::size_t h, const std::int8_t* from_q, const std::int8_t* from_k,
      const std::int8_t* from_v, const Mask& mask, std::int8_t* context,
      kernel::integer_attend_scratch<head<Queries, Keys, Transposed>>& work) const noexcept {
    constexpr std::size_t share = sizes.heads / sizes.kv_heads;
    kernel::integer_attend<head<Queries, Keys, Transposed>>(
        from_q + h * head_dim, from_k + h / share * head_dim,
        from_v + h / share * value_dim * feature_step<Keys, Transposed>, softmax, mask(h).policy,
        context + h * value_dim, work);
  }
  template <std::size_t Queries, std::size_t Keys, bool Transposed = false, class Mask>
  constexpr void attend_heads(
      const std::int8_t* from_q, const std::int8_t* from_k, const std::int8_t* from_v,
      const Mask& mask, std::int8_t* context,
      kernel::integer_attend_scratch<head<Queries, Keys, Transposed>>& work) const noexcept {
    for (std::size_t h = 0; h < sizes.heads; ++h)
      attend_head<Queries, Keys, Transposed>(h, from_q, from_k, from_v, mask, context, work);
  }

  // To save memory on cores without vectors, a head overwrites its queries with its context.
  template <std::size_t Queries>
  static constexpr bool context_over_queries = transposed<Queries> && head_dim == value_dim;
  struct no_context {
    constexpr std::int8_t* over(std::int8_t* queries) const noexcept { return queries; }
  };
  template <std::size_t Queries>
  struct own_context {
    alignas(64) std::int8_t rows[Queries * context_width];
    constexpr std::int8_t* over(std::int8_t*) noexcept { return rows; }
  };

  // Scratch of a head, which may share memory with the projections' inputs, and of all heads.
  template <std::size_t Queries, std::size_t Keys>
  using head_scratch = kernel::integer_attend_scratch<head<Queries, Keys, transposed<Queries>>>;
  template <std::size_t Queries, std::size_t Keys>
  struct projections {
    alignas(64) std::int8_t q[Queries * query_width];
    alignas(64) std::int8_t k[Keys * key_width];
    alignas(64) std::int8_t v[(transposed<Queries> ? kernel::in_words(Keys) : Keys) * value_width];
    UMBEL_NO_UNIQUE_ADDRESS
    std::conditional_t<context_over_queries<Queries>, no_context, own_context<Queries>> of_context;
    UMBEL_NO_UNIQUE_ADDRESS rotary_scratch<(Queries < Keys ? Keys : Queries)> to_rotate;
    constexpr std::int8_t* context() noexcept { return of_context.over(q); }
  };
  template <std::size_t Queries, std::size_t Keys>
  struct scratch_for : workspace_base {
    using positions = std::index_sequence<Queries, Keys>;
    projections<Queries, Keys> projected;
    head_scratch<Queries, Keys> of_head;
  };

  // Values `first` to first + Rows - 1 of a whole pass.
  template <std::size_t Queries, std::size_t Keys, std::size_t Rows>
  constexpr void put_values(const std::int8_t* z, std::size_t first,
                            projections<Queries, Keys>& work) const noexcept {
    constexpr std::size_t row = value_step<transposed<Queries>>;
    constexpr std::size_t step = feature_step<Keys, transposed<Queries>>;
    project_values<Rows, row, step>(z + first * sizes.value_hidden, work.v + first * row);
    if (transposed<Queries> && first + Rows == Keys)  // the rest of the last word
      for (std::size_t f = 0; f < value_width; ++f)
        for (std::size_t j = Keys; j < step; ++j) work.v[f * step + j] = 0;
  }

  // Attention of x to keys y and values z; out: rows of the result, which finish writes.
  template <std::size_t Queries, std::size_t Keys, class Mask, class T, class Finish>
  constexpr void attend(const std::int8_t* x, const std::int8_t* y, const std::int8_t* z,
                        const Mask& mask, T* out, const Finish& finish,
                        projections<Queries, Keys>& work,
                        head_scratch<Queries, Keys>& of_head) const noexcept {
    project_queries<Queries, Queries>(x, work.q, 0, work.to_rotate);
    project_keys<Keys, Keys>(y, work.k, 0, work.to_rotate);
    put_values<Queries, Keys, Keys>(z, 0, work);
    attend_heads<Queries, Keys, transposed<Queries>>(work.q, work.k, work.v, mask, work.context(),
                                                     of_head);
    project_context<Queries>(work.context(), out, finish);
  }

  // The same for the first rows of each. Of the rows after them, out has at most 3, of any numbers.
  template <std::size_t Queries, std::size_t Keys, class Mask, class T, class Finish>
  constexpr void attend(const std::int8_t* x, const std::int8_t* y, const std::int8_t* z,
                        const Mask& mask, T* out, const Finish& finish,
                        projections<Queries, Keys>& work, head_scratch<Queries, Keys>& of_head,
                        const first_rows& rows) const noexcept {
    auto& to_rotate = work.to_rotate;
    each_first_rows<Queries>(rows.queries, to_queries<Queries, Keys>(x, work, to_rotate));
    each_first_rows<Keys>(rows.keys, to_keys<Queries, Keys>(y, z, work, to_rotate));
    attend_heads<Queries, Keys, transposed<Queries>>(
        work.q, work.k, work.v, [&](std::size_t h) { return of_first(rows.queries, mask(h)); },
        work.context(), of_head);
    each_first_rows<Queries>(rows.queries, to_result(work.context(), out, finish));
  }

  // Projections of a block of rows: f(rows, first row), rows an integral_constant.
  template <std::size_t Queries, std::size_t Keys, class Rotate>
  constexpr auto to_queries(const std::int8_t* x, projections<Queries, Keys>& work,
                            Rotate& to_rotate) const noexcept {
    return [&, x]<std::size_t N>(std::integral_constant<std::size_t, N>, std::size_t at) {
      project_queries<N, Queries>(x + at * sizes.hidden, work.q + at * query_width, at, to_rotate);
    };
  }
  template <std::size_t Queries, std::size_t Keys, class Rotate>
  constexpr auto to_keys(const std::int8_t* y, const std::int8_t* z,
                         projections<Queries, Keys>& work, Rotate& to_rotate) const noexcept {
    return [&, y, z]<std::size_t N>(std::integral_constant<std::size_t, N>, std::size_t at) {
      project_keys<N, Keys>(y + at * sizes.key_hidden, work.k + at * key_width, at, to_rotate);
      put_values<Queries, Keys, N>(z, at, work);
    };
  }
  template <class T, class Finish>
  constexpr auto to_result(const std::int8_t* context, T* out,
                           const Finish& finish) const noexcept {
    return
        [&, context, out]<std::size_t N>(std::integral_constant<std::size_t, N>, std::size_t at) {
          project_context<N>(context + at * context_width, out + at * sizes.output, finish);
        };
  }
  // A mask of a head for the first queries, or all.
  template <class On>
  static constexpr auto of_first(std::size_t queries, const On& on) noexcept {
    using policy = kernel::of_first_queries<std::remove_cvref_t<decltype(on.policy)>>;
    return head_mask<policy, no_observer>{policy{on.policy, queries}, {}};
  }
  template <class On>
  static constexpr const On& of_first(every_row, const On& on) noexcept {
    return on;
  }

  // The same by several workers: blocks of rows, then heads, then blocks of rows. They exchange
  // data in the workspace of worker 0. of_head(worker): scratch of a head; rows: all_rows or
  // first_rows.
  template <std::size_t Queries, std::size_t Keys, class Mask, class T, class Finish, class Given,
            class OfHead, class Rows>
  void attend_in_parts(const std::int8_t* x, const std::int8_t* y, const std::int8_t* z,
                       const Mask& mask, T* out, const Finish& finish, const Given& given,
                       const OfHead& of_head, const Rows& rows) const noexcept {
    const auto of_queries = blocks_of<Queries, 4 * Given::workers>(rows.queries);
    const auto of_keys = blocks_of<Keys, 4 * Given::workers>(rows.keys);
    auto& shared = given.work[0];
    given.hand_out(
        of_queries.count + of_keys.count, [&](std::size_t i, std::size_t worker) noexcept {
          auto& to_rotate = given.work[worker].to_rotate;
          if (i < of_queries.count)
            return of_queries.with_block(i, to_queries<Queries, Keys>(x, shared, to_rotate));
          of_keys.with_block(i - of_queries.count, to_keys<Queries, Keys>(y, z, shared, to_rotate));
        });
    given.hand_out(sizes.heads, [&](std::size_t head, std::size_t worker) noexcept {
      attend_head<Queries, Keys, transposed<Queries>>(
          head, shared.q, shared.k, shared.v,
          [&](std::size_t h) { return of_first(rows.queries, mask(h)); }, shared.context(),
          of_head(worker));
    });
    given.hand_out(of_queries.count, [&](std::size_t i, std::size_t) noexcept {
      of_queries.with_block(i, to_result(shared.context(), out, finish));
    });
  }
};

// Result: the type of the result.
template <class Layer, class Weight, class Result>
struct packed_attention : attention_numbers<Layer, Weight> {
  using base = attention_numbers<Layer, Weight>;
  template <class Range>
  using ranges_of = std::conditional_t<base::prepare::normed, normed_attention_ranges<Range>,
                                       attention_ranges<Range>>;
  using ranges = ranges_of<range>;
  using histograms = ranges_of<magnitude_histogram>;
  template <class View>
  constexpr void pack_seen(const View& w, const ranges& seen) noexcept {
    this->pack_attention(w, base::units_of(seen, int8_unit(seen.queries), int8_unit(seen.keys),
                                           int8_unit(seen.values),
                                           unit_of<Result>(static_cast<double>(seen.output()))));
  }
};

template <class Norm>
struct norm_of_heads_fits {
  using type = rules::norm_fits<typename Norm::axis>;
};
template <>
struct norm_of_heads_fits<void> {
  using type = accepted;
};
template <class Layer>
using attention_has_integers =
    first_error<rules::inputs_fit<typename Layer::hidden_axis>,
                rules::inputs_fit<typename Layer::keys_axis>,
                rules::inputs_fit<typename Layer::values_axis>,
                rules::sums_fit<axes::head_dim<Layer::sizes.head_dim>, kernel::most_score_products>,
                rules::heads_fit<Layer::sizes.heads, Layer::sizes.value_dim>,
                typename norm_of_heads_fits<typename Layer::norm_of_heads::layer>::type,
                verdict<Layer::scoring::only_scales, say::quantized,
                        say::softcap_and_empty_rows_are_not_supported_in_integers>>;

}  // namespace integers
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
