// SPDX-License-Identifier: BSL-1.0
// The forms of a layer's weights:
//
//   owned     linear_weights, tensors: arrays, (in, out) row-major, in sequence without gaps
//   borrowed  linear_view, vector_view: pointers to such arrays anywhere (flash, static storage, a
//             mapped file)
//   packed    packed_linear, packed_vector: the same numbers in the order that the kernels read
//
// Owned and borrowed weights have the same types for every target; packed ones differ. A layer with
// several parts names them once, in a struct of portable (multi_head_parts ...); weights_view here
// and packed_weights (packed_weights.hpp) are made of it. See weights_rules.hpp for refused parts,
// and prepacked.hpp for prepacked.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/float/linear.hpp>
#include <umbel/kernel/plain/floats.hpp>
#include <umbel/layer/named_memory.hpp>
#include <umbel/layer/struct_members.hpp>
#include <umbel/layer/weights_rules.hpp>
#include <umbel/tensor/interop.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {

// In, Out: the axes that it maps from and to, hidden<100>. All forms of a map have this `map`.
template <class T, class In, class Out, bool Bias>
struct linear_map {
  using value_type = T;
  using in = In;
  using out = Out;
  static constexpr bool has_bias = Bias;
};

template <class Weights, class F>
UMBEL_INLINE constexpr auto with_parts(const Weights& w, F f) noexcept {
  return with_members<portable::parts_in<Weights>>(w, f);
}
template <std::size_t Out, bool AnyOrder>
struct strides_of_map {
  std::size_t in = Out, out = 1;
  template <class Named>
  UMBEL_SHARED constexpr void of() noexcept {
    in = Named::in_stride;
    out = Named::out_stride;
  }
};
template <std::size_t Out>
struct strides_of_map<Out, false> {
  static constexpr std::size_t in = Out, out = 1;
  template <class>
  UMBEL_SHARED constexpr void of() noexcept {}
};
template <class Parts>
struct made_of_parts {
  template <class... Part>
  UMBEL_INLINE constexpr Parts operator()(const Part&... part) const noexcept {
    return Parts{{part}...};
  }
};

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET

namespace umbel::portable {

// Weights of y = x W + b, owned. Without a bias, they have no memory for one.
template <class T, class In, class Out, bool Bias>
struct linear_weights {
  using map = detail::linear_map<T, In, Out, Bias>;

  T weight[In::size * Out::size];  // (in, out), row-major
  T bias[Out::size];

  template <detail::integer_index I, detail::integer_index J>
  [[nodiscard]] UMBEL_SHARED constexpr T& operator()(I in, J out) noexcept {
    return weight[detail::offset_by_position<detail::layout<In, Out>>("w(...)", in, out)];
  }
  template <detail::integer_index I, detail::integer_index J>
  [[nodiscard]] UMBEL_SHARED constexpr const T& operator()(I in, J out) const noexcept {
    return weight[detail::offset_by_position<detail::layout<In, Out>>("w(...)", in, out)];
  }
  template <detail::tensor_like X>
  constexpr void operator=(const X&) noexcept {
    static_assert(detail::report<detail::rules::copied_to_weights<detail::layout_of<X>>>::ok,
                  "umbel: shapes do not fit");
  }
  template <class... Other>
    requires(!detail::tensor_like<Other> && ...)
  UMBEL_SHARED constexpr detail::invalid operator()(Other...) const noexcept {
    static_assert(
        detail::report<detail::rules::other_positions<detail::layout<In, Out>, Other...>>::ok,
        "umbel: shapes do not fit");
    return {};
  }
};
template <class T, class In, class Out>
struct linear_weights<T, In, Out, false> {
  using map = detail::linear_map<T, In, Out, false>;

  T weight[In::size * Out::size];

  template <detail::integer_index I, detail::integer_index J>
  [[nodiscard]] UMBEL_SHARED constexpr T& operator()(I in, J out) noexcept {
    return weight[detail::offset_by_position<detail::layout<In, Out>>("w(...)", in, out)];
  }
  template <detail::integer_index I, detail::integer_index J>
  [[nodiscard]] UMBEL_SHARED constexpr const T& operator()(I in, J out) const noexcept {
    return weight[detail::offset_by_position<detail::layout<In, Out>>("w(...)", in, out)];
  }
  template <detail::tensor_like X>
  constexpr void operator=(const X&) noexcept {
    static_assert(detail::report<detail::rules::copied_to_weights<detail::layout_of<X>>>::ok,
                  "umbel: shapes do not fit");
  }
  template <class... Other>
    requires(!detail::tensor_like<Other> && ...)
  UMBEL_SHARED constexpr detail::invalid operator()(Other...) const noexcept {
    static_assert(
        detail::report<detail::rules::other_positions<detail::layout<In, Out>, Other...>>::ok,
        "umbel: shapes do not fit");
    return {};
  }
};

// Weights of y = x W + b, borrowed; the memory must outlive the view. The matrix names its axes:
// view_as<in_features, out_features>(memory), a tensor or view with the axes in and out, or those
// of the map if they differ. A bias is memory, or also names its axis. AnyOrder: any strides, for
// packing; otherwise (in, out) row-major.
//   "umbel: weights: the order of the axes is unknown; ..."
//   "umbel: weights: [out_features=8, in_features=4] are not the axes of the weights, which are
//   [in_features=4, out_features=16]"
template <class T, class In, class Out, bool Bias, bool AnyOrder>
struct borrowed_linear {
  using map = detail::linear_map<T, In, Out, Bias>;
  using owned = linear_weights<T, In, Out, Bias>;
  const T* weight;
  const T* bias;  // (out), if there is one
  UMBEL_NO_UNIQUE_ADDRESS detail::strides_of_map<Out::size, AnyOrder> strides{};

  UMBEL_SHARED constexpr borrowed_linear() noexcept : weight(nullptr), bias(nullptr) {}
  UMBEL_SHARED constexpr explicit borrowed_linear(detail::refused_weights) noexcept
      : borrowed_linear() {}
  UMBEL_SHARED constexpr borrowed_linear(const linear_weights<T, In, Out, Bias>& w) noexcept
      : weight(w.weight), bias(nullptr) {
    if constexpr (Bias) bias = w.bias;
  }
  UMBEL_SHARED constexpr borrowed_linear(const linear_weights<T, In, Out, Bias>&&) noexcept
      : borrowed_linear() {
    using verdict =
        detail::rules::weights_with_a_name<detail::say::x_times_weights, (sizeof(T) == 0)>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  }
  template <detail::says_its_axes W>
    requires(!Bias)
  UMBEL_SHARED constexpr borrowed_linear(W&& w) noexcept : borrowed_linear() {
    read<W>(w);
  }
  template <detail::says_its_axes W, detail::matrix_of<T> B>
    requires(Bias)
  UMBEL_SHARED constexpr borrowed_linear(W&& w, B&& b) noexcept : borrowed_linear() {
    read<W>(w);
    if constexpr (detail::says_its_axes<B>)
      bias =
          detail::borrow_named_vector<T, Out, detail::say::are_not_the_axes_of_the_bias_which_are,
                                      B, axis_family<axes::out_features>>(b);
    else
      bias = detail::borrow<detail::layout<Out>, T>(static_cast<B&&>(b));
  }
  template <class InOrder>
    requires(AnyOrder && std::is_same_v<InOrder, borrowed_linear<T, In, Out, Bias, false>>)
  UMBEL_SHARED constexpr borrowed_linear(const InOrder& w) noexcept
      : weight(w.weight), bias(w.bias) {}
  // Memory without names, an extra bias or a missing one: refused.
  template <detail::lends<T> W>
    requires(!Bias)
  UMBEL_SHARED constexpr borrowed_linear(W&&) noexcept : borrowed_linear() {
    static_assert(detail::report<detail::rules::order_of_weights<W>>::ok,
                  "umbel: shapes do not fit");
  }
  template <detail::lends<T> W, detail::matrix_of<T> B>
    requires(Bias)
  UMBEL_SHARED constexpr borrowed_linear(W&&, B&&) noexcept : borrowed_linear() {
    static_assert(detail::report<detail::rules::order_of_weights<W>>::ok,
                  "umbel: shapes do not fit");
  }
  template <detail::matrix_of<T> W, detail::matrix_of<T> B>
    requires(!Bias)
  UMBEL_SHARED constexpr borrowed_linear(W&&, B&&) noexcept : borrowed_linear() {
    static_assert(detail::report<detail::rules::bias_of_a_map<true, W>>::ok,
                  "umbel: shapes do not fit");
  }
  template <detail::matrix_of<T> W>
    requires(Bias)
  UMBEL_SHARED constexpr borrowed_linear(W&&) noexcept : borrowed_linear() {
    static_assert(detail::report<detail::rules::bias_of_a_map<false, W>>::ok,
                  "umbel: shapes do not fit");
  }

 private:
  template <class Given>
  UMBEL_SHARED constexpr void read(const Given& w) noexcept {
    using W = std::remove_cvref_t<Given>;
    if constexpr (!std::is_same_v<W, detail::invalid>) {
      using rule = detail::first_error<
          typename detail::rules::weights_with_names<T, In, Out, AnyOrder, W>::type,
          detail::rules::named_weights_stay<Given, AnyOrder>>;
      static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
      if constexpr (rule::ok) {
        weight = detail::first_of_named(w);
        strides.template of<detail::named_weights<In, Out, W>>();
      }
    }
  }
};
template <class T, class In, class Out, bool Bias>
using linear_view = borrowed_linear<T, In, Out, Bias, false>;
template <class T, class In, class Out, bool Bias>
using linear_in_any_order = borrowed_linear<T, In, Out, Bias, true>;

// A vector of weights (the gamma and beta of a norm), borrowed: from a tensor, memory, or memory
// with the name of its axis, view_as<hidden>(memory).
template <class T, class Axis>
class vector_view {
 public:
  using owned = tensor<T, Axis>;
  UMBEL_SHARED constexpr vector_view(const tensor<T, Axis>& x) noexcept : data_(x.data()) {}
  UMBEL_SHARED constexpr explicit vector_view(detail::refused_weights) noexcept : data_(nullptr) {}
  UMBEL_SHARED constexpr vector_view(const tensor<T, Axis>&&) noexcept : data_(nullptr) {
    static_assert(detail::report<detail::rules::view_of_temporary<detail::layout<Axis>>>::ok,
                  "umbel: shapes do not fit");
  }
  template <detail::lends<T> M>
  UMBEL_SHARED constexpr vector_view(M&& memory) noexcept
      : data_(detail::borrow<detail::layout<Axis>, T>(static_cast<M&&>(memory))) {}
  template <class U, std::size_t Count, class... Family>
  UMBEL_SHARED constexpr vector_view(const named_memory<U, Count, Family...>& memory) noexcept
      : data_(detail::borrow_named_vector<T, Axis,
                                          detail::say::are_not_the_axes_of_the_weights_which_are,
                                          const named_memory<U, Count, Family...>&>(memory)) {}
  [[nodiscard]] UMBEL_SHARED constexpr const T* data() const noexcept { return data_; }

 private:
  const T* data_;
};

// A tensor of weights, borrowed, with its axes: of a tensor, or of a view that is row-major.
template <class T, class... Axis>
struct borrowed_tensor : view<const T, Axis...> {
  using owned = tensor<T, Axis...>;
  using view<const T, Axis...>::view;
  UMBEL_SHARED constexpr borrowed_tensor(const view<const T, Axis...>& x) noexcept
      : view<const T, Axis...>(x) {}
  UMBEL_SHARED constexpr borrowed_tensor(const owned& x) noexcept
      : view<const T, Axis...>(x.data()) {}
  UMBEL_SHARED constexpr explicit borrowed_tensor(detail::refused_weights) noexcept
      : view<const T, Axis...>(nullptr) {}
  UMBEL_SHARED constexpr borrowed_tensor(const owned&&) noexcept : view<const T, Axis...>(nullptr) {
    static_assert(detail::report<detail::rules::view_of_temporary<typename owned::layout>>::ok,
                  "umbel: shapes do not fit");
  }
};

// The weights of a layer, borrowed part by part. Parts: multi_head_parts ...; View: the parts.
template <template <class...> class Parts, class... View>
struct weights_view : Parts<View...> {
  using owned = Parts<typename View::owned...>;
  using layer_name = typename Parts<View...>::layer_name;

  UMBEL_SHARED constexpr weights_view(const View&... part) noexcept : Parts<View...>{{part}...} {}
  // One part: from anything that the part can be made of.
  template <class Only>
    requires(sizeof...(View) == 1 && (std::is_convertible_v<Only, View> && ...))
  UMBEL_SHARED constexpr weights_view(Only&& part) noexcept
      : Parts<View...>{static_cast<Only&&>(part)} {}
  // From weights in (in, out): packing accepts any order.
  template <class... Other>
    requires(sizeof...(Other) == sizeof...(View) &&
             (std::is_convertible_v<const Other&, View> && ...))
  UMBEL_SHARED constexpr weights_view(const weights_view<Parts, Other...>& w) noexcept
      : Parts<View...>(detail::with_parts(w, detail::made_of_parts<Parts<View...>>{})) {}
  UMBEL_SHARED constexpr weights_view(const owned& w) noexcept
      : Parts<View...>(detail::with_parts(w, detail::made_of_parts<Parts<View...>>{})) {}
  UMBEL_SHARED constexpr explicit weights_view(detail::refused_weights none) noexcept
      : Parts<View...>{{View(none)}...} {}
  UMBEL_SHARED constexpr weights_view(const owned&&) noexcept
      : weights_view(detail::refused_weights{}) {
    static_assert(
        detail::report<detail::rules::weights_with_a_name<layer_name, (sizeof(owned) == 0)>>::ok,
        "umbel: shapes do not fit");
  }
  // Parts of a different layer: refused.
  template <class... Other>
    requires detail::foreign_parts<parts_list<View...>, Other...>
  UMBEL_SHARED constexpr weights_view(const Other&...) noexcept
      : weights_view(detail::refused_weights{}) {
    using verdict = detail::rules::parts_of_weights<layer_name, parts_list<View...>, Other...>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  }
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

// A layer's type for borrowed weights: a struct of portable over its parts.
template <class Parts>
struct weights_view_of;
template <template <class...> class Parts, class... View>
struct weights_view_of<Parts<View...>> {
  using type = portable::weights_view<Parts, View...>;
};
template <class Parts>
using view_of_weights = typename weights_view_of<Parts>::type;

// y = x W + b by the kernel for S, which must have the in, out and bias of this map.
template <kernel::linear_shape S, class T, class In, class Out, bool Bias>
constexpr void project(const portable::linear_view<T, In, Out, Bias>& w, const T* x,
                       T* y) noexcept {
  if (__builtin_is_constant_evaluated())
    kernel::plain::linear<S>(x, w.weight, w.bias, y);
  else
    kernel::linear<S>(x, w.weight, w.bias, y);
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
