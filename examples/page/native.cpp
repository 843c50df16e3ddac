// SPDX-License-Identifier: BSL-1.0
// Numbers that the page shows besides those it computes, from the same functions (network.hpp) on
// this machine: the time of a pass, and the accuracy of each choice of heads.
//
//   page_native time             for each number of heads in the two layers, microseconds, as JSON
//   page_native bits             a hash of logits of four pictures, with each choice of heads
//   page_native text FILE        a hash of the language model's logits after each token of a text
//   page_native accuracy FOLDER  for each choice of heads, how many pictures are right: accuracy.js
//
// `accuracy` takes a minute or two. Built without fused multiply-add it has the page's bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <string_view>
#include <vector>

#include "../fashion/pictures.hpp"
#include "../tiny_language_model/load.hpp"
#include "network.hpp"

namespace fashion::page {
namespace {

constexpr unsigned choices = 15;  // per layer: 1 to 15

void show(const std::uint8_t* picture) noexcept { std::memcpy(pixels(), picture, pixels_each); }

// The median over passes, in processor time of this thread.
double microseconds_of(const picture_set& set, unsigned first, unsigned second) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
  };
  std::array<double, 301> times;
  look(first, second);  // packs the weights
  for (std::size_t i = 0; i < times.size(); ++i) {
    show(set.picture(i % set.size()));
    const double begin = now();
    look(first, second);
    times[i] = now() - begin;
  }
  const auto middle = times.begin() + times.size() / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

std::size_t arg_max(const float* out) {
  return static_cast<std::size_t>(std::max_element(out, out + class_count) - out);
}

std::size_t right_of(const picture_set& set, unsigned first, unsigned second) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    show(set.picture(i));
    look(first, second);
    const float* const out = logits();
    right += arg_max(out) == set.labels[i];
  }
  return right;
}

// A list of lists: prints `of(a, b)` for a and b from 1 to `last`.
template <class Of>
void print_table(unsigned last, Of&& of) {
  std::putchar('[');
  for (unsigned a = 1; a <= last; ++a) {
    std::fputs(a == 1 ? "[" : ",\n  [", stdout);
    for (unsigned b = 1; b <= last; ++b) {
      if (b != 1) std::fputs(", ", stdout);
      of(a, b);
    }
    std::putchar(']');
  }
  std::putchar(']');
}

void print_times() {
  const picture_set set = load_samples();
  print_table(model::heads, [&](unsigned first, unsigned second) {
    std::printf("%.1f", microseconds_of(set, (1u << first) - 1, (1u << second) - 1));
  });
  std::putchar('\n');
}

// The logarithm of the sum of the exponentials of the logits: the larger, the more the picture is
// like those that the model learned from. For each answer, the value that 98 of 100 pictures reach.
std::array<double, class_count> familiar_from(const picture_set& set) {
  std::array<std::vector<double>, class_count> sums;
  for (std::size_t i = 0; i < set.size(); ++i) {
    show(set.picture(i));
    look(choices, choices);
    const float* const out = logits();
    double sum = 0;
    for (std::size_t c = 0; c < class_count; ++c) sum += std::exp(double{out[c]});
    sums[arg_max(out)].push_back(std::log(sum));
  }
  std::array<double, class_count> from{};
  for (std::size_t c = 0; c < class_count; ++c) {
    if (sums[c].empty()) continue;
    const auto place = sums[c].begin() + static_cast<std::ptrdiff_t>(sums[c].size() / 50);
    std::nth_element(sums[c].begin(), place, sums[c].end());
    from[c] = *place;
  }
  return from;
}

void print_accuracy(const char* folder) {
  const picture_set set = load_pictures(folder);
  std::printf(
      "// SPDX-License-Identifier: BSL-1.0\n"
      "// Written by `tools/demo page --accuracy`: do not edit. How many test pictures are right\n"
      "// with a choice of heads, without training again: right[first - 1][second - 1], where\n"
      "// bits 0 to 3 of `first` and `second` are the heads that are kept of either layer.\n"
      "// familiar[answer]: 98 of 100 test pictures with this answer of all heads have at least\n"
      "// this logarithm of the sum of the exponentials of their logits.\n"
      "'use strict';\n\n"
      "const accuracy = {pictures: %zu, right: ",
      set.size());
  print_table(choices, [&](unsigned first, unsigned second) {
    std::printf("%zu", right_of(set, first, second));
  });
  std::fputs(",\n  familiar: [", stdout);
  const std::array<double, class_count> from = familiar_from(set);
  for (std::size_t c = 0; c < class_count; ++c) std::printf(c == 0 ? "%.3f" : ", %.3f", from[c]);
  std::puts("]};");
}

// 32-bit FNV-1a, low byte first; test/page compares the page's.
class hash_of_floats {
 public:
  void add(const float* numbers, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      auto bits = std::bit_cast<std::uint32_t>(numbers[i]);
      for (int byte = 0; byte < 4; ++byte, bits >>= 8)
        value_ = (value_ ^ (bits & 0xff)) * 0x01000193;
    }
  }
  void print() const { std::printf("%08x\n", static_cast<unsigned>(value_)); }

 private:
  std::uint32_t value_ = 0x811c9dc5;
};

void print_bits() {
  const picture_set set = load_samples();
  hash_of_floats hash;
  for (unsigned first = 1; first <= choices; ++first)
    for (unsigned second = 1; second <= choices; ++second)
      for (std::size_t i = 0; i < set.size(); i += 5) {
        show(set.picture(i));
        look(first, second);
        hash.add(logits(), class_count);
      }
  hash.print();
}

// The greedy text of the weights file, by the example's reader: the page steps its blocks one by
// one.
void print_text_bits(const char* path) {
  static tiny::weights trained;
  if (const std::string wrong = tiny::load_weights(trained, path); !wrong.empty())
    throw input_error{wrong};
  const auto memory = mapped_file::open(path);
  const auto file = tensor_file::in_memory(*memory);
  tiny::tokens<tiny::context> text;
  if (!file || !file->read("probe.greedy", text)) throw input_error{"no probe.greedy in the file"};
  static tiny::reader<> model{trained};
  hash_of_floats hash;
  for (const int& token : text) {
    (void)model.read(&token, 1);
    const auto next = model.next();
    hash.add(next.data(), tiny::characters);
  }
  hash.print();
}

int run(int count, char** words) {
  const std::string_view what = count > 1 ? words[1] : "";
  if (what == "time" && count == 2)
    print_times();
  else if (what == "bits" && count == 2)
    print_bits();
  else if (what == "text" && count == 3)
    print_text_bits(words[2]);
  else if (what == "accuracy" && count == 3)
    print_accuracy(words[2]);
  else
    throw input_error{"usage: page_native time | bits | text FILE | accuracy FOLDER"};
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace fashion::page

int main(int count, char** words) {
  try {
    return fashion::page::run(count, words);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "page_native: %s\n", problem.what());
    return 2;
  }
}
