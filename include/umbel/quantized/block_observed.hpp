// SPDX-License-Identifier: BSL-1.0
// A float block whose tensors widen the ranges of the int8 block.
#pragma once

#include <umbel/config.hpp>
#include <umbel/quantized/block_numbers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// The float block on x, whose tensors widen the ranges. memory: nothing, or one.
template <class Block, class Weight>
struct observed_block {
  using by_name = block_ranges<Block, Weight>;
  template <class Seen, class View, class X, class Memory, class Mask, class Own>
  static constexpr auto pass(Seen& seen, const View& w, const X& x, const Memory& memory,
                             const Mask& mask, const Own& own) noexcept {
    X sum = x, input = x, branch = x;
    see(seen.residual, sum);
    if constexpr (Block::has_memory) see(seen.memory, memory);
    const auto on = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      constexpr event e = Block::template event_at<I>;
      using step = typename Block::template step_at<e.step>;
      if constexpr (e.what == act::before) {
        if constexpr (step::norms_before)
          input = normed<e.slot>(w, sum);
        else
          input = sum;
      } else if constexpr (e.what == act::part) {
        auto& ranges = by_name::template at<e.number>(seen);
        using part = typename by_name::template part<e.number>;
        const auto& weights = Block::template weights_at<e.slot>(w);
        see(ranges.input, input);
        if constexpr (e.sees == reads::row)
          branch = part::calibrate(ranges, weights, input);
        else if constexpr (e.sees == reads::sequence)
          branch = part::calibrate(ranges, weights, input, own);
        else
          branch = part::calibrate(ranges, weights, input, memory, mask);
        if constexpr (step::norms_behind) see(ranges.branch, branch);
      } else {
        if constexpr (e.what == act::after)
          sum = normed<e.slot>(w, sum);
        else
          join<I>(w, branch, sum);
        see(seen.residual, sum);
      }
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (on(std::integral_constant<std::size_t, I>{}), ...);
    }(std::make_index_sequence<Block::event_count>{});
    return sum;
  }

 private:
  template <std::size_t I, class View, class X>
  static constexpr void join(const View& w, X& branch, X& sum) noexcept {
    constexpr event e = Block::template event_at<I>;
    using step = typename Block::template step_at<e.step>;
    using T = typename Block::value_type;
    if constexpr (step::norms_behind) branch = normed<e.slot>(w, branch);
    if constexpr (!step::adds && e.part == 0)
      sum = branch;
    else if constexpr (step::has_layer_scale)
      residual::add_scaled_features<layout_of<X>::count / Block::width, Block::width>(
          sum.data(), Block::template weights_at<Block::template scale_slot<I>>(w).gamma.data(),
          branch.data(), sum.data());
    else if constexpr (step::is_scaled)
      residual::add_scaled<layout_of<X>::count>(sum.data(), step::template scale<T>, branch.data(),
                                                sum.data());
    else
      sum = sum + branch;
  }
  template <std::size_t Slot, class View, class X>
  static constexpr auto normed(const View& w, const X& x) noexcept {
    return typename Block::norm{Block::template weights_at<Slot>(w), Block::epsilon}(x);
  }
  template <class Range, class X>
  static constexpr void see(Range& range, const X& x) noexcept {
    widen(range, x.data(), x.size());
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
