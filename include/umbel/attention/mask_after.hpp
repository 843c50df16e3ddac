// SPDX-License-Identifier: BSL-1.0
// mask_after<key>(scores, valid_lens) is the readable form of a mask, for one's own attention: scores
// past the length become -infinity, which `softmax` turns into weights of 0. The layers take masks of
// every kind as an argument (mask.hpp).
#pragma once

#include <umbel/attention/filled.hpp>
#include <umbel/attention/mask.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/tensor/copy.hpp>

namespace umbel {

namespace say {
struct mask_after;
struct but_the_scores;
}  // namespace say

namespace detail {
template <>
struct speak<say::mask_after> : speak_as_written<say::mask_after> {};
}  // namespace detail

namespace rules {
template <class Scores, class Lens, class Family>
using mask_after_lens =
    first_error<verdict<is_length<typename Lens::value_type>, say::mask_after, say::valid_lens,
                        say::must_be_integers_but_are_of_type, element<typename Lens::value_type>>,
                verdict<layout_of<Lens>::rank == 1 && layout_of<Lens>::template has<batch_family>,
                        say::mask_after, say::valid_lens, say::take_only_the_axis, batch_family,
                        say::but_have, typename layout_of<Lens>::axes>,
                same_size<say::mask_after, batch_family, layout_of<Lens>, say::valid_lens,
                          layout_of<Scores>, say::but_the_scores>>;
template <class Scores, class Lens, class Family>
using mask_after = first_error<has_axis<say::mask_after, layout_of<Scores>, Family>,
                               floating<say::mask_after, typename Scores::value_type>,
                               mask_after_lens<Scores, Lens, Family>>;
}  // namespace rules

template <template <std::size_t> class Axis>
struct mask_after_operation {
  // scores: any axes with batch and Axis; valid_lens: (batch). A row-major tensor like scores.
  template <tensor_like Scores, tensor_like Lens>
  constexpr auto operator()(const Scores& scores, const Lens& valid_lens) const noexcept {
    using verdict = rules::mask_after<Scores, Lens, axis_family<Axis>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using T = typename Scores::value_type;
      using result = row_major<typename Scores::layout>;
      constexpr std::size_t batch_step = result::template stride_of<rules::batch_family>;
      constexpr std::size_t batches = result::template size_of<rules::batch_family>;
      constexpr std::size_t step = result::template stride_of<axis_family<Axis>>;
      constexpr std::size_t size = result::template size_of<axis_family<Axis>>;
      return detail::filled<tensor_of<T, result>>([&](auto& out) {
        copy(scores, out);
        using lengths = kernel::scores::lengths<typename Lens::value_type>;
        for (std::size_t i = 0; i < result::count; ++i) {
          const auto length =
              valid_lens.data()[i / batch_step % batches * Lens::layout::strides[0]];
          if (i / step % size >= lengths::clamp(length, size))
            out.data()[i] = -simd::math_constants<T>::infinity;
        }
      });
    } else {
      return invalid{};
    }
  }
  template <class Lens>
  constexpr invalid operator()(invalid, const Lens&) const {
    return {};
  }
};
template <template <std::size_t> class Axis>
inline constexpr mask_after_operation<Axis> mask_after{};

}  // namespace umbel
