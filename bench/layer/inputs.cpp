// SPDX-License-Identifier: BSL-1.0
// Does the time of a forward pass depend on the numbers? The same pass over ordinary, subnormal and
// infinite ones, and large ones, at which functions saturate, in turn: the time of a row is that of
// its numbers, its percent how much longer they take than the ordinary ones, medians of the turns
// in the same thread, which noise hits alike.
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "../measure.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

constexpr const char* kinds[] = {"subnormal", "infinite", "large"};

template <class X>
using inputs = std::array<X, 4>;  // the first are the ordinary ones

template <class X>
void fill_all(inputs<X>& x) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (X& each : x) bench::fill(each, 1);
  for (float& e : x[1]) e *= 1e-39f;
  for (float& e : x[2]) e = e < 0 ? -infinity : infinity;
  for (float& e : x[3]) e *= 1000;
}

template <class F>
void compare(benchmark::State& state, std::size_t kind, F f) {
  constexpr std::size_t turns = 41;
  std::array<double, turns> ordinary{}, others{};
  int calls = 1;  // of some 50 us together
  for (double seconds = 0; seconds < 5e-5; calls *= 2) {
    const double start = bench::thread_seconds();
    for (int i = 0; i < calls; ++i) f(0);
    seconds = bench::thread_seconds() - start;
  }
  const auto seconds_of = [&](std::size_t of) {
    const double start = bench::thread_seconds();
    for (int i = 0; i < calls; ++i) {
      f(of);
      benchmark::ClobberMemory();
    }
    return (bench::thread_seconds() - start) / calls;
  };
  for (auto _ : state)
    for (std::size_t i = 0; i < turns; ++i)
      ordinary[i] = seconds_of(0), others[i] = seconds_of(kind);
  const auto median = [](auto& times) {
    std::nth_element(times.begin(), times.begin() + turns / 2, times.end());
    return times[turns / 2];
  };
  state.counters["us"] = median(others) * 1e6;
  state.counters["percent"] = 100 * median(others) / median(ordinary) - 100;
  state.counters["GFLOP/s"] = state.counters["peak"] = 0;
}

template <class F>
void add(const std::string& name, F f) {
  for (std::size_t kind = 1; kind < 4; ++kind)
    benchmark::RegisterBenchmark(("inputs/" + name + ", " + kinds[kind - 1]).c_str(),
                                 [=](benchmark::State& state) { compare(state, kind, f); })
        ->Iterations(1)
        ->Repetitions(9)
        ->ReportAggregatesOnly(true);
}

using tokens = tensor<float, token<64>, hidden<64>>;

template <class Layer>
void add_layer(const char* name) {
  static const prepacked<Layer> layer = [] {
    static typename Layer::weights w;
    for_each_parameter(w, [](const parameter_path&, auto x) { bench::fill(x, 0.15f); });
    return prepacked<Layer>{w};
  }();
  static inputs<tokens> x;
  static tokens y;
  static workspace_for<Layer, tokens> work;
  fill_all(x);
  add(name, [](std::size_t kind) { layer.into(y, x[kind], all_keys, work); });
}

template <class F>
void add_function(const char* name, F f) {
  static inputs<tokens> x;
  fill_all(x);
  add(name, [=](std::size_t kind) { benchmark::DoNotOptimize(f(x[kind])); });
}

const bool added = [] {
  add_layer<multi_head_attention<float, hidden<64>, heads<4>, bias<true>>>("attention");
  add_layer<encoder_layer<float, hidden<64>, heads<4>, intermediate<128>, bias<true>,
                          norm_first<true>, activation<gelu_exact>>>("encoder layer");
  add_function("softmax", [](const tokens& x) { return softmax<hidden>(x); });
  add_function("tanh", [](const tokens& x) { return tanh(x); });
  add_function("sigmoid", [](const tokens& x) { return sigmoid(x); });
  add_function("silu", [](const tokens& x) { return silu(x); });
  return true;
}();

}  // namespace
