// SPDX-License-Identifier: BSL-1.0
// Ranges of integer layers: they are listed, saved and loaded by name beside the weights, what is
// missing is named, chained ones are equal, and percentiles leave out the largest numbers.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <umbel/files.hpp>
#include <umbel/quantized.hpp>
#include <umbel/weights.hpp>

namespace {

using namespace umbel;
using namespace umbel::axes;

using block = encoder_layer<float, hidden<6>, heads<2>, intermediate<10>, norm_first<true>,
                            activation<gelu_exact>, bias<true>>;
using stack = layer_stack<block, 2>;
using word_table = embedding<float, vocabulary<7>, hidden<6>>;
using last_norm = layer_norm<float, hidden<6>>;
using last_map = linear<float, hidden<6>, classes<3>, bias<true>>;

struct model_ranges {
  static constexpr const char* part_names[] = {"words", "encoder", "norm", "head"};
  quantized<word_table>::ranges words;
  quantized<stack>::ranges encoder;
  quantized<last_norm>::ranges norm;
  quantized<last_map>::ranges head;
};

struct model_weights {
  static constexpr const char* part_names[] = {"words", "encoder", "norm", "head"};
  word_table::weights words;
  stack::weights encoder;
  last_norm::weights norm;
  last_map::weights head;
};
struct model_file {
  static constexpr const char* part_names[] = {"weights", "ranges"};
  model_weights weights;
  model_ranges ranges;
};

template <class Weights>
void fill(Weights& w, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.5F);
  for_each_parameter(w, [&](const parameter_path&, auto x) {
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = normal(random);
  });
}

void calibrate(model_ranges& seen, const model_weights& w, unsigned seed) {
  std::mt19937 random(seed);
  tensor<int, token<5>> ids;
  for (int& id : ids) id = static_cast<int>(random() % 7);
  const auto x = quantized<word_table>::calibrate(seen.words, w.words, ids);
  const auto y = quantized<stack>::calibrate(seen.encoder, w.encoder, x);
  const auto z = quantized<last_norm>::calibrate(seen.norm, w.norm, y, 1e-5F);
  std::ignore = quantized<last_map>::calibrate(seen.head, w.head, z);
}

template <class Model>
std::vector<char> saved(const Model& model) {
  std::vector<char> bytes;
  save([&](const char* from, std::size_t count) { bytes.insert(bytes.end(), from, from + count); },
       model);
  return bytes;
}

const std::vector<std::string> paths = {
    "words.residual",
    "encoder.layers.0.residual",
    "encoder.layers.0.attention.input",
    "encoder.layers.0.attention.q",
    "encoder.layers.0.attention.k",
    "encoder.layers.0.attention.v",
    "encoder.layers.0.feed_forward.input",
    "encoder.layers.0.feed_forward.up",
    "encoder.layers.0.feed_forward.activated",
    "encoder.layers.1.residual",
    "encoder.layers.1.attention.input",
    "encoder.layers.1.attention.q",
    "encoder.layers.1.attention.k",
    "encoder.layers.1.attention.v",
    "encoder.layers.1.feed_forward.input",
    "encoder.layers.1.feed_forward.up",
    "encoder.layers.1.feed_forward.activated",
    "norm.input",
    "norm.output",
    "norm.epsilon",
    "head.input",
    "head.output",
};

BOOST_AUTO_TEST_CASE(ranges_are_listed_by_name) {
  model_ranges seen{};
  std::vector<std::string> listed;
  for_each_parameter(seen, [&](const parameter_path& path, auto x) {
    listed.emplace_back(path.c_str());
    BOOST_TEST(x.size() == 1U);
  });
  BOOST_TEST(listed == paths, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(ranges_are_saved_and_loaded_with_the_weights) {
  static model_file model{}, loaded{};
  fill(model.weights, 1);
  calibrate(model.ranges, model.weights, 2);
  const auto bytes = saved(model);
  const auto file = tensor_file::in_memory(bytes.data(), bytes.size());
  BOOST_REQUIRE(static_cast<bool>(file));
  const auto result = load(loaded, *file, names::umbel);
  BOOST_TEST(static_cast<bool>(result), result.error());
  const auto difference = compare_parameters(model, loaded);
  BOOST_TEST(difference.largest == 0, difference.path.c_str());
  BOOST_TEST(model.ranges.encoder.layers[1].attention.q() > 0);
}

BOOST_AUTO_TEST_CASE(a_range_that_the_file_lacks_is_named) {
  static model_file model{};
  const auto bytes = saved(model.weights);
  const auto file = tensor_file::in_memory(bytes.data(), bytes.size());
  BOOST_REQUIRE(static_cast<bool>(file));
  const auto result = load(model.ranges, *file, names::umbel);
  BOOST_TEST(!result);
  const std::string error = result.error();
  BOOST_TEST(error.find("encoder.layers.0.attention.input") != error.npos, error);
}

BOOST_AUTO_TEST_CASE(packing_names_the_range_that_is_missing) {
  static model_file model{};
  fill(model.weights, 1);
  calibrate(model.ranges, model.weights, 2);
  static quantized<stack> layers;
  BOOST_TEST(static_cast<bool>(layers.pack(model.weights.encoder, model.ranges.encoder)));
  for (const float bad : {0.0F, -1.0F, std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    auto ranges = model.ranges.encoder;
    ranges.layers[1].feed_forward.input() = bad;
    const auto result = layers.pack(model.weights.encoder, ranges);
    BOOST_TEST(!result);
    BOOST_TEST(result.missing_range() == std::string("layers.1.feed_forward.input"));
    ranges.layers[0].residual() = bad;  // the first of two
    BOOST_TEST(layers.pack(model.weights.encoder, ranges).missing_range() ==
               std::string("layers.0.residual"));
  }
  quantized<last_map> last;
  BOOST_TEST(last.pack(model.weights.head, {{1.0F}, {0.0F}}).missing_range() ==
             std::string("output"));
  BOOST_TEST(last.pack(model.weights.head, model.ranges.head).missing_range() == std::string());
}

// The layer with the most ranges, 15.
BOOST_AUTO_TEST_CASE(all_ranges_of_a_decoder_layer_are_known_by_name) {
  using decoder = decoder_layer<float, hidden<6>, heads<2>, intermediate<10>, norm_first<true>,
                                activation<silu>, gated<true>, bias<true>>;
  static decoder::weights w{};
  fill(w, 1);
  quantized<decoder>::ranges seen{};
  static quantized<decoder>::histograms counted{};
  const std::vector<std::string> names = {
      "residual",
      "self_attention.input",
      "self_attention.q",
      "self_attention.k",
      "self_attention.v",
      "memory",
      "cross_attention.input",
      "cross_attention.q",
      "cross_attention.k",
      "cross_attention.v",
      "feed_forward.input",
      "feed_forward.gate",
      "feed_forward.up",
      "feed_forward.activated",
      "feed_forward.product",
  };
  std::vector<std::string> listed;
  for_each_parameter(seen, [&](const parameter_path& path, auto x) {
    listed.emplace_back(path.c_str());
    x() = 1;
  });
  BOOST_TEST(listed == names, boost::test_tools::per_element());
  quantized<decoder> layer;
  for_each_parameter(seen, [&](const parameter_path& path, auto x) {
    x() = 0;
    BOOST_TEST(layer.pack(w, seen).missing_range() == std::string(path.c_str()));
    x() = 1;
  });
  BOOST_TEST(static_cast<bool>(layer.pack(w, seen)));

  quantized<decoder>::ranges largest{};
  std::mt19937 random(2);
  std::normal_distribution<float> normal(0, 1);
  tensor<float, token<3>, hidden<6>> x;
  tensor<float, token<4>, hidden<6>> memory;
  for (float& e : x) e = normal(random);
  for (float& e : memory) e = normal(random);
  std::ignore = quantized<decoder>::calibrate(largest, w, x, memory, self_mask(causal));
  std::ignore = quantized<decoder>::calibrate(counted, w, x, memory, self_mask(causal));
  take_percentile(seen, counted, 100);
  BOOST_TEST(compare_parameters(largest, seen).largest == 0);
}

// Layers with and without weights, and an array of them.
using pool = quantized_mean<token<5>>;
struct pooled_weights {
  static constexpr const char* part_names[] = {"words", "blocks", "norm", "head"};
  word_table::weights words;
  block::weights blocks[2];
  last_norm::weights norm;
  last_map::weights head;
};
struct pooled_ranges {
  static constexpr const char* part_names[] = {"words", "blocks", "norm", "mean", "head"};
  quantized<word_table>::ranges words;
  quantized<block>::ranges blocks[2];
  quantized<last_norm>::ranges norm;
  pool::ranges mean;
  quantized<last_map>::ranges head;
};
struct pooled_model {
  quantized<word_table> words;
  quantized<block> blocks[2];
  quantized<last_norm> norm;
  pool mean;
  quantized<last_map> head;

  auto operator()(const tensor<int, token<5>>& ids) const {
    return ids | words | blocks[0] | blocks[1] | norm | mean | head;
  }
};

BOOST_AUTO_TEST_CASE(a_model_is_packed_if_its_ranges_are_chained) {
  static pooled_weights w{};
  static pooled_ranges seen{};
  static pooled_model model{}, by_parts{};
  fill(w, 7);
  const tensor<int, token<5>> ids{3, 1, 4, 1, 6};
  const auto before = model(ids);
  BOOST_TEST(pack_model(model, w, seen).missing_range() == std::string("words.residual"));
  const auto x = quantized<word_table>::calibrate(seen.words, w.words, ids);
  const auto y = quantized<block>::calibrate(seen.blocks[0], w.blocks[0], x);
  const auto z = quantized<block>::calibrate(seen.blocks[1], w.blocks[1], y);
  const auto normed = quantized<last_norm>::calibrate(seen.norm, w.norm, z, 1e-6F);
  std::ignore =
      quantized<last_map>::calibrate(seen.head, w.head, pool::calibrate(seen.mean, normed));
  const pack_result unchained = pack_model(model, w, seen);
  BOOST_TEST(!unchained);
  BOOST_TEST(unchained.missing_range() == std::string());
  BOOST_TEST(unchained.unchained_part() == std::string("blocks"));
  BOOST_TEST((model(ids) == before));

  chain_ranges(seen.words, seen.blocks, seen.norm, seen.mean, seen.head);
  BOOST_TEST(seen.norm.epsilon() == 1e-6F);
  BOOST_TEST(pack_model(model, w, seen, 1e-5F).missing_range() == std::string("norm.epsilon"));
  BOOST_TEST(by_parts.norm.pack(w.norm, seen.norm, 1e-5F).missing_range() ==
             std::string("epsilon"));
  BOOST_TEST((model(ids) == before));
  const pack_result packed = pack_model(model, w, seen);
  BOOST_TEST(static_cast<bool>(packed));
  BOOST_TEST(packed.unchained_part() == std::string());
  BOOST_TEST(static_cast<bool>(by_parts.words.pack(w.words, seen.words)));
  for (std::size_t i = 0; i < 2; ++i)
    BOOST_TEST(static_cast<bool>(by_parts.blocks[i].pack(w.blocks[i], seen.blocks[i])));
  BOOST_TEST(static_cast<bool>(by_parts.norm.pack(w.norm, seen.norm, 1e-6F)));
  BOOST_TEST(static_cast<bool>(by_parts.mean.pack(seen.mean)));
  BOOST_TEST(static_cast<bool>(by_parts.head.pack(w.head, seen.head)));
  BOOST_TEST((model(ids) == by_parts(ids)));
  BOOST_TEST(!(model(ids) == before));
  BOOST_TEST(static_cast<bool>(pack_model(model, w, seen, 1e-6F)));
  BOOST_TEST((model(ids) == by_parts(ids)));
  seen.norm.epsilon() = 0;  // not known
  BOOST_TEST(static_cast<bool>(pack_model(model, w, seen, 0.25F)));
  BOOST_TEST(!(model(ids) == by_parts(ids)));

  seen.head.input() *= 2;
  BOOST_TEST(pack_model(model, w, seen).unchained_part() == std::string("head"));
  seen.blocks[1].residual() *= 2;  // all blocks share the unit of their sum
  BOOST_TEST(pack_model(model, w, seen).unchained_part() == std::string("blocks"));
}

struct one_layer_weights {
  static constexpr const char* part_names[] = {"map"};
  linear<float, hidden<1>, classes<1>>::weights map;
};
struct one_layer_ranges {
  static constexpr const char* part_names[] = {"map"};
  quantized<linear<float, hidden<1>, classes<1>>>::ranges map;
};
struct one_layer {
  quantized<linear<float, hidden<1>, classes<1>>> map;
};
constexpr bool is_packed() {
  one_layer model{};
  const one_layer_weights w{{{0.5F}}};
  one_layer_ranges seen{};
  seen.map.input() = seen.map.output() = 1;
  return pack_model(model, w, seen) && model.map(tensor<std::int8_t, hidden<1>>{100})(0) == 50;
}
static_assert(is_packed());

BOOST_AUTO_TEST_CASE(chained_ranges_are_equal) {
  static model_file model{};
  fill(model.weights, 3);
  calibrate(model.ranges, model.weights, 4);
  model_ranges& seen = model.ranges;
  seen.encoder.layers[1].residual() = 100;  // it goes back through all of the sum, and no further
  const float q = seen.encoder.layers[0].attention.q(), normed = seen.norm.output();
  BOOST_TEST(!are_chained(seen.words, seen.encoder, seen.norm, seen.head));
  chain_ranges(seen.words, seen.encoder, seen.norm, seen.head);
  BOOST_TEST(are_chained(seen.words, seen.encoder, seen.norm, seen.head));
  BOOST_TEST(seen.words.residual() == 100);
  BOOST_TEST(seen.encoder.layers[0].residual() == 100);
  BOOST_TEST(seen.norm.input() == 100);
  BOOST_TEST(seen.encoder.layers[0].attention.q() == q);
  BOOST_TEST(seen.norm.output() == normed);
  BOOST_TEST(seen.head.input() == normed);
  seen.head.input() = 101;
  BOOST_TEST(!are_chained(seen.words, seen.encoder, seen.norm, seen.head));

  tensor<float> first{1.0F}, second{2.0F}, third{3.0F};  // sums, of which the last is the largest
  chain_ranges(first, second, third);
  BOOST_TEST((first() == 3 && second() == 3 && third() == 3));

  tensor<float> a{1.0F}, b{3.0F}, c{2.0F};
  same_range(a, b, c);
  BOOST_TEST((a() == 3 && b() == 3 && c() == 3));
}

BOOST_AUTO_TEST_CASE(percentiles_keep_the_epsilon_of_a_norm) {
  using norm = layer_norm<double, hidden<6>>;
  static norm::weights w{};
  static quantized<norm>::histograms counted{};
  fill(w, 5);
  const tensor<double, hidden<6>> x{1, 2, -3, 4, 5, 6};
  std::ignore = quantized<norm>::calibrate(counted, w, x, 1e-12);
  quantized<norm>::ranges seen{};
  take_percentile(seen, counted, 100);
  quantized<norm> packed{};
  BOOST_TEST(seen.input() == 6);
  BOOST_TEST(packed.pack(w, seen, 1e-6).missing_range() == std::string("epsilon"));
  BOOST_TEST(static_cast<bool>(packed.pack(w, seen, 1e-12)));
}

BOOST_AUTO_TEST_CASE(percentiles_leave_out_the_largest) {
  static magnitude_histogram counted;
  BOOST_TEST(counted.percentile(50) == 0);
  for (int i = 1; i <= 1000; ++i)
    counted.add(i % 2 == 0 ? static_cast<float>(i) : -static_cast<float>(i));
  counted.add(std::numeric_limits<float>::quiet_NaN());
  BOOST_TEST(counted.largest() == 1000);
  BOOST_TEST(counted.percentile(100) == 1000);
  for (const double percent : {1.0, 10.0, 50.0, 90.0, 99.0, 99.9}) {
    BOOST_TEST(counted.percentile(percent) >= static_cast<float>(10 * percent));
    BOOST_TEST(counted.percentile(percent) <= static_cast<float>(10 * percent * 17 / 16));
  }
  // What no bin is for.
  static magnitude_histogram extremes;
  extremes.add(0);
  extremes.add(1e-30F);
  extremes.add(1e30F);
  BOOST_TEST(extremes.percentile(60) <= 3e-10F);
  BOOST_TEST(extremes.percentile(100) == 1e30F);
  extremes.add(std::numeric_limits<float>::infinity());
  BOOST_TEST(std::isinf(extremes.percentile(100)));
}

BOOST_AUTO_TEST_CASE(the_hundredth_percentile_is_the_range) {
  static model_weights w{};
  fill(w, 5);
  std::mt19937 random(6);
  std::normal_distribution<float> normal;
  static quantized<stack>::histograms counted{};
  quantized<stack>::ranges seen{}, whole{}, most{};
  for (int k = 0; k < 10; ++k) {
    tensor<float, token<5>, hidden<6>> x;
    for (float& v : x) v = normal(random);
    std::ignore = quantized<stack>::calibrate(seen, w.encoder, x);
    std::ignore = quantized<stack>::calibrate(counted, w.encoder, x);
  }
  take_percentile(whole, counted, 100);
  take_percentile(most, counted, 90);
  BOOST_TEST(compare_parameters(seen, whole).largest == 0);
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(most.layers[i].feed_forward.up() < seen.layers[i].feed_forward.up());
    BOOST_TEST(most.layers[i].attention.q() > seen.layers[i].attention.q() / 4);
  }
}

}  // namespace
