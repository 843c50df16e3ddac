// SPDX-License-Identifier: BSL-1.0
// Shapes are computed in constant expressions under the sanitizers too: g++ refuses some
// comparisons of addresses there, which once stopped every lookup of an axis.
// flags-gcc: -fsanitize=undefined
// flags-clang: -fsanitize=undefined
#include <umbel/quantized.hpp>
#include <umbel/training.hpp>
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

// Which parts a gradient is of is a question of addresses, too: of weights it was once 0 there.
using classifier = linear<float, hidden<100>, classes<5>, bias<true>>;
constexpr auto sum_of_logits = [](auto x, const auto& w) { return sum<classes>(x * w); };
using reversed = detail::formulas::scheduled_gradient<
    std::remove_const_t<decltype(sum_of_logits)>, detail::formulas::wanted_arguments<false, true>,
    detail::formulas::argument_of<tensor<float, hidden<100>>>::type,
    detail::formulas::argument_of<classifier::weights>::type>;
static_assert(reversed::wanted.of[2].values == 1 && reversed::wanted.of[2].bias == 1);

// Whether a value has a name is a question of addresses, too.
constexpr formula squares = [](auto x, auto y) { return named<"product">(x * y) * x; };
[[maybe_unused]] float& range_of_product(
    quantized<decltype(squares), queries, queries>::ranges& seen) {
  return seen.get<"product">()();
}
