// SPDX-License-Identifier: BSL-1.0
// What the programs of generate.py share: each formula is a line of TAP.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstring>
#include <umbel/bare.hpp>

inline unsigned state = 1;
inline bool same_bits = true, near_enough = true;
inline double furthest = 0;

template <class X>
void fill(X& x) {
  for (float& f : x) {
    state = state * 1664525u + 1013904223u;
    f = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
  }
}
template <class W>
void fill_weights(W& w) {
  fill(w.weight);
  for (float& f : w.weight) f *= 0.25f;
  if constexpr (requires { w.bias; }) fill(w.bias);
}
template <class W, class V>
void copy_weights(const W& from, V& to) {
  const auto copy = [](const auto& x, auto& y) {
    for (std::size_t i = 0; i < sizeof x / sizeof x[0]; ++i) y[i] = x[i];
  };
  copy(from.weight, to.weight);
  if constexpr (requires { from.bias; }) copy(from.bias, to.bias);
}
// Weights of two types: arrays, and tensors.
template <class T, std::size_t Count>
T* begin_of(T (&x)[Count]) {
  return x;
}
template <class X>
auto* begin_of(X& x) {
  return x.data();
}
template <class X, class Y>
void fill_both(X& x, Y& y) {
  fill(x);
  auto* to = begin_of(y);
  for (const float f : x) *to++ = f;
}
// A view of a tensor that has a name.
template <class X>
const auto& as_read(const X& x) {
  return x;
}

template <class F, class... X>
void check(const F& f, const X&... x) {
  static umbel::workspace_for<F, X...> work;
  const auto fast = f(x..., work);
  const auto by_loops = plain(f)(x..., work);
  static_assert(std::is_same_v<decltype(fast), decltype(by_loops)>);
  same_bits = same_bits && std::memcmp(fast.data(), by_loops.data(), sizeof fast) == 0;
}
// The same into memory whose elements are not adjacent; nothing is written behind the workspace.
template <std::size_t N>
struct apart : umbel::axis<apart, N> {};
template <class F, class... Axes, class... X>
void check_apart(const F& f, const umbel::tensor<float, Axes...>& expected, const X&... x) {
  static umbel::tensor<float, Axes..., apart<2>> memory;
  static struct {
    umbel::workspace_for<F, X...> work;
    unsigned char behind[256];
  } room;
  std::memset(room.behind, 0x5a, sizeof room.behind);
  auto out = memory | umbel::select_at<apart, 0>;
  f.into(out, x..., room.work);
  const umbel::tensor<float, Axes...> written = out;
  same_bits = same_bits && std::memcmp(written.data(), expected.data(), sizeof expected) == 0;
  for (const unsigned char c : room.behind) same_bits = same_bits && c == 0x5a;
}
// |error| <= 1e-5 + 1e-4 of the largest (docs/numerics.md).
template <class X, class Y>
void compare(const X& x, const Y& reference) {
  double largest = 0;
  for (const double d : reference) largest = std::fmax(largest, std::fabs(d));
  auto at = reference.begin();
  for (const float f : x) {
    const double error = std::fabs(static_cast<double>(f) - *at++);
    const double most = 1e-5 + 1e-4 * largest;
    furthest = std::fmax(furthest, error / most);
    near_enough = near_enough && error <= most;
  }
}

template <class F, class... X>
auto result(const F& f, const X&... x) {
  static umbel::workspace_for<F, X...> work;
  return f(x..., work);
}

inline void run(unsigned seed, void (*formula)()) {
  state = seed;
  same_bits = near_enough = true;
  furthest = 0;
  formula();
  std::printf("%s - formula %u, %s, %.2g of the tolerance\n",
              same_bits && near_enough ? "ok" : "not ok", seed,
              same_bits ? "the bits of the readable loops" : "other bits than the readable loops",
              furthest);
}
