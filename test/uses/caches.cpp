// SPDX-License-Identifier: BSL-1.0
// The caches of every block: steps are the whole pass.
#include "steps.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

struct steps {
  static constexpr const char* name = "key_value_cache";
  template <class Layer>
  static void check() {
    const problem<Layer> p;
    const Layer layer{p.w};
    static cache_of<Layer, 12> past;
    const auto y = p.causal_pass(layer);
    BOOST_TEST(same_bits(by_steps(past, layer, p), y));
    BOOST_TEST(past.rewind(11));
    auto last = p.x | slice<token, from<11>, extent<1>> | contiguous;
    BOOST_TEST(past.step(last, layer, last));
    BOOST_TEST(same_bits(last, y | slice<token, from<11>, extent<1>>));
    static const prepacked<Layer> packed{p.w};
    past.reset();
    BOOST_TEST(same_bits(by_steps(past, packed, p), y));
  }
};

struct sliding_steps {
  static constexpr const char* name = "sliding cache";
  template <class Layer>
  static void check() {
    const problem<Layer> p;
    const Layer layer{p.w};
    static cache_of<Layer, 4, longest_sequence<100, 5>> past;
    BOOST_TEST(same_bits(by_steps(past, layer, p),
                         p.pass(layer, p.x, p.memory, causal & sliding_window<3>)));
  }
};

template <class Stored>
struct steps_of_stored {
  static constexpr const char* name = sizeof(Stored) == 1 ? "cache in 8 bits" : "cache in 16 bits";
  template <class Layer>
  static void check() {
    const problem<Layer> p;
    const Layer layer{p.w};
    static cache_of<Layer, 12, stored_as<Stored>> past, by_rows;
    const auto y = by_steps(past, layer, p);
    const double error = relative_error(y, p.causal_pass(layer));
    BOOST_TEST(error > 0);
    BOOST_TEST(error < (sizeof(Stored) == 1 ? 0.02 : 0.01));
    // Any cut gives the same.
    auto z = p.x;
    if constexpr (has_memory<Layer>) by_rows.attend_to(layer, p.memory);
    BOOST_TEST(by_rows.step(z, layer, p.x));
    BOOST_TEST(same_bits(z, y));
  }
};

// Positions of queries to a memory are those of the sequence, which may be longer than it.
using rotary_memory = residual_block<
    float, hidden<32>,
    block_parts::pre_norm<
        block_parts::name::norm1,
        block_parts::self_attention<block_parts::name::self_attention, heads<4>, bias<false>>>,
    block_parts::pre_norm<block_parts::name::norm2,
                          block_parts::cross_attention<block_parts::name::cross_attention, heads<4>,
                                                       bias<false>, rope<split_halves>>>>;

}  // namespace

BOOST_AUTO_TEST_SUITE(uses_of_caches)
BOOST_AUTO_TEST_CASE(of_steps) { try_on_all<float, steps>(); }
BOOST_AUTO_TEST_CASE(of_sliding_steps) { try_on_all<float, sliding_steps>(); }
BOOST_AUTO_TEST_CASE(of_16_bits) { try_on_all<float, steps_of_stored<bfloat16>>(); }
BOOST_AUTO_TEST_CASE(of_8_bits) { try_on_all<float, steps_of_stored<std::int8_t>>(); }
BOOST_AUTO_TEST_CASE(of_rotary_positions_beside_a_memory) { steps::check<rotary_memory>(); }
BOOST_AUTO_TEST_SUITE_END()
