// SPDX-License-Identifier: BSL-1.0
// What the programs of generate.py share: each formula is a line of TAP.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstring>
#include <tuple>
#include <umbel/bare.hpp>
#include <utility>

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
// Two of three are true.
template <class X>
void fill_flags(X& flags) {
  for (bool& flag : flags) {
    state = state * 1664525u + 1013904223u;
    flag = (state >> 8) % 3 != 0;
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
// Positions of something, and some outside of it.
template <class X>
void fill_integers(X& x) {
  for (int& i : x) {
    state = state * 1664525u + 1013904223u;
    i = static_cast<int>(state >> 28) - 1;
  }
}
// A view of a tensor that has a name.
template <class X>
const auto& as_read(const X& x) {
  return x;
}

// g(x, y...) of a result and what belongs to it, or of each of several.
template <class G, class T, class... Axes, class... Y>
void each_result(const G& g, const umbel::tensor<T, Axes...>& x, Y&... y) {
  g(x, y...);
}
template <class G, class... X, class... Y>
void each_result(const G& g, const std::tuple<X...>& x, Y&... y) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto one = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
      g(std::get<J>(x), std::get<J>(y)...);
    };
    (one(std::integral_constant<std::size_t, I>{}), ...);
  }(std::index_sequence_for<X...>{});
}

template <class F, class... X>
void check(const F& f, const X&... x) {
  static umbel::workspace_for<F, X...> work;
  const auto fast = f(x..., work);
  const auto by_loops = plain(f)(x..., work);
  static_assert(std::is_same_v<decltype(fast), decltype(by_loops)>);
  each_result(
      [](const auto& a, const auto& b) {
        same_bits = same_bits && std::memcmp(a.data(), b.data(), sizeof a) == 0;
      },
      fast, by_loops);
}
// The same where what lies in between is a result, and so is stored.
template <class F, class G, class... X>
void check_stored(const F& f, const G& stores, const X&... x) {
  static umbel::workspace_for<F, X...> work;
  static umbel::workspace_for<G, X...> larger;
  const auto one = f(x..., work);
  const auto both = stores(x..., larger);
  same_bits = same_bits && std::memcmp(one.data(), both.first.data(), sizeof one) == 0;
}

// Memory in which axes lie in the opposite order and elements are not adjacent.
template <std::size_t N>
struct apart : umbel::axis<apart, N> {};
template <class Reversed, class... Axes>
struct memory_apart {
  using type = Reversed;
};
template <class... Reversed, class Axis, class... Rest>
struct memory_apart<umbel::tensor<float, Reversed...>, Axis, Rest...>
    : memory_apart<umbel::tensor<float, Axis, Reversed...>, Rest...> {};
template <class Result>
struct out_apart;
template <template <std::size_t> class... Axis, std::size_t... Size>
struct out_apart<umbel::tensor<float, Axis<Size>...>> {
  using made = typename memory_apart<umbel::tensor<float, apart<2>>, Axis<Size>...>::type;
  using view =
      decltype(std::declval<made&>() | umbel::select_at<apart, 1> | umbel::permute<Axis...>);
  made memory;
  view written = memory | umbel::select_at<apart, 1> | umbel::permute<Axis...>;
  // Is everything else as it was?
  bool rest_is_untouched() const {
    bool untouched = true;
    for (const float f : memory | umbel::select_at<apart, 0>) untouched = untouched && f == 0;
    return untouched;
  }
};
template <class... Result>
struct out_apart<std::tuple<Result...>> {
  std::tuple<out_apart<Result>...> all;
};
template <class Result>
auto& written_into(out_apart<Result>& out) {
  return out.written;
}
template <class... Result>
auto written_into(out_apart<std::tuple<Result...>>& out) {
  return std::apply([](auto&... one) { return std::tie(one.written...); }, out.all);
}

// An executor that begins with the last piece.
template <std::size_t Workers>
struct backwards {
  static constexpr std::size_t workers = Workers;
  template <class Piece>
  void operator()(std::size_t count, const Piece& piece) const {
    for (std::size_t i = count; i-- > 0;) piece(i, (i * 7 + 1) % Workers);
  }
};

// The same into memory apart, by so many workers, or by none at all; nothing is written behind the
// workspaces.
template <std::size_t Workers, class F, class... X>
void check_apart(const F& f, const X&... x) {
  constexpr std::size_t works = Workers == 0 ? 1 : Workers;
  static struct {
    umbel::workspace_for<F, X...> work[works];
    unsigned char behind[256];
  } room;
  const auto expected = f(x..., room.work[0]);
  std::memset(static_cast<void*>(&room), 0x5a, sizeof room);
  static out_apart<std::remove_const_t<decltype(expected)>> out;
  auto&& into = written_into(out);
  if constexpr (Workers == 0) {
    f.into(into, x..., room.work[0]);
  } else {
    const backwards<Workers> executor;
    f.into(into, x..., umbel::parallel(executor, room.work));
  }
  const auto compare = [](const auto& result, const auto& one) {
    same_bits = same_bits && one.rest_is_untouched();
    const std::remove_cvref_t<decltype(result)> written = one.written;
    same_bits = same_bits && std::memcmp(written.data(), result.data(), sizeof result) == 0;
  };
  if constexpr (requires { out.all; })
    each_result(compare, expected, out.all);
  else
    compare(expected, out);
  for (const unsigned char c : room.behind) same_bits = same_bits && c == 0x5a;
}
// |error| <= 1e-5 + 1e-4 of the largest (docs/numerics.md).
template <class X, class Y>
void compare_one(const X& x, const Y& reference) {
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
template <class X, class Y>
void compare(const X& x, const Y& reference) {
  each_result([](const auto& a, const auto& b) { compare_one(a, b); }, x, reference);
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
