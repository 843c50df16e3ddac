// SPDX-License-Identifier: BSL-1.0
// Shapes are computed in constant expressions under the sanitizers too: g++ refuses some
// comparisons of addresses there, which once stopped every lookup of an axis.
// flags-gcc: -fsanitize=undefined
// flags-clang: -fsanitize=undefined
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
static_assert(queries::layout::size_of<axis_family<hidden>> == 100);
static_assert(queries::layout::position<axis_family<key>> == npos);
static_assert(splittable<queries, hidden, heads<5>> && !splittable<queries, key, heads<5>>);

// Graphs of formulas hold functions.
constexpr formula self_attention = [](auto x) {
  auto y = x | rename_axis<query, key>;
  return contract<key>(softmax<key>(contract<hidden>(x, y) * 0.1f), y) * 2;
};
queries attend_by_formula(const queries& x) { return self_attention(x); }

queries attend(const queries& x) {
  static multi_head_attention<float, hidden<100>, heads<5>>::weights w;
  return multi_head_attention<float, hidden<100>, heads<5>>{w}(x);
}
