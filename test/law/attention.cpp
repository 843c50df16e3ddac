// SPDX-License-Identifier: BSL-1.0
// What holds for multi-head attention whatever the numbers are, nearly all of it to the bit:
// sequences of a batch and queries of a sequence do not know of each other, lengths are truncation,
// what lies past them is not read, memory order and scratch do not show.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

// A small case with tails everywhere, one past a vector, and one past a block of keys.
template <std::size_t Batch, std::size_t Queries, std::size_t Keys, std::size_t Hidden,
          std::size_t Heads, bool Bias>
struct problem {
  static constexpr std::size_t batches = Batch, queries_count = Queries, keys_count = Keys,
                               width = Hidden;
  static constexpr bool has_bias = Bias;
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>, bias<Bias>>;
  using queries = tensor<float, batch<Batch>, query<Queries>, hidden<Hidden>>;
  using context = tensor<float, batch<Batch>, key<Keys>, hidden<Hidden>>;
  using lens = tensor<int, batch<Batch>>;
  using workspace = typename attention::template workspace<query<Queries>, key<Keys>>;

  lcg next{Queries * 7 + Hidden};
  typename attention::weights w = drawn_weights<attention>(next);
  attention attend{w};
  queries x = drawn<queries>(next, 2);
  context y = drawn<context>(next, 2), z = drawn<context>(next);

  problem() = default;
  problem(const problem&) = delete;  // attend points into it

  static lens every_length(int length) {
    lens out{};
    for (int& l : out) l = length;
    return out;
  }
};
using small = problem<3, 5, 7, 12, 3, true>;
using wide = problem<2, 17, 33, 40, 5, false>;
using long_keys = problem<2, 3, 300, 8, 2, true>;

template <class F>
void for_problems(F f) {
  f(small{});
  f(wide{});
  f(long_keys{});
}

template <std::size_t... I, class F>
void for_indices(std::index_sequence<I...>, F f) {
  (f(std::integral_constant<std::size_t, I>{}), ...);
}

template <class X>
bool all_finite(const X& x) {
  bool finite = true;
  for_each([&](const auto& e) { finite = finite && std::isfinite(e); }, x);
  return finite;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_laws)

BOOST_AUTO_TEST_CASE(a_batch_is_its_sequences_one_by_one) {
  for_problems([](const auto& p) {
    constexpr std::size_t batches = std::remove_cvref_t<decltype(p)>::batches;
    auto lens = p.every_length(0);
    for (std::size_t b = 0; b < batches; ++b) lens(b) = static_cast<int>(b + 2);
    const auto all = p.attend(p.x, p.y, p.z);
    const auto some = p.attend(p.x, p.y, p.z, lens);
    for_indices(std::make_index_sequence<batches>{}, [&](auto b) {
      const auto x = p.x | slice<batch, from<b>, extent<1>>;
      const auto y = p.y | slice<batch, from<b>, extent<1>>,
                 z = p.z | slice<batch, from<b>, extent<1>>;
      BOOST_TEST(same_bits(p.attend(x, y, z), all | slice<batch, from<b>, extent<1>>));
      BOOST_TEST(same_bits(p.attend(x, y, z, lens | slice<batch, from<b>, extent<1>>),
                           some | slice<batch, from<b>, extent<1>>));
      // And without a batch axis.
      BOOST_TEST(same_bits(
          p.attend(p.x | select_at<batch>(b), p.y | select_at<batch>(b), p.z | select_at<batch>(b)),
          all | select_at<batch>(b)));
    });
  });
}

BOOST_AUTO_TEST_CASE(queries_do_not_know_of_each_other) {
  for_problems([](const auto& p) {
    const auto all = p.attend(p.x, p.y, p.z);
    BOOST_TEST(same_bits(p.attend(p.x | slice<query, from<0>, extent<1>>, p.y, p.z),
                         all | slice<query, from<0>, extent<1>>));
    BOOST_TEST(same_bits(p.attend(p.x | slice<query, from<1>, extent<2>>, p.y, p.z),
                         all | slice<query, from<1>, extent<2>>));
    constexpr std::size_t last = std::remove_cvref_t<decltype(p)>::queries_count - 1;
    const auto lens = p.every_length(6);
    BOOST_TEST(same_bits(p.attend(p.x | slice<query, from<last>, extent<1>>, p.y, p.z),
                         all | slice<query, from<last>, extent<1>>));
    BOOST_TEST(same_bits(p.attend(p.x | slice<query, from<last>, extent<1>>, p.y, p.z, lens),
                         p.attend(p.x, p.y, p.z, lens) | slice<query, from<last>, extent<1>>));
  });
}

BOOST_AUTO_TEST_CASE(a_length_is_truncation) {
  const auto check = [](const auto& p, auto length) {
    const auto lens = p.every_length(static_cast<int>(length));
    BOOST_TEST(same_bits(p.attend(p.x, p.y, p.z, lens),
                         p.attend(p.x, p.y | slice<key, from<0>, extent<length>>,
                                  p.z | slice<key, from<0>, extent<length>>)),
               "length " << length);
  };
  const small s;
  for_indices(std::make_index_sequence<7>{},
              [&](auto i) { check(s, std::integral_constant<std::size_t, i + 1>{}); });
  const wide w;
  check(w, std::integral_constant<std::size_t, 1>{});
  check(w, std::integral_constant<std::size_t, 16>{});
  check(w, std::integral_constant<std::size_t, 31>{});
  const long_keys l;
  check(l, std::integral_constant<std::size_t, 2>{});
  check(l, std::integral_constant<std::size_t, 255>{});
  check(l, std::integral_constant<std::size_t, 256>{});
  check(l, std::integral_constant<std::size_t, 257>{});
  check(l, std::integral_constant<std::size_t, 299>{});
}

BOOST_AUTO_TEST_CASE(lengths_are_clamped) {
  for_problems([](const auto& p) {
    constexpr int keys = static_cast<int>(std::remove_cvref_t<decltype(p)>::keys_count);
    const auto all = p.attend(p.x, p.y, p.z);
    for (int length : {keys, keys + 1, std::numeric_limits<int>::max()})
      BOOST_TEST(same_bits(p.attend(p.x, p.y, p.z, p.every_length(length)), all));
    const auto none = p.attend(p.x, p.y, p.z, p.every_length(0));
    for (int length : {-1, std::numeric_limits<int>::min()})
      BOOST_TEST(same_bits(p.attend(p.x, p.y, p.z, p.every_length(length)), none));
  });
}

// Nothing to attend to: the context is zero, so the output projection leaves its bias, or zeros.
BOOST_AUTO_TEST_CASE(a_length_of_zero_gives_the_bias) {
  for_problems([](const auto& p) {
    const auto none = p.attend(p.x, p.y, p.z, p.every_length(0));
    for (std::size_t b = 0; b < p.batches; ++b)
      for (std::size_t i = 0; i < p.queries_count; ++i)
        for (std::size_t h = 0; h < p.width; ++h) {
          float wanted = 0;
          if constexpr (std::remove_cvref_t<decltype(p)>::has_bias) wanted = p.w.o.bias[h];
          BOOST_TEST(none(b, i, h) == wanted);
        }
  });
}

BOOST_AUTO_TEST_CASE(any_integer_is_a_length) {
  const small p;
  const auto wanted = p.attend(p.x, p.y, p.z, tensor<int, batch<3>>{3, 0, 7});
  BOOST_TEST(same_bits(p.attend(p.x, p.y, p.z, tensor<unsigned char, batch<3>>{3, 0, 7}), wanted));
  BOOST_TEST(
      same_bits(p.attend(p.x, p.y, p.z, tensor<long long, batch<3>>{3, -9, 1LL << 40}), wanted));
  BOOST_TEST(same_bits(p.attend(p.x, p.y, p.z, tensor<std::size_t, batch<3>>{3, 0, 99}), wanted));
  // From every other element of an array, and one length for all.
  const short array[5] = {3, 77, 0, 77, 7};
  BOOST_TEST(same_bits(p.attend(p.x, p.y, p.z, view_as<strided<batch<3>, 2>>(array)), wanted));
  const int one = 4;
  BOOST_TEST(same_bits(p.attend(p.x, p.y, p.z, view<const int, strided<batch<3>, 0>>(&one)),
                       p.attend(p.x, p.y, p.z, p.every_length(4))));
}

// Each sequence has its own length; past it stand NaN and infinity.
BOOST_AUTO_TEST_CASE(past_the_length_nothing_is_read) {
  for_problems([](const auto& p) {
    constexpr auto keys = std::remove_cvref_t<decltype(p)>::keys_count;
    auto lens = p.every_length(0);
    for (std::size_t b = 0; b < p.batches; ++b) lens(b) = static_cast<int>(keys * b / p.batches);
    auto y = p.y, z = p.z;
    for (std::size_t b = 0; b < p.batches; ++b)
      for (std::size_t j = static_cast<std::size_t>(lens(b)); j < keys; ++j) {
        y(b, j, j % 8) = std::nanf("");
        z(b, j, (j + 3) % 8) = j % 2 == 0 ? INFINITY : std::nanf("");
      }
    const auto clean = p.attend(p.x, p.y, p.z, lens);
    BOOST_TEST(all_finite(clean));
    BOOST_TEST(same_bits(p.attend(p.x, y, z, lens), clean));
    const prepacked<std::remove_cvref_t<decltype(p.attend)>> packed{p.w};
    BOOST_TEST(same_bits(packed(p.x, y, z, lens), clean));
  });
}

BOOST_AUTO_TEST_CASE(nan_in_a_query_stays_in_its_row) {
  for_problems([](const auto& p) {
    auto x = p.x;
    x(1, 2, 0) = std::nanf("");
    const auto clean = p.attend(p.x, p.y, p.z), spoilt = p.attend(x, p.y, p.z);
    for (std::size_t b = 0; b < p.batches; ++b)
      for (std::size_t i = 0; i < p.queries_count; ++i)
        for (std::size_t h = 0; h < p.width; ++h) {
          if (b == 1 && i == 2)
            BOOST_TEST(std::isnan(spoilt(b, i, h)));
          else
            BOOST_TEST(std::memcmp(&spoilt(b, i, h), &clean(b, i, h), sizeof(float)) == 0);
        }
  });
}

// A key that counts and is NaN spoils every query of its sequence, and no other sequence.
BOOST_AUTO_TEST_CASE(nan_in_a_key_stays_in_its_sequence) {
  const small p;
  auto y = p.y;
  y(1, 3, 4) = std::nanf("");
  const auto clean = p.attend(p.x, p.y, p.z), spoilt = p.attend(p.x, y, p.z);
  BOOST_TEST(same_bits(spoilt | select_at<batch, 0>, clean | select_at<batch, 0>));
  BOOST_TEST(same_bits(spoilt | select_at<batch, 2>, clean | select_at<batch, 2>));
  for_each([](const float& e) { BOOST_TEST(std::isnan(e)); }, spoilt | select_at<batch, 1>);
}

// Keys in another order, with their values: a score is a chain over head_dim and the maximum is
// free of order, so every weight before the division has the same bits; only sums over keys are
// chained in another order, and the result is the same but for their rounding.
BOOST_AUTO_TEST_CASE(the_order_of_keys_matters_to_rounding_only) {
  for_problems([](const auto& p) {
    constexpr auto keys = std::remove_cvref_t<decltype(p)>::keys_count;
    auto y = p.y, z = p.z;
    for (std::size_t b = 0; b < p.batches; ++b)
      for (std::size_t j = 0; j < keys; ++j)
        for (std::size_t h = 0; h < p.width; ++h) {
          y(b, j, h) = p.y(b, keys - 1 - j, h);
          z(b, j, h) = p.z(b, keys - 1 - j, h);
        }
    const auto forwards = p.attend(p.x, p.y, p.z), backwards = p.attend(p.x, y, z);
    const distance d =
        distance_of(backwards.data(), forwards.data(), forwards.end() - forwards.begin());
    BOOST_TEST(d.error <= 1e-6 * (1 + d.reference));
    const auto scores = contract<hidden>(p.x, p.y), turned = contract<hidden>(p.x, y);
    BOOST_TEST(same_bits(scores | select_at<key, 0>, turned | select_at<key, keys - 1>));
  });
}

// Scores so large that one key takes all: with unit matrices for weights and inputs far apart,
// every position finds itself and nothing else, exactly.
BOOST_AUTO_TEST_CASE(large_scores_choose) {
  using attention = multi_head_attention<float, hidden<20>, heads<1>>;
  attention::weights w{};
  for (auto* m : {&w.q, &w.k, &w.v, &w.o})
    for (std::size_t i = 0; i < 20; ++i) (*m)(i, i) = 1;
  tensor<float, token<20>, hidden<20>> x{};
  for (std::size_t i = 0; i < 20; ++i) x(i, i) = 1000.0f + static_cast<float>(i);
  BOOST_TEST(same_bits(attention{w}(x), x));
  for_problems([](const auto& p) {
    const auto out = p.attend(p.x * 1000.0f, p.y * 1000.0f, p.z);
    BOOST_TEST(all_finite(out));
    // Larger than any float: a score of +infinity is the caller's error and shows.
    BOOST_TEST(!all_finite(p.attend(p.x * 1e30f, p.y * 1e30f, p.z)));
  });
}

BOOST_AUTO_TEST_CASE(self_is_cross_with_itself) {
  for_problems([](const auto& p) {
    const auto as_keys = p.x | rename_axis<query, key>;
    const auto wanted = p.attend(p.x, as_keys, as_keys);
    BOOST_TEST(same_bits(p.attend(p.x), wanted));
    const auto lens = p.every_length(2);
    BOOST_TEST(same_bits(p.attend(p.x, lens), p.attend(p.x, as_keys, as_keys, lens)));
    BOOST_TEST(
        same_bits(p.attend(p.x | rename_axis<query, token>) | rename_axis<token, query>, wanted));
  });
}

BOOST_AUTO_TEST_CASE(keys_and_values_may_differ_in_memory) {
  const small p;
  const auto wanted = p.attend(p.x, p.y, p.z);
  const auto z = p.z | permute<hidden, key, batch> | contiguous;
  BOOST_TEST(same_bits(p.attend(p.x, p.y, z), wanted));
}

// Axes in any order, by views and by memory; a slice of something wider; one sequence for all.
BOOST_AUTO_TEST_CASE(memory_order_does_not_show) {
  const auto check = [](const auto& p) {
    const auto wanted = p.attend(p.x, p.y, p.z);
    const auto back = [](const auto& out) { return out | permute<batch, query, hidden>; };
    const auto x1 = p.x | permute<query, batch, hidden> | contiguous;
    const auto x2 = p.x | permute<hidden, query, batch> | contiguous;
    const auto y2 = p.y | permute<key, hidden, batch> | contiguous;
    BOOST_TEST(same_bits(back(p.attend(x1, p.y, p.z)), wanted));
    BOOST_TEST(same_bits(back(p.attend(x2, y2, p.z)), wanted));
    BOOST_TEST(same_bits(
        p.attend(p.x | permute<hidden, batch, query> | permute<batch, query, hidden>, p.y, p.z),
        wanted));
    BOOST_TEST(same_bits(back(p.attend(x2 | permute<batch, hidden, query>, y2, p.z)), wanted));
    const auto packed = prepacked<std::remove_cvref_t<decltype(p.attend)>>{p.w};
    BOOST_TEST(same_bits(back(packed(x2, y2, p.z)), wanted));
  };
  const small s;
  check(s);
  const wide w;
  check(w);
}

BOOST_AUTO_TEST_CASE(a_slice_of_something_wider) {
  const small p;
  tensor<float, batch<3>, query<9>, hidden<20>> wider{};
  for (float& e : wider) e = std::nanf("");
  const auto x = wider | slice<query, from<2>, extent<5>> | slice<hidden, from<3>, extent<12>>;
  copy(p.x, x);
  BOOST_TEST(same_bits(p.attend(x, p.y, p.z), p.attend(p.x, p.y, p.z)));
  BOOST_TEST(same_bits(p.attend(x), p.attend(p.x)));
}

BOOST_AUTO_TEST_CASE(one_context_for_the_whole_batch) {
  const small p;
  const auto y = p.y | select_at<batch, 1> | broadcast<batch<3>, key<7>, hidden<12>>;
  const auto z = p.z | select_at<batch, 1> | broadcast<batch<3>, key<7>, hidden<12>>;
  BOOST_TEST(same_bits(p.attend(p.x, y, z), p.attend(p.x, y | contiguous, z | contiguous)));
}

BOOST_AUTO_TEST_CASE(scratch_does_not_show) {
  for_problems([](const auto& p) {
    static typename std::remove_cvref_t<decltype(p)>::workspace work;
    const auto on_the_stack = p.attend(p.x, p.y, p.z);
    BOOST_TEST(same_bits(p.attend(p.x, p.y, p.z, all_keys, work), on_the_stack));
    std::memset(static_cast<void*>(&work), 0xff, sizeof work);  // NaN
    BOOST_TEST(same_bits(p.attend(p.x, p.y, p.z, all_keys, work), on_the_stack));
    const auto lens = p.every_length(3);
    const auto with_lens = p.attend(p.x, p.y, p.z, lens);
    std::memset(static_cast<void*>(&work), 0xff, sizeof work);
    BOOST_TEST(same_bits(p.attend(p.x, p.y, p.z, lens, work), with_lens));
    BOOST_TEST(same_bits(p.attend(p.x, p.y, p.z, lens, work), with_lens));  // as it was left
    const prepacked<std::remove_cvref_t<decltype(p.attend)>> packed{p.w};
    std::memset(static_cast<void*>(&work), 0xff, sizeof work);
    BOOST_TEST(same_bits(packed(p.x, p.y, p.z, lens, work), with_lens));
  });
}

// into() gives the bits of the call, wherever the result lies, and writes nothing else.
BOOST_AUTO_TEST_CASE(into_memory_of_the_callers) {
  const small p;
  const auto wanted = p.attend(p.x, p.y, p.z);
  small::queries out{};
  p.attend.into(out, p.x, p.y, p.z);
  BOOST_TEST(same_bits(out, wanted));
  tensor<float, hidden<12>, batch<3>, query<5>> turned{};
  p.attend.into(turned, p.x, p.y, p.z);
  BOOST_TEST(same_bits(turned | permute<batch, query, hidden>, wanted));
  tensor<float, batch<3>, query<9>, hidden<20>> wider{};
  for (float& e : wider) e = -5;
  const auto part = wider | slice<query, from<2>, extent<5>> | slice<hidden, from<3>, extent<12>>;
  prepacked<small::attention>{p.w}.into(part, p.x, p.y, p.z);
  BOOST_TEST(same_bits(part, wanted));
  std::size_t untouched = 0;
  for (float e : wider) untouched += e == -5;
  BOOST_TEST(untouched == std::size_t{3 * (9 * 20 - 5 * 12)});
  p.attend.into(out, p.x, small::lens{1, 2, 3});
  BOOST_TEST(same_bits(out, p.attend(p.x, small::lens{1, 2, 3})));
}

// The weights of a layer may lie anywhere: arrays, flash.
BOOST_AUTO_TEST_CASE(weights_by_pointer) {
  const small p;
  float arrays[4][12 * 12], biases[4][12];
  std::memcpy(arrays[0], p.w.q.weight, sizeof arrays[0]);
  std::memcpy(arrays[1], p.w.k.weight, sizeof arrays[0]);
  std::memcpy(arrays[2], p.w.v.weight, sizeof arrays[0]);
  std::memcpy(arrays[3], p.w.o.weight, sizeof arrays[0]);
  std::memcpy(biases[0], p.w.q.bias, sizeof biases[0]);
  std::memcpy(biases[1], p.w.k.bias, sizeof biases[0]);
  std::memcpy(biases[2], p.w.v.bias, sizeof biases[0]);
  std::memcpy(biases[3], p.w.o.bias, sizeof biases[0]);
  using projection = linear<float, hidden<12>, hidden<12>, bias<true>>::weights_view;
  const float* const flash = arrays[2];
  std::array<float, 12 * 12> array;
  std::memcpy(array.data(), arrays[3], sizeof array);
  const small::attention::weights_view by_pointer{
      projection(view_as<in_features, out_features>(arrays[0]), biases[0]),
      {view_as<in_features, out_features>(std::span<const float, 12 * 12>(arrays[1])), biases[1]},
      {view_as<in_features, out_features>(flash), std::span<const float, 12>(biases[2])},
      {view_as<in_features, out_features>(array), static_cast<const float*>(biases[3])}};
  const auto wanted = p.attend(p.x, p.y, p.z);
  BOOST_TEST(same_bits(small::attention{by_pointer}(p.x, p.y, p.z), wanted));
  const prepacked<small::attention> packed{by_pointer};
  for (auto& each : arrays) std::memset(each, 0xff, sizeof each);  // packed ones are a copy
  array.fill(0);
  BOOST_TEST(same_bits(packed(p.x, p.y, p.z), wanted));
}

BOOST_AUTO_TEST_SUITE_END()
