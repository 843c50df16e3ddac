// SPDX-License-Identifier: BSL-1.0
// layer_stack: equal layers in sequence, as one layer:
//
//   using encoder = encoder_layer<float, hidden<64>, heads<4>, ...>;
//   using model = layer_stack<encoder, 6>;
//   static model::weights w;                  // w[0] ... w[5], each an encoder::weights
//   model{w}(x, causal)                       // encoder{w[5]}( ... encoder{w[0]}(x, causal) ...)
//   static const prepacked<model> packed{w};  // and so on, as for any layer
//
// or decoder layers, which share a memory: decoders{w}(x, memory, self_mask(causal)).
//
// The bits are those of the layers called in sequence. All layers share one workspace, and only the
// last needs memory for its result. Decoding: decode/cache_of_blocks.hpp.
#pragma once

#include <umbel/block/decoder.hpp>
#include <umbel/block/encoder.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/stacked.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(layer_stack, "layer_stack");
UMBEL_SAYS(the_first_argument_is_not_an_encoder_layer_a_decoder_layer_or_a_residual_block,
           "the first argument is not an encoder_layer, a decoder_layer or a residual_block");

UMBEL_SAYS(needs_the_layer_and_their_number_so_write_layer_stack_of_them,
           "needs the layer and the number of layers; write layer_stack<encoder, 6>{w}");
// The arguments that layer_stack{a, b} lacks.
struct unnamed_layer {};

namespace rules {
template <class Layer, std::size_t Count>
using layer_stack = first_error<
    verdict<!std::is_same_v<Layer, unnamed_layer>, say::layer_stack,
            say::needs_the_layer_and_their_number_so_write_layer_stack_of_them>,
    verdict<is_of_parts<Layer>, say::layer_stack,
            say::the_first_argument_is_not_an_encoder_layer_a_decoder_layer_or_a_residual_block>,
    verdict<Count != 0, say::layer_stack, struct needs_at_least_one_layer>>;
}  // namespace rules

// operator() of the stack and prepacked<stack>: its layer's calls, whose errors name the layer.
template <class Derived, class Layer, std::size_t Count>
struct stack_calls : Layer::template calls<Derived> {};

// The members of a stack except its calls. With no layers: as with one.
template <class Layer, std::size_t Count>
struct stack_types {
  using layer = Layer;
  static constexpr std::size_t count = Count == 0 ? 1 : Count;
  using value_type = typename Layer::value_type;
  using hidden_axis = typename Layer::hidden_axis;
  using weights = portable::stacked_weights<typename Layer::weights, count>;
  using weights_view = portable::stacked_views<typename Layer::weights_view, count>;
  template <class Stored>
  using packed_weights = packed_stack<typename Layer::weights_view,
                                      typename Layer::template packed_weights<Stored>, count>;
  // Scratch for one call at a time: that of one layer.
  template <class... Positions>
  using workspace = typename Layer::template workspace<Positions...>;
};

}  // namespace detail

// Count equal layers in sequence. Layer: an encoder_layer, a decoder_layer or a residual_block.
// Call it like the layer, with one workspace of the layer. It borrows weights, as a layer does:
// model{w}, w a model::weights or an encoder::weights[Count].
template <class Layer, std::size_t Count>
UMBEL_EXPECTS("layer_stack: expects a type of layer, then a number; write layer_stack<encoder, 6>")
class layer_stack
    : public detail::stack_types<Layer, Count>,
      public detail::stack_calls<layer_stack<Layer, Count>, Layer, Count>,
      public detail::borrowing<detail::say::layer_stack, layer_stack<Layer, Count>,
                               typename detail::stack_types<Layer, Count>::weights_view> {
  static_assert(detail::reported<detail::rules::layer_stack<Layer, Count>>::ok,
                "umbel: shapes do not fit");

 public:
  template <class Derived>
  using calls = detail::stack_calls<Derived, Layer, Count>;
  using detail::borrowing<detail::say::layer_stack, layer_stack,
                          typename detail::stack_types<Layer, Count>::weights_view>::borrowing;
};
// Another layer: refused.
template <class Layer, std::size_t Count>
  requires(portable::anything<void> && !detail::is_of_parts<Layer>)
class layer_stack<Layer, Count> : public detail::invalid {
  static_assert(detail::reported<detail::rules::layer_stack<Layer, Count>>::ok,
                "umbel: shapes do not fit");

 public:
  struct weights {};
  template <class... Weights>
  constexpr explicit layer_stack(const Weights&...) noexcept {}
};
template <class... Weights>
layer_stack(const Weights&...) -> layer_stack<detail::unnamed_layer, 1>;

namespace detail {
template <class Layer, std::size_t Count>
void take_stack(const layer_stack<Layer, Count>*);
// Not a refused stack.
template <class Layer>
concept is_stack = requires(const Layer* layer) {
  take_stack(layer);
  typename Layer::layer;
};

// The blocks that a layer consists of: one, or those of a stack.
template <class Layer>
struct blocks_in {
  using block = Layer;
  static constexpr std::size_t count = 1;
};
template <is_stack Layer>
struct blocks_in<Layer> {
  using block = typename Layer::layer;
  static constexpr std::size_t count = Layer::count;
};
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
