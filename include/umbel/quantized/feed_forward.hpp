// SPDX-License-Identifier: BSL-1.0
// The feed-forward network in int8. An activation is a table of 256 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/feed_forward.hpp>
#include <umbel/config.hpp>
#include <umbel/quantized/linear.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

// Before and after the activation; for a gated network also the gate, and the product of both.
template <class Range>
struct feed_forward_ranges {
  static constexpr const char* part_names[] = {"input", "up", "activated", "output"};
  Range input, up, activated, output;
};
template <class Range>
struct gated_feed_forward_ranges {
  static constexpr const char* part_names[] = {"input",     "gate",    "up",
                                               "activated", "product", "output"};
  Range input, gate, up, activated, product, output;
};
template <class Layer, class Range = range>
using ranges_of_feed_forward = std::conditional_t<Layer::is_gated, gated_feed_forward_ranges<Range>,
                                                  feed_forward_ranges<Range>>;

struct feed_forward_units {
  double input, gate, up, activated, product, output;
};

// The tensors of a network, in a block or alone, from its ranges.
template <bool Gated, class Seen>
constexpr feed_forward_units units_of_feed_forward(const Seen& seen, double input,
                                                   double output) noexcept {
  feed_forward_units u{input, 0, int8_unit(seen.up), int8_unit(seen.activated), 0, output};
  if constexpr (Gated) {
    u.gate = int8_unit(seen.gate);
    u.product = int8_unit(seen.product);
  }
  return u;
}

template <class Layer>
struct feed_forward_numbers {
  static constexpr std::size_t narrow = Layer::hidden_axis::size, wide = Layer::wide_axis::size;
  static constexpr bool is_gated = Layer::is_gated;
  kernel::integer_panels<narrow, wide> up;
  kernel::integer_panels<wide, narrow> down;
  struct nothing_more {};
  UMBEL_NO_UNIQUE_ADDRESS
  std::conditional_t<is_gated, kernel::integer_panels<narrow, wide>, nothing_more> gate;
  kernel::plain::integer_unit product;  // of a gate times up
  std::int8_t table[256]{};

  template <class View>
  constexpr void pack_network(
      const View& w, const feed_forward_units& u,
      factors_of_features<typename Layer::value_type> factors = {}) noexcept {
    pack_map(up, w.up, u.input, u.up);
    if constexpr (is_gated) {
      pack_map(gate, w.gate, u.input, u.gate);
      pack_table<typename Layer::activate>(table, u.gate, u.activated);
      product = unit(u.activated * u.up, u.product);
      pack_map(down, w.down, u.product, u.output, factors);
    } else {
      pack_table<typename Layer::activate>(table, u.up, u.activated);
      pack_map(down, w.down, u.activated, u.output, factors);
    }
  }

  template <std::size_t Rows>
  struct scratch_for : workspace_base {
    using positions = std::index_sequence<Rows>;
    alignas(64) std::int8_t expanded[(is_gated ? 2 : 1) * Rows * wide];
  };
  template <std::size_t Rows, class T, class Finish, class Work>
  constexpr void feed(const std::int8_t* x, T* y, const Finish& finish, Work& work) const noexcept {
    using kernel::integer_linear, kernel::integer_linear_shape;
    constexpr integer_linear_shape widened = {Rows, narrow, wide, narrow, wide};
    constexpr integer_linear_shape reduced = {Rows, wide, narrow, wide, narrow};
    std::int8_t* const to = work.expanded;
    if constexpr (is_gated) {
      std::int8_t* const gates = work.expanded + Rows * wide;
      integer_linear<widened>(up, x, to, kernel::finish::as_int8{});
      integer_linear<widened>(gate, x, gates, kernel::finish::by_table{table});
      kernel::integer_product<Rows * wide>(gates, to, product, to);
    } else {
      integer_linear<widened>(up, x, to, kernel::finish::by_table{table});
    }
    integer_linear<reduced>(down, to, y, finish);
  }
};

// Result: the type of the result.
template <class Layer, class Result>
struct packed_feed_forward : feed_forward_numbers<Layer> {
  using ranges = ranges_of_feed_forward<Layer>;
  using histograms = ranges_of_feed_forward<Layer, magnitude_histogram>;
  template <class View>
  constexpr void pack_seen(const View& w, const ranges& seen) noexcept {
    this->pack_network(
        w, units_of_feed_forward<Layer::is_gated>(
               seen, int8_unit(seen.input), unit_of<Result>(static_cast<double>(seen.output()))));
  }
};

// The float layer on x, whose tensors widen up, activated (gate, product).
template <class Layer, class Seen, class View, class X>
constexpr auto observe_network(Seen& seen, const View& w, const X& x) noexcept {
  using T = typename Layer::value_type;
  using up_map =
      linear<T, typename Layer::hidden_axis, typename Layer::wide_axis, bias<Layer::has_bias>>;
  using down_map =
      linear<T, typename Layer::wide_axis, typename Layer::hidden_axis, bias<Layer::has_bias>>;
  auto up = up_map{w.up}(x);
  widen(seen.up, up.data(), up.size());
  if constexpr (Layer::is_gated) {
    auto gate = up_map{w.gate}(x);
    widen(seen.gate, gate.data(), gate.size());
    for (std::size_t i = 0; i < gate.size(); ++i) {
      T& g = gate.data()[i];
      g = Layer::activate::of(g);
      widen(seen.activated, &g, 1);
      up.data()[i] *= g;
    }
    widen(seen.product, up.data(), up.size());
  } else {
    for (std::size_t i = 0; i < up.size(); ++i) up.data()[i] = Layer::activate::of(up.data()[i]);
    widen(seen.activated, up.data(), up.size());
  }
  return down_map{w.down}(up);
}

}  // namespace detail::integers

// x: int8, any axes with Hidden last. Returns int8 or int16 (output_as<>) with the same axes.
template <class T, class Hidden, class FeedForward, class... OfLayer, class... Options>
class quantized<feed_forward<T, Hidden, FeedForward, OfLayer...>, Options...>
    : public detail::other_calls_and_into<detail::say::quantized,
                                          detail::say::expects_a_sequence_then_a_workspace>,
      public detail::integers::made_of_weights<
          feed_forward<T, Hidden, FeedForward, OfLayer...>,
          detail::integers::packed_feed_forward<feed_forward<T, Hidden, FeedForward, OfLayer...>,
                                                detail::integers::result_of<Options...>>> {
  using base = detail::integers::made_of_weights<
      feed_forward<T, Hidden, FeedForward, OfLayer...>,
      detail::integers::packed_feed_forward<feed_forward<T, Hidden, FeedForward, OfLayer...>,
                                            detail::integers::result_of<Options...>>>;

 public:
  using typename base::layer;
  using result_type = detail::integers::result_of<Options...>;
  using input_type = std::int8_t;
  template <class... Rows>
  using workspace = typename base::numbers::template scratch_for<
      detail::rules::first_positions<detail::shape<typename layer::hidden_axis>, 1, Rows...>()>;
  using calls_refused =
      detail::other_calls_and_into<detail::say::quantized,
                                   detail::say::expects_a_sequence_then_a_workspace>;
  using calls_refused::operator();
  using calls_refused::into;
  using calls_refused::workspace_of;

 private:
  static_assert(
      detail::reported<detail::first_error<
          detail::rules::inputs_fit<typename layer::hidden_axis>,
          detail::rules::inputs_fit<typename layer::wide_axis>,
          detail::rules::options<detail::say::quantized,
                                 detail::option_kinds<detail::option::output_as>, Options...>,
          detail::rules::integer_result<result_type>>>::ok,
      "umbel: shapes do not fit");

 public:
  using base::base;
  using base::calibrate;
  // layer{w}(x), whose tensors widen the ranges.
  template <detail::integers::seen_by<quantized> Seen, class X>
  static constexpr auto calibrate(Seen& seen, const typename layer::weights_view& w,
                                  const X& x) noexcept {
    detail::integers::widen(seen.input, x.data(), x.size());
    auto y = detail::integers::observe_network<layer>(seen, w, x);
    detail::integers::widen(seen.output, y.data(), y.size());
    return y;
  }

  template <detail::tensor_like X, workspace_like Workspace = detail::on_stack>
  constexpr auto operator()(const X& x, Workspace&& work = {}) const noexcept {
    return run(x, work, detail::by_value{});
  }
  template <detail::tensor_like Out, detail::tensor_like X,
            workspace_like Workspace = detail::on_stack>
  constexpr void into(Out&& out, const X& x, Workspace&& work = {}) const noexcept {
    run(x, work, static_cast<Out&&>(out));
  }

  // See workspace_for.
  template <detail::tensor_like X>
  static auto workspace_of(const X&) {
    using verdict = detail::rules::rows_of_integers<X, std::int8_t, typename layer::hidden_axis>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return detail::of_type<typename steps<X>::scratch>();
    else
      return detail::invalid{};
  }

 private:
  template <class X>
  struct steps {
    using layout = detail::layout_of<X>;
    using verdict = detail::accepted;
    using scratch = workspace<typename detail::rows_axis<layout>::type>;
    using result = detail::row_major<layout>;
    using value = result_type;
    static constexpr std::uint64_t flops =
        layer::flops_of(layout::count / layer::hidden_axis::size);
  };

 public:
  // See footprint.
  template <class X>
  static detail::integers::call_if<
      detail::rules::rows_of_integers<X, std::int8_t, typename layer::hidden_axis>, steps, X>
  call_on(const X&);

 private:
  template <class X, class Workspace, class Out>
  constexpr auto run(const X& x, Workspace& work, Out&& out) const noexcept {
    using namespace detail;
    using layout = layout_of<X>;
    using hidden = typename layer::hidden_axis;
    using verdict = first_error<rules::rows_of_integers<X, std::int8_t, hidden>,
                                rules::row_major_out<say::quantized, Out, result_type, layout>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using rows = typename rows_axis<layout>::type;
      using scratch = workspace<rows>;
      using fit = rules::scratch_fits<say::quantized, Workspace, scratch, shape<rows>>;
      static_assert(report<fit>::ok, "umbel: shapes do not fit");
      constexpr std::size_t elements_of_batch = rows::size * hidden::size;
      if constexpr (fit::ok)
        return computed<tensor_of<result_type, row_major<layout>>, scratch>(
            out, work, [&](auto& y, scratch& buffers) UMBEL_LAMBDA_INLINE {
              for (std::size_t b = 0; b < layout::count / elements_of_batch; ++b)
                this->get_weights().template feed<rows::size>(
                    x.data() + b * elements_of_batch, y.data() + b * elements_of_batch,
                    integers::finish_as<result_type>{}, buffers);
            });
      else
        return invalid{};
    } else {
      return invalid{};
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
