// SPDX-License-Identifier: BSL-1.0
// Masks of packs, above all where one is used twice: for MVE g++ 12 keeps the first of the four
// lanes of such a selection (simd/mve.hpp is why ours are right). What the compiler makes of the
// operators is said, not checked.
#include "check.hpp"
#include "draw.hpp"

namespace simd = umbel::detail::simd;
using V = simd::pack<float, 4>;
using integers = simd::signed_of<V>;

constexpr std::size_t count = 64;  // packs
using numbers = umbel::tensor<float, umbel::axes::token<count * 4>>;
static constinit numbers x{}, y{}, chosen{}, others{};

// chosen: the larger, others: the smaller one.
[[gnu::noinline]] void by_functions(const float* a, const float* b, float* larger, float* smaller) {
  const V one = simd::load<V>(a), other = simd::load<V>(b);
  const auto mask = simd::less(other, one);
  simd::store(larger, simd::select(mask, one, other));
  simd::store(smaller, simd::select(mask, other, one));
}
[[gnu::noinline]] void by_operators(const float* a, const float* b, float* larger, float* smaller) {
  const V one = simd::load<V>(a), other = simd::load<V>(b);
  const auto mask = one > other;
  simd::store(larger, mask ? one : other);
  simd::store(smaller, mask ? other : one);
}

template <auto Select>
bool are_right() {
  bool right = true;
  for (std::size_t i = 0; i < count; ++i) {
    float *const larger = chosen.data() + i * 4, *const smaller = others.data() + i * 4;
    const float *const a = x.data() + i * 4, *const b = y.data() + i * 4;
    Select(a, b, larger, smaller);
    for (int e = 0; e < 4; ++e) {
      const bool first = a[e] > b[e];
      right = right && larger[e] == (first ? a[e] : b[e]) && smaller[e] == (first ? b[e] : a[e]);
    }
  }
  return right;
}

// One of the comparisons of a and b, as a mask of 4 bits.
template <class P, class Compare>
[[gnu::noinline]] unsigned bits_of(P a, P b, Compare compare) {
  const integers bits =
      simd::select(simd::mask_as<integers>(compare(a, b)), integers{1, 2, 4, 8}, integers{});
  return static_cast<unsigned>(bits[0] | bits[1] | bits[2] | bits[3]);
}
template <class P>
bool compares(P a, P b, unsigned less, unsigned equal) {
  const auto is = [&](auto compare, unsigned wanted) { return bits_of(a, b, compare) == wanted; };
  return is([](P p, P q) { return simd::less(p, q); }, less) &&
         is([](P p, P q) { return simd::less_equal(p, q); }, less | equal) &&
         is([](P p, P q) { return simd::equal(p, q); }, equal) &&
         is([](P p, P q) { return simd::not_equal(p, q); }, 15 & ~equal) &&
         is([](P p, P q) { return simd::either(simd::less(p, q), simd::equal(p, q)); },
            less | equal);
}

int main() {
  embedded::lcg next{3};
  embedded::draw(next, x);
  embedded::draw(next, y);
  embedded::check("a mask of floats that is used twice", are_right<by_functions>());
  if (!are_right<by_operators>()) embedded::print("# this compiler gets it wrong by itself\n");

  const float nan = __builtin_nanf(""), infinity = __builtin_inff();
  volatile float zero = 0;  // keeps what follows from the compiler's own arithmetic
  embedded::check("floats", compares(V{1, 2, 3, -infinity} + zero, V{2, 2, -3, infinity}, 9, 2));
  embedded::check("nothing is less than NaN, nor equal",
                  compares(V{nan, 1, nan, 0} + zero, V{1, nan, nan, -0.0f}, 0, 8));
  const integers lowest{-2147483647 - 1, 5, 7, -1};
  embedded::check("integers", compares(lowest, integers{1, 5, 2147483647, -2}, 5, 2));
  using naturals = simd::unsigned_of<V>;
  embedded::check("integers without a sign",
                  compares(naturals{0x80000000u, 5, 7, 0xffffffffu}, naturals{1, 5, 8, 1}, 4, 2));

  bool kept = true;
  for (std::size_t n = 0; n <= 4; ++n) {
    float to[4] = {-1, -1, -1, -1};
    const float from[4] = {1, 2, 3, 4};
    simd::store_first(to, simd::load_first<V>(from, n) + simd::broadcast<V>(zero), n);
    const V first = simd::keep_first(simd::load<V>(from), n);
    for (std::size_t e = 0; e < 4; ++e) {
      kept = kept && to[e] == (e < n ? from[e] : -1);
      kept = kept && first[e] == (e < n ? from[e] : 0.0f);
    }
  }
  embedded::check("the first lanes, loaded, stored, kept", kept);
  return embedded::finish();
}
