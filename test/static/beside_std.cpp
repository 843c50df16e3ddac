// SPDX-License-Identifier: BSL-1.0
// Names that are ambiguous beside `using namespace std`, and how they are written then
// (docs/names.md).
#include <umbel/bare.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <valarray>

using namespace std;
using namespace umbel;
using namespace umbel::axes;

using by_head = tensor<int, heads<2>, head_dim<3>>;
using one_head = view<const int, heads<1>, head_dim<3>>;

static_assert(is_same_v<decltype(declval<const by_head&>() | umbel::merge<heads, head_dim, hidden>),
                        view<const int, hidden<6>>>);
static_assert(
    is_same_v<decltype(declval<const by_head&>() | umbel::slice<heads, from<1>, umbel::extent<1>>),
              one_head>);
static_assert(umbel::mergeable<by_head, heads, head_dim, hidden>);
static_assert(umbel::permutable<by_head, head_dim, heads>);

[[maybe_unused]] static void in_a_function(const by_head& x) {
  using umbel::extent, umbel::merge, umbel::slice;
  static_assert(
      is_same_v<decltype(x | merge<heads, head_dim, hidden>), view<const int, hidden<6>>>);
  static_assert(is_same_v<decltype(x | slice<heads, from<1>, extent<1>>), one_head>);
}

// Functions of each element are overloads beside those of numbers, std's and the global ones.
[[maybe_unused]] static double functions(const tensor<float, key<3>>& x, double number) {
  static_assert(is_same_v<decltype(exp(x)), tensor<float, key<3>>>);
  static_assert(is_same_v<decltype(abs(tensor<int, key<3>>{})), tensor<int, key<3>>>);
  static_assert(is_same_v<decltype(log(sqrt(tanh(x)))), tensor<float, key<3>>>);
  // Of integers, std's; of what std lacks, Umbel's.
  static_assert(is_same_v<decltype(log(2)), double> && is_same_v<decltype(abs(-1)), int>);
  const int n = static_cast<int>(number);
  return exp(number) + log(number) + sqrt(number) + tanh(number) + abs(number) + abs(-1) + exp(n) +
         log(n) + sqrt(n) + tanh(n) + sin(n) + cos(n) + erf(n) + floor(n) + rsqrt(n) + sigmoid(n);
}
