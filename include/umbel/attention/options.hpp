// SPDX-License-Identifier: BSL-1.0
// Options of a layer: types after its axes, in any order, each at most once.
#pragma once

#include <umbel/shape/rules.hpp>

namespace umbel {

// Whether projections add a bias. A layer that is not told has none, as in "Dive into Deep Learning"
// (PyTorch's and Haiku's own default is to have one).
template <bool Value>
struct bias {
  static constexpr bool value = Value;
};

namespace say {
struct is_not_an_option;
struct is_given_twice;
}  // namespace say

namespace detail {

template <class Option>
inline constexpr bool is_bias = false;
template <bool Value>
inline constexpr bool is_bias<bias<Value>> = true;

// The bias option among others; false without one.
template <class... Options>
inline constexpr bool bias_option = [] {
  if constexpr ((is_bias<Options> || ...))
    return ([] {
      if constexpr (is_bias<Options>)
        return Options::value;
      else
        return false;
    }() ||
            ...);
  else
    return false;
}();

}  // namespace detail

namespace rules {
// Layer: the word that names it.
template <class Layer, class... Options>
using options = first_error<
    verdict<detail::is_bias<Options>, Layer, element<Options>, say::is_not_an_option>...,
    verdict<(std::size_t{0} + ... + detail::is_bias<Options>) <= 1, Layer, element<bias<true>>,
            say::is_given_twice>>;
}  // namespace rules

}  // namespace umbel
