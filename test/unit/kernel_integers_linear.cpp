// SPDX-License-Identifier: BSL-1.0
// integer_linear, with every finish, against plain::integer_linear, bit for bit.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/kernel/integer/linear.hpp>

namespace {

using namespace umbel::detail::kernel;
using namespace umbel_test;

// In -most to most.
std::int32_t drawn(seeded& next, std::int32_t most) {
  return static_cast<std::int32_t>(next() * (most + 1));
}

template <integer_linear_shape S>
struct integer_linear_case {
  integer_panels<S.in, S.out> map{};
  buffer<std::int8_t> x{(S.rows - 1) * S.x_row + S.in};
  std::int8_t table[256];
  seeded next{static_cast<std::uint32_t>(S.rows * 131 + S.in * 31 + S.out)};

  // full: all weights of the largest magnitude, and inputs of -128.
  explicit integer_linear_case(bool full) {
    for (std::size_t o = 0; o < S.out; ++o) {
      std::int32_t sum = 0;
      for (std::size_t i = 0; i < S.in; ++i) {
        const std::int32_t w = full ? (o % 2 == 0 ? 127 : -127) : drawn(next, 127);
        map.weights[map.place(o, i)] = static_cast<std::int8_t>(w);
        sum += w;
      }
      map.starts[o] = drawn(next, 100000) - map.moved * sum;
      map.multiplier[o] = static_cast<std::int16_t>(900 + drawn(next, 700));
    }
    // |sum| * multiplier stays below 2^31 for 1000 inputs of random weights, and of these shapes.
    map.before = S.in > 100 || full ? 7 : 3;
    map.after = static_cast<std::uint8_t>(full ? 11 : 13);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<std::int8_t>(full || i % 11 == 0 ? -128 : drawn(next, 127));
    for (auto& t : table) t = static_cast<std::int8_t>(drawn(next, 127));
  }

  template <class T, class Finish>
  void check(const Finish& finish, const char* what) {
    buffer<T> y{(S.rows - 1) * S.y_row + S.out, 80}, right{y.size(), 80};
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = right[i] = static_cast<T>(drawn(next, sizeof(T) == 1 ? 127 : 32767));
    integer_linear<S>(map, x.get(), y.get(), finish);
    plain::integer_linear<S>(map, x.get(), right.get(), finish);
    BOOST_TEST(y.same_bits(right), what << ' ' << S.rows << 'x' << S.in << 'x' << S.out);
    BOOST_TEST(y.guards_are_whole());
  }
  void check_all() {
    check<std::int8_t>(finish::as_int8{}, "int8");
    check<std::int16_t>(finish::as_int16{}, "int16");
    check<std::int8_t>(finish::by_table{table}, "table");
    check<std::int16_t>(finish::added{}, "added");
  }
};

template <std::size_t Rows, std::size_t In, std::size_t Out, std::size_t More = 0>
void check() {
  constexpr integer_linear_shape s = {Rows, In, Out, In + More, Out + More};
  integer_linear_case<s>{false}.check_all();
  integer_linear_case<s>{true}.check_all();
}

BOOST_AUTO_TEST_CASE(tails_of_rows_inputs_and_outputs) {
  check<1, 1, 1>();
  check<2, 3, 5>();
  check<7, 13, 17, 3>();
  check<9, 34, 48>();
  check<23, 30, 70, 1>();
}

BOOST_AUTO_TEST_CASE(rows_prepared_in_blocks_and_inputs_in_parts) {
  check<80, 132, 64>();
  check<9, 1031, 20>();
}

}  // namespace
