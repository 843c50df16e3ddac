// SPDX-License-Identifier: BSL-1.0
// The rules of the operations on shapes: each one's verdict on a layout. docs/errors.md lists every
// message with its cause and cure. See concepts.hpp for the same questions as concepts.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/algebra.hpp>
#include <umbel/shape/words.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace rules {

template <class Operation, class Layout, class Family>
using has_axis = verdict<Layout::template has<Family>, Operation, struct there_is_no_axis, Family,
                         say::in, typename Layout::axes>;

template <class Family, class... Families>
inline constexpr std::size_t times_named =
    (std::size_t{0} + ... + std::is_same_v<Family, Families>);

template <class Operation, class List, class... Families>
using names_each_once =
    first_error<verdict<times_named<Families, Families...> == 1, Operation, say::the_axis, Families,
                        struct is_named_twice_in, List>...,
                accepted>;

// A new axis may reuse the name of one that the operation removes.
template <class Operation, class Layout, class Family, class... Removed>
using is_new_axis =
    verdict<!Layout::template has<Family> || (std::is_same_v<Family, Removed> || ...), Operation,
            Family, struct is_already_an_axis_of, typename Layout::axes>;

// ---- shapes -------------------------------------------------------------------------------------
// Can every position have an element? One rule for every product of sizes: the bytes of as many
// doubles (and on 64-bit targets, of a few such arrays with padded rows, as a layer has) fit
// std::ptrdiff_t: 2^51 elements on 64-bit targets, 2^28 on 32-bit ones.
template <class... Axes>
constexpr bool countable() {
  std::size_t room = npos >> (sizeof(std::size_t) > 4 ? 13 : 4);
  ((room /= Axes::size ? Axes::size : 1), ...);
  return room != 0;
}

template <class... Axes>
using holds = verdict<countable<Axes...>(), say::shape, shape<typename Axes::plain...>,
                      struct has_more_elements_than_memory_can_hold>;

// (In a function: g++ 12 does not expand a requires-expression inside an alias.)
template <class... Axes>
constexpr bool strides_for_all_or_none() {
  return (requires { Axes::stride; } && ...) || !(requires { Axes::stride; } || ...);
}

// The first argument, counted from 1, that is not an axis; npos if all are.
template <class... Axes>
constexpr std::size_t first_other_than_axis() {
  std::size_t at = 0, found = npos;
  ((++at, found = found == npos && !axis_like<Axes> ? at : found), ...);
  return found;
}
// An axis as written, and whether its base has the same name: not so for struct frames :
// axis<token, N> or struct frames : axis<token, 4>.
template <class Axis>
struct family_as_written {
  using type = std::conditional_t<std::is_base_of_v<typename Axis::plain, Axis>,
                                  typename Axis::family, element<Axis>>;
};
template <class Axis, std::size_t Stride>
struct family_as_written<strided<Axis, Stride>> : family_as_written<Axis> {};
template <template <std::size_t> class Axis, std::size_t Size>
struct family_as_written<Axis<Size>> {
  using type = axis_family<Axis>;
};
template <class Axis>
using own_family = typename family_as_written<Axis>::type;
template <class Axis>
inline constexpr bool is_of_its_own_name = std::is_same_v<own_family<Axis>, typename Axis::family>;

template <class... Axes>
struct well_formed_rule {
  using type =
      first_error<verdict<!(std::is_same_v<Axes, portable::unknown_axes> || ...), say::view,
                          say::an_array_has_no_named_axes_so_write_view_as>,
                  verdict<false, say::shape, say::item, number<first_other_than_axis<Axes...>()>,
                          struct in_the_list_of_axes_is_not_an_axis>>;
};
template <axis_like... Axes>
struct well_formed_rule<Axes...> {
  using type = first_error<
      verdict<is_of_its_own_name<Axes>, say::axis, own_family<Axes>, say::has_the_base_axis_of,
              typename Axes::family, say::so_derive_it_from_axis_of_itself_and_N>...,
      verdict<Axes::size != 0, say::shape, typename Axes::plain, struct has_size_0_in,
              shape<typename Axes::plain...>>...,
      names_each_once<say::shape, shape<typename Axes::plain...>, typename Axes::family...>,
      verdict<strides_for_all_or_none<Axes...>(), say::shape, struct only_some_axes_of,
              shape<typename Axes::plain...>, struct have_strides_so_give_them_to_all_or_none>,
      holds<Axes...>>;
};
template <class... Axes>
using well_formed = typename well_formed_rule<Axes...>::type;

// A tensor or view needs an element type, not an axis.
template <class T>
struct element_rule {
  using type = accepted;
};
template <axis_like Axis>
struct element_rule<Axis> {
  using type = verdict<false, say::shape, struct expected_an_element_type_but_got, Axis>;
};
template <class Tensor>
  requires requires { typename Tensor::layout::axes; }
struct element_rule<Tensor> {
  using type = verdict<false, say::shape, struct expected_an_element_type_but_got,
                       typename Tensor::layout::axes>;
};
template <class T, class... Axes>
using elements_along = first_error<typename element_rule<T>::type, well_formed<Axes...>>;

template <class Layout, std::size_t Count>
using access_by_position =
    verdict<Count == Layout::rank, say::access, number<Count>,
            std::conditional_t<Count == 1, struct position_for_the, struct positions_for_the>,
            number<Layout::rank>, say::axes_of, typename Layout::axes>;

// x[i] on a tensor or with an index that doesn't support it. I: the index.
template <class Layout, class I>
using access_by_brackets = first_error<
    verdict<one_is_invalid<I> || !std::is_integral_v<I>, say::brackets, say::has_1_position_for_the,
            number<Layout::rank>, say::axes_of, typename Layout::axes, say::so_write_x_of_i_and_j>,
    verdict<one_is_invalid<I> || std::is_integral_v<I>, say::brackets,
            say::needs_one_integer_and_one_axis_so_write_x_with_a_position_for_each_of,
            typename Layout::axes>>;

template <bool Ok>
using position_along_a_name =
    verdict<Ok, say::at,
            struct expects_the_name_of_one_axis_then_a_position_so_write_at_query_of_3>;

// A tensor with axes in place of a number (clang; g++ prints UMBEL_NO_NUMBER).
template <class Layout>
using one_number = verdict<Layout::rank == 0, say::tensor, typename Layout::axes,
                           say::is_not_one_number_so_write_x_of_i_and_j_or_reduce_all_of_its_axes>;

// Positions that are neither all integers nor all by name.
template <class Layout, bool Ok>
using access_in_one_way =
    verdict<Ok, say::access, struct positions_must_all_be_integers_or_all_be_named_in,
            typename Layout::axes>;

template <class Layout, class... Families>
using access = first_error<has_axis<say::access, Layout, Families>...,
                           names_each_once<say::access, typename Layout::axes, Families...>,
                           verdict<sizeof...(Families) == Layout::rank, say::access, say::lists,
                                   number<sizeof...(Families)>, say::of_the, number<Layout::rank>,
                                   say::axes_of, typename Layout::axes>>;

// ---- views --------------------------------------------------------------------------------------
// Parts with explicit sizes.
template <class Layout, class Family, class... Parts>
using split_into = first_error<
    has_axis<say::split, Layout, Family>,
    names_each_once<say::split, shape<Parts...>, typename Parts::family...>,
    is_new_axis<say::split, Layout, typename Parts::family, Family>...,
    verdict<shape<Parts...>::count == Layout::template size_of<Family>, say::split,
            struct the_parts, shape<Parts...>, struct multiply_to, number<shape<Parts...>::count>,
            struct but_the_whole_is, axis_of<Layout, Family>>>;

// Two parts; the inner size is computed.
template <class Layout, class Family, class Outer, template <std::size_t> class Inner>
using split = first_error<
    has_axis<say::split, Layout, Family>, well_formed<Outer>,
    verdict<Layout::template size_of<Family> % (Outer::size ? Outer::size : 1) == 0, say::split,
            axis_of<Layout, Family>, say::into, Outer, say::leaves_a_remainder_of,
            number<Layout::template size_of<Family> % (Outer::size ? Outer::size : 1)>>,
    names_each_once<say::split, shape<Outer>, typename Outer::family, detail::family_of<Inner>>,
    is_new_axis<say::split, Layout, typename Outer::family, Family>,
    is_new_axis<say::split, Layout, detail::family_of<Inner>, Family>>;

template <class Layout, class First, class... Rest>
constexpr bool neighbours() {
  std::size_t expected = Layout::template position<First>;
  return ((Layout::template position<Rest> == ++expected) && ...);
}

template <class Layout, class Result, class... Families>
using merge = first_error<
    has_axis<say::merge, Layout, Families>...,
    verdict<neighbours<Layout, Families...>(), say::merge, shape<axis_of<Layout, Families>...>,
            struct are_not_adjacent_in_this_order_in, typename Layout::axes,
            say::so_permute_them_together_then_contiguous>,
    is_new_axis<say::merge, Layout, Result, Families...>,
    verdict<algebra::mergeable_strides<Layout, Families...>(), say::merge, struct the_elements_of,
            shape<axis_of<Layout, Families>...>,
            say::are_not_contiguous_in_memory_so_pass_contiguous_of_x>>;

// The last family is the result.
template <class Layout, class Sequence, class... Families>
struct merge_into_last_rule {
  using type =
      verdict<never<Layout>, say::merge, say::expects_two_or_more_axes_then_the_name_of_the_result>;
};
template <class Layout, std::size_t... I, class... Families>
  requires(sizeof...(I) >= 2)
struct merge_into_last_rule<Layout, std::index_sequence<I...>, Families...> {
  using type =
      merge<Layout, detail::nth<sizeof...(I), Families...>, detail::nth<I, Families...>...>;
};
template <class Layout, class... Families>
using merge_into_last = typename merge_into_last_rule<
    Layout, std::make_index_sequence<sizeof...(Families) ? sizeof...(Families) - 1 : 0>,
    Families...>::type;

template <class Layout, class... Families>
using permute =
    first_error<has_axis<say::permute, Layout, Families>...,
                names_each_once<say::permute, shape<axis_of<Layout, Families>...>, Families...>,
                verdict<sizeof...(Families) == Layout::rank, say::permute, say::lists,
                        number<sizeof...(Families)>, say::of_the, number<Layout::rank>,
                        say::axes_of, typename Layout::axes>>;

template <class Layout, class First, class Second>
using transposed =
    first_error<has_axis<say::transposed, Layout, First>, has_axis<say::transposed, Layout, Second>,
                names_each_once<say::transposed, shape<axis_of<Layout, First>>, First, Second>>;

template <class Layout, class From, class To>
using rename = first_error<has_axis<say::rename_axis, Layout, From>,
                           is_new_axis<say::rename_axis, Layout, To, From>>;

template <class Layout, class Wanted>
using reshape_to =
    first_error<verdict<Layout::count == Wanted::count, say::reshape, typename Layout::axes,
                        say::has, number<Layout::count>, struct elements_but, Wanted, say::has,
                        number<Wanted::count>, say::elements>,
                verdict<Layout::contiguous, say::reshape, typename Layout::axes,
                        say::is_not_row_major_in_memory_so_pass_contiguous_of_x>>;
template <class Layout, class... Axes>
using reshape =
    first_error<well_formed<Axes...>, reshape_to<Layout, shape<detail::axis_or_none<Axes>...>>>;

template <class Layout, class Family>
using select = has_axis<say::select_at, Layout, Family>;

template <class Family, bool Ok>
using select_where = verdict<Ok, say::select_at, struct needs_a_position_along, Family>;

template <class Layout, class Family, std::size_t Position>
using select_at = first_error < has_axis<say::select_at, Layout, Family>,
      verdict<Position<Layout::template size_of<Family>, say::select_at, say::position,
                       number<Position>, say::is_past_the_end_of, axis_of<Layout, Family>>>;

template <class Layout, class Family, std::size_t First, std::size_t Count>
using slice = first_error<
    has_axis<say::slice, Layout, Family>,
    verdict<Count != 0, say::slice, say::none_of, axis_of<Layout, Family>, say::would_be_left>,
    verdict<Count <= Layout::template size_of<Family> &&
                First <= Layout::template size_of<Family> - Count,
            say::slice, number<Count>,
            std::conditional_t<Count == 1, struct position_from, struct positions_from>,
            number<First>,
            std::conditional_t<Count == 1, struct reaches_past_the_end_of,
                               struct reach_past_the_end_of>,
            axis_of<Layout, Family>>>;

template <class Layout, class... Axes>
struct broadcast_rule {
  using target = layout<detail::axis_or_none<Axes>...>;
  template <class Sequence>
  struct for_axes;
  template <std::size_t... I>
  struct for_axes<std::index_sequence<I...>> {
    template <std::size_t J>
    using family = typename Layout::template axis_at<J>::family;
    using type = first_error<well_formed<Axes...>,
                             verdict<target::template has<family<I>>, say::broadcast,
                                     typename Layout::template axis_at<I>, struct is_not_an_axis_of,
                                     typename target::axes>...,
                             verdict<Layout::extents[I] == 1 ||
                                         target::template size_of<family<I>> == Layout::extents[I],
                                     say::broadcast, typename Layout::template axis_at<I>,
                                     struct does_not_fit, axis_of<target, family<I>>>...>;
  };
  using type = typename for_axes<std::make_index_sequence<Layout::rank>>::type;
};
template <class Layout, class... Axes>
using broadcast = typename broadcast_rule<Layout, Axes...>::type;

}  // namespace rules
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
