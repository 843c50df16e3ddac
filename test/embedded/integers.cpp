// SPDX-License-Identifier: BSL-1.0
// Layers in 8-bit integers: one constant of all targets, with and without fused multiply-add, and
// kernels equal to their definition.
#include "integer_attention.hpp"

namespace {

// ---- kernels and their definition
// ----------------------------------------------------------------

// Transposed: as values are kept where there are no vectors, in 8 bits.
template <std::size_t Rows, std::size_t In, std::size_t Out, bool Transposed = false>
bool linear_is_plain() noexcept {
  constexpr bool transposed = Transposed && umbel::detail::simd::dot_lanes == 1;
  constexpr std::size_t row = transposed ? 1 : Out + 1, step = transposed ? Rows + 2 : 1;
  constexpr kernel::integer_linear_shape shape = {Rows, In, Out, In, row, step};
  using T = std::conditional_t<Transposed, std::int8_t, std::int16_t>;
  static kernel::integer_panels<In, Out> map;
  alignas(4) static std::int8_t x[Rows * In + 1];
  static T fast[(Rows + 2) * (Out + 1)], defined[(Rows + 2) * (Out + 1)];
  draw.fill(x, Rows * In + 1, -128, 127);
  for (std::size_t o = 0; o < Out; ++o) {
    std::int32_t moved = 0;
    for (std::size_t i = 0; i < In; ++i) {
      const std::int32_t w = draw.between(-127, 127);
      map.weights[map.place(o, i)] = static_cast<std::int8_t>(w);
      moved += w * map.moved;
    }
    map.starts[o] = draw.between(-30000, 30000) - moved;
    map.multiplier[o] = static_cast<std::int16_t>(draw.between(-90, 90));
  }
  map.before = static_cast<std::uint8_t>(draw() % 3);
  map.after = static_cast<std::uint8_t>(draw() % 12);
  const auto both = [&](const auto& finish) {
    kernel::integer_linear<shape>(map, x + 1, fast, finish);  // at no multiple of four bytes
    plain::integer_linear<shape>(map, x + 1, defined, finish);
    for (std::size_t r = 0; r < Rows; ++r)
      for (std::size_t o = 0; o < Out; ++o)
        bits->add(static_cast<float>(defined[r * row + o * step]));
    return same(fast, defined);
  };
  if constexpr (Transposed) {
    static std::int8_t table[256];
    draw.fill(table, 256, -127, 127);
    return both(kernel::finish::as_int8{}) && both(kernel::finish::by_table{table});
  } else {
    return both(kernel::finish::as_int16{}) && both(kernel::finish::added{});
  }
}

template <bool Centred, std::size_t H>
bool norm_is_plain() noexcept {
  static kernel::integer_norm_numbers<H> n;
  static std::int16_t x[H];
  static std::int8_t fast[H], defined[H];
  draw.fill(n.gamma, H, -32767, 32767), draw.fill(n.beta, H, -(1 << 29), 1 << 29);
  n.shift = static_cast<std::uint8_t>(16 + draw() % 8);
  bool is_same = true;
  for (const std::int32_t epsilon : {0, 1, 3000, 1 << 30})
    for (const std::int32_t largest : {0, 1, 100, 32767}) {
      n.epsilon = epsilon;
      draw.fill(x, H, -largest, largest);
      if (largest == 100)
        for (std::int16_t& one : x) one = static_cast<std::int16_t>(32767 - (one & 1));
      kernel::integer_norm_rows<Centred, 1>(n, x, fast);
      plain::integer_norm<Centred>(n, x, defined);
      is_same = is_same && same(fast, defined);
      add(fast);
    }
  return is_same;
}

void kernels() noexcept {
  check("integers: linear maps are their definition",
        linear_is_plain<1, 1, 1>() && linear_is_plain<2, 7, 3>() &&
            linear_is_plain<3, 5, 7, true>() && linear_is_plain<4, 16, 8>() &&
            linear_is_plain<5, 33, 6, true>() && linear_is_plain<6, 70, 20>() &&
            linear_is_plain<9, 131, 3, true>() && linear_is_plain<1, 64, 37>());
  check("integers: attention is its definition",
        masked_attends_are_plain() &&
            attend_is_plain<1, 9, 8, 4, 16>(kernel::scores::every_key{}) &&
            attend_is_plain<3, 6, 4, 8, 16>(kernel::scores::causal{-1}));
  check("integers: norms are their definition",
        norm_is_plain<true, 1>() && norm_is_plain<false, 1>() && norm_is_plain<true, 7>() &&
            norm_is_plain<false, 7>() && norm_is_plain<true, 32>() && norm_is_plain<false, 35>());
}

// ---- layers
// --------------------------------------------------------------------------------------

// Packed by the compiler: a board needs no double.

// Ranges, each larger than the one before, so that no two scales are alike.
template <class... Ranges>
consteval void see(float largest, Ranges&... ranges) noexcept {
  ((ranges() = largest, largest *= 1.25F), ...);
}
template <class Map>
consteval void draw_map(drawing& next, Map& map) noexcept {
  next.weights(map.weight);
  if constexpr (requires { map.bias.begin(); }) next.weights(map.bias);
}

template <class X>
const X& numbers(std::int32_t largest = 127) noexcept {
  static X x;
  draw.fill(x.data(), X::layout::count, largest == 127 ? -128 : -largest, largest);
  return x;
}

using linear_layer = linear<float, hidden<13>, out_features<6>>;
template <class Quantized>
consteval Quantized packed_linear() noexcept {
  drawing next{{1}};
  linear_layer::weights w{};
  draw_map(next, w);
  typename Quantized::ranges seen;
  see(1, seen.input, seen.output);
  return Quantized(w, seen);
}
void linear_maps() noexcept {
  using rows = tensor<std::int8_t, batch<2>, token<3>, hidden<13>>;
  static constexpr auto narrow = packed_linear<quantized<linear_layer>>();
  static constexpr auto wide = packed_linear<quantized<linear_layer, output_as<std::int16_t>>>();
  add(narrow(numbers<rows>())), add(wide(numbers<rows>()));
  add(narrow(numbers<tensor<std::int8_t, hidden<13>>>()));
}

using attention_layer = multi_head_attention<float, hidden<12>, heads<4>, kv_heads<2>, bias<true>>;
consteval quantized<attention_layer> packed_attention() noexcept {
  drawing next{{2}};
  attention_layer::weights w{};
  draw_map(next, w.q), draw_map(next, w.k), draw_map(next, w.v), draw_map(next, w.o);
  quantized<attention_layer>::ranges seen;
  see(1, seen.queries, seen.keys, seen.values, seen.q, seen.k, seen.v, seen.output);
  return quantized<attention_layer>(w, seen);
}
template <class Layer, class... Inputs>
void attend_with_masks(const Layer& layer, const Inputs&... x) noexcept {
  static constexpr tensor<int, batch<2>> lengths{5, 0};
  static constexpr tensor<bool, key<7>> keep{true, false, true, true, false, false, true};
  add(layer(x...)), add(layer(x..., lengths)), add(layer(x..., keep_mask(keep)));
  add(layer(x..., causal_at(-2))), add(layer(x..., sliding_window_at<2, 1>(1)));
}
void attention() noexcept {
  static constexpr quantized<attention_layer> layer = packed_attention();
  using keys = tensor<std::int8_t, batch<2>, key<7>, hidden<12>>;
  static keys k, v;
  k = numbers<keys>(), v = numbers<keys>();
  attend_with_masks(layer, numbers<tensor<std::int8_t, batch<2>, query<5>, hidden<12>>>(), k, v);
  attend_with_masks(layer, numbers<tensor<std::int8_t, batch<2>, query<1>, hidden<12>>>(), k, v);
  add(layer(numbers<tensor<std::int8_t, token<6>, hidden<12>>>(), causal));
}

template <class Layer>
consteval quantized<Layer> packed_encoder() noexcept {
  drawing next{{3}};
  typename Layer::weights w{};
  draw_map(next, w.attention.q), draw_map(next, w.attention.k);
  draw_map(next, w.attention.v), draw_map(next, w.attention.o);
  next.weights(w.norm1.gamma, 1), next.weights(w.norm2.gamma, 1);
  draw_map(next, w.feed_forward.up), draw_map(next, w.feed_forward.down);
  typename quantized<Layer>::ranges seen;
  auto& [residual, attention, network] = seen;
  see(2, residual, attention.input, attention.q, attention.k, attention.v, network.input,
      network.up, network.activated);
  if constexpr (Layer::feed_forward::is_gated) {
    draw_map(next, w.feed_forward.gate);
    see(3, network.gate, network.product);
  }
  return quantized<Layer>(w, seen);
}
template <class Layer>
void encode() noexcept {
  static constexpr quantized<Layer> layer = packed_encoder<Layer>();
  using residual = tensor<std::int16_t, token<9>, hidden<10>>;
  add(layer(numbers<residual>(20000))), add(layer(numbers<residual>(32767), causal));
}

template <class Norm>
consteval quantized<Norm> packed_norm(float epsilon) noexcept {
  drawing next{{4}};
  typename Norm::weights w{};
  next.weights(w.gamma, 1);
  if constexpr (requires { w.beta.begin(); }) next.weights(w.beta);
  typename quantized<Norm>::ranges seen;
  see(1, seen.input, seen.output);
  return quantized<Norm>(w, seen, epsilon);
}
void norms() noexcept {
  static constexpr auto layer = packed_norm<layer_norm<float, hidden<19>>>(1e-5F);
  static constexpr auto rms = packed_norm<rms_norm<float, hidden<19>>>(1e-6F);
  using rows = tensor<std::int16_t, token<3>, hidden<19>>;
  for (const std::int32_t largest : {1, 300, 32767})
    add(layer(numbers<rows>(largest))), add(rms(numbers<rows>(largest)));
}

}  // namespace

int main() {
  embedded::hash all;
  bits = &all;
  kernels();
  linear_maps();
  attention();
  encode<encoder_layer<float, hidden<10>, heads<2>, intermediate<11>, norm_first<false>,
                       activation<gelu_exact>, bias<true>>>();
  encode<encoder_layer<float, hidden<10>, heads<2>, intermediate<6>, norm_first<true>, gated<true>,
                       activation<silu>, bias<false>, norm_by<rms_norm>,
                       norm_epsilon<1'000'000, 1'000'000'000'000>>>();
  norms();
  return finish("integers: the bits of all targets", 0xafa794c9);
}
