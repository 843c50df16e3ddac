// SPDX-License-Identifier: BSL-1.0
// Reductions in SIMD: the bits of plain::reduce for any lanes. Results adjacent in x are in the
// lanes; if the reduced elements are contiguous, its chains are, or, with one chain, results in
// transposed squares; the rest uses the plain loop.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/float/elementwise.hpp>
#include <umbel/kernel/float/row_walk.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/row_ends.hpp>
#include <umbel/simd/transpose.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace detail {

// One pack of results. read(x): their elements at x, a pointer or an offset. range: of one axis,
// from a multiple of 16 on.
template <class Operation, auto Reduced, class Place, class Read,
          class Range = every_position<Reduced.last_extent()>>
UMBEL_INLINE auto reduce_across(Place x, Read read, Range range = {}) noexcept {
  using V = decltype(read(x));
  using T = simd::element_of<V>;
  constexpr std::size_t chains = Operation::chains, step = Reduced.last_stride();
  const V start = simd::broadcast<V>(Operation::template start<T>);
  V chain[chains];
  UMBEL_UNROLL(16)
  for (std::size_t c = 0; c < chains; ++c) chain[c] = start;
  if constexpr (Reduced.rank <= 1) {
    const std::size_t whole = range.end / chains * chains;
    for (std::size_t e = range.begin; e < whole; e += chains) {
      UMBEL_UNROLL(16)
      for (std::size_t c = 0; c < chains; ++c)
        chain[c] = Operation::with(chain[c], read(x + (e + c) * step));
    }
    UMBEL_UNROLL(16)
    for (std::size_t c = 0; c < chains; ++c)
      if (whole + c < range.end) chain[c] = Operation::with(chain[c], read(x + (whole + c) * step));
  } else {
    std::size_t e = 0;
    plain::each_offset<Reduced>(0, [&](std::size_t at) UMBEL_LAMBDA_INLINE {
      chain[e] = Operation::with(chain[e], read(x + at));
      e = e + 1 == chains ? 0 : e + 1;
    });
  }
  const V folded =
      simd::fold_packs(chain, [](V a, V b) UMBEL_LAMBDA_INLINE { return Operation::with(a, b); });
  return Operation::template finish<Reduced.count()>(folded);
}

// Rows of adjacent elements, Apart elements from each other.
template <class T, std::size_t Apart>
struct rows_in_memory {
  const T* x;
  // `count` elements of row r from e on; further lanes hold anything.
  template <class V>
  UMBEL_INLINE V load(std::size_t r, std::size_t e, std::size_t count) const noexcept {
    const T* const from = x + r * Apart + e;
    return count == simd::lanes_of<V> ? simd::load<V>(from) : simd::load_first<V>(from, count);
  }
};

// Chains in the lanes.
template <class Operation, std::size_t Rows, std::size_t Width, class T, plan::target Target,
          class Source>
UMBEL_INLINE void reduce_along(const Source& rows, T* y) noexcept {
  using walk = row_walk<Width, T, Target>;
  using V = typename walk::V;
  const V start = simd::broadcast<V>(Operation::template start<T>);
  walk::template in_blocks<Rows>([&]<std::size_t Count>(std::size_t first) UMBEL_LAMBDA_INLINE {
    typename walk::template of_rows<Count> folds;
    walk::template fold<Count>(
        folds, start,
        [&](std::size_t r) UMBEL_LAMBDA_INLINE {
          return [&rows, row = first + r, start](std::size_t e, std::size_t count, V chain)
                     UMBEL_LAMBDA_INLINE {
                       V next = rows.template load<V>(row, e, count);
                       if (count != walk::lanes) next = simd::keep_first(next, count, start);
                       return Operation::with(chain, next);
                     };
        },
        [](V a, V b) UMBEL_LAMBDA_INLINE { return Operation::with(a, b); },
        [](V folded) UMBEL_LAMBDA_INLINE { return Operation::template finish<Width>(folded); });
    for (std::size_t r = 0; r < Count; ++r) y[first + r] = folds.values[r * walk::apart];
  });
}

// One chain each, rows in the lanes: `count` of them, from `first` on.
template <class Operation, std::size_t Width, class V, class Source>
UMBEL_INLINE V reduce_in_squares(const Source& rows, std::size_t first,
                                 std::size_t count) noexcept {
  constexpr std::size_t lanes = simd::lanes_of<V>, whole = Width / lanes * lanes;
  using T = simd::element_of<V>;
  V chain = simd::broadcast<V>(Operation::template start<T>), square[lanes];
  const auto load = [&](std::size_t e, std::size_t elements) UMBEL_LAMBDA_INLINE {
    UMBEL_UNROLL(16)
    for (std::size_t r = 0; r < lanes; ++r)
      square[r] = r < count ? rows.template load<V>(first + r, e, elements) : V{};
    simd::transpose(square);
  };
  for (std::size_t e = 0; e < whole; e += lanes) {
    load(e, lanes);
    UMBEL_UNROLL(16)
    for (std::size_t i = 0; i < lanes; ++i) chain = Operation::with(chain, square[i]);
  }
  if constexpr (whole != Width) {
    load(whole, Width - whole);
    UMBEL_UNROLL(16)
    for (std::size_t i = 0; i < Width - whole; ++i) chain = Operation::with(chain, square[i]);
  }
  return Operation::template finish<Width>(chain);
}

}  // namespace detail

// Is there SIMD for it?
template <class Operation, std::size_t Rows, class T, plan::target Target>
inline constexpr bool reduces_rows =
    !std::is_integral_v<T> && (Operation::chains == plain::sum_chains ||
                               (Operation::chains == 1 && Rows > 1 && plan::lanes<T>(Target) > 1));

// y = Rows rows of Width elements, each reduced; rows.load<V>(r, e, count) as in rows_in_memory.
template <class Operation, std::size_t Rows, std::size_t Width, plan::target Target, class T,
          class Source>
UMBEL_INLINE void reduce_rows(const Source& rows, T* y) noexcept {
  if constexpr (Operation::chains != 1) {
    detail::reduce_along<Operation, Rows, Width, T, Target>(rows, y);
  } else {
    constexpr std::size_t lanes = plan::lanes<T>(Target);
    using V = simd::pack<T, lanes>;
    for (std::size_t r = 0; r < Rows; r += lanes) {
      const std::size_t count = Rows - r < lanes ? Rows - r : lanes;
      simd::store_first(y + r, detail::reduce_in_squares<Operation, Width, V>(rows, r, count),
                        count);
    }
  }
}

// y = Results results of Width elements, Step apart; values.load<V>(at, count): an element of each
// of `count` results.
template <class Operation, std::size_t Results, std::size_t Width, std::size_t Step,
          plan::target Target, class T, class Values, class Range = every_position<Width>>
UMBEL_INLINE void reduce_columns(const Values& values, T* y, Range range = {}) noexcept {
  constexpr std::size_t lanes = plan::lanes<T>(Target);
  using V = simd::pack<T, lanes>;
  for (std::size_t first = 0; first < Results; first += lanes) {
    const std::size_t count = Results - first < lanes ? Results - first : lanes;
    const auto read = [&](std::size_t at)
                          UMBEL_LAMBDA_INLINE { return values.template load<V>(at, count); };
    simd::store_first(
        y + first,
        detail::reduce_across<Operation, axes_walk<1>{1, {Width}, {Step}}>(first, read, range),
        count);
  }
}

// See plain::reduce; Kept and Reduced have as few axes as possible. Some positions only if Reduced
// is one axis and the results are adjacent in x. Never inlined: a product that the caller had just
// stored could be fused into the sums.
template <class Operation, auto Kept, auto Reduced, class T,
          plan::target Target = plan::native_target,
          class Range = every_position<Reduced.last_extent()>>
UMBEL_NOINLINE void reduce(const T* x, T* y, Range range = {}) noexcept {
  static_assert((Reduced.rank == 1 && Kept.last_stride() == 1) ||
                std::is_same_v<Range, every_position<Reduced.last_extent()>>);
  constexpr std::size_t results = Kept.last_extent();
  if constexpr (std::is_integral_v<T>) {
    plain::reduce<Operation, Kept, Reduced>(x, y);
  } else if constexpr (Kept.last_stride() == 1) {
    plain::each_offset<Kept.without_last()>(0, [&](std::size_t from) UMBEL_LAMBDA_INLINE {
      detail::for_packs<results, T, Target>(
          y, [at = x + from, range](auto read) UMBEL_LAMBDA_INLINE {
            return detail::reduce_across<Operation, Reduced>(at, read, range);
          });
      y += results;
    });
  } else if constexpr (Reduced.rank == 1 && Reduced.last_stride() == 1 &&
                       reduces_rows<Operation, results, T, Target>) {
    plain::each_offset<Kept.without_last()>(0, [&](std::size_t from) UMBEL_LAMBDA_INLINE {
      reduce_rows<Operation, results, Reduced.last_extent(), Target>(
          detail::rows_in_memory<T, Kept.last_stride()>{x + from}, y);
      y += results;
    });
  } else {
    plain::reduce<Operation, Kept, Reduced>(x, y);
  }
}

// plain::means_of_first, means in the lanes. Never inlined, as reduce.
template <std::size_t Means, std::size_t Step, class T, plan::target Target = plan::native_target>
UMBEL_NOINLINE void means_of_first(const T* x, std::size_t count, T* y) noexcept {
  detail::for_packs<Means, T, Target>(y, [x, count](auto read) UMBEL_LAMBDA_INLINE {
    using V = std::remove_const_t<decltype(read(x))>;
    constexpr std::size_t chains = plain::sum_chains;
    V chain[chains]{};
    std::size_t e = 0;
    for (; e + chains <= count; e += chains) {
      UMBEL_UNROLL(16)
      for (std::size_t c = 0; c < chains; ++c) chain[c] = chain[c] + read(x + (e + c) * Step);
    }
    UMBEL_UNROLL(16)
    for (std::size_t c = 0; c < chains; ++c)
      if (e + c < count) chain[c] = chain[c] + read(x + (e + c) * Step);
    const V sum = simd::fold_packs(chain, [](V a, V b) UMBEL_LAMBDA_INLINE { return a + b; });
    return sum / simd::broadcast<V>(static_cast<T>(count == 0 ? 1 : count));
  });
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
