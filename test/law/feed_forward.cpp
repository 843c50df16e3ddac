// SPDX-License-Identifier: BSL-1.0
// What holds for the feed-forward layer whatever the numbers are, to the bit: it is its parts, row
// by row, in any form of its weights.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cstring>

#include "../support/blocks.hpp"
#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using tokens = tensor<float, batch<2>, token<5>, hidden<12>>;

template <class Layer, class X>
auto by_parts(const typename Layer::weights& w, const X& x) {
  const typename Layer::activate activate{};
  if constexpr (Layer::is_gated)
    return activate(x * w.gate) * (x * w.up) * w.down;
  else
    return activate(x * w.up) * w.down;
}

template <class T>
struct of_type {
  template <class... Options>
  using network = feed_forward<T, hidden<12>, intermediate<21>, Options...>;
};

template <class T, class... Options>
void check() {
  using layer = network_with<of_type<T>::template network, Options...>;
  using sequences = tensor<T, batch<2>, token<5>, hidden<12>>;
  lcg next{21};
  typename layer::weights w{};
  draw_feed_forward(next, w, 0.5, 0.25, 0.125);
  const prepacked<layer> packed{w};
  const auto x = drawn<sequences>(next, 2);
  const auto y = layer{w}(x);
  static_assert(std::is_same_v<decltype(y), const sequences>);
  BOOST_TEST(same_bits(by_parts<layer>(w, x), y));
  BOOST_TEST(same_bits(packed(x), y));
  BOOST_TEST(same_bits(x | layer{w}, y));
  // Sequence by sequence, position by position, and along axes of any name and number.
  BOOST_TEST(same_bits(layer{w}(x | select_at<batch, 1>), y | select_at<batch, 1>));
  for (std::size_t i = 0; i < 5; ++i) {
    tensor<T, hidden<12>> one{};
    for (std::size_t h = 0; h < 12; ++h) one(h) = x(1, i, h);
    const auto alone = layer{w}(one);
    for (std::size_t h = 0; h < 12; ++h) BOOST_TEST(alone(h) == y(1, i, h));
  }
  const auto regrouped = reshape<heads<2>, batch<1>, query<5>, hidden<12>>(x);
  BOOST_TEST(same_bits(reshape<batch<2>, token<5>, hidden<12>>(layer{w}(regrouped)), y));
  // Scratch, dirty or as it was left; the caller's memory for the result, also that of x.
  static typename layer::template workspace<token<5>> work;
  std::memset(static_cast<void*>(&work), 0xff, sizeof work);
  BOOST_TEST(same_bits(layer{w}(x, work), y));
  BOOST_TEST(same_bits(packed(x, work), y));
  sequences out{};
  layer{w}.into(out, x, work);
  BOOST_TEST(same_bits(out, y));
  sequences in_place = x;
  packed.into(as_view(in_place), in_place);
  BOOST_TEST(same_bits(in_place, y));
}

// An activation of the user's.
struct square_operation {
  template <class V>
  static constexpr V of(V x) noexcept {
    return x * x;
  }
  template <std::size_t Count, class T>
  static constexpr void apply(const T* x, T* y) noexcept {
    for (std::size_t i = 0; i < Count; ++i) y[i] = of(x[i]);
  }
};
inline constexpr square_operation square{};

constexpr auto drawn_constants = [] {
  struct {
    feed_forward<float, hidden<12>, intermediate<7>, gated<true>, activation<silu>,
                 bias<false>>::weights w{};
    tokens x{};
  } c;
  lcg next{22};
  draw_feed_forward(next, c.w, 0.5, 0.25, 0.125);
  draw(next, c.x);
  return c;
}();
using swiglu =
    feed_forward<float, hidden<12>, intermediate<7>, gated<true>, activation<silu>, bias<false>>;
constexpr tokens computed = swiglu{drawn_constants.w}(drawn_constants.x);
constexpr prepacked<swiglu> packed_constant{drawn_constants.w};

}  // namespace

BOOST_AUTO_TEST_SUITE(feed_forward_laws)

BOOST_AUTO_TEST_CASE(it_is_its_parts) {
  check<float>();
  check<float, bias<true>, activation<relu>>();
  check<float, gated<true>, activation<silu>>();
  check<float, gated<true>, activation<gelu_tanh>, bias<true>>();
  check<float, activation<relu>, gated<true>>();
  check<float, gated<false>, activation<gelu_exact>>();
  check<double, gated<true>, activation<silu>, bias<true>>();
}

BOOST_AUTO_TEST_CASE(an_activation_of_ones_own) {
  using layer = feed_forward<float, hidden<12>, intermediate<21>, activation<square>, bias<false>>;
  using with_gate = feed_forward<float, hidden<12>, intermediate<21>, activation<square>,
                                 gated<true>, bias<false>>;
  lcg next{23};
  with_gate::weights w{};
  draw_feed_forward(next, w, 0.5, 0.25, 0);
  const auto x = drawn<tokens>(next);
  const auto up = x * w.up, gate = x * w.gate;
  BOOST_TEST(same_bits(layer{layer::weights_view(w.up, w.down)}(x), up * up * w.down));
  BOOST_TEST(same_bits(with_gate{w}(x), gate * gate * up * w.down));
}

// A gate that is open everywhere (relu of a bias of 1) leaves the plain map.
BOOST_AUTO_TEST_CASE(an_open_gate) {
  using layer =
      feed_forward<float, hidden<12>, intermediate<21>, activation<relu>, gated<true>, bias<true>>;
  lcg next{24};
  layer::weights w{};
  draw_feed_forward(next, w, 0.5, 0.25, 0.125);
  for (float& e : w.gate.weight) e = 0;
  for (float& e : w.gate.bias) e = 1;
  const auto x = drawn<tokens>(next);
  BOOST_TEST(same_bits(layer{w}(x), x * w.up * w.down));
}

BOOST_AUTO_TEST_CASE(constant_expressions_give_the_bits_of_the_run) {
  const auto c = drawn_constants;
  BOOST_TEST(same_bits(swiglu{c.w}(c.x), computed));
  BOOST_TEST(same_bits(packed_constant(c.x), computed));
}

BOOST_AUTO_TEST_SUITE_END()
