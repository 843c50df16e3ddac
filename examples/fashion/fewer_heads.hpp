// SPDX-License-Identifier: BSL-1.0
// The classifier's encoder layers with a subset of their heads, chosen at run time.
//
// A layer with fewer heads is a smaller compile-time type. Both fit: a type depends on the number
// of heads, not on which, so there are 4 encoders; and 4 heads have 15 subsets, so all 15 ways to
// take weights are compiled, and a loop picks the right one.
#pragma once

#include <bit>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "model.hpp"

namespace fashion {

using whole = encoder::attention;  // the model's: 4 heads of width 8
constexpr std::size_t all_heads = model::heads;
constexpr unsigned every_head = (1u << all_heads) - 1;

// ---- a subset of the heads, as bits: from run time to types and back ----------------------------
constexpr std::size_t nth_head(unsigned subset, std::size_t n) {
  for (; n > 0; --n) subset &= subset - 1;
  return static_cast<std::size_t>(std::countr_zero(subset));
}
template <unsigned Subset, std::size_t... N>
keep_heads<nth_head(Subset, N)...> keep_nth(std::index_sequence<N...>);
template <unsigned Subset>
using keep = decltype(keep_nth<Subset>(std::make_index_sequence<std::popcount(Subset)>{}));

// The first Count heads or any other Count: the same type.
template <std::size_t Count>
using smaller = pruned<whole, keep<(1u << Count) - 1>>;

template <std::size_t Count>
typename smaller<Count>::weights weights_of(const prepacked<whole>::weights_to_pack& w,
                                            unsigned subset) {
  typename smaller<Count>::weights taken{};
  const auto take_if = [&]<unsigned Subset>(std::integral_constant<unsigned, Subset>) {
    if constexpr (std::popcount(Subset) == Count)
      if (subset == Subset) taken = pruned_weights<whole, keep<Subset>>(w);
  };
  [&]<unsigned... Less>(std::integer_sequence<unsigned, Less...>) {
    (take_if(std::integral_constant<unsigned, Less + 1>{}), ...);
  }(std::make_integer_sequence<unsigned, every_head>{});
  return taken;
}

// ---- the layers ---------------------------------------------------------------------------------
//
// The encoder keeps its width; the heads keep theirs, which must be stated if there are fewer.
template <std::size_t Count>
using fewer =
    encoder_layer<float, hidden<32>, heads<Count>, intermediate<64>, bias<true>, norm_first<true>,
                  activation<gelu_exact>, head_dim<whole::sizes.head_dim>>;

template <std::size_t Count>
prepacked<fewer<Count>> encoder_with(std::size_t layer, unsigned subset) {
  const auto& p = trained::layers_parameters[layer];
  const auto w = weights_of<Count>(p.attention, subset);
  return prepacked<fewer<Count>>{{p.norm1, {w.q, w.k, w.v, w.o}, p.norm2, p.feed_forward}};
}

}  // namespace fashion
