// SPDX-License-Identifier: BSL-1.0
// What is hidden changes no bit of what is seen: each key in turn is filled with NaN, with an
// infinity, and with numbers whose products overflow, under every mask, at every stage that can be
// observed and in every form of the kernel. And the weight of a hidden pair is 0 whatever became of
// its row. Not here: the kernel for other targets (unit/kernel_overflow, bits).
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cmath>
#include <limits>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float poisons[] = {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, 1e19f};
constexpr std::size_t heads_count = 2, dim = 8;

template <std::size_t Queries, std::size_t Keys>
struct problem {
  static constexpr std::size_t queries = Queries, keys = Keys;
  using q_type = tensor<float, heads<heads_count>, query<Queries>, head_dim<dim>>;
  using k_type = tensor<float, heads<heads_count>, key<Keys>, head_dim<dim>>;
  using o_type = q_type;
  using pairs = tensor<float, heads<heads_count>, query<Queries>, key<Keys>>;

  q_type q{};
  k_type k{}, v{};
  tensor<int, query<Queries>> lens{};
  tensor<bool, query<Queries>, key<Keys>> flags{};
  pairs biases{};

  problem() {
    lcg next{static_cast<std::uint32_t>(Queries * 31 + Keys)};
    draw(next, q, 2), draw(next, k, 2), draw(next, v), draw(next, biases, 3);
    for (int& length : lens) length = static_cast<int>((next() + 1) * Keys / 2);
    for (bool& flag : flags) flag = next() > 0;
    for (float& bias : biases) {
      if (next() > 0.5f) bias = -infinity;
    }
    lens(0) = Queries > 1 ? 0 : Keys / 2;
  }
  void poison(std::size_t j, float with) {
    for (std::size_t h = 0; h < heads_count; ++h)
      for (std::size_t d = 0; d < dim; ++d) k(h, j, d) = v(h, j, d) = with;
  }
};

// The same bits, or NaN in both.
bool same(float a, float b) {
  return (a != a && b != b) ||
         __builtin_bit_cast(std::uint32_t, a) == __builtin_bit_cast(std::uint32_t, b);
}

// hidden(h, i, j); observe(problem, seen): the context, and what is observed in `seen`, if anything
// is. Raw: of every pair, hidden or not.
template <class Problem, class Hidden, class Attend>
void check_hidden(const char* what, const Problem& clean, const Hidden& hidden, bool raw,
                  bool is_of_weights, const Attend& attend) {
  typename Problem::pairs seen{}, poisoned_seen{};
  const auto context = attend(clean, seen);
  std::size_t of_hidden = 0, spoilt = 0;
  for (std::size_t j = 0; j < Problem::keys; ++j) {
    for (const float with : poisons) {
      Problem poisoned = clean;
      poisoned.poison(j, with);
      const auto other = attend(poisoned, poisoned_seen);
      std::size_t wrong = 0;
      for (std::size_t h = 0; h < heads_count; ++h)
        for (std::size_t i = 0; i < Problem::queries; ++i) {
          const bool is_hidden = hidden(h, i, j);
          for (std::size_t d = 0; d < dim; ++d) {
            if (is_hidden)
              wrong += !same(other(h, i, d), context(h, i, d));
            else
              spoilt += !same(other(h, i, d), context(h, i, d));
          }
          of_hidden += is_hidden;
          for (std::size_t other_j = 0; other_j < Problem::keys; ++other_j) {
            const float now = poisoned_seen(h, i, other_j);
            if (is_hidden && !(raw && other_j == j)) wrong += !same(now, seen(h, i, other_j));
            if (is_of_weights && hidden(h, i, other_j)) wrong += now != 0;
          }
        }
      BOOST_TEST(wrong == 0u, what << ", key " << j << " is " << with);
    }
  }
  BOOST_TEST(of_hidden > 0u, what << " hides nothing");
  BOOST_TEST(spoilt > 0u, what << ": nothing was poisoned");
}

// Which pairs a mask hides, as it is meant: here and not asked from the library.
struct by_length {
  template <class P>
  static bool hides(const P& p, std::size_t, std::size_t i, std::size_t j) {
    return static_cast<int>(j) >= p.lens(i);
  }
  static auto mask(const auto& p) { return p.lens; }
};
struct by_position {
  template <class P>
  static bool hides(const P&, std::size_t, std::size_t i, std::size_t j) {
    return j > i + P::keys - P::queries;
  }
  static auto mask(const auto&) { return causal_bottom_right; }
};
struct by_window {
  template <class P>
  static bool hides(const P&, std::size_t, std::size_t i, std::size_t j) {
    return j + 3 < i + 9 || j > i + 9 + 1;
  }
  static auto mask(const auto&) { return sliding_window_at<3, 1>(9); }
};
struct by_flag {
  template <class P>
  static bool hides(const P& p, std::size_t, std::size_t i, std::size_t j) {
    return !p.flags(i, j);
  }
  static auto mask(const auto& p) { return keep_mask(p.flags); }
};
struct by_bias {
  template <class P>
  static bool hides(const P& p, std::size_t h, std::size_t i, std::size_t j) {
    return p.biases(h, i, j) == -infinity;
  }
  static auto mask(const auto& p) { return score_bias(p.biases); }
};
struct by_function {
  template <class P>
  static bool hides(const P&, std::size_t, std::size_t i, std::size_t j) {
    return (i + j) % 3 == 0;
  }
  static auto mask(const auto&) {
    return score_bias([](std::size_t, std::size_t, std::size_t i, std::size_t j) {
      return (i + j) % 3 == 0 ? -infinity : 0.25f;
    });
  }
};
struct by_all_of_them {
  template <class P>
  static bool hides(const P& p, std::size_t h, std::size_t i, std::size_t j) {
    return by_flag::hides(p, h, i, j) || by_position::hides(p, h, i, j);
  }
  static auto mask(const auto& p) {
    return alibi_bottom_right & keep_mask(p.flags) & causal_bottom_right & dropout(0.2, 5);
  }
};

template <class By, class... Options, class Problem>
void check_context(const char* what, const Problem& p) {
  check_hidden(
      what, p, [&](std::size_t h, std::size_t i, std::size_t j) { return By::hides(p, h, i, j); },
      false, false,
      [](const Problem& in, typename Problem::pairs&) {
        return scaled_dot_product_attention_with<Options...>(in.q, in.k, in.v, By::mask(in));
      });
}

template <class By, observed What, class... Options, class Problem>
void check_observed(const char* what, const Problem& p) {
  check_hidden(
      what, p, [&](std::size_t h, std::size_t i, std::size_t j) { return By::hides(p, h, i, j); },
      What == observed::scores || What == observed::capped_scores,
      What == observed::weights || What == observed::kept_weights,
      [](const Problem& in, typename Problem::pairs& seen) {
        return scaled_dot_product_attention_with<Options...>(in.q, in.k, in.v,
                                                             By::mask(in) & observe<What>(seen));
      });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hidden_laws)

BOOST_AUTO_TEST_CASE(every_mask) {
  const problem<19, 37> p;
  check_observed<by_length, observed::weights>("lengths", p);
  check_observed<by_position, observed::weights>("causal", p);
  check_observed<by_window, observed::weights>("window", p);
  check_observed<by_flag, observed::weights>("flags", p);
  check_observed<by_bias, observed::weights>("bias", p);
  check_observed<by_function, observed::weights>("function", p);
  check_context<by_flag>("flags, not observed", p);
}

BOOST_AUTO_TEST_CASE(every_stage) {
  const problem<19, 37> p;
  check_observed<by_all_of_them, observed::scores>("scores", p);
  check_observed<by_all_of_them, observed::capped_scores, softcap<9>>("capped scores", p);
  check_observed<by_all_of_them, observed::masked_scores, softcap<9>>("masked scores", p);
  check_observed<by_all_of_them, observed::weights, softcap<9>>("weights", p);
  check_observed<by_all_of_them, observed::kept_weights, softcap<9>>("kept weights", p);
}

BOOST_AUTO_TEST_CASE(more_keys_than_one_block) {
  const problem<3, 259> p;
  check_observed<by_flag, observed::weights>("flags, two blocks", p);
}

BOOST_AUTO_TEST_CASE(one_query) {
  const problem<1, 37> p;
  check_context<by_length>("one query, lengths", p);
  check_context<by_flag>("one query, flags", p);
  check_context<by_bias>("one query, bias", p);
  check_context<by_all_of_them, softcap<9>>("one query, all", p);
  check_observed<by_flag, observed::weights>("one query, observed", p);
}

// Heads in groups of lanes: lengths alone do not keep them from it.
BOOST_AUTO_TEST_CASE(heads_in_lanes) {
  lcg next{3};
  const auto q = drawn<tensor<float, batch<1>, heads<8>, query<4>, head_dim<dim>>>(next, 2);
  const auto k = drawn<tensor<float, batch<1>, heads<8>, key<12>, head_dim<dim>>>(next, 2);
  const auto v = drawn<tensor<float, batch<1>, heads<8>, key<12>, head_dim<dim>>>(next);
  const tensor<int, batch<1>> lens{7};
  const auto clean = scaled_dot_product_attention(q, k, v, lens);
  for (const float with : poisons) {
    auto poisoned_k = k, poisoned_v = v;
    for (std::size_t h = 0; h < 8; ++h)
      for (std::size_t j = 7; j < 12; ++j)
        for (std::size_t d = 0; d < dim; ++d)
          poisoned_k(0, h, j, d) = poisoned_v(0, h, j, d) = with;
    BOOST_TEST(same_bits(scaled_dot_product_attention(q, poisoned_k, poisoned_v, lens), clean),
               "heads in lanes, " << with);
  }
}

// What is left in a cache from before its reset.
template <class Stored>
void check_cache(const char* what) {
  using layer = multi_head_attention<float, hidden<24>, heads<6>, head_dim<8>, kv_heads<2>,
                                     rope<split_halves>, bias<true>>;
  using tokens = tensor<float, token<1>, hidden<24>>;
  static lcg next{17};
  static const auto w = drawn_weights<layer>(next);
  static key_value_cache<layer, key<40>, stored_as<Stored>> clean, used;
  for (const float with : poisons) {
    clean.reset(), used.reset();
    tokens poison, out{}, other{};
    for (float& x : poison) x = with;
    for (std::size_t t = 0; t < 40; ++t) BOOST_TEST_REQUIRE(used.step(other, layer{w}, poison));
    used.reset();
    for (std::size_t t = 0; t < 40; ++t) {
      const auto x = drawn<tokens>(next, 2);
      BOOST_TEST_REQUIRE(clean.step(out, layer{w}, x));
      BOOST_TEST_REQUIRE(used.step(other, layer{w}, x));
      BOOST_TEST(same_bits(other, out), what << ", " << with << ", step " << t);
    }
  }
}

BOOST_AUTO_TEST_CASE(caches) {
  check_cache<float>("cache");
  check_cache<bfloat16>("cache in bfloat16");
}

BOOST_AUTO_TEST_SUITE_END()
