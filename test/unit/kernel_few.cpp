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
  template <class W, target... Targets, class Policy>
  void check_stored(const Policy& policy) {
    const std::unique_ptr<W[]> keys{new W[k_size]}, values{new W[v_size]};
    for (std::size_t i = 0; i < k_size; ++i) {
      keys[i] = W(k[i]);
      k[i] = static_cast<float>(keys[i]);
    }
    for (std::size_t i = 0; i < v_size; ++i) {
      values[i] = W(v[i]);
      v[i] = static_cast<float>(values[i]);
    }
    const auto one = [&]<target Target>(std::integral_constant<target, Target>) {
      buffer<T> right = plain(policy), o{o_size, 16}, scratch{attend_scratch<S, T, Target>};
      attend<S, T, Target>(q.get(), keys.get(), values.get(), static_cast<T>(0.9), policy, o.get(),
                           scratch.get());
      expect(o.same_numbers(right), "stored", Target);
      plain::attend<S>(q.get(), keys.get(), values.get(), static_cast<T>(0.9), policy, o.get(),
                       no_tap{});
      expect(o.same_numbers(right), "stored, plain", Target);
    };
    (one(std::integral_constant<target, Targets>{}), ...);
  }
  // In 8 bits: the bits of the plain loops. At `hidden`, which nobody sees, lies what is not
  // finite.
  template <target... Targets, class Policy>
  void check_scaled(const Policy& policy, std::size_t hidden = S.keys) {
    seeded next{5};
    const std::unique_ptr<std::int8_t[]> keys{new std::int8_t[k_size]},
        values{new std::int8_t[v_size]};
    buffer<T> key_scales{S.keys}, value_scales{S.keys};
    for (std::size_t i = 0; i < k_size; ++i) keys[i] = static_cast<std::int8_t>(k[i] * 80);
    for (std::size_t i = 0; i < v_size; ++i) values[i] = static_cast<std::int8_t>(v[i] * 120);
    key_scales.fill(next, 0.01);
    value_scales.fill(next, 0.01);
    for (std::size_t j = 0; j < S.keys; ++j) {
      key_scales[j] = std::fabs(key_scales[j]);
      value_scales[j] = std::fabs(value_scales[j]);
    }
    if (hidden < S.keys) key_scales[hidden] = value_scales[hidden] = not_a_number;
    using rows = umbel::detail::kernel::scaled_rows<T, 0>;
    const rows of_keys{keys.get(), key_scales.get()}, of_values{values.get(), value_scales.get()};
    buffer<T> right{o_size, 16};
    plain::attend<S>(q.get(), of_keys, of_values, static_cast<T>(0.9), policy, right.get(),
                     no_tap{});
    for (std::size_t d = 0; d < o_size; ++d) BOOST_TEST(std::isfinite(right[d]));
    const auto one = [&]<target Target>(std::integral_constant<target, Target>) {
      buffer<T> o{o_size, 16}, scratch{attend_scratch<S, T, Target>};
      attend<S, T, Target>(q.get(), of_keys, of_values, static_cast<T>(0.9), policy, o.get(),
                           scratch.get());
      expect(o.same_numbers(right), "in 8 bits", Target);
    };
    (one(std::integral_constant<target, Targets>{}), ...);
  }
  // Every target, policy and shape is a kernel for the compiler: every two of them meet, not all
  // three.
  template <target... Targets, class Policy>
  void check(const Policy& policy, const char* what) {
    buffer<T> right = plain(policy);
    const auto one = [&]<target Target>(std::integral_constant<target, Target>) {
      expect(fast<Target>(policy).same_numbers(right), what, Target);
    };
    (one(std::integral_constant<target, Targets>{}), ...);
  }
};

// The registers of AVX-512 and of AVX2: from 8 on several queries may go by themselves.
constexpr target wide{64, 32}, half_as_wide{32, 16};
// Where 512 bits are computed in two halves, keys in rows are transposed in vectors of 256.
constexpr target two_halves{64, 32, {}, true, false};

template <std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim>
constexpr attend_shape dense{1, Keys,     HeadDim, ValueDim, HeadDim, 1, HeadDim,
                             1, ValueDim, 1,       ValueDim, 1,       1};

template <target Target, std::size_t... Keys>
void check_keys() {
  (one_query<dense<Keys, 8, 16>>{}.template check<Target>(scores::every_key{}, "every key"), ...);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_few)

BOOST_AUTO_TEST_CASE(is_used) {
  using umbel::detail::kernel::detail::attend_few;
  static_assert(attend_few<dense<9, 8, 16>, float, vector_64>::fits);
  static_assert(!attend_few<dense<9, 8, 16>, float, scalar_target>::fits);
  static_assert(attend_few<columns_out<8, 9>, float, wide>::fits);
  static_assert(!attend_few<columns_out<9, 9>, float, wide>::fits);
  static_assert(attend_few<dense<9, 8, 16>, float, two_halves>::narrow);
  static_assert(!attend_few<dense<9, 8, 16>, float, wide>::narrow);
}

// Of the shape, and of all that it has: the loops over keys are the same.
BOOST_AUTO_TEST_CASE(any_number_of_keys) {
  check_keys<vector_64, 1, 47, 513>();
  check_keys<vector_32, 7, 257>();
  check_keys<vector_16, 3, 257>();
  check_keys<two_halves, 1, 15, 31, 33, 47, 513>();
  one_query<dense<513, 8, 16>> p;
  for (std::size_t count = 0; count <= 513; count += count < 50 || count > 253 ? 1 : 15) {
    p.check<vector_16, vector_32, vector_64>(scores::first_keys(count), "count");
  }
}

// As a cache stores them: keys adjacent.
BOOST_AUTO_TEST_CASE(keys_and_values_in_16_bits_are_the_rounded_ones) {
  constexpr attend_shape few{1, 21, 5, 19, 5, 1, 1, 24, 20, 1, 19, 1, 1};
  constexpr attend_shape many{1, 261, 8, 16, 8, 1, 1, 264, 16, 1, 16, 1, 1};
  const scores::first_keys all_but_one_of_few{20}, all_but_one{260};
  one_query<few>{}.check_stored<umbel::bfloat16, vector_16>(all_but_one_of_few);
  one_query<few>{}.check_stored<umbel::float16, widest>(all_but_one_of_few);
  one_query<many>{}.check_stored<umbel::bfloat16, scalar_target, vector_32, widest>(all_but_one);
  one_query<many>{}.check_stored<umbel::float16, vector_16, vector_32>(all_but_one);
  one_query<many>{}.check_stored<umbel::float16, widest>(scores::alibi<float>{0.25f});
}

BOOST_AUTO_TEST_CASE(keys_and_values_in_8_bits) {
  constexpr attend_shape few{1, 21, 5, 19, 5, 1, 1, 24, 20, 1, 19, 1, 1};
  constexpr attend_shape many{1, 261, 8, 16, 8, 1, 1, 264, 16, 1, 16, 1, 1};
  constexpr attend_shape wide_values{1, 70, 3, 150, 3, 1, 1, 72, 150, 1, 150, 1, 1};
  one_query<few>{}.check_scaled<vector_16, widest>(scores::first_keys{20}, 20);
  one_query<many>{}.check_scaled<scalar_target, vector_32, widest>(scores::first_keys{260}, 260);
  one_query<wide_values>{}.check_scaled<vector_16>(scores::every_key{});
  const auto mask = flags(1, 261, [](std::size_t, std::size_t j) { return j % 5 != 2; });
  const auto policy = scores::all_of(scores::alibi{-0.01f, 260}, scores::kept(bytes(mask), 0, 1));
  one_query<many>{}.check_scaled<scalar_target, vector_16, widest>(policy, 7);
}

BOOST_AUTO_TEST_CASE(any_number_of_features) {
  constexpr scores::every_key all;
  one_query<dense<21, 1, 1>>{}.check<widest>(all, "1, 1");
  one_query<dense<21, 7, 15>>{}.check<vector_16, widest>(all, "7, 15");
  one_query<dense<21, 20, 17>>{}.check<vector_32, widest>(all, "20, 17");
  one_query<dense<21, 33, 40>>{}.check<vector_16, vector_32>(all, "33, 40");
  // Tiles of values: of one size, of two; the last vector whole or not.
  one_query<dense<300, 3, 240>>{}.check<widest>(all, "3, 240");
  one_query<dense<300, 3, 150>>{}.check<vector_16>(all, "3, 150");
  one_query<dense<2, 1, 1000>>{}.check<widest>(all, "1, 1000");
  one_query<dense<21, 3, 1>>{}.check<two_halves>(all, "3, 1");
  one_query<dense<53, 33, 40>>{}.check<two_halves>(all, "33, 40");
  one_query<dense<37, 5, 6>, double>{}.check<vector_16, widest, two_halves>(all, "double");
}

BOOST_AUTO_TEST_CASE(any_stride) {
  constexpr attend_shape heads_side_by_side{1, 70, 4, 12, 12, 1, 20, 1, 28, 1, 1, 16, 16};
  constexpr attend_shape keys_adjacent{1, 70, 4, 12, 1, 3, 1, 75, 13, 1, 20, 1, 1};
  constexpr attend_shape many_adjacent{1, 300, 4, 12, 4, 1, 1, 300, 12, 1, 12, 1, 1};
  constexpr attend_shape values_apart{1, 70, 4, 12, 1, 1, 4, 1, 1, 70, 12, 1, 1};
  const scores::first_keys count{67};
  one_query<heads_side_by_side>{}.check<vector_16, widest>(count, "heads side by side");
  one_query<keys_adjacent>{}.check<vector_16>(count, "keys adjacent");
  one_query<many_adjacent>{}.check<widest>(scores::first_keys(299), "many adjacent");
  one_query<values_apart>{}.check<widest>(count, "values apart");
}

// An `over` is of one query, so a policy does not know the vectors.
BOOST_AUTO_TEST_CASE(every_policy) {
  constexpr std::size_t keys = 523;
  one_query<dense<keys, 8, 6>> p{3.0};
  const auto mask = flags(1, keys, [](std::size_t, std::size_t j) { return j % 5 != 2; });
  buffer<float> bias{keys};
  seeded next{3};
  bias.fill(next, 2.0);
  for (std::size_t e = 0; e < keys; e += 11) bias[e] = -infinity;
  for (std::size_t count : {0u, 1u, 16u, 255u, 256u, 257u, 400u, 523u}) {
    p.check<widest>(scores::first_keys(count), "count");
  }
  for (std::ptrdiff_t offset : {-1, 0, 40, 254, 256, 300, 522, 600}) {
    p.check<widest>(scores::causal{offset}, "causal");
    p.check<vector_16>(scores::window{30, 2, offset}, "window");
  }
  p.check<vector_16, vector_32, widest>(
      scores::all_of(scores::softcap{2.0f}, scores::added(bias.get(), 0, 1),
                     scores::alibi{-0.01f, 522}, scores::kept(bytes(mask), 0, 1)),
      "everything");
  p.check<widest>(scores::dropout(1, 2, 0.25f), "dropout");
}

BOOST_AUTO_TEST_CASE(what_is_hidden_does_not_leak) {
  constexpr std::size_t keys = 290;
  one_query<dense<keys, 8, 6>> p;
  const auto mask = flags(1, keys, [](std::size_t, std::size_t j) { return j % 5 != 2; });
  const scores::kept kept(bytes(mask), 0, 1);
  const buffer<float> clean = p.fast<widest>(kept);
  for (std::size_t j = 2; j < keys; j += 5) {
    p.k[j * 8 + 3] = j % 2 != 0 ? not_a_number : infinity;
    p.v[j * 6 + 1] = j % 2 != 0 ? infinity : not_a_number;
  }
  BOOST_TEST(clean.same_bits(p.fast<widest>(kept)));
  BOOST_TEST(clean.same_bits(p.fast<vector_16>(kept)));
  BOOST_TEST(clean.same_bits(p.plain(kept)));
  p.v[4 * 6 + 1] = not_a_number;
  p.check<vector_16, widest>(kept, "NaN value");
  p.k[281 * 8] = not_a_number;
  p.check<vector_16, widest>(kept, "NaN key");
}

// So many that they are fetched ahead.
BOOST_AUTO_TEST_CASE(far_keys) {
  one_query<dense<401, 64, 65>> p;
  p.check<vector_16, widest, two_halves>(scores::every_key{}, "every key");
  p.check<widest>(scores::window{300, 5, 380}, "window");
}

BOOST_AUTO_TEST_CASE(is_a_row_of_the_whole_pass) {
  constexpr std::size_t n = 290;
  problem<rows_out<n, n, 8, 6>> full;
  one_query<dense<n, 8, 6>> step;
  for (std::size_t e = 0; e < n * 8; ++e) step.k[e] = full.k[e];
  for (std::size_t e = 0; e < n * 6; ++e) step.v[e] = full.v[e];
  buffer<float> o = full.fast<widest>(scores::causal{});
  for (std::size_t i :
       {std::size_t{0}, std::size_t{15}, std::size_t{100}, std::size_t{256}, n - 1}) {
    for (std::size_t d = 0; d < 8; ++d) step.q[d] = full.q[i * 8 + d];
    buffer<float> one = step.fast<widest>(scores::causal{static_cast<std::ptrdiff_t>(i)});
    for (std::size_t d = 0; d < 6; ++d) BOOST_TEST(one[d] == o[i * 6 + d]);
  }
}

// A few queries, and the last few of a pass over more than a vector of them.
template <attend_shape S, class T = float>
struct last_queries {
  problem<S, T> p{3.0};
  buffer<unsigned char> mask =
      flags(S.queries, S.keys, [](std::size_t i, std::size_t j) { return (i + j) % 5 != 2; });
  buffer<unsigned char> all =
      flags(S.queries, S.keys, [](std::size_t, std::size_t) { return true; });

  template <target... Targets, class Policy>
  void check(const Policy& policy, const char* what) {
    static_assert(umbel::detail::kernel::detail::queries_alone<S, T, wide> ==
                  S.queries % (64 / sizeof(T)));
    buffer<T> right = p.plain(policy);
    const auto one = [&]<target Target>(std::integral_constant<target, Target>) {
      // g++ takes minutes for vectors that it has to take into four pieces.
      if constexpr (Target.vector_bytes <= 2 * UMBEL_VECTOR_BYTES) {
        expect(p.template fast<Target>(policy).same_numbers(right), what, Target);
      }
    };
    (one(std::integral_constant<target, Targets>{}), ...);
  }
  // Queries by themselves where a key is hidden, together where none is.
  template <target... Targets>
  void check_kept() {
    check<Targets...>(scores::kept(bytes(mask), S.keys, 1), "kept");
    check<Targets...>(scores::kept(bytes(all), S.keys, 1), "all kept");
  }
};

template <target Target, attend_shape S, class T = float>
void check_last() {
  last_queries<S, T>{}.template check_kept<Target>();
}

BOOST_AUTO_TEST_CASE(last_queries_by_themselves) {
  check_last<wide, rows_out<50, 60, 9, 8>>();
  check_last<wide, columns_out<9, 60, 20, 21>, double>();
  last_queries<columns_out<17, 60, 20, 21>> one;
  one.check<half_as_wide>(scores::every_key{}, "every key");
  one.check_kept<vector_64, wide>();
  last_queries<rows_out<19, 270, 9, 8>> p;
  p.check_kept<wide>();
  for (std::size_t count : {0u, 7u, 263u}) {
    p.check<half_as_wide, wide>(scores::first_keys(count), "count");
  }
  p.check<half_as_wide>(scores::window{5, 2, 3}, "window");
  p.check<wide>(scores::alibi{-0.01f, 4}, "alibi");
  p.check<wide>(scores::dropout(1, 2, 0.25f), "dropout");
}

BOOST_AUTO_TEST_CASE(a_few_queries) {
  check_last<vector_64, columns_out<2, 60, 20, 21>>();
  check_last<wide, columns_out<5, 60, 64, 129>>();
  check_last<wide, rows_out<8, 525, 16, 24>>();
  check_last<wide, rows_out<3, 60, 20, 21>, double>();
  last_queries<rows_out<3, 300, 9, 40>> p;
  buffer<float> bias{3 * 300};
  seeded next{3};
  bias.fill(next, 2.0);
  p.check<wide>(scores::every_key{}, "every key");
  for (std::size_t count : {0u, 7u, 293u}) {
    p.check<half_as_wide>(scores::first_keys(count), "count");
  }
  p.check<half_as_wide>(scores::causal{280}, "causal");
  p.check<wide>(scores::window{5, 2, 3}, "window");
  p.check<half_as_wide, wide>(
      scores::all_of(scores::softcap{2.0f}, scores::added<float>(bias, 300, 1),
                     scores::alibi{-0.01f, 4}, scores::kept(bytes(p.mask), 300, 1)),
      "everything");
  p.check<wide>(scores::dropout(1, 2, 0.25f), "dropout");
}

BOOST_AUTO_TEST_SUITE_END()
