// SPDX-License-Identifier: BSL-1.0
// prepacked of every layer with weights: of zeros, packed at run time and by the compiler, of
// memory in any order or that is gone; norms, positions and embeddings too. Borrowed tables and
// vectors of memory with names.
#include <boost/test/unit_test.hpp>

#include <array>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include "../support/blocks.hpp"
#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using classify = linear<float, hidden<6>, classes<3>, bias<true>>;
using attention = multi_head_attention<float, hidden<6>, heads<2>, bias<true>>;
using additive = additive_attention<float, hidden<6>, score_hidden<5>>;
using network =
    feed_forward<float, hidden<6>, intermediate<10>, activation<relu>, gated<false>, bias<true>>;
using encoder = encoder_layer<float, hidden<6>, heads<2>, intermediate<10>, norm_first<true>,
                              activation<relu>, bias<true>>;
using decoder = decoder_layer<float, hidden<6>, heads<2>, intermediate<10>, norm_first<false>,
                              activation<relu>, bias<true>>;
using layer_normalise = layer_norm<float, hidden<6>>;
using rms_normalise = rms_norm<float, hidden<6>>;
using places = learned_positions<float, token<5>, hidden<6>>;
using tokens = tensor<float, batch<2>, token<5>, hidden<6>>;

template <class Weights>
constexpr void fill(Weights& w) {
  int i = 0;
  for_each_parameter(w, [&](const parameter_path&, const auto& x) {
    for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<float>(i++ % 13 - 6) / 8;
  });
}
template <class Layer>
constexpr typename Layer::weights filled() {
  typename Layer::weights w{};
  fill(w);
  return w;
}

// Zeros; packed by assignment; packed in place, twice: the bits of the layer itself.
template <class Layer, class Call>
void check_packed(Call call) {
  static typename Layer::weights zeros{}, w = filled<Layer>(), halved = w;
  for_each_parameter(halved, [](const parameter_path&, const auto& x) {
    for (float& e : x) e /= 2;
  });
  static prepacked<Layer> packed;
  BOOST_TEST(same_bits(call(packed), call(Layer{zeros})));
  packed = prepacked<Layer>{w};
  BOOST_TEST(same_bits(call(packed), call(Layer{w})));
  static const prepacked of_layer{Layer{w}};
  static_assert(std::is_same_v<decltype(of_layer), const prepacked<Layer>>);
  BOOST_TEST(same_bits(call(of_layer), call(packed)));
  packed.pack(halved);
  BOOST_TEST(same_bits(call(packed), call(Layer{halved})));
  const prepacked<Layer> afresh{halved};
  BOOST_TEST(prepacked<Layer>::in_memory(&afresh, sizeof(afresh)) == &afresh);
}

const tokens x = [] {
  lcg next{1};
  return drawn<tokens>(next);
}();
constexpr auto of_x = [](const auto& layer) { return layer(x); };

template <class... Options>
using wide_encoder = encoder_layer<float, hidden<20>, heads<5>, intermediate<33>, Options...>;
template <class... Options>
using wide_decoder = decoder_layer<float, hidden<20>, heads<5>, intermediate<33>, Options...>;

// A packed layer needs the weights that it was made of no more: these are spoilt.
template <class Layer, class... X>
void check_stands_alone(lcg& next, const X&... x) {
  typename Layer::weights w{};
  const auto numbers = drawn<tensor<float, token<sizeof w / sizeof(float)>>>(next, 0.1);
  std::memcpy(static_cast<void*>(&w), numbers.data(), sizeof w);
  const prepacked<Layer> packed{w};
  const auto y = Layer{w}(x...);
  std::memset(static_cast<void*>(&w), 0xff, sizeof w);
  BOOST_TEST(same_bits(packed(x...), y));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(prepacked_layers)

BOOST_AUTO_TEST_CASE(at_run_time) {
  check_packed<classify>(of_x);
  check_packed<network>(of_x);
  check_packed<encoder>(of_x);
  check_packed<layer_stack<encoder, 2>>(of_x);
  check_packed<places>(of_x);
  const auto attend = [](const auto& layer) {
    return layer(x | rename_axis<token, query>, x | rename_axis<token, key>,
                 x | rename_axis<token, key>);
  };
  check_packed<attention>(attend);
  check_packed<additive>(attend);
  check_packed<decoder>(
      [](const auto& layer) { return layer(x, x | rename_axis<token, key>, self_mask(causal)); });
}

BOOST_AUTO_TEST_CASE(by_the_compiler) {
  static constexpr auto of_map = filled<classify>();
  static constexpr auto of_encoder = filled<encoder>();
  static constexpr auto of_places = filled<places>();
  static constexpr auto of_norm = filled<layer_normalise>();
  static constexpr prepacked<classify> map{of_map};
  static constexpr prepacked<encoder> layer{of_encoder};
  static constexpr prepacked<places> positions{of_places};
  static constexpr prepacked<layer_normalise> norm{of_norm, 1e-3F};
  static constexpr auto later = [] {
    prepacked<classify> packed;
    packed.pack(of_map);
    return packed;
  }();
  BOOST_TEST(same_bits(map(x), classify{of_map}(x)));
  BOOST_TEST(same_bits(later(x), classify{of_map}(x)));
  BOOST_TEST(same_bits(layer(x), encoder{of_encoder}(x)));
  BOOST_TEST(same_bits(positions(x), places{of_places}(x)));
  BOOST_TEST(same_bits(norm(x), layer_normalise(of_norm, 1e-3F)(x)));
  // These are read in constant expressions, too.
  constexpr tensor<float, token<5>, hidden<6>> ones = [] {
    tensor<float, token<5>, hidden<6>> one{};
    for (float& e : one) e = 1;
    return one;
  }();
  static_assert(positions(ones)(0, 1) == 1 - 5.0F / 8);
  static_assert(norm(ones)(0, 0) == of_norm.beta(0));
}

BOOST_AUTO_TEST_CASE(norms_keep_their_epsilon) {
  static const auto w = filled<layer_normalise>();
  static const auto gamma = filled<rms_normalise>();
  prepacked<layer_normalise> norm;
  prepacked<rms_normalise> rms;
  BOOST_TEST(norm(x)(0, 0, 0) == 0);
  BOOST_TEST(rms(x)(0, 0, 0) == 0);
  norm = prepacked<layer_normalise>{w};
  BOOST_TEST(same_bits(norm(x), layer_normalise{w}(x)));
  norm = prepacked<layer_normalise>{w, 0.25F};
  rms = prepacked<rms_normalise>{gamma, 0.5F};
  BOOST_TEST(same_bits(norm(x), layer_normalise(w, 0.25F)(x)));
  BOOST_TEST(same_bits(x | rms, rms_normalise(gamma, 0.5F)(x)));
  BOOST_TEST(rms.get_epsilon() == 0.5F);
  tokens in_place = x;
  norm.into(in_place, in_place);
  BOOST_TEST(same_bits(in_place, norm(x)));
}

BOOST_AUTO_TEST_CASE(memory_with_names) {
  static const auto w = filled<layer_normalise>();
  static const std::array<float, 6> gamma{1, 2, 3, 4, 5, 6};
  const layer_normalise of_names{{view_as<hidden>(gamma), view_as<hidden>(w.beta.data())}};
  const layer_normalise of_memory{{gamma, w.beta}};
  BOOST_TEST(same_bits(of_names(x), of_memory(x)));

  static const auto table = filled<places>();
  static tensor<float, hidden<6>, token<5>> columns;
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 6; ++j) columns(j, i) = table(i, j);
  const auto y = places{table}(x);
  BOOST_TEST(same_bits(places{view_as<token, hidden>(table.data())}(x), y));
  BOOST_TEST(same_bits(places{as_view(table)}(x), y));
  BOOST_TEST(same_bits(prepacked<places>{{view_as<token, hidden>(table.data())}}(x), y));
  BOOST_TEST(same_bits(prepacked<places>{{view_as<hidden, token>(columns.data())}}(x), y));
  BOOST_TEST(same_bits(prepacked<places>{{columns}}(x), y));
  BOOST_TEST(same_bits(prepacked<places>{{columns | permute<token, hidden>}}(x), y));

  static const auto map = filled<classify>();
  const classify by_name{
      {view_as<in_features, out_features>(map.weight), view_as<classes>(map.bias)}};
  const classify by_role{
      {view_as<in_features, out_features>(map.weight), view_as<out_features>(map.bias)}};
  BOOST_TEST(same_bits(by_name(x), classify{map}(x)));
  BOOST_TEST(same_bits(by_role(x), classify{map}(x)));
}

BOOST_AUTO_TEST_CASE(positions_in_16_bits) {
  lcg next{2};
  const auto table = drawn<places::weights>(next);
  const prepacked<places, stored_as<bfloat16>> packed{table};
  static_assert(sizeof(packed) == 64 + 64);
  places::weights rounded = table;
  for (float& e : rounded) e = static_cast<float>(static_cast<bfloat16>(e));
  BOOST_TEST(same_bits(packed(x), places{rounded}(x)));
}

BOOST_AUTO_TEST_CASE(positions_in_8_bits) {
  lcg next{2};
  const auto table = drawn<places::weights>(next);
  const prepacked<places, stored_as<std::int8_t>> packed{table};
  auto expected = x;
  for (std::size_t i = 0; i < places::position_axis::size; ++i) {
    detail::kernel::scale_of_numbers<float> scale;
    for (std::size_t j = 0; j < places::hidden_axis::size; ++j) scale.add(table(i, j));
    const detail::kernel::scale_of_numbers<float>::in_steps in_steps{scale};
    for (std::size_t j = 0; j < places::hidden_axis::size; ++j)
      for (std::size_t b = 0; b < 2; ++b)
        expected(b, i, j) =
            detail::simd::fma(static_cast<float>(in_steps(table(i, j))), scale.value(), x(b, i, j));
  }
  BOOST_TEST(same_bits(packed(x), expected));
}

BOOST_AUTO_TEST_CASE(stands_alone) {
  lcg next{9};
  const auto x = drawn<tensor<float, token<7>, hidden<20>>>(next);
  const auto q = drawn<tensor<float, query<3>, hidden<20>>>(next);
  const auto k = drawn<tensor<float, key<5>, hidden<20>>>(next);
  check_stands_alone<linear<float, hidden<20>, classes<3>>>(next, x);
  check_stands_alone<multi_head_attention<float, hidden<20>, heads<5>, bias<true>>>(next, x);
  check_stands_alone<
      feed_forward<float, hidden<20>, intermediate<33>, activation<gelu_exact>, bias<true>>>(next,
                                                                                             x);
  check_stands_alone<block_with<wide_encoder>>(next, x);
  check_stands_alone<block_with<wide_encoder, norm_by<rms_norm>, norm_epsilon<1, 1'000'000>>>(next,
                                                                                              x);
  check_stands_alone<
      block_with<wide_encoder, norm_bias<false>, bias_on<'k', 'o'>, feed_forward_bias<true>>>(next,
                                                                                              x);
  check_stands_alone<block_with<wide_decoder>>(next, x, k, self_mask(causal));
  check_stands_alone<additive_attention<float, hidden<20>, score_hidden<9>>>(next, q, k, k);
}

// Packed weights are copies: those that they are made of may be a temporary.
BOOST_AUTO_TEST_CASE(of_a_temporary) {
  lcg next{12};
  using wide_attention = multi_head_attention<float, hidden<20>, heads<5>, bias<true>>;
  const auto x = drawn<tensor<float, token<7>, hidden<20>>>(next);
  const auto w = drawn_weights<wide_attention>(next);
  const prepacked<wide_attention> packed{wide_attention::weights{w}},
      of_parts({w.q, w.k, w.v, w.o});
  BOOST_TEST(same_bits(packed(x), wide_attention{w}(x)));
  BOOST_TEST(same_bits(of_parts(x), wide_attention{w}(x)));
}

BOOST_AUTO_TEST_SUITE_END()
