// SPDX-License-Identifier: BSL-1.0
// The Hana door: _c literals wherever a size goes, axes as a tuple, sizes as a map.
#include <boost/hana.hpp>
#include <umbel/umbel.hpp>

#include <concepts>

namespace hana = boost::hana;
using namespace umbel;
using namespace umbel::axes;
using namespace umbel::literals;

// ---- literals ------------------------------------------------------------------------------------------
static_assert(std::same_as<heads<5_c>, heads<5>>);
static_assert(
    std::same_as<tensor<float, batch<2_c>, hidden<100_c>>, tensor<float, batch<2>, hidden<100>>>);
static_assert(std::same_as<decltype(split<hidden, heads<5_c>, head_dim>),
                           decltype(split<hidden, heads<5>, head_dim>)>);
static_assert(splittable<tensor<float, hidden<100>>, hidden, heads<5_c>>);
static_assert(!splittable<tensor<float, hidden<100>>, hidden, heads<7_c>>);
static_assert(tensor<int, batch<2>, query<2>>{1, 2, 3, 4}(1_c, 0_c) == 3);
static_assert((tensor<int, query<3>>{1, 2, 3} | select_at<query, 1_c>)() == 2);

// ---- axes ----------------------------------------------------------------------------------------------
using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
constexpr queries x{};
static_assert(std::same_as<decltype(dims(x)), hana::tuple<batch<2>, query<4>, hidden<100>>>);
static_assert(std::same_as<decltype(dims(tensor<float>{})), hana::tuple<>>);
static_assert(decltype(hana::size(dims(x)))::value == 3);
static_assert(hana::fold(dims(x), std::size_t{1}, [](std::size_t product, auto axis) {
                return product * decltype(axis)::size;
              }) == queries::layout::count);
// The axes of a view are plain, whatever its strides.
static_assert(std::same_as<decltype(dims(x | permute<query, hidden, batch>)),
                           hana::tuple<query<4>, hidden<100>, batch<2>>>);

// ---- sizes ---------------------------------------------------------------------------------------------
constexpr auto sizes = extents(x);
static_assert(decltype(hana::size(sizes))::value == 3);
static_assert(sizes[family_c<hidden>] == hana::size_c<100>);
static_assert(extents(x | rename_axis<query, key>)[family_c<key>] == hana::size_c<4>);
static_assert(decltype(hana::contains(sizes, family_c<query>))::value);
static_assert(!decltype(hana::contains(sizes, family_c<key>))::value);
static_assert(hana::find(sizes, family_c<key>) == hana::nothing);

// ---- shapes in a loop ------------------------------------------------------------------------------------
static_assert([] {
  std::size_t divisors = 0;
  hana::for_each(hana::tuple_t<heads<1>, heads<2>, heads<3>, heads<5>, heads<7>>, [&](auto part) {
    divisors += splittable<queries, hidden, typename decltype(part)::type>;
  });
  return divisors == 3;
}());
