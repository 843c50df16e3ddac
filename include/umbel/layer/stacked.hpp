// SPDX-License-Identifier: BSL-1.0
// The weights of equal layers in sequence (block/stack.hpp) in the forms of weights.hpp: owned,
// borrowed, packed. w[0] are those of the first layer.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/prepacked.hpp>
#include <umbel/layer/weights.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace say {
struct layer_stack;
}  // namespace say
UMBEL_SAYS(layers_but_the_stack_has, "layers, but the stack has");
}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::portable {

// Owned: an array. Paths of its parameters begin with the number of the layer,
// "0.attention.q.weight" (parameters/parameters.hpp).
template <class Weights, std::size_t Count>
struct stacked_weights {
  using layer_name = detail::say::layer_stack;
  Weights layers[Count];

  [[nodiscard]] UMBEL_SHARED constexpr Weights& operator[](std::size_t i) noexcept {
    return layers[i];
  }
  [[nodiscard]] UMBEL_SHARED constexpr const Weights& operator[](std::size_t i) const noexcept {
    return layers[i];
  }
  [[nodiscard]] UMBEL_SHARED static constexpr std::size_t size() noexcept { return Count; }
};

// Borrowed: from stacked_weights, or an array of a layer's weights or views, which must outlive it.
template <class View, std::size_t Count>
struct stacked_views {
  using owned = stacked_weights<typename View::owned, Count>;
  using layer_name = detail::say::layer_stack;
  View layers[Count];

  UMBEL_SHARED constexpr stacked_views(const owned& w) noexcept
      : stacked_views(w.layers, std::make_index_sequence<Count>{}) {}
  template <class Weights>
    requires std::is_same_v<const Weights, const typename View::owned[Count]>
  UMBEL_SHARED constexpr stacked_views(Weights& w) noexcept
      : stacked_views(w, std::make_index_sequence<Count>{}) {}
  UMBEL_SHARED constexpr stacked_views(const View (&w)[Count]) noexcept
      : stacked_views(w, std::make_index_sequence<Count>{}) {}
  // From weights in (in, out): packing accepts any order.
  template <class Other>
    requires(!std::is_same_v<Other, View> && std::is_convertible_v<const Other&, View>)
  UMBEL_SHARED constexpr stacked_views(const stacked_views<Other, Count>& w) noexcept
      : stacked_views(w.layers, std::make_index_sequence<Count>{}) {}
  UMBEL_SHARED constexpr explicit stacked_views(detail::refused_weights none) noexcept
      : stacked_views(none, std::make_index_sequence<Count>{}) {}
  UMBEL_SHARED constexpr stacked_views(const owned&&) noexcept
      : stacked_views(detail::refused_weights{}) {
    static_assert(
        detail::report<detail::rules::weights_with_a_name<layer_name, (sizeof(owned) == 0)>>::ok,
        "umbel: shapes do not fit");
  }

  [[nodiscard]] UMBEL_SHARED constexpr const View& operator[](std::size_t i) const noexcept {
    return layers[i];
  }
  [[nodiscard]] UMBEL_SHARED static constexpr std::size_t size() noexcept { return Count; }

 private:
  template <class Weights, std::size_t... I>
  UMBEL_SHARED constexpr stacked_views(const Weights& w, std::index_sequence<I...>) noexcept
      : layers{View(w[I])...} {}
  template <std::size_t... I>
  UMBEL_SHARED constexpr stacked_views(detail::refused_weights none,
                                       std::index_sequence<I...>) noexcept
      : layers{(static_cast<void>(I), View(none))...} {}
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

namespace rules {
// Weights for a stack with a different number of layers, or of other layers.
template <class Layer, class View, std::size_t Count, class Weights, std::size_t Given>
struct given_weights_rule<Layer, portable::stacked_views<View, Count>,
                          portable::stacked_weights<Weights, Given>> {
  using type = first_error<verdict<Given == Count, Layer, struct the_weights_are_for, number<Given>,
                                   say::layers_but_the_stack_has, number<Count>>,
                           typename given_weights_rule<Layer, View, Weights>::type>;
};
}  // namespace rules

template <class Weights>
concept of_several_layers = requires(const Weights& w) { w.layers[0]; };

template <class View, std::size_t Count>
struct weights_in_any_order<portable::stacked_views<View, Count>> {
  using type = portable::stacked_views<in_any_order<View>, Count>;
};

// Packed from views of weights in any order.
template <class View, class Packed, std::size_t Count>
struct packed_stack {
  Packed layers[Count]{};
  [[nodiscard]] static constexpr std::size_t size() noexcept { return Count; }

  constexpr void pack(const portable::stacked_views<in_any_order<View>, Count>& w) noexcept {
    for (std::size_t i = 0; i < Count; ++i) layers[i].pack(w[i]);
  }
};
template <class View, class Packed, std::size_t Count>
constexpr void add_layout(layout_hash& hash, const packed_stack<View, Packed, Count>*) {
  hash.add(4, Count);
  add_layout(hash, static_cast<const Packed*>(nullptr));
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
