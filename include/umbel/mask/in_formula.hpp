// SPDX-License-Identifier: BSL-1.0
// Masks of a layer's call in a formula (formula/node.hpp): those that their types tell, such as
// causal and sliding_window, and lengths, a tensor of integers that is an argument of the formula;
// alone or combined. Not here: masks with numbers or memory of their own, which are refused.
#pragma once

#include <umbel/config.hpp>
#include <umbel/mask/combine.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct takes_masks_in_a_formula_that_are_constants_such_as_causal_or_lengths_that_are_an_argument;
}  // namespace say
template <>
inline constexpr const char* spoken<
    say::
        takes_masks_in_a_formula_that_are_constants_such_as_causal_or_lengths_that_are_an_argument> =
    "takes masks in a formula that are constants, such as causal, or lengths that are an argument";

// Masks when the formula is run, made of the memory of lengths, if there are any.
template <class Mask>
struct constant_mask {
  static constexpr Mask given(const auto&...) noexcept { return Mask{}; }
};
struct mask_of_lengths {
  template <class Lengths>
  static constexpr length_mask<Lengths> given(const Lengths& x) noexcept {
    return length_mask<Lengths>(x);
  }
};
template <class A, class B>
struct both_masks_given {
  static constexpr auto given(const auto&... x) noexcept {
    return both(A::given(x...), B::given(x...));
  }

 private:
  template <class Left, class Right>
  static constexpr both_masks<Left, Right> both(const Left& a, const Right& b) noexcept {
    return {a, b};
  }
};

// What becomes of a mask. known: can a formula take it? lengths: how many tensors of them it has;
// of(mask): their node.
template <class Mask, bool Known = std::is_empty_v<Mask>>
struct mask_in_formula {
  static constexpr bool known = Known;
  static constexpr std::size_t lengths = 0;
  using at_run = constant_mask<Mask>;
};
// As `causal` is: at no position of its own.
template <alignment A>
  requires(A != alignment::given)
struct mask_in_formula<causal_mask<A>, false> : mask_in_formula<causal_mask<A>, true> {};
template <alignment A>
  requires(A != alignment::given)
struct mask_in_formula<alibi_bias<A>, false> : mask_in_formula<alibi_bias<A>, true> {};
template <std::size_t Left, std::size_t Right, alignment A>
  requires(A != alignment::given)
struct mask_in_formula<window_mask<Left, Right, A>, false>
    : mask_in_formula<window_mask<Left, Right, A>, true> {};
template <traced X>
struct mask_in_formula<length_mask<X>, false> {
  static constexpr bool known = true;
  static constexpr std::size_t lengths = 1;
  using at_run = mask_of_lengths;
  static constexpr X of(const length_mask<X>& mask) noexcept { return mask.memory; }
};
template <class A, class B>
struct mask_in_formula<both_masks<A, B>, false> {
  using first = mask_in_formula<A>;
  using second = mask_in_formula<B>;
  static constexpr std::size_t lengths = first::lengths + second::lengths;
  static constexpr bool known = first::known && second::known && lengths < 2;
  using at_run = both_masks_given<typename first::at_run, typename second::at_run>;
  static constexpr auto of(const both_masks<A, B>& mask) noexcept {
    if constexpr (first::lengths != 0)
      return first::of(mask.first);
    else
      return second::of(mask.second);
  }
};
template <class Mask>
using mask_at_run = typename mask_in_formula<mask_of<Mask>>::at_run;

namespace rules {
// Layer: the word that names it. Mask: of a call with nodes.
template <class Layer, class Mask>
using mask_in_a_formula = verdict<
    detail::mask_in_formula<detail::mask_of<Mask>>::known, Layer,
    say::
        takes_masks_in_a_formula_that_are_constants_such_as_causal_or_lengths_that_are_an_argument>;
}  // namespace rules

template <class Mask>
inline constexpr bool has_lengths = mask_in_formula<mask_of<Mask>>::lengths != 0;
// The lengths of a mask, as elements of the formula.
template <class Mask>
constexpr auto lengths_of(const Mask& mask) noexcept {
  return mask_in_formula<mask_of<Mask>>::of(as_mask(mask)).contiguous();
}
// A call of a layer with nodes x... and a mask, whose lengths are the last operand.
template <class Steps, class Weights, class Mask, class X, class... Y>
constexpr auto call_with_mask(const Weights& w, const Mask& mask, const X& x,
                              const Y&... y) noexcept {
  if constexpr (has_lengths<Mask>)
    return x.template call<Steps>(w, y..., lengths_of(mask));
  else
    return x.template call<Steps>(w, y...);
}

// What such a call takes for a mask.
template <class M>
concept mask_of_a_node = mask_like<M> || traced<M>;

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
