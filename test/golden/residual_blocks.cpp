// SPDX-License-Identifier: BSL-1.0
// The blocks of examples/blocks against PyTorch (examples/blocks/reference.py), causal.
#include <boost/test/unit_test.hpp>

#include "../support/compare.hpp"
#include "../support/executors.hpp"
#include "../support/list_of_blocks.hpp"
#include "data/residual_blocks.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <class Block>
void check(const char* name, std::uint32_t seed, const float* output) {
  lcg next{seed};
  const auto x = drawn<tensor<float, token<12>, hidden<32>>>(next);
  const auto w = drawn_parameters<Block>(next);
  const auto y = Block{w}(x, causal);
  check_near(name, y.data(), output, y.size());
}

template <std::size_t N>
struct expert : axis<expert, N> {};
UMBEL_PART_NAME(mixer);
constexpr formula mixture = [](auto x, const auto& w) {
  const auto wide = contract<hidden>(x, w.up) | gelu_tanh;
  const auto chosen = wide * softmax<expert>(contract<hidden>(x, w.gate));
  return contract<expert, intermediate>(chosen, w.down);
};
constexpr formula turn = [](auto x, const auto& w) {
  return contract<hidden>(w.scale, x) | rename_axis<intermediate, hidden>;
};
using experts_block = residual_block<
    float, hidden<32>,
    block_parts::pre_norm<
        block_parts::name::norm,
        block_parts::row_formula<
            mixer, decltype(mixture),
            block_parts::weight<block_parts::name::gate, expert<3>, hidden<32>>,
            block_parts::weight<block_parts::name::up, expert<3>, hidden<32>, intermediate<8>>,
            block_parts::weight<block_parts::name::down, expert<3>, intermediate<8>, hidden<32>>>>,
    block_parts::without_norm<block_parts::row_formula<
        block_parts::name::linear, decltype(turn),
        block_parts::weight<block_parts::name::scale, intermediate<32>, hidden<32>>>>>;

}  // namespace

// A factor of a factor is their product.
template <class Join>
using half = block_parts::scaled<1, 2, Join>;
using join = block_parts::pre_norm<block_parts::name::norm,
                                   block_parts::linear_map<block_parts::name::linear>>;
static_assert(std::is_same_v<half<half<join>>, block_parts::scaled<1, 4, join>>);

BOOST_AUTO_TEST_SUITE(residual_blocks)

BOOST_AUTO_TEST_CASE(of_the_examples) {
  check<example::parallel_block<float>>("parallel", golden::parallel::seed,
                                        golden::parallel::output);
  check<example::sandwich_block<float>>("sandwich", golden::sandwich::seed,
                                        golden::sandwich::output);
  check<example::scaled_block<float>>("scaled", golden::scaled::seed, golden::scaled::output);
  check<example::conformer_block<float>>("Conformer", golden::conformer::seed,
                                         golden::conformer::output);
  check<example::star_relu_block<float>>("star_relu", golden::star_relu::seed,
                                         golden::star_relu::output);
}

// A formula as a part is the formula by itself, to the bit, whatever its rows are called.
BOOST_AUTO_TEST_CASE(of_a_formula) {
  using block = example::star_relu_block<float>;
  using norm = layer_norm<float, hidden<32>, bias<false>>;
  lcg next{40};
  const auto x = drawn<tensor<float, batch<2>, query<5>, hidden<32>>>(next);
  const auto w = drawn_parameters<block>(next);
  const auto a =
      x + block::layer_of<block_parts::name::attention>{w.attention}(norm{w.norm1}(x), causal);
  const auto y = a + example::star_relu_network(norm{w.norm2}(a), w.feed_forward);
  BOOST_TEST(same_bits(block{w}(x, causal), y));
}

// Weights of three axes, a result in another order, rows by several workers.
BOOST_AUTO_TEST_CASE(of_formulas_by_several_workers) {
  lcg next{41};
  const auto x = drawn<tensor<float, token<13>, hidden<32>>>(next);
  const auto w = drawn_parameters<experts_block>(next);
  const auto a = x + mixture(layer_norm<float, hidden<32>>{w.norm}(x), w.mixer);
  const auto y = a + (turn(a, w.linear) | permute<token, hidden>);
  BOOST_TEST(same_bits(experts_block{w}(x), y));
  const prepacked<experts_block> packed{w};
  BOOST_TEST(same_bits(packed(x), y));
  static workspace_for<experts_block, decltype(x)> work[3];
  shuffled<3> executor;
  tensor<float, token<13>, hidden<32>> z{};
  experts_block{w}.into(z, x, all_keys, parallel(executor, work));
  BOOST_TEST(same_bits(z, y));
}

BOOST_AUTO_TEST_SUITE_END()
