// SPDX-License-Identifier: BSL-1.0
// The planner's arithmetic: even splits, tiles that fit the registers, panels that depend on the
// features only.
#include <boost/test/unit_test.hpp>

#include <umbel/plan/choose_attend.hpp>
#include <umbel/plan/plan.hpp>

namespace {

using namespace umbel::detail::plan;

constexpr target wide{64, 32}, medium{32, 16}, narrow{16, 16}, none{0, 16};

static_assert(lanes<float>(wide) == 16 && lanes<double>(wide) == 8);
static_assert(lanes<float>(medium) == 8 && lanes<float>(narrow) == 4 && lanes<float>(none) == 1);
static_assert(lanes<double>(none) == 1);

// 16 rows by 6 are 5 + 5 + 6.
static_assert(split_evenly(16, 6) == split{6, 1, 2});
static_assert(split_evenly(16, 8) == split{8, 2, 0});
static_assert(split_evenly(7, 4) == split{4, 1, 1});
static_assert(split_evenly(5, 9) == split{5, 1, 0});

// About sixteen accumulators, and the widest panel of which four rows fit.
static_assert(tile_rows(wide, 1) == 16 && tile_rows(wide, 2) == 8 && tile_rows(wide, 4) == 4);
static_assert(tile_vectors(wide) == 6 && tile_vectors(medium) == 3);

static_assert(tile_vectors({16, 16, {}, false}) == 4 && tile_rows({16, 16, {}, false}, 4) == 2);

// MVE: a factor that is the same in every lane takes no register, so that 3 rows of 2 vectors are 8
// registers; no doubles.
constexpr target spreading{.vector_bytes = 16, .registers = 8, .spreads = true, .element_bytes = 4};
static_assert(lanes<float>(spreading) == 4 && lanes<double>(spreading) == 1);
static_assert(tile_vectors(spreading) == 2 && tile_rows(spreading, 2) == 3);
static_assert(tile_vectors({16, 8}) == 2 && tile_rows({16, 8}, 2) == 2);
static_assert(plan_attend<float>(49, 49, spreading).keys.large == 3);

// What an experiment fixes.
constexpr target fixed(overrides choice) { return {64, 32, choice}; }
static_assert(tile_rows(fixed({.tile_rows = 5}), 4) == 5);
static_assert(tile_vectors(fixed({.tile_rows = 13})) == tile_vectors(wide));
static_assert(tile_rows(fixed({.tile_rows = 24}), 4) == 6);  // as many as fit
static_assert(plan_linear<float>(1, 256, 256, fixed({.panel_vectors = 2})).panels ==
              split{2, 8, 0});
static_assert(plan_linear<float>(1, 256, 256, fixed({.panel_group = 1})).group == 1);
static_assert(plan_attend<float>(64, 64, fixed({.query_vectors = 4})).queries == split{4, 1, 0});

}  // namespace

BOOST_AUTO_TEST_SUITE(plan)

BOOST_AUTO_TEST_CASE(splits_cover_everything_once) {
  for (std::size_t total = 0; total < 70; ++total) {
    for (std::size_t limit = 1; limit < 20; ++limit) {
      const split s = split_evenly(total, limit);
      std::size_t at = 0;
      for (std::size_t i = 0; i < s.count(); ++i) {
        BOOST_TEST_REQUIRE(s.offset(i) == at);
        BOOST_TEST_REQUIRE(s.size(i) >= 1u);
        BOOST_TEST_REQUIRE(s.size(i) <= limit);
        at += s.size(i);
      }
      BOOST_TEST_REQUIRE(at == total);
      if (total % 2 == 0 && limit >= 2) {
        const split pairs = split_in_pairs(total, limit);
        at = 0;
        for (std::size_t i = 0; i < pairs.count(); ++i) {
          BOOST_TEST_REQUIRE(pairs.offset(i) == at);
          BOOST_TEST_REQUIRE(
              (pairs.size(i) >= 2u && pairs.size(i) % 2 == 0 && pairs.size(i) <= limit));
          at += pairs.size(i);
        }
        BOOST_TEST_REQUIRE(at == total);
      }
      BOOST_TEST_REQUIRE(s.count() == divide_up(total, limit));
    }
  }
}

BOOST_AUTO_TEST_CASE(tiles_fit_the_registers) {
  for (target machine :
       {wide, medium, narrow, none, target{16, 32}, target{32, 32}, target{16, 16, {}, false}}) {
    for (std::size_t vectors = 1; vectors <= tile_vectors(machine); ++vectors) {
      const std::size_t rows = tile_rows(machine, vectors);
      BOOST_TEST(rows >= 1u);
      BOOST_TEST(rows * vectors + vectors + (machine.fused ? 1 : 2) <= machine.registers);
    }
  }
}

BOOST_AUTO_TEST_CASE(panels_do_not_depend_on_rows) {
  for (std::size_t out = 1; out < 300; out += 7) {
    const linear_plan one = plan_linear<float>(1, 100, out, wide);
    const linear_plan many = plan_linear<float>(77, 100, out, wide);
    BOOST_TEST((one.panels == many.panels));
    BOOST_TEST(one.vectors == divide_up(out, 16u));
    BOOST_TEST(one.group * one.panels.large * one.rows.large <= 32u);
  }
}

// 7 rows by 2 vectors, in panels that one row reads whole.
BOOST_AUTO_TEST_CASE(tiles_of_many_rows_are_two_vectors_wide) {
  const linear_plan many = plan_linear<float>(128, 256, 256, wide);
  BOOST_TEST((many.panels == split{6, 2, 1, 2}));  // 4 + 6 + 6
  BOOST_TEST((many.tile == 2u && many.rows == split{7, 14, 5}));
  const linear_plan one = plan_linear<float>(1, 256, 256, wide);
  BOOST_TEST((one.panels == many.panels && one.tile == 6u));
  BOOST_TEST(plan_linear<float>(3, 256, 256, wide).tile == 6u);
  for (std::size_t vectors = 4; vectors < 60;
       vectors += 2)  // no panel of one pair beside wider ones
    BOOST_TEST(plan_panels<float>(64, vectors * 16, wide).size(0) >= 4u);
  BOOST_TEST((plan_linear<float>(11, 64, 64, wide).rows == split{11, 1, 0}));
  BOOST_TEST((plan_linear<float>(12, 64, 64, wide).rows == split{6, 2, 0}));
  BOOST_TEST(
      (plan_linear<float>(16, 64, 64, wide).rows == split{8, 2, 0}));  // rather than 5 + 5 + 6
  BOOST_TEST(plan_linear<float>(64, 64, 52, wide).tile == 4u);         // rows share the last vector
  BOOST_TEST(plan_linear<float>(64, 64, 112, wide).tile == 4u);        // 3 + 4 vectors
  BOOST_TEST(plan_linear<float>(128, 256, 256, medium).tile == 3u);
}

BOOST_AUTO_TEST_CASE(scores_of_a_block_fit_the_first_cache) {
  for (target machine : {wide, medium, narrow, none}) {
    for (std::size_t keys = 1; keys < 600; keys += 13) {
      const attend_plan plan = plan_attend<float>(500, keys, machine);
      const std::size_t rows = keys < key_block ? keys : key_block;
      BOOST_TEST(plan.lanes * plan.queries.large * rows * sizeof(float) <= 48u * 1024u);
    }
  }
}

BOOST_AUTO_TEST_CASE(queries_lie_in_twos_and_a_three) {
  BOOST_TEST((plan_attend<float>(512, 128, wide).queries == split{2, 16, 0}));
  BOOST_TEST((plan_attend<float>(197, 197, wide).queries == split{3, 1, 5}));
  BOOST_TEST((plan_attend<float>(5, 197, wide).queries == split{1, 1, 0}));
  BOOST_TEST((plan_attend<float>(40, 40, medium).queries == split{2, 2, 1}));
}

BOOST_AUTO_TEST_CASE(a_few_queries_go_alone) {
  BOOST_TEST(queries_alone<float>(49, 49, 8, 8, wide) == 1u);
  BOOST_TEST(queries_alone<float>(50, 50, 64, 64, wide) == 2u);
  BOOST_TEST(queries_alone<float>(197, 197, 64, 64, wide) == 5u);
  BOOST_TEST(queries_alone<float>(4, 512, 64, 64, wide) == 4u);
  BOOST_TEST(queries_alone<float>(52, 52, 64, 64, medium) == 0u);  // half a vector is too many
  BOOST_TEST(queries_alone<float>(48, 48, 64, 64, wide) == 0u);
  BOOST_TEST(queries_alone<float>(60, 60, 64, 64, wide) == 0u);
  BOOST_TEST(queries_alone<float>(17, 4, 8, 8, wide) == 0u);  // too few keys to be worth it
  BOOST_TEST(queries_alone<float>(1, 500, 64, 64, wide) == 1u);
  BOOST_TEST(queries_alone<float>(49, 49, 8, 8, none) == 0u);
  BOOST_TEST((plan_attend<float>(49, 49, wide, 1).queries == split{3, 1, 0}));
}

BOOST_AUTO_TEST_CASE(heads_of_few_queries_share_lanes) {
  BOOST_TEST(heads_share_lanes<float>(4, 16, 16, 16, wide));
  BOOST_TEST(!heads_share_lanes<float>(4, 256, 64, 64, wide));
  BOOST_TEST(heads_share_lanes<float>(8, 256, 64, 64, wide));    // as many as can go by themselves
  BOOST_TEST(heads_share_lanes<float>(4, 256, 64, 64, medium));  // as many as can, too
}

// One place chooses the form of attention: what a mask hides by itself goes head by head, whatever
// the kernels can do, and a kernel is never asked for what it cannot.
BOOST_AUTO_TEST_CASE(form_of_attention) {
  constexpr attend_forms none{}, all{true, true, true, true};
  for (const seen_keys seen : {seen_keys::all, seen_keys::first, seen_keys::run, seen_keys::any})
    BOOST_TEST((choose_attend(none, seen) == attend_form::head_by_head));
  BOOST_TEST((choose_attend(all, seen_keys::any) == attend_form::head_by_head));
  BOOST_TEST((choose_attend(all, seen_keys::run) == attend_form::keys_in_lanes));
  BOOST_TEST((choose_attend(all, seen_keys::first) == attend_form::heads_in_lanes));
  constexpr attend_forms pairs{false, true, false, true};
  BOOST_TEST((choose_attend(pairs, seen_keys::all) == attend_form::heads_in_pairs));
  BOOST_TEST((choose_attend(pairs, seen_keys::first) == attend_form::last_query_by_keys));
}

BOOST_AUTO_TEST_SUITE_END()
