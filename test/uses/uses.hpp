// SPDX-License-Identifier: BSL-1.0
// A use is tried on every block of support/list_of_blocks.hpp:
//
//   struct in_a_formula {
//     static constexpr const char* name = "in a formula";
//     template <class Layer> static void check();     // BOOST_TESTs
//   };
//   BOOST_AUTO_TEST_CASE(in_a_formula_) { try_on_all<float, in_a_formula>(); }
//
// With UMBEL_USES in the environment each prints "# use|name|block|works" for docs/uses.md
// (table.py).
#pragma once

#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>

#include "../support/compare.hpp"
#include "../support/list_of_blocks.hpp"

namespace umbel_test {

template <class T, class Use>
void try_on_all() {
  const bool writes = std::getenv("UMBEL_USES") != nullptr;
  for_each_block<T>([writes]<class Layer>(const char* block) {
    BOOST_TEST_CONTEXT(Use::name << " of a block: " << block) { Use::template check<Layer>(); }
    const bool passed = boost::unit_test::results_collector_t::instance()
                            .results(boost::unit_test::framework::current_test_case().p_id)
                            .p_assertions_failed == 0;
    if (writes) std::printf("# use|%s|%s|%s\n", Use::name, block, passed ? "works" : "fails");
  });
}

// Known at run time only. With numbers that it knows, g++ computes a const problem and writes its
// weights as one store each: two thirds of the code of these tests.
inline lcg drawn_at_run_time() { return {39}; }

// Weights, a batch of sequences and, if the block attends to one, of memories.
template <class Layer, std::size_t Tokens = 12, std::size_t Keys = 7>
struct problem {
  using T = typename Layer::value_type;
  using tokens =
      umbel::tensor<T, umbel::axes::batch<2>, umbel::axes::token<Tokens>, umbel::axes::hidden<32>>;
  using memories =
      umbel::tensor<T, umbel::axes::batch<2>, umbel::axes::key<Keys>, umbel::axes::hidden<32>>;
  lcg next = drawn_at_run_time();
  tokens x = drawn<tokens>(next);
  memories memory = drawn<memories>(next);
  typename Layer::weights w = drawn_parameters<Layer>(next);

  // layer(x, causal) or layer(x, memory, self_mask(causal)). Layer: of floats, packed ...
  template <class Called, class... More>
  constexpr auto causal_pass(const Called& layer, More&&... more) const {
    return pass(layer, x, memory, umbel::causal, static_cast<More&&>(more)...);
  }
  template <class Called, class Out, class Workspace>
  void causal_pass_into(const Called& layer, Out& out, const tokens& from, Workspace&& work) const {
    if constexpr (has_memory<Layer>)
      layer.into(out, from, memory, umbel::self_mask(umbel::causal), work);
    else
      layer.into(out, from, umbel::causal, work);
  }
  template <class Called, class X, class Memory, class Mask, class... More>
  static constexpr auto pass(const Called& layer, const X& x, const Memory& memory,
                             const Mask& mask, More&&... more) {
    if constexpr (has_memory<Layer>)
      return layer(x, memory, umbel::self_mask(mask), static_cast<More&&>(more)...);
    else
      return layer(x, mask, static_cast<More&&>(more)...);
  }
};
template <class Layer, bool HasMemory = has_memory<Layer>>
struct workspace_of_pass {
  using type = umbel::workspace_for<Layer, typename problem<Layer>::tokens>;
};
template <class Layer>
struct workspace_of_pass<Layer, true> {
  using type = umbel::workspace_for<Layer, typename problem<Layer>::tokens,
                                    typename problem<Layer>::memories>;
};
template <class Layer>
using workspace_of = typename workspace_of_pass<Layer>::type;

// The largest difference beside the largest number.
template <class X, class Y>
double relative_error(const X& x, const Y& y) {
  const auto d = distance_of(x.data(), y.data(), y.size());
  return d.finite ? d.error / d.reference : 1e30;
}

}  // namespace umbel_test
