// SPDX-License-Identifier: BSL-1.0
// The training pictures: read, or made up for a test, shuffled each epoch, cut into patches, and
// moved and mirrored at random (learning/chance.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "../fashion/idx.hpp"
#include "../learning/chance.hpp"
#include "model.hpp"

namespace learn_fashion {

inline constexpr std::size_t side = 28, pixels_each = side * side;

using learning::draws;
// The purposes of random numbers.
namespace purpose {
inline constexpr std::uint64_t order = 0, place = 1, synthetic = 2;
}

// ---- pictures -----------------------------------------------------------------------------------
struct picture_set {
  std::vector<std::uint8_t> pixels;  // (picture, row, column)
  std::vector<std::uint8_t> labels;  // (picture)

  std::size_t size() const { return labels.size(); }
  const std::uint8_t* picture(std::size_t i) const { return pixels.data() + i * pixels_each; }
};
struct data_set {
  picture_set train, test;
};
inline constexpr std::size_t most_pictures = 60000;

// Fashion-MNIST from its four unpacked files; otherwise throws fashion::input_error.
inline data_set read_pictures(const std::filesystem::path& folder) {
  const auto read = [&](const std::string& which, std::size_t count) {
    namespace idx = fashion::idx;
    return picture_set{
        idx::read_images(folder / (which + "-images-idx3-ubyte"), count, side, side),
        idx::read_labels(folder / (which + "-labels-idx1-ubyte"), count, class_count)};
  };
  return {read("train", most_pictures), read("t10k", 10000)};
}

// A few easy ones, always the same: noise, and a bright bar whose height encodes the class.
inline data_set make_pictures() {
  const auto make = [](std::size_t count, std::uint64_t seed) {
    const draws noise{seed, purpose::synthetic};
    picture_set set;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t label = i % class_count;
      for (std::size_t at = 0; at < pixels_each; ++at) {
        const std::size_t row = at / side;
        const std::uint32_t bar = row >= 2 * label + 2 && row < 2 * label + 8 ? 128 : 0;
        set.pixels.push_back(
            static_cast<std::uint8_t>(bar + noise.below(128, i * pixels_each + at)));
      }
      set.labels.push_back(static_cast<std::uint8_t>(label));
    }
    return set;
  };
  return {make(512, 1), make(256, 2)};
}

// The pictures in the order of an epoch (Fisher and Yates).
struct epoch_order {
  std::uint16_t of[most_pictures];

  void shuffle(std::uint64_t seed, std::uint64_t epoch, std::size_t count) noexcept {
    const draws chance{seed, purpose::order};
    for (std::size_t i = 0; i < count; ++i) of[i] = static_cast<std::uint16_t>(i);
    for (std::size_t i = count - 1; i > 0; --i)
      std::swap(of[i],
                of[chance.below(static_cast<std::uint32_t>(i + 1), epoch * most_pictures + i)]);
  }
};
static_assert(most_pictures <= 1U << 16);

// ---- patches ------------------------------------------------------------------------------------
// The change of a picture, so that no two epochs see the same one.
struct place {
  int down = 0, right = 0;
  bool mirrored = false;
};

// Moves by up to a pixel. counter: the picture's number among all that are learned from.
constexpr place drawn_place(std::uint64_t seed, std::uint64_t counter) noexcept {
  const std::uint32_t drawn = draws{seed, purpose::place}.below(18, counter);
  return {static_cast<int>(drawn / 2 % 3) - 1, static_cast<int>(drawn / 6) - 1, drawn % 2 == 1};
}

// The patches of a picture, row by row, as are their pixels; outside it is black.
inline void cut(const std::uint8_t* pixels, const place& how, patches& to) noexcept {
  constexpr int size = side, patch = 4, across = size / patch;
  float* next = to.data();
  for (int token = 0; token < across * across; ++token)
    for (int element = 0; element < patch * patch; ++element) {
      const int row = token / across * patch + element / patch + how.down;
      const int at = token % across * patch + element % patch;
      const int column = (how.mirrored ? size - 1 - at : at) + how.right;
      const bool inside = row >= 0 && row < size && column >= 0 && column < size;
      *next++ = inside ? static_cast<float>(pixels[row * size + column]) / 255 : 0;
    }
}

}  // namespace learn_fashion
