// SPDX-License-Identifier: BSL-1.0
// Random walks of caches: steps of one, three and five positions, appends, rewinds and resets, in
// any order. Every step gives the rows of the whole causal pass over the sequence as it then is,
// and what is refused changes nothing. Not here: each kind of call by itself (cache.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

constexpr std::size_t width = 24, most = 48;
using layer = multi_head_attention<float, hidden<width>, heads<6>, head_dim<8>, kv_heads<2>,
                                   rope<split_halves>, bias<true>>;
using sequence = tensor<float, token<most>, hidden<width>>;

// Slides: the cache drops its oldest positions; it has no appends beside them here, and a rewind
// may be refused.
template <class Cache, bool Slides, class Mask>
struct walk {
  Cache& past;
  const layer& attend;
  const Mask& mask;  // of the whole pass, with which the steps agree
  layer::workspace<token<most>>& work;
  lcg next;
  sequence x{};
  std::size_t size = 0;  // of the sequence
  std::size_t steps = 0, refused = 0, rewinds = 0;

  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>((next() + 1) / 2 * static_cast<float>(count)) % count;
  }

  template <std::size_t Count>
  void draw_tokens(std::size_t at) {
    for (std::size_t i = 0; i < Count * width; ++i) x.data()[at * width + i] = next() * 2;
  }

  template <std::size_t Count>
  void step() {
    using tokens = tensor<float, token<Count>, hidden<width>>;
    tokens given{}, out{};
    const bool fits = size + Count <= most;
    if (fits) draw_tokens<Count>(size);
    for (std::size_t i = 0; i < Count * width && fits; ++i)
      given.data()[i] = x.data()[size * width + i];
    BOOST_TEST(past.step(out, attend, given) == fits);
    if (!fits) {
      ++refused;
      for (const float y : out) BOOST_TEST(y == 0);
    } else {
      const auto whole = attend(x, mask, work);
      const view<const float, token<Count>, hidden<width>> rows(whole.data() + size * width);
      BOOST_TEST(same_bits(out, rows), "a step of " << Count << " at " << size);
      size += Count;
      ++steps;
    }
  }

  template <std::size_t Count>
  void append() {
    using keys = tensor<float, key<Count>, hidden<width>>;
    const bool fits = size + Count <= most;
    keys given{};
    if (fits) draw_tokens<Count>(size);
    for (std::size_t i = 0; i < Count * width && fits; ++i)
      given.data()[i] = x.data()[size * width + i];
    BOOST_TEST(past.append(attend, given, given) == fits);
    if (fits) size += Count;
  }

  void rewind() {
    const std::size_t to = below(size + 3);
    const bool done = past.rewind(to);
    if constexpr (Slides)
      BOOST_TEST((!done || to <= size));
    else
      BOOST_TEST(done == (to <= size));
    if (done) size = to;
    rewinds += done;
  }

  void one() {
    const std::size_t what = below(12);
    if (what < 4) return step<1>();
    if (what < 7) return step<3>();
    if (what < 8) return step<5>();
    if (what < 10) return rewind();
    if (what < 11) {
      if constexpr (!Slides) return append<2>();
    } else if (below(4) == 0) {
      past.reset();
      size = 0;
    }
  }

  void run(int count) {
    for (int i = 0; i < count; ++i) {
      one();
      BOOST_TEST_REQUIRE(past.size() == size);
    }
    BOOST_TEST((steps > 50 && refused > 3 && rewinds > 10), "too short a walk");
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cache_walks)

BOOST_AUTO_TEST_CASE(a_cache) {
  lcg next{29};
  static const auto w = drawn_weights<layer>(next);
  static key_value_cache<layer, key<most>> past;
  static layer::workspace<token<most>> work;
  const layer attend{w};
  walk<decltype(past), false, decltype(causal)>{past, attend, causal, work, lcg{31}}.run(400);
}

BOOST_AUTO_TEST_CASE(a_sliding_cache) {
  lcg next{29};
  static const auto w = drawn_weights<layer>(next);
  static key_value_cache<layer, key<9>, longest_sequence<most, 5>> past;
  static layer::workspace<token<most>> work;
  const layer attend{w};
  const auto window = causal & sliding_window<8>;
  walk<decltype(past), true, decltype(window)>{past, attend, window, work, lcg{37}}.run(400);
}

BOOST_AUTO_TEST_SUITE_END()
