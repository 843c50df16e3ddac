// SPDX-License-Identifier: BSL-1.0
// Attention by an executor has the bits of attention without one: for any number of workers, with
// threads, and for pieces in any order by any worker; whatever the sizes, masks, weights and
// strides.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "../../examples/thread_pool.hpp"
#include "../support/compare.hpp"
#include "../support/executors.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

thread_pool<1> pool_of_1;
thread_pool<2> pool_of_2;
thread_pool<3> pool_of_3;
thread_pool<5> pool_of_5;
shuffled<2> shuffled_2;
shuffled<3> shuffled_3;

// call(place): one call of a layer with place where its workspace goes.
template <class Workspace, class Call, class... Executors>
void check_with(Call call, Executors&... executors) {
  static Workspace work[5];
  const auto fill = [&] { std::memset(static_cast<void*>(work), 0xff, sizeof work); };  // NaN
  fill();
  const auto wanted = call(work[4]);
  const auto check = [&](auto& executor) {
    for (int i = 0; i < 3; ++i) {
      fill();
      BOOST_TEST(same_bits(call(parallel(executor, work)), wanted),
                 std::remove_cvref_t<decltype(executor)>::workers << " workers");
    }
  };
  (check(executors), ...);
}
template <class Workspace, class Call>
void check(Call call) {
  check_with<Workspace>(call, serial, pool_of_1, pool_of_2, pool_of_3, pool_of_5, shuffled_2,
                        shuffled_3);
}
template <class Workspace, class Call>
void check_few(Call call) {
  check_with<Workspace>(call, pool_of_2, shuffled_3);
}

// Queries and keys of their own. Batch 0: no batch axis.
template <class Attention, std::size_t Batch, std::size_t Queries, std::size_t Keys>
struct problem {
  using layer = Attention;
  using T = typename Attention::value_type;
  using width = typename Attention::hidden_axis;
  template <class Position>
  using of = std::conditional_t<Batch == 0, tensor<T, Position, width>,
                                tensor<T, batch<Batch == 0 ? 1 : Batch>, Position, width>>;
  using workspace = typename Attention::template workspace<query<Queries>, key<Keys>>;

  lcg next{Queries * 7 + Keys};
  typename Attention::weights w = drawn_weights<Attention>(next);
  of<query<Queries>> x = drawn<of<query<Queries>>>(next, 2);
  of<key<Keys>> y = drawn<of<key<Keys>>>(next, 2);
  of<key<Keys>> z = drawn<of<key<Keys>>>(next);
};

template <class Problem>
void check_sizes() {
  static const Problem p;
  using workspace = typename Problem::workspace;
  const typename Problem::layer attend{p.w};
  check<workspace>([&](auto&& work) { return attend(p.x, p.y, p.z, all_keys, work); });
}
template <class Problem>
void check_sizes_with_few() {
  static const Problem p;
  using workspace = typename Problem::workspace;
  const typename Problem::layer attend{p.w};
  check_few<workspace>([&](auto&& work) { return attend(p.x, p.y, p.z, all_keys, work); });
}

template <std::size_t Hidden, std::size_t Heads, class... Options>
using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>, Options...>;

using tokens = tensor<float, batch<2>, token<37>, hidden<24>>;

struct always_the_second {
  static constexpr std::size_t workers = 2;
  template <class Piece>
  void operator()(std::size_t count, const Piece& piece) const noexcept {
    for (std::size_t index = 0; index < count; ++index) piece(index, std::size_t{1});
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(more_than_one_core)

// What the rest relies on: every index once, no two pieces by one worker at a time, done when it
// returns.
BOOST_AUTO_TEST_CASE(the_pool_is_an_executor) {
  static std::array<std::atomic<int>, 40> calls;
  static std::array<std::atomic<bool>, 3> busy;
  std::atomic<int> bad{0};
  for (std::size_t round = 0; round < 2000; ++round) {
    const std::size_t count = round % (calls.size() + 1);
    for (auto& c : calls) c = 0;
    pool_of_3(count, [&](std::size_t index, std::size_t worker) noexcept {
      bad += worker >= 3 || busy[worker].exchange(true);
      ++calls[index];
      busy[worker] = false;
    });
    for (std::size_t i = 0; i < calls.size(); ++i) bad += calls[i] != (i < count ? 1 : 0);
  }
  BOOST_TEST(bad == 0);
}

BOOST_AUTO_TEST_CASE(any_sizes) {
  check_sizes<problem<attention<24, 3>, 0, 37, 45>>();
  check_sizes<problem<attention<24, 3, bias<true>>, 5, 19, 33>>();
  check_sizes_with_few<problem<attention<24, 3>, 1, 37, 45>>();
  check_sizes_with_few<problem<attention<24, 3>, 2, 37, 45>>();
  check_sizes_with_few<problem<attention<20, 1>, 0, 100, 7>>();
  check_sizes_with_few<problem<attention<16, 2, bias<true>>, 0, 40, 300>>();
  check_sizes_with_few<problem<multi_head_attention<double, hidden<12>, heads<2>>, 3, 9, 11>>();
}

// Where several heads share a vector, and a single query.
BOOST_AUTO_TEST_CASE(few_queries) {
  check_sizes_with_few<problem<attention<32, 4>, 0, 4, 70>>();
  check_sizes_with_few<problem<attention<32, 4>, 3, 1, 70>>();
}

// An output of few features has rows in the lanes.
BOOST_AUTO_TEST_CASE(widths_of_its_own) {
  check_sizes_with_few<
      problem<attention<20, 4, output_to<hidden<3>>, head_dim<7>, value_dim<5>>, 0, 70, 33>>();
}

BOOST_AUTO_TEST_CASE(grouped_heads_and_rotary_positions) {
  check_sizes_with_few<problem<attention<24, 4, kv_heads<2>, rope<split_halves>>, 3, 37, 45>>();
  check_sizes_with_few<
      problem<attention<24, 4, kv_heads<1>, head_dim<10>, rope<adjacent_pairs>>, 0, 50, 50>>();
}

BOOST_AUTO_TEST_CASE(masks) {
  using layer = attention<24, 3, softcap<5>, empty_rows<uniform_weights>>;
  using workspace = layer::workspace<token<37>>;
  lcg next{3};
  static const auto w = drawn_weights<layer>(next);
  [[maybe_unused]] static const auto x = drawn<tokens>(next, 2);  // g++ 12 sees no use
  const layer attend{w};
  const tensor<int, batch<2>> lens{30, 0};
  check_few<workspace>([&](auto&& work) { return attend(x, causal, work); });
  check_few<workspace>([&](auto&& work) { return attend(x, lens, work); });
  static tensor<bool, batch<2>, heads<3>, token<37>, key<37>> flags{};
  for (bool& f : flags) f = next() > -0.5f;
  const auto kept = flags | rename_axis<token, query>;
  check_few<workspace>(
      [&](auto&& work) { return attend(x, lens & keep_mask(kept) & alibi & causal, work); });
}

// What is observed is written by several workers; what is dropped depends on the seed alone.
BOOST_AUTO_TEST_CASE(observing_and_dropping) {
  using layer = attention<24, 3>;
  lcg next{4};
  static const auto w = drawn_weights<layer>(next);
  static const auto x = drawn<tensor<float, batch<3>, token<37>, hidden<24>>>(next, 2);
  static layer::workspace<token<37>> work[3];
  using seen = tensor<float, batch<3>, heads<3>, query<37>, key<37>>;
  static seen wanted, got;
  const auto out = layer{w}(x, dropout(0.25, 9) & observe(wanted), work[0]);
  BOOST_TEST(
      same_bits(layer{w}(x, dropout(0.25, 9) & observe(got), parallel(pool_of_2, work)), out));
  BOOST_TEST(same_bits(got, wanted));
  got = {};
  BOOST_TEST(
      same_bits(layer{w}(x, dropout(0.25, 9) & observe(got), parallel(shuffled_2, work)), out));
  BOOST_TEST(same_bits(got, wanted));
}

BOOST_AUTO_TEST_CASE(packed_and_stored_in_16_bits) {
  using layer = attention<24, 3, bias<true>>;
  lcg next{5};
  static const auto w = drawn_weights<layer>(next);
  [[maybe_unused]] static const auto x = drawn<tokens>(next, 2);  // g++ 12 sees no use
  static const prepacked<layer> packed{w};
  static const prepacked<layer, stored_as<bfloat16>> stored{w};
  using workspace = layer::workspace<token<37>>;
  check_few<workspace>([&](auto&& work) { return packed(x | select_at<batch>(1), causal, work); });
  check_few<workspace>([&](auto&& work) { return stored(x, causal, work); });
}

// into() writes the bits of the call, wherever the result lies, and nothing else.
BOOST_AUTO_TEST_CASE(into_memory_of_the_callers) {
  using layer = attention<24, 3>;
  lcg next{6};
  static const auto w = drawn_weights<layer>(next);
  static const auto x = drawn<tensor<float, batch<3>, token<37>, hidden<24>>>(next, 2);
  static std::array<layer::workspace<token<37>>, 3> work;
  const auto wanted = layer{w}(x, causal, work[0]);
  const auto check_into = [&](auto& executor) {
    static tensor<float, hidden<24>, batch<3>, token<37>> turned;
    layer{w}.into(turned, x, causal, parallel(executor, work));
    BOOST_TEST(same_bits(turned | permute<batch, token, hidden>, wanted));
    static tensor<float, batch<3>, token<50>, hidden<40>> wider;
    for (float& e : wider) e = -5;
    const auto part =
        wider | slice<token, from<7>, extent<37>> | slice<hidden, from<9>, extent<24>>;
    layer{w}.into(part, x, causal, parallel(executor, work));
    BOOST_TEST(same_bits(part, wanted));
    std::size_t untouched = 0;
    for (float e : wider) untouched += e == -5;
    BOOST_TEST(untouched == std::size_t{3 * (50 * 40 - 37 * 24)});
  };
  check_into(pool_of_2);
  check_into(shuffled_3);
}

// A piece has the scratch of its worker: two of them run beside each other.
BOOST_AUTO_TEST_CASE(a_worker_keeps_to_its_own_scratch) {
  using layer = attention<24, 3>;
  static const always_the_second executor;
  static const layer::weights w{};
  static layer::workspace<token<37>> work[2];
  const auto untouched = [](const auto& memory) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&memory);
    return std::all_of(bytes, bytes + sizeof memory, [](unsigned char b) { return b == 0xff; });
  };
  std::memset(static_cast<void*>(work), 0xff, sizeof work);
  (void)layer{w}(tensor<float, token<37>, hidden<24>>{}, causal, parallel(executor, work));
  BOOST_TEST(untouched(work[0].scratch));
  BOOST_TEST(!untouched(work[1].scratch));
  std::memset(static_cast<void*>(work), 0xff, sizeof work);
  (void)layer{w}(tensor<float, batch<2>, token<37>, hidden<24>>{}, causal,
                 parallel(executor, work));
  BOOST_TEST(untouched(work[0]));
}

// A call is cut into pieces at all: sequences while there is one for each worker, parts of the
// others.
BOOST_AUTO_TEST_CASE(what_is_handed_out) {
  using layer = attention<24, 3>;
  static const layer::weights w{};
  static layer::workspace<token<37>> work[2];
  shuffled<2> four, five;
  (void)layer{w}(tensor<float, batch<4>, token<37>, hidden<24>>{}, causal, parallel(four, work));
  BOOST_TEST(four.pieces == 4u);
  (void)layer{w}(tensor<float, batch<5>, token<37>, hidden<24>>{}, causal, parallel(five, work));
  BOOST_TEST(five.pieces > 4u + 3u + 4u * 2u);  // heads, at least two blocks of rows of each map
}

BOOST_AUTO_TEST_SUITE_END()
