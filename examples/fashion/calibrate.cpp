// SPDX-License-Identifier: BSL-1.0
// Finds the ranges for the integer classifier (integers.hpp): runs the float layers on 500
// pictures, evenly spread over the training set, and writes the largest magnitude of each tensor.
//
//   fashion_calibrate train-images-idx3-ubyte trained/weights.npz > trained/ranges.hpp
#include <cstdio>
#include <exception>
#include <string>
#include <umbel/file/mapped_file.hpp>
#include <umbel/files.hpp>
#include <umbel/weights.hpp>

#include "files.hpp"
#include "idx.hpp"
#include "integer_layers.hpp"

namespace fashion::integer {
namespace {

struct weights {
  static constexpr const char* part_names[] = {"embed", "positions", "encoder", "norm", "head"};
  trained::embed_type::weights embed;
  position_table::weights positions;
  fashion::encoder::weights encoder[model::layers];
  trained::norm_type::weights norm;
  trained::head_type::weights head;
};
constexpr parameter_name position_names[] = {{"positions", "positions"}};

weights load_weights(const char* path) {
  const auto memory = mapped_file::open(path);
  if (!memory) throw file_error(path, memory.error());
  const auto file = tensor_file::in_memory(*memory);
  if (!file) throw file_error(path, file.error());
  static weights w;
  const auto loaded =
      load(w, *file, at("embed", "embed", names::torch_linear), position_names,
           at("encoder.*", "encoder.layers.*", names::torch_encoder_layer),
           at("norm", "norm", names::torch_layer_norm), at("head", "head", names::torch_linear));
  if (!loaded) throw file_error(path, loaded.error());
  return w;
}

// Pictures in the form that integers.hpp expects.
void calibrate(ranges& seen, const weights& w, const std::uint8_t* pixels) {
  const auto picture = view_as<row<28>, column<28>>(pixels);
  const auto cut = picture | split<row, patch_row<7>, row> |
                   split<column, patch_column<7>, column> |
                   permute<patch_row, patch_column, row, column>;
  tensor<float, patch_row<7>, patch_column<7>, row<4>, column<4>> patches;
  for_each([](float& to, std::uint8_t from) { to = static_cast<float>(from - 128) / 255; }, patches,
           cut);
  const auto tokens = patches | merge<patch_row, patch_column, patch> | merge<row, column, hidden>;
  trained::embed_type::weights moved = w.embed;
  for (std::size_t o = 0; o < 32; ++o) moved.bias[o] = embed_bias[o];
  const auto embedded = embed_layer::calibrate(seen.embed, moved, tokens);
  const auto placed = position_layer::calibrate(seen.positions, w.positions, embedded);
  auto encoded = placed;
  for (std::size_t i = 0; i < model::layers; ++i)
    encoded = encoder_layer::calibrate(seen.encoder[i], w.encoder[i], encoded);
  const auto normed = norm_layer::calibrate(seen.norm, w.norm, encoded, 1e-5F);
  const auto mean = mean_layer::calibrate(seen.mean, normed);
  std::ignore = head_layer::calibrate(seen.head, w.head, mean);
}

// "encoder.layers.0.q" in C++: encoder.layers[0].q
std::string in_code(const std::string& path) {
  std::string code;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool starts_number = path[i] == '.' && path[i + 1] >= '0' && path[i + 1] <= '9';
    if (!starts_number) {
      code += path[i];
      continue;
    }
    const std::size_t end = path.find('.', i + 1);
    code += "[" + path.substr(i + 1, end - i - 1) + "]";
    i = end - 1;
  }
  return code;
}

void write(const ranges& seen) {
  std::puts(
      "// SPDX-License-Identifier: BSL-1.0\n"
      "// Written by examples/fashion/calibrate.cpp: do not edit. The largest magnitudes of the "
      "tensors of the\n// clothing classifier on 500 training pictures.\n"
      "#pragma once\n\n"
      "namespace fashion::trained {\n\n"
      "inline constexpr auto set_ranges = [](auto& seen) {");
  for_each_parameter(seen, [](const parameter_path& path, auto x) {
    std::printf("  seen.%s() = %.9gF;\n", in_code(path.c_str()).c_str(), static_cast<double>(x()));
  });
  std::puts("};\n\n}  // namespace fashion::trained");
}

int run(int count, char** words) {
  if (count != 3) throw input_error{"usage: fashion_calibrate train-images-idx3-ubyte weights.npz"};
  constexpr std::size_t all = 60000, step = 120;
  const idx::bytes pictures = idx::read_images(words[1], all, 28, 28);
  const weights w = load_weights(words[2]);
  ranges seen{};
  for (std::size_t i = 0; i < all; i += step) calibrate(seen, w, pictures.data() + i * 784);
  seen.embed.input() = pixel_range;  // the unit of a pixel is exact
  seen.chain();
  write(seen);
  return std::ferror(stdout) == 0 && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace fashion::integer

int main(int count, char** words) {
  try {
    return fashion::integer::run(count, words);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "fashion_calibrate: %s\n", problem.what());
    return 2;
  }
}
