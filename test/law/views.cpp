// SPDX-License-Identifier: BSL-1.0
// Laws of the operations that only re-read memory: what they do and its undoing is identity, in
// type, memory and elements; no byte moves; a temporary hands its memory on.
#include "shapes.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>

using namespace law;

namespace {

// Parts to try: those that divide the axis, among the small primes and the whole.
template <class X, template <std::size_t> class Axis, class F>
void each_part(F f) {
  constexpr std::size_t size = X::layout::template size_of<axis_family<Axis>>;
  hana::for_each(hana::tuple_c<std::size_t, 1, 2, 3, 5, 7, 16, size>, [&](auto part) {
    constexpr std::size_t count = decltype(part)::value;
    if constexpr (splittable<X, Axis, outer<count>, inner>) f.template operator()<count>();
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(views)

BOOST_AUTO_TEST_CASE(split_then_merge_is_identity) {
  each_shape([]<class X>() {
    X x = counted<X>();
    const view before = as_view(x);
    each_axis<X>([&]<template <std::size_t> class Axis>() {
      each_part<X, Axis>([&]<std::size_t Count>() {
        const auto parts = x | split<Axis, outer<Count>, inner>;
        static_assert(rank<decltype(parts)> == rank<X> + 1);
        const auto after = parts | merge<outer, inner, Axis>;
        static_assert(std::is_same_v<decltype(after), decltype(before)>);
        BOOST_TEST(after.data() == x.data());
        BOOST_TEST(equal(after, before));
      });
    });
  });
}

BOOST_AUTO_TEST_CASE(split_counts_the_inner_part_fastest) {
  each_shape([]<class X>() {
    X x = counted<X>();
    each_axis<X>([&]<template <std::size_t> class Axis>() {
      each_part<X, Axis>([&]<std::size_t Count>() {
        const auto parts = x | split<Axis, outer<Count>, inner>;
        using split_layout = typename decltype(parts)::layout;
        constexpr std::size_t at = X::layout::template position<axis_family<Axis>>;
        static_assert(split_layout::template position<axis_family<outer>> == at);
        static_assert(split_layout::template position<axis_family<inner>> == at + 1);
        bool right = true;
        each_position(parts, [&](const auto& index) {
          std::array<std::size_t, rank<X>> whole{};
          for (std::size_t i = 0; i < rank<X>; ++i)
            whole[i] = i < at    ? index[i]
                       : i == at ? index[at] * split_layout::extents[at + 1] + index[at + 1]
                                 : index[i + 1];
          right = right && entry(parts, index) == entry(x, whole);
        });
        BOOST_TEST(right);
        constexpr std::size_t rest = X::layout::extents[at] / Count;
        BOOST_TEST(equal(x | split_into<Axis, outer<Count>, inner<rest>>, parts));
      });
    });
  });
}

BOOST_AUTO_TEST_CASE(split_into_three_is_two_splits) {
  auto x = counted<tensor<float, batch<3>, hidden<30>, query<2>>>();
  const auto at_once = x | split_into<hidden, outer<2>, fresh<3>, inner<5>>;
  const auto by_two = x | split<hidden, outer<2>, inner> | split<inner, fresh<3>, inner>;
  static_assert(std::is_same_v<decltype(at_once), decltype(by_two)>);
  BOOST_TEST(equal(at_once, by_two));
  BOOST_TEST(at_once.data() == x.data());
}

BOOST_AUTO_TEST_CASE(permute_then_its_inverse_is_identity) {
  each_shape([]<class X>() {
    X x = counted<X>();
    const view before = as_view(x);
    const auto undone = [&](auto there) {
      const auto after = there | orders<X>::same::permute;
      static_assert(std::is_same_v<decltype(after), decltype(before)>);
      BOOST_TEST(after.data() == x.data());
    };
    undone(x | orders<X>::same::permute);
    undone(x | orders<X>::reversed::permute);
    if constexpr ((rank<X>) > 1) undone(x | orders<X>::template turned<1>::permute);
    if constexpr ((rank<X>) > 2) undone(x | orders<X>::template turned<2>::permute);
  });
}

BOOST_AUTO_TEST_CASE(permute_reads_the_same_element) {
  each_shape([]<class X>() {
    X x = counted<X>();
    const auto there = x | orders<X>::reversed::permute;
    bool right = true;
    each_position(x, [&](const auto& index) {
      std::array<std::size_t, rank<X>> reversed{};
      for (std::size_t i = 0; i < rank<X>; ++i) reversed[rank<X> - 1 - i] = index[i];
      right = right && &entry(there, reversed) == &entry(x, index);
    });
    BOOST_TEST(right);
  });
}

BOOST_AUTO_TEST_CASE(rename_and_back_is_identity) {
  each_shape([]<class X>() {
    X x = counted<X>();
    each_axis<X>([&]<template <std::size_t> class Axis>() {
      const auto there = x | rename_axis<Axis, fresh>;
      static_assert(has_axis<decltype(there), fresh> && !has_axis<decltype(there), Axis>);
      const auto back = there | rename_axis<fresh, Axis>;
      static_assert(std::is_same_v<decltype(back), const decltype(as_view(x))>);
      BOOST_TEST(back.data() == x.data());
      bool right = true;
      each_position(
          x, [&](const auto& index) { right = right && &entry(there, index) == &entry(x, index); });
      BOOST_TEST(right);
    });
  });
}

BOOST_AUTO_TEST_CASE(reshape_keeps_the_row_major_order) {
  each_shape([]<class X>() {
    X x = counted<X>();
    const auto flat = x | reshape<fresh<X::layout::count>>;
    BOOST_TEST(flat.data() == x.data());
    bool right = true;
    std::size_t i = 0;
    each_position(x, [&](const auto& index) { right = right && flat(i++) == entry(x, index); });
    BOOST_TEST(right);
    BOOST_TEST(i == X::layout::count);
  });
}

BOOST_AUTO_TEST_CASE(select_is_indexing) {
  each_shape([]<class X>() {
    X x = counted<X>();
    each_axis<X>([&]<template <std::size_t> class Axis>() {
      constexpr std::size_t at = X::layout::template position<axis_family<Axis>>;
      constexpr std::size_t size = X::layout::extents[at];
      bool right = true;
      const auto check = [&](const auto& selected, std::size_t position) {
        static_assert(rank<decltype(selected)> + 1 == rank<X>);
        each_position(selected, [&](const auto& index) {
          std::array<std::size_t, rank<X>> whole{};
          for (std::size_t i = 0; i < rank<X>; ++i)
            whole[i] = i < at ? index[i] : i == at ? position : index[i - 1];
          right = right && &entry(selected, index) == &entry(x, whole);
        });
      };
      for (std::size_t position = 0; position < size; ++position) {
        check(x | select_at<Axis>(position), position);
        check(select_at<Axis>(x, position), position);
      }
      check(x | select_at<Axis, 0>, 0);
      check(x | select_at<Axis, size - 1>, size - 1);
      check(x | select_at<Axis, size / 2>, size / 2);
      BOOST_TEST(right);
    });
  });
}

BOOST_AUTO_TEST_CASE(slice_is_indexing_from_its_first_position) {
  each_shape([]<class X>() {
    X x = counted<X>();
    each_axis<X>([&]<template <std::size_t> class Axis>() {
      constexpr std::size_t at = X::layout::template position<axis_family<Axis>>;
      constexpr std::size_t size = X::layout::extents[at];
      bool right = true;
      const auto check = [&](const auto& sliced, std::size_t first, std::size_t count) {
        right = right && std::remove_cvref_t<decltype(sliced)>::layout::extents[at] == count;
        each_position(sliced, [&](auto index) {
          const float* const there = &entry(sliced, index);
          index[at] += first;
          right = right && there == &entry(x, index);
        });
      };
      check(x | slice<Axis, from<0>, extent<size>>, 0, size);
      check(x | slice<Axis, from<0>, extent<(size + 1) / 2>>, 0, (size + 1) / 2);
      check(x | slice<Axis, from<size / 2>, extent<size - size / 2>>, size / 2, size - size / 2);
      check(x | slice<Axis, from<size - 1>, extent<1>>, size - 1, 1);
      BOOST_TEST(right);
      // A slice of one position is a selection with the axis kept.
      if constexpr (size > 1)
        BOOST_TEST(&entry(x | slice<Axis, from<1>, extent<1>>,
                          std::array<std::size_t, rank<X>>{}) == (x | select_at<Axis, 1>).data());
    });
  });
}

BOOST_AUTO_TEST_CASE(broadcast_repeats_the_only_position) {
  const auto x = counted<tensor<float, query<3>, key<1>, head_dim<2>>>();
  const auto y = x | broadcast<batch<2>, query<3>, key<5>, head_dim<2>>;
  BOOST_TEST(y.data() == x.data());
  for (std::size_t q = 0; q < 3; ++q)
    for (std::size_t k = 0; k < 5; ++k)
      for (std::size_t d = 0; d < 2; ++d) BOOST_TEST(y(1, q, k, d) == x(q, 0, d));
  // Of a temporary tensor, and of a strided view.
  const auto owned = tensor<int, key<1>>{7} | broadcast<key<3>>;
  BOOST_TEST((owned == tensor<int, key<3>>{7, 7, 7}));
  BOOST_TEST(((x | slice<query, from<1>, extent<1>> | broadcast<query<2>, key<1>, head_dim<2>>) ==
              tensor<float, query<2>, key<1>, head_dim<2>>{2, 3, 2, 3}));
}

BOOST_AUTO_TEST_CASE(broadcast_repeats_by_name) {
  auto x = counted<tensor<float, query<5>, hidden<3>>>();
  const auto wide = x | broadcast<batch<2>, hidden<3>, heads<7>, query<5>>;
  BOOST_TEST(wide.data() == x.data());
  bool right = true;
  each_position(wide, [&](const auto& i) {
    right = right && &entry(wide, i) == &x(at<hidden>(i[1]), at<query>(i[3]));
  });
  BOOST_TEST(right);
  const auto everywhere = (counted<tensor<float>>() + 4) | broadcast<batch<2>, query<3>>;
  for_each([](float element) { BOOST_TEST(element == 4); }, everywhere);
}

// Broadcasting back over the axis that a selection removed reads the selected elements.
BOOST_AUTO_TEST_CASE(broadcast_undoes_select) {
  each_shape([]<class X>() {
    X x = counted<X>();
    each_axis<X>([&]<template <std::size_t> class Axis>() {
      const auto repeated = hana::unpack(dims(x), [&](auto... axes) {
        return x | select_at<Axis, 0> | broadcast<decltype(axes)...>;
      });
      static_assert(same_shape<decltype(repeated), X>);
      constexpr std::size_t at = X::layout::template position<axis_family<Axis>>;
      bool right = true;
      each_position(x, [&](auto index) {
        const float* const there = &entry(repeated, index);
        index[at] = 0;
        right = right && there == &entry(x, index);
      });
      BOOST_TEST(right);
    });
  });
}

BOOST_AUTO_TEST_CASE(what_is_written_through_a_view_is_in_the_tensor) {
  tensor<float, batch<2>, query<3>, hidden<10>> x{};
  auto h = x | split<hidden, heads<5>, head_dim> | permute<heads, batch, head_dim, query>;
  h(3, 1, 0, 2) = 36;
  BOOST_TEST(x(1, 2, 6) == 36);
  (x | select_at<batch>(1) | slice<hidden, from<4>, extent<2>> | rename_axis<query, key>)(0, 1) = 5;
  BOOST_TEST(x(1, 0, 5) == 5);
  (x | merge<batch, query, token> | reshape<fresh<60>>)(59) = 7;
  BOOST_TEST(x(1, 2, 9) == 7);
  auto row = x | select_at<batch, 0> | select_at<query, 1>;
  for (float& element : row) element = 2;
  for (std::size_t i = 0; i < 10; ++i) BOOST_TEST(x(0, 1, i) == 2);
  BOOST_TEST(x(0, 0, 9) == 0);
  BOOST_TEST(x(0, 2, 0) == 0);
}

// A temporary gives a tensor with the same bytes in the same order: nothing is rearranged.
BOOST_AUTO_TEST_CASE(temporaries_own_what_they_show) {
  each_shape([]<class X>() {
    X x = counted<X>();
    const auto lent = x | orders<X>::reversed::permute;
    const auto owned = counted<X>() | orders<X>::reversed::permute;
    static_assert(sizeof(owned) >= sizeof(float) * X::layout::count);
    BOOST_TEST(equal(lent, owned));
    BOOST_TEST(std::equal(x.data(), x.data() + X::layout::span, owned.data()));
    const auto begin = reinterpret_cast<std::uintptr_t>(&owned);
    const auto data = reinterpret_cast<std::uintptr_t>(owned.data());
    BOOST_TEST((begin <= data && data < begin + sizeof(owned)));
    each_axis<X>([&]<template <std::size_t> class Axis>() {
      constexpr std::size_t last = X::layout::template size_of<axis_family<Axis>> - 1;
      BOOST_TEST(equal(counted<X>() | select_at<Axis, last>, x | select_at<Axis, last>));
      BOOST_TEST(equal(counted<X>() | select_at<Axis>(last), x | select_at<Axis>(last)));
      BOOST_TEST(equal(counted<X>() | slice<Axis, from<last>, extent<1>>,
                       x | slice<Axis, from<last>, extent<1>>));
      BOOST_TEST(equal(counted<X>() | rename_axis<Axis, fresh>, x | rename_axis<Axis, fresh>));
    });
  });
}

BOOST_AUTO_TEST_SUITE_END()
