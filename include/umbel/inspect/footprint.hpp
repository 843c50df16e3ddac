// SPDX-License-Identifier: BSL-1.0
// footprint: the needs of a call of a layer, a formula or a cache's step, as constants: bytes of
// weights, cache, scratch, arguments and results, operations, bytes moved. Nothing runs and no
// kernel is compiled:
//
//   static_assert(footprint<encoder, token<64>>.ram <= 64 * 1024);
//   static_assert(footprint<attention, batch<2>, query<4>, key<300>>.workspace <= 32 * 1024);
//   static_assert(footprint<decltype(attend), Q, K, V>.flops == 2'097'152);   a formula
//
//   using past = key_value_cache<model, key<256>>;                   a step of one position,
//   static_assert(footprint<past, token<1>>.ram <= 256 * 1024);      as the last of the 256;
//   footprint<prepacked<model>, past, token<1>, key<100>>.flops      as the 100th, packed weights
//
//   footprint<embed, patch<49>> + footprint<encoder, patch<49>>      one after the other
//
// It doesn't include code size and stack outside the workspace, which the compiler decides
// (docs/how-to/memory.md). See describe.hpp for cycles. Not included by umbel.hpp.
#pragma once

#include <umbel/config.hpp>
#include <umbel/inspect/footprint_of_layer.hpp>
#include <umbel/inspect/footprint_of_step.hpp>
#include <umbel/inspect/formula_steps.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::footprints {

template <class Model, class... X>
struct request : of_arguments<Model, X...> {};
template <class Layer, axis_like... Axis>
  requires(sizeof...(Axis) != 0 &&
           requires {
             typename features_of<typename unpacked<Layer>::type>::type;
             typename unpacked<Layer>::type::value_type;
           })
struct request<Layer, Axis...> {
  using tensors = sequences_along<typename unpacked<Layer>::type, Axis...>;
  using made = of_tensors<typename tensors::verdict, Layer, typename tensors::type>;
  using verdict = typename made::verdict;
  static constexpr call_footprint value() { return made::value(); }
};
template <in_integers Layer, axis_like... Axis>
  requires(sizeof...(Axis) != 0 && requires { typename features_of<typename Layer::layer>::type; })
struct request<Layer, Axis...> {
  using tensors = sequences_along<typename Layer::layer, Axis...>;
  using made = of_tensors<typename tensors::verdict, Layer,
                          typename as_integers<Layer, typename tensors::type>::type>;
  using verdict = typename made::verdict;
  static constexpr call_footprint value() { return made::value(); }
};
template <class Model>
  requires std::is_same_v<std::remove_cvref_t<decltype(Model::footprint)>, call_footprint>
struct request<Model> {
  using verdict = accepted;
  static constexpr call_footprint value() { return Model::footprint; }
};
template <class Cache, class... Axis>
  requires is_cache<Cache>
struct request<Cache, Axis...> : of_step<typename Cache::layer, Cache, Axis...> {};
template <class Encode, class Cache, class... Axis>
  requires(is_cache<Cache> && !is_cache<Encode>)
struct request<Encode, Cache, Axis...> : of_step<Encode, Cache, Axis...> {};
// For the result of a call; the workspace isn't checked.
template <class Fits>
struct formula_verdict {
  using type = typename Fits::verdict;
};
template <class Fits>
  requires Fits::has_result
struct formula_verdict<Fits> {
  using type = accepted;
};
template <class F, class... X>
struct request<formula<F>, X...> {
  using verdict = rules::takes<formulas::accepts<F, X...>>;
  static constexpr call_footprint value() { return {}; }  // the body of F has an error
};
template <class F, class... X>
  requires(formulas::accepts<F, X...> && formulas::takes<F, X...>)
struct request<formula<F>, X...> {
  // See workspace_for.
  using fits =
      formulas::call_fits_rule<F, formulas::traced_result<F, X...>, by_value, workspace_base, X...>;
  using verdict = typename formula_verdict<fits>::type;

  template <class T, class... Layout>
  static constexpr std::size_t bytes_of(formulas::list<Layout...>) {
    return (Layout::count + ...) * sizeof(T);
  }
  static constexpr call_footprint value() {
    if constexpr (fits::has_result) {
      constexpr std::size_t weights = (std::size_t{0} + ... + weights_of<X>());
      constexpr std::size_t arguments = (std::size_t{0} + ... + elements_of<X>());
      constexpr std::size_t results = bytes_of<typename fits::T>(typename fits::layouts{});
      return {.weights = weights,
              .tables = formulas::steps_of_formula<F, X...>::tables(),
              .workspace = sizeof(typename fits::scratch),
              .arguments = arguments,
              .results = results,
              .flops = formulas::steps_of_formula<F, X...>::flops(),
              .bytes_moved = weights + arguments + results};
    } else {
      return {};
    }
  }
};

// Verdict: the request's. (If the caller names it, compilers print two lines less.)
template <class Request, class Verdict>
constexpr call_footprint answer() {
  static_assert(report<Verdict>::ok, "umbel: shapes do not fit");
  if constexpr (Verdict::ok)
    return Request::value();
  else
    return {};
}

}  // namespace detail::footprints

// The needs of a call, see call_footprint. Model, X: one of
//   a layer, prepacked<layer>,
//   quantized<layer>                 the axes of its sequences, after a batch<2> if any: token<64>;
//                                    query<4>, key<300> for attention; for decoder layers their
//                                    positions, then the memory's; for linear, feed_forward and
//                                    norms all axes but the features; for embedding those of its
//                                    integers (int). Or the types of its arguments, as for
//                                    workspace_for
//   a key_value_cache                a step: the new positions, token<1>; then key<100>, all
//                                    positions (default: the capacity); for decoder layers then
//                                    key<48>, the memory's (default: the longest). Before the
//                                    cache, the step's layer may be given: prepacked<layer>. (Not
//                                    here: append, attend and attend_to)
//   your model                       a type with `static constexpr call_footprint footprint`, the
//                                    sum of its calls
//   a formula, decltype(f)           the types of its arguments; layers and weights among them
//                                    count as weights
// Errors of a call are errors here, with the same message.
template <class Model = detail::nothing, class... X>
inline constexpr call_footprint footprint = detail::footprints::answer<
    detail::footprints::request<std::remove_cvref_t<Model>, std::remove_cvref_t<X>...>,
    typename detail::footprints::request<std::remove_cvref_t<Model>,
                                         std::remove_cvref_t<X>...>::verdict>();

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
