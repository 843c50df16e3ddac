// SPDX-License-Identifier: BSL-1.0
// Calls that leave out rows, valid_rows(n): the first n rows have the bits of a call with lengths
// n, the others are zeros. Blocks: test/uses.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <cfenv>
#include <cstdint>
#include <cstring>
#include <string>

#include "../../examples/thread_pool.hpp"
#include "../support/compare.hpp"
#include "../support/executors.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

// Is y(b, i) as of_all for i < lens(b), and 0 after it?
template <class Y, std::size_t Batch>
bool is_short(const Y& y, const Y& of_all, const tensor<int, batch<Batch>>& lens) {
  constexpr std::size_t rows = Y::layout::extents[1], width = Y::layout::extents[2];
  bool same = true;
  for (std::size_t b = 0; b < Batch; ++b)
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

namespace {

thread_pool<2> pool_of_2;
shuffled<1> shuffled_1;
shuffled<2> shuffled_2;
shuffled<3> shuffled_3;

// call(lens, work) with valid_rows by one worker has these bits by several.
template <class Workspace, std::size_t Rows, std::size_t Batch, class Call>
void check_workers(lcg& next, const Call& call) {
  static Workspace work[3];
  const auto check = [&](const tensor<int, batch<Batch>>& lens) {
    const auto wanted = call(lens, work[0]);
    const auto by = [&](auto& executor) {
      for (Workspace& w : work) spoil<float>(w);
      const auto y = call(lens, parallel(executor, work));
      BOOST_TEST(!raised());
      BOOST_TEST(same_bits(y, wanted));
    };
    by(serial), by(shuffled_1), by(pool_of_2), by(shuffled_2), by(shuffled_3);
  };
  constexpr int rows = static_cast<int>(Rows);
  for (int n : {-1, 0, 1, rows / 2, rows - 1, rows, rows + 1}) {
    tensor<int, batch<Batch>> lens{};
    for (int& e : lens) e = n;
    check(lens);
    lens.data()[Batch - 1] = rows - n;  // one that differs
    check(lens);
    for (int& e : lens) e = static_cast<int>((next() + 1) / 2 * static_cast<float>(Rows + 1));
    check(lens);
  }
}

template <std::size_t Batch, std::size_t Rows, class... Options>
void check_attention_by_workers() {
  using attention = multi_head_attention<float, hidden<16>, heads<4>, bias<true>, Options...>;
  lcg next{Batch};
  typename attention::weights w{};
  draw_attention(next, w, 0.3, 0.5);
  const prepacked<attention> attend{w};
  const auto x = drawn<tensor<float, batch<Batch>, token<Rows>, hidden<16>>>(next, 2);
  using workspace = typename attention::template workspace<token<Rows>>;
  check_workers<workspace, Rows, Batch>(next, [&](const auto& lens, auto&& work) {
    return attend(x, valid_rows(lens) & causal, work);
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(several_workers_leave_out_rows_of_attention) {
  check_attention_by_workers<1, 10>();
  check_attention_by_workers<2, 53, kv_heads<2>, rope<split_halves>>();
  check_attention_by_workers<5, 16, query_key_norm<rms_norm>, norm_epsilon<1, 1000>>();
  check_attention_by_workers<3, 1>();
}

BOOST_AUTO_TEST_CASE(several_workers_leave_out_keys) {
  using attention = multi_head_attention<float, hidden<12>, heads<4>, bias<true>>;
  lcg next{8};
  attention::weights w{};
  draw_attention(next, w, 0.3, 0.5);
  const attention attend{w};
  const auto x = drawn<tensor<float, batch<3>, query<5>, hidden<12>>>(next, 2);
  const auto y = drawn<tensor<float, batch<3>, key<37>, hidden<12>>>(next, 2);
  check_workers<attention::workspace<query<5>, key<37>>, 37, 3>(
      next, [&](const auto& lens, auto&& work) { return attend(x, y, y, valid_rows(lens), work); });
}

BOOST_AUTO_TEST_CASE(several_workers_leave_out_rows_of_blocks) {
  const auto check = []<std::size_t Batch, std::size_t Rows>(
                         std::integral_constant<std::size_t, Batch>,
                         std::integral_constant<std::size_t, Rows>) {
    using layers = layer_stack<encoder_layer<float, hidden<24>, heads<2>, intermediate<40>,
                                             bias<true>, norm_first<true>, activation<silu>>,
                               2>;
    lcg next{9};
    layers::weights w{};
    for (std::size_t i = 0; i < 2; ++i) draw_encoder(next, w[i], 0.3, 0.3, 0.3, 0.5, 1, 0.5);
    const auto x = drawn<tensor<float, batch<Batch>, token<Rows>, hidden<24>>>(next);
    using workspace = layers::workspace<token<Rows>>;
    check_workers<workspace, Rows, Batch>(next, [&](const auto& lens, auto&& work) {
      auto out = x;  // in place
      layers{w}.into(out, out, valid_rows(lens), work);
      return out;
    });
  };
  check(std::integral_constant<std::size_t, 1>{}, std::integral_constant<std::size_t, 70>{});
  check(std::integral_constant<std::size_t, 5>{}, std::integral_constant<std::size_t, 21>{});
}

BOOST_AUTO_TEST_CASE(several_workers_take_batches_too_long_to_sort) {
  using attention = multi_head_attention<float, hidden<8>, heads<2>, bias<true>>;
  lcg next{10};
  attention::weights w{};
  draw_attention(next, w, 0.3, 0.5);
  const auto x = drawn<tensor<float, batch<257>, token<3>, hidden<8>>>(next);
  static attention::workspace<token<3>> work[3];
  tensor<int, batch<257>> lens{};
  for (int& e : lens) e = static_cast<int>((next() + 1) * 2);
  shuffled<3, 257> executor;
  BOOST_TEST(same_bits(attention{w}(x, valid_rows(lens), parallel(executor, work)),
                       attention{w}(x, valid_rows(lens))));
  BOOST_TEST(executor.pieces == 257);
}

// Rows are shared: all workers compute what would leave one of them behind, then each takes the
// longest sequence left.
BOOST_AUTO_TEST_CASE(rows_are_shared_by_workers) {
  const auto order = []<std::size_t Workers, std::size_t Count>(
                         std::integral_constant<std::size_t, Workers>,
                         const std::size_t(&lens)[Count]) {
    const umbel::detail::sequences_by_rows<Count, Workers> shared(
        [&](std::size_t b) { return umbel::detail::first_rows{lens[b], lens[b]}; });
    std::string text;
    for (std::size_t i = 0; i < shared.present; ++i)
      text += (i == shared.together ? "|" : " ") + std::to_string(lens[shared.order[i]]);
    return text;
  };
  using two = std::integral_constant<std::size_t, 2>;
  using three = std::integral_constant<std::size_t, 3>;
  BOOST_TEST(order(two{}, {1, 2, 3, 4, 5, 6}) == "|6 5 4 3 2 1");
  BOOST_TEST(order(two{}, {128, 1}) == " 128 1");
  BOOST_TEST(order(two{}, {3, 5}) == "|5 3");
  BOOST_TEST(order(two{}, {5, 2}) == " 5 2");
  BOOST_TEST(order(two{}, {9, 9}) == "|9 9");
  BOOST_TEST(order(two{}, {9, 0, 9, 0, 9}) == " 9|9 9");
  BOOST_TEST(order(two{}, {0, 1, 100, 3, 2}) == " 100 3 2 1");
  BOOST_TEST(order(three{}, {5, 5, 5, 5}) == " 5|5 5 5");
  BOOST_TEST(order(three{}, {0, 0}) == "");
}
