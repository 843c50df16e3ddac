// SPDX-License-Identifier: BSL-1.0
// What vector code takes as it comes and a compiler refuses to compute: 1 / 0, infinity - infinity,
// subnormals.
#include <umbel/umbel.hpp>

#include <cstdint>
#include <limits>

using namespace umbel;
using namespace umbel::axes;

namespace query_without_keys {
constexpr tensor<float, heads<1>, query<1>, head_dim<1>> q{1};
constexpr tensor<float, heads<1>, key<2>, head_dim<1>> k{1, 2};
constexpr tensor<int, query<1>> none{0};
static_assert(scaled_dot_product_attention(q, k, k, none).data()[0] == 0);
static_assert(scaled_dot_product_attention_with<empty_rows<uniform_weights>>(q, k, k, none)
                  .data()[0] == 1.5f);
static_assert(scaled_dot_product_attention(q, k, k, causal_at(-3)).data()[0] == 0);
static_assert(scaled_dot_product_attention(q, k, k, causal_at(PTRDIFF_MIN)).data()[0] == 0);
static_assert(
    scaled_dot_product_attention(q, k, k, causal_at(tensor<int, heads<1>>{-1})).data()[0] == 0);
static_assert(
    scaled_dot_product_attention(q, k, k, causal_at(tensor<char, query<1>>{0})).data()[0] == 1);
static_assert(scaled_dot_product_attention(q, k, k, causal_bottom_right(none)).data()[0] == 0);
static_assert(scaled_dot_product_attention(q, k, k, causal_bottom_right(none + 1)).data()[0] == 1);
static_assert(scaled_dot_product_attention(q, k, k, sliding_window_at<0>(none + 1)).data()[0] == 2);
}  // namespace query_without_keys

// Which masks fit, for generic code that asks first.
namespace positions_that_fit {
template <class Mask>
inline constexpr bool fits = fits_as_mask<Mask, float, batch<2>, heads<5>, query<4>, key<6>>;
template <class... Axes>
using ints = tensor<int, Axes...>;
static_assert(fits<decltype(causal_at(2))> && fits<decltype(causal_at(ints<batch<2>>{}))>);
static_assert(fits<decltype(causal_at(ints<heads<5>, batch<1>>{}))>);
static_assert(fits<decltype(causal_at(ints<query<4>, batch<2>>{}))>);
static_assert(fits<decltype(causal_at(tensor<unsigned char>{}))>);
static_assert(!fits<decltype(causal_at(ints<batch<3>>{}))>);
static_assert(!fits<decltype(causal_at(ints<key<6>>{}))>);
static_assert(!fits<decltype(causal_at(tensor<bool, batch<2>>{}))>);
static_assert(!fits<decltype(causal_at(tensor<double, batch<2>>{}))>);
static_assert(fits<decltype(sliding_window_at<3>(ints<batch<2>>{}))>);
static_assert(!fits<decltype(sliding_window_at<3>(ints<query<4>>{}))>);
static_assert(!fits<decltype(alibi_at(ints<query<4>>{}))>);
static_assert(fits<decltype(causal_bottom_right(ints<batch<2>>{}))>);
static_assert(!fits<decltype(causal_bottom_right(ints<query<4>>{}))>);
static_assert(!fits<decltype(causal_bottom_right(tensor<float, batch<2>>{}))>);
static_assert(fits<decltype(causal_bottom_right)>);
static_assert(!fits<decltype(ints<batch<2>>{} & causal_bottom_right)>);
static_assert(!fits<decltype(sliding_window_bottom_right<3> & ints<heads<5>>{})>);
static_assert(fits<decltype(ints<batch<2>, query<4>>{} & causal_bottom_right)>);
static_assert(fits<decltype(ints<batch<2>>{} & alibi_bottom_right & causal_top_left)>);
static_assert(fits<decltype(ints<batch<2>>{} & causal_bottom_right(ints<batch<2>>{}))>);
static_assert(!fits<decltype(causal)> && !fits<decltype(ints<batch<2>>{} & causal)>);
}  // namespace positions_that_fit

namespace hidden_scores {
constexpr tensor<float, query<2>, key<3>> scores{1, 2, 3, 4, 5, 6};
constexpr tensor<int, query<2>> lens{2, 3};
constexpr auto weights = softmax<key>(mask_after<key>(scores, lens));
static_assert(weights(0, 2) == 0 && weights(0, 1) > 0.7f && weights(1, 2) > 0.6f);
}  // namespace hidden_scores

namespace far_values {
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr tensor<float, hidden<2>> small{1e-20f, 1e-20f}, gamma{1, 1};
static_assert(rms_norm<float, hidden<2>>(gamma, 1e-5f)(small)(0) > 0);
constexpr tensor<float, key<3>> above{1e-42f, 2, infinity};
static_assert(gelu_exact(above)(0) > 0 && gelu_exact(above)(2) == infinity);
static_assert(gelu_tanh(above)(0) > 0 && gelu_tanh(above)(2) == infinity);
static_assert(silu(above)(0) > 0 && silu(above)(2) == infinity);
static_assert(silu(tensor<double, key<2>>{1e-310, 1})(0) > 0);
}  // namespace far_values
