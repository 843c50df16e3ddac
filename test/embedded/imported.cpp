// SPDX-License-Identifier: BSL-1.0
// A model as tools/import --c writes it (imported.py): its probe, and what a call costs.
#include "check.hpp"

#include "keywords_c.cpp"

#include "keywords_probe.hpp"

static float sound[sizeof(probe_input) / sizeof(float)], logits[4];

MEASURED void forward() noexcept { keywords_forward(sound, logits); }

int main() {
  for (std::size_t i = 0; i < sizeof(sound) / sizeof(float); ++i) sound[i] = probe_input[i];
  ::forward();
  bool near = true;
  for (std::size_t i = 0; i < 4; ++i) {
    const float far = logits[i] - probe_output[i];
    near = near && far < 1e-6F && far > -1e-6F;
  }
  embedded::check("an imported model: the probe", near);
  // Convolutions; queries, keys and values; scores and contexts; the linear map.
  embedded::multiply_accumulates(24 * 10 * 3 * 16 + 12 * 16 * 3 * 16 + 3 * 12 * 16 * 16 +
                                 2 * 12 * 12 * 16 + 16 * 4);
  embedded::forward_of_other_data<::forward>(sound);
  return embedded::finish();
}
