// SPDX-License-Identifier: BSL-1.0
// What holds for a cache in 16 bits, to the bit: it is attention to the rounded keys and values,
// and a sequence in steps of any sizes is the sequence at once. In 8 bits: to their steps, with a
// scale for each head of a position.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <umbel/umbel.hpp>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using grouped = multi_head_attention<float, hidden<20>, heads<6>, head_dim<8>, value_dim<5>,
                                     kv_heads<3>, bias<true>>;
using rotary_groups = multi_head_attention<float, hidden<20>, heads<6>, head_dim<8>, value_dim<5>,
                                           kv_heads<3>, rope<split_halves>, bias<true>>;
template <std::size_t Tokens>
using sequence = tensor<float, token<Tokens>, hidden<20>>;

template <class W, class X>
X rounded(X x) {
  for (float& e : x) e = static_cast<float>(static_cast<W>(e));
  return x;
}

// The layer spelled out, with keys and values rounded between their projections and attention.
template <class W, std::size_t Tokens, class Mask>
sequence<Tokens> attend_to_rounded(const grouped::weights& w, const sequence<Tokens>& x,
                                   const Mask& mask) {
  const auto q = x * w.q | rename_axis<token, query> | split<hidden, heads<6>, head_dim> |
                 permute<heads, query, head_dim> | contiguous;
  const auto k = rounded<W>(x * w.k) | rename_axis<token, key> |
                 split<hidden, kv_heads<3>, head_dim> | permute<kv_heads, key, head_dim> |
                 contiguous;
  const auto v = rounded<W>(x * w.v) | rename_axis<token, key> |
                 split<hidden, kv_heads<3>, value_dim> | permute<kv_heads, key, value_dim> |
                 contiguous;
  static workspace_for<decltype(scaled_dot_product_attention), decltype(q), decltype(k),
                       decltype(v)>
      work;
  const auto context = scaled_dot_product_attention(q, k, v, mask, work) |
                       permute<query, heads, value_dim> | contiguous |
                       merge<heads, value_dim, hidden>;
  return (context | rename_axis<query, token>)*w.o;
}

// A number of features, of each head of each position, in 8 bits.
template <std::size_t Heads, std::size_t Dim, std::size_t Tokens>
struct in_8_bits {
  std::int8_t steps[Tokens * Heads * Dim];
  float scales[Heads * Tokens];

  explicit in_8_bits(const float* from) {
    for (std::size_t i = 0; i < Tokens; ++i)
      for (std::size_t h = 0; h < Heads; ++h) {
        detail::kernel::scale_of_numbers<float> scale;
        const std::size_t at = (i * Heads + h) * Dim;
        for (std::size_t d = 0; d < Dim; ++d) scale.add(from[at + d]);
        const detail::kernel::scale_of_numbers<float>::in_steps in_steps{scale};
        for (std::size_t d = 0; d < Dim; ++d) steps[at + d] = in_steps(from[at + d]);
        scales[h * Tokens + i] = scale.value();
      }
  }
  auto of_head(std::size_t h) const {
    using rows = detail::kernel::scaled_rows<float, Tokens>;
    return detail::kernel::of_head(rows{steps, scales}, h, Dim);
  }
};

// The same in 8 bits, by the plain loops.
template <std::size_t Tokens, class Policy>
sequence<Tokens> attend_to_steps(const grouped::weights& w, const sequence<Tokens>& x,
                                 const Policy& policy) {
  const auto q = x * w.q;
  const auto k = x * w.k;
  const auto v = x * w.v;
  const in_8_bits<3, 8, Tokens> keys(k.data());
  const in_8_bits<3, 5, Tokens> values(v.data());
  constexpr detail::kernel::attend_shape shape = {Tokens, Tokens, 8, 5,  48, 1,     24,
                                                  1,      15,     1, 30, 1,  Tokens};
  tensor<float, token<Tokens>, hidden<30>> context{};
  for (std::size_t h = 0; h < 6; ++h)
    detail::kernel::plain::attend<shape>(q.data() + h * 8, keys.of_head(h / 2),
                                         values.of_head(h / 2), 1 / std::sqrt(8.0f), policy,
                                         context.data() + h * 5, detail::kernel::no_tap{});
  return context * w.o;
}

// Steps of the given sizes, over and over, until the sequence is through.
template <std::size_t... Sizes, class Cache, class Attend, std::size_t Tokens,
          class Mask = detail::every_key>
auto in_steps(Cache& past, const Attend& attend, const sequence<Tokens>& x, const Mask& mask = {}) {
  sequence<Tokens> out{};
  std::size_t at = 0;
  const auto one = [&]<std::size_t Size>(std::integral_constant<std::size_t, Size>) {
    if (at + Size > Tokens) return;
    static typename Cache::template workspace<token<Size>> work;
    const view<const float, token<Size>, hidden<20>> from(x.data() + at * 20);
    const view<float, token<Size>, hidden<20>> to(out.data() + at * 20);
    BOOST_TEST_REQUIRE(past.step(to, attend, from, mask, work));
    at += Size;
  };
  while (at < Tokens) {
    const std::size_t before = at;
    (one(std::integral_constant<std::size_t, Sizes>{}), ...);
    if (at == before) one(std::integral_constant<std::size_t, 1>{});
  }
  return out;
}

template <class Layer, std::size_t Tokens>
struct fixture {
  lcg next{Tokens};
  typename Layer::weights w = drawn_weights<Layer>(next);
  Layer attend{w};
  sequence<Tokens> x = drawn<sequence<Tokens>>(next, 2);
};

template <class W>
void check_steps() {
  static const fixture<grouped, 300> f;
  const auto whole = attend_to_rounded<W>(f.w, f.x, causal);
  static key_value_cache<grouped, key<300>, stored_as<W>> past;
  BOOST_TEST(same_bits(whole, in_steps<1>(past, f.attend, f.x)));
  past.reset();
  BOOST_TEST(same_bits(whole, in_steps<17, 1, 5>(past, f.attend, f.x)));
  past.reset();
  BOOST_TEST(same_bits(whole, in_steps<300>(past, f.attend, f.x)));
  static key_value_cache<grouped, key<300>> of_float;
  BOOST_TEST(!same_bits(whole, in_steps<300>(of_float, f.attend, f.x)));
  BOOST_TEST(sizeof(past) < sizeof(of_float) / 2 + 256);
  static key_value_cache<grouped, key<300>, stored_as<float>> as_float;
  of_float.reset();
  BOOST_TEST(same_bits(in_steps<9>(as_float, f.attend, f.x), in_steps<9>(of_float, f.attend, f.x)));
}

void check_steps_in_8_bits() {
  static const fixture<grouped, 300> f;
  const auto whole = attend_to_steps(f.w, f.x, detail::kernel::scores::causal{0});
  static key_value_cache<grouped, key<300>, stored_as<std::int8_t>> past;
  BOOST_TEST(same_bits(whole, in_steps<1>(past, f.attend, f.x)));
  past.reset();
  BOOST_TEST(same_bits(whole, in_steps<17, 1, 5>(past, f.attend, f.x)));
  past.reset();
  BOOST_TEST(same_bits(whole, in_steps<300>(past, f.attend, f.x)));
  static key_value_cache<grouped, key<300>> in_float;
  const auto of_float = in_steps<300>(in_float, f.attend, f.x);
  const distance d = distance_of(whole.data(), of_float.data(), whole.size());
  BOOST_TEST_MESSAGE("a cache in 8 bits: error " << d.error << " of " << d.reference);
  BOOST_TEST(d.error < 0.01 * d.reference);
}

template <class W>
void check_sliding() {
  static const fixture<grouped, 600> f;
  const auto whole = [&] {
    if constexpr (sizeof(W) == 1)
      return attend_to_steps(f.w, f.x, detail::kernel::scores::window{39, 0, 0});
    else
      return attend_to_rounded<W>(f.w, f.x, sliding_window<39>);
  }();
  static key_value_cache<grouped, key<40>, longest_sequence<600>, stored_as<W>> past;
  BOOST_TEST(same_bits(whole, in_steps<1>(past, f.attend, f.x)));
  static key_value_cache<grouped, key<40>, stored_as<W>, longest_sequence<1000, 7>> in_chunks;
  BOOST_TEST(same_bits(whole, in_steps<7, 2>(in_chunks, f.attend, f.x)));
}

// In constant expressions.
using small = multi_head_attention<float, hidden<6>, heads<2>>;
using three = tensor<float, token<3>, hidden<6>>;
struct drawn_small {
  small::weights w{};
  three x{};
};
constexpr drawn_small constants = [] {
  drawn_small c{};
  lcg next{61};
  draw_attention(next, c.w, 0.5, 0);
  draw(next, c.x);
  return c;
}();
template <class W>
constexpr auto one_by_one = [](const drawn_small& c) {
  key_value_cache<small, key<4>, stored_as<W>> past;
  const small attend{c.w};
  three out{};
  for (std::size_t t = 0; t < 3; ++t) {
    tensor<float, token<1>, hidden<6>> x{}, y{};
    for (std::size_t d = 0; d < 6; ++d) x(0, d) = c.x(t, d);
    (void)past.step(y, attend, x);
    for (std::size_t d = 0; d < 6; ++d) out(t, d) = y(0, d);
  }
  return out;
};
constexpr three computed = one_by_one<float16>(constants);
constexpr three computed_in_8_bits = one_by_one<std::int8_t>(constants);
constexpr three at_once = [] {
  key_value_cache<small, key<4>, stored_as<float16>> past;
  three out{};
  (void)past.step(out, small{constants.w}, constants.x);
  return out;
}();

}  // namespace

BOOST_AUTO_TEST_SUITE(stored_cache)

BOOST_AUTO_TEST_CASE(steps_are_attention_to_the_rounded_keys_and_values) {
  check_steps<bfloat16>();
  check_steps<float16>();
}

BOOST_AUTO_TEST_CASE(steps_in_8_bits_are_the_plain_loops) { check_steps_in_8_bits(); }

BOOST_AUTO_TEST_CASE(a_sliding_cache_is_the_rounded_pass_with_its_window) {
  check_sliding<bfloat16>();  // what float16 rounds to is tested above
  check_sliding<std::int8_t>();
}

// Keys are turned before they are rounded; masks, taps and rows without keys are as ever.
template <class W>
void check_any_cut() {
  static const fixture<rotary_groups, 130> f;
  using cache = key_value_cache<rotary_groups, key<130>, stored_as<W>>;
  const prepacked<rotary_groups, stored_as<W>> packed{f.w};
  static cache past;
  const auto once = in_steps<130>(past, packed, f.x, alibi);
  past.reset();
  BOOST_TEST(same_bits(once, in_steps<1>(past, packed, f.x, alibi)));
  past.reset();
  BOOST_TEST(same_bits(once, in_steps<13, 2>(past, packed, f.x, alibi)));
  // Observed, which queries in the lanes compute: the same bits.
  static tensor<float, heads<6>, query<1>, key<130>> seen;
  past.reset();
  BOOST_TEST(same_bits(once, in_steps<1>(past, packed, f.x, alibi & observe(seen))));
  BOOST_TEST(seen(2, 0, 129) > 0);
  BOOST_REQUIRE(past.rewind(129));
  tensor<float, token<1>, hidden<20>> out{};
  const view<const float, token<1>, hidden<20>> last(f.x.data() + 129 * 20);
  BOOST_TEST(past.step(out, packed, last, alibi));
  for (std::size_t d = 0; d < 20; ++d) BOOST_TEST(out(0, d) == once(129, d));
}
BOOST_AUTO_TEST_CASE(any_cut_gives_the_same) {
  check_any_cut<bfloat16>();
  check_any_cut<std::int8_t>();
}

BOOST_AUTO_TEST_CASE(rows_without_keys_are_the_mean_of_the_rounded_values) {
  using layer = multi_head_attention<float, hidden<20>, heads<4>, empty_rows<uniform_weights>>;
  static const fixture<layer, 7> f;
  static key_value_cache<layer, key<7>, stored_as<bfloat16>> past;
  static tensor<float, key<7>, hidden<20>> y;
  for (std::size_t i = 0; i < 140; ++i) y.data()[i] = f.x.data()[i];
  BOOST_TEST(past.append(f.attend, y, y));
  tensor<float, query<1>, hidden<20>> x{}, out{};
  past.attend(out, f.attend, x, tensor<int, query<1>>{0});
  const auto v = rounded<bfloat16>(y * f.w.v);
  tensor<float, query<1>, hidden<20>> mean{};
  for (std::size_t d = 0; d < 20; ++d) {
    for (std::size_t j = 0; j < 7; ++j) mean(0, d) += v(j, d);
    mean(0, d) *= 1.0f / 7;
  }
  BOOST_TEST(same_bits(out, mean * f.w.o));
}

// A key or value that is not finite spoils the queries that see it, and no other.
BOOST_AUTO_TEST_CASE(not_finite_in_8_bits) {
  using layer = multi_head_attention<float, hidden<20>, heads<4>>;
  static const fixture<layer, 7> f;
  static key_value_cache<layer, key<9>, stored_as<std::int8_t>> past;
  tensor<float, key<7>, hidden<20>> y;
  for (std::size_t i = 0; i < 140; ++i) y.data()[i] = f.x.data()[i];
  for (std::size_t d = 0; d < 20; ++d) y(2, d) = 0, y(6, d) = INFINITY;
  BOOST_TEST(past.append(f.attend, y, y));
  tensor<float, query<3>, hidden<20>> x{}, out{};
  x(0, 3) = 1;
  past.attend(out, f.attend, x, tensor<int, query<3>>{6, 7, 0});
  for (std::size_t d = 0; d < 20; ++d) {
    BOOST_TEST(std::isfinite(out(0, d)));
    BOOST_TEST(std::isnan(out(1, d)));
    BOOST_TEST(out(2, d) == 0);
  }
}

BOOST_AUTO_TEST_CASE(computed_by_the_compiler) {
  BOOST_TEST(same_bits(computed_in_8_bits, one_by_one<std::int8_t>(*&constants)));
  BOOST_TEST(same_bits(computed, at_once));
  BOOST_TEST(same_bits(computed, one_by_one<float16>(*&constants)));
}

BOOST_AUTO_TEST_SUITE_END()
