// SPDX-License-Identifier: BSL-1.0
// What shapes.hpp checks, with Boost.Hana as the engine of the shape algebra: an axis is a pair of
// a type and a size, a shape a tuple of them. Row-major only, without strides and sentences: less
// than Umbel does. Compiled by run.py only.
#pragma once

#include <boost/hana.hpp>

namespace compile_cost {

namespace hana = boost::hana;
using namespace hana::literals;

inline constexpr auto batch = hana::type_c<struct batch_axis>;
inline constexpr auto token = hana::type_c<struct token_axis>;
inline constexpr auto query = hana::type_c<struct query_axis>;
inline constexpr auto key = hana::type_c<struct key_axis>;
inline constexpr auto hidden = hana::type_c<struct hidden_axis>;
inline constexpr auto heads = hana::type_c<struct heads_axis>;
inline constexpr auto head_dim = hana::type_c<struct head_dim_axis>;

inline constexpr auto named = [](auto axis) {
  return [axis](auto dim) { return hana::first(dim) == axis; };
};
inline constexpr auto size_of = [](auto shape, auto axis) {
  return hana::second(hana::find_if(shape, named(axis)).value());
};
inline constexpr auto has = [](auto shape, auto axis) { return hana::any_of(shape, named(axis)); };
// The axis replaced by others.
inline constexpr auto replace = [](auto shape, auto axis, auto with) {
  return hana::fold_left(shape, hana::make_tuple(), [=](auto done, auto dim) {
    return hana::if_(
        hana::first(dim) == axis, [=](auto) { return hana::concat(done, with); },
        [=](auto kept) { return hana::append(done, kept); })(dim);
  });
};
inline constexpr auto split = [](auto shape, auto axis, auto outer, auto inner) {
  auto rest = size_of(shape, axis) / hana::second(outer);
  static_assert(decltype(size_of(shape, axis) % hana::second(outer) == hana::size_c<0>)::value);
  return replace(shape, axis, hana::make_tuple(outer, hana::make_pair(inner, rest)));
};
inline constexpr auto permute = [](auto shape, auto... axis) {
  static_assert(decltype(hana::size_c<sizeof...(axis)> == hana::length(shape))::value);
  return hana::make_tuple(hana::make_pair(axis, size_of(shape, axis))...);
};
inline constexpr auto rename_axis = [](auto shape, auto from, auto to) {
  return replace(shape, from, hana::make_tuple(hana::make_pair(to, size_of(shape, from))));
};
inline constexpr auto merge = [](auto shape, auto outer, auto inner, auto to) {
  auto size = size_of(shape, outer) * size_of(shape, inner);
  return replace(replace(shape, inner, hana::make_tuple()), outer,
                 hana::make_tuple(hana::make_pair(to, size)));
};
inline constexpr auto select_at = [](auto shape, auto axis) {
  return replace(shape, axis, hana::make_tuple());
};
inline constexpr auto contract = [](auto left, auto right, auto axis) {
  static_assert(decltype(size_of(left, axis) == size_of(right, axis))::value);
  return hana::concat(select_at(left, axis), hana::filter(right, [=](auto dim) {
                        return hana::not_(has(left, hana::first(dim)));
                      }));
};
inline constexpr auto broadcast = [](auto from, auto to) {
  static_assert(decltype(hana::all_of(
      from, [=](auto dim) { return size_of(to, hana::first(dim)) == hana::second(dim); }))::value);
  return to;
};
inline constexpr auto project = [](auto shape, auto in, auto out) {
  static_assert(decltype(size_of(shape, hana::first(in)) == hana::second(in))::value);
  return replace(shape, hana::first(in), hana::make_tuple(out));
};

template <std::size_t Batch, std::size_t Queries, std::size_t Keys, std::size_t Heads,
          std::size_t Dim>
struct hana_shape {
  static constexpr auto run() {
    constexpr auto width = hana::make_pair(hidden, hana::size_c<Heads * Dim>);
    constexpr auto n = hana::make_pair(batch, hana::size_c<Batch>);
    constexpr auto split_heads = hana::make_pair(heads, hana::size_c<Heads>);
    auto x = rename_axis(hana::make_tuple(n, hana::make_pair(token, hana::size_c<Queries>), width),
                         token, query);
    auto y = hana::make_tuple(n, hana::make_pair(key, hana::size_c<Keys>), width);
    auto q = permute(split(project(x, width, width), hidden, split_heads, head_dim), batch, heads,
                     query, head_dim);
    auto k = permute(split(project(y, width, width), hidden, split_heads, head_dim), batch, heads,
                     key, head_dim);
    auto v = permute(split(project(y, width, width), hidden, split_heads, head_dim), batch, heads,
                     key, head_dim);
    auto scores = contract(q, k, head_dim);
    broadcast(hana::make_tuple(n, hana::make_pair(key, hana::size_c<Keys>)), scores);
    auto back = permute(contract(scores, v, key), batch, query, heads, head_dim);
    auto out = project(merge(back, heads, head_dim, hidden), width, width);
    static_assert(decltype(out == x)::value);
    auto first = select_at(out, query);
    static_assert(decltype(first == hana::make_tuple(n, width))::value);
    return first;
  }
  static_assert(decltype(hana::length(run()))::value == 2);
};

}  // namespace compile_cost
