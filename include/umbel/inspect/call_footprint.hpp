// SPDX-License-Identifier: BSL-1.0
// call_footprint: the numbers of a footprint (footprint.hpp), and the sizes they come from.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/prepacked.hpp>
#include <umbel/mask/base.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(footprint, "footprint");
UMBEL_SAYS(so_read_its_ram_or_weights, "; read its ram, weights or flops");
UMBEL_SAYS(is_a_constant_so_write_it_without_a_call,
           "is a constant, not a function; write footprint<attention, token<64>>");
}  // namespace detail

// The needs of one or several calls: bytes and operations. Masks don't reduce them, and gaps
// between a view's elements aren't counted.
struct call_footprint {
  // Read-only data, in flash or RAM: a layer's weights, packed for a prepacked layer.
  std::size_t weights = 0;
  // Constants of the library: cosines and sines of rotary and sinusoidal positions, in flash. Those
  // of more than 131,072 pairs are computed at startup, in RAM, which `ram` doesn't count and bare
  // metal may lack (UMBEL_CONSTRUCTORS_RUN).
  std::size_t tables = 0;
  // Keys and values of a key_value_cache, for its whole capacity.
  std::size_t cache = 0;
  // Scratch: on the stack or in a workspace argument.
  std::size_t workspace = 0;
  // Input and output tensors. A call that writes into its argument needs only one of them.
  std::size_t arguments = 0;
  std::size_t results = 0;
  // Operations of the products: a multiply-add counts as two. Biases, norms, softmaxes and
  // activations aren't counted.
  std::uint64_t flops = 0;
  // The least memory traffic: weights, arguments, results; for a cache, the parts that a step reads
  // and adds. Not counted: scratch, repeated reads, unread weights (rows of an embedding; in a
  // step, the weights that made the memory's keys and values).
  std::uint64_t bytes_moved = 0;
  // Writable memory; the second also counts weights and tables.
  std::size_t ram = cache + workspace + arguments + results;
  std::size_t ram_with_weights = ram + weights + tables;

  // Both calls in turn: the larger workspace, arguments and results, which are reused, and the sum
  // of the rest. Shared weights and tables count twice.
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
  // As a number: refused.
  template <class X>
    requires std::is_arithmetic_v<X>
  constexpr operator X() const noexcept {
    return detail::no_conversion<detail::say::footprint, detail::say::so_read_its_ram_or_weights,
                                 X>();
  }
  // Compared with a number: refused.
  template <class X>
    requires std::is_arithmetic_v<X>
  friend constexpr bool operator<(const call_footprint&, X) noexcept {
    return detail::no_conversion<detail::say::footprint, detail::say::so_read_its_ram_or_weights,
                                 X>() < X{};
  }
  template <class X>
    requires std::is_arithmetic_v<X>
  friend constexpr bool operator>(const call_footprint&, X) noexcept {
    return detail::no_conversion<detail::say::footprint, detail::say::so_read_its_ram_or_weights,
                                 X>() > X{};
  }
  // footprint<attention, token<64>>(): refused.
  template <class... X>
  constexpr call_footprint operator()(const X&...) const noexcept {
    using verdict = detail::verdict<detail::never<X...>, detail::say::footprint,
                                    detail::say::is_a_constant_so_write_it_without_a_call>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return *this;
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

// quantized<...> and quantized_mean, without including umbel/quantized.hpp.
template <class Layer>
concept in_integers = requires {
  typename Layer::ranges;
  typename Layer::histograms;
};
// The float layer of a layer: itself, or its source if quantized.
template <class Layer>
struct floats_of {
  using type = Layer;
};
template <in_integers Layer>
struct floats_of<Layer> {
  using type = typename Layer::layer;
};

// Bytes of the weights in a layer or in a formula's argument.
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
