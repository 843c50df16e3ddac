// SPDX-License-Identifier: BSL-1.0
// The demo's clothing classifier (examples/fashion) as a formula over its weights, used both for
// learning and for answering.
//
//   patches of a picture, 0 to 1      (token=49, hidden=16)
//     normalised, linear, positions   (token=49, hidden=32)
//     two encoder layers, norm, mean over the tokens
//     linear                          (classes=10)
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/training.hpp>

namespace learn_fashion {

using namespace umbel;
using namespace umbel::axes;

inline constexpr std::size_t class_count = 10;

using embed_map = linear<float, hidden<16>, hidden<32>, bias<true>>;
using position_table = learned_positions<float, token<49>, hidden<32>>;
using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                              activation<gelu_exact>, bias<true>>;
using last_norm = layer_norm<float, hidden<32>>;
using classifier = linear<float, hidden<32>, classes<class_count>, bias<true>>;

struct weights {
  static constexpr const char* part_names[] = {"embed", "positions", "layers", "norm", "head"};
  embed_map::weights embed;
  position_table::weights positions;
  encoder::weights layers[2];
  last_norm::weights norm;
  classifier::weights head;
};

using patches = tensor<float, token<49>, hidden<16>>;

// Statistics of the training pixels.
inline constexpr float pixel_mean = 0.28604F, pixel_deviation = 0.35302F;

inline constexpr formula logits_of = [](auto pixels, const auto& w) {
  const auto x = ((pixels - pixel_mean) / pixel_deviation) * w.embed;
  const auto y = encoder{w.layers[0]}(position_table{w.positions}(x));
  const auto z = last_norm{w.norm}(encoder{w.layers[1]}(y));
  return (z | mean<token>)*w.head;
};

inline constexpr formula loss_of = [](auto pixels, auto label, const auto& w) {
  return cross_entropy<classes, label_smoothing<1, 20>>(logits_of(pixels, w), label);
};
inline constexpr gradient learn{loss_of};

using learning_workspace =
    workspace_for<decltype(learn), patches, tensor<int>, differentiated<weights>>;
using answering_workspace = workspace_for<decltype(logits_of), patches, weights>;

// Matrices are normal with deviation 1 / sqrt(in), or half of that if their result is added to the
// residual; positions 0.1; gammas 1; the rest 0.
inline void first_weights(weights& w, std::uint64_t seed) {
  initialize(w, seed, [](const parameter_path& path, const auto& x) {
    const auto is = [&](const char* name) { return path == name; };
    if (is("positions")) return initializer::normal(0.1);
    for (const char* added : {"layers.0.attention.o.weight", "layers.0.feed_forward.down.weight",
                              "layers.1.attention.o.weight", "layers.1.feed_forward.down.weight"})
      if (is(added)) return initializer::kaiming_normal(0.5);
    if constexpr (std::remove_cvref_t<decltype(x)>::layout::rank == 2)
      return initializer::kaiming_normal(1);
    return initializer::by_role(path, x);
  });
}

}  // namespace learn_fashion
