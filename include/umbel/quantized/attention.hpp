// SPDX-License-Identifier: BSL-1.0
// Multi-head attention in int8: projections, softmax and values in 8 bits, sums in 32.
//
// Masks: those that hide keys (lengths, valid_rows, keep_mask, causal, windows, and similar). Masks
// that change scores or drop weights have no integer form and are refused by name, as are softcap
// and empty_rows<uniform_weights>. A query that sees no key gets zeros from the heads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/attention/calls.hpp>
#include <umbel/block/transformer.hpp>
#include <umbel/config.hpp>
#include <umbel/quantized/attention_numbers.hpp>
#include <umbel/quantized/attention_observed.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

// The forms of a call (attention/calls.hpp). Layer: a multi_head_attention; Weight: the type of the
// weights of attention; Result: the type of the result.
template <class Layer, class Weight, class Result>
struct attention_forms {
  static constexpr bool in_formulas = false;
  using numbers = attention_numbers<Layer, Weight>;
  using hidden = typename Layer::hidden_axis;
  using keys_axis = typename Layer::keys_axis;
  using values_axis = typename Layer::values_axis;
  template <class X, class Axis>
  using rows = first_error<rules::rows_of_integers<X, std::int8_t, Axis>,
                           rules::batch_first<say::quantized, X>>;

  template <class Queries, class Keys, class X, class Mask, class Workspace, class Out>
  struct call_of {
    using layout = typename Layer::template result_of<layout_of<X>>;
    using result = tensor_of<Result, layout>;
    using scratch = typename numbers::template scratch_for<Queries::size, Keys::size>;
    using given = given_workspaces<Workspace, scratch>;
    using place = typename given::all;
    using scores = scores_of<float, layout_of<X>::template size_of<rules::batch_family>,
                             Layer::sizes.heads, Queries::size, Keys::size>;
    using mask = mask_of<Mask>;
    using verdict = first_error<
        rules::row_major_out<say::quantized, Out, Result, layout>,
        rules::sums_fit<Keys, most_keys<Weight>>,
        typename rules::integer_mask<
            mask, scores,
            rules::mask_fits<say::quantized, mask, scores_by_rows<scores, true>>>::type,
        rules::scratch_fits<say::quantized, typename given::each, scratch, shape<Queries, Keys>>>;

    static constexpr std::size_t sequences =
        layout_of<X>::count / (Queries::size * Layer::sizes.hidden);
    template <class Y, class Z, class To, class All>
    static constexpr void each_sequence(const numbers& n, const X& x, const Y& y, const Z& z,
                                        const Mask& given_mask, To& to, All& all) noexcept {
      constexpr std::size_t queries = Queries::size, keys = Keys::size;
      const auto& masks = as_mask(given_mask);
      const auto from = [&](std::size_t b, const auto& attend) {
        attend(x.data() + b * queries * Layer::sizes.hidden,
               y.data() + b * keys * Layer::sizes.key_hidden,
               z.data() + b * keys * Layer::sizes.value_hidden, at_sequence<scores>(masks, b),
               to.data() + b * queries * Layer::sizes.output, finish_as<Result>{});
      };
      const auto rows = [&](std::size_t b) {
        return rows_of_attention<Queries, Keys, queries, keys>(masks, b);
      };
      detail::each_sequence<sequences>(
          all, rows,
          [&](std::size_t b, auto& buffers) {
            from(b, [&](const auto&... with) {
              if constexpr (mask::counts_rows)
                n.template attend<queries, keys>(with..., buffers.projected, buffers.of_head,
                                                 rows(b));
              else
                n.template attend<queries, keys>(with..., buffers.projected, buffers.of_head);
            });
          },
          [&](std::size_t b, const auto& workers) {
            from(b, [&](const auto&... with) {
              using of = std::remove_reference_t<decltype(workers)>;
              n.template attend_in_parts<queries, keys>(
                  with..., workers_with<&scratch::projected, of>{workers},
                  [&](std::size_t worker) -> auto& { return workers.work[worker].of_head; },
                  rows(b));
            });
          });
      constexpr std::size_t width = Layer::sizes.output;
      if constexpr (mask::counts_rows)
        clear_rest<sequences, queries, width, adjacent_rows<queries, width>>(
            to.data(), [&](std::size_t b) { return rows(b).queries; });
    }
  };
  template <class X>
  using positions = axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, hidden>>;
  template <class X>
  using queries = axis_of<layout_of<X>, rules::query_family>;
  template <class Y>
  using keys = axis_of<layout_of<Y>, rules::key_family>;
  template <class X, class... Of>
  struct made_self {
    using call = call_of<positions<X>, positions<X>, X, Of...>;
  };
  template <class X, class Y, class... Of>
  struct made_cross {
    using call = call_of<queries<X>, keys<Y>, X, Of...>;
  };

  template <class X>
  using self_fits = first_error<rules::holds_these_integers<X, std::int8_t>,
                                rules::self_attend<say::quantized, X, std::int8_t, hidden>,
                                rules::one_width<say::quantized, hidden, keys_axis, values_axis>,
                                rows<X, hidden>>;
  template <class X, class Y, class Z>
  using cross_fits = first_error<
      rules::holds_these_integers<X, std::int8_t>, rules::holds_these_integers<Y, std::int8_t>,
      rules::holds_these_integers<Z, std::int8_t>,
      rules::attend_to<say::quantized, X, Y, Z, std::int8_t, hidden, keys_axis, values_axis>,
      rows<X, hidden>, rows<Y, keys_axis>, rows<Z, values_axis>>;
  template <class X, class Mask, class Workspace, class Out>
  using self = call_rule<first_error<rules::no_second_sequence<say::quantized, Mask>, self_fits<X>>,
                         made_self<X, Mask, Workspace, Out>>;
  template <class X, class Y, class Z, class Mask, class Workspace, class Out>
  using cross = call_rule<cross_fits<X, Y, Z>, made_cross<X, Y, Mask, Workspace, Out>>;

  template <class X>
  using self_workspace =
      typename numbers::template scratch_for<positions<X>::size, positions<X>::size>;
  template <class X, class Y, class Z>
  using cross_workspace = typename numbers::template scratch_for<queries<X>::size, keys<Y>::size>;

  // See footprint.
  template <class Queries, class Keys, class X>
  struct steps_of : call_of<Queries, Keys, X, every_key, in_formula, by_value> {
    using call = call_of<Queries, Keys, X, every_key, in_formula, by_value>;
    using result = typename call::layout;
    using value = Result;
    static constexpr std::uint64_t flops =
        call::sequences *
        Layer::sizes.flops(Queries::size, Keys::size, std::uint64_t{Queries::size} * Keys::size);
    static constexpr std::size_t tables =
        numbers::template table_bytes<Queries::size> +
        (Queries::size == Keys::size ? 0 : numbers::template table_bytes<Keys::size>);
  };
  template <class X, class... YZ>
  struct steps : steps_of<positions<X>, positions<X>, X> {};
  template <class X, class Y, class Z>
  struct steps<X, Y, Z> : steps_of<queries<X>, keys<Y>, X> {};
};

template <class Layer, class... Options>
using calls_of_attention = self_attention_calls<
    quantized<Layer, Options...>,
    attention_forms<Layer, softmax_of<Options...>, result_of<Options...>>, say::quantized,
    say::
        expects_a_sequence_or_queries_and_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace_or_parallel>;
}  // namespace detail::integers

// Self-attention of x, or queries x to keys y and values z, int8, row-major: (batch,) positions,
// hidden. Returns int8 or int16 (output_as<>) with the axes of the queries.
template <class T, class Hidden, class Heads, class... OfLayer, class... Options>
class quantized<multi_head_attention<T, Hidden, Heads, OfLayer...>, Options...>
    : public detail::integers::calls_of_attention<
          multi_head_attention<T, Hidden, Heads, OfLayer...>, Options...>,
      public detail::integers::made_of_weights<
          multi_head_attention<T, Hidden, Heads, OfLayer...>,
          detail::integers::packed_attention<multi_head_attention<T, Hidden, Heads, OfLayer...>,
                                             detail::integers::softmax_of<Options...>,
                                             detail::integers::result_of<Options...>>> {
  using base = detail::integers::made_of_weights<
      multi_head_attention<T, Hidden, Heads, OfLayer...>,
      detail::integers::packed_attention<multi_head_attention<T, Hidden, Heads, OfLayer...>,
                                         detail::integers::softmax_of<Options...>,
                                         detail::integers::result_of<Options...>>>;
  using typename base::numbers;

 public:
  using typename base::layer;
  using result_type = detail::integers::result_of<Options...>;
  using softmax_type = detail::integers::softmax_of<Options...>;
  using input_type = std::int8_t;
  template <class Derived>
  using calls = quantized;  // the layer's calls, for a cache

 private:
  using forms = detail::integers::attention_forms<layer, softmax_type, result_type>;
  static_assert(detail::reported<detail::first_error<
                    detail::integers::attention_has_integers<layer>,
                    detail::rules::options<
                        detail::say::quantized,
                        detail::option_kinds<detail::option::output_as, detail::option::softmax_as>,
                        Options...>,
                    detail::rules::integer_result<result_type>,
                    detail::rules::integer_softmax<softmax_type>>>::ok,
                "umbel: shapes do not fit");

 public:
  // Scratch for one call at a time.
  template <class... Positions>
  using workspace = typename numbers::template scratch_for<
      detail::rules::first_positions<typename layer::widths, 2, Positions...>(),
      detail::rules::second_positions<typename layer::widths, Positions...>()>;

  using base::base;
  using base::calibrate;
  // layer{w}(x, mask), whose tensors widen the ranges.
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            mask_like Mask = detail::every_key>
  static constexpr auto calibrate(Seen& seen, const typename layer::weights_view& w, const X& x,
                                  const Mask& mask = {}) noexcept {
    return observed(seen, w, mask, x);
  }
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X, detail::tensor_like Y,
            detail::tensor_like Z, mask_like Mask = detail::every_key>
  static constexpr auto calibrate(Seen& seen, const typename layer::weights_view& w, const X& x,
                                  const Y& y, const Z& z, const Mask& mask = {}) noexcept {
    return observed(seen, w, mask, x, y, z);
  }

  // See footprint.
  template <class X>
  static detail::integers::call_if<typename forms::template self_fits<X>, forms::template steps, X>
  call_on(const X&);
  template <class X, class Y, class Z>
  static detail::integers::call_if<typename forms::template cross_fits<X, Y, Z>,
                                   forms::template steps, X, Y, Z>
  call_on(const X&, const Y&, const Z&);

 private:
  template <class Seen, class Mask, class... X>
  static constexpr auto observed(Seen& seen, const typename layer::weights_view& w,
                                 const Mask& mask, const X&... x) noexcept {
    using fits = detail::rules::calibrated_by_all_rows<Mask>;
    static_assert(detail::report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      observe_inputs(seen, w, x...);
      auto result = layer{w}(x..., mask);
      detail::integers::widen(seen.output, result.data(), result.size());
      return result;
    } else {
      return detail::invalid{};
    }
  }
  template <class Seen, class X>
  static constexpr void observe_inputs(Seen& seen, const typename layer::weights_view& w,
                                       const X& x) noexcept {
    observe_inputs(seen, w, x, x, x);
  }
  template <class Seen, class X, class Y, class Z>
  static constexpr void observe_inputs(Seen& seen, const typename layer::weights_view& w,
                                       const X& x, const Y& y, const Z& z) noexcept {
    using namespace detail::integers;
    const auto xs = contiguous(x);
    const auto ys = contiguous(y);
    const auto zs = contiguous(z);
    widen(seen.queries, xs.data(), xs.size());
    widen(seen.keys, ys.data(), ys.size());
    widen(seen.values, zs.data(), zs.size());
    observe_projections<layer>(seen, w, xs, ys, zs);
  }
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
