// SPDX-License-Identifier: BSL-1.0
// A probe of an exported model: the right model agrees, one that is loaded or spelled out wrong
// does not, and a sentence says where and why. Its checksum.
#include <boost/test/unit_test.hpp>

#include <umbel/files.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include <limits>
#include <string>
#include <vector>

#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

template <class Activation, class Pairs, bool NormFirst, class... Options>
using layer_with =
    encoder_layer<float, hidden<8>, heads<2>, intermediate<12>, norm_first<NormFirst>, Activation,
                  bias<true>, rope<Pairs>, Options...>;
using layer = layer_with<activation<gelu_exact>, split_halves, true>;
using sequence = tensor<float, token<4>, hidden<8>>;

// A file as tools/export writes it: weights as torch has them, (out, in), and a probe.
std::vector<char> exported(const layer::weights& w, const sequence& x, const sequence& y) {
  std::vector<char> file;
  const auto to_file = [&](const char* bytes, std::size_t count) {
    file.insert(file.end(), bytes, bytes + count);
  };
  const auto written = write_safetensors(to_file, [&](auto put) {
    for_each_parameter(w, [&](const parameter_path& path, const auto& p) {
      using p_type = std::remove_cvref_t<decltype(p)>;
      if constexpr (p_type::rank == 2)
        put(path.c_str(), p | permute<out_features, in_features>);
      else
        put(path.c_str(), p);
    });
    put("probe.input", x);
    put("probe.output", y);
  });
  BOOST_TEST(!!written);
  return file;
}

struct exported_model {
  layer::weights w{};
  sequence x{}, y{};
  std::vector<char> bytes;
  exported_model() {
    umbel_test::lcg next{3};
    for_each_parameter(w, [&](const parameter_path&, const auto& p) {
      for (float& one : p) one = next();
    });
    umbel_test::draw(next, x);
    y = layer{w}(x, causal);
    bytes = exported(w, x, y);
  }
  tensor_file file() const { return tensor_file::in_memory(bytes).value(); }
};

constexpr parameter_name of_torch[] = {{"**", "**", out_in}};
constexpr parameter_name not_transposed[] = {{"attention.v.weight", "attention.v.weight", in_out},
                                             {"**", "**", out_in}};

// What replay says of Layer, with weights by `names`: an error or a warning.
template <class Layer, class Names, class Mask>
std::string replayed(const exported_model& model, const Names& names, const Mask& mask,
                     const probe_tolerance& tolerance = {}) {
  static typename Layer::weights w;
  const tensor_file file = model.file();
  const load_result loaded = load(w, file, names);
  BOOST_TEST(static_cast<bool>(loaded), loaded.error());
  sequence x, wanted;
  const auto result = replay(
      file, [&](const sequence& given) { return Layer{w}(given, mask); }, tolerance, wanted, x);
  BOOST_TEST(static_cast<bool>(result) == (std::string(result.error()) == ""));
  BOOST_TEST((static_cast<bool>(result) || std::string(result.warning()) == ""));
  return result ? result.warning() : result.error();
}

void begins(const std::string& text, const std::string& with) {
  BOOST_TEST(text.substr(0, with.size()) == with);
}
void has(const std::string& text, const char* part) {
  BOOST_TEST((text.find(part) != std::string::npos), text);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unit_probe)

BOOST_AUTO_TEST_CASE(the_right_model_agrees) {
  const exported_model model;
  BOOST_TEST(replayed<layer>(model, of_torch, causal) == "");
  sequence x, wanted;
  const auto exact = replay(
      model.file(), [&](const sequence& given) { return layer{model.w}(given, causal); },
      probe_tolerance{0, 0}, wanted, x);
  BOOST_TEST(exact.largest == 0);
}

BOOST_AUTO_TEST_CASE(a_square_matrix_that_is_transposed) {
  const std::string error = replayed<layer>(exported_model{}, not_transposed, causal);
  begins(error, "umbel: probe: the output differs by ");
  has(error, "] of [token=4, hidden=8]: ");
  has(error, "check for a transposed square matrix (in_out or out_in in its row");
}

BOOST_AUTO_TEST_CASE(the_other_pairing_of_rope) {
  using other = layer_with<activation<gelu_exact>, adjacent_pairs, true>;
  has(replayed<other>(exported_model{}, of_torch, causal),
      "only the first position is right; check the pairing of rope");
}

BOOST_AUTO_TEST_CASE(another_activation) {
  using relu_layer = layer_with<activation<relu>, split_halves, true>;
  has(replayed<relu_layer>(exported_model{}, of_torch, causal), "the activation");
  using tanh_layer = layer_with<activation<gelu_tanh>, split_halves, true>;
  // Both forms of GELU are within 5e-4 of each other.
  has(replayed<tanh_layer>(exported_model{}, of_torch, causal),
      "is allowed; it is close; check the epsilon of the norms, gelu_exact or gelu_tanh");
}

// 1e-6 for 1e-5 moves these outputs by about their 100,000th part.
BOOST_AUTO_TEST_CASE(another_epsilon) {
  using smaller =
      layer_with<activation<gelu_exact>, split_halves, true, norm_epsilon<1, 1'000'000>>;
  const std::string sentence = replayed<smaller>(exported_model{}, of_torch, causal);
  begins(sentence, "umbel: probe: the output ");
  has(sentence, "it is close; check the epsilon of the norms");
}

BOOST_AUTO_TEST_CASE(a_warning_above_rounding) {
  constexpr tensor<float, token<2>, hidden<2>> wanted{{1, 2}, {3, 4}};
  constexpr tensor<float, token<2>, hidden<2>> near{{1, 2.00002F}, {3, 4}};
  constexpr tensor<float, token<2>, hidden<2>> nearest{{1, 2.000002F}, {3, 4}};
  constexpr tensor<float, token<2>, hidden<2>> later{{1, 2}, {3, 4.00002F}};
  static_assert(compare_with_probe(near, wanted));
  const auto result = compare_with_probe(near, wanted);
  BOOST_TEST(std::string(result.error()) == "");
  begins(
      result.warning(),
      "umbel: probe: the output agrees, but differs by 0.00002 at [0, 1] of [token=2, hidden=2]: "
      "the probe has 2; rounding explains 0.0000082; it is close; check the epsilon");
  BOOST_TEST(std::string(compare_with_probe(nearest, wanted).warning()) == "");
  BOOST_TEST(compare_with_probe(nearest, wanted).largest > 0);
  has(compare_with_probe(later, wanted).warning(),
      "it is close, and the first position is right; check the base of rope");
  const auto refused = compare_with_probe(near, wanted, {1e-5, 0});
  BOOST_TEST(!refused);
  BOOST_TEST(std::string(refused.warning()) == "");
  has(refused.error(), "at most 0.00001 is allowed; it is close; check the epsilon");
}

BOOST_AUTO_TEST_CASE(a_file_without_a_probe) {
  const exported_model model;
  std::vector<char> bytes;
  save([&](const char* from, std::size_t count) { bytes.insert(bytes.end(), from, from + count); },
       model.w);
  sequence x, wanted;
  const auto result = replay(
      tensor_file::in_memory(bytes).value(), [](const sequence& given) { return given; }, wanted,
      x);
  BOOST_TEST(!result);
  begins(result.error(),
         "umbel: replay: the file has no probe, the tensors probe.input and probe.output; write");
}

BOOST_AUTO_TEST_CASE(another_order_of_the_norms_and_another_mask) {
  using norm_last = layer_with<activation<gelu_exact>, split_halves, false>;
  has(replayed<norm_last>(exported_model{}, of_torch, causal), "norm_first");
  has(replayed<layer>(exported_model{}, of_torch, all_keys), "the mask");
}

BOOST_AUTO_TEST_CASE(nothing_loaded) {
  const exported_model model;
  static layer::weights w;
  for_each_parameter(w, [](const parameter_path&, const auto& p) {
    for (float& one : p) one = std::numeric_limits<float>::quiet_NaN();
  });
  sequence x, wanted;
  const auto result = replay(
      model.file(), [&](const sequence& given) { return layer{w}(given, causal); }, wanted, x);
  begins(result.error(),
         "umbel: probe: the output differs by inf at [0, 0] of [token=4, hidden=8]");
  has(result.error(), "NaN instead of ");
  BOOST_TEST(result.largest == std::numeric_limits<double>::infinity());
}

// NaN where it is wanted is no difference; views of any strides are compared.
BOOST_AUTO_TEST_CASE(what_is_compared) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr tensor<float, query<2>, key<3>> wanted{{1, 2, nan}, {4, 5, -100}};
  constexpr tensor<float, key<3>, query<2>> same{{1, 4}, {2, 5}, {nan, -100}};
  static_assert(compare_with_probe(same | permute<query, key>, wanted));
  tensor<float, key<3>, query<2>> other = same;
  other(1, 1) = 5.5F;
  const auto result = compare_with_probe(other | permute<query, key>, wanted);
  BOOST_TEST(result.place == 4u);
  BOOST_TEST(result.largest == 0.5);
  BOOST_TEST(
      std::string(result.error()) ==
      "umbel: probe: the output differs by 0.5 at [1, 1] of [query=2, key=3]: 5.5 instead "
      "of 5; at most 0.001 is allowed; it is close, and the first position is right; check the "
      "base of rope, the positions, the mask, the epsilon of the norms, and gelu_exact or "
      "gelu_tanh");
  BOOST_TEST(static_cast<bool>(compare_with_probe(other | permute<query, key>, wanted, {0.5, 0})));
  BOOST_TEST(!compare_with_probe(other | permute<query, key>, wanted, {0.499, 0}));
}

// Infinity where it is wanted makes no other difference smaller.
BOOST_AUTO_TEST_CASE(infinity) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr tensor<float, key<3>> wanted{1, -inf, 3}, other{1.5F, -inf, 3}, not_there{1, 2, 3};
  static_assert(compare_with_probe(wanted, wanted));
  BOOST_TEST(compare_with_probe(other, wanted).largest == 0.5);
  BOOST_TEST(!compare_with_probe(other, wanted));
  BOOST_TEST(compare_with_probe(not_there, wanted).place == 1u);
  BOOST_TEST(!compare_with_probe(not_there, wanted));
}

BOOST_AUTO_TEST_CASE(several_inputs_by_name) {
  const tensor<std::int32_t, token<3>> tokens{2, 0, 1};
  const tensor<float, hidden<2>> scale{10, 100};
  const tensor<float, token<3>, hidden<2>> y{{20, 200}, {0, 0}, {10, 100}};
  std::vector<char> bytes;
  const auto written = write_safetensors(
      [&](const char* from, std::size_t count) { bytes.insert(bytes.end(), from, from + count); },
      [&](auto put) {
        put("probe.tokens", tokens);
        put("probe.scale", scale);
        put("probe.output", y);
      });
  BOOST_TEST(!!written);
  const tensor_file file = tensor_file::in_memory(bytes).value();
  tensor<std::int32_t, token<3>> t;
  tensor<float, hidden<2>> s;
  tensor<float, token<3>, hidden<2>> wanted;
  const auto model = [](const auto& at, const auto& by) {
    tensor<float, token<3>, hidden<2>> out;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 2; ++j) out(i, j) = static_cast<float>(at(i)) * by(j);
    return out;
  };
  const auto right = replay(file, model, wanted, probe_input("tokens", t), probe_input("scale", s));
  BOOST_TEST(static_cast<bool>(right), right.error());
  BOOST_TEST(replay(file, model, wanted, t, probe_input("scale", s)).error() ==
             std::string("umbel: the file has no tensor probe.input"));
  tensor<float, hidden<3>> of_other_size;
  BOOST_TEST(
      replay(
          file, [&](const auto&) { return wanted; }, wanted, probe_input("scale", of_other_size))
          .error() ==
      std::string("umbel: read: probe.scale has the shape [2] but the memory has [hidden=3]"));
}

// What is read last would be in both.
BOOST_AUTO_TEST_CASE(one_tensor_for_two) {
  const tensor<float, token<2>> x{1, 2}, y{2, 4};
  std::vector<char> bytes;
  const auto written = write_safetensors(
      [&](const char* from, std::size_t count) { bytes.insert(bytes.end(), from, from + count); },
      [&](auto put) {
        put("probe.input", x);
        put("probe.mask", x);
        put("probe.output", y);
      });
  BOOST_TEST(!!written);
  const tensor_file file = tensor_file::in_memory(bytes).value();
  tensor<float, token<2>> wanted, a, b;
  const auto itself = [](const auto& given) { return given + 0.0F; };
  const auto sum = [](const auto& p, const auto& q) { return p + q; };
  BOOST_TEST(replay(file, itself, wanted, wanted).error() ==
             std::string("umbel: replay: probe.output and probe.input are read into the same "
                         "memory"));
  BOOST_TEST(
      replay(file, sum, wanted, a, probe_input("mask", a)).error() ==
      std::string("umbel: replay: probe.input and probe.mask are read into the same memory"));
  BOOST_TEST(replay(file, sum, wanted, probe_input("mask", a), probe_input("mask", b)).error() ==
             std::string("umbel: replay: probe.mask is given for two tensors"));
  BOOST_TEST(replay(file, sum, wanted, a, probe_input("input", b)).error() ==
             std::string("umbel: replay: probe.input is given for two tensors"));
  const auto right = replay(file, sum, wanted, a, probe_input("mask", b));
  BOOST_TEST(static_cast<bool>(right), right.error());
  tensor<float, batch<2>, token<2>> both;
  BOOST_TEST(static_cast<bool>(replay(file, sum, both | select_at<batch>(0),
                                      both | select_at<batch>(1), probe_input("mask", b))));
}

// The published values of 64-bit FNV-1a, and of elements: their bytes, little-endian.
BOOST_AUTO_TEST_CASE(checksums) {
  weights_checksum none, a, foobar, one;
  BOOST_TEST(none.value() == 0xcbf29ce484222325u);
  a.add(reinterpret_cast<const unsigned char*>("a"), 1);
  BOOST_TEST(a.value() == 0xaf63dc4c8601ec8cu);
  foobar.add(reinterpret_cast<const unsigned char*>("foobar"), 6);
  BOOST_TEST(foobar.value() == 0x85944171f73967e8u);
  constexpr float ones[] = {1};
  one.add(ones);
  weights_checksum bytes;
  bytes.add(reinterpret_cast<const unsigned char*>("\0\0\x80\x3f"), 4);
  BOOST_TEST(one.value() == bytes.value());
  // Of arrays, of one behind another, and of parts of one: the same, by the compiler, too.
  static constexpr float floats[] = {1.5F, -2, 3.25F, -0.0F};
  static constexpr std::int32_t integers[] = {-1, 0x01020304};
  constexpr auto each = [](const auto& f) {
    f(floats);
    f(integers);
  };
  static_assert(checksum_of(floats) != checksum_of(integers));
  static_assert(checksum_of(integers, checksum_of(floats)) == checksum_of(each));
  static_assert(checksum_of(floats, checksum_of(floats, checksum_of(integers), 0, 3), 3, 4) ==
                checksum_of(floats, checksum_of(integers)));
  weights_checksum by_bytes;
  by_bytes.add(reinterpret_cast<const unsigned char*>(floats), sizeof(floats));
  by_bytes.add(reinterpret_cast<const unsigned char*>("\xff\xff\xff\xff\x04\x03\x02\x01"), 8);
  BOOST_TEST(by_bytes.value() == checksum_of(each));
  exported_model model;
  BOOST_TEST(static_cast<bool>(verify_checksum(model.file())));
  BOOST_TEST(verify_checksum(model.file()).error() == "");
  model.bytes.back() = static_cast<char>(model.bytes.back() ^ 1);
  BOOST_TEST((verify_checksum(model.file()).code() == file_error::checksum));
  BOOST_TEST(
      verify_checksum(model.file()).error() ==
      std::string("umbel: verify_checksum: the bytes of the file do not match its checksum"));
  const auto name = std::string(model.bytes.begin(), model.bytes.end()).find("checksum");
  model.bytes[name] = 'C';
  BOOST_TEST((verify_checksum(model.file()).code() == file_error::not_found));
}

BOOST_AUTO_TEST_SUITE_END()
