// SPDX-License-Identifier: BSL-1.0
// call_footprint: the numbers that footprint gives (footprint.hpp), and what they are the sizes of.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/prepacked.hpp>
#include <umbel/mask/base.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// What a call, or several in turn, need: bytes, and operations. Masks are not counted, whatever
// they hide; nor is what lies between the elements of a view.
struct call_footprint {
  // What a call only reads: in flash, or in RAM. Of a layer its own weights, of a prepacked one
  // the packed ones.
  std::size_t weights = 0;
  // Constants of the library that a call reads: cosines and sines of rotary and of sinusoidal
  // positions. In flash; those of more than 131,072 pairs are computed at start, in RAM, which
  // `ram` does not count and bare metal need not have (UMBEL_CONSTRUCTORS_RUN).
  std::size_t tables = 0;
  // Keys and values of a key_value_cache, for as many positions as it has memory for.
  std::size_t cache = 0;
  // Scratch: on the stack, or in the workspace that is passed.
  std::size_t workspace = 0;
  // Tensors that a call takes, and gives. A call that writes into its argument needs one of them.
  std::size_t arguments = 0;
  std::size_t results = 0;
  // Operations of the products, two for a multiplication and an addition. Biases, norms, softmaxes
  // and activations are not counted.
  std::uint64_t flops = 0;
  // What has to come from memory and go there at least: weights, arguments, results; of a cache
  // what a step reads and adds. Scratch, what is read again, and weights that are not read (rows
  // of an embedding, in a step what makes the keys and values of a memory) are not counted.
  std::uint64_t bytes_moved = 0;
  // What must lie in writable memory; the same where weights and tables do, too.
  std::size_t ram = cache + workspace + arguments + results;
  std::size_t ram_with_weights = ram + weights + tables;

  // Both calls, one after the other: the larger workspace, arguments and results, which the other
  // uses again; the sum of all else. Weights and tables that both use are counted twice.
  friend constexpr call_footprint operator+(const call_footprint& a,
                                            const call_footprint& b) noexcept {
    const auto larger = [](std::size_t x, std::size_t y) { return x > y ? x : y; };
    return {.weights = a.weights + b.weights,
            .tables = a.tables + b.tables,
            .cache = a.cache + b.cache,
            .workspace = larger(a.workspace, b.workspace),
            .arguments = larger(a.arguments, b.arguments),
            .results = larger(a.results, b.results),
            .flops = a.flops + b.flops,
            .bytes_moved = a.bytes_moved + b.bytes_moved};
  }
};

namespace detail::footprints {

template <class Layer>
struct unpacked {
  using type = Layer;
};
template <class Layer, class... Options>
struct unpacked<prepacked<Layer, Options...>> {
  using type = Layer;
};

// quantized<...> and quantized_mean, without their headers: umbel/quantized.hpp is for who asks.
template <class Layer>
concept in_integers = requires {
  typename Layer::ranges;
  typename Layer::histograms;
};
// The layer of floats that a layer is, or is made of.
template <class Layer>
struct floats_of {
  using type = Layer;
};
template <in_integers Layer>
struct floats_of<Layer> {
  using type = typename Layer::layer;
};

// Bytes of what a layer, or an argument of a formula, has of weights.
template <class X>
constexpr std::size_t weights_of() {
  if constexpr (tensor_like<X> || std::is_arithmetic_v<X> || mask_like<X>)
    return 0;
  else if constexpr (requires { typename X::weights; })  // a layer, which borrows them
    return sizeof(typename X::weights);
  else if constexpr (requires { typename X::owned; })  // a view of them
    return sizeof(typename X::owned);
  else
    return std::is_empty_v<X> ? 0 : sizeof(X);
}
template <class X>
constexpr std::size_t elements_of() {
  if constexpr (tensor_like<X>)
    return layout_of<X>::count * sizeof(typename X::value_type);
  else
    return 0;
}

}  // namespace detail::footprints

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
