// SPDX-License-Identifier: BSL-1.0
// integer_attend against plain::integer_attend, bit for bit, under every policy that hides keys.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/kernel/integer/attend.hpp>

namespace {

using namespace umbel::detail::kernel;
using namespace umbel_test;

// A head among Heads of as many features; scores of `most` at most each way.
template <integer_attend_shape S>
struct integer_attend_case {
  buffer<std::int8_t> q, k, v;
  std::unique_ptr<integer_attend_scratch<S>> work{new integer_attend_scratch<S>};
  seeded next{static_cast<std::uint32_t>(S.queries * 131 + S.keys * 31 + S.head_dim)};

  // Exactly what is there: a read beyond it is a sanitizer's.
  explicit integer_attend_case(double most)
      : q((S.queries - 1) * S.q_row + S.head_dim),
        k((S.keys - 1) * S.k_row + S.head_dim),
        v((S.keys - 1) * S.v_row + S.value_dim) {
    q.fill(next, most + 1);
    k.fill(next, most + 1);
    v.fill(next, 128);
  }
  // least: -127, or -128, which nothing here gives and everything takes.
  void fill_extremes(std::int8_t least = -127) {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] = least == -128 ? least : std::int8_t{127};
    for (std::size_t i = 0; i < k.size(); ++i) k[i] = i % 3 == 0 ? least : std::int8_t{127};
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = i % 2 == 0 ? least : std::int8_t{127};
  }

  template <class Policy>
  void check(const Policy& policy, const char* what) {
    // Weights that fall within few units of score, within many, not at all; the last: never to 0,
    // not even of what is hidden.
    constexpr integer_softmax all[] = {{23592, 25000, 18}, {400, 45000, 13}, {1 << 30, 1, 19},
                                       {2, 36864, 4},      {9, 33000, 7},    {1 << 30, 0, 19}};
    for (const integer_softmax& softmax : all) {
      buffer<std::int8_t> o{(S.queries - 1) * S.o_row + S.value_dim, 80}, right{o.size(), 80};
      integer_attend<S>(q.get(), k.get(), v.get(), softmax, policy, o.get(), *work);
      plain::integer_attend<S>(q.get(), k.get(), v.get(), softmax, policy, right.get());
      BOOST_TEST(o.same_bits(right), what << ' ' << S.queries << 'x' << S.keys << 'x' << S.head_dim
                                          << 'x' << S.value_dim << ", shift "
                                          << static_cast<int>(softmax.shift));
    }
  }
  void check_positions() {
    constexpr auto aligned =
        static_cast<std::ptrdiff_t>(S.keys) - static_cast<std::ptrdiff_t>(S.queries);
    check(scores::every_key{}, "every key");
    check(scores::first_keys{S.keys / 2}, "first keys");
    check(scores::first_keys{0}, "no key");
    check(scores::causal{aligned}, "causal");
    check(scores::causal{-3}, "causal, first queries see nothing");
    check(scores::window{9, 1, 2}, "window");
  }
  void check_memory() {
    std::int32_t lengths[S.queries];
    unsigned char flags[S.queries * S.keys];
    for (auto& l : lengths) l = static_cast<std::int32_t>((next() + 1) * S.keys) - 2;
    for (auto& f : flags) f = next() > -0.3;
    check(scores::lengths<std::int32_t>{lengths, 1}, "lengths");
    check(scores::kept<unsigned char>{flags, S.keys, 1}, "kept");
    check(scores::kept<unsigned char, false>{flags, 0, 1}, "dropped for all queries");
    check(scores::all_of(scores::causal{1}, scores::kept<unsigned char>{flags, S.keys, 1}),
          "causal and kept");
  }
};

template <std::size_t Queries, std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim,
          std::size_t Heads = 2>
inline constexpr integer_attend_shape shape = {Queries,         Keys,           HeadDim,
                                               ValueDim,        Heads* HeadDim, Heads* HeadDim,
                                               Heads* ValueDim, Heads* ValueDim};

// With weights of 16 bits.
constexpr integer_attend_shape in_16_bits(integer_attend_shape s) {
  s.weight_bits = 16;
  return s;
}

BOOST_AUTO_TEST_CASE(tails_of_queries_keys_and_features) {
  integer_attend_case<shape<1, 1, 4, 4>>{127}.check_positions();
  integer_attend_case<shape<21, 50, 20, 36>>{127}.check_positions();
  integer_attend_case<shape<21, 50, 20, 36>>{12}.check_memory();
}
// As cores without vectors compute them.
BOOST_AUTO_TEST_CASE(every_power_of_a_half) {
  int wrong = 0;
  for (std::int32_t t = 0; t < 7936; ++t)
    wrong += scalar::power_of_half(t) != plain::power_of_half(t);
  BOOST_TEST(wrong == 0);
}
BOOST_AUTO_TEST_CASE(few_queries) {
  integer_attend_case<shape<2, 90, 32, 20>>{20}.check_positions();
  integer_attend_case<shape<1, 13, 12, 32>>{127}.check_memory();
}
// Sums of weights of more than 14 bits, where digits are dropped.
BOOST_AUTO_TEST_CASE(many_keys) {
  integer_attend_case<shape<17, 300, 4, 8, 1>>{3}.check_positions();
  integer_attend_case<shape<1, 700, 4, 8, 1>>{3}.check_positions();
}
BOOST_AUTO_TEST_CASE(extremes) {
  integer_attend_case<shape<5, 40, 64, 16>> many{0};
  integer_attend_case<shape<1, 40, 64, 16>> one{0};
  for (const std::int8_t least : {std::int8_t{-127}, std::int8_t{-128}}) {
    many.fill_extremes(least);
    many.check_positions();
    one.fill_extremes(least);
    one.check(scores::every_key{}, "extremes");
  }
}
BOOST_AUTO_TEST_CASE(weights_of_16_bits) {
  integer_attend_case<in_16_bits(shape<1, 1, 4, 4>)>{127}.check_positions();
  integer_attend_case<in_16_bits(shape<5, 50, 20, 36>)>{12}.check_memory();
  integer_attend_case<in_16_bits(shape<5, 50, 20, 36>)> many{0};
  for (const std::int8_t least : {std::int8_t{-127}, std::int8_t{-128}}) {
    many.fill_extremes(least);
    many.check_positions();
  }
}
// More than have a sum of 32 bits.
BOOST_AUTO_TEST_CASE(weights_of_16_bits_of_many_keys) {
  integer_attend_case<in_16_bits(shape<2, 1300, 4, 8, 1>)>{3}.check_positions();
  integer_attend_case<in_16_bits(shape<1, 1300, 4, 20, 1>)> same{0};
  same.fill_extremes();
  for (std::size_t i = 0; i < same.k.size(); ++i) same.k[i] = 127;
  same.check(scores::every_key{}, "the same score");
}

}  // namespace
