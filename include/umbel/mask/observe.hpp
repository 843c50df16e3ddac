// SPDX-License-Identifier: BSL-1.0
// observe: writes the weights or scores of attention into the caller's memory, as part of a mask:
//
//   tensor<float, batch<2>, heads<5>, query<4>, key<6>> weights;
//   attention{w}(x, y, y, lens & observe(weights));
//   auto averaged = weights | mean<heads>;
//   attention_heat_map(weights, sink);     // drawn: inspect/heat_map.hpp
//
// The result has the same bits with and without it. Memory: a tensor or view of the layer's type
// with the axes of the scores in any order; heads, batch ... of size 1 may be missing. It must not
// overlap the arguments. Without it, no code for it is compiled.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/tap.hpp>
#include <umbel/mask/combine.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel {

// The value that observe writes for each query and key: observe<observed::scores>(memory). Scores
// are in natural units, as in the frameworks (the four stages of ONNX Attention's
// qk_matmul_output_mode, and one).
enum class observed {
  scores,         // scale q k^T, also for hidden pairs
  capped_scores,  // after the softcap, also for hidden pairs
  masked_scores,  // after every bias; -infinity if hidden
  weights,        // after the softmax; 0 if hidden
  kept_weights,   // as they multiply the values: after dropout
};

}  // namespace umbel

namespace umbel::inline UMBEL_TARGET::detail {

template <class T, observed What, std::size_t QueryStride, std::size_t KeyStride>
struct observer {
  static constexpr bool is_capped = What == observed::capped_scores;
  T* to;

  constexpr auto tap() const noexcept {
    using kernel::tap_stage;
    constexpr tap_stage stage = What == observed::scores         ? tap_stage::raw
                                : What == observed::weights      ? tap_stage::probabilities
                                : What == observed::kept_weights ? tap_stage::weights
                                                                 : tap_stage::changed;
    return kernel::tap<stage, T, QueryStride, KeyStride>{to};
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::portable {

template <class X, observed What>
struct observing_mask : every_key {
  static constexpr bool observes = true, by_position = false;
  using memory_layout = typename X::layout;
  X memory;

  UMBEL_SHARED constexpr explicit observing_mask(const X& x) noexcept : memory(x) {}
  template <class Layer, class Scores>
  using rule = detail::rules::observed<Layer, X, Scores>;
  template <class Scores>
  constexpr auto observer(detail::mask_place place) const noexcept {
    using T = typename X::value_type;
    return detail::observer<T, What, memory_layout::template stride_of<detail::rules::query_family>,
                            memory_layout::template stride_of<detail::rules::key_family>>{
        memory.data() +
        place.batch * memory_layout::template stride_of<detail::rules::batch_family> +
        place.head * memory_layout::template stride_of<detail::rules::heads_family>};
  }
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

using portable::observing_mask;

UMBEL_SAYS(expects_only_memory_so_write_what_as_a_template_argument,
           "expects one tensor or view; write observe<observed::scores>(memory)");

template <class X>
using writable_view =
    view_of<std::remove_pointer_t<decltype(std::declval<X&>().data())>, layout_of<X>>;

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

// observe(weights): the part of a mask that writes weights or scores into the caller's memory,
// borrowed: the axes batch, heads, query and key, in any order. A temporary does not compile.
template <observed What = observed::weights, detail::tensor_like X>
constexpr auto observe(X&& memory) noexcept {
  static_assert(
      detail::report<detail::rules::observed_with_a_name<!detail::temporary_tensor<X>>>::ok,
      "umbel: shapes do not fit");
  using view = detail::writable_view<std::remove_reference_t<X>>;
  return detail::observing_mask<view, What>(view(memory.data()));
}

template <observed What = observed::weights, class X>
  requires(!detail::tensor_like<X>)
constexpr detail::no_mask_of<X> observe(const X&) noexcept {
  return detail::no_mask<detail::say::observe, X>();
}
template <observed What = observed::weights, class... X>
  requires(sizeof...(X) != 1)
constexpr detail::every_key observe(const X&...) noexcept {
  using verdict = detail::verdict<
      detail::one_is_invalid<X...> || (What == observed::weights && detail::never<X...>),
      detail::say::observe, detail::say::expects_only_memory_so_write_what_as_a_template_argument>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}
#define UMBEL_INSTEAD \
  "writes weights or scores; write observe(memory) or observe<observed::scores>(memory)"
UMBEL_REFUSES_CALL(observe, UMBEL_TENSOR_FIRST, UMBEL_INSTEAD, UMBEL_NUMBERS)
UMBEL_REFUSES_CALL(observe, UMBEL_TENSOR_FIRST, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_CALL(observe, UMBEL_TENSOR_FIRST, UMBEL_INSTEAD, UMBEL_NAMES)
#undef UMBEL_INSTEAD

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
