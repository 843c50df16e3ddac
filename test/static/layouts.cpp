// SPDX-License-Identifier: BSL-1.0
// Layouts, and what every operation makes of one. Equal layouts are one type: where the strides say
// row-major, the axes are plain.
#include <umbel/shape/axes.hpp>
#include <umbel/shape/rules.hpp>

#include <concepts>

using namespace umbel;
using namespace umbel::axes;

template <template <std::size_t> class Axis>
using family = axis_family<Axis>;
template <class A, class B>
concept same = std::same_as<A, B>;

template <class Layout, std::size_t... Expected>
constexpr bool strides_are() {
  const std::size_t expected[] = {Expected..., 0};
  if (sizeof...(Expected) != Layout::rank) return false;
  for (std::size_t i = 0; i < Layout::rank; ++i)
    if (Layout::strides[i] != expected[i]) return false;
  return true;
}

// ---- facts of a layout --------------------------------------------------------------------------
using x = detail::layout<batch<2>, query<4>, hidden<100>>;
static_assert(x::rank == 3 && x::count == 800 && x::span == 800 && x::contiguous);
static_assert(strides_are<x, 400, 100, 1>());
static_assert(x::extents[0] == 2 && x::extents[1] == 4 && x::extents[2] == 100);
static_assert(x::position<family<query>> == 1 && x::position<family<key>> == npos);
static_assert(x::has<family<hidden>> && !x::has<family<heads>>);
static_assert(x::size_of<family<query>> == 4 && x::size_of<family<key>> == 0);
static_assert(x::stride_of<family<query>> == 100 && x::stride_of<family<key>> == 0);
static_assert(same<x::axis_at<2>, hidden<100>> &&
              same<detail::axis_of<x, family<query>>, query<4>>);
static_assert(same<detail::axis_of<x, family<key>>, family<key>>);
static_assert(same<x::axes, detail::shape<batch<2>, query<4>, hidden<100>>> &&
              x::axes::count == 800);

static_assert(detail::layout<>::rank == 0 && detail::layout<>::count == 1 &&
              detail::layout<>::span == 1);
static_assert(detail::layout<>::contiguous && strides_are<detail::layout<>>());
static_assert(strides_are<detail::layout<batch<1>, query<1>, key<7>>, 7, 7, 1>());

// Rows with_gaps from 100 to 128.
using with_gaps = detail::layout<strided<query<4>, 128>, strided<hidden<100>, 1>>;
static_assert(with_gaps::count == 400 && with_gaps::span == 3 * 128 + 100 &&
              !with_gaps::contiguous);
static_assert(strides_are<with_gaps, 128, 1>() && same<with_gaps::axis_at<0>, query<4>>);
static_assert(same<detail::row_major<with_gaps>, detail::layout<query<4>, hidden<100>>>);
static_assert(same<with_gaps::axes, detail::shape<query<4>, hidden<100>>>);

// Contiguous is about the elements: the stride of an axis with one position does not matter.
static_assert(detail::layout<strided<batch<1>, 999>, strided<query<4>, 1>>::contiguous);
static_assert(detail::layout<strided<query<4>, 1>, strided<batch<1>, 77>>::contiguous);
static_assert(
    detail::layout<strided<query<4>, 3>, strided<batch<1>, 77>, strided<key<3>, 1>>::contiguous);
static_assert(!detail::layout<strided<query<4>, 1>, strided<key<3>, 4>>::contiguous);
static_assert(!detail::layout<strided<query<4>, 0>>::contiguous);
static_assert(detail::layout<strided<batch<1>, 0>>::span == 1);

// ---- split --------------------------------------------------------------------------------------
using h = detail::layout<batch<2>, query<4>, heads<5>, head_dim<20>>;
static_assert(same<detail::algebra::split<x, family<hidden>, heads<5>, head_dim<20>>, h>);
static_assert(strides_are<h, 400, 100, 20, 1>());
static_assert(same<detail::algebra::split<x, family<batch>, heads<2>, head_dim<1>>,
                   detail::layout<heads<2>, head_dim<1>, query<4>, hidden<100>>>);
static_assert(
    same<detail::algebra::split<detail::layout<hidden<7>>, family<hidden>, heads<7>, head_dim<1>>,
         detail::layout<heads<7>, head_dim<1>>>);
static_assert(same<detail::algebra::split<x, family<hidden>, heads<5>, key<2>, head_dim<10>>,
                   detail::layout<batch<2>, query<4>, heads<5>, key<2>, head_dim<10>>>);
static_assert(
    same<detail::algebra::split<with_gaps, family<query>, batch<2>, token<2>>,
         detail::layout<strided<batch<2>, 256>, strided<token<2>, 128>, strided<hidden<100>, 1>>>);

// ---- permute ------------------------------------------------------------------------------------
using p =
    detail::algebra::permute<h, family<batch>, family<heads>, family<query>, family<head_dim>>;
static_assert(same<p, detail::layout<strided<batch<2>, 400>, strided<heads<5>, 20>,
                                     strided<query<4>, 100>, strided<head_dim<20>, 1>>>);
static_assert(p::span == 800 && p::count == 800 && !p::contiguous);
static_assert(
    same<detail::algebra::permute<p, family<batch>, family<query>, family<heads>, family<head_dim>>,
         h>);
static_assert(same<detail::algebra::permute<x, family<batch>, family<query>, family<hidden>>, x>);
// Moving an axis of one position moves nothing.
static_assert(
    same<detail::algebra::permute<detail::layout<batch<1>, query<4>>, family<query>, family<batch>>,
         detail::layout<query<4>, batch<1>>>);
static_assert(same<detail::algebra::permute<detail::layout<>>, detail::layout<>>);

// ---- merge --------------------------------------------------------------------------------------
static_assert(same<detail::algebra::merge<h, family<hidden>, family<heads>, family<head_dim>>, x>);
static_assert(same<detail::algebra::merge<x, family<token>, family<batch>, family<query>>,
                   detail::layout<token<8>, hidden<100>>>);
static_assert(same<detail::algebra::merge<with_gaps, family<token>, family<query>>,
                   detail::layout<strided<token<4>, 128>, strided<hidden<100>, 1>>>);
static_assert(
    same<detail::algebra::merge<h, family<hidden>, family<query>, family<heads>, family<head_dim>>,
         detail::layout<batch<2>, hidden<400>>>);
// Parts of one position do not matter, wherever they stand.
using ones = detail::layout<strided<query<4>, 50>, strided<heads<1>, 3>, strided<head_dim<5>, 2>,
                            strided<key<1>, 77>>;
static_assert(
    same<detail::algebra::merge<ones, family<hidden>, family<heads>, family<head_dim>>,
         detail::layout<strided<query<4>, 50>, strided<hidden<5>, 2>, strided<key<1>, 77>>>);
static_assert(
    same<detail::algebra::merge<ones, family<hidden>, family<head_dim>, family<key>>,
         detail::layout<strided<query<4>, 50>, strided<heads<1>, 3>, strided<hidden<5>, 2>>>);
static_assert(
    same<detail::algebra::merge<ones, family<hidden>, family<heads>, family<head_dim>, family<key>>,
         detail::layout<strided<query<4>, 50>, strided<hidden<5>, 2>>>);

// ---- rename, select, slice ----------------------------------------------------------------------
static_assert(same<detail::algebra::rename<x, family<query>, key>,
                   detail::layout<batch<2>, key<4>, hidden<100>>>);
static_assert(same<detail::algebra::rename<with_gaps, family<query>, key>,
                   detail::layout<strided<key<4>, 128>, strided<hidden<100>, 1>>>);
static_assert(same<detail::algebra::rename<x, family<query>, query>, x>);

static_assert(
    same<detail::algebra::select<x, family<batch>>, detail::layout<query<4>, hidden<100>>>);
static_assert(same<detail::algebra::select<x, family<query>>,
                   detail::layout<strided<batch<2>, 400>, strided<hidden<100>, 1>>>);
static_assert(same<detail::algebra::select<x, family<hidden>>,
                   detail::layout<strided<batch<2>, 400>, strided<query<4>, 100>>>);
static_assert(
    same<detail::algebra::select<detail::layout<query<4>>, family<query>>, detail::layout<>>);

static_assert(same<detail::algebra::slice<x, family<batch>, 1>,
                   detail::layout<batch<1>, query<4>, hidden<100>>>);
static_assert(same<detail::algebra::slice<x, family<query>, 4>, x>);
static_assert(
    same<detail::algebra::slice<x, family<query>, 3>,
         detail::layout<strided<batch<2>, 400>, strided<query<3>, 100>, strided<hidden<100>, 1>>>);
static_assert(same<detail::algebra::slice<detail::layout<query<4>, hidden<100>>, family<query>, 3>,
                   detail::layout<query<3>, hidden<100>>>);

// ---- broadcast ----------------------------------------------------------------------------------
static_assert(same<detail::algebra::broadcast<detail::layout<query<4>>, batch<2>, query<4>, key<6>>,
                   detail::layout<strided<batch<2>, 0>, strided<query<4>, 1>, strided<key<6>, 0>>>);
static_assert(
    detail::algebra::broadcast<detail::layout<query<4>>, batch<2>, query<4>, key<6>>::span == 4);
static_assert(same<detail::algebra::broadcast<detail::layout<query<4>, key<1>>, query<4>, key<6>>,
                   detail::layout<strided<query<4>, 1>, strided<key<6>, 0>>>);
static_assert(same<detail::algebra::broadcast<detail::layout<query<4>, key<1>>, query<4>, key<1>>,
                   detail::layout<query<4>, key<1>>>);
static_assert(same<detail::algebra::broadcast<detail::layout<>, query<4>>,
                   detail::layout<strided<query<4>, 0>>>);
static_assert(same<detail::algebra::broadcast<detail::layout<query<4>>, batch<1>, query<4>>,
                   detail::layout<batch<1>, query<4>>>);
static_assert(same<detail::algebra::broadcast<x, batch<2>, query<4>, hidden<100>>, x>);
static_assert(same<detail::algebra::broadcast<detail::layout<query<4>, key<6>>, key<6>, query<4>>,
                   detail::layout<strided<key<6>, 1>, strided<query<4>, 6>>>);

// ---- contract: the axes of left, then the new ones of right -------------------------------------
using q = detail::layout<batch<2>, heads<5>, query<4>, head_dim<20>>;
using k = detail::layout<batch<2>, heads<5>, key<6>, head_dim<20>>;
static_assert(same<detail::algebra::contract<q, k, family<head_dim>>,
                   detail::layout<batch<2>, heads<5>, query<4>, key<6>>>);
static_assert(same<detail::algebra::contract<k, q, family<head_dim>>,
                   detail::layout<batch<2>, heads<5>, key<6>, query<4>>>);
static_assert(same<detail::algebra::contract<p, k, family<head_dim>>,
                   detail::layout<batch<2>, heads<5>, query<4>, key<6>>>);
static_assert(
    same<detail::algebra::contract<x, detail::layout<hidden<100>, classes<10>>, family<hidden>>,
         detail::layout<batch<2>, query<4>, classes<10>>>);
static_assert(same<detail::algebra::contract<detail::layout<hidden<3>>, detail::layout<hidden<3>>,
                                             family<hidden>>,
                   detail::layout<>>);
static_assert(same<detail::algebra::contract<q, k, family<heads>, family<head_dim>>,
                   detail::layout<batch<2>, query<4>, key<6>>>);
static_assert(same<detail::algebra::contract<p, k, family<head_dim>, family<batch>, family<heads>>,
                   detail::layout<query<4>, key<6>>>);
static_assert(same<detail::algebra::contract<q, q, family<query>, family<heads>, family<head_dim>,
                                             family<batch>>,
                   detail::layout<>>);

// ---- an alias template of an axis is that axis --------------------------------------------------
template <std::size_t N>
using words = token<N>;
template <std::size_t N>
struct letters : umbel::axis<letters, N> {};
static_assert(same<detail::family_of<words>, family<token>>);
static_assert(same<detail::family_of<letters>, family<letters>>);
static_assert(!same<detail::family_of<letters>, detail::family_of<words>>);
