// SPDX-License-Identifier: BSL-1.0
// Every block as small code.
#define UMBEL_SMALL_CODE 1
#include "uses.hpp"

namespace {

using namespace umbel_test;

struct as_small_code {
  static constexpr const char* name = "small code";
  template <class Layer>
  static void check() {
    const problem<Layer> p;
    static const umbel::prepacked<Layer> packed{p.w};
    const auto y = p.causal_pass(packed);
    BOOST_TEST(same_bits(p.causal_pass(Layer{p.w}), y));
    BOOST_TEST(relative_error(y, p.x) > 0.01);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(uses_in_small_code)
BOOST_AUTO_TEST_CASE(of_calls) { try_on_all<float, as_small_code>(); }
BOOST_AUTO_TEST_SUITE_END()
