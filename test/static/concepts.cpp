// SPDX-License-Identifier: BSL-1.0
// Every step can be asked first. Each concept: where it holds, and each reason for which it does
// not.
#include <umbel/bare.hpp>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;
using by_head = tensor<float, batch<2>, heads<5>, query<4>, head_dim<20>>;
using turned = decltype(std::declval<queries&>() | permute<query, batch, hidden>);
using by_query = decltype(std::declval<by_head&>() | permute<batch, query, heads, head_dim>);

// has_axis
static_assert(has_axis<queries, hidden> && has_axis<const turned&, batch>);
static_assert(!has_axis<queries, key>);

// executor_like: workers above 0, and a call with a count and a piece
struct two_workers {
  static constexpr std::size_t workers = 2;
  template <class Piece>
  void operator()(std::size_t, const Piece&) noexcept;
};
struct no_workers : two_workers {
  static constexpr std::size_t workers = 0;
};
struct workers_at_run_time : two_workers {
  std::size_t workers;
};
struct workers_of_the_machine : two_workers {
  static std::size_t workers;
};
struct never_called {
  static constexpr std::size_t workers = 2;
};
static_assert(executor_like<two_workers> && executor_like<two_workers&>);
static_assert(executor_like<decltype(serial)>);
static_assert(!executor_like<const two_workers>);  // its call is not const
static_assert(!executor_like<no_workers> && !executor_like<workers_at_run_time>);
static_assert(!executor_like<workers_of_the_machine>);
static_assert(!executor_like<never_called> && !executor_like<int>);

// splittable: the outer part with its size; the inner name only matters where it is taken already
static_assert(splittable<queries, hidden, heads<5>> && splittable<queries&, hidden, heads<100>>);
static_assert(splittable<const turned&, hidden, heads<1>, head_dim>);
static_assert(splittable<queries, hidden, heads<5>, hidden>);  // the name of the axis that goes
static_assert(!splittable<queries, hidden, heads<7>>);         // uneven
static_assert(!splittable<queries, hidden, heads<0>>);
static_assert(!splittable<queries, hidden, heads<200>>);
static_assert(!splittable<queries, key, heads<5>>);            // absent
static_assert(!splittable<queries, hidden, query<5>>);         // taken
static_assert(!splittable<queries, hidden, heads<5>, batch>);  // taken
static_assert(!splittable<queries, hidden, heads<5>, heads>);  // twice

// splittable_into
static_assert(splittable_into<queries, hidden, heads<5>, head_dim<20>>);
static_assert(splittable_into<queries, hidden, heads<5>, token<2>, head_dim<10>>);
static_assert(splittable_into<queries, hidden, hidden<100>>);
static_assert(!splittable_into<queries, hidden, heads<5>, head_dim<21>>);
static_assert(!splittable_into<queries, hidden, heads<5>, heads<20>>);
static_assert(!splittable_into<queries, hidden, heads<5>, batch<20>>);
static_assert(!splittable_into<queries, hidden, heads<0>, head_dim<100>>);
static_assert(!splittable_into<queries, key, heads<5>, head_dim<20>>);

// mergeable: the last is the result
static_assert(mergeable<queries, batch, query, token>);
static_assert(!mergeable<queries> && !mergeable<queries, batch> &&
              !mergeable<queries, batch, token>);           // two or more
static_assert(mergeable<queries, batch, query, batch>);     // a name that goes
static_assert(!mergeable<queries, query, batch, token>);    // order
static_assert(!mergeable<queries, batch, hidden, token>);   // not neighbours
static_assert(!mergeable<queries, query, query, token>);    // with itself
static_assert(!mergeable<queries, batch, query, hidden>);   // taken
static_assert(!mergeable<queries, query, key, token>);      // absent
static_assert(!mergeable<by_query, heads, head_dim, key>);  // neighbours, but not in memory
static_assert(!mergeable<turned, query, batch, token>);
static_assert(mergeable<view<float, strided<heads<1>, 3>, strided<head_dim<5>, 2>>, heads, head_dim,
                        hidden>);  // an axis of one position is always in the way of nothing
static_assert(mergeable<view<float, strided<heads<5>, 2>, strided<head_dim<1>, 77>>, heads,
                        head_dim, hidden>);
static_assert(!mergeable<view<float, strided<heads<5>, 9>, strided<head_dim<2>, 3>>, heads,
                         head_dim, hidden>);

// permutable
static_assert(permutable<queries, hidden, query, batch> &&
              permutable<queries, batch, query, hidden>);
static_assert(permutable<tensor<float>>);
static_assert(!permutable<queries, hidden, query>);
static_assert(!permutable<queries, hidden, query, query>);
static_assert(!permutable<queries, hidden, query, key>);
static_assert(!permutable<queries, hidden, query, batch, batch>);

// transposable
static_assert(transposable<queries, query, hidden> && !transposable<queries, query, key>);
static_assert(!transposable<queries, query, query>);

// renamable
static_assert(renamable<queries, query, key> && renamable<queries, query, query>);
static_assert(!renamable<queries, query, hidden> && !renamable<queries, key, token>);

// reshapable
static_assert(reshapable<queries, token<8>, hidden<100>> && reshapable<queries, hidden<800>>);
static_assert(reshapable<tensor<float>, hidden<1>> && reshapable<tensor<float, hidden<1>>>);
static_assert(!reshapable<queries, token<8>, hidden<99>> && !reshapable<queries>);
static_assert(!reshapable<queries, token<8>, token<100>>);
static_assert(!reshapable<queries, token<8>, hidden<0>>);
static_assert(!reshapable<turned, token<8>, hidden<100>>);

// selectable, sliceable
static_assert(selectable<queries, query, 0> && selectable<queries, query, 3>);
static_assert(!selectable<queries, query, 4> && !selectable<queries, key, 0>);
static_assert(sliceable<queries, query, from<0>, extent<4>> &&
              sliceable<queries, query, from<3>, extent<1>>);
static_assert(!sliceable<queries, query, from<3>, extent<2>> &&
              !sliceable<queries, query, from<0>, extent<5>>);
static_assert(!sliceable<queries, query, from<4>, extent<1>> &&
              !sliceable<queries, query, from<0>, extent<0>>);
static_assert(!sliceable<queries, query, from<npos>, extent<2>> &&
              !sliceable<queries, query, from<2>, extent<npos>>);
static_assert(!sliceable<queries, key, from<0>, extent<1>>);

// broadcastable
static_assert(broadcastable<tensor<float, query<4>>, batch<2>, query<4>, key<6>>);
static_assert(broadcastable<tensor<float>, batch<2>> && broadcastable<tensor<float>>);
static_assert(broadcastable<queries, hidden<100>, query<4>, batch<2>>);
static_assert(!broadcastable<queries, batch<2>, query<4>>);
static_assert(!broadcastable<queries, batch<2>, query<4>, hidden<50>>);
static_assert(broadcastable<tensor<float, query<1>>, query<4>>);  // the only position repeats
static_assert(!broadcastable<tensor<float, query<2>>, query<4>>);
static_assert(!broadcastable<tensor<float, query<4>>, query<1>>);
static_assert(!broadcastable<tensor<float, query<4>>, query<4>, batch<2>, batch<2>>);

// reducible
static_assert(reducible<queries, query> && reducible<queries, hidden, batch>);
static_assert(!reducible<queries, key> && !reducible<queries, query, query> && !reducible<queries>);

// contractible
static_assert(contractible<queries, context, hidden> &&
              contractible<context&, const turned&, hidden>);
static_assert(contractible<queries, queries, query>);
static_assert(contractible<queries, context, hidden, batch> &&
              contractible<queries, queries, query, batch, hidden>);
static_assert(!contractible<queries, context, hidden, key> &&
              !contractible<queries, context, batch, batch>);
static_assert(!contractible<queries, context, key> && !contractible<queries, context, query>);
static_assert(!contractible<queries, context, heads>);
static_assert(!contractible<queries, tensor<float, batch<2>, hidden<50>>, hidden>);
static_assert(!contractible<queries, tensor<float, batch<3>, hidden<100>>, hidden>);
static_assert(!contractible<queries, tensor<double, batch<2>, hidden<100>>, hidden>);

// choosable, hideable: a condition of the same axes, elements of one type
using kept = tensor<bool, batch<2>, query<4>, hidden<100>>;
static_assert(choosable<kept, queries, const queries&> && choosable<const kept&, queries, int>);
static_assert(choosable<kept, double, queries> && choosable<kept, float, float>);
static_assert(!choosable<queries, queries, queries>);  // no condition
static_assert(!choosable<kept, context, queries> && !choosable<kept, turned, queries>);
static_assert(!choosable<kept, queries, tensor<double, batch<2>, query<4>, hidden<100>>>);
static_assert(!choosable<kept, tensor<int, batch<2>, query<4>, hidden<100>>, double>);  // fractions
static_assert(!choosable<bool, float, float>);  // C++ has that
static_assert(hideable<queries, kept> && hideable<const queries&, const kept&>);
static_assert(!hideable<queries, queries> && !hideable<context, kept>);
static_assert(!hideable<tensor<int, query<4>>, tensor<bool, query<4>>> && !hideable<queries, bool>);

// indexable, one_hot_encodable: integers, whose axes the features do not have
using table = tensor<float, token<9>, hidden<8>>;
using ids = tensor<int, batch<2>, query<4>>;
static_assert(indexable<table, ids> && indexable<const table&, tensor<unsigned char>>);
static_assert(!indexable<table, tensor<float, query<4>>> && !indexable<table, tensor<bool>>);
static_assert(!indexable<table, tensor<int, hidden<4>>> && !indexable<tensor<float>, ids>);
static_assert(indexable<table, tensor<int, token<3>>>);  // the name of the axis that goes
static_assert(!indexable<table, int> && !indexable<int, ids>);
static_assert(one_hot_encodable<ids, classes<10>> && one_hot_encodable<ids&, classes<10>, double>);
static_assert(!one_hot_encodable<queries, classes<10>> && !one_hot_encodable<ids, query<10>>);
static_assert(!one_hot_encodable<ids, classes<0>> && !one_hot_encodable<int, classes<10>>);

// rotatable: positions along an axis, an even number of features
static_assert(rotatable<queries, split_halves, query, hidden>);
static_assert(rotatable<const turned&, rope<adjacent_pairs, 500, 6>, batch, hidden>);
static_assert(!rotatable<queries, split_halves, key, hidden>);                    // absent
static_assert(!rotatable<queries, split_halves, query, key>);                     // absent
static_assert(!rotatable<queries, split_halves, query, query>);                   // twice
static_assert(!rotatable<queries, int, query, hidden>);                           // no pairing
static_assert(!rotatable<context, rope<split_halves, 10000, 102>, key, hidden>);  // too many
static_assert(!rotatable<tensor<float, query<4>, hidden<5>>, split_halves, query, hidden>);  // odd
static_assert(!rotatable<tensor<int, query<4>, hidden<6>>, split_halves, query, hidden>);
static_assert(!rotatable<int, split_halves, query, hidden>);
// rotatable_at: integers of some of the other axes
static_assert(rotatable_at<queries, ids, split_halves, token<99>, hidden>);
static_assert(rotatable_at<turned&, tensor<int>, rope<split_halves, 500, 6>, token<99>, hidden>);
static_assert(!rotatable_at<queries, tensor<float, query<4>>, split_halves, token<9>, hidden>);
static_assert(!rotatable_at<queries, tensor<int, query<5>>, split_halves, token<9>, hidden>);
static_assert(!rotatable_at<queries, tensor<int, key<4>>, split_halves, token<9>, hidden>);
static_assert(!rotatable_at<queries, tensor<int, hidden<100>>, split_halves, token<9>, hidden>);
static_assert(!rotatable_at<queries, ids, split_halves, token<9>, key>);
static_assert(!rotatable_at<queries, ids, split_halves, token<0>, hidden>);
static_assert(!rotatable_at<queries, ids, int, token<9>, hidden>);
static_assert(!rotatable_at<queries, int, split_halves, token<9>, hidden>);
// rotatable_by: cosines and sines of some of its axes, one for each pair
using angles = tensor<float, query<4>, hidden<50>>;
static_assert(rotatable_by<queries, angles, const angles&, split_halves, hidden>);
static_assert(rotatable_by<queries, tensor<float, hidden<3>>, tensor<float, hidden<3>>,
                           adjacent_pairs, hidden>);
static_assert(!rotatable_by<queries, angles, tensor<float, hidden<50>>, split_halves, hidden>);
static_assert(!rotatable_by<queries, queries, queries, split_halves, hidden>);  // one each feature
static_assert(!rotatable_by<context, angles, angles, split_halves, hidden>);    // no queries
static_assert(!rotatable_by<queries, float, float, split_halves, hidden>);

// same_shape
static_assert(same_shape<queries, const queries&>);
static_assert(same_shape<queries, view<const float, strided<batch<2>, 512>, strided<query<4>, 128>,
                                       strided<hidden<100>, 1>>>);  // names and sizes, not strides
static_assert(!same_shape<queries, context> && !same_shape<queries, turned>);
static_assert(!same_shape<queries, tensor<float, batch<2>, query<4>, hidden<99>>>);
static_assert(!same_shape<queries, tensor<float>>);

// accessible: a position may be of any integer that a program counts with.
__extension__ using int_128 = __int128;
static_assert(accessible<queries, int, char, unsigned long long>);
static_assert(!accessible<queries, int_128, int, int> && !accessible<queries, int, double, int>);

// A tensor is made of tensors and views of its axes whose elements it holds. (clang says yes of
// others, too: tensor.hpp.)
static_assert(std::is_convertible_v<view<const float, batch<2>, query<4>, hidden<100>>, queries>);
static_assert(std::is_convertible_v<tensor<int, query<4>>, tensor<long, query<4>>>);
#if defined(__GNUC__) && !defined(__clang__)
using of_keys = view<const float, batch<2>, key<4>, hidden<100>>;
static_assert(!std::is_convertible_v<of_keys, queries>);
static_assert(!std::is_constructible_v<queries, of_keys>);
static_assert(!std::is_assignable_v<queries&, of_keys>);
static_assert(!std::is_convertible_v<tensor<float, query<5>>, tensor<float, query<4>>>);
static_assert(!std::is_convertible_v<tensor<double, query<4>>, tensor<float, query<4>>>);
static_assert(!std::is_convertible_v<tensor<float, query<4>>, tensor<int, query<4>>>);
#endif

// Calls of other libraries (calls_of_other_libraries.hpp): generic code that asks is told no.
template <class T>
concept resizes = requires(T x) { x.resize(1); };
template <class T>
concept has_shape = requires(T x) { x.shape; } || requires(T x) { x.shape()[0]; };
template <class T>
concept transposes = requires(T x) { x.transpose(1, 2); } || requires(T x) { x.permute({1, 0}); };
template <class T>
concept multiplies = requires(T x) { matmul(x, x); } || requires(T x) { einsum("ij,jk", x, x); };
template <class T>
concept converts = requires(T x) { x.template to<double>(); } || requires(T x) { x.size(1); };
template <class T>
concept of_another_library =
    resizes<T> || has_shape<T> || transposes<T> || multiplies<T> || converts<T>;
static_assert(!of_another_library<queries> && !of_another_library<const queries&>);
static_assert(!of_another_library<view<float, strided<query<4>, 100>, strided<hidden<100>, 1>>>);
static_assert(requires(queries x) { x.size(); });
// A class of yours may be derived from a tensor, though x.split and the like then hide what is
// called without x.
template <class T>
struct named_queries : queries {
  T name;
};
static_assert(sizeof(named_queries<float>) == sizeof(queries) + sizeof(float));
