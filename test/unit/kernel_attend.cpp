// SPDX-License-Identifier: BSL-1.0
// attend against plain::attend, bit for bit, on every number of lanes.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/kernel/float/attend.hpp>
#include <umbel/kernel/plain/floats.hpp>

namespace {

using namespace umbel::detail::kernel;
using namespace umbel_test;
using umbel::detail::plan::target;

template <attend_shape S>
constexpr std::size_t q_size = (S.queries - 1) * S.q_row + (S.head_dim - 1) * S.q_dim + 1;
template <attend_shape S>
constexpr std::size_t k_size = (S.keys - 1) * S.k_row + (S.head_dim - 1) * S.k_dim + 1;
template <attend_shape S>
constexpr std::size_t v_size = (S.keys - 1) * S.v_row + (S.value_dim - 1) * S.v_dim + 1;
template <attend_shape S>
constexpr std::size_t o_size =
    S.o_row == 1 ? (S.value_dim - 1) * S.o_dim + S.o_room
                 : (S.queries - 1) * S.o_row + (S.value_dim - 1) * S.o_dim + 1;

// Everything row-major and dense; the context transposed (o_row 1) or not.
template <std::size_t Queries, std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim>
constexpr attend_shape rows_out{Queries, Keys,     HeadDim, ValueDim, HeadDim, 1,      HeadDim,
                                1,       ValueDim, 1,       ValueDim, 1,       Queries};
template <std::size_t Queries, std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim,
          std::size_t Room = Queries>
constexpr attend_shape columns_out{Queries, Keys,     HeadDim, ValueDim, HeadDim, 1,   HeadDim,
                                   1,       ValueDim, 1,       1,        Room,    Room};

// Once, not for every kernel: the macro's code takes the compiler as long as a small one.
void expect(bool right, const char* what, const attend_shape& s, std::size_t key_count, target on) {
  BOOST_TEST(right, what << ": " << s.queries << " queries, " << key_count << " of " << s.keys
                         << " keys, " << s.head_dim << ", " << s.value_dim << ", "
                         << on.vector_bytes << " bytes");
}

template <attend_shape S, class T>
struct attend_case {
  buffer<T> q{q_size<S>}, k{k_size<S>}, v{v_size<S>};
  T scale = static_cast<T>(0.37);

  explicit attend_case(double size = 1.0) {
    seeded next{static_cast<std::uint32_t>(S.queries * 131 + S.keys * 31 + S.head_dim)};
    q.fill(next, size);
    k.fill(next, size);
    v.fill(next);
  }

  buffer<T> expected(std::size_t key_count) {
    buffer<T> o{o_size<S>, 80};
    plain::attend<S>(q.get(), k.get(), v.get(), scale, key_count, o.get());
    return o;
  }

  // Elements between queries and o_room may be anything: they are compared as written.
  void forget_room(buffer<T>& o) {
    if constexpr (S.o_row == 1 && S.o_room > S.queries) {
      for (std::size_t d = 0; d < S.value_dim; ++d) {
        for (std::size_t i = S.queries; i < S.o_room; ++i) o[d * S.o_dim + i] = T{};
      }
    }
  }

  template <target Target, bool AllKeys = false>
  buffer<T> run(std::size_t key_count) {
    buffer<T> o{o_size<S>, 80};
    buffer<T> scratch{attend_scratch<S, T, Target>, 80};
    if constexpr (AllKeys) {
      attend<S, T, Target>(q, k.get(), v.get(), scale, scores::every_key{}, o, scratch);
    } else {
      attend<S, T, Target>(q, k.get(), v.get(), scale, scores::first_keys(key_count), o, scratch);
    }
    expect(scratch.guards_are_whole(), "scratch", S, key_count, Target);
    forget_room(o);
    return o;
  }

  template <target Target>
  void check(std::size_t key_count) {
    buffer<T> right = expected(key_count);
    forget_room(right);
    expect(run<Target>(key_count).same_bits(right), "attend", S, key_count, Target);
  }

  // The version for a known number of keys.
  template <target Target>
  void check_known() {
    buffer<T> right = expected(S.keys);
    forget_room(right);
    buffer<T> all = run<Target, true>(S.keys);
    expect(all.same_bits(right), "all keys", S, S.keys, Target);
  }

  void check_all(std::size_t key_count) {
    check<scalar_target>(key_count);
    check<vector_16>(key_count);
    check<vector_32>(key_count);
    check<vector_64>(key_count);
  }
};

// Two widths a shape (compile time); check_all runs the others.
template <class T, attend_shape... S>
void check_narrow() {
  (attend_case<S, T>{}.template check<vector_16>(S.keys), ...);
}
template <class T, attend_shape... S>
void check_wide() {
  (attend_case<S, T>{}.template check_known<vector_64>(), ...);
}
template <class T, attend_shape... S>
void check_shapes() {
  check_narrow<T, S...>();
  check_wide<T, S...>();
}

// More keys than two blocks; blocks of two vectors of queries on every target. The tests of a
// number of keys share it, so that it is compiled once.
constexpr attend_shape many_keys = columns_out<30, 515, 3, 2>;

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_attend)

// Whatever an experiment fixes (plan/target.hpp).
BOOST_AUTO_TEST_CASE(every_plan_has_the_same_bits) {
  attend_case<rows_out<41, 290, 11, 7>, float> c;
  constexpr auto fixed = [](umbel::detail::plan::overrides choice) {
    return target{64, 32, choice};
  };
  c.check_known<fixed({.tile_rows = 5, .query_vectors = 1})>();
  c.check_known<fixed({.tile_rows = 1, .query_vectors = 3})>();
  c.check_known<fixed({.tile_rows = 24, .query_vectors = 4})>();
}

BOOST_AUTO_TEST_CASE(ones_and_primes) {
  check_shapes<float, rows_out<1, 1, 1, 1>, columns_out<5, 7, 3, 2>>();
  check_narrow<float, rows_out<17, 13, 5, 19>>();
  check_wide<float, rows_out<27, 13, 5, 19>>();
  attend_case<columns_out<37, 29, 11, 7>, float> problem;
  for (std::size_t count = 0; count <= 30; ++count) problem.check_all(count);
  problem.check_known<scalar_target>();
  problem.check_known<vector_32>();
  problem.check_known<vector_64>();
}

BOOST_AUTO_TEST_CASE(whole_vectors_and_room_for_them) {
  check_shapes<float, columns_out<19, 9, 8, 20, 32>>();
  check_narrow<float, rows_out<48, 16, 32, 8>>();
  check_wide<float, columns_out<32, 24, 16, 16>, rows_out<16, 16, 32, 8>,
             columns_out<33, 5, 4, 3, 40>>();
}

// A scalar FPU: the last block of an odd number of queries is partly empty.
BOOST_AUTO_TEST_CASE(blocks_of_one_size_without_vectors) {
  constexpr target fpu{0, 32}, risc_v{0, 28};
  static_assert(umbel::detail::plan::plan_attend<float>(49, 49, fpu).queries.offset(25) == 50);
  attend_case<columns_out<49, 21, 5, 3>, float>{}.check<fpu>(20);
  attend_case<rows_out<37, 9, 3, 11>, double>{}.check_known<fpu>();
  attend_case<columns_out<49, 21, 5, 3>, float>{}.check_known<risc_v>();
  attend_case<rows_out<41, 18, 2, 4>, float>{}.check<risc_v>(17);
}

BOOST_AUTO_TEST_CASE(more_keys_than_a_block) {
  attend_case<many_keys, float> problem{4.0};
  for (std::size_t count : {0u, 1u, 255u, 256u, 257u, 511u, 512u, 513u, 515u}) {
    problem.check_all(count);
  }
  check_wide<float, rows_out<30, 512, 2, 17>>();
  check_wide<float, columns_out<28, 257, 4, 5>>();
  check_narrow<float, columns_out<18, 512, 4, 5>>();
}

BOOST_AUTO_TEST_CASE(any_stride) {
  constexpr attend_shape heads_side_by_side{9, 7, 4, 4, 12, 1, 20, 1, 28, 1, 16, 1, 9};
  constexpr attend_shape transposed{9, 7, 4, 6, 1, 10, 1, 7, 1, 8, 1, 11, 10};
  constexpr attend_shape apart{9, 7, 4, 6, 9, 2, 10, 2, 30, 5, 20, 3, 9};
  check_shapes<float, heads_side_by_side, transposed, apart>();
}

BOOST_AUTO_TEST_CASE(large_scores) {
  attend_case<many_keys, float> problem{100.0};
  for (std::size_t count : {40u, 300u, 515u}) {
    problem.check<scalar_target>(count);
    problem.check<vector_64>(count);
  }
  buffer<float> o = problem.run<vector_64>(515);
  for (std::size_t i = 0; i < o.size(); ++i) BOOST_TEST(std::isfinite(o[i]));
}

BOOST_AUTO_TEST_CASE(no_key_gives_zeros) {
  attend_case<many_keys, float> problem;
  buffer<float> o = problem.run<vector_64>(0);
  for (std::size_t i = 0; i < o.size(); ++i) BOOST_TEST(o[i] == 0.0f);
}

BOOST_AUTO_TEST_CASE(keys_past_the_count_are_not_read) {
  attend_case<many_keys, float> problem;
  const buffer<float> clean = problem.run<vector_64>(11);
  for (std::size_t i = 11 * 3; i < 515 * 3; ++i) problem.k[i] = std::nanf("");
  for (std::size_t i = 11 * 2; i < 515 * 2; ++i) problem.v[i] = INFINITY;
  BOOST_TEST(problem.run<vector_64>(11).same_bits(clean));
  BOOST_TEST(problem.run<scalar_target>(11).same_bits(clean));
}

BOOST_AUTO_TEST_CASE(doubles) {
  check_shapes<double, columns_out<11, 13, 5, 7>>();
  check_narrow<double, rows_out<9, 300, 3, 9>>();
  check_wide<double, rows_out<13, 300, 3, 9>>();
}

// NaN, infinities: plain and SIMD agree in which numbers are NaN and in the bits of the others.
BOOST_AUTO_TEST_CASE(a_nan_stays_in_its_row) {
  attend_case<many_keys, float> problem;
  problem.q[4 * 3 + 1] = std::nanf("");
  problem.q[9 * 3 + 2] = INFINITY;
  buffer<float> right = problem.expected(515);
  buffer<float> o = problem.run<vector_64>(515), narrow = problem.run<vector_16>(515),
                scalar = problem.run<scalar_target>(515);
  BOOST_TEST(o.same_numbers(right));
  BOOST_TEST(narrow.same_numbers(right));
  BOOST_TEST(scalar.same_numbers(right));
  for (std::size_t i = 0; i < 30; ++i) {
    for (std::size_t d = 0; d < 2; ++d) {
      BOOST_TEST(std::isnan(o[d * 30 + i]) == (i == 4 || i == 9));
    }
  }
  // A NaN key spoils every row, in every version alike.
  problem.k[130] = std::nanf("");
  buffer<float> spoilt = problem.run<vector_64>(515), also = problem.expected(515);
  BOOST_TEST(spoilt.same_numbers(also));
  BOOST_TEST(std::isnan(spoilt[0]));
}

BOOST_AUTO_TEST_CASE(plain_weights_are_probabilities) {
  constexpr attend_shape shape = rows_out<3, 300, 4, 2>;
  attend_case<shape, float> problem;
  buffer<float> o{o_size<shape>}, weights{3 * 300};
  plain::attend<shape>(problem.q.get(), problem.k.get(), problem.v.get(), 1.0f, 290, o.get(),
                       weights.get());
  for (std::size_t i = 0; i < 3; ++i) {
    double sum = 0, first = 0;
    for (std::size_t j = 0; j < 300; ++j) {
      sum += weights[i * 300 + j];
      first += static_cast<double>(weights[i * 300 + j]) * problem.v[j * 2];
    }
    BOOST_TEST(std::fabs(sum - 1) < 1e-5);
    BOOST_TEST(std::fabs(first - o[i * 2]) < 1e-5);
    BOOST_TEST(weights[i * 300 + 290] == 0.0f);
  }
}

// Against softmax in long double.
BOOST_AUTO_TEST_CASE(agrees_with_a_reference) {
  attend_case<many_keys, float> problem{2.0};
  buffer<float> o = problem.run<vector_64>(290);
  for (std::size_t i = 0; i < 30; ++i) {
    long double sum = 0, context[2] = {};
    for (std::size_t j = 0; j < 290; ++j) {
      long double score = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        score += static_cast<long double>(problem.q[i * 3 + d]) * problem.k[j * 3 + d];
      }
      const long double p = std::exp(score * static_cast<long double>(problem.scale));
      sum += p;
      for (std::size_t d = 0; d < 2; ++d) context[d] += p * problem.v[j * 2 + d];
    }
    for (std::size_t d = 0; d < 2; ++d) {
      BOOST_TEST(std::fabs(static_cast<double>(context[d] / sum - o[d * 30 + i])) < 1e-6);
    }
  }
}

BOOST_AUTO_TEST_CASE(plain_attends_in_constant_expressions) {
  constexpr float out = [] {
    const float q[2] = {1, 2}, k[4] = {0, 0, 0, 0}, v[2] = {3, 5};
    float o[1] = {};
    plain::attend<attend_shape{1, 2, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 1}>(q, k, v, 1.0f, 2, o);
    return o[0];
  }();
  static_assert(out == 4);
  BOOST_TEST(out == 4);
}

BOOST_AUTO_TEST_SUITE_END()
