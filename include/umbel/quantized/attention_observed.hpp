// SPDX-License-Identifier: BSL-1.0
// The ranges of attention's projections, observed on floats. See attention_numbers.hpp for their
// use.
#pragma once

#include <cstddef>
#include <umbel/attention/multi_head.hpp>
#include <umbel/block/linear.hpp>
#include <umbel/config.hpp>
#include <umbel/quantized/ranges.hpp>
#include <umbel/quantized/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::rules {
// Rows that a call leaves out would widen the ranges.
template <class Mask>
using calibrated_by_all_rows =
    verdict<!detail::mask_of<Mask>::counts_rows, say::quantized,
            say::valid_rows_is_for_multi_head_attention_and_blocks_so_pass_lengths>;
}  // namespace umbel::inline UMBEL_TARGET::detail::rules

namespace umbel::inline UMBEL_TARGET::detail::integers {

// Widens the range of the projections of x, in T.
template <class W, class X>
constexpr auto projected_floats(const W& w, const X& x) noexcept {
  return linear<typename W::map::value_type, typename W::map::in, typename W::map::out,
                bias<W::map::has_bias>>{w}(x);
}
template <class Range, class W, class X>
constexpr void widen_projected(Range& seen, const W& w, const X& x) noexcept {
  const auto y = projected_floats(w, x);
  widen(seen, y.data(), y.size());
}
// prepare(first row): queries or keys in place, as before scores; projected(y): the norms' inputs.
template <std::size_t Row, class Range, class W, class X, class Projected, class Prepare>
constexpr void widen_prepared(Range& seen, const W& w, const X& x, const Projected& projected,
                              const Prepare& prepare) noexcept {
  constexpr std::size_t batch = layout_of<X>::template size_of<rules::batch_family>;
  constexpr std::size_t sequences = batch == 0 ? 1 : batch;
  constexpr std::size_t rows = layout_of<X>::count / W::map::in::size / sequences;
  auto y = projected_floats(w, x);
  projected(y);
  for (std::size_t b = 0; b < sequences; ++b)
    prepare(std::integral_constant<std::size_t, rows>{}, y.data() + b * rows * Row);
  widen(seen, y.data(), y.size());
}
template <class Attention, class Seen, class Weights, class X, class Y, class Z>
constexpr void observe_projections(Seen& seen, const Weights& w, const X& x, const Y& y,
                                   const Z& z) noexcept {
  using prepare = typename Attention::prepare;
  constexpr head_sizes sizes = Attention::sizes;
  constexpr std::size_t query_row = sizes.query_width(), key_row = sizes.key_width();
  widen_prepared<query_row>(
      seen.q, w.q, x,
      [&](const auto& q) {
        if constexpr (prepare::normed) widen(seen.projected_q, q.data(), q.size());
      },
      [&]<std::size_t Rows>(std::integral_constant<std::size_t, Rows>, auto* q) {
        prepare::template queries<Rows, sizes.heads, sizes.head_dim, query_row>(w, q);
      });
  widen_prepared<key_row>(
      seen.k, w.k, y,
      [&](const auto& k) {
        if constexpr (prepare::normed) widen(seen.projected_k, k.data(), k.size());
      },
      [&]<std::size_t Rows>(std::integral_constant<std::size_t, Rows>, auto* k) {
        prepare::template keys<Rows, sizes.kv_heads, sizes.head_dim, key_row>(w, k);
      });
  widen_projected(seen.v, w.v, z);
}

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
