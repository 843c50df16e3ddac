// SPDX-License-Identifier: BSL-1.0
// The parameters of any weights, drawn by their paths. Not here: the generator (random.hpp).
#pragma once

#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include "random.hpp"

namespace umbel_test {

// Does the path end with this word?
constexpr bool ends(const umbel::parameter_path& path, const char* word) {
  std::size_t n = 0;
  while (word[n]) ++n;
  if (path.size() < n) return false;
  for (std::size_t i = 0; i < n; ++i)
    if (path.c_str()[path.size() - n + i] != word[i]) return false;
  return true;
}
// Draws all parameters, in the order of their paths.
template <class Weights>
constexpr void draw_parameters(lcg& next, Weights& w) {
  umbel::for_each_parameter(w, [&](const umbel::parameter_path& path, auto x) {
    // Of weights: the power of two nearest to 1.7 / sqrt(in), where in is 32 or 64.
    draw(next, x, ends(path, "gamma") ? 1 : ends(path, "weight") ? 0.25 : 0.125);
  });
}
template <class Layer>
constexpr typename Layer::weights drawn_parameters(lcg& next) {
  typename Layer::weights w{};
  draw_parameters(next, w);
  return w;
}

}  // namespace umbel_test
