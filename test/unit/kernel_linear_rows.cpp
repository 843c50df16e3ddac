// SPDX-License-Identifier: BSL-1.0
// Rows in the lanes (kernel/float/linear_rows.hpp): the planner picks them for transposed x with
// few features, and the bits are those of the plain loops, with natural and with packed weights.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/kernel/float/linear.hpp>
#include <umbel/kernel/plain/floats.hpp>

namespace {

using namespace umbel_test;
namespace kernel = umbel::detail::kernel;
namespace plan = umbel::detail::plan;

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
  buffer<T> biases(Bias ? kernel::padded_features<Out, T, target> : 0);
  kernel::plain::linear<shape>(x.get(), w.get(), bias.get(), expected.get());
  kernel::linear<shape, T, target>(x.get(), w.get(), bias.get(), natural.get());
  kernel::pack_linear<In, Out, Bias, T, target>(w.get(), bias.get(), panels.get(), biases.get());
  kernel::linear_packed<shape, T, target>(x.get(), panels.get(), biases.get(), packed.get());
  BOOST_TEST(natural.same_bits(expected));
  BOOST_TEST(packed.same_bits(expected));
}

// Weights stored in 16 bits: the bits of the rounded ones, also where there are several vectors of
// them.
template <std::size_t Rows, std::size_t In, std::size_t Out, std::size_t Lanes, class W>
void check_stored() {
  static constexpr plan::target target = machine<Lanes, float>;
  static constexpr kernel::linear_shape shape = {Rows, In, Out, 1, Rows, Out, 1, true};
  static_assert(kernel::detail::rows_in_lanes<shape, float, target>);
  seeded next;
  buffer<float> x(Rows * In), w(In * Out), bias(Out), expected(Rows * Out, 16), y(Rows * Out, 16);
  buffer<float> biases(kernel::padded_features<Out, float, target>);
  x.fill(next);
  w.fill(next);
  bias.fill(next);
  const std::unique_ptr<W[]> panels{new W[kernel::packed_size<shape, float, target>]};
  kernel::pack_linear<In, Out, true, float, target>(w, bias, panels.get(), biases.get());
  for (std::size_t i = 0; i < In * Out; ++i) w[i] = static_cast<float>(static_cast<W>(w[i]));
  kernel::plain::linear<shape>(x.get(), w.get(), bias.get(), expected.get());
  kernel::linear_packed<shape, float, target>(x.get(), panels.get(), biases.get(), y.get());
  BOOST_TEST(y.same_bits(expected));
}

// In 8 bits: the bits of the plain loops.
template <std::size_t Rows, std::size_t In, std::size_t Out, bool Bias, std::size_t Lanes>
void check_scaled() {
  static constexpr plan::target target = machine<Lanes, float>;
  static constexpr kernel::linear_shape shape = {Rows, In, Out, 1, Rows, Out, 1, Bias};
  static_assert(kernel::detail::rows_in_lanes<shape, float, target>);
  seeded next;
  buffer<float> x(Rows * In), w(In * Out), bias(Out), expected(Rows * Out, 16), y(Rows * Out, 16);
  buffer<float> scales(Out), numbers((Bias ? 2 : 1) * kernel::padded_features<Out, float, target>);
  x.fill(next);
  w.fill(next);
  bias.fill(next);
  const std::unique_ptr<std::int8_t[]> steps{new std::int8_t[In * Out]},
      panels{new std::int8_t[kernel::packed_size<shape, float, target>]};
  kernel::pack_linear<In, Out, Bias, float, target>(w, bias, panels.get(), numbers.get());
  kernel::plain::store_in_8_bits<shape>(w.get(), steps.get(), scales.get());
  kernel::plain::linear<shape>(x.get(), steps.get(), scales.get(), bias.get(), expected.get());
  kernel::linear_packed<shape, float, target>(x.get(), panels.get(), numbers.get(), y.get());
  BOOST_TEST(y.same_bits(expected));
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

BOOST_AUTO_TEST_CASE(weights_in_16_bits_are_the_rounded_weights) {
  check_stored<48, 64, 3, 16, umbel::bfloat16>();
  check_stored<47, 64, 17, 16, umbel::bfloat16>();
  check_stored<64, 200, 36, 16, umbel::bfloat16>();
  check_stored<24, 61, 17, 8, umbel::bfloat16>();
  check_stored<47, 64, 17, 16, umbel::float16>();
  check_stored<24, 61, 5, 8, umbel::float16>();
}

BOOST_AUTO_TEST_CASE(weights_in_8_bits) {
  check_scaled<48, 64, 3, true, 16>();
  check_scaled<47, 64, 17, false, 16>();
  check_scaled<24, 61, 17, true, 8>();
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
