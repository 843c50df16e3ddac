// SPDX-License-Identifier: BSL-1.0
// Rules of a layer's workspace: the axes of `workspace`, and the workspace passed to a call.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/layer/workspace.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::rules {

template <class Axis, class Widths>
struct positions_rule {
  using type = verdict<axis_like<Axis>, say::workspace,
                       say::expects_axes_of_positions_so_use_workspace_for_with_tensors>;
};
template <axis_like Axis, class... Widths>
struct positions_rule<Axis, shape<Widths...>> {
  using type = first_error<well_formed<Axis>, holds<Axis, Widths>...>;
};
template <template <std::size_t> class Axis, std::size_t Size, std::size_t Width, class... Widths>
struct positions_rule<Axis<Size>, shape<Axis<Width>, Widths...>> {
  using type = verdict<false, say::workspace, Axis<Size>,
                       say::is_a_width_of_the_layer_so_name_the_axis_of_the_positions>;
};

// The axes in workspace<...>: as many as the layer accepts, without an additional batch.
template <class Axis>
struct no_batch_rule {
  using type = accepted;
};
template <axis_like Axis>
  requires std::is_same_v<typename Axis::family, batch_family>
struct no_batch_rule<Axis> {
  using type = verdict<false, say::workspace, Axis,
                       say::is_unnecessary_since_sequences_share_one_workspace_so_leave_it_out>;
};
template <std::size_t Least, std::size_t Most, class... Axis>
struct axes_of_workspace_rule {
  using type = first_error<
      typename no_batch_rule<std::conditional_t<(sizeof...(Axis) > 1), Axis, void>>::type...,
      verdict<(sizeof...(Axis) >= Least), say::workspace, say::the_number_of_axes_must_be_at_least,
              number<Least>, say::got, number<sizeof...(Axis)>>,
      verdict<(sizeof...(Axis) <= Most), say::workspace, say::the_number_of_axes_must_be_at_most,
              number<Most>, say::got, number<sizeof...(Axis)>>>;
};
template <std::size_t Most, class Axis>
struct axes_of_workspace_rule<1, Most, Axis> {
  using type = accepted;
};
template <std::size_t Least, std::size_t Most, class... Axis>
using axes_of_workspace = typename axes_of_workspace_rule<Least, Most, Axis...>::type;
template <class Axis, class Widths, class Before = accepted>
using positions_fit = first_error<Before, typename positions_rule<Axis, Widths>::type>;
template <class First = void, class Second = First, class... Rest>
struct first_two_axes {
  using first = First;
  using second = Second;
};

// The size of such an axis in a layer with these widths (a shape<...>), or 1 if it is refused.
// Before: the verdict on all axes. (Functions: of a lambda clang prints 3 more lines.)
template <class Axis, class Widths, class Before = accepted>
constexpr std::size_t positions_of() noexcept {
  using verdict = positions_fit<Axis, Widths, Before>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return Axis::size;
  else
    return std::size_t{1};
}
// The first axis, and the second or again the first, whose error is reported once.
template <class Widths, std::size_t Most, class... Axis>
constexpr std::size_t first_positions() noexcept {
  using axis = typename first_two_axes<Axis...>::first;
  using verdict = positions_fit<axis, Widths, axes_of_workspace<1, Most, Axis...>>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return axis::size;
  else
    return std::size_t{1};
}
template <class Widths, class... Axis>
constexpr std::size_t second_positions() noexcept {
  using axes = first_two_axes<Axis...>;
  using before = positions_fit<typename axes::first, Widths, axes_of_workspace<1, 2, Axis...>>;
  using verdict = positions_fit<typename axes::second, Widths, before>;
  using not_yet_said = std::conditional_t<before::ok, verdict, accepted>;
  static_assert(report<not_yet_said>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return axes::second::size;
  else
    return std::size_t{1};
}
// The same for a layer that accepts one axis: the first.
template <std::size_t Most, class Widths, class... Positions>
constexpr std::size_t memory_positions() noexcept {
  if constexpr (Most == 2)
    return second_positions<Widths, Positions...>();
  else
    return first_positions<Widths, Most, Positions...>();
}

// parallel(...), which not every layer accepts.
template <class Given>
inline constexpr bool is_for_workers = requires { typename std::remove_const_t<Given>::each; };

template <class Given>
inline constexpr bool is_const_workspace = std::is_const_v<Given>;

// The axes of a workspace that states its numbers of positions, along the axes of Sizes.
template <class Positions, class Sizes>
struct positions_along {
  using type = Sizes;
};
template <std::size_t... Size, class... Axes>
  requires(sizeof...(Size) == sizeof...(Axes))
struct positions_along<std::index_sequence<Size...>, shape<Axes...>> {
  using type = shape<typename Axes::family::template sized<Size>...>;
};
template <std::size_t Queries, std::size_t Keys, class Axis>
struct positions_along<std::index_sequence<Queries, Keys>, shape<Axis>>
    : positions_along<std::index_sequence<Queries>, shape<Axis>> {};

// A workspace other than Wanted: for other sizes, if it states them, or for a different layer.
template <class Layer, class Given, class Wanted, class Sizes>
struct workspace_rule {
  using type =
      verdict<false, Layer,
              say::the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for, Sizes>;
};
template <class Layer, class Given, class Wanted, class Sizes>
  requires requires { typename Given::positions; }
struct workspace_rule<Layer, Given, Wanted, Sizes> {
  using given = typename positions_along<typename Given::positions, Sizes>::type;
  using type = first_error<
      verdict<std::is_same_v<given, Sizes>, Layer, struct the_workspace_is_for, given,
              say::so_pass_one_for, Sizes>,
      verdict<false, Layer,
              say::the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for, Sizes>>;
};
template <class Layer, class Wanted, class Sizes>
struct workspace_rule<Layer, on_stack, Wanted, Sizes> {
  using type = accepted;
};
template <class Layer, class Wanted, class Sizes>
struct workspace_rule<Layer, in_formula, Wanted, Sizes> {
  using type = accepted;
};
template <class Layer, class Wanted, class Sizes>
  requires(!std::is_same_v<Wanted, on_stack>)
struct workspace_rule<Layer, Wanted, Wanted, Sizes> {
  using type = accepted;
};

// Scratch on the stack within its budget, or exactly the workspace of this call. Sizes: the
// arguments of the layer's `workspace` template, as a shape.
template <class Layer, class Given, class Wanted, class Sizes>
using scratch_fits =
    first_error<verdict<!std::is_same_v<Given, on_stack> || sizeof(Wanted) <= UMBEL_STACK_BUDGET,
                        Layer, struct needs_a_workspace_of, number<sizeof(Wanted)>, say::bytes,
                        struct but_the_stack_budget_is, number<UMBEL_STACK_BUDGET>,
                        struct bytes_so_pass_one_for, Sizes>,
                verdict<!is_for_workers<Given>, Layer, say::expects_one_workspace_not_parallel>,
                typename workspace_rule<Layer, std::remove_const_t<Given>, Wanted, Sizes>::type,
                verdict<!is_const_workspace<Given>, Layer, say::the_workspace_is_const>>;

}  // namespace umbel::inline UMBEL_TARGET::detail::rules
UMBEL_WARNINGS_POP
