// SPDX-License-Identifier: BSL-1.0
// multi_head_attention: the layer (Vaswani et al. 2017, "Attention Is All You Need"). Queries, keys
// and values are projected, split into heads, attended head by head, put together again and
// projected once more:
//
//   using attention = multi_head_attention<float, hidden<100>, heads<5>, bias<true>>;
//   static attention::weights w;
//   attention{w}(x)                      self-attention
//   attention{w}(x, y, y, valid_lens)    of queries x to keys and values y
//
// It allocates nothing and throws nothing. One head is kernel/attend.hpp; the readable form of the
// same is spelled out in examples/02_spelled_out.cpp.
#pragma once

#include <umbel/attention/mask.hpp>
#include <umbel/attention/projection.hpp>
#include <umbel/kernel/attend.hpp>

namespace umbel {

namespace detail {

// Where a batch of sequences lies: elements from one sequence, position or feature to the next.
struct sequence_strides {
  std::size_t batch, position, feature;
};

template <class Layout, class Position, class Hidden>
inline constexpr sequence_strides strides_along = {Layout::template stride_of<rules::batch_family>,
                                                   Layout::template stride_of<Position>,
                                                   Layout::template stride_of<Hidden>};

template <class T>
constexpr T softmax_scale(std::size_t head_dim) noexcept {
  return static_cast<T>(1 / simd::sqrt(static_cast<double>(head_dim)));
}

constexpr std::size_t round_up(std::size_t value, std::size_t step) noexcept {
  return (value + step - 1) / step * step;
}

// The layer for sequences of known sizes: everything but names. Work goes sequence by sequence, so
// that scratch does not grow with the batch.
template <class T, std::size_t Hidden, std::size_t Heads, bool Bias, std::size_t Queries,
          std::size_t Keys>
struct multi_head_forward {
  static constexpr std::size_t head_dim = Hidden / Heads;
  static constexpr std::size_t lanes = plan::lanes<T>(plan::native_target);
  static constexpr std::size_t row = round_up(Hidden, lanes);
  // The context is written transposed, (feature, query): that is how it leaves the registers.
  static constexpr std::size_t room = round_up(Queries, lanes);
  static constexpr kernel::attend_shape head = {.queries = Queries,
                                                .keys = Keys,
                                                .head_dim = head_dim,
                                                .value_dim = head_dim,
                                                .q_row = row,
                                                .q_dim = 1,
                                                .k_row = row,
                                                .k_dim = 1,
                                                .v_row = row,
                                                .v_dim = 1,
                                                .o_row = 1,
                                                .o_dim = room,
                                                .o_room = room};

  struct workspace : workspace_base {
    alignas(64) T q[Queries * row];
    alignas(64) T k[Keys * row];
    alignas(64) T v[Keys * row];
    alignas(64) T context[Hidden * room];
    alignas(64) T scratch[kernel::attend_scratch<head, T>];
  };

  template <std::size_t Rows, sequence_strides From>
  static constexpr kernel::linear_shape project_in = {Rows,         Hidden, Hidden, From.position,
                                                      From.feature, row,    1,      Bias};
  template <sequence_strides To>
  static constexpr kernel::linear_shape project_out = {Queries, Hidden,      Hidden,     1,
                                                       room,    To.position, To.feature, Bias};

  // One sequence. Keys and values past `count` are not attended to: whatever they hold, it does not
  // reach the result.
  template <sequence_strides X, sequence_strides Y, sequence_strides Z, sequence_strides Out,
            class Parameters, class Count>
  static constexpr void run(const Parameters& p, const T* x, const T* y, const T* z, Count count,
                            T* out, workspace& work) noexcept {
    constexpr T scale = softmax_scale<T>(head_dim);
    p.q.template run<project_in<Queries, X>>(x, work.q);
    p.k.template run<project_in<Keys, Y>>(y, work.k);
    p.v.template run<project_in<Keys, Z>>(z, work.v);
    for (std::size_t h = 0; h < Heads; ++h) {
      const T* const q = work.q + h * head_dim;
      const T* const k = work.k + h * head_dim;
      const T* const v = work.v + h * head_dim;
      T* const o = work.context + h * head_dim * room;
      if constexpr (std::is_same_v<Count, every_key>) {
        if (std::is_constant_evaluated())
          kernel::plain::attend<head>(q, k, v, scale, Keys, o);
        else
          kernel::attend_all<head>(q, k, v, scale, o, work.scratch);
      } else {
        if (std::is_constant_evaluated())
          kernel::plain::attend<head>(q, k, v, scale, count, o);
        else
          kernel::attend<head>(q, k, v, scale, count, o, work.scratch);
      }
    }
    p.o.template run<project_out<Out>>(work.context, out);
  }
};

// The result is a new tensor, not memory of the caller's.
struct by_value {};

// operator() of the layer and of prepacked<layer>; Derived::parameters() is what differs.
template <class Derived, class Layer>
struct multi_head_calls : operation {
  // Self-attention of x: an optional batch axis, hidden, and one axis of any name along which the
  // positions lie. Gives a row-major tensor of the same axes.
  //   valid_lens  (batch) integers, or all_keys; see mask.hpp
  //   work        a Layer::workspace<sequence axis>; without one, scratch is on the stack, up to
  //               UMBEL_STACK_BUDGET bytes
  template <tensor_like X, lengths Lens = every_key, workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Lens& valid_lens = {},
                            Workspace&& work = {}) const noexcept {
    return Layer::attend_self(self(), x, valid_lens, work, by_value{});
  }

  // Queries (batch, query, hidden) to keys and values (batch, key, hidden), in any order of axes,
  // batch optional. Gives a row-major tensor of the axes of the queries. work: a
  // Layer::workspace<query<..>, key<..>>.
  template <tensor_like X, tensor_like Y, tensor_like Z, lengths Lens = every_key,
            workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Y& y, const Z& z, const Lens& valid_lens = {},
                            Workspace&& work = {}) const noexcept {
    return Layer::attend_to(self(), x, y, z, valid_lens, work, by_value{});
  }

  // The same, written into a tensor or view of the axes of x (of the queries), in any order and with
  // any strides. out must not overlap the arguments.
  template <tensor_like Out, tensor_like X, lengths Lens = every_key,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Lens& valid_lens = {},
                      Workspace&& work = {}) const noexcept {
    Layer::attend_self(self(), x, valid_lens, work, out);
  }
  template <tensor_like Out, tensor_like X, tensor_like Y, tensor_like Z, lengths Lens = every_key,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Y& y, const Z& z, const Lens& valid_lens = {},
                      Workspace&& work = {}) const noexcept {
    Layer::attend_to(self(), x, y, z, valid_lens, work, out);
  }

  // Any other arguments: a sentence says which there may be. One bug is one error.
  template <class... Arguments>
  constexpr invalid operator()(const Arguments&...) const noexcept {
    static_assert(
        report<rules::arguments<
            say::attention,
            say::takes_a_sequence_or_queries_and_keys_and_values_then_valid_lens_then_a_workspace,
            Arguments...>>::ok,
        "umbel: shapes do not fit");
    return {};
  }
  template <class... Arguments>
  constexpr void into(const Arguments&...) const noexcept {
    static_assert(
        report<rules::arguments<
            say::attention,
            say::takes_a_sequence_or_queries_and_keys_and_values_then_valid_lens_then_a_workspace,
            Arguments...>>::ok,
        "umbel: shapes do not fit");
  }

 private:
  constexpr const auto& self() const noexcept {
    return static_cast<const Derived*>(this)->parameters();
  }
};

}  // namespace detail

// T: float or double. Hidden, Heads: hidden<100>, heads<5>; heads must divide hidden. Options:
// bias<true|false> for all four projections; without it there is none.
template <class T, class Hidden, class Heads, class... Options>
class multi_head_attention
    : public detail::multi_head_calls<multi_head_attention<T, Hidden, Heads, Options...>,
                                      multi_head_attention<T, Hidden, Heads, Options...>> {
  static_assert(report<rules::multi_head<T, Hidden, Heads, Options...>>::ok,
                "umbel: shapes do not fit");

 public:
  static constexpr bool has_bias = option_or<option::bias, bias<false>, Options...>::value;
  using value_type = T;
  using hidden_axis = typename Hidden::plain;
  template <class Derived>
  using calls = detail::multi_head_calls<Derived, multi_head_attention>;

  // The four projections, hidden to hidden, in one of the forms of projection.hpp.
  template <class Form>
  struct parameters_in {
    using projection = typename Form::template linear<T, hidden_axis, hidden_axis, has_bias>;
    projection q, k, v, o;
  };
  using weights = parameters_in<form::owned>;
  struct weights_view : parameters_in<form::borrowed> {
    using projection = typename parameters_in<form::borrowed>::projection;
    constexpr weights_view(const projection& q, const projection& k, const projection& v,
                           const projection& o) noexcept
        : parameters_in<form::borrowed>{q, k, v, o} {}
    constexpr weights_view(const weights& w) noexcept : weights_view(w.q, w.k, w.v, w.o) {}
    constexpr weights_view(const weights&& w) noexcept : weights_view(w) {
      static_assert(report<rules::weights_with_a_name<say::attention, (sizeof(T) == 0)>>::ok,
                    "umbel: shapes do not fit");
    }
  };
  struct packed_weights : parameters_in<form::packed> {
    using projection = typename parameters_in<form::packed>::projection;
    constexpr explicit packed_weights(const weights_view& w) noexcept
        : parameters_in<form::packed>{projection(w.q), projection(w.k), projection(w.v),
                                      projection(w.o)} {}
  };

  // Scratch for one call at a time; its contents between calls do not matter. sizeof is its cost.
  template <class Queries, class Keys = Queries>
  using workspace = typename detail::multi_head_forward<T, Hidden::size, Heads::size, has_bias,
                                                        Queries::size, Keys::size>::workspace;

  // The weights are borrowed: they must outlive the layer.
  constexpr explicit multi_head_attention(const weights_view& w) noexcept : parameters_(w) {}
  template <detail::foreign_weights<weights_view, multi_head_attention> Other>
  constexpr explicit multi_head_attention(const Other&) noexcept
      : parameters_(detail::no_weights<weights_view>()) {
    static_assert(report<rules::weights_of_this_layer<say::attention, (sizeof(Other) == 0)>>::ok,
                  "umbel: shapes do not fit");
  }
  [[nodiscard]] constexpr const weights_view& parameters() const noexcept { return parameters_; }

  // How a call comes in, from the layer and from prepacked<layer> alike.
  template <class Parameters, class X, class Lens, class Workspace, class Out>
  static constexpr auto attend_self(const Parameters& p, const X& x, const Lens& valid_lens,
                                    Workspace& work, Out&& out) noexcept {
    using layout = typename X::layout;
    using verdict = first_error<rules::no_second_sequence<say::attention, Lens>,
                                rules::self_attend<say::attention, X, T, hidden_axis>,
                                rules::lengths_fit<say::attention, Lens, layout>,
                                rules::out_fits<say::attention, Out, X>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using sequence = rules::sequence_family<layout, hidden_axis>;
      using call =
          call_of<layout, sequence, layout, sequence, Workspace, shape<axis_of<layout, sequence>>>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) return call::run(p, x, x, x, valid_lens, work, out);
      if constexpr (!call::verdict::ok) return invalid{};
    } else {
      return invalid{};
    }
  }
  template <class Parameters, class X, class Y, class Z, class Lens, class Workspace, class Out>
  static constexpr auto attend_to(const Parameters& p, const X& x, const Y& y, const Z& z,
                                  const Lens& valid_lens, Workspace& work, Out&& out) noexcept {
    using verdict = first_error<
        rules::attend_to<say::attention, X, Y, Z, T, hidden_axis>,
        rules::lengths_fit<say::attention, Lens, typename X::layout, say::but_the_queries>,
        rules::out_fits<say::attention, Out, X>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using from = typename X::layout;
      using keys = typename Y::layout;
      using call =
          call_of<from, rules::query_family, keys, rules::key_family, Workspace,
                  shape<axis_of<from, rules::query_family>, axis_of<keys, rules::key_family>>>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) return call::run(p, x, y, z, valid_lens, work, out);
      if constexpr (!call::verdict::ok) return invalid{};
    } else {
      return invalid{};
    }
  }

 private:
  // A call whose shapes fit: the axes along which queries and keys lie, and where scratch is. Sizes
  // is for the sentence.
  template <class From, class QueryAxis, class KeyLayout, class KeyAxis, class Workspace,
            class Sizes>
  struct call_of {
    static constexpr std::size_t keys = KeyLayout::template size_of<KeyAxis>;
    using steps = detail::multi_head_forward<T, Hidden::size, Heads::size, has_bias,
                                             From::template size_of<QueryAxis>, keys>;
    using scratch = typename steps::workspace;
    using verdict = rules::scratch_fits<say::attention, Workspace, scratch, Sizes>;

    template <class Parameters, class X, class Y, class Z, class Lens, class Out>
    static constexpr auto run(const Parameters& p, const X& x, const Y& y, const Z& z,
                              const Lens& valid_lens, Workspace& work, Out& out) noexcept {
      if constexpr (std::is_same_v<std::remove_const_t<Out>, detail::by_value>) {
        tensor_of<T, row_major<From>> result;
        run(p, x, y, z, valid_lens, work, result);
        return result;
      } else if constexpr (std::is_same_v<Workspace, on_stack>) {
        scratch own;
        sequences(p, x, y, z, valid_lens, out, own);
      } else {
        sequences(p, x, y, z, valid_lens, out, work);
      }
    }

    template <class Parameters, class X, class Y, class Z, class Lens, class Out>
    static constexpr void sequences(const Parameters& p, const X& x, const Y& y, const Z& z,
                                    const Lens& valid_lens, Out& out, scratch& work) noexcept {
      using family = typename Hidden::family;
      constexpr auto xs = detail::strides_along<From, QueryAxis, family>;
      constexpr auto ys = detail::strides_along<KeyLayout, KeyAxis, family>;
      constexpr auto zs = detail::strides_along<typename Z::layout, KeyAxis, family>;
      constexpr auto outs = detail::strides_along<typename Out::layout, QueryAxis, family>;
      constexpr bool batched = From::template has<rules::batch_family>;
      constexpr std::size_t count = batched ? From::template size_of<rules::batch_family> : 1;
      for (std::size_t b = 0; b < count; ++b)
        steps::template run<xs, ys, zs, outs>(
            p, x.data() + b * xs.batch, y.data() + b * ys.batch, z.data() + b * zs.batch,
            detail::keys_that_count(valid_lens, b, keys), out.data() + b * outs.batch, work);
    }
  };

  weights_view parameters_;
};

// Would a call compile? Generic code asks first: attends<attention, queries, context, context>.
template <class Layer, class X, class Y, class Z>
concept attends = rules::attend_to < say::attention,
        std::remove_cvref_t<X>, std::remove_cvref_t<Y>, std::remove_cvref_t<Z>,
typename Layer::value_type, typename Layer::hidden_axis > ::ok;
template <class Layer, class X>
concept attends_to_itself = rules::self_attend < say::attention,
        std::remove_cvref_t<X>,
typename Layer::value_type, typename Layer::hidden_axis > ::ok;

}  // namespace umbel
