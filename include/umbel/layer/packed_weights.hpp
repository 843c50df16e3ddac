// SPDX-License-Identifier: BSL-1.0
// Weights in the order that this target's kernels read: packed_linear, packed_vector, and
// packed_weights, a layer's parts of these. See prepacked.hpp for prepacked, which owns them.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/weights.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// The numbers of packed weights for each output (kernel::numbers_of_output); Count is 0 if nothing.
template <class T, std::size_t Count>
struct packed_biases {
  alignas(64) T biases[Count]{};
  constexpr T* bias() noexcept { return biases; }
  constexpr const T* bias() const noexcept { return biases; }
};
template <class T>
struct packed_biases<T, 0> {
  constexpr T* bias() const noexcept { return nullptr; }
};

// Packed weights are zeros until pack(view) writes them in place, with no copy on the stack.

// W in panels for this target, stored as Stored. Packing may be constant; use is at run time only.
template <class T, class In, class Out, bool Bias, class Stored = T>
struct packed_linear : packed_biases<T, kernel::numbers_of_output<Stored, Bias> *
                                            kernel::padded_features<Out::size, T>> {
  using map = linear_map<T, In, Out, Bias>;
  static constexpr std::size_t count = kernel::padded_features<Out::size, T> * In::size;

  alignas(64) Stored panels[count]{};

  constexpr void pack(const portable::linear_in_any_order<T, In, Out, Bias>& w) noexcept {
    kernel::pack_linear<In::size, Out::size, Bias>(w.weight, w.bias, panels, this->bias(),
                                                   w.strides.in, w.strides.out);
  }
};

template <class T, class Axis>
class packed_vector {
 public:
  constexpr void pack(const portable::vector_view<T, Axis>& x) noexcept {
    for (std::size_t i = 0; i < Axis::size; ++i) values_[i] = x.data()[i];
  }
  [[nodiscard]] constexpr const T* data() const noexcept { return values_; }

 private:
  alignas(64) T values_[Axis::size]{};
};

// A tensor of weights, copied.
template <class T, class... Axis>
struct packed_tensor : tensor<T, Axis...> {
  constexpr void pack(const portable::borrowed_tensor<T, Axis...>& x) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) this->data()[i] = x.data()[i];
  }
};

// The weights to pack for a weights_view: the same with matrices in any order.
template <class View>
struct weights_in_any_order {
  using type = View;
};
template <class T, class In, class Out, bool Bias>
struct weights_in_any_order<portable::linear_view<T, In, Out, Bias>> {
  using type = portable::linear_in_any_order<T, In, Out, Bias>;
};
template <template <class...> class Parts, class... View>
struct weights_in_any_order<portable::weights_view<Parts, View...>> {
  using type = portable::weights_view<Parts, typename weights_in_any_order<View>::type...>;
};
template <class View>
using in_any_order = typename weights_in_any_order<View>::type;

// The parts of a layer in panels. View: its weights_view; Packed: its packed parts, in their order.
template <template <class...> class Parts, class View, class... Packed>
struct packed_weights : Parts<Packed...> {
  constexpr packed_weights() noexcept : Parts<Packed...>{} {}
  constexpr void pack(const in_any_order<View>& w) noexcept {
    with_members<sizeof...(Packed)>(static_cast<Parts<Packed...>&>(*this), [&](auto&... packed) {
      with_parts(w, [&](const auto&... part) { (packed.pack(part), ...); });
    });
  }
};

template <class View, class Packed>
struct packed_weights_for;
template <class View, template <class...> class Parts, class... Packed>
struct packed_weights_for<View, Parts<Packed...>> {
  using type = packed_weights<Parts, View, Packed...>;
};
template <class View, class Packed>
using packed_weights_of = typename packed_weights_for<View, Packed>::type;

template <class Stored>
struct packed_as {
  template <class T, class In, class Out, bool Bias>
  using linear = packed_linear<T, In, Out, Bias, Stored>;
};

// Like project (weights.hpp), with panels.
template <kernel::linear_shape S, class T, class In, class Out, bool Bias, class Stored>
void project(const packed_linear<T, In, Out, Bias, Stored>& w, const T* x, T* y) noexcept {
  kernel::linear_packed<S>(x, w.panels, w.bias(), y);
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
