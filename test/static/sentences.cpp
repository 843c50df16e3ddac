// SPDX-License-Identifier: BSL-1.0
// Every sentence of shape/rules.hpp, computing_rules.hpp and memory_rules.hpp, letter for letter:
// the same on g++ and on clang, although only g++ prints it so (clang prints the list of its
// words).
#include "says.hpp"

#include <umbel/shape/axes.hpp>
#include <umbel/shape/computing_rules.hpp>
#include <umbel/shape/memory_rules.hpp>
#include <umbel/shape/rules.hpp>

using namespace umbel;
using namespace umbel::axes;

template <template <std::size_t> class Axis>
using family = axis_family<Axis>;

using x = detail::layout<batch<2>, query<4>, hidden<100>>;
using y = detail::layout<batch<2>, key<6>, hidden<100>>;
using h = detail::layout<batch<2>, heads<5>, query<4>, head_dim<20>>;
using scalar_shape = detail::layout<>;
using turned = detail::algebra::permute<x, family<query>, family<batch>, family<hidden>>;
using by_query =
    detail::algebra::permute<h, family<batch>, family<query>, family<heads>, family<head_dim>>;

// ---- accepted says nothing ----------------------------------------------------------------------
static_assert(says<detail::accepted>(""));
static_assert(says<detail::rules::split<x, family<hidden>, heads<5>, head_dim>>(""));
static_assert(!says<detail::accepted>("umbel"));
static_assert(!says<detail::rules::split<x, family<hidden>, heads<7>, head_dim>>(""));
static_assert(!says<detail::rules::split<x, family<hidden>, heads<7>, head_dim>>("umbel: split"));

// ---- shapes -------------------------------------------------------------------------------------
static_assert(says<detail::rules::well_formed<>>(""));
static_assert(says<detail::rules::well_formed<batch<2>, query<4>>>(""));
static_assert(says<detail::rules::well_formed<batch<2>, query<0>>>(
    "umbel: shape: query=0 has size 0 in [batch=2, query=0]"));
static_assert(says<detail::rules::well_formed<batch<2>, query<4>, batch<3>>>(
    "umbel: shape: the axis batch is named twice in [batch=2, query=4, batch=3]"));
static_assert(says<detail::rules::well_formed<strided<batch<2>, 8>, strided<batch<3>, 1>>>(
    "umbel: shape: the axis batch is named twice in [batch=2, batch=3]"));
static_assert(says<detail::rules::well_formed<strided<batch<2>, 8>, query<4>>>(
    "umbel: shape: only some axes of [batch=2, query=4] have strides; give them to all or "
    "none"));
static_assert(says<detail::rules::well_formed<batch<(1ull << 32)>, query<(1ull << 31)>>>(
    "umbel: shape: [batch=4294967296, query=2147483648] has more elements than memory can hold"));
static_assert(says<detail::rules::well_formed<batch<(1ull << 30)>, query<(1ull << 20)>>>(""));

static_assert(says<detail::rules::access<x, family<hidden>, family<batch>, family<query>>>(""));
static_assert(says<detail::rules::access<x, family<hidden>, family<batch>>>(
    "umbel: access: lists 2 of the 3 axes of [batch=2, query=4, hidden=100]"));
static_assert(says<detail::rules::access<x, family<hidden>, family<batch>, family<key>>>(
    "umbel: access: there is no axis key in [batch=2, query=4, hidden=100]"));
static_assert(says<detail::rules::access<x, family<hidden>, family<batch>, family<batch>>>(
    "umbel: access: the axis batch is named twice in [batch=2, query=4, hidden=100]"));
static_assert(says<detail::rules::access<scalar_shape, family<batch>>>(
    "umbel: access: there is no axis batch in []"));
static_assert(says<detail::rules::access_by_position<x, 3>>(""));
static_assert(says<detail::rules::access_by_position<x, 2>>(
    "umbel: access: 2 positions for the 3 axes of [batch=2, query=4, hidden=100]"));

static_assert(says<detail::rules::access_by_position<x, 1>>(
    "umbel: access: 1 position for the 3 axes of [batch=2, query=4, hidden=100]"));

// ---- views --------------------------------------------------------------------------------------
static_assert(says<detail::rules::split<x, family<hidden>, heads<7>, head_dim>>(
    "umbel: split: hidden=100 into heads=7 leaves a remainder of 2"));
static_assert(says<detail::rules::split<x, family<hidden>, heads<200>, head_dim>>(
    "umbel: split: hidden=100 into heads=200 leaves a remainder of 100"));
static_assert(says<detail::rules::split<x, family<key>, heads<5>, head_dim>>(
    "umbel: split: there is no axis key in [batch=2, query=4, hidden=100]"));
static_assert(says<detail::rules::split<x, family<hidden>, heads<0>, head_dim>>(
    "umbel: shape: heads=0 has size 0 in [heads=0]"));
static_assert(says<detail::rules::split<x, family<hidden>, heads<5>, heads>>(
    "umbel: split: the axis heads is named twice in [heads=5]"));
static_assert(says<detail::rules::split<x, family<hidden>, batch<5>, head_dim>>(
    "umbel: split: batch is already an axis of [batch=2, query=4, hidden=100]"));
static_assert(says<detail::rules::split<x, family<hidden>, heads<5>, query>>(
    "umbel: split: query is already an axis of [batch=2, query=4, hidden=100]"));
static_assert(
    says<detail::rules::split<x, family<hidden>, heads<5>, hidden>>(""));  // it takes its own name

static_assert(says<detail::rules::split_into<x, family<hidden>, heads<5>, head_dim<10>>>(
    "umbel: split: the parts [heads=5, head_dim=10] multiply to 50 but the whole is hidden=100"));
static_assert(says<detail::rules::split_into<x, family<key>, heads<5>, head_dim<20>>>(
    "umbel: split: there is no axis key in [batch=2, query=4, hidden=100]"));
static_assert(says<detail::rules::split_into<x, family<hidden>, heads<5>, heads<20>>>(
    "umbel: split: the axis heads is named twice in [heads=5, heads=20]"));
static_assert(says<detail::rules::split_into<x, family<hidden>, query<5>, head_dim<20>>>(
    "umbel: split: query is already an axis of [batch=2, query=4, hidden=100]"));

static_assert(says<detail::rules::merge<h, family<hidden>, family<heads>, family<head_dim>>>(
    "umbel: merge: [heads=5, head_dim=20] are not adjacent in this order in "
    "[batch=2, heads=5, query=4, head_dim=20]; bring them together, x | permute<...> | "
    "contiguous"));
static_assert(says<detail::rules::merge<by_query, family<hidden>, family<heads>, family<head_dim>>>(
    "umbel: merge: the elements of [heads=5, head_dim=20] are not contiguous in memory; pass "
    "contiguous(x)"));
static_assert(says<detail::rules::merge<h, family<batch>, family<heads>, family<query>>>(
    "umbel: merge: batch is already an axis of [batch=2, heads=5, query=4, head_dim=20]"));
static_assert(says<detail::rules::merge<h, family<hidden>, family<heads>, family<key>>>(
    "umbel: merge: there is no axis key in [batch=2, heads=5, query=4, head_dim=20]"));

static_assert(says<detail::rules::permute<x, family<hidden>, family<key>, family<batch>>>(
    "umbel: permute: there is no axis key in [batch=2, query=4, hidden=100]"));
static_assert(says<detail::rules::permute<x, family<hidden>, family<query>, family<hidden>>>(
    "umbel: permute: the axis hidden is named twice in [hidden=100, query=4, hidden=100]"));
static_assert(says<detail::rules::permute<x, family<hidden>, family<query>>>(
    "umbel: permute: lists 2 of the 3 axes of [batch=2, query=4, hidden=100]"));

static_assert(says<detail::rules::transposed<x, family<hidden>, family<key>>>(
    "umbel: transposed: there is no axis key in [batch=2, query=4, hidden=100]"));
static_assert(says<detail::rules::transposed<x, family<hidden>, family<hidden>>>(
    "umbel: transposed: the axis hidden is named twice in [hidden=100]"));

static_assert(says<detail::rules::rename<x, family<key>, family<token>>>(
    "umbel: rename_axis: there is no axis key in [batch=2, query=4, hidden=100]"));
static_assert(says<detail::rules::rename<x, family<query>, family<batch>>>(
    "umbel: rename_axis: batch is already an axis of [batch=2, query=4, hidden=100]"));

static_assert(says<detail::rules::reshape<x, token<8>, hidden<99>>>(
    "umbel: reshape: [batch=2, query=4, hidden=100] has 800 elements but [token=8, hidden=99] has "
    "792 "
    "elements"));
static_assert(says<detail::rules::reshape<turned, token<8>, hidden<100>>>(
    "umbel: reshape: [query=4, batch=2, hidden=100] is not row-major in memory; pass "
    "contiguous(x)"));
static_assert(says<detail::rules::reshape<x, token<8>, token<100>>>(
    "umbel: shape: the axis token is named twice in [token=8, token=100]"));

static_assert(says<detail::rules::select<x, family<key>>>(
    "umbel: select_at: there is no axis key in [batch=2, query=4, hidden=100]"));
static_assert(says<detail::rules::select_at<x, family<query>, 3>>(""));
static_assert(says<detail::rules::select_at<x, family<query>, 4>>(
    "umbel: select_at: position 4 is past the end of query=4"));
static_assert(says<detail::rules::select_at<x, family<key>, 0>>(
    "umbel: select_at: there is no axis key in [batch=2, query=4, hidden=100]"));

static_assert(says<detail::rules::slice<x, family<query>, 1, 3>>(""));
static_assert(says<detail::rules::slice<x, family<query>, 2, 3>>(
    "umbel: slice: 3 positions from 2 reach past the end of query=4"));
static_assert(says<detail::rules::slice<x, family<query>, 4, 1>>(
    "umbel: slice: 1 position from 4 reaches past the end of query=4"));
static_assert(says<detail::rules::slice<x, family<query>, 0, 5>>(
    "umbel: slice: 5 positions from 0 reach past the end of query=4"));
static_assert(says<detail::rules::slice<x, family<query>, npos, 2>>(
    "umbel: slice: 2 positions from 18446744073709551615 reach past the end of query=4"));
static_assert(says<detail::rules::slice<x, family<query>, 4, 0>>(
    "umbel: slice: none of query=4 would be left"));
static_assert(says<detail::rules::slice<x, family<key>, 0, 1>>(
    "umbel: slice: there is no axis key in [batch=2, query=4, hidden=100]"));

static_assert(says<detail::rules::broadcast<x, batch<2>, key<6>, hidden<100>>>(
    "umbel: broadcast: query=4 is not an axis of [batch=2, key=6, hidden=100]"));
static_assert(says<detail::rules::broadcast<detail::layout<query<4>>, batch<2>, query<6>>>(
    "umbel: broadcast: query=4 does not fit query=6"));
static_assert(
    says<detail::rules::broadcast<detail::layout<query<4>>, query<4>, batch<2>, batch<2>>>(
        "umbel: shape: the axis batch is named twice in [query=4, batch=2, batch=2]"));

// ---- computing ----------------------------------------------------------------------------------
static_assert(says<detail::rules::contract<x, y, family<head_dim>>>(
    "umbel: contract: neither [batch=2, query=4, hidden=100] nor [batch=2, key=6, hidden=100] has "
    "an "
    "axis head_dim"));
static_assert(says<detail::rules::contract<x, y, family<key>>>(
    "umbel: contract: the left side [batch=2, query=4, hidden=100] has no axis key"));
static_assert(says<detail::rules::contract<x, y, family<query>>>(
    "umbel: contract: the right side [batch=2, key=6, hidden=100] has no axis query"));
static_assert(
    says<detail::rules::contract<x, detail::layout<batch<2>, key<6>, hidden<80>>, family<hidden>>>(
        "umbel: contract: the left side has hidden=100 but the right side has hidden=80"));
static_assert(
    says<detail::rules::contract<x, detail::layout<batch<3>, key<6>, hidden<100>>, family<hidden>>>(
        "umbel: contract: the left side has batch=2 but the right side has batch=3"));
static_assert(says<detail::rules::contract<x, y, family<batch>, family<hidden>>>(""));
static_assert(says<detail::rules::contract<x, y, family<batch>, family<key>>>(
    "umbel: contract: the left side [batch=2, query=4, hidden=100] has no axis key"));
static_assert(says<detail::rules::contract<x, y, family<hidden>, family<batch>, family<hidden>>>(
    "umbel: contract: the axis hidden is named twice in [hidden=100, batch=2, hidden=100]"));
static_assert(says<detail::rules::contract<x, detail::layout<batch<3>, key<6>, hidden<100>>,
                                           family<hidden>, family<batch>>>(
    "umbel: contract: the left side has batch=2 but the right side has batch=3"));
static_assert(says<detail::rules::reduce<detail::say::reduce, x, family<query>>>(""));
static_assert(says<detail::rules::reduce<detail::say::reduce, x, family<key>>>(
    "umbel: reduce: there is no axis key in [batch=2, query=4, hidden=100]"));

static_assert(says<detail::rules::same_shape<detail::say::elementwise, x, y>>(
    "umbel: elementwise: [batch=2, query=4, hidden=100] and [batch=2, key=6, hidden=100] have "
    "different axes"));
static_assert(says<detail::rules::same_shape<detail::say::copy, x, turned>>(
    "umbel: copy: [batch=2, query=4, hidden=100] and [query=4, batch=2, hidden=100] have the same "
    "axes in a different order; permute one"));
static_assert(says<detail::rules::same_shape<detail::say::copy, x, scalar_shape>>(
    "umbel: copy: [batch=2, query=4, hidden=100] and [] have different axes"));
static_assert(says<detail::rules::same_element<detail::say::contract, float, double>>(
    "umbel: contract: the left side holds float but the right side holds double"));

// ---- memory -------------------------------------------------------------------------------------
static_assert(says<detail::rules::memory<x, 800>>(""));
static_assert(says<detail::rules::memory<x, 799>>(
    "umbel: memory: [batch=2, query=4, hidden=100] needs 800 elements but the memory holds 799"));
static_assert(says<detail::rules::memory<x, npos>>(
    "umbel: memory: [batch=2, query=4, hidden=100] needs 800 elements but the size of a vector "
    "or span is known only at run time; view its pointer to use or copy it"));
using with_gaps = detail::layout<strided<query<4>, 128>, strided<hidden<100>, 1>>;
static_assert(says<detail::rules::memory<with_gaps, 484>>("") &&
              says<detail::rules::memory<with_gaps, 512>>(""));
static_assert(says<detail::rules::memory<x, 799, detail::say::view_as>>(
    "umbel: view_as: [batch=2, query=4, hidden=100] needs 800 elements but the memory holds 799"));
static_assert(says<detail::rules::memory<with_gaps, 483>>(
    "umbel: memory: [query=4, hidden=100] needs 484 elements but the memory holds 483"));
static_assert(says<detail::rules::view_of_temporary<x>>(
    "umbel: view: the memory of [batch=2, query=4, hidden=100] "
    "is a temporary that would be destroyed before the view; store it in a variable"));

// ---- names --------------------------------------------------------------------------------------
//
// Your own axis takes one line, in any namespace; its name is the template's own.
namespace audio::spectral {
template <std::size_t N>
struct frames : umbel::axis<frames, N> {};
template <std::size_t N>
struct mel_bins_2 : umbel::axis<mel_bins_2, N> {};
}  // namespace audio::spectral
namespace {
template <std::size_t N>
struct hidden_away : umbel::axis<hidden_away, N> {};
}  // namespace
template <class T>
struct model {
  template <std::size_t N>
  struct layer : umbel::axis<layer, N> {};
};
template <std::size_t N>
struct at_home : umbel::axis<at_home, N> {};

using spectrum = detail::layout<audio::spectral::frames<7>, audio::spectral::mel_bins_2<80>>;
static_assert(
    says<detail::rules::split<spectrum, family<audio::spectral::mel_bins_2>, heads<3>, head_dim>>(
        "umbel: split: mel_bins_2=80 into heads=3 leaves a remainder of 2"));
static_assert(says<detail::rules::split<spectrum, family<hidden_away>, heads<3>, head_dim>>(
    "umbel: split: there is no axis hidden_away in [frames=7, mel_bins_2=80]"));
static_assert(
    says<detail::rules::select_at<detail::layout<hidden_away<3>>, family<hidden_away>, 3>>(
        "umbel: select_at: position 3 is past the end of hidden_away=3"));
static_assert(
    says<detail::rules::select_at<detail::layout<model<int>::layer<3>>, family<model<int>::layer>,
                                  3>>("umbel: select_at: position 3 is past the end of layer=3"));
static_assert(says<detail::rules::select_at<detail::layout<at_home<3>>, family<at_home>, 3>>(
    "umbel: select_at: position 3 is past the end of at_home=3"));
static_assert(says<detail::rules::select_at<detail::layout<at_home<3>>, family<hidden_away>, 0>>(
    "umbel: select_at: there is no axis hidden_away in [at_home=3]"));

// The first thing that is wrong is said, not the last.
static_assert(
    says<detail::first_error<detail::rules::reduce<detail::say::reduce, x, family<batch>>,
                             detail::rules::reduce<detail::say::reduce, x, family<key>>,
                             detail::rules::reduce<detail::say::reduce, x, family<token>>>>(
        "umbel: reduce: there is no axis key in [batch=2, query=4, hidden=100]"));
static_assert(says<detail::first_error<detail::accepted, detail::accepted, detail::accepted>>(""));
