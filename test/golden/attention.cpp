// SPDX-License-Identifier: BSL-1.0
// multi_head_attention against the d2l book's layer and torch.nn.MultiheadAttention, three times
// each: natural weights, packed ones (same bits), and spelled out with the operations of the
// readable form.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include "../support/compare.hpp"
#include "../support/random.hpp"
#include "data/d2l_multi_head.hpp"
#include "data/torch_multi_head.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

// How a case was drawn.
struct source {
  std::uint32_t seed;
  float weight_scale;
  float bias_scale = 0;
  bool inputs_are_ones = false;
};

template <std::size_t Batch, std::size_t Queries, std::size_t Keys, std::size_t Hidden,
          std::size_t Heads, bool Bias>
struct golden_case {
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>, bias<Bias>>;
  using weights = typename attention::weights;
  using queries = tensor<float, batch<Batch>, query<Queries>, hidden<Hidden>>;
  using keys = tensor<float, batch<Batch>, key<Keys>, hidden<Hidden>>;
  using lens = tensor<int, batch<Batch>>;
  static constexpr std::size_t head_size = Hidden / Heads;

  queries x{};
  keys y{};
  weights w{};

  golden_case(source from, bool self) {
    lcg next{from.seed};
    if (from.inputs_are_ones) {
      for (float& e : x) e = 1;
      for (float& e : y) e = 1;
    } else {
      draw(next, x);
      if (!self) draw(next, y);
    }
    if constexpr (Queries == Keys)
      if (self) y = x | rename_axis<query, key>;
    draw_attention(next, w, from.weight_scale, from.bias_scale);
  }

  // The readable form. lens gives all keys where the layer was given none.
  auto attention_weights(const lens& valid_lens) const {
    auto q =
        x * w.q | split<hidden, heads<Heads>, head_dim> | permute<batch, heads, query, head_dim>;
    auto k = y * w.k | split<hidden, heads<Heads>, head_dim> | permute<batch, heads, key, head_dim>;
    auto scores = contract<head_dim>(q, k) * (1 / std::sqrt(static_cast<float>(head_size)));
    return softmax<key>(mask_after<key>(scores, valid_lens));
  }
  auto by_hand(const lens& valid_lens) const {
    auto v = y * w.v | split<hidden, heads<Heads>, head_dim> | permute<batch, heads, key, head_dim>;
    auto out = contract<key>(attention_weights(valid_lens), v) |
               permute<batch, query, heads, head_dim> | contiguous | merge<heads, head_dim, hidden>;
    return out * w.o;
  }

  static lens every_length() {
    lens all{};
    for (int& length : all) length = Keys;
    return all;
  }

  void check(const float* output, const lens* valid_lens) const {
    const auto natural =
        valid_lens != nullptr ? attention{w}(x, y, y, *valid_lens) : attention{w}(x, y, y);
    check_near("layer", natural.data(), output, queries::layout::count);
    const prepacked<attention> packed{w};
    BOOST_TEST(
        same_bits(natural, valid_lens != nullptr ? packed(x, y, y, *valid_lens) : packed(x, y, y)));
    BOOST_TEST(
        same_bits(natural, attention{w}(x, y, y, valid_lens ? *valid_lens : every_length())));
    const auto spelled_out = by_hand(valid_lens != nullptr ? *valid_lens : every_length());
    check_near("spelled out", spelled_out.data(), output, queries::layout::count);
    const auto probabilities =
        attention_weights(valid_lens != nullptr ? *valid_lens : every_length());
    for (std::size_t row = 0; row < Batch * Heads * Queries; ++row) {
      double sum = 0;
      for (std::size_t j = 0; j < Keys; ++j)
        sum += static_cast<double>(probabilities.data()[row * Keys + j]);
      BOOST_TEST(std::fabs(sum - 1) <= 1e-6 * static_cast<double>(Keys));
    }
  }

  // Self-attention of x by its own call.
  void check_self(const float* output, const lens* valid_lens) const {
    const auto one_call = valid_lens != nullptr ? attention{w}(x, *valid_lens) : attention{w}(x);
    check_near("self", one_call.data(), output, queries::layout::count);
    const prepacked<attention> packed{w};
    BOOST_TEST(same_bits(one_call, valid_lens != nullptr ? packed(x, *valid_lens) : packed(x)));
    check(output, valid_lens);
  }
};

template <std::size_t Batch, std::size_t Queries, std::size_t Keys, std::size_t Hidden,
          std::size_t Heads, bool Bias, class... Length>
void check_cross(source from, const float* output, Length... length) {
  using problem = golden_case<Batch, Queries, Keys, Hidden, Heads, Bias>;
  if constexpr (sizeof...(Length) == 0) {
    problem(from, false).check(output, nullptr);
  } else {
    const typename problem::lens lens{length...};
    problem(from, false).check(output, &lens);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(d2l)

BOOST_AUTO_TEST_CASE(ones) {
  namespace g = golden::d2l_ones;
  check_cross<g::batch, g::queries, g::keys, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale, 0, true}, g::output);
}

BOOST_AUTO_TEST_CASE(ones_lengths) {
  namespace g = golden::d2l_ones_lengths;
  check_cross<g::batch, g::queries, g::keys, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale, 0, true}, g::output, g::lengths[0], g::lengths[1]);
}

BOOST_AUTO_TEST_CASE(ones_bias) {
  namespace g = golden::d2l_ones_bias;
  check_cross<g::batch, g::queries, g::keys, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale, g::bias_scale, true}, g::output);
}

BOOST_AUTO_TEST_CASE(ones_bias_lengths) {
  namespace g = golden::d2l_ones_bias_lengths;
  check_cross<g::batch, g::queries, g::keys, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale, g::bias_scale, true}, g::output, g::lengths[0], g::lengths[1]);
}

BOOST_AUTO_TEST_CASE(random) {
  namespace g = golden::d2l_random;
  check_cross<g::batch, g::queries, g::keys, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale}, g::output);
}

BOOST_AUTO_TEST_CASE(random_lengths) {
  namespace g = golden::d2l_random_lengths;
  check_cross<g::batch, g::queries, g::keys, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale}, g::output, g::lengths[0], g::lengths[1]);
}

BOOST_AUTO_TEST_CASE(random_bias) {
  namespace g = golden::d2l_random_bias;
  check_cross<g::batch, g::queries, g::keys, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale, g::bias_scale}, g::output);
}

BOOST_AUTO_TEST_CASE(random_bias_lengths) {
  namespace g = golden::d2l_random_bias_lengths;
  check_cross<g::batch, g::queries, g::keys, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale, g::bias_scale}, g::output, g::lengths[0], g::lengths[1]);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(torch_multi_head)

BOOST_AUTO_TEST_CASE(self) {
  namespace g = golden::torch_self;
  const golden_case<g::batch, g::tokens, g::tokens, g::hidden, g::heads, g::has_bias> problem(
      {g::seed, g::weight_scale, g::bias_scale}, true);
  problem.check_self(g::output, nullptr);
  const auto average = problem.attention_weights(problem.every_length()) | mean<heads>;
  check_near("average weights", average.data(), g::average_weights, std::size(g::average_weights));
}

BOOST_AUTO_TEST_CASE(self_no_bias) {
  namespace g = golden::torch_self_no_bias;
  golden_case<g::batch, g::tokens, g::tokens, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale}, true)
      .check_self(g::output, nullptr);
}

BOOST_AUTO_TEST_CASE(self_lengths) {
  namespace g = golden::torch_self_lengths;
  const tensor<int, batch<g::batch>> lens(g::lengths);
  golden_case<g::batch, g::tokens, g::tokens, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale, g::bias_scale}, true)
      .check_self(g::output, &lens);
}

BOOST_AUTO_TEST_CASE(cross) {
  namespace g = golden::torch_cross;
  check_cross<g::batch, g::queries, g::keys, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale, g::bias_scale}, g::output);
}

BOOST_AUTO_TEST_CASE(cross_no_bias) {
  namespace g = golden::torch_cross_no_bias;
  check_cross<g::batch, g::queries, g::keys, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale}, g::output);
}

BOOST_AUTO_TEST_CASE(cross_lengths) {
  namespace g = golden::torch_cross_lengths;
  const golden_case<g::batch, g::queries, g::keys, g::hidden, g::heads, g::has_bias> problem(
      {g::seed, g::weight_scale, g::bias_scale}, false);
  const tensor<int, batch<g::batch>> lens(g::lengths);
  problem.check(g::output, &lens);
  const auto by_head = problem.attention_weights(lens);
  check_near("weights by head", by_head.data(), g::head_weights, std::size(g::head_weights));
}

BOOST_AUTO_TEST_CASE(one_key) {
  namespace g = golden::torch_one_key;
  check_cross<g::batch, g::queries, g::keys, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale, g::bias_scale}, g::output);
}

BOOST_AUTO_TEST_CASE(eight_heads) {
  namespace g = golden::torch_eight_heads;
  golden_case<g::batch, g::tokens, g::tokens, g::hidden, g::heads, g::has_bias>(
      {g::seed, g::weight_scale, g::bias_scale}, true)
      .check_self(g::output, nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
