// SPDX-License-Identifier: BSL-1.0
// The demo's pictures, with their labels and PyTorch's results: the whole test set of Fashion-MNIST
// if its folder is given, otherwise the few committed ones.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "files.hpp"
#include "idx.hpp"
#include "model.hpp"
#include "trained/samples.hpp"

namespace fashion {

constexpr std::size_t side = 28;
constexpr std::size_t pixels_each = side * side;
constexpr std::size_t class_count = model::classes;

inline const char* class_name(std::size_t label) { return trained::class_names[label]; }

struct picture_set {
  bool whole;                        // the whole test set, or only the committed samples
  std::vector<std::uint8_t> pixels;  // (picture, row, column)
  std::vector<std::uint8_t> labels;  // (picture)
  std::vector<float> torch;          // (picture, class): PyTorch's logits

  std::size_t size() const { return labels.size(); }
  const std::uint8_t* picture(std::size_t i) const { return pixels.data() + i * pixels_each; }
  std::size_t number(std::size_t i) const {
    return whole ? i : trained::index[i];
  }  // in the test set
  const float* torch_logits(std::size_t i) const { return torch.data() + i * class_count; }
};

// Little-endian 32-bit floats, exactly `count` of them, all finite.
inline std::vector<float> read_floats(const std::filesystem::path& path, std::size_t count) {
  const auto file = read_whole(path);
  if (file.size() != 4 * count) {
    throw file_error(path, "the file holds " + std::to_string(file.size()) + " bytes, expected " +
                               std::to_string(4 * count) + " (" + std::to_string(count) +
                               " floats)");
  }
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = 0;
    for (std::size_t byte = 4; byte-- > 0;) bits = bits << 8 | file[4 * i + byte];
    values[i] = std::bit_cast<float>(bits);
    if (!std::isfinite(values[i])) {
      throw file_error(path, "value " + std::to_string(i) + " is not a finite number");
    }
  }
  return values;
}

// Without PyTorch's logits.
inline picture_set load_pictures(const std::filesystem::path& data) {
  constexpr std::size_t count = 10000;
  return {true,
          idx::read_images(data / "t10k-images-idx3-ubyte", count, side, side),
          idx::read_labels(data / "t10k-labels-idx1-ubyte", count, class_count),
          {}};
}

inline picture_set load_test_set(const std::filesystem::path& data,
                                 const std::filesystem::path& trained_folder) {
  picture_set set = load_pictures(data);
  set.torch = read_floats(trained_folder / "logits.f32", set.size() * class_count);
  return set;
}

inline picture_set load_samples() {
  picture_set set{false, {}, {}, {}};
  for (std::size_t i = 0; i < std::size(trained::labels); ++i) {
    set.pixels.insert(set.pixels.end(), std::begin(trained::pixels[i]),
                      std::end(trained::pixels[i]));
    set.labels.push_back(trained::labels[i]);
    set.torch.insert(set.torch.end(), std::begin(trained::logits[i]), std::end(trained::logits[i]));
  }
  return set;
}

}  // namespace fashion
