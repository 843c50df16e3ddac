// SPDX-License-Identifier: BSL-1.0
// The parts of a residual_block and how each joins the residual sum x, as types only.
//
//   pre_norm<norm, part>          x + part(norm(x))
//   pre_norm<norm, a, b>          x + a(norm(x)) + b(norm(x))     parallel (GPT-J, PaLM)
//   post_norm<norm, part>         norm(x + part(x))
//   sandwich_norm<n, part, m>     x + m(part(n(x)))               (Gemma 2)
//   branch_norm<part, norm>       x + norm(part(x))               (OLMo 2, Swin 2)
//   without_norm<part>            x + part(x)
//   norm_only<norm>               norm(x)
//   scaled<1, 2, pre_norm<...>>   x + 1/2 part(norm(x))           (Conformer)
//   layer_scale<g, pre_norm<...>> x + g * part(norm(x))           (CaiT, DINOv2) g: one weight
//                                                                 per feature
//   no_residual<pre_norm<...>>    part(norm(x))
#pragma once

#include <umbel/attention/multi_head.hpp>
#include <umbel/block/feed_forward.hpp>
#include <umbel/block/linear.hpp>
#include <umbel/block/part_names.hpp>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::residual {
// The input of a part: its row of x, all rows of x, or its row of x and all rows of the memory.
enum class reads { row, sequence, memory };

template <class... Part>
struct list {
  static constexpr std::size_t size = sizeof...(Part);
};
struct none {};            // instead of a name: no norm, no weights
struct several_scales {};  // refused

// Parts that read the same input, and how they join the sum. Before, Behind, After: names of the
// norms of their input, results, sum. Scale: the name of the factors.
template <class Before, class Parts, class Behind, class After, std::uint64_t Numerator = 1,
          std::uint64_t Denominator = 1, bool Residual = true, class Scale = none>
struct step {
  using before = Before;
  using parts = Parts;
  using behind = Behind;
  using after = After;
  using scale_name = Scale;
  static constexpr std::uint64_t numerator = Numerator, denominator = Denominator;
  static constexpr bool is_scaled = Numerator != Denominator, adds = Residual;
  static constexpr bool norms_before = !std::is_same_v<Before, none>;
  static constexpr bool norms_behind = !std::is_same_v<Behind, none>;
  static constexpr bool norms_after = !std::is_same_v<After, none>;
  static constexpr bool has_layer_scale = !std::is_same_v<Scale, none>;
  template <class T>
  static constexpr T scale = static_cast<T>(Numerator) / static_cast<T>(Denominator);

  template <std::uint64_t N, std::uint64_t D>
  using scaled =
      step<Before, Parts, Behind, After, Numerator * N, Denominator * D, Residual, Scale>;
  template <class Name>
  using scaled_by = step<Before, Parts, Behind, After, Numerator, Denominator, Residual,
                         std::conditional_t<std::is_same_v<Scale, none>, Name, several_scales>>;
  using alone = step<Before, Parts, Behind, After, Numerator, Denominator, false, Scale>;
  template <class Others>
  using of_parts = step<Before, Others, Behind, After, Numerator, Denominator, Residual, Scale>;
};
template <class Item>
inline constexpr bool is_step = false;
template <class B, class P, class H, class A, std::uint64_t N, std::uint64_t D, bool R, class S>
inline constexpr bool is_step<step<B, P, H, A, N, D, R, S>> = true;

// Stands for a join of something else: scaled<1, 2, part>.
template <class Given>
struct no_join {};
template <class Step>
struct changed {
  template <std::uint64_t, std::uint64_t>
  using scaled = no_join<Step>;
  template <class>
  using scaled_by = no_join<Step>;
  using alone = no_join<Step>;
};
template <class Step>
  requires is_step<Step>
struct changed<Step> : Step {};

}  // namespace detail::residual

namespace detail {
namespace say {
template <class Name>
struct part_name;
}  // namespace say
template <class Name>
struct speak<say::part_name<Name>> {
  static constexpr void to(sentence_buffer& out) { out.put(Name::text); }
};
UMBEL_SAYS(has_other_widths_than_its_block_so_leave_out_keys_from_values_from_and_output_to,
           "has other widths than its block; leave out keys_from, values_from and output_to");

namespace rules {
// All rows that an attention of a block reads and writes have the width of the block.
template <class Name, class T, class Hidden, class Heads, class... Options>
struct attention_of_a_block_rule {
  using types = multi_head_types_of<T, Hidden, Heads, Options...>;
  template <class Axis>
  static constexpr bool is_hidden = std::is_same_v<Axis, typename types::hidden_axis>;
  using type = first_error<
      multi_head<T, Hidden, Heads, typename types::chosen, Options...>,
      verdict<
          is_hidden<typename types::keys_axis> && is_hidden<typename types::values_axis> &&
              is_hidden<typename types::output_axis>,
          say::residual_block, say::part_name<Name>,
          say::has_other_widths_than_its_block_so_leave_out_keys_from_values_from_and_output_to>>;
};
template <class Name, class T, class Hidden, class Heads, class... Options>
using attention_of_a_block =
    typename attention_of_a_block_rule<Name, T, Hidden, Heads, Options...>::type;
}  // namespace rules
}  // namespace detail

namespace block_parts {
namespace name = portable::part_names;

// Parts. Name: such as name::attention. Options: those of the layer that computes it; hidden<>
// and the element type are those of the block.
template <class Name, class Heads = detail::nothing, class... Options>
struct self_attention {
  using name = Name;
  static constexpr auto sees = detail::residual::reads::sequence;
  template <class T, class Hidden>
  using layer = multi_head_attention<T, Hidden, Heads, Options...>;
  template <class T, class Hidden>
  using verdict = detail::rules::attention_of_a_block<Name, T, Hidden, Heads, Options...>;
};
template <class Name, class Heads = detail::nothing, class... Options>
struct cross_attention {
  using name = Name;
  static constexpr auto sees = detail::residual::reads::memory;
  template <class T, class Hidden>
  using layer = multi_head_attention<T, Hidden, Heads, Options...>;
  template <class T, class Hidden>
  using verdict = detail::rules::attention_of_a_block<Name, T, Hidden, Heads, Options...>;
};
template <class Name, class Intermediate = detail::nothing, class... Options>
struct feed_forward_network {
  using name = Name;
  static constexpr auto sees = detail::residual::reads::row;
  template <class T, class Hidden>
  using layer = feed_forward<T, Hidden, Intermediate, Options...>;
  template <class T, class Hidden>
  using verdict = detail::rules::feed_forward<T, Hidden, Intermediate, Options...>;
};
// x W + b, with the block's width.
template <class Name, class... Options>
struct linear_map {
  using name = Name;
  static constexpr auto sees = detail::residual::reads::row;
  template <class T, class Hidden>
  using layer = linear<T, Hidden, Hidden, Options...>;
  template <class T, class Hidden>
  using verdict = detail::rules::linear<T, Hidden, Hidden, Options...>;
};

// Joins: see the table above.
template <class Norm, class... Part>
using pre_norm = detail::residual::step<Norm, detail::residual::list<Part...>,
                                        detail::residual::none, detail::residual::none>;
template <class Norm, class... Part>
using post_norm = detail::residual::step<detail::residual::none, detail::residual::list<Part...>,
                                         detail::residual::none, Norm>;
template <class Before, class Part, class Behind>
using sandwich_norm =
    detail::residual::step<Before, detail::residual::list<Part>, Behind, detail::residual::none>;
template <class Part, class Norm>
using branch_norm = detail::residual::step<detail::residual::none, detail::residual::list<Part>,
                                           Norm, detail::residual::none>;
template <class... Part>
using without_norm = detail::residual::step<detail::residual::none, detail::residual::list<Part...>,
                                            detail::residual::none, detail::residual::none>;
template <class Norm>
using norm_only = detail::residual::step<detail::residual::none, detail::residual::list<>,
                                         detail::residual::none, Norm>;
template <std::uint64_t Numerator, std::uint64_t Denominator, class Step>
using scaled = typename detail::residual::changed<Step>::template scaled<Numerator, Denominator>;
template <class Name, class Step>
using layer_scale = typename detail::residual::changed<Step>::template scaled_by<Name>;
template <class Step>
using no_residual = typename detail::residual::changed<Step>::alone;
// A formula of each row, and its weights: formula/row_formula.hpp.
template <class Name, class Formula = detail::nothing, class... Weights>
struct row_formula;
template <class Name, class... Axis>
struct weight;
}  // namespace block_parts

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
