// SPDX-License-Identifier: BSL-1.0
// What holds for a cache of keys and values of attention, in floats and in integers, to the bit: a
// sequence in steps of any sizes is the whole causal pass; what was rewound has never been; a step
// that does not fit changes nothing. Not here: layers and stacks (cache_of_blocks.cpp), keys and
// values in 16 and 8 bits (stored_cache.cpp).
#include <boost/test/unit_test.hpp>
#include <umbel/quantized.hpp>
#include <umbel/umbel.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "../support/compare.hpp"
#include "../support/quantized.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using rotary_groups = multi_head_attention<float, hidden<20>, heads<6>, head_dim<8>, value_dim<5>,
                                           kv_heads<3>, rope<split_halves>, bias<true>>;
using simple = multi_head_attention<double, hidden<12>, heads<3>, softcap<3>>;

template <class Layer, std::size_t Tokens>
using sequence = tensor<typename Layer::value_type, token<Tokens>, typename Layer::hidden_axis>;

// The positions from First on, Count of them.
template <std::size_t Count, class X>
auto part(X& x, std::size_t first) {
  using T = std::remove_pointer_t<decltype(x.data())>;
  return view<T, token<Count>, hidden<X::layout::extents[1]>>(x.data() +
                                                              first * X::layout::extents[1]);
}

// Steps of the given sizes, over and over, until the sequence is through.
template <std::size_t... Sizes, class Cache, class Attend, class X, class Mask = detail::every_key>
auto in_steps(Cache& past, const Attend& attend, const X& x, const Mask& mask = {}) {
  X out{};
  std::size_t at = past.size();
  const auto one = [&]<std::size_t Size>(std::integral_constant<std::size_t, Size>) {
    if (at + Size > X::layout::extents[0]) return;
    static typename Cache::template workspace<token<Size>> work;
    BOOST_TEST_REQUIRE(past.step(part<Size>(out, at), attend, part<Size>(x, at), mask, work));
    at += Size;
  };
  while (at < X::layout::extents[0]) {
    const std::size_t before = at;
    (one(std::integral_constant<std::size_t, Sizes>{}), ...);
    if (at == before) one(std::integral_constant<std::size_t, 1>{});
  }
  BOOST_TEST(past.size() == at);
  return out;
}

template <class Layer, std::size_t Tokens>
struct fixture {
  lcg next{Tokens};
  typename Layer::weights w = drawn_weights<Layer>(next);
  Layer attend{w};
  sequence<Layer, Tokens> x = drawn<sequence<Layer, Tokens>>(next, 2);
};

BOOST_AUTO_TEST_SUITE(cache)

BOOST_AUTO_TEST_CASE(steps_are_the_whole_pass) {
  static const fixture<rotary_groups, 300> f;
  const prepacked<rotary_groups> packed{f.w};
  static rotary_groups::workspace<token<300>> work;
  const auto whole = f.attend(f.x, causal, work);
  static key_value_cache<rotary_groups, key<300>> past;
  BOOST_TEST(same_bits(whole, in_steps<1>(past, f.attend, f.x)));
  past.reset();
  BOOST_TEST(same_bits(whole, in_steps<17, 1, 5>(past, packed, f.x)));
  past.reset();
  BOOST_TEST(same_bits(whole, in_steps<300>(past, f.attend, f.x)));
}

// What was appended is as if it had been stepped over, in any cuts, also where a sliding cache
// drops it.
template <std::size_t Appended, std::size_t Stepped, class Cache, class Attend, class X>
auto in_steps_and_appended(Cache& past, const Attend& attend, const X& x, const X& whole) {
  using T = typename X::value_type;
  static typename Cache::template workspace<key<Appended>> work;
  static typename Cache::template workspace<token<Stepped>> step_work;
  std::size_t wrong = 0;
  for (std::size_t at = 0; at + Appended + Stepped <= X::layout::extents[0];) {
    const view<const T, key<Appended>, hidden<X::layout::extents[1]>> more(
        x.data() + at * X::layout::extents[1]);
    BOOST_TEST_REQUIRE(past.append(attend, more, more, work));
    at += Appended;
    tensor<T, token<Stepped>, hidden<X::layout::extents[1]>> out{};
    BOOST_TEST_REQUIRE(past.step(out, attend, part<Stepped>(x, at), all_keys, step_work));
    wrong += !same_bits(out, part<Stepped>(whole, at));
    at += Stepped;
  }
  return wrong;
}

BOOST_AUTO_TEST_CASE(appended_is_stepped_over) {
  static const fixture<rotary_groups, 300> f;
  static rotary_groups::workspace<token<300>> work;
  const auto whole = f.attend(f.x, causal, work);
  static key_value_cache<rotary_groups, key<300>> past;
  BOOST_TEST((in_steps_and_appended<7, 2>(past, f.attend, f.x, whole)) == 0u);
  const auto window = f.attend(f.x, sliding_window<9>, work);
  static key_value_cache<rotary_groups, key<10>, longest_sequence<300, 5>> slid;
  BOOST_TEST((in_steps_and_appended<5, 1>(slid, f.attend, f.x, window)) == 0u);
  BOOST_TEST(slid.size() == 300u);
  slid.reset();
  BOOST_TEST((in_steps_and_appended<2, 4>(slid, f.attend, f.x, window)) == 0u);
}

BOOST_AUTO_TEST_CASE(with_masks_of_positions) {
  static const fixture<simple, 40> f;
  tensor<bool, query<1>, key<40>> padding{};
  for (std::size_t j = 0; j < 40; ++j) padding(0, j) = j % 5 != 2;
  tensor<bool, key<40>> kept{};
  for (std::size_t j = 0; j < 40; ++j) kept(j) = padding(0, j);
  static simple::workspace<token<40>> work;
  const auto whole = f.attend(f.x, causal & alibi & keep_mask(kept), work);
  static key_value_cache<simple, key<40>> past;
  BOOST_TEST(same_bits(whole, in_steps<1>(past, f.attend, f.x, alibi & keep_mask(padding))));
  past.reset();
  BOOST_TEST(same_bits(whole, in_steps<3, 4>(past, f.attend, f.x, keep_mask(kept) & alibi)));
  past.reset();
  const auto window = f.attend(f.x, sliding_window<7>, work);
  BOOST_TEST(same_bits(window, in_steps<4, 1>(past, f.attend, f.x, sliding_window<7>)));
}

// The queries of a step are the last positions: both ends that they share with the keys are where
// they are.
BOOST_AUTO_TEST_CASE(ends_that_queries_and_keys_share) {
  static const fixture<simple, 40> f;
  static simple::workspace<token<40>> work;
  const auto whole = f.attend(f.x, sliding_window<7> & alibi, work);
  static key_value_cache<simple, key<40>> past;
  BOOST_TEST(same_bits(whole, in_steps<4, 1>(past, f.attend, f.x,
                                             sliding_window_bottom_right<7> & alibi_bottom_right)));
  past.reset();
  BOOST_TEST(same_bits(
      whole, in_steps<4, 1>(past, f.attend, f.x, sliding_window_top_left<7> & alibi_top_left)));
}

// The mean of what is stored up to the query, in any cuts.
BOOST_AUTO_TEST_CASE(rows_without_keys) {
  using averaging = multi_head_attention<float, hidden<12>, heads<3>, empty_rows<uniform_weights>>;
  static const fixture<averaging, 300> f;
  const tensor<int> none{0};
  static averaging::workspace<token<300>> work;
  const auto whole = f.attend(f.x, none, work);
  static key_value_cache<averaging, key<310>> past;
  const auto stepped = in_steps<1>(past, f.attend, f.x, none);
  for (std::size_t d = 0; d < 12; ++d) BOOST_TEST(stepped(299, d) == whole(299, d));
  const auto first = f.attend(part<1>(f.x, 0));
  for (std::size_t d = 0; d < 12; ++d) BOOST_TEST(stepped(0, d) == first(0, d));
  past.reset();
  BOOST_TEST(same_bits(stepped, in_steps<17, 1>(past, f.attend, f.x, none)));

  past.reset();
  BOOST_TEST(past.append(f.attend, part<2>(f.x, 0) | rename_axis<token, key>,
                         part<2>(f.x, 0) | rename_axis<token, key>));
  tensor<float, token<2>, hidden<12>> out{};
  tensor<float, heads<3>, query<2>, key<310>> weights{};
  BOOST_TEST(past.step(out, f.attend, part<2>(f.x, 2), none & observe(weights)));
  for (std::size_t j = 0; j < 310; ++j) {
    BOOST_TEST(weights(1, 0, j) == (j < 3 ? 1.0f / 3 : 0));
    BOOST_TEST(weights(1, 1, j) == (j < 4 ? 0.25f : 0));
  }

  static key_value_cache<averaging, key<4>, longest_sequence<300>> slid;
  const auto recent = in_steps<1>(slid, f.attend, f.x, causal_at(-1000));
  past.reset();
  tensor<float, token<4>, hidden<12>> four{};
  BOOST_TEST(past.step(four, f.attend, part<4>(f.x, 296), none));
  for (std::size_t d = 0; d < 12; ++d) BOOST_TEST(recent(299, d) == four(3, d));
}

// The oldest positions are dropped several times.
BOOST_AUTO_TEST_CASE(a_sliding_cache_is_the_whole_pass_with_its_window) {
  static const fixture<rotary_groups, 900> f;
  static rotary_groups::workspace<token<900>> work;
  const auto whole = f.attend(f.x, sliding_window<39>, work);
  static key_value_cache<rotary_groups, key<40>, longest_sequence<900>> past;
  BOOST_TEST(same_bits(whole, in_steps<1>(past, f.attend, f.x)));
  static key_value_cache<rotary_groups, key<40>, longest_sequence<1000, 7>> in_chunks;
  BOOST_TEST(same_bits(whole, in_steps<7, 2>(in_chunks, f.attend, f.x)));
  static rotary_groups::workspace<token<900>> again;
  const auto long_window = f.attend(f.x, sliding_window<299>, again);
  static key_value_cache<rotary_groups, key<300>, longest_sequence<900, 4>> longer;
  BOOST_TEST(same_bits(long_window, in_steps<4, 1>(longer, f.attend, f.x)));
  static_assert(sizeof(past) < 900 * sizeof(float) * (24 + 15));
}

BOOST_AUTO_TEST_CASE(batches_are_sequences) {
  static const fixture<simple, 9> f;
  lcg next{3};
  const auto both = drawn<tensor<double, token<9>, batch<2>, hidden<12>>>(next, 2);
  key_value_cache<simple, key<9>, batch<2>> past;
  tensor<double, batch<2>, token<1>, hidden<12>> out{};
  const tensor<int, batch<2>> lens{9, 4};
  const auto by_sequence = both | permute<batch, token, hidden>;
  const auto whole = f.attend(by_sequence, lens & causal);
  for (std::size_t t = 0; t < 9; ++t) {
    const view<const double, strided<token<1>, 24>, strided<batch<2>, 12>, strided<hidden<12>, 1>>
        x(both.data() + t * 24);
    BOOST_TEST(past.step(out, f.attend, x, lens));
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t d = 0; d < 12; ++d) BOOST_TEST(out(b, 0, d) == whole(b, t, d));
  }
}

BOOST_AUTO_TEST_CASE(past_the_capacity_nothing_changes) {
  static const fixture<simple, 8> f;
  using memory = key_value_cache<simple, key<8>>;
  static memory past, before;
  (void)in_steps<3>(past, f.attend, f.x);
  std::memcpy(static_cast<void*>(&before), &past, sizeof(past));
  tensor<double, token<2>, hidden<12>> out{};
  for (double& e : out) e = 7;
  const auto untouched = out;
  BOOST_TEST(!past.step(out, f.attend, part<2>(f.x, 0)));
  const auto more = drawn<tensor<double, key<1>, hidden<12>>>(*std::make_unique<lcg>());
  BOOST_TEST(!past.append(f.attend, more, more));
  BOOST_TEST(!past.rewind(9));
  BOOST_TEST(std::memcmp(&before, &past, sizeof(past)) == 0);
  BOOST_TEST(same_bits(out, untouched));
}

BOOST_AUTO_TEST_CASE(rewound_is_never_been) {
  static const fixture<simple, 30> f;
  static key_value_cache<simple, key<30>> past;
  const auto whole = in_steps<1>(past, f.attend, f.x);
  BOOST_TEST(past.rewind(11));
  BOOST_TEST(past.size() == 11u);
  sequence<simple, 19> rest{};
  const auto x = part<19>(f.x, 11);
  BOOST_TEST(past.step(rest, f.attend, x));
  BOOST_TEST(same_bits(rest, part<19>(whole, 11)));
  // A sliding cache cannot go back to where it has dropped what would be seen.
  static const fixture<simple, 600> g;
  static key_value_cache<simple, key<10>, longest_sequence<600>> slid;
  (void)in_steps<1>(slid, g.attend, g.x);
  BOOST_TEST(!slid.rewind(20));
  BOOST_TEST(slid.size() == 600u);
  BOOST_TEST(slid.rewind(590));
}

BOOST_AUTO_TEST_CASE(attend_is_attention_to_another_sequence) {
  using layer = multi_head_attention<float, hidden<20>, heads<5>, keys_from<hidden<6>>,
                                     values_from<hidden<9>>, output_to<hidden<3>>>;
  lcg next{5};
  const auto w = drawn_weights<layer>(next);
  const layer attend{w};
  const auto x = drawn<tensor<float, query<4>, hidden<20>>>(next, 2);
  const auto y = drawn<tensor<float, key<11>, hidden<6>>>(next, 2);
  const auto z = drawn<tensor<float, hidden<9>, key<11>>>(next);
  key_value_cache<layer, key<16>> memory;
  BOOST_TEST(memory.append(attend, y, z));
  tensor<float, query<4>, hidden<3>> out{};
  memory.attend(out, attend, x);
  BOOST_TEST(same_bits(out, attend(x, y, z)));
  const tensor<int, query<4>> lens{0, 3, 11, 16};
  memory.attend(out, attend, x, lens);
  BOOST_TEST(same_bits(out, attend(x, y, z, lens)));
  tensor<float, heads<5>, query<4>, key<16>> seen{};
  memory.attend(out, attend, x, observe(seen));
  for (std::size_t j = 11; j < 16; ++j) BOOST_TEST(seen(2, 1, j) == 0);
  BOOST_TEST(seen(2, 1, 10) != 0);
  memory.attend(out, attend, x, causal_bottom_right);
  BOOST_TEST(same_bits(out, attend(x, y, z, causal_bottom_right)));
}

// More queries than positions; theirs count from 0.
BOOST_AUTO_TEST_CASE(attend_of_many_queries) {
  lcg next{6};
  const auto w = drawn_weights<rotary_groups>(next);
  const rotary_groups attend{w};
  const auto x = drawn<tensor<float, query<33>, hidden<20>>>(next, 2);
  const auto y = drawn<tensor<float, key<4>, hidden<20>>>(next, 2);
  key_value_cache<rotary_groups, key<4>> memory;
  BOOST_TEST(memory.append(attend, y, y));
  tensor<float, query<33>, hidden<20>> out{};
  static decltype(memory)::workspace<query<33>> work;
  memory.attend(out, attend, x, all_keys, work);
  BOOST_TEST(same_bits(out, attend(x, y, y)));
}

// Nothing stored, nothing to take the mean of.
BOOST_AUTO_TEST_CASE(attend_of_rows_without_keys) {
  using averaging = multi_head_attention<float, hidden<12>, heads<3>, empty_rows<uniform_weights>>;
  lcg next{7};
  const auto w = drawn_weights<averaging>(next);
  const averaging attend{w};
  const auto x = drawn<tensor<float, query<4>, hidden<12>>>(next, 2);
  const auto y = drawn<tensor<float, key<5>, hidden<12>>>(next, 2);
  const tensor<int, query<4>> lens{0, 3, 0, 5};
  key_value_cache<averaging, key<20>> memory;
  tensor<float, query<4>, hidden<12>> out{};
  memory.attend(out, attend, x, lens);
  BOOST_TEST(same_bits(out, tensor<float, query<4>, hidden<12>>{}));
  BOOST_TEST(memory.append(attend, y, y));
  memory.attend(out, attend, x, lens);
  BOOST_TEST(same_bits(out, attend(x, y, y, lens)));
}

// Heads of whole words and of others, of one width with keys and of several, with positions.
using grouped_in_integers =
    multi_head_attention<float, hidden<20>, heads<6>, kv_heads<2>, head_dim<5>, bias<true>>;
using rotated_in_integers = multi_head_attention<float, hidden<16>, heads<4>, kv_heads<1>,
                                                 rope<adjacent_pairs>, bias<false>>;

template <class Layer>
void check_steps_in_integers() {
  constexpr std::size_t tokens = 41;
  static const quantized_fixture<Layer, sequence<Layer, tokens>> f;
  lcg next{2};
  using integers = tensor<std::int8_t, token<tokens>, typename Layer::hidden_axis>;
  const auto x = drawn_integers<integers>(next, 127);
  const auto whole = f.layer(x, causal);
  static key_value_cache<quantized<Layer>, key<tokens>> past;
  BOOST_TEST(same_bits(whole, in_steps<3, 8, 1>(past, f.layer, x)));
  auto again = x;
  BOOST_TEST(!past.step(part<1>(again, 0), f.layer, part<1>(x, 0)));  // it is full
  BOOST_TEST(same_bits(again, x));
  BOOST_TEST(!past.rewind(tokens + 1));
  BOOST_TEST(past.rewind(7));
  BOOST_TEST(past.size() == 7u);
  again = in_steps<8, 1, 3>(past, f.layer, x);
  std::copy_n(whole.data(), 7 * Layer::hidden_axis::size, again.data());
  BOOST_TEST(same_bits(whole, again));
  past.reset();
  BOOST_TEST(past.size() == 0u);
  BOOST_TEST(same_bits(whole, in_steps<tokens>(past, f.layer, x)));

  // A window, in the whole cache and in one that slides.
  const auto narrow = f.layer(x, sliding_window<10>);
  past.reset();
  BOOST_TEST(same_bits(narrow, in_steps<3, 8, 1>(past, f.layer, x, sliding_window<10>)));
  static key_value_cache<quantized<Layer>, key<11>, longest_sequence<tokens, 3>> slides;
  BOOST_TEST(same_bits(narrow, in_steps<3, 1>(slides, f.layer, x)));
  BOOST_TEST(!slides.rewind(20));
  BOOST_TEST(slides.size() == tokens);
  slides.reset();
  const auto singly = [&](std::size_t until) {
    for (std::size_t at = slides.size(); at < until; ++at)
      BOOST_TEST(slides.step(part<1>(again, at), f.layer, part<1>(x, at)));
  };
  singly(tokens - 2);
  BOOST_TEST(slides.rewind(tokens - 4));
  singly(tokens);
  BOOST_TEST(same_bits(narrow, again));
}

BOOST_AUTO_TEST_CASE(steps_in_integers_are_the_whole_pass) {
  check_steps_in_integers<grouped_in_integers>();
  check_steps_in_integers<rotated_in_integers>();
}

// A cache that was filled from the keys and values of another sequence.
BOOST_AUTO_TEST_CASE(attend_in_integers_is_attention_to_all_that_is_stored) {
  static const quantized_fixture<grouped_in_integers, sequence<grouped_in_integers, 13>> f;
  lcg next{4};
  const auto y = drawn_integers<tensor<std::int8_t, key<13>, hidden<20>>>(next, 127);
  const auto x = drawn_integers<tensor<std::int8_t, query<17>, hidden<20>>>(next, 127);
  key_value_cache<quantized<grouped_in_integers>, key<30>> past;
  const auto rows = [&](std::size_t at, auto count) {
    return view<const std::int8_t, key<decltype(count)::value>, hidden<20>>(y.data() + at * 20);
  };
  const auto first = rows(0, std::integral_constant<std::size_t, 9>{});
  const auto rest = rows(9, std::integral_constant<std::size_t, 4>{});
  BOOST_TEST(past.append(f.layer, first, first));
  BOOST_TEST(past.append(f.layer, rest, rest));
  tensor<std::int8_t, query<17>, hidden<20>> out;
  past.attend(out, f.layer, x);
  BOOST_TEST(same_bits(out, f.layer(x, y, y)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
