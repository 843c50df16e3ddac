// SPDX-License-Identifier: BSL-1.0
// A call of step of a formula's cache: the refusals, the types of the cache, its run.
#pragma once

#include <umbel/config.hpp>
#include <umbel/decode/step_of_formula.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct the_arguments_do_not_match_called_with_in_the_type_of_the_cache;
struct a_function;
struct a_layer;
struct the_formula_uses_the_size_of_token_which_differs_in_a_step;
}  // namespace say
UMBEL_SAYS(x_times_w, "x * w");
UMBEL_SAYS(counts_keys_whose_number_grows_with_each_step,
           "counts keys, whose number grows with each step");
UMBEL_SAYS(runs_along_the_sequence_but_a_step_has_only_the_new_positions,
           "runs along the sequence, but a step has only the new positions");
UMBEL_SAYS(cannot_read_the_keys_of_a_cache_so_use_arithmetic_contract_softmax_sum_max_or_min,
           "cannot read the keys of a cache; use arithmetic, contract, softmax, sum, max or min");
UMBEL_SAYS(may_see_later_keys_so_hide_them,
           "may see later keys; write hide(scores, position<key> > position<query>), or set their "
           "weights to 0");
UMBEL_SAYS(
    may_see_other_positions_so_write_out_its_operations,
    "may see other positions of the sequence; write out its operations, or declare a cache for it");
UMBEL_SAYS(reads_a_part_of_the_sequence_or_several_axes_as_one,
           "reads a part of the sequence, or merges it with another axis");
UMBEL_SAYS(pads_other_than_by_zeros_before_or_reads_in_steps_so_write_causal_windows,
           "pads the sequence other than by zeros before it, or reads it in steps; write x | "
           "padded<token, "
           "before<2>> | windows<token, kernel_size<3>>");
UMBEL_SAYS(needs_the_types_of_the_arguments_so_add_called_with,
           "needs the types of the arguments; add called_with<tensor<float, token<1>, hidden<64>>, "
           "weights>");
UMBEL_SAYS(step_expects_out_and_the_formula_and_its_arguments_then_a_workspace,
           "step expects out, the formula and its arguments; then a workspace");
UMBEL_SAYS(the_formula_returns_an_axis_key_which_grows_with_each_step,
           "the formula returns an axis key, which grows with each step");
UMBEL_SAYS(a_cache_of_a_formula_has_no_append_or_attend_so_use_step,
           "a cache of a formula has no append or attend; use step");

namespace formulas {
// The operation that a sentence names.
template <word W, reduction By>
constexpr auto word_of_sentence() {
  using std::type_identity;
  if constexpr (W == word::contract)
    return type_identity<say::contract>{};
  else if constexpr (W == word::project)
    return type_identity<say::x_times_w>{};
  else if constexpr (W == word::softmax)
    return type_identity<say::softmax>{};
  else if constexpr (W == word::log_softmax)
    return type_identity<say::log_softmax>{};
  else if constexpr (W == word::concat)
    return type_identity<say::concat>{};
  else if constexpr (W == word::gather)
    return type_identity<say::gather>{};
  else if constexpr (W == word::rotate)
    return type_identity<say::rotate>{};
  else if constexpr (W == word::layer)
    return type_identity<say::a_layer>{};
  else if constexpr (W == word::call)
    return type_identity<say::a_function>{};
  else if constexpr (W != word::reduce)
    return type_identity<say::elementwise>{};
  else if constexpr (By == reduction::sum)
    return type_identity<say::sum>{};
  else if constexpr (By == reduction::mean)
    return type_identity<say::mean>{};
  else if constexpr (By == reduction::max)
    return type_identity<say::max>{};
  else if constexpr (By == reduction::product)
    return type_identity<say::product>{};
  else
    return type_identity<say::min>{};
}
}  // namespace formulas

namespace rules {
using calls_of_formula =
    calls_of_steps<say::step_expects_out_and_the_formula_and_its_arguments_then_a_workspace,
                   say::a_cache_of_a_formula_has_no_append_or_attend_so_use_step>;
template <formulas::not_by_position Why, class Word>
struct by_position_rule {
  using type = accepted;
};
#define UMBEL_REFUSES(why, ...)                                           \
  template <class Word>                                                   \
  struct by_position_rule<formulas::not_by_position::why, Word> {         \
    using type = verdict<never<Word>, say::key_value_cache, __VA_ARGS__>; \
  }
UMBEL_REFUSES(keeps_nothing, struct the_formula_has_no_keys_to_store_so_rename_its_sequence_to_key);
UMBEL_REFUSES(mixes, Word, say::runs_along_the_sequence_but_a_step_has_only_the_new_positions);
UMBEL_REFUSES(part_of_rows, Word, say::reads_a_part_of_the_sequence_or_several_axes_as_one);
UMBEL_REFUSES(padding,
              say::pads_other_than_by_zeros_before_or_reads_in_steps_so_write_causal_windows);
UMBEL_REFUSES(sees_later, Word, say::may_see_later_keys_so_hide_them);
UMBEL_REFUSES(counts, Word, say::counts_keys_whose_number_grows_with_each_step);
UMBEL_REFUSES(several_rows, Word, struct has_the_sequence_on_two_axes_and_neither_is_key);
UMBEL_REFUSES(layer, Word, say::may_see_other_positions_so_write_out_its_operations);
UMBEL_REFUSES(
    function_of_scores, Word,
    say::cannot_read_the_keys_of_a_cache_so_use_arithmetic_contract_softmax_sum_max_or_min);
UMBEL_REFUSES(gives_keys, say::the_formula_returns_an_axis_key_which_grows_with_each_step);
#undef UMBEL_REFUSES

template <bool InIntegers, class F, std::size_t Capacity, class... Argument>
struct formula_to_decode_rule {
  using call = formulas::call_of_sequence<F, Capacity, Argument...>;
  using agree = typename formulas::arguments_agree<typename call::T, 1, Argument...>::type;
  // An invalid result has been reported.
  template <class Result, class Call>
  struct of_result {
    using type =
        first_error<agree, gives<Result>, verdict<false, say::key_value_cache, no_axis<1>>>;
  };
  template <class Result, class Call>
    requires formulas::gives_nodes<F, Result>
  struct of_result<Result, Call> {
    using type = first_error<agree, has_graph<Call::nodes>>;
  };
  using type = typename of_result<typename call::result, call>::type;
};
template <bool InIntegers, class F, std::size_t Capacity, class... Argument>
  requires(formulas::gives_nodes<
               F, typename formulas::call_of_sequence<F, Capacity, Argument...>::result> &&
           formulas::arguments_agree<typename formulas::computed_type<Argument...>::type, 1,
                                     Argument...>::type::ok &&
           has_graph<formulas::call_of_sequence<F, Capacity, Argument...>::nodes>::ok)
struct formula_to_decode_rule<InIntegers, F, Capacity, Argument...> {
  using whole = formulas::whole_sequence<InIntegers, F, Capacity, Argument...>;
  static constexpr const auto& first_wrong = whole::read.at(whole::read.where);
  using type = typename by_position_rule<
      whole::read.why, typename decltype(formulas::word_of_sentence<
                                         first_wrong.what, first_wrong.reduces_by>())::type>::type;
};

template <class Keys, class... Options>
using options_of_formula_cache =
    first_error<in_place<say::key_value_cache, Keys, axes::key>, well_formed<Keys>,
                options<say::key_value_cache, option_kinds<option::called_with>, Options...>,
                verdict<sizeof...(Options) != 0, say::key_value_cache,
                        say::needs_the_types_of_the_arguments_so_add_called_with>>;
template <class... X>
using called_with_a_sequence =
    verdict<formulas::new_positions<X...> != 0, say::key_value_cache,
            struct the_first_tensor_argument_of_the_formula_has_no_axis_token>;
}  // namespace rules

namespace formulas {
struct not_decoded {
  using rule = std::type_identity<accepted>;
  template <std::size_t>
  struct result {};
};
// A formula as each step calls it. rule: can it be decoded?
template <bool InIntegers, class F, std::size_t Capacity, class Arguments>
struct decoded;
template <bool InIntegers, class F, std::size_t Capacity, class... X>
  requires(rules::called_with_a_sequence<X...>::ok)
struct decoded<InIntegers, F, Capacity, list<X...>> {
  static constexpr std::size_t given = new_positions<X...>;
  template <std::size_t Rows, std::size_t Keys, class Y>
  using resized = typename resized_argument<typename argument_of<Y>::type,
                                            other_sizes{given, Rows, Capacity, Keys}>::type;
  template <std::size_t Rows, std::size_t Keys>
  using arguments = list<resized<Rows, Keys, X>...>;
  using whole = whole_sequence<InIntegers, F, Capacity, resized<Capacity, Capacity, X>...>;
  using rule =
      rules::formula_to_decode_rule<InIntegers, F, Capacity, resized<Capacity, Capacity, X>...>;
  using T = typename computed_type<typename argument_of<X>::type...>::type;
  // With Rows new positions.
  template <std::size_t Rows>
  using traced_step =
      formulas::traced_step<F, whole, Rows, arguments<Rows, Rows>, resized<Rows, Capacity, X>...>;
  template <std::size_t Rows>
  using step = scheduled_step<F, whole, Rows, arguments<Rows, Rows>, resized<Rows, Capacity, X>...>;
  template <std::size_t Rows>
  using result = decltype(std::declval<const F&>()(
      formulas::traced_argument(static_cast<tracer<T, false, false, Capacity>*>(nullptr),
                                argument_number<0>{}, resized<Rows, Rows, X>{})...));
  template <std::size_t Rows>
  using run =
      run_by<step<Rows>, row_major_layouts<result<Rows>>, true, resized<Rows, Capacity, X>...>;
};
template <bool InIntegers, class F, std::size_t Capacity, class... X>
  requires(!rules::called_with_a_sequence<X...>::ok)
struct decoded<InIntegers, F, Capacity, list<X...>> : not_decoded {
  using rule = std::type_identity<rules::called_with_a_sequence<X...>>;
};
template <bool Fits, bool InIntegers, class F, std::size_t Capacity, class Arguments>
struct decoded_if {
  using type = decoded<InIntegers, F, Capacity, Arguments>;
};
template <bool InIntegers, class F, std::size_t Capacity, class Arguments>
struct decoded_if<false, InIntegers, F, Capacity, Arguments> {
  using type = not_decoded;
};
struct no_kept_values {};
template <bool Fits, class Decoded>
struct sizes_of_cache {
  using T = float;
  using kept_values = no_kept_values;
  template <std::size_t>
  using workspace = workspace_base;
};
template <class Decoded>
struct sizes_of_cache<true, Decoded> {
  using T = typename Decoded::T;
  template <std::size_t Positions>
  using workspace = run_workspace<typename Decoded::template run<Positions>>;
  struct kept_values {
    // Unused keys must be finite numbers: 0, so that a weight of 0 adds nothing.
    constexpr void forget(std::size_t from, std::size_t size) noexcept {
      for (const auto& memory : Decoded::whole::memories.of)
        for (std::size_t outer = 0; outer < memory.outer; ++outer)
          for (std::size_t i = from * memory.key_step; i < size * memory.key_step; ++i)
            values[memory.place + outer * memory.outer_step + i] = 0;
    }
    alignas(64) T values[Decoded::whole::read.room()]{};
  };
};
// Out must fit results with these layouts: row-major.
template <class T, class Layouts, class Out, class Members = typename members_of<Out>::type>
struct step_outs_fit;
template <class T, class... Layout, class Out, class... Member>
struct step_outs_fit<T, list<Layout...>, Out, list<Member...>> {
  using type = rules::one_out_for_each<sizeof...(Layout), sizeof...(Member)>;
};
template <class T, class Layout, class Out, class Member>
struct step_outs_fit<T, list<Layout>, Out, list<Member>> {
  using type = rules::row_major_out<say::key_value_cache, Out, T, Layout>;
};
template <class T, class... Layout, several_results Out, class... Member>
  requires(sizeof...(Layout) == sizeof...(Member))
struct step_outs_fit<T, list<Layout...>, Out, list<Member...>> {
  using type = first_error<
      rules::row_major_out<say::key_value_cache, out_member<Out, Member>, T, Layout>...>;
};

template <class F, class Keys, class... Options>
struct types_of_cache {
  using options_verdict = rules::options_of_formula_cache<Keys, Options...>;
  static constexpr std::size_t capacity = options_verdict::ok ? axis_or_none<Keys>::size : 1;
  using keys = Keys;
  using arguments = option_or<option::called_with, called_with<>, Options...>;
  using decoded = typename decoded_if<options_verdict::ok, false, F, capacity,
                                      typename arguments_of_option<arguments>::type>::type;
  using verdict = first_error<options_verdict, typename decoded::rule::type>;
  using sizes = sizes_of_cache<verdict::ok, decoded>;
  using layer = formula<F>;
  template <class Given>
  static constexpr bool is_declared_for = std::is_same_v<Given, formula<F>>;

  // The formula as a call with arguments X has it: decoded, if X are those of the cache's type.
  template <class... X>
  using decoded_by = formulas::decoded<false, F, capacity, list<X...>>;
  template <class Called>
  static constexpr bool is_declared_with =
      std::is_same_v<typename Called::whole, typename decoded::whole>;
  template <class Called>
  using other_arguments =
      detail::verdict<never<Called>, say::key_value_cache,
                      say::the_arguments_do_not_match_called_with_in_the_type_of_the_cache>;
  template <class... X>
  using has_positions = rules::called_with_a_sequence<X...>;
  template <class Called, std::size_t Rows, class Out>
  using outs_fit =
      typename step_outs_fit<typename sizes::T,
                             row_major_layouts<typename Called::template result<Rows>>, Out>::type;
  template <class Called, std::size_t Rows, class Out, class Scratch, class... X>
  static constexpr void run(typename sizes::kept_values& kept, std::size_t position,
                            const formula<F>&, Out& out, Scratch& scratch, const X&... x) noexcept {
    formula_call<false, F, X...>::template step<typename Called::template run<Rows>,
                                                binder<typename sizes::T, false, capacity>,
                                                typename Called::template arguments<Rows, Rows>>(
        {{}, kept.values, position}, out, scratch.memory, x...);
  }
};
// How to decode Formula: `types` of its key_value_cache.
template <class Formula>
struct cache_of;
template <class F>
struct cache_of<formula<F>> {
  using calls = rules::calls_of_formula;
  template <class Keys, class... Options>
  using types = types_of_cache<F, Keys, Options...>;
};

// A call of step: Types are those of the cache.
template <class Types, class Out, class Given, class Work, class... X>
struct call_of_cache {
  static constexpr std::size_t count = new_positions<X...>;
  using decoding = typename Types::template decoded_by<X...>;
  using declared_for =
      detail::verdict<Types::template is_declared_for<std::remove_cv_t<Given>>,
                      say::key_value_cache,
                      say::the_layer_is_not_the_one_that_the_cache_was_declared_for>;
  using has_positions = typename Types::template has_positions<X...>;
  template <bool Ok, class Decoded>
  struct rest {
    using type = accepted;
    static constexpr bool is_traced = false;
  };
  template <class Decoded>
  struct rest<true, Decoded> {
    static constexpr bool is_traced = false;
    using type = typename Types::template other_arguments<Decoded>;
  };
  template <class Decoded>
    requires(Types::template is_declared_with<Decoded>)
  struct rest<true, Decoded> {
    using new_axis = axes::token<count>;
    using room = rules::fits_into_cache<new_axis, typename Types::keys, Types::capacity>;
    template <bool HasRoom, class Of>
    struct of_step {
      using type = room;
      static constexpr bool is_traced = false;
    };
    // The formula has refused these sizes.
    template <class Of>
      requires(one_is_invalid<typename Of::template result<count>>)
    struct of_step<true, Of> : of_step<false, Of> {};
    template <class Of>
      requires(!one_is_invalid<typename Of::template result<count>>)
    struct of_step<true, Of> {
      static constexpr bool is_traced = true;
      using type = first_error<
          detail::verdict<Of::template traced_step<count>::is_the_same, say::key_value_cache,
                          say::the_formula_uses_the_size_of_token_which_differs_in_a_step>,
          typename Types::template outs_fit<Of, count, Out>,
          rules::scratch_fits<say::key_value_cache, std::remove_reference_t<Work>,
                              typename Types::sizes::template workspace<count>, shape<new_axis>>>;
    };
    using type = typename of_step<room::ok, Decoded>::type;
    static constexpr bool is_traced = of_step<room::ok, Decoded>::is_traced;
  };
  using last = rest<declared_for::ok && has_positions::ok, decoding>;
  using verdict = first_error<declared_for, has_positions, typename last::type>;
};
}  // namespace formulas
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
