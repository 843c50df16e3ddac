// SPDX-License-Identifier: BSL-1.0
// batch_norm after a convolution or a linear map, at inference (Ioffe and Szegedy 2015):
//
//   y = gamma (x - mean) / sqrt(variance + epsilon) + beta
//
// It is folded into their weights after loading:
//
//   struct model_weights {
//     static constexpr const char* part_names[] = {"convolution", "norm"};
//     convolution_weights convolution;            // .weight and .bias, with the axis channel<32>
//     batch_norm<float, channel<32>> norm;
//   };
//   load(w, *file, at("convolution", "0", names::torch_convolution<>),
//        at("norm", "1", names::torch_batch_norm));
//   fold_batch_norm(w.convolution, w.norm, 1e-5);
#pragma once

#include <umbel/config.hpp>
#include <umbel/parameters/rules.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/weights/names.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// The parameters of a batch norm. T: float or double. Axis: of the outputs, channel<32>.
template <class T, class Axis>
struct batch_norm {
  static constexpr const char* part_names[] = {"gamma", "beta", "mean", "variance"};
  using axis = Axis;
  tensor<T, Axis> gamma, beta, mean, variance;
};

namespace detail {
UMBEL_SAYS(but_the_bias_has_other_axes, "but the bias has other axes");
UMBEL_SAYS(expects_weights_a_batch_norm_and_its_epsilon_but_argument,
           "expects tensors weight and bias in float or double, a batch_norm and its epsilon, but "
           "argument");
UMBEL_SAYS(the_weights_have_no_bias_and_the_norm_is_const_so_its_beta_cannot_be_one,
           "the weights have no bias, and the norm is const, so its beta cannot become one");
UMBEL_SAYS(expects_weights_a_batch_norm_and_its_epsilon_not,
           "expects weights, a batch_norm and its epsilon, not");

template <class X>
inline constexpr bool is_batch_norm = false;
template <class T, class Axis>
inline constexpr bool is_batch_norm<batch_norm<T, Axis>> = true;

template <class W>
inline constexpr bool has_a_bias = requires(W& w) { w.bias; };
// float or double, to write, without gaps in memory.
template <class X>
concept numbers_to_fold = tensor_like<X> && requires(X& x) {
  requires std::is_floating_point_v<std::remove_reference_t<decltype(*x.data())>>;
  requires layout_of<X>::span == layout_of<X>::count;
};
template <class W>
concept tensors_of_a_layer = !map_of_weights<W> && requires(W& w) {
  requires numbers_to_fold<decltype(w.weight)>;
} && (!has_a_bias<W> || requires(W& w) { requires numbers_to_fold<decltype(w.bias)>; });
template <class W>
concept weights_to_fold = (map_of_weights<W> || tensors_of_a_layer<W>) && !std::is_const_v<W>;

// Of a matrix or kernel: its axes, in the order of memory.
template <class W>
struct axes_of_kernel {
  using layout = layout_of<decltype(std::declval<W&>().weight)>;
};
template <map_of_weights W>
struct axes_of_kernel<W> {
  using layout = detail::layout<typename W::map::in, typename W::map::out>;
};
template <class W, class Axis>
struct bias_has_axis : std::true_type {};
template <class W, class Axis>
  requires(tensors_of_a_layer<W> && has_a_bias<W>)
struct bias_has_axis<W, Axis>
    : std::is_same<typename layout_of<decltype(std::declval<W&>().bias)>::axes, shape<Axis>> {};

template <class W>
constexpr auto* numbers_of(W& w) noexcept {
  if constexpr (requires { w.data(); })
    return w.data();
  else
    return w;
}
// Without a bias, the norm's beta.
template <class W, class Norm>
constexpr auto* bias_of(W& w, Norm& norm) noexcept {
  if constexpr (has_a_bias<W>)
    return numbers_of(w.bias);
  else
    return numbers_of(norm.beta);
}

namespace rules {
template <class W, class Norm>
struct outputs_of_norm {
  using type = accepted;
};
template <weights_to_fold W, class T, class Axis>
struct outputs_of_norm<W, batch_norm<T, Axis>> {
  using layout = typename axes_of_kernel<W>::layout;
  static constexpr bool fits = layout::template size_of<typename Axis::family> == Axis::size;
  using type = first_error<verdict<fits, say::fold_batch_norm, say::the_norm_has, Axis,
                                   say::but_the_weights_have, typename layout::axes>,
                           verdict<bias_has_axis<W, Axis>::value, say::fold_batch_norm,
                                   say::the_norm_has, Axis, say::but_the_bias_has_other_axes>>;
};
template <class W, class Norm, class Epsilon>
using fold_batch_norm = first_error<
    argument<weights_to_fold<W>, say::fold_batch_norm,
             say::expects_weights_a_batch_norm_and_its_epsilon_but_argument, 1, W>,
    argument<is_batch_norm<std::remove_const_t<Norm>>, say::fold_batch_norm,
             say::expects_weights_a_batch_norm_and_its_epsilon_but_argument, 2, Norm>,
    argument<std::is_arithmetic_v<Epsilon>, say::fold_batch_norm,
             say::expects_weights_a_batch_norm_and_its_epsilon_but_argument, 3, Epsilon>,
    verdict<has_a_bias<W> || !std::is_const_v<Norm>, say::fold_batch_norm,
            say::the_weights_have_no_bias_and_the_norm_is_const_so_its_beta_cannot_be_one>,
    typename outputs_of_norm<W, std::remove_const_t<Norm>>::type>;
}  // namespace rules
}  // namespace detail

// Folds the norm into the weights of the layer before it. w: of a linear map, or a struct of
// tensors weight and bias. If it has no bias, norm.beta becomes the number to add afterwards: write
// contract<...>(..., w.weight) + norm.beta. epsilon: nn.BatchNorm1d has 1e-5, Keras 1e-3. Computed
// in double, then rounded once. A second call would fold it again. A negative variance makes NaN.
//   "umbel: fold_batch_norm: the norm has channel=32 but the weights have [kernel_size=3, hidden=8,
//    channel=64]"
// A norm that is const, for weights without a bias, and other arguments have messages.
template <class Weights, class Norm, class Epsilon>
constexpr void fold_batch_norm(Weights& w, Norm& norm, const Epsilon& epsilon) noexcept {
  using verdict = detail::rules::fold_batch_norm<Weights, Norm, Epsilon>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    using layout = typename detail::axes_of_kernel<Weights>::layout;
    using axis = typename Norm::axis::family;
    constexpr std::size_t outputs = layout::template size_of<axis>;
    auto* const weight = detail::numbers_of(w.weight);
    auto* const bias = detail::bias_of(w, norm);
    using T = std::remove_reference_t<decltype(*weight)>;
    double factor[outputs]{};
    for (std::size_t o = 0; o < outputs; ++o) {
      const auto number = [o](const auto& x) { return static_cast<double>(x.data()[o]); };
      const double deviation =
          detail::simd::sqrt(number(norm.variance) + static_cast<double>(epsilon));
      factor[o] = number(norm.gamma) / deviation;
      double before = 0;
      if constexpr (detail::has_a_bias<Weights>) before = static_cast<double>(bias[o]);
      bias[o] = static_cast<T>((before - number(norm.mean)) * factor[o] + number(norm.beta));
    }
    for (std::size_t i = 0; i < layout::count; ++i)
      weight[i] = static_cast<T>(static_cast<double>(weight[i]) *
                                 factor[i / layout::template stride_of<axis> % outputs]);
  }
}

// With other arguments: refused.
template <class... Given>
  requires(sizeof...(Given) != 3)
constexpr void fold_batch_norm(const Given&...) noexcept {
  using verdict = detail::verdict<detail::one_is_invalid<Given...>, detail::say::fold_batch_norm,
                                  detail::say::expects_weights_a_batch_norm_and_its_epsilon_not,
                                  detail::number<sizeof...(Given)>, detail::say::arguments>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
}

namespace names {
// nn.BatchNorm1d, nn.BatchNorm2d, without their counter num_batches_tracked.
inline constexpr parameter_name torch_batch_norm[] = {
    {"gamma", "weight"},
    {"beta", "bias"},
    {"mean", "running_mean"},
    {"variance", "running_var"},
    {nullptr, "num_batches_tracked"},
};
// keras.layers.BatchNormalization
inline constexpr parameter_name keras_batch_norm[] = {
    {"gamma", "gamma"},
    {"beta", "beta"},
    {"mean", "moving_mean"},
    {"variance", "moving_variance"},
};
}  // namespace names

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
