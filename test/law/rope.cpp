// SPDX-License-Identifier: BSL-1.0
// Tables of rotary positions: their bits are the same whether the compiler computes them or the
// program does before main, they are right at every position, and a cache of LLaMA's size has one.
// Not here: which features make a pair (golden/attention).
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cmath>
#include <cstring>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <class T, std::size_t Positions, std::size_t Pairs, std::size_t Base>
void check_bits() {
  using table = detail::rope_table<T, Positions, Pairs, Base>;
  static constexpr table by_the_compiler{};
  static const table before_main{detail::at_start{}};
  BOOST_TEST(std::memcmp(&by_the_compiler, &before_main, sizeof(table)) == 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rope_laws)

BOOST_AUTO_TEST_CASE(the_same_bits_at_start) {
  check_bits<float, 300, 64, 10000>();
  check_bits<double, 300, 20, 10000>();
  check_bits<float, 100, 5, 500000>();
}

// Of LLaMA: 4096 positions of 128 features.
BOOST_AUTO_TEST_CASE(right_at_every_position) {
  constexpr std::size_t positions = 4096, pairs = 64;
  const auto& table = detail::rope_turns<float, positions, pairs, 10000>();
  double worst = 0;
  for (std::size_t p = 0; p < positions; ++p)
    for (std::size_t i = 0; i < pairs; ++i) {
      const long double angle =
          static_cast<long double>(p) *
          std::pow(10000.0L, -2.0L * static_cast<long double>(i) / (2 * pairs));
      const auto error = [](float is, long double wanted) {
        return std::fabs(static_cast<double>(static_cast<long double>(is) - wanted));
      };
      worst = std::max(worst, error(table.cosine[p * pairs + i], std::cos(angle)));
      worst = std::max(worst, error(table.sine[p * pairs + i], std::sin(angle)));
    }
  BOOST_TEST(worst < 3.1e-8);  // half a unit in the last place of 1, and what double adds
}

BOOST_AUTO_TEST_CASE(cache_of_llamas_size) {
  using layer = multi_head_attention<float, hidden<8>, heads<1>, head_dim<128>, rope<split_halves>,
                                     bias<false>>;
  lcg next{3};
  static const auto w = drawn_weights<layer>(next);
  static key_value_cache<layer, key<4096>> past;
  const auto x = drawn<tensor<float, token<10>, hidden<8>>>(next, 2);
  const auto wanted = layer{w}(x, causal);
  tensor<float, token<10>, hidden<8>> out{};
  for (std::size_t t = 0; t < 10; ++t) {
    const view<const float, token<1>, hidden<8>> from(x.data() + t * 8);
    const view<float, token<1>, hidden<8>> to(out.data() + t * 8);
    BOOST_TEST_REQUIRE(past.step(to, layer{w}, from));
  }
  BOOST_TEST(same_bits(out, wanted));
}

BOOST_AUTO_TEST_SUITE_END()
