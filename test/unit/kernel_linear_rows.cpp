// SPDX-License-Identifier: BSL-1.0
// Rows in the lanes (kernel/linear_rows.hpp): the planner picks them for transposed x with few
// features, and the bits are those of the plain loops, with natural and with packed weights.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/kernel/linear.hpp>
#include <umbel/kernel/plain.hpp>

namespace {

using namespace umbel_test;
namespace kernel = umbel::kernel;
namespace plan = umbel::plan;

template <std::size_t Lanes, class T>
inline constexpr plan::target machine{Lanes == 1 ? 0 : Lanes * sizeof(T), 32};

// x transposed, with `Gap` elements between its columns that are not there.
template <std::size_t Rows, std::size_t In, std::size_t Out, bool Bias, std::size_t Lanes, class T>
void check() {
  static constexpr plan::target target = machine<Lanes, T>;
  static constexpr kernel::linear_shape shape = {Rows, In, Out, 1, Rows, Out, 1, Bias};
  static_assert(Lanes == 1 || kernel::detail::rows_in_lanes<shape, T, target>);
  seeded next;
  buffer<T> x(Rows * In), w(In * Out), bias(Bias ? Out : 0);
  x.fill(next);
  w.fill(next);
  bias.fill(next);
  buffer<T> expected(Rows * Out, 16), natural(Rows * Out, 16), packed(Rows * Out, 16);
  buffer<T> panels(kernel::packed_size<shape, T, target>);
  kernel::plain::linear<shape>(x.get(), w.get(), bias.get(), expected.get());
  kernel::linear<shape, T, target>(x.get(), w.get(), bias.get(), natural.get());
  kernel::pack_linear<In, Out, Bias, T, target>(w.get(), bias.get(), panels.get());
  kernel::linear_packed<shape, T, target>(x.get(), panels.get(), packed.get());
  BOOST_TEST(natural.same_bits(expected));
  BOOST_TEST(packed.same_bits(expected));
}

template <std::size_t Lanes, class T>
void check_shapes() {
  check<Lanes, 7, 1, true, Lanes, T>();
  check<3 * Lanes, 64, 3, false, Lanes, T>();
  check<3 * Lanes - 1, 64, Lanes + 1, true, Lanes, T>();
  check<9 * Lanes + (Lanes > 1), 61, Lanes / 2 + 1, true, Lanes, T>();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_linear_rows)

BOOST_AUTO_TEST_CASE(gives_the_bits_of_the_plain_loops) {
  check_shapes<1, float>();
  check_shapes<4, float>();
  check_shapes<8, float>();
  check_shapes<16, float>();
  check_shapes<4, double>();
}

BOOST_AUTO_TEST_CASE(is_picked_where_features_leave_lanes_empty) {
  using enum plan::orientation;
  constexpr plan::target wide{64, 32};
  static_assert(plan::choose_orientation<float>(64, 64, 20, true, false, wide) == rows_in_lanes);
  static_assert(plan::choose_orientation<float>(64, 64, 8, true, false, wide) == rows_in_lanes);
  // Whole vectors of features; x as it comes; more features than one panel holds; no vectors.
  static_assert(plan::choose_orientation<float>(64, 64, 32, true, false, wide) ==
                features_in_lanes);
  static_assert(plan::choose_orientation<float>(64, 64, 20, false, false, wide) ==
                features_in_lanes);
  static_assert(plan::choose_orientation<float>(64, 64, 65, true, false, wide) ==
                features_in_lanes);
  static_assert(plan::choose_orientation<float>(64, 64, 8, true, false, {0, 32}) ==
                features_in_lanes);
  BOOST_TEST(plan::divide_up(20, 16) == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
