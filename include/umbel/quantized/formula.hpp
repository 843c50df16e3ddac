// SPDX-License-Identifier: BSL-1.0
// A formula in integers. X are the types of the arguments of f in floats:
//
//   using layer = quantized<decltype(f), tensor<float, token<16>, hidden<32>>, weights_of_f>;
//   layer::ranges seen{};
//   for (auto& x : samples) std::ignore = layer::calibrate(seen, x, w);  // f(x, w)
//   const layer packed(w, seen);
//
// Each value has 8 bits, or 16 if only sums, choices, norms and softmax read it, and a range, named
// by named<> or after its operation. formula_plan.hpp decides which operations have an integer
// form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/quantized/formula_form.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(results_are_numbered_from_0_and_their_count_is,
           "results are numbered from 0, and their count is");
UMBEL_SAYS(tensors_are_numbered_from_0_and_their_count_is,
           "tensors are numbered from 0, and their count is");
UMBEL_SAYS(this_formula_so_declare_a_static_workspace, "this formula, a static layer::workspace");
UMBEL_SAYS(this_formula_so_declare_a_static_calibration_workspace,
           "this formula, a static layer::calibration_workspace");
UMBEL_SAYS(expects_the_tensors_of_the_formula_in_integers_so_use_quantize,
           "expects the tensors of the formula in integers, with the same axes; see input_type");
UMBEL_SAYS(expects_the_formula_and_the_types_of_its_arguments_so_write_decltype,
           "expects the formula and the types of its arguments");
UMBEL_SAYS(calibrate_expects_the_ranges_of_this_formula_then_its_arguments,
           "calibrate expects the ranges or histograms of this formula, then its arguments, "
           "calibrate(seen, x, w)");
UMBEL_SAYS(expects_the_arguments_that_are_not_tensors_then_the_ranges_of_this_formula,
           "expects the arguments of the formula that are not tensors, then its ranges, (w, seen)");

namespace integers {

// I, the number of a result or of a tensor among the arguments; 0 if there is none (Sentence).
template <class Sentence, std::size_t I, std::size_t Count>
constexpr std::size_t number_of_existing() noexcept {
  using exists = verdict<(Count > I), say::quantized, Sentence, number<Count>>;
  static_assert(report<exists>::ok, "umbel: shapes do not fit");
  return exists::ok ? I : 0;
}

// Of a cache: step_of_formula.hpp.
template <class, class, class, class, class...>
struct types_of_cache;

template <class F, class... X>
class quantized_formula {
  using form = formula_in_integers<F, X...>;
  using model = typename form::model;
  using kinds = typename form::kinds;
  using results = typename form::results;
  using all = std::index_sequence_for<X...>;

 public:
  using layer = formula<F>;
  using ranges = formula_ranges<model, range>;
  using histograms = formula_ranges<model, magnitude_histogram>;
  using workspace = integer_workspace<model>;
  // The type of the integers of result number R, and of the first.
  template <std::size_t R>
  using output_type = typename results::template value<
      number_of_existing<say::results_are_numbered_from_0_and_their_count_is, R, model::results>()>;
  using result_type = output_type<0>;
  // The type of the integers of tensor number I in a call.
  template <std::size_t I>
  using input_type = typename form::template element_of_call<
      kinds::slot(number_of_existing<say::tensors_are_numbered_from_0_and_their_count_is, I,
                                     kinds::tensors>()),
      typename form::template element_of_tensor<typename portable::nth_type<
          kinds::slot(number_of_existing<say::tensors_are_numbered_from_0_and_their_count_is, I,
                                         kinds::tensors>()),
          X...>::type>::type>;

  // The float formula, whose values widen the ranges. work: memory for all of them, which is on the
  // stack if none is passed and it is small enough.
  using calibration_workspace = typename form::calibration_workspace;
  template <class Seen, workspace_like Work = on_stack>
    requires std::is_same_v<Seen, ranges> || std::is_same_v<Seen, histograms>
  static constexpr auto calibrate(Seen& seen, const X&... x, Work&& work = {}) noexcept {
    using fits =
        rules::scratch_fits<say::quantized, std::remove_reference_t<Work>, calibration_workspace,
                            say::this_formula_so_declare_a_static_calibration_workspace>;
    static_assert(report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok)
      return computed<typename form::float_result, calibration_workspace>(
          by_value{}, work, [&](auto& y, auto& buffers) UMBEL_LAMBDA_INLINE {
            form::calibrate(seen, y, buffers, x...);
          });
    else
      return invalid{};
  }

  template <class... Given>
  static constexpr invalid calibrate(const Given&...) noexcept {
    using verdict = verdict<one_is_invalid<Given...>, say::quantized,
                            say::calibrate_expects_the_ranges_of_this_formula_then_its_arguments>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    return {};
  }

  constexpr quantized_formula() noexcept = default;
  // given: the arguments that are not tensors, such as weights, then the ranges.
  template <class... Given>
    requires(form::template packs_from<ranges, Given...>())
  constexpr explicit(sizeof...(Given) == 1) quantized_formula(const Given&... given) noexcept {
    static_cast<void>(pack(given...));
  }
  // Changes nothing if a range is missing; the result names it.
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

  template <class... Given>
    requires(sizeof...(Given) != 0 && !form::template packs_from<ranges, Given...>() &&
             !(std::is_base_of_v<quantized_formula, Given> || ...))
  constexpr explicit(sizeof...(Given) == 1) quantized_formula(const Given&...) noexcept {
    refuse_to_pack<Given...>();
  }
  template <class... Given>
    requires(!form::template packs_from<ranges, Given...>())
  constexpr pack_result pack(const Given&...) noexcept {
    refuse_to_pack<Given...>();
    return {};
  }

  // a: the tensors among the arguments, in integers of input_type, then perhaps a workspace. out:
  // row-major, for several results std::tie(y, z) or an object like the one that a call returns.
  template <class... A>
  constexpr auto operator()(A&&... a) const noexcept {
    return compute(by_value{}, a...);
  }
  template <formulas::memory_of_results Out, class... A>
  constexpr void into(Out&& out, A&&... a) const noexcept {
    using fits = typename results::template fit<Out>::type;
    static_assert(report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) compute(out, a...);
  }

  // The range whose unit result number R has, and that of tensor number I.
  template <std::size_t R = 0>
  static constexpr float output_range(const ranges& seen) noexcept {
    return range_of(model::template result<number_of_existing<
                        say::results_are_numbered_from_0_and_their_count_is, R, model::results>()>,
                    seen);
  }
  template <std::size_t I>
  static constexpr float input_range(const ranges& seen) noexcept {
    return range_of(model::template node_of_argument<kinds::slot(
                        number_of_existing<say::tensors_are_numbered_from_0_and_their_count_is, I,
                                           kinds::tensors>())>,
                    seen);
  }

 private:
  template <class... Given>
  static constexpr void refuse_to_pack() noexcept {
    using say_what =
        say::expects_the_arguments_that_are_not_tensors_then_the_ranges_of_this_formula;
    static_assert(report<verdict<one_is_invalid<Given...>, say::quantized, say_what>>::ok,
                  "umbel: shapes do not fit");
  }
  // 1 of an argument that nothing reads.
  static constexpr float range_of(int n, const ranges& seen) noexcept {
    const int of = n < model::nodes ? model::plan.observed[model::plan.group[n]] : no_node;
    if (of == no_node) return 1;
    return static_cast<float>(static_cast<double>(seen.values[model::plan.range[of]]()) *
                              model::plan.scale[n] / model::plan.scale[of]);
  }
  template <class Out, class... A>
  constexpr auto compute(Out&& out, A&... a) const noexcept {
    if constexpr (form::template calls_with<std::remove_const_t<A>...>()) {
      using fits = rules::scratch_fits<say::quantized, on_stack, workspace,
                                       say::this_formula_so_declare_a_static_workspace>;
      static_assert(report<fits>::ok, "umbel: shapes do not fit");
      return computed<typename results::type, workspace>(
          out, on_stack{}, [&](auto& y, auto& work) UMBEL_LAMBDA_INLINE {
            form::compute(all{}, numbers_, y, work, a...);
          });
    } else if constexpr (ends_with_workspace<A...>()) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        const formulas::references<std::index_sequence_for<A...>, A...> given{{a}...};
        return computed<typename results::type, workspace>(
            out, formulas::reference_at<sizeof...(I)>(given),
            [&](auto& y, auto& work) UMBEL_LAMBDA_INLINE {
              form::compute(all{}, numbers_, y, work, formulas::reference_at<I>(given)...);
            });
      }(std::make_index_sequence<sizeof...(A) - 1>{});
    } else {
      using verdict =
          typename call_rule<std::make_index_sequence<sizeof...(A) - is_last_workspace<A...>>,
                             is_last_workspace<A...>, A...>::type;
      static_assert(report<verdict>::ok, "umbel: shapes do not fit");
      return invalid{};
    }
  }
  template <class... A>
  static constexpr bool is_last_workspace =
      workspace_like<typename form::template nth<sizeof...(A) - 1, A..., void>>;
  // Why a call does not fit: a tensor, or the workspace after them.
  template <class Index, bool HasWorkspace, class... A>
  struct call_rule;
  template <std::size_t... I, bool HasWorkspace, class... A>
  struct call_rule<std::index_sequence<I...>, HasWorkspace, A...> {
    template <bool TensorsFit, class... Tensor>
    struct of_tensors
        : form::template tensors_rule<
              say::quantized, say::expects_the_tensors_of_the_formula_in_integers_so_use_quantize,
              typename form::argument_types, all, Tensor...> {};
    template <class... Tensor>
    struct of_tensors<true, Tensor...> {
      using last = typename form::template nth<sizeof...(A) - 1, A..., void>;
      using type = rules::scratch_fits<say::quantized, last, workspace,
                                       say::this_formula_so_declare_a_static_workspace>;
    };
    static constexpr bool fit =
        HasWorkspace &&
        form::template calls_with<std::remove_const_t<typename form::template nth<I, A...>>...>();
    using type =
        typename of_tensors<fit,
                            std::remove_const_t<typename form::template nth<I, A...>>...>::type;
  };
  template <class... A>
  static constexpr bool ends_with_workspace() noexcept {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return form::template calls_with<
          std::remove_const_t<typename form::template nth<I, A...>>...>();
    }(std::make_index_sequence < sizeof...(A) == 0 ? 0 : sizeof...(A) - 1 > {}) &&
           std::is_same_v<typename form::template nth<sizeof...(A) - 1, A..., void>, workspace>;
  }
  template <class, class, class, class, class...>
  friend struct types_of_cache;
  typename model::numbers numbers_;
};

// Has F an integer form for arguments X?
// Already reported: an error in the function, or a refused operation.
using reported_before = verdict<false, say::quantized, no_axis<1>>;
template <bool Traceable, class F, class... X>
struct formula_rule {
  using type = first_error<
      verdict<formulas::accepts<F, X...>, say::quantized,
              say::expects_the_formula_and_the_types_of_its_arguments_so_write_decltype>,
      reported_before>;
};
template <class F, class... X>
struct formula_rule<true, F, X...> {
  template <class Result>
  struct of_result {
    using type = first_error<rules::gives<Result>, reported_before>;
  };
  template <class Result>
    requires formulas::gives_nodes<F, std::remove_cvref_t<Result>>
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
