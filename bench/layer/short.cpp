// SPDX-License-Identifier: BSL-1.0
// Calls that leave out rows: "short/encoder/E 32 of 128" beside "short/encoder/E 32 of 32", a
// layer of as many tokens. Packed weights, scratch in a workspace. Operations: of the 32.
#include <umbel/umbel.hpp>

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
  static const prepacked<encoder>& packed() {
    static const prepacked<encoder> layer = [] {
      static typename encoder::weights weights;
      auto& [norm1, attention, norm2, network] = weights;
      for (auto* map : {&attention.q, &attention.k, &attention.v, &attention.o})
        bench::fill(map->weight, 1.7f * rsqrt(static_cast<float>(Hidden)));
      bench::fill(network.up.weight, 1.7f * rsqrt(static_cast<float>(Hidden)));
      bench::fill(network.down.weight, 0.8f * rsqrt(static_cast<float>(Hidden)));
      for (auto* part : {&norm1.gamma, &norm2.gamma}) bench::fill(*part, 1);
      return prepacked<encoder>{weights};
    }();
    return layer;
  }
};

// Some: how many of the tokens. 0: a call without a mask.
template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads, std::size_t Some>
void add(const char* name) {
  using encoder = typename block<Hidden, Heads>::encoder;
  static tensor<float, token<Tokens>, hidden<Hidden>> x, y;
  static typename encoder::template workspace<token<Tokens>> work;
  static const auto& layer = block<Hidden, Heads>::packed();
  bench::fill(x, 1);
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
  return true;
}();

}  // namespace
