// SPDX-License-Identifier: BSL-1.0
// A sequence through a cache of a formula, in steps of any sizes, against the whole pass.
#pragma once

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <umbel/decode/cache_of_formula.hpp>

#include "random.hpp"

namespace umbel_test {

using namespace umbel;
using namespace umbel::axes;

template <class Layout, std::size_t Count>
struct of_positions;
template <class... Axes, std::size_t Count>
struct of_positions<detail::shape<Axes...>, Count> {
  template <class Axis>
  using sized = typename Axis::family::template sized<
      std::is_same_v<typename Axis::family, axis_family<token>> ? Count : Axis::size>;
  template <class T>
  using of = tensor<T, sized<Axes>...>;
};
// X with so many positions.
template <class X, std::size_t Count>
using positions =
    typename of_positions<typename X::layout::axes, Count>::template of<typename X::value_type>;

// f(element of the whole, element of the step) for each of a step of positions from `first` on.
template <class Whole, class Step, class F>
void each_of_step(Whole& whole, Step& step, std::size_t first, F f) {
  using layout = typename std::remove_const_t<Whole>::layout;
  constexpr std::size_t row = layout::template stride_of<axis_family<token>>;
  constexpr std::size_t all = layout::template size_of<axis_family<token>>;
  constexpr std::size_t count =
      std::remove_const_t<Step>::layout::template size_of<axis_family<token>>;
  for (std::size_t i = 0; i < step.size(); ++i)
    f(whole.data()[i / (count * row) * all * row + first * row + i % (count * row)],
      step.data()[i]);
}

// Draws steps of 1, 3 and Many positions, rewinds and resets until the sequence has been through
// several times. w: what else the formula is called with.
template <std::size_t Many, class Past, class F, class X, class... W>
struct walk {
  static constexpr std::size_t length = X::layout::template size_of<axis_family<axes::token>>;
  Past& past;
  const F& f;
  const X& x;
  std::tuple<const W&...> w;
  decltype(std::declval<const F&>()(std::declval<const X&>(), std::declval<const W&>()...)) whole;
  lcg next{7};
  std::size_t at = 0, steps = 0, bad = 0;

  template <std::size_t Count>
  void step() {
    if (at + Count > length) return;
    positions<X, Count> given{};
    positions<std::remove_const_t<decltype(whole)>, Count> out{};
    each_of_step(x, given, at, [](auto from, auto& to) { to = from; });
    static typename Past::template workspace<token<Count>> work;
    BOOST_TEST_REQUIRE(
        std::apply([&](const W&... one) { return past.step(out, f, given, one..., work); }, w));
    each_of_step(whole, out, at,
                 [&](auto a, auto b) { bad += std::memcmp(&a, &b, sizeof(a)) != 0; });
    BOOST_TEST(bad == 0, "a step of " << Count << " at " << at);
    at += Count;
    ++steps;
    BOOST_TEST(past.size() == at);
  }
  void run(std::size_t count) {
    while (steps < count && bad == 0) {
      const auto drawn = static_cast<int>((next() + 1) * 8);
      if (drawn < 8)
        step<1>();
      else if (drawn < 12)
        step<3>();
      else if (drawn < 14)
        step<Many>();
      if (drawn == 14 || (at == length && drawn < 12)) {
        at = at * static_cast<std::size_t>(drawn) / 16;
        BOOST_TEST(past.rewind(at));
      } else if (at == length) {
        past.reset();
        at = 0;
      }
    }
  }
};

// Heads of a sequence, with its axis called To, and back.
template <template <std::size_t> class To>
constexpr auto in_heads = [](auto x) {
  return x | split<hidden, heads<3>, head_dim> | permute<heads, token, head_dim> |
         rename_axis<token, To>;
};
constexpr auto merged = [](auto context) {
  return context | rename_axis<query, token> | permute<token, heads, head_dim> | contiguous |
         merge<heads, head_dim, hidden>;
};
}  // namespace umbel_test
