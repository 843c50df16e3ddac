// SPDX-License-Identifier: BSL-1.0
// Takes the ranges of the language model in integers (integers.hpp): runs the model of floats on
// pieces of the training text, writes the largest magnitude of each tensor to standard output, and
// the perplexity of both on the 200,000 characters behind it to standard error.
//
//   bible -f gen1:1-rev22:21 | sed -E 's/^[^ ]+:[0-9]+ //' > text
//   text_observe text trained/weights.safetensors > trained/ranges.hpp
#define UMBEL_STACK_BUDGET 4000000  // what is observed lies on the stack

#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <umbel/file/mapped_file.hpp>
#include <vector>

#include "integers.hpp"

namespace tiny::integer {
namespace {

constexpr std::size_t held_out = 200'000, observed = 200;  // characters; pieces of the context

std::vector<int> read_text(const char* path) {
  const auto memory = mapped_file::open(path);
  if (!memory) throw std::runtime_error(std::string(path) + ": " + memory.error());
  std::vector<int> text;
  for (std::size_t i = 0; i < memory->size(); ++i) {
    const std::size_t token = token_of(static_cast<char>(memory->data()[i]));
    if (token == alphabet.npos) throw std::runtime_error("a character that is not in the alphabet");
    text.push_back(static_cast<int>(token));
  }
  if (text.size() < 2 * held_out) throw std::runtime_error("the text is too short");
  return text;
}

// Nats that the logits of a piece lose on the characters behind each.
double loss_of(const logits<context>& scores, const int* behind) {
  double sum = 0;
  for (std::size_t i = 0; i < context; ++i) {
    double largest = -1e30, powers = 0;
    for (std::size_t v = 0; v < characters; ++v)
      largest = std::max(largest, static_cast<double>(scores(i, v)));
    for (std::size_t v = 0; v < characters; ++v) powers += std::exp(scores(i, v) - largest);
    sum += std::log(powers) + largest - scores(i, static_cast<std::size_t>(behind[i]));
  }
  return sum;
}

void measure(const weights& w, const ranges& seen, const std::vector<int>& text) {
  const auto packed = std::make_unique<model>(w, seen);
  double floats = 0, integers = 0;
  std::size_t count = 0;
  for (std::size_t at = text.size() - held_out; at + context < text.size(); at += context) {
    const tokens<context> piece = view_as<token<context>>(text.data() + at);
    floats += loss_of(tiny::whole_pass(w, piece), text.data() + at + 1);
    integers += loss_of(packed->whole_pass(piece), text.data() + at + 1);
    count += context;
  }
  const double of_floats = std::exp(floats / static_cast<double>(count));
  const double of_integers = std::exp(integers / static_cast<double>(count));
  std::fprintf(stderr, "perplexity of %zu characters: %.4f in floats, %.4f in integers, %+.2f %%\n",
               count, of_floats, of_integers, 100 * (of_integers / of_floats - 1));
}

// "blocks.layers.0.q" as C++ has it: blocks.layers[0].q
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
      "// Written by examples/tiny_language_model/observe.cpp: do not edit. The largest magnitudes "
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
  if (count != 3) throw std::runtime_error("usage: text_observe TEXT WEIGHTS");
  static weights w;
  if (const std::string wrong = load_weights(w, words[2]); !wrong.empty())
    throw std::runtime_error(wrong);
  const std::vector<int> text = read_text(words[1]);
  ranges seen{};
  const std::size_t trained_on = text.size() - held_out - context;
  for (std::size_t i = 0; i < observed; ++i) {
    const int* const piece = text.data() + trained_on / observed * i;
    observe<context>(seen, w, view_as<token<context>>(piece));
  }
  seen.chain();
  write(seen);
  measure(w, seen, text);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tiny::integer

int main(int count, char** words) {
  try {
    return tiny::integer::run(count, words);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "text_observe: %s\n", problem.what());
    return 2;
  }
}
