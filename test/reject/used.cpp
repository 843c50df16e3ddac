// SPDX-License-Identifier: BSL-1.0
// A mistake whose result is used: what follows from it is no second error (check.py).
#include <umbel/umbel.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;
using attention = multi_head_attention<float, hidden<100>, heads<5>>;

[[maybe_unused]] static void cases(queries& x, context& y, attention::weights& w) {
  (void)x, (void)y, (void)w;
#if defined CASE_split_walked
  // expect-gcc: "umbel: split: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: split, .*hidden<100>, .*into, .*heads<7>, .*leaves_a_remainder_of, .*number<2>
  // cause: The split does not work out. That its result is then walked like a tensor is no other mistake.
  // cure: Split into a number of parts that divides the size.
  auto r = split<hidden, heads<7>, head_dim>(x);
  float sum = std::accumulate(r.begin(), r.end(), 0.0f);
  for (float e : r) sum += e * sum;
  std::fill(std::begin(r), std::end(r), sum);
  sum += *std::ranges::max_element(r) + r[0] + r.data()[3] + *r.data();
#elif defined CASE_split_measured
  // expect-gcc: "umbel: split: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: split, .*hidden<100>, .*into, .*heads<7>, .*leaves_a_remainder_of, .*number<2>
  // cause: The split does not work out. That the result is asked for its sizes is no other mistake.
  // cure: Split into a number of parts that divides the size.
  auto r = split<hidden, heads<7>, head_dim>(x);
  constexpr std::size_t width = decltype(r)::extent<head_dim> + decltype(r)::layout::count;
  static_assert(width + r.size() + r.rank > 0);
#elif defined CASE_sum_compared
  // expect-gcc: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes
  // expect-clang: query<4>, .*hidden<100>>, .*and_, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: The two have different axes. That their sum is compared, counted up or a condition is no other mistake.
  // cure: Add what has the same axes; `rename_axis` where only a name differs.
  auto r = x + y;
  bool less = r(0, 0, 0) < 1.0f && 2 > r(0, 0, 0) && r(1, 0, 0) == 0.5f && r == x && r != y;
  less = less || r <= r;
  ++r(0, 0, 0), r(1, 0, 0)--, r(0, 0, 1) += 2, r(0, 0, 1) = 1;
  if (r(0, 0, 0) > 0 && less) r += x;
#elif defined CASE_sum_deduced
  // expect-gcc: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes
  // expect-clang: query<4>, .*hidden<100>>, .*and_, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: The two have different axes. That a tensor is deduced from their sum is no other mistake.
  // cure: Add what has the same axes; `rename_axis` where only a name differs.
  tensor r = x + y;
  view v = r | slice<query, from<1>, extent<2>>;
  auto s = -(r + x) * 2.0f | permute<query, batch, hidden>;
  queries q = v + s;
  q = softmax<hidden>(r);
#elif defined CASE_sum_of_constants
  // expect-gcc: \[hidden=3\] and \[hidden=2\] have different axes
  // expect-clang: hidden<3>>, .*and_, .*hidden<2>>, .*have_different_axes
  // cause: The two have different sizes. That a constant is made of their sum is no other mistake.
  // cure: Add what has the same axes.
  constexpr tensor<float, hidden<3>> a{};
  constexpr tensor<float, hidden<2>> b{};
  constexpr float r = (a + b)(0);
  constexpr tensor<float, hidden<2>> s = a + b;
  static_assert(r == 0 && s == b);
#elif defined CASE_call_decomposed
  // expect-gcc: the queries in argument 1 need the axis query but have \[batch=2, key=6, hidden=100\]
  // expect-clang: the_queries_in_argument_1, .*need_the_axis, .*query>, .*but_have, .*key<6>
  // cause: Queries and keys are swapped. That the result is taken apart as another library's is no other mistake.
  // cure: Pass the queries first. A call gives one tensor; `observe(weights)` in the mask gives the weights.
  auto [out, weights] = attention{w}(y, x, x);
  (void)out(0, 0, 0), (void)weights;
#elif defined CASE_sum_passed_on
  // expect-gcc: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes
  // expect-clang: query<4>, .*hidden<100>>, .*and_, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: The two have different axes. That their sum goes to functions of one's own is no other mistake.
  // cure: Add what has the same axes; `rename_axis` where only a name differs.
  const auto change = [](queries& q) { q(0, 0, 0) = 1; };
  const auto first = [](const auto& q) { return q(0, 0, 0) + *q.data(); };
  auto r = x + y;
  change(r);
  const float e = first(r);
  change(e > 0 ? r : x);
#elif defined CASE_uneven_heads_used
  // expect-gcc: "umbel: multi_head_attention: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: multi_head_attention, .*hidden<100>, .*into, .*heads<7>, .*leaves_a_remainder_of
  // cause: The heads do not divide the width. That the layer's weights are filled and the layer called is no other mistake.
  // cure: Take a number of heads that divides hidden, or say the width of a head, `head_dim<16>`.
  using seven = multi_head_attention<float, hidden<100>, heads<7>>;
  static seven::weights v;
  for (auto* map : {&v.q, &v.k, &v.v, &v.o})
    for (std::size_t i = 0; i < 100; ++i) (*map)(i, i) = 1;
  const queries out = seven{v}(x, y, y, causal_top_left);
  prepacked<seven>{v}.into(x, out, y, y);
#else
  auto r = split<hidden, heads<5>, head_dim>(x);
  queries q = r | merge<heads, head_dim, hidden>;
  q = attention{w}(x, y, y, causal_top_left);
#endif
}
