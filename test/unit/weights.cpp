// SPDX-License-Identifier: BSL-1.0
// Parameters by name: listed, saved, loaded all or none; memory that says its order.
#include <boost/test/unit_test.hpp>

#include <umbel/files.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<6>, heads<2>, bias<true>>;
template <std::size_t N>
struct reading : axis<reading, N> {};
using layer = encoder_layer<float, hidden<6>, heads<2>, intermediate<10>, norm_first<true>,
                            activation<relu>, bias<true>>;
using classify = linear<float, hidden<6>, classes<3>>;

struct model_weights {
  static constexpr const char* part_names[] = {"positions", "encoder", "norms", "head"};
  tensor<float, token<5>, hidden<6>> positions;
  layer::weights encoder[2];
  std::array<layer_norm<float, hidden<6>>::weights, 1> norms;
  classify::weights head;
};

template <std::size_t Classes>
struct model_template {
  static constexpr const char* part_names[] = {"head"};
  typename linear<float, hidden<6>, classes<Classes>>::weights head;
};

template <class Weights>
void fill(Weights& w, float from) {
  for_each_parameter(w, [&](const parameter_path&, const auto& x) {
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = from += 0.25F;
  });
}

template <class Weights>
std::vector<std::string> paths_of(Weights& w) {
  std::vector<std::string> paths;
  for_each_parameter(
      w, [&](const parameter_path& path, const auto&) { paths.emplace_back(path.c_str()); });
  return paths;
}

class bytes {
 public:
  void operator()(const char* from, std::size_t count) {
    memory_.insert(memory_.end(), from, from + count);
  }
  const char* data() const { return memory_.data(); }
  std::size_t size() const { return memory_.size(); }

 private:
  std::vector<char> memory_;
};

// What write_safetensors makes of what f puts.
template <class F>
bytes file_of(F f) {
  bytes file;
  BOOST_TEST(write_safetensors(file, f).error() == "");
  return file;
}

template <class Weights, class... Names>
std::string error_of(Weights& w, const bytes& memory, const Names&... names) {
  const auto file = tensor_file::in_memory(memory);
  BOOST_REQUIRE_MESSAGE(file, file.error());
  const load_result loaded = load(w, *file, names...);
  BOOST_TEST(static_cast<bool>(loaded) == (loaded.problems() == 0));
  return loaded.error();
}

// The matrix m as nn.Linear has it.
template <class M>
auto as_torch_has_it(const M& m) {
  constexpr std::size_t in = M::map::in::size, out = M::map::out::size;
  return tensor<float, axes::out_features<out>, axes::in_features<in>>(
      view_as<axes::in_features<in>, axes::out_features<out>>(m.weight) |
      permute<axes::out_features, axes::in_features>);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unit_weights)

BOOST_AUTO_TEST_CASE(paths_are_what_the_members_are_called) {
  static model_weights w;
  const std::vector<std::string> paths = paths_of(w);
  BOOST_TEST(paths.size() == 1u + 2 * 16 + 2 + 1);
  BOOST_TEST(paths.front() == "positions");
  BOOST_TEST(paths[1] == "encoder.0.norm1.gamma");
  BOOST_TEST(paths[3] == "encoder.0.attention.q.weight");
  BOOST_TEST(paths[1 + 16 + 15] == "encoder.1.feed_forward.down.bias");
  BOOST_TEST(paths[33] == "norms.0.gamma");
  BOOST_TEST(paths.back() == "head.weight");
  const layer::weights_view borrowed = w.encoder[0];
  BOOST_TEST(paths_of(borrowed) == paths_of(w.encoder[0]));
  BOOST_TEST(count_parameters(w) * sizeof(float) == sizeof(w));
}

// Of what a layer has not, there is no parameter.
BOOST_AUTO_TEST_CASE(biases_of_some_projections) {
  using some = encoder_layer<float, hidden<6>, heads<2>, intermediate<10>, norm_first<true>,
                             activation<relu>, bias_on<'q', 'v'>, feed_forward_bias<false>,
                             norm_bias<false>>;
  static layer_stack<some, 2>::weights w, read;
  const std::vector<std::string> of_one = {"0.norm1.gamma",
                                           "0.attention.q.weight",
                                           "0.attention.q.bias",
                                           "0.attention.k.weight",
                                           "0.attention.v.weight",
                                           "0.attention.v.bias",
                                           "0.attention.o.weight",
                                           "0.norm2.gamma",
                                           "0.feed_forward.up.weight",
                                           "0.feed_forward.down.weight"};
  auto paths = paths_of(w);
  BOOST_TEST(paths.size() == 2 * of_one.size());
  paths.resize(of_one.size());
  BOOST_TEST(paths == of_one);
  BOOST_TEST(count_parameters(w) * sizeof(float) == sizeof(w));
  fill(w, -20);
  bytes file;
  save(file, w);
  BOOST_TEST(error_of(read, file, names::umbel) == "");
  BOOST_TEST(compare_parameters(w, read).largest == 0);
  static layer_stack<encoder_layer<float, hidden<6>, heads<2>, intermediate<10>, norm_first<true>,
                                   activation<relu>, bias_on<'q', 'k'>, feed_forward_bias<false>,
                                   norm_bias<false>>,
                     1>::weights other;
  bytes file_of_one;
  save(file_of_one, w[0]);
  BOOST_TEST(error_of(other, file_of_one, at("0", "", names::umbel)) ==
             "umbel: load: 0.attention.k.bias [out_features=6]: the file has no attention.k.bias\n"
             "umbel: load: attention.v.bias is in the file, but no parameter has that name\n");
}

// Axes: those of the map's two sides by their roles, also where the map is square.
static_assert([] {
  attention::weights w{};
  bool right = true;
  for_each_parameter(w, [&](const parameter_path& path, const auto& x) {
    using x_type = std::remove_cvref_t<decltype(x)>;
    if (path == "q.weight")
      right = right && std::is_same_v<x_type, view<float, in_features<6>, out_features<6>>>;
    if (path == "q.bias") right = right && std::is_same_v<x_type, view<float, out_features<6>>>;
    x.data()[0] = 1;
  });
  const attention::weights& constant = w;
  for_each_parameter(constant, [&](const parameter_path& path, const auto& x) {
    if (path == "o.weight")
      right =
          right &&
          std::is_same_v<decltype(x), const view<const float, in_features<6>, out_features<6>>&>;
  });
  return right && w.v.bias[0] == 1 && count_parameters(w) == 4 * (36 + 6);
}());

BOOST_AUTO_TEST_CASE(a_path_that_is_too_long_is_cut) {
  parameter_path path;
  for (int i = 0; i < 40; ++i) path = path / "part";
  BOOST_TEST(path.size() == parameter_path::most);
  BOOST_TEST(std::strlen(path.c_str()) == parameter_path::most);
}

// One bit that is another, wherever it is, or an end that is missing.
BOOST_AUTO_TEST_CASE(damage_is_refused) {
  using small = linear<float, hidden<3>, classes<2>, bias<true>>::weights;
  small w, other;
  fill(w, -2);
  bytes file;
  save(file, w);
  std::vector<char> all(file.data(), file.data() + file.size());
  const auto is_refused = [&](std::size_t size) {
    const auto read = tensor_file::in_memory(all.data(), size);
    return !read || !verify_checksum(*read) || !load(other, *read, names::umbel);
  };
  BOOST_TEST(!is_refused(all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    BOOST_TEST(is_refused(i), "cut off after byte " << i);
    for (unsigned bit = 0; bit < 8; ++bit) {
      all[i] = static_cast<char>(all[i] ^ 1 << bit);
      BOOST_TEST(is_refused(all.size()), "bit " << bit << " of byte " << i);
      all[i] = static_cast<char>(all[i] ^ 1 << bit);
    }
  }
  BOOST_TEST(!is_refused(all.size()));
}

BOOST_AUTO_TEST_CASE(what_is_saved_is_loaded) {
  static model_weights w, read;
  fill(w, -20);
  bytes file;
  save(file, w);
  BOOST_TEST(error_of(read, file, names::umbel) == "");
  BOOST_TEST(compare_parameters(w, read).largest == 0);
  read.encoder[1].attention.v.weight[7] += 0.5F;
  BOOST_TEST(compare_parameters(w, read).largest == 0.5);
  BOOST_TEST(compare_parameters(w, read).path.c_str() == "encoder.1.attention.v.weight");
  w.head.weight[0] = std::numeric_limits<float>::quiet_NaN();
  BOOST_TEST(std::isinf(compare_parameters(w, read).largest));
}

// A whole stack: "0.attention.q.weight" ..., under whatever prefix.
BOOST_AUTO_TEST_CASE(stacks_are_loaded_by_the_numbers_of_their_layers) {
  using layer = encoder_layer<float, hidden<6>, heads<2>, intermediate<4>, norm_first<true>,
                              activation<relu>, bias<true>>;
  static layer_stack<layer, 3>::weights w, read;
  fill(w, -20);
  bytes file;
  save(file, w);
  BOOST_TEST(error_of(read, file, names::umbel) == "");
  BOOST_TEST(compare_parameters(w, read).largest == 0);
  bytes of_model;
  BOOST_TEST(!!write_safetensors(of_model, [&](auto put) {
    for_each_parameter(w, [&](const parameter_path& path, const auto& x) {
      put((std::string("model.layers.") + path.c_str()).c_str(), x);
    });
  }));
  read[2] = {};
  BOOST_TEST(error_of(read, of_model, at("*", "model.layers.*", names::umbel)) == "");
  BOOST_TEST(compare_parameters(w, read).largest == 0);
}

// Of every element type that files have.
BOOST_AUTO_TEST_CASE(differences_of_16_bits_and_integers) {
  tensor<bfloat16, token<3>> a{}, b{};
  BOOST_TEST(compare_parameters(a, b).largest == 0);
  b(2) = bfloat16(-3.0F);
  BOOST_TEST(compare_parameters(a, b).largest == 3);
  tensor<float16, token<3>> c{}, d{};
  c(0) = float16(0.5F);
  BOOST_TEST(compare_parameters(c, d).largest == 0.5);
  const tensor<std::int32_t, token<2>> e{1, 2}, f{1, -5};
  BOOST_TEST(compare_parameters(e, f).largest == 7);
}

BOOST_AUTO_TEST_CASE(a_struct_template) {
  const model_template<2> w{};
  BOOST_TEST(count_parameters(w) == 12u);
}

// Nothing of it is written to: weights may be a temporary.
BOOST_AUTO_TEST_CASE(parameters_of_a_temporary) {
  std::size_t numbers = 0;
  for_each_parameter(classify::weights{},
                     [&](const parameter_path&, const auto& x) { numbers += x.size(); });
  BOOST_TEST(numbers == 18u);
}

BOOST_AUTO_TEST_CASE(a_table_of_parameters) {
  classify::weights w{};
  bytes table;
  write_parameter_table(table, w);
  BOOST_TEST(std::string(table.data(), table.size()) ==
             "weight  [in_features=6, out_features=3]                         18\n"
             "1 parameters                                                    18\n");
}

// nn.MultiheadAttention keeps q, k and v in one matrix, each (out, in).
BOOST_AUTO_TEST_CASE(parts_of_a_packed_projection) {
  static attention::weights w, read;
  fill(w, 1);
  tensor<float, out_features<18>, in_features<6>> packed;
  tensor<float, out_features<18>> packed_bias;
  for (std::size_t o = 0; o < 18; ++o) {
    const auto& part = o < 6 ? w.q : o < 12 ? w.k : w.v;
    for (std::size_t i = 0; i < 6; ++i) packed(o, i) = part.weight[i * 6 + o % 6];
    packed_bias(o) = part.bias[o % 6];
  }
  const bytes file = file_of([&](auto put) {
    put("self.in_proj_weight", packed);
    put("self.in_proj_bias", packed_bias);
    put("self.out_proj.weight", as_torch_has_it(w.o));
    put("self.out_proj.bias", view_as<out_features<6>>(w.o.bias));
  });
  BOOST_TEST(error_of(read, file, at("", "self", names::torch_attention)) == "");
  BOOST_TEST(compare_parameters(w, read).largest == 0);
}

// GPT-2's: (in, out), three side by side.
BOOST_AUTO_TEST_CASE(parts_that_are_columns) {
  static attention::weights w, read;
  fill(w, 1);
  tensor<float, in_features<6>, out_features<18>> packed;
  tensor<float, out_features<18>> packed_bias;
  for (std::size_t o = 0; o < 18; ++o) {
    const auto& part = o < 6 ? w.q : o < 12 ? w.k : w.v;
    for (std::size_t i = 0; i < 6; ++i) packed(i, o) = part.weight[i * 6 + o % 6];
    packed_bias(o) = part.bias[o % 6];
  }
  constexpr parameter_name rows[] = {
      {"q.weight", "c.w", in_out.part_of(0, 3)},
      {"q.bias", "c.b", as_they_are.part_of(0, 3)},
      {"k.weight", "c.w", in_out.part_of(1, 3)},
      {"k.bias", "c.b", as_they_are.part_of(1, 3)},
      {"v.weight", "c.w", in_out.part_of(2, 3)},
      {"v.bias", "c.b", as_they_are.part_of(2, 3)},
      {"o.weight", "o.w", in_out},
      {"o.bias", "o.b"},
      {nullptr, "mask"},
  };
  const bytes file = file_of([&](auto put) {
    put("mask", packed_bias);
    put("c.w", packed);
    put("c.b", packed_bias);
    put("o.w", view_as<in_features<6>, out_features<6>>(w.o.weight));
    put("o.b", view_as<out_features<6>>(w.o.bias));
  });
  BOOST_TEST(error_of(read, file, rows) == "");
  BOOST_TEST(compare_parameters(w, read).largest == 0);
}

// Keras's: heads are an axis of their own; and axes of size 1 do not count.
BOOST_AUTO_TEST_CASE(heads_that_are_axes) {
  static attention::weights w, read;
  fill(w, 1);
  const auto write = [&](auto put, auto of_heads) {
    constexpr auto H = decltype(of_heads)::value;
    const auto kernel = [](const float* m) {
      return view_as<in_features<6>, heads<H>, head_dim<6 / H>>(m);
    };
    const auto bias = [](const float* b) {
      return view_as<batch<1>, heads<H>, head_dim<6 / H>>(b);
    };
    put("query/kernel", kernel(w.q.weight));
    put("query/bias", bias(w.q.bias));
    put("key/kernel", kernel(w.k.weight));
    put("key/bias", bias(w.k.bias));
    put("value/kernel", kernel(w.v.weight));
    put("value/bias", bias(w.v.bias));
    put("attention_output/kernel", view_as<heads<H>, head_dim<6 / H>, out_features<6>>(w.o.weight));
    put("attention_output/bias", view_as<out_features<6>>(w.o.bias));
  };
  const bytes file =
      file_of([&](auto put) { write(put, std::integral_constant<std::size_t, 2>{}); });
  BOOST_TEST(error_of(read, file, names::keras_attention<2>) == "");
  BOOST_TEST(compare_parameters(w, read).largest == 0);
  // Of another number of heads the numbers are as many, and mean something else.
  const bytes other =
      file_of([&](auto put) { write(put, std::integral_constant<std::size_t, 3>{}); });
  const std::string error = error_of(read, other, names::keras_attention<2>);
  BOOST_TEST(error.find("q.weight [in_features=6, out_features=6]: query/kernel has [6, 3, 2] in "
                        "the file but must "
                        "have [6, 2, 3]") != std::string::npos,
             error);
}

// All that is wrong is said at once, and nothing is loaded.
BOOST_AUTO_TEST_CASE(nothing_is_loaded_unless_all_fits) {
  using up = feed_forward<float, hidden<6>, intermediate<10>, activation<relu>, bias<true>>;
  static up::weights w;
  fill(w, 1);
  static const up::weights before = w;
  const tensor<float, in_features<6>, out_features<10>> not_transposed{};
  const tensor<float, out_features<6>, in_features<9>> too_narrow{};
  const tensor<int, out_features<10>> integers{};
  const bytes file = file_of([&](auto put) {
    put("linear1.weight", not_transposed);
    put("linear1.bias", integers);
    put("linear2.weight", too_narrow);
    put("bias_k\n\x1b[2J", not_transposed);
  });
  constexpr parameter_name rows[] = {{"up.weight", "linear1.weight", out_in},
                                     {"up.bias", "linear1.bias"},
                                     {"down.weight", "linear2.weight", out_in},
                                     {"down.bias", "linear2.bias"}};
  BOOST_TEST(
      error_of(w, file, rows) ==
      "umbel: load: up.weight [in_features=6, out_features=10]: linear1.weight has [6, 10] in the "
      "file but must have [10, 6]; it is transposed, write in_out in the names, not out_in\numbel: "
      "load: up.bias [out_features=10]: linear1.bias has the element type I32, not floating-point "
      "numbers\numbel: "
      "load: down.weight [in_features=10, out_features=6]: linear2.weight has [6, 9] in the file "
      "but must have [6, 10]\numbel: load: down.bias [out_features=6]: the file has no "
      "linear2.bias\numbel: load: bias_k??[2J is in the file, but no parameter has that name\n");
  BOOST_TEST(compare_parameters(w, before).largest == 0);
}

// Integers of 8 bits and a scale for each output, as files of quantised models have them.
BOOST_AUTO_TEST_CASE(weights_of_8_bits_with_scales) {
  const tensor<std::int8_t, out_features<3>, in_features<6>> steps{
      1, -2, 127, 4, 5, 6, -127, 8, 9, 10, 11, 12, 0, -128, 3, 4, 5, 6};
  const tensor<float, out_features<3>> scales{0.5F, 0.25F, 0};
  static classify::weights w;
  const bytes file = file_of([&](auto put) {
    put("head.weight", steps);
    put("head.weight_scale", scales);
  });
  BOOST_TEST(error_of(w, file, at("", "head", names::torch_linear)) == "");
  for (std::size_t o = 0; o < 3; ++o)
    for (std::size_t i = 0; i < 6; ++i)
      BOOST_TEST(w.weight[i * 3 + o] == static_cast<float>(steps(o, i)) * scales(o));

  // Parts of one matrix, with a column of scales; biases are floats.
  umbel_test::lcg next;
  const auto x = umbel_test::drawn<tensor<float, token<4>, hidden<6>>>(next);
  tensor<std::int8_t, out_features<18>, in_features<6>> all;
  tensor<float, out_features<18>, reading<1>> of_all;
  for (std::size_t i = 0; i < all.size(); ++i)
    all.data()[i] = i % 6 == 0 ? std::int8_t{127} : static_cast<std::int8_t>(i * 37 % 255 - 127);
  for (std::size_t i = 0; i < 18; ++i) of_all(i, 0) = 0x1p-9F * static_cast<float>(i + 1);
  const tensor<float, out_features<18>> biases{};
  const tensor<float, out_features<6>, in_features<6>> o{};
  const tensor<float, out_features<6>> o_bias{};
  const bytes packed = file_of([&](auto put) {
    put("in_proj_weight", all);
    put("in_proj_weight_scale", of_all);
    put("in_proj_bias", biases);
    put("out_proj.weight", o);
    put("out_proj.bias", o_bias);
  });
  static attention::weights a;
  BOOST_TEST(error_of(a, packed, names::torch_attention) == "");
  for (std::size_t i = 0; i < 6; ++i)
    BOOST_TEST(a.k.weight[i * 6 + 2] == static_cast<float>(all(8, i)) * of_all(8, 0));
  // Packed to 8 bits they are what they were: nothing is rounded twice.
  const prepacked<attention, stored_as<std::int8_t>> again{a};
  BOOST_TEST((again(x) == attention{a}(x)));
}

BOOST_AUTO_TEST_CASE(weights_of_8_bits_that_are_refused) {
  static classify::weights w;
  fill(w, 1);
  static const classify::weights before = w;
  const tensor<std::int8_t, out_features<3>, in_features<6>> steps{};
  const auto with = [&](const auto& scales) {
    const std::string error = error_of(w, file_of([&](auto put) {
                                         put("weight", steps);
                                         put("weight_scale", scales);
                                       }),
                                       names::torch_linear);
    BOOST_TEST(compare_parameters(w, before).largest == 0);
    return error;
  };
  const std::string begin = "umbel: load: weight [in_features=6, out_features=3]: ";
  const std::string each =
      begin + "weight_scale must hold a floating-point number for each output\n";
  BOOST_TEST(with(tensor<float, out_features<4>>{}) == each);
  BOOST_TEST(with(tensor<float, out_features<3>, in_features<6>>{}) == each);
  BOOST_TEST(with(tensor<int, out_features<3>>{}) == each);
  const std::string value = begin + "weight_scale has a scale that is negative or not finite\n";
  BOOST_TEST(with(tensor<float, out_features<3>>{1, 1, -1}) == value);
  BOOST_TEST(with(tensor<float, out_features<3>>{NAN, 1, 1}) == value);
  BOOST_TEST(with(tensor<float, out_features<3>>{1, INFINITY, 1}) == value);
  BOOST_TEST(error_of(w, file_of([&](auto put) { put("weight", steps); }), names::torch_linear) ==
             begin + "weight holds integers of 8 bits, and the file has no weight_scale\n");
  // Scales of floats belong to nothing.
  const tensor<float, out_features<3>, in_features<6>> floats{};
  BOOST_TEST(error_of(w, file_of([&](auto put) {
                        put("weight", floats);
                        put("weight_scale", tensor<float, out_features<3>>{});
                      }),
                      names::torch_linear) ==
             "umbel: load: weight_scale is in the file, but no parameter has that name\n");
}

BOOST_AUTO_TEST_CASE(elements_of_8_bits) {
  static linear<float, hidden<2>, classes<2>, bias<false>>::weights w;
  const std::string header = R"({"weight":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]}})";
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  text += header + std::string(4, '\0');
  bytes file;
  file(text.data(), text.size());
  constexpr parameter_name rows[] = {{"weight", "weight", out_in}};
  BOOST_TEST(
      error_of(w, file, rows) ==
      "umbel: load: weight [in_features=2, out_features=2]: weight has the element type F8_E4M3, "
      "which is not supported; convert it to float32 or float16\n");
}

struct with_integers {
  static constexpr const char* part_names[] = {"before", "ids", "after"};
  tensor<float, token<2>> before;
  tensor<std::int32_t, token<6>> ids;
  tensor<float, token<2>> after;
};
constexpr parameter_name rows_with_integers[] = {
    {"before", "before"}, {"ids", "ids"}, {"after", "after"}};

// An integer that does not fit is found before anything is read, also in a part of a tensor.
BOOST_AUTO_TEST_CASE(integers_that_do_not_fit) {
  static with_integers w, before;
  w.before = {1, 2};
  w.ids = {1, 2, 3, 4, 5, 6};
  w.after = {3, 4};
  before = w;
  const tensor<float, token<2>> other{8, 9};
  const auto with = [&](const auto& ids) {
    const bytes file = file_of([&](auto put) {
      put("before", other);
      put("ids", ids);
      put("after", other);
    });
    return error_of(w, file, rows_with_integers);
  };
  BOOST_TEST(with(tensor<std::int64_t, token<6>>{0, 0, 0, 0, 0, std::int64_t{1} << 31}) ==
             "umbel: load: ids [token=6]: umbel: read: ids holds an integer that does not fit the "
             "requested type\n");
  BOOST_TEST(compare_parameters(w, before).largest == 0);
  BOOST_TEST(with(tensor<std::int64_t, token<6>>{0, 0, 0, 0, 0, (std::int64_t{1} << 31) - 1}) ==
             "");
  BOOST_TEST(w.ids(5) == INT32_MAX);
  BOOST_TEST(w.after(1) == 9.0F);

  // Of a tensor that is read in parts, those of another part do not matter.
  static tensor<std::int32_t, in_features<2>, out_features<2>> part;
  const auto large = std::int64_t{1} << 40;
  const auto read = [&](const tensor<std::int64_t, in_features<2>, out_features<4>>& both) {
    const parameter_name first[] = {{"**", "both", in_out.part_of(0, 2)}};
    part = {5, 5, 5, 5};
    return error_of(part, file_of([&](auto put) { put("both", both); }), first);
  };
  const std::string other_part =
      "umbel: load: part_of(1, 2) of both is not used by any parameter\n";
  BOOST_TEST(read({1, 2, large, 0, 3, 4, 0, large}) == other_part);
  const std::string error = read({1, 2, 0, 0, 3, large, 0, 0});
  BOOST_TEST(error.find("both holds an integer that does not fit") != std::string::npos, error);
  BOOST_TEST(part(0, 0) == 5);
}

BOOST_AUTO_TEST_CASE(names_that_are_not_told_or_say_no_order) {
  classify::weights w{};
  const bytes file =
      file_of([&](auto put) { put("weight", view_as<in_features<6>, out_features<3>>(w.weight)); });
  constexpr parameter_name no_order[] = {{"weight", "weight"}};
  BOOST_TEST(error_of(w, file, no_order) ==
             "umbel: load: weight [in_features=6, out_features=3]: its row of the names must "
             "specify the order in the file, in_out or out_in\n");
  constexpr parameter_name of_others[] = {{"bias", "bias"}};
  BOOST_TEST(
      error_of(w, file, of_others) ==
      "umbel: load: weight [in_features=6, out_features=3]: none of the names gives its name in "
      "the file\numbel: load: weight is in the file, but no parameter has that name\n");
}

// Nothing of a file is left out silently: not another tensor for the same parameter, not a part.
BOOST_AUTO_TEST_CASE(what_is_not_needed_is_named) {
  classify::weights w{};
  const bytes twice = file_of([&](auto put) {
    put("weight", view_as<in_features<6>, out_features<3>>(w.weight));
    put("other", view_as<in_features<6>, out_features<3>>(w.weight));
  });
  constexpr parameter_name two_rows[] = {{"weight", "weight", in_out}, {"weight", "other", in_out}};
  BOOST_TEST(error_of(w, twice, two_rows) ==
             "umbel: load: other is in the file, but weight reads weight\n");
  constexpr parameter_name left_out[] = {{nullptr, "other"}};
  BOOST_TEST(error_of(w, twice, two_rows, left_out) == "");

  using up = feed_forward<float, hidden<6>, intermediate<6>, activation<relu>, bias<false>>;
  static up::weights maps;
  static const tensor<float, in_features<6>, out_features<18>> packed{};
  const bytes parts = file_of([&](auto put) { put("packed", packed); });
  constexpr parameter_name one_part_twice[] = {{"up.weight", "packed", in_out.part_of(0, 3)},
                                               {"down.weight", "packed", in_out.part_of(0, 3)}};
  BOOST_TEST(error_of(maps, parts, one_part_twice) ==
             "umbel: load: part_of(1, 3) of packed is not used by any parameter\n");
}

// One table at two places: its rows are the same, what they name is not.
BOOST_AUTO_TEST_CASE(a_table_at_two_places) {
  static linear<float, hidden<6>, classes<3>, bias<true>>::weights w;
  const bytes file = file_of([&](auto put) {
    for (const std::string name : {"fc", "classifier"}) {
      put((name + ".weight").c_str(), as_torch_has_it(w));
      put((name + ".bias").c_str(), view_as<classes<3>>(w.bias));
    }
  });
  BOOST_TEST(error_of(w, file, at("", "fc", names::torch_linear),
                      at("", "classifier", names::torch_linear)) ==
             "umbel: load: classifier.weight is in the file, but weight reads fc.weight\n"
             "umbel: load: classifier.bias is in the file, but bias reads fc.bias\n");

  static classify::weights layers[2];
  const bytes numbered = file_of([&](auto put) {
    put("layers.0.weight", as_torch_has_it(layers[0]));
    put("layers.1.weight", as_torch_has_it(layers[0]));
  });
  BOOST_TEST(error_of(layers, numbered, at("0", "layers.1", names::torch_linear),
                      at("*", "layers.*", names::torch_linear)) ==
             "umbel: load: layers.0.weight is in the file, but 0.weight reads layers.1.weight\n");
  BOOST_TEST(error_of(layers, numbered, at("0", "layers.1", names::torch_linear),
                      at("1", "layers.0", names::torch_linear)) == "");
}

// "layers" for "layers.*".
BOOST_AUTO_TEST_CASE(a_star_that_was_forgotten) {
  static model_weights w;
  const bytes file = file_of([](auto) {});
  const std::string error = error_of(w, file, at("encoder", "layers", names::torch_encoder_layer));
  BOOST_TEST(error.find("encoder.0.norm1.gamma [hidden=6]: none of the names gives its name in the "
                        "file; write at(\"encoder.*\", ...), where * is the number of a layer\n") !=
             std::string::npos);
  BOOST_TEST(
      error.find("positions [token=5, hidden=6]: none of the names gives its name in the file\n") !=
      std::string::npos);
}

// Null pointers that only the running program knows; literals do not compile (test/reject).
BOOST_AUTO_TEST_CASE(a_prefix_that_is_missing_or_too_much) {
  using map = linear<float, hidden<3>, classes<2>, bias<true>>::weights;
  static map w, read;
  fill(w, 3);
  const bytes with = file_of([&](auto put) {
    put("model.classifier.weight", view_as<hidden<3>, classes<2>>(w.weight));
    put("model.classifier.bias", view_as<classes<2>>(w.bias));
  });
  bytes without;
  save(without, w);
  BOOST_TEST(error_of(read, with, names::umbel) ==
             "umbel: load: the file has none of the parameters; its names begin with "
             "model.classifier, write at(\"\", \"model.classifier\", ...)\n");
  BOOST_TEST(error_of(read, with, at("", "model.classifier", names::umbel)) == "");
  BOOST_TEST(error_of(read, without, at("", "model.classifier", names::umbel)) ==
             "umbel: load: the file has none of the parameters; its names do not begin with "
             "model.classifier, which the names add\n");
  BOOST_TEST(error_of(read, without, names::umbel) == "");
  // Not of all names: each tensor is listed.
  const bytes several = file_of([&](auto put) {
    put("model.up.weight", view_as<hidden<3>, classes<2>>(w.weight));
    put("model.down.weight", view_as<hidden<3>, classes<2>>(w.weight));
  });
  BOOST_TEST(error_of(read, several, names::umbel).find("model.down.weight is in the file") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(names_that_are_null) {
  classify::weights w{};
  const bytes file = file_of([&](auto put) { put("weight", as_torch_has_it(w)); });
  const char* none = nullptr;
  const parameter_name rows[] = {{"weight", "weight", out_in}, {"bias", none}, {none, none}};
  BOOST_TEST(error_of(w, file, rows) ==
             "umbel: load: the name in the file of row 1 of the names is a null pointer\n"
             "umbel: load: the name in the file of row 2 of the names is a null pointer\n");
  for (const parameter_names& table :
       {at("", none, names::torch_linear), at(none, "", names::torch_linear)})
    BOOST_TEST(error_of(w, file, table) ==
               "umbel: load: a path given to at(...) is a null pointer\n");
}

BOOST_AUTO_TEST_CASE(many_problems_are_counted) {
  static model_weights w;
  const bytes file = file_of([](auto) {});
  const auto opened = tensor_file::in_memory(file);
  BOOST_REQUIRE(opened);
  const load_result loaded =
      load(w, *opened,
           at("encoder.*", "a.very.long.name.of.a.layer.that.is.not.there.at.all.*",
              names::torch_encoder_layer));
  BOOST_TEST(loaded.problems() == 36u);
  const std::string error = loaded.error();
  BOOST_TEST(error.size() < 4700u);
  BOOST_TEST(error.find("\numbel: load: and ") != std::string::npos);
  BOOST_TEST(error.substr(error.size() - 6) == " more\n");
}

// Patterns: numbers stand for themselves.
BOOST_AUTO_TEST_CASE(patterns) {
  const auto match = [](const char* text, const char* prefix, const char* pattern) {
    detail::pattern_match found(text);
    return found.matches(prefix, pattern)
               ? std::string(detail::name_text(prefix, pattern, found.values).chars)
               : std::string("no");
  };
  BOOST_TEST(match("layers.12.norm", "layers.*", "norm") == "layers.12.norm");
  BOOST_TEST(match("a.1.b.22.c", "a.*", "b.*.c") == "a.1.b.22.c");
  BOOST_TEST(match("norm", "", "norm") == "norm");
  BOOST_TEST(match("block/layer_2/query/w", "block/layer_*/", "query/w") ==
             "block/layer_2/query/w");
  BOOST_TEST(match("block/.query/w", "block/", "query/w") == "no");
  BOOST_TEST(match("layers.x.norm", "layers.*", "norm") == "no");
  BOOST_TEST(match("layers.01.norm", "layers.*", "norm") == "no");
  BOOST_TEST(match("layers.1.norms", "layers.*", "norm") == "no");
  BOOST_TEST(match("layers.1", "layers.*", "norm") == "no");
  BOOST_TEST(match("layers.99999999999999999999.norm", "layers.*", "norm") == "no");
  BOOST_TEST(match("anything.at.0.all", "", "**") == "anything.at.0.all");
}

// Memory that says its order, in either.
BOOST_AUTO_TEST_CASE(packing_takes_either_order) {
  static attention::weights w;
  umbel_test::lcg next{5};
  for_each_parameter(w, [&](const parameter_path&, const auto& x) {
    for (auto& one : x) one = next();
  });
  const auto q = as_torch_has_it(w.q), k = as_torch_has_it(w.k), v = as_torch_has_it(w.v),
             o = as_torch_has_it(w.o);
  tensor<float, token<4>, hidden<6>> x;
  umbel_test::draw(next, x);
  const auto wanted = attention{w}(x);
  const prepacked<attention> by_view{{{q, w.q.bias}, {k, w.k.bias}, {v, w.v.bias}, {o, w.o.bias}}};
  BOOST_TEST((by_view(x) == wanted));
  const prepacked<attention> by_name{
      {{view_as<out_features, in_features>(q.data()), view_as<out_features>(w.q.bias)},
       {view_as<out_features, in_features>(k.data()), view_as<out_features>(&w.k.bias[0])},
       {view_as<in_features, out_features>(w.v.weight), w.v.bias},
       {o | permute<in_features, out_features>, w.o.bias}}};
  BOOST_TEST((by_name(x) == wanted));
  const attention::weights_view borrowed{
      {view_as<in_features, out_features>(w.q.weight), w.q.bias},
      {view_as<in_features, out_features>(w.k.weight), w.k.bias},
      {view_as<in_features<6>, out_features<6>>(w.v.weight), w.v.bias},
      w.o};
  BOOST_TEST((attention{borrowed}(x) == wanted));
}

// By the axes of the layer where they differ, and by the compiler.
BOOST_AUTO_TEST_CASE(order_by_the_names_of_the_layer) {
  static constexpr auto table = [] {
    std::array<float, 18> made{};
    for (std::size_t i = 0; i < 18; ++i) made[i] = static_cast<float>(i) - 7;
    return made;
  }();
  static constexpr prepacked<classify> packed{{view_as<classes, hidden>(table)}};
  tensor<float, token<2>, hidden<6>> x{};
  x(0, 2) = 1;
  x(1, 5) = 2;
  const auto y = packed(x);
  BOOST_TEST(y(0, 0) == -5.0F);
  BOOST_TEST(y(0, 2) == 7.0F);
  BOOST_TEST(y(1, 1) == 8.0F);
}

// A bias may say its axis: as memory for the layer, as a view or a tensor.
BOOST_AUTO_TEST_CASE(bias_by_name) {
  using map = linear<float, hidden<2>, classes<3>, bias<true>>;
  static constexpr map::weights w{{1, 2, 3, 4, 5, 6}, {7, 8, 9}};
  static constexpr tensor<float, classes<3>> owned{7, 8, 9};
  const tensor<float, hidden<2>> x{2, -1};
  const auto wanted = map{w}(x);
  const auto weight = view_as<in_features, out_features>(w.weight);
  BOOST_TEST((map{{weight, view_as<out_features>(w.bias)}}(x) == wanted));
  BOOST_TEST((map{{weight, view_as<classes>(&w.bias[0])}}(x) == wanted));
  BOOST_TEST((map{{weight, view_as<classes<3>>(w.bias)}}(x) == wanted));
  BOOST_TEST((map{{weight, owned}}(x) == wanted));
  static constexpr prepacked<map> packed{{view_as<in_features, out_features>(w.weight), owned}};
  BOOST_TEST((packed(x) == wanted));
}

BOOST_AUTO_TEST_SUITE_END()
