// SPDX-License-Identifier: BSL-1.0
// What holds for tables of positions: sines and cosines by the formulas of the models that they
// come from, each position's numbers wherever a sequence starts, and sums that no compiler fuses.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <algorithm>
#include <cmath>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

// Column h of position p, straight from the formula.
template <class Pairs>
long double sinusoid(std::size_t p, std::size_t h, std::size_t width, long double base) {
  constexpr bool adjacent = std::is_same_v<Pairs, adjacent_pairs>;
  constexpr bool to_base = std::is_same_v<Pairs, split_halves_to_base>;
  const std::size_t half = to_base ? width / 2 : (width + 1) / 2;
  if (to_base && h == 2 * half) return 0;
  const bool is_sine = adjacent ? h % 2 == 0 : h < half;
  const auto pair = static_cast<long double>(adjacent ? h / 2 : h % half);
  const auto span =
      static_cast<long double>(to_base ? 2 * std::max<std::size_t>(half - 1, 1) : width);
  const long double angle = static_cast<long double>(p) * std::pow(base, -2 * pair / span);
  return is_sine ? std::sin(angle) : std::cos(angle);
}

template <class T, std::size_t Positions, std::size_t Width, class Pairs, std::size_t Base = 10000>
void check_table() {
  const auto& table = sinusoidal_positions<T, token<Positions>, hidden<Width>, Pairs, Base>::table;
  double worst = 0;
  for (std::size_t p = 0; p < Positions; ++p)
    for (std::size_t h = 0; h < Width; ++h) {
      const long double wanted = sinusoid<Pairs>(p, h, Width, Base);
      worst = std::max(
          worst, std::fabs(static_cast<double>(wanted - static_cast<long double>(table(p, h)))));
    }
  const double allowed = sizeof(T) == 4 ? 3.1e-8 : 1e-15 * static_cast<double>(Positions);
  BOOST_TEST_MESSAGE(Positions << " x " << Width << ": worst error " << worst);
  BOOST_TEST(worst <= allowed, Positions << " x " << Width << ": error " << worst);
}

template <class Pairs>
void check_tables() {
  check_table<float, 1, 1, Pairs>();
  check_table<float, 7, 2, Pairs>();
  check_table<float, 60, 32, Pairs>();
  check_table<float, 9, 3, Pairs>();
  check_table<float, 33, 17, Pairs>();
  check_table<float, 300, 20, Pairs, 100>();
  check_table<double, 40, 12, Pairs>();
  check_table<double, 5, 7, Pairs, 500000>();
}

using tokens = tensor<float, batch<2>, token<5>, hidden<12>>;

template <class Pairs>
void check_sums() {
  const sinusoidal_positions<float, token<9>, hidden<12>, Pairs> place{};
  lcg next{12};
  const auto x = drawn<tokens>(next);
  const auto y = place(x);
  static_assert(std::is_same_v<decltype(y), const tokens>);
  for (std::size_t offset = 0; offset < 5; offset += 2) {
    const auto later = place(x, offset);
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t h = 0; h < 12; ++h)
          BOOST_TEST(later(b, i, h) == x(b, i, h) + place.table(i + offset, h));
  }
  // Past the end of the table: the last positions that it has.
  BOOST_TEST(same_bits(place(x, 5), place(x, 4)));
  BOOST_TEST(same_bits(place(x, static_cast<std::size_t>(-1)), place(x, 4)));
  BOOST_TEST(same_bits(place(x, -1), y));

  // One position after the other is all at once.
  for (std::size_t i = 0; i < 5; ++i) {
    tensor<float, batch<2>, token<1>, hidden<12>> one{};
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t h = 0; h < 12; ++h) one(b, 0, h) = x(b, i, h);
    const auto placed = place(one, i);
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t h = 0; h < 12; ++h) BOOST_TEST(placed(b, 0, h) == y(b, i, h));
  }
  // In any order of axes, with and without batch, and piped.
  BOOST_TEST(
      same_bits(place(x | permute<hidden, token, batch>) | permute<batch, token, hidden>, y));
  BOOST_TEST(same_bits(place(x | select_at<batch, 1>), y | select_at<batch, 1>));
  BOOST_TEST(same_bits(x | place, y));
  // As a table that was learned.
  const learned_positions<float, token<9>, hidden<12>> learned{place.table};
  const auto nine = drawn<tensor<float, token<9>, hidden<12>>>(next);
  BOOST_TEST(same_bits(learned(nine), place(nine)));
  for (const int offset : {-1, 0, 1, 4, 5, 1000}) {
    BOOST_TEST(same_bits(learned(x, offset), place(x, offset)));
    tokens out{};
    learned.into(out, x, offset);
    BOOST_TEST(same_bits(out, place(x, offset)));
  }
  BOOST_TEST(same_bits(learned(x, static_cast<std::size_t>(-1)), place(x, 4)));
  BOOST_TEST(same_bits(learned(nine, 3), learned(nine)));  // no room to move
}

using nine_tokens = tensor<float, token<9>, hidden<12>>;
template <std::size_t Count>
tensor<float, token<Count>, hidden<12>> part(const nine_tokens& x, std::size_t from) {
  return contiguous(view<const float, token<Count>, hidden<12>>(x.data() + from * 12));
}

// Two positions at a time, in place, are all of them at once.
template <class Positions>
void check_parts_of(const Positions& place) {
  lcg next{15};
  const auto x = drawn<nine_tokens>(next);
  const auto whole = place(x);
  for (std::size_t i = 0; i + 2 <= 9; ++i) {
    auto two = part<2>(x, i);
    place.into(two, two, i);
    BOOST_TEST(same_bits(two, part<2>(whole, i)));
  }
}

// As GPT-2 decodes: the positions of a step begin where those in the cache end.
using block = encoder_layer<float, hidden<12>, heads<2>, intermediate<16>, norm_first<true>,
                            activation<gelu_tanh>, bias<true>>;
struct decoder {
  block layer;
  learned_positions<float, token<9>, hidden<12>> place;
  key_value_cache<block, key<9>> past{};

  template <std::size_t Count>
  void check_step(const nine_tokens& x, const nine_tokens& whole) {
    const std::size_t from = past.size();
    auto y = place(part<Count>(x, from), from);
    BOOST_REQUIRE(past.step(y, layer, y));
    BOOST_TEST(same_bits(y, part<Count>(whole, from)));
  }
};

constexpr tokens drawn_tokens = [] {
  lcg next{13};
  return drawn<tokens>(next);
}();
constexpr tokens placed_tokens =
    sinusoidal_positions<float, token<9>, hidden<12>, split_halves>{}(drawn_tokens, 3);

}  // namespace

BOOST_AUTO_TEST_SUITE(position_laws)

BOOST_AUTO_TEST_CASE(sinusoids_by_their_formulas) {
  check_tables<adjacent_pairs>();
  check_tables<split_halves>();
  check_tables<split_halves_to_base>();
}

// Far out the positions that were reached step by step are still those of the formula.
BOOST_AUTO_TEST_CASE(sinusoids_far_out) { check_table<float, 5000, 8, adjacent_pairs>(); }

BOOST_AUTO_TEST_CASE(sums_at_any_offset) {
  check_sums<adjacent_pairs>();
  check_sums<split_halves>();
  check_sums<split_halves_to_base>();
}

BOOST_AUTO_TEST_CASE(learned_positions_follow_their_axes) {
  lcg next{6};
  const auto table = drawn<tensor<float, token<5>, hidden<12>>>(next);
  const learned_positions<float, token<5>, hidden<12>> place{table};
  const auto x = drawn<tokens>(next);
  const auto y = place(x);
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t h = 0; h < 12; ++h) BOOST_TEST(y(b, i, h) == x(b, i, h) + table(i, h));
  BOOST_TEST(
      same_bits(place(x | permute<hidden, token, batch>) | permute<batch, token, hidden>, y));
  BOOST_TEST(same_bits(place(x | select_at<batch, 1>), y | select_at<batch, 1>));
}

BOOST_AUTO_TEST_CASE(parts_of_learned_positions) {
  using layer = learned_positions<float, token<9>, hidden<12>>;
  lcg next{17};
  const auto table = drawn<layer::weights>(next);
  check_parts_of(layer{table});
  check_parts_of(prepacked<layer>{table});
  check_parts_of(prepacked<layer, stored_as<bfloat16>>{table});
  check_parts_of(prepacked<layer, stored_as<std::int8_t>>{table});
}
BOOST_AUTO_TEST_CASE(steps_with_learned_positions_are_the_whole_pass) {
  lcg next{16};
  static block::weights w;
  draw_encoder(next, w, 0.25, 0.25, 0.25, 0.125, 1, 0.125);
  const auto table = drawn<nine_tokens>(next), x = drawn<nine_tokens>(next);
  using places = learned_positions<float, token<9>, hidden<12>>;
  static decoder decode{block{w}, places{table}};
  const auto whole = decode.layer(decode.place(x), causal);
  decode.check_step<4>(x, whole);
  while (decode.past.size() < 9) decode.check_step<1>(x, whole);
}

BOOST_AUTO_TEST_CASE(constant_expressions_give_the_bits_of_the_run) {
  const tokens x = drawn_tokens;
  const sinusoidal_positions<float, token<9>, hidden<12>, split_halves> place{};
  BOOST_TEST(same_bits(place(x, 3), placed_tokens));
}

// The paper multiplies the embeddings by sqrt(hidden) first. If the compiler fused that product
// into the sum, the bits would be another compiler's. (Small tensors: they would stay in
// registers.)
BOOST_AUTO_TEST_CASE(a_product_is_not_contracted_into_the_sum) {
  const sinusoidal_positions<float, token<9>, hidden<4>, adjacent_pairs> place{};
  const learned_positions<float, token<9>, hidden<4>> learned{place.table};
  lcg next{14};
  for (std::size_t i = 0; i < 9; ++i) {
    const auto x = drawn<tensor<float, token<1>, hidden<4>>>(next);
    const float scale = next() + 3.5f;
    tensor<float, token<1>, hidden<4>> stored{};
    for (std::size_t h = 0; h < 4; ++h) {
      volatile float product = x(0, h) * scale;
      stored(0, h) = product;
    }
    BOOST_TEST(same_bits(place(x * scale, i), place(stored, i)));
    tensor<float, token<9>, hidden<4>> all{}, all_stored{};
    for (std::size_t p = 0; p < 9; ++p)
      for (std::size_t h = 0; h < 4; ++h) all(p, h) = x(0, h), all_stored(p, h) = stored(0, h);
    BOOST_TEST(same_bits(all * scale | learned, all_stored | learned));
  }
}

BOOST_AUTO_TEST_SUITE_END()
