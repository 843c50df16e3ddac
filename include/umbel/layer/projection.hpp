// SPDX-License-Identifier: BSL-1.0
// A linear map from one axis to another, y = x W + b, and the three forms its parameters take:
//
//   owned     linear_weights: arrays of its own, W stored (in, out) row-major
//   borrowed  linear_view: pointers to such arrays anywhere (flash, static storage, a mapped file)
//   packed    packed_linear: the same numbers laid out as the kernels read them fastest
//
// A layer is written once over such a form (multi_head.hpp, encoder.hpp). Here is also x * w, the map
// as an operation on a tensor.
#pragma once

#include <umbel/layer/filled.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/layer/stored_as.hpp>
#include <umbel/layer/weights_parts.hpp>
#include <umbel/kernel/linear.hpp>
#include <umbel/kernel/plain.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/tensor/pipe.hpp>

namespace umbel {

namespace say {
struct project;
struct the_first_argument_is_not_a_layer_with_weights_to_pack;
}  // namespace say

// In, Out: the axes it maps from and to, hidden<100>. All forms of one map have one such `map`.
template <class T, class In, class Out, bool Bias>
struct linear_map {
  using value_type = T;
  using in = In;
  using out = Out;
  static constexpr bool has_bias = Bias;
};

// Parameters in memory of their own. Without a bias the bias is one element that is not used.
template <class T, class In, class Out, bool Bias>
struct linear_weights {
  using map = linear_map<T, In, Out, Bias>;
  static constexpr std::size_t count = In::size * Out::size;

  alignas(detail::storage_alignment<T, count>) T weight[count];
  alignas(detail::storage_alignment<T, Out::size>) T bias[Bias ? Out::size : 1];

  [[nodiscard]] constexpr T& operator()(std::size_t in, std::size_t out) noexcept {
    return weight[in * Out::size + out];
  }
  [[nodiscard]] constexpr const T& operator()(std::size_t in, std::size_t out) const noexcept {
    return weight[in * Out::size + out];
  }
};

// Parameters somewhere else; the memory must outlive the view.
template <class T, class In, class Out, bool Bias>
struct linear_view {
  using map = linear_map<T, In, Out, Bias>;
  const T* weight = nullptr;  // (in, out), row-major
  const T* bias = nullptr;    // (out), where there is one

  constexpr linear_view() = default;
  constexpr linear_view(const linear_weights<T, In, Out, Bias>& w) noexcept
      : weight(w.weight), bias(Bias ? w.bias : nullptr) {}
  constexpr linear_view(const linear_weights<T, In, Out, Bias>&& w) noexcept : linear_view(w) {
    static_assert(report<rules::weights_with_a_name<say::project, (sizeof(T) == 0)>>::ok,
                  "umbel: shapes do not fit");
  }
  // Arrays, std::array and std::span of another number of elements do not compile; of a pointer the caller vouches.
  template <detail::lends<T> W>
  constexpr linear_view(W&& w) noexcept requires(!Bias)
      : weight(detail::borrow<layout<In, Out>, T>(static_cast<W&&>(w))) {}
  template <detail::lends<T> W, detail::lends<T> B>
  constexpr linear_view(W&& w, B&& b) noexcept requires(Bias)
      : weight(detail::borrow<layout<In, Out>, T>(static_cast<W&&>(w))),
        bias(detail::borrow<layout<Out>, T>(static_cast<B&&>(b))) {}

  // The kernel for S, which must be of this map: in, out and bias.
  template <kernel::linear_shape S>
  constexpr void run(const T* x, T* y) const noexcept {
    if (std::is_constant_evaluated())
      kernel::plain::linear<S>(x, weight, bias, y);
    else
      kernel::linear<S>(x, weight, bias, y);
  }
};

namespace detail {
// The biases of packed parameters; Count is 0 where there are none.
template <class T, std::size_t Count>
struct packed_biases {
  alignas(storage_alignment<T, Count>) T biases[Count]{};
  constexpr T* bias() noexcept { return biases; }
  constexpr const T* bias() const noexcept { return biases; }
};
template <class T>
struct packed_biases<T, 0> {
  constexpr T* bias() const noexcept { return nullptr; }
};
}  // namespace detail

// Parameters in panels, for this build's target; weights stored as Stored. Made from a view, also in a
// constant expression; used at run time only.
template <class T, class In, class Out, bool Bias, class Stored = T>
struct packed_linear
    : detail::packed_biases<T, Bias ? kernel::padded_features<Out::size, T> : 0> {
  using map = linear_map<T, In, Out, Bias>;
  static constexpr std::size_t count = kernel::padded_features<Out::size, T> * In::size;

  alignas(detail::storage_alignment<Stored, count>) Stored panels[count];

  constexpr explicit packed_linear(const linear_view<T, In, Out, Bias>& w) noexcept : panels{} {
    kernel::pack_linear<In::size, Out::size, Bias>(w.weight, w.bias, panels, this->bias());
  }

  template <kernel::linear_shape S>
  void run(const T* x, T* y) const noexcept {
    kernel::linear_packed<S>(x, panels, this->bias(), y);
  }
};

// A vector of parameters (the gamma and beta of a norm), borrowed.
template <class T, class Axis>
class vector_view {
 public:
  constexpr vector_view(const tensor<T, Axis>& x) noexcept : data_(x.data()) {}
  constexpr vector_view(const tensor<T, Axis>&& x) noexcept : data_(x.data()) {
    static_assert(report<rules::view_of_temporary<layout<Axis>>>::ok, "umbel: shapes do not fit");
  }
  template <detail::lends<T> M>
  constexpr vector_view(M&& memory) noexcept
      : data_(detail::borrow<layout<Axis>, T>(static_cast<M&&>(memory))) {}
  [[nodiscard]] constexpr const T* data() const noexcept { return data_; }

 private:
  const T* data_;
};
// The same, copied: of packed parameters.
template <class T, class Axis>
class packed_vector {
 public:
  constexpr packed_vector(const vector_view<T, Axis>& x) noexcept {
    for (std::size_t i = 0; i < Axis::size; ++i) values_[i] = x.data()[i];
  }
  [[nodiscard]] constexpr const T* data() const noexcept { return values_; }

 private:
  alignas(detail::storage_alignment<T, Axis::size>) T values_[Axis::size]{};
};

// The forms, as arguments of a layer's parameters.
namespace form {
struct owned {
  template <class T, class In, class Out, bool Bias>
  using linear = linear_weights<T, In, Out, Bias>;
  template <class T, class Axis>
  using vector = tensor<T, Axis>;
};
struct borrowed {
  template <class T, class In, class Out, bool Bias>
  using linear = linear_view<T, In, Out, Bias>;
  template <class T, class Axis>
  using vector = vector_view<T, Axis>;
};
template <class Stored>
struct packed {
  template <class T, class In, class Out, bool Bias>
  using linear = packed_linear<T, In, Out, Bias, Stored>;
  template <class T, class Axis>
  using vector = packed_vector<T, Axis>;
};
}  // namespace form

namespace detail {
template <class Layer>
concept has_weights_to_pack = requires {
  typename Layer::weights_view;
  typename Layer::template calls<Layer>;
};
}  // namespace detail
namespace rules {
template <class Layer, bool Ok>
using a_layer_to_pack = verdict<Ok, Layer, say::the_first_argument_is_not_a_layer_with_weights_to_pack>;
}

// A layer whose parameters are packed once, into memory of its own: called like the layer. The weights that
// it is made of are not needed any more.
//
//   static const prepacked<attention> attend{weights};   // or constexpr
//
// With stored_as<bfloat16> or stored_as<float16> the weights, not the biases, are rounded to 16 bits, for
// layers of float. Results are those of the layer with each weight rounded.
template <class Layer, class... Options>
class prepacked : public Layer::template calls<prepacked<Layer, Options...>> {
  using stored = typename option_or<option::stored_as, stored_as<typename Layer::value_type>,
                                    Options...>::type;
  using verdict =
      first_error<rules::options<say::prepacked, option_kinds<option::stored_as>, Options...>,
                  rules::stored<say::prepacked, typename Layer::value_type, stored>>;
  static_assert(detail::reported<verdict>, "umbel: shapes do not fit");
  using packed_weights = typename Layer::template packed_weights<
      std::conditional_t<verdict::ok, stored, typename Layer::value_type>>;

 public:
  using layer = Layer;
  constexpr explicit prepacked(const typename Layer::weights_view& w) noexcept : parameters_(w) {}
  // Of weights that may end with the statement: they are copied.
  template <class Weights>
  requires std::is_same_v<Weights, typename Layer::weights>
  constexpr explicit prepacked(const Weights& w) noexcept : parameters_(w) {}
  template <class... Given>
  requires detail::not_its_weights<typename Layer::weights_view, prepacked, Given...>
  constexpr explicit(sizeof...(Given) == 1) prepacked(const Given&... given) noexcept
      : parameters_(Layer(given...).parameters()) {}  // refused
  [[nodiscard]] constexpr const packed_weights& parameters() const noexcept { return parameters_; }

 private:
  packed_weights parameters_;
};
template <class Other, class... Options>
requires(!detail::has_weights_to_pack<Other>) class prepacked<Other, Options...> : public invalid {
  static_assert(detail::reported<rules::a_layer_to_pack<say::prepacked, (sizeof(Other) == 0)>>,
                "umbel: shapes do not fit");

 public:
  template <class... Weights>
  constexpr explicit prepacked(const Weights&...) noexcept {}
};

namespace rules {
// Operation: the word that names it.
template <class Operation, class Layout, class X, class Map>
using project = first_error<
    has_axis<Operation, Layout, typename Map::in::family>,
    verdict<Layout::template size_of<typename Map::in::family> == Map::in::size, Operation,
            say::the_input_has, axis_of<Layout, typename Map::in::family>,
            say::but_the_weight_expects, typename Map::in::plain>,
    is_new_axis<Operation, Layout, typename Map::out::family, typename Map::in::family>,
    verdict<std::is_same_v<X, typename Map::value_type>, Operation, say::the_input_is_of_type,
            element<X>, say::but_the_weight_is_of_type, element<typename Map::value_type>>>;
}  // namespace rules

template <class X, class Weights>
concept projectable = rules::project < say::project,
        layout_of<X>,
typename std::remove_cvref_t<X>::value_type, typename std::remove_cvref_t<Weights>::map > ::ok;

namespace detail {

// One run of the kernel for as many rows as lie evenly in memory, a loop over the other axes.
template <class Parameters, class From, class To>
struct projection_loop {
  using map = typename Parameters::map;
  using T = typename map::value_type;
  using family = typename map::in::family;
  static constexpr std::size_t at = From::template position<family>;
  static constexpr bool even = From::contiguous && at + 1 == From::rank;
  static constexpr std::size_t row_axis = From::rank == 1        ? npos
                                          : at + 1 == From::rank ? From::rank - 2
                                                                 : From::rank - 1;

  template <std::size_t Axis>
  UMBEL_INLINE static constexpr void run(const Parameters& p, const T* x, T* y) {
    if constexpr (even || From::rank == 1) {
      p.template run<kernel::linear_shape{From::count / map::in::size, map::in::size,
                                          map::out::size, map::in::size, From::strides[at],
                                          map::out::size, 1, map::has_bias}>(x, y);
    } else if constexpr (Axis == From::rank) {
      p.template run<kernel::linear_shape{
          From::extents[row_axis], map::in::size, map::out::size, From::strides[row_axis],
          From::strides[at], To::strides[row_axis], To::strides[at], map::has_bias}>(x, y);
    } else if constexpr (Axis == at || Axis == row_axis) {
      run<Axis + 1>(p, x, y);
    } else {
      for (std::size_t i = 0; i < From::extents[Axis]; ++i)
        run<Axis + 1>(p, x + i * From::strides[Axis], y + i * To::strides[Axis]);
    }
  }
};

// The parameters in a form that can run.
template <class T, class In, class Out, bool Bias>
constexpr linear_view<T, In, Out, Bias> runnable(const linear_weights<T, In, Out, Bias>& w) {
  return w;
}
template <class T, class In, class Out, bool Bias>
constexpr const linear_view<T, In, Out, Bias>& runnable(const linear_view<T, In, Out, Bias>& w) {
  return w;
}
template <class T, class In, class Out, bool Bias, class Stored>
constexpr const packed_linear<T, In, Out, Bias, Stored>& runnable(
    const packed_linear<T, In, Out, Bias, Stored>& w) {
  return w;
}

}  // namespace detail

// The layout of x with the axis In replaced by Out.
template <class Layout, class Map>
using projected = layout_with_axes<typename algebra::detail::replace_axes<
    Layout, Layout::template position<typename Map::in::family>, 1,
    shape<typename Map::out::plain>>::type>;

namespace detail {
// y = x W + b, of a rule that is accepted. y: row-major.
template <class X, class Weights, class Y>
constexpr void project(const X& x, const Weights& w, Y& y) noexcept {
  const auto& p = runnable(w);
  using parameters = std::remove_cvref_t<decltype(p)>;
  projection_loop<parameters, layout_of<X>, layout_of<Y>>::template run<0>(p, x.data(), y.data());
}
}  // namespace detail

// x * w: the axis In of x becomes Out in its place; the other axes are kept. A row-major tensor.
template <tensor_like X, class Weights>
requires requires { typename Weights::map; }
constexpr auto operator*(const X& x, const Weights& w) noexcept {
  using map = typename Weights::map;
  using verdict = rules::project<say::project, typename X::layout, typename X::value_type, map>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return detail::filled<tensor_of<typename map::value_type, projected<typename X::layout, map>>>(
        [&](auto& y) { detail::project(x, w, y); });
  else
    return invalid{};
}
template <class Weights>
requires requires { typename Weights::map; }
constexpr invalid operator*(invalid, const Weights&) noexcept { return {}; }

}  // namespace umbel
