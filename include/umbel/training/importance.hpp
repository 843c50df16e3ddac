// SPDX-License-Identifier: BSL-1.0
// The importance of heads (Michel, Levy and Neubig 2019): how the loss changes with a gate on each
// head, a factor of its context that is 1. The gradient of the output projection contains it.
#pragma once

#include <umbel/attention/multi_head.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/training/arrays.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(head_gates, "head_gates");
UMBEL_SAYS(expects_the_weights_of_that_attention_and_their_gradient,
           "expects the weights of a multi_head_attention and their gradient; write "
           "head_gates<attention>(w, g)");
template <class Layer, class... Given>
inline constexpr bool are_weights_and_gradient = false;
template <class Layer, class W, class G>
  requires is_multi_head<Layer>
inline constexpr bool are_weights_and_gradient<Layer, W, G> =
    std::is_convertible_v<const W&, const typename Layer::weights&> &&
    std::is_convertible_v<const G&, const typename Layer::weights&>;
template <class... Given>
using without_gates = verdict<never<Given...>, say::head_gates,
                              say::expects_the_weights_of_that_attention_and_their_gradient>;
}  // namespace detail

// d loss / d gate of each head of a multi_head_attention, for the calls whose gradients are in g:
// the sum over the head's rows of the output projection, (heads * value_dim, output), of a weight
// times its gradient, one chain of fused multiply-adds, row after row. The importance of a head is
// the mean of its magnitude over samples: g of one sample at a time.
//   const auto gates = head_gates<attention>(w.attention, g.attention);
template <class Layer>
  requires detail::is_multi_head<Layer>
[[nodiscard]] constexpr auto head_gates(const typename Layer::weights& w,
                                        const typename Layer::weights& g) noexcept {
  using T = typename Layer::value_type;
  constexpr std::size_t heads = Layer::sizes.heads;
  constexpr std::size_t elements_per_head = Layer::sizes.value_dim * Layer::sizes.output;
  tensor<T, axes::heads<heads>> gates{};
  for (std::size_t h = 0; h < heads; ++h)
    for (std::size_t i = h * elements_per_head; i < (h + 1) * elements_per_head; ++i)
      gates.data()[h] = detail::simd::fma(w.o.weight[i], g.o.weight[i], gates.data()[h]);
  return gates;
}

// Other weights, or more of them: refused.
template <class Layer, class... Given>
  requires(!detail::listed_by_name<Layer> && !detail::are_weights_and_gradient<Layer, Given...>)
constexpr detail::invalid head_gates(const Given&...) noexcept {
  static_assert(detail::report<detail::without_gates<Layer>>::ok, "umbel: shapes do not fit");
  return {};
}
// Without the layer: refused.
template <class... Given>
  requires detail::given_weights<Given...>
constexpr detail::invalid head_gates(const Given&...) noexcept {
  static_assert(detail::report<detail::without_gates<Given...>>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
