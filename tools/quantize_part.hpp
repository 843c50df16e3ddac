// SPDX-License-Identifier: BSL-1.0
// One part of a model in the program that tools/quantize writes: its weights, its ranges, and its
// calls in floats and in integers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include <umbel/quantized.hpp>
#include <umbel/weights.hpp>

namespace tool {

using namespace umbel;

// ---- weights of any order, as the header has them, to (in, out) --------------------------------
template <class T, class In, class Out, bool Bias>
auto owned(const portable::linear_in_any_order<T, In, Out, Bias>& w) {
  portable::linear_weights<T, In, Out, Bias> made;
  for (std::size_t i = 0; i < In::size; ++i)
    for (std::size_t o = 0; o < Out::size; ++o)
      made.weight[i * Out::size + o] = w.weight[i * w.strides.in + o * w.strides.out];
  if constexpr (Bias) std::copy(w.bias, w.bias + Out::size, made.bias);
  return made;
}
template <class T, class Axis>
auto owned(const portable::vector_view<T, Axis>& w) {
  tensor<T, Axis> made;
  std::copy(w.data(), w.data() + Axis::size, made.data());
  return made;
}
template <class T, class Row, class Feature, bool AnyOrder>
auto owned(const portable::borrowed_table<T, Row, Feature, AnyOrder>& w) {
  tensor<T, Row, Feature> made;
  for (std::size_t i = 0; i < Row::size; ++i)
    for (std::size_t j = 0; j < Feature::size; ++j)
      made(i, j) = w.data()[i * w.row_stride() + j * w.feature_stride()];
  return made;
}
template <template <class...> class Parts, class... View>
auto owned(const portable::weights_view<Parts, View...>& w) {
  return detail::with_parts(w, [](const auto&... part) {
    return typename portable::weights_view<Parts, View...>::owned{owned(part)...};
  });
}

// ---- parts of a model ---------------------------------------------------------------------------
// In place of a memory, in a model without decoder layers.
struct no_memory {};
// In place of the length of a sample that is not padded.
struct whole {};
// The mask of a mean: the length.
struct by_length {};

template <class Mask>
constexpr Mask with_length(const Mask& mask, whole) {
  return mask;
}
template <class Mask>
constexpr auto with_length(const Mask& mask, int length) {
  return length & mask;
}

// What a part hands on.
struct all_positions {
  template <class Y>
  static const Y& of(const Y& y) {
    return y;
  }
};
template <template <std::size_t> class Axis>
struct first_of {
  template <class Y>
  static auto of(const Y& y) {
    return contiguous(y | select_at<Axis>(0));
  }
};

// In, Out: the integers that it takes and gives. Mask: void, that of an attention, of a decoder
// layer the self_mask, or by_length. More: the epsilon of a norm. n, of_memory: the lengths, or
// whole.
template <class Quantized, class Weights, class In, class Out, class Mask, class After,
          class... More>
struct part {
  using in = In;
  using out = Out;
  using histograms = typename Quantized::histograms;
  static constexpr bool takes_memory = requires(typename Quantized::ranges r) { r.memory; };
  const char* name;
  Weights weights;
  std::tuple<More...> more;
  typename Quantized::ranges seen{};
  histograms counted{};
  Quantized layer{};

  template <class Seen, class X, class Memory, class N, class M>
  auto floats(Seen& into, const X& x, const Memory& memory, N n, M of_memory) const {
    const auto call = [&](const auto&... given) {
      if constexpr (std::is_same_v<Weights, std::nullptr_t>)
        return Quantized::calibrate(into, x, given...);
      else
        return Quantized::calibrate(into, weights, x, given...);
    };
    return After::of(std::apply(
        [&](const auto&... epsilon) { return with_masks(call, memory, n, of_memory, epsilon...); },
        more));
  }
  template <class X, class Memory, class N, class M>
  auto integers(const X& x, const Memory& memory, N n, M of_memory) const {
    return After::of(
        with_masks([&](const auto&... given) { return layer(x, given...); }, memory, n, of_memory));
  }
  pack_result pack() {
    return std::apply(
        [&](const auto&... m) {
          if constexpr (std::is_same_v<Weights, std::nullptr_t>)
            return layer.pack(seen, m...);
          else
            return layer.pack(weights, seen, m...);
        },
        more);
  }

 private:
  // call(what follows the input).
  template <class Call, class Memory, class N, class M, class... Epsilon>
  static auto with_masks(const Call& call, const Memory& memory, N n, M of_memory,
                         const Epsilon&... epsilon) {
    if constexpr (takes_memory)
      return call(memory, with_length(all_keys, of_memory), self_mask(with_length(Mask{}, n)));
    else if constexpr (std::is_void_v<Mask>)
      return call(epsilon...);
    else if constexpr (std::is_same_v<Mask, by_length>)
      return call(n);
    else
      return call(with_length(Mask{}, n));
  }
};
template <class Quantized, class In, class Out, class Mask, class After, class Weights,
          class... More>
auto make(const char* name, const Weights& weights, More... more) {
  return part<Quantized, Weights, In, Out, Mask, After, More...>{name, weights,
                                                                 std::tuple<More...>{more...}};
}

template <class Where, class Part>
tensor<float> range_of(const Part& p) {
  tensor<float> found{0.0F};
  detail::integers::ranges_at<Where>(p.seen, [&](const tensor<float>& r) { found = r; });
  return found;
}

}  // namespace tool
