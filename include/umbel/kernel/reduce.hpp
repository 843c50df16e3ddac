// SPDX-License-Identifier: BSL-1.0
// Reductions in SIMD: the bits of plain::reduce whatever the lanes. Results whose elements are
// adjacent in x have the lanes; where what is reduced is one run, its chains have them, or, of one
// chain, the results in transposed squares; anything else is the plain loop.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/elementwise.hpp>
#include <umbel/kernel/plain.hpp>
#include <umbel/kernel/row_walk.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/transpose.hpp>

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

// One chain each: the results of `rows` runs of Width elements, Apart from each other, in lanes.
template <class Operation, std::size_t Width, std::size_t Apart, class V, class T>
UMBEL_INLINE V reduce_in_squares(const T* x, std::size_t rows) noexcept {
  constexpr std::size_t lanes = simd::lanes_of<V>, whole = Width / lanes * lanes;
  V chain = simd::broadcast<V>(Operation::template start<T>), square[lanes];
  for (std::size_t e = 0; e < whole; e += lanes) {
    UMBEL_UNROLL(16)
    for (std::size_t r = 0; r < lanes; ++r)
      square[r] = r < rows ? simd::load<V>(x + r * Apart + e) : V{};
    simd::transpose(square);
    UMBEL_UNROLL(16)
    for (std::size_t i = 0; i < lanes; ++i) chain = Operation::with(chain, square[i]);
  }
  if constexpr (whole != Width) {
    UMBEL_UNROLL(16)
    for (std::size_t r = 0; r < lanes; ++r)
      square[r] = r < rows ? simd::load_first<V>(x + r * Apart + whole, Width - whole) : V{};
    simd::transpose(square);
    UMBEL_UNROLL(16)
    for (std::size_t i = 0; i < Width - whole; ++i) chain = Operation::with(chain, square[i]);
  }
  return Operation::template finish<Width>(chain);
}

}  // namespace detail

// See plain::reduce; Kept and Reduced have as few axes as possible. Never inlined: a product that
// the caller had just stored could be fused into the sums.
template <class Operation, auto Kept, auto Reduced, class T,
          plan::target Target = plan::native_target>
UMBEL_NOINLINE void reduce(const T* x, T* y) noexcept {
  constexpr std::size_t results = Kept.last_extent(), lanes = plan::lanes<T>(Target);
  constexpr bool runs = Reduced.rank == 1 && Reduced.last_stride() == 1;
  if constexpr (std::is_integral_v<T>) {
    plain::reduce<Operation, Kept, Reduced>(x, y);
  } else if constexpr (Kept.last_stride() == 1) {
    plain::each_offset<Kept.without_last()>(0, [&](std::size_t from) UMBEL_LAMBDA_INLINE {
      detail::for_packs<results, T, Target>(y, [at = x + from](auto read) UMBEL_LAMBDA_INLINE {
        return detail::reduce_across<Operation, Reduced>(at, read);
      });
      y += results;
    });
  } else if constexpr (Operation::chains == plain::sum_chains && runs) {
    plain::each_offset<Kept.without_last()>(0, [&](std::size_t from) UMBEL_LAMBDA_INLINE {
      detail::reduce_along<Operation, results, Reduced.last_extent(), T, Target>(
          x + from, Kept.last_stride(), y);
      y += results;
    });
  } else if constexpr (Operation::chains == 1 && runs && results > 1 && lanes > 1) {
    using V = simd::pack<T, lanes>;
    constexpr std::size_t apart = Kept.last_stride();
    plain::each_offset<Kept.without_last()>(0, [&](std::size_t from) UMBEL_LAMBDA_INLINE {
      for (std::size_t r = 0; r < results; r += lanes) {
        const std::size_t rows = results - r < lanes ? results - r : lanes;
        const V values = detail::reduce_in_squares<Operation, Reduced.last_extent(), apart, V>(
            x + from + r * apart, rows);
        simd::store_first(y + r, values, rows);
      }
      y += results;
    });
  } else {
    plain::reduce<Operation, Kept, Reduced>(x, y);
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
