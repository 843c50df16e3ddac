// SPDX-License-Identifier: BSL-1.0
// Reductions over one or more named axes, which disappear: sum<key>(x), max<key, head_dim>(x), min,
// product; x | sum<key> is the same. Any strides. Over all axes, the result is a tensor with one
// element and no axes, which converts to a number: float y = sum<query, key>(x).
//
// Elements are numbered in the order of the axes of x, the last one fastest. A sum or product has
// 16 chains, with element e in chain e % 16, folded in halves; a mean is one chain and a division.
// So the result depends on the shape, not on the memory layout.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/float/reduce.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/operation/elementwise_function.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct cumulative_sum;
struct flip;
struct kth_largest;
struct max;
struct mean;
struct min;
struct product;
struct sum;
struct variance;
}  // namespace say

UMBEL_SAYS(expects_one_tensor_and_named_axes_so_write_maximum_or_minimum_of_two,
           "expects one tensor and named axes, x | max<key>; for two tensors write maximum(x, y) "
           "or minimum(x, y)");
UMBEL_SAYS(expects_names_of_axes_without_sizes_so_write_key,
           "expects names of axes, not sizes, numbers or options such as exclusive; write key, not "
           "key<6> or 1");

// A layout's reduced or kept axes as loops.
template <class Layout, bool Reduced, class... Families>
constexpr auto walk_over() noexcept {
  kernel::axes_walk<Layout::rank + 1> walk{};
  for (std::size_t i = 0; i < Layout::rank; ++i) {
    if (((Layout::families[i] == family_id<Families>) || ...) != Reduced) continue;
    walk.extents[walk.rank] = Layout::extents[i];
    walk.strides[walk.rank++] = Layout::strides[i];
  }
  return kernel::fewest_axes(walk);
}

template <class Operation, class Layout, class... Families, class T>
constexpr void reduce_to(const T* x, T* y) noexcept {
  constexpr auto kept = walk_over<Layout, false, Families...>();
  constexpr auto reduced = walk_over<Layout, true, Families...>();
  if (__builtin_is_constant_evaluated())
    kernel::plain::reduce<Operation, kept, reduced>(x, y);
  else
    kernel::reduce<Operation, kept, reduced>(x, y);
}

template <class Layout, class... Families>
using reduced_layout = row_major<algebra::reduce<Layout, Families...>>;

namespace rules {
template <class Name, class... X>
using along_axes_only =
    verdict<one_is_invalid<X...>, Name,
            say::expects_one_tensor_and_named_axes_so_write_maximum_or_minimum_of_two>;
template <class Name, class... X>
using names_of_axes =
    verdict<one_is_invalid<X...>, Name, say::expects_names_of_axes_without_sizes_so_write_key>;
template <class Name, class X, class... Families>
struct reduction_rule {
  using type = accepted;
};
template <class Name, shaped X, class... Families>
struct reduction_rule<Name, X, Families...> {
  using T = typename X::value_type;
  using type = first_error<reduce<Name, layout_of<X>, Families...>,
                           verdict<is_number<T>, Name, say::needs_numbers_not, option_word<T>>>;
};
template <class Name, class X, class... Families>
using reduction = typename reduction_rule<Name, X, Families...>::type;
}  // namespace rules

// Combine: from kernel/plain/floats.hpp. into(out, x): out must not overlap x.
template <class Name, class Combine, template <std::size_t> class... Axes>
struct reduction_operation : computing<reduction_operation<Name, Combine, Axes...>, Name> {
  using eager = computing<reduction_operation, Name>;
  using other_calls_and_into<Name>::operator();
  template <class X>
  using rule = rules::reduction<Name, X, family_of<Axes>...>;
  template <class X>
  using result = reduced_layout<layout_of<X>, family_of<Axes>...>;

  template <class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    detail::reduce_to<Combine, layout_of<X>, family_of<Axes>...>(x.data(), y.data());
  }
  template <shaped X>
  constexpr auto operator()(const X& x) const noexcept {
    if constexpr (traced<X>) {
      using verdict = in_its_line<rule<X>, X>;
      static_assert(report<verdict>::ok, "umbel: shapes do not fit");
      if constexpr (verdict::ok)
        return x.template reduce<Name, Combine, family_of<Axes>...>();
      else
        return refusal<verdict>();
    } else {
      return eager::operator()(x);
    }
  }
};
template <template <std::size_t> class... Axes>
using sum_operation = reduction_operation<say::sum, kernel::plain::sum_of, Axes...>;
template <template <std::size_t> class... Axes>
using max_operation = reduction_operation<say::max, kernel::plain::max_of, Axes...>;
template <template <std::size_t> class... Axes>
using min_operation = reduction_operation<say::min, kernel::plain::min_of, Axes...>;

// One sum of squared deviations from the mean in increasing position, with fused multiply-adds.
template <template <std::size_t> class... Axes>
struct variance_operation : detail::computing<variance_operation<Axes...>, say::variance> {
  template <class X>
  using rule = first_error<rules::reduce<say::variance, layout_of<X>, detail::family_of<Axes>...>,
                           rules::floating<say::variance, typename X::value_type>>;
  template <class X>
  using result = reduced_layout<layout_of<X>, detail::family_of<Axes>...>;

  template <class X, class Y>
  static constexpr void write(const X& x, Y& y) noexcept {
    using T = typename Y::value_type;
    using repeated = algebra::broadcast_to<result<X>, typename layout_of<X>::axes>;
    constexpr auto count = static_cast<T>(layout_of<X>::count / result<X>::count);
    tensor_of<T, result<X>> means{};
    detail::reduce_to<kernel::plain::mean_of, layout_of<X>, detail::family_of<Axes>...>(
        x.data(), means.data());
    for_each([](T& squares) { squares = 0; }, y);
    for_each(
        [](const T& element, const T& mean_of_row, T& squares) {
          const T apart = element - mean_of_row;
          squares = simd::fma(apart, apart, squares);
        },
        x, view_of<const T, repeated>(means.data()), view_of<T, repeated>(y.data()));
    for_each([](T& squares) { squares /= count; }, y);
  }
};
}  // namespace detail

// variance<hidden>(x): the mean square of the deviations from the mean, over named axes, which
// disappear. It divides by the number of elements, as norms do (numpy's var, torch's with
// correction=0).
template <template <std::size_t> class... Axes>
UMBEL_EXPECTS("variance: expects names of axes; write variance<token>(x)")
inline constexpr detail::variance_operation<Axes...> variance{};

// product<token>(x): the product over named axes, as sum is their sum. Products of integers wrap.
template <template <std::size_t> class... Axes>
UMBEL_EXPECTS("product: expects names of axes; write product<token>(x)")
inline constexpr detail::reduction_operation<detail::say::product,
                                             detail::kernel::plain::product_of, Axes...> product{};

// (Functions, not objects: with `using namespace std`, objects max and min would be ambiguous. So x
// | max<key> names the overload without arguments: pipe.hpp.)

// sum<key>(x): the sum over named axes of a tensor or view of numbers, as a row-major tensor of the
// other axes. Sums of integers overflow as + does.
template <template <std::size_t> class... Axes, class X>
  requires(detail::elements<X> || detail::traced<X>)
constexpr auto sum(const X& x) noexcept {
  using verdict =
      detail::in_its_line<detail::rules::reduction<detail::say::sum, X, detail::family_of<Axes>...>,
                          X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::computed_where<verdict, detail::sum_operation<Axes...>>(x);
}
template <template <std::size_t> class... Axes>
constexpr detail::sum_operation<Axes...> sum() noexcept {
  return {};
}
template <template <std::size_t> class... Axes, class... X>
  requires(sizeof...(X) > 1 && detail::are_other_than<1, X...>)
constexpr auto sum(const X&...) noexcept {
  using verdict = detail::in_its_line<detail::rules::names_of_axes<detail::say::sum, X...>, X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}
// max<key>(x): the largest element over named axes, as a row-major tensor of the others; NaN if one
// is NaN (as torch's amax). Of -0 and +0, it may be either, but always the same one.
template <template <std::size_t> class... Axes, class X>
  requires(detail::elements<X> || detail::traced<X>)
constexpr auto(max)(const X& x) noexcept {
  using verdict =
      detail::in_its_line<detail::rules::reduction<detail::say::max, X, detail::family_of<Axes>...>,
                          X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::computed_where<verdict, detail::max_operation<Axes...>>(x);
}
template <template <std::size_t> class... Axes>
constexpr detail::max_operation<Axes...>(max)() noexcept {
  return {};
}
template <template <std::size_t> class... Axes, class... X>
  requires(sizeof...(X) > 1 && detail::are_other_than<1, X...>)
constexpr auto(max)(const X&...) noexcept {
  using verdict = detail::in_its_line<detail::rules::along_axes_only<detail::say::max, X...>, X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}
// min<key>(x): the smallest element over named axes; NaN and zeros as for max.
template <template <std::size_t> class... Axes, class X>
  requires(detail::elements<X> || detail::traced<X>)
constexpr auto(min)(const X& x) noexcept {
  using verdict =
      detail::in_its_line<detail::rules::reduction<detail::say::min, X, detail::family_of<Axes>...>,
                          X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::computed_where<verdict, detail::min_operation<Axes...>>(x);
}
template <template <std::size_t> class... Axes>
constexpr detail::min_operation<Axes...>(min)() noexcept {
  return {};
}
template <template <std::size_t> class... Axes, class... X>
  requires(sizeof...(X) > 1 && detail::are_other_than<1, X...>)
constexpr auto(min)(const X&...) noexcept {
  using verdict = detail::in_its_line<detail::rules::along_axes_only<detail::say::min, X...>, X...>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}

// Axes with sizes, by number, and options are refused: sum<key<6>>(x), sum<1>(x), x | sum<1>.
#define UMBEL_INSTEAD                                                                              \
  "expects names of axes, not sizes, numbers or options such as exclusive; write key, not key<6> " \
  "or 1"
UMBEL_REFUSED_RESULT(sum, UMBEL_INSTEAD)
UMBEL_REFUSES_NUMBERS_OF_TENSOR(sum, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(sum, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_NUMBERS_PIPED(sum, UMBEL_INSTEAD)
UMBEL_REFUSES_PIPED(sum, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSED_RESULT(max, UMBEL_INSTEAD)
UMBEL_REFUSES_NUMBERS_OF_TENSOR(max, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(max, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_NUMBERS_PIPED(max, UMBEL_INSTEAD)
UMBEL_REFUSES_PIPED(max, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSED_RESULT(min, UMBEL_INSTEAD)
UMBEL_REFUSES_NUMBERS_OF_TENSOR(min, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(min, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_NUMBERS_PIPED(min, UMBEL_INSTEAD)
UMBEL_REFUSES_PIPED(min, UMBEL_INSTEAD, UMBEL_TYPES)
#undef UMBEL_INSTEAD

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
