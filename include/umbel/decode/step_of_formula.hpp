// SPDX-License-Identifier: BSL-1.0
// A formula as each step of a cache calls it: arguments, the schedule of a step, the refusals.
#pragma once

#include <umbel/config.hpp>
#include <umbel/decode/cache.hpp>
#include <umbel/formula/formula.hpp>
#include <umbel/formula/next_positions.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace option {
struct called_with;
}  // namespace option

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
}  // namespace detail

// Option of a formula's cache: the types of a step's arguments, the new positions first. Their
// number of positions doesn't matter.
template <class... X>
struct called_with {
  using kind = detail::option::called_with;
};

namespace detail {
template <class>
struct function_of_formula;
template <class F>
struct function_of_formula<formula<F>> {
  using type = F;
};
template <class F>
inline constexpr bool decodes_as_formula<formula<F>> = true;
template <class F>
inline constexpr bool decodes_as_formula<const formula<F>> = true;

namespace formulas {
template <class>
struct arguments_of_option;
template <class... X>
struct arguments_of_option<called_with<X...>> {
  using type = list<std::remove_cvref_t<X>...>;
};

// The number of new positions in a call: those of its first tensor.
template <class... X>
inline constexpr std::size_t new_positions = 0;
template <class First, class... Rest>
inline constexpr std::size_t new_positions<First, Rest...> = new_positions<Rest...>;
template <tensor_like First, class... Rest>
inline constexpr std::size_t new_positions<First, Rest...> =
    layout_of<First>::template size_of<axis_family<axes::token>>;

// The sizes of an argument: `rows` instead of `given`, `keys` instead of `capacity`.
struct other_sizes {
  std::size_t given, rows, capacity, keys;
  template <class Axis>
  constexpr std::size_t of() const noexcept {
    using family = typename Axis::family;
    if (std::is_same_v<family, axis_family<axes::key>>)
      return Axis::size == capacity ? keys : Axis::size;
    const bool is_row = std::is_same_v<family, axis_family<axes::token>> ||
                        std::is_same_v<family, axis_family<axes::query>>;
    return is_row && Axis::size == given ? rows : Axis::size;
  }
};
template <other_sizes Sizes, class Axes>
struct resized_axes;
template <other_sizes Sizes, class... Axes>
struct resized_axes<Sizes, shape<Axes...>> {
  static constexpr bool same = ((Sizes.of<Axes>() == Axes::size) && ...);
  using type = layout<typename Axes::family::template sized<Sizes.of<Axes>()>...>;
};
template <class Argument, other_sizes Sizes>
struct resized_argument {
  using type = Argument;
};
template <class E, class Layout, other_sizes Sizes>
struct resized_argument<tensor_argument<E, Layout>, Sizes> {
  using sized = resized_axes<Sizes, typename Layout::axes>;
  using type = tensor_argument<E, std::conditional_t<sized::same, Layout, typename sized::type>>;
};
template <class Argument>
struct axes_of_argument {
  static constexpr axis_list value{};
};
template <class E, class Layout>
struct axes_of_argument<tensor_argument<E, Layout>> {
  static constexpr axis_list value = axes_of_layout<Layout>();
};

// A call with the whole sequence. Argument: for Capacity positions. (Apart from its graph, which a
// refused call does not have.)
template <class F, std::size_t Capacity, class... Argument>
struct call_of_sequence {
  using T = typename computed_type<Argument...>::type;
  using recorder = tracer<T, false, false, Capacity>;
  using result = decltype(std::declval<const F&>()(formulas::traced_argument(
      static_cast<recorder*>(nullptr), argument_number<0>{}, Argument{})...));
  static constexpr std::size_t nodes = nodes_of<F, recorder, Argument...>;
};
// Its graph, and the values that it keeps.
template <class F, std::size_t Capacity, class... Argument>
struct whole_sequence : call_of_sequence<F, Capacity, Argument...> {
  using recorder = typename call_of_sequence<F, Capacity, Argument...>::recorder;
  static constexpr auto traced = graph_of<F, recorder, true, Argument...>();
  static constexpr auto read =
      read_positions(traced, Capacity, family_id<axis_family<axes::token>>,
                     family_id<axis_family<axes::query>>, family_id<axis_family<axes::key>>);
  static constexpr std::size_t count_of_kept = [] {
    std::size_t count = 0;
    for (int n = 0; n < read.g.count; ++n) count += read.keeps[n];
    return count;
  }();
  struct memories_of_kept {
    kept_memory of[count_of_kept + 1];
  };
  static constexpr memories_of_kept memories = [] {
    memories_of_kept found{};
    std::size_t count = 0;
    for (int n = 0; n < read.g.count; ++n)
      if (read.keeps[n]) found.of[count++] = read.memory_of(n);
    return found;
  }();
};

// A step of Positions positions. Whole: the same formula and arguments for the whole sequence.
// Traced: arguments with as many keys as new positions; Argument: as they are.
template <class F, class Whole, std::size_t Positions, class Traced, class... Argument>
struct scheduled_step;
template <class F, class Whole, std::size_t Positions, class... Traced, class... Argument>
struct scheduled_step<F, Whole, Positions, list<Traced...>, Argument...> {
  using T = typename Whole::T;
  static constexpr std::size_t positions = Positions;
  static constexpr auto traced = graph_of<F, typename Whole::recorder, true, Traced...>();
  static constexpr std::size_t nodes = sizeof(traced.nodes) / sizeof(traced.nodes[0]);
  static constexpr bool is_the_same = same_words(Whole::traced, traced);
  static constexpr axis_list actual[] = {axes_of_argument<Argument>::value...};
  static constexpr auto roles =
      make_step<nodes_of_step(Whole::read)>(Whole::read, Positions, traced, actual);
  static constexpr sequence_axis<nodes_of_step(Whole::read)> sequences{};
  static constexpr auto value = make_schedule(roles.g, true, true);
  static_assert(!is_the_same || same_attentions(make_schedule(Whole::read.g, true, true), value),
                "umbel: key_value_cache: a step would round otherwise than the whole pass");

  // The elements that the step of that root covers.
  static constexpr role role_in(int root, unsigned long long family) {
    const node_of_graph<T>& node = value.at(root);
    return roles.role_of(node.what == word::reduce ? node.from[0].node : root, family);
  }
  template <unsigned long long Family, int Root>
  static constexpr bool is_new =
      role_in(Root, Family) == role::row || role_in(Root, Family) == role::fresh;
  // Where append N goes.
  template <int N>
  static constexpr std::size_t place_of = roles.place[N];
  template <unsigned long long Family, int Root>
  static constexpr bool is_kept = role_in(Root, Family) == role::kept;

  T* kept;
  std::size_t position;
};

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

template <class F, std::size_t Capacity, class... Argument>
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
template <class F, std::size_t Capacity, class... Argument>
  requires(formulas::gives_nodes<
               F, typename formulas::call_of_sequence<F, Capacity, Argument...>::result> &&
           formulas::arguments_agree<typename formulas::computed_type<Argument...>::type, 1,
                                     Argument...>::type::ok &&
           has_graph<formulas::call_of_sequence<F, Capacity, Argument...>::nodes>::ok)
struct formula_to_decode_rule<F, Capacity, Argument...> {
  using whole = formulas::whole_sequence<F, Capacity, Argument...>;
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
// A formula as each step calls it. rule: can it be decoded?
template <class F, std::size_t Capacity, class Arguments>
struct decoded;
template <class F, std::size_t Capacity, class... X>
  requires(rules::called_with_a_sequence<X...>::ok)
struct decoded<F, Capacity, list<X...>> {
  static constexpr std::size_t given = new_positions<X...>;
  template <std::size_t Rows, std::size_t Keys, class Y>
  using resized = typename resized_argument<typename argument_of<Y>::type,
                                            other_sizes{given, Rows, Capacity, Keys}>::type;
  template <std::size_t Rows, std::size_t Keys>
  using arguments = list<resized<Rows, Keys, X>...>;
  using whole = whole_sequence<F, Capacity, resized<Capacity, Capacity, X>...>;
  using rule = rules::formula_to_decode_rule<F, Capacity, resized<Capacity, Capacity, X>...>;
  using T = typename computed_type<typename argument_of<X>::type...>::type;
  // With Rows new positions.
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
template <class F, std::size_t Capacity, class... X>
  requires(!rules::called_with_a_sequence<X...>::ok)
struct decoded<F, Capacity, list<X...>> {
  using rule = std::type_identity<rules::called_with_a_sequence<X...>>;
};

struct not_decoded {
  using rule = std::type_identity<accepted>;
};
template <bool Fits, class F, std::size_t Capacity, class Arguments>
struct decoded_if {
  using type = decoded<F, Capacity, Arguments>;
};
template <class F, std::size_t Capacity, class Arguments>
struct decoded_if<false, F, Capacity, Arguments> {
  using type = not_decoded;
};
template <bool Fits, class Decoded>
struct sizes_of_cache {
  using T = float;
  static constexpr std::size_t room = 1;
  template <std::size_t>
  using workspace = workspace_base;
};
template <class Decoded>
struct sizes_of_cache<true, Decoded> {
  using T = typename Decoded::T;
  static constexpr std::size_t room = Decoded::whole::read.room();
  template <std::size_t Positions>
  using workspace = run_workspace<typename Decoded::template run<Positions>>;
};
template <class F, class Keys, class... Options>
struct types_of_cache {
  using options_verdict = rules::options_of_formula_cache<Keys, Options...>;
  static constexpr std::size_t capacity = options_verdict::ok ? axis_or_none<Keys>::size : 1;
  using arguments = option_or<option::called_with, called_with<>, Options...>;
  using decoded = typename decoded_if<options_verdict::ok, F, capacity,
                                      typename arguments_of_option<arguments>::type>::type;
  using verdict = first_error<options_verdict, typename decoded::rule::type>;
  using sizes = sizes_of_cache<verdict::ok, decoded>;
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
}  // namespace formulas
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
