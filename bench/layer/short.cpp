// SPDX-License-Identifier: BSL-1.0
// Calls that leave out rows: "short/encoder/E 32 of 128" beside "short/encoder/E 32 of 32", a
// layer of as many tokens; "D int8" is in integers. Packed weights, scratch in a workspace.
// Operations: of the 32.
#include <umbel/quantized.hpp>
#include <umbel/umbel.hpp>

#include <cstdint>
#include <string>

#include "../measure.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using umbel::detail::simd::rsqrt;

template <std::size_t Hidden, std::size_t Heads>
struct block {
  using encoder = encoder_layer<float, hidden<Hidden>, heads<Heads>, intermediate<4 * Hidden>,
                                norm_first<true>, activation<gelu_tanh>, bias<true>>;
  static const typename encoder::weights& weights() {
    static const typename encoder::weights filled = [] {
      typename encoder::weights w;
      auto& [norm1, attention, norm2, network] = w;
      for (auto* map : {&attention.q, &attention.k, &attention.v, &attention.o})
        bench::fill(map->weight, 1.7f * rsqrt(static_cast<float>(Hidden)));
      bench::fill(network.up.weight, 1.7f * rsqrt(static_cast<float>(Hidden)));
      bench::fill(network.down.weight, 0.8f * rsqrt(static_cast<float>(Hidden)));
      for (auto* part : {&norm1.gamma, &norm2.gamma}) bench::fill(*part, 1);
      return w;
    }();
    return filled;
  }
  template <class T>
  static const auto& packed() {
    if constexpr (std::is_same_v<T, float>) {
      static const prepacked<encoder> layer{weights()};
      return layer;
    } else {
      static const quantized<encoder> layer = [] {
        tensor<float, token<32>, hidden<Hidden>> x;
        bench::fill(x, 1);
        typename quantized<encoder>::ranges seen{};
        static_cast<void>(quantized<encoder>::calibrate(seen, weights(), x));
        quantized<encoder> packed{};
        static_cast<void>(packed.pack(weights(), seen));
        return packed;
      }();
      return layer;
    }
  }
};

// Some: how many of the tokens. 0: a call without a mask.
template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads, std::size_t Some,
          class T = float>
void add(const char* name) {
  static tensor<T, token<Tokens>, hidden<Hidden>> x, y;
  static const auto& layer = block<Hidden, Heads>::template packed<T>();
  using encoder = typename block<Hidden, Heads>::encoder;
  using called = std::conditional_t<std::is_same_v<T, float>, encoder, quantized<encoder>>;
  static typename called::template workspace<token<Tokens>> work;
  if constexpr (std::is_same_v<T, float>)
    bench::fill(x, 1);
  else
    for (std::size_t i = 0; i < x.size(); ++i)
      x.data()[i] = static_cast<T>(i * 7919 % 20000 - 9999);
  constexpr std::size_t rows = Some == 0 ? Tokens : Some;
  const std::string row = std::string("short/encoder/") + name + " " + std::to_string(rows) +
                          " of " + std::to_string(Tokens);
  const double flops = 24.0 * rows * Hidden * Hidden + 4.0 * rows * rows * Hidden;
  [[maybe_unused]] static int some = static_cast<int>(Some);
  if constexpr (Some == 0)
    bench::add_row(row, flops, [] { layer.into(y, x, all_keys, work); });
  else
    bench::add_row(row, flops, [] { layer.into(y, x, valid_rows(some), work); });
}

const bool added = [] {
  add<128, 256, 8, 0>("E");
  add<128, 256, 8, 64>("E");
  add<64, 256, 8, 0>("E");
  add<128, 256, 8, 32>("E");
  add<32, 256, 8, 0>("E");
  add<128, 256, 8, 37>("E");
  add<37, 256, 8, 0>("E");
  add<64, 64, 4, 32>("D");
  add<32, 64, 4, 0>("D");
  add<64, 64, 4, 16>("D");
  add<16, 64, 4, 0>("D");
  add<64, 64, 4, 9>("D");
  add<9, 64, 4, 0>("D");
  add<64, 64, 4, 32, std::int16_t>("D int8");
  add<32, 64, 4, 0, std::int16_t>("D int8");
  add<64, 64, 4, 16, std::int16_t>("D int8");
  add<16, 64, 4, 0, std::int16_t>("D int8");
  add<64, 64, 4, 9, std::int16_t>("D int8");
  add<9, 64, 4, 0, std::int16_t>("D int8");
  return true;
}();

}  // namespace
