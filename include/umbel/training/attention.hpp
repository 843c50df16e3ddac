// SPDX-License-Identifier: BSL-1.0
// Attention between its projections, softmax(scale q k^T) v for all heads of all sequences, as a
// step of the graph of a gradient: forward it keeps two numbers a query and head, the maximum and 1
// over the sum of its softmax; backward the weights are computed from them anew, so that memory
// grows with the tokens and not with their square (FlashAttention, Dao et al. 2022).
#pragma once

#include <umbel/attention/multi_head.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/kernel/attend_backward.hpp>
#include <umbel/kernel/plain_attend_backward.hpp>
#include <umbel/training/layers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// In the place of weights: there are none.
struct without_weights {};
template <class T>
struct kept<T, without_weights> {
  static constexpr std::size_t count = 1;
  template <bool>
  static constexpr void take(const without_weights&, captured<T>*) noexcept {}
  static constexpr without_weights given(const captured<T>*) noexcept { return {}; }
};

// Q, K, V: views of queries, keys and values as they are projected, all heads of a position beside
// each other, row-major. KeyAxis: the family along which keys lie; QueryAxis: queries.
template <class Layer, class QueryAxis, class KeyAxis, class Q, class K, class V>
struct attend_steps {
  using T = typename Layer::value_type;
  using family = typename Layer::hidden_axis::family;
  using of_queries = layout_of<Q>;
  using of_keys = layout_of<K>;
  using of_values = layout_of<V>;
  static constexpr head_sizes sizes = Layer::sizes;
  static constexpr std::size_t queries = of_queries::template size_of<QueryAxis>;
  static constexpr std::size_t keys = of_keys::template size_of<KeyAxis>;
  static constexpr std::size_t sequences = of_queries::count / (queries * sizes.query_width());
  using scores =
      scores_of<T, of_queries::template size_of<rules::batch_family>, sizes.heads, queries, keys>;
  using result = row_major<layout_with_axes<typename algebra::detail::replace_axes<
      of_queries, of_queries::template position<family>, 1,
      umbel::detail::shape<typename Layer::template width<sizes.context_width()>>>::type>>;
  using rotary = typename Layer::rotary;
  static constexpr bool rotates = !std::is_same_v<typename Layer::rope_option, no_rope>;

  static constexpr std::size_t q_row = sizes.query_width(), k_row = sizes.key_width(),
                               v_row = sizes.value_width(), o_row = sizes.context_width();
  static constexpr kernel::attend_shape head = {
      queries, keys, sizes.head_dim, sizes.value_dim, q_row, 1, k_row, 1, v_row, 1,
      o_row,   1,    queries};
  static constexpr std::size_t share = sizes.heads / sizes.kv_heads;
  static constexpr T scale = Layer::scoring::template scale<T>(sizes.head_dim);
  static constexpr std::size_t kept = 2 * sequences * sizes.heads * queries;

  // Rotated queries and keys of a sequence, where they are.
  template <std::size_t OfKernel>
  struct scratch_with : workspace_base {
    alignas(64) T q[rotates ? queries * q_row : 1];
    alignas(64) T k[rotates ? keys * k_row : 1];
    alignas(64) T of_kernel[OfKernel];
  };
  using scratch = scratch_with<kernel::attend_kept<head, T>::scratch_size>;
  static constexpr std::uint64_t flops = 0;

  // q and k of sequence b, rotated if they are to be.
  template <class Work>
  static constexpr void rotate(const T*& q, const T*& k, Work& work) noexcept {
    if constexpr (rotates) {
      for (std::size_t i = 0; i < queries * q_row; ++i) work.q[i] = q[i];
      for (std::size_t i = 0; i < keys * k_row; ++i) work.k[i] = k[i];
      rotary::template turn<queries, sizes.heads, sizes.head_dim, q_row>(work.q);
      rotary::template turn<keys, sizes.kv_heads, sizes.head_dim, k_row>(work.k);
      q = work.q;
      k = work.k;
    }
  }
  template <class Given, class Y, class... OfMask>
  static constexpr void run(const Given& given, Y& y, scratch& work, const Q& all_q, const K& all_k,
                            const V& all_v, const OfMask&... of_mask) noexcept {
    const auto mask = given.mask(of_mask...);
    T* const statistics = y.data() + result::count;
    for (std::size_t b = 0; b < sequences; ++b) {
      const T *q = all_q.data() + b * queries * q_row, *k = all_k.data() + b * keys * k_row;
      const T* const v = all_v.data() + b * keys * v_row;
      rotate(q, k, work);
      const auto masks = at_sequence<scores>(mask, b);
      for (std::size_t h = 0; h < sizes.heads; ++h) {
        T* const maximum = statistics + (b * sizes.heads + h) * 2 * queries;
        const auto all = [&](auto attend, auto... room) {
          attend.run(q + h * sizes.head_dim, k + h / share * sizes.head_dim,
                     v + h / share * sizes.value_dim, scale,
                     Layer::scoring::template with<T>(masks(h).policy),
                     y.data() + b * queries * o_row + h * sizes.value_dim, maximum,
                     maximum + queries, room...);
        };
        if (std::is_constant_evaluated())
          all(kernel::plain::attend_kept<head>{});
        else
          all(kernel::attend_kept<head, T>{}, work.of_kernel + 0);
      }
    }
  }
  // go_on: the gradients of keys and values are added to what is there. The steps of a bias that
  // has one, along queries and keys; 0, 0: none has.
  static constexpr kernel::attend_backward_shape back(bool go_on, std::size_t bias_query = 0,
                                                      std::size_t bias_key = 0) noexcept {
    return {queries, keys,          sizes.head_dim, sizes.value_dim, q_row, k_row,
            v_row,   o_row,         q_row,          k_row,           v_row, o_row,
            go_on,   bias_key != 0, bias_query,     bias_key};
  }
};

// Which tensors of a mask are added to scores: bit i, tensor i is.
template <class Mask>
inline constexpr unsigned added_tensors = 0;
template <class X>
inline constexpr unsigned added_tensors<bias_mask<X>> = 1;
template <class A, class B>
inline constexpr unsigned added_tensors<both_masks<A, B>> =
    added_tensors<A> | added_tensors<B> << mask_in_formula<A>::operands;

// The gradient of a bias of that layout: row-major of its axes, and the steps from one element to
// the next. What all keys of a query share changes no weight: its gradient is 0.
template <class Layout>
struct bias_gradient {
  using to = row_major<Layout>;
  static constexpr std::size_t count = to::count;
  template <class Family>
  static constexpr std::size_t step = umbel::detail::broadcast_step<to, Family>;
  static constexpr std::size_t key =
      umbel::detail::broadcast_step<Layout, rules::key_family> != 0 ? step<rules::key_family> : 0;
  static constexpr std::size_t query = key != 0 ? step<rules::query_family> : 0;
  static constexpr std::size_t batch = step<rules::batch_family>, head = step<rules::heads_family>;
};
template <>
struct bias_gradient<void> {
  static constexpr std::size_t count = 0, query = 0, key = 0, batch = 0, head = 0;
};

// (Not of what shows the weights, observe(), nor of rows without keys that are given the mean of
// all values.)
template <class T, class Layer, class QueryAxis, class KeyAxis, class Q, class K, class V,
          class Mask, class... X>
  requires(std::is_same_v<typename Layer::scoring::empty, zero_weights> && !Mask::observes)
struct layer_gradient<layer_call<T, attend_steps<Layer, QueryAxis, KeyAxis, Q, K, V>,
                                 weights_and_mask<without_weights, Mask>, X...>> {
  using W = weights_and_mask<without_weights, Mask>;
  using steps = attend_steps<Layer, QueryAxis, KeyAxis, Q, K, V>;
  static constexpr head_sizes sizes = steps::sizes;

  static constexpr void describe(node_of_graph<T>& one) noexcept {
    one.run_gradient = run<bias_gradient<void>>;
    one.kept = steps::kept;
    one.gradient_scratch = scratch_for<bias_gradient<void>>;
    one.differentiated = 3;
    one.also_differentiated = biases.of;
    one.also = biases.count;
  }

 private:
  // Bias: a bias_gradient, of the tensor that has one.
  template <class Bias>
  using scratch = typename steps::template scratch_with<
      kernel::attend_backward<steps::back(false, Bias::query, Bias::key), T>::scratch_size>;
  template <class Bias>
  static constexpr std::size_t scratch_for = sizeof(scratch<Bias>) / sizeof(T);

  struct every_bias {
    layer_gradient_with<T> of[sizeof...(X)];
    std::size_t count = 0;
    template <std::size_t I, class View>
    constexpr void look_at() noexcept {
      if constexpr (I >= 3 && (added_tensors<Mask> >> (I < 3 ? 0 : I - 3) & 1) != 0)
        of[count++] = {I, run<bias_gradient<layout_of<View>>>,
                       scratch_for<bias_gradient<layout_of<View>>>};
    }
  };
  static constexpr every_bias biases = []<std::size_t... I>(std::index_sequence<I...>) {
    every_bias all;
    (all.template look_at<I, X>(), ...);
    return all;
  }(std::make_index_sequence<sizeof...(X)>{});

  template <class Bias>
  static constexpr void run(const captured<T>* parts, const captured<T>*,
                            const operand_memory<T>* from, const T* result, const T* dy, T* dx,
                            T* work) noexcept {
    with<Bias>(parts, from, result, dy, dx, work, std::make_index_sequence<sizeof...(X)>{});
  }
  template <class View>
  static constexpr View seen(const operand_memory<T>& memory) noexcept {
    if constexpr (std::is_same_v<typename View::value_type, bool>)
      return View(memory.flags);
    else
      return View(memory.numbers);
  }
  template <class Bias, std::size_t... I>
  static constexpr void with(const captured<T>* parts, const operand_memory<T>* from,
                             const T* result, const T* dy, T* dx, T* room,
                             std::index_sequence<I...>) noexcept {
    const auto given = formulas::kept<T, W>::given(parts);
    const auto mask = [&](const auto&, const auto&, const auto&, const auto&... of_mask) {
      return given.mask(of_mask...);
    }(seen<X>(from[I])...);
    auto& work = *static_cast<scratch<Bias>*>(static_cast<void*>(room));
    constexpr std::size_t queries = steps::queries, keys = steps::keys;
    const T* const statistics = result + steps::result::count;
    T* const dq = dx;
    T* const dk = dq + steps::of_queries::count;
    T* const dv = dk + steps::of_keys::count;
    T* const dbias = dv + steps::of_values::count;
    for (std::size_t i = 0; i < Bias::count; ++i) dbias[i] = T{};
    for (std::size_t b = 0; b < steps::sequences; ++b) {
      const T *q = from[0].numbers + b * queries * steps::q_row,
              *k = from[1].numbers + b * keys * steps::k_row;
      const T* const v = from[2].numbers + b * keys * steps::v_row;
      steps::rotate(q, k, work);
      T *const dq_b = dq + b * queries * steps::q_row, *const dk_b = dk + b * keys * steps::k_row;
      const auto masks = at_sequence<typename steps::scores>(mask, b);
      for (std::size_t h = 0; h < sizes.heads; ++h) {
        const T* const maximum = statistics + (b * sizes.heads + h) * 2 * queries;
        const std::size_t of_k = h / steps::share * sizes.head_dim,
                          of_v = h / steps::share * sizes.value_dim,
                          of_o = b * queries * steps::o_row + h * sizes.value_dim;
        const auto all = [&]<kernel::attend_backward_shape S>() {
          const auto policy = Layer::scoring::template with<T>(masks(h).policy);
          T* const dbias_of_head = dbias + b * Bias::batch + h * Bias::head;
          const auto run_by = [&](auto kernel, auto... scratch_of_kernel) {
            kernel.run(q + h * sizes.head_dim, k + of_k, v + of_v, result + of_o, dy + of_o,
                       steps::scale, policy, maximum, maximum + queries, dq_b + h * sizes.head_dim,
                       dk_b + of_k, dv + b * keys * steps::v_row + of_v, dbias_of_head,
                       scratch_of_kernel...);
          };
          if (std::is_constant_evaluated())
            run_by(kernel::plain::attend_backward<S>{});
          else
            run_by(kernel::attend_backward<S, T>{}, work.of_kernel + 0);
        };
        if (h % steps::share == 0)
          all.template operator()<steps::back(false, Bias::query, Bias::key)>();
        else
          all.template operator()<steps::back(true, Bias::query, Bias::key)>();
      }
      if constexpr (steps::rotates) {
        steps::rotary::template turn<queries, sizes.heads, sizes.head_dim, steps::q_row, queries,
                                     true>(dq_b);
        steps::rotary::template turn<keys, sizes.kv_heads, sizes.head_dim, steps::k_row, keys,
                                     true>(dk_b);
      }
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
