// SPDX-License-Identifier: BSL-1.0
// recompute: the bits of a gradient that keeps everything, in less memory.
#include "gradient_support.hpp"

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

namespace {

using encoder = encoder_layer<double, hidden<8>, heads<2>, intermediate<16>, norm_first<true>,
                              activation<gelu_tanh>, bias<true>>;
using stack = layer_stack<encoder, 2>;
using network =
    feed_forward<double, hidden<8>, intermediate<24>, activation<silu>, gated<true>, bias<true>>;
struct model {
  static constexpr const char* part_names[] = {"layers", "last"};
  stack::weights layers;
  network::weights last;
};
using sequences = tensor<double, batch<2>, token<5>, hidden<8>>;

template <template <class> class How>
constexpr auto loss_by = [](auto x, const auto& w, auto lens) {
  const auto y = How<stack>{w.layers}(x, lens & causal);
  return sum<batch, token, hidden>(tanh(How<network>{w.last}(y) + x) * y);
};
template <class Layer>
using as_it_is = Layer;

BOOST_AUTO_TEST_CASE(the_same_bits_in_less_memory) {
  lcg next;
  sequences x, dx{}, same_dx{};
  model w, g{}, same{};
  draw(next, x), draw_weights(next, w);
  const tensor<int, batch<2>> lens{5, 3};
  constexpr formula keeping{loss_by<as_it_is>};
  constexpr formula recomputing{loss_by<recompute>};
  constexpr gradient by_keeping{keeping};
  constexpr gradient by_recomputing{recomputing};
  static workspace_for<decltype(by_keeping), differentiated<sequences>, differentiated<model>,
                       tensor<int, batch<2>>>
      large;
  static workspace_for<decltype(by_recomputing), differentiated<sequences>, differentiated<model>,
                       tensor<int, batch<2>>>
      small;
  const auto value = by_keeping(with_gradient(x, dx), with_gradient(w, g), lens, large);
  const auto again = by_recomputing(with_gradient(x, same_dx), with_gradient(w, same), lens, small);
  BOOST_TEST(same_bits(value, again));
  BOOST_TEST(same_bits(dx, same_dx));
  BOOST_TEST(same_bits(g, same));
  static_assert(3 * sizeof small < 2 * sizeof large);
  BOOST_TEST_MESSAGE(sizeof large << " bytes, recomputed " << sizeof small);
  // Without a gradient it is the layer.
  BOOST_TEST(same_bits(keeping(x, w, lens), recomputing(x, w, lens)));
  BOOST_TEST(same_bits(stack{w.layers}(x, lens), recompute<stack>{w.layers}(x, lens)));
}

}  // namespace
