// SPDX-License-Identifier: BSL-1.0
// A block without some of the heads of one of its attentions (attention/pruned.hpp):
//
//   using smaller = pruned<block, block_parts::name::attention, prune_heads<1, 3>>;
//   static const smaller::weights w2 =
//       pruned_weights<block, block_parts::name::attention, prune_heads<1, 3>>(w);
//
// The result is a residual_block with the same parts, whose attention has fewer heads.
#pragma once

#include <umbel/attention/pruned.hpp>
#include <umbel/block/ready_made.hpp>
#include <umbel/block/residual_block.hpp>
#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace residual {
// The steps of a block with a different layer as the part with that name.
template <class Step, class Name, class Layer, class Parts = typename Step::parts>
struct step_with;
template <class Step, class Name, class Layer, class... Part>
struct step_with<Step, Name, Layer, list<Part...>> {
  using type = typename Step::template of_parts<list<std::conditional_t<
      std::is_same_v<typename Part::name, Name>, made_part<Name, Part::sees, Layer>, Part>...>>;
};
template <class Described, class Name, class Layer>
struct block_with_layer;
template <class T, class Hidden, class... Step, class... Options, class Style, class Name,
          class Layer>
struct block_with_layer<description<T, Hidden, list<Step...>, option_list<Options...>, Style>, Name,
                        Layer> {
  using type =
      residual_block<T, Hidden, Options..., typename step_with<Step, Name, Layer>::type...>;
};
}  // namespace residual

template <is_of_parts Layer, class Name, class Selection>
struct pruned_layer<Layer, Name, Selection> {
  using part = residual::part_called<typename Layer::described, Name>;
  static_assert(report<typename part::verdict>::ok, "umbel: shapes do not fit");
  template <class Of>
  struct smaller
      : residual::block_with_layer<typename Of::described, Name,
                                   typename pruned_layer<typename part::type, Selection>::type> {};
  using type = typename std::conditional_t<part::verdict::ok, smaller<Layer>,
                                           std::type_identity<Layer>>::type;
  using given = type;
};
template <class Layer, std::size_t Count, class Name, class Selection>
struct pruned_layer<layer_stack<Layer, Count>, Name, Selection> {
  using type = layer_stack<typename pruned_layer<Layer, Name, Selection>::type, Count>;
  using given = type;
};
}  // namespace detail

// w: owned. The weights of the other parts are copied.
template <class Layer, class Name, class Selection>
  requires detail::is_of_parts<Layer>
constexpr typename pruned<Layer, Name, Selection>::weights pruned_weights(
    const typename Layer::weights& w) noexcept {
  using from = typename Layer::described;
  using to = typename pruned<Layer, Name, Selection>::described;
  using attention = typename Layer::template layer_of<Name>;
  typename to::weights out{};
  const auto copy_slot = [&]<std::size_t Slot>(std::integral_constant<std::size_t, Slot>) {
    const auto& part = from::template weights_at<Slot>(w);
    if constexpr (std::is_same_v<typename from::template slot_name<Slot>, Name>)
      out.template get<Slot>() = pruned_weights<attention, Selection>(part);
    else
      out.template get<Slot>() = part;
  };
  [&]<std::size_t... Slot>(std::index_sequence<Slot...>) {
    (copy_slot(std::integral_constant<std::size_t, Slot>{}), ...);
  }(std::make_index_sequence<from::slots::size>{});
  return out;
}
template <class Layer, class Name, class Selection>
  requires detail::is_stack<Layer>
constexpr typename pruned<Layer, Name, Selection>::weights pruned_weights(
    const typename Layer::weights& w) noexcept {
  typename pruned<Layer, Name, Selection>::weights out{};
  for (std::size_t i = 0; i < w.size(); ++i)
    out[i] = pruned_weights<typename Layer::layer, Name, Selection>(w[i]);
  return out;
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
