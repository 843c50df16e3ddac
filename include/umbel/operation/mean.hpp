// SPDX-License-Identifier: BSL-1.0
// Means over named axes, which disappear: mean<token>(x); and of the first positions of an axis,
// with which a model pools padded sequences: mean<token>(x, lengths).
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/scores_seen.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/operation/reduce.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/loop.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(expects_a_tensor_then_its_lengths, "expects a tensor or view; then its lengths, if any");
UMBEL_SAYS(lengths_count_positions_of_one_axis_so_write_mean_of_one_axis,
           "lengths count positions of one axis; write mean<token>(x, lengths)");

namespace rules {
// The lengths of sequences: an integer, or some of the axes that the means keep.
template <class Name, class Kept, class Lengths>
struct lengths_of_means {
  using type = verdict<is_length<Lengths>, Name, struct lengths_must_be_integers_but_have_type,
                       element<Lengths>>;
};
template <class Name, class Kept, shaped Lengths>
struct lengths_of_means<Name, Kept, Lengths> {
  using axes = typename layout_of<Lengths>::axes;
  using type = first_error<
      verdict<holds_integers<Lengths>, Name, struct lengths_must_be_integers_but_have_type,
              element<typename Lengths::value_type>>,
      verdict<is_part_of<axes, Kept>, Name, struct lengths_have, axes, struct but_the_means_have,
              typename Kept::axes>>;
};
template <class X, class... Families>
using mean = first_error<reduce<say::mean, layout_of<X>, Families...>,
                         floating<say::mean, typename X::value_type>>;
template <class X, class Lengths, class... Families>
struct mean_of_lengths_rule {
  using type = mean<X, Families...>;
};
template <class X, class Lengths, class... Families>
  requires mean<X, Families...>::ok
struct mean_of_lengths_rule<X, Lengths, Families...> {
  using kept = reduced_layout<layout_of<X>, Families...>;
  using type =
      first_error<verdict<sizeof...(Families) == 1, say::mean,
                          say::lengths_count_positions_of_one_axis_so_write_mean_of_one_axis>,
                  typename lengths_of_means<say::mean, kept, Lengths>::type>;
};
}  // namespace rules

template <class Lengths>
concept lengths_of_positions = shaped<Lengths> || std::is_arithmetic_v<Lengths>;

// Do means that lie side by side share a length? Kept: the layout of x at one position.
template <class Kept, class Lengths>
inline constexpr bool share_lengths = false;
template <class Kept, class Lengths>
  requires(Kept::rank > 0)
inline constexpr bool share_lengths<Kept, Lengths> =
    Kept::strides[Kept::rank - 1] == 1 &&
    !Lengths::template has<typename Kept::template axis_at<Kept::rank - 1>::family>;

// Calls each(x, length, y, count) for means side by side: the first element of the first one, their
// length, the place of the first, and how many they are, as a constant.
template <class Kept, class Lengths, class T, class Integer, class Result, class Each>
constexpr void each_mean(const T* x, const Integer* lengths, Result* y, const Each& each) noexcept {
  const auto walk = [&]<class From, class To>(std::type_identity<From>, std::type_identity<To>,
                                              auto count) {
    using repeated = algebra::broadcast_to<Lengths, typename From::axes>;
    for_each(
        [&](const T& from, const Integer& length, Result& to) { each(&from, length, &to, count); },
        view_of<const T, From>(x), view_of<const Integer, repeated>(lengths),
        view_of<Result, To>(y));
  };
  if constexpr (share_lengths<Kept, Lengths>) {
    using last = typename Kept::template axis_at<Kept::rank - 1>;
    walk(std::type_identity<algebra::select<Kept, typename last::family>>{},
         std::type_identity<algebra::select<row_major<Kept>, typename last::family>>{},
         std::integral_constant<std::size_t, last::size>{});
  } else {
    walk(std::type_identity<Kept>{}, std::type_identity<row_major<Kept>>{},
         std::integral_constant<std::size_t, 1>{});
  }
}
// The same of x, with lengths in memory or one for all sequences.
template <class Family, class X, class Lengths, class Result, class Each>
constexpr void each_mean_of(const X& x, const Lengths& lengths, Result* y,
                            const Each& each) noexcept {
  using kept = algebra::select<layout_of<X>, Family>;
  if constexpr (shaped<Lengths>)
    each_mean<kept, layout_of<Lengths>>(x.data(), lengths.data(), y, each);
  else
    each_mean<kept, layout<>>(x.data(), &lengths, y, each);
}
template <class Layout, class Family>
struct axis_in {
  static constexpr std::size_t size = Layout::template size_of<Family>;
  static constexpr std::size_t step = Layout::template stride_of<Family>;
};
// A length within a sequence of Size positions.
template <std::size_t Size, class Integer>
constexpr std::size_t positions_within(Integer length) noexcept {
  return kernel::scores::lengths<Integer>::clamp(length, Size);
}

// Of nodes of a formula (formula/arithmetic.hpp).
template <class... Families>
struct mean_of_nodes;

// For floating-point numbers.
template <class... Families>
struct mean_over
    : computing<mean_over<Families...>, say::mean, say::expects_a_tensor_then_its_lengths> {
  using eager = computing<mean_over, say::mean, say::expects_a_tensor_then_its_lengths>;
  using eager::operator();
  using eager::into;
  template <class X>
  using rule = rules::mean<X, Families...>;
  template <class X>
  using result = reduced_layout<layout_of<X>, Families...>;

  template <class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    detail::reduce_to<kernel::plain::mean_of, layout_of<X>, Families...>(x.data(), y.data());
  }

  // lengths: an integer, or a tensor of integers with some of the axes of the result, as a mask has
  // them; clamped. Positions from there on are not read. The mean of no position is 0.
  template <shaped X, lengths_of_positions Lengths>
  constexpr auto operator()(const X& x, const Lengths& lengths) const noexcept {
    using verdict =
        in_its_line<typename rules::mean_of_lengths_rule<X, Lengths, Families...>::type, X>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok && traced<X>)
      return mean_of_nodes<Families...>::of(x, lengths);
    else if constexpr (verdict::ok)
      return filled<tensor_of<typename X::value_type, result<X>>>(
          [&](auto& y) { write_first(x, lengths, y.data()); });
    else
      return refusal<verdict>();
  }
  template <tensor_like Out, tensor_like X, lengths_of_positions Lengths>
  constexpr void into(Out&& out, const X& x, const Lengths& lengths) const noexcept {
    using verdict = typename rules::mean_of_lengths_rule<X, Lengths, Families...>::type;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using out_fits = rules::row_major_out<say::mean, Out, typename X::value_type, result<X>>;
      static_assert(report<out_fits>::ok, "umbel: shapes do not fit");
      if constexpr (out_fits::ok) write_first(x, lengths, out.data());
    }
  }

 private:
  template <class X, class Lengths, class T>
  static constexpr void write_first(const X& x, const Lengths& lengths, T* y) noexcept {
    using family = nth<0, Families...>;
    using along = axis_in<layout_of<X>, family>;
    detail::each_mean_of<family>(x, lengths, y, [](const T* from, auto length, T* to, auto count) {
      constexpr std::size_t means = decltype(count)::value;
      const std::size_t positions = detail::positions_within<along::size>(length);
      if (__builtin_is_constant_evaluated())
        kernel::plain::means_of_first<means, along::step>(from, positions, to);
      else
        kernel::means_of_first<means, along::step>(from, positions, to);
    });
  }
};
}  // namespace detail

// mean<token>(x): the mean over named axes, which disappear: one sum in increasing position,
// divided by the number of elements.
// mean<token>(x, lengths): over the first positions of each sequence, with which a model pools
// padded sequences: sum<token> of x with zeros from the length on, divided by the length. lengths:
// an integer, or a tensor of integers with some of the other axes, clamped to 0 and the number of
// positions. Positions from the length on are not read, so they may hold NaN. Of none, 0. Also in a
// formula.
//   "umbel: mean: lengths have [batch=3] but the means have [batch=2, hidden=8]"
template <template <std::size_t> class... Axes>
UMBEL_EXPECTS("mean: expects names of axes; write mean<token>(x)")
inline constexpr detail::mean_over<detail::family_of<Axes>...> mean{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
