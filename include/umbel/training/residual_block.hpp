// SPDX-License-Identifier: BSL-1.0
// A block in the graph of a gradient, as its operations. For its parts see training/blocks.hpp.
#pragma once

#include <umbel/block/residual_block.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/row_formula.hpp>
#include <umbel/training/blocks.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// ---- kinds of parts, in addition to those of training/blocks.hpp
template <class T, class Hidden, class... Options>
struct in_words<linear<T, Hidden, Hidden, Options...>> {
  template <class W, class X>
  static constexpr auto of(const W& w, const X& x) noexcept {
    return x.project(w);
  }
};
// Of x as its rows, whatever their axes are called.
template <class T, class Hidden, class F, class... Weight>
struct in_words<residual::formula_of_rows<T, Hidden, F, Weight...>> {
  template <class W, class X>
  static constexpr auto of(const W& w, const X& x) noexcept {
    using rows = layout<axes::token<layout_of<X>::count / Hidden::size>, Hidden>;
    return formulas::in_order(F{}(x.template reread<rows>(0), w), typename rows::axes{})
        .template reread<layout_of<X>>(0);
  }
};

// ---- the fold
template <class T, class Hidden, class Steps, class Options, class Style>
struct in_words<block_types<T, Hidden, Steps, Options, Style>> {
  using types = residual::description<T, Hidden, Steps, Options, Style>;
  template <class Weights, class Masks, class X, class... Memory>
  static constexpr auto of(const Weights& all, const Masks& masks, const X& x0,
                           const Memory&... memory) noexcept {
    return through_layers(
        all, x0, [&](const auto& w, const auto& x) { return from<0>(w, masks, x, x, memory...); });
  }

 private:
  // From event I on; input: that of the parts of a step if it has a norm or several parts.
  template <std::size_t I, class W, class Masks, class Sum, class Input, class... Memory>
  static constexpr auto from(const W& w, const Masks& masks, const Sum& sum, const Input& input,
                             const Memory&... memory) noexcept {
    if constexpr (I == types::event_count) {
      return sum;
    } else {
      constexpr residual::event e = types::template event_at<I>;
      using step = typename types::template step_at<e.step>;
      if constexpr (e.what == residual::act::part) {
        const auto branch = part<I>(w, masks, input, memory...);
        const auto next = joined<I + 1>(w, sum, branch);
        if constexpr (e.part + 1 < step::parts::size)
          return from<I + 2>(w, masks, next, input, memory...);
        else
          return from<I + 2>(w, masks, next, next, memory...);
      } else if constexpr (e.what == residual::act::before && step::norms_before) {
        return from<I + 1>(w, masks, sum, norm_at<e.slot>(w)(sum), memory...);
      } else if constexpr (e.what == residual::act::before) {
        return from<I + 1>(w, masks, sum, sum, memory...);
      } else {
        const auto next = norm_at<e.slot>(w)(sum);
        return from<I + 1>(w, masks, next, next, memory...);
      }
    }
  }
  template <std::size_t I, class W, class Masks, class X, class... Memory>
  static constexpr auto part(const W& w, const Masks& masks, const X& x,
                             const Memory&... memory) noexcept {
    constexpr residual::event e = types::template event_at<I>;
    using layer = typename types::template layer_at<e.slot>;
    const auto& part_weights = types::template weights_at<e.slot>(w);
    if constexpr (e.sees == residual::reads::row)
      return in_words<layer>::of(part_weights, x);
    else if constexpr (e.sees == residual::reads::memory)
      return in_words<multi_head_block<layer>>::to_memory(part_weights, masks.first, x, memory...);
    else if constexpr (types::has_memory)
      return in_words<multi_head_block<layer>>::of(part_weights, masks.second, x);
    else
      return in_words<multi_head_block<layer>>::of(part_weights, masks, x);
  }
  template <std::size_t I, class W, class Sum, class Branch>
  static constexpr auto joined(const W& w, const Sum& sum, const Branch& branch) noexcept {
    constexpr residual::event e = types::template event_at<I>;
    using step = typename types::template step_at<e.step>;
    if constexpr (step::norms_behind)
      return add<I>(w, sum, norm_at<e.slot>(w)(branch));
    else
      return add<I>(w, sum, branch);
  }
  template <std::size_t I, class W, class Sum, class Branch>
  static constexpr auto add([[maybe_unused]] const W& w, const Sum& sum,
                            const Branch& branch) noexcept {
    constexpr residual::event e = types::template event_at<I>;
    using step = typename types::template step_at<e.step>;
    if constexpr (!step::adds && e.part == 0)
      return branch;
    else if constexpr (step::has_layer_scale)
      return sum + view<const T, typename types::hidden_axis>(
                       types::template weights_at<types::template scale_slot<I>>(w).gamma.data()) *
                       branch;
    else if constexpr (step::is_scaled)
      return sum + step::template scale<T> * branch;
    else
      return sum + branch;
  }
  template <std::size_t Slot, class W>
  static constexpr auto norm_at(const W& w) noexcept {
    return typename types::norm(types::template weights_at<Slot>(w), types::epsilon);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
