// SPDX-License-Identifier: BSL-1.0
// Verdicts on a mask: its axes are some of those of the scores, (batch, heads, query, key), with
// their sizes or 1, and its element type states its meaning. Masks: mask/combine.hpp.
#pragma once

#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/tensor/other_calls.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct alibi;
struct but_the_scores_have_type;
struct but_the_scores_have;
struct causal;
struct dropout;
struct expects_an_integer_or_a_tensor_of_integers;
struct have;
struct mask;
struct observe;
struct needs_integers_but_these_have_type;
struct needs_one_length_per_sequence;
}  // namespace say

UMBEL_SAYS(valid_lens, "valid_lens");
UMBEL_SAYS(valid_rows, "valid_rows");
UMBEL_SAYS(keep_mask, "keep_mask");
UMBEL_SAYS(drop_mask, "drop_mask");
UMBEL_SAYS(score_bias, "score_bias");
UMBEL_SAYS(sliding_window, "sliding_window");
UMBEL_SAYS(sliding_window_at, "sliding_window_at");
UMBEL_SAYS(sliding_window_bottom_right, "sliding_window_bottom_right");
UMBEL_SAYS(causal_at, "causal_at");
UMBEL_SAYS(causal_bottom_right, "causal_bottom_right");
UMBEL_SAYS(alibi_at, "alibi_at");
UMBEL_SAYS(are_ambiguous_so_write_causal_bottom_right_of_lens_or_causal_at,
           "are ambiguous; write causal_bottom_right(lens) to align the last query with the last "
           "key of its sequence, causal_at(keys - queries) with the last of all keys");
UMBEL_SAYS(
    are_ambiguous_so_write_sliding_window_bottom_right_of_lens_or_sliding_window_at,
    "are ambiguous; write sliding_window_bottom_right<4>(lens) to align the last query with the "
    "last key of its sequence, sliding_window_at<4>(keys - queries) with the last of all keys");
UMBEL_SAYS(valid_rows_is_for_multi_head_attention_and_blocks_so_pass_lengths,
           "valid_rows is for multi_head_attention, encoder_layer, decoder_layer and "
           "residual_block, outside of formulas, caches and calibrate, without "
           "empty_rows<uniform_weights>; pass the lengths alone");
UMBEL_SAYS(valid_rows_leaves_out_rows_that_observe_writes_so_pass_lengths,
           "valid_rows leaves out rows that observe writes; pass the lengths alone");
UMBEL_SAYS(which_cannot_have_the_axis, ", which cannot have the axis");
UMBEL_SAYS(so_pass_numbers_to_add_to_the_scores_as, "; pass numbers to add to the scores as");
UMBEL_SAYS(the_memory_is_a_temporary_so_store_it_in_a_variable,
           "the memory is a temporary; store it in a variable");
UMBEL_SAYS(needs_a_function_of_batch_head_query_and_key_that_returns,
           "needs a function of batch, head, query and key that returns");
UMBEL_SAYS(a_bool_mask_is_ambiguous_so_write_keep_mask_or_drop_mask_for_what_true_does,
           "a bool mask is ambiguous; write keep_mask(mask) if true keeps a key, drop_mask(mask) "
           "if true drops it");
UMBEL_SAYS(keep_mask_needs_an_argument_of_bool_so_write_hide_of_scores_for_conditions,
           "keep_mask and drop_mask need a tensor of bool that is an argument; for other "
           "conditions write out the attention with hide(scores, condition)");
UMBEL_SAYS(cannot_be_made_from_arguments_so_pass_the_mask_as_an_argument,
           "cannot be made from the arguments; pass the mask as an argument, f(x, mask)");
UMBEL_SAYS(masks_combine_only_with_masks_by_and_or_plus,
           "masks combine only with masks, by & or +; write lens & causal or keep_mask(m) & "
           "score_bias(b)");
UMBEL_SAYS(
    masks_by_position_are_values_so_do_not_call_them_but_write_lens_and_causal,
    "causal, sliding_window<4> and alibi are values; do not call them, but write lens & causal, "
    "causal_at(p) or causal_bottom_right(lens)");
UMBEL_SAYS(masks_are_immutable_so_write_auto_both, "masks are immutable; write auto both = a & b");
UMBEL_SAYS(differ_so_choose_top_left_bottom_right_or_at,
           "differ; choose _top_left, _bottom_right or _at");

UMBEL_SAYS(expects_the_rate_then_the_seed_as_in_dropout_of_one_tenth_and_42,
           "expects the rate, a fraction, then the seed, an integer, as in dropout(0.1, 42)");

UMBEL_SAYS(a_braced_list_is_not_a_mask_so_write_lengths_as_a_tensor_of_int_with,
           "a braced list is not a mask; write lengths as a tensor, tensor<int, batch<...>>{...}, "
           "here with");

// The scores of a mask. Batch 0: no such axis. Placed: the caller, a cache, knows the positions.
template <class T, std::size_t Batch, std::size_t Heads, std::size_t Queries, std::size_t Keys,
          bool Placed = false>
struct scores_of {
  using value_type = T;
  using axes = std::conditional_t<
      Batch == 0, shape<axes::heads<Heads>, axes::query<Queries>, axes::key<Keys>>,
      shape<axes::batch<Batch>, axes::heads<Heads>, axes::query<Queries>, axes::key<Keys>>>;
  using layout = layout_with_axes<axes>;
  static constexpr std::size_t heads = Heads, queries = Queries, keys = Keys;
  static constexpr bool placed = Placed, by_rows = false;
};
// Of a call that can leave out rows, if Can.
template <class Scores, bool Can>
struct scores_by_rows : Scores {
  static constexpr bool by_rows = Can;
};

namespace rules {

template <class... Given>
using dropout_of = verdict<(sizeof...(Given) == 2), say::dropout,
                           say::expects_the_rate_then_the_seed_as_in_dropout_of_one_tenth_and_42>;
template <class Operation, std::size_t Count, class T>
struct list_for_a_mask_rule {
  using type = verdict<(sizeof(T) == 0), Operation,
                       say::a_braced_list_is_not_a_mask_so_write_lengths_as_a_tensor_of_int_with,
                       axes::batch<Count>>;
};
template <class Operation, std::size_t Count, class T>
using list_for_a_mask = typename list_for_a_mask_rule<Operation, Count, T>::type;

template <bool Ok>
using dropout_rate = verdict<Ok, say::dropout, struct needs_a_rate_from_0_to_1>;
template <class Rate, class Seed>
using dropout_rate_and_seed =
    verdict<one_is_invalid<Rate, Seed> ||
                (std::is_arithmetic_v<Rate> && std::is_convertible_v<Seed, std::uint64_t> &&
                 !std::is_floating_point_v<Seed>),
            say::dropout, say::expects_the_rate_then_the_seed_as_in_dropout_of_one_tenth_and_42>;

template <class Layer, class Name, class Has, class Axes, class Scores>
struct mask_broadcast_rule;
template <class Layer, class Name, class Has, class... Axes, class Scores>
struct mask_broadcast_rule<Layer, Name, Has, shape<Axes...>, Scores> {
  using scores = typename Scores::layout;
  template <class Axis>
  static constexpr bool fits =
      scores::template has<typename Axis::family> &&
      (Axis::size == 1 || Axis::size == scores::template size_of<typename Axis::family>);
  using type = first_error<verdict<fits<Axes>, Layer, Name, Has, Axes, say::but_the_scores_have,
                                   typename Scores::axes>...,
                           accepted>;
};
template <class Layer, class Name, class Has, class X, class Scores>
using broadcasts_to =
    typename mask_broadcast_rule<Layer, Name, Has, typename layout_of<X>::axes, Scores>::type;

// valid_lens: any of the axes batch, heads, query.
template <class Layer, class X, class Scores>
using length_mask = first_error<
    verdict<!layout_of<X>::template has<key_family>, Layer, say::valid_lens,
            struct count_keys_and_cannot_have_the_axis, axis_of<layout_of<X>, key_family>>,
    broadcasts_to<Layer, say::valid_lens, say::have, X, Scores>>;

// Lengths by batch. Axes: those of X.
template <class Layer, class Name, class Axes>
struct by_batch_rule;
template <class Layer, class Name, class... Axes>
struct by_batch_rule<Layer, Name, shape<Axes...>> {
  using type = first_error<
      verdict<Axes::size == 1 || std::is_same_v<typename Axes::family, batch_family>, Layer, Name,
              say::needs_one_length_per_sequence, say::which_cannot_have_the_axis, Axes>...,
      accepted>;
};
template <class Layer, class X, class Scores>
using row_mask =
    first_error<verdict<Scores::by_rows, Layer,
                        say::valid_rows_is_for_multi_head_attention_and_blocks_so_pass_lengths>,
                verdict<holds_integers<X>, Layer, say::valid_rows,
                        say::needs_integers_but_these_have_type, element<typename X::value_type>>,
                typename by_batch_rule<Layer, say::valid_rows, typename layout_of<X>::axes>::type,
                broadcasts_to<Layer, say::valid_rows, say::have, X, Scores>>;
template <class Layer, bool Ok>
using observes_all_rows =
    verdict<Ok, Layer, say::valid_rows_leaves_out_rows_that_observe_writes_so_pass_lengths>;

template <class Layer, class Name, class X, class Scores>
using flag_mask =
    first_error<verdict<std::is_same_v<typename X::value_type, bool>, Layer, Name,
                        struct must_be_bool_but_has_type, element<typename X::value_type>>,
                broadcasts_to<Layer, Name, say::has, X, Scores>>;

template <bool Ok>
using mask_of_an_argument =
    verdict<Ok, say::formula,
            say::keep_mask_needs_an_argument_of_bool_so_write_hide_of_scores_for_conditions>;
// Name: a mask that can't have a node.
template <class Name, bool Ok>
using no_mask_of_nodes =
    verdict<Ok, say::formula, Name,
            say::cannot_be_made_from_arguments_so_pass_the_mask_as_an_argument>;
template <class Name, class Takes, class X>
struct mask_of_rule {
  using type = arguments<Name, Takes, X>;
};
template <class Name, class Takes, of_a_formula X>
struct mask_of_rule<Name, Takes, X> {
  using type =
      std::conditional_t<traced<X>, no_mask_of_nodes<Name, false>, mask_of_an_argument<false>>;
};
template <class Takes, of_a_formula X>
struct mask_of_rule<say::score_bias, Takes, X> {
  using type = verdict<never<X>, say::score_bias, Takes>;
};
template <class Name, class Takes, class X>
using mask_of = typename mask_of_rule<Name, Takes, X>::type;

template <class Layer, class X, class Scores>
using bias_mask =
    first_error<verdict<std::is_same_v<typename X::value_type, typename Scores::value_type>, Layer,
                        say::score_bias, say::has_type, element<typename X::value_type>,
                        say::but_the_scores_have_type, element<typename Scores::value_type>>,
                broadcasts_to<Layer, say::score_bias, say::has, X, Scores>>;

template <class F, class T>
inline constexpr bool generates =
    requires(const F& f) { requires std::is_same_v<decltype(f(npos, npos, npos, npos)), T>; };
template <class Layer, class F, class Scores>
using generated_bias = verdict<generates<F, typename Scores::value_type>, Layer, say::score_bias,
                               say::needs_a_function_of_batch_head_query_and_key_that_returns,
                               element<typename Scores::value_type>>;

// A tensor of bool must state the meaning of true; any other is read as lengths.
template <class Layer, class X>
using unclear_mask = first_error<
    verdict<!std::is_same_v<typename X::value_type, bool>, Layer,
            say::a_bool_mask_is_ambiguous_so_write_keep_mask_or_drop_mask_for_what_true_does>,
    verdict<is_length<typename X::value_type>, Layer, say::valid_lens,
            say::must_be_integers_but_have_type, element<typename X::value_type>,
            say::so_pass_numbers_to_add_to_the_scores_as, say::score_bias>>;

// A mask by position needs to know where the queries are among the keys.
template <class Layer, class Name, bool Said, class Scores>
using positions_known =
    verdict<Said || Scores::placed || Scores::queries == Scores::keys, Layer, Name,
            struct is_ambiguous_because, axes::query<Scores::queries>, say::and_,
            axes::key<Scores::keys>, say::differ_so_choose_top_left_bottom_right_or_at>;

// Positions of queries, as a tensor of integers. ByQuery: may each query have its own?
template <class Layer, class Name, class X, bool ByQuery, class Scores>
using positions_in_memory = first_error<
    verdict<holds_integers<X>, Layer, Name, say::needs_integers_but_these_have_type,
            element<typename X::value_type>>,
    verdict<!layout_of<X>::template has<key_family>, Layer, Name, struct needs_positions_of_queries,
            say::which_cannot_have_the_axis, axis_of<layout_of<X>, key_family>>,
    verdict<ByQuery || layout_of<X>::template size_of<query_family> <= 1, Layer, Name,
            struct needs_the_position_of_the_first_query, say::which_cannot_have_the_axis,
            axis_of<layout_of<X>, query_family>>,
    broadcasts_to<Layer, Name, say::has, X, Scores>>;

// The lengths that put the last query at the last key.
template <class Layer, class Name, class X, class Scores>
using last_keys_in_memory =
    first_error<verdict<holds_integers<X>, Layer, Name, say::needs_integers_but_these_have_type,
                        element<typename X::value_type>>,
                verdict<!layout_of<X>::template has<key_family>, Layer, Name,
                        say::needs_one_length_per_sequence, say::which_cannot_have_the_axis,
                        axis_of<layout_of<X>, key_family>>,
                verdict<layout_of<X>::template size_of<query_family> <= 1, Layer, Name,
                        say::needs_one_length_per_sequence, say::which_cannot_have_the_axis,
                        axis_of<layout_of<X>, query_family>>,
                broadcasts_to<Layer, Name, say::has, X, Scores>>;

// Lengths with a mask that puts the last query at the last key are ambiguous: PyTorch means all
// keys, FlashAttention and ONNX the sequence's. Word: the name of that mask; void if there is none.
template <class Word>
inline constexpr bool is_window_word = std::is_same_v<Word, say::sliding_window_bottom_right>;
template <class Layer, bool HasLength, bool CountsRows, class Word>
using one_last_key = verdict<
    !HasLength || std::is_void_v<Word>, Layer,
    std::conditional_t<CountsRows, say::valid_rows, say::valid_lens>, say::and_, Word,
    std::conditional_t<
        is_window_word<Word>,
        say::are_ambiguous_so_write_sliding_window_bottom_right_of_lens_or_sliding_window_at,
        say::are_ambiguous_so_write_causal_bottom_right_of_lens_or_causal_at>>;

template <bool Ok>
using put_together_by_and =
    verdict<Ok, say::mask, say::masks_combine_only_with_masks_by_and_or_plus>;
// Other arguments of causal_at and causal_bottom_right.
template <class Name, class... P>
struct position_rule {
  using type = verdict<one_is_invalid<P...>, Name, say::expects_an_integer_or_a_tensor_of_integers>;
};
template <class Name, class P>
struct position_rule<Name, P> {
  using type = arguments<Name, say::expects_an_integer_or_a_tensor_of_integers, P>;
};
template <class Name, class... P>
using position_of = typename position_rule<Name, P...>::type;
template <class Name, class X>
using lengths_of = verdict<one_is_invalid<X>, Name, struct expects_a_tensor_of_lengths>;
// X: the arguments of a mask by position that is called.
template <bool Ok, class... X>
using no_function =
    verdict<Ok || one_is_invalid<X...>, say::mask,
            say::masks_by_position_are_values_so_do_not_call_them_but_write_lens_and_causal>;
template <bool Ok>
using combined_by_assignment = verdict<Ok, say::mask, say::masks_are_immutable_so_write_auto_both>;

template <class Layer, class What, bool Twice>
using given_once = verdict<!Twice, Layer, What, say::is_given_twice>;

template <bool Ok>
using observed_with_a_name =
    verdict<Ok, say::observe, say::the_memory_is_a_temporary_so_store_it_in_a_variable>;

// Memory for observed numbers: the axes of the scores in any order, those of size 1 optional.
template <class Layer, class Layout, class Axes, class Scores>
struct observed_axes_rule;
template <class Layer, class Layout, class... Axes, class Scores>
struct observed_axes_rule<Layer, Layout, shape<Axes...>, Scores> {
  using type =
      first_error<verdict<Layout::template size_of<typename Axes::family> == Axes::size ||
                              (Axes::size == 1 && !Layout::template has<typename Axes::family>),
                          Layer, say::observe, say::has, typename Layout::axes,
                          say::but_the_scores_have, typename Scores::axes>...>;
};
template <class Layer, class X, class Scores>
using observed = first_error<
    verdict<std::is_same_v<typename X::value_type, typename Scores::value_type>, Layer,
            say::observe, say::has_type, element<typename X::value_type>,
            say::but_the_scores_have_type, element<typename Scores::value_type>>,
    verdict<lies_apart<layout_of<X>>(), Layer, say::several_elements_of, say::observe,
            say::share_one_memory_location>,
    verdict<!std::is_const_v<typename X::element_type>, Layer, say::observe, say::is_const>,
    broadcasts_to<Layer, say::observe, say::has, X, Scores>,
    typename observed_axes_rule<Layer, layout_of<X>, typename Scores::axes, Scores>::type>;

// Mask: the result of detail::mask_of for the argument.
template <class Layer, class Mask, class Scores>
using mask_fits = typename Mask::template rule<Layer, Scores>;

}  // namespace rules
}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
