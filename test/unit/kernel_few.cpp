// SPDX-License-Identifier: BSL-1.0
// One query (a step of decoding) and a few, whose keys and values lie in the lanes, against
// plain::attend, bit for bit: sizes around the lanes and the softmax's block, layouts, policies.
// And that it is a row of the pass over all queries.
#include <boost/test/unit_test.hpp>

#include "kernel_problem.hpp"

namespace {

using namespace umbel_test::attending;

// Scratch is exactly as large as it is said to be.
template <attend_shape S, class T = float>
struct one_query {
  static constexpr std::size_t k_size = (S.keys - 1) * S.k_row + (S.head_dim - 1) * S.k_dim + 1;
  static constexpr std::size_t v_size = (S.keys - 1) * S.v_row + (S.value_dim - 1) * S.v_dim + 1;
  static constexpr std::size_t o_size = (S.value_dim - 1) * S.o_dim + 1;
  buffer<T> q{(S.head_dim - 1) * S.q_dim + 1}, k{k_size}, v{v_size};

  explicit one_query(double size = 1.5) {
    seeded next{static_cast<std::uint32_t>(S.keys * 31 + S.head_dim)};
    q.fill(next, size);
    k.fill(next, size);
    v.fill(next);
  }
  template <class Policy>
  buffer<T> plain(const Policy& policy) {
    buffer<T> o{o_size, 16};
    plain::attend<S>(q.get(), k.get(), v.get(), static_cast<T>(0.9), policy, o.get());
    return o;
  }
  template <target Target, class Policy>
  buffer<T> fast(const Policy& policy) {
    buffer<T> o{o_size, 16}, scratch{attend_scratch<S, T, Target>};
    attend<S, T, Target>(q.get(), k.get(), v.get(), static_cast<T>(0.9), policy, o.get(),
                         scratch.get());
    return o;
  }
  // Keys and values stored in 16 bits: the bits of the rounded ones, for one lane too, whose
  // queries lie in the lanes.
  template <class W>
  void check_stored() {
    const std::unique_ptr<W[]> keys{new W[k_size]}, values{new W[v_size]};
    for (std::size_t i = 0; i < k_size; ++i) {
      keys[i] = W(k[i]);
      k[i] = static_cast<float>(keys[i]);
    }
    for (std::size_t i = 0; i < v_size; ++i) {
      values[i] = W(v[i]);
      v[i] = static_cast<float>(values[i]);
    }
    const auto one = [&]<target Target>(std::integral_constant<target, Target>,
                                        const auto& policy) {
      buffer<T> right = plain(policy), o{o_size, 16}, scratch{attend_scratch<S, T, Target>};
      attend<S, T, Target>(q.get(), keys.get(), values.get(), static_cast<T>(0.9), policy, o.get(),
                           scratch.get());
      BOOST_TEST(o.same_numbers(right), S.keys << " keys, " << Target.vector_bytes << " bytes");
      plain::attend<S>(q.get(), keys.get(), values.get(), static_cast<T>(0.9), policy, o.get(),
                       no_tap{});
      BOOST_TEST(o.same_numbers(right));
    };
    const scores::first_keys count{S.keys - 1};
    one(std::integral_constant<target, vector_16>{}, count);
    one(std::integral_constant<target, vector_64>{}, count);
    if constexpr (S.keys > umbel::detail::plan::key_block) {
      one(std::integral_constant<target, scalar_target>{}, count);
      one(std::integral_constant<target, vector_32>{}, count);
      one(std::integral_constant<target, vector_64>{}, scores::alibi<T>{static_cast<T>(0.25)});
    }
  }
  // The narrowest vectors and the widest; 32 bytes too when asked for. Each costs the compiler a
  // second.
  template <bool EveryWidth = false, class Policy>
  void check(const Policy& policy, const char* what) {
    buffer<T> right = plain(policy);
    if constexpr (!UMBEL_SANITIZED) {  // compile time
      BOOST_TEST(fast<vector_16>(policy).same_numbers(right), what << ", 16 bytes, " << S.keys);
      if constexpr (EveryWidth)
        BOOST_TEST(fast<vector_32>(policy).same_numbers(right), what << ", 32 bytes, " << S.keys);
    }
    BOOST_TEST(fast<vector_64>(policy).same_numbers(right), what << ", 64 bytes, " << S.keys);
  }
};

// The registers of AVX-512 and of AVX2: from 8 on several queries may go by themselves.
constexpr target wide{64, 32}, half_as_wide{32, 16};

template <std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim>
constexpr attend_shape dense{1, Keys,     HeadDim, ValueDim, HeadDim, 1, HeadDim,
                             1, ValueDim, 1,       ValueDim, 1,       1};

template <target Target, std::size_t... Keys>
void check_keys() {
  const auto check = [](auto p) {
    buffer<float> right = p.plain(scores::every_key{});
    BOOST_TEST(p.template fast<Target>(scores::every_key{}).same_numbers(right),
               p.k_size << " elements of keys, " << Target.vector_bytes << " bytes");
  };
  (check(one_query<dense<Keys, 8, 16>>{}), ...);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_few)

BOOST_AUTO_TEST_CASE(is_used) {
  using umbel::detail::kernel::detail::attend_few;
  static_assert(attend_few<dense<9, 8, 16>, float, vector_64>::fits);
  static_assert(!attend_few<dense<9, 8, 16>, float, scalar_target>::fits);
  static_assert(attend_few<columns_out<8, 9>, float, wide>::fits);
  static_assert(!attend_few<columns_out<9, 9>, float, wide>::fits);
}

BOOST_AUTO_TEST_CASE(any_number_of_keys) {
  check_keys<vector_64, 1, 3, 15, 16, 17, 31, 33, 47, 256, 257, 513>();
  check_keys<vector_32, 7, 8, 9, 17, 257>();
  check_keys<vector_16, 1, 3, 4, 9, 257>();
}

// As a cache stores them: keys adjacent.
BOOST_AUTO_TEST_CASE(keys_and_values_in_16_bits_are_the_rounded_ones) {
  constexpr attend_shape few{1, 21, 5, 19, 5, 1, 1, 24, 20, 1, 19, 1, 1};
  constexpr attend_shape many{1, 261, 8, 16, 8, 1, 1, 264, 16, 1, 16, 1, 1};
  one_query<few>{}.check_stored<umbel::bfloat16>();
  one_query<few>{}.check_stored<umbel::float16>();
  one_query<many>{}.check_stored<umbel::bfloat16>();
  one_query<many>{}.check_stored<umbel::float16>();
}

BOOST_AUTO_TEST_CASE(any_number_of_features) {
  one_query<dense<21, 1, 1>>{}.check(scores::every_key{}, "1, 1");
  one_query<dense<21, 7, 15>>{}.check(scores::every_key{}, "7, 15");
  one_query<dense<21, 20, 17>>{}.check<true>(scores::every_key{}, "20, 17");
  one_query<dense<21, 33, 40>>{}.check<true>(scores::every_key{}, "33, 40");
  one_query<dense<300, 3, 150>>{}.check(scores::every_key{}, "3, 150");
  one_query<dense<2, 1, 1000>>{}.check(scores::every_key{}, "1, 1000");
  one_query<dense<37, 5, 6>, double>{}.check(scores::every_key{}, "double");
}

BOOST_AUTO_TEST_CASE(any_stride) {
  constexpr attend_shape heads_side_by_side{1, 70, 4, 12, 12, 1, 20, 1, 28, 1, 1, 16, 16};
  constexpr attend_shape keys_adjacent{1, 70, 4, 12, 1, 3, 1, 75, 13, 1, 20, 1, 1};
  constexpr attend_shape many_adjacent{1, 300, 4, 12, 4, 1, 1, 300, 12, 1, 12, 1, 1};
  constexpr attend_shape values_apart{1, 70, 4, 12, 1, 1, 4, 1, 1, 70, 12, 1, 1};
  one_query<heads_side_by_side>{}.check(scores::first_keys(67), "heads side by side");
  one_query<keys_adjacent>{}.check(scores::first_keys(67), "keys adjacent");
  one_query<many_adjacent>{}.check(scores::first_keys(299), "many adjacent");
  one_query<values_apart>{}.check(scores::first_keys(67), "values apart");
}

BOOST_AUTO_TEST_CASE(every_policy) {
  constexpr std::size_t keys = 523;
  one_query<dense<keys, 8, 6>> p{3.0};
  const auto mask = flags(1, keys, [](std::size_t, std::size_t j) { return j % 5 != 2; });
  buffer<float> bias{keys};
  seeded next{3};
  bias.fill(next, 2.0);
  for (std::size_t e = 0; e < keys; e += 11) bias[e] = -infinity;
  for (std::size_t count : {0u, 1u, 16u, 255u, 256u, 257u, 400u, 523u}) {
    p.check(scores::first_keys(count), "count");
  }
  for (std::ptrdiff_t offset : {-1, 0, 40, 254, 256, 300, 522, 600}) {
    p.check(scores::causal{offset}, "causal");
    p.check(scores::window{30, 2, offset}, "window");
  }
  p.check<true>(scores::all_of(scores::softcap{2.0f}, scores::added(bias.get(), 0, 1),
                               scores::alibi{-0.01f, 522}, scores::kept(bytes(mask), 0, 1)),
                "everything");
  p.check(scores::dropout(1, 2, 0.25f), "dropout");
}

BOOST_AUTO_TEST_CASE(what_is_hidden_does_not_leak) {
  constexpr std::size_t keys = 290;
  one_query<dense<keys, 8, 6>> p;
  const auto mask = flags(1, keys, [](std::size_t, std::size_t j) { return j % 5 != 2; });
  const scores::kept kept(bytes(mask), 0, 1);
  const buffer<float> clean = p.fast<vector_64>(kept);
  for (std::size_t j = 2; j < keys; j += 5) {
    p.k[j * 8 + 3] = j % 2 != 0 ? not_a_number : infinity;
    p.v[j * 6 + 1] = j % 2 != 0 ? infinity : not_a_number;
  }
  BOOST_TEST(clean.same_bits(p.fast<vector_64>(kept)));
  BOOST_TEST(clean.same_bits(p.fast<vector_16>(kept)));
  BOOST_TEST(clean.same_bits(p.plain(kept)));
  p.v[4 * 6 + 1] = not_a_number;
  p.check(kept, "NaN value");
  p.k[281 * 8] = not_a_number;
  p.check(kept, "NaN key");
}

// So many that they are fetched ahead.
BOOST_AUTO_TEST_CASE(far_keys) {
  one_query<dense<401, 64, 65>> p;
  p.check(scores::every_key{}, "every key");
  p.check(scores::window{300, 5, 380}, "window");
}

BOOST_AUTO_TEST_CASE(is_a_row_of_the_whole_pass) {
  constexpr std::size_t n = 290;
  problem<rows_out<n, n, 8, 6>> full;
  one_query<dense<n, 8, 6>> step;
  for (std::size_t e = 0; e < n * 8; ++e) step.k[e] = full.k[e];
  for (std::size_t e = 0; e < n * 6; ++e) step.v[e] = full.v[e];
  buffer<float> o = full.fast<vector_64>(scores::causal{});
  for (std::size_t i :
       {std::size_t{0}, std::size_t{15}, std::size_t{100}, std::size_t{256}, n - 1}) {
    for (std::size_t d = 0; d < 8; ++d) step.q[d] = full.q[i * 8 + d];
    buffer<float> one = step.fast<vector_64>(scores::causal{static_cast<std::ptrdiff_t>(i)});
    for (std::size_t d = 0; d < 6; ++d) BOOST_TEST(one[d] == o[i * 6 + d]);
  }
}

// A few queries, and the last few of a pass over more than a vector of them.
template <attend_shape S, class T = float>
struct last_queries {
  problem<S, T> p{3.0};
  buffer<unsigned char> mask =
      flags(S.queries, S.keys, [](std::size_t i, std::size_t j) { return (i + j) % 5 != 2; });
  scores::kept<unsigned char> kept{bytes(mask), S.keys, 1};

  template <target... Targets, class Policy>
  void check(const Policy& policy, const char* what) {
    static_assert(umbel::detail::kernel::detail::queries_alone<S, T, wide> ==
                  S.queries % (64 / sizeof(T)));
    buffer<T> right = p.plain(policy);
    const auto one = [&]<target Target>(std::integral_constant<target, Target>) {
      // g++ takes minutes for vectors that it has to take into four pieces.
      if constexpr (Target.vector_bytes <= 2 * UMBEL_VECTOR_BYTES) {
        BOOST_TEST(p.template fast<Target>(policy).same_numbers(right),
                   what << ", " << Target.vector_bytes << " bytes");
      }
    };
    (one(std::integral_constant<target, Targets>{}), ...);
  }
};

template <attend_shape S, class T = float>
void check_last() {
  last_queries<S, T> all;
  all.template check<half_as_wide, wide>(scores::every_key{}, "every key");
  all.template check<vector_64, wide>(all.kept, "kept");
}

// Every policy, for one shape.
template <attend_shape S>
void check_policies_of_last() {
  last_queries<S> all;
  buffer<float> bias{S.queries * S.keys};
  seeded next{3};
  bias.fill(next, 2.0);
  const auto check = [&](const auto& policy, const char* what) {
    all.template check<half_as_wide, wide>(policy, what);
  };
  check(scores::first_keys(S.keys - 7), "count");
  check(scores::first_keys(0), "no key");
  check(scores::causal{}, "causal");
  check(scores::window{5, 2, 3}, "window");
  check(scores::all_of(scores::softcap{2.0f}, scores::added(bias.get(), S.keys, 1),
                       scores::alibi{-0.01f, 4}, all.kept),
        "everything");
  check(scores::dropout(1, 2, 0.25f), "dropout");
}

BOOST_AUTO_TEST_CASE(last_queries_by_themselves) {
  check_last<columns_out<17, 60, 20, 21>>();
  check_last<rows_out<50, 60, 20, 21>>();
  check_last<rows_out<33, 270, 9, 8>>();
  check_last<columns_out<9, 60, 20, 21>, double>();
  check_last<rows_out<21, 270, 64, 65>>();
  check_policies_of_last<rows_out<33, 270, 9, 8>>();
}

BOOST_AUTO_TEST_CASE(a_few_queries) {
  check_last<columns_out<2, 60, 20, 21>>();
  check_last<rows_out<3, 300, 9, 40>>();
  check_last<columns_out<5, 60, 64, 129>>();
  check_last<rows_out<8, 525, 16, 24>>();
  check_last<rows_out<3, 60, 20, 21>, double>();
  check_policies_of_last<rows_out<3, 300, 9, 40>>();
}

BOOST_AUTO_TEST_SUITE_END()
