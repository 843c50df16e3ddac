// SPDX-License-Identifier: BSL-1.0
// A formula in integers:
//
//   constexpr formula mix = [](auto x, const auto& w) {
//     return named<"sum">(x + named<"wide">(gelu(norm(x) * w.up)) * w.down);
//   };
//   using mixer = quantized<decltype(mix), tensor<float, token<16>, hidden<32>>, mixer_weights>;
//   mixer::ranges seen{};
//   for (auto& x : samples) std::ignore = mixer::calibrate(seen, x, w);  // mix(x, w)
//   const mixer layer(w, seen);
//   const auto y = layer(quantize<mixer::input_type<0>>(x, seen.get<"argument_1">()));
//
// Each value has 8 bits, or 16 if only sums, norms and softmax read it, and a range, named by
// named<> or after its operation. Not here: what has an integer form (formula_plan.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/formula/named.hpp>
#include <umbel/formula/word_names.hpp>
#include <umbel/quantized/formula_steps.hpp>
#include <umbel/quantized/quantized.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
template <formulas::word>
struct operation;
template <class F, class... X>
struct operation_called_by;
}  // namespace say
UMBEL_SAYS(has_no_integer_form_in_a_formula_so_compute_it_in_floats_before_or_after,
           "has no integer form in a formula; compute it in floats, before or after");
UMBEL_SAYS(has_several_results_but_a_formula_in_integers_has_one,
           "has several results, but a formula in integers has one");
UMBEL_SAYS(two_values_have_the_same_name, "two values have the same name");
UMBEL_SAYS(expects_the_tensors_of_the_formula_in_integers_so_use_quantize,
           "expects the tensors of the formula in integers, with the same axes; see input_type");
UMBEL_SAYS(expects_the_formula_and_the_types_of_its_arguments_so_write_decltype,
           "expects the formula and the types of its arguments");
template <formulas::word W>
struct speak<say::operation<W>> {
  static constexpr void to(sentence_buffer& out) { out.put(formulas::name_of(W)); }
};
// A function, such as variance: its name is in a graph for readers.
template <class F, class... X>
struct speak<say::operation_called_by<F, X...>> {
  static constexpr void to(sentence_buffer& out) {
    using model = integers::integer_formula<F, X...>;
    constexpr auto graph = formulas::graph_of<F, formulas::tracer<typename model::T, true>, true,
                                              typename formulas::argument_of<X>::type...>();
    out.put(graph.nodes[model::plan.refused].name);
  }
};

namespace integers {

// The ranges, or histograms, of the values of a formula. Model: its integer_formula.
template <class Model>
struct names_of_values {
  static constexpr int count = Model::plan.ranges;
  struct text {
    char chars[64]{};
    std::size_t size = 0;
  };
  // The user's name, or the operation and its number: contraction_2.
  static constexpr auto texts = [] {
    struct {
      text of[count == 0 ? 1 : count];
    } all{};
    constexpr const auto& plan = Model::plan;
    int numbers[256]{};
    for (int n = 0; n < plan.g.count; ++n) {
      const auto what = static_cast<std::size_t>(plan.at(n).what);
      const bool counted = plan.group[n] == n && plan.observed[n] != no_node;
      if (counted || plan.at(n).what == word::argument) ++numbers[what];
      if (plan.range[n] < 0) continue;
      text& to = all.of[plan.range[n]];
      const auto put = [&](const char* from) {
        for (; *from != '\0' && to.size + 1 < sizeof(to.chars); ++from)
          to.chars[to.size++] = *from == ' ' ? '_' : *from;
      };
      if (plan.at(n).label != nullptr) {
        put(plan.at(n).label);
        continue;
      }
      put(plan.at(n).norm != norm_form::none ? "norm" : formulas::name_of(plan.at(n).what));
      char digits[8] = "_";
      int d = 1;
      if (numbers[what] > 9) digits[d++] = static_cast<char>('0' + numbers[what] / 10 % 10);
      digits[d++] = static_cast<char>('0' + numbers[what] % 10);
      put(digits);
    }
    return all;
  }();
  template <class Sequence>
  struct pointers;
  template <std::size_t... I>
  struct pointers<std::index_sequence<I...>> {
    static constexpr const char* all[] = {texts.of[I].chars...};
  };
  using all = pointers<std::make_index_sequence<count>>;
  static constexpr bool is_same(const char* a, const char* b) noexcept {
    while (*a != '\0' && *a == *b) ++a, ++b;
    return *a == *b;
  }
  static constexpr int find(const char* name) noexcept {
    int i = 0;
    while (i < count && !is_same(texts.of[i].chars, name)) ++i;
    return i;
  }
  static constexpr bool are_unique = [] {
    for (int i = 0; i < count; ++i)
      if (find(texts.of[i].chars) != i) return false;
    return true;
  }();
};
template <class Model, class Range>
struct formula_ranges {
  using layer_name = say::quantized;
  using members_by_name = formula_ranges;
  using names = names_of_values<Model>;
  static constexpr std::size_t members = names::count;
  static constexpr const char* const (&part_names)[members] = names::all::all;
  template <std::size_t>
  using part = Range;
  Range values[members];

  template <std::size_t I>
  [[nodiscard]] constexpr Range& get() noexcept {
    return values[I];
  }
  template <std::size_t I>
  [[nodiscard]] constexpr const Range& get() const noexcept {
    return values[I];
  }
  // By name: seen.get<"scores">().
  template <formulas::value_name Name>
    requires(names::find(Name.chars) < names::count)
  [[nodiscard]] constexpr Range& get() noexcept {
    return values[names::find(Name.chars)];
  }
  template <formulas::value_name Name>
    requires(names::find(Name.chars) < names::count)
  [[nodiscard]] constexpr const Range& get() const noexcept {
    return values[names::find(Name.chars)];
  }
  template <class F>
  constexpr auto with_all_members(F f) noexcept {
    return with_all(*this, f);
  }
  template <class F>
  constexpr auto with_all_members(F f) const noexcept {
    return with_all(*this, f);
  }

 private:
  template <class Self, class F>
  static constexpr auto with_all(Self& self, F& f) noexcept {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return f(self.values[I]...);
    }(std::make_index_sequence<members>{});
  }
};

// A schedule with a step for each value, so that all can be seen.
template <class Model>
struct seen_apart {
  using T = typename Model::T;
  static constexpr const auto& traced = Model::schedule::traced;
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

template <class F, class... X>
struct formula_in_integers {
  using model = integer_formula<F, X...>;
  using T = typename model::T;
  using kinds = arguments_by_kind<X...>;
  using layout = row_major<layout_of<formulas::traced_result<F, X...>>>;
  using value = typename model::template integer<model::result>;
  using result = tensor_of<value, layout>;
  static constexpr const auto& plan = model::plan;
  static constexpr word refused = plan.at(plan.refused == no_node ? 0 : plan.refused).what;
  using verdict = first_error<
      detail::verdict<
          plan.refused == no_node, say::quantized,
          std::conditional_t<refused == word::call, say::operation_called_by<F, X...>,
                             say::operation<refused>>,
          say::has_no_integer_form_in_a_formula_so_compute_it_in_floats_before_or_after>,
      detail::verdict<plan.too_long == no_node, say::quantized,
                      say::operation<plan.at(plan.too_long == no_node ? 0 : plan.too_long).what>,
                      say::lets_a_sum_of_8_bit_products_exceed_2_to_the_31,
                      number<plan.most_products(plan.too_long)>, say::is_the_maximum>,
      detail::verdict<names_of_values<model>::are_unique, say::quantized,
                      say::two_values_have_the_same_name>>;

  // ---- floats
  using argument_types = formulas::list<typename formulas::argument_of<X>::type...>;
  using run = formulas::run_by<seen_apart<model>, formulas::list<layout>, true,
                               typename formulas::argument_of<X>::type...>;
  template <class Seen>
  static constexpr auto calibrate(Seen& seen, const X&... x) noexcept {
    using call = formulas::formula_call<false, F, X...>;
    formulas::captured<T> parts[run::parts + 1]{};
    if constexpr (run::parts != 0)
      call::template bind<run, formulas::binder<T>>(parts, argument_types{}, x...);
    T numbers[sizeof...(X) + 1]{};
    std::size_t next = 0;
    const typename call::pointers arguments{
        call::template pointer_to<typename formulas::argument_of<X>::type>(x, numbers[next++])...};
    formulas::run_workspace<run> work;
    tensor_of<T, layout> y;
    run all{{}, arguments, parts, {}, work.memory};
    all.writes_to()(y);
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
    return y;
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
  static constexpr void pack(typename model::numbers& to, std::index_sequence<I...>,
                             const Given&... given) noexcept {
    const all_of<Given...> all{{given}...};
    formulas::captured<T> parts[run::parts + 1]{};
    if constexpr (run::parts != 0)
      formulas::formula_call<false, F, std::conditional_t<kinds::are_tensors[I], T, X>...>::
          template bind<run, formulas::binder<T>>(parts, argument_types{},
                                                  argument<I, false, T>(all)...);
    model::pack_all(to, formulas::reference_at<sizeof...(Given) - 1>(all), parts,
                    typename model::sequence{});
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
      return std::is_same_v<layout_of<Given>, layout_of<Own>> &&
             std::is_same_v<typename Given::value_type,
                            element_of_call<I, typename Own::value_type>>;
  }
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
  template <std::size_t... I, class Out, class... A>
  static constexpr void compute(std::index_sequence<I...>, const typename model::numbers& numbers,
                                Out& y, typename model::workspace& work, const A&... a) noexcept {
    const all_of<A...> all{{a}...};
    using pointers = formulas::argument_pointers<
        std::index_sequence<I...>,
        std::conditional_t<kinds::are_tensors[I],
                           element_of_call<I, typename element_of_tensor<X>::type>, T>...>;
    const integer_run<model, pointers> run{
        pointers{{pointer<kinds::are_tensors[I], T>(argument<I, true, T>(all))}...}, numbers,
        y.data(), work};
    run.take_all(typename model::sequence{});
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
class quantized_formula {
  using form = formula_in_integers<F, X...>;
  using model = typename form::model;
  using kinds = typename form::kinds;
  using all = std::index_sequence_for<X...>;

 public:
  using layer = formula<F>;
  using ranges = formula_ranges<model, range>;
  using histograms = formula_ranges<model, magnitude_histogram>;
  using workspace = typename model::workspace;
  using result_type = typename form::value;
  // The type of the integers of tensor number I in a call.
  template <std::size_t I>
  using input_type = typename form::template element_of_call<
      kinds::slot(I), typename form::template element_of_tensor<
                          typename portable::nth_type<kinds::slot(I), X...>::type>::type>;

  // F of floats, whose values widen the ranges.
  template <class Seen>
    requires std::is_same_v<Seen, ranges> || std::is_same_v<Seen, histograms>
  static constexpr auto calibrate(Seen& seen, const X&... x) noexcept {
    return form::calibrate(seen, x...);
  }

  constexpr quantized_formula() noexcept = default;
  // given: the arguments that are not tensors, such as weights, then the ranges.
  template <class... Given>
    requires(form::template packs_from<ranges, Given...>())
  constexpr explicit(sizeof...(Given) == 1) quantized_formula(const Given&... given) noexcept {
    static_cast<void>(pack(given...));
  }
  // Zeros if a range is missing; the result names it.
  template <class... Given>
    requires(form::template packs_from<ranges, Given...>())
  constexpr pack_result pack(const Given&... given) noexcept {
    const typename form::template all_of<Given...> all_given{{given}...};
    if (const auto found = all_seen(formulas::reference_at<sizeof...(Given) - 1>(all_given));
        !found)
      return found;
    form::pack(numbers_, all{}, given...);
    return {};
  }

  // a: the tensors among the arguments, in integers of input_type, then perhaps a workspace. out:
  // row-major.
  template <class... A>
  constexpr auto operator()(A&&... a) const noexcept {
    return compute(by_value{}, a...);
  }
  template <tensor_like Out, class... A>
  constexpr void into(Out&& out, A&&... a) const noexcept {
    using fits = rules::row_major_out<say::quantized, Out, result_type, typename form::layout>;
    static_assert(report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) compute(out, a...);
  }

  // The range whose unit the result has, and that of tensor number I.
  static constexpr float output_range(const ranges& seen) noexcept {
    return range_of(model::result, seen);
  }
  template <std::size_t I>
  static constexpr float input_range(const ranges& seen) noexcept {
    return range_of(model::template node_of_argument<kinds::slot(I)>, seen);
  }

 private:
  static constexpr float range_of(int n, const ranges& seen) noexcept {
    const int of = model::plan.observed[model::plan.group[n]];
    return static_cast<float>(static_cast<double>(seen.values[model::plan.range[of]]()) *
                              model::plan.scale[n] / model::plan.scale[of]);
  }
  template <class Out, class... A>
  constexpr auto compute(Out&& out, A&... a) const noexcept {
    if constexpr (form::template calls_with<std::remove_const_t<A>...>()) {
      static_assert(report<rules::scratch_fits<say::quantized, on_stack, workspace,
                                               typename form::layout::axes>>::ok,
                    "umbel: shapes do not fit");
      return computed<typename form::result, workspace>(
          out, on_stack{}, [&](auto& y, auto& work) UMBEL_LAMBDA_INLINE {
            form::compute(all{}, numbers_, y, work, a...);
          });
    } else if constexpr (ends_with_workspace<A...>()) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        const formulas::references<std::index_sequence_for<A...>, A...> given{{a}...};
        return computed<typename form::result, workspace>(
            out, formulas::reference_at<sizeof...(I)>(given),
            [&](auto& y, auto& work) UMBEL_LAMBDA_INLINE {
              form::compute(all{}, numbers_, y, work, formulas::reference_at<I>(given)...);
            });
      }(std::make_index_sequence<sizeof...(A) - 1>{});
    } else {
      static_assert(
          report<verdict<(one_is_invalid<A> || ...), say::quantized,
                         say::expects_the_tensors_of_the_formula_in_integers_so_use_quantize>>::ok,
          "umbel: shapes do not fit");
      return invalid{};
    }
  }
  template <class... A>
  static constexpr bool ends_with_workspace() noexcept {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return form::template calls_with<
          std::remove_const_t<typename form::template nth<I, A...>>...>();
    }(std::make_index_sequence < sizeof...(A) == 0 ? 0 : sizeof...(A) - 1 > {}) &&
           std::is_same_v<typename form::template nth<sizeof...(A) - 1, A..., void>, workspace>;
  }
  typename model::numbers numbers_;
};

// Is F a formula with one result for arguments X, with an integer form?
template <bool Traceable, class F, class... X>
struct formula_rule {
  using type = verdict<never<F>, say::quantized,
                       say::expects_the_formula_and_the_types_of_its_arguments_so_write_decltype>;
};
template <class F, class... X>
struct formula_rule<true, F, X...> {
  template <class Result>
  struct of_result {
    using type = verdict<never<Result>, say::quantized,
                         say::has_several_results_but_a_formula_in_integers_has_one>;
  };
  template <formulas::a_node Result>
  struct of_result<Result> {
    using type = typename formula_in_integers<F, X...>::verdict;
  };
  using type = typename of_result<formulas::traced_result<F, X...>>::type;
};
template <class F, class... X>
using formula_fits = typename formula_rule<formulas::takes<F, X...>, F, X...>::type;
}  // namespace integers
}  // namespace detail

// F: a formula; X: the types of its arguments, in floats.
template <class F, class... X>
  requires detail::integers::formula_fits<F, X...>::ok
class quantized<formula<F>, X...> : public detail::integers::quantized_formula<F, X...> {
  using base = detail::integers::quantized_formula<F, X...>;

 public:
  using base::base;
};
template <class F, class... X>
  requires detail::integers::formula_fits<F, X...>::ok
class quantized<const formula<F>, X...> : public quantized<formula<F>, X...> {
  using base = quantized<formula<F>, X...>;

 public:
  using base::base;
};
namespace detail::rules {
template <class F>
struct has_integers_rule<formula<F>> {
  using type = detail::integers::formula_fits<F>;
};
template <class F, class First, class... X>
struct has_integers_rule<formula<F>, First, X...> {
  using type = detail::integers::formula_fits<F, First, X...>;
};
template <class F, class First, class... X>
struct has_integers_rule<const formula<F>, First, X...>
    : has_integers_rule<formula<F>, First, X...> {};
}  // namespace detail::rules

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
