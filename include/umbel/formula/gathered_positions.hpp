// SPDX-License-Identifier: BSL-1.0
// The positions that a gather reads for pairs of a query and a key, if they are linear in both, and
// loads of elements that are apart or adjacent for neighboring pairs. The policy of scores
// in changed_scores.hpp uses them.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/elementwise.hpp>
#include <umbel/formula/linear_form.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// The position that a gather reads: that of `inner`, or its absolute value, if it is from `least`
// to `most`, which are in the table. Others are clamped to these, or outside of the table.
struct linear_position {
  std::ptrdiff_t key = 0, query = 0, constant = 0;  // inner: key * key's position + ...
  std::ptrdiff_t least = 0, most = 0;
  bool clamps_least = false, clamps_most = false;
  bool ok = false, is_absolute = false;
  bool is_inside = false;  // is it always between these two?

  constexpr std::ptrdiff_t inner(std::size_t query_at, std::size_t key_at) const noexcept {
    return key * static_cast<std::ptrdiff_t>(key_at) +
           query * static_cast<std::ptrdiff_t>(query_at) + constant;
  }
  // The positions of neighboring queries, the first of which has the inner position `begin`.
  template <class V>
  UMBEL_INLINE constexpr V of_lanes(std::ptrdiff_t begin) const noexcept {
    using T = simd::element_of<V>;
    V at = simd::broadcast<V>(static_cast<T>(begin));
    if constexpr (simd::lanes_of<V> != 1)
      at += simd::broadcast<V>(static_cast<T>(query)) *
            __builtin_convertvector(kernel::scores::detail::lane_numbers<V>(), V);
    if (is_absolute) at = simd::select(simd::less(at, V{}), -at, at);
    const V lower = simd::broadcast<V>(static_cast<T>(least));
    const V upper = simd::broadcast<V>(static_cast<T>(most));
    if (clamps_least) at = simd::select(simd::less(at, lower), lower, at);
    if (clamps_most) at = simd::select(simd::less(upper, at), upper, at);
    return at;
  }
};
// inner: the form of the inner position. bounds: of the position itself, between two numbers or
// not.
template <class T>
constexpr linear_position linear_position_in(const linear_form& inner, const linear_form& bounds,
                                             bool is_absolute, const node_of_graph<T>& node,
                                             std::size_t queries, std::size_t keys) noexcept {
  const auto whole = [](double number) {
    return number <= 1e6 && number >= -1e6 &&
           static_cast<double>(static_cast<std::ptrdiff_t>(number)) == number;
  };
  const double end = static_cast<double>(node.gathered - 1);
  linear_position by;
  by.clamps_least = bounds.least >= 0;
  by.clamps_most = bounds.most <= end;
  const double lower = by.clamps_least ? bounds.least : 0;
  const double upper = by.clamps_most ? bounds.most : end;
  if (!inner.ok || !bounds.ok || !whole(inner.key) || !whole(inner.query) ||
      !whole(inner.constant) || lower > upper || !whole(lower) || !whole(upper))
    return {};
  const auto number = [](double of) { return static_cast<std::ptrdiff_t>(of); };
  by.key = number(inner.key), by.query = number(inner.query);
  by.constant = number(inner.constant);
  by.least = number(lower), by.most = number(upper);
  by.ok = true, by.is_absolute = is_absolute;
  std::ptrdiff_t least = by.constant, most = by.constant;
  for (const std::ptrdiff_t last : {by.key * static_cast<std::ptrdiff_t>(keys - 1),
                                    by.query * static_cast<std::ptrdiff_t>(queries - 1)})
    (last < 0 ? least : most) += last;
  by.is_inside = !is_absolute && least >= by.least && most <= by.most;
  return by;
}
// position: the node of the gather's positions. linear(n): the linear form of node n.
template <class T, std::size_t Nodes, class Linear>
constexpr linear_position linear_position_of(const schedule<T, Nodes>& p,
                                             const node_of_graph<T>& node, const Linear& linear,
                                             std::size_t queries, std::size_t keys) noexcept {
  const int position = node.from[1].node;
  const node_of_graph<T>& last = p.at(position);
  const bool bounds =
      last.what == word::maximum || last.what == word::minimum || last.what == word::clamp;
  const node_of_graph<T>& first = bounds ? p.at(last.from[0].node) : last;
  if (first.what != word::absolute) {
    const linear_form form = linear(position);
    return linear_position_in(form, form, false, node, queries, keys);
  }
  linear_form absolute{1, 0, 0, true};  // of |inner|
  if (last.what == word::maximum || last.what == word::clamp)
    absolute = absolute.at_least(linear(last.from[1].node));
  if (last.what == word::minimum) absolute = absolute.at_most(linear(last.from[1].node));
  if (last.what == word::clamp) absolute = absolute.at_most(linear(last.from[2].node));
  const linear_form inner = linear(first.from[0].node);
  return linear_position_in(inner.is_clamped() ? linear_form{} : inner, absolute, true, node,
                            queries, keys);
}

// Does node n depend on positions and numbers only? Then no value decides a branch.
template <class T, std::size_t Nodes>
constexpr bool is_of_positions(const schedule<T, Nodes>& p, int n) {
  const node_of_graph<T>& node = p.at(n);
  if (node.what == word::position || node.what == word::number) return true;
  if (!is_elementwise(node.what) || node.what == word::gather) return false;
  for (std::size_t j = 0; j < node.operands; ++j)
    if (!is_of_positions(p, node.from[j].node)) return false;
  return true;
}

// As load_at, of positions that often are one for all lanes, or one less for each lane.
template <std::size_t Size, class V, class E>
UMBEL_INLINE V load_neighbors(const E* from, V at, std::size_t count) noexcept {
  using T = simd::element_of<V>;
  constexpr std::size_t lanes = simd::lanes_of<V>;
  const T first = at[0];
  const V all = simd::broadcast<V>(first);
  if (first >= 0 && first < static_cast<T>(Size)) {
    if (simd::all_lanes(simd::equal(at, all)))
      return simd::broadcast<V>(static_cast<T>(from[static_cast<std::size_t>(first)]));
    if constexpr (std::is_same_v<E, T>) {
      const V down = all - __builtin_convertvector(kernel::scores::detail::lane_numbers<V>(), V);
      if (first >= static_cast<T>(lanes - 1) && simd::all_lanes(simd::equal(at, down)))
        return simd::reversed(simd::load<V>(from + static_cast<std::size_t>(first) - (lanes - 1)));
    }
  }
  return load_at<Size, 1, 0, false>(from, at, count);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
