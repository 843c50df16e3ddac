// SPDX-License-Identifier: BSL-1.0
// What is counted of float and of double: attention to oneself, functions of elements and of rows.
#pragma once

#include <umbel/bare.hpp>

#include "counts.hpp"

namespace counts {

using namespace umbel;
using namespace umbel::axes;

template <class T>
using projected =
    multi_head_attention<T, hidden<24>, heads<4>, kv_heads<2>, rope<split_halves>, bias<true>>;

template <class Layer, class Weights, class Fill>
void self_attention(const char* name, const Weights& layer, const Fill& fill) {
  using T = typename Layer::value_type;
  static tensor<T, token<9>, hidden<24>> x, out;
  static typename Layer::template workspace<token<9>> work;
  count(
      name, [&](values& of) { of.inputs(x), fill(of); }, [&] { layer.into(out, x, causal, work); });
}
template <class T>
void blocks() {
  using rows = tensor<T, token<9>, hidden<21>>;
  static rows x, y, z;
  static tensor<T, token<9>> of_rows;
  static tensor<T, hidden<21>> of_columns;
  const auto fill = [&](values& of) { of.inputs(x, y); };
  const auto each = [&](const char* name, const auto& f) { count(name, fill, [&] { z = f(x); }); };
  each("softmax", softmax<hidden>);
  each("softmax along tokens", softmax<token>);
  each("log_softmax", log_softmax<hidden>);
  each("cumulative_sum", cumulative_sum<hidden>);
  each("padded", [](const auto& a) {
    return max<kernel_size>(a | padded<token, before<2>> | windows<token, kernel_size<3>>);
  });
  each("relu", relu), each("gelu_exact", gelu_exact), each("gelu_tanh", gelu_tanh);
  each("silu", silu), each("exp", [](const auto& a) { return exp(a); });
  each("log", [](const auto& a) { return log(a); });
  each("sqrt", [](const auto& a) { return sqrt(a); });
  each("rsqrt", [](const auto& a) { return rsqrt(a); });
  each("tanh", [](const auto& a) { return tanh(a); });
  each("sigmoid", [](const auto& a) { return sigmoid(a); });
  each("elu", elu), each("softplus", softplus), each("log_sigmoid", log_sigmoid);
  each("sin", [](const auto& a) { return sin(a); });
  each("cos", [](const auto& a) { return cos(a); });
  each("erf", [](const auto& a) { return erf(a); });
  each("floor", [](const auto& a) { return floor(a); });
  each("pow", [](const auto& a) { return pow(a, y); });
  each("remainder", [](const auto& a) { return a % y; });
  each("clamp", [](const auto& a) { return clamp(a, T{-1}, y); });
  each("arithmetic", [](const auto& a) { return abs(a) / y - T{2} * a; });
  each("where, maximum",
       [](const auto& a) { return where(a < y, maximum(a, y), minimum(a, T{1})); });
  count("max, sum, kth_largest", fill,
        [&] { of_rows = max<hidden>(x) - sum<hidden>(y) + kth_largest<4, hidden>(x); });
  count("mean, variance", fill, [&] { of_columns = mean<token>(x) + variance<token>(x); });

  static typename layer_norm<T, hidden<21>>::weights n;
  static typename rms_norm<T, hidden<21>>::weights r;
  count(
      "layer_norm", [&](values& of) { of.weights(n), of.inputs(x); },
      [&] { z = layer_norm<T, hidden<21>>{n}(x); });
  count(
      "rms_norm", [&](values& of) { of.weights(r), of.inputs(x); },
      [&] { z = rms_norm<T, hidden<21>>{r, T{1e-6F}}(x); });
}

}  // namespace counts
