// SPDX-License-Identifier: BSL-1.0
// A mistake whose result is used: the consequences are not a second error (check.py).
#include <umbel/umbel.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;
using attention = multi_head_attention<float, hidden<100>, heads<5>>;

static auto norm_of(const tensor_like auto& a) {
  float sum = 0;
  for (float e : a) sum += e * e;
  return sum;
}
template <class A, class B>
  requires same_shape<A, B>
static auto add(const A& a, const B& b) {
  return a + b;
}
template <class A>
  requires has_axis<A, heads> && mergeable<A, heads, head_dim, hidden>
static auto fold(const A& a) {
  return a | merge<heads, head_dim, hidden>;
}
template <class A>
  requires contractible<A, A, hidden> && permutable<A, hidden, query, batch>
static auto mixed(const A& a) {
  return a | permute<hidden, query, batch>;
}

[[maybe_unused]] static void cases(queries& x, context& y, attention::weights& w) {
  (void)x, (void)y, (void)w;
#if defined CASE_split_walked
  // expect-gcc: "umbel: split: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: split, .*hidden<100>, .*into, .*heads<7>, .*leaves_a_remainder_of, .*number<2>
  // cause: The axis cannot be cut into that many equal parts.
  // cure: Choose a number of parts that divides the size, or change the size.
  auto r = split<hidden, heads<7>, head_dim>(x);
  float sum = std::accumulate(r.begin(), r.end(), 0.0f);
  for (float e : r) sum += e * sum;
  std::fill(std::begin(r), std::end(r), sum);
  sum += *std::ranges::max_element(r) + r[0] + r.data()[3] + *r.data();
#elif defined CASE_split_measured
  // expect-gcc: "umbel: split: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: split, .*hidden<100>, .*into, .*heads<7>, .*leaves_a_remainder_of, .*number<2>
  // cause: The axis cannot be cut into that many equal parts.
  // cure: Choose a number of parts that divides the size, or change the size.
  auto r = split<hidden, heads<7>, head_dim>(x);
  constexpr std::size_t width = decltype(r)::extent<head_dim> + decltype(r)::layout::count;
  static_assert(width + r.size() + r.rank > 0);
#elif defined CASE_sum_compared
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes"
  // expect-clang: query<4>, .*hidden<100>>, .*and_, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: The tensors are combined element by element, but have different axes or sizes.
  // cure: `broadcast` the smaller one to the axes of the larger one, or rename the axis that differs.
  auto r = x + y;
  bool less = r(0, 0, 0) < 1.0f && 2 > r(0, 0, 0) && r(1, 0, 0) == 0.5f && r == x && r != y;
  less = less || r <= r;
  ++r(0, 0, 0), r(1, 0, 0)--, r(0, 0, 1) += 2, r(0, 0, 1) = 1;
  if (r(0, 0, 0) > 0 && less) r += x;
#elif defined CASE_sum_deduced
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes"
  // expect-clang: query<4>, .*hidden<100>>, .*and_, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: The tensors are combined element by element, but have different axes or sizes.
  // cure: `broadcast` the smaller one to the axes of the larger one, or rename the axis that differs.
  tensor r = x + y;
  view v = r | slice<query, from<1>, extent<2>>;
  auto s = -(r + x) * 2.0f | permute<query, batch, hidden>;
  queries q = v + s;
  q = softmax<hidden>(r);
#elif defined CASE_sum_of_constants
  // expect-gcc: "umbel: elementwise: \[hidden=3\] and \[hidden=2\] have the same axes with different sizes"
  // expect-clang: hidden<3>>, .*and_, .*hidden<2>>, .*have_the_same_axes_with_different_sizes
  // cause: The two tensors have different sizes. The constant made of their sum is not a second error.
  // cure: Add tensors with the same axes.
  constexpr tensor<float, hidden<3>> a{};
  constexpr tensor<float, hidden<2>> b{};
  constexpr float r = (a + b)(0);
  constexpr tensor<float, hidden<2>> s = a + b;
  static_assert(r == 0 && s == b);
#elif defined CASE_call_decomposed
  // expect-gcc: "umbel: multi_head_attention: the queries in argument 1 need the axis query but have \[batch=2, key=6, hidden=100\]"
  // expect-clang: the_queries_in_argument_1, .*need_the_axis, .*query>, .*but_have, .*key<6>
  // cause: The first argument has no axis query. Queries and keys are probably swapped.
  // cure: Pass queries, keys and values in this order, or rename the axis: `x | rename_axis<token, query>`.
  auto [out, weights] = attention{w}(y, x, x);
  (void)out(0, 0, 0), (void)weights;
#elif defined CASE_sum_passed_on
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes"
  // expect-clang: query<4>, .*hidden<100>>, .*and_, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: The tensors are combined element by element, but have different axes or sizes.
  // cure: `broadcast` the smaller one to the axes of the larger one, or rename the axis that differs.
  const auto change = [](queries& q) { q(0, 0, 0) = 1; };
  const auto first = [](const auto& q) { return q(0, 0, 0) + *q.data(); };
  auto r = x + y;
  change(r);
  const float e = first(r);
  change(e > 0 ? r : x);
#elif defined CASE_uneven_heads_used
  // expect-gcc: "umbel: multi_head_attention: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: multi_head_attention, .*hidden<100>, .*into, .*heads<7>, .*leaves_a_remainder_of
  // cause: The heads do not divide the hidden axis.
  // cure: Choose a number of heads that divides it, or add the width of a head: `head_dim<16>`.
  using seven = multi_head_attention<float, hidden<100>, heads<7>>;
  static seven::weights v;
  for (auto* map : {&v.q, &v.k, &v.v, &v.o})
    for (std::size_t i = 0; i < 100; ++i) (*map)(i, i) = 1;
  const queries out = seven{v}(x, y, y, causal_top_left);
  prepacked<seven>{v}.into(x, out, y, y);
#elif defined CASE_sum_in_functions_of_numbers
  // expect-gcc: "umbel: elementwise: \[batch=2, query=4, hidden=100\] and \[batch=2, key=6, hidden=100\] have different axes"
  // expect-clang: query<4>, .*hidden<100>>, .*and_, .*key<6>, .*hidden<100>>, .*have_different_axes
  // cause: The tensors are combined element by element, but have different axes or sizes.
  // cure: `broadcast` the smaller one to the axes of the larger one, or rename the axis that differs.
  auto r = x + y;
  float largest = std::max(r(0, 0, 0), 1.0f) + std::exp(r[0]) + std::abs(r[1]);
  const std::string words = std::to_string(r[2]);
  auto* p = r.data();
  largest +=
      p[0] + r->data()[1] + r.value().data()[2] + r[{0, 1, 2}] + static_cast<float>(words.size());
#elif defined CASE_split_in_calls_of_other_libraries
  // expect-gcc: "umbel: split: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: split, .*hidden<100>, .*into, .*heads<7>, .*leaves_a_remainder_of, .*number<2>
  // cause: The axis cannot be cut into that many equal parts.
  // cure: Choose a number of parts that divides the size, or change the size.
  auto r = split<hidden, heads<7>, head_dim>(x);
  auto s = r.transpose(1, 2).permute({0, 1}).contiguous().view(2, 400);
  const std::size_t sizes = r.size(0) + s.rows().size() + s.shape[0].size();
  (void)sizes;
#elif defined CASE_split_passed_to_functions_that_ask
  // expect-gcc: "umbel: split: hidden=100 into heads=7 leaves a remainder of 2"
  // expect-clang: split, .*hidden<100>, .*into, .*heads<7>, .*leaves_a_remainder_of, .*number<2>
  // cause: The axis cannot be cut into that many equal parts.
  // cure: Choose a number of parts that divides the size, or change the size.
  auto r = split<hidden, heads<7>, head_dim>(x);
  (void)norm_of(r), (void)add(r, x), (void)fold(r), (void)mixed(r);
#else
  (void)norm_of(x), (void)add(x, x), (void)mixed(x);
  auto r = split<hidden, heads<5>, head_dim>(x);
  (void)fold(r);
  queries q = r | merge<heads, head_dim, hidden>;
  q = attention{w}(x, y, y, causal_top_left);
#endif
}
