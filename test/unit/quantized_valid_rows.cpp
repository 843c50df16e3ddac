// SPDX-License-Identifier: BSL-1.0
// Calls in integers that leave out rows, valid_rows(n): the first n rows have the integers of a
// call with lengths n, the others are zeros. Blocks: test/uses.
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <cstring>

#include "../support/compare.hpp"
#include "../support/executors.hpp"
#include "../support/quantized.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

// Is y(b, i) as of_all for i < lens(b), and 0 after it?
template <class Y, std::size_t Batch>
bool is_short(const Y& y, const Y& of_all, const tensor<int, batch<Batch>>& lens) {
  bool same = true;
  for (std::size_t b = 0; b < Batch; ++b)
    for (std::size_t i = 0; i < Y::layout::extents[1]; ++i)
      for (std::size_t j = 0; j < Y::layout::extents[2]; ++j)
        same = same && y(b, i, j) == (static_cast<int>(i) < lens(b) ? of_all(b, i, j) : 0);
  return same;
}

// All kinds of lengths: none, one, tails of blocks, all, more than all.
template <std::size_t Rows, class F>
void for_lengths(const F& f) {
  constexpr int rows = static_cast<int>(Rows);
  for (int n = -1; n <= rows + 5; n += rows > 30 ? 7 : 1)
    f(tensor<int, batch<2>>{n, (7 * n + 3) % (rows + 1)});
  f(tensor<int, batch<2>>{rows, rows - 1});
}

// Options: of the layer, and of its integers.
template <std::size_t Rows, std::size_t Width, class Result, class Softmax, class... Options>
void check_self() {
  using attention = multi_head_attention<float, hidden<Width>, heads<4>, Options...>;
  using tokens = tensor<std::int8_t, batch<2>, token<Rows>, hidden<Width>>;
  using integers = quantized<attention, output_as<Result>, softmax_as<Softmax>>;
  lcg next{3};
  static const integers attend = drawn_quantized<integers>(next);
  const auto x = drawn_integers<tokens>(next, 100);
  const auto keep = [&] {
    tensor<bool, batch<2>, query<Rows>, key<Rows>> m{};
    for (bool& e : m) e = next() > -0.5f;
    return m;
  }();
  static typename integers::template workspace<token<Rows>> work;
  for_lengths<Rows>([&](const tensor<int, batch<2>>& lens) {
    const auto both = [&](const auto& with_rows, const auto& with_lengths) {
      const auto wanted = attend(x, with_lengths);
      std::memset(static_cast<void*>(&work), 0x85, sizeof work);
      auto out = wanted;
      for (auto& e : out) e = 7;
      attend.into(out, x, with_rows, work);
      BOOST_TEST(is_short(out, wanted, lens));
    };
    both(valid_rows(lens), lens & all_keys);
    both(valid_rows(lens) & causal, lens & causal);
    both(valid_rows(lens) & keep_mask(keep), lens & keep_mask(keep));
  });
  BOOST_TEST(
      same_bits(attend(x, valid_rows(2)), attend(x, valid_rows(tensor<int, batch<2>>{2, 2}))));
}

}  // namespace

BOOST_AUTO_TEST_CASE(integer_self_attention_leaves_out_rows) {
  check_self<10, 12, std::int8_t, std::int8_t, bias<true>>();
  check_self<18, 16, std::int16_t, std::int8_t, bias<true>, kv_heads<2>, rope<split_halves>>();
  check_self<9, 8, std::int8_t, std::int16_t, bias<false>, query_key_norm<rms_norm>,
             norm_epsilon<1, 1000>>();
  check_self<85, 24, std::int8_t, std::int8_t, bias<true>>();
  check_self<3, 8, std::int8_t, std::int8_t, bias<true>>();
  check_self<1, 8, std::int8_t, std::int8_t, bias<true>>();
}

// To keys of a different sequence: valid_rows counts these, and all queries are computed.
BOOST_AUTO_TEST_CASE(integer_keys_of_a_different_sequence_are_left_out) {
  using integers = quantized<multi_head_attention<float, hidden<12>, heads<4>, bias<true>>>;
  lcg next{8};
  static const integers attend = drawn_quantized<integers>(next);
  const auto x = drawn_integers<tensor<std::int8_t, batch<2>, query<5>, hidden<12>>>(next, 100);
  const auto y = drawn_integers<tensor<std::int8_t, batch<2>, key<37>, hidden<12>>>(next, 100);
  static integers::workspace<query<5>, key<37>> work;
  for_lengths<37>([&](const tensor<int, batch<2>>& lens) {
    std::memset(static_cast<void*>(&work), 0x85, sizeof work);
    BOOST_TEST(same_bits(attend(x, y, y, valid_rows(lens), work), attend(x, y, y, lens)));
    BOOST_TEST(same_bits(attend(x, y, y, causal_at(20) & valid_rows(lens), work),
                         attend(x, y, y, causal_at(20) & lens)));
  });
}

namespace {
template <class... Parts>
using stack_of = quantized<layer_stack<
    encoder_layer<float, Parts..., bias<true>, norm_first<true>, activation<silu>, gated<true>>,
    2>>;
using small = stack_of<hidden<8>, heads<2>, intermediate<8>>;
using sequence = tensor<std::int16_t, token<5>, hidden<8>>;
constexpr sequence short_sequence = [] {
  sequence x{};
  std::int16_t v = 1;
  for (auto& e : x) e = v = static_cast<std::int16_t>(v * 7 % 8191 - 4000);
  return x;
}();
constexpr small small_layers = [] {
  lcg next{77};
  small::layer::weights w{};
  for (auto& one : w.layers) draw_encoder(next, one, 0.3, 0.3, 0.3, 0.1, 1, 0.2);
  small::ranges seen{};
  const auto x = drawn<tensor<float, token<5>, hidden<8>>>(next, 2);
  static_cast<void>(small::calibrate(seen, w, x, causal));
  small layers{};
  static_cast<void>(layers.pack(w, seen));
  return layers;
}();
constexpr auto encoded = small_layers(short_sequence, valid_rows(3) & causal);
}  // namespace

BOOST_AUTO_TEST_CASE(integer_rows_are_left_out_while_compiling) {
  const auto wanted = small_layers(short_sequence, 3 & causal);
  BOOST_TEST(!same_bits(wanted, short_sequence));
  BOOST_TEST(same_bits(small_layers(short_sequence, valid_rows(3) & causal), encoded));
  BOOST_TEST(same_bits(encoded | slice<token, from<0>, extent<3>> | contiguous,
                       wanted | slice<token, from<0>, extent<3>> | contiguous));
  BOOST_TEST(same_bits(encoded | slice<token, from<3>, extent<2>> | contiguous,
                       tensor<std::int16_t, token<2>, hidden<8>>{}));
}

BOOST_AUTO_TEST_CASE(integer_blocks_longer_than_their_pieces) {
  using layers = stack_of<hidden<24>, heads<2>, intermediate<40>>;
  using tokens = tensor<std::int16_t, batch<2>, token<150>, hidden<24>>;
  lcg next{9};
  static const layers encode = drawn_quantized<layers>(next, 8);
  const auto x = drawn_integers<tokens>(next, 9000);
  static layers::workspace<token<150>> work;
  for_lengths<150>([&](const tensor<int, batch<2>>& lens) {
    tokens out = x;  // in place
    std::memset(static_cast<void*>(&work), 0x85, sizeof work);
    encode.into(out, out, valid_rows(lens), work);
    BOOST_TEST(is_short(out, encode(x, lens, work), lens));
  });
}

namespace {

shuffled<1> shuffled_1;
shuffled<2> shuffled_2;
shuffled<3> shuffled_3;

// call(lens, work) with valid_rows by one worker has these integers by several.
template <class Workspace, std::size_t Rows, std::size_t Batch, class Call>
void check_workers(const Call& call) {
  static Workspace work[3];
  const auto check = [&](const tensor<int, batch<Batch>>& lens) {
    const auto wanted = call(lens, work[0]);
    const auto by = [&](auto& executor) {
      std::memset(static_cast<void*>(work), 0x85, sizeof work);
      BOOST_TEST(same_bits(call(lens, parallel(executor, work)), wanted));
    };
    by(serial), by(shuffled_1), by(shuffled_2), by(shuffled_3);
  };
  constexpr int rows = static_cast<int>(Rows);
  for (int n = -1; n <= rows + 1; n += rows > 30 ? 7 : 1) {
    tensor<int, batch<Batch>> lens{};
    for (int& e : lens) e = n;
    check(lens);
    for (std::size_t b = 0; b < Batch; ++b)
      lens.data()[b] = (7 * n + 5 * static_cast<int>(b)) % (rows + 2);
    check(lens);
  }
}

template <std::size_t Batch, std::size_t Rows, class... Options>
void check_attention_by_workers() {
  using integers =
      quantized<multi_head_attention<float, hidden<16>, heads<4>, bias<true>, Options...>>;
  lcg next{3};
  static const integers packed = drawn_quantized<integers>(next);
  const integers& attend = packed;  // g++ 12 warns of a static variable in generic lambdas
  const auto x =
      drawn_integers<tensor<std::int8_t, batch<Batch>, token<Rows>, hidden<16>>>(next, 100);
  using workspace = typename integers::template workspace<token<Rows>>;
  check_workers<workspace, Rows, Batch>(
      [&](const auto& lens, auto&& work) { return attend(x, valid_rows(lens) & causal, work); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(several_workers_leave_out_rows_of_integer_attention) {
  check_attention_by_workers<1, 10>();
  check_attention_by_workers<2, 53, kv_heads<2>, rope<split_halves>>();
  check_attention_by_workers<5, 16, query_key_norm<rms_norm>, norm_epsilon<1, 1000>>();
}

BOOST_AUTO_TEST_CASE(several_workers_leave_out_integer_keys) {
  using integers = quantized<multi_head_attention<float, hidden<12>, heads<4>, bias<true>>>;
  lcg next{8};
  static const integers packed = drawn_quantized<integers>(next);
  const integers& attend = packed;  // g++ 12 warns of a static variable in generic lambdas
  const auto x = drawn_integers<tensor<std::int8_t, batch<3>, query<5>, hidden<12>>>(next, 100);
  const auto y = drawn_integers<tensor<std::int8_t, batch<3>, key<37>, hidden<12>>>(next, 100);
  check_workers<integers::workspace<query<5>, key<37>>, 37, 3>(
      [&](const auto& lens, auto&& work) { return attend(x, y, y, valid_rows(lens), work); });
}

BOOST_AUTO_TEST_CASE(several_workers_leave_out_rows_of_integer_blocks) {
  using layers = stack_of<hidden<24>, heads<2>, intermediate<40>>;
  lcg next{9};
  static const layers packed = drawn_quantized<layers>(next, 8);
  const layers& encode = packed;
  const auto x = drawn_integers<tensor<std::int16_t, batch<5>, token<21>, hidden<24>>>(next, 9000);
  check_workers<layers::workspace<token<21>>, 21, 5>([&](const auto& lens, auto&& work) {
    auto out = x;  // in place
    encode.into(out, out, valid_rows(lens), work);
    return out;
  });
}
