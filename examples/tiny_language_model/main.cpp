// SPDX-License-Identifier: BSL-1.0
// Continues a prompt with the trained model of model.hpp, character by character, and reports its
// speed and memory.
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "../fashion/allocations.hpp"
#include "alphabet.hpp"
#include "integers.hpp"
#include "load.hpp"
#include "model.hpp"
#include "options.hpp"
#include "writer.hpp"

namespace tiny {
namespace {

weights trained;

std::vector<int> tokens_of(const std::string& prompt) {
  if (prompt.empty()) throw input_error{"the prompt is empty: the model continues a text"};
  if (prompt.size() >= context)
    throw input_error{"the prompt has " + std::to_string(prompt.size()) +
                      " characters, and the model reads at most " + std::to_string(context - 1)};
  std::vector<int> text;
  for (const char letter : prompt) {
    const std::size_t token = token_of(letter);
    if (token == alphabet.npos) {
      char byte[5];
      std::snprintf(byte, sizeof byte, "0x%02x",
                    static_cast<unsigned>(static_cast<unsigned char>(letter)));
      throw input_error{"byte " + std::to_string(text.size() + 1) + " of the prompt, " + byte +
                        ", is not in the alphabet, which is the letters a to z and A to Z, spaces, "
                        "line ends and !'(),-.:;?"};
    }
    text.push_back(static_cast<int>(token));
  }
  return text;
}

struct figures {
  double seconds = 0;  // of the model and the choice of tokens, without the terminal
  fashion::heap::calls heap;
  std::size_t weights_bytes, cache_bytes, workspace_bytes;
};

template <class Reader>
figures write_text(const options& wanted) {
  const std::vector<int> prompt = tokens_of(wanted.prompt);
  static writer<float, Reader> out{trained, wanted.seed};
  const sampling how{wanted.temperature, wanted.top_k, wanted.top_p};
  std::fputs(wanted.prompt.c_str(), stdout);
  std::fflush(stdout);

  using clock = std::chrono::steady_clock;
  clock::duration busy{};
  {
    const fashion::heap::watch watching;
    out.begin(prompt.data(), prompt.size());
    for (std::size_t i = 0; i < wanted.tokens; ++i) {
      const auto begin = clock::now();
      const std::size_t token = out.write(how, wanted.penalty);
      busy += clock::now() - begin;
      std::fputc(letter_of(token), stdout);
      std::fflush(stdout);
    }
  }
  return {std::chrono::duration<double>{busy}.count(), fashion::heap::so_far(),
          Reader::weights_bytes, Reader::cache_bytes, Reader::workspace_bytes};
}

int run(int count, char** words) {
  const options wanted = parse(count, words);
  if (wanted.help) return std::fputs(usage, stdout), 0;
  if (const std::string wrong = load_weights(trained, wanted.weights.c_str()); !wrong.empty())
    throw input_error{wanted.weights + ": " + wrong};
  const bool counted = fashion::heap::counter_works();
  const figures of_text =
      wanted.in_integers ? write_text<integer::reader>(wanted) : write_text<reader<>>(wanted);
  std::printf("\n\n%zu characters, %.0f a second, on one thread\n", wanted.tokens,
              static_cast<double>(wanted.tokens) / of_text.seconds);
  std::printf("%zu allocations while writing (%s counted)\n", of_text.heap.allocations,
              counted ? fashion::heap::counted() : "not");
  std::printf("bytes: packed weights %zu, cache %zu, workspace %zu\n", of_text.weights_bytes,
              of_text.cache_bytes, of_text.workspace_bytes);
  if (std::fflush(stdout) != 0) throw input_error{"standard output cannot be written"};
  return of_text.heap.allocations == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tiny

int main(int count, char** words) {
  try {
    return tiny::run(count, words);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "tiny_language_model: %s\n", problem.what());
    return 1;
  }
}
