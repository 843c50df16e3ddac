// SPDX-License-Identifier: BSL-1.0
// The planner's choices for a layer, as a readable page:
//
//   std::puts(umbel::describe<attention, token<64>>());           self-attention, 64 positions
//   std::puts(umbel::describe<attention, query<4>, key<300>>());
//   std::puts(umbel::describe<encoder, token<64>>());             a block, part by part
//   std::puts(umbel::describe<decoder, token<64>, key<48>>());    with the memory's positions
//
// (For a formula: describe(f, x...), describe_formula.hpp.) It assumes row-major arguments and
// results, no mask, prepacked weights and this build's target. The compiler makes the page, so the
// program holds only its characters. Not included by umbel.hpp.
//
// Cycles are an estimate for a core with two multiply-add units (plan/cost.hpp), of products and
// attention only: norms, activations and sums aren't counted.
#pragma once

#include <umbel/config.hpp>
#include <umbel/inspect/describe_formula.hpp>
#include <umbel/inspect/plan_of.hpp>
#include <umbel/inspect/plan_of_block.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct describe;
struct the_axis_of_the_memory_is_missing_after;
}  // namespace say
UMBEL_SAYS(takes_a_layer_that_has_a_plan_then_the_axes_of_its_positions,
           "takes a multi_head_attention, a feed_forward, an encoder_layer, a decoder_layer, a "
           "residual_block or a layer_stack; then the axis of its positions, such as token<64>; "
           "then, if it attends to others, the axis of those");

// The page of a layer, and its number of axes; 0 if it has no page.
template <class Layer>
struct page_of_layer {
  static constexpr std::size_t axes = 0;
};
template <is_multi_head Layer>
struct page_of_layer<Layer> {
  static constexpr std::size_t axes = 2;
  static constexpr bool needs_memory = false;
  template <class Writer, class... Axes>
  static constexpr void put(Writer& out) {
    put_plan<plan_of<Layer, Axes...>>(out);
  }
};
template <class T, class Hidden, class Wide, class... Options>
struct page_of_layer<feed_forward<T, Hidden, Wide, Options...>> {
  using layer = feed_forward<T, Hidden, Wide, Options...>;
  using part = plan_of_part<layer>;
  static constexpr std::size_t axes = 1;
  static constexpr bool needs_memory = false;
  template <class Writer, class Positions>
  static constexpr void put(Writer& out) {
    constexpr std::size_t n = Positions::size;
    out.put("feed_forward, ");
    part::template put_what<n, n>(out);
    put_table_head<T>(out);
    put_sum<T>(out, part::template put<n, n>(out, 0));
    put_workspace_head(out);
    put_bytes(out, "all", sizeof(typename layer::template workspace<Positions>));
  }
};
template <class Layer>
  requires(is_of_parts<Layer> || is_stack<Layer>)
struct page_of_layer<Layer> {
  using block = typename blocks_in<Layer>::block;
  static constexpr std::size_t layers = is_stack<Layer> ? blocks_in<Layer>::count : 0;
  static constexpr bool needs_memory = block::has_memory;
  static constexpr std::size_t axes = block::most_axes;
  template <class Writer, class Positions, class Memory = Positions>
  static constexpr void put(Writer& out) {
    constexpr std::size_t n = Positions::size, m = Memory::size;
    using plan = plan_of_block<typename block::described, n, m>;
    using scratch = typename block::template scratch_of<n, m>;
    plan::template put<typename block::described::word, layers, scratch>(out);
  }
};

template <class Layer, class... Axes>
struct described {
  template <class Writer>
  static constexpr void put(Writer& out) {
    page_of_layer<Layer>::template put<Writer, Axes...>(out);
  }
};

// Does a different header describe it (mpi/describe.hpp)?
template <class Layer>
inline constexpr bool describes_itself = false;

namespace rules {
template <class Layer, class... Axes>
struct described_rule {
  using type = verdict<false, say::describe,
                       say::takes_a_layer_that_has_a_plan_then_the_axes_of_its_positions>;
};
template <class Layer, class Axis>
using described_axis = first_error<in_place<say::describe, Axis, axes::token>, well_formed<Axis>>;
template <class Layer>
  requires(page_of_layer<Layer>::axes != 0)
struct described_rule<Layer> {
  using type = in_place<say::describe, nothing, axes::token>;
};
template <class Layer, class Positions>
  requires(page_of_layer<Layer>::axes != 0)
struct described_rule<Layer, Positions> {
  using type = first_error<described_axis<Layer, Positions>,
                           verdict<!page_of_layer<Layer>::needs_memory, say::describe,
                                   say::the_axis_of_the_memory_is_missing_after, Positions>>;
};
template <class Layer, class Positions, class Others>
  requires(page_of_layer<Layer>::axes == 2)
struct described_rule<Layer, Positions, Others> {
  using type = first_error<described_axis<Layer, Positions>, described_axis<Layer, Others>>;
};
}  // namespace rules
}  // namespace detail

// describe<attention, token<64>>(): a layer's plan as zero-terminated lines of ASCII. Layer: a
// multi_head_attention, feed_forward, encoder_layer, decoder_layer or other residual_block, or a
// layer_stack (the page shows one layer). Axes: its positions, then those of the keys or the
// memory.
template <class Layer, class... Axes>
  requires(!detail::describes_itself<Layer>)
constexpr const char* describe() noexcept {
  using verdict = typename detail::rules::described_rule<Layer, Axes...>::type;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return detail::page_of<detail::described<Layer, Axes...>>.text;
  else
    return "";
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
