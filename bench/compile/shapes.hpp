// SPDX-License-Identifier: BSL-1.0
// One attention as types only, 20 operations, each with its verdict asserted and its result
// checked: what a program pays for shapes before it computes anything. Compiled by run.py and by
// test/compile_cost; not a part of any program.
#pragma once

#include <umbel/bare.hpp>

namespace compile_cost {

using namespace umbel;
using namespace umbel::axes;

// An operation on a layout, as rereading::operator() does it.
template <class Layout, class Operation>
struct step {
  static_assert(detail::report<typename Operation::template rule<Layout>>::ok,
                "umbel: shapes do not fit");
  using type = typename Operation::template result<Layout>;
};
template <class Layout, class Operation>
using apply = typename step<Layout, Operation>::type;

template <class Layout, class Map>
struct project {
  static_assert(
      detail::report<detail::rules::project<detail::say::x_times_weights, Layout, float, Map>>::ok,
      "umbel: shapes do not fit");
  using type = detail::projected<Layout, Map>;
};

template <class Left, class Right, class Family>
struct contracted {
  static_assert(detail::report<detail::rules::contract<Left, Right, Family>>::ok,
                "umbel: shapes do not fit");
  using type = detail::algebra::contract<Left, Right, Family>;
};

template <std::size_t Batch, std::size_t Queries, std::size_t Keys, std::size_t Heads,
          std::size_t Dim>
struct attention_shape {
  static constexpr std::size_t width = Heads * Dim;
  using map = detail::linear_map<float, hidden<width>, hidden<width>, false>;
  using tokens = detail::layout<batch<Batch>, token<Queries>, hidden<width>>;
  using context = detail::layout<batch<Batch>, key<Keys>, hidden<width>>;
  using splitting = decltype(split<hidden, axes::heads<Heads>, head_dim>);
  using keys_first = decltype(permute<batch, axes::heads, key, head_dim>);

  using x = apply<tokens, decltype(rename_axis<token, query>)>;
  using q_flat = typename project<x, map>::type;
  using k_flat = typename project<context, map>::type;
  using v_flat = typename project<context, map>::type;
  using q = apply<apply<q_flat, splitting>, decltype(permute<batch, axes::heads, query, head_dim>)>;
  using k = apply<apply<k_flat, splitting>, keys_first>;
  using v = apply<apply<v_flat, splitting>, keys_first>;
  using scores = typename contracted<q, k, axis_family<head_dim>>::type;
  using mask =
      apply<detail::layout<batch<Batch>, key<Keys>>,
            decltype(broadcast<batch<Batch>, axes::heads<Heads>, query<Queries>, key<Keys>>)>;
  static_assert(
      detail::report<detail::rules::same_shape<detail::say::elementwise, scores, mask>>::ok);
  using mixed = typename contracted<scores, v, axis_family<key>>::type;
  using back = apply<mixed, decltype(permute<batch, query, axes::heads, head_dim>)>;
  using merged = apply<detail::row_major<back>, decltype(merge<axes::heads, head_dim, hidden>)>;
  using out = typename project<merged, map>::type;
  using first = apply<out, decltype(select_at<query, 0>)>;
  using half = apply<out, decltype(slice<hidden, from<0>, extent<width / 2>>)>;

  static_assert(std::is_same_v<x, detail::layout<batch<Batch>, query<Queries>, hidden<width>>>);
  static_assert(
      std::is_same_v<q, detail::layout<strided<batch<Batch>, Queries * width>,
                                       strided<axes::heads<Heads>, Dim>,
                                       strided<query<Queries>, width>, strided<head_dim<Dim>, 1>>>);
  static_assert(std::is_same_v<k, v>);
  static_assert(
      std::is_same_v<scores,
                     detail::layout<batch<Batch>, axes::heads<Heads>, query<Queries>, key<Keys>>>);
  static_assert(mask::strides[1] == 0 && mask::strides[2] == 0);
  static_assert(std::is_same_v<mixed, detail::layout<batch<Batch>, axes::heads<Heads>,
                                                     query<Queries>, head_dim<Dim>>>);
  static_assert(std::is_same_v<out, x>);
  static_assert(std::is_same_v<typename first::axes, detail::shape<batch<Batch>, hidden<width>>>);
  static_assert(half::strides[1] == width);
};

}  // namespace compile_cost
