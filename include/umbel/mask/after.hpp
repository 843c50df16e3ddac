// SPDX-License-Identifier: BSL-1.0
// mask_after<key>(scores, valid_lens): the readable form of a mask, for attention written by hand.
// Scores past the length become -infinity, which `softmax` turns into weights of 0. Lengths vary by
// sequence, query, or any axis of the scores except key. For layers: mask/combine.hpp.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/mask/combine.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/tensor/copy.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct mask_after;
}  // namespace say

UMBEL_SAYS(expects_scores_then_lengths, "expects scores, then lengths");

namespace rules {
// Replaces scores_of: any axes are valid.
template <class Scores>
struct scores_to_mask {
  using layout = row_major<layout_of<Scores>>;
  using axes = typename layout::axes;
};
template <class Scores, class Lens, class Family>
using mask_after_lens = first_error<
    verdict<is_length<typename Lens::value_type>, say::mask_after, say::valid_lens,
            say::must_be_integers_but_have_type, element<typename Lens::value_type>>,
    verdict<!layout_of<Lens>::template has<Family>, say::mask_after, say::valid_lens,
            struct count_along, axis_of<layout_of<Lens>, Family>, struct and_cannot_have_that_axis>,
    broadcasts_to<say::mask_after, say::valid_lens, say::have, Lens, scores_to_mask<Scores>>>;
template <class Scores, class Lens, class Family>
using mask_after = first_error<has_axis<say::mask_after, layout_of<Scores>, Family>,
                               floating<say::mask_after, typename Scores::value_type>,
                               mask_after_lens<Scores, Lens, Family>>;
}  // namespace rules

template <template <std::size_t> class Axis>
struct mask_after_operation
    : detail::other_calls<say::mask_after, say::expects_scores_then_lengths> {
  using detail::other_calls<say::mask_after, say::expects_scores_then_lengths>::operator();

  // scores: any axes with Axis. valid_lens: any of the others, such as (batch, query), of that size
  // or 1; lengths are clamped. Returns a row-major tensor with scores' axes.
  template <tensor_like Scores, tensor_like Lens>
  constexpr auto operator()(const Scores& scores, const Lens& valid_lens) const noexcept {
    using verdict = rules::mask_after<Scores, Lens, detail::family_of<Axis>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using T = typename Scores::value_type;
      using result = row_major<typename Scores::layout>;
      constexpr std::size_t step = result::template stride_of<detail::family_of<Axis>>;
      constexpr std::size_t size = result::template size_of<detail::family_of<Axis>>;
      return detail::filled<tensor_of<T, result>>([&](auto& out) {
        copy(scores, out);
        using lengths = kernel::scores::lengths<typename Lens::value_type>;
        for (std::size_t i = 0; i < result::count; ++i) {
          const auto length = valid_lens.data()[place<Lens>(i, typename result::axes{})];
          if (i / step % size >= lengths::clamp(length, size))
            out.data()[i] = -simd::math_constants<T>::infinity;
        }
      });
    } else {
      return invalid{};
    }
  }

 private:
  // The place of the length for element i of the scores.
  template <class Lens, class... Axes>
  static constexpr std::size_t place(std::size_t i, shape<Axes...>) noexcept {
    using scores = layout_with_axes<shape<Axes...>>;
    return (std::size_t{0} + ... +
            (i / scores::template stride_of<typename Axes::family> % Axes::size *
             detail::broadcast_step<typename Lens::layout, typename Axes::family>));
  }
};
}  // namespace detail

// mask_after<key>(scores, valid_lens): the scores with -infinity past the lengths.
template <template <std::size_t> class Axis>
UMBEL_EXPECTS("mask_after: expects the name of an axis; write mask_after<key>")
inline constexpr detail::mask_after_operation<Axis> mask_after{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
