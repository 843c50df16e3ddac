// SPDX-License-Identifier: BSL-1.0
// Verdicts on a residual_block, its parts and its arguments.
#pragma once

#include <umbel/block/decoder_rules.hpp>
#include <umbel/block/description.hpp>
#include <umbel/block/encoder_rules.hpp>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
UMBEL_SAYS(residual_block, "residual_block");
UMBEL_SAYS(attends_to_a_memory_so_write_layer_of_x_memory_and_self_mask,
           "attends to a memory; write layer(x, memory, self_mask(...))");
UMBEL_SAYS(row_formula_needs_its_header_so_include_row_formula,
           "row_formula needs its header; add #include <umbel/formula/row_formula.hpp>");
UMBEL_SAYS(is_not_the_name_of_a_part_so_use_name_or_declare_one,
           "is not the name of a part; use block_parts::name::norm or another, or declare one with "
           "UMBEL_PART_NAME");
UMBEL_SAYS(
    is_not_a_part_so_use_self_attention_or_another_of_block_parts,
    "is not a part; use block_parts::self_attention or another part of namespace block_parts");
UMBEL_SAYS(a_join_has_no_part_so_add_one_or_write_norm_only_of_the_norm,
           "a join has no part; add one, or write norm_only<norm>");
UMBEL_SAYS(a_join_has_two_factors_so_keep_one,
           "a join has two factors; keep one layer_scale<>, with the product as its weights");
UMBEL_SAYS(a_join_is_not_a_part_so_write_joins_side_by_side,
           "a join is not a part; write joins side by side, not nested");
UMBEL_SAYS(is_a_name_of_integer_ranges_so_choose_another,
           "is a name that integer ranges use; choose another for the part");
UMBEL_SAYS(scaled_and_layer_scale_need_a_branch_that_is_added,
           "scaled<> and layer_scale<> need a branch that is added; leave them out of no_residual "
           "and norm_only");
UMBEL_SAYS(is_not_a_join_such_as_pre_norm,
           "is not a join; write pre_norm<norm, part> or another join");
UMBEL_SAYS(needs_a_part_so_add_pre_norm_or_another_join,
           "needs a part; add block_parts::pre_norm<...> or another join of namespace block_parts");
UMBEL_SAYS(is_not_the_name_of_a_norm_so_write_pre_norm_of_name_norm,
           "is not the name of a norm; write pre_norm<name::norm, ...>");

namespace rules {
// An argument of a call: a sequence, or a batch of them, with the block's width.
template <class Word, class X, class T, class Hidden, class Name = say::the_sequence>
using block_argument = first_error<self_attend<Word, X, T, Hidden, Name>,
                                   rows_of<Word, X, T, Hidden>, batch_first<Word, X>>;

template <class Part>
concept part_like = requires {
  typename Part::name;
  Part::sees;
};
template <class Given>
struct word_for_given {
  using type = option_word<Given>;
};
template <part_like Part>
struct word_for_given<Part> {
  using type = typename residual::speakable_name<typename Part::name>::type;
};
// Names of the ranges of an int8 block, besides those of its parts.
constexpr bool is_name_of_a_range(const char* name) {
  const auto is = [name](const char* other) {
    std::size_t i = 0;
    while (name[i] != '\0' && name[i] == other[i]) ++i;
    return name[i] == other[i];
  };
  return is("residual") || is("memory");
}
template <class Name>
struct name_rule {
  using type = verdict<false, say::residual_block, typename residual::speakable_name<Name>::type,
                       say::is_not_the_name_of_a_part_so_use_name_or_declare_one>;
};
template <residual::is_part_name Name>
struct name_rule<Name> {
  using type = verdict<!is_name_of_a_range(Name::text), say::residual_block,
                       typename residual::speakable_name<Name>::type,
                       say::is_a_name_of_integer_ranges_so_choose_another>;
};
template <>
struct name_rule<residual::none> {
  using type = accepted;
};
template <part_like Part>
struct name_rule<Part> {
  using type = verdict<!part_like<Part>, say::residual_block, typename word_for_given<Part>::type,
                       say::is_not_the_name_of_a_norm_so_write_pre_norm_of_name_norm>;
};

// Steps: those of the list. Each reads it if the previous one accepted it.
template <class Before, class T, class Hidden, class... Step>
struct parts_are_parts {
  using type = Before;
};
template <class Before, class T, class Hidden, class... Step>
struct names_are_names {
  using type = Before;
};
template <class Before, class T, class Hidden, class... Step>
struct names_differ {
  using type = Before;
};
template <class Before, class T, class Hidden, class... Step>
struct parts_are_accepted {
  using type = Before;
};

// A wrong part or option: a join, or a scaled<> without a join.
template <class Given>
struct join_rule {
  using type = accepted;
};
template <class Given>
struct join_rule<residual::no_join<Given>> {
  using type = verdict<never<Given>, say::residual_block, typename word_for_given<Given>::type,
                       say::is_not_a_join_such_as_pre_norm>;
};
template <class Step>
  requires residual::is_step<Step>
struct join_rule<Step> {
  using type = verdict<never<Step>, say::residual_block,
                       say::a_join_is_not_a_part_so_write_joins_side_by_side>;
};
// A part among the joins.
template <class Given>
struct among_joins_rule {
  using type = typename join_rule<Given>::type;
};
template <part_like Part>
struct among_joins_rule<Part> : join_rule<residual::no_join<Part>> {};

template <class Name, class Formula, class... Weights>
struct join_rule<block_parts::row_formula<Name, Formula, Weights...>> {
  using type =
      verdict<part_like<block_parts::row_formula<Name, Formula, Weights...>>, say::residual_block,
              say::row_formula_needs_its_header_so_include_row_formula>;
};

template <class Parts>
struct all_are_parts;
template <class... Part>
struct all_are_parts<residual::list<Part...>> {
  using type =
      first_error<typename join_rule<Part>::type...,
                  verdict<part_like<Part>, say::residual_block, option_word<Part>,
                          say::is_not_a_part_so_use_self_attention_or_another_of_block_parts>...,
                  accepted>;
};
template <class T, class Hidden, class Parts>
struct verdicts_of_parts;
template <class T, class Hidden, class... Part>
struct verdicts_of_parts<T, Hidden, residual::list<Part...>> {
  using type = first_error<typename Part::template verdict<T, Hidden>..., accepted>;
};
template <class T, class Hidden, class... Step>
struct parts_are_parts<accepted, T, Hidden, Step...> {
  using type = first_error<
      typename all_are_parts<typename Step::parts>::type...,
      verdict<(Step::parts::size > 0 || Step::norms_after), say::residual_block,
              say::a_join_has_no_part_so_add_one_or_write_norm_only_of_the_norm>...,
      verdict<(Step::numerator > 0 && Step::denominator > 0), say::residual_block,
              struct scaled_needs_a_factor_above_0>...,
      verdict<!(Step::is_scaled && Step::has_layer_scale) &&
                  !std::is_same_v<typename Step::scale_name, residual::several_scales>,
              say::residual_block, say::a_join_has_two_factors_so_keep_one>...,
      verdict<(Step::adds && Step::parts::size > 0) || !(Step::is_scaled || Step::has_layer_scale),
              say::residual_block, say::scaled_and_layer_scale_need_a_branch_that_is_added>...>;
};
template <class Parts>
struct names_of_parts;
template <class... Part>
struct names_of_parts<residual::list<Part...>> {
  using type = residual::list<typename Part::name...>;
};
template <class... Step>
using names_in =
    typename residual::joined<residual::list<typename Step::before, typename Step::behind,
                                             typename Step::after, typename Step::scale_name>...,
                              typename names_of_parts<typename Step::parts>::type...>::type;
template <class Names>
struct of_names;
template <class... Name>
struct of_names<residual::list<Name...>> {
  template <class Same>
  static constexpr bool is_alone = std::is_same_v<Same, residual::none> ||
                                   (std::size_t{0} + ... + std::is_same_v<Same, Name>) == 1;
  using are_names = first_error<typename name_rule<Name>::type...>;
  using differ = first_error<
      verdict<is_alone<Name>, say::residual_block, struct two_parts_or_norms_have_the_name,
              typename residual::speakable_name<Name>::type>...>;
};
template <class T, class Hidden, class... Step>
struct names_are_names<accepted, T, Hidden, Step...> {
  using type = typename of_names<names_in<Step...>>::are_names;
};
template <class T, class Hidden, class... Step>
struct names_differ<accepted, T, Hidden, Step...> {
  using type = typename of_names<names_in<Step...>>::differ;
};
template <class T, class Hidden, class... Step>
struct parts_are_accepted<accepted, T, Hidden, Step...> {
  using type = first_error<typename verdicts_of_parts<T, Hidden, typename Step::parts>::type...>;
};

template <class Before, class T, class Hidden, class Steps>
struct list_rule {
  using type = Before;
};
template <class T, class Hidden>
struct list_rule<accepted, T, Hidden, residual::list<>> {
  using type =
      verdict<false, say::residual_block, say::needs_a_part_so_add_pre_norm_or_another_join>;
};
template <class T, class Hidden, class First, class... Step>
  requires(First::parts::size == 0 && First::norms_after &&
           ((Step::parts::size == 0 && Step::norms_after) && ...))
struct list_rule<accepted, T, Hidden, residual::list<First, Step...>>
    : list_rule<accepted, T, Hidden, residual::list<>> {};
template <class T, class Hidden, class First, class... Step>
struct list_rule<accepted, T, Hidden, residual::list<First, Step...>> {
  template <template <class, class, class, class...> class Rule, class Before>
  using then = typename Rule<Before, T, Hidden, First, Step...>::type;
  using type = then<parts_are_accepted,
                    then<names_differ, then<names_are_names, then<parts_are_parts, accepted>>>>;
};

template <class Options>
struct block_options;
template <class... Options>
struct block_options<option_list<Options...>> {
  using type = first_error<
      typename among_joins_rule<Options>::type...,
      options<say::residual_block,
              option_kinds<option::norm_by, option::norm_bias, option::norm_epsilon>, Options...>,
      norm_options<say::residual_block, norm_of_options<float, axes::hidden<1>, Options...>>>;
};
template <class T, class Hidden, class Sorted>
using residual_block =
    typename list_rule<first_error<floating<say::residual_block, T>,
                                   in_place<say::residual_block, Hidden, axes::hidden>,
                                   typename block_options<typename Sorted::options>::type>,
                       T, Hidden, typename Sorted::steps>::type;
}  // namespace rules

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
