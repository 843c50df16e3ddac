// SPDX-License-Identifier: BSL-1.0
// Finds the ranges of the integer language model (integers.hpp): runs the float model on pieces of
// the training text, writes the largest magnitude of each tensor to standard output, and the
// perplexity of both on the next 200,000 characters to standard error.
//
//   bible -f gen1:1-rev22:21 | sed -E 's/^[^ ]+:[0-9]+ //' > text
//   text_calibrate text trained/weights.safetensors > trained/ranges.hpp
#define UMBEL_STACK_BUDGET 4000000  // observed data is on the stack

#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "integers.hpp"
#include "load.hpp"
#include "perplexity.hpp"

namespace tiny::integer {
namespace {

constexpr std::size_t held_out = 200'000, observed = 200;  // characters; pieces of the context

void measure(const weights& w, const ranges& seen, std::span<const int> text) {
  const auto packed = std::make_unique<model>(w, seen);
  const double floats =
      perplexity(text, [&](const tokens<context>& piece) { return tiny::whole_pass(w, piece); });
  const double integers =
      perplexity(text, [&](const tokens<context>& piece) { return packed->whole_pass(piece); });
  std::fprintf(stderr, "perplexity of %zu characters: %.4f in floats, %.4f in integers, %+.2f %%\n",
               (text.size() - 1) / context * context, floats, integers,
               100 * (integers / floats - 1));
}

// "blocks.layers.0.q" in C++: blocks.layers[0].q
std::string in_code(const char* path) {
  std::string code;
  bool in_number = false;
  for (; *path != '\0'; ++path) {
    const bool starts = path[0] == '.' && path[1] >= '0' && path[1] <= '9';
    if (in_number && *path == '.') code += ']';
    in_number = starts || (in_number && *path != '.');
    code += starts ? '[' : *path;
  }
  return code;
}
void write(const ranges& seen) {
  std::puts(
      "// SPDX-License-Identifier: BSL-1.0\n"
      "// Written by examples/tiny_language_model/calibrate.cpp: do not edit. The largest "
      "magnitudes "
      "of\n"
      "// the tensors of the language model on 200 pieces of its training text.\n"
      "#pragma once\n\n"
      "namespace tiny::integer::trained {\n\n"
      "inline constexpr auto set_ranges = [](auto& seen) {");
  for_each_parameter(seen, [](const parameter_path& path, auto x) {
    std::printf("  seen.%s() = %.9gF;\n", in_code(path.c_str()).c_str(), static_cast<double>(x()));
  });
  std::puts("};\n\n}  // namespace tiny::integer::trained");
}

int run(int count, char** words) {
  if (count != 3) throw std::runtime_error("usage: text_calibrate TEXT WEIGHTS");
  static weights w;
  if (const std::string wrong = load_weights(w, words[2]); !wrong.empty())
    throw std::runtime_error(wrong);
  const std::vector<int> text = read_text(words[1]);
  if (text.size() < 2 * held_out) throw std::runtime_error("the text is too short");
  ranges seen{};
  const std::size_t trained_on = text.size() - held_out - context;
  for (std::size_t i = 0; i < observed; ++i) {
    const int* const piece = text.data() + trained_on / observed * i;
    calibrate<context>(seen, w, view_as<token<context>>(piece));
  }
  seen.chain();
  write(seen);
  measure(w, seen, std::span(text).last(held_out));
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tiny::integer

int main(int count, char** words) {
  try {
    return tiny::integer::run(count, words);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "text_calibrate: %s\n", problem.what());
    return 2;
  }
}
