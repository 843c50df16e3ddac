// SPDX-License-Identifier: BSL-1.0
// Base of what is called like a layer: arguments that fit no form of the call get a sentence that says
// which there may be. One bug is one error.
#pragma once

#include <umbel/attention/rules.hpp>
#include <umbel/tensor/pipe.hpp>

namespace umbel::detail {

// Layer: the word that names it. Takes: the words that say what it takes. A derived struct has `using
// other_calls<...>::operator()`, and `into` where it has that form.
template <class Layer, class Takes>
struct other_calls : operation {
  template <class... Arguments>
  constexpr invalid operator()(const Arguments&...) const noexcept {
    static_assert(report<rules::arguments<Layer, Takes, Arguments...>>::ok,
                  "umbel: shapes do not fit");
    return {};
  }
  template <class... Arguments>
  constexpr void into(const Arguments&...) const noexcept {
    static_assert(report<rules::arguments<Layer, Takes, Arguments...>>::ok,
                  "umbel: shapes do not fit");
  }
};

}  // namespace umbel::detail
