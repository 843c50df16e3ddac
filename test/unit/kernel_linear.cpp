// SPDX-License-Identifier: BSL-1.0
// linear and linear_packed against plain::linear, bit for bit, on every number of lanes.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/kernel/float/linear.hpp>
#include <umbel/kernel/plain/floats.hpp>

namespace {

using namespace umbel::detail::kernel;
using namespace umbel_test;
using umbel::detail::plan::target;

template <linear_shape S>
constexpr std::size_t x_size =
    S.rows == 0 || S.in == 0 ? 0 : (S.rows - 1) * S.x_row + (S.in - 1) * S.x_in + 1;
template <linear_shape S>
constexpr std::size_t y_size =
    S.rows == 0 || S.out == 0 ? 0 : (S.rows - 1) * S.y_row + (S.out - 1) * S.y_out + 1;

// Once, not for every kernel: the macro's code takes the compiler as long as a small one.
void expect(bool right, const char* what, const linear_shape& s, target on) {
  BOOST_TEST(right, what << ' ' << s.rows << 'x' << s.in << 'x' << s.out << ", " << on.vector_bytes
                         << " bytes");
}

template <linear_shape S, class T>
struct linear_case {
  buffer<T> x{x_size<S>}, w{S.in * S.out}, bias{S.bias ? S.out : 0}, expected{y_size<S>, 80};

  linear_case() {
    seeded next{static_cast<std::uint32_t>(S.rows * 131 + S.in * 31 + S.out)};
    x.fill(next);
    w.fill(next);
    bias.fill(next);
    plain::linear<S>(x.get(), w.get(), bias.get(), expected.get());
  }

  template <target Target>
  void check() {
    check_natural<Target>();
    check_packed<Target>();
  }

  template <target Target>
  void check_natural() {
    buffer<T> y{y_size<S>, 80};
    linear<S, T, Target>(x, w, bias, y);
    expect(y.same_bits(expected), "linear", S, Target);
  }

  template <target Target>
  void check_packed() {
    buffer<T> packed{packed_size<S, T, Target>, 80}, repacked{y_size<S>, 80};
    buffer<T> biases{S.bias ? padded_features<S.out, T, Target> : 0, 80};
    pack_linear<S.in, S.out, S.bias, T, Target>(w, bias, packed.get(), biases);
    expect(packed.guards_are_whole() && biases.guards_are_whole(), "guards of", S, Target);
    linear_packed<S, T, Target>(x, packed.get(), biases, repacked);
    expect(repacked.same_bits(expected), "packed", S, Target);
  }

  // Weights stored in 16 bits: the bits of the rounded ones.
  template <target Target, class W>
  void check_stored() {
    buffer<T> rounded{S.in * S.out}, biases{S.bias ? padded_features<S.out, T, Target> : 0};
    buffer<T> right{y_size<S>, 80}, y{y_size<S>, 80};
    for (std::size_t i = 0; i < S.in * S.out; ++i)
      rounded[i] = static_cast<T>(static_cast<W>(w[i]));
    plain::linear<S>(x.get(), rounded.get(), bias.get(), right.get());
    const std::unique_ptr<W[]> panels{new W[packed_size<S, T, Target>]};
    pack_linear<S.in, S.out, S.bias, T, Target>(w, bias, panels.get(), biases);
    linear_packed<S, T, Target>(x, panels.get(), biases, y);
    expect(y.same_bits(right), "stored", S, Target);
    expect(!y.same_bits(expected), "not stored", S, Target);
  }

  // In 8 bits: the bits of the plain loops.
  template <target Target>
  void check_scaled() {
    buffer<T> scales{S.out}, right{y_size<S>, 80}, y{y_size<S>, 80};
    const std::unique_ptr<std::int8_t[]> steps{new std::int8_t[S.in * S.out]};
    plain::store_in_8_bits<S>(w.get(), steps.get(), scales.get());
    plain::linear<S>(x.get(), steps.get(), scales.get(), bias.get(), right.get());
    buffer<T> numbers{(S.bias ? 2 : 1) * padded_features<S.out, T, Target>, 80};
    const std::unique_ptr<std::int8_t[]> panels{new std::int8_t[packed_size<S, T, Target>]};
    pack_linear<S.in, S.out, S.bias, T, Target>(w, bias, panels.get(), numbers);
    expect(numbers.guards_are_whole(), "guards of", S, Target);
    linear_packed<S, T, Target>(x, panels.get(), numbers, y);
    expect(y.same_bits(right), "in 8 bits", S, Target);
    expect(!y.same_bits(expected), "not in 8 bits", S, Target);
  }

  void check_all() {
    check<scalar_target>();
    check<vector_16>();
    check<vector_32>();
    check<vector_64>();
  }
};

// Row-major x and y, with gaps of `pad` between rows.
template <std::size_t Rows, std::size_t In, std::size_t Out, bool Bias = true, std::size_t Pad = 0>
constexpr linear_shape row_major{Rows, In, Out, In + Pad, 1, Out + Pad, 1, Bias};

// Every shape, target and kind of weights is a kernel for the compiler. One shape has narrow
// vectors where its weights are natural and wide ones where they are packed, the next the other way
// round; primes_with_tails runs a shape in all ways.
template <class T, linear_shape S, linear_shape... Next>
void check_shapes() {
  linear_case<S, T> c;
  if constexpr (sizeof...(Next) % 2 == 0) {
    c.template check_natural<vector_16>();
    c.template check_packed<vector_64>();
  } else {
    c.template check_packed<vector_16>();
    c.template check_natural<vector_64>();
  }
  if constexpr (sizeof...(Next) > 0) check_shapes<T, Next...>();
}

template <target Target, class T, linear_shape... S>
void check_shapes_on() {
  (linear_case<S, T>{}.template check<Target>(), ...);
}

template <target Target, class W, linear_shape... S>
void check_stored_shapes() {
  (linear_case<S, float>{}.template check_stored<Target, W>(), ...);
}

template <target Target, linear_shape... S>
void check_scaled_shapes() {
  (linear_case<S, float>{}.template check_scaled<Target>(), ...);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_linear)

// With and without a last vector that is partial or that rows share, with biases and without.
BOOST_AUTO_TEST_CASE(weights_in_8_bits) {
  constexpr linear_shape from_columns{13, 6, 20, 1, 16, 20, 1, true};
  constexpr linear_shape apart{5, 4, 36, 40, 3, 120, 3, false};
  check_scaled_shapes<vector_64, row_major<7, 13, 17>, row_major<1, 11, 300>, row_major<4, 9, 100>,
                      row_major<3, 7, 66, false>, row_major<5, 3, 24, false>, from_columns>();
  check_scaled_shapes<vector_32, row_major<3, 7, 66, false>, apart>();
  check_scaled_shapes<vector_16, row_major<1, 11, 300>, row_major<5, 3, 24>>();
  check_scaled_shapes<scalar_target, row_major<7, 13, 17>, row_major<3, 7, 66, false>>();
}

// Panels of one to four vectors, with and without a last one that is partial or that rows share, in
// either place of a pair: bfloat16, which is packed in pairs of vectors. float16 has no such order.
BOOST_AUTO_TEST_CASE(weights_in_16_bits_are_the_rounded_weights) {
  using umbel::bfloat16, umbel::float16;
  constexpr linear_shape from_columns{13, 6, 20, 1, 16, 20, 1, true};
  constexpr linear_shape apart{5, 4, 36, 40, 3, 120, 3, true};
  constexpr linear_shape small = row_major<7, 13, 17>;
  check_stored_shapes<vector_64, bfloat16, small, row_major<1, 11, 300>, row_major<4, 9, 100>,
                      row_major<3, 7, 66, false>, row_major<5, 3, 24>, row_major<9, 6, 64, true, 5>,
                      from_columns, apart>();
  check_stored_shapes<vector_32, bfloat16, small, row_major<3, 7, 66, false>, from_columns>();
  check_stored_shapes<vector_16, bfloat16, row_major<1, 11, 300>, row_major<5, 3, 24>>();
  check_stored_shapes<scalar_target, bfloat16, small>();
  check_stored_shapes<vector_64, float16, small, from_columns>();
  check_stored_shapes<vector_32, float16, apart>();
  check_stored_shapes<vector_16, float16, row_major<5, 3, 24>, from_columns>();
}

BOOST_AUTO_TEST_CASE(ones_and_sizes_below_a_vector) {
  check_shapes<float, row_major<1, 1, 1>, row_major<1, 7, 3>, row_major<3, 1, 5>,
               row_major<2, 5, 1, false>>();
}

BOOST_AUTO_TEST_CASE(primes_with_tails) {
  check_shapes<float, row_major<23, 5, 37, false>, row_major<29, 3, 101>, row_major<25, 3, 70>>();
  linear_case<row_major<7, 13, 17>, float>{}.check_all();
}

BOOST_AUTO_TEST_CASE(whole_vectors) {
  check_shapes<float, row_major<16, 32, 32>, row_major<25, 9, 64>, row_major<5, 8, 16, false>>();
}

BOOST_AUTO_TEST_CASE(one_row_takes_several_panels) {
  check_shapes<float, row_major<2, 6, 257>, row_major<1, 11, 300>>();
}

#if !EMULATED  // plans of wide vectors and of many registers
// More than a second-level cache holds: fetched ahead, where the target wants that.
BOOST_AUTO_TEST_CASE(one_row_of_many_weights) {
  constexpr umbel::detail::plan::target fetching{64, 32, {}, true, true},
      other{64, 32, {}, true, false};
  constexpr linear_shape tall = row_major<1, 900, 230>, even = row_major<1, 800, 256, false>;
  static_assert(
      umbel::detail::kernel::detail::linear_walk<tall, float, fetching, true>::fetches_ahead);
  static_assert(
      !umbel::detail::kernel::detail::linear_walk<tall, float, other, true>::fetches_ahead);
  linear_case<tall, float> c;
  c.check<fetching>();
  c.check_packed<other>();
  c.check_packed<vector_16>();
  linear_case<even, float>{}.check_natural<vector_16>();
  linear_case<even, float>{}.check_packed<fetching>();
  check_stored_shapes<fetching, umbel::bfloat16, row_major<1, 1800, 235>>();
  check_stored_shapes<vector_16, umbel::float16, row_major<1, 1800, 235>>();
}

// Many inputs: panels as wide as the registers allow, of which the last joins a group, with its
// tail.
BOOST_AUTO_TEST_CASE(wide_panels) {
  check_shapes<float, row_major<9, 130, 190>, row_major<2, 131, 165, false>>();
  check_stored_shapes<vector_64, umbel::bfloat16, row_major<2, 130, 180>>();
  check_stored_shapes<vector_32, umbel::float16, row_major<2, 130, 180>>();
}

// Panels of four and six vectors in tiles of two, the last one perhaps partial.
BOOST_AUTO_TEST_CASE(tiles_of_pairs) {
  constexpr target wide{64, 32};
  static_assert(umbel::detail::plan::plan_linear<float>(20, 130, 250, wide).tile == 2);
  linear_case<row_major<20, 130, 250>, float>{}.check<wide>();
  linear_case<row_major<13, 33, 64, false, 3>, float>{}.check<wide>();
  check_stored_shapes<wide, umbel::bfloat16, row_major<20, 130, 250>>();
  check_stored_shapes<wide, umbel::float16, row_major<8, 5, 63>>();
  // Rows share the last vector of a tile that is narrower than its panel.
  linear_case<row_major<20, 130, 244>, float>{}.check_packed<wide>();
  check_stored_shapes<wide, umbel::bfloat16, row_major<20, 13, 248>>();
  linear_case<row_major<2, 30, 160, false>, float>{}.check_packed<wide>();
  constexpr linear_shape apart{9, 4, 61, 40, 3, 200, 3, true};
  linear_case<apart, float>{}.check<wide>();
  linear_case<row_major<9, 4, 31>, double>{}.check_packed<wide>();
}

// Other tiles where a product takes a register.
BOOST_AUTO_TEST_CASE(not_fused) {
  linear_case<row_major<7, 9, 37>, float>{}.check<target{16, 16, {}, false}>();
  linear_case<row_major<2, 9, 21>, float>{}
      .check_stored<target{16, 16, {}, false}, umbel::float16>();
}

// A scalar FPU: tiles of one size, the last of which computes rows again, and of two sizes where
// these save more. Also rows that are apart.
BOOST_AUTO_TEST_CASE(tiles_of_one_size_without_vectors) {
  constexpr target fpu{0, 32}, risc_v{0, 28};
  constexpr auto rows_of = [](std::size_t rows) {
    return umbel::detail::plan::plan_linear<float>(rows, 32, 8, target{0, 32}).rows;
  };
  static_assert(rows_of(49).small_count == 0 && rows_of(49).offset(rows_of(49).count()) > 49);
  static_assert(rows_of(6).count() == 1);
  linear_case<row_major<49, 32, 10>, float>{}.check<fpu>();
  linear_case<row_major<29, 33, 7, false>, float>{}.check<risc_v>();
  linear_case<row_major<7, 5, 4>, double>{}.check<fpu>();
  constexpr linear_shape apart{33, 4, 11, 40, 3, 200, 3, true};
  linear_case<apart, float>{}.check<fpu>();
  linear_case<row_major<53, 9, 5>, float>{}.check_stored<fpu, umbel::float16>();
}

// Whatever an experiment fixes (plan/target.hpp).
BOOST_AUTO_TEST_CASE(every_plan_has_the_same_bits) {
  linear_case<row_major<7, 13, 104>, float> c;
  constexpr auto fixed = [](umbel::detail::plan::overrides choice) {
    return target{64, 32, choice};
  };
  c.check_natural<fixed({1, 1, 1, 0})>();
  c.check<fixed({1, 3, 7, 0})>();
  c.check_packed<fixed({2, 14, 1, 0})>();
  c.check<fixed({3, 1, 2, 0})>();
  c.check_natural<fixed({4, 6, 1, 0})>();
  c.check_packed<fixed({6, 2, 1, 0})>();
  c.check_natural<fixed({8, 2, 1, 0})>();
}
#endif

BOOST_AUTO_TEST_CASE(gaps_between_rows_are_left_alone) {
  check_shapes<float, row_major<9, 6, 19, true, 5>, row_major<4, 3, 32, false, 1>>();
}

#if !EMULATED  // none do in vectors of 16 bytes
// 1 to 8 features in the last vector, 2 to 9 rows: those that share it and those that do not. None
// do in vectors of 16 bytes.
BOOST_AUTO_TEST_CASE(rows_share_the_last_vector) {
  check_shapes_on<vector_64, float, row_major<4, 9, 100>, row_major<6, 9, 100, false>,
                  row_major<2, 5, 4>, row_major<9, 5, 20>, row_major<3, 7, 66>, row_major<5, 3, 24>,
                  row_major<8, 3, 23, false>, row_major<2, 3, 33, true, 3>>();
  check_shapes_on<vector_32, float, row_major<4, 9, 100>, row_major<3, 7, 66>>();
  check_shapes_on<vector_64, double, row_major<4, 3, 18>, row_major<5, 3, 12, false>,
                  row_major<7, 3, 9>>();
  constexpr linear_shape apart{5, 4, 20, 40, 3, 60, 1, true};
  check_shapes_on<vector_64, float, apart>();
}
#endif

BOOST_AUTO_TEST_CASE(transposed_operands) {
  constexpr linear_shape from_columns{13, 6, 20, 1, 16, 20, 1, true};
  constexpr linear_shape to_columns{13, 6, 20, 6, 1, 1, 15, true};
  constexpr linear_shape both{13, 6, 20, 1, 13, 1, 13, false};
  constexpr linear_shape apart{5, 4, 19, 40, 3, 60, 3, true};
  check_shapes<float, to_columns, from_columns, apart>();
  static_assert(UMBEL_SANITIZED || EMULATED ||
                umbel::detail::kernel::detail::rows_in_lanes<both, float, vector_64>);
  check_shapes_on<vector_64, float, both>();
}

BOOST_AUTO_TEST_CASE(nothing_to_sum_gives_the_bias) {
  check_shapes<float, row_major<3, 0, 18>, row_major<3, 0, 18, false>>();
}

BOOST_AUTO_TEST_CASE(doubles) {
  check_shapes<double, row_major<7, 13, 17>, row_major<1, 5, 70, false>, row_major<9, 4, 9>>();
}

BOOST_AUTO_TEST_CASE(one_packed_set_serves_any_number_of_rows) {
  constexpr linear_shape many = row_major<31, 10, 50>, one = row_major<1, 10, 50>;
  static_assert(packed_size<many, float> == packed_size<one, float>);
  static_assert(EMULATED || (packed_size<many, float, vector_64> == 64 * 10 &&
                             padded_features<50, float, vector_64> == 64));
  linear_case<many, float> problem;
  buffer<float> packed{packed_size<many, float>}, biases{padded_features<50, float>}, y{50};
  pack_linear<10, 50, true>(problem.w.get(), problem.bias.get(), packed.get(), biases.get());
  linear_packed<one>(problem.x.get(), packed.get(), biases.get(), y.get());
  BOOST_TEST(std::memcmp(y.get(), problem.expected.get(), 50 * sizeof(float)) == 0);
}

BOOST_AUTO_TEST_CASE(packing_works_in_constant_expressions) {
  struct arrays {
    float w[6], bias[3], packed[6], biases[3];
  };
  constexpr arrays done = [] {
    arrays a{{1, 2, 3, 4, 5, 6}, {7, 8, 9}, {}, {}};
    pack_linear<2, 3, true, float, scalar_target>(a.w, a.bias, a.packed, a.biases);
    return a;
  }();
  static_assert(done.packed[0] == 1 && done.packed[5] == 6 && done.biases[0] == 7);
  constexpr float y = [] {
    const float x[2] = {3, 4}, w[2] = {5, 6}, bias[1] = {1};
    float out[1] = {};
    plain::linear<linear_shape{1, 2, 1, 2, 1, 1, 1, true}>(x, w, bias, out);
    return out[0];
  }();
  static_assert(y == 40);
  BOOST_TEST(y == 40);
}

BOOST_AUTO_TEST_CASE(a_nan_stays_in_its_row) {
  constexpr linear_shape shape = row_major<6, 5, 21>;
  linear_case<shape, float> problem;
  problem.x[2 * 5 + 1] = std::nanf("");
  buffer<float> y{6 * 21};
  linear<shape>(problem.x.get(), problem.w.get(), problem.bias.get(), y.get());
  for (std::size_t i = 0; i < y.size(); ++i) {
    BOOST_TEST(std::isnan(y[i]) == (i / 21 == 2));
    if (i / 21 != 2) BOOST_TEST(y[i] == problem.expected[i]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
