// SPDX-License-Identifier: BSL-1.0
// Reductions in SIMD: the bits of plain::reduce whatever the lanes. Results whose elements are
// adjacent in x have the lanes; where what is reduced is one run, its chains have them; anything
// else is the plain loop.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/elementwise.hpp>
#include <umbel/kernel/plain.hpp>
#include <umbel/kernel/row_walk.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/pack.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace detail {

// One pack of results. read(p): the elements at p that belong to them.
template <class Operation, auto Reduced, class T, class Read>
UMBEL_INLINE auto reduce_across(const T* x, Read read) noexcept {
  using V = decltype(read(x));
  constexpr std::size_t chains = Operation::chains, size = Reduced.last_extent();
  constexpr std::size_t step = Reduced.last_stride(), whole = size / chains * chains;
  const V start = simd::broadcast<V>(Operation::template start<T>);
  V chain[chains];
  UMBEL_UNROLL(16)
  for (std::size_t c = 0; c < chains; ++c) chain[c] = start;
  if constexpr (Reduced.rank <= 1) {
    for (std::size_t e = 0; e < whole; e += chains) {
      UMBEL_UNROLL(16)
      for (std::size_t c = 0; c < chains; ++c)
        chain[c] = Operation::with(chain[c], read(x + (e + c) * step));
    }
    UMBEL_UNROLL(16)
    for (std::size_t c = 0; c < size - whole; ++c)
      chain[c] = Operation::with(chain[c], read(x + (whole + c) * step));
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

// The results of Rows runs of Width elements, `apart` from each other.
template <class Operation, std::size_t Rows, std::size_t Width, class T, plan::target Target>
UMBEL_INLINE void reduce_along(const T* x, std::size_t apart, T* y) noexcept {
  using walk = row_walk<Width, T, Target>;
  using V = typename walk::V;
  const V start = simd::broadcast<V>(Operation::template start<T>);
  walk::template in_blocks<Rows>([&]<std::size_t Count>(std::size_t first) UMBEL_LAMBDA_INLINE {
    typename walk::template of_rows<Count> folds;
    walk::template fold<Count>(
        folds, start,
        [&](std::size_t r) UMBEL_LAMBDA_INLINE {
          return [from = x + (first + r) * apart, start](std::size_t e, std::size_t count, V chain)
                     UMBEL_LAMBDA_INLINE {
                       V next = walk::load(from + e, count);
                       if (count != walk::lanes) next = simd::keep_first(next, count, start);
                       return Operation::with(chain, next);
                     };
        },
        [](V a, V b) UMBEL_LAMBDA_INLINE { return Operation::with(a, b); },
        [](V folded) UMBEL_LAMBDA_INLINE { return Operation::template finish<Width>(folded); });
    for (std::size_t r = 0; r < Count; ++r) y[first + r] = folds.values[r * walk::apart];
  });
}

}  // namespace detail

// See plain::reduce; Kept and Reduced have as few axes as possible. Never inlined: a product that
// the caller had just stored could be fused into the sums.
template <class Operation, auto Kept, auto Reduced, class T,
          plan::target Target = plan::native_target>
UMBEL_NOINLINE void reduce(const T* x, T* y) noexcept {
  constexpr std::size_t results = Kept.last_extent();
  if constexpr (std::is_integral_v<T>) {
    plain::reduce<Operation, Kept, Reduced>(x, y);
  } else if constexpr (Kept.last_stride() == 1) {
    plain::each_offset<Kept.without_last()>(0, [&](std::size_t from) UMBEL_LAMBDA_INLINE {
      detail::for_packs<results, T, Target>(y, [at = x + from](auto read) UMBEL_LAMBDA_INLINE {
        return detail::reduce_across<Operation, Reduced>(at, read);
      });
      y += results;
    });
  } else if constexpr (Operation::chains == plain::sum_chains && Reduced.rank == 1 &&
                       Reduced.last_stride() == 1) {
    plain::each_offset<Kept.without_last()>(0, [&](std::size_t from) UMBEL_LAMBDA_INLINE {
      detail::reduce_along<Operation, results, Reduced.last_extent(), T, Target>(
          x + from, Kept.last_stride(), y);
      y += results;
    });
  } else {
    plain::reduce<Operation, Kept, Reduced>(x, y);
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
