// SPDX-License-Identifier: BSL-1.0
// One multi_head_attention: forward, and forward with the gradients of its input and weights.
// Compiled by run.py, to know what that costs; not a part of any program. (The type of a workspace
// is one of a lambda's: a function that names it would be nobody's.)
#pragma once

#include <umbel/training.hpp>

namespace compile_cost {

using namespace umbel;
using namespace umbel::axes;

template <std::size_t Batch, std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
struct of_layer {
  using attention = multi_head_attention<float, hidden<Hidden>, axes::heads<Heads>, bias<true>>;
  using weights = typename attention::weights;
  using sequences = tensor<float, batch<Batch>, token<Tokens>, hidden<Hidden>>;
  static constexpr formula loss = [](auto x, auto dy, const auto& w) {
    return sum<batch, token, hidden>(attention{w}(x)*dy);
  };
};

template <std::size_t... Sizes>
struct forward : of_layer<Sizes...> {
  using of = of_layer<Sizes...>;
  using work = workspace_for<decltype(of::loss), typename of::sequences, typename of::sequences,
                             typename of::weights>;
  static float run(const typename of::sequences& x, const typename of::sequences& dy,
                   const typename of::weights& w, void* scratch) {
    return of::loss(x, dy, w, *static_cast<work*>(scratch))();
  }
};

template <std::size_t... Sizes>
struct gradients : of_layer<Sizes...> {
  using of = of_layer<Sizes...>;
  static constexpr gradient learn{of::loss};
  using work = workspace_for<decltype(learn), differentiated<typename of::sequences>,
                             typename of::sequences, differentiated<typename of::weights>>;
  static float run(const typename of::sequences& x, typename of::sequences& dx,
                   const typename of::sequences& dy, const typename of::weights& w,
                   typename of::weights& dw, void* scratch) {
    return learn(with_gradient(x, dx), dy, with_gradient(w, dw), *static_cast<work*>(scratch))();
  }
};

}  // namespace compile_cost
