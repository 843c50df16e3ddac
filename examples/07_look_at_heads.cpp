// SPDX-License-Identifier: BSL-1.0
// What do the heads attend to? Observes a call's attention weights and draws them on the terminal,
// and as an SVG to the file given as an argument or to standard output.
//
//   07_look_at_heads heads.svg
#include <cstdio>
#include <cstdlib>
#include <umbel/umbel.hpp>

#include <umbel/inspect/heat_map.hpp>  // umbel.hpp does not include it

using namespace umbel;
using namespace umbel::axes;

static constexpr const char* words[9] = {"a", "cat", "and", "a", "dog", "and", "a", "cat", "ran"};
static constexpr std::size_t word_number[9] = {0, 1, 2, 0, 3, 2, 0, 1, 4};

// A token encodes its word (5 features) and its position (9).
using tokens = tensor<float, token<9>, hidden<14>>;
using attention = multi_head_attention<float, hidden<14>, heads<2>, head_dim<9>>;

static tokens embedded() {
  tokens x{};
  for (std::size_t i = 0; i < 9; ++i) x(i, word_number[i]) = x(i, 5 + i) = 1;
  return x;
}

// Handmade weights instead of trained ones: head 0 looks for the same word, head 1 for the previous
// one.
static attention::weights two_heads() {
  attention::weights w{};
  const auto q = view_as<hidden<14>, heads<2>, head_dim<9>>(w.q.weight);
  const auto k = view_as<hidden<14>, heads<2>, head_dim<9>>(w.k.weight);
  for (std::size_t word = 0; word < 5; ++word) q(word, 0, word) = k(word, 0, word) = 3;
  for (std::size_t i = 0; i < 9; ++i) k(5 + i, 1, i) = 4;
  for (std::size_t i = 1; i < 9; ++i) q(5 + i, 1, i - 1) = 4;
  return w;
}

int main(int count, char** arguments) {
  static const attention::weights w = two_heads();
  const tokens x = embedded();

  // observe is part of the mask argument: here with causal, which hides later words.
  tensor<float, heads<2>, query<9>, key<9>> weights;
  (void)attention{w}(x, causal & observe(weights));

  const auto to_terminal = [](const char* text, std::size_t size) {
    std::fwrite(text, 1, size, stdout);
  };
  // Half blocks in color, unless colors are disabled (no-color.org).
  const auto form =
      std::getenv("NO_COLOR") == nullptr ? heat_map_form::terminal : heat_map_form::ascii;
  attention_heat_map(weights, to_terminal, {.form = form}, words);

  std::FILE* file = count > 1 ? std::fopen(arguments[1], "wb") : stdout;
  if (file == nullptr) {
    std::fprintf(stderr, "%s: cannot be written\n", arguments[1]);
    return 2;
  }
  const auto to_file = [file](const char* text, std::size_t size) {
    std::fwrite(text, 1, size, file);
  };
  attention_heat_map(weights, to_file, {.title = "Two heads"}, words);
  return std::fflush(file) == 0 && std::ferror(file) == 0 ? 0 : 2;
}
