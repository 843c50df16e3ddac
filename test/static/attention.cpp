// SPDX-License-Identifier: BSL-1.0
// What attention and the blocks make of their arguments: result types, sizes, and the concepts that
// generic code asks first, true and false.
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;
using namespace umbel::literals;

template <std::size_t N>
struct model : axis<model, N> {};

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;
using attention = multi_head_attention<float, hidden<100>, heads<5>>;
using biased = multi_head_attention<float, hidden<100>, heads<5_c>, bias<true>>;
using encoder = encoder_layer<float, hidden<100>, heads<5>, intermediate<60>, norm_first<true>,
                              activation<gelu_exact>, bias<false>>;

// ---- options ------------------------------------------------------------------------------------
static_assert(!attention::sizes.q_bias && biased::sizes.q_bias);
static_assert(multi_head_attention<float, hidden<8>, heads<2>, bias<false>>::sizes.o_bias == false);
static_assert(sizeof(biased::weights) > sizeof(attention::weights));
static_assert(!encoder::feed_forward::has_bias && encoder::norms_first);
static_assert(std::is_same_v<encoder::activate, detail::gelu_exact_operation>);
using other_encoder = encoder_layer<float, hidden<100>, heads<5>, intermediate<60>,
                                    activation<relu>, bias<true>, norm_first<false>>;
static_assert(other_encoder::feed_forward::has_bias && !other_encoder::norms_first);
static_assert(std::is_same_v<other_encoder::activate, detail::relu_operation>);
static_assert(std::is_same_v<other_encoder::attention, biased>);

// ---- who may call -------------------------------------------------------------------------------
static_assert(attends<attention, queries, context, context>);
static_assert(attends<attention, const queries&, context&, context>);
static_assert(
    attends<attention, view<const float, batch<2>, query<4>, hidden<100>>, context, context>);
static_assert(attends<attention, tensor<float, hidden<100>, query<4>, batch<2>>, context,
                      tensor<float, key<6>, batch<2>, hidden<100>>>);  // any order
static_assert(attends<attention, tensor<float, query<4>, hidden<100>>,
                      tensor<float, key<6>, hidden<100>>, tensor<float, key<6>, hidden<100>>>);
static_assert(
    attends<multi_head_attention<double, model<6>, heads<3>>, tensor<double, query<1>, model<6>>,
            tensor<double, key<1>, model<6>>, tensor<double, key<1>, model<6>>>);
static_assert(!attends<attention, context, queries, queries>);  // swapped
static_assert(!attends<attention, queries, queries, queries>);  // queries are not keys
static_assert(!attends<attention, queries, context, queries>);
static_assert(!attends<attention, queries, context, tensor<float, batch<2>, key<7>, hidden<100>>>);
static_assert(!attends<attention, queries, context, tensor<float, batch<3>, key<6>, hidden<100>>>);
static_assert(
    !attends<attention, tensor<float, batch<3>, query<4>, hidden<100>>, context, context>);
static_assert(!attends<attention, tensor<float, query<4>, hidden<100>>, context, context>);
static_assert(!attends<attention, tensor<float, batch<2>, query<4>, hidden<80>>, context, context>);
static_assert(!attends<attention, queries, tensor<double, batch<2>, key<6>, hidden<100>>, context>);
static_assert(!attends<attention, tensor<float, batch<2>, query<4>, token<1>, hidden<100>>, context,
                       context>);

static_assert(attends_to_itself<attention, queries> && attends_to_itself<attention, context>);
static_assert(attends_to_itself<attention, tensor<float, token<9>, hidden<100>>>);
static_assert(attends_to_itself<attention, tensor<float, hidden<100>, token<9>, batch<2>>>);
static_assert(!attends_to_itself<attention, tensor<float, batch<2>, hidden<100>>>);
static_assert(!attends_to_itself<attention, tensor<float, query<4>, key<6>, hidden<100>>>);
static_assert(!attends_to_itself<attention, tensor<float, batch<2>, token<9>, hidden<99>>>);
static_assert(!attends_to_itself<attention, tensor<double, batch<2>, token<9>, hidden<100>>>);
static_assert(!attends_to_itself<attention, tensor<float, batch<2>, token<9>, model<100>>>);

using map = linear<float, hidden<100>, classes<10>>;
static_assert(projectable<queries, map::weights> && projectable<queries, map::weights_view>);
static_assert(projectable<queries, map::packed_weights<float>&>);
static_assert(projectable<tensor<float, hidden<100>>, map::weights>);
static_assert(!projectable<tensor<float, batch<2>, hidden<99>>, map::weights>);
static_assert(!projectable<tensor<double, batch<2>, hidden<100>>, map::weights>);
static_assert(!projectable<tensor<float, batch<2>, token<100>>, map::weights>);
static_assert(
    !projectable<tensor<float, classes<10>, hidden<100>>, map::weights>);  // classes twice

using last = layer_norm<float, hidden<100>>;
using root = rms_norm<float, hidden<100>>;
static_assert(normalises<last, queries> && normalises<root, const queries&>);
static_assert(normalises<root, tensor<float, hidden<100>>>);
static_assert(!normalises<root, tensor<float, query<4>, hidden<99>>>);
static_assert(!normalises<root, tensor<double, query<4>, hidden<100>>>);
static_assert(!normalises<root, tensor<float, query<4>>>);
static_assert(!normalises<root, tensor<float, hidden<100>, query<4>>>);
static_assert(
    !normalises<last, decltype(std::declval<queries&>() | permute<query, batch, hidden>)>);
static_assert(!normalises<last, view<float, strided<query<4>, 200>, strided<hidden<100>, 1>>>);

using network =
    feed_forward<float, hidden<100>, intermediate<60>, activation<gelu_exact>, bias<false>>;
static_assert(feeds_forward<network, queries> &&
              feeds_forward<network, tensor<float, hidden<100>>>);
static_assert(!feeds_forward<network, tensor<float, query<4>, hidden<99>>>);
static_assert(!feeds_forward<network, tensor<double, query<4>, hidden<100>>>);
static_assert(!feeds_forward<network, tensor<float, hidden<100>, query<4>>>);
static_assert(!network::is_gated && !network::has_bias);
static_assert(std::is_same_v<network::activate, detail::gelu_exact_operation>);
static_assert(std::is_same_v<encoder::feed_forward::weights, network::weights>);
using llama = encoder_layer<float, hidden<100>, heads<4>, intermediate<60>, norm_by<rms_norm>,
                            norm_epsilon<1, 1'000'000>, norm_first<true>, bias<false>, gated<true>,
                            activation<silu>, kv_heads<2>, head_dim<16>, rope<split_halves>>;
static_assert(std::is_same_v<llama::norm, rms_norm<float, hidden<100>>>);
static_assert(std::is_same_v<llama::attention,
                             multi_head_attention<float, hidden<100>, heads<4>, bias<false>,
                                                  kv_heads<2>, head_dim<16>, rope<split_halves>>>);
static_assert(llama::feed_forward::is_gated && llama::epsilon == 1e-6f &&
              encoder::epsilon == 1e-5f);
using qwen2 = encoder_layer<float, hidden<100>, heads<4>, intermediate<60>, norm_by<rms_norm>,
                            norm_epsilon<1, 1'000'000>, norm_first<true>, bias_on<'q', 'k', 'v'>,
                            feed_forward_bias<false>, gated<true>, activation<silu>>;
static_assert(
    std::is_same_v<qwen2::attention,
                   multi_head_attention<float, hidden<100>, heads<4>, bias_on<'q', 'k', 'v'>>>);
static_assert(!qwen2::feed_forward::has_bias);
using biased_network =
    encoder_layer<float, hidden<100>, heads<4>, intermediate<60>, norm_first<true>,
                  activation<relu>, bias<false>, feed_forward_bias<true>>;
static_assert(biased_network::feed_forward::has_bias && !biased_network::attention::sizes.q_bias);
static_assert(norm_epsilon<1, 10>::value == 1e-1 &&
              norm_epsilon<1, 1'000'000'000'000>::value == 1e-12 &&
              norm_epsilon<1, 10'000'000'000'000'000'000u>::value == 1e-19);

using decoder = decoder_layer<float, hidden<100>, heads<5>, intermediate<60>, norm_first<true>,
                              activation<gelu_exact>, bias<false>>;
static_assert(decodes<decoder, queries, context> && decodes<decoder, context, const queries&>);
static_assert(
    decodes<decoder, tensor<float, token<4>, hidden<100>>, tensor<float, token<6>, hidden<100>>>);
static_assert(!decodes<decoder, queries, tensor<float, key<6>, hidden<100>>>);
static_assert(!decodes<decoder, queries, tensor<float, batch<3>, key<6>, hidden<100>>>);
static_assert(!decodes<decoder, queries, tensor<float, batch<2>, key<6>, hidden<99>>>);
static_assert(!decodes<decoder, queries, tensor<double, batch<2>, key<6>, hidden<100>>>);
static_assert(!decodes<decoder, queries, tensor<float, key<6>, batch<2>, hidden<100>>>);
static_assert(!decodes<decoder, tensor<float, batch<2>, hidden<100>>, context>);
static_assert(!decodes<decoder, tensor<float, batch<2>, hidden<100>, query<4>>, context>);
static_assert(std::is_same_v<decoder::self_attention, decoder::cross_attention>);

using sinusoids = sinusoidal_positions<float, query<4>, hidden<100>, adjacent_pairs>;
static_assert(has_positions_for<sinusoids, queries> && has_positions_for<sinusoids, queries&>);
static_assert(has_positions_for<sinusoids, tensor<float, hidden<100>, query<1>>>);  // shorter
static_assert(!has_positions_for<sinusoids, tensor<float, query<5>, hidden<100>>>);
static_assert(!has_positions_for<sinusoids, tensor<float, query<4>, hidden<99>>>);
static_assert(!has_positions_for<sinusoids, tensor<double, query<4>, hidden<100>>>);
static_assert(!has_positions_for<sinusoids, context>);
static_assert(sinusoids::table(0, 0) == 0 && sinusoids::table(3, 1) < -0.98f);

// ---- what comes out -----------------------------------------------------------------------------
template <class F, class... X>
using result = decltype(std::declval<const F&>()(std::declval<const X&>()...));

static_assert(std::is_same_v<result<attention, queries>, queries>);
static_assert(std::is_same_v<result<attention, queries, context, context>, queries>);
static_assert(std::is_same_v<result<prepacked<attention>, queries, context, context>, queries>);
using permuted = decltype(queries{} | permute<query, hidden, batch>);
static_assert(std::is_same_v<result<attention, permuted, context, context>,
                             tensor<float, query<4>, hidden<100>, batch<2>>>);
static_assert(std::is_same_v<result<attention, tensor<float, token<9>, hidden<100>>>,
                             tensor<float, token<9>, hidden<100>>>);
static_assert(std::is_same_v<result<encoder, queries>, queries>);
static_assert(std::is_same_v<result<sinusoids, queries>, queries>);
static_assert(std::is_same_v<result<network, queries>, queries>);
using own = decltype(self_mask(causal));
static_assert(std::is_same_v<result<decoder, queries, context, own>, queries>);
static_assert(std::is_same_v<result<prepacked<decoder>, context, queries, own>, context>);
static_assert(std::is_same_v<result<sinusoids, queries, int>, queries>);
static_assert(std::is_same_v<result<prepacked<encoder>, context>, context>);
static_assert(std::is_same_v<result<map, queries>, tensor<float, batch<2>, query<4>, classes<10>>>);
static_assert(
    std::is_same_v<result<map, permuted>, tensor<float, query<4>, classes<10>, batch<2>>>);
static_assert(
    std::is_same_v<decltype(queries{} | mean<query>), tensor<float, batch<2>, hidden<100>>>);
static_assert(
    std::is_same_v<decltype(queries{} | mean<batch>), tensor<float, query<4>, hidden<100>>>);
static_assert(std::is_same_v<decltype(permuted{} | gelu_tanh),
                             tensor<float, query<4>, hidden<100>, batch<2>>>);
static_assert(
    std::is_same_v<decltype(permuted{} | silu), tensor<float, query<4>, hidden<100>, batch<2>>>);
static_assert(std::is_same_v<decltype(softmax<query>(permuted{})),
                             tensor<float, query<4>, hidden<100>, batch<2>>>);

// ---- layers are a pointer or so, packed ones are memory -----------------------------------------
static_assert(sizeof(attention) == 8 * sizeof(const float*));  // four weights, four biases
static_assert(std::is_trivially_copyable_v<attention> && std::is_trivially_copyable_v<encoder>);
static_assert(std::is_trivially_copyable_v<prepacked<attention>>);
static_assert(std::is_trivially_copyable_v<attention::workspace<query<4>, key<6>>>);
static_assert(sizeof(attention::workspace<query<4>, key<6>>) >=
              (100 * 4 + 2 * 100 * 6 + 100 * 4) * sizeof(float));
static_assert(
    std::is_same_v<attention::workspace<token<9>>, attention::workspace<query<9>, key<9>>>);
static_assert(noexcept(std::declval<const attention&>()(queries{})));
static_assert(noexcept(std::declval<const prepacked<encoder>&>()(queries{})));
static_assert(noexcept(softmax<query>(queries{})) && noexcept(mean<query>(queries{})));
static_assert(noexcept(attention{std::declval<const attention::weights&>()}));

// One way to name a workspace: by what the call is given.
using tokens_9 = tensor<float, batch<2>, token<9>, hidden<100>>;
static_assert(std::is_same_v<workspace_for<attention, queries, context, context>,
                             attention::workspace<query<4>, key<6>>>);
static_assert(
    std::is_same_v<workspace_for<prepacked<attention>, tokens_9>, attention::workspace<token<9>>>);
static_assert(std::is_same_v<workspace_for<encoder, tokens_9>, encoder::workspace<token<9>>>);
static_assert(
    std::is_same_v<workspace_for<attention, queries, context, context, decltype(causal_top_left)>,
                   workspace_for<attention, queries, context, context>>);
static_assert(std::is_same_v<workspace_for<encoder, tokens_9, decltype(causal)>,
                             workspace_for<encoder, tokens_9>>);
static_assert(std::is_same_v<workspace_for<decoder, tokens_9, context, decltype(self_mask(causal))>,
                             workspace_for<decoder, tokens_9, context>>);
static_assert(std::is_same_v<workspace_for<decoder, tokens_9, context, decltype(all_keys),
                                           decltype(self_mask(causal))>,
                             workspace_for<decoder, tokens_9, context>>);
static_assert(std::is_same_v<workspace_for<decoder, tokens_9, context>,
                             decoder::workspace<token<9>, key<6>>>);
static_assert(std::is_same_v<workspace_for<encoder::feed_forward, tokens_9>,
                             encoder::feed_forward::workspace<token<9>>>);
static_assert(std::is_same_v<workspace_for<key_value_cache<attention, key<8>>,
                                           tensor<float, token<3>, hidden<100>>>,
                             key_value_cache<attention, key<8>>::workspace<token<3>>>);
using head_queries = tensor<float, query<4>, head_dim<8>>;
using head_keys = tensor<float, key<6>, head_dim<8>>;
static_assert(sizeof(workspace_for<decltype(scaled_dot_product_attention), head_queries, head_keys,
                                   head_keys>) > 0);
