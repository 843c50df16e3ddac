// SPDX-License-Identifier: BSL-1.0
// The Hana door: _c literals wherever a size goes, axes as a tuple, sizes as a map, and back.
#include <boost/hana.hpp>
#include <umbel/umbel.hpp>

#include <concepts>

namespace hana = boost::hana;
using namespace umbel;
using namespace umbel::axes;
using namespace umbel::literals;

// ---- literals -----------------------------------------------------------------------------------
static_assert(std::same_as<heads<5_c>, heads<5>>);
static_assert(
    std::same_as<tensor<float, batch<2_c>, hidden<100_c>>, tensor<float, batch<2>, hidden<100>>>);
static_assert(std::same_as<strided<heads<5_c>, 20_c>, strided<heads<5>, 20>>);
static_assert(std::same_as<decltype(split<hidden, heads<5_c>, head_dim>),
                           decltype(split<hidden, heads<5>, head_dim>)>);
static_assert(splittable<tensor<float, hidden<100>>, hidden, heads<5_c>>);
static_assert(!splittable<tensor<float, hidden<100>>, hidden, heads<7_c>>);
static_assert(sliceable<tensor<float, hidden<100>>, hidden, from<98_c>, extent<2_c>>);
static_assert(!selectable<tensor<float, hidden<100>>, hidden, 100_c>);
static_assert(tensor<int, batch<2>, query<2>>{1, 2, 3, 4}(1_c, 0_c) == 3);
static_assert(tensor<int, batch<2>, query<2>>{1, 2, 3, 4}(at<query>(0_c), at<batch>(1_c)) == 3);
static_assert((tensor<int, query<3>>{1, 2, 3} | select_at<query, 1_c>)() == 2);
static_assert(select_at<query>(tensor<int, query<3>>{1, 2, 3}, 1_c)() == 2);
static_assert((tensor<int, query<3>>{1, 2, 3} | slice<query, from<1_c>, extent<2_c>>)(1_c) == 3);
static_assert(std::same_as<multi_head_attention<float, hidden<100_c>, heads<5_c>>,
                           multi_head_attention<float, hidden<100>, heads<5>>>);
// Every value that converts to a constant is a size, also one computed with Hana.
static_assert(std::same_as<hidden<5_c * 20_c>, hidden<100>>);
static_assert(std::same_as<hidden<hana::size_c<100>>, hidden<100>>);

// ---- axes ---------------------------------------------------------------------------------------
using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
constexpr queries x{};
static_assert(std::same_as<decltype(dims(x)), hana::tuple<batch<2>, query<4>, hidden<100>>>);
static_assert(std::same_as<decltype(dims(tensor<float>{})), hana::tuple<>>);
static_assert(std::same_as<decltype(dims(hana::type_c<queries>)), decltype(dims(x))>);
static_assert(decltype(hana::size(dims(x)))::value == 3);
static_assert(hana::fold(dims(x), std::size_t{1}, [](std::size_t product, auto axis) {
                return product * decltype(axis)::size;
              }) == queries::layout::count);
// The axes of a view are plain, whatever its strides.
static_assert(std::same_as<decltype(dims(x | permute<query, hidden, batch>)),
                           hana::tuple<query<4>, hidden<100>, batch<2>>>);

// Axes compare as types do: name and size.
static_assert(hana::equal(batch<2>{}, batch<2>{}));
static_assert(hana::not_equal(batch<2>{}, batch<3>{}) && hana::not_equal(batch<2>{}, query<2>{}));
static_assert(hana::equal(strided<batch<2>, 8>{}, batch<2>{}));
static_assert(dims(x) == dims(queries{}) && dims(x) == dims(hana::type_c<const queries>));
static_assert(dims(x) == dims(tensor<int, batch<2>, query<4>, hidden<100>>{}));
static_assert(dims(x) != dims(x | permute<query, batch, hidden>));
static_assert(dims(x) != dims(x | rename_axis<query, key>) && dims(x) != dims(tensor<float>{}));
static_assert(hana::contains(dims(x), query<4>{}) && !hana::contains(dims(x), query<5>{}));
static_assert(hana::to_set(dims(x)) == hana::to_set(dims(x | permute<hidden, query, batch>)));
static_assert(hana::length(hana::to_set(hana::make_tuple(query<4>{}, query<4>{}, query<5>{}))) ==
              hana::size_c<2>);
static_assert(hana::make_map(hana::make_pair(query<4>{}, 'q'))[query<4>{}] == 'q');

// ---- sizes --------------------------------------------------------------------------------------
constexpr auto sizes = extents(x);
static_assert(decltype(hana::size(sizes))::value == 3);
static_assert(sizes[family_c<hidden>] == hana::size_c<100>);
// (Neither == 100 nor == 100_c: Hana compares a size_t with no signed number.)
static_assert(sizes[family_c<hidden>].value == 100);
static_assert(std::same_as<heads<sizes[family_c<query>]>, heads<4>>);  // a size again
static_assert(extents(x | rename_axis<query, key>)[family_c<key>] == hana::size_c<4>);
static_assert(decltype(hana::contains(sizes, family_c<query>))::value);
static_assert(!decltype(hana::contains(sizes, family_c<key>))::value);
static_assert(hana::find(sizes, family_c<key>) == hana::nothing);
// A map knows no order: the same sizes in another order are equal.
static_assert(sizes == extents(x | permute<hidden, batch, query>));
static_assert(sizes != extents(x | rename_axis<query, key>) &&
              extents(hana::type_c<queries>) == sizes);

// ---- and back -----------------------------------------------------------------------------------
static_assert(tensor_from<float>(dims(x)) == hana::type_c<queries>);
static_assert(tensor_from<float>(hana::make_tuple(batch<2>{}, query<4>{}, hidden<100>{})) ==
              hana::type_c<queries>);
static_assert(tensor_from<float>(hana::tuple_t<batch<2>, query<4>, hidden<100>>) ==
              hana::type_c<queries>);
static_assert(tensor_from<int>(hana::make_tuple()) == hana::type_c<tensor<int>>);
// Row-major, whatever the strides were.
static_assert(tensor_from<int>(hana::reverse(dims(x))) ==
              hana::type_c<tensor<int, hidden<100>, query<4>, batch<2>>>);
static_assert(tensor_from<float, batch, query, hidden>(sizes) == hana::type_c<queries>);
static_assert(tensor_from<float, hidden, batch, query>(sizes) ==
              hana::type_c<tensor<float, hidden<100>, batch<2>, query<4>>>);
static_assert(tensor_from<float, batch, query>(hana::make_map(
                  hana::make_pair(family_c<query>, 4_c), hana::make_pair(family_c<batch>, 2_c))) ==
              hana::type_c<tensor<float, batch<2>, query<4>>>);
static_assert(tensor_from<float, key>(hana::insert(hana::make_map(),
                                                   hana::make_pair(family_c<key>, 6_c))) ==
              hana::type_c<tensor<float, key<6>>>);

// ---- shapes in a loop ---------------------------------------------------------------------------
static_assert([] {
  std::size_t divisors = 0;
  hana::for_each(hana::tuple_t<heads<1>, heads<2>, heads<3>, heads<5>, heads<7>>, [&](auto part) {
    divisors += splittable<queries, hidden, typename decltype(part)::type>;
  });
  return divisors == 3;
}());
// All combinations of sizes, as tensor types.
constexpr auto grid = hana::transform(
    hana::cartesian_product(hana::make_tuple(hana::tuple_t<batch<1>, batch<2>>,
                                             hana::tuple_t<query<4>, query<17>, query<32>>)),
    tensor_from<float>);
static_assert(hana::length(grid) == hana::size_c<6>);
static_assert(grid[0_c] == hana::type_c<tensor<float, batch<1>, query<4>>>);
static_assert(hana::back(grid) == hana::type_c<tensor<float, batch<2>, query<32>>>);
