// SPDX-License-Identifier: BSL-1.0
// Attention between its projections, softmax(scale q k^T) v for all heads of all sequences, as a
// step of the graph of a gradient (attend_gradient.hpp). It includes rotation, but no norms
// (blocks.hpp).
#pragma once

#include <umbel/attention/multi_head.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/backward/attend.hpp>
#include <umbel/kernel/plain/attend_backward.hpp>
#include <umbel/training/attend_gradient.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// Q, K, V: views of projected queries, keys and values, row-major, with all heads of a position
// adjacent. KeyAxis, QueryAxis: the families along which keys and queries lie.
template <class Layer, class QueryAxis, class KeyAxis, class Q, class K, class V>
struct attend_steps {
  using layer = Layer;
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
  using rotary = detail::rotary<typename Layer::rope_option>;
  static constexpr bool rotates = !std::is_same_v<typename Layer::rope_option, no_rope>;

  static constexpr std::size_t q_row = sizes.query_width(), k_row = sizes.key_width(),
                               v_row = sizes.value_width(), o_row = sizes.context_width();
  static constexpr kernel::attend_shape head = {
      queries, keys, sizes.head_dim, sizes.value_dim, q_row, 1, k_row, 1, v_row, 1,
      o_row,   1,    queries};
  static constexpr std::size_t share = sizes.heads / sizes.kv_heads;
  static constexpr T scale = Layer::scoring::template scale<T>(sizes.head_dim);
  static constexpr std::size_t kept = 2 * sequences * sizes.heads * queries;

  template <std::size_t OfKernel>
  struct scratch_with : workspace_base {
    alignas(64) T q[rotates ? queries * q_row : 1];
    alignas(64) T k[rotates ? keys * k_row : 1];
    alignas(64) T of_kernel[OfKernel];
  };
  using scratch = scratch_with<kernel::attend_kept<head, T>::scratch_size>;
  static constexpr std::uint64_t flops = 0;

  // q and k of one sequence, rotated if needed.
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
  static constexpr void run(const Given& weights_with_mask, Y& y, scratch& work, const Q& all_q,
                            const K& all_k, const V& all_v, const OfMask&... of_mask) noexcept {
    const auto mask = weights_with_mask.mask(of_mask...);
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
        if (__builtin_is_constant_evaluated())
          all(kernel::plain::attend_kept<head>{});
        else
          all(kernel::attend_kept<head, T>{}, work.of_kernel + 0);
      }
    }
  }
  // go_on: adds to the gradients of keys and values. bias_...: the strides of a bias's gradient.
  static constexpr kernel::attend_backward_shape back(bool go_on, std::size_t bias_query = 0,
                                                      std::size_t bias_key = 0) noexcept {
    return {queries, keys,          sizes.head_dim, sizes.value_dim, q_row, k_row,
            v_row,   o_row,         q_row,          k_row,           v_row, o_row,
            go_on,   bias_key != 0, bias_query,     bias_key};
  }

  static constexpr std::size_t gradients = of_queries::count + of_keys::count + of_values::count;
  template <class Bias>
  using backward_scratch =
      scratch_with<kernel::attend_backward<back(false, Bias::query, Bias::key), T>::scratch_size>;

  template <class Bias, class Given, class Mask>
  static constexpr void backward(const Given&, const Mask& mask, const operand_memory<T>* from,
                                 const captured<T>*, const T* context, const attend_gradients<T>& d,
                                 backward_scratch<Bias>& work) noexcept {
    const T* const statistics = context + result::count;
    T* const dq = d.dx;
    T* const dk = dq + of_queries::count;
    T* const dv = dk + of_keys::count;
    for (std::size_t b = 0; b < sequences; ++b) {
      const T *q = from[0].numbers + b * queries * q_row, *k = from[1].numbers + b * keys * k_row;
      const T* const v = from[2].numbers + b * keys * v_row;
      rotate(q, k, work);
      T *const dq_b = dq + b * queries * q_row, *const dk_b = dk + b * keys * k_row;
      const auto masks = at_sequence<scores>(mask, b);
      for (std::size_t h = 0; h < sizes.heads; ++h) {
        const T* const maximum = statistics + (b * sizes.heads + h) * 2 * queries;
        const std::size_t of_k = h / share * sizes.head_dim, of_v = h / share * sizes.value_dim,
                          of_o = b * queries * o_row + h * sizes.value_dim;
        const auto all = [&]<kernel::attend_backward_shape S>() {
          const auto policy = Layer::scoring::template with<T>(masks(h).policy);
          T* const dbias_of_head = d.dbias + b * Bias::batch + h * Bias::head;
          const auto run_by = [&](auto kernel, auto... scratch_of_kernel) {
            kernel.run(q + h * sizes.head_dim, k + of_k, v + of_v, context + of_o, d.dy + of_o,
                       scale, policy, maximum, maximum + queries, dq_b + h * sizes.head_dim,
                       dk_b + of_k, dv + b * keys * v_row + of_v, dbias_of_head,
                       scratch_of_kernel...);
          };
          if (__builtin_is_constant_evaluated())
            run_by(kernel::plain::attend_backward<S>{});
          else
            run_by(kernel::attend_backward<S, T>{}, work.of_kernel + 0);
        };
        if (h % share == 0)
          all.template operator()<back(false, Bias::query, Bias::key)>();
        else
          all.template operator()<back(true, Bias::query, Bias::key)>();
      }
      if constexpr (rotates) {
        rotary::template turn<queries, sizes.heads, sizes.head_dim, q_row, queries, true>(dq_b);
        rotary::template turn<keys, sizes.kv_heads, sizes.head_dim, k_row, keys, true>(dk_b);
      }
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
