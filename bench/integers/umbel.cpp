// SPDX-License-Identifier: BSL-1.0
// Umbel's layers in integers; with any argument the same in floats.
#define UMBEL_STACK_BUDGET (1 << 20)  // calibrate() has its workspace there
#include "../../examples/fashion/integers.hpp"
#include "../../examples/fashion/model.hpp"

#include <umbel/quantized.hpp>
#include <umbel/umbel.hpp>

#include "../peers/umbel_layer.hpp"
#include "race.hpp"

namespace {

using namespace umbel::axes;

using race::attention, race::count;

// f(), which writes y, as a way. What a way refers to is static.
template <class Y, class F>
integers::ways way_of(Y& y, float unit, F f) {
  return {{"packed", race::repeated(f),
           [&y, unit] { return integers::as_floats(y.data(), y.size(), unit); }}};
}
void set(umbel::detail::integers::range& range, float most) { range() = most; }

template <race::linear_shape S>
using map = umbel::linear<float, hidden<count(S.in)>, classes<count(S.out)>, umbel::bias<true>>;
template <race::linear_shape S>
const typename map<S>::weights& weights_of_map(const integers::map_data& d) {
  static typename map<S>::weights w;
  race::turn(d.w.get(), S.out, S.in, w.weight);
  std::copy_n(d.b.get(), S.out, w.bias);
  return w;
}
template <race::layer_shape S>
const auto& input_of(const race::layer_data& d) {
  return *reinterpret_cast<
      const umbel::tensor<float, query<count(S.queries)>, hidden<count(S.hidden)>>*>(d.x.get());
}

struct in_integers {
  template <race::linear_shape S, integers::range>
  static integers::ways maps(const integers::map_data& d) {
    using layer = umbel::quantized<map<S>>;
    static const auto x = integers::quantized<std::int8_t>(d.x.data(), d.x.size());
    static const layer packed = [&] {
      typename layer::ranges seen{};
      set(seen.input, 127 * x.unit), set(seen.output, integers::largest(d.right));
      return layer{weights_of_map<S>(d), seen};
    }();
    using input = umbel::tensor<std::int8_t, query<count(S.rows)>, hidden<count(S.in)>>;
    static input from;
    std::copy(x.values.begin(), x.values.end(), from.begin());
    static umbel::tensor<std::int8_t, query<count(S.rows)>, classes<count(S.out)>> y;
    return way_of(y, integers::largest(d.right) / 127, [] { packed.into(y, from); });
  }

  template <race::layer_shape S>
  static integers::ways attentions(const race::layer_data& d) {
    using layer = umbel::quantized<attention<S>>;
    static float most = 0;
    static const layer packed = [&] {
      typename layer::ranges seen{};
      static_cast<void>(layer::calibrate(seen, race::weights_of<S>(d), input_of<S>(d)));
      most = seen.output();
      return layer{race::weights_of<S>(d), seen};
    }();
    static typename layer::template workspace<query<count(S.queries)>> work;
    static const auto x = [&] {
      typename layer::ranges seen{};
      static_cast<void>(layer::calibrate(seen, race::weights_of<S>(d), input_of<S>(d)));
      return umbel::quantize<std::int8_t>(input_of<S>(d), seen.queries);
    }();
    static umbel::tensor<std::int8_t, query<count(S.queries)>, hidden<count(S.hidden)>> y;
    return way_of(y, most / 127, [] { packed.into(y, x, umbel::all_keys, work); });
  }
};

struct in_floats {
  template <race::linear_shape S, integers::range>
  static integers::ways maps(const integers::map_data& d) {
    static const umbel::prepacked<map<S>> packed{weights_of_map<S>(d)};
    static umbel::tensor<float, query<count(S.rows)>, hidden<count(S.in)>> x;
    std::copy(d.x.begin(), d.x.end(), x.begin());
    static umbel::tensor<float, query<count(S.rows)>, classes<count(S.out)>> y;
    return way_of(y, 1, [] { packed.into(y, x); });
  }
  template <race::layer_shape S>
  static integers::ways attentions(const race::layer_data& d) {
    static const umbel::prepacked<attention<S>> packed{race::weights_of<S>(d)};
    static typename attention<S>::template workspace<query<count(S.queries)>> work;
    static const auto& x = *new auto(input_of<S>(d));
    static umbel::tensor<float, query<count(S.queries)>, hidden<count(S.hidden)>> y;
    return way_of(y, 1, [] { packed.into(y, x, umbel::all_keys, work); });
  }
};

// Rows of which there is nothing to compare here: their bits have tests.
template <class F>
void add_row(const char* row, double operations, F f) {
  integers::report(row, operations, {{"", race::repeated(f), [] { return std::vector<float>{}; }}},
                   {});
}

// One token against a cache that it fills (bench/layer/decode.cpp).
constexpr race::layer_shape step = {'I', 1, 1, 512, 256, 8, true};
template <class Cache, class Layer, class X>
void add_step(const Layer& layer, const X& x) {
  static Cache past;
  static typename Cache::template workspace<token<1>> work;
  static X y;
  while (past.step(y, layer, x, umbel::all_keys, work)) {
  }
  add_row("step I 256,8,512", race::flops(step), [&] {
    (void)past.rewind(511);
    (void)past.step(y, layer, x, umbel::all_keys, work);
  });
}

// A picture of the demo (bench/layer/fashion.cpp).
template <class Model, class Logit>
void add_picture() {
  constexpr double tokens = 49, hidden = 32, up = 64;
  constexpr double layer = 4 * tokens * hidden * hidden + 2 * tokens * tokens * hidden;
  constexpr double products =
      tokens * 16 * hidden + 2 * (layer + 2 * tokens * hidden * up) + hidden * 10;
  static typename Model::workspace work;
  static std::uint8_t picture[28 * 28];
  for (std::size_t i = 0; i < sizeof picture; ++i) picture[i] = static_cast<std::uint8_t>(i * 37);
  add_row("a picture of the demo", 2 * products, [] {
    static Logit logits[10];
    Model::logits(picture, work, logits);
  });
}

}  // namespace

int main(int argc, char**) {
  const race::layer_data d(step);
  using layer = attention<step>;
  static umbel::tensor<float, token<1>, hidden<count(step.hidden)>> x;
  std::copy_n(d.x.get(), x.size(), x.begin());
  if (argc > 1) {  // in floats
    integers::run_all<in_floats>();
    static const umbel::prepacked<layer> packed{weights_of<step>(d)};
    add_step<umbel::key_value_cache<layer, key<count(step.keys)>>>(packed, x);
    add_picture<fashion::model, float>();
  } else {
    integers::run_all<in_integers>();
    typename umbel::quantized<layer>::ranges seen{};
    static_cast<void>(umbel::quantized<layer>::calibrate(seen, weights_of<step>(d), x));
    static const umbel::quantized<layer> packed{weights_of<step>(d), seen};
    add_step<umbel::key_value_cache<umbel::quantized<layer>, key<count(step.keys)>>>(
        packed, umbel::quantize<std::int8_t>(x, seen.queries));
    add_picture<fashion::integer_model, std::int16_t>();
  }
  return 0;
}
