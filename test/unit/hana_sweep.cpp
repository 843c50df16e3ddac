// SPDX-License-Identifier: BSL-1.0
// Shapes swept with Boost.Hana: every combination of some sizes as a tensor type, and for each what
// must hold of it at run time. (The door itself is tested in static/hana_door.cpp.)
#include <boost/hana.hpp>
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cmath>

namespace {

namespace hana = boost::hana;
using namespace umbel;
using namespace umbel::axes;

// Ones, primes, and sizes below, at and past a vector register.
constexpr auto batches = hana::tuple_t<batch<1>, batch<3>>;
constexpr auto lengths_of = hana::tuple_t<query<1>, query<17>>;
constexpr auto widths = hana::tuple_t<hidden<1>, hidden<12>, hidden<16>, hidden<33>>;

// (float, batch, query, hidden) for all of them.
constexpr auto shapes = hana::transform(
    hana::cartesian_product(hana::make_tuple(batches, lengths_of, widths)), tensor_from<float>);
static_assert(hana::length(shapes) == hana::size_c<2 * 2 * 4>);

template <class X>
X counted() {
  X x{};
  float next = 0;
  for (float& element : x) element = ++next;
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hana_sweep)

BOOST_AUTO_TEST_CASE(all_shapes_are_different_types) {
  static_assert(hana::length(hana::to_set(shapes)) == hana::length(shapes));
  std::size_t elements = 0;
  hana::for_each(shapes, [&](auto type) { elements += decltype(type)::type::layout::count; });
  BOOST_TEST(elements == (1 + 3) * (1 + 17) * (1 + 12 + 16 + 33));
}

BOOST_AUTO_TEST_CASE(axes_and_sizes_are_those_of_the_memory) {
  hana::for_each(shapes, [](auto type) {
    using X = typename decltype(type)::type;
    const X x = counted<X>();
    std::size_t count = 1, position = 0;
    hana::for_each(dims(x), [&](auto axis) {
      BOOST_TEST(decltype(axis)::size == X::layout::extents[position++]);
      count *= decltype(axis)::size;
    });
    BOOST_TEST(count == static_cast<std::size_t>(x.end() - x.begin()));
    const auto sizes = extents(x);
    BOOST_TEST(x(sizes[family_c<batch>].value - 1, sizes[family_c<query>].value - 1,
                 sizes[family_c<hidden>].value - 1) == static_cast<float>(count));
  });
}

BOOST_AUTO_TEST_CASE(heads_that_divide_split_and_merge_back) {
  int split_shapes = 0;
  hana::for_each(shapes, [&](auto type) {
    using X = typename decltype(type)::type;
    hana::for_each(
        hana::tuple_t<heads<1>, heads<2>, heads<3>, heads<4>, heads<11>>, [&](auto part) {
          using parts = typename decltype(part)::type;
          constexpr bool divides = extents(X{})[family_c<hidden>].value % parts::size == 0;
          static_assert(splittable<X, hidden, parts> == divides);
          if constexpr (divides) {
            const X x = counted<X>();
            const auto back = x | split<hidden, parts, head_dim> | merge<heads, head_dim, hidden>;
            static_assert(dims(back) == dims(x));
            BOOST_TEST((X(back) == x));
            ++split_shapes;
          }
        });
  });
  BOOST_TEST(split_shapes ==
             4 * (1 + 4 + 3 + 3));  // of 1: 1; of 12: 1 2 3 4; of 16: 1 2 4; of 33: 1 3 11
}

BOOST_AUTO_TEST_CASE(a_shape_turned_by_name_has_the_same_elements) {
  hana::for_each(shapes, [](auto type) {
    using X = typename decltype(type)::type;
    using Turned = typename decltype(tensor_from<float, hidden, batch, query>(extents(type)))::type;
    const X x = counted<X>();
    const Turned turned = x | permute<hidden, batch, query>;
    BOOST_TEST((X(turned | permute<batch, query, hidden>) == x));
  });
}

BOOST_AUTO_TEST_CASE(softmax_sums_to_one_in_every_shape) {
  hana::for_each(shapes, [](auto type) {
    using X = typename decltype(type)::type;
    const auto weights = softmax<hidden>(counted<X>());
    for (std::size_t b = 0; b < X::layout::extents[0]; ++b)
      for (std::size_t q = 0; q < X::layout::extents[1]; ++q) {
        float sum = 0;
        for (std::size_t h = 0; h < X::layout::extents[2]; ++h) sum += weights(b, q, h);
        BOOST_TEST(std::abs(sum - 1) < 1e-6f);
      }
  });
}

BOOST_AUTO_TEST_SUITE_END()
