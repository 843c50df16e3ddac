// SPDX-License-Identifier: BSL-1.0
// ONNX Runtime: QGemm for linear maps; QAttention, which projects in integers and attends in
// floats, then QuantizeLinear and QGemm. Activations are unsigned, as QAttention wants them,
// weights signed or not: where the processor has no VNNI, sums of signed ones saturate.
#include "../peers/onnx_session.hpp"

#include "race.hpp"

namespace {

using race::onnx::model;
using race::onnx::session;

// Units and zeros of a tensor as constants NAME_unit and NAME_zero.
template <class T>
void add_unit(model& m, const std::string& name, float unit, int zero) {
  const T narrow = static_cast<T>(zero);
  m.constant(name + "_unit", {}, &unit);
  m.constant(name + "_zero", {}, &narrow);
}
// (in, out) of (out, in).
race::memory turned(const float* w, int out, int in) {
  race::memory result = race::allocate(static_cast<std::size_t>(out * in));
  race::transpose<false>(w, in, out, in, result.get(), out);
  return result;
}
// NAME, (in, out), with its unit, which is the result.
template <class Weight>
float add_weights(model& m, const std::string& name, const float* w, int out, int in) {
  constexpr int zero = std::is_signed_v<Weight> ? 0 : 128;
  const auto q = integers::quantized<Weight>(turned(w, out, in).get(),
                                             static_cast<std::size_t>(out * in), zero);
  m.constant(name, {in, out}, q.values.data());
  add_unit<Weight>(m, name, q.unit, zero);
  return q.unit;
}
// y of x, both with units already.
template <class Weight>
void add_map(model& m, const std::string& x, float x_unit, const std::string& y, const float* w,
             const float* b, int out, int in) {
  const float unit = x_unit * add_weights<Weight>(m, y + "_w", w, out, in);
  std::vector<std::int32_t> bias;
  for (int o = 0; o < out; ++o) bias.push_back(static_cast<std::int32_t>(std::lround(b[o] / unit)));
  m.constant(y + "_b", {out}, bias.data());
  m.node("QGemm",
         {x, x + "_unit", x + "_zero", y + "_w", y + "_w_unit", y + "_w_zero", y + "_b",
          y + "_unit", y + "_zero"},
         {y}, {}, model::contributed);
}

// The model with its input and the memory of its output.
template <class X>
void add_way(integers::ways& all, const char* name, const model& m, const integers::bytes<X>& x,
             std::size_t outputs, float unit) {
  const auto from = std::make_shared<std::vector<X>>(x.values);
  const auto to = std::make_shared<std::vector<std::uint8_t>>(outputs);
  try {
    const auto ready = std::make_shared<session>(m);
    ready->bind(0, from->data());
    ready->bind(1, to->data());
    ready->run();
    all.push_back({name, race::repeated([=] { ready->run(); }), [=] {
                     static_cast<void>(from);
                     return integers::as_floats(to->data(), to->size(), unit, 128);
                   }});
  } catch (const std::runtime_error& reason) {
    if (std::getenv("RACE_VERBOSE") != nullptr)
      std::fprintf(stderr, "    %s: left out: %s\n", name, reason.what());
  }
}

struct onnxruntime {
  template <class Weight, race::linear_shape S, integers::range R>
  static void add_linear(integers::ways& all, const char* name, const integers::map_data& d) {
    constexpr int zero = R == integers::range::eight_bits ? 128 : 0;
    const auto x = integers::quantized<std::uint8_t>(d.x.data(), d.x.size(), zero);
    const float unit = integers::largest(d.right) / 127;
    model m(17);
    m.input("x", {S.rows, S.in}, model::of_uint8);
    m.output("y", {S.rows, S.out}, model::of_uint8);
    add_unit<std::uint8_t>(m, "x", x.unit, zero);
    add_unit<std::uint8_t>(m, "y", unit, 128);
    add_map<Weight>(m, "x", x.unit, "y", d.w.get(), d.b.get(), S.out, S.in);
    add_way(all, name, m, x, d.right.size(), unit);
  }
  template <race::linear_shape S, integers::range R>
  static integers::ways maps(const integers::map_data& d) {
    integers::ways all;
    add_linear<std::int8_t, S, R>(all, "QGemm of signed weights", d);
    add_linear<std::uint8_t, S, R>(all, "QGemm of unsigned weights", d);
    return all;
  }

  template <class Weight, race::layer_shape S>
  static void add_layer(integers::ways& all, const char* name, const race::layer_data& d) {
    constexpr int e = S.hidden, rows = S.queries;
    const auto x = integers::quantized<std::uint8_t>(d.x.get(), rows * e, 128);
    // Contexts are averages of values.
    const numbers64 v = race::reference(race::linear_shape{rows, e, e}, d.x.get(),
                                        d.w.get() + 2 * e * e, d.b.get() + 2 * e);
    const numbers64 right = race::reference(S, d);
    const float context = integers::largest(v) / 127, unit = integers::largest(right) / 127;
    model m(17);
    m.input("x", {1, rows, e}, model::of_uint8);
    m.output("y", {rows, e}, model::of_uint8);
    add_unit<std::uint8_t>(m, "x", x.unit, 128);
    add_unit<std::uint8_t>(m, "context", context, 128);
    add_unit<std::uint8_t>(m, "y", unit, 128);
    add_weights<Weight>(m, "qkv", d.w.get(), 3 * e, e);
    m.constant("qkv_b", {3 * e}, d.b.get());
    m.node("QAttention", {"x", "qkv", "qkv_b", "x_unit", "qkv_unit", "", "x_zero", "qkv_zero"},
           {"attended"}, {{"num_heads", S.heads}}, model::contributed);
    m.constant("matrix", {rows, e});
    m.node("Reshape", {"attended", "matrix"}, {"rows"});
    m.node("QuantizeLinear", {"rows", "context_unit", "context_zero"}, {"context"});
    add_map<Weight>(m, "context", context, "y", d.w_o.get(), d.b_o.get(), e, e);
    add_way(all, name, m, x, right.size(), unit);
  }
  template <race::layer_shape S>
  static integers::ways attentions(const race::layer_data& d) {
    integers::ways all;
    add_layer<std::int8_t, S>(all, "QAttention of signed weights", d);
    add_layer<std::uint8_t, S>(all, "QAttention of unsigned weights", d);
    return all;
  }

  using numbers64 = race::numbers64;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--version") {
    std::puts(OrtGetApiBase()->GetVersionString());
    return 0;
  }
  race::onnx::api();  // throws when the library and its header do not fit
  integers::run_all<onnxruntime>();
  return 0;
}
