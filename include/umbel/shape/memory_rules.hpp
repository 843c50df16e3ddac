// SPDX-License-Identifier: BSL-1.0
// The rules of a tensor's sources (memory, lists, other tensors) and of viewed memory. See
// rules.hpp for the rules of shapes.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::rules {

// Memory of a known number of elements (npos: known only at run time), read as a shape. A layout
// with gaps may end in one more gap: rows padded to 128 fit float[rows * 128].
template <class Layout, std::size_t Count, class Operation = say::memory>
using memory = first_error<
    verdict<
        Count != npos, Operation, typename Layout::axes, say::needs, number<Layout::span>,
        say::elements,
        say::
            but_the_size_of_a_vector_or_span_is_known_only_at_run_time_so_view_its_pointer_to_use_or_copy_it>,
    verdict<Count == Layout::span || (!Layout::contiguous && Count > Layout::span), Operation,
            typename Layout::axes, say::needs, number<Layout::span>,
            say::elements_but_the_memory_holds, number<Count>>>;

// Elements of From for a tensor of To: fractions are not truncated.
template <class From, class To, class Operation = say::tensor>
using keeps_fractions =
    verdict<!std::is_integral_v<To> || std::is_integral_v<From>, Operation, say::elements_of,
            element<From>, struct do_not_fit_a_tensor_of, element<To>>;

// Elements of From copied into a tensor of To: fractions are neither truncated nor rounded.
template <class From, class To>
using keeps_elements =
    first_error<keeps_fractions<From, To>,
                verdict<!(std::is_floating_point_v<From> && std::is_floating_point_v<To>) ||
                            sizeof(From) <= sizeof(To),
                        say::tensor, say::elements_of, element<From>,
                        struct would_be_rounded_in_a_tensor_of, element<To>, say::so_write_copy>>;

// A list of elements, T{}... of them, for a tensor of To.
template <class Layout, class To, class... T>
using list = first_error<
    verdict<Layout::rank != 0 || sizeof...(T) == 1, say::tensor,
            say::has_no_axes_so_one_element_but_the_list_has, number<sizeof...(T)>,
            say::so_write_the_axes_in_its_type>,
    verdict<sizeof...(T) == Layout::count, say::tensor, typename Layout::axes, say::needs,
            number<Layout::count>, struct elements_but_the_list_has, number<sizeof...(T)>>,
    keeps_fractions<T, To>...>;

// Types that can't be elements. (T in the condition delays it until T is known.)
template <class T>
using element_is_a_reference =
    verdict<!std::is_reference_v<T>, say::tensor, element<T>,
            say::is_not_an_element_type_so_write_float_or_another_object_type>;
template <class T>
using element_is_const =
    verdict<!std::is_const_v<T>, say::tensor, element<T>,
            say::is_not_an_element_type_so_write_const_tensor_or_view_of_const_float>;

// An integer in a list that To can't hold.
template <class To>
using held_in_the_list =
    verdict<(sizeof(To) == 0), say::tensor,
            struct an_integer_in_the_list_is_negative_or_too_large_for, element<To>>;

// With two axes, one list of Columns elements per position of the first.
template <class Layout, std::size_t... Columns>
using lists =
    first_error<verdict<Layout::rank == 2, say::tensor, typename Layout::axes,
                        say::needs_one_list_of, number<Layout::count>, say::elements>,
                verdict<Layout::extents[0] == sizeof...(Columns) &&
                            ((Layout::extents[Layout::rank - 1] == Columns) && ...),
                        say::tensor, typename Layout::axes, say::needs, number<Layout::extents[0]>,
                        say::lists_of, number<Layout::extents[Layout::rank - 1]>, say::elements>>;

// With three axes, lists of lists. Rows, Columns: the number of lists and of elements in each.
template <class Layout, class Rows, class Columns>
struct lists_of_lists_rule;
template <class Layout, std::size_t... Rows, std::size_t... Columns>
struct lists_of_lists_rule<Layout, std::index_sequence<Rows...>, std::index_sequence<Columns...>> {
  static constexpr std::size_t rows = Layout::extents[Layout::rank == 3 ? 1 : 0];
  static constexpr std::size_t columns = Layout::extents[Layout::rank == 3 ? 2 : 0];
  using type = first_error<
      verdict<Layout::rank == 3, say::tensor, typename Layout::axes, say::needs_one_list_of,
              number<Layout::count>, say::elements>,
      verdict<Layout::extents[0] == sizeof...(Rows) && ((rows == Rows) && ...) &&
                  ((columns == Columns) && ...),
              say::tensor, typename Layout::axes, say::needs, number<Layout::extents[0]>,
              say::lists_of, number<rows>, say::lists_of, number<columns>, say::elements>>;
};
template <class Layout, class Rows, class Columns>
using lists_of_lists = typename lists_of_lists_rule<Layout, Rows, Columns>::type;

// Sizes without names instead of axes.
template <bool Ok, std::size_t... Sizes>
using view_as_sizes =
    verdict<Ok, say::view_as, say::axes_have_names_so_write_view_as_batch_not, number<Sizes>...>;

// A tensor or view instead of memory.
template <class X>
using view_as_of_a_tensor =
    verdict<(sizeof(X) == 0), say::view_as, say::expects_memory_so_write_reshape_for_the_tensor,
            typename layout_of<X>::axes>;
template <bool Ok>
using view_as_with_sizes =
    verdict<Ok, say::view_as, say::sizes_at_run_time_need_one_tensor_type_and_a_pointer>;

// To the weights of a map.
template <class Layout, bool Ok = (Layout::rank == npos)>
using copied_to_weights =
    verdict<Ok, say::copy, typename Layout::axes,
            say::cannot_be_copied_to_weights_so_copy_it_to_a_view_of_their_array_weight>;

// (A concept: in an alias g++ 12 evaluates a requirement to false.)
template <class X>
concept may_hold_a_value = requires(const X& x) { x.has_value(); };
// Assigning something other than a tensor.
template <class Layout, class Other>
using assigned_to_a_tensor = verdict<
    (sizeof(Other) == 0), say::tensor, typename Layout::axes,
    std::conditional_t<
        std::is_arithmetic_v<Other>, say::cannot_be_assigned_a_number_so_write_a_for_loop,
        std::conditional_t<
            may_hold_a_value<Other>,
            say::cannot_be_assigned_a_result_or_expected_view_so_check_it_and_assign_star_of_it,
            say::can_only_be_assigned_a_tensor_or_view_so_copy_an_array_or_vector_from_view_as>>>;

template <class Layout, class Operation = say::view>
using view_of_temporary =
    verdict<Layout::span == 0, Operation, say::the_memory_of, typename Layout::axes,
            say::is_a_temporary_that_would_be_destroyed_before_the_view_so_store_it_in_a_variable>;

}  // namespace umbel::inline UMBEL_TARGET::detail::rules
UMBEL_WARNINGS_POP
