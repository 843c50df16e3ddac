// SPDX-License-Identifier: BSL-1.0
// The operations on tensors against torch: functions of each element, reductions, log_softmax,
// where and hide, lookup and one_hot, maximum and minimum, stack, rotate, windows and padded as
// convolutions. Their gradients: gradients.cpp.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <limits>

#include "../support/compare.hpp"
#include "../support/random.hpp"
#include "data/torch_operations.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <std::size_t N>
struct rows : axis<rows, N> {};
template <std::size_t N>
struct columns : axis<columns, N> {};
template <std::size_t N>
struct kernel_rows : axis<kernel_rows, N> {};
template <std::size_t N>
struct kernel_columns : axis<kernel_columns, N> {};

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_operations)

BOOST_AUTO_TEST_CASE(functions_of_each_element) {
  namespace g = golden::torch_elementwise;
  tensor<float, key<g::points>> x, positive;
  for (std::size_t i = 0; i < g::points; ++i) {
    x(i) = static_cast<float>(i) / 8 - 8;
    positive(i) = static_cast<float>(i + 1) / 8;
  }
  check_near("exp", exp(x).data(), g::exp, g::points);
  check_near("tanh", tanh(x).data(), g::tanh, g::points);
  check_near("sigmoid", sigmoid(x).data(), g::sigmoid, g::points);
  check_near("abs", abs(x).data(), g::abs, g::points);
  check_near("log", log(positive).data(), g::log, g::points);
  check_near("sqrt", sqrt(positive).data(), g::sqrt, g::points);
  check_near("rsqrt", rsqrt(positive).data(), g::rsqrt, g::points);
  check_near("softplus", softplus(x).data(), g::softplus, g::points);
  check_near("log_sigmoid", log_sigmoid(x).data(), g::log_sigmoid, g::points);
  check_near("elu", elu(x).data(), g::elu, g::points);
  check_near("erf", erf(x).data(), g::erf, g::points);
  check_near("sin", sin(x).data(), g::sin, g::points);
  check_near("cos", cos(x).data(), g::cos, g::points);
  check_near("floor", floor(x).data(), g::floor, g::points);
  check_near("cube", pow(x, 3).data(), g::cube, g::points);
  check_near("power of two", pow(2, x).data(), g::power_of_two, g::points);
  check_near("root", pow(positive, 0.5f).data(), g::root, g::points);
  check_near("power", pow(positive, positive * 0.25f).data(), g::self_power, g::points);
  check_near("remainder", (x % 3).data(), g::remainder, g::points);
  check_near("negative remainder", (x % -2.5f).data(), g::negative_remainder, g::points);
  check_near("remainder by", (3.25f % positive).data(), g::remainder_by, g::points);
  check_near("clamp", clamp(x, -1, 2).data(), g::clamp, g::points);
  check_near("clamp by", clamp(x, x * 0.5f, 2 - x).data(), g::clamp_by, g::points);
}

BOOST_AUTO_TEST_CASE(reductions) {
  namespace g = golden::torch_reductions;
  lcg next{g::seed};
  const auto x =
      drawn<tensor<float, batch<g::batch>, query<g::query>, key<g::key>, head_dim<g::head_dim>>>(
          next, 4);
  check_near("sum", sum<key>(x).data(), g::sum_key, std::size(g::sum_key));
  check_near("sum of two", sum<query, head_dim>(x).data(), g::sum_query_dim,
             std::size(g::sum_query_dim));
  check_near("sum of all", sum<batch, query, key, head_dim>(x).data(), g::sum_all, 1);
  check_near("max", max<key>(x).data(), g::max_key, std::size(g::max_key));
  check_near("max of two", max<batch, key>(x).data(), g::max_batch_key,
             std::size(g::max_batch_key));
  check_near("min", min<query, head_dim>(x).data(), g::min_query_dim, std::size(g::min_query_dim));
  check_near("mean", mean<query, head_dim>(x).data(), g::mean_query_dim,
             std::size(g::mean_query_dim));
  check_near("variance", variance<key>(x).data(), g::variance_key, std::size(g::variance_key));
  check_near("variance of two", variance<query, head_dim>(x).data(), g::variance_query_dim,
             std::size(g::variance_query_dim));
}

BOOST_AUTO_TEST_CASE(where_and_hide) {
  namespace g = golden::torch_where;
  lcg next{g::seed};
  const auto x = drawn<tensor<float, rows<g::rows>, key<g::columns>>>(next);
  const auto y = drawn<tensor<float, rows<g::rows>, key<g::columns>>>(next);
  check_near("where", where(x < y, x, 0.5).data(), g::chosen, std::size(g::chosen));
  check_near("hide", softmax<key>(hide(y, x > y)).data(), g::weights, std::size(g::weights));
}

BOOST_AUTO_TEST_CASE(of_two_operands) {
  namespace g = golden::torch_two_operands;
  lcg next{g::seed};
  const auto x = drawn<tensor<float, rows<g::rows>, key<g::columns>>>(next);
  const auto y = drawn<tensor<float, rows<g::rows>, key<g::columns>>>(next);
  check_near("maximum", maximum(x, y).data(), g::maximum, std::size(g::maximum));
  check_near("minimum", minimum(x, y).data(), g::minimum, std::size(g::minimum));
  check_near("at least", maximum(x, 0.25f).data(), g::at_least, std::size(g::at_least));
  check_near("stack", stack<batch>(x, y, x).data(), g::stacked, std::size(g::stacked));
}

BOOST_AUTO_TEST_CASE(rotary_positions) {
  namespace g = golden::torch_rotary;
  lcg next{g::seed};
  const auto x = drawn<tensor<float, token<g::tokens>, head_dim<g::features>>>(next);
  const tensor<int, token<g::tokens>> some{40, 0, 7, 1000};
  using part = rope<adjacent_pairs, g::base, g::width>;
  check_near("halves", rotate<split_halves, token, head_dim>(x).data(), g::halves,
             std::size(g::halves));
  check_near("pairs", rotate<part, token, head_dim>(x).data(), g::pairs, std::size(g::pairs));
  check_near("halves at positions", rotate<split_halves, token<1001>, head_dim>(x, some).data(),
             g::halves_at, std::size(g::halves_at));
  check_near("pairs at positions", rotate<part, token<1001>, head_dim>(x, some).data(), g::pairs_at,
             std::size(g::pairs_at));
}

BOOST_AUTO_TEST_CASE(convolutions_and_pooling) {
  namespace g = golden::torch_convolutions;
  lcg next{g::seed};
  using inputs = hidden<g::channels>;
  using outputs = out_features<g::outputs>;
  using size = kernel_size<g::size>;
  const auto x = drawn<tensor<float, inputs, token<g::positions>>>(next);
  const auto kernel = drawn<tensor<float, outputs, inputs, size>>(next);
  const auto grouped =
      drawn<tensor<float, heads<2>, out_features<g::outputs / 2>, head_dim<2>, size>>(next);
  const auto by_channel = drawn<tensor<float, inputs, size>>(next);
  const auto image = drawn<tensor<float, inputs, rows<6>, columns<7>>>(next);
  const auto of_image =
      drawn<tensor<float, outputs, inputs, kernel_rows<3>, kernel_columns<2>>>(next);
  const auto check = [](const char* name, const auto& result, const auto& wanted) {
    BOOST_TEST_REQUIRE(result.size() == std::size(wanted));
    check_near(name, contiguous(result).data(), wanted, std::size(wanted));
  };
  const auto channels_first = permute<out_features, token>;
  check("conv1d", contract<hidden, kernel_size>(x | windows<token, size>, kernel) | channels_first,
        g::plain);
  check("strides, dilation, padding",
        contract<hidden, kernel_size>(
            x | padded<token, before<3>, after<3>> | windows<token, size, stride<2>, dilation<2>>,
            kernel) |
            channels_first,
        g::spread);
  check(
      "groups",
      contract<head_dim, kernel_size>(x | split<hidden, heads<2>, head_dim> |
                                          padded<token, before<1>, after<1>> | windows<token, size>,
                                      grouped) |
          permute<heads, out_features, token>,
      g::grouped_result);
  check("depthwise", contract<kernel_size>(x | windows<token, size>, by_channel), g::depthwise);
  check("conv2d",
        contract<hidden, kernel_rows, kernel_columns>(image | padded<rows, before<1>, after<1>> |
                                                          windows<rows, kernel_rows<3>, stride<2>> |
                                                          windows<columns, kernel_columns<2>>,
                                                      of_image) |
            permute<out_features, rows, columns>,
        g::of_two);
  constexpr float lowest = std::numeric_limits<float>::lowest();
  check("max_pool1d",
        max<kernel_size>(padded<token, before<1>, after<1>>(x, lowest) |
                         windows<token, size, stride<2>>),
        g::largest);
  check("avg_pool2d",
        mean<kernel_rows, kernel_columns>(image | windows<rows, kernel_rows<2>, stride<2>> |
                                          windows<columns, kernel_columns<3>, stride<3>>),
        g::means);
}

BOOST_AUTO_TEST_CASE(log_softmaxes) {
  namespace g = golden::torch_log_softmax;
  lcg next{g::seed};
  const auto scores = drawn<tensor<float, rows<g::rows>, key<g::columns>>>(next, 16);
  check_near("log_softmax", log_softmax<key>(scores).data(), g::output, std::size(g::output));
}

BOOST_AUTO_TEST_CASE(rows_of_a_table) {
  namespace g = golden::torch_embedding;
  lcg next{g::seed};
  const auto table = drawn<tensor<float, rows<g::words>, hidden<g::hidden>>>(next);
  const tensor<int, batch<2>, token<4>> ids{3, 0, 10, 3, 7, 1, 2, 9};
  check_near("lookup", lookup(table, ids).data(), g::rows, std::size(g::rows));
  check_near("one_hot", one_hot<classes<g::words>>(ids).data(), g::one_hot, std::size(g::one_hot));
}

BOOST_AUTO_TEST_SUITE_END()
