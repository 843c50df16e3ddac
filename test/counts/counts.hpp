// SPDX-License-Identifier: BSL-1.0
// count(name, fill, pass): a forward pass once for each set of values, between two functions that
// callgrind stops at; check.py reads how many instructions each took, and compares. Not here: any
// pass.
#pragma once

#include <umbel/parameters/parameters.hpp>

#include <cstdio>
#include <limits>
#include <type_traits>

#include "../support/random.hpp"

// Callgrind counts from the one to the other.
extern "C" {
[[gnu::noinline, gnu::used]] inline void pass_begins() { __asm__ volatile("" ::: "memory"); }
[[gnu::noinline, gnu::used]] inline void pass_ends() { __asm__ volatile("" ::: "memory"); }
}

namespace counts {

// What stands in the inputs; the last two: in the weights, too, where otherwise numbers are drawn.
enum class kind {
  drawn,
  zeros,
  large,
  subnormal,
  infinite,
  not_a_number,
  mixed,
  all_mixed,
  all_zeros
};
inline constexpr const char* names[] = {"drawn numbers",
                                        "zeros",
                                        "1e30",
                                        "subnormal numbers",
                                        "infinities",
                                        "NaN",
                                        "all of these",
                                        "all of these, also in the weights",
                                        "zeros, also in the weights"};

// Numbers of a kind, the same in every run.
class values {
 public:
  explicit values(kind which) : of_inputs_(which) {
    if (which == kind::all_mixed) of_inputs_ = of_weights_ = kind::mixed;
    if (which == kind::all_zeros) of_inputs_ = of_weights_ = kind::zeros;
  }
  // Tensors and views.
  template <class... X>
  void inputs(X&... x) {
    (fill(x, of_inputs_), ...);
  }
  template <class... X>
  void tables(X&... x) {
    (fill(x, of_weights_), ...);
  }
  // Of layers.
  template <class... W>
  void weights(W&... w) {
    const auto one = [&](const umbel::parameter_path&, auto x) { fill(x, of_weights_); };
    (umbel::for_each_parameter(w, one), ...);
  }

 private:
  // Where all of them stand, half are ordinary, so that rows differ.
  kind one_of(kind of) {
    constexpr kind others[] = {kind::zeros, kind::large, kind::subnormal, kind::infinite,
                               kind::not_a_number};
    const auto at = static_cast<unsigned>((next_() + 1) * 5);
    return of == kind::mixed ? at < 5 ? others[at] : kind::drawn : of;
  }
  template <class T>
  T number(kind of) {
    using limits = std::numeric_limits<T>;
    const auto draw = static_cast<T>(next_());
    const T sign = draw < 0 ? T{-1} : T{1};
    switch (of) {
      case kind::zeros:
        return sign * T{0};
      case kind::large:
        return sign * T{1e30F};
      case kind::subnormal:
        return draw * limits::min();
      case kind::infinite:
        return sign * limits::infinity();
      case kind::not_a_number:
        return limits::quiet_NaN();
      default:
        return draw * 2;
    }
  }
  // What is large is an end of the integers, what is subnormal 1.
  template <class T>
    requires std::is_integral_v<T>
  T number(kind of) {
    using limits = std::numeric_limits<T>;
    const double draw = static_cast<double>(next_());
    switch (of) {
      case kind::zeros:
        return 0;
      case kind::large:
      case kind::infinite:
        return draw < 0 ? limits::min() : limits::max();
      case kind::subnormal:
        return draw < 0 ? -1 : 1;
      case kind::not_a_number:
        return limits::min();
      default:
        return static_cast<T>(draw * limits::max());
    }
  }
  template <class X>
  void fill(X& x, kind of) {
    for (auto& element : x) element = number<std::remove_cvref_t<decltype(element)>>(one_of(of));
  }

  kind of_inputs_, of_weights_ = kind::drawn;
  umbel_test::lcg next_{1};
};

inline const char* group = "";

// So that the code of a pass knows nothing of its inputs, and is one for all of them.
template <class Pass>
[[gnu::noinline]] void run(const Pass& pass) {
  pass_begins();
  pass();
  pass_ends();
}

// fill(v): writes inputs and weights with the numbers of v. pass(): the forward pass.
template <class Fill, class Pass>
void count(const char* name, const Fill& fill, const Pass& pass) {
  for (int i = 0; i < 9; ++i) {
    values v{static_cast<kind>(i)};
    fill(v);
    std::printf("%s: %s: %s\n", group, name, names[i]);
    run(pass);
  }
}

}  // namespace counts
