// SPDX-License-Identifier: BSL-1.0
// Calls that leave out rows, valid_rows(n): the first n rows have the bits of a call with lengths
// n, the others are zeros. Blocks: test/uses.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cfenv>
#include <cstdint>
#include <cstring>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

// Is y(b, i) as of_all for i < lens(b), and 0 after it?
template <class Y>
bool is_short(const Y& y, const Y& of_all, const tensor<int, batch<2>>& lens) {
  constexpr std::size_t rows = Y::layout::extents[1], width = Y::layout::extents[2];
  bool same = true;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < width; ++j) {
        const auto wanted = static_cast<int>(i) < lens(b) ? of_all(b, i, j) : 0;
        const auto found = y(b, i, j);
        same = same && std::memcmp(&wanted, &found, sizeof found) == 0;
      }
  return same;
}

// Scratch that nothing was written to: signaling NaNs. What a call reads of it raises "invalid".
template <class T, class Workspace>
void spoil(Workspace& work) {
  constexpr std::uint32_t of_float = 0x7fa00000;
  constexpr std::uint64_t of_double = 0x7ff4000000000000;
  auto* const to = reinterpret_cast<unsigned char*>(&work);
  for (std::size_t i = 0; i + sizeof(T) <= sizeof work; i += sizeof(T))
    if constexpr (sizeof(T) == 4)
      std::memcpy(to + i, &of_float, sizeof(T));
    else
      std::memcpy(to + i, &of_double, sizeof(T));
  std::feclearexcept(FE_ALL_EXCEPT);
}
bool raised() { return std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) != 0; }

// All kinds of lengths: none, one, tails of blocks, all, more than all.
template <std::size_t Rows, class F>
void for_lengths(lcg& next, const F& f) {
  for (int n = -1; n <= static_cast<int>(Rows) + 1; n += Rows > 30 ? 7 : 1)
    f(tensor<int, batch<2>>{n, static_cast<int>((next() + 1) / 2 * static_cast<float>(Rows))});
  f(tensor<int, batch<2>>{static_cast<int>(Rows), static_cast<int>(Rows) - 1});
}

// What rows are left out with: each mask on two shapes, since each of a shape is kernels of its
// own.
enum masks : unsigned { none = 1, later = 2, window = 4, kept = 8, biased = 16, dropped = 32 };

template <class T, std::size_t Rows, std::size_t Width, unsigned Masks, class... Options>
void check_self(std::uint32_t seed) {
  using attention = multi_head_attention<T, hidden<Width>, heads<4>, Options...>;
  using tokens = tensor<T, batch<2>, token<Rows>, hidden<Width>>;
  lcg next{seed};
  typename attention::weights w{};
  draw_attention(next, w, 0.3, 0.5);
  const auto x = drawn<tokens>(next, 2);
  const auto keep = [&] {
    tensor<bool, batch<2>, query<Rows>, key<Rows>> m{};
    for (bool& e : m) e = next() > -0.5f;
    return m;
  }();
  const auto bias_of_pairs = drawn<tensor<T, heads<4>, query<Rows>, key<Rows>>>(next);
  const attention attend{w};
  const prepacked<attention> packed{w};
  static typename attention::template workspace<token<Rows>> work;
  for_lengths<Rows>(next, [&](const tensor<int, batch<2>>& lens) {
    const auto both = [&](const auto& with_rows, const auto& with_lengths) {
      const auto wanted = attend(x, with_lengths);
      BOOST_TEST(is_short(attend(x, with_rows), wanted, lens));
      tokens out{};
      for (T& e : out) e = 7;
      spoil<T>(work);
      packed.into(out, x, with_rows, work);
      BOOST_TEST(!raised());
      BOOST_TEST(is_short(out, packed(x, with_lengths), lens));
    };
    if constexpr (Masks & none) both(valid_rows(lens), lens & all_keys);
    if constexpr (Masks & later) both(valid_rows(lens) & causal, lens & causal);
    if constexpr (Masks & window)
      both(sliding_window<3, 2> & valid_rows(lens), sliding_window<3, 2> & lens);
    if constexpr (Masks & kept) both(valid_rows(lens) & keep_mask(keep), lens & keep_mask(keep));
    if constexpr (Masks & biased)
      both(alibi & valid_rows(lens) & score_bias(bias_of_pairs),
           alibi & lens & score_bias(bias_of_pairs));
    if constexpr (Masks & dropped) both(valid_rows(lens) & dropout(0.3, 7), lens & dropout(0.3, 7));
    tensor<T, batch<2>, hidden<Width>, token<Rows>> turned;  // other strides
    attend.into(turned, x, valid_rows(lens), work);
    BOOST_TEST(same_bits(turned | permute<batch, token, hidden> | contiguous,
                         attend(x, valid_rows(lens))));
  });
  // An integer is the number of all sequences.
  BOOST_TEST(
      same_bits(attend(x, valid_rows(2)), attend(x, valid_rows(tensor<int, batch<2>>{2, 2}))));
}

}  // namespace

BOOST_AUTO_TEST_CASE(self_attention_leaves_out_rows) {
  for (std::uint32_t seed : {1u, 2u}) {
    check_self<float, 10, 12, none | window | kept | dropped, bias<true>>(seed);
    check_self<float, 16, 16, later | biased | kept, bias<false>, kv_heads<2>, rope<split_halves>>(
        seed);
    check_self<double, 9, 8, later | window | biased, bias<true>, query_key_norm<rms_norm>,
               norm_epsilon<1, 1000>>(seed);
  }
  check_self<float, 85, 24, none | later | dropped, bias<true>, softcap<20>>(3);
  check_self<float, 3, 8, later, bias<false>>(4);
  check_self<float, 1, 8, none, bias<true>>(5);
}

// To keys of another sequence: valid_rows counts these, and all queries are computed.
BOOST_AUTO_TEST_CASE(keys_of_another_sequence_are_left_out) {
  using attention = multi_head_attention<float, hidden<12>, heads<4>, bias<true>>;
  using queries = tensor<float, batch<2>, query<5>, hidden<12>>;
  using context = tensor<float, batch<2>, key<37>, hidden<12>>;
  lcg next{8};
  attention::weights w{};
  draw_attention(next, w, 0.3, 0.5);
  const auto x = drawn<queries>(next, 2);
  const auto y = drawn<context>(next, 2), z = drawn<context>(next);
  static attention::workspace<query<5>, key<37>> work;
  for_lengths<37>(next, [&](const tensor<int, batch<2>>& lens) {
    const auto wanted = attention{w}(x, y, z, lens);
    spoil<float>(work);
    BOOST_TEST(same_bits(attention{w}(x, y, z, valid_rows(lens), work), wanted));
    BOOST_TEST(!raised());
    BOOST_TEST(same_bits(attention{w}(x, y, z, causal_at(20) & valid_rows(lens), work),
                         attention{w}(x, y, z, causal_at(20) & lens)));
  });
}

namespace {
using encoder = encoder_layer<float, hidden<6>, heads<2>, intermediate<7>, bias<true>,
                              norm_first<false>, activation<gelu_exact>>;
using model = layer_stack<encoder, 2>;
struct constants {
  model::weights w{};
  tensor<float, token<5>, hidden<6>> x{};
};
constexpr constants drawn_constants = [] {
  constants c;
  lcg next{77};
  for (std::size_t i = 0; i < 2; ++i) draw_encoder(next, c.w[i], 1, 1, 1, 0.5, 1, 0.5);
  draw(next, c.x, 2);
  return c;
}();
constexpr auto encoded = model{drawn_constants.w}(drawn_constants.x, valid_rows(3) & causal);
}  // namespace

BOOST_AUTO_TEST_CASE(rows_are_left_out_while_compiling) {
  const model layers{drawn_constants.w};
  BOOST_TEST(same_bits(layers(drawn_constants.x, valid_rows(3) & causal), encoded));
  BOOST_TEST(same_bits(
      encoded | slice<token, from<0>, extent<3>> | contiguous,
      layers(drawn_constants.x, 3 & causal) | slice<token, from<0>, extent<3>> | contiguous));
  BOOST_TEST(same_bits(encoded | slice<token, from<3>, extent<2>> | contiguous,
                       tensor<float, token<2>, hidden<6>>{}));
}

BOOST_AUTO_TEST_CASE(blocks_longer_than_their_pieces) {
  using wide = encoder_layer<float, hidden<24>, heads<2>, intermediate<40>, bias<true>,
                             norm_first<true>, activation<silu>, gated<true>>;
  using layers = layer_stack<wide, 2>;
  using tokens = tensor<float, batch<2>, token<150>, hidden<24>>;
  lcg next{9};
  layers::weights w{};
  for (std::size_t i = 0; i < 2; ++i) draw_encoder(next, w[i], 0.3, 0.3, 0.3, 0.5, 1, 0.5);
  const auto x = drawn<tokens>(next);
  static layers::workspace<token<150>> work;
  for_lengths<150>(next, [&](const tensor<int, batch<2>>& lens) {
    tokens out = x;  // in place
    spoil<float>(work);
    layers{w}.into(out, out, valid_rows(lens), work);
    BOOST_TEST(!raised());
    BOOST_TEST(is_short(out, layers{w}(x, lens, work), lens));
  });
}
