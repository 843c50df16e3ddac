// SPDX-License-Identifier: BSL-1.0
// Which keys a query may attend to. valid_lens (batch): in sequence b the first valid_lens(b) keys
// count; a length below 0 or above the number of keys is clamped to that range. Masked keys and
// values are never read. A row with nothing to attend to gives zeros.
//
// mask_after<key>(scores, valid_lens) is the readable form for one's own attention: scores past the
// length become -infinity, which `softmax` turns into weights of 0.
#pragma once

#include <umbel/attention/filled.hpp>
#include <umbel/attention/rules.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/tensor/copy.hpp>

namespace umbel {

// Every key counts: what a layer takes when it is given no lengths, and a way to say so.
struct every_key {};
inline constexpr every_key all_keys{};

// valid_lens or all_keys.
template <class L>
concept lengths = tensor_like<L> || std::is_same_v<L, every_key>;

namespace detail {

// The number of keys of one sequence that count, in 0..keys; every_key stays itself, a fact that is
// known to the compiler.
template <class Lens>
constexpr auto keys_that_count(const Lens& lens, std::size_t batch, std::size_t keys) noexcept {
  if constexpr (std::is_same_v<Lens, every_key>) {
    return lens;
  } else {
    const auto length = lens.data()[batch * Lens::layout::strides[0]];
    if (length <= 0) return std::size_t{0};
    // Compared in full width: a length of 2^32 is not 0 where std::size_t has 32 bits.
    return static_cast<unsigned long long>(length) < keys ? static_cast<std::size_t>(length) : keys;
  }
}

}  // namespace detail

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
using mask_after =
    first_error<has_axis<say::mask_after, layout_of<Scores>, Family>,
                floating<say::mask_after, typename Scores::value_type>,
                valid_lens<say::mask_after, Lens, layout_of<Scores>, say::but_the_scores>>;
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
        for (std::size_t i = 0; i < result::count; ++i) {
          const std::size_t batch = i / batch_step % batches;
          if (i / step % size >= detail::keys_that_count(valid_lens, batch, size))
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
