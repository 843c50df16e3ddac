// SPDX-License-Identifier: BSL-1.0
// Multi-head attention in integers: projections, softmax and values in 8 bits, sums in 32.
//
// Masks: which keys a query sees (lengths, keep_mask, causal, windows, and their like). What
// changes scores or drops weights has no form in integers and is refused by name; so are softcap
// and empty_rows<uniform_weights>. A query that sees no key gets zeros from the heads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/transformer.hpp>
#include <umbel/config.hpp>
#include <umbel/quantized/attention_numbers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
// Self-attention of x, or queries x to keys y and values z, int8, row-major: (batch,) positions,
// hidden. Gives int8 or int16 (gives<>) of the axes of the queries.
template <class T, class Hidden, class Heads, class... OfLayer, class... Options>
class quantized<multi_head_attention<T, Hidden, Heads, OfLayer...>, Options...>
    : public detail::other_calls_with_mask<
          detail::say::quantized,
          detail::say::
              takes_a_sequence_or_queries_and_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace>,
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
  using calls = quantized;  // what a cache takes for the layer

 private:
  static_assert(
      detail::reported<detail::first_error<
          detail::integers::attention_has_integers<layer>,
          detail::rules::options<
              detail::say::quantized,
              detail::option_kinds<detail::option::gives, detail::option::softmax_as>, Options...>,
          detail::rules::integer_result<result_type>,
          detail::rules::integer_softmax<softmax_type>>>::ok,
      "umbel: shapes do not fit");

 public:
  // Scratch for one call at a time.
  template <class... Positions>
  using workspace = typename numbers::template scratch_for<
      detail::rules::first_positions<typename layer::widths, 2, Positions...>,
      detail::rules::second_positions<typename layer::widths, Positions...>>;

  using calls_refused = detail::other_calls_with_mask<
      detail::say::quantized,
      detail::say::
          takes_a_sequence_or_queries_and_keys_and_values_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace>;
  using calls_refused::operator();
  using calls_refused::into;

  using base::base;
  using base::observe;
  // layer{w}(x, mask), whose tensors widen the ranges.
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            mask_like Mask = detail::every_key>
  static constexpr auto observe(Seen& seen, const typename layer::weights_view& w, const X& x,
                                const Mask& mask = {}) noexcept {
    observe_inputs(seen, w, x, x, x);
    auto y = layer{w}(x, mask);
    detail::integers::widen(seen.output, y.data(), y.size());
    return y;
  }
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X, detail::tensor_like Y,
            detail::tensor_like Z, mask_like Mask = detail::every_key>
  static constexpr auto observe(Seen& seen, const typename layer::weights_view& w, const X& x,
                                const Y& y, const Z& z, const Mask& mask = {}) noexcept {
    observe_inputs(seen, w, x, y, z);
    auto result = layer{w}(x, y, z, mask);
    detail::integers::widen(seen.output, result.data(), result.size());
    return result;
  }

  template <detail::tensor_like X, mask_like Mask = detail::every_key,
            workspace_like Workspace = detail::on_stack>
  constexpr auto operator()(const X& x, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    return attend_self(x, mask, work, detail::by_value{});
  }
  template <detail::tensor_like X, detail::tensor_like Y, detail::tensor_like Z,
            mask_like Mask = detail::every_key, workspace_like Workspace = detail::on_stack>
  constexpr auto operator()(const X& x, const Y& y, const Z& z, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    return attend_to(x, y, z, mask, work, detail::by_value{});
  }
  // out must not overlap the arguments.
  template <detail::tensor_like Out, detail::tensor_like X, mask_like Mask = detail::every_key,
            workspace_like Workspace = detail::on_stack>
  constexpr void into(Out&& out, const X& x, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    attend_self(x, mask, work, static_cast<Out&&>(out));
  }
  template <detail::tensor_like Out, detail::tensor_like X, detail::tensor_like Y,
            detail::tensor_like Z, mask_like Mask = detail::every_key,
            workspace_like Workspace = detail::on_stack>
  constexpr void into(Out&& out, const X& x, const Y& y, const Z& z, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    attend_to(x, y, z, mask, work, static_cast<Out&&>(out));
  }

  // See workspace_for.
  template <detail::tensor_like X>
  static workspace<detail::axis_of<
      detail::layout_of<X>,
      detail::rules::sequence_family<detail::layout_of<X>, typename layer::hidden_axis>>>
  workspace_of(const X&);
  template <detail::tensor_like X, detail::tensor_like Y, detail::tensor_like Z>
  static workspace<detail::axis_of<detail::layout_of<X>, detail::rules::query_family>,
                   detail::axis_of<detail::layout_of<Y>, detail::rules::key_family>>
  workspace_of(const X&, const Y&, const Z&);

 private:
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

  template <class X, class Axis>
  using rows = detail::first_error<detail::rules::rows_of_integers<X, std::int8_t, Axis>,
                                   detail::rules::batch_first<detail::say::quantized, X>>;
  // The shapes of a call of one sequence, and of queries to keys and values.
  template <class X>
  using self_fits = detail::first_error<
      detail::rules::holds_these_integers<X, std::int8_t>,
      detail::rules::self_attend<detail::say::quantized, X, std::int8_t,
                                 typename layer::hidden_axis>,
      detail::rules::one_width<detail::say::quantized, typename layer::hidden_axis,
                               typename layer::keys_axis, typename layer::values_axis>,
      rows<X, typename layer::hidden_axis>>;
  template <class X, class Y, class Z>
  using cross_fits = detail::first_error<
      detail::rules::holds_these_integers<X, std::int8_t>,
      detail::rules::holds_these_integers<Y, std::int8_t>,
      detail::rules::holds_these_integers<Z, std::int8_t>,
      detail::rules::attend_to<detail::say::quantized, X, Y, Z, std::int8_t,
                               typename layer::hidden_axis, typename layer::keys_axis,
                               typename layer::values_axis>,
      rows<X, typename layer::hidden_axis>, rows<Y, typename layer::keys_axis>,
      rows<Z, typename layer::values_axis>>;

  // A call whose shapes fit: its other types, and its verdict on the rest.
  template <class Queries, class Keys, class X, class Mask, class Workspace, class Out>
  struct call_of {
    using queries = Queries;
    using keys = Keys;
    using result = typename layer::template result_of<detail::layout_of<X>>;
    using scratch = workspace<Queries, Keys>;
    using given = detail::given_workspaces<Workspace, scratch>;
    using all = typename given::all;
    using scores =
        detail::scores_of<float,
                          detail::layout_of<X>::template size_of<detail::rules::batch_family>,
                          layer::sizes.heads, Queries::size, Keys::size>;
    using mask = detail::mask_of<Mask>;
    using verdict = detail::first_error<
        detail::rules::row_major_out<detail::say::quantized, Out, result_type, result>,
        detail::rules::sums_fit<Keys, detail::integers::most_keys<softmax_type>>,
        typename detail::rules::integer_mask<
            mask, scores, detail::rules::mask_fits<detail::say::quantized, mask, scores>>::type,
        detail::rules::scratch_fits<detail::say::quantized, typename given::each, scratch,
                                    detail::shape<Queries, Keys>>>;
  };
  template <class Queries, class Keys, class X>
  struct steps_of
      : call_of<Queries, Keys, X, detail::every_key, detail::in_formula, detail::by_value> {
    using value = result_type;
    static constexpr std::uint64_t flops =
        detail::layout_of<X>::count / (Queries::size * layer::sizes.hidden) *
        layer::sizes.flops(Queries::size, Keys::size, std::uint64_t{Queries::size} * Keys::size);
    static constexpr std::size_t tables =
        numbers::template table_bytes<Queries::size> +
        (Queries::size == Keys::size ? 0 : numbers::template table_bytes<Keys::size>);
  };
  template <class X>
  using positions_of =
      detail::axis_of<detail::layout_of<X>, detail::rules::sequence_family<
                                                detail::layout_of<X>, typename layer::hidden_axis>>;
  template <class X, class Y = void, class Z = void>
  struct steps : steps_of<detail::axis_of<detail::layout_of<X>, detail::rules::query_family>,
                          detail::axis_of<detail::layout_of<Y>, detail::rules::key_family>, X> {};
  template <class X>
  struct steps<X, void, void> : steps_of<positions_of<X>, positions_of<X>, X> {};

 public:
  // See footprint.
  template <class X>
  static detail::integers::call_if<self_fits<X>, steps, X> call_on(const X&);
  template <class X, class Y, class Z>
  static detail::integers::call_if<cross_fits<X, Y, Z>, steps, X, Y, Z> call_on(const X&, const Y&,
                                                                                const Z&);

 private:
  template <class Call, class X, class Y, class Z, class Mask, class Workspace, class Out>
  constexpr auto run(const X& x, const Y& y, const Z& z, const Mask& mask, Workspace& work,
                     Out&& out) const noexcept {
    using namespace detail;
    using queries = typename Call::queries;
    using keys = typename Call::keys;
    constexpr std::size_t of_x = queries::size * layer::sizes.hidden;
    constexpr std::size_t of_y = keys::size * layer::sizes.key_hidden;
    constexpr std::size_t of_z = keys::size * layer::sizes.value_hidden;
    constexpr std::size_t of_out = queries::size * layer::sizes.output;
    const auto& masks = as_mask(mask);
    return computed<tensor_of<result_type, typename Call::result>, typename Call::all>(
        out, work, [&](auto& to, auto& all) {
          const auto from = [&](std::size_t b, const auto& attend) {
            attend(x.data() + b * of_x, y.data() + b * of_y, z.data() + b * of_z,
                   at_sequence<typename Call::scores>(masks, b), to.data() + b * of_out,
                   integers::finish_as<result_type>{});
          };
          each_sequence<layout_of<X>::count / of_x>(
              all,
              [&](std::size_t b, auto& own) {
                from(b, [&](const auto&... with) {
                  this->get_weights().template attend<queries::size, keys::size>(
                      with..., own.projected, own.of_head);
                });
              },
              [&](std::size_t b, const auto& workers) {
                from(b, [&](const auto&... with) {
                  using of = std::remove_reference_t<decltype(workers)>;
                  this->get_weights().template attend_in_parts<queries::size, keys::size>(
                      with..., workers_with<&Call::scratch::projected, of>{workers},
                      [&](std::size_t worker) -> auto& { return workers.work[worker].of_head; });
                });
              });
        });
  }
  template <class X, class Mask, class Workspace, class Out>
  constexpr auto attend_self(const X& x, const Mask& mask, Workspace& work,
                             Out&& out) const noexcept {
    using namespace detail;
    using hidden = typename layer::hidden_axis;
    using verdict = first_error<rules::no_second_sequence<say::quantized, Mask>, self_fits<X>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using positions = axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, hidden>>;
      using call = call_of<positions, positions, X, Mask, Workspace, Out>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok)
        return run<call>(x, x, x, mask, work, static_cast<Out&&>(out));
      else
        return invalid{};
    } else {
      return invalid{};
    }
  }
  template <class X, class Y, class Z, class Mask, class Workspace, class Out>
  constexpr auto attend_to(const X& x, const Y& y, const Z& z, const Mask& mask, Workspace& work,
                           Out&& out) const noexcept {
    using namespace detail;
    using verdict = cross_fits<X, Y, Z>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using call = call_of<axis_of<layout_of<X>, rules::query_family>,
                           axis_of<layout_of<Y>, rules::key_family>, X, Mask, Workspace, Out>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok)
        return run<call>(x, y, z, mask, work, static_cast<Out&&>(out));
      else
        return invalid{};
    } else {
      return invalid{};
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
