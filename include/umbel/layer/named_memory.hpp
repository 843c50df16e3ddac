// SPDX-License-Identifier: BSL-1.0
// The order of a weight matrix in memory, by axis names: view_as<in_features,
// out_features>(memory), or PyTorch's view_as<out_features, in_features>(memory). The sizes are
// those of the map that the memory is passed to. Memory without an order is refused, since the
// order of a square matrix can't be told from its size.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/axes.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/tensor/other_calls.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::portable {

// The number of elements at a pointer: as many as needed; the caller vouches for them.
inline constexpr std::size_t vouched_for = npos - 1;

// Count elements, row-major in axes of these families; npos if Count is known only at run time.
template <class T, std::size_t Count, class... Family>
struct named_memory {
  const T* data;
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct weights;
}  // namespace say
UMBEL_SAYS(expects_memory_but_got_the_tensor, "expects memory, but got the tensor");
UMBEL_SAYS(so_pass_it_directly_since_its_axes_have_names,
           "; pass it directly, since its axes have names");
UMBEL_SAYS(the_order_of_the_axes_is_unknown_so_write_view_as_in_out_or_view_as_out_in,
           "the order of the axes is unknown; write view_as<in_features, out_features>(memory) or, "
           "as in torch, view_as<out_features, in_features>(memory)");
UMBEL_SAYS(are_not_the_axes_of_the_weights_which_are, "are not the axes of the weights, which are");
UMBEL_SAYS(are_not_in_the_order_that_a_borrowing_layer_needs,
           "are not in the order that a borrowing layer needs,");
UMBEL_SAYS(so_use_prepacked_which_accepts_any_order,
           "; use prepacked<layer>, which accepts any order");

UMBEL_SAYS(are_not_the_axes_of_the_bias_which_are, "are not the axes of the bias, which are");
UMBEL_SAYS(but_the_memory_of, ", but the memory of");
UMBEL_SAYS(has_no_sizes_so_write_them_in_view_as,
           "has no sizes; write view_as<in_features<8>, out_features<4>>(memory)");

template <class A, class... Family>
inline constexpr bool is_first = false;
template <class A, class... Family>
inline constexpr bool is_first<A, A, Family...> = true;

// Memory with named axes as weights, with the axes A and B in any order.
template <class Given>
struct named_axes;
template <class T, std::size_t Count, class... Family>
struct named_axes<portable::named_memory<T, Count, Family...>> {
  using value_type = T;
  using axes = shape<Family...>;
  static constexpr std::size_t count = Count;
  template <class A, class B>
  static constexpr bool are =
      std::is_same_v<axes, shape<A, B>> || std::is_same_v<axes, shape<B, A>>;
  template <class A, std::size_t SizeOfA, class B, std::size_t SizeOfB>
  static constexpr bool have_sizes = true;
  // With one axis: A, or one of these families.
  template <class A, class... Also>
  static constexpr bool is =
      (std::is_same_v<axes, shape<typename A::family>> || ... || std::is_same_v<axes, shape<Also>>);
  // The stride of A if B has this size.
  template <class A, std::size_t SizeOfB>
  static constexpr std::size_t stride = is_first<A, Family...> ? SizeOfB : 1;
};
template <tensor_like X>
struct named_axes<X> {
  using value_type = std::remove_const_t<typename X::value_type>;
  using layout = layout_of<X>;
  using axes = typename layout::axes;
  static constexpr std::size_t count = layout::count;
  template <class A, class B>
  static constexpr bool are =
      layout::rank == 2 && layout::template has<A> && layout::template has<B>;
  template <class A, std::size_t SizeOfA, class B, std::size_t SizeOfB>
  static constexpr bool have_sizes =
      layout::template size_of<A> == SizeOfA && layout::template size_of<B> == SizeOfB;
  template <class A, class...>
  static constexpr bool is = std::is_same_v<axes, shape<A>> && layout::contiguous;
  template <class A, std::size_t>
  static constexpr std::size_t stride = layout::template stride_of<A>;
};

// Given as weights from In to Out: by the names in_features and out_features, or the map's.
template <class In, class Out, class Given>
struct named_weights {
  using given = named_axes<Given>;
  static constexpr bool by_role =
      given::template are<axis_family<axes::in_features>, axis_family<axes::out_features>>;
  static constexpr bool by_name = !std::is_same_v<typename In::family, typename Out::family> &&
                                  given::template are<typename In::family, typename Out::family>;
  using in = std::conditional_t<by_role, axis_family<axes::in_features>, typename In::family>;
  using out = std::conditional_t<by_role, axis_family<axes::out_features>, typename Out::family>;
  static constexpr bool fits = [] {
    if constexpr (by_role || by_name)
      return given::template have_sizes<in, In::size, out, Out::size>;
    else
      return false;
  }();
  static constexpr std::size_t in_stride = [] {
    if constexpr (fits)
      return given::template stride<in, Out::size>;
    else
      return npos;
  }();
  static constexpr std::size_t out_stride = [] {
    if constexpr (fits)
      return given::template stride<out, In::size>;
    else
      return npos;
  }();
};

template <class W>
inline constexpr bool is_named_memory = false;
template <class T, std::size_t Count, class... Family>
inline constexpr bool is_named_memory<portable::named_memory<T, Count, Family...>> = true;
template <class W>
concept says_its_axes =
    tensor_like<W> || is_named_memory<std::remove_cvref_t<W>> || std::is_same_v<W, invalid>;
// A tensor that ends with the statement. W: a forwarding reference's type.
template <class W>
inline constexpr bool is_temporary_tensor = false;
template <class T, class... Axes>
inline constexpr bool is_temporary_tensor<tensor<T, Axes...>> = true;
template <class T, class... Axes>
inline constexpr bool is_temporary_tensor<const tensor<T, Axes...>> = true;
// Memory for a matrix, with names or without.
template <class W, class T>
concept matrix_of = says_its_axes<W> || lends<W, T>;

template <class W>
UMBEL_SHARED constexpr auto first_of_named(const W& w) noexcept {
  if constexpr (tensor_like<W>)
    return w.data();
  else
    return w.data;
}

namespace rules {
// Memory with Count elements (see named_memory) for Size weights along Map.
template <class Layer, class Map, std::size_t Size, std::size_t Count>
using elements_for = first_error<
    verdict<
        Count != npos, Layer, Map, say::needs, number<Size>, say::elements,
        say::
            but_the_size_of_a_vector_or_span_is_known_only_at_run_time_so_view_its_pointer_to_use_or_copy_it>,
    verdict<Count == portable::vouched_for || Count == Size, Layer, Map, say::needs, number<Size>,
            say::elements_but_the_memory_holds, number<Count>>>;
template <class T, class In, class Out, bool AnyOrder, class Given>
struct weights_with_names {
  using named = named_weights<In, Out, Given>;
  using given = typename named::given;
  using map = shape<axes::in_features<In::size>, axes::out_features<Out::size>>;
  using type = first_error<
      verdict<named::fits, say::weights, typename given::axes,
              say::are_not_the_axes_of_the_weights_which_are, map>,
      elements_for<say::weights, map, In::size * Out::size, given::count>,
      verdict<std::is_same_v<typename given::value_type, T>, say::weights, map, say::holds,
              element<T>, say::but_the_pointer_is_to, element<typename given::value_type>>,
      verdict<AnyOrder || ((In::size == 1 || named::in_stride == Out::size) &&
                           (Out::size == 1 || named::out_stride == 1)),
              say::weights, typename given::axes,
              say::are_not_in_the_order_that_a_borrowing_layer_needs, map,
              say::so_use_prepacked_which_accepts_any_order>>;
};
// A vector along Axis or, without sizes, its family or one of Also. AreNot: the words for others.
template <class T, class Axis, class AreNot, class Given, class... Also>
using vector_with_names = first_error<
    verdict<Given::template is<Axis, Also...>, say::weights, typename Given::axes, AreNot,
            shape<Axis>>,
    elements_for<say::weights, shape<Axis>, Axis::size, Given::count>,
    verdict<std::is_same_v<typename Given::value_type, T>, say::weights, shape<Axis>, say::holds,
            element<T>, say::but_the_pointer_is_to, element<typename Given::value_type>>>;
// x | permute<...> with memory that has no sizes yet.
template <class Operation, class Takes, class T, std::size_t Count, class... Family>
struct arguments_rule<Operation, Takes, portable::named_memory<T, Count, Family...>> {
  using type = verdict<never<T>, Operation, Takes, say::but_the_memory_of, listed<Family...>,
                       say::has_no_sizes_so_write_them_in_view_as>;
};
// Memory: a forwarding reference's type.
template <class Memory, class... Family>
using named_memory_stays =
    verdict<std::is_lvalue_reference_v<Memory> || std::is_pointer_v<Memory> ||
                borrowed_memory<Memory>,
            say::view_as, say::the_memory_of, listed<Family...>,
            say::is_a_temporary_that_would_be_destroyed_before_the_view_so_store_it_in_a_variable>;
template <class X>
using tensor_has_names =
    verdict<(sizeof(X) == 0), say::view_as, say::expects_memory_but_got_the_tensor,
            typename layout_of<X>::axes, say::so_pass_it_directly_since_its_axes_have_names>;
template <class W, bool AnyOrder>
using named_weights_stay =
    verdict<AnyOrder || !is_temporary_tensor<W>, say::view, say::the_memory_of,
            typename named_axes<std::remove_cvref_t<W>>::axes,
            say::is_a_temporary_that_would_be_destroyed_before_the_view_so_store_it_in_a_variable>;
template <class W>
using order_of_weights =
    verdict<(sizeof(W) == 0), say::weights,
            say::the_order_of_the_axes_is_unknown_so_write_view_as_in_out_or_view_as_out_in>;
}  // namespace rules

// The first element of a vector with names (rules::vector_with_names), or null if refused.
template <class T, class Axis, class AreNot, class Given, class... Also>
UMBEL_SHARED constexpr const T* borrow_named_vector(
    const std::remove_reference_t<Given>& v) noexcept {
  using plain = std::remove_cvref_t<Given>;
  if constexpr (!std::is_same_v<plain, invalid>) {
    using rule = first_error<rules::vector_with_names<T, Axis, AreNot, named_axes<plain>, Also...>,
                             rules::named_weights_stay<Given, false>>;
    static_assert(report<rule>::ok, "umbel: shapes do not fit");
    if constexpr (rule::ok) return first_of_named(v);
  }
  return nullptr;
}

template <class T, class M>
constexpr const T* first_of_memory(M& memory) noexcept {
  if constexpr (std::is_array_v<M> || std::is_pointer_v<M>)
    return memory;
  else
    return memory.data();
}
}  // namespace detail

// view_as<in_features, out_features>(memory): names the axes of an array, std::array, std::span or
// pointer; the sizes are those of the weights that it is passed for. Memory whose size is known
// only at run time does not compile there ("needs 32 elements but the size of the memory is known
// only at run time"); for a pointer, memory.data(), the caller vouches for the size.
template <template <std::size_t> class Axis, template <std::size_t> class... Axes, class Memory>
  requires(!tensor_like<Memory>)
[[nodiscard]] constexpr auto view_as(Memory&& memory) noexcept {
  using verdict =
      detail::rules::named_memory_stays<Memory, axis_family<Axis>, axis_family<Axes>...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  using plain = std::remove_cvref_t<Memory>;
  using T = std::remove_cvref_t<decltype(memory[0])>;
  constexpr std::size_t count = [] {
    if constexpr (std::is_pointer_v<plain>)
      return portable::vouched_for;
    else
      return detail::memory_size<plain>();
  }();
  return portable::named_memory<T, count, axis_family<Axis>, axis_family<Axes>...>{
      detail::first_of_memory<T>(memory)};
}

// view_as<in_features, out_features>(x): refused, since a tensor has axes.
template <template <std::size_t> class Axis, template <std::size_t> class... Axes, tensor_like X>
constexpr detail::invalid view_as(const X&) noexcept {
  if constexpr (detail::tensor_like<X>)
    static_assert(detail::report<detail::rules::tensor_has_names<X>>::ok,
                  "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
