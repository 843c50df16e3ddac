// SPDX-License-Identifier: BSL-1.0
// Does the time of a forward pass depend on the numbers? The same pass over ordinary, subnormal and
// infinite ones, and large ones, at which functions saturate, in turn (of integers: zeros, the
// largest, and four times the ordinary ones): the time of a row is that of
// its numbers, its percent how much longer they take than the ordinary ones, medians of the turns
// in the same thread, which noise hits alike.
#include <umbel/quantized.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "../measure.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

using kinds = std::array<const char*, 3>;
constexpr kinds of_floats{"subnormal", "infinite", "large"};

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
void add(const std::string& name, F f, const kinds& of = of_floats) {
  for (std::size_t kind = 1; kind < 4; ++kind)
    benchmark::RegisterBenchmark(("inputs/" + name + ", " + of[kind - 1]).c_str(),
                                 [=](benchmark::State& state) { compare(state, kind, f); })
        ->Iterations(1)
        ->Repetitions(9)
        ->ReportAggregatesOnly(true);
}

using tokens = tensor<float, token<64>, hidden<64>>;

template <class Layer>
const typename Layer::weights& weights_of() {
  static typename Layer::weights w;
  for_each_parameter(w, [](const parameter_path&, auto x) { bench::fill(x, 0.15f); });
  return w;
}

// call(layer, y, x, work)
template <class Layer, class... X, class Call>
void add_call(const char* name, Call call) {
  static const prepacked<Layer> layer{weights_of<Layer>()};
  static inputs<tokens> x;
  static tokens y;
  static workspace_for<Layer, X...> work;
  fill_all(x);
  add(name, [=](std::size_t kind) { call(layer, y, x[kind], work); });
}
template <class Layer>
void add_layer(const char* name) {
  add_call<Layer, tokens>(name, [](const auto& layer, tokens& y, const tokens& x, auto& work) {
    layer.into(y, x, all_keys, work);
  });
}
// Of sequence and memory the same numbers.
template <class Layer>
void add_decoder(const char* name) {
  using memory = tensor<float, key<64>, hidden<64>>;
  add_call<Layer, tokens, memory>(
      name, [](const auto& layer, tokens& y, const tokens& x, auto& work) {
        layer.into(y, x, x | rename_axis<token, key>, all_keys, self_mask(causal), work);
      });
}
template <class Layer>
void add_additive(const char* name) {
  using queries = tensor<float, query<64>, hidden<64>>;
  using keys = tensor<float, key<64>, hidden<64>>;
  add_call<Layer, queries, keys, keys>(name, [](const auto& layer, tokens& y, const tokens& x,
                                                auto& work) {
    const auto k = x | rename_axis<token, key>;
    layer.into(y | rename_axis<token, query>, x | rename_axis<token, query>, k, k, all_keys, work);
  });
}
// Integers of the residual sum.
template <class Layer>
void add_integers(const char* name) {
  using integer_tokens = tensor<std::int16_t, token<32>, hidden<64>>;
  static inputs<integer_tokens> x;
  static integer_tokens y;
  static const auto layer = [] {
    const auto& w = weights_of<Layer>();
    static tensor<float, token<32>, hidden<64>> sample;
    bench::fill(sample, 1);
    typename quantized<Layer>::ranges seen{};
    static_cast<void>(quantized<Layer>::calibrate(seen, w, sample));
    for (std::size_t i = 0; i < sample.size(); ++i) {
      const auto ordinary = static_cast<std::int16_t>(sample.data()[i] * 8000);
      x[0].data()[i] = ordinary;
      x[1].data()[i] = 0;
      x[2].data()[i] = ordinary < 0 ? std::int16_t{-32767} : std::int16_t{32767};
      x[3].data()[i] = static_cast<std::int16_t>(4 * ordinary);
    }
    return quantized<Layer>{w, seen};
  }();
  static typename quantized<Layer>::template workspace<token<32>> work;
  add(name, [](std::size_t kind) { layer.into(y, x[kind], all_keys, work); },
      {"zeros", "the largest", "large"});
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
  add_decoder<decoder_layer<float, hidden<64>, heads<4>, intermediate<128>, bias<true>,
                            norm_first<true>, activation<gelu_exact>>>("decoder layer");
  add_additive<additive_attention<float, hidden<64>, score_hidden<16>>>("additive attention");
  using network = feed_forward<float, hidden<64>, intermediate<128>, activation<silu>, gated<true>,
                               bias<false>>;
  add_call<network, tokens>(
      "gated feed-forward of silu",
      [](const auto& layer, tokens& y, const tokens& x, auto& work) { layer.into(y, x, work); });
  static rms_norm<float, hidden<64>>::weights gamma;
  bench::fill(gamma.gamma, 1);
  add_function("rms_norm", [norm = rms_norm<float, hidden<64>>(gamma, 1e-6f)](const tokens& x) {
    return norm(x);
  });
  add_integers<encoder_layer<float, hidden<64>, heads<4>, intermediate<128>, bias<true>,
                             norm_first<true>, activation<gelu_exact>>>(
      "encoder layer in integers");
  add_function("softmax", [](const tokens& x) { return softmax<hidden>(x); });
  add_function("tanh", [](const tokens& x) { return tanh(x); });
  add_function("sigmoid", [](const tokens& x) { return sigmoid(x); });
  add_function("silu", [](const tokens& x) { return silu(x); });
  return true;
}();

}  // namespace
