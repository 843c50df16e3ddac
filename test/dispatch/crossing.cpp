// SPDX-License-Identifier: BSL-1.0
// Two files: one hands objects on (main), one takes them (compiled with TAKES). Compiled for two
// targets they must not link, with what may cross as the exception. Pointers, for the names only.
#include <umbel/bare.hpp>

namespace crossing {

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<8>, heads<2>>;
using cache = key_value_cache<attention, key<4>>;

#ifdef TAKES
#define TAKE(name, ...)             \
  void take_##name(__VA_ARGS__* x); \
  void take_##name(__VA_ARGS__*) {}
#else
#define TAKE(name, ...) void take_##name(__VA_ARGS__* x);
#endif

#if !defined PLAIN
TAKE(workspace, attention::workspace<token<4>>)
TAKE(prepacked, prepacked<attention>)
TAKE(layer, attention)
TAKE(cache, cache)
TAKE(block, encoder_layer<float, hidden<8>, heads<2>, intermediate<9>, bias<false>,
                          norm_first<false>, activation<relu>>)
// What has a type of the target: a variable, and a function that returns one.
#ifdef TAKES
attention::workspace<token<4>> variable;
attention::workspace<token<4>>& returned() { return variable; }
#else
extern attention::workspace<token<4>> variable;
attention::workspace<token<4>>& returned();
#endif
#endif
TAKE(tensor, tensor<float, token<4>, hidden<8>>)
TAKE(view, view<const float, token<4>, strided<hidden<8>, 4>>)
TAKE(weights, attention::weights)
TAKE(borrowed, attention::weights_view)
TAKE(mask, decltype(causal & keep_mask(std::declval<tensor<bool, query<4>, key<4>>&>())))

}  // namespace crossing

#ifndef TAKES
int main() {
#if !defined PLAIN
  crossing::take_workspace(nullptr);
  crossing::take_prepacked(nullptr);
  crossing::take_layer(nullptr);
  crossing::take_cache(nullptr);
  crossing::take_block(nullptr);
  if (&crossing::variable != &crossing::returned()) return 1;
#endif
  crossing::take_tensor(nullptr);
  crossing::take_view(nullptr);
  crossing::take_weights(nullptr);
  crossing::take_borrowed(nullptr);
  crossing::take_mask(nullptr);
  return 0;
}
#endif
