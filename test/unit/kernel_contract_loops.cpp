// SPDX-License-Identifier: BSL-1.0
// lower_contraction: which axes become rows, columns and depth, which are merged, which are loops;
// and contract_all against one loop over all positions of all axes, of contractions that are drawn.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/kernel/float/contract_loops.hpp>

namespace {

using namespace umbel::detail::kernel;
using namespace umbel_test;
using umbel::detail::plan::target;

template <std::size_t Kept, std::size_t Summed>
constexpr contract_loops<8> lowered(const contract_axis (&kept)[Kept],
                                    const contract_axis (&summed)[Summed]) {
  return lower_contraction<float, 8>(kept, Kept, summed, Summed, vector_64);
}

// (batch=2, query=16, heads=3, head_dim=20) and (batch=2, key=32, heads=3, head_dim=20) to
// (batch, heads, query, key).
constexpr auto scores = lowered(
    {{2, 960, 1920, 1536}, {3, 20, 20, 512}, {16, 60, 0, 32}, {32, 0, 60, 1}}, {{20, 1, 1, 0}});
static_assert(scores.shape == contract_shape{16, 32, 20, 60, 1, 1, 60, 32, 1});
static_assert(scores.each.count == 2 && scores.sums.count == 0);
static_assert(scores.each.list[0] == contract_axis{2, 960, 1920, 1536} &&
              scores.each.list[1] == contract_axis{3, 20, 20, 512});

// Heads and head_dim are summed: one run. Without a batch on the right, that is rows too.
constexpr auto flat =
    lowered({{2, 960, 0, 512}, {16, 60, 0, 32}, {32, 0, 60, 1}}, {{3, 20, 20, 0}, {20, 1, 1, 0}});
static_assert(flat.shape == contract_shape{32, 32, 60, 60, 1, 1, 60, 32, 1});
static_assert(flat.count() == 0);

// In another order they are no run: heads stay the depth, head_dim is a loop.
constexpr auto other_order =
    lowered({{16, 60, 0, 32}, {32, 0, 60, 1}}, {{20, 1, 1, 0}, {3, 20, 20, 0}});
static_assert(other_order.shape.depth == 3 && other_order.sums.count == 1 &&
              other_order.sums.list[0] == contract_axis{20, 1, 1, 0});

// Two axes of the left side that are no run: the larger one is the rows. Sizes of 1 are nothing.
constexpr auto two_of_left =
    lowered({{4, 1000, 0, 8000}, {50, 6, 0, 16}, {16, 0, 1, 1}}, {{1, 9, 9, 0}, {6, 1, 16, 0}});
static_assert(two_of_left.shape == contract_shape{50, 16, 6, 6, 1, 16, 1, 16, 1});
static_assert(two_of_left.each.count == 1 && two_of_left.each.list[0].extent == 4);

// Nothing is kept, nothing but a batch is kept, nothing is left to sum.
constexpr auto dot = lower_contraction<float, 1>(nullptr, 0, two_of_left.each.list, 1);
static_assert(dot.shape.rows == 1 && dot.shape.columns == 1 && dot.shape.depth == 4);
constexpr auto batch_of_dots = lowered({{5, 7, 7, 1}}, {{7, 1, 1, 0}});
static_assert(batch_of_dots.shape.rows == 1 && batch_of_dots.shape.columns == 1 &&
              batch_of_dots.each.count == 1);
static_assert(lowered({{5, 1, 0, 3}, {3, 0, 1, 1}}, {{1, 1, 1, 0}}).shape.depth == 1);

// Positions that both have, adjacent everywhere: in the lanes.
constexpr contract_axis of_both[] = {{16, 512, 0, 64}, {3, 8000, 512, 1030}, {57, 1, 1, 1}};
constexpr auto paired = lowered(of_both, {{8, 64, 64, 0}});
static_assert(paired.paired == 57 && paired.each.count == 2 && paired.shape.depth == 8 &&
              paired.shape.rows == 1 && paired.shape.columns == 1);
static_assert(scores.paired == 1 && batch_of_dots.paired == 1);

struct drawing {
  std::uint32_t state;
  constexpr std::size_t below(std::size_t limit) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % limit;
  }
};

struct contraction {
  contract_axes<8> kept, summed;
  std::size_t sizes[3];  // of x, y, out: elements from the first to the last
};

// Axes in some order in the memory of each operand, perhaps with gaps.
constexpr contraction drawn(std::size_t which) {
  drawing next{static_cast<std::uint32_t>(which * 104729 + 17)};
  next.below(2);
  contraction c{};
  bool in[6][3]{};
  std::size_t extents[6]{}, strides[6][3]{};
  const std::size_t kept = next.below(4) + 1, all = kept + next.below(3 < 6 - kept ? 3 : 2) + 1;
  for (std::size_t i = 0; i < all; ++i) {
    constexpr std::size_t sizes[] = {1, 2, 3, 7, 17, 20};
    extents[i] = sizes[next.below(i < 2 ? 6 : 4)];
    const std::size_t kind = i < kept ? next.below(3) : 0;  // of both, x, y
    in[i][0] = kind != 2, in[i][1] = kind != 1, in[i][2] = i < kept;
  }
  for (std::size_t operand = 0; operand < 3; ++operand) {
    std::size_t order[6] = {0, 1, 2, 3, 4, 5}, step = 1, last = 0;
    for (std::size_t i = all - 1; i > 0; --i) {
      const std::size_t j = next.below(i + 1), other = order[i];
      order[i] = order[j], order[j] = other;
    }
    for (std::size_t i = 0; i < all; ++i) {
      const std::size_t axis = order[i];
      if (!in[axis][operand]) continue;
      strides[axis][operand] = step;
      last += (extents[axis] - 1) * step;
      step = step * extents[axis] + (next.below(4) == 0 ? 2 : 0);
    }
    c.sizes[operand] = last + 1;
  }
  for (std::size_t i = 0; i < all; ++i) {
    (i < kept ? c.kept : c.summed).push({extents[i], strides[i][0], strides[i][1], strides[i][2]});
  }
  return c;
}

// The definition, with no thought of matrices.
template <class T, class F>
void each_position(const contract_axes<8>& axes, std::size_t axis, const T* x, const T* y, T* out,
                   const F& f) {
  if (axis == axes.count) {
    f(x, y, out);
    return;
  }
  const contract_axis& a = axes.list[axis];
  for (std::size_t i = 0; i < a.extent; ++i)
    each_position(axes, axis + 1, x + i * a.x, y + i * a.y, out + i * a.out, f);
}

template <class T>
void define(const contraction& c, const T* x, const T* y, T* out) {
  each_position(c.kept, 0, x, y, out, [&](const T* of_x, const T* of_y, T* to) {
    T sum{};
    each_position(c.summed, 0, of_x, of_y, to, [&](const T* a, const T* b, const T*) {
      sum = umbel::detail::simd::fma(*a, *b, sum);
    });
    *to = sum;
  });
}

void expect(bool right, std::size_t which, target on) {
  BOOST_TEST(right, "contraction " << which << ", " << on.vector_bytes << " bytes");
}

// Two sums, of which the outer one is a loop.
constexpr contraction paired_contraction(std::size_t positions) {
  return {{{{3, 1000, 0, 200}, {positions, 1, 1, 1}}, 2},
          {{{5, 100, 300, 0}, {2, 1500, 100, 0}}, 2},
          {2000 + 400 + 1500 + positions, 1200 + 100 + positions, 400 + positions}};
}

// Which: beyond 100, that many positions of an axis of both are in the lanes.
template <std::size_t Which, class T, target Target>
void check() {
  static constexpr contraction c = Which > 100 ? paired_contraction(Which - 100) : drawn(Which);
  static constexpr auto loops =
      lower_contraction<T, 8>(c.kept.list, c.kept.count, c.summed.list, c.summed.count, Target);
  static_assert(Which <= 100 || loops.paired == Which - 100);
  buffer<T> x{c.sizes[0]}, y{c.sizes[1]}, right{c.sizes[2], 80}, out{c.sizes[2], 80};
  buffer<T> slow{c.sizes[2], 80}, scratch{contract_all_scratch<loops, T, Target>, 80};
  seeded next{Which + 1};
  x.fill(next), y.fill(next);
  define<T>(c, x, y, right);
  contract_all<loops, T, Target>(x, y.get(), out, scratch.get());
  plain::contract_all<loops, T>(x.get(), y.get(), slow.get());
  expect(out.same_bits(right) && scratch.guards_are_whole(), Which, Target);
  expect(slow.same_bits(right), Which, Target);
}

constexpr target targets[] = {vector_64, vector_32, vector_16, scalar_target};

template <std::size_t... I>
void check_drawn(std::index_sequence<I...>) {
  (check<I, std::conditional_t<I % 4 == 3, double, float>, targets[(I + I / 4) % 4]>(), ...);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_contract_loops)

BOOST_AUTO_TEST_CASE(drawn_contractions) {
  check_drawn(std::make_index_sequence<UMBEL_SANITIZED ? 16 : 32>{});
}

BOOST_AUTO_TEST_CASE(positions_in_lanes) {
  check<165, float, vector_64>(), check<117, float, vector_64>(), check<133, float, vector_32>();
  check<107, double, vector_32>(), check<113, float, vector_16>(), check<103, float, vector_16>();
  check<105, double, scalar_target>();
}

BOOST_AUTO_TEST_SUITE_END()
