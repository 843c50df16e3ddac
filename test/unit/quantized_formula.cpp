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
#include <umbel/quantized.hpp>
#include <umbel/weights.hpp>

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
  const auto given = quantize<std::int16_t>(x, layer::template input_range<0>(seen));
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
  // Views, several summed axes, means, largest values, products, differences.
  constexpr formula other = [](auto x, auto y) {
    auto turned = x | permute<hidden, token> | rename_axis<token, key>;
    auto square = contract<hidden>(x, turned | rename_axis<key, classes>) * 0.125F;
    auto mixed = contract<token, hidden>(x, y);
    auto gate = sigmoid(x) * y - mean<token>(y) + max<hidden>(-x);
    return gate + contract<classes>(square, y | rename_axis<token, classes>) + mixed;
  };
  check_constant(other,
                 all_of<tensor<float, token<5>, hidden<6>>, tensor<float, token<5>, hidden<6>>>{});
}

BOOST_AUTO_TEST_CASE(keys_are_hidden_by_conditions_and_by_arguments) {
  constexpr formula hiding = [](auto s, auto v, auto kept, auto length) {
    auto seen = hide(s, !kept || position<key> >= length);
    return contract<key>(softmax<key>(seen), v);
  };
  using s_type = tensor<float, query<3>, key<4>>;
  using v_type = tensor<float, key<4>, value_dim<2>>;
  using kept_type = tensor<bool, query<3>, key<4>>;
  using layer = quantized<decltype(hiding), s_type, v_type, kept_type, tensor<int>>;
  layer::ranges seen{};
  const s_type s{1, 2, 3, 4, 4, 3, 2, 1, 0, 0, 0, 0};
  const v_type v{1, -1, 0.5F, 1, -0.5F, 0.25F, 1, 1};
  const kept_type kept{true, true, true, true, false, false, true, true, false, false, false, true};
  tensor<int> length;
  length() = 3;
  std::ignore = layer::calibrate(seen, s, v, kept, length);
  BOOST_TEST(seen.get<"argument_1">()() == 4);  // not infinity
  const layer packed{seen};
  const auto y = packed(quantize<std::int16_t>(s, layer::input_range<0>(seen)),
                        quantize<std::int8_t>(v, layer::input_range<1>(seen)), kept, length);
  const auto z = hiding(s, v, kept, length);
  BOOST_TEST(error_of(dequantize(y, layer::output_range(seen)), z) < 2);
  BOOST_TEST(y(2, 0) == 0);  // sees no key
  BOOST_TEST(y(2, 1) == 0);
  BOOST_TEST(y(1, 0) == quantize<std::int8_t>(v, layer::input_range<1>(seen))(2, 0));
}

BOOST_AUTO_TEST_SUITE_END()
