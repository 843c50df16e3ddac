// SPDX-License-Identifier: BSL-1.0
// Kernels of convolutions in the orders of PyTorch and Keras, as tensors and as linear maps of
// windows; batch norms, loaded and folded.
#include <boost/test/unit_test.hpp>

#include <umbel/files.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct channel : axis<channel, N> {};
template <std::size_t N>
struct kernel_row : axis<kernel_row, N> {};
template <std::size_t N>
struct kernel_column : axis<kernel_column, N> {};

template <class Kernel>
struct convolution {
  static constexpr const char* part_names[] = {"weight", "bias"};
  Kernel weight;
  tensor<float, channel<5>> bias;
};
using in_torch = convolution<tensor<float, channel<5>, hidden<4>, kernel_size<3>>>;
using in_keras = convolution<tensor<float, kernel_size<3>, hidden<4>, channel<5>>>;
using map = linear<float, in_features<3 * 4>, channel<5>, bias<true>>;
using image_in_torch =
    convolution<tensor<float, channel<5>, hidden<4>, kernel_row<2>, kernel_column<3>>>;
using image_in_keras =
    convolution<tensor<float, kernel_row<2>, kernel_column<3>, hidden<4>, channel<5>>>;
using image_map = linear<float, in_features<2 * 3 * 4>, channel<5>, bias<true>>;

// The tensors of w in a file, with the weight under a name.
template <class W>
std::vector<char> file_of(const W& w, const char* weight = "weight") {
  std::vector<char> bytes;
  const auto written = write_safetensors(
      [&](const char* from, std::size_t count) { bytes.insert(bytes.end(), from, from + count); },
      [&](auto put) {
        put(weight, w.weight);
        put("bias", w.bias);
      });
  BOOST_TEST(!!written);
  return bytes;
}
template <class W, class... Names>
std::string error_of(W& w, const std::vector<char>& bytes, const Names&... names) {
  const auto file = tensor_file::in_memory(bytes);
  BOOST_REQUIRE_MESSAGE(file, file.error());
  const auto loaded = load(w, *file, names...);
  return loaded ? "" : loaded.error();
}
template <class W>
W drawn(std::uint32_t seed) {
  umbel_test::lcg next{seed};
  W w;
  umbel_test::draw(next, w.weight, 2);
  umbel_test::draw(next, w.bias, 2);
  return w;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(weights_of_convolutions)

BOOST_AUTO_TEST_CASE(kernels_of_sequences) {
  const auto w = drawn<in_torch>(1);
  const auto file = file_of(w);
  in_torch as_they_stand;
  in_keras turned;
  map::weights rows;
  constexpr parameter_name same[] = {{"weight", "weight"}, {"bias", "bias"}};
  BOOST_TEST(error_of(as_they_stand, file, same) == "");
  BOOST_TEST(error_of(turned, file, names::torch_convolution<>) == "");
  BOOST_TEST(error_of(rows, file, names::torch_convolution<3>) == "");
  in_keras from_keras;
  map::weights rows_from_keras;
  const auto of_keras = file_of(turned, "kernel");
  BOOST_TEST(error_of(from_keras, of_keras, names::keras_convolution<>) == "");
  BOOST_TEST(error_of(rows_from_keras, of_keras, names::keras_convolution<3>) == "");
  for (std::size_t o = 0; o < 5; ++o) {
    BOOST_TEST(rows.bias[o] == w.bias(o));
    for (std::size_t c = 0; c < 4; ++c)
      for (std::size_t k = 0; k < 3; ++k) {
        const float number = w.weight(o, c, k);
        BOOST_TEST(as_they_stand.weight(o, c, k) == number);
        BOOST_TEST(turned.weight(k, c, o) == number);
        BOOST_TEST(from_keras.weight(k, c, o) == number);
        BOOST_TEST(rows(k * 4 + c, o) == number);
        BOOST_TEST(rows_from_keras(k * 4 + c, o) == number);
      }
  }
}

BOOST_AUTO_TEST_CASE(kernels_of_images) {
  const auto w = drawn<image_in_torch>(2);
  const auto file = file_of(w);
  image_in_keras turned, from_keras;
  image_map::weights rows, rows_from_keras;
  BOOST_TEST(error_of(turned, file, names::torch_convolution<>) == "");
  BOOST_TEST(error_of(rows, file, names::torch_convolution<2, 3>) == "");
  const auto of_keras = file_of(turned, "kernel");
  BOOST_TEST(error_of(from_keras, of_keras, names::keras_convolution<>) == "");
  BOOST_TEST(error_of(rows_from_keras, of_keras, names::keras_convolution<2, 3>) == "");
  for (std::size_t o = 0; o < 5; ++o)
    for (std::size_t c = 0; c < 4; ++c)
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          const float number = w.weight(o, c, i, j);
          BOOST_TEST(turned.weight(i, j, c, o) == number);
          BOOST_TEST(from_keras.weight(i, j, c, o) == number);
          BOOST_TEST(rows((i * 3 + j) * 4 + c, o) == number);
          BOOST_TEST(rows_from_keras((i * 3 + j) * 4 + c, o) == number);
        }
}

// nn.Conv1d(5, 5, 3, groups=5): (5, 1, 3); nn.Conv2d: (5, 1, 3, 3). A square kernel also fits as
// one of a sequence, whose rows are its columns.
BOOST_AUTO_TEST_CASE(depthwise_kernels) {
  const auto w = drawn<convolution<tensor<float, channel<5>, hidden<1>, kernel_size<3>>>>(3);
  convolution<tensor<float, kernel_size<3>, channel<5>>> turned, also_turned;
  BOOST_TEST(error_of(turned, file_of(w), names::torch_depthwise_convolution) == "");
  BOOST_TEST(error_of(also_turned, file_of(w), names::torch_convolution<>) == "");
  for (std::size_t c = 0; c < 5; ++c)
    for (std::size_t k = 0; k < 3; ++k) {
      BOOST_TEST(turned.weight(k, c) == w.weight(c, 0, k));
      BOOST_TEST(also_turned.weight(k, c) == w.weight(c, 0, k));
    }
  const auto image =
      drawn<convolution<tensor<float, channel<5>, hidden<1>, kernel_row<3>, kernel_column<3>>>>(8);
  convolution<tensor<float, kernel_row<3>, kernel_column<3>, channel<5>>> of_image;
  BOOST_TEST(error_of(of_image, file_of(image), names::torch_depthwise_convolution) == "");
  for (std::size_t c = 0; c < 5; ++c)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        BOOST_TEST(of_image.weight(i, j, c) == image.weight(c, 0, i, j));
  BOOST_TEST(error_of(of_image, file_of(image), names::torch_convolution<>) ==
             "umbel: load: weight [kernel_row=3, kernel_column=3, channel=5]: weight has "
             "[5, 1, 3, 3] in the file but must have [5, 3, 3]; for a depthwise convolution use "
             "names::torch_depthwise_convolution\n");
}

BOOST_AUTO_TEST_CASE(what_does_not_fit) {
  const auto file = file_of(drawn<in_torch>(4));
  map::weights rows{};
  BOOST_TEST(error_of(rows, file, names::torch_convolution<5>) ==
             "umbel: load: weight [in_features=12, out_features=5]: its row of the names splits an "
             "axis into parts that don't divide it\n");
  BOOST_TEST(error_of(rows, file, names::torch_convolution<4>) ==
             "umbel: load: weight [in_features=12, out_features=5]: weight has [5, 4, 3] in the "
             "file but must have [5, 3, 4]\n");
  in_keras turned{};
  constexpr parameter_name same[] = {{"weight", "weight"}, {"bias", "bias"}};
  BOOST_TEST(error_of(turned, file, same) ==
             "umbel: load: weight [kernel_size=3, hidden=4, channel=5]: weight has [5, 4, 3] in "
             "the file but must have [3, 4, 5]\n");
  constexpr parameter_name heads_of_seven[] = {{"weight", "weight", in_out.in_of(7)},
                                               {"bias", "bias"}};
  BOOST_TEST(error_of(rows, file, heads_of_seven) ==
             "umbel: load: weight [in_features=12, out_features=5]: its row of the names splits an "
             "axis into parts that don't divide it\n");
  for (const float x : turned.weight) BOOST_TEST(x == 0);
}

// A norm after a convolution is a convolution.
BOOST_AUTO_TEST_CASE(folded_norms) {
  struct model {
    in_keras tensors;
    map::weights rows;
  } w{drawn<in_keras>(5), {}};
  batch_norm<float, channel<5>> norm;
  umbel_test::lcg next{6};
  for (auto* part : {&norm.gamma, &norm.beta, &norm.mean, &norm.variance})
    umbel_test::draw(next, *part, 3);
  for (float& x : norm.variance) x *= x;
  norm.variance(4) = 0;
  norm.gamma(3) = 0;
  const in_keras before = w.tensors;
  for (std::size_t o = 0; o < 5; ++o) {
    w.rows.bias[o] = before.bias(o);
    for (std::size_t i = 0; i < 12; ++i) w.rows(i, o) = before.weight.data()[i * 5 + o];
  }
  fold_batch_norm(w.tensors, norm, 1e-3);
  fold_batch_norm(w.rows, norm, 1e-3F);
  for (std::size_t o = 0; o < 5; ++o) {
    const double factor = norm.gamma(o) / std::sqrt(static_cast<double>(norm.variance(o)) + 1e-3);
    const double shift =
        (static_cast<double>(before.bias(o)) - norm.mean(o)) * factor + norm.beta(o);
    BOOST_TEST(std::abs(w.tensors.bias(o) - shift) <= 1e-6 * std::abs(shift));
    BOOST_TEST(std::abs(w.rows.bias[o] - shift) <= 1e-6 * std::abs(shift));
    for (std::size_t i = 0; i < 12; ++i) {
      const double number = before.weight.data()[i * 5 + o] * factor;
      BOOST_TEST(std::abs(w.tensors.weight.data()[i * 5 + o] - number) <= 1e-6 * std::abs(number));
      BOOST_TEST(std::abs(w.rows(i, o) - number) <= 1e-6 * std::abs(number));
    }
  }
}

// Then the norm's beta is added.
BOOST_AUTO_TEST_CASE(folded_norms_without_a_bias) {
  const auto biased = drawn<in_keras>(9);
  struct {
    decltype(in_keras::weight) weight;
  } w{biased.weight};
  linear<float, in_features<12>, channel<5>>::weights rows;
  for (std::size_t i = 0; i < 60; ++i) rows.weight[i] = biased.weight.data()[i];
  in_keras with_bias{biased.weight, {}};
  batch_norm<float, channel<5>> norm, norm_of_rows;
  umbel_test::lcg next{10};
  for (auto* part : {&norm.gamma, &norm.beta, &norm.mean, &norm.variance})
    umbel_test::draw(next, *part, 3);
  for (float& x : norm.variance) x *= x;
  norm_of_rows = norm;
  const auto given = norm;
  fold_batch_norm(with_bias, given, 1e-5);
  fold_batch_norm(w, norm, 1e-5);
  fold_batch_norm(rows, norm_of_rows, 1e-5);
  for (std::size_t o = 0; o < 5; ++o) {
    BOOST_TEST(norm.beta(o) == with_bias.bias(o));
    BOOST_TEST(norm_of_rows.beta(o) == with_bias.bias(o));
  }
  for (std::size_t i = 0; i < 60; ++i) {
    BOOST_TEST(w.weight.data()[i] == with_bias.weight.data()[i]);
    BOOST_TEST(rows.weight[i] == with_bias.weight.data()[i]);
  }
}

BOOST_AUTO_TEST_CASE(norms_by_the_names_of_frameworks) {
  batch_norm<float, channel<5>> norm, read;
  umbel_test::lcg next{7};
  for (auto* part : {&norm.gamma, &norm.beta, &norm.mean, &norm.variance})
    umbel_test::draw(next, *part, 3);
  std::vector<char> of_torch, of_keras;
  const auto into = [](std::vector<char>& bytes) {
    return [&bytes](const char* from, std::size_t count) {
      bytes.insert(bytes.end(), from, from + count);
    };
  };
  BOOST_TEST(!!write_safetensors(into(of_torch), [&](auto put) {
    put("1.weight", norm.gamma);
    put("1.bias", norm.beta);
    put("1.running_mean", norm.mean);
    put("1.running_var", norm.variance);
    put("1.num_batches_tracked", tensor<std::int32_t>{7});
  }));
  BOOST_TEST(error_of(read, of_torch, at("", "1", names::torch_batch_norm)) == "");
  BOOST_TEST(compare_parameters(norm, read).largest == 0);
  read = {};
  BOOST_TEST(!!write_safetensors(into(of_keras), [&](auto put) {
    put("gamma", norm.gamma);
    put("beta", norm.beta);
    put("moving_mean", norm.mean);
    put("moving_variance", norm.variance);
  }));
  BOOST_TEST(error_of(read, of_keras, names::keras_batch_norm) == "");
  BOOST_TEST(compare_parameters(norm, read).largest == 0);
}

BOOST_AUTO_TEST_SUITE_END()
