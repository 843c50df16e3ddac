// SPDX-License-Identifier: BSL-1.0
// Laws of the operations that move elements: contiguous, transposed, copy, construction and
// assignment from views, comparison. Access by name says which element must be where.
#include "shapes.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>

using namespace law;

BOOST_AUTO_TEST_SUITE(moving)

BOOST_AUTO_TEST_CASE(contiguous_has_the_elements_of_the_view_in_row_major_order) {
  each_shape([]<class X>() {
    X x = counted<X>();
    const auto turned = x | orders<X>::reversed::permute;
    const auto moved = turned | contiguous;
    static_assert(decltype(moved)::layout::contiguous &&
                  detail::is_tensor<std::remove_cvref_t<decltype(moved)>>);
    BOOST_TEST(equal(turned, moved));
    std::size_t i = 0;
    bool right = true;
    each_position(turned, [&](const auto& index) {
      right = right && moved.data()[i++] == entry(turned, index);
    });
    BOOST_TEST(right);
    BOOST_TEST((moved | contiguous) == moved);
  });
}

BOOST_AUTO_TEST_CASE(transposed_by_name) {
  const auto x = counted<tensor<float, batch<2>, query<3>, hidden<17>>>();
  const auto t = x | transposed<batch, hidden>;
  static_assert(std::is_same_v<decltype(t), const tensor<float, hidden<17>, query<3>, batch<2>>>);
  bool right = true;
  each_position(x, [&](const auto& i) {
    right = right && x(i[0], i[1], i[2]) == t(at<batch>(i[0]), at<query>(i[1]), at<hidden>(i[2])) &&
            x(i[0], i[1], i[2]) == t(i[2], i[1], i[0]);
  });
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE(transposed_twice_is_identity) {
  each_shape([]<class X>() {
    const X x = counted<X>();
    each_axis<X>([&]<template <std::size_t> class First>() {
      each_axis<X>([&]<template <std::size_t> class Second>() {
        if constexpr (!std::is_same_v<axis_family<First>, axis_family<Second>>) {
          const auto t = x | transposed<First, Second>;
          BOOST_TEST(((t | transposed<First, Second>) == x));
          BOOST_TEST(((x | transposed<Second, First>) == t));
        }
      });
    });
  });
}

BOOST_AUTO_TEST_CASE(copy_and_assignment_take_elements_by_position) {
  each_shape([]<class X>() {
    const X x = counted<X>();
    X by_copy{}, by_assignment{};
    copy(x, by_copy);
    BOOST_TEST((by_copy == x));
    by_assignment = as_view(x);
    BOOST_TEST((by_assignment == x));
    const X constructed = as_view(x);
    BOOST_TEST((constructed == x));

    // Into a permuted view of other memory: the same elements under the same names.
    X target{};
    copy(x | orders<X>::reversed::permute, target | orders<X>::reversed::permute);
    BOOST_TEST((target == x));
    const auto there = x | orders<X>::reversed::permute | contiguous;
    X back{};
    copy(there | orders<X>::same::permute, back);
    BOOST_TEST((back == x));
  });
}

BOOST_AUTO_TEST_CASE(a_tensor_may_take_a_view_of_itself) {
  auto x = counted<tensor<int, query<3>, key<3>>>();
  x = x | permute<key, query> | rename_axis<key, fresh> | rename_axis<query, key> |
      rename_axis<fresh, query>;
  BOOST_TEST((x == tensor<int, query<3>, key<3>>{0, 3, 6, 1, 4, 7, 2, 5, 8}));
}

BOOST_AUTO_TEST_CASE(a_copy_converts_elements) {
  const tensor<double, query<3>> x{0.5, -2.5, 1e10};
  tensor<float, query<3>> as_float{};
  copy(x, as_float);
  BOOST_TEST(as_float(1) == -2.5f);
  const tensor<double, query<3>> back = as_float;
  BOOST_TEST(back(1) == -2.5);
  tensor<int, query<2>> as_int{};
  copy(x | slice<query, from<0>, extent<2>>, as_int);
  BOOST_TEST(as_int(1) == -2);
}

// Both in one object, where g++ 12 has deleted the calls: UMBEL_HAS_EFFECTS.
struct turned_and_not {
  tensor<float, hidden<6>, key<8>> x;
  tensor<float, key<8>, hidden<6>> turned;
};
[[gnu::noinline]] void turn(turned_and_not& both) {
  copy(both.x | permute<key, hidden>, both.turned);
}
BOOST_AUTO_TEST_CASE(copy_within_one_object) {
  static turned_and_not both;
  both.x = counted<tensor<float, hidden<6>, key<8>>>();
  turn(both);
  BOOST_TEST((both.turned == (both.x | permute<key, hidden> | contiguous)));
}

// Memory is read in row-major order, whatever the strides of the tensor.
BOOST_AUTO_TEST_CASE(construction_from_memory_is_row_major) {
  const int memory[] = {1, 2, 3, 4, 5, 6};
  const tensor<int, query<2>, key<3>> plain(memory);
  const tensor<int, strided<query<2>, 1>, strided<key<3>, 2>> columns(memory);
  const tensor<int, strided<query<2>, 8>, strided<key<3>, 1>> padded(memory);
  BOOST_TEST(equal(plain, columns));
  BOOST_TEST(equal(plain, padded));
  BOOST_TEST(columns.data()[1] == 4);
}

// What converts to a tensor may be compared with one.
BOOST_AUTO_TEST_CASE(equality_takes_what_converts) {
  const tensor<int, query<2>> a{1, 2}, b{1, 3};
  BOOST_TEST((std::cref(a) == a));
  BOOST_TEST(!(std::cref(a) == b));
}

// Two tensors are equal when their elements are; what lies in the gaps between them is no element.
BOOST_AUTO_TEST_CASE(gaps_are_not_compared) {
  const tensor<int, query<2>, hidden<3>> a{1, 2, 3, 4, 5, 6}, b{1, 2, 9, 4, 5, 9};
  BOOST_TEST((a != b));
  const auto of_a = (a + 0) | slice<hidden, from<0>, extent<2>>;
  const auto of_b = (b + 0) | slice<hidden, from<0>, extent<2>>;
  BOOST_TEST((of_a == of_b));
  BOOST_TEST((((a + 0) | slice<hidden, from<1>, extent<2>>) !=
              ((b + 0) | slice<hidden, from<1>, extent<2>>)));
}

// A merge of many axes is one merge after another, and undoes a split into as many parts.
BOOST_AUTO_TEST_CASE(merge_of_many) {
  const auto x = counted<tensor<float, batch<2>, heads<3>, query<4>, head_dim<5>>>();
  const auto all = x | merge<batch, heads, query, head_dim, hidden>;
  static_assert(std::is_same_v<decltype(all), const view<const float, hidden<120>>>);
  BOOST_TEST((all == (x | merge<batch, heads, token> | merge<query, head_dim, key> |
                      merge<token, key, hidden>)));
  BOOST_TEST(((x | merge<heads, query, head_dim, hidden> |
               split_into<hidden, heads<3>, query<4>, head_dim<5>>) == x));
}

BOOST_AUTO_TEST_CASE(equality_sees_every_element) {
  each_shape([]<class X>() {
    const X x = counted<X>();
    BOOST_TEST((x == x));
    for (std::size_t i = 0; i < X::layout::count; ++i) {
      X other = x;
      other.data()[i] += 1;
      if (other == x) BOOST_ERROR("a difference was not seen");
      // Of views, too, however they lie.
      const auto turned = orders<X>::reversed::permute;
      if ((other | turned) == (x | turned) || x == as_view(other))
        BOOST_ERROR("a difference between views was not seen");
      if (!((x | turned) == contiguous(x | turned) && as_view(x) == x))
        BOOST_ERROR("equal views differ");
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
