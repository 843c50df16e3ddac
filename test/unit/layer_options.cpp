// SPDX-License-Identifier: BSL-1.0
// The options in a file are compared with those of the layers that the weights list.
#include <boost/test/unit_test.hpp>

#include <umbel/files.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace umbel;
using namespace umbel::axes;

using block = encoder_layer<float, hidden<8>, heads<2>, intermediate<12>, norm_first<true>,
                            activation<gelu_exact>, bias<true>, kv_heads<1>,
                            rope<adjacent_pairs, 500000>, norm_epsilon<1, 1'000'000'000'000>>;
using decoder_type = decoder_layer<float, hidden<8>, heads<4>, intermediate<12>, norm_first<false>,
                                   activation<silu>, gated<true>, bias<true>, norm_by<rms_norm>,
                                   norm_epsilon<1, 1'000'000>, rope<split_halves>, softcap<30>>;
using attention_type = multi_head_attention<double, hidden<8>, heads<2>, score_scale<1, 3>,
                                            query_key_norm<layer_norm>, head_dim<6>>;
namespace name = block_parts::name;
using two_type = residual_block<
    float, hidden<8>,
    block_parts::pre_norm<name::norm1, block_parts::self_attention<name::attention, heads<4>>>,
    block_parts::pre_norm<name::norm2,
                          block_parts::self_attention<name::self_attention, heads<8>>>>;
using head_type = linear<float, hidden<8>, classes<3>, bias<true>>;

template <class... X>
struct own_activation {
  template <std::size_t Count, class T>
  static constexpr void apply(const T* x, T* y) {
    for (std::size_t i = 0; i < Count; ++i) y[i] = x[i];
  }
};
using own_block = encoder_layer<float, hidden<8>, heads<2>, intermediate<12>, norm_first<true>,
                                activation<own_activation<int, char>{}>, bias<true>>;

struct inner_weights {
  static constexpr const char* part_names[] = {"attention", "scale"};
  using part_layers = std::tuple<attention_type, void>;
  attention_type::weights attention;
  tensor<float, hidden<8>> scale;
};
struct model_weights {
  static constexpr const char* part_names[] = {"encoder", "stack", "decoder",
                                               "inner",   "two",   "head"};
  using part_layers =
      std::tuple<block, layer_stack<block, 3>, decoder_type, void, two_type, head_type>;
  block::weights encoder[2];
  layer_stack<block, 3>::weights stack;
  decoder_type::weights decoder;
  std::array<inner_weights, 1> inner;
  two_type::weights two;
  head_type::weights head;
};
template <class Layer>
struct stack_of {
  static constexpr const char* part_names[] = {"layers"};
  using part_layers = std::tuple<layer_stack<Layer, 3>>;
  typename layer_stack<Layer, 3>::weights layers;
};
struct oddly_named {
  static constexpr const char* part_names[] = {"a: b", "\"quoted\""};
  using part_layers = std::tuple<attention_type, attention_type>;
  attention_type::weights a, b;
};
struct without_layers {
  static constexpr const char* part_names[] = {"head"};
  head_type::weights head;
};

template <class Weights>
std::vector<char> saved(const Weights& w) {
  std::vector<char> file;
  save([&](const char* from, std::size_t n) { file.insert(file.end(), from, from + n); }, w);
  return file;
}
// The same with other options in its metadata, as JSON spells them.
template <class Weights>
std::vector<char> saved(const Weights& w, const std::string& options) {
  std::vector<char> file;
  const auto put_each = [&](auto put) {
    for_each_parameter(w, [&](const parameter_path& path, const auto& x) { put(path.c_str(), x); });
  };
  BOOST_REQUIRE(write_safetensors(
      [&](const char* from, std::size_t n) { file.insert(file.end(), from, from + n); }, put_each));
  const std::string before = "\"__metadata__\":{", more = "\"umbel.options\":\"" + options + "\",";
  const auto at = std::search(file.begin(), file.end(), before.begin(), before.end());
  BOOST_REQUIRE(at != file.end());
  file.insert(at + static_cast<std::ptrdiff_t>(before.size()), more.begin(), more.end());
  std::uint64_t size = 0;
  std::memcpy(&size, file.data(), 8);
  size += more.size();
  std::memcpy(file.data(), &size, 8);
  return file;
}

template <class Weights, class... Names>
std::string error_of(Weights& w, const std::vector<char>& memory, const Names&... names) {
  const auto file = tensor_file::in_memory(memory);
  BOOST_REQUIRE_MESSAGE(file, file.error());
  const load_result loaded = load(w, *file, names...);
  BOOST_TEST(static_cast<bool>(loaded) == (loaded.problems() == 0));
  return loaded.error();
}

std::string opened_metadata(const std::vector<char>& file) {
  char text[4000]{};
  tensor_file::in_memory(file).value().metadata("umbel.options").copy_to(text, sizeof(text));
  return text;
}

model_weights w, other_w;
std::string error_with(const std::string& options) {
  w.encoder[0].attention.q.weight[5] = 0.5F;
  other_w = {};
  const std::string error = error_of(other_w, saved(w, options), names::umbel);
  BOOST_TEST(other_w.encoder[0].attention.q.weight[5] == (error.empty() ? 0.5F : 0.0F));
  return error;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unit_layer_options)

BOOST_AUTO_TEST_CASE(options_of_the_type_fit) {
  BOOST_TEST(error_with("") == "");
  BOOST_TEST(error_with("  ") == "");
  BOOST_TEST(error_with("head:x=1") != "");
  for (const char* options :
       {"encoder.*: heads=2, kv_heads=1, head_dim=4, value_dim=4, norm_first=true, "
        "norm_by=layer_norm, "
        "norm_epsilon=1e-12, activation=gelu_exact, gated=false, rope=adjacent_pairs, "
        "rope_base=500000, rope_width=4, score_scale=0.5, softcap=none, query_key_norm=none, "
        "empty_rows=zero_weights; stack.2: heads=2.0",
        "stack.*:norm_epsilon=0.000000000001;", "encoder.1 : norm_epsilon = 1E-12 ",
        "decoder: rope=split_halves, rope=none, rope_base=1e4, gated=true, norm_by=rms_norm, "
        "softcap=30, "
        "norm_epsilon=9.999999974752427e-07, activation=silu, norm_first=false, heads=4, heads=4",
        "decoder.cross_attention: rope=none; decoder.self_attention: rope=split_halves",
        "inner.*.attention: score_scale=0.33333333, head_dim=6, query_key_norm=layer_norm, "
        "norm_epsilon=1e-5",
        "two.attention: heads=4; two.self_attention: heads=8; two: heads=8, heads=4",
        "encoder.0.feed_forward: activation=\\u0067elu_exact"})
    BOOST_TEST(error_with(options) == "", options);
}

BOOST_AUTO_TEST_CASE(other_options_are_refused) {
  const auto line = [](const std::string& text) { return "umbel: load: " + text + "\n"; };
  BOOST_TEST(
      error_with("encoder.*: norm_epsilon=1e-5, heads=2") ==
      line("encoder.0: norm_epsilon is 1e-5 in the file but 1e-12 in the type, encoder_layer"));
  BOOST_TEST(error_with("encoder.1: heads=4, activation=gelu_tanh, norm_first=false") ==
             line("encoder.1: heads is 4 in the file but 2 in the type, encoder_layer") +
                 line("encoder.1: activation is gelu_tanh in the file but gelu_exact in the type, "
                      "encoder_layer") +
                 line("encoder.1: norm_first is false in the file but true in the type, "
                      "encoder_layer"));
  BOOST_TEST(error_with("stack.1: rope_base=10000, rope=split_halves") ==
             line("stack.1: rope_base is 10000 in the file but 500000 in the type, encoder_layer") +
                 line("stack.1: rope is split_halves in the file but adjacent_pairs in the type, "
                      "encoder_layer"));
  BOOST_TEST(error_with("decoder: gated=false, softcap=none, norm_epsilon=1.1e-6") ==
             line("decoder: gated is false in the file but true in the type, decoder_layer") +
                 line("decoder: softcap is none in the file but 30 in the type, decoder_layer") +
                 line("decoder: norm_epsilon is 1.1e-6 in the file but 1e-6 in the type, "
                      "decoder_layer"));
  BOOST_TEST(error_with("inner.0.attention: score_scale=0.25, norm_epsilon=2e-5") ==
             line("inner.0.attention: score_scale is 0.25 in the file but 3.33333e-1 in the type, "
                  "multi_head_attention") +
                 line("inner.0.attention: norm_epsilon is 2e-5 in the file but 1e-5 in the type, "
                      "multi_head_attention"));
  BOOST_TEST(error_with("two.attention: heads=8; two: heads=2") ==
             line("two.attention: heads is 8 in the file but 4 in the type, multi_head_attention") +
                 line("two: heads is 2 in the file but 4 in the type, residual_block"));
}

BOOST_AUTO_TEST_CASE(unknown_options_and_layers_are_refused) {
  BOOST_TEST(error_with("encoder.*: colour=red, norm_epsilon=1e-12") ==
             "umbel: load: encoder.0: colour is in the options of the file but is no option of "
             "encoder_layer\n");
  BOOST_TEST(error_with("head: heads=2").find("no option of linear") != std::string::npos);
  for (const char* path : {"encoder", "encoder.2", "encoder.00", "stack", "*", "*.*.*.*.*.*",
                           "inner", "inner.0.scale", "decoder.norm1", "Encoder.0"})
    BOOST_TEST(error_with(path + std::string(": heads=2, head_dim=4; encoder.0: heads=2")) ==
                   std::string("umbel: load: the file has options of ") + path +
                       ", but no layer in part_layers has that name\n",
               path);
  without_layers one;
  BOOST_TEST(error_of(one, saved(one, "head: heads=2"), names::umbel) ==
             "umbel: load: the file has options of head, but the weights name no layers; add using "
             "part_layers = std::tuple<...> to their struct, with the layer of each member\n");
  BOOST_TEST(error_of(one, saved(one, ""), names::umbel) == "");
}

// Numbers that are none, overflow or underflow are values that differ.
BOOST_AUTO_TEST_CASE(odd_numbers_differ) {
  for (const char* value : {"nan", "inf", "-2", "+2", "0x2", "2 2", "2.0.0", ".", "1e", "2e+",
                            "1e-", "2e0x", "1e999999999999999999999", "1e-999999999999999999",
                            "two", "2e1", "0", "18446744073709551618", "1/2"})
    BOOST_TEST(error_with(std::string("encoder.0: heads=") + value)
                       .find("umbel: load: encoder.0: heads is ") == 0,
               value);
  for (const char* value : {"2.", "02", "0.2e1", "2000e-3", "2e0", "2e+0"})
    BOOST_TEST(error_with(std::string("encoder.0: heads=") + value) == "", value);
}

BOOST_AUTO_TEST_CASE(malformed_options_are_refused) {
  const auto is_malformed = [](const std::string& options, const std::string& what) {
    const std::string error = error_with(options);
    BOOST_TEST(error.find("umbel: load: the options of the file are malformed at character " +
                          what) != std::string::npos,
               options << ": " << error);
  };
  const std::string path = "a path and a colon expected",
                    option = "the name of an option and = expected",
                    value = "the value of an option expected", longer = "a shorter word expected",
                    printable = "a printable character expected";
  is_malformed("encoder.0", "10: " + path);
  is_malformed(":", "1: " + path);
  is_malformed(";", "1: " + path);
  is_malformed("encoder.0=heads", "10: " + path);
  is_malformed("encoder.0:", "11: " + option);
  is_malformed("encoder.0: heads", "17: " + option);
  is_malformed("encoder.0: =2", "12: " + option);
  is_malformed("encoder.0: heads=", "18: " + value);
  is_malformed("encoder.0: heads=2=3", "19: " + value);
  is_malformed("encoder.0: heads=2:3", "19: " + value);
  is_malformed("encoder.0: heads=2,", "20: " + option);
  is_malformed("encoder.0: heads=2;;", "20: " + path);
  is_malformed(std::string(256, 'x') + ": heads=2", "256: " + longer);
  is_malformed("encoder.0: heads=" + std::string(300, '2'), "273: " + longer);
  is_malformed("encoder.0: " + std::string(300, ' ') + "h=", "314: " + value);
  is_malformed("encoder.0: heads=2\\u0000", "19: " + printable);
  is_malformed("encoder.0: heads=2\\n", "19: " + printable);
  is_malformed("encoder.0\\u0000x: heads=2", "10: " + printable);
  is_malformed("\\u001b[2J: heads=2", "1: " + printable);
  BOOST_TEST(error_with(std::string(262145, ' ')) ==
             "umbel: load: the options of the file have more than 262144 characters\n");
  BOOST_TEST(error_with(std::string(262144, ' ')) == "");
}

// The longest text, and what controls a terminal.
BOOST_AUTO_TEST_CASE(lines_are_bounded_and_clean) {
  std::string many = "encoder.0: a=1";
  while (many.size() < 65500) many += ",a=1";
  const std::string error = error_with(many);
  BOOST_TEST(error.size() < 4600u);
  BOOST_TEST(error.find(" more\n") != std::string::npos);
  const std::string clean =
      error_with("\\u001b[2J: heads=2; encoder.0: \\u001b[2J=1, heads=\\u001b[2J");
  BOOST_TEST(clean.find('\x1b') == std::string::npos);
}

// save writes the options of each layer and part that has some; a type with others is refused.
BOOST_AUTO_TEST_CASE(saved_options_are_compared) {
  const std::vector<char> file = saved(w);
  BOOST_TEST(error_of(other_w, file, names::umbel) == "");
  const std::string text = opened_metadata(file);
  BOOST_TEST(!!verify_checksum(tensor_file::in_memory(file).value()));
  const std::string attention =
      "heads=2, kv_heads=1, head_dim=4, value_dim=4, score_scale=5e-1, empty_rows=zero_weights, "
      "softcap=none, rope=adjacent_pairs, rope_base=500000, rope_width=4, query_key_norm=none";
  const std::string of_block = ": norm_first=true, norm_by=layer_norm, norm_epsilon=1e-12; ";
  const std::string of_network = ".feed_forward: activation=gelu_exact, gated=false; ";
  const std::string begin = "encoder.*" + of_block + "encoder.*.attention: " + attention +
                            "; encoder.*" + of_network + "stack.*" + of_block +
                            "stack.*.attention: " + attention + "; stack.*" + of_network;
  BOOST_TEST(text.substr(0, begin.size()) == begin);
  for (const char* part : {"decoder: norm_first=false, norm_by=rms_norm, norm_epsilon=1e-6; ",
                           "; decoder.cross_attention: heads=4, ", "; inner.*.attention: heads=2, ",
                           "score_scale=3.33333e-1", "; two.self_attention: heads=8, "})
    BOOST_TEST(text.find(part) != std::string::npos, part << " in " << text);

  using type = encoder_layer<float, hidden<8>, heads<2>, intermediate<12>, norm_first<false>,
                             activation<relu>, bias<true>, kv_heads<1>>;
  struct of_stack {
    static std::string error(const std::vector<char>& from) {
      static stack_of<type> other;
      return error_of(other, from, names::umbel);
    }
  };
  static stack_of<block> trained;
  BOOST_TEST(of_stack::error(saved(trained)) ==
             "umbel: load: layers.0: norm_first is true in the file but false in the type, "
             "encoder_layer\n"
             "umbel: load: layers.0: norm_epsilon is 1e-12 in the file but 1e-5 in the type, "
             "encoder_layer\n"
             "umbel: load: layers.0.attention: rope is adjacent_pairs in the file but none in the "
             "type, multi_head_attention\n"
             "umbel: load: layers.0.attention: rope_base is 500000 in the file but none in the "
             "type, multi_head_attention\n"
             "umbel: load: layers.0.attention: rope_width is 4 in the file but none in the type, "
             "multi_head_attention\n"
             "umbel: load: layers.0.feed_forward: activation is gelu_exact in the file but relu in "
             "the type, feed_forward\n");
  // An activation without a name that can be written.
  struct own_weights {
    static std::string options() {
      static stack_of<own_block> w;
      const std::vector<char> file = saved(w);
      BOOST_TEST(error_of(w, file, names::umbel) == "");
      return opened_metadata(file);
    }
  };
  BOOST_TEST(own_weights::options().find("feed_forward: gated=false") != std::string::npos,
             own_weights::options());

  without_layers none;
  BOOST_TEST(opened_metadata(saved(none)) == "");
  oddly_named odd;
  BOOST_TEST(opened_metadata(saved(odd)) == "");
  BOOST_TEST(error_of(odd, saved(odd), names::umbel) == "");
}

// By the names of the file, * for a number; of no other layer.
BOOST_AUTO_TEST_CASE(paths_are_those_of_the_file) {
  static layer_stack<block, 3>::weights one;  // 0.attention.q.weight ...
  static stack_of<block> of_stack;
  const auto error_as = [&](const char* options) {
    return error_of(of_stack, saved(one, options), at("layers.*", "*", names::umbel));
  };
  BOOST_TEST(error_as("*: heads=2; 2: norm_first=true; 0.attention: kv_heads=1") == "");
  BOOST_TEST(error_as("*: heads=4") ==
             "umbel: load: layers.0: heads is 4 in the file but 2 in the type, encoder_layer\n");
  BOOST_TEST(error_as("2: heads=4") ==
             "umbel: load: layers.2: heads is 4 in the file but 2 in the type, encoder_layer\n");
  BOOST_TEST(error_as("layers.0: heads=2") ==
             "umbel: load: the file has options of layers.0, but no layer in part_layers has that "
             "name\n");
}

BOOST_AUTO_TEST_SUITE_END()
