// SPDX-License-Identifier: BSL-1.0
// Blocks in floats and in integers, for laws that hold for both: drawn weights, sequences of their
// numbers, and one way to call blocks that attend to a memory and blocks that do not. Not here: any
// test.
#pragma once

#include <umbel/umbel.hpp>

#include <algorithm>
#include <type_traits>

#include "quantized.hpp"

namespace umbel_test {

// A block without a memory is called without it and its mask.
template <class Layer>
struct calls_of_block {
  using block = Layer;  // or a stack of them
  static constexpr bool has_memory = umbel::detail::decodes_with_memory<Layer>;
  using hidden_axis = typename Layer::hidden_axis;

  template <class Called, class X, class Memory, class Mask, class Own, class... Work>
  static constexpr auto pass(const Called& layer, const X& x, const Memory& memory,
                             const Mask& mask, const Own& own, Work&&... work) {
    if constexpr (has_memory)
      return layer(x, memory, mask, umbel::self_mask(own), static_cast<Work&&>(work)...);
    else
      return layer(x, own, static_cast<Work&&>(work)...);
  }
  template <class Called, class Out, class X, class Memory, class Mask, class Own, class... Work>
  static constexpr void pass_into(const Called& layer, Out&& out, const X& x, const Memory& memory,
                                  const Mask& mask, const Own& own, Work&&... work) {
    if constexpr (has_memory)
      layer.into(out, x, memory, mask, umbel::self_mask(own), static_cast<Work&&>(work)...);
    else
      layer.into(out, x, own, static_cast<Work&&>(work)...);
  }
  template <class Cache, class Out, class Called, class X, class Mask, class Own, class... Work>
  static constexpr bool step(Cache& past, Out&& out, const Called& layer, const X& x,
                             const Mask& mask, const Own& own, Work&&... work) {
    if constexpr (has_memory)
      return past.step(out, layer, x, mask, umbel::self_mask(own), work...);
    else
      return past.step(out, layer, x, own, work...);
  }
  // A new sequence.
  template <class Cache, class Called, class Memory, class... Work>
  static constexpr void begin(Cache& past, const Called& layer, const Memory& memory,
                              Work&... work) {
    if constexpr (has_memory)
      past.attend_to(layer, memory, work...);
    else
      past.reset();
  }

  template <class Called, class Tokens, class Keys>
  static constexpr auto workspace_of_pass() {
    if constexpr (has_memory)
      return std::type_identity<typename Called::template workspace<Tokens, Keys>>{};
    else
      return std::type_identity<typename Called::template workspace<Tokens>>{};
  }
  template <class Called, class Tokens, class Keys>
  using workspace = typename decltype(workspace_of_pass<Called, Tokens, Keys>())::type;
};

template <class Layer>
struct in_floats : calls_of_block<Layer> {
  static constexpr bool is_of_floats = true;
  using called = Layer;
  using number = typename Layer::value_type;
  template <class... Axes>
  using sequences_of = umbel::tensor<number, Axes..., typename Layer::hidden_axis>;

  typename Layer::weights w = [] {
    lcg next{7};
    typename Layer::weights drawn{};
    draw_layer(next, drawn);
    return drawn;
  }();
  Layer layer{w};
  umbel::prepacked<Layer> packed{w};

  in_floats() = default;
  in_floats(const in_floats&) = delete;  // the layer borrows

  template <class F>
  void each_form(const F& f) const {
    f(layer), f(packed);
  }
  template <class... Axes>
  static auto sequences(lcg& next) {
    return drawn<sequences_of<Axes...>>(next, 2);
  }
  template <class... Axes>
  static auto memories(lcg& next) {
    return drawn<sequences_of<Axes...>>(next, 2);
  }
  // Of a stack.
  auto layer_at(std::size_t i) const { return typename Layer::layer{w[i]}; }
};

template <class Layer>
using observed_on_sequences = std::conditional_t<
    calls_of_block<Layer>::has_memory,
    quantized_fixture<Layer,
                      umbel::tensor<typename Layer::value_type, umbel::axes::token<12>,
                                    typename Layer::hidden_axis>,
                      umbel::tensor<typename Layer::value_type, umbel::axes::key<7>,
                                    typename Layer::hidden_axis>>,
    quantized_fixture<Layer, umbel::tensor<typename Layer::value_type, umbel::axes::token<12>,
                                           typename Layer::hidden_axis>>>;

template <class Layer>
struct in_integers : calls_of_block<Layer>, observed_on_sequences<Layer> {
  static constexpr bool is_of_floats = false;
  using called = umbel::quantized<Layer>;
  using number = std::int16_t;
  template <class... Axes>
  using sequences_of = umbel::tensor<number, Axes..., typename Layer::hidden_axis>;

  const called& packed = this->layer;  // it has one form

  in_integers() : observed_on_sequences<Layer>(self_attention_mask()) {}
  in_integers(const in_integers&) = delete;

  template <class F>
  void each_form(const F& f) const {
    f(this->layer);
  }
  template <class... Axes>
  static auto sequences(lcg& next) {
    return drawn_integers<sequences_of<Axes...>>(next, 16000);
  }
  template <class... Axes>
  static auto memories(lcg& next) {
    return drawn_integers<umbel::tensor<std::int8_t, Axes..., typename Layer::hidden_axis>>(next,
                                                                                            127);
  }
  // Of a stack, whose layers have one unit.
  auto layer_at(std::size_t i) const {
    auto seen = this->seen.layers[i];
    for (const auto& other : this->seen.layers) {
      seen.residual() = std::max(seen.residual(), other.residual());
      if constexpr (in_integers::has_memory)
        seen.memory() = std::max(seen.memory(), other.memory());
    }
    return umbel::quantized<typename Layer::layer>{this->w[i], seen};
  }

 private:
  static constexpr auto self_attention_mask() {
    if constexpr (in_integers::has_memory)
      return umbel::self_mask(umbel::causal);
    else
      return umbel::causal;
  }
};

}  // namespace umbel_test
