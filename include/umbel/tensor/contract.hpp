// SPDX-License-Identifier: BSL-1.0
// contract<axes...>(x, y): sums of products over named axes. Other axes that both sides have are
// paired up (batch with batch). The rest are kept: first those of x, in order, then those of y.
//
//   q (batch, heads, query, head_dim), k (batch, heads, key, head_dim)
//   contract<head_dim>(q, k) is (batch, heads, query, key)
//
// Both sides have the same element type. Each element is one sum of fused multiply-adds that starts
// at 0 and runs in increasing position, the last named axis fastest (kernel/plain/floats.hpp). For
// float and double, kernel/float/contract_loops.hpp computes it with at most 256 vectors of scratch
// on the stack; integers use the plain loops.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/float/contract_loops.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/pipe.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
template <class T, class Left, class Right, class Result, class... Families>
constexpr auto lower_contract() noexcept {
  constexpr std::size_t room =
      Result::rank > sizeof...(Families) ? Result::rank : sizeof...(Families);
  kernel::contract_axes<room> kept;
  for (std::size_t i = 0; i < Result::rank; ++i) {
    const std::size_t of_left = find_family(Left::families, Left::rank, Result::families[i]);
    const std::size_t of_right = find_family(Right::families, Right::rank, Result::families[i]);
    kept.push({Result::extents[i], of_left == npos ? 0 : Left::strides[of_left],
               of_right == npos ? 0 : Right::strides[of_right], Result::strides[i]});
  }
  const kernel::contract_axis summed[] = {{Left::template size_of<Families>,
                                           Left::template stride_of<Families>,
                                           Right::template stride_of<Families>, 0}...};
  return kernel::lower_contraction<T, room>(kept.list, kept.count, summed, sizeof...(Families));
}

template <auto Loops, class T>
UMBEL_NOINLINE void run_contract(const T* x, const T* y, T* out) noexcept {
  constexpr std::size_t scratch_size = kernel::contract_all_scratch<Loops, T>;
  alignas(64) T scratch[scratch_size != 0 ? scratch_size : 1];
  kernel::contract_all<Loops>(x, y, out, scratch);
}

// Out: the axes of the result with their strides in out. Plain: use the readable loops.
template <bool Plain, class Left, class Right, class Out, class... Families, class T>
constexpr void contract_into(const T* x, const T* y, T* out) noexcept {
  constexpr auto loops = lower_contract<T, Left, Right, Out, Families...>();
  if constexpr (!Plain && std::is_floating_point_v<T>) {
    if (!__builtin_is_constant_evaluated()) return run_contract<loops>(x, y, out);
  }
  kernel::plain::contract_all<loops>(x, y, out);
}

template <class... Families, class X, class Y>
constexpr auto contract_over(const X& x, const Y& y) noexcept {
  using left = typename X::layout;
  using right = typename Y::layout;
  using result = algebra::contract<left, right, Families...>;
  tensor_of<typename X::value_type, result> out;
  contract_into<false, left, right, result, Families...>(x.data(), y.data(), out.data());
  return out;
}

template <template <std::size_t> class... Axes>
struct contract_operation : detail::other_calls<say::contract, say::expects_two_tensors_or_views> {
  using detail::other_calls<say::contract, say::expects_two_tensors_or_views>::operator();

  template <shaped X, shaped Y>
  constexpr auto operator()(const X& x, const Y& y) const noexcept {
    using verdict = in_its_line<
        first_error<
            rules::contract<typename X::layout, typename Y::layout, detail::family_of<Axes>...>,
            rules::same_element<say::contract, typename X::value_type, typename Y::value_type>>,
        X, Y>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok && traced<X>)
      return x.template contract<detail::family_of<Axes>...>(x.as_node_like(y));
    else if constexpr (verdict::ok && traced<Y>)
      return y.as_node_like(x).template contract<detail::family_of<Axes>...>(y);
    else if constexpr (verdict::ok)
      return detail::contract_over<detail::family_of<Axes>...>(x, y);
    else
      return refusal<verdict>();
  }
};
}  // namespace detail

// contract<head_dim>(q, k): sums of products over one or more named axes. Other axes that both have
// are paired up; the rest are kept, those of q first.
template <template <std::size_t> class Axis, template <std::size_t> class... Axes>
UMBEL_EXPECTS("contract: expects names of axes; write contract<hidden>(x, y)")
inline constexpr detail::contract_operation<Axis, Axes...> contract{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
