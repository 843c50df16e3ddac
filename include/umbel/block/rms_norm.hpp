// SPDX-License-Identifier: BSL-1.0
// rms_norm (Zhang and Sennrich 2019): along one axis, x / sqrt(mean of x^2 + epsilon) * gamma.
// Other axes are rows. It subtracts no mean and has no beta: see layer_norm.hpp.
#pragma once

#include <umbel/block/layer_norm.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/norm_options.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(
    sizes_are_template_arguments_not_numbers_in_a_call_so_write_rms_norm_of_float_and_an_axis,
    "sizes are template arguments, not numbers in a call; write rms_norm<float, "
    "hidden<100>>{weights, epsilon}");

UMBEL_SAYS(rms_norm, "rms_norm");

template <class X, class Layer>
concept other_than = !std::is_base_of_v<Layer, X>;

namespace rules {
template <class Weights>
using epsilon_is_given =
    verdict<(sizeof(Weights) == 0), say::rms_norm,
            struct needs_the_epsilon_of_the_trained_model_so_pass_it_after_the_weights>;
}  // namespace rules

}  // namespace detail

// rms_norm<float, hidden<64>>: along one axis, x / sqrt(mean of x^2 + epsilon) * gamma (Zhang and
// Sennrich 2019). T: float or double.
template <class T, class Axis = detail::nothing>
UMBEL_EXPECTS(
    "rms_norm: expects an element type, then an axis with its size; write rms_norm<float, "
    "hidden<64>>")
class rms_norm
    : public detail::norm_calls<rms_norm<T, Axis>, rms_norm<T, Axis>, detail::say::rms_norm,
                                detail::norm_element<T>, detail::norm_axis<T, Axis>> {
  static_assert(detail::reported<detail::rules::norm<detail::say::rms_norm, T, Axis>>::ok,
                "umbel: shapes do not fit");

 public:
  using word = detail::say::rms_norm;
  using value_type = detail::norm_element<T>;
  using axis = detail::norm_axis<T, Axis>;
  using weights = portable::rms_norm_parts<tensor<value_type, axis>>;
  using weights_view =
      detail::view_of_weights<portable::rms_norm_parts<portable::vector_view<value_type, axis>>>;
  template <class Derived>
  using calls = detail::norm_calls<Derived, rms_norm, word, value_type, axis>;
  static constexpr bool has_default_epsilon = false;
  template <class Weights>
  using without_epsilon = detail::rules::epsilon_is_given<Weights>;
  // Norms are not stored in 16 bits.
  template <class Stored = value_type>
  using packed_weights =
      detail::packed_weights_of<weights_view,
                                portable::rms_norm_parts<detail::packed_vector<value_type, axis>>>;

  // The weights are borrowed. epsilon is added to the mean of the squares, under the root. It has
  // no default because models differ: 1e-6 in T5 and LLaMA 1, 1e-5 in LLaMA 2 and 3; the default of
  // torch.nn.RMSNorm is the machine epsilon.
  constexpr explicit rms_norm(const weights_view& w, value_type epsilon) noexcept
      : calls<rms_norm>(epsilon), weights_(w) {}
  template <detail::foreign_weights<weights_view, rms_norm> Other>
  constexpr explicit rms_norm(const Other&, value_type) noexcept
      : weights_(detail::no_weights<weights_view>()) {
    // A refused norm reports no second error.
    using verdict = std::conditional_t<
        std::is_same_v<T, value_type>,
        detail::rules::weights_of_this_layer<detail::say::rms_norm, weights_view, Other>,
        detail::accepted>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  }
  template <class... Given>
    requires(sizeof...(Given) == 0)
  constexpr rms_norm() noexcept : weights_(detail::no_weights<weights_view>()) {
    static_assert(detail::report<detail::rules::weights_of_this_layer<detail::say::rms_norm,
                                                                      weights_view, Given...>>::ok,
                  "umbel: shapes do not fit");
  }
  template <detail::other_than<rms_norm> Weights>
  constexpr explicit rms_norm(const Weights&) noexcept
      : weights_(detail::no_weights<weights_view>()) {
    static_assert(detail::report<without_epsilon<Weights>>::ok, "umbel: shapes do not fit");
  }

  // The weights of the norm.
  [[nodiscard]] constexpr const weights_view& get_weights() const noexcept { return weights_; }

  // Rows of axis::size elements each, adjacent.
  template <std::size_t Rows, class Weights>
  static constexpr void normalise_rows(const Weights& w, value_type epsilon, const value_type* x,
                                       value_type* y) noexcept {
    constexpr detail::kernel::norm_shape shape = {Rows, axis::size, axis::size, axis::size};
    if (__builtin_is_constant_evaluated())
      detail::kernel::plain::rms_norm<shape>(x, w.gamma.data(), epsilon, y);
    else
      detail::kernel::rms_norm<shape>(x, w.gamma.data(), epsilon, y);
  }

 private:
  weights_view weights_;
};

template <>
struct norm_by<rms_norm> {
  using kind = detail::option::norm_by;
  template <class T, class Axis, bool Bias>
  using norm = rms_norm<T, Axis>;
  static constexpr bool has_bias = false, needs_epsilon = true;
};

// rms_norm(100): refused, since the axis is a template argument.
template <class Given>
class rms_norm<portable::arguments_of_a_call, Given> : public detail::invalid {
  static_assert(
      detail::reported<detail::rules::made_of_a_call<
          detail::say::rms_norm,
          detail::say::
              sizes_are_template_arguments_not_numbers_in_a_call_so_write_rms_norm_of_float_and_an_axis,
          Given>>::ok,
      "umbel: shapes do not fit");

 public:
  template <class... Arguments>
  constexpr explicit rms_norm(const Arguments&...) noexcept {}
};
template <class... Given>
rms_norm(const Given&...) -> rms_norm<portable::arguments_of_a_call, char>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
