// SPDX-License-Identifier: BSL-1.0
// Layers in 8-bit integers beside others': what they compute, and one line a row on standard
// output, fields between tabs (run.py makes the table):
//
//   row  us  percent of the peak of 8-bit products measured beside it  the way, or WRONG
//
// From 8 bits to 8 bits, each library in units of its own choice; the fastest way counts whose
// result is near the one in float64. Linear maps twice: activations of all 8 bits, and of 0 to 127
// only, of which no instruction saturates that adds two products in 16 bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>

#include "../dot_peak.hpp"
#include "../peers/layers.hpp"

namespace integers {

using race::layer_shape;
using race::linear_shape;
using race::numbers64;

inline constexpr linear_shape linears[] = {{128, 384, 384}, {128, 256, 256}, {1, 1024, 1024}};
inline constexpr layer_shape layers[] = {
    {'D', 1, 64, 64, 64, 4}, {'E', 1, 128, 128, 256, 8}, {'F', 1, 128, 128, 384, 12}};

// What is multiplied by `unit` to be a float again.
template <class T>
struct bytes {
  std::vector<T> values;
  float unit = 1;
};
inline float largest(const float* x, std::size_t count) {
  float most = 0;
  for (std::size_t i = 0; i < count; ++i) most = std::max(most, std::fabs(x[i]));
  return most;
}
inline float largest(const numbers64& x) {
  double most = 0;
  for (const double one : x) most = std::max(most, std::fabs(one));
  return static_cast<float>(most);
}
// zero: what 0 becomes.
template <class T>
bytes<T> quantized(const float* x, std::size_t count, int zero = 0) {
  bytes<T> result;
  result.unit = largest(x, count) / 127;
  for (std::size_t i = 0; i < count; ++i)
    result.values.push_back(static_cast<T>(zero + std::lround(x[i] / result.unit)));
  return result;
}

// y(rows, out) of x(rows, in), weights (out, in). Activations of all 8 bits have signs.
enum class range { eight_bits, seven_bits };
struct map_data {
  race::memory w, b;
  std::vector<float> x;
  numbers64 right;

  map_data(linear_shape s, range r)
      : w(race::numbers(static_cast<std::size_t>(s.out * s.in), 0.1f)),
        b(race::numbers(static_cast<std::size_t>(s.out), 1)) {
    const race::memory drawn = race::numbers(static_cast<std::size_t>(s.rows * s.in), 1);
    for (int i = 0; i < s.rows * s.in; ++i)
      x.push_back(r == range::eight_bits ? drawn[i] : std::fabs(drawn[i]));
    right = race::reference(s, x.data(), w.get(), b.get());
  }
};

// run(times) does it; result(): what it gave, as floats.
struct way {
  std::string name;
  std::function<void(long)> run;
  std::function<std::vector<float>()> result;
};
using ways = std::vector<way>;

template <class T>
std::vector<float> as_floats(const T* y, std::size_t count, float unit, int zero = 0) {
  std::vector<float> result;
  for (std::size_t i = 0; i < count; ++i)
    result.push_back(unit * (static_cast<float>(y[i]) - static_cast<float>(zero)));
  return result;
}

// Within 8 % by their squares: 8 bits in every step of a layer are, sums that saturate are not.
// With nothing to compare, yes.
inline bool agrees(const numbers64& right, const std::vector<float>& got) {
  if (right.empty()) return true;
  double error = 0, all = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double off = right[i] - static_cast<double>(got[i]);
    error += off * off, all += right[i] * right[i];
  }
  const double part = std::sqrt(error / all);
  if (std::getenv("RACE_VERBOSE") != nullptr) std::fprintf(stderr, "    %.2f %% off\n", 100 * part);
  return part <= 0.08;
}

inline void report(const std::string& row, double operations, const ways& all,
                   const numbers64& right) {
  const way* found = nullptr;
  double best = 1e9;
  for (const way& one : all) {
    one.run(1);
    const bool is_right = agrees(right, one.result());
    const double taken = race::seconds(one.run, 9, 1e-4);
    if (std::getenv("RACE_VERBOSE") != nullptr)
      std::fprintf(stderr, "    %10.3f us  %s%s\n", taken * 1e6, one.name.c_str(),
                   is_right ? "" : ": WRONG");
    if (is_right && taken < best) best = taken, found = &one;
  }
  if (found == nullptr) {
    std::printf("%s\t0\t0\tWRONG\n", row.c_str());
    return;
  }
  const double before = bench::dot_peak();
  const double taken = race::seconds(found->run, 51, 5e-4);
  const double peak = (before + bench::dot_peak()) / 2;
  std::printf("%s\t%.5g\t%.4g\t%s\n", row.c_str(), taken * 1e6, operations / taken * 1e-7 / peak,
              found->name.c_str());
  std::fflush(stdout);
}

// Peer: has maps<S, R>(data) or attentions<S>(data), or both, that give ways.
template <class Peer, linear_shape S, range R>
void run() {
  if constexpr (requires(map_data d) { Peer::template maps<S, R>(d); }) {
    const map_data d(S, R);
    report("linear " + race::name(S) + (R == range::seven_bits ? ", 7 bits" : ""), race::flops(S),
           Peer::template maps<S, R>(d), d.right);
  }
}
template <class Peer, layer_shape S>
void run() {
  if constexpr (requires(race::layer_data d) { Peer::template attentions<S>(d); }) {
    const race::layer_data d(S);
    report("attention " + race::name(S), race::flops(S), Peer::template attentions<S>(d),
           race::reference(S, d));
  }
}
template <class Peer>
void run_all() {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((run<Peer, linears[I], range::eight_bits>(), run<Peer, linears[I], range::seven_bits>()), ...);
  }(std::make_index_sequence<std::size(linears)>{});
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (run<Peer, layers[I]>(), ...);
  }(std::make_index_sequence<std::size(layers)>{});
}

}  // namespace integers
