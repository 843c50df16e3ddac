// SPDX-License-Identifier: BSL-1.0
// Formulas in integers: names of values and their ranges, which values have 16 bits, errors against
// floats, the same bits from the kernels and from the loops of a constant expression. (The
// definition of each bit: golden/integers.)
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <umbel/files.hpp>
#include <umbel/formula/row_formula.hpp>
#include <umbel/quantized.hpp>
#include <umbel/weights.hpp>

#include "../support/executors.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using umbel_test::draw;
using umbel_test::drawn;
using umbel_test::lcg;

template <std::size_t N>
struct mixed : axis<mixed, N> {};

using queries = tensor<float, query<24>, heads<4>, head_dim<16>>;
using keys = tensor<float, key<24>, heads<4>, head_dim<16>>;
using values = tensor<float, key<24>, heads<4>, value_dim<16>>;
using biases = tensor<float, heads<4>, query<24>, key<24>>;

constexpr formula capped = [](auto q, auto k, auto v, auto bias) {
  auto scores = named<"scores">(contract<head_dim>(q, k) * 0.25F);
  auto seen = hide(tanh(scores * 0.5F) * 2 + bias, position<key> > position<query>);
  return contract<key>(softmax<key>(seen), v);
};
constexpr formula linear_attention = [](auto q, auto k, auto v) {
  auto positive = [](auto x) { return where(x > 0, x + 1, exp(x)); };  // elu(x) + 1
  auto state = named<"state">(contract<key>(positive(k), v) * (1.0F / 24));
  return contract<head_dim>(named<"positive">(positive(q)), state);
};
// Shen et al. 2021
constexpr formula efficient_attention = [](auto q, auto k, auto v) {
  return contract<head_dim>(softmax<head_dim>(q), contract<key>(softmax<key>(k), v));
};

// A block of an MLP-mixer: maps of tokens, then of features.
using norm = layer_norm<float, hidden<32>>;
using rows = tensor<float, token<16>, hidden<32>>;
struct mixer_weights {
  static constexpr const char* part_names[] = {"norm1", "mix", "unmix", "norm2", "up", "down"};
  norm::weights norm1;
  linear<float, token<16>, mixed<24>, bias<true>>::weights mix;
  linear<float, mixed<24>, token<16>, bias<true>>::weights unmix;
  norm::weights norm2;
  linear<float, hidden<32>, intermediate<48>, bias<true>>::weights up;
  linear<float, intermediate<48>, hidden<32>, bias<true>>::weights down;
};
constexpr formula mixer = [](auto x, const auto& w) {
  auto y = x + gelu_tanh(norm(w.norm1)(x) * w.mix) * w.unmix;
  return named<"out">(y + named<"wide">(gelu_tanh(norm(w.norm2)(y) * w.up)) * w.down);
};
template <class Weights>
void fill(Weights& w, unsigned seed) {
  lcg next{seed};
  for_each_parameter(w, [&](const parameter_path& path, auto x) {
    const bool is_gamma = std::string(path.c_str()).find("gamma") != std::string::npos;
    draw(next, x, 0.25);
    for (float& v : x) v += is_gamma ? 1.0F : 0.0F;
  });
}

// A block of CAFormer (Yu et al. 2022): StarReLU between its maps.
using rms = rms_norm<float, hidden<32>>;
struct star_weights {
  static constexpr const char* part_names[] = {"norm", "up", "scale", "offset", "down"};
  rms::weights norm;
  linear<float, hidden<32>, intermediate<128>, bias<false>>::weights up;
  tensor<float> scale, offset;
  linear<float, intermediate<128>, hidden<32>, bias<false>>::weights down;
};
constexpr formula star_block = [](auto x, const auto& w) {
  auto up = relu(rms(w.norm, 1e-6F)(x) * w.up);
  return x + (w.scale * (up * up) + w.offset) * w.down;
};
// A convolution over tokens, as a linear map of windows.
struct convolution_weights {
  static constexpr const char* part_names[] = {"convolution"};
  linear<float, in_features<96>, hidden<32>, bias<true>>::weights convolution;
};
constexpr formula convolution = [](auto x, const auto& w) {
  auto rows = x | padded<token, before<1>, after<1>> | windows<token, kernel_size<3>> |
              merge<kernel_size, hidden, in_features>;
  return x + relu(rows * w.convolution);
};
// Per cent of the result, by squares, after calibrating on 16 inputs of a normal distribution.
template <class Floats, class Integers>
double error_of(const Integers& y, const Floats& z) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    error += std::pow(static_cast<double>(y.data()[i]) - static_cast<double>(z.data()[i]), 2);
    size += std::pow(static_cast<double>(z.data()[i]), 2);
  }
  return 100 * std::sqrt(error / size);
}
template <class X>
void draw_normal(lcg& next, X& x) {
  for (float& v : x) {
    v = 0;
    for (int i = 0; i < 12; ++i) v += next() / 2;
  }
}
template <class F, class... X>
double error_without_weights(const F& f, X&... x) {
  using layer = quantized<F, X...>;
  typename layer::ranges seen{};
  static typename layer::calibration_workspace work;
  lcg next{5};
  for (int i = 0; i < 16; ++i) {
    (draw_normal(next, x), ...);
    const auto y = layer::calibrate(seen, x..., work);
    BOOST_TEST(error_of(y, f(x...)) < 1e-4);  // the steps differ, so rounding may
  }
  static layer packed;
  BOOST_REQUIRE(packed.pack(seen));
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto y = packed(quantize<typename layer::template input_type<I>>(
        x, layer::template input_range<I>(seen))...);
    return error_of(dequantize(y, layer::output_range(seen)), f(x...));
  }(std::index_sequence_for<X...>{});
}

template <class Weights, class F>
double error_with_weights(const F& f) {
  using layer = quantized<F, rows, Weights>;
  static Weights w{};
  fill(w, 1);
  typename layer::ranges seen{};
  lcg next{2};
  static rows x;
  for (int i = 0; i < 16; ++i) {
    draw_normal(next, x);
    BOOST_TEST(error_of(layer::calibrate(seen, x, w), f(x, w)) < 1e-4);
  }
  static const layer packed(w, seen);
  static typename layer::workspace work;
  using integer = typename layer::template input_type<0>;
  const auto given = quantize<integer>(x, layer::template input_range<0>(seen));
  const auto y = packed(given);
  BOOST_TEST((packed(given, work) == y));
  tensor<std::int16_t, token<16>, hidden<32>> out;
  packed.into(out, given, work);
  BOOST_TEST((out == y));
  packed.into(out, given);
  BOOST_TEST((out == y));
  return error_of(dequantize(y, layer::output_range(seen)), f(x, w));
}

template <class Ranges>
std::vector<std::string> names_in(Ranges& seen) {
  std::vector<std::string> listed;
  for_each_parameter(seen,
                     [&](const parameter_path& path, auto) { listed.emplace_back(path.c_str()); });
  return listed;
}

// Blocks of formulas of rows.
UMBEL_PART_NAME(mixing);
using narrow = hidden<24>;
using wide = intermediate<40>;
constexpr formula swiglu = [](auto x, const auto& w) {
  return named<"wide">(silu(x * w.gate) * (x * w.up)) * w.down;
};
template <class In, class Out>
using network_of =
    block_parts::row_formula<mixing, decltype(swiglu),
                             block_parts::linear_map<block_parts::name::gate, In, Out, bias<true>>,
                             block_parts::linear_map<block_parts::name::up, In, Out, bias<false>>,
                             block_parts::linear_map<block_parts::name::down, Out, In, bias<true>>>;
using network = network_of<narrow, wide>;
constexpr formula columns = [](auto x, const auto& w) {
  return permute<hidden, token>(x) * w.scale;
};
// Of memory in the weights: the result has 8 bits.
constexpr formula remembering = [](auto x, const auto& w) {
  return contract<classes>(softmax<classes>(contract<hidden>(x, w.up)), w.down);
};
constexpr formula doubled = [](auto x, const auto&) { return 2 * x; };
constexpr formula as_it_is = [](auto x, const auto&) { return x; };
constexpr formula turned_at_the_end = [](auto x, const auto& w) {
  return tanh(x * w.scale) | permute<hidden, token>;
};
template <const auto& F>
using scaling = block_parts::row_formula<mixing, std::remove_cvref_t<decltype(F)>,
                                         block_parts::weight<block_parts::name::scale, narrow>>;
using memory =
    block_parts::row_formula<mixing, decltype(remembering),
                             block_parts::weight<block_parts::name::up, narrow, classes<10>>,
                             block_parts::weight<block_parts::name::down, classes<10>, narrow>>;
template <class... Item>
using block = residual_block<float, narrow, Item...>;

template <class Block>
void check_block() {
  using layer = quantized<Block>;
  using sequences = tensor<float, batch<2>, token<9>, narrow>;
  static typename Block::weights w{};
  fill(w, 1);
  lcg next{2};
  static typename layer::ranges seen{};
  static sequences x;
  for (int i = 0; i < 8; ++i) {
    draw_normal(next, x);
    BOOST_TEST(error_of(layer::calibrate(seen, w, x), Block{w}(x)) < 1e-4);
  }
  static layer packed;
  BOOST_REQUIRE(packed.pack(w, seen));
  const auto given = quantize<std::int16_t>(x, seen.residual);
  const auto y = packed(given);
  const double error = error_of(dequantize(y, seen.residual), Block{w}(x));
  BOOST_TEST_MESSAGE("error: " << error << " %");
  BOOST_TEST(error < 4);  // measured: 0.1 to 1.4, and 3.1 without a residual
  umbel_test::shuffled<3> three;
  static typename layer::template workspace<token<9>> work[3];
  auto in_place = given;
  packed.into(in_place, in_place, all_keys, parallel(three, work));
  BOOST_TEST((in_place == y));
  // A row by itself.
  const auto row = given | slice<token, from<8>, extent<1>> | contiguous;
  BOOST_TEST((packed(row) == (y | slice<token, from<8>, extent<1>> | contiguous)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantized_formula)

BOOST_AUTO_TEST_CASE(outside_a_formula_a_named_value_is_the_value) {
  rows x{};
  static_assert(std::is_same_v<decltype(named<"x">(x)), rows&>);
  BOOST_TEST(&named<"x">(x) == &x);
  static_assert(std::is_same_v<decltype(named<"x">(rows{})), rows>);
  static_assert(named<"x">(tensor<float, token<2>>{1, 2})(1) == 2);
}

BOOST_AUTO_TEST_CASE(names_change_neither_bits_nor_steps) {
  constexpr formula unnamed = [](auto q, auto k, auto v, auto bias) {
    auto scores = contract<head_dim>(q, k) * 0.25F;
    auto seen = hide(tanh(scores * 0.5F) * 2 + bias, position<key> > position<query>);
    return contract<key>(softmax<key>(seen), v);
  };
  lcg next{3};
  const auto q = drawn<queries>(next);
  const auto k = drawn<keys>(next);
  const auto v = drawn<values>(next);
  const auto bias = drawn<biases>(next);
  BOOST_TEST((capped(q, k, v, bias) == unnamed(q, k, v, bias)));
  static_assert(sizeof(workspace_for<decltype(capped), queries, keys, values, biases>) ==
                sizeof(workspace_for<decltype(unnamed), queries, keys, values, biases>));
}

// In a condition they have the bits of position<key>.
BOOST_AUTO_TEST_CASE(positions_with_a_size) {
  static constexpr formula by_name = [](auto q, auto k, auto v) {
    auto seen = hide(contract<head_dim>(q, k), position<key> > position<query> + 2);
    return contract<key>(softmax<key>(seen), v);
  };
  static constexpr formula by_size = [](auto q, auto k, auto v) {
    auto later = positions_along<key<24>> > positions_along<query<24>> + 2;
    return contract<key>(softmax<key>(hide(contract<head_dim>(q, k), later)), v);
  };
  queries q;
  keys k;
  values v;
  const double error = error_without_weights(by_size, q, k, v);
  BOOST_TEST(error == error_without_weights(by_name, q, k, v));
  BOOST_TEST((by_name(q, k, v) == by_size(q, k, v)));
}

BOOST_AUTO_TEST_CASE(ranges_have_the_names_of_values_or_of_their_operations) {
  quantized<decltype(capped), queries, keys, values, biases>::ranges of_capped{};
  const std::vector<std::string> capped_names = {
      "argument_1", "argument_2", "argument_3", "argument_4", "scores", "tanh_1", "add_1"};
  BOOST_TEST(names_in(of_capped) == capped_names, boost::test_tools::per_element());
  quantized<decltype(mixer), rows, mixer_weights>::ranges of_mixer{};
  const std::vector<std::string> mixer_names = {
      "argument_1", "norm_1",       "projection_1", "gelu_tanh_1",  "projection_2", "add_1",
      "norm_2",     "projection_3", "wide",         "projection_4", "out"};
  BOOST_TEST(names_in(of_mixer) == mixer_names, boost::test_tools::per_element());
  of_mixer.get<"wide">()() = 3;
  BOOST_TEST(of_mixer.get<8>()() == 3);
}

BOOST_AUTO_TEST_CASE(ranges_are_observed_saved_loaded_and_missed_by_name) {
  using layer = quantized<decltype(mixer), rows, mixer_weights>;
  static mixer_weights w{};
  fill(w, 1);
  layer::ranges seen{}, loaded{};
  static layer::histograms counted{};
  lcg next{2};
  for (int i = 0; i < 3; ++i) {
    const auto x = drawn<rows>(next, 2);
    const auto y = layer::calibrate(seen, x, w);
    BOOST_TEST((y == layer::calibrate(counted, x, w)));
    float largest = 0;
    for (const float v : y) largest = std::max(largest, std::abs(v));
    BOOST_TEST(seen.get<"out">()() >= largest);
  }
  layer::ranges all{};
  take_percentile(all, counted, 100);
  BOOST_TEST(compare_parameters(all, seen).largest == 0);
  take_percentile(all, counted, 90);
  BOOST_TEST(all.get<"wide">()() < seen.get<"wide">()());

  std::vector<char> bytes;
  save([&](const char* from, std::size_t count) { bytes.insert(bytes.end(), from, from + count); },
       seen);
  const auto file = tensor_file::in_memory(bytes.data(), bytes.size());
  BOOST_REQUIRE(static_cast<bool>(file));
  const auto result = load(loaded, *file, names::umbel);
  BOOST_TEST(static_cast<bool>(result), result.error());
  BOOST_TEST(compare_parameters(seen, loaded).largest == 0);

  static layer packed;
  for_each_parameter(loaded, [&](const parameter_path& path, auto x) {
    const float kept = x();
    x() = 0;
    BOOST_TEST(packed.pack(w, loaded).missing_range() == std::string(path.c_str()));
    x() = kept;
  });
  BOOST_TEST(static_cast<bool>(packed.pack(w, loaded)));
}

BOOST_AUTO_TEST_CASE(values_that_only_sums_norms_and_softmax_read_have_16_bits) {
  using attending = quantized<decltype(capped), queries, keys, values, biases>;
  static_assert(std::is_same_v<attending::input_type<0>, std::int8_t>);
  static_assert(std::is_same_v<attending::input_type<2>, std::int8_t>);
  static_assert(std::is_same_v<attending::input_type<3>, std::int16_t>);  // added to scores
  static_assert(std::is_same_v<attending::result_type, std::int8_t>);
  using mixing = quantized<decltype(mixer), rows, mixer_weights>;
  static_assert(std::is_same_v<mixing::input_type<0>, std::int16_t>);
  static_assert(std::is_same_v<mixing::result_type, std::int16_t>);
}

BOOST_AUTO_TEST_CASE(errors_are_a_few_per_cent_of_the_result) {
  static queries q;
  static keys k;
  static values v;
  static biases bias;
  const double of_capped = error_without_weights(capped, q, k, v, bias);
  const double of_linear = error_without_weights(linear_attention, q, k, v);
  const double of_efficient = error_without_weights(efficient_attention, q, k, v);
  BOOST_TEST_MESSAGE("capped attention: " << of_capped << " %");
  BOOST_TEST_MESSAGE("linear attention: " << of_linear << " %");
  BOOST_TEST_MESSAGE("efficient attention: " << of_efficient << " %");
  BOOST_TEST(of_capped < 3);
  BOOST_TEST(of_linear < 2);
  BOOST_TEST(of_efficient < 6);

  const double of_mixer = error_with_weights<mixer_weights>(mixer);
  const double of_star = error_with_weights<star_weights>(star_block);
  BOOST_TEST_MESSAGE("mixer: " << of_mixer << " %");
  BOOST_TEST_MESSAGE("block of CAFormer: " << of_star << " %");
  BOOST_TEST(error_with_weights<convolution_weights>(convolution) < 2);
  BOOST_TEST(of_mixer < 2);
  BOOST_TEST(of_star < 2);
}

// Constant expressions compute with the loops that define each bit, calls with kernels.
template <class... X>
struct all_of {};
template <class F, class... X>
void check_constant(const F&, all_of<X...>) {
  using layer = quantized<F, X...>;
  constexpr typename layer::ranges seen = [] {
    typename layer::ranges all{};
    for (auto& one : all.values) one() = 1.5F;
    return all;
  }();
  static constexpr layer packed{seen};
  const auto call = [&]<std::size_t... I>(std::index_sequence<I...>) {
    static constexpr auto x = std::tuple{[] {
      lcg next{7 + I};
      return quantize<typename layer::template input_type<I>>(drawn<X>(next, 2), 1.5F);
    }()...};
    constexpr auto expected = packed(std::get<I>(x)...);
    BOOST_TEST((packed(std::get<I>(x)...) == expected));
    bool any = false;
    for (const auto v : expected) any = any || v != 0;
    BOOST_TEST(any);
  };
  call(std::index_sequence_for<X...>{});
}
BOOST_AUTO_TEST_CASE(kernels_compute_the_bits_of_the_definition) {
  using q = tensor<float, batch<2>, query<5>, heads<2>, head_dim<6>>;
  using k = tensor<float, batch<2>, key<5>, heads<2>, head_dim<6>>;
  using v = tensor<float, batch<2>, key<5>, heads<2>, value_dim<3>>;
  check_constant(capped, all_of<q, k, v, tensor<float, query<5>, key<5>>>{});
  check_constant(linear_attention, all_of<q, k, v>{});
  check_constant(efficient_attention, all_of<q, k, v>{});
  // Views, several summed axes, means, largest values, products, differences, zeros around values.
  constexpr formula other = [](auto x, auto y) {
    auto turned = x | permute<hidden, token> | rename_axis<token, key>;
    auto square = contract<hidden>(x, turned | rename_axis<key, classes>) * 0.125F;
    auto mixed = contract<token, hidden>(x, y);
    auto gate = sigmoid(x) * y - mean<token>(y) + max<hidden>(-x);
    auto near = x | padded<token, before<1>, after<1>> | windows<token, kernel_size<3>>;
    auto moved = max<kernel_size>(near) + (y | roll<token, 2>);
    return gate + contract<classes>(square, y | rename_axis<token, classes>) + mixed + moved;
  };
  check_constant(other,
                 all_of<tensor<float, token<5>, hidden<6>>, tensor<float, token<5>, hidden<6>>>{});
}

BOOST_AUTO_TEST_CASE(a_formula_is_a_part_of_a_block) {
  using namespace block_parts;
  check_block<block<pre_norm<name::norm, network>>>();
  check_block<block<layer_scale<name::layer_scale, pre_norm<name::norm, network>>>>();
  check_block<block<scaled<1, 2, sandwich_norm<name::norm1, network, name::norm2>>>>();
  check_block<block<no_residual<without_norm<network>>>>();
  check_block<block<without_norm<scaling<columns>>>>();
  check_block<block<pre_norm<name::norm, memory>>>();
  check_block<block<branch_norm<scaling<doubled>, name::norm>>>();
  check_block<block<pre_norm<name::norm, scaling<as_it_is>>>>();
  check_block<block<without_norm<scaling<turned_at_the_end>>>>();
}

using small_block =
    residual_block<float, hidden<6>,
                   block_parts::without_norm<network_of<hidden<6>, intermediate<5>>>>;
constexpr quantized<small_block>::ranges small_ranges() {
  quantized<small_block>::ranges seen{};
  seen.residual() = seen.mixing.input() = 2;
  for (auto& range : seen.mixing.formula.values) range() = 1.5F;
  return seen;
}
BOOST_AUTO_TEST_CASE(the_part_computes_the_bits_of_the_definition) {
  using layer = quantized<small_block>;
  using sequence = tensor<std::int16_t, token<5>, hidden<6>>;
  static constexpr layer packed = [] {
    small_block::weights w{};
    lcg next{4};
    const auto fill_map = [&](auto& map) {
      for (float& v : map.weight) v = static_cast<float>(next());
    };
    fill_map(w.mixing.gate);
    fill_map(w.mixing.up);
    fill_map(w.mixing.down);
    return layer(w, small_ranges());
  }();
  static constexpr sequence x = [] {
    lcg next{5};
    return quantize<std::int16_t>(drawn<tensor<float, token<5>, hidden<6>>>(next, 2), 2.0F);
  }();
  constexpr sequence wanted = packed(x);
  BOOST_TEST((packed(x) == wanted));
  BOOST_TEST((x != wanted));
}

BOOST_AUTO_TEST_CASE(what_is_missing_changes_nothing) {
  static small_block::weights w{};
  fill(w, 5);
  static quantized<small_block> layer;
  BOOST_REQUIRE(layer.pack(w, small_ranges()));
  lcg next{7};
  const auto x = quantize<std::int16_t>(drawn<tensor<float, token<5>, hidden<6>>>(next, 2), 2.0F);
  const auto y = layer(x);
  auto seen = small_ranges();
  seen.mixing.input() = 0;
  fill(w, 6);
  BOOST_TEST(layer.pack(w, seen).missing_range() == std::string("mixing.input"));
  BOOST_TEST((layer(x) == y));
}

// As nn.Linear has them.
template <class Map>
auto out_in(const Map& map) {
  using in = in_features<Map::map::in::size>;
  using out = out_features<Map::map::out::size>;
  return tensor<float, out, in>(view_as<in, out>(map.weight) | permute<out_features, in_features>);
}
BOOST_AUTO_TEST_CASE(weights_of_the_part_are_packed_from_any_order) {
  using layer = quantized<small_block>;
  using part = decltype(layer::weights_to_pack::mixing);
  static small_block::weights w{};
  fill(w, 3);
  const auto gate = out_in(w.mixing.gate);
  const auto up = out_in(w.mixing.up);
  const auto down = out_in(w.mixing.down);
  static layer packed, from_torch;
  BOOST_REQUIRE(packed.pack(w, small_ranges()));
  BOOST_REQUIRE(from_torch.pack(part({gate, w.mixing.gate.bias}, up, {down, w.mixing.down.bias}),
                                small_ranges()));
  lcg next{6};
  const auto x = quantize<std::int16_t>(drawn<tensor<float, token<5>, hidden<6>>>(next, 2), 2.0F);
  BOOST_TEST((packed(x) == from_torch(x)));
}

BOOST_AUTO_TEST_SUITE_END()
