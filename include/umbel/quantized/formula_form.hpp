// SPDX-License-Identifier: BSL-1.0
// A formula in integers for given arguments: its verdict, observation of its floats, packing and a
// call. formula.hpp makes a layer of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/quantized/formula_ranges.hpp>
#include <umbel/quantized/formula_steps.hpp>
#include <umbel/quantized/quantized.hpp>
#include <umbel/quantized/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(has_no_integer_form_in_a_formula_so_compute_it_in_floats_before_or_after,
           "has no integer form in a formula; compute it in floats, before or after");
UMBEL_SAYS(needs_places_computed_from_positions_numbers_and_arguments_of_integers,
           "needs places computed from positions, numbers and arguments of integers");
UMBEL_SAYS(conditions_must_be_on_positions_numbers_lengths_and_arguments_of_bool,
           "conditions must be on positions, numbers, lengths and arguments of bool");
UMBEL_SAYS(only_a_contraction_along_its_axis_can_read_a_softmax,
           "only a contraction along its axis can read a softmax");
UMBEL_SAYS(only_a_softmax_can_read_hidden_scores, "only a softmax can read hidden scores");
UMBEL_SAYS(positions_are_not_values_so_pass_them_as_a_tensor,
           "positions are not values, except in conditions; pass them as a tensor");
UMBEL_SAYS(bool_and_integers_are_not_values_so_use_them_in_conditions,
           "bool and integers are not values; use them in conditions");
UMBEL_SAYS(two_values_have_the_same_name, "two values have the same name");
UMBEL_SAYS(but_its_input_type_is, "but its input_type is");
UMBEL_SAYS(but_the_formula_in_integers_has, "but the formula in integers has");
UMBEL_SAYS(has_gaps_in_memory_so_pass_contiguous_of_x, "has gaps in memory; pass contiguous(x)");
namespace formulas {
template <word>
struct named_operation;
template <class F, class... X>
struct operation_called_by;
}  // namespace formulas
template <formulas::word W>
struct speak<formulas::named_operation<W>> {
  static constexpr void to(sentence_buffer& out) { out.put(formulas::name_of(W)); }
};
// A function, such as variance: its name is in a graph for readers.
template <class F, class... X>
struct speak<formulas::operation_called_by<F, X...>> {
  static constexpr void to(sentence_buffer& out) {
    using model = integers::integer_formula<F, X...>;
    constexpr auto graph = formulas::graph_of<F, formulas::tracer<typename model::T, true>, true,
                                              typename formulas::argument_of<X>::type...>();
    for (const char* c = graph.nodes[model::plan.refused].name; *c; ++c)
      out.put(*c == ' ' ? '_' : *c);
  }
};

namespace integers {

// A schedule with a step for each value, so that all can be seen.
template <class Model>
struct seen_apart {
  using T = typename Model::T;
  static constexpr const auto& traced = Model::graph;
  static constexpr std::size_t nodes = Model::schedule::nodes;
  static constexpr formulas::sequence_axis<nodes> sequences{};
  static constexpr auto value = [] {
    formulas::schedule<T, nodes> p{};
    p.g = traced;
    formulas::choose_steps(p, true);
    formulas::place_nodes(p);
    return p;
  }();
};

// The arguments of a call that are tensors, and those that are packed.
template <class... X>
struct arguments_by_kind {
  static constexpr bool are_tensors[sizeof...(X) + 1] = {tensor_like<X>..., false};
  static constexpr std::size_t tensors = (std::size_t{tensor_like<X>} + ... + 0);
  // Of argument `slot`: its number among those of its kind.
  static constexpr std::size_t number(std::size_t slot) noexcept {
    std::size_t before = 0;
    for (std::size_t i = 0; i < slot; ++i) before += are_tensors[i] == are_tensors[slot];
    return before;
  }
  // The slot of tensor number I.
  static constexpr std::size_t slot(std::size_t i) noexcept {
    std::size_t at = 0;
    while (!are_tensors[at] || number(at) != i) ++at;
    return at;
  }
};

// The tensors that a call returns, and references to their first elements. Traced: the result, or
// all of them.
template <class Model, class Traced, class Layouts,
          class Numbers = std::make_index_sequence<Model::results>>
struct results_in_integers;
template <class Model, class Traced, class... Layout, std::size_t... R>
struct results_in_integers<Model, Traced, formulas::list<Layout...>, std::index_sequence<R...>> {
  template <class... Tensor>
  struct returned {
    using type = typename formulas::members_of<Traced>::template of<Tensor...>;
  };
  template <class Tensor>
  struct returned<Tensor> {
    using type = Tensor;
  };
  template <std::size_t N>
  using value = typename Model::template integer<Model::template result<N>>;
  using type = typename returned<tensor_of<value<R>, Layout>...>::type;
  using firsts = formulas::references<std::index_sequence<R...>, value<R>...>;
  using first_axes = typename portable::nth_type<0, Layout...>::type::axes;
  template <class Out, class Members = typename formulas::members_of<Out>::type>
  struct fit {
    using type = rules::one_out_for_each<sizeof...(R), formulas::members_of<Out>::count>;
  };
  template <class Out, class... Member>
    requires(sizeof...(Member) == sizeof...(R))
  struct fit<Out, formulas::list<Member...>> {
    using type = first_error<rules::row_major_out<say::quantized, formulas::out_member<Out, Member>,
                                                  value<R>, Layout>...>;
  };
};

template <bool OfBlock, class F, class... X>
struct formula_form {
  using model = integer_formula_in<OfBlock, F, X...>;
  using T = typename model::T;
  using kinds = arguments_by_kind<X...>;
  using traced = std::remove_cvref_t<formulas::traced_result<F, X...>>;
  using layouts = formulas::row_major_layouts<traced>;
  using results = results_in_integers<model, traced, layouts>;
  static constexpr const auto& plan = model::plan;
  static constexpr word refused = plan.at(plan.refused == no_node ? 0 : plan.refused).what;
  static constexpr bool refuses(integer_refusal why) noexcept {
    return plan.refused != no_node && plan.why == why;
  }
  using verdict = first_error<
      detail::verdict<!refuses(integer_refusal::condition), say::quantized,
                      say::conditions_must_be_on_positions_numbers_lengths_and_arguments_of_bool>,
      detail::verdict<!refuses(integer_refusal::lookup), say::quantized, say::gather,
                      say::needs_places_computed_from_positions_numbers_and_arguments_of_integers>,
      detail::verdict<!refuses(integer_refusal::softmax), say::quantized,
                      say::only_a_contraction_along_its_axis_can_read_a_softmax>,
      detail::verdict<!refuses(integer_refusal::hide), say::quantized,
                      say::only_a_softmax_can_read_hidden_scores>,
      detail::verdict<!refuses(integer_refusal::position), say::quantized,
                      say::positions_are_not_values_so_pass_them_as_a_tensor>,
      detail::verdict<!refuses(integer_refusal::flag), say::quantized,
                      say::bool_and_integers_are_not_values_so_use_them_in_conditions>,
      detail::verdict<
          !refuses(integer_refusal::operation), say::quantized,
          std::conditional_t<refused == word::call, formulas::operation_called_by<F, X...>,
                             formulas::named_operation<refused>>,
          say::has_no_integer_form_in_a_formula_so_compute_it_in_floats_before_or_after>,
      detail::verdict<
          plan.too_long == no_node, say::quantized,
          formulas::named_operation<plan.at(plan.too_long == no_node ? 0 : plan.too_long).what>,
          say::lets_a_sum_of_8_bit_products_exceed_2_to_the_31,
          number<plan.most_products(plan.too_long)>, say::is_the_maximum>,
      detail::verdict<names_of_values<model>::are_unique, say::quantized,
                      say::two_values_have_the_same_name>>;

  // ---- floats
  using argument_types = formulas::list<typename formulas::argument_of<X>::type...>;
  using run = formulas::run_by<seen_apart<model>, layouts, true,
                               typename formulas::argument_of<X>::type...>;
  using calibration_workspace = formulas::run_workspace<run>;
  using float_result = typename formulas::given_rule<traced>::type;
  template <class Seen>
  static constexpr void calibrate(Seen& seen, float_result& y, calibration_workspace& work,
                                  const X&... x) noexcept {
    using call = formulas::formula_call<false, F, X...>;
    formulas::captured<T> parts[run::parts + 1]{};
    if constexpr (run::parts != 0)
      call::template bind<run, formulas::binder<T>>(parts, argument_types{}, x...);
    T numbers[sizeof...(X) + 1]{};
    std::size_t next = 0;
    const typename call::pointers arguments{
        call::template pointer_to<typename formulas::argument_of<X>::type>(x, numbers[next++])...};
    run all{{}, arguments, parts, {}, work.memory};
    formulas::with_members(y, all.writes_to());
    for_nodes([&]<int N>(std::integral_constant<int, N>) {
      if constexpr (plan.at(N).what == word::argument) see<N>(seen, all.template memory<N>());
    });
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      const auto take = [&]<std::size_t Step>(std::integral_constant<std::size_t, Step>) {
        all.template take<false, Step>(work.memory + run::value.workspace);
        constexpr int n = run::value.steps[Step].to;
        see<n>(seen, static_cast<const T*>(all.template written<n>()));
      };
      (take(std::integral_constant<std::size_t, S>{}), ...);
    }(typename run::steps{});
  }
  template <class Each>
  static constexpr void for_nodes(const Each& each) noexcept {
    [&]<int... N>(std::integer_sequence<int, N...>) {
      (each(std::integral_constant<int, N>{}), ...);
    }(typename model::sequence{});
  }
  template <int N, class Seen, class E>
  static constexpr void see(Seen& seen, const E* x) noexcept {
    if constexpr (plan.range[N] != no_node) {
      walk<model::template axes<N>, model::template axes<N>>::each(
          [&](std::size_t, std::size_t at) { widen(seen.values[plan.range[N]], x + at, 1); });
    }
  }

  // ---- integers. given: the arguments that are not tensors, then ranges; or the tensors.
  template <class... Given>
  using all_of = formulas::references<std::index_sequence_for<Given...>, const Given...>;
  template <std::size_t I, bool Tensor, class Otherwise, class All>
  static constexpr decltype(auto) argument(const All& all) noexcept {
    if constexpr (kinds::are_tensors[I] == Tensor)
      return (formulas::reference_at<kinds::number(I)>(all));
    else
      return Otherwise{};
  }
  template <class... Given, std::size_t... I>
  static constexpr void pack(typename model::numbers& to, std::index_sequence<I...> all,
                             const Given&... given) noexcept {
    const all_of<Given...> all_given{{given}...};
    pack_in_units(to, all, all_given, formulas::reference_at<sizeof...(Given) - 1>(all_given));
  }
  // unit: of the input and of the output, of a part of a block. Returns the unit of the result.
  template <class Given, class Seen, std::size_t... I, class... Unit>
  static constexpr double pack_in_units(typename model::numbers& to, std::index_sequence<I...>,
                                        const Given& given, const Seen& seen,
                                        Unit... unit) noexcept {
    formulas::captured<T> parts[run::parts + 1]{};
    if constexpr (run::parts != 0)
      formulas::formula_call<false, F, std::conditional_t<kinds::are_tensors[I], T, X>...>::
          template bind<run, formulas::binder<T>>(parts, argument_types{},
                                                  argument<I, false, T>(given)...);
    return model::pack_all(to, seen, parts, typename model::sequence{}, unit...);
  }
  template <std::size_t I, class... Given>
  using nth = typename portable::nth_type<(I < sizeof...(Given) ? I : 0), Given...>::type;
  template <class Ranges, class... Given>
  static constexpr bool packs_from() noexcept {
    if constexpr (sizeof...(Given) != sizeof...(X) - kinds::tensors + 1)
      return false;
    else
      return std::is_same_v<nth<sizeof...(Given) - 1, Given...>, Ranges> &&
             []<std::size_t... I>(std::index_sequence<I...>) {
               return (
                   (kinds::are_tensors[I] || std::is_same_v<nth<kinds::number(I), Given...>, X>) &&
                   ...);
             }(std::index_sequence_for<X...>{});
  }

  template <std::size_t I, class E>
  using element_of_call = typename model::template element<I, E>;
  template <std::size_t I, class Given, class Own>
  static constexpr bool is_argument() noexcept {
    if constexpr (!tensor_like<Own>)
      return true;
    else if constexpr (!tensor_like<Given>)
      return false;
    else
      return has_type<I, Given, layout_of<Own>, typename Own::value_type>;
  }
  // Tensor number I of a call; E: its elements in floats.
  template <std::size_t I, class Given, class Layout, class E>
  static constexpr bool has_type =
      std::is_same_v<layout_of<Given>, Layout> &&
      std::is_same_v<typename Given::value_type, element_of_call<I, E>>;
  // The mistake of tensor number I. Wanted: a tensor_argument, or an argument that is packed.
  template <class Operation, std::size_t I, class Given, class Wanted>
  struct tensor_rule {
    using type = accepted;
  };
  template <class Operation, std::size_t I, tensor_like Given, class E, class Layout>
  struct tensor_rule<Operation, I, Given, formulas::tensor_argument<E, Layout>> {
    using given = typename Given::value_type;
    using wanted = element_of_call<I, E>;
    using which = number<kinds::number(I) + 1>;
    using type = first_error<
        detail::verdict<std::is_same_v<given, wanted>, Operation, say::tensor, which, say::has_type,
                        detail::element<given>, say::but_its_input_type_is,
                        detail::element<wanted>>,
        detail::verdict<std::is_same_v<typename layout_of<Given>::axes, typename Layout::axes>,
                        Operation, say::tensor, which, say::has, typename layout_of<Given>::axes,
                        say::but_the_formula_in_integers_has, typename Layout::axes>,
        detail::verdict<std::is_same_v<layout_of<Given>, Layout>, Operation, say::tensor, which,
                        say::has_gaps_in_memory_so_pass_contiguous_of_x>>;
  };
  // A call that does not fit. Wanted: of all arguments; Otherwise: the sentence if the count or the
  // kinds of A are wrong.
  template <class Operation, class Otherwise, class Wanted, class Index, class... A>
  struct tensors_rule {
    using type = detail::verdict<(one_is_invalid<A> || ...), Operation, Otherwise>;
  };
  template <class Operation, class Otherwise, class... Wanted, std::size_t... I, class... A>
    requires(sizeof...(A) == kinds::tensors && !(one_is_invalid<A> || ...))
  struct tensors_rule<Operation, Otherwise, formulas::list<Wanted...>, std::index_sequence<I...>,
                      A...> {
    using type = first_error<
        typename tensor_rule<Operation, I, nth<kinds::number(I), A...>, Wanted>::type...,
        detail::verdict<false, Operation, Otherwise>>;
  };
  template <class... A>
  static constexpr bool calls_with() noexcept {
    if constexpr (sizeof...(A) != kinds::tensors)
      return false;
    else
      return []<std::size_t... I>(std::index_sequence<I...>) {
        return (is_argument<I, nth<kinds::number(I), A...>, X>() && ...);
      }(std::index_sequence_for<X...>{});
  }
  template <class Own>
  struct element_of_tensor {
    using type = T;
  };
  template <tensor_like Own>
  struct element_of_tensor<Own> {
    using type = typename Own::value_type;
  };
  template <class Numbers, class Out, class Work, class... A>
  static constexpr void compute(std::index_sequence_for<X...> all, const Numbers& numbers, Out& y,
                                Work& work, const A&... a) noexcept {
    compute_as<model, results>(all, numbers, y, work, no_past{}, a...);
  }
  // Of: the model of a whole call or of a step of a cache, and its results.
  template <class Of, class ResultsOf, std::size_t... I, class Numbers, class Out, class Work,
            class Past, class... A>
  static constexpr void compute_as(std::index_sequence<I...>, const Numbers& numbers, Out& y,
                                   Work& work, const Past& past, const A&... a) noexcept {
    const all_of<A...> all{{a}...};
    using pointers = formulas::argument_pointers<
        std::index_sequence<I...>,
        std::conditional_t<kinds::are_tensors[I],
                           element_of_call<I, typename element_of_tensor<X>::type>, T>...>;
    formulas::with_members(y, [&](auto&... result) UMBEL_LAMBDA_INLINE {
      using firsts = typename ResultsOf::firsts;
      const integer_run<Of, pointers, firsts, Numbers, Work, Past> run{
          pointers{{pointer<kinds::are_tensors[I], T>(argument<I, true, T>(all))}...},
          firsts{{*result.data()}...}, numbers, work, past};
      run.take_all(typename Of::sequence{});
    });
  }
  template <bool Tensor, class E, class A>
  static constexpr auto pointer(const A& a) noexcept {
    if constexpr (Tensor)
      return a.data();
    else
      return static_cast<const E*>(nullptr);
  }
};
template <class F, class... X>
using formula_in_integers = formula_form<false, F, X...>;

}  // namespace integers
}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
