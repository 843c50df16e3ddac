// SPDX-License-Identifier: BSL-1.0
// Every operand of inline assembly in the library where no register is left: each case is inlined
// into functions in which more integers, addresses and vectors are in use, before and after, than
// there are registers, whose frames are small, too big for the offset of an instruction, or of a
// size that only the run knows. pressure.py compiles it; it is not run. A case of an instruction
// that a target does not have is not there.
#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/four_rows.hpp>
#include <umbel/simd/half.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/saturate.hpp>
#if UMBEL_DOT_VECTORS
#include <umbel/simd/dot.hpp>
#endif
#if UMBEL_MVE_INTEGERS
#include <umbel/kernel/integer/mve.hpp>
#endif

namespace simd = umbel::detail::simd;

namespace {

// No wider than a register.
#if UMBEL_VECTOR_BYTES
using pack = simd::pack<float, UMBEL_VECTOR_BYTES / 4>;
#else
using pack = float;
#endif

// What is in use: more of each kind than any target has registers.
struct in_use {
  std::int32_t a, b, c, d;
  std::int32_t* to;
  const std::int8_t* from;
  std::size_t n;
  pack v, w, x;
};
volatile std::int32_t source;
volatile std::size_t size;
std::int32_t* volatile address;
const pack* volatile packs;
in_use* volatile left;

// frame: bytes of it; 0: known only to the run.
template <std::size_t Frame, class F>
[[gnu::noinline]] void with_frame(F f) {
  volatile char room[Frame == 0 ? 1 : Frame];
  room[0] = 1;
  static_cast<void>(room[0]);
  if (Frame == 0) address = static_cast<std::int32_t*>(__builtin_alloca(size));
  in_use use{source, source, source, source, address, nullptr, size, packs[0], packs[1], packs[2]};
  use.from = reinterpret_cast<const std::int8_t*>(address);
  std::int32_t i0 = source, i1 = source, i2 = source, i3 = source, i4 = source, i5 = source,
               i6 = source, i7 = source, i8 = source, i9 = source, i10 = source, i11 = source;
  const pack* const from = packs;
  pack v0 = from[0], v1 = from[1], v2 = from[2], v3 = from[3], v4 = from[4], v5 = from[5],
       v6 = from[6], v7 = from[7], v8 = from[8], v9 = from[9], v10 = from[10], v11 = from[11],
       v12 = from[12], v13 = from[13], v14 = from[14], v15 = from[15], v16 = from[16],
       v17 = from[17], v18 = from[18], v19 = from[19], v20 = from[20], v21 = from[21],
       v22 = from[22], v23 = from[23], v24 = from[24], v25 = from[25], v26 = from[26],
       v27 = from[27], v28 = from[28], v29 = from[29], v30 = from[30], v31 = from[31];
  for (std::size_t n = 0; n < 20; ++n) {
    use.n = n + 1;
    f(use);
    i0 += i1 * use.a, i1 += i2 * use.b, i2 += i3 ^ use.c, i3 += i4 * use.d, i4 += i5, i5 += i6;
    i6 += i7, i7 += i8, i8 += i9, i9 += i10, i10 += i11, i11 += i0;
    use.a ^= i0, use.b += i1, use.c ^= i2, use.d += i3, use.to += i4, use.from += i5;
    v0 += use.v, v1 += use.w, v2 += use.x, v3 += v0, v4 += v1, v5 += v2, v6 += v3, v7 += v4;
    v8 += v5, v9 += v6, v10 += v7, v11 += v8, v12 += v9, v13 += v10, v14 += v11, v15 += v12;
    v16 += v13, v17 += v14, v18 += v15, v19 += v16, v20 += v17, v21 += v18, v22 += v19, v23 += v20;
    v24 += v21, v25 += v22, v26 += v23, v27 += v24, v28 += v25, v29 += v26, v30 += v27, v31 += v28;
    use.v += v29, use.w += v30, use.x += v31;
  }
  *left = use;
  const std::int32_t all[] = {i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11};
  for (const std::int32_t i : all) source = i;
}

template <class F>
void under_pressure(F f) {
  with_frame<64>(f);
  with_frame<20'000>(f);
  with_frame<0>(f);
}

void by_column() {
#if UMBEL_FOUR_ROWS_ASSEMBLY
  const auto with = [](in_use& use, std::size_t words) UMBEL_LAMBDA_INLINE {
    const simd::of_four_rows sums =
        simd::by_column(use.to, use.from, words, {use.a, use.b, use.c, use.d});
    use.a = sums.first, use.b = sums.second, use.c = sums.third, use.d = sums.fourth;
  };
  under_pressure([with](in_use& use) UMBEL_LAMBDA_INLINE { with(use, 4); });
  under_pressure([with](in_use& use) UMBEL_LAMBDA_INLINE { with(use, 3); });
  under_pressure([with](in_use& use) UMBEL_LAMBDA_INLINE { with(use, use.n); });
  // What is computed for it may be a call: of a division.
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE {
    const simd::of_four_rows sums = simd::by_column(
        use.to, use.from, use.n, {use.a / use.b, use.b / use.c, use.c / use.d, use.d / use.a});
    use.a = sums.first, use.b = sums.second, use.c = sums.third, use.d = sums.fourth;
  });
#endif
#if UMBEL_SMLAD
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE {
    use.a = simd::even_bytes(static_cast<std::uint32_t>(use.b));
    use.c = simd::odd_bytes(static_cast<std::uint32_t>(use.d));
  });
#endif
}

void scalars() {
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE {
    use.a = simd::saturated<8>(use.b);
    use.c = simd::saturated<16>(use.d);
  });
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE {
    UMBEL_HAS_EFFECTS();
    float x = static_cast<float>(use.a) * 0.5f;
    UMBEL_COMPUTED(x);
    use.b = x < 7 ? static_cast<std::int32_t>(x) : use.c;
    UMBEL_KEEP(x);
    use.d = static_cast<std::int32_t>(x);
  });
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE {
    float x = simd::raised(static_cast<float>(use.a), static_cast<float>(use.b));
    UMBEL_IN_FPU(x);
    auto bits = static_cast<std::uint32_t>(use.c);
    UMBEL_AS_MASK(bits);
    use.d = x < 7 ? use.a : static_cast<std::int32_t>(bits);
  });
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE {
    const auto bits = static_cast<std::uint32_t>(use.a);
    use.b = static_cast<std::int32_t>(simd::detail::widen_float16<float>(bits));
  });
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE { use.n = simd::vector_lengths_here().core; });
}

void vectors() {
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE {
    use.v = simd::detail::rounded_twice(use.v, use.w, use.x);
    UMBEL_KEEP(use.w);
#if UMBEL_VECTOR_BYTES
    UMBEL_ALL_LANES(use.x);
    UMBEL_LOADED(use.v);
#endif
  });
#if UMBEL_SSE2
  using sixteen_bytes = simd::pack<float, 4>;
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE {
    sixteen_bytes some{use.v[0], use.w[1]};
    UMBEL_OPAQUE(some);
    use.x[2] = some[0];
  });
#endif
#if UMBEL_AARCH64 && UMBEL_DOT_VECTORS
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE {
    const auto words = [](pack v) { return __builtin_bit_cast(simd::dot_words, v); };
    use.v = __builtin_bit_cast(pack, simd::dot(words(use.v), words(use.w), words(use.x)));
  });
#endif
}

#if UMBEL_MVE_ASSEMBLY
namespace mve = simd::mve;
using mve::predicate;

template <class V>
void compare() {
  const auto both = [](in_use& use, auto compared) UMBEL_LAMBDA_INLINE {
    const V a = __builtin_bit_cast(V, use.v), b = __builtin_bit_cast(V, use.w);
    const mve::compared mask = compared(a, b);
    use.x = __builtin_bit_cast(pack, mve::select(mask, a, b));
    const predicate in_general = mask.operator predicate();
    use.a = in_general.bits;
    use.v = __builtin_bit_cast(pack, mve::select(in_general, b, a));
  };
  under_pressure([both](in_use& use) UMBEL_LAMBDA_INLINE {
    both(use, [](V a, V b) UMBEL_LAMBDA_INLINE { return mve::greater(a, b); });
    both(use, [](V a, V b) UMBEL_LAMBDA_INLINE { return mve::greater_equal(a, b); });
  });
  under_pressure([both](in_use& use) UMBEL_LAMBDA_INLINE {
    both(use, [](V a, V b) UMBEL_LAMBDA_INLINE { return mve::equal(a, b); });
    both(use, [](V a, V b) UMBEL_LAMBDA_INLINE { return mve::not_equal(a, b); });
  });
}

void of_mve() {
  compare<pack>();
  compare<simd::pack<std::int32_t, 4>>();
  compare<simd::pack<std::uint32_t, 4>>();
  using spread = mve::spread<pack>;
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE {
    const spread s{static_cast<float>(use.a)};
    use.v = operator+(use.v, s);
    use.w = operator-(use.w, s);
    use.x = operator*(use.x, s);
    use.v = mve::fma(s, use.v, use.w);
    use.w = mve::fma(use.w, use.x, s);
    use.x = mve::fma_of_packs(use.x, use.v, use.w);
    use.v = mve::fma_not_negative(use.v, s, use.x);
    use.w = mve::fma_not_negative(use.v, use.w, use.x);
  });
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE {
    float* const to = reinterpret_cast<float*>(use.to);
    use.x = mve::select_first(use.n, use.v, use.w);
    use.v = mve::load_first<pack>(to, use.n);
    mve::store_first<pack>(to + use.a, use.w, use.n);
    use.w = mve::load_int8<pack>(use.from + use.b);
    use.x += mve::load_first_int8<pack>(use.from + use.c, use.n);
  });
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE {
    const auto sums = umbel::detail::kernel::mve::four(use.a, use.b, use.c, use.d);
    use.v = __builtin_bit_cast(pack, sums);
  });
  // With a pointer that moves, and one that stands.
  using products = mve::products<simd::strides{1, 1, 4}, 1, 1, pack>;
  under_pressure([](in_use& use) UMBEL_LAMBDA_INLINE {
    const float* from = reinterpret_cast<const float*>(use.to);
    float one[4], other[2];
    products::load<4, 0>(from, one[0]);
    products::load<0, 3>(from, one[1]);
    products::load<4, 0>(from, one[2], other[0]);
    products::load<0, 2>(from, one[3], other[1]);
    use.v = products::load_pack<4, 0>(from);
    use.w = products::load_pack<0, 4>(from);
    use.x[0] = one[0] + one[1] * one[2] + one[3] * (other[0] - other[1]);
    use.to += from - reinterpret_cast<const float*>(use.to);
  });
}
#endif

}  // namespace

int main() {
  by_column();
  scalars();
  vectors();
#if UMBEL_MVE_ASSEMBLY
  of_mve();
#endif
  return 0;
}
