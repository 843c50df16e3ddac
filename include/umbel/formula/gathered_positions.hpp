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

// The position that a gather reads: key * key's position + query * query's position + constant,
// which is not changed by clamping if it is from `least` to `most`, both inside of the table.
struct linear_position {
  std::ptrdiff_t key = 0, query = 0, constant = 0, least = 0, most = 0;
  bool ok = false, is_clamped = false;
  bool is_inside = false;  // is it always between these two?

  constexpr std::ptrdiff_t at(std::size_t query_at, std::size_t key_at) const noexcept {
    return key * static_cast<std::ptrdiff_t>(key_at) +
           query * static_cast<std::ptrdiff_t>(query_at) + constant;
  }
};
template <class T>
constexpr linear_position linear_position_in(const linear_form& form, const node_of_graph<T>& node,
                                             std::size_t queries, std::size_t keys) noexcept {
  const auto whole = [](double number) {
    return number <= 1e6 && number >= -1e6 &&
           static_cast<double>(static_cast<std::ptrdiff_t>(number)) == number;
  };
  const double end = static_cast<double>(node.gathered - 1);
  const double lower = form.is_clamped() ? form.least : 0;
  const double upper = form.is_clamped() ? form.most : end;
  if (!form.ok || !whole(form.key) || !whole(form.query) || !whole(form.constant) || lower < 0 ||
      lower > upper || upper > end || !whole(lower) || !whole(upper))
    return {};
  double least = form.constant, most = form.constant;
  for (const double last :
       {form.key * static_cast<double>(keys - 1), form.query * static_cast<double>(queries - 1)})
    (last < 0 ? least : most) += last;
  const auto number = [](double of) { return static_cast<std::ptrdiff_t>(of); };
  return {number(form.key),      number(form.query),
          number(form.constant), number(lower),
          number(upper),         true,
          form.is_clamped(),     least >= lower && most <= upper};
}

// Loads `count` elements, Stride apart, which may be negative.
template <class V, std::ptrdiff_t Stride, class E>
UMBEL_INLINE constexpr V load_by(const E* from, std::size_t count) noexcept {
  using T = simd::element_of<V>;
  constexpr std::size_t lanes = simd::lanes_of<V>;
  if constexpr (Stride >= 0 || lanes == 1) {
    return load_apart<V, static_cast<std::size_t>(Stride >= 0 ? Stride : 0)>(from, count);
  } else {
    if constexpr (Stride == -1 && std::is_same_v<E, T>)
      if (count == lanes) return simd::reversed(simd::load<V>(from - (lanes - 1)));
    V value{};
    for (std::size_t i = 0; i < lanes; ++i)
      value[i] =
          static_cast<T>(from[static_cast<std::ptrdiff_t>(i < count ? i : count - 1) * Stride]);
    return value;
  }
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
