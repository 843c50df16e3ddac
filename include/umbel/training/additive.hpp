// SPDX-License-Identifier: BSL-1.0
// additive_attention in the graph of a gradient: its projections, and between them softmax(w tanh(q
// + k)) v as one step (attend_gradient.hpp). One head: kernel/backward/attend_additive.hpp.
#pragma once

#include <umbel/attention/additive.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/backward/attend_additive.hpp>
#include <umbel/kernel/plain/attend_backward.hpp>
#include <umbel/training/attend_gradient.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// Q, K, V: views of projected queries and keys, and of values: by sequence, position, feature.
template <class Layer, class Q, class K, class V>
struct additive_attend_steps {
  using layer = Layer;
  using T = typename Layer::value_type;
  using of_queries = layout_of<Q>;
  using of_keys = layout_of<K>;
  using of_values = layout_of<V>;
  using features = axis_of<of_values, rules::feature_family<of_values>>;
  static constexpr additive_sizes sizes = Layer::sizes;
  static constexpr std::size_t queries = of_queries::template size_of<rules::query_family>;
  static constexpr std::size_t keys = of_keys::template size_of<rules::key_family>;
  static constexpr std::size_t row = sizes.score_width(), values = features::size;
  static constexpr std::size_t sequences = of_queries::count / (queries * row);
  static constexpr std::size_t value_dim = values / sizes.heads;
  using scores =
      scores_of<T, of_queries::template size_of<rules::batch_family>, sizes.heads, queries, keys>;
  using result = row_major<layout_with_axes<typename algebra::detail::replace_axes<
      of_queries, of_queries::template position<typename Layer::score_axis::family>, 1,
      umbel::detail::shape<typename features::plain>>::type>>;
  static constexpr kernel::attend_shape head = {
      queries, keys, sizes.score_hidden, value_dim, row, 1, row, 1, values, 1, values, 1, queries};
  static constexpr std::size_t kept = 2 * sequences * sizes.heads * queries;
  static constexpr std::size_t gradients = of_queries::count + of_keys::count + of_values::count;
  static constexpr std::uint64_t flops = 0;

  struct scratch : workspace_base {
    alignas(64) T of_kernel[kernel::attend_additive_kept<head, T>::scratch_size];
  };
  template <class Bias>
  static constexpr kernel::attend_backward_shape back = {queries,
                                                         keys,
                                                         sizes.score_hidden,
                                                         value_dim,
                                                         row,
                                                         row,
                                                         values,
                                                         values,
                                                         row,
                                                         row,
                                                         values,
                                                         values,
                                                         false,
                                                         Bias::key != 0,
                                                         Bias::query,
                                                         Bias::key};
  // The gradient of the weights of the scores, before it is added.
  template <class Bias>
  struct backward_scratch : workspace_base {
    alignas(64) T weights[row];
    alignas(64) T of_kernel[kernel::attend_additive_backward<back<Bias>, T>::scratch_size];
  };

  template <class Given, class Y, class... OfMask>
  static constexpr void run(const Given& weights_with_mask, Y& y, scratch& work, const Q& q,
                            const K& k, const V& v, const OfMask&... of_mask) noexcept {
    const auto mask = weights_with_mask.mask(of_mask...);
    const auto weights = weights_with_mask.weights();
    for (std::size_t b = 0; b < sequences; ++b) {
      const auto masks = at_sequence<scores>(mask, b);
      for (std::size_t h = 0; h < sizes.heads; ++h) {
        T* const maximum = y.data() + result::count + (b * sizes.heads + h) * 2 * queries;
        const auto by = [&](auto attend, auto... room) {
          attend.run(
              q.data() + b * queries * row + h * sizes.score_hidden,
              k.data() + b * keys * row + h * sizes.score_hidden,
              weights.data() + h * sizes.score_hidden, v.data() + b * keys * values + h * value_dim,
              Layer::scoring::template with<T>(masks(h).policy),
              y.data() + b * queries * values + h * value_dim, maximum, maximum + queries, room...);
        };
        if (__builtin_is_constant_evaluated())
          by(kernel::plain::attend_additive_kept<head>{});
        else
          by(kernel::attend_additive_kept<head, T>{}, work.of_kernel + 0);
      }
    }
  }

  template <class Bias, class Given, class Mask>
  static constexpr void backward(const Given& weights_with_mask, const Mask& mask,
                                 const operand_memory<T>* from, const captured<T>* added_to,
                                 const T* context, const attend_gradients<T>& d,
                                 backward_scratch<Bias>& work) noexcept {
    const auto weights = weights_with_mask.weights();
    for (std::size_t i = 0; i < row; ++i) work.weights[i] = T{};
    T* const dk = d.dx + of_queries::count;
    T* const dv = dk + of_keys::count;
    for (std::size_t b = 0; b < sequences; ++b) {
      const auto masks = at_sequence<scores>(mask, b);
      for (std::size_t h = 0; h < sizes.heads; ++h) {
        const T* const maximum = context + result::count + (b * sizes.heads + h) * 2 * queries;
        const std::size_t of_h = h * sizes.score_hidden, of_q = b * queries * row + of_h,
                          of_k = b * keys * row + of_h, of_v = b * keys * values + h * value_dim,
                          of_o = b * queries * values + h * value_dim;
        const auto by = [&](auto attend, auto... room) {
          attend.run(from[0].numbers + of_q, from[1].numbers + of_k, weights.data() + of_h,
                     from[2].numbers + of_v, context + of_o, d.dy + of_o,
                     Layer::scoring::template with<T>(masks(h).policy), maximum, maximum + queries,
                     d.dx + of_q, dk + of_k, work.weights + of_h, dv + of_v,
                     d.dbias + b * Bias::batch + h * Bias::head, room...);
        };
        if (__builtin_is_constant_evaluated())
          by(kernel::plain::attend_additive_backward<back<Bias>>{});
        else
          by(kernel::attend_additive_backward<back<Bias>, T>{}, work.of_kernel + 0);
      }
    }
    T* const to = const_cast<T*>(added_to[0].values);
    if (to == nullptr) return;
    for (std::size_t i = 0; i < row; ++i) to[i] = to[i] + work.weights[i];
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas

namespace umbel::inline UMBEL_TARGET::detail {

template <class Layer>
struct in_words<additive_block<Layer>> {
  template <class W, class Mask, class X, class Y, class Z>
  static constexpr auto of(const W& w, const Mask& mask, const X& x, const Y& y,
                           const Z& z) noexcept {
    using formulas::features_last;
    using features = rules::feature_family<layout_of<Z>>;
    const auto q =
        features_last<rules::query_family, typename Layer::hidden_axis::family>(x).project(w.q);
    const auto k =
        features_last<rules::key_family, typename Layer::keys_axis::family>(y).project(w.k);
    const auto v = features_last<rules::key_family, features>(z);
    using steps =
        formulas::additive_attend_steps<Layer, view_of_node<decltype(q)>, view_of_node<decltype(k)>,
                                        view_of_node<decltype(v)>>;
    using score = std::remove_cvref_t<decltype(w.score)>;
    const auto context = mask_in_formula<Mask>::with_nodes(x, mask, [&](const auto&... of_mask) {
      return q.template call<steps>(weights_and_mask<score, Mask>{w.score, mask}, k, v, of_mask...);
    });
    using from = layout_of<X>;
    return formulas::in_order(
        context, typename algebra::detail::replace_axes<
                     from, from::template position<typename Layer::hidden_axis::family>, 1,
                     shape<typename axis_of<layout_of<Z>, features>::plain>>::type{});
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
