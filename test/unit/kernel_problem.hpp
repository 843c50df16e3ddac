// SPDX-License-Identifier: BSL-1.0
// What the tests of attention with scores policies share: a seeded problem, every number of lanes
// against plain::attend, masks of flags. Not here: any test.
#pragma once

#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <limits>
#include <umbel/kernel/float/attend.hpp>
#include <umbel/kernel/plain/floats.hpp>

namespace umbel_test::attending {

using namespace umbel::detail::kernel;
using umbel::detail::plan::target;
using umbel_test::buffer;
using umbel_test::seeded;

// Few registers, so small tiles: the bits are the same and the file compiles in half a minute.
// every_number_of_lanes has one real target.
inline constexpr target scalar_target{0, 6}, vector_16{16, 6}, vector_32{32, 6}, vector_64{64, 8};
// g++ takes minutes for vectors that it has to take into pieces: the widest are the machine's, but
// for one test, or two of its vectors where those have 16 bytes.
inline constexpr target widest = UMBEL_VECTOR_BYTES < 64 ? target{32, 8} : vector_64;

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

// Row-major q, k, v; the context transposed (exactly as large as it has to be) or row-major.
template <std::size_t Queries, std::size_t Keys, std::size_t HeadDim = 3, std::size_t ValueDim = 2>
inline constexpr attend_shape columns_out{Queries,  Keys, HeadDim, ValueDim, HeadDim, 1, HeadDim, 1,
                                          ValueDim, 1,    1,       Queries,  Queries};
template <std::size_t Queries, std::size_t Keys, std::size_t HeadDim = 3, std::size_t ValueDim = 2>
inline constexpr attend_shape rows_out{Queries,  Keys, HeadDim,  ValueDim, HeadDim, 1, HeadDim, 1,
                                       ValueDim, 1,    ValueDim, 1,        Queries};

// What most tests of policies share, so that a policy is compiled once for a target: several blocks
// of queries, all of two vectors, of which the last is partial, and of keys.
inline constexpr attend_shape usual = columns_out<54, 523>;

// Once, not for every kernel: the macro's code takes the compiler as long as a small one.
inline void expect(bool right, const char* what, target on) {
  BOOST_TEST(right, what << ", " << on.vector_bytes << " bytes, " << on.registers << " registers");
}

template <attend_shape S, class T = float>
struct problem {
  buffer<T> q{S.queries * S.head_dim}, k{S.keys * S.head_dim}, v{S.keys * S.value_dim};
  T scale = static_cast<T>(0.9);

  explicit problem(double size = 1.5) {
    seeded next{static_cast<std::uint32_t>(S.queries * 131 + S.keys * 31 + S.head_dim)};
    q.fill(next, size);
    k.fill(next, size);
    v.fill(next);
  }
  template <class Policy>
  buffer<T> plain(const Policy& policy) {
    buffer<T> o{S.queries * S.value_dim, 16};
    plain::attend<S>(q.get(), k.get(), v.get(), scale, policy, o.get());
    return o;
  }
  template <target Target, class Policy>
  buffer<T> fast(const Policy& policy) {
    buffer<T> o{S.queries * S.value_dim, 16}, scratch{attend_scratch<S, T, Target>};
    attend<S, T, Target>(q, k.get(), v.get(), scale, policy, o, scratch);
    return o;
  }
  template <target Target, class Policy>
  void check_on(const Policy& policy, const char* what) {
    buffer<T> right = plain(policy);
    expect(fast<Target>(policy).same_bits(right), what, Target);
  }
  // Every number of lanes; same_numbers where NaN is expected.
  template <class Policy>
  void check(const Policy& policy, const char* what) {
    buffer<T> right = plain(policy);
    const auto on = [&]<target Target>(std::integral_constant<target, Target>) {
      expect(fast<Target>(policy).same_numbers(right), what, Target);
    };
    on(std::integral_constant<target, scalar_target>{});
    on(std::integral_constant<target, vector_16>{});
    on(std::integral_constant<target, vector_32>{});
    on(std::integral_constant<target, widest>{});
    if constexpr (!UMBEL_SANITIZED && UMBEL_VECTOR_BYTES >= 32) {  // native tiles
      on(std::integral_constant<target, umbel_test::vector_64>{});
    }
  }
  // Two of them.
  template <class Policy>
  void check_two(const Policy& policy, const char* what) {
    buffer<T> right = plain(policy);
    if constexpr (!UMBEL_SANITIZED) {  // compile time
      expect(fast<vector_16>(policy).same_bits(right), what, vector_16);
    }
    expect(fast<widest>(policy).same_bits(right), what, widest);
  }
  T& at(buffer<T>& o, std::size_t i, std::size_t d) { return o[i * S.o_row + d * S.o_dim]; }
};

// Flags as a function of (query, key), row-major or transposed, exactly as many as are read.
template <class F>
buffer<unsigned char> flags(std::size_t queries, std::size_t keys, F f, bool transposed = false) {
  buffer<unsigned char> mask{queries * keys};
  for (std::size_t i = 0; i < queries; ++i) {
    for (std::size_t j = 0; j < keys; ++j) {
      mask[transposed ? j * queries + i : i * keys + j] = f(i, j) ? 200 : 0;
    }
  }
  return mask;
}

inline const unsigned char* bytes(const buffer<unsigned char>& mask) { return mask; }

inline bool speckled(std::size_t i, std::size_t j) { return (i * 7 + j * 13 + i * j) % 5 != 0; }

}  // namespace umbel_test::attending
