// SPDX-License-Identifier: BSL-1.0
// Masks of a layer's call in a formula (formula/node.hpp). A mask that the formula makes is taken
// apart and made again when the formula runs: its tensors are operands of the call, and its
// numbers, causal_at(3), are kept until then. Of an argument, f(x, w, keep_mask(m)), the address.
#pragma once

#include <umbel/config.hpp>
#include <umbel/mask/combine.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(
    needs_masks_made_from_arguments_of_the_formula_so_pass_this_one_as_an_argument,
    "needs masks made from arguments of the formula; pass this one as an argument, f(x, mask)");
UMBEL_SAYS(needs_masks_made_from_at_most_3_tensors_in_a_formula_so_pass_this_one_as_an_argument,
           "needs masks made from at most 3 tensors in a formula; pass this one as an argument, "
           "f(x, mask)");

// A mask that is an argument of the formula; null while it is traced.
template <class M>
struct given_mask : mask_base {
  static constexpr bool observes = M::observes, drops = M::drops;
  static constexpr bool by_position = M::by_position, by_head = M::by_head;
  static constexpr bool has_length = M::has_length;
  using to_last_key = typename M::to_last_key;
  template <class Layer, class Scores>
  using rule = typename M::template rule<Layer, Scores>;
  const M* mask;

  constexpr explicit given_mask(const M* argument) noexcept : mask(argument) {}
  template <class Scores>
  constexpr auto policy(mask_place place) const noexcept {
    return mask->template policy<Scores>(place);
  }
  template <class Scores>
  constexpr auto observer(mask_place place) const noexcept {
    return mask->template observer<Scores>(place);
  }
};
// Stands in a formula for an argument with a mask in it, whose address is known or null.
template <class X>
struct stands_for_mask {};
template <derived_from_mask M>
struct stands_for_mask<M> {
  static constexpr given_mask<M> at(const M* mask) noexcept { return given_mask<M>(mask); }
};
template <class X>
concept argument_with_mask = requires { stands_for_mask<X>::at(nullptr); };

// How a mask is taken apart.
//   known                    can a formula make it?
//   closed                   a verdict: is each position in it along an axis of its tensor?
//   operands, parts          how many tensors and numbers it has
//   with_nodes(x, mask, f)   f(node...) with its tensors; x: a node of the formula
//   take(mask, to)           writes its numbers, as formulas keep them (formula/graph.hpp)
//   made<First>(parts, x...) the mask again; its tensors are views x..., number First and following
template <class Mask>
struct mask_in_formula {
  static constexpr bool known = false;
  using closed = accepted;
  static constexpr std::size_t operands = 0, parts = 0;
};
// With neither.
struct mask_without_memory {
  static constexpr bool known = true;
  using closed = accepted;
  static constexpr std::size_t operands = 0, parts = 0;
  static constexpr auto with_nodes(const auto&, const auto&, const auto& f) noexcept { return f(); }
  static constexpr void take(const auto&, auto*) noexcept {}
};
template <class Mask>
  requires std::is_empty_v<Mask>
struct mask_in_formula<Mask> : mask_without_memory {
  template <std::size_t First>
  static constexpr Mask made(const auto*, const auto&...) noexcept {
    return Mask();
  }
};
template <class F>
  requires(std::is_empty_v<F> && std::is_default_constructible_v<F>)
struct mask_in_formula<generated_bias<F>> : mask_without_memory {
  template <std::size_t First>
  static constexpr generated_bias<F> made(const auto*, const auto&...) noexcept {
    return generated_bias<F>(F());
  }
};
struct mask_with_numbers : mask_without_memory {
  static constexpr std::size_t parts = 1;
};
template <class Mask>
concept mask_with_offset = requires(const Mask& mask) { Mask(mask.offset); };
template <mask_with_offset Mask>
struct mask_in_formula<Mask> : mask_with_numbers {
  static constexpr void take(const Mask& mask, auto* to) noexcept {
    to->integer = static_cast<unsigned long long>(mask.offset);
  }
  template <std::size_t First>
  static constexpr Mask made(const auto* from, const auto&...) noexcept {
    return Mask(static_cast<std::ptrdiff_t>(from->integer));
  }
};
template <>
struct mask_in_formula<dropout_mask> : mask_with_numbers {
  template <class Part>
  static constexpr void take(const dropout_mask& mask, Part* to) noexcept {
    to->number = static_cast<decltype(Part::number)>(mask.rate);
    to->integer = mask.seed;
  }
  template <std::size_t First>
  static constexpr dropout_mask made(const auto* from, const auto&...) noexcept {
    return {from->number, from->integer};
  }
};
template <class M>
struct mask_in_formula<given_mask<M>> : mask_with_numbers {
  static constexpr void take(const given_mask<M>& mask, auto* to) noexcept { to->mask = mask.mask; }
  template <std::size_t First>
  static constexpr given_mask<M> made(const auto* from, const auto&...) noexcept {
    return given_mask<M>(static_cast<const M*>(from->mask));
  }
};
// Made of a tensor: an argument or computed; for score_bias also a part of an argument.
template <class Mask, class X = decltype(Mask::memory)>
concept mask_of_tensor = requires { typename Mask::template of_memory<X>; } &&
                         (traced<X> || std::is_floating_point_v<typename X::value_type>);
template <std::size_t I, class First, class... Rest>
constexpr const auto& operand_at(const First& first, const Rest&... rest) noexcept {
  if constexpr (I == 0)
    return first;
  else
    return operand_at<I - 1>(rest...);
}
template <class X>
struct positions_in {
  using closed = accepted;
};
template <traced X>
struct positions_in<X> {
  using closed = typename X::closed;
};
template <mask_of_tensor Mask>
struct mask_in_formula<Mask> : mask_without_memory {
  using closed = typename positions_in<decltype(Mask::memory)>::closed;
  static constexpr std::size_t operands = 1;
  static constexpr auto with_nodes(const auto& x, const Mask& mask, const auto& f) noexcept {
    return f(x.as_operand_of_call(mask.memory));
  }
  template <std::size_t First>
  static constexpr auto made(const auto*, const auto&... x) noexcept {
    const auto& memory = operand_at<First>(x...);
    return typename Mask::template of_memory<std::remove_cvref_t<decltype(memory)>>(memory);
  }
};
template <class A, class B>
struct mask_in_formula<both_masks<A, B>> {
  using first = mask_in_formula<A>;
  using second = mask_in_formula<B>;
  static constexpr bool known = first::known && second::known;
  using closed = first_error<typename first::closed, typename second::closed>;
  static constexpr std::size_t operands = first::operands + second::operands;
  static constexpr std::size_t parts = first::parts + second::parts;
  static constexpr auto with_nodes(const auto& x, const both_masks<A, B>& mask,
                                   const auto& f) noexcept {
    return first::with_nodes(x, mask.first, [&](const auto&... a) {
      return second::with_nodes(x, mask.second, [&](const auto&... b) { return f(a..., b...); });
    });
  }
  static constexpr void take(const both_masks<A, B>& mask, auto* to) noexcept {
    first::take(mask.first, to);
    second::take(mask.second, to + first::parts);
  }
  template <std::size_t First>
  static constexpr auto made(const auto* from, const auto&... x) noexcept {
    return both(first::template made<First>(from, x...),
                second::template made<First + first::operands>(from + first::parts, x...));
  }

 private:
  template <class Left, class Right>
  static constexpr both_masks<Left, Right> both(const Left& a, const Right& b) noexcept {
    return {a, b};
  }
};

namespace rules {
// Layer: its name in sentences. Mask: that of a call with nodes.
template <class Layer, class Mask, class Apart = detail::mask_in_formula<detail::mask_of<Mask>>>
using mask_in_a_formula = first_error<
    verdict<Apart::known, Layer,
            say::needs_masks_made_from_arguments_of_the_formula_so_pass_this_one_as_an_argument>,
    verdict<
        Apart::operands <= 3, Layer,
        say::needs_masks_made_from_at_most_3_tensors_in_a_formula_so_pass_this_one_as_an_argument>,
    typename Apart::closed>;
}  // namespace rules

// What a call with a mask keeps (formula/parts.hpp).
template <class W, class Mask>
struct weights_and_mask {
  const W& weights;
  const Mask& mask;
};
// A block in the graph of a gradient, as the operations that it consists of (training/blocks.hpp).
template <class Block>
struct in_words;
namespace rules {
// May weights of this type have a gradient (training/gradient_rules.hpp)?
template <class W>
struct weights_of_block_rule;
}  // namespace rules
template <class Steps, class X>
concept written_in_words = X::differentiates && requires { typename Steps::block; };

template <class Block, class W, class... X>
constexpr auto words_of_block(const W& w, const X&... x) noexcept {
  using verdict = typename rules::weights_of_block_rule<W>::type;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return in_words<Block>::of(w, x...);
  else
    return invalid{};
}

// A call of a layer with nodes x, y... and a mask, whose tensors are the last operands.
template <class Steps, class W, class Mask, class X, class... Y>
constexpr auto call_with_mask(const W& weights, const Mask& given, const X& x,
                              const Y&... y) noexcept {
  const auto& mask = as_mask(given);
  if constexpr (written_in_words<Steps, X>)
    return words_of_block<typename Steps::block>(weights, mask, x, y...);
  else
    return mask_in_formula<mask_of<Mask>>::with_nodes(x, mask, [&](const auto&... of_mask) {
      return x.template call<Steps>(weights_and_mask<W, mask_of<Mask>>{weights, mask}, y...,
                                    of_mask...);
    });
}

// The same without a mask.
template <class Steps, class W, class X>
constexpr auto call_with_weights(const W& weights, const X& x) noexcept {
  if constexpr (written_in_words<Steps, X>)
    return words_of_block<typename Steps::block>(weights, x);
  else
    return x.template call<Steps>(weights);
}

// The masks that such a call accepts.
template <class M>
concept mask_of_a_node = mask_like<M> || traced<M>;

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
