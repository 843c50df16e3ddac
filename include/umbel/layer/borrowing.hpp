// SPDX-License-Identifier: BSL-1.0
// Base of the layers whose only state is borrowed weights: construction, and refused arguments.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/weights_rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::portable {
// Deduced as the element type of linear(64, 10), whose sizes should be template arguments.
struct arguments_of_a_call;
}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

namespace rules {
// Never holds. Instead: what to write. Given: depends on the layer's template parameters.
template <class Layer, class Instead, class Given>
using made_of_a_call = verdict<(sizeof(Given) == 0), Layer, Instead>;
}  // namespace rules

// Name: the layer in sentences. View: its weights_view. Layers inherit its constructors.
template <class Name, class Layer, class View>
class borrowing {
 public:
  using word = Name;
  // The weights must outlive the layer.
  constexpr explicit borrowing(const View& w) noexcept : weights_(w) {}
  template <class Weights>
    requires std::is_same_v<std::remove_const_t<Weights>, typename View::owned>
  constexpr explicit borrowing(Weights& w UMBEL_LIFETIMEBOUND) noexcept : weights_(w) {}
  // Weights of a different layer, or none: refused.
  template <class... Given>
    requires not_its_weights<View, Layer, Given...>
  constexpr explicit(sizeof...(Given) == 1) borrowing(const Given&...) noexcept
      : weights_(no_weights<View>()) {
    static_assert(report<rules::weights_of_this_layer<Name, View, Given...>>::ok,
                  "umbel: shapes do not fit");
  }
  [[nodiscard]] constexpr const View& get_weights() const noexcept { return weights_; }

 private:
  View weights_;
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
