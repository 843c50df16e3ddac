// SPDX-License-Identifier: BSL-1.0
// What holds for an encoder and for a decoder layer, in floats and in integers, to the bit: a batch
// is its sequences, a length is truncation, a causal layer does not see the future, NaN stays where
// it is hidden, scratch does not show. Not here: what each layer is made of (encoder_layer.cpp,
// decoder_layer.cpp).
#pragma once

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>

#include "../support/compare.hpp"
#include "../support/floats_and_integers.hpp"

namespace law {

// Which: all_keys or causal. F: in_floats or in_integers of the layer.
template <class F, class Which>
void check_block(const F& f, const Which& which) {
  using namespace umbel;
  using namespace umbel::axes;
  using umbel_test::same_bits;
  using tokens = typename F::template sequences_of<batch<2>, token<5>>;
  umbel_test::lcg next{42};
  const tokens x = F::template sequences<batch<2>, token<5>>(next);
  const auto m = F::template memories<batch<2>, key<7>>(next);
  const auto pass = [&](const auto& from, const auto& memory, const auto& mask, const auto& own,
                        auto&... work) {
    return F::pass(f.layer, from, memory, mask, own, work...);
  };
  const tensor<int, batch<2>> lens{3, 6}, own_lens{2, 4};
  const auto own = own_lens & which;
  const auto y = pass(x, m, all_keys, which);
  const auto some = pass(x, m, lens, own);
  static_assert(std::is_same_v<decltype(y), const tokens>);
  BOOST_TEST(!same_bits(some, y));

  // Sequence by sequence, with and without batch, along axes of any name.
  const auto second = select_at<batch, 1>;
  const auto last = slice<batch, from<1>, extent<1>>;
  BOOST_TEST(same_bits(pass(x | second, m | second, all_keys, which), y | second));
  BOOST_TEST(same_bits(
      pass(x | last, m | last, tensor<int, batch<1>>{6}, tensor<int, batch<1>>{4} & which),
      some | last));
  BOOST_TEST(
      same_bits(pass(x | rename_axis<token, query>, m | rename_axis<key, token>, all_keys, which) |
                    rename_axis<query, token>,
                y));

  // A length is truncation; no position of a causal layer sees a later one.
  const auto begin = select_at<batch, 0>;
  BOOST_TEST(same_bits(pass(x | begin | slice<token, from<0>, extent<2>>,
                            m | begin | slice<key, from<0>, extent<3>>, all_keys, which),
                       some | begin | slice<token, from<0>, extent<2>>));
  BOOST_TEST(same_bits(pass(x | slice<token, from<0>, extent<3>> | contiguous, m, all_keys, causal),
                       pass(x, m, all_keys, causal) | slice<token, from<0>, extent<3>>));

  if constexpr (F::has_memory)
    BOOST_TEST(
        same_bits(pass(x | begin, m | begin | slice<key, from<0>, extent<3>>, all_keys, which),
                  pass(x, m, lens, which) | begin));

  // Scratch, dirty or as it was left; the caller's memory for the result; any form of the weights.
  static typename F::template workspace<typename F::called, token<5>, key<7>> work;
  std::memset(static_cast<void*>(&work), 0xff, sizeof work);
  BOOST_TEST(same_bits(pass(x, m, lens, own, work), some));
  BOOST_TEST(same_bits(F::pass(f.packed, x, m, all_keys, which, work), y));
  tokens out{};
  F::pass_into(f.layer, out, x, m, lens, own, work);
  BOOST_TEST(same_bits(out, some));
  F::pass_into(f.packed, as_view(out), x, m, all_keys, which);
  BOOST_TEST(same_bits(out, y));

  // NaN past a length stays in its own row.
  if constexpr (F::is_of_floats) {
    auto spoilt = x;
    auto behind = m;
    spoilt(0, 3, 4) = behind(0, 3, 1) = behind(1, 6, 11) = std::nanf("");
    const auto z = pass(spoilt, behind, lens, own);
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t h = 0; h < F::hidden_axis::size; ++h) {
          if (b == 0 && i == 3)
            BOOST_TEST(std::isnan(z(b, i, h)) == true);
          else
            BOOST_TEST(std::memcmp(&z(b, i, h), &some(b, i, h), sizeof z(b, i, h)) == 0);
        }
  }
}

}  // namespace law
