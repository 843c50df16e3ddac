// SPDX-License-Identifier: BSL-1.0
// Reductions against the plain loops, bit for bit, on every number of lanes.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/config.hpp>
#include <umbel/kernel/float/reduce.hpp>

namespace {

using namespace umbel::detail::kernel;
using namespace umbel_test;
using umbel::detail::plan::target;
using walk = axes_walk<3>;

template <class Operation, walk Kept, walk Reduced, class T>
void check() {
  static_assert(fewest_axes(Kept) == Kept && fewest_axes(Reduced) == Reduced);
  std::size_t last = 0;
  for (const walk& w : {Kept, Reduced})
    for (std::size_t i = 0; i < w.rank; ++i) last += (w.extents[i] - 1) * w.strides[i];
  seeded next{static_cast<std::uint32_t>(last)};
  buffer<T> x{last + 1}, expected{Kept.count(), 40};
  // Around 0; above and below, where a lane past the row that was 0 would be the smallest or the
  // largest; with zeros of both signs, infinity and NaN.
  for (const int kind : {0, 10, -10, 1}) {
    x.fill(next, 3);
    if (kind != 1) {
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += static_cast<T>(kind);
    } else {
      for (std::size_t i = 0; i < x.size(); i += 3) x[i] = i % 2 ? T{0} : T{-0.0};
      x[last / 2] = std::numeric_limits<T>::quiet_NaN();
      x[last / 3] = -std::numeric_limits<T>::infinity();
    }
    plain::reduce<Operation, Kept, Reduced>(x.get(), expected.get());
    const auto on = [&]<target Target>() {
      buffer<T> y{Kept.count(), 40};
      reduce<Operation, Kept, Reduced, T, Target>(x.get(), y.get());
      BOOST_TEST(y.same_numbers(expected), Target.vector_bytes << " bytes");
    };
    on.template operator()<scalar_target>();
    on.template operator()<vector_16>();
    on.template operator()<vector_32>();
    on.template operator()<vector_64>();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_reduce)

BOOST_AUTO_TEST_CASE(with_results_in_the_lanes) {
  check<plain::sum_of, walk{2, {3, 21}, {700, 1}}, walk{1, {33}, {21}}, float>();
  check<plain::max_of, walk{1, {7}, {1}}, walk{2, {3, 5}, {110, 20}}, float>();
  check<plain::mean_of, walk{2, {2, 33}, {2000, 1}}, walk{1, {49}, {40}}, float>();
  check<plain::mean_of, walk{1, {9}, {1}}, walk{1, {5}, {9}}, double>();
}

BOOST_AUTO_TEST_CASE(with_chains_in_the_lanes) {
  check<plain::sum_of, walk{}, walk{1, {100}, {1}}, float>();
  check<plain::min_of, walk{2, {3, 19}, {900, 45}}, walk{1, {41}, {1}}, float>();
  check<plain::max_of, walk{1, {5}, {16}}, walk{1, {7}, {1}}, double>();
}

BOOST_AUTO_TEST_CASE(with_runs_of_one_chain_in_squares) {
  check<plain::mean_of, walk{2, {3, 19}, {900, 45}}, walk{1, {41}, {1}}, float>();
  check<plain::mean_of, walk{1, {32}, {16}}, walk{1, {16}, {1}}, float>();
  check<plain::mean_of, walk{1, {5}, {16}}, walk{1, {7}, {1}}, double>();
}

BOOST_AUTO_TEST_CASE(of_anything_else) {
  check<plain::sum_of, walk{1, {6}, {7}}, walk{2, {3, 7}, {50, 1}}, float>();
  check<plain::mean_of, walk{}, walk{1, {11}, {3}}, double>();
}

BOOST_AUTO_TEST_CASE(axes_are_put_together) {
  constexpr axes_walk<4> all{4, {2, 3, 1, 5}, {15, 5, 77, 1}}, one{1, {30}, {1}};
  static_assert(fewest_axes(all) == one);
  constexpr axes_walk<4> apart{3, {2, 3, 5}, {16, 5, 1}}, two{2, {2, 15}, {16, 1}};
  static_assert(fewest_axes(apart) == two);
  static_assert(fewest_axes(axes_walk<2>{2, {4, 3}, {0, 0}}) == axes_walk<2>{1, {12}, {0}});
  BOOST_TEST(all.count() == one.count());
}

BOOST_AUTO_TEST_SUITE_END()
