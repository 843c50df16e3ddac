// SPDX-License-Identifier: BSL-1.0
// contract against plain::contract, bit for bit, on every number of lanes, of shapes and strides
// that are drawn; and lower_contraction against a loop over all the axes.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/kernel/float/contract_loops.hpp>

namespace {

using namespace umbel::detail::kernel;
using namespace umbel_test;
using umbel::detail::plan::target;

// Once, not for every kernel: the macro's code takes the compiler as long as a small one.
void expect(bool right, const contract_shape& s, target on, std::size_t which) {
  BOOST_TEST(right, which << ": " << s.rows << 'x' << s.depth << 'x' << s.columns << ", x "
                          << s.x_row << ' ' << s.x_depth << ", y " << s.y_depth << ' ' << s.y_column
                          << ", out " << s.out_row << ' ' << s.out_column << ", " << on.vector_bytes
                          << " bytes");
}

constexpr std::size_t last_of(std::size_t a, std::size_t a_step, std::size_t b,
                              std::size_t b_step) {
  return (a - 1) * a_step + (b - 1) * b_step + 1;
}

// Sums that start.
template <contract_shape S, class T, target Target>
void check(std::size_t which) {
  buffer<T> x{last_of(S.rows, S.x_row, S.depth, S.x_depth)};
  buffer<T> y{last_of(S.depth, S.y_depth, S.columns, S.y_column)};
  const std::size_t size = last_of(S.rows, S.out_row, S.columns, S.out_column);
  buffer<T> right{size, 80}, out{size, 80}, scratch{contract_scratch<S, T, Target>, 80};
  seeded next{static_cast<std::uint32_t>(S.rows * 131 + S.depth * 31 + S.columns)};
  x.fill(next), y.fill(next);
  plain::contract<S>(x.get(), y.get(), right.get());
  contract<S, T, Target>(x, y.get(), out, scratch);
  expect(out.same_bits(right) && scratch.guards_are_whole(), S, Target, which);
}

// Sums that go on, from what an array holds that ends where it ends.
template <contract_shape S, class T, target Target>
void check_going_on() {
  buffer<T> x{last_of(S.rows, S.x_row, S.depth, S.x_depth)};
  buffer<T> y{last_of(S.depth, S.y_depth, S.columns, S.y_column)};
  const std::size_t size = last_of(S.rows, S.out_row, S.columns, S.out_column);
  buffer<T> right{size}, out{size}, scratch{contract_scratch<S, T, Target, true>, 80};
  seeded next{7};
  x.fill(next), y.fill(next);
  for (const bool further : {false, true}) {
    plain::contract<S>(x.get(), y.get(), right.get(), further);
    contract<S, T, Target, true>(x, y.get(), out, scratch, further);
    expect(out.same_bits(right) && scratch.guards_are_whole(), S, Target, further);
    for (const std::size_t depth : {std::size_t{0}, S.depth / 2, S.depth}) {
      plain::contract_some<S>(x.get(), y.get(), right.get(), depth, further);
      contract_some<S, T, Target>(x.get(), y.get(), out.get(), depth, further);
      expect(out.same_bits(right), S, Target, depth);
    }
  }
}

struct drawing {
  std::uint32_t state;
  constexpr std::size_t below(std::size_t limit) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % limit;
  }
};

// Strides of two axes: the second adjacent, the first, either with gaps, heads between, none.
struct two_strides {
  std::size_t first, second;
};
constexpr two_strides strides_of(std::size_t style, std::size_t first, std::size_t second) {
  switch (style) {
    case 0:
      return {second, 1};
    case 1:
      return {1, first};
    case 2:
      return {second + 5, 1};
    case 3:
      return {1, first + 3};
    case 4:
      return {second * 3, 1};
    default:
      return {second * 4 + 1, 2};
  }
}

constexpr contract_shape drawn_shape(std::size_t which) {
  constexpr std::size_t sizes[] = {1, 3, 7, 16, 17, 31, 33, 64, 65};
  drawing next{static_cast<std::uint32_t>(which * 7919 + 1)};
  next.below(2);
  contract_shape s{};
  s.rows = sizes[next.below(9)], s.columns = sizes[next.below(9)], s.depth = sizes[next.below(9)];
  const two_strides x = strides_of(next.below(6), s.rows, s.depth);
  const two_strides y = strides_of(next.below(6), s.depth, s.columns);
  const two_strides out = strides_of(next.below(6), s.rows, s.columns);
  s.x_row = x.first, s.x_depth = x.second, s.y_depth = y.first, s.y_column = y.second;
  s.out_row = out.first, s.out_column = out.second;
  return s;
}

constexpr target targets[] = {vector_64, vector_32, vector_16, scalar_target};

// Every shape on one target, every fourth of double.
template <std::size_t First, std::size_t... I>
void check_drawn(std::index_sequence<I...>) {
  (check<drawn_shape(First + I), std::conditional_t<I % 4 == 3, double, float>,
         targets[(I + I / 4) % 4]>(First + I),
   ...);
}

template <contract_shape S, class T = float>
void check_all() {
  check<S, T, scalar_target>(0), check<S, T, vector_16>(0);
  check<S, T, vector_32>(0), check<S, T, vector_64>(0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_contract)

BOOST_AUTO_TEST_CASE(drawn_shapes_and_strides) {
  check_drawn<0>(std::make_index_sequence<UMBEL_SANITIZED ? 16 : 32>{});
}

// As attention has them: queries and keys of one of three heads, weights times values.
BOOST_AUTO_TEST_CASE(heads_between) {
  check_all<contract_shape{17, 33, 20, 60, 1, 1, 60, 33, 1}>();
  check_all<contract_shape{17, 20, 33, 33, 1, 60, 1, 60, 1}>();
  check_all<contract_shape{9, 17, 6, 18, 1, 1, 18, 1, 9}, double>();
}

// A depth of several blocks of what is packed, and the rest of one; sums go on through out.
BOOST_AUTO_TEST_CASE(blocks_of_depth) {
  constexpr contract_shape deep{9, 35, 300, 300, 1, 1, 300, 35, 1};
  constexpr contract_shape apart{9, 20, 530, 1, 9, 2, 1061, 60, 3};
  static_assert(
      umbel::detail::kernel::detail::contract_walk_of<deep, float, vector_64, false>::blocks > 1);
  check<deep, float, vector_64>(0), check<deep, float, vector_32>(0);
  check<apart, float, vector_64>(0), check<deep, double, vector_16>(0);
}

// Columns that are adjacent, of rows so far apart that a panel of them is packed: as x^T dy of many
// features has them.
BOOST_AUTO_TEST_CASE(rows_far_apart) {
  constexpr contract_shape far{45, 40, 301, 1, 45, 203, 1, 40, 1};
  constexpr contract_shape near{45, 40, 301, 1, 45, 50, 1, 40, 1};
  using detail::contract_walk_of;
  static_assert(contract_walk_of<far, float, vector_32, false>::packs);
  static_assert(contract_walk_of<far, float, vector_32, false>::blocks > 1);
  static_assert(!contract_walk_of<near, float, vector_32, false>::packs);
  check_all<far>();
  check_all<far, double>();
  check_going_on<far, float, vector_32>();
  check<contract_shape{64, 23, 270, 1, 64, 64, 1, 23, 1}, float, vector_32>(0);
}

BOOST_AUTO_TEST_CASE(sums_that_go_on) {
  check_going_on<contract_shape{9, 36, 7, 7, 1, 36, 1, 36, 1}, float, vector_64>();
  check_going_on<contract_shape{9, 35, 17, 17, 1, 1, 17, 90, 2}, float, vector_32>();
  check_going_on<contract_shape{9, 35, 300, 300, 1, 1, 300, 35, 1}, float, vector_64>();
  check_going_on<contract_shape{5, 3, 7, 7, 1, 3, 1, 1, 5}, double, scalar_target>();
  // Tiles never overlap: a sum would go on twice.
  check_going_on<contract_shape{13, 5, 35, 35, 1, 5, 1, 5, 1}, float, target{0, 32}>();
}

// An operand that an axis does not belong to: the stride 0.
BOOST_AUTO_TEST_CASE(strides_of_zero) {
  check_all<contract_shape{7, 19, 5, 0, 1, 1, 5, 19, 1}>();
  check_all<contract_shape{7, 19, 5, 5, 1, 1, 0, 19, 1}>();
  check_all<contract_shape{7, 19, 5, 5, 0, 19, 1, 19, 1}>();
}

BOOST_AUTO_TEST_CASE(constant_expressions) {
  static constexpr contract_shape s{2, 2, 2, 2, 1, 2, 1, 2, 1};
  struct numbers {
    double of[4];
  };
  constexpr numbers product = [] {
    const double x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8};
    numbers out{};
    plain::contract<s>(x, y, out.of);
    return out;
  }();
  static_assert(product.of[0] == 19 && product.of[1] == 22 && product.of[2] == 43 &&
                product.of[3] == 50);
  BOOST_TEST(product.of[3] == 50);
}

BOOST_AUTO_TEST_CASE(a_nan_stays_in_its_row) {
  constexpr contract_shape s{6, 21, 5, 5, 1, 1, 5, 21, 1};
  buffer<float> x{30}, y{105}, out{126}, scratch{contract_scratch<s, float>};
  seeded next{3};
  x.fill(next), y.fill(next);
  x[2 * 5 + 1] = std::nanf("");
  contract<s>(x.get(), y.get(), out.get(), scratch.get());
  for (std::size_t i = 0; i < out.size(); ++i) BOOST_TEST(std::isnan(out[i]) == (i / 21 == 2));
}

BOOST_AUTO_TEST_SUITE_END()
