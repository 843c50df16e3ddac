// SPDX-License-Identifier: BSL-1.0
// Masks and changes of scores: attend with a scores policy against plain::attend, bit for bit, on
// every number of lanes, and the laws between policies. Against float64: plain_scores.cpp.
#include <boost/test/unit_test.hpp>

#include "kernel_problem.hpp"

namespace {

using namespace umbel_test::attending;

// A policy on vectors that are narrow or wide. The usual shape runs each on both, the others on one
// of them.
template <attend_shape S, target ForCausal, target ForWindows>
void check_causal_and_windows() {
  problem<S> p;
  const auto queries = static_cast<std::ptrdiff_t>(S.queries);
  const auto keys = static_cast<std::ptrdiff_t>(S.keys);
  for (std::ptrdiff_t offset :
       {-queries - 2, std::ptrdiff_t{-3}, std::ptrdiff_t{0}, std::ptrdiff_t{4}, keys - queries,
        keys + 5, std::numeric_limits<std::ptrdiff_t>::max(),
        std::numeric_limits<std::ptrdiff_t>::min()}) {
    p.template check_on<ForCausal>(scores::causal{offset}, "causal");
    p.template check_on<ForWindows>(scores::window{2, 0, offset}, "window of 3");
    p.template check_on<ForWindows>(scores::window{0, 1, offset}, "window to the right");
    p.template check_on<ForWindows>(scores::window{250, 9, offset}, "wide window");
    p.template check_on<ForWindows>(scores::window{SIZE_MAX, SIZE_MAX, offset}, "open window");
  }
}

template <attend_shape S, target Target>
void check_kept() {
  problem<S> p;
  const auto right = flags(S.queries, S.keys, speckled);
  const auto turned = flags(S.queries, S.keys, speckled, true);
  const auto all = flags(S.queries, S.keys, [](std::size_t, std::size_t) { return true; });
  const scores::kept by_row(bytes(right), S.keys, 1);
  p.template check_on<Target>(by_row, "kept, row-major");
  BOOST_TEST(p.plain(by_row).same_bits(p.plain(scores::kept(bytes(turned), 1, S.queries))));
  p.template check_on<Target>(scores::kept(bytes(turned), 1, S.queries), "transposed");
  p.template check_on<Target>(scores::kept(bytes(right), 0, 1), "one row for all");
  p.template check_on<Target>(scores::kept(bytes(right), 1, 0), "one column for all");
  const scores::kept everything(bytes(all), S.keys, 1);
  p.template check_on<Target>(everything, "everything kept");
  BOOST_TEST(
      p.template fast<Target>(everything).same_bits(p.template fast<Target>(scores::every_key{})));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_scores)

BOOST_AUTO_TEST_CASE(causal_and_windows_are_the_plain_ones) {
  check_causal_and_windows<usual, widest, widest>();
  check_causal_and_windows<columns_out<21, 29, 5, 7>, vector_16, widest>();
#if !UMBEL_SANITIZED  // compile time
  check_causal_and_windows<usual, vector_16, vector_16>();
  check_causal_and_windows<columns_out<1, 1>, widest, vector_16>();
#endif
}

BOOST_AUTO_TEST_CASE(kept_is_the_plain_one) {
  check_kept<usual, widest>();
  check_kept<columns_out<1, 7>, widest>();
  check_kept<rows_out<18, 270>, vector_16>();
#if !UMBEL_SANITIZED  // compile time
  check_kept<usual, vector_16>();
  check_kept<columns_out<21, 29, 5, 7>, widest>();
#endif
}

// Blocks of one vector of queries and of two; the window ends in the third block of keys, or in the
// first.
BOOST_AUTO_TEST_CASE(every_number_of_lanes) {
  constexpr attend_shape shape = columns_out<35, 523>;
  problem<shape> p;
  const auto mask = flags(35, 523, speckled);
  buffer<float> bias{35 * 523};
  seeded next{7};
  bias.fill(next, 3.0);
  for (std::size_t e = 0; e < bias.size(); e += 3) bias[e] = -infinity;
  for (std::ptrdiff_t offset : {5, 490}) {
    p.check(scores::all_of(scores::softcap{2.5f}, scores::added(bias.get(), 523, 1),
                           scores::alibi{-0.25f, 228}, scores::kept(bytes(mask), 523, 1),
                           scores::window{240, 3, offset}, scores::first_keys(519)),
            "everything");
  }
}

BOOST_AUTO_TEST_CASE(lengths_are_the_plain_ones) {
  problem<usual> p;
  buffer<int> lens{usual.queries};
  for (std::size_t i = 0; i < usual.queries; ++i) lens[i] = static_cast<int>(i * i % 31) * 11 - 40;
  p.check_two(scores::lengths(lens.get(), 1), "different lengths");
  p.check_two(scores::lengths(lens.get() + 20, 0), "one length");
  const long long wild[] = {-1, 1LL << 40, 0, 7};
  problem<columns_out<2, 9>> small;
  small.check_on<vector_16>(scores::lengths(wild, 1), "below and above");
  small.check_on<vector_16>(scores::lengths(wild, 2), "strided");
  BOOST_TEST(
      small.plain(scores::lengths(wild + 3, 0)).same_bits(small.plain(scores::first_keys(7))));
  // Positions are lengths less 1; an offset moves them all; beyond every key there is nothing new.
  p.check_two(scores::positions(lens.get(), 1, 3), "different positions");
  BOOST_TEST(p.fast<widest>(scores::positions(lens.get(), 1, -1))
                 .same_bits(p.fast<widest>(scores::lengths(lens.get(), 1))));
  small.check_on<widest>(scores::positions(wild, 1), "positions below and above");
  small.check_on<widest>(scores::positions(wild, 2, PTRDIFF_MAX), "positions far above");
  small.check_on<widest>(scores::positions(wild, 1, PTRDIFF_MIN), "positions far below");
  const unsigned long long largest = ~0ull;
  BOOST_TEST(
      small.plain(scores::positions(&largest, 0)).same_bits(small.plain(scores::first_keys(9))));
  // The same number of keys for everybody is what key_count is.
  const unsigned count = 290;
  buffer<float> o{usual.queries * 2, 16}, scratch{attend_scratch<usual, float, widest>};
  attend<usual, float, widest>(p.q, p.k.get(), p.v.get(), p.scale, scores::first_keys(count), o,
                               scratch);
  BOOST_TEST(o.same_bits(p.fast<widest>(scores::lengths(&count, 0))));
  BOOST_TEST(o.same_bits(p.fast<widest>(scores::first_keys(290))));
}

BOOST_AUTO_TEST_CASE(changes_are_the_plain_ones) {
  constexpr std::size_t queries = usual.queries, keys = usual.keys;
  problem<usual> p;
  buffer<float> bias{queries * keys}, turned{queries * keys};
  seeded next{3};
  bias.fill(next, 4.0);
  for (std::size_t i = 0; i < queries; ++i) {
    for (std::size_t j = 0; j < keys; ++j) turned[j * queries + i] = bias[i * keys + j];
  }
  const float* const row = bias;
  const float* const column = turned;
  p.check_two(scores::added(row, keys, 1), "bias");
  p.check_two(scores::added(column, 1, queries), "bias, transposed");
  p.check_two(scores::added(row, 0, 1), "bias of keys");
  p.check_two(scores::added(row, 1, 0), "bias of queries");
  BOOST_TEST(
      p.plain(scores::added(row, keys, 1)).same_bits(p.plain(scores::added(column, 1, queries))));
  for (std::ptrdiff_t offset : {-5, 0, 239, 469}) {
    p.check_two(scores::alibi{-0.125f, offset}, "alibi");
    p.check_two(scores::all_of(scores::alibi{0.5f, offset}, scores::causal{offset}), "and causal");
  }
  p.check_two(scores::softcap{1.5f}, "softcap");
  BOOST_TEST(
      !p.plain(scores::all_of(scores::softcap{1.0f}, scores::added(row, keys, 1)))
           .same_bits(p.plain(scores::all_of(scores::added(row, keys, 1), scores::softcap{1.0f}))));
  problem<columns_out<15, 13>, double> wide;
  wide.check_two(scores::all_of(scores::softcap{2.0}, scores::alibi{-0.25}, scores::causal{1}),
                 "double");
}

// Squares of queries and keys are taken at once when nothing is hidden in them: here one pair of a
// square is, or is nearly, each time at another place.
BOOST_AUTO_TEST_CASE(one_pair_of_a_square_is_seen) {
  constexpr std::size_t queries = usual.queries, keys = usual.keys;
  problem<usual> p;
  buffer<float> bias{queries * keys}, smooth{queries * keys};
  seeded next{11};
  smooth.fill(next, 4.0);
  buffer<unsigned char> mask{queries * keys};
  for (std::size_t i = 0; i < queries; ++i) {
    for (std::size_t j = 0; j < keys; ++j) {
      const std::size_t square = i / 16 * 33 + j / 16, in_square = i % 16 * 16 + j % 16;
      const bool odd = in_square == square * 37 % 256;
      const float low = square % 2 == 0 ? -infinity : -3.4e38f;
      bias[i * keys + j] = odd ? low : smooth[i * keys + j];
      // What frameworks hide a whole row with.
      if (i / 16 == 1) bias[i * keys + j] = std::numeric_limits<float>::lowest();
      mask[i * keys + j] = !odd;
    }
  }
  const scores::kept kept(bytes(mask), keys, 1);
  const scores::added some(bias.get(), keys, 1), all(smooth.get(), keys, 1);
  p.check_two(some, "bias");
  p.check_on<widest>(scores::all_of(kept, all), "flags, bias");
  p.check_on<widest>(scores::all_of(all, kept), "bias, flags");
  p.check_on<widest>(scores::all_of(scores::causal{200}, all), "causal, bias");
  p.check_on<widest>(scores::all_of(some, scores::softcap{3.0f}, all), "bias, softcap, bias");
  bias[3 * keys + 20] = std::nanf("");
  bias[40 * keys + 290] = infinity;
  buffer<float> plain = p.plain(some);
  BOOST_TEST(p.fast<widest>(some).same_numbers(plain));
}

// What hides the same pairs gives the same bits.
BOOST_AUTO_TEST_CASE(three_ways_to_say_causal) {
  constexpr std::size_t queries = usual.queries, keys = usual.keys;
  problem<usual> p;
  buffer<int> lens{queries};
  for (std::size_t i = 0; i < queries; ++i) lens[i] = static_cast<int>(i) + 241;
  const auto lower =
      flags(queries, keys, [](std::size_t i, std::size_t j) { return j <= i + 240; });
  buffer<float> bias{queries * keys};
  for (std::size_t i = 0; i < queries; ++i) {
    for (std::size_t j = 0; j < keys; ++j) bias[i * keys + j] = j <= i + 240 ? 0.0f : -infinity;
  }
  const buffer<float> o = p.fast<widest>(scores::causal{240});
  BOOST_TEST(o.same_bits(p.fast<widest>(scores::lengths(lens.get(), 1))));
  BOOST_TEST(o.same_bits(p.fast<widest>(scores::kept(bytes(lower), keys, 1))));
  BOOST_TEST(o.same_bits(p.fast<widest>(scores::added(bias.get(), keys, 1))));
  BOOST_TEST(o.same_bits(p.fast<widest>(scores::window{SIZE_MAX, 0, 240})));
  BOOST_TEST(o.same_bits(p.fast<widest>(scores::window{299, 0, 240})));
  BOOST_TEST(!o.same_bits(p.fast<widest>(scores::window{275, 0, 240})));
  // The softmax's blocks stand where they stand without a window.
  const auto band = flags(queries, keys, [](std::size_t i, std::size_t j) {
    return j <= i + 240 && j + 70 >= i + 240;
  });
  BOOST_TEST(p.fast<widest>(scores::window{70, 0, 240})
                 .same_bits(p.fast<widest>(scores::kept(bytes(band), keys, 1))));
  BOOST_TEST(!o.same_bits(p.fast<widest>(scores::causal{239})));
}

BOOST_AUTO_TEST_CASE(one_step_of_decoding_is_a_row_of_the_full_pass) {
  constexpr std::size_t n = 290;
  problem<rows_out<n, n>> full;
  problem<rows_out<1, n>> step;
  for (std::size_t e = 0; e < n * 3; ++e) step.k[e] = full.k[e];
  for (std::size_t e = 0; e < n * 2; ++e) step.v[e] = full.v[e];
  buffer<float> o = full.fast<widest>(scores::causal{});
  for (std::size_t i : {std::size_t{0}, std::size_t{100}, std::size_t{256}, n - 1}) {
    for (std::size_t d = 0; d < 3; ++d) step.q[d] = full.q[i * 3 + d];
    // What a cache holds past this step is nobody's business.
    for (std::size_t e = (i + 1) * 3; e < n * 3; ++e) step.k[e] = not_a_number;
    buffer<float> one = step.fast<widest>(scores::causal{static_cast<std::ptrdiff_t>(i)});
    for (std::size_t e = (i + 1) * 3; e < n * 3; ++e) step.k[e] = full.k[e];
    BOOST_TEST(one[0] == o[i * 2]);
    BOOST_TEST(one[1] == o[i * 2 + 1]);
  }
}

// Hidden keys add exactly nothing: as if the kept ones stood alone (in one block of the softmax).
BOOST_AUTO_TEST_CASE(hidden_keys_are_as_good_as_absent) {
  problem<columns_out<5, 240>> all;
  problem<columns_out<5, 80>> some;
  buffer<unsigned char> mask{240};
  for (std::size_t e = 0; e < 15; ++e) some.q[e] = all.q[e];
  for (std::size_t j = 0; j < 240; ++j) {
    mask[j] = j % 3 == 1;
    if (j % 3 != 1) {
      all.v[j * 2] = infinity;
      all.k[j * 3 + 1] = j % 2 != 0 ? not_a_number : -infinity;
      continue;
    }
    for (std::size_t d = 0; d < 3; ++d) some.k[j / 3 * 3 + d] = all.k[j * 3 + d];
    for (std::size_t d = 0; d < 2; ++d) some.v[j / 3 * 2 + d] = all.v[j * 2 + d];
  }
  const scores::kept kept(bytes(mask), 0, 1);
  const buffer<float> o = some.fast<widest>(scores::every_key{});
  BOOST_TEST(o.same_bits(all.fast<widest>(kept)));
  BOOST_TEST(o.same_bits(all.fast<vector_16>(kept)));
  BOOST_TEST(o.same_bits(all.plain(kept)));
}

// NaN and infinity at every key that some query does not see: rows that do not see it keep their
// bits.
BOOST_AUTO_TEST_CASE(what_is_hidden_does_not_leak) {
  constexpr std::ptrdiff_t offset = 230;
  for (std::size_t bad : {0u, 233u, 240u, 255u, 256u, 262u, 269u}) {
    for (float poison : {not_a_number, infinity, -infinity}) {
      for (bool in_values : {false, true}) {
        problem<usual> p;
        buffer<float> clean = p.fast<widest>(scores::window{20, 0, offset});
        const auto mask = flags(usual.queries, usual.keys, speckled);
        const scores::kept kept(bytes(mask), usual.keys, 1);
        buffer<float> clean_kept = p.fast<widest>(kept);
        (in_values ? p.v[bad * 2 + 1] : p.k[bad * 3 + 1]) = poison;
        p.check_two(scores::first_keys(0), "nothing");
        buffer<float> o = p.fast<widest>(scores::window{20, 0, offset});
        buffer<float> plain = p.plain(scores::window{20, 0, offset});
        buffer<float> spoilt = p.fast<widest>(kept), spoilt_plain = p.plain(kept);
        BOOST_TEST(o.same_numbers(plain));
        BOOST_TEST(p.fast<vector_16>(scores::window{20, 0, offset}).same_numbers(plain));
        BOOST_TEST(spoilt.same_numbers(spoilt_plain));
        bool touched = false;
        for (std::size_t i = 0; i < usual.queries; ++i) {
          const std::size_t here = i + offset;
          const bool sees = bad <= here && bad + 20 >= here;
          for (std::size_t d = 0; d < 2; ++d) {
            if (!sees) BOOST_TEST(p.at(o, i, d) == p.at(clean, i, d));
            if (!speckled(i, bad)) BOOST_TEST(p.at(spoilt, i, d) == p.at(clean_kept, i, d));
            touched = touched || !(p.at(spoilt, i, d) == p.at(clean_kept, i, d));
          }
        }
        BOOST_TEST(touched);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_nan_query_stays_in_its_row) {
  problem<usual> p;
  p.q[4 * 3] = not_a_number;
  p.q[9 * 3 + 1] = infinity;
  const scores::all_of policy(scores::alibi{-0.5f, 249}, scores::causal{249});
  buffer<float> right = p.plain(policy);
  BOOST_TEST(p.fast<scalar_target>(policy).same_numbers(right));
  BOOST_TEST(p.fast<vector_16>(policy).same_numbers(right));
  BOOST_TEST(p.fast<widest>(policy).same_numbers(right));
  buffer<float> o = p.fast<widest>(scores::causal{249});
  for (std::size_t i = 0; i < usual.queries; ++i) {
    BOOST_TEST(std::isnan(p.at(o, i, 0)) == (i == 4 || i == 9));
  }
  buffer<float> empty = p.fast<widest>(scores::causal{-7});
  for (std::size_t i = 0; i < 7; ++i) BOOST_TEST(p.at(empty, i, 1) == 0.0f);
  BOOST_TEST(p.at(empty, 7, 1) != 0.0f);
}

// Keys that no query of a block sees are not read: there is no memory for them.
BOOST_AUTO_TEST_CASE(loops_are_bounded) {
  constexpr std::size_t seen = usual.queries + 5;
  problem<usual> p;
  buffer<float> keys{seen * 3}, values{seen * 2}, o{usual.queries * 2, 16};
  buffer<float> scratch{attend_scratch<usual, float, widest>};
  for (std::size_t e = 0; e < seen * 3; ++e) keys[e] = p.k[265 * 3 + e];
  for (std::size_t e = 0; e < seen * 2; ++e) values[e] = p.v[265 * 2 + e];
  const scores::window policy{5, 0, 270};
  attend<usual, float, widest>(p.q, keys.get() - 265 * 3, values.get() - 265 * 2, p.scale, policy,
                               o, scratch);
  BOOST_TEST(o.same_bits(p.plain(policy)));
  using scores::key_range;
  BOOST_TEST((policy.range(0, 20, 600) == key_range{265, 290, 265, 265}));
  BOOST_TEST((scores::causal{}.range(8, 4, 600) == key_range{0, 12, 0, 9}));
  BOOST_TEST((scores::causal{-20}.range(8, 4, 600) == key_range{0, 0, 0, 0}));
  BOOST_TEST((scores::all_of(scores::causal{}, scores::first_keys(10)).range(8, 4, 600) ==
              key_range{0, 10, 0, 9}));
  BOOST_TEST((scores::window{7, 2}.range(8, 4, 600) == key_range{1, 14, 4, 11}));
}

BOOST_AUTO_TEST_SUITE_END()
