// SPDX-License-Identifier: BSL-1.0
// The gradient of attention between its projections, as one step of the graph of a gradient. The
// forward pass keeps two numbers per query and head, the maximum and 1 over the sum of its softmax;
// the backward pass recomputes the weights from them, so memory grows linearly with the tokens
// (FlashAttention, Dao et al. 2022). Here: which functions compute it, for each tensor of its mask
// that may have a gradient. See attention.hpp and additive.hpp for the computations.
#pragma once

#include <umbel/attention/score.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/layer/options.hpp>
#include <umbel/mask/memory.hpp>
#include <umbel/training/layers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

struct without_weights {};
template <class T>
struct kept<T, without_weights> {
  static constexpr std::size_t count = 1;
  template <bool>
  static constexpr void take(const without_weights&, captured<T>*) noexcept {}
  static constexpr without_weights restored(const captured<T>*) noexcept { return {}; }
};

// x by sequence, position, feature; features lie along Family.
template <class Sequence, class Family, class X>
constexpr auto features_last(const X& x) noexcept {
  using from = layout_of<X>;
  using sequence = axis_of<from, Sequence>;
  using features = axis_of<from, Family>;
  if constexpr (from::template has<rules::batch_family>)
    return in_order(x,
                    umbel::detail::shape<axis_of<from, rules::batch_family>, sequence, features>{});
  else
    return in_order(x, umbel::detail::shape<sequence, features>{});
}

// The tensors of a mask that are added to scores: bit i for tensor i.
template <class Mask>
inline constexpr unsigned added_tensors = 0;
template <class X>
inline constexpr unsigned added_tensors<bias_mask<X>> = 1;
template <class A, class B>
inline constexpr unsigned added_tensors<both_masks<A, B>> =
    added_tensors<A> | added_tensors<B> << mask_in_formula<A>::operands;

// The gradient of a bias with this layout: row-major with its axes, and the steps between its
// elements. A bias shared by all keys of a query changes no weight: its gradient is 0.
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

// Steps of attention: Steps::run(given, y, scratch, q, k, v, of_mask...) writes y, then
// Steps::kept;
//   Steps::backward_scratch<Bias>   Bias: a bias_gradient
//   Steps::backward<Bias>(given, mask, from, gradients, result, d, work)
//                                   d: {dy, dx, dbias}
//   Steps::gradients                elements of dx, of q, k and v in sequence
// (Without observe(), and without empty_rows<uniform_weights>.)
template <class T>
struct attend_gradients {
  const T* dy;
  T* dx;
  T* dbias;
};
template <class Steps>
concept steps_of_attention = requires { typename Steps::layer::scoring::empty; };

template <class T, steps_of_attention Steps, class W, class Mask, class... X>
  requires(std::is_same_v<typename Steps::layer::scoring::empty, zero_weights> && !Mask::observes)
struct layer_gradient<layer_call<T, Steps, weights_and_mask<W, Mask>, X...>> {
  static constexpr void describe(node_of_graph<T>& node) noexcept {
    node.run_gradient = run<bias_gradient<void>>;
    node.kept = Steps::kept;
    node.gradient_scratch = scratch_for<bias_gradient<void>>;
    node.differentiated = 3;
    node.also_differentiated = biases.of;
    node.also = biases.count;
  }

 private:
  template <class Bias>
  using scratch = typename Steps::template backward_scratch<Bias>;
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
  static constexpr void run(const captured<T>* parts, const captured<T>* gradients,
                            const operand_memory<T>* from, const T* result, const T* dy, T* dx,
                            T* work) noexcept {
    const auto weights_with_mask = formulas::kept<T, weights_and_mask<W, Mask>>::restored(parts);
    const auto mask = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return [&](const auto&, const auto&, const auto&, const auto&... of_mask) {
        return weights_with_mask.mask(of_mask...);
      }(seen<X>(from[I])...);
    }(std::make_index_sequence<sizeof...(X)>{});
    T* const dbias = dx + Steps::gradients;
    for (std::size_t i = 0; i < Bias::count; ++i) dbias[i] = T{};
    Steps::template backward<Bias>(weights_with_mask, mask, from, gradients, result,
                                   attend_gradients<T>{dy, dx, dbias},
                                   *static_cast<scratch<Bias>*>(static_cast<void*>(work)));
  }
  template <class View>
  static constexpr View seen(const operand_memory<T>& memory) noexcept {
    if constexpr (std::is_same_v<typename View::value_type, bool>)
      return View(memory.flags);
    else
      return View(memory.numbers);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
