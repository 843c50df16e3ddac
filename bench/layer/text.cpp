// SPDX-License-Identifier: BSL-1.0
// One more character of the language model that writes text (examples/tiny_language_model): five
// blocks, logits, the choice, at 128 to 255 positions, and, as the example does it, those read
// again when the context is full. Of random weights, whose text is none; the operations counted
// are those of one character read.
#include <umbel/weights.hpp>

#include "../../examples/tiny_language_model/writer.hpp"

#include "../measure.hpp"

namespace {

using namespace umbel;

const tiny::weights& random_weights() {
  static const tiny::weights weights = [] {
    static tiny::weights w;
    for_each_parameter(w, [](const parameter_path&, auto x) { bench::fill(x, 0.2f); });
    return w;
  }();
  return weights;
}

template <class Stored>
void add(const char* name, const sampling& how) {
  static tiny::writer<Stored> text{random_weights(), 1};
  const int first = 1;
  (void)text.begin(&first, 1);
  for (std::size_t i = 1; i < tiny::context; ++i) (void)text.write(how);
  constexpr double numbers = 231'360, attention = 5 * 4.0 * 64 * 192;
  bench::add_row(name, 2 * numbers + attention,
                 [how] { benchmark::DoNotOptimize(text.write(how)); });
}

const bool added = [] {
  add<float>("text/one character", {.temperature = 0});
  add<bfloat16>("text/one character, bfloat16 weights and cache", {.temperature = 0});
  add<float>("text/one character, drawn at random", {.temperature = 0.7F});
  return true;
}();

}  // namespace
