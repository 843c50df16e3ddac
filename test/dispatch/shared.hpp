// SPDX-License-Identifier: BSL-1.0
// What the files of the program tell each other: kernels.cpp is compiled for several targets, each
// time with another TABLE, and main.cpp finds those tables that it was linked with. Every type here
// is the same for every target; what is not is in kernels.cpp. No function: it would be shared.
#pragma once

#include <umbel/bare.hpp>

#include <cstddef>

namespace dispatch_test {

using namespace umbel;
using namespace umbel::axes;

constexpr std::size_t B = 2, N = 10, M = 24, H = 3;
using tokens = tensor<float, batch<B>, token<N>, hidden<M>>;
using answers = tensor<float, batch<B>, token<N>, classes<7>>;
using keys = tensor<float, batch<B>, key<6>, hidden<M>>;
using queries = tensor<float, batch<B>, query<4>, hidden<M>>;
using scores = tensor<float, batch<B>, heads<H>, query<N>, key<N>>;
using lengths = tensor<int, batch<B>>;
using flags = tensor<bool, batch<B>, query<N>, key<N>>;
using bias_values = tensor<float, heads<H>, query<N>, key<N>>;

// Layers are of one target, so these are other types in each file; their weights are the same.
using attention = multi_head_attention<float, hidden<M>, heads<H>, bias<true>>;
using rotary = multi_head_attention<float, hidden<M>, heads<H>, bias<false>, rope<split_halves>>;
using cross = additive_attention<float, hidden<M>, score_hidden<9>>;
using map = linear<float, hidden<M>, classes<7>, bias<true>>;
using norm = layer_norm<float, hidden<M>>;
using encoder = encoder_layer<float, hidden<M>, heads<H>, intermediate<40>, bias<true>,
                              norm_first<true>, activation<gelu_tanh>>;

struct weights {
  attention::weights attend;
  rotary::weights step;
  cross::weights look;
  map::weights out;
  norm::weights scale;
  encoder::weights block;
};

struct inputs {
  tokens x;
  keys y;
  queries q;
  lengths lens;
  flags keep;
  bias_values bias;
};

// Masks as the caller of a kernel makes them.
using plain_mask = std::remove_cvref_t<decltype(causal)>;
using joint_mask =
    decltype(std::declval<lengths&>() & causal_top_left & keep_mask(std::declval<flags&>()) &
             score_bias(std::declval<bias_values&>()) & dropout(0.25, 3));
using owning_mask = decltype(causal_bottom_right(lengths{}) & alibi_bottom_right);
using window_mask = std::remove_cvref_t<decltype(sliding_window<3>)>;
using looking_mask = decltype(drop_mask(std::declval<flags&>()) & observe(std::declval<scores&>()));
using function_mask = decltype(score_bias(
    std::declval<float (*)(std::size_t, std::size_t, std::size_t, std::size_t)>()));

struct masks {
  const joint_mask& joint;
  const owning_mask& owning;
  const looking_mask& looking;
  const function_mask& function;
};

struct results {
  tokens plain, joint, owning, window, looking, function, packed, borrowed, normed, blocks, steps;
  tensor<float, batch<B>, query<4>, hidden<M>> looked;
  scores seen;  // written by the looking mask
  answers out, weighed;
};

// What a kernels.cpp offers.
struct table {
  const char* target;
  bool fused;
  const std::size_t* sizes;  // of every type here: sizeof, alignof, ..., 0
  void (*draw)(weights&);
  tokens (*attend)(const weights&, const tokens&, plain_mask);
  void (*attend_views)(attention::weights_view, view<const float, batch<B>, token<N>, hidden<M>>,
                       view<float, batch<B>, token<N>, hidden<M>>, window_mask);
  void (*rest)(const weights&, const inputs&, const masks&, results&);
};

// Of internal linkage: each file has what it sees.
#define UMBEL_TEST_SIZE(...) sizeof(__VA_ARGS__), alignof(__VA_ARGS__)
static constexpr std::size_t sizes_here[] = {UMBEL_TEST_SIZE(tokens),
                                             UMBEL_TEST_SIZE(answers),
                                             UMBEL_TEST_SIZE(keys),
                                             UMBEL_TEST_SIZE(queries),
                                             UMBEL_TEST_SIZE(scores),
                                             UMBEL_TEST_SIZE(lengths),
                                             UMBEL_TEST_SIZE(flags),
                                             UMBEL_TEST_SIZE(bias_values),
                                             UMBEL_TEST_SIZE(tensor<double, classes<3>>),
                                             UMBEL_TEST_SIZE(tensor<bfloat16, classes<5>>),
                                             UMBEL_TEST_SIZE(tensor<float16, classes<5>>),
                                             UMBEL_TEST_SIZE(view<float, batch<B>, token<N>>),
                                             UMBEL_TEST_SIZE(weights),
                                             UMBEL_TEST_SIZE(attention::weights),
                                             UMBEL_TEST_SIZE(rotary::weights),
                                             UMBEL_TEST_SIZE(cross::weights),
                                             UMBEL_TEST_SIZE(map::weights),
                                             UMBEL_TEST_SIZE(norm::weights),
                                             UMBEL_TEST_SIZE(encoder::weights),
                                             UMBEL_TEST_SIZE(attention::weights_view),
                                             UMBEL_TEST_SIZE(rotary::weights_view),
                                             UMBEL_TEST_SIZE(cross::weights_view),
                                             UMBEL_TEST_SIZE(map::weights_view),
                                             UMBEL_TEST_SIZE(norm::weights_view),
                                             UMBEL_TEST_SIZE(encoder::weights_view),
                                             UMBEL_TEST_SIZE(plain_mask),
                                             UMBEL_TEST_SIZE(joint_mask),
                                             UMBEL_TEST_SIZE(owning_mask),
                                             UMBEL_TEST_SIZE(window_mask),
                                             UMBEL_TEST_SIZE(looking_mask),
                                             UMBEL_TEST_SIZE(function_mask),
                                             UMBEL_TEST_SIZE(inputs),
                                             UMBEL_TEST_SIZE(results),
                                             0};
#undef UMBEL_TEST_SIZE

template <class X, class T, std::size_t Count>
inline constexpr bool is_array_of =
    sizeof(X) == Count * sizeof(T) && alignof(X) == alignof(T) && sizeof(X[3]) == 3 * sizeof(X);
static_assert(is_array_of<tokens, float, B * N * M>);
static_assert(is_array_of<tensor<float, classes<12>>, float, 12>);
static_assert(is_array_of<tensor<double, classes<3>>, double, 3>);
static_assert(is_array_of<tensor<bool, classes<3>>, bool, 3>);
static_assert(is_array_of<tensor<bfloat16, classes<5>>, bfloat16, 5>);
static_assert(is_array_of<attention::weights, float, 4 * (M * M + M)>);
static_assert(is_array_of<rotary::weights, float, 4 * M * M>);
static_assert(is_array_of<cross::weights, float, 2 * M * 9 + 9>);
static_assert(is_array_of<map::weights, float, M * 7 + 7>);
static_assert(is_array_of<norm::weights, float, 2 * M>);
static_assert(
    is_array_of<encoder::weights, float, 4 * (M * M + M) + M * 40 + 40 + 40 * M + M + 2 * 2 * M>);
static_assert(sizeof(view<float, batch<B>, token<N>>) == sizeof(float*));

}  // namespace dispatch_test
