// SPDX-License-Identifier: BSL-1.0
// describe and footprint of every block.
#include "uses.hpp"

#include <umbel/inspect/describe.hpp>
#include <umbel/inspect/footprint.hpp>

#include <string>

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

struct described {
  static constexpr const char* name = "describe";
  template <class Layer>
  static void check() {
    const std::string page = [] {
      if constexpr (has_memory<Layer>)
        return describe<Layer, token<12>, key<7>>();
      else
        return describe<Layer, token<12>>();
    }();
    BOOST_TEST(page.find("attention") != std::string::npos);
    BOOST_TEST(page.find("norm") != std::string::npos);
    BOOST_TEST(page.find("workspace") != std::string::npos);
  }
};

struct counted {
  static constexpr const char* name = "footprint";
  template <class Layer>
  static void check() {
    using p = problem<Layer>;
    const call_footprint needs = [] {
      if constexpr (has_memory<Layer>)
        return footprint<Layer, typename p::tokens, typename p::memories>;
      else
        return footprint<Layer, typename p::tokens>;
    }();
    BOOST_TEST(needs.workspace == sizeof(workspace_of<Layer>));
    BOOST_TEST(needs.flops > 0);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(uses_of_inspection)
BOOST_AUTO_TEST_CASE(of_describe) { try_on_all<float, described>(); }
BOOST_AUTO_TEST_CASE(of_footprint) { try_on_all<float, counted>(); }
BOOST_AUTO_TEST_SUITE_END()
