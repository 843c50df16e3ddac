// SPDX-License-Identifier: BSL-1.0
// A file of weights is written with a checkpoint's functions, mapped, loaded, and replaced; prints
// what was read and the errors of files that are not there or not files (check.py, by MinGW).
#include <cstdio>
#include <filesystem>
#include <string>
#include <umbel/bare.hpp>
#include <umbel/file/mapped_file.hpp>
#include <umbel/file/tensor_file.hpp>
#include <umbel/weights.hpp>

#include "../../examples/learning/folder.hpp"

using namespace umbel;
using namespace umbel::axes;
using map = linear<float, hidden<4>, classes<3>, bias<true>>;

static void print(const char* path) {
  const auto memory = mapped_file::open(path);
  if (!memory) {
    const std::string error{memory.error()};
    std::printf("%s\n", error.find("does not exist") != std::string::npos ? "missing" : "refused");
    return;
  }
  map::weights w{};
  const auto file = tensor_file::in_memory(*memory);
  const bool loaded = file && load(w, *file, names::umbel);
  std::printf("%d %.1f %.1f\n", loaded, static_cast<double>(w.weight[5]),
              static_cast<double>(w.bias[2]));
}

int main(int, char** arguments) {
  const std::string folder = arguments[1];
  learning::training_folder training{folder};
  map::weights w{};
  for (float number = 0; float& x : w.weight) x = number++;
  for (int round = 0; round < 2; ++round) {
    w.bias[2] = static_cast<float>(round) + 0.5f;
    learning::write_whole(training.result, w);
    print(training.result.file.c_str());
  }
  print((folder + "/none").c_str());
  print(folder.c_str());
  try {
    learning::training_folder second{folder};
    std::printf("locked twice\n");
  } catch (const fashion::input_error& error) {
    std::printf("%s\n", std::string{error.what()}.substr(folder.size()).c_str());
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".part") std::printf("a part stays\n");
}
