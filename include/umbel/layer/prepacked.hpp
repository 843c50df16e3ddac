// SPDX-License-Identifier: BSL-1.0
// prepacked<layer>: a layer that owns its weights, laid out for the kernels of this target. Not
// here: the layouts (weights.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/stored_as.hpp>
#include <umbel/layer/weights.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
namespace say {
struct the_first_argument_is_not_a_layer_with_weights_to_pack;
}  // namespace say

template <class Layer>
concept has_weights_to_pack = requires {
  typename Layer::weights_view;
  typename Layer::template calls<Layer>;
};
namespace rules {
template <class Layer, bool Ok>
using a_layer_to_pack =
    verdict<Ok, Layer, say::the_first_argument_is_not_a_layer_with_weights_to_pack>;
}  // namespace rules
}  // namespace detail

// A layer whose parameters are packed once, into memory of its own: called like the layer. The
// weights that it is made of are not needed any more.
//
//   static const prepacked<attention> attend{weights};   // or constexpr
//
// With stored_as<bfloat16> or stored_as<float16> the weights, not the biases, are rounded to 16
// bits, for layers of float. Results are those of the layer with each weight rounded.
template <class Layer, class... Options>
class prepacked : public Layer::template calls<prepacked<Layer, Options...>> {
  using stored =
      typename detail::option_or<detail::option::stored_as, stored_as<typename Layer::value_type>,
                                 Options...>::type;
  using verdict = detail::first_error<
      detail::rules::options<detail::say::prepacked,
                             detail::option_kinds<detail::option::stored_as>, Options...>,
      detail::rules::stored<detail::say::prepacked, typename Layer::value_type, stored>>;
  static_assert(detail::reported<verdict>, "umbel: shapes do not fit");
  using packed_weights = typename Layer::template packed_weights<
      std::conditional_t<verdict::ok, stored, typename Layer::value_type>>;

 public:
  using layer = Layer;
  constexpr explicit prepacked(const typename Layer::weights_view& w) noexcept : weights_(w) {}
  // Of weights that may end with the statement: they are copied.
  template <class Weights>
    requires std::is_same_v<Weights, typename Layer::weights>
  constexpr explicit prepacked(const Weights& w) noexcept : weights_(w) {}
  template <class... Given>
    requires detail::not_its_weights<typename Layer::weights_view, prepacked, Given...>
  constexpr explicit(sizeof...(Given) == 1) prepacked(const Given&... given) noexcept
      : weights_(Layer(given...).get_weights()) {}  // refused
  [[nodiscard]] constexpr const packed_weights& get_weights() const noexcept { return weights_; }

 private:
  packed_weights weights_;
};
template <class Other, class... Options>
  requires(!detail::has_weights_to_pack<Other>)
class prepacked<Other, Options...> : public detail::invalid {
  static_assert(detail::reported<
                    detail::rules::a_layer_to_pack<detail::say::prepacked, (sizeof(Other) == 0)>>,
                "umbel: shapes do not fit");

 public:
  template <class... Weights>
  constexpr explicit prepacked(const Weights&...) noexcept {}
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
