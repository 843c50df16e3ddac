// SPDX-License-Identifier: BSL-1.0
// learnt_positions: a table of one vector for each position, added to every sequence of the batch.
#pragma once

#include <umbel/tensor/arithmetic.hpp>
#include <umbel/tensor/reshape.hpp>

namespace umbel {

// Position, Hidden: token<49>, hidden<32>. The table (Position, Hidden), row-major, is borrowed.
template <class T, class Position, class Hidden>
class learnt_positions : public operation {
 public:
  using weights = tensor<T, Position, Hidden>;
  using weights_view = view<const T, Position, Hidden>;

  constexpr explicit learnt_positions(const weights_view& table) noexcept : table_(table) {}

  // x: any axes with Position and Hidden, of the table's sizes ("broadcast: token=49 does not fit
  // token=50"). Gives a row-major tensor of the axes of x.
  template <tensor_like X>
  constexpr auto operator()(const X& x) const noexcept {
    return add(x, typename X::layout::axes{});
  }
  constexpr invalid operator()(invalid) const { return {}; }

 private:
  template <class X, class... Axes>
  constexpr auto add(const X& x, shape<Axes...>) const noexcept {
    return x + broadcast<Axes...>(table_);
  }

  weights_view table_;
};

}  // namespace umbel
